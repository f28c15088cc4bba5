"""What the search of k-means wants to know of the centers, worked out once per pass."""

import math
from typing import NamedTuple

import numpy as np

from tacit.core.kernel import kernel
from tacit.data.summary import DataSummary

__all__ = ["Geometry", "Near", "survey"]

NEAR_DIMENSIONS = 8  # up to here a center's neighbours beat a matrix product
NEAR_CENTERS = 48  # and from here on
LISTED = 32  # neighbours kept of each center
TILE = 256  # features turned at a time: what is written stays in cache
MOVER_WORK = 8192  # multiplications to a row that make looking at the movers first pay


class Near(NamedTuple):
    """What widens or overrules the bounds of a center's rows after an update, in float32."""

    drift: np.ndarray  # (k,) how far the center moved
    most: np.ndarray  # (k,) the most that any other center moved
    spare: np.ndarray  # (k,) how much less those moved that are not among the movers
    others: np.ndarray  # (k,) the most that any on its list of neighbours moved
    horizon: np.ndarray  # (k,) where that list ends
    gap: np.ndarray  # (k,) half the way to the nearest other center
    doubt: np.ndarray  # (k,) what rounding the center to the dtype of the rows may cost


class Geometry(NamedTuple):
    """What the search wants to know of the centers. All of it follows from them."""

    origin: np.ndarray  # (d,) in the dtype of the rows
    scale: np.floating
    narrow: np.ndarray  # (k, d) the centers in the dtype of the rows
    minus2: np.ndarray  # float32 -2 (c - origin) scale, (k, d); for sparse rows (d, k padded)
    norms: np.ndarray  # (k,) float32 |c - origin|^2 scale^2
    widest: float  # the largest |c - origin| scale
    squares: np.ndarray  # (k,) |c|^2
    previous_squares: np.ndarray  # (k,)
    near: Near
    neighbours: np.ndarray  # (k, listed) closest centers first; empty where not used
    reach: np.ndarray  # (k, listed) their distances
    step: float  # the squared way that all centers went in the last update
    movers: np.ndarray  # (few,) centers that moved much more than the rest, if there are such
    movers_minus2: np.ndarray  # (few, d)
    movers_norms: np.ndarray  # (few,)


def survey(
    centers: np.ndarray, previous: np.ndarray, summary: DataSummary, sparse: bool
) -> Geometry:
    """Everything the search wants to know of these centers."""
    k, d = centers.shape
    by_list = not sparse and d <= NEAR_DIMENSIONS and k >= NEAR_CENTERS
    neighbours, reach = np.empty((k, 0), np.int32), np.empty((k, 0))
    few = np.empty((0, d), np.float32)
    if sparse:  # d is large here: once through, and no copies that nobody asks for
        narrowed = few
        minus2, squares, before, moved = survey_sparse(centers, previous, summary.scale)
        norms = np.zeros(minus2.shape[1])
        norms[:k] = squares * summary.scale**2
        gap = half_gaps(centers, squares) * summary.scale
    else:
        narrowed = centers.astype(summary.dtype)
        shifted = (centers - summary.origin) * summary.scale
        norms, minus2 = dots(shifted, shifted), (-2 * shifted).astype(np.float32)
        squares, before = dots(centers, centers), dots(previous, previous)
        step = centers - previous
        moved = dots(step, step)
        if by_list:
            neighbours, reach = list_neighbours(centers, min(k - 1, LISTED))
            gap = reach[:, 0] / 2 * summary.scale
        else:
            gap = half_gaps(shifted, norms)
    drift = np.sqrt(moved) * summary.scale
    worth = not (by_list or sparse) and k * d >= MOVER_WORK
    movers = find_movers(drift) if worth else np.empty(0, np.int32)
    return Geometry(
        summary.origin.astype(summary.dtype),
        summary.dtype.type(summary.scale),
        narrowed,
        minus2,
        norms.astype(np.float32),
        float(np.sqrt(norms.max())) * (1 + 1e-6),
        squares,
        before,
        bounds(drift, gap, movers, neighbours, reach, squares, summary),
        neighbours,
        reach,
        float(moved.sum()),
        movers,
        np.ascontiguousarray(minus2[movers]) if len(movers) else few,
        norms[movers].astype(np.float32),
    )


