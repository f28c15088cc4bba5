"""``stability``: which clusters, and which rows, a clusterer recovers from changed data.

    bootstrap   as many rows, drawn with repetition; about 63 in 100 are there each time
    noise       all rows, every column with some normal noise added; the values of sparse rows
                are multiplied instead, so that zeros stay zero

The co-association of two rows is the fraction of resamples that put them into one cluster: for
all pairs a matrix of n x n. Here every row is compared with the clusters instead:

    collect   for every resample, how many rows of each of its clusters are in each cluster of
              all rows: a small table
    row       from the table, how many members of each cluster a row was with, and how many it
              could have been with: their quotient is its mean co-association with the cluster

which takes n x k numbers and is exact. The matrix itself is computed for a sample of rows, and
from it, by average linkage of 1 - co-association, the consensus tree.

Monti, Tamayo, Mesirov and Golub (2003), Consensus clustering. Machine Learning 52. Fred and
Jain (2005), Combining multiple clusterings using evidence accumulation. IEEE Trans. PAMI 27.
Hennig (2007), Cluster-wise assessment of cluster stability. Computational Statistics & Data
Analysis 52. The notes' section on soft clustering.
"""

import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from tacit.cluster.hierarchy.dendrogram import cut
from tacit.cluster.hierarchy.linkage import linkage
from tacit.cluster.k_trials import (
    copy_with_seed,
    find_labels,
    get_clusterer,
    mean_recovery,
    recovery,
)
from tacit.core.engines import Engine, Serial, check_stop, get_engine, one_blas_thread
from tacit.core.moments import MomentsParams, collect
from tacit.core.notebook import html_notes, html_table
from tacit.core.progress import Callback, Step, notify
from tacit.core.randoms import integers, key, normals, permutation, seed_from
from tacit.core.wording import count
from tacit.data.table import Table
from tacit.measure.agreement import adjusted_rand_score
from tacit.measure.labels import by_size
from tacit.measure.pair_scores import load_rows

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ClusterStability", "RowStability", "Stability", "stability"]

PANEL = 256  # rows of the matrix at a time
UNSEEN = -1  # the row was not drawn
NOWHERE = -2  # it was drawn, and is in no cluster
TITLES = ("cluster", "rows", "confidence", "recovered", "rival", "with rival")


# --- The result ---


@dataclass(frozen=True)
class ClusterStability:
    """The stability of one cluster.

    ``confidence`` is how often two of its rows stay together; ``recovered`` the mean Jaccard
    index with the most similar cluster of a resample; ``rival`` the cluster that its rows are
    most often mixed with, and ``rival_share`` how often.
    """

    cluster: int
    size: int
    confidence: float
    recovered: float
    rival: int | None = None
    rival_share: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """The figures as JSON values."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class RowStability:
    """The stability of every row: arrays of n_rows.

    ``confidence`` is how often the row is with the members of its cluster; ``rival`` the
    other cluster that it is with most, and ``rival_share`` how often. -1 is no cluster.
    """

    labels: np.ndarray
    confidence: np.ndarray
    rival: np.ndarray
    rival_share: np.ndarray

    def __len__(self) -> int:
        return len(self.labels)

    def to_dict(self) -> dict[str, Any]:
        """The columns as JSON values."""
        return {name: values.tolist() for name, values in vars(self).items()}


@dataclass(frozen=True, eq=False)
class Stability:
    """The stability of a clustering.

    Attributes
    ----------
    clusters : tuple of ClusterStability
    rows : RowStability, columns ``labels``, ``confidence``, ``rival``, ``rival_share``
    agreement : float
        Mean adjusted Rand index of the resamples with the clusters of all rows.
    tree : array of shape (m - 1, 4) or None
        SciPy's linkage matrix of the consensus: rows join at the fraction of resamples that
        separate them. For ``cut``, ``tacit.plot.dendrogram`` and ``to_newick``.
    tree_rows : array of m row numbers
        Which rows the leaves of the tree are.
    coassociation : array of shape (m, m) or None
        How often each two of those rows were together.
    n_resamples, perturb : what was done
    notes : tuple of str
    """

    clusters: tuple[ClusterStability, ...]
    rows: RowStability
    agreement: float
    tree: np.ndarray | None
    tree_rows: np.ndarray
    coassociation: np.ndarray | None
    n_resamples: int
    perturb: str
    notes: tuple[str, ...] = ()

    @property
    def labels(self) -> np.ndarray:
        """The cluster of every row; -1 for none."""
        return self.rows.labels

    def least_sure(self, top: int = 10) -> np.ndarray:
        """The rows that stay with their cluster least often, ascending."""
        inside = np.flatnonzero(self.rows.labels >= 0)
        order = np.argsort(self.rows.confidence[inside], kind="stable")
        return inside[order][:top]

    def consensus(self, k: int) -> np.ndarray:
        """The tree cut into ``k`` clusters: a label for each of ``tree_rows``."""
        if self.tree is None:
            raise ValueError("There is no tree to cut: call stability(..., tree=True).")
        return cut(self.tree, k=k)

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON values, except the co-association matrix."""
        figures = {k: v for k, v in vars(self).items() if k != "coassociation"}
        return {
            **figures,
            "clusters": [cluster.to_dict() for cluster in self.clusters],
            "rows": self.rows.to_dict(),
            "tree": None if self.tree is None else self.tree.tolist(),
            "tree_rows": self.tree_rows.tolist(),
            "notes": list(self.notes),
        }

    def to_frame(self) -> "pd.DataFrame":
        """The rows as a pandas DataFrame."""
        import pandas as pd

        return pd.DataFrame(vars(self.rows))

    @property
    def headline(self) -> str:
        """The result in one line."""
        return (
            f"{count(len(self.clusters), 'cluster')}, agreement {self.agreement:.2f} over "
            f"{self.n_resamples} resamples ({self.perturb})"
        )

    def __str__(self) -> str:
        lines = ["  ".join(TITLES)]
        for cells in map(cells_of, self.clusters):
            pairs = zip(cells, TITLES, strict=True)
            lines.append("  ".join(cell.rjust(len(title)) for cell, title in pairs).rstrip())
        return "\n".join([self.headline, *lines, *self.notes])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        table = html_table(TITLES, map(cells_of, self.clusters), right=range(len(TITLES)))
        return f"<p>{escape(self.headline)}</p>{table}{html_notes(self.notes)}"


