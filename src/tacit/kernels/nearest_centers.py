"""Nearest centers of dense rows, and plain Lloyd passes, by matrix products in float32.

For rows that are labeled once or a few times and to the precision of float32: the cells of a
neighbor search, the clusters of a sample extended to all rows. ``cluster.kmeans`` is exact and
has bounds for fits that run to the end.

The tiles of rows depend on the shapes alone, and partial sums are added in their order, so the
result has the same bits on any engine.
"""

from functools import partial

import numpy as np
import scipy.sparse as sp

from tacit.core.engines import Engine, Serial, check_stop

__all__ = ["nearest_centers", "run_passes"]

SPAN = 4096  # rows of one task
SETTLED = 2000  # passes end when at most one row in this many changes its label


def nearest_centers(
    rows: np.ndarray, centers: np.ndarray, engine: Engine | None = None, *, unit: bool = False
) -> np.ndarray:
    """The index of the nearest center of every row, int32; a tie goes to the lowest.

    ``unit`` promises centers of length one: their norms are not computed.

    >>> nearest_centers(np.eye(2, dtype="f4"), np.array([[0.6, 0.8], [0.8, 0.6]], "f4"))
    array([1, 0], dtype=int32)
    """
    half = half_norms(centers, unit)

    def label(first: int) -> np.ndarray:
        return label_span(rows[first : first + SPAN], centers, half)

    starts = range(0, len(rows), SPAN)
    labels = (engine or Serial()).each(label, starts, work=rows.size * len(centers))
    return np.concatenate([np.empty(0, np.int32), *labels])


def run_passes(
    rows: np.ndarray, centers: np.ndarray, engine: Engine, *, passes: int, unit: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """At most ``passes`` passes of Lloyd's algorithm: labels, and centers in float32.

    A center without rows stays where it is. With ``unit`` the centers return to length one
    after every pass.
    """
    labels = before = np.full(len(rows), -1, np.int32)
    starts = range(0, len(rows), SPAN)
    for _ in range(passes):
        collect = partial(collect_span, rows, centers, half_norms(centers, unit))
        spans = list(engine.each(collect, starts, work=rows.size * len(centers)))
        labels = np.concatenate([labels for labels, _ in spans])
        if np.count_nonzero(labels != before) * SETTLED <= len(rows):
            break
        sums = np.sum([sums for _, sums in spans], axis=0)  # in the order of the spans
        if unit:
            size = np.sqrt((sums**2).sum(axis=1, keepdims=True))
        else:
            size = np.bincount(labels, minlength=len(centers))[:, None]
        means = sums / np.maximum(size, 1e-300)
        centers = np.where(size > 0, means, centers).astype(np.float32)
        before = labels
    return labels, centers


def half_norms(centers: np.ndarray, unit: bool) -> np.ndarray:
    if unit:
        return np.zeros(len(centers), centers.dtype)
    return (np.einsum("kd,kd->k", centers, centers) / 2).astype(centers.dtype)


def label_span(rows: np.ndarray, centers: np.ndarray, half: np.ndarray) -> np.ndarray:
    labels = np.empty(len(rows), np.int32)
    size = max(1, 2**21 // len(centers))  # most values of one matrix product
    for first in range(0, len(rows), size):
        check_stop()
        product = rows[first : first + size] @ centers.T
        product -= half
        labels[first : first + size] = product.argmax(axis=1)
    return labels


def collect_span(
    rows: np.ndarray, centers: np.ndarray, half: np.ndarray, first: int
) -> tuple[np.ndarray, np.ndarray]:
    """The labels of a span of rows, and the (k, d) sums of the rows of each label."""
    span = rows[first : first + SPAN]
    labels = label_span(span, centers, half)
    return labels, sum_by_label(span, labels, len(centers))


def sum_by_label(rows: np.ndarray, labels: np.ndarray, k: int) -> np.ndarray:
    """(k, d) sums of the rows of each label, in float64."""
    indicators = (np.ones(len(rows)), labels, np.arange(len(rows) + 1))
    return sp.csr_array(indicators, shape=(len(rows), k)).T @ rows
