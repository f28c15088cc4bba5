"""Search documents by the words in them.

    collect   invert a block: the documents and positions of each of its words
    merge     concatenate the lists of the blocks, in order

Contract: summable, with the index as the sum; it grows with the documents. Blocks are collected
in memory up to a limit, then merged into a run in a temporary file; at the end the runs are
merged. The bytes are the same whatever the limit. The vocabulary and one or two numbers per
document are always in memory. A query (``search.query``) is answered list by list:
Boolean matches are exact (``search.matching``), then ranked (``search.ranking``).

Zobel and Moffat (2006), Inverted files for text search engines. ACM Computing Surveys 38.
The notes' section on word counts and matching.
"""

import os
import threading
from collections.abc import Collection, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from tacit.core.disk_array import SpillFile, disk_array
from tacit.core.engines import Engine, get_engine
from tacit.core.memory import parse_memory
from tacit.data.documents import Documents
from tacit.data.text_block import Text
from tacit.search.matching import Ranking, answer
from tacit.search.postings import Postings, invert, merge_postings, no_postings, words_of
from tacit.search.query import Term, bind, parse
from tacit.search.ranking import best_of_all, cosine, document_norms
from tacit.search.results import Hits
from tacit.search.snippets import Wanted
from tacit.search.stored_documents import FIELDS as STORED_FIELDS
from tacit.search.stored_documents import (
    SCHEMA,
    DocumentIndex,
    StoredDocuments,
    Texts,
    check_dtypes,
    check_edges,
    check_top,
    join_names,
    merge_texts,
    names_of,
    pack_texts,
)
from tacit.search.word_rule import WordRule, word_rule
from tacit.text.stop_words import LISTS
from tacit.text.terms import intern
from tacit.text.tokens import RULES, split, token_rule
from tacit.text.vocabulary import Vocabulary

__all__ = ["Index", "IndexBuilder", "IndexSettings", "InvertedIndex", "collect"]

RANKS = ("bm25", "tfidf")
EXPANSIONS = 10_000  # words that a wildcard may match
writing = threading.RLock()  # one change to an index at a time
BYTES, EDGES, SMALL = (np.dtype(kind) for kind in (np.uint8, np.int64, np.int32))
POSTINGS: dict[str, tuple[np.dtype, tuple]] = {  # the arrays of a file: dtype and shape
    "words_": (BYTES, (None,)),
    "word_edges_": (EDGES, ("n_words_+1",)),
    "word_keys_": (np.dtype(np.uint64), ("n_words_",)),
    "document_counts_": (SMALL, ("n_words_",)),
    "last_documents_": (SMALL, ("n_words_",)),
    "list_edges_": (EDGES, ("n_words_+1",)),
    "lists_": (BYTES, (None,)),
    "place_edges_": (EDGES, ("n_words_+1",)),
    "places_": (BYTES, (None,)),
    "lengths_": (SMALL, ("n_documents_",)),
}
ARRAYS = {**POSTINGS, "norms_": (np.dtype(np.float64), ("n_documents_",))}
FIELDS = {**{name: dtype for name, (dtype, _) in ARRAYS.items()}, **STORED_FIELDS}
DIVIDED = {"word_edges_": "words_", "list_edges_": "lists_", "place_edges_": "places_"}


# --- The content of an index ---


