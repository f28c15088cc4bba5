"""What is measured for every number of clusters, on the rows and on data without clusters.

A trial clusters one data set for every k: the rows themselves, half of them, or a reference.
Trials do not depend on each other and draw their randomness from (seed, trial), so an engine
may run them side by side and the figures stay the same.

The stability of a cluster is how well it is found again when half of the rows are left out:
the Jaccard index of the cluster and the one most like it among the clusters of the half.

Hennig (2007), Cluster-wise assessment of cluster stability. Computational Statistics & Data
Analysis 52. Lange, Roth, Braun and Buhmann (2004), Stability-based validation of clustering
solutions. Neural Computation 16.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from tacit.cluster.dendrogram import by_size
from tacit.cluster.null_reference import Reference, draw
from tacit.cluster.partitions import labelings
from tacit.core.engines import Serial, check_stop
from tacit.core.randoms import key, permutation
from tacit.measure.by_centers import calinski_harabasz_score, davies_bouldin_score, inertia
from tacit.measure.labels import codes_of, contingency
from tacit.measure.silhouette import silhouette_score

__all__ = ["Measured", "Task", "Trials", "found_again", "own_trial", "run_task"]


class Trials(NamedTuple):
    """What all trials share."""

    rows: np.ndarray  # (n, d) float64
    estimator: Any
    ks: tuple[int, ...]
    seed: np.uint64
    reference: Reference
    labels: tuple[np.ndarray, ...] = ()  # of the rows, for each of ks


class Task(NamedTuple):
    """One trial: half of the "rows", or a reference of some kind; and its number."""

    kind: str
    number: int

    def load(self) -> "Task":
        return self


class Measured(NamedTuple):
    """What a trial found, for each of ks. NaN where there is one cluster only."""

    log_inertia: np.ndarray
    silhouette: np.ndarray
    found_again: tuple[np.ndarray, ...]  # likeness of every cluster to one of half the rows


def own_trial(trials: Trials) -> tuple[Trials, np.ndarray, dict[str, list]]:
    """Cluster the rows: the labels, their inertia, and the measures that need no reference."""
    found = labelings(trials.estimator, trials.rows, trials.ks, seeds(trials, 0, 0))
    labels = [by_size(each) for each in found]
    spread = np.array([inertia(trials.rows, each, engine=Serial()) for each in labels])
    functions = {
        "silhouette": silhouette_score,
        "davies_bouldin": davies_bouldin_score,
        "calinski_harabasz": calinski_harabasz_score,
    }
    measures: dict[str, list] = {name: [] for name in functions}
    for each in labels:
        check_stop()
        for name, measure in functions.items():
            value = None
            if each.any():  # all 0 is one cluster
                value = measure(trials.rows, each, engine=Serial())
            measures[name].append(value)
    return trials._replace(labels=tuple(labels)), spread, measures


def run_task(trials: Trials, task: Task) -> Measured:
    """Cluster half of the rows; or a reference, and half of that."""
    if task.kind == "rows":
        nothing = np.full(len(trials.ks), np.nan)
        again = compare_half(trials, trials.rows, trials.labels, task)
        return Measured(nothing, nothing, again)
    stream = STREAMS[task.kind]
    rows = draw(trials.reference, task.kind, key(trials.seed, 1, stream, task.number))
    own = seeds(trials, stream, task.number)
    labels = [by_size(each) for each in labelings(trials.estimator, rows, trials.ks, own)]
    spread = np.array([log_of(inertia(rows, each, engine=Serial())) for each in labels])
    sharp = np.array([silhouette_of(rows, each) for each in labels])
    return Measured(spread, sharp, compare_half(trials, rows, labels, task))


STREAMS = {"rows": 0, "box": 1, "normal": 2}  # of random numbers


def compare_half(
    trials: Trials, rows: np.ndarray, labels: Any, task: Task
) -> tuple[np.ndarray, ...]:
    """How well the clusters of all the rows are found again in half of them."""
    stream = STREAMS[task.kind]
    order = permutation(key(trials.seed, 2, stream, task.number), len(rows))
    half = np.sort(order[: (len(rows) + 1) // 2])
    own = seeds(trials, stream + 3, task.number)
    parts = labelings(trials.estimator, rows[half], trials.ks, own)
    return tuple(
        found_again(whole[half], part, int(whole.max()) + 1)
        for whole, part in zip(labels, parts, strict=True)
    )


def found_again(whole: np.ndarray, part: np.ndarray, size: int) -> np.ndarray:
    """For each of ``size`` clusters, its likeness to the most similar one of ``part``.

    NaN for a cluster that has no rows here.

    >>> found_again(np.array([0, 0, 2, 2]), np.array([5, 5, 5, 7]), 3)
    array([0.667,   nan, 0.5  ])
    """
    a, b = codes_of(whole, name="stability"), codes_of(part, name="stability")
    both = contingency(a, b).toarray()
    found = np.full(size, np.nan)
    found[a.names] = (both / (a.counts[:, None] + b.counts - both)).max(axis=1)
    return found


def silhouette_of(rows: np.ndarray, labels: np.ndarray) -> float:
    check_stop()
    if not labels.any():
        return math.nan
    return silhouette_score(rows, labels, engine=Serial())


def log_of(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf


def seeds(trials: Trials, *items: int) -> list[int]:
    """A seed for every k that scikit-learn's manners accept."""
    return [int(key(trials.seed, 0, *items, k)) % 2**31 for k in trials.ks]
