"""Rows, checked: whatever a caller gives as X becomes a Table that the contract allows.

Arrays are checked as scikit-learn does; files are checked as they are read. Values that are
not finite are met in the first pass, where their row and column are known.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import validate_data

from tacit.core.estimator import CONTRACTS, check_weights
from tacit.core.kernel import kernel
from tacit.core.memory import gigabytes
from tacit.data.bad_values import check_values
from tacit.data.sparse_structure import check_structure
from tacit.data.table import Table, is_sparse, parts

__all__ = [
    "FLOATS", "NUMBERS", "check_answer", "check_count_table", "check_enough",
    "check_in_memory", "check_results", "check_rows", "check_table", "is_table",
]  # fmt: skip

FLOATS = (np.float64, np.float32)
LARGEST_COUNT = 2**53  # up to which float64 holds every whole number
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
        table = Table.from_checked(X, None if block_rows is None else block_rows(X))
    if reset:
        estimator.n_features_in_ = table.shape[1]
    elif table.shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"{name} was fitted on {estimator.n_features_in_} columns, but X has "
            f"{table.shape[1]}. Give it the same columns."
        )
    weights = check_weights(sample_weight, X if hasattr(X, "shape") else None)
    return table if weights is None else table.with_weights(weights)


def check_count_table(
    estimator: Any, X: Any, sample_weight: Any = None, *, reset: bool
) -> Table:
    """``check_table`` for counts: every value finite and at least 0."""
    table = check_table(estimator, X, sample_weight, reset=reset, dtypes=NUMBERS)
    name = type(estimator).__name__
    for block in table:
        rows = parts(block.load()).rows
        values = rows.data if sp.issparse(rows) else rows
        with np.errstate(over="ignore"):
            total = values.sum(dtype=np.float64)
        if not np.isfinite(total):
            check_values(rows, name, block.start, table.source)
        if values.size and values.max() > LARGEST_COUNT:
            raise ValueError(
                f"{name} takes counts, but X holds {values.max():.3g}, past 2**53. Give "
                "counts, or rescale the rows."
            )
        if values.size and values.min() < 0:
            raise ValueError(
                f"Negative values in data passed to {name}, which takes counts. Give values of "
                "at least 0."
            )
    return table


def check_rows(
    estimator: Any,
    X: Any,
    *,
    reset: bool,
    dtypes: Sequence[type] = FLOATS,
    sparse: bool = True,
    finite: bool = False,
    distinct: bool = True,
) -> Any:
    """X as a C-ordered float array or, with ``sparse``, a CSR matrix.

    Values are not checked unless ``finite``: most models do that in their first pass. The
    structure of a sparse matrix always is: kernels and SciPy follow its indices blindly. With
    ``distinct`` duplicate entries of one cell are added up; models that only ever sum entries
    can skip that.
    """
    name = type(estimator).__name__
    refuse_other_kinds(X, name)
    if sp.issparse(X) and X.ndim == 2:
        check_structure(X, name)
    try:
        X = validate_data(
            estimator,
            X,
            dtype=list(dtypes),
            order="C",
            accept_sparse="csr" if sparse else False,
            ensure_all_finite=False,
            reset=reset,
        )
    except OverflowError:
        raise ValueError(
            f"{name}: X holds a whole number too large for a float, past 1e308. Rescale the "
            "column first."
        ) from None
    if finite:
        check_values(X, name)
    if sp.issparse(X):
        X = with_one_index(X)
        if distinct and repeats_cells(X):  # two entries for one cell would be two values
            X = X.copy()
            X.sum_duplicates()
    return X


def with_one_index(X: Any) -> Any:
    """A CSR matrix with int32 indices where they fit: kernels are compiled for one type."""
    index = np.int32 if max(*X.shape, X.nnz) < 2**31 else np.int64
    if X.indices.dtype == X.indptr.dtype == index:
        return X
    out = type(X)(X.shape, dtype=X.dtype)
    out.data, out.indices, out.indptr = X.data, X.indices.astype(index), X.indptr.astype(index)
    return out


def repeats_cells(X: Any) -> bool:
    """Whether a CSR matrix holds several entries for one cell. They need not be sorted."""
    if X.has_sorted_indices:
        return not X.has_canonical_format
    return bool(has_repeats(X.indices, X.indptr, X.shape[1]))


@kernel
def has_repeats(indices: Any, indptr: Any, width: int) -> bool:
    latest = np.full(width, -1, np.int64)
    for i in range(indptr.shape[0] - 1):
        for t in range(indptr[i], indptr[i + 1]):
            if latest[indices[t]] == i:
                return True
            latest[indices[t]] = i
    return False


def refuse_other_kinds(X: Any, name: str) -> None:
    """ValueError for dates and durations, which NumPy would turn into large numbers."""
    dtypes = getattr(X, "dtypes", None)  # of a dataframe, one for each column
    for dtype in [getattr(X, "dtype", None)] if dtypes is None else list(dtypes):
        if getattr(dtype, "kind", "") in ("m", "M"):
            raise ValueError(
                f"{name}: X holds {dtype}, dates or durations, not numbers. Turn them into "
                "numbers first, for example days since the first date."
            )


def check_results(estimator: Any) -> None:
    """ValueError where values of X were so large that a fitted attribute overflowed."""
    undefined = getattr(type(estimator), "_file_nonfinite", ())
    for name, value in vars(estimator).items():
        if not name.endswith("_") or name in undefined or value is None:
            continue
        if isinstance(value, float | np.floating | np.ndarray | list):
            array = np.asarray(value)
            if array.dtype.kind == "f":
                check_answer(estimator, name, array)


def check_answer(estimator: Any, name: str, values: np.ndarray) -> np.ndarray:
    """The values of an attribute or of an answer, where none of them overflowed."""
    if not np.isfinite(values).all():
        raise ValueError(
            f"{type(estimator).__name__}: {name} overflows, because the values of X are too "
            "large. Rescale the columns, or give float64 instead of float32."
        )
    return values


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


def check_enough(
    estimator: Any, n: int, parameter: str = "n_clusters", items: str = "rows"
) -> None:
    """ValueError for fewer rows than the clusters or components that are asked for."""
    k = getattr(estimator, parameter)
    if k is not None and n < k:
        raise ValueError(
            f"{type(estimator).__name__}({parameter}={k}) needs at least as many {items}, but "
            f"the data has n_samples={n}. Lower {parameter}."
        )
