"""Logistic regression by coordinate ascent in the dual: one row's probabilities at a time.

With an L2 penalty the best weights are a sum of rows, each times what its probabilities q_i
are off by,

    w  =  - 1 / (l2 n)  sum_i  a_i (q_i - [y_i]) x_i        [y]: 1 in the place of class y

and the optimum is where q_i = softmax(w x_i + b) for all rows. A visit sets q_i so that this
holds for its row once w has followed. With p the probabilities before the visit and
c = a_i |x_i|^2 / (l2 n), Newton's step towards that is

    q  =  p (1 + c (old q + t)) / (1 + c p),                t such that q sums to one

cut short where it would overshoot. There is no rate to choose, long rows and short ones may be
mixed, and no second table beside the weights has to follow; a pass takes the gap between the
two sides, sum_i a_i KL(q_i || p_i) / n, down to a tenth if C is moderate. The gap bounds what
the objective is above its minimum, so a fit knows when to stop. ``dual_steps`` holds the steps.

Where there is much to do, and C times the squared length of rows is small so that they have
little to do with each other, two halves of them are visited at once, each with weights of its
own. Either takes what it does for half of what is done: its steps count twice for itself, and
the mean of both is what they add up to. That takes no more passes than one row after another;
with a large C it would.

The intercept has no penalty. It gets a small one, on its distance from where it was at the
beginning of the pass, which vanishes as it comes to rest (the method of multipliers).

Ma et al. (2015), Adding vs. averaging in distributed primal-dual optimization. ICML.
Shalev-Shwartz and Zhang (2013), Stochastic dual coordinate ascent methods for regularized loss
minimization. JMLR 14. Yu, Huang and Lin (2011), Dual coordinate descent methods for logistic
regression and maximum entropy models. Machine Learning 85. Rockafellar (1976), Augmented
Lagrangians and applications of the proximal point algorithm. Math. Oper. Res. 1.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import entr

from tacit.core.engines import Engine, RunningThreads, Serial, both
from tacit.core.randoms import key, permutation
from tacit.kernels.sparse_rows import scale_down, square_sum
from tacit.linear.dual_steps import (
    add_across,
    by_column,
    by_row,
    put_mean,
    see_rows,
    steepest_of,
    visit_many,
)
from tacit.linear.linear_classifier import FEW
from tacit.linear.logistic_saga import Problem, most_first
from tacit.linear.losses import SPAN

__all__ = ["Dual", "Reached", "Scale", "scale_of"]

LANES = 8  # rows of weights are padded to whole SIMD registers
CACHE = 1 << 20  # bytes of weights that are quick to reach in any order
PIECES = 8  # that a pass at fixed weights is shared out in
LONG = 1 << 23  # products in a pass, from where on there is something to share
LOOSE = 2.0  # C times the squared length of rows, up to which two halves are visited at once
EASE = (0.8, 0.9)  # of a row's step in the first pass and later: those to come pull as well
SOFT = 0.1  # the penalty of the intercept, against that of a mean row


class Reached(NamedTuple):
    """Where a fit is."""

    loss: float  # mean
    penalty: float
    gap: float  # bounds the objective's distance from its minimum, but for the intercept
    slope: float  # the steepest


class Scale(NamedTuple):
    """The unit of the rows, which is the length of the longest so that float32 holds for data
    of any unit, and what follows from it."""

    unit: float
    l2: float  # scaled back
    reach: float  # how far weights go for a row
    stretch: float  # C times the squared length of rows, the mean
    soft: float  # the same as reach, for the intercept

    def ease(self, parts: tuple[float, float], passes: int) -> float:
        """The part of its step that a row takes, in the first pass and after it."""
        return parts[min(passes, 1)] if self.stretch <= 2 * LOOSE else 1.0


def scale_of(problem: Problem, used: np.ndarray) -> Scale:
    """The scale of a fit on the rows that are used."""
    unit = float(np.sqrt(problem.squares.max(initial=0.0))) or 1.0
    l2, n = problem.l2 / unit**2, len(used)
    reach = 1.0 / (l2 * n)
    squares = problem.weights * (problem.squares / unit**2)
    if not reach * float(problem.weights.max()) < 1e37:
        raise FloatingPointError("a step of the dual is more than float32 can hold")
    stretch = reach * float(squares.sum()) / n
    soft = min(1.0, max(SOFT * stretch, 200.0 / n)) if problem.intercept else 0.0
    return Scale(unit, l2, reach, stretch, soft)


class Dual:
    """The state of a fit; ``run_pass`` visits all rows.

    Two classes, which one column of weights tells apart, have ``logistic_two``.
    """

    def __init__(
        self, problem: Problem, seed: np.uint64, engine: Engine, dtype: Any = np.float32
    ) -> None:
        self.problem, self.seed, self.passes = problem, seed, 0
        rows, k = problem.rows, problem.columns
        shared = isinstance(engine, RunningThreads) and len(rows.data) >= FEW
        self.engine = engine if shared else Serial()
        n, v = len(problem.codes), problem.features
        self.padded = 4 if k < 5 else -(-k // LANES) * LANES
        self.used = np.flatnonzero(problem.weights > 0)
        self.scale = scale_of(problem, self.used)
        self.unit, self.l2 = self.scale.unit, self.scale.l2
        self.reach, self.soft = self.scale.reach, self.scale.soft
        long = len(rows.data) * self.padded >= LONG
        self.halves = 2 if long and self.scale.stretch <= LOOSE else 1
        squares = problem.squares / self.unit**2
        self.curves = problem.weights * (self.reach * squares + self.soft)
        # The weights of the most frequent features, side by side, stay in the cache.
        large = v * self.padded * np.dtype(dtype).itemsize > CACHE
        self.order = None
        if large:
            counts = np.bincount(rows.indices, minlength=v)
            self.order = most_first(counts)
            self.starts = np.concatenate([[0], np.cumsum(counts[self.order])])
        self.weights_now = np.zeros((v, self.padded), dtype)
        self.residuals = np.zeros((n, self.padded), dtype)  # q - [y]
        self.intercept = np.zeros(self.padded, dtype)
        self.sums = np.zeros(self.padded)  # of the residuals, times the rows' weights
        self._settle(dtype)
        self._begin()

    def _begin(self) -> None:
        """Start from probabilities between the label and the shares of the classes, the same
        part of the way for every row: the part at which the dual is highest."""
        problem, k = self.problem, self.problem.columns
        shares = np.bincount(problem.codes, problem.weights, k) / len(self.used)
        labels = np.eye(k)
        off = shares - labels
        self.residuals[:, :k] = off[problem.codes] * problem.weights[:, None]
        slopes = self._across(self.residuals)
        size = square_sum(slopes.ravel()) * self.reach**2
        parts = np.linspace(0, 1, 65)[1:-1]
        entropy = entr(labels + parts[:, None, None] * off).sum(axis=2) @ shares
        part = parts[np.argmax(entropy - 0.5 * self.l2 * size * parts**2)]
        slopes *= self.dtype.type(-self.reach * part)
        self.weights_now = slopes
        self.residuals[:, :k] = part * off[problem.codes]
        self.sums[:] = (self.residuals * self.costs[:, None]).sum(axis=0, dtype=np.float64)
        if problem.intercept:
            logs = np.log(np.maximum(shares, 1.0 / len(self.used)))
            self.intercept[:k] = logs - logs.mean()

    def _settle(self, dtype: Any) -> None:
        """Values in the precision of the passes to come."""
        indptr, self.indices, data = self.problem.rows
        self.dtype = np.dtype(dtype)
        self.data = np.empty(len(data), dtype)
        scale_down(data, self.unit, self.data)
        if self.order is not None:
            self.across = by_column(indptr, self.indices, self.data, self.order, self.starts)
            self.indices, self.data = by_row(indptr, *self.across, self.starts)
        self.residuals = self.residuals.astype(dtype, copy=False)
        self.intercept = self.intercept.astype(dtype, copy=False)
        self.lengths = (self.halves * self.curves).astype(dtype)
        self.costs = self.problem.weights.astype(dtype)
        self.scores = np.empty_like(self.residuals)
        if self.halves == 2:
            self.twins = np.empty((2, self.problem.features, self.padded), dtype)

    def sharpen(self) -> None:
        """Go on in float64, with weights that are exactly what the residuals say."""
        self._settle(np.float64)
        held = self.residuals * self.costs[:, None]
        self.sums = held.sum(axis=0)
        self.weights_now = self._across(held)
        self.weights_now *= -self.reach

    def _across(self, held: np.ndarray) -> np.ndarray:
        """(v, padded) sums over the rows of values times what is held for each row."""
        n, v = len(held), self.problem.features
        if self.order is None:
            rows = (self.data, self.indices, self.problem.rows.indptr)
            return sp.csr_array(rows, shape=(n, v)).T @ held
        out = np.empty((v, self.padded), self.dtype)
        for _ in self._share(len(out), lambda a, b: add_across(
            self.starts, *self.across, held, out, a, b
        )):  # fmt: skip
            pass
        return out

    def run_pass(self, check: Callable[[], None] = lambda: None) -> tuple[float, float]:
        """Visit every row once, in a fresh order; gap and mean loss as each was found."""
        n = len(self.used)
        self.intercept -= self.dtype.type(self.soft) * self.sums.astype(self.dtype)
        order = self.used[permutation(key(self.seed, self.passes), n)]
        if self.halves == 1:
            found = self._visit(order, check, self.weights_now, self.intercept)
        else:
            found = self._visit_halves(order, check)
        self.passes += 1
        self.sums += found[2:]
        return found[0] / n, found[1] / n

    def _visit_halves(self, order: np.ndarray, check: Callable[[], None]) -> np.ndarray:
        """Visit the two halves of an order at once, or one after the other: the same bits."""

        middle = len(order) // 2

        def visit_half(half: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            weights, offset = self.twins[half], self.intercept.copy()
            weights[:] = self.weights_now
            own = order[middle:] if half else order[:middle]
            return self._visit(own, check, weights, offset), weights, offset

        (a, first, left), (b, second, right) = both(self.engine, visit_half, 0, 1)
        self.intercept = (left + right) / self.dtype.type(2)
        for _ in self._share(len(first), lambda start, stop: put_mean(
            first[start:stop], second[start:stop], self.weights_now[start:stop]
        )):  # fmt: skip
            pass
        return a + b

    def _visit(
        self, order: np.ndarray, check: Callable[[], None], weights: np.ndarray,
        intercept: np.ndarray,
    ) -> np.ndarray:  # fmt: skip
        """Visit rows; gap, loss, and by how much the sums of the residuals changed."""
        problem = self.problem
        ease = self.scale.ease(EASE, self.passes) if self.halves == 1 else 1.0
        sums, found = np.zeros(self.padded), np.zeros(2)
        for start, stop in self._stretches(order):
            found += visit_many(
                problem.rows.indptr, self.indices, self.data, problem.codes, self.costs,
                order, start, stop, weights, intercept, self.residuals, sums, self.lengths,
                self.halves * self.soft, self.halves * self.reach, problem.columns, ease,
            )  # fmt: skip
            check()
        return np.concatenate([found, sums])

    def _stretches(self, order: np.ndarray) -> Iterable[tuple[int, int]]:
        """Visits that take a moment each, together."""
        n, indptr = len(order), self.problem.rows.indptr
        if indptr[-1] * self.padded // 8 + 8 * n <= SPAN:
            return [(0, n)]
        spent = np.cumsum(np.diff(indptr)[order] * self.padded // 8 + 8)
        cuts = np.searchsorted(spent, np.arange(SPAN, spent[-1], SPAN))
        return pairwise(np.unique(np.concatenate([[0], cuts, [n]])).tolist())

    def measure(self) -> Reached:
        """See every row at the weights as they are."""
        problem, n = self.problem, len(self.used)
        found = [*self._share(len(problem.codes), lambda a, b: see_rows(
            problem.rows.indptr, self.indices, self.data, problem.codes, self.costs,
            self.weights_now, self.intercept, self.residuals, self.scores, problem.columns,
            a, b,
        ))]  # fmt: skip
        loss, gap = (sum(each) / n for each in zip(*found, strict=True))
        slopes = self._across(self.scores)
        parts = [*self._share(len(slopes), lambda a, b: steepest_of(
            slopes, self.weights_now, 1.0 / n, self.l2, a, b
        ))]  # fmt: skip
        slope = self.unit * max(each[0] for each in parts)
        if problem.intercept:
            offsets = self.scores.sum(axis=0, dtype=np.float64) / n
            slope = max(slope, float(np.abs(offsets[: problem.columns]).max()))
        return Reached(loss, 0.5 * self.l2 * sum(each[1] for each in parts), gap, slope)

    def _share(self, n: int, function: Callable[[int, int], Any]) -> Iterator[Any]:
        """A function of stretches of rows or features, which do not touch each other's: the
        same bits wherever they run."""
        edges = np.linspace(0, n, PIECES + 1).astype(np.int64).tolist()
        return self.engine.map(run_stretch, function, [Stretch(*e) for e in pairwise(edges)])

    @property
    def weights(self) -> np.ndarray:
        """(v, k) weights in the order and the unit of the data."""
        k = self.problem.columns
        now = self.weights_now[:, :k]
        if self.order is None:
            return now / np.float64(self.unit)
        out = np.empty((self.problem.features, k))
        out[self.order] = now
        out /= self.unit
        return out

    @property
    def offsets(self) -> np.ndarray:
        """(k,) intercepts."""
        return self.intercept[: self.problem.columns].astype(np.float64)


class Stretch(NamedTuple):
    """Rows or features from one to another, as a block that loads at once."""

    start: int
    stop: int

    def load(self) -> "Stretch":
        return self


def run_stretch(function: Callable[[int, int], Any], stretch: Stretch) -> Any:
    return function(*stretch)
