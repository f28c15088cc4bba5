"""Linear classifiers with an L1 penalty, or an elastic net, by proximal Newton steps.

    minimize   sum_i a_i (- log p(y_i | x_i)) / sum_i a_i  +  l2/2 |w|^2  +  l1 |w|_1

One class at a time: with the scores of the others fixed, the loss is that of two classes. A
visit replaces it by its second-order expansion, minimizes that and the penalty by passes of
coordinate descent over an active set (weights that are not zero, or whose gradient exceeds
l1), and searches the line for the step size at which the objective falls. The intercept is
a coordinate without penalty. Weights become exactly zero. The loss does not change where the
weights of a feature for all classes move by the same number: after every pass that number is
chosen to make the penalty smallest, which steps of single classes would approach slowly.

The duality gap bounds the distance from the minimum. With residuals r = p - [y], scaled by
the largest s <= 1 for which no gradient exceeds l1,

    gap  =  objective  -  mean entropy of [y] + s r  +  sum_j max(|s g_j| - l1, 0)^2 / (2 l2)

The fit ends when no partial derivative exceeds ``tol`` and the gap is within ``tol`` of the
objective, or, because the bound is loose where C is large, when the remaining decrease,
extrapolated from the last two passes, is below a tenth of that. As in ``dual``, the intercept's
part of the gap is estimated by a Newton step.

``HingeDescent`` does the same for the squared hinge loss, each class against the rest, where
scores have no intercept: a feature that is the same in all rows stands for it.

Yuan, Ho and Lin (2012), An improved GLMNET for L1-regularized logistic regression. JMLR 13.
Yuan, Chang, Hsieh and Lin (2010), A comparison of optimization methods and software for
large-scale L1-regularized linear classification. JMLR 11. Friedman, Hastie and Tibshirani
(2010), Regularization paths for generalized linear models via coordinate descent. J.
Statistical Software 33.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import entr, expit, logsumexp

from tacit.core.engines import Serial, check_stop
from tacit.core.kernel import kernel
from tacit.core.progress import Callback
from tacit.core.randoms import key, permutation
from tacit.core.sweep import Sequential, Visited, sweep
from tacit.linear.dual import Measured, Solution
from tacit.linear.losses import log_probabilities

__all__ = ["CoordinateDescent", "CoordinateState", "HingeDescent", "solve_coordinates"]

INNER = 0.1  # coordinate descent ends when violations have fallen to this fraction
PASSES = 50  # of coordinate descent to a Newton step, at most


class CoordinateState(NamedTuple):
    """The state of a fit; visits change it in place."""

    weights: np.ndarray  # (k, v): the weights of a class are contiguous
    intercept: np.ndarray  # (k,)
    scores: np.ndarray  # (k, n)


def solve_coordinates(
    rows: sp.csr_array,
    codes: np.ndarray,
    weights: np.ndarray,
    columns: int,
    *,
    loss: str,
    l1: float,
    l2: float,
    intercept: bool,
    tol: float,
    max_iter: int,
    seed: np.uint64,
    callbacks: Sequence[Callback] = (),
    name: str = "fit",
) -> Solution:
    """Fit weights by passes over all classes; ``weights`` (n,) are those of the rows, ``loss``
    is "logistic" or "squared_hinge"."""
    kind = CoordinateDescent if loss == "logistic" else HingeDescent
    model = kind(rows, codes, weights, columns, l1, l2, intercept, tol, seed)
    state = model.start()
    swept = sweep(
        model, state, Serial(), max_iter=max_iter, stop=model.stop, callbacks=callbacks,
        name=name,
    )  # fmt: skip
    measured = model.measured if swept.converged else model.measure(state)
    intercepts = state.intercept
    if columns > 1:  # determined up to a constant
        intercepts = intercepts - intercepts.mean()
    return Solution(
        np.ascontiguousarray(state.weights.T), intercepts, measured, len(swept.losses),
        swept.converged,
    )  # fmt: skip


class CoordinateDescent(Sequential):
    """Columns of a fit, and when to stop."""

    def __init__(
        self, rows: sp.csr_array, codes: np.ndarray, weights: np.ndarray, columns: int,
        l1: float, l2: float, intercept: bool, tol: float, seed: np.uint64,
    ) -> None:  # fmt: skip
        self.columns: sp.csc_array = sp.csc_array(rows)
        self.rows, self.codes, self.k = rows, codes, columns
        self.weights = weights / weights.sum()
        self.l1, self.l2, self.intercept = l1, l2, intercept
        self.tol, self.seed = tol, seed
        self.violation = self.decrease = self.last_decrease = 0.0
        self.measured = Measured(np.nan, np.inf, np.inf)

    def start(self) -> CoordinateState:
        """Zeros, and the intercepts of the class frequencies."""
        (n, v), k = self.rows.shape, self.k
        intercept = np.zeros(k)
        if self.intercept:
            frequencies = np.bincount(self.codes, self.weights, max(2, k))
            logs = np.log(np.maximum(frequencies, 1.0 / n))
            intercept = (logs - (logs[0] if k == 1 else logs.mean()))[-k:]
        return CoordinateState(
            np.zeros((k, v)), intercept, np.repeat(intercept[:, None], n, axis=1)
        )

    def rounds(self, number: int) -> Iterable[Sequence[Any]]:
        """One class after another."""
        self.violation, self.last_decrease, self.decrease = 0.0, self.decrease, 0.0
        return [[j] for j in range(self.k)]

    def visit(self, state: CoordinateState, part: int, number: int) -> Visited:
        """A proximal Newton step for class ``part``."""
        w, scores = state.weights[part], state.scores[part]
        expansion = self._expand(state, part)
        gradient = self.columns.T @ expansion.residuals
        offset = float(expansion.residuals.sum()) if self.intercept else 0.0
        violations = self._violations(gradient, w)
        self.violation = max(self.violation, float(violations.max(initial=0.0)), abs(offset))
        active = np.flatnonzero((w != 0) | (violations > 0))
        active = active[permutation(key(self.seed, number, part), len(active))]
        curvatures = expansion.curvatures
        step = ColumnStep(
            active, w[active], gradient[active], np.zeros(len(active)), np.zeros(len(active)),
            curvatures, np.zeros(len(scores)), np.array([0.0, offset, curvatures.sum()]),
            offset,
        )  # fmt: skip
        self._descend(step, min(PASSES, 5 * (number + 1)))  # early steps need not be exact
        self.decrease += self._search_line(state, part, step, expansion.change)
        if part == self.k - 1:
            self._end_pass_over_classes(state)
        return Visited(1.0 / self.k, expansion.loss / self.k)

    def _expand(self, state: CoordinateState, j: int) -> "Expansion":
        """The loss as a function of the scores of class j, those of the others fixed."""
        scores, a = state.scores[j], self.weights
        right = self.codes == (1 if self.k == 1 else j)
        others = np.zeros_like(scores)
        if self.k > 1:
            others = logsumexp(np.delete(state.scores, j, axis=0), axis=0)
        p = expit(scores - others)
        before = np.logaddexp(others, scores)

        def change(direction: np.ndarray, length: float) -> float:
            total = float(a @ (np.logaddexp(others, scores + length * direction) - before))
            return total - length * float(a[right] @ direction[right])

        loss = float(a @ before) - float(a[right] @ scores[right])
        curvatures = np.maximum(a * p * (1 - p), 1e-15 * a)
        return Expansion(loss, a * (p - right), curvatures, change)

    def _end_pass_over_classes(self, state: CoordinateState) -> None:
        if self.k > 1:
            center_features(state.weights, self.l1, self.l2)

    def _violations(self, gradient: np.ndarray, w: np.ndarray) -> np.ndarray:
        """The absolute partial derivatives of the objective; at zero, the least of them."""
        smooth = gradient + self.l2 * w
        at_zero = np.maximum(np.abs(smooth) - self.l1, 0.0)
        return np.where(w == 0, at_zero, np.abs(smooth + self.l1 * np.sign(w)))

    def _descend(self, step: "ColumnStep", passes: int) -> None:
        """Minimize the expansion, until most of the violation is gone."""
        columns = self.columns
        measure_columns(columns.indptr, columns.indices, columns.data, step)
        first = 0.0
        for _ in range(passes):
            violation = descend(
                columns.indptr, columns.indices, columns.data, step, self.l1, self.l2,
                self.intercept,
            )  # fmt: skip
            check_stop()
            first = first or violation
            if violation <= INNER * first:
                break

    def _search_line(
        self, state: CoordinateState, j: int, step: "ColumnStep", loss_change: Callable
    ) -> float:
        """Take the step, or the first half, quarter, ... of it that lowers the objective.
        Returns the decrease."""
        old = state.weights[j, step.active]
        direction, score_direction = step.weights - old, step.scores + step.offset[0]
        expected = float(
            step.gradient @ direction + step.offset[0] * step.offset_gradient
            + self._penalty(step.weights) - self._penalty(old)
        )  # fmt: skip
        length = 1.0
        for _ in range(40):
            new = old + length * direction
            change = loss_change(score_direction, length)
            change += self._penalty(new) - self._penalty(old)
            if change <= 0.01 * length * expected + 1e-14:
                state.weights[j, step.active] = new if length < 1 else step.weights
                state.intercept[j] += length * step.offset[0]
                state.scores[j] += length * score_direction
                return -change
            length /= 2
        return 0.0

    def _penalty(self, w: np.ndarray) -> float:
        return 0.5 * self.l2 * float(w @ w) + self.l1 * float(np.abs(w).sum())

    def stop(self, state: CoordinateState, losses: list[float]) -> bool:
        """Whether partial derivatives and the distance from the minimum are within ``tol``."""
        # The sum of the decreases to come, where they fall by the same factor.
        factor = min(self.decrease / max(self.last_decrease, 1e-300), 0.99)
        remaining = self.decrease * max(1.0, factor / (1 - factor))
        loose = self.l2 == 0 and self.violation > 0.1 * self.l1  # the gap cannot be small
        if self.violation > 10 * self.tol or (loose and remaining > self.tol * losses[-1]):
            return False
        self.measured = now = self.measure(state)
        limit = max(self.tol, 1e-13) * now.objective
        return now.gradient <= self.tol and (now.gap <= limit or remaining <= 0.1 * limit)

    def measure(self, state: CoordinateState) -> Measured:
        """Objective, gap and largest partial derivative."""
        k, a, every = self.k, self.weights, np.arange(len(self.codes))
        # Removes the rounding errors of the updates.
        state.scores[:] = (self.rows @ state.weights.T + state.intercept).T
        logs = log_probabilities(np.ascontiguousarray(state.scores.T))
        objective = -float(a @ logs[every, self.codes]) + sum(map(self._penalty, state.weights))
        p = np.exp(logs)
        labels = np.zeros_like(p)
        labels[every, self.codes] = 1
        residuals = p - labels
        weighted = a[:, None] * residuals[:, -k:]
        gradients = (self.columns.T @ weighted).T
        offsets = weighted.sum(axis=0)
        largest = max(
            float(self._violations(g, w).max(initial=0.0))
            for g, w in zip(gradients, state.weights, strict=True)
        )
        if self.intercept:
            largest = max(largest, float(np.abs(offsets).max()))
        steepest = float(np.abs(gradients).max(initial=0.0))
        dual = -np.inf
        if self.l1 + self.l2 == 0:
            dual = objective  # without a penalty there is no bound
        for scale in {1.0, min(1.0, self.l1 / steepest if steepest else 1.0)}:
            excess = np.maximum(scale * np.abs(gradients) - self.l1, 0.0)
            cost = float(np.square(excess).sum()) / (2 * self.l2) if self.l2 else 0.0
            if self.l2 == 0 and excess.max(initial=0.0) > 1e-12 * self.l1:
                continue
            entropy = float(a @ entr(np.maximum(labels + scale * residuals, 0.0)).sum(axis=1))
            dual = max(dual, entropy - cost)
        gap = objective - dual
        if self.intercept:
            curvatures = np.maximum(a @ (p * (1 - p))[:, -k:], 1e-6)
            gap += float(np.sum(offsets**2 / curvatures))
        return Measured(objective, max(0.0, gap), largest)


class HingeDescent(CoordinateDescent):
    """The mean squared hinge loss of every class against the rest, and an L1 penalty."""

    def _shortfalls(self, scores: np.ndarray, j: int) -> tuple[np.ndarray, np.ndarray]:
        """Signs of the rows, 1 for class j and -1 for others, and max(0, 1 - margin)."""
        signs = np.where(self.codes == (1 if self.k == 1 else j), 1.0, -1.0)
        return signs, np.maximum(1 - signs * scores, 0.0)

    def _expand(self, state: CoordinateState, j: int) -> "Expansion":
        scores, a = state.scores[j], self.weights
        signs, short = self._shortfalls(scores, j)

        def change(direction: np.ndarray, length: float) -> float:
            after = np.maximum(1 - signs * (scores + length * direction), 0.0)
            return float(a @ (after**2 - short**2))

        curvatures = np.where(short > 0, 2.0, 1e-6) * a
        return Expansion(float(a @ short**2), -2 * a * signs * short, curvatures, change)

    def _end_pass_over_classes(self, state: CoordinateState) -> None:
        """One-against-rest scores have no constant in common."""

    def measure(self, state: CoordinateState) -> Measured:
        """Objective, gap and largest partial derivative. The dual variables are the losses'
        derivatives, scaled until no gradient exceeds l1."""
        state.scores[:] = (self.rows @ state.weights.T).T
        objective = gap = largest = 0.0
        for j, (w, scores) in enumerate(zip(state.weights, state.scores, strict=True)):
            signs, short = self._shortfalls(scores, j)
            gradient = self.columns.T @ (-2 * self.weights * signs * short)
            largest = max(largest, float(self._violations(gradient, w).max(initial=0.0)))
            value = float(self.weights @ short**2) + self._penalty(w)
            steepest = float(np.abs(gradient).max(initial=0.0))
            scale = min(1.0, self.l1 / steepest) if steepest else 1.0
            dual = float(self.weights @ (2 * scale * short - (scale * short) ** 2))
            objective, gap = objective + value, gap + max(0.0, value - dual)
        return Measured(objective, gap, largest)


class Expansion(NamedTuple):
    """The loss of all rows as a function of the scores of one class."""

    loss: float
    residuals: np.ndarray  # (n,) first derivatives
    curvatures: np.ndarray  # (n,) second derivatives
    change: Callable[[np.ndarray, float], float]  # of the loss: direction of scores, length


class ColumnStep(NamedTuple):
    """A step of one class. Kernels change ``weights``, ``scores`` and ``offset[0]``."""

    active: np.ndarray  # columns, in the order of their visits
    weights: np.ndarray  # of those columns
    gradient: np.ndarray  # of the loss, before the step
    squares: np.ndarray  # second derivatives
    sums: np.ndarray  # mixed derivatives with the intercept
    curvatures: np.ndarray  # (n,) of the rows
    scores: np.ndarray  # (n,): change of the scores, but for the intercept's
    offset: np.ndarray  # change of the intercept, its gradient now, its second derivative
    offset_gradient: float  # before the step


@kernel
def measure_columns(indptr, indices, data, step):
    """Second derivatives of the active columns."""
    for s in range(step.active.size):
        j = step.active[s]
        square, total = 0.0, 0.0
        for t in range(indptr[j], indptr[j + 1]):
            part = data[t] * step.curvatures[indices[t]]
            total += part
            square += part * data[t]
        step.squares[s], step.sums[s] = square, total


@kernel
def descend(indptr, indices, data, step, l1, l2, with_intercept):
    """One pass over the active columns; the sum of their violations before their steps."""
    violation = 0.0
    offset, scores = step.offset, step.scores
    for s in range(step.active.size):
        j, w = step.active[s], step.weights[s]
        first, end = indptr[j], indptr[j + 1]
        gradient = step.gradient[s] + l2 * w + offset[0] * step.sums[s]
        for t in range(first, end):
            i = indices[t]
            gradient += data[t] * step.curvatures[i] * scores[i]
        if w > 0:
            violation += abs(gradient + l1)
        elif w < 0:
            violation += abs(gradient - l1)
        else:
            violation += max(abs(gradient) - l1, 0.0)
        curvature = step.squares[s] + l2
        if curvature <= 0:
            continue
        new = w - gradient / curvature
        new = np.sign(new) * max(abs(new) - l1 / curvature, 0.0)
        change = new - w
        if change == 0:
            continue
        step.weights[s] = new
        offset[1] += change * step.sums[s]
        for t in range(first, end):
            scores[indices[t]] += change * data[t]
    if with_intercept:
        change = -offset[1] / offset[2]
        violation += abs(offset[1])
        offset[0] += change
        offset[1] += change * offset[2]
    return violation


@kernel
def center_features(weights, l1, l2):
    """Shift the weights of every feature, all classes alike, to the smallest penalty."""
    k = weights.shape[0]
    for j in range(weights.shape[1]):
        total, used = 0.0, False
        for a in range(k):
            total += weights[a, j]
            used = used or weights[a, j] != 0
        if not used:
            continue
        shift = best_shift(weights[:, j], total, l1, l2)
        if shift != 0:
            for a in range(k):
                weights[a, j] += shift


@kernel
def best_shift(w, total, l1, l2):
    """The s at which the derivative of sum_a l1 |w_a + s| + l2/2 (w_a + s)^2 changes its sign:
    0 if it can be, else one that makes a weight zero, else between two of those."""
    k = w.size
    for a in range(-1, k):
        s = -w[a] if a >= 0 else 0.0
        middle, ties = l2 * (total + k * s), 0
        for b in range(k):
            shifted = w[b] + s
            middle += l1 * np.sign(shifted)
            ties += shifted == 0
        if abs(middle) <= l1 * ties or middle == 0:
            return s
    if l2 > 0:
        for positive in range(k + 1):
            s = -(total + l1 * (2 * positive - k) / l2) / k
            count = 0
            for b in range(k):
                count += w[b] + s > 0
            if count == positive:
                return s
    return 0.0
