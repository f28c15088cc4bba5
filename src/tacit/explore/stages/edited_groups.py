"""What edits make of the groups that a run found: merges, splits and pins, in their order.

The documents of a merged group are those of its parts, and its overlap in the repeats is that
of its weakest part. A group is split into the groups inside it, or in two where the tree has
none; the parts are repeated as any division is. A pinned group keeps its documents together;
where they were scattered, its overlap is that with the group that has most of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tacit.core.randoms import key, seed_from
from tacit.explore.project.group_edits import HALF, GivenName, GroupEdit, overlap
from tacit.explore.stages.group_tree import centers_of
from tacit.explore.stages.groups import (
    describe_groups,
    group_rows,
    next_best,
    repeat_groups,
    sample_size,
    tree_of,
    used_counts,
    verdict_of,
)
from tacit.explore.stages.naming import name_them
from tacit.explore.stages.stage import Context, Output

__all__ = ["edit_groups"]

STARTS = 10
GIVEN = {"merge": "merged", "split": "split", "pin": "pinned"}


@dataclass
class Edited:
    """A group while edits are applied."""

    overlaps: np.ndarray  # in every repeat, sorted
    facts: dict[str, Any] | None  # of the group that was found, if it still is that one
    node: int | None  # of the tree
    around: int = -1  # the node it is in, where it is none itself
    by: str = ""  # the last edit
    name: str = ""  # that a pin keeps


class Groups:
    """The groups as they are after some edits; ``labels`` of the documents that are placed."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.found, arrays = context.found("groups"), context.found_arrays("groups")
        meaning = context.arrays("meaning")
        self.placed = np.flatnonzero(~meaning["blank"])
        self.rows = np.ascontiguousarray(meaning["rows"][self.placed])
        self.labels = np.asarray(arrays["labels"], np.int64)[self.placed]
        self.leaf = np.asarray(arrays["leaf"], np.int64)[self.placed]
        self.confidence = np.array(arrays["confidence"], np.float32)[self.placed]
        node_of = {
            node["chosen"]: node["node"]
            for node in self.found["nodes"]
            if node["chosen"] is not None
        }
        self.groups = {
            g: Edited(np.asarray(arrays["jaccard"][g], np.float64), facts, node_of.get(g))
            for g, facts in enumerate(self.found["groups"])
        }
        self.next = len(self.groups)
        ids = context.documents().ids
        self.place = {str(ids[row]): i for i, row in enumerate(self.placed.tolist())}

    def match(self, mark: GivenName) -> tuple[int | None, float, np.ndarray]:
        """The group that overlaps most with one that was edited, by how much, and where its
        kept documents are."""
        known = [self.place[d] for d in mark.documents if d in self.place]
        at = np.array(known, np.int64)
        shared = np.bincount(self.labels[at], minlength=self.next)
        sizes = np.bincount(self.labels, minlength=self.next)
        scores = {g: overlap(int(shared[g]), mark, int(sizes[g])) for g in self.groups}
        best = max(scores, key=lambda g: (scores[g], -g), default=None)
        return best, 0.0 if best is None else scores[best], at

    def apply(self, edit: GroupEdit) -> str:
        """Apply an edit; why it does not apply, or nothing."""
        if edit.kind == "pin":
            return self.pin(edit.groups[0])
        matched = []
        for mark in edit.groups:
            g, score, _ = self.match(mark)
            if g is None or score < HALF:
                return f"no group has half of the documents of “{mark.name}”"
            matched.append(g)
        if edit.kind == "split":
            return self.split(matched[0])
        return self.merge(sorted(set(matched)))

    def add(self, where: np.ndarray, group: Edited) -> int:
        self.labels[where] = self.next
        self.groups[self.next] = group
        self.next += 1
        return self.next - 1

    def merge(self, parts: list[int]) -> str:
        if len(parts) < 2:
            return "they are one group already"
        if len(parts) == len(self.groups):
            return "one group of all documents would be left"
        gone = [self.groups.pop(g) for g in parts]
        weakest = np.min(np.stack([each.overlaps for each in gone]), axis=0)
        around = self.common([each.around if each.node is None else each.node for each in gone])
        self.add(np.isin(self.labels, parts), Edited(weakest, None, None, around, "merge"))
        return ""

    def common(self, nodes: list[int]) -> int:
        """The smallest node of the tree around these, -1 for the whole."""
        ways = []
        for node in nodes:
            way = []
            while node >= 0:
                way.append(node)
                node = self.found["nodes"][node]["parent"]
            ways.append(way)
        return next((i for i in ways[0] if all(i in way for way in ways[1:])), -1)

    def split(self, g: int) -> str:
        group, inside = self.groups[g], np.flatnonzero(self.labels == g)
        nodes, parts = self.found["nodes"], np.full(len(inside), -1, np.int64)
        children = [n["node"] for n in nodes if group.node is not None
                    and n["parent"] == group.node]  # fmt: skip
        for place, child in enumerate(children):
            below = {child}
            for node in nodes:  # parents come first
                if node["parent"] in below:
                    below.add(node["node"])
            parts[np.isin(self.leaf[inside], list(below))] = place
        repeats = len(group.overlaps)
        if len(children) > 1 and (parts >= 0).all() and len(np.unique(parts)) == len(children):
            made = [
                Edited(np.full(repeats, float(nodes[i]["jaccard"])), None, i, by="split")
                for i in children
            ]
        else:
            divided = self.divide(inside, group)
            if divided is None:
                return "its documents cannot be told apart"
            parts, overlaps = divided
            around = group.around if group.node is None else group.node
            made = [Edited(each, None, None, around, "split") for each in overlaps]
        del self.groups[g]
        for place, each in enumerate(made):
            self.add(inside[parts == place], each)
        return ""

    def divide(
        self, inside: np.ndarray, group: Edited
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """In two, with the overlaps of both in repeats; None where all documents are equal."""
        rows, settings = np.ascontiguousarray(self.rows[inside]), self.context.settings
        seed, engine = key(seed_from(settings.seed), 31, len(inside)), self.context.engine
        if len(inside) < 4 or not np.ptp(rows, axis=0).any():
            return None
        parts = group_rows(rows, 2, starts=STARTS, seed=seed, engine=engine).labels
        if parts.max() < 1:
            return None
        kept, overlaps = repeat_groups(
            rows, parts, 2, size=sample_size(len(rows)), repeats=len(group.overlaps),
            seed=seed, engine=engine,
        )  # fmt: skip
        self.confidence[inside] *= kept.astype(np.float32)
        return parts, np.minimum(overlaps, group.overlaps)

    def pin(self, mark: GivenName) -> str:
        g, score, at = self.match(mark)
        if len(at) < HALF * max(mark.size, 1):
            return f"fewer than half of the documents of “{mark.name}” are there"
        if g is None or score < HALF:
            repeats = len(next(iter(self.groups.values())).overlaps)
            g = self.add(at, Edited(np.full(repeats, score), None, None))
        self.labels[at] = g
        self.groups[g] = replace(self.groups[g], by="pin", name=mark.name)
        for empty in [i for i in self.groups if not (self.labels == i).any()]:
            del self.groups[empty]
        return ""

    def in_order(self) -> list[int]:
        """The groups, the largest first."""
        sizes = np.bincount(self.labels, minlength=self.next)
        return sorted(self.groups, key=lambda g: (-int(sizes[g]), g))


def edit_groups(
    context: Context, edits: Sequence[GroupEdit], *, describe: bool = True
) -> Output:
    """The groups after the edits, as the stage would tell them, and what became of each edit.
    Without ``describe``, only the latter."""
    said: list[dict[str, Any]] = []
    found = context.found("groups")
    groups = Groups(context) if found.get("groups") else None
    for edit in edits:
        why = "there are no groups" if groups is None else groups.apply(edit)
        names = [mark.name for mark in edit.groups]
        said.append({"edit": edit.kind, "names": names, "applies": not why, "why": why})
    if not describe:
        return Output(facts={"edits": said})
    if groups is None:
        return Output(arrays=context.found_arrays("groups"), facts={**found, "edits": said})
    order = groups.in_order()
    place = np.full(groups.next, -1, np.int64)
    place[order] = np.arange(len(order))
    labels, placed, rows = place[groups.labels].astype(np.int32), groups.placed, groups.rows
    jaccard = np.stack([groups.groups[g].overlaps for g in order]).astype(np.float32)
    centers = centers_of(rows, labels, len(order))
    nearest = next_best(rows, labels, centers)
    n = context.facts("ingest")["documents"]

    def everywhere(values: np.ndarray, kind: Any = np.int32, none: int = -1) -> np.ndarray:
        out = np.full(n, none, kind)
        out[placed] = values
        return out

    counts = used_counts(context, placed)
    described = describe_groups(context, counts, labels, placed, nearest, jaccard)
    described = name_them(context, everywhere(labels), described)
    for facts, g in zip(described, order, strict=True):
        each = groups.groups[g]
        if each.facts is not None:
            facts["name"] = each.facts.get("name", facts["name"])
        if each.name:
            facts["name"] = each.name.split(" · ")
        if each.by:
            facts["edited"] = GIVEN[each.by]
    found = {**found, "k": len(order), "groups": described, "edits": said}
    found |= edited_tree(groups, order, described)
    found["tree"] = tree_of(centers)
    return Output(
        arrays={
            "labels": everywhere(labels), "leaf": everywhere(groups.leaf),
            "confidence": everywhere(groups.confidence, np.float32, 0),
            "centers": centers, "jaccard": jaccard, "second": everywhere(nearest.second),
        },
        facts=found,
    )  # fmt: skip


def edited_tree(
    groups: Groups, order: list[int], described: list[dict[str, Any]]
) -> dict[str, Any]:
    """The tree with a node for every group, and the level that is shown."""
    nodes = [{**node, "chosen": None} for node in groups.found["nodes"]]
    cut = []
    for place, (g, facts) in enumerate(zip(order, described, strict=True)):
        each = groups.groups[g]
        if each.node is None:
            around = each.around
            overlaps = float(np.median(each.overlaps))
            nodes.append(
                {name: facts[name] for name in ("size", "name", "words", "typical")}
                | {"node": len(nodes), "parent": around, "doubtful": [], "jaccard": overlaps}
                | {"depth": 1 if around < 0 else nodes[around]["depth"] + 1}
                | {"verdict": verdict_of(overlaps), "chosen": place}
            )
            cut.append(len(nodes) - 1)
        else:
            nodes[each.node]["chosen"] = place
            nodes[each.node]["name"] = facts["name"]
            cut.append(each.node)
    levels, level = [dict(each) for each in groups.found["levels"]], groups.found.get("level")
    if levels and level is not None:
        firm = sum(nodes[i]["verdict"] == "firm" for i in cut)
        levels[level] = {"nodes": len(cut), "firm": firm, "cut": cut}
    return {"nodes": nodes, "levels": levels}
