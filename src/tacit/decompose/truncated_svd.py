"""Truncated singular value decomposition: rows as sums of a few components.

    search    block Lanczos on X'X (``krylov``), driven by ``iterate``; a table of few columns
              needs one pass, which sums X'X itself
    measure   one more pass: the rows projected onto the components

The last pass rotates the components by their remaining error. Singular values then come from X
itself and not from X'X, where values below a millionth of the largest are lost in rounding.

Contract: summable. The loss is the part of |X|^2 that the components do not explain; it never
rises.

Eckart and Young (1936), The approximation of one matrix by another of lower rank.
Psychometrika 1. The notes' section on smoothing word counts and latent semantic analysis.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh, svd
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from tacit.core import moments as column_moments
from tacit.core.engines import Engine, get_engine, one_blas_thread, ready
from tacit.core.errors import DataError
from tacit.core.estimator import with_callbacks
from tacit.core.loop import iterate
from tacit.core.moments import Moments, MomentsParams
from tacit.core.progress import Callback
from tacit.core.randoms import seed_from
from tacit.core.warn import warn_caller
from tacit.data.checked import check_answer, check_results, check_table
from tacit.data.table import Table, parts
from tacit.decompose import krylov
from tacit.decompose.gram_panels import chunk_caches, combine, to_panels
from tacit.decompose.low_rank import (
    Projection,
    ProjectionEstimator,
    check_block,
    project_block,
    rank_errors,
)

__all__ = ["TruncatedSVD"]

NARROW = 512  # columns up to which all of X'X is summed
LARGEST = 1e290  # squared lengths above this, or below its inverse, are out of range


class Components(NamedTuple):
    """The result of a search."""

    rows: np.ndarray  # (k, d) orthonormal
    errors: np.ndarray  # (k,) |X'X v - value v|
    moments: Moments  # of the columns of X
    passes: int
    residual: float  # krylov.relative_residual


# --- Search ---


def search(
    table: Table,
    engine: Engine,
    *,
    n_components: int,
    width: int,
    passes: int,
    tol: float,
    seed: Any,
    callbacks: list[Callback],
    center: np.ndarray | None = None,
    name: str = "TruncatedSVD",
) -> Components:
    """Block Lanczos until the residual is at most ``tol``, or for ``passes`` passes.

    With a ``center``, X is the rows less the center.
    """

    def update(params: krylov.KrylovParams, stats: krylov.KrylovStats) -> krylov.KrylovParams:
        if params.step == 0 and center is None:
            check_total(krylov.squared_length(stats.moments), table, name)
        return krylov.update(params, stats, engine)

    params = krylov.start(
        n_components, table.shape[1], seed, width=width, dtype=vector_dtype(table),
        center=center, engine=engine,
    )  # fmt: skip
    params = iterate(
        params, krylov.collect, update, table, engine, max_iter=passes,
        settled=lambda _, new: krylov.relative_residual(new) <= tol, callbacks=callbacks,
        cache=chunk_caches(table), loss_of=krylov.loss, visible=krylov.visible,
        name=name,
    ).params  # fmt: skip
    # Vectors that no pass has multiplied may be off by anything.
    errors = np.full(n_components, krylov.squared_length(params.moments))
    errors[: len(params.errors)] = params.errors / params.scale
    rows = krylov.leading(params, engine)
    residual = krylov.relative_residual(params)
    return Components(rows, errors, params.moments, params.step, residual)


def search_narrow(table: Table, engine: Engine, n_components: int) -> Components:
    """The components of X'X, summed in one pass."""
    moments = engine.reduce(column_moments.collect, MomentsParams(full=True), table)
    columns = Moments(moments.weight, moments.mean, moments.variance_sum)
    check_total(krylov.squared_length(columns), table, "TruncatedSVD")
    with one_blas_thread():
        values, vectors = krylov.eigenpairs(gram_of(moments), n_components)
    rows = np.ascontiguousarray(vectors.T)
    return Components(rows, np.zeros(len(values)), columns, passes=1, residual=0.0)


