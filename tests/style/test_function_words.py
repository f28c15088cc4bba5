"""Function words are counted as a person would count them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit.core import Serial, Threads
from tacit.style import FunctionWords
from tacit.style.function_words import ENGLISH, count_windows, windows

TEXT = "The cat and the dog don't see a whale; it's an omen, and that's all."


def test_groups_share_a_column_and_contractions_count_as_their_function_word():
    words = FunctionWords(["the", "and", "a/an", "not", "it", "that/those"]).fit([TEXT])
    found = words.blocks([TEXT], size=None)
    assert found.counts.tolist() == [[2, 2, 2, 1, 1, 1]]
    assert found.lengths.tolist() == [15]


def test_contractions_can_be_left_whole():
    words = FunctionWords(["not", "it", "it's"], contractions=False).fit([TEXT])
    assert words.blocks([TEXT], size=None).counts.tolist() == [[0, 0, 1]]


def test_a_contraction_in_the_list_is_counted_as_itself():
    words = FunctionWords(["it", "it's", "don\u2019t", "not"]).fit([TEXT])
    assert (
        words.blocks(["It's it. It\u2019s so; don\u2019t."], size=None).counts[0, :2].sum() == 3
    )


def test_lists_begin_with_the_fifty_words_of_the_notes_and_grow():
    assert len(FunctionWords.english(50).words) == 50
    assert FunctionWords.english(50).words[-1] == "some"
    assert FunctionWords.english(120).words[:50] == FunctionWords.english(50).words
    forms = [form for word in ENGLISH for form in word.split("/")]
    assert len(forms) == len(set(forms)) >= 230


@pytest.mark.parametrize("n", [0, -1, 10_000])
def test_a_list_that_does_not_exist_is_refused_with_the_way_out(n):
    with pytest.raises(ValueError, match="most frequent words of your texts"):
        FunctionWords.english(n)


def test_the_most_frequent_words_of_the_texts_in_any_language():
    texts = ["der Hund und der Mond", "der Wald und die Nacht", "der Wal 7 7 7 7 7 7"]
    assert FunctionWords(n_words=2).fit(texts).words_ == ["der", "und"]
    assert FunctionWords(n_words=9, min_share=0.9).fit(texts).words_ == ["der"]


def test_frequencies_are_relative_to_all_words():
    words = FunctionWords(["the", "of"]).fit(None)
    np.testing.assert_allclose(words.transform(["the end of it", ""]), [[0.25, 0.25], [0, 0]])


@given(st.integers(0, 60), st.integers(1, 12), st.none() | st.integers(1, 7))
def test_windows_cover_the_text_and_no_more(n, size, step):
    starts, stops = windows(n, size, step)
    covered = np.zeros(n, int)
    for start, stop in zip(starts, stops, strict=True):
        covered[start:stop] += 1
    if step is None:
        assert (covered == 1).all()
        if n > size:
            assert ((stops - starts)[:-1] == size).all()
            assert size / 2 <= (stops - starts)[-1] < 1.5 * size
    else:
        assert ((stops - starts) == min(n, size)).all()
        assert step > size or (covered > 0).all()


@given(st.lists(st.integers(-1, 3), max_size=40), st.data())
def test_counts_of_windows_are_those_of_slices(codes, data):
    codes = np.array(codes, np.int32)
    edge = st.integers(0, len(codes))
    pairs = data.draw(st.lists(st.tuples(edge, edge), max_size=8))
    starts = np.array([min(pair) for pair in pairs], np.int64)
    stops = np.array([max(pair) for pair in pairs], np.int64)
    found = count_windows(codes, starts, stops, 4)
    for row, start, stop in zip(found, starts, stops, strict=True):
        inside = codes[start:stop]
        assert row.tolist() == np.bincount(inside[inside >= 0], minlength=4).tolist()


def test_every_engine_gives_the_same_counts():
    texts = [f"the end of {i} and a day or an hour" * (i % 5) for i in range(400)]
    counts = [
        FunctionWords(n_words=5, engine=engine).fit(texts).blocks(texts, size=7).counts
        for engine in (Serial(), Threads(1), Threads(3))
    ]
    assert all(np.array_equal(counts[0], each) for each in counts[1:])


@pytest.mark.parametrize("texts", [[], [""], [None, "7 8 9"]])
def test_texts_without_a_word_give_no_list(texts):
    with pytest.raises(ValueError, match="found no word"):
        FunctionWords().fit(texts)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "no word to count"),
        (["the", "a/the"], "Name it once"),
        (["two words"], "not a word"),
        (["a/"], "not a word"),
    ],
)
def test_a_bad_list_is_refused(words, message):
    with pytest.raises(ValueError, match=message):
        FunctionWords(words).fit(None)


def test_words_that_are_not_strings_are_refused():
    with pytest.raises(TypeError, match="as str"):
        FunctionWords(["the", 3]).fit(None)


def test_one_string_in_place_of_many_texts_is_refused():
    with pytest.raises(ValueError, match="Wrap one document in a list"):
        FunctionWords(["the"]).fit(None).transform("the end")


@pytest.mark.parametrize("settings", [{"size": 0}, {"size": 5, "step": 0}])
def test_windows_have_a_word_at_least(settings):
    with pytest.raises(ValueError, match="1 or more"):
        FunctionWords(["the"]).fit(None).blocks(["the end"], **settings)


def test_a_saved_list_counts_the_same(tmp_path):
    words = FunctionWords(n_words=3).fit([TEXT])
    words.save(tmp_path / "words.safetensors")
    again = tacit.load(tmp_path / "words.safetensors")
    assert again.words_ == words.words_
    assert np.array_equal(again.transform([TEXT]), words.transform([TEXT]))
