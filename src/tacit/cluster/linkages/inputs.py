"""What linkage can be given, checked and brought into one of three forms.

    points      float64 rows whose squared Euclidean distances say everything
    square      a square matrix of distances
    condensed   SciPy's condensed distances

``form`` tells how a distance follows from a squared one: its root, itself, or half of it
(cosine, of rows of length one).
"""

import math
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tacit.cluster.linkages.pair_distances import (
    SCIPY_METRICS,
    by_function,
    dense_squares,
    scipy_distances,
    sparse_squares,
)
from tacit.core.engines import Engine
from tacit.core.errors import DataError
from tacit.core.kernel import kernel
from tacit.core.memory import check_memory, gigabytes
from tacit.data.summary import summarize
from tacit.data.table import Table

__all__ = [
    "CENTERED",
    "METHODS",
    "METRICS",
    "Given",
    "check_method",
    "give",
    "refuse_blocks",
    "square_of",
]

METHODS = ("single", "complete", "average", "weighted", "centroid", "median", "ward")
CENTERED = ("centroid", "median", "ward")  # defined by centers, so for Euclidean distance
FORMS = {"euclidean": "root", "sqeuclidean": "square", "cosine": "half"}
ALIASES = {"l2": "euclidean", "l1": "cityblock", "manhattan": "cityblock"}
METRICS = (*FORMS, *SCIPY_METRICS, *ALIASES, "precomputed")
WIDE = 64  # columns from which a parallel matrix beats computing as one goes
WIDE_BYTES = 2**32  # for that matrix; a number, not this machine's memory: same bits anywhere


class Given(NamedTuple):
    """Rows or distances, ready for the algorithms."""

    kind: str  # "points", "square" or "condensed"
    values: np.ndarray
    n: int
    form: str = "root"  # of points: how a distance follows from its square
    scale: float = 1.0  # distances are this many times too long


def give(X: Any, method: str, metric: Any, engine: Engine, *, name: str = "linkage") -> Given:
    """Check X and bring it into the form that the method works on."""
    check_method(method, name)
    refuse_blocks(X, method, name)
    if callable(metric):
        return from_objects(X, method, metric, name)
    metric = ALIASES.get(metric, metric) if isinstance(metric, str) else metric
    if metric not in METRICS:
        raise ValueError(
            f"{name}(metric={metric!r}) is unknown. Give a function of two rows or one of "
            f"{', '.join(METRICS)}."
        )
    if not sp.issparse(X):
        X = as_numbers(X, name)
        if X.ndim == 1:
            return from_condensed(X, method, name)
    if metric == "precomputed":
        return from_square(X, method, name)
    if X.ndim != 2 or X.shape[0] == 0 or X.shape[1] == 0:
        raise ValueError(
            f"{name} needs at least one row and one column, but the data has shape {X.shape}. "
            "Distances alone go in as a square matrix with metric='precomputed', or condensed."
        )
    if method in CENTERED and metric != "euclidean":
        raise ValueError(
            f"{name}(method={method!r}) works on Euclidean distance, but metric={metric!r} was "
            "asked for. Use method='average', or give distances of your own as 'precomputed'."
        )
    return from_rows(X, method, metric, engine, name)


def square_of(given: Given, engine: Engine) -> np.ndarray:
    """All distances as a square matrix; of kind "square", the one that was given."""
    if given.kind == "points":
        matrix = dense_squares(given.values, engine, root=given.form == "root")
        matrix *= 0.5 if given.form == "half" else 1.0
        return matrix
    if given.kind == "condensed":
        from scipy.spatial.distance import squareform

        return squareform(given.values, checks=False)
    return given.values


def check_method(method: str, name: str = "linkage") -> None:
    """ValueError for a linkage that nobody knows."""
    if method not in METHODS:
        raise ValueError(
            f"{name}(method={method!r}) is unknown. Choose from {', '.join(METHODS)}."
        )


def refuse_blocks(X: Any, method: str, name: str) -> None:
    """Trees need all rows: say what that would take, and what to do instead."""
    if not (isinstance(X, Table) or type(X).__module__.startswith("dask.")):
        return
    n, d = (int(size) for size in X.shape)
    need = 8 * n * d if method in CENTERED or method == "single" else 2 * n * n + 8 * n * d
    raise ValueError(
        f"{name} needs all {n:,} rows in memory at once, for {method} linkage up to "
        f"{gigabytes(need)}, and time that grows with the square of the rows. Cluster the "
        "centers of k-means instead: AgglomerativeClustering(compress=1000) takes any table. "
        "If the rows do fit, load them into an array."
    )


# --- Rows ---


def as_numbers(X: Any, name: str) -> np.ndarray:
    try:
        array = np.asarray(X)
        if array.dtype.kind == "c":
            raise TypeError("complex numbers have no order")
        return np.ascontiguousarray(array, np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"{name} needs rows of numbers, but could not read them: {error}. For strings and "
            "other objects give metric a function of two of them."
        ) from None


