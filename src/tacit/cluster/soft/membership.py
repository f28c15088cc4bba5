"""Centers that every row belongs to in part: what fuzzy c-means and soft k-means share.

    collect   weigh each row's ties to all centers by their distances; sum weights and rows
    update    move each center to the weighted mean of the rows

The two differ in how a distance becomes a weight: ``fuzzy`` and ``soft_kmeans`` say it. Sums
are taken about the mean of the data, so that a large offset does not cost digits. A center
that no row gives any weight stays where it was.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from tacit.cluster.kmeans import lloyd
from tacit.cluster.kmeans.many_starts import ManyStarts
from tacit.core.engines import check_stop, get_engine
from tacit.core.stats import Stats, tree_sum
from tacit.data.summary import summarize
from tacit.data.table import Table, is_sparse, parts
from tacit.kernels.distances import recompute_small

__all__ = ["MembershipStats", "SoftClusters", "gather", "mean_centers", "squares_to_centers"]

CHUNK = 1024  # rows whose distances to all centers are in memory at once

# (n, k) squared distances -> (n, k) weights in the means, and the loss of every row
Weigh = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class MembershipStats(Stats):
    """What a pass collects: weighted sums per center."""

    rows: float  # or their weight
    loss: float
    counts: np.ndarray  # (k,) weight per center
    sums: np.ndarray  # (k, d) weighted sum of rows less the origin


# --- What the algorithms share ---


def gather(centers: np.ndarray, origin: np.ndarray, block: Any, weigh: Weigh):
    """The statistics of a block, a chunk of rows at a time."""
    rows, _, weights = parts(block)
    k, d = centers.shape
    counts, sums, loss = np.zeros(k), np.zeros((k, d)), 0.0
    for first in range(0, rows.shape[0], CHUNK):
        check_stop()
        chunk = rows[first : first + CHUNK]
        squares = squares_to_centers(centers, origin, chunk)
        shares, losses = weigh(squares)
        if weights is not None:
            own = weights[first : first + CHUNK]
            shares, losses = shares * own[:, None], losses * own
        counts += shares.sum(axis=0)
        if sp.issparse(chunk):  # whose origin is zero
            sums += np.asarray(chunk.T @ shares).T
        else:
            sums += shares.T @ (chunk - origin)
        loss += float(losses.sum())
    weight = float(rows.shape[0] if weights is None else weights.sum())
    return MembershipStats(weight, loss, counts, sums)


def mean_centers(centers: np.ndarray, origin: np.ndarray, stats: MembershipStats) -> np.ndarray:
    """The weighted means; a center without weight stays."""
    moved = centers.copy()
    held = stats.counts > 0
    moved[held] = origin + stats.sums[held] / stats.counts[held, None]
    return moved


def squares_to_centers(centers: np.ndarray, origin: np.ndarray, rows: Any) -> np.ndarray:
    """(n, k) squared distances in float64: one matrix product about the origin, and the
    small ones, where that would lose digits, one by one."""
    others = centers - origin
    other_sizes = np.einsum("kd,kd->k", others, others)
    if sp.issparse(rows):
        sizes = np.asarray(rows.multiply(rows).sum(axis=1), np.float64).ravel()
        squares = sizes[:, None] + other_sizes - 2 * np.asarray(rows @ centers.T)
        return np.maximum(squares, 0.0)
    shifted = rows - origin
    sizes = np.einsum("nd,nd->n", shifted, shifted)
    squares = shifted @ (-2 * others.T)
    squares += sizes[:, None]
    squares += other_sizes
    recompute_small(rows, centers, squares, sizes, other_sizes)
    return np.maximum(squares, 0.0, out=squares)


def settled(old: Any, new: Any, *, tol: float) -> bool:
    """The centers hardly moved."""
    return float(((new.centers - old.centers) ** 2).sum()) <= tol


# --- The estimator they share ---


class SoftClusters(ManyStarts):
    """What FuzzyCMeans and SoftKMeans share: all but how distances become weights."""

    _parameter_constraints: ClassVar[dict] = {
        **ManyStarts._parameter_constraints,
        "n_init": [Interval(Integral, 1, None, closed="left")],
    }
    _settled = staticmethod(settled)

    def membership(self, X: Any) -> np.ndarray:
        """How much every row belongs to every cluster: (n_rows, n_clusters), rows sum to 1."""
        return np.concatenate(list(self._apply(X, self._memberships)))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Minus the objective at ``cluster_centers_``."""
        found = self._apply(X, self._collect, sample_weight)
        return -float(tree_sum(stats.loss for stats in found))

    def _apply(self, X: Any, function: Callable, sample_weight: Any = None):
        check_is_fitted(self)
        table = self._table(X, sample_weight, reset=False)
        engine = get_engine(self.engine)
        summary = summarize(table, engine, name=type(self).__name__)
        params = self._start(self.cluster_centers_.astype(np.float64), summary)
        return engine.map(function, params, table)

    def _facts(self, params: Any) -> str:
        return f"{super()._facts(params)} {params[2:]}"

    def _slots(self, table: Table) -> None:
        """Nothing is remembered of a block."""

    def _keep(self, params, cache, table, summary, engine, *, labels: bool) -> None:
        """Keep the centers, in the dtype of the data, and how the rows look from there."""
        centers = params.centers.astype(np.float32 if table.dtype == np.float32 else np.float64)
        params = params._replace(centers=centers.astype(np.float64))
        self.cluster_centers_ = centers
        self.objective_ = float(engine.reduce(self._collect, params, table).loss)
        if labels:
            nearest = lloyd.start(centers, summary, sparse=is_sparse(table))
            self.labels_ = np.concatenate(list(engine.map(lloyd.assign, nearest, table)))
        self._warn_of_equal(max(self.tol, 1e-12) * summary.variance)

    def _warn_of_equal(self, bar: float) -> None:
        """Say so where all centers fell together, as far as the fit could tell them apart."""
        centers = self.cluster_centers_.astype(np.float64)
        if len(centers) > 1 and ((centers - centers[0]) ** 2).sum(axis=1).max() <= bar:
            warnings.warn(
                f"{type(self).__name__}(n_clusters={self.n_clusters}) ended with all centers "
                f"in one place: there is only one cluster to be seen. {self._way_out}",
                ConvergenceWarning,
                stacklevel=5,
            )

    # What a model adds to those of ``ManyStarts``.

    _memberships: Callable
    _way_out: str
