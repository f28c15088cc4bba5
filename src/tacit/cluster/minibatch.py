"""k-means that updates after every mini-batch: approximate, in one or a few passes.

The same ``collect`` and ``update`` as k-means in the online loop. The statistics of a batch
fade as in stepwise EM, so the centers follow data that changes. Contract: online, so the order
of the rows matters. It is drawn from the seed and the shape of the data alone: the result is
the same on any engine, from memory and from a file.

A pass reads the rows in groups and shuffles each group (``data.shuffled_rows``).

Sculley (2010), Web-scale k-means clustering. WWW.
Cappé and Moulines (2009), On-line EM algorithm for latent data models. JRSS B 71.
"""

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from tacit.cluster import lloyd
from tacit.cluster.kmeans import CenterEstimator, fingerprint
from tacit.cluster.seeding import first_centers
from tacit.core.engines import Engine, get_engine
from tacit.core.estimator import with_callbacks
from tacit.core.loop import OnlineFit, iterate_online
from tacit.core.progress import Callback, Step
from tacit.core.randoms import key, permutation
from tacit.data.checked import check_enough
from tacit.data.shuffled_rows import row_groups, weights_of
from tacit.data.summary import DataSummary, summarize
from tacit.data.table import Batch, Table, is_sparse

__all__ = ["MiniBatchKMeans"]


class Picked(NamedTuple):
    """Rows of arrays in memory, by index."""

    rows: Any
    weights: Any
    indices: np.ndarray

    def load(self):
        weights = None if self.weights is None else self.weights[self.indices]
        return Batch(self.rows[self.indices], None, weights)


