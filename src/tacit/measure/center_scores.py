"""Scores that need only the centers of the clusters: two passes over any table.

    first pass    count and sum the rows of every cluster: its center is their mean
    second pass   add up distances and squared distances to the center

    inertia             sum of squared distances to the center
    Calinski-Harabasz   spread between the centers over spread around them, per degree of
                        freedom: high is good
    Davies-Bouldin      widths of two clusters over the distance of their centers, for the
                        worst neighbor of each: low is good

Calinski and Harabasz (1974), A dendrite method for cluster analysis. Comm. in Statistics 3.
Davies and Bouldin (1979), A cluster separation measure. IEEE Trans. PAMI 1.
The notes' sections on k-means and on evaluating clusterings.
"""

import math
import warnings
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import UndefinedMetricWarning

from tacit.core.engines import Engine, get_engine, ready
from tacit.core.kernel import REASSOCIATE, kernel
from tacit.data.bad_values import check_values
from tacit.data.sparse_structure import check_structure
from tacit.data.table import Table, parts
from tacit.kernels.distances import between_rows, canonical_csr, euclidean, sparse_squared
from tacit.measure.labels import Codes, check_two_clusters, codes_of, warn_undefined

__all__ = [
    "Spread", "calinski_harabasz_score", "center_distances", "davies_bouldin_score", "inertia",
    "spread_of",
]  # fmt: skip


class Spread(NamedTuple):
    """Clusters as their centers and how wide they are."""

    codes: Codes
    centers: np.ndarray  # (k, d) float64
    distances: np.ndarray  # (k,) sum of the distances of the rows to the center
    squares: np.ndarray  # (k,) sum of their squares


# --- The scores ---


def inertia(X: Any, labels: Any, *, engine: str | Engine = "threads") -> float:
    """Sum of squared distances of the rows to the mean of their cluster.

    >>> inertia(np.array([[0.0], [2.0], [10.0]]), [0, 0, 1])
    2.0
    """
    return float(spread_of(X, labels, get_engine(engine), name="inertia").squares.sum())


def calinski_harabasz_score(X: Any, labels: Any, *, engine: str | Engine = "threads") -> float:
    """Spread between clusters over spread within them, each per degree of freedom.

    High is good. 0.0 and a warning where it is not defined: every row alone, or all equal.

    >>> calinski_harabasz_score(np.array([[0.0], [1.0], [10.0], [11.0]]), [0, 0, 1, 1])
    200.0
    """
    name = "calinski_harabasz_score"
    spread = spread_of(X, labels, get_engine(engine), name=name)
    counts, centers = spread.codes.counts, spread.centers
    n, k = int(counts.sum()), len(counts)
    check_two_clusters(spread.codes, name)
    within = float(spread.squares.sum())
    middle = counts @ (centers - centers[0]) / n + centers[0]
    between = float(counts @ ((centers - middle) ** 2).sum(axis=1))
    if k == n:
        return warn_undefined(name, "every row is a cluster of its own")
    if within == 0:  # where scikit-learn returns 1.0
        what = "all rows are equal" if between == 0 else "the rows of every cluster are equal"
        return warn_undefined(name, what)
    return between * (n - k) / (within * (k - 1))


def davies_bouldin_score(X: Any, labels: Any, *, engine: str | Engine = "threads") -> float:
    """Mean over the clusters of how much each overlaps with its worst neighbor: low is good.

    Two clusters with the same center are left out of the comparison, with a warning.

    >>> davies_bouldin_score(np.array([[0.0], [1.0], [10.0], [11.0]]), [0, 0, 1, 1])
    0.1
    """
    name = "davies_bouldin_score"
    spread = spread_of(X, labels, get_engine(engine), name=name)
    counts, k = spread.codes.counts, len(spread.codes.counts)
    check_two_clusters(spread.codes, name)
    if k == counts.sum():
        return warn_undefined(name, "every row is a cluster of its own")
    widths = spread.distances / counts
    apart = between_rows(spread.centers, spread.centers)
    np.fill_diagonal(apart, np.inf)
    if not (apart > 0).all():
        i, j = np.argwhere(apart == 0)[0]
        warnings.warn(
            f"{name}: clusters {spread.codes.names[i]} and {spread.codes.names[j]} have the "
            "same center; they are not compared with each other.",
            UndefinedMetricWarning,
            stacklevel=2,
        )
        apart[apart == 0] = np.inf
    return float(((widths[:, None] + widths) / apart).max(axis=1).mean())


# --- The passes ---


