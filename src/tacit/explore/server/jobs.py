"""Long work in child processes: started, watched, cancelled, and stopped with the server.

A child reports over its standard output (``job_child``); a thread here reads it. Standard
input ties it to the server: when that dies, by whatever signal, the pipe closes and the child
ends itself. Cancelling kills the child's process group; the project folder is made for that.
"""

import asyncio
import contextlib
import json
import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, NamedTuple

from tacit.explore.project.locks import LOCK, holder_of
from tacit.explore.server.parameters import Refused

__all__ = ["HEARTBEAT", "Event", "Job", "Jobs", "EventLog", "as_stream"]

MOST_KEPT = 20  # jobs that ended and are still listed
TAIL = 2000  # characters of a line of a child's errors
WRITERS = ("prepare", "explore", "edit")
APART = {  # which kinds of jobs it does not run with
    "prepare": WRITERS,
    "explore": (*WRITERS, "spread"),
    "spread": ("spread", "explore", "edit"),
    "edit": (*WRITERS, "spread"),
}


class Job:
    """One piece of work: what it is, how it goes, and how it ended."""

    def __init__(self, kind: str, asked: dict[str, Any], record: bytes) -> None:
        self.id = secrets.token_hex(8)
        self.kind, self.asked = kind, asked
        self.record = record  # of the project as it was, if the job replaces it
        self.log = EventLog()
        self.started = time.time()
        self.state = "running"  # then "done", "failed" or "cancelled"
        self.message = ""
        self.result: Any = None
        self.process: subprocess.Popen | None = None

    def facts(self) -> dict[str, Any]:
        """The job as JSON values."""
        last = [event.data for event in self.log.events if event.kind == "progress"][-1:]
        return {"job": self.id, "kind": self.kind, "asked": self.asked, "state": self.state,
                "message": self.message, "started": round(self.started, 3),
                "progress": last[0] if last else None}  # fmt: skip


class Jobs:
    """The jobs of one server on one project."""

    def __init__(self, project: Path, ended: Callable[[Job], None]) -> None:
        self.project, self.ended = project, ended
        self._jobs: dict[str, Job] = {}
        self._lock = threading.Lock()
        self._closed = False

    def list(self) -> list[dict[str, Any]]:
        """Every job, the latest first."""
        with self._lock:
            return [job.facts() for job in reversed(self._jobs.values())]

    def get(self, id: str) -> Job:
        """A job by its id."""
        with self._lock:
            if id in self._jobs:
                return self._jobs[id]
        raise Refused(404, "There is no such job.")

    def running(self, *kinds: str) -> Job | None:
        """A job of one of these kinds that is at work, if there is one."""
        with self._lock:
            return self._running(kinds)

    def latest(self, kind: str) -> Job | None:
        """The last job of a kind, if there was one."""
        with self._lock:
            return next((j for j in reversed(self._jobs.values()) if j.kind == kind), None)

    def start(
        self, kind: str, asked: dict[str, Any], more: dict[str, Any], record: bytes = b""
    ) -> Job:
        """Start a job, unless another one is in its way (409)."""
        request = {"kind": kind, "project": str(self.project), **asked, **more}
        with self._lock:
            if self._closed:
                raise Refused(503, "The server is stopping.")
            busy = self._running(APART[kind])
            if busy is not None:
                raise Refused(409, f"A job is at work already: {busy.kind}. Wait or cancel it.")
            if kind in WRITERS and (holder := holder_of(self.project / LOCK)):
                raise Refused(409, f"The project is being written by {holder}. Wait for it.")
            job = Job(kind, asked, record)
            job.process = spawn()
            self._jobs[job.id] = job
            for id in [i for i, each in self._jobs.items() if each.state != "running"]:
                if len(self._jobs) > MOST_KEPT:
                    del self._jobs[id]
        threading.Thread(target=self._watch, args=(job, request), daemon=True).start()
        return job

    def cancel(self, id: str) -> Job:
        """Stop a job at once. What it had not finished is as if it had never begun."""
        job = self.get(id)
        with self._lock:
            if job.state == "running":
                job.state = "cancelled"
                kill(job.process)
        return job

    def close(self) -> None:
        """Stop all of them."""
        with self._lock:
            self._closed = True
            for job in self._jobs.values():
                if job.state == "running":
                    job.state = "cancelled"
                    kill(job.process)

    # --- Watching ---

    def _running(self, kinds: tuple[str, ...]) -> Job | None:
        at_work = (job for job in self._jobs.values() if job.process is not None)
        return next((job for job in at_work if job.kind in kinds), None)

    def _watch(self, job: Job, request: dict[str, Any]) -> None:
        """Read the output of a child until it ends, then record how it ended."""
        process = job.process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        errors: list[str] = []
        aside = threading.Thread(target=drain, args=(process.stderr, errors), daemon=True)
        aside.start()
        with contextlib.suppress(OSError):  # killed before it could read
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
        end: dict[str, Any] | None = None
        for line in process.stdout:
            message = read_line(line)
            match message.pop("event", None):
                case "progress":
                    job.log.add("progress", message)
                case "result":
                    job.result = message.get("answer")
                case "end":
                    end = message
        code = process.wait()
        aside.join(timeout=1)
        for stream in (process.stdin, process.stdout, process.stderr):
            with contextlib.suppress(OSError):
                stream.close()
        self._finish(job, end, code, "".join(errors))

    def _finish(self, job: Job, end: dict[str, Any] | None, code: int, errors: str) -> None:
        if job.state == "cancelled":
            message = "Cancelled." + " The project is as it was." * bool(job.record)
        elif end is not None:
            message = str(end.get("message") or "")
        else:
            last = errors.strip().splitlines()[-1:] or ["it said nothing"]
            message = f"The job ended without a word (code {code}): {last[0][:300]}"
        ok = job.state != "cancelled" and end is not None and bool(end.get("ok"))
        job.message = message
        if job.state == "running":
            job.state = "done" if ok else "failed"
        try:
            self.ended(job)  # first the new state, then the news of it
        except Exception as error:
            ok, job.message = False, f"{message} But then: {error}"
        with self._lock:
            job.process = None
            job.result = None
        job.log.add("end", {"ok": ok, "message": job.message, "state": job.state})


