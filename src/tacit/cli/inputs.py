"""What a command reads: documents, their labels, tables of numbers or labels, text files.

``-`` is standard input everywhere. Labels of documents come from a column, or in a folder from
its subfolders: spam/17.txt is labeled spam.
"""

import csv
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import click

from tacit.cli.options import DocumentOptions, TableOptions, refuse_options
from tacit.cli.output import clean, note

if TYPE_CHECKING:
    from tacit.data.documents import Documents
    from tacit.data.label_files import LabelTable
    from tacit.data.number_files import NumberTable

__all__ = [
    "LabelOption", "check_at_end", "check_complete", "check_exists", "clean_documents",
    "column_of", "describe_table", "known", "label_text", "missing", "named_rows",
    "open_documents", "open_model", "read_label_file", "read_labels", "read_number_file",
    "read_pairs", "read_text", "read_vocabulary", "row_names", "source_of", "wrong_model",
]  # fmt: skip

PAIRS = "misspellings and their corrections"
# Arguments of Documents.open in its messages.
ARGUMENT = re.compile(
    r"\b(?:(errors|duplicate_ids|duplicate_keys|oversize|format|encoding|allow_partial|"
    r"max_document)=(?:True)? ?|(max_document)\b)((?:(?:, | or )?'[\w-]+')*)"
)


# --- Documents ---


def open_documents(
    path: str, options: DocumentOptions, *, counted: bool = True
) -> "Documents":
    """The documents of a path. What the reader reports goes to standard error, with their
    number if ``counted``. After truncated input the exit code is 3.
    """
    from tacit.core.errors import DataError
    from tacit.data.documents import Documents

    check_exists(path)
    if (Path(path) / "project.json").is_file() and (Path(path) / "stages").is_dir():
        raise DataError(
            "is a project, not documents. Its report is report.html; open it live with: "
            f"tacit serve {path}",
            file=path,
        )
    settings = {**options._asdict(), "allow_partial": True}  # the exit code reports it
    del settings["memory"]
    try:
        documents = Documents.open(path, **settings)
    except DataError as error:
        error.args = (as_options(str(error)),)
        raise
    except ValueError as error:
        raise DataError(as_options(str(error))) from None
    refuse_unused(path, documents)
    note(*documents.report.lines()[not counted :])
    check_at_end(documents, options.allow_partial)
    return documents


def clean_documents(documents: "Documents", enabled: bool) -> "Documents":
    """The documents as ``tacit explore`` reads them, without markup, headers and repeated
    passages; a note says what was removed."""
    if not enabled:
        return documents
    from tacit.data.documents import Documents
    from tacit.explore.stages.cleaning import Cleaned

    cleaned = Cleaned(documents)
    texts = Documents.of(cleaned.texts())
    note(*cleaned.found.sentences())
    return texts


def refuse_unused(path: str, documents: "Documents") -> None:
    """Refuse options that do not apply to the kind of input."""
    context = click.get_current_context(silent=True)
    if context is None:
        return  # called from Python
    is_folder = path != "-" and Path(path).is_dir()
    suffix = "" if is_folder else Path(re.sub(r"\.(gz|zst)$", "", path)).suffix
    kind = context.params.get("format") or suffix.lower().removeprefix(".")
    what = "a folder of text files" if is_folder else "text with one document per line"
    if documents.report.text_column is None:
        refuse_options(
            ["text", "id"],
            f"names a column of a table, but {path} is {what}. Leave it out, or name the "
            "format with --format.",
        )
        refuse_options(
            ["duplicate_ids", "duplicate_keys"],
            f"is for tables, but {path} is {what}. Leave it out.",
        )
    if is_folder:
        refuse_options(["format"], f"is for a file, but {path} is a folder. Leave it out.")
    else:
        why = f"is for folders, but {path} is not one. Leave it out."
        refuse_options(["follow_links"], why)
    if kind == "parquet":
        why = "is for text, but a Parquet file holds characters, not bytes. Leave it out."
        refuse_options(["encoding", "errors"], why)
    if kind in ("csv", "tsv", "parquet"):
        refuse_options(["duplicate_keys"], f"is for JSON, but {path} is not. Leave it out.")


