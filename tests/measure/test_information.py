"""Entropy and its relatives: identities, SciPy's answers, models, bad input."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tacit.language import ClassModel, NGramModel
from tacit.measure import cross_entropy, entropy, kl_divergence, perplexity

weights = st.lists(st.floats(1e-6, 1e6), min_size=3, max_size=3)


@given(weights, weights)
def test_they_are_scipys(p, q):
    assert entropy(p) == pytest.approx(stats.entropy(p), abs=1e-12)
    assert kl_divergence(p, q) == pytest.approx(stats.entropy(p, q), abs=1e-9)
    assert entropy(p, base=2) == pytest.approx(stats.entropy(p, base=2), abs=1e-12)


@given(weights, weights)
def test_cross_entropy_is_entropy_and_divergence(p, q):
    assert cross_entropy(p, q) == pytest.approx(entropy(p) + kl_divergence(p, q), rel=1e-9)
    assert kl_divergence(p, q) >= 0
    assert kl_divergence(p, p) == 0
    assert perplexity(p, q) == pytest.approx(math.exp(cross_entropy(p, q)))


def test_known_values():
    assert entropy([1]) == 0
    assert entropy([0.5, 0.25, 0.125, 0.125], base=2) == pytest.approx(1.75)
    assert perplexity(np.ones(884)) == pytest.approx(884)
    assert cross_entropy([1, 0], [0, 1]) == math.inf
    assert kl_divergence([0, 1], [1, 1], base=2) == pytest.approx(1)
    assert perplexity([1, 1], [1, 0]) == math.inf
    assert entropy([1e308, 1e308], base=2) == pytest.approx(1)  # the sum would overflow


def test_mappings_are_matched_by_outcome():
    p, q = {"a": 1, "b": 3}, {"b": 1, "c": 1, "a": 2}
    assert kl_divergence(p, q) == pytest.approx(kl_divergence([1, 3, 0], [2, 1, 1]))
    assert kl_divergence(q, p) == math.inf
    assert entropy(p) == entropy([1, 3])


def test_of_models_and_text():
    text = ["a b", "a a b", "b a"]
    model = NGramModel(2).fit(text)
    test = ["a b a", "b b"]
    logprob = sum(model.logprob(each) for each in test)
    assert cross_entropy(test, model) == pytest.approx(-logprob / 7, rel=1e-6)
    bits = -logprob / 7 / math.log(2)
    assert cross_entropy(test, model, base=2) == pytest.approx(bits, rel=1e-6)
    assert perplexity(test, model) == pytest.approx(float(model.perplexity(test)))
    classes = ClassModel(2, n_clusters=1).fit(text)
    difference = cross_entropy(test, classes) - cross_entropy(test, model)
    assert kl_divergence(model, classes, text=test) == pytest.approx(difference)


def test_a_model_is_nearest_to_text_of_its_own():
    one, other = NGramModel(1).fit(["a a a b"] * 50), NGramModel(1).fit(["a b b b"] * 50)
    drawn = [one.generate(seed) for seed in range(300)]
    estimate = kl_divergence(one, other, text=[each for each in drawn if each])
    assert estimate > 0.3
    exact = kl_divergence(one.distribution(), other.distribution())
    assert estimate == pytest.approx(exact, rel=0.3)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: entropy([]), ValueError, "0 outcomes"),
        (lambda: entropy([0, 0]), ValueError, "all of weight 0"),
        (lambda: entropy([1, -1]), ValueError, "-1 at place 1"),
        (lambda: entropy([1, math.nan]), ValueError, "nan at place 1"),
        (lambda: entropy("word"), TypeError, "must be numbers"),
        (lambda: entropy([1, 2], base=1), ValueError, "above 1"),
        (lambda: kl_divergence([1, 2], [1, 2, 3]), ValueError, "2 outcomes of p, but 3 of q"),
        (lambda: kl_divergence({"a": 1}, [1]), TypeError, "two mappings or two arrays"),
        (lambda: kl_divergence(NGramModel(), [1]), TypeError, "two language models"),
        (lambda: kl_divergence(NGramModel(), NGramModel()), ValueError, "needs text="),
    ],
)
def test_bad_input_is_named(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_text_of_probability_zero_in_the_first_model_is_refused():
    closed = NGramModel(1, smoothing="mle", open_vocabulary=False).fit(["a b"])
    with pytest.raises(ValueError, match="not a sample of it"):
        kl_divergence(closed, NGramModel(1).fit(["a b"]), text=["c"])
    assert kl_divergence(NGramModel(1).fit(["a b"]), closed, text=["c"]) == math.inf
