"""``choose_k``: how many clusters, if any, with the reasons.

Every k is tried on the rows and, as often, on reference data without clusters
(``null_reference``). ``k_trials`` clusters and measures, ``chosen_k`` decides.

Tibshirani, Walther and Hastie (2001), Estimating the number of clusters in a data set via the
gap statistic. JRSS B 63. Hennig (2007), Cluster-wise assessment of cluster stability.
Computational Statistics & Data Analysis 52. Pelleg and Moore (2000), X-means. ICML. The notes'
section on evaluating clusterings.
"""

import math
import operator
import warnings
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning, UndefinedMetricWarning

from tacit.cluster.chosen_k import ChosenK, KRow, compare_with_null, decide, knee_of
from tacit.cluster.k_trials import (
    FastKMeans,
    Task,
    TrialResult,
    Trials,
    cluster_rows,
    copy_with_seed,
    get_clusterer,
    k_parameter,
    mean_recovery,
    run_task,
)
from tacit.cluster.kmeans import KMeans
from tacit.cluster.null_reference import KINDS, fit_reference, word_association
from tacit.cluster.spherical import SphericalKMeans
from tacit.core.engines import Engine, get_engine, one_blas_thread
from tacit.core.progress import Callback, Step, notify
from tacit.core.randoms import key, permutation, seed_from
from tacit.core.wording import count
from tacit.data.bad_values import check_scale
from tacit.data.checked import is_table
from tacit.data.sparse_structure import check_structure
from tacit.data.table import Table
from tacit.kernels.unit_rows import unit_rows
from tacit.measure.pair_scores import load_rows

__all__ = ["choose_k"]

STEP = 1.25  # from one number of clusters tried on references to the next
SPARSE_COLUMNS = 20  # of reduced sparse rows: more would separate subtopics
WIDE = 100  # dense columns from which on rows are reduced
DENSE_COLUMNS = 50  # of reduced dense rows


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
    words: Any = None,
    random_state: Any = None,
    engine: str | Engine = "threads",
    callbacks: Sequence[Callback] | None = None,
) -> ChosenK:
    """Recommend a number of clusters, or none, with reasons.

    Parameters
    ----------
    X : array, CSR matrix, Table or Dask array
        The rows. Sparse ones are reduced by truncated SVD and compared by direction.
    ks : integers
        Numbers of clusters to try. 1, for no clusters, is always among them.
    method : str or estimator
        The clusterer: "kmeans", "spherical", "kmedoids", "ward" and so on, or an estimator with
        a parameter ``n_clusters`` or ``n_components``. ``KMeans`` and ``SphericalKMeans`` run
        by a routine for small data, ``small_kmeans``.
    n_references : int
        Data sets without clusters to draw, of each kind. Of many ``ks`` some are tried on
        them, and the others are interpolated.
    n_resamples : int
        How often half of the rows are clustered again.
    max_rows : int
        Use at most this many rows, drawn at random; ``notes`` says so.
    n_components : int or None
        Columns that sparse rows are reduced to. None is 20, or the largest of ``ks``.
    unit : bool or None
        Whether to compare rows by direction only. None does so for sparse rows and for
        ``SphericalKMeans``.
    words : CSR matrix or None
        The documents by their words, where dense rows were computed from such counts. None
        takes X if it is sparse and without negative values. If the words occur together no
        more than when they are dealt out to the documents at random, there are no clusters.
    random_state : int, RandomState, Generator or None
        Seed. The result is the same on every engine and for any number of workers.
    engine : {"serial", "threads", "dask"} or Engine
        Where the clusterings run in parallel; "dask" uses the threads of this process.
    callbacks : list or None
        Notified after every data set; see ``tacit.core.progress``. If one asks to stop, the
        result comes from the data sets so far.

    Returns
    -------
    ChosenK, with ``best``, ``table``, ``reasons`` and ``notes``.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(size=(60, 2)) + c for c in ((0, 0), (9, 0), (0, 9))])
    >>> choose_k(X, range(1, 6), random_state=0).best
    3
    >>> choose_k(rng.random((150, 2)), range(1, 6), random_state=0).headline
    'No clusters (k = 1).'
    """
    engine, seed = get_engine(engine), seed_from(random_state)
    ks = check_ks(ks)
    columns = max(SPARSE_COLUMNS, *ks) if n_components is None else n_components
    for name, value, lowest in (
        ("n_references", n_references, 2), ("n_resamples", n_resamples, 1),
        ("max_rows", max_rows, 10), ("n_components", columns, 1),
    ):  # fmt: skip
        if not isinstance(value, int | np.integer) or value < lowest:
            raise ValueError(f"choose_k({name}={value!r}) must be an integer from {lowest} up.")
    estimator, kind = trial_clusterer(method)
    if unit is None and kind == "SphericalKMeans":
        unit = True
    with one_blas_thread(), warnings.catch_warnings():
        # Half of the rows, or a reference, may have fewer clusters than asked for.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        data = prepare_rows(
            X, words, max_rows=max_rows, n_components=columns, unit=unit, seed=seed,
            engine=engine,
        )  # fmt: skip
        wanted, notes = possible_ks(ks, data)
        if wanted == (1,):
            return only_one(data, notes, kind)
        reference = fit_reference(data.rows, unit=data.unit)
        trials = Trials(data.rows, estimator, wanted, seed, reference, spaced_ks(wanted))
        trials, inertias, measures = cluster_rows(with_starts(trials), engine)
        trials = trials._replace(estimator=estimator)
        results, more = run_all(trials, n_references, n_resamples, engine, callbacks or ())
        association = None if data.words is None else word_association(data.words, seed, engine)
        bics = [bic_of(trials, i, inertias, data, kind) for i in range(len(wanted))]
    observed, null = average_trials(wanted, trials.null_ks, measures, results)
    evidence = compare_with_null(observed, null)
    table = table_of(wanted, inertias, observed, null, bics, evidence.gain)
    best, reasons = decide(table, evidence, association)
    knee, notes = knee_of(wanted, inertias), [*notes, *more]
    return ChosenK(best, tuple(table), tuple(reasons), tuple(notes), knee, kind, len(data.rows))


