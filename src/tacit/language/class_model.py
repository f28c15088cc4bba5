"""A language model that predicts the class of the next word, then the word.

    P(w | before) = P(c(w) | classes before) P(w | c(w))

The classes are Brown clusters; their sequence is an ordinary n-gram model with a small
vocabulary, so histories unseen in words are often seen in classes. That is why "colorless green
ideas sleep furiously" is likelier than the same backwards, although every pair of words is new:
adjectives precede nouns, adverbs follow verbs.

    collect    as BrownClusters; then n-grams of classes, and words in each class
    update     smoothing of the one, relative frequencies of the other

For any history the probabilities of all words, the unknown one and the stop token add up to
one. Contract: sequential, as BrownClusters.

Brown et al. (1992), Class-based n-gram models of natural language. Computational Linguistics
18. Pereira (2000), Formal grammar and information theory: together again? In the notes:
language models, classes of words.
"""

from collections.abc import Callable, Sequence
from numbers import Integral
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from tacit.core.engines import Engine, get_engine
from tacit.core.errors import raised_as
from tacit.core.estimator import Estimator
from tacit.language.brown_clusters import UNKNOWN, BrownClusters, number_words, pool_rare
from tacit.language.ngram_model import NGramModel
from tacit.language.scoring import (
    LN10,
    Perplexity,
    Scorer,
    TextScore,
    WordScores,
    score_ids,
    sum_scores,
)
from tacit.language.sentences import (
    FIRST,
    SPECIAL,
    STOP,
    Reader,
    check_tokenizer,
    filled_blocks,
    read_words,
    split_text,
)
from tacit.language.smoothing import SMOOTHINGS
from tacit.text.vocabulary import Vocabulary

__all__ = ["ClassModel"]

OUTSIDE = SPECIAL[0]  # the class of words that no class has


class ClassScorer(NamedTuple):
    """What a worker needs to score a block."""

    classes: Scorer  # of the n-grams of classes
    vocabulary: Vocabulary
    class_ids: np.ndarray  # int32, the class of each word in that model
    logs: np.ndarray  # log P(word | class)
    pool: int  # the place of the unknown word, -1 if it has no class
    reader: Reader


def class_scores(params: ClassScorer, block: Any) -> WordScores:
    """log10 of every word and stop token of a block, as ``scoring.word_scores``."""
    read = read_words(params.reader, block)
    places = params.vocabulary.find(read.vocabulary)[read.ids]
    unknown = places < 0
    places = np.where(unknown, params.pool, places)
    outside = places < 0
    classes = np.where(outside, np.int32(-1), params.class_ids[places]).astype(np.int32)
    scored = score_ids(params.classes, classes, read.edges)
    words = scored.ids != STOP
    scores, ids = scored.scores.copy(), scored.ids.copy()
    scores[words] += np.where(outside, 0.0, params.logs[places]) / LN10
    ids[words] = np.where(unknown, -1, places + FIRST)
    return scored._replace(scores=scores, ids=ids)


def sum_class_block(params: ClassScorer, block: Any) -> TextScore:
    """The sums over a block from which a ``Perplexity`` is computed."""
    return sum_scores(class_scores(params, block), True)


