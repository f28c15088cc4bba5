"""The record of a project, read as if a stranger had written it, and the files it names.

Names stay inside the folder, nothing is a link, sizes are compared before anything is read, and
what does not fit is an error in one sentence.
"""

import contextlib
import hashlib
import json
import os
import re
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tacit._version import __version__
from tacit.core.atomic import atomic_write
from tacit.core.errors import DataError, TacitError

__all__ = [
    "ANEW", "FORMAT", "RECORD", "check_files", "digest", "digest_of", "link_in", "read_json",
    "read_record", "refuse_links", "remove", "sensible", "settle", "size_of", "write_json",
]  # fmt: skip

FORMAT = 1
RECORD = "project.json"
MOST_RECORD = 2**26  # bytes; ours are thousands of times smaller
CHUNK = 2**20
DIGEST = re.compile(r"[0-9a-f]{64}")
ANEW = "Run tacit explore again; it restores what is missing."
ELSEWHERE = "Explore into another folder (--out); labels.sqlite can be copied there."


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
    """Whether this may be the name of a stage."""
    return name.isascii() and name.isidentifier() and len(name) <= 100


def inside(name: str) -> bool:
    """Whether a name from a record stays in its folder, whoever wrote the record."""
    parts = Path(name).parts
    within = bool(parts) and not Path(name).is_absolute() and ".." not in parts
    return within and name.isprintable() and len(name) <= 1000


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object from a file that a stranger may have written."""
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode):
        what = "a folder" if stat.S_ISDIR(mode) else "a device or a pipe"
        raise DataError(f"is {what}, where a project has a file.", file=path)
    if size_of(path) > MOST_RECORD:
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
    """BLAKE2b of a file's bytes."""
    found = hashlib.blake2b(digest_size=32)
    with open(path, "rb") as file:
        while chunk := file.read(CHUNK):
            found.update(chunk)
    return found.hexdigest()


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
    """A link in a project that came from a stranger may lead anywhere: to be read, written
    over or swept."""
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
