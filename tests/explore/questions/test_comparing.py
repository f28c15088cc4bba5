"""Comparing two selections, against counting documents by hand."""

import json

import numpy as np
import pytest

from tacit.cluster.descriptions import log_odds
from tacit.explore.ask import compare, neighbors
from tacit.explore.questions.text_search import matching_rows


def shares(live, word, rows):
    texts = live.texts(list(rows))
    return sum(word in text.split() for text in texts) / len(texts)


def test_words_come_with_the_share_of_documents_on_either_side(live):
    a, b = [*range(0, 90, 3)], [*range(1, 90, 3)]
    found = compare(live, {"rows": a}, {"rows": b})
    assert found["sizes"] == [30, 30]
    assert found["note"] is None
    ahead = [each for each in found["words"] if each["score"] > 0]
    behind = [each for each in found["words"] if each["score"] < 0]
    assert ahead
    assert behind
    for each in found["words"]:
        assert each["a"] == pytest.approx(shares(live, each["word"], a))
        assert each["b"] == pytest.approx(shares(live, each["word"], b))
        assert (each["a"] > each["b"]) == (each["score"] > 0)
    scores = [each["score"] for each in ahead]
    assert scores == sorted(scores, reverse=True)
    json.dumps(found, allow_nan=False)


def test_scores_are_log_odds_of_documents_with_the_word(live):
    a, b = np.arange(0, 40), np.arange(40, 90)
    found = compare(live, {"rows": a.tolist()}, {"rows": b.tolist()})
    present = (live.counts.toarray() > 0).astype(float)
    inside, outside = present[a].sum(axis=0), present[b].sum(axis=0)
    kept = (inside + outside >= 2) & (inside + outside <= 0.9 * 90)
    scores = dict(zip(live.words[kept], log_odds(inside[kept], outside[kept]), strict=True))
    strong = {w: s for w, s in scores.items() if abs(s) >= 2}
    assert {each["word"]: each["score"] for each in found["words"]} == pytest.approx(strong)


def test_the_other_way_round_changes_the_signs_alone(live):
    one = compare(live, {"group": 0}, {"rest": True})
    other = compare(live, {"rest": True}, {"group": 0})
    assert {w["word"]: w["score"] for w in one["words"]} == pytest.approx(
        {w["word"]: -w["score"] for w in other["words"]}
    )
    assert one["sizes"] == other["sizes"][::-1] == [30, 60]


def test_selections_are_made_by_group_query_label_and_rows(live):
    labels = dict.fromkeys(range(12), "mine")
    found = compare(live, {"label": "mine"}, {"query": "whale"}, labels=labels)
    whales = matching_rows(live, "whale")
    both = sum(row < 12 for row in whales)
    assert found["sizes"] == [12 - both, len(whales) - both]
    assert f"{both} documents are on both sides" in found["note"]


def test_few_documents_on_a_side_are_not_compared(live):
    found = compare(live, {"rows": [1, 2, 3, 4]}, {"rest": True})
    assert found["words"] == []
    assert found["sizes"] == [4, 86]
    assert "needs 5 documents" in found["note"]
    twice = compare(live, {"rows": [1, 1, 1, 1, 1, 1]}, {"rest": True})
    assert twice["sizes"] == [1, 89]


def test_selections_that_are_alike_have_no_telling_words(single):
    from tests.explore.questions.conftest import live_of

    live = live_of(single)
    found = compare(live, {"rows": [*range(0, 80, 2)]}, {"rest": True})
    assert len(found["words"]) < 0.05 * len(live.words)


@pytest.mark.parametrize(
    ("side", "error", "said"),
    [
        ({}, ValueError, "one of the keys"),
        ({"rows": [1], "group": 2}, ValueError, "one of the keys"),
        ([1, 2], ValueError, "one of the keys"),
        ({"rows": "abc"}, TypeError, "a list"),
        ({"rows": [900]}, IndexError, "no document in row 900"),
        ({"rows": [1.5]}, TypeError, "whole number"),
        ({"group": 17}, ValueError, "no group 17"),
        ({"group": True}, ValueError, "no group"),
        ({"label": "x"}, ValueError, "No document has the label"),
        ({"query": "(("}, ValueError, "parenthesis"),
        ({"magic": 1}, ValueError, "cannot be made by"),
    ],
)
def test_selections_that_make_no_sense_are_refused(live, side, error, said):
    with pytest.raises(error, match=said):
        compare(live, side, {"rest": True})


def test_the_rest_of_the_rest_is_refused(live):
    with pytest.raises(ValueError, match="rest twice"):
        compare(live, {"rest": True}, {"rest": True})


# --- Words ---


def test_the_neighbors_of_a_word_are_the_nearest_in_meaning(live):
    meaning = live.arrays("meaning")
    words = [str(word) for word in live.words[meaning["used"]]]
    at = words.index("ship")
    cosines = meaning["words"].astype(float) @ meaning["words"][at]
    cosines[at] = -2
    order = np.argsort(-cosines, kind="stable")[:6]
    found = neighbors(live, "Ship", top=6)
    assert found["word"] == "ship"
    assert [word for word, _ in found["near"]] == [words[i] for i in order]
    holding = [i for i, text in enumerate(live.documents.texts()) if "ship" in text.split()]
    assert found["documents"] == len(holding)
    labels = live.groups[holding]
    assert dict(found["groups"]) == {g: int((labels == g).sum()) for g in set(labels.tolist())}
    json.dumps(found, allow_nan=False)


def test_a_word_that_is_not_there_gets_close_spellings(live):
    assert neighbors(live, "wahle")["suggest"][0] == "whale"
    found = neighbors(live, "xylophone")
    assert (found["documents"], found["near"], found["suggest"]) == (0, [], [])


def test_one_word_at_a_time(live):
    with pytest.raises(ValueError, match="holds 2"):
        neighbors(live, "ship sea")
    with pytest.raises(ValueError, match="holds 0"):
        neighbors(live, "...")


def test_a_word_in_most_documents_says_why_it_has_no_neighbors(live):
    found = neighbors(live, "the")
    assert found["near"] == []
    assert "most documents" in found["note"]
    assert found["documents"] > 45
