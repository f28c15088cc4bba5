"""Scores from the distances between all pairs of rows: silhouettes, the Dunn index, scatter.

    silhouette    (b - a) / max(a, b), from -1 to 1: a is the mean distance of a row to the
                  other rows of its cluster, b that to the rows of the nearest other cluster; 0
                  for a row that is alone. ``simplified=True`` takes the distances to the
                  centers instead, in two passes over the data, which may be a file
    Dunn index    least distance between rows of two clusters over the largest distance within
                  one. A single outlier changes it: it detects clusters that are not compact
    scatter       the distances between all rows in two sums, within clusters and between
                  them, every pair twice, once from either end. No clustering changes the total:
                  to lower one sum is to raise the other. Squared distances need no pairs:
                  within n rows they add up to 2 n times the squares about the mean

All are exact for any number of rows: pairs are computed a tile at a time, and none is stored.
One file: three scores of the same tiles of distances.

Rousseeuw (1987), Silhouettes: a graphical aid to the interpretation and validation of cluster
analysis. Journal of Computational and Applied Mathematics 20.
Hruschka, de Castro and Campello (2004), Evolutionary algorithms for clustering gene-expression
data. ICDM. The simplified silhouette.
Dunn (1974), Well-separated clusters and optimal fuzzy partitions. Journal of Cybernetics 4.
The notes' sections on evaluating clusterings, on distances and on the analysis of k-means.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from tacit.core.engines import Engine, check_stop, get_engine
from tacit.core.kernel import REASSOCIATE, kernel
from tacit.core.memory import check_memory
from tacit.data.bad_values import check_values
from tacit.data.sparse_structure import check_structure
from tacit.data.table import Table
from tacit.kernels.distances import METRICS, between_objects, between_rows, squared_distance
from tacit.measure.center_scores import center_distances, spread_of
from tacit.measure.labels import Codes, check_two_clusters, codes_of, warn_undefined

__all__ = [
    "Scatter", "dunn_score", "load_rows", "scatter", "silhouette_samples", "silhouette_score",
]  # fmt: skip

ROWS = 256  # of a range
COLUMNS = 512  # of a tile: it stays in cache (silhouette in benchmarks/measure/clustering.py)
CALL_WORK = 2**27  # multiplications in one kernel call
SYMMETRIC_BYTES = 2**30  # for all sums at once
SMALL = 1e-6  # a square below this fraction of its terms is recomputed


class SortedRows(NamedTuple):
    """Rows in the order of their clusters."""

    rows: np.ndarray  # (n, d) float64, about their mean
    squares: np.ndarray  # (n,) their squared lengths
    starts: np.ndarray  # (k + 1,) where each cluster begins
    codes: np.ndarray  # (n,) int32
    order: np.ndarray  # (n,) the row's number in the data


def load_rows(X: Any, metric: Any, *, name: str) -> Any:
    """X in memory and checked: float rows, CSR, a list of objects or a matrix of distances."""
    if callable(metric) and len(getattr(X, "shape", ())) != 2 and not isinstance(X, Table):
        return list(X)
    if not callable(metric) and metric not in (*METRICS, "precomputed"):
        raise ValueError(
            f"{name}: metric={metric!r} is unknown. Choose from "
            f"{[*METRICS, 'precomputed']}, or give a function of two rows."
        )
    if isinstance(X, Table):
        if not X.in_memory:
            check_memory(
                2 * 8 * X.shape[0] * X.shape[1],
                f"{name} compares all pairs of rows, and to hold {len(X):,} of them",
                "Take a sample of the rows, or a score that needs only their centers.",
            )
        X = X.take(np.arange(len(X)))
    if sp.issparse(X):
        check_structure(X, name)
        X = sp.csr_array(X)
    else:
        X = np.asarray(X)
        if X.dtype.kind not in "fiub":
            X = np.asarray(X, np.float64)
    if X.ndim != 2:
        raise ValueError(
            f"{name} needs rows and columns, but X has ndim={X.ndim}. Reshape it to two "
            "dimensions."
        )
    if not X.shape[0]:
        raise ValueError(f"{name} got no rows (0 samples) in X. Give it at least one.")
    check_values(X, name)
    if metric == "precomputed":
        check_distances(X, name)
    return X


def check_distances(X: Any, name: str) -> None:
    if X.shape[0] != X.shape[1]:
        raise ValueError(
            f"{name}(metric='precomputed') needs a square matrix of distances, but X has shape "
            f"{X.shape}. Give one row and one column per item."
        )
    if sp.issparse(X):
        raise TypeError(
            f"{name}(metric='precomputed') needs a dense matrix: what a sparse one leaves out "
            "would count as no distance. Give X.toarray() if that is meant."
        )
    if X.min() < 0:
        raise ValueError(
            f"{name}(metric='precomputed') needs distances of zero or more, but the least is "
            f"{X.min():.3g}. Distances are never negative; similarities are another thing."
        )
    if X.diagonal().max() > 1e-6 * X.max():
        raise ValueError(
            f"{name}(metric='precomputed') needs zero from an item to itself, but the diagonal "
            f"contains non-zero distances up to {X.diagonal().max():.3g}. Use "
            "np.fill_diagonal(X, 0)."
        )


def load_labeled(X: Any, labels: Any, metric: Any, name: str) -> tuple[Any, Codes]:
    """The rows in memory, and their clusters."""
    rows = load_rows(X, metric, name=name)
    n = len(rows) if isinstance(rows, list) else rows.shape[0]
    return rows, codes_of(labels, name=name, rows=n)


# --- Silhouettes ---


def silhouette_score(
    X: Any,
    labels: Any,
    *,
    metric: Any = "euclidean",
    simplified: bool = False,
    sample_size: int | None = None,
    random_state: Any = None,
    engine: str | Engine = "threads",
) -> float:
    """Mean silhouette of all rows: 1 for clusters far apart, about 0 for one split in two.

    Parameters
    ----------
    X : array, CSR matrix, Table, list of objects or square matrix of distances
        What was clustered.
    labels : array of n_rows labels of any kind, the clusters
    metric : {"euclidean", "sqeuclidean", "manhattan", "cosine", "precomputed"} or function
        The distance of two rows.
    simplified : bool
        Use distances to centers, in two passes. Euclidean only.
    sample_size : int or None; use a random sample of that many rows
    random_state : int, RandomState or None; seed of the sample
    engine : {"serial", "threads", "dask"} or Engine
        Where the distances are computed.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [10.0], [11.0]])
    >>> silhouette_score(X, [0, 0, 1, 1])
    0.8997...
    >>> silhouette_score(X, [0, 0, 1, 1], simplified=True)
    0.9498...
    """
    name = "silhouette_score"
    if sample_size is not None:
        X, labels = draw_sample(X, labels, metric, sample_size, random_state, name)
    return float(silhouettes(X, labels, metric, simplified, engine, name).mean())


def silhouette_samples(
    X: Any,
    labels: Any,
    *,
    metric: Any = "euclidean",
    simplified: bool = False,
    engine: str | Engine = "threads",
) -> np.ndarray:
    """The silhouette of every row: below 0 where another cluster is nearer.

    Parameters are those of ``silhouette_score``.

    >>> X = np.array([[0.0], [1.0], [5.0], [11.0]])
    >>> silhouette_samples(X, [0, 0, 1, 1]).round(2)
    array([ 0.88,  0.86, -0.25,  0.43])
    """
    return silhouettes(X, labels, metric, simplified, engine, "silhouette_samples")


def silhouettes(
    X: Any, labels: Any, metric: Any, simplified: bool, engine: str | Engine, name: str
) -> np.ndarray:
    engine = get_engine(engine)
    if simplified:
        if metric != "euclidean":
            raise ValueError(
                f"{name}(simplified=True) takes distances to centers and so needs "
                f"metric='euclidean', not {metric!r}. Leave simplified out."
            )
        means, codes = center_distances(X, labels, engine, name=name)
        check_two_clusters(codes, name)
        a = np.take_along_axis(means, codes.codes[:, None], axis=1).ravel()
        return silhouettes_from(a, nearest_other(means, codes.codes), codes, name)
    rows, codes = load_labeled(X, labels, metric, name)
    check_two_clusters(codes, name)
    a, b = np.empty(len(codes.codes)), np.empty(len(codes.codes))
    for numbers, sums in distance_sums(rows, codes, metric, engine):
        clusters = codes.codes[numbers]
        a[numbers] = np.take_along_axis(sums, clusters[:, None], axis=1).ravel()
        b[numbers] = nearest_other(sums / codes.counts, clusters)
    a /= np.maximum(codes.counts[codes.codes] - 1, 1)
    return silhouettes_from(a, b, codes, name)


def nearest_other(means: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """The least mean distance of every row to another cluster."""
    means = means.copy()
    np.put_along_axis(means, codes[:, None], np.inf, axis=1)
    return means.min(axis=1)


def silhouettes_from(a: np.ndarray, b: np.ndarray, codes: Codes, name: str) -> np.ndarray:
    alone = codes.counts[codes.codes] == 1
    most = np.maximum(a, b)
    values = np.divide(b - a, most, out=np.zeros(len(a)), where=most > 0)
    values[alone] = 0.0
    if alone.all() or not most.any():
        why = "every row is a cluster of its own" if alone.all() else "all rows are equal"
        warn_undefined(name, why, stacklevel=5)
    return values


def draw_sample(X: Any, labels: Any, metric: Any, size: int, random_state: Any, name: str):
    if isinstance(X, Table):
        X = load_rows(X, metric, name=name)
    n = len(X) if isinstance(X, list) else X.shape[0]
    labels = np.asarray(labels)
    codes_of(labels, name=name, rows=n)
    chosen = check_random_state(random_state).permutation(n)[:size]
    if metric == "precomputed":
        return np.asarray(X)[np.ix_(chosen, chosen)], labels[chosen]
    return ([X[i] for i in chosen] if isinstance(X, list) else X[chosen]), labels[chosen]


# --- The Dunn index ---


def dunn_score(
    X: Any, labels: Any, *, metric: Any = "euclidean", engine: str | Engine = "threads"
) -> float:
    """Least distance between two clusters over the largest within one: high is good.

    Parameters are those of ``silhouette_score``.

    Returns
    -------
    float; 0.0 with a warning where every cluster is a single point.

    Examples
    --------
    >>> dunn_score(np.array([[0.0], [1.0], [10.0], [12.0]]), [0, 0, 1, 1])
    4.5
    """
    name = "dunn_score"
    rows, codes = load_labeled(X, labels, metric, name)
    check_two_clusters(codes, name)
    if metric == "euclidean" and not sp.issparse(rows):
        task = partial(find_euclidean, sort_rows(rows, codes))
    else:
        task = partial(find_extremes, rows, metric, codes.codes)
    n = len(codes.codes)
    extremes = list(get_engine(engine).each(task, row_ranges(0, n), work=n * n))
    least, largest = zip(*extremes, strict=True)
    between, within = min(least), max(largest)
    if not np.isfinite([between, within]).all():
        raise ValueError(f"{name}: the data holds values whose distances overflow. Rescale it.")
    if within == 0:
        return warn_undefined(name, "every cluster is a single point")
    return float(between / within)


def find_extremes(
    items: Any, metric: Any, codes: np.ndarray, rows: tuple[int, int]
) -> tuple[float, float]:
    """Least distance between clusters and largest within one, of a range of items and all from
    there on."""
    between, within = np.inf, 0.0
    clusters = codes[rows[0] : rows[1], None]
    for first, tile in distance_tiles(items, metric, rows, begin=rows[0]):
        same = clusters == codes[first : first + tile.shape[1]]
        between = min(between, float(tile.min(where=~same, initial=np.inf)))
        within = max(within, float(tile.max(where=same, initial=0.0)))
    return between, within


def find_euclidean(data: SortedRows, rows: tuple[int, int]) -> tuple[float, float]:
    """The same for Euclidean distances of dense rows."""
    between, within = np.inf, 0.0
    for first, last in column_spans(data, rows, rows[0]):
        low, high = extreme_squares(data, *rows, first, last)
        between, within = min(between, low), max(within, high)
    return math.sqrt(between), math.sqrt(within)


# --- Scatter ---


@dataclass(frozen=True)
class Scatter:
    """Sums of distances between rows, every pair counted from both ends."""

    within: float
    between: float
    clusters: dict = field(repr=False)  # label -> its part of ``within``

    @property
    def total(self) -> float:
        """Within and between together: the same for every clustering of the rows."""
        return self.within + self.between

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON values."""
        clusters = {str(name): value for name, value in self.clusters.items()}
        sums = {"within": self.within, "between": self.between, "total": self.total}
        return {**sums, "clusters": clusters}


