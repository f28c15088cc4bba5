"""Least squares for one row of ratings at a time: the inner loops of alternating least squares.

    explicit   (sum_j y_j y_j' + reg I) x = sum_j y_j (r_j - o_j)       over the rated j
    implicit   (Y'Y + sum_j (c_j - 1) y_j y_j' + reg I) x = sum_j c_j y_j

y_j are the factors of the other side, o_j what is subtracted from the rating (mean, bias), c_j
the confidence. Rows are gathered a chunk at a time and multiplied by BLAS; the system is solved
by Cholesky in float32, or by a few steps of conjugate gradients that never form it.

Sums may be reassociated so that inner products use SIMD: 3 times in
``benchmarks/recommend/als.py``.
"""

import math
from typing import Any

import numpy as np

from tacit.core.kernel import REASSOCIATE, kernel

__all__ = [
    "conjugate_rows", "implicit_loss_rows", "solve_implicit_rows", "solve_rows",
    "squared_errors",
]  # fmt: skip

CHUNK = 512  # ratings gathered at a time


@kernel(fastmath=REASSOCIATE)
def add_gram(W: Any, m: int, A: Any, spare: Any) -> None:
    """Add W'W of the first m rows to A."""
    k = W.shape[1]
    if m >= 4:
        np.dot(W[:m].T, W[:m], spare)
        for s in range(k):
            a, b = A[s], spare[s]
            for t in range(k):
                a[t] += b[t]
        return
    for q in range(m):
        w = W[q]
        for s in range(k):
            z, a = w[s], A[s]
            for t in range(k):
                a[t] += z * w[t]


@kernel(fastmath=REASSOCIATE)
def solve_cholesky(A: Any, b: Any) -> None:
    """Solve A x = b in place; A is overwritten. A direction without curvature gets 0."""
    k = len(b)
    for j in range(k):
        a = A[j]
        s = a[j]
        least = np.float32(1e-6) * s
        for t in range(j):
            s -= a[t] * a[t]
        if s > least:
            s = math.sqrt(s)
            inverse = np.float32(1) / s
        else:
            s, inverse = np.float32(np.inf), np.float32(0)
        a[j] = s
        for i in range(j + 1, k):
            r = A[i]
            z = r[j]
            for t in range(j):
                z -= r[t] * a[t]
            r[j] = z * inverse
    for i in range(k):
        r = A[i]
        z = b[i]
        for t in range(i):
            z -= r[t] * b[t]
        b[i] = z / r[i]
    for i in range(k - 1, -1, -1):
        r = A[i]
        z = b[i] / r[i]
        b[i] = z
        for t in range(i):
            b[t] -= r[t] * z


@kernel(fastmath=REASSOCIATE)
def descend_nonnegative(A: Any, b: Any, x: Any, free: int) -> None:
    """Minimize x'Ax/2 - b'x by coordinate descent; only coordinate ``free`` may be negative."""
    k = len(x)
    for _ in range(40):
        moved, largest = np.float32(0), np.float32(0)
        for j in range(k):
            a = A[j]
            if not a[j] > 0:
                continue
            g = b[j]
            for t in range(k):
                g -= a[t] * x[t]
            new = x[j] + g / a[j]
            if new < 0 and j != free:
                new = np.float32(0)
            moved = max(moved, abs(new - x[j]))
            largest = max(largest, abs(new))
            x[j] = new
        if moved <= np.float32(1e-5) * largest:
            break


@kernel(fastmath=REASSOCIATE)
def solve_rows(
    rows: Any, Y: Any, offsets: Any, reg: Any, weighted: bool, biased: bool,
    nonnegative: bool, X: Any, bias: Any,
) -> None:  # fmt: skip
    """Solve explicit rows into X and bias, which hold the start where it matters."""
    indptr, indices, values = rows
    k = Y.shape[1]
    width = k + 1 if biased else k
    # The bias is a column of ones. Its products are sums; the product of the factors alone has
    # a size that suits BLAS.
    A, G = np.empty((width, width), np.float32), np.empty((k, k), np.float32)
    spare, total = np.empty((k, k), np.float32), np.empty(k, np.float32)
    b, x = np.empty(width, np.float32), np.empty(width, np.float32)
    W = np.empty((CHUNK, k), np.float32)
    for i in range(len(indptr) - 1):
        start, stop = indptr[i], indptr[i + 1]
        if start == stop:
            X[i] = 0
            bias[i] = 0
            continue
        G[:] = 0
        b[:] = 0
        total[:] = 0
        for first in range(start, stop, CHUNK):
            m = min(CHUNK, stop - first)
            for q in range(m):
                j = indices[first + q]
                y, w, r = Y[j], W[q], values[first + q] - offsets[j]
                for t in range(k):
                    w[t] = y[t]
                    b[t] += r * y[t]
                    total[t] += y[t]
                if biased:
                    b[k] += r
            add_gram(W, m, G, spare)
        for s in range(k):
            for t in range(k):
                A[s, t] = G[s, t]
        if biased:
            A[k, :k] = total
            A[:k, k] = total
            A[k, k] = np.float32(stop - start)
        penalty = reg * np.float32(stop - start) if weighted else reg
        for t in range(width):
            A[t, t] += penalty
        if nonnegative:
            for t in range(k):
                x[t] = X[i, t]
            if biased:
                x[k] = bias[i]
            descend_nonnegative(A, b, x, k)
            b[:] = x
        else:
            solve_cholesky(A, b)
        for t in range(k):
            X[i, t] = b[t]
        bias[i] = b[k] if biased else np.float32(0)


