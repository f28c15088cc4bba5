"""Scores of documents for a query: Okapi BM25, and the cosine of tf-idf vectors.

With N documents, N_t of them holding the term t, f occurrences of it in a document of n words
where the mean is m,

    bm25    sum over the terms of the query, with repetitions, of
            log(1 + (N - N_t + 1/2) / (N_t + 1/2)) f (k1 + 1) / (f + k1 (1 - b + b n / m))
    tfidf   the cosine between query and document as vectors of f (1 + log((1 + N) / (1 + N_t)))

These are the weights of ``tacit.text.TfidfTransformer``. Sums are in float64, in the order of
the query, so that the same query gives the same bits.

Robertson and Zaragoza (2009), The probabilistic relevance framework: BM25 and beyond.
Spärck Jones (1972), A statistical interpretation of term specificity. J. Documentation 28.
The notes' section on word counts and matching.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from tacit.core.kernel import kernel
from tacit.kernels.sorting import highest
from tacit.search.postings import (
    WORDS_PER_CALL,
    Occurrences,
    Postings,
    damaged,
    decode,
    longest_of,
    read_rest,
)

__all__ = ["best", "best_of_all", "bm25", "bm25_of_words", "cosine", "document_norms"]

U = np.uint64


def bm25(
    terms: Sequence[Occurrences], lengths: np.ndarray, mean: float, k1: float, b: float
) -> np.ndarray:
    """BM25 of every document for terms: words, phrases or wildcards."""
    n = len(lengths)
    scores = np.zeros(n)
    for documents, counts in terms:
        df = len(documents)
        idf = math.log1p((n - df + 0.5) / (df + 0.5))
        constant, per_word = k1 * (1 - b), k1 * b / mean
        add_bm25(documents, counts, lengths, idf * (k1 + 1), constant, per_word, scores)
    return scores


def bm25_of_words(
    postings: Postings, words: Sequence[int], mean: float, k1: float, b: float
) -> np.ndarray:
    """The same for words of the index, straight from their lists."""
    scores = np.zeros(postings.n_documents)
    for i in range(0, len(words), WORDS_PER_CALL):
        part = np.array(words[i : i + WORDS_PER_CALL], np.int64)
        if not add_bm25_lists(
            postings.lists, postings.list_edges, postings.document_counts, part,
            postings.lengths, mean, k1, b, scores,
        ):  # fmt: skip
            raise damaged()
    return scores


def cosine(postings: Postings, norms: np.ndarray, query: Mapping[int, int]) -> np.ndarray:
    """The cosine of every document with a query, as counts of words of the index."""
    scores = np.zeros(postings.n_documents)
    words = np.fromiter(query.keys(), np.int64, len(query))
    counts = np.fromiter(query.values(), np.float64, len(query))
    idf = idf_of(postings.n_documents, postings.document_counts[words])
    weights = counts * idf
    for i in range(0, len(words), WORDS_PER_CALL):
        part = slice(i, i + WORDS_PER_CALL)
        if not add_weighted(
            postings.lists, postings.list_edges, words[part], (weights * idf)[part],
            longest_of(postings, words[part]), scores,
        ):  # fmt: skip
            raise damaged()
    norm = math.sqrt(float(weights @ weights))
    if norm:
        divide(scores, norms, norm)
    return scores


def idf_of(n: int, document_counts: np.ndarray) -> np.ndarray:
    return 1 + np.log((1 + n) / (1 + document_counts.astype(np.float64)))


def document_norms(postings: Postings) -> np.ndarray:
    """The norm of every document as a vector of tf-idf weights."""
    n, v = postings.n_documents, len(postings.vocabulary)
    idf = idf_of(n, postings.document_counts)
    squares = np.zeros(n)
    step = max(1, int(v * 2**24 / max(1, len(postings.lists))))  # some 50 ms of reading
    for first in range(0, v, step):
        last = min(v, first + step)
        if not add_squares(
            postings.lists, postings.list_edges, first, last, n, idf, squares,
            longest_of(postings, slice(first, last)),
        ):  # fmt: skip
            raise damaged()
    return np.sqrt(squares)


def best(scores: np.ndarray, rows: np.ndarray, top: int | None) -> np.ndarray:
    """The rows with the highest scores, in order; a tie goes to the earlier row."""
    return rows[highest(scores[rows], len(rows) if top is None else top)]


def best_of_all(scores: np.ndarray, top: int | None) -> tuple[np.ndarray, int]:
    """The rows with the highest scores above 0, and the number of rows above 0."""
    if top is None:
        rows = np.flatnonzero(scores > 0)
        return best(scores, rows, None), len(rows)
    heap = np.empty(top, np.int64)
    size, total = select_positive(scores, heap)
    return heap[:size], total


@kernel
def add_bm25(documents, counts, lengths, weight, constant, per_word, scores):
    for i in range(len(documents)):
        d, f = documents[i], np.float64(counts[i])
        scores[d] += weight * f / (f + constant + per_word * lengths[d])


@kernel
def add_bm25_lists(lists, edges, document_counts, words, lengths, mean, k1, b, scores):
    """``decode`` and ``add_bm25`` in one pass, in half the time."""
    n, end = len(scores), U(len(scores))
    constant, per_word = k1 * (1 - b), k1 * b / mean
    for w in words:
        df = document_counts[w]
        weight = (k1 + 1) * math.log1p((n - df + 0.5) / (df + 0.5))
        raw = lists[edges[w] : edges[w + 1]]
        at, stop, d = U(0), U(len(raw)), U(0)
        while at + U(1) < stop:
            gap = U(raw[at])
            at += U(1)
            if gap >= U(128):
                gap, at = read_rest(raw, at, stop, gap)
                if at >= stop:
                    return False
            more = U(raw[at])
            at += U(1)
            if more >= U(128):
                more, at = read_rest(raw, at, stop, more)
            d += gap
            if d >= end:
                return False
            f = np.float64(np.int64(more) + 1)
            scores[d] += weight * f / (f + constant + per_word * lengths[d])
            d += U(1)
    return True


@kernel
def add_weighted(lists, edges, words, weights, longest, scores):
    documents, counts = np.empty(longest, np.int32), np.empty(longest, np.int32)
    for i in range(len(words)):
        w = words[i]
        size = decode(lists[edges[w] : edges[w + 1]], len(scores), documents, counts)
        if size < 0:
            return False
        weight = weights[i]
        for j in range(size):
            scores[documents[j]] += weight * counts[j]
    return True


@kernel
def divide(scores, norms, norm):
    for d in range(len(scores)):
        if scores[d] > 0:
            scores[d] /= norms[d] * norm


@kernel
def add_squares(lists, edges, first, last, n, idf, squares, longest):
    documents, counts = np.empty(longest, np.int32), np.empty(longest, np.int32)
    for w in range(first, last):
        k = decode(lists[edges[w] : edges[w + 1]], n, documents, counts)
        if k < 0:
            return False
        for i in range(k):
            weight = counts[i] * idf[w]
            squares[documents[i]] += weight * weight
    return True


@kernel
def select_positive(scores, heap):
    """Select the best rows above 0: their number, and the number of all above 0."""
    k, total, size, lowest = len(heap), 0, 0, 0.0
    for d in range(len(scores)):
        total += scores[d] > 0.0
        if scores[d] <= lowest or k == 0:
            continue
        if size < k:
            heap[size] = d
            size += 1
            if size == k:
                make_heap(scores, heap, k)
                lowest = scores[heap[0]]
        else:
            heap[0] = d
            sink(scores, heap, 0, k)
            lowest = scores[heap[0]]
    if size < k:
        make_heap(scores, heap, size)
    sort_heap(scores, heap, size)
    return size, total


@kernel
def make_heap(scores, heap, size):
    for i in range(size // 2 - 1, -1, -1):
        sink(scores, heap, i, size)


@kernel
def sort_heap(scores, heap, size):
    """Sort a heap, the best first."""
    for last in range(size - 1, 0, -1):
        heap[0], heap[last] = heap[last], heap[0]
        sink(scores, heap, 0, last)


@kernel
def sink(scores, heap, i, size):
    """Restore the heap below i: the worst row goes to the root."""
    while True:
        worst = i
        for child in range(2 * i + 1, min(2 * i + 3, size)):
            x, y = scores[heap[child]], scores[heap[worst]]
            if x < y or (x == y and heap[child] > heap[worst]):
                worst = child
        if worst == i:
            return
        heap[i], heap[worst] = heap[worst], heap[i]
        i = worst
