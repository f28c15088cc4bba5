"""Tables whose rows are scaled as their blocks load: by column, or to length one."""

from typing import Any

import numpy as np

from tacit.data.table import Batch, Table, parts
from tacit.kernels.unit_rows import unit_rows

__all__ = ["scale_table", "unit_table"]


def scale_table(table: Table, shift: np.ndarray, scale: np.ndarray) -> Table:
    """The table with every column shifted and scaled: (row - shift) / scale.

    >>> table = Table.from_array(np.array([[1.0, 10.0], [3.0, 30.0]]))
    >>> scale_table(table, np.array([2, 20]), np.array([1, 10])).load()
    array([[-1., -1.], [ 1.,  1.]])
    """
    return table.mapped(scaled_block, shift, scale, dtype=np.float64)


def scaled_block(rows: Any, shift: np.ndarray, scale: np.ndarray) -> np.ndarray:
    return (np.asarray(rows, np.float64) - shift) / scale


def unit_table(table: Table, *, keep_zero: bool = False) -> Table:
    """The table with rows of length one; rows of zeros get weight zero unless ``keep_zero``.

    >>> table = unit_table(Table.from_array(np.array([[3.0, 4.0], [0.0, 0.0]])))
    >>> [block.load() for block in table]
    [Batch(rows=array([[0.6, 0.8], [0. , 0. ]]), labels=None, weights=array([1., 0.]))]
    """
    return table.mapped(unit_block, keep_zero)


def unit_block(block: Any, keep_zero: bool) -> Batch:
    rows, labels, weights = parts(block)
    unit, zero = unit_rows(rows)
    if not keep_zero:
        weights = np.where(zero, 0.0, 1.0 if weights is None else weights)
    return Batch(unit, labels, weights)
