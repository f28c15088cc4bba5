"""What linkage accepts, checked and brought into one of three forms.

    points      float64 rows, compared by squared Euclidean distance
    square      a square matrix of distances
    condensed   SciPy's condensed distances

``form`` says how a distance follows from a squared one: its root, itself, or half of it
(cosine, of rows of length one).
"""

import math
from collections.abc import Callable
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tacit.core.engines import Engine
from tacit.core.errors import DataError
from tacit.core.memory import check_memory
from tacit.core.warn import warn_caller
from tacit.data.checked import check_in_memory, is_table
from tacit.data.sparse_structure import check_structure
from tacit.data.summary import summarize
from tacit.data.table import Table
from tacit.kernels.distances import distance_matrix
from tacit.kernels.unit_rows import unit_rows

__all__ = [
    "CENTERED", "METHODS", "METRICS", "SMALLER", "LinkageInput", "check_input", "square_matrix",
]  # fmt: skip

METHODS = ("single", "complete", "average", "weighted", "centroid", "median", "ward")
CENTERED = ("centroid", "median", "ward")  # defined by centers, so for Euclidean distance
FORMS = {"euclidean": "root", "sqeuclidean": "square", "cosine": "half"}
# SciPy's metrics that compare two rows without knowing the others.
SCIPY_METRICS = (
    "braycurtis", "canberra", "chebyshev", "cityblock", "correlation", "dice", "hamming",
    "jaccard", "jensenshannon", "rogerstanimoto", "russellrao", "sokalsneath", "yule",
)  # fmt: skip
ALIASES = {"l2": "euclidean", "l1": "cityblock", "manhattan": "cityblock"}
METRICS = (*FORMS, *SCIPY_METRICS, *ALIASES, "precomputed")
WIDE = 64  # columns from which a matrix by BLAS pays; noticed by the benchmark of trees
STRIPE = 256  # rows of a matrix that are checked at once
WIDE_BYTES = 2**32  # for that matrix; a number, not this machine's memory: same bits anywhere
SMALLER = (
    "Cluster the centers of k-means instead: AgglomerativeClustering(compress=1000); or use "
    "ward, centroid or single linkage with Euclidean distance, which need little memory."
)


class LinkageInput(NamedTuple):
    """Rows or distances, ready for the algorithms."""

    kind: str  # "points", "square" or "condensed"
    values: np.ndarray
    n: int
    form: str = "root"  # of points: how a distance follows from its square
    scale: float = 1.0  # distances are this many times too long


def check_input(
    X: Any, method: str, metric: Any, engine: Engine, *, name: str = "linkage"
) -> LinkageInput:
    """Check X and bring it into the form that the method works on."""
    if method not in METHODS:
        raise ValueError(
            f"{name}(method={method!r}) is unknown. Choose from {', '.join(METHODS)}."
        )
    if is_table(X):
        X = check_in_memory(Table.of(X), name, SMALLER).load()
    if sp.issparse(X):
        check_structure(X, name)
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
            "Give distances as a square matrix with metric='precomputed', or condensed."
        )
    if method in CENTERED and metric != "euclidean":
        raise ValueError(
            f"{name}(method={method!r}) works on Euclidean distance, but metric={metric!r}. "
            "Use method='average', or give distances of your own as 'precomputed'."
        )
    return from_rows(X, method, metric, engine, name)


def square_matrix(data: LinkageInput, engine: Engine | None = None) -> np.ndarray:
    """All distances as a square matrix; for kind "square" the input itself."""
    if data.kind == "points":
        squares = distance_matrix(data.values, "sqeuclidean", engine=engine)
        return distances_from(squares, data.form)
    if data.kind == "condensed":
        from scipy.spatial.distance import squareform

        return squareform(data.values, checks=False)
    return data.values


def distances_from(squares: np.ndarray, form: str) -> np.ndarray:
    """Distances from squared ones, in place."""
    if form == "root":
        np.sqrt(squares, out=squares)
    elif form == "half":
        squares *= 0.5
    return squares


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


def from_rows(X: Any, method: str, metric: str, engine: Engine, name: str) -> LinkageInput:
    rows = X.astype(np.float64).tocsr() if sp.issparse(X) else X
    n = rows.shape[0]
    summary = summarize(Table.from_array(rows), engine, name=name, allow_tiny=True)
    warn_if_distances(rows, name)
    if sp.issparse(rows) and metric not in FORMS:
        raise ValueError(
            f"{name}(metric={metric!r}) does not take sparse rows; {', '.join(FORMS)} do. "
            "Use one of those, or X.toarray()."
        )
    scale = 1.0
    if metric == "euclidean" and summary.scale > 2.0**300:
        scale = 2.0 ** (math.frexp(summary.scale)[1] - 1)  # squares of such rows would vanish
        rows = rows * scale
    wide = sp.issparse(rows) or (rows.shape[1] > WIDE and 8 * n * n <= WIDE_BYTES)
    if metric in SCIPY_METRICS or wide:
        check_memory(10 * n * n, f"{name} of {n:,} rows by {metric} distance", SMALLER)
        matrix = distance_matrix(rows, metric, engine=engine)
        data = LinkageInput("square", matrix, n, scale=scale)
        return check_square(data, method, name) if metric in SCIPY_METRICS else data
    rows = unit_points(rows) if metric == "cosine" else nearer_zero(rows)
    return LinkageInput("points", rows, n, FORMS[metric], scale)