def check_exists(path: str) -> None:
    """Raise an error if a path does not exist; ``-`` is standard input."""
    from tacit.core.errors import DataError

    if path != "-" and not Path(path).exists():
        raise DataError(missing(path))


def missing(path: str) -> str:
    """The message that a file does not exist, with the closest name in its folder."""
    from tacit.core.wording import did_you_mean

    target = Path(path)
    if target.is_symlink():
        return f"{path[:200]!r} is a symbolic link to something that is not there."
    try:
        names = [each.name for each in target.parent.iterdir()]
    except OSError:
        names = []
    meant = did_you_mean(target.name, names)
    if meant and str(target.parent) != ".":
        meant = meant.replace("mean '", f"mean '{target.parent}/")
    return f"There is no file or folder {path[:200]!r}.{meant}"


def as_options(message: str) -> str:
    """A message with command-line options in place of Python arguments.

    >>> as_options("errors='replace' reads it as U+FFFD; encoding= names another.")
    '--errors replace reads it as U+FFFD; --encoding names another.'
    """

    def option(match: re.Match) -> str:
        name = (match[1] or match[2]).replace("_", "-")
        values = match[3].replace("'", "")
        return f"--{name}{' ' if match[1] else ''}{values}"

    return ARGUMENT.sub(option, message)


def check_at_end(source: Any, allow_partial: bool) -> None:
    """Exit with 3 at the end of the command, if some of the input could not be read.

    ``source`` has a ``report``: documents, a table of numbers, or ratings.
    """
    context = click.get_current_context(silent=True)
    if context is not None and not allow_partial:
        settings = context.find_root().ensure_object(dict)
        settings.setdefault("at end", []).append(lambda: check_complete(source))


def check_complete(source: Any) -> None:
    """Raise PartialInput if some of the input could not be read."""
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


class LabelOption(NamedTuple):
    """An option that names a column of labels."""

    name: str
    labels: str  # the word for them in messages
    columns: tuple[str, ...]  # names to guess


LABELS = ("label", "labels", "class", "category", "target", "y")
LABEL = LabelOption("--label", "labels", LABELS)


def read_labels(
    documents: "Documents",
    path: str,
    column: str | None,
    *,
    optional: bool = False,
    option: LabelOption = LABEL,
) -> list[Any]:
    """The labels of the documents: integers if all are, text otherwise.

    A missing label is an error that names its row; with ``optional`` it is None.
    """
    from tacit.core.errors import DataError

    def refuse(message: str) -> NoReturn:
        raise click.BadParameter(message, param_hint=option.name)

    if not len(documents):
        raise DataError(f"{path} holds no documents. Give some, with their {option.labels}.")
    columns = list(documents.columns)
    # File names may give columns, but the subfolders are the labels.
    if Path(path).is_dir() and column not in columns:
        if column is not None:
            refuse(
                f"{column!r} is a column, but {path} is a folder: its labels are the names of "
                "its subfolders."
            )
        return [subfolder(str(name), path) for name in documents.ids]
    if not columns:
        refuse(
            f"{path} has no column besides the text that could hold {option.labels}. Give a "
            ".csv, .tsv, .jsonl or .parquet file, or name its format with --format."
        )
    if column is None:
        by_name = {name.lower(): name for name in reversed(columns)}
        column = next((by_name[name] for name in option.columns if name in by_name), None)
        if column is None:
            refuse(f"which column holds the {option.labels}? {other_columns(columns)}")
        note(f"Guessed: {option.labels} are in column {column!r}.")
    labels = column_of(documents, column, path, option.name)
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


