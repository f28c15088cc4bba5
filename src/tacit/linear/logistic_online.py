"""Logistic regression row by row: stochastic gradient descent and AdaGrad.

    r       = p(y | x) - [y = code]
    w_j    <-  w_j - rate x_j r              for the features of the row, then the penalty

SGD's rate is the same for all features and follows a schedule. AdaGrad's is eta / sqrt(h_j) for
every feature and class, h_j the sum of its squared slopes so far, so rare words take longer
steps. The penalty touches every weight at every step; it is applied when a feature next occurs
(and at the end of a pass) for all the steps since. For SGD that is exact: D is the product of
all decays so far and A the sum of all L1 shifts, each divided by D as it was, hence

    w  <-  soft( (D / D_then) w,  D (A - A_then) )

For AdaGrad, whose rates stand still meanwhile, the missed steps become one proximal step of
their number: w <- soft(w, lag s l1) / (1 + lag s l2), s = eta / sqrt(h).

The notes' section on online optimization. Duchi, Hazan and Singer (2011), Adaptive subgradient
methods. JMLR 12. Carpenter (2008), Lazy sparse stochastic gradient descent.
Bottou (2012), Stochastic gradient descent tricks.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from tacit.core.kernel import kernel
from tacit.linear.linear_classifier import Csr
from tacit.linear.losses import SPAN, to_residual

__all__ = ["Memory", "Schedule", "adagrad_pass", "fresh_memory", "sgd_pass"]


class Schedule(NamedTuple):
    """The rate of step t: eta0 / (1 + eta0 l2 t), eta0, or eta0 / t^power."""

    kind: str  # "optimal", "constant" or "invscaling"
    eta0: float
    power: float


KINDS = {"optimal": 0, "constant": 1, "invscaling": 2}


class Memory(NamedTuple):
    """What goes on from pass to pass. Arrays change in place."""

    weights: np.ndarray  # (v, k)
    intercept: np.ndarray  # (k,)
    squares: np.ndarray  # (v, k): AdaGrad's sums, or (0, k)
    offset_squares: np.ndarray  # (k,)


def fresh_memory(features: int, columns: int, *, adaptive: bool) -> Memory:
    """Zeros to start from."""
    return Memory(
        np.zeros((features, columns)),
        np.zeros(columns),
        np.zeros((features if adaptive else 0, columns)),
        np.zeros(columns),
    )


def sgd_pass(
    memory: Memory,
    rows: Csr,
    codes: np.ndarray,
    weights: np.ndarray,
    order: np.ndarray,
    schedule: Schedule,
    *,
    steps: int,
    l2: float,
    l1: float,
    intercept: bool,
) -> float:
    """Step by the rows in ``order``; the loss of every row just before its step, summed."""
    faded = np.ones(len(memory.weights))
    shifted = np.zeros(len(memory.weights))
    clock = np.array([1.0, 0.0])  # D and A
    loss = 0.0
    for start, stop in stretches(rows, order):
        loss += sgd_rows(
            *rows, codes, weights, order[start:stop], memory.weights, memory.intercept,
            faded, shifted, clock, steps + start, KINDS[schedule.kind], schedule.eta0,
            schedule.power, l2, l1, intercept,
        )  # fmt: skip
        if clock[0] < 1e-6:  # before D underflows
            settle_sgd(memory.weights, faded, shifted, clock)
    settle_sgd(memory.weights, faded, shifted, clock)
    return loss


def adagrad_pass(
    memory: Memory,
    rows: Csr,
    codes: np.ndarray,
    weights: np.ndarray,
    order: np.ndarray,
    *,
    eta: float,
    l2: float,
    l1: float,
    intercept: bool,
) -> float:
    """Step by the rows in ``order``; the loss of every row just before its step, summed."""
    last = np.zeros(len(memory.weights), np.int64)
    loss = 0.0
    for start, stop in stretches(rows, order):
        loss += adagrad_rows(
            *rows, codes, weights, order[start:stop], *memory, last, start, eta, l2, l1,
            intercept,
        )  # fmt: skip
    settle_adagrad(memory.weights, memory.squares, last, len(order), eta, l2, l1)
    return loss


def stretches(rows: Csr, order: np.ndarray) -> list[tuple[int, int]]:
    """Parts of an order that hold some half a million values each, or 4096 rows."""
    spent = np.cumsum(np.diff(rows.indptr)[order] + 64)
    total = int(spent[-1]) if len(spent) else 0
    cuts = np.searchsorted(spent, np.arange(SPAN // 4, total, SPAN // 4))
    edges = np.unique(np.concatenate([[0], cuts, [len(order)]]))
    return [(int(a), int(b)) for a, b in pairwise(edges)]


# --- Kernels ---


@kernel
def rate_at(kind, t, eta0, power, l2):
    if kind == 0:
        return eta0 / (1 + eta0 * l2 * t)
    if kind == 1:
        return eta0
    return eta0 / (t + 1.0) ** power


@kernel
def soft(w, shift):
    """w moved toward zero by ``shift``, and no further."""
    return np.sign(w) * max(abs(w) - shift, 0.0)


@kernel
def sgd_rows(
    indptr, indices, data, codes, weights, order, coef, intercept, faded, shifted, clock,
    steps, kind, eta0, power, l2, l1, with_intercept,
):  # fmt: skip
    k = intercept.size
    found = np.empty(k)
    loss = 0.0
    d, a = clock[0], clock[1]
    for s in range(order.size):
        i = order[s]
        first, end = indptr[i], indptr[i + 1]
        found[:] = intercept
        for t in range(first, end):
            j = indices[t]
            row = coef[j]
            x = data[t]
            fade = d / faded[j]
            if l1 > 0:
                shift = d * (a - shifted[j])
                for c in range(k):
                    row[c] = soft(fade * row[c], shift)
            else:
                for c in range(k):
                    row[c] *= fade
            faded[j] = d
            shifted[j] = a
            for c in range(k):
                found[c] += x * row[c]
        loss += weights[i] * to_residual(found, k, codes[i])
        rate = rate_at(kind, steps + s, eta0, power, l2)
        for c in range(k):
            found[c] *= rate * weights[i]
        if with_intercept:
            for c in range(k):
                intercept[c] -= found[c]
        for t in range(first, end):
            row = coef[indices[t]]
            x = data[t]
            for c in range(k):
                row[c] -= x * found[c]
        d *= max(1 - rate * l2, 1e-3)
        a += rate * l1 / d
        if d < 1e-200:  # all weights have faded away; keep the arithmetic alive
            d = 1e-200
    clock[0], clock[1] = d, a
    return loss


@kernel
def settle_sgd(coef, faded, shifted, clock):
    """Apply what penalties are due everywhere, and start counting anew."""
    d, a = clock[0], clock[1]
    for j in range(coef.shape[0]):
        row = coef[j]
        fade, shift = d / faded[j], d * (a - shifted[j])
        for c in range(row.size):
            row[c] = soft(fade * row[c], shift)
        faded[j], shifted[j] = 1.0, 0.0
    clock[0], clock[1] = 1.0, 0.0


@kernel
def shrunk(w, square, lag, eta, l2, l1):
    """A weight after ``lag`` penalties."""
    if lag == 0 or w == 0 or square == 0:
        return w
    step = lag * eta / np.sqrt(square)
    return soft(w, step * l1) / (1 + step * l2)


@kernel
def adagrad_rows(
    indptr, indices, data, codes, weights, order, coef, intercept, squares, offset_squares,
    last, steps, eta, l2, l1, with_intercept,
):  # fmt: skip
    k = intercept.size
    found = np.empty(k)
    loss = 0.0
    for s in range(order.size):
        i = order[s]
        now = steps + s
        first, end = indptr[i], indptr[i + 1]
        found[:] = intercept
        for t in range(first, end):
            j = indices[t]
            row, square = coef[j], squares[j]
            x = data[t]
            lag = now - last[j]
            last[j] = now
            for c in range(k):
                row[c] = shrunk(row[c], square[c], lag, eta, l2, l1)
                found[c] += x * row[c]
        loss += weights[i] * to_residual(found, k, codes[i])
        for c in range(k):
            found[c] *= weights[i]
        if with_intercept:
            for c in range(k):
                g = found[c]
                offset_squares[c] += g * g
                if g != 0:
                    intercept[c] -= eta * g / np.sqrt(offset_squares[c])
        for t in range(first, end):
            j = indices[t]
            row, square = coef[j], squares[j]
            x = data[t]
            for c in range(k):
                g = x * found[c]
                if g != 0:
                    square[c] += g * g
                    row[c] -= eta * g / np.sqrt(square[c])
    return loss


@kernel
def settle_adagrad(coef, squares, last, now, eta, l2, l1):
    """Apply what penalties are due everywhere."""
    for j in range(coef.shape[0]):
        row, square = coef[j], squares[j]
        for c in range(row.size):
            row[c] = shrunk(row[c], square[c], now - last[j], eta, l2, l1)
