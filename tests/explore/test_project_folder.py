"""The project folder: commits, kills, locks, damage."""

import json
import os
import signal
import subprocess
import sys

import pytest

from tacit.core import DataError, Locked
from tacit.explore.project import folder as module
from tacit.explore.project.folder import ProjectFolder, folder_for, key_of

KEY = "ab" * 32


def text(content):
    def write(path):
        (path / "found.txt").write_text(content)

    return write


@pytest.fixture
def folder(tmp_path):
    project = ProjectFolder(tmp_path / "project")
    with project.writing():
        project.keep("counts", KEY, text("one"))
    return project


def test_what_was_kept_is_there_when_the_folder_is_opened_again(folder):
    again = ProjectFolder(folder.path)
    assert again.has("counts", KEY)
    assert not again.has("counts", "cd" * 32)
    assert (again.output("counts") / "found.txt").read_text() == "one"
    again.check()


def test_a_new_key_replaces_the_old_output_and_the_old_one_is_swept(folder):
    other = "cd" * 32
    with folder.writing():
        folder.keep("counts", other, text("two"))
    assert len(list((folder.path / "stages").iterdir())) == 2
    with folder.writing():
        pass
    assert [p.name for p in (folder.path / "stages").iterdir()] == [f"counts-{other[:16]}"]


def test_a_stage_that_fails_leaves_nothing_behind(folder):
    def broken(path):
        (path / "half.txt").write_text("half")
        raise RuntimeError("no")

    with pytest.raises(RuntimeError), folder.writing():
        folder.keep("counts", "cd" * 32, broken)
    assert ProjectFolder(folder.path).has("counts", KEY)
    assert len(list((folder.path / "stages").iterdir())) == 1


def test_the_second_writer_is_told_who_holds_the_folder(folder):
    second = ProjectFolder(folder.path)
    held = pytest.raises(Locked, match=f"process {os.getpid()} on")
    with folder.writing(), held, second.writing():
        pass
    with ProjectFolder(folder.path).writing():
        pass


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda p: p.write_text("two"), "checksum"),
        (lambda p: p.write_text("longer"), "6 bytes instead of 3"),
        (lambda p: p.unlink(), "missing"),
    ],
)
def test_damage_is_named_with_its_file(folder, damage, message):
    damage(folder.output("counts") / "found.txt")
    with pytest.raises(DataError, match=message) as caught:
        folder.check()
    assert "found.txt" in str(caught.value)
    assert folder.has("counts", KEY) == (message == "checksum")  # sizes are looked at always


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ("{", "damaged"),
        ("[]", "no JSON object"),
        ("{}", "no format"),
        ('{"format": 99, "stages": {}}', "format 99"),
        ('{"format": 1}', "object is missing"),
        ('{"format": 1, "stages": {"a": {"key": "../x", "files": {}}}}', "no sense"),
        ('{"format": 1, "stages": {"a/../b": {"key": "x", "files": {}}}}', "no sense"),
        ('{"format": 1, "stages": {"a": {"key": "x", "files": {"../../e": {}}}}}', "no sense"),
        ('{"format": 1, "stages": {"a": {"key": "x", "files": {"/etc/f": {}}}}}', "no sense"),
        ('{"format": 1, "stages": {"a": {"key": "x", "files": {"f": {}}}}}', "no size"),
    ],
)
def test_a_record_that_makes_no_sense_is_refused(tmp_path, record, message):
    (tmp_path / "project.json").write_text(record)
    with pytest.raises(DataError, match=message):
        ProjectFolder(tmp_path)


def test_keys_depend_on_everything_a_stage_depends_on():
    base = ("lsa", 1, {"components": 100}, {"counts": "a"})
    keys = {
        key_of(*base),
        key_of("map", *base[1:]),
        key_of("lsa", 2, *base[2:]),
        key_of("lsa", 1, {"components": 50}, base[3]),
        key_of(*base[:3], {"counts": "b"}),
    }
    assert len(keys) == 5
    assert key_of(*base) == key_of("lsa", 1, {"components": 100}, {"counts": "a"})


