"""Gaussian mixtures by EM, for rows of numbers that may have missing values.

    collect   responsibilities of the components for each row; their weight, and the sums of
              rows and of outer products under them
    update    weights, means and covariances become those of the weighted rows

Covariances are "full", "tied" (one for all), "diag", "spherical", or "fixed" (known). Inside
there are two forms, a matrix or a diagonal per component; the types differ in how an update
pools them. The E-step is one matrix product of the rows' features (x, x_i x_j) with the
coefficients of the log densities, and the M-step is another with the responsibilities. Where a
component is narrow and far from the mean of the data, features would lose digits; such passes
compute differences from the means instead.

No variance falls below a floor, ``reg_covar`` times the variance of the data: eigenvalues are
clipped, which is the most likely covariance under that bound. So the log-likelihood never
falls.

A missing value (NaN) is integrated out: a row's density is that of its observed columns, and
the M-step uses the expectation of the missing ones under each component. As the variance goes
to zero, the responsibilities become 0 and 1, and EM becomes k-means.

One file: five covariance types, complete and incomplete rows, and the estimator have one form
of params and stats.

McLachlan and Peel (2000), Finite Mixture Models. Ghahramani and Jordan (1994), Supervised
learning from incomplete data via an EM approach. NIPS 6. The notes' sections on mixture
densities and density estimation.
"""

import warnings
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_array, check_is_fitted

from tacit.cluster import KMeans
from tacit.core.engines import Engine, check_stop
from tacit.core.errors import raised_as
from tacit.core.loop import Fit
from tacit.core.stats import Stats
from tacit.core.warn import warn_caller
from tacit.core.wording import count
from tacit.data.checked import check_table
from tacit.data.observed import observed_columns
from tacit.data.table import Table, parts
from tacit.mixture.em import Mixture, posterior

__all__ = ["GaussianMixture", "GaussianParams", "GaussianStats", "collect", "update"]

LOG_2PI = float(np.log(2 * np.pi))
CHUNK = 2**17  # values of a chunk's features: they stay in the second-level cache
FAR = 1e3  # standard deviations from the origin past which features lose digits
SINGULAR = 1e-13  # of the largest eigenvalue: below it a covariance has no inverse
EMPTY = 1e-12  # of the rows: a component with less weight keeps its place
TYPES = ("full", "tied", "diag", "spherical", "fixed")


class GaussianParams(NamedTuple):
    """Weights, means and covariances, and how to update them."""

    weights: np.ndarray  # (k,)
    means: np.ndarray  # (k, d)
    covariances: np.ndarray  # (k, d, d), or (k, d) for diagonals
    origin: np.ndarray  # (d,) the mean of the data: features are taken about it
    kind: str  # one of TYPES
    floor: float  # smallest variance
    floored: int = 0  # directions at the floor in the last update
    hard: bool = False  # a row belongs to its most probable component alone: the first pass


@dataclass(frozen=True)
class GaussianStats(Stats):
    """Sums under the responsibilities, of rows less a pivot."""

    rows: float  # weight of all rows
    loss: float  # minus the log-likelihood
    counts: np.ndarray  # (k,)
    sums: np.ndarray  # (k, d)
    products: np.ndarray  # (k, d, d), or (k, d) for diagonals


# --- The algorithm ---


def collect(params: GaussianParams, block: Any) -> GaussianStats:
    """The E-step: responsibilities, and sums under them."""
    rows, weights = floats(block)
    observed = ~np.isnan(rows)
    complete = observed.all(axis=1)
    function = collect_about_means if is_far(params) else collect_features
    if complete.all():
        return function(params, rows, weights)
    total = collect_missing(params, rows[~complete], observed[~complete], weights[~complete])
    if complete.any():
        total = total + function(params, rows[complete], weights[complete])
    return total


