"""All distances between rows as a square matrix, built block by block on an engine.

A block is a stretch of rows against all rows from its first on; what lies below the diagonal
is copied from above, so the matrix is symmetric to the bit, and the same on every engine.
Engines that share memory write into the matrix; from others the blocks come back.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tacit.cluster.linkages.lanes import LANES, roots, squares_to, tile_points
from tacit.core.engines import Engine, check_stop
from tacit.core.kernel import kernel

__all__ = ["SCIPY_METRICS", "by_function", "dense_squares", "scipy_distances", "sparse_squares"]

STRETCH = 256  # rows to a block
CALL_WORK = 2**28  # of multiplications in one kernel call: well under 200 ms
# Metrics of SciPy that compare two rows without asking about the others.
SCIPY_METRICS = (
    "braycurtis", "canberra", "chebyshev", "cityblock", "correlation", "dice", "hamming",
    "jaccard", "jensenshannon", "rogerstanimoto", "russellrao", "sokalsneath", "yule",
)  # fmt: skip


class Stretch(NamedTuple):
    """A block: which rows."""

    start: int
    stop: int

    def load(self) -> "Stretch":
        return self


class Points(NamedTuple):
    points: np.ndarray
    tiles: np.ndarray


class ScipyRows(NamedTuple):
    rows: np.ndarray
    metric: str


class SparseRows(NamedTuple):
    rows: Any  # CSR, canonical
    sizes: np.ndarray  # squared lengths


def dense_squares(points: np.ndarray, engine: Engine, *, root: bool = False) -> np.ndarray:
    """(n, n) squared Euclidean distances, or distances."""
    matrix = build(squares_block, Points(points, tile_points(points)), len(points), engine)
    if root:
        for i in range(0, len(matrix), STRETCH):
            roots(matrix[i : i + STRETCH].reshape(-1))
    return matrix


def sparse_squares(rows: Any, engine: Engine, *, root: bool = False) -> np.ndarray:
    """(n, n) squared Euclidean distances between sparse rows, or distances."""
    sizes = np.asarray(rows.multiply(rows).sum(axis=1), np.float64).ravel()
    matrix = build(sparse_block, SparseRows(rows, sizes), rows.shape[0], engine)
    if root:
        np.sqrt(matrix, out=matrix)
    return matrix


def scipy_distances(rows: np.ndarray, metric: str, engine: Engine) -> np.ndarray:
    """(n, n) distances by one of SCIPY_METRICS."""
    return build(scipy_block, ScipyRows(rows, metric), len(rows), engine)


def by_function(objects: list, metric: Callable[[Any, Any], float]) -> np.ndarray:
    """Condensed distances between any objects, by a function of two of them."""
    n = len(objects)
    out = np.empty(n * (n - 1) // 2)
    at = 0
    for i in range(n):
        for j in range(i + 1, n):
            value = metric(objects[i], objects[j])
            try:
                out[at] = value
            except (TypeError, ValueError):
                raise TypeError(
                    f"The metric must give one number for two objects, but for numbers {i} "
                    f"and {j} it gave {type(value).__name__}. A function of all rows at once "
                    "can be called first and its result given with metric='precomputed'."
                ) from None
            at += 1
    return out


# --- Blocks on an engine ---


def build(function: Callable, params: Any, n: int, engine: Engine) -> np.ndarray:
    matrix = np.empty((n, n))
    stretches = [Stretch(i, min(i + STRETCH, n)) for i in range(0, n, STRETCH)]
    shared = [matrix] * len(stretches)
    for each, block in zip(
        stretches, engine.map(function, params, stretches, shared), strict=True
    ):
        if block is not None:
            write(matrix, each, block)
    return matrix


def write(matrix: np.ndarray, stretch: Stretch, block: np.ndarray) -> None:
    """Put a block in its place, and its mirror image."""
    matrix[stretch.start : stretch.stop, stretch.start :] = block
    mirror(matrix, stretch.start, stretch.stop)


def squares_block(params: Points, at: Stretch, matrix: np.ndarray | None = None) -> Any:
    n, d = params.points.shape
    target = np.empty((at.stop - at.start, n - at.start)) if matrix is None else None
    step = max(1, CALL_WORK // max(1, n * (d + 4)))
    for i in range(at.start, at.stop, step):
        check_stop()
        j = min(i + step, at.stop)
        if matrix is None:
            assert target is not None
            into = target[i - at.start : j - at.start]
        else:
            into = matrix[i:j, at.start :]
        squares_between(params.tiles, params.points, i, j, at.start, into)
    if matrix is not None:
        mirror(matrix, at.start, at.stop)
    return target


def scipy_block(params: ScipyRows, at: Stretch, matrix: np.ndarray | None = None) -> Any:
    from scipy.spatial.distance import cdist

    rows = params.rows
    block = cdist(rows[at.start : at.stop], rows[at.start :], params.metric)
    return deliver(block, at, matrix)


def sparse_block(params: SparseRows, at: Stretch, matrix: np.ndarray | None = None) -> Any:
    """|x|^2 + |y|^2 - 2 xy, and where that loses digits, difference by difference."""
    rows, sizes = params
    products = rows[at.start : at.stop] @ rows[at.start :].T
    block = products.toarray() if sp.issparse(products) else np.asarray(products)
    block = sizes[at.start : at.stop, None] + sizes[at.start :] - 2.0 * block
    mend_sparse(rows.data, rows.indices, rows.indptr, sizes, at.start, block)
    return deliver(block, at, matrix)


def deliver(block: np.ndarray, at: Stretch, matrix: np.ndarray | None) -> Any:
    if matrix is None:
        return block
    write(matrix, at, block)
    return None


# --- Kernels ---


@kernel
def squares_between(tiles, points, start, stop, origin, out):
    """out[i - start, j - origin] = |x_i - x_j|^2 for rows from start to stop, all j."""
    n = points.shape[0]
    blocks = tiles.shape[0]
    values = np.empty(blocks * LANES)
    first = origin // LANES
    for i in range(start, stop):
        squares_to(tiles, first, blocks, points[i], values)
        row = out[i - start]
        for j in range(origin, n):
            row[j - origin] = values[j]


@kernel
def mirror(matrix, start, stop):
    """Copy the rows from start to stop into the columns below them, tile by tile; the
    diagonal becomes 0."""
    n = matrix.shape[0]
    for i0 in range(start, stop, 32):
        for j0 in range(i0, n, 32):
            for i in range(i0, min(i0 + 32, stop)):
                row = matrix[i]
                for j in range(max(j0, i + 1), min(j0 + 32, n)):
                    matrix[j, i] = row[j]
    for i in range(start, stop):
        matrix[i, i] = 0.0


@kernel
def mend_sparse(data, indices, indptr, sizes, start, squares):
    """Recompute the squares that are small beside the ones they are a difference of."""
    for i in range(squares.shape[0]):
        row = squares[i]
        for j in range(row.shape[0]):
            if row[j] < 1e-6 * (sizes[start + i] + sizes[start + j]):
                row[j] = apart(data, indices, indptr, start + i, start + j)


@kernel
def apart(data, indices, indptr, i, j):
    """|x_i - x_j|^2 of two sparse rows with sorted columns."""
    p, q = indptr[i], indptr[j]
    total = 0.0
    while p < indptr[i + 1] or q < indptr[j + 1]:
        left = indices[p] if p < indptr[i + 1] else np.iinfo(np.int64).max
        right = indices[q] if q < indptr[j + 1] else np.iinfo(np.int64).max
        z = 0.0
        if left <= right:
            z += data[p]
            p += 1
        if right <= left:
            z -= data[q]
            q += 1
        total += z * z
    return total
