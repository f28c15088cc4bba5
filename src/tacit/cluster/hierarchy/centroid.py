"""Centroid and median linkage: the closest pair, from stored nearest neighbors.

A merge may bring clusters closer to others than the two were to each other, so heights can
fall and nearest-neighbor chains do not work. Instead every cluster stores its nearest neighbor
among the clusters of higher name. When that one has merged, the stored distance is still a
lower bound, and the neighbor is searched again only when the bound is the smallest of all
(Müllner's generic algorithm). O(n^2) in practice, with heights in the order of the merges.

Points need no distance matrix: a cluster is its center. Otherwise squared distances are
combined by the formula of Lance and Williams in a square matrix.

Ties: of equally close pairs the one with the lowest names (lowest rows) merges first.

Müllner (2011), Modern hierarchical, agglomerative clustering algorithms. arXiv:1109.2378.
Lance and Williams (1967), A general theory of classificatory sorting strategies. Comput. J. 9.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tacit.cluster.hierarchy.distance_rows import LANES, argmin, padded, squares_to
from tacit.cluster.hierarchy.merges import Merges
from tacit.cluster.hierarchy.ward import (
    COMPACT_BELOW,
    centers_of,
    compact_centers,
    merge_centers,
)
from tacit.core.kernel import kernel

__all__ = ["merge_closest_centers", "merge_closest_in_matrix"]

CALL_WORK = 2**28  # multiplications in one kernel call: well under 200 ms
COLUMNS, ALIVE, DONE, READY = range(4)  # positions of the counters


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
    count = np.array([n, n, 0, 0])
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
    count = np.array([n, n, 0, 0])
    while count[ALIVE] > 1:
        run_matrix(squares, sizes, alive, nearest, lows, count, merges, halfway)
        pause(int(count[DONE]))
    return merges


# --- Kernels, from points ---


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


# --- Kernels, from a matrix ---


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
