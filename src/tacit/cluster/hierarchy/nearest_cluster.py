"""Which cluster of a tree a new row belongs to, by the notion of the linkage.

The new row is a cluster of one, and goes where the linkage finds it closest:

    single     to the cluster of the nearest row
    complete   where the farthest row is nearest
    average    where the mean distance is smallest
    weighted   likewise, rows counting half for every merge above them in the cluster
    centroid   to the nearest mean
    median     to the nearest center, rows counting as for weighted
    ward       where it adds least to the sum of squares

A tie goes to the lowest label. The tree is not changed, so a row that was there when it was
made may be sent elsewhere than it was put.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tacit.cluster.linkages.inputs import CENTERED, FORMS, unit_rows
from tacit.cluster.linkages.lanes import LANES, squares_to, tile_points
from tacit.core.kernel import kernel

__all__ = ["Clusters", "assembled", "clusters_of", "nearest_clusters", "row_weights"]

BLOCK_VALUES = 2**21  # distances at a time


class Clusters(NamedTuple):
    """What must be known of the clusters; only what the linkage asks for is there."""

    method: str
    metric: Any
    rows: Any  # sorted by label
    order: np.ndarray  # (n,) which rows they were
    starts: np.ndarray  # (k,) where every label begins
    weights: np.ndarray  # (n,) of the sorted rows, 1 in sum for every label
    centers: Any  # (k, d)
    sizes: np.ndarray  # (k,) rows
    spread: np.ndarray  # (k,) half the mean square inside, for centers nobody knows


def row_weights(Z: np.ndarray, labels: np.ndarray, method: str, sizes: np.ndarray) -> Any:
    """How much every row counts in its cluster's mean or center; 1 in sum."""
    if method in ("weighted", "median"):
        return halve_down(Z, labels)
    totals = np.bincount(labels, weights=sizes)
    return sizes / totals[labels]


def clusters_of(
    rows: Any, labels: np.ndarray, weights: np.ndarray, method: str, metric: Any
) -> Clusters:
    """Clusters of the rows that the tree was made of: an array, sparse, a square matrix of
    distances for ``metric="precomputed"``, or a list of objects for a function."""
    order = np.argsort(labels, kind="stable")
    centers: Any = np.empty((0, 0))
    spread = np.empty(0)
    kept: Any = np.empty((0, 0))
    if method in CENTERED:
        shares = sp.csr_array((weights, (labels, np.arange(len(labels)))))
        if metric == "precomputed":
            squares = np.asarray(rows, np.float64) ** 2
            spread = 0.5 * ((shares @ squares) * shares.toarray()).sum(axis=1)
        else:
            centers = shares @ rows
            centers = centers.toarray() if sp.issparse(centers) else np.asarray(centers)
    elif isinstance(rows, list):
        kept = [rows[i] for i in order]
    elif metric != "precomputed":
        kept = rows[order]
    return assembled(labels, kept, weights[order], centers, spread, method, metric)


def assembled(
    labels: np.ndarray,
    rows: Any,
    weights: np.ndarray,
    centers: np.ndarray,
    spread: np.ndarray,
    method: str,
    metric: Any,
) -> Clusters:
    """Clusters again, from the parts of them that an estimator keeps."""
    order = np.argsort(labels, kind="stable")
    k = int(labels.max()) + 1
    starts = np.searchsorted(labels[order], np.arange(k))
    sizes = np.bincount(labels, minlength=k).astype(np.float64)
    return Clusters(method, metric, rows, order, starts, weights, centers, sizes, spread)


