"""From every row to every cluster: the sum of distances, without a matrix of all pairs.

Rows are sorted by cluster, so that the distances from a stretch of rows to a cluster stand
side by side. A tile of them is one matrix product; what is added up is then forgotten. Every
pair is looked at once: a stretch of one cluster adds its distances to the sums of the rows
beyond it as well. Where there are many small clusters, for which that would need too much
memory, and for other metrics, pairs are looked at from both sides.

Distances are float64 about the mean of the data; those that are small beside the lengths of
their rows, where the product would lose digits, are computed one by one.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tacit.core.engines import Engine, check_stop
from tacit.core.kernel import kernel
from tacit.core.memory import check_memory
from tacit.data.bad_values import check_values
from tacit.data.table import Table
from tacit.kernels.distances import METRICS, between_objects, between_rows, squared_distance
from tacit.measure.labels import Codes

__all__ = [
    "Piece",
    "Sorted",
    "distance_sums",
    "load_rows",
    "pieces",
    "sorted_rows",
    "stretches",
]

ROWS = 256  # of a stretch
COLUMNS = 512  # of a tile: it stays in cache
CALL_WORK = 2**27  # multiplications in one kernel call
SYMMETRIC_BYTES = 2**30  # for all sums at once
SMALL = 1e-6  # a square below this share of its terms is computed again


class Sorted(NamedTuple):
    """Rows in the order of their clusters."""

    rows: np.ndarray  # (n, d) float64, about their mean
    squares: np.ndarray  # (n,) their squared lengths
    starts: np.ndarray  # (k + 1,) where each cluster begins
    codes: np.ndarray  # (n,) int32
    order: np.ndarray  # (n,) where each row was before


class Piece(NamedTuple):
    """A stretch of rows, by number."""

    start: int
    stop: int

    def load(self) -> "Piece":
        return self


class Sides(NamedTuple):
    """What a stretch of rows adds: to its own sums, and to those of the rows beyond it."""

    own: np.ndarray  # (rows, k)
    beyond: np.ndarray  # (n - start,), empty where pairs are looked at from both sides


def distance_sums(
    X: Any, labels: Codes, metric: Any, engine: Engine
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Stretches of rows, by their numbers, and their sums of distances: (rows,), (rows, k)."""
    if isinstance(metric, str) and metric == "euclidean" and not sp.issparse(X):
        data = sorted_rows(X, labels)
        n, k = len(data.rows), len(labels.counts)
        if 8 * n * k <= SYMMETRIC_BYTES and n >= 64 * k:
            yield data.order, both_sides(data, engine)
            return
        for piece, sides in walk(engine, one_side, data, pieces(0, n)):
            yield data.order[piece.start : piece.stop], sides.own
        return
    others = Others(X, metric, labels.codes, len(labels.counts))
    for piece, found in walk(engine, sums_of, others, pieces(0, len(labels.codes))):
        yield np.arange(piece.start, piece.stop), found


def load_rows(X: Any, metric: Any, *, name: str) -> Any:
    """X in memory and checked: float rows, CSR, a list of objects or a matrix of distances."""
    if callable(metric) and len(getattr(X, "shape", ())) != 2 and not isinstance(X, Table):
        return list(X)
    if isinstance(metric, str) and metric not in (*METRICS, "precomputed"):
        raise ValueError(
            f"{name}: metric={metric!r} is unknown. Choose from "
            f"{[*METRICS, 'precomputed']}, or give a function of two rows."
        )
    if isinstance(X, Table):
        if not X.in_memory:
            check_memory(
                2 * 8 * X.shape[0] * X.shape[1],
                f"{name} looks at all pairs of rows, and to hold {len(X):,} of them",
                "Take a sample of the rows, or a measure that needs only their centers.",
            )
        X = X.take(np.arange(len(X)))
    if sp.issparse(X):
        X = sp.csr_array(X)
    else:
        X = np.asarray(X)
        if X.dtype.kind not in "fiub":
            X = np.asarray(X, np.float64)
    if X.ndim != 2:
        raise ValueError(
            f"{name} needs rows and columns, but X has {X.ndim} dimension(s). Reshape it."
        )
    if not X.shape[0]:
        raise ValueError(f"{name} found no rows (0 samples) in X. Give it at least one.")
    check_values(X, name)
    if isinstance(metric, str) and metric == "precomputed":
        check_distances(X, name)
    return X


