"""Documents over time: how many there are in each period, and which words rise and fall.

Whether a word rises is tested on documents, not on periods: are documents that have it later
than others of about the same length? Mantel's extension of the trend test, in five
strata of length (later documents may just be longer, and long ones hold more words); of all
words tested, those are listed at a false discovery rate of 5% (Benjamini and Hochberg) whose
frequency changes by half at least.

Mantel (1963), Chi-square tests with one degree of freedom: extensions of the Mantel-Haenszel
procedure. Journal of the American Statistical Association 58. Benjamini and Hochberg (1995),
Controlling the false discovery rate. Journal of the Royal Statistical Society B 57.
"""

from datetime import date, timedelta
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tacit.core.wording import count
from tacit.explore.stages.dates import DAY, EPOCH, MONTH, MONTHS, YEAR, Dates, header_date
from tacit.explore.stages.fields import (
    columns_of,
    compared_words,
    strata_of,
)
from tacit.explore.stages.stage import Context, Output
from tacit.explore.stages.unspaced import whole_words, with_whole_words
from tacit.explore.stages.wording import names_nothing

__all__ = ["Periods", "cut_time", "false_discoveries", "follow_time", "left_over", "trend"]

FEWEST = 20  # dated documents for a time line
ENOUGH = 0.5  # of the documents that must have a date in their head
CHANGE = 1.5  # times more in the last third than in the first, or the other way round
SHOWN = 12  # words that rise, and that fall


# --- Periods ---

