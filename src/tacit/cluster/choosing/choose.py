"""``choose_k``: how many clusters, if any, with the reasons.

Every k is tried on the rows and, as often, on reference data without clusters
(``null_reference``). What is measured is in ``k_trials``, how it is weighed in ``k_verdict``.

Tibshirani, Walther and Hastie (2001), Estimating the number of clusters in a data set via the
gap statistic. JRSS B 63. Hennig (2007), Cluster-wise assessment of cluster stability.
Computational Statistics & Data Analysis 52. Pelleg and Moore (2000), X-means. ICML. The notes'
section on evaluating clusterings.
"""

import math
import operator
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning, UndefinedMetricWarning

from tacit.cluster.choosing.chosen_k import ChosenK, KRow
from tacit.cluster.choosing.k_rows import Looked, look_at
from tacit.cluster.choosing.k_trials import Measured, Task, Trials, own_trial, run_task
from tacit.cluster.choosing.k_verdict import evidence_of, knee_of, verdict
from tacit.cluster.choosing.null_reference import KINDS, reference_of
from tacit.cluster.kmeans.kmeans import KMeans
from tacit.cluster.kmeans.spherical import SphericalKMeans
from tacit.cluster.partitions import Quick, clusterer_of, prepared, size_name
from tacit.core.engines import Engine, get_engine, one_blas_thread
from tacit.core.progress import Callback, Step, notify
from tacit.core.randoms import key, seed_from

__all__ = ["choose_k"]

STEP = 1.25  # from one number of clusters tried on references to the next
FEW_COLUMNS = 20  # that sparse rows are reduced to: more would tell topics from subtopics


def choose_k(
    X: Any,
    ks: Iterable[int] = range(1, 13),
    *,
    method: Any = "kmeans",
    n_references: int = 10,
    n_resamples: int = 20,
    max_rows: int = 2000,
    n_components: int | None = None,
    unit: bool | None = None,
    random_state: Any = None,
    engine: str | Engine = "threads",
    callbacks: Sequence[Callback] | None = None,
) -> ChosenK:
    """Recommend a number of clusters, or none, and say why.

    Parameters
    ----------
    X : array, CSR matrix, Table or Dask array
        The rows. Sparse ones are reduced by truncated SVD and compared by direction.
    ks : integers
        Numbers of clusters to try. 1, for no clusters, is always among them.
    method : str or estimator
        What makes the clusters: "kmeans", "spherical", "kmedoids", "ward" and so on, or an
        estimator with a parameter ``n_clusters`` or ``n_components``. ``KMeans`` and
        ``SphericalKMeans`` run by a routine for small data, see ``kmeans_small``.
    n_references : int
        Data sets without clusters to draw, of each kind. Of many ``ks`` some are tried on
        them, and what they reach in between is read off.
    n_resamples : int
        How often half of the rows are clustered again.
    max_rows : int
        Look at no more rows than this, drawn at random. ``notes`` tells.
    n_components : int or None
        Columns that sparse rows are reduced to. None is 20, or the largest of ``ks``.
    unit : bool or None
        Whether to compare rows by direction only. None does so for sparse rows and for
        ``SphericalKMeans``.
    random_state : int, RandomState, Generator or None
        Seed. The answer is the same on every engine and for any number of workers.
    engine : {"serial", "threads", "dask"} or Engine
        Where the clusterings run, many side by side.
    callbacks : list or None
        Told after every data set; see ``tacit.core.progress``. If one asks to stop, the
        answer comes from the data sets seen so far.

    Returns
    -------
    ChosenK, with ``best``, ``table``, ``reasons`` and ``notes``.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(size=(60, 2)) + c for c in ((0, 0), (9, 0), (0, 9))])
    >>> found = choose_k(X, range(1, 6), random_state=0)
    >>> found.best
    3
    >>> choose_k(rng.random((150, 2)), range(1, 6), random_state=0).headline
    'No clusters (k = 1).'
    """
    engine, seed = get_engine(engine), seed_from(random_state)
    ks = checked(ks)
    columns = max(FEW_COLUMNS, *ks) if n_components is None else n_components
    check_counts(n_references=(n_references, 2), n_resamples=(n_resamples, 1),
                 max_rows=(max_rows, 10), n_components=(columns, 1))  # fmt: skip
    estimator, kind = trial_clusterer(method)
    if unit is None and kind == "SphericalKMeans":
        unit = True
    with one_blas_thread(), warnings.catch_warnings():
        # Fewer clusters than asked for, in a half or a reference, is an answer too.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        looked = look_at(
            X, max_rows=max_rows, n_components=columns, unit=unit, seed=seed, engine=engine
        )
        wanted, notes = possible(ks, looked)
        if wanted == (1,):
            return alone(looked, notes, kind)
        reference = reference_of(looked.rows, unit=looked.unit)
        trials = Trials(looked.rows, estimator, wanted, seed, reference, some_of(wanted))
        trials, spread, measures = own_trial(with_starts(trials), engine)
        trials = trials._replace(estimator=estimator)
        found, more = run_all(trials, n_references, n_resamples, engine, callbacks or ())
        bics = [bic_of(trials, i, spread, looked, kind) for i in range(len(wanted))]
    own, null = figures_of(wanted, trials.null_ks, measures, found)
    table = rows_of(wanted, spread, own, null, bics)
    best, reasons = verdict(table, evidence_of(own, null))
    return ChosenK(
        best,
        tuple(table),
        tuple(reasons),
        (*notes, *more),
        knee_of(wanted, spread),
        kind,
        len(looked.rows),
    )


