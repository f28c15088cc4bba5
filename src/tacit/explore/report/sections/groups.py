"""Groups: size, stability, contrast words, typical and borderline documents, and their tree."""

from typing import Any

import numpy as np

from tacit.explore.report.clean_text import TITLE, clean_line, cut
from tacit.explore.report.colors import assign_slots
from tacit.explore.report.phrases import number, sampled, section, verb
from tacit.explore.report.report import Report
from tacit.explore.stages.groups import verdict_of
from tacit.explore.stages.naming import shown_name

__all__ = ["NAV", "PLACE", "data", "words"]

PLACE, NAV = 40, (("groups", "Groups"),)


def data(report: Report) -> None:
    """Groups in the order of the tree; one of all documents where none were found."""
    facts, meta, shown = report.facts, report.meta, report.shown
    placed = report.n_read - facts["meaning"]["blank"] if report.ran("meaning") else 0
    meta |= {"total": placed, "grouped": report.grouped, "merges": [], "firstG": 0}
    meta |= {"unsure": 0, "repeats": 0, "color0": "group"}
    meta |= {"nodes": [], "levels": [], "level": 0, "broad": None}
    meta["edits"] = len(facts["groups"].get("edits", []))
    if not report.grouped:
        for name in ("cluster", "conf", "second"):
            report.add_array(name, np.zeros(shown.mapped, np.uint8))
        alone = {"name": ["All documents"], "n": placed, "number": 0, "words": []}
        meta |= {"K": 1, "groups": [alone]}
        meta["slots"]["group"] = [0]
        return
    stage, (order, merges) = report.context.arrays("groups"), report.tree
    place = np.argsort(order)
    labels, sure = place[stage["labels"][shown.on_map]], stage["confidence"]
    report.add_array("cluster", labels)
    report.add_array("conf", np.rint(255 * sure[shown.on_map]).astype(np.uint8))
    report.add_array("second", place[stage["second"][shown.on_map]])
    centers = stage["centers"].astype(np.float64)
    centers /= np.maximum(np.linalg.norm(centers, axis=1, keepdims=True), 1e-12)
    alike = centers @ centers.T
    np.fill_diagonal(alike, -2)
    groups = [describe_group(report, g, place, alike[g], stage["jaccard"][g]) for g in order]
    same = neighbors_inside(report, len(order))
    for i, group in enumerate(groups):
        group["inside"] = round(float(same[i]), 3)
    firm = [i for i, group in enumerate(groups) if group["lvl"] == "firm"]
    meta |= {
        "K": len(groups),
        "groups": groups,
        "merges": merges,
        "repeats": stage["jaccard"].shape[1],
        "firstG": max(firm or range(len(groups)), key=lambda i: groups[i]["n"]),
        "unsure": int((sure[stage["labels"] >= 0] < 0.5).sum()),
        "color0": "group" if any(g["lvl"] != "loose" for g in groups) else "confidence",
    }
    meta["slots"]["group"] = assign_slots(report.points, labels, len(groups))
    add_levels(report, place)


def add_levels(report: Report, place: np.ndarray) -> None:
    """The tree of groups, its levels from coarse to fine, and the leaf of every document on the
    map; ``place`` of each group on the page."""
    grouping, leaf = report.facts["groups"], report.context.arrays("groups").get("leaf")
    nodes, levels = grouping.get("nodes", []), grouping.get("levels", [])
    if leaf is None or len(levels) < 2 or not leaf.max(initial=-1) < len(nodes):
        return
    report.add_array("leaf", np.maximum(leaf[report.shown.on_map], 0))
    report.meta["nodes"] = [
        {
            "up": int(node["parent"]),
            "n": int(node["size"]),
            "name": [clean_line(each) for each in shown_name(node)],
            "med": round(float(node["jaccard"]), 3),
            "lvl": verdict_of(float(node["jaccard"])),
            "group": None if node["chosen"] is None else int(place[node["chosen"]]),
        }
        for node in nodes
    ]
    report.meta["levels"] = [[int(i) for i in level["cut"]] for level in levels]
    report.meta["level"] = int(grouping["level"])
    report.meta["broad"] = grouping.get("broad")