def scatter(
    X: Any, labels: Any, *, metric: Any = "euclidean", engine: str | Engine = "threads"
) -> Scatter:
    """Sum the distances within clusters and between them.

    Parameters are those of ``silhouette_score``. With metric="sqeuclidean" X may also be a
    Table larger than memory.

    >>> sums = scatter(np.array([[0.0], [1.0], [10.0]]), ["a", "a", "b"])
    >>> sums
    Scatter(within=2.0, between=38.0)
    >>> sums.total, sums.clusters
    (40.0, {'a': 2.0, 'b': 0.0})
    """
    engine = get_engine(engine)
    if metric == "sqeuclidean":
        spread = spread_of(X, labels, engine, name="scatter")
        names, sizes = spread.codes.names, spread.codes.counts.astype(np.float64)
        apart = between_rows(spread.centers, spread.centers, "sqeuclidean")
        # Every term is positive, so nothing cancels.
        inside = 2 * sizes * spread.squares
        across = 2 * float((sizes.sum() - sizes) @ spread.squares)
        across += float(sizes @ apart @ sizes)
        clusters = dict(zip(names.tolist(), inside.tolist(), strict=True))
        return Scatter(float(inside.sum()), across, clusters)
    rows, codes = load_labeled(X, labels, metric, "scatter")
    within, between = np.empty(len(codes.codes)), np.empty(len(codes.codes))
    for numbers, sums in distance_sums(rows, codes, metric, engine):
        cluster = codes.codes[numbers][:, None]
        within[numbers] = np.take_along_axis(sums, cluster, axis=1).ravel()
        np.put_along_axis(sums, cluster, 0.0, axis=1)
        between[numbers] = sums.sum(axis=1)
    by_cluster = np.bincount(codes.codes, within).tolist()
    clusters = dict(zip(codes.names.tolist(), by_cluster, strict=True))
    return Scatter(float(within.sum()), float(between.sum()), clusters)


