"""Hash tables that turn byte strings and pairs of numbers into ids, and MurmurHash3.

Ids are numbered from 0 in order of first appearance, so they depend on the input alone. Hashes
are keyed with a random number drawn once per process, so that no document can be written to
collide in one slot; no result depends on the key.

A slot of the string table is a row of four uint64, half a cache line:

    0   the first 8 bytes, little-endian, padded with zeros
    1   the next 8
    2   offset of the string in the buffer << 32 | its length
    3   id + 1; 0 marks a free slot

Most words have up to 16 bytes, and are compared by the slot alone.
"""

import secrets
from typing import NamedTuple

import numpy as np

from tacit.core.engines import check_stop
from tacit.core.kernel import kernel

__all__ = ["Interner", "PairInterner", "Pairs", "Slices", "hash_strings", "padded"]

KEY = np.uint64(secrets.randbits(64))
U = np.uint64
ALL = U(0xFFFFFFFFFFFFFFFF)
LOW = U(0xFFFFFFFF)
SPAN = 1 << 20  # strings interned between two returns to Python: well under 200 ms
FIRST_SLOTS = 1 << 10


class Slices(NamedTuple):
    """Distinct strings as slices of a buffer, in order of their ids."""

    begin: np.ndarray  # int64
    length: np.ndarray  # int64


class Pairs(NamedTuple):
    """Distinct pairs, in order of their ids."""

    left: np.ndarray  # int64
    right: np.ndarray  # int64


