"""Texts as a map: blocks of words by the two directions in which their style differs most, in
the color of their author; texts of unknown author on top, and the words that point the way.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.plot.axes import (
    FAINT,
    NEUTRAL,
    PALETTE,
    draw_dots,
    legend_beside,
    new_axes,
    quiet_frame,
    title_and_note,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tacit.style.authorship import Authorship

__all__ = ["author_map"]

UNKNOWN = ("*", "P", "X", "D")  # markers of texts of unknown author
REACH = 0.92  # how far the words lie from the center, relative to the farthest block
NAMED = 12  # texts of unknown author in the legend
NEAR = 0.05  # words closer than this, relative to the picture, would overlap


def author_map(
    model: "Authorship",
    texts: Any = None,
    *,
    names: Sequence[str] | None = None,
    words: int = 8,
    palette: Sequence[str] = PALETTE,
    title: str | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw the blocks of known texts in the colors of their authors, and others on top.

    Parameters
    ----------
    model : Authorship, fitted
    texts : list of str or Documents, optional
        Texts of unknown author, projected onto the plane of the known ones.
    names : sequence of str, optional
        Of those texts.
    words : int
        How many words to show: those that add most to the two coordinates, in the direction
        in which they become more frequent.
    palette, title
        As for ``dendrogram``.
    ax : matplotlib Axes, optional
        Where to draw; a new figure otherwise.

    Returns
    -------
    ax : matplotlib Axes

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
    shown = [known.points]
    if ax is None:
        ax = new_axes(7.5, 5.5)
    draw_dots(ax, known.points, codes, len(authors), palette)
    marks = []
    if texts is not None:
        others = model.map(texts)
        shown.append(others.points)
        number = int(others.texts.max()) + 1
        called = [str(name) for name in (range(number) if names is None else names)]
        for i in range(number):
            own = others.points[others.texts == i]
            marker = UNKNOWN[i % len(UNKNOWN)]
            marks.append(
                ax.scatter(
                    own[:, 0], own[:, 1], s=110, c="black", marker=marker, linewidths=0.6,
                    edgecolors="white", zorder=4, label=f"{called[i]}: {len(own):,}",
                )
            )  # fmt: skip
    write_words(ax, model.words_, known.axes, np.concatenate(shown), words)
    more = marks if len(marks) <= NAMED else []
    legend_beside(ax, authors, np.bincount(codes, minlength=len(authors)), palette, more)
    ax.set_xlabel("first principal direction of the function words")
    ax.set_ylabel("second principal direction")
    quiet_frame(ax)
    block = "whole texts" if model.block is None else f"blocks of {model.block:,} words"
    note = f"{block}, {len(model.words_)} words; {known.explained:.0%} of the variance shown"
    title_and_note(ax, title, note)
    return ax


def write_words(
    ax: "Axes", words: Sequence[str], axes: np.ndarray, points: np.ndarray, top: int
) -> None:
    """The words with the largest coefficients of either direction, on rays from the center."""
    strength = np.abs(axes)
    order = np.argsort(-strength, axis=1, kind="stable")
    turns = list(dict.fromkeys(order.T.ravel().tolist()))  # of one direction, of the other
    lengths = np.hypot(axes[0], axes[1])
    if lengths.max() == 0:
        return
    scale = REACH * float(np.hypot(points[:, 0], points[:, 1]).max()) / lengths.max()
    placed: list[np.ndarray] = []
    for j in turns:
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
