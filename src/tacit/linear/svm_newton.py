"""Linear support vector machines on few features by Newton's method, squared hinge loss.

    |w|^2 / 2  +  C sum_i a_i max(0, 1 - y_i w . x_i)^2        for each class against the rest

Its slope bends only where a row enters or leaves the margin. A pass collects, for every class,
loss, slope and curvature of the rows inside; they add up over blocks. Steps are halved until
the objective falls enough, and the fit ends when the rows inside no longer change: then the
last step was exact.

Keerthi and DeCoste (2005), A modified finite Newton method for fast solution of large scale
linear SVMs. JMLR 6.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tacit.core.engines import Engine
from tacit.core.stats import Stats
from tacit.data.table import Table, parts
from tacit.linear.logistic_newton import solve, squarable
from tacit.linear.losses import settled

__all__ = ["NewtonParams", "NewtonStats", "collect", "newton"]


class NewtonParams(NamedTuple):
    """Where the sums are wanted. The last feature is ``extra`` for all rows, if not 0."""

    weights: np.ndarray  # (v or v + 1, k)
    extra: float
    bend: bool = True  # whether the curvature is wanted


@dataclass(frozen=True)
class NewtonStats(Stats):
    """Sums over the rows inside the margin, for every class."""

    loss: np.ndarray  # (k,)
    slope: np.ndarray  # (width, k)
    curvature: np.ndarray  # (k, width, width), or empty
    duals: np.ndarray  # (k,): the sum of the multipliers
    squares: np.ndarray  # (k,): and of their squares over the costs


def collect(params: NewtonParams, block: Any) -> NewtonStats:
    """The sums of a block whose labels are codes and whose weights are C times its own."""
    rows, codes, costs = parts(block)
    rows = squarable(rows, "LinearSVC")
    costs, params = settled(costs), params._replace(weights=settled(params.weights))
    if params.extra:
        rows = np.hstack([rows, np.full((len(rows), 1), params.extra)])
    k = params.weights.shape[1]
    found = rows @ params.weights
    right = codes[:, None] == (np.arange(k) if k > 1 else 1)
    signs = np.where(right, 1.0, -1.0)
    short = np.maximum(0.0, 1 - signs * found)
    duals = 2 * costs[:, None] * short
    width = rows.shape[1]
    curvature = np.zeros((k, width, width) if params.bend else (k, 0, 0))
    for j in range(k if params.bend else 0):
        inside = np.flatnonzero(short[:, j])
        near = rows[inside]
        curvature[j] = near.T @ (2 * costs[inside, None] * near)
    return NewtonStats(
        costs @ short**2, -(rows.T @ (signs * duals)), curvature, duals.sum(axis=0),
        4 * (costs @ short**2),
    )  # fmt: skip


def newton(
    table: Table,
    engine: Engine,
    *,
    width: int,
    columns: int,
    extra: float,
    tol: float,
    max_iter: int,
    heard: Any,
) -> tuple[np.ndarray, NewtonStats, int, bool]:
    """The optimum for every class, the sums there, the steps made, and whether it is one."""
    weights = np.zeros((width, columns))
    done = np.zeros(columns, bool)
    stats = engine.reduce(collect, NewtonParams(weights, extra), table)
    steps = 0
    while steps < max_iter and not done.all():
        steps += 1
        heights = 0.5 * (weights**2).sum(axis=0) + stats.loss
        slopes = weights + stats.slope
        moves = np.zeros_like(weights)
        for j in np.flatnonzero(~done):
            bend = stats.curvature[j] + np.eye(width)
            moves[:, j] = solve(bend, slopes[:, j])
        gains = (slopes * moves).sum(axis=0)
        lengths = np.where(done, 0.0, 1.0)
        for _ in range(40):
            there = weights - lengths * moves
            tried = engine.reduce(collect, NewtonParams(there, extra, bend=False), table)
            reached = 0.5 * (there**2).sum(axis=0) + tried.loss
            short = reached > heights - 1e-4 * lengths * gains + 1e-14 * np.abs(heights)
            if not short.any():
                break
            lengths[short] /= 2
        weights = weights - lengths * moves
        # A class whose predicted gain is below rounding has just made its last step.
        done |= (gains <= 1e-13 * np.maximum(heights, 1e-300)) | (
            np.abs(slopes).max(axis=0) <= min(tol, 1e-9)
        )
        stats = engine.reduce(collect, NewtonParams(weights, extra), table)
        if heard(steps, float(heights.sum()), weights):
            break
    return weights, stats, max(1, steps), bool(done.all())
