"""How documents read, what their columns say and how they run through time, for the page."""

from typing import Any

import numpy as np

from tacit.explore.report.clean_text import clean_line, cut
from tacit.explore.report.report_groups import tree_order
from tacit.explore.report.shown import Shown
from tacit.explore.stages.fields import NONE
from tacit.explore.stages.languages import UNKNOWN
from tacit.explore.stages.reading import MEASURES, quartiles
from tacit.explore.stages.stage import Context
from tacit.explore.stages.time import false_discoveries

__all__ = ["language_field", "more_of", "relate"]

GUESSED = "Language (guessed)"
LEAST_SPOKEN = 0.005  # of the documents, and two of them: less may be slips of the guess
THIRDS = 3


def more_of(context: Context, shown: Shown, facts: dict, meta: dict) -> None:
    """Add the sections that depend on what came along with the documents."""
    labels = group_labels(context, facts, meta)
    meta["reading"] = reading_of(context, facts, meta, labels)
    meta["columns"] = columns_of(context, facts, meta, labels)
    meta["languages"] = languages_of(context, facts, labels)
    meta["time"] = time_of(context, facts, meta, labels)


def group_labels(context: Context, facts: dict, meta: dict) -> np.ndarray | None:
    """The group of every document, groups in the order of the tree; -1 for none."""
    if not meta["grouped"]:
        return None
    k = len(facts["groups"]["groups"])
    order, _ = tree_order(facts["groups"]["tree"], k)
    place = np.full(k + 1, -1, np.int64)
    place[order] = np.arange(k)
    return place[context.arrays("groups")["labels"]]


# --- How documents read ---


def reading_of(
    context: Context, facts: dict, meta: dict, labels: np.ndarray | None
) -> dict[str, Any] | None:
    """Quantiles of every measure over all documents, and by group."""
    if "skipped" in facts["reading"]:
        return None
    found = context.arrays("reading")
    rows = {}
    for name in MEASURES:
        every = facts["reading"]["measures"][name]
        if every is None:
            continue
        by = []
        if labels is not None:
            parts = [quartiles(found[name][labels == g]) for g in range(meta["K"])]
            by = [part and part["at"] for part in parts]
        rows[name] = {"n": every["documents"], "at": every["at"], "groups": by}
    return rows or None


# --- Columns ---


def relate(codes: np.ndarray, labels: np.ndarray, kinds: int, k: int) -> dict[str, Any]:
    """How far groups and the values of a column tell each other: V-measure, the same adjusted
    for chance, and a table of counts. Both -1 for none."""
    from tacit.measure import adjusted_mutual_info_score, homogeneity_completeness_v_measure

    both = (labels >= 0) & (codes >= 0)
    table = np.zeros((kinds, k), np.int64)
    np.add.at(table, (codes[both], labels[both]), 1)
    if (table.sum(axis=1) > 0).sum() < 2:
        return {"v": None, "table": table.tolist()}
    same, whole, v = homogeneity_completeness_v_measure(codes[both], labels[both])
    beyond = adjusted_mutual_info_score(codes[both], labels[both])
    return {
        "v": round(float(v), 3),
        "homogeneity": round(float(same), 3),
        "completeness": round(float(whole), 3),
        "adjusted": round(float(beyond), 3),
        "table": table.tolist(),
    }


def columns_of(
    context: Context, facts: dict, meta: dict, labels: np.ndarray | None
) -> list[dict[str, Any]]:
    """Each column with few values: its values, their words, and their groups."""
    if "skipped" in facts["fields"]:
        return []
    out = []
    for i, field in enumerate(facts["fields"]["fields"]):
        column: dict[str, Any] = {
            "name": cut(clean_line(field["name"]), 40),
            "values": field["values"],
            "sizes": field["sizes"],
            "words": [
                [[clean_line(word), p, q] for word, p, q in words] for words in field["words"]
            ],
        }
        if labels is not None:
            codes = context.arrays("fields")[f"field{i}"].astype(np.int64)
            if NONE in field["values"]:
                codes[codes == field["values"].index(NONE)] = -1
            column |= relate(codes, labels, len(field["values"]), meta["K"])
        out.append(column)
    return out


