"""Stops runs of ``tacit explore`` wherever they write, and lets another run resume.

    python killed_run.py kill FOLDER STRIDE
    python killed_run.py every FOLDER

A step is what changes the folder of the project: a file opened for writing, half of each
write, fsync, rename, mkdir, unlink.

``kill`` forks runs that are killed at their first step, at one STRIDE further on, and so on.
When one of them leaves more on record than there was, the next begin from what it left: so they
reach the end, each resuming what a killed one left.

``every`` runs once, from nothing, and copies the folder at every step: what a kill at that
moment would leave. Each copy must hold what its record names, and nothing half-written after
the next writer took it; each that differs in what is recorded is resumed.

Both compare with what an uninterrupted run leaves, byte for byte: record, stages, report,
timings and lock. What may differ between two runs is how long stages take; so the clock that
timings.json and the report get them from stands still here. Prints a JSON object.
"""

import builtins
import io
import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq

from tacit.cli.main import main
from tacit.explore.project import folder as folder_module
from tacit.explore.project.folder import RECORD, ProjectFolder

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
CHANGES = ("os.rename", "os.mkdir", "os.rmdir", "os.remove", "os.truncate")
NAME = "letters.tacit"
at_step: Callable[[], None] | None = None  # what happens at a step


def step() -> None:
    """Something in the folder is about to change."""
    global at_step
    if at_step is not None:
        now, at_step = at_step, None  # what is done there does not count
        now()
        at_step = now


def audit(event: str, args: tuple) -> None:
    if at_step is None or (event != "open" and event not in CHANGES):
        return
    if event == "open" and not (isinstance(args[2], int) and args[2] & WRITING):
        return
    if NAME in str(args[0]):
        step()


class Torn(io.BufferedWriter):
    """A file of which a kill may leave half of what was being written."""

    def write(self, data) -> int:
        view = memoryview(data).cast("B")
        half = len(view) // 2
        super().write(view[:half])
        self.flush()
        step()
        return half + super().write(view[half:])


def tear(original):
    def opened(*args, **settings):
        file = original(*args, **settings)
        return Torn(file.detach()) if isinstance(file, io.BufferedWriter) else file

    return opened


def before(original):
    def call(*args, **settings):
        step()
        return original(*args, **settings)

    return call


def hook() -> None:
    sys.addaudithook(audit)
    builtins.open = io.open = tear(io.open)
    os.fsync = before(lambda descriptor: None)  # a step, but a kill loses nothing unsynced
    # Arrow writes by itself: before and between what it writes is all that can be seen.
    pq.ParquetWriter.write_table = before(pq.ParquetWriter.write_table)
    pq.ParquetWriter.close = before(pq.ParquetWriter.close)
    # What differs between two runs is the time they take, and nothing else.
    folder_module.time = Clock


class Clock:
    """Stands for the module time: every stage takes none."""

    @staticmethod
    def perf_counter() -> float:
        return 0.0


def explore(project: Path) -> int:
    os.chdir(project.parent)
    shown = sys.stdout
    with open(os.devnull, "w") as sys.stdout:
        code = main(
            ["explore", "../letters.txt", "--out", NAME, "--quick", "--engine", "serial", "-q"]
        )
    sys.stdout = shown
    return code


def content(project: Path) -> dict[str, bytes]:
    """Everything in the folder, the lock and what is half-written included."""
    files = (path for path in sorted(project.rglob("*")) if not path.is_dir())
    return {path.relative_to(project).as_posix(): path.read_bytes() for path in files}


def recorded(project: Path) -> dict[str, bytes]:
    """What counts: the record and everything it names, the report and the timings."""
    record = ProjectFolder(project).record
    known = [f"stages/{n}-{e['key'][:16]}/" for n, e in record["stages"].items()]
    return {
        name: data
        for name, data in content(project).items()
        if name in (RECORD, "report.html", "timings.json") or name.startswith(tuple(known))
    }


def difference(project: Path, expected: dict[str, bytes]) -> list[str]:
    """The files that are not as expected."""
    found = content(project)
    names = found.keys() | expected.keys()
    return sorted(name for name in names if found.get(name) != expected.get(name))


def flaws(project: Path) -> list[str]:
    """What is wrong with a folder that a kill left, before it is resumed."""
    if not project.exists():
        return []
    try:
        folder = ProjectFolder(project)
        folder.check()  # whatever is recorded is whole
        with folder.writing():  # sweeps
            pass
        expected = recorded(project) | {"lock": b""}
    except (ValueError, OSError) as error:
        return [str(error)]
    half = [str(path) for path in project.rglob("*.tmp")]
    return half + difference(project, expected)


# --- Killing ---


def killed(project: Path, steps: int) -> bool:
    """Whether a run was killed at this step, before it came to its end."""
    global at_step

    def count() -> None:
        nonlocal steps
        if steps == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        steps -= 1

    child = os.fork()
    if child == 0:
        at_step = count
        os._exit(explore(project))
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return True
    assert os.WEXITSTATUS(status) == 0, os.WEXITSTATUS(status)
    return False


def kill(folder: Path, stride: int, expected: dict[str, bytes]) -> dict:
    """Kill, and go on from what is left, until a run comes to its end."""
    base, work = folder / "base" / NAME, folder / "work" / NAME
    work.parent.mkdir()
    begun: dict[str, bytes] = {}
    wrong: list[str] = []
    steps = kills = states = 0
    while True:
        shutil.rmtree(work, ignore_errors=True)
        if base.exists():
            shutil.copytree(base, work)
        if not killed(work, steps):
            break
        kills += 1
        steps += stride
        now = recorded(work) if work.exists() else {}
        if now != begun:
            shutil.rmtree(base, ignore_errors=True)
            shutil.copytree(work, base)
            begun, steps, states = now, 0, states + 1
        wrong += flaws(work)
    return {"stops": kills, "states": states, "wrong": wrong + difference(work, expected)}


# --- Copying ---


def every(folder: Path, expected: dict[str, bytes]) -> dict:
    """One run, copied at every step; then a resumption of each copy that differs."""
    global at_step
    work, copies, last, steps = folder / "work" / NAME, [], None, 0
    work.parent.mkdir()

    def copy() -> None:
        nonlocal last, steps
        steps += 1
        if work.exists() and (now := content(work)) != last:
            last = now
            copies.append(folder / f"copy{len(copies)}" / NAME)
            shutil.copytree(work, copies[-1])

    at_step = copy
    assert explore(work) == 0
    at_step = None
    wrong, resumed = difference(work, expected), []
    for each in copies:
        wrong += [f"{each}: {flaw}" for flaw in flaws(each)]
        now = recorded(each)
        if now not in resumed:
            resumed.append(now)
            assert explore(each) == 0
            wrong += [f"{each} resumed: {name}" for name in difference(each, expected)]
    return {"steps": steps, "stops": len(copies), "states": len(resumed), "wrong": wrong}


if __name__ == "__main__":
    way, where = sys.argv[1], Path(sys.argv[2])
    hook()
    whole = where / "whole" / NAME
    whole.parent.mkdir()
    assert explore(whole) == 0  # what this process compiled and imported, its forks have
    wanted = content(whole)
    found = kill(where, int(sys.argv[3]), wanted) if way == "kill" else every(where, wanted)
    print(json.dumps({**found, "files": sorted(wanted)}))
