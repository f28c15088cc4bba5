"""Where every word occurs: postings lists of documents and positions, as compressed bytes.

    collect   invert a block: for every word its documents, how often and where
    merge     concatenate the lists of consecutive blocks
    read      one list, several lists, or phrases: words at fixed distances

The list of a word is a sequence of variable-length integers (seven bits to a byte, the low ones
first). For every document that holds the word

    the documents skipped since the previous one
    the occurrences in it, less one

and in a second sequence the positions inside each document: the first, then the words skipped
between one and the next. On 20 Newsgroups a posting takes 2.2 bytes and its positions 2.6,
against 15.8 for both as plain 32-bit numbers.

The bytes depend on the documents alone, not on how they were cut into blocks or merged. An
index may come from a damaged file: reading checks every number and never writes outside its
arrays.

Zobel and Moffat (2006), Inverted files for text search engines. ACM Computing Surveys 38.
The notes' section on word counts and matching.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from tacit.core.engines import check_stop
from tacit.core.errors import ModelFileError
from tacit.core.kernel import kernel
from tacit.core.string_array import offsets_of
from tacit.kernels.call_ranges import call_ranges
from tacit.text.terms import Terms
from tacit.text.vocabulary import Vocabulary, unite

__all__ = [
    "NO_OCCURRENCES", "WORDS_PER_CALL", "Occurrences", "Postings", "damaged",
    "decode", "invert", "longest_of", "merge_postings", "no_postings", "read_any", "read_list",
    "read_phrase", "read_rest", "words_of",
]  # fmt: skip

U = np.uint64
CALL_BYTES = 2**26  # copied between two returns to Python: some 50 ms
WORDS_PER_CALL = 1024  # lists read between two returns to Python

Allocate = Callable[[int], np.ndarray]  # bytes, in memory or in a file


class Postings(NamedTuple):
    """Sorted words and their postings lists."""

    vocabulary: Vocabulary
    document_counts: np.ndarray  # (v,) int32, document frequency of each word
    last: np.ndarray  # (v,) int32, the last document of each word
    list_edges: np.ndarray  # (v + 1,) int64, boundaries of the lists
    lists: np.ndarray  # uint8
    place_edges: np.ndarray  # (v + 1,) int64, boundaries of the positions
    places: np.ndarray  # uint8
    lengths: np.ndarray  # (n,) int32, words in each document

    @property
    def n_documents(self) -> int:
        return len(self.lengths)

    @property
    def nbytes(self) -> int:
        words, *arrays = self
        return sum(array.nbytes for array in (words.data, words.offsets, words.keys, *arrays))


class Occurrences(NamedTuple):
    """The documents that contain a term, and how often."""

    documents: np.ndarray  # int32, sorted
    counts: np.ndarray  # int32


NO_OCCURRENCES = Occurrences(np.zeros(0, np.int32), np.zeros(0, np.int32))


def no_postings() -> Postings:
    """The postings of no documents."""
    none, edge = np.zeros(0, np.int32), np.zeros(1, np.int64)
    raw = np.zeros(0, np.uint8)
    return Postings(Vocabulary.of([]), none, none, edge, raw, edge, raw, none)


def invert(terms: Terms, unwanted: np.ndarray | None = None) -> Postings:
    """The lists of a block. Words masked as ``unwanted`` have none, but count as positions."""
    ids, edges, vocabulary = terms.streams[0], terms.edges, terms.vocabulary
    if unwanted is not None and unwanted.any():
        rank = np.where(unwanted, -1, np.cumsum(~unwanted) - 1).astype(np.int32)
        ids, vocabulary = rank[ids], vocabulary.take(~unwanted)
    v = len(vocabulary)
    order, documents, starts, lengths = sort_by_word(ids, edges, v)
    # A posting takes at most 10 bytes, and there are at most as many as words.
    lists = np.empty(10 * len(order), np.uint8)
    places = np.empty(5 * len(order), np.uint8)
    counts, last = np.zeros(v, np.int32), np.full(v, -1, np.int32)
    list_edges, place_edges = np.zeros(v + 1, np.int64), np.zeros(v + 1, np.int64)
    check_stop()
    encode(
        (order, documents, starts, edges), (lists, places), (list_edges, place_edges), counts,
        last,
    )  # fmt: skip
    return Postings(
        vocabulary, counts, last, list_edges, lists[: list_edges[-1]].copy(), place_edges,
        places[: place_edges[-1]].copy(), lengths,
    )  # fmt: skip


def merge_postings(parts: Sequence[Postings], allocate: Allocate | None = None) -> Postings:
    """The lists of consecutive blocks as one. ``allocate`` provides the bytes of the result."""
    if len(parts) == 1 and allocate is None:
        return parts[0]
    make = allocate or (lambda size: np.empty(size, np.uint8))
    words, ranks = unite([part.vocabulary for part in parts])
    v = len(words)
    bases = np.cumsum([0, *(part.n_documents for part in parts)])
    if bases[-1] > np.iinfo(np.int32).max:
        raise ValueError(
            f"An index holds at most 2,147,483,647 documents, but there are {bases[-1]:,}. "
            "Split them over several indexes."
        )
    counts, last = np.zeros(v, np.int32), np.full(v, -1, np.int32)
    list_edges, place_edges = np.zeros(v + 1, np.int64), np.zeros(v + 1, np.int64)
    for part, base, rank in zip(parts, bases, ranks, strict=False):
        add_sizes(
            rank, base, lists_of(part), part.document_counts, counts, last, list_edges[1:],
            place_edges[1:],
        )  # fmt: skip
    np.cumsum(list_edges, out=list_edges)
    np.cumsum(place_edges, out=place_edges)
    lists, places = make(int(list_edges[-1])), make(int(place_edges[-1]))
    so_far = np.full(v, -1, np.int32)
    at, place_at = list_edges[:-1].copy(), place_edges[:-1].copy()
    for part, base, rank in zip(parts, bases, ranks, strict=False):
        work = np.diff(part.list_edges) + np.diff(part.place_edges)
        for span in call_ranges(work, CALL_BYTES):
            check_stop()
            append(
                span, rank, base, lists_of(part), so_far, (at, place_at),
                (lists, places),
            )  # fmt: skip
    lengths = np.concatenate([part.lengths for part in parts])
    return Postings(words, counts, last, list_edges, lists, place_edges, places, lengths)


def lists_of(part: Postings) -> tuple[np.ndarray, ...]:
    """The lists of a part as kernels take them."""
    return part.last, part.list_edges, part.lists, part.place_edges, part.places


# --- Reading ---


def read_list(postings: Postings, word: int) -> Occurrences:
    """The documents of one word."""
    start, stop = int(postings.list_edges[word]), int(postings.list_edges[word + 1])
    size = int(postings.document_counts[word])
    if not 0 <= size <= stop - start or stop > len(postings.lists):
        raise damaged()
    documents, counts = np.empty(size, np.int32), np.empty(size, np.int32)
    raw = postings.lists[start:stop]
    if decode(raw, postings.n_documents, documents, counts) != size:
        raise damaged()
    return Occurrences(documents, counts)


def read_any(postings: Postings, words: Sequence[int]) -> Occurrences:
    """The documents with any of several words, and the sum of their counts."""
    if len(words) == 1:
        return read_list(postings, words[0])
    totals = np.zeros(postings.n_documents, np.int32)
    chosen = np.asarray(words, np.int64)
    for first in range(0, len(chosen), WORDS_PER_CALL):
        part = chosen[first : first + WORDS_PER_CALL]
        longest = longest_of(postings, part)
        if not sum_lists(postings.lists, postings.list_edges, part, longest, totals):
            raise damaged()
    rows = np.flatnonzero(totals)
    return Occurrences(rows.astype(np.int32), totals[rows])


def read_phrase(
    postings: Postings, words: Sequence[int], offsets: Sequence[int]
) -> Occurrences:
    """The documents where words occur at these distances from the first."""
    # The rarest word first: it rules out the most documents.
    order = sorted(range(len(words)), key=lambda i: int(postings.document_counts[words[i]]))
    lists = {word: read_list(postings, word) for word in set(words)}
    first = order[0]
    documents, _ = lists[words[first]]
    edges, starts = read_places(postings, words[first], lists[words[first]].counts)
    starts = starts - np.int32(offsets[first])
    for i in order[1:]:
        others, raw = lists[words[i]], place_bytes(postings, words[i])
        documents, edges, starts, sound = intersect_positions(
            documents, edges, starts, others.documents, others.counts, raw, offsets[i]
        )
        if not sound:
            raise damaged()
    return Occurrences(documents, np.diff(edges).astype(np.int32))


def read_places(
    postings: Postings, word: int, counts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The positions of a word in each of its documents."""
    raw = place_bytes(postings, word)
    edges = offsets_of(counts)
    if edges[-1] > len(raw):  # a position takes at least a byte
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
    """The length of the longest list, checked against the number of documents."""
    counts = postings.document_counts[words]
    longest = int(counts.max()) if len(counts) else 0
    if not 0 <= longest <= postings.n_documents:
        raise damaged()
    return longest