class MiniBatchKMeans(CenterEstimator):
    """Cluster rows around ``n_clusters`` centers, a batch at a time.

    For data that is too long for many passes, or that arrives as a stream (``partial_fit``).
    The inertia is slightly higher than that of ``KMeans``. The same seed gives the same bits on
    any engine, from memory and from a file.

    Parameters
    ----------
    n_clusters : int, number of centers
    init : {"k-means++", "random"}, array of shape (n_clusters, n_features) or function
        The first centers, as for ``KMeans``.
    max_iter : int, most passes over the data
    batch_size : int, rows to a batch
    verbose : int, above 0, shows progress on standard error
    compute_labels : bool, whether the fit ends with ``labels_``
    tol : float
        Stop when the centers move in a batch, in squares, by less than this fraction of the
        data's variance. 0: never.
    init_size : int or None
        Rows on which several starts are compared, three batches by default.
    n_init : "auto" or int
        How many first centers to draw; those nearest to ``init_size`` rows win. "auto" is
        3 for random ones, else 1.
    reassignment_ratio : float, no effect: only empty clusters are moved
    max_no_improvement : int or None
        Stop when the smoothed loss has not fallen in this many batches. None: never.
    decay : float
        How fast old batches fade: batch t has weight (t + 2)^-decay. Above 0.5, up to 1.
    random_state : int, RandomState or None
        Seed of the first centers and of the order of the rows.
    engine : {"serial", "threads", "dask"} or Engine
        Where rows are validated and labeled. The fit itself runs in one thread.
    callbacks : list or None
        Notified of every batch.

    Attributes
    ----------
    cluster_centers_ : array of shape (n_clusters, n_features)
    labels_ : int32 array of shape (n_rows,), absent when fitted on a Table or a Dask array
    inertia_ : float, the weighted sum of squared distances at ``cluster_centers_``
    losses_ : list of float, the mean loss of every batch before the update it caused
    n_iter_ : int, passes begun
    n_steps_ : int, batches seen

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [10.0], [11.0]])
    >>> model = MiniBatchKMeans(n_clusters=2, random_state=0).fit(X)
    >>> np.sort(model.cluster_centers_, axis=0)
    array([[ 0.5],
           [10.5]])
    """

    contract: ClassVar[str] = "online"
    _saved_private = ("_fingerprint", "_faded_counts", "_faded_sums", "_faded_loss")
    _file_schema: ClassVar[dict] = {
        **CenterEstimator._file_schema,
        "_faded_counts": (None, "n_clusters"),
        "_faded_sums": (None, "n_clusters", "n_features_in_"),
    }
    _file_types: ClassVar[dict] = {"_faded_loss": float, "n_steps_": int, "_fingerprint": str}
    _file_optional: ClassVar[tuple[str, ...]] = ("labels_", "_fingerprint")
    _parameter_constraints: ClassVar[dict] = {
        **CenterEstimator._parameter_constraints,
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "verbose": ["verbose"],
        "compute_labels": ["boolean"],
        "init_size": [Interval(Integral, 1, None, closed="left"), None],
        "reassignment_ratio": [Interval(Real, 0, None, closed="left")],
        "max_no_improvement": [Interval(Integral, 1, None, closed="left"), None],
        "decay": [Interval(Real, 0.5, 1, closed="right")],
    }
    _no_effect: ClassVar[dict] = {"reassignment_ratio": "only empty clusters are moved"}

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "k-means++",
        max_iter: int = 100,
        batch_size: int = 1024,
        verbose: int = 0,
        compute_labels: bool = True,
        tol: float = 0.0,
        max_no_improvement: int | None = 10,
        init_size: int | None = None,
        n_init: int | str = "auto",
        reassignment_ratio: float = 0.01,
        decay: float = 0.7,
        random_state: Any = None,
        engine: str | Engine = "threads",
        callbacks: list[Callback] | None = None,
    ) -> None:
        self.n_clusters, self.init, self.max_iter = n_clusters, init, max_iter
        self.batch_size = batch_size
        self.verbose, self.compute_labels, self.tol = verbose, compute_labels, tol
        self.init_size, self.n_init = init_size, n_init
        self.reassignment_ratio = reassignment_ratio
        self.max_no_improvement, self.decay = max_no_improvement, decay
        self.random_state, self.engine, self.callbacks = random_state, engine, callbacks

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the centers in passes over shuffled batches."""
        self._validate_params()
        table = self._table(X, sample_weight, reset=True)
        check_enough(self, len(table))
        engine = get_engine(self.engine)
        summary = summarize(table, engine, name="MiniBatchKMeans")
        rng = check_random_state(self.random_state)
        centers = self._best_start(table, summary, rng)
        seed = int(rng.randint(2**31))
        params = lloyd.start(centers, summary, sparse=is_sparse(table))
        batches = max(1, len(table) // self.batch_size)
        with self._fit_callbacks() as callbacks:
            fit = iterate_online(
                params, lloyd.collect, lloyd.update,
                lambda number: shuffled_batches(table, self.batch_size, seed, number),
                passes=self.max_iter, decay=self.decay, name="MiniBatchKMeans",
                callbacks=[*callbacks, *self._stopping(batches, centers, summary)],
            )  # fmt: skip
        per_pass = sum(
            -(-len(places) // self.batch_size) for places in row_groups(table, np.uint64(0))
        )
        self.n_iter_ = -(-fit.steps // per_pass)
        return self._store(fit, X, table, summary, engine)

    @with_callbacks
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Move the centers by one batch; the first call also chooses them."""
        self._validate_params()
        first = not hasattr(self, "cluster_centers_")
        table = self._table(X, sample_weight, reset=first)
        engine = get_engine(self.engine)
        summary = summarize(table, engine, name="MiniBatchKMeans")
        if first:
            check_enough(self, len(table))
            rng = check_random_state(self.random_state)
            centers = self._first_centers(table, rng)
            memory, steps, self.n_iter_ = None, 0, 1
        else:
            centers, memory, steps = self.cluster_centers_, self._faded_stats(), self.n_steps_
        params = lloyd.start(centers, summary, sparse=is_sparse(table))
        fit = iterate_online(
            params, lloyd.collect, lloyd.update, table, decay=self.decay, memory=memory,
            steps=steps,
        )  # fmt: skip
        return self._store(fit, X, table, summary, engine)

    def _stopping(
        self, batches: int, centers: np.ndarray, summary: DataSummary
    ) -> list[Callback]:
        """Rules on figures smoothed over the batches of a pass."""
        rate, patience = 2 / (batches + 1), self.max_no_improvement
        mean_loss = best = mean_move = None
        waited, last = 0, centers

        def no_improvement(step: Step) -> bool:
            nonlocal mean_loss, best, waited
            loss = step.losses[-1]
            mean_loss = loss if mean_loss is None else (1 - rate) * mean_loss + rate * loss
            waited = 0 if best is None or mean_loss < best else waited + 1
            best = mean_loss if best is None else min(best, mean_loss)
            return patience is not None and waited >= patience

        def settled(step: Step) -> bool:
            nonlocal mean_move, last
            moved, last = float(((step.params.centers - last) ** 2).sum()), step.params.centers
            mean_move = moved if mean_move is None else (1 - rate) * mean_move + rate * moved
            return mean_move <= self.tol * summary.variance

        rules: list[Callback] = [] if patience is None else [no_improvement]
        return [*rules, settled] if self.tol else rules

    def _best_start(
        self, table: Table, summary: DataSummary, rng: np.random.RandomState
    ) -> np.ndarray:
        """Of ``n_init`` first centers those with the lowest loss on a sample."""
        named = isinstance(self.init, str)
        auto = 1 if named and self.init == "k-means++" else 3
        many = auto if isinstance(self.n_init, str) else self.n_init
        if many == 1 or not (named or callable(self.init)):  # an array is the same again
            return self._first_centers(table, rng)
        size = min(len(table), max(self.init_size or 3 * self.batch_size, self.n_clusters))
        sample = Batch(table.sample(size, rng), None, None)
        starts = [self._first_centers(table, rng) for _ in range(many)]
        params = [lloyd.start(centers, summary, sparse=is_sparse(table)) for centers in starts]
        losses = [lloyd.label_and_loss(p, sample)[1] for p in params]
        return starts[int(np.argmin(losses))]

    def _first_centers(self, table: Table, rng: np.random.RandomState) -> np.ndarray:
        name = type(self).__name__
        return first_centers(self.init, table, self.n_clusters, rng, name=name)

    def _store(
        self, fit: OnlineFit, X: Any, table: Table, summary: DataSummary, engine: Engine
    ) -> Self:
        self._fingerprint = fingerprint(table, summary)
        self.losses_ = [float(loss) for loss in fit.losses]
        self.n_steps_ = fit.steps
        self._faded_counts, self._faded_sums = fit.memory.counts, fit.memory.sums
        self._faded_loss = float(fit.memory.loss)
        labels = self.compute_labels and table.in_memory and X is not table
        self._set_results(fit.params, None, table, summary, engine, labels=labels)
        return self

    def _faded_stats(self) -> lloyd.KMeansStats:
        none = lloyd.no_farthest(self.n_features_in_)
        return lloyd.KMeansStats(
            1.0, self._faded_loss, self._faded_counts, self._faded_sums, none
        )


# --- The order of the rows ---


def shuffled_batches(table: Table, batch_size: int, seed: int, number: int) -> Iterator[Picked]:
    """The batches of one pass, in an order drawn from (seed, pass)."""
    for g, places in enumerate(row_groups(table, key(seed, number))):
        all_rows = len(places) == len(table)
        drawn = key(seed, number) if all_rows else key(seed, number, g)
        order = permutation(drawn, len(places))
        if table.in_memory:
            rows, weights = table.load(), weights_of(table, np.arange(len(table)))
            order = places[order]
        else:
            rows, weights = table.take(places), weights_of(table, places)
        for first in range(0, len(order), batch_size):
            yield Picked(rows, weights, order[first : first + batch_size])