def padded(size: int) -> np.ndarray:
    """A byte buffer that kernels may read eight bytes at a time, up to its end."""
    buffer = np.empty((size + 31) // 8 * 8, np.uint8)
    buffer[size:] = 0
    return buffer


class Interner:
    """Gives every distinct slice of a buffer an id.

    >>> text = padded(12)
    >>> text[:12] = np.frombuffer(b"to be not to", np.uint8)
    >>> table = Interner(text)
    >>> table.ids(np.array([0, 3, 6, 10], np.int32), np.array([2, 5, 9, 12], np.int32))
    array([0, 1, 2, 0], dtype=int32)
    >>> table.slices().begin
    array([0, 3, 6])
    """

    def __init__(self, buffer: np.ndarray) -> None:
        self.buffer = buffer  # from padded()
        self.words = buffer.view(np.uint64)
        self.table = np.zeros((FIRST_SLOTS, 4), np.uint64)
        self.begin = np.empty(FIRST_SLOTS // 2, np.int64)  # of the distinct strings
        self.length = np.empty(FIRST_SLOTS // 2, np.int64)
        self.used = 0

    def ids(self, begin: np.ndarray, end: np.ndarray) -> np.ndarray:
        """The ids of the strings between ``begin`` and ``end`` (int32 arrays)."""
        out = np.empty(len(begin), np.int32)
        at = 0
        while at < len(begin):
            check_stop()
            stop = min(len(begin), at + SPAN)
            at, self.used = intern_slices(
                (self.buffer, self.words), (begin, end), at, stop, KEY, self.table, self.used,
                (self.begin, self.length), out,
            )  # fmt: skip
            if 2 * self.used >= len(self.table):
                self.table = rehash_slices(self.table, self.buffer, KEY)
                self.begin = np.resize(self.begin, len(self.table) // 2)
                self.length = np.resize(self.length, len(self.table) // 2)
        return out

    def slices(self) -> Slices:
        """The distinct strings seen so far."""
        return Slices(self.begin[: self.used], self.length[: self.used])


class PairInterner:
    """Gives every distinct pair of numbers below 2^31 an id.

    >>> PairInterner().ids(np.array([4, 4, 7]), np.array([2, 3, 2]))
    array([0, 1, 2], dtype=int32)
    """

    def __init__(self) -> None:
        self.table = np.zeros((FIRST_SLOTS, 2), np.uint64)
        self.used = 0

    def ids(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """The ids of the pairs."""
        out = np.empty(len(left), np.int32)
        at = 0
        while at < len(left):
            check_stop()
            stop = min(len(left), at + SPAN)
            at, self.used = intern_pairs(left, right, at, stop, KEY, self.table, self.used, out)
            if 2 * self.used >= len(self.table):
                self.table = rehash_pairs(self.table, KEY)
        return out

    def pairs(self) -> Pairs:
        """The distinct pairs seen so far."""
        return Pairs(*list_pairs(self.table, self.used))


def hash_strings(data: np.ndarray, offsets: np.ndarray, seed: int = 0) -> np.ndarray:
    """MurmurHash3 (x86, 32 bits) of each string, signed as scikit-learn has it.

    >>> raw = np.frombuffer(b"appletree", np.uint8)
    >>> hash_strings(raw, np.array([0, 5, 9]))
    array([1880549520,  696559717], dtype=int32)
    """
    return murmur3(data, offsets, np.uint32(seed)).view(np.int32)


# --- Kernels ---


@kernel(inline="always")
def load8(words, at):
    """Eight bytes from any place, by two aligned loads."""
    i, shift = at >> U(3), (at & U(7)) << U(3)
    return (words[i] >> shift) | ((words[i + U(1)] << U(1)) << (U(63) - shift))


@kernel(inline="always")
def low_bytes(n):
    """A mask of up to eight bytes; in two steps, as a shift by 64 bits is none."""
    half = n << U(2)
    return ((U(1) << half) << half) - U(1)


@kernel(inline="always")
def mix(h):
    h *= U(0xD6E8FEB86659FD93)
    return h ^ (h >> U(32))


@kernel(inline="always")
def slot_of(first, second, tail, length, key):
    return mix(mix(mix(first ^ key) ^ second) ^ tail ^ length)


@kernel
def hash_tail(buffer, begin, end, key):
    """The hash of the bytes after the first 16."""
    h = key
    for q in range(begin, end):
        h = (h ^ U(buffer[q])) * U(0x100000001B3)
    return mix(h)


@kernel
def same_tail(buffer, one, other, length):
    q = U(16)
    while q < length and buffer[one + q] == buffer[other + q]:
        q += U(1)
    return q == length


@kernel
def intern_slices(text, slices, at, stop, key, table, used, known, out):
    """Ids of the slices from ``at`` on; returns early when the table is half full."""
    (buffer, words), (begin, end), (begins, lengths) = text, slices, known
    mask, half = U(len(table) - 1), len(table) // 2
    while at < stop and used < half:
        b = U(begin[U(at)])
        length = U(end[U(at)]) - b
        # Lengths are hard to predict: 16 bytes without a branch, longer strings are rare.
        first = load8(words, b) & low_bytes(min(length, U(8)))
        second = load8(words, b + U(8)) & low_bytes(min(max(length, U(8)) - U(8), U(8)))
        tail = hash_tail(buffer, b + U(16), b + length, key) if length > U(16) else U(0)
        p = slot_of(first, second, tail, length, key) & mask
        while True:
            row = table[p]
            if row[3] == U(0):
                begins[used], lengths[used] = b, length
                used += 1
                row[0], row[1], row[2], row[3] = first, second, (b << U(32)) | length, U(used)
                out[at] = used - 1
                break
            # Longer strings are compared in the buffer.
            if (
                row[0] == first
                and row[1] == second
                and (row[2] & LOW) == length
                and (length <= U(16) or same_tail(buffer, row[2] >> U(32), b, length))
            ):
                out[at] = np.int64(row[3]) - 1
                break
            p = (p + U(1)) & mask
        at += 1
    return at, used


@kernel
def rehash_slices(old, buffer, key):
    new = np.zeros((4 * len(old), 4), np.uint64)
    mask = U(len(new) - 1)
    for j in range(len(old)):
        row = old[j]
        if row[3] == U(0):
            continue
        begin, length = row[2] >> U(32), row[2] & LOW
        tail = hash_tail(buffer, begin + U(16), begin + length, key) if length > U(16) else U(0)
        p = slot_of(row[0], row[1], tail, length, key) & mask
        while new[p, 3] != U(0):
            p = (p + U(1)) & mask
        for c in range(len(row)):
            new[p, c] = row[c]
    return new


@kernel
def intern_pairs(left, right, at, stop, key, table, used, out):
    """As ``intern_slices``; a row is the packed pair and its id + 1."""
    mask, half = U(len(table) - 1), len(table) // 2
    while at < stop and used < half:
        pair = (U(left[at]) << U(32)) | U(right[at])
        p = mix(mix(pair ^ key)) & mask
        while True:
            row = table[p]
            if row[1] == U(0):
                used += 1
                row[0], row[1] = pair, U(used)
                out[at] = used - 1
                break
            if row[0] == pair:
                out[at] = np.int64(row[1]) - 1
                break
            p = (p + U(1)) & mask
        at += 1
    return at, used


@kernel
def rehash_pairs(old, key):
    new = np.zeros((4 * len(old), 2), np.uint64)
    mask = U(len(new) - 1)
    for j in range(len(old)):
        row = old[j]
        if row[1] != U(0):
            p = mix(mix(row[0] ^ key)) & mask
            while new[p, 1] != U(0):
                p = (p + U(1)) & mask
            for c in range(len(row)):
                new[p, c] = row[c]
    return new


@kernel
def list_pairs(table, used):
    left, right = np.empty(used, np.int64), np.empty(used, np.int64)
    for j in range(len(table)):
        row = table[j]
        if row[1] != U(0):
            i = row[1] - U(1)
            left[i], right[i] = row[0] >> U(32), row[0] & LOW
    return left, right


@kernel(inline="always")
def scramble(k):
    k = np.uint32(k * np.uint32(0xCC9E2D51))
    k = np.uint32((k << np.uint32(15)) | (k >> np.uint32(17)))
    return np.uint32(k * np.uint32(0x1B873593))


@kernel
def murmur3(data, offsets, seed):
    """Austin Appleby's MurmurHash3_x86_32 of each string."""
    out = np.empty(len(offsets) - 1, np.uint32)
    for i in range(len(out)):
        raw = data[offsets[i] : offsets[i + 1]]
        n, h = len(raw), seed
        full = n - n % 4
        for j in range(0, full, 4):
            k = np.uint32(raw[j]) | np.uint32(raw[j + 1]) << np.uint32(8)
            k |= np.uint32(raw[j + 2]) << np.uint32(16) | np.uint32(raw[j + 3]) << np.uint32(24)
            h = np.uint32(h ^ scramble(np.uint32(k)))
            h = np.uint32((h << np.uint32(13)) | (h >> np.uint32(19)))
            h = np.uint32(h * np.uint32(5) + np.uint32(0xE6546B64))
        k = np.uint32(0)
        for j in range(n - 1, full - 1, -1):
            k = np.uint32((k << np.uint32(8)) | np.uint32(raw[j]))
        if n > full:
            h = np.uint32(h ^ scramble(k))
        h = np.uint32(h ^ np.uint32(n))
        h = np.uint32((h ^ (h >> np.uint32(16))) * np.uint32(0x85EBCA6B))
        h = np.uint32((h ^ (h >> np.uint32(13))) * np.uint32(0xC2B2AE35))
        out[i] = h ^ (h >> np.uint32(16))
    return out
