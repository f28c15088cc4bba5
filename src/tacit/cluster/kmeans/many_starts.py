"""Fits from several starts, of which the best is kept: the ``fit`` of the models in passes.

A start is first centers (``seeding``) and the passes from there (``core.loop.iterate``). Which
``start``, ``collect`` and ``update`` these are, the model says.
"""

from collections.abc import Callable
from functools import partial
from hashlib import blake2b
from numbers import Integral, Real
from typing import Any, ClassVar, Self

from sklearn.callback import with_callbacks
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from tacit.cluster.kmeans import lloyd
from tacit.cluster.kmeans.base import BaseKMeans, fingerprint
from tacit.cluster.kmeans.seeding import first_centers
from tacit.core.checkpoint import begin, finish
from tacit.core.engines import Engine, get_engine
from tacit.core.loop import Fit, iterate
from tacit.data.summary import DataSummary, summarize
from tacit.data.table import Table, is_sparse

__all__ = ["ManyStarts"]


class ManyStarts(BaseKMeans):
    """A model around centers that is fitted ``n_init`` times and keeps the lowest loss."""

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
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the centers. X is an array, a CSR matrix, a Table or a Dask array."""
        self._validate_params()
        table = self._table(X, sample_weight, reset=True)
        self._check_enough(table)
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
                fit, memory = self._run(run, centers, table, summary, engine, callbacks)
                if best is None or fit.losses[-1] < best.losses[-1]:
                    best, cache = fit, memory
        assert best is not None  # there is at least one start
        self.losses_ = [float(loss) for loss in best.losses]
        self.n_iter_ = len(best.losses) - 1
        self.converged_ = best.converged
        labels = table.in_memory and X is not table
        self._keep(best.params, cache, table, summary, engine, labels=labels)
        finish(self.callbacks)
        return self

    def _starts(self) -> int:
        if not (isinstance(self.init, str) or callable(self.init)):
            return 1  # given centers give the same answer every time
        if self.n_init == "auto":
            return 10 if self.init == "random" else 1
        return self.n_init

    def _run(self, run, centers, table, summary, engine, callbacks) -> tuple[Fit, list | None]:
        params = self._start(centers, summary, sparse=is_sparse(table))
        # Without a seed every start is as good as another; with one only its own will do.
        seeded = centers.tobytes() if self.random_state is not None else b""
        origin = blake2b(seeded, digest_size=16).hexdigest()
        begin(callbacks, f"{self._facts(params)} {self._fingerprint} {origin}", run)
        cache = self._slots(table)
        fit = iterate(
            params,
            self._collect,
            self._update,
            table,
            engine,
            max_iter=self.max_iter,
            settled=partial(self._settled, tol=self.tol * summary.variance),
            callbacks=callbacks,
            cache=cache,
            name=type(self).__name__,
        )
        return fit, cache

    # What a model adds. Functions of the module's top level, so that they can travel.

    _start: Callable
    _collect: Callable
    _update: Callable
    _settled: Callable

    # What it may change.

    def _summarize(self, rows: Table, engine: Engine) -> DataSummary:
        return summarize(rows, engine, name=type(self).__name__)

    def _prepare(self, summary: DataSummary) -> None:
        """Settle what depends on the data, before the first start."""

    def _facts(self, params: Any) -> str:
        """By which a checkpoint knows its fit again."""
        return f"{type(self).__name__} {self.n_clusters} {self.tol}"

    def _slots(self, table: Table) -> list | None:
        """A cache slot for every block."""
        return lloyd.slots(table, self.n_clusters)
