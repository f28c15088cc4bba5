"""The state of a server: the open project, labels, jobs, the page.

The project is held as it was when it was opened. When the record on disk changes and nobody is
in the middle of writing, the next question reopens it; answers in progress keep the old one.
"""

import json
import os
import threading
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from tacit.core.atomic import atomic_write
from tacit.core.errors import DataError, Locked
from tacit.explore.ask import ProjectReader
from tacit.explore.project.folder import RECORD, ProjectFolder, digest, sensible
from tacit.explore.project.group_edits import GROUP_EDITS, GROUP_NAMES
from tacit.explore.project.labels import LABELS, Key, Labels, places_of, rows_of_keys
from tacit.explore.project.locks import LOCK, Ownership, holder_of, locked
from tacit.explore.project.pipeline import missing_live, result_hash
from tacit.explore.project.plan import closure, recorded_choice
from tacit.explore.project.project import Project
from tacit.explore.server.jobs import Job, Jobs
from tacit.explore.server.parameters import Refused
from tacit.explore.server.security import page_policy

__all__ = ["ServerState", "ProjectSnapshot", "Page"]


class Page(NamedTuple):
    """The page as it is sent."""

    body: bytes
    policy: str


class ProjectSnapshot:
    """A project at one moment. Immutable; the server replaces it."""

    def __init__(self, folder: ProjectFolder, stamp: tuple) -> None:
        self.folder, self.stamp = folder, stamp
        self.reader = ProjectReader(folder)
        self.run = result_hash(folder)
        self.documents = int(self.reader.n)
        self.missing = missing_live(folder)
        self._rows: dict[Key, int | None] = {}
        self._places: dict[str, int] | None = None
        self._page: Page | None = None
        self._lock, self._page_lock = threading.Lock(), threading.Lock()

    def page(self) -> Page:
        """The report with what a server adds, made once."""
        from tacit.explore.report.page import make_page

        with self._page_lock:
            if self._page is None:
                page = make_page(self.folder, live=True)
                self._page = Page(page.encode("utf-8", "replace"), page_policy(page))
            return self._page

    def rows(self, keys: list[Key]) -> dict[Key, int]:
        """The rows of these keys, without those whose document is gone or changed."""
        with self._lock:
            if self._places is None:
                self._places = places_of(self.reader)
            unknown = [key for key in keys if key not in self._rows]
            self._rows.update(dict.fromkeys(unknown))
            self._rows.update(rows_of_keys(self.reader, self._places, unknown))
            rows = {key: self._rows[key] for key in keys}
        return {key: row for key, row in rows.items() if row is not None}


