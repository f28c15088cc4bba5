"""Copies are grouped as one document, and get its group."""

import numpy as np
import pytest

import tacit
from tests.explore.test_unfamiliarity import stories

COPIES = 100


@pytest.fixture(scope="module")
def projects():
    """Stories, and the same with many copies of one after and between them."""
    texts, topics = stories(200)
    places = np.sort(np.random.default_rng(3).integers(1, 200, COPIES))
    repeated = list(np.insert(np.array(texts, object), places, texts[0]))
    plain = tacit.explore(texts, effort="quick", stages=["groups", "what_if", "duplicates"])
    more = tacit.explore(repeated, effort="quick", stages=["groups", "what_if", "duplicates"])
    return plain, more, topics, repeated


def test_copies_of_one_story_change_no_group(projects):
    plain, more, topics, repeated = projects
    label = more.documents["group"].to_numpy()
    alike = np.array([text == repeated[0] for text in repeated])
    assert alike.sum() == COPIES + 1
    assert len(set(label[alike])) == 1
    assert plain.summary["k"] == more.summary["k"] == 4
    others = label[~alike]
    kinds = np.array(topics)[1:]
    assert all(len(set(others[kinds == kind])) == 1 for kind in set(topics))
    grouped = more._context.facts("groups")
    assert grouped["copies"] == COPIES
    assert sum(node["size"] for node in grouped["nodes"] if node["parent"] < 0) == len(repeated)
    sizes = np.bincount(label)
    assert [group["size"] for group in more.summary["groups"]] == sizes.tolist()


def test_another_number_of_groups_gives_copies_one_label(projects):
    more, repeated = projects[1], projects[3]
    labels = more._context.arrays("what_if")["labels"]
    alike = np.array([text == repeated[0] for text in repeated])
    assert all(len(set(row[alike])) == 1 for row in labels)


def test_the_summary_says_how_many_were_set_aside(projects):
    plain, more = projects[:2]
    said = f"{COPIES} documents have exactly the words of an earlier one and were put into its"
    assert said in str(more)
    assert more.summary["set_aside"] == COPIES
    assert plain.summary["set_aside"] == 0
    assert "of an earlier one" not in str(plain)


def test_a_report_says_how_copies_were_grouped(projects, tmp_path):
    page = projects[1].report(tmp_path / "report.html").read_text("utf8")
    assert f"{COPIES} documents have exactly the words of an earlier one" in page


def test_a_few_texts_copied_often_are_too_few_to_group():
    texts = stories(20)[0] * 5
    project = tacit.explore(texts, effort="quick", stages=["groups"])
    assert project.summary["skipped"]["groups"] == (
        "Groups need 31 different documents with words; there are 20."
    )
