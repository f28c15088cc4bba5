"""Word vectors as they are used: neighbors, analogies, the odd one out, vectors of documents.

The similarity of two words is the cosine of their vectors. Vectors come from ``Word2Vec`` or
``PPMIVectors``, from files of word2vec, fastText or GloVe, or from anywhere as an array. The
matrix is never copied or changed, so it may be mapped from a model file (``WordVectors.open``).

Mikolov, Yih and Zweig (2013), Linguistic regularities in continuous space word representations.
NAACL. Arora, Liang and Ma (2017), A simple but tough-to-beat baseline for sentence embeddings.
ICLR.
"""

import os
from collections.abc import Sequence
from functools import cached_property
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import TransformerMixin
from sklearn.utils._param_validation import Interval, StrOptions

from tacit.core.engines import get_engine
from tacit.core.estimator import Estimator
from tacit.kernels.sorting import highest
from tacit.language.sentences import (
    BlockWords,
    Reader,
    check_tokenizer,
    read_words,
    sentence_blocks,
)

__all__ = ["Neighbor", "WordVectors", "vectors_for"]

BLOCK = 256  # words whose neighbors are searched at one time
ROWS = 1 << 16  # rows of a matrix that are read at one time


class Neighbor(NamedTuple):
    """A word and its cosine similarity."""

    word: str
    similarity: float


