"""Bisecting k-means: split a cluster in two, again and again.

Begin with all rows in one cluster; split the one with the largest sum of squares, or the one
with the most rows, by k-means with two centers; stop at k clusters. The tree of splits, read
from below, is a tree of merges: the height of a split is the root of the sum of squares of the
cluster that is split, which is never less than that of its parts.

Steinbach, Karypis and Kumar (2000), A comparison of document clustering techniques. KDD
Workshop on Text Mining.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tacit.cluster.kmeans.kmeans import KMeans
from tacit.cluster.linkages.merges import Merges, sorted_by_height
from tacit.kernels.distances import euclidean
from tacit.measure.labels import by_size

__all__ = ["Bisection", "bisect", "walk_down"]


class Bisection(NamedTuple):
    """The clusters, and the splits that made them, in the order they were made."""

    labels: np.ndarray  # (n,) int32, 0 for the largest
    centers: np.ndarray  # (k, d) means, by label
    inertia: float
    splits: np.ndarray  # (k-1, 2, d) the two centers that rows were compared with
    parts: np.ndarray  # (k-1, 2) int64: a label, or -1 - s for the cluster that split s splits
    Z: np.ndarray  # (k-1, 4) over the clusters, leaves are labels


@dataclass
class Leaf:
    """A cluster that may still be split."""

    rows: np.ndarray  # which
    inertia: float
    split: int = -1  # the one that split it
    stuck: bool = False  # all rows are the same


def bisect(
    X: Any,
    n_clusters: int,
    *,
    largest: bool,
    make: Callable[[], KMeans],
    pause: Callable[[int], None] = lambda done: None,
) -> Bisection:
    """Split the rows of an array or a sparse matrix into n_clusters, or as many as differ.

    ``largest`` splits the cluster with most rows, otherwise the one with the largest sum of
    squares; the first of equals. ``make`` gives the k-means for the next split.
    """
    clusters = [Leaf(np.arange(X.shape[0]), inertia_of(X))]
    splits: list[np.ndarray] = []
    halves: list[tuple[int, int]] = []  # of every split the two clusters that came of it
    while len(clusters) - len(splits) < n_clusters:
        at = next_split(clusters, largest)
        if at < 0:
            break
        cluster = clusters[at]
        rows = X[cluster.rows]
        if same_rows(rows):
            cluster.stuck = True
            continue
        model = make().fit(rows)
        if len(np.unique(model.labels_)) < 2:  # they differ by less than rounding can tell
            cluster.stuck = True
            continue
        cluster.split = len(splits)
        splits.append(np.asarray(model.cluster_centers_, np.float64))
        halves.append((len(clusters), len(clusters) + 1))
        for side in (0, 1):
            members = cluster.rows[model.labels_ == side]
            clusters.append(Leaf(members, min(inertia_of(X[members]), cluster.inertia)))
        pause(len(splits))
    return describe(X, clusters, splits, halves)


def next_split(clusters: list[Leaf], largest: bool) -> int:
    """The cluster to split, or -1 if none can be."""
    best, at = -1.0, -1
    for i, cluster in enumerate(clusters):
        if cluster.split < 0 and not cluster.stuck and len(cluster.rows) > 1:
            value = float(len(cluster.rows)) if largest else cluster.inertia
            if value > best:
                best, at = value, i
    return at


def describe(
    X: Any, clusters: list[Leaf], splits: list[np.ndarray], halves: list[tuple[int, int]]
) -> Bisection:
    """Number the clusters by size and write the splits down."""
    raw = np.empty(X.shape[0], np.int64)
    for i, cluster in enumerate(clusters):
        if cluster.split < 0:
            raw[cluster.rows] = i
    labels = by_size(raw)
    names = {i: int(labels[c.rows[0]]) for i, c in enumerate(clusters) if c.split < 0}
    lowest = dict(names)
    k = len(names)
    merges = Merges.empty(k)
    parts = np.empty((k - 1, 2), np.int64)
    whole = {c.split: i for i, c in enumerate(clusters) if c.split >= 0}
    for s in range(k - 2, -1, -1):  # the last split is the first merge
        parent = whole[s]
        a, b = (lowest[half] for half in halves[s])
        at = k - 2 - s
        merges.low[at], merges.high[at] = min(a, b), max(a, b)
        merges.heights[at] = np.sqrt(clusters[parent].inertia)
        lowest[parent] = min(a, b)
        for side, half in enumerate(halves[s]):
            parts[s, side] = names.get(half, -1 - clusters[half].split)
    shares = sp.csr_array((1.0 / np.bincount(labels)[labels], (labels, np.arange(len(labels)))))
    centers = shares @ X
    return Bisection(
        labels,
        centers.toarray() if sp.issparse(centers) else np.asarray(centers, np.float64),
        float(sum(c.inertia for c in clusters if c.split < 0)),
        np.stack(splits) if splits else np.empty((0, 2, X.shape[1])),
        parts,
        sorted_by_height(merges) if k > 1 else np.empty((0, 4)),
    )


def walk_down(params: tuple[np.ndarray, np.ndarray], rows: Any) -> np.ndarray:
    """The label of every row: at each split to the nearer of its two centers."""
    splits, parts = params
    labels = np.zeros(rows.shape[0], np.int32)
    if not len(splits):
        return labels
    waiting = [(0, np.arange(rows.shape[0]))]
    while waiting:
        s, members = waiting.pop()
        origin = np.zeros(rows.shape[1])
        nearer = euclidean(rows[members], splits[s], origin).argmin(axis=1)
        for side in (0, 1):
            here, part = members[nearer == side], int(parts[s, side])
            if part >= 0:
                labels[here] = part
            elif len(here):
                waiting.append((-1 - part, here))
    return labels


def inertia_of(rows: Any) -> float:
    """The sum of squares about the mean."""
    mean = np.asarray(rows.mean(axis=0), np.float64).ravel()
    if sp.issparse(rows):
        squares = float(rows.multiply(rows).sum())
        return max(0.0, squares - rows.shape[0] * float((mean**2).sum()))
    return float(((np.asarray(rows, np.float64) - mean) ** 2).sum())


def same_rows(rows: Any) -> bool:
    if sp.issparse(rows):
        gap = rows - sp.csr_array(rows[[0]])[np.zeros(rows.shape[0], int)]
        return abs(gap).sum() == 0
    return bool((rows == rows[0]).all())
