"""Ratings from files and data frames: which column is which, and the cells of it.

CSV with any common separator, MovieLens' ``u.data`` (tabs, no header) and ``ratings.dat``
(``::``), Parquet; plain or compressed. Ids of digits become integers, others stay text.
"""

import re
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tacit.core.errors import DataError
from tacit.data.delimited import (
    choose_columns,
    number_pattern,
    open_delimited,
    records,
    sniff,
)
from tacit.data.number_files import parse, to_numbers
from tacit.data.parquet import open_parquet_file, read_columns
from tacit.data.ratings import Ratings, RatingsReport
from tacit.data.streams import NPY, PARQUET, PARTIAL_ROWS, Raw, read_table

__all__ = ["frame_columns", "read_ratings"]

# Names of columns, lower case and without anything but letters.
KNOWN = {
    "user": "user userid uid customer customerid reviewer reviewerid reader readerid listener "
    "buyer person account member visitor visitorid",
    "item": "item itemid iid movie movieid film filmid product productid book bookid isbn asin "
    "track trackid song songid artist artistid title",
    "rating": "rating ratings score stars value bookrating overall count counts plays weight "
    "preference confidence",
    "time": "timestamp time date unixreviewtime ratedat unixtime",
}
INTEGER = r"^(0|-?[1-9][0-9]{0,17})$"  # 007 is not 7


def read_ratings(
    source: str | Path | IO,
    named: dict[str, str | None],
    *,
    header: bool | None = None,
    duplicates: str = "last",
    allow_partial: bool = False,
) -> Ratings:
    """Read ratings from a file or a stream; ``named`` gives the columns of roles.

    >>> read_ratings(BytesIO(b"1::1193::5::978300760\\n1::661::3::978302109\\n"), {})
    Ratings(2 ratings of 1 users and 2 items, from 3 to 5)
    """
    raw = read_table(source, complete=not allow_partial, otherwise=PARTIAL_ROWS)
    file = raw.name
    if raw.data.startswith(NPY):
        raise DataError("ratings are read from CSV or Parquet, not .npy.", file=file)
    if raw.data.startswith(PARQUET):
        columns = parquet_columns(raw.data, file, named)
    else:
        columns = text_columns(raw, named, header)
    report = RatingsReport(file, partial=raw.partial, notes=raw.notes)
    try:
        return Ratings.of_columns(**columns, duplicates=duplicates, report=report)
    except DataError as error:
        if error.file is not None:
            raise
        raise DataError(error.message, file=file, row=error.row, column=error.column) from None


def text_columns(raw: Raw, named: dict[str, str | None], header: bool | None) -> dict[str, Any]:
    """Users, items, values and times of delimited text."""
    data, file, notes = raw.data, raw.name, raw.notes
    if data.partition(b"\n")[0].count(b"::") >= 2 and b"\t" not in data:
        data = data.replace(b"::", b"\t")
        notes.append("cells are separated by ::")
    if header is None and data.strip():
        # Ids may be text, so a single number tells that the first line is a rating.
        first = next(records(data, sniff(data[: 1 << 16]).delimiter))
        cells = (cell.decode("utf-8", "replace").strip() for cell in first.cells)
        header = not any(re.match(number_pattern(), cell) for cell in cells)
    opened = open_delimited(data, file, header=header, cut_off=bool(raw.partial))
    notes += opened.notes
    places = find_columns(opened.names, named, opened.header, file)
    texts = [places["user"], places["item"]]
    table = parse(opened, [name for name in places.values() if name], texts)
    if not table.num_rows:
        raise DataError("there is a header, but no ratings follow it.", file=file)
    out: dict[str, Any] = {
        "users": ids_of(table.column(places["user"]), places["user"], file),
        "items": ids_of(table.column(places["item"]), places["item"], file),
    }
    if places["rating"]:
        column = table.column(places["rating"])
        numbers, _ = to_numbers(column, places["rating"], opened, True)
        assert numbers is not None  # what is asked for is there, or an error
        missing = ~np.isfinite(numbers)
        if missing.any():
            row = int(np.argmax(missing))
            what = "missing" if np.isnan(numbers[row]) else "infinite"
            raise opened.error(
                f"the rating is {what}", ". Fill it in, or remove the row.", row,
                places["rating"],
            )  # fmt: skip
        out["values"] = numbers
    else:
        notes.append("there is no column of ratings: every row counts 1")
    if places["time"]:
        out["times"] = times_of(table.column(places["time"]), places["time"], file)
    return out


