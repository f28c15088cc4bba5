"""Method: what to keep in mind, the command, times, settings and versions."""

import platform
import shlex
from html import escape
from importlib.metadata import version
from typing import Any

from tacit._version import __version__
from tacit.explore.project.pipeline import stage_titles
from tacit.explore.report.clean_text import clean_line, cut
from tacit.explore.report.phrases import column_name, joined, minus, pairs, percent, section
from tacit.explore.report.redact import LEAST
from tacit.explore.report.report import Report
from tacit.explore.report.sections.map import NEAR

__all__ = ["NAV", "PLACE", "data", "words"]

PLACE, NAV = 110, (("method", "Method"),)
PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "pyarrow")


def data(report: Report) -> None:
    """How long each stage took."""
    spent = report.context.folder.timings
    named = [[title, spent[name]] for name, title in stage_titles().items() if name in spent]
    report.meta["timings"] = named


def words(report: Report) -> str:
    """Lists of caveats, settings and versions, and the command."""
    listed = "".join(f"<li><b>{a}</b> {b}</li>" for a, b in caveats(report))
    body = f"""<div class="mgrid">
<div><h3 class="sub3">Keep in mind</h3><ul class="cav">{listed}</ul>
<div class="block"><h3 class="sub3">Settings</h3><div class="tl \
set">{pairs(settings(report))}</div></div></div>
<div><h3 class="sub3">Run it again</h3><div class="cmd"><code \
id="cmd">{escape(command(report))}</code><button class="btn" id="copy">Copy</button></div><p \
class="note">The same documents, settings and versions give the same result, on any number of \
threads: <span class="mono txt">{report.result[:24]}</span></p>
<div class="block"><h3 class="sub3">Time per stage</h3><p class="note">{times(report)}</p><div \
class="tbar" id="tbar" role="img"></div><div class="tl num" id="tl"></div></div>
<div class="block"><h3 class="sub3">Versions</h3><div class="tl">{pairs(versions(report))}\
</div></div></div>
</div>"""
    heading = "What was done, how long it took, and what to keep in mind"
    return section("method", "Method", heading, "", body)


def caveats(report: Report) -> list[tuple[str, str]]:
    """What to keep in mind, a claim and its reason each."""
    meta, facts, out = report.meta, report.facts, []
    if meta["n"] > NEAR:
        near = (
            f"Of the ten documents most like a document, {percent(facts['map']['kept'])} are "
            "among the thirty nearest to it on the map. Hover over a dot to see lines to the "
            "documents that are most like it."
        )
        out.append(("A map distorts distances.", near))
    if report.grouped:
        total, unsure = meta["total"], meta["unsure"]
        source = "Only the words of the documents were used to find them."
        source += agreement([f for f in meta["fields"] if "agreement" in f])
        certain = "Every one keeps its group in at least half of the repeats."
        if unsure:
            certain = (
                f"{unsure:,} of {total:,} ({percent(unsure / max(total, 1))}) keep theirs in "
                "fewer than half of the repeats. Treat those as unassigned."
            )
        named = "A group is named after the words that set it apart, which is not a summary."
        out.append(("Groups were found, not given.", source))
        out.append(("Every document gets a group.", certain))
        out.append(("Names are only words.", named))
    if partial := facts["ingest"]["partial"]:
        missing = escape(cut(clean_line(partial[0]), 200))
        out.append(("Some of the input is missing.", missing))
    if report.meta["redacted"]:
        gone = (
            "Titles, openings and ids of documents were left out of this page, and words that "
            f"fewer than {LEAST} documents share. The project folder holds the documents."
        )
        return [*out, ("The texts are not here.", gone)]
    shortened = (
        "This page holds titles and openings only, without control characters and e-mail "
        "addresses; the project folder holds the documents."
    )
    return [*out, ("Openings are shortened.", shortened)]


def agreement(fields: list[dict[str, Any]]) -> str:
    """How far the groups agree with the columns that came along."""
    if not fields:
        return ""
    parts = [f"{minus(f['agreement'])} with {column_name(f['name'])}" for f in fields]
    return (
        " Compared afterwards, their adjusted Rand index (1 is perfect, 0 is chance) is "
        f"{joined(parts)}."
    )


