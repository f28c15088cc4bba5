"""Biased factorization by stochastic gradient descent, with the same bits on any threads.

    e        =  r - mean - b_u - b_i - x_u . y_i              for one rating after another
    x_u     <-  x_u + rate (e y_i - reg x_u)                  likewise y_i, b_u, b_i

    rounds   users and items are dealt into P groups each; a diagonal of the P x P blocks
             touches every group once, so that its blocks run in parallel
    visit    the ratings of one block, sorted by user so that a user's factors stay in cache

The order of the diagonals, and the user that a block begins with, are drawn from (seed, pass).
AdaGrad divides the rate by the root of the sum of squared gradients so far, one number for each
user and item. The other solvers take steps along the gradient of the mean loss of a sample S:

    L(A, B)  =  1/|S| sum of e_ij^2 + reg (|A_i|^2 + |B_j|^2) over the ratings in S
    dL/dA_i  =  1/|S| sum over j of -2 e_ij B_j  +  2 reg n_i A_i / |S|

S is all ratings (gradient descent), those of some users (row sampling) or those of some items
(column sampling). A pass uses every rating once: row sampling deals the users into groups,
drawn from (seed, pass), and takes a step for each group, which moves only the factors of its
users and of the items they rated; column sampling likewise.

The notes' sections 9.2 and 9.3 of 000. Koren, Bell and Volinsky (2009), Matrix factorization
techniques for recommender systems. IEEE Computer 42. Gemulla, Nijkamp, Haas and Sismanis
(2011), Large-scale matrix factorization with distributed stochastic gradient descent. KDD.
Chin, Zhuang, Juan and Lin (2015), A learning-rate schedule for stochastic gradient methods to
matrix factorization. PAKDD.
"""

import math
from collections.abc import Iterable, Sequence
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from tacit.core.checkpoint import begin, finish
from tacit.core.estimator import engine_for
from tacit.core.kernel import REASSOCIATE, kernel
from tacit.core.memory import check_memory
from tacit.core.randoms import integers, key, permutation, seed_from, uniforms
from tacit.core.sweep import Sequential, Swept, Visited, deal, diagonals, no_gain_for, sweep
from tacit.data.ratings import Ratings
from tacit.kernels.sorting import stable_order
from tacit.recommend.factor_model import FactorModel
from tacit.recommend.recommender import check_finite

__all__ = ["BiasedSGD", "Blocks", "GradientDescent", "SgdState", "loss_and_gradient"]

SAMPLING = {"gradient": "all", "rows": "rows", "columns": "columns"}
FEW = 1_000_000  # ratings; a finer grid costs more rounds than its balance brings


class SgdState(NamedTuple):
    """Factors and biases, and what adapts their steps. Arrays change in place."""

    users: np.ndarray  # (n, k) float32
    items: np.ndarray  # (m, k)
    user_bias: np.ndarray  # (n,)
    item_bias: np.ndarray  # (m,)
    user_squares: np.ndarray  # (n,): AdaGrad's sums of squared gradients
    item_squares: np.ndarray  # (m,)
    rate: np.ndarray  # (4,) of gradient descent: step size, last loss, this pass's sum, ratings


# --- A step for each rating ---


class Runs(NamedTuple):
    """Ratings in the order of the blocks, in runs of one user each."""

    users: np.ndarray  # (runs,) int32
    edges: np.ndarray  # (runs + 1,) int64
    items: np.ndarray  # (n,) int32
    values: np.ndarray  # (n,) float32, without the mean


