"""CSV and its relatives: separators, quotes, records, header, and cells safe for spreadsheets.

``records`` walks UTF-8 bytes in memory, for tables of numbers and labels. ``read_csv`` reads
line by line, for documents larger than memory. Errors name the line as an editor counts it.
"""

import csv
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

import numpy as np

from tacit.core.errors import DataError
from tacit.core.wording import did_you_mean, listed

if TYPE_CHECKING:
    from tacit.data.document_build import IngestReport

__all__ = [
    "Delimited", "Dialect", "Record", "TextRecord", "choose_columns", "few", "guard",
    "is_float", "name_columns", "open_delimited", "read_csv", "records", "scan_quotes", "sniff",
    "write_rows",
]  # fmt: skip

MISSING = [
    *("", "NA", "N/A", "n/a", "#N/A", "#NA", "<NA>", "NaN", "nan", "-nan", "-NaN", "NAN"),
    *("null", "NULL", "Null", "None", "none", "?", "."),
]
DELIMITERS = {"\t": "tabs", ";": "semicolons", "|": "bars", ",": "commas", " ": "spaces"}
SAMPLE = 50  # records that the separator is chosen by
SAMPLE_CELLS = 2**17  # of them, where records are wide
MOST_COLUMNS = 2**20  # whose names take about 300 MB
MOST_NOTES = 20
TEXT_DELIMITERS = ",;\t|"
HEADER_CELL = 64  # characters; a longer cell is not the name of a column
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


class Dialect(NamedTuple):
    """How cells are separated and decimals marked."""

    delimiter: str = ","
    decimal: str = "."

    def __str__(self) -> str:
        comma = ", with a decimal comma" if self.decimal == "," else ""
        return f"cells are separated by {DELIMITERS[self.delimiter]}{comma}"


class Record(NamedTuple):
    """A record: the line it begins on, its cells, and where the next one begins."""

    line: int
    cells: list[bytes]
    end: int


def records(data: bytes, delimiter: str = ",") -> Iterator[Record]:
    """The records of delimited text, without empty lines. Cells past ``MOST_COLUMNS`` are not
    separated: such a file is refused, and they would take 50 times its size.

    >>> [record.cells for record in records(b'a,"b,1"\\n\\n2,"c ""d"" e"\\n')]
    [[b'a', b'b,1'], [b'2', b'c "d" e']]
    """
    mark = delimiter.encode()
    cell_pattern = re.compile(rb'"((?:[^"]|"")*+)"([^%b\r\n]*+)|([^%b\r\n]*+)' % (mark, mark))
    line_pattern = re.compile(rb"[^\r\n]*+")
    start, line = 0, 1
    while start < len(data):
        text = line_pattern.match(data, start).group()  # type: ignore[union-attr]
        if b'"' not in text:
            cells, end = text.split(mark, MOST_COLUMNS), start + len(text)
        else:
            cells, end = [], start
            while len(cells) <= MOST_COLUMNS:
                match = cell_pattern.match(data, end)
                assert match is not None  # the last alternative matches anything
                quoted, tail, plain = match.groups()
                cells.append(plain if quoted is None else quoted.replace(b'""', b'"') + tail)
                end = match.end()
                if data[end : end + 1] != mark:
                    break
                end += 1
        begun = line
        line += 1 + count_newlines(data[start:end])
        end += 2 if data[end : end + 2] == b"\r\n" else 1
        if text:
            yield Record(begun, cells, min(end, len(data)))
        start = end


def count_newlines(data: bytes) -> int:
    """The number of line ends: \\n, \\r\\n or \\r."""
    return data.count(b"\n") + data.count(b"\r") - data.count(b"\r\n")


# --- Separators ---


