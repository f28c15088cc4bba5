"""Documents that belong nowhere: found, flagged, gray, and without a label."""

import gzip
import json
import os
from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit.explore.ask import place_texts
from tacit.explore.questions.none_of_these import NONE
from tests.explore.strangers import STRANGERS

HOME = os.environ.get("TACIT_DATA")
SUBJECTS = {
    "harbor": ("ship captain cargo port crew vessel dock sailors", "anchored unloaded sailed"),
    "council": ("mayor council vote budget city members taxes district", "approved rejected"),
    "match": ("team goal player season coach league fans stadium", "scored defended won"),
    "market": ("shares bank profit investors prices quarter company trade", "rose fell sold"),
}
FRAME = (
    "The {a} said on {day} that the {b} had {v} after the {c}, and that more {d} would follow.",
    "On {day} the {a} {v} the {b}, which the {c} called good news for the {d}.",
    "Many {a} were at the {b} on {day}, where the {c} {v} and the {d} listened.",
)
DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"]


def stories(n, seed=0):
    """Short stories on four subjects, one sentence form after the other, and their subjects."""
    rng, kinds = np.random.default_rng(seed), list(SUBJECTS)
    texts, topics = [], [kinds[i % 4] for i in range(n)]
    for topic in topics:
        nouns, verbs = (part.split() for part in SUBJECTS[topic])
        lines = []
        for _ in range(4):
            a, b, c, d = rng.choice(nouns, 4, replace=False)
            lines.append(str(rng.choice(FRAME)).format(
                a=a, b=b, c=c, d=d, v=rng.choice(verbs), day=rng.choice(DAYS)))  # fmt: skip
        texts.append(" ".join(lines))
    return texts, topics


@pytest.fixture(scope="module")
def mixed():
    texts, topics = stories(300)
    return tacit.explore([*texts, *STRANGERS.values()], effort="quick",
                         stages=["groups", "outliers"]), topics  # fmt: skip


def test_six_strangers_are_the_most_unfamiliar_and_ordinary_stories_are_not(mixed):
    score = mixed[0].documents["unfamiliarity"].to_numpy()
    assert set(np.argsort(-score)[:6]) == set(range(300, 306))
    assert (score[300:] > 1).all()
    assert np.mean(score[:300] > 1) < 0.01


def test_a_collection_without_strangers_flags_next_to_nothing():
    project = tacit.explore(stories(400, seed=1)[0], effort="quick", stages=["outliers"])
    assert np.mean(project.documents["unfamiliarity"] > 1) < 0.01


def test_new_texts_get_the_group_of_their_nearest_or_none(mixed):
    project, topics = mixed
    new, kinds = stories(8, seed=7)
    placed = project.place([*new, STRANGERS["german"], ""])
    groups = project.documents["group"].to_numpy()
    for each, kind in zip(placed[:8], kinds, strict=True):
        assert each["unfamiliarity"] < 1
        assert each["why"] is None
        assert topics[each["nearest"][0][0]] == kind
        assert each["group"] == groups[each["nearest"][0][0]]
    assert placed[8]["group"] == -1
    assert placed[8]["unfamiliarity"] > 1
    assert placed[9] == {"group": -1, "unfamiliarity": 0.0, "why": None, "nearest": []}
    assert place_texts(project.live, []) == []
    with pytest.raises(TypeError, match="put a single one into a list"):
        project.place("one text")
    with pytest.raises(TypeError, match="not int"):
        project.place([7])


def test_a_document_scores_the_same_when_it_is_placed_as_a_new_text(mixed):
    """Nearly: the collection then knows it already."""
    project = mixed[0]
    score = project.documents["unfamiliarity"].to_numpy()
    (again,) = project.place([stories(300)[0][5]])
    assert again["nearest"][0][0] == 5
    assert again["unfamiliarity"] <= score[5] + 0.1


def test_labels_of_two_subjects_are_not_given_to_the_other_two(mixed):
    project, topics = mixed
    labels = {i: topics[i] for i in range(60) if topics[i] in ("harbor", "match")}
    found = project.spread(labels)
    names = np.array(found["names"])
    rest = range(60, 300)
    other = [i for i in rest if topics[i] not in ("harbor", "match")]
    own = [i for i in rest if topics[i] in ("harbor", "match")]
    assert np.mean(names[other] == NONE) > 0.95
    right = [found["classes"][names[i]] == topics[i] for i in own if names[i] >= 0]
    assert np.mean(right) > 0.95
    assert np.mean(names[own] == NONE) < 0.2
    assert (names[300:] == NONE).all()  # strangers
    assert found["none"] == int((names == NONE).sum())


def test_where_all_subjects_are_labeled_hardly_any_document_is_left_without(mixed):
    project, topics = mixed
    found = project.spread({i: topics[i] for i in range(80)})
    assert np.mean(np.array(found["names"])[80:300] == NONE) < 0.05


needs_data = pytest.mark.skipif(HOME is None, reason="TACIT_DATA names no folder with data")


def read_rows(name):
    path = Path(HOME) / name
    if not path.exists():
        pytest.skip(f"TACIT_DATA has no {name}")
    with gzip.open(path, "rt", encoding="utf8") as file:
        return [json.loads(line) for line in file]


@needs_data
def test_six_strangers_among_800_news_stories_are_in_the_top_ten():
    rows = read_rows("ag_news/ag_news.jsonl.gz")
    order = np.random.default_rng(11).permutation(len(rows))[:800]
    texts = [f"{rows[i]['title']}\n{rows[i]['text']}" for i in order]
    project = tacit.explore([*texts, *STRANGERS.values()], effort="quick", stages=["outliers"])
    score = project.documents["unfamiliarity"].to_numpy()
    assert set(range(800, 806)) <= set(np.argsort(-score)[:10])
    assert np.mean(score[:800] > 1) < 0.01


@pytest.fixture(scope="module")
def posts():
    """Posts on five subjects, explored, and the subject of each."""
    names = ("rec.sport.hockey", "sci.space", "talk.politics.mideast", "comp.graphics",
             "rec.autos")  # fmt: skip
    rows = [r for r in read_rows("newsgroups/train.jsonl.gz") if r["label"] in names][::2]
    topics = np.array([row["label"] for row in rows])
    texts = [row["text"].partition("\n\n")[2] for row in rows]
    return tacit.explore(texts, effort="quick", stages=["outliers"]), topics, names


@needs_data
@pytest.mark.parametrize("per_label", [10, 40])
def test_posts_of_two_subjects_that_nobody_labeled_get_none_of_the_labels(posts, per_label):
    project, topics, names = posts
    rng, known = np.random.default_rng(5), names[:3]
    own = [
        rng.choice(np.flatnonzero(topics == name), per_label, replace=False) for name in known
    ]
    labels = {int(i): str(topics[i]) for i in np.concatenate(own)}
    found = project.spread(labels)
    got = np.array(found["names"])
    inside = np.isin(topics, known)
    assert np.mean(got[~inside] == NONE) >= 0.8
    assert np.mean(got[inside] == NONE) <= 0.2
    accepted = np.flatnonzero(inside & (got >= 0))
    right = np.mean(np.array(found["classes"])[got[accepted]] == topics[accepted])
    low, high = found["check"]["interval"]
    assert low - 0.05 < right < high + 0.05  # what is quoted holds for posts like the labeled
