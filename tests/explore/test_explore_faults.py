"""What goes wrong around a run: full disk, no permission, Ctrl-C, a second process, damage."""

import contextlib
import errno
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tacit.cli.main import main
from tacit.explore.project import pipeline
from tacit.explore.project.folder import ProjectFolder
from tests.explore.test_pipeline import letters

OPTIONS = ("--quick", "--engine", "serial", "--out", "project")
PROGRAM = """
import signal, sys
from tacit.cli.main import main
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have turned it off
sys.exit(main())  # as the command itself is run
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder to work in, with a file of letters, one a line."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "letters.txt").write_text("\n".join(letters(40)[0]) + "\n")
    return tmp_path


@pytest.fixture
def explored_here(here, shared):
    """The folder after the letters were explored: once for all tests."""

    def make(path):
        path.mkdir()
        shutil.copy2(here / "letters.txt", path)
        with contextlib.chdir(path):
            assert main(["explore", "letters.txt", *OPTIONS]) == 0

    return shutil.copytree(shared("explored-letters", make), here, dirs_exist_ok=True)


def start(*arguments, **settings):
    """The command in a process of its own."""
    command = [sys.executable, "-c", PROGRAM, *arguments]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **settings
    )


def leftovers(project):
    return [path for path in project.rglob("*") if path.name.endswith(".tmp")]


# --- No space, no permission ---


@pytest.mark.parametrize("limit", [300, 3_000, 30_000, 100_000])
def test_a_full_disk_keeps_what_was_done_and_leaves_nothing_half_written(here, limit, capsys):
    # A limit on the size of files is a disk that is full for the larger ones.
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        code = main(["explore", "letters.txt", *OPTIONS])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert code == 6
    err = capsys.readouterr().err
    assert "File too large. Free some space, or write somewhere else." in err
    assert "project" in err.splitlines()[-1]
    assert leftovers(here / "project") == []
    folder = ProjectFolder("project")
    folder.check()
    kept = len(folder.record["stages"])
    assert main(["explore", "letters.txt", *OPTIONS]) == 0
    assert capsys.readouterr().err.count("unchanged") == kept


@pytest.mark.parametrize("call", ["fsync", "replace", "mkdir"])
@pytest.mark.parametrize("fault", [errno.ENOSPC, errno.EROFS])
def test_a_disk_that_fails_later_on_keeps_what_was_there(
    explored_here, capsys, monkeypatch, call, fault
):
    project = explored_here / "project"
    before = (project / "project.json").read_bytes()
    capsys.readouterr()

    def fail(*_, **__):
        raise OSError(fault, os.strerror(fault))

    with monkeypatch.context() as patch:
        patch.setattr(os, call, fail)
        code = main(["explore", "letters.txt", *OPTIONS, "--seed", "7"])
    assert code == 6
    assert os.strerror(fault) in capsys.readouterr().err
    assert leftovers(project) == []
    assert (project / "project.json").read_bytes() == before or call == "mkdir"
    ProjectFolder("project").check()


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_what_may_not_be_read_or_written_is_named(here, capsys):
    (here / "secret.txt").write_text("words")
    (here / "secret.txt").chmod(0)
    assert main(["explore", "secret.txt", *OPTIONS]) == 6
    assert "secret.txt: Permission denied" in capsys.readouterr().err
    (here / "shut").mkdir(mode=0o500)
    assert main(["explore", "letters.txt", "--out", "shut/project"]) == 6
    assert "shut/project: Permission denied. Change the permissions" in capsys.readouterr().err


# --- Ctrl-C ---


@pytest.mark.parametrize("engine", ["serial", "threads"])
def test_ctrl_c_keeps_the_stages_that_were_done(here, engine, capsys):
    (here / "many.txt").write_text("\n".join(letters(500)[0]) + "\n")
    command = ["explore", "many.txt", "--out", "project", "--thorough", "--engine", engine]
    child = start(*command)
    record = here / "project" / "project.json"
    while child.poll() is None:
        if record.exists() and len(json.loads(record.read_text())["stages"]) > 2:
            break
        time.sleep(0.005)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=60)
    assert child.returncode == 130
    assert err.endswith("Interrupted.\n")
    assert "Traceback" not in err
    assert leftovers(here / "project") == []
    folder = ProjectFolder("project")
    folder.check()
    kept = len(folder.record["stages"])
    assert 2 < kept <= len(pipeline.STAGES)
    with folder.writing():  # nobody holds it any more
        pass
    assert main([*command, "--plan"]) == 0
    assert f"{kept} kept as they are" in capsys.readouterr().out


def test_ctrl_c_at_the_beginning_of_a_stage_leaves_no_temporary_folder(here, monkeypatch):
    def interrupt(path):
        raise KeyboardInterrupt

    project = ProjectFolder("project")
    with project.writing():
        monkeypatch.setattr("tacit.explore.project.folder.note", interrupt)
        with pytest.raises(KeyboardInterrupt):
            project.keep("counts", "key", lambda home: None)
    assert leftovers(here / "project") == []


# --- Two processes ---

HOLD = """
import sys
from tacit.explore.project.folder import ProjectFolder
with ProjectFolder("project").writing():
    print("held", flush=True)
    sys.stdin.read()
"""


def test_the_second_of_two_processes_is_told_who_holds_the_project(here, capsys):
    command = [sys.executable, "-c", HOLD]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout.readline() == "held\n"
        code = main(["explore", "letters.txt", *OPTIONS])
        holder.stdin.close()
    said = capsys.readouterr().err
    assert code == 5
    assert f"project is being written by process {holder.pid} on " in said
    assert "Wait for it, or stop it." in said
    assert main(["explore", "letters.txt", *OPTIONS]) == 0


# --- Damage ---


@pytest.mark.filterwarnings("default:.*computed again")
@pytest.mark.parametrize("how", ["flipped", "truncated", "gone"])
def test_damage_is_said_with_the_file_and_made_good(explored_here, how, capsys):
    report = explored_here / "project" / "report.html"
    page = report.read_text()
    path = next(Path("project", "stages").glob("groups-*/arrays.safetensors"))
    data = bytearray(path.read_bytes())
    if how == "flipped":
        data[-3] ^= 16
    path.write_bytes(data if how == "flipped" else data[:-9])
    if how == "gone":
        path.unlink()
    capsys.readouterr()
    assert main(["explore", "letters.txt", *OPTIONS]) == 0
    said = capsys.readouterr().err
    wrong = {"flipped": "is damaged: its checksum does not match", "gone": "is missing",
             "truncated": f"has {len(data) - 9:,} bytes instead of {len(data):,}"}  # fmt: skip
    assert f"Warning: {path}: {wrong[how]}" in said
    assert "It is computed again." in said
    assert result_of(report.read_text()) == result_of(page)


def result_of(page):
    """The hash that a report gives of what was found."""
    return page.split('class="mono" title="', 1)[1][:64]


def test_a_record_that_is_damaged_is_named(explored_here, capsys):
    record = explored_here / "project" / "project.json"
    record.write_bytes(record.read_bytes()[:-40])
    capsys.readouterr()
    assert main(["explore", "letters.txt", *OPTIONS]) == 4
    said = capsys.readouterr().err
    assert "project/project.json: is damaged: " in said
    assert "another folder (--out)" in said
