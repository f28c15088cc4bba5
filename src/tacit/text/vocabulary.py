"""Sorted distinct strings as UTF-8 and offsets, to be merged and looked up in each other.

A vocabulary is sorted by its bytes, which is the order of its characters; so it depends on the
strings alone. The first eight bytes of each string are stored as a number: nearly every
comparison ends there.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tacit.core.kernel import kernel
from tacit.core.string_array import StringArray, offsets_of
from tacit.data.text_block import LARGEST
from tacit.kernels.hashing import Slices

__all__ = ["Vocabulary", "check_vocabulary", "has_capital", "unite"]

U = np.uint64


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Sorted distinct strings.

    >>> words = Vocabulary.of(["whale", "sea", "ship", "sea"])
    >>> list(words), len(words)
    (['sea', 'ship', 'whale'], 3)
    >>> words.find(Vocabulary.of(["boat", "ship"]))
    array([-1,  1], dtype=int32)
    """

    data: np.ndarray  # uint8, the strings one after the other
    offsets: np.ndarray  # int64, (n + 1,)
    keys: np.ndarray  # uint64, the first eight bytes, big-endian

    @classmethod
    def of(cls, strings: Sequence[str]) -> "Vocabulary":
        """The distinct strings of a sequence, sorted."""
        # The order of UTF-8 bytes is the order of code points, which is Python's.
        return cls.of_sorted(sorted(set(strings)))

    @classmethod
    def of_sorted(cls, strings: Sequence[str]) -> "Vocabulary":
        """Strings that are sorted and distinct already."""
        data, offsets = StringArray.of(strings)
        # Writable, as vocabularies of slices are, so that kernels compile once.
        return cls.of_bytes(data.copy(), offsets)

    @classmethod
    def of_bytes(cls, data: np.ndarray, offsets: np.ndarray) -> "Vocabulary":
        """UTF-8 and offsets of strings that are sorted and distinct already."""
        return cls(data, offsets, leading_bytes(data, offsets[:-1], np.diff(offsets)))

    @classmethod
    def of_slices(cls, buffer: np.ndarray, slices: Slices) -> tuple["Vocabulary", np.ndarray]:
        """Distinct slices of a buffer, sorted; and the place that each of them got."""
        keys = leading_bytes(buffer, slices.begin, slices.length)
        order = np.argsort(keys)
        sort_ties(buffer, slices.begin, slices.length, keys, order)
        offsets = offsets_of(slices.length[order])
        data = gather(buffer, slices.begin[order], offsets)
        rank = np.empty(len(order), np.int32)
        rank[order] = np.arange(len(order), dtype=np.int32)
        return cls(data, offsets, keys[order]), rank

    def __len__(self) -> int:
        return len(self.keys)

    def __getitem__(self, i: int) -> str:
        return self.data[self.offsets[i] : self.offsets[i + 1]].tobytes().decode("utf-8")

    def __iter__(self) -> Iterator[str]:
        return iter(self.strings)

    def __reduce__(self):
        return type(self), (self.data, self.offsets, self.keys)

    @cached_property
    def strings(self) -> list[str]:
        """The strings as a list."""
        import pyarrow as pa

        edges, data = pa.py_buffer(self.offsets), pa.py_buffer(self.data)
        return pa.LargeStringArray.from_buffers(len(self), edges, data).to_pylist()

    def numbered(self) -> dict[str, int]:
        """The place of every string."""
        return dict(zip(self.strings, range(len(self)), strict=True))

    def take(self, keep: np.ndarray) -> "Vocabulary":
        """The strings at sorted places, or where a mask is True."""
        places = np.flatnonzero(keep) if keep.dtype == np.bool_ else keep
        begin = self.offsets[places]
        offsets = offsets_of(self.offsets[places + 1] - begin)
        return Vocabulary(gather(self.data, begin, offsets), offsets, self.keys[places])

    def find(self, other: "Vocabulary") -> np.ndarray:
        """Where the strings of another vocabulary are in this one; -1 where they are not."""
        first = np.searchsorted(self.keys, other.keys)
        return find_from(
            first, self.data, self.offsets, self.keys, other.data, other.offsets, other.keys
        )

    def marked(self, other: "Vocabulary") -> np.ndarray:
        """A mask of the strings that are in another vocabulary."""
        mask, places = np.zeros(len(self), np.bool_), self.find(other)
        mask[places[places >= 0]] = True
        return mask


def unite(parts: Sequence[Vocabulary]) -> tuple[Vocabulary, list[np.ndarray]]:
    """The strings of all, and the index of each part's strings among them, int32.

    >>> vocabulary, places = unite([Vocabulary.of(["b", "d"]), Vocabulary.of(["a", "b"])])
    >>> list(vocabulary), places
    (['a', 'b', 'd'], [array([1, 2], dtype=int32), array([0, 1], dtype=int32)])
    """
    if not parts:
        return Vocabulary.of([]), []
    check_size(sum(len(part.data) for part in parts))
    data = np.concatenate([part.data for part in parts])
    length = np.concatenate([np.diff(part.offsets) for part in parts])
    begin = np.cumsum(length) - length
    keys = np.concatenate([part.keys for part in parts])
    order = np.argsort(keys, kind="stable")  # quick on sorted runs
    sort_ties(data, begin, length, keys, order)
    place, first = number_distinct(data, begin, length, keys, order)
    offsets = offsets_of(length[first])
    vocabulary = Vocabulary(gather(data, begin[first], offsets), offsets, keys[first])
    edges = np.cumsum([len(part) for part in parts])[:-1]
    return vocabulary, np.split(place, edges)


