"""The rows that ``choose_k`` looks at: few enough, dense, and all of them usable."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tacit.core.engines import Engine
from tacit.core.randoms import key, permutation
from tacit.data.table import Table
from tacit.kernels.unit_rows import unit_rows
from tacit.measure.distance_sums import load_rows

__all__ = ["Looked", "check_scale", "look_at"]

WIDE = 100  # dense columns from which on rows are reduced
KEPT = 50  # of them
LARGEST = 1e140  # a value whose square can be added up


class Looked(NamedTuple):
    """Rows in memory, and what was done to get them."""

    rows: np.ndarray  # (n, d) float64
    unit: bool  # of length one
    distinct: int  # rows that differ
    notes: tuple[str, ...]


def look_at(
    X: Any,
    *,
    max_rows: int,
    n_components: int,
    unit: bool | None,
    seed: np.uint64,
    engine: Engine,
    name: str = "choose_k",
) -> Looked:
    """Sample, reduce and check. ``unit=None`` brings sparse rows to length one, no others."""
    notes = []
    if not sp.issparse(X):
        X = X if isinstance(X, Table) or type(X).__module__.startswith("dask.") else plain(X)
    table = Table.of(X)
    n = len(table)
    if n > max_rows:
        chosen = np.sort(permutation(key(seed, 10), n)[:max_rows])
        notes.append(f"Looked at {max_rows:,} of {n:,} rows, drawn at random.")
        X = table.take(chosen)
    rows = load_rows(X, "euclidean", name=name)
    check_scale(rows, name)
    unit = bool(sp.issparse(rows)) if unit is None else unit
    if unit:
        rows, left_out = with_direction(rows, name)
        if left_out:
            notes.append(f"Left out {left_out:,} rows that are all zero: no direction.")
    if sp.issparse(rows) or rows.shape[1] > WIDE:
        columns = n_components if sp.issparse(rows) else max(n_components, KEPT)
        rows, note = reduced(rows, columns, unit, seed, engine)
        notes.append(note)
    rows = np.ascontiguousarray(rows, np.float64)
    if unit:
        rows, _ = unit_rows(rows)
    distinct = len(np.unique(rows, axis=0))
    return Looked(rows, unit, distinct, tuple(notes))


def check_scale(rows: Any, name: str) -> None:
    """ValueError where squares would overflow, or all vanish."""
    values = rows.data if sp.issparse(rows) else rows
    if not values.size:
        return
    largest = max(abs(float(values.max())), abs(float(values.min())))
    if largest > LARGEST or 0 < largest < 1 / LARGEST:
        raise ValueError(
            f"{name}: the largest value of X is {largest:.3g} in size; its square cannot be "
            "told from infinity or zero. Rescale the columns first."
        )


def plain(X: Any) -> np.ndarray:
    rows = np.asarray(X)
    if rows.ndim != 2:
        raise ValueError(
            f"choose_k needs rows and columns, but X has {rows.ndim} dimension(s). Reshape it."
        )
    return rows if rows.dtype.kind in "fiub" else np.asarray(rows, np.float64)


def with_direction(rows: Any, name: str) -> tuple[Any, int]:
    """The rows that are not all zero, and how many are."""
    if sp.issparse(rows):
        some = np.asarray(abs(rows).sum(axis=1)).ravel() > 0
    else:
        some = rows.any(axis=1)
    if not some.any():
        raise ValueError(
            f"{name} compares directions, but all rows are zero. Give some that are not."
        )
    return (rows if some.all() else rows[some]), int((~some).sum())


def reduced(
    rows: Any, n_components: int, unit: bool, seed: np.uint64, engine: Engine
) -> tuple[np.ndarray, str]:
    """The rows along their first directions, and a note that says so."""
    from tacit.decompose.truncated_svd import TruncatedSVD

    size = max(1, min(n_components, *rows.shape))
    sparse = sp.issparse(rows)
    rows = sp.csr_array(rows, dtype=np.float64) if sparse else np.asarray(rows, np.float64)
    if unit:
        rows, _ = unit_rows(rows)
    if not sparse:
        rows = rows - rows.mean(axis=0)
    svd = TruncatedSVD(size, random_state=int(key(seed, 11)) % 2**31, engine=engine)
    turned = svd.fit(rows).transform(rows)
    how = "and compared by cosine" if unit else "and compared by Euclidean distance"
    what = f"{'Sparse rows' if sparse else 'Rows'} of {rows.shape[1]:,} columns"
    return turned, f"{what} were reduced to {size} by truncated SVD, {how}."
