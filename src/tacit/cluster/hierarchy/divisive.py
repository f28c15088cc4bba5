"""Divisive clustering: from all rows in one cluster down, by two methods.

Bisecting k-means: split the cluster with the largest sum of squares, or with the most rows, by
k-means with two centers, until there are k clusters. The height of a split is the root of the
sum of squares of the cluster that is split, which is never less than that of its parts.

DIANA: split off rows by mean distance until each is alone. The row with the largest mean
distance to the others leaves its cluster first; then, one at a time, the row that is closer to
those that left than to those that stay, on average and by the most, while there is one. Of
equals the lowest row leaves. The height of a split is the diameter of the cluster, its largest
distance. Sums of distances are passed from a cluster to its parts, so a split costs its rows
times those that leave; the diameter costs the square of the rows. O(n^2) memory; O(n^2) to
O(n^3) time, by how uneven the splits are.

Both trees are linkage matrices, to be drawn and cut like those of ``linkage``. The notes'
section on hierarchical clustering.

Steinbach, Karypis and Kumar (2000), A comparison of document clustering techniques. KDD
Workshop on Text Mining.
Kaufman and Rousseeuw (1990), Finding groups in data: an introduction to cluster analysis,
chapter 6.
"""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from tacit.cluster.hierarchy.agglomerative import (
    LabeledRows,
    TreeClustering,
    nearest_clusters,
    sort_rows,
)
from tacit.cluster.hierarchy.dendrogram import Merges, cut, sorted_linkage
from tacit.cluster.hierarchy.inputs import METRICS, check_input, square_matrix
from tacit.cluster.hierarchy.linkage import notify_merges
from tacit.cluster.kmeans import KMeans
from tacit.core.engines import Engine, get_engine
from tacit.core.estimator import with_callbacks
from tacit.core.kernel import kernel
from tacit.core.memory import check_memory
from tacit.core.progress import Callback
from tacit.core.warn import warn_caller
from tacit.data.checked import check_enough, check_results, check_table
from tacit.data.summary import summarize
from tacit.kernels.distances import euclidean
from tacit.measure.labels import by_size

__all__ = ["DivisiveClustering", "bisect", "diana"]

NOISE = 1e-12  # of the diameter: a smaller difference is rounding
SMALLER = "Use method='bisecting', or AgglomerativeClustering(compress=1000)."
Report = Callable[[int], None]


# --- Bisecting k-means ---


@dataclass
class Node:
    """A cluster of the tree of splits."""

    rows: np.ndarray
    inertia: float
    final: bool = False  # all rows are the same
    parts: tuple[int, ...] = ()  # the clusters it was split into
    centers: Any = None  # (2, d) that rows are compared with


def bisect(
    X: Any, n_clusters: int, *, largest: bool, make_kmeans: Callable[[], KMeans], report: Report
) -> tuple[list[Node], list[int]]:
    """Split the rows of an array or a sparse matrix into n_clusters, or as many as differ: the
    clusters, and those that were split, in order.

    ``largest`` splits the cluster with most rows, otherwise the one with the largest sum of
    squares; the first of equals. ``make_kmeans`` returns the k-means of the next split.
    """
    nodes = [Node(np.arange(X.shape[0]), sum_of_squares(X))]
    order: list[int] = []
    while len(nodes) - len(order) < n_clusters:
        left = [i for i, node in enumerate(nodes) if not (node.parts or node.final)]
        if not left:
            break
        at = max(left, key=lambda i: len(nodes[i].rows) if largest else nodes[i].inertia)
        node = nodes[at]
        rows = X[node.rows]
        node.final = same_rows(rows)
        if node.final:
            continue
        model = make_kmeans().fit(rows)
        node.final = len(np.unique(model.labels_)) < 2  # the rows differ by less than rounding
        if node.final:
            continue
        node.centers = np.asarray(model.cluster_centers_, np.float64)
        node.parts = (len(nodes), len(nodes) + 1)
        for side in (0, 1):
            members = node.rows[model.labels_ == side]
            nodes.append(Node(members, min(sum_of_squares(X[members]), node.inertia)))
        order.append(at)
        report(len(order))
    return nodes, order


