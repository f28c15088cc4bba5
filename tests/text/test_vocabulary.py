"""Sorted strings that merge and find each other."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.language import NGramModel
from tacit.text import CountVectorizer, Vocabulary
from tacit.text.vocabulary import check_vocabulary, unite

some = settings(deadline=None, max_examples=100)  # no deadline: the first call compiles
words = st.lists(
    st.one_of(
        st.text(st.characters(codec="utf-8")),
        st.text("ab", max_size=4),
        st.text("ab", min_size=8, max_size=12),  # ties in the first eight bytes
    )
)


@some
@given(words)
def test_a_vocabulary_is_the_sorted_distinct_strings(strings):
    vocabulary = Vocabulary.of(strings)
    assert list(vocabulary) == sorted(set(strings))
    assert [vocabulary[i] for i in range(len(vocabulary))] == sorted(set(strings))
    assert list(pickle.loads(pickle.dumps(vocabulary))) == list(vocabulary)


@some
@given(st.lists(words, min_size=1, max_size=4))
def test_the_union_holds_all_and_says_where_everything_went(lists):
    parts = [Vocabulary.of(strings) for strings in lists]
    union, places = unite(parts)
    assert list(union) == sorted(set().union(*lists))
    for part, place in zip(parts, places, strict=True):
        assert [union[i] for i in place] == list(part)
    np.testing.assert_array_equal(union.keys, Vocabulary.of(list(union)).keys)


@some
@given(words, words)
def test_finding_is_the_place_or_minus_one(a, b):
    vocabulary, sought = Vocabulary.of(a), Vocabulary.of(b)
    places = {string: i for i, string in enumerate(vocabulary)}
    assert vocabulary.find(sought).tolist() == [places.get(s, -1) for s in sought]


def test_a_few_words_are_found_in_many():
    many = Vocabulary.of([f"{i:06d}" for i in range(0, 200_000, 2)])
    few = Vocabulary.of(["", "000000", "100001", "100002", "199998", "199999", "zzz"])
    assert many.find(few).tolist() == [-1, 0, -1, 50_001, 99_999, -1, -1]


def test_taking_some_keeps_their_order():
    vocabulary = Vocabulary.of(["d", "b", "a", "c"])
    assert list(vocabulary.take(np.array([True, False, True, False]))) == ["a", "c"]
    assert list(vocabulary.take(np.array([1, 3]))) == ["b", "d"]
    assert list(vocabulary.take(np.zeros(4, bool))) == []


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "empty vocabulary passed to fit"),
        (["a", "b", "a"], "Duplicate term in vocabulary: 'a'"),
        ({"a": 0, "b": 0}, "Vocabulary contains repeated indices"),
        ({"a": 0, "b": 2}, "Vocabulary of size 2 doesn't contain index 1"),
    ],
)
def test_vocabularies_that_make_no_sense_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        check_vocabulary(given)


def test_a_vocabulary_may_be_given_in_several_ways():
    assert check_vocabulary(None) is None
    assert check_vocabulary({"b", "a"}) == {"a": 0, "b": 1}
    assert check_vocabulary(iter(["b", "a"])) == {"b": 0, "a": 1}
    assert check_vocabulary({"b": np.int64(0)}) == {"b": 0}
    with pytest.raises(TypeError, match="must be str, but 3 is not"):
        check_vocabulary([3])


@pytest.mark.parametrize("more", [[], ["a\0b"]], ids=["plain", "with a zero"])
def test_strings_come_back_with_their_places(more):
    for n in range(8):
        strings = sorted({*map(chr, range(0x3B1, 0x3B1 + n)), *more})
        words = Vocabulary.of(strings)
        assert words.strings == strings
        assert words.numbered() == {string: i for i, string in enumerate(strings)}


@pytest.mark.parametrize("odd", [None, 3, b"fox"])
def test_terms_of_another_type_than_str_are_refused(odd):
    with pytest.raises(TypeError, match="Vocabulary terms must be str"):
        CountVectorizer(vocabulary=["the", odd]).fit(["the fox"])
    with pytest.raises(TypeError, match="The analyzer returned a term of type"):
        CountVectorizer(analyzer=lambda text: ["the", odd]).fit(["the fox"])
    with pytest.raises(TypeError, match="must hold str"):
        NGramModel(2, vocabulary=["the", odd]).fit(["the fox"])
