"""Questions about real letters, whose groups are known."""

import gzip
import json
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from tacit.explore.ask import compare, concordance, neighbors, next_words, search, spread
from tacit.text import tokenize
from tests.explore.questions.conftest import live_of

HOME = os.environ.get("TACIT_DATA")
pytestmark = pytest.mark.skipif(HOME is None, reason="TACIT_DATA names no folder with data")
CHOSEN = ("rec.sport.hockey", "sci.space", "talk.religion.misc")


@pytest.fixture(scope="module")
def news(explored):
    def letters():
        path = Path(HOME) / "newsgroups" / "train.jsonl.gz"
        with gzip.open(path, "rt", encoding="utf8") as file:
            rows = [row for row in map(json.loads, file) if row["label"] in CHOSEN]
        kept = [row for name in CHOSEN for row in rows if row["label"] == name][::3]
        return pa.table({"text": [row["text"] for row in kept],
                         "topic": [row["label"] for row in kept]})  # fmt: skip

    return live_of(explored("news", letters))


def topics_of(live):
    return np.array(live.table["topic"].to_pylist())


def test_search_by_meaning_finds_the_topic_where_the_words_are_missing(news):
    topics = topics_of(news)
    hits = search(news, "goalie playoffs season", way="meaning", top=30)["hits"]
    assert np.mean([topics[hit["row"]] == "rec.sport.hockey" for hit in hits]) > 0.9
    marked = [any(is_hit for _, is_hit in hit["snippet"]) for hit in hits]
    assert not all(marked)  # some hold none of the words


def test_a_few_labels_are_spread_with_the_confidence_they_deserve(news):
    topics = topics_of(news)
    order = np.random.default_rng(0).permutation(news.n)
    labels = {int(row): str(topics[row]) for row in order[:45]}
    found = spread(news, labels)
    rest = order[45:]
    rest = rest[np.array(found["names"])[rest] >= 0]
    assert len(rest) > 0.8 * (news.n - 45)  # the others are like none of the labeled
    named = np.array([*found["classes"], "-"])[found["names"]]
    right = named[rest] == topics[rest]
    assert right.mean() > 0.85
    low, high = found["check"]["interval"]
    assert low - 0.05 <= right.mean() <= high + 0.05
    sure = np.array(found["sure"])[rest]
    assert abs(sure.mean() - right.mean()) < 0.12
    doubtful = [each["row"] for each in found["doubtful"]]
    assert np.mean(named[doubtful] == topics[doubtful]) < right.mean()


def test_words_that_set_topics_apart_are_theirs(news):
    topics = topics_of(news)
    hockey = {"rows": np.flatnonzero(topics == "rec.sport.hockey").tolist()}
    space = {"rows": np.flatnonzero(topics == "sci.space").tolist()}
    words = compare(news, hockey, space)["words"]
    ahead = [each["word"] for each in words if each["score"] > 0]
    behind = [each["word"] for each in words if each["score"] < 0]
    assert {"team", "game", "hockey"} & set(ahead[:10])
    assert "space" in behind[:10]
    near = [word for word, _ in neighbors(news, "orbit")["near"]]
    assert {"launch", "moon", "shuttle", "planets", "planetary", "galaxies"} & set(near)


def test_contexts_and_next_words_are_those_of_the_language(news):
    lines = concordance(news, "space shuttle", sort="right")["lines"]
    following = [" ".join(tokenize(line["right"], min_length=1)[:5]) for line in lines]
    assert len(lines) > 3
    assert all(tokenize(line["key"]) == ["space", "shuttle"] for line in lines)
    assert following == sorted(following)
    assert "States" in [word for word, _ in next_words(news, "in the United", top=5)["words"]]
