"""Features of documents beyond their words: capitals, affixes, shapes, bigrams, punctuation.

    collect   the features of a block with their counts
    update    choose the columns: prune by document frequency, sort

    capitals      proportions of words that begin with a capital, are all capitals, hold one
                  inside; the proportion of capitals among letters
    prefixes      the first letters of words: prefix:un
    suffixes      the last letters of words: suffix:ing
    shapes        words with letters and digits replaced by their kind: shape:Xxxx, shape:dd-dd
    bigrams       two words in a row: bigram:not good
    punctuation   marks, one by one: punctuation:!

Tokens are those of ``tokens``, in their original case. Features of a word are computed once for
each distinct word of the block and multiplied by the counts of words, all integers, so
neither blocks nor engines can change a feature.

These features overlap with the words and with each other. That suits classifiers that do not
assume independence: the perceptron, passive-aggressive, support vectors, logistic regression.
Naive Bayes counts the same evidence several times.

The notes' sections on linear classification and on features for discriminative learning.
"""

import re
import string
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from functools import lru_cache
from numbers import Integral
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils._param_validation import Interval
from sklearn.utils._sparse import _align_api_if_sparse
from sklearn.utils.validation import check_is_fitted

from tacit.core.engines import check_stop, get_engine
from tacit.core.estimator import Estimator
from tacit.data.documents import Documents
from tacit.data.text_block import Repairs, Text
from tacit.text.hashing import hash_columns
from tacit.text.term_counts import (
    BlockCounts,
    BlockTerms,
    TermStats,
    add_all,
    assemble,
    check_limits,
    choose_terms,
    count_terms,
    explain_pruned,
    no_terms,
)
from tacit.text.terms import Terms, intern, word_grams
from tacit.text.tokens import TokenRule, split, token_rule
from tacit.text.vectorizer import check_dtype, refuse_string
from tacit.text.vocabulary import Vocabulary, check_vocabulary

__all__ = ["TextFeatures"]

LEARNED = ("prefixes", "suffixes", "shapes", "bigrams", "punctuation")
MOST_LETTERS = 20

CAPITALS = ("capitals:first", "capitals:all", "capitals:inside", "capitals:letters")
MARKS = TokenRule("plain", False, 1, r"[^\w\s]")
LONG_RUN = re.compile(r"(.)\1{3,}", re.DOTALL)
CHECK = 4096  # words between two calls of check_stop


class Families(NamedTuple):
    """The features to compute. Travels with a pass as its params."""

    capitals: bool
    prefixes: int  # the longest; 0 for none
    suffixes: int
    shapes: bool
    bigrams: bool
    punctuation: bool
    lowercase: bool
    rule: TokenRule
    hashed: int = 0  # the number of columns, if features are hashed


class FeatureBlock(NamedTuple):
    """The features of a block."""

    capitals: np.ndarray  # (documents, 4 or 0) proportions
    learned: Any  # BlockCounts of all other families, sorted by name; or their hashed rows


def collect(params: Families, block: Text) -> TermStats:
    """The features of a block, with counts and document frequencies."""
    return read_features(params, block).learned.stats


def read_features(params: Families, block: Text) -> FeatureBlock:
    """The same, and the rows of the matrix."""
    words = intern(split(block, params.rule))
    rows = count_rows(words)
    parts = [spread(rows, word_features(params, words.vocabulary))]
    if params.punctuation:
        marks = intern(split(block, MARKS))
        features = (
            [f"punctuation:{mark}" for mark in run if is_punctuation(mark)]
            for run in marks.vocabulary
        )
        parts.append(spread(count_rows(marks), features))
    if params.bigrams:
        parts.append(bigrams(words, params.lowercase))
    names, matrix = join(parts)
    capitals = capital_proportions(rows, words.vocabulary, params.capitals)
    if params.hashed:
        return FeatureBlock(capitals, matrix @ hash_table(names, params.hashed))
    return FeatureBlock(capitals, as_counts(matrix, names, words, block.repairs))


# --- Features of a word ---


def word_features(params: Families, words: Vocabulary) -> Iterator[list[str]]:
    for i, word in enumerate(words):
        if i % CHECK == 0:
            check_stop()
        yield features_of(word, params)


