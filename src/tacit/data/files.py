"""Files of numbers: CSV and its relatives, Parquet, NumPy.

``read_numbers`` takes whatever a person has and says what it made of it. Text is read into
memory and checked to the last cell. Parquet and .npy files stay on disk as a ``Table``, read
block by block during the fit.
"""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from io import BytesIO
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from tacit.core.errors import DataError, PartialInput
from tacit.data.decode import Raw, read_raw, to_utf8
from tacit.data.delimited import choose_columns
from tacit.data.streams import GZIP, NPY, PARQUET, ZSTD, foreign, name_of
from tacit.data.table import Table

__all__ = ["NumberTable", "ReadReport", "read_numbers"]

SHOWN = 8  # names in a sentence; the rest are counted


@dataclass
class ReadReport:
    """What became of a file: rows, columns used and left out, everything odd on the way."""

    source: str
    format: str
    rows: int
    used: list[str]
    left_out: dict[str, str] = field(default_factory=dict)  # name -> why
    notes: list[str] = field(default_factory=list)
    partial: str | None = None

    def lines(self) -> list[str]:
        """The report in sentences, to be read by a person."""
        used = f"{len(self.used):,} column{'s'[: len(self.used) != 1]}"
        out = [f"{self.source}: {self.rows:,} rows, {used} used ({some(self.used)})."]
        reasons: dict[str, list[str]] = {}
        for name, reason in self.left_out.items():
            reasons.setdefault(reason, []).append(name)
        out += [f"Left out: {some(names)} ({reason})." for reason, names in reasons.items()]
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


class ChosenRows(NamedTuple):
    """A stretch of another block's columns, as floats the models take."""

    rows: Any
    columns: tuple | None
    dtype: str

    @property
    def start(self) -> int:
        return self.rows.start

    @property
    def stop(self) -> int:
        return self.rows.stop

    def load(self) -> np.ndarray:
        block = self.rows.load()
        if self.columns is not None:
            block = block[:, list(self.columns)]
        return np.ascontiguousarray(block, dtype=self.dtype)


def read_numbers(
    source: str | Path | IO,
    *,
    columns: Sequence[str] | None = None,
    id_column: str | None = None,
    header: bool | None = None,
    allow_partial: bool = False,
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
        Whether the first line of a CSV file names the columns. None looks whether it is
        all numbers.
    allow_partial : bool
        Whether the whole rows of a truncated file will do. If not, it is a PartialInput.

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
    options: dict[str, Any] = {"columns": columns, "id_column": id_column}
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
    if (what := foreign(raw.data)) is not None:
        raise DataError(f"this is {what}.", file=raw.name)
    from tacit.data.number_columns import read_delimited

    if raw.partial and not allow_partial:
        raise PartialInput(
            f"{raw.partial}. Get the file again, or allow partial input to use the rows that "
            "are whole.",
            file=raw.name,
        )
    raw = to_utf8(raw)
    plain = re.sub(r"\.(gz|zst|zstd)$", "", raw.name.lower())
    tabs = plain.endswith((".tsv", ".tab"))
    grid = read_delimited(
        raw.data, raw.name, **options, header=header, cut_off=bool(raw.partial), tabs=tabs
    )
    rows = len(grid.values)
    partial = raw.partial and f"{raw.partial}; its {rows:,} whole rows were read"
    notes = raw.notes + grid.notes
    report = ReadReport(raw.name, "CSV", rows, grid.names, grid.left_out, notes, partial)
    return NumberTable(grid.values, grid.names, grid.ids, report)


def from_npy(
    source: str | Path | BytesIO,
    file: str,
    *,
    columns: Sequence[str] | None,
    id_column: str | None,
) -> NumberTable:
    """Rows of a .npy file, which stay on disk if they are there; columns are c0, c1, ..."""
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
        (j,) = (names.index(id_column),)
        ids = [str(each) for block in table for each in block.load()[:, j]]
    picked = None if chosen == names else tuple(names.index(name) for name in chosen)
    left_out = {n: "not chosen" for n in names if n not in chosen and n != id_column}
    notes = ["a .npy file has no column names: they are called c0, c1 and so on"]
    report = ReadReport(file, "NumPy", len(table), chosen, left_out, notes)
    return NumberTable(pick(table, picked, len(chosen)), chosen, ids, report)


def pick(table: Table, columns: tuple | None, width: int) -> Table:
    """The table with some of its columns, in native float32 or float64."""
    dtype = np.dtype(np.float32 if table.dtype.newbyteorder("=") == np.float32 else np.float64)
    if columns is None and table.dtype == dtype:
        return table
    blocks = tuple(ChosenRows(block, columns, dtype.str) for block in table)
    return Table(blocks, (table.shape[0], width), dtype, table.source, table.in_memory)


def from_parquet(
    source: str | Path | BytesIO,
    file: str,
    *,
    columns: Sequence[str] | None,
    id_column: str | None,
) -> NumberTable:
    """Number columns of a Parquet file, which stay on disk if they are there."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(source) as parquet:
            schema, rows = parquet.schema_arrow, parquet.metadata.num_rows
            nulls = count_nulls(parquet.metadata)
            names = list(schema.names)
            if len({*names}) < len(names):
                raise DataError("two columns have the same name. Rename one.", file=file)
            chosen = choose_columns(names, columns, id_column, file)
            kinds = {name: schema.field(name).type for name in names}
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
                if nulls.get(name):
                    raise DataError(
                        f"{nulls[name]:,} values are missing. Fill them in, remove those rows, "
                        "or choose columns without gaps.",
                        file=file,
                        column=name,
                    )
            ids = None
            if id_column is not None:
                held = parquet.read([id_column]).column(0).to_pylist()
                ids = ["" if each is None else str(each) for each in held]
            if isinstance(source, BytesIO):
                held = parquet.read(used)
                array = np.column_stack([held.column(name).to_numpy() for name in used])
                table = pick(Table.from_array(array), None, len(used))
            else:
                table = Table.from_parquet(source, columns=used)
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, FileNotFoundError | PermissionError):
            raise
        raise DataError(f"this Parquet file cannot be read: {error}", file=file) from error
    left_out = {n: "not chosen" for n in names if n not in chosen and n != id_column} | texts
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


def some(names: Sequence[str]) -> str:
    """A few of the names, and how many more there are."""
    more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
