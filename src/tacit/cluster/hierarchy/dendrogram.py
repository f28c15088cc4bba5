"""Trees as SciPy's linkage matrix: from merges, checked, cut, ordered, compared with distances.

Row i of Z merges clusters Z[i, 0] and Z[i, 1] at height Z[i, 2] into cluster n + i, which has
Z[i, 3] leaves; clusters below n are the leaves. Any Z will do, from ``linkage``, from SciPy,
fastcluster or a file: it is checked first.

``Merges`` are in the order an algorithm makes them, clusters named by their lowest row.
Nearest-neighbor chains find the right merges in another order. Sorted by height, and
among equal heights by the two names, they are in the order of the greedy algorithm that always
joins the closest pair, the lowest names first.

Cophenetic distance: the height at which two leaves first share a cluster. Its correlation with
the distances themselves measures how well the tree represents them.

Leaf order: a tree of n leaves can be drawn in 2^(n-1) ways, by swapping the two sides of any
merge. The best has the smallest sum of distances between neighboring leaves. Let M(u, w) be
the smallest sum for the smallest cluster that holds both leaves, with u at one end and w at
the other; it follows from the M of the two parts:

    M(u, w) = min over m, k of  M(u, m) + d(m, k) + M(k, w)

with u, m the ends of one part and k, w of the other. First over m, then over k: O(n^3) time
and O(n^2) memory.

Sokal and Rohlf (1962), The comparison of dendrograms by objective methods. Taxon 11.
Bar-Joseph, Gifford and Jaakkola (2001), Fast optimal leaf ordering for hierarchical clustering.
Bioinformatics 17.
"""

from typing import Any, NamedTuple

import numpy as np

from tacit.cluster.hierarchy.inputs import check_input, square_matrix
from tacit.core.engines import get_engine
from tacit.core.kernel import kernel
from tacit.core.memory import check_memory
from tacit.core.warn import warn_caller
from tacit.measure.labels import by_size

__all__ = [
    "Merges", "check_linkage", "cophenetic", "cophenetic_correlation", "cut", "is_monotone",
    "label_merges", "leaves", "linkage_of_edges", "optimal_order", "sorted_linkage",
]  # fmt: skip

CALL_WORK = 2**27  # additions in one kernel call: well under 200 ms


# --- From merges ---


class Merges(NamedTuple):
    """One row for every merge."""

    low: np.ndarray  # (n-1,) int64: the lower name of the two clusters
    high: np.ndarray  # (n-1,) int64: the higher
    heights: np.ndarray  # (n-1,) float64

    @classmethod
    def empty(cls, n: int) -> "Merges":
        return cls(np.zeros(n - 1, np.int64), np.zeros(n - 1, np.int64), np.zeros(n - 1))


def sorted_linkage(merges: Merges) -> np.ndarray:
    """SciPy's matrix of merges whose heights should never fall from child to parent.

    Where rounding makes a parent lower by a last digit, it is raised to its children.
    """
    low, high, heights = merges
    heights, children = raise_parents(low, high, heights)
    order = np.lexsort([high, low, heights])
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    early = (children >= 0) & (place[children] > place[:, None])
    if early.any():  # only where rounding made parent and child equal
        order = np.argsort(heights, kind="stable")
    return label_merges(low[order], high[order], heights[order])


def linkage_of_edges(edges: Merges) -> np.ndarray:
    """SciPy's matrix of single linkage from the edges of a minimum spanning tree of the rows:
    the shortest edge first, among equals the lowest rows first."""
    low, high, lengths = edges
    order = np.lexsort([high, low, lengths])
    return label_merges(low[order], high[order], lengths[order])


# --- Linkage matrices ---


