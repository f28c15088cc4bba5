"""Summary: what was found and how certain it is, figures, and notes on the input."""

from html import escape
from typing import Any

import numpy as np

from tacit.explore.report.clean_text import TITLES, clean_line, cut
from tacit.explore.report.phrases import (
    UNSPACED,
    column_name,
    count,
    group_name,
    joined,
    joined_names,
    number,
    percent,
    plain,
    sampled,
    small_percent,
    verb,
    whole,
    words_in,
)
from tacit.explore.report.report import Report
from tacit.explore.report.sections.fields import how_far, ranked_columns, relate
from tacit.explore.report.sections.time import moved_groups, span
from tacit.explore.stages.languages import UNKNOWN

__all__ = ["NAV", "PLACE", "data", "spoken", "words"]

PLACE, NAV = 10, (("top", "Summary"),)
FEW = 200  # documents
LEAST_SPOKEN = 0.005  # of the documents, and two of them: fewer may be errors of the guess
FOLLOWED = 0.2  # agreement beyond chance from which the summary mentions a column
MOST_LINES = 4  # columns that are named as not compared


def data(report: Report) -> None:
    """The languages of the collection, and how far groups follow them."""
    efforts, guess = report.context.folder.record.get("efforts"), report.facts["language_guess"]
    report.meta["efforts"] = efforts if isinstance(efforts, dict) else {}
    report.meta["languages"] = None
    if "skipped" in guess or not guess["languages"]:
        return
    out = {"listed": guess["languages"], "unknown": guess["unknown"], "n": guess["documents"]}
    if report.labels is not None and len(spoken(guess)) > 1:
        codes = report.context.arrays("language_guess")["language"].astype(np.int64)
        codes, k = np.where(codes == UNKNOWN, -1, codes), int(report.labels.max()) + 1
        out["adjusted"] = relate(codes, report.labels, UNKNOWN, k).get("adjusted")
    report.meta["languages"] = out


def spoken(guess: dict[str, Any]) -> list[list[Any]]:
    """The languages of more documents than may be errors."""
    least = max(2, LEAST_SPOKEN * guess["documents"])
    return [each for each in guess["languages"] if each[2] >= least]


def words(report: Report) -> str:
    """The head of the page, complete without scripts."""
    paragraphs = "".join(f'<p class="stand">{each}</p>' for each in standfirst(report))
    rows = "".join(f"<div><dt>{a}</dt><dd>{b}</dd></div>" for a, b in figures(report))
    return f"""<div class="wrap mast" id="top">
<div class="mast-grid">
<div>
<h1><bdi>{escape(cut(clean_line(report.name), 60))}</bdi></h1>
{paragraphs}
</div>
<div>
<dl class="facts">{rows}</dl>
<h2 class="minor">Notes on the input</h2>
<ul class="ingest">{input_notes(report)}</ul>
</div>
</div>
{strip(report) if report.grouped else ""}
<noscript><p class="note">Scripts are off, so the map below stands still and the charts cannot \
be drawn. The summary above is complete without them.</p></noscript>
</div>
"""


def strip(report: Report) -> str:
    """All groups as a strip of links, as wide as they are large."""
    links = "".join(
        f'<a class="g{i}" href="#groups" data-group="{i}" '
        f'title="{escape(", ".join(group["name"]))}: {count(group["n"], "document")}, '
        f'{group["lvl"]}">'
        f'<i class="fill-{group["lvl"]}"></i>'
        f"<span><bdi>{escape(group['name'][0])}</bdi></span></a>"
        for i, group in enumerate(report.meta["groups"])
    )
    key = "".join(
        f'<span><i class="fill-{each}"></i>{each}</span>'
        for each in ("firm", "tentative", "loose")
    )
    return f"""<figure class="strip-fig">
<figcaption class="strip-cap"><span><strong>The collection in {report.meta["K"]} \
groups.</strong> Width is the number of documents; similar groups are next to each \
other.</span><span class="key">{key}</span></figcaption>
<div class="strip">{links}</div>
</figure>"""


# --- The paragraphs ---


