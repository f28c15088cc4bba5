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

A folder is untrusted. Nothing in it is a link, names in the record stay inside,
sizes are compared before anything is read, and what does not fit is an error in one sentence.
"""

import contextlib
import hashlib
import json
import os
import re
import secrets
import shutil
import stat
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from tacit._version import __version__
from tacit.core.atomic import atomic_write, stem_for, sweep, sync_folder
from tacit.core.errors import DataError, TacitError, reading
from tacit.core.temporary import forget, note
from tacit.explore.project.locks import LOCK, locked

__all__ = [
    "RECORD", "REPORT", "SUFFIX", "ProjectFolder", "digest", "folder_for", "key_of",
    "read_json", "read_record", "sensible",
]  # fmt: skip

FORMAT = 1
RECORD = "project.json"
DIGEST = re.compile(r"[0-9a-f]{64}")
ANEW = "Run tacit explore again; it restores what is missing."
ELSEWHERE = "Explore into another folder (--out); labels.sqlite can be copied there."
TIMINGS, STAGES = "timings.json", "stages"
TEXT_BYTES = "text_bytes"  # among the timings: how much text they are of
REPORT = "report.html"
SUFFIX = ".tacit"


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

    # --- The source ---

    def origin_of(self, source: str) -> dict[str, str]:
        """Where documents come from, as the record has it: the path, and the path from here,
        which stays the same when both are moved together."""
        if source in ("", "-") or source.startswith("--"):
            return {"path": source, "relative": source}
        path, home = os.path.abspath(source), os.path.abspath(self.path)
        try:
            relative = os.path.relpath(path, home)
        except ValueError:  # on another drive
            relative = path
        return {"path": path, "relative": relative}

    def check_origin(self, source: str, ingest: str) -> None:
        """DataError if the project is of other documents than ``source``, whose key of the
        first stage would be ``ingest``. The same documents may be moved."""
        known = self.record.get("origin")
        if not isinstance(known, dict) or self.has("ingest", ingest):
            return
        asked = self.origin_of(source)
        if any(known.get(name) == path for name, path in asked.items()):
            return
        before = {"-": "standard input", "--docs": "--docs"}.get(
            str(known.get("path")), str(known.get("path"))[:200]
        )
        now = {"-": "standard input"}.get(asked["path"], asked["path"])
        raise DataError(
            f"this is the project of {before}, not of {now}. Choose another folder with "
            f"--out, for example --out {self.path.stem}_2{SUFFIX}, or remove this one.",
            file=self.path,
        )

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
        start = time.perf_counter()
        note(temporary)
        try:
            temporary.mkdir()  # here, since Ctrl-C may come at any line
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
        finally:
            forget(temporary)
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
            values = read_json(self.path / TIMINGS)
        except (OSError, DataError):
            return {}  # nobody depends on them
        numbers = {name: v for name, v in values.items() if type(v) in (int, float)}
        return {name: float(v) for name, v in numbers.items() if 0 <= v < 1e15}


def key_of(name: str, version: int, settings: dict[str, Any], needs: dict[str, str]) -> str:
    """The digest that stands for a stage with these settings on these inputs."""
    return digest(json.dumps([name, version, settings, needs], sort_keys=True).encode())


def folder_for(path: str | None, out: str | os.PathLike | None) -> Path:
    """The folder of a project: as asked, or named after the input in the current folder.

    >>> str(folder_for("data/letters.csv.gz", None))
    'letters.tacit'
    """
    if out is None:
        name = "documents" if path in (None, "-") else Path(str(path)).resolve().name
        for packed in (".gz", ".zst"):
            name = name.removesuffix(packed)
        stem = name.rsplit(".", 1)[0] if "." in name.strip(".") else name
        return Path((stem or "documents") + SUFFIX)
    target = Path(out)
    names = os.listdir(target) if target.is_dir() else []  # once: it may be growing right now
    if RECORD not in names and not all(is_first(name) for name in names):
        raise DataError(
            "holds other files and is not a project. Name a new folder.", file=target
        )
    return target


def is_first(name: str) -> bool:
    """Whether a project may hold this before it has a record: its first writer is at work, or
    was killed."""
    starts = tuple(stem_for(Path(each)) for each in (RECORD, TIMINGS))
    return name in (LOCK, STAGES, TIMINGS) or name.startswith(starts)


# --- The record ---


def read_record(folder: Path) -> dict[str, Any]:
    """The record of a project; an empty one where there is none yet."""
    path = folder / RECORD
    refuse_links(folder)
    try:
        record = read_json(path)
    except DataError as error:
        raise DataError(f"{error.message} {ELSEWHERE}", file=path) from None
    except FileNotFoundError:
        return {"format": FORMAT, "tacit": __version__, "settings": {}, "stages": {}}
    except NotADirectoryError:
        raise DataError("is a file; a project is a folder.", file=folder) from None
    version = record.get("format")
    if type(version) is not int or version < 1:
        raise DataError("is not the record of a Tacit project: it has no format.", file=path)
    if version > FORMAT:
        raise DataError(
            f"has format {version}, and this Tacit reads up to {FORMAT}. Install a newer one.",
            file=path,
        )
    record["settings"] = checked(record.get("settings", {}), path)
    for name, entry in checked(record.get("stages"), path).items():
        facts = checked(entry, path)
        key, files = facts.get("key"), checked(facts.get("files"), path)
        sound = isinstance(key, str) and key.isascii() and key.isalnum()
        if not (sound and is_name(name) and all(inside(file) for file in files)):
            raise DataError(f"is damaged: its stage {name[:40]!r} makes no sense.", file=path)
        for fact in files.values():
            size, mark = checked(fact, path).get("size"), fact.get("blake2b")
            if type(size) is not int or not 0 <= size < 2**63:
                raise DataError("is damaged: a file has no size.", file=path)
            if not isinstance(mark, str) or not DIGEST.fullmatch(mark):
                raise DataError("is damaged: a file has no checksum.", file=path)
    return record


def checked(value: Any, path: Path) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise DataError("is damaged: an object is missing.", file=path)
    return value


def is_name(name: str) -> bool:
    return name.isascii() and name.isidentifier() and len(name) <= 100


def inside(name: str) -> bool:
    """Whether a name from a record stays in its folder, whoever wrote the record."""
    parts = Path(name).parts
    within = bool(parts) and not Path(name).is_absolute() and ".." not in parts
    return within and name.isprintable() and len(name) <= 1000


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object from a file, which is untrusted."""
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode):
        what = "a folder" if stat.S_ISDIR(mode) else "a device or a pipe"
        raise DataError(f"is {what}, where a project has a file.", file=path)
    if size_of(path) > 2**26:  # bytes; ours are thousands of times smaller
        raise DataError("is too large to be a record of a project.", file=path)
    try:
        document = json.loads(path.read_bytes())
    except RecursionError:
        raise DataError("is damaged: it is nested too deeply.", file=path) from None
    except ValueError as error:
        raise DataError(f"is damaged: {error}.", file=path) from None
    if not isinstance(document, dict):
        raise DataError("is damaged: it holds no JSON object.", file=path)
    return document


