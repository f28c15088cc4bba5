"""The steps of logistic regression in the dual, and what is measured between its passes.

    visit_many              set the probabilities of rows, and let the weights follow
    see_rows                loss and gap of rows at the weights as they are
    add_across, steepest_of the slope of features, each from its own entries
    by_column, by_row       entries in the order of the features, and back

What a visit does is in ``logistic_dual``. Weights of all classes lie side by side; rows of
weights are padded with zeros, which stay zero. Two classes need one column: ``dual_two``.
"""

import numpy as np

from tacit.core.kernel import kernel
from tacit.linear.losses import to_residual

__all__ = [
    "add_across",
    "by_column",
    "by_row",
    "divergence",
    "put_mean",
    "see_rows",
    "steepest_of",
    "visit_many",
]

LEAST = 1e-12  # probabilities are not set lower
APART = 512  # numbers between arrays, more than SIMD takes at a time


@kernel
def by_column(indptr, indices, data, order, starts):
    """The entries of each feature: their rows and values, in the order of the rows."""
    free = np.empty(order.size, np.int64)
    for j in range(order.size):
        free[order[j]] = starts[j]
    rows = np.empty(indices.size, np.int32)
    values = np.empty(indices.size, data.dtype)
    for i in range(indptr.size - 1):
        for t in range(indptr[i], indptr[i + 1]):
            to = free[indices[t]]
            free[indices[t]] = to + 1
            rows[to] = i
            values[to] = data[t]
    return rows, values


@kernel
def by_row(indptr, rows, values, starts):
    """The same entries row by row again, each row in the order of the features."""
    free = indptr[:-1].copy()
    indices = np.empty(rows.size, np.int32)
    data = np.empty(rows.size, values.dtype)
    for j in range(starts.size - 1):
        for t in range(starts[j], starts[j + 1]):
            to = free[rows[t]]
            free[rows[t]] = to + 1
            indices[to] = j
            data[to] = values[t]
    return indices, data


# fastmath below: sums may be taken in any order; NaN cannot arise, values are checked before
# and scores are finite.
@kernel(fastmath=True)
def visit_many(
    indptr, indices, data, codes, costs, order, start, stop, weights, intercept, residuals,
    sums, lengths, soft, reach, columns, ease,
):  # fmt: skip
    """Visit rows; the gap and the loss of each before its visit, added up."""
    width = intercept.size
    kind = intercept.dtype.type
    one, zero, least = kind(1), kind(0), kind(LEAST)
    # Loops over arrays that lie close together are done one by one, others in SIMD, and their
    # sums differ in the last bit: so the places of these are fixed.
    room = np.zeros((5, APART + width), intercept.dtype)
    found, p, offset = room[1, :width], room[2, :width], room[3, :width]
    added = np.zeros((3, APART + width))[1, :width]
    offset[:] = intercept
    gap, loss = 0.0, 0.0
    for o in range(start, stop):
        i = order[o]
        first, end, code = indptr[i], indptr[i + 1], codes[i]
        for k in range(width):
            found[k] = offset[k]
        for s in range(first, end):
            row, x = weights[np.uint32(indices[s])], data[s]
            for k in range(width):
                found[k] += x * row[k]
        top = found[0]
        for k in range(1, columns):
            top = max(top, found[k])
        total = zero
        for k in range(columns):
            p[k] = np.exp(found[k] - top)
            total += p[k]
        loss += costs[i] * (np.log(total) + top - found[code])
        q = residuals[i]
        q[code] += one
        c = lengths[i]
        share = one / total
        held, slack, apart = zero, zero, zero
        for k in range(columns):
            p[k] *= share
            part = p[k] / (one + c * p[k])
            found[k] = part
            held += part * (one + c * q[k])
            slack += part
            apart += (p[k] - q[k]) * (p[k] - q[k]) / (p[k] + q[k] + least)
        gap += costs[i] * apart
        t = (one - held) / (c * slack) if c > zero else zero
        total = zero
        for k in range(columns):
            found[k] = max(found[k] * (one + c * (q[k] + t)), least)
            total += found[k]
        share, far = one / total, zero
        for k in range(columns):
            found[k] = found[k] * share - q[k]
            far = max(far, abs(found[k]))
        length = one
        if c * far > kind(0.3):
            length = step_length(found, p, q, c, columns, one)
        length *= kind(ease)
        for k in range(columns):
            change = length * found[k]
            q[k] += change
            change *= costs[i]
            added[k] += change
            offset[k] -= kind(soft) * change
            found[k] = change * kind(-reach)
        q[code] -= one
        for k in range(columns, width):
            found[k] = zero
        for s in range(first, end):
            row, x = weights[np.uint32(indices[s])], data[s]
            for k in range(width):
                row[k] += x * found[k]
    intercept[:] = offset
    sums += added
    return gap, loss


