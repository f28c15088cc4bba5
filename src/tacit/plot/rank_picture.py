"""Errors against rank: of a low-dimensional representation, and of a factorization of ratings,
which shows how long it learns structure and from where on noise.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.plot.axes import (
    FAINT,
    NEUTRAL,
    PALETTE,
    darker,
    new_axes,
    quiet_frame,
    title_and_note,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["rank_error", "rmse_by_rank"]


def rank_error(
    errors: Any,
    *,
    marks: Sequence[int] = (),
    ylabel: str = "fraction lost",
    palette: Sequence[str] = PALETTE,
    title: str | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw the error at ranks 0, 1, 2, ...

    Parameters
    ----------
    errors : array, or dict of arrays by name
        As ``reconstruction_errors`` of ``PCA`` and ``TruncatedSVD`` gives them; of several,
        for example of rows seen and not seen by the fit, each gets a line.
    marks : sequence of int
        Ranks to mark with their error.
    ylabel : str
    palette, title, ax
        As for ``dendrogram``.

    Returns
    -------
    ax : matplotlib Axes

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
    if ax is None:
        ax = new_axes(6.5, 4.0)
    for i, (name, values) in enumerate(curves.items()):
        curve = np.asarray(values, np.float64)
        if curve.ndim != 1 or not len(curve) or not np.isfinite(curve).all():
            raise ValueError(
                f"rank_error needs finite errors in one row, but {name or 'they'} have shape "
                f"{curve.shape}."
            )
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
    quiet_frame(ax)
    ax.yaxis.grid(True, color=FAINT, linewidth=0.6)
    ax.set_ylim(bottom=0)
    ax.margins(x=0.02)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("rank")
    ax.set_ylabel(ylabel)
    title_and_note(ax, title)
    return ax


def rmse_by_rank(
    ratings: Any,
    ranks: Sequence[int],
    make: Callable[[int], Any],
    *,
    test: float = 0.2,
    random_state: Any = 0,
    palette: Sequence[str] = PALETTE,
    title: str | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw the root mean squared error on training and test ratings against the rank.

    Parameters
    ----------
    ratings : Ratings
    ranks : sequence of int
    make : function of a rank
        The model to fit, e.g. ``lambda rank: ALS(rank, random_state=0)``.
    test : float
        The part of the ratings that is held out, at random.
    random_state, palette, title, ax
        As elsewhere.

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
    train, held = ratings.split(test, random_state=random_state)
    errors = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some held-out items may be unknown
        for rank in ranks:
            model = make(rank).fit(train)
            errors.append((-model.score(train), -model.score(held)))
    if ax is None:
        ax = new_axes(6.5, 4.0)
    for column, (name, color) in enumerate((("training", NEUTRAL), ("test", palette[1]))):
        values = [each[column] for each in errors]
        ax.plot(
            ranks, values, color=color, lw=1.8, marker="o", markersize=5,
            markeredgecolor="white", label=name,
        )  # fmt: skip
        ax.annotate(
            name, (ranks[-1], values[-1]), (6, 0), textcoords="offset points", fontsize=9,
            color=darker(color), va="center",
        )  # fmt: skip
    ax.set_xlabel("rank")
    ax.set_ylabel("root mean squared error")
    if ranks[-1] >= 16 * ranks[0]:
        ax.set_xscale("log", base=2)
        ax.set_xticks(ranks, [str(rank) for rank in ranks])
    ax.margins(x=0.12)
    quiet_frame(ax)
    ax.yaxis.grid(True, color=FAINT, linewidth=0.6)
    best = int(np.argmin([each[1] for each in errors]))
    note = f"lowest test error {errors[best][1]:.4f} at rank {ranks[best]}; {test:.0%} held out"
    title_and_note(ax, title, note)
    return ax
