"""What all pictures share: colors, axes to draw into, frames, titles, dots, legends."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "FAINT", "NEUTRAL", "PALETTE", "axes_or_new", "check_names", "cluster_colors", "darker",
    "draw_dots", "finish", "in_words", "legend_beside", "new_grid", "quiet_frame",
    "title_and_note", "write_name",
]  # fmt: skip

# Tol's "muted" scheme: nine colors that remain distinct to color-blind eyes, on white.
PALETTE = (
    "#CC6677", "#332288", "#DDAA33", "#117733", "#88CCEE", "#882255", "#44AA99", "#999933",
    "#AA4499",
)  # fmt: skip
NEUTRAL = "#4D4D4D"  # without a cluster
FAINT = "#DDDDDD"  # grids and frames
MARKERS = "os^Dv"  # the shape changes where the colors begin again
MOST_IN_LEGEND = 12


def darker(color: str) -> str:
    """The same hue, dark enough for small type on white.

    >>> darker("#88CCEE")
    '#558095'
    """
    red, green, blue = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    scale = 0.63 if 0.299 * red + 0.587 * green + 0.114 * blue > 110 else 1.0
    return "#" + "".join(f"{int(scale * part):02x}" for part in (red, green, blue))


def axes_or_new(ax: "Axes | None", width: float, height: float) -> "Axes":
    """``ax``, or new axes in a figure of this size in inches."""
    if ax is not None:
        return ax
    return pyplot().subplots(figsize=(width, height), layout="constrained")[1]


def new_grid(n: int, columns: int, *, panel: tuple[float, float]) -> "np.ndarray":
    """n axes in rows of ``columns``, with common scales."""
    rows = -(-n // columns)
    size = (columns * panel[0], rows * panel[1])
    _, axes = pyplot().subplots(
        rows, columns, figsize=size, layout="constrained", sharex=True, sharey=True,
        squeeze=False,
    )  # fmt: skip
    for spare in axes.flat[n:]:
        spare.remove()
    return axes.ravel()[:n]


def pyplot() -> Any:
    """matplotlib, or an error that says how to install it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "Pictures need matplotlib. Install it with: pip install 'tacit-learn[plot]'"
        ) from error
    return plt


def quiet_frame(ax: "Axes", *, spines: Sequence[str] = ("left", "bottom")) -> None:
    """Make spines and ticks gray, so that they do not compete with the data."""
    for name, spine in ax.spines.items():
        spine.set_visible(name in spines)
        spine.set_color(FAINT)
    for axis in (ax.xaxis, ax.yaxis):
        axis.label.set_color(NEUTRAL)
        axis.set_tick_params(labelsize=8.5, color=FAINT, labelcolor=NEUTRAL)
    ax.set_axisbelow(True)


def title_and_note(ax: "Axes", title: str | None, note: str = "") -> None:
    """A title, and below it a note in small type."""
    if title is not None:
        ax.set_title(title, loc="left", fontsize=12, pad=20 if note else 8, parse_math=False)
    if note:
        ax.annotate(
            note, (0, 1), (0, 5), xycoords="axes fraction", textcoords="offset points",
            fontsize=8.5, color=NEUTRAL, parse_math=False,
        )  # fmt: skip


def finish(
    ax: "Axes", title: str | None, note: str = "", *, xlabel: str = "", ylabel: str = "",
    grid: Literal["x", "y", "both"] | None = None, spines: Sequence[str] = ("left", "bottom"),
) -> "Axes":  # fmt: skip
    """Add the labels of the axes, the grid, title and note. Text is never read as a formula."""
    ax.set_xlabel(xlabel, parse_math=False)
    ax.set_ylabel(ylabel, parse_math=False)
    if grid is not None:
        ax.grid(True, axis=grid, color=FAINT, linewidth=0.6)
    quiet_frame(ax, spines=spines)
    title_and_note(ax, title, note)
    return ax


def check_names(names: Sequence[Any] | None, default: Any, name: str, of: str) -> list[str]:
    """``names`` as text, or ``default``; an error if their numbers differ."""
    texts = [str(each) for each in (default if names is None else names)]
    if len(texts) != len(default):
        raise ValueError(
            f"{name} needs {len(default)} names, one per {of}, but got {len(texts)}."
        )
    return texts


def cluster_colors(k: int, palette: Sequence[str]) -> list[str]:
    """The color of every cluster; colors repeat where there are more clusters.

    >>> cluster_colors(2, PALETTE)
    ['#cc6677', '#332288']
    """
    from matplotlib.colors import to_hex

    colors = [to_hex(color) for color in (palette if len(palette) else PALETTE)]
    return [colors[j % len(colors)] for j in range(k)]


def marker_of(cluster: int, palette: Sequence[str]) -> str:
    return MARKERS[cluster // (len(palette) or len(PALETTE)) % len(MARKERS)]


def draw_dots(
    ax: "Axes", points: np.ndarray, codes: np.ndarray, k: int, palette: Sequence[str], *,
    scale: float = 1.0,
) -> None:  # fmt: skip
    """Draw rows as dots in the color of their cluster, smaller where there are many. ``scale``
    is the relative area of a dot."""
    colors = cluster_colors(k, palette)
    size = float(np.clip(scale * 9000 / max(1, len(points)), 5.0, 30.0))
    for j in range(k):
        members = points[codes == j]
        ax.scatter(
            members[:, 0], members[:, 1], s=size, c=colors[j], marker=marker_of(j, palette),
            alpha=0.85 if len(points) < 2000 else 0.55, linewidths=0.4 if size > 12 else 0.0,
            edgecolors="white", zorder=2,
        )  # fmt: skip


def write_name(ax: "Axes", at: np.ndarray, name: str, color: str) -> None:
    """Write a short name on top of everything, with a halo that keeps it legible."""
    from matplotlib.patheffects import withStroke

    ax.text(
        float(at[0]), float(at[1]), name, color=darker(color), fontsize=11, fontweight="bold",
        ha="center", va="center", zorder=5, parse_math=False, clip_on=True,
        path_effects=[withStroke(linewidth=3, foreground="white")],
    )  # fmt: skip


def in_words(names: np.ndarray) -> list[str]:
    """Labels as text for a legend; a number becomes "cluster 0".

    >>> in_words(np.array([0, 1])), in_words(np.array(["red"]))
    (['cluster 0', 'cluster 1'], ['red'])
    """
    return [f"cluster {name}" if names.dtype.kind in "iu" else str(name) for name in names]


def legend_beside(
    ax: "Axes", names: Sequence[str], counts: np.ndarray, palette: Sequence[str],
    more: Sequence[Any] = (),
) -> None:  # fmt: skip
    """Draw a legend of clusters and ``more`` labeled artists right of the axes, unless there
    are too many clusters."""
    from matplotlib.lines import Line2D

    if len(names) > MOST_IN_LEGEND:
        return
    colors = cluster_colors(len(names), palette)
    marks = [
        Line2D(
            [], [], linestyle="", color=colors[j], markersize=6.5,
            marker=marker_of(j, palette), label=f"{name}: {int(count):,}",
        )
        for j, (name, count) in enumerate(zip(names, counts, strict=True))
    ]  # fmt: skip
    legend = ax.legend(
        handles=[*marks, *more], loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False,
        fontsize=8.5, handletextpad=0.3,
    )  # fmt: skip
    for text in legend.get_texts():
        text.set_parse_math(False)
