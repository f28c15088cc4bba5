"""Labels renamed, merged and deleted as a whole: in one step, with one undo."""

import os
import signal
import sqlite3
import subprocess
import sys

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from tacit.core import Locked
from tacit.explore import Project
from tacit.explore.project.labels import (
    LABELS,
    Key,
    Labels,
    NameTaken,
    NoLabel,
    clean_name,
    fingerprint_of,
    keys_of_rows,
)
from tacit.explore.server.jobs import Job
from tacit.explore.server.state import ServerState, digest_of
from tests.explore.server.conftest import OURS

SPREAD = {"classes": ["bread", "sea"], "names": [], "sure": []}


@pytest.fixture
def labels(tmp_path):
    """Of a to f: three at sea, two of bread, one alone."""
    made = Labels(tmp_path / LABELS)
    for names, name in (("abc", "sea"), ("de", "bread"), ("f", "Odd")):
        made.put([key(each) for each in names], name)
    yield made
    made.close()


def key(name):
    return Key(name, fingerprint_of(name))


@pytest.fixture
def labelled(post):
    post("/api/labels", {"rows": [0, 3, 6], "name": "sea"})
    return post("/api/labels", {"rows": [1, 4], "name": "bread"})


# --- Through the server ---


def test_a_label_gets_another_name_and_its_old_one_back(post, ask, labelled):
    reply = post("/api/labels/rename", {"name": "sea", "to": "  at \t sea "})
    assert reply.pop("changed") == 3
    assert reply == ask("/api/labels")
    assert [(each["name"], each["count"]) for each in reply["names"]] == [
        ("at sea", 3), ("bread", 2),
    ]  # fmt: skip
    assert reply["rows"]["3"] == "at sea"
    assert reply["undo"] == labelled["undo"] + 1
    assert post("/api/labels/undo", {}) == labelled


def test_a_name_that_is_there_is_asked_about_and_then_merged(post, ask, labelled):
    said = post("/api/labels/rename", {"name": "sea", "to": "bread"}, 409)["error"]
    assert said == ("A label 'bread' is there already (2 documents). Choose another name, or "
                    "merge: 3 documents would change from 'sea' to 'bread'.")  # fmt: skip
    no = {"name": "sea", "to": "bread", "merge": False}
    assert post("/api/labels/rename", no, 409)["error"] == said
    assert ask("/api/labels") == labelled
    reply = post("/api/labels/rename", {**no, "merge": True})
    assert reply["changed"] == 3
    assert set(reply["rows"].values()) == {"bread"}
    assert reply["names"] == [{"name": "bread", "count": 5, "away": 0}]
    assert post("/api/labels/undo", {}) == labelled


def test_a_label_is_deleted_from_all_documents_and_comes_back(post, labelled):
    reply = post("/api/labels/delete", {"name": "sea"})
    assert reply["changed"] == 3
    assert reply["rows"] == {"1": "bread", "4": "bread"}
    assert post("/api/labels/undo", {}) == labelled


def test_documents_that_are_away_are_counted_and_change_too(state, post, labelled):
    state.labels.put([key("gone")], "sea")
    reply = post("/api/labels/rename", {"name": "sea", "to": "water"})
    assert reply["changed"] == 4
    assert reply["names"][1] == {"name": "water", "count": 3, "away": 1}
    assert state.labels.all()[key("gone")] == "water"
    assert post("/api/labels/delete", {"name": "water"})["away"] == 0


def test_what_was_spread_under_another_name_is_out_of_date_until_it_is_undone(
    state, post, labelled
):
    job = Job("spread", {}, b"")
    job.state = "done"
    job.result = {**SPREAD, "of": digest_of(state.label_rows(state.opened))}
    state.job_ended(job)
    assert state.label_facts()["spread"]["stale"] is False
    reply = post("/api/labels/rename", {"name": "sea", "to": "water"})
    assert reply["spread"]["stale"] is True
    state.job_ended(job)  # one that was at work meanwhile
    assert state.label_facts()["spread"]["stale"] is True
    assert post("/api/labels/undo", {})["spread"]["stale"] is False