# --- The rows ---


class TrialRows(NamedTuple):
    """Rows in memory: few enough, dense and usable; and what was done to them."""

    rows: np.ndarray  # (n, d) float64
    unit: bool  # of length one
    distinct: int  # rows that differ
    words: Any  # the sparse documents that the rows come from, or None
    notes: tuple[str, ...]


def prepare_rows(
    X: Any, words: Any, *, max_rows: int, n_components: int, unit: bool | None, seed: np.uint64,
    engine: Engine,
) -> TrialRows:  # fmt: skip
    """Sample, reduce and validate. ``unit=None`` scales only sparse rows to length one."""
    notes = []
    if not sp.issparse(X) and not is_table(X):
        X = np.asarray(X)
        if X.ndim != 2:
            raise ValueError(
                f"choose_k needs rows and columns, but X has ndim={X.ndim}. Reshape it."
            )
        X = X if X.dtype.kind in "fiub" else np.asarray(X, np.float64)
    if sp.issparse(X):
        check_structure(X, "choose_k")
    table = Table.of(X)
    n = len(table)
    if n > max_rows:
        chosen = np.sort(permutation(key(seed, 10), n)[:max_rows])
        notes.append(f"These figures are of {max_rows:,} of the {n:,} rows, drawn at random.")
        X = table.take(chosen)
        words = None if words is None else check_words(words, n)[chosen]
    rows = load_rows(X, "euclidean", name="choose_k")
    check_scale(rows, "choose_k")
    if words is not None:
        words = check_words(words, rows.shape[0])
    elif sp.issparse(rows) and rows.nnz and rows.data.min() >= 0:
        words = rows
    unit = bool(sp.issparse(rows)) if unit is None else unit
    if unit:
        sparse = sp.issparse(rows)
        nonzero = np.asarray(abs(rows).sum(axis=1)).ravel() > 0 if sparse else rows.any(axis=1)
        if not nonzero.any():
            raise ValueError(
                "choose_k compares directions, but all rows are zero. Give some that are not."
            )
        if not nonzero.all():
            rows = rows[nonzero]
            notes.append(f"Left out {(~nonzero).sum():,} rows that are all zero: no direction.")
    if sp.issparse(rows) or rows.shape[1] > WIDE:
        columns = n_components if sp.issparse(rows) else max(n_components, DENSE_COLUMNS)
        rows, note = reduce_rows(rows, columns, unit, seed, engine)
        notes.append(note)
    rows = np.ascontiguousarray(rows, np.float64)
    if unit:
        rows, _ = unit_rows(rows)
    distinct = len(np.unique(rows, axis=0))
    return TrialRows(rows, unit, distinct, words, tuple(notes))


def check_words(words: Any, n: int) -> sp.csr_array:
    if not sp.issparse(words) or words.shape[0] != n:
        raise ValueError(
            f"choose_k(words=...) needs a sparse matrix with a row for each of {n:,} rows, but "
            f"got {getattr(words, 'shape', type(words).__name__)}. Give one, or None."
        )
    check_structure(words, "choose_k", "words")
    return sp.csr_array(words)


