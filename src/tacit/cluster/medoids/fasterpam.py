"""FasterPAM: the best rows to stand for all the others, given a matrix of distances.

A medoid is one of the rows. The loss is the sum of distances to the nearest medoid. Every row
in turn is tried as a medoid in place of each of the present ones, all k swaps from one look at
its distances; the best is made at once if it lowers the loss. When no row brings anything the
medoids are a local minimum: no single swap lowers the loss.

The looks are cheap because every row remembers its nearest and second nearest medoid. Trying
row j changes what the others pay in two ways: those nearer to j than to their medoid save the
difference, whoever leaves; and when medoid m leaves, its rows fall back on the second nearest
or on j. The latter is a sum per medoid, kept up to date for "nobody comes" and corrected for
the rows that j would catch.

First medoids: ``build`` adds, k times, the row that lowers the loss most; ``lab`` does so
among a sample, judged by a sample.

Schubert and Rousseeuw (2021), Fast and eager k-medoids clustering: O(k) runtime improvement of
the PAM, CLARA, and CLARANS algorithms. Information Systems 101.
Kaufman and Rousseeuw (1990), Finding Groups in Data. Wiley. The notes' section on k-medoids.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tacit.core.engines import Engine, Serial
from tacit.core.kernel import kernel
from tacit.core.progress import Callback, Step, notify
from tacit.data.table import Table

__all__ = ["Medoids", "build", "fasterpam", "lab", "random_medoids"]

CALL_WORK = 2**25  # distances looked at in one kernel call: well under 200 ms
STRIPE = 64  # rows whose distances to a candidate are looked at together
NOISE = 1e-12  # a gain below this share of the loss may be rounding


class Medoids(NamedTuple):
    """Where the search ended."""

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

    Examples
    --------
    >>> x = np.array([0.0, 1.0, 2.0, 10.0, 11.0, 12.0])
    >>> found = fasterpam(abs(x[:, None] - x), np.array([0, 1]))
    >>> found.indices, found.loss
    (array([1, 4]), 4.0)
    """
    n, k = len(distances), len(medoids)
    if k == 1:
        return single(distances, medoids)
    state = State(distances, medoids)
    losses, quiet, done = [state.loss], 0, False
    span = max(1, CALL_WORK // n)
    while len(losses) <= max_iter and not done:
        if notify(callbacks, Step(name, len(losses) - 1, max_iter, losses, state.medoids)):
            break
        first = 0
        while first < n and not done:
            last = min(first + span, n, first + n - quiet)
            swapped = state.try_rows(first, last)
            quiet = last - 1 - swapped if swapped >= 0 else quiet + last - first
            done = quiet >= n  # once around without a swap
            first = last
        losses.append(state.loss)
    notify(callbacks, Step(name, len(losses) - 1, max_iter, losses, state.medoids, done=True))
    return Medoids(np.sort(state.medoids), state.loss, losses, state.swaps, done)


def single(distances: np.ndarray, medoids: np.ndarray) -> Medoids:
    """One medoid: the row with the smallest sum."""
    sums = distances.sum(axis=1, dtype=np.float64)
    before, best = float(sums[medoids[0]]), int(sums.argmin())
    swaps = int(sums[best] < before)
    losses = [before, float(sums[best])]
    return Medoids(np.array([best]), losses[-1], losses, swaps, True)


class State:
    """What the search keeps between two looks."""

    def __init__(self, distances: np.ndarray, medoids: np.ndarray) -> None:
        n, k = len(distances), len(medoids)
        self.distances = distances
        self.medoids = np.array(medoids, np.int64)
        self.taken = np.zeros(n, np.bool_)
        self.taken[self.medoids] = True
        self.near, self.second = (np.empty(n, distances.dtype) for _ in range(2))
        self.label, self.next_label = (np.empty(n, np.int32) for _ in range(2))
        self.removal = np.empty(k)
        two_nearest(
            distances, self.medoids, self.near, self.second, self.label, self.next_label
        )
        removal_losses(self.near, self.second, self.label, self.removal)
        self.loss = float(self.near.sum(dtype=np.float64))
        self.swaps = 0

    def try_rows(self, first: int, last: int) -> int:
        """Try these rows in turn; the last one that became a medoid, or -1."""
        swapped, swaps = swap_span(
            self.distances, self.medoids, self.taken, self.near, self.second, self.label,
            self.next_label, self.removal, self.loss, first, last,
        )  # fmt: skip
        if swaps:
            self.swaps += swaps
            self.loss = float(self.near.sum(dtype=np.float64))
        return swapped


# --- First medoids ---


def build(distances: np.ndarray, k: int, *, engine: Engine | None = None) -> np.ndarray:
    """k medoids, each the row that lowers the loss most; ties go to the lowest index.

    Examples
    --------
    >>> x = np.array([0.0, 1.0, 2.0, 10.0, 11.0, 12.0])
    >>> build(abs(x[:, None] - x), 2)
    array([2, 4])
    """
    engine = engine or Serial()
    n = len(distances)
    candidates = Table.from_array(distances, block_rows=max(1, CALL_WORK // max(1, n)))
    sums = np.concatenate(list(engine.map(row_sums, None, candidates)))
    chosen = [int(sums.argmin())]
    near = distances[chosen[0]].copy()
    while len(chosen) < k:
        gains = np.concatenate(list(engine.map(gains_of, near, candidates)))
        gains[chosen] = -1.0  # those that are left gain zero or more
        chosen.append(int(gains.argmax()))
        near = np.minimum(near, distances[chosen[-1]])
    return np.array(chosen)


def row_sums(_: Any, block: np.ndarray) -> np.ndarray:
    return block.sum(axis=1, dtype=np.float64)


def lab(distances: np.ndarray, k: int, rng: np.random.RandomState) -> np.ndarray:
    """k medoids, each the best of a sample of rows as that sample sees it: O(n k)."""
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


def random_medoids(n: int, k: int, rng: np.random.RandomState) -> np.ndarray:
    """k different rows."""
    return np.sort(rng.permutation(n)[:k])


# --- Kernels ---


@kernel
def gains_of(near, block):
    """What every row of the block would save the others, were it a medoid too."""
    out = np.empty(block.shape[0])
    for j in range(block.shape[0]):
        out[j] = saved(block[j], near)
    return out


# fastmath here and in look: the order of additions is left to the compiler, which makes them
# several times faster. The sums are float64, and NOISE stands above what the order can do.
@kernel(fastmath={"reassoc", "nsz"})
def saved(row, near):
    total = 0.0
    for o in range(row.shape[0]):
        gain = np.float64(near[o]) - row[o]
        total += gain if gain > 0 else 0.0
    return total


@kernel
def two_nearest(distances, medoids, near, second, label, next_label):
    for o in range(near.shape[0]):
        find_two(distances, medoids, o, near, second, label, next_label)


@kernel
def find_two(distances, medoids, o, near, second, label, next_label):
    """The two nearest medoids of row o, the lowest place first where they tie."""
    first, then = (0, 1) if distances[medoids[0], o] <= distances[medoids[1], o] else (1, 0)
    best, rest = distances[medoids[first], o], distances[medoids[then], o]
    for m in range(2, medoids.shape[0]):
        d = distances[medoids[m], o]
        if d < best:
            rest, then = best, first
            best, first = d, m
        elif d < rest:
            rest, then = d, m
    near[o], second[o], label[o], next_label[o] = best, rest, first, then


@kernel
def removal_losses(near, second, label, removal):
    """What the rows of each medoid would lose, were it gone and nobody came."""
    removal[:] = 0.0
    for o in range(near.shape[0]):
        removal[label[o]] += np.float64(second[o]) - near[o]


@kernel
def swap_span(
    distances, medoids, taken, near, second, label, next_label, removal, loss, start, stop
):
    """Try the rows from start to stop, two at a look: what is known of the others is then
    read once for both. The second look is thrown away where the first leads to a swap."""
    k = medoids.shape[0]
    sums = np.empty((4, k))  # two for each of the two candidates
    stripes = np.empty((2, STRIPE), distances.dtype)
    swapped, swaps = -1, 0
    j = next_free(taken, start, stop)
    while j < stop:
        then = next_free(taken, j + 1, stop)
        other = then if then < stop else j
        for m in range(k):
            sums[0, m] = sums[2, m] = removal[m]
            sums[1, m] = sums[3, m] = 0.0
        gains = look(distances[j], distances[other], near, second, label, sums, stripes)
        place, change = best_place(sums[0], sums[1])
        change += gains[0]
        if not change < -NOISE * loss:
            j, then = other, next_free(taken, other + 1, stop)
            place, change = best_place(sums[2], sums[3])
            change += gains[1]
        if change < -NOISE * loss:
            taken[medoids[place]] = False
            taken[j] = True
            medoids[place] = j
            loss += change
            swap_in(distances, medoids, place, near, second, label, next_label)
            removal_losses(near, second, label, removal)
            swapped, swaps = j, swaps + 1
            then = next_free(taken, j + 1, stop)
        j = then
    return swapped, swaps


@kernel
def next_free(taken, j, stop):
    while j < stop and taken[j]:
        j += 1
    return j


@kernel
def best_place(sums, more):
    """The medoid whose leaving costs least, and what it costs."""
    place, least = 0, np.inf
    for m in range(sums.shape[0]):
        change = sums[m] + more[m]
        if change < least:
            place, least = m, change
    return place, least


@kernel(fastmath={"reassoc", "nsz"})
def look(row, other, near, second, label, sums, stripes):
    """What the others save with a medoid at either row, whoever leaves; and into ``sums``
    what those that it would catch need not lose when their medoid leaves.

    Two loops: one for vectors, one that scatters. Stripes without a catch skip the second.
    """
    n = row.shape[0]
    none = row.dtype.type(0)
    stripe, other_stripe = stripes[0], stripes[1]
    sums_a, more_a, sums_b, more_b = sums[0], sums[1], sums[2], sums[3]
    shared = other_shared = 0.0
    for first in range(0, n, STRIPE):
        size = min(STRIPE, n - first)
        x, y = row[first : first + size], other[first : first + size]
        a, b = near[first : first + size], second[first : first + size]
        own = label[first : first + size]
        gain, other_gain, caught = 0.0, 0.0, 0
        for t in range(size):
            gain += x[t] - a[t] if x[t] < a[t] else none
            other_gain += y[t] - a[t] if y[t] < a[t] else none
            spared = max(x[t], a[t]) - b[t]
            stripe[t] = spared if spared < none else none
            spared = max(y[t], a[t]) - b[t]
            other_stripe[t] = spared if spared < none else none
            caught += 1 if x[t] < b[t] or y[t] < b[t] else 0
        if caught == 0:
            continue
        shared += gain
        other_shared += other_gain
        even = size - size % 2
        for t in range(0, even, 2):  # two sums each: an addition need not wait for the last
            m, o = own[t], own[t + 1]
            sums_a[m] += stripe[t]
            sums_b[m] += other_stripe[t]
            more_a[o] += stripe[t + 1]
            more_b[o] += other_stripe[t + 1]
        for t in range(even, size):
            sums_a[own[t]] += stripe[t]
            sums_b[own[t]] += other_stripe[t]
    return shared, other_shared


@kernel
def swap_in(distances, medoids, place, near, second, label, next_label):
    """Bring nearest and second nearest up to date after the medoid at ``place`` changed."""
    row = distances[medoids[place]]
    for o in range(near.shape[0]):
        d = row[o]
        if label[o] == place:
            if d <= second[o]:
                near[o] = d
            else:
                find_two(distances, medoids, o, near, second, label, next_label)
        elif d < near[o]:
            second[o], next_label[o] = near[o], label[o]
            near[o], label[o] = d, place
        elif next_label[o] == place and d > second[o]:
            find_two(distances, medoids, o, near, second, label, next_label)
        elif d < second[o] or next_label[o] == place:
            second[o], next_label[o] = d, place