def standfirst(report: Report) -> list[str]:
    """What was found, and how certain it is, in two or three paragraphs."""
    facts, read = report.facts, report.n_read
    if read == 0:
        return [
            "No document could be read, so there is nothing to show. The list on the right "
            "gives the reasons; the command is under Method."
        ]
    if "left_out" in facts["counts"]:
        return [f"{count(read, 'document')} read. {escape(facts['counts']['skipped'])}"]
    if "skipped" in facts["counts"]:
        return [
            f"{count(read, 'document')} {verb(read, 'was', 'were')} read, but nothing can be "
            f"said about {verb(read, 'it', 'them')}. {escape(facts['counts']['skipped'])}"
        ]
    first = f"{count(read, 'document')} with {count(facts['counts']['words'], 'word')}."
    if "left_out" in facts["groups"]:
        return [f"{first} {escape(facts['groups']['skipped'])}", *other_findings(report)]
    if "skipped" in facts["groups"]:
        return [first, few_documents(report)]
    best = facts["groups"]["choice"]["best"]
    if report.grouped:
        return [*group_findings(report), *other_findings(report), *closing(report, best)]
    out = (
        f"These {read:,} documents <b>do not fall into groups</b>: no division of them is "
        "clearly better than one of data without groups."
    )
    if best > 1:  # one was asked for
        out = (
            f"You asked for one group of all {read:,} documents; the measures recommend {best}."
        )
    why = plain(facts["groups"]["choice"]["reasons"][:1])
    if why.startswith("No division"):
        why = "What is found in one half of them is not found again in the other."
    return [out, f"{why} The map still shows which documents are alike."]


def few_documents(report: Report) -> str:
    if report.n_read == 1:
        return (
            "Groups, a map and similarities need more than one document. Below is how its "
            "words are distributed."
        )
    alike = "which documents are alike and " if report.ran("map") else ""
    return (
        f"{escape(report.facts['groups']['skipped'])} This report shows {alike}how words are "
        "distributed."
    )


def group_findings(report: Report) -> list[str]:
    total, k = report.meta["total"], report.meta["K"]
    firm, middle, loose = (report.groups(v) for v in ("firm", "tentative", "loose"))
    tested = f"when the grouping is repeated {sampled(total)}"
    first = f"These {total:,} documents fall into {number(k)} groups by the words they use. "
    grouping = report.facts["groups"]
    level = grouping.get("level")
    if grouping.get("broad") is not None and not grouping.get("asked"):
        broad = grouping["levels"][grouping["broad"]]["nodes"]
        first = (
            f"These {total:,} documents fall into {number(broad)} broad groups by the words "
            f"they use; divided further, there are {number(k)}. "
        )
    if len(firm) == k:
        every = "Both" if k == 2 else "All of them"
        first += f"<b>{every} are firm</b>: each is found again, largely intact, {tested}. "
        first += listing(firm, 6)
    elif firm:
        first += (
            f"<b>{how_many(firm, 'firm')}</b>: {verb(len(firm), 'it is', 'they are')} found "
            f"again, largely intact, "
            f"{tested}. {verb(len(firm), 'It holds', 'Together they hold')} "
            f"{fraction_of(firm, total)} of the documents. {listing(firm, 6)}"
        )
    else:
        first += f"<b>None of them is firm</b>: each changes {tested}."
    levels = grouping.get("levels", [])
    if level is not None and level + 1 < len(levels):
        finest = levels[-1]
        of_them = how_many_firm(finest["firm"], finest["nodes"])
        first += f" The finest division has {number(finest['nodes'])} groups, {of_them}."
    out = [first]
    if middle:
        them = verb(len(middle), "it", "them")
        out.append(
            f"{how_many(middle, 'tentative')}, with {fraction_of(middle, total)} of the "
            f"documents: most repeats find {them}, with other documents at the edges. "
            f"{listing(middle, 3)}"
        )
    if loose:
        out.append(
            f"<b>{how_many(loose, 'loose')}</b>, with {fraction_of(loose, total)} of the "
            f"documents. {verb(len(loose), 'It falls', 'They fall')} apart in most repeats, so "
            f"do not rely on {verb(len(loose), 'it', 'them')}. {listing(loose, 3)}"
        )
    return out


def how_many_firm(firm: int, total: int) -> str:
    """The firm among some groups, as the end of a sentence.

    >>> how_many_firm(0, 8), how_many_firm(1, 8), how_many_firm(8, 8)
    ('none of them firm', 'one of them firm', 'all of them firm')
    """
    some = "none" if not firm else "all" if firm == total else number(firm)
    return f"{some} of them firm"


