"""Scatter: the distances between all rows, split into those within clusters and between.

    within    sum over clusters of the distances between every two of its rows
    between   sum of the distances between every two rows of different clusters

Both add up to the total, which no clustering can change, so to lower one is to raise the
other. Every pair counts twice, once from either end, as the sums are usually written.

Squared Euclidean distances need no pairs: those within a cluster of n rows add up to 2 n times
the squares about its mean, so two passes over any table will do.

The notes' sections on distances and on the analysis of k-means.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tacit.core.engines import Engine, get_engine
from tacit.kernels.distances import between_rows
from tacit.measure.by_centers import Spread, spread_of
from tacit.measure.distance_sums import distance_sums, load_rows
from tacit.measure.labels import codes_of

__all__ = ["Scatter", "scatter"]


@dataclass(frozen=True)
class Scatter:
    """Sums of distances between rows, every pair counted from both ends."""

    within: float
    between: float
    clusters: dict = field(repr=False)  # label -> its share of ``within``

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
        What was clustered. With metric="sqeuclidean" also a Table that memory does not hold.
    labels : array of n_rows labels of any kind
        The clusters.
    metric : {"euclidean", "sqeuclidean", "manhattan", "cosine", "precomputed"} or function
        How far two rows lie apart.
    engine : {"serial", "threads", "dask"} or Engine
        Where the distances are computed.

    Examples
    --------
    >>> found = scatter(np.array([[0.0], [1.0], [10.0]]), ["a", "a", "b"])
    >>> found
    Scatter(within=2.0, between=38.0)
    >>> found.total, found.clusters
    (40.0, {'a': 2.0, 'b': 0.0})
    """
    engine = get_engine(engine)
    if isinstance(metric, str) and metric == "sqeuclidean":
        return from_squares(spread_of(X, labels, engine, name="scatter"))
    rows = load_rows(X, metric, name="scatter")
    size = len(rows) if isinstance(rows, list) else rows.shape[0]
    codes = codes_of(labels, name="scatter", rows=size)
    own, all_sums = np.empty(size), np.empty(size)
    for places, sums in distance_sums(rows, codes, metric, engine):
        mine = codes.codes[places][:, None]
        own[places] = np.take_along_axis(sums, mine, axis=1).ravel()
        np.put_along_axis(sums, mine, 0.0, axis=1)
        all_sums[places] = sums.sum(axis=1)
    return Scatter(
        float(own.sum()),
        float(all_sums.sum()),
        shares(codes.names, np.bincount(codes.codes, own)),
    )


def from_squares(spread: Spread) -> Scatter:
    """Every term is positive, so nothing cancels."""
    counts = spread.codes.counts.astype(np.float64)
    within = 2 * counts * spread.squares
    apart = between_rows(spread.centers, spread.centers, "sqeuclidean")
    between = 2 * float((counts.sum() - counts) @ spread.squares)
    between += float(counts @ apart @ counts)
    return Scatter(float(within.sum()), between, shares(spread.codes.names, within))


def shares(names: np.ndarray, within: np.ndarray) -> dict:
    return dict(zip(names.tolist(), within.tolist(), strict=True))
