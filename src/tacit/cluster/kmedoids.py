"""k-medoids: clusters around items of the data, by any distance.

A medoid is the item with the smallest sum of distances to the items of its cluster, so a
cluster is represented by one of its members: a document, a word, a row. Any distance will do;
k-means needs squared Euclidean distance. The price is the distances between all items.

    fasterpam   swaps medoids until no swap lowers the loss (module ``fasterpam``). Needs all
                distances.
    clara       the same on samples, each evaluated on all items: for any number of rows.

Contract: whole for ``fasterpam``, which refuses rows on disk; ``clara`` is a few passes over
the blocks.

Kaufman and Rousseeuw (1990), Finding Groups in Data, ch. 2 and 3. Wiley.
Schubert and Rousseeuw (2021), Fast and eager k-medoids clustering. Information Systems 101.
The notes' section on k-means and its variations.
"""

from collections.abc import Callable, Sequence
from functools import partial
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from tacit.cluster.fasterpam import Medoids, build, fasterpam, lab
from tacit.core.engines import Engine, Serial, get_engine
from tacit.core.estimator import Estimator, with_callbacks
from tacit.core.memory import check_memory
from tacit.core.progress import Callback, Step, notify
from tacit.core.stats import tree_sum
from tacit.core.warn import warn_caller
from tacit.data.bad_values import check_distances, check_values
from tacit.data.checked import check_answer, check_enough, check_rows, check_table, is_table
from tacit.data.summary import summarize
from tacit.data.table import Table, parts
from tacit.kernels.distances import (
    METRICS,
    Metric,
    between_objects,
    between_rows,
    distance_matrix,
)

__all__ = ["KMedoids"]

BUILD_WORK = 2**31  # distances read by "build", about a second; past that "auto" is "lab"
SAMPLES = "Use method='clara', which works on samples, or compress the rows with KMeans first."


# --- Items: whatever has distances ---


class Items:
    """Items with a distance, which subclasses define by ``len`` and these methods:

    take        the items at sorted indices; None where there are only distances
    matrix      the square matrix of distances between these items, or between all; ValueError
                where it would not fit in memory
    distances   (n, k) distances to centers, whose indices in the fit are passed too
    """

    take: Callable
    matrix: Callable
    distances: Callable

    def __len__(self) -> int:
        raise NotImplementedError

    def nearest(self, centers: Any, indices: np.ndarray) -> tuple[np.ndarray, float]:
        """The nearest center of every item, the lowest where they tie, and the sum of the
        distances to them."""
        return smallest(self.distances(centers, indices))


class Rows(Items):
    """Rows of numbers, in memory or read block by block."""

    def __init__(self, table: Table, metric: Metric, engine: Engine) -> None:
        self.table, self.metric = table, metric
        # Functions written in Python hold the GIL: threads would only slow each other down.
        self.engine = Serial() if callable(metric) else engine
        self.dtype = np.dtype(np.float32 if table.dtype == np.float32 else np.float64)
        if metric in ("euclidean", "sqeuclidean"):
            summarize(table, engine, name="KMedoids")  # also refuses squares that overflow
            return
        for block in table:
            check_values(parts(block.load()).rows, "KMedoids", block.start, table.source)

    def __len__(self) -> int:
        return len(self.table)

    def take(self, indices: np.ndarray) -> Any:
        return self.table.take(indices)

    def matrix(self, indices: np.ndarray | None = None) -> np.ndarray:
        rows = self.table.load() if indices is None else self.take(indices)
        check_room(rows.shape[0], self.dtype.itemsize)
        return distance_matrix(rows, self.metric, engine=self.engine, dtype=self.dtype)

    def nearest(self, centers: Any, indices: np.ndarray) -> tuple[np.ndarray, float]:
        function = partial(nearest_centers, metric=self.metric)
        labels, losses = zip(*self.engine.map(function, centers, self.table), strict=True)
        return np.concatenate(labels), float(tree_sum(losses))

    def distances(self, centers: Any, indices: np.ndarray) -> np.ndarray:
        function = partial(center_distances, metric=self.metric, dtype=self.dtype)
        return np.concatenate(list(self.engine.map(function, centers, self.table)))


