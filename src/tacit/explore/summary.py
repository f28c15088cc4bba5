"""What a project found, in a few lines and as JSON values."""

from typing import Any

from tacit.core.engines import Serial
from tacit.explore.pipeline import result_hash
from tacit.explore.project_folder import ProjectFolder
from tacit.explore.report.report_groups import name_of, telling_first
from tacit.explore.stage import Context, Settings

__all__ = ["summary_lines", "summary_of"]

WORDS = 6  # of each group


def summary_of(folder: ProjectFolder) -> dict[str, Any]:
    """Groups with verdicts and words, what is odd, and the hash of it all."""
    context = Context(folder, Settings.of(folder.record["settings"]), Serial(), ())
    stages = folder.record["stages"]
    facts = {name: context.facts(name) for name in stages}
    found, total = facts["groups"], facts["ingest"]["documents"]
    groups = [
        {
            "group": group["group"],
            "size": group["size"],
            "share": group["share"],
            "verdict": group["verdict"],
            "overlap": group["jaccard"],
            "words": [word for word, *_ in telling_first(group["words"])],
        }
        for group in found.get("groups", [])
    ]
    skipped = {name: each["skipped"] for name, each in facts.items() if "skipped" in each}
    return {
        "project": str(folder.path),
        "documents": total,
        "words": facts["counts"].get("words", 0),
        "settings": context.settings.to_dict(),
        "k": found.get("k"),
        "k_recommended": found.get("choice", {}).get("best"),
        "reasons": found.get("choice", {}).get("reasons", []),
        "groups": groups,
        "map_keeps": facts["map"].get("kept"),
        "copies": facts["duplicates"]["redundant"],
        "outliers": facts["outliers"].get("beyond_three", 0),
        "without_words": facts["meaning"].get("blank", 0),
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
        why = why or "They do not fall into groups: no division is sharper than chance."
        return [f"{counted(n, 'document')}. {why}", *odd_lines(summary)]
    counts = {v: sum(g["verdict"] == v for g in groups) for v in ("firm", "tentative", "loose")}
    said = ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)
    lines = [f"{n:,} documents in {len(groups)} groups: {said}.", ""]
    width = max(len(f"{group['size']:,}") for group in groups)
    for group in groups:
        words = " ".join(named(group["words"]))
        lines.append(f"  {group['size']:>{width},}  {group['verdict']:<9}  {words}")
    lines.append("")
    asked, best = summary["settings"]["k"], summary["k_recommended"]
    if asked is not None and best != summary["k"]:
        lines.append(f"{asked} groups were asked for; the measures speak for {best}.")
    return lines + odd_lines(summary)


def named(words: list[str]) -> list[str]:
    """The words that name a group, then the others."""
    first = name_of(words)
    return [*first, *(word for word in words if word not in first)][:WORDS]


def odd_lines(summary: dict[str, Any]) -> list[str]:
    lines = []
    if copies := summary["copies"]:
        repeat = "repeats another" if copies == 1 else "repeat others"
        lines.append(f"{counted(copies, 'document')} {repeat} almost word for word.")
    if far := summary["outliers"]:
        lines.append(f"{counted(far, 'document')} {'is' if far == 1 else 'are'} like no other.")
    if bare := summary["without_words"]:
        lines.append(f"{counted(bare, 'document')} without words to compare by.")
    return lines


def counted(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
