"""Distinct keys in ascending order and their counts, which add up.

    KeyCounts.of    sort keys and count the equal ones
    +               merge keys that are counted already

A key is a uint64, such as the ids of a history and a word packed into its halves. Counts are
integers, so the result does not depend on how the work was divided.

Keys alone are sorted by NumPy, which uses SIMD. Counts that travel with their keys are sorted
by radix, the last byte first, over the bytes that vary: on 5 million keys twice as fast as
NumPy's argsort.

Knuth (1998), The Art of Computer Programming 3, sections 5.2.4 and 5.2.5.
"""

from dataclasses import dataclass
from itertools import cycle
from typing import Any

import numpy as np

from tacit.core.kernel import kernel
from tacit.core.stats import Stats

__all__ = ["KeyCounts"]

U = np.uint64


@dataclass(frozen=True, eq=False)
class KeyCounts(Stats):
    """Distinct keys in ascending order, and how often each was seen.

    Examples
    --------
    >>> counts = KeyCounts.of([7, 3, 7, 9]) + KeyCounts.of([3, 7])
    >>> counts.keys, counts.counts
    (array([3, 7, 9], dtype=uint64), array([2, 3, 1]))
    """

    keys: np.ndarray  # (n,) uint64
    counts: np.ndarray  # (n,) int64

    @classmethod
    def of(cls, keys: Any, counts: Any = None) -> "KeyCounts":
        """Sort keys in any order, and add up the counts of equal ones; by default, ones."""
        keys = np.asarray(keys, np.uint64)
        if counts is None:
            keys = np.sort(keys)
        else:
            keys, counts = sort_by_key(keys, np.asarray(counts, np.int64))
        first = np.flatnonzero(np.concatenate([keys[:1] >= 0, keys[1:] != keys[:-1]]))
        if counts is None:
            return cls(keys[first], np.diff(first, append=len(keys)))
        most = np.iinfo(np.int64).max
        may_wrap = counts.max(initial=0) > most // max(1, len(counts))
        if may_wrap and np.add.reduceat(counts.astype(object), first).max() > most:
            raise OverflowError("A sum of counts passed 2**63 - 1, the most int64 can hold.")
        return cls(keys[first], np.add.reduceat(counts, first) if len(first) else counts)

    def __len__(self) -> int:
        return len(self.keys)

    def __add__(self, other: "KeyCounts") -> "KeyCounts":
        keys = np.empty(len(self) + len(other), np.uint64)
        counts = np.empty(len(keys), np.int64)
        n = merge(self.keys, self.counts, other.keys, other.counts, keys, counts)
        if counts[:n].min(initial=0) < 0:
            raise OverflowError("A sum of counts passed 2**63 - 1, the most int64 can hold.")
        return KeyCounts(keys[:n].copy(), counts[:n].copy())


def sort_by_key(keys: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Keys in ascending order, and the counts that belong to them."""
    if not len(keys):
        return keys, counts
    differing = int(np.bitwise_or.reduce(keys) ^ np.bitwise_and.reduce(keys))
    varying = [byte for byte in range(8) if (differing >> 8 * byte) & 255]
    buffers = [(np.empty_like(keys), np.empty_like(counts)) for _ in varying[:2]]
    for byte, (out_keys, out_counts) in zip(varying, cycle(buffers), strict=False):
        move_by_byte(keys, counts, out_keys, out_counts, byte)
        keys, counts = out_keys, out_counts
    return keys, counts


@kernel
def move_by_byte(keys, counts, out_keys, out_counts, byte):
    """One pass of the radix sort: stable, by one byte."""
    shift = U(8 * byte)
    place = np.zeros(257, np.uint64)
    for i in range(len(keys)):
        place[((keys[i] >> shift) & U(255)) + U(1)] += U(1)
    for value in range(256):
        place[value + 1] += place[value]
    for i in range(len(keys)):
        value = (keys[i] >> shift) & U(255)
        n = place[value]
        place[value] = n + U(1)
        out_keys[n], out_counts[n] = keys[i], counts[i]


@kernel
def merge(a, a_counts, b, b_counts, keys, counts):
    """Merge distinct sorted keys; returns how many there are."""
    i, j, n = U(0), U(0), U(0)
    a_end, b_end = U(len(a)), U(len(b))
    while i < a_end and j < b_end:
        # No branch on which side is next: it could not be predicted.
        first, second = a[i] <= b[j], b[j] <= a[i]
        keys[n] = a[i] if first else b[j]
        counts[n] = a_counts[i] * first + b_counts[j] * second
        i += U(first)
        j += U(second)
        n += U(1)
    for t in range(i, a_end):
        keys[n], counts[n] = a[t], a_counts[t]
        n += U(1)
    for t in range(j, b_end):
        keys[n], counts[n] = b[t], b_counts[t]
        n += U(1)
    return np.int64(n)
