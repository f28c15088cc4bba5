"""Distances between rows: of two rows, of two sets of rows, of two lists of any objects.

    "euclidean"     square root of the sum of squared differences; "sqeuclidean" is its square
    "manhattan"     sum of absolute differences
    "cosine"        1 - cosine of the angle; a row of zeros has distance 1 to every other row
                    and 0 to another row of zeros
    a function      called with two rows or two objects, returns a number

The order of additions is part of the definition: where two methods must agree on which center
is nearer, both call ``squared_distance``, float64 with eight running sums. Sets of rows are
compared by one matrix product; squares much smaller than their terms, where the product
loses digits, are recomputed one by one. So equal rows are 0 apart, however large their values.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from tacit.core.engines import Engine, Serial, check_stop
from tacit.core.kernel import kernel
from tacit.kernels.unit_rows import unit_rows

__all__ = [
    "METRICS", "Metric", "between_objects", "between_rows", "canonical_csr", "distance_matrix",
    "euclidean", "recompute_small", "sparse_squared", "squared_distance",
]  # fmt: skip

METRICS = ("euclidean", "sqeuclidean", "manhattan", "cosine")
Metric = str | Callable[[Any, Any], float]
STRIPE = 256  # rows of a distance matrix that are computed at once; part of the bits
COLUMNS = 512  # of a tile of absolute differences: it stays in cache
CALL_WORK = 2**28  # differences in one kernel call: well under 200 ms


def between_rows(rows: Any, others: Any, metric: Metric = "euclidean") -> np.ndarray:
    """(n, m) distances in float64 from every row to every other.

    >>> between_rows(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0], [0.0, 0.0]]))
    array([[5., 0.]])
    >>> between_rows(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]]), "manhattan")
    array([[7.]])
    """
    if callable(metric):
        return between_objects(list_rows(rows), list_rows(others), metric)
    if metric == "euclidean":
        return euclidean_rows(rows, others)
    if metric == "sqeuclidean":
        return euclidean_rows(rows, others) ** 2
    if metric == "manhattan":
        return manhattan_rows(rows, others)
    if metric == "cosine":
        return cosine_rows(rows, others)
    raise ValueError(
        f"metric={metric!r} is unknown. Choose from {list(METRICS)}, or give a function of "
        "two rows."
    )


def between_objects(
    objects: Sequence[Any], others: Sequence[Any], metric: Callable[[Any, Any], float]
) -> np.ndarray:
    """(n, m) distances by a function of two objects; half the calls where both lists are one.

    >>> between_objects(["a", "abc"], ["ab"], lambda x, y: abs(len(x) - len(y)))
    array([[1.], [1.]])
    """
    same = objects is others
    out = np.zeros((len(objects), len(others)))
    for i, x in enumerate(objects):
        for j in range(i if same else 0, len(others)):
            out[i, j] = metric(x, others[j])
    valid = np.isfinite(out) & (out >= 0)
    wrong = np.argwhere(~(valid | np.tri(*out.shape, -1, bool)) if same else ~valid)
    if len(wrong):
        i, j = wrong[0]
        raise ValueError(
            f"The metric gave {out[i, j]} for items {i} and {j}; a distance is a finite number "
            "of zero or more. Correct the function."
        )
    if same:
        lower = np.tril_indices(len(objects), -1)
        out[lower] = out.T[lower]
    return out


def distance_matrix(
    rows: Any,
    metric: Metric = "euclidean",
    *,
    engine: Engine | None = None,
    dtype: Any = np.float64,
) -> np.ndarray:
    """(n, n) distances between the rows of one set, symmetric to the bit, 0 on the diagonal.

    ``metric`` may also be a name that SciPy's ``cdist`` knows. Integers that are equally
    far apart get the same bits: the Euclidean metrics then work on integers throughout.

    >>> distance_matrix(np.array([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]]), "sqeuclidean")
    array([[ 0., 25.,  1.],
           [25.,  0., 18.],
           [ 1., 18.,  0.]])
    """
    if callable(metric):
        objects = list_rows(rows)
        return between_objects(objects, objects, metric).astype(dtype, copy=False)
    n = rows.shape[0]
    between = stripe_function(rows, metric)
    out = np.empty((n, n), dtype)

    def fill(first: int) -> None:
        check_stop()
        last = min(first + STRIPE, n)
        out[first:last, first:] = between(first, last)
        check_stop()
        mirror(out, first, last)

    work = n * (rows.nnz if sp.issparse(rows) else rows.size)
    for _ in (engine or Serial()).each(fill, range(0, n, STRIPE), work=work):
        pass
    return out


def stripe_function(rows: Any, metric: str) -> Callable[[int, int], np.ndarray]:
    """Distances from the rows first to last to the rows from first on."""
    if metric == "manhattan":
        return lambda i, j: manhattan_rows(rows[i:j], rows[i:])
    if metric not in ("euclidean", "sqeuclidean", "cosine"):
        from scipy.spatial.distance import cdist

        return lambda i, j: cdist(rows[i:j], rows[i:], metric)
    zero, sparse = np.zeros(rows.shape[0], bool), sp.issparse(rows)
    rows = canonical_csr(rows, np.float64) if sparse else rows
    if metric == "cosine":
        rows, zero = unit_rows(rows.astype(np.float64, copy=False))
    dense = None if sparse else dense_stripes(rows)

    def between(i: int, j: int) -> np.ndarray:
        squares = dense(i, j) if dense else sparse_squares(rows[i:j], rows[i:])
        if metric == "euclidean":
            return np.sqrt(squares, out=squares)
        if metric == "cosine":
            squares *= 0.5
            squares[zero[i:j]], squares[:, zero[i:]] = 1.0, 1.0
            squares[np.ix_(zero[i:j], zero[i:])] = 0.0
        return squares

    return between


def dense_stripes(rows: np.ndarray) -> Callable[[int, int], np.ndarray]:
    rows = np.ascontiguousarray(rows, np.float64)
    shifted = rows - exact_center(rows)
    sizes = np.einsum("ij,ij->i", shifted, shifted)

    def squares_between(i: int, j: int) -> np.ndarray:
        out = shifted[i:j] @ shifted[i:].T
        square_products(out, rows[i:j], rows[i:], sizes[i:j], sizes[i:])
        return out

    return squares_between


def exact_center(rows: np.ndarray) -> np.ndarray:
    """The column means, rounded so that subtracting them from integers is exact.

    Each is a multiple of a power of two no larger than the range of its column.
    """
    low, high = rows.min(axis=0), rows.max(axis=0)
    step = np.ldexp(1.0, np.frexp(high - low)[1] - 1)
    return np.where(high > low, np.rint(rows.mean(axis=0) / step) * step, low)


def list_rows(rows: Any) -> Sequence[Any]:
    """One array per row, as a metric function takes them."""
    return list(rows.toarray()) if sp.issparse(rows) else rows


def euclidean(rows: Any, others: np.ndarray, origin: np.ndarray | float) -> np.ndarray:
    """(n, m) distances in float64 by one matrix product about ``origin``.

    >>> euclidean(np.array([[1e8, 0.0]]), np.array([[1e8, 3.0], [1e8, 0.0]]), np.zeros(2))
    array([[3., 0.]])
    """
    if sp.issparse(rows):
        sizes = np.asarray(rows.multiply(rows).sum(axis=1), np.float64).ravel()
        other_sizes = (others**2).sum(axis=1)
        squares = sizes[:, None] + other_sizes - 2 * np.asarray(rows @ others.T)
        return np.sqrt(np.maximum(squares, 0.0))
    shifted, other = rows - origin, others - origin
    sizes, other_sizes = (shifted**2).sum(axis=1), (other**2).sum(axis=1)
    squares = sizes[:, None] + other_sizes - 2 * shifted @ other.T
    recompute_small(rows, others, squares, sizes, other_sizes)
    return np.sqrt(np.maximum(squares, 0.0))


# --- Metrics by name ---


def euclidean_rows(rows: Any, others: Any) -> np.ndarray:
    if sp.issparse(rows) or sp.issparse(others):
        return np.sqrt(sparse_squares(rows, others))
    others = np.asarray(others, np.float64)
    return euclidean(rows, others, exact_center(others) if len(others) else 0.0)


def canonical_csr(rows: Any, dtype: Any = None) -> sp.csr_array:
    """Rows as CSR with sorted and distinct indices; a copy where they are not yet."""
    matrix = sp.csr_array(rows, dtype=dtype)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return matrix


def sparse_squares(rows: Any, others: Any) -> np.ndarray:
    a, b = canonical_csr(rows, np.float64), canonical_csr(others, np.float64)
    sizes, other_sizes = (np.asarray(x.multiply(x).sum(axis=1)).ravel() for x in (a, b))
    squares = sizes[:, None] + other_sizes - 2 * (a @ b.T).toarray()
    recompute_small_sparse(
        a.data, a.indices, a.indptr, b.data, b.indices, b.indptr, squares, sizes, other_sizes
    )
    return np.maximum(squares, 0.0)


def manhattan_rows(rows: Any, others: Any) -> np.ndarray:
    if sp.issparse(rows) or sp.issparse(others):
        a, b = canonical_csr(rows), canonical_csr(others)
        out = np.empty((a.shape[0], b.shape[0]))
        both = (a.data, a.indices, a.indptr, b.data, b.indices, b.indptr)
        for first, last in row_spans(a.shape[0], 8 * (b.nnz + b.shape[0])):
            manhattan_sparse(*both, out, first, last)
        return out
    rows = np.ascontiguousarray(rows)
    columns = np.ascontiguousarray(np.asarray(others, np.float64).T)
    out = np.zeros((len(rows), len(others)))
    for first, last in row_spans(len(rows), columns.size):
        manhattan_dense(rows[first:last], columns, out[first:last])
    return out


def row_spans(n: int, work: int) -> Iterator[tuple[int, int]]:
    """Ranges of rows for one kernel call each, from the work that one row takes."""
    size = max(1, CALL_WORK // max(1, work))
    for first in range(0, n, size):
        check_stop()
        yield first, min(first + size, n)


def cosine_rows(rows: Any, others: Any) -> np.ndarray:
    """Half the squared distance of the rows at length one: exact where it is small."""
    sparse = sp.issparse(rows) or sp.issparse(others)
    convert = canonical_csr if sparse else np.asarray
    (unit, zero), (other, other_zero) = (
        unit_rows(convert(x, np.float64)) for x in (rows, others)
    )
    out = euclidean_rows(unit, other) ** 2 / 2
    out[zero] = 1.0
    out[:, other_zero] = 1.0
    out[np.ix_(zero, other_zero)] = 0.0
    return out


# --- Kernels ---


@kernel
def squared_distance(x, y):
    """|x - y|^2 in float64, also for float32 rows."""
    d = x.shape[0]
    full = d - d % 8
    a0 = a1 = a2 = a3 = a4 = a5 = a6 = a7 = 0.0
    for j in range(0, full, 8):
        z0 = np.float64(x[j]) - y[j]
        z1 = np.float64(x[j + 1]) - y[j + 1]
        z2 = np.float64(x[j + 2]) - y[j + 2]
        z3 = np.float64(x[j + 3]) - y[j + 3]
        z4 = np.float64(x[j + 4]) - y[j + 4]
        z5 = np.float64(x[j + 5]) - y[j + 5]
        z6 = np.float64(x[j + 6]) - y[j + 6]
        z7 = np.float64(x[j + 7]) - y[j + 7]
        a0 += z0 * z0
        a1 += z1 * z1
        a2 += z2 * z2
        a3 += z3 * z3
        a4 += z4 * z4
        a5 += z5 * z5
        a6 += z6 * z6
        a7 += z7 * z7
    tail = 0.0
    for j in range(full, d):
        z = np.float64(x[j]) - y[j]
        tail += z * z
    return ((a0 + a4) + (a2 + a6)) + ((a1 + a5) + (a3 + a7)) + tail


@kernel
def sparse_squared(values, columns, y, y_square):
    """|x - y|^2 for a sparse x and a dense y whose square is known: O(nonzeros)."""
    total = y_square
    for q in range(values.shape[0]):
        v = np.float64(values[q])
        total += v * (v - 2.0 * y[columns[q]])
    return max(total, 0.0)


@kernel
def recompute_small(rows, others, squares, sizes, other_sizes):
    """Recompute the squares that are much smaller than the terms they are a difference of."""
    for i in range(rows.shape[0]):
        for j in range(others.shape[0]):
            if squares[i, j] < 1e-6 * (sizes[i] + other_sizes[j]):
                squares[i, j] = squared_distance(rows[i], others[j])


@kernel
def square_products(products, rows, others, sizes, other_sizes):
    """Turn scalar products into squared distances; small ones are recomputed."""
    for i in range(rows.shape[0]):
        for j in range(others.shape[0]):
            terms = sizes[i] + other_sizes[j]
            square = terms - 2 * products[i, j]
            if square < 1e-6 * terms:
                square = squared_distance(rows[i], others[j])
            products[i, j] = square


@kernel
def mirror(matrix, first, last):
    """Copy the rows from first to last into the columns below them, tile by tile; the
    diagonal becomes 0."""
    n = matrix.shape[0]
    for i0 in range(first, last, 32):
        for j0 in range(i0, n, 32):
            for i in range(i0, min(i0 + 32, last)):
                row = matrix[i]
                for j in range(max(j0, i + 1), min(j0 + 32, n)):
                    matrix[j, i] = row[j]
    for i in range(first, last):
        matrix[i, i] = 0.0


@kernel
def recompute_small_sparse(
    data, indices, indptr, other_data, other_indices, other_indptr, squares, sizes, other_sizes
):
    for i in range(squares.shape[0]):
        p, q = indptr[i], indptr[i + 1]
        for j in range(squares.shape[1]):
            if squares[i, j] < 1e-6 * (sizes[i] + other_sizes[j]):
                r, s = other_indptr[j], other_indptr[j + 1]
                squares[i, j] = sum_differences(
                    data[p:q], indices[p:q], other_data[r:s], other_indices[r:s], True
                )


@kernel
def manhattan_dense(rows, columns, out):
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
def manhattan_sparse(
    data, indices, indptr, other_data, other_indices, other_indptr, out, first, last
):
    for i in range(first, last):
        p, q = indptr[i], indptr[i + 1]
        for j in range(out.shape[1]):
            r, s = other_indptr[j], other_indptr[j + 1]
            out[i, j] = sum_differences(
                data[p:q], indices[p:q], other_data[r:s], other_indices[r:s], False
            )


@kernel
def sum_differences(x, columns, y, other_columns, square):
    """Sum of |x - y|, or of its square, over the columns that either sparse row has."""
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
