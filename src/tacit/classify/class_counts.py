"""How often each feature occurs in each class: all that naive Bayes learns.

    collect   add every row, times its weight, to the counts of its class

Counts are sums, so blocks may be counted anywhere and added; those of whole numbers are exact
in any order. Taking a fold out of the counts of all rows is a subtraction, which makes
cross-validation as cheap as one pass.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tacit.core.engines import check_stop
from tacit.core.errors import DataError
from tacit.core.kernel import kernel
from tacit.core.stats import Stats
from tacit.data.bad_values import check_values
from tacit.data.table import Table, parts
from tacit.linear.linear_classifier import (
    Csr,
    check_finite,
    csr_rows,
    engine_for,
    worth_sharing,
)

__all__ = ["ClassCounts", "Counting", "collect", "count", "few_blocks", "present"]

WORTH = 1 << 20  # entries that are worth a block, or a second thread
STEP = 1 << 22  # entries to a kernel call: some 20 ms
GROUPS = 8  # of classes that are counted at a time


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
    task = prepared(params, block)
    add_some(task, by_class(task.codes))
    return result(task)


def count(engine: Any, params: Counting, table: Table) -> ClassCounts:
    """Add up the rows of a table by class. What is one block to be counted is shared out by
    classes, whose counts nobody else touches: the same bits."""
    table = few_blocks(table, params.n_classes)
    threads = worth_sharing(engine, table, WORTH)
    if threads is None or len(table.blocks) > 1:
        return engine_for(engine, table).reduce(collect, params, table)
    task = prepared(params, table.blocks[0].load())
    for _ in threads.map(add_some, task, groups(task)):
        pass
    return result(task)


class Task(NamedTuple):
    """A block that is being counted."""

    params: Counting
    rows: Any
    csr: Csr  # data may be of whole numbers
    codes: np.ndarray
    weights: np.ndarray
    feature_count: np.ndarray


class Group(NamedTuple):
    """Rows of some classes, as a block that loads at once."""

    order: np.ndarray

    def load(self) -> np.ndarray:
        return self.order


def prepared(params: Counting, block: Any) -> Task:
    rows, codes, weights = parts(block)
    rows = csr_rows(rows)
    data = rows.data
    if data.dtype != np.int64:  # the only two that the kernel is compiled for
        data = np.asarray(data, np.float64)
    csr = Csr(np.asarray(rows.indptr, np.int64), np.asarray(rows.indices, np.int32), data)
    weights = np.ones(len(codes)) if weights is None else weights
    return Task(params, rows, csr, codes, weights, np.zeros((params.n_classes, rows.shape[1])))


def add_some(task: Task, order: np.ndarray) -> None:
    """Count some rows, ordered by class so that the counts of one stay in the cache."""
    share = len(order) / max(1, len(task.codes))
    for part in np.array_split(order, max(1, int(share * len(task.csr.data)) // STEP)):
        check_stop()
        given = (*task.csr, task.codes, task.weights, part, task.feature_count)
        if task.params.threshold is None:
            total, least = add_rows(*given)
        else:
            total, least = add_present(*given, float(task.params.threshold)), 0.0
        if not np.isfinite(total):  # or a sum too large: look closely
            check_values(task.rows, task.params.name)
        if least < 0:
            refuse_negative(task.params.name, task.rows)


def result(task: Task) -> ClassCounts:
    class_count = np.bincount(task.codes, task.weights, task.params.n_classes)
    return ClassCounts(len(task.codes), class_count, task.feature_count)


def by_class(codes: np.ndarray) -> np.ndarray:
    """The rows of the first class, then those of the second, each in their order."""
    few = codes.max(initial=0) < 2**16  # which are sorted in linear time
    return np.argsort(codes.astype(np.uint16) if few else codes, kind="stable")


def groups(task: Task) -> list[Group]:
    """Rows of whole classes together, some eight groups of like size."""
    entries_of = np.bincount(task.codes, np.diff(task.csr.indptr), task.params.n_classes)
    reached = np.cumsum(entries_of) - entries_of / 2
    group = (reached * GROUPS / max(1.0, reached[-1] + entries_of[-1] / 2)).astype(np.int64)
    order = by_class(task.codes)
    edges = np.flatnonzero(np.diff(group[task.codes[order]])) + 1
    return [Group(part) for part in np.split(order, edges)]


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
    check_finite(rows, name)
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
    """Add rows to the counts of their classes; the sum of their values, and the least."""
    total, least = 0.0, 0.0
    for i in order:
        row, weight = counts[codes[i]], weights[i]
        for t in range(indptr[i], indptr[i + 1]):
            x = float(data[t])
            row[np.uint32(indices[t])] += weight * x
            total += x
            if x < least:
                least = x
    return total, least


@kernel
def add_present(indptr, indices, data, codes, weights, order, counts, threshold):
    """Add one for every value above a threshold; the sum of the values."""
    total = 0.0
    for i in order:
        row, weight = counts[codes[i]], weights[i]
        for t in range(indptr[i], indptr[i + 1]):
            x = float(data[t])
            total += x
            row[np.uint32(indices[t])] += weight if x > threshold else 0.0
    return total