def column_of(documents: "Documents", column: str, path: str, option: str) -> list[Any]:
    """The values of the column that ``option`` names."""
    from tacit.core.wording import did_you_mean

    columns = list(documents.columns)
    if column in columns:
        return documents.column(column)
    message = f"{column!r} is the column of the text."
    if column != documents.report.text_column:
        message = f"there is no column {column!r} in {path}.{did_you_mean(column, columns)}"
    raise click.BadParameter(f"{message} {other_columns(columns)}", param_hint=option)


def other_columns(columns: list[str]) -> str:
    """A sentence that lists the columns of a table of documents."""
    from tacit.core.wording import listed

    if not columns:
        return "It has no column besides the text."
    verb = "is" if len(columns) == 1 else "are"
    return f"Besides the text there {verb} {listed(columns)}."


def label_text(label: Any) -> str:
    """A label as text; truth values as JSON writes them."""
    return str(label).lower() if isinstance(label, bool) else str(label)


def subfolder(name: str, path: str) -> str:
    """The label of a document in a folder."""
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
    path: str, options: TableOptions, *, gaps: bool = False
) -> "NumberTable":
    """The columns of numbers of a file; notes about it go to standard error.

    After truncated input the exit code is 3. With ``gaps``, an empty cell is NaN.
    """
    from tacit.core.errors import DataError
    from tacit.data.number_files import read_numbers

    check_exists(path)
    if path != "-" and Path(path).is_dir():
        raise DataError(
            f"this is a folder, but a table of numbers is one file. For a folder of documents "
            f"use: tacit explore {path}",
            file=path,
        )
    columns = options.columns
    try:
        table = read_numbers(
            source_of(path),
            columns=None if columns is None else next(csv.reader([columns]), []),
            id_column=options.id_column,
            header=options.header,
            allow_partial=True,
            missing=gaps,
        )
    except DataError as error:
        prose = Path(path).suffix == ".txt" and "Correct it; cells" in error.message
        if "no column of numbers" in error.message or "this is JSON" in error.message or prose:
            error.args = (f"{error} For documents use: tacit explore {path}",)
        raise
    if table.report.format != "CSV" and click.get_current_context(silent=True) is not None:
        why = f"is for text, but {path} is a {table.report.format} file. Leave it out."
        refuse_options(["header"], why)
    note(*table.report.lines())
    if options.columns is None:
        for name in numbering_columns(table):
            note(f"Column {name} numbers the rows but was used as data; --id {name} uses it as "
                 "ids.")  # fmt: skip
    check_at_end(table, options.allow_partial)
    return table


def numbering_columns(table: "NumberTable") -> list[str]:
    """The columns of a table in memory that hold 0, 1, 2, ... or 1, 2, 3, ..."""
    import numpy as np

    rows = table.values
    if not isinstance(rows, np.ndarray) or len(rows) < 10:
        return []
    counts = (np.diff(rows, axis=0) == 1).all(axis=0) & np.isin(rows[0], (0, 1))
    return [name for name, numbers in zip(table.names, counts, strict=True) if numbers]


def row_names(table: "NumberTable") -> tuple[str, Any]:
    """The title of the column of row names, and the names: ids, or numbers from 1."""
    if table.ids is not None:
        return "id", table.ids
    return "row", range(1, table.values.shape[0] + 1)


@contextmanager
def named_rows(table: "NumberTable") -> Iterator[None]:
    """Rewrite errors: rows count from 1 and columns have names, as in the file."""
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
    """A message if documents look like a table of numbers: the text column was guessed, holds
    hardly any words, and most other columns are numbers."""
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
    if not (numbers or all_numbers) or words > 2 * len(sample) or not mostly:
        return None
    way_out = f"Group its rows with: tacit cluster {path} "
    if re.search(r"\.(json|jsonl|ndjson)\b", path):
        way_out = "Write it as CSV, then group its rows with tacit cluster."
    return (
        f"this looks like a table of numbers, not of documents: column {column!r} holds "
        f"{'numbers' if all_numbers else 'single words'}. {way_out} To explore a column "
        "anyway, name it with --text."
    )


