"""The inner loops of k-means: which center is nearest to each row, without looking at all.

A pass over a block has three steps, each a kernel:

    filter_*   keep the rows whose nearest center may have changed
    search_*   find the two nearest centers of those
    move_*     take the rows that changed sides out of one sum and into another

Every row has an upper bound on the distance to its own center and a lower bound on the
distance to all others. A pass widens them by how far the centers moved (Hamerly 2010); a row
whose bounds do not cross keeps its label unseen. Survivors are searched together: by one
matrix product in float32, or in few dimensions among the neighbours of their last center
(Newling and Fleuret 2016). Float32 only proposes: where two centers come closer than its
worst rounding error, ``kernels.distances`` decides in float64, so every path gives the label
that plain Lloyd in float64 would.

Bounds are kept in float32 and in units in which the data has size about one.

Hamerly (2010), Making k-means even faster. SDM.
Newling and Fleuret (2016), Fast k-means with accurate bounds. ICML.
"""

import math

import numpy as np

from tacit.core.kernel import kernel
from tacit.kernels.distances import squared_distance
from tacit.kernels.exact_sum import cut

__all__ = ["own_dense", "pass_dense", "square_dense"]

CHUNK = 256  # rows to a matrix product: their distances stay in cache
EPS = np.float64(2.0**-24)  # rounding of one float32 operation
UP, DOWN = np.float32(1 + 2e-6), np.float32(1 - 2e-6)  # outward rounding of a bound
FAR = np.float32(3e38)
TINY = 1e-36  # below this float32 squares lose their digits


# --- A pass over a stretch of rows: filter, search, move, a chunk at a time ---


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
                    X,
                    centers,
                    previous,
                    geometry,
                    ids,
                    size,
                    new,
                    upper,
                    lower,
                    shifted,
                    products,
                )
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


# --- Search: the two nearest centers of the rows listed ---


@kernel
def search_dense(X, centers, previous, geometry, ids, m, new, upper, lower, shifted, products):
    """By a matrix product of rows gathered, shifted and scaled to float32."""
    origin, scale = geometry.origin, geometry.scale
    norms, widest = geometry.norms, geometry.widest
    k, d = geometry.minus2.shape
    squares = np.empty(m, np.float32)
    near = np.empty(m, np.float32)
    next_near = np.empty(m, np.float32)
    nearest = np.empty(m, np.int32)
    # Worst case of a float32 dot product of d terms, whatever the order of additions.
    gamma = (d + 8) * EPS
    for b in range(m):
        row = X[ids[b]]
        target = shifted[b]
        for j in range(d):
            target[j] = np.float32((row[j] - origin[j]) * scale)
        squares[b] = quick_square(target)
    table = products[: k * m].reshape(k, m)
    np.dot(geometry.minus2, shifted[:m].T, table)
    two_nearest(table, norms, near, next_near, nearest)
    for b in range(m):
        i = ids[b]
        length = math.sqrt(squares[b])
        doubt = gamma * (2 * length + widest) * widest + TINY
        a, rest = nearest[b], next_near[b]
        if rest - near[b] <= 2 * doubt:
            limit = near[b] + 2 * doubt
            a = settle_dense(X[i], centers, previous, table, norms, b, limit)
            rest = near[b]  # which may belong to another center
        new[b] = a
        doubt += gamma * squares[b]
        upper[i] = np.float32(math.sqrt(max(near[b] + squares[b] + 3 * doubt, 0.0))) * UP
        lower[i] = np.float32(math.sqrt(max(rest + squares[b] - doubt, 0.0))) * DOWN


# fastmath in these two: the order of additions is left to the compiler, which makes them 4 to
# 10 times faster; the bounds they feed allow for the worst order.
@kernel(fastmath={"reassoc", "contract", "nsz"})
def quick_distance(x, y):
    total = x.dtype.type(0)
    for j in range(x.shape[0]):
        z = x[j] - y[j]
        total += z * z
    return math.sqrt(np.float64(total))


