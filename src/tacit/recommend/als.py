"""Alternating least squares: users given the items, items given the users, in turn.

    collect   the squared errors of the users in a block, their penalty, and (implicit) the
              Gram matrix of their factors
    update    solve the items by a map over the rows of items, then the users likewise

With one side fixed the loss is quadratic in the other, and each row is a problem of its own
(``row_solves``), so a pass never raises the loss.

    explicit  sum of (r - mean - b_u - b_i - x_u . y_i)^2 over the ratings
              + reg sum of n_u (|x_u|^2 + b_u^2) + reg sum of n_i (|y_i|^2 + b_i^2)
    implicit  sum of c_ui (p_ui - x_u . y_i)^2 over all pairs + reg (|X|^2 + |Y|^2),
              c = 1 + alpha r and p = 1 where there is a rating, c = 1 and p = 0 elsewhere

n_u is the number of ratings of a user ("weighted lambda"), or 1. The ratings are stored twice,
by users and by items: 16 bytes each; factors take 4 bytes a number.

The notes' sections on recommenders (002 1.3.3) and matrix factorization (000 9.2). Zhou,
Wilkinson, Schreiber and Pan (2008), Large-scale parallel collaborative filtering for the
Netflix prize. AAIM. Hu, Koren and Volinsky (2008), Collaborative filtering for implicit
feedback datasets. ICDM. Takács, Pilászy and Tikk (2011), Applications of the conjugate gradient
method for implicit feedback collaborative filtering. RecSys.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils._param_validation import Interval, StrOptions

from tacit.core.checkpoint import begin, finish
from tacit.core.engines import Engine, one_blas_thread, ready
from tacit.core.estimator import engine_for
from tacit.core.loop import iterate
from tacit.core.memory import check_memory
from tacit.core.progress import Step
from tacit.core.randoms import key, normals, seed_from
from tacit.core.stats import Stats
from tacit.data.ratings import Ratings
from tacit.data.table import Batch, Table
from tacit.recommend.factor_model import FactorModel, System
from tacit.recommend.recommender import check_finite
from tacit.recommend.row_solves import (
    conjugate_rows,
    implicit_loss_rows,
    solve_implicit_rows,
    solve_rows,
    squared_errors,
)

__all__ = ["ALS", "ImplicitALS"]

BLOCKS = 16  # to a side at most, so that workers finish together
BLOCK_RATINGS = 16_384  # and at least so many ratings to each, or starting it takes longer


class Factors(NamedTuple):
    """The params. ``gram`` is that of the items; it is empty for explicit ratings."""

    users: np.ndarray  # (n, k) float32
    user_bias: np.ndarray  # (n,)
    items: np.ndarray  # (m, k)
    item_bias: np.ndarray  # (m,)
    gram: np.ndarray  # (k, k) float64, or (0, 0)


class Settings(NamedTuple):
    """What travels with every block."""

    mean: float
    reg: float
    weighted: bool
    biased: bool
    nonnegative: bool
    steps: int  # of conjugate gradients; 0 for Cholesky


@dataclass(frozen=True)
class PassStats(Stats):
    """Sums over the users of a block."""

    rows: float  # ratings
    loss: float
    gram: np.ndarray  # (k, k) of the users' factors, or (0, 0)


# --- Explicit ratings ---


def collect(settings: Settings, params: Factors, block: Batch) -> PassStats:
    """The squared errors of the users in a block, and their penalty."""
    rows, which = block.rows, block.labels
    users, bias = params.users[which], params.user_bias[which]
    offsets = params.item_bias + np.float32(settings.mean)
    loss = squared_errors(
        rows.indptr, rows.indices, rows.data, users, bias, params.items, offsets
    )
    weights = np.diff(rows.indptr) if settings.weighted else np.ones(len(which))
    loss += settings.reg * float(weights @ squares(users, bias))
    return PassStats(float(rows.nnz), loss, params.gram)


class Problem(NamedTuple):
    """The least squares problems of the rows of one side, given the columns."""

    factors: np.ndarray  # of the columns
    bias: np.ndarray
    gram: np.ndarray  # of the columns, implicit only
    start: np.ndarray  # (n, k) factors of the rows before
    start_bias: np.ndarray


def solve_block(
    settings: Settings, problem: Problem, block: Batch
) -> tuple[np.ndarray, np.ndarray]:
    """Factors and biases of the rows of a block."""
    rows, which = block.rows, block.labels
    X, bias = problem.start[which], problem.start_bias[which]
    solve_rows(
        (rows.indptr, rows.indices, rows.data), problem.factors,
        problem.bias + np.float32(settings.mean), np.float32(settings.reg), settings.weighted,
        settings.biased, settings.nonnegative, X, bias,
    )  # fmt: skip
    return X, bias


# --- Implicit ratings ---


def collect_implicit(settings: Settings, params: Factors, block: Batch) -> PassStats:
    """The loss of the users in a block over all items, and the Gram matrix of the users."""
    rows, which = block.rows, block.labels
    users = params.users[which]
    exact = users.astype(np.float64)
    loss = implicit_loss_rows(rows.indptr, rows.indices, rows.data, users, params.items)
    gram = exact.T @ exact
    loss += float(np.sum(params.gram * gram))
    loss += settings.reg * float(np.trace(gram))
    return PassStats(float(rows.nnz), loss, gram)


def solve_implicit_block(
    settings: Settings, problem: Problem, block: Batch
) -> tuple[np.ndarray, np.ndarray]:
    """Factors of the rows of a block; biases stay 0."""
    rows, which = block.rows, block.labels
    csr = rows.indptr, rows.indices, rows.data
    X = problem.start[which]
    G = (problem.gram + settings.reg * np.eye(X.shape[1])).astype(np.float32)
    if settings.steps:
        conjugate_rows(*csr, problem.factors, G, X, settings.steps)
    else:
        solve_implicit_rows(*csr, problem.factors, G, X)
    return X, problem.start_bias[which]


# --- Both ---


def squares(factors: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """The squared length of every row, bias included."""
    return np.einsum("ij,ij->i", factors, factors, dtype=np.float64) + bias.astype(float) ** 2


class Alternation:
    """The two half-steps of a pass, each a map over the rows of one side."""

    def __init__(
        self, settings: Settings, matrix: sp.csr_array, engine: Engine, *, implicit: bool
    ) -> None:
        self.settings, self.engine, self.implicit = settings, engine, implicit
        self.by_user = numbered(matrix)
        self.by_item = numbered(sp.csr_array(matrix.T.tocsr()))
        self.item_weights: np.ndarray = np.ones(matrix.shape[1])
        if settings.weighted:
            self.item_weights = np.bincount(matrix.indices, minlength=matrix.shape[1])

    def begin(self, items: np.ndarray) -> Factors:
        """Users given random items."""
        n, k = len(self.by_user), items.shape[1]
        zeros = np.zeros((n, k), np.float32), np.zeros(n, np.float32)
        gram = gram_of(items) if self.implicit else np.empty((0, 0))
        params = Factors(*zeros, items, np.zeros(len(items), np.float32), gram)
        return self.solve_users(params)

    def update(self, params: Factors, stats: PassStats) -> Factors:
        """Items given users, then users given items."""
        problem = Problem(
            params.users, params.user_bias, stats.gram, params.items, params.item_bias
        )
        items, item_bias = self._solve(problem, self.by_item)
        gram = gram_of(items) if self.implicit else params.gram
        return self.solve_users(params._replace(items=items, item_bias=item_bias, gram=gram))

    def solve_users(self, params: Factors) -> Factors:
        """Users given items."""
        problem = Problem(
            params.items, params.item_bias, params.gram, params.users, params.user_bias
        )
        users, user_bias = self._solve(problem, self.by_user)
        return params._replace(users=users, user_bias=user_bias)

    def _solve(self, problem: Problem, table: Table) -> tuple[np.ndarray, np.ndarray]:
        solve = partial(solve_implicit_block if self.implicit else solve_block, self.settings)
        work = (table.values_in_memory or 0) * problem.factors.shape[1]  # k products a rating
        factors, biases = zip(*self.engine.map(solve, problem, table, work=work), strict=True)
        return np.concatenate(factors), np.concatenate(biases)

    def penalty(self, params: Factors) -> float:
        """The penalty of the items; that of the users is among the sums."""
        return self.settings.reg * float(
            self.item_weights @ squares(params.items, params.item_bias)
        )


def gram_of(factors: np.ndarray) -> np.ndarray:
    """Y'Y in float64, a stripe at a time."""
    total = np.zeros((factors.shape[1], factors.shape[1]))
    with one_blas_thread():
        for start in range(0, len(factors), 8192):
            stripe = factors[start : start + 8192].astype(np.float64)
            total += stripe.T @ stripe
    return total


