"""Distances between all pairs of rows, a tile at a time, and their sums by cluster.

``distance_sums`` gives the sum of the distances from every row to every cluster without a
matrix of all pairs. For Euclidean distances of dense rows, rows are sorted by cluster, so that
the distances from a range of rows to a cluster are contiguous, and a tile of them is one matrix
product. Each pair is computed once: a range of rows of one cluster also adds its distances to
the sums of the later rows. With many small clusters, where that takes too much memory, and for
other metrics, each pair is computed from both sides.

Distances are float64 about the mean of the data; those that are small relative to the lengths
of their rows, where the product loses digits, are recomputed one by one.
"""

import math
from collections.abc import Iterator
from functools import partial
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
    "SortedRows", "column_spans", "distance_sums", "distance_tiles", "load_rows", "row_ranges",
    "sort_rows",
]  # fmt: skip

ROWS = 256  # of a range
COLUMNS = 512  # of a tile: it stays in cache (silhouette in benchmarks/measure/clustering.py)
CALL_WORK = 2**27  # multiplications in one kernel call
SYMMETRIC_BYTES = 2**30  # for all sums at once
SMALL = 1e-6  # a square below this fraction of its terms is recomputed


class SortedRows(NamedTuple):
    """Rows in the order of their clusters."""

    rows: np.ndarray  # (n, d) float64, about their mean
    squares: np.ndarray  # (n,) their squared lengths
    starts: np.ndarray  # (k + 1,) where each cluster begins
    codes: np.ndarray  # (n,) int32
    order: np.ndarray  # (n,) the row's number in the data