def update(params: GaussianParams, stats: GaussianStats) -> GaussianParams:
    """The M-step: weighted means and covariances, pooled by type, bounded by the floor."""
    counts = stats.counts
    used = counts > EMPTY * stats.rows
    safe = np.where(used, counts, 1.0)[:, None]
    shift = stats.sums / safe
    means = np.where(used[:, None], pivot_of(params) + shift, params.means)
    covariances, floored = params.covariances, 0
    if params.kind != "fixed":
        diagonal = covariances.ndim == 2
        outer = shift**2 if diagonal else shift[:, :, None] * shift[:, None, :]
        scaled = stats.products / (safe if diagonal else safe[:, :, None]) - outer
        keep = used[:, None] if diagonal else used[:, None, None]
        covariances = np.where(keep, scaled, covariances)
        covariances, floored = apply_floor(
            pooled(covariances, counts, params.kind), params.floor
        )
    weights = counts / counts.sum()
    return params._replace(
        weights=weights, means=means, covariances=covariances, floored=floored
    )


def log_joint(params: GaussianParams, block: Any) -> np.ndarray:
    """(n, k) log of weight times density, for rows with or without missing values."""
    rows, _ = floats(block)
    observed = ~np.isnan(rows)
    complete = observed.all(axis=1)
    if complete.all():
        return log_joint_about_means(params, rows)
    result = np.empty((len(rows), len(params.weights)))
    result[complete] = log_joint_about_means(params, rows[complete])
    for pattern, index in patterns(observed):
        if not pattern.all():
            seen = rows[index][:, pattern]
            result[index] = log_joint_about_means(marginal(params, pattern), seen)
    return result


# --- Two ways to collect ---


def collect_features(
    params: GaussianParams, rows: np.ndarray, weights: np.ndarray
) -> GaussianStats:
    """By features about the origin: one matrix product for each step."""
    k, d = params.means.shape
    constants, linear, quadratic = coefficients(params)
    pairs = None if params.covariances.ndim == 2 else np.triu_indices(d)
    coefficient = np.concatenate([linear, quadratic], axis=1)  # (k, features)
    loss, counts, totals = 0.0, np.zeros(k), np.zeros(coefficient.shape)
    for part, weight in chunks(rows, weights, coefficient.shape[1]):
        features = features_of(part - params.origin, pairs)
        joint = coefficient @ features.T  # (k, n): reductions over components are SIMD
        joint += constants[:, None]
        evidence, r = respond(params, joint, axis=0)
        loss -= evidence @ weight
        r *= weight
        counts += r.sum(axis=1)
        totals += r @ features
    products = totals[:, d:]
    if pairs is not None:
        products = np.zeros((k, d, d))
        products[:, pairs[0], pairs[1]] = totals[:, d:]
        products[:, pairs[1], pairs[0]] = totals[:, d:]
    return GaussianStats(float(weights.sum()), float(loss), counts, totals[:, :d], products)


def collect_about_means(
    params: GaussianParams, rows: np.ndarray, weights: np.ndarray
) -> GaussianStats:
    """By differences from each mean: slower, and exact for narrow components far apart."""
    k, d = params.means.shape
    loss, counts, sums = 0.0, np.zeros(k), np.zeros((k, d))
    products = np.zeros(params.covariances.shape)
    for part, weight in chunks(rows, weights, k * d):
        evidence, r = respond(params, log_joint_about_means(params, part))
        loss -= evidence @ weight
        r *= weight[:, None]
        counts += r.sum(axis=0)
        for j in range(k):
            centered = part - params.means[j]
            weighted = centered * r[:, j : j + 1]
            sums[j] += weighted.sum(axis=0)
            if products.ndim == 2:
                products[j] += np.einsum("nd,nd->d", weighted, centered)
            else:
                products[j] += weighted.T @ centered
    return GaussianStats(float(weights.sum()), float(loss), counts, sums, products)