def check_linkage(Z: Any, *, monotone: bool = False, name: str = "Z") -> np.ndarray:
    """Z as a float64 array, or a ValueError that says which row is wrong and why.

    Z may also be a fitted model with a tree. ``monotone`` also asks that no merge is lower than
    one inside it.

    >>> check_linkage([[0, 1, 1.0, 2], [1, 3, 2.0, 3]])
    Traceback (most recent call last):
        ...
    ValueError: Z: row 1 merges cluster 1, which row 0 has merged already. ...
    """
    try:
        Z = np.array(getattr(Z, "linkage_matrix_", Z), np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be an array of numbers: {error}.") from None
    if Z.ndim != 2 or Z.shape[1] != 4:
        raise ValueError(
            f"{name} has shape {Z.shape}, but a linkage matrix has four columns: two clusters, "
            "a height, a size. Make one with tacit.cluster.linkage."
        )
    check_merges(Z, name)
    if monotone and not is_monotone(Z):
        row = int(np.argmax(subtree_heights(Z) > Z[:, 2]))
        raise ValueError(
            f"{name}: row {row} merges at height {Z[row, 2]:.6g}, below a merge inside it. "
            "Centroid and median linkage do that; use another for a tree that only rises."
        )
    return Z


def is_monotone(Z: np.ndarray) -> bool:
    """Whether no merge is lower than one inside it.

    >>> is_monotone(np.array([[0, 1, 2.0, 2], [2, 3, 1.9, 3]]))
    False
    """
    return bool((subtree_heights(Z) <= Z[:, 2]).all())


def cut(Z: Any, *, k: int | None = None, height: float | None = None) -> np.ndarray:
    """Cut a tree into clusters: the label of every leaf.

    Labels are ordered by size, 0 for the largest; of equals, the one with the first leaf first.

    Parameters
    ----------
    Z : array of shape (n-1, 4), or a fitted model
        A linkage matrix, or an AgglomerativeClustering or DivisiveClustering.
    k : int, how many clusters: the last k - 1 merges are undone
    height : float
        Or the largest height of a cluster: every merge up to this height is made, unless one
        inside it is higher.

    Examples
    --------
    >>> Z = np.array([[0, 1, 1.0, 2], [2, 3, 2.0, 2], [4, 5, 4.0, 4], [6, 7, 9.0, 5.0]])
    >>> Z[2:, :2] = [[5, 6], [4, 7]]
    >>> cut(Z, k=2), cut(Z, height=1.5)
    (array([0, 0, 0, 0, 1], dtype=int32), array([0, 0, 1, 2, 3], dtype=int32))
    """
    Z = check_linkage(Z)
    n = len(Z) + 1
    if (k is None) == (height is None):
        raise TypeError(
            "cut needs either k, a number of clusters, or height; give one of them."
        )
    if k is not None:
        if not isinstance(k, int | np.integer) or isinstance(k, bool):
            raise TypeError(f"cut(k={k!r}) must be a whole number.")
        if not 1 <= k <= n:
            raise ValueError(f"cut(k={k}) must be between 1 and the number of leaves, {n}.")
        merged = np.arange(n - 1) < n - k
    else:
        if not isinstance(height, int | float | np.number) or np.isnan(height):
            raise TypeError(f"cut(height={height!r}) must be a number.")
        merged = subtree_heights(Z) <= float(height)
    return by_size(label_leaves(Z, merged))


def leaves(Z: Any) -> np.ndarray:
    """The leaves from left to right, as a picture of the tree shows them.

    >>> leaves([[1, 2, 1.0, 2], [0, 3, 2.0, 3]])
    array([0, 1, 2])
    """
    Z = check_linkage(Z)
    return leaf_positions(Z)[0]


def cophenetic(Z: Any) -> np.ndarray:
    """The height at which each two leaves first share a cluster, condensed as SciPy's pdist.

    >>> cophenetic([[0, 1, 1.0, 2], [2, 3, 4.0, 3]])
    array([1., 4., 4.])
    """
    from scipy.cluster.hierarchy import cophenet

    Z = check_linkage(Z)
    n = len(Z) + 1
    check_memory(4 * n * n, f"cophenetic of {n:,} leaves", "Use a sample of the rows.")
    return cophenet(Z) if n > 1 else np.empty(0)


def cophenetic_correlation(Z: Any, X: Any, metric: Any = "euclidean") -> float:
    """The correlation of the tree's distances with the true ones, from -1 to 1.

    ``X`` is what the tree was built from: rows, or distances. Where all distances are equal, in
    the tree or in the data, the correlation is undefined; the result is 0, with a warning.

    >>> from tacit.cluster import linkage
    >>> X = np.array([[0.0], [1.0], [5.0], [7.0]])
    >>> round(cophenetic_correlation(linkage(X, "average"), X), 3)
    0.902
    """
    from scipy.spatial.distance import squareform

    Z = check_linkage(Z)
    matrix = leaf_distances(X, metric, len(Z) + 1, "cophenetic_correlation")
    along, true = cophenetic(Z), squareform(matrix, checks=False)
    if not (np.ptp(along) > 0 and np.ptp(true) > 0):
        warn_caller(
            "cophenetic_correlation is 0 because the distances are all the same, in the tree "
            "or in the data.",
        )
        return 0.0
    return float(np.corrcoef(along, true)[0, 1])


def leaf_distances(X: Any, metric: Any, n: int, name: str) -> np.ndarray:
    """A square matrix of the distances between n leaves, from rows or distances."""
    engine = get_engine("threads")
    data = check_input(X, "complete", metric, engine, name=name)
    if data.n != n:
        raise ValueError(f"{name}: the tree has {n} leaves, but the data {data.n} rows.")
    return square_matrix(data, engine) / data.scale


def optimal_order(Z: Any, X: Any, metric: Any = "euclidean") -> np.ndarray:
    """Swap the sides of merges so that neighboring leaves are as close as possible.

    Parameters
    ----------
    Z : array of shape (n-1, 4)
        A linkage matrix.
    X : array
        What it was built from: rows, condensed distances, or with ``metric="precomputed"`` a
        square matrix of them.

    Returns
    -------
    Z : array of shape (n-1, 4)
        The same tree; ``leaves`` and pictures of it follow the new order.

    Examples
    --------
    >>> from tacit.cluster import linkage
    >>> X = np.array([[0.0], [9.0], [1.0], [7.0]])
    >>> leaves(linkage(X)), leaves(optimal_order(linkage(X), X))
    (array([0, 2, 1, 3]), array([0, 2, 3, 1]))
    """
    Z = check_linkage(Z)
    n = len(Z) + 1
    if n < 3:
        return Z
    check_memory(24 * n * n, f"optimal_order of {n:,} leaves", "Use a sample of the rows.")
    distances = leaf_distances(X, metric, n, "optimal_order")
    order, spans = leaf_positions(Z)
    distances = np.ascontiguousarray(distances[np.ix_(order, order)])
    best, scratch = np.zeros((n, n)), np.empty(n)
    inside = Z[:, :2].astype(np.int64) - n
    # For every merge where its left part is split, and where its right; -1 for a leaf.
    parts = np.where(inside >= 0, spans[np.maximum(inside, 0), 1], -1)
    for s in range(n - 1):
        first, middle, end = (int(at) for at in spans[s])
        step = max(1, CALL_WORK // ((end - middle) * (end - first)))
        for u in range(first, middle, step):
            stop = min(u + step, middle)
            fill(distances, best, parts[s], spans[s], u, stop, scratch)
        best[middle:end, first:middle] = best[first:middle, middle:end].T
    swapped = np.zeros(n - 1, bool)
    mark_swaps(Z, spans, parts, distances, best, swapped, scratch)
    Z[swapped, :2] = Z[swapped, 1::-1]
    return Z


def check_merges(Z: np.ndarray, name: str) -> None:
    """ValueError for the first row that cannot be a merge."""
    n = len(Z) + 1
    pairs, last = Z[:, :2], n + np.arange(n - 1)  # clusters exist below the last
    finite, integer = np.isfinite(Z).all(axis=1), (pairs == np.floor(pairs)).all(axis=1)
    known = (pairs >= 0) & (pairs < last[:, None])
    parts = np.where(known & integer[:, None], pairs, 0).astype(np.int64)
    _, first = np.unique(parts, return_index=True)
    again = ~np.isin(np.arange(parts.size), first).reshape(-1, 2)
    counts = np.where(parts < n, 1, Z[np.maximum(parts - n, 0), 3]).sum(axis=1)
    faults = (
        ~finite, ~integer, ~known.all(axis=1), again.any(axis=1), Z[:, 2] < 0,
        Z[:, 3] != counts,
    )  # fmt: skip
    wrong = np.flatnonzero(np.any(faults, axis=0))
    if not len(wrong):
        return
    row = int(wrong[0])
    a, b, high, size = Z[row]
    missing = [*pairs[row][~known[row]], -1][0]
    twice = parts[row][again[row]][0] if again[row].any() else -1
    before = np.flatnonzero((parts[:row] == twice).any(axis=1))
    messages = (
        f"holds {a:g}, {b:g}, {high:g}, {size:g}; every number must be finite.",
        f"names the clusters {a:g} and {b:g}; names must be whole numbers.",
        f"merges cluster {missing:.0f}, but only 0 to {last[row] - 1} exist by then.",
        f"merges cluster {twice}, which row {before[0]} has merged already. Every cluster is "
        "merged once." if len(before) else f"merges cluster {twice} with itself.",
        f"merges at height {high:g}; heights must not be negative.",
        f"gives its cluster {size:g} leaves, but it has {counts[row]:g}.",
    )  # fmt: skip
    fault = next(message for bad, message in zip(faults, messages, strict=True) if bad[row])
    raise ValueError(f"{name}: row {row} {fault}")


# --- Kernels ---


@kernel
def subtree_heights(Z):
    """The highest merge in every cluster."""
    n = Z.shape[0] + 1
    out = np.empty(n - 1)
    for s in range(n - 1):
        high = Z[s, 2]
        for side in range(2):
            c = int(Z[s, side])
            if c >= n:
                high = max(high, out[c - n])
        out[s] = high
    return out


@kernel
def label_leaves(Z, merged):
    """For every leaf the largest cluster that it is in, of those that are merged."""
    n = Z.shape[0] + 1
    tops = np.arange(2 * n - 1)
    for s in range(n - 2, -1, -1):
        if merged[s]:
            for side in range(2):
                tops[int(Z[s, side])] = tops[n + s]
    return tops[:n]


@kernel
def leaf_positions(Z):
    """Leaves from left to right, and for every merge the range of positions it covers: first,
    the first of its right part, end."""
    n = Z.shape[0] + 1
    order = np.empty(n, np.int64)
    spans = np.empty((n - 1, 3), np.int64)
    starts = np.empty(2 * n - 1, np.int64)
    starts[2 * n - 2] = 0
    for s in range(n - 2, -1, -1):
        left, right = int(Z[s, 0]), int(Z[s, 1])
        first = starts[n + s]
        middle = first + (1 if left < n else int(Z[left - n, 3]))
        starts[left] = first
        starts[right] = middle
        spans[s, 0], spans[s, 1], spans[s, 2] = first, middle, first + int(Z[s, 3])
    for leaf in range(n):
        order[starts[leaf]] = leaf
    return order, spans


# --- Kernels of merges ---


@kernel
def raise_parents(low, high, heights):
    """Heights that never fall from child to parent, and the two child merges of each."""
    n = heights.shape[0] + 1
    last = np.full(n, -1)
    raised = np.empty(n - 1)
    children = np.empty((n - 1, 2), np.int64)
    for s in range(n - 1):
        h = heights[s]
        for side in range(2):
            name = low[s] if side == 0 else high[s]
            child = last[name]
            children[s, side] = child
            if child >= 0 and raised[child] > h:
                h = raised[child]
        raised[s] = h
        last[low[s]] = s
    return raised, children


@kernel
def label_merges(low, high, heights):
    """SciPy's (n-1, 4) matrix of merges of the clusters that hold two rows, in this order."""
    n = heights.shape[0] + 1
    parents, sizes = np.arange(2 * n - 1), np.ones(2 * n - 1)
    Z = np.empty((n - 1, 4))
    for s in range(n - 1):
        a, b = root_of(parents, low[s]), root_of(parents, high[s])
        parents[a] = parents[b] = n + s
        sizes[n + s] = sizes[a] + sizes[b]
        Z[s, 0], Z[s, 1], Z[s, 2], Z[s, 3] = min(a, b), max(a, b), heights[s], sizes[n + s]
    return Z


@kernel
def root_of(parents, node):
    """The root of a node's tree; shortens the path on the way."""
    while parents[node] != node:
        parents[node] = parents[parents[node]]
        node = parents[node]
    return node


# --- Kernels of the leaf order. Leaves are positions in the order of Z ---


@kernel
def other_end(u, first, divide, end):
    """Where the other end of a part may be, if one end is u: in the side without it."""
    if divide < 0:
        return u, u + 1
    return (divide, end) if u < divide else (first, divide)


@kernel
def best_through(distances, best, parts, span, u, through):
    """through[k] = least M(u, m) + d(m, k) over the other ends m of u's part."""
    middle, end = span[1], span[2]
    low, high = other_end(u, span[0], parts[0], middle)
    through[middle:end] = np.inf
    for m in range(low, high):
        so_far = best[u, m]
        row = distances[m]
        for k in range(middle, end):
            v = so_far + row[k]
            through[k] = v if v < through[k] else through[k]


@kernel
def fill(distances, best, parts, span, start, stop, through):
    """M(u, w) for u from start to stop and all w of the right part."""
    middle, end = span[1], span[2]
    for u in range(start, stop):
        best_through(distances, best, parts, span, u, through)
        out = best[u]
        out[middle:end] = np.inf
        for k in range(middle, end):
            so_far = through[k]
            low, high = other_end(k, middle, parts[1], end)
            row = best[k]
            for w in range(low, high):
                v = so_far + row[w]
                out[w] = v if v < out[w] else out[w]


@kernel
def mark_swaps(Z, spans, parts, distances, best, swapped, through):
    """From the best ends of the whole tree down, mark the merges to swap."""
    n = Z.shape[0] + 1
    ends = np.empty((n - 1, 2), np.int64)  # of every merge: its leftmost and rightmost leaf
    top = n - 2
    least = np.inf
    for u in range(spans[top, 0], spans[top, 1]):
        for w in range(spans[top, 1], spans[top, 2]):
            if best[u, w] < least:
                least = best[u, w]
                ends[top, 0], ends[top, 1] = u, w
    for s in range(n - 2, -1, -1):
        span, part = spans[s], parts[s]
        middle, end = span[1], span[2]
        swapped[s] = ends[s, 0] >= middle
        u, w = min(ends[s, 0], ends[s, 1]), max(ends[s, 0], ends[s, 1])
        best_through(distances, best, part, span, u, through)
        low, high = other_end(w, middle, part[1], end)
        k = low
        for at in range(low, high):
            if through[at] + best[at, w] < through[k] + best[k, w]:
                k = at
        low, high = other_end(u, span[0], part[0], middle)
        m = low
        for at in range(low, high):
            if best[u, at] + distances[at, k] < best[u, m] + distances[m, k]:
                m = at
        left, right = int(Z[s, 0]) - n, int(Z[s, 1]) - n
        if left >= 0:
            ends[left, 0], ends[left, 1] = (m, u) if swapped[s] else (u, m)
        if right >= 0:
            ends[right, 0], ends[right, 1] = (w, k) if swapped[s] else (k, w)
