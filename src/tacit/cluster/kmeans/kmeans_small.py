"""k-means of a few thousand rows, hundreds of times over.

``choose_k`` clusters many small data sets side by side. There ``KMeans``, made for long tables,
would spend its time between passes, in Python and so one fit at a time; here a run is a single
call that holds no lock. The algorithm is the same (greedy k-means++, then Lloyd's passes until
no label changes), without bounds, which do not pay for so few rows. An empty cluster restarts
at the row farthest from its center, ties go to the lowest index.

Arthur and Vassilvitskii (2007), k-means++: the advantages of careful seeding. SODA.
"""

import math
from typing import NamedTuple

import numpy as np

from tacit.core.kernel import kernel
from tacit.core.randoms import key, uniform

__all__ = ["SmallFit", "small_kmeans"]

CANDIDATES = 3  # tried for every first center
MAX_ITER = 100
ROUNDING = 1e-28  # of the square of a row


class SmallFit(NamedTuple):
    """The best of several runs."""

    labels: np.ndarray  # (n,) int32
    centers: np.ndarray  # (k, d), inf where there are not as many different rows
    inertia: float


def small_kmeans(
    rows: np.ndarray, k: int, seed: int, *, starts: int = 3, unit: bool = False
) -> SmallFit:
    """Cluster float64 rows around k centers; with ``unit`` around centers of length one.

    >>> small_kmeans(np.array([[0.0], [1.0], [10.0], [11.0]]), 2, seed=0).inertia
    1.0
    """
    rows = np.ascontiguousarray(rows, np.float64)
    best: SmallFit | None = None
    for run in range(starts):
        centers = np.empty((k, rows.shape[1]))
        labels = np.full(len(rows), -1, np.int32)
        nearest = np.empty(len(rows))
        drawn = key(seed, run)
        choose_first(rows, centers, nearest, drawn)
        inertia = run_lloyd(rows, centers, labels, nearest, unit)
        if best is None or inertia < best.inertia:
            best = SmallFit(labels, centers, float(inertia))
    assert best is not None  # there is at least one start
    return best


# --- Kernels ---


# fastmath: the order of the additions is left to the compiler, which makes them vectors.
@kernel(fastmath={"reassoc", "contract", "nsz"})
def square_between(x, y):
    total = 0.0
    for j in range(x.shape[0]):
        z = x[j] - y[j]
        total += z * z
    return total


@kernel
def choose_first(rows, centers, nearest, drawn):
    n = rows.shape[0]
    turn = np.uint64(1)
    first = min(n - 1, int(uniform(drawn, np.uint64(0)) * n))
    centers[0] = rows[first]
    total = 0.0
    for i in range(n):
        nearest[i] = square_between(rows[i], centers[0])
        total += nearest[i]
    trial, better = np.empty(n), np.empty(n)
    for c in range(1, centers.shape[0]):
        least = np.inf
        for _ in range(CANDIDATES):
            aim = uniform(drawn, turn) * total
            turn += np.uint64(1)
            at, seen = n - 1, 0.0
            for i in range(n):
                seen += nearest[i]
                if seen > aim:
                    at = i
                    break
            chosen, left = rows[at], 0.0
            for i in range(n):
                trial[i] = min(nearest[i], square_between(rows[i], chosen))
                left += trial[i]
            if left < least:
                least = left
                centers[c] = chosen
                better[:] = trial
        nearest[:] = better
        total = least


@kernel
def run_lloyd(rows, centers, labels, nearest, unit):
    n, d = rows.shape
    k = centers.shape[0]
    zero = np.zeros(d)
    counts = np.empty(k, np.int64)
    tiny = 0.0  # what rounding leaves of a row that lies on its center
    for i in range(n):
        tiny = max(tiny, ROUNDING * square_between(rows[i], zero))
    for _ in range(MAX_ITER):
        moved = 0
        for i in range(n):
            row, least, at = rows[i], np.inf, 0
            for c in range(k):
                square = square_between(row, centers[c])
                if square < least:
                    least, at = square, c
            nearest[i] = least
            if labels[i] != at:
                labels[i] = at
                moved += 1
        counts[:] = 0
        for i in range(n):
            counts[labels[i]] += 1
        for c in range(k):
            if counts[c] == 0:
                far = 0
                for i in range(n):
                    if nearest[i] > nearest[far]:
                        far = i
                if nearest[far] > tiny:
                    counts[labels[far]] -= 1
                    labels[far] = c
                    counts[c] = 1
                    nearest[far] = 0.0
                    moved += 1
        if moved == 0:
            break
        centers[:] = 0.0
        for i in range(n):
            row, center = rows[i], centers[labels[i]]
            for j in range(d):
                center[j] += row[j]
        for c in range(k):
            center, length = centers[c], 0.0
            if counts[c] == 0:  # fewer distinct rows than clusters
                center[:] = np.inf
                continue
            for j in range(d):
                center[j] /= counts[c]
                length += center[j] * center[j]
            if unit and length > 0.0:
                center /= math.sqrt(length)
    total = 0.0
    for i in range(n):
        total += square_between(rows[i], centers[labels[i]])
    return total
