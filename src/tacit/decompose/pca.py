"""Principal components: the directions in which centered rows vary most.

Three ways to the same components:

    covariance_eigh   one pass for the moments, then the eigenvectors of the covariance: for few
                      columns, and any number of rows
    full              singular values of the centered rows themselves: a second pass reduces
                      blocks to triangular factors (TSQR); keeps variances that are 1e-16 of the
                      largest, which a covariance rounds away
    krylov            block Lanczos on the centered rows (``krylov``): for many columns, dense
                      or sparse, in some ten passes; rows are not densified

Contract: summable. Signs are fixed: the largest entry of each component is positive.

Pearson (1901), On lines and planes of closest fit. Hotelling (1933), Analysis of a complex of
statistical variables into principal components. Demmel, Grigori, Hoemmen and Langou (2012),
Communication-optimal parallel and sequential QR and LU. SIAM J. Sci. Comput. 34. The notes'
sections on principal components and on dimensionality reduction.
"""

import math
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh, svd
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions
from sklearn.utils.validation import check_is_fitted

from tacit.core import moments as column_moments
from tacit.core.engines import Engine, check_stop, one_blas_thread, ready
from tacit.core.estimator import engine_for, with_callbacks
from tacit.core.memory import gigabytes
from tacit.core.moments import Moments, MomentsParams
from tacit.core.randoms import seed_from
from tacit.core.stats import Stats
from tacit.core.warn import warn_caller
from tacit.data.checked import check_answer, check_results, check_rows, check_table
from tacit.data.table import Table, is_sparse, parts
from tacit.decompose.krylov import block_width, most_vectors, squared_length
from tacit.decompose.low_rank import ProjectionEstimator, knee_of, rank_errors
from tacit.decompose.truncated_svd import check_total, measure, naming_rows, search, with_signs

__all__ = ["PCA"]

NARROW = 1000  # columns up to which the covariance is the fastest way
WIDEST = 8192  # columns up to which a covariance is computed at all: 512 MB
LONG = 2**33  # products past which float32 rows are multiplied in float32: benchmarks.pca
FEW_ROWS = 2048  # rows that a decomposition of all of them at once is fast for
FACTOR_ROWS = 4096  # rows to a triangular factor
LANCZOS = ("krylov", "randomized", "arpack")  # the last two are scikit-learn's names


class Spectrum(NamedTuple):
    """Components in the order of their variance."""

    rows: np.ndarray  # (k, d) orthonormal
    squares: np.ndarray  # (k,) sums of squares along them: eigenvalues of the scatter
    moments: Moments  # of the columns
    passes: int
    converged: bool = True


# --- Three solvers ---


def by_covariance(table: Table, engine: Engine) -> Spectrum:
    """The eigenvectors of the scatter, from one pass."""
    n, d = table.shape
    params = MomentsParams(full=True, single=n * d * d >= LONG)
    moments: Moments = engine.reduce(column_moments.collect, params, table)
    columns = Moments(moments.weight, moments.mean, moments.variance_sum)
    check_range(columns, table)
    with one_blas_thread():
        values, vectors = eigh(moments.scatter)
    return Spectrum(np.ascontiguousarray(vectors[:, ::-1].T), values[::-1], columns, 1)


@dataclass(frozen=True)
class Factor(Stats):
    """The triangular factor R of centered rows: R'R is their scatter."""

    triangle: np.ndarray  # (d, d), upper; no negative number on the diagonal

    def __add__(self, other: "Factor") -> "Factor":
        return Factor(triangle_of(np.concatenate([self.triangle, other.triangle])))

    def __rmul__(self, scale: float) -> "Factor":
        return Factor(np.sqrt(scale) * self.triangle)


