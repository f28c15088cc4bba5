"""Affine maps of rows, and those that make them uncorrelated with variance one.

    u = A x + b    has mean A mean + b and covariance A covariance A'

exactly, whatever the rows. Whitening chooses A with A covariance A' = 1. There are many such A;
three are offered:

    pca        rotate to the principal components, then divide by their deviations
    zca        the same, and rotate back: the whitened rows nearest to the centered ones
    cholesky   A is lower triangular: each column is whitened against those before it

Directions without variance cannot have variance one: "pca" leaves them out, "zca" and
"cholesky" map them to 0.

Contract: summable, one pass for mean and covariance.

Kessy, Lewin and Strimmer (2018), Optimal whitening and decorrelation. The American Statistician
72. The notes' section on affine transformations, mean and covariance.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from tacit.core import moments as column_moments
from tacit.core.engines import Engine, one_blas_thread
from tacit.core.estimator import engine_for, with_callbacks
from tacit.core.moments import Moments, MomentsParams
from tacit.data.checked import check_answer, check_table
from tacit.data.table import parts
from tacit.decompose.low_rank import ProjectionEstimator
from tacit.decompose.truncated_svd import with_signs

__all__ = ["Affine", "Whitener"]

FLAT = 1e-12  # of the largest variance: below it a direction has none


@dataclass(frozen=True, eq=False)
class Affine:
    """The map x -> matrix x + offset, and what it does to means and covariances.

    >>> turn = Affine([[0.0, 1.0], [-1.0, 0.0]])
    >>> turn([[3.0, 4.0]])
    array([[ 4., -3.]])
    >>> turn.covariance([[9.0, 12.0], [12.0, 16.0]])
    array([[ 16., -12.],
           [-12.,   9.]])
    >>> shift = Affine(np.eye(2), [1.0, 0.0])
    >>> (shift @ turn)([[3.0, 4.0]])
    array([[ 5., -3.]])
    """

    matrix: Any  # (m, d)
    offset: Any = None  # (m,), zeros by default

    def __post_init__(self) -> None:
        matrix = np.atleast_2d(np.asarray(self.matrix, np.float64))
        offset = self.offset
        offset = np.zeros(len(matrix)) if offset is None else np.asarray(offset, np.float64)
        if matrix.ndim != 2 or offset.shape != (len(matrix),):
            raise ValueError(
                f"Affine needs a matrix and one offset for each of its rows, but got shapes "
                f"{matrix.shape} and {offset.shape}."
            )
        if not (np.isfinite(matrix).all() and np.isfinite(offset).all()):
            raise ValueError("Affine needs finite numbers in its matrix and offset.")
        object.__setattr__(self, "matrix", matrix)
        object.__setattr__(self, "offset", offset)

    def __call__(self, rows: Any) -> np.ndarray:
        """The images of rows: (n, m)."""
        return np.asarray(rows @ self.matrix.T) + self.offset

    def __matmul__(self, first: "Affine") -> "Affine":
        """The map that applies ``first``, then this one."""
        return Affine(self.matrix @ first.matrix, self.matrix @ first.offset + self.offset)

    def mean(self, mean: Any) -> np.ndarray:
        """The mean of the images of rows with this mean."""
        return self.matrix @ np.asarray(mean, np.float64) + self.offset

    def covariance(self, covariance: Any) -> np.ndarray:
        """The covariance of the images of rows with this covariance."""
        image = self.matrix @ np.atleast_2d(np.asarray(covariance, float)) @ self.matrix.T
        return (image + image.T) / 2

    def moments(self, moments: Moments) -> Moments:
        """The moments of the images of rows with these moments."""
        return Moments(
            moments.weight, self.mean(moments.mean), self.covariance(moments.scatter)
        )

    def inverse(self) -> "Affine":
        """The map back; ValueError where there is none."""
        m, d = self.matrix.shape
        sizes = np.linalg.svd(self.matrix, compute_uv=False)
        if m != d or not sizes[-1] > d * np.finfo(float).eps * sizes[0]:
            raise ValueError(
                f"This affine map from {d} to {m} dimensions has no inverse: it needs a square "
                "matrix of full rank."
            )
        back = np.linalg.inv(self.matrix)
        return Affine(back, -back @ self.offset)


# --- Three whitening matrices, and the way back ---


def whiten_pca(covariance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(r, d) rows with variance one and (d, r) back, for the r directions with variance."""
    values, rows = falling_eigenpairs(covariance)
    if not len(values):
        return np.zeros((1, len(covariance))), np.zeros((len(covariance), 1))
    roots = np.sqrt(values)
    return rows / roots[:, None], rows.T * roots


