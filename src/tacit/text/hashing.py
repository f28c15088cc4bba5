"""Documents as rows of hashed terms: no vocabulary, nothing to learn.

The column of a term is its MurmurHash3 modulo the number of columns, its sign that of the hash,
so that collisions cancel on average. Rows equal those of scikit-learn's HashingVectorizer.

Weinberger, Dasgupta, Langford, Smola and Attenberg (2009), Feature hashing for large scale
multitask learning. ICML.
"""

from numbers import Integral
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils._sparse import _align_api_if_sparse

from tacit.kernels.hashing import hash_strings
from tacit.text.term_counts import count_terms
from tacit.text.vectorizer import Analysis, Vectorizer, refuse_string
from tacit.text.vocabulary import Vocabulary

__all__ = ["HashParams", "HashingVectorizer", "hash_block", "hash_columns"]


class HashParams(NamedTuple):
    """How terms become columns."""

    analysis: Analysis
    n_features: int
    alternate_sign: bool


def hash_block(params: HashParams, block: Any) -> sp.csr_array:
    """The rows of a block, sorted, with the sums of terms that share a column."""
    counted = count_terms(params.analysis.find(block))
    columns, signs = hash_columns(counted.stats.vocabulary, params.n_features)
    values = counted.counts * (signs[counted.indices] if params.alternate_sign else 1)
    shape = (len(counted.indptr) - 1, params.n_features)
    rows = sp.csr_array((values, columns[counted.indices], counted.indptr), shape=shape)
    rows.sum_duplicates()  # sums of 0 stay entries
    return rows


def hash_columns(terms: Vocabulary, width: int) -> tuple[np.ndarray, np.ndarray]:
    """The column of each term, and the sign with which it counts there."""
    hashes = hash_strings(terms.data, terms.offsets).astype(np.int64)
    return np.abs(hashes) % width, np.where(hashes < 0, -1, 1)


class HashingVectorizer(Vectorizer):
    """Turn documents into rows of hashed term counts, for any number of terms.

    Nothing is learned, so documents are read once and no vocabulary is stored; in return,
    columns have no names.

    Parameters
    ----------
    n_features : int
        The number of columns; with few, terms collide.
    binary : bool
        Set every entry to 1.
    norm : {"l1", "l2"} or None
        Scale rows to length one.
    alternate_sign : bool
        Whether half of the terms count negatively, so that collisions cancel on average.
    dtype : type of the entries
    others
        As in CountVectorizer.

    Examples
    --------
    >>> rows = HashingVectorizer(n_features=8, norm=None).fit_transform(["to be or not to be"])
    >>> rows.shape, int(abs(rows).sum())
    ((1, 8), 6)
    """

    _parameter_constraints: ClassVar[dict] = {
        **Vectorizer._parameter_constraints,
        "n_features": [Interval(Integral, 1, 2**31, closed="left")],
        "norm": [StrOptions({"l1", "l2"}), None],
        "alternate_sign": ["boolean"],
    }

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
        n_features: int = 2**20,
        binary: bool = False,
        norm: str | None = "l2",
        alternate_sign: bool = True,
        dtype: Any = np.float64,
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
        self.analyzer, self.n_features, self.binary = analyzer, n_features, binary
        self.norm, self.alternate_sign, self.dtype = norm, alternate_sign, dtype
        self.rule, self.min_length, self.numbers = rule, min_length, numbers
        self.time_limit, self.engine = time_limit, engine

    def fit(self, X: Any, y: Any = None) -> "HashingVectorizer":
        """Check the parameters. There is nothing to learn."""
        self._check_settings()
        self._check_sizes()
        self._warn_for_unused_params()
        refuse_string(X)
        return self

    def partial_fit(self, X: Any, y: Any = None) -> "HashingVectorizer":
        """Check the parameters. There is nothing to learn."""
        return self.fit(X)

    def transform(self, X: Any) -> Any:
        """The rows of documents."""
        self._check_sizes()
        params = HashParams(self._analysis(), int(self.n_features), bool(self.alternate_sign))
        blocks = list(self._engine().map(hash_block, params, self._documents(X)))
        if blocks:
            rows = sp.vstack(blocks, format="csr", dtype=self.dtype)
        else:
            rows = sp.csr_array((0, self.n_features), dtype=self.dtype)
        if self.binary:
            rows.data.fill(1)
        if self.norm is not None and rows.shape[0]:
            rows = normalize(rows, norm=self.norm, copy=False)
        return _align_api_if_sparse(rows)

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """The rows of documents."""
        return self.fit(X, y).transform(X)

    def _check_sizes(self) -> None:
        n = self.n_features
        if not (isinstance(n, Integral) and 1 <= n < 2**31):
            raise ValueError(f"HashingVectorizer(n_features={n}) must be from 1 to 2**31 - 1.")
        if self.norm not in ("l1", "l2", None):
            raise ValueError(
                f"HashingVectorizer(norm={self.norm!r}) is unknown; choose 'l1', 'l2' or None."
            )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        return tags