class Objects(Items):
    """Any objects, compared by a function."""

    def __init__(self, objects: Sequence[Any], metric: Callable) -> None:
        self.objects, self.metric = list(objects), metric

    def __len__(self) -> int:
        return len(self.objects)

    def take(self, indices: np.ndarray) -> Any:
        return [self.objects[i] for i in indices]

    def matrix(self, indices: np.ndarray | None = None) -> np.ndarray:
        objects = self.objects if indices is None else self.take(indices)
        check_room(len(objects), 8)
        return between_objects(objects, objects, self.metric)

    def distances(self, centers: Any, indices: np.ndarray) -> np.ndarray:
        return between_objects(self.objects, centers, self.metric)


class Distances(Items):
    """Precomputed distances: one row per item, one column per item of the fit."""

    def __init__(self, values: np.ndarray, *, square: bool) -> None:
        self.values = values
        check_distances(values, "KMedoids", square=square)

    def __len__(self) -> int:
        return len(self.values)

    def take(self, indices: np.ndarray) -> Any:
        return None

    def matrix(self, indices: np.ndarray | None = None) -> np.ndarray:
        return self.values if indices is None else self.values[np.ix_(indices, indices)]

    def distances(self, centers: Any, indices: np.ndarray) -> np.ndarray:
        return self.values[:, indices]


def center_distances(centers: Any, block: Any, *, metric: Metric, dtype: Any) -> np.ndarray:
    return between_rows(parts(block).rows, centers, metric).astype(dtype, copy=False)


def nearest_centers(centers: Any, block: Any, *, metric: Metric) -> tuple[np.ndarray, float]:
    return smallest(between_rows(parts(block).rows, centers, metric))


def smallest(distances: np.ndarray) -> tuple[np.ndarray, float]:
    labels = distances.argmin(axis=1)
    nearest = np.take_along_axis(distances, labels[:, None], axis=1)
    return labels.astype(np.int32), float(nearest.sum(dtype=np.float64))


def check_room(n: int, itemsize: int) -> None:
    what = f"KMedoids(method='fasterpam') of {n:,} items, for the distances between them,"
    check_memory(n * n * itemsize, what, SAMPLES)


# --- The estimator ---


