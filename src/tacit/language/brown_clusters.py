"""Brown clusters: classes of words that occur in the same contexts, in a binary tree.

    collect    how often each word follows each other
    update     one pass of exchange: every word goes to the class that maximizes the mutual
               information of adjacent classes; at the end the classes are merged into a tree
               (``language.class_exchange``)

The loss is the negative mutual information of adjacent classes; it never rises. Contract:
sequential (a word is moved while all others stay where they are), without randomness: the same
sentences give the same classes on every engine.

Brown et al. (1992), Class-based n-gram models of natural language. Computational Linguistics
18. Martin, Liermann and Ney (1998), Algorithms for bigram and trigram word clustering. Speech
Communication 24. In the notes: language models, classes of words.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from operator import attrgetter
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from tacit.core.engines import Engine, get_engine
from tacit.core.estimator import Estimator
from tacit.core.progress import Step, notify
from tacit.language.class_exchange import (
    count_bigrams,
    exchange,
    initial_classes,
    merge_classes,
    mutual_information,
    paths_of,
)
from tacit.language.sentences import (
    SPECIAL,
    START,
    STOP,
    Reader,
    read_words,
    sentence_blocks,
)
from tacit.text.vocabulary import unite

__all__ = ["BrownClusters", "WordClass", "number_words"]

UNKNOWN = "<unk>"


@dataclass(frozen=True)
class WordClass:
    """One class: its number, its path in the tree, its most frequent words.

    >>> print(WordClass(3, "0110", ("monday", "tuesday"), 12, 345))
    0110  monday, tuesday, and 10 more
    """

    number: int
    path: str
    words: tuple[str, ...]
    n_words: int
    count: int  # words of the text

    def to_dict(self) -> dict[str, Any]:
        """The class as plain values."""
        return {**vars(self), "words": list(self.words)}

    def __str__(self) -> str:
        more = self.n_words - len(self.words)
        ending = f", and {more:,} more" if more else ""
        return f"{self.path}  {', '.join(self.words)}{ending}"


class Numbered(NamedTuple):
    """A text as word numbers."""

    words: list[str]  # sorted
    counts: np.ndarray  # int64
    ids: np.ndarray  # int32
    lengths: np.ndarray  # int64, of the sentences


def number_words(sentences: Any, reader: Reader, engine: Any, *, name: str) -> Numbered:
    """Read sentences; number their words in alphabetical order."""
    blocks = sentence_blocks(sentences, name=name)
    read = list(get_engine(engine).map(read_words, reader, blocks))
    vocabulary, places = unite([block.vocabulary for block in read])
    parts = [place[block.ids] for place, block in zip(places, read, strict=True)]
    ids = np.concatenate([np.empty(0, np.int32), *parts]).astype(np.int32)
    lengths = np.concatenate([np.empty(0, np.int64), *(np.diff(b.edges) for b in read)])
    counts = np.bincount(ids, minlength=len(vocabulary)).astype(np.int64)
    if not len(ids):
        raise ValueError(
            f"{name} needs words, but the {len(lengths):,} sentences have none. "
            "Give sentences as strings or as lists of words."
        )
    return Numbered(list(vocabulary.strings), counts, ids, lengths.astype(np.int64))


def pool_rare(text: Numbered, min_count: int) -> Numbered:
    """Words rarer than ``min_count`` become one, the unknown word; so do start and stop
    tokens in the text."""
    rare = (text.counts < min_count) | np.isin(text.words, (SPECIAL[START], SPECIAL[STOP]))
    if not rare.any():
        return text
    words = sorted({UNKNOWN, *(w for w, r in zip(text.words, rare, strict=True) if not r)})
    place = {word: i for i, word in enumerate(words)}
    new = np.array([place.get(word, place[UNKNOWN]) for word in text.words], np.int32)
    new[rare] = place[UNKNOWN]
    ids = new[text.ids]
    counts = np.bincount(ids, minlength=len(words)).astype(np.int64)
    return Numbered(words, counts, ids, text.lengths)


class BrownClusters(Estimator):
    """Group words by the words around them.

    Parameters
    ----------
    n_clusters : int
        How many classes.
    max_iter : int
        The most passes over the vocabulary.
    min_count : int
        Rarer words are pooled as ``<unk>``, which has a class too.
    tokenizer, lowercase
        What a word is: "whitespace" splits at white space, "plain" and "words" are the rules
        of ``tacit.text.tokenize``, a function returns a list of words. Lists of words are
        used as they are.
    engine : {"serial", "threads", "dask"} or Engine
        Where the text is read.
    callbacks : sequence or None
        Called after each pass.

    Attributes
    ----------
    vocabulary_ : list of str
        The words in order.
    counts_, classes_ : int64 and int32 arrays of shape (n_words,)
        How often each word occurs, and its class.
    paths_ : list of str
        The path of each class in the tree, as zeros and ones.
    merges_ : int32 array of shape (n_clusters - 1, 2)
        The tree: the i-th merger makes class n_clusters + i.
    mutual_information_ : float
        Mutual information of adjacent classes, in nats.
    history_ : list of float
        The same after each pass.
    n_iter_ : int
        Passes.

    Examples
    --------
    >>> text = ["the dog runs", "the cat runs", "a dog sleeps", "a cat sleeps"]
    >>> text.append("the cat sleeps")
    >>> model = BrownClusters(3).fit(text)
    >>> for each in model.describe():
    ...     print(each)
    00  the, a
    01  cat, dog
    1  sleeps, runs
    >>> model.path("dog"), model.predict(["dog", "cat", "cow"])
    ('01', array([ 1,  1, -1], dtype=int32))
    """

    _takes_text: ClassVar[bool] = True
    contract: ClassVar[str] = "sequential"
    _parameter_constraints: ClassVar[dict] = {
        "n_clusters": [Interval(Integral, 1, 10_000, closed="both")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "min_count": [Interval(Integral, 1, None, closed="left")],
        "tokenizer": [str, callable, None],
        "lowercase": ["boolean"],
    }
    _file_schema: ClassVar[dict] = {
        "vocabulary_": ("n_words",),
        "counts_": ("n_words",),
        "classes_": ("n_words",),
        "paths_": ("n_clusters",),
        "merges_": ("n_clusters-1", 2),
    }
    _file_kinds: ClassVar[dict] = {"classes_": "i", "counts_": "i", "merges_": "i"}
    _file_types: ClassVar[dict] = {"vocabulary_": list[str], "paths_": list[str]}

    def __init__(
        self,
        n_clusters: int = 100,
        *,
        max_iter: int = 20,
        min_count: int = 1,
        tokenizer: str | Callable[[str], list[str]] = "whitespace",
        lowercase: bool = False,
        engine: str | Engine = "threads",
        callbacks: Sequence[Any] | None = None,
    ) -> None:
        self.n_clusters, self.max_iter, self.min_count = n_clusters, max_iter, min_count
        self.tokenizer, self.lowercase, self.engine = tokenizer, lowercase, engine
        self.callbacks = callbacks

    def fit(self, sentences: Any, y: Any = None) -> "BrownClusters":
        """Cluster the words of sentences: strings, lists of words, a path, or Documents, one
        sentence per line."""
        self._validate_params()
        reader = Reader(self.tokenizer, bool(self.lowercase))
        text = number_words(sentences, reader, self.engine, name="BrownClusters")
        return self._fit_numbers(pool_rare(text, self.min_count))

    def _fit_numbers(self, text: Numbered) -> "BrownClusters":
        k, v = int(self.n_clusters), len(text.words)
        if v < k:
            raise ValueError(
                f"BrownClusters(n_clusters={k}) needs at least as many different words, but "
                f"the text has {v}. Lower n_clusters (or min_count={self.min_count})."
            )
        bigrams = count_bigrams(text.ids, text.lengths, v)
        classes = initial_classes(bigrams, k)
        history: list[float] = []
        with self._fit_callbacks() as callbacks:
            for number in range(self.max_iter):
                moved = exchange(bigrams, classes)
                history.append(mutual_information(classes))
                done = not moved or number + 1 == self.max_iter
                losses = [-information for information in history]
                name = f"Brown clusters, k={k}"
                step = Step(name, number + 1, self.max_iter, losses, classes, done)
                if notify(callbacks, step) or done:
                    break
        self.vocabulary_, self.counts_ = text.words, text.counts
        self.classes_ = classes.label[:-1].copy()
        self.merges_ = merge_classes(classes.follow, classes.size)
        self.paths_ = paths_of(self.merges_, k)
        self.history_, self.mutual_information_ = history, history[-1]
        self.n_iter_ = len(history)
        self.__dict__.pop("_index", None)
        return self

    def predict(self, words: Iterable[str]) -> np.ndarray:
        """The class of each word; -1 for words outside the vocabulary."""
        check_is_fitted(self)
        if isinstance(words, str):
            raise ValueError(f"predict takes many words, but got {words!r}. Put it in a list.")
        at = np.array([self._index.get(word, -1) for word in words], np.int64)
        return np.where(at < 0, np.int32(-1), self.classes_[at])

    def path(self, word: str) -> str:
        """The path of a word's class in the tree; KeyError for an unknown word."""
        number = int(self.predict([word])[0])
        if number < 0:
            raise KeyError(f"{word!r} is not among the {len(self.vocabulary_):,} words.")
        return self.paths_[number]

    def describe(self, *, top: int = 10) -> list[WordClass]:
        """The classes in the order of their paths, with their most frequent words."""
        check_is_fitted(self)
        order = np.lexsort((np.arange(len(self.counts_)), -self.counts_, self.classes_))
        parts = np.split(order, np.cumsum(np.bincount(self.classes_)[:-1]))
        classes = [
            WordClass(
                number, self.paths_[number], tuple(self.vocabulary_[i] for i in part[:top]),
                len(part), int(self.counts_[part].sum()),
            )
            for number, part in enumerate(parts)
        ]  # fmt: skip
        return sorted(classes, key=attrgetter("path"))

    @cached_property
    def _index(self) -> dict[str, int]:
        return {word: i for i, word in enumerate(self.vocabulary_)}

    def _after_load(self) -> None:
        if len(self.classes_) and not 0 <= self.classes_.min() <= self.classes_.max() < len(
            self.paths_
        ):
            raise ValueError("classes_ names a class that does not exist.")