MOST = 40  # periods
FILLED = 5  # documents for each, on average
# A unit: how exact dates must be, and years, months or days.
UNITS = (
    ("day", DAY, 1), ("week", DAY, 7), ("month", MONTH, 1), ("quarter", MONTH, 3),
    ("year", YEAR, 1), ("two years", YEAR, 2), ("five years", YEAR, 5), ("decade", YEAR, 10),
    ("25 years", YEAR, 25), ("century", YEAR, 100),
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
    """Dates so far from the others that they would flatten the chart: mostly typing errors."""
    low, high = np.quantile(days, [0.01, 0.99]) if len(days) >= 20 else (-np.inf, np.inf)
    width = max(float(high - low), 30.0)
    far = len(days) > 0 and np.ptp(days) > 5 * width
    return ((days < low - width) | (days > high + width)) & far


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
        return f"{when.day} {MONTHS[when.month - 1].capitalize()} {when.year}"
    if needs == MONTH:
        year, month = divmod(number * size, 12)
        start = f"Q{month // 3 + 1}" if unit == "quarter" else MONTHS[month].capitalize()
        return f"{start} {year + 1970}"
    year = number * size
    if unit == "decade":
        return f"{year}s"
    return str(year) if size == 1 else f"{year}\N{EN DASH}{year + size - 1}"


# --- Documents over time ---


def follow_time(context: Context) -> Output:
    """The time line of the collection, if its documents have dates."""
    documents = context.documents()
    n = len(documents)
    columns: list[Any] = [c for c in columns_of(documents) if c.role == "dates"]
    names = [column.name for column in columns]
    facts: dict[str, Any] = {"documents": n, "columns": names, "in_header": 0}
    dated, source = None, ""  # the name of a column, or "" for the head of the documents
    if columns:
        best = max(columns, key=lambda column: int((column.dates.exact >= 0).sum()))
        dated, source = best.dates, best.name
    elif n:
        dated, facts["in_header"] = from_headers(documents.texts(), n)
    if dated is None:
        return Output(facts={**facts, "why": "no column and no header holds dates"})
    known = int((dated.exact >= 0).sum())
    facts |= {
        "source": source, "dated": known, "missing": dated.missing,
        "unreadable": dated.unreadable, "unread": dated.unread,
    }  # fmt: skip
    if known < FEWEST:
        few = count(known, "date is", "dates are")
        return Output(facts={**facts, "why": f"{few} too few for a time line"})
    periods = cut_time(dated.days, dated.exact)
    if periods is None:
        return Output(facts={**facts, "why": "all dates fall into one period"})
    placed = np.flatnonzero(periods.codes >= 0)
    facts |= {
        "unit": periods.unit,
        "periods": periods.names,
        "sizes": np.bincount(periods.codes[placed], minlength=len(periods.names)).tolist(),
        "outside": periods.outside,
        "exact": "day" if int(dated.exact[placed].min()) == DAY else "less",
        **moving_words(context, dated.days, periods, placed),
    }
    arrays = {"period": periods.codes.astype(np.int32), "day": dated.days.astype(np.int64)}
    return Output(arrays=arrays, facts=facts)


def from_headers(texts: Any, n: int) -> tuple[Dates | None, int]:
    """The dates in the heads of documents, if enough have one; and how many do."""
    days, exact = np.zeros(n, np.int64), np.full(n, -1, np.int8)
    for i, text in enumerate(texts):
        if (found := header_date(text)) is not None:
            days[i], exact[i] = found
    known = int((exact >= 0).sum())
    if known < max(ENOUGH * n, FEWEST):
        return None, known
    return Dates(days, exact, n - known, [], 0), known


# --- Words ---


def moving_words(
    context: Context, days: np.ndarray, periods: Periods, placed: np.ndarray
) -> dict[str, Any]:
    """Words that rise and words that fall, and the third of the documents at either end."""
    none: dict[str, Any] = {"rising": [], "falling": [], "asked": 0, "found": 0}
    if context.skipped("counts") or len(placed) < 2 * FEWEST:
        return none
    present, names = compared_words(context)
    present = sp.csr_array(present[placed])
    spread = np.bincount(present.indices, minlength=len(names))
    asked = np.flatnonzero(spread >= 10)  # documents that hold a word that is asked about
    if not len(asked):
        return none
    present = sp.csr_array(present[:, asked])
    order = np.argsort(days[placed], kind="stable")
    rank = ranks(days[placed])
    score = trend(present, rank, strata_of(context.arrays("counts")["lengths"][placed]))
    third = max(1, len(placed) // 3)
    early, late = frequency(present, order[:third]), frequency(present, order[-third:])
    change = (late + 0.5 / third) / (early + 0.5 / third)
    sure = false_discoveries(score, 0.05)
    members = [np.flatnonzero(periods.codes[placed] == j) for j in range(len(periods.names))]
    by_period = np.stack([frequency(present, rows) for rows in members])  # (periods, words)

    # Significance times effect size: a word in most documents is not first for its n alone.
    weight = np.abs(score) * np.minimum(np.abs(np.log2(change)), 2.0)

    def listed(which: np.ndarray) -> list[dict[str, Any]]:
        best = which[np.lexsort([which, -weight[which]])][:SHOWN]
        return [
            {
                "word": str(names[asked[i]]),
                "early": round(float(early[i]), 4),
                "late": round(float(late[i]), 4),
                "score": round(float(score[i]), 2),
                "shares": [round(float(v), 4) for v in by_period[:, i]],
            }
            for i in best
        ]

    sure &= np.array([not names_nothing(str(names[i])) for i in asked], np.bool_)
    rising = np.flatnonzero(sure & (score > 0) & (change >= CHANGE))
    falling = np.flatnonzero(sure & (score < 0) & (change <= 1 / CHANGE))
    ways = [listed(rising), listed(falling)]
    whole = whole_words(context.documents(), [each["word"] for way in ways for each in way])
    ways = [
        [{**rest[0], "word": word} for word, *rest in
         with_whole_words([[each["word"], each] for each in way], whole)]
        for way in ways
    ]  # fmt: skip
    return {
        "rising": ways[0],
        "falling": ways[1],
        "asked": len(asked),
        "found": len(rising) + len(falling),
    }


def trend(present: sp.csr_array, when: np.ndarray, strata: np.ndarray) -> np.ndarray:
    """For every column, how much later its documents are than others of their stratum, in
    standard deviations.

    >>> rows = sp.csr_array(np.repeat([[1.0, 0], [1, 0], [0, 1], [0, 1]], 10, axis=0))
    >>> trend(rows, np.arange(40.0), np.zeros(40, int)).round(1)
    array([-5.4,  5.4])
    """
    sums = np.zeros(present.shape[1])
    spread = np.zeros(present.shape[1])
    for stratum in np.unique(strata):
        rows = np.flatnonzero(strata == stratum)
        n = len(rows)
        if n < 2:
            continue
        here = sp.csr_array(present[rows])
        centered = when[rows] - when[rows].mean()
        held = np.bincount(here.indices, minlength=here.shape[1])
        sums += here.T @ centered
        spread += held * (n - held) / (n * (n - 1)) * float(centered @ centered)
    return np.divide(sums, np.sqrt(spread), out=np.zeros(len(sums)), where=spread > 0)


def false_discoveries(score: np.ndarray, level: float) -> np.ndarray:
    """Which scores are significant at this false discovery rate.

    >>> false_discoveries(np.array([0.1, 5.0, -4.0, 1.0]), 0.05).tolist()
    [False, True, True, False]
    """
    from scipy.stats import false_discovery_control, norm

    if not len(score):
        return np.zeros(0, np.bool_)
    return false_discovery_control(2 * norm.sf(np.abs(score))) <= level


def ranks(days: np.ndarray) -> np.ndarray:
    """The place in time of every document from 0 to 1, the same for the same day."""
    from scipy.stats import rankdata

    return (rankdata(days) - 0.5) / len(days)


def frequency(present: sp.csr_array, rows: np.ndarray) -> np.ndarray:
    held = np.bincount(present[rows].indices, minlength=present.shape[1])
    return held / max(len(rows), 1)