class ClassModel(Estimator):
    """Learn how likely a sentence is from the classes of its words.

    Parameters
    ----------
    order : int
        The longest n-gram of classes.
    n_clusters : int
        How many classes.
    smoothing : str
        Of the n-grams of classes, see ``NGramModel``.
    min_count : int
        Rarer words are pooled as ``<unk>``, which gets a class and a probability like any
        word. With 1, unknown words get the probability that the smoothing leaves them.
    max_iter : int
        The most passes of the clustering.
    tokenizer, lowercase, engine
        As in ``BrownClusters``.

    Attributes
    ----------
    clusters_ : BrownClusters
        The classes.
    class_model_ : NGramModel
        How likely a class is after others; class 7 is called "7".
    word_logs_ : float64 array of shape (n_words,)
        log P(word | its class).

    Examples
    --------
    >>> text = ["the dog runs", "the cat runs", "a dog sleeps", "a cat sleeps"]
    >>> text.append("the cat sleeps")
    >>> model = ClassModel(2, n_clusters=3).fit(text)
    >>> model.logprob("a dog runs") > model.logprob("runs dog a")
    True
    >>> [word for word, p in model.next_words("a", top=2)]
    ['cat', 'dog']
    """

    _takes_text: ClassVar[bool] = True
    contract: ClassVar[str] = "sequential"
    _parameter_constraints: ClassVar[dict] = {
        "order": [Interval(Integral, 1, 10, closed="both")],
        "n_clusters": [Interval(Integral, 1, 10_000, closed="both")],
        "smoothing": [StrOptions(set(SMOOTHINGS))],
        "min_count": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tokenizer": [str, callable, None],
        "lowercase": ["boolean"],
    }
    _file_schema: ClassVar[dict] = {"word_logs_": (None,)}

    def __init__(
        self,
        order: int = 3,
        *,
        n_clusters: int = 100,
        smoothing: str = "modified-kneser-ney",
        min_count: int = 1,
        max_iter: int = 20,
        tokenizer: str | Callable[[str], list[str]] = "whitespace",
        lowercase: bool = False,
        engine: str | Engine = "threads",
    ) -> None:
        self.order, self.n_clusters, self.smoothing = order, n_clusters, smoothing
        self.min_count, self.max_iter, self.tokenizer = min_count, max_iter, tokenizer
        self.lowercase, self.engine = lowercase, engine

    def fit(self, sentences: Any, y: Any = None) -> "ClassModel":
        """Learn from sentences: strings, lists of words, a path, or Documents."""
        self._validate_params()
        check_tokenizer(self.tokenizer)
        text = number_words(sentences, self._reader(), self.engine, name="ClassModel")
        text = pool_rare(text, self.min_count)
        clusters = BrownClusters(
            self.n_clusters,
            max_iter=self.max_iter,
            min_count=self.min_count,
            tokenizer=self.tokenizer,
            lowercase=self.lowercase,
            engine=self.engine,
        )
        with raised_as(self, "BrownClusters"):
            self.clusters_ = clusters._fit_numbers(text)
        classes = self.clusters_.classes_
        size = np.bincount(classes, weights=text.counts, minlength=self.n_clusters)
        self.word_logs_ = np.log(text.counts / size[classes])
        names = [str(c) for c in range(self.n_clusters)]
        named = np.array(names, object)[classes[text.ids]]
        sequences = np.split(named, np.cumsum(text.lengths)[:-1])
        self.class_model_ = NGramModel(
            self.order,
            smoothing=self.smoothing,
            vocabulary=names,
            open_vocabulary=UNKNOWN not in self.clusters_._index,
            engine=self.engine,
        ).fit([part.tolist() for part in sequences])
        return self

    # --- Scores ---

    def logprob(self, sentence: str | Sequence[str]) -> float:
        """The natural logarithm of the probability of one sentence, its stop included."""
        check_is_fitted(self)
        classes, logs = self._look_up(split_text(self._reader(), sentence))
        return float(self.class_model_.logprob(classes) + logs.sum())

    def score(self, sentence: Any, y: Any = None) -> float:
        """The same as log10, as ``NGramModel.score``."""
        return self.logprob(sentence) / LN10

    def perplexity(self, sentences: Any) -> Perplexity:
        """How well the model predicts a text; see ``Perplexity`` for the conventions."""
        check_is_fitted(self)
        blocks = filled_blocks(sentences, "ClassModel.perplexity")
        engine = get_engine(self.engine)
        return Perplexity.of(engine.reduce(sum_class_block, self._scorer(), blocks))

    # --- What comes next ---

    @property
    def words_(self) -> list[str]:
        """All words that ``distribution`` gives a probability: the vocabulary, the unknown
        word if it is not part of it, and the stop token."""
        check_is_fitted(self)
        words = self.clusters_.vocabulary_
        extra = [] if self._pooled else [UNKNOWN]
        return [*words, *extra, SPECIAL[STOP]]

    def distribution(self, history: str | Sequence[str] = "") -> np.ndarray:
        """The probability of each of ``words_`` after a history."""
        check_is_fitted(self)
        classes, _ = self._look_up(split_text(self._reader(), history))
        by_class = self.class_model_.distribution(classes)
        p = by_class[self._word_classes()] * np.exp(self.word_logs_)
        extra = [] if self._pooled else [by_class[0]]
        return np.concatenate([p, extra, [by_class[STOP]]])

    def next_words(
        self, history: str | Sequence[str] = "", *, top: int = 10
    ) -> list[tuple[str, float]]:
        """The likeliest next words and their probabilities."""
        p, words = self.distribution(history), self.words_
        best = np.argsort(-p, kind="stable")[: max(top, 0)]
        return [(words[i], float(p[i])) for i in best.tolist() if p[i] > 0]

    # --- State ---

    @property
    def _pooled(self) -> bool:
        return UNKNOWN in self.clusters_._index

    @property
    def markers(self) -> bool:
        """Sentences have start and stop tokens."""
        return True

    _block_scores = staticmethod(class_scores)  # what a mixture of models calls

    def _scorer(self) -> ClassScorer:
        check_is_fitted(self, "class_model_")
        return ClassScorer(
            self.class_model_._scorer(),
            Vocabulary.of_sorted(self.clusters_.vocabulary_),
            self._word_classes(),
            self.word_logs_,
            self.clusters_._index.get(UNKNOWN, -1),
            self._reader(),
        )

    def _word_classes(self) -> np.ndarray:
        """The id that the class of each word has in ``class_model_``."""
        index = self.class_model_._index
        ids = np.array([index[str(c)] for c in range(self.n_clusters)], np.int32)
        return ids[self.clusters_.classes_]

    def _reader(self) -> Reader:
        return Reader(self.tokenizer, bool(self.lowercase))

    def _look_up(self, words: list[str]) -> tuple[list[str], np.ndarray]:
        """The class of each word as its name, and log P(word | class)."""
        places = self.clusters_._index
        pool = places.get(UNKNOWN, -1)
        at = np.array([places.get(word, pool) for word in words], np.int64)
        labels = np.where(at >= 0, self.clusters_.classes_[at], -1).tolist()
        names = [str(label) if label >= 0 else OUTSIDE for label in labels]
        return names, np.where(at >= 0, self.word_logs_[at], 0.0)

    def _after_load(self) -> None:
        if not isinstance(self.clusters_, BrownClusters):
            raise ValueError("clusters_ is not a BrownClusters.")
        if not isinstance(self.class_model_, NGramModel):
            raise ValueError("class_model_ is not an NGramModel.")
        if len(self.word_logs_) != len(self.clusters_.vocabulary_):
            raise ValueError("word_logs_ has not one value for each word.")
        if set(self.class_model_.words_[FIRST:]) != set(map(str, range(self.n_clusters))):
            raise ValueError("class_model_ does not have the classes.")
