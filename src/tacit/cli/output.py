"""What a command writes: results to standard output or files, messages to standard error.

Text from data, file names or errors may contain terminal escapes; ``clean`` removes them. A
file is replaced only after its new content has been written completely.
"""

import io
import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from errno import EACCES, EISDIR, ENOENT
from itertools import chain
from os import W_OK, access, strerror
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

if TYPE_CHECKING:
    from rich.console import Console

__all__ = [
    "can_print", "check_file", "check_picture", "check_target", "clean", "console",
    "draw_table", "echo", "is_quiet", "need_matplotlib", "note", "open_output",
    "print_json", "save_figure", "say", "say_written", "write_csv", "write_numbers",
]  # fmt: skip

PICTURES = ("png", "pdf", "svg")

ESCAPE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # colors, cursor movements
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)"  # titles
    r"|\x1b[ -/]*[0-~]?"
)
REORDER = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # joiners, which scripts need, stay
CONTROLS = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f{REORDER}]")
UNSAFE = re.compile(f"[\x7f-\x9f{REORDER}]")  # in JSON, which escapes the others


def clean(text: object) -> str:
    r"""Text without terminal escapes, control characters and reorderings.

    >>> clean("\x1b[31mred\x1b[0m and \x07loud\r\nsecond line")
    'red and loud\nsecond line'
    """
    plain = CONTROLS.sub("", ESCAPE.sub("", str(text)))
    return re.sub("[\ud800-\udfff]", "\ufffd", plain)  # lone surrogates cannot be printed


def say(*lines: object, quiet: bool = False) -> None:
    """Print messages to standard error."""
    if not quiet:
        for line in lines:
            click.echo(clean(line), err=True)


def is_quiet() -> bool:
    """Whether --quiet is set."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.params.get("quiet"))


def note(*lines: object) -> None:
    """Print messages that --quiet hides."""
    say(*lines, quiet=is_quiet())


def echo(*lines: object) -> None:
    """Print lines of a result; to standard error if a file goes to standard output."""
    for line in lines:
        click.echo(clean(line), err=stdout_is_taken())


def stdout_is_taken() -> bool:
    """Whether an option for a text file sends that file to standard output."""
    context = click.get_current_context(silent=True)
    return context is not None and "-" in map(context.params.get, ("out", "rolling"))


def console(*, stderr: bool | None = None) -> "Console":
    """A console for tables on the stream of ``echo``. It respects NO_COLOR and the width of the
    terminal."""
    from rich.console import Console

    class Page(Console):
        def on_broken_pipe(self) -> None:
            raise  # rich would exit with 1, but a reader that stopped reading is not an error

    stderr = stdout_is_taken() if stderr is None else stderr
    stream = sys.stderr if stderr else sys.stdout
    # Data is never markup: a column called [bold] is a column called [bold].
    return Page(file=stream, markup=False, emoji=False, highlight=False)


def print_json(document: dict[str, Any]) -> None:
    """Print one JSON document to standard output."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2)
    text = text.encode("utf-8", "replace").decode()
    # Escaped, so that nothing in it can move the cursor or reverse the line.
    click.echo(UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text))


def can_print(characters: Iterable[str]) -> bool:
    """Whether the encoding of standard output has these characters."""
    try:
        "".join(characters).encode(getattr(sys.stdout, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def draw_table(
    titles: Iterable[str], rows: Iterable[Iterable[str]], *, right: Iterable[int] = ()
) -> None:
    """Print rows of text under titles; the columns numbered in ``right`` are right-aligned."""
    from rich.table import Table

    table = Table(*map(clean, titles), box=None)
    for i in right:
        table.columns[i].justify = "right"
    for row in rows:
        table.add_row(*map(clean, row))
    console().print(table)


# --- Files ---


def check_target(path: str | None) -> None:
    """Raise the errors of writing to ``path`` before the work begins."""
    if path is None or path == "-":
        return
    folder = Path(path).absolute().parent
    if Path(path).is_dir():
        raise IsADirectoryError(EISDIR, strerror(EISDIR), path)
    if not folder.is_dir():
        raise FileNotFoundError(ENOENT, "There is no such folder", str(folder))
    if not access(Path(path) if Path(path).exists() else folder, W_OK):
        raise PermissionError(EACCES, strerror(EACCES), path)


def check_file(path: str) -> None:
    """The same for binary files, which cannot go to standard output."""
    if path == "-":
        raise click.UsageError(
            "Models, matrices and pictures cannot go to standard output: give the name of a "
            "file instead of -. For a file that is called -, write ./-"
        )
    check_target(path)


def say_written(**targets: str | None) -> None:
    """Print where each result is, e.g. ``labels="out.csv"``."""
    for name, path in targets.items():
        if path and path != "-":
            note(f"{name.capitalize()} written to {path}.")


def write_csv(path: str, titles: Sequence[Any], rows: Iterable[Sequence[Any]]) -> None:
    """Write a CSV file, safe to open in a spreadsheet; ``-`` is standard output."""
    from tacit.data.delimited import write_rows

    with open_output(path) as stream:
        on_terminal = stream is sys.stdout and stream.isatty()
        for row in chain([titles], rows):
            if on_terminal:
                row = [clean(cell) if isinstance(cell, str) else cell for cell in row]
            write_rows(stream, [row])


def write_numbers(
    path: str, named: tuple[str, Iterable[Any]], column: str, rows: Any, *, first: int = 0,
    digits: int = 6,
) -> None:  # fmt: skip
    """Write rows of numbers as CSV. ``named`` is the title of the column of names, and the
    names; the other titles are ``column`` and a number, beginning with ``first``."""
    title, names = named
    titles = [title, *(f"{column}{first + j}" for j in range(rows.shape[1]))]
    cells = ([f"{x:.{digits}g}" for x in row] for row in rows)
    write_csv(path, titles, ([name, *row] for name, row in zip(names, cells, strict=True)))


@contextmanager
def open_output(path: str) -> Iterator[TextIO]:
    """Open a text file that replaces the old one at the end; ``-`` is standard output."""
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
        stream.detach()  # atomic_write closes the file


# --- Pictures ---


def check_picture(path: str) -> None:
    """The same for pictures: also the ending of the name, and whether matplotlib is there."""
    check_file(path)
    if Path(path).suffix.lower()[1:] not in PICTURES:
        raise click.UsageError(
            f"--plot {path}: the name must end in {', '.join(f'.{kind}' for kind in PICTURES)}."
        )
    need_matplotlib("--plot")


def need_matplotlib(option: str) -> None:
    """Raise an error that says how to install matplotlib."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError(
            f"{option} needs matplotlib. Install it with: pip install 'tacit-learn[plot]'"
        ) from error


def save_figure(figure: Any, path: str) -> None:
    """Write a figure to a file, without the date: the same picture has the same bytes."""
    import matplotlib

    from tacit.core.atomic import atomic_write

    kind = Path(path).suffix.lower()[1:] or "png"
    dated = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}.get(kind)
    with matplotlib.rc_context({"svg.hashsalt": "tacit"}), atomic_write(path) as file:
        figure.savefig(file, format=kind, dpi=150, metadata=dated)
