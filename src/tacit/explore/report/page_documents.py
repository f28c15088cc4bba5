"""Which documents the page of a report has, and arrays as the page reads them.

The page shows documents by their place in ``Shown``: first those on the map, then those that
are only listed (empty ones, copies). A page has to stay small, so of large collections

- over ``MOST_TITLED`` documents: all are on the map with their groups; titles, openings, words
  and neighbours are there for an even sample of every group and for all that are listed;
- over ``MOST_PLACED``: that sample alone is on the map, over the density of all of them.

The page says so.
"""

import base64
from typing import Any, NamedTuple

import numpy as np

from tacit.explore.report.clean_text import clean_line, cut, title_and_opening
from tacit.explore.stages.stage import Context

__all__ = ["LISTED", "Copies", "Shown", "choose_documents", "copies", "packed", "texts_of"]

MOST_TITLED = 25_000  # documents with their titles, openings and words
SAMPLE = 20_000  # of those with titles, where not all have them
MOST_PLACED = 200_000  # documents on the map
PAIRS, LISTED = 60, 60  # copies of each kind, and empty documents, in the lists
TITLES = ("title", "subject", "headline", "name", "heading")


class Shown(NamedTuple):
    """Which documents the page has, and where."""

    documents: np.ndarray  # their places in the collection
    mapped: int  # how many are on the map; they come first
    place: dict[int, int]  # from the collection to the page
    titled: np.ndarray | None = None  # places on the page with title and words; None is all

    @property
    def on_map(self) -> np.ndarray:
        """The documents on the map."""
        return self.documents[: self.mapped]

    @property
    def worded(self) -> np.ndarray:
        """The documents on the map that have their words on the page."""
        if self.titled is None:
            return self.on_map
        return self.documents[self.titled[self.titled < self.mapped]]


def packed(values: np.ndarray) -> list[str]:
    """An array of whole numbers from 0 for the page: its type, and base64."""
    most = int(values.max(initial=0))
    kind = "u8" if most < 2**8 else "u16" if most < 2**16 else "u32"
    data = np.ascontiguousarray(values, dtype=f"<u{int(kind[1:]) // 8}")
    return [kind, base64.b64encode(data.tobytes()).decode()]


def choose_documents(
    context: Context, facts: dict[str, dict[str, Any]], most: int | None = None
) -> Shown:
    """All documents that fit; an even sample of every group, and all that are listed, where
    they do not. ``most`` is how many get a title, where that is fewer than usual."""
    total = facts["ingest"]["documents"]
    on_map = np.zeros(0, np.int64)
    if "skipped" not in facts["map"]:
        on_map = np.flatnonzero(~context.arrays("meaning")["blank"])
    listed = listed_documents(context, facts, on_map)
    known, sampled = np.array(sorted(set(listed)), np.int64), None
    if len(on_map) > (most or MOST_TITLED):
        labels = np.zeros(total, np.int64)
        if "skipped" not in facts["groups"]:
            labels = context.arrays("groups")["labels"]
        order = on_map[np.argsort(labels[on_map], kind="stable")]
        even = np.linspace(0, len(order) - 1, min(most or SAMPLE, len(order))).astype(int)
        sampled = np.union1d(order[even], np.intersect1d(known, on_map))
    if len(on_map) > MOST_PLACED and sampled is not None:
        on_map, sampled = sampled, None
    documents = np.concatenate([on_map, np.setdiff1d(known, on_map)])
    place = {document: i for i, document in enumerate(documents.tolist())}
    titled = None
    if sampled is not None:
        off = np.arange(len(on_map), len(documents))
        titled = np.concatenate([np.searchsorted(on_map, sampled), off])
    return Shown(documents, len(on_map), place, titled)


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
    order = shown.documents if shown.titled is None else shown.documents[shown.titled]
    wanted = set(order.tolist())
    found: dict[int, tuple[str, str]] = {}
    for i, text in enumerate(documents.texts()):
        if i in wanted:
            found[i] = title_and_opening(text, None if titles is None else titles[i])
    ids = documents.ids
    return {
        "t": [found[i][0] for i in order.tolist()],
        "s": [found[i][1] for i in order.tolist()],
        "id": [cut(clean_line(str(ids[i])), 120) for i in order.tolist()],
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
    pairs: list[tuple[int, int, float]]  # two documents and their overlap


def copies(context: Context) -> list[Copies]:
    """Pairs that are the same, and pairs that nearly are, the most alike first."""
    if context.skipped("duplicates"):
        return [Copies(name, 0, []) for name in ("Word for word", "Near copies")]
    found = context.arrays("duplicates")
    overlap = found["jaccard"]
    same = np.flatnonzero(overlap == 1)
    near = np.flatnonzero(overlap < 1)
    near = near[np.argsort(-overlap[near], kind="stable")]
    pairs = found["pairs"].tolist()
    return [
        Copies(
            name, len(which), [(*pairs[i], round(float(overlap[i]), 3)) for i in which[:PAIRS]]
        )
        for name, which in (("Word for word", same), ("Near copies", near))
    ]