def numbered(matrix: sp.csr_array) -> Table:
    """A table of the rows of a matrix, each with its number as label."""
    n = matrix.shape[0]
    blocks = max(1, min(BLOCKS, matrix.nnz // BLOCK_RATINGS))
    rows = max(1, min(8192, -(-n // blocks)))
    return Table.from_array(matrix, rows).with_labels(np.arange(n))


class Latest:
    """A callback that keeps the params of the last step, for a fit that is interrupted."""

    def __init__(self) -> None:
        self.step: Step | None = None

    def on_step(self, step: Step) -> None:
        self.step = step


class Alternating(FactorModel):
    """Base class of the two estimators: the loop."""

    contract: ClassVar[str] = "summable"
    _parameter_constraints: ClassVar[dict] = {
        "n_factors": [Interval(Integral, 1, None, closed="left")],
        "reg": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
    }

    n_factors: int
    max_iter: int
    tol: float
    random_state: Any
    callbacks: list | None

    _collect: Callable = staticmethod(collect)
    _implicit: ClassVar[bool] = False

    def _settings(self) -> Settings:
        return Settings(
            self.mean_, float(self.reg), bool(self.weighted), bool(self.bias),
            bool(self.nonnegative), 0,
        )  # fmt: skip

    def _matrix(self) -> sp.csr_array:
        """What is factorized."""
        return self.ratings_

    def _fit(self, ratings: Ratings) -> None:
        name, (n, m), k = type(self).__name__, ratings.shape, self.n_factors
        check_memory(
            16 * len(ratings) + 12 * (n + m) * k,
            f"{name}(n_factors={k}) on {len(ratings):,} ratings", "Lower n_factors.",
        )  # fmt: skip
        self.mean_ = float(np.mean(ratings.values, dtype=np.float64)) if self.bias else 0.0
        settings, latest = self._settings(), Latest()
        seed = seed_from(self.random_state)
        start = normals(key(seed, 0), (m, k)).astype(np.float32)
        start *= np.float32(0.1 if self.bias else 1 / np.sqrt(k))
        if settings.nonnegative:
            start = np.abs(start)
        with self._fit_callbacks() as callbacks, ready(engine_for(self)) as engine:
            steps = Alternation(settings, self._matrix(), engine, implicit=self._implicit)
            begin(callbacks, self._fit_key(ratings) if callbacks else name)
            try:
                fit = iterate(
                    steps.begin(start), partial(self._collect, settings), steps.update,
                    steps.by_user, engine, max_iter=self.max_iter, tol=self.tol,
                    penalty=steps.penalty, callbacks=[*callbacks, latest], name=name,
                    figure=partial(self._figure, steps),
                )  # fmt: skip
            except KeyboardInterrupt:
                if latest.step is not None:  # keep the factors of the last pass
                    self._store(latest.step.params, latest.step.losses, False)
                raise
        self._store(fit.params, fit.losses, fit.converged)
        finish(self.callbacks)

    def _figure(self, steps: Alternation, params: Factors, losses: list) -> tuple[str, float]:
        """The root mean squared error, which the progress bar shows."""
        settings, nnz = steps.settings, self.ratings_.nnz
        weights = np.diff(self.ratings_.indptr) if settings.weighted else 1.0
        penalties = float(np.sum(weights * squares(params.users, params.user_bias)))
        error = losses[-1] - (settings.reg * penalties + steps.penalty(params)) / nnz
        return "RMSE", float(np.sqrt(max(0.0, error)))

    def _store(self, params: Factors, losses: list, converged: bool) -> None:
        check_finite(type(self).__name__, params[:4])
        self.user_factors_, self.user_biases_ = params.users, params.user_bias
        self.item_factors_, self.item_biases_ = params.items, params.item_bias
        self.losses_ = [float(loss) for loss in losses]
        self.n_iter_ = max(0, len(losses) - 1)
        self.converged_ = bool(converged)


class ALS(Alternating):
    """Matrix factorization of explicit ratings by alternating least squares.

    Parameters
    ----------
    n_factors : int
        Length of the vectors of users and items: the rank.
    reg : float
        Penalty of squared factors and biases, times the number of ratings of each user or item
        if ``weighted``.
    weighted : bool
        Whether the penalty grows with the number of ratings ("weighted lambda").
    bias : bool
        Whether to learn the mean and a bias of every user and item.
    nonnegative : bool
        Whether factors may not be negative. Biases may.
    max_iter, tol : int, float
        Most passes; stops when a pass brings less than ``tol`` of the improvement so far.
    random_state : int, RandomState or None
    engine : "serial", "threads", "dask" or an engine
        Where rows are solved. The result has the same bits everywhere.
    callbacks : list or None
        Progress, checkpoints.

    Attributes
    ----------
    user_factors_, item_factors_ : (n_users, n_factors), (n_items, n_factors) float32
    user_biases_, item_biases_, mean_
    losses_ : list of float
        The loss per rating after every pass.
    user_ids_, item_ids_, ratings_ : the ratings, for rankings and explanations

    Examples
    --------
    >>> from tacit.recommend import ALS
    >>> triples = [(u, i, 3 + (u % 2 == i % 2)) for u in range(8) for i in range(8) if u != i]
    >>> model = ALS(2, reg=0.01, random_state=0).fit(triples)
    >>> round(model.predict(0, 2)), round(model.predict(0, 3))
    (4, 3)
    """

    _parameter_constraints: ClassVar[dict] = {
        **Alternating._parameter_constraints,
        "weighted": ["boolean"],
        "bias": ["boolean"],
        "nonnegative": ["boolean"],
    }

    def __init__(
        self,
        n_factors: int = 32,
        *,
        reg: float = 0.1,
        weighted: bool = True,
        bias: bool = True,
        nonnegative: bool = False,
        max_iter: int = 20,
        tol: float = 1e-4,
        random_state: Any = None,
        engine: Any = "threads",
        callbacks: list | None = None,
    ) -> None:
        self.n_factors, self.reg, self.weighted, self.bias = n_factors, reg, weighted, bias
        self.nonnegative, self.max_iter, self.tol = nonnegative, max_iter, tol
        self.random_state, self.engine, self.callbacks = random_state, engine, callbacks


class ImplicitALS(Alternating):
    """Matrix factorization of implicit feedback: what was bought, played or clicked.

    A pair without a rating counts as a weak 0, a pair with one as a 1 whose confidence grows
    with the value.

    Parameters
    ----------
    n_factors : int
        Length of the vectors of users and items.
    alpha : float
        A value r has the confidence 1 + alpha r.
    reg : float
        Penalty of squared factors.
    solver : "cg" or "cholesky"
        A few steps of conjugate gradients from the last pass, or exact solves.
    cg_steps : int
        Steps of conjugate gradients.
    max_iter, tol, random_state, engine, callbacks
        As for ``ALS``.

    Examples
    --------
    >>> from tacit.recommend import ImplicitALS
    >>> played = [(u, i, 5) for u in range(9) for i in range(9) if u % 3 == i % 3 and u != i]
    >>> model = ImplicitALS(3, random_state=0).fit(played)
    >>> model.recommend(1, n=1).ids
    [1]
    """

    _parameter_constraints: ClassVar[dict] = {
        **Alternating._parameter_constraints,
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "solver": [StrOptions({"cg", "cholesky"})],
        "cg_steps": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_factors: int = 64,
        *,
        alpha: float = 1.0,
        reg: float = 0.01,
        solver: str = "cg",
        cg_steps: int = 3,
        max_iter: int = 15,
        tol: float = 1e-4,
        random_state: Any = None,
        engine: Any = "threads",
        callbacks: list | None = None,
    ) -> None:
        self.n_factors, self.alpha, self.reg, self.solver = n_factors, alpha, reg, solver
        self.cg_steps, self.max_iter, self.tol = cg_steps, max_iter, tol
        self.random_state, self.engine, self.callbacks = random_state, engine, callbacks

    bias = weighted = False
    _collect = staticmethod(collect_implicit)
    _implicit = True

    def _settings(self) -> Settings:
        return super()._settings()._replace(steps=self.cg_steps if self.solver == "cg" else 0)

    def _matrix(self) -> sp.csr_array:
        return self._confidences(self.ratings_)

    def _confidences(self, matrix: sp.csr_array) -> sp.csr_array:
        if len(matrix.data) and matrix.data.min() < 0:
            raise ValueError(
                f"ImplicitALS takes counts, but a value is {matrix.data.min():g}. Leave out "
                "what was disliked, or use ALS for ratings."
            )
        out = matrix.copy()
        out.data = np.float32(1) + np.float32(self.alpha) * matrix.data
        return out

    def _figure(self, steps: Alternation, params: Factors, losses: list) -> tuple[str, float]:
        return "loss", losses[-1]

    def _unknown_user_note(self, user: Any) -> str:
        return f"User {user!r} is unknown: items are ranked by how many users have them."

    def _score_items(self, user: int) -> np.ndarray:
        if user < 0:  # there are no biases
            return np.bincount(self.ratings_.indices, minlength=len(self.item_ids_)).astype(
                float
            )
        return super()._score_items(user)

    def _solve(
        self, matrix: sp.csr_array, others: np.ndarray, biases: np.ndarray, side: int
    ) -> tuple[np.ndarray, np.ndarray]:
        confidences = self._confidences(matrix)
        G = gram_of(others) + self.reg * np.eye(others.shape[1])
        X = np.zeros((matrix.shape[0], others.shape[1]), np.float32)
        with one_blas_thread():
            solve_implicit_rows(
                confidences.indptr, confidences.indices, confidences.data,
                np.ascontiguousarray(others), G.astype(np.float32), X,
            )  # fmt: skip
        return X, np.zeros(matrix.shape[0], np.float32)

    def _system(self, items: np.ndarray, values: np.ndarray) -> System:
        confidence = 1 + self.alpha * values
        rows = self.item_factors_[items].astype(np.float64)
        matrix = gram_of(self.item_factors_) + self.reg * np.eye(rows.shape[1])
        matrix += rows.T @ ((confidence - 1)[:, None] * rows)
        return System(matrix, rows, confidence)

    def _targets(self, values: np.ndarray) -> np.ndarray:
        return np.ones(len(values), np.float32)
