"""Weight, mean and scatter of rows, added up without losing digits.

    collect   center a chunk of rows at its mean; one product gives its scatter
    +         two means and the distance between them give the scatter of both

The scatter is the sum over rows of weight * (row - mean)(row - mean)'. It never passes through
sums of raw squares, which lose every digit when the mean is large relative to the spread: rows
around 1e8 keep theirs. Whatever the input, sums are float64, and a constant column has a
scatter of exactly zero.

A sparse block is not densified. A column that is stored in a fraction p of the rows has, by
Cauchy and Schwarz, n * mean^2 <= p * (its raw sum of squares); so raw products are safe where
p is small, and only the fuller columns are laid out and centered.

Chan, Golub and LeVeque (1983), Algorithms for computing the sample variance: analysis and
recommendations. The American Statistician 37. The notes' section on the multivariate normal.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tacit.core.engines import check_stop
from tacit.core.errors import DataError
from tacit.core.kernel import kernel
from tacit.core.stats import Stats, tree_sum

__all__ = ["Moments", "MomentsParams", "collect"]

CHUNK_VALUES = 2**20  # of the centered copy: 8 MB
CHUNK_ROWS = 2048  # at least, so that products outweigh merging the chunks
SINGLE_ROWS = 1024  # rows multiplied in float32 at once: benchmarks.pca checks the digits
FULL_COLUMN = 0.25  # stored in more than this fraction of the rows: laid out and centered
SPAN = 5_000_000  # products to a kernel call: under 100 ms where all of them miss the cache


class MomentsParams(NamedTuple):
    """Which part of the scatter to compute."""

    full: bool = True  # the d x d scatter, or its diagonal alone
    single: bool = False  # multiply float32 rows in float32, 1024 at a time; sums are float64


@dataclass(frozen=True)
class Moments(Stats):
    """Weight, mean and scatter of the rows seen so far.

    ``a + b`` are the moments of both, and ``3 * a`` those of a's rows three times over.

    >>> rows = np.array([[1.0, 0.0], [3.0, 0.0], [5.0, 3.0]])
    >>> moments = Moments.collect(rows[:1]) + Moments.collect(rows[1:])
    >>> moments.weight, moments.mean
    (3.0, array([3., 1.]))
    >>> moments.sample_covariance
    array([[4., 3.],
           [3., 3.]])
    """

    weight: float  # number of rows, or the sum of their weights
    mean: np.ndarray  # (d,), zeros when nothing was seen
    scatter: np.ndarray  # (d, d), or (d,) for the diagonal alone

    @classmethod
    def collect(cls, rows: Any, *, weights: Any = None, full: bool = True) -> "Moments":
        """The moments of rows: an array or a sparse matrix, one weight to a row or none.

        ``full=False`` keeps the variances and leaves the covariances out.
        """
        rows = rows if sp.issparse(rows) else np.asarray(rows)
        if rows.ndim != 2:
            raise ValueError(
                f"Moments.collect needs rows and columns, but the array has "
                f"ndim={rows.ndim}. Reshape it to two dimensions."
            )
        if rows.dtype.kind not in "fiub":
            raise TypeError(
                f"Moments.collect needs real numbers, but the rows are {rows.dtype}. "
                "Convert them to float64."
            )
        weights = check_weights(weights, rows.shape[0])
        with np.errstate(over="ignore", invalid="ignore"):  # reported below, with the place
            moments = (of_sparse if sp.issparse(rows) else of_dense)(rows, weights, full)
        if not np.isfinite(moments.variance_sum).all():
            raise DataError(why_not_finite(rows, moments.variance_sum))
        return moments

    @classmethod
    def empty(cls, columns: int, *, full: bool = True) -> "Moments":
        """The moments of no rows: what adds nothing."""
        return cls(0.0, np.zeros(columns), np.zeros((columns, columns) if full else columns))

    @property
    def variance_sum(self) -> np.ndarray:
        """(d,), the diagonal of the scatter."""
        return self.scatter if self.scatter.ndim == 1 else self.scatter.diagonal()

    @property
    def variance(self) -> np.ndarray:
        """(d,), the mean squared distance from the mean: numpy's ``var``."""
        return self.variance_sum / self._weight_less(0, "variance")

    @property
    def covariance(self) -> np.ndarray:
        """(d, d), scatter over weight: the most likely covariance of a normal."""
        return self._square("covariance") / self._weight_less(0, "covariance")

    @property
    def sample_variance(self) -> np.ndarray:
        """(d,), scatter over weight - 1: numpy's ``var(ddof=1)``, without bias."""
        return self.variance_sum / self._weight_less(1, "sample_variance")

    @property
    def sample_covariance(self) -> np.ndarray:
        """(d, d), scatter over weight - 1: numpy's ``cov``, without bias."""
        return self._square("sample_covariance") / self._weight_less(1, "sample_covariance")

    def __add__(self, other: "Moments") -> "Moments":
        if self.scatter.shape != other.scatter.shape:
            raise ValueError(
                f"Moments with scatters of shape {self.scatter.shape} and "
                f"{other.scatter.shape} do not add. Collect both from the same columns, "
                "with the same choice of full."
            )
        if not other.weight:
            return self
        if not self.weight:
            return other
        weight = self.weight + other.weight
        apart = other.mean - self.mean
        mean = self.mean + apart * (other.weight / weight)
        scatter = self.scatter + other.scatter
        # Halves of the factor on either side keep the sum symmetric to the last bit.
        shift = apart * np.sqrt(self.weight * (other.weight / weight))
        scatter += shift * shift if scatter.ndim == 1 else np.outer(shift, shift)
        return Moments(weight, mean, scatter)

    def __rmul__(self, scale: float) -> "Moments":
        if not scale >= 0:
            raise ValueError(f"{scale} * Moments needs a scale of zero or more.")
        return Moments(scale * self.weight, self.mean, scale * self.scatter)

    def _weight_less(self, ddof: int, name: str) -> float:
        if self.weight <= ddof:
            other = f", or use {name.removeprefix('sample_')}" if ddof else ""
            raise ValueError(
                f"Moments.{name} needs a weight above {ddof}, but the rows seen weigh "
                f"{self.weight:g}. Collect more rows{other}."
            )
        return self.weight - ddof

    def _square(self, name: str) -> np.ndarray:
        if self.scatter.ndim == 1:
            raise ValueError(
                f"Moments.{name} needs the whole scatter, but only variances were collected. "
                "Collect with full=True."
            )
        return self.scatter