# --- Its parts ---


def trial_clusterer(method: Any) -> tuple[Any, str]:
    """What makes the clusters in the trials, and the name of its class."""
    estimator = clusterer_of(method, name="choose_k")
    kind = type(estimator).__name__
    if is_plain(estimator):
        starts = estimator.n_init if isinstance(estimator.n_init, int) else 3
        return Quick(starts, unit=kind == "SphericalKMeans"), kind
    size_name(estimator, name="choose_k")
    check_metric(estimator)
    return estimator, kind


def is_plain(estimator: Any) -> bool:
    """Whether it is our k-means with nothing set that a quicker routine would miss."""
    if type(estimator) not in (KMeans, SphericalKMeans):
        return False
    usual = type(estimator)()
    same = (estimator.max_iter, estimator.tol) == (usual.max_iter, usual.tol)
    return same and isinstance(estimator.init, str) and estimator.init == "k-means++"


def run_all(
    trials: Trials,
    n_references: int,
    n_resamples: int,
    engine: Engine,
    callbacks: Sequence[Callback],
) -> tuple[dict[str, list[Measured]], list[str]]:
    """Every trial, in an order that leaves something to say if it is stopped."""
    tasks = [Task(kind, i) for i in range(n_references) for kind in KINDS]
    halves = [Task("rows", i) for i in range(n_resamples)]
    tasks[4:4] = halves[:1]
    tasks += halves[1:]
    found: dict[str, list[Measured]] = {"rows": [], **{kind: [] for kind in KINDS}}
    most = len(tasks)
    for done, (task, result) in enumerate(
        zip(tasks, engine.map(run_task, trials, tasks), strict=True), start=1
    ):
        found[task.kind].append(result)
        step = Step("choose_k", done, most, [], None, done=done == most)
        if notify(callbacks, step) and done < most:
            if done < 5:
                raise RuntimeError(
                    f"choose_k was stopped after {done} of {most} data sets, too few to "
                    "answer. Let it run to at least 5."
                )
            return found, [f"Stopped after {done} of {most} data sets."]
    return found, []


def some_of(ks: tuple[int, ...]) -> tuple[int, ...]:
    """Numbers to try on references: the small ones, then each a step above the last. What
    data without clusters reaches changes slowly, and is read off in between.

    >>> some_of(tuple(range(1, 31)))
    (1, 2, 3, 4, 5, 7, 9, 12, 15, 19, 24, 30)
    """
    kept = [ks[0]]
    for k in ks[1:]:
        if k >= STEP * kept[-1] or k == ks[-1]:
            kept.append(k)
    return tuple(kept)


def figures_of(ks, null_ks, measures, found) -> tuple[dict[str, list], dict]:
    """The stability of every cluster; and what each kind of reference reached."""

    def between(figures: np.ndarray) -> np.ndarray:
        at, known = np.log(ks), np.log(null_ks)
        return np.array([np.interp(at, known, each) for each in figures])

    own = {"again": [clusterwise(found["rows"], i) for i in range(len(ks))], **measures}
    null = {
        kind: {
            "log_inertia": between(np.array([each.log_inertia for each in found[kind]])),
            "silhouette": between(np.array([each.silhouette for each in found[kind]])),
            "least": between(stabilities(found[kind], np.nanmin)),
            "mean": between(stabilities(found[kind], np.nanmean)),
        }
        for kind in KINDS
    }
    return own, null


def rows_of(ks, spread, own, null, bics) -> list[KRow]:
    """The table. The gap is that of the box, as its inventors have it."""
    box = null["box"]["log_inertia"]
    with np.errstate(divide="ignore", invalid="ignore"):
        gap = box.mean(axis=0) - np.log(spread)
        error = box.std(axis=0) * math.sqrt(1 + 1 / len(box))
    sharp = np.max([null[kind]["silhouette"].max(axis=0) for kind in KINDS], axis=0)
    least = np.max([null[kind]["least"].mean(axis=0) for kind in KINDS], axis=0)
    return [
        KRow(
            k=k,
            inertia=float(spread[i]),
            explained=float(1 - spread[i] / spread[0]) if spread[0] > 0 else 0.0,
            silhouette=own["silhouette"][i],
            davies_bouldin=own["davies_bouldin"][i],
            calinski_harabasz=own["calinski_harabasz"][i],
            gap=finite(gap[i]),
            gap_error=finite(error[i]),
            bic=bics[i],
            stability=float(own["again"][i].min()),
            null_silhouette=finite(sharp[i]),
            null_stability=float(least[i]),
        )
        for i, k in enumerate(ks)
    ]


