"""Find documents by the words in them.

    collect   invert a block: the list of documents and places of each of its words
    merge     the lists of the blocks, in order (``search.gather``)

Contract: summable, with the index for a sum; it grows with the documents, and spills to files
past a budget. A query (``search.query``) is answered list by list: Boolean matches are exact,
then the matches are ranked (``search.ranking``).

Zobel and Moffat (2006), Inverted files for text search engines. ACM Computing Surveys 38.
The notes' section on word counts and matching.
"""

import os
import threading
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from tacit.core.engines import get_engine
from tacit.core.estimator import Estimator
from tacit.data.documents import Documents
from tacit.search.gather import Gatherer, How, collect
from tacit.search.hit import Hit, Hits
from tacit.search.index_content import FIELDS, Index, check_arrays, join_names, names_of
from tacit.search.matching import Ranking, answer
from tacit.search.postings import merge_postings
from tacit.search.query import parse
from tacit.search.query_terms import Term, bind
from tacit.search.ranking import best_of_all, cosine
from tacit.search.read_postings import words_of
from tacit.search.snippets import Asked, Snippet, snippets
from tacit.search.texts import merge_texts
from tacit.search.word_rule import WordRule, word_rule
from tacit.text.tokens import RULES, token_rule
from tacit.text.vocabulary import Vocabulary, gather

__all__ = ["InvertedIndex"]

RANKS = ("bm25", "tfidf")
EXPANSIONS = 10_000  # words that a wildcard may stand for
writing = threading.RLock()  # one change to an index at a time


