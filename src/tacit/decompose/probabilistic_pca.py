"""Probabilistic PCA by EM, for rows that may have missing values.

A row is a point z of few dimensions, standard normal, mapped linearly to all columns, plus
noise of one variance in every column:

    x = W z + mean + noise        so that x is normal with covariance W W' + variance 1

    collect   E-step: the mean and covariance of z for each row; per column, the sums that a
              regression on z and a constant needs
    update    M-step: W and the mean by those regressions, then the variance of the noise

Without missing values the most likely W are the principal components, and the variance of the
noise is the mean of the eigenvalues left out (Tipping and Bishop); EM starts there. A missing
value takes no part: a row is explained by its observed columns, and a column is regressed on
the rows that have it. The log-likelihood never falls.

All of it is a few matrix products: with a mask of what is observed, the matrices sum_j w_j w_j'
of all rows are mask times the products of W, and back.

Tipping and Bishop (1999), Probabilistic principal component analysis. J. R. Stat. Soc. B 61.
Roweis (1998), EM algorithms for PCA and SPCA. NIPS 10. Ilin and Raiko (2010), Practical
approaches to principal component analysis in the presence of missing values. JMLR 11. The
notes' section on dimensionality reduction.
"""

import warnings
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from tacit.core.engines import Engine, check_stop
from tacit.core.errors import raised_as
from tacit.core.estimator import engine_for, with_callbacks
from tacit.core.loop import iterate
from tacit.core.randoms import key, normals, seed_from
from tacit.core.stats import Stats
from tacit.core.warn import warn_caller
from tacit.data.checked import check_answer, check_table
from tacit.data.observed import check_observed, observed_columns
from tacit.data.table import Table, parts
from tacit.decompose.low_rank import ProjectionEstimator
from tacit.decompose.pca import PCA
from tacit.decompose.truncated_svd import with_signs

__all__ = ["PPCAParams", "PPCAStats", "ProbabilisticPCA", "collect", "update"]

LOG_2PI = float(np.log(2 * np.pi))
CHUNK = 2**20  # values of a chunk's matrices
FLOOR = 1e-10  # of the mean variance of a column: the least variance of the noise


class PPCAParams(NamedTuple):
    """The map from few dimensions to all columns."""

    loadings: np.ndarray  # (d, k + 1): W, and the mean less the origin
    noise: float  # variance
    origin: np.ndarray  # (d,) subtracted from the rows first: their observed means
    floor: float  # least noise
    complete: bool  # no value is missing, so all columns have the same sums


@dataclass(frozen=True)
class PPCAStats(Stats):
    """Sums over rows of z, with a constant 1 after it, and of the observed values."""

    rows: float  # weight
    loss: float  # minus the log-likelihood
    observed: float  # weight of the observed values
    squares: float  # sum of them squared, about the origin
    outer: np.ndarray  # (1 or d, k + 1, k + 1) expected z z' over the rows that have a column
    cross: np.ndarray  # (d, k + 1) sums of value times expected z


# --- The algorithm ---


def collect(params: PPCAParams, block: Any) -> PPCAStats:
    """The E-step, and the sums of the regressions on it."""
    d, k1 = params.loadings.shape
    shape = (1 if params.complete else d, k1, k1)
    total = PPCAStats(0.0, 0.0, 0.0, 0.0, np.zeros(shape), np.zeros((d, k1)))
    for rows, mask, weights in chunks(params, block):
        check_stop()
        total = total + collect_chunk(params, rows, mask, weights)
    return total


def collect_chunk(
    params: PPCAParams, rows: np.ndarray, mask: np.ndarray | None, weights: np.ndarray
) -> PPCAStats:
    d, k1 = params.loadings.shape
    mean, covariance, evidence = posterior(params, rows, mask)
    ones = np.ones((len(rows), 1))
    z = np.concatenate([mean, ones], axis=1)  # (n, k + 1)
    weighted = weights[:, None] * z
    if mask is None:
        shared = z.T @ weighted
        shared[:-1, :-1] += weights.sum() * covariance[0]
        outer = shared[None] if params.complete else np.broadcast_to(shared, (d, k1, k1))
        observed = d * float(weights.sum())
    else:
        second = np.einsum("ni,nj->nij", weighted, z)
        second[:, :-1, :-1] += weights[:, None, None] * covariance
        second = second.reshape(len(rows), -1)
        outer = (mask.T.astype(np.float64) @ second).reshape(d, k1, k1)
        observed = float(weights @ mask.sum(axis=1))
    return PPCAStats(
        float(weights.sum()), -float(weights @ evidence), observed,
        float(weights @ np.einsum("nd,nd->n", rows, rows)), outer, rows.T @ weighted,
    )  # fmt: skip


