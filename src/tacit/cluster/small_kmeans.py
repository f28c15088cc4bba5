"""k-means of a few thousand dense rows, hundreds of times over.

``choose_k`` and the explorer cluster many small data sets in parallel. ``KMeans``, made for
long tables, would spend its time between passes, in Python; here a run is a few kernel calls
without the GIL. The algorithm is greedy k-means++, then Lloyd's passes. The nearest centers of
a panel of rows are one matrix product in the dtype of the rows; sums are float64 and change
with the rows that change their label. There are no bounds: with so few rows they do not pay.

Rows are taken about their mean, so that a large offset does not cost digits. An empty cluster
restarts at the row farthest from its center; ties go to the lowest index. A run ends when at
most one row in ``SETTLED`` changes its label: with text there is always one more.

Arthur and Vassilvitskii (2007), k-means++: the advantages of careful seeding. SODA.
"""

from typing import Any, NamedTuple

import numpy as np

from tacit.core.engines import check_stop
from tacit.core.kernel import REASSOCIATE, kernel
from tacit.core.randoms import key, uniform

__all__ = ["SmallFit", "are_units", "small_kmeans"]

CANDIDATES = 3  # tried for every first center
MAX_ITER = 100
PANEL = 512  # rows to a matrix product
CALL = 1e9  # multiplications of one kernel call: a fraction of a second
SETTLED = 2000


class SmallFit(NamedTuple):
    """The best of several runs."""

    labels: np.ndarray  # (n,) int32
    centers: np.ndarray  # (k, d) in the dtype of the rows
    inertia: float  # sum of squared distances


def are_units(rows: np.ndarray) -> bool:
    """Whether all rows have length one.

    >>> are_units(np.array([[0.6, 0.8], [1.0, 0.0]])), are_units(np.array([[2.0, 0.0]]))
    (True, False)
    """
    return bool(np.all(np.abs(np.einsum("nd,nd->n", rows, rows) - 1) < 1e-5))


def small_kmeans(
    rows: np.ndarray, k: int, seed: int, *, starts: int = 3, unit: bool = False
) -> SmallFit:
    """Cluster rows around k centers; with ``unit`` around centers of length one.

    >>> small_kmeans(np.array([[0.0], [1.0], [10.0], [11.0]]), 2, seed=0).inertia
    1.0
    >>> rows = np.array([[1.0, 0.0], [0.96, 0.28], [0.0, 1.0], [0.28, 0.96]], np.float32)
    >>> small_kmeans(rows, 2, seed=0, unit=True).labels.tolist() in ([0, 0, 1, 1], [1, 1, 0, 0])
    True
    """
    rows = np.asarray(rows)
    dtype = np.float32 if rows.dtype == np.float32 else np.float64
    origin = np.zeros(rows.shape[1]) if unit else rows.mean(axis=0, dtype=np.float64)
    points: np.ndarray = np.ascontiguousarray(rows if unit else rows - origin, dtype)
    squares = (points * points).sum(axis=1)
    runs = (one_run(points, squares, k, key(seed, run), unit) for run in range(starts))
    best = min(runs, key=lambda fit: fit.inertia)  # the first of equals
    return best if unit else best._replace(centers=(best.centers + origin).astype(dtype))


