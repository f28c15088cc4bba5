"""Soft clusters: every row belongs to every center, to a degree.

    collect   memberships u from squared distances; sums of the weights that follow from them,
              and of the rows under these weights
    update    move each center to the weighted mean

The memberships of a row add up to one. Two rules give them:

    fuzzy c-means   u_j proportional to (1 / d_j^2)^(1 / (m - 1)), weights u^m. They minimize
                    the loss, the sum of u^m d^2, for these centers. A row that lies on a center
                    belongs to it alone, on several equally. As m falls to 1 the method becomes
                    k-means; as m grows memberships even out.
    soft k-means    u_j proportional to exp(-stiffness d_j^2 / 2), so that 1 / sqrt(stiffness)
                    is a length: the width of a cluster. The weights are the memberships. The
                    loss is the free energy of a row, which is up to a factor the likelihood of
                    a mixture of k equal round normals, of which this is EM:

                        - 2 / stiffness * log( mean over j of exp(-stiffness d_j^2 / 2) )

                    As the stiffness grows it becomes k-means. Below 1 / (variance along the
                    first principal axis) all centers converge to the mean.

The loss never rises. Sums are taken about the mean of the data, so that a large offset does not
cost digits. A center without any weight stays where it was.

Bezdek (1981), Pattern Recognition with Fuzzy Objective Function Algorithms. Plenum.
Dunn (1973), A fuzzy relative of the ISODATA process. Journal of Cybernetics 3.
MacKay (2003), Information Theory, Inference, and Learning Algorithms, ch. 20 and 22. Cambridge.
The notes' sections on soft clustering, on soft k-means and on mixtures.
"""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions

from tacit.cluster import lloyd
from tacit.cluster.kmeans import RestartedEstimator
from tacit.core.engines import Engine, check_stop
from tacit.core.progress import Callback
from tacit.core.stats import Stats, tree_sum
from tacit.core.warn import warn_caller
from tacit.data.checked import check_answer, check_results
from tacit.data.summary import DataSummary
from tacit.data.table import Table, is_sparse, parts
from tacit.kernels.distances import recompute_small

__all__ = ["FuzzyCMeans", "SoftKMeans", "collect", "memberships", "start", "update"]

CHUNK = 1024  # rows whose distances to all centers are in memory at once


