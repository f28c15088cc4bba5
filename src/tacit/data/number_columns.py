"""Cells into numbers, with pyarrow, and an exact account of those that are none."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from tacit.core.errors import DataError
from tacit.data.delimited import (
    MISSING,
    Dialect,
    choose_columns,
    count_newlines,
    line_of,
    name_columns,
    number_pattern,
    records,
    scan_quotes,
    sniff,
    whole_records,
)

__all__ = ["Grid", "read_delimited"]

BLOCK = 2**20
LARGEST_BLOCK = 2**31 - 1  # pyarrow counts in int32
EXACT = 2**53  # integers up to here are floats exactly


@dataclass
class Grid:
    """What was read: numbers, their columns, and what happened on the way."""

    values: np.ndarray  # (n, d) float64
    names: list[str]
    ids: list[str] | None
    left_out: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Text:
    """Delimited text, and all that is needed to say where something is in it."""

    data: bytes
    file: str
    dialect: Dialect
    header: bool

    def line(self, row: int) -> int:
        """The line on which a row begins; rows count from 0, after the header."""
        walk = records(self.data, self.dialect.delimiter)
        return next(islice(walk, row + self.header, None)).line

    def error(self, claim: str, rest: str, row: int, column: str) -> DataError:
        """A claim about a cell, with its line put in after it, and the rest."""
        message = f"{claim} (line {self.line(row)}){rest}"
        return DataError(message, file=self.file, row=row + 1, column=column)


def read_delimited(
    data: bytes,
    file: str,
    *,
    columns: Sequence[str] | None = None,
    id_column: str | None = None,
    header: bool | None = None,
    cut_off: bool = False,
    tabs: bool = False,
) -> Grid:
    """The number columns of delimited UTF-8 text, of which the end may be ``cut_off``."""
    if not re.search(rb"\S", data):
        raise DataError("the file is empty. There are no rows to read.", file=file)
    dialect = sniff(data, prefer="\t" if tabs else None)
    if cut_off:
        data = whole_records(data, dialect)
    opened, quoted_newlines = scan_quotes(data, dialect)
    if opened is not None:
        raise DataError(
            f"line {line_of(data, opened)} opens a quote that never closes. "
            'Close it, or double it ("") if it belongs to the text.',
            file=file,
        )
    first = next(records(data, dialect.delimiter), None)
    if first is None:
        raise DataError("no whole row is left of the truncated file.", file=file)
    names, header, notes = name_columns(first.cells, header, dialect)
    if dialect != Dialect():
        notes.insert(0, str(dialect))
    text = Text(data, file, dialect, header)
    chosen = choose_columns(names, columns, id_column, file)
    reading = [*chosen, *([id_column] if id_column is not None else [])]
    start = first.end if header else 0
    table = parse(text, start, names, reading, id_column, quoted_newlines > 0)
    if table.num_rows == 0:
        raise DataError("there is a header, but no rows follow it.", file=file)
    blank = count_lines(data) - quoted_newlines - table.num_rows - header
    if blank:
        notes.append(f"{blank:,} empty line{'s'[: blank > 1]} skipped")

    left_out = {name: "not chosen" for name in names if name not in reading}
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
    check_finite(values, list(kept), text)
    ids = None if id_column is None else clean_ids(table.column(id_column), notes)
    return Grid(values, list(kept), ids, left_out, notes)


def parse(
    text: Text,
    start: int,
    names: list[str],
    reading: list[str],
    id_column: str | None,
    newlines: bool,
) -> pa.Table:
    """Let pyarrow read the columns; where it balks, find out why in terms of lines."""
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
                column_types={} if id_column is None else {id_column: pa.string()},
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
                raise DataError(
                    f"line {record.line} has {len(record.cells)} cells where {expected} has "
                    f"{width}. Correct it; cells that hold the separator need quotes.",
                    file=text.file,
                ) from first
        try:
            return read(min(max(BLOCK, body.size + 1), LARGEST_BLOCK))
        except pa.ArrowInvalid as error:
            raise DataError(f"{error}.", file=text.file) from error


def to_numbers(
    column: pa.ChunkedArray, name: str, text: Text, chosen: bool
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
    numbers_found, others = pc.sum(number).as_py(), pc.sum(other).as_py()
    if others == 0:
        cells = pc.if_else(missing, None, cells)
        cells = pc.replace_substring(cells, text.dialect.decimal, ".")
        cells = pc.replace_substring_regex(cells, r"^\+", "")
        return cells.cast(pa.float64()).to_numpy(), ""
    row = pc.index(other, True).as_py()
    shown = repr(short(cells[row].as_py()))
    if chosen or numbers_found >= others:
        count = "" if others == 1 else f", nor are {others - 1:,} more below it"
        rest = f"{count}. Correct it, or choose other columns."
        raise text.error(f"{shown} is not a number", rest, row, name)
    if numbers_found:
        share = f"only {numbers_found:,} of {len(column):,} cells are numbers"
        return None, f"text; {share}"
    return None, f"text, for example {shown}"


def check_finite(values: np.ndarray, names: list[str], text: Text) -> None:
    """Refuse gaps and infinities, with the first one's place and how many there are."""
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
    """Ids as text; what is odd about them is noted, and nothing but NULs is changed."""
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


def count_lines(data: bytes) -> int:
    return count_newlines(data) + (not data.endswith((b"\n", b"\r")))


def short(text: str, most: int = 40) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."