def reduce_rows(
    rows: Any, n_components: int, unit: bool, seed: np.uint64, engine: Engine
) -> tuple[np.ndarray, str]:
    """The rows along their first directions, and a note that says so."""
    from tacit.decompose.truncated_svd import TruncatedSVD

    size = max(1, min(n_components, *rows.shape))
    sparse = sp.issparse(rows)
    rows = sp.csr_array(rows, dtype=np.float64) if sparse else np.asarray(rows, np.float64)
    if unit:
        rows, _ = unit_rows(rows)
    if not sparse:
        rows = rows - rows.mean(axis=0)
    svd = TruncatedSVD(size, random_state=int(key(seed, 11)) % 2**31, engine=engine)
    metric = "cosine" if unit else "Euclidean distance"
    note = (
        f"{'Sparse rows' if sparse else 'Rows'} of {rows.shape[1]:,} columns were reduced to "
        f"{size} by truncated SVD, and compared by {metric}."
    )
    return svd.fit(rows).transform(rows), note


# --- The trials and what they measured ---


def trial_clusterer(method: Any) -> tuple[Any, str]:
    """The clusterer of the trials, ``small_kmeans`` where that has all parameters that are
    set; and the name of its class."""
    estimator = get_clusterer(method, name="choose_k")
    kind = type(estimator).__name__
    if type(estimator) in (KMeans, SphericalKMeans):
        default = type(estimator)()
        same = (estimator.max_iter, estimator.tol) == (default.max_iter, default.tol)
        if same and isinstance(estimator.init, str) and estimator.init == "k-means++":
            starts = estimator.n_init if isinstance(estimator.n_init, int) else 3
            return FastKMeans(starts, unit=kind == "SphericalKMeans"), kind
    k_parameter(estimator, name="choose_k")
    metric = estimator.get_params(deep=False).get("metric", "euclidean")
    if callable(metric) or metric == "precomputed":
        raise ValueError(
            f"choose_k draws reference rows and so needs rows, but the clusterer has metric="
            f"{metric!r}. Use a metric of rows, or compare stability(clusterer, X) for "
            "several numbers of clusters."
        )
    return estimator, kind


def run_all(
    trials: Trials, n_references: int, n_resamples: int, engine: Engine,
    callbacks: Sequence[Callback],
) -> tuple[dict[str, list[TrialResult]], list[str]]:  # fmt: skip
    """The results of every trial, in an order that allows a decision if it is stopped."""
    tasks = [Task(kind, i) for i in range(n_references) for kind in KINDS]
    resamples = [Task("rows", i) for i in range(n_resamples)]
    least = 2 * len(KINDS)  # references of each kind have a variance
    tasks[least:least] = resamples[:1]
    tasks += resamples[1:]
    results: dict[str, list[TrialResult]] = {"rows": [], **{kind: [] for kind in KINDS}}
    most = len(tasks)
    runs = engine.each(partial(run_task, trials), tasks)
    for done, (task, result) in enumerate(zip(tasks, runs, strict=True), start=1):
        results[task.kind].append(result)
        step = Step("choose_k", done, most, [], None, done=done == most)
        if notify(callbacks, step) and done < most:
            if done <= least:
                raise RuntimeError(
                    f"choose_k was stopped after {done} of {most} data sets, too few for a "
                    f"decision. Let it run to at least {least + 1}."
                )
            return results, [f"Stopped after {done} of {most} data sets."]
    return results, []


def spaced_ks(ks: tuple[int, ...]) -> tuple[int, ...]:
    """Numbers to try on references: the small ones, then each a step above the last. The
    figures of data without clusters change slowly with k and are interpolated.

    >>> spaced_ks(tuple(range(1, 31)))
    (1, 2, 3, 4, 5, 7, 9, 12, 15, 19, 24, 30)
    """
    chosen = [ks[0]]
    for k in ks[1:]:
        if k >= STEP * chosen[-1] or k == ks[-1]:
            chosen.append(k)
    return tuple(chosen)


def average_trials(ks, null_ks, measures, results) -> tuple[dict[str, list], dict]:
    """The figures of the rows, with the stability of every cluster; and of each reference."""
    summaries = {
        "log_inertia": lambda result: result.log_inertia,
        "silhouette": lambda result: result.silhouette,
        "least": lambda result: [np.nanmin(values) for values in result.stability],
        "mean": lambda result: [np.nanmean(values) for values in result.stability],
    }
    null = {
        kind: {
            name: np.array([
                np.interp(np.log(ks), np.log(null_ks), summary(result))
                for result in results[kind]
            ])
            for name, summary in summaries.items()
        }
        for kind in KINDS
    }  # fmt: skip
    resampled = zip(*(result.stability for result in results["rows"]), strict=True)
    stability = [mean_recovery(np.array(values)) for values in resampled]
    return {"stability": stability, **measures}, null


