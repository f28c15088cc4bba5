"""Divisive clustering: from all rows in one cluster down, by two methods.

    bisecting   split in two by k-means until there are enough clusters (``bisecting``)
    diana       split off the rows that are farther from the rest, until each stands alone
                (``diana``)

The notes' section on hierarchical clustering names the idea; both trees are linkage matrices,
to be drawn and cut like those of ``linkage``.
"""

import warnings
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.callback import with_callbacks
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from tacit.cluster.hierarchy.bisecting import bisect, walk_down
from tacit.cluster.hierarchy.dendrogram import check_linkage, cut
from tacit.cluster.hierarchy.diana import diana
from tacit.cluster.hierarchy.nearest_cluster import (
    assembled,
    clusters_of,
    nearest_clusters,
    row_weights,
)
from tacit.cluster.kmeans.kmeans import KMeans
from tacit.cluster.linkages.inputs import METRICS, give, square_of
from tacit.cluster.linkages.linking import reporter
from tacit.core.engines import get_engine
from tacit.core.estimator import Estimator, check_rows
from tacit.core.memory import check_memory, gigabytes
from tacit.data.bad_values import check_values
from tacit.data.summary import summarize
from tacit.data.table import Table

__all__ = ["DivisiveClustering"]


class DivisiveClustering(ClusterMixin, Estimator):
    """Split all rows into ``n_clusters``, and keep the tree of the splits.

    Parameters
    ----------
    n_clusters : int
        How many clusters.
    method : {"bisecting", "diana"}
        "bisecting" splits by k-means with two centers: fast, for Euclidean rows. "diana" splits
        by mean distance and needs all distances: for any metric, and at most some thousands
        of rows.
    metric : str or function of two rows
        For "diana", as in ``AgglomerativeClustering``.
    bisecting_strategy : {"biggest_inertia", "largest_cluster"}
        Which cluster "bisecting" splits next: the one with the largest sum of squares, or the
        one with most rows.
    n_init, max_iter
        Of the k-means of every bisection.
    random_state : int, RandomState or None
        Seed of "bisecting".
    engine : {"serial", "threads", "dask"} or Engine
        Where the passes and ``predict`` run.
    callbacks : list or None
        Told about every split; see ``tacit.core.progress``.

    Attributes
    ----------
    labels_ : int32 array of shape (n_rows,), 0 for the largest cluster
    linkage_matrix_ : array
        The tree of splits as SciPy's linkage matrix. diana's leaves are rows, and the height
        of a cluster its largest distance; of bisecting they are the clusters by label, and
        the height is the root of the sum of squares about the mean.
    n_clusters_ : int
    n_leaves_ : int, of the tree
    n_iter_ : int, splits made
    cluster_centers_, inertia_
        Means of the clusters and the sum of squares about them; of bisecting only.

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
        "engine": "no_validation",
        "callbacks": "no_validation",
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
        n_clusters=8,
        *,
        method="bisecting",
        metric="euclidean",
        bisecting_strategy="biggest_inertia",
        n_init=3,
        max_iter=300,
        random_state=None,
        engine="threads",
        callbacks=None,
    ):
        self.n_clusters = n_clusters
        self.method = method
        self.metric = metric
        self.bisecting_strategy = bisecting_strategy
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state
        self.engine = engine
        self.callbacks = callbacks

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> "DivisiveClustering":
        """Split the rows of X: an array, a sparse matrix, distances or a list of objects."""
        self._validate_params()
        self._refuse_blocks(X)
        for name in ("cluster_centers_", "inertia_", "_splits", "_parts", "_rows", "_weights"):
            self.__dict__.pop(name, None)  # of an earlier fit
        with self._fit_callbacks() as callbacks:
            if self.method == "bisecting":
                self._bisect(X, callbacks)
            else:
                self._diana(X, callbacks)
        self.n_leaves_ = len(self.linkage_matrix_) + 1
        self.n_clusters_ = int(self.labels_.max()) + 1
        self.n_iter_ = self.n_leaves_ - 1
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The cluster of every row, new ones too. Of bisecting: down the tree, at every split
        to the nearer center. Of diana: where the mean distance is smallest."""
        check_is_fitted(self)
        params: Any = None
        if self.method == "diana":
            params = assembled(
                self.labels_, self._rows, self._weights, np.empty((0, 0)), np.empty(0),
                "average", self.metric,
            )  # fmt: skip
            if not hasattr(self, "n_features_in_"):
                return nearest_clusters(params, list(X))
        table = X if isinstance(X, Table) else Table.of(check_rows(self, X, reset=False))
        for block in table:
            check_values(block.load(), type(self).__name__, block.start, table.source)
        function = nearest_clusters if self.method == "diana" else walk_down
        params = (self._splits, self._parts) if params is None else params
        found = get_engine(self.engine).map(function, params, table)
        return np.concatenate([np.empty(0, np.int32), *found])

    # --- Fitting ---

    def _bisect(self, X: Any, callbacks: list) -> None:
        name = type(self).__name__
        if self.metric not in ("euclidean", "l2"):
            raise ValueError(
                f"{name}(method='bisecting') uses k-means, which is for metric='euclidean', "
                f"but metric={self.metric!r}. Use method='diana'."
            )
        X = check_rows(self, X, reset=True)
        self._check_enough(X.shape[0])
        summarize(Table.from_array(X), get_engine(self.engine), name=name)
        rng = check_random_state(self.random_state)

        def make() -> KMeans:
            return KMeans(
                2,
                n_init=self.n_init,
                max_iter=self.max_iter,
                random_state=rng.randint(2**31 - 1),
                engine=self.engine,
            )

        found = bisect(
            X,
            self.n_clusters,
            largest=self.bisecting_strategy == "largest_cluster",
            make=make,
            pause=reporter(name, self.n_clusters, callbacks),
        )
        self.labels_, self.linkage_matrix_ = found.labels, found.Z
        dtype = np.float32 if X.dtype == np.float32 else np.float64
        self.cluster_centers_ = found.centers.astype(dtype)
        self.inertia_ = found.inertia
        self._splits, self._parts = found.splits, found.parts
        k = len(found.centers)
        if k < self.n_clusters:
            warnings.warn(
                f"{name}(n_clusters={self.n_clusters}) could make only {k} clusters, because "
                f"the data has only {k} distinct rows. Lower n_clusters.",
                ConvergenceWarning,
                stacklevel=5,
            )

    def _diana(self, X: Any, callbacks: list) -> None:
        name, engine = type(self).__name__, get_engine(self.engine)
        if callable(self.metric) and not hasattr(X, "shape"):
            rows: Any = list(X)
            self.__dict__.pop("n_features_in_", None)
        else:
            rows = check_rows(self, X, reset=True, dtypes=(np.float64,))
        given = give(rows, "complete", self.metric, engine, name=name)
        n = given.n
        self._check_enough(n)
        check_memory(10 * n * n, f"{name}(method='diana') of {n:,} rows", WAY_OUT)
        matrix = square_of(given, engine)
        Z = diana(matrix, pause=reporter(name, n, callbacks)) if n > 1 else np.empty((0, 4))
        Z[:, 2] /= given.scale
        self.linkage_matrix_ = Z
        self.labels_ = cut(Z, k=self.n_clusters)
        weights = row_weights(Z, self.labels_, "average", np.ones(n))
        kept = clusters_of(rows, self.labels_, weights, "average", self.metric)
        self._rows, self._weights = kept.rows, kept.weights

    def _refuse_blocks(self, X: Any) -> None:
        if isinstance(X, Table) or type(X).__module__.startswith("dask."):
            n, d = (int(size) for size in X.shape)
            need = 8 * n * d if self.method == "bisecting" else 8 * n * n
            raise ValueError(
                f"{type(self).__name__}(method={self.method!r}) needs all {n:,} rows in memory "
                f"at once, {gigabytes(need)}. Load them into an array if they fit, or use "
                "AgglomerativeClustering(compress=1000), which takes any table."
            )

    def _check_enough(self, n: int) -> None:
        if n < self.n_clusters:
            raise ValueError(
                f"{type(self).__name__}(n_clusters={self.n_clusters}) needs at least as many "
                f"rows, but the data has n_samples={n}. Lower n_clusters."
            )

    def _after_load(self) -> None:
        check_linkage(self.linkage_matrix_, name="the tree")
        if not np.array_equal(np.unique(self.labels_), np.arange(self.n_clusters_)):
            raise ValueError("the labels do not count from 0 to n_clusters_ - 1")
        if self.method == "diana":
            if len(self._weights) != len(self.labels_):
                raise ValueError("there is not one weight for every row")
            return
        # Splits lead to later splits, or nowhere: a walk down comes to an end.
        after = -1 - self._parts
        own = np.arange(len(after))[:, None]
        labels, inner = self._parts[self._parts >= 0], after[self._parts < 0]
        if (
            not np.array_equal(np.sort(labels), np.arange(self.n_clusters_))
            or not np.array_equal(np.sort(inner), np.arange(1, len(after)))
            or not (after > own)[self._parts < 0].all()
        ) and self.n_clusters_ > 1:
            raise ValueError("the splits do not make a tree")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        tags.input_tags.sparse = self.metric in ("euclidean", "sqeuclidean", "cosine")
        return tags


WAY_OUT = "Use method='bisecting', or AgglomerativeClustering(compress=1000)."
