"""What a pass of k-means needs to know of the centers, computed once per update.

``CenterBounds`` says how far the distance bounds of a center's rows widen after an update;
``CenterGeometry`` adds the centers in the forms that the search multiplies with.
"""

import math
from typing import NamedTuple

import numpy as np

from tacit.core.kernel import kernel
from tacit.data.summary import DataSummary

__all__ = ["CenterBounds", "CenterGeometry", "dots", "prepare_centers"]

# The benchmarks ``kmeans`` (1M x 2, 200k x 128) and ``kmeans_sparse`` notice these.
LIST_DIMENSIONS = 8  # up to here a search among a center's neighbors beats a matrix product
LIST_CENTERS = 48  # and from here on
LISTED = 32  # neighbors listed of each center
MOVER_WORK = 8192  # multiplications per row that make it pay to compare with the movers first
TILE = 256  # features transposed at a time: what is written stays in cache


class CenterBounds(NamedTuple):
    """How an update changes the bounds of the rows of each center; (k,) arrays in float32."""

    drift: np.ndarray  # distance that the center moved
    max_drift: np.ndarray  # the largest of any other center
    saved: np.ndarray  # by how much it is less without the movers
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
    movers: np.ndarray  # (few,) centers that moved much farther than the rest, if any
    movers_minus2: np.ndarray  # (few, d)
    movers_norms: np.ndarray  # (few,)


def prepare_centers(
    centers: np.ndarray, previous: np.ndarray, summary: DataSummary, sparse: bool
) -> CenterGeometry:
    """The geometry of the centers after a step from the previous ones."""
    k, d = centers.shape
    by_list = not sparse and d <= LIST_DIMENSIONS and k >= LIST_CENTERS
    neighbors, distances = np.empty((k, 0), np.int32), np.empty((k, 0))
    none = np.empty((0, d), np.float32)
    if sparse:  # d is large: one pass over the centers, and no copies
        rounded = none
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
        if by_list:
            neighbors, distances = list_neighbors(centers, min(k - 1, LISTED))
            gap = distances[:, 0] / 2 * summary.scale
        else:
            gap = half_gaps(shifted, norms)
    drift = np.sqrt(moved) * summary.scale
    worth = not (by_list or sparse) and k * d >= MOVER_WORK
    movers = find_movers(drift) if worth else np.empty(0, np.int32)
    return CenterGeometry(
        summary.origin.astype(summary.dtype),
        summary.dtype.type(summary.scale),
        rounded,
        minus2,
        norms.astype(np.float32),
        float(np.sqrt(norms.max())) * (1 + 1e-6),
        squares,
        before,
        bounds_of(drift, gap, movers, neighbors, distances, squares, summary),
        neighbors,
        distances,
        float(moved.sum()),
        movers,
        np.ascontiguousarray(minus2[movers]) if len(movers) else none,
        norms[movers].astype(np.float32),
    )


def find_movers(drift: np.ndarray) -> np.ndarray:
    """The fewest centers without which the rest moved at most half as far; none where that
    would take more than an eighth of them."""
    order = np.argsort(-drift, kind="stable")
    for few in (2, 4, 8, 16, 32):
        if few > len(drift) // 8:
            break
        if drift[order[few]] < 0.5 * drift[order[0]]:
            return order[:few].astype(np.int32)
    return np.empty(0, np.int32)


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


def bounds_of(drift, gap, movers, neighbors, distances, squares, summary) -> CenterBounds:
    """The bounds, rounded outward."""
    k, listed = neighbors.shape
    scale = summary.scale
    farthest = int(np.argmax(drift))
    most = np.full(k, drift[farthest])
    most[farthest] = np.delete(drift, farthest).max(initial=0.0)
    rest = np.delete(drift, movers).max(initial=0.0) if len(movers) else most
    local = drift[neighbors].max(axis=1) if listed else np.full(k, np.inf)
    list_end = distances[:, -1] * scale if 0 < listed < k - 1 else np.full(k, np.inf)
    kind = np.finfo(summary.dtype)
    lost = np.sqrt(len(summary.origin) * float(kind.tiny))  # squares too small for the dtype
    error = (np.sqrt(squares) * kind.eps + 2 * lost) * scale
    up, down = 1 + 1e-6, 1 - 1e-6
    each = (
        drift * up,
        most * up,
        np.maximum(most - rest, 0.0) * down,
        local * up,
        list_end * down,
        gap * down,
        error * up,
    )
    return CenterBounds(*(np.asarray(bound, np.float32) for bound in each))


# --- Kernels ---


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
            column, own = columns[t], centers[a, t]
            for j in range(k):
                squares[j] += (column[j] - own) ** 2
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
