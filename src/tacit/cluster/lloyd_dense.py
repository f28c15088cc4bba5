"""The inner loops of k-means on dense rows: labels, bounds and sums of a block, brought up to
date with new centers.

A pass over a block has three steps, chunk by chunk, so that a row is still in cache when the
next step reads it:

    filter   list the rows whose nearest center may have changed
    search   find the nearest center of those: by matrix products, or among the neighbors of the
             last center
    move     move the rows that changed their center from one sum to another

Every row has an upper bound on the distance to its own center and lower bounds on the
distances to the second nearest and to all others. A pass widens them by how far the centers
moved; a row whose bounds do not cross keeps its label unread, and most others are decided
between the first and the second center. Bounds are float32, in units in which the data has
size about one. In few dimensions one lower bound suffices (``filter_by_list``).

Float32 only proposes: where two centers come closer than its worst rounding error,
``kernels.distances`` decides in float64, so every path gives the label that plain Lloyd in
float64 would.

Hamerly (2010), Making k-means even faster. SDM.
Drake and Hamerly (2012), Accelerated k-means with adaptive distance bounds. NIPS OPT.
Newling and Fleuret (2016), Fast k-means with accurate bounds. ICML.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from tacit.core.kernel import REASSOCIATE, kernel
from tacit.kernels.distances import squared_distance
from tacit.kernels.exact_sum import cut

__all__ = [
    "RowBounds", "pass_by_list", "pass_dense", "squares_to_own_dense", "sum_squares_dense",
]  # fmt: skip

CHUNK = 256  # rows to a matrix product: their distances stay in cache
FEW = 16  # centers up to which the products are faster without BLAS: 60k x 784 in ``kmeans``
EPS = np.float64(2.0**-24)  # rounding of one float32 operation
UP, DOWN = np.float32(1 + 2e-6), np.float32(1 - 2e-6)  # outward rounding of a bound
FAR = np.float32(3e38)
TINY = np.float32(1e-36)  # below this float32 squares lose their digits


class RowBounds(NamedTuple):
    """Labels and distance bounds of the rows of a block; (n,), or (0,) where not used."""

    labels: np.ndarray  # int32, -1 before the first pass
    second: np.ndarray  # int32, the second nearest center
    upper: np.ndarray  # float32, of the distance to the own center
    lower: np.ndarray  # float32, of the distance to the second, or to all others
    third: np.ndarray  # float32, of the distance to the third nearest, and so to all others

    @classmethod
    def unknown(cls, n: int, *, second: bool) -> "RowBounds":
        """Bounds that cross in any case; with one lower bound or, with the second nearest
        center, two."""
        two = n if second else 0
        return cls(
            np.full(n, -1, np.int32), np.zeros(two, np.int32), np.full(n, np.inf, np.float32),
            np.zeros(n, np.float32), np.zeros(two, np.float32),
        )  # fmt: skip


@kernel
def pass_dense(X, weights, params, bounds, sums, start, stop, fresh):
    """Bring the labels, bounds and sums of the rows from start to stop up to the params.

    A fresh block has neither labels nor bounds: every row is compared with all centers.
    """
    k = params.centers.shape[0]
    ids, new = np.empty(2 * CHUNK, np.int32), np.empty(CHUNK, np.int32)
    swapped, other = np.empty(CHUNK, np.int32), np.empty(CHUNK, np.int32)
    shifted = np.empty((CHUNK, X.shape[1]), np.float32)
    products = np.empty(k * CHUNK, np.float32)
    m: Any = np.int64(0)  # a plain 0 would have the filter compiled for a constant, too
    for first in range(start, stop, CHUNK):
        last = min(first + CHUNK, stop)
        if fresh:
            for i in range(first, last):
                ids[m] = i
                m += 1
        else:
            m, swaps = filter_dense(X, params, bounds, ids, m, swapped, other, first, last)
            move_dense(X, weights, params.summary, bounds.labels, swapped, swaps, other, sums)
        while m >= CHUNK or (last == stop and m > 0):
            size = min(m, CHUNK)
            search_dense(X, params, bounds, ids, size, new, shifted, products)
            move_dense(X, weights, params.summary, bounds.labels, ids, size, new, sums)
            m -= size
            for r in range(m):
                ids[r] = ids[size + r]


@kernel
def pass_by_list(X, weights, params, bounds, sums, start, stop):
    """``pass_dense`` in few dimensions, for a block that is not fresh."""
    ids, new = np.empty(CHUNK, np.int32), np.empty(CHUNK, np.int32)
    for first in range(start, stop, CHUNK):
        last = min(first + CHUNK, stop)
        m = filter_by_list(X, params, bounds, ids, first, last)
        search_neighbors(X, params, bounds, ids, m, new)
        move_dense(X, weights, params.summary, bounds.labels, ids, m, new, sums)


# --- Filter: the rows whose nearest center may have changed ---


@kernel
def filter_dense(X, params, bounds, ids, m, swapped, other, start, stop):
    """Widen the bounds of all; list the rows that may be nearest to a third center, and
    those that changed from their first center to their second."""
    labels, second, upper, lower, third = bounds
    rounded, near, scale = params.geometry.rounded, params.geometry.bounds, params.summary.scale
    # Worst case of a sum of d squares, and of rounding to float32 after it.
    loss = (X.shape[1] + 8) * EPS
    high, low = scale * (1 + loss), scale * (1 - loss)
    crossed = widen_all(bounds, near, ids[m:], start, stop)
    swaps = 0
    for r in range(m, m + crossed):
        i = ids[r]
        a, b = labels[i], second[i]
        u, others, gap, error = upper[i], third[i], near.half_gap[a], near.error[a]
        # Where a third center must be compared anyway, do not spend a distance here.
        if u - 2 * near.drift[a] < max(others, gap):
            distance = quick_distance(X[i], rounded[a])
            u = upper[i] = np.float32(high * distance) + error
            if u < max(min(lower[i], others), gap):
                continue
            if u - 2 * error < others:
                to_a = np.float32(low * distance) - error
                distance = quick_distance(X[i], rounded[b])
                lower[i] = np.float32(low * distance) - near.error[b]
                v = np.float32(high * distance) + near.error[b]
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
def widen_all(bounds, near, ids, start, stop):
    """Widen the bounds by how far the centers moved; list the rows where they cross.

    A loop of its own and without branches: it reads every row on every pass.
    """
    labels, second, upper, lower, third = bounds
    m = 0
    for i in range(start, stop):
        a = labels[i]
        u = upper[i] + near.drift[a]
        to_b = lower[i] - near.drift[second[i]]
        others = third[i] - near.max_drift[a]
        upper[i], lower[i], third[i] = u, to_b, others
        ids[m] = i
        m += u >= max(min(to_b, others), near.half_gap[a])
    return m


@kernel
def filter_by_list(X, params, bounds, ids, start, stop):
    """List the rows whose bounds cross; widen the bounds of all."""
    m = 0
    labels, upper, lower = bounds.labels, bounds.upper, bounds.lower
    rounded, near = params.geometry.rounded, params.geometry.bounds
    tight = params.summary.scale * (1 + (X.shape[1] + 8) * EPS)
    for i in range(start, stop):
        a = labels[i]
        drift = near.drift[a]
        u = upper[i] + drift
        low = widen(lower[i], u, near, a)
        limit = max(low, near.half_gap[a])
        if u >= limit:
            if u - 2 * drift < limit:
                u = np.float32(tight * quick_distance(X[i], rounded[a])) + near.error[a]
                low = widen(lower[i], u, near, a)
                limit = max(low, near.half_gap[a])
            if u >= limit:
                ids[m] = i
                m += 1
        lower[i] = low
        upper[i] = u
    return m


@kernel(inline="always")
def widen(low, u, near, a):
    """A row's lower bound after the centers moved: the larger of two.

    Either every other center moved toward it by the largest drift; or only the listed
    neighbors of its own center did, and the others lie beyond the end of that list.
    """
    return max(low - near.max_drift[a], min(low - near.list_drift[a], near.list_end[a] - u))


# --- Move: the rows that changed their center, from one sum to another ---


@kernel
def move_dense(X, weights, summary, labels, ids, m, new, sums_and_counts):
    """Sums are exact (``kernels.exact_sum``): what is subtracted leaves no trace."""
    d = X.shape[1]
    sums, counts = sums_and_counts
    grid, weight_grid = summary.grid, summary.weight_grid
    for r in range(m):
        i = ids[r]
        old, now = labels[i], new[r]
        if old == now:
            continue
        labels[i] = now
        before, times = weight_factors(weights, summary.whole, i)
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
def weight_factors(weights, whole, i):
    """A row's weight as (factor before the cut, factor after it).

    A whole number multiplies after the cut and stays exact: weight two is twice the row.
    """
    if weights.shape[0] == 0:
        return 1.0, 1.0
    return (1.0, weights[i]) if whole else (weights[i], 1.0)


# --- Search: the nearest center of the rows listed ---


@kernel
def search_dense(X, params, bounds, ids, m, new, shifted, products):
    """New labels and bounds by a matrix product of all centers with the rows, gathered, shifted
    and scaled to float32."""
    _, second, upper, lower, _ = bounds
    geometry = params.geometry
    origin, scale = geometry.origin, geometry.scale
    norms, widest = geometry.norms, np.float32(geometry.widest)
    k, d = geometry.minus2.shape
    squares, error = np.empty(m, np.float32), np.empty(m, np.float32)
    for b in range(m):
        row, target = X[ids[b]], shifted[b]
        for j in range(d):
            target[j] = np.float32((row[j] - origin[j]) * scale)
        squares[b] = quick_square(target)
    three = np.empty((3, m), np.float32)  # squares of the three nearest, smallest first
    near, next_near, third = three[0], three[1], three[2]
    nearest, runner_up = np.empty(m, np.int32), np.empty(m, np.int32)
    table = products[: k * m].reshape(k, m)
    if k <= FEW:
        few_products(geometry.minus2, shifted[:m], table)
    else:
        np.dot(geometry.minus2, shifted[:m].T, table)
    three_nearest(table, norms, near, next_near, third, nearest, runner_up)
    # Worst case of a float32 dot product of d terms, whatever the order of additions.
    gamma = np.float32((d + 8) * EPS)
    for b in range(m):
        length = np.float32(math.sqrt(squares[b]))
        error[b] = gamma * (2 * length + widest) * widest * UP + TINY
    for b in range(m):
        new[b] = nearest[b]
        if next_near[b] - near[b] <= 2 * error[b]:
            limit = near[b] + 2 * error[b]
            new[b] = decide_dense(X[ids[b]], params, table, b, limit)
            if new[b] != nearest[b]:
                runner_up[b] = nearest[b]
            next_near[b] = third[b] = near[b]  # which may belong to any of them
    # Loops of their own for the bounds: these run on whole vectors.
    for b in range(m):
        slack = error[b] + gamma * squares[b]
        u = near[b] + squares[b] + 3 * slack
        low = next_near[b] + squares[b] - slack
        others = third[b] + squares[b] - slack
        near[b] = np.float32(math.sqrt(max(u, np.float32(0)))) * UP
        next_near[b] = np.float32(math.sqrt(max(low, np.float32(0)))) * DOWN
        third[b] = np.float32(math.sqrt(max(others, np.float32(0)))) * DOWN
    for b in range(m):
        i = ids[b]
        upper[i], lower[i] = near[b], next_near[b]
        if bounds.third.shape[0]:
            second[i], bounds.third[i] = runner_up[b], third[b]


# fastmath in these three: the order of additions is left to the compiler, which makes them 4 to
# 10 times faster; the bounds they feed allow for the worst order.
@kernel(fastmath=REASSOCIATE)
def quick_distance(x, y):
    """|x - y| in the dtype of the rows, additions in any order."""
    total = x.dtype.type(0)
    for j in range(x.shape[0]):
        z = x[j] - y[j]
        total += z * z
    return math.sqrt(np.float64(total))


@kernel(fastmath=REASSOCIATE)
def quick_square(x):
    total = np.float32(0)
    for j in range(x.shape[0]):
        total += x[j] * x[j]
    return total


@kernel(fastmath=REASSOCIATE)
def few_products(centers, rows, table):
    """``centers @ rows.T`` where there are too few centers for BLAS to be quick."""
    k, d = centers.shape
    for b in range(rows.shape[0]):
        row = rows[b]
        j = 0
        while j + 4 <= k:  # the fewer times the row is loaded the better
            one, two, three, four = centers[j], centers[j + 1], centers[j + 2], centers[j + 3]
            s = t = u = v = np.float32(0)
            for q in range(d):
                x = row[q]
                s += one[q] * x
                t += two[q] * x
                u += three[q] * x
                v += four[q] * x
            table[j, b], table[j + 1, b], table[j + 2, b], table[j + 3, b] = s, t, u, v
            j += 4
        while j + 2 <= k:
            one, two = centers[j], centers[j + 1]
            s = t = np.float32(0)
            for q in range(d):
                s += one[q] * row[q]
                t += two[q] * row[q]
            table[j, b], table[j + 1, b] = s, t
            j += 2
        if j < k:
            one = centers[j]
            s = np.float32(0)
            for q in range(d):
                s += one[q] * row[q]
            table[j, b] = s


@kernel
def three_nearest(products, norms, near, next_near, third, nearest, runner_up):
    """The three smallest of norms[j] + products[j, b] for every b, and where two of them are.
    The inner loop runs over b, so that all lanes of a vector compare at once."""
    k, size = products.shape
    for b in range(size):
        near[b] = next_near[b] = third[b] = FAR
        nearest[b] = runner_up[b] = 0
    for j in range(k):
        row, norm = products[j], norms[j]
        for b in range(size):
            best = near[b], next_near[b], third[b], nearest[b], runner_up[b]
            best = insert(best, norm + row[b], np.int32(j))
            near[b], next_near[b], third[b], nearest[b], runner_up[b] = best


@kernel
def insert(best, v, label):
    """The three smallest so far, and the places of two, after one more value."""
    first, middle, last, place, runner_up = best
    worse = v if v > middle else middle
    return (
        v if v < first else first,
        first if v < first else (v if v < middle else middle),
        worse if worse < last else last,
        label if v < first else place,
        place if v < first else (label if v < middle else runner_up),
    )


# --- In float64: centers that float32 cannot separate, and rows in few dimensions ---


@kernel
def decide_dense(x, params, products, b, limit):
    """Decide in float64 between the centers that float32 cannot separate."""
    centers, norms = params.centers, params.geometry.norms
    label: Any = np.int64(0)  # as above
    best, ties = np.inf, 0
    for j in range(centers.shape[0]):
        if norms[j] + products[j, b] <= limit:
            square = squared_distance(x, centers[j])
            if square < best:
                best, label, ties = square, j, 1
            elif square == best:
                ties += 1
    if ties > 1:
        label = break_tie(x, params, best, label)
    return label


@kernel
def break_tie(x, params, best, label):
    """The tie rule: the center nearest before the last update if it is among the nearest
    now, so that a row stays where it is; else the lowest index."""
    centers, previous = params.centers, params.previous
    before, home = np.inf, 0
    for j in range(previous.shape[0]):
        square = squared_distance(x, previous[j])
        if square < before:
            before, home = square, j
    return home if squared_distance(x, centers[home]) == best else label


@kernel
def search_neighbors(X, params, bounds, ids, m, new):
    """In few dimensions: among the neighbors of the row's last center.

    A center farther from the last one than u (the row's distance to that) plus the second best
    distance so far cannot be nearer; a row whose ball passes the end of the list is compared
    with all centers.
    """
    centers, scale = params.centers, params.summary.scale
    neighbors, distances = params.geometry.neighbors, params.geometry.neighbor_distances
    labels, upper, lower = bounds.labels, bounds.upper, bounds.lower
    k, listed = neighbors.shape
    for r in range(m):
        i = ids[r]
        x = X[i]
        a = labels[i]
        best = squared_distance(x, centers[a])
        second = np.inf
        label, ties = a, 1
        u = math.sqrt(best)
        near, far = neighbors[a], distances[a]
        ball = np.inf
        q = 0
        while q < listed and far[q] <= ball:
            j = near[q]
            square = squared_distance(x, centers[j])
            if square < second:
                if square < best:
                    second, best, label, ties = best, square, j, 1
                elif square == best:
                    second, ties = best, ties + 1
                    label = min(label, j)
                else:
                    second = square
                ball = (u + math.sqrt(second)) * (1 + 1e-12)
            elif square == best:
                ties += 1
                label = min(label, j)
            q += 1
        if q == listed and listed < k - 1:
            label, best, second, ties = search_all(x, centers)
        if ties > 1:
            label = break_tie(x, params, best, label)
        new[r] = label
        upper[i] = np.float32(math.sqrt(best) * scale) * UP
        lower[i] = np.float32(math.sqrt(second) * scale) * DOWN


@kernel
def search_all(x, centers):
    """The nearest center, its square, the next square, and how many are tied."""
    best, second, label, ties = np.inf, np.inf, 0, 0
    for j in range(centers.shape[0]):
        square = squared_distance(x, centers[j])
        if square < best:
            second, best, label, ties = best, square, j, 1
        elif square == best:
            second, ties = best, ties + 1
        elif square < second:
            second = square
    return label, best, second, ties


# --- Sums of squares and distances to the own center ---


@kernel
def sum_squares_dense(X, origin, weights):
    """Weighted sum of |x - origin|^2."""
    total = 0.0
    for i in range(X.shape[0]):
        w = weights[i] if weights.shape[0] else 1.0
        total += w * squared_distance(X[i], origin)
    return total


@kernel
def squares_to_own_dense(X, centers, labels):
    """Squared distance of every row to the center of its label."""
    out = np.empty(X.shape[0])
    for i in range(X.shape[0]):
        out[i] = squared_distance(X[i], centers[labels[i]])
    return out