def distance_sums(
    X: Any, labels: Codes, metric: Any, engine: Engine
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Numbers of some rows, and their (rows, k) sums of distances; until all are done."""
    n, k = len(labels.codes), len(labels.counts)
    if isinstance(metric, str) and metric == "euclidean" and not sp.issparse(X):
        data = sort_rows(X, labels)
        if 8 * n * k <= SYMMETRIC_BYTES and n >= 64 * k:
            yield data.order, sum_pairs_once(data, engine)
            return
        ranges = row_ranges(0, n)
        sums = engine.each(partial(sum_all, data), ranges, work=n * n)
        for (start, stop), own in zip(ranges, sums, strict=True):
            yield data.order[start:stop], own
        return
    ranges = row_ranges(0, n)
    sums = engine.each(partial(sum_tiles, X, metric, labels.codes, k), ranges, work=n * n)
    for (start, stop), own in zip(ranges, sums, strict=True):
        yield np.arange(start, stop), own


def row_ranges(start: int, stop: int) -> list[tuple[int, int]]:
    """Ranges of ROWS rows from start to stop; the last may be shorter."""
    return [(i, min(i + ROWS, int(stop))) for i in range(int(start), int(stop), ROWS)]


def distance_tiles(
    items: Any, metric: Any, rows: tuple[int, int], begin: int = 0
) -> Iterator[tuple[int, np.ndarray]]:
    """The distances from a range of items to all from ``begin`` on: first column, tile."""
    start, stop = rows
    if isinstance(metric, str) and metric == "precomputed":
        yield begin, np.asarray(items[start:stop, begin:])
        return
    n = len(items) if isinstance(items, list) else items.shape[0]
    for first in range(begin, n, 16 * COLUMNS):
        check_stop()
        others = items[first : first + 16 * COLUMNS]
        between = between_objects if isinstance(items, list) else between_rows
        yield first, between(items[start:stop], others, metric)


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
                f"{name} compares all pairs of rows, and to hold {len(X):,} of them",
                "Take a sample of the rows, or a score that needs only their centers.",
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
            f"{name} needs rows and columns, but X has ndim={X.ndim}. Reshape it to two "
            "dimensions."
        )
    if not X.shape[0]:
        raise ValueError(f"{name} got no rows (0 samples) in X. Give it at least one.")
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
    if X.min() < 0:
        raise ValueError(
            f"{name}(metric='precomputed') needs distances of zero or more, but the least is "
            f"{X.min():.3g}. Distances are never negative; similarities are another thing."
        )
    if X.diagonal().max() > 1e-6 * X.max():
        raise ValueError(
            f"{name}(metric='precomputed') needs zero from an item to itself, but the diagonal "
            f"contains non-zero distances up to {X.diagonal().max():.3g}. Use "
            "np.fill_diagonal(X, 0)."
        )


# --- Sums ---


def sort_rows(X: np.ndarray, labels: Codes) -> SortedRows:
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
    return SortedRows(rows, squares, starts, labels.codes[order], order)


def sum_pairs_once(data: SortedRows, engine: Engine) -> np.ndarray:
    """(n, k) sums, each pair of rows computed once."""
    n, k = len(data.rows), len(data.starts) - 1
    total = np.zeros((k, n))
    ranges = [rows for c in range(k) for rows in row_ranges(*data.starts[c : c + 2])]
    sums = engine.each(partial(sum_later, data), ranges, work=n * n)
    for (start, stop), (own, later) in zip(ranges, sums, strict=True):
        total[:, start:stop] += own.T
        total[data.codes[start], stop:] += later[stop - start :]
    return total.T


def sum_later(data: SortedRows, rows: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Rows of one cluster against themselves and all later rows: what they add to their own
    (rows, k) sums, and to the sums of the rows from their first on."""
    later = np.zeros(len(data.rows) - rows[0])
    return add_ranges(data, rows, rows[0], later), later


def sum_all(data: SortedRows, rows: tuple[int, int]) -> np.ndarray:
    """(rows, k) sums of a range of rows against all rows."""
    return add_ranges(data, rows, 0, np.empty(0))


def add_ranges(
    data: SortedRows, rows: tuple[int, int], begin: int, later: np.ndarray
) -> np.ndarray:
    own = np.zeros((rows[1] - rows[0], len(data.starts) - 1))
    for first, last in column_spans(data, rows, begin):
        add_tiles(data, *rows, first, last, own, later)
    return own


def column_spans(
    data: SortedRows, rows: tuple[int, int], begin: int
) -> Iterator[tuple[int, int]]:
    """Columns from ``begin`` on, for one kernel call at a time."""
    n, d = data.rows.shape
    step = max(COLUMNS, CALL_WORK // ((rows[1] - rows[0]) * (d + 8)))
    for first in range(begin, n, step):
        check_stop()
        yield first, min(first + step, n)


def sum_tiles(
    items: Any, metric: Any, codes: np.ndarray, k: int, rows: tuple[int, int]
) -> np.ndarray:
    """(rows, k) sums of the distances from a range of items to all, by any metric."""
    out = np.zeros((rows[1] - rows[0], k))
    for first, tile in distance_tiles(items, metric, rows):
        sum_by_label(tile, codes[first : first + tile.shape[1]], out)
    return out


# --- Kernels ---


# fastmath: the order of additions within a row of a tile is left to the compiler, which makes
# this several times faster. It is the same for every engine.
@kernel(fastmath={"reassoc", "nsz", "contract"})
def add_tiles(data, start, stop, begin, end, own, later):
    """Add the distances from the rows start:stop to the rows begin:end, tile by tile."""
    rows, squares, starts = data.rows, data.squares, data.starts
    k, size = starts.shape[0] - 1, stop - start
    mine = rows[start:stop] * -2.0
    buffer = np.empty(size * COLUMNS)
    first_cluster = 0
    for first in range(begin, end, COLUMNS):
        last = min(first + COLUMNS, end)
        products = buffer[: size * (last - first)].reshape(size, last - first)
        np.dot(mine, rows[first:last].T, products)
        while starts[first_cluster + 1] <= first:
            first_cluster += 1
        c = first_cluster
        while c < k and starts[c] < last:
            low, high = max(starts[c], first), min(starts[c + 1], last)
            others = squares[low:high]
            longest = 0.0
            for j in range(others.shape[0]):
                longest = max(longest, others[j])
            for b in range(size):
                tile = products[b, low - first : high - first]
                length = squares[start + b]
                bound = SMALL * (length + longest)
                if later.shape[0] > 0:
                    target = later[low - start : high - start]
                    total, small = add_roots(tile, others, length, bound, target)
                else:
                    target = later
                    total, small = sum_roots(tile, others, length, bound)
                if small > 0:
                    total += correct_small(tile, rows, start + b, low, others, length, target)
                own[b, c] += total
            c += 1


@kernel(fastmath={"reassoc", "nsz", "contract"})
def sum_roots(products, others, length, bound):
    """The sum of the distances, and how many squares are below the bound."""
    total, small = 0.0, 0
    for j in range(products.shape[0]):
        square = products[j] + others[j] + length
        small += 1 if square < bound else 0
        total += math.sqrt(square if square > 0.0 else 0.0)
    return total, small


@kernel(fastmath={"reassoc", "nsz", "contract"})
def add_roots(products, others, length, bound, target):
    """``sum_roots``, and every distance added to the sum of the row at its other end."""
    total, small = 0.0, 0
    for j in range(products.shape[0]):
        square = products[j] + others[j] + length
        small += 1 if square < bound else 0
        distance = math.sqrt(square if square > 0.0 else 0.0)
        total += distance
        target[j] += distance
    return total, small


@kernel
def correct_small(products, rows, i, low, others, length, target):
    """Recompute the small distances of a row one by one; by how much the sum changes."""
    change = 0.0
    for j in range(products.shape[0]):
        square = products[j] + others[j] + length
        if square < SMALL * (length + others[j]):
            error = math.sqrt(squared_distance(rows[i], rows[low + j]))
            error -= math.sqrt(max(square, 0.0))
            change += error
            if target.shape[0] > 0:
                target[j] += error
    return change


@kernel
def sum_by_label(distances, codes, out):
    for i in range(distances.shape[0]):
        row, target = distances[i], out[i]
        for j in range(codes.shape[0]):
            target[codes[j]] += row[j]
