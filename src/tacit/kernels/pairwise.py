"""Distances between two sets of rows by name, and between any two lists of objects.

    "euclidean"     straight lines; "sqeuclidean" is their square
    "manhattan"     sum of absolute differences
    "cosine"        1 - cos of the angle; a row of zeros has distance 1 to every other row and
                    0 to another row of zeros
    a function      called with two rows or two objects, gives a number

Small distances are exact: equal rows are 0 apart, however large their values.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from tacit.core.engines import check_stop
from tacit.core.kernel import kernel
from tacit.data.unit_rows import unit_rows
from tacit.kernels.distances import euclidean

__all__ = ["METRICS", "Metric", "between_objects", "between_rows"]

METRICS = ("euclidean", "sqeuclidean", "manhattan", "cosine")
Metric = str | Callable[[Any, Any], float]
COLUMNS = 512  # of a tile of absolute differences: it stays in cache
CALL_WORK = 2**28  # differences in one kernel call: well under 200 ms


def between_rows(rows: Any, others: Any, metric: Metric = "euclidean") -> np.ndarray:
    """(n, m) distances in float64 from every row to every other.

    Examples
    --------
    >>> between_rows(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0], [0.0, 0.0]]))
    array([[5., 0.]])
    >>> between_rows(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]]), "manhattan")
    array([[7.]])
    """
    if callable(metric):
        return between_objects(listed(rows), listed(others), metric)
    if metric == "euclidean":
        return straight(rows, others)
    if metric == "sqeuclidean":
        return straight(rows, others) ** 2
    if metric == "manhattan":
        return absolute(rows, others)
    if metric == "cosine":
        return angular(rows, others)
    raise ValueError(
        f"metric={metric!r} is unknown. Choose from {list(METRICS)}, or give a function of "
        "two rows."
    )


def between_objects(
    objects: Sequence[Any], others: Sequence[Any], metric: Callable[[Any, Any], float]
) -> np.ndarray:
    """(n, m) distances by a function of two objects; half the calls where both lists are one.

    Examples
    --------
    >>> between_objects(["a", "abc"], ["ab"], lambda x, y: abs(len(x) - len(y)))
    array([[1.], [1.]])
    """
    same = objects is others
    out = np.zeros((len(objects), len(others)))
    for i, x in enumerate(objects):
        for j in range(i if same else 0, len(others)):
            out[i, j] = metric(x, others[j])
    fine = np.isfinite(out) & (out >= 0)
    wrong = np.argwhere(~(fine | np.tri(*out.shape, -1, bool)) if same else ~fine)
    if len(wrong):
        i, j = wrong[0]
        raise ValueError(
            f"The metric gave {out[i, j]} for items {i} and {j}; a distance is a finite number "
            "of zero or more. Mend the function."
        )
    if same:
        lower = np.tril_indices(len(objects), -1)
        out[lower] = out.T[lower]
    return out


def listed(rows: Any) -> Sequence[Any]:
    """What a function gets to see of a set of rows: one array per row."""
    return list(rows.toarray()) if sp.issparse(rows) else rows


# --- By name ---


def straight(rows: Any, others: Any) -> np.ndarray:
    if sp.issparse(rows) or sp.issparse(others):
        return np.sqrt(sparse_squares(rows, others))
    others = np.asarray(others, np.float64)
    return euclidean(rows, others, others.mean(axis=0) if len(others) else others.sum(axis=0))


def absolute(rows: Any, others: Any) -> np.ndarray:
    if sp.issparse(rows) or sp.issparse(others):
        a, b = sp.csr_array(rows), sp.csr_array(others)
        a.sort_indices()
        b.sort_indices()
        out = np.empty((a.shape[0], b.shape[0]))
        both = (a.data, a.indices, a.indptr, b.data, b.indices, b.indptr)
        for first, last in spans(a.shape[0], 8 * (b.nnz + b.shape[0])):
            absolute_sparse(*both, out, first, last)
        return out
    rows = np.ascontiguousarray(rows)
    columns = np.ascontiguousarray(np.asarray(others, np.float64).T)
    out = np.zeros((len(rows), len(others)))
    for first, last in spans(len(rows), columns.size):
        absolute_dense(rows[first:last], columns, out[first:last])
    return out


def spans(n: int, work: int) -> Iterator[tuple[int, int]]:
    """Rows for one kernel call at a time, given the work for one of them."""
    size = max(1, CALL_WORK // max(1, work))
    for first in range(0, n, size):
        check_stop()
        yield first, min(first + size, n)


def angular(rows: Any, others: Any) -> np.ndarray:
    """Half the squared distance of the rows at length one: exact where it is small."""
    (unit, zero), (other, other_zero) = (
        unit_rows(sp.csr_array(each, dtype=np.float64))
        if sp.issparse(rows) or sp.issparse(others)
        else unit_rows(np.asarray(each, np.float64))
        for each in (rows, others)
    )
    out = straight(unit, other) ** 2 / 2
    out[zero] = 1.0
    out[:, other_zero] = 1.0
    out[np.ix_(zero, other_zero)] = 0.0
    return out


def sparse_squares(rows: Any, others: Any) -> np.ndarray:
    a, b = (sp.csr_array(each, dtype=np.float64) for each in (rows, others))
    a.sort_indices()
    b.sort_indices()
    sizes, other_sizes = (
        np.asarray(each.multiply(each).sum(axis=1)).ravel() for each in (a, b)
    )
    squares = sizes[:, None] + other_sizes - 2 * (a @ b.T).toarray()
    mend_sparse(
        a.data, a.indices, a.indptr, b.data, b.indices, b.indptr, squares, sizes, other_sizes
    )
    return np.maximum(squares, 0.0)


# --- Kernels ---


@kernel
def absolute_dense(rows, columns, out):
    """Columns outside, so that a vector holds many distances."""
    d, m = columns.shape
    for first in range(0, m, COLUMNS):
        last = min(first + COLUMNS, m)
        for i in range(rows.shape[0]):
            row, target = rows[i], out[i, first:last]
            for t in range(d):
                x, column = np.float64(row[t]), columns[t, first:last]
                for j in range(last - first):
                    target[j] += abs(column[j] - x)


@kernel
def absolute_sparse(
    data, indices, indptr, other_data, other_indices, other_indptr, out, first, last
):
    for i in range(first, last):
        p, q = indptr[i], indptr[i + 1]
        for j in range(out.shape[1]):
            r, s = other_indptr[j], other_indptr[j + 1]
            out[i, j] = walk_both(
                data[p:q], indices[p:q], other_data[r:s], other_indices[r:s], False
            )


@kernel
def mend_sparse(
    data, indices, indptr, other_data, other_indices, other_indptr, squares, sizes, other_sizes
):
    """Recompute the squares that are small beside the ones they are a difference of."""
    for i in range(squares.shape[0]):
        p, q = indptr[i], indptr[i + 1]
        for j in range(squares.shape[1]):
            if squares[i, j] < 1e-6 * (sizes[i] + other_sizes[j]):
                r, s = other_indptr[j], other_indptr[j + 1]
                squares[i, j] = walk_both(
                    data[p:q], indices[p:q], other_data[r:s], other_indices[r:s], True
                )


@kernel
def walk_both(x, columns, y, other_columns, square):
    """Sum of |x - y|, or of its square, over the columns either of them has."""
    total = 0.0
    p, q = 0, 0
    while p < x.shape[0] or q < y.shape[0]:
        if q == y.shape[0] or (p < x.shape[0] and columns[p] < other_columns[q]):
            z = np.float64(x[p])
            p += 1
        elif p == x.shape[0] or other_columns[q] < columns[p]:
            z = np.float64(y[q])
            q += 1
        else:
            z = np.float64(x[p]) - y[q]
            p += 1
            q += 1
        total += z * z if square else abs(z)
    return total