def settings(report: Report) -> list[tuple[str, str]]:
    facts, meta = report.facts, report.meta
    rows = [
        ("Effort", report.settings.effort),
        ("Words", "letters and digits with their apostrophes and hyphens, in lower case"),
    ]
    if report.ran("meaning"):
        meaning = facts["meaning"]
        variance = percent(meaning["explained"])
        idf = "squared " if meaning.get("idf_power", 2) == 2 else ""
        rows += [
            ("Vocabulary", f"{meaning['words']:,} words in several documents but at most half"),
            ("Weights", f"logarithmic term frequency times {idf}inverse document frequency"),
            (
                "Latent space",
                f"LSA, {meaning['directions']} directions, {variance} of the variance",
            ),
        ]
    if report.ran("groups"):
        k = facts["groups"]["k"]
        how = f"levels of groups by nested spherical k-means, {k} groups shown"
        if not report.grouped:
            how = "none by nested spherical k-means"
        if facts["groups"].get("asked"):
            how = f"spherical k-means, k = {k} (asked for), ten starts"
        rows.append(("Groups", how))
    if report.grouped:
        verdicts = "median Jaccard overlap in the repeats: firm from 0.75, tentative from 0.5"
        rows.append(("Verdicts", f"{verdicts}, loose below"))
    if meta["n"]:
        layout = (
            "neighbor graph and negative-sampling layout, initialized with the principal axes"
        )
        recall = percent(facts["map"]["recall"])
        rows.append(("Map", f"{layout}; {recall} of the true neighbors were found"))
    if report.ran("duplicates"):
        least = f"{facts['duplicates']['threshold']:g}"
        same = "; documents with the same word counts are grouped as one"
        how = f"Jaccard overlap of four-word sequences of at least {least}"
        rows.append(("Copies", how + (same if report.ran("groups") else "")))
    if meta["languages"]:
        guess = "function words of 55 languages, and scripts; unknown where few or ambiguous"
        rows.append(("Languages", guess))
    if meta["reading"]:
        variety = "variety in a moving window of 50 words (Covington and McFall 2010)"
        ease = "; reading ease (Flesch 1948)" if "ease" in meta["reading"] else ""
        rows.append(("Reading", variety + ease))
    if meta["columns"]:
        test = "words by the test of Mantel and Haenszel (1959) within five strata of length"
        rows.append(("Fields", f"{test}; V-measure (Rosenberg and Hirschberg 2007)"))
    if meta["time"]:
        test = "Mantel's (1963) test within five strata of length"
        rows.append(("Trends", f"{test}, 5% false discoveries (Benjamini and Hochberg 1995)"))
    for why in facts.values():
        if "left_out" in why:
            rows.append(("Left out", clean_line(why["skipped"])))
    for name, effort in meta["efforts"].items():
        less = f"{clean_line(str(name))[:40]}: {clean_line(str(effort))[:20]}"
        rows.append(("Less effort", f"{less}, to stay within the memory"))
    return rows


def versions(report: Report) -> list[tuple[str, str]]:
    rows = [("Tacit", __version__), ("Python", platform.python_version())]
    rows += [(package, version(package)) for package in PACKAGES]
    return [*rows, ("Random seed", str(report.settings.seed))]


def command(report: Report) -> str:
    """What to type to get the same result."""
    asked, source = report.settings, clean_line(report.facts["ingest"]["source"])
    if source.startswith("the "):  # documents that came from a program
        more = f"k={asked.k}, " if asked.k is not None else ""
        more += f'effort="{asked.effort}", ' if asked.effort != "normal" else ""
        more += "" if asked.clean else "clean=False, "
        return f"tacit.explore(documents, {more}random_state={asked.seed})"
    source = {"standard input": "-", "--docs": "--docs"}.get(source, shlex.quote(source))
    parts = ["tacit explore", source]
    parts += [f"--k {asked.k}"] if asked.k is not None else []
    parts += [f"--{asked.effort}"] if asked.effort != "normal" else []
    parts += [] if asked.clean else ["--no-clean"]
    return " ".join([*parts, f"--seed {asked.seed}"])


def times(report: Report) -> str:
    spent = report.meta["timings"]
    if not spent:
        return "Not measured."
    name, most = max(spent, key=lambda item: item[1])
    total = sum(seconds for _, seconds in spent)
    return (
        f"{total:.1f} seconds in all, {percent(most / max(total, 1e-9))} of it on "
        f"&ldquo;{escape(name.lower())}&rdquo;."
    )
