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

from tacit.cluster.choosing.null_reference import Reference, draw
from tacit.cluster.choosing.unit_figures import Figures, unit_davies_bouldin, unit_figures
from tacit.cluster.kmeans.spherical_small import are_units
from tacit.cluster.partitions import Quick, labelings
from tacit.core.engines import Engine, Serial, check_stop
from tacit.core.randoms import key, permutation
from tacit.measure.center_scores import calinski_harabasz_score, davies_bouldin_score, inertia
from tacit.measure.labels import by_size, codes_of, contingency
from tacit.measure.silhouette import silhouette_score

__all__ = ["Measured", "Task", "Trials", "found_again", "own_trial", "run_task"]


class Trials(NamedTuple):
    """What all trials share."""

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

    def load(self) -> "Task":
        return self


class Measured(NamedTuple):
    """What a trial found, for each of ks, or of ``null_ks`` if it is a reference. NaN where
    there is one cluster only."""

    log_inertia: np.ndarray
    silhouette: np.ndarray
    found_again: tuple[np.ndarray, ...]  # likeness of every cluster to one of half the rows


class OneK(NamedTuple):
    """The rows for one number of clusters."""

    k: int
    seed: int

    def load(self) -> "OneK":
        return self


def own_trial(trials: Trials, engine: Engine) -> tuple[Trials, np.ndarray, dict[str, list]]:
    """Cluster the rows: the labels, their inertia, and the measures that need no reference."""
    own = seeds(trials, trials.ks, 0, 0)
    if isinstance(trials.estimator, Quick):
        tasks = [OneK(*each) for each in zip(trials.ks, own, strict=True)][::-1]  # long first
        found = list(engine.map(cluster_rows, trials, tasks))[::-1]
    else:  # which may share work between numbers, as a tree does
        found = labelings(trials.estimator, trials.rows, trials.ks, own)
    labels = [by_size(each) for each in found]
    spread, sharp = figures_of(trials.rows, labels)
    measures: dict[str, list] = {
        "silhouette": [None if math.isnan(value) else float(value) for value in sharp],
        "davies_bouldin": [],
        "calinski_harabasz": [],
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


def cluster_rows(trials: Trials, task: OneK) -> np.ndarray:
    return labelings(trials.estimator, trials.rows, (task.k,), (task.seed,))[0]


def run_task(trials: Trials, task: Task) -> Measured:
    """Cluster half of the rows; or a reference, and half of that."""
    if task.kind == "rows":
        nothing = np.full(len(trials.ks), np.nan)
        again = compare_half(trials, trials.rows, trials.ks, trials.labels, task)
        return Measured(nothing, nothing, again)
    stream = STREAMS[task.kind]
    rows = draw(trials.reference, task.kind, key(trials.seed, 1, stream, task.number))
    ks = trials.null_ks
    found = labelings(trials.estimator, rows, ks, seeds(trials, ks, stream, task.number))
    labels = [by_size(each) for each in found]
    spread, sharp = figures_of(rows, labels)
    again = compare_half(trials, rows, ks, labels, task)
    return Measured(np.array([log_of(value) for value in spread]), sharp, again)


STREAMS = {"rows": 0, "box": 1, "normal": 2}  # of random numbers


def compare_half(
    trials: Trials, rows: np.ndarray, ks: tuple[int, ...], labels: Any, task: Task
) -> tuple[np.ndarray, ...]:
    """How well the clusters of all the rows are found again in half of them."""
    stream = STREAMS[task.kind]
    order = permutation(key(trials.seed, 2, stream, task.number), len(rows))
    half = np.sort(order[: (len(rows) + 1) // 2])
    own = seeds(trials, ks, stream + 3, task.number)
    parts = labelings(trials.estimator, rows[half], ks, own)
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


def figures_of(rows: np.ndarray, labels: list[np.ndarray]) -> Figures:
    """The inertia and the silhouette of every clustering of the rows."""
    if are_units(rows):
        return unit_figures(rows, labels)
    spread = np.array([inertia(rows, each, engine=Serial()) for each in labels])
    return Figures(spread, np.array([silhouette_of(rows, each) for each in labels]))


def calinski_harabasz(rows: np.ndarray, k: int, within: float) -> float:
    """Spread between the clusters over that within, per degree of freedom."""
    n = len(rows)
    total = float(((rows - rows.mean(axis=0)) ** 2).sum())
    return (total - within) * (n - k) / (within * (k - 1)) if within > 0 and n > k else 0.0


def silhouette_of(rows: np.ndarray, labels: np.ndarray) -> float:
    check_stop()
    if not labels.any():
        return math.nan
    return silhouette_score(rows, labels, engine=Serial())


def log_of(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf


def seeds(trials: Trials, ks: tuple[int, ...], *items: int) -> list[int]:
    """A seed for every k that scikit-learn's manners accept."""
    return [int(key(trials.seed, 0, *items, k)) % 2**31 for k in ks]
