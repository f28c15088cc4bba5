"""The trials of ``choose_k``: clusterings for every k, of the rows and of references.

A trial clusters one data set for every k: the rows themselves, half of them, or a reference.
Trials are independent and draw their randomness from (seed, trial), so an engine may run them
in parallel with the same figures. The estimator that is passed in is never fitted: every data
set is clustered by a copy with another seed, in the calling thread, as in ``stability``.

The stability of a cluster is how well it is recovered when half of the rows are left out: the
Jaccard index of the cluster and the most similar one among the clusters of the half.

Clusters *stand apart* if there are gaps between them. k-means cuts a curve, a band or a ring
into pieces that are compact and repeat, as clusters are; what they lack is a gap. So the rows
of two clusters are projected onto the line between their means, and those near its middle are
counted against those near the median of either cluster. Pieces of something continuous have as
many there; normal clouds three deviations apart have two thirds, those four apart a quarter.

Hennig (2007), Cluster-wise assessment of cluster stability. Computational Statistics & Data
Analysis 52. Lange, Roth, Braun and Buhmann (2004), Stability-based validation of clustering
solutions. Neural Computation 16. Chamalis and Likas (2018), The projected dip-means clustering
algorithm. SETN.
"""

import math
import reprlib
from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from tacit.cluster.hierarchy.inputs import METHODS as LINKAGES
from tacit.cluster.null_reference import Reference, draw
from tacit.cluster.small_kmeans import are_units, small_kmeans
from tacit.core.engines import Engine, Serial, check_stop
from tacit.core.randoms import key, permutation
from tacit.measure.center_scores import calinski_harabasz_score, davies_bouldin_score, inertia
from tacit.measure.labels import by_size, codes_of, contingency
from tacit.measure.pair_scores import silhouette_score

__all__ = [
    "METHODS", "FastKMeans", "Task", "TrialResult", "Trials", "cluster_rows", "copy_with_seed",
    "find_labels", "fraction_apart", "get_clusterer", "k_parameter", "mean_recovery",
    "recovery", "run_task",
]  # fmt: skip

PANEL = 512  # rows of a matrix product
# Of random numbers; 3 more for half of the rows.
STREAMS = {"rows": 0, "box": 1, "normal": 2, "radial": 6}
WINDOW = 0.2  # of the distance between two means, to either side
FILLED = 2 / 3  # of the rows near a median: with as many in the middle there is no gap
# Name, class in tacit.cluster, parameters.
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "kmeans": ("KMeans", {"n_init": 3}),
    "spherical": ("SphericalKMeans", {"n_init": 3}),
    "minibatch": ("MiniBatchKMeans", {}),
    "kmedoids": ("KMedoids", {}),
    "fuzzy": ("FuzzyCMeans", {}),
    "soft": ("SoftKMeans", {}),
    "divisive": ("DivisiveClustering", {}),
    **{name: ("AgglomerativeClustering", {"linkage": name}) for name in LINKAGES},
}


# --- Clusterers ---


class FastKMeans(NamedTuple):
    """The parameters of ``small_kmeans``, which replaces the estimator."""

    n_init: int = 3
    unit: bool = False  # centers of length one


def get_clusterer(method: Any, *, name: str) -> Any:
    """The estimator with this name, or the estimator itself."""
    if isinstance(method, str):
        if method not in METHODS:
            raise ValueError(
                f"{name}(method={method!r}) is unknown. Choose from {', '.join(METHODS)}, or "
                "give an estimator."
            )
        import tacit.cluster

        kind, settings = METHODS[method]
        return getattr(tacit.cluster, kind)(**settings)
    two_steps = hasattr(method, "fit") and hasattr(method, "predict")
    if isinstance(method, type) or not (hasattr(method, "fit_predict") or two_steps):
        raise TypeError(
            f"{name} needs a clusterer with fit_predict, or with fit and predict, but got "
            f"{reprlib.repr(method)}. Give an estimator such as KMeans(n_clusters=8), or the "
            f"name of one: {', '.join(METHODS)}."
        )
    return method


def k_parameter(estimator: Any, *, name: str) -> str:
    """The name of the parameter for the number of clusters."""
    known = estimator.get_params(deep=False) if hasattr(estimator, "get_params") else {}
    for parameter in ("n_clusters", "n_components"):
        if parameter in known:
            return parameter
    raise TypeError(
        f"{name} tries several numbers of clusters, but {type(estimator).__name__} has no "
        "parameter n_clusters or n_components. Give an estimator that has one."
    )