def nearest_clusters(clusters: Clusters, block: Any) -> np.ndarray:
    """The label of every row of a block."""
    n = max(1, len(clusters.order))
    count = len(block) if isinstance(block, list) else block.shape[0]
    step = max(1, BLOCK_VALUES // n)
    found = [apart(clusters, block[i : i + step]).argmin(axis=1) for i in range(0, count, step)]
    return np.concatenate([np.empty(0, np.int32), *found]).astype(np.int32)


def apart(clusters: Clusters, block: Any) -> np.ndarray:
    """(rows, k) distances to the clusters, or something that rises with them."""
    if clusters.method in CENTERED:
        if clusters.metric == "precomputed":
            shares = clusters.weights * (np.asarray(block, np.float64)[:, clusters.order]) ** 2
            squares = np.add.reduceat(shares, clusters.starts, axis=1) - clusters.spread
        else:
            squares = squares_between(dense(block), clusters.centers)
        if clusters.method == "ward":
            squares = squares * (clusters.sizes / (clusters.sizes + 1))
        return squares
    distances = distances_to(clusters, block)
    if clusters.method == "single":
        return np.minimum.reduceat(distances, clusters.starts, axis=1)
    if clusters.method == "complete":
        return np.maximum.reduceat(distances, clusters.starts, axis=1)
    return np.add.reduceat(distances * clusters.weights, clusters.starts, axis=1)


def distances_to(clusters: Clusters, block: Any) -> np.ndarray:
    """(rows, n) distances to the rows that the tree was made of."""
    metric, rows = clusters.metric, clusters.rows
    if callable(metric):
        return np.array([[float(metric(x, y)) for y in rows] for x in block])
    if metric == "precomputed":
        return np.asarray(block, np.float64)[:, clusters.order]
    if metric not in FORMS:
        from scipy.spatial.distance import cdist

        return cdist(block, rows, metric)
    if sp.issparse(rows) or sp.issparse(block):
        squares = sparse_between(block, rows, metric)
    elif metric == "cosine":
        both = unit_rows(np.vstack([block, rows]))
        squares = squares_between(both[: len(block)], both[len(block) :])
    else:
        squares = squares_between(block, rows)
    if metric == "euclidean":
        return np.sqrt(squares)
    return squares * (0.5 if metric == "cosine" else 1.0)


def squares_between(block: np.ndarray, rows: np.ndarray) -> np.ndarray:
    block = np.ascontiguousarray(block, np.float64)
    out = np.empty((len(block), len(rows)))
    fill_squares(tile_points(rows), block, out)
    return out


def sparse_between(block: Any, rows: Any, metric: str) -> np.ndarray:
    block, rows = sp.csr_array(block), sp.csr_array(rows)
    size, other = (
        np.asarray(each.multiply(each).sum(axis=1)).ravel() for each in (block, rows)
    )
    products = (block @ rows.T).toarray()
    if metric == "cosine":
        lengths = np.sqrt(size[:, None] * other)
        cosine = np.where(lengths > 0, products / np.where(lengths > 0, lengths, 1), 0.0)
        cosine[np.ix_(size == 0, other == 0)] = 1.0
        return np.maximum(2 - 2 * cosine, 0.0)
    return np.maximum(size[:, None] + other - 2 * products, 0.0)


def dense(block: Any) -> np.ndarray:
    return block.toarray() if sp.issparse(block) else block


# --- Kernels ---


@kernel
def fill_squares(tiles, block, out):
    values = np.empty(tiles.shape[0] * LANES)
    for i in range(block.shape[0]):
        squares_to(tiles, 0, tiles.shape[0], block[i], values)
        row = out[i]
        for j in range(row.shape[0]):
            row[j] = values[j]


@kernel
def halve_down(Z, labels):
    """1 for a cluster that was cut off, and half of it for each part, down to the leaves."""
    n = Z.shape[0] + 1
    shares = np.ones(2 * n - 1)
    inside = np.full(2 * n - 1, -2)  # the label that all leaves have, -1 if they differ
    for leaf in range(n):
        inside[leaf] = labels[leaf]
    for s in range(n - 1):
        a, b = inside[int(Z[s, 0])], inside[int(Z[s, 1])]
        inside[n + s] = a if a == b else -1
    for s in range(n - 2, -1, -1):
        for side in range(2):
            part = int(Z[s, side])
            shares[part] = 0.5 * shares[n + s] if inside[n + s] >= 0 else 1.0
    return shares[:n]