def languages_of(
    context: Context, facts: dict, labels: np.ndarray | None
) -> dict[str, Any] | None:
    """The languages of the collection, and how far groups follow them."""
    found = facts["language_guess"]
    if "skipped" in found or not found["languages"]:
        return None
    out = {"listed": found["languages"], "unknown": found["unknown"], "n": found["documents"]}
    if labels is not None and len(spoken(found)) > 1:
        guess = context.arrays("language_guess")["language"].astype(np.int64)
        codes = np.where(guess == UNKNOWN, -1, guess)
        out["adjusted"] = relate(codes, labels, UNKNOWN, int(labels.max()) + 1).get("adjusted")
    return out


def spoken(found: dict[str, Any]) -> list[list[Any]]:
    """The languages of more documents than may be slips."""
    least = max(2, LEAST_SPOKEN * found["documents"])
    return [each for each in found["languages"] if each[2] >= least]


def language_field(context: Context, facts: dict) -> tuple[str, list[str], np.ndarray] | None:
    """The guess as a field to colour by: its name, its values, and that of every document; None
    where there is one language only."""
    found = facts["language_guess"]
    if "skipped" in found or len(listed := spoken(found)) < 2:
        return None
    guess = context.arrays("language_guess")["language"]
    names = [name for _, name, _ in listed]
    place = np.full(UNKNOWN + 1, len(names), np.int64)
    for i, (code, *_) in enumerate(listed):
        place[found["codes"].index(code)] = i
    every = place[guess]
    if (every == len(names)).any():
        names.append("unknown")
    return GUESSED, names, every


# --- Time ---


def time_of(
    context: Context, facts: dict, meta: dict, labels: np.ndarray | None
) -> dict[str, Any] | None:
    """Documents of every period, the groups among them, and words that rise and fall."""
    found = facts["time"]
    if "skipped" in found or "periods" not in found:
        return None
    stage = context.arrays("time")
    period = stage["period"]
    names = found["periods"]
    out: dict[str, Any] = {
        "source": cut(clean_line(found["source"]), 40),
        "unit": found["unit"],
        "periods": names,
        "sizes": found["sizes"],
        "rising": cleaned(found["rising"]),
        "falling": cleaned(found["falling"]),
        "asked": found["asked"],
        "found": found["found"],
    }
    if labels is not None:
        both = np.flatnonzero((period >= 0) & (labels >= 0))
        table = np.zeros((meta["K"], len(names)), np.int64)
        np.add.at(table, (labels[both], period[both]), 1)
        out["groups"] = table.tolist()
        out |= moving_groups(stage["day"][both], labels[both], meta["K"])
    return out


def cleaned(words: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**each, "word": clean_line(each["word"])} for each in words]


def moving_groups(days: np.ndarray, labels: np.ndarray, k: int) -> dict[str, Any]:
    """Each group's share of the first and of the last third of the documents, and whether it
    grows (1), shrinks (-1) or does neither for sure (0)."""
    import scipy.sparse as sp

    from tacit.explore.stages.time import ranks, trend

    n = len(days)
    third = max(1, n // THIRDS)
    order = np.argsort(days, kind="stable")
    ends = [np.bincount(labels[some], minlength=k) / third
            for some in (order[:third], order[-third:])]  # fmt: skip
    member = sp.csr_array((np.ones(n), (np.arange(n), labels)), shape=(n, k))
    score = trend(member, ranks(days), np.zeros(n, np.int64))
    sure = false_discoveries(score, 0.05)
    return {
        "early": [round(float(v), 4) for v in ends[0]],
        "late": [round(float(v), 4) for v in ends[1]],
        "moves": [int(np.sign(s)) if yes else 0 for s, yes in zip(score, sure, strict=True)],
    }
