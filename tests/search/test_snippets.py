"""Snippets show what was asked for, and nothing that a terminal would obey."""

import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tacit.search import Hit, Hits, InvertedIndex
from tacit.search.snippets import Wanted, snippets
from tacit.text import Vocabulary, tokenize
from tacit.text.tokens import TokenRule

RULE = TokenRule(min_length=1)


def shown(text, words, width=160, rule=RULE, phrases=()):
    (snippet,) = snippets([text], Wanted(Vocabulary.of(words), phrases), rule, width)
    return snippet


def marked(snippet):
    return [snippet.text[i:j] for i, j in snippet.marks]


def marked_in(hit):
    return [hit.snippet[i:j] for i, j in hit.marks]


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        ("Crude OIL fell", ["oil"], ["OIL"]),
        ("oily oil boil", ["oil"], ["oil"]),
        ("Étude ÉTUDE e\u0301tude", ["étude"], ["Étude", "ÉTUDE", "étude"]),
        ("ΣΑΣ σας", ["σας"], ["ΣΑΣ", "σας"]),
        ("東京都の首都", ["京都", "首都"], ["京都", "首都"]),
        ("東京都", ["東京", "京都"], ["東京都"]),  # overlapping pairs are one mark
        ("가나 나", ["나"], ["나"]),
        ("go 👍🏽 now", ["👍🏽"], ["👍🏽"]),
        ("a\x00oil\x07gas", ["oil", "gas"], ["oil", "gas"]),
        ("nothing", ["oil"], []),
        ("", ["oil"], []),
    ],
)
def test_words_are_marked_where_they_stand(text, words, expected):
    assert marked(shown(text, words)) == expected


def test_words_of_a_phrase_are_marked_where_they_are_in_a_row():
    index = InvertedIndex().fit(["gas oil, natural oil", "oil: Natural gas; natural", "gas"])
    assert [marked_in(hit) for hit in index.search('"natural gas"')] == [["Natural", "gas"]]
    hits = index.search('"natural gas" natural')
    assert [marked_in(hit) for hit in hits] == [["Natural", "gas", "natural"]]
    repeated = shown("a b a a b", [], phrases=[(["a", "a", "b"], [0, 1, 2])])
    assert repeated.marks == ((4, 5), (6, 7), (8, 9))
    assert marked(shown("a x b, a b", [], phrases=[(["a", "b"], [0, 2])])) == ["a", "b"]
    assert marked(shown("b a", [], phrases=[(["a", "b"], [0, 1])])) == []


def test_a_phrase_is_not_marked_across_documents():
    asked = Wanted(Vocabulary.of([]), [(["a", "b"], [0, 1])])
    assert [each.marks for each in snippets(["x a", "b x", "a b"], asked, RULE)] == [
        (), (), ((0, 1), (2, 3)),
    ]  # fmt: skip


def test_apostrophes_are_inside_words_by_the_other_rule():
    rule = TokenRule("words", True, 1)
    assert marked(shown("He said: Don't, don", ["don't"], rule=rule)) == ["Don't"]


def test_the_window_holds_the_most_different_words():
    text = "oil " * 60 + "x " * 200 + "crude oil here " + "y " * 200
    snippet = shown(text, ["crude", "oil"])
    assert marked(snippet) == ["crude", "oil"]
    assert snippet.text.startswith("… x")
    assert snippet.text.endswith("y …")


def test_cuts_are_between_words():
    text = " ".join(f"number{i}" for i in range(500))
    snippet = shown(text, ["number250"])
    words = snippet.text.strip("… ").split()
    assert all(word in text.split() for word in words)
    assert len(snippet.text) <= 164


def test_a_word_far_into_a_long_document_is_found():
    text = "filler " * 20_000 + "needle " + "filler " * 1000
    assert marked(shown(text, ["needle"])) == ["needle"]


def test_a_long_word_does_not_make_a_long_snippet():
    assert len(shown("x" * 10_000 + " oil " + "y" * 10_000, ["oil"]).text) <= 166
    assert len(shown("x" * 10_000, ["oil"]).text) <= 166


hostile = st.text(
    alphabet=st.one_of(
        st.sampled_from("oil gasOIL \n\t\x00\x07\x1b\x7f\x85\x9b東京é\u0301ßİΣ👍'-"),
        st.sampled_from("\u202e\u2066\u200f\u2028\u200d\ufe0f"),
        st.characters(codec="utf-8"),
    ),
    max_size=400,
)


@settings(deadline=None, max_examples=200)
@given(hostile, st.sampled_from(["plain", "words"]), st.integers(1, 60))
@example("İ oil", "plain", 10)
@example("\u200doil\u200d gas", "plain", 10)
def test_no_text_breaks_a_snippet(text, rule, width):
    snippet = shown(text, ["oil", "gas", "東京", "é"], width, TokenRule(rule, True, 1))
    for c in snippet.text:
        assert unicodedata.category(c) not in ("Cc", "Cs", "Zl", "Zp")
        assert ord(c) not in (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F)
    at = 0
    for start, stop in snippet.marks:
        assert at <= start < stop <= len(snippet.text)
        at = stop
    assert "  " not in snippet.text


@settings(deadline=None, max_examples=100)
@given(st.lists(st.sampled_from(["oil", "Oil", "gas", "東京都", "é", "don't"]), max_size=30))
def test_every_occurrence_inside_the_window_is_marked(words):
    text = " ".join(words)
    snippet = shown(text, ["oil"], width=10_000)
    assert len(snippet.marks) == sum(tokenize(w, min_length=1) == ["oil"] for w in words)


def test_hits_print_well():
    index = InvertedIndex().fit(["Crude <oil> prices", "gas & oil\x1b[31m", "gas"])
    hits = index.search("oil")
    lines = str(hits).splitlines()
    assert lines[0].startswith("0  ")
    assert "[oil]" in lines[0]
    assert lines[-1] == "2 of 2 documents"
    assert "\x1b" not in str(hits)
    assert "&lt;<mark>oil</mark>&gt;" in hits._repr_html_()
    assert "gas &amp; <mark>oil</mark>" in hits[1]._repr_html_()


def test_a_hit_is_small_and_plain():
    hit = Hit("<b>", 1.5, "one oil two", ((4, 7),))
    assert hit.highlighted("<", ">") == "one <oil> two"
    assert hit.to_dict() == {
        "id": "<b>", "score": 1.5, "snippet": "one oil two", "marks": [[4, 7]],
    }  # fmt: skip
    assert "<b>" not in hit._repr_html_()
    hits = Hits([hit], total=3, notes=["a note"])
    assert str(hits).splitlines()[1:] == ["1 of 3 documents", "a note"]
    assert hits.to_dict()["notes"] == ["a note"]
