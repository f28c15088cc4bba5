"""Logistic regression on few features by Newton's method, over sums of a block's curvature.

With m = (v + 1) k numbers to find, a pass collects loss, slope and the m x m curvature

    H[a, b]  =  sum_i  a_i p_a(x_i) ([a = b] - p_b(x_i))  x_i x_i'

which add up like everything else. Steps are halved until the loss falls enough; near the
optimum every step doubles the number of right digits, so the fit ends at the last of them.

The notes' section on logistic regression names the method and its cost: m^2 numbers.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from tacit.core.engines import Engine
from tacit.core.errors import DataError
from tacit.core.stats import Stats
from tacit.data.bad_values import check_values
from tacit.data.table import Table, parts
from tacit.linear.losses import LogisticParams, collect, log_probabilities, settled

__all__ = ["Curvature", "collect_curvature", "newton", "solve", "squarable"]

LARGEST = 1e120  # values; the sum of their squares is far from overflow


@dataclass(frozen=True)
class Curvature(Stats):
    """Loss, slope and curvature of a block, in the order (feature, class)."""

    loss: float
    slope: np.ndarray  # ((v + 1) k,)
    curvature: np.ndarray  # ((v + 1) k, (v + 1) k)


def collect_curvature(params: LogisticParams, block: Any) -> Curvature:
    """What a Newton step needs of a block. The last feature is 1, for the intercept."""
    rows, codes, weights = parts(block)
    rows = squarable(rows, "LogisticRegression")
    rows = np.hstack([rows, np.ones((len(rows), 1))])
    weights = np.ones(len(rows)) if weights is None else settled(weights)
    found = rows @ np.vstack([params.weights, params.intercept])
    logs = log_probabilities(found)
    p = np.exp(logs)
    every, k = np.arange(len(rows)), found.shape[1]
    loss = -float(weights @ logs[every, codes])
    if k == 1:
        p, right = p[:, 1:], codes[:, None] == 1
    else:
        right = codes[:, None] == np.arange(k)
    slope = rows.T @ (weights[:, None] * (p - right))
    v = rows.shape[1]
    curvature = np.empty((v, k, v, k))
    for a in range(k):
        for b in range(a + 1):
            share = weights * p[:, a] * ((a == b) - p[:, b])
            part = rows.T @ (share[:, None] * rows)
            curvature[:, a, :, b] = part
            curvature[:, b, :, a] = part.T
    return Curvature(loss, slope.ravel(), curvature.reshape(v * k, v * k))


def newton(
    table: Table,
    engine: Engine,
    start: LogisticParams,
    *,
    total: float,
    l2: float,
    intercept: bool,
    tol: float,
    max_iter: int,
    heard: Any,
) -> tuple[LogisticParams, int]:
    """The optimum of mean loss + l2/2 |w|^2, and the steps that it took."""
    v, k = start.weights.shape
    penalty = np.full((v + 1, k), l2)
    penalty[-1] = 0.0
    penalty = penalty.ravel()
    point = np.vstack([start.weights, start.intercept]).ravel()
    free = np.ones((v + 1, k), bool)
    free[-1] = intercept
    free = free.ravel()
    level = np.zeros((v + 1, k))
    level[-1] = 1.0
    level = level.ravel()  # equal shifts of all intercepts change nothing with k > 1

    def at(flat: np.ndarray) -> LogisticParams:
        both = flat.reshape(v + 1, k)
        return LogisticParams(np.ascontiguousarray(both[:-1]), both[-1].copy())

    def objective(flat: np.ndarray) -> float:
        return loss_of(engine, at(flat), table) / total + 0.5 * float(penalty @ flat**2)

    steps = 0
    while steps < max_iter:
        stats = engine.reduce(collect_curvature, at(point), table)
        height = stats.loss / total + 0.5 * float(penalty @ point**2)
        slope = stats.slope / total + penalty * point
        if heard(steps, height, at(point)):
            break
        bend = stats.curvature / total + np.diag(penalty)
        if k > 1 and intercept:
            bend += np.outer(level, level) * (np.trace(bend) / len(bend) / k)
        step = np.zeros_like(point)
        step[free] = solve(bend[np.ix_(free, free)], slope[free])
        gain = float(slope @ step)
        steps += 1
        if gain <= 1e-11 * max(1.0, abs(height)) and np.abs(slope[free]).max() <= tol:
            point = point - step  # the last digits
            break
        length = 1.0
        while length > 1e-10:
            there = objective(point - length * step)
            if there <= height - 1e-4 * length * gain + 1e-15 * abs(height):
                break
            length /= 2
        else:
            break  # nothing left to gain in float64
        point = point - length * step
    return at(point), steps


def loss_of(engine: Engine, params: LogisticParams, table: Table) -> float:
    return engine.reduce(collect, params, table).loss


def squarable(rows: Any, name: str) -> np.ndarray:
    """Rows as a dense array whose squares can be added up; an error says why not."""
    rows = settled(rows.toarray() if sp.issparse(rows) else rows)
    if np.abs(rows).max(initial=0.0) <= LARGEST:
        return rows
    check_values(rows, name)  # NaN and infinity come here too
    i, j = (int(at) for at in np.argwhere(np.abs(rows) > LARGEST)[0])
    raise DataError(
        f"{name}: X holds {rows[i, j]:.3g}, too large to be squared. Scale the columns down.",
        column=j,
    )


def solve(bend: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """The Newton step; of many, where the curvature is flat somewhere, the shortest."""
    try:
        factor = scipy.linalg.cho_factor(bend)
        diagonal = np.abs(np.diag(factor[0]))
        if diagonal.min() > 1e-7 * diagonal.max():
            return scipy.linalg.cho_solve(factor, slope)
    except scipy.linalg.LinAlgError:
        pass
    return scipy.linalg.lstsq(bend, slope, cond=1e-12)[0]