def nearer_zero(rows: np.ndarray) -> np.ndarray:
    """The rows, with columns far from zero moved to it, so that means keep their digits.

    Numbers of one sign within a factor of two of each other have exact differences
    (Sterbenz 1974): no distance changes by a bit.
    """
    low, high = rows.min(axis=0), rows.max(axis=0)
    shift = np.where((low > 0) & (high <= 2 * low), low, 0.0)
    shift = np.where((high < 0) & (low >= 2 * high), high, shift)
    return rows - shift if shift.any() else rows


def unit_points(rows: np.ndarray) -> np.ndarray:
    """Rows of length one, for cosine: half the square between them is 1 - cos.

    A row of zeros has no direction: it gets an extra column, one away from all others.
    """
    unit, zero = unit_rows(rows)
    return np.hstack([unit, zero[:, None].astype(np.float64)]) if zero.any() else unit


def warn_if_distances(rows: Any, name: str) -> None:
    """Warn where the rows look like a distance matrix without metric="precomputed"."""
    n, d = rows.shape
    if n != d or n < 3 or sp.issparse(rows):
        return
    if not np.diagonal(rows).any() and (rows >= 0).all() and np.array_equal(rows, rows.T):
        warn_caller(
            f"{name} takes the {n} x {n} numbers as rows, but they look like a matrix of "
            "distances. If they are distances, use metric='precomputed'.",
        )


# --- Distances ---


def from_objects(X: Any, method: str, metric: Callable, name: str) -> LinkageInput:
    if method in CENTERED:
        raise ValueError(
            f"{name}(method={method!r}) needs centers, which a function of two objects does "
            "not have. Use method='average', 'complete', 'single' or 'weighted'."
        )
    if isinstance(X, str | bytes):
        raise ValueError(f"{name} needs several objects, not one string. Wrap them in a list.")
    objects = list(X.toarray() if sp.issparse(X) else X)
    n = len(objects)
    if not n:
        raise ValueError(f"{name} needs at least one object, but the list is empty.")
    check_memory(6 * n * n, f"{name} of {n:,} objects", SMALLER)
    return check_condensed(call_metric(objects, metric), n, method, name)


def call_metric(objects: list, metric: Callable[[Any, Any], float]) -> np.ndarray:
    """Condensed distances between any objects, by a function of two of them."""
    out = np.empty(len(objects) * (len(objects) - 1) // 2)
    for at, (i, j) in enumerate(combinations(range(len(objects)), 2)):
        value = metric(objects[i], objects[j])
        try:
            out[at] = value
        except (TypeError, ValueError):
            raise TypeError(
                f"The metric must return one number for two objects, but for objects {i} "
                f"and {j} it returned {type(value).__name__}. Call a function of all rows "
                "first and give its result with metric='precomputed'."
            ) from None
    return out


def from_condensed(X: np.ndarray, method: str, name: str) -> LinkageInput:
    n = (1 + math.isqrt(1 + 8 * len(X))) // 2
    if len(X) == 0 or n * (n - 1) // 2 != len(X):
        raise ValueError(
            f"{name} has {len(X)} numbers, which is no condensed distance matrix: n rows have "
            "n(n-1)/2 distances, such as 1, 3, 6 or 10. Give rows as a 2-D array."
        )
    return check_condensed(X, n, method, name)


def from_square(X: Any, method: str, name: str) -> LinkageInput:
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
    return check_square(LinkageInput("square", X, len(X)), method, name)


def check_square(data: LinkageInput, method: str, name: str) -> LinkageInput:
    """Finite, not negative, zero on the diagonal, symmetric up to rounding."""
    matrix, largest, skew, at = data.values, 0.0, 0.0, (0, 0)
    for first in range(0, data.n, STRIPE):
        stripe = matrix[first : first + STRIPE]
        if not (stripe.min() >= 0 and stripe.max() < np.inf):
            i, j = np.argwhere(~((stripe >= 0) & (stripe < np.inf)))[0]
            raise bad_distance(stripe[i, j], first + int(i), int(j), name)
        largest = max(largest, float(stripe.max()))
        gap = stripe - matrix[:, first : first + STRIPE].T
        np.abs(gap, out=gap)
        if gap.max() > skew:
            i, j = np.unravel_index(gap.argmax(), gap.shape)
            skew, at = float(gap.max()), (first + int(i), int(j))
    if (np.diagonal(matrix) > 1e-8 * largest).any():
        i = int(np.argmax(np.diagonal(matrix)))
        raise DataError(
            f"{name}: the distance of row {i} to itself is {matrix[i, i]:.6g}, but must be 0. "
            "Convert similarities to distances first.",
            row=i,
            column=i,
        )
    if skew > 1e-8 * largest:
        i, j = at
        raise DataError(
            f"{name}: the distances are not symmetric: {matrix[i, j]:.6g} from row {i} to row "
            f"{j}, {matrix[j, i]:.6g} back. Use (D + D.T) / 2 for the mean of both.",
            row=i,
            column=j,
        )
    check_size(largest, data.n, method, name)
    if skew > 0:
        return LinkageInput("condensed", matrix[np.triu_indices(data.n, 1)], data.n)
    return data


def check_condensed(values: np.ndarray, n: int, method: str, name: str) -> LinkageInput:
    good = (values >= 0) & (values < np.inf)
    if not good.all():
        at, i = int(np.argmin(good)), 0
        while at >= n - 1 - i:
            at, i = at - (n - 1 - i), i + 1
        raise bad_distance(values[np.argmin(good)], i, i + 1 + at, name)
    check_size(float(values.max(initial=0.0)), n, method, name)
    return LinkageInput("condensed", values, n)


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
            f"{name}: sums of distances as large as {largest:.3g} overflow. Divide the "
            "distances by that number first."
        )
