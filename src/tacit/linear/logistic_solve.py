"""The batch solvers of logistic regression: to the optimum of one and the same objective,

    mean loss  +  l2/2 |w|^2  +  l1 |w|_1

which the intercept's weights are not part of. ``lbfgs`` and ``newton`` see the rows through
``engine.reduce`` alone, so they run anywhere with the same bits; ``dual`` and ``saga`` step by
single rows and want them in memory. All end when no slope is steeper than ``tol``, measured
afresh.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tacit.core.engines import Engine, check_stop, one_blas_thread, ready
from tacit.data.table import Table
from tacit.linear.logistic_dual import Dual
from tacit.linear.logistic_newton import newton
from tacit.linear.logistic_saga import Problem, Saga
from tacit.linear.logistic_two import DualTwo
from tacit.linear.losses import LogisticParams, LogisticStats, collect

__all__ = [
    "Objective",
    "Solution",
    "solve_dual",
    "solve_lbfgs",
    "solve_newton",
    "solve_saga",
]

Heard = Callable[[int, float, Any], bool]  # number of the step, objective, params: stop?
COARSE = 2e-6  # slopes that float32 can be trusted with, of rows of length one
WHOLE = 1.25  # the objective over the loss, for text as a rule
STEEP = 0.003  # the square of the steepest slope over the gap, likewise
FLAT = 0.0001  # the same where the intercept has none
EARLY = 0.5  # a second pass takes off more than a first, which begins far away: twice as much
TINY = 1e-12  # a gap that float64 cannot tell from none
GAIN = 5.0  # what a pass of SAGA usually takes off the slope


class Objective(NamedTuple):
    """What is minimized, and where the rows are."""

    table: Table
    engine: Engine
    total: float  # weight of all rows
    l2: float
    l1: float
    intercept: bool

    def at(self, params: LogisticParams) -> tuple[float, LogisticStats]:
        """The height of the objective, and the sums behind it."""
        stats = self.engine.reduce(collect, params, self.table)
        return stats.loss / self.total + self.penalty(params), stats

    def penalty(self, params: LogisticParams) -> float:
        size = params.weights
        ridge = 0.5 * self.l2 * float(np.vdot(size, size))
        return ridge + (self.l1 * float(np.abs(size).sum()) if self.l1 else 0.0)

    def steepest(self, params: LogisticParams, stats: LogisticStats) -> float:
        """The largest slope of the objective in any direction of one weight."""
        w = params.weights
        slope = stats.slope / self.total + self.l2 * w
        if self.l1:
            kinked = np.maximum(np.abs(slope) - self.l1, 0.0)
            slope = np.where(w != 0, slope + self.l1 * np.sign(w), kinked)
        steepest = float(np.abs(slope).max(initial=0.0))
        if self.intercept:
            steepest = max(steepest, float(np.abs(stats.offset).max()) / self.total)
        return steepest


class Solution(NamedTuple):
    """Where a solver ended."""

    params: LogisticParams
    steps: int
    slope: float  # the steepest there
    height: float
    near: bool = True  # no gap is known to be left


def solve_lbfgs(
    objective: Objective, start: LogisticParams, *, tol: float, max_iter: int, heard: Heard
) -> Solution:
    """SciPy's L-BFGS with loss and slope from ``engine.reduce``."""
    from scipy.optimize import minimize

    v, k = start.weights.shape
    edge = v * k
    best: list = [None, 0]  # the height of the last point seen, steps

    def unpack(flat: np.ndarray) -> LogisticParams:
        return LogisticParams(flat[:edge].reshape(v, k), flat[edge:].copy())

    def value_and_slope(flat: np.ndarray) -> tuple[float, np.ndarray]:
        params = unpack(flat)
        height, stats = objective.at(params)
        slope = np.empty_like(flat)
        slope[:edge] = (stats.slope / objective.total + objective.l2 * params.weights).ravel()
        slope[edge:] = stats.offset / objective.total if objective.intercept else 0.0
        best[0] = height
        return height, slope

    def after(flat: np.ndarray) -> None:
        best[1] += 1
        if heard(best[1], best[0], unpack(flat)):
            raise StopIteration

    flat = np.concatenate([start.weights.ravel(), start.intercept])
    options = {"maxiter": max_iter, "gtol": tol, "ftol": 64 * np.finfo(float).eps, "maxls": 50}
    with one_blas_thread():  # more threads may round differently
        found = minimize(
            value_and_slope, flat, jac=True, method="L-BFGS-B", options=options, callback=after
        )
    return finished(objective, unpack(found.x), max(1, best[1]))