def check_size(size: int) -> None:
    """ValueError for terms of more bytes than one vocabulary may have."""
    if size > LARGEST:
        raise ValueError(
            f"The terms come to {size:,} bytes, more than the {LARGEST:,} that one "
            "vocabulary may have. Raise min_df, use shorter n-grams, or HashingVectorizer."
        )


def check_vocabulary(vocabulary: Any) -> dict[str, int] | None:
    """The ``vocabulary`` parameter as a mapping from term to column."""
    if vocabulary is None:
        return None
    if isinstance(vocabulary, str | bytes) or not isinstance(vocabulary, Iterable):
        raise ValueError(
            f"vocabulary={vocabulary!r} holds no terms. Give a list of terms, or a mapping "
            "from terms to columns."
        )
    if isinstance(vocabulary, Mapping):
        columns = {term: int(column) for term, column in vocabulary.items()}
        taken = set(columns.values())
        if len(taken) != len(columns):
            raise ValueError("Vocabulary contains repeated indices. Give each term its own.")
        absent = next((i for i in range(len(columns)) if i not in taken), None)
        if absent is not None:
            raise ValueError(
                f"Vocabulary of size {len(columns)} doesn't contain index {absent}. "
                "Number the terms from 0 without gaps."
            )
    else:
        terms = sorted(vocabulary) if isinstance(vocabulary, set | frozenset) else vocabulary
        columns = {}
        for i, term in enumerate(terms):
            if columns.setdefault(term, i) != i:
                raise ValueError(f"Duplicate term in vocabulary: {term!r}. Give it once.")
    if not columns:
        raise ValueError("empty vocabulary passed to fit. Give at least one term, or None.")
    for term in columns:
        if not isinstance(term, str):
            raise TypeError(f"Vocabulary terms must be str, but {term!r} is not.")
    return columns


def has_capital(term: str) -> bool:
    """Whether lower case would change the term."""
    return any(map(str.isupper, term))


@kernel
def leading_bytes(data, begin, length):
    """The first eight bytes of each string as a number that sorts as they do."""
    keys = np.empty(len(begin), np.uint64)
    for i in range(len(begin)):
        key = U(0)
        for q in range(min(length[i], 8)):
            key |= U(data[begin[i] + q]) << U(56 - 8 * q)
        keys[i] = key
    return keys


@kernel
def compare(a, a_begin, a_length, b, b_begin, b_length):
    """Below, at or above 0 as the first string sorts before, with or after the second.

    For strings of one key, which agree in their first eight bytes.
    """
    for q in range(8, min(a_length, b_length)):
        difference = np.int64(a[a_begin + q]) - np.int64(b[b_begin + q])
        if difference:
            return difference
    return a_length - b_length


@kernel
def sort_ties(buffer, begin, length, keys, order):
    """Sort the strings whose first eight bytes are equal, which keys alone cannot."""
    spare = np.empty(len(order), order.dtype)
    first = 0
    while first < len(order):
        one, last, longer = order[first], first + 1, False
        while last < len(order) and keys[order[last]] == keys[one]:
            longer |= length[order[last]] != length[one]
            last += 1
        # Up to eight bytes, strings of one key and length are equal.
        if last - first > 1 and (longer or length[one] > 8):
            sort_strings(buffer, begin, length, order[first:last], spare)
        first = last


@kernel
def sort_strings(buffer, begin, length, order, spare):
    """Merge sort from below: never worse than n log n comparisons, whatever the text."""
    n, width = len(order), 1
    while width < n:
        for first in range(0, n, 2 * width):
            middle, last = min(first + width, n), min(first + 2 * width, n)
            i, j = first, middle
            for k in range(first, last):
                a, b = order[min(i, n - 1)], order[min(j, n - 1)]
                if j >= last or (
                    i < middle
                    and compare(buffer, begin[a], length[a], buffer, begin[b], length[b]) <= 0
                ):
                    spare[k] = a
                    i += 1
                else:
                    spare[k] = b
                    j += 1
        for k in range(n):
            order[k] = spare[k]
        width *= 2


@kernel
def number_distinct(buffer, begin, length, keys, order):
    """Sorted strings counted, equal ones once; and one of each kind."""
    place, first = np.empty(len(order), np.int32), np.empty(len(order), np.int64)
    k = 0
    for i in range(len(order)):
        this = order[i]
        last = first[k - 1]
        if (
            k == 0
            or keys[this] != keys[last]
            or compare(buffer, begin[last], length[last], buffer, begin[this], length[this])
        ):
            first[k] = this
            k += 1
        place[this] = k - 1
    return place, first[:k].copy()


@kernel
def gather(data, begin, offsets):
    """The strings at these places, one after the other."""
    out = np.empty(offsets[-1], np.uint8)
    for i in range(len(begin)):
        b, at = begin[i], offsets[i]
        for q in range(offsets[i + 1] - at):
            out[at + q] = data[b + q]
    return out


@kernel
def find_from(first, a, a_offsets, a_keys, b, b_offsets, b_keys):
    """Where the strings of b are in a, from the first place of each one's key."""
    out, lengths, i = np.full(len(b_keys), -1, np.int32), np.diff(b_offsets), 0
    for j in range(len(b_keys)):
        i = max(i, first[j])  # forward only, where many have one key
        while i < len(a_keys) and a_keys[i] == b_keys[j]:
            length = a_offsets[i + 1] - a_offsets[i]
            order = compare(a, a_offsets[i], length, b, b_offsets[j], lengths[j])
            if order >= 0:
                out[j] = i if order == 0 else -1
                break
            i += 1
    return out
