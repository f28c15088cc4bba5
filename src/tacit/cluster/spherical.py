"""Spherical k-means: rows by direction, around centers of length one.

    collect   scale each row to length one; give it to the center with the largest cosine; sum
              the rows of each center
    update    move each center to the direction of its sum

The loss of a row is 1 - cos, which a pass never raises. Between rows and centers of length
one it is half the squared distance, so ``lloyd`` does the work: bounds, exact sums, ties and
empty clusters are as for k-means, only the centers return to length one after each update.
Half the square keeps its digits where 1 - cos would lose them. A center whose rows cancel
out stays where it was: every direction has the same loss.

A row of zeros has no direction. Its cosine with every center counts as 0, so it adds 1 to the
loss, moves no center and gets the label 0.

Dhillon and Modha (2001), Concept decompositions for large sparse text data using clustering.
Machine Learning 42. The notes' sections on k-means and on cosine similarity.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from tacit.cluster import lloyd
from tacit.cluster.kmeans import RestartedEstimator
from tacit.core.engines import Engine
from tacit.data.scaled_rows import unit_table
from tacit.data.summary import DataSummary
from tacit.data.table import Batch, Table, parts
from tacit.kernels.distances import euclidean
from tacit.kernels.unit_rows import unit_rows

__all__ = ["SphericalKMeans", "collect", "start", "update"]


# --- The algorithm: Lloyd's on rows of length one ---


def start(
    centers: np.ndarray, summary: DataSummary, *, sparse: bool = False
) -> lloyd.KMeansParams:
    """Params before the first pass; the summary is of the rows at length one."""
    centers = np.ascontiguousarray(centers, np.float64)
    unit, zero = unit_rows(centers)
    if zero.any():
        raise ValueError(
            f"SphericalKMeans(init=...): center {int(np.argmax(zero))} is all zero and has no "
            "direction. Give it another value."
        )
    return lloyd.start(unit, summary, sparse=sparse)


def collect(
    params: lloyd.KMeansParams, block: Any, cache: lloyd.BlockCache | None = None
) -> lloyd.KMeansStats:
    """Give each row to the center with the largest cosine; sum the unit rows of each."""
    unit, lost = scale_block(block, cache)
    stats = lloyd.collect(params, unit, cache)
    return replace(stats, rows=stats.rows + lost, loss=stats.loss / 2 + lost)


def update(params: lloyd.KMeansParams, stats: lloyd.KMeansStats) -> lloyd.KMeansParams:
    """Centers become the directions of their sums."""
    means, empty = lloyd.new_centers(params, stats)
    centers, zero = unit_rows(means)
    centers[zero] = params.centers[zero]
    return lloyd.moved(params, centers, empty)


def scale_block(block: Any, cache: lloyd.BlockCache | None = None) -> tuple[Batch, float]:
    """The block at length one, rows of zeros without weight; and the weight that those had.

    Sparse rows are scaled once in a fit: only their values are copied, into the cache.
    """
    if cache is not None and cache.unit is not None:
        return cache.unit
    rows, _, weights = parts(block)
    unit, zero = unit_rows(rows)
    lost = 0.0
    if zero.any():
        weights = np.ones(len(zero)) if weights is None else weights
        weights, lost = np.where(zero, 0.0, weights), float(weights[zero].sum())
    scaled = Batch(unit, None, weights), lost
    if cache is not None and sp.issparse(rows):
        cache.unit = scaled
    return scaled


def label_and_loss(
    params: lloyd.KMeansParams, block: Any, cache: lloyd.BlockCache | None = None
) -> tuple[np.ndarray, float]:
    """The labels of a block, and its loss summed row by row."""
    unit, lost = scale_block(block, cache)
    labels, loss = lloyd.label_and_loss(params, unit, cache)
    if unit.weights is not None:
        labels = np.where(unit_rows(unit.rows)[1], np.int32(0), labels)
    return labels, loss / 2 + lost


def assign(
    params: lloyd.KMeansParams, block: Any, cache: lloyd.BlockCache | None = None
) -> np.ndarray:
    """The label of every row of a block."""
    return label_and_loss(params, block, cache)[0]


def distances_to_centers(params: lloyd.KMeansParams, block: Any) -> np.ndarray:
    """(n, k) cosine distances, in the dtype of the rows."""
    unit, zero = unit_rows(parts(block).rows)
    distances = euclidean(unit, params.centers, params.summary.origin) ** 2 / 2
    distances[zero] = 1.0
    return distances.astype(unit.dtype)


# --- The estimator ---


class SphericalKMeans(RestartedEstimator):
    """Cluster rows by direction: documents by their words, whatever their length.

    Rows are compared by cosine; their lengths do not matter and need not be one. The result
    is the same on every engine, for any number of workers and any size of block, from memory
    or from a file.

    Parameters
    ----------
    n_clusters : int, number of centers
    init : {"k-means++", "random"}, array of shape (n_clusters, n_features) or function
        The first centers, as for ``KMeans``, among rows of length one.
    tol : float
        Stop when the centers move, in squares, by less than this fraction of the variance of
        the unit rows. Zero runs until no center moves.
    n_init, max_iter, random_state, engine, callbacks
        As for ``KMeans``.

    Attributes
    ----------
    cluster_centers_ : array of shape (n_clusters, n_features), rows of length one
    labels_ : int32 array of shape (n_rows,), absent when fitted on a Table or a Dask array;
        a row of zeros has the label 0
    inertia_ : float, the weighted sum of 1 - cos; a row of zeros counts 1
    losses_ : list of float, the mean loss after 0, 1, 2, ... updates
    n_iter_ : int, updates made
    converged_ : bool, False where ``max_iter`` or a callback ended the fit

    Examples
    --------
    >>> X = np.array([[1.0, 0.1], [90.0, 0.0], [0.0, 2.0], [0.2, 30.0]])
    >>> model = SphericalKMeans(2, random_state=0).fit(X)
    >>> bool(model.labels_[0] == model.labels_[1] != model.labels_[2] == model.labels_[3])
    True
    """

    _start = staticmethod(start)
    _collect = staticmethod(collect)
    _update = staticmethod(update)
    _settled = staticmethod(lloyd.settled)
    _assign = staticmethod(assign)
    _label_and_loss = staticmethod(label_and_loss)
    _distances = staticmethod(distances_to_centers)
    _too_few = "the rows have only {} directions"

    def _compared(self, table: Table, *, fitting: bool) -> Table:
        return unit_table(table, keep_zero=not fitting)

    def _summarize(self, rows: Table, engine: Engine) -> DataSummary:
        try:
            return super()._summarize(rows, engine)
        except ValueError as error:
            if "sample weights add up" not in str(error):
                raise
            raise ValueError(
                "SphericalKMeans needs rows with a direction, but all rows are zero or have "
                "weight zero. Leave such rows out, and give some others."
            ) from None
