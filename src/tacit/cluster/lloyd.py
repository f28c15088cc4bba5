"""Lloyd's algorithm for k-means, over blocks. ``kmeans`` is the estimator around it.

    collect   give each row to its nearest center; sum the rows of each center
    update    move each center to the mean of its rows

The loss is the squared distance from a row to its nearest center. A pass never raises it,
whatever the data.

Ties: a row that is equally near to several centers stays with the one that was nearest before
the last update; else the lowest index takes it. A center without rows restarts, one pass later,
at the row farthest from its center.

``lloyd_dense`` and ``lloyd_sparse`` decide which rows a pass must compare with the centers:
labels and distance bounds are cached per block and only save time. Sums are exact in any order
(``kernels.exact_sum``), so blocks, engines and bounds cannot change a bit, and a row of weight
two is that row twice.

Lloyd (1982), Least squares quantization in PCM. IEEE Trans. Inf. Theory 28.
"""

import math
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tacit.cluster.lloyd_dense import (
    CHUNK,
    RowBounds,
    pass_by_list,
    pass_dense,
    squares_to_own_dense,
    sum_squares_dense,
)
from tacit.cluster.lloyd_sparse import (
    CsrBlock,
    pass_sparse,
    squares_to_own_sparse,
    sum_squares_sparse,
)
from tacit.core.engines import check_stop
from tacit.core.kernel import kernel
from tacit.core.stats import Stats
from tacit.data.summary import DataSummary
from tacit.data.table import Table, block_rows_for, parts
from tacit.kernels.distances import euclidean

__all__ = ["BlockCache", "KMeansParams", "KMeansStats", "assign", "collect", "start", "update"]

CACHE_BYTES = 2**30  # for the caches of the blocks; three eighths of it out of core
CALL_WORK = 2**29  # multiplications in one kernel call: well under 200 ms
# The benchmarks ``kmeans`` (1M x 2, 200k x 128) and ``kmeans_sparse`` notice these.
LIST_DIMENSIONS = 2  # up to here a search among a center's neighbors beats a matrix product
LIST_CENTERS = 600  # and from here on
LISTED = 32  # neighbors listed of each center
TILE = 256  # features transposed at a time: what is written stays in cache


class CenterBounds(NamedTuple):
    """How an update changes the bounds of the rows of each center; (k,) arrays in float32."""

    drift: np.ndarray  # distance that the center moved
    max_drift: np.ndarray  # the largest of any other center
    list_drift: np.ndarray  # the largest of the listed neighbors
    list_end: np.ndarray  # distance of the first center that is not listed
    half_gap: np.ndarray  # half the distance to the nearest other center
    error: np.ndarray  # of a distance, from rounding the center to the dtype of the rows


class CenterGeometry(NamedTuple):
    """The centers as the search needs them."""

    origin: np.ndarray  # (d,) in the dtype of the rows
    scale: np.floating
    rounded: np.ndarray  # (k, d) the centers in the dtype of the rows
    minus2: np.ndarray  # float32 -2 (c - origin) scale, (k, d); for sparse rows (d, k padded)
    norms: np.ndarray  # (k,) float32 |c - origin|^2 scale^2
    widest: float  # the largest |c - origin| scale
    squares: np.ndarray  # (k,) |c|^2
    previous_squares: np.ndarray  # (k,)
    bounds: CenterBounds
    neighbors: np.ndarray  # (k, listed) nearest first; empty where not used
    neighbor_distances: np.ndarray  # (k, listed)
    step: float  # sum of the squared distances that the centers moved


class KMeansParams(NamedTuple):
    """Centers, and what a pass needs besides."""

    centers: np.ndarray  # (k, d) float64
    previous: np.ndarray  # (k, d) the centers before the last update; decides ties
    step: int  # updates made
    empty: int  # how many centers had no rows in the last pass
    sparse: bool
    summary: DataSummary
    geometry: CenterGeometry


@dataclass(frozen=True)
class Farthest(Stats):
    """Of every cluster the row farthest from the center. A tie keeps the first."""

    seen: int  # rows
    distances: np.ndarray  # (k,), or (0,) where they were not needed
    places: np.ndarray  # (k,) the row's number
    rows: np.ndarray  # (k, d)

    def __add__(self, other):
        if len(self.distances) != len(other.distances):  # only one of two batches has them
            full, before = (self, 0) if len(self.distances) else (other, self.seen)
            return replace(full, seen=self.seen + other.seen, places=full.places + before)
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
    farthest: Farthest  # where a center was empty


