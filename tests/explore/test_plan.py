"""The plan: what will run, what it costs, and what a limit on memory changes."""

import json
import re

import pytest

from tacit.core import Serial, Threads
from tacit.data import Documents
from tacit.explore import explore_documents, plan_documents
from tacit.explore.project import plan as plan_module
from tacit.explore.project.folder import ProjectFolder
from tacit.explore.project.pipeline import STAGES, result_hash, run_stages
from tacit.explore.project.plan import Pace, Plan, closure, make_plan
from tacit.explore.project.settings import EFFORTS, Settings
from tests.explore.corpora import letters, table
from tests.explore.test_pipeline import QUICK

NAMES = [stage.name for stage in STAGES]


def plan_of(texts, settings=QUICK, folder=None, **options):
    return make_plan(folder, Documents.of(texts), settings, **options)


def cost_memory(monkeypatch, name, *, quick, more):
    """Let a stage need these amounts of memory, quickly done or not."""
    before = plan_module.stage_memory

    def stage_memory(stage, documents, text_bytes, effort):
        if stage == name:
            return quick if effort == "quick" else more
        return before(stage, documents, text_bytes, effort)

    monkeypatch.setattr(plan_module, "stage_memory", stage_memory)


def does(plan: Plan):
    return {stage.name: stage.does for stage in plan.stages}


def test_every_stage_has_a_cost_and_is_in_the_plan():
    plan = plan_of(letters(40)[0])
    assert [stage.name for stage in plan.stages] == ["ingest", *NAMES, "report"]
    assert set(does(plan).values()) == {"run"}
    assert plan.documents == 40
    assert plan.bytes == sum(len(text) for text in letters(40)[0])
    assert plan.seconds > 0
    assert plan.memory >= 10**8


def test_more_documents_and_more_effort_cost_more():
    few, many = ["a ship"] * 100, ["a ship at sea"] * 20_000
    assert plan_of(many).seconds > plan_of(few).seconds
    assert plan_of(many).memory > plan_of(few).memory
    by_effort = [plan_of(many, Settings(effort=effort)).seconds for effort in EFFORTS]
    assert by_effort == sorted(by_effort)
    assert by_effort[0] < by_effort[2]
    one, four = (plan_of(many, engine=each).seconds for each in (Serial(), Threads(4)))
    assert four < one


def test_the_plan_says_what_is_kept(tmp_path):
    texts, folder = letters(40)[0], ProjectFolder(tmp_path)
    with folder.writing():
        run_stages(folder, Documents.of(texts), QUICK, engine=Serial())
    again = plan_of(texts, folder=ProjectFolder(tmp_path))
    assert {name for name, what in does(again).items() if what == "run"} == {"report"}
    assert "14 kept as they are" in str(again)
    other = plan_of(texts, Settings(effort="quick", k=4), ProjectFolder(tmp_path))
    assert {name for name, what in does(other).items() if what == "run"} == {"groups", "report"}
    changed = plan_of([*texts, "one more"], folder=ProjectFolder(tmp_path))
    assert set(does(changed).values()) == {"run"}


def test_a_plan_uses_the_rates_of_the_last_run(tmp_path):
    texts, folder = letters(40)[0], ProjectFolder(tmp_path)
    with folder.writing():
        run_stages(folder, Documents.of(texts), QUICK, engine=Serial())
        folder.time("map", 100.0)
    again = plan_of([*texts, *texts], folder=ProjectFolder(tmp_path))
    stages = {stage.name: stage for stage in again.stages}
    assert stages["map"].seconds == pytest.approx(200.0)
    assert stages["map"].measured
    assert re.search(r"Drawing the map +about 3 min", str(again))
    assert again.planned()["map"] == stages["map"].seconds
    slower = plan_of(texts, Settings(effort="normal"), ProjectFolder(tmp_path))
    assert slower.planned()["map"] > 100
    assert not any(stage.measured for stage in plan_of(texts).stages)


def test_the_time_left_follows_the_stages_that_have_ended():
    pace = Pace({"ingest": 1.0, "counts": 9.0, "map": 30.0, "report": 10.0})
    pace.ended("ingest", 3.0)
    early = pace.left()
    pace.ended("counts", 27.0)
    assert 40.0 < early < pace.left() < 120.0  # three times slower, known better and better
    assert pace.expected("map") == pytest.approx(0.75 * pace.left())
    assert pace.left(without="map") == pytest.approx(0.25 * pace.left())
    pace.ended("unplanned", 99.0)
    pace.ended("map", 90.0)
    pace.ended("report", 30.0)
    assert pace.left() == 0
    assert Pace({}).left() == 0
    assert set(plan_of(letters(40)[0]).planned()) >= {"ingest", "map", "report"}


def test_stages_asked_for_bring_what_they_need():
    assert closure(["outliers"]) == {
        "counts", "meaning", "map", "language_guess", "outliers",
    }  # fmt: skip
    assert closure(["reading"]) == {"counts", "language_guess", "reading"}
    assert closure(["groups"]) == {"counts", "meaning", "groups", "map"}
    assert closure(["ingest"]) == set()
    with pytest.raises(ValueError, match=r"no stage 'clusters'\. Choose from duplicates"):
        closure(["counts", "clusters"])