# --- Collecting ---


def collect(params: MomentsParams | None, block: Any) -> Moments:
    """The moments of a loaded block, with its weights if it has any: for ``engine.reduce``.

    >>> from tacit.core.engines import Serial
    >>> from tacit.data.table import Table
    >>> table = Table.from_array(np.arange(12.0).reshape(6, 2), block_rows=4)
    >>> Serial().reduce(collect, MomentsParams(full=False), table).variance.round(2)
    array([11.67, 11.67])
    """
    params = params or MomentsParams()
    dense = isinstance(block, np.ndarray) and block.dtype == np.float32 and len(block) > 0
    if params.single and params.full and dense:
        return of_single(block)
    rows, _, weights = block if isinstance(block, tuple) else (block, None, None)
    return Moments.collect(rows, weights=weights, full=params.full)


def of_dense(rows: np.ndarray, weights: np.ndarray | None, full: bool) -> Moments:
    """Chunks of a size that depends on the shape alone, merged in a fixed tree."""
    n, d = rows.shape
    size = max(CHUNK_ROWS, CHUNK_VALUES // max(1, d))
    if not n:
        return Moments.empty(d, full=full)

    def of_chunk(i: int) -> Moments:
        check_stop()
        part = None if weights is None else weights[i : i + size]
        weight, mean, x = center(rows[i : i + size], part)
        # NumPy sees x.T @ x and lets BLAS compute one triangle: symmetric to the last bit.
        return Moments(weight, mean, x.T @ x if full else np.einsum("ij,ij->j", x, x))

    return tree_sum(map(of_chunk, range(0, n, size)))


def of_single(rows: np.ndarray) -> Moments:
    """Dense float32 rows: products of a thousand centered rows in float32, added up in
    float64. Twice as fast, and exact to 1e-7 of the variances."""
    d = rows.shape[1]
    with np.errstate(all="ignore"):
        near = rows[:SINGLE_ROWS].mean(axis=0, dtype=np.float64).astype(np.float32)
    sums, scatter, ones = np.zeros(d), np.zeros((d, d)), np.ones(SINGLE_ROWS, np.float32)
    for i in range(0, len(rows), SINGLE_ROWS):
        check_stop()
        with np.errstate(over="ignore", invalid="ignore"):  # reported below
            centered = rows[i : i + SINGLE_ROWS] - near
            sums += ones[: len(centered)] @ centered
            scatter += centered.T @ centered
    if not np.isfinite(scatter.diagonal()).all():  # overflow of float32, or a bad value
        return Moments.collect(rows)
    offset = sums / len(rows)
    scatter -= np.outer(offset, offset * len(rows))
    return Moments(float(len(rows)), near + offset, scatter)


def center(
    rows: np.ndarray, weights: np.ndarray | None
) -> tuple[float, np.ndarray, np.ndarray]:
    """Weight, mean, and the rows less their mean times the square roots of their weights.

    First the heaviest row is taken off, then the mean of what is left. Being one of the rows,
    its error is below the rounding of the spread, and a constant column becomes exactly zero.
    """
    weight = float(len(rows) if weights is None else weights.sum())
    if not weight:
        return 0.0, np.zeros(rows.shape[1]), np.zeros(rows.shape)
    first = rows[0 if weights is None else weights.argmax()].astype(np.float64)
    centered = np.subtract(rows, first, dtype=np.float64)
    offset = centered.mean(axis=0) if weights is None else weights @ centered / weight
    centered -= offset
    if weights is not None:
        centered *= np.sqrt(weights)[:, None]
    return weight, first + offset, centered


def of_sparse(rows: Any, weights: np.ndarray | None, full: bool) -> Moments:
    matrix = rows.tocsr()
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    if weights is None:
        weights = np.ones(matrix.shape[0])
    elif not weights.all():  # rows of no weight must not make a full column seem sparse
        matrix, weights = matrix[weights > 0], weights[weights > 0]
    if not len(weights):
        return Moments.empty(rows.shape[1], full=full)
    return (sparse_scatter if full else sparse_variances)(matrix, weights)


def sparse_variances(rows: Any, weights: np.ndarray) -> Moments:
    """Squares of the stored values less the mean, and of the mean for the zeros."""
    (n, d), weight = rows.shape, float(weights.sum())
    column, entry_weights = rows.indices, np.repeat(weights, np.diff(rows.indptr))
    full = np.bincount(column, minlength=d) == n
    heaviest = rows[[int(weights.argmax())]].toarray().ravel().astype(np.float64)
    first = np.where(full, heaviest, 0.0)  # as in center, where every row has the column
    centered = rows.data - first[column]
    offset = np.bincount(column, entry_weights * centered, d) / weight
    centered -= offset[column]
    absent = np.maximum(0.0, weight - np.bincount(column, entry_weights, d))
    stored = np.bincount(column, entry_weights * centered * centered, d)
    return Moments(weight, first + offset, stored + absent * offset**2)


def sparse_scatter(rows: Any, weights: np.ndarray) -> Moments:
    """Raw products of the mostly empty columns, centered products of the others."""
    d, weight = rows.shape[1], float(weights.sum())
    entry_weights = np.repeat(weights, np.diff(rows.indptr))
    dense = np.bincount(rows.indices, entry_weights, d) > FULL_COLUMN * weight
    if not dense.any():
        return raw_scatter(rows, weights, entry_weights)
    a, b = np.flatnonzero(~dense), np.flatnonzero(dense)
    sparse_rows = rows[:, a]
    sparse = raw_scatter(sparse_rows, weights, entry_weights[~dense[rows.indices]])
    _, dense_mean, centered = center(rows[:, b].toarray(), weights)
    # Centered columns sum to zero, so the sparse ones need no centering against them.
    between = sparse_rows.T @ (centered * np.sqrt(weights)[:, None])
    mean, scatter = np.empty(d), np.empty((d, d))
    mean[a], mean[b] = sparse.mean, dense_mean
    scatter[np.ix_(a, a)] = sparse.scatter
    scatter[np.ix_(b, b)] = centered.T @ centered
    scatter[np.ix_(a, b)] = between
    scatter[np.ix_(b, a)] = between.T
    return Moments(weight, mean, scatter)


def raw_scatter(rows: Any, weights: np.ndarray, entry_weights: np.ndarray) -> Moments:
    """Sum of products less weight * mean mean': exact enough where most values are zero."""
    d, weight = rows.shape[1], float(weights.sum())
    indptr, values = rows.indptr, rows.data.astype(np.float64)
    mean = np.bincount(rows.indices, entry_weights * values, d) / weight
    scatter = np.zeros((d, d))
    ends = np.repeat(indptr[1:], np.diff(indptr))  # where each stored value's row ends
    work = np.cumsum(ends - np.arange(ends.size))
    cuts = np.searchsorted(work, np.arange(0, work[-1:].sum() + SPAN, SPAN), side="right")
    for first, last in pairwise(cuts):
        check_stop()
        add_products(scatter, rows.indices, values, entry_weights, ends, first, last)
    for first in range(0, d, max(1, SPAN // max(1, d))):
        center_and_mirror(scatter, mean, weight, first, max(1, SPAN // max(1, d)))
    return Moments(weight, mean, scatter)


def check_weights(weights: Any, n: int) -> np.ndarray | None:
    if weights is None:
        return None
    weights = np.asarray(weights, np.float64)
    if weights.shape != (n,):
        raise ValueError(
            f"Moments.collect got weights of shape {weights.shape} for {n} rows. "
            "Give one weight per row."
        )
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if wrong.size:
        raise DataError(
            f"Moments.collect got a weight of {weights[wrong[0]]} for row {wrong[0]} of the "
            "block. Give finite weights of zero or more."
        )
    return weights


def why_not_finite(rows: Any, scatter: np.ndarray) -> str:
    """The error message for rows whose scatter is not finite."""
    entries = sp.coo_array(rows)  # those of an array row by row, without zeros
    values = entries.data
    wrong = np.flatnonzero(~np.isfinite(values))
    if wrong.size:
        i, j = (axis[wrong[0]] for axis in entries.coords)
        return (
            f"Moments.collect met {values[wrong[0]]} in row {i}, column {j} of the block. "
            "Fill or remove such values first."
        )
    column = np.flatnonzero(~np.isfinite(scatter))[0]
    return (
        f"Moments.collect overflowed in column {column} of the block: the values reach "
        f"{np.abs(values).max():.3g}, and float64 does not hold their squares. Rescale the "
        "data."
    )


# --- Kernels ---


@kernel
def add_products(scatter, columns, values, weights, ends, first, last):
    """Add the products of stored values first to last with those after them in their row."""
    for t in range(first, last):
        row = scatter[columns[t]]
        x = weights[t] * values[t]
        for u in range(t, ends[t]):
            row[columns[u]] += x * values[u]


@kernel
def center_and_mirror(scatter, mean, weight, first, rows):
    """Take the mean off the upper triangle and copy it below, some rows at a time."""
    d = len(mean)
    for i in range(first, min(first + rows, d)):
        row = scatter[i]
        pull = weight * mean[i]
        for j in range(i, d):
            row[j] -= pull * mean[j]
            scatter[j, i] = row[j]