class InvertedIndex(Estimator):
    """Search documents by words, "exact phrases", wild* cards, AND, OR and NOT.

    Which documents match is exact. They are ranked by Okapi BM25 or by the cosine of tf-idf
    vectors, ties by the order of the documents. An index is built in one pass over documents
    that need not fit memory, may be added to, and opens from its file in milliseconds with
    ``tacit.load(path, mmap=True)``. Any number of threads may search at once.

    Parameters
    ----------
    rule : {"plain", "words"}
        What a word is, see ``tacit.text.tokenize``: runs of letters and digits, or also
        don't and well-known as one.
    lowercase : bool
        Whether Oil and oil are the same word.
    min_length : int
        The shortest word to index, in characters.
    stop_words : None, "english" or collection of str
        Words to leave out. None by default: phrases need them, and ranking bears them.
    k1, b : float
        BM25's: how soon repetition stops to count, and how much long documents pay for it.
    store_text : bool
        Whether to keep the documents, compressed to about half, for snippets.
    memory_bytes : float
        How much of the index to hold in memory while it is built; the rest goes to temporary
        files. The result does not depend on it.
    engine : {"serial", "threads", "dask"} or Engine
        Where the pass runs.

    Attributes
    ----------
    n_documents_, n_words_, n_tokens_ : int
        Documents, different words, and words in all.

    Examples
    --------
    >>> index = InvertedIndex().fit([
    ...     "Crude oil prices fell",
    ...     "Gas and oil futures",
    ...     "Natural gas prices rose as oil fell",
    ... ])
    >>> index.search("oil AND NOT gas").ids
    [0]
    >>> print(index.search('"natural gas" OR futur*'))
    1  1.068  Gas and oil [futures]
    2  0.843  [Natural] [gas] prices rose as oil fell
    2 of 2 documents
    """

    contract: ClassVar[str] = "summable"
    _parameter_constraints: ClassVar[dict] = {
        "rule": [StrOptions(set(RULES))],
        "lowercase": ["boolean"],
        "min_length": [Interval(Integral, 1, None, closed="left")],
        "stop_words": [None, StrOptions({"english"}), list, tuple, set, frozenset],
        "k1": [Interval(Real, 0, None, closed="left")],
        "b": [Interval(Real, 0, 1, closed="both")],
        "store_text": ["boolean"],
        "memory_bytes": [Interval(Real, 0, None, closed="neither")],
        "engine": "no_validation",
    }
    _file_schema: ClassVar[dict] = {
        "words_": (None,),
        "word_edges_": ("n_words_+1",),
        "word_keys_": ("n_words_",),
        "document_counts_": ("n_words_",),
        "last_documents_": ("n_words_",),
        "list_edges_": ("n_words_+1",),
        "lists_": (None,),
        "place_edges_": ("n_words_+1",),
        "places_": (None,),
        "lengths_": ("n_documents_",),
        "norms_": ("n_documents_",),
        "names_": (None,),
        "name_edges_": ("n_documents_+1",),
        "text_edges_": ("n_documents_+1",),
        "piece_rows_": ("n_pieces+1",),
        "piece_edges_": ("n_pieces+1",),
        "pieces_": (None,),
    }
    _file_optional = (
        "names_", "name_edges_", "text_edges_", "piece_rows_", "piece_edges_", "pieces_",
    )  # fmt: skip

    def __init__(
        self,
        *,
        rule="plain",
        lowercase=True,
        min_length=1,
        stop_words=None,
        k1=1.2,
        b=0.75,
        store_text=True,
        memory_bytes=2**30,
        engine="threads",
    ):
        self.rule = rule
        self.lowercase = lowercase
        self.min_length = min_length
        self.stop_words = stop_words
        self.k1 = k1
        self.b = b
        self.store_text = store_text
        self.memory_bytes = memory_bytes
        self.engine = engine

    # --- Building ---

    def fit(self, documents: Any, y: Any = None, *, ids: Sequence[str] | None = None):
        """Index documents: a list of str, a generator, a dataframe, a path, or Documents.

        ``ids`` name them; those that come from a file or a folder have names already, others
        are numbered from 0.
        """
        self._validate_params()
        rule = self._word_rule()
        source = Documents.of(documents)
        if not len(source):
            raise ValueError("InvertedIndex needs documents, but there are none. Give some.")
        postings, texts = self._gather(source, rule, bool(self.store_text))
        if not len(postings.vocabulary):
            raise ValueError(why_wordless(source, rule))
        self._hold(Index.of(rule, postings, names_of(source, ids), texts))
        return self

    def add(self, documents: Any, *, ids: Sequence[str] | None = None) -> "InvertedIndex":
        """Index more documents behind those that are there.

        The cost is that of indexing them and of copying the index once, so add many at a time.
        Searches that run meanwhile see the index as it was.
        """
        if not hasattr(self, "n_documents_"):
            return self.fit(documents, ids=ids)
        source = Documents.of(documents)
        with writing:
            old = self._index
            names = join_names(old, names_of(source, ids), len(source))
            added, texts = self._gather(source, old.rule, old.texts is not None)
            postings = merge_postings([old.postings, added])
            if old.texts is not None and texts is not None:
                texts = merge_texts([old.texts, texts])
            self._hold(Index.of(old.rule, postings, names, texts or old.texts))
        return self

    def save(self, path: str | os.PathLike) -> None:
        """Write the index to ``path``; ``tacit.load(path, mmap=True)`` opens it again."""
        with writing:  # what is being added is in the file as a whole, or not at all
            super().save(path)

    # --- Asking ---

    def search(
        self,
        query: str,
        *,
        top: int | None = 10,
        rank: str = "bm25",
        operator: str = "and",
        snippet: int = 160,
        max_expansions: int = EXPANSIONS,
    ) -> Hits:
        """The documents that match a query, the best first.

        Parameters
        ----------
        query : str
            Words; "words in a row"; prefix*, *suffix, mid*dle; AND, OR, NOT in capitals, -word
            for NOT; parentheses. NOT binds tightest, then AND, then OR.
        top : int or None
            How many to give; None for all of them. ``total`` of the result says how many match.
        rank : {"bm25", "tfidf"}
            By Okapi BM25, or by the cosine of tf-idf vectors. What is excluded does not count.
        operator : {"and", "or"}
            What nothing between two words means.
        snippet : int
            About how many characters to show of each; 0 for none.
        max_expansions : int
            Words that a wildcard may stand for: those in the most documents, if there are more,
            and ``notes`` of the result say so.

        Raises
        ------
        QueryError
            The query cannot be understood. Says where and why. It is a ValueError.
        """
        index = self._fitted()
        check_choice("rank", rank, RANKS)
        check_count("top", top, 0, allow_none=True)
        check_count("snippet", snippet, 0)
        check_count("max_expansions", max_expansions, 1)
        bound = bind(parse(query, operator), query, index.rule, index.postings, max_expansions)
        how = Ranking(rank, index.norms, index.mean_length, self.k1, self.b)
        chosen, scores, total = answer(bound, index.postings, how, top)
        asked = {bound.terms[leaf] for leaf in bound.wanted()}
        return hits(index, chosen, scores, asked, snippet, total, bound.notes)

    def similar_documents(
        self, id: int | str, *, top: int | None = 10, snippet: int = 160
    ) -> Hits:
        """The documents most like one of them, by the cosine of tf-idf vectors, without it."""
        index = self._fitted()
        check_count("top", top, 0, allow_none=True)
        row = index.row_of(id)
        if index.texts is None:
            words = words_of(index.postings, row)
        else:  # much faster than to look through all lists
            words = index.rule.count(index.texts.read([row])[0], index.postings.vocabulary)
        scores = cosine(index.postings, index.norms, words)
        scores[row] = 0.0  # not itself
        chosen, total = best_of_all(scores, top)
        return hits(index, chosen.tolist(), scores, set(), snippet, total, [])

    def text(self, id: int | str) -> str:
        """A document as it was indexed."""
        index = self._fitted()
        if index.texts is None:
            raise ValueError(
                "This index does not hold the documents. Build it with store_text=True."
            )
        return index.texts.read([index.row_of(id)])[0]

    @property
    def ids(self) -> list[int | str]:
        """The names of the documents in order, or their numbers."""
        index = self._fitted()
        return [index.id_of(row) for row in range(index.postings.n_documents)]

    # --- Inside ---

    def _fitted(self) -> Index:
        if not hasattr(self, "_index"):
            check_is_fitted(self)  # slow, for its message
        return self._index

    def _word_rule(self) -> WordRule:
        token = token_rule(self.rule, bool(self.lowercase), int(self.min_length))
        return word_rule(token, self.stop_words)

    def _gather(self, source: Documents, rule: WordRule, store: bool):
        gatherer = Gatherer(self.memory_bytes)
        for block in get_engine(self.engine).map(collect, How(rule, store), source):
            gatherer.add(block)
        return gatherer.finish()

    def _hold(self, index: Index) -> None:
        self.n_documents_ = index.postings.n_documents
        self.n_words_ = len(index.postings.vocabulary)
        self.n_tokens_ = int(index.postings.lengths.sum(dtype=np.int64))
        for name, array in index.arrays().items():
            if array is not None:
                setattr(self, name, array)
            elif hasattr(self, name):
                delattr(self, name)
        self._index = index

    def _after_load(self) -> None:
        self._validate_params()
        arrays = {name: vars(self)[name] for name in FIELDS if name in vars(self)}
        check_arrays(arrays, self.n_documents_)
        self._index = Index.from_arrays(self._word_rule(), arrays, self.n_tokens_)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_index")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.no_validation = True
        return tags


