"""All words of a vocabulary within a few edits of a string, without comparing the others.

Two strings within d edits (insertion, deletion, substitution, swap of neighbours) become equal
when at most d characters are deleted from each. So every word is indexed under each string that
up to d deletions make of it, and a query looks up the strings that deletions make of it. Only
the first ``PREFIX`` characters are indexed: an insertion shifts one character out of the prefix
of the other word, which then is one of its deletions, so nothing is missed. Distances are
computed for all matches before they are returned: the answer is exact.

Strings are indexed by a 64-bit hash. The index is three arrays:

    keys     the hashes in order, once each
    edges    where the words of each begin
    words    word numbers

and ``first``, where the keys with the same leading bits begin: a lookup reads one entry of it
and one or two keys.

Garbe (2012), 1000x faster spelling correction (symmetric deletion). Bocek, Hunt and Stiller
(2007), Fast similarity search in large dictionaries, TR ifi-2007.02, Zurich.
"""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from tacit.core.engines import check_stop
from tacit.core.kernel import kernel
from tacit.core.string_array import offsets_of
from tacit.text.edit_kernels import EncodedStrings, code_points

__all__ = ["Candidates", "DeletionIndex", "build_index", "find_words", "strings_of"]

PREFIX = 7
LONGEST = 64  # characters; longer words have no candidates
SPAN = 2_000  # queries per kernel call: some 50 ms
WORDS = 20_000  # words indexed per kernel call
U = np.uint64


class DeletionIndex(NamedTuple):
    """A vocabulary indexed by deletions. Build it with ``build_index``."""

    vocabulary: EncodedStrings  # code points, as int32
    keys: np.ndarray  # (k,) uint64
    edges: np.ndarray  # (k + 1,) int64
    words: np.ndarray  # (edges[-1],) int32
    first: np.ndarray  # (2^b + 1,) int64
    most: int  # edits


class Candidates(NamedTuple):
    """Words near each query, those of one query in order of their number."""

    edges: np.ndarray  # (queries + 1,) int64
    words: np.ndarray  # int32
    distances: np.ndarray  # int32


def strings_of(words: Sequence[str]) -> EncodedStrings:
    """Words as code points.

    >>> strings_of(["ab", "c"])
    EncodedStrings(codes=array([97, 98, 99], dtype=int32), offsets=array([0, 2, 3]))
    """
    return EncodedStrings(
        code_points("".join(words)).view(np.int32), offsets_of(map(len, words))
    )


def build_index(vocabulary: EncodedStrings, *, most: int = 2) -> DeletionIndex:
    """Index every word under each string that up to ``most`` deletions make of it.

    >>> index = build_index(strings_of(["there", "three", "tree", "she"]), most=1)
    >>> near = find_words(index, strings_of(["thre", "the"]))
    >>> near.edges, near.words, near.distances
    (array([0, 2, 3]), array([0, 1, 3], dtype=int32), array([1, 1, 1], dtype=int32))
    """
    masks, mask_edges = deletion_masks(most)
    lengths = np.minimum(vocabulary.sizes(), PREFIX)
    lengths[vocabulary.sizes() > LONGEST] = 0
    counts = np.diff(mask_edges)[lengths]
    starts = offsets_of(counts)
    hashes, owners = np.empty(starts[-1], U), np.empty(starts[-1], np.int32)
    for i in range(0, len(vocabulary), WORDS):
        check_stop()
        stop = min(i + WORDS, len(vocabulary))
        hash_words(*vocabulary, i, stop, masks, mask_edges, starts, hashes, owners)
    order = np.argsort(hashes, kind="stable")
    hashes, owners = hashes[order], owners[order]
    # Deletions make the same string of a word with a doubled letter in two ways.
    fresh = np.ones(len(hashes), bool)
    fresh[1:] = (hashes[1:] != hashes[:-1]) | (owners[1:] != owners[:-1])
    hashes, owners = hashes[fresh], owners[fresh]
    begins = np.flatnonzero(np.concatenate([[True], hashes[1:] != hashes[:-1]]))
    keys = hashes[begins] if len(hashes) else hashes
    edges = np.append(begins[: len(keys)], len(hashes)).astype(np.int64)
    return DeletionIndex(vocabulary, keys, edges, owners, leading_bits(keys), most)


def leading_bits(keys: np.ndarray) -> np.ndarray:
    """Where the keys of each leading bit pattern begin, about one key per pattern."""
    bits = max(1, len(keys).bit_length())
    patterns = np.arange(2**bits, dtype=U) << U(64 - bits)
    return np.append(np.searchsorted(keys, patterns), len(keys)).astype(np.int64)