def sniff(data: bytes, *, prefer: str | None = None) -> Dialect:
    """The dialect under which most cells are numbers and records have one width.

    >>> sniff(b"x;y\\n1,5;2\\n3,5;4\\n")
    Dialect(delimiter=';', decimal=',')
    """
    best: tuple = ()
    for rank, delimiter in enumerate(reversed(DELIMITERS)):
        sample: list[list[bytes]] = []
        for record in islice(records(data, delimiter), SAMPLE):
            sample.append(record.cells)
            if len(sample) * len(record.cells) > SAMPLE_CELLS and len(sample) > 1:
                break
        width = len(sample[0])
        if width < 2:
            continue
        even = sum(len(cells) == width for cells in sample) / len(sample)
        cells = [cell.strip() for row in sample[1:] or sample for cell in row[:SAMPLE_CELLS]]
        numbers, decimal = max(
            (proportion_of_numbers(cells, "."), "."),
            (proportion_of_numbers(cells, ","), "" if delimiter == "," else ","),
        )
        if delimiter == " " and (even < 1 or numbers < 0.5):
            continue  # spaces are in every text
        score = (numbers * even, even, delimiter == prefer, rank)
        if not best or score > best[0]:
            best = score, Dialect(delimiter, decimal or ".")
    return best[1] if best else Dialect(prefer or ",")


def proportion_of_numbers(cells: Sequence[bytes], decimal: str) -> float:
    pattern = number_pattern(decimal)
    return sum(is_number(cell, pattern) for cell in cells) / max(1, len(cells))


def is_number(cell: bytes, pattern: str) -> bool:
    return re.match(pattern, cell.decode("utf-8", "replace").strip()) is not None


@cache
def number_pattern(decimal: str = ".") -> str:
    """A regular expression, in the common part of re and RE2, for a number."""
    point = re.escape(decimal)
    digits = rf"([0-9]+({point}[0-9]*)?|{point}[0-9]+)"
    return rf"^[+-]?({digits}([eE][+-]?[0-9]+)?|(?i:inf(inity)?))$"


# --- Quotes ---


def scan_quotes(data: bytes, dialect: Dialect) -> tuple[int | None, int]:
    """Where a quote opens that never closes, and how many lines end inside quotes."""
    if b'"' not in data:
        return None, 0
    inside = newlines_in_quotes(data, dialect)
    if inside is not None:
        return None, inside
    mark = re.escape(dialect.delimiter.encode())
    # A quote opens a cell only at its beginning; elsewhere it is a character like others.
    quoted = re.compile(rb'(?<![^%b\r\n])"[^"]*+(?:""[^"]*+)*+(?:"|(\Z))' % mark)
    inside = 0
    for match in quoted.finditer(data):
        if match.group(1) is not None:
            return match.start(), inside
        inside += count_newlines(match.group())
    return None, inside


def newlines_in_quotes(data: bytes, dialect: Dialect) -> int | None:
    """How many lines end inside quotes, by counting; None where quotes do not alternate, as
    they do in files that programs wrote."""
    letters = np.frombuffer(data, np.uint8)
    quotes = np.flatnonzero(letters == ord('"'))
    if len(quotes) % 2 or data.count(b"\r") > data.count(b"\r\n"):
        return None
    borders = np.frombuffer(b'"\r\n' + dialect.delimiter.encode(), np.uint8)
    before = quotes[0::2][quotes[0::2] > 0] - 1
    after = quotes[1::2][quotes[1::2] < len(data) - 1] + 1
    if not (np.isin(letters[before], borders).all() and np.isin(letters[after], borders).all()):
        return None
    newlines = np.flatnonzero(letters == ord("\n"))
    return int((np.searchsorted(quotes, newlines) % 2).sum())


def complete_records(data: bytes, dialect: Dialect) -> bytes:
    """Truncated text up to the end of its last complete record."""
    end: int | None = len(data)
    while end is not None:
        data = data[: data.rfind(b"\n", 0, end) + 1]
        end, _ = scan_quotes(data, dialect)
    return data


# --- Tables in memory ---


class Delimited(NamedTuple):
    """Delimited UTF-8 text whose separator and columns are known."""

    data: bytes
    file: str
    dialect: Dialect
    names: list[str]
    header: bool
    start: int  # of the first row
    quoted_newlines: int
    notes: list[str]

    def rows(self) -> Iterator[Record]:
        """The records after the header."""
        return islice(records(self.data, self.dialect.delimiter), self.header, None)

    def error(self, claim: str, ending: str, row: int, column: str) -> DataError:
        """An error about a cell: the claim, its line, the ending. Rows count from 0."""
        line = next(islice(self.rows(), row, None)).line
        message = f"{claim} (line {line}){ending}"
        return DataError(message, file=self.file, row=row + 1, column=column)


