"""A report without the texts: figures, groups, the map, and words that many documents share.

Left out: titles, openings and ids of documents, the search index, which words are in which
document, and every word that is in fewer than ``LEAST`` documents. Values of columns stay: they
are no texts.
"""

import re
from typing import Any

import numpy as np

from tacit.explore.report.report import Report
from tacit.explore.stages.naming import is_language_name
from tacit.explore.stages.unspaced import is_run

__all__ = ["LEAST", "redact_facts", "redact_words"]

LEAST = 5  # documents that hold a word that may be shown
PARTS = re.compile(r"[\w'’-]+")
NAMING = "“”\"'/\\"  # a note with one of these quotes a value or names a file


def redact_facts(report: Report) -> None:
    """Take the texts out of what the sections of a page read."""
    known = shared_words(report)
    report.meta["redacted"] = True
    report.shown = report.shown._replace(titled=np.zeros(0, np.int64))
    facts = report.facts

    def change(stage: str, **parts: Any) -> None:
        facts[stage] = {**facts[stage], **parts}

    sentences = [s for s in facts["ingest"]["sentences"] if not set(s) & set(NAMING)]
    partial = ["Some of the input could not be read."] * bool(facts["ingest"]["partial"])
    change("ingest", sentences=sentences, partial=partial)
    if "top" in facts["counts"]:
        change("counts", top=common(facts["counts"]["top"], known))
    for part in {"groups", "nodes"} & set(facts["groups"]):
        change("groups", **{part: [redacted(g, known) for g in facts["groups"][part]]})
    if entries := facts["themes"].get("themes"):
        themes = [{**theme, "words": common(theme["words"], known)} for theme in entries]
        change("themes", themes=themes)
    if entries := facts["fields"].get("fields"):
        fields = [{**f, "words": [common(w, known) for w in f["words"]]} for f in entries]
        change("fields", fields=fields)
    for way in {"rising", "falling"} & set(facts["time"]):
        change("time", **{way: [e for e in facts["time"][way] if e["word"] in known]})
    change("time", unread=[], unreadable=0)


def redacted(group: dict[str, Any], known: set[str]) -> dict[str, Any]:
    """A group, or a node of their tree, without a title and with words that may be shown."""
    words = {"words": common(group["words"], known)} if "words" in group else {}
    return {**group, "title": "", "name": kept_name(group, known), **words}


def shared_words(report: Report) -> set[str]:
    """The words that enough documents hold."""
    if not report.ran("counts"):
        return set()
    holding = report.context.arrays("counts")["document_counts"]
    known = {str(word) for word in report.context.words()[holding >= LEAST]}
    return known | shared_runs(report)


def shared_runs(report: Report) -> set[str]:
    """The words of scripts without spaces that enough documents hold: as they are shown, they
    were not counted."""
    facts = report.facts
    listed = [part for group in facts["groups"].get("groups", []) for part in group["name"]]
    listed += [part for node in facts["groups"].get("nodes", []) for part in node["name"]]
    listed += [w for theme in facts["themes"].get("themes", []) for w, *_ in theme["words"]]
    listed += [
        w for field in facts["fields"].get("fields", []) for words in field["words"]
        for w, *_ in words
    ]  # fmt: skip
    listed += [e["word"] for way in ("rising", "falling") for e in facts["time"].get(way, [])]
    counts = dict.fromkeys(filter(is_run, listed), 0)
    shared: set[str] = set()
    for text in report.context.documents().texts() if counts else ():
        for word in [word for word in counts if word in text]:
            counts[word] += 1
            if counts[word] == LEAST:
                shared.add(word)
                del counts[word]
        if not counts:
            break
    return shared


def common(words: list[Any], known: set[str]) -> list[Any]:
    """Of entries that begin with a word, those whose word may be shown."""
    return [each for each in words if each[0] in known]


def kept_name(group: dict[str, Any], known: set[str]) -> list[str]:
    """The parts of a name whose words may all be shown; a name that somebody gave stays."""
    name = list(group.get("name") or [])
    if group.get("renamed"):
        return name
    some = [
        part for part in name
        if is_language_name(part) or set(PARTS.findall(part.lower())) <= known
    ]  # fmt: skip
    number = group.get("group", group.get("chosen"))
    return some or [f"group {number}" if number is not None else "a group"]


def redact_words(report: Report) -> None:
    """Leave out what the section of words added on words of few documents, and which words
    are in which document."""
    meta = report.meta
    report.add_array("row", report.shown.documents)
    if not meta["terms"]:
        return
    keep = np.flatnonzero(np.array(meta["termDf"]) >= LEAST)
    place = np.full(len(meta["terms"]), -1, np.int64)
    place[keep] = np.arange(len(keep))
    arrays = report.context.arrays("words")
    near, cosine = place[arrays["neighbors"][keep].astype(np.int64)], arrays["cosine"][keep]
    itself = np.arange(len(keep))[:, None]
    report.add_array("wordNear", np.where(near < 0, itself, near))  # itself: not shown
    cosine = np.where(near < 0, 0, np.clip(cosine, 0, 1))
    report.add_array("wordSim", np.rint(255 * cosine).astype(np.uint8))
    for name in ("terms", "termDf", "termTf"):
        meta[name] = [meta[name][i] for i in keep]
    meta["unnamed"] = []  # nothing is named on the page
    known = set(meta["terms"])
    meta["distinct"] = [each for each in meta["distinct"] if each[0] in known]
    meta["top"] = [each for each in meta["top"] if each[2] >= LEAST]
    if meta["word0"] not in known:
        meta["word0"] = meta["terms"][0] if meta["terms"] else ""