def stabilities(trials: list[Measured], summary: Any) -> np.ndarray:
    """(references, ks): the least or the mean stability of the clusters of each."""
    return np.array([[summary(again) for again in each.found_again] for each in trials])


def clusterwise(trials: list[Measured], i: int) -> np.ndarray:
    """The mean stability of every cluster; 0 for one that no half had a row of."""
    seen = np.array([each.found_again[i] for each in trials])
    known = ~np.isnan(seen)
    return np.where(known, seen, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)


def finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def with_starts(trials: Trials, starts: int = 10) -> Trials:
    """The rows themselves deserve more starts than what they are held against."""
    if isinstance(trials.estimator, Quick):
        return trials._replace(estimator=trials.estimator._replace(starts=starts))
    known = trials.estimator.get_params(deep=False)
    if isinstance(known.get("n_init"), int) and known["n_init"] < starts:
        return trials._replace(estimator=prepared(trials.estimator, 0, n_init=starts))
    return trials


def bic_of(
    trials: Trials, i: int, spread: np.ndarray, looked: Looked, kind: str
) -> float | None:
    """The model's own, or that of k equal round normals for k-means. Low is good."""
    k, (n, d) = trials.ks[i], looked.rows.shape
    if hasattr(trials.estimator, "bic"):
        parameter = size_name(trials.estimator, name="choose_k")
        seed = int(key(trials.seed, 0, 0, 0, k)) % 2**31
        model = prepared(trials.estimator, seed, **{parameter: k}).fit(looked.rows)
        return float(model.bic(looked.rows))
    if looked.unit or kind not in ("KMeans", "MiniBatchKMeans") or n <= k or not spread[i] > 0:
        return None
    counts = np.unique(trials.labels[i], return_counts=True)[1]
    variance = spread[i] / (d * (n - k))
    fit = (counts * np.log(counts / n)).sum() - n * d / 2 * math.log(2 * math.pi * variance)
    fit -= d * (n - k) / 2
    return float(-2 * fit + (k * (d + 1)) * math.log(n))


def checked(ks: Iterable[int]) -> list[int]:
    try:
        wanted = sorted({operator.index(k) for k in ks} | {1})
    except TypeError:
        raise TypeError(
            f"choose_k(ks={ks!r}) needs several integers. Give a range or a list."
        ) from None
    if wanted[0] < 1:
        raise ValueError(f"choose_k(ks={wanted}) needs numbers of 1 or more. Choose others.")
    return wanted


def possible(ks: list[int], looked: Looked) -> tuple[tuple[int, ...], list[str]]:
    """The numbers that the rows allow, and a note on those that they do not."""
    most = max(1, min(len(looked.rows) // 4, looked.distinct - 1))
    left = [k for k in ks if k > most]
    if not left:
        return tuple(ks), list(looked.notes)
    note = (
        f"Left out k = {', '.join(map(str, left))}: there are only {len(looked.rows):,} rows, "
        f"{looked.distinct:,} of them different."
    )
    return tuple(k for k in ks if k <= most), [*looked.notes, note]


def alone(looked: Looked, notes: list[str], method: str) -> ChosenK:
    """The answer where there is nothing to compare."""
    rows = looked.rows
    spread = float(((rows - rows.mean(axis=0)) ** 2).sum())
    if looked.distinct == 1 and len(rows) > 1:
        reason = f"All {len(rows):,} rows are equal."
    else:
        reason = f"With {looked.distinct:,} different rows only k = 1 could be tried."
    row = KRow(1, spread, 0.0, stability=1.0)
    return ChosenK(1, (row,), (reason,), tuple(notes), None, method, len(rows))


def check_metric(estimator: Any) -> None:
    metric = estimator.get_params(deep=False).get("metric", "euclidean")
    if callable(metric) or metric == "precomputed":
        raise ValueError(
            f"choose_k draws reference rows and so needs rows, but the clusterer has metric="
            f"{metric!r}. Use a metric of rows, or look at stability(clusterer, X) for "
            "several numbers of clusters."
        )


def check_counts(**counts: tuple[int, int]) -> None:
    for name, (value, lowest) in counts.items():
        if not isinstance(value, int | np.integer) or value < lowest:
            raise ValueError(f"choose_k({name}={value!r}) must be an integer from {lowest} up.")
