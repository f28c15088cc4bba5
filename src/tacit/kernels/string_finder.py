"""Lookup of strings among many known ones, by a hash table.

A slot is two uint64: the key of a string, and its number plus one. The key of a string of up
to seven bytes is its bytes and its length, so that no second comparison is needed; that of a
longer one is its hash, and then the bytes are compared. Strings are looked up in batches, all
hashes before all slots, so that one cache miss does not delay the next.
"""

from typing import NamedTuple

import numpy as np

from tacit.core.kernel import kernel
from tacit.kernels.hashing import KEY, load8, mix, padded

__all__ = ["Finder", "find_strings", "make_finder"]

U = np.uint64
LONG = U(1) << U(63)  # set in the keys of longer strings
BATCH = 128  # strings looked up together
SPAN = 1 << 20  # strings between two returns to Python


class Finder(NamedTuple):
    """Known strings and their hash table."""

    slots: np.ndarray  # (a power of two, 2) uint64, at most half of them taken
    buffer: np.ndarray  # from ``padded``: the strings one after the other
    offsets: np.ndarray  # int64, (n + 1,)
    key: np.uint64  # of this process, so that no text can be written to fall into one slot


def make_finder(data: np.ndarray, offsets: np.ndarray) -> Finder:
    """A finder of distinct strings: their bytes, and where each begins.

    >>> finder = make_finder(np.frombuffer(b"seaship", np.uint8), np.array([0, 3, 7]))
    >>> text = padded(9)
    >>> text[:9] = np.frombuffer(b"ship boat", np.uint8)
    >>> find_strings(finder, text, np.array([0, 5], np.int32), np.array([4, 9], np.int32))
    array([ 1, -1], dtype=int32)
    """
    buffer = padded(len(data))
    buffer[: len(data)] = data
    n = len(offsets) - 1
    slots = np.zeros((1 << max(3, (2 * n).bit_length()), 2), np.uint64)
    words = buffer.view(np.uint64)
    for first in range(0, n, SPAN):
        fill_slots(words, offsets, first, min(n, first + SPAN), KEY, slots)
    return Finder(slots, buffer, offsets, KEY)


def find_strings(
    finder: Finder, buffer: np.ndarray, begin: np.ndarray, end: np.ndarray
) -> np.ndarray:
    """The number of each slice of a buffer from ``padded`` among the known strings, or -1."""
    out = np.empty(len(begin), np.int32)
    known, words = finder.buffer.view(np.uint64), buffer.view(np.uint64)
    for first in range(0, len(begin), SPAN):
        part = slice(first, first + SPAN)
        find_slices(
            words, begin[part], end[part], finder.key, finder.slots, known, finder.offsets,
            out[part],
        )  # fmt: skip
    return out


# --- Kernels ---


@kernel(inline="always")
def mark_of(words, at, length, key):
    """The key of a string."""
    left, h = length, key
    while left >= U(8):
        h = mix(h ^ load8(words, at))
        at, left = at + U(8), left - U(8)
    tail = (load8(words, at) & ((U(1) << (left << U(3))) - U(1))) ^ (left << U(56))
    return tail if length < U(8) else mix(h ^ tail) | LONG


@kernel
def fill_slots(words, offsets, first, last, key, slots):
    mask = U(len(slots) - 1)
    for i in range(first, last):
        mark = mark_of(words, U(offsets[i]), U(offsets[i + 1] - offsets[i]), key)
        p = mix(mark ^ key) & mask
        while slots[p, 1] != U(0):
            p = (p + U(1)) & mask
        slots[p, 0], slots[p, 1] = mark, U(i + 1)


@kernel
def find_slices(words, begin, end, key, slots, known, offsets, out):
    mask = U(len(slots) - 1)
    marks, places = np.empty(BATCH, np.uint64), np.empty(BATCH, np.uint64)
    for first in range(0, len(begin), BATCH):
        m = min(BATCH, len(begin) - first)
        for i in range(m):
            start = U(begin[first + i])
            marks[i] = mark_of(words, start, U(end[first + i]) - start, key)
            places[i] = mix(marks[i] ^ key) & mask
        for i in range(m):
            mark, p, number = marks[i], places[i], U(0)
            while True:
                number = slots[p, 1]
                if number == U(0) or (
                    slots[p, 0] == mark
                    and (
                        mark < LONG
                        or same_bytes(
                            words, U(begin[first + i]), U(end[first + i]), known,
                            U(offsets[number - U(1)]), U(offsets[number]),
                        )
                    )
                ):  # fmt: skip
                    break
                p = (p + U(1)) & mask
            out[first + i] = np.int64(number) - 1


@kernel
def same_bytes(words, start, stop, known, base, top):
    """Whether a slice of eight bytes or more is the same as a known string."""
    length = stop - start
    if top - base != length:
        return False
    q, last = U(0), length - U(8)
    while q < last:
        if load8(words, start + q) != load8(known, base + q):
            return False
        q += U(8)
    return load8(words, start + last) == load8(known, base + last)
