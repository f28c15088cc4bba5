"""Labels spread from some documents to the others."""

import json

import numpy as np
import pytest

from tacit.core import Serial, Threads
from tacit.explore.ask import spread
from tests.explore.questions.conftest import live_of


def topics_of(live):
    return live.table["topic"].to_pylist()


@pytest.mark.parametrize("each", [2, 6])
def test_labels_of_a_few_documents_reach_all_others(live, each):
    topics = topics_of(live)
    labels = {row: topics[row] for row in range(3 * each)}
    found = spread(live, labels)
    assert found["classes"] == ["bread", "sea", "stars"]
    names = [found["classes"][code] for code in found["names"]]
    assert np.mean([a == b for a, b in zip(names, topics, strict=True)]) > 0.98
    assert all(found["sure"][row] == 1 for row in labels)
    assert all(0 < each <= 1 for each in found["sure"])
    low, high = found["check"]["interval"]
    assert 0 <= low <= found["check"]["accuracy"] <= high <= 1
    assert found["check"]["labeled"] == 3 * each
    assert found["check"]["folds"] == 5
    json.dumps(found, allow_nan=False)


def test_the_doubtful_are_unlabelled_and_the_least_sure_of_two(live):
    topics = topics_of(live)
    found = spread(live, {row: topics[row] for row in range(12)})
    rows = [each["row"] for each in found["doubtful"]]
    assert len(rows) == 20
    assert min(rows) >= 12
    usual = np.median([found["sure"][row] for row in range(12, 90)])
    assert np.mean([found["sure"][row] for row in rows]) < usual
    for each in found["doubtful"]:
        assert each["name"] != each["other"]
        assert each["name"] == found["classes"][found["names"][each["row"]]]


def test_a_wrong_label_is_named_for_reconsideration(live):
    topics = topics_of(live)
    labels = {row: topics[row] for row in range(30)}
    labels[9] = "stars" if topics[9] != "stars" else "sea"
    found = spread(live, labels)
    assert {"row": 9, "label": labels[9], "other": topics[9]} in found["reconsider"]
    assert len(found["reconsider"]) <= 3
    assert found["check"]["accuracy"] < 1
    assert found["classes"][found["names"][9]] == labels[9]


def test_the_same_bits_on_any_number_of_threads(live):
    topics = topics_of(live)
    labels = {row: topics[row] for row in range(15)}
    engines = (Serial(), Threads(1), Threads(3))
    answers = [spread(live, labels, engine=engine) for engine in engines]
    assert answers[0] == answers[1] == answers[2]
    backwards = dict(reversed(labels.items()))
    assert spread(live, backwards) == answers[0]


def test_two_labels_with_two_documents_each_are_the_least(live):
    for labels in ({}, {1: "a"}, {1: "a", 2: "a"}, {1: "a", 2: "b"}, {1: "a", 2: "a", 3: "b"}):
        with pytest.raises(ValueError, match="two labels with at least two documents each"):
            spread(live, labels)


def test_a_label_of_one_document_is_left_out_and_stays_its_own(live):
    topics = topics_of(live)
    labels = {row: topics[row] for row in range(12)} | {40: "odd one"}
    found = spread(live, labels)
    assert "odd one" in found["note"]
    assert "odd one" not in found["classes"]
    assert found["names"][40] == -1
    assert found["sure"][40] == 0
    assert 40 not in {each["row"] for each in found["doubtful"]}


def test_documents_without_words_get_no_label(odd):
    live = live_of(odd)
    topics = topics_of(live)
    found = spread(live, {row: topics[row] for row in range(20, 44)})
    assert found["names"][11] == -1
    assert found["sure"][11] == 0
    assert 11 not in {each["row"] for each in found["doubtful"]}


def test_small_projects_are_spread_by_words(few_live):
    labels = {0: "a", 3: "a", 6: "a", 1: "b", 4: "b", 7: "b"}
    found = spread(few_live, labels)
    assert len(found["names"]) == 12
    assert found["names"][9] == 0
    assert found["names"][10] == 1


def test_where_nothing_is_sure_the_better_label_is_given_all_the_same(explored):
    sea = [
        "The whale ship left the harbor",
        "A storm broke the mast of the ship",
        "The captain saw a whale",
        "Sailors fear the storm at sea",
        "The ship came home to the harbor",
        "A whale broke the captain's ship",
    ]
    bread = ["Flour and yeast make the dough", "The oven bakes a crust of bread",
             "Knead the dough with salt", "The baker ate bread and butter",
             "Yeast is in the dough of bread", "Salt and flour for the baker"]  # fmt: skip
    live = live_of(explored("tiny", lambda: sea + bread))
    found = spread(live, {0: "sea", 1: "sea", 2: "sea", 6: "bread", 7: "bread", 8: "bread"})
    assert found["names"] == [1] * 6 + [0] * 6
    assert found["check"]["accuracy"] < 1
    assert max(found["sure"][row] for row in (3, 4, 5, 9, 10, 11)) < 0.9


def test_labels_that_make_no_sense_are_refused(live, blank_live):
    with pytest.raises(IndexError, match="no document in row 900"):
        spread(live, {900: "a"})
    with pytest.raises(TypeError, match="must be text"):
        spread(live, {1: 7})
    with pytest.raises(ValueError, match="cannot be spread"):
        spread(blank_live, {0: "a", 1: "b"})
