"""Answer a query: the documents that match it exactly, the best first.

A query is AND, OR and NOT of sets of documents. A set is a sorted array and a flag for "all but
these", so that NOT costs nothing, and a query of NOTs alone has a result.
"""

from collections import Counter
from functools import reduce
from typing import NamedTuple

import numpy as np

from tacit.core.kernel import kernel
from tacit.search.postings import NOWHERE, Occurrences, Postings, read_any, read_phrase
from tacit.search.query import And, BoundQuery, Leaf, Node, Not, Or, Term
from tacit.search.ranking import best, best_of_all, bm25, bm25_of_words, cosine

__all__ = ["DocumentSet", "Ranking", "answer", "both", "either", "match", "score"]

U = np.uint64


class Ranking(NamedTuple):
    """The ranking function and its parameters."""

    rank: str  # "bm25" or "tfidf"
    norms: np.ndarray
    mean_length: float
    k1: float
    b: float


def answer(
    bound: BoundQuery, postings: Postings, ranking: Ranking, top: int | None
) -> tuple[list[int], np.ndarray, int]:
    """The best matches in order, a score for every document, and the number of matches."""
    words = any_of(bound, ranking.rank)
    if words is not None:
        if ranking.rank == "bm25":
            scores = bm25_of_words(postings, words, ranking.mean_length, ranking.k1, ranking.b)
        else:
            scores = cosine(postings, ranking.norms, Counter(words))
        rows, total = best_of_all(scores, top)
        return rows.tolist(), scores, total
    rows, found = match(bound, postings)
    scores = score(bound, found, postings, ranking)
    return best(scores, rows, top).tolist(), scores, len(rows)


def any_of(bound: BoundQuery, rank: str) -> list[int] | None:
    """The words of a query that is an OR of words, whose matches are the documents with a score
    above 0. None for other queries."""
    node = bound.node
    parts = node.parts if isinstance(node, Or) else (node,)
    words: list[int] = []
    for leaf in parts:
        if not isinstance(leaf, Leaf):
            return None
        term = bound.terms[leaf]
        if term.is_phrase or (rank == "bm25" and len(term.words) != 1):
            return None
        words += [word for word in term.words if word >= 0]
    return words


def match(bound: BoundQuery, postings: Postings) -> tuple[np.ndarray, dict[Leaf, Occurrences]]:
    """The matching documents in order, and the occurrences of each leaf."""
    found = {leaf: find(term, postings) for leaf, term in bound.terms.items()}

    def evaluate(node: Node) -> DocumentSet:
        if isinstance(node, Leaf):
            return DocumentSet(found[node].documents)
        if isinstance(node, Not):
            return evaluate(node.part).inverted()
        combine = both if isinstance(node, And) else either
        # Short lists first: they rule out the most. The set is the same in any order.
        parts = sorted(map(evaluate, node.parts), key=lambda part: len(part.rows))
        return reduce(combine, parts)

    return evaluate(bound.node).listed(postings.n_documents), found


def find(term: Term, postings: Postings) -> Occurrences:
    """The occurrences of a word, a phrase or a wildcard."""
    if term.is_phrase:
        if min(term.words) < 0:
            return NOWHERE
        return read_phrase(postings, term.words, term.offsets)
    there = [word for word in term.words if word >= 0]
    return read_any(postings, there) if there else NOWHERE


def score(
    bound: BoundQuery, found: dict[Leaf, Occurrences], postings: Postings, ranking: Ranking
) -> np.ndarray:
    """A score for every document of the index.

    For BM25 a phrase or a wildcard is one term. The cosine is between words: it uses the words
    of phrases, and the words that wildcards match, one by one.
    """
    if ranking.rank == "bm25":
        terms = [found[leaf] for leaf in bound.wanted()]
        return bm25(terms, postings.lengths, ranking.mean_length, ranking.k1, ranking.b)
    words: Counter[int] = Counter()
    for leaf in bound.wanted():
        words.update(word for word in bound.terms[leaf].words if word >= 0)
    return cosine(postings, ranking.norms, words)


# --- Sets ---


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
        inside = np.ones(n, np.bool_)
        inside[self.rows] = False
        return np.flatnonzero(inside).astype(np.int32)


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


@kernel
def intersect(few, many):
    """The intersection of two sorted arrays."""
    out = np.empty(len(few), np.int32)
    k = 0
    if len(few) * 16 < len(many):  # a list this much shorter is searched for in the longer one
        j = 0
        for i in range(len(few)):
            step, low, high = 1, j, j
            while high < len(many) and many[high] < few[i]:
                low = high + 1
                high += step
                step *= 2
            high = min(high, len(many))
            while low < high:
                middle = (low + high) // 2
                if many[middle] < few[i]:
                    low = middle + 1
                else:
                    high = middle
            j = low
            if j == len(many):
                break
            if many[j] == few[i]:
                out[k] = few[i]
                k += 1
        return out[:k]
    f, m, a, b = U(0), U(0), U(len(few)), U(len(many))
    while f < a and m < b:
        x, y = few[f], many[m]
        out[k] = x
        k += x == y
        f += U(x <= y)
        m += U(y <= x)
    return out[:k]


@kernel
def unite(a, b):
    """The union of two sorted arrays."""
    out = np.empty(len(a) + len(b), np.int32)
    i, j, k = U(0), U(0), U(0)
    n, m = U(len(a)), U(len(b))
    while i < n and j < m:
        x, y = a[i], b[j]
        out[k] = min(x, y)
        k += U(1)
        i += U(x <= y)
        j += U(y <= x)
    while i < n:
        out[k] = a[i]
        i += U(1)
        k += U(1)
    while j < m:
        out[k] = b[j]
        j += U(1)
        k += U(1)
    return out[: np.int64(k)]


@kernel
def subtract(a, b):
    """The members of a that are not in b."""
    out = np.empty(len(a), np.int32)
    j, k = 0, 0
    for i in range(len(a)):
        while j < len(b) and b[j] < a[i]:
            j += 1
        if j == len(b) or b[j] != a[i]:
            out[k] = a[i]
            k += 1
    return out[:k]