def cells_of(cluster: ClusterStability) -> list[str]:
    figures = vars(cluster).values()
    cells = (f"{value:.2f}" if isinstance(value, float) else str(value) for value in figures)
    return ["" if cell == "None" else cell for cell in cells]


# --- Resamples ---


class Source(NamedTuple):
    """What every resample is drawn from."""

    X: Any  # array, CSR matrix, square matrix of distances or list
    square: bool  # X holds distances between the rows
    estimator: Any
    perturb: str
    size: np.ndarray  # (d,) standard deviation of the noise, of every column
    seed: np.uint64


def noise_size(X: Any, noise: float, *, square: bool) -> np.ndarray:
    """The standard deviation of the noise of every column; one number for sparse rows."""
    if square or isinstance(X, list):
        what = "distances" if square else "objects"
        raise ValueError(
            f"stability(perturb='noise') adds noise to columns of numbers, which {what} do "
            "not have. Use perturb='bootstrap'."
        )
    if sp.issparse(X):
        return np.full(1, noise)
    moments = Serial().reduce(collect, MomentsParams(full=False), Table.of(X))
    return noise * np.sqrt(moments.variance)


def label_resample(source: Source, b: int) -> np.ndarray:
    """The label of every row in resample b, from 0; UNSEEN and NOWHERE below that."""
    n = count_rows(source.X)
    model = copy_with_seed(source.estimator, int(key(source.seed, 1, b)) % 2**31)
    stream = key(source.seed, 2, b)
    if source.perturb == "noise":
        if sp.issparse(source.X):
            changed: Any = sp.csr_array(source.X, dtype=np.float64, copy=True)
            changed.data *= np.exp(source.size[0] * normals(stream, len(changed.data)))
        else:
            noise = source.size * normals(stream, source.X.shape)
            changed = np.asarray(source.X, np.float64) + noise
        return clean_labels(find_labels(model, changed))
    drawn = integers(stream, n, n)
    if isinstance(source.X, list):
        rows: Any = [source.X[i] for i in drawn]
    else:
        rows = source.X[np.ix_(drawn, drawn) if source.square else drawn]
    labels = np.full(n, UNSEEN, np.int32)
    labels[drawn] = clean_labels(find_labels(model, rows))  # the last copy of a row counts
    return labels


def clean_labels(labels: np.ndarray) -> np.ndarray:
    """Labels from 0 as int32; those below 0, which mean no cluster, become NOWHERE."""
    inside = ~(labels < 0) if labels.dtype.kind in "if" else np.ones(len(labels), bool)
    codes = np.full(len(labels), NOWHERE, np.int32)
    codes[inside] = np.unique(labels[inside], return_inverse=True)[1]
    return codes