@kernel(fastmath=True)
def step_length(change, p, q, c, columns, one):
    """The part of a change of q that ends before the dual turns down again."""
    low, high, length = one - one, one, one
    for turn in range(6):
        slope = one - one
        for k in range(columns):
            d = change[k]
            there = max(q[k] + length * d, one * LEAST)
            slope += d * (np.log(there / max(p[k], one * 1e-30)) + c * length * d)
        if slope <= 0 and turn == 0:
            return length
        if slope > 0:
            high = length
        else:
            low = length
        length = one * 0.5 * (low + high)
    return length


@kernel(fastmath=True)
def see_rows(
    indptr, indices, data, codes, costs, weights, intercept, residuals, out, columns, start,
    stop,
):  # fmt: skip
    """Loss and gap of some rows; ``out`` gets p - [y], times their weights."""
    width = intercept.size
    kind = intercept.dtype.type
    loss, gap = 0.0, 0.0
    for i in range(start, stop):
        found, held = out[i], residuals[i]
        if costs[i] == 0:
            found[:] = kind(0)
            continue
        found[:] = intercept
        for s in range(indptr[i], indptr[i + 1]):
            row, x = weights[np.uint32(indices[s])], data[s]
            for k in range(width):
                found[k] += x * row[k]
        loss += costs[i] * to_residual(found, columns, codes[i])
        apart = 0.0
        for k in range(columns):
            full = 1.0 if codes[i] == k else 0.0
            apart += divergence(full + held[k], full + found[k])
        gap += costs[i] * apart
        for k in range(columns):
            found[k] *= costs[i]
        for k in range(columns, width):
            found[k] = kind(0)
    return loss, gap


@kernel
def divergence(q, p):
    """What a class adds to KL(q || p)."""
    q, p = max(q, 0.0), max(p, 1e-30)
    return p - q + (q * np.log(q / p) if q > 0 else 0.0)


@kernel(fastmath=True)
def add_across(starts, rows, values, held, out, begin, end):
    """Sums over the rows for some features."""
    width = out.shape[1]
    for j in range(begin, end):
        own = out[j]
        own[:] = 0
        for t in range(starts[j], starts[j + 1]):
            row, x = held[rows[t]], values[t]
            for k in range(width):
                own[k] += x * row[k]


@kernel(fastmath=True)
def steepest_of(slopes, weights, share, l2, begin, end):
    """The steepest slope of some features, and the squares of their weights added up."""
    kind = weights.dtype.type
    steepest, squares = kind(0), 0.0
    for j in range(begin, end):
        slope, own = slopes[j], weights[j]
        square = kind(0)
        for k in range(own.size):
            steepest = max(steepest, abs(kind(share) * slope[k] + kind(l2) * own[k]))
            square += own[k] * own[k]
        squares += square
    return float(steepest), squares


@kernel
def put_mean(first, second, out):
    """The mean of two tables of weights."""
    a, b, own, half = first.ravel(), second.ravel(), out.ravel(), out.dtype.type(0.5)
    for j in range(own.size):
        own[j] = half * (a[j] + b[j])
