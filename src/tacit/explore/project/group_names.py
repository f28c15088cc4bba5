"""Names that a user gave to groups: kept in the project, and given again after every run.

A run may find other groups, so a name is kept with documents that its group had: it goes to the
group, of any level, that overlaps most with the one that was named, if that is half at least.
``group_names.json`` is written whole or not at all.
"""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tacit.core.atomic import atomic_write
from tacit.core.errors import DataError

__all__ = [
    "GROUP_NAMES", "GivenName", "give_name", "mark_of", "read_names", "with_given_names",
]  # fmt: skip

GROUP_NAMES = "group_names.json"
KEPT = 200  # documents that stand for a group
HALF = 0.5
MOST = 10_000  # names
MOST_BYTES = 2**26


class GivenName(NamedTuple):
    """A name, the size of the group that got it, and some of its documents, by id."""

    name: str
    size: int
    documents: tuple[str, ...]


def read_names(project: Path) -> list[GivenName]:
    """The names that were given, in the order they were given. A stranger may have written
    the file: whatever is not as it should be is an error."""
    path = project / GROUP_NAMES
    if not path.exists():
        return []
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ValueError("it is too large")
        entries = json.loads(path.read_bytes())["names"]
        found = [
            GivenName(each["name"], each["size"], tuple(each["documents"]))
            for each in entries[:MOST]
        ]
        for each in found:
            texts = (each.name, *each.documents)
            if not all(isinstance(t, str) for t in texts) or not isinstance(each.size, int):
                raise ValueError("a name is not text")
    except (ValueError, KeyError, TypeError, UnicodeDecodeError) as error:
        raise DataError(
            f"is damaged ({str(error)[:80]}). Remove it to go on without the names that were "
            "given to groups.",
            file=path,
        ) from None
    return found


def mark_of(name: str, documents: Sequence[str]) -> GivenName:
    """What stands for a group that has these documents."""
    step = max(1, len(documents) // KEPT)
    return GivenName(name, len(documents), tuple(documents[::step][:KEPT]))


def give_name(project: Path, name: str | None, documents: Sequence[str]) -> None:
    """Keep a name for the group that has these documents; None takes it away."""
    own = set(documents)
    before = ((each, sum(d in own for d in each.documents)) for each in read_names(project))
    kept = [each for each, shared in before if overlap(shared, each, len(own)) < HALF]
    if name is not None:
        kept.append(mark_of(name, documents))
    entries = [{"name": n, "size": s, "documents": list(d)} for n, s, d in kept]
    text = json.dumps({"format": 1, "names": entries}, ensure_ascii=False, indent=1)
    with atomic_write(project / GROUP_NAMES) as file:
        file.write(text.encode("utf-8", "replace") + b"\n")


def overlap(shared: int, given: GivenName, size: int) -> float:
    """The Jaccard overlap of a group with the one that was named, estimated from the kept
    documents that it holds."""
    both = shared / max(len(given.documents), 1) * given.size
    return both / max(given.size + size - both, 1)


def with_given_names(
    facts: dict[str, Any], given: list[GivenName], ids: Sequence[Any],
    labels: np.ndarray, leaf: np.ndarray | None,
) -> dict[str, Any]:  # fmt: skip
    """The facts of groups with the names that were given to them."""
    groups = [dict(group) for group in facts.get("groups", [])]
    nodes = [dict(node) for node in facts.get("nodes", [])]
    wanted = {document for each in given for document in each.documents}
    row_of = {str(each): row for row, each in enumerate(ids) if str(each) in wanted}
    for each in given:
        rows = [row_of[document] for document in each.documents if document in row_of]
        at = Counter(int(labels[row]) for row in rows)
        rename(groups, each, {g: at[g] for g in range(len(groups))})
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


def rename(groups: list[dict[str, Any]], given: GivenName, shared: Any) -> None:
    scores = [overlap(shared[g], given, int(group["size"])) for g, group in enumerate(groups)]
    best = int(np.argmax(scores)) if scores else 0
    if scores and scores[best] >= HALF:
        groups[best]["name"] = [given.name]
        groups[best]["renamed"] = True
