"""Complete, average, weighted and Ward linkage by nearest-neighbour chains.

Start anywhere, go to the nearest neighbour, and from there to its nearest neighbour, until
two clusters are each other's nearest: merge them, and go on from the one before. For linkages
in which a merge brings nobody closer this makes the merges of the greedy algorithm, in O(n^2).

Three things make it fast, and small:

- A row of distances is kept only for clusters of two rows or more and for those on the chain;
  the distances of a single row come from the ``distance_source`` when the chain reaches it. At
  most n^2 / 4 numbers are kept, and on real data far fewer: the chain works in one region at
  a time, so most rows are still single or already inside large clusters.
- A merge writes its own row and no column. A row that is looked at again first picks up what
  has been merged since.
- Dead columns are packed away before they are a fifth of the whole.

Average and Ward keep sums, of distances and of squares, and divide when comparing: sums of
whole numbers are exact, so equally close clusters are found equal.

Ties: clusters go by their lowest row; of equally close pairs the one with the lowest names
merges first. In this order no two pairs are equal, and the chain finds what the greedy
algorithm would.

Murtagh (1983), A survey of recent advances in hierarchical clustering algorithms. Comput.
J. 26.
Müllner (2011), Modern hierarchical, agglomerative clustering algorithms. arXiv:1109.2378.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tacit.cluster.linkages.distance_source import POINTS, Source, fetch
from tacit.cluster.linkages.lanes import LANES, blocks_for, keep_lanes
from tacit.cluster.linkages.merges import Merges
from tacit.cluster.linkages.scores import (
    AVERAGE,
    COMPLETE,
    METHODS,
    WARD,
    WEIGHTED,
    height,
    nearest,
)
from tacit.core.kernel import kernel

__all__ = ["nn_chain", "pool_size"]

PAUSED, CROWDED = range(2)  # why the kernel came back
CALL_WORK = 2**26  # of multiplications in one kernel call: well under 200 ms
PACK_BELOW = 0.8  # of the columns alive


class Columns(NamedTuple):
    """The clusters, one to a column, ordered by name. Packed together with the columns."""

    names: np.ndarray  # int64, lowest row
    sizes: np.ndarray  # float64; a leaf may count more than once
    scatter: np.ndarray  # float64, Ward: sum of squares inside, over the size
    penalty: np.ndarray  # float64, infinite where dead
    alive: np.ndarray  # bool
    row_of: np.ndarray  # int64, place in the pool; -1 where no row is kept
    born: np.ndarray  # int64, the merge that made it, counted from 1; 0 for a single row
    seen: np.ndarray  # int64, merges that the row knows of
    linked: np.ndarray  # bool, on the chain


class Work(NamedTuple):
    """What else goes on from one kernel call to the next."""

    pool: np.ndarray  # float64, rows of `stride` numbers
    free: np.ndarray  # int64, stack of places in the pool
    chain: np.ndarray  # int64, columns
    young: np.ndarray  # (n, 2) int64: columns of merged clusters, and the merge that made them
    lows: np.ndarray  # (LANES,) scratch


class Now(NamedTuple):
    """Places of the counters in an int64 array."""

    columns: int = 0
    alive: int = 1
    stride: int = 2
    free: int = 3  # height of the stack
    depth: int = 4  # of the chain
    young: int = 5
    done: int = 6  # merges
    made: int = 7  # clusters of two rows or more


NOW = Now()


def pool_size(n: int) -> int:
    """Numbers kept at most: n/2 clusters of two, and their distances."""
    return (n // 2 + 6) * (n // 2 + 2 * LANES)


def nn_chain(
    source: Source,
    method: str,
    sizes: np.ndarray,
    *,
    squared: bool = False,
    pause: Callable[[int], None] = lambda done: None,
) -> Merges:
    """The merges, in the order the chain finds them.

    ``squared`` asks the source for squares; the heights then are squares too, for Ward always.
    ``pause(done)`` is called every now and then with the number of merges made.
    """
    n = source.n
    merges = Merges.empty(n)
    columns, work, now = start(n, sizes)
    code = METHODS[method]
    while now[NOW.alive] > 1:
        reason = run_chain(source, columns, work, now, merges, code, squared)
        if reason == CROWDED:
            pack(source, columns, work, now)
        pause(int(now[NOW.done]))
    return merges


def start(n: int, sizes: np.ndarray) -> tuple[Columns, Work, np.ndarray]:
    width = blocks_for(n) * LANES
    columns = Columns(
        np.arange(width),
        np.ones(width),
        np.zeros(width),
        np.where(np.arange(width) < n, 0.0, np.inf),
        np.arange(width) < n,
        np.full(width, -1),
        np.zeros(width, np.int64),
        np.zeros(width, np.int64),
        np.zeros(width, bool),
    )
    columns.sizes[:n] = sizes
    pool = np.empty(pool_size(n))
    work = Work(
        pool,
        np.empty(n + 8, np.int64),
        np.empty(n + 1, np.int64),
        np.empty((n + 1, 2), np.int64),
        np.empty(LANES),
    )
    now = np.zeros(len(NOW), np.int64)
    now[NOW.columns], now[NOW.alive], now[NOW.stride] = n, n, width
    offer_places(work, now, 0)
    return columns, work, now


def offer_places(work: Work, now: np.ndarray, used: int) -> None:
    """Put all places of the pool but the first ``used`` on the stack, the lowest on top."""
    places = min(len(work.pool) // int(now[NOW.stride]), len(work.free))
    work.free[: places - used] = np.arange(used, places)[::-1]
    now[NOW.free] = places - used


def pack(source: Source, columns: Columns, work: Work, now: np.ndarray) -> None:
    """Close the gaps that dead clusters left, in the columns and in the pool."""
    m, old = int(now[NOW.columns]), int(now[NOW.stride])
    keep = np.flatnonzero(columns.alive[:m])
    count = len(keep)
    width = blocks_for(count) * LANES
    kept = keep[columns.row_of[keep] >= 0]
    rows = np.sort(columns.row_of[kept])
    for first in range(0, len(rows), 256):  # a few rows at a time: Ctrl-C is heard
        pack_rows(work.pool, old, width, rows[first : first + 256], first, keep)
    if source.kind == POINTS:
        keep_lanes(source.tiles, keep)
    place = np.full(len(columns.names), -1)
    place[keep] = np.arange(count)
    for array in (work.chain[: now[NOW.depth]], work.young[: now[NOW.young], 0]):
        array[:] = place[array]
    columns.row_of[kept] = np.searchsorted(rows, columns.row_of[kept])
    for column in columns:
        column[:count] = column[keep]
    columns.penalty[count:] = np.inf
    columns.alive[count:] = False
    now[NOW.columns], now[NOW.stride] = count, width
    offer_places(work, now, len(rows))


# --- Kernels ---


@kernel
def run_chain(source, columns, work, now, merges, method, squared):
    """Follow the chain for a while."""
    names, row_of, linked = columns.names, columns.row_of, columns.linked
    chain = work.chain
    budget = CALL_WORK
    start = 0
    while now[NOW.alive] > 1:
        m, stride = now[NOW.columns], now[NOW.stride]
        if budget < 0:
            return PAUSED
        if m > 2 * LANES and now[NOW.alive] < PACK_BELOW * m:
            return CROWDED
        if now[NOW.depth] == 0:
            while not columns.alive[start]:
                start += 1
            chain[0] = start
            linked[start] = True
            now[NOW.depth] = 1
        x = chain[now[NOW.depth] - 1]
        cost = look(source, columns, work, now, x, method, squared)
        if cost < 0:
            return CROWDED
        budget -= cost
        row = work.pool[row_of[x] * stride : (row_of[x] + 1) * stride]
        y = nearest(row, columns, x, method, work.lows)
        if not linked[y]:
            chain[now[NOW.depth]] = y
            linked[y] = True
            now[NOW.depth] += 1
            continue
        if chain[now[NOW.depth] - 2] != y:
            # Rounding made a merge bring two clusters closer. The links since y are stale.
            while chain[now[NOW.depth] - 1] != y:
                now[NOW.depth] -= 1
                c = chain[now[NOW.depth]]
                linked[c] = False
                if columns.born[c] == 0 and row_of[c] >= 0:
                    give_place(columns, work, now, c)
            continue
        cost = look(source, columns, work, now, y, method, squared)
        if cost < 0:
            return CROWDED
        budget -= cost
        now[NOW.depth] -= 2
        linked[x] = linked[y] = False
        a, b = min(x, y), max(x, y)
        s = now[NOW.done]
        merges.low[s] = names[a]
        merges.high[s] = names[b]
        merges.heights[s] = height(row[y], columns, x, y, method)
        merge(columns, work, now, x, y, row[y], method)
    return PAUSED


@kernel
def look(source, columns, work, now, x, method, squared):
    """Have a row for x that knows of all merges. What it cost, or -1 for want of space."""
    m = now[NOW.columns]
    if columns.row_of[x] >= 0:
        look_again(columns, work, now, x)
        return 4 * m
    place = take_place(columns, work, now)
    if place >= 0:
        columns.row_of[x] = place
        first_look(source, columns, work, now, x, method, squared)
        return m * (4 + source.points.shape[1])
    return -1


@kernel
def take_place(columns, work, now):
    """A free place in the pool, or -1. If need be a single row further down the chain gives
    up its own: the source can tell its distances again."""
    if now[NOW.free] == 0:
        for i in range(now[NOW.depth] - 2):
            c = work.chain[i]
            if columns.born[c] == 0 and columns.row_of[c] >= 0:
                give_place(columns, work, now, c)
                break
    if now[NOW.free] == 0:
        return -1
    now[NOW.free] -= 1
    return work.free[now[NOW.free]]


@kernel
def give_place(columns, work, now, x):
    """Forget the row of x."""
    work.free[now[NOW.free]] = columns.row_of[x]
    now[NOW.free] += 1
    columns.row_of[x] = -1


@kernel
def first_look(source, columns, work, now, x, method, squared):
    """A single row's distances: to single rows from the source, to others from theirs."""
    m, stride = now[NOW.columns], now[NOW.stride]
    row = work.pool[columns.row_of[x] * stride : (columns.row_of[x] + 1) * stride]
    fetch(source, columns.names, m, columns.names[x], squared, row)
    if method in (AVERAGE, WARD):
        size = columns.sizes[x]
        for c in range(m):
            row[c] *= size * columns.sizes[c]
    columns.seen[x] = 0
    row[x] = np.inf
    look_again(columns, work, now, x)


