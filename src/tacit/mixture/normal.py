"""The multivariate normal distribution.

    collect   weight, mean and scatter of the rows (``core.moments``): one pass
    update    the most likely mean and covariance are those of the rows

A covariance without full rank has no density in the whole space. Its flat directions, in which
the rows do not vary, are projected off: the density is that of the normal in the subspace where
the rows lie, ``rank_`` and ``flat_directions_`` report it, and a row outside the subspace has
density zero.

The notes' section on the multivariate normal. Mardia, Kent and Bibby (1979), Multivariate
Analysis, chapter 3. Rao (1973), Linear Statistical Inference, 8a: singular normals.
"""

from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.base import DensityMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array, check_is_fitted

from tacit.core import moments
from tacit.core.engines import Engine
from tacit.core.estimator import Estimator, engine_for, with_callbacks
from tacit.core.moments import Moments, MomentsParams
from tacit.core.warn import warn_caller
from tacit.data.checked import check_table
from tacit.data.table import parts

__all__ = ["MultivariateNormal", "Subspace", "split_covariance"]

LOG_2PI = float(np.log(2 * np.pi))
FLAT = 1e-12  # of the largest variance: below it a direction is flat
OUTSIDE = 1e-6  # of the largest deviation: farther off the subspace a row has density zero


class Subspace(NamedTuple):
    """Where a normal has density."""

    mean: np.ndarray  # (d,)
    whiten: np.ndarray  # (d, r): (x - mean) @ whiten has covariance 1
    flat: np.ndarray  # (d - r, d) orthonormal directions without variance
    log_constant: float  # log density at the mean
    tolerance: float  # distance along flat directions that rounding explains


def split_covariance(mean: np.ndarray, covariance: np.ndarray) -> Subspace:
    """The directions in which a covariance varies, and those in which it does not."""
    values, vectors = np.linalg.eigh(covariance)
    largest = max(float(values[-1]), 0.0)
    varies = values > FLAT * largest if largest > 0 else np.zeros(len(values), bool)
    variances = values[varies]
    constant = -0.5 * (varies.sum() * LOG_2PI + np.log(variances).sum())
    scale = np.sqrt(largest) + np.abs(mean).max(initial=0.0)
    return Subspace(
        mean, vectors[:, varies] / np.sqrt(variances), vectors[:, ~varies].T, float(constant),
        OUTSIDE * scale + np.finfo(float).tiny,
    )  # fmt: skip


def log_density(space: Subspace, block: Any) -> np.ndarray:
    """The log density of every row of a block; -inf off the subspace."""
    centered = np.asarray(parts(block).rows, np.float64) - space.mean
    squares = ((centered @ space.whiten) ** 2).sum(axis=1)
    result = space.log_constant - 0.5 * squares
    if len(space.flat):
        result[np.abs(centered @ space.flat.T).max(axis=1) > space.tolerance] = -np.inf
    return result


