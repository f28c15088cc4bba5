"""The cluster of a tree that a new row belongs to, by the distance of the linkage.

The new row is a cluster of one, and joins the cluster that the linkage finds closest:

    single     the cluster of the nearest row
    complete   where the farthest row is nearest
    average    where the mean distance is smallest
    weighted   likewise; the weight of a row is halved by every merge above it in the cluster
    centroid   the nearest mean
    median     the nearest center, rows weighted as for weighted
    ward       where it adds least to the sum of squares

A tie goes to the lowest label. The tree does not change, so a row of the fit may get another
label here than in the tree.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tacit.cluster.hierarchy.inputs import ALIASES, CENTERED, FORMS
from tacit.core.kernel import kernel
from tacit.kernels.distances import between_rows

__all__ = ["LabeledRows", "gather_rows", "nearest_clusters", "row_weights", "sort_rows"]

BLOCK_VALUES = 2**21  # distances at a time


class LabeledRows(NamedTuple):
    """The rows and centers of the clusters; arrays that a linkage does not need are empty."""

    method: str
    metric: Any
    rows: Any  # sorted by label
    order: np.ndarray  # (n,) the index of each in the fit
    starts: np.ndarray  # (k,) where every label begins
    weights: np.ndarray  # (n,) of the sorted rows, 1 in sum for every label
    centers: Any  # (k, d)
    sizes: np.ndarray  # (k,) rows
    spread: np.ndarray  # (k,) half the mean square inside, for precomputed distances


def row_weights(Z: np.ndarray, labels: np.ndarray, method: str, sizes: np.ndarray) -> Any:
    """The weight of every row in the mean or center of its cluster; 1 in sum."""
    if method in ("weighted", "median"):
        return halve_weights(Z, labels)
    totals = np.bincount(labels, weights=sizes)
    return sizes / totals[labels]


def sort_rows(
    rows: Any, labels: np.ndarray, weights: np.ndarray, method: str, metric: Any
) -> LabeledRows:
    """Clusters of the rows of a fit: an array, sparse, a square matrix of distances for
    ``metric="precomputed"``, or a list of objects for a function."""
    order = np.argsort(labels, kind="stable")
    centers: Any = np.empty((0, 0))
    spread = np.empty(0)
    stored: Any = np.empty((0, 0))
    if method in CENTERED:
        means = sp.csr_array((weights, (labels, np.arange(len(labels)))))
        if metric == "precomputed":
            squares = np.asarray(rows, np.float64) ** 2
            spread = 0.5 * ((means @ squares) * means.toarray()).sum(axis=1)
        else:
            centers = means @ rows
            centers = centers.toarray() if sp.issparse(centers) else np.asarray(centers)
    elif isinstance(rows, list):
        stored = [rows[i] for i in order]
    elif metric != "precomputed":
        stored = rows[order]
    return gather_rows(labels, stored, weights[order], centers, spread, method, metric)


def gather_rows(
    labels: np.ndarray,
    rows: Any,
    weights: np.ndarray,
    centers: np.ndarray,
    spread: np.ndarray,
    method: str,
    metric: Any,
) -> LabeledRows:
    """The same from the arrays that an estimator stores."""
    order = np.argsort(labels, kind="stable")
    k = int(labels.max()) + 1
    starts = np.searchsorted(labels[order], np.arange(k))
    sizes = np.bincount(labels, minlength=k).astype(np.float64)
    return LabeledRows(method, metric, rows, order, starts, weights, centers, sizes, spread)


def nearest_clusters(clusters: LabeledRows, block: Any) -> np.ndarray:
    """The label of every row of a block."""
    count = len(block) if isinstance(block, list) else block.shape[0]
    step = max(1, BLOCK_VALUES // max(1, len(clusters.order)))
    labels = [
        cluster_distances(clusters, block[i : i + step]).argmin(axis=1)
        for i in range(0, count, step)
    ]
    return np.concatenate([np.empty(0, np.int32), *labels]).astype(np.int32)


def cluster_distances(clusters: LabeledRows, block: Any) -> np.ndarray:
    """(rows, k) distances to the clusters, or monotone functions of them."""
    if clusters.method in CENTERED:
        if clusters.metric == "precomputed":
            squares = clusters.weights * (np.asarray(block, np.float64)[:, clusters.order]) ** 2
            squares = np.add.reduceat(squares, clusters.starts, axis=1) - clusters.spread
        else:
            squares = between_rows(block, clusters.centers, "sqeuclidean")
        if clusters.method == "ward":
            squares = squares * (clusters.sizes / (clusters.sizes + 1))
        return squares
    distances = row_distances(clusters, block)
    if clusters.method == "single":
        return np.minimum.reduceat(distances, clusters.starts, axis=1)
    if clusters.method == "complete":
        return np.maximum.reduceat(distances, clusters.starts, axis=1)
    return np.add.reduceat(distances * clusters.weights, clusters.starts, axis=1)


def row_distances(clusters: LabeledRows, block: Any) -> np.ndarray:
    """(rows, n) distances to the rows of the fit."""
    metric, rows = clusters.metric, clusters.rows
    if callable(metric):
        return np.array([[float(metric(x, y)) for y in rows] for x in block])
    if metric == "precomputed":
        return np.asarray(block, np.float64)[:, clusters.order]
    metric = ALIASES.get(metric, metric)
    if metric in FORMS:
        return between_rows(block, rows, metric)
    from scipy.spatial.distance import cdist

    return cdist(block, rows, metric)


# --- Kernels ---


@kernel
def halve_weights(Z, labels):
    """1 for a cluster of the cut, and half of it for each part, down to the leaves."""
    n = Z.shape[0] + 1
    weights = np.ones(2 * n - 1)
    inside = np.full(2 * n - 1, -2)  # the label that all leaves have, -1 if they differ
    for leaf in range(n):
        inside[leaf] = labels[leaf]
    for s in range(n - 1):
        a, b = inside[int(Z[s, 0])], inside[int(Z[s, 1])]
        inside[n + s] = a if a == b else -1
    for s in range(n - 2, -1, -1):
        for side in range(2):
            part = int(Z[s, side])
            weights[part] = 0.5 * weights[n + s] if inside[n + s] >= 0 else 1.0
    return weights[:n]
