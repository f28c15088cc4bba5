"""Distances between rows, in an order of additions that is part of the definition.

Where two methods must agree on which of two centers is nearer, both ask these functions:
float64, eight running sums, added in one fixed order, whatever the processor.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from tacit.core.kernel import kernel

__all__ = ["euclidean", "sparse_squared", "squared_distance"]


@kernel
def squared_distance(x, y):
    """|x - y|^2 in float64, also for float32 rows."""
    d = x.shape[0]
    whole = d - d % 8
    a0 = a1 = a2 = a3 = a4 = a5 = a6 = a7 = 0.0
    for j in range(0, whole, 8):
        z0 = np.float64(x[j]) - y[j]
        z1 = np.float64(x[j + 1]) - y[j + 1]
        z2 = np.float64(x[j + 2]) - y[j + 2]
        z3 = np.float64(x[j + 3]) - y[j + 3]
        z4 = np.float64(x[j + 4]) - y[j + 4]
        z5 = np.float64(x[j + 5]) - y[j + 5]
        z6 = np.float64(x[j + 6]) - y[j + 6]
        z7 = np.float64(x[j + 7]) - y[j + 7]
        a0 += z0 * z0
        a1 += z1 * z1
        a2 += z2 * z2
        a3 += z3 * z3
        a4 += z4 * z4
        a5 += z5 * z5
        a6 += z6 * z6
        a7 += z7 * z7
    rest = 0.0
    for j in range(whole, d):
        z = np.float64(x[j]) - y[j]
        rest += z * z
    return ((a0 + a4) + (a2 + a6)) + ((a1 + a5) + (a3 + a7)) + rest


@kernel
def sparse_squared(values, columns, y, y_square):
    """|x - y|^2 for a sparse x and a dense y whose square is known: O(nonzeros)."""
    total = y_square
    for q in range(values.shape[0]):
        v = np.float64(values[q])
        total += v * (v - 2.0 * y[columns[q]])
    return max(total, 0.0)


@kernel
def mend_small(rows, others, squares, sizes, other_sizes):
    """Recompute the squares that are small beside the ones they are a difference of."""
    for i in range(rows.shape[0]):
        for j in range(others.shape[0]):
            if squares[i, j] < 1e-6 * (sizes[i] + other_sizes[j]):
                squares[i, j] = squared_distance(rows[i], others[j])


def euclidean(rows: Any, others: np.ndarray, origin: np.ndarray) -> np.ndarray:
    """(n, m) distances in float64: one matrix product about ``origin``, and the small ones,
    where that would lose digits, one by one.

    >>> euclidean(np.array([[1e8, 0.0]]), np.array([[1e8, 3.0], [1e8, 0.0]]), np.zeros(2))
    array([[3., 0.]])
    """
    if sp.issparse(rows):
        sizes = np.asarray(rows.multiply(rows).sum(axis=1), np.float64).ravel()
        other_sizes = (others**2).sum(axis=1)
        squares = sizes[:, None] + other_sizes - 2 * np.asarray(rows @ others.T)
        return np.sqrt(np.maximum(squares, 0.0))
    shifted, other = rows - origin, others - origin
    sizes, other_sizes = (shifted**2).sum(axis=1), (other**2).sum(axis=1)
    squares = sizes[:, None] + other_sizes - 2 * shifted @ other.T
    mend_small(rows, others, squares, sizes, other_sizes)
    return np.sqrt(np.maximum(squares, 0.0))
