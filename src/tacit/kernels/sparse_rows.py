"""Rows of a CSR matrix against weights: one vector of them, or a table.

Left to itself, LLVM fetches the weights of a row from a vector with gather instructions, which
many processors do more slowly than single loads; and a sum that must wait for itself is slow
too. Four running sums are two to three times as fast as either.
"""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from tacit.core.kernel import kernel

__all__ = [
    "add_row", "add_row_steps", "add_scores", "best_columns", "chunks", "dot_row",
    "multiply_by_products", "row_squares",
]  # fmt: skip

U = np.uint64
CHUNK = 1 << 19  # values to a kernel call: some milliseconds


def chunks(indptr: np.ndarray, order: np.ndarray) -> Iterator[np.ndarray]:
    """Parts of an order of rows that hold half a million values each, or 8192 rows.

    >>> [len(part) for part in chunks(np.arange(20_001), np.arange(20_000))]
    [8065, 8066, 3869]
    """
    if not len(order) or indptr[-1] + 64 * len(order) <= CHUNK:
        yield order
        return
    spent = np.cumsum(np.diff(indptr)[order] + 64)
    cuts = np.searchsorted(spent, np.arange(CHUNK, spent[-1], CHUNK))
    for start, stop in pairwise([0, *np.unique(cuts[cuts > 0]).tolist(), len(order)]):
        yield order[start:stop]


@kernel
def dot_row(indices, data, first, end, weights):
    """The product of the entries first to end with a vector."""
    a = b = c = d = weights.dtype.type(0)
    t, last = U(first), U(end)
    while t + U(3) < last:
        a += data[t] * weights[np.uint32(indices[t])]
        b += data[t + U(1)] * weights[np.uint32(indices[t + U(1)])]
        c += data[t + U(2)] * weights[np.uint32(indices[t + U(2)])]
        d += data[t + U(3)] * weights[np.uint32(indices[t + U(3)])]
        t += U(4)
    while t < last:
        a += data[t] * weights[np.uint32(indices[t])]
        t += U(1)
    return (a + b) + (c + d)


@kernel
def add_row(indices, data, first, end, weights, step):
    """Add the entries first to end, times a step, to a vector."""
    for t in range(U(first), U(end)):
        weights[np.uint32(indices[t])] += data[t] * step


@kernel
def add_scores(indices, data, first, end, weights, scores):
    """Add the products of the entries first to end with every column of a table."""
    for t in range(U(first), U(end)):
        row, x = weights[np.uint32(indices[t])], data[t]
        for c in range(scores.size):
            scores[c] += x * row[c]


@kernel
def add_row_steps(indices, data, first, end, weights, steps):
    """Add the entries first to end, times one step for every column, to a table."""
    for t in range(U(first), U(end)):
        row, x = weights[np.uint32(indices[t])], data[t]
        for c in range(steps.size):
            row[c] += x * steps[c]


@kernel(fastmath={"reassoc", "contract"})
def row_squares(indptr, data):
    """The squared length of every row."""
    out = np.empty(indptr.size - 1)
    for i in range(out.size):
        total = 0.0
        for t in range(U(indptr[i]), U(indptr[i + 1])):  # signed, it would not be SIMD
            total += data[t] * data[t]
        out[i] = total
    return out


@kernel
def multiply_by_products(indptr, indices, data, vector, across, out):
    """``out`` becomes the matrix of the products between rows, times a vector. ``across`` has
    a place for every column. SciPy's own products hold the GIL."""
    across[:] = 0
    for i in range(out.size):
        add_row(indices, data, indptr[i], indptr[i + 1], across, vector[i])
    for i in range(out.size):
        out[i] = dot_row(indices, data, indptr[i], indptr[i + 1], across)


@kernel
def best_columns(indptr, indices, data, weights, first, last):
    """For each of some rows the column of a table with which its product is largest."""
    out, scores = np.empty(last - first, np.int32), np.empty(weights.shape[1], weights.dtype)
    for i in range(first, last):
        scores[:] = 0
        add_scores(indices, data, indptr[i], indptr[i + 1], weights, scores)
        out[i - first] = scores.argmax()
    return out
