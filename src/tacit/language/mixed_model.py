"""Several language models as one: a weighted mean of their probabilities.

A model of much general text and one of little text of the right kind predict together better
than either. ``fit`` finds the weights on held-out text (``mixture_weights``).

Jelinek and Mercer (1980), Interpolated estimation of Markov source parameters from sparse data.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from tacit.core.engines import get_engine
from tacit.core.estimator import Estimator
from tacit.language.mixture_weights import check_shares, fit_shares
from tacit.language.perplexities import Perplexity
from tacit.language.scoring import LN10, WordScores, join_scores, sum_scores, word_scores
from tacit.language.sentences import sentence_blocks

__all__ = ["MixedModel"]


class MixedModel(Estimator):
    """Mix language models, with weights that suit a text.

    A word that one of the models does not know is that model's <unk>. The mixture is a proper
    distribution where the models share their vocabulary.

    Parameters
    ----------
    models : list of NGramModel or ClassModel
        Fitted, with the same tokenizer and markers.
    weights : list of float or None
        Their shares, if they are known; ``fit`` finds them.

    Attributes
    ----------
    weights_ : array of shape (n_models,)

    Examples
    --------
    >>> from tacit.language import NGramModel
    >>> sea = NGramModel(2).fit(["the ship sails", "the whale dives"])
    >>> bread = NGramModel(2).fit(["knead the dough", "bake the bread"])
    >>> mixed = MixedModel([sea, bread]).fit(["the ship sails", "the bread", "the whale"])
    >>> mixed.weights_
    array([0.8..., 0.1...])
    """

    def __init__(self, models, *, weights=None):
        self.models = models
        self.weights = weights

    def fit(self, X: Any, y: Any = None) -> "MixedModel":
        """Find the weights under which held-out sentences are likeliest."""
        self._check()
        self.weights_ = fit_shares(10.0 ** self._scores(X)[0])
        return self

    def score(self, sentence: Any, y: Any = None) -> float:
        """log10 of the probability of one sentence, a str or a list of words."""
        one = [sentence] if isinstance(sentence, str) else [list(sentence)]
        return float(self._mixed(one).scores.sum())

    def logprob(self, sentence: Any) -> float:
        """The natural logarithm of the probability of one sentence."""
        return self.score(sentence) * LN10

    def perplexity(self, sentences: Any) -> Perplexity:
        """How well the mixture predicts a text."""
        return Perplexity.of(sum_scores(self._mixed(sentences), self.models[0].markers))

    def next_words(self, history: Any = "", *, top: int = 10) -> list[tuple[str, float]]:
        """The likeliest next words and their probabilities."""
        shares = self._shares()
        odds: dict[str, float] = {}
        for share, model in zip(shares, self.models, strict=True):
            for word, p in zip(model.words_, model.distribution(history), strict=True):
                odds[word] = odds.get(word, 0.0) + float(share * p)
        best = sorted(odds.items(), key=lambda each: (-each[1], each[0]))
        return [(word, p) for word, p in best[:top] if p > 0]

    def _check(self) -> None:
        models = self.models
        if not isinstance(models, Sequence) or not models:
            raise ValueError(f"MixedModel(models={models!r}) needs a list of language models.")
        kinds = {(m.markers, str(m.tokenizer), m.lowercase) for m in models}
        if len(kinds) > 1:
            raise ValueError(
                "MixedModel needs models that read text alike, but their markers, tokenizer "
                f"and lowercase are {sorted(kinds)}. Train them with the same settings."
            )

    def _shares(self) -> np.ndarray:
        self._check()
        if hasattr(self, "weights_"):
            return self.weights_
        if self.weights is None:
            check_is_fitted(self, "weights_")
        return check_shares(self.weights, len(self.models), "MixedModel")

    def _scores(self, sentences: Any) -> tuple[np.ndarray, WordScores]:
        """log10 of every word under every model; and one model's, with its unknown words."""
        blocks = list(sentence_blocks(sentences))
        if not blocks:
            raise ValueError("MixedModel needs at least one sentence. Give some.")
        columns: list[np.ndarray] = []
        unknown: Any = True
        found = None
        for model in self.models:
            scores = getattr(model, "_block_scores", word_scores)  # a class model has its own
            parts = get_engine(model.engine).map(scores, model._scorer(), blocks)
            found = join_scores(list(parts))
            columns.append(found.scores)
            unknown = unknown & (found.ids < 0)
        assert found is not None  # there is a model at least
        ids = np.where(unknown, np.int32(-1), np.maximum(found.ids, 0))
        return np.stack(columns, axis=1), found._replace(ids=ids)

    def _mixed(self, sentences: Any) -> WordScores:
        shares = self._shares()
        columns, found = self._scores(sentences)
        with np.errstate(divide="ignore"):
            return found._replace(scores=np.log10((10.0**columns) @ shares))
