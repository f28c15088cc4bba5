"""What the sections of the report read, and what they add for the scripts of the page.

The page shows documents by their place in ``Shown``: first those on the map, then those that
are only listed (empty ones, copies). A page has to stay small, so of large collections

- over ``MOST_TITLED`` documents: all are on the map with their groups; titles, openings, words
  and neighbours are there for an even sample of every group and for all that are listed;
- over ``MOST_PLACED``: that sample alone is on the map, over the density of all of them.

The page says so.
"""

import base64
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from tacit.explore.project.pipeline import result_hash, stage_titles
from tacit.explore.report.clean_text import (
    clean_line,
    cut,
    given_titles,
    title_and_opening,
)
from tacit.explore.report.colors import SLOTS
from tacit.explore.stages.stage import Context

__all__ = ["LISTED", "Report", "Shown", "copies", "copy_sets", "texts_of", "tree_order"]

MOST_TITLED = 25_000  # documents with their titles, openings and words
SAMPLE = 20_000  # of those with titles, where not all have them
MOST_PLACED = 200_000  # documents on the map
SETS, SET_SHOWN = 60, 40  # sets of copies in the list, and documents of each
WITHOUT_SPACES = ("zh", "ja", "th")
PAIRS, LISTED = 60, 60  # copies of each kind, and empty documents, in the lists


class Report:
    """The facts of all stages, the documents on the page, and ``meta`` and ``arrays``, which
    the scripts of the page read.

    ``titles`` is how many documents get a title, where that is fewer than usual; ``live`` adds
    what needs a server.
    """

    def __init__(
        self, context: Context, *, live: bool = False, titles: int | None = None
    ) -> None:
        self.context, self.settings = context, context.settings
        self.facts = {name: context.facts(name) for name in stage_titles()}
        self.n_read: int = self.facts["ingest"]["documents"]
        self.live = live and self.n_read > 0
        self.shown = choose_documents(context, self.facts, titles)
        self.meta: dict[str, Any] = {"nslots": SLOTS, "n": self.shown.mapped, "slots": {},
                                     "redacted": False}
        self.arrays: dict[str, list[str]] = {}

    def add_array(self, name: str, values: np.ndarray) -> None:
        """Give the scripts an array of whole numbers."""
        self.arrays[name] = packed(values)

    def ran(self, stage: str) -> bool:
        """Whether a stage ran and had something to find."""
        return "skipped" not in self.facts[stage]

    @property
    def name(self) -> str:
        """The project's name, after its folder."""
        return self.context.folder.path.resolve().name.removesuffix(".tacit") or "Report"

    @cached_property
    def result(self) -> str:
        """The hash of everything the stages found."""
        return result_hash(self.context.folder)

    @property
    def unspaced(self) -> bool:
        """Whether most documents are in a language that is written without spaces."""
        guess = self.facts["language_guess"]
        some = sum(n for code, _, n in guess.get("languages", []) if code in WITHOUT_SPACES)
        return 2 * some > guess.get("documents", 0)

    @property
    def grouped(self) -> bool:
        """Whether there are several groups on a map."""
        return len(self.facts["groups"].get("groups", [])) > 1 and self.shown.mapped > 0

    @cached_property
    def tree(self) -> tuple[list[int], list[list[float]]]:
        """The groups in the order of the tree's leaves, and its merges in that order."""
        facts = self.facts["groups"]
        return tree_order(facts["tree"], len(facts["groups"]))

    @cached_property
    def labels(self) -> np.ndarray | None:
        """The group of every document in the order of the tree, -1 for none; None where there
        are no groups."""
        if not self.grouped:
            return None
        order, _ = self.tree
        place = np.full(len(order) + 1, -1, np.int64)
        place[order] = np.arange(len(order))
        return place[self.context.arrays("groups")["labels"]]

    def groups(self, verdict: str | None = None) -> list[tuple[int, dict[str, Any]]]:
        """Groups with a verdict and their places, the largest first."""
        every = list(enumerate(self.meta["groups"])) if self.grouped else []
        some = [(i, g) for i, g in every if verdict in (None, g["lvl"])]
        return sorted(some, key=lambda item: -item[1]["n"])

    @cached_property
    def points(self) -> np.ndarray:
        """The documents on the map, in the unit square."""
        if not self.shown.mapped:
            return np.zeros((0, 2))
        points, (middle, width) = self.context.arrays("map")["points"], self.square
        return (points[self.shown.on_map].astype(np.float64) - middle) / width + 0.5

    @cached_property
    def square(self) -> tuple[np.ndarray, float]:
        """The middle and the width of the map of all documents."""
        points = self.context.arrays("map")["points"]
        every = points[~self.context.arrays("meaning")["blank"]].astype(np.float64)
        low, high = every.min(axis=0), every.max(axis=0)
        return (low + high) / 2, max(float((high - low).max()), 1e-9)


