"""What a user does to groups: names, merges, splits and pins, applied again after every run.

A run may find other groups, so a name or an edit is kept with documents that its group had: it
goes to the group that overlaps most with that one, half at least; a name to such a group of
any level. An edit that finds no such group stays in the list, and the project says so. What the
merges, splits and pins make of the groups is an output of its own, ``edited_groups``, next to
the stage's. ``group_names.json`` and ``group_edits.json`` are written whole or not at all.
"""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tacit.core.atomic import atomic_write
from tacit.core.errors import DataError
from tacit.explore.project.folder import ProjectFolder, digest, key_of

if TYPE_CHECKING:
    from tacit.explore.stages.stage import Context

__all__ = [
    "EDITED", "GROUP_EDITS", "GROUP_NAMES", "GivenName", "GroupEdit", "add_edit", "give_name",
    "read_edits", "read_names", "replay_edits", "undo_edit", "with_given_names",
]  # fmt: skip

GROUP_NAMES, GROUP_EDITS = "group_names.json", "group_edits.json"
EDITED = "edited_groups"  # the output, in the place of a stage's
VERSION = 1
KINDS = ("merge", "split", "pin")
KEPT = 200  # documents that stand for a group
HALF = 0.5
MOST_NAMES, MOST_EDITS = 10_000, 1000
MOST_BYTES = 2**26


