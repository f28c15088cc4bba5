"""Agglomerative clustering: cut the tree that ``linkage`` builds.

The estimator adds to the tree: a number of clusters or a height to cut at, labels, a graph of
the rows that may merge, and labels of new rows. Trees need all rows at once; for more than fit
in memory, ``compress`` clusters the centers of k-means, each weighted by its rows.

A new row is a cluster of one, and gets the label of the cluster that the linkage finds closest:

    single     the cluster of the nearest row
    complete   where the farthest row is nearest
    average    where the mean distance is smallest
    weighted   likewise; the weight of a row is halved by every merge above it in the cluster
    centroid   the nearest mean
    median     the nearest center, rows weighted as for weighted
    ward       where it adds least to the sum of squares

A tie goes to the lowest label. The tree does not change, so a row of the fit may get another
label from ``predict`` than in the tree.

The notes' section on hierarchical clustering; linkages and papers are in ``linkage``.
"""

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from sklearn.base import ClusterMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from tacit.cluster import lloyd
from tacit.cluster.hierarchy.constrained import check_graph, constrained_linkage
from tacit.cluster.hierarchy.dendrogram import check_linkage, cut
from tacit.cluster.hierarchy.inputs import (
    ALIASES,
    CENTERED,
    FORMS,
    METHODS,
    METRICS,
    SMALLER,
    LinkageInput,
    check_input,
)
from tacit.cluster.hierarchy.linkage import build_linkage, notify_merges
from tacit.cluster.kmeans import KMeans
from tacit.core.engines import Engine, get_engine
from tacit.core.errors import raised_as
from tacit.core.estimator import Estimator, with_callbacks
from tacit.core.kernel import kernel
from tacit.core.progress import Callback
from tacit.core.warn import warn_caller
from tacit.data.bad_values import check_values
from tacit.data.checked import check_enough, check_table, is_table
from tacit.data.table import Table
from tacit.kernels.distances import between_rows

__all__ = [
    "AgglomerativeClustering", "LabeledRows", "TreeClustering", "nearest_clusters", "sort_rows",
]  # fmt: skip

BLOCK_VALUES = 2**21  # distances of new rows at a time


# --- New rows ---


class LabeledRows(NamedTuple):
    """The rows and centers of the clusters; arrays that a linkage does not need are empty."""

    method: str
    metric: Any
    labels: np.ndarray  # (n,) of the rows of the fit
    rows: Any  # sorted by label
    weights: np.ndarray  # (n,) of the sorted rows, 1 in sum for every label
    centers: Any = np.empty((0, 0))  # (k, d)
    spread: np.ndarray = np.empty(0)  # (k,) half the mean square inside, where precomputed

    @property
    def order(self) -> np.ndarray:
        """(n,) the rows of the fit, sorted by label."""
        return np.argsort(self.labels, kind="stable")

    @property
    def starts(self) -> np.ndarray:
        """(k,) where every label begins among the sorted rows."""
        return np.searchsorted(np.sort(self.labels), np.arange(self.labels.max() + 1))


def sort_rows(
    rows: Any, Z: np.ndarray, labels: np.ndarray, sizes: np.ndarray, method: str, metric: Any
) -> LabeledRows:
    """Clusters of the rows of a fit: an array, sparse, a square matrix of distances for
    ``metric="precomputed"``, or a list of objects for a function."""
    if method in ("weighted", "median"):
        weights = halve_weights(Z, labels)
    else:
        weights = sizes / np.bincount(labels, weights=sizes)[labels]
    order = np.argsort(labels, kind="stable")
    sorted_rows = LabeledRows(method, metric, labels, np.empty((0, 0)), weights[order])
    if method in CENTERED:
        means = sp.csr_array((weights, (labels, np.arange(len(labels)))))
        if metric == "precomputed":
            squares = np.asarray(rows, np.float64) ** 2
            spread = 0.5 * ((means @ squares) * means.toarray()).sum(axis=1)
            return sorted_rows._replace(spread=spread)
        centers = means @ rows
        centers = centers.toarray() if sp.issparse(centers) else np.asarray(centers)
        return sorted_rows._replace(centers=centers)
    if metric == "precomputed":
        return sorted_rows
    stored = [rows[i] for i in order] if isinstance(rows, list) else rows[order]
    return sorted_rows._replace(rows=stored)


