"""Files of labels: a column with the group of each row, and possibly one with ids.

CSV with any common separator and encoding, plain or compressed, as ``tacit cluster --out`` and
spreadsheets write it. Labels and ids are text and stay as they are.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from tacit.core.errors import DataError
from tacit.core.wording import listed
from tacit.data.delimited import MISSING, Dialect, choose_columns, open_delimited
from tacit.data.streams import NPY, PARQUET, read_table

__all__ = ["LabelTable", "read_labels"]

LABEL_NAMES = ("cluster", "label", "labels", "class", "group")  # taken where there is a choice


@dataclass
class LabelTable:
    """Labels of rows, an id for each where the file has them, and the lines they are on."""

    file: str
    column: str
    labels: list[str]
    id_column: str | None
    ids: list[str] | None
    lines: list[int]
    notes: list[str] = field(default_factory=list)


def read_labels(
    source: str | Path | IO,
    *,
    column: str | None = None,
    id_column: str | None = None,
    header: bool | None = None,
) -> LabelTable:
    """Read the labels of rows from a CSV file or a stream.

    Parameters
    ----------
    source : path or stream
    column : str or None
        The column of the labels. None takes the only one besides ids, or one called cluster,
        label, labels, class or group.
    id_column : str or None
        The column of the ids. None takes one called id or row, if there is one.
    header : bool or None
        Whether line one names the columns. None: unless all its cells are numbers.

    Raises
    ------
    DataError
        With file, row and line, for a missing label, rows of uneven width, quotes that never
        close, or a repeated id.

    Examples
    --------
    >>> from io import BytesIO
    >>> table = read_labels(BytesIO(b"id,cluster\\nann,0\\nbob,1\\n"))
    >>> table.ids, table.labels
    (['ann', 'bob'], ['0', '1'])
    """
    raw = read_table(source)
    file = raw.name
    if raw.data.startswith((PARQUET, NPY)):
        raise DataError("labels are read from CSV, and this is not CSV. Convert it.", file=file)
    text = open_delimited(raw.data, file, header=header, content="labels")
    names, notes = text.names, raw.notes + text.notes[text.dialect != Dialect() :]
    guessed = text.header and header is None
    if guessed and len(names) == 1 and names[0].lower() not in LABEL_NAMES:
        notes.append(f"line 1, {names[0]!r}, was taken for the name of the column")
    body = [*text.rows()]
    if not body:
        raise DataError("there is a header, but no rows follow it.", file=file)
    choose_columns(names, None if column is None else [column], id_column, file)
    if id_column is None:
        id_column = pick([name for name in names if name != column], ("id", "row"))
    column = column or label_column(names, id_column, file)
    if len(names) == 1:
        id_column = None
    places = [names.index(column)] + ([] if id_column is None else [names.index(id_column)])
    columns: list[list[str]] = [[] for _ in places]
    for number, record in enumerate(body, 1):
        if len(record.cells) != len(names):
            raise DataError(
                f"line {record.line} has {len(record.cells)} cells, but the first has "
                f"{len(names)}. Give every row the same number.",
                file=file,
            )
        for place, into in zip(places, columns, strict=True):
            into.append(record.cells[place].decode("utf-8", "replace").strip())
        if columns[0][-1] in MISSING:
            raise DataError(
                f"the label is missing (line {record.line}). Fill it in, or remove the row.",
                file=file, row=number, column=column,
            )  # fmt: skip
    lines = [record.line for record in body]
    ids = None if id_column is None else columns[1]
    if ids is not None:
        check_ids(ids, lines, file, id_column)
    return LabelTable(file, column, columns[0], id_column, ids, lines, notes)


def pick(names: Sequence[str], candidates: Sequence[str]) -> str | None:
    """The first of the candidates among the names, in any case; None without any."""
    lower = {name.lower(): name for name in reversed(names)}
    return next((lower[name] for name in candidates if name in lower), None)


def label_column(names: list[str], id_column: str | None, file: str) -> str:
    others = [name for name in names if name != id_column] or names
    known = pick(others, LABEL_NAMES)
    if len(others) > 1 and known is None:
        claim = f"{len(others):,} columns could hold the labels: {listed(others)}. Name one."
        raise DataError(claim, file=file)
    return others[0] if len(others) == 1 else str(known)


def check_ids(ids: list[str], lines: list[int], file: str, column: str | None) -> None:
    if len({*ids}) == len(ids):
        return
    (twice, times), *_ = Counter(ids).most_common(1)
    first, second = [line for line, id in zip(lines, ids, strict=True) if id == twice][:2]
    what = f"the id {twice!r}" if twice else "an empty id"
    raise DataError(
        f"{what} occurs {times:,} times, first on lines {first} and {second}. Give every row "
        "an id of its own, or compare row by row.",
        file=file,
        column=column,
    )
