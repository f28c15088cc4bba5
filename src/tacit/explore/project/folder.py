"""The folder of a project: what each stage found, and a record of what is whole.

    project.json             the record: settings, and of every stage its key and its files
    stages/NAME-KEY/         what a stage wrote
    timings.json             how long each stage took; no result depends on it
    lock                     held while somebody writes

A stage writes into a folder of its own, which gets its name when every file is on the disk;
then the record is replaced. A kill at any moment leaves the record before or the one after, and
folders that no record names are swept by the next writer. The key of a stage is a digest of its
name and version, its settings and the keys of what it reads, so that running again does only
what changed.

A folder may come from a stranger. Nothing in it is a link, names in the record stay inside, and
sizes are compared before anything is read.
"""

import contextlib
import json
import os
import secrets
import shutil
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tacit._version import __version__
from tacit.core.atomic import sweep, sync_folder
from tacit.core.errors import DataError
from tacit.explore.project.locks import LOCK, locked
from tacit.explore.project.record import (
    ANEW,
    FORMAT,
    RECORD,
    check_files,
    digest,
    link_in,
    read_json,
    read_record,
    refuse_links,
    remove,
    settle,
    size_of,
    write_json,
)

__all__ = ["RECORD", "ProjectFolder", "digest", "key_of"]

TIMINGS, STAGES = "timings.json", "stages"
TEXT_BYTES = "text_bytes"  # among the timings: how much text they are of
REPORT = "report.html"


class ProjectFolder:
    """A folder on disk with the outputs of stages. ``writing`` makes it the caller's own.

    Examples
    --------
    >>> import tempfile
    >>> folder = ProjectFolder(tempfile.mkdtemp())
    >>> def write(path):
    ...     _ = (path / "found.txt").write_text("three groups")
    >>> with folder.writing():
    ...     _ = folder.keep("clusters", "0123abcd", write)
    >>> (ProjectFolder(folder.path).output("clusters") / "found.txt").read_text()
    'three groups'
    """

    def __init__(self, path: str | os.PathLike) -> None:
        self.path = Path(path)
        self.record = read_record(self.path)

    # --- Reading ---

    def has(self, name: str, key: str) -> bool:
        """Whether the stage is there with this key, all of its files of the right size."""
        entry = self.record["stages"].get(name)
        if entry is None or entry["key"] != key:
            return False
        home, files = self.home(name, key), entry["files"]
        return not link_in(home, files) and all(
            size_of(home / file) == fact["size"] for file, fact in files.items()
        )

    def holds(self, name: str, key: str) -> bool:
        """Whether the stage is there with this key and the right checksums; warns of damage."""
        entry = self.record["stages"].get(name)
        if entry is None or entry["key"] != key:
            return False
        try:
            self.check([name])
        except DataError as error:
            warnings.warn(str(error).replace(ANEW, "It is computed again."), stacklevel=2)
            return False
        return True

    def output(self, name: str) -> Path:
        """The folder that a stage wrote."""
        entry = self.record["stages"].get(name)
        if entry is None:
            raise DataError(
                f"the project has no stage {name!r}. Run tacit explore again.",
                file=self.path / RECORD,
            )
        return self.home(name, entry["key"])

    def check(self, names: list[str] | None = None) -> None:
        """Read every file of these stages, or of all, and compare it with the record."""
        for name, entry in self.record["stages"].items():
            if names is not None and name not in names:
                continue
            check_files(self.home(name, entry["key"]), entry["files"])

    def home(self, name: str, key: str) -> Path:
        """Where a stage with this key belongs, whether it is there or not."""
        return self.path / STAGES / f"{name}-{key[:16]}"

    # --- Writing ---

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the folder as its only writer."""
        self.path.mkdir(parents=True, exist_ok=True)
        refuse_links(self.path)
        with locked(self.path / LOCK, self.path):
            self.record = read_record(self.path)
            self.sweep()
            yield

    def keep(self, name: str, key: str, write: Callable[[Path], None]) -> Path:
        """Let ``write`` fill a folder; make it the output of the stage."""
        home = self.home(name, key)
        home.parent.mkdir(exist_ok=True)
        temporary = home.parent / f".{name}-{secrets.token_hex(8)}.tmp"
        temporary.mkdir()
        start = time.perf_counter()
        try:
            write(temporary)
            files = {
                path.relative_to(temporary).as_posix(): settle(path)
                for path in sorted(temporary.rglob("*"))
                if path.is_file()
            }
            sync_folder(temporary)
            remove(home)  # complete but unrecorded, or damaged: the new one replaces it
            temporary.rename(home)
        except BaseException as error:
            shutil.rmtree(temporary, ignore_errors=True)
            if isinstance(error, OSError) and error.filename is None:
                error.filename = str(self.path)  # where the disk is full
            raise
        sync_folder(home.parent)
        self.time(name, time.perf_counter() - start)  # before the record: none goes without
        self.record["stages"][name] = {"key": key, "files": files}
        self.commit()
        return home

    def drop(self, names: set[str]) -> None:
        """Forget stages; their files go with the next sweep."""
        gone = names & self.record["stages"].keys()
        if gone:
            for name in gone:
                del self.record["stages"][name]
            self.commit()

    def commit(self, **facts: Any) -> None:
        """Replace the record, with these facts changed."""
        self.record.update(facts, format=FORMAT, tacit=__version__)
        write_json(self.path / RECORD, self.record)

    def sweep(self) -> None:
        """Remove what no record names, and what a killed writer left half-written."""
        known = {self.home(name, e["key"]).name for name, e in self.record["stages"].items()}
        with contextlib.suppress(FileNotFoundError):
            for path in (self.path / STAGES).iterdir():
                if path.name not in known and path.is_dir():
                    with contextlib.suppress(OSError):
                        remove(path)
        for name in (RECORD, TIMINGS, REPORT):
            sweep(self.path / name)

    # --- Timings ---

    @property
    def timings(self) -> dict[str, float]:
        """Seconds that each stage took."""
        return {name: v for name, v in self._numbers().items() if name != TEXT_BYTES}

    @property
    def rates(self) -> dict[str, float]:
        """Seconds per byte of text that each stage took, as far as they were measured."""
        size = self._numbers().get(TEXT_BYTES, 0.0)
        return {name: v / size for name, v in self.timings.items()} if size else {}

    def time(self, name: str, seconds: float) -> None:
        """Note how long a stage took."""
        write_json(self.path / TIMINGS, {**self._numbers(), name: round(seconds, 3)})

    def set_text_bytes(self, size: int) -> None:
        """Note how much text the timings are of."""
        if self._numbers().get(TEXT_BYTES) != size:
            self.time(TEXT_BYTES, float(size))

    def _numbers(self) -> dict[str, float]:
        try:
            found = read_json(self.path / TIMINGS)
        except (OSError, DataError):
            return {}  # nobody depends on them
        numbers = {name: v for name, v in found.items() if type(v) in (int, float)}
        return {name: float(v) for name, v in numbers.items() if 0 <= v < 1e15}


def key_of(name: str, version: int, settings: dict[str, Any], needs: dict[str, str]) -> str:
    """The digest that stands for a stage with these settings on these inputs."""
    return digest(json.dumps([name, version, settings, needs], sort_keys=True).encode())
