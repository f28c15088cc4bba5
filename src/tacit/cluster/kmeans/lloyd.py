"""Lloyd's algorithm for k-means, over blocks. ``kmeans`` is the estimator around it.

    collect   give each row to its nearest center; sum the rows of each center
    update    move each center to the mean of its rows

The loss is the squared distance from a row to its nearest center. A pass never raises it,
whatever the data: the tests lean on that.

Ties: a row that is as near to several centers stays with the one that was nearest before the
last update; else the lowest index takes it. A center without rows restarts, one pass later,
at the row farthest from its own center.

Which rows a pass must look at, and how, is the business of ``lloyd_dense`` and
``lloyd_sparse``: labels and distance bounds are cached per block and only save time. Sums
are exact whatever their order (``kernels.exact_sum``), so blocks, engines and shortcuts cannot
change a bit, and a row of weight two is that row twice.

Lloyd (1982), Least squares quantization in PCM. IEEE Trans. Inf. Theory 28.
"""

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tacit.cluster.kmeans.lloyd_dense import own_dense, pass_dense, square_dense
from tacit.cluster.kmeans.lloyd_geometry import Geometry, dots, survey
from tacit.cluster.kmeans.lloyd_search import CHUNK
from tacit.cluster.kmeans.lloyd_sparse import own_sparse, pass_sparse, square_sparse
from tacit.core.engines import check_stop
from tacit.core.kernel import kernel
from tacit.core.stats import Stats
from tacit.data.summary import DataSummary
from tacit.data.table import Table, block_rows_for, parts
from tacit.kernels.distances import euclidean

__all__ = ["KMeansParams", "KMeansStats", "Memory", "assign", "collect", "start", "update"]

MEMORY_BYTES = 2**30  # for the caches of the blocks; three eighths of it out of core
CALL_WORK = 2**29  # multiplications in one kernel call: well under 200 ms


class KMeansParams(NamedTuple):
    """Centers, and what a pass must know besides."""

    centers: np.ndarray  # (k, d) float64
    previous: np.ndarray  # (k, d) the centers before the last update; decides ties
    step: int  # updates made
    vacant: int  # how many centers had no rows in the last pass
    sparse: bool
    summary: DataSummary
    geometry: Geometry


@dataclass(frozen=True)
class Farthest(Stats):
    """Of every cluster the row farthest from the center. A tie keeps the first."""

    seen: int  # rows
    distances: np.ndarray  # (k,), or none where nobody asked
    places: np.ndarray  # (k,) the row's number
    rows: np.ndarray  # (k, d)

    def __add__(self, other):
        if len(self.distances) != len(other.distances):  # of two batches, only one was asked
            asked, before = (self, 0) if len(self.distances) else (other, self.seen)
            return replace(asked, seen=self.seen + other.seen, places=asked.places + before)
        further = other.distances > self.distances
        return Farthest(
            self.seen + other.seen,
            np.where(further, other.distances, self.distances),
            np.where(further, other.places + self.seen, self.places),
            np.where(further[:, None], other.rows, self.rows),
        )

    def __rmul__(self, scale):
        return self


@dataclass(frozen=True)
class KMeansStats(Stats):
    """What a pass collects: sums per center."""

    rows: float  # or their weight
    loss: float  # sum of squared distances to the nearest center
    counts: np.ndarray  # (2, k) weight per center, in two exact parts
    sums: np.ndarray  # (2, k, d) sum of rows per center, likewise
    farthest: Farthest  # looked for where a center was vacant


@dataclass
class Memory:
    """What a block remembers between two passes. Saves time, changes nothing."""

    step: int = -1
    labels: np.ndarray = field(default_factory=lambda: np.empty(0, np.int32))
    second: np.ndarray = field(default_factory=lambda: np.empty(0, np.int32))
    upper: np.ndarray = field(default_factory=lambda: np.empty(0, np.float32))
    lower: np.ndarray = field(default_factory=lambda: np.empty(0, np.float32))
    rest: np.ndarray = field(default_factory=lambda: np.empty(0, np.float32))
    squares: np.ndarray = field(default_factory=lambda: np.empty(0, np.float32))  # of rows
    sums: np.ndarray = field(default_factory=lambda: np.empty(0))
    counts: np.ndarray = field(default_factory=lambda: np.empty(0))
    square: float = 0.0


