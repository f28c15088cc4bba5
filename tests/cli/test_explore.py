"""``tacit explore``: the summary, the report, and every way it can end."""

import gzip
import io
import json
import re
import sys

import pytest

from tacit.cli.explore import StageDisplay
from tacit.core.progress import Step
from tacit.explore.project.folder import ProjectFolder
from tacit.explore.project.pipeline import StageEvent
from tests.explore.test_pipeline import letters


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder to work in, with a file of letters, one a line."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "letters.txt").write_text("\n".join(letters(60)[0]) + "\n")
    return tmp_path


def test_it_says_what_was_found_and_where_the_report_is(here, tacit):
    run = tacit("explore", "letters.txt", "--quick")
    assert run.code == 0
    assert "60 documents in 3 groups: 3 firm." in run.out
    assert run.out.endswith("Report: letters.tacit/report.html\n")
    assert "letters.txt: 60 documents." in run.err
    assert "14/14  Following time" in run.err
    assert (here / "letters.tacit" / "report.html").stat().st_size > 50_000
    again = tacit("explore", "letters.txt", "--quick")
    assert again.out == run.out
    assert again.err.count("unchanged") == 14


def test_json_is_one_document_with_everything(here, tacit):
    run = tacit("explore", "letters.txt", "--quick", "--json", "-q", "--k", 4, "--out", "p")
    assert run.err == ""
    result = json.loads(run.out)
    assert (result["k"], result["k_recommended"], result["documents"]) == (4, 3, 60)
    assert result["settings"] == {
        "effort": "quick", "k": 4, "seed": 0, "clean": True, "topics": None,
    }  # fmt: skip
    assert result["report"] == "p/report.html"
    assert sum(group["size"] for group in result["groups"]) == 60
    assert result["skipped"] == {}


def test_columns_and_standard_input(here, tacit):
    rows = "\n".join(f'{{"body": "{text}", "n": {i}}}' for i, text in enumerate(letters(9)[0]))
    run = tacit("explore", "-", "--text", "body", "--format", "jsonl", "--quick", "-q",
                stdin=rows.encode())  # fmt: skip
    assert run.code == 0
    assert run.out.startswith("9 documents. Groups need 31 documents")
    assert (here / "documents.tacit" / "report.html").exists()


def test_more_groups_than_documents_are_lowered_and_said(here, tacit):
    run = tacit("explore", "letters.txt", "--quick", "--k", 500)
    assert run.code == 0
    assert "-k 500 is more than these documents allow: 48 groups." in run.err


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["nosuch.txt"], 4, "There is no file or folder"),
        (["empty.txt", "--quick"], 4, "there are no documents in it"),
        (["letters.txt", "--k", "none"], 2, "neither auto nor a number"),
        (["letters.txt", "--k", "0"], 2, "neither auto nor a number"),
        ([], 2, "Give either a PATH"),
        (["letters.txt", "--docs"], 2, "Give either a PATH"),
        (["letters.txt", "--out", "other"], 4, "holds other files"),
        (["letters.txt", "--engine", "steam"], 2, "neither serial nor threads"),
    ],
)
def test_what_goes_wrong_has_a_code_and_a_sentence(here, tacit, arguments, code, said):
    (here / "empty.txt").write_text("")
    (here / "other").mkdir()
    (here / "other" / "thing").write_text("mine")
    run = tacit("explore", *arguments)
    assert run.code == code
    assert said in run.err


def test_a_second_writer_is_told_who_holds_the_project(here, tacit):
    with ProjectFolder("letters.tacit").writing():
        run = tacit("explore", "letters.txt", "--quick")
    assert run.code == 5
    assert "is being written by process" in run.err


def test_a_truncated_file_is_explored_as_far_as_it_goes(here, tacit):
    packed = gzip.compress("\n".join(letters(60)[0]).encode())
    (here / "half.txt.gz").write_bytes(packed[: len(packed) // 2])
    run = tacit("explore", "half.txt.gz", "--quick")
    assert run.code == 3
    assert (here / "half.tacit" / "report.html").exists()
    assert "Some of the input is missing" in (here / "half.tacit" / "report.html").read_text()
    assert tacit("explore", "half.txt.gz", "--quick", "--allow-partial").code == 0


def test_escapes_in_documents_do_not_reach_the_terminal(here, tacit):
    texts = [f"\x1b[31m{text} \x1b]0;title\x07" for text in letters(60)[0]]
    (here / "bad.txt").write_text("\n".join(texts))
    run = tacit("explore", "bad.txt", "--quick")
    assert run.code == 0
    assert "\x1b" not in run.out + run.err


def test_the_plan_comes_first_and_can_be_all(here, tacit):
    run = tacit("explore", "letters.txt", "--quick", "--plan")
    assert run.code == 0
    assert run.out.startswith("Plan: 60 documents, ")
    assert "14 stages to run" in run.out
    assert "Writing the report" in run.out
    assert not (here / "letters.tacit").exists()
    result = json.loads(tacit("explore", "letters.txt", "--plan", "--thorough", "--json").out)
    assert (result["documents"], result["settings"]["effort"]) == (60, "thorough")
    run = tacit("explore", "letters.txt", "--quick")
    plan = run.err.index("60 documents, 22.3 kB of text. 14 stages to run.")
    assert plan < run.err.index("1/14  Reading documents")
    assert "14 kept as they are" in tacit("explore", "letters.txt", "--quick", "--plan").out
    assert tacit("explore", "letters.txt", "--quick", "-q").err == ""


def test_some_stages_and_little_memory(here, tacit):
    run = tacit("explore", "letters.txt", "--quick", "--stages", "counts, reading")
    assert run.code == 0
    assert "4/4  Measuring how documents read" in run.err
    assert "4 stages to run." in run.err
    assert run.out.startswith("60 documents. Finding groups was left out")
    assert 'id="map"' not in (here / "letters.tacit" / "report.html").read_text()
    run = tacit("explore", "letters.txt", "--stages", " , ")
    assert (run.code, "does not name a stage" in run.err) == (2, True)
    run = tacit("explore", "letters.txt", "--stages", "counts,clusters")
    assert run.code == 2
    assert "There is no stage 'clusters'. Choose from duplicates, counts" in run.err
    run = tacit("explore", "letters.txt", "--memory", "10MB", "--out", "p.tacit")
    assert run.code == 2
    said = r"needs about \d+ MB of memory, and 10.0 MB is allowed. Allow \d+ MB"
    assert re.search(said, run.err)
    assert not (here / "p.tacit").exists()
    assert tacit("explore", "letters.txt", "--memory", "much").code == 2


class Screen(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_sees_a_bar_and_a_line_for_every_stage(monkeypatch):
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    event = StageEvent("map", "Drawing the map", 5, 9, None, False)
    with StageDisplay(expected={"map": 30.0, "groups": 100.0}) as display:
        assert display.estimate(event) == "of about 30 s, then about 2 min more"
        assert display.estimate(event._replace(name="words")) == ""
        display.on_event(event)
        display.on_step(Step("NeighborMap", 3, 10, [], None))
        display.on_event(event._replace(seconds=1.5))
        display.on_event(event._replace(seconds=0.0, reused=True))
    assert re.search(r"5/9  Drawing the map +1.5 s", screen.getvalue())
    assert "unchanged" in screen.getvalue()
    with StageDisplay(quiet=True) as quiet:
        before = screen.getvalue()
        quiet.on_event(event._replace(seconds=1.5))
    assert screen.getvalue() == before