def collect_missing(
    params: GaussianParams, rows: np.ndarray, observed: np.ndarray, weights: np.ndarray
) -> GaussianStats:
    """Rows with missing values: the expectation of their sums under each component."""
    k, d = params.means.shape
    pivot = pivot_of(params)
    loss, counts, sums = 0.0, np.zeros(k), np.zeros((k, d))
    products = np.zeros((k, d, d))
    covariances = as_matrices(params.covariances)
    for pattern, index in patterns(observed):
        check_stop()
        seen, unseen = np.flatnonzero(pattern), np.flatnonzero(~pattern)
        part, weight = rows[index][:, pattern], weights[index]
        evidence, r = respond(params, log_joint_about_means(marginal(params, pattern), part))
        loss -= evidence @ weight
        r *= weight[:, None]
        counts += r.sum(axis=0)
        for j in range(k):
            cov = covariances[j]
            gain = np.linalg.solve(cov[np.ix_(seen, seen)], cov[np.ix_(seen, unseen)])
            centered = np.empty((len(part), d))
            centered[:, seen] = part - params.means[j, seen]
            centered[:, unseen] = centered[:, seen] @ gain
            centered += params.means[j] - pivot[j]
            weighted = centered * r[:, j : j + 1]
            sums[j] += weighted.sum(axis=0)
            products[j] += weighted.T @ centered
            conditional = cov[np.ix_(unseen, unseen)] - cov[np.ix_(unseen, seen)] @ gain
            products[j][np.ix_(unseen, unseen)] += r[:, j].sum() * conditional
    if params.covariances.ndim == 2:
        products = np.einsum("kdd->kd", products)
    return GaussianStats(float(weights.sum()), float(loss), counts, sums, products)


# --- Their parts ---


def respond(
    params: GaussianParams, joint: np.ndarray, axis: int = -1
) -> tuple[np.ndarray, np.ndarray]:
    """Log evidence and responsibilities; 0 or 1 in a hard pass, ties to the lowest index."""
    if not params.hard:
        return posterior(joint, axis)
    best = np.expand_dims(joint.argmax(axis=axis), axis)
    evidence = np.take_along_axis(joint, best, axis).squeeze(axis)
    joint[...] = 0.0
    np.put_along_axis(joint, best, 1.0, axis)
    return evidence, joint


def floats(block: Any) -> tuple[np.ndarray, np.ndarray]:
    rows, _, weights = parts(block)
    rows = np.asarray(rows, np.float64)
    return rows, np.ones(len(rows)) if weights is None else weights


