"""Truncated singular value decomposition: rows as sums of a few directions.

Contract: summable. The passes are those of ``svd_search``: block Lanczos on X'X finds the
directions, one more pass measures the rows along them. This file gives them scikit-learn's
manners.

Eckart and Young (1936), The approximation of one matrix by another of lower rank.
Psychometrika 1. The notes' section on smoothing word counts and latent semantic analysis.
"""

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.callback import with_callbacks
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_array, check_is_fitted

from tacit.core.engines import Engine, get_engine, ready
from tacit.core.errors import DataError
from tacit.core.estimator import Estimator, check_rows
from tacit.core.randoms import seed_from
from tacit.data.bad_values import check_values
from tacit.data.table import Table, parts
from tacit.decompose.gram_panels import to_panels
from tacit.decompose.krylov import room_for
from tacit.decompose.stripes import nearby
from tacit.decompose.svd_search import (
    Directions,
    Found,
    check_scale,
    measure,
    project_block,
    search,
    search_narrow,
)

__all__ = ["TruncatedSVD"]

NARROW = 512  # columns up to which X'X is small enough to hold


class TruncatedSVD(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Reduce rows to the few directions that hold most of them, without centering.

    Works on sparse rows as they are, reads tables larger than memory a few times (about ten
    passes for a hundred components of text), and says how exact it is: ``residuals_``. Signs
    are fixed, and the same seed gives the same bits on every engine.

    Parameters
    ----------
    n_components : int
        How many directions to keep; at most the number of columns.
    tol : float
        Stop when the residuals fall to this share of their singular values, in the root mean
        square. The components then miss about its square of what the best ones capture. 0
        goes on to the last digit, as scikit-learn's "arpack" does.
    n_iter : "auto" or int
        "auto" stops by ``tol``. A number means scikit-learn's power iterations: the space
        searched holds theirs, with as many ``n_oversamples``, so the answer is no worse.
    n_oversamples : int
        With a number for ``n_iter``: how many more directions than wanted to follow.
    max_iter : int
        Most passes that the search may make. A ConvergenceWarning tells when they were too few.
    random_state : int, RandomState or None
        Seed of the first directions. It sways what ``tol`` leaves open, and what spans the
        rest where the data has fewer than n_components dimensions.
    engine : {"serial", "threads", "dask"} or Engine
        Where the passes run.
    callbacks : list or None
        Told about every pass; see ``tacit.core.progress``.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        Right singular vectors, orthonormal, the largest entry of each positive.
    singular_values_ : array of shape (n_components,)
        Falling; exactly 0 past the rank of the data.
    explained_variance_, explained_variance_ratio_ : arrays of shape (n_components,)
        The variance of the rows along each component; its share of all variance.
    residuals_ : array of shape (n_components,)
        A singular value of the data lies within this distance of the one found.
    n_iter_ : int, passes that the search made
    converged_ : bool, whether the search reached ``tol``
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
        "random_state": "no_validation",
        "engine": "no_validation",
        "callbacks": "no_validation",
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
        n_components=2,
        *,
        tol=0.005,
        n_iter="auto",
        n_oversamples=10,
        max_iter=100,
        random_state=None,
        engine="threads",
        callbacks=None,
    ):
        self.n_components = n_components
        self.tol = tol
        self.n_iter = n_iter
        self.n_oversamples = n_oversamples
        self.max_iter = max_iter
        self.random_state = random_state
        self.engine = engine
        self.callbacks = callbacks

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> "TruncatedSVD":
        """Find the components. X is an array, a CSR matrix, a Table or a Dask array."""
        self._validate_params()
        table = self._table(X, reset=True)
        seed = seed_from(self.random_state)
        with ready(get_engine(self.engine)) as engine:
            with self._fit_callbacks() as callbacks:
                found = self._search(table, engine, seed, callbacks)
            values, rows, variances, residuals = measure(found, table, engine)
        dtype = np.float32 if table.dtype == np.float32 else np.float64
        self.components_ = rows.astype(dtype)
        self.singular_values_ = values.astype(dtype)
        self.explained_variance_ = variances.astype(dtype)
        self.explained_variance_ratio_ = shares(variances, found).astype(dtype)
        self.residuals_ = (residuals + np.finfo(dtype).eps * values).astype(dtype)
        self.n_iter_ = found.passes
        self.converged_ = bool(found.remainder <= self.tol)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """The rows along the components: (n, n_components)."""
        check_is_fitted(self)
        table = self._table(X, reset=False)
        engine = get_engine(self.engine)
        rows = self.components_
        params = Directions(to_panels(rows, nearby(engine), rows.dtype), len(rows))
        dtype = np.float32 if table.dtype == np.float32 else np.float64
        out = np.empty((len(table), len(rows)), dtype)
        for block, part in zip(table, engine.map(project_block, params, table), strict=True):
            if not np.isfinite(part).all():
                check_values(
                    parts(block.load()).rows, "TruncatedSVD", block.start, table.source
                )
            out[block.start : block.stop] = part
        return out

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Rows in the data's columns from rows along the components."""
        check_is_fitted(self)
        X = check_array(X, dtype=[np.float64, np.float32])
        if X.shape[1] != len(self.components_):
            raise ValueError(
                f"TruncatedSVD.inverse_transform needs rows of {len(self.components_)} "
                f"components, but X has {X.shape[1]} columns. Give it what transform gave."
            )
        return X @ self.components_

    # --- Parts ---

    def _search(self, table: Table, engine: Engine, seed: Any, callbacks: list) -> Found:
        k, d = self.n_components, table.shape[1]
        fixed = self.n_iter != "auto"
        width = k + self.n_oversamples if fixed else 16 * -(-k // 64)
        passes = self.n_iter + 2 if fixed else self.max_iter
        tol = -1.0 if fixed else self.tol
        try:
            if d <= max(NARROW, room_for(k, width)):
                return search_narrow(table, engine, k)
            found = search(
                table, engine, n_components=k, width=width, passes=passes, tol=tol,
                seed=seed, callbacks=callbacks,
            )  # fmt: skip
        except DataError:  # find the place in the table, not in its block
            for block in table:
                check_values(
                    parts(block.load()).rows, "TruncatedSVD", block.start, table.source
                )
            check_scale(np.inf, table)
            raise
        if found.remainder > tol and found.passes == passes and not fixed:
            warnings.warn(
                f"TruncatedSVD(max_iter={passes}) stopped with residuals of "
                f"{found.remainder:.2g} of their singular values, above tol={self.tol:g}. "
                "Raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=4,
            )
        return found

    def _table(self, X: Any, *, reset: bool) -> Table:
        """X as blocks; arrays are checked as scikit-learn does, files as they are read."""
        if not (isinstance(X, Table) or type(X).__module__.startswith("dask.")):
            X = check_rows(self, X, reset=reset)
        table = Table.of(X)
        n, d = table.shape
        if reset:
            self.n_features_in_ = d
            if not n:
                raise ValueError("TruncatedSVD found no rows in the table. Give it some.")
            if self.n_components > d:
                raise ValueError(
                    f"TruncatedSVD(n_components={self.n_components}) must be at most the "
                    f"number of columns, but the data has n_features={d}. Lower n_components."
                )
        elif d != self.n_features_in_:
            raise ValueError(
                f"TruncatedSVD was fitted on {self.n_features_in_} columns, but X has {d}. "
                "Give it the same columns."
            )
        return table

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def shares(variances: np.ndarray, found: Found) -> np.ndarray:
    """What share of all variance lies along each direction."""
    total = float(found.moments.variance.sum())
    if total > 0:
        return variances / total
    warnings.warn(
        "TruncatedSVD: all rows are equal, so there is no variance to explain. "
        "explained_variance_ratio_ is 0.",
        stacklevel=5,
    )
    return np.zeros_like(variances)