def tree_order(tree: list[list[float]], k: int) -> tuple[list[int], list[list[float]]]:
    """The leaves from top to bottom, and the merges with leaves named by that order."""
    from tacit.cluster import leaves

    order = [int(i) for i in leaves(np.asarray(tree, np.float64))]
    place = {leaf: i for i, leaf in enumerate(order)}
    merges = [
        [place.get(int(a), int(a)), place.get(int(b), int(b)), round(h, 4)]
        for a, b, h, _ in tree
    ]
    return order, merges


# --- Documents on the page ---


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
    documents: list[int] = []
    for group in facts["groups"].get("groups", []):
        documents += group["typical"] + [i for i, _ in group["doubtful"]]
    for kind in copies(context):
        documents += [i for a, b, _ in kind.pairs for i in (a, b)]
    documents += [i for each in copy_sets(context)[0] for i in each.documents]
    for theme in facts["themes"].get("themes", []):
        documents += [i for i, _ in theme["typical"]]
    documents += [i for i, *_ in facts["outliers"].get("outliers", [])]
    total = facts["ingest"]["documents"]
    off = np.setdiff1d(np.arange(total), on_map, assume_unique=True)
    return documents + off[:LISTED].tolist()


def texts_of(context: Context, shown: Shown) -> dict[str, list[str]]:
    """Titles, openings and names of the documents on the page."""
    documents = context.documents()
    titles = given_titles(documents)
    order = shown.documents if shown.titled is None else shown.documents[shown.titled]
    wanted = set(order.tolist())
    openings: dict[int, tuple[str, str]] = {}
    for i, text in enumerate(documents.texts()):
        if i in wanted:
            openings[i] = title_and_opening(text, None if titles is None else titles[i])
    ids = documents.ids
    return {
        "t": [openings[i][0] for i in order.tolist()],
        "s": [openings[i][1] for i in order.tolist()],
        "id": [cut(clean_line(str(ids[i])), 120) for i in order.tolist()],
    }


class CopySet(NamedTuple):
    """Documents with the same text, or nearly: connected by pairs that overlap."""

    documents: list[int]  # the first of them
    total: int
    exact: bool  # all of them word for word


def copy_sets(context: Context) -> tuple[list[CopySet], int]:
    """The sets of copies, the largest first, and how many there are."""
    if context.skipped("duplicates"):
        return [], 0
    arrays = context.arrays("duplicates")
    labels = np.asarray(arrays["labels"], np.int64)
    inside = np.flatnonzero(labels >= 0)
    if not len(inside):
        return [], 0
    sizes = np.bincount(labels[inside])
    near = labels[arrays["pairs"][arrays["jaccard"] < 1, 0]] if len(arrays["pairs"]) else []
    inexact = set(np.asarray(near, np.int64).tolist())
    order = np.argsort(-sizes, kind="stable")[:SETS]
    by_label = inside[np.argsort(labels[inside], kind="stable")]
    edges = np.concatenate([[0], np.cumsum(sizes)])
    sets = [
        CopySet(
            by_label[edges[s] : edges[s + 1]][:SET_SHOWN].tolist(), int(sizes[s]),
            int(s) not in inexact,
        )
        for s in order.tolist()
        if sizes[s]
    ]  # fmt: skip
    return sets, int((sizes > 0).sum())


class Copies(NamedTuple):
    """Pairs of one kind: how many, and the first of them."""

    name: str
    total: int
    pairs: list[tuple[int, int, float]]  # two documents and their overlap


def copies(context: Context) -> list[Copies]:
    """Pairs that are the same, and pairs that nearly are, the most alike first; without those
    in sets of three or more."""
    if context.skipped("duplicates"):
        return [Copies(name, 0, []) for name in ("Word for word", "Near copies")]
    arrays = context.arrays("duplicates")
    overlap, labels = arrays["jaccard"], arrays["labels"]
    sizes = np.bincount(labels[labels >= 0], minlength=1)
    alone = sizes[labels[arrays["pairs"][:, 0]]] < 3
    same = np.flatnonzero(alone & (overlap == 1))
    near = np.flatnonzero(alone & (overlap < 1))
    near = near[np.argsort(-overlap[near], kind="stable")]
    pairs = arrays["pairs"].tolist()
    return [
        Copies(
            name, len(which), [(*pairs[i], round(float(overlap[i]), 3)) for i in which[:PAIRS]]
        )
        for name, which in (("Word for word", same), ("Near copies", near))
    ]
