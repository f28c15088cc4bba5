"""Time: documents in every period, the groups among them, and words that rise and fall."""

from datetime import date
from typing import Any

import numpy as np
import scipy.sparse as sp

from tacit.explore.report.clean_text import clean_line, cut
from tacit.explore.report.phrases import (
    column_name,
    count,
    section,
    small_percent,
    the_groups,
    the_period,
    verb,
    words_in,
)
from tacit.explore.report.report import Report
from tacit.explore.stages.dates import MONTHS
from tacit.explore.stages.time import false_discoveries, ranks, trend

__all__ = ["NAV", "PLACE", "data", "moved_groups", "span", "words"]

PLACE, NAV = 90, (("time", "Time"),)
MOVED = 0.05  # change in a group's fraction of the documents from which it is mentioned


def data(report: Report) -> None:
    """Documents of every period, the groups among them, and words that rise and fall."""
    report.meta["time"] = None
    facts, labels, k = report.facts["time"], report.labels, report.meta["K"]
    if "periods" not in facts:
        return
    out: dict[str, Any] = {name: facts[name] for name in
                           ("unit", "periods", "sizes", "asked", "found")}  # fmt: skip
    out["source"] = cut(clean_line(facts["source"]), 40)
    for way in ("rising", "falling"):
        out[way] = [{**each, "word": clean_line(each["word"])} for each in facts[way]]
    if labels is not None:
        stage = report.context.arrays("time")
        both = np.flatnonzero((stage["period"] >= 0) & (labels >= 0))
        table = np.zeros((k, len(facts["periods"])), np.int64)
        np.add.at(table, (labels[both], stage["period"][both]), 1)
        out["groups"] = table.tolist()
        out |= group_trends(stage["day"][both], labels[both], k)
    out["ends"] = ends_of(report)
    if report.shown.mapped:
        period = report.context.arrays("time")["period"][report.shown.on_map]
        report.add_array("period", np.asarray(period, np.int64) + 1)
    report.meta["time"] = out


def group_trends(days: np.ndarray, labels: np.ndarray, k: int) -> dict[str, Any]:
    """Each group's fraction of the first and of the last third of the documents, and whether it
    grows (1), shrinks (-1) or does neither significantly (0)."""
    n = len(days)
    third = max(1, n // 3)
    order = np.argsort(days, kind="stable")
    ends = [np.bincount(labels[some], minlength=k) / third
            for some in (order[:third], order[-third:])]  # fmt: skip
    member = sp.csr_array((np.ones(n), (np.arange(n), labels)), shape=(n, k))
    score = trend(member, ranks(days), np.zeros(n, np.int64))
    sure = false_discoveries(score, 0.05)
    return {
        "early": [round(float(v), 4) for v in ends[0]],
        "late": [round(float(v), 4) for v in ends[1]],
        "moves": [int(np.sign(s)) if yes else 0 for s, yes in zip(score, sure, strict=True)],
    }


def span(time: dict[str, Any]) -> tuple[str, str]:
    """The first and the last period, as a sentence calls them; years or days where they are
    several."""
    first, last = time["ends"] or (time["periods"][0], time["periods"][-1])
    return the_period(first), the_period(last)


def ends_of(report: Report) -> tuple[str, str] | None:
    """The first and the last year or day of a document on the time line, where the periods
    are several years or weeks; else the names of the periods tell."""
    stage, facts = report.context.arrays("time"), report.facts["time"]
    days = stage["day"][stage["period"] >= 0].astype("datetime64[D]")
    if "\N{EN DASH}" in facts["periods"][0]:
        return str(days.min().astype("datetime64[Y]")), str(days.max().astype("datetime64[Y]"))
    if facts["unit"] == "week":
        return written_day(days.min()), written_day(days.max())
    return None


def written_day(day: np.datetime64) -> str:
    """A day as the names of periods write it.

    >>> written_day(np.datetime64("2016-01-05"))
    '5 Jan 2016'
    """
    when = day.astype(date)
    return f"{when.day} {MONTHS[when.month - 1].capitalize()} {when.year}"


def bar_of(unit: str) -> str:
    """What a bar of the chart stands for.

    >>> bar_of("month"), bar_of("25 years")
    ('each bar is a month', 'each bar stands for 25 years')
    """
    several = unit.endswith("years")
    return f"each bar stands for {unit}" if several else f"each bar is a {unit}"


def moved_groups(report: Report) -> str:
    """The groups that grow and shrink the most, if they do so significantly."""
    time, groups = report.meta["time"], report.meta["groups"]
    if "moves" not in time:
        return ""
    change = [late - early for early, late in zip(time["early"], time["late"], strict=True)]
    parts: list[str] = []
    for sign, moves in ((1, "grows"), (-1, "shrinks")):
        g = max(range(len(change)), key=lambda g: sign * change[g])
        if time["moves"][g] == sign and sign * change[g] >= MOVED:
            early, late = small_percent(time["early"][g]), small_percent(time["late"][g])
            if not parts:
                early += " of the first third of the documents"
                late += " of the last"
            parts.append(f"{the_groups([groups[g]])} {moves} from {early} to {late}")
    text = "; ".join(parts)
    return text[:1].upper() + text[1:]


def words(report: Report) -> str:
    """The chart of periods, the groups over time, and the words that rise and fall."""
    time = report.meta["time"]
    if time is None:
        return ""
    first, last = span(time)
    heading = moved_groups(report)
    if not heading and time["rising"]:
        become = verb(len(time["rising"]), "becomes", "become")
        heading = f"The {words_in(time['rising'], 3, 'word')} {become} more frequent"
    if not heading:
        what = "no group and no word" if report.grouped else "no word"
        heading = f"From {first} to {last}, {what} changes significantly"
    source = "the heads of the documents"
    if time["source"]:
        source = f"the column {column_name(time['source'])}"
    lead = f"Dates are from {source}; {bar_of(time['unit'])}."
    if time["sizes"]:
        most = max(range(len(time["sizes"])), key=lambda i: time["sizes"][i])
        when = the_period(time["periods"][most])
        when = f"the week of {when}" if time["unit"] == "week" else when
        lead += f" The most, {count(time['sizes'][most], 'document')}, are from {when}."
    passed = "No word is in enough of them."
    if time["asked"]:
        passed = "None of {0:,} words passes."
    if time["found"]:
        passed = (
            "{1:,} of {0:,} words {2}; about 5% of such words are false positives. Numbers: "
            "the percentage of documents with the word in the first and in the last third."
        )
    tested = "Tested: are documents with the word later than others of similar length? "
    tested += passed.format(time["asked"], time["found"], verb(time["found"], "passes", "pass"))
    body = f"""<div class="timegrid"><div><div id="timechart"></div></div><div id="timegroups">\
</div></div>
<div class="trends" id="trends"><div><h3 class="sub3">Rising words</h3><div id="rising"></div>\
</div><div><h3 class="sub3">Falling words</h3><div id="falling"></div></div></div>
<p class="note">{tested}</p>"""
    return section("time", "Time", heading, f"<p>{lead}</p>", body)
