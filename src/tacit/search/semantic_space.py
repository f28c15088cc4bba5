"""The latent semantic space: how documents become counts, and where they lie in the space.

With X the weighted documents and X = U S V' truncated to k components, a document x, fitted or
not, has coordinates x V; the fitted ones are U S. Terms have coordinates V S, so that products
of terms are those of the columns of the smoothed X, products of documents those of its rows.

A document that is folded in (x V, with V unchanged) lies where a new fit would put it only as
far as V explains it. ``expected_inside`` estimates how much of an unseen document V explains:
for a fitted document x with coordinates z_i and a squared residual r, leaving x out would turn
component i away from x by about z_i r / s_i^2, to first order, and so the space would explain

    sum over i of z_i^2 max(0, 1 - 2 r / s_i^2)

of it in place of the sum of z_i^2. New documents are compared with that.

Deerwester et al. (1990), Indexing by latent semantic analysis. J. American Society for
Information Science 41. Berry, Dumais and O'Brien (1995), Using linear algebra for intelligent
information retrieval. SIAM Review 37. The notes' section on smoothing word counts and latent
semantic analysis.
"""

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

from tacit.core.engines import get_engine, one_blas_thread
from tacit.core.string_array import StringArray
from tacit.data.documents import Documents
from tacit.data.text_block import Text
from tacit.decompose.truncated_svd import TruncatedSVD
from tacit.search.results import Receipt
from tacit.search.stored_documents import Texts, merge_texts, names_of, pack_texts
from tacit.text.counts import CountVectorizer

__all__ = [
    "CountedDocuments", "Space", "make_receipt", "check_counts", "cosines", "count_documents",
    "decompose", "expected_inside", "inside", "is_matrix", "new_counter", "row_of", "squares",
    "unit_rows",
]  # fmt: skip

NEAR, FAR = 0.1, 0.25  # refit distances: no need below, necessary above
ALL = {"vocabulary": None, "min_df": 1, "max_df": 1.0, "max_features": None}


class Space(NamedTuple):
    """k components of v terms."""

    components: np.ndarray  # (k, v) float32, orthonormal rows
    values: np.ndarray  # (k,) float64, singular values, all above 0

    def coordinates(self, row: Any) -> np.ndarray:
        """(k,) the coordinates of a sparse row of weights."""
        return self.components[:, row.indices] @ row.data

    def smooth(self, row: Any) -> np.ndarray:
        """(v,) the projection of a row onto the space."""
        with one_blas_thread():
            return self.coordinates(row).astype(np.float32) @ self.components

    def term_lengths(self) -> np.ndarray:
        """(v,) the norm of each term."""
        return np.sqrt(
            np.einsum("ij,ij,i->j", self.components, self.components, self.values**2)
        )

    def term_products(self, term: int) -> np.ndarray:
        """(v,) the products of a term with all terms."""
        scaled = (self.components[:, term] * self.values**2).astype(np.float32)
        with one_blas_thread():
            return scaled @ self.components


def unit_rows(rows: np.ndarray) -> np.ndarray:
    """Rows of length one in float32; rows of zeros stay zero."""
    lengths = np.sqrt(squares(rows))[:, None]
    return np.divide(rows, lengths, out=np.zeros(rows.shape, np.float32), where=lengths > 0)


def squares(rows: Any) -> np.ndarray:
    """The squared length of every row, in float64."""
    if sp.issparse(rows):
        data = rows.data.astype(np.float64)
        sums = np.concatenate([[0.0], np.cumsum(data * data)])
        return np.diff(sums[rows.indptr])
    return np.einsum("ij,ij->i", rows, rows, dtype=np.float64)


