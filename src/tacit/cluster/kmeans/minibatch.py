"""k-means that updates after every batch: approximate, in one or a few passes.

The same ``collect`` and ``update`` as k-means in the online loop. The memory of a batch fades
as in stepwise EM, so centers keep moving while the data does. Contract: online, which is to
say the order of the rows matters; it is drawn from the seed, so the answer is still the same
for any engine.

Sculley (2010), Web-scale k-means clustering. WWW.
Cappé and Moulines (2009), On-line EM algorithm for latent data models. JRSS B 71.
"""

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.callback import with_callbacks
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from tacit.cluster.kmeans import lloyd
from tacit.cluster.kmeans.base import BaseKMeans, fingerprint
from tacit.cluster.kmeans.seeding import first_centers
from tacit.core.engines import get_engine
from tacit.core.loop import OnlineFit, iterate_online
from tacit.core.progress import Callback, Step
from tacit.core.randoms import key, permutation
from tacit.data.summary import summarize
from tacit.data.table import Batch, Table, is_sparse

__all__ = ["MiniBatchKMeans"]


class Picked(NamedTuple):
    """Rows of arrays in memory, picked by index."""

    rows: Any
    weights: Any
    indices: np.ndarray

    def load(self):
        weights = None if self.weights is None else self.weights[self.indices]
        return Batch(self.rows[self.indices], None, weights)


class Patience:
    """Stops when the smoothed loss of a batch has not fallen for ``most`` batches."""

    def __init__(self, most: int, smoothing: float) -> None:
        self.most, self.smoothing = most, smoothing
        self.mean: float | None = None
        self.best, self.waited = np.inf, 0

    def on_step(self, step: Step) -> bool:
        loss, share = step.losses[-1], self.smoothing
        self.mean = loss if self.mean is None else (1 - share) * self.mean + share * loss
        self.waited = 0 if self.mean < self.best else self.waited + 1
        self.best = min(self.best, self.mean)
        return self.waited >= self.most