def parquet_columns(data: bytes, file: str, named: dict[str, str | None]) -> dict[str, Any]:
    source = BytesIO(data)
    with open_parquet_file(source, file) as parquet:
        places = find_columns(list(parquet.schema_arrow.names), named, True, file)
    table = read_columns(source, file, [name for name in places.values() if name])
    if not table.num_rows:
        raise DataError("there are no ratings in it.", file=file)
    out: dict[str, Any] = {}
    for role in ("user", "item"):
        column = table.column(places[role])
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if column.null_count:
            row = pc.index(column.is_null(), True).as_py()
            raise DataError(f"the {role} is missing.", file=file, row=row + 1)
        if pa.types.is_nested(column.type):
            what = f"it holds {column.type}, not the names or numbers of {role}s."
            raise DataError(what, file=file, column=places[role])
        out[f"{role}s"] = column.to_numpy()
    if places["rating"]:
        kind = table.column(places["rating"]).type
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
            raise DataError(f"it holds {kind}, not numbers.", file=file,
                            column=places["rating"])  # fmt: skip
        out["values"] = table.column(places["rating"]).to_numpy()
    if places["time"]:
        out["times"] = times_of(table.column(places["time"]), places["time"], file)
    return out


def frame_columns(frame: Any) -> dict[str, Any]:
    """Users, items, values and times of a data frame (pandas, polars, pyarrow)."""
    names = getattr(frame, "column_names", None) or [str(name) for name in frame.columns]
    places = find_columns(names, {}, True, "the data frame")
    roles = {"user": "users", "item": "items", "rating": "values", "time": "times"}
    out = {}
    for role, name in places.items():
        if name:
            column = frame[name]
            out[roles[role]] = column.to_numpy() if hasattr(column, "to_numpy") else column
    if "times" in out and np.asarray(out["times"]).dtype.kind in "M":
        out["times"] = np.asarray(out["times"]).astype("datetime64[s]").astype(np.float64)
    return out


def find_columns(
    names: Sequence[str], named: dict[str, str | None], header: bool, file: str
) -> dict[str, str]:
    """The column of each role; an empty name where there is none."""
    asked = [name for name in named.values() if name]
    choose_columns(names, asked or None, None, file)
    places = {role: named.get(role) or "" for role in KNOWN}
    left = [name for name in names if name not in asked]
    if not header:
        for role in KNOWN:
            if not places[role] and left and not (role == "time" and asked):
                places[role] = left.pop(0)
    else:
        for role, words in KNOWN.items():
            plain = {re.sub("[^a-z]", "", name.lower()): name for name in reversed(left)}
            match = next((plain[word] for word in words.split() if word in plain), None)
            if not places[role] and match is not None:
                places[role] = match
                left.remove(match)
    shown = ", ".join(names[:20])
    for role in ("user", "item"):
        if not places[role]:
            raise DataError(
                f"which column is the {role}? The columns are {shown}. Name it with {role}=.",
                file=file,
            )
    if not places["rating"] and left:
        raise DataError(
            f"which column is the rating? The columns are {shown}. Name it with rating=, or "
            "leave the others out if every row counts 1.",
            file=file,
        )
    return places


def ids_of(column: pa.ChunkedArray, name: str, file: str) -> np.ndarray:
    """Ids of a column of text: integers if all of them are written as such."""
    cells = pc.utf8_trim_whitespace(column)
    missing = pc.or_(pc.is_null(cells), pc.equal(cells, "")).combine_chunks()
    row = pc.index(missing.fill_null(True), True).as_py()
    if row >= 0:
        raise DataError(
            "the id is missing. Fill it in, or remove the row.", file=file, row=row + 1,
            column=name,
        )  # fmt: skip
    coded = cells.combine_chunks().dictionary_encode()
    coded = coded.combine_chunks() if isinstance(coded, pa.ChunkedArray) else coded
    words, places = coded.dictionary, coded.indices.to_numpy()
    if pc.all(pc.match_substring_regex(words, INTEGER)).as_py():
        return words.cast(pa.int64()).to_numpy()[places]
    return words.to_numpy(zero_copy_only=False)[places]


def times_of(column: pa.ChunkedArray, name: str, file: str) -> np.ndarray:
    """Times as seconds, or as the numbers they are."""
    kind = column.type
    try:
        if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_date(kind):
            column = column.cast(pa.timestamp("s"))
        if pa.types.is_timestamp(column.type):
            column = column.cast(pa.timestamp("s"), safe=False).cast(pa.int64())
        if column.null_count:
            row = pc.index(column.is_null(), True).as_py()
            raise DataError("the time is missing.", file=file, row=row + 1, column=name)
        return column.cast(pa.float64(), safe=False).to_numpy()
    except pa.ArrowException as error:
        raise DataError(
            f"these are not times: {error}. Give seconds, or dates such as 2026-01-31.",
            file=file, column=name,
        ) from None  # fmt: skip
