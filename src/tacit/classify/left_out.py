"""Naive Bayes without some of its rows, from the counts of all of them.

Counts are sums: those of all rows but a fold are the sums of the other folds'. Without one
row of class c, only the counts of c change, and of them only the features that the row holds;
so every row's scores without itself cost as much as its scores, and all together one pass.

    multinomial   features of the row lose its counts, the total of c its length
    complement    so do all classes but c, whose complements held the row
    bernoulli     c has one row less, and one less with each feature of the row

A class whose only row is left out is not said any more.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from tacit.classify.class_counts import ClassCounts, collect, present
from tacit.core.engines import check_stop
from tacit.core.kernel import kernel
from tacit.core.stats import tree_sum
from tacit.data.table import Batch, parts
from tacit.linear.labeled_rows import check_labeled
from tacit.linear.linear_classifier import csr_arrays, csr_rows

__all__ = ["fit_without_folds", "left_out_scores"]

STEP = 1 << 23  # logarithms and multiplications to a kernel call: some 30 ms


def fit_without_folds(
    model: Any, X: Any, y: Any, numbers: np.ndarray
) -> Iterator[tuple[int, Any]]:
    """The number of every fold, and the model fitted on the rows outside it."""
    labeled = check_labeled(model, X, y)
    block = whole(labeled.table)
    codes = np.asarray(block.labels)
    counting = model._counting(len(labeled.classes))
    names = np.unique(numbers)
    folds = [
        collect(counting, Batch(csr_rows(block.rows)[numbers == name], codes[numbers == name]))
        for name in names
    ]
    for i, name in enumerate(names):
        rest = tree_sum([*folds[:i], *folds[i + 1 :]])
        seen = rest.class_count > 0  # a class may have had all its rows in the fold
        counts = ClassCounts(rest.rows, rest.class_count[seen], rest.feature_count[seen])
        yield name, model._learn(labeled.classes[seen], counts)


def left_out_scores(model: Any, kind: str, X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """The classes, and (n, k) scores of every row by the model without it."""
    labeled = check_labeled(model, X, y)
    block = whole(labeled.table)
    counting = model._counting(len(labeled.classes))
    stats = collect(counting, block)
    model._learn(labeled.classes, stats)
    rows = block.rows
    if counting.threshold is not None:
        rows = present(rows, counting.threshold, counting.name)
    csr, codes = csr_arrays(rows, counting.name), np.asarray(block.labels)
    alpha = np.broadcast_to(np.asarray(model._smoothing(), np.float64), (rows.shape[1],)).copy()
    counts = np.ascontiguousarray(stats.feature_count.T)
    scores = np.zeros((len(codes), len(labeled.classes)))
    scores += prior_without(model, stats.class_count, codes)
    if kind == "multinomial":
        kernel_, held = without_multinomial, counts
    elif kind == "complement":
        kernel_, held = without_complement, counts.sum(axis=1, keepdims=True) - counts
        scores[:] = 0
    if kind == "bernoulli":
        add_bernoulli(model, csr, codes, counts, alpha, stats.class_count, scores)
    else:
        totals = held.sum(axis=0) + alpha.sum()
        for start, stop in spans(csr, scores.shape[1]):
            check_stop()
            kernel_(*csr, codes, held, totals, alpha, model.weights_, scores, start, stop)
    alone = np.flatnonzero(stats.class_count[codes] <= 1)
    scores[alone, codes[alone]] = -np.inf
    # With alpha 0, a class left without a word: 0 times infinity.
    scores[np.isnan(scores)] = -np.inf
    return labeled.classes, scores


def prior_without(model: Any, class_count: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """(n, k) logarithms of the classes' shares without each row, or as they are set."""
    if model.class_prior is not None or not model.fit_prior:
        return np.broadcast_to(model.class_log_prior_, (len(codes), len(class_count)))
    left = class_count - np.eye(len(class_count))
    with np.errstate(divide="ignore"):
        return np.log(np.maximum(left, 0) / max(1.0, class_count.sum() - 1))[codes]


