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

from tacit.core.errors import DataError
from tacit.core.memory import USABLE, available_memory, format_bytes
from tacit.core.wording import count, listed
from tacit.data.delimited import (
    MISSING,
    Delimited,
    choose_columns,
    count_newlines,
    few,
    number_pattern,
    open_delimited,
)
from tacit.data.parquet import open_parquet_file, read_columns
from tacit.data.streams import NPY, PARQUET, PARTIAL_ROWS, Raw, name_of, opened, read_table
from tacit.data.table import Table

__all__ = ["NumberTable", "ReadReport", "parse", "read_numbers", "to_numbers"]

SHOWN = 8  # names in a sentence; the others are counted
BLOCK = 2**20
LARGEST_BLOCK = 2**31 - 1  # pyarrow counts in int32
EXACT = 2**53  # integers up to here are floats exactly
COLUMN_BYTES = 13_000  # that pyarrow takes for every column of text, even of one row


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
        Whether to use the complete rows of a truncated file; otherwise PartialInput is raised.
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
    asked = Asked(columns, id_column, header, missing)
    with opened(source) as stream:
        stays = isinstance(source, str | Path) and stream.seekable()
        head = stream.peek(8) if stays else b""  # type: ignore[attr-defined]
        if not head.startswith((NPY, PARQUET)):
            raw = read_table(stream, file, complete=not allow_partial, otherwise=PARTIAL_ROWS)
            head, source = raw.data, BytesIO(raw.data)
    if head.startswith(NPY):
        return from_npy(source, file, asked)
    if head.startswith(PARQUET):
        return from_parquet(source, file, asked)
    return from_text(raw, asked)


class Asked(NamedTuple):
    """What the caller wants of a file."""

    columns: Sequence[str] | None
    id_column: str | None
    header: bool | None
    missing: bool

    def left_out(self, names: Sequence[str], chosen: Sequence[str]) -> dict[str, str]:
        """The columns that are not read, and why."""
        taken = {*chosen, self.id_column}
        return {name: "not chosen" for name in names if name not in taken}


def from_npy(source: Any, file: str, asked: Asked) -> NumberTable:
    """Rows of a .npy file, which stay on disk if they are there; columns are c0, c1, ...

    NaN is met where the rows are used, whether it is ``asked`` for or not.
    """
    try:
        if isinstance(source, BytesIO):
            table = Table.from_array(np.load(source, allow_pickle=False))
        else:
            table = Table.from_npy(source)
    except OSError:
        raise
    except Exception as error:  # NumPy has many kinds for headers that strangers wrote
        raise DataError(f"this .npy file cannot be read: {error}", file=file) from error
    if table.dtype.kind not in "iuf":
        raise DataError(
            f"the array holds {table.dtype}, not numbers. Convert it to float64.", file=file
        )
    check_shape(*table.shape, file)  # a file without rows may declare any number of columns
    names = [f"c{j}" for j in range(table.shape[1])]
    chosen = choose_columns(names, asked.columns, asked.id_column, file)
    check_shape(len(table), len(chosen), file)
    place = {name: j for j, name in enumerate(names)}
    ids = None
    if asked.id_column is not None:
        j = place[asked.id_column]
        ids = [str(id) for block in table for id in block.load()[:, j]]
    picked = None if chosen == names else tuple(place[name] for name in chosen)
    notes = ["a .npy file has no column names: they are called c0, c1 and so on"]
    left_out = asked.left_out(names, chosen)
    report = ReadReport(file, "NumPy", len(table), chosen, left_out, notes)
    return NumberTable(pick(table, picked), chosen, ids, report)


def pick(table: Table, columns: tuple | None = None) -> Table:
    """The table with some of its columns, in native float32 or float64."""
    dtype = np.dtype(np.float32 if table.dtype.newbyteorder("=") == np.float32 else np.float64)
    if columns is None and table.dtype == dtype:
        return table
    width = None if columns is None else len(columns)
    return table.mapped(pick_columns, columns, dtype.str, width=width, dtype=dtype)


