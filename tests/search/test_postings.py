"""Lists of documents and places: what goes in comes out, however it was cut and merged."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.core import ModelFileError
from tacit.search.postings import (
    decode,
    invert,
    merge_postings,
    no_postings,
    read_any,
    read_list,
    read_phrase,
    read_places,
    words_of,
)
from tacit.search.word_rule import WordRule
from tacit.text import Vocabulary, tokenize
from tacit.text.terms import Terms
from tacit.text.tokens import TokenRule


def terms_of(documents):
    """Documents as lists of numbers below 10."""
    names = [f"w{i}" for i in range(10)]
    ids = np.array([word for each in documents for word in each], np.int32).reshape(1, -1)
    edges = np.cumsum([0, *map(len, documents)])
    return Terms(Vocabulary.of(names), ids, edges)


def inverted(documents):
    return invert(terms_of(documents))


documents = st.lists(st.lists(st.integers(0, 9), max_size=20), min_size=1, max_size=15)


@settings(deadline=None)
@given(documents, st.integers(0, 15))
def test_lists_hold_documents_counts_and_places(texts, cut):
    postings = merge_postings([inverted(texts[:cut]), inverted(texts[cut:])])
    whole = inverted(texts)
    for one, other in zip(postings[1:], whole[1:], strict=True):
        np.testing.assert_array_equal(one, other)
    for word in range(10):
        expected = {d: [i for i, w in enumerate(t) if w == word] for d, t in enumerate(texts)}
        expected = {d: places for d, places in expected.items() if places}
        found = read_list(postings, word)
        assert found.documents.tolist() == list(expected)
        assert found.counts.tolist() == [len(places) for places in expected.values()]
        edges, places = read_places(postings, word, found.counts)
        assert [p.tolist() for p in np.split(places, edges[1:-1])] == list(
            expected.values()
        ) or not expected
    for d, text in enumerate(texts):
        assert words_of(postings, d) == {w: text.count(w) for w in sorted(set(text))}
    assert postings.lengths.tolist() == [len(text) for text in texts]


@settings(deadline=None)
@given(documents, st.lists(st.integers(0, 9), min_size=1, max_size=4, unique=True))
def test_lists_add_up(texts, words):
    found = read_any(inverted(texts), words)
    expected = {d: sum(w in words for w in text) for d, text in enumerate(texts)}
    expected = {d: count for d, count in expected.items() if count}
    assert dict(zip(found.documents.tolist(), found.counts.tolist(), strict=True)) == expected


@settings(deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 2), max_size=30), min_size=1, max_size=8),
    st.lists(st.integers(0, 2), min_size=2, max_size=5),
)
def test_words_in_a_row_are_counted(texts, run):
    found = read_phrase(inverted(texts), run, list(range(len(run))))
    m = len(run)
    expected = {
        d: sum(text[i : i + m] == run for i in range(len(text))) for d, text in enumerate(texts)
    }
    expected = {d: count for d, count in expected.items() if count}
    assert dict(zip(found.documents.tolist(), found.counts.tolist(), strict=True)) == expected


def test_far_documents_and_many_occurrences_take_several_bytes():
    texts = [[0] * 5000, *([[1]] * 20_000), [0, 1] * 300, [0]]
    found = read_list(inverted(texts), 0)
    assert found.documents.tolist() == [0, 20_001, 20_002]
    assert found.counts.tolist() == [5000, 300, 1]
    edges, places = read_places(inverted(texts), 0, found.counts)
    assert places[edges[1] : edges[2]].tolist() == list(range(0, 600, 2))


def test_unwanted_words_keep_their_places():
    terms = terms_of([[0, 1, 0, 2]])
    unwanted = np.zeros(10, np.bool_)
    unwanted[0] = True
    postings = invert(terms, unwanted)
    assert len(postings.vocabulary) == 9
    assert postings.lengths.tolist() == [2]
    _, places = read_places(postings, 0, np.array([1], np.int32))
    assert places.tolist() == [1]


def test_nothing_merges_with_something():
    something = inverted([[1, 2], [1]])
    merged = merge_postings([no_postings(), something, no_postings()])
    for one, other in zip(merged[1:], something[1:], strict=True):
        np.testing.assert_array_equal(one, other)


@given(st.binary(max_size=60), st.integers(0, 40), st.integers(0, 30))
def test_any_bytes_are_a_list_or_none(raw, n, size):
    documents, counts = np.full(size, -1, np.int32), np.full(size, -1, np.int32)
    found = decode(np.frombuffer(raw, np.uint8), n, documents, counts)
    assert -1 <= found <= size
    if found > 0:
        assert (np.diff(documents[:found]) > 0).all()
        assert documents[found - 1] < n
        assert counts[:found].min() > 0


def test_a_list_that_ends_early_is_damage():
    postings = inverted([[1], [1, 1], [2]])
    broken = postings._replace(lists=postings.lists.copy())
    broken.lists[:] = 255
    with pytest.raises(ModelFileError, match="damaged"):
        read_list(broken, 1)
    short = postings._replace(lists=postings.lists[:1])
    with pytest.raises(ModelFileError, match="damaged"):
        read_list(short, 2)


@given(
    st.text(max_size=30), st.sampled_from(["plain", "words"]), st.booleans(), st.integers(1, 3)
)
def test_words_of_a_query_are_those_of_the_tokenizer(text, rule, lowercase, least):
    found = WordRule(TokenRule(rule, lowercase, least)).words([text])
    assert found == [tokenize(text, rule=rule, lowercase=lowercase, min_length=least)]


@given(st.from_regex(r"[a-zA-Z0-9]{1,12}", fullmatch=True), st.sampled_from(["plain", "words"]))
def test_the_short_way_for_plain_words_gives_the_same(text, rule):
    for lowercase in (True, False):
        found = WordRule(TokenRule(rule, lowercase, 2)).words([text])
        assert found == [tokenize(text, rule=rule, lowercase=lowercase, min_length=2)]
