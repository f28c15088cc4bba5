"""One document, and documents like it."""

import json
import re

import numpy as np
import pytest

from tacit.explore.ask import document, similar
from tacit.explore.report.clean_text import clean_text
from tests.explore.corpora import HOSTILE

HIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200b]")


def strings_in(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, each in value.items():
            yield key
            yield from strings_in(each)
    elif isinstance(value, list):
        for each in value:
            yield from strings_in(each)


def test_a_document_comes_with_its_columns_group_and_words(live):
    found = document(live, 4)
    (text,) = live.texts([4])
    assert found["text"] == text
    assert found["cut"] is False
    assert found["id"] == "letter 4"
    assert found["columns"] == {"topic": live.value("topic", 4), "number": 4}
    assert found["group"] == int(live.arrays("groups")["labels"][4])
    assert 0 <= found["sure"] <= 1
    assert found["words"] == len(text.split())
    json.dumps(found, allow_nan=False)


@pytest.mark.parametrize("row", [-1, 90, 10**9])
def test_a_row_that_is_not_there_is_refused_with_the_number_of_rows(live, row):
    for ask in (document, similar):
        with pytest.raises(IndexError, match="90"):
            ask(live, row)
        with pytest.raises(TypeError, match="whole number"):
            ask(live, "4")
        with pytest.raises(TypeError, match="whole number"):
            ask(live, True)


def test_hostile_documents_stay_text_and_hide_nothing(hostile_live):
    for row in range(20):
        for answer in (document(hostile_live, row), similar(hostile_live, row, top=3)):
            for text in strings_in(answer):
                assert not HIDDEN.search(text)
    assert document(hostile_live, 0)["text"].startswith(HOSTILE[0])
    assert "<b>kind</b>" in document(hostile_live, 0)["columns"]


def test_a_long_document_is_cut_and_says_so(explored, monkeypatch):
    from tests.explore.questions.conftest import live_of

    live = live_of(explored("long", lambda: ["word " * 50_001, "short one"]))
    found = document(live, 0)
    assert len(found["text"]) == 200_000
    assert found["cut"] is True
    assert document(live, 1)["cut"] is False


def test_clean_text_keeps_lines_and_tabs():
    assert clean_text("a\r\nb\rc\td\x00\u202e") == "a\nb\nc\td"


def test_similar_documents_are_the_nearest_in_meaning(live):
    rows = live.arrays("meaning")["rows"].astype(float)
    for row in (0, 7, 50):
        cosines = rows @ rows[row]
        cosines[row] = -2
        hits = similar(live, row, top=8)["hits"]
        assert [hit["row"] for hit in hits] == np.argsort(-cosines, kind="stable")[:8].tolist()
        assert {live.value("topic", hit["row"]) for hit in hits} == {live.value("topic", row)}


def test_similar_documents_say_which_words_they_share(live):
    (own,) = live.texts([3])
    for hit in similar(live, 3, top=4)["hits"]:
        (other,) = live.texts([hit["row"]])
        assert hit["shared"]
        assert set(hit["shared"]) <= set(own.split()) & set(other.split())
        marked = {text for text, is_hit in hit["snippet"] if is_hit}
        assert marked <= set(hit["shared"])


def test_a_document_without_words_has_no_like(odd):
    from tests.explore.questions.conftest import live_of

    live = live_of(odd)
    assert similar(live, 11)["hits"] == []
    assert "no words" in similar(live, 11)["note"]
    assert 11 not in {hit["row"] for row in range(5) for hit in similar(live, row)["hits"]}
    assert document(live, 11)["group"] is None
    assert document(live, 11)["words"] == 0