@dataclass
class BlockCache:
    """Labels, bounds and sums of a block after its last pass. Saves time, changes nothing."""

    step: int = -1
    bounds: RowBounds = field(default_factory=partial(RowBounds.unknown, 0, second=False))
    row_squares: np.ndarray = field(default_factory=partial(np.empty, 0, np.float32))
    sums: np.ndarray = field(default_factory=partial(np.empty, 0))
    counts: np.ndarray = field(default_factory=partial(np.empty, 0))
    square: float = 0.0  # the weighted sum of |x - origin|^2
    unit: Any = None  # sparse rows at length one, for ``spherical``

    @property
    def labels(self) -> np.ndarray:
        """Of the rows, (n,) int32."""
        return self.bounds.labels


# --- The algorithm: three pure functions ---


def start(centers: np.ndarray, summary: DataSummary, *, sparse: bool = False) -> KMeansParams:
    """Params before the first pass."""
    centers = np.array(centers, np.float64, order="C")
    geometry = prepare_centers(centers, centers, summary, sparse)
    return KMeansParams(centers, centers, 0, 0, sparse, summary, geometry)


def collect(params: KMeansParams, block: Any, cache: BlockCache | None = None) -> KMeansStats:
    """Give each row to its nearest center; sum the rows of each."""
    rows, _, weights = parts(block)
    weights = np.empty(0) if weights is None else weights
    cache = BlockCache() if cache is None else cache
    label_rows(params, rows, weights, cache)
    weight = float(weights.sum()) if len(weights) else float(rows.shape[0])
    loss = loss_from_sums(params, cache.square, cache.counts.sum(axis=0), cache.sums)
    farthest = farthest_rows(params, rows, weights, cache.labels)
    # The sums are a view of the cache: they are valid until the block's next pass.
    return KMeansStats(weight, loss, cache.counts, cache.sums, farthest)


def update(params: KMeansParams, stats: KMeansStats) -> KMeansParams:
    """Centers become means."""
    return moved(params, *new_centers(params, stats))


def new_centers(params: KMeansParams, stats: KMeansStats) -> tuple[np.ndarray, int]:
    """The means, and how many centers are empty and wait for the farthest rows.

    An empty center waits one pass, which finds the farthest rows, then restarts there: the
    lowest index at the farthest row, the next at the farthest row of another cluster, so that
    they do not all start in one place.
    """
    counts = stats.counts.sum(axis=0)
    centers = means(stats.sums, counts, params.centers)
    empty = np.flatnonzero(counts <= 0)
    far = stats.farthest
    if params.empty:
        order = np.lexsort([far.places, -far.distances])
        apart = order[far.distances[order] > 0]
        for j, source in zip(empty, apart, strict=False):
            centers[j] = far.rows[source]
    return centers, 0 if params.empty else len(empty)


def moved(params: KMeansParams, centers: np.ndarray, empty: int = 0) -> KMeansParams:
    """The params after a step from their centers to these."""
    return params._replace(
        centers=centers,
        previous=params.centers,
        step=params.step + 1,
        empty=empty,
        geometry=prepare_centers(centers, params.centers, params.summary, params.sparse),
    )


def assign(params: KMeansParams, block: Any, cache: BlockCache | None = None) -> np.ndarray:
    """The label of every row of a block."""
    rows, _, _ = parts(block)
    cache = BlockCache() if cache is None else cache
    label_rows(params, rows, np.empty(0), cache)
    return cache.labels


# --- Their parts ---