def collect_factor(center: np.ndarray, block: Any) -> Factor:
    """The triangular factor of a block of rows less the center."""
    rows, _, weights = parts(block)
    d = rows.shape[1]
    triangle = np.zeros((d, d))
    for i in range(0, rows.shape[0], FACTOR_ROWS):
        check_stop()
        part = slice(i, i + FACTOR_ROWS)
        weight = None if weights is None else weights[part]
        triangle = triangle_of(np.concatenate([triangle, centered(rows[part], weight, center)]))
    return Factor(triangle)


def triangle_of(rows: np.ndarray) -> np.ndarray:
    """R of a QR decomposition of at least d rows, with a diagonal of one sign."""
    triangle: Any = np.linalg.qr(rows, mode="r")
    signs = np.where(triangle.diagonal() < 0, -1.0, 1.0)
    return signs[:, None] * triangle


def by_svd(table: Table, engine: Engine) -> Spectrum:
    """Singular vectors of the centered rows; of their triangular factor where they are many."""
    columns = engine.reduce(column_moments.collect, MomentsParams(full=False), table)
    check_range(columns, table)
    n, d = table.shape
    if n >= d:
        rows = engine.reduce(collect_factor, columns.mean, table).triangle
    else:
        blocks = (parts(block.load()) for block in table)
        rows = np.concatenate([centered(rows, w, columns.mean) for rows, _, w in blocks])
    with one_blas_thread():
        _, values, vectors = svd(rows, full_matrices=False)
    return Spectrum(vectors, values**2, columns, 2)


def centered(rows: Any, weights: np.ndarray | None, center: np.ndarray) -> np.ndarray:
    """Rows less the center, times the roots of their weights."""
    rows = np.subtract(rows, center, dtype=np.float64)
    return rows if weights is None else rows * np.sqrt(weights)[:, None]


def by_lanczos(
    table: Table, engine: Engine, k: int, *, tol: float, passes: int, seed: Any, callbacks: list
) -> Spectrum:
    """The leading components by block Lanczos; the mean is taken off inside the products."""
    columns = engine.reduce(column_moments.collect, MomentsParams(full=False), table)
    check_range(columns, table)
    solution = search(
        table, engine, n_components=k, width=block_width(k), passes=passes, tol=tol,
        seed=seed, callbacks=callbacks, center=columns.mean, name="PCA",
    )  # fmt: skip
    values, rows, _, _ = measure(solution, table, engine, center=columns.mean)
    converged = solution.residual <= tol
    return Spectrum(rows, values**2, columns, solution.passes + 2, converged)


def check_range(columns: Moments, table: Table) -> None:
    """ValueError if the variance is out of the range of float64. None at all is no error."""
    variance = float(columns.variance_sum.sum())
    check_total(variance if variance > 0 else squared_length(columns), table, "PCA")


def choose_solver(shape: tuple[int, int], k: int | None, sparse: bool) -> str:
    """The fastest solver, by the shape alone; ``k`` is None where all variances are needed."""
    n, d = shape
    if d <= NARROW:
        return "covariance_eigh"
    if n < d and n <= FEW_ROWS and not sparse:
        return "full"
    if k is not None and (5 * k <= min(n, d) or d > WIDEST):
        return "krylov"
    return "covariance_eigh"


# --- The number of components ---


def choose_number(wanted: Any, variances: np.ndarray, rows: int) -> int:
    """How many components: all, a number, a fraction of the variance, to the knee, or the most
    probable number."""
    if wanted is None:
        return len(variances)
    if isinstance(wanted, Integral):
        return int(wanted)
    if wanted == "mle":
        return most_probable_rank(variances / max(1, rows - 1), rows)
    total = variances.sum()
    left = np.concatenate([[total], total - np.cumsum(variances)])  # at ranks 0, 1, 2, ...
    if wanted == "knee":
        knee = knee_of(left, np.arange(len(left))) if total > 0 else None
        return min(len(variances), max(1, 1 if knee is None else knee))
    enough = left <= (1 - wanted) * total * (1 + 1e-12)
    return max(1, min(len(variances), int(np.argmax(enough)) if enough.any() else len(left)))


