"""The biplot: rows as dots on two components, columns as arrows.

An arrow shows how far a row moves when its value in that column is one standard deviation
larger. Columns that vary together point the same way.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.plot.axes import (
    NEUTRAL,
    PALETTE,
    draw_dots,
    in_words,
    legend_beside,
    new_axes,
    quiet_frame,
    title_and_note,
    write_name,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["biplot"]

REACH = 0.85  # of the longest arrow, relative to the farthest dot


def biplot(
    model: Any,
    X: Any,
    *,
    labels: Any = None,
    names: Sequence[str] | None = None,
    axes: tuple[int, int] = (0, 1),
    arrows: int = 12,  # columns with an arrow, the longest ones
    palette: Sequence[str] = PALETTE,
    title: str | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw rows and columns on two components of a fitted PCA.

    Parameters
    ----------
    model : PCA, fitted, with two components or more
    X : rows, as for its ``transform``
    labels : sequence of n, optional
        A color per label, and a legend.
    names : sequence of d, optional
        The names of the columns; their numbers otherwise.
    axes : two numbers
        The components to draw, counted from 0.
    arrows : int
        The number of columns with an arrow, the longest ones; 0 for none.
    palette, title, ax
        As for ``dendrogram``.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> from tacit.decompose import PCA
    >>> X = np.random.default_rng(0).normal(size=(30, 3)) * [5, 2, 1]
    >>> ax = biplot(PCA(2).fit(X), X, names=["age", "weight", "height"])
    >>> sorted(text.get_text() for text in ax.texts if text.get_text())
    ['age', 'weight']
    """
    i, j = axes
    k, d = model.components_.shape
    if not (0 <= i < k and 0 <= j < k):
        raise ValueError(
            f"biplot(axes={tuple(axes)}) needs two of the {k} component(s) of the model, "
            "counted from 0. Fit more, or choose others."
        )
    names = [str(c) for c in range(d)] if names is None else [str(name) for name in names]
    if len(names) != d:
        raise ValueError(f"biplot needs {d} names, one per column, but got {len(names)}.")
    points = np.asarray(model.transform(X), np.float64)[:, [i, j]]
    if ax is None:
        ax = new_axes(7.0, 6.0)
    own = np.zeros(len(points), np.int64)
    if labels is not None:
        known, own = np.unique(np.asarray(labels), return_inverse=True)
        if len(own) != len(points):
            raise ValueError(
                f"biplot needs {len(points)} labels, one per row, but got {len(own)}."
            )
    dots = [*palette[1:], *palette[:1]]  # the first color is that of the arrows
    ax.axhline(0, color="#EEEEEE", lw=1, zorder=0)
    ax.axvline(0, color="#EEEEEE", lw=1, zorder=0)
    draw_dots(ax, points, own, int(own.max(initial=0)) + 1, dots)
    draw_arrows(ax, model, points, (i, j), names, arrows, palette[0])
    if labels is not None:
        legend_beside(ax, in_words(known), np.bincount(own), dots)
    quiet_frame(ax)
    ax.margins(0.08)
    share = np.asarray(model.explained_variance_ratio_)
    ax.set_xlabel(f"component {i + 1}: {share[i]:.1%} of the variance")
    ax.set_ylabel(f"component {j + 1}: {share[j]:.1%} of the variance")
    title_and_note(ax, title)
    return ax


def draw_arrows(
    ax: "Axes",
    model: Any,
    points: np.ndarray,
    axes: tuple[int, int],
    names: Sequence[str],
    number: int,
    color: str,
) -> None:
    """The longest arrows, scaled to the dots."""
    pair = list(axes)
    deviations = np.sqrt(np.asarray(model.explained_variance_, np.float64)[pair])
    tips = np.asarray(model.components_, np.float64)[pair].T * deviations  # (d, 2)
    lengths = np.hypot(*tips.T)
    longest = np.argsort(-lengths, kind="stable")[:number]
    longest = longest[lengths[longest] > 0.05 * lengths.max(initial=0.0)]
    reach = np.abs(points).max(axis=0, initial=0.0)
    widest = np.abs(tips[longest]).max(axis=0, initial=0.0)
    if not len(longest) or not (reach > 0).any():
        return
    # As long as the dots of both axes leave room for.
    fits = [r / w for r, w in zip(reach, widest, strict=True) if r > 0 and w > 0]
    tips = tips * (REACH * min(fits, default=1.0))
    for c in longest:
        ax.annotate(
            "", tips[c], (0, 0), zorder=4,
            arrowprops={"arrowstyle": "-|>", "color": color, "lw": 1.4, "shrinkA": 0,
                        "shrinkB": 0},
        )  # fmt: skip
    for c, at in zip(longest, apart(1.1 * tips[longest], reach), strict=True):
        write_name(ax, at, names[c], color if number <= 20 else NEUTRAL)


def apart(places: np.ndarray, reach: np.ndarray) -> np.ndarray:
    """Places of names, moved up where the name below would be written over."""
    places = places.copy()
    room, near = 0.09 * reach[1], 0.5 * reach[0]
    order = np.argsort(places[:, 1], kind="stable")
    for i, c in enumerate(order):
        for below in order[:i]:
            close = abs(places[c, 0] - places[below, 0]) < near
            if close and places[c, 1] - places[below, 1] < room:
                places[c, 1] = places[below, 1] + room
    return places