class Blocks(Sequential):
    """Passes over the ratings, block by block along the diagonals of a grid."""

    def __init__(
        self, users: np.ndarray, items: np.ndarray, values: np.ndarray,
        shape: tuple[int, int], *, mean: float, reg: float, rate: float, bias_rate: float,
        biased: bool, adaptive: bool, seed: np.uint64,
    ) -> None:  # fmt: skip
        n = len(values)
        self.parts = parts = 4 if n < FEW else 8
        self.seed, self.adaptive = seed, adaptive
        self.work = 8 * n // parts  # a step reads two rows of factors
        by_user = deal(np.bincount(users, minlength=shape[0]), parts)
        by_item = deal(np.bincount(items, minlength=shape[1]), parts)
        block = by_user[users] * parts + by_item[items]
        rank = permutation(key(seed, 2), shape[0])  # the order of users inside a block
        order = stable_order(block, parts**2, stable_order(rank[users], shape[0]))
        sorted_users, block = users[order], block[order]
        changes = (sorted_users[1:] != sorted_users[:-1]) | (block[1:] != block[:-1])
        heads = np.flatnonzero(np.r_[True, changes])
        self.runs = Runs(
            sorted_users[heads].astype(np.int32), np.r_[heads, n].astype(np.int64),
            items[order].astype(np.int32), values[order] - np.float32(mean),
        )  # fmt: skip
        self.bounds = np.searchsorted(block[heads], np.arange(parts**2 + 1))
        self.rates = np.array([rate, bias_rate if biased else 0.0, reg], np.float32)

    def rounds(self, number: int) -> Iterable[Sequence[Any]]:
        """The diagonals in an order drawn for this pass."""
        grid = diagonals(self.parts)
        starts = integers(key(self.seed, 4, number), self.parts**2, 2**30)
        for r in permutation(key(self.seed, 3, number), self.parts):
            yield [(p, q, int(starts[p * self.parts + q])) for p, q in grid[int(r)]]

    def visit(self, state: SgdState, part: tuple[int, int, int], number: int) -> Visited:
        """A step for every rating of a block."""
        p, q, start = part
        first, last = self.bounds[p * self.parts + q : p * self.parts + q + 2]
        loss = visit_block(first, last, start, self.runs, state, self.rates, self.adaptive)
        return Visited(float(self.runs.edges[last] - self.runs.edges[first]), loss)


# --- Steps along the gradient of many ratings ---


class Gradient(NamedTuple):
    """Derivatives of the loss, and the loss."""

    users: np.ndarray
    items: np.ndarray
    user_bias: np.ndarray
    item_bias: np.ndarray
    loss: float


def loss_and_gradient(
    users: np.ndarray, items: np.ndarray, user_bias: np.ndarray, item_bias: np.ndarray,
    pairs: tuple[np.ndarray, np.ndarray], values: np.ndarray, *, mean: float = 0.0,
    reg: float = 0.0, biased: bool = True,
) -> Gradient:  # fmt: skip
    """The loss of the ratings ``values`` of ``pairs`` (codes) and its gradient.

    >>> A, B, none = np.ones((1, 1)), np.ones((2, 1)), np.zeros(1)
    >>> pairs = np.array([0, 0]), np.array([0, 1])
    >>> g = loss_and_gradient(A, B, none, np.zeros(2), pairs, np.array([3.0, 1.0]))
    >>> g.loss, g.users.tolist(), g.items.tolist()
    (2.0, [[-2.0]], [[-2.0], [0.0]])
    """
    u, i = pairs
    error = values - (mean + user_bias[u] + item_bias[i])
    error = error - np.einsum("ij,ij->i", users[u], items[i])
    n = max(1, len(values))
    scaled = -2.0 / n * error
    out = Gradient(
        scatter(u, scaled, items, i, len(users)), scatter(i, scaled, users, u, len(items)),
        np.bincount(u, scaled, len(users)), np.bincount(i, scaled, len(items)),
        float(error @ error) / n,
    )  # fmt: skip
    user_weights = reg / n * np.bincount(u, minlength=len(users))
    item_weights = reg / n * np.bincount(i, minlength=len(items))
    penalty = user_weights @ squares(users) + item_weights @ squares(items)
    out.users[...] += 2 * user_weights[:, None] * users
    out.items[...] += 2 * item_weights[:, None] * items
    if biased:
        penalty += user_weights @ user_bias**2 + item_weights @ item_bias**2
        out.user_bias[...] += 2 * user_weights * user_bias
        out.item_bias[...] += 2 * item_weights * item_bias
    else:
        out.user_bias[...] = 0
        out.item_bias[...] = 0
    return out._replace(loss=out.loss + float(penalty))


def squares(factors: np.ndarray) -> np.ndarray:
    return np.einsum("ij,ij->i", factors, factors)


def scatter(
    rows: np.ndarray, weights: np.ndarray, factors: np.ndarray, which: np.ndarray, n: int
) -> np.ndarray:
    """The sum of weights[t] factors[which[t]] for every row."""
    out = np.zeros((n, factors.shape[1]))
    add_weighted(rows, weights, np.ascontiguousarray(factors, np.float64), which, out)
    return out


