"""Multidimensional scaling by majorization (SMACOF): metric and non-metric.

Points are moved until their distances d are as near as possible to the dissimilarities, by the
stress, the sum over pairs of (d - dissimilarity)^2. An iteration replaces every point by a mean
of the places where each other point would have it (the Guttman transform):

    x_i  <-  1/n sum over j of dissimilarity_ij (x_i - x_j) / d_ij

which never raises the stress. Non-metric scaling knows only the order of the dissimilarities:
before every iteration they are replaced by disparities, the numbers in the same order that are
nearest to the distances (isotonic regression), scaled to a fixed size.

A pass over all pairs is one kernel: distances, stress and new places together, without a matrix
of distances. Rows of the matrix are worked on in stripes, in any number of threads.

Contract: whole. All items are compared with each other.

De Leeuw (1977), Applications of convex analysis to multidimensional scaling. Kruskal (1964),
Multidimensional scaling by optimizing goodness of fit to a nonmetric hypothesis. Psychometrika
29. Borg and Groenen (2005), Modern Multidimensional Scaling. The notes' section on
multidimensional scaling.
"""

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.optimize import isotonic_regression
from scipy.spatial.distance import pdist, squareform
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from tacit.core.engines import Engine, check_stop, ready
from tacit.core.estimator import N_JOBS, Estimator, engine_for, with_callbacks
from tacit.core.kernel import REASSOCIATE, kernel
from tacit.core.progress import Step, notify
from tacit.core.randoms import seed_from, spawn, uniforms
from tacit.core.warn import warn_caller
from tacit.data.bad_values import check_distances
from tacit.decompose.classical_mds import ClassicalMDS, distances_of, load_rows
from tacit.kernels.distances import METRICS, Metric, between_rows

__all__ = ["MDS", "stress"]

STRIPE = 256  # rows of the matrix in one kernel call
SINGLE = 1e-7  # of eps: from here on iterations in float32 are exact enough, and faster
TILE = 256  # pairs whose distances are in the first-level cache at once
PLACED = 1e-9  # movement, relative to the spread, at which a new point has settled


class Run(NamedTuple):
    """The end of the iterations from one start."""

    points: np.ndarray  # (k, n)
    stresses: list[float]  # raw stress before every iteration, and at the end
    size: float  # sum of the squared distances of the points
    converged: bool
    disparities: Any = None  # of a non-metric run


# --- Iterations ---


def smacof(
    distances: np.ndarray,
    points: np.ndarray,
    engine: Engine,
    *,
    max_iter: int,
    eps: float,
    order: "Order | None" = None,
    callbacks: list,
) -> Run:
    """Move points (k, n) until an iteration lowers the stress by less than ``eps`` of the sum
    of their squared distances. With an ``order`` of the pairs: non-metric.

    Where ``eps`` allows, iterations are in float32, with distances of at most one; the result
    is measured in float64. Sums of a tile are float32, those of the tiles float64: the stress
    is exact to about 1e-8 of the sum of squared distances, far below what ``eps`` asks for.
    """
    points = points - points.mean(axis=1, keepdims=True)
    target, fitted, scale = distances, None, 1.0
    unit = float(distances.max(initial=0.0))
    if order is None and eps >= SINGLE and unit > 0:
        start = np.ascontiguousarray(points / unit, np.float32)
        if np.isfinite(start).all():
            target, points, scale = (distances / unit).astype(np.float32), start, unit**2
    stresses: list[float] = []
    while True:
        if order is not None:
            fitted = order.disparities(points) if stresses else order.scaled()
            target = order.matrix(fitted)
        raw, size, moved = guttman(target, points, engine)
        stresses.append(raw * scale)
        step = len(stresses) - 1
        # The first disparities are the dissimilarities, so their stress compares with nothing.
        known = step > (0 if order is None else 1)
        converged = known and stresses[-2] - stresses[-1] <= eps * size * scale
        done = converged or step >= max_iter
        event = Step("MDS", step, max_iter, stresses, points, done)
        if (step and notify(callbacks, event)) or done:
            break
        points = moved
    if points.dtype == np.float32:
        points = points.astype(np.float64) * unit
        points -= points.mean(axis=1, keepdims=True)
        stresses[-1], size, _ = guttman(distances, points, engine)
    return Run(points, stresses, size, converged, fitted)


def guttman(
    distances: np.ndarray, points: np.ndarray, engine: Engine
) -> tuple[float, float, np.ndarray]:
    """The stress of points, the sum of their squared distances, and their next places."""
    n = points.shape[1]
    moved = np.empty_like(points)

    def stripe(first: int) -> tuple[float, float]:
        check_stop()
        return move_stripe(distances, points, moved, first, min(first + STRIPE, n))

    sums = list(engine.each(stripe, range(0, n, STRIPE), work=8 * n * n))
    raw, size = np.array(sums).sum(axis=0)
    return float(raw), float(size), moved


