"""Documents for the commands that take them: options, reading, and what partial ones mean."""

import difflib
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from tacit.data.document_report import IngestReport
    from tacit.data.documents import Documents

__all__ = ["Size", "check_whole", "document_options", "flaw_options", "read_documents"]

F = TypeVar("F", bound=Callable[..., Any])
UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
CHOSEN = "tacit.flaws"  # what was chosen for flaws of the input, in the context's notes
# How Python's arguments are called here, for messages of the reader.
SPELLED = re.compile(
    r"\b(errors|duplicate_ids|duplicate_keys|oversize|format|encoding)="
    r"('[\w-]+'(?:(?:, | or )'\w+')*)|"
    r"\b(?:(allow_partial)=True|(max_document)\b(=?)|(encoding)= ?)"
)


class Size(click.ParamType):
    """Bytes, as 500MB or 4GB."""

    name = "size"

    def convert(self, value: Any, param: Any, ctx: Any) -> int:
        if isinstance(value, int):
            return value
        match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?", str(value).strip().lower())
        if not match or not float(match[1]):
            self.fail(f"{value!r} is no size. Write it as 500MB or 4GB.", param, ctx)
        return int(float(match[1]) * UNITS[match[2]])


def document_options(command: F) -> F:
    """How documents are read, and how much of the work is held in memory."""
    options = [
        click.option("--text", "text_column", metavar="COLUMN", help="Column with the text."),
        click.option("--id", "id_column", metavar="COLUMN", help="Column with their names."),
        click.option(
            "--format",
            "kind",
            type=click.Choice(["lines", "csv", "tsv", "jsonl", "parquet"]),
            help="Of a file; by its name otherwise.",
        ),
        click.option("--encoding", help="Of the text; UTF-8 otherwise."),
        click.option(
            "--memory",
            type=Size(),
            default="1GB",
            show_default=True,
            help="How much to hold in memory while working; the rest goes to temporary files.",
        ),
        click.option(
            "--allow-partial", is_flag=True, help="Exit with 0 after a truncated file too."
        ),
    ]
    command = flaw_options(command)
    for option in reversed(options):
        command = option(command)
    return command


def flaw_options(command: F) -> F:
    """What to do with flaws of the input; ``read_documents`` finds what was chosen."""
    options = [
        (
            "--errors",
            click.Choice(["replace", "strict", "skip"]),
            "Bytes that are no text: become U+FFFD (the default), stop the command, or cost "
            "the document.",
        ),
        (
            "--duplicate-ids",
            click.Choice(["suffix", "error", "first", "last"]),
            "An id that comes again: gets #2, #3, ... (the default), stops the command, or "
            "only the first or last document that has it stays.",
        ),
        (
            "--duplicate-keys",
            click.Choice(["last", "first", "error"]),
            "A key twice in a JSON object: its last value counts (the default), its first, "
            "or the command stops.",
        ),
        (
            "--max-document",
            Size(),
            "Bytes that a document may have; 64MiB if not given.",
        ),
        (
            "--oversize",
            click.Choice(["split", "skip", "error"]),
            "Longer documents: are cut between words (the default), left out, or stop the "
            "command.",
        ),
    ]
    for name, kind, said in reversed(options):
        command = click.option(
            name, type=kind, help=said, expose_value=False, callback=remember_choice
        )(command)
    return command


def remember_choice(context: click.Context, option: click.Parameter, value: Any) -> None:
    if value is not None and option.name is not None:
        context.meta.setdefault(CHOSEN, {})[option.name] = value


def read_documents(
    path: str, text: str | None, id: str | None, kind: str | None, encoding: str | None
) -> "Documents":
    """The documents of a path. One that ends early gives what there is, see check_whole."""
    from tacit.core.errors import DataError
    from tacit.data.documents import Documents

    if path != "-" and not Path(path).exists():
        raise DataError(missing(path))
    if (Path(path) / "project.json").is_file() and (Path(path) / "stages").is_dir():
        raise DataError(
            "is a project, not documents. Its report is report.html; open it live with: "
            f"tacit serve {path}",
            file=path,
        )
    context = click.get_current_context(silent=True)
    chosen = context.meta.get(CHOSEN, {}) if context is not None else {}
    try:
        return Documents.open(
            path,
            text=text,
            id=id,
            format=kind,
            encoding=encoding,
            allow_partial=True,  # the work is done; the exit code tells
            **chosen,
        )
    except DataError as error:
        error.args = (spelled(str(error)),)
        raise
    except ValueError as error:
        raise DataError(spelled(str(error))) from None


def missing(path: str) -> str:
    """That there is no such file, and the one that was perhaps meant."""
    target = Path(path)
    try:
        names = [each.name for each in target.parent.iterdir()]
    except OSError:
        names = []
    close = difflib.get_close_matches(target.name, names, n=1)
    meant = f" Did you mean {str(target.with_name(close[0]))!r}?" if close else ""
    return f"There is no file or folder {path[:200]!r}.{meant}"


def spelled(message: str) -> str:
    """A message of the reader with options where it has arguments.

    >>> spelled("errors='replace' reads it as U+FFFD; encoding= names another.")
    '--errors replace reads it as U+FFFD; --encoding names another.'
    """

    def option(found: re.Match) -> str:
        name, values, flag, size, equals, encoding = found.groups()
        if name:
            return f"--{name.replace('_', '-')} {values.replace(chr(39), '')}"
        if encoding:
            return "--encoding "
        return f"--{(flag or size).replace('_', '-')}{' ' if equals else ''}"

    return SPELLED.sub(option, message)


def check_whole(report: "IngestReport", allow_partial: bool) -> None:
    """Exit with 3 at the end if some of the input could not be read."""
    if report.partial and not allow_partial:
        from tacit.core.errors import PartialInput

        raise PartialInput(
            f"{report.partial[0].partial}. The result is of what could be read; "
            "--allow-partial accepts it.",
            file=report.partial[0].name,
        )