class FuzzyParams(NamedTuple):
    """Centers, and how fuzzy they are."""

    centers: np.ndarray  # (k, d) float64
    origin: np.ndarray  # (d,) about which sums are taken
    m: float  # above 1

    def weights_and_losses(self, squares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(n, k) weights in the means, and the loss of every row, from squared distances."""
        powered = self.memberships(squares)
        powered **= self.m
        return powered, np.einsum("nk,nk->n", powered, squares)

    def memberships(self, squares: np.ndarray) -> np.ndarray:
        """(n, k) memberships from squared distances.

        Relative to the nearest center, so that no power overflows; 0 / 0 is a center on the
        row.

        >>> params = FuzzyParams(np.zeros((2, 1)), np.zeros(1), m=2.0)
        >>> params.memberships(np.array([[1.0, 4.0], [0.0, 9.0], [0.0, 0.0]]))
        array([[0.8, 0.2], [1. , 0. ], [0.5, 0.5]])
        """
        nearest = squares.min(axis=1, keepdims=True)
        if nearest.all():
            closeness = nearest / squares
        else:
            away = squares > 0
            closeness = np.divide(nearest, squares, out=np.ones_like(squares), where=away)
        if self.m != 2:
            closeness **= 1 / (self.m - 1)
        closeness /= closeness.sum(axis=1, keepdims=True)
        return closeness


class SoftParams(NamedTuple):
    """Centers, and the stiffness."""

    centers: np.ndarray  # (k, d) float64
    origin: np.ndarray  # (d,) about which sums are taken
    stiffness: float  # above 0

    def weights_and_losses(self, squares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Responsibilities and the free energy of every row, from squared distances.

        >>> params = SoftParams(np.zeros((2, 1)), np.zeros(1), stiffness=2.0)
        >>> r, energy = params.weights_and_losses(np.array([[1.0, 1.0], [0.0, 1e9]]))
        >>> r
        array([[0.5, 0.5], [1. , 0. ]])
        >>> energy.round(3)
        array([1.   , 0.693])
        """
        nearest = squares.min(axis=1, keepdims=True)
        r = np.exp((nearest - squares) * (self.stiffness / 2))
        total = r.sum(axis=1, keepdims=True)
        r /= total
        energy = nearest - np.log(total / squares.shape[1]) * (2 / self.stiffness)
        return r, energy.ravel()

    def memberships(self, squares: np.ndarray) -> np.ndarray:
        """(n, k) responsibilities from squared distances."""
        return self.weights_and_losses(squares)[0]


@dataclass(frozen=True)
class MembershipStats(Stats):
    """What a pass collects: weighted sums per center."""

    rows: float  # or their weight
    loss: float
    counts: np.ndarray  # (k,) weight per center
    sums: np.ndarray  # (k, d) weighted sum of rows less the origin


# --- The algorithm: three pure functions ---


def start(
    centers: np.ndarray, summary: DataSummary, *, m: float = 2.0, stiffness: float | None = None
) -> Any:
    """Params before the first pass: fuzzy with ``m``, soft with ``stiffness``."""
    centers = np.array(centers, np.float64, order="C")
    if stiffness is None:
        return FuzzyParams(centers, summary.origin, m)
    return SoftParams(centers, summary.origin, stiffness)


def collect(params: Any, block: Any) -> MembershipStats:
    """Memberships of every row; sums under their weights. A chunk of rows at a time."""
    rows, _, weights = parts(block)
    centers, origin = params.centers, params.origin
    k, d = centers.shape
    counts, sums, loss = np.zeros(k), np.zeros((k, d)), 0.0
    for first in range(0, rows.shape[0], CHUNK):
        check_stop()
        chunk = rows[first : first + CHUNK]
        weighted, losses = params.weights_and_losses(squares_to_centers(centers, origin, chunk))
        if weights is not None:
            w = weights[first : first + CHUNK]
            weighted, losses = weighted * w[:, None], losses * w
        counts += weighted.sum(axis=0)
        if sp.issparse(chunk):  # whose origin is zero
            sums += np.asarray(chunk.T @ weighted).T
        else:
            sums += weighted.T @ (chunk - origin)
        loss += float(losses.sum())
    weight = float(rows.shape[0] if weights is None else weights.sum())
    return MembershipStats(weight, loss, counts, sums)


def update(params: Any, stats: MembershipStats) -> Any:
    """Centers become weighted means; a center without weight stays."""
    centers, used = params.centers.copy(), stats.counts > 0
    centers[used] = params.origin + stats.sums[used] / stats.counts[used, None]
    return params._replace(centers=centers)


# --- Their parts ---


def memberships(params: Any, block: Any) -> np.ndarray:
    """(n, k) memberships of a block, in the dtype of its rows."""
    rows = parts(block).rows
    squares = squares_to_centers(params.centers, params.origin, rows)
    return params.memberships(squares).astype(rows.dtype)


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
    """Whether the centers moved by at most ``tol``, in squares."""
    return float(((new.centers - old.centers) ** 2).sum()) <= tol


# --- The estimators ---


class SoftClusters(RestartedEstimator):
    """FuzzyCMeans and SoftKMeans but for their parameter."""

    _parameter_constraints: ClassVar[dict] = {
        **RestartedEstimator._parameter_constraints,
        "n_init": [Interval(Integral, 1, None, closed="left")],
    }
    _collect = staticmethod(collect)
    _update = staticmethod(update)
    _settled = staticmethod(settled)
    _way_out: str  # of a fit whose centers are all in one place

    def membership(self, X: Any) -> np.ndarray:
        """How much every row belongs to every cluster: (n_rows, n_clusters), rows sum to 1."""
        answer = np.concatenate(list(self._map(X, memberships, start=self._start)))
        return check_answer(self, "membership", answer)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Minus the objective at ``cluster_centers_``."""
        blocks = self._map(X, collect, sample_weight, self._start)
        loss = float(tree_sum(stats.loss for stats in blocks))
        check_answer(self, "score", np.asarray(loss))
        return -loss

    def _facts(self, params: Any) -> str:
        return f"{super()._facts(params)} {params[2:]}"

    def _caches(self, table: Table) -> None:
        """Nothing of a block is cached."""

    def _set_results(self, params, cache, table, summary, engine, *, labels: bool) -> None:
        """Set the centers, in the dtype of the data, and the objective and labels there."""
        centers = params.centers.astype(np.float32 if table.dtype == np.float32 else np.float64)
        params = params._replace(centers=centers.astype(np.float64))
        self.cluster_centers_ = centers
        self.objective_ = float(engine.reduce(collect, params, table).loss)
        if labels:
            nearest = lloyd.start(centers, summary, sparse=is_sparse(table))
            self.labels_ = np.concatenate(list(engine.map(lloyd.assign, nearest, table)))
        check_results(self)
        self._warn_about_equal(max(self.tol, 1e-12) * summary.variance)

    def _warn_about_equal(self, limit: float) -> None:
        """Warn where all centers are equal, up to the tolerance of the fit."""
        centers = self.cluster_centers_.astype(np.float64)
        if len(centers) > 1 and ((centers - centers[0]) ** 2).sum(axis=1).max() <= limit:
            warn_caller(
                f"{type(self).__name__}(n_clusters={self.n_clusters}) ended with all centers "
                f"in one place: the data shows only one cluster. {self._way_out}",
                ConvergenceWarning,
            )


class FuzzyCMeans(SoftClusters):
    """Cluster rows around ``n_clusters`` centers, each row belonging to all to some degree.

    Parameters
    ----------
    n_clusters : int, number of centers
    m : float
        How fuzzy: above 1. Close to 1 it is k-means, 2 is usual; the more columns, the
        smaller m must be for the centers not to fall together.
    n_init : int, number of starts; the one with the lowest objective wins
    init, max_iter, tol, random_state, engine, callbacks
        As for ``KMeans``.

    Attributes
    ----------
    cluster_centers_ : array of shape (n_clusters, n_features)
    labels_ : int32 array of shape (n_rows,), the cluster each row belongs to most; absent when
        fitted on a Table or a Dask array
    objective_ : float, the weighted sum of u^m d^2 at ``cluster_centers_``
    losses_ : list of float, the mean of that after 0, 1, 2, ... updates
    n_iter_ : int, updates made
    converged_ : bool, False where ``max_iter`` or a callback ended the fit

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [5.5], [10.0], [11.0]])
    >>> model = FuzzyCMeans(2, init=[[0.0], [11.0]]).fit(X)
    >>> model.membership(X[1:4]).round(2)
    array([[1. , 0. ],
           [0.5, 0.5],
           [0. , 1. ]])
    """

    _parameter_constraints: ClassVar[dict] = {
        **SoftClusters._parameter_constraints,
        "m": [Interval(Real, 1, None, closed="neither")],
    }
    _way_out = "Lower n_clusters, or m."

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        m: float = 2.0,
        init: Any = "k-means++",
        n_init: int = 1,
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Any = None,
        engine: str | Engine = "threads",
        callbacks: list[Callback] | None = None,
    ) -> None:
        super().__init__(
            n_clusters, init=init, n_init=n_init, max_iter=max_iter, tol=tol,
            random_state=random_state, engine=engine, callbacks=callbacks,
        )  # fmt: skip
        self.m = m

    def _start(self, centers: np.ndarray, summary: DataSummary, *, sparse: bool = False) -> Any:
        return start(centers, summary, m=self.m)


class SoftKMeans(SoftClusters):
    """Cluster rows around ``n_clusters`` centers, each row with a responsibility for each.

    Parameters
    ----------
    n_clusters : int, number of centers
    stiffness : float or "auto"
        How fast a center's pull falls off: one over the square of a cluster's width. "auto" is
        2 n_clusters^(2 / n_features) over the mean variance of the columns.
    n_init : int, number of starts; the one with the lowest objective wins
    init, max_iter, tol, random_state, engine, callbacks
        As for ``KMeans``.

    Attributes
    ----------
    stiffness_ : float, the stiffness used
    objective_ : float, the weighted sum of the free energy at ``cluster_centers_``
    cluster_centers_, labels_, losses_, n_iter_, converged_
        As for ``FuzzyCMeans``.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [5.5], [10.0], [11.0]])
    >>> model = SoftKMeans(2, stiffness=1.0, init=[[0.0], [11.0]]).fit(X)
    >>> model.membership(X[1:4]).round(2)
    array([[1. , 0. ],
           [0.5, 0.5],
           [0. , 1. ]])
    """

    _parameter_constraints: ClassVar[dict] = {
        **SoftClusters._parameter_constraints,
        "stiffness": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
    }
    _file_types: ClassVar[dict] = {"stiffness_": float}
    _way_out = "Lower n_clusters, or raise stiffness."

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        stiffness: float | str = "auto",
        init: Any = "k-means++",
        n_init: int = 1,
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Any = None,
        engine: str | Engine = "threads",
        callbacks: list[Callback] | None = None,
    ) -> None:
        super().__init__(
            n_clusters, init=init, n_init=n_init, max_iter=max_iter, tol=tol,
            random_state=random_state, engine=engine, callbacks=callbacks,
        )  # fmt: skip
        self.stiffness = stiffness

    def _after_load(self) -> None:
        if not self.stiffness_ > 0:
            raise ValueError("stiffness_ is not above 0.")

    def _prepare(self, summary: DataSummary) -> None:
        chosen = self.stiffness
        if isinstance(chosen, str):  # "auto"
            widths = self.n_clusters ** (2 / len(summary.origin))
            chosen = 2 * widths / summary.variance if summary.variance > 0 else 1.0
        self.stiffness_ = float(chosen)

    def _start(self, centers: np.ndarray, summary: DataSummary, *, sparse: bool = False) -> Any:
        return start(centers, summary, stiffness=self.stiffness_)
