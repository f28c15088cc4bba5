"""The language of the documents: next words, drawn text, surprise."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.explore.ask import generate, next_words, surprise
from tacit.explore.stages.live import running_text, spaced_sentences
from tests.explore.questions.conftest import live_of

TALES = [
    "The old man went to the sea. He was happy!\n\nThe old man came home.",
    "The old man slept. The old dog (a good one) ran away,\nand the old man cried.",
    "> The old man went to the market.\n------\nWrite to ann@example.org today.",
]


@pytest.fixture(scope="module")
def tales(explored):
    return live_of(explored("tales", lambda: TALES * 4))


def test_the_next_word_is_the_one_that_mostly_follows(tales):
    found = next_words(tales, "And so the old", top=3)
    assert found["words"][0][0] == "man"
    assert found["words"][0][1] > 0.5
    assert 0 <= found["end"] < 0.2
    assert "so" in found["note"]
    json.dumps(found, allow_nan=False)


def test_probabilities_are_those_of_a_distribution(tales):
    words = tales.language_or_none.words_
    found = next_words(tales, "the old man", top=100)
    total = sum(p for _, p in found["words"]) + found["end"]
    assert total <= 1 + 1e-9
    if len(found["words"]) == len(words) - 3:  # all but the special ones
        assert total == pytest.approx(1, abs=0.05)
    assert not {"<s>", "</s>", "<unk>"} & {word for word, _ in found["words"]}


def test_after_a_full_stop_a_sentence_begins(tales):
    fresh, after = next_words(tales, ""), next_words(tales, "The old man slept.")
    assert fresh["words"] == after["words"]
    assert fresh["words"][0][0] == "The"


def test_same_seed_same_text_and_another_seed_another(tales):
    one, two = (generate(tales, "The old", words=40, seed=3)["text"] for _ in range(2))
    assert one == two
    assert one.startswith("The old ")
    assert len({generate(tales, "", words=40, seed=s)["text"] for s in range(6)}) > 3
    assert "@" not in generate(tales, "", words=300, seed=1)["text"]


def test_a_cold_model_takes_the_likeliest_words(tales):
    cold = {"words": 4, "temperature": 0.01}
    texts = {generate(tales, "The", **cold, seed=s)["text"] for s in range(5)}
    assert len(texts) == 1
    assert texts.pop().startswith("The old man")


def test_the_number_of_words_is_kept(tales):
    assert generate(tales, "The old", words=0)["text"] == "The old"
    drawn = generate(tales, "", words=25, seed=2)["text"]
    (whole,) = [" ".join(spaced_sentences(drawn))]
    assert 10 <= len(whole.split()) <= 25


def test_strange_words_are_more_surprising(tales):
    usual, odd = surprise(tales, "The old man slept."), surprise(tales, "Old the sea man zebra")
    assert usual["bits"] < odd["bits"]
    assert odd["words"][-1][0] == "zebra"
    assert odd["words"][-1][2] is False
    assert all(known for _, _, known in usual["words"])
    assert surprise(tales, "...")["words"] == [] or surprise(tales, "...")["bits"] is not None
    assert surprise(tales, "")["note"]


@pytest.mark.parametrize(
    ("settings", "error", "said"),
    [
        ({"temperature": 0}, ValueError, "temperature=0"),
        ({"temperature": float("nan")}, ValueError, "temperature=nan"),
        ({"temperature": 1e9}, ValueError, "at most"),
        ({"temperature": "hot"}, TypeError, "must be a number"),
        ({"words": 10**6}, ValueError, "words="),
        ({"seed": -1}, ValueError, "seed=-1"),
    ],
)
def test_wrong_settings_are_refused_by_name(tales, settings, error, said):
    with pytest.raises(error, match=said):
        generate(tales, "The", **settings)
    with pytest.raises(ValueError, match="the most"):
        next_words(tales, "x" * 10_001)
    with pytest.raises(TypeError, match="text is needed"):
        surprise(tales, None)


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("", []),
        ("----\n====", []),
        ("One. two three.", ["One . two three ."]),
        ("Stop!! Now.", ["Stop !", "Now ."]),
        ('He said "go." Then left.', ['He said " go . "', "Then left ."]),
        ("a\nb\n\nc", ["a b", "c"]),
        ("it's 3.5 e-mails", ["it's 3.5 e-mails"]),
        ("x" * 41 + " y", ["y"]),
        ("see https://example.org/" + "a/" * 20 + " now", ["see now"]),
        ("red \x1b[31malert\x00 \u202eevil", ["red alert evil"]),
    ],
)
def test_text_is_cut_into_sentences_of_words_and_marks(text, sentences):
    assert spaced_sentences(text) == sentences


@given(st.text(max_size=200))
def test_any_text_can_be_cut_and_joined(text):
    for sentence in spaced_sentences(text):
        assert "\n" not in sentence
        assert sentence == " ".join(sentence.split(" "))
        kept = running_text(sentence.split(" "))
        assert kept.replace(" ", "") == sentence.replace(" ", "")