def posterior(
    params: PPCAParams, rows: np.ndarray, mask: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean (n, k) and covariance (1 or n, k, k) of z for every row, and its log-likelihood.

    ``rows`` are about the origin, zero where the mask says that a value is missing.
    """
    W, shift, noise = params.loadings[:, :-1], params.loadings[:, -1], params.noise
    n, d = rows.shape
    k = W.shape[1]
    centered = rows - shift if mask is None else (rows - shift) * mask
    if mask is None:
        inner, count = (W.T @ W)[None], np.full(n, float(d))
    else:
        pairs = np.einsum("di,dj->dij", W, W).reshape(d, -1)
        inner = (mask.astype(np.float64) @ pairs).reshape(n, k, k)
        count = mask.sum(axis=1).astype(np.float64)
    matrix = inner + noise * np.eye(k)
    inverse = np.linalg.inv(matrix)
    scores = centered @ W  # (n, k)
    mean = scores @ inverse[0] if mask is None else np.einsum("nij,nj->ni", inverse, scores)
    # Woodbury: the squared Mahalanobis distance by the noise alone, less what z explains of it.
    squares = (np.einsum("nd,nd->n", centered, centered) - (scores * mean).sum(axis=1)) / noise
    log_det = np.linalg.slogdet(matrix)[1] + (count - k) * np.log(noise)
    evidence = -0.5 * (count * LOG_2PI + log_det + np.maximum(squares, 0.0))
    return mean, noise * inverse, evidence


def update(params: PPCAParams, stats: PPCAStats) -> PPCAParams:
    """The M-step: every column regressed on z and a constant; then the noise."""
    d, k1 = params.loadings.shape
    outer = np.broadcast_to(stats.outer, (d, k1, k1))
    seen = outer[:, -1, -1] > 0  # a column without any value keeps its loadings
    solved = np.linalg.solve(
        np.where(seen[:, None, None], outer, np.eye(k1)), stats.cross[:, :, None]
    )[:, :, 0]
    loadings = np.where(seen[:, None], solved, params.loadings)
    # At the least squares, the squares left are those of the values less what they explain.
    left = stats.squares - float((solved * stats.cross)[seen].sum())
    noise = max(params.floor, left / max(stats.observed, 1e-300))
    return params._replace(loadings=loadings, noise=noise)


def chunks(params: PPCAParams, block: Any):
    """Rows about the origin, what is observed (None for all), and weights. Missing values
    are zeros."""
    rows, _, weights = parts(block)
    k = params.loadings.shape[1]
    weights = np.ones(len(rows)) if weights is None else weights
    step = max(16, CHUNK // max(rows.shape[1], k * k))
    for start in range(0, len(rows), step):
        part = np.subtract(rows[start : start + step], params.origin, dtype=np.float64)
        weight = weights[start : start + step]
        mask = ~np.isnan(part)
        complete = mask.all(axis=1)
        if complete.any():
            yield part[complete], None, weight[complete]
        if not complete.all():
            yield np.nan_to_num(part[~complete], nan=0.0), mask[~complete], weight[~complete]


# --- The estimator ---


class ProbabilisticPCA(ProjectionEstimator):
    """Fit a linear map from few normal dimensions, plus noise; values may be missing.

    Parameters
    ----------
    n_components : int, number of dimensions
    max_iter : int
        Most iterations of EM. A ConvergenceWarning is issued if they were too few.
    tol : float, stop when an iteration raises the mean log-likelihood by less than this
    init : {"pca", "random"}
        Where EM starts: at the principal components of the rows with means for missing
        values, or anywhere.
    random_state : int, RandomState or None; seed of a random start
    engine, callbacks : as for ``KMeans``

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        Orthonormal directions, by falling variance, the largest entry of each positive.
    explained_variance_ : array of shape (n_components,)
        The variance of the model along each of them, noise included.
    noise_variance_ : float
    mean_ : array of shape (n_features,)
    lower_bounds_ : list of float, the mean log-likelihood of a row, by iteration
    n_missing_, n_iter_ : int
    converged_ : bool

    Examples
    --------
    >>> X = np.outer(np.arange(1.0, 7.0), [1.0, 2.0, 3.0])
    >>> X[1, 2] = X[4, 0] = np.nan
    >>> ProbabilisticPCA(1).fit(X).impute(X)[[1, 4]].round(2)
    array([[ 2.,  4.,  6.],
           [ 5., 10., 15.]])
    """

    contract: ClassVar[str] = "summable"
    _parameter_constraints: ClassVar[dict] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "init": [StrOptions({"pca", "random"})],
    }
    _file_schema: ClassVar[dict] = {
        "components_": ("n_components", "n_features_in_"),
        "explained_variance_": ("n_components",),
        "mean_": ("n_features_in_",),
    }
    _file_kinds: ClassVar[dict] = dict.fromkeys(_file_schema, "f")

    def __init__(
        self,
        n_components: int = 2,
        *,
        max_iter: int = 500,
        tol: float = 1e-4,
        init: str = "pca",
        random_state: Any = None,
        engine: str | Engine = "threads",
        callbacks: list | None = None,
    ) -> None:
        self.n_components, self.max_iter, self.tol = n_components, max_iter, tol
        self.init, self.random_state, self.engine = init, random_state, engine
        self.callbacks = callbacks

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Run EM. X is an array, a Table or a Dask array; NaN is a missing value."""
        self._validate_params()
        table = self._table(X, sample_weight, reset=True)
        engine = engine_for(self)
        start = self._start(table, engine)
        with self._fit_callbacks() as callbacks:
            fit = iterate(
                start, collect, update, table, engine, max_iter=self.max_iter,
                stop=lambda losses: len(losses) > 1 and losses[-2] - losses[-1] <= self.tol,
                callbacks=callbacks, name="ProbabilisticPCA",
            )  # fmt: skip
        self._store(fit.params)
        self.lower_bounds_ = [-float(loss) for loss in fit.losses]
        self.n_iter_, self.converged_ = len(fit.losses) - 1, bool(fit.converged)
        if not self.converged_ and not self.callbacks:
            warn_caller(
                f"ProbabilisticPCA(max_iter={self.max_iter}) stopped before the log-likelihood "
                f"settled within tol={self.tol:g}. Raise max_iter or tol.",
                ConvergenceWarning,
            )
        return self

    def transform(self, X: Any) -> np.ndarray:
        """The expected z of every row, given its observed values: (n, n_components)."""
        means = np.concatenate([mean for mean, _ in self._posteriors(X)])
        return check_answer(self, "transform", means)

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Rows in the columns of the data from z."""
        check_is_fitted(self)
        X = self._coordinates(X, len(self.components_), (np.float64,))
        return X @ self._loadings().T + self.mean_

    def impute(self, X: Any) -> np.ndarray:
        """The rows with the expectation of what is missing, given what is observed."""
        check_is_fitted(self)
        rows = self._table(X, None, reset=False).load()
        expected = self.inverse_transform(self.transform(X))
        return np.where(np.isnan(rows), expected, rows)

    def score_samples(self, X: Any) -> np.ndarray:
        """The log-likelihood of the observed values of every row."""
        evidence = np.concatenate([evidence for _, evidence in self._posteriors(X)])
        return check_answer(self, "score_samples", evidence)

    def score(self, X: Any, y: Any = None) -> float:
        """The mean log-likelihood of a row."""
        return float(self.score_samples(X).mean())

    def get_covariance(self) -> np.ndarray:
        """The covariance of the model: W W' plus the noise."""
        check_is_fitted(self)
        W = self._loadings()
        return W @ W.T + self.noise_variance_ * np.eye(len(W))

    def sample(self, n_samples: int = 1, random_state: Any = None) -> np.ndarray:
        """Draw rows from the model."""
        check_is_fitted(self)
        rng = check_random_state(random_state)
        z = rng.standard_normal((n_samples, len(self.components_)))
        noise = rng.standard_normal((n_samples, self.n_features_in_))
        return self.inverse_transform(z) + np.sqrt(self.noise_variance_) * noise

    # --- Parts ---

    def _table(self, X: Any, sample_weight: Any, *, reset: bool) -> Table:
        return check_table(self, X, sample_weight, reset=reset, sparse=False, finite=False)

    def _start(self, table: Table, engine: Engine) -> PPCAParams:
        n, d = table.shape
        k = self.n_components
        if not n:
            raise ValueError("ProbabilisticPCA found no rows in the table. Give it some.")
        if k >= d and not (k == d == 1):
            raise ValueError(
                f"ProbabilisticPCA(n_components={k}) must be less than the number of columns, "
                f"but the data has n_features={d}. Lower n_components."
            )
        columns = observed_columns(table, engine, "ProbabilisticPCA")
        origin, weight = columns.mean, columns.weight
        self.n_missing_ = columns.missing
        scale = float(columns.variance.mean()) or 1.0
        floor = FLOOR * scale
        complete = columns.missing == 0
        if self.init == "random" or min(n, d) <= k:
            seed = key(seed_from(self.random_state), 0)
            W = normals(seed, (d, k)) * np.sqrt(scale / (k + 1))
            noise = scale
        else:
            filled = table if complete else table.mapped(fill_block, origin)
            with warnings.catch_warnings(), raised_as(self, "PCA"):
                warnings.simplefilter("ignore", UserWarning)
                pca = PCA(k, random_state=0, engine=self.engine).fit(filled)
            ratio = (weight - 1) / weight if weight > 1 else 1.0
            residual = pca.total_variance_ - float(pca.explained_variance_.sum())
            noise = max(floor, ratio * max(residual, 0.0) / (d - k))
            along = np.maximum(ratio * pca.explained_variance_ - noise, 0.0)
            W = (pca.components_ * np.sqrt(along)[:, None]).T
        loadings = np.concatenate([W, np.zeros((d, 1))], axis=1)
        return PPCAParams(loadings, noise, origin, floor, complete)

    def _store(self, params: PPCAParams) -> None:
        W = params.loadings[:, :-1]
        left, sizes, _ = np.linalg.svd(W, full_matrices=False)
        self.components_ = np.ascontiguousarray(with_signs(left.T))
        self.noise_variance_ = float(params.noise)
        self.explained_variance_ = sizes**2 + params.noise
        self.mean_ = params.origin + params.loadings[:, -1]

    def _loadings(self) -> np.ndarray:
        along = np.maximum(self.explained_variance_ - self.noise_variance_, 0.0)
        return (self.components_ * np.sqrt(along)[:, None]).T

    def _posteriors(self, X: Any) -> Any:
        check_is_fitted(self)
        table = self._table(X, None, reset=False)
        W = self._loadings()
        loadings = np.concatenate([W, np.zeros((len(W), 1))], axis=1)
        params = PPCAParams(loadings, self.noise_variance_, self.mean_, 0.0, False)
        answers = engine_for(self).map(block_posterior, params, table)
        for block, answer in zip(table, answers, strict=True):
            if not all(np.isfinite(values).all() for values in answer):
                check_observed(block, table, "ProbabilisticPCA")
            yield answer

    def _after_load(self) -> None:
        if not self.noise_variance_ > 0:
            raise ValueError("the noise must have a variance.")
        if (self.explained_variance_ < 0).any():
            raise ValueError("variances must not be negative.")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan, tags.input_tags.sparse = True, False
        tags.transformer_tags.preserves_dtype = []
        return tags


def fill_block(block: Any, means: np.ndarray) -> Any:
    """A loaded block with means for missing values."""
    batch = parts(block)
    rows = np.where(np.isnan(batch.rows), means, batch.rows)
    return rows if batch.weights is None else batch._replace(rows=rows)


def block_posterior(params: PPCAParams, block: Any) -> tuple:
    """Of the rows of a block: where z is expected, and the log-likelihood."""
    rows = np.subtract(parts(block).rows, params.origin, dtype=np.float64)
    mask = ~np.isnan(rows)
    complete = mask.all(axis=1)
    n, k = len(rows), params.loadings.shape[1] - 1
    mean, evidence = np.empty((n, k)), np.empty(n)
    for index, observed in ((complete, None), (~complete, mask[~complete])):
        if index.any():
            part = rows[index]
            part = np.where(np.isnan(part), 0.0, part)
            with np.errstate(over="ignore", invalid="ignore"):
                mean[index], _, evidence[index] = posterior(params, part, observed)
    return mean, evidence
