"""Single linkage by a minimum spanning tree of the rows (Prim).

Grow a tree from row 0, always by the outside row nearest to it; the edges, sorted, are the
merges. One look at every distance, none is kept: O(n^2) time (times the columns, for points)
and O(n) memory.

Ties: edges are compared by length, then by their lower row, then by the other. In this order
no two are equal, so there is one minimum spanning tree, whatever row one starts from.

Prim (1957), Shortest connection networks and some generalizations. Bell Syst. Tech. J. 36.
Gower and Ross (1969), Minimum spanning trees and single linkage cluster analysis. Appl.
Stat. 18.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tacit.cluster.linkages.distance_source import POINTS, Source, fetch
from tacit.cluster.linkages.lanes import LANES, blocks_for, keep_lanes, smallest
from tacit.core.kernel import kernel

__all__ = ["Edges", "spanning_tree"]

CALL_WORK = 2**28  # of multiplications in one kernel call: well under 200 ms
PACK_BELOW = 0.95  # of the columns outside
COLUMNS, LEFT, NEWEST = range(3)  # places of the counters


class Edges(NamedTuple):
    """One row for every edge, as they were found."""

    low: np.ndarray  # (n-1,) int64
    high: np.ndarray  # (n-1,) int64, higher
    lengths: np.ndarray  # (n-1,) float64


class Outside(NamedTuple):
    """The rows not yet in the tree, in order."""

    names: np.ndarray  # int64, the row
    near: np.ndarray  # float64, length of the best edge to the tree; infinite once inside
    source: np.ndarray  # float64, the row in the tree at its other end: exact up to 2^53
    alive: np.ndarray  # bool


def spanning_tree(
    source: Source, *, squared: bool = False, pause: Callable[[int], None] = lambda done: None
) -> Edges:
    """The edges of the minimum spanning tree, in the order they are found.

    ``squared`` asks the source for squares; the lengths then are squares too.
    """
    n = source.n
    width = blocks_for(n) * LANES
    inside = np.arange(width) < n
    outside = Outside(np.arange(width), np.full(width, np.inf), np.zeros(width), inside.copy())
    outside.alive[0] = False
    edges = Edges(np.empty(n - 1, np.int64), np.empty(n - 1, np.int64), np.empty(n - 1))
    values, lows = np.empty(width), np.empty(LANES)
    now = np.array([n, n - 1, 0])
    while now[LEFT] > 0:
        grow(source, outside, edges, values, lows, now, squared)
        pack(source, outside, now)
        pause(n - 1 - int(now[LEFT]))
    return edges


def pack(source: Source, outside: Outside, now: np.ndarray) -> None:
    keep = np.flatnonzero(outside.alive[: now[COLUMNS]])
    if source.kind == POINTS:
        keep_lanes(source.tiles, keep)
    for array in outside:
        array[: len(keep)] = array[keep]
    outside.near[len(keep) :] = np.inf
    outside.alive[len(keep) :] = False
    now[COLUMNS] = len(keep)


# --- Kernels ---


@kernel
def grow(source, outside, edges, values, lows, now, squared):
    """Add rows until it is time to pack, or to come up for air."""
    names, near, alive = outside.names, outside.near, outside.alive
    m, left, newest = now[COLUMNS], now[LEFT], now[NEWEST]
    width = (m + LANES - 1) // LANES * LANES
    enough = int(PACK_BELOW * m) if m > 2 * LANES else 0
    budget = CALL_WORK
    total = edges.lengths.shape[0]
    while left > enough and budget > 0:
        fetch(source, names, m, newest, squared, values[:width])
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
        edges.low[s], edges.high[s], edges.lengths[s] = a, b, best
        newest = names[at]
        near[at] = np.inf
        alive[at] = False
        left -= 1
    now[LEFT], now[NEWEST] = left, newest


@kernel
def relax(values, near, source, alive, newest, lows):
    """Let the newest row of the tree offer its edges. The length of the best edge of all."""
    row = float(newest)
    for i in range(LANES):
        lows[i] = np.inf
    for q in range(0, values.shape[0], LANES):
        offer, best = values[q : q + LANES], near[q : q + LANES]
        other, out = source[q : q + LANES], alive[q : q + LANES]
        for i in range(LANES):
            v = offer[i] if out[i] else np.inf
            old = best[i]
            # A tie goes to the lower row, which makes the lower edge.
            other[i] = row if v < old or (v == old and row < other[i]) else other[i]
            v = v if v < old else old
            best[i] = v
            low = lows[i]
            lows[i] = v if v < low else low
    return smallest(lows)
