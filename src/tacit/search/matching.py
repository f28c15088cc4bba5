"""Answer a query: the documents that match it exactly, the best first.

A query is AND, OR and NOT of sets of documents; a set is a mask over all of them.
"""

from collections import Counter
from functools import reduce
from typing import NamedTuple

import numpy as np

from tacit.search.postings import NO_OCCURRENCES, Occurrences, Postings, read_any, read_phrase
from tacit.search.query import And, BoundQuery, Leaf, Node, Not, Or, Term
from tacit.search.ranking import best, best_of_all, bm25, bm25_of_words, cosine

__all__ = ["Ranking", "answer", "match", "score"]


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
    words = words_of_disjunction(bound, ranking.rank)
    if words is not None:
        if ranking.rank == "bm25":
            scores = bm25_of_words(postings, words, ranking.mean_length, ranking.k1, ranking.b)
        else:
            scores = cosine(postings, ranking.norms, Counter(words))
        rows, total = best_of_all(scores, top)
        return rows.tolist(), scores, total
    rows, occurrences = match(bound, postings)
    scores = score(bound, occurrences, postings, ranking)
    return best(scores, rows, top).tolist(), scores, len(rows)


def words_of_disjunction(bound: BoundQuery, rank: str) -> list[int] | None:
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
    occurrences = {leaf: read_term(term, postings) for leaf, term in bound.terms.items()}

    def evaluate(node: Node) -> np.ndarray:
        if isinstance(node, Leaf):
            mask = np.zeros(postings.n_documents, np.bool_)
            mask[occurrences[node].documents] = True
            return mask
        if isinstance(node, Not):
            return ~evaluate(node.part)
        combine = np.logical_and if isinstance(node, And) else np.logical_or
        return reduce(combine, map(evaluate, node.parts))

    return np.flatnonzero(evaluate(bound.node)), occurrences


def read_term(term: Term, postings: Postings) -> Occurrences:
    """The occurrences of a word, a phrase or a wildcard."""
    if term.is_phrase:
        if min(term.words) < 0:
            return NO_OCCURRENCES
        return read_phrase(postings, term.words, term.offsets)
    known = [word for word in term.words if word >= 0]
    return read_any(postings, known) if known else NO_OCCURRENCES


def score(
    bound: BoundQuery,
    occurrences: dict[Leaf, Occurrences],
    postings: Postings,
    ranking: Ranking,
) -> np.ndarray:
    """A score for every document of the index.

    For BM25 a phrase or a wildcard is one term. The cosine is between words: it uses the words
    of phrases, and the words that wildcards match, one by one.
    """
    if ranking.rank == "bm25":
        terms = [occurrences[leaf] for leaf in bound.wanted()]
        return bm25(terms, postings.lengths, ranking.mean_length, ranking.k1, ranking.b)
    words: Counter[int] = Counter()
    for leaf in bound.wanted():
        words.update(word for word in bound.terms[leaf].words if word >= 0)
    return cosine(postings, ranking.norms, words)