def label_rows(params: KMeansParams, rows: Any, weights: np.ndarray, cache: BlockCache) -> None:
    """Bring the labels, bounds and sums in the cache up to these params."""
    n, (k, d) = rows.shape[0], params.centers.shape
    by_list = params.geometry.neighbors.shape[1] > 0
    if cache.step == params.step and len(cache.labels) == n:
        return
    fresh = cache.step != params.step - 1 or len(cache.labels) != n
    if fresh:
        cache.bounds = RowBounds.unknown(n, second=not params.sparse and not by_list)
        cache.sums, cache.counts = np.zeros((2, k, d)), np.zeros((2, k))
        if params.sparse:
            cache.square, cache.row_squares = sum_squares_sparse(
                rows.data, rows.indptr, weights, params.summary.scale
            )
        else:
            cache.square = sum_squares_dense(rows, params.summary.origin, weights)
    width = -(-rows.nnz // max(1, n)) if params.sparse else d
    size = max(CHUNK, min(n, CALL_WORK // max(1, k * width)))
    bounds, sums = cache.bounds, (cache.sums, cache.counts)
    for first in range(0, n, size):
        check_stop()
        last = min(first + size, n)
        if params.sparse:
            csr = CsrBlock(rows.data, rows.indices, rows.indptr, cache.row_squares)
            pass_sparse(csr, weights, params, bounds, sums, first, last)
        elif by_list and not fresh:
            pass_by_list(rows, weights, params, bounds, sums, first, last)
        else:
            pass_dense(rows, weights, params, bounds, sums, first, last, fresh)
    cache.step = params.step


def loss_from_sums(
    params: KMeansParams, square: float, counts: np.ndarray, sums: np.ndarray
) -> float:
    """Sum of squared distances, from sums alone: |x - c|^2 = |x|^2 - 2 x.c + |c|^2.

    About the origin of the data, so that little cancels. The fit's final inertia is summed
    row by row instead.
    """
    origin = params.summary.origin
    centers = params.centers if params.sparse else params.centers - origin
    products = dots(sums[0], centers) + dots(sums[1], centers) - counts * (centers @ origin)
    lengths = params.geometry.squares if params.sparse else dots(centers, centers)
    return max(0.0, square - float((2 * products - counts * lengths).sum()))


def farthest_rows(
    params: KMeansParams, rows: Any, weights: np.ndarray, labels: np.ndarray
) -> Farthest:
    """The farthest row of every cluster, if there are empty centers to restart there."""
    k, d = params.centers.shape
    if not params.empty:
        return no_farthest(d)
    distances = squared_to_own(params.centers, rows, labels)
    if len(weights):
        distances = np.where(weights > 0, distances, 0.0)
    order = np.lexsort([np.arange(len(labels)), -distances, labels])
    first = order[np.concatenate([[True], np.diff(labels[order]) != 0])]
    chosen = rows[first]
    far, places, farthest = np.full(k, -1.0), np.zeros(k, np.int64), np.zeros((k, d))
    far[labels[first]], places[labels[first]] = distances[first], first
    farthest[labels[first]] = chosen.toarray() if sp.issparse(chosen) else chosen
    return Farthest(rows.shape[0], far, places, farthest)


def no_farthest(width: int) -> Farthest:
    """What a pass collects where no center is empty."""
    return Farthest(0, np.empty(0), np.empty(0, np.int64), np.empty((0, width)))


def squared_to_own(centers: np.ndarray, rows: Any, labels: np.ndarray) -> np.ndarray:
    """Squared distance of every row to the center of its label, row by row in float64."""
    if sp.issparse(rows):
        squares = (centers**2).sum(axis=1)
        return squares_to_own_sparse(
            rows.data, rows.indices, rows.indptr, centers, squares, labels
        )
    return squares_to_own_dense(rows, centers, labels)


def settled(old: KMeansParams, new: KMeansParams, *, tol: float) -> bool:
    """Whether the centers moved by at most ``tol``, in squares, and none is empty."""
    return new.empty == 0 and new.geometry.step <= tol


def block_rows(rows: Any, n_clusters: int) -> int | None:
    """Rows to a block of sparse rows; None for the usual number. Sums over very many columns
    are larger than a usual block, and adding them up would be most of the work."""
    if not sp.issparse(rows) or rows.nnz == 0:
        return None
    n, d = rows.shape
    width = -(-rows.nnz // n)
    blocks = max(2, rows.nnz // (2 * n_clusters * d))
    blocks = 1 << (blocks.bit_length() - 1)  # equal ones, so that workers end together
    return max(block_rows_for(width, n), -(-n // blocks))


def block_caches(table: Table, n_clusters: int) -> list[BlockCache] | None:
    """A cache for every block; None where they would take too much memory."""
    n, d = table.shape
    wanted = 20 * n + 16 * n_clusters * (d + 1) * len(table.blocks)
    room = CACHE_BYTES if table.in_memory else 3 * CACHE_BYTES // 8
    return [BlockCache() for _ in table] if wanted <= room else None


def label_and_loss(params: KMeansParams, block: Any, cache: BlockCache | None = None):
    """The labels of a block, and its loss summed row by row."""
    rows, _, weights = parts(block)
    labels = assign(params, block, cache)
    distances = squared_to_own(params.centers, rows, labels)
    return labels, float(distances.sum() if weights is None else weights @ distances)


def distances_to_centers(params: KMeansParams, block: Any) -> np.ndarray:
    """(n, k) distances, in the dtype of the rows; exact where they are small."""
    rows, _, _ = parts(block)
    return euclidean(rows, params.centers, params.summary.origin).astype(rows.dtype)


# --- What a pass needs to know of the centers, computed once per update ---


def prepare_centers(
    centers: np.ndarray, previous: np.ndarray, summary: DataSummary, sparse: bool
) -> CenterGeometry:
    """The geometry of the centers after a step from the previous ones."""
    k, d = centers.shape
    neighbors, distances = np.empty((k, 0), np.int32), np.empty((k, 0))
    if sparse:  # d is large: one pass over the centers, and no copies
        rounded = np.empty((0, d), np.float32)
        minus2, squares, before, moved = prepare_sparse(centers, previous, summary.scale)
        norms = np.zeros(minus2.shape[1])
        norms[:k] = squares * summary.scale**2
        gap = half_gaps(centers, squares) * summary.scale
    else:
        rounded = centers.astype(summary.dtype)
        shifted = (centers - summary.origin) * summary.scale
        norms, minus2 = dots(shifted, shifted), (-2 * shifted).astype(np.float32)
        squares, before = dots(centers, centers), dots(previous, previous)
        step = centers - previous
        moved = dots(step, step)
        if d <= LIST_DIMENSIONS and k >= LIST_CENTERS:
            neighbors, distances = list_neighbors(centers, min(k - 1, LISTED))
            gap = distances[:, 0] / 2 * summary.scale
        else:
            gap = half_gaps(shifted, norms)
    drift = np.sqrt(moved) * summary.scale
    bounds = bounds_of(drift, gap, neighbors, distances, squares, summary)
    return CenterGeometry(
        summary.origin.astype(summary.dtype), summary.dtype.type(summary.scale), rounded,
        minus2, norms.astype(np.float32), float(np.sqrt(norms.max())) * (1 + 1e-6), squares,
        before, bounds, neighbors, distances, float(moved.sum()),
    )  # fmt: skip


def half_gaps(centers: np.ndarray, norms: np.ndarray) -> np.ndarray:
    """Half the distance from each center to the nearest other, rounded down for what a matrix
    product may lose."""
    total = norms[:, None] + norms
    squares = (1 - 1e-12) * total - 2 * (centers @ centers.T)
    np.fill_diagonal(squares, np.inf)
    return np.sqrt(np.maximum(squares.min(axis=1), 0.0)) / 2


def dots(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The products of rows with rows, without a temporary matrix."""
    return np.einsum("kd,kd->k", a, b)


def bounds_of(drift, gap, neighbors, distances, squares, summary) -> CenterBounds:
    """The bounds, rounded outward."""
    k, listed = neighbors.shape
    scale = summary.scale
    farthest = int(np.argmax(drift))
    most = np.full(k, drift[farthest])
    most[farthest] = np.delete(drift, farthest).max(initial=0.0)
    local = drift[neighbors].max(axis=1) if listed else np.full(k, np.inf)
    list_end = distances[:, -1] * scale if 0 < listed < k - 1 else np.full(k, np.inf)
    kind = np.finfo(summary.dtype)
    lost = np.sqrt(len(summary.origin) * float(kind.tiny))  # squares too small for the dtype
    error = (np.sqrt(squares) * kind.eps + 2 * lost) * scale
    up, down = 1 + 1e-6, 1 - 1e-6
    bounds = drift * up, most * up, local * up, list_end * down, gap * down, error * up
    return CenterBounds(*(bound.astype(np.float32) for bound in bounds))


# --- Kernels ---


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


@kernel
def prepare_sparse(centers, previous, scale):
    """-2 c scale, one row per feature and padded to whole vectors; |c|^2 now and before; and
    the squared step."""
    k, d = centers.shape
    minus2 = np.zeros((d, (k + 7) // 8 * 8), np.float32)
    now, before, moved = np.zeros(k), np.zeros(k), np.zeros(k)
    for first in range(0, d, TILE):
        tile = minus2[first : first + TILE]
        for a in range(k):
            row, old = centers[a, first : first + TILE], previous[a, first : first + TILE]
            for t in range(row.shape[0]):
                tile[t, a] = np.float32(-2 * row[t] * scale)
            here, there, step = three_squares(row, old)
            now[a] += here
            before[a] += there
            moved[a] += step
    return minus2, now, before, moved


@kernel(fastmath={"reassoc"})  # whole vectors: a third less time; the code fixes the order
def three_squares(a, b):
    """|a|^2, |b|^2 and |a - b|^2."""
    first, second, step = 0.0, 0.0, 0.0
    for t in range(a.shape[0]):
        first += a[t] * a[t]
        second += b[t] * b[t]
        step += (a[t] - b[t]) ** 2
    return first, second, step


@kernel
def list_neighbors(centers, listed):
    """The nearest other centers of each, nearest first, and their distances."""
    k, d = centers.shape
    columns = np.ascontiguousarray(centers.T)
    neighbors = np.empty((k, listed), np.int32)
    distances = np.empty((k, listed))
    squares = np.empty(k)
    for a in range(k):
        squares[:] = 0.0
        for t in range(d):  # columns outside, so that a vector holds many centers
            column, value = columns[t], centers[a, t]
            for j in range(k):
                squares[j] += (column[j] - value) ** 2
        squares[a] = np.inf
        near, far = neighbors[a], distances[a]
        far[:] = np.inf
        limit = np.inf
        for j in range(k):
            square = squares[j]
            if square < limit:
                q = listed - 1
                while q > 0 and far[q - 1] > square:
                    far[q] = far[q - 1]
                    near[q] = near[q - 1]
                    q -= 1
                far[q] = square
                near[q] = j
                limit = far[listed - 1]
        for q in range(listed):
            far[q] = math.sqrt(far[q])
    return neighbors, distances
