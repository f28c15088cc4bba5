"""The labels of a project without a server: who has which, given and changed from Python."""

import contextlib
import errno
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tacit.core.errors import Locked
from tacit.explore.server.labels import LABELS, Key, Labels, fingerprint_of
from tacit.explore.server.owners import Ownership, holder_of

__all__ = ["change_labels", "keys_of_rows", "label_rows", "places_of", "rows_of_keys"]


@contextlib.contextmanager
def change_labels(project: Path) -> Iterator[Labels]:
    """The labels, to change; an error while a server keeps them."""
    owner = Ownership(project)
    reason = owner.take()
    if reason is not None and holder_of(owner.path) is None:
        raise PermissionError(errno.EACCES, f"Labels cannot be changed: {reason}", str(project))
    if reason is not None:
        raise Locked(
            f"The labels of {project} cannot be changed: {reason}. Change them in its page, or "
            "end it first."
        )
    try:
        with contextlib.closing(Labels(project / LABELS)) as labels:
            yield labels
    finally:
        owner.close()


def label_rows(project: Path, live: Any) -> dict[int, str]:
    """The label of every row that has one."""
    with contextlib.closing(Labels(project / LABELS)) as labels:
        kept = labels.all()
    found = rows_of_keys(live, places_of(live), kept)
    return {row: kept[key] for key, row in sorted(found.items(), key=lambda each: each[1])}


def keys_of_rows(live: Any, rows: list[int]) -> list[Key]:
    """What labels of these rows belong to."""
    texts = live.texts(rows)
    return [
        Key(live.id_of(row), fingerprint_of(text))
        for row, text in zip(rows, texts, strict=True)
    ]


def places_of(live: Any) -> dict[str, int]:
    """The row of every id."""
    return {str(id): row for row, id in enumerate(live.table["id"].to_pylist())}


def rows_of_keys(live: Any, places: Mapping[str, int], keys: Iterable[Key]) -> dict[Key, int]:
    """The rows of these keys, without those whose document is gone or changed."""
    there = [key for key in keys if key.id in places]
    rows = [places[key.id] for key in there]
    return {
        key: row
        for key, row, text in zip(there, rows, live.texts(rows), strict=True)
        if fingerprint_of(text) == key.print
    }