def spread_of(X: Any, labels: Any, engine: Engine, *, name: str) -> Spread:
    """Centers and widths of the clusters, in two passes."""
    table, codes = labeled(X, labels, name)
    with ready(engine) as running:
        centers = centers_of(table, codes, running, name)
        distances, squares = running.reduce(sum_distances, centers, table)
    if not np.isfinite(squares).all():
        raise ValueError(
            f"{name}: the data holds values whose squared distances overflow. Rescale it."
        )
    return Spread(codes, centers, distances, squares)


def center_distances(
    X: Any, labels: Any, engine: Engine, *, name: str
) -> tuple[np.ndarray, Codes]:
    """(n, k) distances of the rows to the centers of all clusters."""
    table, codes = labeled(X, labels, name)
    centers = centers_of(table, codes, engine, name)
    return np.concatenate(list(engine.map(distances_to_centers, centers, table))), codes


def labeled(X: Any, labels: Any, name: str) -> tuple[Table, Codes]:
    if not (isinstance(X, Table) or sp.issparse(X) or type(X).__module__.startswith("dask.")):
        X = np.asarray(X)
        X = X if X.dtype.kind == "f" else np.asarray(X, np.float64)
        if X.ndim != 2:
            raise ValueError(
                f"{name} needs rows and columns, but X has ndim={X.ndim}. Reshape it to two "
                "dimensions."
            )
    elif sp.issparse(X):
        check_structure(X, name)
        X = canonical_csr(X)
    table = Table.of(X)
    if not len(table):
        raise ValueError(f"{name} got no rows (0 samples) in X. Give it at least one.")
    codes = codes_of(labels, name=name, rows=len(table))
    return table.with_labels(codes.codes), codes


def centers_of(table: Table, codes: Codes, engine: Engine, name: str) -> np.ndarray:
    first = parts(table.blocks[0].load()).rows[:1]
    pivot = np.zeros(table.shape[1])
    if not sp.issparse(first):
        pivot = np.where(np.isfinite(first[0]), first[0], 0.0).astype(np.float64)
    sums = engine.reduce(sum_by_cluster, (pivot, len(codes.counts)), table)
    if not np.isfinite(sums).all():
        for block in table:
            check_values(parts(block.load()).rows, name, block.start, table.source)
    return pivot + sums / codes.counts[:, None]


def sum_by_cluster(params: tuple[np.ndarray, int], block: Any) -> np.ndarray:
    """(k, d) sums of the rows of every cluster, less the pivot row: an offset costs no digits.
    The params are the pivot and k."""
    (pivot, k), (rows, codes, _) = params, parts(block)
    sums = np.zeros((k, rows.shape[1]))
    if sp.issparse(rows):
        sum_sparse(rows.data, rows.indices, rows.indptr, codes, sums)
    else:
        sum_dense(rows, pivot, codes, sums)
    return sums


def sum_distances(centers: np.ndarray, block: Any) -> np.ndarray:
    """(2, k) sums of the distances to the center of the cluster, and of their squares."""
    rows, codes, _ = parts(block)
    out = np.zeros((2, len(centers)))
    if sp.issparse(rows):
        sizes = (centers**2).sum(axis=1)
        csr = (rows.data, rows.indices, rows.indptr)
        add_distances_sparse(*csr, codes, centers, sizes, *out)
    else:
        add_distances_dense(rows, codes, centers, *out)
    return out


def distances_to_centers(centers: np.ndarray, block: Any) -> np.ndarray:
    return euclidean(parts(block).rows, centers, centers.mean(axis=0))


# --- Kernels ---


@kernel
def sum_dense(rows, pivot, codes, sums):
    for i in range(rows.shape[0]):
        row, target = rows[i], sums[codes[i]]
        for j in range(row.shape[0]):
            target[j] += np.float64(row[j]) - pivot[j]


@kernel
def sum_sparse(data, indices, indptr, codes, sums):
    for i in range(codes.shape[0]):
        target = sums[codes[i]]
        for t in range(indptr[i], indptr[i + 1]):
            target[indices[t]] += data[t]


@kernel
def add_distances_dense(rows, codes, centers, distances, squares):
    for i in range(codes.shape[0]):
        a = codes[i]
        square = fast_square(rows[i], centers[a])
        distances[a] += math.sqrt(square)
        squares[a] += square


# fastmath: the order of the additions is left to the compiler, three times faster.
@kernel(fastmath=REASSOCIATE)
def fast_square(x, y):
    total = 0.0
    for j in range(x.shape[0]):
        z = np.float64(x[j]) - y[j]
        total += z * z
    return total


@kernel
def add_distances_sparse(data, indices, indptr, codes, centers, sizes, distances, squares):
    for i in range(codes.shape[0]):
        a, p, q = codes[i], indptr[i], indptr[i + 1]
        square = sparse_squared(data[p:q], indices[p:q], centers[a], sizes[a])
        distances[a] += math.sqrt(square)
        squares[a] += square
