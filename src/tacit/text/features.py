"""Features of documents beyond their words: capitals, affixes, shapes, bigrams, marks.

    collect   the features of a block with their counts (``feature_families``)
    update    choose the columns: prune by document frequency, sort

A linear classifier weighs features f(x, y); counts of words are the plain choice, and these go
beside them. They overlap with the words and with each other, which suits classifiers that do
not take features for independent: the perceptron, passive-aggressive, support vectors,
logistic regression; naive Bayes counts the same evidence several times.

The notes' sections on linear classification and on features for discriminative learning.
"""

from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils._sparse import _align_api_if_sparse
from sklearn.utils.validation import check_is_fitted

from tacit.core.engines import Serial, Threads, get_engine
from tacit.core.estimator import Estimator
from tacit.data.documents import Documents
from tacit.text.choose_terms import check_limits, choose_terms, why_pruned
from tacit.text.count_blocks import BlockCounts, TermStats, add_all, assemble, nothing
from tacit.text.feature_families import (
    CAPITALS,
    Families,
    FeatureBlock,
    collect,
    read_features,
)
from tacit.text.tokens import token_rule
from tacit.text.vocabulary import Vocabulary, check_vocabulary

__all__ = ["TextFeatures"]

LEARNED = ("prefixes", "suffixes", "shapes", "bigrams", "punctuation")
MOST_LETTERS = 20


