"""Tables whose rows are scaled as their blocks load: by column, or to length one."""

from typing import Any, NamedTuple

import numpy as np

from tacit.data.table import Batch, Table, parts
from tacit.kernels.unit_rows import unit_rows

__all__ = ["ScaledRows", "scale_table", "UnitRows", "unit_table"]


class ScaledRows(NamedTuple):
    """A stretch of rows of another block, as (row - shift) / scale."""

    rows: Any
    shift: np.ndarray
    scale: np.ndarray

    @property
    def start(self) -> int:
        return self.rows.start

    @property
    def stop(self) -> int:
        return self.rows.stop

    def load(self) -> np.ndarray:
        return (np.asarray(self.rows.load(), np.float64) - self.shift) / self.scale


def scale_table(table: Table, shift: np.ndarray, scale: np.ndarray) -> Table:
    """The table with every column shifted and scaled. Nothing is loaded yet.

    Examples
    --------
    >>> import numpy as np
    >>> table = Table.from_array(np.array([[1.0, 10.0], [3.0, 30.0]]))
    >>> [block.load() for block in scale_table(table, np.array([2, 20]), np.array([1, 10]))]
    [array([[-1., -1.], [ 1.,  1.]])]
    """
    blocks = tuple(ScaledRows(block, shift, scale) for block in table)
    return Table(blocks, table.shape, np.dtype(np.float64), table.source, table.in_memory)


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