@kernel(fastmath=REASSOCIATE)
def solve_implicit_rows(
    indptr: Any, indices: Any, confidences: Any, Y: Any, G: Any, X: Any
) -> None:
    """Solve implicit rows exactly into X. G is Y'Y + reg I."""
    k = Y.shape[1]
    A, spare = np.empty((k, k), np.float32), np.empty((k, k), np.float32)
    b = np.empty(k, np.float32)
    W = np.empty((CHUNK, k), np.float32)
    for i in range(len(indptr) - 1):
        start, stop = indptr[i], indptr[i + 1]
        if start == stop:
            X[i] = 0
            continue
        A[:] = G
        b[:] = 0
        for first in range(start, stop, CHUNK):
            m = min(CHUNK, stop - first)
            for q in range(m):
                y, w, c = Y[indices[first + q]], W[q], confidences[first + q]
                root = math.sqrt(c - np.float32(1))
                for t in range(k):
                    w[t] = root * y[t]
                    b[t] += c * y[t]
            add_gram(W, m, A, spare)
        solve_cholesky(A, b)
        X[i] = b


@kernel(fastmath=REASSOCIATE)
def conjugate_rows(
    indptr: Any, indices: Any, confidences: Any, Y: Any, G: Any, X: Any, steps: int
) -> None:
    """Improve implicit rows X by a few steps of conjugate gradients. G is Y'Y + reg I."""
    k = Y.shape[1]
    longest = 1
    for i in range(len(indptr) - 1):
        longest = max(longest, indptr[i + 1] - indptr[i])
    W = np.empty((longest, k), np.float32)
    r, p, Ap = np.empty(k, np.float32), np.empty(k, np.float32), np.empty(k, np.float32)
    for i in range(len(indptr) - 1):
        start, m = indptr[i], indptr[i + 1] - indptr[i]
        x = X[i]
        if m == 0:
            x[:] = 0
            continue
        r[:] = 0
        for t in range(k):
            z, g = x[t], G[t]
            for v in range(k):
                r[v] -= z * g[v]
        for q in range(m):
            y, w, c = Y[indices[start + q]], W[q], confidences[start + q]
            d = np.float32(0)
            for t in range(k):
                d += y[t] * x[t]
            z = c - (c - np.float32(1)) * d
            for t in range(k):
                w[t] = y[t]
                r[t] += z * y[t]
        square = np.float32(0)
        for t in range(k):
            square += r[t] * r[t]
        for t in range(k):
            p[t] = r[t]
        if square < np.float32(1e-20):
            continue
        for _ in range(steps):
            Ap[:] = 0
            for t in range(k):
                z, g = p[t], G[t]
                for v in range(k):
                    Ap[v] += z * g[v]
            for q in range(m):
                w, c = W[q], confidences[start + q] - np.float32(1)
                d = np.float32(0)
                for t in range(k):
                    d += w[t] * p[t]
                z = c * d
                for t in range(k):
                    Ap[t] += z * w[t]
            curvature = np.float32(0)
            for t in range(k):
                curvature += p[t] * Ap[t]
            length, before = square / curvature, square
            square = np.float32(0)
            for t in range(k):
                x[t] += length * p[t]
                r[t] -= length * Ap[t]
            for t in range(k):
                square += r[t] * r[t]
            if square < np.float32(1e-20):
                break
            for t in range(k):
                p[t] = r[t] + (square / before) * p[t]


@kernel(fastmath=REASSOCIATE)
def squared_errors(
    indptr: Any, indices: Any, values: Any, X: Any, bias: Any, Y: Any, offsets: Any
) -> float:
    """The sum of (r_ij - o_j - b_i - x_i y_j)^2 over the stored entries."""
    k, total = Y.shape[1], 0.0
    for i in range(len(indptr) - 1):
        x, row_bias, row = X[i], bias[i], 0.0
        for q in range(indptr[i], indptr[i + 1]):
            j = indices[q]
            y = Y[j]
            d = np.float32(0)
            for t in range(k):
                d += x[t] * y[t]
            error = np.float64(values[q] - offsets[j] - row_bias - d)
            row += error * error
        total += row
    return total


@kernel(fastmath=REASSOCIATE)
def implicit_loss_rows(indptr: Any, indices: Any, confidences: Any, X: Any, Y: Any) -> float:
    """The sum of c (1 - d)^2 - d^2 over the stored entries, d = x_i y_j: their loss, less that
    of pairs without a rating."""
    k, total = Y.shape[1], 0.0
    for i in range(len(indptr) - 1):
        x, row = X[i], 0.0
        for q in range(indptr[i], indptr[i + 1]):
            y = Y[indices[q]]
            d = np.float32(0)
            for t in range(k):
                d += x[t] * y[t]
            s = np.float64(d)
            row += confidences[q] * (1.0 - s) * (1.0 - s) - s * s
        total += row
    return total
