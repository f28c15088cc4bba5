"""One visit to each row, changing the weights where they were wrong.

A visit scores the row and compares its class y with the best other class r. The margin is
score(y) - score(r), its hinge loss l = max(0, 1 - margin). Steps, along f(x, y) - f(x, r):

    PERCEPTRON   1 where the margin is not above 0
    PA           l / |f(x, y) - f(x, r)|^2, the least change that makes the margin 1
    PA_I         the same, at most C
    PA_II        l / (|f(x, y) - f(x, r)|^2 + 1 / (2 C))
    MIRA         the least change that makes the margin to every other class 1 or more

f(x, y) holds x, and with an intercept a 1, in the place of y: |f(x, y) - f(x, r)|^2 is twice
|x|^2. Two classes have one column of weights, the second against the first, where the change
is one x and its square |x|^2; for them PA and MIRA are the same.

The average of the weights over all visits costs nothing where nothing changes: ``sums`` adds
each change times the visits made before it, and the average after t visits is
weights - sums / t.

Crammer and Singer (2003), Ultraconservative online algorithms for multiclass problems. JMLR 3.
Crammer, Dekel, Keshet, Shalev-Shwartz and Singer (2006), Online passive-aggressive algorithms.
JMLR 7. McDonald, Crammer and Pereira (2005), Online large-margin training of dependency
parsers. ACL.
"""

from typing import Any, NamedTuple

import numpy as np

from tacit.core.engines import check_stop
from tacit.core.kernel import kernel
from tacit.kernels.prefetch import FAR, fetch_rows
from tacit.kernels.sparse_rows import add_row, add_scores, dot_row, row_squares
from tacit.linear.linear_classifier import Csr

__all__ = ["MIRA", "PA", "PA_I", "PA_II", "PERCEPTRON", "Rule", "State", "new_state", "visit"]

PERCEPTRON, PA, PA_I, PA_II, MIRA = range(5)
STEP = 1 << 22  # multiplications to a kernel call: some 20 ms


class Rule(NamedTuple):
    """How far to go."""

    kind: int
    C: float = 1.0
    intercept: float = 1.0  # the square of the value its feature has in every row; 0 for none
    average: bool = False


class State(NamedTuple):
    """The weights as they are now, and what their average needs. Changed in place."""

    weights: np.ndarray  # (v, k), or (v, 1) with two classes
    intercept: np.ndarray  # (k,)
    sums: np.ndarray  # like weights, or (0, k) without average
    intercept_sums: np.ndarray
    clock: np.ndarray  # (1,) int64, visits made


def new_state(n_features: int, n_classes: int, average: bool) -> State:
    """Zeros."""
    k = 1 if n_classes == 2 else n_classes
    v = n_features if average else 0
    return State(
        np.zeros((n_features, k)),
        np.zeros(k),
        np.zeros((v, k)),
        np.zeros(k),
        np.zeros(1, np.int64),
    )


