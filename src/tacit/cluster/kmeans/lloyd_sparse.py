"""The inner loops of k-means for CSR rows: ``lloyd_dense`` over again, nonzeros only.

Centers lie transposed, one row per feature, so that a nonzero of a row touches one stretch
of memory and all centers are scored at once.
"""

import math

import numpy as np

from tacit.cluster.kmeans.lloyd_dense import share, widen
from tacit.cluster.kmeans.lloyd_search import CHUNK, DOWN, EPS, FAR, TINY, UP
from tacit.core.kernel import kernel
from tacit.kernels.distances import sparse_squared
from tacit.kernels.exact_sum import cut

__all__ = ["own_sparse", "pass_sparse", "square_sparse"]


@kernel
def pass_sparse(
    data, indices, indptr, row_squares, weights, params, labels, upper, lower, sums, counts,
    start, stop,
):  # fmt: skip
    """``pass_dense`` for CSR rows."""
    centers, previous, summary, geometry = params
    ids = np.empty(CHUNK, np.int32)
    new = np.empty(CHUNK, np.int32)
    for first in range(start, stop, CHUNK):
        last = min(first + CHUNK, stop)
        m = filter_sparse(
            data, indices, indptr, centers, geometry.squares, summary.scale,
            labels, upper, lower, geometry.near, ids, first, last,
        )  # fmt: skip
        search_sparse(
            data, indices, indptr, row_squares, centers, previous, geometry,
            ids, m, new, upper, lower,
        )  # fmt: skip
        move_sparse(
            data, indices, indptr, weights, summary.whole, labels, ids, m, new, sums, counts,
            summary.grid, summary.weight_grid,
        )  # fmt: skip


@kernel
def filter_sparse(
    data, indices, indptr, centers, squares, scale, labels, upper, lower, near, ids, start, stop
):
    """``filter_dense`` for CSR rows."""
    m = 0
    for i in range(start, stop):
        a = labels[i]
        if a < 0:
            ids[m] = i
            m += 1
            continue
        drift = near.drift[a]
        u = upper[i] + drift
        low = widen(lower[i], u, near, a)
        bar = max(low, near.gap[a])
        if u >= bar:
            if u - 2 * drift < bar:
                p, q = indptr[i], indptr[i + 1]
                square = sparse_squared(data[p:q], indices[p:q], centers[a], squares[a])
                # The square is a difference of larger ones and only that exact.
                u = np.float32(math.sqrt(square + 1e-14 * squares[a]) * scale) * UP
                low = widen(lower[i], u, near, a)
                bar = max(low, near.gap[a])
            if u >= bar:
                ids[m] = i
                m += 1
        lower[i] = low
        upper[i] = u
    return m


@kernel
def search_sparse(
    data, indices, indptr, row_squares, centers, previous, geometry, ids, m, new, upper, lower
):
    """For CSR rows: ``minus2`` is stored (d, k), so a nonzero touches one row of it."""
    minus2, norms, widest, scale = (
        geometry.minus2, geometry.norms, geometry.widest, geometry.scale,
    )  # fmt: skip
    k = centers.shape[0]
    padded = minus2.shape[1]
    scores = np.empty(padded, np.float32)
    for r in range(m):
        i = ids[r]
        p, q = indptr[i], indptr[i + 1]
        if padded == 8:
            score_8(data, indices, p, q, scale, minus2, norms, scores)
        elif padded == 16:
            score_16(data, indices, p, q, scale, minus2, norms, scores)
        elif padded == 24:
            score_24(data, indices, p, q, scale, minus2, norms, scores)
        elif padded == 32:
            score_32(data, indices, p, q, scale, minus2, norms, scores)
        else:
            score_many(data, indices, p, q, scale, minus2, norms, scores)
        near, rest, a = FAR, FAR, 0
        for j in range(k):
            v = scores[j]
            if v < near:
                rest, near, a = near, v, j
            elif v < rest:
                rest = v
        square = row_squares[i]
        gamma = (q - p + 8) * EPS
        doubt = gamma * (2 * math.sqrt(square) + widest) * widest + TINY
        if rest - near <= 2 * doubt:
            limit = near + 2 * doubt
            a = settle_sparse(
                data[p:q], indices[p:q], centers, geometry.squares, previous,
                geometry.previous_squares, scores, limit,
            )  # fmt: skip
            rest = near
        new[r] = a
        doubt += gamma * square
        upper[i] = np.float32(math.sqrt(max(near + square + 3 * doubt, 0.0))) * UP
        lower[i] = np.float32(math.sqrt(max(rest + square - doubt, 0.0))) * DOWN


@kernel
def score_many(data, indices, start, stop, scale, minus2, norms, scores):
    """|c|^2 - 2 x.c for all centers, in float32 and in their scale."""
    add_rows(data, indices, start, stop, scale, minus2, norms, scores, minus2.shape[1])


def scorer(width: int):
    """``score_many`` for one number of centers, known to the compiler: it keeps the scores in
    registers."""

    @kernel
    def score(data, indices, start, stop, scale, minus2, norms, scores):
        add_rows(data, indices, start, stop, scale, minus2, norms, scores, width)

    return score


@kernel(inline="always")
def add_rows(data, indices, start, stop, scale, minus2, norms, scores, width):
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


score_8, score_16, score_24, score_32 = scorer(8), scorer(16), scorer(24), scorer(32)


@kernel
def settle_sparse(values, columns, centers, squares, previous, previous_squares, scores, limit):
    """``settle_dense`` and the tie rule for one sparse row."""
    best, label, ties = np.inf, 0, 0
    for j in range(centers.shape[0]):
        if scores[j] <= limit:
            square = sparse_squared(values, columns, centers[j], squares[j])
            if square < best:
                best, label, ties = square, j, 1
            elif square == best:
                ties += 1
    if ties > 1:
        before, home = np.inf, 0
        for j in range(previous.shape[0]):
            square = sparse_squared(values, columns, previous[j], previous_squares[j])
            if square < before:
                before, home = square, j
        if sparse_squared(values, columns, centers[home], squares[home]) == best:
            label = home
    return label


@kernel
def move_sparse(
    data, indices, indptr, weights, whole, labels, ids, m, new, sums, counts, grid, weight_grid
):
    """``move_dense`` for CSR rows."""
    for r in range(m):
        i = ids[r]
        old, now = labels[i], new[r]
        if old == now:
            continue
        labels[i] = now
        before, times = share(weights, whole, i)
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
def square_sparse(data, indptr, weights, scale):
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
def own_sparse(data, indices, indptr, centers, squares, labels):
    """``own_dense`` for CSR rows."""
    out = np.empty(labels.shape[0])
    for i in range(labels.shape[0]):
        a, p, q = labels[i], indptr[i], indptr[i + 1]
        out[i] = sparse_squared(data[p:q], indices[p:q], centers[a], squares[a])
    return out