class GradientDescent(Sequential):
    """Passes of gradient descent over ratings in memory.

    The step size follows the "bold driver": 5% more after a pass that lowered the loss, half
    after one that raised it. It begins at ``rate`` over a bound on the largest second
    derivative.
    """

    def __init__(
        self, users: np.ndarray, items: np.ndarray, values: np.ndarray,
        shape: tuple[int, int], *, sampling: str, groups: int, mean: float, reg: float,
        rate: float, biased: bool, seed: np.uint64,
    ) -> None:  # fmt: skip
        self.shape, self.sampling, self.seed = shape, sampling, seed
        self.groups = 1 if sampling == "all" else groups
        side = items if sampling == "columns" else users
        order = np.argsort(side, kind="stable")
        self.users, self.items, self.values = users[order], items[order], values[order]
        self.side = side[order]
        self.options: dict[str, Any] = {"mean": mean, "reg": reg, "biased": biased}
        counts = [np.bincount(users).max(), np.bincount(items).max()]
        self.rate = rate / (2.0 * max(counts) * max(1.0, abs(float(values.std()))))

    def rounds(self, number: int) -> Iterable[Sequence[Any]]:
        """One group of users or items after another."""
        n = self.shape[1] if self.sampling == "columns" else self.shape[0]
        group = permutation(key(self.seed, 5, number), n) % self.groups
        chosen = group[self.side]
        for g in range(self.groups):
            which = slice(None) if self.groups == 1 else np.flatnonzero(chosen == g)
            yield [(which, g == 0)]

    def visit(self, state: SgdState, part: Any, number: int) -> Visited:
        """A step along the gradient of the group."""
        which, first = part
        pairs = self.users[which], self.items[which]
        values = self.values[which].astype(np.float64)
        if first:
            self._adapt(state.rate)
        if not len(values):
            return Visited(0.0, 0.0)
        g = loss_and_gradient(
            state.users.astype(np.float64), state.items.astype(np.float64),
            state.user_bias.astype(np.float64), state.item_bias.astype(np.float64), pairs,
            values, **self.options,
        )  # fmt: skip
        state.rate[2:] += g.loss * len(values), len(values)
        # The rate is per rating: L is a mean over the sample.
        step = float(state.rate[0]) * len(values)
        for params, gradient in zip(state[:4], g[:4], strict=True):
            params -= (step * gradient).astype(np.float32)
        return Visited(float(len(values)), g.loss * len(values))

    def _adapt(self, rate: np.ndarray) -> None:
        """Set the step size of a pass by the losses of the two before."""
        if rate[0] == 0:
            rate[:2] = self.rate, np.inf
        elif rate[3]:
            loss = rate[2] / rate[3]
            rate[0] *= 1.05 if loss <= rate[1] else 0.5
            rate[1] = loss
        rate[2:] = 0


# --- The estimator ---


