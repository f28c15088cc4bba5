"""Word2vec: vectors of words, learned by predicting words from their neighbors.

    skip-gram   each word of the context predicts the center
    CBOW        the mean of the context predicts the center

with negative sampling, hierarchical softmax, or the full softmax. Contract: sequential.
Skip-gram with negative sampling runs on any number of threads with the same bits
(``skip_gram``), the others in text order (``windows``); ``updates="hogwild"`` gives that up.
The loss is the mean per prediction met in a pass, on one in sixteen where the text is long.

The notes' section on word2vec. Mikolov, Chen, Corrado and Dean (2013), Efficient estimation of
word representations in vector space. Mikolov, Sutskever, Chen, Corrado and Dean (2013),
Distributed representations of words and phrases and their compositionality. NIPS.
"""

import warnings
from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from tacit.core.engines import Engine
from tacit.core.estimator import Estimator, engine_for, with_callbacks
from tacit.core.memory import check_memory
from tacit.core.randoms import key, seed_from, uniforms
from tacit.core.string_array import are_offsets
from tacit.core.sweep import Sequential, sweep
from tacit.words.corpus import WordCorpus, corpus_for
from tacit.words.skip_gram import LANES, Schedule, SkipGramPairs, Weights
from tacit.words.vectors import WordVectors, vectors_for
from tacit.words.windows import (
    HIERARCHICAL,
    NEGATIVE,
    SOFTMAX,
    Paths,
    WindowOrder,
    graft,
    huffman_paths,
)

__all__ = ["Word2Vec"]

OBJECTIVES = {
    "negative-sampling": NEGATIVE, "hierarchical-softmax": HIERARCHICAL, "softmax": SOFTMAX,
}  # fmt: skip
START = 0  # the purpose of the random numbers that vectors start from
NO_PATHS = Paths(np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0, np.uint8))