@pytest.mark.parametrize(("path", "body", "status", "said"), [
    ("rename", {"name": "sea"}, 400, "to must be given, as text."),
    ("rename", {"to": "x"}, 400, "name must be given, as text."),
    ("rename", {"name": "sea", "to": ""}, 400, "to is empty; give some text."),
    ("rename", {"name": "sea", "to": " \t\n"}, 400, "to is empty"),
    ("rename", {"name": "sea", "to": None}, 400, "to must be given"),
    ("rename", {"name": "sea", "to": ["x"]}, 400, "to must be given"),
    ("rename", {"name": "sea", "to": "n" * 10_000}, 400, "10,000 characters; give at most 200"),
    ("rename", {"name": "n" * 10_000, "to": "x"}, 400, "10,000 characters"),
    ("rename", {"name": "sea", "to": "a\x07b"}, 400, "characters that cannot be shown"),
    ("rename", {"name": "sea", "to": "a\u202eb"}, 400, "characters that cannot be shown"),
    ("rename", {"name": "sea", "to": "a\u200b"}, 400, "characters that cannot be shown"),
    ("rename", {"name": "sea", "to": "sea"}, 400, "is called 'sea' already"),
    ("rename", {"name": "sea", "to": " sea ", "merge": True}, 400, "is called 'sea' already"),
    ("rename", {"name": "sea", "to": "x", "merge": "yes"}, 400, "must be true or false"),
    ("rename", {"name": "sea", "to": "x", "merge": 1}, 400, "must be true or false"),
    ("rename", {"name": "sea", "to": "x", "rows": [1]}, 400, "no parameter 'rows'"),
    ("rename", {"name": "sea", "to": "Bread"}, 409, "differs from it only in case"),
    ("rename", {"name": "sea", "to": "BREAD", "merge": True}, 409, "under its own name"),
    ("rename", {"name": "Sea", "to": "x"}, 404, "no label 'Sea'; there are 'bread', 'sea'."),
    ("rename", {"name": "", "to": "x"}, 404, "There is no label ''"),
    ("rename", {"name": "sea\x00", "to": "x"}, 404, "There is no label 'sea?'"),
    ("rename", {"name": "%", "to": "x"}, 404, "There is no label '%'"),
    ("rename", {"name": "x' OR '1'='1", "to": "y"}, 404, "There is no label"),
    ("delete", {}, 400, "name must be given"),
    ("delete", {"name": None}, 400, "name must be given"),
    ("delete", {"name": 3}, 400, "name must be given"),
    ("delete", {"name": "x"}, 404, "There is no label 'x'"),
    ("delete", {"name": "sea", "merge": True}, 400, "no parameter 'merge'"),
])  # fmt: skip
def test_a_change_that_makes_no_sense_is_refused_and_changes_nothing(
    post, ask, labelled, path, body, status, said
):
    reply = post(f"/api/labels/{path}", body, status)
    assert list(reply) == ["error"]
    assert said in reply["error"]
    assert len(reply["error"]) < 300
    assert ask("/api/labels") == labelled


def test_half_a_character_is_the_name_of_nothing(client, ask, labelled):
    body = b'{"name": "sea\\ud800", "to": "x"}'
    headers = {**OURS, "Content-Type": "application/json"}
    answer = client.post("/api/labels/rename", content=body, headers=headers)
    assert answer.status_code == 404
    assert "There is no label 'sea?'" in answer.json()["error"]
    assert ask("/api/labels") == labelled


def test_nothing_to_rename_makes_no_file(post, project):
    post("/api/labels/rename", {"name": "a", "to": "b"}, 404)
    said = post("/api/labels/delete", {"name": "a"}, 404)["error"]
    assert said == "There is no label 'a'; no document has one."
    assert not (project / LABELS).exists()


