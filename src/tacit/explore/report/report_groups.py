"""The groups as the page shows them, and the groups there would be for other numbers."""

from typing import Any

import numpy as np

from tacit.explore.report.clean_text import clean_line
from tacit.explore.report.shown import Shown, packed
from tacit.explore.report.slots import assign_slots
from tacit.explore.stages.groups import verdict_of
from tacit.explore.stages.stage import Context

__all__ = ["choice_of", "forms_of_one", "groups_of", "name_of", "telling_first", "tree_order"]

WHAT_IFS = 2_000_000  # documents times numbers of groups on the page
CLEARLY = 1.5  # times more frequent in a group than elsewhere


def groups_of(
    context: Context, shown: Shown, facts: dict, points: np.ndarray, meta: dict, arrays: dict
) -> None:
    """Groups in the order of the tree; one of all documents where none were found."""
    found = facts["groups"]
    some = shown.documents[: shown.mapped]
    placed = 0
    if "skipped" not in facts["meaning"]:
        placed = facts["ingest"]["documents"] - facts["meaning"]["blank"]
    grouped = len(found.get("groups", [])) > 1 and shown.mapped > 0
    meta |= {"total": placed, "grouped": grouped, "slots": {}, "merges": [], "firstG": 0}
    meta |= {"unsure": 0, "repeats": 0, "color0": "group"}
    if not grouped:
        zeros = np.zeros(len(some), np.uint8)
        arrays |= {"cluster": packed(zeros), "conf": packed(zeros), "second": packed(zeros)}
        meta["K"] = 1
        meta["groups"] = [{"name": ["All documents"], "n": placed, "number": 0, "words": []}]
        meta["slots"]["group"] = [0]
        return
    stage = context.arrays("groups")
    k = len(found["groups"])
    order, merges = tree_order(found["tree"], k)
    place = np.empty(k, np.int64)
    place[order] = np.arange(k)
    labels = place[stage["labels"][some]]
    sure = stage["confidence"]
    arrays["cluster"] = packed(labels)
    arrays["conf"] = packed(np.rint(255 * sure[some]).astype(np.uint8))
    arrays["second"] = packed(place[stage["second"][some]])
    centers = stage["centers"].astype(np.float64)
    centers /= np.maximum(np.linalg.norm(centers, axis=1, keepdims=True), 1e-12)
    alike = centers @ centers.T
    np.fill_diagonal(alike, -2)
    same = neighbours_inside(context, stage["labels"], k)
    groups = []
    for g in order:
        group = found["groups"][g]
        words = telling_first(group["words"])
        near = np.argsort(-alike[g], kind="stable")[: min(3, k - 1)]
        groups.append(
            {
                "number": int(group["group"]),
                "n": int(group["size"]),
                "name": name_of([w for w, *_ in words]),
                "words": [[w, round(i, 4), round(o, 4)] for w, i, o in words],
                "jac": [round(float(v), 3) for v in stage["jaccard"][g]],
                "med": round(group["jaccard"], 3),
                "lvl": verdict_of(float(group["jaccard"])),
                "typ": [shown.place[i] for i in group["typical"]],
                "bord": [[shown.place[i], int(place[j])] for i, j in group["doubtful"]],
                "near": [int(place[j]) for j in near],
                "inside": round(float(same[g]), 3),
            }
        )
    firm = [i for i, group in enumerate(groups) if group["lvl"] == "firm"]
    meta["firstG"] = max(firm or range(k), key=lambda i: groups[i]["n"])
    meta |= {"K": k, "groups": groups, "merges": merges, "repeats": stage["jaccard"].shape[1]}
    inside = stage["labels"] >= 0
    meta["unsure"] = int((sure[inside] < 0.5).sum())
    meta["color0"] = "group" if any(g["lvl"] != "loose" for g in groups) else "confidence"
    meta["slots"]["group"] = assign_slots(points, labels, k)


