"""The inner loops of k-means on dense rows: who changed sides, without looking at all.

A pass over a block has three steps, chunk by chunk, so that a row is still in cache when the
next step wants it:

    filter   keep the rows whose nearest center may have changed
    search   find the nearest center of those (``lloyd_search``)
    move     take the rows that changed sides out of one sum and into another

Every row has an upper bound on the distance to its own center and lower bounds on the
distances to the second nearest and to all others. A pass widens them by how far the centers
moved; a row whose bounds do not cross keeps its label unseen, and most others are settled
between the first and the second. Bounds are kept in float32 and in units in which the data has
size about one. In few dimensions one lower bound does (``filter_near``).

Hamerly (2010), Making k-means even faster. SDM.
Drake and Hamerly (2012), Accelerated k-means with adaptive distance bounds. NIPS OPT.
"""

import numpy as np

from tacit.cluster.kmeans.lloyd_search import (
    CHUNK,
    EPS,
    quick_distance,
    search_dense,
    search_near,
)
from tacit.core.kernel import kernel
from tacit.kernels.distances import squared_distance
from tacit.kernels.exact_sum import cut

__all__ = ["own_dense", "pass_dense", "square_dense"]


@kernel
def pass_dense(X, weights, params, state, start, stop, fresh):
    """Bring labels, bounds and sums of the rows from start to stop up to the params.

    Chunk by chunk, so that a row is still in cache when the next step wants it.
    """
    centers, previous, summary, geometry = params
    labels, second, upper, lower, rest, sums, counts = state
    k = centers.shape[0]
    listed = geometry.neighbours.shape[1] > 0
    by_list = listed and not fresh
    ids, new = np.empty(2 * CHUNK, np.int32), np.empty(CHUNK, np.int32)
    swapped, other = np.empty(CHUNK, np.int32), np.empty(CHUNK, np.int32)
    shifted = np.empty((CHUNK, X.shape[1]), np.float32)
    products = np.empty(1 if by_list else k * CHUNK, np.float32)
    bounds = second, upper, lower, rest
    grids = summary.grid, summary.weight_grid
    m = 0
    for first in range(start, stop, CHUNK):
        last = min(first + CHUNK, stop)
        if listed:
            m = filter_near(
                X, geometry.narrow, summary.scale, labels, upper, lower, geometry.near,
                ids, m, first, last,
            )  # fmt: skip
        else:
            m, swaps = filter_dense(
                X, geometry.narrow, summary.scale, labels, bounds, geometry.near,
                ids, m, swapped, other, first, last,
            )  # fmt: skip
            move_dense(
                X, weights, summary.whole, labels, swapped, swaps, other, sums, counts, grids
            )
        while m >= CHUNK or (last == stop and m > 0):
            size = min(m, CHUNK)
            if by_list:
                search_near(
                    X, centers, previous, summary.scale, geometry.neighbours, geometry.reach,
                    labels, ids, size, new, upper, lower,
                )  # fmt: skip
            else:
                search_dense(
                    X, centers, previous, geometry, labels, ids, size, new, bounds,
                    shifted, products, fresh,
                )  # fmt: skip
            move_dense(X, weights, summary.whole, labels, ids, size, new, sums, counts, grids)
            m -= size
            ids[:m] = ids[size : size + m]


# --- Filter: which rows must be looked at ---


@kernel
def filter_dense(X, narrow, scale, labels, bounds, near, ids, m, swapped, other, start, stop):
    """Widen the bounds of all; list the rows that may be nearest to a third center, and
    those that changed from their first center to their second."""
    second, upper, lower, rest = bounds
    # Worst case of a sum of d squares, and of rounding to float32 after it.
    loss = (X.shape[1] + 8) * EPS
    high, low = scale * (1 + loss), scale * (1 - loss)
    crossed = widen_all(labels, bounds, near, ids[m:], start, stop)
    swaps = 0
    for r in range(m, m + crossed):
        i = ids[r]
        a, b = labels[i], second[i]
        u, others, gap, doubt = upper[i], rest[i], near.gap[a], near.doubt[a]
        beyond = others + near.spare[a]
        # Where a third center must be looked at there is no hope left; do not spend
        # a distance on it.
        if u - 2 * near.drift[a] < max(beyond, gap):
            distance = quick_distance(X[i], narrow[a])
            u = upper[i] = np.float32(high * distance) + doubt
            if u < max(min(lower[i], others), gap):
                continue
            if u - 2 * doubt < beyond:
                to_a = np.float32(low * distance) - doubt
                distance = quick_distance(X[i], narrow[b])
                lower[i] = np.float32(low * distance) - near.doubt[b]
                v = np.float32(high * distance) + near.doubt[b]
                if v < min(to_a, others):
                    second[i], upper[i], lower[i] = a, v, to_a
                    swapped[swaps], other[swaps] = i, b
                    swaps += 1
                    continue
                if u < min(lower[i], others):
                    continue
        ids[m] = i
        m += 1
    return m, swaps


