"""The inner loops of k-means on CSR rows: ``lloyd_dense`` for nonzeros only.

Centers are stored transposed, one row per feature, so that a nonzero of a row reads contiguous
memory and is multiplied with all centers at once.
"""

import math
from typing import NamedTuple

import numpy as np

from tacit.cluster.lloyd_dense import CHUNK, DOWN, EPS, FAR, TINY, UP, weight_factors
from tacit.core.kernel import kernel
from tacit.kernels.distances import sparse_squared
from tacit.kernels.exact_sum import cut

__all__ = ["CsrBlock", "pass_sparse", "squares_to_own_sparse", "sum_squares_sparse"]


class CsrBlock(NamedTuple):
    """The arrays of a CSR matrix, and the squared lengths of its rows."""

    data: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray
    squares: np.ndarray  # (n,) float32, in the scale of the search


@kernel
def pass_sparse(rows, weights, params, bounds, sums, start, stop):
    """``pass_dense`` for CSR rows."""
    ids = np.empty(CHUNK, np.int32)
    new = np.empty(CHUNK, np.int32)
    for first in range(start, stop, CHUNK):
        last = min(first + CHUNK, stop)
        m = filter_sparse(rows, params, bounds, ids, first, last)
        search_sparse(rows, params, bounds, ids, m, new)
        move_sparse(rows, weights, params.summary, bounds.labels, ids, m, new, sums)


@kernel
def filter_sparse(rows, params, bounds, ids, start, stop):
    """``filter_dense`` for CSR rows, with one lower bound."""
    data, indices, indptr, _ = rows
    centers, squares = params.centers, params.geometry.squares
    near, scale = params.geometry.bounds, params.summary.scale
    labels, upper, lower = bounds.labels, bounds.upper, bounds.lower
    m = 0
    for i in range(start, stop):
        a = labels[i]
        if a < 0:
            ids[m] = i
            m += 1
            continue
        drift = near.drift[a]
        u = upper[i] + drift
        low = lower[i] - near.max_drift[a]
        limit = max(low, near.half_gap[a])
        if u >= limit:
            if u - 2 * drift < limit:
                p, q = indptr[i], indptr[i + 1]
                square = sparse_squared(data[p:q], indices[p:q], centers[a], squares[a])
                # The square is a difference of larger ones and only that exact.
                u = np.float32(math.sqrt(square + 1e-14 * squares[a]) * scale) * UP
            if u >= limit:
                ids[m] = i
                m += 1
        lower[i] = low
        upper[i] = u
    return m


@kernel
def search_sparse(rows, params, bounds, ids, m, new):
    """The nearest center of the rows listed; ``minus2`` is (d, k) here."""
    data, indices, indptr, row_squares = rows
    geometry, upper, lower = params.geometry, bounds.upper, bounds.lower
    minus2, norms, widest, scale = (
        geometry.minus2, geometry.norms, geometry.widest, geometry.scale,
    )  # fmt: skip
    k = params.centers.shape[0]
    scores = np.empty(minus2.shape[1], np.float32)
    for r in range(m):
        i = ids[r]
        p, q = indptr[i], indptr[i + 1]
        score(rows, p, q, scale, minus2, norms, scores)
        near, second, a = FAR, FAR, 0
        for j in range(k):
            v = scores[j]
            if v < near:
                second, near, a = near, v, j
            elif v < second:
                second = v
        square = row_squares[i]
        gamma = (q - p + 8) * EPS
        error = gamma * (2 * math.sqrt(square) + widest) * widest + TINY
        if second - near <= 2 * error:
            a = decide_sparse(data[p:q], indices[p:q], params, scores, near + 2 * error)
            second = near
        new[r] = a
        error += gamma * square
        upper[i] = np.float32(math.sqrt(max(near + square + 3 * error, 0.0))) * UP
        lower[i] = np.float32(math.sqrt(max(second + square - error, 0.0))) * DOWN


