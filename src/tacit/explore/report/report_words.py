"""The words as the page shows them: to look up, to tell groups by, and how they are spread."""

import numpy as np
import scipy.sparse as sp

from tacit.explore.report.clean_text import clean_line
from tacit.explore.report.report_groups import tree_order
from tacit.explore.report.shown import Shown, packed
from tacit.explore.stages.stage import Context

__all__ = ["words_of"]

DISTINCT, TOP = 24, 40  # words


def words_of(context: Context, shown: Shown, facts: dict, meta: dict, arrays: dict) -> None:
    """Words that can be looked up, in which documents they are, and how words are spread."""
    counted = facts["counts"]
    meta |= {"terms": [], "termDf": [], "termTf": [], "distinct": [], "word0": ""}
    meta |= {"zipf": [], "heaps": [], "zipfSlope": None, "heapsSlope": None, "top": []}
    arrays |= {"post": packed(np.zeros(0, int)), "postOff": packed(np.zeros(1, int))}
    if "skipped" in counted:
        return
    meta |= {
        "zipf": counted["zipf"],
        "heaps": counted["heaps"],
        "zipfSlope": slope(counted["zipf"], 10),
        "heapsSlope": slope(counted["heaps"], 100),
        "top": [[clean_line(w), uses, spread] for w, uses, spread in counted["top"][:TOP]],
    }
    if "skipped" in facts["words"] or not shown.mapped:
        return
    found, totals = context.arrays("words"), context.arrays("counts")
    columns = found["words"]
    names = [clean_line(str(word)) for word in context.words()[columns]]
    meta |= {
        "terms": names,
        "termDf": totals["document_counts"][columns].tolist(),
        "termTf": totals["totals"][columns].tolist(),
        "wordNear": found["neighbors"].shape[1],
    }
    arrays["wordNear"] = packed(found["neighbors"].astype(np.int64))
    arrays["wordSim"] = packed(np.rint(255 * np.clip(found["cosine"], 0, 1)).astype(np.uint8))
    counts = context.matrix("counts", "counts")
    table = sp.csr_array(counts[shown.worded][:, columns])
    table.sort_indices()
    arrays["post"], arrays["postOff"] = gaps(table)
    if meta["grouped"]:
        meta["distinct"] = giving_away(context, facts, columns, names)
        best = meta["groups"][meta["firstG"]]
        meta["word0"] = next((w for w, *_ in best["words"] if w in set(names)), names[0])
    else:
        meta["word0"] = names[int(np.argmax(meta["termDf"]))]


def gaps(table: sp.csr_array) -> tuple[list[str], list[str]]:
    """The columns of every row as gaps of 7 bits a byte, and where the rows begin."""
    starts = np.diff(table.indptr)
    previous = np.empty(len(table.indices), np.int64)
    previous[1:] = table.indices[:-1]
    previous[table.indptr[:-1][starts > 0]] = -1
    gap = table.indices - previous - 1
    long = gap >= 128  # words shown are some thousands: two bytes are enough
    edges = np.concatenate([[0], np.cumsum(1 + long)])
    out = np.zeros(edges[-1], np.uint8)
    out[edges[:-1]] = (gap & 127) | (long << 7)
    out[edges[:-1][long] + 1] = gap[long] >> 7
    return packed(out), packed(edges[table.indptr])


def giving_away(context: Context, facts: dict, columns: np.ndarray, names: list[str]) -> list:
    """Words most of whose documents are in one group: [word, group, inside, in all]."""
    labels = context.arrays("groups")["labels"]
    inside = np.flatnonzero(labels >= 0)
    k = len(facts["groups"]["groups"])
    order, _ = tree_order(facts["groups"]["tree"], k)
    counts = sp.csr_array(context.matrix("counts", "counts")[inside][:, columns])
    counts.data = np.ones_like(counts.data)
    one = sp.csr_array(
        (np.ones(len(inside)), (np.arange(len(inside)), labels[inside])), (len(inside), k)
    )
    by = (counts.T @ one).toarray()
    total = by.sum(axis=1)
    score = np.where(by >= 5, by / np.maximum(total, 1)[:, None] * np.sqrt(by), 0)
    score[by < 0.5 * total[:, None]] = 0
    ranked = np.argsort(-score, axis=0, kind="stable")
    found: list[list] = []
    for rank in range(min(len(names), DISTINCT)):
        for place, g in enumerate(order):
            word = ranked[rank, g]
            if score[word, g] > 0 and len(found) < DISTINCT:
                found.append([names[word], place, int(by[word, g]), int(total[word])])
    return sorted(found, key=lambda item: -item[2] / item[3])


def slope(curve: list[list[int]], least: int) -> float | None:
    """Of the line through a curve on logarithmic axes, past its beginning."""
    points = [(x, y) for x, y in curve if x >= least and y > 0]
    if len(points) < 5:
        return None
    x, y = np.log(np.array(points, np.float64)).T
    return round(float(np.polyfit(x, y, 1)[0]), 3) if np.ptp(x) > 0 else None