def vector_dtype(table: Table) -> Any:
    """float32 for sparse rows in float32: half the memory for random access."""
    small = table.dtype == np.float32 and sp.issparse(parts(table.blocks[0].load()).rows)
    return np.float32 if small else np.float64


def check_total(total: float, table: Table, name: str) -> None:
    """ValueError if the sum of all squares is out of the range of float64."""
    if 1 / LARGEST < total < LARGEST:
        return
    largest = 0.0
    for block in table:
        rows = parts(block.load()).rows
        values = rows.data if sp.issparse(rows) else rows
        largest = max(largest, float(np.abs(values).max(initial=0)))
    if largest > 0:
        raise ValueError(
            f"{name}: the largest value in the data is {largest:.3g}, and float64 does "
            "not hold the squares. Rescale the data, for example divide by that number."
        )


@contextmanager
def naming_rows(table: Table, name: str) -> Iterator[None]:
    """Errors about values name the row of the table, not that of its block."""
    try:
        yield
    except DataError:
        for block in table:
            check_block(block, table, name)
        check_total(np.inf, table, name)
        raise


# --- Measure ---


def collect_projected(params: Projection, block: Any) -> Moments:
    """The moments of the projected rows of a block."""
    return Moments.collect(project_block(params, block), weights=parts(block).weights)