@kernel
def score(rows, start, stop, scale, minus2, norms, scores):
    """|c|^2 - 2 x.c for all centers, in float32 and in their scale."""
    data, indices = rows.data, rows.indices
    width = scores.shape[0]
    for j in range(width):
        scores[j] = norms[j]
    t = start
    while t + 4 <= stop:  # four at a time: the scores are loaded and stored once for all
        v0, v1 = np.float32(data[t] * scale), np.float32(data[t + 1] * scale)
        v2, v3 = np.float32(data[t + 2] * scale), np.float32(data[t + 3] * scale)
        r0, r1 = minus2[np.uint32(indices[t])], minus2[np.uint32(indices[t + 1])]
        r2, r3 = minus2[np.uint32(indices[t + 2])], minus2[np.uint32(indices[t + 3])]
        for j in range(width):
            scores[j] += (v0 * r0[j] + v1 * r1[j]) + (v2 * r2[j] + v3 * r3[j])
        t += 4
    while t < stop:
        v = np.float32(data[t] * scale)
        row = minus2[np.uint32(indices[t])]
        for j in range(width):
            scores[j] += v * row[j]
        t += 1


@kernel
def decide_sparse(values, columns, params, scores, limit):
    """``decide_dense`` and the tie rule for one sparse row."""
    centers, squares = params.centers, params.geometry.squares
    best, label, ties = np.inf, 0, 0
    for j in range(centers.shape[0]):
        if scores[j] <= limit:
            square = sparse_squared(values, columns, centers[j], squares[j])
            if square < best:
                best, label, ties = square, j, 1
            elif square == best:
                ties += 1
    if ties > 1:
        previous, previous_squares = params.previous, params.geometry.previous_squares
        before, home = np.inf, 0
        for j in range(previous.shape[0]):
            square = sparse_squared(values, columns, previous[j], previous_squares[j])
            if square < before:
                before, home = square, j
        if sparse_squared(values, columns, centers[home], squares[home]) == best:
            label = home
    return label


@kernel
def move_sparse(rows, weights, summary, labels, ids, m, new, sums_and_counts):
    """``move_dense`` for CSR rows."""
    data, indices, indptr, _ = rows
    sums, counts = sums_and_counts
    grid, weight_grid = summary.grid, summary.weight_grid
    for r in range(m):
        i = ids[r]
        old, now = labels[i], new[r]
        if old == now:
            continue
        labels[i] = now
        before, times = weight_factors(weights, summary.whole, i)
        for t in range(indptr[i], indptr[i + 1]):
            j = indices[t]
            hi, lo = cut(before * data[t], grid[0], grid[1])
            sums[0, now, j] += times * hi
            sums[1, now, j] += times * lo
            if old >= 0:
                sums[0, old, j] -= times * hi
                sums[1, old, j] -= times * lo
        hi, lo = cut(before, weight_grid[0], weight_grid[1])
        counts[0, now] += times * hi
        counts[1, now] += times * lo
        if old >= 0:
            counts[0, old] -= times * hi
            counts[1, old] -= times * lo


@kernel
def sum_squares_sparse(data, indptr, weights, scale):
    """The weighted sum of |x|^2, and |x|^2 of every row in the scale of the search."""
    n = indptr.shape[0] - 1
    total = 0.0
    squares = np.empty(n, np.float32)
    for i in range(n):
        w = weights[i] if weights.shape[0] else 1.0
        row = 0.0
        for t in range(indptr[i], indptr[i + 1]):
            v = np.float64(data[t])
            row += v * v
        total += w * row
        squares[i] = row * scale * scale
    return total, squares


@kernel
def squares_to_own_sparse(data, indices, indptr, centers, squares, labels):
    """``squares_to_own_dense`` for CSR rows."""
    out = np.empty(labels.shape[0])
    for i in range(labels.shape[0]):
        a, p, q = labels[i], indptr[i], indptr[i + 1]
        out[i] = sparse_squared(data[p:q], indices[p:q], centers[a], squares[a])
    return out
