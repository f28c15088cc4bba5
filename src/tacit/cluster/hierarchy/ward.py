"""Ward linkage of points by nearest-neighbor chains, without a distance matrix.

A cluster is its center and its size; merging A and B adds

    |A| |B| / (|A| + |B|)  |center(A) - center(B)|^2

to the sum of squares within clusters, and Ward merges the pair that adds least. The height is
the square root of twice that, so that two single rows merge at their distance. See ``nn_chain``
for the chain and for ties. O(n^2 d) time, O(n d) memory.

``Centers`` is also what centroid and median linkage work on.

Ward (1963), Hierarchical grouping to optimize an objective function. JASA 58.
Murtagh and Legendre (2014), Ward's hierarchical agglomerative clustering method. J. Classif.
31.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tacit.cluster.hierarchy.distance_rows import (
    LANES,
    argmin,
    compact_tiles,
    padded,
    squares_to,
    tile_points,
)
from tacit.cluster.hierarchy.merges import Merges
from tacit.core.kernel import kernel

__all__ = [
    "COMPACT_BELOW", "Centers", "centers_of", "compact_centers", "merge_centers", "ward_chain",
]  # fmt: skip

COMPACT_BELOW = 0.95  # of the columns alive; noticed by the benchmark of trees
CALL_WORK = 2**28  # multiplications in one kernel call: well under 200 ms
COLUMNS, ALIVE, DEPTH, DONE = range(4)  # positions of the counters


class Centers(NamedTuple):
    """Clusters known by a center: one column each, ordered by name, in whole blocks."""

    tiles: np.ndarray  # (blocks, d, LANES) the centers
    points: np.ndarray  # (n, d) the centers again, by name
    names: np.ndarray  # int64, lowest row
    sizes: np.ndarray  # float64
    penalty: np.ndarray  # float64, infinite where merged
    alive: np.ndarray  # bool


def centers_of(points: np.ndarray, sizes: np.ndarray) -> Centers:
    """Every point a cluster of its own. Nothing is shared with the caller."""
    n = len(points)
    width = padded(n)
    inside = np.arange(width) < n
    weights = np.ones(width)
    weights[:n] = sizes
    return Centers(
        tile_points(points),
        np.array(points, np.float64, order="C"),
        np.arange(width),
        weights,
        np.where(inside, 0.0, np.inf),
        inside,
    )


def compact_centers(centers: Centers, m: int, *more: np.ndarray) -> np.ndarray:
    """Remove merged clusters from the first m columns, here and in ``more``.

    Returns the columns that remain.
    """
    keep = np.flatnonzero(centers.alive[:m])
    compact_tiles(centers.tiles, keep)
    for array in (*centers[2:], *more):
        array[: len(keep)] = array[keep]
    centers.penalty[len(keep) :] = np.inf
    centers.alive[len(keep) :] = False
    return keep


def ward_chain(
    points: np.ndarray, sizes: np.ndarray, *, pause: Callable[[int], None] = lambda done: None
) -> Merges:
    """The merges, in the order of the chain. Heights are distances."""
    n = len(points)
    merges = Merges.empty(n)
    centers = centers_of(points, sizes)
    chain, on_chain = np.empty(n + 1, np.int64), np.zeros(len(centers.names), bool)
    values, lows = np.empty(len(centers.names)), np.empty(LANES)
    count = np.array([n, n, 0, 0])
    while count[ALIVE] > 1:
        run_ward(centers, chain, on_chain, values, lows, count, merges)
        keep = compact_centers(centers, int(count[COLUMNS]), on_chain)
        chain[: count[DEPTH]] = np.searchsorted(keep, chain[: count[DEPTH]])
        count[COLUMNS] = len(keep)
        pause(int(count[DONE]))
    return merges


# --- Kernels ---


@kernel
def run_ward(centers, chain, on_chain, values, lows, count, merges):
    """Follow the chain until it is time to compact, or to return to Python."""
    m = count[COLUMNS]
    blocks = (m + LANES - 1) // LANES
    depth, alive, done = count[DEPTH], count[ALIVE], count[DONE]
    enough = max(1, int(COMPACT_BELOW * m)) if m > 2 * LANES else 1
    budget = CALL_WORK
    start = 0
    while alive > enough and budget > 0:
        if depth == 0:
            while not centers.alive[start]:
                start += 1
            chain[0] = start
            on_chain[start] = True
            depth = 1
        x = chain[depth - 1]
        squares_to(centers.tiles, 0, blocks, centers.points[centers.names[x]], values)
        values[x] = np.inf
        budget -= m * (4 + centers.points.shape[1])
        score_growth(values[: blocks * LANES], centers.sizes, centers.penalty, centers.sizes[x])
        growth, y = argmin(values[: blocks * LANES], lows)
        if not on_chain[y]:
            chain[depth] = y
            on_chain[y] = True
            depth += 1
            continue
        if chain[depth - 2] != y:
            # Rounding made a merge bring two clusters closer. The chain after y is stale.
            while chain[depth - 1] != y:
                depth -= 1
                on_chain[chain[depth]] = False
            continue
        depth -= 2
        on_chain[x] = on_chain[y] = False
        a, b = min(x, y), max(x, y)
        merges.low[done] = centers.names[a]
        merges.high[done] = centers.names[b]
        merges.heights[done] = math.sqrt(2 * growth)
        merge_centers(centers, a, b, False)
        alive -= 1
        done += 1
    count[DEPTH], count[ALIVE], count[DONE] = depth, alive, done


@kernel
def score_growth(squares, sizes, penalty, own):
    """From squared distances to what merges would add to the sum of squares. In place."""
    for c in range(squares.shape[0]):
        size = sizes[c]
        squares[c] = squares[c] * ((own * size) / (own + size)) + penalty[c]


@kernel
def merge_centers(centers, a, b, halfway):
    """Merge b into a: the center moves to the mean of all rows, or halfway."""
    sizes = centers.sizes
    total = sizes[a] + sizes[b]
    weight = 0.5 if halfway else sizes[b] / total
    into, other = centers.points[centers.names[a]], centers.points[centers.names[b]]
    tile, lane = centers.tiles[a // LANES], a % LANES
    for t in range(into.shape[0]):
        into[t] += weight * (other[t] - into[t])  # leaves equal centers where they are
        tile[t, lane] = into[t]
    sizes[a] = total
    centers.alive[b] = False
    centers.penalty[b] = np.inf
