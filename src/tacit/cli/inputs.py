"""What a command reads: documents, their labels, tables of numbers or labels, text files.

``-`` is standard input everywhere. Labels of documents come from a column, or in a folder from
its subfolders: spam/17.txt is labeled spam.
"""

import csv
import difflib
import io
import re
import sys
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, NoReturn

import click

from tacit.cli.options import DocumentOptions
from tacit.cli.output import say

if TYPE_CHECKING:
    from tacit.data.documents import Documents
    from tacit.data.label_files import LabelTable
    from tacit.data.number_files import NumberTable

__all__ = [
    "check_rows", "check_whole", "label_text", "open_documents", "read_labels",
    "read_number_file", "read_label_file", "read_pairs", "read_text", "read_vocabulary",
    "source_of",
]  # fmt: skip

LABEL_COLUMNS = ("label", "labels", "class", "category", "target", "y")  # by default
# Python's names of the options, for messages of the reader.
SPELLED = re.compile(
    r"\b(errors|duplicate_ids|duplicate_keys|oversize|format|encoding)="
    r"('[\w-]+'(?:(?:, | or )'\w+')*)|"
    r"\b(?:(allow_partial)=True|(max_document)\b(=?)|(encoding)= ?)"
)


# --- Documents ---


def open_documents(path: str, options: DocumentOptions, *, quiet: bool) -> "Documents":
    """The documents of a path; notes about them go to standard error.

    A truncated file gives the documents that could be read: call ``check_whole`` at the end.
    """
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
    try:
        documents = Documents.open(
            path,
            text=options.text_column,
            id=options.id_column,
            format=options.kind,
            encoding=options.encoding,
            errors=options.errors,
            duplicate_ids=options.duplicate_ids,
            duplicate_keys=options.duplicate_keys,
            max_document=options.max_document,
            oversize=options.oversize,
            follow_links=options.follow_links,
            allow_partial=True,  # check_whole sets the exit code when the work is done
        )
    except DataError as error:
        error.args = (spelled(str(error)),)
        raise
    except ValueError as error:
        raise DataError(spelled(str(error))) from None
    say(*documents.report.lines(), quiet=quiet)
    return documents


def missing(path: str) -> str:
    """A message that there is no such file, with the closest name there is."""
    target = Path(path)
    try:
        names = [each.name for each in target.parent.iterdir()]
    except OSError:
        names = []
    close = difflib.get_close_matches(target.name, names, n=1)
    meant = f" Did you mean {str(target.with_name(close[0]))!r}?" if close else ""
    return f"There is no file or folder {path[:200]!r}.{meant}"