def describe_group(
    report: Report, g: int, place: np.ndarray, alike: np.ndarray, jaccard: np.ndarray
) -> dict[str, Any]:
    """Group g as the scripts read it; ``place`` of each group in the tree, how ``alike`` it is
    to the others, and the overlap in every repeat."""
    group = report.facts["groups"]["groups"][g]
    near = np.argsort(-alike, kind="stable")[: min(3, len(place) - 1)]
    at = report.shown.place
    return {
        "number": int(group["group"]),
        "n": int(group["size"]),
        "name": [clean_line(each) for each in shown_name(group)],
        "title": cut(clean_line(str(group.get("title", ""))), TITLE),
        "renamed": group.get("renamed") is True,
        "edited": str(group.get("edited", ""))[:20],
        "words": [
            [clean_line(w), round(float(i), 4), round(float(o), 4)]
            for w, _, i, o in group["words"]
            if i > o  # a word may be more frequent, but in fewer documents
        ],
        "jac": [round(float(v), 3) for v in jaccard],
        "med": round(group["jaccard"], 3),
        "lvl": verdict_of(float(group["jaccard"])),
        "typ": [at[i] for i in group["typical"]],
        "bord": [[at[i], int(place[j])] for i, j in group["doubtful"]],
        "near": [int(place[j]) for j in near],
    }


def neighbors_inside(report: Report, k: int) -> np.ndarray:
    """For each group the fraction of its documents' neighbors that are in it too."""
    labels: Any = report.labels
    inside, near = labels >= 0, report.context.arrays("map")["neighbors"]
    same = (labels[near[inside]] == labels[inside][:, None]).mean(axis=1)
    sizes = np.bincount(labels[inside], minlength=k)
    return np.bincount(labels[inside], same, minlength=k) / np.maximum(sizes, 1)


def words(report: Report) -> str:
    """The table of groups with its tree, and the selected group."""
    if not report.grouped:
        return ""
    k, repeats = report.meta["K"], report.meta["repeats"]
    firm, loose = len(report.groups("firm")), len(report.groups("loose"))
    if firm == k:
        heading = f"{'Both' if k == 2 else f'All {number(k)}'} groups hold firm"
    elif firm:
        heading = (
            f"{number(firm).capitalize()} of {number(k)} groups "
            f"{verb(firm, 'holds', 'hold')} firm"
        )
    else:
        heading = f"None of the {number(k)} groups holds firm"
    if loose:
        alone = verb(loose, "its own", "their own")
        heading += f". {number(loose).capitalize()} should not be trusted on {alone}"
    lead = (
        f"<p>To test the groups, every division was repeated {repeats} times, each time "
        f"{sampled(report.meta['total'])}. Each tick is one repeat: the overlap of the group "
        "with the most similar group of that repeat. At 1 the group is unchanged, below 0.5 it "
        "fell apart. The dot is the median: half of the repeats are above it. The tree joins "
        "groups that use similar words.</p>"
    )
    body = f"""<div class="ggrid" id="ggrid">
<table class="gt" id="gt"><thead><tr><th class="dend"><span class="vh">Tree</span></th>\
<th>Contrast words</th><th>Documents</th><th class="axis">Overlap in {repeats} repeats</th><th>\
<span class="vh">Verdict</span></th></tr></thead><tbody></tbody></table>
<aside class="detail" id="gd" aria-label="Selected group" aria-live="polite"></aside>
</div>"""
    if report.meta["nodes"]:
        body += TREE
    return section("groups", "Groups", heading, lead, body)


TREE = """
<div class="block" id="gtree"><h3 class="sub3">Groups inside groups</h3><p class="note">The \
documents of every group were halved, and each half was divided separately. If the divisions \
agree more than in data without groups, the group has parts: open it to see them. The name of \
a part sets it apart from the other parts. Parts of the groups in bold are looked for inside \
these, and have at most their overlap.</p><div id="gtl"></div></div>"""