def pick_columns(rows: np.ndarray, columns: tuple | None, dtype: str) -> np.ndarray:
    return np.ascontiguousarray(rows if columns is None else rows[:, list(columns)], dtype)


def from_parquet(source: Any, file: str, asked: Asked) -> NumberTable:
    """Number columns of a Parquet file, which stay on disk if they are there."""
    with open_parquet_file(source, file) as parquet:
        schema, rows = parquet.schema_arrow, parquet.metadata.num_rows
        nulls = count_nulls(parquet.metadata)
    names = list(schema.names)
    if len({*names}) < len(names):
        raise DataError("two columns have the same name. Rename one.", file=file)
    chosen = choose_columns(names, asked.columns, asked.id_column, file)
    kinds = {field.name: field.type for field in schema}
    texts = {
        name: f"{kinds[name]}, not numbers"
        for name in chosen
        if not (pa.types.is_integer(kinds[name]) or pa.types.is_floating(kinds[name]))
    }
    for name, reason in texts.items():
        if asked.columns is not None:
            raise DataError(f"it holds {reason}.", file=file, column=name)
    used = [name for name in chosen if name not in texts]
    check_shape(rows, len(used), file)
    for name in used:
        if nulls.get(name) and not asked.missing:
            raise DataError(
                f"{nulls[name]:,} values are missing. Fill them in, remove those rows, or "
                "choose columns without gaps.",
                file=file,
                column=name,
            )
    ids = None
    if asked.id_column is not None:
        column = read_columns(source, file, [asked.id_column]).column(0)
        ids = ["" if id is None else str(id) for id in column.to_pylist()]
    if isinstance(source, BytesIO):
        columns = read_columns(source, file, used)
        array = np.column_stack([columns.column(name).to_numpy() for name in used])
        table = pick(Table.from_array(array))
    else:
        table = Table.from_parquet(source, columns=used)
    report = ReadReport(file, "Parquet", rows, used, asked.left_out(names, chosen) | texts)
    return NumberTable(table, used, ids, report)


def count_nulls(metadata: Any) -> dict[str, int]:
    """Missing values per flat column, as far as the statistics in the file tell."""
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


def from_text(raw: Raw, asked: Asked) -> NumberTable:
    """The number columns of delimited UTF-8 text."""
    text = open_delimited(raw.data, raw.name, header=asked.header, cut_off=bool(raw.partial))
    notes, ids_in = text.notes, [asked.id_column] if asked.id_column is not None else []
    chosen = choose_columns(text.names, asked.columns, asked.id_column, raw.name)
    table = parse(text, [*chosen, *ids_in], ids_in)
    rows = table.num_rows
    if rows == 0:
        raise DataError("there is a header, but no rows follow it.", file=raw.name)
    lines = count_newlines(text.data) + (not text.data.endswith((b"\n", b"\r")))
    if blank := lines - text.quoted_newlines - rows - text.header:
        notes.append(f"{count(blank, 'empty line')} skipped")

    left_out = asked.left_out(text.names, chosen)
    used: dict[str, np.ndarray] = {}
    rounded: list[str] = []
    for name in chosen:
        numbers, remark = to_numbers(table.column(name), name, text, asked.columns is not None)
        if numbers is None:
            left_out[name] = remark
            continue
        used[name] = numbers
        if remark:
            rounded.append(remark)
    notes += few(rounded)
    if not used:
        why = "; ".join(f"{name}: {reason}" for name, reason in islice(left_out.items(), 5))
        raise DataError(f"there is no column of numbers ({why}).", file=raw.name)
    values = np.column_stack(list(used.values()))
    gaps = np.isnan(values) if asked.missing else np.zeros((1, 1), bool)
    check_finite(np.where(gaps, 0.0, values) if asked.missing else values, list(used), text)
    if gaps.any():
        width = int(gaps.any(axis=0).sum())
        notes.append(f"{int(gaps.sum()):,} values are missing, in {width:,} of the columns")
    ids = None if asked.id_column is None else clean_ids(table.column(asked.id_column), notes)
    partial = f"{raw.partial}; its {rows:,} whole rows were read" if raw.partial else None
    notes = raw.notes + notes
    report = ReadReport(raw.name, "CSV", rows, list(used), left_out, notes, partial)
    return NumberTable(values, list(used), ids, report)


