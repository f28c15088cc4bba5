"""Dual coordinate ascent: logistic regression and support vector machines, row by row.

    minimize   |w|^2 / 2  +  sum_i c_i loss_i(w x_i + b)            c_i: C times its weight

The optimal weights are a sum of rows, each times its dual variables. A visit maximizes the dual
objective over the variables of one row, the others fixed, and updates the weights:

    logistic           probabilities q of the classes; w = sum_i c_i ([y_i] - q_i) x_i, and the
                       optimum is where q_i = softmax(w x_i + b). One Newton step, shortened
                       where it would overshoot: q = p (1 + c (q + t)) / (1 + c p), p the
                       probabilities before the visit, c = c_i |x_i|^2, and t such that q sums
                       to one
    hinge              a  <-  clip(a - g / (|x|^2 + D), 0, U), g = y w . x - 1 + D a, for each
                       class against the rest; D = 0 and U = c_i, or for the squared hinge
                       D = 1 / (2 c_i) and U = inf
    Crammer and Singer the nearest point to - B / |x|^2 with a_k <= c_i [k = y], sum a_k = 0,
                       where B_k = w_k . x + [k != y] - |x|^2 a_k

There is no learning rate. The duality gap bounds the distance of the objective from its
minimum. A visit computes the gap of its row before it changes anything; when their sum over a
pass is small enough, ``stop`` measures the gap at fixed weights, and the fit ends when that is
within ``tol`` of the objective. Hinge losses shrink: a row whose variables are all at their
bounds, by more than the largest violation of the last pass, is left out until the next
measurement.

The intercept of a support vector machine is the weight of a constant feature, as in LIBLINEAR.
The intercept of logistic regression has no penalty: it gets a small one, on its distance from
where it was at the beginning of the pass, which vanishes as it converges (the method of
multipliers). Its part of the gap is estimated by a Newton step.

Rows are scaled so that the longest has length one; float32, which takes half to three quarters
of the time, is used where ``tol`` allows it.

Shalev-Shwartz and Zhang (2013), Stochastic dual coordinate ascent methods for regularized loss
minimization. JMLR 14. Yu, Huang and Lin (2011), Dual coordinate descent methods for logistic
regression and maximum entropy models. Machine Learning 85. Hsieh, Chang, Lin, Keerthi and
Sundararajan (2008), A dual coordinate descent method for large-scale linear SVM. ICML. Keerthi
et al. (2008), A sequential dual method for large scale multi-class linear SVMs. KDD.
Rockafellar (1976), Augmented Lagrangians and applications of the proximal point algorithm.
Math. Oper. Res. 1.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import entr, xlogy

from tacit.core.engines import Serial, check_stop
from tacit.core.kernel import kernel
from tacit.core.progress import Callback
from tacit.core.randoms import key, permutation
from tacit.core.sweep import Sequential, Visited, sweep
from tacit.kernels.sparse_rows import (
    add_row,
    add_row_steps,
    add_scores,
    chunks,
    dot_row,
    row_squares,
)
from tacit.linear.losses import hinge_losses, log_probabilities, signs_of

__all__ = ["LOSSES", "DualAscent", "Solution", "DualState", "Measured", "solve_dual"]

LOSSES = {"logistic": 0, "hinge": 1, "squared_hinge": 2, "crammer_singer": 3}
LOGISTIC, HINGE, SQUARED_HINGE, CRAMMER_SINGER = LOSSES.values()
COARSE = 3e-5  # tolerances that float32 can meet; test_dual compares both precisions
STRONG = 100.0  # the mean of c_i |x_i|^2 up to which float32 is enough
INTERCEPT = 0.1  # curvature of the intercept's proximal penalty, relative to that of a row
LEAST = 1e-12  # no probability is set lower
TINY = 1e-13  # gaps, relative to the objective, that float64 cannot tell from none


class DualRows(NamedTuple):
    """The scaled rows, which visits read."""

    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray
    codes: np.ndarray  # (n,) int32
    costs: np.ndarray  # (n,) c_i
    squares: np.ndarray  # (n,) |x_i|^2 and ``bias``
    bias: float  # change of the intercept's score where a variable changes by one


class DualState(NamedTuple):
    """The state of a fit; visits change it in place."""

    weights: np.ndarray  # (v, k), padded with zeros
    intercept: np.ndarray  # (k,), padded like the weights
    duals: np.ndarray  # (n, k): q - [y] for logistic regression, else the multipliers
    active: np.ndarray  # (n,) bool: rows that are not shrunk away


@dataclass(frozen=True)
class DualVisited(Visited):
    """Sums over the rows of a pass."""

    gap: float  # of each row before its visit


class Measured(NamedTuple):
    """Objective and duality gap at fixed weights, over the sum of all c_i."""

    objective: float
    gap: float
    gradient: float = np.nan  # largest absolute partial derivative, logistic regression only


class Solution(NamedTuple):
    """The end of a fit by coordinates, in the units and the order of the data."""

    weights: np.ndarray  # (v, k)
    intercept: np.ndarray  # (k,)
    measured: Measured
    passes: int
    converged: bool


def solve_dual(
    rows: sp.csr_array,
    codes: np.ndarray,
    costs: np.ndarray,
    columns: int,
    *,
    loss: str,
    intercept: float,
    tol: float,
    max_iter: int,
    seed: np.uint64,
    callbacks: Sequence[Callback] = (),
    name: str = "fit",
) -> Solution:
    """Fit weights by passes over all rows.

    ``intercept`` is the value of the constant feature, 0 for none; for logistic regression,
    whose intercept is not penalized, only whether it is 0 matters.
    """
    model = DualAscent(
        rows, codes, costs, columns, LOSSES[loss], intercept, tol=tol, seed=seed, name=name
    )
    state = model.start()
    swept = sweep(
        model, state, Serial(), max_iter=max_iter, stop=model.stop, callbacks=callbacks,
        name=name,
    )  # fmt: skip
    measured = model.measured if swept.converged else model.measure(state, gradient=True)
    weights = state.weights[:, :columns].astype(np.float64) / model.unit
    intercepts = state.intercept[:columns].astype(np.float64)
    return Solution(weights, intercepts, measured, len(swept.losses), swept.converged)


class DualAscent(Sequential):
    """Rows of a fit, and when to stop."""

    def __init__(
        self, rows: sp.csr_array, codes: np.ndarray, costs: np.ndarray, columns: int, kind: int,
        intercept: float, *, tol: float, seed: np.uint64, name: str = "fit",
    ) -> None:  # fmt: skip
        self.kind, self.columns, self.tol, self.seed = kind, columns, tol, seed
        self.used = np.flatnonzero(costs > 0)
        squares = row_squares(rows.indptr, rows.data)
        self.unit = float(np.sqrt(squares.max(initial=0.0))) or 1.0
        with np.errstate(over="ignore", invalid="ignore"):
            costs = costs * self.unit**2
            squares = squares / self.unit**2
            strength = float(costs @ squares) / len(self.used)
        if not (np.isfinite(squares).all() and costs.max() < 1e37):
            raise ValueError(
                f"{name}: X holds values too large to be squared, or C or the weights of rows "
                "are too large. Scale the columns down, or lower C."
            )
        self.logistic = kind == LOGISTIC
        unit = max(1.0, self.unit) if self.logistic else 1.0
        fine = tol < COARSE * unit or strength > STRONG
        dtype = np.float64 if fine else np.float32
        self.penalized = not self.logistic and intercept > 0
        bias = (intercept / self.unit) ** 2
        if self.logistic and intercept:
            n = len(self.used)
            bias = min(1.0, max(INTERCEPT * strength, 200.0 / n)) * n / float(costs.sum())
        self.rows = DualRows(
            rows.indptr, rows.indices, (rows.data / self.unit).astype(dtype), codes,
            costs.astype(dtype), (squares + bias).astype(dtype), float(bias),
        )  # fmt: skip
        self.matrix = sp.csr_array((self.rows.data, self.rows.indices, rows.indptr), rows.shape)
        self.costs, self.total = costs, float(costs.sum())
        self.shrink_above = np.inf
        self.gap, self.last_gap, self.measure_below = 0.0, np.inf, np.inf
        self.measured = Measured(np.nan, np.inf, np.inf)

    def start(self) -> DualState:
        """Zeros; for logistic regression a point between the labels and the class frequencies,
        the same fraction of the way for every row: the one with the highest dual objective."""
        rows, k = self.rows, self.columns
        dtype = rows.data.dtype
        n, v = self.matrix.shape
        duals, weights = np.zeros((n, k), dtype), np.zeros((v, k), dtype)
        intercept, active = np.zeros(k, dtype), np.ones(n, np.bool_)
        if self.logistic:
            classes = max(2, k)
            frequencies = np.bincount(rows.codes, self.costs, classes) / self.total
            away = frequencies - np.eye(classes)
            offsets = away[:, -k:][rows.codes]
            weights = -(self.matrix.T @ (self.costs[:, None] * offsets).astype(dtype))
            fractions = np.r_[np.geomspace(1e-8, 0.01, 30), np.linspace(0, 1, 65)[1:-1]]
            entropy = entr(np.eye(classes) + fractions[:, None, None] * away).sum(axis=2)
            square = square_sum(weights) / self.total
            best = np.argmax(entropy @ frequencies - 0.5 * square * fractions**2)
            weights *= dtype.type(fractions[best])
            duals = (fractions[best] * offsets).astype(dtype)
            if rows.bias:
                logs = np.log(np.maximum(frequencies, 1.0 / n))
                logs -= logs[0] if k == 1 else logs.mean()
                intercept = logs[-k:].astype(dtype)
        # Padded to full SIMD registers; the padding stays zero.
        if k > 1:
            weights = np.pad(weights, ((0, 0), (0, -k % 8)))
            intercept = np.pad(intercept, (0, -k % 8))
        return DualState(weights, intercept, duals, active)

    def rounds(self, number: int) -> Iterable[Sequence[Any]]:
        """All rows as one part, in an order drawn from the seed."""
        return [[self.used[permutation(key(self.seed, number), len(self.used))]]]

    def visit(self, state: DualState, part: np.ndarray, number: int) -> DualVisited:
        if self.logistic and self.rows.bias:
            state.intercept[: self.columns] -= self.rows.bias * (self.costs @ state.duals)
        loss = gap = violation = 0.0
        for order in chunks(self.rows.indptr, part):
            sums = visit_rows(
                self.rows, state, order, self.kind, self.columns, self.shrink_above
            )
            loss, gap, violation = loss + sums[0], gap + sums[1], max(violation, sums[2])
            check_stop()
        self.shrink_above = violation if violation > 0 else np.inf
        return DualVisited(self.total, loss, gap)

    def merge(self, state: DualState, stats: DualVisited) -> None:
        self.last_gap, self.gap = self.gap or np.inf, stats.gap / self.total

    def stop(self, state: DualState, losses: list[float]) -> bool:
        """Whether the duality gap is within ``tol`` of the objective, and for logistic
        regression no partial derivative exceeds ``tol``."""
        if not np.isfinite(losses[-1]):
            raise FloatingPointError("the dual variables overflowed")
        # The visits have closed most of the gap that rows had before them.
        remaining = self.gap * min(max(self.gap / self.last_gap, 0.05), 1.0)
        # The losses of a pass leave out rows that are shrunk away.
        objective = self.measured.objective
        if np.isnan(objective):
            objective = max(losses[-1], 0.01 * losses[0])
        limit = self.tol * objective
        limit *= 0.25 if self.logistic else 2.0  # the gap of hinge losses falls slowly
        if (remaining > limit or self.gap > self.measure_below) and self.gap > TINY * objective:
            return False
        self.measured = now = self.measure(state)
        limit = max(self.tol * now.objective, TINY * now.objective)
        if now.gap <= limit and (not self.logistic or now.gradient <= self.tol):
            return True
        missing = limit / now.gap if now.gap > limit else 1.0
        if self.logistic and now.gap <= limit:  # the gradient falls as the root of the gap
            missing = min(missing, (self.tol / now.gradient) ** 2)
        self.measure_below = self.gap * min(max(missing, 0.4), 0.7)
        state.active[:] = True
        self.shrink_above = np.inf
        return False

    def measure(self, state: DualState, *, gradient: bool = False) -> Measured:
        """Objective and gap of all rows at fixed weights. The gradient takes another pass, so
        it is computed only with ``gradient`` or where the gap is small enough."""
        weights = state.weights[:, : self.columns]
        scores = np.asarray(self.matrix @ weights, np.float64)
        if self.logistic and self.columns == 1 and self.rows.bias:
            state.intercept[:] = best_intercept(
                scores[:, 0], self.rows.codes, self.costs, float(state.intercept[0])
            )
        scores += state.intercept[: self.columns]
        penalty = 0.5 * square_sum(state.weights)
        if self.penalized:
            penalty += 0.5 * square_sum(state.intercept) / self.rows.bias
        if not self.logistic:
            loss, gap = self._hinge_gap(scores, state.duals)
            return Measured((loss + penalty) / self.total, gap / self.total, np.nan)
        loss, gap, residuals = self._logistic_gap(scores, state)
        objective, gap = (loss + penalty) / self.total, gap / self.total
        if gap > self.tol * objective and not gradient:
            return Measured(objective, gap, np.nan)
        gradients = self.matrix.T @ residuals.astype(self.rows.data.dtype) + weights
        largest = self.unit * float(np.abs(gradients).max(initial=0.0))
        if self.rows.bias:
            largest = max(largest, float(np.abs(residuals.sum(axis=0)).max()))
        return Measured(objective, gap, largest / self.total)

    def _hinge_gap(self, scores: np.ndarray, duals: np.ndarray) -> tuple[float, float]:
        """Loss and gap of all rows."""
        codes, together = self.rows.codes, self.kind == CRAMMER_SINGER
        squared = self.kind == SQUARED_HINGE
        losses = hinge_losses(scores, codes, squared=squared, crammer_singer=together)
        loss = float(self.costs @ losses)
        if together:
            wrong = np.arange(self.columns) != codes[:, None]
            return loss, loss + float(np.sum(duals * (scores + wrong)))
        gap = loss - float(np.sum(duals * (1 - signs_of(codes, self.columns) * scores)))
        if squared:
            costs = self.costs[self.used, None]
            gap += 0.25 * float(np.sum(np.square(duals[self.used], dtype=np.float64) / costs))
        return loss, max(0.0, gap)

    def _logistic_gap(
        self, scores: np.ndarray, state: DualState
    ) -> tuple[float, float, np.ndarray]:
        """Loss, gap and residuals p - [y], times the costs, of all rows."""
        k, codes, costs = self.columns, self.rows.codes, self.costs
        every = np.arange(len(codes))
        logs = log_probabilities(scores)
        loss = -float(costs @ logs[every, codes])
        q = np.zeros_like(logs)
        q[:, -k:] = state.duals
        if k == 1:
            q[:, 0] = -q[:, 1]
        q[every, codes] += 1
        np.maximum(q, 0.0, out=q)
        gap = float(costs @ (xlogy(q, q) - q * logs).sum(axis=1))
        p = np.exp(logs)[:, -k:]
        curvatures = costs @ (p * (1 - p))
        if k == 1:
            p[:, 0] -= codes
        else:
            p[every, codes] -= 1
        residuals = p * costs[:, None]
        if self.rows.bias:
            distance = residuals.sum(axis=0) / np.maximum(curvatures, 1e-6 * self.total)
            gap += float(np.abs(distance) @ np.abs(costs @ state.duals))
        return loss, max(0.0, gap), residuals


def square_sum(values: np.ndarray) -> float:
    return float(np.square(values, dtype=np.float64).sum())


def best_intercept(
    scores: np.ndarray, codes: np.ndarray, costs: np.ndarray, intercept: float
) -> float:
    """The intercept of two classes at which the gradient is zero, by Newton's method."""
    for _ in range(20):
        p = 0.5 + 0.5 * np.tanh(0.5 * (scores + intercept))
        gradient, curvature = float(costs @ (p - codes)), float(costs @ (p * (1 - p)))
        intercept -= min(max(gradient / max(curvature, 1e-300), -1.0), 1.0)
        # Newton's method: the next gradient is of the order of the square of this one.
        if abs(gradient) < 1e-3 * curvature and abs(gradient) < 1e-4 * float(costs.sum()):
            break
    return intercept


