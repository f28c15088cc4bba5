"""Oddities: copies, documents unlike all others, documents with nothing to compare."""

from html import escape

import numpy as np

from tacit.explore.report.phrases import count, number, percent, section, verb
from tacit.explore.report.report import LISTED, Report, copies, copy_sets

__all__ = ["NAV", "PLACE", "data", "words"]

PLACE, NAV = 100, (("oddities", "Oddities"),)
CLOSEST = 12  # pairs of a small collection
REASONS = {
    "spelling": "spelled unlike the others",
    "words": "uses words that few others use",
    "unexplained": "its words do not go together elsewhere",
    "distance": "far from its nearest documents",
    "language": "in another language",
}


def data(report: Report) -> None:
    """Copies, outliers, blank documents, and the closest pairs of a small collection."""
    place, mapped, meta = report.shown.place, report.shown.mapped, report.meta
    meta["copies"] = [
        {
            "name": kind.name,
            "count": kind.total,
            "pairs": [[place[a], place[b], overlap] for a, b, overlap in kind.pairs],
        }
        for kind in copies(report.context)
    ]
    add_sets(report)
    facts = report.facts["outliers"]
    meta["outliers"] = [
        [place[i], round(score, 2), REASONS[why]] for i, score, why in facts.get("outliers", [])
    ]
    meta["unlike"] = facts.get("unlike", 0)
    if mapped and meta["unlike"]:
        score = report.context.arrays("outliers")["score"][report.shown.on_map]
        report.add_array("odd", (score > 1).astype(np.uint8))
    meta["blanks"], meta["closest"] = [], []
    if mapped:
        blank = report.context.arrays("meaning")["blank"]
        lengths = report.context.arrays("counts")["lengths"]
        off = report.shown.documents[mapped:].tolist()
        meta["blanks"] = [[place[i], int(lengths[i])] for i in off if blank[i]][:LISTED]
    if mapped and not report.ran("groups"):
        meta["closest"] = closest_pairs(report)


def add_sets(report: Report) -> None:
    """Sets of more than two copies, and which documents repeat an earlier one."""
    sets, total = copy_sets(report.context)
    place = report.shown.place
    report.meta["setsOfCopies"] = total
    report.meta["sets"] = [
        {"docs": [place[i] for i in each.documents], "n": each.total, "exact": each.exact}
        for each in sets
        if each.total > 2
    ]
    report.meta["redundant"] = int(report.facts["duplicates"].get("redundant", 0))
    if total and report.shown.mapped:
        labels = report.context.arrays("duplicates")["labels"]
        inside = np.flatnonzero(labels >= 0)
        _, first = np.unique(labels[inside], return_index=True)
        again = np.zeros(len(labels), np.uint8)
        again[np.delete(inside, first)] = 1
        report.add_array("copy", again[report.shown.on_map])
        several = np.where(labels >= 0, labels + 1, 0)
        report.add_array("copySet", several[report.shown.on_map])


def closest_pairs(report: Report) -> list[list]:
    arrays, place = report.context.arrays("map"), report.shown.place
    pairs: dict[tuple[int, int], float] = {}
    for i in report.shown.on_map.tolist():
        j = int(arrays["neighbors"][i, 0]) if arrays["neighbors"].shape[1] else i
        if j != i and place.get(j, report.shown.mapped) < report.shown.mapped:
            pairs.setdefault((min(i, j), max(i, j)), float(arrays["squares"][i, 0]))
    order = sorted(pairs, key=lambda pair: (pairs[pair], pair))
    return [[place[i], place[j], None] for i, j in order[:CLOSEST]]