def parse(text: Delimited, reading: list[str], texts: Sequence[str] = ()) -> pa.Table:
    """Read the columns with pyarrow, ``texts`` as text; if that fails, find the line."""
    need, free = COLUMN_BYTES * len(reading), available_memory()
    if need > USABLE * free:
        raise DataError(
            f"{len(reading):,} columns of text need {format_bytes(need)} of memory, but "
            f"{format_bytes(free)} are free. Choose fewer columns, or give a .npy file.",
            file=text.file,
        )
    body = pa.py_buffer(text.data)[text.start :]
    if not re.compile(rb"[^\r\n]").search(text.data, text.start):
        return pa.table({name: pa.array([], pa.float64()) for name in reading})

    def read(block: int) -> pa.Table:
        return pyarrow.csv.read_csv(
            pa.BufferReader(body),
            pyarrow.csv.ReadOptions(column_names=text.names, block_size=block),
            pyarrow.csv.ParseOptions(
                delimiter=text.dialect.delimiter, newlines_in_values=text.quoted_newlines > 0
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
        width = len(text.names)
        for record in text.rows():
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
    column: pa.ChunkedArray, name: str, text: Delimited, chosen: bool
) -> tuple[np.ndarray | None, str]:
    """A column as floats and a remark on them, or None and why it is left out."""
    kind = column.type
    if pa.types.is_null(kind) and not chosen:
        return None, "empty throughout"
    if pa.types.is_floating(kind) or pa.types.is_null(kind):
        return column.cast(pa.float64()).to_numpy(), ""
    if pa.types.is_integer(kind):
        numbers = column.cast(pa.float64(), safe=False).to_numpy()
        integers = column.drop_null().to_numpy()
        large = integers[np.abs(numbers[np.isfinite(numbers)]) >= EXACT].tolist()
        lost = sum(int(float(integer)) != integer for integer in large)
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
        more = "" if others == 1 else f", nor are {others - 1:,} more below it"
        ending = f"{more}. Correct it, or choose other columns."
        raise text.error(f"{shown} is not a number", ending, row, name)
    if n_numbers:
        return None, f"text; only {n_numbers:,} of {len(column):,} cells are numbers"
    return None, f"text, for example {shown}"


def check_finite(values: np.ndarray, names: list[str], text: Delimited) -> None:
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
    width = int(wrong.any(axis=0).sum())
    values_are = count(int(wrong.sum()), "value is", "values are")
    columns = f" in {width:,} columns" * (width > 1)
    ending = f"; in all, {values_are} {what}{columns}. {way_out}"
    raise text.error(f"the value is {what}", ending, int(row), names[column])


def clean_ids(column: pa.ChunkedArray, notes: list[str]) -> list[str]:
    """Ids as text without NULs; empty and repeated ones are noted."""
    ids = [id or "" for id in column.to_pylist()]
    nuls = sum("\0" in id for id in ids)
    if nuls:
        ids = [id.replace("\0", "") for id in ids]
        notes.append(f"NUL characters removed from {nuls:,} ids")
    blank = ids.count("")
    if blank:
        notes.append(f"{blank:,} ids are empty")
    repeated = len(ids) - blank - len({*ids} - {""})
    if repeated:
        notes.append(f"{repeated:,} ids repeat an earlier one")
    return ids
