"""Single linkage by a minimum spanning tree of the rows (Prim).

Grow a tree from row 0, always by the outside row nearest to it; the edges, sorted, are the
merges. Every distance is read once and none is stored: O(n^2) time (times the columns, for
points) and O(n) memory.

Ties: edges are compared by length, then by their lower row, then by the other. In this order
no two are equal, so there is one minimum spanning tree, whatever row it grows from.

Prim (1957), Shortest connection networks and some generalizations. Bell Syst. Tech. J. 36.
Gower and Ross (1969), Minimum spanning trees and single linkage cluster analysis. Appl.
Stat. 18.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tacit.cluster.hierarchy.distance_rows import (
    LANES,
    POINTS,
    Source,
    compact_tiles,
    min_of_lanes,
    padded,
    read_row,
)
from tacit.cluster.hierarchy.merges import Merges
from tacit.core.kernel import kernel

__all__ = ["spanning_tree"]

CALL_WORK = 2**28  # multiplications in one kernel call: well under 200 ms
COMPACT_BELOW = 0.95  # of the columns outside; noticed by the benchmark of trees
COLUMNS, LEFT, NEWEST = range(3)  # positions of the counters


class Outside(NamedTuple):
    """The rows not yet in the tree, in order."""

    names: np.ndarray  # int64, the row
    near: np.ndarray  # float64, length of the best edge to the tree; infinite once inside
    source: np.ndarray  # float64, the row in the tree at its other end: exact up to 2^53
    alive: np.ndarray  # bool


def spanning_tree(
    source: Source, *, squared: bool = False, pause: Callable[[int], None] = lambda done: None
) -> Merges:
    """The edges of the minimum spanning tree, in the order they are added.

    ``squared`` asks the source for squares; the lengths then are squares too.
    """
    n = source.n
    width = padded(n)
    outside = Outside(
        np.arange(width), np.full(width, np.inf), np.zeros(width), np.arange(width) < n
    )
    outside.alive[0] = False
    edges = Merges.empty(n)
    values, lows = np.empty(width), np.empty(LANES)
    count = np.array([n, n - 1, 0])
    while count[LEFT] > 0:
        grow(source, outside, edges, values, lows, count, squared)
        compact(source, outside, count)
        pause(n - 1 - int(count[LEFT]))
    return edges


def compact(source: Source, outside: Outside, count: np.ndarray) -> None:
    keep = np.flatnonzero(outside.alive[: count[COLUMNS]])
    if source.kind == POINTS:
        compact_tiles(source.tiles, keep)
    for array in outside:
        array[: len(keep)] = array[keep]
    outside.near[len(keep) :] = np.inf
    outside.alive[len(keep) :] = False
    count[COLUMNS] = len(keep)


# --- Kernels ---


@kernel
def grow(source, outside, edges, values, lows, count, squared):
    """Add rows until it is time to compact, or to return to Python."""
    names, near, alive = outside.names, outside.near, outside.alive
    m, left, newest = count[COLUMNS], count[LEFT], count[NEWEST]
    width = (m + LANES - 1) // LANES * LANES
    enough = int(COMPACT_BELOW * m) if m > 2 * LANES else 0
    budget = CALL_WORK
    total = edges.heights.shape[0]
    while left > enough and budget > 0:
        read_row(source, names, m, newest, squared, values[:width])
        budget -= m * (4 + source.points.shape[1])
        best = relax(values[:width], near[:width], outside.source, alive, newest, lows)
        a, b, at = total + 1, total + 1, 0
        for i in range(LANES):  # of the nearest rows the one with the lowest edge
            if lows[i] == best:
                for j in range(i, width, LANES):
                    if near[j] == best and alive[j]:
                        inner = int(outside.source[j])
                        low, high = min(inner, names[j]), max(inner, names[j])
                        if low < a or (low == a and high < b):
                            a, b, at = low, high, j
        s = total - left
        edges.low[s], edges.high[s], edges.heights[s] = a, b, best
        newest = names[at]
        near[at] = np.inf
        alive[at] = False
        left -= 1
    count[LEFT], count[NEWEST] = left, newest


@kernel
def relax(values, near, source, alive, newest, lows):
    """Compare the edges of the newest row with the best so far. The shortest edge of all."""
    row = float(newest)
    for i in range(LANES):
        lows[i] = np.inf
    for q in range(0, values.shape[0], LANES):
        candidate, best = values[q : q + LANES], near[q : q + LANES]
        other, out = source[q : q + LANES], alive[q : q + LANES]
        for i in range(LANES):
            v = candidate[i] if out[i] else np.inf
            old = best[i]
            # A tie goes to the lower row, which makes the lower edge.
            other[i] = row if v < old or (v == old and row < other[i]) else other[i]
            v = v if v < old else old
            best[i] = v
            low = lows[i]
            lows[i] = v if v < low else low
    return min_of_lanes(lows)
