"""What a dendrogram shows, before it is drawn: places, heights and clusters.

Where there are more leaves than fit, the tree is cut off from below: its leaves then are groups
of leaves.
"""

from dataclasses import dataclass

import numpy as np

from tacit.cluster.hierarchy.dendrogram import cut as cut_tree
from tacit.cluster.hierarchy.dendrogram import label_leaves, leaf_positions, subtree_heights

__all__ = ["SMALLEST", "Tree", "cut_height", "groups_to_draw", "labels_of", "simplify"]

SMALLEST = 6.0  # points of type that can be read


@dataclass(frozen=True)
class Tree:
    """A tree whose leaves are groups of leaves, from left to right."""

    n: int  # leaves of the whole tree
    counts: np.ndarray  # (p,) leaves in every group
    firsts: np.ndarray  # (p,) the lowest leaf of every group
    tops: np.ndarray  # (p,) its highest merge
    colors: np.ndarray  # (p,) cluster of every group, -1 for none or several
    brackets: np.ndarray  # (p-1, 4, 2) corners of every merge: place, height
    merge_colors: np.ndarray  # (p-1,) cluster, -1 above the cut
    stem_colors: np.ndarray  # (p-1, 2) of the two parts it merges
    clusters: np.ndarray | None  # (n,) of every leaf
    cut_at: float  # height of the cut; nan where one line cannot say

    @property
    def p(self) -> int:
        """Groups drawn."""
        return len(self.counts)


def labels_of(Z: np.ndarray, cut: float) -> np.ndarray:
    """The cluster of every leaf, for a number of clusters or a height."""
    if isinstance(cut, bool) or not isinstance(cut, int | float | np.number):
        raise TypeError(
            f"dendrogram(cut={cut!r}) must be a whole number, of clusters, or a float, the "
            "height to cut at."
        )
    if isinstance(cut, int | np.integer):
        return cut_tree(Z, k=int(cut))
    return cut_tree(Z, height=float(cut))


def cut_height(Z: np.ndarray, clusters: np.ndarray | None, cut: float | None) -> float:
    """Where a line across the picture says what was cut; nan where none can."""
    if clusters is None or cut is None:
        return float("nan")
    if not isinstance(cut, int | np.integer):
        return float(cut)
    k, heights = int(clusters.max()) + 1, Z[:, 2]
    below = heights[len(heights) - k] if k <= len(heights) else 0.0
    above = heights[len(heights) - k + 1] if k > 1 else 1.06 * below
    rising = (np.diff(heights) >= 0).all()
    return float(below + above) / 2 if above > below and rising else float("nan")


def groups_to_draw(
    n: int, truncate: bool | int, room: float, clusters: np.ndarray | None
) -> int:
    """How many groups the picture shows: all leaves, or what fits in ``room`` points."""
    if truncate is False:
        return n
    if truncate is not True:
        if truncate < 2:
            raise ValueError(f"dendrogram(truncate={truncate}) must be at least 2.")
        return min(n, int(truncate))
    if n * SMALLEST <= room * 1.02:
        return n
    fit = max(2, int(room / (1.35 * SMALLEST)))
    found = 0 if clusters is None else int(clusters.max()) + 1
    return min(n, max(fit, found))


def simplify(Z: np.ndarray, clusters: np.ndarray | None, cut_at: float, p: int) -> Tree:
    """The top of the tree, down to p groups."""
    n = len(Z) + 1
    order, _ = leaf_positions(Z)
    groups = label_leaves(Z, np.arange(n - 1) < n - p)  # of every leaf the node it hangs from
    nodes, where = np.unique(groups[order], return_index=True)
    nodes = nodes[np.argsort(where)]  # from left to right
    high = np.concatenate([np.zeros(n), subtree_heights(Z)])
    place = np.full(2 * n - 1, np.nan)
    place[nodes] = np.arange(p)
    shade = np.full(2 * n - 1, -1)
    if clusters is not None:
        shade[:n] = clusters
    for s in range(n - 1):
        a, b = (int(c) for c in Z[s, :2])
        shade[n + s] = shade[a] if shade[a] == shade[b] else -1
    brackets = np.empty((p - 1, 4, 2))
    colors, stems = np.empty(p - 1, np.int64), np.empty((p - 1, 2), np.int64)
    tall = np.zeros(2 * n - 1)
    tall[n:] = Z[:, 2]
    tall[nodes] = high[nodes]
    for i, s in enumerate(range(n - p, n - 1)):
        a, b = (int(c) for c in Z[s, :2])
        place[n + s] = (place[a] + place[b]) / 2
        top = Z[s, 2]
        brackets[i] = (place[a], tall[a]), (place[a], top), (place[b], top), (place[b], tall[b])
        colors[i], stems[i] = shade[n + s], (shade[a], shade[b])
    counts = np.array([1 if c < n else int(Z[c - n, 3]) for c in nodes])
    lowest = np.full(2 * n - 1, n)
    np.minimum.at(lowest, groups, np.arange(n))
    return Tree(
        n, counts, lowest[nodes], high[nodes], shade[nodes], brackets, colors, stems, clusters,
        cut_at,
    )  # fmt: skip
