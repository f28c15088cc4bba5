"""Naive Bayes without some of its rows, from the counts of all of them.

Counts are sums: those of all rows but a fold are the sum of the other folds'. Without one row
of class c, only the counts of c change, and only for the features of the row; so scoring every
row without itself costs as much as scoring it, one pass for all.

    multinomial   the features of c lose the row's counts, the total of c its length
    complement    so do all classes but c, whose complements contain the row
    bernoulli     c has one row less, and one less with each feature of the row

A class whose only row is left out is not predicted.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from tacit.classify.naive_bayes import BernoulliNB, ClassCounts, ComplementNB, collect, present
from tacit.core.engines import check_stop
from tacit.core.kernel import kernel
from tacit.core.stats import tree_sum
from tacit.data.table import Batch
from tacit.linear.labeled_rows import check_labeled, in_memory
from tacit.linear.linear_classifier import csr_arrays, csr_rows

__all__ = ["fit_without_folds", "left_out_scores"]

STEP = 1 << 23  # logarithms and multiplications to a kernel call: some 30 ms


def fit_without_folds(
    model: Any, X: Any, y: Any, numbers: np.ndarray
) -> Iterator[tuple[int, Any]]:
    """The number of every fold, and the model fitted on the rows outside it."""
    labeled = check_labeled(model, X, y)
    rows, codes = rows_and_codes(labeled.table)
    counting, folds = model._counting(len(labeled.classes)), np.unique(numbers)
    stats = [
        collect(counting, Batch(rows[numbers == fold], codes[numbers == fold]))
        for fold in folds
    ]
    for i, fold in enumerate(folds):
        train = tree_sum([*stats[:i], *stats[i + 1 :]])
        seen = train.class_count > 0  # a class may have all its rows in the fold
        counts = ClassCounts(train.rows, train.class_count[seen], train.feature_count[seen])
        yield fold, model._update(labeled.classes[seen], counts)


def left_out_scores(model: Any, X: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """The classes, and (n, k) scores of every row by the model without it."""
    labeled = check_labeled(model, X, y)
    rows, codes = rows_and_codes(labeled.table)
    counting = model._counting(len(labeled.classes))
    stats = collect(counting, Batch(rows, codes))
    model._update(labeled.classes, stats)
    if counting.threshold is not None:
        rows = present(rows, counting.threshold, counting.name)
    csr = csr_arrays(rows, counting.name)
    alpha = np.broadcast_to(np.asarray(model._smoothing(), np.float64), (rows.shape[1],)).copy()
    counts = np.ascontiguousarray(stats.feature_count.T)
    complement = isinstance(model, ComplementNB)
    scores = np.zeros((len(codes), len(labeled.classes)))
    if not complement:
        scores += prior_without(model, stats.class_count, codes)
    if isinstance(model, BernoulliNB):
        add_bernoulli(model, csr, codes, counts, alpha, stats.class_count, scores)
    else:
        counts = counts.sum(axis=1, keepdims=True) - counts if complement else counts
        totals = counts.sum(axis=0) + alpha.sum()
        for span in row_spans(csr, scores.shape[1]):
            add_without(
                span, csr, codes, counts, totals, alpha, model.weights_, complement, scores
            )
    single = np.flatnonzero(stats.class_count[codes] <= 1)
    scores[single, codes[single]] = -np.inf
    scores[np.isnan(scores)] = -np.inf  # with alpha 0, a class left without a feature
    return labeled.classes, scores


def prior_without(model: Any, class_count: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """(n, k) log priors of the classes without each row, or as they are set."""
    if model.class_prior is not None or not model.fit_prior:
        return np.broadcast_to(model.class_log_prior_, (len(codes), len(class_count)))
    left = class_count - np.eye(len(class_count))
    with np.errstate(divide="ignore"):
        return np.log(np.maximum(left, 0) / max(1.0, class_count.sum() - 1))[codes]


def add_bernoulli(
    model: Any, csr: Any, codes: np.ndarray, counts: np.ndarray, alpha: np.ndarray,
    class_count: np.ndarray, scores: np.ndarray,
) -> None:  # fmt: skip
    """Add scores: for the class of a row by the model without it, else by that of all rows."""
    rows = sp.csr_array((csr.data, csr.indices, csr.indptr), shape=(len(codes), len(counts)))
    prior = scores[np.arange(len(codes)), codes].copy()
    scores += rows @ model.weights_ + (model.intercept_ - model.class_log_prior_)
    # A class with one row less: the score of a row without any feature.
    n = class_count - 1
    absent = np.maximum(n - counts, 0) + alpha[:, None]
    scale = np.log(np.maximum(n + 2 * alpha[:, None], 1e-300))
    base = (np.log(np.maximum(absent, 1e-300)) - scale).sum(axis=0)
    for span in row_spans(csr, 1):
        set_bernoulli(span, csr, codes, counts, alpha, class_count, base, prior, scores)


def row_spans(csr: Any, width: int) -> Iterator[tuple[int, int]]:
    """Ranges of rows for one kernel call each."""
    n = len(csr.indptr) - 1
    edges = np.linspace(0, n, 2 + len(csr.data) * width // STEP).astype(int).tolist()
    for start, stop in pairwise(edges):
        check_stop()
        yield start, stop


def rows_and_codes(table: Any) -> tuple[sp.csr_array, np.ndarray]:
    """The CSR rows and the codes of a table in memory."""
    if not table.in_memory:
        raise ValueError(
            "Leaving rows out needs all of them in memory, but X is a table of a file. Give "
            "an array or a sparse matrix."
        )
    rows, codes, _ = in_memory(table)
    return csr_rows(rows).tocsr(), codes


@kernel
def add_without(span, csr, codes, counts, totals, alpha, weights, complement, scores):
    """Add multinomial or complement scores of a span of rows, by models without the row: the
    counts of its class change, or those of all other complements."""
    k = counts.shape[1]
    sign = -1.0 if complement else 1.0
    for i in range(span[0], span[1]):
        code, out = codes[i], scores[i]
        length = 0.0
        for t in range(csr.indptr[i], csr.indptr[i + 1]):
            j, x = csr.indices[t], csr.data[t]
            if x == 0.0:
                continue
            length += x
            for y in range(k):
                if (y == code) != complement:
                    out[y] += sign * x * np.log(max(counts[j, y] - x, 0.0) + alpha[j])
                else:
                    out[y] += x * weights[j, y]
        if length > 0.0:
            for y in range(k):
                if (y == code) != complement:
                    out[y] -= sign * length * np.log(totals[y] - length)


@kernel
def set_bernoulli(span, csr, codes, counts, alpha, class_count, base, prior, scores):
    """Set the scores of a span of rows for their classes, by the model without the row."""
    for i in range(span[0], span[1]):
        y = codes[i]
        n = class_count[y] - 1.0
        total = prior[i] + base[y]
        for t in range(csr.indptr[i], csr.indptr[i + 1]):
            j = csr.indices[t]
            # log p(present) - log p(absent); their denominators cancel.
            total += np.log(counts[j, y] - 1.0 + alpha[j])
            total -= np.log(max(max(n - counts[j, y], 0.0) + alpha[j], 1e-300))
        scores[i, y] = total
