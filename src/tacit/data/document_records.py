"""Records with a text in them, from .csv, .tsv and .jsonl.

Each reader takes the lines of a file and yields records: the number of the line, the values
by column. Flaws are errors with file and line, or are counted; nothing is swallowed.
"""

import csv
import json
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from tacit.core.errors import DataError
from tacit.data.document_report import IngestReport
from tacit.data.text_block import is_missing

__all__ = ["Record", "guess_text_column", "read_csv", "read_jsonl"]

NAMES = [
    "text", "body", "content", "document", "doc", "message", "review", "abstract", "comment",
    "description", "sentence", "tweet", "post", "article", "review_text", "full_text",
]  # fmt: skip
DELIMITERS = ",;\t|"
HEADER_CELL = 64  # characters; what is longer is no name of a column
SAMPLE = 100  # records to guess by


class Record(NamedTuple):
    """A record of a file, and the line it began in."""

    line: int
    values: dict[str, str | None]


def read_csv(
    lines: Iterable[str],
    name: str,
    report: IngestReport,
    *,
    delimiter: str | None = None,
    quoted: bool = True,
    header: bool | None = None,
    longest: int = 2**26,
) -> Iterator[Record]:
    """Records of delimited text."""
    tee = Tee(lines)
    first = tee.peek()
    if first is None:
        return
    delimiter = delimiter or sniff_delimiter(first, report)
    quoting: Any = csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
    rows = csv.reader(tee, delimiter=delimiter, quoting=quoting, strict=True)
    columns: list[str] | None = None
    while True:
        begun = rows.line_num + 1
        tee.mark()
        try:
            with long_fields(longest):
                row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            raise csv_error(error, tee, begun, delimiter, name, longest) from None
        if not row:
            continue  # an empty line between records
        if columns is None:
            if header is None:
                header = looks_like_header(row)
                kind = "names the columns" if header else "is data: columns are numbered"
                report.guessed.append(f"the first line of {name} {kind}")
            columns = unique(row) if header else [str(i + 1) for i in range(len(row))]
            if header:
                continue
        if len(row) > len(columns):
            raise DataError(
                f"line {begun}: {len(row)} fields, but there are {len(columns)} columns. Put "
                f"text that holds {delimiter!r} in quotes.",
                file=name,
            )
        report.short_rows += len(row) < len(columns)
        yield Record(
            begun, {c: row[i] if i < len(row) else None for i, c in enumerate(columns)}
        )


def read_jsonl(
    lines: Iterable[str],
    name: str,
    report: IngestReport,
    *,
    duplicate_keys: str = "last",
    cut_off: Callable[[], bool] = lambda: False,
) -> Iterator[Record]:
    """Records of JSON objects, or strings, one to a line.

    ``cut_off`` says, at the end, whether the input ended early: its last line may be half a
    line then, and is left out.
    """
    repeats = 0

    def build(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal repeats
        out = dict(pairs)
        if len(out) != len(pairs):
            repeats += 1
            if duplicate_keys == "first":
                out = dict(reversed(pairs))
        return out

    walk = iter(lines)
    for number, line in enumerate(walk, 1):
        if not line.strip():
            continue
        before = repeats
        try:
            value = json.loads(line, object_pairs_hook=build)
        except (ValueError, RecursionError) as error:
            if next(walk, None) is None and cut_off():
                report.notes.append(f"line {number}, which is cut off, was left out")
                return
            raise DataError(
                f"line {number} is not JSON: {what_is_wrong(error)}. Write one object to a "
                "line.",
                file=name,
            ) from None
        if repeats > before:
            report.duplicate_keys += 1
            if duplicate_keys == "error":
                raise DataError(
                    f"line {number}: an object holds a key twice. duplicate_keys='first' or "
                    "'last' takes one of them.",
                    file=name,
                )
        if isinstance(value, str):
            value = {"text": value}
        if not isinstance(value, dict):
            raise DataError(
                f"line {number} holds {type(value).__name__}, not an object or a string. Write "
                "one object per line.",
                file=name,
            )
        yield Record(number, {key: as_cell(cell) for key, cell in value.items()})


def what_is_wrong(error: Exception) -> str:
    """Why a line is no JSON, and at which character, without the line's number in itself."""
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg.lower()} at character {error.pos + 1}"
    return "it is nested too deeply" if isinstance(error, RecursionError) else str(error)


