"""Spherical k-means of a few thousand rows, hundreds of times over.

What ``kmeans_small`` is to k-means: a run is a single call that holds no lock. Rows have length
one, so that the nearest center is the one with the largest product: a matrix product of a panel
of rows and all centers, in float32, which is what processors do best. No difference of large
numbers is taken, so float32 costs no more than the last of seven digits; sums that make centers
are float64 and follow the rows that change their cluster.

An empty cluster restarts at the row farthest from its center, ties go to the lowest index. A
run ends when fewer than one row in ``FEW`` changes its cluster: with text there is always one
more.
"""

import numpy as np

from tacit.cluster.kmeans.kmeans_small import SmallFit
from tacit.core.engines import check_stop
from tacit.core.kernel import kernel
from tacit.core.randoms import key, uniform

__all__ = ["are_units", "nearest_directions", "small_spherical"]

CANDIDATES = 3  # tried for every first center
MAX_ITER = 100
PANEL, WIDE = 512, 4096  # rows to a matrix product
CALL = 1e9  # multiplications between two looks at the clock
FEW = 2000
ROUNDING = 2e-6  # of a squared distance in float32


def are_units(rows: np.ndarray) -> bool:
    """Whether all rows have length one.

    >>> are_units(np.array([[0.6, 0.8], [1.0, 0.0]])), are_units(np.array([[2.0, 0.0]]))
    (True, False)
    """
    return bool(np.all(np.abs(np.einsum("nd,nd->n", rows, rows) - 1) < 1e-5))


def small_spherical(rows: np.ndarray, k: int, seed: int, *, starts: int = 3) -> SmallFit:
    """Cluster rows of length one around k directions.

    >>> rows = np.array([[1.0, 0.0], [0.96, 0.28], [0.0, 1.0], [0.28, 0.96]])
    >>> small_spherical(rows, 2, seed=0).labels.tolist() in ([0, 0, 1, 1], [1, 1, 0, 0])
    True
    """
    rows = np.ascontiguousarray(rows, np.float32)
    runs = (one_run(rows, k, key(seed, run)) for run in range(starts))
    return min(runs, key=lambda fit: fit.inertia)  # the first of equals