def how_many(groups: list[tuple[int, dict[str, Any]]], verdict: str) -> str:
    """How many groups have a verdict, as the beginning of a sentence."""
    n = len(groups)
    return f"{number(n).capitalize()} {verb(n, 'group is', 'groups are')} {verdict}"


def fraction_of(groups: list[tuple[int, dict[str, Any]]], total: int) -> str:
    return percent(sum(group["n"] for _, group in groups) / max(total, 1))


def listing(groups: list[tuple[int, dict[str, Any]]], most: int) -> str:
    """A sentence with links to the first groups of a list."""
    links = [
        f'<a href="#groups" data-group="{i}">{group_name(group)}</a>'
        for i, group in groups[:most]
    ]
    if len(links) == 1:
        return f"It is the group {links[0]}."
    every = "They are" if len(groups) <= most else "The largest are"
    return f"{every} {joined_names(links)}."


def closing(report: Report, best: int) -> list[str]:
    out, k, total = [], report.meta["K"], report.meta["total"]
    if report.facts["groups"].get("asked") and best != k:
        advice = f"{best}" if best > 1 else "none"
        out.append(f"You asked for {k} groups; the measures recommend {advice}.")
    if total <= FEW:
        out.append(f"With only {total:,} documents, a few more could change these groups.")
    out += edit_sentences(report.facts["groups"].get("edits", []))
    return [" ".join(out)] if out else []


def edit_sentences(edits: list[dict[str, Any]]) -> list[str]:
    """What was done to the groups by hand, and what of it does not apply any more."""
    done = [
        f"{count(edits_made, noun)} by hand"
        for kind, noun in (("merge", "merge"), ("split", "split"), ("pin", "pin"))
        if (edits_made := sum(each["edit"] == kind and each["applies"] for each in edits))
    ]
    out = [f"These groups were edited: {joined(done)}."] if done else []
    for each in edits:
        if not each["applies"]:
            names = joined([f"“<bdi>{escape(str(n)[:60])}</bdi>”" for n in each["names"]])
            out.append(
                f"An edit does not apply any more ({escape(str(each['edit']))} of {names}): "
                f"{escape(str(each['why'])[:200])}."
            )
    return out


def other_findings(report: Report) -> list[str]:
    """A paragraph on languages, columns and time, where there is something to say."""
    out = [*language_findings(report), *column_findings(report), *time_findings(report)]
    return [" ".join(out)] if out else []


def language_findings(report: Report) -> list[str]:
    guess = report.meta["languages"]
    if guess is None or guess["n"] < 2:
        return []
    n, unknown = guess["n"], escape(small_percent(guess["unknown"] / guess["n"]))
    common = [(name, size / n) for _, name, size in guess["listed"] if size >= 0.03 * n]
    if len(common) < 2:
        some = guess["unknown"] > 0.5 * n
        return [f"The language of {unknown} of the documents is unknown."] if some else []
    listed = joined([f"{name} ({percent(part)})" for name, part in common[:4]])
    many = len(common) > 4  # then the rare ones count too
    least = max(2, LEAST_SPOKEN * n) if many else 0.03 * n
    names = [name for _, name, size in guess["listed"] if size >= least]
    scripts = " or scripts" if any(name.endswith("script") for name in names) else ""
    out = f"They are in {number(len(names))} languages{scripts}"
    out += f", most of all {listed}" if many else f": {listed}"
    out += f"; the language of {unknown} is unknown." if guess["unknown"] else "."
    if (guess.get("adjusted") or 0) >= 0.5:
        out += " <b>The groups largely follow the language</b>, not only the subject."
    return [out]


def column_findings(report: Report) -> list[str]:
    ranked = ranked_columns(report)
    if not ranked or ranked[0]["adjusted"] < FOLLOWED:
        return []
    return [
        f"Compared afterwards, the groups follow the column {column_name(ranked[0]['name'])} "
        f"{how_far(ranked[0]['adjusted'])} (V-measure {ranked[0]['v']:.2f}; 1 is perfect)."
    ]


def time_findings(report: Report) -> list[str]:
    time = report.meta["time"]
    if time is None:
        return []
    first, last = span(time)
    out = [f"The documents are from {first} to {last}."]
    if moved := moved_groups(report):
        out.append(f"{moved}.")
    elif time["rising"] and time["falling"]:
        out.append(
            f"The {words_in(time['rising'], 3, 'word')} "
            f"{verb(len(time['rising']), 'becomes', 'become')} more frequent, "
            f"{words_in(time['falling'], 3)} less frequent."
        )
    return out