def tree_order(tree: list[list[float]], k: int) -> tuple[list[int], list[list[float]]]:
    """The leaves from top to bottom, and the merges with leaves named by that order."""
    from tacit.cluster.hierarchy.dendrogram import leaves

    order = [int(i) for i in leaves(np.asarray(tree, np.float64))]
    place = {leaf: i for i, leaf in enumerate(order)}
    merges = [
        [place.get(int(a), int(a)), place.get(int(b), int(b)), round(h, 4)]
        for a, b, h, _ in tree
    ]
    return order, merges


def telling_first(words: list[list[Any]]) -> list[tuple[str, float, float]]:
    """Words with their shares inside a group and elsewhere, those that say something to people
    first: no numbers or single letters, and clearly more frequent here.

    >>> rows = [["0", 9.0, 0.5, 0.1], ["this", 8.0, 0.5, 0.4], ["whale", 7.0, 0.3, 0.01]]
    >>> [word for word, *_ in telling_first(rows)]
    ['whale', '0', 'this']
    """
    cleaned = [(clean_line(w), float(i), float(o)) for w, _, i, o in words]
    telling = [
        each
        for each in cleaned
        if len(each[0]) > 1 and not each[0].isdigit() and each[1] >= CLEARLY * each[2]
    ]
    return telling + [each for each in cleaned if each not in telling]


def name_of(words: list[str]) -> list[str]:
    """Up to three words, no two of which are forms of one another."""
    name: list[str] = []
    for word in words:
        if not any(forms_of_one(word, other) for other in name):
            name.append(word)
        if len(name) == 3:
            break
    return name or ["(no words of its own)"]


def forms_of_one(a: str, b: str) -> bool:
    """Whether two words begin alike for most of the shorter one.

    >>> forms_of_one("window", "windows"), forms_of_one("car", "card")
    (True, False)
    """
    shorter = min(len(a), len(b))
    most = max(4, shorter - 2)
    return shorter >= 4 and a[:most] == b[:most]


def neighbours_inside(context: Context, labels: np.ndarray, k: int) -> np.ndarray:
    """For each group the share of its documents' neighbours that are in it too."""
    near = context.arrays("map")["neighbors"]
    inside = labels >= 0
    same = (labels[near[inside]] == labels[inside][:, None]).mean(axis=1)
    sizes = np.bincount(labels[inside], minlength=k)
    return np.bincount(labels[inside], same, minlength=k) / np.maximum(sizes, 1)


def choice_of(context: Context, shown: Shown, facts: dict, meta: dict, arrays: dict) -> None:
    """The measures by number of groups, and the groups there would be."""
    measures: dict[str, dict[int, list[float]]] = {"silhouette": {}, "gap": {}, "stability": {}}
    chance: dict[str, dict[int, float]] = {"silhouette": {}, "stability": {}}
    table = facts["groups"].get("choice", {}).get("table", [])
    for row in table:
        for name, found in measures.items():
            if row[name] is not None and row["k"] > 1:
                error = row["gap_error"] if name == "gap" else 0.0
                found[row["k"]] = [round(row[name], 4), round(error or 0.0, 4)]
        for name, level in chance.items():
            if row[f"null_{name}"] is not None and row["k"] > 1:
                level[row["k"]] = round(row[f"null_{name}"], 4)
    ks = facts["what_if"].get("ks", []) if shown.mapped else []
    if ks:
        labels = context.arrays("what_if")["labels"]
        most = max(4, WHAT_IFS // shown.mapped)  # of large collections only some numbers
        kept = np.unique(np.linspace(0, len(ks) - 1, min(most, len(ks))).astype(int))
        ks = [ks[i] for i in kept]
        arrays["whatif"] = packed(labels[kept][:, shown.documents[: shown.mapped]])
    k = meta["K"]
    wanted = k // 2 if k >= 6 else k + 2
    meta |= {
        "ks": [row["k"] for row in table if row["k"] > 1],
        "measures": measures,
        "chance": chance,
        "whatks": ks,
        "whatIf": min(ks, key=lambda other: (abs(other - wanted), other)) if ks else k,
    }
