"""What the sections of the report read, and what they add for the scripts of the page."""

from functools import cached_property
from typing import Any

import numpy as np

from tacit.explore.project.pipeline import result_hash, stage_titles
from tacit.explore.report.colors import SLOTS
from tacit.explore.report.page_documents import choose_documents, packed
from tacit.explore.stages.stage import Context

__all__ = ["Report", "tree_order"]


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
        self.meta: dict[str, Any] = {"nslots": SLOTS, "n": self.shown.mapped, "slots": {}}
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
    def grouped(self) -> bool:
        """Whether there are several groups on a map."""
        return len(self.facts["groups"].get("groups", [])) > 1 and self.shown.mapped > 0

    @cached_property
    def tree(self) -> tuple[list[int], list[list[float]]]:
        """The groups in the order of the tree's leaves, and its merges in that order."""
        found = self.facts["groups"]
        return tree_order(found["tree"], len(found["groups"]))

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
