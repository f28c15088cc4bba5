"""The inner loops of k-means on dense rows: who changed sides, without looking at all.

A pass over a block has three steps, chunk by chunk, so that a row is still in cache when the
next step wants it:

    filter   keep the rows whose nearest center may have changed
    search   find the nearest center of those (``lloyd_search``)
    move     take the rows that changed sides out of one sum and into another

Every row has an upper bound on the distance to its own center and a lower bound on the
distance to all others. A pass widens them by how far the centers moved (Hamerly 2010); a row
whose bounds do not cross keeps its label unseen. Bounds are kept in float32 and in units in
which the data has size about one.

Hamerly (2010), Making k-means even faster. SDM.
"""

import numpy as np

from tacit.cluster.lloyd_search import CHUNK, EPS, quick_distance, search_dense, search_near
from tacit.core.kernel import kernel
from tacit.kernels.distances import squared_distance
from tacit.kernels.exact_sum import cut

__all__ = ["own_dense", "pass_dense", "square_dense"]


@kernel
def pass_dense(X, weights, params, labels, upper, lower, sums, counts, start, stop, fresh):
    """Bring labels, bounds and sums of the rows from start to stop up to the params.

    Chunk by chunk, so that a row is still in cache when the next step wants it.
    """
    centers, previous, frame, geometry = params
    k = centers.shape[0]
    by_list = geometry.neighbours.shape[1] > 0 and not fresh
    ids = np.empty(2 * CHUNK, np.int32)
    new = np.empty(CHUNK, np.int32)
    shifted = np.empty((CHUNK, X.shape[1]), np.float32)
    products = np.empty(1 if by_list else k * CHUNK, np.float32)
    m = 0
    for first in range(start, stop, CHUNK):
        last = min(first + CHUNK, stop)
        m = filter_dense(
            X, geometry.narrow, frame.scale, labels, upper, lower, geometry.near,
            ids, m, first, last,
        )  # fmt: skip
        while m >= CHUNK or (last == stop and m > 0):
            size = min(m, CHUNK)
            if by_list:
                search_near(
                    X, centers, previous, frame.scale, geometry.neighbours, geometry.reach,
                    labels, ids, size, new, upper, lower,
                )  # fmt: skip
            else:
                search_dense(
                    X, centers, previous, geometry, labels, ids, size, new, upper, lower,
                    shifted, products, fresh,
                )  # fmt: skip
            move_dense(
                X, weights, frame.whole, labels, ids, size, new, sums, counts,
                frame.grid, frame.weight_grid,
            )  # fmt: skip
            m -= size
            ids[:m] = ids[size : size + m]


# --- Filter: which rows must be looked at ---


@kernel
def filter_dense(X, narrow, scale, labels, upper, lower, near, ids, m, start, stop):
    """List the rows whose bounds cross; widen the bounds of all."""
    # Worst case of a sum of d squares, and of rounding to float32 after it.
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
            # Where the bound was tight there is no hope left; do not spend a distance on it.
            if u - 2 * drift < max(low + near.spare[a], near.gap[a]):
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
def move_dense(X, weights, whole, labels, ids, m, new, sums, counts, grid, weight_grid):
    """Exact sums (``kernels.exact_sum``), so that taking a row out leaves no trace."""
    d = X.shape[1]
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
