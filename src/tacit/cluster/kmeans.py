"""k-means: rows around centers.

The algorithm is ``lloyd``, its first centers come from ``seeding``; this file gives them
scikit-learn's manners.

Lloyd (1982), Least squares quantization in PCM. IEEE Trans. Inf. Theory 28.
Arthur and Vassilvitskii (2007), k-means++: the advantages of careful seeding. SODA.
"""

import warnings
from functools import partial
from hashlib import blake2b
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.callback import with_callbacks
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from tacit.cluster import lloyd
from tacit.cluster.lloyd_frame import Frame, measure
from tacit.cluster.seeding import first_centers
from tacit.core.checkpoint import begin, finish
from tacit.core.engines import Engine, get_engine
from tacit.core.estimator import Estimator, check_rows, check_weights
from tacit.core.loop import Fit, iterate
from tacit.core.stats import tree_sum
from tacit.data.table import Table, parts

__all__ = ["KMeans"]


class BaseKMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, Estimator):
    """What the k-means estimators share: everything but ``fit``."""

    _file_schema: ClassVar[dict] = {
        "cluster_centers_": ("n_clusters", "n_features_in_"),
        "labels_": ("n_rows",),
    }
    _file_optional = ("labels_",)

    def predict(self, X: Any) -> np.ndarray:
        """The nearest center of every row; a tie goes to the lowest index."""
        return np.concatenate(list(self._map(X, lloyd.assign)))

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Fit, and give the label of every row."""
        return self.fit(X, sample_weight=sample_weight).labels_

    def transform(self, X: Any) -> np.ndarray:
        """The distance of every row to every center."""
        return np.concatenate(list(self._map(X, lloyd.distances_to_centers)))

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Fit, and give the distance of every row to every center."""
        return self.fit(X, sample_weight=sample_weight).transform(X)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Minus the sum of squared distances to the nearest center."""
        return -float(
            sum(loss for _, loss in self._map(X, lloyd.label_and_loss, sample_weight))
        )

    def _map(self, X: Any, function: Any, sample_weight: Any = None):
        check_is_fitted(self)
        table = self._table(X, sample_weight, reset=False)
        engine = get_engine(self.engine)
        frame = measure(table, engine, name=type(self).__name__)
        params = lloyd.start(self.cluster_centers_, frame, sparse=is_sparse(table))
        return engine.map(function, params, table)

    def _table(self, X: Any, sample_weight: Any, *, reset: bool) -> Table:
        """X as blocks; arrays are checked as scikit-learn does, files as they are read."""
        rows = None
        if not (isinstance(X, Table) or type(X).__module__.startswith("dask.")):
            X = check_rows(self, X, reset=reset)
            rows = lloyd.block_rows(X, self.n_clusters)
        table = Table.of(X, rows)
        if reset:
            self.n_features_in_ = table.shape[1]
        elif table.shape[1] != self.n_features_in_:
            raise ValueError(
                f"{type(self).__name__} was fitted on {self.n_features_in_} columns, but X has "
                f"{table.shape[1]}. Give it the same columns."
            )
        weights = check_weights(sample_weight, X if hasattr(X, "shape") else None)
        return table if weights is None else table.with_weights(weights)

    def _label(
        self,
        params: lloyd.KMeansParams,
        beside: list | None,
        table: Table,
        engine: Engine,
        *,
        labels: bool,
    ) -> None:
        """Keep the centers, in the dtype of the data, and how the rows look from there."""
        centers = params.centers.astype(np.float32 if table.dtype == np.float32 else np.float64)
        if not np.array_equal(centers, params.centers):
            params = lloyd.moved(params, centers.astype(np.float64))
        found, losses = zip(
            *engine.map(lloyd.label_and_loss, params, table, beside), strict=True
        )
        self.cluster_centers_ = centers
        self.inertia_ = float(tree_sum(losses))
        self.labels_ = np.concatenate(found)
        warn_of_empty(np.unique(self.labels_), self.n_clusters, type(self).__name__)
        if not labels:
            del self.labels_

    def _check_enough(self, table: Table) -> None:
        if len(table) < self.n_clusters:
            raise ValueError(
                f"{type(self).__name__}(n_clusters={self.n_clusters}) needs at least as many "
                f"rows, but the data has n_samples={len(table)}. Lower n_clusters."
            )

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class KMeans(BaseKMeans):
    """Cluster rows around ``n_clusters`` centers.

    The answer does not depend on the engine, the number of workers, the size of the blocks or
    whether the rows come from memory or from a file: the same seed gives the same bits.

    Parameters
    ----------
    n_clusters : int
        How many centers.
    init : {"k-means++", "random"}, array of shape (n_clusters, n_features) or function
        Where the first centers come from. The rules draw from a sample of a long table: 20,000
        rows, or 20 for every center. A function is called as ``init(X, n_clusters,
        random_state=...)``.
    n_init : "auto" or int
        How many starts to try; the one with the lowest inertia is kept. "auto" is 1 for
        k-means++ and given centers, 10 for random ones.
    max_iter : int
        Most updates to make in one run.
    tol : float
        Stop when the centers move, in squares, by less than this share of the data's variance.
        Zero runs until nothing moves.
    random_state : int, RandomState or None
        Seed of the first centers, the only random step.
    engine : {"serial", "threads", "dask"} or Engine
        Where the passes run.
    callbacks : list or None
        Told about every pass; see ``tacit.core.progress``. scikit-learn's are welcome too. A
        ``tacit.core.checkpoint.Checkpoint`` lets a fit that was cut short go on.

    Attributes
    ----------
    cluster_centers_ : array of shape (n_clusters, n_features)
    labels_ : int32 array of shape (n_rows,), absent when fitted on a Table or a Dask array
    inertia_ : float, the weighted sum of squared distances at ``cluster_centers_``
    losses_ : list of float, the mean loss after 0, 1, 2, ... updates
    n_iter_ : int, updates made
    converged_ : bool, False where ``max_iter`` or a callback ended the fit

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [10.0], [11.0]])
    >>> np.sort(KMeans(n_clusters=2, random_state=0).fit(X).cluster_centers_, axis=0)
    array([[ 0.5],
           [10.5]])
    """

    _parameter_constraints: ClassVar[dict] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "init": [StrOptions({"k-means++", "random"}), callable, "array-like"],
        "n_init": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
        "engine": "no_validation",
        "callbacks": "no_validation",
    }

    def __init__(
        self,
        n_clusters=8,
        *,
        init="k-means++",
        n_init="auto",
        max_iter=300,
        tol=1e-4,
        random_state=None,
        engine="threads",
        callbacks=None,
    ):
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.engine = engine
        self.callbacks = callbacks

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> "KMeans":
        """Find the centers. X is an array, a CSR matrix, a Table or a Dask array."""
        self._validate_params()
        table = self._table(X, sample_weight, reset=True)
        self._check_enough(table)
        engine = get_engine(self.engine)
        frame = measure(table, engine, name="KMeans")
        rng = check_random_state(self.random_state)
        best: Fit | None = None
        beside: list | None = None
        with self._listening(self.max_iter) as callbacks:
            for run in range(self._starts()):
                centers = first_centers(self.init, table, self.n_clusters, rng, name="KMeans")
                fit, memory = self._run(run, centers, table, frame, engine, callbacks)
                if best is None or fit.losses[-1] < best.losses[-1]:
                    best, beside = fit, memory
        assert best is not None  # there is at least one start
        self.losses_ = [float(loss) for loss in best.losses]
        self.n_iter_ = len(best.losses) - 1
        self.converged_ = best.converged
        self._label(
            best.params, beside, table, engine, labels=table.in_memory and X is not table
        )
        finish(self.callbacks)
        return self

    def _starts(self) -> int:
        if not (isinstance(self.init, str) or callable(self.init)):
            return 1  # given centers give the same answer every time
        if self.n_init == "auto":
            return 10 if self.init == "random" else 1
        return self.n_init

    def _run(self, run, centers, table, frame, engine, callbacks) -> tuple[Fit, list | None]:
        params = lloyd.start(centers, frame, sparse=is_sparse(table))
        self._fingerprint = fingerprint(table, frame)
        # Without a seed every start is as good as another; with one only its own will do.
        seeded = centers.tobytes() if self.random_state is not None else b""
        origin = blake2b(seeded, digest_size=16).hexdigest()
        begin(
            callbacks, f"KMeans {self.n_clusters} {self.tol} {self._fingerprint} {origin}", run
        )
        beside = lloyd.slots(table, self.n_clusters)
        fit = iterate(
            params,
            lloyd.collect,
            lloyd.update,
            table,
            engine,
            max_iter=self.max_iter,
            settled=partial(lloyd.settled, tol=self.tol * frame.variance),
            callbacks=callbacks,
            beside=beside,
            name="KMeans",
        )
        return fit, beside


def is_sparse(table: Table) -> bool:
    return sp.issparse(parts(table.blocks[0].load()).rows)


def fingerprint(table: Table, frame: Frame) -> str:
    """Tells two data sets apart, for model files and checkpoints."""
    facts = f"{table.shape} {table.dtype} {frame.weight!r} {frame.variance!r}".encode()
    return blake2b(facts + frame.origin.tobytes(), digest_size=16).hexdigest()


def warn_of_empty(used: np.ndarray, n_clusters: int, name: str) -> None:
    if len(used) < n_clusters:
        warnings.warn(
            f"{name}(n_clusters={n_clusters}) could fill only {len(used)} clusters, because "
            f"the data has only {len(used)} distinct rows. Lower n_clusters.",
            ConvergenceWarning,
            stacklevel=5,
        )
