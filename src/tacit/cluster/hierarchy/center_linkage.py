"""Ward, centroid and median linkage of clusters that are known by a center.

Points need no distance matrix: a cluster is its center and its size. O(n^2 d) time, O(n d)
memory. Centroid and median linkage also work on a square matrix of squared distances, in which
a merge combines two rows by the formula of Lance and Williams.

Ward: merging A and B adds

    |A| |B| / (|A| + |B|)  |center(A) - center(B)|^2

to the sum of squares within clusters, and the pair that adds least is merged. The height is the
square root of twice that, so that two single rows merge at their distance. See ``nn_chain`` for
the chain and for ties.

Centroid and median: a merge may bring clusters closer to others than the two were to each
other, so heights can fall and nearest-neighbor chains do not work. Instead every cluster stores
its nearest neighbor among the clusters of higher name. When that one has merged, the stored
distance is still a lower bound, and the neighbor is searched again only when the bound is the
smallest of all (Müllner's generic algorithm), with heights in the order of the merges. Ties: of
equally close pairs the one with the lowest names (lowest rows) merges first.

Ward (1963), Hierarchical grouping to optimize an objective function. JASA 58.
Murtagh and Legendre (2014), Ward's hierarchical agglomerative clustering method. J. Classif.
31. Müllner (2011), Modern hierarchical, agglomerative clustering algorithms. arXiv:1109.2378.
Lance and Williams (1967), A general theory of classificatory sorting strategies. Comput. J. 9.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tacit.cluster.hierarchy.dendrogram import Merges
from tacit.cluster.hierarchy.distance_rows import (
    LANES,
    POINTS,
    Source,
    argmin,
    compact,
    padded,
    read_row,
)
from tacit.core.kernel import kernel

__all__ = ["merge_closest_centers", "ward_chain"]

COMPACT_BELOW = 0.95  # of the columns alive; noticed by the benchmark of trees
CALL_WORK = 2**28  # multiplications in one kernel call: well under 200 ms
COLUMNS, ALIVE, DONE, DEPTH, READY = range(5)  # positions of the counters


class Centers(NamedTuple):
    """Clusters known by a center: one column each, ordered by name, in whole blocks."""

    source: Source  # the centers, or the squared distances between them
    names: np.ndarray  # int64, lowest row
    sizes: np.ndarray  # float64
    penalty: np.ndarray  # float64, infinite where merged
    alive: np.ndarray  # bool


def centers_of(source: Source, sizes: np.ndarray) -> Centers:
    """Every row as a cluster."""
    width = padded(source.n)
    inside = np.arange(width) < source.n
    weights = np.ones(width)
    weights[: source.n] = sizes
    penalty = np.where(inside, 0.0, np.inf)
    return Centers(source, np.arange(width), weights, penalty, inside)


def compact_centers(centers: Centers, count: np.ndarray, *more: np.ndarray) -> np.ndarray:
    """Remove merged clusters from the columns, here and in ``more``. Returns the columns that
    remain."""
    source, names, sizes, penalty, alive = centers
    keep = compact(source, alive, (names, sizes, penalty, *more), count[COLUMNS])
    penalty[len(keep) :] = np.inf
    count[COLUMNS] = len(keep)
    return keep


@kernel
def read_squares(centers, x, first, m, values):
    """The squared distances from column x to the m columns, from a block on."""
    source, names = centers.source, centers.names
    squared = source.kind == POINTS  # a matrix holds squares
    read_row(source, names, m, names[x], squared, first, values)


@kernel
def merge_centers(centers, a, b, square, halfway):
    """Merge b into a, ``square`` apart: the center moves to the mean, or halfway."""
    source, names, sizes = centers.source, centers.names, centers.sizes
    total = sizes[a] + sizes[b]
    of_a, of_b = sizes[a] / total, sizes[b] / total
    if halfway:
        of_a = of_b = 0.5
    sizes[a] = total
    centers.alive[b] = False
    centers.penalty[b] = np.inf
    if source.kind == POINTS:
        into, other = source.points[names[a]], source.points[names[b]]
        tile, lane = source.tiles[a // LANES], a % LANES
        for t in range(into.shape[0]):
            into[t] += of_b * (other[t] - into[t])  # leaves equal centers where they are
            tile[t, lane] = into[t]
        return
    row, other = source.square[names[a]], source.square[names[b]]
    for c in range(names.shape[0]):
        if centers.alive[c] and c != a:
            j = names[c]
            row[j] = (of_a * row[j] + of_b * other[j]) - of_a * of_b * square
            source.square[j, names[a]] = row[j]


# --- Ward ---


def ward_chain(source: Source, sizes: np.ndarray, report: Callable[[int], None]) -> Merges:
    """The merges of points, which are overwritten, in the order of the chain. Heights are
    distances."""
    n = source.n
    merges = Merges.empty(n)
    centers = centers_of(source, sizes)
    chain, on_chain = np.empty(n + 1, np.int64), np.zeros(len(centers.names), bool)
    values, lows = np.empty(len(centers.names)), np.empty(LANES)
    count = np.array([n, n, 0, 0, 0])
    while count[ALIVE] > 1:
        run_ward(centers, chain, on_chain, values, lows, count, merges)
        keep = compact_centers(centers, count, on_chain)
        chain[: count[DEPTH]] = np.searchsorted(keep, chain[: count[DEPTH]])
        report(int(count[DONE]))
    return merges


@kernel
def run_ward(centers, chain, on_chain, values, lows, count, merges):
    """Follow the chain until it is time to compact, or to return to Python."""
    m = count[COLUMNS]
    width = (m + LANES - 1) // LANES * LANES
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
        read_squares(centers, x, 0, m, values[:width])
        values[x] = np.inf
        budget -= m * (4 + centers.source.points.shape[1])
        score_growth(values[:width], centers.sizes, centers.penalty, centers.sizes[x])
        growth, y = argmin(values[:width], lows)
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
        merge_centers(centers, a, b, 0.0, False)
        alive -= 1
        done += 1
    count[DEPTH], count[ALIVE], count[DONE] = depth, alive, done


@kernel
def score_growth(squares, sizes, penalty, size_x):
    """From squared distances to what merges would add to the sum of squares. In place."""
    for c in range(squares.shape[0]):
        size = sizes[c]
        squares[c] = squares[c] * ((size_x * size) / (size_x + size)) + penalty[c]


# --- Centroid and median ---


class Nearest(NamedTuple):
    """The nearest neighbor of higher name of every cluster."""

    distance: np.ndarray  # float64, squared; infinite where merged
    column: np.ndarray  # int64; -1 where that one has merged and the distance is a lower bound


def merge_closest_centers(
    source: Source, sizes: np.ndarray, report: Callable[[int], None], *, halfway: bool
) -> Merges:
    """Centroid linkage, or median where a merged center lies ``halfway``, of points or of a
    square matrix of squared distances, which are overwritten. In merge order."""
    n = source.n
    merges, centers = Merges.empty(n), centers_of(source, sizes)
    nearest = Nearest(np.full(padded(n), np.inf), np.full(padded(n), -1))
    row, lows = np.zeros(padded(n)), np.empty(LANES)
    count = np.array([n, n, 0, 0, 0])
    while count[ALIVE] > 1:
        run_centers(centers, nearest, row, lows, count, merges, halfway)
        if count[READY] == n:
            keep = compact_centers(centers, count, *nearest)
            column = nearest.column[: len(keep)]
            column[column >= 0] = np.searchsorted(keep, column[column >= 0])
            nearest.distance[len(keep) :] = np.inf
        report(int(count[DONE]))
    return merges


@kernel
def run_centers(centers, nearest, values, lows, count, merges, halfway):
    """Merge closest pairs until it is time to compact, or to return to Python."""
    m = count[COLUMNS]
    width = (m + LANES - 1) // LANES * LANES
    distance, column = nearest
    cost = m * (4 + centers.source.points.shape[1])
    budget, n = CALL_WORK, centers.source.n
    while count[READY] < n and budget > 0:  # the first neighbors, once
        search(centers, nearest, count[READY], m, values[:width], lows)
        count[READY] += 1
        budget -= cost
    enough = max(1, int(COMPACT_BELOW * m)) if m > 2 * LANES else 1
    while count[ALIVE] > enough and budget > 0:
        budget -= cost
        square, a = argmin(distance[:width], lows)
        if column[a] < 0:
            search(centers, nearest, a, m, values[:width], lows)
            continue
        b = column[a]
        s = count[DONE]
        merges.low[s] = centers.names[a]
        merges.high[s] = centers.names[b]
        merges.heights[s] = math.sqrt(max(square, 0.0))
        merge_centers(centers, a, b, square, halfway)
        distance[b] = np.inf
        count[DONE] += 1
        count[ALIVE] -= 1
        read_squares(centers, a, 0, m, values[:width])
        update_lower(values, centers.alive, distance, column, a, b)
        store_nearest(values[:width], centers.penalty, nearest, a, lows)


@kernel
def search(centers, nearest, x, m, values, lows):
    """Find the nearest neighbor of higher name."""
    read_squares(centers, x, x // LANES, m, values)
    store_nearest(values, centers.penalty, nearest, x, lows)


@kernel
def store_nearest(values, penalty, nearest, x, lows):
    """Store the smallest of the values at columns above x. Merged columns are masked."""
    first = x // LANES * LANES
    for c in range(first, x + 1):
        values[c] = np.inf
    for c in range(x + 1, values.shape[0]):
        values[c] += penalty[c]
    square, at = argmin(values[first:], lows)
    nearest.distance[x] = square
    nearest.column[x] = first + at if square < np.inf else -1


@kernel
def update_lower(values, alive, distance, column, a, b):
    """Compare the merged cluster a with the neighbors of the clusters below it; neighbors that
    were a or b become unknown."""
    for c in range(b):
        if not alive[c] or c == a:
            continue
        if column[c] == a or column[c] == b:
            column[c] = -1
        if c > a:
            continue
        if values[c] < distance[c]:
            distance[c] = values[c]
            column[c] = a
        elif values[c] == distance[c] and column[c] > a:
            column[c] = a
