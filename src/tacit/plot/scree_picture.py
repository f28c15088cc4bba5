"""The scree plot: what remains unexplained with one more cluster, or one more direction.

The curve falls fast while clusters or directions explain structure, and is flat once they
explain noise. The knee, where it lies farthest below the straight line between its ends, is a
first estimate of how many there are.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.decompose.low_rank import knee_of
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

__all__ = ["knee_of", "scree"]


def scree(
    values: Any,
    ks: Any = None,
    *,
    knee: int | str | None = "auto",
    best: int | None = None,
    null: Any = None,
    xlabel: str = "clusters",
    ylabel: str | None = None,
    palette: Sequence[str] = PALETTE,
    title: str | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw a falling curve and its knee.

    Parameters
    ----------
    values : array of m, or a result of ``choose_k``
        What is left for every number of clusters (inertia), or the variance of every
        direction. Of a result of ``choose_k``: its inertia, its knee and its choice.
    ks : sequence of m, optional
        The numbers that ``values`` belong to, rising; 1, 2, 3, ... otherwise.
    knee : "auto", int or None
        Which of ``ks`` to mark; "auto" estimates it; None marks none.
    best : int, optional
        Another of ``ks`` to mark: the one chosen by other criteria.
    null : array of m, optional
        The same curve for data without structure, for comparison.
    xlabel, ylabel : str
        Names of the axes.
    palette, title, ax
        As for ``dendrogram``.

    Returns
    -------
    ax : matplotlib Axes

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
    values = as_curve(values, "values")
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
    if ax is None:
        ax = new_axes(6.5, 4.0)
    if null is not None:
        null = as_curve(null, "null")
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
    quiet_frame(ax)
    ax.yaxis.grid(True, color=FAINT, linewidth=0.6)
    ax.set_ylim(bottom=0 if values.min() >= 0 else None)
    ax.margins(x=0.03)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel(xlabel)
    ax.set_ylabel("left unexplained" if ylabel is None else ylabel)
    title_and_note(ax, title)
    return ax


def as_curve(values: Any, name: str) -> np.ndarray:
    curve = np.asarray(values, np.float64)
    if curve.ndim != 1 or not len(curve):
        raise ValueError(f"scree needs {name} in one row, but they have shape {curve.shape}.")
    if not np.isfinite(curve).all():
        place = int(np.argmin(np.isfinite(curve)))
        raise ValueError(f"scree: {name}[{place}] is {curve[place]}, not a number to draw.")
    return curve


def mark_points(
    ax: "Axes",
    ks: np.ndarray,
    values: np.ndarray,
    knee: int | None,
    best: int | None,
    palette: Sequence[str],
) -> None:
    """Rings around the knee and the choice, each with its name."""
    marks = {knee: "knee", best: "chosen"} if knee != best else {knee: "knee, chosen"}
    marked = [k for k in (knee, best) if k is not None]
    crowded = max(marked, default=0) - min(marked, default=0) < 0.25 * (ks[-1] - ks[0])
    for i, (k, name) in enumerate(marks.items()):
        if k is None:
            continue
        at = float(values[np.flatnonzero(ks == k)[0]])
        color = palette[0] if i == 0 else palette[3 % len(palette)]
        ax.plot(
            k, at, marker="o", markersize=12, markerfacecolor="none", markeredgecolor=color,
            markeredgewidth=1.8, zorder=3,
        )  # fmt: skip
        ax.annotate(
            f"{name}: {k}", (k, at), (9, 24 if crowded and k < max(marked) else 9),
            textcoords="offset points", fontsize=10, color=darker(color), zorder=4,
        )  # fmt: skip