def words_of(postings: Postings, row: int) -> dict[int, int]:
    """The words of one document with their counts."""
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
    """The error for bytes that are not a list."""
    return ModelFileError(
        "The index is damaged: a list in it cannot be read. Build it again, or fetch a fresh "
        "copy."
    )


@kernel(inline="always")
def put(out, at, value):
    """Write a number; where the next one goes."""
    while value >= U(128):
        out[at] = (value & U(127)) | U(128)
        value >>= U(7)
        at += U(1)
    out[at] = value
    return at + U(1)


@kernel(inline="always")
def size_of(value):
    size = 1
    while value >= U(128):
        value >>= U(7)
        size += 1
    return size


@kernel(inline="always")
def get(raw, at):
    """Read a number of a list that is not damaged; where the next one is."""
    byte = U(raw[at])
    value, shift = byte & U(127), U(7)
    at += U(1)
    while byte >= U(128):
        byte = U(raw[at])
        value |= (byte & U(127)) << shift
        shift += U(7)
        at += U(1)
    return value, at


@kernel
def sort_by_word(ids, edges, v):
    """Tokens in the order of their words, the document of each, and document lengths."""
    starts = np.zeros(v + 1, np.int64)
    documents, lengths = np.empty(len(ids), np.int32), np.zeros(len(edges) - 1, np.int32)
    for d in range(len(edges) - 1):
        for t in range(edges[d], edges[d + 1]):
            documents[t] = d
            if ids[t] >= 0:
                starts[ids[t] + 1] += 1
                lengths[d] += 1
    for w in range(v):
        starts[w + 1] += starts[w]
    order, at = np.empty(starts[v], np.int32), starts[:-1].copy()
    for t in range(len(ids)):
        w = ids[t]
        if w >= 0:
            order[at[w]] = t
            at[w] += 1
    return order, documents, starts, lengths