def table_of(ks, inertias, observed, null, bics, gain) -> list[KRow]:
    """One KRow for every k. The gap is that of the box, as in the paper."""
    box = null["box"]["log_inertia"]
    with np.errstate(divide="ignore", invalid="ignore"):
        gap = box.mean(axis=0) - np.log(inertias)
        error = box.std(axis=0) * math.sqrt(1 + 1 / len(box))

    def finite(value: float) -> float | None:
        return float(value) if math.isfinite(value) else None

    silhouette = np.max([null[kind]["silhouette"].max(axis=0) for kind in KINDS], axis=0)
    least = np.max([null[kind]["least"].mean(axis=0) for kind in KINDS], axis=0)
    return [
        KRow(
            k=k,
            inertia=float(inertias[i]),
            explained=float(1 - inertias[i] / inertias[0]) if inertias[0] > 0 else 0.0,
            silhouette=observed["silhouette"][i],
            davies_bouldin=observed["davies_bouldin"][i],
            calinski_harabasz=observed["calinski_harabasz"][i],
            gap=finite(gap[i]),
            gap_error=finite(error[i]),
            bic=bics[i],
            stability=float(observed["stability"][i].min()),
            null_silhouette=finite(silhouette[i]),
            null_stability=float(least[i]),
            gain=float(gain[i]),
        )
        for i, k in enumerate(ks)
    ]


def with_starts(trials: Trials, starts: int = 10) -> Trials:
    """More starts for the rows themselves than for the references."""
    if isinstance(trials.estimator, FastKMeans):
        return trials._replace(estimator=trials.estimator._replace(n_init=starts))
    n_init = trials.estimator.get_params(deep=False).get("n_init")
    if isinstance(n_init, int) and n_init < starts:
        return trials._replace(estimator=copy_with_seed(trials.estimator, 0, n_init=starts))
    return trials


def bic_of(
    trials: Trials, i: int, inertias: np.ndarray, data: TrialRows, kind: str
) -> float | None:
    """The BIC of the model, or of k equal round normals for k-means. Low is good."""
    k, (n, d) = trials.ks[i], data.rows.shape
    if hasattr(trials.estimator, "bic"):
        parameter = k_parameter(trials.estimator, name="choose_k")
        seed = int(key(trials.seed, 0, 0, 0, k)) % 2**31
        model = copy_with_seed(trials.estimator, seed, **{parameter: k}).fit(data.rows)
        return float(model.bic(data.rows))
    if data.unit or kind not in ("KMeans", "MiniBatchKMeans") or n <= k or not inertias[i] > 0:
        return None
    counts = np.unique(trials.labels[i], return_counts=True)[1]
    variance = inertias[i] / (d * (n - k))
    likelihood = (counts * np.log(counts / n)).sum()
    likelihood -= n * d / 2 * math.log(2 * math.pi * variance)
    likelihood -= d * (n - k) / 2
    return float(-2 * likelihood + (k * (d + 1)) * math.log(n))


def check_ks(ks: Iterable[int]) -> list[int]:
    try:
        wanted = sorted({operator.index(k) for k in ks} | {1})
    except TypeError:
        raise TypeError(
            f"choose_k(ks={ks!r}) needs several integers. Give a range or a list."
        ) from None
    if wanted[0] < 1:
        raise ValueError(f"choose_k(ks={wanted}) needs numbers of 1 or more. Choose others.")
    return wanted


def possible_ks(ks: list[int], data: TrialRows) -> tuple[tuple[int, ...], list[str]]:
    """The numbers that the rows allow, and a note on those that they do not."""
    most = max(1, min(len(data.rows) // 4, data.distinct - 1))
    left = [k for k in ks if k > most]
    if not left:
        return tuple(ks), list(data.notes)
    note = (
        f"Left out k = {', '.join(map(str, left))}: the data has "
        f"{count(len(data.rows), 'row')}, {data.distinct:,} different."
    )
    return tuple(k for k in ks if k <= most), [*data.notes, note]


def only_one(data: TrialRows, notes: list[str], method: str) -> ChosenK:
    """The result where only one number could be tried."""
    rows = data.rows
    inertia = float(((rows - rows.mean(axis=0)) ** 2).sum())
    if data.distinct == 1 and len(rows) > 1:
        reason = f"All {len(rows):,} rows are equal."
    else:
        reason = f"With {count(data.distinct, 'different row')} only k = 1 could be tried."
    row = KRow(1, inertia, 0.0, stability=1.0)
    return ChosenK(1, (row,), (reason,), tuple(notes), None, method, len(rows))
