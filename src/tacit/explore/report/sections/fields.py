"""Fields: the words of every value of a column, the groups its documents are in."""

from typing import Any

import numpy as np

from tacit.explore.report.clean_text import clean_line, cut
from tacit.explore.report.phrases import column_name, joined, number, section, verb
from tacit.explore.report.report import Report
from tacit.explore.stages.fields import NONE
from tacit.explore.stages.stage import Context

__all__ = ["NAV", "PLACE", "columns_of", "data", "how_far", "ranked_columns", "relate", "words"]

PLACE, NAV = 80, (("fields", "Fields"),)
HOW = ((0.8, "almost completely"), (0.5, "well"), (0.2, "moderately"), (0.05, "slightly"))


def data(report: Report) -> None:
    """Each column with few values: its values, their words, and their groups."""
    k = report.meta["K"]
    report.meta["columns"] = columns_of(report.context, report.facts, report.labels, k)
    for column in ranked_columns(report):
        column["how"] = how_far(column["adjusted"], "")


def columns_of(
    context: Context, facts: dict[str, Any], labels: np.ndarray | None, k: int
) -> list[dict[str, Any]]:
    """The columns that were compared, with their relation to ``labels`` of k groups."""
    out = []
    for i, field in enumerate(facts["fields"].get("fields", [])):
        column: dict[str, Any] = {
            "name": cut(clean_line(field["name"]), 40),
            "values": field["values"],
            "sizes": field["sizes"],
            "several": bool(field.get("several")),
            "words": [
                [[clean_line(word), p, q] for word, p, q in listed] for listed in field["words"]
            ],
        }
        if labels is not None:
            codes = context.arrays("fields")[f"field{i}"].astype(np.int64)
            if NONE in field["values"]:
                codes[codes == field["values"].index(NONE)] = -1
            column |= relate(codes, labels, len(field["values"]), k)
            if field.get("several"):
                members = context.matrix("fields", f"members{i}").astype(np.int64)
                placed = np.flatnonzero(labels >= 0)
                table = np.zeros((len(field["values"]), k), np.int64)
                for j in range(k):
                    rows = placed[labels[placed] == j]
                    table[:, j] = np.asarray(members[rows].sum(axis=0)).ravel()
                column["table"] = table.tolist()
        out.append(column)
    return out


def relate(codes: np.ndarray, labels: np.ndarray, kinds: int, k: int) -> dict[str, Any]:
    """How well groups and the values of a column predict each other: V-measure, adjusted mutual
    information, and a table of counts. Both -1 for none."""
    from tacit.measure import adjusted_mutual_info_score, homogeneity_completeness_v_measure

    both = (labels >= 0) & (codes >= 0)
    table = np.zeros((kinds, k), np.int64)
    np.add.at(table, (codes[both], labels[both]), 1)
    if (table.sum(axis=1) > 0).sum() < 2:
        return {"v": None, "table": table.tolist()}
    homogeneous, complete, v = homogeneity_completeness_v_measure(codes[both], labels[both])
    beyond = adjusted_mutual_info_score(codes[both], labels[both])
    return {
        "v": round(float(v), 3),
        "homogeneity": round(float(homogeneous), 3),
        "completeness": round(float(complete), 3),
        "adjusted": round(float(beyond), 3),
        "table": table.tolist(),
    }


def ranked_columns(report: Report) -> list[dict[str, Any]]:
    """Columns that groups can be compared with, the one they follow best first."""
    some = [each for each in report.meta["columns"] if each.get("v") is not None]
    return sorted(some, key=lambda each: -each["adjusted"])


def how_far(index: float, none: str = "not at all") -> str:
    """An agreement between 0 and 1 in words."""
    return next((word for least, word in HOW if index >= least), none)


def words(report: Report) -> str:
    """The table of values, its words and its groups."""
    if not report.meta["columns"]:
        return ""
    ranked = ranked_columns(report)
    lead = (
        "These columns came with the documents; nothing above was computed from them. The "
        "words distinguish the documents with a value from the others; a word is listed only "
        "if it stands out more than any word would by chance."
    )
    if ranked:
        lead += (
            ' <span class="wideonly">A cell is the stronger, the more of the value&rsquo;s '
            "documents are in the group of that color.</span>"
        )
    body = """<div class="tabs" id="fieldtabs" role="group" aria-label="Column"></div>
<p class="fieldsaid" id="fieldsaid" aria-live="polite"></p>
<div id="fieldtable"></div>"""
    return section("fields", "Fields", heading(report, ranked), f"<p>{lead}</p>", body)


def heading(report: Report, ranked: list[dict[str, Any]]) -> str:
    first, least = report.meta["columns"][0], HOW[-1][0]
    if not ranked:
        telling = sum(bool(listed) for listed in first["words"])
        known = sum(value != NONE for value in first["values"])
        name = column_name(first["name"])
        if telling in (0, known):
            every = "Every" if telling else "No"
            return f"{every} value of {name} has words of its own"
        have = verb(telling, "has words of its own", "have words of their own")
        return f"{number(telling).capitalize()} of {number(known)} values of {name} {have}"
    if ranked[0]["adjusted"] < least:
        names = joined([column_name(each["name"]) for each in ranked[:3]])
        return f"The groups have nothing to do with {names}"
    best = ranked[0]
    out = f"The groups follow {column_name(best['name'])} {how_far(best['adjusted'])}"
    if len(ranked) > 1 and ranked[-1]["adjusted"] < least:
        out += f", and {column_name(ranked[-1]['name'])} not at all"
    return out
