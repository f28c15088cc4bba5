"""Merges, splits and pins of groups: kept in the project, and applied again after every run.

An edit is kept with documents that its groups had, as names are (``group_names``), since a run
may find other groups: it applies to the groups that overlap most with those that were edited,
half at least. An edit that finds no such group stays in the list, and the project says so. What
the edits make of the groups is an output of its own, ``edited_groups``, beside the stage's.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tacit.core.atomic import atomic_write
from tacit.core.errors import DataError
from tacit.explore.project.folder import ProjectFolder, digest, key_of
from tacit.explore.project.group_names import MOST_BYTES, GivenName, mark_of

if TYPE_CHECKING:
    from tacit.explore.stages.stage import Context

__all__ = [
    "EDITED", "GROUP_EDITS", "GroupEdit", "add_edit", "read_edits", "replay_edits", "undo_edit",
]  # fmt: skip

GROUP_EDITS = "group_edits.json"
EDITED = "edited_groups"  # the output, in the place of a stage's
VERSION = 1
KINDS = ("merge", "split", "pin")
MOST_EDITS = 1000


class GroupEdit(NamedTuple):
    """What was done to which groups; a pin keeps all of its documents."""

    kind: str
    groups: tuple[GivenName, ...]


def read_edits(project: Path) -> list[GroupEdit]:
    """The edits, in the order they were made. A stranger may have written the file: whatever
    is not as it should be is an error."""
    path = project / GROUP_EDITS
    if not path.exists():
        return []
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ValueError("it is too large")
        entries = json.loads(path.read_bytes())["edits"]
        found = [
            GroupEdit(
                each["edit"],
                tuple(
                    GivenName(g["name"], g["size"], tuple(g["documents"]))
                    for g in each["groups"]
                ),
            )
            for each in entries[:MOST_EDITS]
        ]
        for edit in found:
            if edit.kind not in KINDS or not edit.groups:
                raise ValueError("there is an edit of no known kind")
            for group in edit.groups:
                texts = (group.name, *group.documents)
                if not all(isinstance(t, str) for t in texts) or type(group.size) is not int:
                    raise ValueError("a group is not text")
    except (ValueError, KeyError, TypeError, UnicodeDecodeError, RecursionError) as error:
        raise DataError(
            f"is damaged ({str(error)[:80]}). Remove it to go on without the edits of groups.",
            file=path,
        ) from None
    return found


def write_edits(project: Path, edits: Sequence[GroupEdit]) -> None:
    entries = [
        {
            "edit": edit.kind,
            "groups": [
                {"name": g.name, "size": g.size, "documents": list(g.documents)}
                for g in edit.groups
            ],
        }
        for edit in edits
    ]
    text = json.dumps({"format": 1, "edits": entries}, ensure_ascii=False, indent=1)
    with atomic_write(project / GROUP_EDITS) as file:
        file.write(text.encode("utf-8", "replace") + b"\n")


def edits_key(folder: ProjectFolder) -> str | None:
    """The key of what the edits make of the groups; None without edits or groups."""
    path, entry = folder.path / GROUP_EDITS, folder.record["stages"].get("groups")
    if entry is None or not read_edits(folder.path):
        return None
    own = {"edits": digest(path.read_bytes())}
    return key_of(EDITED, VERSION, own, {"groups": entry["key"]})


def replay_edits(folder: ProjectFolder, context: "Context") -> None:
    """Apply the edits to the groups that the last run found. The caller holds the folder."""
    key = edits_key(folder)
    if key is None or context.found("groups").get("skipped") is not None:
        if EDITED in folder.record["stages"]:
            folder.drop({EDITED})
            folder.commit()
        return
    if folder.holds(EDITED, key):
        return
    from tacit.explore.stages.edited_groups import edit_groups
    from tacit.explore.stages.stage import write_output

    edits = read_edits(folder.path)
    made = edit_groups(context, edits)
    folder.keep(EDITED, key, lambda home: write_output(home, made))


def add_edit(
    folder: ProjectFolder, context: "Context", kind: str, groups: Sequence[int]
) -> None:
    """Edit the groups that are there now. The caller holds the folder."""
    facts, labels = context.facts("groups"), np.asarray(context.arrays("groups")["labels"])
    ids = context.documents().ids
    marks = []
    for group in groups:
        documents = [str(ids[row]) for row in np.flatnonzero(labels == group).tolist()]
        name = " · ".join(map(str, facts["groups"][group].get("name") or []))
        mark = mark_of(name, documents)
        marks.append(mark._replace(documents=tuple(documents)) if kind == "pin" else mark)
    edits = [*read_edits(folder.path), GroupEdit(kind, tuple(marks))]
    from tacit.explore.stages.edited_groups import edit_groups

    last = edit_groups(context, edits, describe=False).facts["edits"][-1]
    if not last["applies"]:
        raise ValueError(f"The groups cannot be edited so: {last['why']}.")
    write_edits(folder.path, edits)
    replay_edits(folder, context)


def undo_edit(folder: ProjectFolder, context: "Context") -> dict[str, Any] | None:
    """Take the last edit back; which it was, None if there is none. The caller holds the
    folder."""
    edits = read_edits(folder.path)
    if not edits:
        return None
    write_edits(folder.path, edits[:-1])
    replay_edits(folder, context)
    last = edits[-1]
    return {"edit": last.kind, "groups": [group.name for group in last.groups]}