class Index(NamedTuple):
    """An inverted index. It never changes: adding documents makes another."""

    rule: WordRule
    postings: Postings
    norms: np.ndarray  # (n,) float64, of the documents as tf-idf vectors
    mean_length: float  # words per document
    stored: StoredDocuments

    @classmethod
    def of(cls, rule: WordRule, postings: Postings, stored: StoredDocuments) -> "Index":
        """The index of postings, with the norms of their documents."""
        arrays = {**postings_arrays(postings), "norms_": document_norms(postings)}
        arrays |= {name: array for name, array in stored.arrays().items() if array is not None}
        return cls.from_arrays(rule, arrays, int(postings.lengths.sum(dtype=np.int64)))

    @classmethod
    def from_arrays(
        cls, rule: WordRule, arrays: Mapping[str, np.ndarray], n_tokens: int
    ) -> "Index":
        """The index of the arrays of a file. ValueError if they do not fit together."""
        check_dtypes(arrays, FIELDS)
        check_edges(arrays, DIVIDED)
        fixed = {name: read_only(array) for name, array in arrays.items()}
        data, edges, keys, *lists = (fixed[name] for name in POSTINGS)
        postings = Postings(Vocabulary(data, edges, keys), *lists)
        stored = StoredDocuments.from_arrays(fixed, postings.n_documents)
        mean = n_tokens / max(1, postings.n_documents) or 1.0
        return cls(rule, postings, fixed["norms_"], mean, stored)

    def arrays(self) -> dict[str, np.ndarray | None]:
        """The arrays of a file, by name; None for those that this index does without."""
        return {**postings_arrays(self.postings), "norms_": self.norms, **self.stored.arrays()}


def postings_arrays(postings: Postings) -> dict[str, np.ndarray]:
    words = postings.vocabulary
    parts = (words.data, words.offsets, words.keys, *postings[1:])
    return dict(zip(POSTINGS, parts, strict=True))  # type: ignore[arg-type]


def read_only(array: np.ndarray) -> np.ndarray:
    """A read-only view, so that kernels compile once, for mapped memory too."""
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view


class IndexSettings(NamedTuple):
    """How documents are indexed. The params of the pass."""

    rule: WordRule
    store: bool = True


class Block(NamedTuple):
    """The index of a block of documents."""

    postings: Postings
    texts: Texts | None

    @property
    def nbytes(self) -> int:
        return self.postings.nbytes + (0 if self.texts is None else self.texts.nbytes)


def collect(settings: IndexSettings, text: Text) -> Block:
    """Index a block."""
    terms = intern(split(text, settings.rule.token))
    postings = invert(terms, settings.rule.unwanted(terms.vocabulary))
    return Block(postings, pack_texts(text) if settings.store else None)


class IndexBuilder:
    """Merges blocks, in order, within a memory limit in bytes."""

    def __init__(self, memory: float) -> None:
        self.memory = memory
        self.runs: list[Postings] = []  # in temporary files
        self.waiting: list[Postings] = []
        self.texts: list[Texts] = []
        self.nbytes = 0
        self.text_file: SpillFile | None = None

    def add(self, block: Block) -> None:
        """Add the next block, in order."""
        self.waiting.append(block.postings)
        if block.texts is not None:
            self.texts.append(block.texts)
        self.nbytes += block.nbytes
        if self.nbytes > self.memory:
            self._spill()

    def finish(self) -> tuple[Postings, Texts | None]:
        """The postings and texts of all blocks."""
        parts = [*self.runs, *self.waiting] or [no_postings()]
        postings = merge_postings(parts, disk_array if self.runs else None)
        if not self.texts:
            return postings, None
        if self.text_file is None:
            return postings, merge_texts(self.texts)
        self._write_texts()
        return postings, merge_texts(self.texts, self.text_file.finish())

    def _spill(self) -> None:
        self.runs.append(merge_postings(self.waiting, disk_array))
        self.waiting, self.nbytes = [], 0
        if self.texts:
            self._write_texts()

    def _write_texts(self) -> None:
        self.text_file = self.text_file or SpillFile()
        for i, part in enumerate(self.texts):
            if len(part.pieces):
                self.text_file.write(part.pieces)
                self.texts[i] = part._replace(pieces=np.zeros(0, np.uint8))


# --- The estimator ---


