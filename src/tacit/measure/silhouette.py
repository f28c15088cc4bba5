"""Silhouettes: is a row nearer to its own cluster than to the nearest other one?

    a   mean distance to the other rows of its cluster
    b   mean distance to the rows of the nearest other cluster
    s   (b - a) / max(a, b), from -1 to 1; 0 for a row that is alone in its cluster

Exact for any number of rows: all pairs are computed a tile at a time, and none is stored. For
rows too many for that, ``simplified=True`` takes the distances to the centers of the clusters
instead of the mean distances to their rows: two passes over the data, which may be a file.

Rousseeuw (1987), Silhouettes: a graphical aid to the interpretation and validation of cluster
analysis. Journal of Computational and Applied Mathematics 20.
Hruschka, de Castro and Campello (2004), Evolutionary algorithms for clustering gene-expression
data. ICDM. The simplified silhouette. The notes' section on evaluating clusterings.
"""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from tacit.core.engines import Engine, get_engine
from tacit.data.table import Table
from tacit.measure.center_scores import center_distances
from tacit.measure.distance_sums import distance_sums, load_rows
from tacit.measure.labels import Codes, check_two_clusters, codes_of, warn_undefined

__all__ = ["silhouette_samples", "silhouette_score"]


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
    labels : array of n_rows labels of any kind
        The clusters.
    metric : {"euclidean", "sqeuclidean", "manhattan", "cosine", "precomputed"} or function
        The distance of two rows.
    simplified : bool
        Use distances to centers, in two passes. Euclidean only.
    sample_size : int or None
        Use a random sample of that many rows.
    random_state : int, RandomState or None
        Seed of the sample.
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

    Examples
    --------
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
    rows = load_rows(X, metric, name=name)
    size = len(rows) if isinstance(rows, list) else rows.shape[0]
    codes = codes_of(labels, name=name, rows=size)
    check_two_clusters(codes, name)
    own, other = np.empty(size), np.empty(size)
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