# --- Small pieces ---


def hits(
    index: Index,
    rows: list[int],
    scores: np.ndarray,
    asked: set[Term],
    width: int,
    total: int,
    notes: list[str],
) -> Hits:
    shown = [Snippet("", ())] * len(rows)
    if width and index.texts is not None:
        marked = to_mark(asked, index.postings.vocabulary)
        shown = snippets(index.texts.read(rows), marked, index.rule.token, width)
    found = [
        Hit(index.id_of(row), float(scores[row]), *piece)
        for row, piece in zip(rows, shown, strict=True)
    ]
    return Hits(found, total=total, notes=notes)


def to_mark(asked: set[Term], vocabulary: Vocabulary) -> Asked:
    words = {word for term in asked if not term.in_a_row for word in term.words if word >= 0}
    phrases = [
        ([vocabulary[word] for word in term.words], term.offsets)
        for term in asked
        if term.in_a_row and min(term.words) >= 0
    ]
    return Asked(pick(vocabulary, np.array(sorted(words), np.int64)), phrases)


def pick(vocabulary: Vocabulary, places: np.ndarray) -> Vocabulary:
    """A few words of many, without a look at the others."""
    begin, edges = vocabulary.offsets[places], np.zeros(len(places) + 1, np.int64)
    np.cumsum(vocabulary.offsets[places + 1] - begin, out=edges[1:])
    return Vocabulary.of_bytes(gather(vocabulary.data, begin, edges), edges)


def check_choice(name: str, value: Any, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise ValueError(f"{name}={value!r} is unknown; choose from {list(allowed)}.")


def check_count(name: str, value: Any, least: int, allow_none: bool = False) -> None:
    if value is None and allow_none:
        return
    if not isinstance(value, int | np.integer) or isinstance(value, bool):
        raise TypeError(f"{name}={value!r} must be a whole number.")
    if value < least:
        raise ValueError(f"{name}={value} must be at least {least}.")


def why_wordless(source: Documents, rule: WordRule) -> str:
    repairs = source.report.repairs
    if repairs.empty == len(source):
        return f"All {len(source):,} documents are empty. Give some that hold words."
    if rule.stop_words:
        return (
            f"The {len(source):,} documents hold no words but stop words, of which there are "
            f"{len(rule.stop_words):,}. Give fewer stop_words."
        )
    return (
        f"The {len(source):,} documents hold no words of {rule.token.min_length} letters or "
        "more. Lower min_length, or look at the documents."
    )
