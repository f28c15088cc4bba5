"""Online updates: the rules of the perceptron and of passive-aggressive classifiers.

A visit scores a row and compares its class y with the best other class r. The margin is
score(y) - score(r), its hinge loss l = max(0, 1 - margin). Steps, along f(x, y) - f(x, r):

    PERCEPTRON   C, its learning rate, where the margin is not above 0
    PA           l / |f(x, y) - f(x, r)|^2, the least change that makes the margin 1
    PA_I         the same, at most C: minimizes |change|^2 / 2 + C l
    PA_II        l / (|f(x, y) - f(x, r)|^2 + 1 / (2 C)): minimizes |change|^2 / 2 + C l^2
    MIRA         the least change that makes the margin to every other class 1 or more

f(x, y) holds x, and with an intercept a 1, in the place of y: |f(x, y) - f(x, r)|^2 is twice
|x|^2. Two classes have one column of weights, the second against the first, where the change
is one x and its square |x|^2; for them PA and MIRA are the same.

The average of the weights over all visits costs nothing where nothing changes: ``sums`` adds
each change times the number of visits before it, and the average after t visits is
weights - sums / t.

Crammer and Singer (2003), Ultraconservative online algorithms for multiclass problems. JMLR 3.
Crammer, Dekel, Keshet, Shalev-Shwartz and Singer (2006), Online passive-aggressive algorithms.
JMLR 7. McDonald, Crammer and Pereira (2005), Online large-margin training of dependency
parsers. ACL.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tacit.core.engines import check_stop
from tacit.core.kernel import kernel
from tacit.core.sweep import Visited, no_gain_for
from tacit.data.table import Table
from tacit.kernels.sparse_rows import add_scores, chunks, dot_row, row_squares
from tacit.linear.labeled_rows import RowByRow
from tacit.linear.linear_classifier import Csr
from tacit.linear.losses import width_of

__all__ = [
    "MIRA", "PA", "PA_I", "PA_II", "PERCEPTRON", "OnlineUpdates", "Rule", "State", "new_state",
    "restart_average", "visit",
]  # fmt: skip

PERCEPTRON, PA, PA_I, PA_II, MIRA = range(5)
VISITS = 1000  # without a gain, before a fit may stop
FRESH = 1e-3  # a loss that has fallen to this fraction makes earlier weights irrelevant


class Rule(NamedTuple):
    """The size of steps."""

    kind: int
    C: float = 1.0
    intercept: float = 1.0  # the square of the value its feature has in every row; 0 for none
    average: bool = False


class State(NamedTuple):
    """The current weights, and the sums for their average. Changed in place."""

    weights: np.ndarray  # (v, k), or (v, 1) with two classes
    intercept: np.ndarray  # (k,)
    sums: np.ndarray  # like weights, or (0, k) without average
    intercept_sums: np.ndarray
    clock: np.ndarray  # (1,) int64, number of visits


@dataclass(frozen=True)
class OnlineVisited(Visited):
    """Sums over the rows of a block: ``items`` and ``loss`` are weighted by class."""

    changes: float  # how often weights changed


def new_state(n_features: int, n_classes: int, average: bool) -> State:
    """Zeros."""
    k, v = width_of(n_classes), n_features if average else 0
    clock = np.zeros(1, np.int64)
    return State(np.zeros((n_features, k)), np.zeros(k), np.zeros((v, k)), np.zeros(k), clock)


def visit(
    state: State, rule: Rule, rows: Csr, codes: np.ndarray, costs: np.ndarray, order: np.ndarray
) -> np.ndarray:
    """Visit rows in this order; ``costs`` is the weight of each row.

    Returns sums over the visits: hinge losses and errors before each change, both times the
    row's weight; and the number of changes. NaN after an overflow.
    """
    totals = np.zeros(3)
    squares = row_squares(rows.indptr, rows.data)
    if not np.isfinite(squares).all():  # values past 1e150
        return np.full(3, np.nan)
    for part in chunks(rows.indptr, order):
        check_stop()
        visit_rows(rows, codes, costs, part, squares, state, rule, totals)
    return totals


class OnlineUpdates(RowByRow):
    """Passes over a table whose labels are codes, and when to stop. ``costs`` are the weights
    of the classes; ``mistakes`` makes the error rate the loss, and not the hinge loss."""

    def __init__(
        self, table: Table, rule: Rule, costs: np.ndarray, seed: int, name: str, *,
        mistakes: bool, shuffle: bool, max_iter: int = 1, tol: float | None = None,
        patience: int = 1, skips_first: bool = False, held_out: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(table, seed, name, shuffle=shuffle)
        self.rule, self.costs, self.mistakes = rule, costs, mistakes
        self.max_iter, self.tol = max_iter, tol
        self.patience = max(patience, -(-VISITS // len(table)))  # the losses of few rows jump
        # Averages leave the first pass out, unless rows are held out: their accuracy is that
        # of the average.
        self.skips_first, self.held_out = skips_first and max_iter > 1, held_out
        self.losses: list[float] = []
        self.settled = self.separated = False

    def begin_pass(self, state: State, number: int) -> None:
        self.passed = OnlineVisited(0.0, 0.0, 0.0)

    def visit_rows(
        self, state: State, rows: Csr, codes: np.ndarray, weights: np.ndarray | None,
        order: np.ndarray, number: int,
    ) -> OnlineVisited:  # fmt: skip
        rule = self.rule
        if self.skips_first and number == 0 and not self.held_out:
            rule = rule._replace(average=False)  # it would not be used
        costs = self.costs[codes] if weights is None else self.costs[codes] * weights
        totals = visit(state, rule, rows, codes, costs, order)
        self._check_finite(totals)
        weight = float(np.bincount(codes, weights, len(self.costs)) @ self.costs)
        return OnlineVisited(weight, float(totals[int(self.mistakes)]), float(totals[2]))

    def merge(self, state: State, stats: OnlineVisited) -> None:
        self.passed += stats

    def stop(self, state: State, losses: list[float]) -> bool:
        """Whether a pass changed nothing, or ``losses``, which may be those of rows that were
        held out, have stalled."""
        self._check_finite(state.weights)
        self.losses.append(self.passed.loss / (self.passed.items or 1.0))
        self.separated = not self.passed.changes
        stalled = self.tol is not None and no_gain_for(losses, self.patience, self.tol)
        if self.separated or stalled:
            return True
        settles = not self.settled and self.losses[-1] < FRESH * max(self.losses)
        if len(self.losses) < self.max_iter and (
            settles or (self.skips_first and len(self.losses) == 1)
        ):
            restart_average(state)
        self.settled = self.settled or settles
        return False

    def _check_finite(self, values: np.ndarray) -> None:
        if not np.isfinite(values.sum()):
            raise ValueError(
                f"{self.name}: the weights overflowed, because X holds values that are too "
                "large. Scale the columns of X down."
            )


def restart_average(state: State) -> None:
    """Average from here on. Class weights that are orders of magnitude apart make weights jump
    until the heavy rows are right; an average over that time is useless."""
    for array in (state.sums, state.intercept_sums, state.clock):
        array[:] = 0


@kernel
def length_of_step(kind, C, loss, square):
    """The step for a row whose change has this squared length."""
    if kind == PERCEPTRON:
        return C
    if kind == PA_II:
        return loss / (square + 0.5 / C)
    if square == 0.0:  # a row of zeros: no change can help
        return 0.0
    if kind == PA_I:
        return min(C, loss / square)
    return loss / square


@kernel
def visit_rows(rows, codes, costs, order, squares, state, rule, totals):
    """Visit rows; hinge losses, mistakes and changes are added to ``totals``."""
    indptr, indices, data = rows.indptr, rows.indices, rows.data
    kind, C, bias, average = rule.kind, rule.C, rule.intercept, rule.average
    weights, intercept, clock = state.weights, state.intercept, state.clock
    sums, intercept_sums = state.sums, state.intercept_sums
    k = weights.shape[1]
    vector = weights.ravel()
    scores, steps = np.empty(k), np.empty(k)
    time = float(clock[0])
    for i in order:
        first, end, y, cost = indptr[i], indptr[i + 1], codes[i], costs[i]
        sign, rival = 1.0 if y == 1 else -1.0, 1 if y == 0 else 0
        if k == 1:
            margin = sign * (intercept[0] + dot_row(indices, data, first, end, vector))
        else:
            scores[:] = intercept
            add_scores(indices, data, first, end, weights, scores)
            for c in range(rival + 1, k):
                if c != y and scores[c] > scores[rival]:
                    rival = c
            margin = scores[y] - scores[rival]
        time += 1.0
        if margin <= 0:
            totals[1] += cost
        if margin >= 1 or (kind == PERCEPTRON and margin > 0):
            continue
        loss, square = 1.0 - margin, squares[i] + bias
        totals[0] += cost * loss
        totals[2] += 1
        if k == 1:
            steps[0] = sign * cost * length_of_step(kind, C, loss, square)
        elif kind == MIRA:
            mira_steps(scores, y, square, steps)
            steps *= cost
        else:
            steps[:] = 0.0
            steps[y] = cost * length_of_step(kind, C, loss, 2.0 * square)
            steps[rival] = -steps[y]
        for c in range(k):
            if steps[c] != 0.0:
                intercept[c] += steps[c] * bias
                add_to_column(indices, data, first, end, weights, c, steps[c])
                if average:
                    past = (time - 1.0) * steps[c]
                    intercept_sums[c] += past * bias
                    add_to_column(indices, data, first, end, sums, c, past)
    clock[0] = int(time)


@kernel
def add_to_column(indices, data, first, end, table, c, step):
    """Add the entries of a row, times a step, to one column of a table."""
    for t in range(first, end):
        table[np.uint32(indices[t]), c] += step * data[t]


@kernel
def mira_steps(scores, y, square, steps):
    """Steps of all classes for the least change that gives every other a margin of 1.

    With losses l_r = 1 - (score(y) - score(r)) class r moves by -max(0, l_r / |x|^2 - b) and
    y by b, their sum. Those that do not move are left out one after another.
    """
    k = scores.shape[0]
    if square == 0.0:
        steps[:] = 0.0
        return
    total, count = 0.0, 0
    for r in range(k):
        steps[r] = (1.0 - scores[y] + scores[r]) / square
        if r != y and steps[r] > 0:
            total += steps[r]
            count += 1
    b = total / (count + 1)
    changed = True
    while changed:  # each round leaves out at least one
        total, fewer = 0.0, 0
        for r in range(k):
            if r != y and steps[r] > b:
                total += steps[r]
                fewer += 1
        changed = fewer < count
        if changed:
            count = fewer
            b = total / (count + 1)
    for r in range(k):
        steps[r] = b if r == y else -max(0.0, steps[r] - b)
