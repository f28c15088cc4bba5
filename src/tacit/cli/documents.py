"""Documents for the commands that take them: options, reading, and what partial ones mean."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from tacit.data.document_report import IngestReport
    from tacit.data.documents import Documents

__all__ = ["Size", "check_whole", "document_options", "read_documents"]

F = TypeVar("F", bound=Callable[..., Any])
UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


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
    for option in reversed(options):
        command = option(command)
    return command


def read_documents(
    path: str, text: str | None, id: str | None, kind: str | None, encoding: str | None
) -> "Documents":
    """The documents of a path. One that ends early gives what there is, see check_whole."""
    from tacit.data.documents import Documents

    return Documents.open(
        path,
        text=text,
        id=id,
        format=kind,
        encoding=encoding,
        allow_partial=True,  # the work is done; the exit code tells
    )


def check_whole(report: "IngestReport", allow_partial: bool) -> None:
    """Exit with 3 at the end if some of the input could not be read."""
    if report.partial and not allow_partial:
        from tacit.core.errors import PartialInput

        raise PartialInput(
            f"{report.partial[0].partial}. The result is of what could be read; "
            "--allow-partial accepts it.",
            file=report.partial[0].name,
        )