def words(report: Report) -> str:
    """The lists of copies, outliers and blank documents."""
    meta, facts = report.meta, report.facts
    no_copies, no_outliers = ("left_out" in facts[name] for name in ("duplicates", "outliers"))
    if report.n_read < 2 or (no_copies and no_outliers):
        return ""
    exact, near = (kind["count"] for kind in meta["copies"])
    far, blanks = meta["unlike"], facts["meaning"].get("blank", 0)
    heading = "No copies and no outliers"
    if no_outliers or no_copies:
        heading = "No copies" if no_outliers else "No outliers"
    if copied := exact or near or meta["sets"]:
        if sets := meta["sets"]:
            text = "share one text" if sets[0]["exact"] else "share most of one text"
            heading = f"{sets[0]['n']:,} documents {text}"
            if (total := meta["setsOfCopies"]) > 1:
                heading = f"{total:,} texts have copies; {heading}"
        else:
            heading = pairs_found(exact, near)
    elif far:
        heading = f"{count(far, 'document')} {verb(far, 'is', 'are')} unlike all others"
        heading = heading if no_copies else f"No copies; {heading}"
    if not report.ran("outliers"):
        outliers = escape(facts["outliers"]["skipped"])
    elif far:
        outliers = (
            f"Judged by spelling, words, language and distance to the nearest documents, "
            f"{far:,} {verb(far, 'document is', 'documents are')} beyond what is usual in this "
            f"collection; {in_gray(far, unlike_on_map(report))}. The limit is set so that "
            "about five in a thousand ordinary documents exceed it."
        )
    else:
        outliers = "No document is much more unusual than the others."
    left = NO_COPIES.replace("{why}", without_copies(report))
    if copied:
        left = COPIES.replace("{aside}", " " + set_aside(report) if report.grouped else "")
    left += CLOSEST_PAIRS if meta["closest"] else ""
    right = f'<h3 class="sub3">Unlike all others</h3><p class="note">{outliers}</p>'
    right += '<div id="outl"></div>' if meta["outliers"] else ""
    if meta["blanks"]:
        right += BLANKS.replace("{blanks}", count(blanks, "document"))
    body = f'<div class="ogrid">\n<div>\n{left}\n</div>\n<div>{right}</div>\n</div>'
    return section("oddities", "Oddities", heading, "", body)


def unlike_on_map(report: Report) -> int:
    """How many of the documents unlike all others can be placed."""
    score = report.context.arrays("outliers")["score"]
    return int(((score > 1) & ~report.context.arrays("meaning")["blank"]).sum())


def in_gray(far: int, placed: int) -> str:
    """How the map shows documents unlike all others.

    >>> in_gray(5, 5), in_gray(1, 1)
    ('the map draws them in gray', 'the map draws it in gray')
    >>> in_gray(5, 3), in_gray(2, 0)
    ('the map draws 3 of them in gray and cannot place the others', 'the map cannot place them')
    """
    them = verb(far, "it", "them")
    if not placed:
        return f"the map cannot place {them}"
    if placed < far:
        return f"the map draws {placed:,} of them in gray and cannot place the others"
    return f"the map draws {them} in gray"


def pairs_found(exact: int, near: int) -> str:
    """Pairs of copies and of near copies, as a heading.

    >>> pairs_found(0, 2)
    'Two pairs of documents are nearly the same'
    >>> pairs_found(7, 1)
    'Seven pairs of documents are the same, word for word; one is nearly the same'
    """
    parts = [
        (n, f"{verb(n, 'is', 'are')} {same}")
        for n, same in ((exact, "the same, word for word"), (near, "nearly the same"))
        if n
    ]
    n, text = parts[0]
    first = f"{number(n)} {verb(n, 'pair', 'pairs')} of documents {text}"
    more = [f"{number(n)} {text}" for n, text in parts[1:]]
    return "; ".join([first[:1].upper() + first[1:], *more])


def set_aside(report: Report) -> str:
    """How copies took part in grouping."""
    aside = report.facts["groups"].get("copies", 0)
    if not aside:
        return "No two have exactly the same words, so all took part in grouping."
    has, was = ("has", "was") if aside == 1 else ("have", "were")
    return (
        f"{count(aside, 'document')} {has} exactly the words of an earlier one, in some order, "
        f"and {was} put into its group."
    )


def without_copies(report: Report) -> str:
    facts = report.facts["duplicates"]
    if not report.ran("duplicates"):
        return escape(facts["skipped"])
    least = percent(facts["threshold"])
    return f"No two documents have {least} of their four-word sequences in common."


COPIES = """<h3 class="sub3">Copies and near copies</h3><p class="note">Compared by four-word \
sequences. Words that the other opening does not have are marked.{aside}</p>\
<div class="rowbtns" id="aside"></div><div class="tabs" id="duptabs" role="group" \
aria-label="Kind of copy"></div><div id="dups"></div>"""
NO_COPIES = '<h3 class="sub3">Copies and near copies</h3><p class="note">{why}</p>'
CLOSEST_PAIRS = """<div class="block"><h3 class="sub3">Closest pairs</h3><p class="note">The \
documents most alike in the words they use.</p><div id="pairs"></div></div>"""
BLANKS = """<div class="block"><h3 class="sub3">Empty or without usable words</h3><p \
class="note">{blanks} could not be placed.</p><ul class="plain" id="empt"></ul></div>"""
