"""A job in a process of its own: ``python -m tacit.explore.server.job_child``.

Standard input brings one line of JSON with the request, and stays open as long as the
server lives: when it closes, the job ends. Standard output carries lines of JSON: progress,
the result if there is one, and the end. Whatever libraries print goes to standard error.
"""

import contextlib
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TextIO

from tacit.explore import ask
from tacit.explore.project.folder import ProjectFolder
from tacit.explore.project.pipeline import stage_titles
from tacit.explore.project.settings import EFFORTS, Choice, Settings

if TYPE_CHECKING:
    from tacit.core.progress import Step
    from tacit.explore.project.pipeline import StageEvent
    from tacit.explore.project.plan import Pace

__all__ = ["main"]

UNFINISHED = "unfinished"  # in the record while a run that the page asked for is under way
EVERY = 0.5  # seconds between two steps inside a stage that are reported


class Reporter:
    """Reports progress to the server."""

    def __init__(self, out: TextIO) -> None:
        self.out = out
        self._lock = threading.Lock()
        self._stage: dict[str, Any] = {}
        self._reported = 0.0
        self.pace: Pace | None = None  # once it is known how long a run takes

    def send(self, event: str, **data: Any) -> None:
        with self._lock:
            self.out.write(json.dumps({"event": event, **data}, allow_nan=False) + "\n")
            self.out.flush()

    @contextlib.contextmanager
    def only_stage(self, name: str, title: str) -> Iterator[None]:
        """Report the one stage of a job when it begins and when it has ended."""
        facts = {"stage": name, "title": title, "number": 1, "most": 1, "part": None}
        self.send("progress", **facts, done=False)
        yield
        self.send("progress", **facts, done=True)

    def on_event(self, event: "StageEvent") -> None:
        done = event.seconds is not None
        if self.pace is not None and event.seconds is not None:
            if event.reused:
                self.pace.kept(event.name)
            else:
                self.pace.ended(event.name, event.seconds)
        self._stage = {"stage": event.name, "title": event.title, "number": event.number,
                       "most": event.total, "done": done}  # fmt: skip
        if self.pace is not None and self.pace.waiting:
            self._stage["left"] = round(self.pace.left(), 1)
        if not event.reused or done:
            self.send("progress", **self._stage, part=None)

    def on_step(self, step: "Step") -> None:
        now = time.monotonic()
        if self._stage and step.most and now - self._reported >= EVERY:
            self._reported = now
            self.send("progress", **self._stage, part=min(step.number / step.most, 1.0))


