"""How often each feature occurs in each class: all that naive Bayes learns.

    collect   add every row, times its weight, to the counts of its class

Counts are sums, so blocks may be counted anywhere and added; those of whole numbers are exact
in any order. Taking a fold out of the counts of all rows is a subtraction, which makes
cross-validation as cheap as one pass.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tacit.classify.linear import csr_arrays, csr_rows
from tacit.core.engines import check_stop
from tacit.core.errors import DataError
from tacit.core.kernel import kernel
from tacit.core.stats import Stats
from tacit.data.table import Table, parts

__all__ = ["ClassCounts", "Counting", "collect", "few_blocks", "present"]

WORTH = 1 << 20  # entries that are worth a block
STEP = 1 << 22  # entries to a kernel call: some 20 ms


class Counting(NamedTuple):
    """What a pass needs to know."""

    name: str  # of the caller, for messages
    n_classes: int
    threshold: float | None = None  # count features above it once; None: add up values


@dataclass(frozen=True)
class ClassCounts(Stats):
    """Weight of the rows of each class, and of every feature in them."""

    rows: int
    class_count: np.ndarray  # (k,)
    feature_count: np.ndarray  # (k, v)


def collect(params: Counting, block: Any) -> ClassCounts:
    """Add up the rows of a block by class."""
    rows, codes, weights = parts(block)
    if params.threshold is not None:
        rows = present(rows, params.threshold, params.name)
    indptr, indices, data = csr_arrays(rows, params.name)
    if params.threshold is None and len(data) and data.min() < 0:
        refuse_negative(params.name, rows)
    weights = np.ones(len(codes)) if weights is None else weights
    class_count = np.bincount(codes, weights, params.n_classes)
    feature_count = np.zeros((params.n_classes, rows.shape[1]))
    # One class after another: its counts stay in the cache.
    order = np.argsort(codes, kind="stable")
    for part in np.array_split(order, max(1, len(indices) // STEP)):
        check_stop()
        add_rows(indptr, indices, data, codes, weights, part, feature_count)
    return ClassCounts(len(codes), class_count, feature_count)


def few_blocks(table: Table, n_classes: int) -> Table:
    """The table in blocks that hold more entries than there are counts, if in memory.

    Every block brings counts of all features to be added up, which for wide rows costs more
    than the counting.
    """
    rows = getattr(table.blocks[0].rows, "matrix", None)
    if not table.in_memory or rows is None:
        return table
    least = max(WORTH, 2 * n_classes * table.shape[1])  # entries of a block
    most = max(1, rows.nnz // least)
    if most >= len(table.blocks):
        return table
    size = -(-len(table) // most)
    held = table.blocks[0]
    whole = Table.from_array(rows, size).with_labels(held.labels.array)
    return whole if held.weights is None else whole.with_weights(held.weights.array)


def present(rows: Any, threshold: float, name: str) -> Any:
    """Ones where a feature is above the threshold."""
    rows = csr_rows(rows)
    csr_arrays(rows, name)  # refuses nan
    ones = rows.copy()
    ones.data = (rows.data > threshold).astype(np.float64)
    ones.eliminate_zeros()
    return ones


def refuse_negative(name: str, rows: Any) -> None:
    rows = csr_rows(rows).tocoo()
    i = int(np.flatnonzero(rows.data < 0)[0])
    raise DataError(
        f"Negative values in data passed to {name} (input X): {rows.data[i]:g}. "
        "Give counts or weights of at least 0.",
        row=int(rows.row[i]),
        column=int(rows.col[i]),
    )


# --- Kernels ---


@kernel
def add_rows(indptr, indices, data, codes, weights, order, counts):
    for i in order:
        row, weight = counts[codes[i]], weights[i]
        for t in range(indptr[i], indptr[i + 1]):
            row[indices[t]] += weight * data[t]
