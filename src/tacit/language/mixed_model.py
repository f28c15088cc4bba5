"""Several language models as one: a weighted mean of their probabilities.

A model of much general text and one of little text of the right kind predict together better
than either. The weights maximize the likelihood of held-out text:

    collect   the posterior of each model for each word
    update    the mean of the posteriors is the weight

This is expectation-maximization for the weights alone: the likelihood never falls, and it has
one maximum.

Jelinek and Mercer (1980), Interpolated estimation of Markov source parameters from sparse data.
"""

import reprlib
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from tacit.core.engines import get_engine
from tacit.core.estimator import Estimator
from tacit.language.scoring import (
    LN10,
    Perplexity,
    WordScores,
    join_scores,
    sum_scores,
    word_scores,
)
from tacit.language.sentences import filled_blocks

__all__ = ["MixedModel", "check_weights", "fit_weights"]


STEPS = 1000
TOLERANCE = 1e-7


def fit_weights(probabilities: np.ndarray) -> np.ndarray:
    """Weights of the columns, from the probability that each gives to each word.

    >>> fit_weights(np.array([[0.5, 0.1], [0.5, 0.1], [0.1, 0.9]])).round(3)
    array([0.667, 0.333])
    """
    k = probabilities.shape[1]
    weights = np.full(k, 1 / k)
    for _ in range(STEPS):
        posterior = probabilities * weights
        total = posterior.sum(axis=1, keepdims=True)
        posterior /= np.where(total > 0, total, 1)  # a word may be impossible for all
        new = posterior.sum(axis=0) / max(1, np.count_nonzero(total))
        moved = np.abs(new - weights).max()
        weights = new
        if moved < TOLERANCE:
            break
    return weights / weights.sum() if weights.sum() else np.full(k, 1 / k)


def check_weights(weights: object, k: int, caller: str) -> np.ndarray:
    """Weights as an array that adds up to 1."""
    checked = np.full(k, 1 / k) if weights is None else np.asarray(weights, np.float64)
    if checked.shape != (k,) or (checked < 0).any() or not np.isclose(checked.sum(), 1):
        raise ValueError(
            f"{caller}(weights={weights!r}) needs {k} weights of 0 or more that add up to 1."
        )
    return checked


class MixedModel(Estimator):
    """Mix language models, with weights that suit a text.

    A word that one of the models does not know is that model's <unk>. The mixture is a proper
    distribution if all models have the same vocabulary.

    Parameters
    ----------
    models : list of NGramModel or ClassModel
        Fitted, with the same tokenizer and markers.
    weights : list of float or None
        Their weights, if they are known; ``fit`` estimates them.

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

    _takes_text: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict] = {
        "weights": ["array-like", None],
    }
    _file_schema: ClassVar[dict] = {"weights_": (None,)}
    _file_kinds: ClassVar[dict] = {"weights_": "f"}

    def __init__(
        self, models: Sequence[Any], *, weights: Sequence[float] | None = None
    ) -> None:
        self.models = models
        self.weights = weights

    def fit(self, X: Any, y: Any = None) -> "MixedModel":
        """Estimate the weights under which held-out sentences are likeliest."""
        self._check()
        self.weights_ = fit_weights(10.0 ** self._scores(X)[0])
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
        total: dict[str, float] = {}
        for weight, model in zip(self._mixture_weights(), self.models, strict=True):
            for word, p in zip(model.words_, model.distribution(history), strict=True):
                total[word] = total.get(word, 0.0) + float(weight * p)
        best = sorted(total.items(), key=lambda item: (-item[1], item[0]))
        return [(word, p) for word, p in best[:top] if p > 0]

    def _after_load(self) -> None:
        self._check()
        check_weights(self.weights_, len(self.models), "MixedModel")

    def _check(self) -> None:
        models = self.models
        if not isinstance(models, Sequence) or not models:
            raise ValueError(f"MixedModel(models={models!r}) needs a list of language models.")
        for model in models:
            if not hasattr(model, "_scorer"):
                raise TypeError(
                    "MixedModel takes NGramModels and ClassModels that are fitted, not "
                    f"{reprlib.repr(model)}."
                )
        kinds = {(m.markers, str(m.tokenizer), m.lowercase) for m in models}
        if len(kinds) > 1:
            raise ValueError(
                "MixedModel needs models that read text alike, but their markers, tokenizer "
                f"and lowercase are {sorted(kinds)}. Train them with the same settings."
            )

    def _mixture_weights(self) -> np.ndarray:
        self._check()
        if hasattr(self, "weights_"):
            return self.weights_
        if self.weights is None:
            check_is_fitted(self, "weights_")
        return check_weights(self.weights, len(self.models), "MixedModel")

    def _scores(self, sentences: Any) -> tuple[np.ndarray, WordScores]:
        """log10 of every word under every model; and one model's, where a word is unknown only
        if it is for all."""
        blocks = filled_blocks(sentences, "MixedModel")
        columns: list[np.ndarray] = []
        unknown: Any = True
        scored = None
        for model in self.models:
            scores = getattr(model, "_block_scores", word_scores)  # a class model has another
            parts = get_engine(model.engine).map(scores, model._scorer(), blocks)
            scored = join_scores(list(parts))
            columns.append(scored.scores)
            unknown = unknown & (scored.ids < 0)
        assert scored is not None  # there is at least one model
        ids = np.where(unknown, np.int32(-1), np.maximum(scored.ids, 0))
        return np.stack(columns, axis=1), scored._replace(ids=ids)

    def _mixed(self, sentences: Any) -> WordScores:
        columns, scored = self._scores(sentences)
        with np.errstate(divide="ignore"):
            mixed = np.log10((10.0**columns) @ self._mixture_weights())
        return scored._replace(scores=mixed)
