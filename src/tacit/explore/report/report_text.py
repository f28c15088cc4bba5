"""The sentences of the report: templates filled with what was found.

Nothing here is true of one collection only. What comes from documents (names of groups, words,
file names) is escaped and isolated; everything returned is HTML.
"""

from html import escape
from typing import Any, NamedTuple

from tacit._version import __version__
from tacit.explore.project.settings import Settings
from tacit.explore.report.clean_text import clean_line, cut
from tacit.explore.report.method_words import caveats, command, method, times, versions
from tacit.explore.report.more_words import (
    column_lines,
    field_words,
    language_figure,
    more_standfirst,
    reading_words,
    time_lines,
    time_words,
)
from tacit.explore.report.phrases import (
    Told,
    count,
    left_out,
    listing,
    many,
    number,
    pairs,
    plain,
    share_of,
)
from tacit.explore.report.report_data import ReportData
from tacit.explore.report.section_words import (
    choice_words,
    group_words,
    map_words,
    oddity_words,
    word_words,
)

__all__ = ["Sentences", "write_sentences"]

FEW = 200  # documents


class Sentences(NamedTuple):
    """HTML for the places of the template, and which sections there are."""

    places: dict[str, str]
    sections: set[str]


def write_sentences(name: str, data: ReportData, settings: Settings, result: str) -> Sentences:
    """Everything the page says in words."""
    told = Told(name, data, settings, result)
    meta = data.meta
    places = {
        "name": escape(cut(clean_line(name), 60)),
        "standfirst": "".join(f'<p class="stand">{each}</p>' for each in standfirst(told)),
        "facts": "".join(
            f"<div><dt>{label}</dt><dd>{value}</dd></div>" for label, value in figures(told)
        ),
        "ingest": "".join(ingest(told)),
        "caveats": "".join(f"<li><b>{a}</b> {b}</li>" for a, b in caveats(told)),
        "command": escape(command(told)),
        "again_words": (
            "The same documents, settings and versions give the same result, on any number of "
            f'threads: <span class="mono txt">{result[:24]}</span>'
        ),
        "time_words": times(told),
        "settings": pairs(method(told)),
        "versions": pairs(versions(told)),
        "foot": (
            f"Made by Tacit {escape(__version__)}. This page is one file, loads nothing from "
            "the network and sends nothing."
        ),
        **map_words(told),
        **group_words(told),
        **choice_words(told),
        **word_words(told),
        **oddity_words(told),
        **reading_words(told),
        **field_words(told),
        **time_words(told),
    }
    return Sentences(places, sections(meta, data.facts))


def sections(meta: dict[str, Any], facts: dict[str, dict[str, Any]]) -> set[str]:
    """Which parts of the page there is something to put into."""
    copies = sum(kind["count"] for kind in meta["copies"])
    some = facts["ingest"]["documents"] > 1
    there = {
        "map": meta["n"] > 0,
        "groups": meta["grouped"],
        "howmany": bool(meta["ks"]) and meta["n"] > 0,
        "whatif": len(meta["whatks"]) > 1,
        "words": "skipped" not in facts["counts"],
        "lookup": bool(meta["terms"]),
        "top": not meta["terms"] or not meta["grouped"],
        "distinct": bool(meta["distinct"]),
        "reading": meta["reading"] is not None,
        "fields": bool(meta["columns"]),
        "time": meta["time"] is not None,
        "oddities": some
        and not ("left_out" in facts["duplicates"] and "left_out" in facts["outliers"]),
        "copies": copies > 0,
        "nocopies": copies == 0,
        "closest": bool(meta["closest"]),
        "far": bool(meta["outliers"]),
        "blanks": bool(meta["blanks"]),
    }
    return {name for name, yes in there.items() if yes}


# --- The summary ---


def standfirst(told: Told) -> list[str]:
    """What was found, and how sure it is, in two or three paragraphs."""
    meta, facts = told.meta, told.facts
    read = facts["ingest"]["documents"]
    if read == 0:
        return [
            "No document could be read, so there is nothing to show. The list beside this "
            "says what was met; the command under Method is the one that was run."
        ]
    if "left_out" in facts["counts"]:
        return [f"{count(read, 'document')} read. {escape(facts['counts']['skipped'])}"]
    if "skipped" in facts["counts"]:
        return [
            f"{count(read, 'document')} {'was' if read == 1 else 'were'} read, but nothing can "
            f"be said about {'it' if read == 1 else 'them'}. "
            + escape(facts["counts"]["skipped"])
        ]
    if "left_out" in facts["groups"]:
        words = count(facts["counts"]["words"], "word")
        return [
            f"{count(read, 'document')} with {words}. {escape(facts['groups']['skipped'])}",
            *more_standfirst(told),
        ]
    if "skipped" in facts["groups"]:
        return few(told, read)
    if not meta["grouped"] and facts["groups"]["choice"]["best"] > 1:  # one was asked for
        return [
            f"These {read:,} documents were left undivided, as asked. By its own measures "
            f"Tacit would have said {facts['groups']['choice']['best']} groups.",
            plain(facts["groups"]["choice"]["reasons"][:1])
            + " The map still shows which documents are alike.",
        ]
    if not meta["grouped"]:
        return [
            f"These {read:,} documents <b>do not fall into groups</b>: no division is sharper "
            "than what chance gives in documents without any.",
            plain(facts["groups"]["choice"]["reasons"][:1])
            + " The map still shows which documents are alike.",
        ]
    return [*grouped(told), *more_standfirst(told), *closing(told)]