def number_by_size(
    nodes: list[Node], order: list[int], n: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The labels of the n rows, numbered by size; the two parts of every split, each a label or
    -1 - s for the cluster that split s splits; and the splits as a linkage matrix."""
    raw = np.empty(n, np.int64)
    for i, node in enumerate(nodes):
        if not node.parts:
            raw[node.rows] = i
    labels = by_size(raw)
    code = np.array([labels[node.rows[0]] for node in nodes], np.int64)
    code[order] = -1 - np.arange(len(order))
    children = np.array([nodes[i].parts for i in order], np.int64).reshape(-1, 2)
    if not len(order):
        return labels, code[children], np.empty((0, 4))
    lowest = np.array([labels[node.rows].min() for node in nodes], np.int64)
    pairs = np.sort(lowest[children[::-1]], axis=1)  # the last split is the first merge
    heights = np.sqrt([nodes[i].inertia for i in order[::-1]])
    merges = Merges(pairs[:, 0].copy(), pairs[:, 1].copy(), heights)
    return labels, code[children], sorted_linkage(merges)


def descend(params: tuple[np.ndarray, np.ndarray], rows: Any) -> np.ndarray:
    """The label of every row: at each split to the nearer of its two centers."""
    splits, parts = params
    labels = np.zeros(rows.shape[0], np.int32)
    if not len(splits):
        return labels
    waiting = [(0, np.arange(rows.shape[0]))]
    while waiting:
        s, members = waiting.pop()
        nearer = euclidean(rows[members], splits[s], np.zeros(rows.shape[1])).argmin(axis=1)
        for side in (0, 1):
            here, part = members[nearer == side], int(parts[s, side])
            if part >= 0:
                labels[here] = part
            elif len(here):
                waiting.append((-1 - part, here))
    return labels


def sum_of_squares(rows: Any) -> float:
    """The sum of squares about the mean."""
    mean = np.asarray(rows.mean(axis=0), np.float64).ravel()
    if sp.issparse(rows):
        squares = float(rows.multiply(rows).sum())
        return max(0.0, squares - rows.shape[0] * float((mean**2).sum()))
    return float(((np.asarray(rows, np.float64) - mean) ** 2).sum())


def same_rows(rows: Any) -> bool:
    if sp.issparse(rows):
        return abs(rows - rows[np.zeros(rows.shape[0], int)]).sum() == 0
    return bool((rows == rows[0]).all())


# --- DIANA ---


def diana(matrix: np.ndarray, *, report: Report = lambda done: None) -> np.ndarray:
    """SciPy's linkage matrix of the splits of a square matrix of distances.

    >>> diana(np.abs(np.subtract.outer([0.0, 1.0, 5.0, 7.0], [0.0, 1.0, 5.0, 7.0])))
    array([[0., 1., 1., 2.],
           [2., 3., 2., 2.],
           [4., 5., 7., 4.]])
    """
    n = len(matrix)
    if n == 1:
        return np.empty((0, 4))
    rows = np.arange(n)  # the rows of every cluster are contiguous, in order
    inside = matrix.sum(axis=1)
    outside = np.zeros(n)
    left = np.zeros(n, bool)
    merges = Merges.empty(n)
    waiting = [(0, n)]
    done = n - 1  # splits are merges in reverse order
    while waiting:
        start, stop = waiting.pop()
        if stop - start < 2:
            continue
        members = rows[start:stop]
        height = diameter(matrix, members)
        split(matrix, members, inside, outside, left, NOISE * height)
        gone = left[members]
        middle = stop - int(gone.sum())
        a, b = members[~gone], members[gone]
        done -= 1
        merges.low[done], merges.high[done] = min(a[0], b[0]), max(a[0], b[0])
        merges.heights[done] = height
        rows[start:middle], rows[middle:stop] = a, b
        waiting += [(start, middle), (middle, stop)]
        report(n - 1 - done)
    return sorted_linkage(merges)


# --- The estimator ---


class DivisiveClustering(TreeClustering):
    """Split all rows into ``n_clusters``, and keep the tree of the splits.

    Parameters
    ----------
    n_clusters : int, how many clusters
    method : {"bisecting", "diana"}
        "bisecting" splits by k-means with two centers: fast, for Euclidean rows. "diana" splits
        by mean distance and needs all distances: for any metric, and at most some thousands
        of rows.
    metric : str or function of two rows; for "diana", as in ``AgglomerativeClustering``
    bisecting_strategy : {"biggest_inertia", "largest_cluster"}
        Which cluster "bisecting" splits next: the one with the largest sum of squares, or the
        one with most rows.
    n_init, max_iter
        Of the k-means of every bisection.
    random_state : int, RandomState or None; seed of "bisecting"
    engine, callbacks : as for ``KMeans``

    Attributes
    ----------
    labels_ : int32 array of shape (n_rows,), 0 for the largest cluster
    linkage_matrix_ : array
        The tree of splits as SciPy's linkage matrix. For diana the leaves are rows, and the
        height of a cluster its largest distance; for bisecting they are the clusters by label,
        and the height is the root of the sum of squares about the mean.
    n_clusters_ : int
    n_leaves_ : int, of the tree
    n_iter_ : int, splits made
    cluster_centers_, inertia_
        Means of the clusters and the sum of squares about them; for bisecting only.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [10.0], [11.0], [30.0]])
    >>> DivisiveClustering(3, random_state=0).fit(X).labels_
    array([0, 0, 1, 1, 2], dtype=int32)
    >>> DivisiveClustering(3, method="diana").fit(X).linkage_matrix_
    array([[ 0.,  1.,  1.,  2.],
           [ 2.,  3.,  1.,  2.],
           [ 5.,  6., 11.,  4.],
           [ 4.,  7., 30.,  5.]])
    """

    contract = "whole"

    _parameter_constraints: ClassVar[dict] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "method": [StrOptions({"bisecting", "diana"})],
        "metric": [StrOptions(set(METRICS)), callable],
        "bisecting_strategy": [StrOptions({"biggest_inertia", "largest_cluster"})],
        "n_init": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }
    _saved_private = ("_splits", "_parts", "_rows", "_weights")
    _file_schema: ClassVar[dict] = {
        "labels_": ("n_rows",),
        "linkage_matrix_": ("n_leaves_-1", 4),
        "cluster_centers_": ("n_clusters_", "n_features_in_"),
        "_splits": ("n_clusters_-1", 2, "n_features_in_"),
        "_parts": ("n_clusters_-1", 2),
    }
    _file_optional = ("cluster_centers_", "_splits", "_parts")
    _file_kinds: ClassVar[dict] = {"labels_": "i", "_parts": "i"}

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        method: str = "bisecting",
        metric: str | Callable[[Any, Any], float] = "euclidean",
        bisecting_strategy: str = "biggest_inertia",
        n_init: int | str = 3,
        max_iter: int = 300,
        random_state: int | np.random.RandomState | None = None,
        engine: str | Engine = "threads",
        callbacks: list[Callback] | None = None,
    ) -> None:
        self.n_clusters, self.method, self.metric = n_clusters, method, metric
        self.bisecting_strategy, self.n_init = bisecting_strategy, n_init
        self.max_iter, self.random_state, self.engine = max_iter, random_state, engine
        self.callbacks = callbacks

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> "DivisiveClustering":
        """Split the rows of X: an array, a sparse matrix, distances or a list of objects."""
        self._validate_params()
        for name in ("cluster_centers_", "inertia_", "_splits", "_parts", "_rows", "_weights"):
            self.__dict__.pop(name, None)  # of an earlier fit
        with self._fit_callbacks() as callbacks:
            if self.method == "bisecting":
                self._fit_bisecting(X, callbacks)
            else:
                self._fit_diana(X, callbacks)
        self.n_leaves_ = len(self.linkage_matrix_) + 1
        self.n_clusters_ = int(self.labels_.max()) + 1
        self.n_iter_ = self.n_leaves_ - 1
        check_results(self)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The cluster of every row, also of new ones. For bisecting: down the tree, at every
        split to the nearer center. For diana: where the mean distance is smallest."""
        check_is_fitted(self)
        if self.method == "bisecting":
            params = (self._splits, self._parts)
            return self._label(descend, params, check_table(self, X, reset=False))
        rows = LabeledRows("average", self.metric, self.labels_, self._rows, self._weights)
        if not hasattr(self, "n_features_in_"):
            return nearest_clusters(rows, list(X))
        return self._label(nearest_clusters, rows, check_table(self, X, reset=False))

    def _fit_bisecting(self, X: Any, callbacks: list) -> None:
        name = type(self).__name__
        if self.metric not in ("euclidean", "l2"):
            raise ValueError(
                f"{name}(method='bisecting') uses k-means, which is for metric='euclidean', "
                f"but metric={self.metric!r}. Use method='diana'."
            )
        table = check_table(self, X, reset=True, alternative=SMALLER)
        check_enough(self, len(table))
        summarize(table, get_engine(self.engine), name=name)
        X = table.load()
        rng = check_random_state(self.random_state)

        def make_kmeans() -> KMeans:
            settings = {"n_init": self.n_init, "max_iter": self.max_iter, "engine": self.engine}
            return KMeans(2, random_state=rng.randint(2**31 - 1), **settings)

        largest = self.bisecting_strategy == "largest_cluster"
        report = notify_merges(name, self.n_clusters, callbacks)
        nodes, order = bisect(
            X, self.n_clusters, largest=largest, make_kmeans=make_kmeans, report=report
        )
        labels, self._parts, self.linkage_matrix_ = number_by_size(nodes, order, X.shape[0])
        splits = [nodes[i].centers for i in order]
        self._splits = np.stack(splits) if splits else np.empty((0, 2, X.shape[1]))
        means = sp.csr_array(
            (1 / np.bincount(labels)[labels], (labels, np.arange(len(labels))))
        )
        centers = means @ X
        dtype = np.float32 if X.dtype == np.float32 else np.float64
        self.labels_ = labels
        self.cluster_centers_ = np.asarray(
            centers.toarray() if sp.issparse(X) else centers, dtype
        )
        self.inertia_ = float(sum(node.inertia for node in nodes if not node.parts))
        k = len(self.cluster_centers_)
        if k < self.n_clusters:
            warn_caller(
                f"{name}(n_clusters={self.n_clusters}) could make only {k} clusters, because "
                f"the data has only {k} distinct rows. Lower n_clusters.",
                ConvergenceWarning,
            )

    def _fit_diana(self, X: Any, callbacks: list) -> None:
        name, engine = type(self).__name__, get_engine(self.engine)
        rows = self._load(X, SMALLER)
        n = len(rows) if isinstance(rows, list) else rows.shape[0]
        check_enough(self, n)
        check_memory(10 * n * n, f"{name}(method='diana') of {n:,} rows", SMALLER)
        data = check_input(rows, "complete", self.metric, engine, name=name)
        matrix = square_matrix(data, engine)
        Z = diana(matrix, report=notify_merges(name, n, callbacks))
        Z[:, 2] /= data.scale
        self.linkage_matrix_ = Z
        self.labels_ = cut(Z, k=self.n_clusters)
        stored = sort_rows(rows, Z, self.labels_, np.ones(n), "average", self.metric)
        self._rows, self._weights = stored.rows, stored.weights

    def _after_load(self) -> None:
        self._check_tree(self.linkage_matrix_, self.labels_)
        if self.method == "diana":
            if len(self._weights) != len(self.labels_):
                raise ValueError("there is not one weight for every row")
            return
        if not (hasattr(self, "_splits") and hasattr(self, "n_features_in_")):
            raise ValueError("the splits are missing")
        # Splits lead to later splits, or to a label: every descent ends.
        after = -1 - self._parts
        split = np.arange(len(after))[:, None]
        labels, inner = self._parts[self._parts >= 0], after[self._parts < 0]
        if (
            not np.array_equal(np.sort(labels), np.arange(self.n_clusters_))
            or not np.array_equal(np.sort(inner), np.arange(1, len(after)))
            or not (after > split)[self._parts < 0].all()
        ) and self.n_clusters_ > 1:
            raise ValueError("the splits do not make a tree")


