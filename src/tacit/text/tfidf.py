"""Tf-idf: counts weighted by how informative a term is.

    collect   in how many documents each term occurs; how many documents and terms there are
    update    the weight of each term

One pass, summable. With N documents, N_t of them holding the term, n_t(j) occurrences of it
in document j and n_w(j) terms in that document, an entry becomes

    tfidf   n_t(j) (1 + log((1 + N) / (1 + N_t)))       scikit-learn's; see its variants
    log     (1 + log n_t(j)) log(N / N_t)               a term in every document weighs 0
    bm25    log(1 + (N - N_t + 1/2) / (N_t + 1/2)) n_t(j) (k1 + 1) /
            (n_t(j) + k1 (1 - b + b n_w(j) / mean n_w))
    notes   (n_t(j) / n_w(j)) / log(N / (1 + N_t))

and rows are scaled to length one unless norm=None (for the scores of BM25).

The last is the weight as the notes on word counts and matching print it. It divides by the
logarithm, so that among the terms of a document the frequent ones weigh more, contrary to the
text around the formula; "log" is what that text describes. Where N <= 1 + N_t the logarithm is
0 or negative: a term in every document, or in all but one, has no weight. It gets 0, as a stop
word, and a warning gives the number of such terms.

Spärck Jones (1972), A statistical interpretation of term specificity. J. Documentation 28.
Robertson and Zaragoza (2009), The probabilistic relevance framework: BM25 and beyond.
"""

import warnings
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import normalize
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils._sparse import _align_api_if_sparse
from sklearn.utils.validation import check_is_fitted

from tacit.core.engines import get_engine
from tacit.core.errors import raised_as
from tacit.core.estimator import Estimator
from tacit.core.stats import Stats
from tacit.data.checked import NUMBERS, check_results, check_rows
from tacit.data.table import Table
from tacit.text.counts import CountVectorizer

__all__ = ["DocumentFrequencies", "TfidfTransformer", "collect", "update", "TfidfVectorizer"]

WEIGHTINGS = ("tfidf", "log", "bm25", "notes")
FLOATS = (np.float64, np.float32)


class TfidfParams(NamedTuple):
    idf: np.ndarray  # (v,)
    mean_length: float
    undefined: int  # terms without a weight under "notes"


@dataclass(frozen=True)
class DocumentFrequencies(Stats):
    """Document frequencies, and the total length of the rows."""

    rows: int
    document_counts: np.ndarray  # (v,) int64
    length: float  # the sum of all counts


# --- The algorithm ---


def collect(params: Any, block: Any) -> DocumentFrequencies:
    """Count the rows of a block that hold each term."""
    rows = sp.csr_array(block)
    df = np.bincount(rows.indices, minlength=rows.shape[1])
    return DocumentFrequencies(rows.shape[0], df, float(rows.data.sum(dtype=np.float64)))


def update(
    stats: DocumentFrequencies,
    weighting: str = "tfidf",
    smooth: bool = True,
    dtype: Any = float,
) -> TfidfParams:
    """The weight of each term. One that no document holds weighs as if one did."""
    n, df = stats.rows, stats.document_counts.astype(dtype)
    undefined = 0
    if weighting == "tfidf":
        df = df + 1 if smooth else np.maximum(df, 1)
        idf = np.log(np.full_like(df, n + int(smooth)) / df) + 1
    elif weighting == "bm25":
        idf = np.log1p((n - df + 0.5) / (df + 0.5))
    elif weighting == "log":
        idf = np.log(n / np.maximum(df, 1))
    else:
        logarithm = np.log(n / (1 + df))
        defined = logarithm > 0
        undefined = int(np.count_nonzero(~defined))
        idf = np.divide(1, logarithm, out=np.zeros_like(logarithm), where=defined)
    return TfidfParams(idf.astype(dtype), stats.length / max(1, n), undefined)


def weight_rows(rows: sp.csr_array, params: TfidfParams, settings: "TfidfTransformer") -> None:
    """Counts become weights, in place."""
    data = rows.data
    if settings.weighting == "log" or settings.sublinear_tf:
        positive = data > 0  # an entry of 0 stays one
        data[:] = np.log(np.where(positive, data, 1)) + positive
    elif settings.weighting in ("notes", "bm25"):
        lengths = np.repeat(np.asarray(rows.sum(axis=1)).ravel(), np.diff(rows.indptr))
        if settings.weighting == "notes":
            np.divide(data, lengths, out=data, where=lengths > 0)
        else:
            relative = lengths / (params.mean_length or 1.0)
            data *= (settings.k1 + 1) / (
                data + settings.k1 * (1 - settings.b + settings.b * relative)
            )
    if settings.use_idf:
        data *= params.idf[rows.indices]