def nearest_clusters(clusters: LabeledRows, block: Any) -> np.ndarray:
    """The label of every row of a block."""
    count = len(block) if isinstance(block, list) else block.shape[0]
    step = max(1, BLOCK_VALUES // max(1, len(clusters.labels)))
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
            sizes = np.bincount(clusters.labels)
            squares = squares * (sizes / (sizes + 1))
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


# --- The estimators ---


class TreeClustering(ClusterMixin, Estimator):
    """Base class of the two estimators of trees."""

    n_clusters: Any
    metric: Any
    engine: Any
    n_clusters_: int

    def _load(self, X: Any, alternative: str) -> Any:
        """The rows in float64, or a list of objects where the metric is a function of two."""
        if callable(self.metric) and not hasattr(X, "shape"):
            self.__dict__.pop("n_features_in_", None)
            return list(X)
        dtypes = (np.float64,)
        return check_table(self, X, reset=True, dtypes=dtypes, alternative=alternative).load()

    def _label(self, function: Callable, params: Any, table: Table) -> np.ndarray:
        """The label of every row of a table, by a function of params and a block."""
        for block in table:
            check_values(block.load(), type(self).__name__, block.start, table.source)
        labels = get_engine(self.engine).map(function, params, table)
        return np.concatenate([np.empty(0, np.int32), *labels])

    def _check_tree(self, Z: np.ndarray, labels: np.ndarray) -> None:
        check_linkage(Z, name="the tree")
        k = self.n_clusters_
        if k > len(labels) or not np.array_equal(np.unique(labels), np.arange(k)):
            raise ValueError("the labels do not count from 0 to n_clusters_ - 1")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        tags.input_tags.sparse = self.metric in ("euclidean", "sqeuclidean", "cosine")
        return tags


class AgglomerativeClustering(TreeClustering):
    """Merge the closest clusters, from single rows up to ``n_clusters``.

    The whole tree is always built; ``tacit.cluster.cut`` gives other numbers of clusters
    without another fit. The same rows give the same bits on any engine.

    Parameters
    ----------
    n_clusters : int or None
        How many clusters. None to cut at ``distance_threshold`` instead.
    metric : str or function of two rows
        "euclidean", "cosine", "cityblock" and others of SciPy's, "precomputed" for a square
        matrix of distances, or a function that returns the distance of two rows, or of two
        objects if X is a list of them. Not, as in scikit-learn, a function of all of X:
        call that first, and give its result as "precomputed".
    linkage : {"ward", "complete", "average", "single", "weighted", "centroid", "median"}
        How far apart two clusters are. ward, centroid and median need Euclidean distance.
    connectivity : sparse or dense matrix of shape (n, n), function of X, or None
        Rows that touch, where it is not zero: only clusters that touch merge, the closest
        first by the distance of the linkage. (scikit-learn's average, complete and single
        linkage use distances along the edges only.) Components of the graph are merged last.
    distance_threshold : float or None; clusters at this distance or farther are not merged
    compress : int or None
        Cluster the centers of k-means, this many, instead of the rows; each center is weighted
        by its rows. For large data, in memory or a Table. Ignored where an array has no more
        rows than that.
    compute_full_tree, compute_distances
        For compatibility with scikit-learn, without effect: the whole tree and its heights are
        always computed.
    memory : None, str or joblib.Memory; no effect: trees are not cached
    random_state : int, RandomState or None
        Seed of the k-means of ``compress``; the trees are not random.
    engine, callbacks : as for ``KMeans``

    Attributes
    ----------
    labels_ : int32 array of shape (n_rows,), 0 for the largest cluster; absent for a Table
    n_clusters_ : int
    n_leaves_ : int, rows, or centers of ``compress``
    leaf_labels_ : int32 array of shape (n_leaves_,)
    children_ : int64 array of shape (n_leaves_ - 1, 2), the two clusters of each merge
    distances_ : array of shape (n_leaves_ - 1,), and how far apart they were
    linkage_matrix_ : array of shape (n_leaves_ - 1, 4), both as in SciPy
    n_connected_components_ : int, of the graph
    compressor_ : KMeans, with ``compress`` only

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [10.0], [11.0], [12.0]])
    >>> model = AgglomerativeClustering(n_clusters=2).fit(X)
    >>> model.labels_
    array([1, 1, 0, 0, 0], dtype=int32)
    >>> model.predict([[3.0]])
    array([1], dtype=int32)
    """

    _parameter_constraints: ClassVar[dict] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left"), None],
        "metric": [StrOptions(set(METRICS)), callable],
        "linkage": [StrOptions(set(METHODS))],
        "connectivity": ["array-like", "sparse matrix", callable, None],
        "distance_threshold": [Interval(Real, 0, None, closed="left"), None],
        "compress": [Interval(Integral, 2, None, closed="left"), None],
        "compute_full_tree": [StrOptions({"auto"}), "boolean"],
        "compute_distances": ["boolean"],
        "random_state": ["random_state"],
    }
    _no_effect: ClassVar[dict] = {"memory": "trees are not cached"}
    _saved_private = ("_rows", "_weights", "_centers", "_spread")
    _file_schema: ClassVar[dict] = {
        "children_": ("n_leaves_-1", 2),
        "distances_": ("n_leaves_-1",),
        "leaf_labels_": ("n_leaves_",),
        "labels_": ("n_rows",),
        "_weights": ("n_leaves_",),
        "_rows": (None, None),
        "_centers": (None, None),
        "_spread": (None,),
    }
    _file_types: ClassVar[dict] = {"n_clusters_": int, "compressor_": "KMeans"}
    _file_optional = ("labels_", "compressor_")
    _file_kinds: ClassVar[dict] = {"children_": "i", "leaf_labels_": "i", "labels_": "i"}

    def __init__(
        self,
        n_clusters: int | None = 2,
        *,
        metric: str | Callable[[Any, Any], float] = "euclidean",
        linkage: str = "ward",
        connectivity: Any = None,
        distance_threshold: float | None = None,
        compress: int | None = None,
        compute_full_tree: str | bool = "auto",
        compute_distances: bool = True,
        memory: Any = None,
        random_state: int | np.random.RandomState | None = None,
        engine: str | Engine = "threads",
        callbacks: list[Callback] | None = None,
    ) -> None:
        self.n_clusters, self.metric, self.linkage = n_clusters, metric, linkage
        self.connectivity, self.distance_threshold = connectivity, distance_threshold
        self.compress, self.compute_full_tree = compress, compute_full_tree
        self.compute_distances, self.memory = compute_distances, memory
        self.random_state, self.engine, self.callbacks = random_state, engine, callbacks

    @property
    def contract(self) -> str:  # type: ignore[override]
        """All rows at once; with ``compress`` the passes of k-means."""
        return "whole" if self.compress is None else "summable"

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> "AgglomerativeClustering":
        """Build the tree and cut it. X is an array, a sparse matrix, distances, a list of
        objects if the metric is a function; with ``compress`` also a Table or a Dask array."""
        self._validate_params()
        self._check_choices()
        for name in ("compressor_", "labels_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        with self._fit_callbacks() as callbacks:
            if self._compresses(X):
                self._fit_compressed(X, callbacks)
            else:
                self._fit_rows(X, callbacks)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The cluster of every row, also of new ones, by the distance of the linkage. For
        ``metric="precomputed"`` X holds the distances to the rows of the fit, (rows,
        n_leaves_). With ``compress`` a row has the label of its nearest center."""
        check_is_fitted(self)
        if callable(self.metric) and not hasattr(self, "n_features_in_"):
            return nearest_clusters(self._labeled_rows(), list(X))
        table = check_table(self, X, reset=False)
        if hasattr(self, "compressor_"):
            with raised_as(self, "KMeans"):
                return self.leaf_labels_[self.compressor_.predict(table)]
        return self._label(nearest_clusters, self._labeled_rows(), table)

    @property
    def linkage_matrix_(self) -> np.ndarray:
        """The tree as SciPy's (n_leaves_ - 1, 4) matrix."""
        check_is_fitted(self)
        sizes = count_leaves(self.children_)
        return np.column_stack([self.children_.astype(np.float64), self.distances_, sizes])

    # --- Fitting ---

    def _check_choices(self) -> None:
        name = type(self).__name__
        if (self.n_clusters is None) == (self.distance_threshold is None):
            raise ValueError(
                f"{name} needs either n_clusters or distance_threshold, and the other None, "
                f"but has n_clusters={self.n_clusters}, distance_threshold="
                f"{self.distance_threshold}."
            )
        if self.compress is None:
            return
        if self.metric != "euclidean" or self.connectivity is not None:
            raise ValueError(
                f"{name}(compress={self.compress}) clusters the centers of k-means, which are "
                "for metric='euclidean' and without connectivity. Change those, or drop "
                "compress."
            )

    def _compresses(self, X: Any) -> bool:
        if self.compress is None:
            return False
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        return is_table(X) or n > self.compress

    def _fit_rows(self, X: Any, callbacks: list) -> None:
        name, engine = type(self).__name__, get_engine(self.engine)
        rows = self._load(X, SMALLER)
        data = check_input(rows, self.linkage, self.metric, engine, name=name)
        check_enough(self, data.n)
        Z = self._build_tree(data, rows, callbacks)
        self._store_tree(Z, rows, np.ones(data.n))
        self.labels_ = self.leaf_labels_.copy()

    def _build_tree(self, data: LinkageInput, rows: Any, callbacks: list) -> np.ndarray:
        name, self.n_connected_components_ = type(self).__name__, 1
        if self.connectivity is None:
            return build_linkage(data, self.linkage, callbacks=callbacks, name=name)
        graph = check_graph(self.connectivity, rows, data.n, name)
        components = int(connected_components(graph, directed=False, return_labels=False))
        self.n_connected_components_ = components
        if self.n_clusters is not None and components > self.n_clusters:
            warn_caller(
                f"{name}: the connectivity graph has {components} connected components, "
                f"more than n_clusters={self.n_clusters}, so some of them were merged.",
            )
        report = notify_merges(name, data.n, callbacks)
        engine = get_engine(self.engine)
        return constrained_linkage(data, self.linkage, graph, engine, report=report)

    def _fit_compressed(self, X: Any, callbacks: list) -> None:
        name, engine = type(self).__name__, get_engine(self.engine)
        table = check_table(self, X, reset=True)
        assert self.compress is not None
        check_enough(self, len(table))
        with raised_as(self, "KMeans"):
            kmeans = KMeans(
                min(self.compress, len(table)), random_state=self.random_state,
                engine=self.engine,
            ).fit(table)  # fmt: skip
        counts = np.zeros(kmeans.n_clusters)
        for labels in kmeans._map(table, lloyd.assign):
            counts += np.bincount(labels, minlength=len(counts))
        # A center without rows, where many rows are the same, is not a leaf.
        kmeans.cluster_centers_ = kmeans.cluster_centers_[counts > 0]
        kmeans.n_clusters, counts = int((counts > 0).sum()), counts[counts > 0]
        check_enough(self, kmeans.n_clusters)
        self.n_connected_components_ = 1
        rows = kmeans.cluster_centers_.astype(np.float64)
        data = check_input(rows, self.linkage, self.metric, engine, name=name)
        Z = build_linkage(data, self.linkage, sizes=counts, callbacks=callbacks, name=name)
        self._store_tree(Z, np.empty((kmeans.n_clusters, 0)), counts)
        self.compressor_ = kmeans
        if not is_table(X):
            self.labels_ = self.leaf_labels_[kmeans.predict(table)]

    def _store_tree(self, Z: np.ndarray, rows: Any, sizes: np.ndarray) -> None:
        """Store the tree, its cut, and what ``predict`` needs of the rows."""
        self.n_leaves_ = len(Z) + 1
        self.children_ = Z[:, :2].astype(np.int64)
        self.distances_ = np.ascontiguousarray(Z[:, 2])
        if self.distance_threshold is None:
            labels = cut(Z, k=self.n_clusters)
        else:
            labels = cut(Z, height=np.nextafter(float(self.distance_threshold), -np.inf))
        self.leaf_labels_ = labels
        self.n_clusters_ = int(labels.max()) + 1
        stored = sort_rows(rows, Z, labels, sizes, self.linkage, self.metric)
        self._rows, self._weights = stored.rows, stored.weights
        self._centers, self._spread = stored.centers, stored.spread

    def _labeled_rows(self) -> LabeledRows:
        return LabeledRows(
            self.linkage, self.metric, self.leaf_labels_, self._rows, self._weights,
            self._centers, self._spread,
        )  # fmt: skip

    def _after_load(self) -> None:
        # Before any kernel uses them as indices: a merge joins leaves or earlier merges.
        first = self.n_leaves_ + np.arange(len(self.children_))
        if (self.children_ < 0).any() or (self.children_ >= first[:, None]).any():
            raise ValueError("children_ names clusters that do not exist by then")
        self._check_tree(self.linkage_matrix_, self.leaf_labels_)
        if hasattr(self, "compressor_"):
            if len(self.compressor_.cluster_centers_) != self.n_leaves_:
                raise ValueError("there is not one center for every leaf")
            if not hasattr(self, "n_features_in_"):
                raise ValueError("n_features_in_ is missing")
        elif self.metric != "precomputed":
            centered = self.linkage in CENTERED
            stored, count = (
                (self._centers, self.n_clusters_) if centered else (self._rows, self.n_leaves_)
            )
            if stored.shape != (count, self.n_features_in_):
                raise ValueError("the rows or centers of the clusters have the wrong shape")
        elif self.linkage in CENTERED and len(self._spread) != self.n_clusters_:
            raise ValueError("there is not one spread for every cluster")


# --- Kernels ---


@kernel
def count_leaves(children):
    n = children.shape[0] + 1
    sizes = np.ones(2 * n - 1)
    for s in range(n - 1):
        sizes[n + s] = sizes[children[s, 0]] + sizes[children[s, 1]]
    return sizes[n:]


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