class MultivariateNormal(DensityMixin, Estimator):
    """Fit a normal distribution to rows, or build one, and compute with it.

    Parameters
    ----------
    ddof : int
        Divide the scatter by the number of rows less this: 0 is maximum likelihood, 1 is
        unbiased.
    engine, callbacks : as for ``KMeans``

    Attributes
    ----------
    mean_ : array of shape (n_features,)
    covariance_ : array of shape (n_features, n_features)
    rank_ : int, directions in which the rows vary
    flat_directions_ : array of shape (n_features - rank_, n_features), the others

    Examples
    --------
    >>> normal = MultivariateNormal.from_parameters([0.0, 1.0], [[4.0, 1.0], [1.0, 2.0]])
    >>> normal.score_samples([[0.0, 1.0]]).round(4)
    array([-2.8108])
    >>> moved = normal.affine([[1.0, 1.0]], [10.0])
    >>> moved.mean_, moved.covariance_
    (array([11.]), array([[8.]]))
    >>> normal.conditional([1], [3.0]).mean_
    array([1.])
    """

    _file_schema: ClassVar[dict] = {
        "mean_": ("n_features_in_",),
        "covariance_": ("n_features_in_", "n_features_in_"),
        "flat_directions_": (None, "n_features_in_"),
    }
    _parameter_constraints: ClassVar[dict] = {"ddof": [int]}

    def __init__(
        self, *, ddof: int = 0, engine: str | Engine = "threads", callbacks: list | None = None
    ) -> None:
        self.ddof, self.engine, self.callbacks = ddof, engine, callbacks

    @classmethod
    def from_parameters(cls, mean: Any, covariance: Any) -> "MultivariateNormal":
        """The normal with this mean and covariance."""
        normal = cls()
        mean = check_array(mean, ensure_2d=False, dtype=np.float64).ravel()
        covariance = np.atleast_2d(check_array(covariance, ensure_2d=False, dtype=np.float64))
        if covariance.shape != (len(mean), len(mean)):
            raise ValueError(
                f"MultivariateNormal: a mean of {len(mean)} values needs a covariance of shape "
                f"({len(mean)}, {len(mean)}), not {covariance.shape}."
            )
        scale = np.abs(covariance).max(initial=0.0)
        if np.abs(covariance - covariance.T).max(initial=0.0) > 1e-10 * scale:
            raise ValueError("MultivariateNormal: the covariance is not symmetric.")
        covariance = (covariance + covariance.T) / 2
        lowest = float(np.linalg.eigvalsh(covariance)[0]) if len(mean) else 0.0
        if lowest < -1e-10 * scale:
            raise ValueError(
                f"MultivariateNormal: the covariance has the eigenvalue {lowest:.3g}, but none "
                "may be negative."
            )
        normal.n_features_in_ = len(mean)
        normal._set(mean, covariance)
        return normal

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Estimate mean and covariance. X is an array, a Table or a Dask array."""
        self._validate_params()
        table = check_table(self, X, sample_weight, reset=True, sparse=False, finite=True)
        stats: Moments = engine_for(self).reduce(moments.collect, MomentsParams(), table)
        if stats.weight <= self.ddof:
            raise ValueError(
                f"MultivariateNormal(ddof={self.ddof}) needs rows of more weight than that, "
                f"but the data has {stats.weight:g}."
            )
        self._set(stats.mean, stats.scatter / (stats.weight - self.ddof))
        if self.rank_ < self.n_features_in_:
            warn_caller(
                f"MultivariateNormal: the rows vary in {self.rank_} of {self.n_features_in_} "
                "directions. The others are projected off; see flat_directions_.",
            )
        return self

    def score_samples(self, X: Any) -> np.ndarray:
        """The log density of every row; in a flat direction, -inf off the subspace."""
        check_is_fitted(self)
        table = check_table(self, X, reset=False, sparse=False, finite=True)
        space = split_covariance(self.mean_, self.covariance_)
        return np.concatenate(list(engine_for(self).map(log_density, space, table)))

    def score(self, X: Any, y: Any = None) -> float:
        """The mean log density of the rows."""
        return float(self.score_samples(X).mean())

    def sample(self, n_samples: int = 1, random_state: Any = None) -> np.ndarray:
        """Draw rows: standard normals, mapped to the mean and covariance."""
        check_is_fitted(self)
        values, vectors = np.linalg.eigh(self.covariance_)
        spread = vectors * np.sqrt(np.maximum(values, 0.0))
        rng = check_random_state(random_state)
        draws = rng.standard_normal((n_samples, self.n_features_in_))
        return draws @ spread.T + self.mean_

    def affine(self, A: Any, b: Any = None) -> "MultivariateNormal":
        """The distribution of A x + b: mean A mean + b, covariance A covariance A'."""
        check_is_fitted(self)
        A = np.atleast_2d(np.asarray(A, np.float64))
        if A.shape[1] != self.n_features_in_:
            raise ValueError(
                f"affine needs a matrix of {self.n_features_in_} columns, but A has "
                f"{A.shape[1]}."
            )
        offset = np.zeros(len(A)) if b is None else np.asarray(b, np.float64).ravel()
        if len(offset) != len(A):
            raise ValueError(f"affine maps to {len(A)} values, but b has {len(offset)}.")
        return type(self).from_parameters(A @ self.mean_ + offset, A @ self.covariance_ @ A.T)

    def marginal(self, columns: Any) -> "MultivariateNormal":
        """The distribution of some of the columns."""
        index = self._columns(columns)
        return type(self).from_parameters(
            self.mean_[index], self.covariance_[np.ix_(index, index)]
        )

    def conditional(self, columns: Any, values: Any) -> "MultivariateNormal":
        """The distribution of the other columns, where ``columns`` have these values."""
        known = self._columns(columns)
        values = np.asarray(values, np.float64).ravel()
        if len(values) != len(known):
            raise ValueError(
                f"conditional needs a value for each of {len(known)} columns, not "
                f"{len(values)}."
            )
        other = np.setdiff1d(np.arange(self.n_features_in_), known)
        if not len(other):
            raise ValueError(
                f"conditional was given all {len(known)} columns, so none is left. Leave out "
                "those whose distribution you want."
            )
        cov = self.covariance_
        gain = cov[np.ix_(other, known)] @ np.linalg.pinv(
            cov[np.ix_(known, known)], rcond=FLAT, hermitian=True
        )
        mean = self.mean_[other] + gain @ (values - self.mean_[known])
        residual = cov[np.ix_(other, other)] - gain @ cov[np.ix_(known, other)]
        values_, vectors = np.linalg.eigh((residual + residual.T) / 2)
        residual = (vectors * np.maximum(values_, 0.0)) @ vectors.T
        return type(self).from_parameters(mean, residual)

    # --- Parts ---

    def _set(self, mean: np.ndarray, covariance: np.ndarray) -> None:
        self.mean_, self.covariance_ = mean, covariance
        self.flat_directions_ = split_covariance(mean, covariance).flat
        self.rank_ = len(mean) - len(self.flat_directions_)

    def _columns(self, columns: Any) -> np.ndarray:
        check_is_fitted(self)
        index = np.atleast_1d(np.asarray(columns, np.int64))
        d = self.n_features_in_
        inside = len(index) > 0 and index.min() >= 0 and index.max() < d
        if not inside or len(set(index.tolist())) < len(index):
            raise ValueError(
                f"Columns must be different numbers from 0 to {d - 1}, not {index.tolist()}."
            )
        return index

    def _after_load(self) -> None:
        if self.rank_ != self.n_features_in_ - len(self.flat_directions_):
            raise ValueError("rank_ does not match flat_directions_.")
