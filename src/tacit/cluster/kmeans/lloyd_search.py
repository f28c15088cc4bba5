"""The nearest center of each row in a list: by matrix products, or among neighbours.

Float32 only proposes: where two centers come closer than its worst rounding error,
``kernels.distances`` decides in float64, so every path gives the label that plain Lloyd in
float64 would.

Newling and Fleuret (2016), Fast k-means with accurate bounds. ICML.
"""

import math

import numpy as np

from tacit.core.kernel import kernel
from tacit.kernels.distances import squared_distance

__all__ = ["quick_distance", "search_dense", "search_near"]

CHUNK = 256  # rows to a matrix product: their distances stay in cache
FEW = 16  # centers up to which BLAS is not the quickest
EPS = np.float64(2.0**-24)  # rounding of one float32 operation
UP, DOWN = np.float32(1 + 2e-6), np.float32(1 - 2e-6)  # outward rounding of a bound
FAR = np.float32(3e38)
TINY = np.float32(1e-36)  # below this float32 squares lose their digits


@kernel
def search_dense(
    X, centers, previous, geometry, labels, ids, m, new, bounds, shifted, products, fresh
):
    """By matrix products of rows gathered, shifted and scaled to float32: first with the few
    centers that moved most, then, for rows which that leaves open, with all."""
    origin, scale = geometry.origin, geometry.scale
    squares = np.empty(m, np.float32)
    for b in range(m):
        row, target = X[ids[b]], shifted[b]
        for j in range(X.shape[1]):
            target[j] = np.float32((row[j] - origin[j]) * scale)
        squares[b] = quick_square(target)
    left = np.arange(m)
    if geometry.movers.shape[0] and not fresh:
        left = search_movers(geometry, labels, ids, m, new, bounds, shifted, squares, products)
    search_all_centers(
        X, centers, previous, geometry, ids, left, new, bounds, shifted, squares, products
    )


@kernel
def search_movers(geometry, labels, ids, m, new, bounds, shifted, squares, products):
    """Settle rows that no center has come close to; list the others, their rows in front."""
    _, upper, lower, rest = bounds
    movers, near = geometry.movers, geometry.near
    count = movers.shape[0]
    table = products[: count * m].reshape(count, m)
    np.dot(geometry.movers_minus2, shifted[:m].T, table)
    closest = np.empty(m, np.float32)
    closest[:] = FAR
    for j in range(count):
        mover, norm, row = movers[j], geometry.movers_norms[j], table[j]
        for b in range(m):
            v = norm + row[b]
            own = labels[ids[b]] == mover
            closest[b] = v if v < closest[b] and not own else closest[b]
    gamma = np.float32((shifted.shape[1] + 8) * EPS)
    widest = np.float32(geometry.widest)
    left = np.empty(m, np.int64)
    q = 0
    for b in range(m):
        i = ids[b]
        square = squares[b]
        length = np.float32(math.sqrt(square))
        slack = gamma * (2 * length + widest) * widest * UP + gamma * square + TINY
        reach = np.float32(math.sqrt(max(closest[b] + square - slack, np.float32(0)))) * DOWN
        low = min(reach, rest[i] + near.spare[labels[i]])
        if upper[i] < min(low, lower[i]):
            rest[i] = low
            new[b] = labels[i]
        else:
            if q < b:
                shifted[q] = shifted[b]
            squares[q] = square
            left[q] = b
            q += 1
    return left[:q]


@kernel
def search_all_centers(
    X, centers, previous, geometry, ids, left, new, bounds, shifted, squares, products
):
    """New labels and bounds of the rows left, which stand in front in ``shifted``."""
    m = left.shape[0]
    if m == 0:
        return
    second, upper, lower, rest = bounds
    norms, widest = geometry.norms, np.float32(geometry.widest)
    k, d = geometry.minus2.shape
    found = np.empty((3, m), np.float32)  # squares of the three nearest, smallest first
    near, next_near, third = found[0], found[1], found[2]
    nearest, runner_up = np.empty(m, np.int32), np.empty(m, np.int32)
    table = products[: k * m].reshape(k, m)
    if k <= FEW:
        few_products(geometry.minus2, shifted[:m], table)
    else:
        np.dot(geometry.minus2, shifted[:m].T, table)
    three_nearest(table, norms, near, next_near, third, nearest, runner_up)
    # Worst case of a float32 dot product of d terms, whatever the order of additions.
    gamma = np.float32((d + 8) * EPS)
    doubt = np.empty(m, np.float32)
    for b in range(m):
        length = np.float32(math.sqrt(squares[b]))
        doubt[b] = gamma * (2 * length + widest) * widest * UP + TINY
    for b in range(m):
        a = nearest[b]
        if next_near[b] - near[b] <= 2 * doubt[b]:
            limit = near[b] + 2 * doubt[b]
            a = settle_dense(X[ids[left[b]]], centers, previous, table, norms, b, limit)
            if a != nearest[b]:
                runner_up[b] = nearest[b]
            next_near[b] = third[b] = near[b]  # which may belong to any of them
        new[left[b]] = a
    # Loops of their own for the bounds: these run on whole vectors.
    for b in range(m):
        slack = doubt[b] + gamma * squares[b]
        u = near[b] + squares[b] + 3 * slack
        low = next_near[b] + squares[b] - slack
        others = third[b] + squares[b] - slack
        near[b] = np.float32(math.sqrt(max(u, np.float32(0)))) * UP
        next_near[b] = np.float32(math.sqrt(max(low, np.float32(0)))) * DOWN
        third[b] = np.float32(math.sqrt(max(others, np.float32(0)))) * DOWN
    for b in range(m):
        i = ids[left[b]]
        upper[i], lower[i] = near[b], next_near[b]
        if rest.shape[0]:
            second[i], rest[i] = runner_up[b], third[b]


# fastmath in these three: the order of additions is left to the compiler, which makes them 4 to
# 10 times faster; the bounds they feed allow for the worst order.
@kernel(fastmath={"reassoc", "contract", "nsz"})
def quick_distance(x, y):
    """|x - y| in the dtype of the rows, additions in any order."""
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


@kernel(fastmath={"reassoc", "contract", "nsz"})
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

    The inner loops run over b, so that all lanes of a vector compare at once, and over four
    centers at a time, which spares three of four loads and stores of what was found so far.
    """
    k, size = products.shape
    for b in range(size):
        near[b] = next_near[b] = third[b] = FAR
        nearest[b] = runner_up[b] = 0
    fours = k - k % 4
    for j in range(0, fours, 4):
        one, two = products[j], products[j + 1]
        three, four = products[j + 2], products[j + 3]
        norm1, norm2, norm3, norm4 = norms[j], norms[j + 1], norms[j + 2], norms[j + 3]
        for b in range(size):
            best = near[b], next_near[b], third[b], nearest[b], runner_up[b]
            best = insert(best, norm1 + one[b], np.int32(j))
            best = insert(best, norm2 + two[b], np.int32(j + 1))
            best = insert(best, norm3 + three[b], np.int32(j + 2))
            best = insert(best, norm4 + four[b], np.int32(j + 3))
            near[b], next_near[b], third[b], nearest[b], runner_up[b] = best
    for j in range(fours, k):
        one, norm1 = products[j], norms[j]
        for b in range(size):
            best = near[b], next_near[b], third[b], nearest[b], runner_up[b]
            best = insert(best, norm1 + one[b], np.int32(j))
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


# --- In float64: what float32 cannot tell apart, and rows in few dimensions ---


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
