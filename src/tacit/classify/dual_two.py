"""The steps of ``dual_steps`` for two classes, whose weights are one column."""

import numpy as np

from tacit.classify.dual_steps import divergence
from tacit.core.kernel import kernel
from tacit.kernels.sparse_rows import add_row, dot_row

__all__ = [
    "add_rows",
    "best_intercept",
    "measure_two",
    "score_rows",
    "steepest_two",
    "visit_two",
]


# fastmath as in ``dual_steps``.
@kernel(fastmath=True)
def visit_two(
    indptr, indices, data, codes, costs, order, start, stop, weights, intercept, residuals,
    sums, lengths, soft, reach, columns, ease,
):  # fmt: skip
    """Visit rows; the gap and the loss of each before its visit, added up."""
    kind = intercept.dtype.type
    one, zero, half, least = kind(1), kind(0), kind(0.5), kind(1e-7)
    flat, held = weights.ravel(), residuals.ravel()
    offset = intercept[0]
    gap, loss = 0.0, 0.0
    for o in range(start, stop):
        i = order[o]
        first, end = indptr[i], indptr[i + 1]
        score = offset + dot_row(indices, data, first, end, flat)
        e = np.exp(-abs(score))
        p = (one if score >= 0 else e) / (one + e)
        right = kind(codes[i])
        loss += costs[i] * (np.log(one + e) + max((one - right - right) * score, zero))
        q = held[i] + right
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
        held[i] += change
        change *= costs[i]
        sums[0] += change
        offset -= kind(soft) * change
        add_row(indices, data, first, end, flat, change * kind(-reach))
    intercept[0] = offset
    return gap, loss


@kernel
def score_rows(indptr, indices, data, weights, scores, start, stop):
    """The scores of rows, less the intercept."""
    flat, out = weights.ravel(), scores.ravel()
    for i in range(start, stop):
        out[i] = dot_row(indices, data, indptr[i], indptr[i + 1], flat)


@kernel
def best_intercept(scores, codes, costs, intercept):
    """The intercept at which the slope is zero, by Newton's method from a near one."""
    found, total = scores.ravel(), costs.sum()
    b = np.float64(intercept)
    for _ in range(20):
        off, curve = 0.0, 0.0
        for i in range(found.size):
            e = np.exp(-abs(b + found[i]))
            p = 1 / (1 + e) if b + found[i] >= 0 else e / (1 + e)
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
    found, held, out = scores.ravel(), residuals.ravel(), slopes.ravel()
    loss, gap, off = 0.0, 0.0, 0.0
    for i in range(start, stop):
        if costs[i] == 0:
            continue
        score = np.float64(found[i]) + intercept
        e = np.exp(-abs(score))
        low, high = e / (1 + e), 1 / (1 + e)  # the shares of the two classes
        right = codes[i] == 1
        p, rest = (high, low) if score >= 0 else (low, high)
        q = np.float64(held[i]) + (1.0 if right else 0.0)
        gap += costs[i] * (divergence(q, p) + divergence(1 - q, rest))
        loss += costs[i] * (np.log1p(e) + max(-score if right else score, 0.0))
        wrong = kind((-rest if right else p) * costs[i])
        off += wrong
        add_row(indices, data, indptr[i], indptr[i + 1], out, wrong)
    return loss, gap, off


@kernel
def add_rows(indptr, indices, data, held, out, start, stop):
    """Add rows, each times what is held for it."""
    each, flat = held.ravel(), out.ravel()
    for i in range(start, stop):
        add_row(indices, data, indptr[i], indptr[i + 1], flat, each[i])


@kernel(fastmath=True)
def steepest_two(slopes, weights, share, l2):
    """The steepest slope of all features, and the squares of their weights added up."""
    out, own = slopes.ravel(), weights.ravel()
    kind = own.dtype.type
    steepest, squares = kind(0), 0.0
    for j in range(own.size):
        steepest = max(steepest, abs(kind(share) * out[j] + kind(l2) * own[j]))
        squares += np.float64(own[j]) * own[j]
    return float(steepest), squares