def nearest_directions(rows: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """The place of the direction with the largest product, for each row; int32.

    >>> nearest_directions(np.eye(2, dtype="f4"), np.array([[0.6, 0.8], [0.8, 0.6]], "f4"))
    array([1, 0], dtype=int32)
    """
    found = np.empty(len(rows), np.int32)
    for first in range(0, len(rows), WIDE):
        panel = rows[first : first + WIDE] @ directions.T
        found[first : first + WIDE] = panel.argmax(axis=1)
    return found


def one_run(rows: np.ndarray, k: int, drawn: np.uint64) -> SmallFit:
    """Seed and iterate, in calls that take a fraction of a second."""
    n, d = rows.shape
    centers = np.empty((k, d), np.float32)
    nearest = np.empty(n, np.float32)
    few = max(1, int(CALL // (CANDIDATES * n * d)))
    for first in range(0, k, few):
        check_stop()
        choose_first(rows, centers, nearest, drawn, first, min(first + few, k))
    labels = np.full(n, -1, np.int32)
    counts, sums = np.zeros(k, np.int64), np.zeros((k, d))
    few = max(1, int(CALL // (n * k * d)))
    for first in range(0, MAX_ITER, few):
        check_stop()
        passes = min(few, MAX_ITER - first)
        if run_passes(rows, centers, labels, nearest, counts, sums, passes):
            break
    return SmallFit(labels, centers, float(spread(rows, centers, labels)))


# --- Kernels ---


# fastmath: the order of the additions is left to the compiler, which makes them vectors.
@kernel(fastmath={"reassoc", "contract", "nsz"})
def product_of(x, y):
    total = np.float32(0)
    for j in range(x.shape[0]):
        total += x[j] * y[j]
    return total


@kernel
def choose_first(rows, centers, nearest, drawn, start, stop):
    """Greedy k-means++: far rows are likely, and of three the one that helps most is taken."""
    n = rows.shape[0]
    tried = np.empty((CANDIDATES, rows.shape[1]), np.float32)
    none, two = np.float32(0), np.float32(2)
    if start == 0:
        centers[0] = rows[min(n - 1, int(uniform(drawn, np.uint64(0)) * n))]
        for i in range(n):
            nearest[i] = max(none, two - two * product_of(rows[i], centers[0]))
    square = np.empty((n, CANDIDATES), np.float32)
    for c in range(max(1, start), stop):
        total = 0.0
        for i in range(n):
            total += nearest[i]
        for t in range(CANDIDATES):
            aim = uniform(drawn, np.uint64(CANDIDATES * c + t)) * total
            at, seen = n - 1, 0.0
            for i in range(n):
                seen += nearest[i]
                if seen > aim:
                    at = i
                    break
            tried[t] = rows[at]
        best, least = 0, np.inf
        for t in range(CANDIDATES):
            left, candidate = 0.0, tried[t]
            for i in range(n):
                square[i, t] = two - two * product_of(rows[i], candidate)
                left += min(nearest[i], max(none, square[i, t]))
            if left < least:
                best, least = t, left
        centers[c] = tried[best]
        for i in range(n):
            nearest[i] = min(nearest[i], max(none, square[i, best]))


@kernel
def run_passes(rows, centers, labels, nearest, counts, sums, passes):
    """Lloyd's passes, as many or until hardly a row moves; whether that was so."""
    n, d = rows.shape
    k = centers.shape[0]
    two = np.float32(2)
    # The columns of ``turned`` are the centers, so that the product is of plain arrays.
    turned, product = np.empty((d, k), np.float32), np.empty((PANEL, k), np.float32)
    begun = labels[0] >= 0
    for _ in range(passes):
        moved = 0
        turned[:] = centers.T
        for first in range(0, n, PANEL):
            last = min(first + PANEL, n)
            table = product[: last - first]
            np.dot(rows[first:last], turned, table)
            for i in range(first, last):
                line, most, at = table[i - first], np.float32(-np.inf), 0
                for c in range(k):
                    # An empty one, where there are not as many different rows, takes no part.
                    if line[c] > most and (counts[c] > 0 or not begun):
                        most, at = line[c], c
                nearest[i] = two - two * most
                if labels[i] != at:
                    moved += 1
                    give(rows[i], labels, i, at, counts, sums)
        begun = True
        for c in range(k):
            if counts[c] == 0:
                far = 0
                for i in range(n):
                    if nearest[i] > nearest[far]:
                        far = i
                if nearest[far] > ROUNDING:
                    give(rows[far], labels, far, c, counts, sums)
                    nearest[far] = 0
                    moved += n  # everybody looks again
        for c in range(k):
            center, length = sums[c], 0.0
            for j in range(d):
                length += center[j] * center[j]
            if counts[c] > 0 and length > 0.0:
                centers[c] = center / np.sqrt(length)
        if moved * FEW <= n:
            return True
    return False


@kernel
def spread(rows, centers, labels):
    """Sum of the squared distances to the own center."""
    total = 0.0
    for i in range(rows.shape[0]):
        near = 0.0
        row, center = rows[i], centers[labels[i]]
        for j in range(row.shape[0]):
            near += row[j] * center[j]
        total += max(0.0, 2 - 2 * near)
    return total


@kernel
def give(row, labels, i, at, counts, sums):
    """Move a row into another cluster."""
    old, new = labels[i], sums[at]
    if old >= 0:
        counts[old] -= 1
        left = sums[old]
        for j in range(row.shape[0]):
            left[j] -= row[j]
    counts[at] += 1
    labels[i] = at
    for j in range(row.shape[0]):
        new[j] += row[j]
