"""Labels: kept on the disk by what they were given to, and taken back one by one."""

import json
import os
import sqlite3

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.core import DataError, Locked, Serial
from tacit.data import Documents
from tacit.explore.project.folder import ProjectFolder
from tacit.explore.project.labels import LABELS, Key, Labels, fingerprint_of
from tacit.explore.project.pipeline import run_stages
from tacit.explore.project.settings import Settings
from tacit.explore.server.state import ServerState


def key(name):
    return Key(name, fingerprint_of(name))


ONE, TWO = key("one"), key("two")


@pytest.fixture
def labels(tmp_path):
    made = Labels(tmp_path / LABELS)
    yield made
    made.close()


# --- Through the server ---


def test_labels_are_given_counted_taken_away_and_taken_back(ask, post):
    post("/api/labels", {"rows": [3, 1, 3], "name": "  sea \n letters "})
    post("/api/labels", {"rows": [2], "name": "bread"})
    reply = post("/api/labels", {"rows": [1], "name": None})
    assert reply["names"] == [{"name": "bread", "count": 1, "away": 0},
                             {"name": "sea letters", "count": 1, "away": 0}]  # fmt: skip
    assert reply["rows"] == {"2": "bread", "3": "sea letters"}
    assert reply["undo"] == 3
    assert post("/api/labels/undo", {})["rows"]["1"] == "sea letters"
    assert post("/api/labels/undo", {})["undo"] == 1
    assert post("/api/labels/undo", {})["rows"] == {}
    assert ask("/api/labels") == {"names": [], "rows": {}, "spread": None, "undo": 0, "away": 0}


def test_looking_makes_no_file(ask, project):
    ask("/api/labels")
    assert not (project / LABELS).exists()


def test_labels_follow_documents_to_a_new_run(state, project, post, ask, texts):
    post("/api/labels", {"rows": [0, 4, 5], "name": "kept"})
    ids = [f"letter {i}" for i in range(90)]
    changed = list(texts.texts)
    changed[5] = "something else entirely, under the same name"
    order = list(range(89, -1, -1))  # every document has another row
    table = pa.table({"text": [changed[i] for i in order], "id": [ids[i] for i in order]})
    folder = ProjectFolder(project)
    with folder.writing():
        run_stages(folder, Documents.of(table, text="text", id="id"),
                   Settings(effort="quick"), engine=Serial())  # fmt: skip
    reply = ask("/api/labels")
    assert reply["rows"] == {"89": "kept", "85": "kept"}
    assert reply["away"] == 1
    assert ask("/api/document", row=89)["id"] == "letter 0"


def test_a_second_server_reads_and_says_why_it_does_not_write(project, post, state):
    post("/api/labels", {"rows": [0], "name": "first"})
    second = ServerState(project)
    try:
        assert second.label_facts()["rows"] == {"0": "first"}
        assert second.facts()["writes"] is False
        with pytest.raises(Exception, match=f"process {os.getpid()} .* already") as caught:
            second.must_write()
        assert caught.value.status == 409
        assert second.prepare() is None
        state.owner.close()  # the first one ends
        second.must_write()
    finally:
        second.close()


def test_two_selections_are_compared_by_rows_groups_queries_and_labels(post, texts):
    sea = [row for row, topic in enumerate(texts.topics) if topic == "sea"]
    post("/api/labels", {"rows": sea, "name": "at sea"})
    for side in ({"rows": sea}, {"query": "whale OR ship"}, {"label": "at sea"}):
        words = post("/api/compare", {"a": side, "b": {"rest": True}})["words"]
        assert words[0]["word"] in "whale ship harbor sailor wave anchor mast tide deck captain"
    assert post("/api/compare", {"a": {"group": 0}, "b": {"group": 1}})["sizes"] == [30, 30]


def test_labels_are_part_of_the_export(client, post):
    post("/api/labels", {"rows": [4], "name": "=1+1"})
    found = json.loads(client.get("/api/export/documents.json").content)
    rows = found["documents"] if isinstance(found, dict) else found
    assert rows[4]["label"] == "=1+1"
    lines = client.get("/api/export/documents.csv").text
    assert ",=1+1" not in lines  # no formula for a spreadsheet