class GivenName(NamedTuple):
    """A name, the size of the group that got it, and some of its documents, by id."""

    name: str
    size: int
    documents: tuple[str, ...]

    @classmethod
    def of(cls, name: str, documents: Sequence[str]) -> "GivenName":
        """What stands for a group that has these documents."""
        step = max(1, len(documents) // KEPT)
        return cls(name, len(documents), tuple(documents[::step][:KEPT]))

    @classmethod
    def read(cls, entry: Any) -> "GivenName":
        """From JSON, which is untrusted."""
        value = cls(entry["name"], entry["size"], tuple(entry["documents"]))
        texts = (value.name, *value.documents)
        if not all(isinstance(t, str) for t in texts) or type(value.size) is not int:
            raise ValueError("a group is not text")
        return value


class GroupEdit(NamedTuple):
    """What was done to which groups; a pin keeps all of its documents."""

    kind: str
    groups: tuple[GivenName, ...]

    @classmethod
    def read(cls, entry: Any) -> "GroupEdit":
        """From JSON, which is untrusted."""
        value = cls(entry["edit"], tuple(map(GivenName.read, entry["groups"])))
        if value.kind not in KINDS or not value.groups:
            raise ValueError("there is an edit of no known kind")
        return value


# --- The two files ---


def read_names(project: Path) -> list[GivenName]:
    """The names that were given, in the order they were given."""
    return read_entries(project / GROUP_NAMES, "names", GivenName.read, MOST_NAMES)


def read_edits(project: Path) -> list[GroupEdit]:
    """The merges, splits and pins, in the order they were made."""
    return read_entries(project / GROUP_EDITS, "edits", GroupEdit.read, MOST_EDITS)


def read_entries(path: Path, what: str, read: Callable[[Any], Any], most: int) -> list[Any]:
    """A list of entries; whatever is not as it should be is an error."""
    if not path.exists():
        return []
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ValueError("it is too large")
        return [read(each) for each in json.loads(path.read_bytes())[what][:most]]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise DataError(
            f"is damaged ({str(error)[:80]}). Remove it to go on without the {what} of groups.",
            file=path,
        ) from None


def write_entries(path: Path, what: str, entries: list[dict[str, Any]]) -> None:
    text = json.dumps({"format": 1, what: entries}, ensure_ascii=False, indent=1)
    with atomic_write(path) as file:
        file.write(text.encode("utf-8", "replace") + b"\n")


# --- Names ---


def give_name(project: Path, name: str | None, documents: Sequence[str]) -> None:
    """Keep a name for the group that has these documents; None takes it away."""
    members = set(documents)
    entries = [
        each
        for each in read_names(project)
        if overlap(len(members & {*each.documents}), each, len(members)) < HALF
    ]
    if name is not None:
        entries.append(GivenName.of(name, documents))
    write_entries(project / GROUP_NAMES, "names", [each._asdict() for each in entries])


def overlap(shared: int, name: GivenName, size: int) -> float:
    """The Jaccard overlap of a group with the one that was named, estimated from the kept
    documents that it holds."""
    both = shared / max(len(name.documents), 1) * name.size
    return both / max(name.size + size - both, 1)


def with_given_names(
    facts: dict[str, Any], names: list[GivenName], ids: Sequence[Any],
    labels: np.ndarray, leaf: np.ndarray | None,
) -> dict[str, Any]:  # fmt: skip
    """The facts of groups with the names that were given to them."""
    groups = [dict(group) for group in facts.get("groups", [])]
    nodes = [dict(node) for node in facts.get("nodes", [])]
    wanted = {document for each in names for document in each.documents}
    row_of = {str(each): row for row, each in enumerate(ids) if str(each) in wanted}
    for each in names:
        rows = [row_of[document] for document in each.documents if document in row_of]
        rename(groups, each, Counter(int(labels[row]) for row in rows))
        if leaf is not None and nodes:
            inside: Counter[int] = Counter()
            for row in rows:
                node = int(leaf[row])
                while 0 <= node < len(nodes):
                    inside[node] += 1
                    parent = nodes[node].get("parent", -1)
                    node = parent if isinstance(parent, int) and parent < node else -1
            rename(nodes, each, inside)
    return {**facts, "groups": groups, **({"nodes": nodes} if nodes else {})}


def rename(groups: list[dict[str, Any]], name: GivenName, shared: Counter[int]) -> None:
    scores = [overlap(shared[g], name, int(group["size"])) for g, group in enumerate(groups)]
    if scores and max(scores) >= HALF:
        best = groups[int(np.argmax(scores))]
        best["name"], best["renamed"] = [name.name], True


# --- Merges, splits and pins; the caller holds the folder ---


def replay_edits(folder: ProjectFolder, context: "Context") -> None:
    """Apply the edits to the groups that the last run found."""
    edits, entry = read_edits(folder.path), folder.record["stages"].get("groups")
    if not edits or entry is None or context.found("groups").get("skipped") is not None:
        folder.drop({EDITED})
        return
    settings = {"edits": digest((folder.path / GROUP_EDITS).read_bytes())}
    key = key_of(EDITED, VERSION, settings, {"groups": entry["key"]})
    if folder.holds(EDITED, key):
        return
    from tacit.explore.stages.edited_groups import edit_groups
    from tacit.explore.stages.stage import write_output

    output = edit_groups(context, edits)
    folder.keep(EDITED, key, lambda home: write_output(home, output))


def add_edit(
    folder: ProjectFolder, context: "Context", kind: str, groups: Sequence[int]
) -> None:
    """Edit the groups that are there now."""
    from tacit.explore.stages.edited_groups import edit_groups

    facts, labels = context.facts("groups"), np.asarray(context.arrays("groups")["labels"])
    ids = context.documents().ids
    marks = []
    for group in groups:
        documents = [str(ids[row]) for row in np.flatnonzero(labels == group).tolist()]
        name = " · ".join(map(str, facts["groups"][group].get("name") or []))
        mark = GivenName.of(name, documents)
        marks.append(mark._replace(documents=tuple(documents)) if kind == "pin" else mark)
    edits = [*read_edits(folder.path), GroupEdit(kind, tuple(marks))]
    last = edit_groups(context, edits, describe=False).facts["edits"][-1]
    if not last["applies"]:
        raise ValueError(f"The groups cannot be edited so: {last['why']}.")
    keep_edits(folder, context, edits)


def undo_edit(folder: ProjectFolder, context: "Context") -> bool:
    """Take the last edit back; False if there is none."""
    edits = read_edits(folder.path)
    if edits:
        keep_edits(folder, context, edits[:-1])
    return bool(edits)


def keep_edits(folder: ProjectFolder, context: "Context", edits: list[GroupEdit]) -> None:
    entries = [{"edit": kind, "groups": [g._asdict() for g in of]} for kind, of in edits]
    write_entries(folder.path / GROUP_EDITS, "edits", entries)
    replay_edits(folder, context)
