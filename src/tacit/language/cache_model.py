"""A language model that remembers what was just said.

Words come in bursts: one that stood a few sentences ago is far likelier than a model of all
text thinks. The probability is a mixture of the model's and two of the text so far,

    p(w) = a model(w) + b recent(w) + c recent(w after the word before)

where recent counts fade by half every so many words. The shares and the half-lives that suit
held-out text best are found by ``fit``. Where a cache is still empty the model speaks for it.

Kuhn and De Mori (1990), A cache-based natural language model for speech recognition. IEEE
PAMI 12. Clarkson and Robinson (1997), Language model adaptation using mixtures and an
exponentially decaying cache. ICASSP.
"""

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from tacit.core.engines import get_engine
from tacit.core.estimator import Estimator
from tacit.core.kernel import kernel
from tacit.kernels.hashing import PairInterner
from tacit.language.mixture_weights import fit_shares
from tacit.language.perplexities import Perplexity
from tacit.language.scoring import WordScores, join_scores, sum_scores, word_scores
from tacit.language.sentences import START, sentence_blocks

__all__ = ["CacheModel"]

SPAN = 1 << 20  # words to a kernel call
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
    weights_ : array of shape (3,), the shares of the model, recent words and recent pairs
    half_lives_ : tuple of two floats

    Examples
    --------
    >>> from tacit.language import NGramModel
    >>> model = NGramModel(2).fit(["the ship sails", "the whale dives", "the sea"] * 5)
    >>> told = ["the whale dives", "the whale dives", "the whale dives"]
    >>> adapted = CacheModel(model).fit(told)
    >>> bool(adapted.perplexity(told).ppl < model.perplexity(told).ppl)
    True
    """

    contract: ClassVar[str] = "sequential"
    _parameter_constraints: ClassVar[dict] = {
        "model": "no_validation",
        "half_lives": [tuple, list, None],
    }

    def __init__(self, model, *, half_lives=None):
        self.model = model
        self.half_lives = half_lives

    def fit(self, X: Any, y: Any = None) -> "CacheModel":
        """Find shares and half-lives on held-out sentences, in the order they are read."""
        self._validate_params()
        found = self._scores(X)
        own = 10.0**found.scores
        chosen = self._given()
        if chosen is None:
            # One after the other: how fast words fade says little on how fast pairs do.
            chosen = choose_half_life(found, own, 0), choose_half_life(found, own, 1)
        self.half_lives_ = chosen
        self.weights_ = fit_shares(self._columns(found, own))
        return self

    def perplexity(self, sentences: Any) -> Perplexity:
        """How well the adapted model predicts a text, read from the beginning."""
        check_is_fitted(self, "weights_")
        found = self._scores(sentences)
        mixed = self._columns(found, 10.0**found.scores) @ self.weights_
        with np.errstate(divide="ignore"):
            scores = np.log10(mixed)
        return Perplexity.of(sum_scores(found._replace(scores=scores), self.model.markers))

    def _given(self) -> tuple[float, float] | None:
        if self.half_lives is None:
            return None
        given = tuple(self.half_lives)
        if len(given) != 2 or not all(isinstance(h, Real) and float(h) > 0 for h in given):
            raise ValueError(
                f"CacheModel(half_lives={self.half_lives!r}) needs two numbers above 0: words "
                "after which a word, and a pair of words, counts half."
            )
        return float(given[0]), float(given[1])

    def _scores(self, sentences: Any) -> WordScores:
        blocks = list(sentence_blocks(sentences))
        if not blocks:
            raise ValueError("CacheModel needs at least one sentence. Give some.")
        engine = get_engine(self.model.engine)
        return join_scores(list(engine.map(word_scores, self.model._scorer(), blocks)))

    def _columns(self, found: WordScores, own: np.ndarray) -> np.ndarray:
        columns = [own, *(recent(found, own, self.half_lives_[kind], kind) for kind in (0, 1))]
        return np.stack(columns, axis=1)


def recent(found: WordScores, own: np.ndarray, half_life: float, kind: int) -> np.ndarray:
    """What a cache of words (kind 0) or of pairs (1) gives to each word of a text."""
    ids = np.maximum(found.ids, 0)
    history = np.zeros(len(ids), np.int32)
    if kind == 1:
        history[1:] = ids[:-1]
        history[found.edges[:-1][np.diff(found.edges) > 0]] = START
    pairs = PairInterner().ids(history.astype(np.int64), ids.astype(np.int64))
    out = np.empty(len(pairs))
    state = [
        (np.zeros(size), np.zeros(size, np.int64))
        for size in (pairs.max(initial=0) + 1, history.max(initial=0) + 1)
    ]
    for first in range(0, len(pairs), SPAN):
        last = min(len(pairs), first + SPAN)
        remember(pairs, history, own, 0.5 ** (1.0 / half_life), *state[0], *state[1], first,
                 last, out)  # fmt: skip
    return out


def choose_half_life(found: WordScores, own: np.ndarray, kind: int) -> float:
    likely = []
    for half_life in HALF_LIVES:
        columns = np.stack([own, recent(found, own, half_life, kind)], axis=1)
        likely.append(likelihood(columns, fit_shares(columns)))
    return float(HALF_LIVES[int(np.argmax(likely))])


def likelihood(columns: np.ndarray, shares: np.ndarray) -> float:
    mixed = columns @ shares
    return float(np.log(mixed[mixed > 0]).sum())


@kernel
def remember(items, histories, own, fade, seen, seen_at, total, total_at, first, last, out):
    """Fading counts of items over those of their histories, before each position."""
    for t in range(first, last):
        i, h = items[t], histories[t]
        part = seen[i] * fade ** (t - seen_at[i])
        whole = total[h] * fade ** (t - total_at[h])
        out[t] = part / whole if whole > 1e-9 else own[t]
        seen[i], seen_at[i] = part + 1.0, t
        total[h], total_at[h] = whole + 1.0, t
