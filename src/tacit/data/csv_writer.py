"""CSV that is safe to open in a spreadsheet."""

import csv
import re
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

__all__ = ["guard", "write_rows"]

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


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
    csv.writer(stream, lineterminator="\n").writerows([guard(c) for c in row] for row in rows)