def check_distances(X: Any, name: str) -> None:
    if X.shape[0] != X.shape[1]:
        raise ValueError(
            f"{name}(metric='precomputed') needs a square matrix of distances, but X has shape "
            f"{X.shape}. Give one row and one column per item."
        )
    if sp.issparse(X):
        raise TypeError(
            f"{name}(metric='precomputed') needs a dense matrix: what a sparse one leaves out "
            "would count as no distance. Give X.toarray() if that is meant."
        )
    if X.min() < 0 or np.abs(X.diagonal()).max() > 1e-6 * X.max():
        raise ValueError(
            f"{name}(metric='precomputed') needs distances of zero or more, and of zero from "
            f"an item to itself; the least is {X.min():.3g}, the largest on the diagonal "
            f"{np.abs(X.diagonal()).max():.3g}. Use np.fill_diagonal(X, 0)."
        )


# --- Euclidean distances of dense rows ---


def sorted_rows(X: np.ndarray, labels: Codes) -> Sorted:
    """The rows about their mean, cluster by cluster; ValueError where squares overflow."""
    order = np.argsort(labels.codes, kind="stable")
    rows = np.asarray(X, np.float64)[order]
    # First a row, then the mean of what is left: no digits go to a large offset.
    rows -= rows[0].copy()
    rows -= rows.mean(axis=0)
    starts = np.concatenate([[0], np.cumsum(labels.counts)])
    squares = np.einsum("nd,nd->n", rows, rows)
    if not np.isfinite(squares).all():
        raise ValueError(
            f"The data holds values as large as {np.abs(X).max():.3g}, whose squared distances "
            "overflow. Rescale it, for example divide by that number."
        )
    return Sorted(rows, squares, starts, labels.codes[order], order)


def both_sides(data: Sorted, engine: Engine) -> np.ndarray:
    """(n, k) sums, every pair looked at once."""
    n, k = len(data.rows), len(data.starts) - 1
    total = np.zeros((k, n))
    cuts = [piece for c in range(k) for piece in pieces(*data.starts[c : c + 2])]
    for piece, sides in walk(engine, one_cluster, data, cuts):
        own = data.codes[piece.start]
        total[:, piece.start : piece.stop] += sides.own.T
        total[own, piece.stop :] += sides.beyond[piece.stop - piece.start :]
    return total.T


def one_cluster(data: Sorted, piece: Piece) -> Sides:
    """A stretch of one cluster against itself and all rows beyond."""
    return add_up(data, piece, piece.start, np.zeros(len(data.rows) - piece.start))


def one_side(data: Sorted, piece: Piece) -> Sides:
    """A stretch of rows against all rows."""
    return add_up(data, piece, 0, np.empty(0))


def add_up(data: Sorted, piece: Piece, begin: int, beyond: np.ndarray) -> Sides:
    own = np.zeros((piece.stop - piece.start, len(data.starts) - 1))
    for first, last in stretches(data, piece, begin):
        check_stop()
        add_tiles(data, piece.start, piece.stop, first, last, own, beyond)
    return Sides(own, beyond)