@pytest.mark.parametrize(
    "stages", [["duplicates"], ["counts"], ["map"], ["groups"], ["time"], []]
)
def test_a_part_of_the_stages_makes_a_report_of_its_own(tmp_path, stages):
    made = explore_documents(table(*letters(60)), out=tmp_path / "p.tacit", effort="quick",
                             engine=Serial(), stages=stages)  # fmt: skip
    there = set(made._folder.record["stages"])
    assert there == closure(stages) | {"ingest"}
    page = (made.path / "report.html").read_text()
    assert ('id="groups"' in page) == ("groups" in stages)
    assert ('id="map"' in page) == bool({"map", "groups"} & set(stages))
    assert ('id="oddities"' in page) == ("duplicates" in stages)
    assert "not asked for by --stages" in page
    assert len(made.document_columns()["id"]) == 60
    assert made.summary["skipped"]
    assert str(made)


def test_what_was_left_out_runs_later_and_the_result_is_whole(tmp_path):
    texts = letters(60)[0]
    part = explore_documents(texts, out=tmp_path / "p.tacit", effort="quick", engine=Serial(),
                             stages=["counts"])  # fmt: skip
    whole = explore_documents(texts, out=tmp_path / "p.tacit", effort="quick", engine=Serial())
    fresh = explore_documents(texts, out=tmp_path / "q.tacit", effort="quick", engine=Serial())
    assert part.summary["result"] != whole.summary["result"]
    assert whole.summary["result"] == fresh.summary["result"]
    kept = explore_documents(texts, out=tmp_path / "p.tacit", effort="quick", engine=Serial(),
                             stages=["counts"])  # fmt: skip
    assert kept.summary["result"] == whole.summary["result"]  # what is up to date stays
    assert kept.summary["skipped"] == whole.summary["skipped"]


def test_a_limit_lowers_the_effort_of_a_stage_before_it_leaves_it_out():
    texts = ["the ship and the sea and the whale " * 40] * 4000
    free = plan_of(texts, Settings(effort="thorough"))
    need = {stage.name: stage.bytes for stage in free.stages}
    most = max((n for n in NAMES if n != "counts"), key=lambda name: need[name])
    tight = plan_of(texts, Settings(effort="thorough"), memory=int(need[most] * 0.98))
    stage = next(stage for stage in tight.stages if stage.name == most)
    assert stage.effort != "thorough" or stage.does == "leave out"
    assert "it needs about" in stage.why
    assert tight.choice.efforts.get(most) == stage.effort or most in tight.choice.left_out
    assert tight.memory <= need[most]


def test_a_limit_below_everything_is_refused_before_any_work(tmp_path):
    with pytest.raises(ValueError, match=r"of memory, and 1\.0 MB is allowed\. Allow"):
        explore_documents(letters(40)[0], out=tmp_path / "p.tacit", memory=10**6)
    assert not (tmp_path / "p.tacit" / "project.json").exists()


def test_stages_that_need_what_is_left_out_are_left_out_too(monkeypatch):
    cost_memory(monkeypatch, "meaning", quick=9.1e9, more=9.1e9)
    plan = plan_of(letters(40)[0], memory=2 * 10**9)
    left = {name for name, what in does(plan).items() if what == "leave out"}
    assert left == {"meaning", "map", "groups", "what_if", "words", "outliers"}
    reasons = {stage.name: stage.why for stage in plan.stages}
    assert reasons["meaning"] == "it needs about 9.1 GB, and --memory allows 2.0 GB"
    assert reasons["map"] == "it needs 'meaning', which is left out"
    said = "Finding directions of meaning was left out: it needs about 9.1 GB, and --memory"
    assert plan.choice.left_out["meaning"].startswith(said)
    with pytest.raises(
        ValueError, match=r"needs about 9\.1 GB of memory, and 2\.0 GB is allowed"
    ):
        plan_of(letters(40)[0], memory=2 * 10**9, stages=["map"])


def test_less_effort_gives_what_that_effort_gives(tmp_path, monkeypatch):
    """A stage that makes less of an effort finds what it finds with --quick, and says so."""
    cost_memory(monkeypatch, "map", quick=2e8, more=1e10)
    texts = letters(60)[0]
    made = explore_documents(texts, out=tmp_path / "a.tacit", engine=Serial(),
                             stages=["map"], memory=10**9)  # fmt: skip
    assert made._folder.record["efforts"] == {"map": "quick"}
    page = (made.path / "report.html").read_text()
    assert "map: quick, to stay within the memory" in page
    again = plan_documents(texts, out=tmp_path / "a.tacit", stages=["map"], memory=10**9)
    assert {stage.name for stage in again.stages if stage.does == "run"} == {"report"}


def test_a_plan_is_plain_json_and_writes_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "letters.txt").write_text("\n".join(letters(40)[0]))
    plan = plan_documents("letters.txt", effort="thorough", stages=["map", "reading"])
    found = json.loads(json.dumps(plan.to_dict()))
    assert found["settings"]["effort"] == "thorough"
    assert {s["name"] for s in found["stages"] if s["does"] == "run"} == {
        "ingest", "counts", "meaning", "map", "language_guess", "reading", "report",
    }  # fmt: skip
    assert [path.name for path in tmp_path.iterdir()] == ["letters.txt"]


def test_nothing_at_all_has_a_plan():
    plan = plan_of([])
    assert (plan.documents, plan.bytes) == (0, 0)
    assert plan.lines()[0].startswith("Plan: 0 documents, 0 bytes of text.")


def test_a_plan_changes_no_result(tmp_path):
    texts, a, b = letters(40)[0], ProjectFolder(tmp_path / "a"), ProjectFolder(tmp_path / "b")
    plan = plan_of(texts, folder=b)
    with a.writing():
        run_stages(a, Documents.of(texts), QUICK, engine=Serial())
    with b.writing():
        run_stages(b, Documents.of(texts), QUICK, engine=Threads(2), choice=plan.choice)
    assert result_hash(a) == result_hash(b)
