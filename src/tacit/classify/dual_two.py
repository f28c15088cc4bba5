"""The steps of ``logistic_two``: two classes, whose weights are one column.

    lay_rows        values in the precision of the passes, and sums of rows
    pack_rows       the same with a copy of the rows, one after the other
    visit_two       set the probabilities of rows, and let the weights follow
    score_rows      scores at the weights as they are
    add_rows        sums of rows
    steepest_two    the steepest slope of all features
"""

import numpy as np

from tacit.core.kernel import kernel
from tacit.kernels.sparse_rows import add_row, dot_row

__all__ = [
    "PAD",
    "add_rows",
    "lay_rows",
    "pack_rows",
    "score_rows",
    "steepest_two",
    "visit_two",
]

PAD = 4  # rows that lie together have a multiple of this many entries


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
def visit_two(
    starts, ends, indices, data, codes, costs, lengths, residuals, groups, size, weights,
    offset, soft, reach, ease,
):  # fmt: skip
    """Visit rows, groups of so many one after the other; the gap and the loss of each row
    before its visit, the changes of the residuals, each added up, and the intercept."""
    kind = weights.dtype.type
    one, zero, half, least = kind(1), kind(0), kind(0.5), kind(1e-7)
    gap, loss, added, odds = 0.0, 0.0, 0.0, 1.0
    for g in range(groups.size):
        for i in range(groups[g] * size, min(groups[g] * size + size, residuals.size)):
            first, end = starts[i], ends[i]
            score = offset + dot_row(indices, data, first, end, weights)
            e = np.exp(-abs(score))
            p = (one if score >= 0 else e) / (one + e)
            right = kind(codes[i])
            loss += costs[i] * max((one - right - right) * score, zero)
            if costs[i] == one:  # one logarithm for many rows
                odds *= np.float64(one + e)
            else:
                loss += costs[i] * np.log(one + e)
            if odds > 1e200:
                loss += np.log(odds)
                odds = 1.0
            q = residuals[i] + right
            c = lengths[i] + kind(soft) * costs[i]
            both = p + q + least
            gap += costs[i] * (p - q) * (p - q) / (both * (one - half * both + least))
            change = (p - q) / (one + c * p * (one - p))
            if c * abs(change) > one:  # further than the line that the step follows is straight
                change = halve_to(p, q, c, score)
            change *= kind(ease)
            residuals[i] += change
            change *= costs[i]
            added += change
            offset -= kind(soft) * change
            add_row(indices, data, first, end, weights, change * kind(-reach))
    return gap, loss + np.log(odds), added, offset


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