def chunks(rows: np.ndarray, weights: np.ndarray, width: int):
    step = max(32, CHUNK // max(1, width))
    for start in range(0, len(rows), step):
        check_stop()
        yield rows[start : start + step], weights[start : start + step]


def features_of(rows: np.ndarray, pairs: tuple | None) -> np.ndarray:
    """(n, features): the values, and their squares or the products of all pairs."""
    n, d = rows.shape
    if pairs is None:
        return np.concatenate([rows, rows**2], axis=1)
    out = np.empty((n, d + d * (d + 1) // 2))
    out[:, :d] = rows
    place = d
    for i in range(d):  # in the order of np.triu_indices
        np.multiply(rows[:, i:], rows[:, i : i + 1], out=out[:, place : place + d - i])
        place += d - i
    return out


def coefficients(params: GaussianParams) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The log density of each component as a polynomial of the features about the origin."""
    d = params.means.shape[1]
    centers = params.means - params.origin
    if params.covariances.ndim == 2:
        precision = 1 / params.covariances
        linear, log_det = centers * precision, np.log(params.covariances).sum(axis=1)
        quadratic = -0.5 * precision
    else:
        factors, log_det = precision_factors(params.covariances)
        precision = factors @ factors.transpose(0, 2, 1)
        linear = np.einsum("kde,ke->kd", precision, centers)
        i, j = np.triu_indices(d)
        quadratic = -precision[:, i, j]
        quadratic[:, i == j] *= 0.5
    with np.errstate(divide="ignore"):
        constants = np.log(params.weights)
    constants -= 0.5 * (d * LOG_2PI + log_det + (linear * centers).sum(axis=1))
    return constants, linear, quadratic


def log_joint_about_means(params: GaussianParams, rows: np.ndarray) -> np.ndarray:
    """(n, k) by differences from each mean."""
    k, d = params.means.shape
    out = np.empty((len(rows), k))
    if params.covariances.ndim == 2:
        scale, log_det = 1 / np.sqrt(params.covariances), np.log(params.covariances).sum(axis=1)
    else:
        factors, log_det = precision_factors(params.covariances)
    for j in range(k):
        centered = rows - params.means[j]
        if params.covariances.ndim == 2:
            centered *= scale[j]
        else:
            centered = centered @ factors[j]
        np.einsum("nd,nd->n", centered, centered, out=out[:, j])
    with np.errstate(divide="ignore"):
        constants = np.log(params.weights) - 0.5 * (d * LOG_2PI + log_det)
    out *= -0.5
    out += constants
    return out


def precision_factors(covariances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Matrices U with U U' the precision, and the log determinants of the covariances."""
    lower = np.linalg.cholesky(covariances)
    d = covariances.shape[-1]
    factors = np.linalg.solve(lower, np.broadcast_to(np.eye(d), covariances.shape))
    log_det = 2 * np.log(np.einsum("kdd->kd", lower)).sum(axis=1)
    return factors.transpose(0, 2, 1), log_det


def is_far(params: GaussianParams) -> bool:
    """Whether a component is so narrow and so far from the origin that features lose digits."""
    if params.covariances.ndim == 2:
        narrowest = params.covariances.min(axis=1)
    else:
        narrowest = np.linalg.eigvalsh(params.covariances)[:, 0]
    distance = ((params.means - params.origin) ** 2).sum(axis=1)
    widest = params.covariances.reshape(len(params.means), -1).max(axis=1)
    return bool((distance + widest > FAR**2 * narrowest).any())


def pivot_of(params: GaussianParams) -> np.ndarray:
    """(k, d) about which the sums of a pass with these params are taken."""
    if is_far(params):
        return params.means
    return np.broadcast_to(params.origin, params.means.shape)


def pooled(covariances: np.ndarray, counts: np.ndarray, kind: str) -> np.ndarray:
    """Covariances as their type allows."""
    if kind == "tied":
        shared = np.tensordot(counts / counts.sum(), covariances, axes=1)
        return np.broadcast_to(shared, covariances.shape).copy()
    if kind == "spherical":
        mean = covariances.mean(axis=1, keepdims=True)
        return np.broadcast_to(mean, covariances.shape).copy()
    return covariances


def apply_floor(covariances: np.ndarray, floor: float) -> tuple[np.ndarray, int]:
    """No variance below the floor in any direction; how many were."""
    if covariances.ndim == 2:
        return np.maximum(covariances, floor), int((covariances < floor).sum())
    covariances = (covariances + covariances.transpose(0, 2, 1)) / 2
    values, vectors = np.linalg.eigh(covariances)
    # Rounding makes smaller eigenvalues negative, and then there is no Cholesky factor.
    least = np.maximum(floor, SINGULAR * values[:, -1:])
    low = values < least
    if low.any():
        clipped = (vectors * np.maximum(values, least)[:, None, :]) @ vectors.transpose(0, 2, 1)
        touched = low.any(axis=1)
        covariances[touched] = (clipped + clipped.transpose(0, 2, 1))[touched] / 2
    return covariances, int(low.sum())


def as_matrices(covariances: np.ndarray) -> np.ndarray:
    if covariances.ndim == 3:
        return covariances
    return covariances[:, :, None] * np.eye(covariances.shape[1])


def marginal(params: GaussianParams, pattern: np.ndarray) -> GaussianParams:
    """The params of the observed columns."""
    index = np.flatnonzero(pattern)
    covariances = params.covariances[:, index]
    if covariances.ndim == 3:
        covariances = covariances[:, :, index]
    return params._replace(means=params.means[:, index], covariances=covariances)


def patterns(observed: np.ndarray):
    """Every pattern of observed columns, with the rows that have it."""
    distinct, inverse = np.unique(observed, axis=0, return_inverse=True)
    order = np.argsort(inverse.ravel(), kind="stable")
    edges = np.searchsorted(inverse.ravel()[order], np.arange(len(distinct) + 1))
    for i, pattern in enumerate(distinct):
        yield pattern, order[edges[i] : edges[i + 1]]


# --- The estimator ---


class GaussianMixture(Mixture):
    """Fit a mixture of normal distributions to rows of numbers.

    Parameters
    ----------
    n_components : int, how many components
    covariance_type : {"full", "tied", "diag", "spherical", "fixed"}
        Each component has a matrix, all have one, each has a diagonal, each has one
        variance, or the variance is known: ``variance`` in every direction.
    variance : float, the known variance of covariance_type="fixed"
    tol : float, stop when a pass raises the mean log-likelihood by less than this
    reg_covar : float
        Smallest variance in any direction, relative to the mean variance of the columns.
        (scikit-learn adds an absolute number to all variances instead.)
    max_iter : int, most EM iterations of one run
    n_init : int
        Runs to make, each from another start; the most likely one without a collapsed
        component wins.
    init_params : {"kmeans", "k-means++", "random_from_data", "random"}
        Where the first means come from: a fit of KMeans, its seeding alone, or random rows,
        which both of the last two names mean.
    weights_init, means_init, covariances_init, precisions_init : arrays or None
        Another start; covariances have the shape of ``covariances_``, and so do
        precisions, their inverses.
    warm_start : bool, whether ``fit`` starts from the components of the fit before
    verbose, verbose_interval : int
        With ``verbose`` above 0, progress is shown on standard error; the interval has no
        effect.
    random_state : int, RandomState or None; seed of the starts
    engine, callbacks : as for ``KMeans``

    Attributes
    ----------
    weights_ : array of shape (n_components,)
    means_ : array of shape (n_components, n_features)
    covariances_ : array, its shape by type: full (k, d, d), tied (d, d), diag and fixed (k, d),
        spherical (k,)
    lower_bound_ : float, the mean log-likelihood of a row
    lower_bounds_ : list of float, after 0, 1, 2, ... updates; it never falls
    n_iter_ : int
    converged_ : bool
    n_missing_ : int, values that were NaN in the fit
    n_floored_ : int, directions whose variance is at the floor

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(0, 2, 400), rng.normal(9, 1, 600)])[:, None]
    >>> model = GaussianMixture(2, random_state=0).fit(X)
    >>> order = np.argsort(model.means_[:, 0])
    >>> model.means_[order, 0].round(1), model.weights_[order].round(1)
    (array([-0.1,  8.9]), array([0.4, 0.6]))
    """

    _parameter_constraints: ClassVar[dict] = {
        **Mixture._parameter_constraints,
        "covariance_type": [StrOptions(set(TYPES))],
        "variance": [Interval(Real, 0, None, closed="neither")],
        "reg_covar": [Interval(Real, 0, None, closed="left")],
        "init_params": [StrOptions({"kmeans", "k-means++", "random_from_data", "random"})],
        "weights_init": ["array-like", None],
        "means_init": ["array-like", None],
        "covariances_init": ["array-like", None],
        "precisions_init": ["array-like", None],
        "warm_start": ["boolean"],
        "verbose": ["verbose"],
        "verbose_interval": [Interval(Integral, 1, None, closed="left")],
    }
    _no_effect: ClassVar[dict] = {"verbose_interval": "progress is shown by the clock"}
    _file_schema: ClassVar[dict] = {
        "weights_": ("n_components",),
        "means_": ("n_components", "n_features_in_"),
    }
    _log_joint = staticmethod(log_joint)

    def __init__(
        self,
        n_components: int = 1,
        *,
        covariance_type: str = "full",
        variance: float = 1.0,
        tol: float = 1e-3,
        reg_covar: float = 1e-6,
        max_iter: int = 100,
        n_init: int = 1,
        init_params: str = "kmeans",
        weights_init: Any = None,
        means_init: Any = None,
        covariances_init: Any = None,
        precisions_init: Any = None,
        warm_start: bool = False,
        verbose: int = 0,
        verbose_interval: int = 10,
        random_state: Any = None,
        engine: str | Engine = "threads",
        callbacks: list | None = None,
    ) -> None:
        self.n_components, self.covariance_type = n_components, covariance_type
        self.variance, self.tol, self.reg_covar = variance, tol, reg_covar
        self.max_iter, self.n_init, self.init_params = max_iter, n_init, init_params
        self.weights_init, self.means_init = weights_init, means_init
        self.covariances_init, self.precisions_init = covariances_init, precisions_init
        self.warm_start, self.verbose = warm_start, verbose
        self.verbose_interval, self.random_state = verbose_interval, random_state
        self.engine, self.callbacks = engine, callbacks

    @property
    def precisions_(self) -> np.ndarray:
        """The inverses of ``covariances_``, in the same shape."""
        check_is_fitted(self)
        return inverted(self.covariances_, self.covariance_type)

    @property
    def precisions_cholesky_(self) -> np.ndarray:
        """Upper triangular U with U U' the precision; for diagonals its square root."""
        check_is_fitted(self)
        if self.covariance_type not in ("full", "tied"):
            return np.sqrt(self.precisions_)
        factors, _ = precision_factors(np.atleast_3d(self.covariances_.T).T)
        return factors if self.covariance_type == "full" else factors[0]

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple:
        """Draw rows, and the components they come from."""
        check_is_fitted(self)
        if n_samples < 1:
            raise ValueError(
                f"Invalid value for 'n_samples': {n_samples}. Draw at least one row."
            )
        rng = check_random_state(random_state)
        counts = rng.multinomial(n_samples, self.weights_ / self.weights_.sum())
        params = self._params()
        lower = np.linalg.cholesky(as_matrices(params.covariances))
        rows = [
            params.means[j] + rng.standard_normal((count, params.means.shape[1])) @ lower[j].T
            for j, count in enumerate(counts)
        ]
        return np.concatenate(rows), np.repeat(np.arange(len(counts)), counts)

    # --- Parts ---

    def _table(self, X: Any, sample_weight: Any, *, reset: bool) -> Table:
        return check_table(self, X, sample_weight, reset=reset, sparse=False)

    def _prepare(self, table: Table, engine: Engine) -> None:
        columns = observed_columns(table, engine, "GaussianMixture")
        self._origin, self._variance = columns.mean, columns.variance
        self.n_missing_ = columns.missing
        variance = float(columns.variance.mean())
        self._floor = max(self.reg_covar * variance, 1e-30 * variance, 1e-280)

    def _start(self, table: Table, engine: Engine, rng: Any) -> GaussianParams:
        k, d = self.n_components, table.shape[1]
        if self.warm_start and hasattr(self, "means_") and self.means_.shape == (k, d):
            return self._params()._replace(origin=self._origin, floor=self._floor)
        means = self.means_init
        means = self._first_means(table, rng) if means is None else shaped(
            means, (k, d), "means_init"
        )  # fmt: skip
        # With equal spherical covariances the most probable component is the nearest mean.
        fixed = self.covariance_type == "fixed"
        variance = float(self.variance) if fixed else max(self._variance.mean(), self._floor)
        diagonals = np.full((k, d), variance)
        flat = self.covariance_type in ("diag", "spherical", "fixed")
        start = GaussianParams(
            np.full(k, 1 / k), means, diagonals if flat else as_matrices(diagonals),
            self._origin, self.covariance_type, self._floor, hard=True,
        )  # fmt: skip
        covariances = self._covariances_init(k, d)
        if self.weights_init is None or (covariances is None and not fixed):
            start = update(start, engine.reduce(collect, start, table))
        start = start._replace(hard=False)
        if self.means_init is not None:
            start = start._replace(means=means)
        if self.weights_init is not None:
            weights = shaped(self.weights_init, (k,), "weights_init")
            if (weights < 0).any() or not np.isclose(weights.sum(), 1):
                raise ValueError(
                    "GaussianMixture: weights_init must be at least 0 and add up to 1."
                )
            start = start._replace(weights=weights)
        if covariances is not None and not fixed:
            inner = widened(covariances, self.covariance_type, k, d)
            start = start._replace(covariances=apply_floor(inner, self._floor)[0])
        return start

    def _covariances_init(self, k: int, d: int) -> np.ndarray | None:
        """The covariances to start from, from ``covariances_init`` or ``precisions_init``."""
        shape = file_shape(self.covariance_type, k, d)
        if self.covariances_init is not None:
            return shaped(self.covariances_init, shape, "covariances_init")
        if self.precisions_init is None:
            return None
        precisions = shaped(self.precisions_init, shape, "precisions_init")
        matrices = self.covariance_type in ("full", "tied")
        symmetric = not matrices or np.allclose(precisions, np.swapaxes(precisions, -1, -2))
        lowest = np.linalg.eigvalsh(precisions) if matrices and symmetric else precisions
        if not symmetric or not (lowest > 0).all():
            what = "symmetric, positive-definite" if matrices else "positive"
            raise ValueError(f"GaussianMixture: precisions_init must be {what}.")
        return inverted(precisions, self.covariance_type)

    def _first_means(self, table: Table, rng: Any) -> np.ndarray:
        k = self.n_components
        if self.init_params.startswith("random"):
            rows = np.asarray(table.sample(k, rng), np.float64)
            return np.where(np.isnan(rows), self._origin, rows)
        data: Any = table
        if self.n_missing_:
            rows = np.asarray(table.sample(20_000, rng), np.float64)
            data = np.where(np.isnan(rows), self._origin, rows)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            passes = 1 if self.init_params == "k-means++" else 100
            model = KMeans(k, n_init=1, max_iter=passes, random_state=rng, engine=self.engine)
            with raised_as(self, "KMeans"):
                return np.asarray(model.fit(data).cluster_centers_, np.float64)

    def _em(self) -> tuple:
        return collect, update, None

    def _rank(self, fit: Fit) -> tuple:
        return fit.params.floored > 0, fit.losses[-1]  # a collapsed component is too likely

    def _store(self, params: GaussianParams) -> None:
        self.weights_, self.means_ = params.weights, params.means
        self.covariances_ = narrowed(params.covariances, self.covariance_type)
        self.n_floored_ = params.floored
        del self._origin, self._variance, self._floor
        if params.floored:
            floored = count(params.floored, "variance is", "variances are")
            warn_caller(
                f"GaussianMixture: {floored} at the floor, reg_covar={self.reg_covar:g} times "
                "that of the data: a component has collapsed onto few rows or onto equal ones. "
                "Lower n_components.",
                ConvergenceWarning,
            )

    def _params(self) -> GaussianParams:
        k, d = self.means_.shape
        inner = widened(self.covariances_, self.covariance_type, k, d)
        return GaussianParams(
            self.weights_, self.means_, inner, self.means_.mean(axis=0), self.covariance_type,
            floor=0.0,
        )  # fmt: skip

    def _n_parameters(self) -> int:
        k, d = self.means_.shape
        covariances = {
            "full": k * d * (d + 1) // 2, "tied": d * (d + 1) // 2, "diag": k * d,
            "spherical": k, "fixed": 0,
        }  # fmt: skip
        return covariances[self.covariance_type] + k * d + k - 1

    def _after_load(self) -> None:
        k, d = self.means_.shape
        if self.covariances_.shape != file_shape(self.covariance_type, k, d):
            raise ValueError("covariances_ do not have the shape of their type.")
        if (self.weights_ < 0).any() or not np.isclose(self.weights_.sum(), 1):
            raise ValueError("weights_ must be at least 0 and add up to 1.")
        inner = widened(self.covariances_, self.covariance_type, k, d)
        lowest = inner if inner.ndim == 2 else np.linalg.eigvalsh(inner)
        if not (lowest > 0).all():
            raise ValueError("covariances_ must be positive definite.")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def shaped(values: Any, shape: tuple, name: str) -> np.ndarray:
    array = check_array(values, dtype=np.float64, ensure_2d=False, allow_nd=True)
    if array.shape != shape:
        raise ValueError(f"GaussianMixture: {name} must have shape {shape}, not {array.shape}.")
    return array


def inverted(values: np.ndarray, kind: str) -> np.ndarray:
    """Covariances from precisions, or the reverse."""
    return np.linalg.inv(values) if kind in ("full", "tied") else 1 / values


def file_shape(kind: str, k: int, d: int) -> tuple:
    return {"full": (k, d, d), "tied": (d, d), "spherical": (k,)}.get(kind, (k, d))


def narrowed(covariances: np.ndarray, kind: str) -> np.ndarray:
    """Covariances in scikit-learn's shape for the type."""
    if kind == "tied":
        return covariances[0].copy()
    return covariances[:, 0].copy() if kind == "spherical" else covariances


def widened(covariances: np.ndarray, kind: str, k: int, d: int) -> np.ndarray:
    """Covariances with a matrix or a diagonal for every component."""
    if kind == "tied":
        return np.broadcast_to(covariances, (k, d, d)).copy()
    if kind == "spherical":
        return np.repeat(covariances[:, None], d, axis=1)
    return covariances
