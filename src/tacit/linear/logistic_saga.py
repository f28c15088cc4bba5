"""Logistic regression by SAGA: steps by single rows, corrected by a mean of past slopes.

    w  <-  prox( w - rate ( (r_i - old r_i) x_i + mean ) )

r_i is the residual p(y | x_i) - [y = y_i], kept for every row, and mean the mean of all r_i x_i
with the residuals as they were last seen. At the optimum the two parts of the step vanish
together, so the rate need not fall, and the distance to the optimum shrinks by a factor every
pass.

Rows are sparse, but ``mean`` and the penalty move every weight at every step. Weights are
therefore brought up to date when they are next looked at. Between two looks ``mean`` stands
still for that feature, so t steps have a closed form: with decay q = 1 - rate * l2,

    w_t = q^t w_0 - rate (mean + l1 sign) (1 - q^t) / (1 - q)

while the sign of w lasts; a weight that an L1 penalty drives to zero is followed in two parts.
Most passes run in float32, which is enough to come near; the last ones in float64 if the
tolerance asks for it. What was reached is judged by a fresh slope over all rows.

Defazio, Bach and Lacoste-Julien (2014), SAGA. NIPS. Schmidt, Le Roux and Bach (2017),
Minimizing finite sums with the stochastic average gradient. Math. Programming 162.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tacit.core.kernel import kernel
from tacit.core.randoms import key, permutation
from tacit.linear.linear_classifier import Csr
from tacit.linear.losses import SPAN, spans, to_residual

__all__ = ["Problem", "Saga", "frequent_first", "most_first", "rate_for", "reordered"]

LANES = 4  # rows of weights are padded to whole SIMD registers


class Problem(NamedTuple):
    """Rows and penalties of a fit: mean loss + l2/2 |w|^2 + l1 |w|_1."""

    rows: Csr
    codes: np.ndarray  # (n,) int32
    weights: np.ndarray  # (n,), mean 1
    squares: np.ndarray  # (n,) of the rows' lengths
    features: int
    columns: int  # of the weights
    l2: float
    l1: float
    intercept: bool


class Saga:
    """The state of a fit; ``run_pass`` goes once over all rows.

    Rows are scaled by ``scale``, the length of the longest, so that float32 holds for data of
    any unit; penalties are scaled back.
    """

    def __init__(self, problem: Problem, seed: np.uint64, dtype: Any = np.float32) -> None:
        self.order = frequent_first(problem.rows, problem.features)
        self.problem = problem = problem._replace(rows=reordered(problem.rows, self.order))
        self.seed, self.passes = seed, 0
        squares = problem.squares
        self.scale = float(np.sqrt(squares.max(initial=0.0))) or 1.0
        self.used = np.flatnonzero(problem.weights > 0)
        heaviest = float((problem.weights * squares).max(initial=0.0)) / self.scale**2
        self.l2, self.l1 = problem.l2 / self.scale**2, problem.l1 / self.scale
        self.rate = rate_for(heaviest, problem.columns, self.l2)
        k, n = problem.columns, len(problem.codes)
        padded = k if k < 3 else -(-k // LANES) * LANES
        self.pairs = np.zeros((problem.features, 2, padded), dtype)  # weights, mean slope
        self.intercept = np.zeros((2, padded), dtype)
        self.residuals = np.zeros((n, padded), dtype)
        self._settle(dtype)

    def _settle(self, dtype: Any) -> None:
        """Rows and tables in the precision of the passes to come."""
        self.pairs = self.pairs.astype(dtype, copy=False)
        self.intercept = self.intercept.astype(dtype, copy=False)
        self.residuals = self.residuals.astype(dtype, copy=False)
        rows = self.problem.rows
        self.data = (rows.data / self.scale).astype(dtype)
        steps = np.arange(len(self.used) + 2, dtype=np.float64)
        lost = self.rate * self.l2
        # (1 - lost)^t and the sum of its first t terms, without cancellation
        self.fades = np.exp(steps * np.log1p(-lost)).astype(dtype)
        sums = steps if lost == 0 else -np.expm1(steps * np.log1p(-lost)) / lost
        self.sums = (self.rate * sums).astype(dtype)

    def sharpen(self) -> float:
        """Go on in float64."""
        self._settle(np.float64)
        return self.refresh()

    def refresh(self, check: Callable[[], None] = lambda: None) -> float:
        """See every row at the same weights; the steepest slope there. Sets ``loss``.

        The remembered residuals and their mean are new and exact afterwards, so it is not
        only a measurement: it also frees the mean of rounding.
        """
        problem = self.problem
        self.pairs[:, 1] = 0
        self.intercept[1] = 0
        self.loss = 0.0
        for start, stop in spans(problem.rows.indptr):
            self.loss += see_rows(
                problem.rows.indptr, problem.rows.indices, self.data, problem.codes,
                problem.weights, start, stop, self.pairs, self.intercept, self.residuals,
                problem.columns, 1.0 / len(self.used),
            )  # fmt: skip
            check()
        return self._steepest(np.zeros(problem.features, np.int32), 0)

    def run_pass(self, check: Callable[[], None] = lambda: None) -> float:
        """Step by every row once, in a fresh order; the largest slope by what is remembered."""
        problem, n = self.problem, len(self.used)
        order = self.used[permutation(key(self.seed, self.passes), n)]
        last = np.zeros(problem.features, np.int32)
        lengths = np.diff(problem.rows.indptr)[order]
        spent = np.cumsum(lengths * self.residuals.shape[1] // 8 + 8)
        cuts = np.searchsorted(spent, np.arange(SPAN, spent[-1] if n else 0, SPAN))
        edges = np.unique(np.concatenate([[0], cuts, [n]]))
        for start, stop in pairwise(edges):
            step_rows(
                problem.rows.indptr, problem.rows.indices, self.data, problem.codes,
                problem.weights, order, start, stop, self.pairs, last, self.intercept,
                self.residuals, problem.columns, self.rate, self.l1, self.fades, self.sums,
                problem.intercept,
            )  # fmt: skip
            check()
        self.passes += 1
        return self._steepest(last, n)

    def _steepest(self, last: np.ndarray, now: int) -> float:
        steepest = self.scale * catch_up_all(
            self.pairs, last, now, self.problem.columns, self.l2, self.l1, self.fades, self.sums
        )
        if self.problem.intercept:
            steepest = max(steepest, float(np.abs(self.intercept[1]).max()))
        return steepest

    @property
    def weights(self) -> np.ndarray:
        """(v, k) weights in the order and the unit of the data."""
        k = self.problem.columns
        out = np.empty((self.problem.features, k))
        out[self.order] = self.pairs[:, 0, :k]
        out /= self.scale
        return out

    @property
    def offsets(self) -> np.ndarray:
        """(k,) intercepts."""
        return self.intercept[0, : self.problem.columns].astype(np.float64)


def frequent_first(rows: Csr, features: int) -> np.ndarray:
    """The features by how many rows have them: the weights of the most frequent, side by
    side, stay in the cache."""
    return most_first(np.bincount(rows.indices, minlength=features))


def most_first(counts: np.ndarray) -> np.ndarray:
    """Features by how many rows have them; the rarest of many are alike."""
    most = min(int(counts.max(initial=0)), 2**16 - 1)
    return np.argsort((most - np.minimum(counts, most)).astype(np.uint16), kind="stable")


def reordered(rows: Csr, order: np.ndarray) -> Csr:
    """The rows with feature ``order[j]`` in column j."""
    indptr, indices, data = rows
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    shape = (len(indptr) - 1, len(order))
    moved = sp.csr_array((data.copy(), place[indices], indptr), shape=shape)
    moved.sort_indices()
    return Csr(indptr, moved.indices.astype(np.int32, copy=False), moved.data)


def rate_for(heaviest: float, columns: int, l2: float) -> float:
    """The step: 0.4 over the steepest curvature that a single row can have.

    The curvature of - log p in the scores is at most 1/4 for two classes, 1/2 for more. Theory
    asks for a third; on TF-IDF rows 0.35 and 0.5 take as many passes as 0.4.
    """
    curvature = (0.25 if columns == 1 else 0.5) * max(heaviest, 1e-3) + l2
    return 0.4 / curvature


# --- Kernels ---


# fastmath: the sums over k lanes may be taken in any order; NaN cannot arise, values are
# checked before and scores are finite.
@kernel(fastmath=True)
def step_rows(
    indptr, indices, data, codes, weights, order, start, stop, pairs, last, intercept,
    residuals, columns, rate, l1, fades, sums, with_intercept,
):  # fmt: skip
    """Steps start to stop of a pass. ``last`` holds the step each feature is up to date at."""
    width = intercept.shape[1]
    kind = intercept.dtype.type
    share = kind(1.0 / order.size)
    eta = kind(rate)
    slow = kind(0.1 * rate)  # the intercept is in every row: shorter steps keep it calm
    edge = kind(l1)
    double = 2 * width
    found = np.zeros(width, intercept.dtype)
    step = np.zeros(double, intercept.dtype)
    flat = pairs.reshape((pairs.shape[0], double))
    offset, drift = intercept[0], intercept[1]
    for t in range(start, stop):
        i = order[t]
        first, end = indptr[i], indptr[i + 1]
        for k in range(width):
            found[k] = offset[k]
        for s in range(first, end):
            j = indices[s]
            x = data[s]
            lag = t - last[j]
            last[j] = t
            fade, reach = fades[lag], sums[lag]
            pair = pairs[j]
            w, mean = pair[0], pair[1]
            if l1 > 0:
                for k in range(columns):
                    w[k] = caught_up(w[k], mean[k], lag, edge, fades, sums)
                    found[k] += x * w[k]
            else:
                for k in range(width):
                    new = fade * w[k] - reach * mean[k]
                    w[k] = new
                    found[k] += x * new
        to_residual(found, columns, codes[i])
        held = residuals[i]
        a = kind(weights[i])
        for k in range(columns, width):
            found[k] = kind(0)
        for k in range(width):
            new = a * found[k]
            found[k] = new - held[k]
            held[k] = new
        if with_intercept:
            for k in range(width):
                offset[k] -= slow * (found[k] + drift[k])
                drift[k] += share * found[k]
        # Weights and mean in one loop over both: longer stretches for SIMD.
        for k in range(width):
            step[k] = -eta * found[k]
            step[width + k] = share * found[k]
        for s in range(first, end):
            x = data[s]
            both = flat[indices[s]]
            for k in range(double):
                both[k] += x * step[k]


@kernel
def caught_up(w, mean, lag, l1, fades, sums):
    """A weight after ``lag`` steps of w <- soft(q w - rate mean, rate l1)."""
    if lag == 0:
        return w
    if w == 0 and abs(mean) <= l1:
        return w
    side = np.sign(w) if w != 0 else -np.sign(mean)
    # In the direction of ``side``, w falls from |w| by ``pull`` a step, and fades.
    pull = side * mean + l1
    size = side * w
    end = fades[lag] * size - sums[lag] * pull
    if end >= 0:
        return side * end
    # It reaches zero on the way: find the last step before that.
    low, high = 0, lag
    while high - low > 1:
        middle = (low + high) // 2
        if fades[middle] * size - sums[middle] * pull >= 0:
            low = middle
        else:
            high = middle
    if abs(mean) <= l1:
        return w - w  # and stays there
    # The slope carries it through zero to the other side: one step over, then on.
    before = fades[low] * size - sums[low] * pull
    over = -(fades[1] * before - sums[1] * side * mean) - sums[1] * l1
    if over < 0:
        over = w - w
    rest = lag - low - 1
    pull = -side * mean + l1
    return -side * (fades[rest] * over - sums[rest] * pull)


@kernel(fastmath=True)
def catch_up_all(pairs, last, now, columns, l2, l1, fades, sums):
    """Bring every weight up to date; the steepest slope there, by the remembered mean."""
    kind = pairs.dtype.type
    edge = kind(l1)
    decay = kind(l2)
    width = pairs.shape[2]
    steepest = kind(0)
    for j in range(last.size):
        lag = now - last[j]
        fade, reach = fades[lag], sums[lag]
        pair = pairs[j]
        w, mean = pair[0], pair[1]
        if l1 > 0:
            for k in range(columns):
                new = caught_up(w[k], mean[k], lag, edge, fades, sums)
                w[k] = new
                slope = mean[k] + decay * new
                if new > 0:
                    steep = abs(slope + edge)
                elif new < 0:
                    steep = abs(slope - edge)
                else:
                    steep = max(abs(slope) - edge, kind(0))
                steepest = max(steepest, steep)
        else:
            for k in range(width):
                new = fade * w[k] - reach * mean[k]
                w[k] = new
                steepest = max(steepest, abs(mean[k] + decay * new))
    return float(steepest)


@kernel(fastmath=True)
def see_rows(
    indptr, indices, data, codes, weights, start, stop, pairs, intercept, residuals, columns,
    share,
):  # fmt: skip
    """Residuals of some rows, all at the present weights, and their part of the mean slope."""
    width = intercept.shape[1]
    kind = intercept.dtype.type
    part = kind(share)
    found = np.zeros(width, intercept.dtype)
    offset, drift = intercept[0], intercept[1]
    loss = 0.0
    for i in range(start, stop):
        held = residuals[i]
        if weights[i] == 0:
            held[:] = kind(0)
            continue
        first, end = indptr[i], indptr[i + 1]
        for k in range(width):
            found[k] = offset[k]
        for s in range(first, end):
            x = data[s]
            w = pairs[indices[s]][0]
            for k in range(width):
                found[k] += x * w[k]
        loss += weights[i] * to_residual(found, columns, codes[i])
        a = kind(weights[i])
        for k in range(columns, width):
            found[k] = kind(0)
        for k in range(width):
            held[k] = a * found[k]
            drift[k] += part * held[k]
        for s in range(first, end):
            x = part * data[s]
            mean = pairs[indices[s]][1]
            for k in range(width):
                mean[k] += x * held[k]
    return loss
