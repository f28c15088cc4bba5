"""Geometric median: the point with the least sum of distances to all rows.

    collect   weigh each row by one over its distance from the point; add up
    update    move the point to the weighted mean

The loss is the distance from a row to the point. A pass never raises it. One outlier moves a
mean any distance, and the geometric median hardly at all.

Weiszfeld (1937), Sur le point pour lequel la somme des distances de n points donnés est
minimum. Tohoku Math. J. 43.
"""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.utils._param_validation import Interval

from tacit.core.engines import Engine
from tacit.core.estimator import Estimator, engine_for, with_callbacks
from tacit.core.kernel import kernel
from tacit.core.loop import iterate
from tacit.core.moments import Moments
from tacit.core.stats import Stats
from tacit.data.checked import check_table
from tacit.data.table import parts

__all__ = ["GeometricMedian", "MedianParams", "MedianStats", "collect", "update"]

# --- Params and stats, with shapes ---


class MedianParams(NamedTuple):
    """The point, and how close a row may come before it counts as being there."""

    center: np.ndarray  # (d,)
    nearest: float


@dataclass(frozen=True)
class MedianStats(Stats):
    """What a pass collects. The base class knows how two of them add up."""

    rows: int
    loss: float  # sum of distances
    pull: float  # sum of 1 / distance
    sums: np.ndarray  # (d,) sum of row / distance


# --- The algorithm: pure functions ---


def init(rows: np.ndarray) -> MedianParams:
    """Start from the mean."""
    moments = Moments.collect(rows, full=False)
    return MedianParams(moments.mean, 1e-9 * float(np.sqrt(moments.variance.sum())) + 1e-300)


def collect(params: MedianParams, block: Any) -> MedianStats:
    """Weigh each row by one over its distance; add up."""
    rows = parts(block).rows
    loss, pull, sums = weigh_rows(rows, params.center, params.nearest)
    return MedianStats(len(rows), loss, pull, sums)


def update(params: MedianParams, stats: MedianStats) -> MedianParams:
    """Move the point to the weighted mean."""
    return params._replace(center=stats.sums / stats.pull)


# --- The estimator: scikit-learn's conventions around them ---


class GeometricMedian(Estimator):
    """Find the point that is, on average, nearest to the rows.

    Parameters
    ----------
    max_iter : int
        Most updates to make.
    tol : float
        Stop when a pass brings less than this fraction of the improvement so far.
    engine : {"serial", "threads", "dask"} or Engine
        Where the passes run. The answer does not depend on it.
    callbacks : list or None
        Called after every pass.

    Attributes
    ----------
    center_ : array of shape (n_features,)
    losses_ : list of float, the mean distance after 0, 1, 2, ... updates
    n_iter_ : int, updates made

    Examples
    --------
    >>> X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1000.0, 1000.0]])
    >>> GeometricMedian(tol=0, max_iter=2000).fit(X).center_.round(2)
    array([0.79, 0.79])
    """

    _file_schema: ClassVar[dict] = {"center_": ("n_features_in_",)}
    _parameter_constraints: ClassVar[dict] = {
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "engine": "no_validation",
        "callbacks": "no_validation",
    }

    def __init__(
        self,
        *,
        max_iter: int = 200,
        tol: float = 1e-6,
        engine: str | Engine = "threads",
        callbacks: list | None = None,
    ) -> None:
        self.max_iter = max_iter
        self.tol = tol
        self.engine = engine
        self.callbacks = callbacks

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> "GeometricMedian":
        """Find the point. X is an array or a Table."""
        self._validate_params()
        table = check_table(self, X, reset=True, sparse=False, finite=True)
        start = init(table.sample(20_000, np.random.RandomState(0)))
        with self._fit_callbacks() as callbacks:
            fit = iterate(
                start,
                collect,
                update,
                table,
                engine_for(self),
                max_iter=self.max_iter,
                tol=self.tol,
                callbacks=callbacks,
                name="GeometricMedian",
            )
        self.center_ = fit.params.center
        self.losses_ = fit.losses
        self.n_iter_ = len(fit.losses) - 1
        return self


# --- Kernels ---


@kernel
def weigh_rows(rows, center, nearest):
    """Sums of distances, of their reciprocals, and of rows weighted by those."""
    n, d = rows.shape
    sums = np.zeros(d)
    loss = pull = 0.0
    for i in range(n):
        row = rows[i]
        square = 0.0
        for j in range(d):
            square += (row[j] - center[j]) ** 2
        distance = np.sqrt(square)
        weight = 1.0 / max(distance, nearest)
        loss += distance
        pull += weight
        for j in range(d):
            sums[j] += weight * row[j]
    return loss, pull, sums