def open_delimited(
    data: bytes, file: str, *, header: bool | None = None, cut_off: bool = False,
    content: str = "rows",
) -> Delimited:  # fmt: skip
    """Find the separator and the columns of delimited UTF-8 text, and check its quotes."""
    if not re.search(rb"\S", data):
        raise DataError(f"the file is empty. There are no {content} to read.", file=file)
    tabs = re.search(r"\.(tsv|tab)(\.(gz|zst|zstd))?$", file.lower())
    dialect = sniff(data, prefer="\t" if tabs else None)
    if cut_off:
        data = complete_records(data, dialect)
    opened, quoted_newlines = scan_quotes(data, dialect)
    if opened is not None:
        raise DataError(
            f"line {1 + count_newlines(data[:opened])} opens a quote that never closes. "
            'Close it, or double it ("") if it belongs to the text.',
            file=file,
        )
    first = next(records(data, dialect.delimiter), None)
    if first is None:
        raise DataError("no whole row is left of the truncated file.", file=file)
    if len(first.cells) > MOST_COLUMNS:
        raise DataError(
            f"line {first.line} has more than {MOST_COLUMNS:,} columns, the most that are read "
            "from text. Give a .npy file.",
            file=file,
        )
    names, header, notes = name_columns(first.cells, header, dialect)
    if dialect != Dialect():
        notes.insert(0, str(dialect))
    start = first.end if header else 0
    return Delimited(data, file, dialect, names, header, start, quoted_newlines, notes)


# --- Columns ---


def name_columns(
    first: Sequence[bytes], header: bool | None, dialect: Dialect
) -> tuple[list[str], bool, list[str]]:
    """The columns' names, whether the first record is a header, and notes on changed names.

    >>> name_columns([b"x", b"", b"x"], None, Dialect())
    (['x', 'c1', 'x_2'], True, ['column 2 has no name, called c1', ...])
    """
    pattern = number_pattern(dialect.decimal)
    texts = [cell.decode("utf-8", "replace").strip() for cell in first]
    numbers = [is_number(cell, pattern) for cell in first]
    if header is None:
        known = (yes or text in MISSING for yes, text in zip(numbers, texts, strict=True))
        header = not (any(numbers) and all(known))
    if not header:
        note = "there is no header: the columns are called c0, c1 and so on"
        return [f"c{j}" for j in range(len(first))], False, [note]
    names: list[str] = []
    taken: set[str] = set()
    originals, repeats = set(texts), Counter[str]()
    notes = []
    for j, text in enumerate(texts):
        name = text.replace("\0", "")
        if name != text:
            notes.append(f"NUL characters removed from the name of column {j + 1}")
        if not name:
            name = f"c{j}"
            notes.append(f"column {j + 1} has no name, called {name}")
        base = text or f"c{j}"
        if name in taken:
            while name in taken or name in originals:
                repeats[base] += 1  # go on where the last column of this name ended
                name = f"{base}_{repeats[base] + 1}"
            notes.append(f"column {j + 1} has the name of another, called {name}")
        names.append(name)
        taken.add(name)
    return names, True, few(notes)


def few(notes: list[str]) -> list[str]:
    """Notes on the first columns; those on others are counted."""
    more = len(notes) - MOST_NOTES
    return notes[:MOST_NOTES] + [f"{more:,} more columns are noted like the last one"] * (
        more > 0
    )


def choose_columns(
    names: Sequence[str], columns: Sequence[str] | None, id_column: str | None, file: str
) -> list[str]:
    """The names to read, checked; the id column is not among them."""
    asked = [*(columns or ()), *([id_column] if id_column is not None else [])]
    known, times = set(names), Counter(asked)
    for name in asked:
        if name not in known:
            meant = did_you_mean(name, names)
            raise DataError(
                f"there is no column {name!r}.{meant} The columns are {listed(names)}.",
                file=file,
            )
        if times[name] > 1:
            raise DataError(f"column {name!r} is named twice. Name it once.", file=file)
    return [name for name in columns or names if name != id_column]


# --- Line by line ---


class TextRecord(NamedTuple):
    """A record of a file by column names, and the line it begins in."""

    line: int
    values: dict[str, str | None]


def is_float(cell: str) -> bool:
    """Whether Python reads a cell as a number."""
    try:
        float(cell)
    except ValueError:
        return False
    return True