# --- Distances between all pairs of rows, a tile at a time ---


def distance_sums(
    X: Any, labels: Codes, metric: Any, engine: Engine
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Numbers of some rows, and their (rows, k) sums of distances; until all are done.

    Dense rows are sorted by cluster, so that the Euclidean distances of a range of rows to a
    cluster are contiguous, and a tile of them is one matrix product. Each pair is computed
    once, or from both sides where many small clusters would take too much memory.
    """
    n, k = len(labels.codes), len(labels.counts)
    order, task = np.arange(n), partial(sum_tiles, X, metric, labels.codes, k)
    if metric == "euclidean" and not sp.issparse(X):
        data = sort_rows(X, labels)
        order, task = data.order, partial(sum_all, data)
        if 8 * n * k <= SYMMETRIC_BYTES and n >= 64 * k:
            yield order, sum_pairs_once(data, engine)
            return
    ranges = row_ranges(0, n)
    for (start, stop), sums in zip(ranges, engine.each(task, ranges, work=n * n), strict=True):
        yield order[start:stop], sums


def row_ranges(start: int, stop: int) -> list[tuple[int, int]]:
    """Ranges of ROWS rows from start to stop; the last may be shorter."""
    return [(i, min(i + ROWS, int(stop))) for i in range(int(start), int(stop), ROWS)]


def distance_tiles(
    items: Any, metric: Any, rows: tuple[int, int], begin: int = 0
) -> Iterator[tuple[int, np.ndarray]]:
    """The distances from a range of items to all from ``begin`` on: first column, tile."""
    start, stop = rows
    if metric == "precomputed":
        yield begin, np.asarray(items[start:stop, begin:])
        return
    n = len(items) if isinstance(items, list) else items.shape[0]
    for first in range(begin, n, 16 * COLUMNS):
        check_stop()
        others = items[first : first + 16 * COLUMNS]
        between = between_objects if isinstance(items, list) else between_rows
        yield first, between(items[start:stop], others, metric)


def sort_rows(X: np.ndarray, labels: Codes) -> SortedRows:
    """The rows about their mean, cluster by cluster; ValueError where squares overflow."""
    order = np.argsort(labels.codes, kind="stable")
    rows = np.asarray(X, np.float64)[order]
    # First a row, then the mean of what is left: no digits go to a large offset.
    rows -= rows[0].copy()
    rows -= rows.mean(axis=0)
    starts = np.concatenate([[0], np.cumsum(labels.counts)])
    squares = np.einsum("nd,nd->n", rows, rows)
    if not np.isfinite(squares).all():
        raise ValueError(
            f"The data holds values as large as {np.abs(X).max():.3g}, whose squared distances "
            "overflow. Rescale it, for example divide by that number."
        )
    return SortedRows(rows, squares, starts, labels.codes[order], order)


def sum_pairs_once(data: SortedRows, engine: Engine) -> np.ndarray:
    """(n, k) sums, each pair of rows computed once."""
    n, k = len(data.rows), len(data.starts) - 1
    total = np.zeros((k, n))
    ranges = [rows for c in range(k) for rows in row_ranges(*data.starts[c : c + 2])]
    sums = engine.each(partial(sum_later, data), ranges, work=n * n)
    for (start, stop), (inside, later) in zip(ranges, sums, strict=True):
        total[:, start:stop] += inside.T
        total[data.codes[start], stop:] += later[stop - start :]
    return total.T


def sum_later(data: SortedRows, rows: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Rows of one cluster against themselves and all later rows: the (rows, k) sums, and what
    the distances add to the sums of the rows from the first on."""
    later = np.zeros(len(data.rows) - rows[0])
    return sum_all(data, rows, rows[0], later), later


def sum_all(
    data: SortedRows, rows: tuple[int, int], begin: int = 0, later: np.ndarray | None = None
) -> np.ndarray:
    """(rows, k) sums of a range of rows against all from ``begin`` on."""
    later = np.empty(0) if later is None else later
    sums = np.zeros((rows[1] - rows[0], len(data.starts) - 1))
    for first, last in column_spans(data, rows, begin):
        add_tiles(data, *rows, first, last, sums, later)
    return sums


def column_spans(
    data: SortedRows, rows: tuple[int, int], begin: int
) -> Iterator[tuple[int, int]]:
    """Columns from ``begin`` on, for one kernel call at a time."""
    n, d = data.rows.shape
    step = max(COLUMNS, CALL_WORK // ((rows[1] - rows[0]) * (d + 8)))
    for first in range(begin, n, step):
        check_stop()
        yield first, min(first + step, n)


def sum_tiles(
    items: Any, metric: Any, codes: np.ndarray, k: int, rows: tuple[int, int]
) -> np.ndarray:
    """(rows, k) sums of the distances from a range of items to all, by any metric."""
    out = np.zeros((rows[1] - rows[0], k))
    for first, tile in distance_tiles(items, metric, rows):
        sum_by_label(tile, codes[first : first + tile.shape[1]], out)
    return out


# --- Kernels ---


# fastmath: the order of additions within a row of a tile is left to the compiler, which makes
# this several times faster. It is the same for every engine.
@kernel(fastmath=REASSOCIATE)
def add_tiles(data, start, stop, begin, end, sums, later):
    """Add the distances from the rows start:stop to the rows begin:end, tile by tile."""
    rows, squares, starts = data.rows, data.squares, data.starts
    k, size = starts.shape[0] - 1, stop - start
    left = rows[start:stop] * -2.0
    buffer, roots = np.empty(size * COLUMNS), np.empty(COLUMNS)
    first_cluster = 0
    for first in range(begin, end, COLUMNS):
        last = min(first + COLUMNS, end)
        products = buffer[: size * (last - first)].reshape(size, last - first)
        np.dot(left, rows[first:last].T, products)
        while starts[first_cluster + 1] <= first:
            first_cluster += 1
        c = first_cluster
        while c < k and starts[c] < last:
            low, high = max(starts[c], first), min(starts[c + 1], last)
            others = squares[low:high]
            longest = 0.0
            for j in range(others.shape[0]):
                longest = max(longest, others[j])
            for b in range(size):
                tile = products[b, low - first : high - first]
                length = squares[start + b]
                bound = SMALL * (length + longest)
                if later.shape[0] > 0:
                    target = later[low - start : high - start]
                    total, small = add_roots(tile, others, length, bound, roots, target)
                else:
                    target = later
                    total, small = sum_roots(tile, others, length, bound)
                if small > 0:
                    total += correct_small(tile, rows, start + b, low, others, length, target)
                sums[b, c] += total
            c += 1


@kernel(fastmath=REASSOCIATE)
def sum_roots(products, others, length, bound):
    """The sum of the distances, and how many squares are below the bound."""
    total, small = 0.0, 0
    for j in range(products.shape[0]):
        square = products[j] + others[j] + length
        small += 1 if square < bound else 0
        total += math.sqrt(square if square > 0.0 else 0.0)
    return total, small


@kernel(fastmath=REASSOCIATE)
def add_roots(products, others, length, bound, roots, target):
    """``sum_roots``, and every distance added to the sum of the row at its other end."""
    total, small = 0.0, 0
    for j in range(products.shape[0]):
        square = products[j] + others[j] + length
        small += 1 if square < bound else 0
        roots[j] = math.sqrt(square if square > 0.0 else 0.0)
    for j in range(products.shape[0]):
        total += roots[j]
    for j in range(products.shape[0]):
        target[j] += roots[j]
    return total, small


@kernel
def correct_small(products, rows, i, low, others, length, target):
    """Recompute the small distances of a row one by one; by how much the sum changes."""
    change = 0.0
    for j in range(products.shape[0]):
        square = products[j] + others[j] + length
        if square < SMALL * (length + others[j]):
            error = math.sqrt(squared_distance(rows[i], rows[low + j]))
            error -= math.sqrt(max(square, 0.0))
            change += error
            if target.shape[0] > 0:
                target[j] += error
    return change


@kernel
def sum_by_label(distances, codes, out):
    for i in range(distances.shape[0]):
        row, target = distances[i], out[i]
        for j in range(codes.shape[0]):
            target[codes[j]] += row[j]


@kernel
def extreme_squares(data, start, stop, begin, end):
    """Least square between clusters and largest within, from start:stop to begin:end."""
    rows, squares, codes = data.rows, data.squares, data.codes
    size = stop - start
    left = rows[start:stop] * -2.0
    buffer = np.empty(size * COLUMNS)
    # One for every column of a tile, so that a vector of them is compared at once.
    lows, highs = np.full(COLUMNS, np.inf), np.zeros(COLUMNS)
    least, most = np.inf, 0.0
    for first in range(begin, end, COLUMNS):
        last = min(first + COLUMNS, end)
        products = buffer[: size * (last - first)].reshape(size, last - first)
        np.dot(left, rows[first:last].T, products)
        others, other_codes = squares[first:last], codes[first:last]
        longest = others.max()
        for b in range(size):
            i = start + b
            length = squares[i]
            bound = SMALL * (length + longest)
            small = 0
            for j in range(last - first):
                square = products[b, j] + others[j] + length
                is_small, same = square < bound, other_codes[j] == codes[i]
                small += is_small
                low = np.inf if is_small or same else square
                high = square if same and not is_small else 0.0
                lows[j] = low if low < lows[j] else lows[j]
                highs[j] = high if high > highs[j] else highs[j]
            if small > 0:  # where the product loses digits, one by one
                for j in range(last - first):
                    if products[b, j] + others[j] + length < bound:
                        square = squared_distance(rows[i], rows[first + j])
                        if other_codes[j] == codes[i]:
                            most = max(most, square)
                        else:
                            least = min(least, square)
    return min(least, lows.min()), max(most, highs.max())
