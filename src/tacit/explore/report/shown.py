"""Which documents the page of a report has, and arrays as the page reads them.

The page shows documents by their place in ``Shown``: first those on the map, then those that
are only listed (empty ones, copies). Up to ``MOST_SHOWN`` documents are on the map; of larger
collections it shows an even sample of every group, and says so.
"""

import base64
from typing import Any, NamedTuple

import numpy as np

from tacit.explore.report.page_text import clean_line, cut, title_and_opening
from tacit.explore.stage import Context

__all__ = ["LISTED", "Copies", "Shown", "choose_documents", "copies", "packed", "texts_of"]

MOST_SHOWN = 25_000  # documents on the map
PAIRS, LISTED = 60, 60  # copies of each kind, and empty documents, in the lists
TITLES = ("title", "subject", "headline", "name", "heading")


class Shown(NamedTuple):
    """Which documents the page has, and where."""

    documents: np.ndarray  # their places in the collection
    mapped: int  # the first so many are on the map
    place: dict[int, int]  # from the collection to the page


def packed(values: np.ndarray) -> list[str]:
    """An array of whole numbers from 0 for the page: its type, and base64."""
    most = int(values.max(initial=0))
    kind = "u8" if most < 2**8 else "u16" if most < 2**16 else "u32"
    data = np.ascontiguousarray(values, dtype=f"<u{int(kind[1:]) // 8}")
    return [kind, base64.b64encode(data.tobytes()).decode()]


def choose_documents(context: Context, facts: dict[str, dict[str, Any]]) -> Shown:
    """An even sample of every group if there are too many, and all that are listed."""
    total = facts["ingest"]["documents"]
    on_map = np.zeros(0, np.int64)
    if "skipped" not in facts["map"]:
        on_map = np.flatnonzero(~context.arrays("meaning")["blank"])
    listed = listed_documents(context, facts, on_map)
    if len(on_map) > MOST_SHOWN:
        labels = np.zeros(total, np.int64)
        if "skipped" not in facts["groups"]:
            labels = context.arrays("groups")["labels"]
        order = on_map[np.argsort(labels[on_map], kind="stable")]
        even = np.linspace(0, len(order) - 1, MOST_SHOWN).astype(int)
        wanted = np.union1d(order[even], np.array(listed, np.int64))
        on_map = wanted[np.isin(wanted, on_map)]
    inside = set(on_map.tolist())
    documents = on_map.tolist() + sorted(set(listed) - inside)
    place = {document: i for i, document in enumerate(documents)}
    return Shown(np.array(documents, np.int64), len(on_map), place)


def listed_documents(context: Context, facts: dict, on_map: np.ndarray) -> list[int]:
    found: list[int] = []
    for group in facts["groups"].get("groups", []):
        found += group["typical"] + [i for i, _ in group["doubtful"]]
    for kind in copies(context):
        found += [i for a, b, _ in kind.pairs for i in (a, b)]
    found += [i for i, _ in facts["outliers"].get("outliers", [])]
    total = facts["ingest"]["documents"]
    off = np.setdiff1d(np.arange(total), on_map, assume_unique=True)
    return found + off[:LISTED].tolist()


def texts_of(context: Context, shown: Shown) -> dict[str, list[str]]:
    """Titles, openings and names of the documents on the page."""
    documents = context.documents()
    titles = title_column(documents)
    wanted = set(shown.place)
    found: dict[int, tuple[str, str]] = {}
    for i, text in enumerate(documents.texts()):
        if i in wanted:
            found[i] = title_and_opening(text, None if titles is None else titles[i])
    ids = documents.ids
    order = shown.documents.tolist()
    return {
        "t": [found[i][0] for i in order],
        "s": [found[i][1] for i in order],
        "id": [cut(clean_line(str(ids[i])), 120) for i in order],
    }


def title_column(documents: Any) -> list[str | None] | None:
    for name in documents.columns:
        if str(name).lower() in TITLES:
            values = documents.column(name)
            return [None if value is None else str(value) for value in values]
    return None


class Copies(NamedTuple):
    """Pairs of one kind: how many, and the first of them."""

    name: str
    total: int
    pairs: list[tuple[int, int, float]]  # two documents and the share they have in common


def copies(context: Context) -> list[Copies]:
    """Pairs that are the same, and pairs that nearly are, the most alike first."""
    found = context.arrays("duplicates")
    share = found["jaccard"]
    same = np.flatnonzero(share == 1)
    near = np.flatnonzero(share < 1)
    near = near[np.argsort(-share[near], kind="stable")]
    return [
        Copies(
            name,
            len(which),
            [
                (
                    int(found["pairs"][i, 0]),
                    int(found["pairs"][i, 1]),
                    round(float(share[i]), 3),
                )
                for i in which[:PAIRS]
            ],
        )
        for name, which in (("Word for word", same), ("Near copies", near))
    ]
