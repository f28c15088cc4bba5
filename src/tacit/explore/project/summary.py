"""The results of a project, in a few lines and as JSON values."""

from typing import Any

import numpy as np

from tacit.explore.project.folder import ProjectFolder
from tacit.explore.project.pipeline import result_hash, stage_titles
from tacit.explore.report.phrases import count
from tacit.explore.report.sections.fields import columns_of
from tacit.explore.stages.groups import nodes_of
from tacit.explore.stages.languages import NAMES
from tacit.explore.stages.naming import shown_name
from tacit.explore.stages.stage import Context

__all__ = ["summary_lines", "summary_of"]


def summary_of(folder: ProjectFolder) -> dict[str, Any]:
    """Groups with verdicts and words, what is odd, and the hash of it all."""
    context = Context.of(folder)
    facts = {name: context.facts(name) for name in sorted(stage_titles())}
    grouping, total = facts["groups"], facts["ingest"]["documents"]
    groups = [
        {
            "group": group["group"],
            "size": group["size"],
            "share": group["share"],
            "verdict": group["verdict"],
            "overlap": group["jaccard"],
            "name": " · ".join(shown_name(group)),
            "title": str(group.get("title", "")),
            "words": [word for word, *_ in group["words"]],
        }
        for group in grouping.get("groups", [])
    ]
    skipped = {name: each["skipped"] for name, each in facts.items() if "skipped" in each}
    return {
        "project": str(folder.path),
        "documents": total,
        "words": facts["counts"].get("words", 0),
        "settings": context.settings.to_dict(),
        "k": grouping.get("k"),
        "k_recommended": grouping.get("choice", {}).get("best"),
        "reasons": grouping.get("choice", {}).get("reasons", []),
        "groups": groups,
        "nodes": nodes_of(grouping),
        "edits": grouping.get("edits", []),
        "levels": [[level["nodes"], level["firm"]] for level in grouping.get("levels", [])],
        "level": grouping.get("level"),
        "broad": grouping.get("broad"),
        "map_keeps": facts["map"].get("kept"),
        "copies": facts["duplicates"].get("redundant", 0),
        "set_aside": grouping.get("copies", 0),
        "outliers": facts["outliers"].get("unlike", 0),
        "without_words": facts["meaning"].get("blank", 0),
        **more_facts(context, facts),
        "skipped": skipped,
        "result": result_hash(folder),
        "seconds": folder.timings,
        "input": facts["ingest"],
    }


def summary_lines(summary: dict[str, Any]) -> list[str]:
    """The summary for people."""
    n, groups = summary["documents"], summary["groups"]
    if not groups:
        why = summary["skipped"].get("groups") or summary["skipped"].get("counts")
        if (best := summary["k_recommended"] or 1) > 1:
            why = why or f"You asked for one group; the measures recommend {best}."
        why = why or (
            "They do not fall into groups: no division of them is clearly better than one of "
            "data without groups."
        )
        return [f"{count(n, 'document')}. {why}", *more_lines(summary), *odd_lines(summary)]
    counts = {v: sum(g["verdict"] == v for g in groups) for v in ("firm", "tentative", "loose")}
    said = ", ".join(f"{size} {verdict}" for verdict, size in counts.items() if size)
    broad = 0 if summary["broad"] is None else summary["levels"][summary["broad"]][0]
    head = f"{n:,} documents in {len(groups)} groups: {said}."
    if broad:
        head = (
            f"{n:,} documents in {broad} broad groups; divided further, {len(groups)}: {said}."
        )
    lines = [head, ""]
    width = max(len(f"{group['size']:,}") for group in groups)
    for group in groups:
        lines.append(f"  {group['size']:>{width},}  {group['verdict']:<9}  {group['name']}")
    lines.append("")
    asked, best = summary["settings"]["k"], summary["k_recommended"]
    if asked is not None and best != summary["k"]:
        lines.append(f"You asked for {asked} groups; the measures recommend {best}.")
    finer, firm = (summary["levels"] or [[0, 0]])[-1][:2]
    if finer > len(groups):
        lines.append(f"The finest division has {finer} groups, {firm or 'none'} of them firm.")
    return lines + more_lines(summary) + odd_lines(summary)


def odd_lines(summary: dict[str, Any]) -> list[str]:
    lines = [
        f"An edit does not apply any more ({each['edit']} of {'; '.join(each['names'])}): "
        f"{each['why']}."
        for each in summary["edits"]
        if not each["applies"]
    ]
    if copies := summary["copies"]:
        repeat = "repeats another" if copies == 1 else "repeat others"
        lines.append(f"{count(copies, 'document')} {repeat} almost word for word.")
    if aside := summary["set_aside"]:
        has, was = ("has", "was") if aside == 1 else ("have", "were")
        lines.append(
            f"{count(aside, 'document')} {has} exactly the words of an earlier one and {was} "
            "put into its group."
        )
    if far := summary["outliers"]:
        are = "is" if far == 1 else "are"
        lines.append(f"{count(far, 'document')} {are} unlike all others.")
    if bare := summary["without_words"]:
        have = "has" if bare == 1 else "have"
        lines.append(f"{count(bare, 'document')} {have} no words to compare by.")
    return lines


# --- Languages, reading, columns, time ---


def more_facts(context: Context, facts: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """What came along with the documents, and how they read."""
    language, time = facts["language_guess"], facts["time"]
    languages = [[code, size] for code, _, size in language.get("languages", [])]
    return {
        "languages": {**dict(languages), "unknown": language.get("unknown", 0)},
        "reading": {
            name: measure["at"]
            for name, measure in facts["reading"].get("measures", {}).items()
            if measure is not None
        },
        "fields": fields_of(context, facts),
        "time": {
            "source": time["source"],
            "unit": time["unit"],
            "documents": dict(zip(time["periods"], time["sizes"], strict=True)),
            "rising": [each["word"] for each in time["rising"]],
            "falling": [each["word"] for each in time["falling"]],
        }
        if "periods" in time
        else None,
    }


def fields_of(context: Context, facts: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Columns with few values: how far the groups follow each, and its words."""
    labels, k = None, len(facts["groups"].get("groups", []))
    if k > 1:
        labels = context.arrays("groups")["labels"].astype(np.int64)
    return [
        {
            "name": field["name"],
            "v_measure": column.get("v"),
            "adjusted": column.get("adjusted"),
            "values": {
                value: [word for word, *_ in listed]
                for value, listed in zip(field["values"], field["words"], strict=True)
            },
        }
        for field, column in zip(
            facts["fields"].get("fields", []),
            columns_of(context, facts, labels, k),
            strict=True,
        )
    ]


def more_lines(summary: dict[str, Any]) -> list[str]:
    lines = []
    n = max(summary["documents"], 1)
    spoken = {code: size for code, size in summary["languages"].items() if size >= 0.03 * n}
    if len(spoken.keys() - {"unknown"}) > 1:
        said = ", ".join(
            f"{NAMES.get(code, code)} {100 * size / n:.0f}%" for code, size in spoken.items()
        )
        lines.append(f"Languages: {said}.")
    compared = [field for field in summary["fields"] if field["v_measure"] is not None]
    if compared:
        listed = ", ".join(f"{field['name']} {field['v_measure']:.2f}" for field in compared)
        lines.append(f"How well groups match columns (V-measure, 1 is perfect): {listed}.")
    if (time := summary["time"]) is not None and (time["rising"] or time["falling"]):
        up, down = (" ".join(time[way][:4]) or "none" for way in ("rising", "falling"))
        lines.append(f"Over time, rising words: {up}; falling words: {down}.")
    return lines