# --- The estimator ---


# Rows are sparse, which no dataframe holds: as in scikit-learn, set_output is not offered.
class TfidfTransformer(
    OneToOneFeatureMixin,
    TransformerMixin,
    Estimator,
    auto_wrap_output_keys=None,  # type: ignore[call-arg]
):
    """Weight counts by how informative a term is.

    Parameters
    ----------
    norm : {"l1", "l2"} or None
        Scale rows to length one.
    use_idf : bool
        Whether the weight depends on the number of documents that hold the term.
    smooth_idf : bool
        Count one document more that holds every term. Of weighting="tfidf" only.
    sublinear_tf : bool
        Use 1 + log(count) in place of the count. Of weighting="tfidf" only.
    weighting : {"tfidf", "log", "bm25", "notes"}
        The formula, see ``tacit.text.tfidf``: scikit-learn's; logarithms; BM25; the one of
        the notes.
    k1, b : float
        Of BM25: the saturation of counts, and the penalty for long documents.
    engine : {"serial", "threads", "dask"} or Engine
        Where the pass runs.

    Attributes
    ----------
    idf_ : array of shape (n_features,), the weight factor of each term
    mean_length_ : float, the mean sum of a row

    Examples
    --------
    >>> counts = np.array([[2, 1, 0], [0, 1, 1]])
    >>> TfidfTransformer(norm=None).fit(counts).idf_.round(3)
    array([1.405, 1.   , 1.405])
    >>> TfidfTransformer(norm=None, weighting="log").fit_transform(counts).toarray().round(3)
    array([[1.174, 0.   , 0.   ],
           [0.   , 0.   , 0.693]])
    """

    _parameter_constraints: ClassVar[dict] = {
        "norm": [StrOptions({"l1", "l2"}), None],
        "use_idf": ["boolean"],
        "smooth_idf": ["boolean"],
        "sublinear_tf": ["boolean"],
        "weighting": [StrOptions(set(WEIGHTINGS))],
        "k1": [Interval(Real, 0, None, closed="left")],
        "b": [Interval(Real, 0, 1, closed="both")],
    }
    _file_schema: ClassVar[dict] = {"idf_": ("n_features_in_",)}
    _file_optional = ("idf_",)
    _file_kinds: ClassVar[dict] = {"idf_": "f"}
    _file_types: ClassVar[dict] = {"mean_length_": float}

    def __init__(
        self,
        *,
        norm: str | None = "l2",
        use_idf: bool = True,
        smooth_idf: bool = True,
        sublinear_tf: bool = False,
        weighting: str = "tfidf",
        k1: float = 1.2,
        b: float = 0.75,
        engine: Any = "threads",
    ) -> None:
        self.norm, self.use_idf, self.smooth_idf = norm, use_idf, smooth_idf
        self.sublinear_tf, self.weighting, self.k1, self.b = sublinear_tf, weighting, k1, b
        self.engine = engine

    def fit(self, X: Any, y: Any = None) -> "TfidfTransformer":
        """Learn the weights of the terms from rows of counts: a matrix or a Table."""
        self._check_settings()
        if isinstance(X, Table):
            table, self.n_features_in_ = X, X.shape[1]
        else:
            X = check_rows(self, X, reset=True, dtypes=NUMBERS, finite=True, distinct=False)
            self._refuse_negative(X)
            table = Table.from_array(sp.csr_array(X))
        return self._learn(get_engine(self.engine).reduce(collect, None, table), table.dtype)

    def transform(self, X: Any, copy: bool = True) -> Any:
        """Weight the counts of rows."""
        check_is_fitted(self)
        self._check_settings()
        checked = check_rows(self, X, reset=False, finite=True, distinct=False)
        self._refuse_negative(checked)
        rows = sp.csr_array(checked, dtype=checked.dtype, copy=copy and sp.issparse(X))
        weight_rows(rows, self._params(), self)
        if self.norm is not None:
            rows = normalize(rows, norm=self.norm, copy=False)
        return _align_api_if_sparse(rows)

    def _learn(self, stats: DocumentFrequencies, dtype: Any = np.float64) -> "TfidfTransformer":
        dtype = dtype if dtype in FLOATS else np.float64
        params = update(stats, self.weighting, bool(self.smooth_idf), dtype)
        self.mean_length_ = params.mean_length
        if self.use_idf:
            self.idf_ = params.idf
            if params.undefined:
                warnings.warn(
                    f"{params.undefined:,} of {len(params.idf):,} terms are in all or all but "
                    f"one of {stats.rows:,} documents, where weighting='notes' is not defined "
                    "(the logarithm is 0 or negative). They weigh 0.",
                    stacklevel=3,
                )
        elif hasattr(self, "idf_"):
            del self.idf_
        check_results(self)
        return self

    def _params(self) -> TfidfParams:
        # Weights that were set, not learned, come without a mean length.
        length = getattr(self, "mean_length_", 0.0)
        return TfidfParams(np.asarray(getattr(self, "idf_", ())), length, 0)

    def _check_settings(self) -> None:
        self._validate_params()
        if self.sublinear_tf and self.weighting != "tfidf":
            raise ValueError(
                f"sublinear_tf=True belongs to weighting='tfidf', not {self.weighting!r}. "
                "weighting='log' takes logarithms of counts by itself."
            )

    def _after_load(self) -> None:
        self._check_settings()
        if self.use_idf and hasattr(self, "n_features_in_") and not hasattr(self, "idf_"):
            raise ValueError("idf_ is missing.")

    def _refuse_negative(self, X: Any) -> None:
        data = X.data if sp.issparse(X) else X
        if (self.sublinear_tf or self.weighting != "tfidf") and data.size and data.min() < 0:
            raise ValueError(
                "Negative values in data passed to TfidfTransformer: the smallest is "
                f"{data.min():g}. Logarithms and lengths need counts; weighting='tfidf' "
                "without sublinear_tf takes any numbers."
            )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = self.weighting != "tfidf" or self.sublinear_tf
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class TfidfVectorizer(CountVectorizer):
    """Turn documents into rows of weights: CountVectorizer, then TfidfTransformer.

    Parameters
    ----------
    norm, use_idf, smooth_idf, sublinear_tf, weighting, k1, b
        As in TfidfTransformer.
    dtype : float64 or float32
    others
        As in CountVectorizer.

    Attributes
    ----------
    vocabulary_ : dict of term to column, sorted
    fixed_vocabulary_ : bool, whether ``vocabulary`` names the terms
    idf_ : array of shape (n_features,), the weight factor of each term

    Examples
    --------
    >>> vectorizer = TfidfVectorizer()
    >>> vectorizer.fit_transform(["the whale", "the sea"]).toarray().round(3)
    array([[0.   , 0.58 , 0.815],
           [0.815, 0.58 , 0.   ]])
    """

    _saved_private = ("_tfidf",)
    _parameter_constraints: ClassVar[dict] = {
        **CountVectorizer._parameter_constraints,
        **TfidfTransformer._parameter_constraints,
    }
    _file_types: ClassVar[dict] = {
        **CountVectorizer._file_types,
        "_tfidf": "TfidfTransformer",
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
        analyzer: Any = "word",
        stop_words: Any = None,
        token_pattern: str | None = None,
        ngram_range: tuple[int, int] = (1, 1),
        max_df: float = 1.0,
        min_df: float = 1,
        max_features: int | None = None,
        vocabulary: Any = None,
        binary: bool = False,
        dtype: Any = np.float64,
        norm: str | None = "l2",
        use_idf: bool = True,
        smooth_idf: bool = True,
        sublinear_tf: bool = False,
        weighting: str = "tfidf",
        k1: float = 1.2,
        b: float = 0.75,
        rule: str = "plain",
        min_length: int | None = None,
        numbers: bool = True,
        time_limit: float = 10.0,
        engine: Any = "threads",
    ) -> None:
        super().__init__(
            input=input, encoding=encoding, decode_error=decode_error,
            strip_accents=strip_accents, lowercase=lowercase, preprocessor=preprocessor,
            tokenizer=tokenizer, analyzer=analyzer, stop_words=stop_words,
            token_pattern=token_pattern, ngram_range=ngram_range, max_df=max_df, min_df=min_df,
            max_features=max_features, vocabulary=vocabulary, binary=binary, dtype=dtype,
            rule=rule, min_length=min_length, numbers=numbers, time_limit=time_limit,
            engine=engine,
        )  # fmt: skip
        self.norm, self.use_idf, self.smooth_idf = norm, use_idf, smooth_idf
        self.sublinear_tf, self.weighting, self.k1, self.b = sublinear_tf, weighting, k1, b

    @property
    def idf_(self) -> np.ndarray:
        """The weight factor of each term."""
        if not hasattr(self, "_tfidf"):
            raise NotFittedError(
                "TfidfVectorizer is not fitted yet. Call fit before asking for idf_."
            )
        return self._tfidf.idf_

    @idf_.setter
    def idf_(self, value: Any) -> None:
        if not self.use_idf:
            raise ValueError("`idf_` cannot be set when `use_idf=False`.")
        if not hasattr(self, "vocabulary_") and self.vocabulary is not None:
            self._begin()
        value = np.asarray(value)
        if hasattr(self, "vocabulary_") and len(self.vocabulary_) != len(value):
            raise ValueError(
                f"idf length = {len(value)} must be equal to vocabulary size = "
                f"{len(self.vocabulary_)}."
            )
        self._tfidf = self._transformer()
        self._tfidf.mean_length_ = 0.0
        self._tfidf.n_features_in_ = len(value)
        self._tfidf.idf_ = value

    def fit(self, raw_documents: Any, y: Any = None) -> "TfidfVectorizer":
        """Learn the terms and their weights."""
        tfidf = self._transformer()
        self._begin()
        if self.fixed_vocabulary_:
            with raised_as(self, "TfidfTransformer"):
                tfidf.fit(self._count(raw_documents))
        else:
            stats = self._term_stats(raw_documents)
            keep = self._choose(stats)
            self._keep_terms(stats.vocabulary.take(keep))
            frequencies = DocumentFrequencies(
                stats.documents, stats.document_counts[keep], float(stats.counts[keep].sum())
            )
            tfidf.n_features_in_ = len(self.vocabulary_)
            tfidf._learn(frequencies, np.dtype(self.dtype))
        self._tfidf = tfidf
        return self

    def partial_fit(self, raw_documents: Any, y: Any = None) -> "TfidfVectorizer":
        """Not available: weights depend on all documents."""
        raise AttributeError(
            "TfidfVectorizer has no partial_fit: weights depend on all documents. Use "
            "CountVectorizer.partial_fit, and TfidfTransformer on the counts."
        )

    def fit_transform(self, raw_documents: Any, y: Any = None) -> Any:
        """Learn the terms and their weights, and weight the documents."""
        tfidf = self._transformer()
        if self.vocabulary is not None:
            self._begin()
            counts = self._count(raw_documents)
        else:
            counts = super().fit_transform(raw_documents)
        with raised_as(self, "TfidfTransformer"):
            self._tfidf = tfidf.fit(counts)
        return self._tfidf.transform(counts, copy=False)

    def transform(self, raw_documents: Any) -> Any:
        """The weighted rows of documents."""
        check_is_fitted(self, "_tfidf", msg="The TF-IDF vectorizer is not fitted. Call fit.")
        with raised_as(self, "TfidfTransformer"):
            return self._tfidf.transform(self._count(raw_documents), copy=False)

    def _after_load(self) -> None:
        super()._after_load()
        if self._tfidf.n_features_in_ != len(self.vocabulary_):
            raise ValueError("the weights are not those of the vocabulary.")

    def _transformer(self) -> TfidfTransformer:
        if np.dtype(self.dtype) not in FLOATS:
            warnings.warn(
                f"Only float64 and float32 'dtype' should be used. {self.dtype} 'dtype' will "
                "be converted to np.float64.",
                stacklevel=3,
            )
        transformer = TfidfTransformer(
            norm=self.norm, use_idf=self.use_idf, smooth_idf=self.smooth_idf,
            sublinear_tf=self.sublinear_tf, weighting=self.weighting, k1=self.k1, b=self.b,
            engine=self.engine,
        )  # fmt: skip
        transformer._check_settings()
        return transformer
