"""Soft k-means: every row belongs to every center with some responsibility.

    collect   responsibilities r; sums of r and of r times the row
    update    move each center to the mean under r

A row's responsibilities are r_j proportional to exp(-stiffness d_j^2 / 2), so that
1 / sqrt(stiffness) is a length: the width of a cluster. The loss is the free energy

    - 2 / stiffness * log( mean over j of exp(-stiffness d_j^2 / 2) )

per row, which never rises; up to a factor it is the likelihood of a mixture of k equal round
normals, of which this is EM. As the stiffness grows it becomes k-means and the loss the
squared distance. Below 1 / (variance along the first principal axis) all centers converge to
the mean.

MacKay (2003), Information Theory, Inference, and Learning Algorithms, ch. 20 and 22. Cambridge.
The notes' sections on soft k-means and on mixtures.
"""

from functools import partial
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from tacit.cluster.fuzzy import (
    MembershipStats,
    SoftClusters,
    collect_memberships,
    squares_to_centers,
    update,
)
from tacit.core.engines import Engine
from tacit.core.progress import Callback
from tacit.data.summary import DataSummary
from tacit.data.table import parts

__all__ = ["SoftKMeans", "SoftParams", "collect", "memberships", "start", "update"]


class SoftParams(NamedTuple):
    """Centers, and the stiffness."""

    centers: np.ndarray  # (k, d) float64
    origin: np.ndarray  # (d,) about which sums are taken
    stiffness: float  # above 0


# --- The algorithm: pure functions; ``update`` is that of ``fuzzy`` ---


def start(centers: np.ndarray, summary: DataSummary, *, stiffness: float) -> SoftParams:
    """Params for given first centers."""
    return SoftParams(
        np.array(centers, np.float64, order="C"), summary.origin, float(stiffness)
    )


def collect(params: SoftParams, block: Any) -> MembershipStats:
    """Responsibilities of every row; sums under them."""
    weigh = partial(responsibility_and_energy, stiffness=params.stiffness)
    return collect_memberships(params, block, weigh)


# --- Their parts ---


def memberships(params: SoftParams, block: Any) -> np.ndarray:
    """(n, k) responsibilities of a block, in the dtype of its rows."""
    rows = parts(block).rows
    squares = squares_to_centers(params.centers, params.origin, rows)
    return responsibility_and_energy(squares, params.stiffness)[0].astype(rows.dtype)


def responsibility_and_energy(
    squares: np.ndarray, stiffness: float
) -> tuple[np.ndarray, np.ndarray]:
    """Responsibilities and the free energy of every row, from squared distances.

    >>> squares = np.array([[1.0, 1.0], [0.0, 1e9]])
    >>> r, energy = responsibility_and_energy(squares, stiffness=2.0)
    >>> r
    array([[0.5, 0.5], [1. , 0. ]])
    >>> energy.round(3)
    array([1.   , 0.693])
    """
    nearest = squares.min(axis=1, keepdims=True)
    r = np.exp((nearest - squares) * (stiffness / 2))
    total = r.sum(axis=1, keepdims=True)
    r /= total
    energy = nearest - np.log(total / squares.shape[1]) * (2 / stiffness)
    return r, energy.ravel()


def natural_stiffness(n_clusters: int, summary: DataSummary) -> float:
    """Twice the stiffness at which n_clusters round clusters have the data's variance."""
    if not summary.variance > 0:
        return 1.0  # all rows are equal: any will do
    return 2 * n_clusters ** (2 / len(summary.origin)) / summary.variance


# --- The estimator ---


class SoftKMeans(SoftClusters):
    """Cluster rows around ``n_clusters`` centers, each row with a responsibility for each.

    Parameters
    ----------
    n_clusters : int
        Number of centers.
    stiffness : float or "auto"
        How fast a center's pull falls off: one over the square of a cluster's width. "auto" is
        2 n_clusters^(2 / n_features) over the mean variance of the columns.
    init : {"k-means++", "random"}, array of shape (n_clusters, n_features) or function
        The first centers, as for ``KMeans``.
    n_init : int
        Number of starts; the one with the lowest objective is kept.
    max_iter : int
        Most updates in one run.
    tol : float
        Stop when the centers move, in squares, by less than this fraction of the
        data's variance.
    random_state : int, RandomState or None
        Seed of the first centers, the only random step.
    engine : {"serial", "threads", "dask"} or Engine
        Where the passes run.
    callbacks : list or None
        Notified of every pass; see ``tacit.core.progress``.

    Attributes
    ----------
    cluster_centers_ : array of shape (n_clusters, n_features)
    stiffness_ : float, the stiffness used
    labels_ : int32 array of shape (n_rows,), the cluster each row belongs to most; absent when
        fitted on a Table or a Dask array
    objective_ : float, the weighted sum of the free energy at ``cluster_centers_``
    losses_ : list of float, the mean of that after 0, 1, 2, ... updates
    n_iter_ : int, updates made
    converged_ : bool, False where ``max_iter`` or a callback ended the fit

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
    _collect = staticmethod(collect)
    _update = staticmethod(update)
    _memberships = staticmethod(memberships)
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

    def _prepare(self, summary: DataSummary) -> None:
        auto = isinstance(self.stiffness, str)
        chosen = natural_stiffness(self.n_clusters, summary) if auto else self.stiffness
        self.stiffness_ = float(chosen)

    def _start(
        self, centers: np.ndarray, summary: DataSummary, *, sparse: bool = False
    ) -> SoftParams:
        return start(centers, summary, stiffness=self.stiffness_)
