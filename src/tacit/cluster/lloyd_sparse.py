"""The inner loops of k-means for CSR rows: ``lloyd_dense`` over again, nonzeros only.

Centers lie transposed, one row per feature, so that a nonzero of a row touches one stretch
of memory and all centers are scored at once.
"""

import math

import numpy as np

from tacit.cluster.lloyd_dense import share, widen
from tacit.cluster.lloyd_search import CHUNK, DOWN, EPS, FAR, TINY, UP
from tacit.core.kernel import kernel
from tacit.kernels.distances import sparse_squared
from tacit.kernels.exact_sum import cut

__all__ = ["own_sparse", "pass_sparse", "square_sparse"]


@kernel
def pass_sparse(
    data, indices, indptr, weights, params, labels, upper, lower, sums, counts, start, stop
):
    """``pass_dense`` for CSR rows."""
    centers, previous, frame, geometry = params
    ids = np.empty(CHUNK, np.int32)
    new = np.empty(CHUNK, np.int32)
    for first in range(start, stop, CHUNK):
        last = min(first + CHUNK, stop)
        m = filter_sparse(
            data, indices, indptr, centers, geometry.squares, frame.scale,
            labels, upper, lower, geometry.near, ids, first, last,
        )  # fmt: skip
        search_sparse(
            data, indices, indptr, centers, previous, frame.scale, geometry,
            ids, m, new, upper, lower,
        )  # fmt: skip
        move_sparse(
            data, indices, indptr, weights, frame.whole, labels, ids, m, new, sums, counts,
            frame.grid, frame.weight_grid,
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
    data, indices, indptr, centers, previous, scale, geometry, ids, m, new, upper, lower
):
    """For CSR rows: ``minus2`` is stored (d, k), so a nonzero touches one row of it."""
    minus2, norms, widest = geometry.minus2, geometry.norms, geometry.widest
    k = centers.shape[0]
    padded = minus2.shape[1]
    scores = np.empty(padded, np.float32)
    for r in range(m):
        i = ids[r]
        p, q = indptr[i], indptr[i + 1]
        square = 0.0
        for j in range(padded):
            scores[j] = norms[j]
        t = p
        while t + 4 <= q:  # four at a time: the scores are loaded and stored once for all
            v0, v1 = np.float32(data[t] * scale), np.float32(data[t + 1] * scale)
            v2, v3 = np.float32(data[t + 2] * scale), np.float32(data[t + 3] * scale)
            r0, r1 = minus2[np.uint32(indices[t])], minus2[np.uint32(indices[t + 1])]
            r2, r3 = minus2[np.uint32(indices[t + 2])], minus2[np.uint32(indices[t + 3])]
            square += np.float64(v0 * v0 + v1 * v1) + np.float64(v2 * v2 + v3 * v3)
            for j in range(padded):
                scores[j] += (v0 * r0[j] + v1 * r1[j]) + (v2 * r2[j] + v3 * r3[j])
            t += 4
        while t < q:
            v = np.float32(data[t] * scale)
            square += np.float64(v * v)
            row = minus2[indices[t]]
            for j in range(padded):
                scores[j] += v * row[j]
            t += 1
        near, rest, a = FAR, FAR, 0
        for j in range(k):
            v = scores[j]
            if v < near:
                rest, near, a = near, v, j
            elif v < rest:
                rest = v
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
def square_sparse(data, indptr, weights):
    """Weighted sum of |x|^2."""
    total = 0.0
    for i in range(indptr.shape[0] - 1):
        w = weights[i] if weights.shape[0] else 1.0
        row = 0.0
        for t in range(indptr[i], indptr[i + 1]):
            v = np.float64(data[t])
            row += v * v
        total += w * row
    return total


@kernel
def own_sparse(data, indices, indptr, centers, squares, labels):
    """``own_dense`` for CSR rows."""
    out = np.empty(labels.shape[0])
    for i in range(labels.shape[0]):
        a, p, q = labels[i], indptr[i], indptr[i + 1]
        out[i] = sparse_squared(data[p:q], indices[p:q], centers[a], squares[a])
    return out