class MiniBatchKMeans(BaseKMeans):
    """Cluster rows around ``n_clusters`` centers, a batch at a time.

    For data that is too long for many passes, or that comes as it comes (``partial_fit``).
    The centers are not quite as good as those of ``KMeans``.

    Parameters
    ----------
    n_clusters : int
        How many centers.
    init : {"k-means++", "random"}, array of shape (n_clusters, n_features) or function
        Where the first centers come from, as for ``KMeans``.
    max_iter : int
        Most passes over the data.
    batch_size : int
        Rows to a batch. A Table is walked in its own blocks instead, in a random order.
    max_no_improvement : int or None
        Stop when the smoothed loss has not fallen for so many batches. None: never.
    decay : float
        How fast old batches are forgotten: batch t weighs (t + 2)^-decay. Above 0.5, up to 1.
    random_state : int, RandomState or None
        Seed of the first centers and of the order of the rows.
    engine : {"serial", "threads", "dask"} or Engine
        Where rows are checked and labeled. The fit itself runs in one thread.
    callbacks : list or None
        Told about every batch.

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
    _saved_private: ClassVar[tuple] = (
        "_fingerprint",
        "_faded_counts",
        "_faded_sums",
        "_faded_loss",
    )
    _parameter_constraints: ClassVar[dict] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "init": [StrOptions({"k-means++", "random"}), callable, "array-like"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "max_no_improvement": [Interval(Integral, 1, None, closed="left"), None],
        "decay": [Interval(Real, 0.5, 1, closed="right")],
        "random_state": ["random_state"],
        "engine": "no_validation",
        "callbacks": "no_validation",
    }

    def __init__(
        self,
        n_clusters=8,
        *,
        init="k-means++",
        max_iter=100,
        batch_size=1024,
        max_no_improvement=10,
        decay=0.7,
        random_state=None,
        engine="threads",
        callbacks=None,
    ):
        self.n_clusters = n_clusters
        self.init = init
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.max_no_improvement = max_no_improvement
        self.decay = decay
        self.random_state = random_state
        self.engine = engine
        self.callbacks = callbacks

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> "MiniBatchKMeans":
        """Find the centers in passes over shuffled batches."""
        self._validate_params()
        table = self._table(X, sample_weight, reset=True)
        self._check_enough(table)
        engine = get_engine(self.engine)
        summary = summarize(table, engine, name="MiniBatchKMeans")
        rng = check_random_state(self.random_state)
        centers = first_centers(self.init, table, self.n_clusters, rng, name="MiniBatchKMeans")
        seed = int(rng.randint(2**31))
        params = lloyd.start(centers, summary, sparse=is_sparse(table))
        batches = max(1, len(table) // self.batch_size)
        with self._fit_callbacks() as callbacks:
            fit = iterate_online(
                params,
                lloyd.collect,
                lloyd.update,
                lambda number: shuffled(table, self.batch_size, seed, number),
                passes=self.max_iter,
                decay=self.decay,
                callbacks=[*callbacks, *self._patience(batches)],
                name="MiniBatchKMeans",
            )
        self._fingerprint = fingerprint(table, summary)
        self._remember(fit)
        self.n_iter_ = -(-fit.steps // batches)
        labels = table.in_memory and X is not table
        self._keep(fit.params, None, table, summary, engine, labels=labels)
        return self

    @with_callbacks
    def partial_fit(
        self, X: Any, y: Any = None, sample_weight: Any = None
    ) -> "MiniBatchKMeans":
        """Move the centers by one batch; the first call also chooses them."""
        self._validate_params()
        first = not hasattr(self, "cluster_centers_")
        table = self._table(X, sample_weight, reset=first)
        engine = get_engine(self.engine)
        summary = summarize(table, engine, name="MiniBatchKMeans")
        if first:
            self._check_enough(table)
            rng = check_random_state(self.random_state)
            name = "MiniBatchKMeans"
            centers = first_centers(self.init, table, self.n_clusters, rng, name=name)
            memory, steps = None, 0
            self.n_iter_ = 1
        else:
            centers, memory, steps = self.cluster_centers_, self._memory(), self.n_steps_
        params = lloyd.start(centers, summary, sparse=is_sparse(table))
        fit = iterate_online(
            params,
            lloyd.collect,
            lloyd.update,
            table,
            decay=self.decay,
            memory=memory,
            steps=steps,
        )
        self._fingerprint = fingerprint(table, summary)
        self._remember(fit)
        labels = table.in_memory and X is not table
        self._keep(fit.params, None, table, summary, engine, labels=labels)
        return self

    def _patience(self, batches: int) -> list[Callback]:
        if self.max_no_improvement is None:
            return []
        return [Patience(self.max_no_improvement, smoothing=2 / (batches + 1))]

    def _remember(self, fit: OnlineFit) -> None:
        self.losses_ = [float(loss) for loss in fit.losses]
        self.n_steps_ = fit.steps
        self._faded_counts, self._faded_sums = fit.memory.counts, fit.memory.sums
        self._faded_loss = float(fit.memory.loss)

    def _memory(self) -> lloyd.KMeansStats:
        none = lloyd.nobody(self.n_features_in_)
        return lloyd.KMeansStats(
            1.0, self._faded_loss, self._faded_counts, self._faded_sums, none
        )


def shuffled(table: Table, batch_size: int, seed: int, number: int) -> Iterator:
    """The batches of one pass in an order drawn from (seed, pass)."""
    drawn = key(seed, number)
    if not table.in_memory:
        for i in permutation(drawn, len(table.blocks)):
            yield table.blocks[i]
        return
    rows, weights = whole(table)
    order = permutation(drawn, len(table))
    for first in range(0, len(order), batch_size):
        yield Picked(rows, weights, order[first : first + batch_size])


def whole(table: Table) -> tuple[Any, np.ndarray | None]:
    """The arrays that the blocks of a table in memory were cut from."""
    block = table.blocks[0]
    weights = getattr(block, "weights", None)
    rows = getattr(block, "rows", block)
    source = rows.matrix if hasattr(rows, "matrix") else rows.array
    return source, None if weights is None else weights.array