@kernel
def look_again(columns, work, now, x):
    """Bring a row up to date with the clusters merged since it was last looked at."""
    stride = now[NOW.stride]
    row = work.pool[columns.row_of[x] * stride : (columns.row_of[x] + 1) * stride]
    for i in range(now[NOW.young] - 1, -1, -1):
        c, birth = work.young[i, 0], work.young[i, 1]
        if birth <= columns.seen[x]:
            break
        if c >= 0 and columns.born[c] == birth and columns.alive[c]:
            row[c] = work.pool[columns.row_of[c] * stride + x]
    columns.seen[x] = now[NOW.done]


@kernel
def merge(columns, work, now, x, y, between, method):
    """Make x and y one cluster, in the lower column, with a row of its own."""
    stride = now[NOW.stride]
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
    made = 1 - min(columns.born[x], 1) - min(columns.born[y], 1)
    a, b = min(x, y), max(x, y)
    row[a] = np.inf
    kept = columns.row_of[x]
    give_place(columns, work, now, y)
    columns.row_of[x] = -1
    columns.row_of[a] = kept
    sizes[a] += sizes[b]
    scatter[a] = squares / sizes[a]
    columns.alive[b] = False
    columns.penalty[b] = np.inf
    now[NOW.done] += 1
    now[NOW.alive] -= 1
    now[NOW.made] += made
    columns.born[a] = columns.seen[a] = now[NOW.done]
    if now[NOW.young] > 2 * now[NOW.made] + 64:
        forget_dead(columns, work, now)
    work.young[now[NOW.young], 0] = a
    work.young[now[NOW.young], 1] = now[NOW.done]
    now[NOW.young] += 1


@kernel
def forget_dead(columns, work, now):
    """Drop from the list what has been merged again."""
    kept = 0
    for i in range(now[NOW.young]):
        c, birth = work.young[i, 0], work.young[i, 1]
        if c >= 0 and columns.born[c] == birth and columns.alive[c]:
            work.young[kept, 0], work.young[kept, 1] = c, birth
            kept += 1
    now[NOW.young] = kept


@kernel
def pack_rows(pool, old, new, rows, first, keep):
    """Copy the kept columns of rows to the front of the pool, with the new stride."""
    for k in range(rows.shape[0]):
        source = pool[rows[k] * old : (rows[k] + 1) * old]
        target = pool[(first + k) * new : (first + k + 1) * new]
        for c in range(keep.shape[0]):
            target[c] = source[keep[c]]
