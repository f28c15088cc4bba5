"""Looks strings up among many known ones, by a hash table of four bytes to a slot.

A slot holds the number of a string plus one; whether it is the one asked for, its bytes say.
Words of a text are mostly few and frequent, so those bytes are in the cache.
"""

from typing import NamedTuple

import numpy as np

from tacit.core.kernel import kernel
from tacit.kernels.hashing import KEY, load8, mix, padded

__all__ = ["Finder", "find_strings", "make_finder"]

U = np.uint64
SPAN = 1 << 20  # strings between two returns to Python


class Finder(NamedTuple):
    """Known strings, and where to look for them."""

    slots: np.ndarray  # uint32, a power of two of them, at most half of them taken
    buffer: np.ndarray  # from ``padded``: the strings one after the other
    offsets: np.ndarray  # int64, (n + 1,)
    key: np.uint64  # of this process, so that no text can be written to fall into one slot


def make_finder(data: np.ndarray, offsets: np.ndarray) -> Finder:
    """A finder of distinct strings, given as bytes and where each begins.

    >>> finder = make_finder(np.frombuffer(b"seaship", np.uint8), np.array([0, 3, 7]))
    >>> text = padded(9)
    >>> text[:9] = np.frombuffer(b"ship boat", np.uint8)
    >>> find_strings(finder, text, np.array([0, 5], np.int32), np.array([4, 9], np.int32))
    array([ 1, -1], dtype=int32)
    """
    buffer = padded(len(data))
    buffer[: len(data)] = data
    n = len(offsets) - 1
    slots = np.zeros(1 << max(3, (2 * n).bit_length()), np.uint32)
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


@kernel
def fill_slots(words, offsets, first, last, key, slots):
    mask = U(len(slots) - 1)
    for i in range(first, last):
        at, left, h = U(offsets[i]), U(offsets[i + 1] - offsets[i]), key
        while left >= U(8):
            h = mix(h ^ load8(words, at))
            at, left = at + U(8), left - U(8)
        h = mix(h ^ (load8(words, at) & ((U(1) << (left << U(3))) - U(1))) ^ (left << U(56)))
        p = h & mask
        while slots[p] != 0:
            p = (p + U(1)) & mask
        slots[p] = i + 1


@kernel
def find_slices(words, begin, end, key, slots, known, offsets, out):
    mask = U(len(slots) - 1)
    for i in range(len(begin)):
        start = U(begin[i])
        length = U(end[i]) - start
        at, left, h = start, length, key
        while left >= U(8):
            h = mix(h ^ load8(words, at))
            at, left = at + U(8), left - U(8)
        rest = (U(1) << (left << U(3))) - U(1)
        h = mix(h ^ (load8(words, at) & rest) ^ (left << U(56)))
        p = h & mask
        out[i] = -1
        while slots[p] != 0:
            found = np.int64(slots[p]) - 1
            base = U(offsets[found])
            if U(offsets[found + 1]) - base == length:
                q, last = U(0), length - left
                while q < last and load8(words, start + q) == load8(known, base + q):
                    q += U(8)
                if q == last and not (load8(words, start + q) ^ load8(known, base + q)) & rest:
                    out[i] = found
                    break
            p = (p + U(1)) & mask