# --- The algorithm: three pure functions ---


def start(centers: np.ndarray, summary: DataSummary, *, sparse: bool = False) -> KMeansParams:
    """Params for given first centers."""
    centers = np.array(centers, np.float64, order="C")
    return KMeansParams(
        centers, centers, 0, 0, sparse, summary, survey(centers, centers, summary, sparse)
    )


def collect(params: KMeansParams, block: Any, cache: Memory | None = None) -> KMeansStats:
    """Give each row to its nearest center; sum the rows of each."""
    rows, _, weights = parts(block)
    weights = np.empty(0) if weights is None else weights
    memory = Memory() if cache is None else cache
    label_rows(params, rows, weights, memory)
    weight = float(weights.sum()) if len(weights) else float(rows.shape[0])
    # The sums are the memory's own, not a copy: they hold until the block's next pass.
    return KMeansStats(
        weight,
        loss_from(params, memory.square, memory.counts.sum(axis=0), memory.sums),
        memory.counts,
        memory.sums,
        farthest_rows(params, rows, weights, memory.labels),
    )


def update(params: KMeansParams, stats: KMeansStats) -> KMeansParams:
    """Centers become means. Empty ones wait a pass in which the farthest rows are looked
    for, then restart there: the lowest index at the farthest row, the next at the farthest
    row of another cluster, so that they do not all land in one place."""
    counts = stats.counts.sum(axis=0)
    centers = means(stats.sums, counts, params.centers)
    empty = np.flatnonzero(counts <= 0)
    far = stats.farthest
    if params.vacant:
        order = np.lexsort([far.places, -far.distances])
        apart = order[far.distances[order] > 0]
        for j, source in zip(empty, apart, strict=False):
            centers[j] = far.rows[source]
    return moved(params, centers, vacant=0 if params.vacant else len(empty))


def moved(params: KMeansParams, centers: np.ndarray, vacant: int = 0) -> KMeansParams:
    """The params after a step from their centers to these."""
    return params._replace(
        centers=centers,
        previous=params.centers,
        step=params.step + 1,
        vacant=vacant,
        geometry=survey(centers, params.centers, params.summary, params.sparse),
    )


def assign(params: KMeansParams, block: Any, cache: Memory | None = None) -> np.ndarray:
    """The label of every row of a block."""
    rows, _, _ = parts(block)
    memory = Memory() if cache is None else cache
    label_rows(params, rows, np.empty(0), memory)
    return memory.labels


# --- Their parts ---


