"""The losses of linear classifiers as sums over rows: value, gradient, Hessian.

    logistic       - sum_i a_i log p(y_i | x_i),   p(y | x) = exp(s_y) / sum_z exp(s_z)
    hinge            sum_i a_i max(0, 1 - m_i)          m_i: the margin of row i
    squared hinge    sum_i a_i max(0, 1 - m_i)^2

s_y = w_y . x + b_y is the score of class y, a_i the weight of row i. The gradient of the
logistic loss is the expected count of every feature in every class less the observed one. The
margin of one class against the rest is s or -s, that of Crammer and Singer the score of the
true class less the best other. ``collect`` and its kin return the sums of one block, so any
engine may run them; ``core.minimize`` makes the steps. Two classes have one column, the weights
of the second against the first.

The notes' sections on logistic regression and on large margins. Berger, Della Pietra and Della
Pietra (1996), A maximum entropy approach to natural language processing. Computational
Linguistics 22.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tacit.core.engines import check_stop
from tacit.core.errors import DataError
from tacit.core.kernel import kernel
from tacit.core.stats import Stats
from tacit.data.bad_values import check_values
from tacit.data.table import parts
from tacit.kernels.sparse_rows import chunks
from tacit.linear.linear_classifier import csr_arrays

__all__ = [
    "HingeParams", "HingeStats", "LogisticHessian", "LogisticParams", "LogisticStats",
    "collect", "collect_hessian", "collect_squared_hinge", "hinge_losses", "log_probabilities",
    "probabilities", "width_of",
]  # fmt: skip

LARGEST = 1e120  # values whose squares can be added up without overflow


# --- Logistic loss ---


class LogisticParams(NamedTuple):
    """The point at which loss and gradient are computed."""

    weights: np.ndarray  # (v, k) float64; k is 1 with two classes
    intercept: np.ndarray  # (k,)


@dataclass(frozen=True)
class LogisticStats(Stats):
    """Loss and gradient of a block."""

    loss: float
    rows: float  # their weight
    gradient: np.ndarray  # (v + 1, k); the last row is the intercept's


@dataclass(frozen=True)
class LogisticHessian(LogisticStats):
    """Loss, gradient and Hessian of a block, in the order (feature, class)."""

    hessian: np.ndarray  # ((v + 1) k, (v + 1) k)


def collect(params: LogisticParams, block: Any) -> LogisticStats:
    """Loss and gradient of a block whose labels are codes."""
    rows, codes, weights = parts(block)
    weights = np.ones(rows.shape[0]) if weights is None else aligned(weights)
    # Arrays that came over a network may be misaligned, and are then added in another order.
    coef, intercept = aligned(params.weights), aligned(params.intercept)
    if not sp.issparse(rows):
        return collect_dense(LogisticParams(coef, intercept), rows, codes, weights)
    csr = csr_arrays(rows, "LogisticRegression")
    gradient = np.zeros((len(coef) + 1, len(intercept)))
    loss = 0.0
    for order in chunks(csr.indptr, np.arange(len(codes))):
        loss += add_gradients(csr, codes, weights, order, coef, intercept, gradient)
        check_stop()
    return LogisticStats(loss, float(weights.sum()), gradient)


def collect_dense(params, rows, codes, weights):
    rows = aligned(rows)
    with np.errstate(invalid="ignore", over="ignore"):
        scores = rows @ params.weights + params.intercept
    if not np.isfinite(scores).all():
        check_values(rows, "LogisticRegression")
    loss, residuals = loss_and_residuals(scores, codes, weights)
    gradient = np.vstack([rows.T @ residuals, residuals.sum(axis=0)])
    return LogisticStats(loss, float(weights.sum()), gradient)


def collect_hessian(params: LogisticParams, block: Any) -> LogisticHessian:
    """Loss, gradient and Hessian of a block, with m = (v + 1) k numbers to find:

    H[a, b]  =  sum_i  a_i p_a(x_i) ([a = b] - p_b(x_i))  x_i x_i'
    """
    rows, codes, weights = parts(block)
    rows = with_column(squarable(rows, "LogisticRegression"), 1.0)
    weights = np.ones(len(rows)) if weights is None else aligned(weights)
    scores = rows @ np.vstack([params.weights, params.intercept])
    p = probabilities(scores)[:, -scores.shape[1] :]
    loss, residuals = loss_and_residuals(scores, codes, weights)
    v, k = rows.shape[1], scores.shape[1]
    hessian = np.empty((v, k, v, k))
    for a in range(k):
        for b in range(a + 1):
            factors = weights * p[:, a] * ((a == b) - p[:, b])
            part = rows.T @ (factors[:, None] * rows)
            hessian[:, a, :, b] = part
            hessian[:, b, :, a] = part.T
    return LogisticHessian(
        loss, float(weights.sum()), rows.T @ residuals, hessian.reshape(v * k, v * k)
    )


def loss_and_residuals(
    scores: np.ndarray, codes: np.ndarray, weights: np.ndarray
) -> tuple[float, np.ndarray]:
    """The loss of rows of scores, and its derivatives with respect to the scores."""
    logs = log_probabilities(scores)
    every = np.arange(len(codes))
    loss = -float(weights @ logs[every, codes])
    residuals = np.exp(logs)
    residuals[every, codes] -= 1
    if scores.shape[1] == 1:
        residuals = residuals[:, 1:]
    return loss, residuals * weights[:, None]


def width_of(n_classes: int) -> int:
    """Columns of the weights: one with two classes."""
    return 1 if n_classes == 2 else n_classes


def probabilities(scores: np.ndarray) -> np.ndarray:
    """The class probabilities (n, k) of scores (n, k); a single column gives two.

    >>> probabilities(np.array([[0.0], [np.log(3.0)]]))
    array([[0.5 , 0.5 ], [0.25, 0.75]])
    """
    return np.exp(log_probabilities(scores))


def log_probabilities(scores: np.ndarray) -> np.ndarray:
    """Logarithms of ``probabilities``, exact for values near 0 and near 1."""
    if scores.shape[1] == 1:
        scores = np.hstack([np.zeros_like(scores), scores])
    with np.errstate(under="ignore"):
        scores = scores - scores.max(axis=1, keepdims=True)
        return scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))


# --- Hinge losses ---


class HingeParams(NamedTuple):
    """The point at which the sums are computed."""

    weights: np.ndarray  # (v or v + 1, k)
    extra: float  # value of a last feature in all rows; 0 for no such feature


@dataclass(frozen=True)
class HingeStats(Stats):
    """Sums over the rows inside the margin, each class against the rest."""

    loss: float
    gradient: np.ndarray  # (width, k)
    hessian: np.ndarray  # (k, width, width), or empty
    duals: float  # sum of the dual variables, for the duality gap


def collect_squared_hinge(
    params: HingeParams, block: Any, *, with_hessian: bool = False
) -> HingeStats:
    """The sums of a block whose labels are codes and whose weights are multiplied by C."""
    rows, codes, costs = parts(block)
    rows, costs = squarable(rows, "LinearSVC"), aligned(costs)
    if params.extra:
        rows = with_column(rows, params.extra)
    weights = aligned(params.weights)
    width, k = weights.shape
    signs = signs_of(codes, k)
    short = np.maximum(0.0, 1 - signs * (rows @ weights))
    duals = 2 * costs[:, None] * short
    hessian = np.zeros((k, width, width) if with_hessian else (k, 0, 0))
    for j in range(k if with_hessian else 0):
        inside = np.flatnonzero(short[:, j])
        near = rows[inside]
        hessian[j] = near.T @ (2 * costs[inside, None] * near)
    return HingeStats(
        float((costs @ short**2).sum()), -(rows.T @ (signs * duals)), hessian,
        float(duals.sum()),
    )  # fmt: skip


def hinge_losses(
    scores: np.ndarray, codes: np.ndarray, *, squared: bool, crammer_singer: bool
) -> np.ndarray:
    """The loss of every row of scores, summed over the classes.

    >>> y = np.array([1, 0])
    >>> hinge_losses(np.array([[0.5], [-2.0]]), y, squared=False, crammer_singer=False)
    array([0.5, 0. ])
    """
    if crammer_singer and scores.shape[1] > 1:
        every = np.arange(len(codes))
        others = scores.copy()
        others[every, codes] = -np.inf
        short = np.maximum(0.0, 1 - scores[every, codes] + others.max(axis=1))[:, None]
    else:
        short = np.maximum(0.0, 1 - signs_of(codes, scores.shape[1]) * scores)
    return (short**2 if squared else short).sum(axis=1)


def signs_of(codes: np.ndarray, columns: int) -> np.ndarray:
    """(n, columns): 1 for the class of a row, -1 for the others; one column is class 1."""
    return np.where(codes[:, None] == (np.arange(columns) if columns > 1 else 1), 1.0, -1.0)


# --- Rows ---


def aligned(array: Any) -> np.ndarray:
    """The array as float64 in C order and aligned, copied only where it is not."""
    return np.require(array, np.float64, ["C", "A"])


def with_column(rows: np.ndarray, value: float) -> np.ndarray:
    """The rows with one more feature, the same for all."""
    return np.hstack([rows, np.full((len(rows), 1), value)])


def squarable(rows: Any, name: str) -> np.ndarray:
    """Rows as a dense array whose squares can be added up; an error says why not."""
    rows = aligned(rows.toarray() if sp.issparse(rows) else rows)
    if np.abs(rows).max(initial=0.0) <= LARGEST:
        return rows
    check_values(rows, name)  # NaN and infinity end here too
    i, j = (int(at) for at in np.argwhere(np.abs(rows) > LARGEST)[0])
    raise DataError(
        f"{name}: X holds {rows[i, j]:.3g}, too large to be squared. Scale the columns down.",
        column=j,
    )


@kernel
def add_gradients(rows, codes, weights, order, coef, intercept, gradient):
    """Add the gradients of some rows to ``gradient``; returns their loss."""
    k = intercept.size
    scores = np.empty(k)
    offset = gradient[-1]
    loss = 0.0
    for i in order:
        first, last = rows.indptr[i], rows.indptr[i + 1]
        scores[:] = intercept
        for t in range(first, last):
            row = coef[rows.indices[t]]
            x = rows.data[t]
            for j in range(k):
                scores[j] += x * row[j]
        loss += weights[i] * to_residual(scores, codes[i])
        for j in range(k):
            scores[j] *= weights[i]
            offset[j] += scores[j]
        for t in range(first, last):
            row = gradient[rows.indices[t]]
            x = rows.data[t]
            for j in range(k):
                row[j] += x * scores[j]
    return loss


@kernel(inline="always")
def to_residual(scores, code):
    """Turn scores into p(y | x) - [y = code]; returns - log p(code | x)."""
    k = scores.size
    if k == 1:
        # log(1 + exp(-m)) for the margin m of the true class, without overflow
        m = scores[0] if code == 1 else -scores[0]
        e = np.exp(-abs(m))
        wrong = e / (1 + e) if m >= 0 else 1 / (1 + e)
        scores[0] = -wrong if code == 1 else wrong
        return np.log1p(e) + max(-m, 0.0)
    top = scores[0]
    for j in range(1, k):
        top = max(top, scores[j])
    lead = top - scores[code]
    total = 0.0
    for j in range(k):
        scores[j] = np.exp(scores[j] - top)
        total += scores[j]
    scale = 1 / total
    for j in range(k):
        scores[j] *= scale
    scores[code] -= 1
    return np.log(total) + lead