@kernel
def widen_all(labels, bounds, near, ids, start, stop):
    """Widen the bounds by how far the centers moved; list the rows where they cross.

    A loop of its own and without branches: it sees every row on every pass.
    """
    second, upper, lower, rest = bounds
    m = 0
    for i in range(start, stop):
        a = labels[i]
        u = upper[i] + near.drift[a]
        to_b = lower[i] - near.drift[second[i]]
        others = rest[i] - near.most[a]
        upper[i], lower[i], rest[i] = u, to_b, others
        ids[m] = i
        m += u >= max(min(to_b, others), near.gap[a])
    return m


@kernel
def filter_near(X, narrow, scale, labels, upper, lower, near, ids, m, start, stop):
    """List the rows whose bounds cross; widen the bounds of all."""
    tight = scale * (1 + (X.shape[1] + 8) * EPS)
    for i in range(start, stop):
        a = labels[i]
        if a < 0:  # never seen
            ids[m] = i
            m += 1
            continue
        drift = near.drift[a]
        u = upper[i] + drift
        low = widen(lower[i], u, near, a)
        bar = max(low, near.gap[a])
        if u >= bar:
            if u - 2 * drift < bar:
                u = np.float32(tight * quick_distance(X[i], narrow[a])) + near.doubt[a]
                low = widen(lower[i], u, near, a)
                bar = max(low, near.gap[a])
            if u >= bar:
                ids[m] = i
                m += 1
        lower[i] = low
        upper[i] = u
    return m


@kernel(inline="always")
def widen(low, u, near, a):
    """A row's lower bound after the centers moved: the better of two.

    Either every other center moved toward it by the most that any moved; or only those on
    the list of its own center did, and the rest lie beyond the end of that list.
    """
    return max(low - near.most[a], min(low - near.others[a], near.horizon[a] - u))


# --- Move: the sums follow the rows that changed sides ---


@kernel
def move_dense(X, weights, whole, labels, ids, m, new, sums, counts, grids):
    """Exact sums (``kernels.exact_sum``), so that taking a row out leaves no trace."""
    d = X.shape[1]
    grid, weight_grid = grids
    for r in range(m):
        i = ids[r]
        old, now = labels[i], new[r]
        if old == now:
            continue
        labels[i] = now
        before, times = share(weights, whole, i)
        row = X[i]
        to_hi, to_lo = sums[0, now], sums[1, now]
        for j in range(d):
            hi, lo = cut(before * row[j], grid[0], grid[1])
            to_hi[j] += times * hi
            to_lo[j] += times * lo
        hi, lo = cut(before, weight_grid[0], weight_grid[1])
        counts[0, now] += times * hi
        counts[1, now] += times * lo
        if old >= 0:
            from_hi, from_lo = sums[0, old], sums[1, old]
            for j in range(d):
                a, b = cut(before * row[j], grid[0], grid[1])
                from_hi[j] -= times * a
                from_lo[j] -= times * b
            counts[0, old] -= times * hi
            counts[1, old] -= times * lo


@kernel(inline="always")
def share(weights, whole, i):
    """A row's weight as (factor before the cut, factor after it).

    A whole number multiplies after the cut and stays exact: weight two is twice the row.
    """
    if weights.shape[0] == 0:
        return 1.0, 1.0
    return (1.0, weights[i]) if whole else (weights[i], 1.0)


# --- Sums of squares and distances to the own center ---


@kernel
def square_dense(X, origin, weights):
    """Weighted sum of |x - origin|^2."""
    total = 0.0
    for i in range(X.shape[0]):
        w = weights[i] if weights.shape[0] else 1.0
        total += w * squared_distance(X[i], origin)
    return total


@kernel
def own_dense(X, centers, labels):
    """Squared distance of every row to the center of its label."""
    out = np.empty(X.shape[0])
    for i in range(X.shape[0]):
        out[i] = squared_distance(X[i], centers[labels[i]])
    return out