def count_rows(X: Any) -> int:
    """The number of rows, also of a list."""
    return len(X) if isinstance(X, list) else X.shape[0]


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
    """Cluster changed copies of the data: how stable is each cluster and each row?

    Parameters
    ----------
    clusterer : estimator or str
        Anything with ``fit_predict``, or with ``fit`` and ``predict``; or a name such as
        "ward". It is copied, never fitted. Negative labels mean that a row is in no cluster.
    X : array, CSR matrix, Table, square matrix of distances, or list of objects
        What the clusterer takes.
    n_resamples : int
        Number of changed copies.
    perturb : {"bootstrap", "noise"}
        Draw rows with repetition, or add noise to all of them.
    noise : float
        Size of the noise, in standard deviations of each column; for sparse rows the standard
        deviation of the logarithm of what their values are multiplied by.
    labels : array of n_rows labels or None
        The clusters to assess. None clusters X as it is.
    max_rows : int
        Most rows of the co-association matrix and the tree; of more a random sample.
    tree : bool
        Whether to compute those two.
    random_state : int, RandomState, Generator or None
        Seed. The result is the same on every engine and for any number of workers.
    engine : {"serial", "threads", "dask"} or Engine
        Where the resamples are clustered in parallel; "dask" uses the threads of this process.
    callbacks : list or None
        Notified after every resample; see ``tacit.core.progress``. If one asks to stop, the
        result comes from the resamples so far.

    Returns
    -------
    Stability, with ``clusters``, ``rows``, ``tree`` and ``coassociation``. Clusters are
    numbered by size, 0 the largest, unless ``labels`` is set.

    Examples
    --------
    >>> from tacit.cluster import KMeans
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [6.0], [10.0], [11.0], [12.0], [13.0]])
    >>> result = stability(KMeans(2, n_init=5), X, random_state=0)
    >>> print(result)
    2 clusters, agreement 0.91 over 50 resamples (bootstrap)
    cluster  rows  confidence  recovered  rival  with rival
          0     5        0.92       0.96      1        0.03
          1     4        1.00       0.96      0        0.04
    >>> result.least_sure(1)
    array([4])
    """
    seed = seed_from(random_state)
    estimator = get_clusterer(clusterer, name="stability")
    check_request(perturb, noise, n_resamples, max_rows)
    X, square = in_memory(X, estimator)
    size = noise_size(X, noise, square=square) if perturb == "noise" else np.empty(0)
    source = Source(X, square, estimator, perturb, size, seed)
    base, names = base_labels(source, labels)
    n = len(base)
    sample, k = np.sort(permutation(key(seed, 3), n)[:max_rows]), len(names)
    pairs = Pairs(np.zeros((n, k)), np.zeros((n, k)))
    recovered, agreement, seen_labels = [], [], []
    with warnings.catch_warnings():
        # A resample may have fewer clusters than asked for.
        warnings.simplefilter("ignore", ConvergenceWarning)
        runs = get_engine(engine).each(partial(label_resample, source), range(n_resamples))
        for done, drawn in enumerate(runs, start=1):
            add_pairs(pairs, base, drawn, k)
            both = (base >= 0) & (drawn >= 0)
            if both.any():
                recovered.append(recovery(base[both], drawn[both], k))
                agreement.append(adjusted_rand_score(base[both], drawn[both]))
            if tree:
                seen_labels.append(drawn[sample])
            last = done == n_resamples
            step = Step("stability", done, n_resamples, [], None, done=last)
            if notify(callbacks or (), step):
                break
    means = mean_coassociation(pairs, base)
    matrix = Z = None
    if tree and len(sample) > 1:
        matrix = coassociation(np.array(seen_labels), base[sample], means[sample])
        condensed = np.maximum((1 - matrix)[np.triu_indices(len(matrix), 1)], 0.0)
        Z = linkage(condensed, "average")
    note = f"The tree and the matrix are of {len(sample):,} of {n:,} rows, drawn at random."
    return Stability(
        clusters=clusters_of(base, means, recovered, names),
        rows=rows_of(base, means, names),
        agreement=float(np.mean(agreement)) if agreement else 0.0,
        tree=Z,
        tree_rows=sample,
        coassociation=matrix,
        n_resamples=done,
        perturb=perturb,
        notes=() if len(sample) == n else (note,),
    )


# --- Rows against clusters ---


class Pairs(NamedTuple):
    """For every row and cluster: members it was with, and members it could have been with."""

    together: np.ndarray  # (n, k)
    seen: np.ndarray  # (n, k)


def add_pairs(pairs: Pairs, base: np.ndarray, drawn: np.ndarray, k: int) -> None:
    """Add the pairs of one resample."""
    here = drawn != UNSEEN
    member = here & (base >= 0)
    counts = np.bincount(base[member], minlength=k)
    placed = member & (drawn >= 0)
    width = int(drawn.max(initial=-1)) + 1
    cells = drawn[placed].astype(np.int64) * k + base[placed]
    table = np.bincount(cells, minlength=width * k).reshape(width, k)
    inside = drawn >= 0
    pairs.together[inside] += table[drawn[inside]]
    pairs.seen[here] += counts
    for counted, mask in ((pairs.together, placed), (pairs.seen, member)):
        rows = np.flatnonzero(mask)
        counted[rows, base[rows]] -= 1  # no row is a pair with itself


