"""Scatter: the distances between all rows, split into those within clusters and between.

    within    sum over clusters of the distances between every two of its rows
    between   sum of the distances between every two rows of different clusters

Both add up to the total, which no clustering changes, so to lower one is to raise the other.
Every pair counts twice, once from either end, as the sums are usually written.

Squared Euclidean distances need no pairs: those within a cluster of n rows add up to 2 n times
the squares about its mean, so two passes over any table are enough.

The notes' sections on distances and on the analysis of k-means.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tacit.core.engines import Engine, get_engine
from tacit.kernels.distances import between_rows
from tacit.measure.center_scores import Spread, spread_of
from tacit.measure.distance_sums import distance_sums, load_rows
from tacit.measure.labels import codes_of

__all__ = ["Scatter", "scatter"]


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

    Parameters
    ----------
    X : array, CSR matrix, Table, list of objects or square matrix of distances
        What was clustered. With metric="sqeuclidean" also a Table larger than memory.
    labels : array of n_rows labels of any kind
        The clusters.
    metric : {"euclidean", "sqeuclidean", "manhattan", "cosine", "precomputed"} or function
        The distance of two rows.
    engine : {"serial", "threads", "dask"} or Engine
        Where the distances are computed.

    Examples
    --------
    >>> sums = scatter(np.array([[0.0], [1.0], [10.0]]), ["a", "a", "b"])
    >>> sums
    Scatter(within=2.0, between=38.0)
    >>> sums.total, sums.clusters
    (40.0, {'a': 2.0, 'b': 0.0})
    """
    engine = get_engine(engine)
    if isinstance(metric, str) and metric == "sqeuclidean":
        return from_squares(spread_of(X, labels, engine, name="scatter"))
    rows = load_rows(X, metric, name="scatter")
    size = len(rows) if isinstance(rows, list) else rows.shape[0]
    codes = codes_of(labels, name="scatter", rows=size)
    own, other = np.empty(size), np.empty(size)
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