def from_rows(X: Any, method: str, metric: str, engine: Engine, name: str) -> Given:
    rows = X.astype(np.float64).tocsr() if sp.issparse(X) else X
    n = rows.shape[0]
    summary = summarize(Table.from_array(rows), engine, name=name)
    warn_of_matrix(rows, name)
    scale = 1.0
    if metric == "euclidean" and summary.scale > 2.0**300:
        scale = 2.0 ** (math.frexp(summary.scale)[1] - 1)  # squares of such rows would vanish
        rows = rows * scale
    if sp.issparse(rows):
        rows.sum_duplicates()
        return from_sparse(rows, method, metric, engine, name)._replace(scale=scale)
    if metric in SCIPY_METRICS:
        check_memory(10 * n * n, f"{name} of {n:,} rows by {metric} distance", way_out(method))
        matrix = scipy_distances(rows, metric, engine)
        return check_square(Given("square", matrix, n), method, name)
    rows = unit_rows(rows) if metric == "cosine" else nearer_zero(rows)
    if rows.shape[1] > WIDE and 8 * n * n <= WIDE_BYTES:
        matrix = dense_squares(rows, engine, root=FORMS[metric] == "root")
        if FORMS[metric] == "half":
            matrix *= 0.5
        return Given("square", matrix, n, scale=scale)
    return Given("points", rows, n, FORMS[metric], scale)


def from_sparse(rows: Any, method: str, metric: str, engine: Engine, name: str) -> Given:
    if metric not in FORMS:
        raise ValueError(
            f"{name}(metric={metric!r}) does not take sparse rows; {', '.join(FORMS)} do. "
            "Use one of those, or X.toarray()."
        )
    n = rows.shape[0]
    check_memory(10 * n * n, f"{name} of {n:,} sparse rows", way_out(method))
    if metric == "cosine":
        lengths = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
        empty = lengths == 0
        rows = sp.csr_array(sp.diags_array(1 / np.where(empty, 1.0, lengths)) @ rows)
        matrix = sparse_squares(rows, engine)
        matrix *= 0.5
        matrix[np.ix_(empty, ~empty)] = matrix[np.ix_(~empty, empty)] = 1.0
        return Given("square", matrix, n)
    return Given("square", sparse_squares(rows, engine, root=metric == "euclidean"), n)


def nearer_zero(rows: np.ndarray) -> np.ndarray:
    """The rows, with columns far from zero moved to it, so that means keep their digits.

    Numbers of one sign within a factor of two of each other have exact differences
    (Sterbenz 1974): no distance changes by a bit.
    """
    low, high = rows.min(axis=0), rows.max(axis=0)
    shift = np.where((low > 0) & (high <= 2 * low), low, 0.0)
    shift = np.where((high < 0) & (low >= 2 * high), high, shift)
    return rows - shift if shift.any() else rows


def unit_rows(rows: np.ndarray) -> np.ndarray:
    """Rows of length one, for cosine: half the square between them is 1 - cos.

    A row of zeros has no direction: it gets a column of its own, one away from all others.
    """
    largest = np.abs(rows).max(axis=1, keepdims=True)
    empty = largest[:, 0] == 0
    rows = rows / np.where(empty[:, None], 1.0, largest)
    rows = rows / np.sqrt((rows**2).sum(axis=1, keepdims=True) + empty[:, None])
    return np.hstack([rows, empty[:, None].astype(np.float64)]) if empty.any() else rows


def warn_of_matrix(rows: Any, name: str) -> None:
    """Say so if the rows look like a distance matrix that somebody forgot to announce."""
    n, d = rows.shape
    if n != d or n < 3 or sp.issparse(rows):
        return
    if not np.diagonal(rows).any() and (rows >= 0).all() and np.array_equal(rows, rows.T):
        warnings.warn(
            f"{name} was given {n} rows of {n} columns that look like a matrix of distances, "
            "but takes them as rows. If they are distances, say metric='precomputed'.",
            stacklevel=4,
        )


# --- Distances ---


def from_objects(X: Any, method: str, metric: Callable, name: str) -> Given:
    if method in CENTERED:
        raise ValueError(
            f"{name}(method={method!r}) needs centers, which a function of two objects does "
            "not have. Use method='average', 'complete', 'single' or 'weighted'."
        )
    if isinstance(X, str | bytes):
        raise ValueError(
            f"{name} was given one string where several objects are expected. Wrap them in a "
            "list."
        )
    objects = list(X.toarray() if sp.issparse(X) else X)
    n = len(objects)
    if n == 0:
        raise ValueError(f"{name} was given no objects. Give it at least one.")
    check_memory(6 * n * n, f"{name} of {n:,} objects", way_out(method))
    given = Given("condensed", by_function(objects, metric), n)
    check_condensed(given, method, name)
    return given