def whiten_zca(covariance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The symmetric square root of the inverse, and that of the covariance."""
    values, rows = falling_eigenpairs(covariance)
    roots = np.sqrt(values)
    return (rows.T / roots) @ rows, (rows.T * roots) @ rows


def whiten_cholesky(covariance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The inverse of the Cholesky factor, and the factor; a column that depends on those
    before it gets a row of zeros."""
    d = len(covariance)
    variances = covariance.diagonal()
    lower, back = np.zeros((d, d)), np.zeros((d, d))
    for j in range(d):
        pivot = variances[j] - lower[j, :j] @ lower[j, :j]
        if pivot > FLAT * variances[j]:
            lower[j:, j] = (covariance[j:, j] - lower[j:, :j] @ lower[j, :j]) / np.sqrt(pivot)
            back[j, j] = 1.0
            back[j] -= lower[j, :j] @ back[:j]
            back[j] /= lower[j, j]
    return back, lower


METHODS = {"pca": whiten_pca, "zca": whiten_zca, "cholesky": whiten_cholesky}


def falling_eigenpairs(covariance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Variances, falling, and their directions as rows; those without variance left out."""
    values, vectors = np.linalg.eigh(covariance)
    keep = values > FLAT * max(float(values[-1]), 0.0)
    return values[keep][::-1], with_signs(vectors[:, keep].T[::-1])


# --- The estimator ---


class Whitener(ProjectionEstimator):
    """Map rows to uncorrelated columns with mean zero and variance one.

    Parameters
    ----------
    method : {"pca", "zca", "cholesky"}; which of the whitening maps; see above
    engine, callbacks : as for ``KMeans``

    Attributes
    ----------
    mean_ : array of shape (n_features,)
    whitening_ : array of shape (m, n_features), what centered rows are multiplied by
    coloring_ : array of shape (n_features, m), the way back
    rank_ : int, directions with variance; m is as many for "pca"

    Examples
    --------
    >>> X = np.array([[1.0, 2.0], [3.0, 1.0], [2.0, 6.0], [6.0, 3.0]])
    >>> whitener = Whitener("zca").fit(X)
    >>> np.cov(whitener.transform(X).T).round(6)
    array([[ 1., -0.],
           [-0.,  1.]])
    >>> whitener.affine.covariance(np.cov(X.T)).round(6)
    array([[ 1., -0.],
           [-0.,  1.]])
    """

    contract: ClassVar[str] = "summable"
    _parameter_constraints: ClassVar[dict] = {"method": [StrOptions(set(METHODS))]}
    _file_schema: ClassVar[dict] = {
        "mean_": ("n_features_in_",),
        "whitening_": ("n_out", "n_features_in_"),
        "coloring_": ("n_features_in_", "n_out"),
    }
    _file_kinds: ClassVar[dict] = dict.fromkeys(_file_schema, "f")

    def __init__(
        self,
        method: str = "pca",
        *,
        engine: str | Engine = "threads",
        callbacks: list | None = None,
    ) -> None:
        self.method, self.engine, self.callbacks = method, engine, callbacks

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Estimate mean and covariance. X is an array, a CSR matrix, a Table or a Dask
        array."""
        self._validate_params()
        table = check_table(self, X, sample_weight, reset=True, finite=True)
        stats: Moments = engine_for(self).reduce(
            column_moments.collect, MomentsParams(full=True), table
        )
        covariance = stats.scatter / max(stats.weight - 1, 1.0)
        with one_blas_thread():
            self.whitening_, self.coloring_ = METHODS[self.method](covariance)
            self.rank_ = len(falling_eigenpairs(covariance)[0])
        self.mean_ = stats.mean
        return self

    def transform(self, X: Any) -> np.ndarray:
        """The whitened rows."""
        check_is_fitted(self)
        table = check_table(self, X, reset=False, finite=True)
        params = (self.whitening_, self.mean_)
        whitened = np.concatenate(list(engine_for(self).map(whiten_block, params, table)))
        return check_answer(self, "transform", whitened)

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Rows in the columns of the data from whitened ones."""
        check_is_fitted(self)
        X = self._coordinates(X, len(self.whitening_), (np.float64,))
        return X @ self.coloring_.T + self.mean_

    @property
    def affine(self) -> Affine:
        """The map as a matrix and an offset."""
        check_is_fitted(self)
        return Affine(self.whitening_, -self.whitening_ @ self.mean_)

    def _after_load(self) -> None:
        if not 0 <= self.rank_ <= self.n_features_in_:
            raise ValueError("rank_ must be between 0 and the number of columns.")
        if self.method != "pca" and len(self.whitening_) != self.n_features_in_:
            raise ValueError("whitening_ must be square.")

    @property
    def _n_features_out(self) -> int:
        return len(self.whitening_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags


def whiten_block(params: tuple, block: Any) -> np.ndarray:
    """Centered rows times the whitening matrix; sparse rows are centered afterwards."""
    whitening, mean = params
    rows = parts(block).rows
    if hasattr(rows, "toarray"):
        return np.asarray(rows @ whitening.T) - whitening @ mean
    return np.subtract(rows, mean, dtype=np.float64) @ whitening.T