@kernel
def encode(tokens, out, out_edges, counts, last):
    """Write the lists of all words."""
    (order, documents, starts, edges), (lists, places) = tokens, out
    list_edges, place_edges = out_edges
    at, place_at = U(0), U(0)
    for w in range(len(counts)):
        i, stop, before = starts[w], starts[w + 1], -1
        while i < stop:
            d = documents[order[i]]
            j = i + 1
            while j < stop and documents[order[j]] == d:
                j += 1
            at = put(lists, at, U(d - before - 1))
            at = put(lists, at, U(j - i - 1))
            previous = edges[d] - 1
            for k in range(i, j):
                place_at = put(places, place_at, U(order[k] - previous - 1))
                previous = order[k]
            counts[w] += 1
            before = d
            i = j
        last[w] = before
        list_edges[w + 1], place_edges[w + 1] = at, place_at


@kernel
def add_sizes(rank, base, part, part_counts, counts, last, sizes, place_sizes):
    """Add the sizes of the lists of a part to the totals."""
    part_last, edges, lists, place_edges, _ = part
    for w in range(len(rank)):
        r = rank[w]
        if edges[w + 1] == edges[w]:
            continue
        first, _ = get(lists, U(edges[w]))
        moved = U(base + np.int64(first) - last[r] - 1)
        sizes[r] += edges[w + 1] - edges[w] + size_of(moved) - size_of(first)
        place_sizes[r] += place_edges[w + 1] - place_edges[w]
        counts[r] += part_counts[w]
        last[r] = base + part_last[w]


