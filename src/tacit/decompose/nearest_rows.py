"""The nearest rows of every row: exact, or approximate within cells for many rows.

Up to ``EXACT_ROWS`` rows all pairs are compared, by matrix products of tiles. Beyond that,
k-means partitions the rows into cells, and a row is compared with the rows of the nearest
cells; ``recall`` is the fraction of true neighbors found, measured on a sample.

The same bits on any number of threads: tiles and cells depend on the rows alone.
"""

from typing import Any, NamedTuple

import numpy as np

from tacit.core.engines import Engine, check_stop
from tacit.core.kernel import kernel
from tacit.core.randoms import key, permutation
from tacit.kernels.nearest_centers import nearest_centers, run_passes

__all__ = ["Neighbors", "nearest_rows", "search", "squared_norms"]

EXACT_ROWS = 50_000
TILE, COLUMNS = 512, 4096  # rows and columns of a matrix product
CELL_ROWS = 400  # rows per cell, on average
LARGEST_CELL = 2000  # rows
AROUND = 24  # cells to search
SAMPLED, PASSES = 40, 5  # rows per cell, and passes over them, for the centers
CHECKED = 500  # rows on which recall is measured


class Neighbors(NamedTuple):
    """The nearest other rows of each row, nearest first; ties go to the lowest number."""

    places: np.ndarray  # (n, k) int32
    squares: np.ndarray  # (n, k) float32 squared distances
    recall: float  # fraction of the true neighbors found; 1.0 where all pairs were compared


def nearest_rows(X: np.ndarray, k: int, engine: Engine, *, seed: int = 0) -> Neighbors:
    """The k nearest other rows of each row of X (float32), by Euclidean distance.

    >>> from tacit.core.engines import Serial
    >>> X = np.array([[0.0], [1.0], [5.0], [5.5]], np.float32)
    >>> nearest_rows(X, 1, Serial()).places.ravel()
    array([1, 0, 3, 2], dtype=int32)
    """
    if len(X) <= EXACT_ROWS:
        return exact(X, k, engine)
    return by_cells(X, k, engine, seed)


def exact(X: np.ndarray, k: int, engine: Engine) -> Neighbors:
    """Compare all pairs."""
    norms = squared_norms(X)

    def search_tile(first: int) -> tuple[np.ndarray, np.ndarray]:
        rows = np.arange(first, min(first + TILE, len(X)))
        return search(X, norms, rows, None, k)

    tiles = list(engine.each(search_tile, range(0, len(X), TILE)))
    places, squares = map(np.concatenate, zip(*tiles, strict=True))
    return Neighbors(places, squares, 1.0)


def by_cells(X: np.ndarray, k: int, engine: Engine, seed: int) -> Neighbors:
    """Compare the rows of nearby cells."""
    n, norms = len(X), squared_norms(X)
    count = max(2, n // CELL_ROWS)
    centers = cell_centers(X, count, engine, seed)
    labels = nearest_centers(X, centers, engine)
    order = np.argsort(labels, kind="stable")
    edges = np.searchsorted(labels[order], np.arange(count + 1))
    members = [order[edges[c] : edges[c + 1]] for c in range(count)]
    around = exact(centers, min(AROUND, count - 1), engine).places
    places, squares = np.empty((n, k), np.int32), np.empty((n, k), np.float32)
    # Parts of cells, of bounded size however many rows are equal.
    parts = [
        rows[i : i + LARGEST_CELL]
        for rows in members
        for i in range(0, len(rows), LARGEST_CELL)
    ]

    def search_cell(part: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return search(X, norms, part, candidates(part, labels[part[0]], members, around, k), k)

    for part, nearest in zip(parts, engine.each(search_cell, parts), strict=True):
        places[part], squares[part] = nearest
    sample = np.sort(permutation(key(seed, 0, 0), n)[:CHECKED])
    truth = search(X, norms, sample, None, k)[0]
    pairs = zip(truth, places[sample], strict=True)
    recall = float(np.mean([len(np.intersect1d(a, b)) / k for a, b in pairs]))
    return Neighbors(places, squares, recall)


def candidates(
    part: np.ndarray, c: int, members: list[np.ndarray], around: np.ndarray, k: int
) -> np.ndarray:
    """The rows to compare part of a cell with: those of the cell and of the nearest cells,
    every second or third only where they are too many."""
    near = np.concatenate([members[c], *(members[j] for j in around[c])])
    if len(near) <= k:
        near = np.concatenate(members)
    most = (AROUND + 1) * LARGEST_CELL // 2
    if len(near) > most:
        near = np.union1d(part, near[:: -(-len(near) // most)])
    return np.sort(near)


def cell_centers(X: np.ndarray, count: int, engine: Engine, seed: int) -> np.ndarray:
    """Centers of cells: a few passes of k-means over a sample, from random rows. They need not
    be optimal."""
    drawn = permutation(key(seed, 0, 2), len(X))
    sample = np.ascontiguousarray(X[np.sort(drawn[: SAMPLED * count])])
    return run_passes(sample, X[np.sort(drawn[:count])], engine, passes=PASSES)[1]


def search(
    X: np.ndarray, norms: np.ndarray, rows: np.ndarray, among: np.ndarray | None, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """The nearest of the rows ``among``, or of all rows, by tiles of a matrix product."""
    places = np.full((len(rows), k), -1, np.int32)
    best = np.full((len(rows), k), np.inf, np.float32)
    queries, total = X[rows], len(X) if among is None else len(among)
    for first in range(0, total, COLUMNS):
        check_stop()
        if among is None:
            ids = np.arange(first, min(first + COLUMNS, total))
        else:
            ids = among[first : first + COLUMNS]
        table = queries @ X[ids].T
        keep_nearest(table, norms[rows], norms[ids], rows, ids, places, best)
    return places, np.maximum(best, np.float32(0))


def squared_norms(X: Any) -> np.ndarray:
    """The squared norm of every row."""
    return np.einsum("nd,nd->n", X, X)


# --- Kernel ---


@kernel
def keep_nearest(table, row_norms, norms, rows, ids, places, best):
    """Insert |x|^2 - 2 x.y + |y|^2 into the k smallest of each row so far."""
    k = best.shape[1]
    for b in range(table.shape[0]):
        row, near, where = table[b], best[b], places[b]
        bar, me, base = near[k - 1], rows[b], row_norms[b]
        for j in range(row.shape[0]):
            square = base + norms[j] - np.float32(2) * row[j]
            if square < bar and ids[j] != me:
                q = k - 1
                while q > 0 and near[q - 1] > square:
                    near[q], where[q] = near[q - 1], where[q - 1]
                    q -= 1
                near[q], where[q] = square, ids[j]
                bar = near[k - 1]
