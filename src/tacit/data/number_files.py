"""Files of numbers: CSV and its relatives, Parquet, NumPy.

``read_numbers`` reads a file in any of these formats and reports what it read. Text is read
into memory and checked to the last cell; pyarrow converts the cells, and every cell that is not
a number is reported with its line. Parquet and .npy files stay on disk as a ``Table``, read
block by block during the fit.
"""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from tacit.core.errors import DataError, PartialInput
from tacit.core.wording import count, listed
from tacit.data.delimited import (
    MISSING,
    Dialect,
    check_quotes,
    choose_columns,
    count_newlines,
    name_columns,
    number_pattern,
    records,
    sniff,
    whole_records,
)
from tacit.data.parquet import open_parquet_file, read_columns
from tacit.data.streams import (
    GZIP,
    NPY,
    PARQUET,
    ZSTD,
    Raw,
    foreign,
    foreign_text,
    name_of,
    read_raw,
    to_utf8,
)
from tacit.data.table import Table

__all__ = [
    "NumberTable", "OpenedText", "ReadReport", "open_delimited", "parse", "read_delimited",
    "read_numbers", "to_numbers",
]  # fmt: skip

SHOWN = 8  # names in a sentence; the rest are counted
BLOCK = 2**20
LARGEST_BLOCK = 2**31 - 1  # pyarrow counts in int32
EXACT = 2**53  # integers up to here are floats exactly


@dataclass
class ReadReport:
    """The report of a file: rows, columns used and left out, repairs."""

    source: str
    format: str
    rows: int
    used: list[str]
    left_out: dict[str, str] = field(default_factory=dict)  # name -> why
    notes: list[str] = field(default_factory=list)
    partial: str | None = None

    def lines(self) -> list[str]:
        """The report in sentences."""
        rows, used = count(self.rows, "row"), count(len(self.used), "column")
        out = [f"{self.source}: {rows}, {used} used ({listed(self.used, SHOWN)})."]
        reasons: dict[str, list[str]] = {}
        for name, reason in self.left_out.items():
            reasons.setdefault(reason, []).append(name)
        for reason, names in reasons.items():
            out.append(f"Left out: {listed(names, SHOWN)} ({reason}).")
        out += [f"{note[:1].upper()}{note[1:]}." for note in self.notes]
        if self.partial:
            out.append(f"Partial: {self.partial}.")
        return out

    def to_dict(self) -> dict[str, Any]:
        """The report as plain values."""
        return asdict(self)


@dataclass
class NumberTable:
    """Rows of numbers, the columns' names, an id per row where one was asked for.

    ``values`` is an array, or a ``Table`` when the rows stay on disk.
    """

    values: "np.ndarray | Table"
    names: list[str]
    ids: list[str] | None
    report: ReadReport


def read_numbers(
    source: str | Path | IO,
    *,
    columns: Sequence[str] | None = None,
    id_column: str | None = None,
    header: bool | None = None,
    allow_partial: bool = False,
    missing: bool = False,
) -> NumberTable:
    """Read rows of numbers from a file or a stream, whatever its format.

    CSV with any common separator and encoding, plain or gzipped; Parquet; NumPy's .npy. The
    content decides, not the name.

    Parameters
    ----------
    source : path or stream
        A stream is read to its end.
    columns : list of str or None
        The columns to use, in this order. None takes every column of numbers, leaves the
        others out, and says so in the report.
    id_column : str or None
        A column that names the rows; read as text, not used as a number.
    header : bool or None
        Whether the first line of a CSV file names the columns. None for yes
        unless all its cells are numbers.
    allow_partial : bool
        Whether to use the whole rows of a truncated file; otherwise PartialInput is raised.
    missing : bool
        Whether a missing cell becomes NaN, for models that take it; otherwise it is an error.

    Raises
    ------
    DataError
        With file, row (counted from 1, after the header) and column, for a cell that is
        missing, infinite or not a number, for lines of uneven width, for quotes that never
        close.

    Examples
    --------
    >>> from io import BytesIO
    >>> table = read_numbers(BytesIO(b"name,height\\nAda,1.65\\nBob,1.8\\n"))
    >>> table.values
    array([[1.65],
           [1.8 ]])
    >>> table.names, table.report.left_out
    (['height'], {'name': "text, for example 'Ada'"})
    """
    file = name_of(source)
    options: dict[str, Any] = {"columns": columns, "id_column": id_column, "missing": missing}
    if not isinstance(source, str | Path):
        return from_raw(read_raw(source, file), options, header, allow_partial)
    with open(source, "rb") as stream:
        head, again = stream.read(8), stream.seekable()
        if not (again and head.startswith((NPY, PARQUET))):
            if again:
                stream.seek(0)
            raw = read_raw(stream, file, b"" if again else head)
            return from_raw(raw, options, header, allow_partial)
    read = from_npy if head.startswith(NPY) else from_parquet
    return read(source, file, **options)