def few(told: Told, read: int) -> list[str]:
    words = told.facts["counts"]["words"]
    first = f"{count(read, 'document')} with {count(words, 'word')}."
    if read == 1:
        return [
            first,
            "Groups, a map and likenesses need more than one document. Below is how "
            "its words are distributed.",
        ]
    reason = escape(told.facts["groups"]["skipped"])
    return [
        first,
        f"{reason} So there is no talk of groups here; what can be said of so few "
        "is which documents are alike, and how words are distributed.",
    ]


def grouped(told: Told) -> list[str]:
    meta, total = told.meta, told.meta["total"]
    firm, loose, middle = (told.groups(v) for v in ("firm", "loose", "tentative"))
    start = f"These {total:,} documents fall into {meta['K']} groups by the words they use."
    out = []
    if len(firm) == meta["K"]:
        out.append(
            f"{start} <b>All of them are firm</b>: they come back largely intact when "
            f"{left_out(told)}. {listing('largest', firm, 6)}"
        )
    elif firm:
        together = share_of(firm, total)
        rest = (
            f" {'Together they hold' if len(firm) > 1 else 'It holds'} {together} of the "
            f"collection. {listing('largest', firm, 6)}"
        )
        out.append(
            f"{start} <b>{number(len(firm)).capitalize()} {many(firm)} firm</b>: "
            f"{'they come' if len(firm) > 1 else 'it comes'} back largely intact when "
            f"{left_out(told)}.{rest}"
        )
    else:
        out.append(f"{start} <b>None of them is firm</b>: each changes when {left_out(told)}.")
    if middle and (not loose or not firm):
        out.append(
            f"{number(len(middle)).capitalize()} {many(middle)} tentative, with "
            f"{share_of(middle, total)} of the documents: most repeats find "
            f"{'them' if len(middle) > 1 else 'it'}, with other edges. "
            f"{listing('largest', middle, 3)}"
        )
    if loose:
        out.append(
            f"<b>{number(len(loose)).capitalize()} {many(loose)} loose</b>, with "
            f"{share_of(loose, total)} of the documents. "
            f"{'They fall' if len(loose) > 1 else 'It falls'} apart in most repeats, so do not "
            f"rely on {'them' if len(loose) > 1 else 'it'}. {listing('largest', loose, 3)}"
        )
    return out


def closing(told: Told) -> list[str]:
    found, k = told.facts["groups"], told.meta["K"]
    best = found["choice"]["best"]
    out = []
    if found.get("asked") and best != k:
        advice = f"{best} groups" if best > 1 else "none at all"
        out.append(
            f"{k} groups were asked for. By its own measures Tacit would have said {advice}."
        )
    if told.meta["total"] <= FEW:
        out.append(
            f"{told.meta['total']:,} documents are few: a handful more could change "
            "these groups."
        )
    return [" ".join(out)] if out else []


def figures(told: Told) -> list[tuple[str, str]]:
    facts, meta = told.facts, told.meta
    rows = [("Documents read", f"{facts['ingest']['documents']:,}")]
    if meta["n"]:
        rows.append(("Placed on the map", f"{meta['total']:,}"))
    counted = facts["counts"]
    if "skipped" not in counted:
        rows += [
            ("Words", f"{counted['words']:,}"),
            ("Different words", f"{counted['types']:,}"),
        ]
        if "skipped" not in facts["meaning"]:
            rows.append(("Words used to compare", f"{facts['meaning']['words']:,}"))
        rows.append(("Typical length", count(round(counted["median_length"]), "word")))
    rows += language_figure(told)
    short = f'<span class="mono" title="{told.result}">{told.result[:12]}</span>'
    return [*rows, ("Seed", str(told.settings.seed)), ("Result", short)]


def ingest(told: Told) -> list[str]:
    """What reading changed, a count and a sentence each."""
    facts, meta = told.facts, told.meta
    lines = list(facts["ingest"]["sentences"])
    if blanks := facts["meaning"].get("blank", 0):
        lines.append(f"{blanks:,} document(s) without a word to compare by, not on the map.")
    if meta["n"] and not meta["fields"]:
        lines.append("No column with 2 to 24 values came along to colour the map by.")
    lines += [*column_lines(told), *time_lines(told)]
    out = []
    for line in lines:
        head, _, rest = cut(clean_line(line), 300).partition(" ")
        counted = head.replace(",", "").isdigit() and rest
        if counted:
            out.append(f"<li><b>{head}</b><span><bdi>{escape(rest)}</bdi></span></li>")
        else:
            whole = escape(f"{head} {rest}")
            out.append(f'<li><span class="whole"><bdi>{whole}</bdi></span></li>')
    return out