def spelled(message: str) -> str:
    """A message of the reader with command-line options in place of Python arguments.

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


def check_whole(documents: "Documents", options: DocumentOptions) -> None:
    """Exit with 3 at the end if some of the documents could not be read."""
    partial = documents.report.partial
    if partial:
        check_rows(partial[0].partial, partial[0].name, options.allow_partial)


def check_rows(partial: str | None, file: str, allow_partial: bool) -> None:
    """Exit with 3 at the end if a file broke off (``partial`` says how), unless allowed."""
    if partial and not allow_partial:
        from tacit.core.errors import PartialInput

        raise PartialInput(
            f"{partial}. The result covers what could be read; --allow-partial accepts it.",
            file=file,
        )


def read_labels(
    documents: "Documents",
    path: str,
    column: str | None,
    *,
    quiet: bool = False,
    optional: bool = False,
) -> list[Any]:
    """The label of every document.

    A missing one is an error with its place; with ``optional`` it is None.
    """
    from tacit.core.errors import DataError

    if not len(documents):
        raise DataError(f"{path} holds no documents. Give some, with their labels.")
    columns = list(documents.columns)
    if not columns and documents.names is not None:
        if column is not None:
            refuse_column(
                f"{column!r} is a column, but {path} is a folder: its labels are the names of "
                "its subfolders."
            )
        return [subfolder(str(name), path) for name in documents.ids]
    if not columns:
        refuse_column(
            f"{path} has no column besides the text that could hold labels. Give a .csv, .tsv, "
            ".jsonl or .parquet file, or name its format with --format."
        )
    if column is None:
        column = next((name for name in LABEL_COLUMNS if name in columns), None)
        if column is None:
            refuse_column(f"which column is it? The columns besides the text are {columns}.")
        say(f"Guessed: labels are in column {column!r}.", quiet=quiet)
    elif column not in columns:
        refuse_column(
            f"there is no column {column!r} in {path}. The columns besides the text are "
            f"{columns}."
        )
    labels = documents.column(column)
    for row, label in enumerate(labels):
        if label is None or label == "" or label != label:
            if optional:
                labels[row] = None
                continue
            raise DataError(
                "the label is missing. Fill it in, or leave the document out.",
                file=path,
                row=row,
                column=column,
            )
    known = [label for label in labels if label is not None]
    if not all(type(label) is int and abs(label) < 2**63 for label in known):
        labels = [None if label is None else label_text(label) for label in labels]
    return labels


def refuse_column(message: str) -> NoReturn:
    raise click.BadParameter(message, param_hint="--label")


def label_text(label: Any) -> str:
    """A label as text; truth values as JSON writes them."""
    return str(label).lower() if isinstance(label, bool) else str(label)


def subfolder(name: str, path: str) -> str:
    from tacit.core.errors import DataError

    parts = PurePath(name).parts
    if len(parts) < 2:
        raise DataError(
            f"{name} is not in a subfolder that could be its label. Put documents in one "
            "folder per label, as in spam/17.txt.",
            file=path,
        )
    return parts[0]


# --- Tables ---


def source_of(path: str) -> Any:
    """A path, or standard input for ``-``."""
    return sys.stdin.buffer if path == "-" else path


def read_number_file(
    path: str, columns: str | None, id_column: str | None, header: bool | None,
    *, missing: bool = False,
) -> "NumberTable":  # fmt: skip
    """The columns of numbers of a file; a truncated one gives the rows there are.

    With ``missing``, an empty cell is NaN.
    """
    from tacit.data.number_files import read_numbers

    return read_numbers(
        source_of(path),
        columns=None if columns is None else next(csv.reader([columns]), []),
        id_column=id_column,
        header=header,
        allow_partial=True,
        missing=missing,
    )


def read_label_file(
    path: str, column: str | None, id_column: str | None, header: bool | None
) -> "LabelTable":
    """A column of labels, with ids where there are any."""
    from tacit.data import label_files

    return label_files.read_labels(
        source_of(path), column=column, id_column=id_column, header=header
    )


# --- Text files ---


def read_text(path: str, *, quiet: bool = False) -> str:
    """A text file: UTF-8 unless a byte order mark says otherwise; bad bytes become U+FFFD."""
    from tacit.core.errors import PartialInput
    from tacit.data.streams import read_raw, to_utf8

    if path == "-":
        raw = read_raw(sys.stdin.buffer, "standard input")
    else:
        with open(path, "rb") as stream:
            raw = read_raw(stream, path)
    raw = to_utf8(raw)
    if raw.partial:
        raise PartialInput(f"{raw.partial}. Make it again.", file=raw.name)
    say(*(f"{raw.name}: {note}." for note in raw.notes), quiet=quiet)
    return raw.data.decode("utf-8", "replace")


def read_vocabulary(path: str) -> list[str]:
    """The words of a file, separated by ASCII white space as in the text itself."""
    from tacit.core.errors import DataError

    words = {word.decode("utf-8") for word in read_text(path).encode("utf-8").split()}
    if not words:
        raise DataError("there is no word in it. Write one to a line.", file=path)
    return sorted(words)


def read_pairs(path: str) -> list[tuple[str, str]]:
    """Misspellings and corrections: the first two columns, without the line that names them."""
    from tacit.core.errors import DataError

    content = read_text(path)
    delimiter = "\t" if "\t" in content.partition("\n")[0] else ","
    pairs = []
    for row, cells in enumerate(csv.reader(io.StringIO(content), delimiter=delimiter), 1):
        if not cells or (row == 1 and cells[0].strip().lower() in ("misspelling", "typed")):
            continue
        if len(cells) < 2:
            raise DataError(
                f"has {len(cells)} column, but a misspelling and its correction are needed.",
                file=path,
                row=row,
            )
        pairs.append((cells[0], cells[1]))
    return pairs