class Word2Vec(Estimator):
    """Learn a vector for every word from the words around it.

    Parameters
    ----------
    vector_size : int
        Numbers of a vector.
    window : int
        Context words on each side, at most.
    min_count : int
        Rarer words are left out.
    sg : {1, 0}
        1 for skip-gram, 0 for CBOW.
    negative : int
        Random words drawn for each center, with negative sampling.
    epochs : int
        Passes over the text.
    objective : {"negative-sampling", "hierarchical-softmax", "softmax"}
        What is predicted. "softmax" is exact and takes time in proportion to the vocabulary.
    sample : float
        Words more frequent than this fraction of the text are left out at random, the more
        often the more frequent they are. 0 keeps all.
    shrink_windows : bool
        Whether every window draws its size from 1 to ``window``, so that near words count
        more.
    alpha, min_alpha : float or None
        The learning rate falls from one to the other. None is 0.025 for skip-gram and 0.075
        for CBOW.
    ns_exponent : float
        Negative samples are drawn in proportion to count to this power.
    updates : {"ordered", "hogwild"}
        "ordered" has the same bits on any number of threads. "hogwild" lets threads overwrite
        each other: no two runs are the same. It helps CBOW and the softmaxes, which use one
        thread otherwise; skip-gram gains nothing.
    tokenizer, lowercase
        What a word is, where documents are text: "words" and "plain" are the rules of
        ``tacit.text.tokenize``, "whitespace" splits at white space, a function returns a list
        of words. Lists of words are used as they are.
    random_state : int, RandomState or None
        Seed of the start, the subsampling, the windows and the negative samples.
    engine : {"serial", "threads", "dask"} or Engine
        Where passes run. Dask reads the text; training needs shared memory.
    callbacks : list or None
        Notified of every pass; see ``tacit.core.progress``.

    Attributes
    ----------
    vectors_ : WordVectors
        The words, by descending count, and their vectors.
    output_vectors_ : float32 array of shape (n_outputs, vector_size)
        The other vector of each word; with hierarchical softmax, those of the inner nodes.
    losses_ : list of float
        The mean loss of a prediction, in each pass.
    n_iter_ : int
        Number of passes.
    n_words_ : int
        Words of the last text that are in the vocabulary, before subsampling.

    Examples
    --------
    >>> text = ["the cat eats fish", "the dog eats meat", "a cat eats meat"] * 40
    >>> model = Word2Vec(16, min_count=1, sample=0, epochs=20, random_state=0).fit(text)
    >>> model.vectors_
    WordVectors(7 words, 16 numbers each)
    >>> model.losses_[-1] < model.losses_[0]
    True
    """

    vectors_: WordVectors
    output_vectors_: np.ndarray
    _fits: int
    contract: ClassVar[str] = "sequential"
    _takes_text: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict] = {
        "vector_size": [Interval(Integral, 1, 10_000, closed="both")],
        "window": [Interval(Integral, 1, 1_000, closed="both")],
        "min_count": [Interval(Integral, 1, None, closed="left")],
        "sg": [Interval(Integral, 0, 1, closed="both")],
        "negative": [Interval(Integral, 1, 1_000, closed="both")],
        "epochs": [Interval(Integral, 1, None, closed="left")],
        "objective": [StrOptions(set(OBJECTIVES))],
        "sample": [Interval(Real, 0, 1, closed="both")],
        "shrink_windows": ["boolean"],
        "alpha": [Interval(Real, 0, 10, closed="right"), None],
        "min_alpha": [Interval(Real, 0, 10, closed="both")],
        "ns_exponent": [Interval(Real, -10, 10, closed="both")],
        "updates": [StrOptions({"ordered", "hogwild"})],
        "tokenizer": [str, callable, None],
        "lowercase": ["boolean"],
    }
    _saved_private: ClassVar[tuple] = ("_paths", "_fits")
    _file_schema: ClassVar[dict] = {"output_vectors_": ("n_outputs", "vector_size")}
    _file_kinds: ClassVar[dict] = {"output_vectors_": "f"}

    def __init__(
        self,
        vector_size: int = 100,
        *,
        window: int = 5,
        min_count: int = 5,
        sg: int = 1,
        negative: int = 5,
        epochs: int = 5,
        objective: str = "negative-sampling",
        sample: float = 1e-3,
        shrink_windows: bool = True,
        alpha: float | None = None,
        min_alpha: float = 1e-4,
        ns_exponent: float = 0.75,
        updates: str = "ordered",
        tokenizer: str | Callable[[str], list[str]] = "words",
        lowercase: bool = True,
        random_state: Any = None,
        engine: str | Engine = "threads",
        callbacks: Sequence[Any] | None = None,
    ) -> None:
        self.vector_size, self.window, self.min_count = vector_size, window, min_count
        self.sg, self.negative, self.epochs = sg, negative, epochs
        self.objective, self.sample, self.shrink_windows = objective, sample, shrink_windows
        self.alpha, self.min_alpha, self.ns_exponent = alpha, min_alpha, ns_exponent
        self.updates, self.tokenizer, self.lowercase = updates, tokenizer, lowercase
        self.random_state, self.engine, self.callbacks = random_state, engine, callbacks

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> "Word2Vec":
        """Learn from sentences: lists of words, str, Documents, a dataframe, a path."""
        return self._fit(X, self.epochs, first=True)

    @with_callbacks
    def partial_fit(self, X: Any, y: Any = None, *, epochs: int | None = None) -> "Word2Vec":
        """Learn from more text, starting from the vectors there are.

        Words that are new and occur ``min_count`` times in it are added; known ones are used
        however rare they are. The learning rate falls from ``alpha`` to ``min_alpha`` again,
        so give a smaller ``alpha`` for a small text. Words that do not occur in the text move
        little.
        """
        return self._fit(X, epochs or self.epochs, first=not hasattr(self, "vectors_"))

    def _fit(self, X: Any, epochs: int, *, first: bool) -> "Word2Vec":
        self._validate_params()
        known = [] if first else self.vectors_.words
        corpus = corpus_for(self, X, known)
        if len(corpus.ids) == 0:
            raise ValueError("Word2Vec found no known or frequent word. Lower min_count.")
        fits = 0 if first else self._fits
        seed = key(seed_from(self.random_state), fits)
        counts = corpus.counts.copy()
        if not first:
            counts[: len(known)] += self.vectors_.counts
        paths = self._grow_paths(counts, len(known))
        state = self._start(corpus, seed, len(known), paths)
        model = self._model(corpus, counts, paths, epochs, seed)
        with self._fit_callbacks() as callbacks:
            swept = sweep(
                model, state, engine_for(self), max_iter=epochs, callbacks=callbacks,
                name="Word2Vec",
            )  # fmt: skip
        if not any(swept.losses):
            warnings.warn(
                f"Word2Vec met no two words next to each other: the text has "
                f"{len(corpus.ids):,} words, and sample={self.sample:g} leaves out frequent "
                "ones. Give more text, or set sample=0.",
                stacklevel=4,
            )
        size = self.vector_size
        if not np.isfinite(state.inputs).all():
            raise ValueError(
                f"Word2Vec(alpha={self.alpha}): the vectors overflowed. Lower alpha."
            )
        self.vectors_ = vectors_for(self, corpus.words, state.inputs[:, :size].copy(), counts)
        self.output_vectors_ = state.outputs[:, :size].copy()
        self.losses_, self.n_iter_ = [float(loss) for loss in swept.losses], len(swept.losses)
        self.n_words_ = len(corpus.ids)
        self._paths, self._fits = tuple(paths), fits + 1
        return self

    def _grow_paths(self, counts: np.ndarray, known: int) -> Paths:
        if OBJECTIVES[self.objective] != HIERARCHICAL:
            return NO_PATHS
        if known == 0:
            return huffman_paths(counts)
        paths = Paths(*self._paths)
        return graft(paths, huffman_paths(counts[known:])) if len(counts) > known else paths

    def _start(self, corpus: WordCorpus, seed: np.uint64, known: int, paths: Paths) -> Weights:
        """New words start with small random input vectors, and output vectors of zero."""
        v, d = len(corpus.words), -(-self.vector_size // LANES) * LANES
        hierarchical = OBJECTIVES[self.objective] == HIERARCHICAL
        n_outputs = max(1, len(paths.edges) - 2) if hierarchical else v
        check_memory(
            12.0 * (v + n_outputs) * d + 16.0 * len(corpus.ids), f"Word2Vec of {v:,} words",
            "Lower vector_size, or raise min_count.",
        )  # fmt: skip
        inputs, outputs = np.zeros((v, d), np.float32), np.zeros((n_outputs, d), np.float32)
        drawn = uniforms(key(seed, START), (v - known, self.vector_size))
        inputs[known:, : self.vector_size] = (drawn - 0.5) / self.vector_size
        if known:
            inputs[:known, : self.vector_size] = self.vectors_.vectors
            outputs[: len(self.output_vectors_), : self.vector_size] = self.output_vectors_
        return Weights(inputs, outputs)

    def _model(
        self, corpus: WordCorpus, counts: np.ndarray, paths: Paths, epochs: int, seed: np.uint64
    ) -> Sequential:
        objective = OBJECTIVES[self.objective]
        rate = self.alpha if self.alpha is not None else (0.025 if self.sg else 0.075)
        schedule = Schedule(
            corpus.ids, corpus.edges, keep_probabilities(counts, self.sample),
            np.maximum(counts, 1) ** float(self.ns_exponent), int(self.window),
            bool(self.shrink_windows), int(self.negative), float(rate),
            min(float(self.min_alpha), float(rate)), epochs, seed, self.updates == "hogwild",
        )  # fmt: skip
        if self.sg and objective == NEGATIVE:
            return SkipGramPairs(schedule)
        return WindowOrder(schedule, objective, paths, cbow=not self.sg)

    def _after_load(self) -> None:
        if not isinstance(self.vectors_, WordVectors):
            raise ValueError("vectors_ is not a WordVectors")
        v, size = self.vectors_.vectors.shape
        hierarchical = OBJECTIVES.get(self.objective) == HIERARCHICAL
        rows = max(1, v - 1) if hierarchical else v
        if size != self.vector_size or self.output_vectors_.shape != (rows, size):
            raise ValueError("the input and output vectors do not match")
        if self.vectors_.counts is None:
            raise ValueError("the counts of the words are missing")
        self.output_vectors_ = np.asarray(self.output_vectors_, np.float32)
        self._paths = check_paths(self._paths, v if hierarchical else 0)
        if not isinstance(self._fits, int) or self._fits < 1:
            raise ValueError("the number of fits is not positive")


def keep_probabilities(counts: np.ndarray, sample: float) -> np.ndarray:
    """sqrt(sample / f) + sample / f of every word, at most 1; as fractions of 2^32."""
    keep = np.ones(len(counts))
    if sample > 0:
        allowed = sample / (np.maximum(counts, 1) / max(1, counts.sum()))
        keep = np.minimum(1.0, np.sqrt(allowed) + allowed)
    return np.minimum(keep * 2.0**32, 2.0**32 - 1).astype(np.uint32)


def check_paths(paths: Any, words: int) -> tuple:
    """The saved tree, if it is one that a kernel may follow."""
    if not (isinstance(paths, tuple) and len(paths) == 3):
        raise ValueError("the tree is missing")
    edges, nodes, codes = paths
    if not all(isinstance(array, np.ndarray) and array.ndim == 1 for array in paths):
        raise ValueError("the tree is not a tuple of arrays")
    kinds = (edges.dtype, nodes.dtype, codes.dtype)
    if kinds != (np.int64, np.int32, np.uint8) or len(edges) != words + 1:
        raise ValueError("the tree does not fit the words")
    if not are_offsets(edges, len(nodes)) or len(codes) != len(nodes):
        raise ValueError("the paths of the tree overlap")
    if len(nodes) and (nodes.min() < 0 or nodes.max() >= words - 1 or codes.max() > 1):
        raise ValueError("the tree has nodes that do not exist")
    return paths
