"""Jobs keep to the stages and the memory that a project was explored with."""

import io
import json

import pytest

from tacit.core import Serial
from tacit.explore import explore_documents
from tacit.explore.project.folder import ProjectFolder
from tacit.explore.project.pipeline import STAGES
from tacit.explore.project.plan import closure, recorded_choice
from tacit.explore.server import job_child
from tests.explore.corpora import letters
from tests.explore.test_plan import cost_memory

NONE = {"stages": None, "memory": None}
MEMORY = 10**9
ALL = {stage.name for stage in STAGES} | {"ingest"}


@pytest.fixture
def explore(tmp_path):
    """Explore a few letters; the folder."""

    def run(**options):
        explore_documents(letters(60)[0], out=tmp_path / "p.tacit", effort="quick",
                          engine=Serial(), **options)  # fmt: skip
        return tmp_path / "p.tacit"

    return run


def job(path, kind="explore", **request):
    """Do a job as its child would; the record after it."""
    report = job_child.Reporter(io.StringIO())
    job_child.KINDS[kind]({"project": str(path), "kind": kind, **request}, report)
    return ProjectFolder(path).record


def made(record):
    return set(record["stages"]) - {"index", "language"}


@pytest.fixture
def heavy_map(monkeypatch):
    """Drawing the map takes more than MEMORY, unless it is drawn quickly."""
    cost_memory(monkeypatch, "map", quick=MEMORY / 2, more=2 * MEMORY)


# --- What is on record ---


def test_the_record_tells_what_was_asked_for(explore):
    path = explore(stages=iter(["counts", "reading"]), memory=8 * 10**9)
    asked = ProjectFolder(path).record["asked"]
    assert asked == {"stages": ["counts", "reading"], "memory": 8 * 10**9}
    assert ProjectFolder(explore()).record["asked"] == NONE  # the last run counts


@pytest.mark.parametrize("asked", [
    None, 3, [], {"stages": "map"}, {"stages": ["shell"]}, {"stages": [["map"]]},
    {"stages": [None]}, {"memory": "4GB"}, {"memory": 0}, {"memory": -1}, {"memory": True},
    {"memory": 1.5}, {"stages": {"map": 1}},
])  # fmt: skip
def test_a_record_that_makes_no_sense_tells_nothing(asked):
    assert recorded_choice({"asked": asked}) is None
    assert recorded_choice({}) is None


# --- Jobs ---


def test_a_job_runs_the_stages_that_the_project_was_made_with(explore):
    path = explore(stages=["groups"])
    record = job(path, k=2)
    assert made(record) == closure(["groups"]) | {"ingest"}
    assert record["settings"]["k"] == 2
    assert record["asked"] == {"stages": ["groups"], "memory": None}
    assert "not asked for by --stages" in record["left_out"]["duplicates"]


def test_stages_that_were_only_kept_are_not_made_anew(explore):
    explore()
    path = explore(stages=["counts"])  # all is there and up to date
    assert ProjectFolder(path).record["left_out"] == {}
    record = job(path, effort="normal")
    assert not made(record) & {"meaning", "map", "groups"}
    assert {"counts", "duplicates", "reading"} <= made(record)  # no effort changes these


def test_a_job_stays_within_the_memory_that_the_project_was_made_with(explore, heavy_map):
    path = explore(stages=["map"], memory=MEMORY)
    assert ProjectFolder(path).record["efforts"] == {}  # it was quick anyway
    record = job(path, effort="thorough")
    assert record["settings"]["effort"] == "thorough"
    assert record["efforts"] == {"map": "quick"}
    assert record["asked"] == {"stages": ["map"], "memory": MEMORY}
    assert "map: quick, to stay within the memory" in (path / "report.html").read_text()
    ProjectFolder(path).check()


def test_a_request_has_its_own_choices_and_they_stay(explore, heavy_map):
    path = explore(stages=["map"], memory=MEMORY)
    record = job(path, effort="normal", memory=None)
    assert record["efforts"] == {}
    assert record["asked"] == {"stages": ["map"], "memory": None}
    record = job(path, stages=["reading"], memory=MEMORY)
    assert {"reading", "language_guess"} <= made(record)
    assert record["asked"] == {"stages": ["reading"], "memory": MEMORY}
    record = job(path, stages=None, memory=None)
    assert made(record) == ALL
    assert record["asked"] == NONE
    assert record["left_out"] == {}