class WordVectors(TransformerMixin, Estimator):
    """Words and their vectors. Make them with ``of``, ``open`` or ``one_hot``.

    Parameters
    ----------
    weighting : {"mean", "sif"}
        How ``transform`` averages the vectors of a document: all words alike, or each with the
        weight a / (a + its relative frequency), which plays down frequent words.
    a : float
        See ``weighting``.
    tokenizer, lowercase
        What a word of a document is; see ``Word2Vec``.
    engine : {"serial", "threads", "dask"} or Engine
        Where searches and ``transform`` run.

    Attributes
    ----------
    words : list of str
    vectors : float32 array of shape (n_words, size)
    counts : int64 array of shape (n_words,) or None
        How often the words occurred, if that is known.

    Examples
    --------
    >>> vectors = WordVectors.of(
    ...     ["king", "queen", "man", "woman", "apple"],
    ...     np.array([[1, 0, 1], [1, 1, 1], [0, 0, 1], [0, 1, 1], [0, -1, 0]], np.float32),
    ... )
    >>> vectors.analogy("man", "king", "woman", top=1)[0].word
    'queen'
    >>> vectors.odd_one_out(["king", "queen", "apple"])
    'apple'
    >>> vectors.transform(["The king, the queen."])
    array([[1. , 0.5, 1. ]], dtype=float32)
    """

    contract: ClassVar[str] = "whole"
    _takes_text: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict] = {
        "weighting": [StrOptions({"mean", "sif"})],
        "a": [Interval(Real, 0, None, closed="neither")],
        "tokenizer": [str, callable, None],
        "lowercase": ["boolean"],
    }
    _saved_private: ClassVar[tuple] = ("words", "vectors", "counts")
    _file_schema: ClassVar[dict] = {
        "words": ("n_words",), "vectors": ("n_words", "size"), "counts": ("n_words",),
    }  # fmt: skip
    _file_optional: ClassVar[tuple] = ("counts",)
    _file_kinds: ClassVar[dict] = {"vectors": "f", "counts": "i"}

    def __init__(
        self,
        *,
        weighting: str = "mean",
        a: float = 1e-3,
        tokenizer: Any = "words",
        lowercase: bool = True,
        engine: Any = "threads",
    ) -> None:
        self.weighting, self.a = weighting, a
        self.tokenizer, self.lowercase, self.engine = tokenizer, lowercase, engine

    # --- Making them ---

    @classmethod
    def of(
        cls, words: Sequence[str], vectors: Any, counts: Any = None, **settings: Any
    ) -> "WordVectors":
        """From words and a row for each; ``settings`` are those of the class."""
        model = cls(**settings)
        model.words, model.vectors = list(words), as_matrix(vectors)
        model.counts = None if counts is None else np.asarray(counts, np.int64)
        model._check()
        return model

    @classmethod
    def open(
        cls, path: str | os.PathLike, *, mmap: bool = False, **settings: Any
    ) -> "WordVectors":
        """Open a file of vectors: a model file, or one of word2vec's.

        With ``mmap`` the arrays of a model file are mapped as in ``tacit.load``: at once, and
        one copy for all processes, but a damaged number goes unnoticed.

        The content shows whether a file of word2vec is text or binary; text may lack the first
        line (GloVe), and both may be compressed with gzip or zstd.
        """
        from tacit.core.modelfile import load
        from tacit.words.vector_files import is_model_file, read_word2vec

        if not is_model_file(path):
            return cls.of(*read_word2vec(path), **settings)
        model = load(path, mmap=mmap)
        vectors = getattr(model, "vectors_", model)
        if not isinstance(vectors, WordVectors):
            from tacit.core.errors import ModelFileError

            raise ModelFileError(
                f"{os.fspath(path)} holds a {type(model).__name__}, which has no word vectors. "
                "Give a Word2Vec, PPMIVectors or WordVectors."
            )
        return vectors.set_params(**settings) if settings else vectors

    @classmethod
    def one_hot(cls, words: Sequence[str], **settings: Any) -> "WordVectors":
        """Each word its own direction: the baseline in which no two words are similar.

        Examples
        --------
        >>> one_hot = WordVectors.one_hot(["the", "cat", "sat"])
        >>> one_hot.distance("the", "cat") == one_hot.distance("cat", "sat") == 2**0.5
        True
        """
        words = list(dict.fromkeys(words))
        return cls.of(words, np.eye(len(words), dtype=np.float32), **settings)

    def write(self, path: str | os.PathLike, *, binary: bool | None = None) -> None:
        """Write a file of word2vec: by default binary if ``path`` ends in .bin.

        The file holds words and vectors; ``save`` stores counts and settings too.
        """
        from tacit.words.vector_files import write_word2vec

        write_word2vec(path, self.words, self.vectors, binary=binary)

    def fit(self, X: Any = None, y: Any = None) -> "WordVectors":
        """Nothing to learn: the vectors are there."""
        self._validate_params()
        check_tokenizer(self.tokenizer)
        if not hasattr(self, "vectors"):
            raise ValueError(
                "WordVectors has no vectors. Make it with WordVectors.of or WordVectors.open."
            )
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "vectors")

    def __sklearn_clone__(self) -> "WordVectors":
        # The vectors are what it is, not what it learned.
        return type(self).of(self.words, self.vectors, self.counts, **self.get_params())

    def _check(self) -> None:
        if self.vectors.ndim != 2 or len(self.vectors) != len(self.words):
            raise ValueError(
                f"WordVectors needs a row for each of its {len(self.words):,} words, but the "
                f"vectors have the shape {self.vectors.shape}."
            )
        if self.vectors.shape[1] == 0 or not len(self.words):
            raise ValueError("WordVectors needs at least one word, and one number per vector.")
        for word in self.words:
            if not isinstance(word, str):
                raise TypeError(f"Words must be str, but {word!r} is not. Turn them into str.")
        if self.counts is not None and (
            self.counts.shape != (len(self.words),) or (self.counts < 0).any()
        ):
            raise ValueError("The counts of words must be one for each, and not negative.")
        if len(self._places) != len(self.words):
            seen: set[str] = set()
            twice = next(word for word in self.words if word in seen or seen.add(word))  # type: ignore[func-returns-value]
            raise ValueError(f"The word {twice!r} has two vectors. Leave one of them out.")
        for first in range(0, len(self.vectors), ROWS):
            rows = np.isfinite(self.vectors[first : first + ROWS]).all(axis=1)
            if not rows.all():
                word = self.words[first + int(np.argmin(rows))]
                raise ValueError(f"The vector of {word!r} holds nan or inf. Leave it out.")

    def _after_load(self) -> None:
        if not isinstance(self.words, list) or not isinstance(self.vectors, np.ndarray):
            raise ValueError("the words or the vectors are missing")
        if self.vectors.dtype != np.float32:
            raise ValueError("the vectors are not of type float32")
        if not self.vectors.flags.writeable:  # mapped: values are read when they are used
            if len(self._places) != len(self.words):
                raise ValueError("a word occurs twice")
            return
        self._check()

    # --- Looking words up ---

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self._places

    def __getitem__(self, word: str | Sequence[str]) -> np.ndarray:
        """The vector of a word, or an array with those of several."""
        if isinstance(word, str):
            return self.vectors[self.place(word)]
        return self.vectors[[self.place(item) for item in word]]

    def __repr__(self) -> str:
        if not hasattr(self, "vectors"):
            return super().__repr__()
        return f"WordVectors({len(self):,} words, {self.vectors.shape[1]} numbers each)"

    def place(self, word: str) -> int:
        """The row of a word; KeyError if there is none."""
        at = self._places.get(word)
        if at is None:
            lower = str(word).lower()
            hint = f" Did you mean {lower!r}?" if lower in self._places else ""
            raise KeyError(f"There is no vector for the word {str(word)[:60]!r}.{hint}")
        return at

    @cached_property
    def _places(self) -> dict[str, int]:
        return {word: i for i, word in enumerate(self.words)}

    @cached_property
    def _scale(self) -> np.ndarray:
        """One over the length of every vector; 0 for vectors of zeros."""
        lengths = np.empty(len(self.vectors), np.float32)
        for first in range(0, len(self.vectors), ROWS):
            rows = self.vectors[first : first + ROWS]
            squares = np.einsum("ij,ij->i", rows, rows, dtype=np.float64)
            lengths[first : first + ROWS] = np.sqrt(squares)
        return np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)

    def __getstate__(self) -> dict[str, Any]:
        cached = ("_places", "_scale")
        return {name: value for name, value in vars(self).items() if name not in cached}

    # --- Comparing words ---

    def similarity(self, first: str, second: str) -> float:
        """The cosine of the vectors of two words."""
        i, j = self.place(first), self.place(second)
        cosine = float(self.vectors[i] @ self.vectors[j]) * self._scale[i] * self._scale[j]
        return float(np.clip(cosine, -1, 1))

    def distance(self, first: str, second: str) -> float:
        """The Euclidean distance of two words."""
        difference = self[first].astype(np.float64) - self[second]
        return float(np.sqrt(difference @ difference))

    def most_similar(
        self,
        positive: str | Sequence[Any] = (),
        negative: str | Sequence[Any] = (),
        *,
        top: int = 10,
        among: int | None = None,
    ) -> list[Neighbor]:
        """The words nearest to the sum of some words, less others.

        Parameters
        ----------
        positive, negative : str, or list of str or vectors
            Unit vectors of words are added and subtracted; the answer leaves out these words.
        top : int
            How many.
        among : int or None
            Only the first so many words, which are the most frequent ones.
        """
        query, places = self._query(positive, negative)
        scores = (self.vectors[:among] @ query) * self._scale[:among]
        left_out = [at for at in places if at < len(scores)]
        scores[left_out] = -np.inf
        best = highest(scores, min(top, len(scores) - len(left_out)))
        return [Neighbor(self.words[at], float(scores[at])) for at in best]

    def _query(self, positive: Any, negative: Any) -> tuple[np.ndarray, list[int]]:
        query, places = np.zeros(self.vectors.shape[1]), []
        for sign, items in ((1.0, positive), (-1.0, negative)):
            for item in [items] if isinstance(items, str) else items:
                if isinstance(item, str):
                    at = self.place(item)
                    places.append(at)
                    query += sign * self.vectors[at] * self._scale[at]
                else:
                    vector = np.asarray(item, np.float64)
                    if vector.shape != query.shape or not np.isfinite(vector).all():
                        raise ValueError(
                            f"A vector must have {len(query)} finite numbers, but one of shape "
                            f"{vector.shape} was given."
                        )
                    query += sign * vector / (np.linalg.norm(vector) or 1.0)
        length = np.linalg.norm(query)
        if length == 0:
            raise ValueError("The words cancel out to a vector of zeros. Give other words.")
        return (query / length).astype(np.float32), list(dict.fromkeys(places))

    def analogy(
        self, a: str, b: str, c: str, *, top: int = 10, among: int | None = None
    ) -> list[Neighbor]:
        """What is to c as b is to a: the words nearest to b - a + c."""
        return self.most_similar([b, c], [a], top=top, among=among)

    def odd_one_out(self, words: Sequence[str]) -> str:
        """The word least similar to the mean of all; ties go to the first."""
        rows = np.array([self.place(word) for word in words])
        if len(rows) < 2:
            raise ValueError(f"odd_one_out needs two words or more, but got {len(rows)}.")
        units = self.vectors[rows] * self._scale[rows, None]
        return words[int(np.argmin(units @ units.mean(axis=0)))]

    def nearest(
        self, words: Sequence[str] | None = None, *, top: int = 10, among: int | None = None
    ) -> list[list[Neighbor]]:
        """The most similar words of many words, or of all, in blocks."""
        places = range(len(self)) if words is None else [self.place(word) for word in words]
        rows = np.array(places, np.int64)

        def search(first: int) -> list[list[Neighbor]]:
            block = rows[first : first + BLOCK]
            scores = (self.vectors[block] * self._scale[block, None]) @ self.vectors[:among].T
            scores *= self._scale[:among]
            answer = []
            for at, row in zip(block, scores, strict=True):
                if at < len(row):
                    row[at] = -np.inf
                best = highest(row, min(top, len(row) - (at < len(row))))
                answer.append([Neighbor(self.words[i], float(row[i])) for i in best])
            return answer

        blocks = get_engine(self.engine).each(search, range(0, len(rows), BLOCK))
        return [neighbors for block in blocks for neighbors in block]

    # --- Documents ---

    def transform(self, X: Any) -> np.ndarray:
        """The weighted mean of the vectors of each document; zeros where no word is known."""
        self.fit()
        reader = Reader(self.tokenizer, self.lowercase, lines=False)
        weights = self._weights()
        blocks = get_engine(self.engine).map(
            read_words, reader, sentence_blocks(X, name="WordVectors.transform")
        )
        parts = [self._mean_vectors(block, weights) for block in blocks]
        return np.concatenate([np.empty((0, self.vectors.shape[1]), np.float32), *parts])

    def _weights(self) -> np.ndarray:
        if self.weighting == "mean":
            return np.ones(len(self))
        if self.counts is None:
            raise ValueError(
                "WordVectors(weighting='sif') needs the counts of words, which this file does "
                "not have. Use weighting='mean'."
            )
        return self.a / (self.a + self.counts / max(1, self.counts.sum()))

    def _mean_vectors(self, block: BlockWords, weights: np.ndarray) -> np.ndarray:
        places = np.array([self._places.get(w, -1) for w in block.vocabulary], np.int64)
        ids = places[block.ids] if len(block.ids) else np.empty(0, np.int64)
        known = ids >= 0
        edges = np.concatenate([[0], np.cumsum(known)])[block.edges]
        used = weights[ids[known]]
        shape = (len(edges) - 1, len(self))
        total = sp.csr_array((used, ids[known], edges), shape=shape)
        sums = np.asarray(total.sum(axis=1)).ravel()
        rows = np.asarray(total @ self.vectors)
        return (rows / np.where(sums > 0, sums, 1)[:, None]).astype(np.float32)


def as_matrix(vectors: Any) -> np.ndarray:
    matrix = np.asarray(vectors)
    if matrix.dtype.kind not in "fiu":
        raise TypeError(f"Vectors must be numbers, but their type is {matrix.dtype}.")
    return np.ascontiguousarray(matrix, np.float32)


def vectors_for(model: Any, words: Sequence[str], vectors: Any, counts: Any) -> WordVectors:
    """The vectors that an estimator learned, with its rule of what a word is."""
    tokenizer = model.tokenizer if isinstance(model.tokenizer, str) else "words"
    return WordVectors.of(
        words, vectors, counts, tokenizer=tokenizer, lowercase=model.lowercase
    )
