"""The steps of ``logistic_two``: two classes, whose weights are one column.

    lay_rows        values in the precision of the passes, and sums of rows
    visit_two       set the probabilities of rows, and let the weights follow
    score_rows      scores at the weights as they are
    best_intercept  where the scores leave the intercept no slope
    measure_two     loss, gap and slopes of rows with these scores
    steepest_two    the steepest slope of all features
"""

import numpy as np

from tacit.classify.dual_steps import divergence
from tacit.core.kernel import kernel
from tacit.kernels.sparse_rows import add_row, dot_row

__all__ = [
    "best_intercept",
    "lay_rows",
    "measure_two",
    "score_rows",
    "steepest_two",
    "visit_two",
]


@kernel
def lay_rows(indptr, indices, data, share, held, out, sums, start, stop):
    """Values times a share, in the precision of ``out``; rows, each times what is held for it,
    are added to ``sums``."""
    for i in range(start, stop):
        for t in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            out[t] = data[t] * share
        add_row(indices, out, indptr[i], indptr[i + 1], sums, held[i])


# fastmath as in ``dual_steps``.
@kernel(fastmath=True)
def visit_two(
    indptr, indices, data, codes, costs, lengths, order, held, weights, offset, soft, reach,
    ease,
):  # fmt: skip
    """Visit rows in an order, in which their residuals are held; the gap and the loss of each
    before its visit, the changes of the residuals, each added up, and the intercept."""
    kind = weights.dtype.type
    one, zero, half, least = kind(1), kind(0), kind(0.5), kind(1e-7)
    gap, loss, added = 0.0, 0.0, 0.0
    for o in range(order.size):
        i = order[o]
        first, end = indptr[i], indptr[i + 1]
        score = offset + dot_row(indices, data, first, end, weights)
        e = np.exp(-abs(score))
        p = (one if score >= 0 else e) / (one + e)
        right = kind(codes[i])
        loss += costs[i] * (np.log(one + e) + max((one - right - right) * score, zero))
        q = held[o] + right
        c = lengths[i]
        both = p + q + least
        gap += costs[i] * (p - q) * (p - q) / (both * (one - half * both + least))
        change = (p - q) / (one + c * p * (one - p))
        if c * abs(change) > kind(0.3):  # halve the way until the score's answer is met
            low, high = zero, p - q
            for _ in range(20):
                change = half * (low + high)
                there = min(max(q + change, least), one - least)
                far = np.log(there / (one - there)) - score + c * change
                if (far > 0) == (p > q):
                    high = change
                else:
                    low = change
        change *= kind(ease)
        held[o] += change
        change *= costs[i]
        added += change
        offset -= kind(soft) * change
        add_row(indices, data, first, end, weights, change * kind(-reach))
    return gap, loss, added, offset


@kernel
def score_rows(indptr, indices, data, weights, scores, start, stop):
    """The scores of rows, less the intercept."""
    for i in range(start, stop):
        scores[i] = dot_row(indices, data, indptr[i], indptr[i + 1], weights)


@kernel
def best_intercept(scores, codes, costs, intercept):
    """The intercept at which the slope is zero, by Newton's method from a near one."""
    total = costs.sum()
    b = np.float64(intercept)
    for _ in range(20):
        off, curve = 0.0, 0.0
        for i in range(scores.size):
            e = np.exp(-abs(b + scores[i]))
            p = 1 / (1 + e) if b + scores[i] >= 0 else e / (1 + e)
            off += costs[i] * (p - (1.0 if codes[i] == 1 else 0.0))
            curve += costs[i] * p * (1 - p)
        b -= min(max(off / max(curve, 1e-300), -1.0), 1.0)
        # The slope that is left is of the order of this one's square.
        if abs(off) < 1e-3 * curve and abs(off) < 1e-4 * total:
            break
    return b


@kernel(fastmath=True)
def measure_two(
    indptr, indices, data, codes, costs, scores, intercept, residuals, slopes, start, stop
):
    """Loss and gap of rows with these scores, and the sum of what they are off by; their
    slopes are added to ``slopes``."""
    kind = slopes.dtype.type
    loss, gap, off = 0.0, 0.0, 0.0
    for i in range(start, stop):
        if costs[i] == 0:
            continue
        score = np.float64(scores[i]) + intercept
        e = np.exp(-abs(score))
        low, high = e / (1 + e), 1 / (1 + e)  # the shares of the two classes
        right = codes[i] == 1
        p, rest = (high, low) if score >= 0 else (low, high)
        q = np.float64(residuals[i]) + (1.0 if right else 0.0)
        gap += costs[i] * (divergence(q, p) + divergence(1 - q, rest))
        loss += costs[i] * (np.log1p(e) + max(-score if right else score, 0.0))
        wrong = kind((-rest if right else p) * costs[i])
        off += wrong
        add_row(indices, data, indptr[i], indptr[i + 1], slopes, wrong)
    return loss, gap, off


@kernel(fastmath=True)
def steepest_two(first, second, weights, share, l2):
    """The steepest slope of all features, and the squares of their weights added up. The
    slopes come in two halves, or as the same twice with half the ``share``."""
    kind = weights.dtype.type
    steepest, squares = kind(0), 0.0
    for j in range(weights.size):
        slope = kind(share) * (first[j] + second[j]) + kind(l2) * weights[j]
        steepest = max(steepest, abs(slope))
        squares += np.float64(weights[j]) * weights[j]
    return float(steepest), squares
