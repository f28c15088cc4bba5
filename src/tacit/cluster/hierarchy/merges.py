"""From merges in the order an algorithm makes them to SciPy's linkage matrix.

A cluster is named by its lowest row. Nearest-neighbor chains find the right merges in an order
of their own. Sorted by height, and among equal heights by the two names, they are in the order
of the greedy algorithm that always joins the closest pair, the lowest names first.
"""

from typing import NamedTuple

import numpy as np

from tacit.core.kernel import kernel

__all__ = ["Merges", "linkage_in_order", "linkage_of_edges", "sorted_linkage"]


class Merges(NamedTuple):
    """One row for every merge."""

    low: np.ndarray  # (n-1,) int64: the lower name of the two clusters
    high: np.ndarray  # (n-1,) int64: the higher
    heights: np.ndarray  # (n-1,) float64

    @classmethod
    def empty(cls, n: int) -> "Merges":
        return cls(np.zeros(n - 1, np.int64), np.zeros(n - 1, np.int64), np.zeros(n - 1))


def linkage_in_order(merges: Merges) -> np.ndarray:
    """SciPy's (n-1, 4) matrix of merges that stand in the order of the tree."""
    return label_merges(*merges)


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
    return label_edges(low[order], high[order], lengths[order])


# --- Kernels ---


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
    n = heights.shape[0] + 1
    labels, sizes = np.arange(n), np.ones(n)
    Z = np.empty((n - 1, 4))
    for s in range(n - 1):
        a, b = low[s], high[s]
        write_merge(Z, s, labels[a], labels[b], heights[s], sizes[a] + sizes[b])
        labels[a] = n + s
        sizes[a] += sizes[b]
    return Z


@kernel
def label_edges(low, high, lengths):
    n = lengths.shape[0] + 1
    parents, sizes = np.arange(2 * n - 1), np.ones(2 * n - 1)
    Z = np.empty((n - 1, 4))
    for s in range(n - 1):
        a, b = root_of(parents, low[s]), root_of(parents, high[s])
        sizes[n + s] = sizes[a] + sizes[b]
        write_merge(Z, s, a, b, lengths[s], sizes[n + s])
        parents[a] = n + s
        parents[b] = n + s
    return Z


@kernel(inline="always")
def write_merge(Z, s, a, b, height, size):
    Z[s, 0] = min(a, b)
    Z[s, 1] = max(a, b)
    Z[s, 2] = height
    Z[s, 3] = size


@kernel
def root_of(parents, node):
    """The root of a node's tree; shortens the path on the way."""
    while parents[node] != node:
        parents[node] = parents[parents[node]]
        node = parents[node]
    return node
