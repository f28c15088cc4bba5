"""The trials of ``choose_k``: clusterings for every k, of the rows and of references.

A trial clusters one data set for every k: the rows themselves, half of them, or a reference.
Trials are independent and draw their randomness from (seed, trial), so an engine may run them
in parallel with the same figures.

The stability of a cluster is how well it is recovered when half of the rows are left out: the
Jaccard index of the cluster and the most similar one among the clusters of the half.

For rows of length one the figures of all clusterings are computed together: all pairs once, a
panel of rows at a time, and the mean distance of each row to each cluster of each clustering
by one matrix product with the memberships. The figures are those of ``tacit.measure``.

Hennig (2007), Cluster-wise assessment of cluster stability. Computational Statistics & Data
Analysis 52. Lange, Roth, Braun and Buhmann (2004), Stability-based validation of clustering
solutions. Neural Computation 16.
"""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tacit.cluster.null_reference import Reference, draw
from tacit.cluster.partitions import FastKMeans, labels_for_each_k
from tacit.cluster.separation import share_apart
from tacit.cluster.small_kmeans import are_units
from tacit.core.engines import Engine, Serial, check_stop
from tacit.core.randoms import key, permutation
from tacit.measure.center_scores import calinski_harabasz_score, davies_bouldin_score, inertia
from tacit.measure.labels import by_size, codes_of, contingency
from tacit.measure.silhouette import silhouette_score

__all__ = ["Task", "TrialResult", "Trials", "cluster_rows", "recovery", "run_task"]

PANEL = 512  # rows of a matrix product
# Of random numbers; 3 more for half of the rows.
STREAMS = {"rows": 0, "box": 1, "normal": 2, "radial": 6}


class Trials(NamedTuple):
    """What all trials need."""

    rows: np.ndarray  # (n, d) float64
    estimator: Any
    ks: tuple[int, ...]
    seed: np.uint64
    reference: Reference
    null_ks: tuple[int, ...] = ()  # of ks, those that references are tried for
    labels: tuple[np.ndarray, ...] = ()  # of the rows, for each of ks


class Task(NamedTuple):
    """One trial: half of the "rows", or a reference of some kind; and its number."""

    kind: str
    number: int


class TrialResult(NamedTuple):
    """The figures for each of ks, or of ``null_ks`` if it is a reference. NaN where there is
    one cluster only."""

    log_inertia: np.ndarray
    silhouette: np.ndarray
    stability: tuple[np.ndarray, ...]  # of every cluster, in half of the rows


def cluster_rows(trials: Trials, engine: Engine) -> tuple[Trials, np.ndarray, dict[str, list]]:
    """Cluster the rows: the labels, their inertia, and the measures that need no reference."""
    own = seeds(trials, trials.ks, 0, 0)
    if isinstance(trials.estimator, FastKMeans):

        def label(task: tuple[int, int]) -> np.ndarray:
            return labels_for_each_k(trials.estimator, trials.rows, task[:1], task[1:])[0]

        tasks = list(zip(trials.ks, own, strict=True))[::-1]  # the longest first
        each_k = list(engine.each(label, tasks))[::-1]
    else:  # a tree is built once for all numbers
        each_k = labels_for_each_k(trials.estimator, trials.rows, trials.ks, own)
    labels = [by_size(each) for each in each_k]
    spread, sharp = figures_of(trials.rows, labels)
    measures: dict[str, list] = {
        "silhouette": [None if math.isnan(value) else float(value) for value in sharp],
        "davies_bouldin": [],
        "calinski_harabasz": [],
        "apart": [share_apart(trials.rows, each) for each in labels],
    }
    unit = are_units(trials.rows)
    for each, within in zip(labels, spread, strict=True):
        check_stop()
        compact = ratio = None
        if each.any() and unit:  # all 0 is one cluster
            compact = unit_davies_bouldin(trials.rows, each)
            ratio = calinski_harabasz(trials.rows, int(each.max()) + 1, float(within))
        elif each.any():
            compact = davies_bouldin_score(trials.rows, each, engine=Serial())
            ratio = calinski_harabasz_score(trials.rows, each, engine=Serial())
        measures["davies_bouldin"].append(compact)
        measures["calinski_harabasz"].append(ratio)
    return trials._replace(labels=tuple(labels)), spread, measures


def run_task(trials: Trials, task: Task) -> TrialResult:
    """Cluster half of the rows; or a reference, and half of that."""
    if task.kind == "rows":
        nothing = np.full(len(trials.ks), np.nan)
        again = compare_half(trials, trials.rows, trials.ks, trials.labels, task)
        return TrialResult(nothing, nothing, again)
    stream = STREAMS[task.kind]
    rows = draw(trials.reference, task.kind, key(trials.seed, 1, stream, task.number))
    ks = trials.null_ks
    own = seeds(trials, ks, stream, task.number)
    labels = [by_size(each) for each in labels_for_each_k(trials.estimator, rows, ks, own)]
    spread, sharp = figures_of(rows, labels)
    again = compare_half(trials, rows, ks, labels, task)
    logs = [math.log(value) if value > 0 else -math.inf for value in spread]
    return TrialResult(np.array(logs), sharp, again)


