"""Text into words: as str.split does it, however short or empty the sentences are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.data.text_block import text_of
from tacit.language import BrownClusters, NGramModel
from tacit.language.sentences import Reader, find_ids_of_words, find_words, make_word_finder
from tacit.text import Vocabulary
from tacit.words import Word2Vec

LINES = st.lists(st.text("ab é\t", max_size=12), max_size=40)


def words_of(lines):
    spans = find_words(Reader(lines=False), text_of(lines))
    raw = spans.buffer.tobytes()
    words = [raw[a:b].decode() for a, b in zip(spans.begin, spans.end, strict=True)]
    return [words[a:b] for a, b in zip(spans.edges[:-1], spans.edges[1:], strict=True)]


@given(LINES)
def test_words_stand_between_white_space(lines):
    assert words_of(lines) == [line.split() for line in lines]


def test_sentences_of_one_letter_have_two_marks_to_a_byte():
    assert words_of(["a"] * 100_000) == [["a"]] * 100_000


@given(LINES)
def test_words_get_the_ids_of_their_vocabulary_and_others_none(lines):
    words = sorted({word for line in lines for word in line.split()}, key=str.encode)
    finder = make_word_finder(Vocabulary.of_sorted(words[::2]))
    spans = find_words(Reader(lines=False), text_of([*lines, "<unk> <s>"]))
    known = {word: i + 3 for i, word in enumerate(words[::2])}
    expected = [known.get(word, -1) for line in lines for word in line.split()]
    np.testing.assert_array_equal(find_ids_of_words(finder, spans), [*expected, 0, -1])


@pytest.mark.parametrize("odd", [None, 3, b"fox"])
def test_words_of_another_type_than_str_are_refused(odd):
    for model in (NGramModel(2), Word2Vec(2, min_count=1, epochs=1), BrownClusters(2)):
        with pytest.raises(TypeError, match="Words must be str"):
            model.fit([["the", "fox"], ["the", odd, "runs"]] * 9)