KILLED = """
import os, signal, sys
from tacit.explore.project import folder as p
from tacit.core import atomic
left = int(sys.argv[2])
def die(*_):
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(lambda event, args: event in ("open", "os.rename", "os.mkdir", "os.rmdir",
                 "os.remove", "os.truncate") and str(sys.argv[1]) in str(args[0]) and die())
folder = p.ProjectFolder(sys.argv[1])
with folder.writing():
    for stage in ("counts", "lsa"):
        key = p.key_of(stage, 1, {}, {})
        if not folder.has(stage, key):
            folder.keep(stage, key, lambda path: (path / "out.txt").write_text(stage) and None)
"""


def test_a_kill_at_any_step_leaves_a_folder_that_resumes_to_the_same_bytes(tmp_path):
    def run(folder, steps):
        command = [sys.executable, "-c", KILLED, str(folder), str(steps)]
        return subprocess.run(command, capture_output=True, timeout=60).returncode

    def content(folder):
        files = (p for p in folder.rglob("*") if p.is_file() and p.name != "timings.json")
        return {p.relative_to(folder): p.read_bytes() for p in files}

    assert run(tmp_path / "whole", 10**9) == 0
    expected = content(tmp_path / "whole")
    assert len(expected) == 4  # the record, two stages, the lock
    kills = 0
    for steps in range(100):
        folder = tmp_path / f"killed{steps}"
        code = run(folder, steps)
        if code == 0:
            break
        assert code == -signal.SIGKILL
        kills += 1
        ProjectFolder(folder).check()  # whatever is recorded is whole
        assert run(folder, 10**9) == 0
        assert content(folder) == expected
    assert kills > 10


def test_a_folder_that_is_being_made_or_whose_maker_was_killed_is_no_strangers(
    tmp_path, monkeypatch
):
    path, plain, seen = tmp_path / "new", module.write_json, []

    def judge_and_write(target, document):
        folder_for(None, path)
        plain(target, document)
        seen.append(sorted(os.listdir(folder_for(None, path))))

    monkeypatch.setattr(module, "write_json", judge_and_write)
    folder = ProjectFolder(path)
    with folder.writing():
        folder.keep("counts", KEY, text("one"))
    assert seen[0] == ["lock", "stages", "timings.json"]  # no record yet
    (path / "project.json").unlink()
    (path / ".project.json.tacit-0123456789abcdef.tmp").touch()
    assert folder_for(None, path) == path
    (path / "thesis.doc").touch()
    with pytest.raises(DataError, match="other files"):
        folder_for(None, path)


RACE = """
import os, sys, time
from tacit.core.errors import explain
from tacit.explore.project import folder as p
def enter(target):
    folder = p.ProjectFolder(p.folder_for(None, target))
    with folder.writing():
        for stage in ("counts", "lsa"):
            folder.keep(stage, "ab" * 32, lambda path: (path / "out").write_text("x") and None)
def run(target, start):
    while time.monotonic() < start:
        pass
    try:
        enter(target)
    except BaseException as error:
        return explain(error)[0]
    return 0
for number in range(int(sys.argv[2])):
    target, start = os.path.join(sys.argv[1], str(number)), time.monotonic() + 0.02
    children = []
    for _ in range(6):
        children.append(os.fork())
        if not children[-1]:
            os._exit(run(target, start))
    print(*(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children))
"""


def test_of_those_who_race_for_a_new_folder_the_losers_are_told_that_it_is_locked(tmp_path):
    command = [sys.executable, "-c", RACE, str(tmp_path), "30"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    codes = [[int(code) for code in line.split()] for line in run.stdout.splitlines()]
    assert len(codes) == 30
    assert all(0 in line for line in codes)
    assert {code for line in codes for code in line} == {0, 5}


def test_timings_are_kept_apart_and_nobody_depends_on_them(folder):
    folder.time("counts", 1.25)
    folder.time("lsa", 2)
    assert folder.timings == {"counts": 1.25, "lsa": 2.0}
    (folder.path / "timings.json").write_text("nonsense")
    assert folder.timings == {}
    assert "timings" not in json.loads((folder.path / "project.json").read_text())
