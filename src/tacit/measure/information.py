"""Entropy, cross-entropy, KL divergence and perplexity of distributions and language models.

    entropy         H(p)     = - sum p log p            expected code length of p
    cross-entropy   H(p, q)  = - sum p log q            the same with a code for q
    KL divergence   D(p, q)  = H(p, q) - H(p)           the difference; 0 only if q is p
    perplexity      exp H                               as many equally likely outcomes

A distribution is an array of probabilities or counts of at least 0, which are normalized. A
language model is evaluated on text: p is then what the text is a sample of, and all figures are
per word, end-of-sentence tokens included.

Shannon (1948), A mathematical theory of communication. In the notes: perplexity and
cross-entropy of language models.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

__all__ = ["cross_entropy", "entropy", "kl_divergence", "perplexity"]


def entropy(p: Any, *, base: float = math.e) -> float:
    """The entropy of a distribution: in nats, or in bits with ``base=2``.

    Parameters
    ----------
    p : array or mapping; probabilities or counts; a mapping gives one for each outcome
    base : float
        Of the logarithm.

    Examples
    --------
    >>> entropy([1, 1, 1, 1], base=2), entropy({"heads": 9, "tails": 1}, base=2)
    (2.0, 0.4689...)
    """
    p, scale = normalize(p, "entropy(p)"), check_base(base, "entropy")
    return expected_length(p, p) / scale


def cross_entropy(p: Any, q: Any, *, base: float = math.e) -> float:
    """The expected code length of outcomes of ``p`` in a code for ``q``.

    Parameters
    ----------
    p : array or mapping; or text, if q is a language model
        Probabilities or counts. Text is whatever the model's ``perplexity`` takes.
    q : array or mapping, or a language model
        Outcomes of p that have probability 0 in q make the result infinite.
    base : float
        Of the logarithm.

    Examples
    --------
    >>> cross_entropy([0.5, 0.5], [0.25, 0.75], base=2)
    1.2075...
    >>> from tacit.language import NGramModel
    >>> model = NGramModel(1, smoothing="mle").fit(["a b", "a a"])
    >>> cross_entropy(["a b"], model, base=2)
    1.7233...
    """
    scale = check_base(base, "cross_entropy")
    if is_model(q):
        return math.log(q.perplexity(p)) / scale
    p, q = normalize_both(p, q, "cross_entropy")
    return expected_length(p, q) / scale


def kl_divergence(p: Any, q: Any, *, text: Any = None, base: float = math.e) -> float:
    """How much longer a code for ``q`` is than one for ``p``. Never below 0.

    Parameters
    ----------
    p, q : array or mapping each; or two language models
    text : sentences
        For language models, what to compare them on: the mean of log p - log q per word. Text
        drawn from p gives an estimate of the divergence per word; on other text it says by
        how much p predicts that text better, and may be negative.
    base : float
        Of the logarithm.

    Examples
    --------
    >>> kl_divergence([1, 1], [1, 3], base=2), kl_divergence([1, 0], [1, 1], base=2)
    (0.2075..., 1.0)
    >>> kl_divergence([1, 1], [1, 0])
    inf
    """
    scale = check_base(base, "kl_divergence")
    if is_model(p) or is_model(q):
        if not (is_model(p) and is_model(q)):
            raise TypeError(
                "kl_divergence compares two distributions or two language models, but was "
                f"given {type(p).__name__} and {type(q).__name__}."
            )
        if text is None:
            raise ValueError(
                "kl_divergence of two language models needs text=..., sentences to compare "
                "them on. p.generate draws some from p."
            )
        of_p, of_q = float(p.perplexity(text)), float(q.perplexity(text))
        if math.isinf(of_p):
            raise ValueError(
                "kl_divergence: the text has words of probability 0 in the first model, so it "
                "is not a sample of it. Use text drawn from it, or smooth the model."
            )
        return math.log(of_q / of_p) / scale
    p, q = normalize_both(p, q, "kl_divergence")
    p, q = p[p > 0], q[p > 0]
    if not q.all():
        return math.inf
    return max(0.0, float((p * (np.log(p) - np.log(q))).sum())) / scale


def perplexity(p: Any, q: Any = None) -> float:
    """The number of equally likely outcomes with the same entropy.

    Of a distribution ``p``; of ``q`` where ``p`` is true; or of a text ``p`` under a language
    model ``q``.

    >>> perplexity([0.25] * 4), perplexity([1, 0, 0, 0])
    (4.0, 1.0)
    >>> from tacit.language import NGramModel
    >>> perplexity(["a b"], NGramModel(1, smoothing="mle").fit(["a b", "a a"]))
    3.3019...
    """
    if q is None:
        return math.exp(entropy(p))
    if is_model(q):
        return float(q.perplexity(p))
    return math.exp(cross_entropy(p, q))


# --- Parts ---


def expected_length(p: np.ndarray, q: np.ndarray) -> float:
    """- sum p log q, in nats, where 0 log 0 is 0."""
    p, q = p[p > 0], q[p > 0]
    return max(0.0, float(-(p * np.log(q)).sum())) if q.all() else math.inf


def is_model(value: Any) -> bool:
    return callable(getattr(value, "perplexity", None))


def normalize(p: Any, name: str) -> np.ndarray:
    """Probabilities or counts scaled to add up to one, float64, of one dimension."""
    values = list(p.values()) if isinstance(p, Mapping) else p
    try:
        weights = np.asarray(values, np.float64).ravel()
    except (TypeError, ValueError):
        raise TypeError(
            f"{name} must be numbers, probabilities or counts, but got {str(values)[:60]!r}."
        ) from None
    for wrong, why in (
        (~np.isfinite(weights), ". Give finite numbers."),
        (weights < 0, ", but no probability is negative."),
    ):
        if wrong.any():
            at = int(wrong.argmax())
            raise ValueError(f"{name} has {weights[at]:g} at place {at}{why}")
    top = weights.max(initial=0.0)
    if top == 0:
        raise ValueError(f"{name} has {len(weights)} outcomes, all of weight 0. Give some.")
    weights = weights / top  # so that no sum overflows
    return weights / weights.sum()


def normalize_both(p: Any, q: Any, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Two distributions over the same outcomes, in the same order."""
    if isinstance(p, Mapping) != isinstance(q, Mapping):
        raise TypeError(
            f"{name} was given a mapping and an array, whose outcomes cannot be matched. "
            "Give two mappings or two arrays."
        )
    if isinstance(p, Mapping):
        outcomes = list(dict.fromkeys([*p, *q]))
        p, q = ([weights.get(outcome, 0) for outcome in outcomes] for weights in (p, q))
    first, second = normalize(p, f"{name}(p)"), normalize(q, f"{name}(q)")
    if len(first) != len(second):
        raise ValueError(
            f"{name} was given {len(first)} outcomes of p, but {len(second)} of q. Give both "
            "the same ones, with 0 where one does not have them."
        )
    return first, second


def check_base(base: float, name: str) -> float:
    """The logarithm of the base."""
    if not (isinstance(base, int | float) and math.isfinite(base) and base > 1):
        raise ValueError(f"{name}(base={base!r}) must be a number above 1, such as 2.")
    return math.log(base)