def as_cell(value: Any) -> str | None:
    """A JSON value as the text of a cell."""
    if isinstance(value, str):
        return value
    if is_missing(value):
        return None
    return json.dumps(value, ensure_ascii=False)


def guess_text_column(samples: Sequence[dict[str, Any]], columns: Iterable[str]) -> str | None:
    """The column that a person would call the text: by its name, else the longest."""
    by_name = {column.strip().lower(): column for column in reversed(list(columns))}
    for wanted in NAMES:
        if wanted in by_name:
            return by_name[wanted]

    def length(column: str) -> int:
        cells = (str(sample.get(column) or "") for sample in samples)
        return sum(len(cell) for cell in cells if not is_number(cell))

    return max(by_name.values(), key=length, default=None) if by_name else None


# --- The parts of a CSV reader ---


class Tee:
    """Lines that can be looked at once more, from the start of the record on."""

    def __init__(self, lines: Iterable[str]) -> None:
        self.lines = iter(lines)
        self.ahead: list[str] = []
        self.record: list[str] = []

    def peek(self) -> str | None:
        if not self.ahead:
            self.ahead = [line for line in [next(self.lines, None)] if line is not None]
        return self.ahead[0] if self.ahead else None

    def mark(self) -> None:
        self.record = []

    def __iter__(self) -> "Tee":
        return self

    def __next__(self) -> str:
        line = self.ahead.pop() if self.ahead else next(self.lines)
        self.record.append(line)
        return line


_limit = threading.Lock()


@contextmanager
def long_fields(longest: int) -> Iterator[None]:
    """Let csv read fields over 131,072 characters. Its limit belongs to the process."""
    with _limit:
        before = csv.field_size_limit(max(longest, 131_072))
        try:
            yield
        finally:
            csv.field_size_limit(before)


def csv_error(
    error: csv.Error, tee: Tee, begun: int, delimiter: str, name: str, longest: int
) -> DataError:
    """What is wrong with a record, and in which line it began."""
    if "field larger" in str(error):
        line = begun + open_quote(tee.record, delimiter)
        return DataError(
            f"line {line}: a field is longer than {longest:,} characters. Most likely a quote "
            'opens there and never closes: close it, or double it ("") if it belongs to the '
            "text; or raise max_document.",
            file=name,
        )
    if "unexpected end" in str(error):
        line = begun + open_quote(tee.record, delimiter)
        return DataError(
            f"line {line}: a quote opens here and never closes. Close it, or double it "
            '("") if it belongs to the text.',
            file=name,
        )
    line = begun + max(0, len(tee.record) - 1)
    return DataError(
        f"line {line}, in the record that begins in line {begun}: {error}. Double a quote "
        '("") that belongs to the text.',
        file=name,
    )


def open_quote(lines: Sequence[str], delimiter: str) -> int:
    """In which of a record's lines the quote begins that does not end.

    >>> open_quote(['1,"fine ""so""\\n', 'far","and\\n', 'on'], ",")
    1
    """
    inside, fresh, where = False, True, 0
    for i, line in enumerate(lines):
        j = 0
        while j < len(line):
            if inside and line.startswith('""', j):
                j += 1  # a doubled quote is a character
            elif line[j] == '"' and (inside or fresh):
                inside = not inside
                where = i if inside else where
            fresh = not inside and line[j] in (delimiter, "\n", "\r")
            j += 1
    return where


def sniff_delimiter(line: str, report: IngestReport) -> str:
    """The separator that the first line has most of; a comma if none."""
    best = max(DELIMITERS, key=lambda c: (line.count(c), -DELIMITERS.index(c)))
    if best != "," and line.count(best):
        report.guessed.append(f"fields are separated by {best!r}")
    return best if line.count(best) else ","


def looks_like_header(row: Sequence[str]) -> bool:
    """Short, distinct, filled, and no numbers: the names of columns."""
    short = all(0 < len(cell.strip()) <= HEADER_CELL and cell.count(" ") < 4 for cell in row)
    named = not any(is_number(cell) for cell in row)
    return short and named and len(set(row)) == len(row)


def is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def unique(names: Sequence[str]) -> list[str]:
    """Names of columns, none of them empty, none twice."""
    out: list[str] = []
    for i, name in enumerate(names):
        name = name.strip() or str(i + 1)
        while name in out:
            name += "_"
        out.append(name)
    return out
