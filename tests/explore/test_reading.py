"""How documents read: sentences, words, variety, and ease, against a slow count by hand."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.core import Serial, Threads
from tacit.data import Documents
from tacit.data.text_block import text_of
from tacit.explore.stages.reading import WINDOW, quartiles, read_block
from tests.explore.test_pipeline import explore, letters, look


def read(*texts):
    return read_block(None, text_of(list(texts)))


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One. Two! Three?", 3),
        ("It cost 3.50 and e.g. more. Then we left.", 2),
        ("Mr. Smith met Dr. J. Jones. They spoke.", 2),
        ('He said: "Stop." Nobody did.', 2),
        ("Well... then. Ok", 2),
        ("A heading\n\nSome text without a point", 2),
        ("no end at all", 1),
        ("", 0),
        ("... !!! ???", 0),
        ("今日は晴れ。明日は雨！", 2),
        ("Wait… what? Yes.", 2),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text, sentences):
    assert read(text).sentences.tolist() == [sentences]


def test_words_letters_and_syllables_are_counted():
    found = read("The table made a readable noise")
    assert found.words.tolist() == [6]
    assert found.letters.tolist() == [len("Thetablemadeareadablenoise")]
    assert found.syllables.tolist() == [1 + 2 + 1 + 1 + 3 + 1]


def slow_variety(words):
    """Moving-average type-token ratio by the book."""
    windows = [words[i : i + WINDOW] for i in range(len(words) - WINDOW + 1)]
    return np.mean([len(set(w)) / WINDOW for w in windows]) if windows else np.nan


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(st.sampled_from(["ab", "bc", "cd", "de", "ef", "fg"]), max_size=120),
                max_size=4))  # fmt: skip
def test_variety_and_words_used_once_agree_with_a_slow_count(documents):
    found = read(*(" ".join(words) for words in documents))
    for i, words in enumerate(documents):
        np.testing.assert_allclose(found.variety[i], slow_variety(words), rtol=1e-12)
        assert found.types[i] == len(set(words))
        assert found.once[i] == sum(words.count(word) == 1 for word in set(words))


def test_reading_ease_is_that_of_the_formula_and_for_english_alone(tmp_path):
    easy = "The cat sat on the mat and it was warm. " * 15
    hard = (
        "The institutional considerations of administrative responsibility necessitate "
        "considerable deliberation in the organization of international communication. "
    ) * 10
    german = (
        "Der Hund ist nicht in dem Haus, und ich weiß nicht, wo er mit den Kindern war. " * 10
    )
    folder, _ = explore(tmp_path, [easy, hard, german, "The cat is on the mat."])
    ease = look(folder).arrays("reading")["ease"]
    assert ease[0] > 90
    assert ease[1] < 0
    assert np.isnan(ease[2:]).all()
    words, sentences = 10, 1
    syllables = 10  # every word of the easy sentence has one
    assert ease[0] == pytest.approx(
        206.835 - 1.015 * words / sentences - 84.6 * syllables / words, abs=0.01
    )


def test_texts_without_marks_have_no_sentences_to_measure(tmp_path):
    bare = ["the cat sat on the mat and it was warm there " * 12] * 3
    marked = "The cat sat on the mat and it was warm. " * 15
    folder, _ = explore(tmp_path / "bare", [*bare, marked, "A short one."])
    facts = look(folder).facts("reading")["measures"]
    assert facts["sentence_words"] is None
    assert facts["ease"] is None
    assert facts["words"]["documents"] == 5
    folder, _ = explore(tmp_path / "one", [bare[0], marked, marked + "Yes."])
    assert look(folder).facts("reading")["measures"]["sentence_words"]["documents"] == 2


def test_quartiles_leave_out_what_was_not_measured():
    assert quartiles(np.array([np.nan, np.nan])) is None
    assert quartiles(np.array([5.0]))["at"] == [5.0] * 5


@pytest.mark.parametrize("texts", [[""], ["", None], []])
def test_nothing_to_read_is_said(tmp_path, texts):
    folder, _ = explore(tmp_path, texts)
    assert look(folder).skipped("reading")


def test_one_and_two_documents_are_read(tmp_path):
    for n in (1, 2):
        folder, _ = explore(tmp_path / str(n), ["A ship. The sea."] * n)
        facts = look(folder).facts("reading")
        assert facts["measures"]["words"]["documents"] == n
        assert facts["measures"]["sentence_words"]["at"][2] == 2.0


def test_any_number_of_threads_reads_the_same(tmp_path):
    texts, _ = letters(40)
    documents = Documents.of([text + ". " + text for text in texts])
    serial = list(Serial().map(read_block, None, documents))
    threads = list(Threads(3).map(read_block, None, documents))
    for a, b in zip(serial, threads, strict=True):
        for x, y in zip(a, b, strict=True):
            np.testing.assert_array_equal(x, y)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=200))
def test_no_text_breaks_it(text):
    found = read(re.sub("[\ud800-\udfff]", "", text))
    assert found.sentences[0] <= max(found.words[0], 0) + len(text)
    assert (found.words[0] > 0) == (found.sentences[0] > 0)
