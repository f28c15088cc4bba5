"""k-means: rows around centers; and the base classes of all estimators with centers.

The algorithm is ``lloyd``, the first centers come from ``seeding``. ``CenterEstimator`` has
everything but ``fit``. ``RestartedEstimator`` fits ``n_init`` times and keeps the lowest loss:
first centers, then passes by ``core.loop.iterate``, with the ``start``, ``collect`` and
``update`` of the model.

Lloyd (1982), Least squares quantization in PCM. IEEE Trans. Inf. Theory 28.
Arthur and Vassilvitskii (2007), k-means++: the advantages of careful seeding. SODA.
"""

from collections.abc import Callable
from functools import partial
from hashlib import blake2b
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from tacit.cluster import lloyd
from tacit.cluster.seeding import first_centers
from tacit.core.checkpoint import begin, finish
from tacit.core.engines import Engine, get_engine
from tacit.core.estimator import Estimator, with_callbacks
from tacit.core.loop import Fit, iterate
from tacit.core.progress import Callback
from tacit.core.stats import tree_sum
from tacit.core.warn import warn_caller
from tacit.data.checked import check_answer, check_enough, check_table
from tacit.data.summary import DataSummary, summarize
from tacit.data.table import Table, is_sparse

__all__ = ["CenterEstimator", "KMeans", "RestartedEstimator", "fingerprint"]


class CenterEstimator(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, Estimator
):
    """Everything but ``fit``."""

    _parameter_constraints: ClassVar[dict] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "init": [StrOptions({"k-means++", "random"}), callable, "array-like"],
        "n_init": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
    }
    _file_schema: ClassVar[dict] = {
        "cluster_centers_": ("n_clusters", "n_features_in_"),
        "labels_": ("n_rows",),
    }
    _file_optional: ClassVar[tuple[str, ...]] = ("labels_",)
    _file_kinds: ClassVar[dict] = {"cluster_centers_": "f", "labels_": "i"}
    _file_below: ClassVar[dict] = {"labels_": "n_clusters"}
    _assign = staticmethod(lloyd.assign)
    _label_and_loss = staticmethod(lloyd.label_and_loss)
    _distances = staticmethod(lloyd.distances_to_centers)
    _too_few = "the data has only {} distinct rows"  # why a cluster may stay empty

    def predict(self, X: Any) -> np.ndarray:
        """The nearest center of every row, by the distance of the model; a tie goes to the
        lowest index."""
        return np.concatenate(list(self._map(X, self._assign)))

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Fit, and give the label of every row."""
        return self.fit(X, sample_weight=sample_weight).labels_

    def transform(self, X: Any) -> np.ndarray:
        """The distance of every row to every center."""
        distances = np.concatenate(list(self._map(X, self._distances)))
        return check_answer(self, "transform", distances)

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Fit, and give the distance of every row to every center."""
        return self.fit(X, sample_weight=sample_weight).transform(X)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Minus the loss of the rows: the sum of squared distances to the nearest center, or of
        1 - cos for ``SphericalKMeans``."""
        blocks = self._map(X, self._label_and_loss, sample_weight)
        return -float(sum(loss for _, loss in blocks))

    def _map(
        self, X: Any, function: Any, sample_weight: Any = None, start: Callable = lloyd.start
    ):
        check_is_fitted(self)
        table = self._table(X, sample_weight, reset=False)
        engine = get_engine(self.engine)
        rows = self._compared(table, fitting=False)
        summary = summarize(rows, engine, name=type(self).__name__)
        params = start(self.cluster_centers_, summary, sparse=is_sparse(table))
        return engine.map(function, params, table)

    def _table(self, X: Any, sample_weight: Any, *, reset: bool) -> Table:
        def block_rows(rows: Any) -> int | None:
            return lloyd.block_rows(rows, self.n_clusters)

        return check_table(self, X, sample_weight, reset=reset, block_rows=block_rows)

    def _compared(self, table: Table, *, fitting: bool) -> Table:
        """The rows as they are compared with centers."""
        return table

    def _set_results(
        self, params: Any, cache: list | None, table: Table, summary: DataSummary,
        engine: Engine, *, labels: bool,
    ) -> None:  # fmt: skip
        """Set the centers, in the dtype of the data, and the labels and the loss there."""
        centers = params.centers.astype(np.float32 if table.dtype == np.float32 else np.float64)
        if not np.array_equal(centers, params.centers):
            params = lloyd.moved(params, centers.astype(np.float64))
        labels_of, losses = zip(
            *engine.map(self._label_and_loss, params, table, cache), strict=True
        )
        self.cluster_centers_ = centers
        self.inertia_ = float(tree_sum(losses))
        self.labels_ = np.concatenate(labels_of)
        self._warn_about_empty(len(np.unique(self.labels_)))
        if not labels:
            del self.labels_

    def _warn_about_empty(self, used: int) -> None:
        if used < self.n_clusters:
            warn_caller(
                f"{type(self).__name__}(n_clusters={self.n_clusters}) could fill only {used} "
                f"clusters, because {self._too_few.format(used)}. Lower n_clusters.",
                ConvergenceWarning,
            )

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class RestartedEstimator(CenterEstimator):
    """Fits from ``n_init`` starts and keeps the lowest loss."""

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "k-means++",
        n_init: int | str = "auto",
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Any = None,
        engine: str | Engine = "threads",
        callbacks: list[Callback] | None = None,
    ) -> None:
        self.n_clusters, self.init, self.n_init = n_clusters, init, n_init
        self.max_iter, self.tol, self.random_state = max_iter, tol, random_state
        self.engine, self.callbacks = engine, callbacks

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the centers. X is an array, a CSR matrix, a Table or a Dask array."""
        self._validate_params()
        table = self._table(X, sample_weight, reset=True)
        check_enough(self, len(table))
        engine, name = get_engine(self.engine), type(self).__name__
        rows = self._compared(table, fitting=True)
        summary = self._summarize(rows, engine)
        self._fingerprint = fingerprint(rows, summary)
        self._prepare(summary)
        rng = check_random_state(self.random_state)
        best: Fit | None = None
        cache: list | None = None
        with self._fit_callbacks() as callbacks:
            for run in range(self._starts()):
                centers = first_centers(self.init, rows, self.n_clusters, rng, name=name)
                params = self._start(centers, summary, sparse=is_sparse(table))
                # A checkpoint resumes the same first centers; without a seed, any.
                seeded = centers.tobytes() if self.random_state is not None else b""
                origin = blake2b(seeded, digest_size=16).hexdigest()
                begin(callbacks, f"{self._facts(params)} {self._fingerprint} {origin}", run)
                caches = self._caches(table)
                fit = iterate(
                    params, self._collect, self._update, table, engine, max_iter=self.max_iter,
                    settled=partial(self._settled, tol=self.tol * summary.variance),
                    callbacks=callbacks, cache=caches, name=name,
                )  # fmt: skip
                if best is None or fit.losses[-1] < best.losses[-1]:
                    best, cache = fit, caches
        assert best is not None  # there is at least one start
        self.losses_ = [float(loss) for loss in best.losses]
        self.n_iter_ = len(best.losses) - 1
        self.converged_ = best.converged
        labels = table.in_memory and X is not table
        self._set_results(best.params, cache, table, summary, engine, labels=labels)
        finish(self.callbacks)
        return self

    def _starts(self) -> int:
        if not (isinstance(self.init, str) or callable(self.init)):
            return 1  # an array gives the same result every time
        if isinstance(self.n_init, str):  # "auto"
            return 10 if self.init == "random" else 1
        return self.n_init

    # What a model defines. Functions of the module's top level, so that they can travel.

    _start: Callable
    _collect: Callable
    _update: Callable
    _settled: Callable

    # What it may override.

    def _summarize(self, rows: Table, engine: Engine) -> DataSummary:
        return summarize(rows, engine, name=type(self).__name__)

    def _prepare(self, summary: DataSummary) -> None:
        """Set parameters that depend on the data, before the first start."""

    def _facts(self, params: Any) -> str:
        """What a checkpoint recognizes its fit by."""
        return f"{type(self).__name__} {self.n_clusters} {self.tol}"

    def _caches(self, table: Table) -> list | None:
        """A cache for every block."""
        return lloyd.block_caches(table, self.n_clusters)


