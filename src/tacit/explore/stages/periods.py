"""Time cut into periods: the finest unit that a chart can show and documents can fill."""

from datetime import date, timedelta
from typing import NamedTuple

import numpy as np

from tacit.explore.stages.dates import DAY, EPOCH, MONTH, YEAR

__all__ = ["Periods", "cut_time", "left_over"]

MOST = 40  # periods
FILLED = 5  # documents for each, on average
# A unit: how exact dates must be, and years, months or days.
UNITS = (
    ("day", DAY, 1), ("week", DAY, 7), ("month", MONTH, 1), ("quarter", MONTH, 3),
    ("year", YEAR, 1), ("two years", YEAR, 2), ("five years", YEAR, 5), ("decade", YEAR, 10),
    ("25 years", YEAR, 25), ("century", YEAR, 100),
)  # fmt: skip
SHORT = (
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
)  # fmt: skip


class Periods(NamedTuple):
    """Which period each document is in, and what the periods are called."""

    unit: str
    codes: np.ndarray  # int64; -1 where there is no date, or it lies far outside
    names: list[str]
    outside: int  # documents that lie far from all others


def cut_time(days: np.ndarray, exact: np.ndarray) -> Periods | None:
    """Periods for dates, days since 1970 (see ``dates``); None if they are all in one.

    >>> days = np.repeat(np.arange(0, 3650, 365), 10)
    >>> found = cut_time(days, np.full(100, 2))
    >>> found.unit, found.names[:3]
    ('year', ['1970', '1971', '1972'])
    """
    known = np.flatnonzero(exact >= 0)
    far = left_over(days[known])
    known = known[~far]
    if not len(known):
        return None
    finest = int(exact[known].min())
    chosen = None
    for unit, needs, size in UNITS:
        if needs > finest:
            continue
        numbers = numbered(days[known], needs, size)
        count = int(numbers.max() - numbers.min()) + 1
        chosen = unit, needs, size, numbers, count
        if count <= MOST and (count * FILLED <= len(known) or count <= 2):
            break
    if chosen is None or chosen[4] < 2:
        return None
    unit, needs, size, numbers, count = chosen
    codes = np.full(len(days), -1, np.int64)
    codes[known] = numbers - numbers.min()
    first = int(numbers.min())
    names = [named(first + i, unit, needs, size) for i in range(count)]
    return Periods(unit, codes, names, int(far.sum()))


def left_over(days: np.ndarray) -> np.ndarray:
    """Dates so far from the others that they would flatten the chart: slips, mostly."""
    if len(days) < 20:
        return np.zeros(len(days), np.bool_)
    low, high = np.quantile(days, [0.01, 0.99])
    width = max(float(high - low), 30.0)
    if float(days.max() - days.min()) <= 5 * width:
        return np.zeros(len(days), np.bool_)
    return (days < low - width) | (days > high + width)


def numbered(days: np.ndarray, needs: int, size: int) -> np.ndarray:
    """The number of the period of each day, counted from some beginning."""
    stamps = days.astype("datetime64[D]")
    if needs == DAY:
        return (days + 3) // size if size == 7 else days  # weeks begin on Monday
    unit = "datetime64[M]" if needs == MONTH else "datetime64[Y]"
    count = stamps.astype(unit).astype(np.int64) + (1970 if needs == YEAR else 0)
    return count // size


def named(number: int, unit: str, needs: int, size: int) -> str:
    if needs == DAY:
        day = number * 7 - 3 if size == 7 else number
        when = date.fromordinal(EPOCH) + timedelta(days=day)
        return f"{when.day} {SHORT[when.month - 1]} {when.year}"
    if needs == MONTH:
        year, month = divmod(number * size, 12)
        start = f"Q{month // 3 + 1}" if unit == "quarter" else SHORT[month]
        return f"{start} {year + 1970}"
    year = number * size
    if unit == "decade":
        return f"{year}s"
    return str(year) if size == 1 else f"{year}\N{EN DASH}{year + size - 1}"