def find_movers(drift: np.ndarray) -> np.ndarray:
    """The fewest centers without which the rest moved half as far at most; none where that
    would take more than an eighth of them."""
    order = np.argsort(-drift, kind="stable")
    for few in (2, 4, 8, 16, 32):
        if few > len(drift) // 8:
            break
        if drift[order[few]] < 0.5 * drift[order[0]]:
            return order[:few].astype(np.int32)
    return np.empty(0, np.int32)


def half_gaps(centers: np.ndarray, norms: np.ndarray) -> np.ndarray:
    """Half the way from each center to the nearest other, rounded down for what a matrix
    product may lose."""
    total = norms[:, None] + norms
    squares = (1 - 1e-12) * total - 2 * (centers @ centers.T)
    np.fill_diagonal(squares, np.inf)
    return np.sqrt(np.maximum(squares.min(axis=1), 0.0)) / 2


def dots(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The products of rows with rows, without a matrix in between."""
    return np.einsum("kd,kd->k", a, b)


def bounds(drift, gap, movers, neighbours, reach, squares, summary) -> Near:
    """How far bounds must widen, rounded outward."""
    k, listed = neighbours.shape
    scale = summary.scale
    farthest = int(np.argmax(drift))
    most = np.full(k, drift[farthest])
    most[farthest] = np.delete(drift, farthest).max(initial=0.0)
    rest = np.delete(drift, movers).max(initial=0.0) if len(movers) else most
    local = drift[neighbours].max(axis=1) if listed else np.full(k, np.inf)
    horizon = reach[:, -1] * scale if 0 < listed < k - 1 else np.full(k, np.inf)
    kind = np.finfo(summary.dtype)
    lost = np.sqrt(len(summary.origin) * float(kind.tiny))  # squares too small for the dtype
    doubt = (np.sqrt(squares) * kind.eps + 2 * lost) * scale
    wide, tight = 1 + 1e-6, 1 - 1e-6
    return Near(
        narrow(drift * wide),
        narrow(most * wide),
        narrow(np.maximum(most - rest, 0.0) * tight),
        narrow(local * wide),
        narrow(horizon * tight),
        narrow(gap * tight),
        narrow(doubt * wide),
    )


def narrow(bound: np.ndarray) -> np.ndarray:
    return np.asarray(bound, np.float32)


# --- Kernels ---


@kernel
def survey_sparse(centers, previous, scale):
    """-2 c scale, one row to a feature and padded to whole vectors; |c|^2 now and before;
    and |step|^2."""
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


@kernel(fastmath={"reassoc"})  # in whole vectors: a third off; the order is fixed by the code
def three_squares(a, b):
    """|a|^2, |b|^2 and |a - b|^2."""
    first, second, step = 0.0, 0.0, 0.0
    for t in range(a.shape[0]):
        first += a[t] * a[t]
        second += b[t] * b[t]
        step += (a[t] - b[t]) ** 2
    return first, second, step


@kernel
def list_neighbours(centers, listed):
    """The closest other centers of each, nearest first, and their distances."""
    k, d = centers.shape
    columns = np.ascontiguousarray(centers.T)
    neighbours = np.empty((k, listed), np.int32)
    reach = np.empty((k, listed))
    squares = np.empty(k)
    for a in range(k):
        squares[:] = 0.0
        for t in range(d):  # columns outside, so that a vector holds many centers
            column, own = columns[t], centers[a, t]
            for j in range(k):
                squares[j] += (column[j] - own) ** 2
        squares[a] = np.inf
        near, far = neighbours[a], reach[a]
        far[:] = np.inf
        bar = np.inf
        for j in range(k):
            square = squares[j]
            if square < bar:
                q = listed - 1
                while q > 0 and far[q - 1] > square:
                    far[q] = far[q - 1]
                    near[q] = near[q - 1]
                    q -= 1
                far[q] = square
                near[q] = j
                bar = far[listed - 1]
        for q in range(listed):
            far[q] = math.sqrt(far[q])
    return neighbours, reach