# --- Kernels. No fastmath: its sums would depend on where arrays happen to be in memory. ---


@kernel
def visit_rows(rows, state, order, kind, columns, shrink_above):
    """Visit rows; their loss and gap before their visits, and the largest violation."""
    weights, intercept = state.weights, state.intercept
    width = intercept.size
    vector = weights.ravel()
    scores, spare = np.empty_like(intercept), np.empty_like(intercept)
    loss, gap, worst = 0.0, 0.0, 0.0
    for i in order:
        if not state.active[i]:
            continue
        first, end, code = rows.indptr[i], rows.indptr[i + 1], rows.codes[i]
        cost, square = np.float64(rows.costs[i]), np.float64(rows.squares[i])
        duals = state.duals[i]
        if width == 1:
            scores[0] = intercept[0] + dot_row(rows.indices, rows.data, first, end, vector)
        else:
            scores[:] = intercept
            add_scores(rows.indices, rows.data, first, end, weights, scores)
        # Every step turns the scores into the factors of the row in the change of the weights.
        if kind == LOGISTIC and width == 1:
            result = step_sigmoid(scores, duals, code, cost, square)
        elif kind == LOGISTIC:
            result = step_softmax(scores, duals, code, cost, square, columns, spare)
        elif kind == CRAMMER_SINGER:
            result = step_crammer_singer(scores, duals, code, cost, square, columns, spare)
        else:
            squared = kind == SQUARED_HINGE
            result = step_hinge(scores, duals, code, cost, square, columns, squared)
        loss += result[0]
        gap += result[1]
        worst = max(worst, result[2])
        state.active[i] = result[3] <= shrink_above
        if not result[4]:
            continue
        for k in range(width):
            intercept[k] += rows.bias * scores[k]
        if width == 1:
            add_row(rows.indices, rows.data, first, end, vector, scores[0])
        else:
            add_row_steps(rows.indices, rows.data, first, end, weights, scores)
    return loss, gap, worst