def spawn() -> subprocess.Popen:
    """A child in a session of its own. -P: no modules from the current folder."""
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "tacit.explore.server.job_child"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    )


def kill(process: subprocess.Popen | None) -> None:
    """End a child and whatever it started, at once."""
    if process is None or process.poll() is not None:
        return
    with contextlib.suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


def drain(stream: Any, lines: list[str]) -> None:
    """Read to the end, so that the child never blocks; keep the last lines."""
    for line in stream:
        lines.append(line[-TAIL:])
        del lines[:-20]


def read_line(line: str) -> dict[str, Any]:
    try:
        said = json.loads(line)
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}


HEARTBEAT = 10.0  # seconds of silence after which the line is shown to be alive


class Event(NamedTuple):
    """One thing that happened."""

    number: int  # from 1
    kind: str  # "progress" or "end"
    data: dict[str, Any]


class EventLog:
    """Events of one job. Threads add to it; coroutines follow it."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._lock = threading.Lock()
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    def add(self, kind: str, data: dict[str, Any]) -> None:
        """Add an event and wake whoever follows."""
        with self._lock:
            self.events.append(Event(len(self.events) + 1, kind, data))
            waiting, self._waiting = self._waiting, []
        for loop, event in waiting:
            if not loop.is_closed():
                loop.call_soon_threadsafe(event.set)

    async def follow(
        self, after: int = 0, heartbeat: float = HEARTBEAT
    ) -> AsyncIterator[Event | None]:
        """Every event past number ``after``, until the end; None when it is quiet."""
        while True:
            added = asyncio.Event()
            with self._lock:
                fresh = self.events[after:]
                if not fresh:
                    self._waiting.append((asyncio.get_running_loop(), added))
            for event in fresh:
                after = event.number
                yield event
                if event.kind == "end":
                    return
            if not fresh:
                try:
                    await asyncio.wait_for(added.wait(), heartbeat)
                except TimeoutError:
                    yield None


async def as_stream(events: AsyncIterator[Event | None]) -> AsyncIterator[bytes]:
    """Events as text/event-stream. JSON has no bare line breaks, so one line holds it."""
    async for event in events:
        if event is None:
            yield b": still at work\n\n"
        else:
            data = json.dumps(event.data)
            yield f"id: {event.number}\nevent: {event.kind}\ndata: {data}\n\n".encode()