class ServerState:
    """What every request is answered from."""

    def __init__(self, path: str | os.PathLike) -> None:
        self.path = Path(path)
        stamp = stamp_of(self.path)
        folder = Project.open(self.path)._folder  # compares every file with the record
        with sensible(self.path):
            self._opened = ProjectSnapshot(folder, stamp)
        self._lock = threading.Lock()
        self.labels = Labels(self.path / LABELS)
        self.owner = Ownership(self.path)
        self.jobs = Jobs(self.path, self.job_ended)

    def close(self) -> None:
        """End the jobs and let go of the files."""
        self.jobs.close()
        self.labels.close()
        self.owner.close()

    # --- The project ---

    @property
    def opened(self) -> ProjectSnapshot:
        """The project as it is now."""
        if stamp_of(self.path) != self._opened.stamp and self.may_reopen():
            self.reopen()
        return self._opened

    def may_reopen(self) -> bool:
        """Not in the middle of a run: its record names half of the new and half of the old.
        Preparing only adds, so what it has finished can be used."""
        if self.jobs.running("explore"):
            return False
        return bool(self.jobs.running("prepare")) or not holder_of(self.path / LOCK)

    def reopen(self) -> None:
        """Reopen the project, if it can be opened; the page stays if the result is the same."""
        with self._lock:
            stamp = stamp_of(self.path)
            if stamp == self._opened.stamp:
                return  # another thread did it
            try:
                with sensible(self.path):
                    fresh = ProjectSnapshot(ProjectFolder(self.path), stamp)
            except (DataError, OSError):
                return  # it was removed or damaged; the open one still answers
            if fresh.run == self._opened.run and stamp[1] == self._opened.stamp[1]:
                fresh._page = self._opened._page
            self._opened = fresh

    def facts(self) -> dict[str, Any]:
        """The small facts about the project."""
        now = self.opened
        return {
            "name": self.path.resolve().name.removesuffix(".tacit"),
            "documents": now.documents,
            "groups": now.reader.n_groups,
            "settings": now.reader.settings.to_dict(),
            "run": now.run,
            "missing": now.missing,
            "ready": not now.missing,
            "writes": self.owner.take() is None,
        }

    # --- Labels ---

    def label_rows(self, now: ProjectSnapshot) -> dict[int, str]:
        """The label of every row that has one."""
        names_by_key = self.labels.all()
        return {row: names_by_key[key] for key, row in now.rows(list(names_by_key)).items()}

    def label_facts(self) -> dict[str, Any]:
        """Labels as the page reads them."""
        now, names_by_key = self.opened, self.labels.all()
        rows_by_key = now.rows(list(names_by_key))
        rows = {row: names_by_key[key] for key, row in rows_by_key.items()}
        spread = self.labels.spread(now.run)
        if spread is not None:
            spread["stale"] = spread.pop("of", "") != digest_of(rows)
        names = Counter(rows.values())
        away = Counter(name for key, name in names_by_key.items() if key not in rows_by_key)
        return {
            "names": [
                {"name": name, "count": names[name], "away": away[name]}
                for name in sorted(names)
            ],
            "rows": {str(row): rows[row] for row in sorted(rows)},
            "spread": spread,
            "undo": self.labels.steps(),
            "away": len(names_by_key) - len(rows),  # their documents are gone or have changed
        }

    def must_write(self) -> None:
        """Only one server changes a project."""
        reason = self.owner.take()
        if reason is not None:
            raise Refused(409, f"This server only reads the project: {reason}.")

    # --- Jobs ---

    def start_job(self, kind: str, asked: dict[str, Any]) -> Job:
        """Start a job, with what it needs to know."""
        self.must_write()
        more: dict[str, Any] = {}
        if kind == "spread":
            rows = self.label_rows(self.opened)
            if len(set(rows.values())) < 2:
                raise Refused(400, "Give at least two different labels before spreading them.")
            more |= {"labels": rows, "of": digest_of(rows)}
        if kind == "explore":
            self.must_divide(asked)
        record = (self.path / RECORD).read_bytes() if kind == "explore" else b""
        return self.jobs.start(kind, asked, more, record)

    def must_divide(self, asked: dict[str, Any]) -> None:
        """A number of groups is for a run that finds groups."""
        recorded = recorded_choice(self.opened.folder.record)
        stages = asked.get("stages", recorded.stages if recorded else None)
        if asked.get("k") is None or stages is None:
            return
        if "groups" not in closure(stages):
            listed = ", ".join(stages) or "none"
            raise Refused(
                400,
                f"k={asked['k']} is for finding groups, and the stages are {listed}. Give "
                "stages with groups among them, or null for all.",
            )

    def job_ended(self, job: Job) -> None:
        """Take in what a job did, or undo what it left half done."""
        if job.kind == "explore" and job.state != "done":
            self.put_back(job.record)
        if job.kind == "spread" and job.state == "done":
            self.labels.keep_spread(self._opened.run, job.result)
        self.reopen()

    def put_back(self, record: bytes) -> None:
        """The record as it was before a run, whose files stay until the next one."""
        with locked(self.path / LOCK, self.path):
            folder = ProjectFolder(self.path)
            folder.record = json.loads(record)
            stages = folder.record["stages"]
            if all(folder.has(name, entry["key"]) for name, entry in stages.items()):
                with atomic_write(self.path / RECORD) as file:
                    file.write(record)

    def prepare(self) -> Job | None:
        """Start making what questions need, where it is missing and we may."""
        if self.owner.take() is not None:
            return None
        now = self.opened
        if not now.missing and not now.folder.record.get("unfinished"):
            return None
        try:
            return self.start_job("prepare", {})
        except (Refused, Locked):
            return None  # somebody else is writing; the next question that needs it tries again

    def prepare_or_explain(self) -> str | None:
        """Start preparing what a question needs; why that failed, if it was tried."""
        last = self.jobs.latest("prepare")
        if last is not None and last.state in ("failed", "cancelled"):
            return last.message
        self.prepare()
        return None


def digest_of(rows: dict[int, str]) -> str:
    """Stands for labels as they are."""
    return digest(json.dumps(sorted(rows.items())).encode())


def stamp_of(path: Path) -> tuple:
    """Changes whenever the record is replaced, or groups are renamed or edited (the second
    half)."""

    def stamp(name: str) -> tuple:
        try:
            status = (path / name).stat()
        except OSError:
            return ()
        return status.st_ino, status.st_mtime_ns, status.st_size

    return stamp(RECORD), (stamp(GROUP_NAMES), stamp(GROUP_EDITS))
