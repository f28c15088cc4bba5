"""What linkages on distances compare: a cluster's row of numbers, and which of them is least.

    complete   the largest distance between two rows
    average    the sum of the distances, over the sizes
    weighted   the mean of the two merged clusters' distances, whatever their sizes
    ward       the sum of squared distances, less what lies inside the two, over the sizes

Sums are what a merge can add without rounding, at least where distances are whole numbers.
"""

import numpy as np

from tacit.cluster.linkages.lanes import LANES, least, smallest
from tacit.core.kernel import kernel

__all__ = ["AVERAGE", "COMPLETE", "METHODS", "WARD", "WEIGHTED", "height", "nearest"]

COMPLETE, AVERAGE, WEIGHTED, WARD = range(4)
METHODS = {"complete": COMPLETE, "average": AVERAGE, "weighted": WEIGHTED, "ward": WARD}


@kernel
def nearest(row, columns, x, method, lows):
    """The column nearest to x; the lowest of equals."""
    penalty, sizes = columns.penalty[: row.shape[0]], columns.sizes[: row.shape[0]]
    if method == AVERAGE:
        return least_mean(row, sizes, penalty, sizes[x], lows)
    if method == WARD:
        return least_growth(row, sizes, columns.scatter, penalty, sizes[x],
                            columns.scatter[x], lows)  # fmt: skip
    return least(row, penalty, lows)[1]


@kernel
def height(value, columns, x, y, method):
    """How far apart x and y are, from the number in their rows; squared for Ward."""
    sizes, scatter = columns.sizes, columns.scatter
    if method == AVERAGE:
        return value / (sizes[x] * sizes[y])
    if method == WARD:
        return 2 * growth(value, sizes[y], scatter[y], sizes[x], scatter[x])
    return value


@kernel
def least_mean(row, sizes, penalty, own, lows):
    """As ``lanes.least``, of sums over both sizes: a mean has the same bits from either side,
    without which a chain might go round in circles."""
    n = row.shape[0]
    for i in range(LANES):
        lows[i] = np.inf
    for q in range(0, n, LANES):
        line, size, extra = row[q : q + LANES], sizes[q : q + LANES], penalty[q : q + LANES]
        for i in range(LANES):
            v = line[i] / (own * size[i]) + extra[i]
            low = lows[i]
            lows[i] = v if v < low else low
    best = smallest(lows)
    at = n
    for i in range(LANES):
        if lows[i] == best:
            for j in range(i, at, LANES):
                if row[j] / (own * sizes[j]) + penalty[j] == best:
                    at = j
                    break
    return at


@kernel(inline="always")
def growth(value, size, scatter, own_size, own_scatter):
    """Ward: how much a merge adds to the sum of squares, from the sum of squares between."""
    return (value - (own_size * scatter + size * own_scatter)) / (own_size + size)


@kernel
def least_growth(row, sizes, scatter, penalty, own_size, own_scatter, lows):
    """As ``lanes.least``, of what the merge adds to the sum of squares."""
    n = row.shape[0]
    for i in range(LANES):
        lows[i] = np.inf
    for q in range(0, n, LANES):
        line, extra = row[q : q + LANES], penalty[q : q + LANES]
        size, spread = sizes[q : q + LANES], scatter[q : q + LANES]
        for i in range(LANES):
            v = growth(line[i], size[i], spread[i], own_size, own_scatter) + extra[i]
            low = lows[i]
            lows[i] = v if v < low else low
    best = smallest(lows)
    at = n
    for i in range(LANES):
        if lows[i] == best:
            for j in range(i, at, LANES):
                v = growth(row[j], sizes[j], scatter[j], own_size, own_scatter) + penalty[j]
                if v == best:
                    at = j
                    break
    return at
