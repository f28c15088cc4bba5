"""A language model with a cache of recent words.

Words come in bursts: one that occurred a few sentences ago is far likelier than a model of all
text predicts. The probability is a mixture of the model's and two of the text so far,

    p(w) = a model(w) + b recent(w) + c recent(w after the word before)

where recent counts decay exponentially. ``fit`` chooses the weights and half-lives that suit
held-out text best. While a cache is empty the model's probability takes its place.

Kuhn and De Mori (1990), A cache-based natural language model for speech recognition. IEEE
PAMI 12. Clarkson and Robinson (1997), Language model adaptation using mixtures and an
exponentially decaying cache. ICASSP.
"""

import reprlib
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from tacit.core.engines import get_engine
from tacit.core.estimator import Estimator
from tacit.core.kernel import kernel
from tacit.kernels.hashing import PairInterner
from tacit.language.mixed_model import check_weights, fit_weights
from tacit.language.ngram_model import NGramModel
from tacit.language.scoring import Perplexity, WordScores, join_scores, sum_scores, word_scores
from tacit.language.sentences import START, filled_blocks

__all__ = ["CacheModel"]

SPAN = 1 << 20  # words per kernel call
HALF_LIVES = (50, 100, 200, 400, 800, 1600, 3200)


class CacheModel(Estimator):
    """Adapt a language model to the text that it reads, word by word.

    Parameters
    ----------
    model : NGramModel
        Fitted.
    half_lives : tuple of two floats, or None
        After how many words a cached word, and a cached pair of words, counts half. None
        chooses among 50 to 3,200 on the held-out text.

    Attributes
    ----------
    weights_ : array of shape (3,), of the model, recent words and recent pairs
    half_lives_ : tuple of two floats

    Examples
    --------
    >>> from tacit.language import NGramModel
    >>> model = NGramModel(2).fit(["the ship sails", "the whale dives", "the sea"] * 5)
    >>> text = ["the whale dives", "the whale dives", "the whale dives"]
    >>> adapted = CacheModel(model).fit(text)
    >>> bool(adapted.perplexity(text).ppl < model.perplexity(text).ppl)
    True
    """

    _takes_text: ClassVar[bool] = True
    contract: ClassVar[str] = "sequential"
    _parameter_constraints: ClassVar[dict] = {
        "half_lives": [tuple, list, None],
    }
    _file_schema: ClassVar[dict] = {"weights_": (3,)}
    _file_kinds: ClassVar[dict] = {"weights_": "f"}
    _file_types: ClassVar[dict] = {"half_lives_": (tuple, list)}

    def __init__(self, model: Any, *, half_lives: tuple[float, float] | None = None) -> None:
        self.model = model
        self.half_lives = half_lives

    def fit(self, X: Any, y: Any = None) -> "CacheModel":
        """Choose weights and half-lives on held-out sentences, in the order they are read."""
        self._validate_params()
        self._check_model()
        scored = self._scores(X)
        p = 10.0**scored.scores
        if self.half_lives is not None:
            self.half_lives_ = check_half_lives(self.half_lives)
        else:  # one after the other: the two hardly depend on each other
            self.half_lives_ = choose_half_life(scored, p, 0), choose_half_life(scored, p, 1)
        self.weights_ = fit_weights(self._columns(scored, p))
        return self

    def perplexity(self, sentences: Any) -> Perplexity:
        """How well the adapted model predicts a text, read from the beginning."""
        check_is_fitted(self, "weights_")
        scored = self._scores(sentences)
        mixed = self._columns(scored, 10.0**scored.scores) @ self.weights_
        with np.errstate(divide="ignore"):
            scores = np.log10(mixed)
        return Perplexity.of(sum_scores(scored._replace(scores=scores), self.model.markers))

    def _after_load(self) -> None:
        self._check_model()
        check_half_lives(self.half_lives_)
        check_weights(self.weights_, 3, "CacheModel")

    def _check_model(self) -> None:
        if not isinstance(self.model, NGramModel):
            raise TypeError(
                "CacheModel takes an NGramModel that is fitted, not "
                f"{reprlib.repr(self.model)}."
            )

    def _scores(self, sentences: Any) -> WordScores:
        blocks = filled_blocks(sentences, "CacheModel")
        engine = get_engine(self.model.engine)
        return join_scores(list(engine.map(word_scores, self.model._scorer(), blocks)))

    def _columns(self, scored: WordScores, p: np.ndarray) -> np.ndarray:
        caches = (recent(scored, p, self.half_lives_[kind], kind) for kind in (0, 1))
        return np.stack([p, *caches], axis=1)


def check_half_lives(half_lives: Any) -> tuple[float, float]:
    if len(half_lives) != 2 or not all(
        isinstance(h, Real) and float(h) > 0 for h in half_lives
    ):
        raise ValueError(
            f"CacheModel(half_lives={half_lives!r}) needs two numbers above 0: words after "
            "which a word, and a pair of words, counts half."
        )
    return float(half_lives[0]), float(half_lives[1])


def recent(scored: WordScores, p: np.ndarray, half_life: float, kind: int) -> np.ndarray:
    """The probability of each word by a cache of words (kind 0) or of pairs (1); p of the model
    where the cache is empty."""
    ids = np.maximum(scored.ids, 0)
    history = np.zeros(len(ids), np.int32)
    if kind == 1:
        history[1:] = ids[:-1]
        history[scored.edges[:-1][np.diff(scored.edges) > 0]] = START
    pairs = PairInterner().ids(history.astype(np.int64), ids.astype(np.int64))
    out = np.empty(len(pairs))
    state = [
        (np.zeros(size), np.zeros(size, np.int64))
        for size in (pairs.max(initial=0) + 1, history.max(initial=0) + 1)
    ]
    for first in range(0, len(pairs), SPAN):
        last = min(len(pairs), first + SPAN)
        decay_counts(pairs, history, p, 0.5 ** (1.0 / half_life), *state[0], *state[1], first,
                 last, out)  # fmt: skip
    return out


def choose_half_life(scored: WordScores, p: np.ndarray, kind: int) -> float:
    """The one under which the text is likeliest."""
    likelihoods = []
    for half_life in HALF_LIVES:
        columns = np.stack([p, recent(scored, p, half_life, kind)], axis=1)
        mixed = columns @ fit_weights(columns)
        likelihoods.append(np.log(mixed[mixed > 0]).sum())
    return float(HALF_LIVES[int(np.argmax(likelihoods))])


@kernel
def decay_counts(items, histories, p, fade, seen, seen_at, total, total_at, first, last, out):
    """Decaying counts of items over those of their histories, before each position."""
    for t in range(first, last):
        i, h = items[t], histories[t]
        item_count = seen[i] * fade ** (t - seen_at[i])
        history_count = total[h] * fade ** (t - total_at[h])
        out[t] = item_count / history_count if history_count > 1e-9 else p[t]
        seen[i], seen_at[i] = item_count + 1.0, t
        total[h], total_at[h] = history_count + 1.0, t
