"""CSV that is safe to open in a spreadsheet, written whole or not at all."""

import csv
import io
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from errno import EACCES, EISDIR, ENOENT
from os import W_OK, access, strerror
from pathlib import Path
from typing import Any, TextIO

import click

__all__ = ["check_file", "check_target", "guard", "open_output", "write_rows"]

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def guard(cell: Any) -> Any:
    """A cell that no spreadsheet takes for a formula. Numbers pass as they are.

    >>> guard("=HYPERLINK(0)"), guard("-1.5e3"), guard(-2), guard("plain")
    ("'=HYPERLINK(0)", '-1.5e3', -2, 'plain')
    """
    if not isinstance(cell, str):
        return cell
    start = cell.lstrip()[:1]
    if cell[:1] in ("\t", "\r") or (start in tuple("=+-@") and not NUMBER.fullmatch(cell)):
        return "'" + cell
    return cell


def write_rows(stream: TextIO, rows: Iterable[Sequence[Any]]) -> None:
    """Write rows as CSV, every cell guarded."""
    csv.writer(stream, lineterminator="\n").writerows([guard(c) for c in row] for row in rows)


def check_target(path: str | None) -> None:
    """Raise now what writing to ``path`` would raise after all the work."""
    if path is None or path == "-":
        return
    folder = Path(path).absolute().parent
    if Path(path).is_dir():
        raise IsADirectoryError(EISDIR, strerror(EISDIR), path)
    if not folder.is_dir():
        raise FileNotFoundError(ENOENT, "There is no such folder", str(folder))
    if not access(Path(path) if Path(path).exists() else folder, W_OK):
        raise PermissionError(EACCES, strerror(EACCES), path)


def check_file(path: str | None) -> None:
    """The same for what is no text, and so cannot go to standard output."""
    if path == "-":
        raise click.UsageError(
            "Standard output takes no models, matrices and pictures: - must be the name of a "
            "file here. For a file that is called so, write ./-"
        )
    check_target(path)


@contextmanager
def open_output(path: str) -> Iterator[TextIO]:
    """A text file to write, replaced only when all went well; ``-`` is standard output."""
    if path == "-":
        yield sys.stdout
        return
    target = Path(path)
    if target.exists() and not target.is_file():  # a pipe or a device has no old content
        with open(target, "w", encoding="utf-8", errors="replace", newline="") as stream:
            yield stream
        return
    from tacit.core.atomic import atomic_write

    with atomic_write(target) as file:
        stream = io.TextIOWrapper(file, encoding="utf-8", errors="replace", newline="")
        yield stream
        stream.flush()
        stream.detach()  # the file is closed by who opened it