def test_a_server_that_only_reads_changes_no_label(state, post, project, labelled):
    state.owner.close()
    other = ServerState(project)
    try:
        other.must_write()
        for path, body in (("rename", {"name": "sea", "to": "x"}), ("delete", {"name": "sea"})):
            assert "only reads" in post(f"/api/labels/{path}", body, 409)["error"]
    finally:
        other.close()


def test_a_label_that_a_stranger_made_up_can_still_be_renamed(state, post, labelled):
    odd = "bell\x07 and \x00 nothing"
    state.labels.put(keys_of_rows(state.opened.reader, [9]), odd)
    reply = post("/api/labels/rename", {"name": odd, "to": "plain"})
    assert reply["changed"] == 1
    assert reply["rows"]["9"] == "plain"


# --- In Python ---


@pytest.fixture
def opened(project):
    made = Project.open(project)
    made.give_label([0, made.live.id_of(3)], "sea")
    made.give_label([1, 4, 7], "bread")
    return made


def test_a_project_changes_its_labels_from_python(opened):
    before = opened.labels
    assert before == {0: "sea", 1: "bread", 3: "sea", 4: "bread", 7: "bread"}
    assert opened.rename_label("sea", "at sea") == 2
    assert opened.labels[3] == "at sea"
    with pytest.raises(NameTaken, match=r"'bread' is there already \(3 documents\)"):
        opened.rename_label("at sea", "bread")
    assert opened.rename_label("at sea", "bread", merge=True) == 2
    assert set(opened.labels.values()) == {"bread"}
    assert opened.delete_label("bread") == 5
    assert opened.labels == {}
    for left in (5, 5):
        assert opened.undo_labels()
        assert len(opened.labels) == left
    assert opened.undo_labels()
    assert opened.labels == before
    opened.give_label([1, 4], None)
    assert opened.labels == {0: "sea", 3: "sea", 7: "bread"}


@pytest.mark.parametrize(("name", "to", "error", "said"), [
    ("sea", "", ValueError, "to is empty"),
    ("sea", "n" * 10_000, ValueError, "10,000 characters"),
    ("sea", "a\x1bb", ValueError, "cannot be shown"),
    ("sea", "\ud800", ValueError, "cannot be shown"),
    ("sea", "sea", ValueError, "called 'sea' already"),
    ("sea", "BREAD", NameTaken, "only in case"),
    ("sea", None, TypeError, "to must be text, not NoneType"),
    (None, "x", TypeError, "name must be text, not NoneType"),
    ("SEA", "x", NoLabel, "there are 'bread', 'sea'"),
])  # fmt: skip
def test_python_says_what_is_wrong_with_a_name(opened, name, to, error, said):
    before = opened.labels
    with pytest.raises(error, match=said):
        opened.rename_label(name, to)
    assert opened.labels == before


def test_python_keeps_its_hands_off_what_a_server_has(opened, project):
    state = ServerState(project)
    try:
        state.must_write()
        assert opened.labels  # looking is free
        for change in (lambda: opened.delete_label("sea"), opened.undo_labels):
            with pytest.raises(Locked, match=f"process {os.getpid()} .* Change them in its"):
                change()
    finally:
        state.close()
    assert opened.delete_label("sea") == 2


def test_a_folder_that_cannot_be_written_is_named(opened, project):
    (project / "serving").unlink()
    (project / "serving").mkdir()  # nobody can write it, whoever runs this test
    with pytest.raises(PermissionError, match="Labels cannot be changed") as caught:
        opened.delete_label("sea")
    assert caught.value.filename == str(project)


# --- The names ---


def test_the_case_of_a_name_can_be_mended(labels):
    assert labels.rename("Odd", "odd") == 1
    assert labels.names() == {"sea": 3, "bread": 2, "odd": 1}