def read_csv(
    lines: Iterable[str],
    name: str,
    report: "IngestReport",
    *,
    delimiter: str | None = None,
    quoted: bool = True,
    header: bool | None = None,
    longest: int = 2**26,
    cut_off: Callable[[], bool] = lambda: False,
) -> Iterator[TextRecord]:
    """The records of delimited text that is read line by line.

    ``cut_off`` returns, at the end, whether the input ended early: its last record may be
    incomplete then, and is left out.
    """
    remaining = iter(lines)
    first = next(remaining, None)
    if first is None:
        return
    delimiter = delimiter or sniff_delimiter(first, report)
    quoting: Any = csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
    read: list[str] = []  # lines of the current record, for messages

    def recorded() -> Iterator[str]:
        for line in chain([first], remaining):
            read.append(line)
            yield line

    rows = csv.reader(recorded(), delimiter=delimiter, quoting=quoting, strict=True)
    columns: list[str] | None = None
    while True:
        begun = rows.line_num + 1
        read.clear()
        try:
            with long_fields(longest):
                row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            if "unexpected end" in str(error) and cut_off():
                report.notes.append(f"the record that begins in line {begun} was left out")
                return
            raise csv_error(error, read, begun, delimiter, name, longest) from None
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
        yield TextRecord(
            begun, {c: row[i] if i < len(row) else None for i, c in enumerate(columns)}
        )


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
    error: csv.Error, read: list[str], begun: int, delimiter: str, name: str, longest: int
) -> DataError:
    """The error for a record, of which some lines were read, with the line that causes it."""
    long, unclosed = "field larger" in str(error), "unexpected end" in str(error)
    if not (long or unclosed):
        claim = (
            f"line {begun + max(0, len(read) - 1)}, in the record that begins in line {begun}: "
            f'{error}. Double a quote ("") that belongs to the text.'
        )
        return DataError(claim, file=name)
    data = "".join(read).encode("utf-8", "replace")
    opened, _ = scan_quotes(data, Dialect(delimiter))
    line = begun + count_newlines(data[: opened or 0])
    what, end = "a quote opens here and never closes. Close it", "."
    if long:
        what = (
            f"a field is longer than {longest:,} characters. Most likely a quote opens "
            "there and never closes: close it"
        )
        end = "; or raise max_document."
    claim = f'line {line}: {what}, or double it ("") if it belongs to the text{end}'
    return DataError(claim, file=name)


def sniff_delimiter(line: str, report: "IngestReport") -> str:
    """The most frequent separator of the first line; a comma if there is none."""
    best = max(TEXT_DELIMITERS, key=lambda c: (line.count(c), -TEXT_DELIMITERS.index(c)))
    if best != "," and line.count(best):
        report.guessed.append(f"fields are separated by {best!r}")
    return best if line.count(best) else ","


def looks_like_header(row: Sequence[str]) -> bool:
    """Whether cells are short, distinct, not empty and not numbers, as column names are."""
    short = all(0 < len(cell.strip()) <= HEADER_CELL and cell.count(" ") < 4 for cell in row)
    named = not any(is_float(cell) for cell in row)
    return short and named and len(set(row)) == len(row)


def unique(names: Sequence[str]) -> list[str]:
    """Names of columns, none empty and none repeated."""
    out: list[str] = []
    taken: set[str] = set()
    repeats = Counter[str]()
    for i, text in enumerate(names):
        base = text.strip() or str(i + 1)
        name = base
        while name in taken:
            repeats[base] += 1
            name = f"{base}{'_' if repeats[base] == 1 else f'_{repeats[base]}'}"
        out.append(name)
        taken.add(name)
    return out


# --- Writing ---


def guard(cell: Any) -> Any:
    """A cell that no spreadsheet takes for a formula. Numbers pass unchanged.

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
    plain = csv.writer(stream, lineterminator="\n")
    quoted = csv.writer(stream, lineterminator="\n", quoting=csv.QUOTE_ALL)
    for row in rows:
        cells = [guard(cell) for cell in row]
        # Before Python 3.13 a carriage return alone does not make csv quote a cell.
        returns = any(isinstance(cell, str) and "\r" in cell for cell in cells)
        (quoted if returns else plain).writerow(cells)
