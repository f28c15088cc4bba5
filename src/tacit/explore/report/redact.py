"""A report without the texts: figures, groups, the map, and words that many documents share.

Left out: titles, openings and ids of documents, the search index, which words are in which
document, and every word that is in fewer than ``LEAST`` documents. Values of columns stay: they
are no texts.
"""

import re
from typing import Any

import numpy as np

from tacit.explore.report.report import Report

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
    ingest = facts["ingest"]
    facts["ingest"] = {
        **ingest,
        "sentences": [s for s in ingest["sentences"] if not set(s) & set(NAMING)],
        "partial": ["Some of the input could not be read."] if ingest["partial"] else [],
    }
    if "top" in facts["counts"]:
        facts["counts"] = {**facts["counts"], "top": kept(facts["counts"]["top"], known)}
    groups = facts["groups"]
    facts["groups"] = {**groups} | {
        part: [
            {**group, "title": "", "name": kept_name(group, known)}
            | ({"words": kept(group["words"], known)} if "words" in group else {})
            for group in groups[part]
        ]
        for part in ("groups", "nodes")
        if part in groups
    }
    if "themes" in facts["themes"]:
        facts["themes"] = {
            **facts["themes"],
            "themes": [
                {**theme, "words": kept(theme["words"], known)}
                for theme in facts["themes"]["themes"]
            ],
        }
    if "fields" in facts["fields"]:
        facts["fields"] = {
            **facts["fields"],
            "fields": [
                {**field, "words": [kept(words, known) for words in field["words"]]}
                for field in facts["fields"]["fields"]
            ],
        }
    if "periods" in facts["time"]:
        ways = {
            way: [each for each in facts["time"][way] if each["word"] in known]
            for way in ("rising", "falling")
        }
        facts["time"] = {**facts["time"], **ways}
    facts["time"] = {**facts["time"], "unread": [], "unreadable": 0}


def shared_words(report: Report) -> set[str]:
    """The words that enough documents hold."""
    if not report.ran("counts"):
        return set()
    holding = report.context.arrays("counts")["document_counts"]
    return {str(word) for word in report.context.words()[holding >= LEAST]}


def kept(words: list[Any], known: set[str]) -> list[Any]:
    """Of entries that begin with a word, those whose word may be shown."""
    return [each for each in words if each[0] in known]


def kept_name(group: dict[str, Any], known: set[str]) -> list[str]:
    """The parts of a name whose words may all be shown; a name that somebody gave stays."""
    name = list(group.get("name") or [])
    if group.get("renamed"):
        return name
    some = [part for part in name if set(PARTS.findall(part.lower())) <= known]
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
    found = report.context.arrays("words")
    near, cosine = place[found["neighbors"][keep].astype(np.int64)], found["cosine"][keep]
    own = np.arange(len(keep))[:, None]
    report.add_array("wordNear", np.where(near < 0, own, near))  # itself: not shown
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