def write_json(path: Path, document: dict[str, Any]) -> None:
    """Write a document so that a reader finds the old one or the new one."""
    with atomic_write(path) as file:
        file.write(json.dumps(document, indent=1, sort_keys=True).encode() + b"\n")


@contextmanager
def sensible(folder: Path) -> Iterator[None]:
    """Turn what goes wrong with a project whose every file is whole, but whose contents do not
    fit together, into a sentence."""
    try:
        yield
    except TacitError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise DataError(
            f"what it holds does not fit together ({type(error).__name__}: {str(error)[:80]}). "
            "It was changed, or made by another Tacit: run tacit explore again.",
            file=folder,
        ) from error


# --- Files ---


def digest(data: bytes) -> str:
    """64 hexadecimal digits that stand for these bytes."""
    return hashlib.blake2b(data, digest_size=32).hexdigest()


def settle(path: Path) -> dict[str, Any]:
    """Bring a file to the disk; its size and digest."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
    return {"size": path.stat().st_size, "blake2b": digest_of(path)}


def digest_of(path: Path) -> str:
    with reading(path) as file:
        return hashlib.file_digest(file, partial(hashlib.blake2b, digest_size=32)).hexdigest()


def size_of(path: Path) -> int:
    """The bytes of a file that is one; -1 for anything else."""
    try:
        status = path.stat()
    except OSError:
        return -1
    return status.st_size if stat.S_ISREG(status.st_mode) else -1  # a pipe waits forever


def check_files(home: Path, files: dict[str, dict[str, Any]]) -> None:
    """Compare what a stage wrote with what is on record of it."""
    if link := link_in(home, files):
        raise DataError(f"is a link, and a project holds none. {ANEW}", file=link)
    for file, fact in files.items():
        check_file(home / file, fact)
    for folder, folders, names in os.walk(home):
        for name in folders + names:
            path = Path(folder, name)
            known = path.relative_to(home).as_posix() in files
            if path.is_symlink() or (name in names and not known):
                raise DataError(f"is not on record. {ANEW}", file=path)


def check_file(path: Path, fact: dict[str, Any]) -> None:
    size = size_of(path)
    if size < 0:
        raise DataError(f"is missing from the project. {ANEW}", file=path)
    if size != fact["size"]:
        raise DataError(f"has {size:,} bytes instead of {fact['size']:,}. {ANEW}", file=path)
    if digest_of(path) != fact["blake2b"]:
        raise DataError(f"is damaged: its checksum does not match. {ANEW}", file=path)


def refuse_links(folder: Path) -> None:
    """A link in an untrusted project may lead anywhere: to be read, written over or swept."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder) as all:
        for entry in all:
            if entry.is_symlink():
                raise DataError(
                    "is a link, and a project holds none. Remove it, or put what it points to "
                    "in its place.",
                    file=folder / entry.name,
                )


def link_in(home: Path, files: Iterable[str]) -> Path | None:
    """The first link on the way to one of these files of a stage."""
    places = {home: None}
    for file in files:
        parts = Path(file).parts
        places |= {home.joinpath(*parts[: i + 1]): None for i in range(len(parts))}
    return next((place for place in places if place.is_symlink()), None)


def remove(path: Path) -> None:
    """Remove a folder, or the link that stands in its place."""
    if path.is_symlink():
        path.unlink()
    elif path.exists():
        shutil.rmtree(path)