def measure(
    solution: Components, table: Table, engine: Engine, center: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Singular values, descending, right vectors, variances and residuals: one pass over the
    projected rows, and a small SVD that rotates the components.

    With Y the projected rows and D the lengths of its columns, Y'Y is D E W E' D: the singular
    values of Y are those of sqrt(W) E' D, each to full relative precision, because the columns
    are nearly orthogonal.
    """
    kind = vector_dtype(table)
    k, n, d = len(solution.rows), *table.shape
    params = Projection(to_panels(solution.rows, engine), k, center)
    moments = engine.reduce(collect_projected, params, table)
    with one_blas_thread():
        square = gram_of(moments)
        lengths = np.sqrt(square.diagonal())
        nothing = max(n, d) * np.finfo(float).eps if kind == np.float64 else 1e-8
        lengths[lengths <= lengths.max() * nothing] = 0.0
        scale = np.divide(1.0, lengths, out=np.zeros(k), where=lengths > 0)
        weights, turns = eigh(square * scale * scale[:, None])
        factor = np.sqrt(np.maximum(weights, 0.0))[:, None] * turns.T * lengths
        _, values, turned = svd(factor)
        values[np.count_nonzero(lengths) :] = 0.0
        variances = np.einsum("ij,jk,ik->i", turned, moments.covariance, turned)
        rows = with_signs(combine(turned, (solution.rows,), engine))
    return values, rows, np.maximum(variances, 0.0), residuals(solution.errors, values, kind)


def gram_of(moments: Moments) -> np.ndarray:
    """X'X from the scatter about the mean."""
    return moments.scatter + moments.weight * np.outer(moments.mean, moments.mean)


def with_signs(rows: np.ndarray) -> np.ndarray:
    """Rows with a positive largest entry; of entries equal but for rounding, the first."""
    sizes = np.abs(rows)
    places = (sizes >= (1 - 1e-6) * sizes.max(axis=1, keepdims=True)).argmax(axis=1)
    signs = np.sign(rows[np.arange(len(rows)), places])
    return rows * np.where(signs == 0, 1.0, signs)[:, None]


def residuals(errors: np.ndarray, values: np.ndarray, dtype: Any) -> np.ndarray:
    """|X'u - value v| for u = X v / value; rounding in X'X sets a lower limit."""
    floor = krylov.NOISE[np.dtype(dtype).name] * values.max(initial=0.0) ** 2
    safe = np.maximum(values, np.sqrt(floor))
    return np.divide(np.maximum(errors, floor), safe, out=np.zeros_like(values), where=safe > 0)


# --- The estimator ---


class TruncatedSVD(ProjectionEstimator):
    """Reduce rows to their leading components, without centering.

    Works on sparse rows without densifying them, reads tables larger than memory a few times
    (about ten passes for a hundred components of text), and reports its error: ``residuals_``.
    Signs are fixed, and the same seed gives the same bits on every engine.

    Parameters
    ----------
    n_components : int, number of components; at most the number of columns
    tol : float
        Stop when the residuals, relative to their singular values, fall to this root mean
        square. The components then miss about its square of what the best ones explain. 0
        computes to machine precision, as scikit-learn's "arpack" does.
    n_iter : "auto" or int
        "auto" stops by ``tol``. A number means scikit-learn's power iterations: the space
        searched contains theirs for equal ``n_oversamples``, so the result is at least as good.
    n_oversamples : int, with a number for ``n_iter``: additional vectors in the block
    max_iter : int
        Maximum number of passes. A ConvergenceWarning is issued if they were too few.
    algorithm : {"randomized", "arpack"}
        "arpack" computes to machine precision, as ``tol=0`` does.
    power_iteration_normalizer : {"auto", "QR", "LU", "none"}
        No effect: blocks are always orthonormal.
    random_state : int, RandomState or None
        Seed of the first block. It affects the result within ``tol``, and the components
        beyond the rank of the data.
    engine, callbacks : as for ``KMeans``

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        Right singular vectors, orthonormal, the largest entry of each positive.
    singular_values_ : array of shape (n_components,)
        Descending; exactly 0 beyond the rank of the data.
    explained_variance_, explained_variance_ratio_ : arrays of shape (n_components,)
        The variance of the rows along each component, and its fraction of all variance.
    residuals_ : array of shape (n_components,)
        A singular value of the data lies within this distance of each one.
    n_iter_ : int, number of passes
    converged_ : bool, whether the residuals reached ``tol``
    n_features_in_ : int

    Examples
    --------
    >>> X = np.array([[3.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 1.0]])
    >>> svd = TruncatedSVD(n_components=2, random_state=0).fit(X)
    >>> svd.singular_values_
    array([3., 2.])
    >>> svd.transform(X)
    array([[3., 0.],
           [0., 2.],
           [0., 0.]])
    """

    contract: ClassVar[str] = "summable"
    _parameter_constraints: ClassVar[dict] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, 1, closed="left")],
        "n_iter": [StrOptions({"auto"}), Interval(Integral, 0, None, closed="left")],
        "n_oversamples": [Interval(Integral, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "algorithm": [StrOptions({"randomized", "arpack"})],
        "power_iteration_normalizer": [StrOptions({"auto", "OR", "QR", "LU", "none"})],
    }
    _no_effect: ClassVar[dict] = {
        "power_iteration_normalizer": "the blocks of vectors are always orthonormal"
    }
    _file_schema: ClassVar[dict] = {
        "components_": ("n_components", "n_features_in_"),
        "singular_values_": ("n_components",),
        "explained_variance_": ("n_components",),
        "explained_variance_ratio_": ("n_components",),
        "residuals_": ("n_components",),
    }
    _file_kinds: ClassVar[dict] = dict.fromkeys(_file_schema, "f")

    def __init__(
        self,
        n_components: int = 2,
        *,
        tol: float = 0.005,
        n_iter: int | str = "auto",
        n_oversamples: int = 10,
        max_iter: int = 100,
        algorithm: str = "randomized",
        power_iteration_normalizer: str = "auto",
        random_state: Any = None,
        engine: str | Engine = "threads",
        callbacks: list | None = None,
    ) -> None:
        self.n_components, self.tol, self.n_iter = n_components, tol, n_iter
        self.n_oversamples, self.max_iter = n_oversamples, max_iter
        self.algorithm, self.power_iteration_normalizer = algorithm, power_iteration_normalizer
        self.random_state, self.engine, self.callbacks = random_state, engine, callbacks

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> "TruncatedSVD":
        """Compute the components. X is an array, a CSR matrix, a Table or a Dask array."""
        self._validate_params()
        table = check_table(self, X, reset=True)
        n, d = table.shape
        if not n:
            raise ValueError("TruncatedSVD found no rows in the table. Give it some.")
        if self.n_components > d:
            raise ValueError(
                f"TruncatedSVD(n_components={self.n_components}) must be at most the "
                f"number of columns, but the data has n_features={d}. Lower n_components."
            )
        seed = seed_from(self.random_state)
        with ready(get_engine(self.engine)) as engine:
            with self._fit_callbacks() as callbacks, naming_rows(table, "TruncatedSVD"):
                solution = self._search(table, engine, seed, callbacks)
            values, rows, variances, residuals = measure(solution, table, engine)
        dtype = np.float32 if table.dtype == np.float32 else np.float64
        self.components_: np.ndarray = rows.astype(dtype)
        self.singular_values_: np.ndarray = values.astype(dtype)
        self.explained_variance_ = variances.astype(dtype)
        self.explained_variance_ratio_ = ratios(variances, solution).astype(dtype)
        self.residuals_ = (residuals + np.finfo(dtype).eps * values).astype(dtype)
        self.n_iter_ = solution.passes
        self.converged_ = bool(solution.residual <= self._tolerance)
        check_results(self)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """The rows projected onto the components: (n, n_components)."""
        check_is_fitted(self)
        return self._project(X, self.components_, dtype=self.components_.dtype)

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Rows in the columns of the data from projected rows."""
        check_is_fitted(self)
        return self._coordinates(X, len(self.components_)) @ self.components_

    def reconstruction_errors(self, X: Any, *, relative: bool = False) -> np.ndarray:
        """The error at ranks 0, 1, ..., n_components: the mean squared distance of rows from
        their reconstruction; ``relative`` to the squared length of each row."""
        check_is_fitted(self)
        table = check_table(self, X, reset=False, finite=True)
        rows = np.asarray(self.components_, np.float64)
        errors = rank_errors(rows, table, get_engine(self.engine), relative=relative)
        return check_answer(self, "reconstruction_errors", errors)

    # --- Parts ---

    @property
    def _tolerance(self) -> float:
        return 0.0 if self.algorithm == "arpack" else self.tol

    def _search(self, table: Table, engine: Engine, seed: Any, callbacks: list) -> Components:
        k, d = self.n_components, table.shape[1]
        fixed = self.n_iter != "auto" and self.algorithm != "arpack"
        width = k + self.n_oversamples if fixed else krylov.block_width(k)
        passes = int(self.n_iter) + 2 if fixed else self.max_iter
        tol = -1.0 if fixed else self._tolerance
        if d <= max(NARROW, krylov.most_vectors(k, width)):
            return search_narrow(table, engine, k)
        solution = search(
            table, engine, n_components=k, width=width, passes=passes, tol=tol, seed=seed,
            callbacks=callbacks,
        )  # fmt: skip
        if solution.residual > tol and solution.passes == passes and not fixed:
            warn_caller(
                f"TruncatedSVD(max_iter={passes}) stopped with residuals of "
                f"{solution.residual:.2g} of their singular values, above tol={tol:g}. "
                "Raise max_iter or tol.",
                ConvergenceWarning,
            )
        return solution


def ratios(variances: np.ndarray, solution: Components) -> np.ndarray:
    """The fraction of the variance along each component."""
    total = float(solution.moments.variance.sum())
    if total > 0:
        return variances / total
    warn_caller(
        "TruncatedSVD: all rows are equal, so there is no variance to explain. "
        "explained_variance_ratio_ is 0.",
    )
    return np.zeros_like(variances)
