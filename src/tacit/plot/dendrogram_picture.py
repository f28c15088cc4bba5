"""The dendrogram: a tree of clusters, legible from ten leaves to thousands.

Merges are brackets at their heights, and a cut gives every cluster its color. Names get the
largest type that fits. Where even small type does not fit, only the top of the tree is drawn,
down to as many groups as fit, each a wedge as tall as its highest merge.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.cluster.hierarchy.dendrogram import (
    check_linkage,
    label_leaves,
    leaf_positions,
    subtree_heights,
)
from tacit.cluster.hierarchy.dendrogram import cut as cut_tree
from tacit.plot.axes import NEUTRAL, PALETTE, axes_or_new, darker, finish

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["dendrogram"]

SMALLEST, LARGEST = 6.0, 10.0  # points of type
NAME_LENGTH = 32  # characters shown of a name
OPPOSITE = {"top": "bottom", "bottom": "top", "left": "right", "right": "left"}


def dendrogram(
    Z: Any, *, labels: Sequence[Any] | None = None, cut: float | None = None,
    orientation: str | None = None, truncate: bool | int = True,
    palette: Sequence[str] = PALETTE, title: str | None = None, ax: "Axes | None" = None,
) -> "Axes":  # fmt: skip
    """Draw a tree of clusters.

    Parameters
    ----------
    Z : array of shape (n-1, 4), or a fitted model
        A linkage matrix of ``tacit.cluster.linkage`` or SciPy, or a model with a tree.
    labels : sequence of n, optional; names of the leaves; their numbers otherwise
    cut : int or float, optional
        Color the clusters of a cut: an int is a number of clusters, a float the height to cut
        at.
    orientation : {"top", "bottom", "left", "right"}, optional
        The side of the root. By default the top, or the left where names are long, so that
        they are horizontal.
    truncate : bool or int
        True draws only the top of the tree where not all names fit; a number draws that many
        groups; False draws every leaf, without names where they do not fit.
    palette : sequence of colors
        For the clusters, the largest first; used again from the start where there are more.
    title : str, optional
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure of suitable size.

    Examples
    --------
    >>> from tacit.cluster import linkage
    >>> Z = linkage(np.array([[0.0], [1.0], [5.0], [7.0]]), "average")
    >>> ax = dendrogram(Z, labels=["ash", "oak", "elm", "yew"], cut=2)
    >>> [text.get_text() for text in ax.get_xticklabels()]
    ['ash', 'oak', 'elm', 'yew']
    """
    Z = check_linkage(Z, name="dendrogram")
    n = len(Z) + 1
    if n < 2:
        raise ValueError("dendrogram needs a tree of at least two leaves, but Z is empty.")
    names = None if labels is None else [readable(label) for label in labels]
    if names is not None and len(names) != n:
        raise ValueError(f"dendrogram needs {n} labels, one per leaf, but got {len(names)}.")
    if orientation is None:
        wordy = names is not None and max(map(len, names)) > 3
        orientation = "left" if wordy else "top"
    if orientation not in OPPOSITE:
        raise ValueError(
            f"dendrogram(orientation={orientation!r}) is unknown. Choose from "
            f"{', '.join(OPPOSITE)}."
        )
    clusters, cut_at = cut_into(Z, cut)
    sideways = orientation in ("left", "right")
    side = float(np.clip(0.18 * n, 4.0, 12.0))  # the figure grows with the leaves
    ax = axes_or_new(ax, *((8.0, side) if sideways else (max(6.0, side), 5.0)))
    box = ax.get_window_extent()
    extent = float(box.height if sideways else box.width) * 72 / ax.figure.dpi
    p = groups_to_draw(n, truncate, extent, clusters)
    tree = simplify(Z, clusters, cut_at, p)
    from matplotlib.colors import to_hex

    colors = tuple(to_hex(color) for color in palette) or PALETTE
    picture = Picture(ax, orientation, tree, colors, names, extent)
    picture.draw_frame(title)
    picture.draw_merges()
    picture.draw_groups()
    picture.draw_names()
    picture.draw_cut()
    return ax


def readable(name: Any) -> str:
    """A name on one line, without control characters, cut to 32 characters.

    >>> readable("two\\nlines "), len(readable("x" * 99))
    ('two lines', 32)
    """
    text = " ".join(str(name).split())
    text = "".join(c for c in text if unicodedata.category(c) not in ("Cc", "Cs", "Cf"))
    return text if len(text) <= NAME_LENGTH else text[: NAME_LENGTH - 1] + "…"


# --- The layout ---


@dataclass(frozen=True)
class Tree:
    """The top of a tree: its leaves are groups of leaves of the full tree, from left to right.
    A cluster of -1 is none, or several."""

    n: int  # leaves of the full tree
    counts: np.ndarray  # (p,) leaves in every group
    firsts: np.ndarray  # (p,) the lowest leaf of every group
    tops: np.ndarray  # (p,) height of its highest merge
    group_clusters: np.ndarray  # (p,)
    brackets: np.ndarray  # (p-1, 4, 2) corners of every merge: position, height
    merge_clusters: np.ndarray  # (p-1,)
    stem_clusters: np.ndarray  # (p-1, 2) of the two nodes that are merged
    clusters: np.ndarray | None  # (n,) of every leaf
    cut_at: float  # height of the line that shows the cut; nan for none

    @property
    def p(self) -> int:
        """Groups drawn."""
        return len(self.counts)


def cut_into(Z: np.ndarray, cut: float | None) -> tuple[np.ndarray | None, float]:
    """The cluster of every leaf, for a number of clusters or a height, and the height of the
    line that shows the cut; nan where no line can."""
    if cut is None:
        return None, np.nan
    if isinstance(cut, bool) or not isinstance(cut, int | float | np.number):
        raise TypeError(
            f"dendrogram(cut={cut!r}) must be a whole number, of clusters, or a float, the "
            "height to cut at."
        )
    if not isinstance(cut, int | np.integer):
        return cut_tree(Z, height=float(cut)), float(cut)
    k = int(cut)
    clusters, heights = cut_tree(Z, k=k), np.append(0.0, Z[:, 2])
    below = heights[-k]
    above = heights[1 - k] if k > 1 else 1.06 * below
    rising = (np.diff(heights) >= 0).all()
    return clusters, float(below + above) / 2 if above > below and rising else np.nan


def groups_to_draw(
    n: int, truncate: bool | int, extent: float, clusters: np.ndarray | None
) -> int:
    """How many groups the picture shows: all leaves, or what fits in ``extent`` points."""
    if truncate is False:
        return n
    if truncate is not True:
        if truncate < 2:
            raise ValueError(f"dendrogram(truncate={truncate}) must be at least 2.")
        return min(n, int(truncate))
    if n * SMALLEST <= extent * 1.02:
        return n
    fit = max(2, int(extent / (1.35 * SMALLEST)))
    k = 0 if clusters is None else int(clusters.max()) + 1
    return min(n, max(fit, k))


def simplify(Z: np.ndarray, clusters: np.ndarray | None, cut_at: float, p: int) -> Tree:
    """The top of the tree, down to p groups."""
    n = len(Z) + 1
    order, _ = leaf_positions(Z)
    groups = label_leaves(Z, np.arange(n - 1) < n - p)  # for every leaf the node of its group
    nodes, where, counts = np.unique(groups[order], return_index=True, return_counts=True)
    left_to_right = np.argsort(where)
    nodes, counts = nodes[left_to_right], counts[left_to_right]
    pairs = Z[:, :2].astype(np.int64)
    cluster_of = np.full(2 * n - 1, -1)
    if clusters is not None:
        cluster_of[:n] = clusters
    for node, (a, b) in enumerate(pairs, n):
        cluster_of[node] = cluster_of[a] if cluster_of[a] == cluster_of[b] else -1
    tops = np.concatenate([np.zeros(n), subtree_heights(Z)])[nodes]
    heights = np.concatenate([np.zeros(n), Z[:, 2]])
    heights[nodes] = tops
    positions = np.full(2 * n - 1, np.nan)
    positions[nodes] = np.arange(p)
    merges = np.arange(n - p, n - 1)
    brackets = np.empty((p - 1, 4, 2))
    for bracket, s in zip(brackets, merges, strict=True):
        ends = positions[pairs[s]]
        positions[n + s] = ends.mean()
        bracket[:, 0] = ends.repeat(2)
        bracket[:, 1] = Z[s, 2]
        bracket[[0, 3], 1] = heights[pairs[s]]
    firsts = np.full(2 * n - 1, n)
    np.minimum.at(firsts, groups, np.arange(n))
    return Tree(
        n, counts, firsts[nodes], tops, cluster_of[nodes], brackets, cluster_of[n + merges],
        cluster_of[pairs[merges]], clusters, cut_at,
    )  # fmt: skip


# --- The drawing ---


@dataclass
class Picture:
    """The axes and the tree that is drawn into them."""

    ax: Any
    orientation: str
    tree: Tree
    palette: tuple[str, ...]
    names: list[str] | None
    extent: float  # points along the leaves

    @property
    def sideways(self) -> bool:
        return self.orientation in ("left", "right")

    @property
    def slot(self) -> float:
        """Points for one group."""
        return self.extent / self.tree.p

    def at(self, points: np.ndarray) -> np.ndarray:
        """(position, height) as (x, y)."""
        return points[..., ::-1] if self.sideways else points

    @property
    def line_width(self) -> float:
        return float(np.clip(0.14 * self.slot, 0.35, 1.5))

    def colors_of(self, clusters: Iterable[int]) -> list[str]:
        """The color of each cluster; -1 is none.

        Few clusters have the color of their number. The colors of many are repeated from left
        to right, so that neighbors differ.
        """
        k = 0 if self.tree.clusters is None else int(self.tree.clusters.max()) + 1
        ranks = {c: c for c in range(k)}
        if k > len(self.palette):
            drawn = dict.fromkeys(int(c) for c in self.tree.group_clusters if c >= 0)
            ranks = {c: len(drawn) + c for c in range(k)}
            ranks.update((c, i) for i, c in enumerate(drawn))
        colors = [NEUTRAL, *(self.palette[ranks[c] % len(self.palette)] for c in range(k))]
        return [colors[c + 1] for c in clusters]

    def draw_merges(self) -> None:
        from matplotlib.collections import LineCollection

        tree = self.tree
        brackets, stems, stem_clusters = tree.brackets.copy(), [], []
        for s in np.flatnonzero(tree.merge_clusters < 0):
            # Merged above the cut: each side keeps the color of its cluster up to the cut.
            for cluster, corner in zip(tree.stem_clusters[s], (0, 3), strict=True):
                position, foot = brackets[s, corner]
                end = np.fmin(tree.brackets[s, 1, 1], tree.cut_at)  # nan: up to the merge
                if cluster >= 0 and end > foot:
                    stems.append(self.at(np.array([(position, foot), (position, end)])))
                    stem_clusters.append(cluster)
                    brackets[s, corner, 1] = end
        order = np.argsort(tree.merge_clusters, kind="stable")  # those of a cluster on top
        lines = LineCollection(
            [*self.at(brackets)[order], *stems], linewidths=self.line_width, joinstyle="miter",
            colors=self.colors_of([*tree.merge_clusters[order], *stem_clusters]),
            capstyle="butt" if len(order) + len(stems) > 500 else "projecting",
        )  # fmt: skip
        self.ax.add_collection(lines)

    def draw_groups(self) -> None:
        """Draw groups of several leaves as wedges."""
        from matplotlib.collections import PolyCollection

        tree = self.tree
        folded = np.flatnonzero(tree.counts > 1)
        if not len(folded):
            return
        zeros, half = np.zeros(len(folded)), 0.36
        x = np.stack([folded - half, folded + half, folded.astype(float)], axis=1)
        y = np.stack([zeros, zeros, tree.tops[folded]], axis=1)
        tints = self.colors_of(tree.group_clusters[folded])
        wedges = PolyCollection(
            list(self.at(np.stack([x, y], axis=2))), linewidths=self.line_width,
            facecolors=[(tint, 0.30) for tint in tints], edgecolors=tints,
        )  # fmt: skip
        self.ax.add_collection(wedges)

    def draw_names(self) -> None:
        tree, ax = self.tree, self.ax
        axis = ax.yaxis if self.sideways else ax.xaxis
        size = min(LARGEST, 0.86 * self.slot)
        axis.set_ticks_position(OPPOSITE[self.orientation])
        axis.set_tick_params(length=0, pad=3)
        if size < SMALLEST * 0.84:
            axis.set_ticks([])
            return
        texts = [self.text_of(i) for i in range(tree.p)]
        widest = max(len(text) for text in texts) * 0.62 * size
        turned = not self.sideways and widest > 0.95 * self.slot
        axis.set_ticks(np.arange(tree.p), texts)
        colors = self.colors_of(tree.group_clusters)
        for tick, color in zip(axis.get_major_ticks(), colors, strict=True):
            for text in (tick.label1, tick.label2):
                text.set_parse_math(False)
                text.set_fontsize(size)
                text.set_rotation(90 if turned else 0)
                text.set_color(darker(color))

    def text_of(self, i: int) -> str:
        count, first = int(self.tree.counts[i]), int(self.tree.firsts[i])
        if count > 1 and self.names is None:
            return f"({count:,})"
        name = str(first) if self.names is None else self.names[first]
        return name if count == 1 else f"{name} +{count - 1:,}"

    def draw_cut(self) -> None:
        """Draw the cut as a dashed line, and the sizes of the clusters as a legend."""
        tree = self.tree
        if np.isfinite(tree.cut_at):
            line = self.ax.axvline if self.sideways else self.ax.axhline
            line(tree.cut_at, color=NEUTRAL, linewidth=0.8, linestyle=(0, (5, 4)), zorder=0.5)
        if tree.clusters is None:
            return
        sizes = np.bincount(tree.clusters)
        if not 1 < len(sizes) <= 12:
            return
        from matplotlib.patches import Patch
        from matplotlib.transforms import ScaledTranslation

        colors = self.colors_of(range(len(sizes)))
        patches = [
            Patch(color=colors[c], label=f"cluster {c}: {n:,}") for c, n in enumerate(sizes)
        ]
        # Right of the axes, and of the names of the leaves if they are there.
        names = (
            self.ax.yaxis.get_ticklabels(which="major") if self.orientation == "left" else ()
        )
        width = max((text.get_window_extent().width for text in names), default=0.0)
        figure = self.ax.figure
        offset = ScaledTranslation(width / figure.dpi + 0.12, 0, figure.dpi_scale_trans)
        self.ax.legend(
            handles=patches, loc="upper left", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.0,
            bbox_transform=self.ax.transAxes + offset, frameon=False, fontsize=8.5,
            handlelength=0.9, handleheight=0.9,
        )  # fmt: skip

    def draw_frame(self, title: str | None) -> None:
        tree, ax = self.tree, self.ax
        top = float(max(tree.brackets[..., 1].max(), tree.tops.max())) or 1.0
        if tree.clusters is not None and int(tree.clusters.max()) == 0:
            top *= 1.04
        along, up = (-0.6, tree.p - 0.4), (0.0, 1.04 * top)
        ax.axis("on")
        if self.sideways:
            ax.set_ylim(along[::-1])
            ax.set_xlim(up if self.orientation == "right" else up[::-1])
            finish(ax, title, self.note(), xlabel="height", grid="x", spines=("bottom",))
        else:
            ax.set_xlim(along)
            ax.set_ylim(up if self.orientation == "top" else up[::-1])
            finish(ax, title, self.note(), ylabel="height", grid="y", spines=("left",))

    def note(self) -> str:
        """A sentence about what is not drawn; empty if everything is."""
        tree = self.tree
        if tree.p < tree.n:
            name = "how many leaves" if self.names is None else "one leaf and how many more"
            return (
                f"{tree.n:,} leaves in {tree.p:,} groups: a wedge is a group; below it {name}"
            )
        if 0.86 * self.slot < SMALLEST * 0.84:
            return f"{tree.n:,} leaves, too many for their names"
        return ""