class TextFeatures(Estimator):
    """Turn documents into rows of features beyond words, for linear classifiers.

    Goes beside CountVectorizer in scikit-learn's FeatureUnion or ColumnTransformer. Each
    family can be switched off; the columns are, in this order, the shares of capitals, the
    counts of the learned features sorted by name, and the offset.

    Parameters
    ----------
    capitals : bool
        Four shares: of words that begin with a capital, of words in capitals, of words with a
        capital after a small letter, and of capitals among letters.
    prefixes, suffixes : int
        Count the beginnings and ends of words up to this many letters; 0 for none.
    shapes : bool
        Count word shapes: Xxxx, dd-dd.
    bigrams : bool
        Count two words in a row.
    punctuation : bool
        Count punctuation marks.
    offset : bool
        A last column that is always 1, which gives every class a weight of its own.
    lowercase : bool
        Whether affixes and bigrams are in lower case. Capitals and shapes never are.
    rule : {"words", "plain"}
        What a word is, as in CountVectorizer.
    max_df, min_df : int or float
        Leave out features in more, or fewer, documents: a number of them, or a share.
    max_features : int or None
        Keep this many learned features, the most frequent; of equals, those that sort first.
    n_features : int or None
        Hash learned features into this many columns instead of learning them: nothing is
        kept, documents need not be seen twice, and columns have no names. As in
        HashingVectorizer, half of the features count downwards.
    dtype : type of the entries
    engine : {"serial", "threads", "dask"} or Engine
        Where the pass runs. The matrix does not depend on it.

    Attributes
    ----------
    vocabulary_ : dict of learned feature to its place among them, absent if hashed
    n_columns_ : int
    input_report_ : dict of counts: documents, empty and missing ones, repairs made; absent if
        hashed

    Examples
    --------
    >>> features = TextFeatures(prefixes=0, suffixes=0, bigrams=False)
    >>> rows = features.fit_transform(["FREE money!!!", "See you at 10-30.", None])
    >>> for name, column in zip(features.get_feature_names_out(), rows.toarray().T):
    ...     print(f"{name:18}{column}")
    capitals:first    [0.5   0.333 0. ]
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
        self.capitals = capitals
        self.prefixes = prefixes
        self.suffixes = suffixes
        self.shapes = shapes
        self.bigrams = bigrams
        self.punctuation = punctuation
        self.offset = offset
        self.lowercase = lowercase
        self.rule = rule
        self.max_df = max_df
        self.min_df = min_df
        self.max_features = max_features
        self.n_features = n_features
        self.dtype = dtype
        self.engine = engine

    def fit(self, raw_documents: Any, y: Any = None) -> "TextFeatures":
        """Learn which features there are. Documents larger than memory are no trouble."""
        params = self._begin(raw_documents)
        if self.n_features is None:
            documents = self._documents(raw_documents)
            stats = nothing()
            if documents.blocks:
                stats = get_engine(self.engine).reduce(collect, params, documents)
            self._learn(stats)
        return self

    def fit_transform(self, raw_documents: Any, y: Any = None) -> Any:
        """Learn the features and count them, in one pass."""
        params = self._begin(raw_documents)
        blocks = self._read(params, raw_documents)
        if self.n_features is None:
            self._learn(add_all([counts.stats for counts in learned_counts(blocks)])[0])
        return self._matrix(blocks)

    def transform(self, raw_documents: Any) -> Any:
        """Count the known features of documents; others are left out."""
        check_is_fitted(self, "n_columns_")
        self._refuse_string(raw_documents)
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

    # --- Parts ---

    @property
    def _learns(self) -> bool:
        return any(bool(getattr(self, family)) for family in LEARNED)

    def _families(self) -> Families:
        return Families(
            bool(self.capitals),
            int(self.prefixes),
            int(self.suffixes),
            bool(self.shapes),
            bool(self.bigrams),
            bool(self.punctuation),
            bool(self.lowercase),
            token_rule(self.rule, False, None),
            0 if self.n_features is None else int(self.n_features),
        )

    def _begin(self, raw_documents: Any) -> Families:
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
        self._refuse_string(raw_documents)
        for learned in ("vocabulary_", "input_report_"):
            if hasattr(self, learned):  # of a fit before this one
                delattr(self, learned)
        self._set_width(0 if most is None or not self._learns else int(most))
        return self._families()

    def _set_width(self, learned: int) -> None:
        own = len(CAPITALS) if self.capitals else 0
        self.n_columns_ = own + learned + bool(self.offset)

    def _learn(self, stats: TermStats) -> None:
        self.input_report_ = {"documents": stats.documents, **asdict(stats.repairs)}
        n, words = stats.documents, stats.vocabulary
        if n == 0:
            raise ValueError(
                "TextFeatures found 0 documents. Check where they come from; a generator can "
                "be walked only once."
            )
        if self._learns and len(words) == 0:
            raise ValueError(
                f"TextFeatures found no word and no mark in {n:,} documents, of which "
                f"{stats.repairs.empty:,} are empty ({stats.repairs.missing:,} None or NaN). "
                "Check that the text is where you look for it."
            )
        keep = choose_terms(stats, self.min_df, self.max_df, self.max_features)
        if self._learns and not keep.any():
            raise ValueError(why_pruned(stats, self))
        kept = words.take(keep)
        self.vocabulary_ = dict(zip(kept.strings, range(len(kept)), strict=True))
        self._set_width(len(kept))

    def _documents(self, raw: Any) -> Documents:
        return Documents.open(raw) if isinstance(raw, Path) else Documents.of(raw)

    @staticmethod
    def _refuse_string(raw: Any) -> None:
        if isinstance(raw, str | bytes):
            raise ValueError(
                "Iterable over raw text documents expected, string object received. "
                "Wrap one document in a list: [text]."
            )

    def _read(self, params: Families, raw: Any) -> list[FeatureBlock]:
        documents, engine = self._documents(raw), get_engine(self.engine)
        if len(documents.blocks) == 1 and isinstance(engine, Serial | Threads):
            return [read_features(params, documents.blocks[0].load())]  # no pool for one block
        return list(engine.map(read_features, params, documents))

    def _matrix(self, blocks: list[FeatureBlock]) -> Any:
        if self.n_features is not None:
            empty = sp.csr_array((0, self.n_features), dtype=self.dtype)
            learned = sp.vstack([empty, *(block.hashed for block in blocks)], format="csr")
        else:
            counts = learned_counts(blocks)
            known = Vocabulary.of_sorted(sorted(self.vocabulary_))
            columns = (known.find(each.stats.vocabulary) for each in counts)
            engine = get_engine(self.engine)
            learned = assemble(counts, columns, len(known), self.dtype, engine)
        parts = [learned] if self._learns else []
        if self.capitals:
            none = np.empty((0, len(CAPITALS)))
            shares = np.concatenate([none, *(block.capitals for block in blocks)])
            parts.insert(0, sp.csr_array(shares))
        if self.offset:
            parts.append(sp.csr_array(np.ones((learned.shape[0], 1))))
        return _align_api_if_sparse(sp.csr_array(sp.hstack(parts, "csr", self.dtype)))

    def _after_load(self) -> None:
        if self.n_features is None:
            check_vocabulary(self.vocabulary_ or None)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.no_validation = True
        return tags


def learned_counts(blocks: list[FeatureBlock]) -> list[BlockCounts]:
    return [block.counts for block in blocks if block.counts is not None]