class Order:
    """The pairs of items by rising dissimilarity, equal ones together."""

    def __init__(self, distances: np.ndarray) -> None:
        values = squareform(distances, checks=False)
        self.places = np.argsort(values, kind="stable")  # among the pairs of ``squareform``
        rising = values[self.places]
        self.first = np.flatnonzero(np.diff(rising, prepend=-np.inf) > 0)  # of equal ones
        self.values = rising[self.first]
        self.sizes = np.diff(self.first, append=len(rising))

    def disparities(self, points: np.ndarray) -> np.ndarray:
        """One number to a group of equal dissimilarities, rising, nearest to the distances."""
        distances = pdist(points.T)[self.places]
        means = np.add.reduceat(distances, self.first) / self.sizes
        return self._of_fixed_size(isotonic_regression(means, weights=self.sizes).x)

    def scaled(self) -> np.ndarray:
        """The dissimilarities themselves, for the first iteration."""
        return self._of_fixed_size(self.values)

    def _of_fixed_size(self, fitted: np.ndarray) -> np.ndarray:
        size = float((self.sizes * fitted**2).sum())
        return fitted * np.sqrt(len(self.places) / size) if size > 0 else fitted

    def matrix(self, fitted: np.ndarray) -> np.ndarray:
        """Disparities at their places in a matrix."""
        pairs = np.empty(len(self.places))
        pairs[self.places] = np.repeat(fitted, self.sizes)
        return squareform(pairs, checks=False)

    def steps(self, fitted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The curve from dissimilarity to disparity, for items not seen yet."""
        bend = np.flatnonzero(np.diff(fitted) != 0)
        keep = np.unique(np.concatenate([[0], bend, bend + 1, [len(fitted) - 1]]))
        return self.values[keep], fitted[keep]


def stress(distances: Any, points: Any, *, normalized: bool = True) -> float:
    """How far the distances between points are from those wanted.

    Parameters
    ----------
    distances : array of shape (n, n)
    points : array of shape (n, k)
    normalized : bool
        Kruskal's stress-1, the root of the squared differences over the squared distances of
        the points; otherwise the plain sum of squared differences over all pairs.

    Examples
    --------
    >>> stress(np.array([[0.0, 2.0], [2.0, 0.0]]), np.array([[0.0], [1.0]]), normalized=False)
    1.0
    """
    from tacit.core.engines import Serial

    wanted = np.ascontiguousarray(distances, np.float64)
    across = np.ascontiguousarray(np.asarray(points, np.float64).T)
    if across.ndim != 2 or wanted.shape != (across.shape[1],) * 2:
        raise ValueError(
            f"stress needs one row of points for each of the {len(wanted)} items, but got "
            f"points of shape {np.shape(points)} for distances of shape {wanted.shape}."
        )
    check_distances(wanted, "stress", square=True)
    raw, size, _ = guttman(wanted, across, Serial())
    return stress_1(raw, size) if normalized else raw


def stress_1(raw: float, size: float) -> float:
    return float(np.sqrt(raw / size)) if size > 0 else (0.0 if raw == 0 else 1.0)


# --- The estimator ---


class MDS(Estimator):
    """Place items in few dimensions by their dissimilarities, or by the order of these.

    Parameters
    ----------
    n_components : int, number of dimensions
    metric_mds : bool
        True: distances are to equal the dissimilarities. False: to have their order
        (non-metric).
    metric : str or callable
        "precomputed": X is a matrix of dissimilarities, n x n. Otherwise X holds rows, and
        this is their distance: "euclidean", "manhattan", "cosine", or a function of two rows.
    n_init : int
        Runs; the one with the lowest stress wins. The first starts as ``init`` says, the
        others at random.
    init : {"classical_mds", "random"} or array of shape (n, n_components); the first start
    max_iter : int
        Most iterations of a run. A ConvergenceWarning is issued if they were too few.
    eps : float
        Stop when an iteration lowers the stress by less than this part of the sum of squared
        distances.
    normalized_stress : bool or "auto"
        Whether ``stress_`` is Kruskal's stress-1 (0 perfect, .05 good, .1 fair, .2 poor) or
        the plain sum of squares; "auto" normalizes that of non-metric scaling.
    random_state : int, RandomState or None; seed of the random starts
    engine, callbacks : as for ``KMeans``

    Attributes
    ----------
    embedding_ : array of shape (n, n_components), the points, centered
    stress_ : float
    stresses_ : list of float, the raw stress at the start and after every iteration
    n_iter_ : int
    converged_ : bool

    Examples
    --------
    >>> distances = np.array([[0, 3, 7, 5], [3, 0, 4, 4], [7, 4, 0, 5.66], [5, 4, 5.66, 0]])
    >>> mds = MDS(2, metric="precomputed", normalized_stress=True).fit(distances)
    >>> mds.stress_ < 0.01
    True
    >>> mds.place(distances[:1]).shape
    (1, 2)
    """

    contract: ClassVar[str] = "whole"
    _parameter_constraints: ClassVar[dict] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "metric_mds": ["boolean"],
        "metric": [StrOptions({"precomputed", *METRICS}), callable],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "init": [StrOptions({"classical_mds", "random"}), "array-like"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "eps": [Interval(Real, 0, None, closed="left")],
        "normalized_stress": ["boolean", StrOptions({"auto"})],
        "n_jobs": [None, Integral],
        "verbose": ["verbose"],
    }
    _no_effect: ClassVar[dict] = {"n_jobs": N_JOBS}
    _saved_private: ClassVar[tuple[str, ...]] = ("_rows", "_curve")
    _file_schema: ClassVar[dict] = {"embedding_": ("n_items", "n_components")}
    _file_kinds: ClassVar[dict] = {"embedding_": "f"}

    def __init__(
        self,
        n_components: int = 2,
        *,
        metric_mds: bool = True,
        metric: Metric = "euclidean",
        n_init: int = 1,
        init: Any = "classical_mds",
        max_iter: int = 300,
        eps: float = 1e-6,
        normalized_stress: bool | str = "auto",
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
        engine: str | Engine = "threads",
        callbacks: list | None = None,
    ) -> None:
        self.n_components, self.metric_mds, self.metric = n_components, metric_mds, metric
        self.n_init, self.init, self.max_iter, self.eps = n_init, init, max_iter, eps
        self.normalized_stress = normalized_stress
        self.n_jobs, self.verbose, self.random_state = n_jobs, verbose, random_state
        self.engine, self.callbacks = engine, callbacks

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> Self:
        """Place the items. X holds rows, or the dissimilarities between all items."""
        self._validate_params()
        rows = load_rows(self, X, reset=True)
        best: Run | None = None
        seeds = spawn(seed_from(self.random_state), self.n_init)
        with ready(engine_for(self)) as engine, self._fit_callbacks() as callbacks:
            distances = distances_of(self, rows, self.metric, engine)
            order = None if self.metric_mds else Order(distances)
            for i, seed in enumerate(seeds):
                start = self._start(distances, seed, first=i == 0)
                run = smacof(
                    distances, start, engine, max_iter=self.max_iter, eps=self.eps,
                    order=order, callbacks=callbacks,
                )  # fmt: skip
                if best is None or run.stresses[-1] < best.stresses[-1]:
                    best = run
        assert best is not None
        self.embedding_ = np.ascontiguousarray(best.points.T)
        self.stresses_ = best.stresses
        normalized = self.normalized_stress
        if normalized == "auto":
            normalized = not self.metric_mds
        raw = best.stresses[-1]
        self.stress_ = stress_1(raw, best.size) if normalized else raw
        self.n_iter_, self.converged_ = len(best.stresses) - 1, best.converged
        self._rows = None if self.metric == "precomputed" else rows
        self._curve = None if order is None else np.stack(order.steps(best.disparities))
        if not self.converged_ and not self.callbacks:
            warn_caller(
                f"MDS(max_iter={self.max_iter}) stopped before the stress settled within "
                f"eps={self.eps:g}. Raise max_iter or eps.",
                ConvergenceWarning,
            )
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Place the items, and give their points."""
        return self.fit(X).embedding_

    def place(self, X: Any, *, max_iter: int = 300) -> np.ndarray:
        """Place new items among those of the fit, which stay: (n, n_components).

        X holds rows; or, with ``metric="precomputed"``, a column of dissimilarities for every
        item of the fit. Each new point minimizes its stress; one that is already in the
        fit need not come back to exactly its place, because the others do not move.
        """
        check_is_fitted(self)
        rows = load_rows(self, X, reset=False)
        if self.metric == "precomputed":
            check_distances(rows, "MDS", square=False)
            wanted = rows
        else:
            wanted = between_rows(rows, self._rows, self.metric)
        if self._curve is not None:
            wanted = np.interp(wanted, *self._curve)
        points = np.ascontiguousarray(self.embedding_.T)
        spread = float(np.sqrt((points**2).sum(axis=0).mean()))
        k = min(3, wanted.shape[1])  # start at the mean of the items to be nearest to
        nearest = np.argpartition(wanted, k - 1, axis=1)[:, :k]
        out = np.ascontiguousarray(self.embedding_[nearest].mean(axis=1))

        def stripe(first: int) -> None:
            check_stop()
            last = min(first + STRIPE, len(wanted))
            place_stripe(wanted, points, out, first, last, max_iter, PLACED * spread)

        work = 50 * wanted.size
        for _ in engine_for(self).each(stripe, range(0, len(wanted), STRIPE), work=work):
            pass
        return out

    # --- Parts ---

    def _start(self, distances: np.ndarray, seed: Any, *, first: bool) -> np.ndarray:
        n, k = len(distances), self.n_components
        if not first or (isinstance(self.init, str) and self.init == "random"):
            spread = float(distances.mean()) or 1.0
            return uniforms(seed, (k, n)) * spread
        if isinstance(self.init, str):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # distances that are no distances
                model = ClassicalMDS(k, metric="precomputed", engine=self.engine)
                return np.ascontiguousarray(model.fit(distances).embedding_.T)
        start = np.asarray(self.init, np.float64)
        if start.shape != (n, k) or not np.isfinite(start).all():
            raise ValueError(
                f"MDS(init=...) needs finite points of shape {(n, k)}, but the array has "
                f"shape {start.shape}."
            )
        return np.ascontiguousarray(start.T)

    def _after_load(self) -> None:
        n = len(self.embedding_)
        if self.metric == "precomputed":
            if n != self.n_features_in_:
                raise ValueError("there must be a point for every item.")
        elif getattr(self._rows, "shape", None) != (n, self.n_features_in_):
            raise ValueError("the rows of the fit are missing.")
        if (self._curve is None) != bool(self.metric_mds):
            raise ValueError("the curve of disparities does not fit metric_mds.")
        curve = self._curve
        if curve is not None and (
            curve.ndim != 2 or len(curve) != 2 or not curve.size or (np.diff(curve) < 0).any()
        ):
            raise ValueError("the curve of disparities must rise.")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.metric != "precomputed"
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags


# --- Kernels ---


# fastmath here and in place_stripe: sums use SIMD; ``benchmarks.mds``.
@kernel(fastmath=REASSOCIATE)
def move_stripe(distances, points, out, first, last):
    """The Guttman transform of points first to last; their stress and squared distances."""
    k, n = points.shape
    ratios = np.empty(TILE, points.dtype)  # sums of a tile have the precision of the points
    small = np.full(2, 1e-30, points.dtype)
    tiny, zero = small[0], small[0] - small[1]
    raw, size = 0.0, 0.0
    for i in range(first, last):
        row = distances[i]
        for c in range(k):
            out[c, i] = 0.0
        for begin in range(0, n, TILE):
            m = min(TILE, n - begin)
            wanted, tile = row[begin : begin + m], ratios[:m]
            for j in range(m):
                tile[j] = zero
            for c in range(k):
                x, others = points[c, i], points[c, begin : begin + m]
                for j in range(m):
                    away = x - others[j]
                    tile[j] += away * away
            differences, squares = zero, zero
            for j in range(m):
                squares += tile[j]
            for j in range(m):
                tile[j] = np.sqrt(tile[j])
            for j in range(m):
                off = tile[j] - wanted[j]
                differences += off * off
            for j in range(m):
                tile[j] = wanted[j] / max(tile[j], tiny)
            raw += differences
            size += squares
            for c in range(k):
                x, others = points[c, i], points[c, begin : begin + m]
                pull = zero
                for j in range(m):
                    pull += tile[j] * (x - others[j])
                out[c, i] += pull
        for c in range(k):
            out[c, i] /= n
    return raw / 2, size / 2


@kernel(fastmath=REASSOCIATE)
def place_stripe(wanted, points, out, first, last, max_iter, least):
    """Move new points first to last among fixed ones until they move less than ``least``."""
    k, n = points.shape
    moved = np.empty(k)
    for i in range(first, last):
        row, point = wanted[i], out[i]
        for _ in range(max_iter):
            for c in range(k):
                moved[c] = 0.0
            for j in range(n):
                square = 0.0
                for c in range(k):
                    away = point[c] - points[c, j]
                    square += away * away
                ratio = row[j] / max(np.sqrt(square), 1e-300)
                for c in range(k):
                    moved[c] += points[c, j] + ratio * (point[c] - points[c, j])
            shift = 0.0
            for c in range(k):
                new = moved[c] / n
                shift = max(shift, abs(new - point[c]))
                point[c] = new
            if shift <= least:
                break
