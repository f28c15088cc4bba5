"""Stochastic gradient descent: SGD and AdaGrad.

    r       = p(y | x) - [y = code]                     or the subgradient of a hinge loss
    w_j    <-  w_j - rate x_j r              for the features of the row, then the penalty

SGD's learning rate is the same for all features and follows a schedule. AdaGrad's is
eta / sqrt(h_j) for every feature and class, h_j the sum of its squared gradients, so rare
words take longer steps. The penalty touches every weight at every step; it is applied when a
feature next occurs (and at the end of a pass) for all the steps since. For SGD that is exact: D
is the product of all decays so far and A the sum of all L1 shifts, each divided by D as it was,
hence

    w  <-  soft( (D / D_then) w,  D (A - A_then) )

For AdaGrad, whose rates do not change meanwhile, the missed steps become one proximal step of
their number: w <- soft(w, lag s l1) / (1 + lag s l2), s = eta / sqrt(h).

Pegasos is SGD on the hinge loss at the rate 1 / (l2 t); ``LinearSVC`` takes the mean of the
weights after each of its later passes.

The notes' section on online optimization. Duchi, Hazan and Singer (2011), Adaptive subgradient
methods. JMLR 12. Carpenter (2008), Lazy sparse stochastic gradient descent.
Bottou (2012), Stochastic gradient descent tricks. Shalev-Shwartz, Singer and Srebro (2007),
Pegasos: primal estimated sub-gradient solver for SVM. ICML.
"""

from typing import NamedTuple

import numpy as np

from tacit.core.engines import check_stop
from tacit.core.kernel import kernel
from tacit.core.sweep import Visited
from tacit.data.table import Table
from tacit.kernels.sparse_rows import chunks, row_squares
from tacit.linear.labeled_rows import RowByRow
from tacit.linear.linear_classifier import Csr
from tacit.linear.losses import to_residual

__all__ = ["Sgd", "SgdSettings", "SgdState"]

SCHEDULES = {"optimal": 0, "constant": 1, "invscaling": 2}
LOSSES = {"logistic": 0, "hinge": 1, "crammer_singer": 2}


class SgdState(NamedTuple):
    """What goes on from pass to pass. Arrays change in place."""

    weights: np.ndarray  # (v, k)
    intercept: np.ndarray  # (k,)
    squares: np.ndarray  # (v, k): AdaGrad's sums of squared gradients, or (0, k)
    offset_squares: np.ndarray  # (k,)
    clock: np.ndarray  # (2,): steps of SGD so far, and its first learning rate

    @classmethod
    def zeros(cls, features: int, columns: int, *, adaptive: bool) -> "SgdState":
        """The start of a fit."""
        return cls(
            np.zeros((features, columns)), np.zeros(columns),
            np.zeros((features if adaptive else 0, columns)), np.zeros(columns), np.zeros(2),
        )  # fmt: skip


class SgdSettings(NamedTuple):
    """How steps are taken."""

    adaptive: bool  # AdaGrad
    eta0: float | None
    schedule: str  # of SGD: eta0 / (1 + eta0 l2 t), eta0, or eta0 / t^power
    power: float
    l2: float
    l1: float
    intercept: bool
    loss: str = "logistic"  # SGD has "hinge" and "crammer_singer" too


class Sgd(RowByRow):
    """Passes of SGD or AdaGrad over a table whose labels are codes."""

    def __init__(self, table: Table, settings: SgdSettings, seed: np.uint64, name: str) -> None:
        super().__init__(table, seed, name)
        self.settings = settings

    def visit_rows(
        self, state: SgdState, rows: Csr, codes: np.ndarray, weights: np.ndarray | None,
        order: np.ndarray, number: int,
    ) -> Visited:  # fmt: skip
        """Step by the rows of a block; the loss of every row just before its step, summed."""
        weights = np.ones(len(codes)) if weights is None else weights
        run = self._adagrad if self.settings.adaptive else self._sgd
        loss = run(state, rows, codes, weights, order)
        if not np.isfinite(loss):
            raise ValueError(
                f"{self.name}: the weights overflowed. Lower eta0, or scale the columns of X "
                "down."
            )
        return Visited(float(weights.sum()), loss)

    def _adagrad(self, state, csr, codes, weights, order):
        s = self.settings
        eta = 1.0 if s.eta0 is None else float(s.eta0)
        last = np.zeros(len(state.weights), np.int64)
        loss, done = 0.0, 0
        for part in chunks(csr.indptr, order):
            loss += adagrad_rows(
                (csr, codes, weights), part, state, last, done, eta, (s.l2, s.l1), s.intercept
            )
            done += len(part)
            check_stop()
        settle_adagrad(state.weights, state.squares, last, len(order), eta, s.l2, s.l1)
        return loss

    def _sgd(self, state, csr, codes, weights, order):
        s = self.settings
        if state.clock[0] == 0:
            state.clock[1] = self._first_rate(csr, state.intercept.size)
        due = Due(
            np.ones(len(state.weights)), np.zeros(len(state.weights)), np.array([1.0, 0.0])
        )
        loss = 0.0
        for part in chunks(csr.indptr, order):
            loss += sgd_rows(
                (csr, codes, weights), part, state, due, SCHEDULES[s.schedule], s.power,
                (s.l2, s.l1), s.intercept, LOSSES[s.loss],
            )  # fmt: skip
            state.clock[0] += len(part)
            check_stop()
            if due.total[0] < 1e-6:  # before D underflows
                settle_sgd(state.weights, due)
        settle_sgd(state.weights, due)
        return loss

    def _first_rate(self, csr: Csr, columns: int) -> float:
        """0.4 over the largest curvature that a single row can have: that of - log p in the
        scores is at most 1/4 for two classes, 1/2 for more."""
        if self.settings.eta0 is not None:
            return float(self.settings.eta0)
        longest = float(row_squares(csr.indptr, csr.data).max(initial=0.0))
        longest = max(longest + self.settings.intercept, 1e-3)
        return 0.4 / ((0.25 if columns == 1 else 0.5) * longest + self.settings.l2)


