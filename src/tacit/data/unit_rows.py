"""Rows divided by their length, so that only their direction counts.

Any finite row will do: it is brought to size one by a power of two before it is squared, so
nothing overflows or vanishes. A row of zeros has no direction and stays as it is; a row that
holds NaN or infinity stays too, for whoever checks values to find it.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tacit.core.kernel import kernel
from tacit.data.table import Batch, Table, parts

__all__ = ["UnitRows", "unit_rows", "unit_table"]


class UnitRows(NamedTuple):
    """A block whose rows load with length one."""

    block: Any
    keep_zero: bool  # rows of zeros keep their weight; otherwise they load with none

    @property
    def start(self) -> int:
        return self.block.start

    @property
    def stop(self) -> int:
        return self.block.stop

    def load(self) -> Batch:
        rows, labels, weights = parts(self.block.load())
        unit, zero = unit_rows(rows)
        if self.keep_zero:
            return Batch(unit, labels, weights)
        return Batch(unit, labels, np.where(zero, 0.0, 1.0 if weights is None else weights))


def unit_table(table: Table, *, keep_zero: bool = False) -> Table:
    """The table with every row at length one, and rows of zeros at weight zero unless they
    are to be kept. Nothing is loaded yet.

    Examples
    --------
    >>> table = unit_table(Table.from_array(np.array([[3.0, 4.0], [0.0, 0.0]])))
    >>> [block.load() for block in table]
    [Batch(rows=array([[0.6, 0.8], [0. , 0. ]]), labels=None, weights=array([1., 0.]))]
    """
    blocks = tuple(UnitRows(block, keep_zero) for block in table)
    return Table(blocks, table.shape, table.dtype, table.source, table.in_memory)


def unit_rows(rows: Any) -> tuple[Any, np.ndarray]:
    """The rows at length one, in their dtype, and which of them are all zero.

    Examples
    --------
    >>> unit_rows(np.array([[3e200, 4e200], [0.0, 0.0]]))
    (array([[0.6, 0.8], [0. , 0. ]]), array([False,  True]))
    """
    zero = np.empty(rows.shape[0], np.bool_)
    if sp.issparse(rows):
        data = np.empty_like(rows.data)
        shorten_sparse(rows.data, rows.indptr, data, zero)
        unit = sp.csr_array((data, rows.indices, rows.indptr), shape=rows.shape, copy=False)
        return unit, zero
    out = np.empty(rows.shape, rows.dtype)
    shorten_dense(rows, out, zero)
    return out, zero


# --- Kernels ---


@kernel
def shorten(x, out):
    """x at length one into out; True if x is zero."""
    largest = 0.0
    strange = False
    for j in range(x.shape[0]):
        size = abs(np.float64(x[j]))
        largest = size if size > largest else largest
        strange |= not size < np.inf
    if strange or largest == 0.0:
        out[:] = x
        return not strange
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
def shorten_dense(rows, out, zero):
    for i in range(rows.shape[0]):
        zero[i] = shorten(rows[i], out[i])


@kernel
def shorten_sparse(data, indptr, out, zero):
    for i in range(indptr.shape[0] - 1):
        p, q = indptr[i], indptr[i + 1]
        zero[i] = shorten(data[p:q], out[p:q])