def mean_coassociation(pairs: Pairs, base: np.ndarray) -> np.ndarray:
    """(n, k): how often a row was with the members of each cluster."""
    means = np.divide(
        pairs.together, pairs.seen, out=np.zeros(pairs.seen.shape), where=pairs.seen > 0
    )
    # The confidence of a row that is alone in its cluster: 1 less the largest of the others.
    inside = np.flatnonzero(base >= 0)
    alone = inside[pairs.seen[inside, base[inside]] == 0]
    means[alone, base[alone]] = 0.0
    means[alone, base[alone]] = 1.0 - means[alone].max(axis=1, initial=0.0)
    return means


def rows_of(base: np.ndarray, means: np.ndarray, names: np.ndarray) -> RowStability:
    labels, rival = np.full(len(base), -1), np.full(len(base), -1)
    confidence, rival_share = np.zeros(len(base)), np.zeros(len(base))
    inside = np.flatnonzero(base >= 0)
    labels[inside] = names[base[inside]]
    confidence[inside] = means[inside, base[inside]]
    if means.shape[1] > 1:
        others = means.copy()
        others[inside, base[inside]] = -1.0
        at = others.argmax(axis=1)
        rival, rival_share = names[at], others[np.arange(len(base)), at]
    return RowStability(labels, confidence, rival, rival_share)


def clusters_of(
    base: np.ndarray, means: np.ndarray, recovered: list, names: np.ndarray
) -> tuple[ClusterStability, ...]:
    recovery = mean_recovery(np.array(recovered).reshape(-1, len(names)))
    clusters = []
    for j, name in enumerate(names):
        members = base == j
        together = means[members].mean(axis=0)
        figures = (int(name), int(members.sum()), float(together[j]), float(recovery[j]))
        together[j] = -1.0
        at = int(together.argmax())
        rival = (int(names[at]), float(together[at])) if len(names) > 1 else (None, None)
        clusters.append(ClusterStability(*figures, *rival))
    return tuple(clusters)


# --- Rows against rows ---


def coassociation(labels: np.ndarray, base: np.ndarray, means: np.ndarray) -> np.ndarray:
    """(n, n): how often two rows were together, of the times that both were drawn.

    ``labels`` holds a resample in every row. Two rows that were never drawn together get the
    mean of their co-association with the cluster of the other.
    """
    n = labels.shape[1]
    drawn = (labels != UNSEEN).astype(np.float64)
    resamples, rows = np.nonzero(labels >= 0)
    clusters = resamples * n + labels[resamples, rows]  # each of each resample is a column
    _, columns = np.unique(clusters, return_inverse=True)
    members = sp.csr_array((np.ones(len(rows)), (rows, columns)), shape=(n, len(rows) or 1))
    estimate = np.where(base >= 0, means[:, base], 0.0)
    matrix = (estimate + estimate.T) / 2
    for first in range(0, n, PANEL):
        check_stop()
        panel = slice(first, first + PANEL)
        both, together = drawn[:, panel].T @ drawn, (members[panel] @ members.T).toarray()
        np.divide(together, both, out=matrix[panel], where=both > 0)
    np.fill_diagonal(matrix, 1.0)
    return matrix


# --- Input ---


def base_labels(source: Source, labels: Any) -> tuple[np.ndarray, np.ndarray]:
    """Labels of the rows from 0, NOWHERE where there is none; and the names of the clusters."""
    n = count_rows(source.X)
    if labels is None:
        model = copy_with_seed(source.estimator, int(key(source.seed, 0)) % 2**31)
        with one_blas_thread(), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            codes = clean_labels(find_labels(model, source.X))
        if (codes >= 0).any():
            codes[codes >= 0] = by_size(codes[codes >= 0])
    else:
        labels = np.asarray(labels)
        if labels.shape != (n,) or labels.dtype.kind not in "iu":
            raise ValueError(
                f"stability(labels=...) needs an integer for each of {n:,} rows, but has shape "
                f"{labels.shape} of {labels.dtype}. Give one label per row."
            )
        names = np.unique(labels[labels >= 0])
        codes = np.full(n, NOWHERE, np.int32)
        codes[labels >= 0] = np.searchsorted(names, labels[labels >= 0])
        if len(names):
            return codes, names
    if not (codes >= 0).any():
        raise ValueError(
            "stability: the clusterer put no row into a cluster, so there is nothing to "
            "assess. Change its settings."
        )
    return codes, np.arange(int(codes.max()) + 1)


def in_memory(X: Any, estimator: Any) -> tuple[Any, bool]:
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
