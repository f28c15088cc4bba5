"""Linear support vector machines by coordinate descent on the dual problem.

Every row has a multiplier a_i (one for each class), and the weights are w = sum_i a_i y_i x_i
all along. A visit solves for the multipliers of one row exactly, the others fixed:

    one class against the rest    a  <-  clip(a - g / (|x|^2 + D), 0, U)
                                  where g = y w . x - 1 + D a
    Crammer and Singer            the nearest point to - B / |x|^2 with a_k <= C [k = y] and
                                  sum a_k = 0, where B_k = w_k . x + [k != y] - |x|^2 a_k

with D = 0, U = C for the hinge loss, D = 1 / (2 C), U = inf for its square. All classes of a
row are visited together, so that a word costs one stretch of memory. A row whose multipliers
are all held firmly at their bounds rests until the others have settled.

A visit also finds the row's part of the duality gap, which bounds the distance to the optimum;
their sum over a pass says when it is worth while for the caller to measure the gap itself.

Hsieh, Chang, Lin, Keerthi and Sundararajan (2008), A dual coordinate descent method for
large-scale linear SVM. ICML. Keerthi et al. (2008), A sequential dual method for large scale
multi-class linear SVMs. KDD. Crammer and Singer (2001), On the algorithmic implementation of
multiclass kernel-based vector machines. JMLR 2.
"""

import numpy as np

from tacit.core.kernel import kernel

__all__ = ["row_gap", "visit_against_rest", "visit_together"]


@kernel
def visit_against_rest(
    indptr, indices, data, codes, costs, squares, order, diagonal, bounded, weights, duals,
    resting, edge,
):  # fmt: skip
    """Visit rows for all classes, each against the rest; the largest violation met, and the
    gaps of the rows added up.

    ``costs`` (n,) is C times the weight of each row, ``diagonal`` is 1 / 2 or 0. Rows whose
    multipliers are all at a bound, with slopes beyond ``edge``, rest until they are woken.
    """
    columns = weights.shape[1]
    found = np.empty(columns)
    worst, gap = 0.0, 0.0
    for s in range(order.size):
        i = order[s]
        if costs[i] <= 0 or resting[i]:
            continue
        first, end = indptr[i], indptr[i + 1]
        found[:] = 0.0
        for t in range(first, end):
            row = weights[indices[t]]
            x = data[t]
            for k in range(columns):
                found[k] += x * row[k]
        extra = diagonal / costs[i]
        most = costs[i] if bounded else np.inf
        curvature = squares[i] + extra
        held = duals[i]
        moved, idle = False, True
        for k in range(columns):
            sign = 1.0 if codes[i] == k else -1.0
            gap += row_gap(1 - sign * found[k], held[k], costs[i], bounded)
            slope = sign * found[k] - 1 + extra * held[k]
            found[k] = 0.0
            off = slope
            if held[k] <= 0:
                off = min(slope, 0.0)
            elif held[k] >= most:
                off = max(slope, 0.0)
            worst = max(worst, abs(off))
            # Held firmly at its bound: unlikely to leave it soon.
            if not ((held[k] <= 0 and slope > edge) or (held[k] >= most and slope < -edge)):
                idle = False
            if abs(off) > 1e-14 and curvature > 0:
                new = min(max(held[k] - slope / curvature, 0.0), most)
                if new != held[k]:
                    found[k] = (new - held[k]) * sign
                    held[k] = new
                    moved = True
        resting[i] = idle
        if moved:
            for t in range(first, end):
                row = weights[indices[t]]
                x = data[t]
                for k in range(columns):
                    row[k] += x * found[k]
    return worst, gap


@kernel
def row_gap(short, held, cost, bounded):
    """What a row with this much missing to its margin adds to the duality gap."""
    loss = max(short, 0.0)
    if bounded:
        return cost * loss - held * short
    return cost * loss * loss - held * short + 0.25 * held * held / cost


@kernel
def visit_together(
    indptr, indices, data, codes, costs, squares, order, weights, duals, resting, edge
):
    """Visit rows for all classes at once, after Crammer and Singer; the largest violation
    met, and the gaps of the rows added up."""
    columns = weights.shape[1]
    found = np.empty(columns)
    levels = np.empty(columns)
    worst, gap = 0.0, 0.0
    for s in range(order.size):
        i = order[s]
        if costs[i] <= 0 or squares[i] <= 0 or resting[i]:
            continue
        first, end = indptr[i], indptr[i + 1]
        found[:] = 0.0
        for t in range(first, end):
            row = weights[indices[t]]
            x = data[t]
            for k in range(columns):
                found[k] += x * row[k]
        held, code = duals[i], codes[i]
        # Slopes of the dual; those that could still fall must all be equal at the optimum.
        low, high = np.inf, -np.inf
        for k in range(columns):
            found[k] += 0.0 if k == code else 1.0
            high = max(high, found[k])
            if held[k] < (costs[i] if k == code else 0.0):
                low = min(low, found[k])
        off = high - low if low < np.inf else 0.0
        worst = max(worst, off)
        gap += costs[i] * (high - found[code])
        for k in range(columns):
            gap += held[k] * found[k]
        # At rest: all weight on the true class, which leads by more than the margin asks.
        resting[i] = held[code] <= 0 and found[code] >= high and leads_by(found, code) > edge
        if off <= 1e-12:
            continue
        square = squares[i]
        for k in range(columns):
            found[k] -= square * held[k]  # B
            levels[k] = found[k] + (square * costs[i] if k == code else 0.0)
        levels.sort()
        # Water-filling: the level at which the multipliers add up to zero.
        total = levels[columns - 1] - square * costs[i]
        count = 1
        while count < columns and total < count * levels[columns - 1 - count]:
            total += levels[columns - 1 - count]
            count += 1
        level = total / count
        moved = False
        for k in range(columns):
            most = costs[i] if k == code else 0.0
            new = min(most, (level - found[k]) / square)
            found[k] = new - held[k]
            moved = moved or found[k] != 0
            held[k] = new
        if moved:
            for t in range(first, end):
                row = weights[indices[t]]
                x = data[t]
                for k in range(columns):
                    row[k] += x * found[k]
    return worst, gap


@kernel
def leads_by(found, code):
    best = -np.inf
    for k in range(found.size):
        if k != code:
            best = max(best, found[k])
    return found[code] - best