def from_raw(
    raw: Raw, options: dict[str, Any], header: bool | None, allow_partial: bool
) -> NumberTable:
    """Numbers from bytes in memory."""
    if raw.data.startswith((NPY, PARQUET)):
        if raw.partial:
            raise DataError(f"{raw.partial}. Get the file again.", file=raw.name)
        read = from_npy if raw.data.startswith(NPY) else from_parquet
        return read(BytesIO(raw.data), raw.name, **options)
    if raw.data.startswith((GZIP, ZSTD)):
        raise DataError("it is compressed twice. Unpack it once first.", file=raw.name)
    if (what := foreign(raw.data) or foreign_text(raw.data)) is not None:
        raise DataError(f"this is {what}.", file=raw.name)
    if raw.partial and not allow_partial:
        raise PartialInput(
            f"{raw.partial}. Get the file again, or allow partial input to use the rows that "
            "are whole.",
            file=raw.name,
        )
    raw = to_utf8(raw)
    table = read_delimited(raw, **options, header=header)
    table.report.notes[:0] = raw.notes
    if raw.partial:
        rows = table.report.rows
        table.report.partial = f"{raw.partial}; its {rows:,} whole rows were read"
    return table


def from_npy(
    source: str | Path | BytesIO,
    file: str,
    *,
    columns: Sequence[str] | None,
    id_column: str | None,
    missing: bool,
) -> NumberTable:
    """Rows of a .npy file, which stay on disk if they are there; columns are c0, c1, ...

    NaN is met where the rows are used, so ``missing`` changes nothing here.
    """
    try:
        if isinstance(source, BytesIO):
            table = Table.from_array(np.load(source, allow_pickle=False))
        else:
            table = Table.from_npy(source)
    except (ValueError, EOFError, SyntaxError) as error:  # what NumPy has for broken files
        raise DataError(f"this .npy file cannot be read: {error}", file=file) from error
    if table.dtype.kind not in "iuf":
        raise DataError(
            f"the array holds {table.dtype}, not numbers. Convert it to float64.", file=file
        )
    names = [f"c{j}" for j in range(table.shape[1])]
    chosen = choose_columns(names, columns, id_column, file)
    check_shape(len(table), len(chosen), file)
    ids = None
    if id_column is not None:
        j = names.index(id_column)
        ids = [str(each) for block in table for each in block.load()[:, j]]
    place = {name: j for j, name in enumerate(names)}
    picked = None if chosen == names else tuple(place[name] for name in chosen)
    taken = {*chosen, id_column}
    left_out = {name: "not chosen" for name in names if name not in taken}
    notes = ["a .npy file has no column names: they are called c0, c1 and so on"]
    report = ReadReport(file, "NumPy", len(table), chosen, left_out, notes)
    return NumberTable(pick(table, picked, len(chosen)), chosen, ids, report)


def pick(table: Table, columns: tuple | None, width: int) -> Table:
    """The table with some of its columns, in native float32 or float64."""
    dtype = np.dtype(np.float32 if table.dtype.newbyteorder("=") == np.float32 else np.float64)
    if columns is None and table.dtype == dtype:
        return table
    return table.mapped(pick_columns, columns, dtype.str, width=width, dtype=dtype)


def pick_columns(rows: np.ndarray, columns: tuple | None, dtype: str) -> np.ndarray:
    return np.ascontiguousarray(rows if columns is None else rows[:, list(columns)], dtype)


