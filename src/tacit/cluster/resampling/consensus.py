"""``stability``: which clusters, and which rows, a clusterer finds again on changed data.

Two rows belong together as often as resamples put them into one cluster; that share is their
co-association. Kept for all pairs it is a matrix of n x n. Here every row is compared with the
clusters instead:

    collect   for every resample, how many rows of each of its clusters are in each cluster of
              the whole data: a small table
    row       from the table, how many members of each cluster a row was with, and how many it
              could have been with: their quotient is its mean co-association with the cluster

which takes n x k numbers and is exact. The matrix itself is made for a sample of rows, and from
it, by average linkage of 1 - co-association, the consensus tree: where two branches join is how
often their rows were apart.

Monti, Tamayo, Mesirov and Golub (2003), Consensus clustering. Machine Learning 52. Fred and
Jain (2005), Combining multiple clusterings using evidence accumulation. IEEE Trans. PAMI 27.
Hennig (2007), Cluster-wise assessment of cluster stability. Computational Statistics & Data
Analysis 52. The notes' section on soft clustering.
"""

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from tacit.cluster.choosing.k_trials import found_again
from tacit.cluster.hierarchy.linkage import linkage
from tacit.cluster.partitions import clusterer_of, labels_by, prepared
from tacit.cluster.resampling.resamples import (
    NOWHERE,
    UNSEEN,
    Resample,
    Source,
    cleaned,
    count_rows,
    label_resample,
    source_of,
)
from tacit.cluster.resampling.stable_clusters import ClusterStability, RowStability, Stability
from tacit.core.engines import Engine, get_engine, one_blas_thread
from tacit.core.kernel import kernel
from tacit.core.progress import Callback, Step, notify
from tacit.core.randoms import key, permutation, seed_from
from tacit.data.table import Table
from tacit.measure.agreement import adjusted_rand_score
from tacit.measure.distance_sums import load_rows
from tacit.measure.labels import by_size

__all__ = ["Stability", "coassociation", "stability"]

BLOCK = 256  # rows of the matrix at a time


def stability(
    clusterer: Any,
    X: Any,
    *,
    n_resamples: int = 50,
    perturb: str = "bootstrap",
    noise: float = 0.1,
    labels: Any = None,
    max_rows: int = 1000,
    tree: bool = True,
    random_state: Any = None,
    engine: str | Engine = "threads",
    callbacks: Sequence[Callback] | None = None,
) -> Stability:
    """Cluster changed copies of the data, and tell how sure each cluster and each row is.

    Parameters
    ----------
    clusterer : estimator or str
        Anything with ``fit_predict``, or with ``fit`` and ``predict``; or a name such as
        "ward". It is copied, never fitted. Negative labels mean that a row is in no cluster.
    X : array, CSR matrix, Table, square matrix of distances, or list of objects
        What the clusterer takes.
    n_resamples : int
        How many changed copies.
    perturb : {"bootstrap", "noise"}
        Draw rows with repetition, or add noise to all of them.
    noise : float
        Size of the noise, in standard deviations of each column; for sparse rows the standard
        deviation of the logarithm of what their values are multiplied by.
    labels : array of n_rows labels or None
        The clusters to be sure about. None lets the clusterer find them on X as it is.
    max_rows : int
        Rows in the co-association matrix and the tree: all of them, or so many drawn at random.
    tree : bool
        Whether to make those two.
    random_state : int, RandomState, Generator or None
        Seed. The answer is the same on every engine and for any number of workers.
    engine : {"serial", "threads", "dask"} or Engine
        Where the resamples are clustered, side by side.
    callbacks : list or None
        Told after every resample; see ``tacit.core.progress``. If one asks to stop, the answer
        comes from the resamples made so far.

    Returns
    -------
    Stability, with ``clusters``, ``rows``, ``tree`` and ``coassociation``. Clusters are
    numbered by size, 0 the largest, unless ``labels`` were given.

    Examples
    --------
    >>> from tacit.cluster import KMeans
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [6.0], [10.0], [11.0], [12.0], [13.0]])
    >>> found = stability(KMeans(2, n_init=5), X, random_state=0)
    >>> print(found)
    2 clusters, agreement 0.91 over 50 resamples (bootstrap)
    cluster  rows  confidence  recovered  rival  with rival
          0     5        0.92       0.96      1        0.03
          1     4        1.00       0.96      0        0.04
    >>> found.least_sure(1)
    array([4])
    """
    seed = seed_from(random_state)
    estimator = clusterer_of(clusterer, name="stability")
    check_request(perturb, noise, n_resamples, max_rows)
    X, square = held(X, estimator)
    source = source_of(X, estimator, perturb, noise, seed, square=square)
    base, names = base_labels(source, labels)
    n = len(base)
    order = permutation(key(seed, 3), n)[:max_rows] if n > max_rows else np.arange(n)
    sample = np.sort(order)
    k = len(names)
    pairs = Pairs(np.zeros((n, k)), np.zeros((n, k)))
    recovered, agreement, seen_labels = [], [], []
    with warnings.catch_warnings():
        # A resample may hold fewer clusters than were asked for.
        warnings.simplefilter("ignore", ConvergenceWarning)
        resamples = [Resample(b) for b in range(n_resamples)]
        for done, found in enumerate(
            get_engine(engine).map(label_resample, source, resamples), start=1
        ):
            add_pairs(pairs, base, found, k)
            both = (base >= 0) & (found >= 0)
            if both.any():
                recovered.append(found_again(base[both], found[both], k))
                agreement.append(adjusted_rand_score(base[both], found[both]))
            if tree:
                seen_labels.append(found[sample])
            last = done == n_resamples
            step = Step("stability", done, n_resamples, [], None, done=last)
            if notify(callbacks or (), step):
                break
    shares = shares_of(pairs, base)
    matrix = Z = None
    if tree and len(sample) > 1:
        matrix = coassociation(np.array(seen_labels), base[sample], shares[sample], engine)
        Z = linkage(condensed(1 - matrix), "average")
    notes = () if len(sample) == n else (
        f"The tree and the matrix are of {len(sample):,} of {n:,} rows, drawn at random.",
    )  # fmt: skip
    rows = rows_of(base, shares, names)
    return Stability(
        clusters=clusters_of(base, shares, recovered, names),
        rows=rows,
        agreement=float(np.mean(agreement)) if agreement else 0.0,
        tree=Z,
        tree_rows=sample,
        coassociation=matrix,
        n_resamples=done,
        perturb=perturb,
        notes=notes,
    )


