"""k-medoids: items around items, by any distance.

A medoid is the item whose distances to those of its cluster add up to least, so a cluster is
shown by one of its own: a document, a word, a row. The distance may be anything; k-means
allows only squares of straight lines. The price is all distances between all items.

    fasterpam   swaps medoids until no swap helps (``cluster.fasterpam``). Needs all distances.
    clara       the same on samples, each judged by all items: for any number of rows.

Contract: whole. ``fasterpam`` refuses data that is read block by block; ``clara`` takes it.

Kaufman and Rousseeuw (1990), Finding Groups in Data, ch. 2 and 3. Wiley.
Schubert and Rousseeuw (2021), Fast and eager k-medoids clustering. Information Systems 101.
The notes' section on k-means and its variations.
"""

import warnings
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.callback import with_callbacks
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from tacit.cluster.medoids.fasterpam import Medoids, build, fasterpam, lab, random_medoids
from tacit.cluster.medoids.items import Items, Matrix, Objects, Rows
from tacit.core.engines import get_engine
from tacit.core.estimator import Estimator, check_rows
from tacit.core.progress import Callback, Step, notify
from tacit.data.table import Table
from tacit.kernels.distances import METRICS

__all__ = ["KMedoids"]

BUILD_WORK = 2**31  # distances looked at by "build", about a second; past that "auto" is "lab"


