"""From documents to weighted rows in one step: counts, then tf-idf."""

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from tacit.text.counts import CountVectorizer
from tacit.text.tfidf import FLOATS, DocumentFrequencies, TfidfTransformer

__all__ = ["TfidfVectorizer"]


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
    fixed_vocabulary_ : bool, whether the terms were given
    idf_ : array of shape (n_features,), what each term's share of the weight is

    Examples
    --------
    >>> vectorizer = TfidfVectorizer()
    >>> vectorizer.fit_transform(["the whale", "the sea"]).toarray()
    array([[0.   , 0.580, 0.815],
           [0.815, 0.580, 0.   ]])
    """

    _saved_private = ("_tfidf",)

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
            input=input,
            encoding=encoding,
            decode_error=decode_error,
            strip_accents=strip_accents,
            lowercase=lowercase,
            preprocessor=preprocessor,
            tokenizer=tokenizer,
            analyzer=analyzer,
            stop_words=stop_words,
            token_pattern=token_pattern,
            ngram_range=ngram_range,
            max_df=max_df,
            min_df=min_df,
            max_features=max_features,
            vocabulary=vocabulary,
            binary=binary,
            dtype=dtype,
            rule=rule,
            min_length=min_length,
            numbers=numbers,
            time_limit=time_limit,
            engine=engine,
        )
        self.norm = norm
        self.use_idf = use_idf
        self.smooth_idf = smooth_idf
        self.sublinear_tf = sublinear_tf
        self.weighting = weighting
        self.k1 = k1
        self.b = b

    @property
    def idf_(self) -> np.ndarray:
        """What each term's share of the weight is."""
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
            tfidf.fit(super().transform(raw_documents))
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
        """Not to be had: weights depend on all documents."""
        raise AttributeError(
            "TfidfVectorizer has no partial_fit: weights depend on all documents. Use "
            "CountVectorizer.partial_fit, and TfidfTransformer on the counts."
        )

    def fit_transform(self, raw_documents: Any, y: Any = None) -> Any:
        """Learn the terms and their weights, and weight the documents."""
        tfidf = self._transformer()
        counts = super().fit_transform(raw_documents)
        self._tfidf = tfidf.fit(counts)
        return self._tfidf.transform(counts, copy=False)

    def transform(self, raw_documents: Any) -> Any:
        """The weighted rows of documents."""
        check_is_fitted(self, "_tfidf", msg="The TF-IDF vectorizer is not fitted. Call fit.")
        return self._tfidf.transform(super().transform(raw_documents), copy=False)

    def _transformer(self) -> TfidfTransformer:
        if np.dtype(self.dtype) not in FLOATS:
            warnings.warn(
                f"Only float64 and float32 'dtype' should be used. {self.dtype} 'dtype' will "
                "be converted to np.float64.",
                stacklevel=3,
            )
        transformer = TfidfTransformer(
            norm=self.norm,
            use_idf=self.use_idf,
            smooth_idf=self.smooth_idf,
            sublinear_tf=self.sublinear_tf,
            weighting=self.weighting,
            k1=self.k1,
            b=self.b,
            engine=self.engine,
        )
        transformer._check_settings()
        return transformer