def fingerprint(table: Table, summary: DataSummary) -> str:
    """A hash that identifies the data, for model files and checkpoints."""
    facts = f"{table.shape} {table.dtype} {summary.weight!r} {summary.variance!r}".encode()
    return blake2b(facts + summary.origin.tobytes(), digest_size=16).hexdigest()


class KMeans(RestartedEstimator):
    """Cluster rows around ``n_clusters`` centers.

    The result does not depend on the engine, the number of workers, the size of the blocks or
    whether the rows come from memory or from a file: the same seed gives the same bits.

    Parameters
    ----------
    n_clusters : int, number of centers
    init : {"k-means++", "random"}, array of shape (n_clusters, n_features) or function
        The first centers. The two rules draw from a sample of a long table: 20,000 rows, or 20
        for every center. A function is called as ``init(X, n_clusters,
        random_state=...)``.
    n_init : "auto" or int
        Number of starts; the one with the lowest inertia wins. "auto" is 1 for
        k-means++ and an array, 10 for random ones.
    max_iter : int, most updates in one run
    tol : float
        Stop when the centers move, in squares, by less than this fraction of the data's
        variance. Zero runs until no center moves.
    verbose : int, above 0, shows progress on standard error
    random_state : int, RandomState or None; seed of the first centers, the only random step
    copy_x, algorithm : bool and {"lloyd", "elkan"}
        No effect: rows are never changed, and both algorithms give the same centers.
    engine : {"serial", "threads", "dask"} or Engine; where the passes run
    callbacks : list or None
        Notified of every pass; see ``tacit.core.progress``. scikit-learn's callbacks work too.
        A ``tacit.core.checkpoint.Checkpoint`` lets an interrupted fit resume.

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
        **CenterEstimator._parameter_constraints,
        "verbose": ["verbose"],
        "copy_x": ["boolean"],
        "algorithm": [StrOptions({"lloyd", "elkan"})],
    }
    _no_effect: ClassVar[dict] = {
        "copy_x": "rows are never changed",
        "algorithm": "both give the same centers, and the bounds that save distances are "
        "chosen by the data",
    }
    _start = staticmethod(lloyd.start)
    _collect = staticmethod(lloyd.collect)
    _update = staticmethod(lloyd.update)
    _settled = staticmethod(lloyd.settled)

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "k-means++",
        n_init: int | str = "auto",
        max_iter: int = 300,
        tol: float = 1e-4,
        verbose: int = 0,
        random_state: Any = None,
        copy_x: bool = True,
        algorithm: str = "lloyd",
        engine: str | Engine = "threads",
        callbacks: list[Callback] | None = None,
    ) -> None:
        super().__init__(
            n_clusters, init=init, n_init=n_init, max_iter=max_iter, tol=tol,
            random_state=random_state, engine=engine, callbacks=callbacks,
        )  # fmt: skip
        self.verbose, self.copy_x, self.algorithm = verbose, copy_x, algorithm
