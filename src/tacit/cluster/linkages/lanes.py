"""Distances from one point to many, and the nearest of them, a vector register at a time.

Points stand in tiles, (blocks, columns, LANES): the same coordinate of LANES points lies
together, so all lanes of a register work on different points. A point's distance is then
always added up in the same order, whoever asks and from whichever side: d(x, y) and d(y, x)
have the same bits, and so does a distance that is computed twice.

Whole blocks are computed; what lies past the last point, and what is no longer there, gets a
penalty of infinity. The nearest is the lowest index among equals.
"""

import math

import numpy as np

from tacit.core.kernel import kernel

__all__ = ["LANES", "blocks_for", "keep_lanes", "least", "squares_to", "tile_points"]

LANES = 256


def blocks_for(n: int) -> int:
    """Blocks that n points fill, the last one partly."""
    return max(1, -(-n // LANES))


def tile_points(points: np.ndarray) -> np.ndarray:
    """(blocks, columns, LANES) float64 of (n, columns) points; zeros past the last."""
    n, d = points.shape
    padded = np.zeros((blocks_for(n) * LANES, d))
    padded[:n] = points
    return np.ascontiguousarray(padded.reshape(-1, LANES, d).transpose(0, 2, 1))


# --- Kernels ---


@kernel
def squares_to(tiles, first, blocks, point, out):
    """out[c] = |point - c|^2 for every point c of the blocks from first on."""
    d = tiles.shape[1]
    whole = d - d % 4
    for b in range(first, blocks):
        tile = tiles[b]
        sums = out[b * LANES : (b + 1) * LANES]
        for i in range(LANES):
            sums[i] = 0.0
        for t in range(0, whole, 4):
            p0, p1, p2, p3 = point[t], point[t + 1], point[t + 2], point[t + 3]
            r0, r1, r2, r3 = tile[t], tile[t + 1], tile[t + 2], tile[t + 3]
            for i in range(LANES):
                z0 = r0[i] - p0
                z1 = r1[i] - p1
                z2 = r2[i] - p2
                z3 = r3[i] - p3
                sums[i] += (z0 * z0 + z1 * z1) + (z2 * z2 + z3 * z3)
        for t in range(whole, d):
            p = point[t]
            row = tile[t]
            for i in range(LANES):
                z = row[i] - p
                sums[i] += z * z


@kernel
def least(values, penalty, lows):
    """The smallest of values + penalty and its place. Both are whole blocks long.

    ``lows`` is scratch, one number a lane: a running minimum per lane is what vectorizes.
    """
    n = values.shape[0]
    for i in range(LANES):
        lows[i] = np.inf
    for q in range(0, n, LANES):
        row = values[q : q + LANES]
        extra = penalty[q : q + LANES]
        for i in range(LANES):
            v = row[i] + extra[i]
            low = lows[i]
            lows[i] = v if v < low else low
    best = smallest(lows)
    at = n
    for i in range(LANES):
        if lows[i] == best:
            for j in range(i, at, LANES):
                if values[j] + penalty[j] == best:
                    at = j
                    break
    return best, at


@kernel
def smallest(lows):
    best = np.inf
    for i in range(LANES):
        low = lows[i]
        best = low if low < best else best
    return best


@kernel
def roots(values):
    for i in range(values.shape[0]):
        values[i] = math.sqrt(values[i])


@kernel
def keep_lanes(tiles, keep):
    """Move the points at ``keep``, which rises, to the front. In place."""
    d = tiles.shape[1]
    for c in range(keep.shape[0]):
        source = keep[c]
        if source != c:
            old, new = tiles[source // LANES], tiles[c // LANES]
            i, j = source % LANES, c % LANES
            for t in range(d):
                new[t, j] = old[t, i]