# --- Models ---


def open_model(
    file: str, can: Iterable[str], expected: str, command: str, *, mmap: bool = False
) -> Any:
    """The model in a file. A model without one of the attributes ``can`` is an error, which
    says what is ``expected`` and which ``command`` makes one."""
    from tacit.core.modelfile import load

    check_exists(file)
    model = load(file, mmap=mmap)
    if not all(hasattr(model, name) for name in can):
        raise wrong_model(file, model, expected, command)
    return model


def wrong_model(file: str, model: Any, expected: str, command: str) -> Exception:
    """The error for a model file of another kind than a command needs."""
    from tacit.core.errors import ModelFileError

    name = type(model).__name__
    vowels = "AEFHILMNORSX" if name[1:2].isupper() else "AEIOU"  # an RBM, but a GAN
    article = "an" if name[:1] in vowels else "a"
    return ModelFileError(
        f"{file} holds {article} {name}, not {expected}. Make one with: {command}"
    )


@contextmanager
def known(hint: str, names: Iterable[str] = ()) -> Iterator[None]:
    """Turn a KeyError of a model into a usage error of the argument ``hint``, which suggests
    the closest of ``names``."""
    from tacit.core.wording import did_you_mean

    try:
        yield
    except KeyError as error:
        message = clean(error.args[0])
        unknown = re.search(r"'([^']+)'", message)
        meant = did_you_mean(unknown[1], names) if unknown else ""
        raise click.BadParameter(f"{message}{meant}", param_hint=hint) from None


def read_label_file(
    path: str, column: str | None, id_column: str | None, header: bool | None, *, option: str
) -> "LabelTable":
    """The column of labels that ``option`` names, with ids if there are any."""
    from tacit.core.errors import DataError
    from tacit.data import label_files

    check_exists(path)
    try:
        return label_files.read_labels(
            source_of(path), column=column, id_column=id_column, header=header
        )
    except DataError as error:
        error.args = (str(error).replace("Name one.", f"Name one with {option}."),)
        raise


# --- Text files ---


def read_text(path: str) -> str:
    """A text file: UTF-8 unless a byte order mark says otherwise; bad bytes become U+FFFD."""
    from tacit.core.errors import PartialInput
    from tacit.data.streams import opened, read_raw, to_utf8

    with opened(source_of(path)) as stream:
        raw = to_utf8(read_raw(stream, "standard input" if path == "-" else path))
    if raw.partial:
        raise PartialInput(f"{raw.partial}. Make it again.", file=raw.name)
    note(*(f"{raw.name}: {each}." for each in raw.notes))
    return raw.data.decode("utf-8", "replace")


def read_vocabulary(path: str) -> list[str]:
    """The words of a file, separated by ASCII white space as in the text itself."""
    from tacit.core.errors import DataError

    words = {word.decode("utf-8") for word in read_text(path).encode("utf-8").split()}
    if not words:
        raise DataError("there is no word in it. Write one to a line.", file=path)
    return sorted(words)


def read_pairs(path: str, *, content: str = PAIRS) -> list[tuple[str, str]]:
    """The first two columns of a file, called ``content`` in messages, without the header of a
    list of misspellings."""
    from tacit.core.errors import DataError
    from tacit.data.delimited import open_delimited

    opened = open_delimited(read_text(path).encode(), path, header=False, content=content)
    pairs = []
    for record in opened.rows():
        if len(record.cells) < 2:
            message = f"has one column, but {content} are needed."
            raise DataError(message, file=path, row=record.line)
        pairs.append((record.cells[0].decode(), record.cells[1].decode()))
    has_header = pairs[0][0].strip().lower() in ("misspelling", "typed")
    return pairs[1:] if has_header else pairs
