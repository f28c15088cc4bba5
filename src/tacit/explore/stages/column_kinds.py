"""What the columns that came along with the documents hold: kinds, dates, or neither."""

from typing import Any, NamedTuple

import numpy as np

from tacit.data.documents import Documents
from tacit.explore.stages.dates import Dates, read_dates
from tacit.explore.stages.ingest import RESERVED

__all__ = ["FEWEST_KINDS", "MOST_KINDS", "NONE", "Column", "columns_of", "written"]

FEWEST_KINDS, MOST_KINDS = 2, 50
MOST_COLUMNS = 12  # that are compared
NONE = "(none)"
LONGEST = 60  # characters of a value


class Column(NamedTuple):
    """One column: which kind of thing it holds, or why it is not used."""

    name: str
    role: str  # "kinds", "dates" or "other"
    why: str  # for "other"
    kinds: tuple[str, ...] = ()
    codes: np.ndarray | None = None  # the kind of every document
    dates: Dates | None = None


def columns_of(documents: Documents) -> list[Column]:
    """Every column of a collection, in its order."""
    found, compared = [], 0
    for name in documents.columns:
        if name in RESERVED:
            continue
        column = look_at(str(name), documents.column(name))
        if column.role == "kinds":
            compared += 1
            if compared > MOST_COLUMNS:
                column = Column(column.name, "other", f"past the first {MOST_COLUMNS}")
        found.append(column)
    return found


def look_at(name: str, values: list[Any]) -> Column:
    """What one column holds.

    >>> look_at("topic", ["sea", "bread", None, "sea"] * 3).kinds
    ('bread', 'sea', '(none)')
    >>> look_at("sender", [f"person {i}" for i in range(80)]).why
    'has 80 different values for 80 documents'
    """
    dates = read_dates(name, values)
    if dates is not None:
        return Column(name, "dates", "", dates=dates)
    raw = set(values)
    n = len(values)
    if len(raw) <= max(2 * MOST_KINDS, FEWEST_KINDS):
        shown_as = {value: written(value) for value in raw}
        kinds = sorted(set(shown_as.values()), key=lambda kind: (kind == NONE, kind))
        real = len(kinds) - (NONE in kinds)
        if real <= 1:
            return Column(name, "other", "has one value only" if real else "is empty")
        if len(kinds) <= min(MOST_KINDS, n // 2):
            at = {kind: i for i, kind in enumerate(kinds)}
            codes = np.array([at[shown_as[value]] for value in values], np.int64)
            return Column(name, "kinds", "", tuple(kinds), codes)
    return Column(name, "other", f"has {len(raw):,} different values for {n:,} documents")


def written(value: Any) -> str:
    """A value as the page shows it.

    >>> written(3.0), written(" a\\nb "), written(None)
    ('3', 'a b', '(none)')
    """
    from tacit.explore.report.page_text import clean_line, cut

    if value is None or value == "" or value != value:
        return NONE
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return cut(clean_line(str(value)), LONGEST) or NONE