class KMedoids(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, Estimator):
    """Cluster items around ``n_clusters`` of them, by any distance.

    Parameters
    ----------
    n_clusters : int
        How many medoids.
    metric : {"euclidean", "sqeuclidean", "manhattan", "cosine", "precomputed"} or function
        How far two items lie apart. "precomputed": X is a square matrix of distances. A
        function is called with two items, which may be anything: X is then a list of strings,
        say, or an array, whose rows it gets.
    method : {"fasterpam", "clara"}
        "fasterpam" looks at all distances: 8 bytes for every pair of items, 4 in float32.
        "clara" looks at samples and takes any number of rows, also a Table.
    init : {"auto", "build", "lab", "random"} or array of n_clusters indices
        First medoids. "build" adds the item that helps most, k times, looking at every
        distance each time; "lab" does so in samples; "auto" is "build" up to 2^31 looks.
    max_iter : int
        Most passes over the items in search of swaps.
    n_sampling, sampling_size : int, int or None
        For "clara": how many samples, and of how many items. None is 80 + 4 n_clusters.
    random_state : int, RandomState or None
        Seed of "lab", "random" and of the samples. "build" leaves nothing to chance.
    engine : {"serial", "threads", "dask"} or Engine
        Where distances are computed.
    callbacks : list or None
        Told about every pass or sample; see ``tacit.core.progress``.

    Attributes
    ----------
    medoid_indices_ : int64 array of shape (n_clusters,), ascending
    cluster_centers_ : the medoids themselves: rows of X, or a list of objects; absent where
        the distances were given
    labels_ : int32 array of shape (n_items,), the nearest medoid; a tie goes to the lowest.
        Absent when fitted on a Table or a Dask array
    inertia_ : float, the sum of distances to the nearest medoid
    losses_ : list of float, the mean of that after 0, 1, 2, ... passes or samples
    n_iter_ : int, passes made, or samples drawn
    converged_ : bool, whether no swap was left that helps (of a sample, with "clara")

    Examples
    --------
    >>> words = ["cat", "cats", "cart", "house", "mouse", "houses"]
    >>> def shared(a, b):
    ...     return 1 - len(set(a) & set(b)) / len(set(a) | set(b))
    >>> KMedoids(2, metric=shared).fit(words).cluster_centers_
    ['cat', 'house']
    """

    contract: ClassVar[str] = "whole"
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
        "engine": "no_validation",
        "callbacks": "no_validation",
    }

    def __init__(
        self,
        n_clusters=8,
        *,
        metric="euclidean",
        method="fasterpam",
        init="auto",
        max_iter=100,
        n_sampling=10,
        sampling_size=None,
        random_state=None,
        engine="threads",
        callbacks=None,
    ):
        self.n_clusters = n_clusters
        self.metric = metric
        self.method = method
        self.init = init
        self.max_iter = max_iter
        self.n_sampling = n_sampling
        self.sampling_size = sampling_size
        self.random_state = random_state
        self.engine = engine
        self.callbacks = callbacks

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> "KMedoids":
        """Find the medoids. X is an array, a CSR matrix, a list of objects or a matrix of
        distances; for "clara" also a Table or a Dask array."""
        self._validate_params()
        self._refuse_blocks(X)
        items = self._items(X, reset=True)
        if len(items) < self.n_clusters:
            raise ValueError(
                f"KMedoids(n_clusters={self.n_clusters}) needs at least as many items, but the "
                f"data has n_samples={len(items)}. Lower n_clusters."
            )
        rng = check_random_state(self.random_state)
        with self._fit_callbacks() as callbacks:
            if self.method == "clara":
                found = self._clara(items, rng, callbacks)
            else:
                found = self._search(items.among(), rng, callbacks)
        self.medoid_indices_ = found.indices
        centers = items.take(found.indices)
        if centers is not None:
            self.cluster_centers_ = centers
        labels, self.inertia_ = items.nearest(centers, found.indices)
        self.losses_ = [loss / len(items) for loss in found.losses]
        self.n_iter_ = len(found.losses) - 1
        self.converged_ = found.converged
        if not comes_in_blocks(X):
            self.labels_ = labels
        self._warn_of_empty(labels)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The nearest medoid of every item; a tie goes to the lowest index. Of precomputed
        distances X has one column for every item of the fit."""
        items = self._known(X)
        return items.nearest(self._centers(), self.medoid_indices_)[0]

    def transform(self, X: Any) -> np.ndarray:
        """The distance of every item to every medoid."""
        return self._known(X).distances(self._centers(), self.medoid_indices_)

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the sum of distances to the nearest medoid."""
        return -self._known(X).nearest(self._centers(), self.medoid_indices_)[1]

    # --- The items ---

    def _known(self, X: Any) -> Items:
        check_is_fitted(self)
        return self._items(X, reset=False)

    def _centers(self) -> Any:
        return getattr(self, "cluster_centers_", None)

    def _items(self, X: Any, *, reset: bool) -> Items:
        name = "KMedoids"
        if callable(self.metric) and not is_table_like(X):
            if isinstance(X, str | bytes):
                raise ValueError(
                    f"KMedoids got one {type(X).__name__}, {X[:20]!r}, instead of a list of "
                    "items. Wrap it in a list."
                )
            return Objects(X, self.metric, name=name)
        if not comes_in_blocks(X):
            X = check_rows(self, X, reset=reset)
        if isinstance(self.metric, str) and self.metric == "precomputed":
            if sp.issparse(X) or isinstance(X, Table):
                raise TypeError(
                    "Sparse data and tables hold no distances: KMedoids(metric='precomputed') "
                    f"needs a square NumPy array, not a {type(X).__name__}."
                )
            return Matrix(X, square=reset, name=name)
        table = Table.of(X)
        if reset:
            self.n_features_in_ = table.shape[1]
        elif table.shape[1] != self.n_features_in_:
            raise ValueError(
                f"KMedoids was fitted on {self.n_features_in_} columns, but X has "
                f"{table.shape[1]}. Give it the same columns."
            )
        return Rows(table, self.metric, get_engine(self.engine), name=name)

    def _refuse_blocks(self, X: Any) -> None:
        if comes_in_blocks(X) and self.method == "fasterpam":
            n = X.shape[0]
            raise ValueError(
                f"KMedoids(method='fasterpam') needs all distances between the {n:,} rows at "
                f"once, {8 * n * n / 1e9:,.1f} GB, and not rows that are read block by block. "
                "Use method='clara', or compress the rows with KMeans first."
            )

    # --- The search ---

    def _search(
        self, distances: np.ndarray, rng: np.random.RandomState, callbacks: list[Callback]
    ) -> Medoids:
        medoids = self._first(distances, rng)
        return fasterpam(distances, medoids, max_iter=self.max_iter, callbacks=callbacks)

    def _first(self, distances: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
        n, k = len(distances), self.n_clusters
        if not isinstance(self.init, str):
            return given_medoids(self.init, n, k)
        few = n * n * k <= BUILD_WORK
        kind = ("build" if few else "lab") if self.init == "auto" else self.init
        if kind == "build":
            return build(distances, k, engine=get_engine(self.engine))
        return lab(distances, k, rng) if kind == "lab" else random_medoids(n, k, rng)

    def _clara(
        self, items: Items, rng: np.random.RandomState, callbacks: list[Callback]
    ) -> Medoids:
        """Medoids of samples; the ones that suit all items best. Every sample but the first
        holds the best so far."""
        n, k = len(items), self.n_clusters
        size = min(n, max(k, self.sampling_size or 80 + 4 * k))
        if not isinstance(self.init, str):
            raise ValueError(
                "KMedoids(method='clara') draws samples, so init must be 'auto', 'build', "
                "'lab' or 'random' and no list of indices. Use method='fasterpam' with one."
            )
        best: Medoids | None = None
        losses: list[float] = []
        rounds = 1 if size == n else self.n_sampling
        for number in range(rounds):
            kept = np.empty(0, np.int64) if best is None else best.indices
            others = np.setdiff1d(rng.permutation(n)[:size], kept)
            sample = np.sort(np.concatenate([kept, others[: size - len(kept)]]))
            found = self._search(items.among(sample), rng, [])
            chosen = sample[found.indices]
            _, loss = items.nearest(items.take(chosen), chosen)
            if best is None or loss < best.loss:
                best = found._replace(indices=chosen, loss=loss)
            losses.append(best.loss)
            done = number == rounds - 1
            step = Step("KMedoids", number + 1, rounds, losses, best.indices, done=done)
            if notify(callbacks, step):
                break
        assert best is not None  # there is at least one sample
        return best._replace(losses=[losses[0], *losses])

    # --- Manners ---

    def _warn_of_empty(self, labels: np.ndarray) -> None:
        used = len(np.unique(labels))
        if used < self.n_clusters:
            warnings.warn(
                f"KMedoids(n_clusters={self.n_clusters}) could fill only {used} clusters, "
                f"because only {used} of the medoids differ from each other. Lower n_clusters.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _after_load(self) -> None:
        centers = self._centers()
        if centers is not None:
            found = len(centers) if isinstance(centers, list) else centers.shape[0]
            if found != len(self.medoid_indices_):
                raise ValueError(f"{found} centers for {len(self.medoid_indices_)} medoids")

    @property
    def _n_features_out(self) -> int:
        return len(self.medoid_indices_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        given = isinstance(self.metric, str) and self.metric == "precomputed"
        tags.input_tags.sparse = not given
        tags.input_tags.pairwise = given
        tags.input_tags.positive_only = given
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def comes_in_blocks(X: Any) -> bool:
    return isinstance(X, Table) or type(X).__module__.startswith("dask.")


def is_table_like(X: Any) -> bool:
    """Rows and columns, rather than a list of objects."""
    return comes_in_blocks(X) or len(getattr(X, "shape", ())) == 2


def given_medoids(init: Any, n: int, k: int) -> np.ndarray:
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