def test_a_group_is_renamed_on_the_page_and_gets_its_name_back(client, post):
    answer = post("/api/groups/rename", {"group": 0, "name": "At sea"})
    assert answer == {"group": 0, "name": ["At sea"]}
    assert "At sea" in client.get("/").text
    assert "At sea" in client.get("/api/export/documents.csv").text
    post("/api/groups/rename", {"group": 99, "name": "x"}, status=400)
    post("/api/groups/rename", {"group": 0, "name": " "}, status=400)
    assert post("/api/groups/rename", {"group": 0, "name": None})["name"] != ["At sea"]
    assert "At sea" not in client.get("/").text


# --- The file ---


def test_the_file_keeps_its_promises_about_the_disk(labels):
    labels.put([ONE], "a")
    db = labels._open()
    assert db.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    assert db.execute("PRAGMA synchronous").fetchone() == (2,)
    assert db.execute("PRAGMA trusted_schema").fetchone() == (0,)


def test_giving_the_same_name_again_is_no_step(labels):
    labels.put([ONE, TWO], "a")
    labels.put([TWO], "a")
    assert labels.steps() == 1


def test_a_change_that_fails_leaves_everything_as_it_was(labels):
    labels.put([ONE], "a")
    with pytest.raises(RuntimeError):
        labels.put((each for each in failing()), "b")
    assert labels.all() == {ONE: "a"}
    assert labels.steps() == 1


def failing():
    yield ONE
    yield TWO
    raise RuntimeError


@settings(max_examples=10, deadline=None)
@given(steps=st.lists(st.tuples(
    st.lists(st.sampled_from("abcd"), min_size=1, max_size=3), st.sampled_from(["x", "y", None])
), max_size=6))  # fmt: skip
def test_undo_goes_all_the_way_back_through_any_steps(tmp_path_factory, steps):
    labels = Labels(tmp_path_factory.mktemp("labels") / LABELS)
    states = [{}]
    for names, name in steps:
        labels.put([key(each) for each in names], name)
        if labels.all() != states[-1]:
            states.append(labels.all())
    assert labels.steps() == len(states) - 1
    for state in reversed(states[:-1]):
        assert labels.undo()
        assert labels.all() == state
    assert not labels.undo()
    labels.close()


def damage(path):
    data = bytearray(path.read_bytes())
    data[4096 + 100 :] = b"\xa5" * (len(data) - 4196)
    path.write_bytes(data)


def truncate(path):
    path.write_bytes(path.read_bytes()[:5000])


def foreign(path):
    path.unlink()
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE things (x)")
    db.close()


def trigger(path):
    with sqlite3.connect(path) as db:
        db.execute("CREATE TRIGGER t AFTER INSERT ON labels BEGIN DELETE FROM labels; END")
    db.close()


def future(path):
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 9")
    db.close()


def endless(path):
    with sqlite3.connect(path) as db:
        db.execute("INSERT INTO labels VALUES ('x', 'y', ?)", ("n" * 5000,))
    db.close()


def text(path):
    path.write_bytes(b"id,label\n1,a\n" * 1000)


@pytest.mark.parametrize(("harm", "said"), [
    (damage, "is damaged"), (truncate, "is damaged"), (foreign, "does not hold labels"),
    (trigger, "does not hold labels"), (future, "has format 9"), (endless, "are not names"),
    (text, "is damaged: file is not a database"),
])  # fmt: skip
def test_a_file_that_cannot_be_trusted_is_named_and_left_alone(tmp_path, harm, said):
    path = tmp_path / LABELS
    labels = Labels(path)
    labels.put([key(f"document {i}") for i in range(300)], "a")
    labels.close()
    harm(path)
    before = path.read_bytes()
    with pytest.raises(DataError, match=said) as caught:
        Labels(path)
    assert str(path) in str(caught.value)
    assert path.read_bytes() == before


def test_a_link_is_no_file_of_labels(tmp_path):
    (tmp_path / "elsewhere").write_bytes(b"")
    (tmp_path / LABELS).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(DataError, match="is a link"):
        Labels(tmp_path / LABELS)


def test_a_file_that_another_process_has_locked_is_not_called_damaged(tmp_path, monkeypatch):
    monkeypatch.setattr("tacit.explore.project.labels.PATIENCE", 0.0)
    path = tmp_path / LABELS
    Labels(path).put([Key("a", "1")], "sea")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    try:
        with pytest.raises(Locked, match="in use by another process") as caught:
            Labels(path).put([Key("b", "2")], "sea")
        assert "Move it" not in str(caught.value)
    finally:
        other.close()
    assert Labels(path).all() == {Key("a", "1"): "sea"}
