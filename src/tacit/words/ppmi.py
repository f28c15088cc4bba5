"""Word vectors by counting: positive pointwise mutual information, and a truncated SVD.

    count    n(w, c): how often c is within the window of w, near ones counting more
    weigh    max(0, log( p(w, c) / (p(w) p(c)) ) - log shift),  p(c) in proportion to n(c)^0.75
    reduce   truncated SVD, U S V'; the vectors are the rows of U S^power

Nothing is drawn at random but the start of the SVD, and the counts add up: the result is the
same wherever the parts are counted. Skip-gram with negative sampling factorizes the same matrix
implicitly, so these vectors are its deterministic sibling; they do well on small corpora and on
similarity, less well on analogies.

Counts merge as those of n-grams do. Contract: summable.

Levy and Goldberg (2014), Neural word embedding as implicit matrix factorization. NIPS. Levy,
Goldberg and Dagan (2015), Improving distributional similarity with lessons learned from word
embeddings. TACL 3. Bullinaria and Levy (2007), Extracting semantic representations from word
co-occurrence statistics.
"""

from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils._param_validation import Interval

from tacit.core.engines import Engine, check_stop, ready
from tacit.core.estimator import Estimator, engine_for, with_callbacks
from tacit.core.kernel import kernel
from tacit.core.stats import tree_sum
from tacit.decompose.truncated_svd import TruncatedSVD
from tacit.language.key_counts import KeyCounts
from tacit.words.corpus import WordCorpus, corpus_for
from tacit.words.vectors import WordVectors, vectors_for

__all__ = ["PPMIVectors", "count_neighbors", "ppmi"]

U = np.uint64
LOW = U(0xFFFFFFFF)
CHUNK_WORDS = 1 << 18


class PPMIVectors(Estimator):
    """Count the neighbors of every word, and reduce the counts to a short vector.

    Parameters
    ----------
    vector_size : int
        Numbers of a vector; fewer than words.
    window : int
        Neighbors on each side. One at distance i counts (window + 1 - i) / window.
    min_count : int
        Rarer words are left out.
    smoothing : float
        The power of the neighbors' counts; below 1, rare neighbors get less weight.
    shift : float
        Subtract log shift before cutting at zero, as if there were so many negative samples.
    power : float
        The power of the singular values in the vectors. 0.5 does best in Levy, Goldberg and
        Dagan's comparison; 1 keeps the geometry of the counts.
    tokenizer, lowercase
        What a word is; see ``Word2Vec``.
    random_state : int, RandomState or None
        Seed of the start of the SVD.
    engine : {"serial", "threads", "dask"} or Engine
        Where passes run.
    callbacks : list or None
        Notified of every pass of the SVD.

    Attributes
    ----------
    vectors_ : WordVectors
    singular_values_ : array of shape (vector_size,)
    explained_ : float
        The part of the squared PPMI values that the vectors explain.
    n_pairs_ : int
        Distinct pairs of words with a positive value.

    Examples
    --------
    >>> text = ["the cat eats fish", "the dog eats meat", "a cat eats meat"] * 10
    >>> model = PPMIVectors(3, window=2, min_count=1, random_state=0).fit(text)
    >>> model.vectors_.most_similar("cat", top=1)[0].word
    'dog'
    """

    contract: ClassVar[str] = "summable"
    _takes_text: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict] = {
        "vector_size": [Interval(Integral, 1, 10_000, closed="both")],
        "window": [Interval(Integral, 1, 1_000, closed="both")],
        "min_count": [Interval(Integral, 1, None, closed="left")],
        "smoothing": [Interval(Real, 0, 1, closed="both")],
        "shift": [Interval(Real, 0, None, closed="neither")],
        "power": [Interval(Real, 0, 2, closed="both")],
        "tokenizer": [str, callable, None],
        "lowercase": ["boolean"],
    }
    _file_schema: ClassVar[dict] = {"singular_values_": ("vector_size",)}
    _file_kinds: ClassVar[dict] = {"singular_values_": "f"}

    def __init__(
        self,
        vector_size: int = 100,
        *,
        window: int = 5,
        min_count: int = 5,
        smoothing: float = 0.75,
        shift: float = 1.0,
        power: float = 0.5,
        tokenizer: str | Callable[[str], list[str]] = "words",
        lowercase: bool = True,
        random_state: Any = None,
        engine: str | Engine = "threads",
        callbacks: Sequence[Any] | None = None,
    ) -> None:
        self.vector_size, self.window, self.min_count = vector_size, window, min_count
        self.smoothing, self.shift, self.power = smoothing, shift, power
        self.tokenizer, self.lowercase, self.random_state = tokenizer, lowercase, random_state
        self.engine, self.callbacks = engine, callbacks

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> "PPMIVectors":
        """Learn from sentences: lists of words, str, Documents, a dataframe, a path."""
        self._validate_params()
        corpus = corpus_for(self, X)
        if len(corpus.words) <= self.vector_size:
            raise ValueError(
                f"PPMIVectors(vector_size={self.vector_size}) needs more words than that, but "
                f"the text has {len(corpus.words):,}. Lower vector_size or min_count."
            )
        counts = count_neighbors(corpus, self.window, engine_for(self))
        values = ppmi(counts, len(corpus.words), smoothing=self.smoothing, shift=self.shift)
        with self._fit_callbacks() as callbacks:
            svd = TruncatedSVD(
                self.vector_size, random_state=self.random_state, engine=self.engine,
                callbacks=callbacks,
            )  # fmt: skip
            rows = svd.fit_transform(values)
        singular = np.asarray(svd.singular_values_, np.float64)
        scale = np.where(singular > 0, np.maximum(singular, 1e-300) ** (self.power - 1), 0.0)
        self.vectors_ = vectors_for(self, corpus.words, rows * scale, corpus.counts)
        self.singular_values_ = singular
        total = float((values.data**2).sum())
        self.explained_ = float(min(1.0, (singular**2).sum() / total)) if total else 0.0
        self.n_pairs_ = int(values.nnz)
        return self

    def _after_load(self) -> None:
        if not isinstance(self.vectors_, WordVectors):
            raise ValueError("vectors_ is not a WordVectors")
        if self.vectors_.vectors.shape[1] != self.vector_size:
            raise ValueError("the vectors do not have vector_size numbers")


