"""Reading the lists of an index, and putting them together: and, or, not, in a row.

A set of documents is a sorted array, and a flag that says "all but these": so NOT costs
nothing, and a query of NOTs alone has an answer.

An index may come from a damaged file: reading stops at what cannot be, and says so. Nothing
here writes outside its arrays whatever the bytes are.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tacit.core.errors import ModelFileError
from tacit.core.kernel import kernel
from tacit.search.postings import Postings
from tacit.search.sorted_sets import intersect, subtract, unite

__all__ = [
    "DocumentSet",
    "Found",
    "both",
    "either",
    "read_any",
    "read_in_a_row",
    "read_list",
    "words_of",
]

U = np.uint64
WORDS_A_CALL = 1024


class Found(NamedTuple):
    """The documents that something is in, and how often."""

    documents: np.ndarray  # int32, sorted
    counts: np.ndarray  # int32


class DocumentSet(NamedTuple):
    """A set of documents: these, or all but these."""

    rows: np.ndarray  # int32, sorted
    excluded: bool = False

    def inverted(self) -> "DocumentSet":
        return DocumentSet(self.rows, not self.excluded)

    def listed(self, n: int) -> np.ndarray:
        """The documents themselves, of n in all."""
        if not self.excluded:
            return self.rows
        there = np.ones(n, np.bool_)
        there[self.rows] = False
        return np.flatnonzero(there).astype(np.int32)


NOWHERE = Found(np.zeros(0, np.int32), np.zeros(0, np.int32))


def both(a: DocumentSet, b: DocumentSet) -> DocumentSet:
    """The documents in a and in b."""
    if a.excluded and b.excluded:
        return DocumentSet(unite(a.rows, b.rows), True)
    if a.excluded:
        a, b = b, a
    if b.excluded:
        return DocumentSet(subtract(a.rows, b.rows))
    few, many = sorted((a.rows, b.rows), key=len)
    return DocumentSet(intersect(few, many))


def either(a: DocumentSet, b: DocumentSet) -> DocumentSet:
    """The documents in a or in b."""
    return both(a.inverted(), b.inverted()).inverted()


def read_list(postings: Postings, word: int) -> Found:
    """The documents of one word."""
    start, stop = int(postings.list_edges[word]), int(postings.list_edges[word + 1])
    size = int(postings.document_counts[word])
    if not 0 <= size <= stop - start or stop > len(postings.lists):
        raise damaged()
    documents, counts = np.empty(size, np.int32), np.empty(size, np.int32)
    raw = postings.lists[start:stop]
    if decode(raw, postings.n_documents, documents, counts) != size:
        raise damaged()
    return Found(documents, counts)


def read_any(postings: Postings, words: Sequence[int]) -> Found:
    """The documents of any of several words, and how often those occur together."""
    if len(words) == 1:
        return read_list(postings, words[0])
    totals = np.zeros(postings.n_documents, np.int32)
    chosen = np.asarray(words, np.int64)
    for first in range(0, len(chosen), WORDS_A_CALL):
        part = chosen[first : first + WORDS_A_CALL]
        longest = longest_of(postings, part)
        if not sum_lists(postings.lists, postings.list_edges, part, longest, totals):
            raise damaged()
    rows = np.flatnonzero(totals)
    return Found(rows.astype(np.int32), totals[rows])


def read_in_a_row(postings: Postings, words: Sequence[int], offsets: Sequence[int]) -> Found:
    """The documents where words stand at the given distances from the first."""
    # The rarest word first: what it rules out needs no looking at.
    order = sorted(range(len(words)), key=lambda i: int(postings.document_counts[words[i]]))
    lists = {word: read_list(postings, word) for word in set(words)}
    first = order[0]
    documents, _ = lists[words[first]]
    edges, starts = read_places(postings, words[first], lists[words[first]].counts)
    starts = starts - np.int32(offsets[first])
    for i in order[1:]:
        found, raw = lists[words[i]], place_bytes(postings, words[i])
        documents, edges, starts, sound = follow(
            documents, edges, starts, found.documents, found.counts, raw, offsets[i]
        )
        if not sound:
            raise damaged()
    return Found(documents, np.diff(edges).astype(np.int32))


def read_places(
    postings: Postings, word: int, counts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Where a word stands in each of its documents."""
    raw = place_bytes(postings, word)
    edges = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=edges[1:])
    if edges[-1] > len(raw):  # a place takes a byte at least
        raise damaged()
    places = np.empty(edges[-1], np.int32)
    if not decode_places(raw, edges, places):
        raise damaged()
    return edges, places


def place_bytes(postings: Postings, word: int) -> np.ndarray:
    start, stop = int(postings.place_edges[word]), int(postings.place_edges[word + 1])
    if not 0 <= start <= stop <= len(postings.places):
        raise damaged()
    return postings.places[start:stop]


def longest_of(postings: Postings, words: np.ndarray | slice = slice(None)) -> int:
    """Documents in the longest list; decoding stops there if a file says too little."""
    counts = postings.document_counts[words]
    longest = int(counts.max()) if len(counts) else 0
    if not 0 <= longest <= postings.n_documents:
        raise damaged()
    return longest