class Due(NamedTuple):
    """Penalties that weights have not had yet, of a pass of SGD."""

    decays: np.ndarray  # (v,): D when the feature last occurred
    shifts: np.ndarray  # (v,): A then
    total: np.ndarray  # (2,): D and A now


# --- Kernels ---


@kernel
def rate_at(schedule, t, eta0, power, l2):
    if schedule == 0:
        return eta0 / (1 + eta0 * l2 * t)
    if schedule == 1:
        return eta0
    return eta0 / (t + 1.0) ** power


@kernel
def soft(w, shift):
    """w moved toward zero by ``shift``, and no further."""
    return np.sign(w) * max(abs(w) - shift, 0.0)


@kernel
def to_subgradient(scores, code, crammer_singer):
    """Turn scores into the subgradient of a hinge loss, which is returned."""
    k, loss = scores.size, 0.0
    if crammer_singer and k > 1:
        rival = 1 if code == 0 else 0
        for c in range(k):
            if c != code and scores[c] > scores[rival]:
                rival = c
        loss = max(0.0, 1 - scores[code] + scores[rival])
        scores[:] = 0.0
        if loss > 0:
            scores[code], scores[rival] = -1.0, 1.0
        return loss
    for c in range(k):
        sign = 1.0 if code == (1 if k == 1 else c) else -1.0
        short = 1 - sign * scores[c]
        loss += max(short, 0.0)
        scores[c] = -sign if short > 0 else 0.0
    return loss


@kernel
def sgd_rows(labeled, order, state, due, schedule, power, penalties, with_intercept, kind):
    """Steps for rows in an order; their losses before the steps, summed."""
    (rows, codes, weights), (l2, l1) = labeled, penalties
    coef, intercept = state.weights, state.intercept
    indptr, indices, data = rows.indptr, rows.indices, rows.data
    faded, shifted, clock = due.decays, due.shifts, due.total
    steps, eta0 = np.int64(state.clock[0]), state.clock[1]
    k = intercept.size
    scores = np.empty(k)
    loss = 0.0
    d, a = clock[0], clock[1]
    for s in range(order.size):
        i = order[s]
        first, end = indptr[i], indptr[i + 1]
        scores[:] = intercept
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
                scores[c] += x * row[c]
        if kind == 0:
            loss += weights[i] * to_residual(scores, codes[i])
        else:
            loss += weights[i] * to_subgradient(scores, codes[i], kind == 2)
        rate = rate_at(schedule, steps + s, eta0, power, l2)
        for c in range(k):
            scores[c] *= rate * weights[i]
        if with_intercept:
            for c in range(k):
                intercept[c] -= scores[c]
        for t in range(first, end):
            row = coef[indices[t]]
            x = data[t]
            for c in range(k):
                row[c] -= x * scores[c]
        d *= max(1 - rate * l2, 1e-3)
        a += rate * l1 / d
        if d < 1e-200:  # all weights have faded away; keep the arithmetic alive
            d = 1e-200
    clock[0], clock[1] = d, a
    return loss


@kernel
def settle_sgd(coef, due):
    """Apply all penalties that are due, and start counting again."""
    faded, shifted, clock = due.decays, due.shifts, due.total
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
def adagrad_rows(labeled, order, state, last, steps, eta, penalties, with_intercept):
    """The same with AdaGrad's step sizes."""
    (rows, codes, weights), (l2, l1) = labeled, penalties
    coef, intercept = state.weights, state.intercept
    squares, offset_squares = state.squares, state.offset_squares
    indptr, indices, data = rows.indptr, rows.indices, rows.data
    k = intercept.size
    scores = np.empty(k)
    loss = 0.0
    for s in range(order.size):
        i = order[s]
        now = steps + s
        first, end = indptr[i], indptr[i + 1]
        scores[:] = intercept
        for t in range(first, end):
            j = indices[t]
            row, square = coef[j], squares[j]
            x = data[t]
            lag = now - last[j]
            last[j] = now
            for c in range(k):
                row[c] = shrunk(row[c], square[c], lag, eta, l2, l1)
                scores[c] += x * row[c]
        loss += weights[i] * to_residual(scores, codes[i])
        for c in range(k):
            scores[c] *= weights[i]
        if with_intercept:
            for c in range(k):
                g = scores[c]
                offset_squares[c] += g * g
                if g != 0:
                    intercept[c] -= eta * g / np.sqrt(offset_squares[c])
        for t in range(first, end):
            j = indices[t]
            row, square = coef[j], squares[j]
            x = data[t]
            for c in range(k):
                g = x * scores[c]
                if g != 0:
                    square[c] += g * g
                    row[c] -= eta * g / np.sqrt(square[c])
    return loss


@kernel
def settle_adagrad(coef, squares, last, now, eta, l2, l1):
    """Apply all penalties that are due."""
    for j in range(coef.shape[0]):
        row, square = coef[j], squares[j]
        for c in range(row.size):
            row[c] = shrunk(row[c], square[c], now - last[j], eta, l2, l1)