# --- Kernels ---


@kernel
def diameter(matrix, members):
    largest = 0.0
    for i in range(members.shape[0]):
        row = matrix[members[i]]
        for j in range(i + 1, members.shape[0]):
            v = row[members[j]]
            largest = v if v > largest else largest
    return largest


@kernel
def split(matrix, members, inside, outside, left, noise):
    """Mark the members that leave; ``inside`` becomes the sums within the two parts.

    ``inside`` and ``outside`` hold, for every member, the sum of its distances to those that
    stay and to those that left.
    """
    m = members.shape[0]
    for i in range(m):
        left[members[i]] = False
        outside[members[i]] = 0.0
    stay = m
    while stay > 1:
        best, chosen = -np.inf, -1
        for i in range(m):
            r = members[i]
            if left[r]:
                continue
            gain = inside[r] / (stay - 1)
            if stay < m:
                gain -= outside[r] / (m - stay)
            if gain > best + noise:
                best, chosen = gain, r
        if stay < m and best <= noise:
            break
        left[chosen] = True
        stay -= 1
        row = matrix[chosen]
        for i in range(m):
            r = members[i]
            inside[r] -= row[r]
            outside[r] += row[r]
    for i in range(m):
        r = members[i]
        if left[r]:
            inside[r] = outside[r]