def stretches(data: Sorted, piece: Piece, begin: int) -> Iterator[tuple[int, int]]:
    """Columns for one kernel call at a time."""
    n, d = data.rows.shape
    span = max(COLUMNS, CALL_WORK // ((piece.stop - piece.start) * (d + 8)))
    for first in range(begin, n, span):
        yield first, min(first + span, n)


# --- Other metrics, sparse rows, objects, given distances ---


class Others(NamedTuple):
    """All items and their labels, for a stretch of them to be compared with."""

    items: Any
    metric: Any
    codes: np.ndarray
    k: int


def sums_of(others: Others, piece: Piece) -> np.ndarray:
    """(rows, k) sums of the distances from a stretch of items to all."""
    out = np.zeros((piece.stop - piece.start, others.k))
    for first, found in tiles(others, piece):
        sum_by_label(found, others.codes[first : first + found.shape[1]], out)
    return out


def tiles(others: Others, piece: Piece) -> Iterator[tuple[int, np.ndarray]]:
    """The distances from a stretch of items to all, some columns at a time."""
    items, metric = others.items, others.metric
    n = len(others.codes)
    if isinstance(metric, str) and metric == "precomputed":
        yield 0, np.asarray(items[piece.start : piece.stop])
        return
    mine = items[piece.start : piece.stop]
    for first in range(0, n, 16 * COLUMNS):
        check_stop()
        theirs = items[first : first + 16 * COLUMNS]
        if isinstance(items, list):
            yield first, between_objects(mine, theirs, metric)
        else:
            yield first, between_rows(mine, theirs, metric)


# --- Walking ---


def pieces(start: int, stop: int) -> list[Piece]:
    """Stretches of rows from start to stop; the last may be shorter."""
    return [Piece(i, min(i + ROWS, int(stop))) for i in range(int(start), int(stop), ROWS)]


def walk(
    engine: Engine, function: Callable, params: Any, cuts: Sequence[Piece]
) -> Iterator[tuple[Piece, Any]]:
    yield from zip(cuts, engine.map(function, params, cuts), strict=True)


# --- Kernels ---


# fastmath: the order of additions within a row of a tile is left to the compiler, which makes
# this several times faster. It is the same for every engine.
@kernel(fastmath={"reassoc", "nsz", "contract"})
def add_tiles(data, start, stop, begin, end, own, beyond):
    """Add the distances from the rows start:stop to the rows begin:end, tile by tile."""
    rows, squares, starts = data.rows, data.squares, data.starts
    k, size = starts.shape[0] - 1, stop - start
    mine = rows[start:stop] * -2.0
    room = np.empty(size * COLUMNS)
    first_cluster = np.searchsorted(starts, begin, side="right") - 1
    for first in range(begin, end, COLUMNS):
        last = min(first + COLUMNS, end)
        products = room[: size * (last - first)].reshape(size, last - first)
        np.dot(mine, rows[first:last].T, products)
        while starts[first_cluster + 1] <= first:
            first_cluster += 1
        c = first_cluster
        while c < k and starts[c] < last:
            low, high = max(starts[c], first), min(starts[c + 1], last)
            theirs = squares[low:high]
            longest = theirs.max()
            for b in range(size):
                tile = products[b, low - first : high - first]
                length = squares[start + b]
                bar = SMALL * (length + longest)
                if beyond.shape[0] > 0:
                    target = beyond[low - start : high - start]
                    total, small = roots_both(tile, theirs, length, bar, target)
                else:
                    target = beyond
                    total, small = roots(tile, theirs, length, bar)
                if small > 0:
                    total += mend(tile, rows, start + b, low, theirs, length, target)
                own[b, c] += total
            c += 1


@kernel(fastmath={"reassoc", "nsz", "contract"})
def roots(products, theirs, length, bar):
    """The sum of the distances, and how many squares are below the bar."""
    total, small = 0.0, 0
    for j in range(products.shape[0]):
        square = products[j] + theirs[j] + length
        small += 1 if square < bar else 0
        total += math.sqrt(square if square > 0.0 else 0.0)
    return total, small


@kernel(fastmath={"reassoc", "nsz", "contract"})
def roots_both(products, theirs, length, bar, target):
    """``roots``, and every distance into the sum of the row at its other end."""
    total, small = 0.0, 0
    for j in range(products.shape[0]):
        square = products[j] + theirs[j] + length
        small += 1 if square < bar else 0
        distance = math.sqrt(square if square > 0.0 else 0.0)
        total += distance
        target[j] += distance
    return total, small


@kernel
def mend(products, rows, i, low, theirs, length, target):
    """Compute the small distances of a row again, one by one; by how much the sum changes."""
    change = 0.0
    for j in range(products.shape[0]):
        square = products[j] + theirs[j] + length
        if square < SMALL * (length + theirs[j]):
            gap = math.sqrt(squared_distance(rows[i], rows[low + j]))
            gap -= math.sqrt(max(square, 0.0))
            change += gap
            if target.shape[0] > 0:
                target[j] += gap
    return change


@kernel
def sum_by_label(distances, codes, out):
    for i in range(distances.shape[0]):
        row, target = distances[i], out[i]
        for j in range(codes.shape[0]):
            target[codes[j]] += row[j]
