"""Rows scaled to Euclidean length one, so that only their direction counts.

A row is first scaled by a power of two to values near one, so its sum of squares neither
overflows nor underflows. A row of zeros has no direction and stays as it is. A row with NaN or
infinity stays too: the check of the values reports it.
"""

import math
from typing import Any

import numpy as np
import scipy.sparse as sp

from tacit.core.kernel import kernel

__all__ = ["unit_rows"]


def unit_rows(rows: Any) -> tuple[Any, np.ndarray]:
    """The rows at length one, in their dtype, and which of them are all zero.

    >>> unit_rows(np.array([[3e200, 4e200], [0.0, 0.0]]))
    (array([[0.6, 0.8], [0. , 0. ]]), array([False,  True]))
    """
    zero = np.empty(rows.shape[0], np.bool_)
    if sp.issparse(rows):
        data = np.empty_like(rows.data)
        scale_sparse(rows.data, rows.indptr, data, zero)
        unit = sp.csr_array((data, rows.indices, rows.indptr), shape=rows.shape, copy=False)
        return unit, zero
    out = np.empty(rows.shape, rows.dtype)
    scale_dense(rows, out, zero)
    return out, zero


# --- Kernels ---


@kernel
def scale_row(x, out):
    """x at length one into out; True if x is zero."""
    largest = 0.0
    bad = False
    for j in range(x.shape[0]):
        size = abs(np.float64(x[j]))
        largest = size if size > largest else largest
        bad |= not size < np.inf
    if bad or largest == 0.0:
        for j in range(x.shape[0]):
            out[j] = x[j]
        return not bad
    scale = math.ldexp(1.0, min(-math.frexp(largest)[1], 1000))
    square = 0.0
    for j in range(x.shape[0]):
        v = np.float64(x[j]) * scale
        square += v * v
    length = math.sqrt(square)
    for j in range(x.shape[0]):
        out[j] = np.float64(x[j]) * scale / length
    return False


@kernel
def scale_dense(rows, out, zero):
    for i in range(rows.shape[0]):
        zero[i] = scale_row(rows[i], out[i])


@kernel
def scale_sparse(data, indptr, out, zero):
    for i in range(indptr.shape[0] - 1):
        p, q = indptr[i], indptr[i + 1]
        zero[i] = scale_row(data[p:q], out[p:q])
