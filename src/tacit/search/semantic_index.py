"""Find documents by what they are about: latent semantic indexing.

    counts     the words of the documents (``tacit.text``), weighted
    space      the leading components of the weighted documents (``tacit.decompose``)
    documents  and queries are projected onto the space (``search.semantic_space``)

Contract: summable; the passes are those of the vectorizer and of the truncated SVD.

Deerwester et al. (1990), Indexing by latent semantic analysis. J. American Society for
Information Science 41. The notes' section on smoothing word counts and latent semantic
analysis.
"""

import threading
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils._param_validation import Interval, StrOptions

from tacit.core.engines import Engine, Serial
from tacit.data.documents import Documents
from tacit.decompose.gram_panels import project, to_panels
from tacit.search.ranking import best
from tacit.search.results import Hit, Hits, Receipt
from tacit.search.semantic_space import (
    Space,
    check_counts,
    cosines,
    count_documents,
    decompose,
    expected_inside,
    inside,
    is_matrix,
    make_receipt,
    new_counter,
    row_of,
    squares,
    unit_rows,
)
from tacit.search.snippets import Wanted
from tacit.search.stored_documents import (
    SCHEMA,
    DocumentIndex,
    StoredDocuments,
    check_dtypes,
    check_top,
    join_names,
    merge_texts,
)
from tacit.text.tfidf import WEIGHTINGS, TfidfTransformer
from tacit.text.tokens import TokenRule
from tacit.text.vocabulary import Vocabulary

__all__ = ["SemanticIndex"]

writing = threading.RLock()  # one change to an index at a time


class Content(NamedTuple):
    """The documents of a semantic index. It never changes: adding makes another."""

    vectors: np.ndarray  # (n, k) float32, of length one
    stored: StoredDocuments
    counts: Any = None  # (n, v) CSR, if the documents were counts

    def arrays(self) -> dict[str, Any]:
        """The attributes of the index; None for those it does without."""
        named = {"document_vectors_": self.vectors, "counts_": self.counts}
        return {**named, **self.stored.arrays()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any]) -> "Content":
        """The content of a file. ValueError if its arrays do not fit together."""
        check_dtypes(arrays, {"document_vectors_": np.dtype(np.float32)})
        vectors = arrays["document_vectors_"]
        stored = StoredDocuments.from_arrays(arrays, len(vectors))
        return cls(vectors, stored, arrays.get("counts_"))

    def hits(
        self,
        scores: np.ndarray,
        words: list[str],
        top: int | None,
        width: int,
        notes: list[str],
    ) -> Hits:
        """The documents with the best scores above 0, ``words`` marked in their snippets."""
        rows = np.flatnonzero(scores > 0).astype(np.int32)
        chosen = best(scores, rows, check_top(top)).tolist()
        wanted = Wanted(Vocabulary.of(sorted(set(words))))
        hits = self.stored.hits(chosen, scores, wanted, TokenRule(), width)
        return Hits(hits, total=len(rows), notes=notes)


