"""Candidates within some edits: all of them, and no others."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.language.deletion_index import LONGEST, build_index, find_words, strings_of
from tacit.text import optimal_string_alignment

words = st.lists(st.text(alphabet="abcé", max_size=9), min_size=1, max_size=25, unique=True)


def found(index, queries):
    near = find_words(index, strings_of(queries))
    return [
        dict(zip(near.words[a:b].tolist(), near.distances[a:b].tolist(), strict=True))
        for a, b in zip(near.edges[:-1], near.edges[1:], strict=True)
    ]


@given(vocabulary=words, queries=words, most=st.sampled_from([1, 2, 3]))
def test_every_word_within_reach_is_found_with_its_distance_and_no_other(
    vocabulary, queries, most
):
    vocabulary = sorted(vocabulary)
    index = build_index(strings_of(vocabulary), most=most)
    for query, near in zip(queries, found(index, queries), strict=True):
        distances = [optimal_string_alignment(query, word) for word in vocabulary]
        assert near == {i: d for i, d in enumerate(distances) if d <= most}


def test_words_longer_than_the_prefix_are_found_by_edits_anywhere_in_them():
    word = "internationalization"
    index = build_index(strings_of([word]), most=2)
    for i in range(len(word)):
        for typed in (word[:i] + word[i + 1 :], word[:i] + "q" + word[i:]):
            assert found(index, [typed]) == [{0: 1}]
    assert found(index, ["itnernationalizatoin"]) == [{0: 2}]


def test_more_candidates_than_there_was_room_for_are_all_returned():
    # Thousands of words within two edits of every query, far more than the first guess.
    letters = "abcdefghij"
    vocabulary = sorted(a + b + c for a in letters for b in letters for c in "klmnopqrst")
    index = build_index(strings_of(vocabulary), most=3)
    queries = ["aak", "zz", "bbl"] * 20
    near = found(index, queries)
    assert [len(each) for each in near[:3]] == [1000, 1000, 1000]
    assert near[:3] * 20 == near


@pytest.mark.parametrize("query", ["", "a", "x" * LONGEST, "x" * 500, "\U0001f600", "\ud800"])
def test_odd_queries_have_answers(query):
    index = build_index(strings_of(["a", "ab", "\U0001f601", "x" * LONGEST, "y" * 500]), most=2)
    (near,) = found(index, [query])
    assert all(0 <= d <= 2 for d in near.values())
    assert (query == "a") == (near.get(0) == 0)


def test_nothing_is_found_in_nothing():
    index = build_index(strings_of([]), most=2)
    assert found(index, ["word", ""]) == [{}, {}]
    assert found(build_index(strings_of(["word"])), []) == []


def test_building_twice_gives_the_same_arrays():
    vocabulary = strings_of(["banana", "bandana", "cabana", "anna"])
    for a, b in zip(build_index(vocabulary)[1:], build_index(vocabulary)[1:], strict=True):
        np.testing.assert_array_equal(a, b)