@kernel
def step_softmax(scores, residuals, code, cost, square, columns, p):
    """Logistic regression of many classes. Returns loss, gap, violation, distance from the
    bounds, and whether anything changed; here and below."""
    c = cost * square
    top = scores[0]
    for k in range(1, columns):
        top = max(top, scores[k])
    total = 0.0
    for k in range(columns):
        p[k] = np.exp(scores[k] - top)
        total += p[k]
    loss = cost * (np.log(total) + top - scores[code])
    residuals[code] += 1  # now the probabilities q
    q = residuals
    mass, slack, gap = 0.0, 0.0, 0.0
    for k in range(columns):
        p[k] /= total
        part = p[k] / (1 + c * p[k])
        scores[k] = part
        mass += part * (1 + c * q[k])
        slack += part
        # KL(q || p) without logarithms: near enough where both are close
        gap += (p[k] - q[k]) * (p[k] - q[k]) / (p[k] + q[k] + LEAST)
    t = (1 - mass) / (c * slack) if c > 0 else 0.0
    total = 0.0
    for k in range(columns):
        scores[k] = max(scores[k] * (1 + c * (q[k] + t)), LEAST)
        total += scores[k]
    far = 0.0
    for k in range(columns):
        scores[k] = scores[k] / total - q[k]
        far = max(far, abs(scores[k]))
    length = step_length(scores, p, q, c, columns) if c * far > 0.3 else 1.0
    for k in range(columns):
        change = length * scores[k]
        q[k] += change
        scores[k] = -cost * change
    residuals[code] -= 1
    return loss, cost * gap, 0.0, 0.0, True


