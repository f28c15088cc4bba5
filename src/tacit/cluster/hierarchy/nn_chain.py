"""Complete, average, weighted and Ward linkage by nearest-neighbor chains.

Start anywhere, go to the nearest neighbor, from there to its nearest neighbor, until two
clusters are each other's nearest: merge them, and continue from the one before. For linkages
in which a merge brings no cluster closer this makes the merges of the greedy algorithm, in
O(n^2).

Three things make it fast and small:

- A row of distances is stored only for clusters of two rows or more and for those on the
  chain; the distances of a single row come from the ``Source`` when the chain reaches it. At
  most n^2 / 4 numbers are stored, and on real data far fewer: the chain works in one region at
  a time, so most rows are still single or already inside large clusters.
- A merge writes one row and no column. A row that is used again is first brought up to
  date with the merges since.
- Merged columns are removed before they are a fifth of all.

What a row holds, and what is compared:

    complete   the largest distance between two rows
    average    the sum of the distances; divided by the sizes
    weighted   the mean of the two merged clusters' distances, whatever their sizes
    ward       the sum of squared distances; less those inside the two, divided by the sizes

Sums of whole numbers are exact, so equally close clusters compare as equal. Ties: clusters are
named by their lowest row; of equally close pairs the one with the lowest names merges first.
In this order no two pairs are equal, and the chain finds what the greedy algorithm would.

Murtagh (1983), A survey of recent advances in hierarchical clustering algorithms. Comput.
J. 26.
Müllner (2011), Modern hierarchical, agglomerative clustering algorithms. arXiv:1109.2378.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tacit.cluster.hierarchy.dendrogram import Merges
from tacit.cluster.hierarchy.distance_rows import (
    LANES,
    POINTS,
    Source,
    argmin,
    compact_tiles,
    padded,
    read_row,
)
from tacit.core.kernel import kernel

__all__ = ["nn_chain", "pool_size"]

COMPLETE, AVERAGE, WEIGHTED, WARD = range(4)
METHODS = {"complete": COMPLETE, "average": AVERAGE, "weighted": WEIGHTED, "ward": WARD}
PAUSED, CROWDED = range(2)  # why the kernel returned
CALL_WORK = 2**26  # multiplications in one kernel call: well under 200 ms
COMPACT_BELOW = 0.8  # of the columns alive; noticed by the benchmark of trees


class Columns(NamedTuple):
    """The clusters, one to a column, ordered by name."""

    names: np.ndarray  # int64, lowest row
    sizes: np.ndarray  # float64; a leaf may count more than once
    scatter: np.ndarray  # float64, Ward: sum of squares inside, over the size
    penalty: np.ndarray  # float64, infinite where merged
    alive: np.ndarray  # bool
    row_of: np.ndarray  # int64, place in the pool; -1 where no row is stored
    created: np.ndarray  # int64, the merge that created it, counted from 1; 0 for a single row
    updated: np.ndarray  # int64, merges that its row includes
    on_chain: np.ndarray  # bool


class Work(NamedTuple):
    """Everything else that lasts from one kernel call to the next."""

    pool: np.ndarray  # float64, rows of `stride` numbers
    free: np.ndarray  # int64, stack of places in the pool
    chain: np.ndarray  # int64, columns
    recent: np.ndarray  # (n, 2) int64: columns of merged clusters, and the merge
    scores: np.ndarray  # float64, scratch
    lows: np.ndarray  # (LANES,) scratch


class Counters(NamedTuple):
    """Positions of the counters in an int64 array."""

    columns: int = 0
    alive: int = 1
    stride: int = 2
    free: int = 3  # size of the stack
    depth: int = 4  # of the chain
    recent: int = 5
    done: int = 6  # merges
    merged: int = 7  # clusters of two rows or more


AT = Counters()


def pool_size(n: int) -> int:
    """Numbers stored at most: n/2 clusters of two, and their distances."""
    return (n // 2 + 6) * (n // 2 + 2 * LANES)


def nn_chain(
    source: Source,
    method: str,
    sizes: np.ndarray,
    *,
    squared: bool = False,
    report: Callable[[int], None] = lambda done: None,
) -> Merges:
    """The merges, in the order of the chain.

    ``squared`` asks the source for squares; the heights then are squares too, for Ward always.
    ``report(done)`` is called between two kernels with the number of merges.
    """
    n = source.n
    merges = Merges.empty(n)
    columns, work, count = start(n, sizes)
    code = METHODS[method]
    while count[AT.alive] > 1:
        if run_chain(source, columns, work, count, merges, code, squared) == CROWDED:
            compact(source, columns, work, count)
        report(int(count[AT.done]))
    return merges


def start(n: int, sizes: np.ndarray) -> tuple[Columns, Work, np.ndarray]:
    width = padded(n)
    inside = np.arange(width) < n
    columns = Columns(
        np.arange(width),
        np.ones(width),
        np.zeros(width),
        np.where(inside, 0.0, np.inf),
        inside,
        np.full(width, -1),
        np.zeros(width, np.int64),
        np.zeros(width, np.int64),
        np.zeros(width, bool),
    )
    columns.sizes[:n] = sizes
    work = Work(
        np.empty(pool_size(n)),
        np.empty(n + 8, np.int64),
        np.empty(n + 1, np.int64),
        np.empty((n + 1, 2), np.int64),
        np.empty(width),
        np.empty(LANES),
    )
    count = np.zeros(len(AT), np.int64)
    count[AT.columns], count[AT.alive], count[AT.stride] = n, n, width
    fill_free_stack(work, count, 0)
    return columns, work, count


def fill_free_stack(work: Work, count: np.ndarray, used: int) -> None:
    """Put all places of the pool but the first ``used`` on the stack, the lowest on top."""
    places = min(len(work.pool) // int(count[AT.stride]), len(work.free))
    work.free[: places - used] = np.arange(used, places)[::-1]
    count[AT.free] = places - used


def compact(source: Source, columns: Columns, work: Work, count: np.ndarray) -> None:
    """Remove merged clusters from the columns and the pool."""
    m, old = int(count[AT.columns]), int(count[AT.stride])
    keep = np.flatnonzero(columns.alive[:m])
    size = len(keep)
    width = padded(size)
    stored = keep[columns.row_of[keep] >= 0]
    rows = np.sort(columns.row_of[stored])
    for first in range(0, len(rows), 256):  # a few rows at a time, so that Ctrl-C works
        compact_rows(work.pool, old, width, rows[first : first + 256], first, keep)
    if source.kind == POINTS:
        compact_tiles(source.tiles, keep)
    place = np.full(len(columns.names), -1)
    place[keep] = np.arange(size)
    for array in (work.chain[: count[AT.depth]], work.recent[: count[AT.recent], 0]):
        array[:] = place[array]
    columns.row_of[stored] = np.searchsorted(rows, columns.row_of[stored])
    for column in columns:
        column[:size] = column[keep]
    columns.penalty[size:] = np.inf
    columns.alive[size:] = False
    count[AT.columns], count[AT.stride] = size, width
    fill_free_stack(work, count, len(rows))


# --- Kernels ---


@kernel
def run_chain(source, columns, work, count, merges, method, squared):
    """Follow the chain for a while."""
    names, row_of, on_chain = columns.names, columns.row_of, columns.on_chain
    chain = work.chain
    budget = CALL_WORK
    start = 0
    while count[AT.alive] > 1:
        m, stride = count[AT.columns], count[AT.stride]
        if budget < 0:
            return PAUSED
        if m > 2 * LANES and count[AT.alive] < COMPACT_BELOW * m:
            return CROWDED
        if count[AT.depth] == 0:
            while not columns.alive[start]:
                start += 1
            chain[0] = start
            on_chain[start] = True
            count[AT.depth] = 1
        x = chain[count[AT.depth] - 1]
        cost = ensure_row(source, columns, work, count, x, method, squared)
        if cost < 0:
            return CROWDED
        budget -= cost
        row = work.pool[row_of[x] * stride : (row_of[x] + 1) * stride]
        score_row(row, columns, x, method, work.scores)
        y = argmin(work.scores[:stride], work.lows)[1]
        if not on_chain[y]:
            chain[count[AT.depth]] = y
            on_chain[y] = True
            count[AT.depth] += 1
            continue
        if chain[count[AT.depth] - 2] != y:
            # Rounding made a merge bring two clusters closer. The chain after y is stale.
            while chain[count[AT.depth] - 1] != y:
                count[AT.depth] -= 1
                c = chain[count[AT.depth]]
                on_chain[c] = False
                if columns.created[c] == 0 and row_of[c] >= 0:
                    free_row(columns, work, count, c)
            continue
        cost = ensure_row(source, columns, work, count, y, method, squared)
        if cost < 0:
            return CROWDED
        budget -= cost
        count[AT.depth] -= 2
        on_chain[x] = on_chain[y] = False
        a, b = min(x, y), max(x, y)
        s = count[AT.done]
        merges.low[s] = names[a]
        merges.high[s] = names[b]
        merges.heights[s] = height(row[y], columns, x, y, method)
        merge(columns, work, count, x, y, row[y], method)
    return PAUSED


@kernel
def score_row(row, columns, x, method, scores):
    """How far every column is from x, from the numbers in its row; infinite where merged.

    A mean has the same bits from either side, without which a chain might go in circles.
    """
    sizes, scatter, penalty = columns.sizes, columns.scatter, columns.penalty
    size_x, scatter_x = sizes[x], scatter[x]
    if method == AVERAGE:
        for c in range(row.shape[0]):
            scores[c] = row[c] / (size_x * sizes[c]) + penalty[c]
    elif method == WARD:
        for c in range(row.shape[0]):
            scores[c] = growth(row[c], sizes[c], scatter[c], size_x, scatter_x) + penalty[c]
    else:
        for c in range(row.shape[0]):
            scores[c] = row[c] + penalty[c]


@kernel
def height(value, columns, x, y, method):
    """How far apart x and y are, from the number in their rows; squared for Ward."""
    sizes, scatter = columns.sizes, columns.scatter
    if method == AVERAGE:
        return value / (sizes[x] * sizes[y])
    if method == WARD:
        return 2 * growth(value, sizes[y], scatter[y], sizes[x], scatter[x])
    return value


@kernel(inline="always")
def growth(value, size, scatter, size_x, scatter_x):
    """Ward: how much a merge adds to the sum of squares, from the sum of squares between."""
    return (value - (size_x * scatter + size * scatter_x)) / (size_x + size)


@kernel
def ensure_row(source, columns, work, count, x, method, squared):
    """Store an up-to-date row for x. Returns the work, or -1 for want of space."""
    m = count[AT.columns]
    if columns.row_of[x] >= 0:
        refresh_row(columns, work, count, x)
        return 4 * m
    place = allocate_row(columns, work, count)
    if place >= 0:
        columns.row_of[x] = place
        compute_row(source, columns, work, count, x, method, squared)
        return m * (4 + source.points.shape[1])
    return -1


@kernel
def allocate_row(columns, work, count):
    """A free place in the pool, or -1. If need be a single row further down the chain is
    dropped: the source can compute its distances again."""
    if count[AT.free] == 0:
        for i in range(count[AT.depth] - 2):
            c = work.chain[i]
            if columns.created[c] == 0 and columns.row_of[c] >= 0:
                free_row(columns, work, count, c)
                break
    if count[AT.free] == 0:
        return -1
    count[AT.free] -= 1
    return work.free[count[AT.free]]


@kernel
def free_row(columns, work, count, x):
    work.free[count[AT.free]] = columns.row_of[x]
    count[AT.free] += 1
    columns.row_of[x] = -1


@kernel
def compute_row(source, columns, work, count, x, method, squared):
    """A single row's distances: to single rows from the source, to others from theirs."""
    m, stride = count[AT.columns], count[AT.stride]
    row = work.pool[columns.row_of[x] * stride : (columns.row_of[x] + 1) * stride]
    read_row(source, columns.names, m, columns.names[x], squared, 0, row)
    if method in (AVERAGE, WARD):
        size = columns.sizes[x]
        for c in range(m):
            row[c] *= size * columns.sizes[c]
    columns.updated[x] = 0
    row[x] = np.inf
    refresh_row(columns, work, count, x)