def visit(
    state: State, rule: Rule, rows: Csr, codes: np.ndarray, costs: np.ndarray, order: np.ndarray
) -> np.ndarray:
    """Visit rows in this order; ``costs`` is the weight of each class.

    Returns sums over the visits: the hinge losses before each change, the rows that were
    wrong, both times their class's weight; and how many changes were made. NaN where the
    numbers became too large.
    """
    found = np.zeros(3)
    k = state.weights.shape[1]
    squares = row_squares(rows.indptr, rows.data)
    if not np.isfinite(squares).all():  # values past 1e150
        return np.full(3, np.nan)
    spent = len(rows.data) * k / max(1, len(rows.indptr) - 1) * len(order)
    for part in np.array_split(order, max(1, int(spent) // STEP)):
        check_stop()
        arguments: Any = (*rows, codes, costs, part, squares, *state, *rule, found)
        if k == 1:
            visit_two(*arguments)
        else:
            visit_many(*arguments)
    return found


# --- Kernels ---


@kernel
def length_of_step(kind, C, loss, square):
    """The step for a row whose change has this squared length."""
    if kind == PERCEPTRON:
        return 1.0
    if kind == PA_II:
        return loss / (square + 0.5 / C)
    if square == 0.0:  # a row of zeros: no change can help
        return 0.0
    if kind == PA_I:
        return min(C, loss / square)
    return loss / square


@kernel
def visit_two(
    indptr, indices, data, codes, costs, order, squares,
    weights, intercept, sums, intercept_sums, clock, kind, C, bias, average, found,
):  # fmt: skip
    w, s = weights.ravel(), sums.ravel()
    time = float(clock[0])
    for i in order:
        sign, cost = 1.0 if codes[i] == 1 else -1.0, costs[codes[i]]
        start, stop = indptr[i], indptr[i + 1]
        score = intercept[0] + dot_row(indices, data, start, stop, w)
        margin = sign * score
        time += 1.0
        if margin <= 0:
            found[1] += cost
        if margin >= 1 or (kind == PERCEPTRON and margin > 0):
            continue
        loss = 1.0 - margin
        found[0] += cost * loss
        found[2] += 1
        step = sign * cost * length_of_step(kind, C, loss, squares[i] + bias)
        intercept[0] += step * bias
        if average:
            past = (time - 1.0) * step
            intercept_sums[0] += past * bias
            for t in range(start, stop):
                j = indices[t]
                w[j] += step * data[t]
                s[j] += past * data[t]
        else:
            add_row(indices, data, start, stop, w, step)
    clock[0] = int(time)


@kernel
def visit_many(
    indptr, indices, data, codes, costs, order, squares,
    weights, intercept, sums, intercept_sums, clock, kind, C, bias, average, found,
):  # fmt: skip
    k = weights.shape[1]
    scores = np.empty(k)
    steps = np.empty(k)
    time = float(clock[0])
    far = weights.nbytes > FAR
    for o in range(order.size):
        i = order[o]
        start, stop, y = indptr[i], indptr[i + 1], codes[i]
        if far and o + 1 < order.size:
            after = order[o + 1]
            fetch_rows(indices, indptr[after], indptr[after + 1], weights)
        cost = costs[y]
        for c in range(k):
            scores[c] = intercept[c]
        add_scores(indices, data, start, stop, weights, scores)
        rival = 1 if y == 0 else 0
        for c in range(rival + 1, k):
            if c != y and scores[c] > scores[rival]:
                rival = c
        margin = scores[y] - scores[rival]
        time += 1.0
        if margin <= 0:
            found[1] += cost
        if margin >= 1 or (kind == PERCEPTRON and margin > 0):
            continue
        loss = 1.0 - margin
        found[0] += cost * loss
        found[2] += 1
        if kind == MIRA:
            square = squares[i] + bias
            if square > 0:
                share_step(scores, y, square, steps)
                for c in range(k):
                    steps[c] *= cost
                    move(indices, data, start, stop, weights, intercept, c, steps[c], bias)
                    if average:
                        past = (time - 1.0) * steps[c]
                        move(indices, data, start, stop, sums, intercept_sums, c, past, bias)
            continue
        step = cost * length_of_step(kind, C, loss, 2.0 * (squares[i] + bias))
        intercept[y] += step * bias
        intercept[rival] -= step * bias
        past = (time - 1.0) * step
        if average:
            intercept_sums[y] += past * bias
            intercept_sums[rival] -= past * bias
        for t in range(start, stop):
            j, x = np.uint32(indices[t]), data[t]
            row = weights[j]
            row[y] += step * x
            row[rival] -= step * x
        if average:
            for t in range(start, stop):
                j, x = np.uint32(indices[t]), data[t]
                held = sums[j]
                held[y] += past * x
                held[rival] -= past * x
    clock[0] = int(time)


@kernel
def share_step(scores, y, square, steps):
    """Steps of all classes for the least change that gives every other a margin of 1.

    With losses l_r = 1 - (score(y) - score(r)) class r moves by -max(0, l_r / |x|^2 - b) and
    y by b, their sum. Those that do not move are left out one after another.
    """
    k = scores.shape[0]
    total, count = 0.0, 0
    for r in range(k):
        steps[r] = (1.0 - scores[y] + scores[r]) / square
        if r != y and steps[r] > 0:
            total += steps[r]
            count += 1
    b = total / (count + 1)
    going = True
    while going:  # each round leaves out at least one
        going = False
        total, fewer = 0.0, 0
        for r in range(k):
            if r != y and steps[r] > b:
                total += steps[r]
                fewer += 1
        if fewer < count:
            count, going = fewer, True
            b = total / (count + 1)
    for r in range(k):
        steps[r] = b if r == y else -max(0.0, steps[r] - b)


@kernel
def move(indices, data, start, stop, weights, intercept, c, step, bias):
    if step == 0.0:
        return
    intercept[c] += step * bias
    for t in range(start, stop):
        weights[indices[t], c] += step * data[t]