def main() -> int:
    """Do the one job that standard input names."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    request = json.loads(sys.stdin.readline())
    threading.Thread(target=end_with_server, daemon=True).start()
    with contextlib.suppress(OSError, AttributeError):
        os.nice(5)  # questions are answered first
    report = Reporter(out)
    try:
        message = KINDS[request["kind"]](request, report)
    except BaseException as error:
        from tacit.core.errors import explain

        code, sentence = explain(error)
        report.send("end", ok=False, message=sentence.removeprefix("Error: "))
        return code or 1
    report.send("end", ok=True, message=message)
    return 0


def end_with_server() -> None:
    """Wait until the server is gone, and then do not outlive it."""
    while sys.stdin.read(1024):
        pass
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
        os.killpg(os.getpgrp(), signal.SIGKILL)
    os._exit(1)


# --- What there is to do ---


def prepare(request: dict[str, Any], report: Reporter) -> str:
    """Make what questions need, after finishing a run that was cut off."""
    folder = ProjectFolder(request["project"])
    if folder.record.get(UNFINISHED):
        run_again(folder, Settings.of(folder.record["settings"]), {}, report)
    ask.prepare_live(folder, "threads", report.on_event, [report])
    return "Everything is ready."


def explore(request: dict[str, Any], report: Reporter) -> str:
    """Explore the documents of the project again, with other settings; the stages and the
    memory of the last run count, unless the request has its own."""
    folder = ProjectFolder(request["project"])
    before = Settings.of(folder.record["settings"])
    effort = request.get("effort") or before.effort
    settings = replace(before, k=request.get("k"), effort=effort)
    limits = {name: v for name, v in request.items() if name in ("stages", "memory")}
    run_again(folder, settings, limits, report)
    ask.prepare_live(folder, "threads", report.on_event, [report])
    return "The documents were explored again."


def spread(request: dict[str, Any], report: Reporter) -> str:
    """Predict the label of every document, with probabilities."""
    labels = {int(row): name for row, name in request["labels"].items()}
    with report.only_stage("spread", "Spreading labels"):
        answer = ask.spread(ask.ProjectReader(request["project"]), labels)
        # The labels may change meanwhile.
        report.send("result", answer={**answer, "of": request["of"]})
    return "The labels were spread to the rest."


def edit(request: dict[str, Any], report: Reporter) -> str:
    """Merge, split or pin groups, or take the last such edit back."""
    from tacit.explore.project.project import Project

    with report.only_stage("edit", "Changing the groups"):
        project, groups = Project.open(request["project"]), request["groups"]
        match request["edit"]:
            case "merge":
                project.merge_groups(groups)
                return f"{len(groups)} groups are one now."
            case "split":
                return f"The group is {len(project.split_group(groups[0]))} groups now."
            case "pin":
                project.pin_group(groups[0])
                return "The documents of the group stay together in later runs."
        project.undo_group_edit()
        return "The last edit of groups was taken back."


KINDS = {"prepare": prepare, "explore": explore, "spread": spread, "edit": edit}


def run_again(
    folder: ProjectFolder, settings: Settings, limits: dict[str, Any], report: Reporter
) -> None:
    """Bring the stages up to date; the record is marked unfinished until they are."""
    from tacit.explore.project.pipeline import run_stages
    from tacit.explore.report.page import write_report

    with folder.writing():
        report.pace = last_pace(folder, settings.effort)
        choice = choice_for(folder, settings, limits)
        folder.record[UNFINISHED] = True  # the first commit of the run takes it along
        run_stages(
            folder, None, settings, on_event=report.on_event, callbacks=[report], choice=choice
        )
        write_report(folder)
        del folder.record[UNFINISHED]
        folder.commit()


def last_pace(folder: ProjectFolder, effort: str) -> "Pace":
    """How long the stages took the last time, for the effort of this time."""
    from tacit.explore.project.plan import EFFORT_TIME, Pace

    before = Settings.of(folder.record["settings"]).effort
    factor = EFFORT_TIME[effort] / EFFORT_TIME[before]
    names = [stage for stage in stage_titles() if stage in folder.timings]
    return Pace({name: factor * folder.timings[name] for name in names})


def choice_for(folder: ProjectFolder, settings: Settings, limits: dict[str, Any]) -> Choice:
    """Which stages run and how: by the stages and the memory of the request, or by those on
    record."""
    from tacit.explore.project.plan import plan_again, recorded_choice

    recorded = recorded_choice(folder.record)
    every = {**(recorded.asked() if recorded else {}), **limits}
    if limits or any(value is not None for value in every.values()):
        return plan_again(folder, settings, **every).choice
    return as_before(folder.record, settings.effort)


def as_before(record: dict[str, Any], effort: str) -> Choice:
    """What was left out or ran with less effort, for records that lack what was asked for."""
    from tacit.explore.project.pipeline import STAGES

    def by_stage(name: str) -> dict[str, str]:
        """By stage, from a record, which is untrusted."""
        said = record.get(name)
        texts = {s.name: said.get(s.name) for s in STAGES} if isinstance(said, dict) else {}
        return {stage: each for stage, each in texts.items() if isinstance(each, str)}

    less = EFFORTS[: EFFORTS.index(effort)]
    lower = {stage: each for stage, each in by_stage("efforts").items() if each in less}
    return Choice(left_out=by_stage("left_out"), efforts=lower)


if __name__ == "__main__":
    sys.exit(main())
