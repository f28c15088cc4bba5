"""The class-based model: a distribution, its pieces, and Chomsky's two sentences."""

import os

import numpy as np
import pytest

import tacit
from tacit.language import ClassModel, NGramModel
from tacit.language.smoothing import SMOOTHINGS

TEXT = [
    "the cat runs", "the dog naps", "a cow eats the fox", "a fox naps", "the cow runs",
    "a dog eats a cat", "the fox eats", "a cat naps", "the dog runs",
]  # fmt: skip
HISTORIES = ["", "the", "a cat", "runs the", "unheard", "the unheard word", "the cat eats"]


@pytest.mark.parametrize("smoothing", sorted(set(SMOOTHINGS) - {"mle"}))
@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("min_count", [1, 3])
def test_after_any_history_the_probabilities_add_up_to_one(smoothing, order, min_count):
    model = ClassModel(
        order, n_clusters=3, smoothing=smoothing, min_count=min_count, engine="serial"
    ).fit(TEXT)
    for history in HISTORIES:
        p = model.distribution(history)
        assert len(p) == len(model.words_)
        assert (p >= 0).all()
        assert p.sum() == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_a_sentence_is_the_product_of_its_words_and_the_stop(order):
    model = ClassModel(order, n_clusters=3).fit(TEXT)
    words = ["the", "cow", "naps"]
    p = 1.0
    for i, word in enumerate([*words, "</s>"]):
        p *= model.distribution(words[:i])[model.words_.index(word)]
    assert model.logprob(words) == pytest.approx(np.log(p), abs=1e-5)
    assert model.logprob("the cow naps") == model.logprob(words)
    assert model.score(words) == pytest.approx(np.log10(p), abs=1e-5)


def test_perplexity_counts_as_the_sum_of_sentences_does():
    model = ClassModel(2, n_clusters=3).fit(TEXT)
    test = ["the cow naps", "an unheard word", "a cat"]
    found = model.perplexity(test)
    total = sum(model.logprob(each) for each in test)
    assert found.logprob == pytest.approx(total, abs=1e-5)
    assert float(found) == pytest.approx(np.exp(-total / 11), rel=1e-5)
    assert (found.words, found.oovs, found.sentences) == (8, 3, 3)


def test_sentences_never_seen_are_likely_if_their_classes_were():
    model = ClassModel(2, n_clusters=3).fit(TEXT)
    assert model.logprob("the fox runs") > model.logprob("runs fox the") + 2
    best = [word for word, _ in model.next_words("the", top=4)]
    assert set(best) == {"cat", "dog", "cow", "fox"}


def test_with_a_class_to_each_word_it_is_the_model_of_words():
    words = sorted({word for line in TEXT for word in line.split()})
    model = ClassModel(2, n_clusters=len(words), smoothing="witten-bell").fit(TEXT)
    plain = NGramModel(2, smoothing="witten-bell").fit(TEXT)
    for sentence in [*TEXT, "naps the the", "an unheard word"]:
        assert model.logprob(sentence) == pytest.approx(plain.logprob(sentence), abs=1e-5)


def test_a_saved_model_comes_back_the_same(tmp_path):
    model = ClassModel(3, n_clusters=3).fit(TEXT)
    model.save(tmp_path / "a")
    again = tacit.load(tmp_path / "a")
    assert again.logprob("the fox runs") == model.logprob("the fox runs")
    np.testing.assert_array_equal(again.distribution("a cat"), model.distribution("a cat"))
    ClassModel(3, n_clusters=3).fit(TEXT).save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_markers_that_stand_in_the_text_are_unknown_words():
    model = ClassModel(2, n_clusters=3).fit([*TEXT, "the </s> runs", "a <s> naps"])
    assert model.words_.count("</s>") == 1
    assert "<s>" not in model.words_
    assert model.distribution("the").sum() == pytest.approx(1, abs=1e-5)


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="needs words"):
        ClassModel(2, n_clusters=1).fit([""])
    with pytest.raises(ValueError, match="n_clusters"):
        ClassModel(2, n_clusters=100).fit(TEXT)
    with pytest.raises(ValueError, match="at least one sentence"):
        ClassModel(2, n_clusters=2).fit(TEXT).perplexity([])


@pytest.mark.slow
@pytest.mark.skipif(
    not os.environ.get("TACIT_DATA")
    or not os.path.exists(os.path.join(os.environ["TACIT_DATA"], "brown_tagged")),
    reason="TACIT_DATA has no brown_tagged",
)
def test_colorless_green_ideas_sleep_furiously_beats_its_reverse():
    from tacit.datasets import load

    text = [
        line.lower()
        for document in load("brown_tagged").documents
        for line in document.split("\n")
    ]
    sentence = "colorless green ideas sleep furiously"
    reverse = " ".join(reversed(sentence.split()))
    classes = ClassModel(2, n_clusters=100).fit(text)
    assert classes.logprob(sentence) > classes.logprob(reverse) + np.log(1_000)
    # To a model of words every pair is new in both, and they are the same.
    words = NGramModel(2).fit(text)
    assert words.logprob(sentence) == pytest.approx(words.logprob(reverse), abs=1e-4)