def test_a_limit_below_everything_ends_the_job_before_any_work(explore):
    path = explore(stages=["counts"])
    before = (path / "project.json").read_bytes()
    with pytest.raises(ValueError, match=r"1\.0 MB is allowed"):
        job(path, effort="thorough", stages=["map"], memory=10**6)
    assert (path / "project.json").read_bytes() == before


def test_a_run_that_was_cut_off_is_finished_as_it_was_begun(explore, heavy_map):
    path = explore(stages=["map"], memory=MEMORY)
    folder = ProjectFolder(path)
    with folder.writing():
        folder.record["unfinished"] = True
        folder.commit(settings={"seed": 0, "k": None, "effort": "thorough"})
    record = job(path, "prepare")
    assert record["efforts"] == {"map": "quick"}
    assert made(record) == closure(["map"]) | {"ingest"}
    assert "unfinished" not in record


@pytest.mark.parametrize("asked", ["missing", {"stages": ["shell"], "memory": "all"}])
def test_a_project_without_such_a_record_leaves_out_what_it_left_out(explore, asked):
    path = explore(stages=["groups"])
    record = json.loads((path / "project.json").read_text())
    record["asked"] = asked
    if asked == "missing":
        del record["asked"]
    (path / "project.json").write_text(json.dumps(record))
    assert made(job(path, k=2)) == closure(["groups"]) | {"ingest"}


# --- Requests ---


@pytest.mark.parametrize(("body", "said"), [
    ({"kind": "explore", "stages": ["map", "shell"]}, "There is no stage 'shell'"),
    ({"kind": "explore", "stages": "map"}, "stages must be a list of names."),
    ({"kind": "explore", "stages": [1]}, "stages must be a list of names."),
    ({"kind": "explore", "stages": ["n" * 10_000]}, "stages must be a list of names."),
    ({"kind": "explore", "memory": "4GB"}, "memory='4GB' must be a whole number"),
    ({"kind": "explore", "memory": 0}, "memory='0' must be a whole number from 1"),
    ({"kind": "explore", "memory": 1.5}, "whole number"),
    ({"kind": "explore", "k": 2, "stages": ["map"]}, "the stages are map. Give stages with"),
    ({"kind": "explore", "k": 2, "stages": []}, "the stages are none."),
    ({"kind": "spread", "memory": 10**9}, "takes no k, effort, stages or memory"),
    ({"kind": "prepare", "stages": None}, "takes no k, effort, stages or memory"),
])  # fmt: skip
def test_limits_that_make_no_sense_are_refused(post, ask, body, said):
    assert said in post("/api/jobs", body, 400)["error"]
    assert ask("/api/jobs") == []


def test_a_number_of_groups_is_refused_where_none_are_found(post, project, state):
    folder = ProjectFolder(project)
    with folder.writing():
        folder.commit(asked={"stages": ["map"], "memory": None})
    said = post("/api/jobs", {"kind": "explore", "k": 2}, 400)["error"]
    assert said == ("k=2 is for finding groups, and the stages are map. Give stages with "
                    "groups among them, or null for all.")  # fmt: skip


def test_a_request_reaches_the_child_as_it_was_made(post, state, monkeypatch):
    started = []

    def start(kind, asked, more, record):
        started.append((kind, asked))
        return type("Job", (), {"id": "1"})

    monkeypatch.setattr(state.jobs, "start", start)
    post("/api/jobs", {"kind": "explore", "k": 2})
    post("/api/jobs", {"kind": "explore", "stages": None, "memory": None})
    post("/api/jobs", {"kind": "explore", "stages": ["groups"], "memory": 10**9, "k": 3})
    assert started == [
        ("explore", {"k": 2}),
        ("explore", {"stages": None, "memory": None}),
        ("explore", {"k": 3, "stages": ["groups"], "memory": 10**9}),
    ]
