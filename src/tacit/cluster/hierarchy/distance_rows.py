"""The distances from one row to all others, and the smallest of them, in vector registers.

A ``Source`` gives the distances of one row at a time:

    POINTS      computed from Euclidean points when asked for; nothing is stored
    SQUARE      read from a square matrix
    CONDENSED   read from a condensed one, in SciPy's order

Points are stored in tiles, (blocks, columns, LANES): the same coordinate of LANES points is
contiguous, so each lane of a register works on a different point. Every distance is added up
in the same order: d(x, y) and d(y, x) have the same bits.

Clusters are columns, ordered by name (their lowest row). Merged columns are removed from time
to time, so a source is asked about columns, and ``names`` says which row each stands for.
Arrays are padded to whole blocks; columns past the last and merged ones count as infinite.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tacit.core.kernel import kernel

__all__ = [
    "CONDENSED", "LANES", "POINTS", "SQUARE", "Source", "argmin", "compact", "compact_tiles",
    "make_source", "min_of_lanes", "padded", "read_row",
]  # fmt: skip

LANES = 256  # noticed by the benchmark of trees
POINTS, SQUARE, CONDENSED = 0, 1, 2


class Source(NamedTuple):
    """One of three; the arrays of the other two are empty."""

    kind: int
    n: int
    tiles: np.ndarray  # (blocks, d, LANES), compacted with the columns
    points: np.ndarray  # (n, d), never compacted
    square: np.ndarray  # (n, n)
    condensed: np.ndarray  # (n (n-1) / 2,)


def make_source(kind: str, values: np.ndarray, n: int) -> Source:
    """The source of n rows: (n, d) "points", or "square" or "condensed" distances, which are
    not changed."""
    none, no_tiles = np.empty((0, 0)), np.empty((0, 0, 0))
    if kind == "points":
        filled = np.zeros((padded(n), values.shape[1]))
        filled[:n] = values
        tiles = filled.reshape(-1, LANES, values.shape[1]).transpose(0, 2, 1)
        return Source(POINTS, n, np.ascontiguousarray(tiles), values, none, np.empty(0))
    if kind == "square":
        return Source(SQUARE, n, no_tiles, none, values, np.empty(0))
    return Source(CONDENSED, n, no_tiles, none, none, values)


def padded(n: int) -> int:
    """n rounded up to whole blocks of LANES.

    >>> padded(1), padded(256), padded(257)
    (256, 256, 512)
    """
    return max(1, -(-n // LANES)) * LANES


def compact(
    source: Source, alive: np.ndarray, arrays: Sequence[np.ndarray], m: int
) -> np.ndarray:
    """Remove merged clusters from the m columns, in the source and all arrays. Returns the
    columns that remain."""
    keep = np.flatnonzero(alive[:m])
    if source.kind == POINTS:
        compact_tiles(source.tiles, keep)
    for array in (*arrays, alive):
        array[: len(keep)] = array[keep]
    alive[len(keep) :] = False
    return keep


# --- Kernels ---


@kernel
def read_row(source, names, m, row, squared, first, out):
    """The distances, or their squares, from a row to the m columns, from those of the block
    ``first`` on. out is whole blocks."""
    if source.kind == POINTS:
        squares_to(source.tiles, first, out.shape[0] // LANES, source.points[row], out)
        if not squared:
            for c in range(first * LANES, out.shape[0]):
                out[c] = math.sqrt(out[c])
        return
    if source.kind == SQUARE:
        line = source.square[row]
        for c in range(first * LANES, m):
            out[c] = line[names[c]]
    else:
        for c in range(first * LANES, m):
            out[c] = condensed_at(source.condensed, source.n, row, names[c])
    if squared:
        for c in range(first * LANES, m):
            out[c] *= out[c]


@kernel(inline="always")
def condensed_at(condensed, n, i, j):
    if i == j:
        return 0.0
    a, b = min(i, j), max(i, j)
    return condensed[a * (2 * n - a - 1) // 2 + b - a - 1]


@kernel
def squares_to(tiles, first, blocks, point, out):
    """out[c] = |point - c|^2 for every point c of the blocks from first on."""
    d = tiles.shape[1]
    fours = d - d % 4
    for b in range(first, blocks):
        tile = tiles[b]
        sums = out[b * LANES : (b + 1) * LANES]
        for i in range(LANES):
            sums[i] = 0.0
        for t in range(0, fours, 4):
            p0, p1, p2, p3 = point[t], point[t + 1], point[t + 2], point[t + 3]
            r0, r1, r2, r3 = tile[t], tile[t + 1], tile[t + 2], tile[t + 3]
            for i in range(LANES):
                z0 = r0[i] - p0
                z1 = r1[i] - p1
                z2 = r2[i] - p2
                z3 = r3[i] - p3
                sums[i] += (z0 * z0 + z1 * z1) + (z2 * z2 + z3 * z3)
        for t in range(fours, d):
            p = point[t]
            row = tile[t]
            for i in range(LANES):
                z = row[i] - p
                sums[i] += z * z


@kernel
def argmin(values, lows):
    """The smallest value and the lowest index that has it. Whole blocks of values.

    ``lows`` is scratch, one number a lane: a running minimum per lane is what vectorizes.
    """
    n = values.shape[0]
    for i in range(LANES):
        lows[i] = np.inf
    for q in range(0, n, LANES):
        row = values[q : q + LANES]
        for i in range(LANES):
            v = row[i]
            low = lows[i]
            lows[i] = v if v < low else low
    best = min_of_lanes(lows)
    at = n
    for i in range(LANES):
        if lows[i] == best:
            for j in range(i, at, LANES):
                if values[j] == best:
                    at = j
                    break
    return best, at


@kernel
def min_of_lanes(lows):
    """The smallest of LANES numbers."""
    best = np.inf
    for i in range(LANES):
        low = lows[i]
        best = low if low < best else best
    return best


@kernel
def compact_tiles(tiles, keep):
    """Move the points at ``keep``, which is ascending, to the front. In place."""
    d = tiles.shape[1]
    for c in range(keep.shape[0]):
        source = keep[c]
        if source != c:
            old, new = tiles[source // LANES], tiles[c // LANES]
            i, j = source % LANES, c % LANES
            for t in range(d):
                new[t, j] = old[t, i]