# --- Rows against clusters ---


class Pairs(NamedTuple):
    """For every row and cluster: members it was with, and members it could have been with."""

    together: np.ndarray  # (n, k)
    seen: np.ndarray  # (n, k)


def add_pairs(pairs: Pairs, base: np.ndarray, found: np.ndarray, k: int) -> None:
    """Add what one resample says."""
    here = found != UNSEEN
    member = here & (base >= 0)
    counts = np.bincount(base[member], minlength=k)
    placed = member & (found >= 0)
    width = int(found.max(initial=-1)) + 1
    cells = found[placed].astype(np.int64) * k + base[placed]
    table = np.bincount(cells, minlength=width * k).reshape(width, k)
    inside = found >= 0
    pairs.together[inside] += table[found[inside]]
    pairs.seen[here] += counts
    own = np.flatnonzero(placed)  # no row is a pair with itself
    pairs.together[own, base[own]] -= 1
    own = np.flatnonzero(member)
    pairs.seen[own, base[own]] -= 1


def shares_of(pairs: Pairs, base: np.ndarray) -> np.ndarray:
    """(n, k): how often a row was with the members of each cluster."""
    shares = np.divide(
        pairs.together, pairs.seen, out=np.zeros(pairs.seen.shape), where=pairs.seen > 0
    )
    # A row that had nobody to be with is as sure as it kept away from the other clusters.
    inside = np.flatnonzero(base >= 0)
    alone = inside[pairs.seen[inside, base[inside]] == 0]
    shares[alone, base[alone]] = 0.0
    shares[alone, base[alone]] = 1.0 - shares[alone].max(axis=1, initial=0.0)
    return shares


def rows_of(base: np.ndarray, shares: np.ndarray, names: np.ndarray) -> RowStability:
    own, rival, value = np.full(len(base), -1), np.full(len(base), -1), np.zeros(len(base))
    inside = np.flatnonzero(base >= 0)
    own[inside] = names[base[inside]]
    confidence = np.zeros(len(base))
    confidence[inside] = shares[inside, base[inside]]
    if shares.shape[1] > 1:
        others = shares.copy()
        others[inside, base[inside]] = -1.0
        at = others.argmax(axis=1)
        rival, value = names[at], others[np.arange(len(base)), at]
    return RowStability(own, confidence, rival, value)


