"""Scores from the distances between all pairs of rows: silhouettes, the Dunn index, scatter.

Silhouette: is a row nearer to its own cluster than to the nearest other one?

    a   mean distance to the other rows of its cluster
    b   mean distance to the rows of the nearest other cluster
    s   (b - a) / max(a, b), from -1 to 1; 0 for a row that is alone in its cluster

``simplified=True`` takes the distances to the centers of the clusters instead of the mean
distances to their rows: two passes over the data, which may be a file.

Dunn index: the distance of the nearest clusters over the diameter of the widest one. A single
outlier changes it, so it detects clusters that touch or are not compact.

    least distance between rows of two clusters / largest distance within a cluster

Scatter: the distances between all rows, split into two sums. Both add up to the total, which no
clustering changes, so to lower one is to raise the other. Every pair counts twice, once from
either end, as the sums are usually written.

    within    sum over clusters of the distances between every two of its rows
    between   sum of the distances between every two rows of different clusters

Squared Euclidean distances need no pairs: those within a cluster of n rows add up to 2 n times
the squares about its mean, so two passes over any table are enough.

All are exact for any number of rows: pairs are computed a tile at a time, and none is stored.

Rousseeuw (1987), Silhouettes: a graphical aid to the interpretation and validation of cluster
analysis. Journal of Computational and Applied Mathematics 20.
Hruschka, de Castro and Campello (2004), Evolutionary algorithms for clustering gene-expression
data. ICDM. The simplified silhouette.
Dunn (1974), Well-separated clusters and optimal fuzzy partitions. Journal of Cybernetics 4.
The notes' sections on evaluating clusterings, on distances and on the analysis of k-means.
"""

import math
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from tacit.core.engines import Engine, get_engine
from tacit.core.kernel import kernel
from tacit.data.table import Table
from tacit.kernels.distances import between_rows, squared_distance
from tacit.measure.center_scores import Spread, center_distances, spread_of
from tacit.measure.distance_sums import (
    COLUMNS,
    SMALL,
    SortedRows,
    column_spans,
    distance_sums,
    distance_tiles,
    load_rows,
    row_ranges,
    sort_rows,
)
from tacit.measure.labels import Codes, check_two_clusters, codes_of, warn_undefined

__all__ = ["Scatter", "dunn_score", "scatter", "silhouette_samples", "silhouette_score"]


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
    values = silhouettes(X, labels, metric, simplified, engine, name)
    return float(values.mean())


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
        if not (isinstance(metric, str) and metric == "euclidean"):
            raise ValueError(
                f"{name}(simplified=True) takes distances to centers and so needs "
                f"metric='euclidean', not {metric!r}. Leave simplified out."
            )
        means, codes = center_distances(X, labels, engine, name=name)
        check_two_clusters(codes, name)
        own = np.take_along_axis(means, codes.codes[:, None], axis=1).ravel()
        return compare(own, nearest_other(means, codes.codes), codes, name)
    rows, codes = load_labeled(X, labels, metric, name)
    check_two_clusters(codes, name)
    own, other = np.empty(len(codes.codes)), np.empty(len(codes.codes))
    for numbers, sums in distance_sums(rows, codes, metric, engine):
        mine = codes.codes[numbers]
        own[numbers] = np.take_along_axis(sums, mine[:, None], axis=1).ravel()
        other[numbers] = nearest_other(sums / codes.counts, mine)
    own /= np.maximum(codes.counts[codes.codes] - 1, 1)
    return compare(own, other, codes, name)


def nearest_other(means: np.ndarray, own: np.ndarray) -> np.ndarray:
    means = means.copy()
    np.put_along_axis(means, own[:, None], np.inf, axis=1)
    return means.min(axis=1)


