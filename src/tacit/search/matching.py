"""Which documents match a query, exactly; and which words of them are worth ranking by."""

from collections import Counter
from functools import reduce
from typing import NamedTuple

import numpy as np

from tacit.search.postings import Postings
from tacit.search.query import And, Leaf, Node, Not, Or
from tacit.search.query_terms import Bound, Term
from tacit.search.ranking import best, best_of_all, bm25, bm25_of_words, cosine
from tacit.search.read_postings import (
    NOWHERE,
    DocumentSet,
    Found,
    both,
    either,
    read_any,
    read_in_a_row,
)

__all__ = ["Ranking", "answer", "match", "score"]


class Ranking(NamedTuple):
    """How documents are ranked."""

    rank: str  # "bm25" or "tfidf"
    norms: np.ndarray
    mean_length: float
    k1: float
    b: float


def answer(
    bound: Bound, postings: Postings, how: Ranking, top: int | None
) -> tuple[list[int], np.ndarray, int]:
    """The best matches in order, a score for every document, and the number of matches."""
    words = any_of(bound, how.rank)
    if words is not None:
        if how.rank == "bm25":
            scores = bm25_of_words(postings, words, how.mean_length, how.k1, how.b)
        else:
            scores = cosine(postings, how.norms, Counter(words))
        rows, total = best_of_all(scores, top)
        return rows.tolist(), scores, total
    rows, found = match(bound, postings)
    scores = score(bound, found, postings, how)
    return best(scores, rows, top).tolist(), scores, len(rows)


def any_of(bound: Bound, rank: str) -> list[int] | None:
    """The words of a query that asks for any of some, and has no more to it: what it matches
    is what has a score. None for other queries."""
    node = bound.node
    parts = node.parts if isinstance(node, Or) else (node,)
    words: list[int] = []
    for leaf in parts:
        if not isinstance(leaf, Leaf):
            return None
        term = bound.terms[leaf]
        if term.in_a_row or (rank == "bm25" and len(term.words) != 1):
            return None
        words += [word for word in term.words if word >= 0]
    return words


def match(bound: Bound, postings: Postings) -> tuple[np.ndarray, dict[Leaf, Found]]:
    """The matching documents in order; and where each leaf of the query was found."""
    found = {leaf: find(term, postings) for leaf, term in bound.terms.items()}

    def evaluate(node: Node) -> DocumentSet:
        if isinstance(node, Leaf):
            return DocumentSet(found[node].documents)
        if isinstance(node, Not):
            return evaluate(node.part).inverted()
        combine = both if isinstance(node, And) else either
        # Short lists first: what they rule out is not looked at again. The set is the same.
        parts = sorted(map(evaluate, node.parts), key=lambda part: len(part.rows))
        return reduce(combine, parts)

    return evaluate(bound.node).listed(postings.n_documents), found


def find(term: Term, postings: Postings) -> Found:
    """Where a word, a phrase or a wildcard occurs."""
    if term.in_a_row:
        if min(term.words) < 0:
            return NOWHERE
        return read_in_a_row(postings, term.words, term.offsets)
    there = [word for word in term.words if word >= 0]
    return read_any(postings, there) if there else NOWHERE


def score(
    bound: Bound, found: dict[Leaf, Found], postings: Postings, how: Ranking
) -> np.ndarray:
    """A score for every document of the index.

    To BM25 a phrase or a wildcard is one term, counted as such. The cosine is between words:
    it looks at those of phrases and those that wildcards match one by one.
    """
    if how.rank == "bm25":
        terms = [found[leaf] for leaf in bound.wanted()]
        return bm25(terms, postings.lengths, how.mean_length, how.k1, how.b)
    words: Counter[int] = Counter()
    for leaf in bound.wanted():
        words.update(word for word in bound.terms[leaf].words if word >= 0)
    return cosine(postings, how.norms, words)
