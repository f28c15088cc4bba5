"""Rows in a random order that memory can hold, for models that read them in mini-batches.

A pass reads the rows in groups of ``MIXED`` windows drawn at random, and shuffles each group.
Up to 131,072 rows are one group; of a longer file one group at a time is in memory. The order
follows from the seed and the shape of the data alone: it is the same from memory and
from a file.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from tacit.core.randoms import key, permutation
from tacit.data.table import BatchRows, Table, block_rows_for, is_sparse

__all__ = ["row_groups", "shuffled_chunks", "weights_of"]

MIXED = 8  # windows of rows that are shuffled together


def row_groups(table: Table, drawn: np.uint64) -> Iterator[np.ndarray]:
    """The row numbers of every group of a pass, ascending; ``drawn`` is the key of the draw.

    >>> table = Table.from_array(np.zeros((5, 1)))
    >>> [group.tolist() for group in row_groups(table, np.uint64(0))]
    [[0, 1, 2, 3, 4]]
    """
    n = len(table)
    size = n if is_sparse(table) else block_rows_for(table.shape[1], n)
    starts = np.arange(0, n, size)
    if len(starts) > MIXED:
        starts = starts[permutation(drawn, len(starts))]
    for first in range(0, len(starts), MIXED):
        chosen = np.sort(starts[first : first + MIXED])
        yield np.concatenate([np.arange(i, min(i + size, n)) for i in chosen])


def weights_of(table: Table, places: np.ndarray) -> np.ndarray | None:
    """The weights of rows, or None where all count once."""
    block = table.blocks[0]
    weighted = isinstance(block, BatchRows) and block.weights is not None
    return block.weights.array[places] if weighted else None


def shuffled_chunks(
    table: Table, size: int, seed: Any, number: int, *, used: np.ndarray | None = None
) -> Iterator[Any]:
    """The rows of pass ``number`` in shuffled order, ``size`` at a time; the last are fewer.

    ``used`` is a mask of the rows to read, all of them by default. Sparse rows stay sparse.

    >>> rows = np.arange(5.0).reshape(5, 1)
    >>> chunks = list(shuffled_chunks(Table.from_array(rows), 2, seed=0, number=0))
    >>> [len(chunk) for chunk in chunks], sorted(np.concatenate(chunks)[:, 0].tolist())
    ([2, 2, 1], [0.0, 1.0, 2.0, 3.0, 4.0])
    """
    loaded = table.load() if table.in_memory else None
    waiting: list[Any] = []
    missing = size
    for g, places in enumerate(row_groups(table, key(seed, number))):
        if used is not None:
            places = places[used[places]]
        order = permutation(key(seed, number, g), len(places))
        rows = table.take(places) if loaded is None else loaded
        order = order if loaded is None else places[order]
        first = 0
        while first < len(order):
            taken = order[first : first + missing]
            waiting.append(rows[taken])
            first, missing = first + len(taken), missing - len(taken)
            if not missing:
                yield stacked(waiting)
                waiting, missing = [], size
    if waiting:
        yield stacked(waiting)


def stacked(pieces: list[Any]) -> Any:
    if len(pieces) == 1:
        return pieces[0]
    return sp.vstack(pieces, format="csr") if sp.issparse(pieces[0]) else np.vstack(pieces)