class BiasedSGD(FactorModel):
    """Matrix factorization with biases by stochastic gradient descent.

    Parameters
    ----------
    n_factors : int
        Length of the vectors of users and items: the rank.
    n_epochs : int
        Passes over the ratings, at most.
    reg : float
        Penalty of squared factors and biases, at every rating.
    learning_rate : float or None
        Step size; None for 0.05 with AdaGrad, 0.01 with SGD, 0.5 with the other solvers.
    solver : "adagrad", "sgd", "gradient", "rows" or "columns"
        A step for each rating, with or without adaptive step sizes; steps along the gradient
        of all ratings, of those of sampled users, or of sampled items.
    bias : bool
        Whether to learn the mean and a bias of every user and item.
    n_groups : int
        Into how many samples "rows" and "columns" deal the users or items in a pass.
    early_stopping : bool
        Whether to hold out ``validation_fraction`` of the ratings, stop after ``patience``
        passes without a lower error on them, and return the best factors.
    validation_fraction, patience
    random_state : int, RandomState or None
    engine : "serial", "threads" or an engine
        The result has the same bits on any number of threads.
    callbacks : list or None
        Progress, checkpoints.

    Attributes
    ----------
    user_factors_, item_factors_ : (n_users, n_factors), (n_items, n_factors) float32
    user_biases_, item_biases_, mean_
    losses_ : list of float
        The mean squared error during every pass.
    held_out_ : list of float
        The root mean squared error on the held-out ratings after every pass.
    n_epochs_ : int
        Number of passes; with early stopping the factors are those of the best.

    Examples
    --------
    >>> from tacit.recommend import BiasedSGD
    >>> triples = [(u, i, 3 + (u % 2 == i % 2)) for u in range(9) for i in range(9) if u != i]
    >>> model = BiasedSGD(4, n_epochs=200, reg=0.01, random_state=0).fit(triples)
    >>> round(model.predict(0, 0)), round(model.predict(1, 2))
    (4, 3)
    """

    contract: ClassVar[str] = "sequential"
    _parameter_constraints: ClassVar[dict] = {
        "n_factors": [Interval(Integral, 1, None, closed="left")],
        "n_epochs": [Interval(Integral, 1, None, closed="left")],
        "reg": [Interval(Real, 0, None, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither"), None],
        "solver": [StrOptions({"adagrad", "sgd", *SAMPLING})],
        "bias": ["boolean"],
        "n_groups": [Interval(Integral, 1, None, closed="left")],
        "early_stopping": ["boolean"],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "patience": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_factors: int = 32,
        *,
        n_epochs: int = 15,
        reg: float = 0.08,
        learning_rate: float | None = None,
        solver: str = "adagrad",
        bias: bool = True,
        n_groups: int = 10,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        patience: int = 3,
        random_state: Any = None,
        engine: Any = "threads",
        callbacks: list | None = None,
    ) -> None:
        self.n_factors, self.n_epochs, self.reg = n_factors, n_epochs, reg
        self.learning_rate, self.solver, self.bias = learning_rate, solver, bias
        self.n_groups, self.early_stopping = n_groups, early_stopping
        self.validation_fraction, self.patience = validation_fraction, patience
        self.random_state, self.engine, self.callbacks = random_state, engine, callbacks

    def _fit(self, ratings: Ratings) -> None:
        name, (n, m), k = type(self).__name__, ratings.shape, self.n_factors
        check_memory(
            40 * len(ratings) + 8 * (n + m) * k,
            f"{name}(n_factors={k}) on {len(ratings):,} ratings", "Lower n_factors.",
        )  # fmt: skip
        seed = seed_from(self.random_state)
        train, validation = ratings, None
        if self.early_stopping:
            if len(ratings) < 10:
                raise ValueError(
                    f"{name}(early_stopping=True) holds ratings out, but there are only "
                    f"{len(ratings)}. Turn it off."
                )
            train, validation = ratings.split(
                self.validation_fraction, random_state=int(key(seed, 1))
            )
        self.mean_ = float(np.mean(train.values, dtype=np.float64)) if self.bias else 0.0
        state, best = start(seed, n, m, k, centered=bool(self.bias)), Best()
        model = self._passes(train, seed)
        errors = None if validation is None else partial(best.error, self, validation)
        with self._fit_callbacks() as callbacks:
            begin(callbacks, self._fit_key(ratings) if callbacks else name)
            try:
                swept = sweep(
                    model, state, engine_for(self), max_iter=self.n_epochs,
                    stop=None if errors is None else self._stop, held_out=errors,
                    callbacks=callbacks, figure=figure, name=name,
                )  # fmt: skip
            except KeyboardInterrupt:  # keep the factors learned so far
                self._store(best.state or state, Swept(state, [], best.errors, False))
                raise
        self._store(best.state or swept.state, swept)
        finish(self.callbacks)

    def _passes(self, train: Ratings, seed: np.uint64) -> Sequential:
        data = train.users, train.items, train.values, train.shape
        if self.solver in SAMPLING:
            return GradientDescent(
                *data, sampling=SAMPLING[self.solver], groups=self.n_groups, mean=self.mean_,
                reg=self.reg, rate=self.learning_rate or 0.5, biased=bool(self.bias), seed=seed,
            )  # fmt: skip
        adaptive = self.solver == "adagrad"
        rate = self.learning_rate or (0.05 if adaptive else 0.01)
        return Blocks(
            *data, mean=self.mean_, reg=self.reg, rate=rate, adaptive=adaptive,
            bias_rate=0.1 * rate if adaptive else rate, biased=bool(self.bias), seed=seed,
        )  # fmt: skip

    def _stop(self, state: SgdState, errors: list[float]) -> bool:
        return no_gain_for(errors, self.patience, 1e-5)

    def _store(self, state: SgdState, swept: Swept) -> None:
        check_finite(type(self).__name__, state[:4])
        self.user_factors_, self.item_factors_ = state.users, state.items
        self.user_biases_, self.item_biases_ = state.user_bias, state.item_bias
        self.losses_ = [float(loss) for loss in swept.losses]
        self.held_out_ = [float(error) for error in swept.held_out]
        self.n_epochs_ = len(swept.losses)
        self.converged_ = bool(swept.converged)


def start(seed: np.uint64, n: int, m: int, k: int, *, centered: bool) -> SgdState:
    """Small random factors, biases of 0. Without a mean to subtract factors are positive."""
    low, width = (-0.15, 0.3) if centered else (0.0, 1.0)

    def draw(number: int, rows: int) -> np.ndarray:
        values = low + width * uniforms(key(seed, 7, number), (rows, k))
        return (values / math.sqrt(k)).astype(np.float32)

    zeros = [np.zeros(size, np.float32) for size in (n, m)]
    ones = [np.ones(size, np.float32) for size in (n, m)]
    return SgdState(draw(0, n), draw(1, m), zeros[0], zeros[1], ones[0], ones[1], np.zeros(4))


def figure(losses: list[float], held_out: list[float]) -> tuple[str, float]:
    """What the progress bar shows: the error on held-out ratings where there are any."""
    if held_out:
        return "held-out RMSE", held_out[-1]
    return "RMSE", math.sqrt(losses[-1])


class Best:
    """The state with the lowest error on held-out ratings."""

    def __init__(self) -> None:
        self.state: SgdState | None = None
        self.errors: list[float] = []

    def error(self, model: BiasedSGD, ratings: Ratings, state: SgdState) -> float:
        """The root mean squared error of a state, which is copied if it is the lowest."""
        users, items = ratings.users, ratings.items
        products = np.einsum("ij,ij->i", state.users[users], state.items[items])
        predicted = model.mean_ + state.user_bias[users] + state.item_bias[items]
        error = float(np.sqrt(np.mean((ratings.values - predicted - products) ** 2.0)))
        if not self.errors or error < min(self.errors):
            self.state = SgdState(*(array.copy() for array in state))
        self.errors.append(error)
        return error


# --- Kernels. Sums may be reassociated, for SIMD: ``factorization_sgd`` in benchmarks. ---


@kernel(fastmath=REASSOCIATE)
def visit_block(
    first: int, last: int, start: int, runs: Any, state: Any, rates: Any, adaptive: bool
) -> float:
    """A step for every rating of the runs first..last, beginning somewhere in the middle."""
    rate, bias_rate, reg = rates[0], rates[1], rates[2]
    k, n, loss = state.users.shape[1], last - first, 0.0
    per_factor = np.float32(1) / np.float32(k)
    item_bias, item_squares = state.item_bias, state.item_squares
    for r in range(n):
        run = first + (r + start) % n
        u = runs.users[run]
        x, user_bias, squares = state.users[u], state.user_bias[u], state.user_squares[u]
        for t in range(runs.edges[run], runs.edges[run + 1]):
            i = runs.items[t]
            y = state.items[i]
            d, xx, yy = np.float32(0), np.float32(0), np.float32(0)
            for f in range(k):
                d += x[f] * y[f]
                xx += x[f] * x[f]
                yy += y[f] * y[f]
            e = runs.values[t] - user_bias - item_bias[i] - d
            loss += e * e
            user_bias += bias_rate * (e - reg * user_bias)
            item_bias[i] += bias_rate * (e - reg * item_bias[i])
            if adaptive:
                a, b = rate / math.sqrt(squares), rate / math.sqrt(item_squares[i])
                both = np.float32(2) * e * reg * d
                g2 = e * e * yy - both + reg * reg * xx
                h2 = e * e * xx - both + reg * reg * yy
                for f in range(k):
                    p, q = x[f], y[f]
                    x[f] = p + a * (e * q - reg * p)
                    y[f] = q + b * (e * p - reg * q)
                squares += g2 * per_factor
                item_squares[i] += h2 * per_factor
            else:
                for f in range(k):
                    p, q = x[f], y[f]
                    x[f] = p + rate * (e * q - reg * p)
                    y[f] = q + rate * (e * p - reg * q)
        state.user_bias[u], state.user_squares[u] = user_bias, squares
    return loss


@kernel
def add_weighted(rows: Any, weights: Any, factors: Any, which: Any, out: Any) -> None:
    k = factors.shape[1]
    for t in range(len(rows)):
        w, f, o = weights[t], factors[which[t]], out[rows[t]]
        for j in range(k):
            o[j] += w * f[j]
