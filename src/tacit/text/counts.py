"""Documents as rows of term counts.

    collect   the terms of a block with their counts (``term_counts``)
    update    choose the columns: prune by document frequency, sort

One pass, summable: every block has a vocabulary, the vocabularies
merge, and the columns are sorted at the end, so neither the blocks nor the engine can change
the matrix. On plain text it is the matrix that scikit-learn's CountVectorizer gives.

The notes' section on word counts, documents and matching; bag of words in those on linear
classification.
"""

import warnings
from dataclasses import asdict
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_array

from tacit.text.term_counts import (
    BlockCounts,
    TermStats,
    add_all,
    assemble,
    check_limits,
    choose_terms,
    count_terms,
    explain_empty,
    explain_pruned,
    no_terms,
    term_stats,
)
from tacit.text.vectorizer import Analysis, Vectorizer
from tacit.text.vocabulary import Vocabulary, check_vocabulary, has_capital

__all__ = ["CountVectorizer", "collect", "count"]


# --- The algorithm ---


def collect(params: Analysis, block: Any) -> TermStats:
    """The terms of a block, with their counts."""
    return term_stats(params.find(block), params.binary)


def count(params: Analysis, block: Any) -> BlockCounts:
    """The same, and the rows of the matrix."""
    return count_terms(params.find(block), params.binary)


# --- The estimator ---