@kernel(fastmath={"reassoc", "contract", "nsz"})
def quick_square(x):
    total = np.float32(0)
    for j in range(x.shape[0]):
        total += x[j] * x[j]
    return total


@kernel
def two_nearest(products, norms, near, next_near, nearest):
    """Smallest and second smallest of norms[j] + products[j, b] for every b.

    The inner loop runs over b so that all lanes of a vector compare at once.
    """
    k, size = products.shape
    for b in range(size):
        near[b] = FAR
        next_near[b] = FAR
        nearest[b] = 0
    for j in range(k):
        norm = norms[j]
        row = products[j]
        label = np.int32(j)
        for b in range(size):
            v = norm + row[b]
            best = near[b]
            worse = v if v > best else best
            rest = next_near[b]
            next_near[b] = worse if worse < rest else rest
            nearest[b] = label if v < best else nearest[b]
            near[b] = v if v < best else best


@kernel
def settle_dense(x, centers, previous, products, norms, b, limit):
    """Decide in float64 between the centers that float32 cannot tell apart."""
    best, label, ties = np.inf, 0, 0
    for j in range(centers.shape[0]):
        if norms[j] + products[j, b] <= limit:
            square = squared_distance(x, centers[j])
            if square < best:
                best, label, ties = square, j, 1
            elif square == best:
                ties += 1
    if ties > 1:
        label = tied_dense(x, centers, previous, best, label)
    return label


@kernel
def tied_dense(x, centers, previous, best, label):
    """The tie rule: the center nearest before the last update if it is among the nearest
    now, so that a row stays where it is; else the lowest index."""
    before, home = np.inf, 0
    for j in range(previous.shape[0]):
        square = squared_distance(x, previous[j])
        if square < before:
            before, home = square, j
    return home if squared_distance(x, centers[home]) == best else label


@kernel
def search_near(
    X, centers, previous, scale, neighbours, reach, labels, ids, m, new, upper, lower
):
    """In few dimensions: among the centers around the row's last one.

    ``neighbours`` lists the closest centers of each, and ``reach`` their distances. A center
    further from the row's last one than u (its own distance to that) plus the second best so
    far cannot be better; a row that sees past the end of the list looks at all.
    """
    k, listed = neighbours.shape
    for r in range(m):
        i = ids[r]
        x = X[i]
        a = labels[i]
        best = squared_distance(x, centers[a])
        rest = np.inf
        label, ties = a, 1
        u = math.sqrt(best)
        near = neighbours[a]
        far = reach[a]
        ball = np.inf
        q = 0
        while q < listed and far[q] <= ball:
            j = near[q]
            square = squared_distance(x, centers[j])
            if square < rest:
                if square < best:
                    rest, best, label, ties = best, square, j, 1
                elif square == best:
                    rest, ties = best, ties + 1
                    label = min(label, j)
                else:
                    rest = square
                ball = (u + math.sqrt(rest)) * (1 + 1e-12)
            elif square == best:
                ties += 1
                label = min(label, j)
            q += 1
        if q == listed and listed < k - 1:
            label, best, rest, ties = search_all(x, centers)
        if ties > 1:
            label = tied_dense(x, centers, previous, best, label)
        new[r] = label
        upper[i] = np.float32(math.sqrt(best) * scale) * UP
        lower[i] = np.float32(math.sqrt(rest) * scale) * DOWN


@kernel
def search_all(x, centers):
    """Nearest center, its square, the next square, and how many are tied."""
    best, rest, label, ties = np.inf, np.inf, 0, 0
    for j in range(centers.shape[0]):
        square = squared_distance(x, centers[j])
        if square < best:
            rest, best, label, ties = best, square, j, 1
        elif square == best:
            rest, ties = best, ties + 1
        elif square < rest:
            rest = square
    return label, best, rest, ties


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
