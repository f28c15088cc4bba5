"""Rows, checked: whatever a caller gives as X becomes a Table that the contract allows.

Arrays are checked as scikit-learn does; files are checked as they are read. Values that are
not finite are met in the first pass, where their row and column are known.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tacit.core.contract import CONTRACTS
from tacit.core.estimator import check_rows, check_weights
from tacit.core.memory import gigabytes
from tacit.data.table import Table, is_sparse

__all__ = ["FLOATS", "NUMBERS", "check_in_memory", "check_table", "is_table"]

FLOATS = (np.float64, np.float32)
NUMBERS = (*FLOATS, np.int64, np.int32)  # for models that convert block by block


def is_table(X: Any) -> bool:
    """Whether X is a Table or a Dask array, whose rows are not checked at once."""
    return isinstance(X, Table) or type(X).__module__.startswith("dask.")


def check_table(
    estimator: Any,
    X: Any,
    sample_weight: Any = None,
    *,
    reset: bool,
    dtypes: Sequence[type] = FLOATS,
    sparse: bool = True,
    finite: bool = False,
    distinct: bool = True,
    block_rows: Any = None,
    alternative: str = "",
) -> Table:
    """X as a Table of the columns that the estimator knows, with weights if there are any.

    What has none of the ``dtypes`` is converted to the first; for ``sparse``, ``finite`` and
    ``distinct`` see ``check_rows``. ``block_rows`` is a function from rows in memory to the
    rows of a block. A fit (``reset``) whose contract needs all rows at once refuses rows on
    disk, and names the ``alternative``.
    """
    name = type(estimator).__name__
    if is_table(X):
        table = Table.of(X)
        if not sparse and is_sparse(table):
            raise TypeError(f"{name} takes dense rows, but the table is sparse. Densify it.")
        if reset and not CONTRACTS[estimator.contract].streams:
            check_in_memory(table, name, alternative)
    else:
        X = check_rows(
            estimator, X, reset=reset, dtypes=dtypes, sparse=sparse, finite=finite,
            distinct=distinct,
        )  # fmt: skip
        table = Table.of(X, None if block_rows is None else block_rows(X))
    if reset:
        estimator.n_features_in_ = table.shape[1]
    elif table.shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"{name} was fitted on {estimator.n_features_in_} columns, but X has "
            f"{table.shape[1]}. Give it the same columns."
        )
    weights = check_weights(sample_weight, X if hasattr(X, "shape") else None)
    return table if weights is None else table.with_weights(weights)


def check_in_memory(table: Table, name: str, alternative: str = "") -> Table:
    """ValueError for rows that are read block by block, where all are needed at once."""
    if not table.in_memory:
        n, d = table.shape
        raise ValueError(
            f"{name} needs all {n:,} rows in memory, because {CONTRACTS['whole'].why}; these "
            f"take {gigabytes(n * d * table.dtype.itemsize)}. "
            f"{alternative or 'Load them into an array first.'}"
        )
    return table
