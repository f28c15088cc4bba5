"""The steps of ``logistic_two``: two classes, whose weights are one column.

    line_up         what is known of rows, in the order of the fit
    lay_rows        values in the precision of the passes, and sums of rows
    pack_rows       the same with a copy of the rows, one after the other
    visit_two       set the probabilities of rows, and let the weights follow
    visit_pairs     the same for packed rows, two at a time
    score_rows      scores at the weights as they are
    add_rows        sums of rows
    steepest_two    the steepest slope of all features
"""

import numpy as np

from tacit.core.kernel import kernel
from tacit.kernels.prefetch import fetch_entries
from tacit.kernels.sparse_rows import add_row, dot_row

__all__ = [
    "add_rows",
    "lay_rows",
    "line_up",
    "pack_rows",
    "score_rows",
    "steepest_two",
    "visit_pairs",
    "visit_two",
]

PAD = 4  # packed rows have a multiple of this many entries
AHEAD = 8  # rows, in the time of which entries arrive
U = np.uint64


@kernel
def line_up(order, indptr, codes, weights, squares):
    """Rows in an order: where each begins and ends, there and packed; its code, its weight and
    its squared length."""
    n, t = order.size, np.int64(0)
    first, last = np.empty(n, indptr.dtype), np.empty(n, indptr.dtype)
    starts, ends = np.empty(n, np.int64), np.empty(n, np.int64)
    kinds, shares, sizes = np.empty(n, codes.dtype), np.empty(n), np.empty(n)
    for o in range(n):
        i = order[o]
        first[o], last[o], starts[o] = indptr[i], indptr[i + 1], t
        t += (np.int64(indptr[i + 1] - indptr[i]) + PAD - 1) // PAD * PAD
        ends[o] = t
        kinds[o], shares[o], sizes[o] = codes[i], weights[i], squares[i]
    return (first, last, starts, ends), kinds, shares, sizes


@kernel
def lay_rows(starts, ends, indices, out, data, share, held, sums, start, stop):
    """Values times a share, in the precision of ``out``; rows, each times what is held for it,
    are added to ``sums``."""
    for i in range(start, stop):
        for t in range(np.uint64(starts[i]), np.uint64(ends[i])):
            out[t] = data[t] * share
        add_row(indices, out, starts[i], ends[i], sums, held[i])


@kernel
def pack_rows(
    first, last, indices, data, share, held, starts, ends, places, out, sums, start, stop
):
    """As ``lay_rows``, with a copy of the rows that lie one after the other in ``places`` and
    ``out``, filled up with zeros."""
    for i in range(start, stop):
        fetch_entries(indices, data, first[min(i + AHEAD, stop - 1)])
        t = np.uint64(starts[i])
        for s in range(np.uint64(first[i]), np.uint64(last[i])):
            places[t] = indices[s]
            out[t] = data[s] * share
            t += np.uint64(1)
        while t < np.uint64(ends[i]):
            places[t], out[t] = 0, 0
            t += np.uint64(1)
        add_row(places, out, starts[i], ends[i], sums, held[i])


@kernel(fastmath=True)
def halve_to(p, q, c, score):
    """Halve the way from q to p until the answer of the score, moved along, is met."""
    kind = type(p)
    half, least, one = kind(0.5), kind(1e-7), kind(1)
    low, high = kind(0), p - q
    for _ in range(20):
        change = half * (low + high)
        there = min(max(q + change, least), one - least)
        far = np.log(there / (one - there)) - score + c * change
        if (far > 0) == (p > q):
            high = change
        else:
            low = change
    return half * (low + high)


# fastmath as in ``dual_steps``.
@kernel(fastmath=True)
def answer(score, right, residual, c):
    """What a row's residual is to change by, the row's gap, and its loss in two parts: the
    second is the logarithm of what is returned."""
    kind = type(score)
    one, zero, half, least = kind(1), kind(0), kind(0.5), kind(1e-7)
    e = np.exp(-abs(score))
    p = (one if score >= 0 else e) / (one + e)
    q = residual + right
    both = p + q + least
    gap = (p - q) * (p - q) / (both * (one - half * both + least))
    change = (p - q) / (one + c * p * (one - p))
    if c * abs(change) > one:  # further than the line that the step follows is straight
        change = halve_to(p, q, c, score)
    return change, gap, max((one - right - right) * score, zero), one + e


@kernel(fastmath=True)
def tell_loss(loss, odds, cost, over, more):
    """Add the loss of a row; rows of weight one share the logarithm of a product."""
    loss += cost * over
    if cost == 1:
        odds *= np.float64(more)
    else:
        loss += cost * np.log(more)
    if odds > 1e200:
        return loss + np.log(odds), 1.0
    return loss, odds