def compare_half(
    trials: Trials, rows: np.ndarray, ks: tuple[int, ...], labels: Any, task: Task
) -> tuple[np.ndarray, ...]:
    """How well the clusters of all rows are recovered from half of them."""
    stream = STREAMS[task.kind]
    order = permutation(key(trials.seed, 2, stream, task.number), len(rows))
    half = np.sort(order[: (len(rows) + 1) // 2])
    own = seeds(trials, ks, stream + 3, task.number)
    parts = labels_for_each_k(trials.estimator, rows[half], ks, own)
    return tuple(
        recovery(whole[half], part, int(whole.max()) + 1)
        for whole, part in zip(labels, parts, strict=True)
    )


def recovery(whole: np.ndarray, part: np.ndarray, size: int) -> np.ndarray:
    """For each of ``size`` clusters, its Jaccard index with the most similar one of ``part``.

    NaN for a cluster that has no rows here.

    >>> recovery(np.array([0, 0, 2, 2]), np.array([5, 5, 5, 7]), 3).round(3)
    array([0.667,   nan, 0.5  ])
    """
    a, b = codes_of(whole, name="stability"), codes_of(part, name="stability")
    both = contingency(a, b).toarray()
    best = np.full(size, np.nan)
    best[a.names] = (both / (a.counts[:, None] + b.counts - both)).max(axis=1)
    return best


def figures_of(rows: np.ndarray, labels: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """The inertia and the silhouette of every clustering; NaN for one cluster."""
    if are_units(rows):
        return unit_figures(rows, labels)
    spread, sharp = np.empty(len(labels)), np.full(len(labels), math.nan)
    for i, each in enumerate(labels):
        check_stop()
        spread[i] = inertia(rows, each, engine=Serial())
        if each.any():
            sharp[i] = silhouette_score(rows, each, engine=Serial())
    return spread, sharp


def calinski_harabasz(rows: np.ndarray, k: int, within: float) -> float:
    """Variance between the clusters over that within, per degree of freedom."""
    n = len(rows)
    total = float(((rows - rows.mean(axis=0)) ** 2).sum())
    return (total - within) * (n - k) / (within * (k - 1)) if within > 0 and n > k else 0.0


def seeds(trials: Trials, ks: tuple[int, ...], *items: int) -> list[int]:
    """A seed for every k, in scikit-learn's range."""
    return [int(key(trials.seed, 0, *items, k)) % 2**31 for k in ks]


# --- Figures of rows of length one ---


def unit_figures(
    rows: np.ndarray, labelings: Sequence[np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Measure clusterings, labels from 0, of the same rows of length one.

    >>> rows = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    >>> unit_figures(rows, [np.array([0, 0, 1, 1]), np.array([0, 0, 0, 0])])
    (array([0., 2.]), array([ 1., nan]))
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
    spans = [(int(a), int(b)) for a, b in pairwise(edges)]
    inertia = np.array([max(0.0, total - squares[a:b].sum()) for a, b in spans])
    silhouette = np.zeros(len(labelings))
    for start in range(0, n, PANEL):
        check_stop()
        stop = min(start + PANEL, n)
        apart = rows[start:stop] @ rows.T
        apart = np.sqrt(np.maximum(2 - 2 * apart, 0)).astype(np.float32)
        apart[np.arange(stop - start), np.arange(start, stop)] = 0
        sums_apart = apart @ members
        for i, (a, b) in enumerate(spans):
            values = of_panel(sums_apart[:, a:b], labelings[i][start:stop], counts[a:b])
            silhouette[i] += values.sum(dtype=np.float64)
    one = [int((size > 0).sum()) < 2 for size in sizes]
    return inertia, np.where(one, np.nan, silhouette / n)


def unit_davies_bouldin(rows: np.ndarray, labels: np.ndarray) -> float:
    """The Davies-Bouldin index; at least two clusters, labels from 0 without a gap.

    >>> rows = np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0], [-0.6, 0.8]])
    >>> unit_davies_bouldin(rows, np.array([0, 0, 1, 1]))
    0.4714...
    """
    counts = np.bincount(labels)
    each = (np.ones(len(rows)), labels, np.arange(len(rows) + 1))
    members = sp.csr_array(each, shape=(len(rows), len(counts)))
    centers = (members.T @ rows) / counts[:, None]
    away = np.sqrt(((rows - centers[labels]) ** 2).sum(axis=1))
    widths = (members.T @ away) / counts
    apart = np.sqrt(((centers[:, None] - centers) ** 2).sum(axis=2))
    apart[apart == 0] = np.inf  # the cluster itself, and centers in the same place
    return float(((widths[:, None] + widths) / apart).max(axis=1).mean())


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
