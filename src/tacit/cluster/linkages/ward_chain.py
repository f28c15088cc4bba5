"""Ward linkage of points by nearest-neighbour chains, without any distance matrix.

A cluster is its center and its size; merging A and B adds

    |A| |B| / (|A| + |B|)  |center(A) - center(B)|^2

to the sum of squares within clusters, and Ward merges what adds least. The height is the
square root of twice that, so that two single rows merge at their distance. See ``nn_chain``
for the chain and for ties. O(n^2 d) time, O(n d) memory.

Ward (1963), Hierarchical grouping to optimize an objective function. JASA 58.
Murtagh and Legendre (2014), Ward's hierarchical agglomerative clustering method. J. Classif.
31.
"""

import math
from collections.abc import Callable

import numpy as np

from tacit.cluster.linkages.centers import PACK_BELOW, Centers, centers_of, join, pack_centers
from tacit.cluster.linkages.lanes import LANES, smallest, squares_to
from tacit.cluster.linkages.merges import Merges
from tacit.core.kernel import kernel

__all__ = ["ward_chain"]

CALL_WORK = 2**28  # of multiplications in one kernel call: well under 200 ms
COLUMNS, ALIVE, DEPTH, DONE = range(4)  # places of the counters


def ward_chain(
    points: np.ndarray, sizes: np.ndarray, *, pause: Callable[[int], None] = lambda done: None
) -> Merges:
    """The merges, in the order the chain finds them. Heights are distances."""
    n = len(points)
    merges = Merges.empty(n)
    centers = centers_of(points, sizes)
    chain, linked = np.empty(n + 1, np.int64), np.zeros(len(centers.names), bool)
    values, lows = np.empty(len(centers.names)), np.empty(LANES)
    now = np.array([n, n, 0, 0])
    while now[ALIVE] > 1:
        run_ward(centers, chain, linked, values, lows, now, merges)
        pack(centers, chain, linked, now)
        pause(int(now[DONE]))
    return merges


def pack(centers: Centers, chain: np.ndarray, linked: np.ndarray, now: np.ndarray) -> None:
    keep = pack_centers(centers, int(now[COLUMNS]), linked)
    chain[: now[DEPTH]] = np.searchsorted(keep, chain[: now[DEPTH]])
    now[COLUMNS] = len(keep)


# --- Kernels ---


@kernel
def run_ward(centers, chain, linked, values, lows, now, merges):
    """Follow the chain until it is time to pack, or to come up for air."""
    m = now[COLUMNS]
    blocks = (m + LANES - 1) // LANES
    depth, alive, done = now[DEPTH], now[ALIVE], now[DONE]
    enough = max(1, int(PACK_BELOW * m)) if m > 2 * LANES else 1
    budget = CALL_WORK
    start = 0
    while alive > enough and budget > 0:
        if depth == 0:
            while not centers.alive[start]:
                start += 1
            chain[0] = start
            linked[start] = True
            depth = 1
        x = chain[depth - 1]
        squares_to(centers.tiles, 0, blocks, centers.points[centers.names[x]], values)
        values[x] = np.inf
        budget -= m * (4 + centers.points.shape[1])
        growth, y = least_growth(
            values[: blocks * LANES], centers.sizes, centers.penalty, centers.sizes[x], lows
        )
        if not linked[y]:
            chain[depth] = y
            linked[y] = True
            depth += 1
            continue
        if chain[depth - 2] != y:
            # Rounding made a merge bring two clusters closer. The links since y are stale.
            while chain[depth - 1] != y:
                depth -= 1
                linked[chain[depth]] = False
            continue
        depth -= 2
        linked[x] = linked[y] = False
        a, b = min(x, y), max(x, y)
        merges.low[done] = centers.names[a]
        merges.high[done] = centers.names[b]
        merges.heights[done] = math.sqrt(2 * growth)
        join(centers, a, b, False)
        alive -= 1
        done += 1
    now[DEPTH], now[ALIVE], now[DONE] = depth, alive, done


@kernel
def least_growth(squares, sizes, penalty, own, lows):
    """As ``lanes.least``, of what a merge adds to the sum of squares."""
    n = squares.shape[0]
    for i in range(LANES):
        lows[i] = np.inf
    for q in range(0, n, LANES):
        square, size = squares[q : q + LANES], sizes[q : q + LANES]
        extra = penalty[q : q + LANES]
        for i in range(LANES):
            v = square[i] * ((own * size[i]) / (own + size[i])) + extra[i]
            low = lows[i]
            lows[i] = v if v < low else low
    best = smallest(lows)
    at = n
    for i in range(LANES):
        if lows[i] == best:
            for j in range(i, at, LANES):
                if squares[j] * ((own * sizes[j]) / (own + sizes[j])) + penalty[j] == best:
                    at = j
                    break
    return best, at