def from_parquet(
    source: str | Path | BytesIO,
    file: str,
    *,
    columns: Sequence[str] | None,
    id_column: str | None,
    missing: bool,
) -> NumberTable:
    """Number columns of a Parquet file, which stay on disk if they are there."""
    with open_parquet_file(source, file) as parquet:
        schema, rows = parquet.schema_arrow, parquet.metadata.num_rows
        nulls = count_nulls(parquet.metadata)
        names = list(schema.names)
        if len({*names}) < len(names):
            raise DataError("two columns have the same name. Rename one.", file=file)
        chosen = choose_columns(names, columns, id_column, file)
        kinds = {field.name: field.type for field in schema}
        texts = {
            name: f"{kinds[name]}, not numbers"
            for name in chosen
            if not (pa.types.is_integer(kinds[name]) or pa.types.is_floating(kinds[name]))
        }
        for name, reason in texts.items():
            if columns is not None:
                raise DataError(f"it holds {reason}.", file=file, column=name)
        used = [name for name in chosen if name not in texts]
        check_shape(rows, len(used), file)
        for name in used:
            if nulls.get(name) and not missing:
                raise DataError(
                    f"{nulls[name]:,} values are missing. Fill them in, remove those rows, "
                    "or choose columns without gaps.",
                    file=file,
                    column=name,
                )
        ids = None
        if id_column is not None:
            held = read_columns(source, file, [id_column]).column(0).to_pylist()
            ids = ["" if each is None else str(each) for each in held]
        if isinstance(source, BytesIO):
            held = read_columns(source, file, used)
            array = np.column_stack([held.column(name).to_numpy() for name in used])
            table = pick(Table.from_array(array), None, len(used))
        else:
            table = Table.from_parquet(source, columns=used)
    taken = {*chosen, id_column}
    left_out = {name: "not chosen" for name in names if name not in taken} | texts
    report = ReadReport(file, "Parquet", rows, used, left_out)
    return NumberTable(table, used, ids, report)


def count_nulls(metadata: Any) -> dict[str, int]:
    """Missing values per flat column, as far as the file's own statistics tell."""
    counts: dict[str, int] = {}
    for g in range(metadata.num_row_groups):
        group = metadata.row_group(g)
        for j in range(group.num_columns):
            chunk = group.column(j)
            known = chunk.statistics is not None and chunk.statistics.has_null_count
            nulls = chunk.statistics.null_count if known else 0
            counts[chunk.path_in_schema] = counts.get(chunk.path_in_schema, 0) + nulls
    return counts


def check_shape(rows: int, width: int, file: str) -> None:
    if rows == 0:
        raise DataError("there are no rows.", file=file)
    if width == 0:
        raise DataError("there is no column of numbers.", file=file)


@dataclass(frozen=True)
class DelimitedText:
    """Delimited text, and what is needed to locate a cell in it."""

    data: bytes
    file: str
    dialect: Dialect
    header: bool

    def line(self, row: int) -> int:
        """The line on which a row begins; rows count from 0, after the header."""
        walk = records(self.data, self.dialect.delimiter)
        return next(islice(walk, row + self.header, None)).line

    def error(self, claim: str, rest: str, row: int, column: str) -> DataError:
        """An error about a cell: the claim, its line, the rest."""
        message = f"{claim} (line {self.line(row)}){rest}"
        return DataError(message, file=self.file, row=row + 1, column=column)


