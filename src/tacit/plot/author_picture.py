"""Texts and their authors: a map of blocks of words on the first two principal directions of
their style, with the words that point there; and the distance of the windows of a text from
every author.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.plot.axes import (
    FAINT,
    NEUTRAL,
    PALETTE,
    axes_or_new,
    cluster_colors,
    draw_dots,
    finish,
    legend_beside,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tacit.style.authorship import Authorship, Rolling

__all__ = ["author_map", "rolling_attribution"]

UNKNOWN = ("*", "P", "X", "D")  # markers of texts of unknown author
REACH = 0.92  # how far the words lie from the center, relative to the farthest block
NAMED = 25  # texts of unknown author whose names are written
NEAR = 0.05  # words closer than this, relative to the picture, would overlap


def author_map(
    model: "Authorship", texts: Any = None, *, names: Sequence[str] | None = None,
    words: int = 8, palette: Sequence[str] = PALETTE, title: str | None = None,
    ax: "Axes | None" = None,
) -> "Axes":  # fmt: skip
    """Draw the blocks of known texts in the colors of their authors, and others on top.

    Parameters
    ----------
    model : Authorship, fitted
    texts : list of str or Documents, optional
        Texts of unknown author, projected onto the plane of the known ones.
    names : sequence of str, optional; of those texts
    words : int
        How many words to show: those that add most to the two coordinates, in the direction
        in which they become more frequent.
    palette, title, ax : as for ``dendrogram``

    Examples
    --------
    >>> from tacit.style import Authorship
    >>> land = ["the cow of the farm", "the hay of the barn and the farm"]
    >>> sea = ["a ship on a sea", "a whale on a wave or a rock"]
    >>> model = Authorship(["the", "of", "a", "on"]).fit(land + sea, ["Ann"] * 2 + ["Bob"] * 2)
    >>> ax = author_map(model, ["the end of the road"], names=["letter"])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['Ann: 2', 'Bob: 2', 'letter: 1']
    """
    known = model.map()
    codes = model.text_authors_[known.texts]
    authors = [str(author) for author in model.classes_]
    points, markers = known.points, []
    ax = axes_or_new(ax, 7.5, 5.5)
    draw_dots(ax, known.points, codes, len(authors), palette)
    if texts is not None:
        unknown = model.map(texts)
        points = np.concatenate([points, unknown.points])
        titles = range(int(unknown.texts.max()) + 1) if names is None else names
        markers = draw_unknown(ax, unknown.points, unknown.texts, [*map(str, titles)])
    write_words(ax, model.words_, known.axes, points, words)
    legend_beside(ax, authors, np.bincount(codes, minlength=len(authors)), palette, markers)
    block = "whole texts" if model.block is None else f"blocks of {model.block:,} words"
    note = f"{block}, {len(model.words_)} words; {known.explained:.0%} of the variance shown"
    across = "first principal direction of the function words"
    return finish(ax, title, note, xlabel=across, ylabel="second principal direction")


def draw_unknown(
    ax: "Axes", points: np.ndarray, texts: np.ndarray, names: Sequence[str]
) -> list[Any]:
    """Draw the blocks of texts of unknown author; return artists for the legend.

    Up to four texts have a marker each; the names of more are written next to their blocks.
    """
    few = len(names) <= len(UNKNOWN)
    groups = [texts == i for i in range(len(names))] if few else [texts >= 0]
    artists = []
    for i, group in enumerate(groups):
        label = f"{names[i] if few else 'unknown'}: {int(group.sum()):,}"
        artists.append(
            ax.scatter(
                points[group, 0], points[group, 1], s=110, c="black", marker=UNKNOWN[i],
                linewidths=0.6, edgecolors="white", zorder=4, label=label,
            )
        )  # fmt: skip
    if not few and len(names) <= NAMED:
        for i, name in enumerate(names):
            ax.annotate(
                name, points[texts == i].mean(axis=0), (5, 4), textcoords="offset points",
                fontsize=7.5, zorder=5, parse_math=False,
            )  # fmt: skip
    return artists


def write_words(
    ax: "Axes", words: Sequence[str], axes: np.ndarray, points: np.ndarray, top: int
) -> None:
    """Write the words with the largest coefficients of either direction, in turn, on rays from
    the center."""
    order = np.argsort(-np.abs(axes), axis=1, kind="stable")
    lengths = np.hypot(axes[0], axes[1])
    if lengths.max() == 0:
        return
    scale = REACH * float(np.hypot(points[:, 0], points[:, 1]).max()) / lengths.max()
    placed: list[np.ndarray] = []
    for j in dict.fromkeys(order.T.ravel().tolist()):
        at = scale * axes[:, j]
        if len(placed) == top:
            break
        if any(np.abs(at - other).max() < NEAR * np.ptp(points) for other in placed):
            continue
        placed.append(at)
        ax.plot([0, at[0]], [0, at[1]], color=FAINT, linewidth=0.9, zorder=1)
        ax.text(
            1.05 * float(at[0]), 1.05 * float(at[1]), words[j], color=NEUTRAL, fontsize=8.5,
            style="italic", ha="center", va="center", zorder=3, parse_math=False,
        )  # fmt: skip


def rolling_attribution(
    rolled: "Rolling", *, palette: Sequence[str] = PALETTE, title: str | None = None,
    ax: "Axes | None" = None,
) -> "Axes":  # fmt: skip
    """Draw the distances of the windows of a text; the lowest line is the author.

    Parameters
    ----------
    rolled : Rolling, what ``tacit.style.rolling`` returned
    palette, title, ax : as for ``dendrogram``

    Examples
    --------
    >>> from tacit.style import Authorship, rolling
    >>> land, sea = "the cow of the barn ", "a ship on a sea "
    >>> model = Authorship(["the", "of", "a", "on"]).fit([land, sea], ["Ann", "Bob"])
    >>> ax = rolling_attribution(rolling(model, 20 * land + 20 * sea, window=25))
    >>> [line.get_label() for line in ax.get_lines()]
    ['Ann', 'Bob']
    """
    ax = axes_or_new(ax, 8.0, 3.6)
    middles = (rolled.starts + rolled.stops) / 2
    colors = cluster_colors(len(rolled.authors), palette)
    for segment in rolled.segments():
        color = colors[rolled.authors.index(segment.author)]
        ax.axvspan(segment.start, segment.stop, color=color, alpha=0.12, linewidth=0)
    for j, author in enumerate(rolled.authors):
        ax.plot(
            middles, rolled.distances[:, j], color=colors[j], linewidth=1.6, label=str(author),
            marker="o" if len(middles) == 1 else None,
        )  # fmt: skip
    ax.set_xlim(float(rolled.starts[0]), float(rolled.stops[-1]))
    legend = ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=8.5)
    for text in legend.get_texts():
        text.set_parse_math(False)
    size = int((rolled.stops - rolled.starts).max())
    note = f"windows of {size:,} words; the background is the nearest author"
    up = "distance from the author"
    return finish(ax, title, note, xlabel="word of the text", ylabel=up, grid="y")
