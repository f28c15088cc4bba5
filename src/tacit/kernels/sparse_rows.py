"""Rows of a CSR matrix against weights: one vector of them, or a table.

Left to itself, LLVM fetches the weights of a row from a vector with gather instructions, which
many processors do more slowly than single loads; and a sum that must wait for itself is slow
too. Four sums side by side are two to three times as fast as either.
"""

import numpy as np

from tacit.core.kernel import kernel

__all__ = [
    "add_row",
    "add_scores",
    "dot_row",
    "row_squares",
    "scale_down",
    "square_sum",
]

U = np.uint64


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
def scale_down(data, unit, out):
    """All entries over a unit, in the precision of ``out``."""
    for t in range(data.size):
        out[t] = data[t] / unit


@kernel(fastmath={"reassoc"})  # sums in any order
def square_sum(values):
    """The squares of all values of a vector added up, in float64."""
    total = 0.0
    for j in range(values.size):
        total += np.float64(values[j]) * np.float64(values[j])
    return total


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