def compare(own: np.ndarray, other: np.ndarray, codes: Codes, name: str) -> np.ndarray:
    alone = codes.counts[codes.codes] == 1
    most = np.maximum(own, other)
    values = np.divide(other - own, most, out=np.zeros(len(own)), where=most > 0)
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
    if isinstance(metric, str) and metric == "precomputed":
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
    if isinstance(metric, str) and metric == "euclidean" and not sp.issparse(rows):
        task = partial(find_euclidean, sort_rows(rows, codes))
    else:
        task = partial(find_extremes, rows, metric, codes.codes)
    n = len(codes.codes)
    extremes = list(get_engine(engine).each(task, row_ranges(0, n), work=n * n))
    between, within = min(each[0] for each in extremes), max(each[1] for each in extremes)
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
    mine = codes[rows[0] : rows[1], None]
    for first, tile in distance_tiles(items, metric, rows, begin=rows[0]):
        same = mine == codes[first : first + tile.shape[1]]
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


@kernel
def extreme_squares(data, start, stop, begin, end):
    """Least square between clusters and largest within, from start:stop to begin:end."""
    rows, squares, codes = data.rows, data.squares, data.codes
    size = stop - start
    mine = rows[start:stop] * -2.0
    buffer = np.empty(size * COLUMNS)
    # One for every column of a tile, so that a vector of them is compared at once.
    lows, highs = np.full(COLUMNS, np.inf), np.zeros(COLUMNS)
    least, most = np.inf, 0.0
    for first in range(begin, end, COLUMNS):
        last = min(first + COLUMNS, end)
        products = buffer[: size * (last - first)].reshape(size, last - first)
        np.dot(mine, rows[first:last].T, products)
        others, theirs = squares[first:last], codes[first:last]
        longest = others.max()
        for b in range(size):
            i = start + b
            length = squares[i]
            bound = SMALL * (length + longest)
            small = 0
            for j in range(last - first):
                square = products[b, j] + others[j] + length
                is_small, same = square < bound, theirs[j] == codes[i]
                small += is_small
                low = np.inf if is_small or same else square
                high = square if same and not is_small else 0.0
                lows[j] = low if low < lows[j] else lows[j]
                highs[j] = high if high > highs[j] else highs[j]
            if small > 0:  # where the product loses digits, one by one
                for j in range(last - first):
                    if products[b, j] + others[j] + length < bound:
                        square = squared_distance(rows[i], rows[first + j])
                        if theirs[j] == codes[i]:
                            most = max(most, square)
                        else:
                            least = min(least, square)
    return min(least, lows.min()), max(most, highs.max())


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
        return {
            "within": self.within,
            "between": self.between,
            "total": self.total,
            "clusters": {str(name): value for name, value in self.clusters.items()},
        }


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
    if isinstance(metric, str) and metric == "sqeuclidean":
        return from_squares(spread_of(X, labels, engine, name="scatter"))
    rows, codes = load_labeled(X, labels, metric, "scatter")
    own, other = np.empty(len(codes.codes)), np.empty(len(codes.codes))
    for numbers, sums in distance_sums(rows, codes, metric, engine):
        mine = codes.codes[numbers][:, None]
        own[numbers] = np.take_along_axis(sums, mine, axis=1).ravel()
        np.put_along_axis(sums, mine, 0.0, axis=1)
        other[numbers] = sums.sum(axis=1)
    return Scatter(
        float(own.sum()),
        float(other.sum()),
        by_name(codes.names, np.bincount(codes.codes, own)),
    )


def from_squares(spread: Spread) -> Scatter:
    """Every term is positive, so nothing cancels."""
    counts = spread.codes.counts.astype(np.float64)
    within = 2 * counts * spread.squares
    apart = between_rows(spread.centers, spread.centers, "sqeuclidean")
    between = 2 * float((counts.sum() - counts) @ spread.squares)
    between += float(counts @ apart @ counts)
    return Scatter(float(within.sum()), between, by_name(spread.codes.names, within))


def by_name(names: np.ndarray, within: np.ndarray) -> dict:
    return dict(zip(names.tolist(), within.tolist(), strict=True))