def copy_with_seed(estimator: Any, seed: int, **settings: Any) -> Any:
    """An unfitted copy with this seed that runs in the calling thread."""
    if not hasattr(estimator, "get_params"):
        return deepcopy(estimator)
    copy = clone(estimator)
    local: dict[str, Any] = {"random_state": seed, "engine": Serial(), "callbacks": None}
    for name in copy.get_params(deep=True):  # also of the steps of a pipeline
        last = name.rpartition("__")[2]
        if last in local:
            settings.setdefault(name, local[last])
    return copy.set_params(**settings)


def find_labels(model: Any, rows: Any) -> np.ndarray:
    """Fit the model and return the label of every row."""
    if hasattr(model, "fit_predict"):
        return np.asarray(model.fit_predict(rows))
    return np.asarray(model.fit(rows).predict(rows))


def labels_for_each_k(
    estimator: Any, rows: Any, ks: Sequence[int], seeds: Sequence[int], engine: Engine
) -> list[np.ndarray]:
    """The labels of the rows for every k; a tree is built once and cut many times. Only
    ``small_kmeans`` uses the engine."""
    from tacit.cluster.hierarchy.agglomerative import AgglomerativeClustering
    from tacit.cluster.hierarchy.dendrogram import cut

    if isinstance(estimator, FastKMeans):
        if are_units(rows):
            rows = rows.astype(np.float32)  # products of such rows keep six digits
        n_init, unit = estimator

        def label(i: int) -> np.ndarray:
            return small_kmeans(rows, ks[i], seeds[i], starts=n_init, unit=unit).labels

        longest_first = range(len(ks))[::-1]
        return list(engine.each(label, longest_first))[::-1]
    if isinstance(estimator, AgglomerativeClustering) and estimator.compress is None:
        model = copy_with_seed(estimator, 0, n_clusters=1, distance_threshold=None).fit(rows)
        return [cut(model.linkage_matrix_, k=k) for k in ks]
    parameter = k_parameter(estimator, name="choose_k")
    labels = []
    for k, seed in zip(ks, seeds, strict=True):
        check_stop()
        if k == 1:
            labels.append(np.zeros(rows.shape[0], np.int32))
        else:
            model = copy_with_seed(estimator, seed, **{parameter: k})
            labels.append(find_labels(model, rows))
    return labels


# --- Trials ---


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
    seeds = seeds_for(trials, trials.ks, 0, 0)
    each_k = labels_for_each_k(trials.estimator, trials.rows, trials.ks, seeds, engine)
    labels = [by_size(codes) for codes in each_k]
    inertias, silhouettes = inertias_and_silhouettes(trials.rows, labels)

    def score(function: Callable) -> list:
        """A score for each k, and None for one cluster."""
        return [
            function(trials.rows, codes, engine=Serial()) if codes.any() else None
            for codes in labels
        ]

    measures = {
        "silhouette": [None if math.isnan(value) else float(value) for value in silhouettes],
        "davies_bouldin": score(davies_bouldin_score),
        "calinski_harabasz": score(calinski_harabasz_score),
        "apart": list(engine.each(partial(fraction_apart, trials.rows), labels)),
    }
    return trials._replace(labels=tuple(labels)), inertias, measures


def run_task(trials: Trials, task: Task) -> TrialResult:
    """Cluster half of the rows; or a reference, and half of that."""
    if task.kind == "rows":
        nothing = np.full(len(trials.ks), np.nan)
        stability = compare_half(trials, trials.rows, trials.ks, trials.labels, task)
        return TrialResult(nothing, nothing, stability)
    stream = STREAMS[task.kind]
    rows = draw(trials.reference, task.kind, key(trials.seed, 1, stream, task.number))
    ks = trials.null_ks
    seeds = seeds_for(trials, ks, stream, task.number)
    each_k = labels_for_each_k(trials.estimator, rows, ks, seeds, Serial())
    labels = [by_size(codes) for codes in each_k]
    inertias, silhouettes = inertias_and_silhouettes(rows, labels)
    stability = compare_half(trials, rows, ks, labels, task)
    logs = [math.log(value) if value > 0 else -math.inf for value in inertias]
    return TrialResult(np.array(logs), silhouettes, stability)


