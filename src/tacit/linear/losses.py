"""The loss of logistic regression and its slope, as sums over rows.

    p(y | x) = exp(w_y . x + b_y) / sum_z exp(w_z . x + b_z)
    loss     = - sum_i a_i log p(y_i | x_i)                      a_i: the weight of row i
    slope_y  = sum_i a_i (p(y | x_i) - [y = y_i]) x_i

The slope is expected counts less observed counts of every feature in every class. ``collect``
gives loss and slope of a block; they add up, so any engine may run it. ``update`` is a plain
step downhill, short enough that the loss never rises; solvers do better with the same sums.
Two classes share one column: the weights of the second against the first.

The notes' section on logistic regression. Berger, Della Pietra and Della Pietra (1996), A
maximum entropy approach to natural language processing. Computational Linguistics 22.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tacit.core.engines import check_stop
from tacit.core.kernel import kernel
from tacit.core.stats import Stats
from tacit.data.bad_values import check_values
from tacit.data.table import parts
from tacit.linear.linear_classifier import csr_arrays

__all__ = [
    "LogisticParams",
    "LogisticStats",
    "collect",
    "log_probabilities",
    "probabilities",
    "update",
    "width_of",
]

SPAN = 2**21  # stored values to a kernel call: some tens of milliseconds


class LogisticParams(NamedTuple):
    """Where loss and slope are wanted."""

    weights: np.ndarray  # (v, k) float64; k is 1 with two classes
    intercept: np.ndarray  # (k,)
    decay: float = 0.0  # share of the weights that a step of ``update`` takes away
    rate: float = 1.0  # length of a step of ``update``


@dataclass(frozen=True)
class LogisticStats(Stats):
    """What a block adds to the loss and to its slope."""

    loss: float
    rows: float  # their weight
    slope: np.ndarray  # (v, k)
    offset: np.ndarray  # (k,), the slope of the intercept


def collect(params: LogisticParams, block: Any) -> LogisticStats:
    """Loss and slope of a block whose labels are codes."""
    rows, codes, weights = parts(block)
    if weights is None:
        weights = np.ones(rows.shape[0])
    # What comes over a wire may lie anywhere in memory, and is then added in another order.
    params = params._replace(
        weights=settled(params.weights), intercept=settled(params.intercept)
    )
    weights = settled(weights)
    if not sp.issparse(rows):
        return collect_dense(params, rows, codes, weights)
    csr = csr_arrays(rows, "LogisticRegression")
    slope = np.zeros_like(params.weights)
    offset = np.zeros_like(params.intercept)
    loss = 0.0
    for start, stop in spans(csr.indptr):
        loss += add_slopes(
            *csr, codes, weights, start, stop, params.weights, params.intercept, slope, offset
        )
        check_stop()
    return LogisticStats(loss, float(weights.sum()), slope, offset)


def collect_dense(params, rows, codes, weights):
    rows = settled(rows)
    with np.errstate(invalid="ignore", over="ignore"):
        found = rows @ params.weights + params.intercept
    if not np.isfinite(found).all():
        check_values(rows, "LogisticRegression")
    logs = log_probabilities(found)
    residual = np.exp(logs)
    every = np.arange(len(rows))
    loss = -float(weights @ logs[every, codes])
    residual[every, codes] -= 1
    if found.shape[1] == 1:
        residual = residual[:, 1:]
    residual *= weights[:, None]
    return LogisticStats(
        loss, float(weights.sum()), rows.T @ residual, residual.sum(axis=0)
    )


def update(params: LogisticParams, stats: LogisticStats) -> LogisticParams:
    """One step downhill on the mean loss."""
    rate = params.rate / stats.rows
    return params._replace(
        weights=(1 - params.decay) * params.weights - rate * stats.slope,
        intercept=params.intercept - rate * stats.offset,
    )


def settled(array: Any) -> np.ndarray:
    """The array as float64 in C order and aligned, copied only where it is not."""
    return np.require(array, np.float64, ["C", "A"])


def width_of(n_classes: int) -> int:
    """Columns of the weights: one with two classes."""
    return 1 if n_classes == 2 else n_classes


def probabilities(found: np.ndarray) -> np.ndarray:
    """The probabilities (n, k) that scores stand for; a single column gives two.

    >>> probabilities(np.array([[0.0], [np.log(3.0)]]))
    array([[0.5 , 0.5 ], [0.25, 0.75]])
    """
    return np.exp(log_probabilities(found))


def log_probabilities(found: np.ndarray) -> np.ndarray:
    """Logarithms of ``probabilities``, exact for values near 0 and near 1."""
    if found.shape[1] == 1:
        found = np.hstack([np.zeros_like(found), found])
    with np.errstate(under="ignore"):
        found = found - found.max(axis=1, keepdims=True)
        return found - np.log(np.exp(found).sum(axis=1, keepdims=True))


def spans(indptr: np.ndarray) -> list[tuple[int, int]]:
    """Stretches of rows that hold some two million values each."""
    n = len(indptr) - 1
    cuts = np.searchsorted(indptr, np.arange(indptr[0] + SPAN, indptr[-1], SPAN))
    edges = np.unique(np.concatenate([[0], cuts, [n]]))
    return [(int(a), int(b)) for a, b in pairwise(edges)]


# --- Kernels ---


@kernel
def add_slopes(
    indptr, indices, data, codes, weights, start, stop, coef, intercept, slope, offset
):
    """Add the slopes of some rows to ``slope`` and ``offset``; their loss."""
    k = intercept.size
    found = np.empty(k)
    loss = 0.0
    for i in range(start, stop):
        first, last = indptr[i], indptr[i + 1]
        found[:] = intercept
        for t in range(first, last):
            row = coef[indices[t]]
            x = data[t]
            for j in range(k):
                found[j] += x * row[j]
        loss += weights[i] * to_residual(found, k, codes[i])
        for j in range(k):
            found[j] *= weights[i]
            offset[j] += found[j]
        for t in range(first, last):
            row = slope[indices[t]]
            x = data[t]
            for j in range(k):
                row[j] += x * found[j]
    return loss


@kernel(inline="always")
def to_residual(found, k, code):
    """Turn the first k scores into p(y | x) - [y = code]; gives - log p(code | x)."""
    if k == 1:
        # log(1 + exp(-m)) for the margin m of the true class, without overflow
        m = found[0] if code == 1 else -found[0]
        e = np.exp(-abs(m))
        wrong = e / (1 + e) if m >= 0 else 1 / (1 + e)
        found[0] = -wrong if code == 1 else wrong
        return np.log1p(e) + max(-m, 0.0)
    top = found[0]
    for j in range(1, k):
        top = max(top, found[j])
    gap = top - found[code]
    total = found[0] - found[0]
    for j in range(k):
        found[j] = np.exp(found[j] - top)
        total += found[j]
    scale = 1 / total
    for j in range(k):
        found[j] *= scale
    found[code] -= 1
    return np.log(total) + gap