@kernel
def append(words, rank, base, part, so_far, starts, outs):
    """Append the lists of a part; their first documents are counted from the last ones."""
    part_last, edges, lists, place_edges, places = part
    (at, place_at), (out, out_places) = starts, outs
    for w in range(words[0], words[1]):
        r = rank[w]
        if edges[w + 1] == edges[w]:
            continue
        first, i = get(lists, U(edges[w]))
        o = put(out, U(at[r]), U(base + np.int64(first) - so_far[r] - 1))
        stop = U(edges[w + 1])
        while i < stop:
            out[o] = lists[i]
            i += U(1)
            o += U(1)
        at[r] = o
        i, stop, o = U(place_edges[w]), U(place_edges[w + 1]), U(place_at[r])
        while i < stop:
            out_places[o] = places[i]
            i += U(1)
            o += U(1)
        place_at[r] = o
        so_far[r] = base + part_last[w]


# Reading is inlined up to here: handing the array to a function for every number would cost
# seven times as much, in reference counts. Nearly all numbers take one byte.


@kernel
def read_rest(raw, at, stop, value):
    """Read on after the first byte of a number; the number and where the next one is."""
    value &= U(127)
    shift = U(7)
    while at < stop and shift < U(35):
        byte = U(raw[at])
        at += U(1)
        value |= (byte & U(127)) << shift
        shift += U(7)
        if byte < U(128):
            break
    return value, at


@kernel
def decode(raw, n, documents, counts):
    """Read a list: the number of documents, or -1 if the bytes are damaged."""
    at, stop, k, size = U(0), U(len(raw)), U(0), U(len(documents))
    d, end = U(0), U(n)
    while at + U(1) < stop:
        gap = U(raw[at])
        at += U(1)
        if gap >= U(128):
            gap, at = read_rest(raw, at, stop, gap)
            if at >= stop:
                return -1
        more = U(raw[at])
        at += U(1)
        if more >= U(128):
            more, at = read_rest(raw, at, stop, more)
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
    """Add the counts of the words in each document."""
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
                gap, at = read_rest(raw, at, stop, gap)
            p += gap
            if p > U(0x7FFFFFFF):
                return False
            places[k] = p
            p += U(1)
    return at == stop


@kernel
def intersect_positions(documents, edges, starts, others, counts, raw, offset):
    """Keep the starts that another word follows at distance ``offset``."""
    out = np.empty(min(len(documents), len(others)), np.int32)
    out_edges = np.zeros(len(out) + 1, np.int64)
    out_starts = np.empty(len(starts), np.int32)
    at, stop, i, m, k = U(0), U(len(raw)), 0, 0, 0
    for j in range(len(others)):
        while i < len(documents) and documents[i] < others[j]:
            i += 1
        if i == len(documents):
            return out[:m], out_edges[: m + 1], out_starts[:k], True
        if documents[i] > others[j]:  # skip the positions in this document
            for _ in range(counts[j]):
                while at < stop and raw[at] >= 128:
                    at += U(1)
                at += U(1)
            continue
        p, s, last = U(0), edges[i], edges[i + 1]
        for _ in range(counts[j]):
            if at >= stop:
                return out[:0], out_edges[:1], out_starts[:0], False
            gap = U(raw[at])
            at += U(1)
            if gap >= U(128):
                gap, at = read_rest(raw, at, stop, gap)
            p += gap
            wanted = np.int64(p) - offset
            while s < last and starts[s] < wanted:
                s += 1
            if s < last and starts[s] == wanted:
                out_starts[k] = starts[s]
                k += 1
                s += 1
            p += U(1)
        if k > out_edges[m]:
            out[m] = others[j]
            m += 1
            out_edges[m] = k
    return out[:m], out_edges[: m + 1], out_starts[:k], at <= stop


@kernel
def find_row(lists, edges, last, row, n, longest, words, counts):
    """Find the words of one document in all lists: their number, or -1."""
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