def label_rows(params: KMeansParams, rows: Any, weights: np.ndarray, memory: Memory) -> None:
    """Bring the labels, bounds and sums in ``memory`` up to these params."""
    n, (k, d) = rows.shape[0], params.centers.shape
    fresh = memory.step != params.step - 1 or len(memory.labels) != n
    if memory.step == params.step and len(memory.labels) == n:
        return
    if fresh:
        memory.labels = np.full(n, -1, np.int32)
        # Bounds that cross whatever happens.
        memory.upper, memory.lower = np.full(n, np.inf, np.float32), np.zeros(n, np.float32)
        if not params.sparse and not params.geometry.neighbours.shape[1]:
            memory.second, memory.rest = np.zeros(n, np.int32), np.zeros(n, np.float32)
        memory.sums, memory.counts = np.zeros((2, k, d)), np.zeros((2, k))
        if params.sparse:
            memory.square, memory.squares = square_sparse(
                rows.data, rows.indptr, weights, params.summary.scale
            )
        else:
            memory.square = square_dense(rows, params.summary.origin, weights)
    width = -(-rows.nnz // max(1, n)) if params.sparse else d
    size = max(CHUNK, min(n, CALL_WORK // max(1, k * width)))
    known = (params.centers, params.previous, params.summary, params.geometry)
    sums = (memory.sums, memory.counts)
    for first in range(0, n, size):
        check_stop()
        last = min(first + size, n)
        if params.sparse:
            csr = (rows.data, rows.indices, rows.indptr, memory.squares)
            bounds = (memory.labels, memory.upper, memory.lower)
            pass_sparse(*csr, weights, known, *bounds, *sums, first, last)
        else:
            state = (memory.labels, memory.second, memory.upper, memory.lower, memory.rest)
            pass_dense(rows, weights, known, (*state, *sums), first, last, fresh)
    memory.step = params.step


def loss_from(
    params: KMeansParams, square: float, counts: np.ndarray, sums: np.ndarray
) -> float:
    """Sum of squared distances, from sums alone: |x - c|^2 = |x|^2 - 2 x.c + |c|^2.

    About the origin of the data, so that little cancels. The fit's final inertia is summed
    row by row instead.
    """
    origin = params.summary.origin
    centers = params.centers if params.sparse else params.centers - origin
    pull = dots(sums[0], centers) + dots(sums[1], centers) - counts * (centers @ origin)
    lengths = params.geometry.squares if params.sparse else dots(centers, centers)
    return max(0.0, square - float((2 * pull - counts * lengths).sum()))


def farthest_rows(
    params: KMeansParams, rows: Any, weights: np.ndarray, labels: np.ndarray
) -> Farthest:
    """The farthest row of every cluster, if there are vacant centers to restart there."""
    k, d = params.centers.shape
    if not params.vacant:
        return nobody(d)
    distances = squared_to_own(params.centers, rows, labels)
    if len(weights):
        distances = np.where(weights > 0, distances, 0.0)
    order = np.lexsort([np.arange(len(labels)), -distances, labels])
    first = order[np.concatenate([[True], np.diff(labels[order]) != 0])]
    chosen = rows[first]
    far, places, found = np.full(k, -1.0), np.zeros(k, np.int64), np.zeros((k, d))
    far[labels[first]], places[labels[first]] = distances[first], first
    found[labels[first]] = chosen.toarray() if sp.issparse(chosen) else chosen
    return Farthest(rows.shape[0], far, places, found)


def nobody(width: int) -> Farthest:
    return Farthest(0, np.empty(0), np.empty(0, np.int64), np.empty((0, width)))


def squared_to_own(centers: np.ndarray, rows: Any, labels: np.ndarray) -> np.ndarray:
    """Squared distance of every row to the center of its label, row by row in float64."""
    if sp.issparse(rows):
        squares = (centers**2).sum(axis=1)
        return own_sparse(rows.data, rows.indices, rows.indptr, centers, squares, labels)
    return own_dense(rows, centers, labels)


def settled(old: KMeansParams, new: KMeansParams, *, tol: float) -> bool:
    """The centers hardly moved, and none waits for rows."""
    return new.vacant == 0 and new.geometry.step <= tol


def block_rows(rows: Any, n_clusters: int) -> int | None:
    """Rows to a block, where the usual number will not do: sums over very many columns are
    larger than a usual block of sparse rows, and adding them up would be most of the work."""
    if not sp.issparse(rows) or rows.nnz == 0:
        return None
    n, d = rows.shape
    width = -(-rows.nnz // n)
    blocks = max(2, rows.nnz // (2 * n_clusters * d))
    blocks = 1 << (blocks.bit_length() - 1)  # equal ones, so that workers end together
    return max(block_rows_for(width, n), -(-n // blocks))


def slots(table: Table, n_clusters: int) -> list[Memory] | None:
    """Room beside every block, where all of it is small enough to stay."""
    n, d = table.shape
    wanted = 20 * n + 16 * n_clusters * (d + 1) * len(table.blocks)
    room = MEMORY_BYTES if table.in_memory else 3 * MEMORY_BYTES // 8
    return [Memory() for _ in table] if wanted <= room else None


def label_and_loss(params: KMeansParams, block: Any, cache: Memory | None = None):
    """The labels of a block, and its loss summed row by row."""
    rows, _, weights = parts(block)
    labels = assign(params, block, cache)
    distances = squared_to_own(params.centers, rows, labels)
    return labels, float(distances.sum() if weights is None else weights @ distances)


def distances_to_centers(params: KMeansParams, block: Any) -> np.ndarray:
    """(n, k) distances, in the dtype of the rows; exact where they are small."""
    rows, _, _ = parts(block)
    return euclidean(rows, params.centers, params.summary.origin).astype(rows.dtype)


# --- Kernel ---


@kernel
def means(sums, counts, centers):
    """Sums over counts; a center without rows stays where it is."""
    out = np.empty(centers.shape)
    for a in range(centers.shape[0]):
        for j in range(centers.shape[1]):
            if counts[a] > 0:
                out[a, j] = (sums[0, a, j] + sums[1, a, j]) / counts[a]
            else:
                out[a, j] = centers[a, j]
    return out
