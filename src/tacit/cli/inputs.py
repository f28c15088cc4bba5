"""What a command reads: documents, their labels, tables of numbers or labels, text files.

``-`` is standard input everywhere. Labels of documents come from a column, or in a folder from
its subfolders: spam/17.txt is labeled spam.
"""

import csv
import io
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, NoReturn

import click

from tacit.cli.options import DocumentOptions, TableOptions, refuse_given
from tacit.cli.output import say

if TYPE_CHECKING:
    from tacit.data.documents import Documents
    from tacit.data.label_files import LabelTable
    from tacit.data.number_files import NumberTable

__all__ = [
    "ask_column", "check_whole", "describe_table", "label_text", "named_rows",
    "open_documents", "read_labels", "read_number_file", "read_label_file", "read_pairs",
    "read_text", "read_vocabulary", "row_names", "source_of", "wrong_model",
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
    refuse_unused(path, documents)
    say(*documents.report.lines(), quiet=quiet)
    return documents


def refuse_unused(path: str, documents: "Documents") -> None:
    """Refuse options for tables and folders where the documents come from something else."""
    if click.get_current_context(silent=True) is None:
        return  # called from Python
    is_folder = path != "-" and Path(path).is_dir()
    what = "a folder of text files" if is_folder else "text with one document per line"
    if documents.report.text_column is None:
        refuse_given(
            ["text_column", "id_column"],
            f"names a column of a table, but {path} is {what}. Leave it out, or name the "
            "format with --format.",
        )
        refuse_given(
            ["duplicate_ids", "duplicate_keys"],
            f"is for tables, but {path} is {what}. Leave it out.",
        )
    if not is_folder:
        refuse_given(["follow_links"], f"is for folders, but {path} is not one. Leave it out.")


def missing(path: str) -> str:
    """A message that there is no such file, with the closest name there is."""
    from tacit.core.wording import did_you_mean

    target = Path(path)
    try:
        names = [each.name for each in target.parent.iterdir()]
    except OSError:
        names = []
    meant = did_you_mean(target.name, names)
    if meant and str(target.parent) != ".":
        meant = meant.replace("mean '", f"mean '{target.parent}/")
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


def check_whole(source: Any, options: DocumentOptions | TableOptions) -> None:
    """Exit with 3 at the end if some of the input could not be read.

    ``source`` has a ``report``: documents, a table of numbers, or ratings.
    """
    if options.allow_partial:
        return
    partial, file = source.report.partial, source.report.source
    if isinstance(partial, list):  # of documents, one for each file
        file = partial[0].name if partial else file
        partial = partial[0].partial if partial else None
    if partial:
        from tacit.core.errors import PartialInput

        raise PartialInput(
            f"{partial}. The result covers what could be read; --allow-partial accepts that.",
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
    from tacit.core.wording import listed

    if not len(documents):
        raise DataError(f"{path} holds no documents. Give some, with their labels.")
    columns = list(documents.columns)
    # Names of files may give columns; the subfolders are still the labels.
    if Path(path).is_dir() and column not in columns:
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
            refuse_column(
                f"which column holds the labels? Besides the text there are {listed(columns)}."
            )
        say(f"Guessed: labels are in column {column!r}.", quiet=quiet)
    elif column not in columns:
        refuse_column(unknown_column(column, columns, path))
    labels = documents.column(column)
    for row, label in enumerate(labels):
        if label is None or label == "" or label != label:
            if optional:
                labels[row] = None
                continue
            raise DataError(
                f"the label of document {documents.ids[row]} is missing. Fill it in, or leave "
                "the document out.",
                file=path,
                row=row + 1,
                column=column,
            )
    known = [label for label in labels if label is not None]
    if not all(type(label) is int and abs(label) < 2**63 for label in known):
        labels = [None if label is None else label_text(label) for label in labels]
    return labels


def refuse_column(message: str) -> NoReturn:
    raise click.BadParameter(message, param_hint="--label")


def unknown_column(column: str, columns: Iterable[str], path: str) -> str:
    """A message about a column that a table of documents does not have."""
    from tacit.core.wording import did_you_mean, listed

    known = list(columns)
    there = f"Besides the text there are {listed(known)}." if known else (
        "It has no column besides the text."
    )  # fmt: skip
    return f"there is no column {column!r} in {path}.{did_you_mean(column, known)} {there}"


def ask_column(documents: "Documents", column: str, path: str, option: str) -> list[Any]:
    """The values of a column of documents that an option names."""
    if column not in documents.columns:
        message = unknown_column(column, documents.columns, path)
        raise click.BadParameter(message, param_hint=option)
    return documents.column(column)


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
    path: str, options: TableOptions, *, quiet: bool, gaps: bool = False
) -> "NumberTable":
    """The columns of numbers of a file; notes about it go to standard error.

    A truncated file gives the rows that could be read: call ``check_whole`` at the end.
    With ``gaps``, an empty cell is NaN.
    """
    from tacit.core.errors import DataError
    from tacit.data.number_files import read_numbers

    if path != "-" and not Path(path).exists():
        raise DataError(missing(path))
    if path != "-" and Path(path).is_dir():
        raise DataError(
            f"this is a folder, but a table of numbers is one file. For a folder of documents "
            f"use: tacit explore {path}",
            file=path,
        )
    columns = options.columns
    table = read_numbers(
        source_of(path),
        columns=None if columns is None else next(csv.reader([columns]), []),
        id_column=options.id_column,
        header=options.header,
        allow_partial=True,
        missing=gaps,
    )
    say(*table.report.lines(), quiet=quiet)
    return table


def row_names(table: "NumberTable") -> tuple[str, Any]:
    """The title of the column that names the rows, and the names: ids, or numbers from 1."""
    if table.ids is not None:
        return "id", table.ids
    return "row", range(1, table.values.shape[0] + 1)


@contextmanager
def named_rows(table: "NumberTable") -> Iterator[None]:
    """Errors that count rows and columns from 0, as arrays do, name them as the file does."""
    from tacit.core.errors import DataError

    try:
        yield
    except DataError as error:
        if not isinstance(error.row, int):
            raise
        column: Any = error.column
        if isinstance(column, int) and column < len(table.names):
            column = table.names[column]
        message = error.message
        if table.ids is not None and error.row < len(table.ids):
            message = f"{message} The row is {table.ids[error.row]!r}."
        file = table.report.source
        raise DataError(message, file=file, row=error.row + 1, column=column) from error


def describe_table(documents: "Documents", path: str) -> str | None:
    """A message if documents are rather a table of numbers: the text was guessed, holds next
    to no words, and most other columns are numbers."""
    from itertools import islice

    from tacit.data.delimited import is_float
    from tacit.data.document_tables import NAMES, SAMPLE

    column = documents.report.text_column
    guessed = any("the text is in column" in guess for guess in documents.report.guessed)
    if column is None or not guessed or column.strip().lower() in NAMES:
        return None
    others = list(documents.columns)
    numbers = [
        name for name in others
        if all(isinstance(v, int | float) or v is None for v in documents.column(name))
    ]  # fmt: skip
    sample = list(islice(documents.texts(), SAMPLE))
    words = sum(len(text.split()) for text in sample if not is_float(text))
    all_numbers = all(not text or is_float(text) for text in sample)
    mostly = all_numbers or 2 * len(numbers) > len(others)
    if not numbers or words > 2 * len(sample) or not mostly:
        return None
    return (
        f"this looks like a table of numbers, not of documents: column {column!r} holds "
        f"{'numbers' if all_numbers else 'single words'}. Group its rows with: tacit cluster "
        f"{path}   To explore a column all the same, name it with --text."
    )


# --- Models ---


def wrong_model(file: str, model: Any, wanted: str, command: str) -> Exception:
    """The error for a model file of another kind than a command needs."""
    from tacit.core.errors import ModelFileError

    article = "an" if type(model).__name__[:1] in "AEIOU" else "a"
    return ModelFileError(
        f"{file} holds {article} {type(model).__name__}, not {wanted}. Make one with: {command}"
    )


def read_label_file(
    path: str, column: str | None, id_column: str | None, header: bool | None, *, option: str
) -> "LabelTable":
    """A column of labels, which ``option`` names, with ids where there are any."""
    from tacit.core.errors import DataError
    from tacit.data import label_files

    if path != "-" and not Path(path).exists():
        raise DataError(missing(path))
    try:
        return label_files.read_labels(
            source_of(path), column=column, id_column=id_column, header=header
        )
    except DataError as error:
        error.args = (str(error).replace("Name one.", f"Name one with {option}."),)
        raise


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