@kernel
def refresh_row(columns, work, count, x):
    """Bring a row up to date with the clusters merged since its last update."""
    stride = count[AT.stride]
    row = work.pool[columns.row_of[x] * stride : (columns.row_of[x] + 1) * stride]
    for i in range(count[AT.recent] - 1, -1, -1):
        c, number = work.recent[i, 0], work.recent[i, 1]
        if number <= columns.updated[x]:
            break
        if c >= 0 and columns.created[c] == number and columns.alive[c]:
            row[c] = work.pool[columns.row_of[c] * stride + x]
    columns.updated[x] = count[AT.done]


@kernel
def merge(columns, work, count, x, y, between, method):
    """Make x and y one cluster, in the lower column, with one row."""
    stride = count[AT.stride]
    row = work.pool[columns.row_of[x] * stride : (columns.row_of[x] + 1) * stride]
    other = work.pool[columns.row_of[y] * stride : (columns.row_of[y] + 1) * stride]
    if method == COMPLETE:
        for c in range(stride):
            v, w = row[c], other[c]
            row[c] = v if v > w else w
    elif method == WEIGHTED:
        for c in range(stride):
            row[c] = 0.5 * (row[c] + other[c])
    else:
        for c in range(stride):
            row[c] += other[c]
    sizes, scatter = columns.sizes, columns.scatter
    squares = sizes[x] * scatter[x] + sizes[y] * scatter[y] + between
    more = 1 - min(columns.created[x], 1) - min(columns.created[y], 1)
    a, b = min(x, y), max(x, y)
    row[a] = np.inf
    place = columns.row_of[x]
    free_row(columns, work, count, y)
    columns.row_of[x] = -1
    columns.row_of[a] = place
    sizes[a] += sizes[b]
    scatter[a] = squares / sizes[a]
    columns.alive[b] = False
    columns.penalty[b] = np.inf
    count[AT.done] += 1
    count[AT.alive] -= 1
    count[AT.merged] += more
    columns.created[a] = columns.updated[a] = count[AT.done]
    if count[AT.recent] > 2 * count[AT.merged] + 64:
        drop_merged(columns, work, count)
    work.recent[count[AT.recent], 0] = a
    work.recent[count[AT.recent], 1] = count[AT.done]
    count[AT.recent] += 1


@kernel
def drop_merged(columns, work, count):
    """Drop the clusters that have merged again from the list of recent ones."""
    size = 0
    for i in range(count[AT.recent]):
        c, number = work.recent[i, 0], work.recent[i, 1]
        if c >= 0 and columns.created[c] == number and columns.alive[c]:
            work.recent[size, 0], work.recent[size, 1] = c, number
            size += 1
    count[AT.recent] = size


@kernel
def compact_rows(pool, old, new, rows, first, keep):
    """Copy the columns ``keep`` of rows to the front of the pool, with the new stride."""
    for k in range(rows.shape[0]):
        source = pool[rows[k] * old : (rows[k] + 1) * old]
        target = pool[(first + k) * new : (first + k + 1) * new]
        for c in range(keep.shape[0]):
            target[c] = source[keep[c]]
