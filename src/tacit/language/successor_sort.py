"""From the n-grams of one length to those one word longer, for ``ngram_counts``.

Positions sorted by the n-gram that ends there have what follows it grouped already, so a sort
inside the groups is enough. Stretches of groups go to the workers of an engine: each sorts and
counts its own in a first pass; when all are done the numbers of its n-grams are known, and a
second pass puts everything in its place. Nothing depends on how many workers there are.
"""

from collections import deque
from typing import Any, NamedTuple

import numpy as np

from tacit.core.engines import Engine, Serial, get_engine, shares_memory
from tacit.core.kernel import kernel
from tacit.language.sentences import START

__all__ = ["Task", "sort_successors"]

U = np.uint64
STRETCH = 1 << 19  # positions to a kernel call, about


class Stretch(NamedTuple):
    """The groups from ``first`` to ``stop``, whose positions begin at ``at``."""

    first: int
    stop: int
    at: int
    n: int = 0  # how many n-grams were found there
    before: int = 0  # and in all stretches before

    def load(self) -> "Stretch":
        return self


class Room(NamedTuple):
    """What is found, every stretch from its first position on."""

    words: np.ndarray
    histories: np.ndarray
    lower: np.ndarray
    counts: np.ndarray
    following: np.ndarray  # positions, sorted by the longer n-gram; none at the last level


class Task(NamedTuple):
    """What all stretches read."""

    sizes: np.ndarray  # of the groups
    order: np.ndarray  # positions sorted by n-gram
    place: np.ndarray  # the number of the n-gram that ends at each position
    text: Any  # Positions
    markers: bool


def sort_successors(
    task: Task, engine: str | Engine, *, last: bool
) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    """Words, histories, lower n-grams and counts of the longer n-grams; and, unless this is the
    last level, the positions sorted by them and the number of the one that ends at each."""
    chosen = get_engine(engine)
    chosen = chosen if shares_memory(chosen) else Serial()  # all write into the same arrays
    size = len(task.order)
    room = Room(*(np.empty(0 if last and i == 4 else size, np.int32) for i in range(5)))
    stretches = cut(task.sizes)
    found = list(chosen.map(sort_stretch, (task, room), stretches))
    before = np.cumsum([0, *(n for n, _ in found)])
    stretches = [
        stretch._replace(n=n, before=int(start))
        for stretch, (n, _), start in zip(stretches, found, before, strict=False)
    ]
    place = np.empty(0, np.int32)
    if not last:
        place = np.full(len(task.place), -1, np.int32)
        deque(chosen.map(number_stretch, (room, place), stretches), maxlen=0)
    starts = [stretch.at for stretch in stretches]
    columns = [closed_up(column, starts, [n for n, _ in found]) for column in room[:4]]
    kept = [more for _, more in found]
    return columns, place if last else closed_up(room.following, starts, kept), place


def cut(sizes: np.ndarray) -> list[Stretch]:
    """Groups in stretches of about as many positions."""
    ends = np.cumsum(sizes, dtype=np.int64)
    first = at = 0
    found = []
    while first < len(ends):
        stop = max(first + 1, int(np.searchsorted(ends, at + STRETCH)))
        found.append(Stretch(first, stop, at))
        at, first = int(ends[stop - 1]), stop
    return found


def sort_stretch(shared: tuple[Task, Room], stretch: Stretch) -> tuple[int, int]:
    """How many n-grams begin with these groups, and at how many positions."""
    (sizes, order, place, text, markers), room = shared
    first, stop, at, _, _ = stretch
    most = int(sizes[first:stop].max(initial=0))
    spare = np.empty(most, np.uint64), np.empty(most, np.uint64)
    return sort_groups(order, sizes, first, stop, at, markers, *text, place, *spare, *room)


def number_stretch(shared: tuple[Room, np.ndarray], stretch: Stretch) -> None:
    room, place = shared
    number_places(room.counts, room.following, stretch.at, stretch.n, stretch.before, place)


def closed_up(array: np.ndarray, starts: list[int], sizes: list[int]) -> np.ndarray:
    """Stretches moved together, in the array itself unless most of it is not needed."""
    total = sum(sizes)
    out = array if 2 * total >= len(array) else np.empty(total, array.dtype)
    at = 0
    for start, size in zip(starts, sizes, strict=True):
        out[at : at + size] = array[start : start + size]
        at += size
    return out[:total]


# --- Kernels ---


@kernel
def sort_groups(
    order, group_sizes, first, stop, at, markers, ids, before, place, room, spare,
    words, histories, lower, counts, following,
):  # fmt: skip
    """What ``sort_stretch`` says; writes from ``at`` on."""
    start, n, kept = at, at, at
    for h in range(first, stop):
        end = at + group_sizes[h]
        q = 0
        for i in range(at, end):
            t = order[i] + 1
            if t >= len(ids):
                continue
            w = ids[t]
            # The (k-1)-gram goes on unless a sentence begins; a start token says so without
            # a look at another array, which would be a miss of the cache.
            if w != START if markers else before[t] > 0:
                room[q] = (U(w) << U(32)) | U(t)
                q += 1
        at = end
        if q == 0:
            continue
        source = room
        if q <= 40:
            for i in range(1, q):
                x, j = room[i], i - 1
                while j >= 0 and room[j] > x:
                    room[j + 1] = room[j]
                    j -= 1
                room[j + 1] = x
        elif q < 2000:
            room[:q].sort()
        elif radix_sort(room, spare, q):
            source = spare
        last_word = U(0xFFFFFFFF)
        for i in range(q):
            x = source[i]
            word, t = x >> U(32), np.int64(x & U(0xFFFFFFFF))
            if word != last_word:
                words[n], histories[n], lower[n], counts[n] = word, h, place[t], 0
                last_word = word
                n += 1
            counts[n - 1] += 1
            if following.shape[0]:
                following[kept] = t
                kept += 1
    return n - start, kept - start


@kernel
def number_places(counts, following, at, n, before, place):
    """Write at every position the number of the n-gram that ends there."""
    p = at
    for i in range(n):
        for _ in range(counts[at + i]):
            place[following[p]] = before + i
            p += 1


@kernel
def radix_sort(values, other, m):
    """Radix sort by the bits from 32 on. Says whether the result is in ``other``."""
    most = U(0)
    for i in range(m):
        most |= values[i]
    source, target, swapped = values, other, False
    shift = U(32)
    ends = np.empty(257, np.int64)
    while shift < U(64) and most >> shift:
        ends[:] = 0
        for i in range(m):
            ends[np.int64((source[i] >> shift) & U(255)) + 1] += 1
        for b in range(256):
            ends[b + 1] += ends[b]
        for i in range(m):
            byte = np.int64((source[i] >> shift) & U(255))
            target[ends[byte]] = source[i]
            ends[byte] += 1
        source, target = target, source
        swapped = not swapped
        shift += U(8)
    return swapped