def compare_half(
    trials: Trials, rows: np.ndarray, ks: tuple[int, ...], labels: Any, task: Task
) -> tuple[np.ndarray, ...]:
    """How well the clusters of all rows are recovered from half of them."""
    stream = STREAMS[task.kind]
    order = permutation(key(trials.seed, 2, stream, task.number), len(rows))
    half = np.sort(order[: (len(rows) + 1) // 2])
    seeds = seeds_for(trials, ks, stream + 3, task.number)
    resampled = labels_for_each_k(trials.estimator, rows[half], ks, seeds, Serial())
    return tuple(
        recovery(base[half], again, int(base.max()) + 1)
        for base, again in zip(labels, resampled, strict=True)
    )


def recovery(base: np.ndarray, again: np.ndarray, k: int) -> np.ndarray:
    """For each of k clusters, its Jaccard index with the most similar one of ``again``.

    NaN for a cluster that has no rows here.

    >>> recovery(np.array([0, 0, 2, 2]), np.array([5, 5, 5, 7]), 3).round(3)
    array([0.667,   nan, 0.5  ])
    """
    a, b = codes_of(base, name="stability"), codes_of(again, name="stability")
    both = contingency(a, b).toarray()
    best = np.full(k, np.nan)
    best[a.names] = (both / (a.counts[:, None] + b.counts - both)).max(axis=1)
    return best


def mean_recovery(values: np.ndarray) -> np.ndarray:
    """The mean over resamples, (resamples, k); 0 for a cluster that was never drawn."""
    known = ~np.isnan(values)
    return np.where(known, values, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)


def inertias_and_silhouettes(
    rows: np.ndarray, labelings: Sequence[np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """The inertia and the silhouette of every clustering; NaN for one cluster."""
    if are_units(rows):
        return unit_figures(rows, labelings)
    inertias, silhouettes = np.empty(len(labelings)), np.full(len(labelings), math.nan)
    for i, labels in enumerate(labelings):
        check_stop()
        inertias[i] = inertia(rows, labels, engine=Serial())
        if labels.any():
            silhouettes[i] = silhouette_score(rows, labels, engine=Serial())
    return inertias, silhouettes


def seeds_for(trials: Trials, ks: tuple[int, ...], *items: int) -> list[int]:
    """A seed for every k, in scikit-learn's range."""
    return [int(key(trials.seed, 0, *items, k)) % 2**31 for k in ks]


# --- Figures ---


def fraction_apart(rows: np.ndarray, labels: np.ndarray) -> float:
    """The fraction of rows that are in clusters which stand apart; labels count from 0.

    >>> rng = np.random.default_rng(0)
    >>> rows = rng.random((400, 2)) * [4, 1]
    >>> labels = rows[:, 0].astype(int)  # a band in four pieces
    >>> fraction_apart(rows, labels)
    0.0
    >>> fraction_apart(rows + 3 * labels[:, None], labels)
    1.0
    """
    sizes = np.bincount(labels)
    k, rows = len(sizes), rows - rows.mean(axis=0)  # a large offset would cost digits
    means = np.stack([rows[labels == i].mean(axis=0) for i in range(k)])
    squares = np.einsum("kd,kd->k", means, means)
    near = [rows[labels == i] @ means.T - squares / 2 for i in range(k)]
    apart = np.ones(k, bool)
    for i in range(k):
        for j in range(i):
            length = squares[i] + squares[j] - 2 * means[i] @ means[j]
            # The middle is at 0, and the means are at -length / 2 and length / 2.
            places = [near[side][:, j] - near[side][:, i] for side in (i, j)]
            width = WINDOW * length
            middle = sum(np.count_nonzero(np.abs(x) < width) for x in places)
            around = [np.abs(x - np.median(x)) < width for x in places]
            if middle >= FILLED * min(map(np.count_nonzero, around)):
                apart[i] = apart[j] = False
    return float(sizes[apart].sum() / len(rows))


def unit_figures(
    rows: np.ndarray, labelings: Sequence[np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """The same for rows of length one, from all pairs once: the mean distances to the clusters
    of all clusterings are one matrix product, a panel of rows at a time.

    >>> rows = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    >>> unit_figures(rows, [np.array([0, 0, 1, 1]), np.array([0, 0, 0, 0])])
    (array([0., 2.]), array([ 1., nan]))
    """
    n = len(rows)
    sizes = [np.bincount(labels) for labels in labelings]
    edges = np.concatenate([[0], np.cumsum([len(size) for size in sizes])])
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
            labels = labelings[i][start:stop]
            values = panel_silhouettes(sums_apart[:, a:b], labels, counts[a:b])
            silhouette[i] += values.sum(dtype=np.float64)
    one = [int((size > 0).sum()) < 2 for size in sizes]
    return inertia, np.where(one, np.nan, silhouette / n)


def panel_silhouettes(sums: np.ndarray, labels: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Silhouettes from the sums of the distances of each row to each cluster."""
    place = np.arange(len(labels)), labels
    inside = sums[place] / np.maximum(counts[labels] - 1, 1)
    means = sums / np.maximum(counts, 1).astype(np.float32)
    means[:, counts == 0] = np.inf
    means[place] = np.inf
    outside = means.min(axis=1)
    widest = np.maximum(inside, outside)
    alone = (counts[labels] == 1) | (widest == 0) | ~np.isfinite(outside)
    return np.where(alone, 0.0, (outside - inside) / np.where(alone, 1.0, widest))
