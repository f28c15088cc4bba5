"""DIANA: split from the top, by average distance (Kaufman and Rousseeuw 1990, chapter 6).

Take a cluster apart: the row with the largest mean distance to the others leaves first; then,
one at a time, the row that is closer to those that left than to those that stay, on average and
by the most, as long as there is one. Every cluster is split until rows stand alone. The height
of a split is the diameter of the cluster, its largest distance, so heights never rise on the
way down. Of equals the lowest row goes.

Sums of distances are carried from a cluster to its parts, so that a split costs its rows times
those that leave; its diameter costs the square of its rows. O(n^2) memory; between O(n^2) and
O(n^3) time, by how uneven the splits are.

Kaufman and Rousseeuw (1990), Finding groups in data: an introduction to cluster analysis.
"""

from collections.abc import Callable

import numpy as np

from tacit.cluster.linkages.merges import Merges, sorted_by_height
from tacit.core.kernel import kernel

__all__ = ["diana"]

NOISE = 1e-12  # of the diameter: less is rounding, and makes no difference


def diana(
    matrix: np.ndarray, *, pause: Callable[[int], None] = lambda done: None
) -> np.ndarray:
    """SciPy's linkage matrix of the splits of a square matrix of distances.

    >>> diana(np.abs(np.subtract.outer([0.0, 1.0, 5.0, 7.0], [0.0, 1.0, 5.0, 7.0])))
    array([[0., 1., 1., 2.],
           [2., 3., 2., 2.],
           [4., 5., 7., 4.]])
    """
    n = len(matrix)
    rows = np.arange(n)  # of every cluster the rows stand together, in order
    inside = matrix.sum(axis=1)
    outside = np.zeros(n)
    left = np.zeros(n, bool)
    merges = Merges.empty(n)
    waiting = [(0, n)]
    done = n - 1  # splits come in the opposite order of merges
    while waiting:
        start, stop = waiting.pop()
        if stop - start < 2:
            continue
        members = rows[start:stop]
        height = diameter(matrix, members)
        split(matrix, members, inside, outside, left, NOISE * height)
        gone = left[members]
        middle = stop - int(gone.sum())
        a, b = members[~gone], members[gone]
        done -= 1
        merges.low[done], merges.high[done] = min(a[0], b[0]), max(a[0], b[0])
        merges.heights[done] = height
        rows[start:middle], rows[middle:stop] = a, b
        waiting += [(start, middle), (middle, stop)]
        pause(n - 1 - done)
    return sorted_by_height(merges)


# --- Kernels ---


@kernel
def diameter(matrix, members):
    largest = 0.0
    for i in range(members.shape[0]):
        row = matrix[members[i]]
        for j in range(i + 1, members.shape[0]):
            v = row[members[j]]
            largest = v if v > largest else largest
    return largest


@kernel
def split(matrix, members, inside, outside, left, noise):
    """Mark the members that leave; ``inside`` becomes the sums within the two parts.

    inside and outside hold, for every member, the sum of its distances to those that stay and
    to those that left.
    """
    m = members.shape[0]
    for i in range(m):
        left[members[i]] = False
        outside[members[i]] = 0.0
    stay = m
    while stay > 1:
        best, chosen = -np.inf, -1
        for i in range(m):
            r = members[i]
            if left[r]:
                continue
            gain = inside[r] / (stay - 1)
            if stay < m:
                gain -= outside[r] / (m - stay)
            if gain > best + noise:
                best, chosen = gain, r
        if stay < m and best <= noise:
            break
        left[chosen] = True
        stay -= 1
        row = matrix[chosen]
        for i in range(m):
            r = members[i]
            inside[r] -= row[r]
            outside[r] += row[r]
    for i in range(m):
        r = members[i]
        if left[r]:
            inside[r] = outside[r]