def from_condensed(X: np.ndarray, method: str, name: str) -> Given:
    n = (1 + math.isqrt(1 + 8 * len(X))) // 2
    if len(X) == 0 or n * (n - 1) // 2 != len(X):
        raise ValueError(
            f"{name} was given {len(X)} numbers, which is no condensed distance matrix: n rows "
            "have n(n-1)/2 distances, such as 1, 3, 6 or 10. Rows go in as a 2-D array."
        )
    given = Given("condensed", X, n)
    check_condensed(given, method, name)
    return given


def from_square(X: Any, method: str, name: str) -> Given:
    if sp.issparse(X):
        raise TypeError(
            f"{name}(metric='precomputed') needs every distance, but the matrix is sparse. Use "
            "X.toarray(), or give X as connectivity to AgglomerativeClustering."
        )
    if X.ndim != 2 or X.shape[0] != X.shape[1] or X.shape[0] == 0:
        raise ValueError(
            f"{name}(metric='precomputed') needs a square matrix or condensed distances, but "
            f"the data has shape {X.shape}."
        )
    return check_square(Given("square", X, len(X)), method, name)


def check_square(given: Given, method: str, name: str) -> Given:
    """Finite, not negative, zero on the diagonal, symmetric up to rounding."""
    matrix = given.values
    lowest, largest, skew, at = np.inf, 0.0, 0.0, 0
    for start in range(0, given.n, 2048):  # a stretch at a time: Ctrl-C is heard
        found = survey_square(matrix, start, min(start + 2048, given.n))
        lowest, largest = min(lowest, found[0]), max(largest, found[1])
        skew, at = max((skew, -at), (found[2], -found[3]))
        at = -at
    if not (lowest >= 0 and largest < np.inf):
        i, j = (int(k) for k in np.argwhere(~((matrix >= 0) & (matrix < np.inf)))[0])
        raise bad_distance(matrix[i, j], i, j, name)
    if (np.diagonal(matrix) > 1e-8 * largest).any():
        i = int(np.argmax(np.diagonal(matrix)))
        raise DataError(
            f"{name}: the distance of row {i} to itself is {matrix[i, i]:.6g}, but must be 0. "
            "Similarities must be turned into distances first.",
            row=i,
            column=i,
        )
    if skew > 1e-8 * largest:
        i, j = divmod(int(at), given.n)
        raise DataError(
            f"{name}: the distances are not symmetric: {matrix[i, j]:.6g} from row {i} to row "
            f"{j}, {matrix[j, i]:.6g} back. Use (D + D.T) / 2 if the mean is what you want.",
            row=i,
            column=j,
        )
    check_size(largest, given.n, method, name)
    if skew > 0:
        return Given("condensed", matrix[np.triu_indices(given.n, 1)], given.n)
    return given


def check_condensed(given: Given, method: str, name: str) -> None:
    values = given.values
    good = (values >= 0) & (values < np.inf)
    if not good.all():
        at, i = int(np.argmin(good)), 0
        while at >= given.n - 1 - i:
            at, i = at - (given.n - 1 - i), i + 1
        raise bad_distance(values[np.argmin(good)], i, i + 1 + at, name)
    check_size(float(values.max(initial=0.0)), given.n, method, name)


def bad_distance(value: float, i: int, j: int, name: str) -> DataError:
    what = "NaN" if np.isnan(value) else f"{value:.6g}"
    return DataError(
        f"{name}: the distance between rows {i} and {j} is {what}; distances must be finite "
        "and not negative. Fill in or leave out such rows first.",
        row=i,
        column=j,
    )


def check_size(largest: float, n: int, method: str, name: str) -> None:
    most = 1e150 if method in CENTERED else 1e300
    if largest * n > most:
        raise ValueError(
            f"{name}: distances as large as {largest:.3g} overflow when added up. Divide them "
            "by that number first."
        )


def way_out(method: str) -> str:
    return (
        "Cluster the centers of k-means instead: AgglomerativeClustering(compress=1000); or "
        "use ward, centroid or single linkage with Euclidean distance, which need little."
    )


# --- Kernels ---


@kernel
def survey_square(matrix, start, stop):
    """Of a stretch of rows the smallest and largest entry, the largest difference across the
    diagonal and its place. A NaN anywhere makes the smallest -1."""
    n = matrix.shape[0]
    lowest, largest, skew, at = np.inf, 0.0, 0.0, 0
    for i0 in range(start, stop, 32):
        for j0 in range(0, n, 32):
            for i in range(i0, min(i0 + 32, stop)):
                row = matrix[i]
                for j in range(j0, min(j0 + 32, n)):
                    v = row[j]
                    if not v >= lowest:
                        lowest = v if v < lowest else -1.0
                    largest = v if v > largest else largest
                    gap = abs(v - matrix[j, i])
                    if gap > skew:
                        skew, at = gap, i * n + j
    return lowest, largest, skew, at
