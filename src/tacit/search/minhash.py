"""Shingles, and signatures by which similar sets of them meet.

The shingles of a document are its runs of w words, as a set of 64-bit hashes. A document of
fewer words is one shingle. The signature is, for each of many hash functions, the least hash
of the set: two sets agree at a place with a probability equal to their Jaccard similarity.

Signatures are cut into b bands of r places; documents that agree in all of a band are compared.
Those of similarity s are, with probability

    1 - (1 - s^r)^b

Broder (1997), On the resemblance and containment of documents. Compression and Complexity of
Sequences. Broder, Charikar, Frieze and Mitzenmacher (1998), Min-wise independent permutations.
STOC. Indyk and Motwani (1998), Approximate nearest neighbors. STOC.
"""

from typing import NamedTuple

import numpy as np

from tacit.core.engines import check_stop
from tacit.core.kernel import kernel
from tacit.core.randoms import keys
from tacit.core.string_array import offsets_of
from tacit.data.text_block import Text
from tacit.text.terms import intern
from tacit.text.tokens import TokenRule, split

__all__ = ["Hashing", "Shingles", "choose_bands", "collect", "hashing", "recall_at"]

U, V = np.uint64, np.uint32
DOCUMENTS_PER_CALL = 512


class Hashing(NamedTuple):
    """How documents become signatures. Travels with the pass as its params."""

    rule: TokenRule
    shingle: int  # words
    seed: np.uint64
    multipliers: np.ndarray  # (k,) uint32, odd
    offsets: np.ndarray  # (k,) uint32


class Shingles(NamedTuple):
    """Documents as sets of hashes, and their signatures."""

    edges: np.ndarray  # (n + 1,) int64, whose hashes are where
    hashes: np.ndarray  # uint64, sorted and distinct within a document
    signatures: np.ndarray  # (n, k) uint32
    prints: np.ndarray  # (n, 2) uint64, fingerprints of the sets


def hashing(rule: TokenRule, shingle: int, n_hashes: int, seed: np.uint64) -> Hashing:
    """Hash functions that depend on the seed alone."""
    drawn = keys(seed, np.arange(n_hashes))
    high, low = (drawn >> U(32)).astype(V), (drawn & U(0xFFFFFFFF)).astype(V)
    return Hashing(rule, shingle, seed, high | V(1), low)


def collect(params: Hashing, text: Text) -> Shingles:
    """The shingles and signatures of a block."""
    terms = intern(split(text, params.rule))
    words = hash_words(terms.vocabulary.data, terms.vocabulary.offsets, params.seed)
    ids, edges = terms.streams[0], terms.edges
    n = len(edges) - 1
    # A document of t words has t - w + 1 shingles; a short one that is not empty has one.
    lengths = np.diff(edges)
    starts = offsets_of(np.maximum(np.minimum(lengths, 1), lengths - params.shingle + 1))
    hashes = np.empty(starts[-1], np.uint64)
    sizes = np.zeros(n, np.int64)
    signatures = np.full((n, len(params.offsets)), 0xFFFFFFFF, np.uint32)
    prints = np.zeros((n, 2), np.uint64)
    for first in range(0, n, DOCUMENTS_PER_CALL):
        check_stop()
        last = min(n, first + DOCUMENTS_PER_CALL)
        make_shingles(words, ids, edges, params.shingle, starts, first, last, hashes, sizes)
        make_signatures(
            hashes,
            starts,
            sizes,
            first,
            last,
            params.multipliers,
            params.offsets,
            signatures,
            prints,
        )
    out_edges = offsets_of(sizes)
    return Shingles(out_edges, compact(hashes, starts, out_edges), signatures, prints)


def recall_at(similarity: float, bands: int, rows: int) -> float:
    """The probability that two documents of a Jaccard similarity are compared.

    >>> round(recall_at(0.8, bands=21, rows=6), 4), round(recall_at(0.4, bands=21, rows=6), 4)
    (0.9983, 0.0826)
    """
    return 1 - (1 - similarity**rows) ** bands


def choose_bands(threshold: float, n_hashes: int, recall: float) -> tuple[int, int]:
    """The longest bands that find enough of the pairs at the threshold: (bands, rows).

    >>> choose_bands(0.8, 128, 0.99)
    (21, 6)
    """
    for rows in range(n_hashes, 0, -1):
        bands = n_hashes // rows
        if recall_at(threshold, bands, rows) >= recall:
            return bands, rows
    best = recall_at(threshold, n_hashes, 1)
    raise ValueError(
        f"{n_hashes} hashes find {best:.1%} of the pairs at threshold={threshold}, but "
        f"recall={recall} asks for {recall:.1%}. Raise n_hashes or threshold, or lower recall."
    )


@kernel(inline="always")
def mix(x):
    x = (x ^ (x >> U(32))) * U(0xD6E8FEB86659FD93)
    x = (x ^ (x >> U(32))) * U(0xD6E8FEB86659FD93)
    return x ^ (x >> U(32))


@kernel
def hash_words(data, offsets, seed):
    """64 bits for each word, from its bytes and the seed."""
    out = np.empty(len(offsets) - 1, np.uint64)
    for i in range(len(out)):
        h = mix(seed ^ U(offsets[i + 1] - offsets[i]))
        for q in range(offsets[i], offsets[i + 1]):
            h = (h ^ U(data[q])) * U(0x100000001B3)
            h ^= h >> U(29)
        out[i] = mix(h)
    return out


@kernel
def make_shingles(words, ids, edges, w, starts, first, last, hashes, sizes):
    """The distinct shingles of each document, sorted."""
    for d in range(first, last):
        length = edges[d + 1] - edges[d]
        if length == 0:
            continue
        mine = hashes[starts[d] : starts[d + 1]]
        run = min(w, length)
        for i in range(len(mine)):
            h = U(run)
            for j in range(run):  # order matters, so each word is mixed in
                h = mix(h * U(0x9E3779B97F4A7C15) + words[ids[edges[d] + i + j]])
            mine[i] = h
        mine.sort()
        k = 1
        for i in range(1, len(mine)):
            mine[k] = mine[i]
            k += mine[i] != mine[k - 1]
        sizes[d] = k


@kernel
def make_signatures(
    hashes, starts, sizes, first, last, multipliers, offsets, signatures, prints
):
    k = len(offsets)
    for d in range(first, last):
        least, total, other = signatures[d], U(0), U(0)
        for i in range(starts[d], starts[d] + sizes[d]):
            x = V(hashes[i] >> U(32))
            total += hashes[i]
            other += mix(hashes[i])
            for j in range(k):
                z = V((x ^ offsets[j]) * multipliers[j])
                z = V((z ^ (z >> V(15))) * V(0x2C1B3C6D))
                z ^= z >> V(13)
                least[j] = min(least[j], z)
        prints[d, 0], prints[d, 1] = total, other


@kernel
def compact(hashes, starts, edges):
    out = np.empty(edges[-1], np.uint64)
    for d in range(len(edges) - 1):
        for i in range(edges[d + 1] - edges[d]):
            out[edges[d] + i] = hashes[starts[d] + i]
    return out
