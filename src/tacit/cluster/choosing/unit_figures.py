"""Inertia, silhouette and others of many clusterings of the same rows of length one.

All pairs are looked at once, a panel of rows at a time; how far each row is from each cluster
of each clustering, on average, is one matrix product with the memberships. The figures are
those of ``tacit.measure``, which takes any rows and one clustering.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from tacit.core.engines import check_stop

__all__ = ["Figures", "unit_davies_bouldin", "unit_figures"]

PANEL = 512  # rows


class Figures(NamedTuple):
    """For each clustering."""

    inertia: np.ndarray
    silhouette: np.ndarray  # NaN for one cluster


def unit_figures(rows: np.ndarray, labelings: Sequence[np.ndarray]) -> Figures:
    """Measure clusterings, labels from 0, of the same rows of length one.

    >>> rows = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    >>> unit_figures(rows, [np.array([0, 0, 1, 1]), np.array([0, 0, 0, 0])])
    Figures(inertia=array([0., 2.]), silhouette=array([ 1., nan]))
    """
    n = len(rows)
    sizes = [np.bincount(labels) for labels in labelings]
    edges = np.concatenate([[0], np.cumsum([len(each) for each in sizes])])
    members = np.zeros((n, edges[-1]), np.float32)
    for labels, first in zip(labelings, edges, strict=False):
        members[np.arange(n), first + labels] = 1
    counts = np.concatenate(sizes)
    sums = members.T.astype(np.float64) @ rows
    squares = np.einsum("cd,cd->c", sums, sums) / np.maximum(counts, 1)
    total = float(np.einsum("nd,nd->", rows, rows))
    inertia = np.array([max(0.0, total - squares[a:b].sum()) for a, b in spans(edges)])
    silhouette = np.zeros(len(labelings))
    for start in range(0, n, PANEL):
        check_stop()
        stop = min(start + PANEL, n)
        apart = rows[start:stop] @ rows.T
        apart = np.sqrt(np.maximum(2 - 2 * apart, 0)).astype(np.float32)
        apart[np.arange(stop - start), np.arange(start, stop)] = 0
        sums_apart = apart @ members
        for i, (a, b) in enumerate(spans(edges)):
            values = of_panel(sums_apart[:, a:b], labelings[i][start:stop], counts[a:b])
            silhouette[i] += values.sum(dtype=np.float64)
    one = [int((size > 0).sum()) < 2 for size in sizes]
    return Figures(inertia, np.where(one, np.nan, silhouette / n))


def unit_davies_bouldin(rows: np.ndarray, labels: np.ndarray) -> float:
    """How wide two clusters are beside the distance of their centers, for the worst neighbour
    of each; at least two clusters, labels from 0 without a gap.

    >>> rows = np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0], [-0.6, 0.8]])
    >>> unit_davies_bouldin(rows, np.array([0, 0, 1, 1]))
    0.471
    """
    counts = np.bincount(labels)
    each = (np.ones(len(rows)), labels, np.arange(len(rows) + 1))
    members = sp.csr_array(each, shape=(len(rows), len(counts)))
    centers = (members.T @ rows) / counts[:, None]
    away = np.sqrt(((rows - centers[labels]) ** 2).sum(axis=1))
    widths = (members.T @ away) / counts
    apart = np.sqrt(((centers[:, None] - centers) ** 2).sum(axis=2))
    apart[apart == 0] = np.inf  # the cluster itself; and those that cannot be told apart
    return float(((widths[:, None] + widths) / apart).max(axis=1).mean())


def spans(edges: np.ndarray) -> list[tuple[int, int]]:
    return [(int(a), int(b)) for a, b in pairwise(edges)]


def of_panel(sums: np.ndarray, own: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Silhouettes from the sums of the distances of each row to each cluster."""
    each = np.arange(len(own))
    inside = sums[each, own] / np.maximum(counts[own] - 1, 1)
    means = sums / np.maximum(counts, 1).astype(np.float32)
    means[:, counts == 0] = np.inf
    means[each, own] = np.inf
    outside = means.min(axis=1)
    widest = np.maximum(inside, outside)
    alone = (counts[own] == 1) | (widest == 0) | ~np.isfinite(outside)
    return np.where(alone, 0.0, (outside - inside) / np.where(alone, 1.0, widest))