def test_names_that_look_alike_are_not_made(labels):
    labels.put([key("g")], "caf\u00e9")
    with pytest.raises(NameTaken, match="only in how its letters are coded"):
        labels.rename("sea", "cafe\u0301", merge=True)
    labels.put([key("h")], "SEA")  # two that were there are told apart, to the letter
    assert labels.rename("SEA", "sea", merge=True) == 1


def test_many_names_are_told_of_in_a_short_sentence(labels):
    for i in range(30):
        labels.put([key(f"more {i}")], f"{i} " + "x" * 190)
    with pytest.raises(NoLabel, match=r"and 28 more\.") as caught:
        labels.rename("none", "some")
    assert len(str(caught.value)) < 300


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=250))
def test_a_clean_name_is_clean_and_stays_so(text):
    try:
        name = clean_name(text)
    except ValueError:
        reject()
    assert clean_name(name) == name
    assert name.isprintable()
    assert name == name.strip() != ""


# --- One transaction ---


def test_only_the_last_steps_can_be_taken_back(labels, monkeypatch):
    monkeypatch.setattr("tacit.explore.project.labels.MOST_STEPS", 2)
    labels.rename("sea", "a")
    labels.rename("a", "b")
    labels.rename("b", "c")
    assert labels.steps() == 2
    assert [labels.undo(), labels.undo(), labels.undo()] == [True, True, False]
    assert labels.names()["a"] == 3


CHANGES = {
    "UPDATE": "labels.rename('sea', 'water')",
    "DELETE FROM labels": "labels.remove('sea')",
    "DELETE FROM steps": "labels.rename('sea', 'bread', merge=True)",
    "COMMIT": "labels.rename('sea', 'bread', merge=True)",
}
KILLED = """
import os, signal, sys
from pathlib import Path
from tacit.explore.project.labels import Labels
labels = Labels(Path(sys.argv[1]))
db = labels._open()
db.execute("PRAGMA cache_size = 2")  # so that pages are on the disk before the end
def die(statement):
    if statement.startswith(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
db.set_trace_callback(die)
"""


@pytest.mark.parametrize("moment", CHANGES)
def test_a_kill_between_the_steps_leaves_everything_as_it_was(labels, moment):
    labels.put([key(f"sea {i}") for i in range(400)], "sea")
    before, steps = labels.all(), labels.steps()
    labels.close()
    written = labels.path.read_bytes()
    code = KILLED + CHANGES[moment]
    done = subprocess.run([sys.executable, "-c", code, str(labels.path), moment], timeout=60)
    assert done.returncode == -signal.SIGKILL
    journal = labels.path.with_name(LABELS + "-journal")
    assert journal.stat().st_size > 0  # it was in the middle
    assert labels.path.read_bytes() != written
    again = Labels(labels.path)
    assert again.all() == before
    assert again.steps() == steps
    assert again.rename("sea", "water") == 403
    again.close()


def test_a_fault_between_the_steps_leaves_everything_as_it_was(labels, monkeypatch):
    before = labels.all()

    def fail(*_):
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr("tacit.explore.project.labels.forget_before", fail)
    for change in (lambda: labels.rename("sea", "x"), lambda: labels.remove("sea")):
        with pytest.raises(OSError, match="No space left"):
            change()
        assert labels.all() == before
        assert labels.steps() == 3


@settings(max_examples=8, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["a", "b", "c", None])),
                max_size=6))  # fmt: skip
def test_undo_goes_all_the_way_back_through_any_changes(tmp_path_factory, changes):
    labels = Labels(tmp_path_factory.mktemp("labels") / LABELS)
    for i, name in enumerate("aabbbc"):
        labels.put([key(f"{i}")], name)
    states = [labels.all()]
    for name, to in changes:
        try:
            counted = labels.names().get(name)
            done = labels.remove(name) if to is None else labels.rename(name, to, merge=True)
        except ValueError:
            assert labels.all() == states[-1]
        else:
            assert done == counted
            states.append(labels.all())
    for state in reversed(states[:-1]):
        assert labels.undo()
        assert labels.all() == state
    labels.close()
