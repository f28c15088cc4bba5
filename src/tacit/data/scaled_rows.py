"""Rows shifted and scaled column by column, block by block, wherever they are loaded."""

from typing import Any, NamedTuple

import numpy as np

from tacit.data.table import Table

__all__ = ["ScaledRows", "scale_table"]


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
