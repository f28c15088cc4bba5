"""Logistic regression of two classes in the dual: ``logistic_dual`` with one column of weights.

The column is a vector here, and rows lie as they came. Whatever is done for all rows is done
by halves where ``logistic_dual`` visits two halves at once; on two threads or one, the bits
are the same.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.special import entr

from tacit.classify.dual_steps import put_mean
from tacit.classify.dual_two import (
    best_intercept,
    lay_rows,
    measure_two,
    score_rows,
    steepest_two,
    visit_two,
)
from tacit.classify.logistic_dual import CACHE, LONG, LOOSE, Reached, scale_of
from tacit.classify.logistic_loss import SPAN, spans
from tacit.classify.logistic_saga import Problem, most_first
from tacit.core.engines import Engine, both, check_stop
from tacit.core.randoms import key, permutation
from tacit.kernels.sparse_rows import square_sum

__all__ = ["DualTwo"]


class DualTwo:
    """The state of a fit, as ``logistic_dual.Dual``."""

    def __init__(
        self, problem: Problem, seed: np.uint64, engine: Engine, dtype: Any = np.float32
    ) -> None:
        self.problem, self.seed, self.engine, self.passes = problem, seed, engine, 0
        self.used = np.flatnonzero(problem.weights > 0)
        self.scale = scale_of(problem, self.used)
        self.unit, self.l2 = self.scale.unit, self.scale.l2
        indptr, self.indices, data = problem.rows
        self.halves = 2 if len(data) >= LONG and self.scale.stretch <= LOOSE else 1
        middle = int(np.searchsorted(indptr, len(data) // 2))
        edges = [0, len(indptr) - 1] if self.halves == 1 else [0, middle, len(indptr) - 1]
        self.stretches = [
            [(first + a, first + b) for a, b in spans(indptr[first : last + 1])]
            for first, last in pairwise(edges)
        ]
        self.places = None
        if problem.features * np.dtype(dtype).itemsize > CACHE:
            # The weights of the most frequent features, side by side, stay in the cache.
            most = most_first(np.bincount(self.indices, minlength=problem.features))
            self.places = np.empty(problem.features, np.int32)
            self.places[most] = np.arange(problem.features, dtype=np.int32)
            self.indices = self.places[self.indices]
        self._begin(dtype)

    def _begin(self, dtype: Any) -> None:
        """Start from probabilities between the label and the shares of the classes, the same
        part of the way for every row: the part at which the dual is highest."""
        problem, scale, n = self.problem, self.scale, len(self.used)
        share = float(problem.weights[problem.codes == 1].sum()) / n
        off = np.array([share, share - 1])[problem.codes]
        slopes = self._settle(off * problem.weights, dtype)
        parts = np.linspace(0, 1, 65)[1:-1]
        wrong = parts[:, None] * [share, 1 - share]  # by class, what the other gets
        entropy = (entr(wrong) + entr(1 - wrong)) @ [1 - share, share]
        size = square_sum(slopes) * scale.reach**2
        part = parts[np.argmax(entropy - 0.5 * self.l2 * size * parts**2)]
        slopes *= self.dtype.type(-scale.reach * part)
        self.weights_now = slopes
        self.residuals = (part * off).astype(dtype)  # q - [y]
        self.sums = part * float((off * problem.weights).sum())  # of the residuals
        self.intercept = 0.0
        if problem.intercept:
            logs = np.log(np.maximum([1 - share, share], 1.0 / n))
            self.intercept = float(logs[1] - logs[0])

    def _settle(self, held: np.ndarray, dtype: Any) -> np.ndarray:
        """Values in the precision of the passes to come; the sum of the rows, each times what
        is held for it."""
        problem, scale, self.dtype = self.problem, self.scale, np.dtype(dtype)
        indptr, _, data = problem.rows
        self.rows = (indptr, self.indices, np.empty(len(data), dtype))
        self.scores = np.empty(len(held), dtype)
        self.twins = np.empty((self.halves, problem.features), dtype)
        lengths = problem.squares * (self.halves * scale.reach / self.unit**2)
        lengths = (lengths + self.halves * scale.soft) * problem.weights
        self.lengths, self.costs = lengths.astype(dtype), problem.weights.astype(dtype)
        each, sums = held.astype(dtype, copy=False), self._zeros()
        self._share(lambda half, a, b: lay_rows(
            indptr, self.indices, data, 1.0 / self.unit, each, self.rows[2], sums[half], a, b
        ))  # fmt: skip
        return sums.sum(axis=0)

    def sharpen(self) -> None:
        """Go on in float64, with weights that are exactly what the residuals say."""
        held = self.residuals * self.problem.weights
        self.residuals = self.residuals.astype(np.float64)
        self.sums = float(held.sum())
        self.weights_now = self._settle(held, np.float64)
        self.weights_now *= -self.scale.reach

    def _zeros(self) -> np.ndarray:
        """A table for every half to add to."""
        self.twins[:] = 0
        return self.twins

    def run_pass(self, check: Callable[[], None] = lambda: None) -> tuple[float, float]:
        """Visit every row once, in a fresh order; gap and mean loss as each was found."""
        n, scale = len(self.used), self.scale
        self.intercept -= scale.soft * self.sums
        order = self.used[permutation(key(self.seed, self.passes), n)]
        held = self.residuals[order]  # two threads do not write to one line of the cache
        cuts = [0, n // 2, n] if self.halves == 2 else [0, n]
        ease = scale.ease(self.passes) if self.halves == 1 else 1.0
        lot = max(1, SPAN * n // max(1, len(self.indices)))  # a moment's work
        self.passes += 1

        def visit(half: int) -> tuple[np.ndarray, float]:
            weights, offset = self.weights_now, self.dtype.type(self.intercept)
            if self.halves == 2:
                weights = self.twins[half]
                weights[:] = self.weights_now
            found = np.zeros(3)
            for start in range(cuts[half], cuts[half + 1], lot):
                part = slice(start, min(start + lot, cuts[half + 1]))
                *some, offset = visit_two(
                    *self.rows, self.problem.codes, self.costs, self.lengths, order[part],
                    held[part], weights, offset, self.halves * scale.soft,
                    self.halves * scale.reach, ease,
                )  # fmt: skip
                found += some
                check()
            return found, float(offset)

        done = both(self.engine, visit, 0, 1) if self.halves == 2 else [visit(0)]
        if self.halves == 2:
            put_mean(*self.twins, self.weights_now)
        self.residuals[order] = held
        gap, loss, change = np.sum([found for found, _ in done], axis=0)
        self.intercept = sum(offset for _, offset in done) / self.halves
        self.sums += change
        return gap / n, loss / n

    def measure(self) -> Reached:
        """See every row at the weights as they are, and settle the intercept: its slope is
        the steepest by far, and it takes no pass over the rows to find where it is zero."""
        n, codes, now = len(self.used), self.problem.codes, self.weights_now
        self._share(lambda _, a, b: score_rows(*self.rows, now, self.scores, a, b))
        if self.problem.intercept:
            self.intercept = best_intercept(self.scores, codes, self.costs, self.intercept)
        slopes = self._zeros()
        found = self._share(lambda half, a, b: measure_two(
            *self.rows, codes, self.costs, self.scores, self.intercept, self.residuals,
            slopes[half], a, b,
        ))  # fmt: skip
        loss, gap, off = np.sum(found, axis=0) / n
        steepest, squares = steepest_two(
            slopes[0], slopes[-1], now, self.halves / (2 * n), self.l2
        )
        slope = max(self.unit * steepest, abs(off) if self.problem.intercept else 0.0)
        return Reached(float(loss), 0.5 * self.l2 * squares, float(gap), float(slope))

    def _share(self, function: Callable[[int, int, int], Any]) -> list[Any]:
        """A function of a half and stretches of its rows, the halves at once."""

        def run(half: int) -> list[Any]:
            found = []
            for start, stop in self.stretches[half]:
                found.append(function(half, start, stop))
                check_stop()
            return found

        if self.halves == 1:
            return run(0)
        first, second = both(self.engine, run, 0, 1)
        return first + second

    @property
    def weights(self) -> np.ndarray:
        """(v, 1) weights in the order and the unit of the data."""
        now = self.weights_now / np.float64(self.unit)
        return (now if self.places is None else now[self.places])[:, None]

    @property
    def offsets(self) -> np.ndarray:
        """(1,) intercept."""
        return np.array([self.intercept])
