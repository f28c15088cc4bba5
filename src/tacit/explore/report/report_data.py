"""The numbers and arrays of the report, from what the stages found."""

from typing import Any, NamedTuple

import numpy as np

from tacit.explore.project.pipeline import stage_titles
from tacit.explore.report.clean_text import clean_line, cut
from tacit.explore.report.page_colors import SLOTS
from tacit.explore.report.report_groups import choice_of, groups_of
from tacit.explore.report.report_more import language_field, more_of
from tacit.explore.report.report_words import words_of
from tacit.explore.report.shown import LISTED, Shown, choose_documents, copies, packed, texts_of
from tacit.explore.report.slots import assign_slots
from tacit.explore.stages.ingest import RESERVED
from tacit.explore.stages.stage import Context

__all__ = ["ReportData", "collect_report"]

NEAREST = 6  # documents most like each
CELLS = 256  # of the density, along each side
CLOSEST = 12  # pairs of a small collection
FIELDS, FEWEST_KINDS, MOST_KINDS = 6, 2, 24  # columns to colour the map by, and their values
NONE = "(none)"


class ReportData(NamedTuple):
    """Everything the page is made of."""

    meta: dict[str, Any]
    arrays: dict[str, list[str]]
    texts: dict[str, list[str]]
    facts: dict[str, dict[str, Any]]  # of every stage, for the sentences
    rows: np.ndarray  # places in the collection of the documents on the page


def collect_report(context: Context, titles: int | None = None) -> ReportData:
    """Gather what the page needs from the stages of a project. ``titles`` is how many documents
    get a title, where that is fewer than usual."""
    facts = {name: context.facts(name) for name in stage_titles()}
    shown = choose_documents(context, facts, titles)
    efforts = context.folder.record.get("efforts")
    meta: dict[str, Any] = {"efforts": efforts if isinstance(efforts, dict) else {}}
    meta |= {"nslots": SLOTS, "n": shown.mapped, "near": 0, "wordNear": 0}
    arrays: dict[str, list[str]] = {}
    points = map_of(context, shown, meta, arrays)
    groups_of(context, shown, facts, points, meta, arrays)
    fields_of(context, shown, facts, points, meta, arrays)
    choice_of(context, shown, facts, meta, arrays)
    words_of(context, shown, facts, meta, arrays)
    oddities_of(context, shown, facts, meta)
    more_of(context, shown, facts, meta)
    return ReportData(meta, arrays, texts_of(context, shown), facts, shown.documents)


# --- The map ---


def map_of(context: Context, shown: Shown, meta: dict, arrays: dict) -> np.ndarray:
    """Places in the unit square, true neighbours and lengths; the places."""
    some = shown.documents[: shown.mapped]
    arrays["length"] = packed(np.zeros(0, np.int64))
    meta["lengths"] = [0, 0]
    if not len(some):
        arrays["xy"] = packed(np.zeros(0, np.int64))
        return np.zeros((0, 2))
    found = context.arrays("map")
    points = found["points"][some].astype(np.float64)
    every = found["points"][~context.arrays("meaning")["blank"]].astype(np.float64)
    low, high = every.min(axis=0), every.max(axis=0)
    middle, width = (low + high) / 2, max(float((high - low).max()), 1e-9)
    points = (points - middle) / width + 0.5
    if len(every) > len(some):
        arrays["density"] = packed(density((every - middle) / width + 0.5))
        meta["density"] = CELLS
    if shown.titled is not None:
        arrays |= {"titled": packed(shown.titled), "row": packed(shown.documents)}
        meta["worded"] = len(shown.worded)
    arrays["xy"] = packed(np.rint(np.clip(points, 0, 1) * 65535).astype(np.uint16))
    near_of = min(NEAREST, found["neighbors"].shape[1])
    places = np.full(found["points"].shape[0], -1, np.int64)
    places[some] = np.arange(len(some))
    worded = shown.worded
    near = places[found["neighbors"][worded, :near_of]]
    near = np.where(near < 0, places[worded][:, None], near)  # not on the page: itself
    alike = np.clip(1 - found["squares"][worded, :near_of] / 2, 0, 1)
    arrays["near"] = packed(near)
    arrays["nearSim"] = packed(np.rint(255 * alike).astype(np.uint8))
    lengths = context.arrays("counts")["lengths"][some]
    whole = shown.titled is None  # the page of a large collection has two bytes for a length
    arrays["length"] = packed(lengths if whole else np.minimum(lengths, 2**16 - 1))
    meta |= {"near": near_of, "lengths": [int(np.quantile(lengths, q)) for q in (0.02, 0.98)]}
    return points