def most_probable_rank(variances: np.ndarray, n: int) -> int:
    """The number of components with the highest evidence, by Laplace's approximation.

    Minka (2000), Automatic choice of dimensionality for PCA. NIPS, equations 77 to 80.
    """
    d = len(variances)
    known = int((variances > 1e-15 * variances[:1].sum()).sum())
    evidence = np.full(d, -np.inf)
    for k in range(1, min(known + 1, d)):
        noise = max(float(variances[k:].mean()), 1e-300)
        areas = [math.lgamma((d - i) / 2) - (d - i) / 2 * math.log(math.pi) for i in range(k)]
        volume = sum(areas) - k * math.log(2)
        used = variances[:k]
        fit = -n / 2 * (np.log(used).sum() + (d - k) * math.log(noise))
        free = d * k - k * (k + 1) / 2
        both = np.concatenate([used, np.full(d - k, noise)])
        i, j = np.triu_indices(d, 1)
        i, j = i[i < k], j[i < k]
        gaps = (variances[i] - variances[j]) * (1 / both[j] - 1 / both[i])
        curvature = np.log(np.maximum(gaps, 1e-300)).sum() + len(i) * math.log(n)
        spread = (free + k) / 2 * math.log(2 * math.pi) - k / 2 * math.log(n)
        evidence[k] = volume + fit + spread - curvature / 2
    return max(1, int(np.argmax(evidence))) if known > 1 else 1


# --- The estimator ---


