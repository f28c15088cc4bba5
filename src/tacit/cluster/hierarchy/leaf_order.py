"""The order of leaves that puts neighbours next to each other.

A tree of n leaves can be drawn in 2^(n-1) ways, by swapping the two sides of any merge. The
best has the smallest sum of distances between neighbouring leaves. Let M(u, w) be the least
sum for the smallest cluster that holds both leaves when u stands at one end and w at the
other; it follows from the M of the two parts:

    M(u, w) = min over m, k of  M(u, m) + d(m, k) + M(k, w)

with u, m the ends of one part and k, w of the other. First over m, then over k: O(n^3) time
and O(n^2) memory.

Bar-Joseph, Gifford and Jaakkola (2001), Fast optimal leaf ordering for hierarchical clustering.
Bioinformatics 17.
"""

from typing import Any

import numpy as np

from tacit.cluster.hierarchy.cophenetic_distances import pair_distances_of
from tacit.cluster.hierarchy.dendrogram import check_linkage, leaf_positions
from tacit.core.kernel import kernel
from tacit.core.memory import check_memory

__all__ = ["optimal_order"]

CALL_WORK = 2**27  # of additions in one kernel call: well under 200 ms


def optimal_order(Z: Any, X: Any, metric: Any = "euclidean") -> np.ndarray:
    """Swap the sides of merges so that neighbouring leaves are as close as can be.

    Parameters
    ----------
    Z : array of shape (n-1, 4)
        A linkage matrix.
    X : array
        What it was made from: rows, condensed distances, or with ``metric="precomputed"`` a
        square matrix of them.

    Returns
    -------
    Z : array of shape (n-1, 4)
        The same tree; ``leaves`` and pictures of it follow the new order.

    Examples
    --------
    >>> from tacit.cluster.hierarchy.dendrogram import leaves
    >>> from tacit.cluster.linkages.linking import linkage
    >>> X = np.array([[0.0], [9.0], [1.0], [7.0]])
    >>> leaves(linkage(X)), leaves(optimal_order(linkage(X), X))
    (array([0, 2, 1, 3]), array([0, 2, 3, 1]))
    """
    from scipy.spatial.distance import squareform

    Z = check_linkage(Z)
    n = len(Z) + 1
    if n < 3:
        return Z
    check_memory(24 * n * n, f"optimal_order of {n:,} leaves", "Use a sample of the rows.")
    distances = squareform(pair_distances_of(X, metric, n * (n - 1) // 2, "optimal_order"))
    order, spans = leaf_positions(Z)
    distances = np.ascontiguousarray(distances[np.ix_(order, order)])
    best, scratch = np.zeros((n, n)), np.empty(n)
    halves = parts_of(Z, spans)
    for s in range(n - 1):
        first, middle, end = (int(at) for at in spans[s])
        step = max(1, CALL_WORK // ((end - middle) * (end - first)))
        for u in range(first, middle, step):
            stop = min(u + step, middle)
            fill(distances, best, halves[s], spans[s], u, stop, scratch)
        mirror(best, spans[s])
    swapped = np.zeros(n - 1, bool)
    choose(Z, spans, halves, distances, best, swapped, scratch)
    Z[swapped, :2] = Z[swapped, 1::-1]
    return Z


def parts_of(Z: np.ndarray, spans: np.ndarray) -> np.ndarray:
    """For every merge where its left part is divided, and its right part; -1 for a leaf."""
    n = len(Z) + 1
    inside = Z[:, :2].astype(np.int64) - n
    return np.where(inside >= 0, spans[np.maximum(inside, 0), 1], -1)


# --- Kernels. Leaves go by their position in the order the tree came in ---


@kernel
def other_end(u, first, divide, end):
    """Where the other end of a part may be, if one end is u: in the half without it."""
    if divide < 0:
        return u, u + 1
    return (divide, end) if u < divide else (first, divide)


@kernel
def towards(distances, best, halves, span, u, through):
    """through[k] = least M(u, m) + d(m, k) over the other ends m of u's part."""
    middle, end = span[1], span[2]
    low, high = other_end(u, span[0], halves[0], middle)
    through[middle:end] = np.inf
    for m in range(low, high):
        so_far = best[u, m]
        row = distances[m]
        for k in range(middle, end):
            v = so_far + row[k]
            through[k] = v if v < through[k] else through[k]


@kernel
def fill(distances, best, halves, span, start, stop, through):
    """M(u, w) for u from start to stop and all w of the right part."""
    middle, end = span[1], span[2]
    for u in range(start, stop):
        towards(distances, best, halves, span, u, through)
        out = best[u]
        out[middle:end] = np.inf
        for k in range(middle, end):
            so_far = through[k]
            low, high = other_end(k, middle, halves[1], end)
            row = best[k]
            for w in range(low, high):
                v = so_far + row[w]
                out[w] = v if v < out[w] else out[w]


@kernel
def mirror(best, span):
    for u in range(span[0], span[1]):
        for w in range(span[1], span[2]):
            best[w, u] = best[u, w]


@kernel
def choose(Z, spans, halves, distances, best, swapped, through):
    """Walk down from the best ends of the whole, noting which merges to turn around."""
    n = Z.shape[0] + 1
    ends = np.empty((n - 1, 2), np.int64)  # of every merge: its leaf on the left, on the right
    top = n - 2
    least = np.inf
    for u in range(spans[top, 0], spans[top, 1]):
        for w in range(spans[top, 1], spans[top, 2]):
            if best[u, w] < least:
                least = best[u, w]
                ends[top, 0], ends[top, 1] = u, w
    for s in range(n - 2, -1, -1):
        span, half = spans[s], halves[s]
        middle, end = span[1], span[2]
        swapped[s] = ends[s, 0] >= middle
        u, w = min(ends[s, 0], ends[s, 1]), max(ends[s, 0], ends[s, 1])
        towards(distances, best, half, span, u, through)
        low, high = other_end(w, middle, half[1], end)
        k = low
        for at in range(low, high):
            if through[at] + best[at, w] < through[k] + best[k, w]:
                k = at
        low, high = other_end(u, span[0], half[0], middle)
        m = low
        for at in range(low, high):
            if best[u, at] + distances[at, k] < best[u, m] + distances[m, k]:
                m = at
        left, right = int(Z[s, 0]) - n, int(Z[s, 1]) - n
        if left >= 0:
            ends[left, 0], ends[left, 1] = (m, u) if swapped[s] else (u, m)
        if right >= 0:
            ends[right, 0], ends[right, 1] = (w, k) if swapped[s] else (k, w)