class SemanticIndex(DocumentIndex):
    """Search documents by meaning: a document may be found without a word of the query.

    Documents, words and queries are projected onto few components (latent semantic analysis)
    and compared there by the cosine. Any number of threads may search at once.

    Parameters
    ----------
    n_components : int
        The number of components, at most the rank of the documents. Fewer bring more documents
        together; 100 to 300 suit thousands of documents.
    weighting : {"bm25", "log", "tfidf", "notes"} or None
        How counts are weighted, see ``tacit.text.TfidfTransformer``; rows are then scaled to
        length one. None takes them as they are.
    vectorizer : CountVectorizer or None
        How documents become counts: stop words, n-grams, pruning. None counts all words.
    store_text : bool
        Whether to keep the documents, compressed to about half, for snippets and counts.
    tol : float
        Accuracy of the components, see ``TruncatedSVD``.
    random_state : int, RandomState or None
        Seed of the decomposition.
    engine : {"serial", "threads", "dask"} or Engine
        Where the passes run. The index does not depend on it.
    callbacks : list or None
        Notified of every pass of the decomposition; see ``tacit.core.progress``.

    Attributes
    ----------
    n_documents_, n_terms_, n_components_ : int
        Documents, different terms, components.
    n_fitted_ : int, documents that the space was fitted to; the others were added
    components_ : float32 array of shape (n_components_, n_terms_)
    singular_values_ : float64 array of shape (n_components_,)
    document_vectors_ : float32 array of shape (n_documents_, n_components_), of length one
    expected_ : float, the fraction of an unseen document that the space should explain
    counter_, weigher_ : the fitted CountVectorizer and TfidfTransformer (or None)

    Examples
    --------
    >>> index = SemanticIndex(2, random_state=0).fit([
    ...     "the elephant raised its trunk",
    ...     "a pachyderm with a long trunk and tusks",
    ...     "elephant tusks and trunk",
    ...     "interest rates and bank loans",
    ...     "the bank raised interest rates",
    ... ])
    >>> index.search("pachyderm", top=2, snippet=0).ids
    [1, 2]
    >>> [hit.id for hit in index.similar_terms("loans", top=2)]
    ['bank', 'interest']
    """

    contract: ClassVar[str] = "summable"
    _takes_text: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "weighting": [StrOptions(set(WEIGHTINGS)), None],
        "store_text": ["boolean"],
        "tol": [Interval(Real, 0, 1, closed="left")],
    }
    _file_schema: ClassVar[dict] = {
        "components_": ("n_components_", "n_terms_"),
        "singular_values_": ("n_components_",),
        "document_vectors_": ("n_documents_", "n_components_"),
        "counts_": ("n_documents_", "n_terms_"),
        **SCHEMA,
    }
    _file_optional = ("counts_", "weigher_", *SCHEMA)
    _file_types: ClassVar[dict] = {
        "counter_": "CountVectorizer",
        "weigher_": "TfidfTransformer",
        "n_fitted_": int,
        "n_terms_": int,
        "expected_": float,
    }

    def __init__(
        self,
        n_components: int = 100,
        *,
        weighting: str | None = "bm25",
        vectorizer: Any = None,
        store_text: bool = True,
        tol: float = 0.02,
        random_state: Any = None,
        engine: str | Engine = "threads",
        callbacks: list | None = None,
    ) -> None:
        self.n_components, self.weighting, self.vectorizer = n_components, weighting, vectorizer
        self.store_text, self.tol, self.random_state = store_text, tol, random_state
        self.engine, self.callbacks = engine, callbacks

    # --- Building ---

    def fit(
        self,
        documents: Any,
        y: Any = None,
        *,
        ids: Sequence[str] | None = None,
        vocabulary: Sequence[str] | Mapping[str, int] | None = None,
    ) -> "SemanticIndex":
        """Index documents: a list of str, a generator, a dataframe, a path, or Documents.

        Or a matrix of counts, documents by terms, with the ``vocabulary`` that names its
        columns. ``ids`` name the documents; those that come from a file or a folder have names
        already, others are numbered from 0.
        """
        self._validate_params()
        counter = new_counter(documents, self.vectorizer, vocabulary, self.engine)
        counted = count_documents(
            documents, counter, fit=True, ids=ids, store_text=self.store_text,
            engine=self.engine,
        )  # fmt: skip
        weigher, rows = None, counted.counts
        if self.weighting is not None:
            weigher = TfidfTransformer(weighting=self.weighting, engine=self.engine)
            rows = sp.csr_array(weigher.fit_transform(rows))
        space, coordinates = decompose(self, rows)
        self.counter_, self.weigher_ = counter, weigher
        self.n_fitted_, self.n_terms_ = rows.shape
        self.n_components_ = len(space.values)
        self.components_, self.singular_values_ = space
        self.expected_ = counted.known * expected_inside(
            coordinates, squares(rows), space.values
        )
        counts = counted.counts if self.store_text and is_matrix(documents) else None
        stored = StoredDocuments(rows.shape[0], counted.names, counted.texts)
        self._store(Content(unit_rows(coordinates), stored, counts))
        return self

    def add(self, documents: Any, *, ids: Sequence[str] | None = None) -> Receipt:
        """Fold in documents: they are appended, and the space does not change.

        The receipt estimates the distance from a new fit. Searches that run meanwhile see the
        index as it was.
        """
        with writing:
            old = self._fitted()
            stored = old.stored
            if stored.texts is not None and is_matrix(documents):
                raise ValueError(
                    "SemanticIndex was fitted to text and holds it, so it cannot add a matrix "
                    "of counts. Give it the text of the documents."
                )
            counted = count_documents(
                documents, self.counter_, fit=False, ids=ids,
                store_text=stored.texts is not None, engine=self.engine,
            )  # fmt: skip
            n = counted.counts.shape[0]
            names = join_names(stored, counted.names, n)
            rows = self._weigh(counted.counts)
            coordinates = self._coordinates(rows)
            counts, texts = old.counts, stored.texts
            if counts is not None:
                counts = sp.vstack([counts, counted.counts], format="csr")
            if texts is not None and counted.texts is not None:
                texts = merge_texts([texts, counted.texts])
            vectors = np.concatenate([old.vectors, unit_rows(coordinates)])
            stored = StoredDocuments(len(vectors), names, texts)
            self._store(Content(vectors, stored, counts))
        return make_receipt(
            added=n,
            inside=inside(coordinates, squares(rows)),
            expected=self.expected_,
            unknown=1 - counted.known,
            folded=self.n_documents_ - self.n_fitted_,
            fitted=self.n_fitted_,
        )

    def search(self, text: str, *, top: int | None = 10, snippet: int = 160) -> Hits:
        """The documents nearest to a text in meaning, the nearest first.

        Words that no document holds are named in ``notes`` of the result. The score is the
        cosine; documents at a right angle or more are left out.
        """
        content = self._fitted()
        words = self._words(text)
        known = [word for word in words if word in self._columns]
        unknown = sorted(set(words).difference(known))
        notes = []
        if unknown:
            more = f" and {len(unknown) - 10:,} more" if len(unknown) > 10 else ""
            notes.append(f"Not in the index: {', '.join(map(repr, unknown[:10]))}{more}.")
        if not known:
            notes.append("None of the words asked for is in the index. Try others.")
            return Hits([], total=0, notes=notes)
        scores = cosines(
            content.vectors, self._space.coordinates(self._weigh(row_of(known, self._columns)))
        )
        return content.hits(scores, known, top, snippet, notes)

    def similar_documents(
        self, id: int | str, *, top: int | None = 10, snippet: int = 160
    ) -> Hits:
        """The documents nearest to one of them, without it."""
        content = self._fitted()
        row = content.stored.row_of(id)
        scores = cosines(content.vectors, content.vectors[row])
        scores[row] = -1.0
        return content.hits(scores, [], top, snippet, [])

    def similar_terms(self, word: str, *, top: int | None = 10) -> list[Hit]:
        """The terms used like a term, nearest first: ``Hit(term, cosine)``."""
        self._fitted()
        column = self._columns.get(word)
        if column is None:
            raise KeyError(f"There is no term {word!r} in the index.")
        scale = self._term_lengths * self._term_lengths[column]
        scores = self._space.term_products(column)
        scores = np.divide(scores, scale, out=np.zeros(len(scores)), where=scale > 0)
        scores[column] = -1.0
        rows = np.flatnonzero(scores > 0).astype(np.int32)
        chosen = best(scores, rows, check_top(top)).tolist()
        return [Hit(str(self._terms[i]), float(scores[i])) for i in chosen]

    def smoothed_counts(
        self, id: int | str | None = None, *, text: str | None = None, top: int | None = 20
    ) -> dict[str, float]:
        """The expected counts of terms in a document by those of the others: largest first.

        The weighted counts are projected onto the space and back. A term that the document does
        not hold gets a positive count if similar documents hold it. ``text`` is a document that
        is not in the index.
        """
        counts = self._counts_of(self._fitted(), id, text)
        weights = np.ones(self.n_terms_)
        if self.weigher_ is not None:
            weights = self.weigher_.idf_.astype(np.float64)
        weighted = sp.csr_array(counts, dtype=np.float64, copy=True)
        weighted.data *= weights[weighted.indices]
        smooth = self._space.smooth(weighted)
        smooth = np.divide(smooth, weights, out=np.zeros(len(smooth)), where=weights > 0)
        order = best(smooth, np.arange(len(smooth), dtype=np.int32), check_top(top))
        return {str(self._terms[i]): float(smooth[i]) for i in order.tolist()}

    def transform(self, documents: Any) -> np.ndarray:
        """The coordinates of documents: (n, n_components_) float32, rows of length one.

        Documents as ``fit`` takes them. Those without a known word are rows of zeros.
        """
        self._fitted()
        if is_matrix(documents):
            counts = check_counts(documents, self.counter_)
        else:
            counts = sp.csr_array(self.counter_.transform(Documents.of(documents)))
        return unit_rows(self._coordinates(self._weigh(counts)))

    def _weigh(self, counts: sp.csr_array) -> sp.csr_array:
        if self.weigher_ is None or not counts.shape[0]:
            return counts
        return sp.csr_array(self.weigher_.transform(counts))

    def _coordinates(self, rows: sp.csr_array) -> np.ndarray:
        """The same for any rows, with the same bits."""
        panels = to_panels(self.components_, Serial(), np.float32)
        return project(rows, panels, self.n_components_).astype(np.float32)

    def _store(self, content: Content) -> None:
        self.n_documents_ = len(content.vectors)
        self._set_arrays(content)
        self._prepare(content)

    def _prepare(self, content: Content) -> None:
        self._space = Space(self.components_, self.singular_values_)
        self._term_lengths = self._space.term_lengths()
        self._columns = self.counter_.vocabulary_
        self._terms = self.counter_.get_feature_names_out()
        self._content = content

    def _words(self, text: str) -> list[str]:
        if not isinstance(text, str):
            raise TypeError(f"A query is a str, not {type(text).__name__}: {text!r:.60}")
        analyze = self.counter_.build_analyzer()
        try:
            words = list(analyze(text))
        finally:
            getattr(analyze, "close", lambda: None)()
        if not words:
            raise ValueError(f"The text {text[:60]!r} holds no words. Give some.")
        return words

    def _counts_of(self, content: Content, id: Any, text: str | None) -> sp.csr_array:
        if (id is None) == (text is None):
            raise TypeError("smoothed_counts takes an id or a text: one of them.")
        if text is None:
            row = content.stored.row_of(id)
            if content.counts is not None:
                return content.counts[[row]]
            text = content.stored.text(row)
        words = self.counter_.build_analyzer()(text)
        return row_of([word for word in words if word in self._columns], self._columns)

    def _after_load(self) -> None:
        self._validate_params()
        if len(self.counter_.vocabulary_) != self.n_terms_:
            raise ValueError("the vocabulary is not that of the directions")
        if self.weigher_ is not None and self.weigher_.n_features_in_ != self.n_terms_:
            raise ValueError("the weights are not those of the vocabulary")
        self._prepare(Content.from_arrays(vars(self)))