class CountVectorizer(Vectorizer):
    r"""Turn documents into rows of term counts.

    The parameters and attributes are scikit-learn's, and on ASCII text so is the matrix. Other
    text gets the token rule described in ``tacit.text.tokens``; the pattern
    ``token_pattern=r"(?u)\b\w\w+\b"`` gives scikit-learn's there too.

    Parameters
    ----------
    input : {"content", "filename", "file"}
        Whether documents are text, paths of files to read, or open files.
    encoding, decode_error : str
        How documents that are bytes are decoded; decode_error "strict", "ignore" or "replace".
    strip_accents : {"ascii", "unicode"}, callable or None
        Take accents off letters.
    lowercase : bool
    preprocessor, tokenizer : callable or None
        Functions of your own; Python then reads the documents one by one.
    stop_words : "english", "english-function-words", list or None
        Words to leave out: scikit-learn's list, or ours, of function words only.
        ``derive_stop_words(documents)`` returns a list.
    token_pattern : str or None
        A regular expression for tokens; None for ``rule``. Patterns for runs of one kind of
        character are as fast as the rule; others run in a child process.
    ngram_range : (int, int)
        The fewest and the most words (or characters) to a term.
    analyzer : {"word", "char", "char_wb"} or callable
        Terms of words, of characters, of characters within words, or a function.
    max_df, min_df : int or float
        Leave out terms in more, or fewer, documents: a number of them, or a proportion.
    max_features : int or None
        Keep this many terms, the most frequent; of equals, those that sort first.
    vocabulary : mapping or iterable, or None
        The terms to count. None takes those of the documents.
    binary : bool
        Count a term once per document.
    dtype : type of the counts
    rule : {"plain", "words"}
        The definition of a token: "plain" as in scikit-learn, "words" with apostrophes,
        hyphens and one-letter words.
    min_length : int or None
        The shortest word, in characters: 2 for "plain", 1 for "words" unless given.
    numbers : bool
        Whether to keep tokens without a letter.
    time_limit : float
        Seconds that ``token_pattern`` may take on one document.
    engine : {"serial", "threads", "dask"} or Engine
        Where the pass runs. The matrix does not depend on it.

    Attributes
    ----------
    vocabulary_ : dict of term to column, sorted
    fixed_vocabulary_ : bool, whether ``vocabulary`` names the terms
    input_report_ : dict of counts: documents, empty and missing ones, and repairs

    Examples
    --------
    >>> corpus = ["The whale, the white whale!", "Call me Ishmael.", None]
    >>> vectorizer = CountVectorizer()
    >>> vectorizer.fit_transform(corpus).toarray()
    array([[0, 0, 0, 2, 2, 1],
           [1, 1, 1, 0, 0, 0],
           [0, 0, 0, 0, 0, 0]])
    >>> vectorizer.get_feature_names_out()
    array(['call', 'ishmael', 'me', 'the', 'whale', 'white'], dtype=object)
    >>> vectorizer.input_report_["missing"]
    1
    """

    _parameter_constraints: ClassVar[dict] = {
        **Vectorizer._parameter_constraints,
        "vocabulary": [list, tuple, set, frozenset, dict, np.ndarray, None],
    }
    _file_types: ClassVar[dict] = {"vocabulary_": dict[str, int], "fixed_vocabulary_": bool}

    def __init__(
        self,
        *,
        input: str = "content",
        encoding: str = "utf-8",
        decode_error: str = "strict",
        strip_accents: Any = None,
        lowercase: bool = True,
        preprocessor: Any = None,
        tokenizer: Any = None,
        stop_words: Any = None,
        token_pattern: str | None = None,
        ngram_range: tuple[int, int] = (1, 1),
        analyzer: Any = "word",
        max_df: float = 1.0,
        min_df: float = 1,
        max_features: int | None = None,
        vocabulary: Any = None,
        binary: bool = False,
        dtype: Any = np.int64,
        rule: str = "plain",
        min_length: int | None = None,
        numbers: bool = True,
        time_limit: float = 10.0,
        engine: Any = "threads",
    ) -> None:
        self.input, self.encoding, self.decode_error = input, encoding, decode_error
        self.strip_accents, self.lowercase = strip_accents, lowercase
        self.preprocessor, self.tokenizer, self.stop_words = preprocessor, tokenizer, stop_words
        self.token_pattern, self.ngram_range = token_pattern, ngram_range
        self.analyzer, self.max_df, self.min_df = analyzer, max_df, min_df
        self.max_features, self.vocabulary, self.binary = max_features, vocabulary, binary
        self.dtype, self.rule, self.min_length, self.numbers = dtype, rule, min_length, numbers
        self.time_limit, self.engine = time_limit, engine

    def fit(self, raw_documents: Any, y: Any = None) -> "CountVectorizer":
        """Learn the terms. Documents may be larger than memory."""
        self._begin()
        if self.fixed_vocabulary_:
            self._documents(raw_documents)
            return self
        stats = self._term_stats(raw_documents)
        self._keep_terms(stats.vocabulary.take(self._choose(stats)))
        return self

    def fit_transform(self, raw_documents: Any, y: Any = None) -> Any:
        """Learn the terms and count them, in one pass."""
        self._begin()
        if self.fixed_vocabulary_:
            return self._count(raw_documents)
        blocks = list(self._pass(count, raw_documents, bool(self.binary)))
        stats, places = add_all([block.stats for block in blocks])
        self._note(stats)
        keep = self._choose(stats)
        self._keep_terms(stats.vocabulary.take(keep))
        column = np.where(keep, np.cumsum(keep) - 1, -1).astype(np.int32)
        columns = (column[place] for place in places)
        width = len(self.vocabulary_)
        return assemble(blocks, columns, width, self.dtype, self._engine())

    def partial_fit(self, raw_documents: Any, y: Any = None) -> "CountVectorizer":
        """Learn the terms of more documents.

        New terms get columns after the known ones, sorted among themselves, so that earlier
        rows keep their meaning. Pruning needs all documents at once: with max_df,
        min_df or max_features set, use fit.
        """
        if (self.min_df, self.max_df, self.max_features) != (1, 1.0, None):
            raise ValueError(
                f"CountVectorizer.partial_fit cannot prune (min_df={self.min_df}, "
                f"max_df={self.max_df}, max_features={self.max_features}): it has not read "
                "all documents yet. Leave them at 1, 1.0 and None, or use fit."
            )
        if self.vocabulary is not None:
            return self.fit(raw_documents)
        known = dict(getattr(self, "vocabulary_", {}))
        self._begin()
        stats = self._term_stats(raw_documents)
        if not known:
            self._choose(stats)  # raises if there is nothing to learn
        for term in stats.vocabulary:
            known.setdefault(term, len(known))
        self.vocabulary_ = known
        return self

    def transform(self, raw_documents: Any) -> Any:
        """Count the known terms of documents; others are left out."""
        return self._count(raw_documents)

    def _count(self, raw_documents: Any) -> Any:
        words, order = self._known_terms()
        blocks = list(self._pass(count, raw_documents, bool(self.binary)))
        columns = (words.find(block.stats.vocabulary) for block in blocks)
        if order is not None:
            columns = (np.where(place < 0, -1, order[place]) for place in columns)
        matrix = assemble(blocks, columns, len(words), self.dtype, self._engine())
        if order is not None:
            matrix.sort_indices()
        return matrix

    def inverse_transform(self, X: Any) -> list[np.ndarray]:
        """The terms with entries other than zero, for each row."""
        self._known_terms()
        names = self.get_feature_names_out().astype(str)
        rows = sp.csr_array(check_array(X, accept_sparse="csr"))
        rows.eliminate_zeros()
        return [names[np.sort(rows.indices[i:j])] for i, j in pairwise(rows.indptr.tolist())]

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The terms, in order of their columns."""
        self._known_terms()
        names = np.empty(len(self.vocabulary_), object)
        names[list(self.vocabulary_.values())] = list(self.vocabulary_)
        return names

    def _begin(self) -> None:
        self._check_settings()
        check_limits(self)
        self._warn_for_unused_params()
        fixed = check_vocabulary(self.vocabulary)
        self.fixed_vocabulary_ = fixed is not None
        if fixed is not None:
            self.vocabulary_ = fixed
            if self.lowercase and any(map(has_capital, fixed)):
                warnings.warn(
                    "Upper case characters found in vocabulary while 'lowercase' is True. "
                    "These entries will not be matched with any documents",
                    stacklevel=3,
                )

    def _term_stats(self, raw_documents: Any) -> TermStats:
        documents = self._documents(raw_documents)
        stats = no_terms()
        if documents.blocks:
            stats = self._engine().reduce(collect, self._analysis(bool(self.binary)), documents)
        self._note(stats)
        return stats

    def _note(self, stats: TermStats) -> None:
        self.input_report_ = {"documents": stats.documents, **asdict(stats.repairs)}

    def _choose(self, stats: TermStats) -> np.ndarray:
        if len(stats.vocabulary) == 0:
            raise ValueError(explain_empty(stats, self))
        keep = choose_terms(stats, self.min_df, self.max_df, self.max_features)
        if not keep.any():
            raise ValueError(explain_pruned(stats, self))
        return keep

    def _keep_terms(self, words: Vocabulary) -> None:
        self.vocabulary_ = words.numbered()
        self._sorted_terms = (self.vocabulary_, len(words), words, None)

    def _known_terms(self) -> tuple[Vocabulary, np.ndarray | None]:
        """The terms, sorted; and their columns, unless those are in the same order."""
        if not hasattr(self, "vocabulary_"):
            fixed = check_vocabulary(self.vocabulary)
            if fixed is None:
                raise NotFittedError("Vocabulary not fitted or provided. Call fit first.")
            self.vocabulary_, self.fixed_vocabulary_ = fixed, True
        if len(self.vocabulary_) == 0:
            raise ValueError("Vocabulary is empty. Call fit again.")
        cached: Any = getattr(self, "_sorted_terms", None)
        same = cached is not None and cached[0] is self.vocabulary_
        if not (same and cached[1] == len(self.vocabulary_)):
            terms = sorted(self.vocabulary_)
            columns = np.array([self.vocabulary_[term] for term in terms], np.int32)
            in_order = np.array_equal(columns, np.arange(len(columns)))
            words = Vocabulary.of_sorted(terms)
            cached = (self.vocabulary_, len(terms), words, None if in_order else columns)
            self._sorted_terms = cached
        return cached[2], cached[3]

    def _after_load(self) -> None:
        super()._after_load()
        check_limits(self)
        check_vocabulary(self.vocabulary)
        if hasattr(self, "vocabulary_"):  # one inside another model may be unfitted
            check_vocabulary(self.vocabulary_)

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        state.pop("_sorted_terms", None)  # rebuilt from vocabulary_
        return state
