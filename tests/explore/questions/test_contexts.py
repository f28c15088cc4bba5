"""Concordance against a plain scan of the texts."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.core import ModelFileError
from tacit.explore.ask import concordance
from tacit.explore.stages.live import stream_of
from tacit.search import InvertedIndex, QueryError
from tacit.text import tokenize
from tests.explore.corpora import HOSTILE, letters, table
from tests.explore.questions.conftest import live_of

SPACE = re.compile(r"\s+")


@pytest.fixture(scope="module")
def letters_live(explored):
    return live_of(explored("topics", lambda: table(*letters())))


@pytest.fixture(scope="module")
def scripts(explored):
    """Texts whose characters are not their bytes, nor their lower case as long as they are."""
    texts = [
        "Ein Café, ein CAFÉ, ein Cafe\u0301 und\tein  Tee",
        "İstanbul'da ŞEHİR ve şehir",
        "東京都に住む。京都ではない。",
        "the\nSea the sea,\r\nthe-sea (THE SEA)",
        "😀 sea 😀 sea",
        "ΣΊΣΥΦΟΣ and Σίσυφος",
        "",
    ]
    return live_of(explored("scripts", lambda: texts))


def brute(live, key):
    """(document, left words, right words) of every place of a run of words."""
    found = []
    for row, text in enumerate(live.documents.texts()):
        words = tokenize(text, min_length=1)
        for i in range(len(words) - len(key) + 1):
            if words[i : i + len(key)] == key:
                found.append((row, words[:i], words[i + len(key) :]))
    return found


@settings(max_examples=40)
@given(
    key=st.lists(st.sampled_from(["ship", "the", "of", "whale", "a", "zzz"]), min_size=1,
                 max_size=3),
    sort=st.sampled_from(["document", "left", "right"]),
)  # fmt: skip
def test_every_place_is_found_and_sorted_as_a_scan_would(letters_live, key, sort):
    expected = brute(letters_live, key)
    if sort == "left":
        expected.sort(key=lambda each: each[1][:-6:-1])
    elif sort == "right":
        expected.sort(key=lambda each: each[2][:5])
    found = concordance(letters_live, " ".join(key).upper(), sort=sort, top=1000)
    assert found["total"] == len(expected)
    assert found["documents"] == len({row for row, _, _ in expected})
    assert [line["row"] for line in found["lines"]] == [row for row, _, _ in expected][:1000]
    for line, (_, before, after) in zip(found["lines"], expected, strict=False):
        assert tokenize(line["key"], min_length=1) == key
        assert line["right"].split()[:3] == after[:3]
        assert line["left"].split()[-3:] == before[-3:]


def test_a_line_is_a_piece_of_its_text(letters_live):
    for sort in ("document", "left", "right"):
        for line in concordance(letters_live, "ship", sort=sort, width=25)["lines"]:
            (text,) = letters_live.texts([line["row"]])
            assert line["left"] + line["key"] + line["right"] in SPACE.sub(" ", text)
            assert len(line["left"]) <= 25
            assert len(line["right"]) <= 25


def test_pages_one_after_the_other_are_the_whole(letters_live):
    whole = concordance(letters_live, "the", sort="right", top=50)["lines"]
    pages = [
        concordance(letters_live, "the", sort="right", top=10, start=at)["lines"]
        for at in range(0, 50, 10)
    ]
    assert [line for page in pages for line in page] == whole


def test_wild_cards_stand_for_any_ending(letters_live):
    every = brute(letters_live, ["whale"]) + brute(letters_live, ["wave"])
    starts = {
        word
        for text in letters_live.documents.texts()
        for word in tokenize(text, min_length=1)
        if word.startswith("wha") or word.startswith("wav")
    }
    assert starts == {"whale", "wave"}
    found = concordance(letters_live, "wha*", top=1000)
    assert found["total"] + concordance(letters_live, "wav*")["total"] == len(every)
    assert {line["key"] for line in found["lines"]} == {"whale"}


@pytest.mark.parametrize(
    ("key", "keys"),
    [
        ("café", ["Café", "CAFÉ", "Café"]),
        ("cafe\u0301", ["Café", "CAFÉ", "Café"]),
        ("ein tee", ["ein Tee"]),
        ("şehir", ["şehir"]),
        ("東京都", ["東京都"]),
        ("京都", ["京都", "京都"]),
        ("the sea", ["the Sea", "the sea", "the-sea", "THE SEA"]),
        ("😀", ["😀", "😀"]),
        ("σίσυφος", ["ΣΊΣΥΦΟΣ", "Σίσυφος"]),
    ],
)
def test_other_scripts_are_found_as_they_were_written(scripts, key, keys):
    lines = concordance(scripts, key)["lines"]
    assert [line["key"] for line in lines] == keys
    for line in lines:
        assert "\n" not in line["left"] + line["right"]


def test_where_lower_case_parts_words_the_line_is_made_of_words(scripts):
    (line,) = concordance(scripts, "ve")["lines"]
    assert line["key"] == "ve"
    assert line["right"].strip().startswith("şehir")
    assert line["left"]


def test_hostile_text_stays_text_without_what_reorders_it(hostile_live):
    lines = concordance(hostile_live, "window.hacked", top=1000)["lines"]
    assert lines
    assert any("<script>" in line["left"] for line in lines)
    hidden = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
    for word in ("evil", "31mred", "nul", "isolate", "calc", "separator"):
        found = concordance(hostile_live, word, sort="right", width=200)["lines"]
        assert found
        for line in found:
            assert not hidden.search("".join(map(str, line.values())))
    assert HOSTILE[3].startswith("\u202e")


@pytest.mark.parametrize(
    ("settings", "error", "said"),
    [
        ({"sort": "up"}, ValueError, "sort='up'"),
        ({"width": 0}, ValueError, "width=0"),
        ({"top": 10**7}, ValueError, "top="),
        ({"start": -1}, ValueError, "start=-1"),
    ],
)
def test_wrong_settings_are_refused_by_name(letters_live, settings, error, said):
    with pytest.raises(error, match=said):
        concordance(letters_live, "ship", **settings)


@pytest.mark.parametrize("text", ["", " ", "...", '"'])
def test_there_must_be_a_word(letters_live, text):
    with pytest.raises(QueryError):
        concordance(letters_live, text)
    with pytest.raises(QueryError, match="50 is the most"):
        concordance(letters_live, "ship " * 51)


def test_words_that_are_not_there_have_no_lines(letters_live):
    found = concordance(letters_live, "ship xylophone")
    assert (found["total"], found["documents"], found["lines"]) == (0, 0, [])


@given(st.lists(st.lists(st.sampled_from("abcde"), max_size=12), min_size=1, max_size=8))
def test_the_stream_holds_every_word_where_it_stands(documents):
    texts = [" ".join(words) for words in documents]
    if not any(documents):
        return
    index = InvertedIndex(engine="serial").fit(texts)
    stream = stream_of(index)
    names = index._fitted().postings.vocabulary.strings
    assert [names[i] for i in stream.tokens] == [word for words in documents for word in words]
    assert np.diff(stream.edges).tolist() == [len(words) for words in documents]


def test_a_damaged_index_is_named(letters_live):
    index = InvertedIndex(engine="serial").fit(["one two one", "two three"])
    inner = index._fitted()
    places = inner.postings.places.copy()
    places[:] = 120
    index._content = inner._replace(postings=inner.postings._replace(places=places))
    with pytest.raises(ModelFileError, match="damaged"):
        stream_of(index)
    lengths = inner.postings.lengths - 5
    index._content = inner._replace(postings=inner.postings._replace(lengths=lengths))
    with pytest.raises(ModelFileError, match="damaged"):
        stream_of(index)
