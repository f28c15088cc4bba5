"""Curves: the scree plot, errors by rank, losses by pass and by margin.

The scree plot shows the inertia for each number of clusters, or the variance of each
direction. It falls fast while these explain structure, and is flat once they explain noise. The
knee, where it lies farthest below the line between its ends, is an estimate of their number.

Losses of linear classifiers are functions of the margin, the score of a row's class less the
best other score. The zero-one loss cannot be minimized directly; the others are its surrogates:
hinge (large margins) and logistic (probabilities, in bits, so that every loss of a tie is 1).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.decompose.low_rank import knee_of
from tacit.plot.axes import FAINT, NEUTRAL, PALETTE, axes_or_new, darker, finish

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "LOSSES", "hinge", "knee_of", "logistic", "loss_curves", "losses", "perceptron",
    "rank_error", "rmse_by_rank", "scree", "squared_hinge", "zero_one",
]  # fmt: skip


# --- The scree ---


def scree(
    values: Any, ks: Any = None, *, knee: int | str | None = "auto", best: int | None = None,
    null: Any = None, xlabel: str = "clusters", ylabel: str | None = None,
    palette: Sequence[str] = PALETTE, title: str | None = None, ax: "Axes | None" = None,
) -> "Axes":  # fmt: skip
    """Draw a falling curve and its knee.

    Parameters
    ----------
    values : array of m, or a result of ``choose_k``
        The inertia for every number of clusters, or the variance of every direction. Of a
        result of ``choose_k``: its inertia, its knee and its choice.
    ks : sequence of m, optional
        The numbers that ``values`` belong to, rising; 1, 2, 3, ... otherwise.
    knee : "auto", int or None; which of ``ks`` to mark; "auto" estimates it; None marks none
    best : int, optional; another of ``ks`` to mark: the one chosen by other criteria
    null : array of m, optional; the same curve for data without structure, for comparison
    xlabel, ylabel : str, names of the axes
    palette, title, ax : as for ``dendrogram``

    Examples
    --------
    >>> ax = scree([90.0, 40.0, 8.0, 6.0, 5.0])
    >>> [text.get_text() for text in ax.texts]
    ['knee: 3']
    """
    from matplotlib.ticker import MaxNLocator

    if hasattr(values, "table") and hasattr(values, "best"):  # a result of choose_k
        chosen, table = values, values.table
        values, ks = [row.inertia for row in table], [row.k for row in table]
        best = chosen.best if best is None else best
        knee = chosen.knee if knee == "auto" else knee
        ylabel = "inertia" if ylabel is None else ylabel
    values = as_curve(values, "values", "scree")
    m = len(values)
    ks = np.arange(1, m + 1) if ks is None else np.asarray([*ks])
    if len(ks) != m:
        raise ValueError(f"scree needs {m} ks, one per value, but got {len(ks)}.")
    if m > 1 and not (np.diff(ks) > 0).all():
        raise ValueError("scree: ks must rise from one to the next.")
    if knee == "auto":
        knee = knee_of(values, ks)
    elif isinstance(knee, str):
        raise ValueError(f"scree(knee={knee!r}) must be 'auto', one of ks, or None.")
    for name, mark in (("knee", knee), ("best", best)):
        if mark is not None and mark not in ks:
            raise ValueError(f"scree({name}={mark}) is none of ks, {ks[0]} to {ks[-1]}.")
    ax = axes_or_new(ax, 6.5, 4.0)
    if null is not None:
        null = as_curve(null, "null", "scree")
        if len(null) != m:
            raise ValueError(f"scree needs {m} null values, one per k, but got {len(null)}.")
        ax.plot(ks, null, color=NEUTRAL, lw=1.0, linestyle=(0, (5, 4)), zorder=1)
        ax.annotate(
            "no structure", (ks[m // 2], null[m // 2]), (5, 5), textcoords="offset points",
            fontsize=8.5, color=NEUTRAL,
        )  # fmt: skip
    ax.plot(
        ks, values, color=palette[1 % len(palette)], lw=1.8, marker="o", zorder=2,
        markersize=float(np.clip(160 / m, 2.0, 5.5)), markeredgecolor="white",
    )  # fmt: skip
    mark_points(ax, ks, values, knee, best, palette)
    ax.set_ylim(bottom=0 if values.min() >= 0 else None)
    ax.margins(x=0.03)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    return finish(ax, title, xlabel=xlabel, ylabel=ylabel or "left unexplained", grid="y")


def as_curve(values: Any, what: str, name: str) -> np.ndarray:
    curve = np.asarray(values, np.float64)
    if curve.ndim != 1 or not len(curve):
        raise ValueError(f"{name} needs {what} in one row, but they have shape {curve.shape}.")
    if not np.isfinite(curve).all():
        place = int(np.argmin(np.isfinite(curve)))
        raise ValueError(f"{name}: {what}[{place}] is {curve[place]}, not a finite number.")
    return curve


def mark_points(
    ax: "Axes", ks: np.ndarray, values: np.ndarray, knee: int | None, best: int | None,
    palette: Sequence[str],
) -> None:  # fmt: skip
    """Draw labeled rings around the knee and the choice."""
    texts = {knee: "knee", best: "chosen"} if knee != best else {knee: "knee, chosen"}
    marks = {k: text for k, text in texts.items() if k is not None}
    crowded = max(marks, default=0) - min(marks, default=0) < 0.25 * (ks[-1] - ks[0])
    for k, name in marks.items():
        at = float(values[np.flatnonzero(ks == k)[0]])
        color = palette[0] if k == knee else palette[3 % len(palette)]
        ax.plot(
            k, at, marker="o", markersize=12, markerfacecolor="none", markeredgecolor=color,
            markeredgewidth=1.8, zorder=3,
        )  # fmt: skip
        ax.annotate(
            f"{name}: {k}", (k, at), (9, 24 if crowded and k < max(marks) else 9),
            textcoords="offset points", fontsize=10, color=darker(color), zorder=4,
        )  # fmt: skip


# --- Errors by rank ---


def rank_error(
    errors: Any, *, marks: Sequence[int] = (), ylabel: str = "fraction lost",
    palette: Sequence[str] = PALETTE, title: str | None = None, ax: "Axes | None" = None,
) -> "Axes":  # fmt: skip
    """Draw the error at ranks 0, 1, 2, ...

    Parameters
    ----------
    errors : array, or dict of arrays by name
        As returned by ``reconstruction_errors`` of ``PCA`` and ``TruncatedSVD``; several, such
        as those of training and test rows, are drawn as one line each.
    marks : sequence of int, ranks to mark with their error
    ylabel : str
    palette, title, ax : as for ``dendrogram``

    Examples
    --------
    >>> ax = rank_error([1.0, 0.4, 0.1, 0.05], marks=[2])
    >>> [text.get_text() for text in ax.texts]
    ['rank 2: 10.0%']
    """
    from matplotlib.ticker import MaxNLocator

    curves = dict(errors) if isinstance(errors, Mapping) else {"": errors}
    if not curves:
        raise ValueError("rank_error needs at least one curve.")
    ax = axes_or_new(ax, 6.5, 4.0)
    for i, (name, values) in enumerate(curves.items()):
        curve = as_curve(values, f"errors {name}".strip(), "rank_error")
        color = palette[(i + 1) % len(palette)]
        ax.plot(np.arange(len(curve)), curve, color=color, lw=1.8, label=name or None)
        for rank in marks:
            if not 0 <= rank < len(curve):
                raise ValueError(
                    f"rank_error(marks=[{rank}]) is not among the ranks 0 to {len(curve) - 1}."
                )
            ax.plot(rank, curve[rank], "o", color=color, markersize=6, zorder=3)
            text = f"{curve[rank]:.1%}" if curve[0] <= 1 + 1e-9 else f"{curve[rank]:.4g}"
            if i == 0:
                ax.annotate(
                    f"rank {rank}: {text}", (rank, curve[rank]), (6, 8),
                    textcoords="offset points", fontsize=9, color=darker(color),
                )  # fmt: skip
    if any(curves):
        ax.legend(frameon=False, fontsize=9)
    ax.set_ylim(bottom=0)
    ax.margins(x=0.02)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    return finish(ax, title, xlabel="rank", ylabel=ylabel, grid="y")


def rmse_by_rank(
    ratings: Any, ranks: Sequence[int], make: Callable[[int], Any], *, test: float = 0.2,
    random_state: Any = 0, palette: Sequence[str] = PALETTE, title: str | None = None,
    ax: "Axes | None" = None,
) -> "Axes":  # fmt: skip
    """Draw the root mean squared error on training and test ratings against the rank.

    Parameters
    ----------
    ratings : Ratings
    ranks : sequence of int
    make : function of a rank
        The model to fit, e.g. ``lambda rank: ALS(rank, random_state=0)``.
    test : float, the fraction of the ratings that is held out, at random
    random_state : int, RandomState or None
    palette, title, ax : as for ``dendrogram``

    Examples
    --------
    >>> from tacit.recommend import ALS, Ratings
    >>> triples = [(u, i, (u + 1) * (i + 1) / 10) for u in range(9) for i in range(9)]
    >>> ax = rmse_by_rank(Ratings.of(triples), [1, 2], lambda k: ALS(k, random_state=0))
    >>> ax.get_xlabel(), len(ax.lines)
    ('rank', 2)
    """
    import warnings

    ranks = [int(rank) for rank in ranks]
    if not ranks or min(ranks) < 1:
        raise ValueError(f"rmse_by_rank needs ranks of at least 1, but got {ranks}.")
    train, held_out = ratings.split(test, random_state=random_state)
    errors = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some held-out items may be unknown
        for rank in ranks:
            model = make(rank).fit(train)
            errors.append((-model.score(train), -model.score(held_out)))
    ax = axes_or_new(ax, 6.5, 4.0)
    curves = dict(zip(("training", "test"), zip(*errors, strict=True), strict=True))
    for (name, values), color in zip(curves.items(), (NEUTRAL, palette[1]), strict=True):
        ax.plot(
            ranks, values, color=color, lw=1.8, marker="o", markersize=5,
            markeredgecolor="white", label=name,
        )  # fmt: skip
        ax.annotate(
            name, (ranks[-1], values[-1]), (6, 0), textcoords="offset points", fontsize=9,
            color=darker(color), va="center",
        )  # fmt: skip
    if ranks[-1] >= 16 * ranks[0]:
        ax.set_xscale("log", base=2)
        ax.set_xticks(ranks, [str(rank) for rank in ranks])
    ax.margins(x=0.12)
    best = int(np.argmin(curves["test"]))
    lowest = f"lowest test error {curves['test'][best]:.4f} at rank {ranks[best]}"
    note = f"{lowest}; {test:.0%} held out"
    return finish(ax, title, note, xlabel="rank", ylabel="root mean squared error", grid="y")


# --- Losses by pass ---

CURVES = {  # names in the legend and attributes
    "loss": "losses_", "held-out error": "validation_errors_", "generator": "generator_losses_",
}  # fmt: skip


def loss_curves(model: Any, *, title: str | None = None, ax: "Axes | None" = None) -> "Axes":
    """Draw the losses of a fitted model, one point per pass.

    ``model`` is anything with ``losses_`` (every network, and most other models), or a dict of
    lists by name. A GAN has two curves, early stopping a second one.

    >>> ax = loss_curves({"loss": [3.0, 2.0, 1.5]})
    >>> ax.get_lines()[0].get_ydata().tolist()
    [3.0, 2.0, 1.5]
    """
    curves = model
    if not isinstance(model, dict):
        curves = {name: list(getattr(model, each, ())) for name, each in CURVES.items()}
        curves = {name: values for name, values in curves.items() if values}
        if "generator" in curves:
            curves["discriminator"] = curves.pop("loss")
    if not curves or not all(len(values) for values in curves.values()):
        raise ValueError(
            f"loss_curves needs a fitted model with losses_, but got {type(model).__name__}. "
            "Fit it first."
        )
    ax = axes_or_new(ax, 5.6, 3.4)
    for i, (name, values) in enumerate(curves.items()):
        color = PALETTE[i % len(PALETTE)]
        ax.plot(np.arange(1, len(values) + 1), values, label=name, color=color, linewidth=1.8)
    if len(curves) > 1:
        ax.legend(frameon=False, labelcolor=NEUTRAL)
    return finish(ax, title, xlabel="pass", ylabel="loss", grid="both")


# --- Losses by margin ---


def zero_one(margin: Any) -> np.ndarray:
    """1 where the decision is wrong or a tie, else 0."""
    return (np.asarray(margin, np.float64) <= 0).astype(np.float64)


def perceptron(margin: Any) -> np.ndarray:
    """max(0, -margin): zero where the decision is right."""
    return np.maximum(0.0, -np.asarray(margin, np.float64))


def hinge(margin: Any) -> np.ndarray:
    """max(0, 1 - margin): zero from a margin of 1 on."""
    return np.maximum(0.0, 1 - np.asarray(margin, np.float64))


def squared_hinge(margin: Any) -> np.ndarray:
    """The square of ``hinge``."""
    return hinge(margin) ** 2


def logistic(margin: Any, *, base: float = 2.0) -> np.ndarray:
    """log(1 + exp(-margin)); in bits, for base 2."""
    return np.logaddexp(0.0, -np.asarray(margin, np.float64)) / np.log(base)


LOSSES = {
    "zero-one": zero_one, "perceptron": perceptron, "hinge": hinge,
    "squared hinge": squared_hinge, "logistic": logistic,
}  # fmt: skip


def losses(
    names: Sequence[str] = ("zero-one", "hinge", "logistic"), *, low: float = -2.0,
    high: float = 3.0, title: str | None = None, ax: "Axes | None" = None,
) -> "Axes":  # fmt: skip
    """Draw losses against the margin.

    Parameters
    ----------
    names : sequence of {"zero-one", "perceptron", "hinge", "squared hinge", "logistic"}
    low, high : float, the margins between which to draw
    title, ax : as for ``dendrogram``

    Examples
    --------
    >>> ax = losses()
    >>> [line.get_label() for line in ax.get_lines() if line.get_label()[0] != "_"]
    ['zero-one', 'hinge', 'logistic']
    """
    unknown = [name for name in names if name not in LOSSES]
    if unknown or not len(names):
        raise ValueError(f"losses({list(names)}) needs some of {', '.join(LOSSES)}.")
    if not low < high or not np.isfinite([low, high]).all():
        raise ValueError(f"losses(low={low}, high={high}) needs low < high, both finite.")
    ax = axes_or_new(ax, 5.6, 3.8)
    margins = np.linspace(low, high, 501)
    if low < 0 < high:  # the step of the zero-one loss is vertical
        margins = np.unique(np.concatenate([margins, [0.0, np.nextafter(0.0, 1.0)]]))
    ax.axvline(0.0, color=FAINT, linewidth=1, zorder=0)
    top = 1.2
    for i, name in enumerate(names):
        values = LOSSES[name](margins)
        top = max(top, 1.04 * float(values.max()))
        color = NEUTRAL if name == "zero-one" else PALETTE[i % len(PALETTE)]
        ax.plot(margins, values, label=name, linewidth=2, color=color)
    ax.set_xlim(low, high)
    ax.set_ylim(-0.02 * top, top)
    ax.legend(frameon=False)
    across = "margin: score of the true class less the best other"
    return finish(ax, title, xlabel=across, ylabel="loss", grid="both")