def clusters_of(
    base: np.ndarray, shares: np.ndarray, recovered: list, names: np.ndarray
) -> tuple[ClusterStability, ...]:
    again = np.array(recovered) if recovered else np.zeros((1, len(names)))
    known = ~np.isnan(again)
    mean = np.where(known, again, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    found = []
    for j, name in enumerate(names):
        members = base == j
        means = shares[members].mean(axis=0)
        rival, share = None, None
        if len(names) > 1:
            others = means.copy()
            others[j] = -1.0
            at = int(others.argmax())
            rival, share = int(names[at]), float(others[at])
        found.append(
            ClusterStability(
                int(name), int(members.sum()), float(means[j]), float(mean[j]), rival, share
            )
        )
    return tuple(found)


# --- Rows against rows ---


def coassociation(
    labels: np.ndarray,
    base: np.ndarray,
    shares: np.ndarray,
    engine: str | Engine = "serial",
) -> np.ndarray:
    """(n, n): how often two rows were together, of the times that both were drawn.

    ``labels`` holds a resample in every row. Where two rows never met, the mean of how each
    stands to the cluster of the other.
    """
    labels = np.ascontiguousarray(labels.T, np.int32)  # (n, resamples)
    n = len(labels)
    matrix = np.empty((n, n))
    spans = [Span(i, min(i + BLOCK, n)) for i in range(0, n, BLOCK)]
    for span, part in zip(spans, get_engine(engine).map(match, labels, spans), strict=True):
        matrix[span.start : span.stop] = part
    strangers = np.isnan(matrix)
    if strangers.any():
        guess = np.where(base >= 0, shares[:, base], 0.0)
        matrix[strangers] = ((guess + guess.T) / 2)[strangers]
    np.fill_diagonal(matrix, 1.0)
    return matrix


class Span(NamedTuple):
    start: int
    stop: int

    def load(self) -> "Span":
        return self


def match(labels: np.ndarray, span: Span) -> np.ndarray:
    out = np.empty((span.stop - span.start, len(labels)))
    count_matches(labels, span.start, out)
    return out


def condensed(matrix: np.ndarray) -> np.ndarray:
    """The upper triangle, row by row, as ``linkage`` wants it."""
    return np.maximum(matrix[np.triu_indices(len(matrix), 1)], 0.0)


# --- At the door ---


def base_labels(source: Source, labels: Any) -> tuple[np.ndarray, np.ndarray]:
    """Labels of the rows from 0, NOWHERE where there is none; and the names of the clusters."""
    n = count_rows(source.X)
    if labels is None:
        model = prepared(source.estimator, int(key(source.seed, 0)) % 2**31)
        with one_blas_thread(), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            found = cleaned(labels_by(model, source.X))
        if (found >= 0).any():
            found[found >= 0] = by_size(found[found >= 0])
    else:
        given = np.asarray(labels)
        if given.shape != (n,) or given.dtype.kind not in "iu":
            raise ValueError(
                f"stability(labels=...) needs an integer for each of {n:,} rows, but has shape "
                f"{given.shape} of {given.dtype}. Give one label per row."
            )
        names = np.unique(given[given >= 0])
        found = np.full(n, NOWHERE, np.int32)
        found[given >= 0] = np.searchsorted(names, given[given >= 0])
        if len(names):
            return found, names
    if not (found >= 0).any():
        raise ValueError(
            "stability: the clusterer put no row into a cluster, so there is nothing to be "
            "sure about. Change its settings."
        )
    return found, np.arange(int(found.max()) + 1)


def held(X: Any, estimator: Any) -> tuple[Any, bool]:
    """X in memory, and whether it holds distances."""
    known = estimator.get_params(deep=False) if hasattr(estimator, "get_params") else {}
    metric = known.get("metric", "euclidean")
    square = isinstance(metric, str) and metric == "precomputed"
    texts = isinstance(X, list | tuple) and len(X) and isinstance(X[0], str)
    objects = callable(metric) and len(getattr(X, "shape", ())) != 2
    if (objects or texts) and not isinstance(X, Table):
        X = list(X)
    elif square:
        X = np.asarray(X)
    else:
        X = load_rows(X, "euclidean", name="stability")
    if count_rows(X) < 2:
        raise ValueError(f"stability needs at least 2 rows, but X has {count_rows(X)}.")
    return (sp.csr_array(X) if sp.issparse(X) else X), square


def check_request(perturb: str, noise: float, n_resamples: int, max_rows: int) -> None:
    if perturb not in ("bootstrap", "noise"):
        raise ValueError(
            f"stability(perturb={perturb!r}) is unknown. Choose 'bootstrap' or 'noise'."
        )
    if not noise > 0:
        raise ValueError(f"stability(noise={noise!r}) must be above 0. 0.1 is mild.")
    for name, value, least in (("n_resamples", n_resamples, 1), ("max_rows", max_rows, 2)):
        if not isinstance(value, int | np.integer) or value < least:
            raise ValueError(f"stability({name}={value!r}) must be an integer from {least} up.")


# --- Kernels ---


@kernel
def count_matches(labels, start, out):
    for i in range(out.shape[0]):
        mine, row = labels[start + i], out[i]
        for j in range(labels.shape[0]):
            theirs = labels[j]
            both, same = 0, 0
            for b in range(mine.shape[0]):
                if mine[b] != -1 and theirs[b] != -1:
                    both += 1
                    if mine[b] == theirs[b] and mine[b] >= 0:
                        same += 1
            row[j] = same / both if both > 0 else np.nan
