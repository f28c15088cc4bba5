"""Search by words, by words ranked and by meaning, against looking at every document."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.explore.ask import search
from tacit.explore.questions.meaning_space import fold_in
from tacit.explore.questions.text_search import matching_rows
from tacit.search import QueryError
from tacit.text import tokenize

WORDS = ("ship", "whale", "dough", "crumb", "lens", "orbit", "the", "zzz")


def sets_of(live):
    return [set(tokenize(text, min_length=1)) for text in live.documents.texts()]


queries = st.recursive(
    st.sampled_from(WORDS).map(lambda word: (word, lambda words, w=word: w in words)),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(
            lambda ab: (f"({ab[0][0]} AND {ab[1][0]})",
                        lambda words: ab[0][1](words) and ab[1][1](words))
        ),
        st.tuples(inner, inner).map(
            lambda ab: (f"({ab[0][0]} OR {ab[1][0]})",
                        lambda words: ab[0][1](words) or ab[1][1](words))
        ),
        inner.map(lambda a: (f"NOT {a[0]}", lambda words: not a[1](words))),
    ),
    max_leaves=5,
)  # fmt: skip


@settings(max_examples=60)
@given(query=queries)
def test_boolean_search_finds_what_looking_at_every_document_finds(few_texts, query):
    text, holds = query
    expected = [row for row, words in enumerate(sets_of(few_texts)) if holds(words)]
    assert matching_rows(few_texts, text).tolist() == expected
    found = search(few_texts, text, way="boolean", top=100)
    assert found["total"] == len(expected)
    assert sorted(hit["row"] for hit in found["hits"]) == expected


@pytest.fixture(scope="module")
def few_texts(explored):
    from tests.explore.corpora import letters, table
    from tests.explore.questions.conftest import live_of

    return live_of(explored("topics", lambda: table(*letters())))


def test_ranked_search_counts_every_document_with_any_of_the_words(live):
    expected = sum(bool({"ship", "dough"} & words) for words in sets_of(live))
    found = search(live, "ship dough", top=100)
    assert found["total"] == expected == len(found["hits"])
    scores = [hit["score"] for hit in found["hits"]]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("way", ["ranked", "boolean", "meaning"])
def test_pages_one_after_the_other_are_the_whole(live, way):
    whole = search(live, "ship", way=way, top=30)["hits"]
    parts = [search(live, "ship", way=way, top=7, start=at)["hits"] for at in range(0, 30, 7)]
    assert [hit for part in parts for hit in part][: len(whole)] == whole
    assert len(whole) > 7


@pytest.mark.parametrize("row", [0, 1, 2, 41, 89])
def test_the_text_of_a_document_lies_where_the_document_does(live, row):
    (text,) = live.texts([row])
    folded = fold_in(live, text)
    own = live.arrays("meaning")["rows"][row]
    assert float(folded.direction @ own) == pytest.approx(1, abs=1e-4)
    best = search(live, text, way="meaning", top=1)["hits"][0]
    assert best["row"] == row
    assert best["score"] == pytest.approx(1, abs=1e-4)


def test_search_by_meaning_agrees_with_all_cosines(live):
    folded = fold_in(live, "ship and storm")
    cosines = live.arrays("meaning")["rows"].astype(float) @ folded.direction
    order = np.argsort(-cosines, kind="stable")[:10]
    hits = search(live, "ship and storm", way="meaning", top=10)["hits"]
    assert [hit["row"] for hit in hits] == order.tolist()
    np.testing.assert_allclose([hit["score"] for hit in hits], cosines[order], atol=1e-5)
    topic = {live.value("topic", hit["row"]) for hit in hits}
    assert topic == {"sea"}


def test_words_that_no_document_holds_are_named(live):
    found = search(live, "xylophone quux", way="meaning")
    assert found["total"] == 0
    assert found["hits"] == []
    assert "xylophone" in found["note"]
    some = search(live, "xylophone ship", way="meaning")
    assert some["hits"]
    assert "xylophone" in some["note"]
    assert search(live, "ship", way="meaning")["note"] is None


def test_snippets_mark_the_words_that_were_looked_for(live):
    for way in ("ranked", "boolean", "meaning"):
        for hit in search(live, "Whale", way=way, top=5)["hits"]:
            marked = [text for text, is_hit in hit["snippet"] if is_hit]
            assert marked
            assert {text.lower() for text in marked} == {"whale"}


def test_a_broken_query_is_refused_as_boolean_and_read_as_words_when_ranked(live):
    with pytest.raises(QueryError, match="never closed"):
        search(live, "(ship", way="boolean")
    found = search(live, "(ship", way="ranked")
    assert found["total"] == search(live, "ship")["total"]
    assert "plain words" in found["note"]


@pytest.mark.parametrize("text", ["", "  ", "\n"])
@pytest.mark.parametrize("way", ["ranked", "boolean", "meaning"])
def test_an_empty_query_is_refused(live, text, way):
    with pytest.raises(QueryError, match="empty"):
        search(live, text, way=way)


@pytest.mark.parametrize(
    ("settings", "error", "said"),
    [
        ({"way": "magic"}, ValueError, "way='magic'"),
        ({"top": -1}, ValueError, "top=-1"),
        ({"top": 10**6}, ValueError, "from 0 to"),
        ({"start": -2}, ValueError, "start=-2"),
        ({"top": 2.5}, TypeError, "whole number"),
        ({"top": True}, TypeError, "whole number"),
    ],
)
def test_wrong_settings_are_refused_by_name(live, settings, error, said):
    with pytest.raises(error, match=said):
        search(live, "ship", **settings)
    with pytest.raises(TypeError, match="query is text"):
        search(live, 7)
    with pytest.raises(QueryError, match="the most"):
        search(live, "ship " * 3000)


def test_answers_are_json(live):
    for way in ("ranked", "boolean", "meaning"):
        json.dumps(search(live, "ship OR dough", way=way), allow_nan=False)


def test_words_that_no_document_has_come_with_words_spelled_like_them(live):
    found = search(live, "whael AND ship", way="boolean")
    assert found["total"] == 0
    assert found["suggest"]["whael"][0] == "whale"
    assert "suggest" not in search(live, "whale OR ship", way="boolean")