def cosines(vectors: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """(n,) float32. Without BLAS, whose sums depend on its number of threads."""
    length = float(np.sqrt(vector @ vector))
    if not length:
        return np.zeros(len(vectors), np.float32)
    return np.einsum("ij,j->i", vectors, (vector / length).astype(np.float32))


# --- Distance from a new fit ---


def inside(coordinates: np.ndarray, lengths: np.ndarray) -> float:
    """The fraction of the documents' squared lengths that the space explains."""
    total = float(lengths.sum())
    return float(squares(coordinates).sum()) / total if total > 0 else 0.0


def expected_inside(coordinates: np.ndarray, lengths: np.ndarray, values: np.ndarray) -> float:
    """The same for unseen documents like those that the space was fitted to."""
    explained = coordinates.astype(np.float64) ** 2
    residuals = np.maximum(lengths - explained.sum(axis=1), 0.0)
    remaining = np.maximum(0.0, 1 - 2 * residuals[:, None] / values**2)
    total = float(lengths.sum())
    return float((explained * remaining).sum()) / total if total > 0 else 0.0


def make_receipt(
    *, added: int, inside: float, expected: float, unknown: float, folded: int, fitted: int
) -> Receipt:
    """A receipt with advice. Unknown words count as unexplained, in ``expected`` too."""
    if not added:
        return Receipt(0, 0.0, "Nothing was added.", inside, expected, unknown)
    known = inside * (1 - unknown)
    distance = min(1.0, max(0.0, 1 - known / expected)) if expected > 0 else float(known == 0)
    if distance > FAR:
        text = "Refit: the new documents are about other things than the fitted ones."
    elif folded > fitted:
        text = "Refit: more documents were folded in than the index was fitted to."
    elif distance > NEAR:
        text = "Refit when convenient: the new documents differ somewhat from the fitted ones."
    else:
        text = "No need to refit: the new documents fit in as the fitted ones would."
    if unknown > 0.1:
        text += f" {unknown:.0%} of their words are not in the vocabulary."
    return Receipt(added, distance, text, inside, expected, unknown)


# --- Documents and counts ---


class CountedDocuments(NamedTuple):
    """Documents as counts, with their names and texts."""

    counts: sp.csr_array  # (n, v) float32
    names: StringArray | None
    texts: Texts | None  # None for documents that are counts, or not stored
    known: float  # fraction of their words with a column, each document left out


def is_matrix(documents: Any) -> bool:
    """Whether documents are a matrix of counts."""
    if sp.issparse(documents):
        return True
    return isinstance(documents, np.ndarray) and documents.ndim == 2


def new_counter(documents: Any, vectorizer: Any, vocabulary: Any, engine: Any) -> Any:
    """The vectorizer to fit, or for counts one with their columns."""
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
            f"{type(vectorizer).__name__}. SemanticIndex weights the counts itself."
        )
    return clone(vectorizer)


def count_documents(
    documents: Any,
    counter: CountVectorizer,
    *,
    fit: bool,
    ids: Sequence[str] | None,
    store_text: bool,
    engine: Any,
) -> CountedDocuments:
    """Count documents with a vectorizer, fitted to them if ``fit``."""
    if is_matrix(documents):
        counts = check_counts(documents, counter)
        unnamed = Documents((), counts.shape[0])
        return CountedDocuments(counts, names_of(unnamed, ids), None, 1.0)
    source = Documents.of(documents)
    names = names_of(source, ids)
    counts = counter.fit_transform(source) if fit else counter.transform(source)
    texts = None
    if store_text and len(source):
        texts = merge_texts(list(get_engine(engine).map(pack, None, source)))
    rows = sp.csr_array(counts, dtype=np.float32)
    known = known_fraction(counter, source, fitted=fit)
    if fit:
        known *= 1 - rare_fraction(counter, rows)
    return CountedDocuments(rows, names, texts, known)


def pack(_: Any, text: Text) -> Texts:
    return pack_texts(text)


def rare_fraction(counter: CountVectorizer, rows: sp.csr_array) -> float:
    """The fraction of words that would lose their column if their document were left out:
    those in as few documents as min_df allows."""
    total = float(rows.data.sum(dtype=np.float64))
    if counter.fixed_vocabulary_ or not total:
        return 0.0
    frequencies = np.bincount(rows.indices, minlength=rows.shape[1])
    least = counter.min_df
    if not isinstance(least, Integral):
        least = max(1, math.ceil(least * rows.shape[0]))
    rare = frequencies[rows.indices] <= least
    return float(rows.data[rare].sum(dtype=np.float64)) / total


def known_fraction(counter: CountVectorizer, source: Documents, *, fitted: bool) -> float:
    """The fraction of the words of documents, with repetitions, that have a column.

    If the vectorizer was ``fitted`` to these documents, all have one unless some were pruned.
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
    """Counts as CSR in float32, checked."""
    checked = check_array(counts, accept_sparse="csr", dtype=np.float32, input_name="counts")
    rows = sp.csr_array(checked)
    check_width(rows.shape[1], counter)
    if rows.nnz and rows.data.min() < 0:
        raise ValueError(
            f"SemanticIndex: the smallest count is {rows.data.min():g}. Give 0 or more."
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
    indices = np.array(sorted(counted), np.int32)
    counts = np.array([counted[i] for i in indices.tolist()], np.float32)
    return sp.csr_array((counts, indices, [0, len(indices)]), shape=(1, len(columns)))


def decompose(model: Any, rows: sp.csr_array) -> tuple[Space, np.ndarray]:
    """The space of weighted rows by the settings of the model, and their coordinates."""
    svd = TruncatedSVD(
        min(model.n_components, *rows.shape),
        tol=model.tol,
        random_state=model.random_state,
        engine=model.engine,
        callbacks=model.callbacks,
    )
    with warnings.catch_warnings():  # the variance is not used here
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
