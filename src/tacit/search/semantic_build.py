"""From documents, or from counts with a vocabulary, to what a semantic index is made of."""

import math
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import check_array

from tacit.core.engines import get_engine
from tacit.core.string_array import StringArray
from tacit.data.documents import Documents
from tacit.data.text_block import Text
from tacit.decompose.truncated_svd import TruncatedSVD
from tacit.search.index_content import names_of
from tacit.search.semantic_space import Space
from tacit.search.texts import Texts, merge_texts, pack_texts
from tacit.text.counts import CountVectorizer

__all__ = ["Read", "check_counts", "decompose", "is_matrix", "new_counter", "read", "row_of"]

ALL = {"vocabulary": None, "min_df": 1, "max_df": 1.0, "max_features": None}


class Read(NamedTuple):
    """What documents came to."""

    counts: sp.csr_array  # (n, v) float32
    names: StringArray | None
    texts: Texts | None  # None where they came as counts, or are not to be kept
    known: float  # share of their words that have a column, or would have one without them


def is_matrix(documents: Any) -> bool:
    """Whether documents come as counts."""
    if sp.issparse(documents):
        return True
    return isinstance(documents, np.ndarray) and documents.ndim == 2


def new_counter(documents: Any, vectorizer: Any, vocabulary: Any, engine: Any) -> Any:
    """The vectorizer to fit, or for counts one that knows their columns."""
    if is_matrix(documents):
        if vocabulary is None:
            raise ValueError(
                "SemanticIndex.fit needs vocabulary=... with a matrix of counts: the terms, in "
                "the order of the columns."
            )
        counter = CountVectorizer(vocabulary=vocabulary, dtype=np.float32).fit([])
        check_width(documents.shape[1], counter)
        return counter
    if vocabulary is not None:
        raise ValueError(
            "SemanticIndex.fit(vocabulary=...) belongs to a matrix of counts. For text, set "
            "vectorizer=CountVectorizer(vocabulary=...)."
        )
    if vectorizer is None:
        return CountVectorizer(dtype=np.float32, engine=engine)
    if type(vectorizer) is not CountVectorizer:
        raise TypeError(
            "SemanticIndex(vectorizer=...) must be a tacit.text.CountVectorizer, not "
            f"{type(vectorizer).__name__}. The weighting is SemanticIndex's own."
        )
    return clone(vectorizer)


def read(
    documents: Any,
    counter: CountVectorizer,
    *,
    fit: bool,
    ids: Sequence[str] | None,
    store_text: bool,
    engine: Any,
) -> Read:
    """Count documents, with a vectorizer that is to be fitted to them or was before."""
    if is_matrix(documents):
        counts = check_counts(documents, counter)
        unnamed = Documents((), counts.shape[0])
        return Read(counts, names_of(unnamed, ids), None, 1.0)
    source = Documents.of(documents)
    names = names_of(source, ids)
    counts = counter.fit_transform(source) if fit else counter.transform(source)
    texts = None
    if store_text and len(source):
        texts = merge_texts(list(get_engine(engine).map(pack, None, source)))
    rows = sp.csr_array(counts, dtype=np.float32)
    known = known_share(counter, source, fitted=fit)
    if fit:
        known *= 1 - rare_share(counter, rows)
    return Read(rows, names, texts, known)


def pack(_: Any, text: Text) -> Texts:
    return pack_texts(text)


def rare_share(counter: CountVectorizer, rows: sp.csr_array) -> float:
    """The share of words that would lose their column if their document were left out.

    Those in as few documents as a term must be in: one, unless min_df says otherwise.
    """
    total = float(rows.data.sum(dtype=np.float64))
    if counter.fixed_vocabulary_ or not total:
        return 0.0
    found_in = np.bincount(rows.indices, minlength=rows.shape[1])
    least = counter.min_df
    if not isinstance(least, Integral):
        least = max(1, math.ceil(least * rows.shape[0]))
    rare = found_in[rows.indices] <= least
    return float(rows.data[rare].sum(dtype=np.float64)) / total


def known_share(counter: CountVectorizer, source: Documents, *, fitted: bool) -> float:
    """The share of the words of documents, each as often as it is there, that have a column.

    ``fitted``: the columns come from these documents, so all words have one unless some
    were pruned.
    """
    settings = counter.get_params()
    if not len(source) or (fitted and all(settings[name] == ALL[name] for name in ALL)):
        return 1.0
    everything = clone(counter).set_params(**ALL)
    try:
        counts = everything.fit_transform(source)
    except ValueError:  # no words at all
        return 1.0
    sums = np.asarray(counts.sum(axis=0), np.float64).ravel()
    known = [
        column for term, column in everything.vocabulary_.items() if term in counter.vocabulary_
    ]
    return float(sums[known].sum() / sums.sum())


def check_counts(counts: Any, counter: CountVectorizer) -> sp.csr_array:
    """Counts as CSR in float32, if they can be counts of the terms."""
    checked = check_array(counts, accept_sparse="csr", dtype=np.float32, input_name="counts")
    rows = sp.csr_array(checked)
    check_width(rows.shape[1], counter)
    if rows.nnz and rows.data.min() < 0:
        raise ValueError(
            f"SemanticIndex: the counts go down to {rows.data.min():g}. Give 0 or more."
        )
    return rows


def check_width(columns: int, counter: CountVectorizer) -> None:
    terms = len(counter.vocabulary_)
    if columns != terms:
        raise ValueError(
            f"SemanticIndex: the counts have {columns:,} columns, but there are {terms:,} "
            "terms. Give one column for each."
        )


def row_of(words: Sequence[str], columns: Mapping[str, int]) -> sp.csr_array:
    """The counts of known words, as one row.

    >>> row_of(["b", "a", "b"], {"a": 0, "b": 1, "c": 2}).toarray()
    array([[1., 2., 0.]], dtype=float32)
    """
    counted = Counter(columns[word] for word in words)
    places = np.array(sorted(counted), np.int32)
    counts = np.array([counted[place] for place in places.tolist()], np.float32)
    return sp.csr_array((counts, places, [0, len(places)]), shape=(1, len(columns)))


def decompose(model: Any, rows: sp.csr_array) -> tuple[Space, np.ndarray]:
    """The space of weighted rows by the model's settings, and where they lie in it."""
    svd = TruncatedSVD(
        min(model.n_components, *rows.shape),
        tol=model.tol,
        random_state=model.random_state,
        engine=model.engine,
        callbacks=model.callbacks,
    )
    with warnings.catch_warnings():  # of variance there is no talk here
        warnings.filterwarnings("ignore", "TruncatedSVD: all rows are equal")
        svd.fit(rows)
    rank = int(np.count_nonzero(svd.singular_values_))
    if not rank:
        raise ValueError(
            f"SemanticIndex(weighting={model.weighting!r}) gives no term any weight in these "
            f"{rows.shape[0]:,} documents. Give more documents, or take weighting='bm25'."
        )
    values = svd.singular_values_[:rank].astype(np.float64)
    return Space(svd.components_[:rank], values), svd.transform(rows)[:, :rank]