def find_words(index: DeletionIndex, queries: EncodedStrings) -> Candidates:
    """The words within ``index.most`` edits of each query, and how many edits that takes.

    An edit inserts, deletes or replaces a character or swaps two neighbours; no character is
    edited twice (optimal string alignment).
    """
    masks, mask_edges = deletion_masks(index.most)
    seen = np.full(len(index.vocabulary), -1, np.int64)
    parts: list[tuple[np.ndarray, np.ndarray]] = []
    edges = np.zeros(len(queries) + 1, np.int64)
    room, at = max(1024, 128 * min(SPAN, len(queries))), 0
    while at < len(queries):
        check_stop()
        words, distances = np.empty(room, np.int32), np.empty(room, np.int32)
        stop = min(at + SPAN, len(queries))
        done = search(
            *index.vocabulary, index.keys, index.edges, index.words, index.first, index.most,
            *queries, at, stop, masks, mask_edges, seen, edges, words, distances,
        )  # fmt: skip
        if done == at:  # not even one query's words had room
            room = max(2 * room, len(index.vocabulary))
            continue
        filled = edges[done] - edges[at]
        parts.append((words[:filled].copy(), distances[:filled].copy()))
        at = done
    if not parts:
        return Candidates(edges, np.empty(0, np.int32), np.empty(0, np.int32))
    words, distances = (np.concatenate(part) for part in zip(*parts, strict=True))
    return Candidates(edges, words, distances)


@cache
def deletion_masks(most: int) -> tuple[np.ndarray, np.ndarray]:
    """Which of the first characters to delete, as bits: for every length up to PREFIX, all
    choices of up to ``most`` of them.

    >>> masks, edges = deletion_masks(1)
    >>> masks[edges[2]:edges[3]]
    array([0, 1, 2], dtype=uint32)
    """
    chosen = [
        [mask for mask in range(2**length) if mask.bit_count() <= most]
        for length in range(PREFIX + 1)
    ]
    flat = [mask for masks in chosen for mask in masks]
    edges = np.cumsum([0, *map(len, chosen)])
    return np.array(flat, np.uint32), edges.astype(np.int64)


# --- Kernels ---


@kernel
def hash_without(codes, length, mask):
    """The hash of the first characters less those of the mask; how many are left counts."""
    h = U(0x9E3779B97F4A7C15)
    left = 0
    for i in range(length):
        if not (mask >> np.uint32(i)) & np.uint32(1):
            h = (h ^ U(codes[i])) * U(0xD6E8FEB86659FD93)
            h ^= h >> U(32)
            left += 1
    h = (h ^ U(left)) * U(0xD6E8FEB86659FD93)
    return h ^ (h >> U(29))


@kernel
def hash_words(codes, offsets, start, stop, masks, mask_edges, starts, hashes, owners):
    for i in range(start, stop):
        word = codes[offsets[i] : offsets[i + 1]]
        at = starts[i]
        length = min(len(word), PREFIX)
        if len(word) > LONGEST:
            length = 0
        for t in range(mask_edges[length], mask_edges[length + 1]):
            hashes[at] = hash_without(word, length, masks[t])
            owners[at] = i
            at += 1


@kernel
def search(
    codes, offsets, keys, edges, words, first, most,
    query_codes, query_offsets, start, stop, masks, mask_edges, seen, out_edges, out, far,
):  # fmt: skip
    """Fill in the words of the queries from ``start``; returns the first query not done."""
    shift = U(64)
    size = len(first) - 1
    while size > 1:
        size >>= 1
        shift -= U(1)
    rows = np.empty((3, LONGEST + 1), np.int32)
    used = 0
    for q in range(start, stop):
        query = query_codes[query_offsets[q] : query_offsets[q + 1]]
        begin = used
        length = min(len(query), PREFIX)
        if len(query) > LONGEST:
            out_edges[q + 1] = out_edges[q]
            continue
        for t in range(mask_edges[length], mask_edges[length + 1]):
            h = hash_without(query, length, masks[t])
            top = np.int64(h >> shift)
            at, end = first[top], first[top + 1]
            while at < end and keys[at] < h:
                at += 1
            if at == end or keys[at] != h:
                continue
            for p in range(edges[at], edges[at + 1]):
                w = words[p]
                if seen[w] == q:
                    continue
                seen[w] = q
                word = codes[offsets[w] : offsets[w + 1]]
                d = distance_within(query, word, most, rows)
                if d > most:
                    continue
                if used == len(out):
                    seen[:] = -1
                    return q  # this query again, with more room
                out[used] = w
                far[used] = d
                used += 1
        order = np.argsort(out[begin:used])
        out[begin:used] = out[begin:used][order]
        far[begin:used] = far[begin:used][order]
        out_edges[q + 1] = out_edges[q] + used - begin
    return stop


@kernel
def distance_within(a, b, most, rows):
    """Optimal string alignment, or most + 1 if it is more."""
    n, m = len(a), len(b)
    if abs(n - m) > most or m > LONGEST:
        return most + 1
    far = most + 1
    for j in range(m + 1):
        rows[0, j] = j if j <= most else far
    for i in range(1, n + 1):
        row, above, before = rows[i % 3], rows[(i - 1) % 3], rows[(i - 2) % 3]
        low, high = max(1, i - most), min(m, i + most)
        row[low - 1] = i if low == 1 and i <= most else far
        least = row[low - 1]
        for j in range(low, high + 1):
            d = above[j - 1] + (a[i - 1] != b[j - 1])
            d = min(d, row[j - 1] + 1)
            if j < i + most:
                d = min(d, above[j] + 1)
            if i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
                d = min(d, before[j - 2] + 1)
            row[j] = min(d, far)
            least = min(least, row[j])
        if high < m:
            row[high + 1] = far
        if least > most:
            # A swap may still reach back to the row above.
            reach = far
            for j in range(max(0, low - 2), min(m, high) + 1):
                reach = min(reach, above[j])
            if reach >= most:
                return far
    return rows[n % 3, m]