def words_of(postings: Postings, row: int) -> dict[int, int]:
    """The words of one document and how often they occur."""
    most = int(postings.lengths[row])
    words, counts = np.empty(most, np.int64), np.empty(most, np.int64)
    size = find_row(
        postings.lists, postings.list_edges, postings.last, row, postings.n_documents,
        longest_of(postings), words, counts,
    )  # fmt: skip
    if size < 0:
        raise damaged()
    return dict(zip(words[:size].tolist(), counts[:size].tolist(), strict=True))


def damaged() -> ModelFileError:
    return ModelFileError(
        "The index is damaged: a list in it cannot be read. Build it again, or fetch a fresh "
        "copy."
    )


# --- Kernels ---


# Numbers are read in place: a function for it would cost seven times as much, in counting
# references to the array that it is handed.


@kernel
def decode(raw, n, documents, counts):
    """Read a list; how many there were, or -1 for bytes that are none."""
    at, stop, k, size = U(0), U(len(raw)), U(0), U(len(documents))
    d, end = U(0), U(n)
    while at + U(1) < stop:
        gap = U(raw[at])
        at += U(1)
        if gap >= U(128):  # nearly all numbers take one byte
            gap &= U(127)
            shift = U(7)
            while at < stop and shift < U(35):
                byte = U(raw[at])
                at += U(1)
                gap |= (byte & U(127)) << shift
                shift += U(7)
                if byte < U(128):
                    break
            if at >= stop:
                return -1
        more = U(raw[at])
        at += U(1)
        if more >= U(128):
            more &= U(127)
            shift = U(7)
            while at < stop and shift < U(35):
                byte = U(raw[at])
                at += U(1)
                more |= (byte & U(127)) << shift
                shift += U(7)
                if byte < U(128):
                    break
        d += gap
        if d >= end or k >= size or more >= U(0x7FFFFFFF):
            return -1
        documents[k] = d
        counts[k] = more + U(1)
        d += U(1)
        k += U(1)
    return np.int64(k) if at == stop else -1


@kernel
def sum_lists(lists, edges, words, longest, totals):
    """How often any of the words occurs in each document."""
    documents, counts = np.empty(longest, np.int32), np.empty(longest, np.int32)
    for w in words:
        size = decode(lists[edges[w] : edges[w + 1]], len(totals), documents, counts)
        if size < 0:
            return False
        for i in range(size):
            totals[documents[i]] += counts[i]
    return True


@kernel
def decode_places(raw, edges, places):
    at, stop = U(0), U(len(raw))
    for i in range(len(edges) - 1):
        p = U(0)
        for k in range(edges[i], edges[i + 1]):
            if at >= stop:
                return False
            gap = U(raw[at])
            at += U(1)
            if gap >= U(128):
                gap &= U(127)
                shift = U(7)
                while at < stop and shift < U(35):
                    byte = U(raw[at])
                    at += U(1)
                    gap |= (byte & U(127)) << shift
                    shift += U(7)
                    if byte < U(128):
                        break
            p += gap
            if p > U(0x7FFFFFFF):
                return False
            places[k] = p
            p += U(1)
    return at == stop


@kernel
def follow(documents, edges, starts, others, counts, raw, offset):
    """Keep the starts that another word stands ``offset`` words behind."""
    kept = np.empty(min(len(documents), len(others)), np.int32)
    kept_edges = np.zeros(len(kept) + 1, np.int64)
    kept_starts = np.empty(len(starts), np.int32)
    at, stop, i, m, k = U(0), U(len(raw)), 0, 0, 0
    for j in range(len(others)):
        while i < len(documents) and documents[i] < others[j]:
            i += 1
        if i == len(documents):
            return kept[:m], kept_edges[: m + 1], kept_starts[:k], True
        if documents[i] > others[j]:  # pass over the places of this document
            for _ in range(counts[j]):
                while at < stop and raw[at] >= 128:
                    at += U(1)
                at += U(1)
            continue
        p, s, last = U(0), edges[i], edges[i + 1]
        for _ in range(counts[j]):
            if at >= stop:
                return kept[:0], kept_edges[:1], kept_starts[:0], False
            gap = U(raw[at])
            at += U(1)
            if gap >= U(128):
                gap &= U(127)
                shift = U(7)
                while at < stop and shift < U(35):
                    byte = U(raw[at])
                    at += U(1)
                    gap |= (byte & U(127)) << shift
                    shift += U(7)
                    if byte < U(128):
                        break
            p += gap
            wanted = np.int64(p) - offset
            while s < last and starts[s] < wanted:
                s += 1
            if s < last and starts[s] == wanted:
                kept_starts[k] = starts[s]
                k += 1
                s += 1
            p += U(1)
        if k > kept_edges[m]:
            kept[m] = others[j]
            m += 1
            kept_edges[m] = k
    return kept[:m], kept_edges[: m + 1], kept_starts[:k], at <= stop


@kernel
def find_row(lists, edges, last, row, n, longest, words, counts):
    """The words of one document, found by looking through the lists. How many, or -1."""
    documents, numbers = np.empty(longest, np.int32), np.empty(longest, np.int32)
    k = 0
    for w in range(len(last)):
        if last[w] < row:
            continue
        size = decode(lists[edges[w] : edges[w + 1]], n, documents, numbers)
        if size < 0:
            return -1
        i = np.searchsorted(documents[:size], row)
        if i < size and documents[i] == row:
            if k == len(words):
                return -1
            words[k], counts[k] = w, numbers[i]
            k += 1
    return k
