"""First centers for k-means: k-means++, random rows, or an array.

Equal rows are merged and ordered by a hash of their content before the draw, so that it depends
on the set of rows and not on their order: weight two is twice the row here too.

Arthur and Vassilvitskii (2007), k-means++: the advantages of careful seeding. SODA. The greedy
variant, which tries several rows a step and keeps the best, is from section 5 there.
"""

import math
from typing import Any

import numpy as np
import scipy.sparse as sp

from tacit.core.engines import one_blas_thread
from tacit.core.kernel import kernel
from tacit.core.randoms import mix
from tacit.data.table import Table, parts

__all__ = ["first_centers", "merge_equal_rows", "plus_plus"]

SEED_ROWS = 20_000  # to draw from, at least; see the benchmark ``kmeans_seeding``
ROWS_PER_CENTER = 20


def first_centers(
    init: Any, table: Table, n_clusters: int, rng: np.random.RandomState, *, name: str
) -> np.ndarray:
    """(k, d) centers, by a rule, a function or as an array."""
    if callable(init):
        if not table.in_memory:
            raise ValueError(
                f"{name}(init=<function>) needs all rows in memory, but they come from "
                f"{table.source}. Give 'k-means++', 'random' or an array."
            )
        init = init(table.take(np.arange(len(table))), n_clusters, random_state=rng)
    if not isinstance(init, str):
        return check_centers(init, n_clusters, table.shape[1], name)
    rows, weights = draw(table, max(SEED_ROWS, ROWS_PER_CENTER * n_clusters), rng)
    rows, weights = merge_equal_rows(rows, weights)
    if init == "random":  # without repetition, as likely as their weights
        size = min(n_clusters, len(weights))
        chosen = rng.choice(len(weights), size, replace=False, p=weights / weights.sum())
        chosen = np.resize(chosen, n_clusters)
    else:
        with one_blas_thread():  # BLAS may round differently on more
            chosen = plus_plus(rows, weights, n_clusters, rng)
    centers = rows[chosen]
    return np.asarray(centers.toarray() if sp.issparse(centers) else centers, np.float64)


def check_centers(init: Any, n_clusters: int, width: int, name: str) -> np.ndarray:
    centers = np.array(init.toarray() if sp.issparse(init) else init, np.float64)
    if centers.shape != (n_clusters, width):
        raise ValueError(
            f"{name}(init=...) holds centers of shape {centers.shape}, but n_clusters and the "
            f"data ask for {(n_clusters, width)}. Give one row per cluster."
        )
    if not np.isfinite(centers).all():
        i, j = np.argwhere(~np.isfinite(centers))[0]
        raise ValueError(f"{name}(init=...) is not finite at row {i}, column {j}. Mend it.")
    return centers


def draw(table: Table, size: int, rng: np.random.RandomState) -> tuple[Any, np.ndarray]:
    """Rows to choose from, and their weights: all of them, or a sample of a long table."""
    n = len(table)
    chosen = np.arange(n) if n <= size else np.sort(rng.permutation(n)[:size])
    weights = np.ones(len(chosen))
    if parts(table.blocks[0].load()).weights is not None:
        loaded = [parts(block.load()).weights for block in table]
        weights = np.concatenate(loaded)[chosen]
    return table.take(chosen), weights


def merge_equal_rows(rows: Any, weights: np.ndarray) -> tuple[Any, np.ndarray]:
    """Distinct rows of positive weight in an order that follows from their content."""
    keep = np.flatnonzero(weights > 0)
    rows, weights = rows[keep], weights[keep]
    hashes = (
        hash_sparse(rows.data, rows.indices, rows.indptr)
        if sp.issparse(rows)
        else hash_dense(rows)
    )
    order = np.argsort(hashes, kind="stable")
    first = np.concatenate([[True], np.diff(hashes[order]) != 0])
    totals = np.add.reduceat(weights[order], np.flatnonzero(first))
    return rows[order[first]], totals


def plus_plus(rows: Any, weights: np.ndarray, k: int, rng: np.random.RandomState) -> np.ndarray:
    """Rows to start from, each drawn with odds proportional to weight times the squared
    distance from those already chosen; the best of a few draws a step wins."""
    if sp.issparse(rows):
        points = rows.astype(np.float64)
        squares = np.asarray(points.multiply(points).sum(axis=1)).ravel()
    else:  # about the mean
        points = np.asarray(rows, np.float64)
        points = points - points.mean(axis=0)
        squares = np.einsum("ij,ij->i", points, points)
    trials = 2 + int(math.log(k))
    chosen = [pick(weights, rng.uniform(size=1))[0]]
    closest = squared_from(points, squares, np.array(chosen))[0]
    while len(chosen) < k:
        odds = weights * closest
        if not odds.sum() > 0:  # every distinct row is a center already
            return np.resize(np.array(chosen), k)
        picks = pick(odds, rng.uniform(size=trials))
        shrunk = np.minimum(closest, squared_from(points, squares, picks))
        best = int(np.argmin(shrunk @ weights))
        chosen.append(picks[best])
        closest = shrunk[best]
    return np.array(chosen)


def pick(odds: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
    """Indices drawn with probabilities proportional to the odds."""
    total = np.cumsum(odds)
    at = np.searchsorted(total, uniforms * total[-1], side="right")
    return np.minimum(at, np.flatnonzero(odds)[-1])  # rounding may overshoot


def squared_from(points: Any, squares: np.ndarray, picks: np.ndarray) -> np.ndarray:
    """(picks, n) squared distances; what rounding alone could leave becomes zero."""
    if sp.issparse(points):  # few dense picks, so that the rows are never transposed
        product = np.ascontiguousarray((points @ points[picks].toarray().T).T)
    else:
        product = points[picks] @ points.T
    total = squares[picks, None] + squares
    distances = total - 2 * product
    distances[distances < 1e-13 * total] = 0.0
    distances[np.arange(len(picks)), picks] = 0.0
    return distances


# --- Kernels: 64-bit hashes of a row's content ---


@kernel
def hash_dense(rows):
    """Equal to the hash of a sparse row with these values: zeros are skipped."""
    n, d = rows.shape
    out = np.zeros(n, np.uint64)
    cell = np.empty(1)
    bits = cell.view(np.uint64)
    for i in range(n):
        for j in range(d):
            if rows[i, j] != 0:
                cell[0] = rows[i, j]
                out[i] += mix(bits[0] ^ mix(np.uint64(j) + np.uint64(1)))
    return out


@kernel
def hash_sparse(data, indices, indptr):
    out = np.zeros(indptr.shape[0] - 1, np.uint64)
    cell = np.empty(1)
    bits = cell.view(np.uint64)
    for i in range(out.shape[0]):
        for t in range(indptr[i], indptr[i + 1]):
            if data[t] != 0:
                cell[0] = data[t]
                out[i] += mix(bits[0] ^ mix(np.uint64(indices[t]) + np.uint64(1)))
    return out
