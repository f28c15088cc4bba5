"""Ward, centroid and median linkage of clusters that are known by a center.

Points need no distance matrix: a cluster is its center and its size. O(n^2 d) time, O(n d)
memory.

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
equally close pairs the one with the lowest names (lowest rows) merges first. Without points,
squared distances are combined by the formula of Lance and Williams in a square matrix.

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
    argmin,
    compact_tiles,
    padded,
    squares_to,
    tile_points,
)
from tacit.core.kernel import kernel

__all__ = ["merge_closest_centers", "merge_closest_in_matrix", "ward_chain"]

COMPACT_BELOW = 0.95  # of the columns alive; noticed by the benchmark of trees
CALL_WORK = 2**28  # multiplications in one kernel call: well under 200 ms
COLUMNS, ALIVE, DONE, DEPTH, READY = range(5)  # positions of the counters


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


# --- Ward ---


def ward_chain(
    points: np.ndarray, sizes: np.ndarray, *, pause: Callable[[int], None] = lambda done: None
) -> Merges:
    """The merges, in the order of the chain. Heights are distances."""
    n = len(points)
    merges = Merges.empty(n)
    centers = centers_of(points, sizes)
    chain, on_chain = np.empty(n + 1, np.int64), np.zeros(len(centers.names), bool)
    values, lows = np.empty(len(centers.names)), np.empty(LANES)
    count = np.array([n, n, 0, 0, 0])
    while count[ALIVE] > 1:
        run_ward(centers, chain, on_chain, values, lows, count, merges)
        keep = compact_centers(centers, int(count[COLUMNS]), on_chain)
        chain[: count[DEPTH]] = np.searchsorted(keep, chain[: count[DEPTH]])
        count[COLUMNS] = len(keep)
        pause(int(count[DONE]))
    return merges


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


# --- Centroid and median, from points ---


class Nearest(NamedTuple):
    """The nearest neighbor of higher name of every cluster."""

    distance: np.ndarray  # float64, squared; infinite where merged
    column: np.ndarray  # int64; -1 where that one has merged and the distance is a lower bound

    @classmethod
    def unknown(cls, n: int) -> "Nearest":
        return cls(np.full(padded(n), np.inf), np.full(padded(n), -1))


def merge_closest_centers(
    points: np.ndarray,
    sizes: np.ndarray,
    *,
    halfway: bool,
    pause: Callable[[int], None] = lambda done: None,
) -> Merges:
    """Centroid linkage, or median where a merged center lies ``halfway``. In merge order."""
    n = len(points)
    merges, centers, nearest = Merges.empty(n), centers_of(points, sizes), Nearest.unknown(n)
    values, lows = np.empty(len(centers.names)), np.empty(LANES)
    count = np.array([n, n, 0, 0, 0])
    while count[ALIVE] > 1:
        run_centers(centers, nearest, values, lows, count, merges, halfway)
        if count[READY] == n:
            keep = compact_centers(centers, int(count[COLUMNS]), *nearest)
            column = nearest.column[: len(keep)]
            column[column >= 0] = np.searchsorted(keep, column[column >= 0])
            nearest.distance[len(keep) :] = np.inf
            count[COLUMNS] = len(keep)
        pause(int(count[DONE]))
    return merges


@kernel
def run_centers(centers, nearest, values, lows, count, merges, halfway):
    """Merge closest pairs until it is time to compact, or to return to Python."""
    m = count[COLUMNS]
    blocks = (m + LANES - 1) // LANES
    distance, column = nearest
    cost = m * (4 + centers.points.shape[1])
    budget = CALL_WORK
    n = centers.points.shape[0]
    while count[READY] < n and budget > 0:  # the first neighbors, once
        search(centers, nearest, count[READY], blocks, values, lows)
        count[READY] += 1
        budget -= cost
    enough = max(1, int(COMPACT_BELOW * m)) if m > 2 * LANES else 1
    while count[ALIVE] > enough and budget > 0:
        budget -= cost
        square, a = argmin(distance[: blocks * LANES], lows)
        if column[a] < 0:
            search(centers, nearest, a, blocks, values, lows)
            continue
        b = column[a]
        s = count[DONE]
        merges.low[s] = centers.names[a]
        merges.high[s] = centers.names[b]
        merges.heights[s] = math.sqrt(square)
        merge_centers(centers, a, b, halfway)
        distance[b] = np.inf
        count[DONE] += 1
        count[ALIVE] -= 1
        squares_to(centers.tiles, 0, blocks, centers.points[centers.names[a]], values)
        update_lower(values, centers.alive, distance, column, a, b)
        store_nearest(values, centers.penalty, distance, column, a, blocks, lows)


@kernel
def search(centers, nearest, x, blocks, values, lows):
    """Find the nearest neighbor of higher name."""
    first = x // LANES
    squares_to(centers.tiles, first, blocks, centers.points[centers.names[x]], values)
    store_nearest(values, centers.penalty, nearest.distance, nearest.column, x, blocks, lows)


@kernel
def store_nearest(values, penalty, distance, column, x, blocks, lows):
    """Store the smallest of the values at columns above x. Merged columns are masked."""
    first, width = x // LANES * LANES, blocks * LANES
    for c in range(first, x + 1):
        values[c] = np.inf
    for c in range(x + 1, width):
        values[c] += penalty[c]
    square, at = argmin(values[first:width], lows)
    distance[x] = square
    column[x] = first + at if square < np.inf else -1


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


# --- Centroid and median, from a matrix ---


def merge_closest_in_matrix(
    squares: np.ndarray,
    sizes: np.ndarray,
    *,
    halfway: bool,
    pause: Callable[[int], None] = lambda done: None,
) -> Merges:
    """The same from a square matrix of squared distances, which is overwritten."""
    n = len(squares)
    merges, nearest, lows = Merges.empty(n), Nearest.unknown(n), np.empty(LANES)
    sizes, alive = np.array(sizes, np.float64), np.ones(n, bool)
    count = np.array([n, n, 0, 0, 0])
    while count[ALIVE] > 1:
        run_matrix(squares, sizes, alive, nearest, lows, count, merges, halfway)
        pause(int(count[DONE]))
    return merges


@kernel
def run_matrix(squares, sizes, alive, nearest, lows, count, merges, halfway):
    n = squares.shape[0]
    distance, column = nearest
    budget = CALL_WORK
    while count[READY] < n and budget > 0:
        search_row(squares, alive, nearest, count[READY])
        count[READY] += 1
        budget -= 4 * n
    while count[ALIVE] > 1 and budget > 0:
        budget -= 16 * n
        square, a = argmin(distance, lows)
        if column[a] < 0:
            search_row(squares, alive, nearest, a)
            continue
        b = column[a]
        s = count[DONE]
        merges.low[s], merges.high[s] = a, b
        merges.heights[s] = math.sqrt(max(square, 0.0))
        combine(squares, sizes, alive, a, b, square, halfway)
        distance[b] = np.inf
        count[DONE] += 1
        count[ALIVE] -= 1
        update_lower(squares[a], alive, distance, column, a, b)
        search_row(squares, alive, nearest, a)


@kernel
def search_row(squares, alive, nearest, x):
    row = squares[x]
    best, at = np.inf, -1
    for c in range(x + 1, row.shape[0]):
        if alive[c] and row[c] < best:
            best, at = row[c], c
    nearest.distance[x] = best
    nearest.column[x] = at


@kernel
def combine(squares, sizes, alive, a, b, between, halfway):
    """Squared distances from the center of the merged cluster, by Lance and Williams."""
    total = sizes[a] + sizes[b]
    of_a = 0.5 if halfway else sizes[a] / total
    of_b = 0.5 if halfway else sizes[b] / total
    away = of_a * of_b * between
    row, other = squares[a], squares[b]
    alive[b] = False
    sizes[a] = total
    for c in range(row.shape[0]):
        if alive[c] and c != a:
            v = (of_a * row[c] + of_b * other[c]) - away
            row[c] = v
            squares[c, a] = v