class InvertedIndex(DocumentIndex):
    """Search documents by words, "exact phrases", wild* cards, AND, OR and NOT.

    Which documents match is exact. They are ranked by Okapi BM25 or by the cosine of tf-idf
    vectors, ties by the order of the documents. An index is built in one pass over documents
    that need not fit in memory, can be extended, and opens from its file in milliseconds with
    ``tacit.load(path, mmap=True)``. Any number of threads may search at once.

    Parameters
    ----------
    rule : {"plain", "words"}
        Tokenizer, see ``tacit.text.tokenize``: plain splits don't and well-known, words does
        not.
    lowercase : bool
        Whether Oil and oil are the same word.
    min_length : int
        The shortest word to index, in characters.
    stop_words : None, "english-function-words" (also "english") or collection of str
        Words to leave out. None by default: phrases need them, and BM25 gives them little
        weight.
    k1, b : float
        Parameters of BM25: saturation of term frequency, and normalization by length.
    store_text : bool
        Whether to store the documents, compressed to about half, for snippets.
    memory : int, or str such as "2GB"
        How much of the index to keep in memory while it is built; the remainder goes to
        temporary files. The result does not depend on it.
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
    _takes_text: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict] = {
        "rule": [StrOptions(set(RULES))],
        "lowercase": ["boolean"],
        "min_length": [Interval(Integral, 1, None, closed="left")],
        "stop_words": [None, StrOptions({*LISTS}), list, tuple, set, frozenset],
        "k1": [Interval(Real, 0, None, closed="left")],
        "b": [Interval(Real, 0, 1, closed="both")],
        "store_text": ["boolean"],
        "memory": [Interval(Real, 0, None, closed="neither"), str],
    }
    _file_schema: ClassVar[dict] = {
        **{name: shape for name, (_, shape) in ARRAYS.items()},
        **SCHEMA,
    }
    _file_optional = tuple(SCHEMA)
    _file_renamed: ClassVar[dict] = {"memory_bytes": "memory"}

    def __init__(
        self,
        *,
        rule: str = "plain",
        lowercase: bool = True,
        min_length: int = 1,
        stop_words: str | Collection[str] | None = None,
        k1: float = 1.2,
        b: float = 0.75,
        store_text: bool = True,
        memory: int | float | str = 2**30,
        engine: str | Engine = "threads",
    ) -> None:
        self.rule, self.lowercase, self.min_length = rule, lowercase, min_length
        self.stop_words, self.k1, self.b, self.store_text = stop_words, k1, b, store_text
        self.memory, self.engine = memory, engine

    # --- Building ---

    def fit(
        self, documents: Any, y: Any = None, *, ids: Sequence[str] | None = None
    ) -> "InvertedIndex":
        """Index documents: a list of str, a generator, a dataframe, a path, or Documents.

        ``ids`` name them; documents of a file or a folder have names already, others are
        numbered from 0.
        """
        self._validate_params()
        rule = self._word_rule()
        source = Documents.of(documents)
        if not len(source):
            raise ValueError("InvertedIndex needs documents, but there are none. Give some.")
        names = names_of(source, ids)
        postings, texts = self._build(source, rule, bool(self.store_text))
        if not len(postings.vocabulary):
            raise ValueError(explain_no_words(source, rule))
        self._store(Index.of(rule, postings, StoredDocuments(len(source), names, texts)))
        return self

    def add(self, documents: Any, *, ids: Sequence[str] | None = None) -> "InvertedIndex":
        """Append documents to the index.

        The cost is that of indexing them and of copying the index once, so add many at a time.
        Searches that run meanwhile see the index as it was.
        """
        if not hasattr(self, "n_documents_"):
            return self.fit(documents, ids=ids)
        source = Documents.of(documents)
        with writing:
            old = self._content
            stored = old.stored
            names = join_names(stored, names_of(source, ids), len(source))
            added, texts = self._build(source, old.rule, stored.texts is not None)
            postings = merge_postings([old.postings, added])
            if stored.texts is not None and texts is not None:
                texts = merge_texts([stored.texts, texts])
            stored = StoredDocuments(postings.n_documents, names, texts or stored.texts)
            self._store(Index.of(old.rule, postings, stored))
        return self

    def save(self, path: str | os.PathLike) -> None:
        """Write the index to ``path``; ``tacit.load(path, mmap=True)`` opens it again."""
        with writing:  # documents that are being added are in the file all or none
            super().save(path)

    # --- Searching ---

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
            How many to return; None for all. ``total`` of the result counts all matches.
        rank : {"bm25", "tfidf"}
            By Okapi BM25, or by the cosine of tf-idf vectors. What is excluded does not count.
        operator : {"and", "or"}
            The operator between two words without one.
        snippet : int
            Characters of each snippet, approximately; 0 for none.
        max_expansions : int
            Words that a wildcard may match: of more, those in the most documents, with a note
            in ``notes`` of the result.

        Raises
        ------
        QueryError
            The query cannot be parsed. The message names the place. It is a ValueError.
        """
        index = self._fitted()
        if rank not in RANKS:
            raise ValueError(f"rank={rank!r} is unknown; choose from {list(RANKS)}.")
        top = check_top(top)
        check_count("snippet", snippet, 0)
        check_count("max_expansions", max_expansions, 1)
        bound = bind(parse(query, operator), query, index.rule, index.postings, max_expansions)
        ranking = Ranking(rank, index.norms, index.mean_length, self.k1, self.b)
        rows, scores, total = answer(bound, index.postings, ranking, top)
        terms = {bound.terms[leaf] for leaf in bound.wanted()} if snippet else set()
        wanted = to_mark(terms, index.postings.vocabulary)
        hits = index.stored.hits(rows, scores, wanted, index.rule.token, snippet)
        return Hits(hits, total=total, notes=bound.notes)

    def similar_documents(
        self, id: int | str, *, top: int | None = 10, snippet: int = 160
    ) -> Hits:
        """The documents most like one of them, by the cosine of tf-idf vectors, without it."""
        index = self._fitted()
        top = check_top(top)
        row = index.stored.row_of(id)
        if index.stored.texts is None:
            words = words_of(index.postings, row)
        else:  # much faster than searching all lists
            words = index.rule.count(index.stored.text(row), index.postings.vocabulary)
        scores = cosine(index.postings, index.norms, words)
        scores[row] = 0.0  # not itself
        rows, total = best_of_all(scores, top)
        wanted = to_mark(set(), index.postings.vocabulary)
        hits = index.stored.hits(rows.tolist(), scores, wanted, index.rule.token, snippet)
        return Hits(hits, total=total)

    def _word_rule(self) -> WordRule:
        token = token_rule(self.rule, bool(self.lowercase), int(self.min_length))
        return word_rule(token, self.stop_words)

    def _build(
        self, source: Documents, rule: WordRule, store: bool
    ) -> tuple[Postings, Texts | None]:
        builder = IndexBuilder(parse_memory(self.memory) or 2**30)
        for block in get_engine(self.engine).map(collect, IndexSettings(rule, store), source):
            builder.add(block)
        return builder.finish()

    def _store(self, index: Index) -> None:
        self.n_documents_ = index.postings.n_documents
        self.n_words_ = len(index.postings.vocabulary)
        self.n_tokens_ = int(index.postings.lengths.sum(dtype=np.int64))
        self._set_arrays(index)
        self._content = index

    def _after_load(self) -> None:
        self._validate_params()
        arrays = {name: vars(self)[name] for name in FIELDS if name in vars(self)}
        self._content = Index.from_arrays(self._word_rule(), arrays, self.n_tokens_)


# --- Queries ---


def to_mark(terms: set[Term], vocabulary: Vocabulary) -> Wanted:
    """The words and phrases of terms, to be marked in snippets."""
    words = {word for term in terms if not term.is_phrase for word in term.words if word >= 0}
    phrases = [
        ([vocabulary[word] for word in term.words], term.offsets)
        for term in terms
        if term.is_phrase and min(term.words) >= 0
    ]
    return Wanted(vocabulary.take(np.array(sorted(words), np.int64)), phrases)


def check_count(name: str, value: Any, least: int) -> None:
    if not isinstance(value, int | np.integer) or isinstance(value, bool):
        raise TypeError(f"{name}={value!r} must be a whole number.")
    if value < least:
        raise ValueError(f"{name}={value} must be at least {least}.")


def explain_no_words(source: Documents, rule: WordRule) -> str:
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
        "more. Lower min_length, or check the documents."
    )
