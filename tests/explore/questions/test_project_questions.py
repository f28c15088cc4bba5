"""The same questions from Python, as methods of a project."""

import pickle

import pandas as pd
import pytest

import tacit
from tests.explore.corpora import HOSTILE


def test_search_is_boolean_unless_asked_otherwise(topics):
    assert topics.search("ship dough").total == 0
    assert topics.search("ship dough", way="ranked").total == 60
    near = topics.search("ship dough", way="meaning", top=5)
    assert len(near) == 5
    assert near[0].highlighted()
    assert all(isinstance(each, str) and each.startswith("letter") for each in near.ids)
    assert topics.search("ship", top=None).total == len(topics.search("ship", top=None))
    with pytest.raises(ValueError, match="way='best'"):
        topics.search("ship", way="best")


def test_similar_documents_by_row_and_by_id(topics):
    assert topics.similar(4, top=3).ids == topics.similar("letter 4", top=3).ids
    assert "letter 4" not in topics.similar(4).ids
    with pytest.raises(KeyError, match="letter 900"):
        topics.similar("letter 900")


def test_a_concordance_prints_itself_and_is_text_in_notebooks(topics, hostile):
    lines = topics.concordance("ship", sort="right", width=20, top=4)
    shown = str(lines).splitlines()
    assert len(shown) == 5
    assert len({line.index("[ship]") for line in shown[:4]}) == 1
    assert shown[4].startswith("4 of ")
    assert pickle.loads(pickle.dumps(lines)).total == lines.total
    html = hostile.concordance("hacked")._repr_html_()
    assert "<table" in html
    assert not any(bad in html for bad in HOSTILE)
    assert "<script>" not in html


def test_selections_are_written_as_one_would(topics):
    whole = topics.compare({"group": 0}, {"rest": True})
    assert topics.compare(0) == whole
    rows = topics.documents.query("group == 0").index
    assert topics.compare(rows) == whole
    assert topics.compare("whale", "dough")["sizes"] == [29, 30]


def test_words_text_labels_and_files(topics, tmp_path):
    assert topics.neighbors("ship")["near"]
    assert topics.generate("the ship", words=10, seed=1).startswith("the ship")
    topic = dict(enumerate(topics.documents["topic"]))
    labels = {f"letter {row}": topic[row] for row in range(12)}
    found = topics.spread(labels)
    names = [found["classes"][code] for code in found["names"]]
    assert names[50] == topic[50]
    path = topics.export("documents.csv", tmp_path / "all.csv", labels=labels, spread=found)
    table = pd.read_csv(path)
    assert table["label"].notna().sum() == 12
    assert table["spread"].tolist() == names


def test_a_project_without_words_is_searched_in_vain(blank):
    found = blank.search("ship")
    assert found.total == 0
    assert found.notes
    assert tacit.explore(["a b", "b c"], effort="quick").search("b").total == 2