def add_bernoulli(model, csr, codes, counts, alpha, class_count, scores) -> None:
    """Scores by the model of all rows, but for the own class of each."""
    joint = sp.csr_array((csr.data, csr.indices, csr.indptr), shape=(len(codes), len(counts)))
    base = joint @ model.weights_ + (model.intercept_ - model.class_log_prior_)
    own = scores[np.arange(len(codes)), codes].copy()
    scores += base
    # The class with a row less: what absent features add up to if none was the row's.
    n = class_count - 1
    gone = np.maximum(n - counts, 0) + alpha[:, None]
    scale = np.log(np.maximum(n + 2 * alpha[:, None], 1e-300))
    absent = (np.log(np.maximum(gone, 1e-300)) - scale).sum(axis=0)
    for start, stop in spans(csr, 1):
        check_stop()
        without_bernoulli(
            *csr, codes, counts, alpha, class_count, absent, own, scores, start, stop
        )


def spans(csr: Any, width: int) -> Iterator[tuple[int, int]]:
    """Stretches of rows for one kernel call each."""
    n = len(csr.indptr) - 1
    edges = np.linspace(0, n, 2 + len(csr.data) * width // STEP).astype(int).tolist()
    yield from pairwise(edges)


def whole(table: Any) -> Batch:
    """A table in memory as one block."""
    if not table.in_memory:
        raise ValueError(
            "Leaving rows out needs all of them in memory, but X is a table of a file. Give "
            "an array or a sparse matrix."
        )
    blocks = [parts(block.load()) for block in table]
    stack = sp.vstack if sp.issparse(blocks[0].rows) else np.vstack
    rows = blocks[0].rows if len(blocks) == 1 else stack([block.rows for block in blocks])
    return Batch(csr_rows(rows).tocsr(), np.concatenate([block.labels for block in blocks]))


# --- Kernels ---


@kernel
def without_multinomial(
    indptr, indices, data, codes, counts, totals, alpha, weights, scores, start, stop
):  # fmt: skip
    k = counts.shape[1]
    for i in range(start, stop):
        own, out = codes[i], scores[i]
        length, gained = 0.0, 0.0
        for t in range(indptr[i], indptr[i + 1]):
            j, x = indices[t], data[t]
            if x == 0.0:
                continue
            row = weights[j]
            for y in range(k):
                if y != own:
                    out[y] += x * row[y]
            length += x
            gained += x * np.log(max(counts[j, own] - x, 0.0) + alpha[j])
        out[own] += gained - length * np.log(totals[own] - length) if length > 0.0 else 0.0


@kernel
def without_complement(
    indptr, indices, data, codes, others, totals, alpha, weights, scores, start, stop
):  # fmt: skip
    k = others.shape[1]
    for i in range(start, stop):
        own, out = codes[i], scores[i]
        length = 0.0
        for t in range(indptr[i], indptr[i + 1]):
            length += data[t]
        for y in range(k):
            scale = np.log(totals[y] - length)
            for t in range(indptr[i], indptr[i + 1]):
                j, x = indices[t], data[t]
                if x == 0.0:
                    continue
                if y == own:
                    out[y] += x * weights[j, y]
                else:
                    out[y] -= x * (np.log(max(others[j, y] - x, 0.0) + alpha[j]) - scale)


@kernel
def without_bernoulli(
    indptr, indices, data, codes, counts, alpha, class_count, absent, own, scores, start, stop
):
    for i in range(start, stop):
        y = codes[i]
        n = class_count[y] - 1.0
        total = own[i] + absent[y]
        for t in range(indptr[i], indptr[i + 1]):
            j = indices[t]
            c = counts[j, y] - 1.0  # rows with the feature but for this one
            scale = np.log(n + 2.0 * alpha[j])
            total += np.log(c + alpha[j]) - scale  # there,
            total -= np.log(max(max(n - counts[j, y], 0.0) + alpha[j], 1e-300)) - scale
        scores[i, y] = total