def count_neighbors(corpus: WordCorpus, window: int, engine: Engine) -> KeyCounts:
    """Counts of unordered pairs, the smaller number in the high half of the key. A neighbor at
    distance i adds window + 1 - i."""
    n = max(1, round(len(corpus.ids) / CHUNK_WORDS))
    at = np.linspace(0, len(corpus.ids), n + 1).astype(np.int64)
    cuts = np.unique(np.searchsorted(corpus.edges, at))

    def count(chunk: int) -> KeyCounts:
        check_stop()
        edges = corpus.edges[cuts[chunk] : cuts[chunk + 1] + 1]
        most = int(edges[-1] - edges[0]) * window
        keys, weights = np.empty(most, np.uint64), np.empty(most, np.int64)
        size = list_neighbors(corpus.ids, edges, window, keys, weights)
        return KeyCounts.of(keys[:size], weights[:size])

    with ready(engine) as running:
        return tree_sum(running.each(count, range(len(cuts) - 1)))


def ppmi(counts: KeyCounts, words: int, *, smoothing: float, shift: float) -> sp.csr_array:
    """The positive pointwise mutual information of all pairs of words, symmetric in count but
    not in value, since only the columns are smoothed."""
    low, high = (counts.keys >> U(32)).astype(np.int32), (counts.keys & LOW).astype(np.int32)
    half = sp.coo_array(
        (counts.counts.astype(np.float64), (low, high)), shape=(words, words)
    ).tocsr()
    n = (half + half.T).tocsr()  # a word near itself is counted from both ends
    rows = np.asarray(n.sum(axis=1)).ravel()
    columns = np.maximum(rows, 1.0) ** smoothing * (rows > 0)
    of_row = np.repeat(np.arange(words), np.diff(n.indptr))
    expected = rows[of_row] * columns[n.indices] / columns.sum()
    n.data = np.maximum(0.0, np.log(n.data / expected) - np.log(shift))
    n.eliminate_zeros()
    return n


@kernel
def list_neighbors(ids, edges, window, keys, weights):
    at = 0
    for s in range(edges.size - 1):
        for i in range(edges[s], edges[s + 1]):
            for j in range(i + 1, min(i + window + 1, edges[s + 1])):
                a, b = U(min(ids[i], ids[j])), U(max(ids[i], ids[j]))
                keys[at] = a << U(32) | b
                weights[at] = window + 1 - (j - i)
                at += 1
    return at