def features_of(word: str, params: Families) -> list[str]:
    """Affixes, which are shorter than their word and of letters alone, and its shape."""
    names = [f"shape:{shape_of(word)}"] if params.shapes else []
    folded = word.lower() if params.lowercase else word
    size = len(folded)
    head, tail = min(params.prefixes, size - 1), min(params.suffixes, size - 1)
    if not folded.isalpha():
        letters = [character.isalpha() for character in folded]
        head = min(head, [*letters, False].index(False))
        tail = min(tail, [*letters[::-1], False].index(False))
    names += [f"prefix:{folded[:n]}" for n in range(1, head + 1)]
    names += [f"suffix:{folded[size - n :]}" for n in range(1, tail + 1)]
    return names


def shape_of(word: str) -> str:
    """A word with its characters replaced by their kind, at most three of a kind in a row.

    >>> [shape_of(w) for w in ("Whale", "NASA", "iPhone", "12-45", "don't", "東京", "👍")]
    ['Xxxx', 'XXX', 'xXxxx', 'dd-dd', "xxx'x", 'oo', '👍']
    """
    return LONG_RUN.sub(r"\1\1\1", word.translate(KINDS))


class Kinds(dict):
    """X upper case, x lower case, o a letter without case, d a digit; others are themselves."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if character.isupper() or character.istitle():
            kind = "X"
        elif character.islower():
            kind = "x"
        elif character.isalpha():
            kind = "o"
        else:
            kind = "d" if character.isnumeric() else character
        self[code] = kind
        return kind


KINDS = Kinds()


@lru_cache(maxsize=2**16)
def is_punctuation(character: str) -> bool:
    """ASCII's marks, and what Unicode calls punctuation; no emoji.

    >>> [is_punctuation(c) for c in "!$—。👍a"]
    [True, True, True, True, False, False]
    """
    return character in string.punctuation or unicodedata.category(character)[0] == "P"


# --- From words to documents ---


def spread(rows: sp.csr_array, features: Iterable[list[str]]) -> tuple[list[str], sp.csr_array]:
    """Names of features, and their counts in documents: counts of words times theirs."""
    places: dict[str, int] = {}
    indices: list[int] = []
    indptr = [0]
    for names in features:
        indices.extend(places.setdefault(name, len(places)) for name in names)
        indptr.append(len(indices))
    ones = np.ones(len(indices), np.int64)
    table = sp.csr_array((ones, indices, indptr), shape=(rows.shape[1], len(places)))
    table.sum_duplicates()  # a word may have a feature twice
    return list(places), rows @ table


def join(parts: list[tuple[list[str], sp.csr_array]]) -> tuple[Vocabulary, sp.csr_array]:
    """Families side by side, columns sorted by name."""
    names = [name for part, _ in parts for name in part]
    order = sorted(range(len(names)), key=names.__getitem__)
    matrix = sp.csr_array(sp.hstack([rows for _, rows in parts], format="csr"))
    rank = np.empty(len(order), matrix.indices.dtype)
    rank[order] = np.arange(len(order))
    matrix.indices = rank[matrix.indices]
    matrix.has_sorted_indices = False
    matrix.sort_indices()
    return Vocabulary.of_sorted([names[i] for i in order]), matrix


def bigrams(words: Terms, lowercase: bool) -> tuple[list[str], sp.csr_array]:
    """Names of pairs of words, and their counts in documents."""
    if lowercase:
        lowered = [word.lower() for word in words.vocabulary]
        vocabulary = Vocabulary.of(lowered)
        place = {word: i for i, word in enumerate(vocabulary)}
        new = np.array([place[word] for word in lowered], np.int32)
        words = Terms(vocabulary, new[words.streams], words.edges)
    pairs = word_grams(words, 2, 2)
    return [f"bigram:{pair}" for pair in pairs.vocabulary], count_rows(pairs)


def count_rows(terms: Terms) -> sp.csr_array:
    """How often each document has each term."""
    counted = count_terms(BlockTerms(terms, 0, 0, 0, Repairs()))
    shape = (len(counted.indptr) - 1, len(terms.vocabulary))
    counts = counted.counts.astype(np.int64)
    return sp.csr_array((counts, counted.indices, counted.indptr), shape=shape)


def hash_table(names: Vocabulary, width: int) -> sp.csr_array:
    """Which column each feature counts in, and whether upwards."""
    columns, signs = hash_columns(names, width)
    indptr = np.arange(len(names) + 1)
    return sp.csr_array((signs, columns, indptr), shape=(len(names), width))


def as_counts(
    matrix: sp.csr_array, names: Vocabulary, words: Terms, repairs: Repairs
) -> BlockCounts:
    """Rows in the form that ``term_counts`` adds and assembles."""
    width = len(names)
    totals = np.bincount(matrix.indices, matrix.data, width).astype(np.int64)
    wordless = int(np.count_nonzero(np.diff(words.edges) == 0))
    stats = TermStats(
        len(words.edges) - 1, wordless, int(words.edges[-1]), 0, repairs, names, totals,
        np.bincount(matrix.indices, minlength=width),
    )  # fmt: skip
    indptr, indices = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)
    return BlockCounts(stats, indptr, indices, matrix.data.astype(np.int32))


def capital_proportions(rows: sp.csr_array, words: Vocabulary, wanted: bool) -> np.ndarray:
    """Proportions of words and letters, in the order of CAPITALS; 0 where there are none."""
    if not wanted:
        return np.empty((rows.shape[0], 0))
    facts = np.array([capital_facts(word) for word in words], np.int64).reshape(-1, 6)
    sums = rows @ facts
    counted, letters = np.maximum(sums[:, [4]], 1), np.maximum(sums[:, [5]], 1)
    return np.concatenate([sums[:, :3] / counted, sums[:, [3]] / letters], axis=1)


def capital_facts(word: str) -> tuple[int, int, int, int, int, int]:
    """Begins with a capital; is all capitals; has one after a small letter; capitals; is a
    word; letters. Only letters that have case are letters here.

    >>> capital_facts("Ahab"), capital_facts("USA"), capital_facts("iPhone")
    ((1, 0, 0, 1, 1, 4), (1, 1, 0, 3, 1, 3), (0, 0, 1, 1, 1, 6))
    """
    kinds = word.translate(KINDS)
    capitals = kinds.count("X")
    letters = capitals + kinds.count("x")
    if letters < len(kinds):
        kinds = "".join(kind for kind in kinds if kind in "Xx")
    if not kinds:
        return (0, 0, 0, 0, 0, 0)
    all_of_them = int(capitals == letters and letters > 1)
    return (int(kinds[0] == "X"), all_of_them, int("xX" in kinds), capitals, 1, letters)


class TextFeatures(Estimator):
    """Turn documents into rows of features beyond words, for linear classifiers.

    Combine it with CountVectorizer in scikit-learn's FeatureUnion or ColumnTransformer. Each
    family can be switched off. The columns are, in this order, the proportions of capitals,
    the counts of the learned features sorted by name, and the offset.

    Parameters
    ----------
    capitals : bool
        Four proportions: of words that begin with a capital, of words in capitals, of words
        with a capital after a small letter, and of capitals among letters.
    prefixes, suffixes : int
        Count the beginnings and ends of words up to this many letters; 0 for none.
    shapes : bool
        Count word shapes: Xxxx, dd-dd.
    bigrams : bool
        Count two words in a row.
    punctuation : bool
        Count punctuation marks.
    offset : bool
        A last column that is always 1, which gives every class an intercept.
    lowercase : bool
        Whether affixes and bigrams are in lower case. Capitals and shapes never are.
    rule : {"words", "plain"}
        What a word is, as in CountVectorizer.
    max_df, min_df : int or float
        Leave out features in more, or fewer, documents: a number of them, or a proportion.
    max_features : int or None
        Keep this many learned features, the most frequent; of equals, those that sort first.
    n_features : int or None
        Hash features into this many columns instead of learning them: no vocabulary is
        stored, documents are read once, and columns have no names. As in HashingVectorizer,
        half of the features count negatively.
    dtype : type of the entries
    engine : {"serial", "threads", "dask"} or Engine
        Where the pass runs. The matrix does not depend on it.

    Attributes
    ----------
    vocabulary_ : dict of learned feature to its place among them, absent if hashed
    n_columns_ : int
    input_report_ : dict of counts: documents, empty and missing ones, and repairs; absent if
        hashed

    Examples
    --------
    >>> features = TextFeatures(prefixes=0, suffixes=0, bigrams=False)
    >>> rows = features.fit_transform(["FREE money!!!", "See you at 10-30.", None])
    >>> for name, column in zip(features.get_feature_names_out(), rows.toarray().T):
    ...     print(f"{name:18}{column.round(3)}")
    capitals:first    [0.5   0.333 0.   ]
    capitals:all      [0.5 0.  0. ]
    capitals:inside   [0. 0. 0.]
    capitals:letters  [0.444 0.125 0.   ]
    punctuation:!     [3. 0. 0.]
    punctuation:-     [0. 1. 0.]
    punctuation:.     [0. 1. 0.]
    shape:XXX         [1. 0. 0.]
    shape:Xxx         [0. 1. 0.]
    shape:dd-dd       [0. 1. 0.]
    shape:xx          [0. 1. 0.]
    shape:xxx         [1. 1. 0.]
    offset            [1. 1. 1.]
    """

    _takes_text: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict] = {
        "capitals": ["boolean"],
        "shapes": ["boolean"],
        "bigrams": ["boolean"],
        "punctuation": ["boolean"],
        "offset": ["boolean"],
        "lowercase": ["boolean"],
        "prefixes": [Interval(Integral, 0, MOST_LETTERS, closed="both")],
        "suffixes": [Interval(Integral, 0, MOST_LETTERS, closed="both")],
        "rule": [str],
        "n_features": [Interval(Integral, 1, 2**31, closed="left"), None],
    }
    _file_types: ClassVar[dict] = {"vocabulary_": dict[str, int], "n_columns_": int}
    _file_optional = ("vocabulary_",)  # hashed features have none
    # raw_documents has nothing to do with metadata routing
    __metadata_request__fit: ClassVar[dict] = {"raw_documents": "$UNUSED$"}
    __metadata_request__transform: ClassVar[dict] = {"raw_documents": "$UNUSED$"}

    def __init__(
        self,
        *,
        capitals: bool = True,
        prefixes: int = 3,
        suffixes: int = 3,
        shapes: bool = True,
        bigrams: bool = True,
        punctuation: bool = True,
        offset: bool = True,
        lowercase: bool = True,
        rule: str = "words",
        max_df: float = 1.0,
        min_df: float = 1,
        max_features: int | None = None,
        n_features: int | None = None,
        dtype: Any = np.float64,
        engine: Any = "threads",
    ) -> None:
        self.capitals, self.prefixes, self.suffixes = capitals, prefixes, suffixes
        self.shapes, self.bigrams, self.punctuation = shapes, bigrams, punctuation
        self.offset, self.lowercase, self.rule, self.max_df = offset, lowercase, rule, max_df
        self.min_df, self.max_features, self.n_features = min_df, max_features, n_features
        self.dtype, self.engine = dtype, engine

    def fit(self, raw_documents: Any, y: Any = None) -> "TextFeatures":
        """Learn the features. Documents may be larger than memory."""
        params = self._begin(raw_documents)
        if self.n_features is None:
            documents = Documents.of(raw_documents)
            stats = no_terms()
            if documents.blocks:
                stats = get_engine(self.engine).reduce(collect, params, documents)
            self._learn(stats)
        return self

    def fit_transform(self, raw_documents: Any, y: Any = None) -> Any:
        """Learn the features and count them, in one pass."""
        params = self._begin(raw_documents)
        blocks = self._read(params, raw_documents)
        if self.n_features is None:
            self._learn(add_all([block.learned.stats for block in blocks])[0])
        return self._matrix(blocks)

    def transform(self, raw_documents: Any) -> Any:
        """Count the known features of documents; others are left out."""
        check_is_fitted(self, "n_columns_")
        refuse_string(raw_documents)
        return self._matrix(self._read(self._families(), raw_documents))

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the columns: "prefix:un", "shape:Xxxx", "offset"."""
        check_is_fitted(self, "n_columns_")
        if self.n_features is None:
            learned = sorted(self.vocabulary_, key=self.vocabulary_.__getitem__)
        else:
            learned = [f"hashed:{i}" for i in range(self.n_features if self._learns else 0)]
        names = [*(CAPITALS if self.capitals else ()), *learned]
        return np.array([*names, *(["offset"] if self.offset else [])], object)

    @property
    def _learns(self) -> bool:
        return any(bool(getattr(self, family)) for family in LEARNED)

    def _families(self) -> Families:
        return Families(
            bool(self.capitals), int(self.prefixes), int(self.suffixes), bool(self.shapes),
            bool(self.bigrams), bool(self.punctuation), bool(self.lowercase),
            token_rule(self.rule, False, None), int(self.n_features or 0),
        )  # fmt: skip

    def _begin(self, raw_documents: Any) -> Families:
        self._check_settings()
        refuse_string(raw_documents)
        for learned in ("vocabulary_", "input_report_"):
            if hasattr(self, learned):  # of a fit before this one
                delattr(self, learned)
        hashed = self.n_features is not None and self._learns
        self._set_width(int(self.n_features) if hashed else 0)  # type: ignore[arg-type]
        return self._families()

    def _check_settings(self) -> None:
        check_limits(self)
        for setting in ("prefixes", "suffixes"):
            value = getattr(self, setting)
            if not (isinstance(value, int | np.integer) and 0 <= value <= MOST_LETTERS):
                raise ValueError(
                    f"TextFeatures({setting}={value!r}) must be from 0 to {MOST_LETTERS}."
                )
        most = self.n_features
        if most is not None and not (isinstance(most, int | np.integer) and 1 <= most < 2**31):
            raise ValueError(
                f"TextFeatures(n_features={most!r}) must be from 1 to 2**31 - 1, or None."
            )
        if not (self._learns or self.capitals or self.offset):
            raise ValueError("TextFeatures has every family switched off. Switch one on.")

    def _set_width(self, learned: int) -> None:
        capitals = len(CAPITALS) if self.capitals else 0
        self.n_columns_ = capitals + learned + bool(self.offset)

    def _learn(self, stats: TermStats) -> None:
        self.input_report_ = {"documents": stats.documents, **asdict(stats.repairs)}
        n, words = stats.documents, stats.vocabulary
        if n == 0:
            raise ValueError(
                "TextFeatures got 0 documents. Check the source; a generator can be read only "
                "once."
            )
        if self._learns and len(words) == 0:
            raise ValueError(
                f"TextFeatures got no word and no punctuation in {n:,} documents, of which "
                f"{stats.repairs.empty:,} are empty ({stats.repairs.missing:,} None or NaN). "
                "Check that this is the column with the text."
            )
        keep = choose_terms(stats, self.min_df, self.max_df, self.max_features)
        if self._learns and not keep.any():
            raise ValueError(explain_pruned(stats, self))
        learned = words.take(keep)
        self.vocabulary_ = learned.numbered()
        self._set_width(len(learned))

    def _read(self, params: Families, raw: Any) -> list[FeatureBlock]:
        return list(get_engine(self.engine).map(read_features, params, Documents.of(raw)))

    def _matrix(self, blocks: list[FeatureBlock]) -> Any:
        if self.n_features is not None:
            empty = sp.csr_array((0, self.n_features), dtype=self.dtype)
            learned = sp.vstack([empty, *(block.learned for block in blocks)], format="csr")
        else:
            counts = [block.learned for block in blocks]
            known = Vocabulary.of_sorted(sorted(self.vocabulary_))
            columns = (known.find(block.stats.vocabulary) for block in counts)
            engine = get_engine(self.engine)
            learned = assemble(counts, columns, len(known), self.dtype, engine)
        parts = [learned] if self._learns else []
        if self.capitals:
            none = np.empty((0, len(CAPITALS)))
            capitals = np.concatenate([none, *(block.capitals for block in blocks)])
            parts.insert(0, sp.csr_array(capitals))
        if self.offset:
            parts.append(sp.csr_array(np.ones((learned.shape[0], 1))))
        return _align_api_if_sparse(sp.csr_array(sp.hstack(parts, "csr", self.dtype)))

    def _after_load(self) -> None:
        self._check_settings()
        check_dtype(self.dtype)
        self._families()
        if self.n_features is None:
            check_vocabulary(self.vocabulary_ or None)
        learned = len(self.vocabulary_) if self.n_features is None else self.n_features
        known = self.n_columns_
        self._set_width(learned if self._learns else 0)
        if known != self.n_columns_:
            raise ValueError("n_columns_ is not the number of features.")
