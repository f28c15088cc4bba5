"""What the search of k-means wants to know of the centers, worked out once per pass."""

import math
from typing import NamedTuple

import numpy as np

from tacit.cluster.lloyd_frame import Frame
from tacit.core.kernel import kernel

__all__ = ["Geometry", "Near", "survey"]

NEAR_DIMENSIONS = 8  # up to here a center's neighbours beat a matrix product
NEAR_CENTERS = 48  # and from here on
LISTED = 32  # neighbours kept of each center
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
    movers: np.ndarray  # (few,) centers that moved much more than the rest, if there are such
    movers_minus2: np.ndarray  # (few, d)
    movers_norms: np.ndarray  # (few,)


def survey(centers: np.ndarray, previous: np.ndarray, frame: Frame, sparse: bool) -> Geometry:
    """Everything the search wants to know of these centers."""
    k, d = centers.shape
    shifted = (centers - frame.origin) * frame.scale
    norms = (shifted**2).sum(axis=1)
    minus2 = np.ascontiguousarray(-2 * shifted, np.float32)
    if sparse:
        padded = np.zeros((d, -(-k // 16) * 16), np.float32)  # whole vectors
        padded[:, :k] = minus2.T
        minus2 = padded
    by_list = not sparse and d <= NEAR_DIMENSIONS and k >= NEAR_CENTERS
    neighbours, reach = list_neighbours(centers, min(k - 1, LISTED if by_list else 1))
    drift = np.sqrt(((centers - previous) ** 2).sum(axis=1)) * frame.scale
    worth = not (by_list or sparse) and k * d >= MOVER_WORK
    movers = find_movers(drift) if worth else np.empty(0, np.int32)
    near = bounds(centers, drift, movers, neighbours, reach, frame, by_list)
    if not by_list:
        neighbours, reach = np.empty((k, 0), np.int32), np.empty((k, 0))
    return Geometry(
        frame.origin.astype(frame.dtype),
        frame.dtype.type(frame.scale),
        centers.astype(frame.dtype),
        minus2,
        np.resize(norms, minus2.shape[1] if sparse else k).astype(np.float32),
        float(np.sqrt(norms.max())) * (1 + 1e-6),
        (centers**2).sum(axis=1),
        (previous**2).sum(axis=1),
        near,
        neighbours,
        reach,
        movers,
        np.ascontiguousarray(minus2[movers]) if len(movers) else np.empty((0, d), np.float32),
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


def bounds(centers, drift, movers, neighbours, reach, frame, by_list) -> Near:
    """How far bounds must widen, rounded outward."""
    k, listed = neighbours.shape
    scale = frame.scale
    farthest = int(np.argmax(drift))
    most = np.full(k, drift[farthest])
    most[farthest] = np.delete(drift, farthest).max(initial=0.0)
    rest = np.delete(drift, movers).max(initial=0.0) if len(movers) else most
    local = drift[neighbours].max(axis=1, initial=0.0) if by_list else np.full(k, np.inf)
    horizon = reach[:, -1] * scale if listed < k - 1 else np.full(k, np.inf)
    gap = reach[:, 0] / 2 * scale if listed else np.full(k, np.inf)
    kind = np.finfo(frame.dtype)
    lost = np.sqrt(centers.shape[1] * float(kind.tiny))  # squares too small for the dtype
    doubt = (np.sqrt((centers**2).sum(axis=1)) * kind.eps + 2 * lost) * scale
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


# --- Kernel ---


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
