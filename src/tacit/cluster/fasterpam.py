"""FasterPAM: the medoids of a matrix of distances.

A medoid is one of the rows. The loss is the sum of distances to the nearest medoid. Every row
in turn is a candidate to replace each of the medoids, all k swaps from one pass over its
distances; the best is done at once if it lowers the loss. When no candidate lowers it, the
medoids are a local minimum: no single swap improves them.

A candidate is cheap because every row stores its nearest and second nearest medoid. Candidate
j changes the loss in two ways: rows nearer to j than to their medoid save the difference,
whichever medoid leaves; and when medoid m leaves, its rows fall back on the second nearest or
on j. The latter is a sum per medoid, stored for "no candidate" and corrected for the rows that
j would attract.

First medoids: ``build`` adds, k times, the row that lowers the loss most; ``lab`` does so
among a sample, evaluated on that sample.

Schubert and Rousseeuw (2021), Fast and eager k-medoids clustering: O(k) runtime improvement of
the PAM, CLARA, and CLARANS algorithms. Information Systems 101.
Kaufman and Rousseeuw (1990), Finding Groups in Data. Wiley. The notes' section on k-medoids.
"""

import math
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from tacit.core.engines import Engine, Serial
from tacit.core.kernel import kernel
from tacit.core.progress import Callback, Step, notify

__all__ = ["Medoids", "SwapSearch", "build", "fasterpam", "lab"]

CALL_WORK = 2**25  # distances read in one kernel call: well under 200 ms
STRIPE = 64  # rows whose distances to a candidate are read together; see benchmarks kmedoids
NOISE = 1e-12  # a gain below this fraction of the loss may be rounding


class Medoids(NamedTuple):
    """The result of a search."""

    indices: np.ndarray  # (k,) int64, ascending
    loss: float
    losses: list  # after 0, 1, 2, ... passes over the candidates
    swaps: int
    converged: bool