@kernel
def step_length(change, p, q, c, columns):
    """The part of a change of q after which the dual objective would fall again."""
    low, high, length = 0.0, 1.0, 1.0
    for turn in range(50):
        if turn > 5 and low > 0:
            break
        gradient = 0.0
        for k in range(columns):
            d = change[k]
            moved = max(q[k] + length * d, LEAST)
            gradient += d * (np.log(moved / max(p[k], 1e-30)) + c * length * d)
        if gradient <= 0 and turn == 0:
            return length
        if gradient > 0:
            high = length
        else:
            low = length
        length = 0.5 * (low + high)
    return length


@kernel
def step_sigmoid(scores, residuals, code, cost, square):
    """Logistic regression of two classes."""
    score, c = np.float64(scores[0]), cost * square
    e = np.exp(-abs(score))
    p = (1.0 if score >= 0 else e) / (1 + e)
    q = np.float64(residuals[0]) + code
    both = p + q + LEAST
    gap = (p - q) * (p - q) / (both * (1 - 0.5 * both + LEAST))
    change = (p - q) / (1 + c * p * (1 - p))
    if c * abs(change) > 1:  # beyond where the curvature can be taken as constant
        change = bisect(p, q, c, score)
    residuals[0] += change
    scores[0] = -cost * change
    loss = np.log1p(e) + max(-score if code == 1 else score, 0.0)
    return cost * loss, cost * gap, 0.0, 0.0, True