class PCA(ProjectionEstimator):
    """Reduce rows to the directions in which they vary most.

    Takes dense and sparse rows, in memory or on disk, without densifying. Sums are float64
    whatever the rows are; only very many float32 rows are multiplied in float32, 1024 at once,
    which costs 1e-8 of the largest variance. Weights count: a row of weight two is two rows.

    Parameters
    ----------
    n_components : int, float, "knee", "mle" or None
        Number of components; or, as a fraction below 1, as few as explain that fraction of
        the variance; or as many as lie before the knee of the error against rank; or the most
        probable number by Minka's method; None for all.
    whiten : bool
        Divide the coordinates by their standard deviations, so that each has variance one.
        Directions without variance give 0.
    svd_solver : {"auto", "covariance_eigh", "full", "krylov"}
        How to compute; "auto" decides by the shape. scikit-learn's "randomized" and "arpack"
        mean "krylov", which takes the covariance where there are few columns.
    tol : float
        Of "krylov": stop when the residuals, relative to their singular values, fall to this
        root mean square. Variances are then exact to about its square.
    max_iter : int, of "krylov": maximum number of passes
    copy, iterated_power, n_oversamples, power_iteration_normalizer
        No effect: rows are never changed, and "krylov" runs until ``tol`` is met.
    random_state : int, RandomState or None; of "krylov": seed of the first vectors
    engine, callbacks : as for ``KMeans``

    Attributes
    ----------
    components_ : array of shape (n_components_, n_features)
        Orthonormal, by falling variance, the largest entry of each positive.
    explained_variance_, explained_variance_ratio_ : arrays of shape (n_components_,)
        The variance along each component, over n - 1, and its fraction of all variance;
        exactly 0 past the rank of the data.
    singular_values_ : array of shape (n_components_,), of the centered rows
    eigenvalues_ : array
        All variances that the solver knows, for a scree plot: those of "krylov" end with the
        components.
    total_variance_ : float, the sum of the variances of all columns
    noise_variance_ : float
        The mean variance of the directions left out: the noise of probabilistic PCA.
    mean_ : array of shape (n_features,)
    n_components_, n_samples_, n_features_in_, n_iter_ : int
    solver_ : str, the solver that was used
    converged_ : bool, False if "krylov" ran out of passes

    Examples
    --------
    Three points on a line: one direction says it all, three fifths and four fifths.

    >>> X = np.array([[-3.0, -4.0], [0.0, 0.0], [3.0, 4.0]])
    >>> pca = PCA(n_components=0.99).fit(X)
    >>> pca.components_
    array([[0.6, 0.8]])
    >>> pca.transform(X).ravel()
    array([-5.,  0.,  5.])
    >>> pca.explained_variance_ratio_
    array([1.])
    """

    contract: ClassVar[str] = "summable"
    _parameter_constraints: ClassVar[dict] = {
        "n_components": [
            None,
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="neither"),
            StrOptions({"knee", "mle"}),
        ],
        "whiten": ["boolean"],
        "svd_solver": [StrOptions({"auto", "covariance_eigh", "full", *LANCZOS})],
        "tol": [Interval(Real, 0, 1, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "copy": ["boolean"],
        "iterated_power": [StrOptions({"auto"}), Interval(Integral, 0, None, closed="left")],
        "n_oversamples": [Interval(Integral, 1, None, closed="left")],
        "power_iteration_normalizer": [StrOptions({"auto", "QR", "LU", "none"})],
    }
    _no_effect: ClassVar[dict] = {
        "copy": "rows are never changed",
        **dict.fromkeys(
            ("iterated_power", "n_oversamples", "power_iteration_normalizer"),
            "tol decides when the solver krylov stops",
        ),
    }
    _file_schema: ClassVar[dict] = {
        "components_": ("n_components_", "n_features_in_"),
        "explained_variance_": ("n_components_",),
        "explained_variance_ratio_": ("n_components_",),
        "singular_values_": ("n_components_",),
        "eigenvalues_": (None,),
        "mean_": ("n_features_in_",),
    }
    _file_kinds: ClassVar[dict] = dict.fromkeys(_file_schema, "f")
    _file_types: ClassVar[dict] = {"noise_variance_": float}

    def __init__(
        self,
        n_components: int | float | str | None = None,
        *,
        whiten: bool = False,
        svd_solver: str = "auto",
        tol: float = 0.001,
        max_iter: int = 100,
        copy: bool = True,
        iterated_power: int | str = "auto",
        n_oversamples: int = 10,
        power_iteration_normalizer: str = "auto",
        random_state: Any = None,
        engine: str | Engine = "threads",
        callbacks: list | None = None,
    ) -> None:
        self.n_components, self.whiten, self.svd_solver = n_components, whiten, svd_solver
        self.tol, self.max_iter = tol, max_iter
        self.copy, self.iterated_power, self.n_oversamples = copy, iterated_power, n_oversamples
        self.power_iteration_normalizer = power_iteration_normalizer
        self.random_state, self.engine, self.callbacks = random_state, engine, callbacks

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Compute the components. X is an array, a CSR matrix, a Table or a Dask array."""
        self._validate_params()
        sparse = self.svd_solver != "full"
        table = check_table(self, X, sample_weight, reset=True, sparse=sparse)
        self._check_number(*table.shape)
        with (
            ready(engine_for(self)) as engine,
            self._fit_callbacks() as callbacks,
            naming_rows(table, "PCA"),
        ):
            spectrum = self._solve(table, engine, callbacks)
        self._store(spectrum, table)
        check_results(self)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """The coordinates of rows along the components: (n, n_components_)."""
        check_is_fitted(self)
        vectors = self.components_ * self._scales()[:, None]
        return self._project(X, vectors, as_float64(self.mean_))

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Rows in the columns of the data from coordinates: the data, smoothed."""
        check_is_fitted(self)
        X = self._coordinates(X, self.n_components_)
        if self.whiten:
            X = X * np.sqrt(self.explained_variance_)
        return X @ self.components_ + self.mean_

    def reconstruction_errors(
        self, X: Any = None, *, relative: bool = False, sample_weight: Any = None
    ) -> np.ndarray:
        """The error at ranks 0, 1, ..., n_components_: what the first components leave.

        Parameters
        ----------
        X : rows, optional
            Whose error: the mean squared distance between a row and its reconstruction. Those
            of the fit otherwise, from its variances.
        relative : bool
            Divide by the squared distance of each row from the mean; without X, by the total
            variance.
        sample_weight : array of n, optional
        """
        check_is_fitted(self)
        if X is None:
            explained = as_float64(self.explained_variance_)
            left = self.total_variance_ - np.concatenate([[0.0], np.cumsum(explained)])
            left = np.maximum(left, 0.0)
            if relative:
                return left / self.total_variance_ if self.total_variance_ > 0 else left
            return left * (self._weight - 1) / self._weight if self._weight > 1 else left
        table = check_table(self, X, sample_weight, reset=False, finite=True)
        errors = rank_errors(
            as_float64(self.components_), table, engine_for(self),
            center=as_float64(self.mean_), relative=relative,
        )  # fmt: skip
        return check_answer(self, "reconstruction_errors", errors)

    # --- The normal distribution that the components describe ---

    def get_covariance(self) -> np.ndarray:
        """The covariance of the columns: the components' and the same noise in every other
        direction (probabilistic PCA)."""
        check_is_fitted(self)
        signal = np.maximum(self.explained_variance_ - self.noise_variance_, 0.0)
        covariance = (self.components_.T * signal) @ self.components_
        covariance.flat[:: len(covariance) + 1] += self.noise_variance_
        return covariance

    def get_precision(self) -> np.ndarray:
        """The inverse of ``get_covariance()``."""
        return np.linalg.inv(self.get_covariance())

    def score_samples(self, X: Any) -> np.ndarray:
        """The log-likelihood of every row."""
        check_is_fitted(self)
        rows = check_rows(self, X, reset=False, finite=True)
        rows = np.asarray(rows.toarray() if sp.issparse(rows) else rows, np.float64)
        precision, rows = as_float64(self.get_precision()), rows - self.mean_
        constant = rows.shape[1] * math.log(2 * math.pi) - np.linalg.slogdet(precision)[1]
        with np.errstate(over="ignore", invalid="ignore"):
            evidence = -0.5 * (np.einsum("nd,nd->n", rows @ precision, rows) + constant)
        return check_answer(self, "score_samples", evidence)

    def score(self, X: Any, y: Any = None) -> float:
        """The mean log-likelihood of a row."""
        return float(self.score_samples(X).mean())

    # --- Parts ---

    def _check_number(self, n: int, d: int) -> None:
        if not n:
            raise ValueError("PCA found no rows in the table. Give it some.")
        k = self.n_components
        if isinstance(k, str) and k == "mle" and n < d:
            raise ValueError(
                "PCA: n_components='mle' is only supported if n_samples >= n_features, but "
                f"the data has n_samples={n} and n_features={d}. Give a number or a fraction."
            )
        if isinstance(k, Integral) and k > min(n, d):
            raise ValueError(
                f"PCA(n_components={k}) must be at most the number of rows and of columns, but "
                f"the data has n_samples={n} and n_features={d}. Lower n_components."
            )

    def _solve(self, table: Table, engine: Engine, callbacks: list) -> Spectrum:
        (n, d), sparse = table.shape, is_sparse(table)
        k = int(self.n_components) if isinstance(self.n_components, Integral) else None
        solver = self.svd_solver
        if solver == "auto":
            solver = choose_solver((n, d), k, sparse)
        if solver in LANCZOS and self.n_components is None:
            solver = "covariance_eigh"  # all components, whatever the solver is called
        if solver in LANCZOS and k is None:
            raise ValueError(
                f"PCA(n_components={self.n_components!r}) with the solver krylov needs a "
                "number of components. Give one."
            )
        if solver in LANCZOS:  # no space to search where there are few columns
            solver = "krylov" if k and d > most_vectors(k) else "covariance_eigh"
        self.solver_ = solver
        if solver == "krylov":
            assert k is not None
            return by_lanczos(
                table, engine, k, tol=self.tol, passes=self.max_iter,
                seed=seed_from(self.random_state), callbacks=callbacks,
            )  # fmt: skip
        if solver == "full":
            return by_svd(table, engine)
        if d > WIDEST:
            raise ValueError(
                f"PCA(n_components={self.n_components!r}) of {d:,} columns needs their "
                f"covariance, which takes {gigabytes(8 * d * d)}. Give n_components as a "
                f"number of at most {min(n, d) // 5:,}."
            )
        return by_covariance(table, engine)

    def _store(self, spectrum: Spectrum, table: Table) -> None:
        n, d = table.shape
        weight, mean = spectrum.moments.weight, spectrum.moments.mean
        total = float(spectrum.moments.variance_sum.sum())
        squares = np.maximum(spectrum.squares[: min(n, d)], 0.0)
        # Squares of rounding errors of the rows, or of their sums of squares.
        eps = np.finfo(float).eps
        small = max(n, d) * eps if self.solver_ == "covariance_eigh" else (max(n, d) * eps) ** 2
        squares[squares <= small * squares.max(initial=0.0)] = 0.0
        over = weight - 1 if weight > 1 else 1.0
        k = choose_number(self.n_components, squares, n)
        dtype = np.float32 if table.dtype == np.float32 else np.float64
        self.n_components_, self.n_samples_ = k, n
        self.mean_ = mean.astype(dtype)
        self.components_ = with_signs(spectrum.rows[:k]).astype(dtype)
        self.eigenvalues_ = (squares / over).astype(dtype)
        self.explained_variance_ = self.eigenvalues_[:k].copy()
        ratio = squares[:k] / total if total > 0 else np.zeros(k)
        self.explained_variance_ratio_ = ratio.astype(dtype)
        self.singular_values_ = np.sqrt(squares[:k]).astype(dtype)
        self.total_variance_ = total / over
        residual = max(0.0, total - float(squares[:k].sum())) / over
        self.noise_variance_ = residual / (min(n, d) - k) if min(n, d) > k else 0.0
        self._weight = float(weight)
        self.n_iter_, self.converged_ = spectrum.passes, bool(spectrum.converged)
        if not total > 0:
            warn_caller(
                "PCA: all rows are equal, so there is no variance to explain. "
                "explained_variance_ratio_ is 0.",
            )
        if not self.converged_:
            warn_caller(
                f"PCA(max_iter={self.max_iter}) stopped before the residuals reached "
                f"tol={self.tol:g}. Raise max_iter or tol.",
                ConvergenceWarning,
            )

    def _scales(self) -> np.ndarray:
        """What coordinates are multiplied by: 1, or one over the deviation where there is."""
        if not self.whiten:
            return np.ones(self.n_components_)
        deviations = np.sqrt(as_float64(self.explained_variance_))
        return np.divide(1.0, deviations, out=np.zeros_like(deviations), where=deviations > 0)

    _saved_private: ClassVar[tuple[str, ...]] = ("_weight",)

    def _after_load(self) -> None:
        falling = (np.diff(self.eigenvalues_) <= 1e-6 * self.eigenvalues_[:1]).all()
        if len(self.eigenvalues_) < self.n_components_ or not falling:
            raise ValueError("eigenvalues_ must fall, and there must be one per component.")
        others = self.total_variance_, self.noise_variance_
        if min(self.explained_variance_.min(initial=0), *others) < 0:
            raise ValueError("variances must not be negative.")
        if not (isinstance(self._weight, float) and self._weight > 0):
            raise ValueError("the weight of the rows must be positive.")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.svd_solver != "full"  # which would densify them
        return tags


def as_float64(values: np.ndarray) -> np.ndarray:
    return np.asarray(values, np.float64)