def read_delimited(
    raw: Raw,
    *,
    columns: Sequence[str] | None,
    id_column: str | None,
    header: bool | None,
    missing: bool,
) -> NumberTable:
    """The number columns of delimited UTF-8 text."""
    file = raw.name
    tabs = re.search(r"\.(tsv|tab)(\.(gz|zst|zstd))?$", file.lower()) is not None
    opened = open_delimited(raw.data, file, header=header, cut_off=bool(raw.partial), tabs=tabs)
    text, names, notes, data = opened.text, opened.names, opened.notes, opened.text.data
    chosen = choose_columns(names, columns, id_column, file)
    texts = [id_column] if id_column is not None else []
    reading = [*chosen, *texts]
    table = parse(opened, reading, texts)
    if table.num_rows == 0:
        raise DataError("there is a header, but no rows follow it.", file=file)
    lines = count_newlines(data) + (not data.endswith((b"\n", b"\r")))
    blank = lines - opened.quoted_newlines - table.num_rows - text.header
    if blank:
        notes.append(f"{blank:,} empty line{'s'[: blank > 1]} skipped")

    read = set(reading)
    left_out = {name: "not chosen" for name in names if name not in read}
    kept: dict[str, np.ndarray] = {}
    for name in chosen:
        numbers, remark = to_numbers(table.column(name), name, text, columns is not None)
        if numbers is None:
            left_out[name] = remark
            continue
        kept[name] = numbers
        if remark:
            notes.append(remark)
    if not kept:
        why = "; ".join(f"{name}: {reason}" for name, reason in islice(left_out.items(), 5))
        raise DataError(f"there is no column of numbers ({why}).", file=file)
    values = np.empty((table.num_rows, len(kept)))
    for j, numbers in enumerate(kept.values()):
        values[:, j] = numbers
    gaps = np.isnan(values) if missing else np.zeros((1, 1), bool)
    check_finite(np.where(gaps, 0.0, values) if missing else values, list(kept), text)
    if gaps.any():
        width = int(gaps.any(axis=0).sum())
        notes.append(f"{int(gaps.sum()):,} values are missing, in {width:,} of the columns")
    ids = None if id_column is None else clean_ids(table.column(id_column), notes)
    report = ReadReport(file, "CSV", len(values), list(kept), left_out, notes)
    return NumberTable(values, list(kept), ids, report)


class OpenedText(NamedTuple):
    """Delimited text whose separator and columns are known, before its cells are read."""

    text: DelimitedText
    names: list[str]
    start: int  # of the first row
    quoted_newlines: int
    notes: list[str]


def open_delimited(
    data: bytes,
    file: str,
    *,
    header: bool | None = None,
    cut_off: bool = False,
    tabs: bool = False,
) -> OpenedText:
    """Find the separator and the columns of delimited UTF-8 text, and check its quotes."""
    if not re.search(rb"\S", data):
        raise DataError("the file is empty. There are no rows to read.", file=file)
    dialect = sniff(data, prefer="\t" if tabs else None)
    if cut_off:
        data = whole_records(data, dialect)
    quoted_newlines = check_quotes(data, dialect, file)
    first = next(records(data, dialect.delimiter), None)
    if first is None:
        raise DataError("no whole row is left of the truncated file.", file=file)
    names, header, notes = name_columns(first.cells, header, dialect)
    if dialect != Dialect():
        notes.insert(0, str(dialect))
    text = DelimitedText(data, file, dialect, header)
    return OpenedText(text, names, first.end if header else 0, quoted_newlines, notes)


def parse(opened: OpenedText, reading: list[str], texts: Sequence[str] = ()) -> pa.Table:
    """Read the columns with pyarrow, ``texts`` as text; if that fails, find the line."""
    text, names, start = opened.text, opened.names, opened.start
    newlines = opened.quoted_newlines > 0
    body = pa.py_buffer(text.data)[start:]
    if not re.compile(rb"[^\r\n]").search(text.data, start):
        return pa.table({name: pa.array([], pa.float64()) for name in reading})

    def read(block: int) -> pa.Table:
        return pyarrow.csv.read_csv(
            pa.BufferReader(body),
            pyarrow.csv.ReadOptions(column_names=names, block_size=block),
            pyarrow.csv.ParseOptions(
                delimiter=text.dialect.delimiter, newlines_in_values=newlines
            ),
            pyarrow.csv.ConvertOptions(
                null_values=MISSING,
                true_values=[],  # yes and no are not numbers
                false_values=[],
                decimal_point=text.dialect.decimal,
                include_columns=reading,
                column_types=dict.fromkeys(texts, pa.string()),
            ),
        )

    try:
        return read(BLOCK)
    except pa.ArrowInvalid as first:
        # A record longer than a block is one reason; the widths of records another.
        width = len(names)
        for record in records(text.data, text.dialect.delimiter):
            if len(record.cells) != width:
                expected = "the header" if text.header else "the first line"
                cells = count(len(record.cells), "cell")
                raise DataError(
                    f"line {record.line} has {cells} where {expected} has {width}. Correct "
                    "it; cells that hold the separator need quotes.",
                    file=text.file,
                ) from first
        try:
            return read(min(max(BLOCK, body.size + 1), LARGEST_BLOCK))
        except pa.ArrowInvalid as error:
            raise DataError(f"{error}.", file=text.file) from error