@kernel
def bisect(p, q, c, score):
    """The change of q, on the way to p, after which it is the sigmoid of the new score."""
    low, high = 0.0, p - q
    for _ in range(20):
        change = 0.5 * (low + high)
        moved = min(max(q + change, 1e-7), 1 - 1e-7)
        error = np.log(moved / (1 - moved)) - score + c * change
        if (error > 0) == (p > q):
            high = change
        else:
            low = change
    return 0.5 * (low + high)


@kernel
def step_hinge(scores, duals, code, cost, square, columns, squared):
    """Hinge loss or its square, for each class against the rest."""
    extra = 0.5 / cost if squared else 0.0
    upper = np.inf if squared else cost
    curvature = max(square + extra, TINY)
    loss, gap, worst, inside, moved = 0.0, 0.0, 0.0, np.inf, False
    for k in range(columns):
        sign = 1.0 if code == (k if columns > 1 else 1) else -1.0
        a = np.float64(duals[k])
        short = 1 - sign * scores[k]
        part = max(short, 0.0)
        part *= cost * part if squared else cost
        loss += part
        gap += part - a * short + 0.5 * extra * a * a
        gradient = extra * a - short
        scores[k] = 0
        low, high = a <= 0, a >= upper
        violation = min(gradient, 0.0) if low else max(gradient, 0.0) if high else gradient
        worst = max(worst, abs(violation))
        inside = min(inside, gradient if low else -gradient if high else 0.0)
        if abs(violation) > 1e-14:
            new = min(max(a - gradient / curvature, 0.0), upper)
            duals[k] = new
            scores[k] = (np.float64(duals[k]) - a) * sign
            moved = moved or scores[k] != 0
    return loss, gap, worst, inside, moved


