"""Logistic regression of two classes in the dual: ``logistic_dual`` with one column of weights.

The column is a vector here. Short rows are shuffled once and copied together in that order: to
go from one to another all over memory, and to stop at odd lengths, would take longer than their
visits. Passes then take groups of them in fresh orders. Long rows stay where they are.

Whatever is done for all rows is done by halves where ``logistic_dual`` visits two halves at
once; on two threads or one, the bits are the same.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import entr

from tacit.core.engines import Engine, both, check_stop
from tacit.core.randoms import key, permutation
from tacit.kernels.sparse_rows import square_sum
from tacit.linear.dual_steps import put_mean
from tacit.linear.dual_two import (
    add_rows,
    lay_rows,
    line_up,
    pack_rows,
    score_rows,
    steepest_two,
    visit_pairs,
    visit_two,
)
from tacit.linear.logistic_dual import CACHE, LONG, LOOSE, Reached, scale_of
from tacit.linear.logistic_saga import Problem, most_first
from tacit.linear.losses import SPAN

__all__ = ["DualTwo"]

SHORT = 128  # entries of a row on average, up to which rows are copied together
GROUP = 8  # of them that are visited one after the other
EASE = (0.75, 0.95)  # as in ``logistic_dual``
PARTS = np.linspace(0, 1, 65)[1:-1]  # of the way to the shares of the classes
SOFTER = (1.0, 0.7)  # of the intercept's softness, likewise


class DualTwo:
    """The state of a fit, as ``logistic_dual.Dual``. Rows count in the order of the fit."""

    def __init__(
        self, problem: Problem, seed: np.uint64, engine: Engine, dtype: Any = np.float32
    ) -> None:
        self.problem, self.seed, self.engine, self.passes = problem, seed, engine, 0
        used = np.flatnonzero(problem.weights > 0)
        self.scale = scale_of(problem, used)
        self.unit, self.l2 = self.scale.unit, self.scale.l2
        _, self.indices, data = problem.rows
        self.short = len(data) <= SHORT * len(problem.codes)
        self.order = used[permutation(key(seed, 0), len(used))] if self.short else used
        self.count = len(used)
        self.bounds, self.codes, self.shares, self.squares = line_up(
            self.order, problem.rows.indptr, problem.codes, problem.weights, problem.squares
        )
        self.signs = 2 * self.codes.astype(dtype) - 1
        self.halves = 2 if len(data) >= LONG and self.scale.stretch <= LOOSE else 1
        self.lot = max(1, SPAN * self.count // max(1, len(data)))  # rows: a moment's work
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
        problem, scale, n = self.problem, self.scale, self.count
        share = float(self.shares[self.codes == 1].sum()) / n
        off = np.array([share, share - 1], dtype)[self.codes]
        slopes = self._settle(off, dtype)
        wrong = PARTS[:, None] * [share, 1 - share]  # by class, what the other gets
        entropy = (entr(wrong) + entr(1 - wrong)) @ [1 - share, share]
        size = square_sum(slopes) * scale.reach**2
        part = PARTS[np.argmax(entropy - 0.5 * self.l2 * size * PARTS**2)]
        slopes *= self.dtype.type(-scale.reach * part)
        self.weights_now = slopes
        self.residuals = off * self.dtype.type(part)  # q - [y]
        self.sums = 0.0  # of the residuals
        self.intercept = 0.0
        if problem.intercept:
            logs = np.log(np.maximum([1 - share, share], 1.0 / n))
            self.intercept = float(logs[1] - logs[0])

    def _settle(self, held: np.ndarray, dtype: Any) -> np.ndarray:
        """Values in the precision of the passes to come; the sum of the rows, each times its
        weight and what is held for it."""
        data, self.dtype = self.problem.rows.data, np.dtype(dtype)
        share = self.halves * self.scale.reach / self.unit**2
        self.costs = self.shares.astype(dtype)
        self.lengths = (share * self.squares * self.shares).astype(dtype)
        each, sums = held * self.costs, self._zeros()
        first, last, starts, ends = self.bounds
        if self.short:
            space = np.empty(ends[-1], self.indices.dtype), np.empty(ends[-1], dtype)
            self.rows = (starts, ends, *space)
            self._share(lambda half, a, b: pack_rows(
                first, last, self.indices, data, 1 / self.unit, each, *self.rows,
                sums[half], a, b,
            ))  # fmt: skip
        else:
            self.rows = (first, last, self.indices, np.empty(len(data), dtype))
            self._share(lambda half, a, b: lay_rows(
                *self.rows, data, 1 / self.unit, each, sums[half], a, b
            ))  # fmt: skip
        return added(sums)

    def sharpen(self) -> None:
        """Go on in float64, with weights that are exactly what the residuals say."""
        self.residuals = self.residuals.astype(np.float64)
        self.weights_now = self._settle(self.residuals, np.float64)
        self.sums = float((self.residuals * self.costs).sum())
        self.weights_now *= -self.scale.reach

    def _zeros(self) -> np.ndarray:
        """A vector for every half to add to."""
        return np.zeros((self.halves, self.problem.features), self.dtype)

    def run_pass(self, check: Callable[[], None] = lambda: None) -> tuple[float, float]:
        """Visit every row once, in a fresh order; gap and mean loss as each was found."""
        n, scale, size = self.count, self.scale, GROUP if self.short else 1
        soft = SOFTER[min(self.passes, 1)] * scale.soft
        ease = scale.ease(EASE, self.passes) if self.halves == 1 else 1.0
        self.intercept -= soft * self.sums
        self.passes += 1
        groups = permutation(key(self.seed, self.passes), -(-n // size))
        cuts = self._cuts(len(groups))
        lot = max(1, self.lot // size)
        now = self.weights_now
        twins = [now] if self.halves == 1 else [now.copy(), now.copy()]
        step = visit_pairs if self.short and scale.stretch <= LOOSE else visit_two

        def visit(half: int) -> tuple[float, float, float, float]:
            gap, loss, change, offset = 0.0, 0.0, 0.0, self.dtype.type(self.intercept)
            for start in range(cuts[half], cuts[half + 1], lot):
                *found, offset = step(
                    *self.rows, self.codes, self.costs, self.lengths, self.residuals,
                    groups[start : min(start + lot, cuts[half + 1])], size, twins[half],
                    offset, self.halves * soft, self.halves * scale.reach, ease,
                )  # fmt: skip
                gap, loss, change = gap + found[0], loss + found[1], change + found[2]
                check()
            return gap, loss, change, float(offset)

        done = both(self.engine, visit, 0, 1) if self.halves == 2 else [visit(0)]
        if self.halves == 2:
            put_mean(*twins, now)
        gap, loss, change, offset = (sum(each) for each in zip(*done, strict=True))
        self.intercept = offset / self.halves
        self.sums += change
        return gap / n, loss / n

    def measure(self) -> Reached:
        """See every row at the weights as they are, and settle the intercept: its slope is
        the steepest by far, and it takes no pass over the rows to find where it is zero."""
        n, now, signs, costs = self.count, self.weights_now, self.signs, self.costs
        scores = np.empty(n, self.dtype)
        self._share(lambda _, a, b: score_rows(*self.rows, now, scores, a, b))
        if self.problem.intercept:
            self.intercept = best_intercept(scores, signs, costs, self.intercept)
        margins = signs * (scores + self.dtype.type(self.intercept))
        losses, gaps, wrong = see_two(margins, np.abs(self.residuals))
        off, slopes = -costs * signs * wrong, self._zeros()
        self._share(lambda half, a, b: add_rows(*self.rows, off, slopes[half], a, b))
        slope = self.unit * steepest_two(added(slopes), now, 1 / n, self.l2)
        if self.problem.intercept:
            slope = max(slope, abs(total(off)) / n)
        loss, gap = total(costs * losses) / n, total(costs * gaps) / n
        return Reached(loss, 0.5 * self.l2 * square_sum(now), gap, slope)

    def _share(self, function: Callable[[int, int, int], None]) -> None:
        """Run a function of a half and stretches of its rows, the halves at once."""
        edges = self._cuts(self.count)

        def run(half: int) -> None:
            for start in range(edges[half], edges[half + 1], self.lot):
                function(half, start, min(start + self.lot, edges[half + 1]))
                check_stop()

        if self.halves == 1:
            run(0)
        else:
            both(self.engine, run, 0, 1)

    def _cuts(self, n: int) -> list[int]:
        """Where the halves of so many begin and end."""
        return [0, n] if self.halves == 1 else [0, n // 2, n]

    @property
    def weights(self) -> np.ndarray:
        """(v, 1) weights in the order and the unit of the data."""
        now = self.weights_now / np.float64(self.unit)
        return (now if self.places is None else now[self.places])[:, None]

    @property
    def offsets(self) -> np.ndarray:
        """(1,) intercept."""
        return np.array([self.intercept])


def added(halves: np.ndarray) -> np.ndarray:
    """The sum of one or two vectors."""
    return halves[0] if len(halves) == 1 else halves[0] + halves[1]


def total(values: np.ndarray) -> float:
    """The sum in float64, whatever the values are."""
    return float(values.sum(dtype=np.float64))


def best_intercept(
    scores: np.ndarray, signs: np.ndarray, costs: np.ndarray, intercept: float
) -> float:
    """The intercept at which the slope is zero, by Newton's method from a near one."""
    half, pulls, whole = scores.dtype.type(0.5), costs * signs, total(costs)
    for _ in range(20):
        wrong = half - half * np.tanh(half * signs * (scores + scores.dtype.type(intercept)))
        slope, curve = -total(pulls * wrong), total(costs * wrong * (1 - wrong))
        intercept -= min(max(slope / max(curve, 1e-300), -1.0), 1.0)
        # The slope that is left is of the order of this one's square.
        if abs(slope) < 1e-3 * curve and abs(slope) < 1e-4 * whole:
            break
    return intercept


def see_two(margins: np.ndarray, held: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Loss and gap of rows, whose right class scores higher by a margin and whose wrong one is
    held to have a share; and the share that the scores give to the wrong one."""
    losses = np.log1p(np.exp(-np.abs(margins))) + np.maximum(-margins, 0)
    tiny = np.finfo(held.dtype)
    low = np.clip(held, tiny.tiny, 1 - tiny.epsneg)
    entropies = low * np.log(low) + (1 - low) * np.log1p(-low)
    return losses, losses + held * margins + entropies, np.exp(-losses - margins)
