"""The folder of a project: what each stage found, and a record of what is whole.

    project.json             the record: settings, and of every stage its key and its files
    stages/NAME-KEY/         what a stage wrote
    timings.json             how long each stage took, which no result depends on
    lock                     held while somebody writes

A stage writes into a folder of its own, which gets its name when every file is on the disk;
then the record is replaced. A kill at any moment leaves the record before or the one after, and
folders that no record names are swept by the next writer. The key of a stage is a digest of its
name and version, its settings and the keys of what it reads, so that running again does only
what changed.
"""

import contextlib
import hashlib
import json
import os
import secrets
import shutil
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tacit._version import __version__
from tacit.core.atomic import atomic_write, sync_folder
from tacit.core.errors import DataError, Locked

try:
    import fcntl
except ImportError:  # Windows: the second writer is not noticed there
    fcntl = None  # type: ignore[assignment]

__all__ = ["ProjectFolder", "digest", "key_of"]

FORMAT = 1
RECORD, TIMINGS, LOCK, STAGES = "project.json", "timings.json", "lock", "stages"
MOST_RECORD = 2**26  # bytes; ours are thousands of times smaller
CHUNK = 2**20


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
        return all(size_of(home / file) == fact["size"] for file, fact in files.items())

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
            home = self.home(name, entry["key"])
            for file, fact in entry["files"].items():
                check_file(home / file, fact)

    def home(self, name: str, key: str) -> Path:
        """Where a stage with this key belongs, whether it is there or not."""
        return self.path / STAGES / f"{name}-{key[:16]}"

    # --- Writing ---

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the folder as its only writer."""
        self.path.mkdir(parents=True, exist_ok=True)
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
        try:
            write(temporary)
            files = {
                path.relative_to(temporary).as_posix(): settle(path)
                for path in sorted(temporary.rglob("*"))
                if path.is_file()
            }
            sync_folder(temporary)
            if home.exists():  # whole but unrecorded, or damaged: the new one replaces it
                shutil.rmtree(home)
            temporary.rename(home)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise
        sync_folder(home.parent)
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
        self.record.update(facts)
        write_json(self.path / RECORD, self.record)

    def sweep(self) -> None:
        """Remove what no record names."""
        known = {self.home(name, e["key"]).name for name, e in self.record["stages"].items()}
        with contextlib.suppress(FileNotFoundError):
            for path in (self.path / STAGES).iterdir():
                if path.name not in known and path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path, ignore_errors=True)

    # --- Timings ---

    @property
    def timings(self) -> dict[str, float]:
        """Seconds that each stage took."""
        try:
            return {k: float(v) for k, v in read_json(self.path / TIMINGS).items()}
        except (OSError, ValueError, DataError):
            return {}  # nobody depends on them

    def time(self, name: str, seconds: float) -> None:
        """Note how long a stage took."""
        write_json(self.path / TIMINGS, {**self.timings, name: round(seconds, 3)})


def key_of(name: str, version: int, settings: dict[str, Any], needs: dict[str, str]) -> str:
    """The digest that stands for a stage with these settings on these inputs."""
    return digest(json.dumps([name, version, settings, needs], sort_keys=True).encode())


def digest(data: bytes) -> str:
    """64 hexadecimal digits that stand for these bytes."""
    return hashlib.blake2b(data, digest_size=32).hexdigest()


# --- Files ---


def settle(path: Path) -> dict[str, Any]:
    """Bring a file to the disk; its size and digest."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
    return {"size": path.stat().st_size, "blake2b": digest_of(path)}


def digest_of(path: Path) -> str:
    found = hashlib.blake2b(digest_size=32)
    with open(path, "rb") as file:
        while chunk := file.read(CHUNK):
            found.update(chunk)
    return found.hexdigest()


def size_of(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return -1


def check_file(path: Path, fact: dict[str, Any]) -> None:
    size = size_of(path)
    way_out = "Run tacit explore again; it makes anew what is missing."
    if size < 0:
        raise DataError(f"is missing from the project. {way_out}", file=path)
    if size != fact["size"]:
        raise DataError(f"has {size:,} bytes instead of {fact['size']:,}. {way_out}", file=path)
    if digest_of(path) != fact.get("blake2b"):
        raise DataError(f"is damaged: its checksum does not match. {way_out}", file=path)


def write_json(path: Path, document: dict[str, Any]) -> None:
    with atomic_write(path) as file:
        file.write(json.dumps(document, indent=1, sort_keys=True).encode() + b"\n")


def read_json(path: Path) -> dict[str, Any]:
    if size_of(path) > MOST_RECORD:
        raise DataError("is too large to be a record of a project.", file=path)
    try:
        document = json.loads(path.read_bytes())
    except ValueError as error:
        raise DataError(f"is damaged: {error}.", file=path) from None
    if not isinstance(document, dict):
        raise DataError("is damaged: it holds no JSON object.", file=path)
    return document


def read_record(folder: Path) -> dict[str, Any]:
    """The record of a project; an empty one where there is none yet."""
    path = folder / RECORD
    try:
        record = read_json(path)
    except FileNotFoundError:
        return {"format": FORMAT, "tacit": __version__, "settings": {}, "stages": {}}
    except NotADirectoryError:
        raise DataError("is a file; a project is a folder.", file=folder) from None
    version = record.get("format")
    if not isinstance(version, int) or version < 1:
        raise DataError("is not the record of a Tacit project: it has no format.", file=path)
    if version > FORMAT:
        raise DataError(
            f"has format {version}, and this Tacit reads up to {FORMAT}. Install a newer one.",
            file=path,
        )
    for name, entry in checked(record.get("stages"), path).items():
        facts = checked(entry, path)
        key, files = facts.get("key"), checked(facts.get("files"), path)
        sound = isinstance(key, str) and key.isalnum() and str(name).isidentifier()
        if not (sound and all(inside(file) for file in files)):
            raise DataError(
                f"is damaged: its stage {str(name)[:40]!r} makes no sense.", file=path
            )
        for fact in files.values():
            if not isinstance(checked(fact, path).get("size"), int):
                raise DataError("is damaged: a file has no size.", file=path)
    return record


def checked(value: Any, path: Path) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise DataError("is damaged: an object is missing.", file=path)
    return value


def inside(name: str) -> bool:
    """Whether a name from a record stays in its folder, whoever wrote the record."""
    parts = Path(name).parts
    return bool(parts) and not Path(name).is_absolute() and ".." not in parts


# --- One writer at a time ---


@contextmanager
def locked(path: Path, project: Path) -> Iterator[None]:
    """Hold a lock that dies with the process; say who has it if somebody does."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    with os.fdopen(descriptor, "r+b") as file:
        if fcntl is not None:
            try:
                fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                holder = file.read(200).decode("utf-8", "replace").strip() or "another process"
                raise Locked(
                    f"{project} is being written by {holder}. Wait for it, or stop it."
                ) from None
        file.truncate(0)
        file.write(f"process {os.getpid()} on {socket.gethostname()}\n".encode())
        file.flush()
        yield
        file.truncate(0)