@kernel(fastmath=True)
def visit_two(
    starts, ends, indices, data, codes, costs, lengths, residuals, groups, size, weights,
    offset, soft, reach, ease,
):  # fmt: skip
    """Visit rows, groups of so many one after the other; the gap and the loss of each row
    before its visit, the changes of the residuals, each added up, and the intercept."""
    kind = weights.dtype.type
    gap, loss, added, odds = 0.0, 0.0, 0.0, 1.0
    for g in range(groups.size):
        for i in range(groups[g] * size, min(groups[g] * size + size, residuals.size)):
            cost, c = costs[i], lengths[i] + kind(soft) * costs[i]
            score = offset + dot_row(indices, data, starts[i], ends[i], weights)
            change, apart, over, more = answer(score, kind(codes[i]), residuals[i], c)
            gap += cost * apart
            loss, odds = tell_loss(loss, odds, cost, over, more)
            change *= kind(ease)
            residuals[i] += change
            change *= cost
            added += change
            offset -= kind(soft) * change
            add_row(indices, data, starts[i], ends[i], weights, change * kind(-reach))
    return gap, loss + np.log(odds), added, offset


@kernel(fastmath=True)
def visit_pairs(
    starts, ends, indices, data, codes, costs, lengths, residuals, groups, size, weights,
    offset, soft, reach, ease,
):  # fmt: skip
    """As ``visit_two``, two packed rows at a time: neither waits for the other. With steps of
    their own the two never lose together, and where rows have little to do with each other
    they gain as much as one after the other."""
    kind = weights.dtype.type
    gap, loss, added, odds = 0.0, 0.0, 0.0, 1.0
    for g in range(groups.size):
        stop = min(groups[g] * size + size, residuals.size)
        for i in range(groups[g] * size, stop, 2):
            j = min(i + 1, stop - 1)
            cost, other = costs[i], costs[j] if i < j else kind(0)  # the last may be alone
            c, d = lengths[i] + kind(soft) * cost, lengths[j] + kind(soft) * other
            score = offset + dot_packed(indices, data, starts[i], ends[i], weights)
            twin = offset + dot_packed(indices, data, starts[j], ends[j], weights)
            change, apart, over, more = answer(score, kind(codes[i]), residuals[i], c)
            gap += cost * apart
            loss, odds = tell_loss(loss, odds, cost, over, more)
            pull, apart, over, more = answer(twin, kind(codes[j]), residuals[j], d)
            gap += other * apart
            loss, odds = tell_loss(loss, odds, other, over, more)
            change *= kind(ease)
            pull *= kind(ease)
            residuals[i] += change
            if i < j:
                residuals[j] += pull
            change *= cost
            pull *= other
            added += change + pull
            offset -= kind(soft) * (change + pull)
            add_packed(indices, data, starts[i], ends[i], weights, change * kind(-reach))
            add_packed(indices, data, starts[j], ends[j], weights, pull * kind(-reach))
    return gap, loss + np.log(odds), added, offset


@kernel(fastmath={"contract"})
def dot_packed(indices, data, first, end, weights):
    """The product of a packed row with a vector."""
    a = b = c = d = weights.dtype.type(0)
    t, last = U(first), U(end)
    while t < last:
        a += data[t] * weights[np.uint32(indices[t])]
        b += data[t + U(1)] * weights[np.uint32(indices[t + U(1)])]
        c += data[t + U(2)] * weights[np.uint32(indices[t + U(2)])]
        d += data[t + U(3)] * weights[np.uint32(indices[t + U(3)])]
        t += U(PAD)
    return (a + b) + (c + d)


@kernel(fastmath={"contract"})
def add_packed(indices, data, first, end, weights, step):
    """Add a packed row, times a step, to a vector."""
    t, last = U(first), U(end)
    while t < last:
        weights[np.uint32(indices[t])] += data[t] * step
        weights[np.uint32(indices[t + U(1)])] += data[t + U(1)] * step
        weights[np.uint32(indices[t + U(2)])] += data[t + U(2)] * step
        weights[np.uint32(indices[t + U(3)])] += data[t + U(3)] * step
        t += U(PAD)


@kernel
def score_rows(starts, ends, indices, data, weights, scores, start, stop):
    """The scores of rows, less the intercept."""
    for i in range(start, stop):
        scores[i] = dot_row(indices, data, starts[i], ends[i], weights)


@kernel
def add_rows(starts, ends, indices, data, held, sums, start, stop):
    """Rows, each times what is held for it, are added to ``sums``."""
    for i in range(start, stop):
        add_row(indices, data, starts[i], ends[i], sums, held[i])


@kernel(fastmath=True)
def steepest_two(slopes, weights, share, l2):
    """The steepest slope of all features."""
    kind = weights.dtype.type
    steepest = kind(0)
    for j in range(weights.size):
        steepest = max(steepest, abs(kind(share) * slopes[j] + kind(l2) * weights[j]))
    return float(steepest)
