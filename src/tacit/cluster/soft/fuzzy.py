"""Fuzzy c-means: every row belongs to every cluster, to a degree.

    collect   memberships u from distances; sums of u^m and of u^m times the row
    update    move each center to the mean under u^m

The memberships of a row add up to one. Those that minimize the objective for given centers
are u_j proportional to (1 / d_j^2)^(1 / (m - 1)); a row that lies on a center belongs to it
alone, on several equally. The loss, sum of u^m d^2, never rises. As m falls to 1 memberships
become 0 or 1 and the method becomes k-means; as m grows they even out.

Bezdek (1981), Pattern Recognition with Fuzzy Objective Function Algorithms. Plenum.
Dunn (1973), A fuzzy relative of the ISODATA process. Journal of Cybernetics 3.
The notes' section on soft clustering.
"""

from functools import partial
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.utils._param_validation import Interval

from tacit.cluster.soft.membership import (
    MembershipStats,
    SoftClusters,
    gather,
    mean_centers,
    squares_to_centers,
)
from tacit.data.summary import DataSummary
from tacit.data.table import parts

__all__ = ["FuzzyCMeans", "FuzzyParams", "collect", "memberships", "start", "update"]


class FuzzyParams(NamedTuple):
    """Centers, and how fuzzy they are."""

    centers: np.ndarray  # (k, d) float64
    origin: np.ndarray  # (d,) about which sums are taken
    m: float  # above 1


# --- The algorithm: three pure functions ---


def start(centers: np.ndarray, summary: DataSummary, *, m: float = 2.0) -> FuzzyParams:
    """Params for given first centers."""
    return FuzzyParams(np.array(centers, np.float64, order="C"), summary.origin, float(m))


def collect(params: FuzzyParams, block: Any) -> MembershipStats:
    """Memberships of every row; sums under their m-th power."""
    return gather(params.centers, params.origin, block, partial(powers, m=params.m))


def update(params: FuzzyParams, stats: MembershipStats) -> FuzzyParams:
    """Centers become weighted means."""
    return params._replace(centers=mean_centers(params.centers, params.origin, stats))


# --- Their parts ---


def memberships(params: FuzzyParams, block: Any) -> np.ndarray:
    """(n, k) memberships of a block, in the dtype of its rows."""
    rows = parts(block).rows
    squares = squares_to_centers(params.centers, params.origin, rows)
    return degrees(squares, params.m).astype(rows.dtype)


def degrees(squares: np.ndarray, m: float) -> np.ndarray:
    """Memberships from squared distances.

    Relative to the nearest center, so that no power overflows; 0 / 0 is a center on the row.

    >>> degrees(np.array([[1.0, 4.0], [0.0, 9.0], [0.0, 0.0]]), m=2.0)
    array([[0.8, 0.2], [1. , 0. ], [0.5, 0.5]])
    """
    nearest = squares.min(axis=1, keepdims=True)
    if nearest.all():
        closeness = nearest / squares
    else:
        closeness = np.divide(nearest, squares, out=np.ones_like(squares), where=squares > 0)
    if m != 2:
        closeness **= 1 / (m - 1)
    closeness /= closeness.sum(axis=1, keepdims=True)
    return closeness


def powers(squares: np.ndarray, m: float) -> tuple[np.ndarray, np.ndarray]:
    """u^m, and the loss of every row."""
    shares = degrees(squares, m)
    shares **= m
    return shares, np.einsum("nk,nk->n", shares, squares)


# --- The estimator ---


class FuzzyCMeans(SoftClusters):
    """Cluster rows around ``n_clusters`` centers, each row belonging to all to some degree.

    Parameters
    ----------
    n_clusters : int
        How many centers.
    m : float
        How fuzzy: above 1. Close to 1 it is k-means, 2 is usual; the more columns, the
        smaller m must be for the centers not to fall together.
    init : {"k-means++", "random"}, array of shape (n_clusters, n_features) or function
        Where the first centers come from, as for ``KMeans``.
    n_init : int
        How many starts to try; the one with the lowest objective is kept.
    max_iter : int
        Most updates to make in one run.
    tol : float
        Stop when the centers move, in squares, by less than this share of the data's variance.
    random_state : int, RandomState or None
        Seed of the first centers, the only random step.
    engine : {"serial", "threads", "dask"} or Engine
        Where the passes run.
    callbacks : list or None
        Told about every pass; see ``tacit.core.progress``.

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
    _collect = staticmethod(collect)
    _update = staticmethod(update)
    _memberships = staticmethod(memberships)
    _way_out = "Lower n_clusters, or m."

    def __init__(
        self,
        n_clusters=8,
        *,
        m=2.0,
        init="k-means++",
        n_init=1,
        max_iter=300,
        tol=1e-4,
        random_state=None,
        engine="threads",
        callbacks=None,
    ):
        self.n_clusters = n_clusters
        self.m = m
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.engine = engine
        self.callbacks = callbacks

    def _start(
        self, centers: np.ndarray, summary: DataSummary, *, sparse: bool = False
    ) -> FuzzyParams:
        return start(centers, summary, m=self.m)
