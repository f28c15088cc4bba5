"""Columns that came along: the words that set apart the documents with one value from those
with another."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from tacit.explore.stage import Context, Output
from tacit.explore.stages.column_kinds import NONE, Column, columns_of
from tacit.explore.stages.meaning_stage import use_words

__all__ = ["compare_fields"]

WORDS = 8  # of each value
FEWEST = 5  # documents with a value of which words are told
ERRORS = 0.05  # words by chance that a column may be expected to show
LEAST_SHARE = 0.02  # of the documents with the value that must hold a word


def compare_fields(context: Context) -> Output:
    """For every column with few values: how many documents have each, and its words."""
    columns = columns_of(context.documents())
    used = [column for column in columns if column.role == "kinds"]
    output = Output(facts={
        "columns": [[column.name, column.role, column.why] for column in columns],
        "fields": [],
    })  # fmt: skip
    if not used:
        return output
    words = None if context.skipped("counts") else compared_words(context)
    for i, column in enumerate(used):
        codes: Any = column.codes
        output.arrays[f"field{i}"] = codes.astype(np.uint8)
        sizes = np.bincount(codes, minlength=len(column.kinds))
        listed = words_of(column, codes, sizes, *words) if words else [[] for _ in sizes]
        output.facts["fields"].append({
            "name": column.name,
            "values": list(column.kinds),
            "sizes": sizes.tolist(),
            "words": listed,
        })  # fmt: skip
    return output


def compared_words(context: Context) -> tuple[sp.csr_array, np.ndarray]:
    """Which documents hold which of the words that are in some documents and not in most."""
    counts = context.matrix("counts", "counts")
    used = use_words(context.arrays("counts")["document_counts"], counts.shape[0])
    present = sp.csr_array(counts[:, used])
    present.data = np.ones(len(present.data), np.float32)  # sums are taken in double
    return present, context.words()[used]


def words_of(
    column: Column, codes: np.ndarray, sizes: np.ndarray, present: sp.csr_array, names: Any
) -> list[list[list[Any]]]:
    """For each value [word, share of its documents, share of the others], the strongest first:
    those past what the largest of so many comparisons reaches by chance."""
    from scipy.stats import norm

    from tacit.cluster.contrast import contrasts

    known = np.array([kind != NONE for kind in column.kinds])
    inside = np.where(known[codes], codes, -1)  # a missing value is no kind of its own
    if not len(names) or known.sum() < 2:
        return [[] for _ in sizes]
    level = float(norm.isf(ERRORS / (len(names) * int(known.sum()))))
    says = np.array([not str(name).isdigit() for name in names], np.bool_)
    found: list[list[list[Any]]] = []
    for j, each in enumerate(contrasts(present, inside, len(sizes), "counts")):
        few = sizes[j] < FEWEST or not known[j]
        telling = np.flatnonzero(says & (each.score > level) & (each.inside >= LEAST_SHARE))
        order = telling[np.lexsort([telling, -each.score[telling]])]
        best = [] if few else order[:WORDS].tolist()
        found.append([
            [str(names[i]), round(float(each.inside[i]), 4), round(float(each.outside[i]), 4)]
            for i in best
        ])  # fmt: skip
    return found