class KMedoids(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, Estimator):
    """Cluster items around ``n_clusters`` of them, by any distance.

    Parameters
    ----------
    n_clusters : int, how many medoids
    metric : {"euclidean", "sqeuclidean", "manhattan", "cosine", "precomputed"} or function
        The distance of two items. "precomputed": X is a square matrix of distances. A function
        is called with two items, which may be anything: X is then a list of strings, for
        example, or an array, and the items are its rows.
    method : {"fasterpam", "clara"}
        "fasterpam" needs all distances: 8 bytes for every pair of items, 4 in float32. "clara"
        works on samples and takes any number of rows, also a Table on disk.
    init : {"auto", "build", "lab", "random"} or array of n_clusters indices
        First medoids. "build" adds the item that lowers the loss most, k times, reading every
        distance each time; "lab" does so in samples; "auto" is "build" for up to 2^31 reads.
    max_iter : int, largest number of passes over the items
    n_sampling, sampling_size : int, int or None
        For "clara": how many samples, and of how many items. None is 80 + 4 n_clusters.
    random_state : int, RandomState or None
        Seed of "lab", "random" and of the samples. "build" is not random.
    engine, callbacks : as for ``KMeans``

    Attributes
    ----------
    medoid_indices_ : int64 array of shape (n_clusters,), ascending
    cluster_centers_ : the medoids themselves: rows of X, or a list of objects; absent for
        precomputed distances
    labels_ : int32 array of shape (n_items,), the nearest medoid; a tie goes to the lowest.
        Absent when fitted on a Table or a Dask array
    inertia_ : float, the sum of distances to the nearest medoid
    losses_ : list of float, the mean of that after 0, 1, 2, ... passes or samples
    n_iter_ : int, passes made, or samples drawn
    converged_ : bool, whether no swap lowers the loss (of a sample, with "clara")

    Examples
    --------
    >>> words = ["cat", "cats", "cart", "house", "mouse", "houses"]
    >>> def shared(a, b):
    ...     return 1 - len(set(a) & set(b)) / len(set(a) | set(b))
    >>> KMedoids(2, metric=shared).fit(words).cluster_centers_
    ['cat', 'house']
    """

    _file_schema: ClassVar[dict] = {"medoid_indices_": ("n_clusters",), "labels_": ("n_rows",)}
    _file_optional = ("labels_",)
    _file_kinds: ClassVar[dict] = {"medoid_indices_": "i", "labels_": "i"}
    _parameter_constraints: ClassVar[dict] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "metric": [StrOptions({*METRICS, "precomputed"}), callable],
        "method": [StrOptions({"fasterpam", "clara"})],
        "init": [StrOptions({"auto", "build", "lab", "random"}), "array-like"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "n_sampling": [Interval(Integral, 1, None, closed="left")],
        "sampling_size": [Interval(Integral, 1, None, closed="left"), None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        metric: Metric = "euclidean",
        method: str = "fasterpam",
        init: Any = "auto",
        max_iter: int = 100,
        n_sampling: int = 10,
        sampling_size: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        engine: str | Engine = "threads",
        callbacks: list[Callback] | None = None,
    ) -> None:
        self.n_clusters, self.metric, self.method, self.init = n_clusters, metric, method, init
        self.max_iter, self.n_sampling, self.sampling_size = max_iter, n_sampling, sampling_size
        self.random_state, self.engine, self.callbacks = random_state, engine, callbacks

    @property
    def contract(self) -> str:  # type: ignore[override]
        """All rows at once, or passes over the blocks."""
        return "whole" if self.method == "fasterpam" else "summable"

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> "KMedoids":
        """Find the medoids. X is an array, a CSR matrix, a list of objects or a matrix of
        distances; for "clara" also a Table on disk or a Dask array."""
        self._validate_params()
        items = self._items(X, reset=True)
        check_enough(self, len(items), items="items")
        rng = check_random_state(self.random_state)
        with self._fit_callbacks() as callbacks:
            if self.method == "clara":
                result = self._clara(items, rng, callbacks)
            else:
                result = self._search(items.matrix(), rng, callbacks)
        self.medoid_indices_ = result.indices
        centers = items.take(result.indices)
        if centers is not None:
            self.cluster_centers_ = centers
        labels, self.inertia_ = items.nearest(centers, result.indices)
        self.losses_ = [loss / len(items) for loss in result.losses]
        self.n_iter_ = len(result.losses) - 1
        self.converged_ = result.converged
        if not is_table(X):
            self.labels_ = labels
        used = len(np.unique(labels))
        if used < self.n_clusters:
            warn_caller(
                f"KMedoids(n_clusters={self.n_clusters}) could fill only {used} clusters, "
                f"because only {used} of the medoids differ from each other. Lower n_clusters.",
                ConvergenceWarning,
            )
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The nearest medoid of every item; a tie goes to the lowest index. For precomputed
        distances X has one column for every item of the fit."""
        check_is_fitted(self)
        items = self._items(X, reset=False)
        return items.nearest(self._centers(), self.medoid_indices_)[0]

    def transform(self, X: Any) -> np.ndarray:
        """The distance of every item to every medoid."""
        check_is_fitted(self)
        items = self._items(X, reset=False)
        distances = items.distances(self._centers(), self.medoid_indices_)
        return check_answer(self, "transform", distances)

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the sum of distances to the nearest medoid."""
        check_is_fitted(self)
        items = self._items(X, reset=False)
        return -items.nearest(self._centers(), self.medoid_indices_)[1]

    def _centers(self) -> Any:
        return getattr(self, "cluster_centers_", None)

    def _items(self, X: Any, *, reset: bool) -> Items:
        if callable(self.metric) and not (is_table(X) or len(getattr(X, "shape", ())) == 2):
            if isinstance(X, str | bytes):
                raise ValueError(
                    f"KMedoids got one {type(X).__name__}, {X[:20]!r}, instead of a list of "
                    "items. Wrap it in a list."
                )
            return Objects(X, self.metric)
        if isinstance(self.metric, str) and self.metric == "precomputed":
            if sp.issparse(X) or is_table(X):
                raise TypeError(
                    "Sparse data and tables hold no distances: KMedoids(metric='precomputed') "
                    f"needs a square NumPy array, not a {type(X).__name__}."
                )
            return Distances(check_rows(self, X, reset=reset), square=reset)
        table = check_table(self, X, reset=reset, alternative=SAMPLES)
        return Rows(table, self.metric, get_engine(self.engine))

    # --- The search ---

    def _search(
        self, distances: np.ndarray, rng: np.random.RandomState, callbacks: list[Callback]
    ) -> Medoids:
        medoids = self._first(distances, rng)
        return fasterpam(distances, medoids, max_iter=self.max_iter, callbacks=callbacks)

    def _first(self, distances: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
        n, k = len(distances), self.n_clusters
        if not isinstance(self.init, str):
            return check_medoids(self.init, n, k)
        small = n * n * k <= BUILD_WORK
        kind = ("build" if small else "lab") if self.init == "auto" else self.init
        if kind == "build":
            return build(distances, k, engine=get_engine(self.engine))
        return lab(distances, k, rng) if kind == "lab" else np.sort(rng.permutation(n)[:k])

    def _clara(
        self, items: Items, rng: np.random.RandomState, callbacks: list[Callback]
    ) -> Medoids:
        """Medoids of samples; those with the smallest loss over all items. Every sample but the
        first includes the best so far."""
        n, k = len(items), self.n_clusters
        size = min(n, max(k, self.sampling_size or 80 + 4 * k))
        if not isinstance(self.init, str):
            raise ValueError(
                "KMedoids(method='clara') draws samples, so init must be 'auto', 'build', "
                "'lab' or 'random', not a list of indices. Use method='fasterpam' with one."
            )
        best: Medoids | None = None
        losses: list[float] = []
        rounds = 1 if size == n else self.n_sampling
        for number in range(rounds):
            medoids = np.empty(0, np.int64) if best is None else best.indices
            others = np.setdiff1d(rng.permutation(n)[:size], medoids)
            sample = np.sort(np.concatenate([medoids, others[: size - len(medoids)]]))
            result = self._search(items.matrix(sample), rng, [])
            chosen = sample[result.indices]
            _, loss = items.nearest(items.take(chosen), chosen)
            if best is None or loss < best.loss:
                best = result._replace(indices=chosen, loss=loss)
            losses.append(best.loss)
            done = number == rounds - 1
            step = Step("KMedoids", number + 1, rounds, losses, best.indices, done=done)
            if notify(callbacks, step):
                break
        assert best is not None  # there is at least one sample
        return best._replace(losses=[losses[0], *losses])

    def _after_load(self) -> None:
        centers = self._centers()
        if self.metric != "precomputed" and centers is None:
            raise ValueError("the items that are medoids are missing")
        if not isinstance(centers, list) and not hasattr(self, "n_features_in_"):
            raise ValueError("n_features_in_ is missing")
        if centers is not None:
            count = len(centers) if isinstance(centers, list) else centers.shape[0]
            if count != len(self.medoid_indices_):
                raise ValueError(f"{count} centers for {len(self.medoid_indices_)} medoids")

    @property
    def _n_features_out(self) -> int:
        return len(self.medoid_indices_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        precomputed = isinstance(self.metric, str) and self.metric == "precomputed"
        tags.input_tags.sparse = not precomputed
        tags.input_tags.pairwise = precomputed
        tags.input_tags.positive_only = precomputed
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def check_medoids(init: Any, n: int, k: int) -> np.ndarray:
    medoids = np.asarray(init)
    if medoids.shape != (k,) or medoids.dtype.kind not in "iu":
        raise ValueError(
            f"KMedoids(init=...) holds an array of shape {medoids.shape} and type "
            f"{medoids.dtype}, but n_clusters asks for {k} indices. Give one integer each."
        )
    if medoids.min() < 0 or medoids.max() >= n or len(np.unique(medoids)) < k:
        raise ValueError(
            f"KMedoids(init={medoids.tolist()}) must name {k} different items below {n}."
        )
    return medoids.astype(np.int64)