def fasterpam(
    distances: np.ndarray,
    medoids: np.ndarray,
    *,
    max_iter: int = 100,
    callbacks: Sequence[Callback] = (),
    name: str = "KMedoids",
) -> Medoids:
    """Swap medoids until no swap lowers the loss, or for ``max_iter`` passes.

    ``distances`` is square, float32 or float64; row j holds the distances from j.

    >>> x = np.array([0.0, 1.0, 2.0, 10.0, 11.0, 12.0])
    >>> result = fasterpam(abs(x[:, None] - x), np.array([0, 1]))
    >>> result.indices, result.loss
    (array([1, 4]), 4.0)
    """
    n, k = len(distances), len(medoids)
    if k == 1:
        return single_medoid(distances, medoids)
    search = SwapSearch(distances, medoids)
    losses, unchanged, done = [search.loss], 0, False
    size = max(1, CALL_WORK // n)
    while len(losses) <= max_iter and not done:
        if notify(callbacks, Step(name, len(losses) - 1, max_iter, losses, search.medoids)):
            break
        first = 0
        while first < n and not done:
            last = min(first + size, n, first + n - unchanged)
            swapped = search.try_rows(first, last)
            unchanged = last - 1 - swapped if swapped >= 0 else unchanged + last - first
            done = unchanged >= n  # a full pass without a swap
            first = last
        losses.append(search.loss)
    notify(callbacks, Step(name, len(losses) - 1, max_iter, losses, search.medoids, done=True))
    return Medoids(np.sort(search.medoids), search.loss, losses, search.swaps, done)


def single_medoid(distances: np.ndarray, medoids: np.ndarray) -> Medoids:
    """One medoid: the row with the smallest sum."""
    sums = sum_rows(distances)
    before, best = float(sums[medoids[0]]), int(sums.argmin())
    swaps = int(sums[best] < before)
    losses = [before, float(sums[best])]
    return Medoids(np.array([best]), losses[-1], losses, swaps, True)


class TwoNearest(NamedTuple):
    """The two nearest medoids of every row: distances and places among the medoids."""

    near: np.ndarray  # (n,) of the dtype of the distances
    second: np.ndarray  # (n,)
    label: np.ndarray  # (n,) int32
    next_label: np.ndarray  # (n,) int32


class SwapSearch:
    """The medoids, and what is stored to evaluate the next swap."""

    def __init__(self, distances: np.ndarray, medoids: np.ndarray) -> None:
        n, k = len(distances), len(medoids)
        self.distances = distances
        self.medoids = np.array(medoids, np.int64)
        self.is_medoid = np.zeros(n, np.bool_)
        self.is_medoid[self.medoids] = True
        near, second = (np.empty(n, distances.dtype) for _ in range(2))
        label, next_label = (np.empty(n, np.int32) for _ in range(2))
        self.nearest = TwoNearest(near, second, label, next_label)
        self.removal = np.empty(k)  # what the rows of each medoid lose without it
        find_nearest(distances, self.medoids, self.nearest)
        removal_losses(self.nearest, self.removal)
        self.loss = float(near.sum(dtype=np.float64))
        self.swaps = 0

    def try_rows(self, first: int, last: int) -> int:
        """Try these rows in turn; the last one that became a medoid, or -1."""
        swapped, swaps = swap_rows(
            self.distances, self.medoids, self.is_medoid, self.nearest, self.removal, self.loss,
            first, last,
        )  # fmt: skip
        if swaps:
            self.swaps += swaps
            self.loss = float(self.nearest.near.sum(dtype=np.float64))
        return swapped


# --- First medoids ---


def build(distances: np.ndarray, k: int, *, engine: Engine | None = None) -> np.ndarray:
    """k medoids, each the row that lowers the loss most; ties go to the lowest index.

    >>> x = np.array([0.0, 1.0, 2.0, 10.0, 11.0, 12.0])
    >>> build(abs(x[:, None] - x), 2)
    array([2, 4])
    """
    engine = engine or Serial()
    n = len(distances)
    size = max(1, CALL_WORK // max(1, n))
    blocks = [distances[first : first + size] for first in range(0, n, size)]
    chosen = [int(np.concatenate(list(engine.each(sum_rows, blocks))).argmin())]
    near = distances[chosen[0]].copy()
    while len(chosen) < k:
        gains = np.concatenate(list(engine.each(partial(gains_of, near), blocks)))
        gains[chosen] = -1.0  # those of the others are zero or more
        chosen.append(int(gains.argmax()))
        near = np.minimum(near, distances[chosen[-1]])
    return np.array(chosen)


def sum_rows(block: np.ndarray) -> np.ndarray:
    return block.sum(axis=1, dtype=np.float64)


def lab(distances: np.ndarray, k: int, rng: np.random.RandomState) -> np.ndarray:
    """k medoids, each the best of a sample of rows, evaluated on that sample: O(n k)."""
    n = len(distances)
    size = 10 + math.isqrt(n - 1) + 1
    chosen: list[int] = []
    near = np.full(n, np.inf)
    while len(chosen) < k:
        free = np.delete(np.arange(n), chosen)
        sample = np.sort(rng.permutation(free)[:size])
        among = distances[np.ix_(sample, sample)]
        if chosen:
            gains = np.maximum(near[sample] - among, 0.0).sum(axis=1, dtype=np.float64)
        else:
            gains = -among.sum(axis=1, dtype=np.float64)
        chosen.append(int(sample[gains.argmax()]))
        near = np.minimum(near, distances[chosen[-1]])
    return np.array(chosen)


# --- Kernels ---


@kernel
def gains_of(near, block):
    """What every row of the block would save the others as another medoid."""
    out = np.empty(block.shape[0])
    for j in range(block.shape[0]):
        out[j] = saved(block[j], near)
    return out


# fastmath here and in candidate_gains: the compiler chooses the order of additions, which makes
# them several times faster. The sums are float64, and the order changes less than NOISE.
@kernel(fastmath={"reassoc", "nsz"})
def saved(row, near):
    total = 0.0
    for o in range(row.shape[0]):
        gain = np.float64(near[o]) - row[o]
        total += gain if gain > 0 else 0.0
    return total


@kernel
def find_nearest(distances, medoids, nearest):
    for o in range(nearest.near.shape[0]):
        find_two(distances, medoids, o, nearest)


@kernel
def find_two(distances, medoids, o, nearest):
    """The two nearest medoids of row o, the lowest place first where they tie."""
    first, then = (0, 1) if distances[medoids[0], o] <= distances[medoids[1], o] else (1, 0)
    best, second = distances[medoids[first], o], distances[medoids[then], o]
    for m in range(2, medoids.shape[0]):
        d = distances[medoids[m], o]
        if d < best:
            second, then = best, first
            best, first = d, m
        elif d < second:
            second, then = d, m
    nearest.near[o], nearest.second[o] = best, second
    nearest.label[o], nearest.next_label[o] = first, then


@kernel
def removal_losses(nearest, removal):
    """What the rows of each medoid would lose without it, and without a candidate."""
    near, second, label, _ = nearest
    removal[:] = 0.0
    for o in range(near.shape[0]):
        removal[label[o]] += np.float64(second[o]) - near[o]


@kernel
def swap_rows(distances, medoids, is_medoid, nearest, removal, loss, start, stop):
    """Try the rows from start to stop, two candidates at a time: the arrays of all rows are
    read once for both. Where the first is swapped in, the second is evaluated again."""
    k = medoids.shape[0]
    sums = np.empty((4, k))  # two for each of the two candidates
    stripes = np.empty((2, STRIPE), distances.dtype)
    swapped, swaps = -1, 0
    j = next_free(is_medoid, start, stop)
    while j < stop:
        then = next_free(is_medoid, j + 1, stop)
        other = then if then < stop else j
        for m in range(k):
            sums[0, m] = sums[2, m] = removal[m]
            sums[1, m] = sums[3, m] = 0.0
        gains = candidate_gains(distances[j], distances[other], nearest, sums, stripes)
        place, change = best_place(sums[0], sums[1])
        change += gains[0]
        if not change < -NOISE * loss:
            j, then = other, next_free(is_medoid, other + 1, stop)
            place, change = best_place(sums[2], sums[3])
            change += gains[1]
        if change < -NOISE * loss:
            is_medoid[medoids[place]] = False
            is_medoid[j] = True
            medoids[place] = j
            loss += change
            update_nearest(distances, medoids, place, nearest)
            removal_losses(nearest, removal)
            swapped, swaps = j, swaps + 1
            then = next_free(is_medoid, j + 1, stop)
        j = then
    return swapped, swaps


@kernel
def next_free(is_medoid, j, stop):
    while j < stop and is_medoid[j]:
        j += 1
    return j


@kernel
def best_place(sums, more):
    """The medoid whose removal costs least, and what it costs."""
    place, least = 0, np.inf
    for m in range(sums.shape[0]):
        change = sums[m] + more[m]
        if change < least:
            place, least = m, change
    return place, least


@kernel(fastmath={"reassoc", "nsz"})
def candidate_gains(row, other, nearest, sums, stripes):
    """What the rows save with either candidate, whichever medoid leaves; and into ``sums``
    what the rows that it would attract do not lose when their medoid leaves.

    Three loops: two for vectors, one that scatters. Stripes without such rows skip the last
    two.
    """
    near, second, label, _ = nearest
    n = row.shape[0]
    none = row.dtype.type(0)
    stripe, other_stripe = stripes[0], stripes[1]
    sums_a, more_a, sums_b, more_b = sums[0], sums[1], sums[2], sums[3]
    shared = other_shared = 0.0
    for first in range(0, n, STRIPE):
        size = min(STRIPE, n - first)
        x, y = row[first : first + size], other[first : first + size]
        a, b = near[first : first + size], second[first : first + size]
        labels = label[first : first + size]
        gain, other_gain, attracted = 0.0, 0.0, 0
        for t in range(size):
            gain += x[t] - a[t] if x[t] < a[t] else none
            other_gain += y[t] - a[t] if y[t] < a[t] else none
            attracted += 1 if x[t] < b[t] or y[t] < b[t] else 0
        if attracted == 0:
            continue
        for t in range(size):
            spared = max(x[t], a[t]) - b[t]
            stripe[t] = spared if spared < none else none
            spared = max(y[t], a[t]) - b[t]
            other_stripe[t] = spared if spared < none else none
        shared += gain
        other_shared += other_gain
        even = size - size % 2
        for t in range(0, even, 2):  # two sums each: an addition need not wait for the last
            m, o = labels[t], labels[t + 1]
            sums_a[m] += stripe[t]
            sums_b[m] += other_stripe[t]
            more_a[o] += stripe[t + 1]
            more_b[o] += other_stripe[t + 1]
        for t in range(even, size):
            sums_a[labels[t]] += stripe[t]
            sums_b[labels[t]] += other_stripe[t]
    return shared, other_shared


@kernel
def update_nearest(distances, medoids, place, nearest):
    """Bring nearest and second nearest up to date after the medoid at ``place`` changed."""
    near, second, label, next_label = nearest
    row = distances[medoids[place]]
    for o in range(near.shape[0]):
        d = row[o]
        if label[o] == place:
            if d <= second[o]:
                near[o] = d
            else:
                find_two(distances, medoids, o, nearest)
        elif d < near[o]:
            second[o], next_label[o] = near[o], label[o]
            near[o], label[o] = d, place
        elif next_label[o] == place and d > second[o]:
            find_two(distances, medoids, o, nearest)
        elif d < second[o] or next_label[o] == place:
            second[o], next_label[o] = d, place