def density(points: np.ndarray) -> np.ndarray:
    """How many points are in each cell of the map, row by row from below, 65,535 at most."""
    at = np.clip((points * CELLS).astype(np.int64), 0, CELLS - 1)
    found = np.bincount(at[:, 1] * CELLS + at[:, 0], minlength=CELLS * CELLS)
    return np.minimum(found, 2**16 - 1)


def fields_of(
    context: Context, shown: Shown, facts: dict, points: np.ndarray, meta: dict, arrays: dict
) -> None:
    """Columns that came along and have few enough values to colour the map by, and how far
    each agrees with the groups."""
    from tacit.measure import adjusted_rand_score

    documents = context.documents()
    some = shown.documents[: shown.mapped]
    dates = {name for name, role, _ in facts["fields"].get("columns", []) if role == "dates"}
    fields: list[dict[str, Any]] = []
    slots: list[list[int]] = []
    for name in documents.columns:
        if name in RESERVED or name in dates or not len(some) or len(fields) == FIELDS:
            continue
        values = documents.column(name)
        raw = set(values)
        if len(raw) > min(2 * MOST_KINDS, len(values) // 2):
            continue
        shown_as = {value: written(value) for value in raw}
        kinds = sorted(set(shown_as.values()), key=lambda kind: (kind == NONE, kind))
        if not FEWEST_KINDS <= len(kinds) <= MOST_KINDS:
            continue
        at = {kind: i for i, kind in enumerate(kinds)}
        every = np.array([at[shown_as[value]] for value in values], np.int64)
        arrays[f"field{len(fields)}"] = packed(every[some])
        field: dict[str, Any] = {"name": cut(clean_line(str(name)), 40), "values": kinds}
        if meta["grouped"]:
            labels = context.arrays("groups")["labels"]
            agreed = adjusted_rand_score(every[labels >= 0], labels[labels >= 0])
            field["agreement"] = round(float(agreed), 3)
        fields.append(field)
        slots.append(assign_slots(points, every[some], len(kinds)))
    spoken = language_field(context, facts) if len(some) else None
    if spoken is not None:
        name, kinds, every = spoken
        arrays[f"field{len(fields)}"] = packed(every[some])
        fields.append({"name": name, "values": kinds, "guessed": True})
        slots.append(assign_slots(points, every[some], len(kinds)))
    meta["fields"] = fields
    meta["slots"]["fields"] = slots


def written(value: Any) -> str:
    if value is None or value == "" or value != value:
        return NONE
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return cut(clean_line(str(value)), 60) or NONE


# --- Oddities ---


def oddities_of(context: Context, shown: Shown, facts: dict, meta: dict) -> None:
    """Copies, documents far from all others, and those with nothing to compare."""
    place = shown.place
    meta["copies"] = [
        {
            "name": kind.name,
            "count": kind.total,
            "pairs": [[place[a], place[b], share] for a, b, share in kind.pairs],
        }
        for kind in copies(context)
    ]
    far = facts["outliers"].get("outliers", [])
    meta["outliers"] = [[place[i], round(score, 2)] for i, score in far]
    off = shown.documents[shown.mapped :].tolist()
    blanks = []
    if shown.mapped:
        blank = context.arrays("meaning")["blank"]
        lengths = context.arrays("counts")["lengths"]
        blanks = [[place[i], int(lengths[i])] for i in off if blank[i]][:LISTED]
    meta["blanks"] = blanks
    meta["closest"] = []
    if shown.mapped and "skipped" in facts["groups"]:
        found = context.arrays("map")
        near, squares = found["neighbors"][:, :1], found["squares"][:, :1]
        pairs: dict[tuple[int, int], float] = {}
        for i in shown.documents[: shown.mapped].tolist():
            j = int(near[i, 0])
            if place.get(j, shown.mapped) < shown.mapped:
                pairs.setdefault((min(i, j), max(i, j)), float(squares[i, 0]))
        order = sorted(pairs, key=lambda pair: (pairs[pair], pair))
        meta["closest"] = [[place[i], place[j], None] for i, j in order[:CLOSEST]]
