"""The distance of every part of a text from every author, along the text."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tacit.plot.axes import (
    FAINT,
    PALETTE,
    cluster_colors,
    new_axes,
    quiet_frame,
    title_and_note,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tacit.style.rolling_attribution import Rolling

__all__ = ["rolling_attribution"]


def rolling_attribution(
    rolled: "Rolling",
    *,
    palette: Sequence[str] = PALETTE,
    title: str | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw the distances of the windows of a text; the lowest line is the author.

    Parameters
    ----------
    rolled : Rolling
        What ``tacit.style.rolling`` returned.
    palette, title, ax
        As for ``author_map``.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> from tacit.style import Authorship, rolling
    >>> land, sea = "the cow of the barn ", "a ship on a sea "
    >>> model = Authorship(["the", "of", "a", "on"]).fit([land, sea], ["Ann", "Bob"])
    >>> ax = rolling_attribution(rolling(model, 20 * land + 20 * sea, window=25))
    >>> [line.get_label() for line in ax.get_lines()]
    ['Ann', 'Bob']
    """
    if ax is None:
        ax = new_axes(8.0, 3.6)
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
    ax.set_xlabel("word of the text")
    ax.set_ylabel("distance from the author")
    ax.yaxis.grid(True, color=FAINT, linewidth=0.6)
    legend = ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=8.5)
    for text in legend.get_texts():
        text.set_parse_math(False)
    quiet_frame(ax)
    size = int((rolled.stops - rolled.starts).max())
    note = f"windows of {size:,} words; the background is the nearest author"
    title_and_note(ax, title, note)
    return ax
