"""Dates as people write them: ISO, years, mail headers, names of months, slashes.

A date is a day since 1970-01-01 and how exact it is. Where day and month are
ambiguous (03/04/2020), only the year is used, unless another date of the column settles it.
"""

import re
from collections.abc import Iterable
from datetime import date
from email.utils import parsedate
from typing import Any, NamedTuple

import numpy as np

__all__ = [
    "DAY", "EPOCH", "MONTH", "MONTHS", "YEAR", "Dates", "header_date", "read_date",
    "read_dates",
]  # fmt: skip

YEAR, MONTH, DAY = 0, 1, 2  # how exact a date is
ENOUGH = 0.8  # of the values that are there must be dates
FIRST, LAST = 1000, 2200  # years
LIKELY = 1700, 2100  # years, for whole numbers in a column whose name gives no hint
SECONDS = 1e8, 4.2e9  # since 1970: 1973 to 2103
EPOCH = date(1970, 1, 1).toordinal()
NAMED = re.compile(r"(year|date|time|when|day|published|posted|created|sent|jahr|datum|ann[ée]e"
                   r"|fecha|anno|utc)", re.IGNORECASE)  # fmt: skip
ISO = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?(?:[T ]\d{1,2}[:.\d]*.*)?$")
PACKED = re.compile(r"(\d{4})(\d{2})(\d{2})$")
POINTS = re.compile(r"(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})\b")
SLASHES = re.compile(r"(\d{1,2})[/-](\d{1,2})[/-](\d{4})\b")
BACKWARD = re.compile(r"(\d{4})[/.](\d{1,2})[/.](\d{1,2})\b")
MONTHS = (
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
)  # fmt: skip
MONTH_NAME = (
    "(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
DAY_FIRST = re.compile(
    rf"(?:[a-z]+,?\s+)?(\d{{1,2}})(?:st|nd|rd|th)?[\s-]+{MONTH_NAME},?[\s-]+(\d{{4}})\b"
)
MONTH_FIRST = re.compile(
    rf"(?:[a-z]+,?\s+)?{MONTH_NAME}\s+(\d{{1,2}})(?:st|nd|rd|th)?,?\s+(\d{{4}})\b"
)
MONTH_ONLY = re.compile(rf"{MONTH_NAME},?\s+(\d{{4}})$")
HEADER = re.compile(r"^(?:date|sent|posted|published)[ \t]*:[ \t]*(\S.*)$", re.I | re.M)
READ = 2000  # characters of a document in which a header may be


class Date(NamedTuple):
    """One date."""

    day: int  # since 1970-01-01
    exact: int


class Dates(NamedTuple):
    """The dates of a column."""

    days: np.ndarray  # int64; 0 where there is none
    exact: np.ndarray  # int8; -1 where there is none
    missing: int  # values that were not there
    unread: list[str]  # some that could not be read
    unreadable: int


def read_dates(name: str, values: list[Any]) -> Dates | None:
    """The dates of a column, or None if it holds something else.

    >>> found = read_dates("date", ["1993-04-06", "Tue, 6 Apr 1993 12:00:00 GMT", None])
    >>> found.days.tolist(), found.missing
    ([8496, 8496, 0], 1)
    >>> read_dates("pages", [12, 1993, 40]) is None
    True
    """
    there = [value for value in values if not is_absent(value)]
    if not there or not plausible(name, there):
        return None
    order = slash_order(there)
    known: dict[Any, Date | None] = {}
    days, exact = np.zeros(len(values), np.int64), np.full(len(values), -1, np.int8)
    unread: list[str] = []
    unreadable = 0
    named = NAMED.search(name) is not None
    for i, value in enumerate(values):
        if is_absent(value):
            continue
        if value not in known:
            known[value] = read_date(value, order=order, named=named)
        found = known[value]
        if found is None:
            unreadable += 1
            if len(unread) < 5 and str(value)[:40] not in unread:
                unread.append(str(value)[:40])
        else:
            days[i], exact[i] = found
    if unreadable > (1 - ENOUGH) * len(there):
        return None
    return Dates(days, exact, len(values) - len(there), unread, unreadable)


def read_date(value: Any, *, order: str = "", named: bool = True) -> Date | None:
    """One date; ``order`` is "day" or "month" where it is known what comes first.

    >>> read_date("6 April 1993") == read_date("1993-04-06") == read_date("April 6, 1993")
    True
    >>> read_date("03/04/2020").exact, read_date("03/04/2020", order="day").exact
    (0, 2)
    >>> read_date("soon") is None
    True
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return of_number(number_of(value), named)
    text = " ".join(str(value)[:80].split())
    if text.isdecimal() and len(text) != 8:
        return of_number(number_of(text), named)
    if found := PACKED.match(text):
        return to_date(*map(int, found.groups())) if named else None
    if found := ISO.match(text) or BACKWARD.match(text):
        year, month, day = (int(part) if part else 0 for part in found.groups())
        return to_date(year, month, day)
    if found := POINTS.match(text):
        return to_date(int(found[3]), int(found[2]), int(found[1]))
    if found := SLASHES.match(text):
        a, b, year = map(int, found.groups())
        if order or a > 12 or b > 12:
            day_first = order == "day" or a > 12
            return to_date(year, b, a) if day_first else to_date(year, a, b)
        return to_date(year, 0, 0) if a != b else to_date(year, a, b)
    lowered = text.lower()
    if found := DAY_FIRST.match(lowered):
        return to_date(int(found[3]), MONTHS.index(found[2][:3]) + 1, int(found[1]))
    if found := MONTH_FIRST.match(lowered):
        return to_date(int(found[3]), MONTHS.index(found[1][:3]) + 1, int(found[2]))
    if found := MONTH_ONLY.match(lowered):
        return to_date(int(found[2]), MONTHS.index(found[1][:3]) + 1, 0)
    try:
        parts = parsedate(text)  # mail headers, two-digit years too
    except (ValueError, TypeError, IndexError):
        parts = None
    return None if parts is None or not parts[0] else to_date(*parts[:3])


def header_date(text: str) -> Date | None:
    """The date that the head of a document gives.

    >>> header_date("From: ann\\nDate: Tue, 6 Apr 1993 12:00:00 GMT\\n\\nDear Bob,").day
    8496
    """
    start = text[:READ]
    if ":" not in start:
        return None
    found = HEADER.search(start)
    return None if found is None else read_date(found[1])


def plausible(name: str, there: list[Any]) -> bool:
    """Whether a column may hold dates, by its name and some of its values."""
    some = there[:: max(1, len(there) // 50)][:50]
    numbers = sum(isinstance(v, int | float) or str(v).strip().isdigit() for v in some)
    if numbers == len(some) and not NAMED.search(name):
        every = [number_of(value) for value in there]
        years = all(LIKELY[0] <= v <= LIKELY[1] and v == int(v) for v in every)
        return years and len(there) >= 20 and len(set(every)) > 2
    readable = sum(read_date(value) is not None for value in some)
    return readable >= ENOUGH * len(some)


def number_of(value: Any) -> float:
    try:
        return float(value)
    except (ValueError, OverflowError):
        return -1.0


def slash_order(there: Iterable[Any]) -> str:
    """What comes first in dates with slashes, if any of them shows it."""
    day = month = False
    for value in there:
        if isinstance(value, str) and (found := SLASHES.match(value.strip()[:80])):
            day |= int(found[1]) > 12
            month |= int(found[2]) > 12
    return "" if day == month else "day" if day else "month"


def of_number(value: float, named: bool) -> Date | None:
    if FIRST <= value <= LAST and value == int(value):
        return to_date(int(value), 0, 0)
    if named and SECONDS[0] <= value <= SECONDS[1]:
        return Date(int(value // 86_400), DAY)
    return None


def to_date(year: int, month: int, day: int) -> Date | None:
    """A date that the calendar has; a month or day of 0 is not known."""
    if not FIRST <= year <= LAST:
        return None
    try:
        found = date(year, month or 1, day or 1).toordinal() - EPOCH
    except ValueError:
        return None
    return Date(found, DAY if day else MONTH if month else YEAR)


def is_absent(value: Any) -> bool:
    return value is None or value != value or (isinstance(value, str) and not value.strip())