@kernel
def step_crammer_singer(scores, duals, code, cost, square, columns, spare):
    """Hinge loss of the margin to the best other class."""
    levels, square = spare[:columns], max(square, TINY)
    low, high, second = np.inf, -np.inf, -np.inf
    for k in range(columns):
        scores[k] += 0 if k == code else 1
        high = max(high, np.float64(scores[k]))
        if k != code:
            second = max(second, np.float64(scores[k]))
        if duals[k] < (cost if k == code else 0.0):
            low = min(low, np.float64(scores[k]))
    violation = high - low if low < np.inf else 0.0
    loss = cost * (high - scores[code])
    gap = loss
    for k in range(columns):
        gap += np.float64(duals[k]) * scores[k]
    # At its bound: no variable is used, and the true class leads by more than the margin.
    inside = scores[code] - second if duals[code] <= 0 else 0.0
    if violation <= 1e-12:
        return loss, gap, violation, inside, False
    for k in range(columns):
        scores[k] -= square * duals[k]  # B
        levels[k] = scores[k] + (square * cost if k == code else 0.0)
    levels.sort()
    # The level at which the variables sum to zero.
    total = levels[columns - 1] - square * cost
    count = 1
    while count < columns and total < count * levels[columns - 1 - count]:
        total += levels[columns - 1 - count]
        count += 1
    level = total / count
    moved = False
    for k in range(columns):
        a = np.float64(duals[k])
        duals[k] = min(cost if k == code else 0.0, (level - scores[k]) / square)
        scores[k] = np.float64(duals[k]) - a
        moved = moved or scores[k] != 0
    return loss, gap, violation, inside, moved