def one_run(
    rows: np.ndarray, squares: np.ndarray, k: int, drawn: np.uint64, unit: bool
) -> SmallFit:
    """Seed and iterate, a bounded number of multiplications to a kernel call."""
    n, d = rows.shape
    centers = np.empty((k, d), rows.dtype)
    nearest = np.empty(n, rows.dtype)
    few = max(1, int(CALL // (CANDIDATES * n * d)))
    for first in range(0, k, few):
        check_stop()
        choose_first(rows, squares, centers, nearest, drawn, first, min(first + few, k))
    labels = np.full(n, -1, np.int32)
    counts, sums = np.zeros(k, np.int64), np.zeros((k, d))
    few = max(1, int(CALL // (n * k * d)))
    for first in range(0, MAX_ITER, few):
        check_stop()
        passes = min(few, MAX_ITER - first)
        if run_passes(rows, squares, centers, labels, counts, sums, passes, unit):
            break
    return SmallFit(labels, centers, float(squares_to_own(rows, centers, labels).sum()))


# --- Kernels ---


# fastmath: the order of the additions is left to the compiler, which makes them vectors.
@kernel(fastmath=REASSOCIATE)
def dot(x, y):
    total = x.dtype.type(0)
    for j in range(x.shape[0]):
        total += x[j] * y[j]
    return total


@kernel
def copy_row(row, target):
    """Element by element: assigning a slice compiles a second of messages about shapes."""
    for j in range(row.shape[0]):
        target[j] = row[j]


@kernel
def choose_first(rows, squares, centers, nearest, drawn, start, stop):
    """Greedy k-means++: rows far from all centers are likely, the best of three is taken."""
    n = rows.shape[0]
    zero, two = rows.dtype.type(0), rows.dtype.type(2)
    if start == 0:
        first = min(n - 1, int(uniform(drawn, np.uint64(0)) * n))
        copy_row(rows[first], centers[0])
        for i in range(n):
            square = squares[i] + squares[first] - two * dot(rows[i], rows[first])
            nearest[i] = max(zero, square)
    tried = np.empty(CANDIDATES, np.int64)
    square = np.empty((n, CANDIDATES), rows.dtype)
    for c in range(max(1, start), stop):
        total = 0.0
        for i in range(n):
            total += nearest[i]
        for t in range(CANDIDATES):
            aim = uniform(drawn, np.uint64(CANDIDATES * c + t)) * total
            tried[t], seen = n - 1, 0.0
            for i in range(n):
                seen += nearest[i]
                if seen > aim:
                    tried[t] = i
                    break
        best, least = 0, np.inf
        for t in range(CANDIDATES):
            at, left = tried[t], 0.0
            for i in range(n):
                square[i, t] = squares[i] + squares[at] - two * dot(rows[i], rows[at])
                left += min(nearest[i], max(zero, square[i, t]))
            if left < least:
                best, least = t, left
        copy_row(rows[tried[best]], centers[c])
        for i in range(n):
            nearest[i] = min(nearest[i], max(zero, square[i, best]))


@kernel
def run_passes(rows, squares, centers, labels, counts, sums, passes, unit):
    """Lloyd's passes, as many or until hardly a row moves; whether that was so."""
    n, d = rows.shape
    k = centers.shape[0]
    # The columns of ``turned`` are the centers, so that the product is of plain arrays.
    turned, product = np.empty((d, k), rows.dtype), np.empty((PANEL, k), rows.dtype)
    half = np.zeros(k, rows.dtype)
    begun = labels[0] >= 0
    for _ in range(passes):
        moved = 0
        for c in range(k):
            for j in range(d):
                turned[j, c] = centers[c, j]
        if not unit:
            for c in range(k):
                half[c] = dot(centers[c], centers[c]) / 2
        for first in range(0, n, PANEL):
            last = min(first + PANEL, n)
            table = product[: last - first]
            np.dot(rows[first:last], turned, table)
            for i in range(first, last):
                line, most = table[i - first], rows.dtype.type(-np.inf)
                at: Any = np.int64(0)  # a plain 0 has ``relabel`` compiled for a constant, too
                for c in range(k):
                    score = line[c] - half[c]
                    # An empty one, where there are fewer distinct rows, takes no part.
                    if score > most and (counts[c] > 0 or not begun):
                        most, at = score, c
                if labels[i] != at:
                    moved += 1
                    relabel(rows[i], labels, i, at, counts, sums)
        begun = True
        empty = False
        for c in range(k):
            empty |= counts[c] == 0
        if empty and fill_empty(rows, squares, centers, labels, counts, sums):
            moved += n  # all rows compare again
        for c in range(k):
            if counts[c] > 0:
                center, size = sums[c], np.float64(counts[c])
                if unit:
                    square = 0.0
                    for j in range(d):
                        square += center[j] * center[j]
                    size = np.sqrt(square)
                if size > 0.0:
                    for j in range(d):
                        centers[c, j] = center[j] / size
        if moved * SETTLED <= n:
            return True
    return False


@kernel
def fill_empty(rows, squares, centers, labels, counts, sums):
    """Give each empty cluster the row farthest from its center; whether there was one."""
    far = squares_to_own(rows, centers, labels)
    # What rounding leaves of a row that lies on its center.
    eps = 4 * np.float64(np.finfo(rows.dtype).eps)
    largest = squares[0]
    for i in range(1, squares.shape[0]):
        largest = max(largest, squares[i])
    least = eps * eps * largest
    filled = False
    for c in range(centers.shape[0]):
        if counts[c] == 0:
            i = far.argmax()
            if far[i] > least:
                relabel(rows[i], labels, i, c, counts, sums)
                far[i] = 0.0
                filled = True
    return filled


@kernel
def squares_to_own(rows, centers, labels):
    """Squared distance of every row to the center of its label, in float64."""
    out = np.empty(rows.shape[0])
    for i in range(rows.shape[0]):
        row, center, total = rows[i], centers[labels[i]], 0.0
        for j in range(row.shape[0]):
            z = np.float64(row[j]) - center[j]
            total += z * z
        out[i] = total
    return out


@kernel
def relabel(row, labels, i, at, counts, sums):
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