# --- Figures and notes ---


def figures(report: Report) -> list[tuple[str, str]]:
    facts, counted = report.facts, report.facts["counts"]
    rows = [("Documents read", f"{report.n_read:,}")]
    if report.meta["n"]:
        rows.append(("Placed on the map", f"{report.meta['total']:,}"))
    if report.ran("counts"):
        rows.append(("Words", f"{counted['words']:,}"))
        rows.append(("Different words", f"{counted['types']:,}"))
        if report.ran("meaning"):
            rows.append(("Words used to compare", f"{facts['meaning']['words']:,}"))
        rows.append(("Typical length", count(whole(counted["median_length"]), "word")))
    if (guess := report.meta["languages"]) is not None:
        rows.append(("Language", language_figure(guess)))
    short = f'<span class="mono" title="{report.result}">{report.result[:12]}</span>'
    return [*rows, ("Seed", str(report.settings.seed)), ("Result", short)]


def language_figure(guess: dict[str, Any]) -> str:
    n = max(guess["n"], 1)
    shown = [each for each in guess["listed"][:3] if each[2] >= max(2, 0.005 * n) or n < 2]
    parts = [(name, size) for _, name, size in shown]
    parts.append(("others", sum(size for *_, size in guess["listed"][len(shown) :])))
    parts.append(("unknown", guess["unknown"]))
    return escape(
        ", ".join(f"{name} {small_percent(size / n)}" for name, size in parts if size)
    )


def input_notes(report: Report) -> str:
    """What reading the input changed, and what was missing from it, as list items."""
    facts, lines = report.facts, list(report.facts["ingest"]["sentences"])
    lines += titled_notes(report)
    if report.unspaced:
        lines.append(UNSPACED)
    if blanks := facts["meaning"].get("blank", 0):
        wordless = count(blanks, "document")
        lines.append(f"{wordless} without a word to compare by, not on the map.")
    lines += [*column_notes(report), *time_notes(facts["time"])]
    shown = (escape(cut(clean_line(line), 300)) for line in lines)
    return "".join(f"<li><bdi>{line}</bdi></li>" for line in shown)


def titled_notes(report: Report) -> list[str]:
    """How many of the empty documents have a title at least."""
    empty = report.facts["ingest"].get("repairs", {}).get("empty", 0)
    if not empty or not report.ran("counts"):
        return []
    titled = empty - int((report.context.arrays("counts")["lengths"] == 0).sum())
    if titled <= 0:
        return []
    has = verb(titled, "document has", "documents have")
    return [f"{titled:,} empty {has} a title, which is read as the text."]


def column_notes(report: Report) -> list[str]:
    if not report.ran("fields") or not report.n_read:
        return []
    columns = report.facts["fields"]["columns"]
    if not columns:
        return ["Only text: there are no columns to compare the documents by."]
    others = [
        (name, why)
        for name, role, why in columns
        if role == "other" and str(name).lower() not in TITLES
    ]
    lines = [
        f"Column “{cut(clean_line(name), 40)}” {why}: not compared."
        for name, why in others[:MOST_LINES]
    ]
    lines += [
        f"Column “{cut(clean_line(field['name']), 40)}” has several values to a document: each "
        "is compared by itself, and the first colors the map."
        for field in report.facts["fields"]["fields"]
        if field.get("several")
    ]
    if len(others) > MOST_LINES:
        more = count(len(others) - MOST_LINES, "more column is", "more columns are")
        lines.append(f"{more} not compared either.")
    return lines


def time_notes(time: dict[str, Any]) -> list[str]:
    """Which dates could not be read, or why there is no time line."""
    if "skipped" in time or not time["documents"]:
        return []
    out = []
    if unread := time.get("unreadable"):
        such = ", ".join(f"“{cut(clean_line(each), 30)}”" for each in time["unread"][:2])
        out.append(f"{count(unread, 'date')} that could not be read, such as {such}.")
    if "source" in time and (missing := time["missing"]):
        out.append(f"{count(missing, 'document')} without a date.")
    if outside := time.get("outside"):
        out.append(f"{count(outside, 'date')} far from all others, not on the time line.")
    if "periods" not in time and (had := time["in_header"]):
        dated = count(had, "document")
        out.append(f"{dated} with a date in the header: too few for a time line.")
    elif "periods" not in time:
        out.append(f"No time line: {time['why']}.")
    return out
