"""Centroid and median linkage: the closest pair, found from remembered nearest neighbours.

A merge may bring clusters closer to others than the two were to each other, so heights can
fall and chains of nearest neighbours do not work. Instead every cluster remembers its nearest
among the clusters of higher name. When that one has died, what is remembered is still a bound
from below, and the cluster looks again only when the bound comes up as the smallest of all
(Müllner's generic algorithm). O(n^2) in practice, with heights in the order they are made.

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

from tacit.cluster.linkages.centers import PACK_BELOW, centers_of, join, pack_centers
from tacit.cluster.linkages.lanes import LANES, blocks_for, least, squares_to
from tacit.cluster.linkages.merges import Merges
from tacit.core.kernel import kernel

__all__ = ["closest_centers", "closest_in_matrix"]

CALL_WORK = 2**28  # of multiplications in one kernel call: well under 200 ms
COLUMNS, ALIVE, DONE, READY = range(4)  # places of the counters


class Remembered(NamedTuple):
    """Of every cluster the nearest of higher name."""

    distance: np.ndarray  # float64, squared; infinite where dead
    column: np.ndarray  # int64; -1 where that one is gone and the distance a lower bound


def remember_nothing(n: int) -> Remembered:
    width = blocks_for(n) * LANES
    return Remembered(np.full(width, np.inf), np.full(width, -1))


def closest_centers(
    points: np.ndarray,
    sizes: np.ndarray,
    *,
    halfway: bool,
    pause: Callable[[int], None] = lambda done: None,
) -> Merges:
    """Centroid linkage, or median where a merged center lies ``halfway``. In merge order."""
    n = len(points)
    merges, centers, nearest = Merges.empty(n), centers_of(points, sizes), remember_nothing(n)
    width = len(centers.names)
    values, zeros, lows = np.empty(width), np.zeros(width), np.empty(LANES)
    now = np.array([n, n, 0, 0])
    while now[ALIVE] > 1:
        run_centers(centers, nearest, values, zeros, lows, now, merges, halfway)
        if now[READY] == n:
            keep = pack_centers(centers, int(now[COLUMNS]), *nearest)
            known = nearest.column[: len(keep)]
            known[known >= 0] = np.searchsorted(keep, known[known >= 0])
            nearest.distance[len(keep) :] = np.inf
            now[COLUMNS] = len(keep)
        pause(int(now[DONE]))
    return merges


def closest_in_matrix(
    squares: np.ndarray,
    sizes: np.ndarray,
    *,
    halfway: bool,
    pause: Callable[[int], None] = lambda done: None,
) -> Merges:
    """The same from a square matrix of squared distances, which is used up."""
    n = len(squares)
    merges, nearest = Merges.empty(n), remember_nothing(n)
    zeros, lows = np.zeros(len(nearest.distance)), np.empty(LANES)
    sizes, alive = np.array(sizes, np.float64), np.ones(n, bool)
    now = np.array([n, n, 0, 0])
    while now[ALIVE] > 1:
        run_matrix(squares, sizes, alive, nearest, zeros, lows, now, merges, halfway)
        pause(int(now[DONE]))
    return merges


# --- Kernels, from points ---


@kernel
def run_centers(centers, nearest, values, zeros, lows, now, merges, halfway):
    """Merge closest pairs until it is time to pack, or to come up for air."""
    m = now[COLUMNS]
    blocks = (m + LANES - 1) // LANES
    width = blocks * LANES
    distance, column = nearest
    cost = m * (4 + centers.points.shape[1])
    budget = CALL_WORK
    n = centers.points.shape[0]
    while now[READY] < n and budget > 0:  # the first neighbours, once
        look(centers, nearest, now[READY], blocks, values, lows)
        now[READY] += 1
        budget -= cost
    enough = max(1, int(PACK_BELOW * m)) if m > 2 * LANES else 1
    while now[ALIVE] > enough and budget > 0:
        budget -= cost
        square, a = least(distance[:width], zeros[:width], lows)
        if column[a] < 0:
            look(centers, nearest, a, blocks, values, lows)
            continue
        b = column[a]
        s = now[DONE]
        merges.low[s] = centers.names[a]
        merges.high[s] = centers.names[b]
        merges.heights[s] = math.sqrt(square)
        join(centers, a, b, halfway)
        distance[b] = np.inf
        now[DONE] += 1
        now[ALIVE] -= 1
        squares_to(centers.tiles, 0, blocks, centers.points[centers.names[a]], values)
        offer(values, centers.alive, distance, column, a, b)
        remember(values, centers.penalty, distance, column, a, blocks, lows)


@kernel
def look(centers, nearest, x, blocks, values, lows):
    """Find the nearest of higher name."""
    first = x // LANES
    squares_to(centers.tiles, first, blocks, centers.points[centers.names[x]], values)
    remember(values, centers.penalty, nearest.distance, nearest.column, x, blocks, lows)


@kernel
def remember(values, penalty, distance, column, x, blocks, lows):
    """Note the least of the values at columns above x."""
    first = x // LANES * LANES
    for c in range(first, x + 1):
        values[c] = np.inf
    square, at = least(values[first : blocks * LANES], penalty[first : blocks * LANES], lows)
    distance[x] = square
    column[x] = first + at if square < np.inf else -1


@kernel
def offer(values, alive, distance, column, a, b):
    """Tell the clusters below a about it; those whose nearest was a or b no longer know."""
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
def run_matrix(squares, sizes, alive, nearest, zeros, lows, now, merges, halfway):
    n = squares.shape[0]
    distance, column = nearest
    budget = CALL_WORK
    while now[READY] < n and budget > 0:
        look_in_row(squares, alive, nearest, now[READY])
        now[READY] += 1
        budget -= 4 * n
    while now[ALIVE] > 1 and budget > 0:
        budget -= 16 * n
        square, a = least(distance, zeros, lows)
        if column[a] < 0:
            look_in_row(squares, alive, nearest, a)
            continue
        b = column[a]
        s = now[DONE]
        merges.low[s], merges.high[s] = a, b
        merges.heights[s] = math.sqrt(max(square, 0.0))
        combine(squares, sizes, alive, a, b, square, halfway)
        distance[b] = np.inf
        now[DONE] += 1
        now[ALIVE] -= 1
        offer(squares[a], alive, distance, column, a, b)
        look_in_row(squares, alive, nearest, a)


@kernel
def look_in_row(squares, alive, nearest, x):
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