def solve_newton(
    objective: Objective, start: LogisticParams, *, tol: float, max_iter: int, heard: Heard
) -> Solution:
    """Newton's method, for few features."""
    with one_blas_thread():
        params, steps = newton(
            objective.table, objective.engine, start, total=objective.total, l2=objective.l2,
            intercept=objective.intercept, tol=tol, max_iter=max_iter, heard=heard,
        )  # fmt: skip
    return finished(objective, params, max(1, steps))


def solve_dual(
    objective: Objective, problem: Problem, seed: np.uint64, *, tol: float, max_iter: int,
    heard: Heard,
) -> Solution:  # fmt: skip
    """Dual coordinate ascent in float32 as far as that carries, then in float64.

    Ends when no slope is steeper than ``tol`` and the gap shows the objective to be within
    ``tol``, relative, of its minimum: where rows can be told apart the slopes are small long
    before.
    """
    with ready(objective.engine) as engine:
        state = (DualTwo if problem.columns == 1 else Dual)(problem, seed, engine)
        return ascend(state, tol=tol, max_iter=max_iter, heard=heard)


def ascend(state: Dual | DualTwo, *, tol: float, max_iter: int, heard: Heard) -> Solution:
    """Passes, until the rows have little to say."""
    floor = COARSE * max(1.0, state.unit)
    coarse, before, wait, found = True, np.inf, 0, None
    while state.passes < max_iter:
        gap, loss = state.run_pass(check_stop)
        if not np.isfinite(gap):
            raise FloatingPointError("the steps of the dual ran away")
        found, shrink = None, min(max(gap / before, 0.02), 0.95)
        before, wait = gap, wait - 1
        if heard(state.passes, loss, state):
            break
        # Most of the gap that rows had when they were visited is gone now.
        rest = shrink * gap
        steep = STEEP
        if state.problem.columns == 1:
            rest *= EARLY if state.passes == 2 else 1.0
            steep = FLAT
        soon = min(WHOLE * tol * loss, (tol / state.unit) ** 2 / steep)
        if wait > 0 or rest > max(soon, TINY):
            continue
        found = state.measure()
        near = max(tol * (found.loss + found.penalty), TINY)
        if found.slope <= tol and found.gap <= near:
            break
        if coarse and tol < 10 * floor and (found.slope <= 10 * floor or gap <= TINY):
            state.sharpen()
            coarse, before = False, np.inf
        # The slope falls as the root of the gap.
        missing = max((found.slope / max(tol, 1e-150)) ** 2, found.gap / near, 1.0)
        wait = int(min(10.0, np.ceil(np.log(missing) / -np.log(shrink))))
    found = found or state.measure()
    params = LogisticParams(state.weights, state.offsets)
    height = found.loss + found.penalty
    near = found.gap <= max(tol * height, TINY)
    return Solution(params, max(1, state.passes), found.slope, height, near)


def solve_saga(
    objective: Objective, problem: Problem, seed: np.uint64, *, tol: float, max_iter: int,
    heard: Heard,
) -> Solution:  # fmt: skip
    """SAGA in float32 as far as that carries, then in float64."""
    state = Saga(problem, seed)
    floor = COARSE * max(1.0, state.scale)
    coarse, wait, slope = True, 0, np.inf
    seen = [np.inf, np.inf]  # steepest slopes by what was remembered, pass by pass
    while state.passes < max_iter:
        steepest = state.run_pass(check_stop)
        if not np.isfinite(steepest):
            raise FloatingPointError("the steps of SAGA ran away")
        if heard(state.passes, steepest, state):
            break
        wait -= 1
        stuck = steepest > seen[-1] / 2 and steepest < 10 * floor
        seen.append(steepest)
        if coarse and tol < 10 * floor and (stuck or steepest <= floor):
            state.sharpen()
            coarse = False
        # Remembered slopes lag behind: what is fresh now will be remembered in two passes.
        elif wait < 1 and seen[-3] <= tol / 3 and steepest <= tol:
            slope = state.refresh(check_stop)
            if slope <= tol:
                break
            wait = int(np.ceil(np.log(slope / tol) / np.log(GAIN)))
    if not slope <= tol:
        slope = state.refresh(check_stop)
    params = LogisticParams(state.weights, state.offsets)
    height = state.loss / len(state.used) + objective.penalty(params)
    return Solution(params, max(1, state.passes), slope, height)


def finished(objective: Objective, params: LogisticParams, steps: int) -> Solution:
    height, stats = objective.at(params)
    return Solution(params, steps, objective.steepest(params, stats), height)