def to_numbers(
    column: pa.ChunkedArray, name: str, text: DelimitedText, chosen: bool
) -> tuple[np.ndarray | None, str]:
    """A column as floats and a remark on them, or None and why it is left out."""
    kind = column.type
    if pa.types.is_null(kind) and not chosen:
        return None, "empty throughout"
    if pa.types.is_floating(kind) or pa.types.is_null(kind):
        return column.cast(pa.float64()).to_numpy(), ""
    if pa.types.is_integer(kind):
        numbers = column.cast(pa.float64(), safe=False).to_numpy()
        held = column.drop_null().to_numpy()
        large = held[np.abs(numbers[np.isfinite(numbers)]) >= EXACT].tolist()
        lost = sum(int(float(each)) != each for each in large)
        return numbers, f"column {name}: {lost:,} integers past 2^53 rounded" * (lost > 0)
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        if not chosen:
            return None, "dates or times"
        raise text.error("this is a date or time", ", not a number.", 0, name)

    cells = pc.utf8_trim_whitespace(column)
    missing = pc.is_in(cells, pa.array(MISSING, cells.type))
    number = pc.match_substring_regex(cells, number_pattern(text.dialect.decimal))
    other = pc.invert(pc.or_(missing, number))
    n_numbers, others = pc.sum(number).as_py(), pc.sum(other).as_py()
    if others == 0:
        cells = pc.if_else(missing, None, cells)
        cells = pc.replace_substring(cells, text.dialect.decimal, ".")
        cells = pc.replace_substring_regex(cells, r"^\+", "")
        return cells.cast(pa.float64()).to_numpy(), ""
    row = pc.index(other, True).as_py()
    cell = cells[row].as_py()
    shown = repr(cell if len(cell) <= 40 else cell[:37] + "...")
    if chosen or n_numbers >= others:
        count = "" if others == 1 else f", nor are {others - 1:,} more below it"
        rest = f"{count}. Correct it, or choose other columns."
        raise text.error(f"{shown} is not a number", rest, row, name)
    if n_numbers:
        return None, f"text; only {n_numbers:,} of {len(column):,} cells are numbers"
    return None, f"text, for example {shown}"


def check_finite(values: np.ndarray, names: list[str], text: DelimitedText) -> None:
    """Raise for missing and infinite values, with the first place and their number."""
    if np.isfinite(values).all():
        return
    missing = np.isnan(values)
    wrong, what, way_out = (
        (missing, "missing", "Fill them in, remove those rows, or choose columns without gaps.")
        if missing.any()
        else (np.isinf(values), "infinite", "Correct or rescale them, or choose other columns.")
    )
    row, column = np.argwhere(wrong)[0]
    count, width = int(wrong.sum()), int(wrong.any(axis=0).sum())
    spread = f"{count:,} value{'s are' if count > 1 else ' is'} {what}"
    columns = f" in {width:,} columns" * (width > 1)
    rest = f"; in all, {spread}{columns}. {way_out}"
    raise text.error(f"the value is {what}", rest, int(row), names[column])


def clean_ids(column: pa.ChunkedArray, notes: list[str]) -> list[str]:
    """Ids as text without NULs; empty and repeated ones are noted."""
    ids = [each or "" for each in column.to_pylist()]
    nuls = sum("\0" in each for each in ids)
    if nuls:
        ids = [each.replace("\0", "") for each in ids]
        notes.append(f"NUL characters removed from {nuls:,} ids")
    blank = sum(not each for each in ids)
    if blank:
        notes.append(f"{blank:,} ids are empty")
    repeated = len(ids) - blank - len({*ids} - {""})
    if repeated:
        notes.append(f"{repeated:,} ids repeat an earlier one")
    return ids
