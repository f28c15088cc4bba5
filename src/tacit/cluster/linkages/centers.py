"""Clusters that are known by a center: Ward, centroid and median linkage of points.

Nothing but the centers and the sizes is kept, in columns ordered by name (lowest row). A
merge puts the new center in the lower column; the other dies, and is packed away before dead
columns are a twentieth of the whole.
"""

from typing import NamedTuple

import numpy as np

from tacit.cluster.linkages.lanes import LANES, blocks_for, keep_lanes, tile_points
from tacit.core.kernel import kernel

__all__ = ["PACK_BELOW", "Centers", "centers_of", "join", "pack_centers"]

PACK_BELOW = 0.95  # of the columns alive


class Centers(NamedTuple):
    """One column for every cluster; whole blocks of them."""

    tiles: np.ndarray  # (blocks, d, LANES) the centers
    points: np.ndarray  # (n, d) the centers again, by name
    names: np.ndarray  # int64, lowest row
    sizes: np.ndarray  # float64
    penalty: np.ndarray  # float64, infinite where dead
    alive: np.ndarray  # bool


def centers_of(points: np.ndarray, sizes: np.ndarray) -> Centers:
    """Every point a cluster of its own. Nothing is shared with the caller."""
    n = len(points)
    width = blocks_for(n) * LANES
    inside = np.arange(width) < n
    weights = np.ones(width)
    weights[:n] = sizes
    return Centers(
        tile_points(points),
        np.array(points, np.float64, order="C"),
        np.arange(width),
        weights,
        np.where(inside, 0.0, np.inf),
        inside,
    )


def pack_centers(centers: Centers, m: int, *more: np.ndarray) -> np.ndarray:
    """Move the living among the first m columns to the front, here and in ``more``.

    Returns where they were.
    """
    keep = np.flatnonzero(centers.alive[:m])
    keep_lanes(centers.tiles, keep)
    for array in (*centers[2:], *more):
        array[: len(keep)] = array[keep]
    centers.penalty[len(keep) :] = np.inf
    centers.alive[len(keep) :] = False
    return keep


# --- Kernels ---


@kernel
def join(centers, a, b, halfway):
    """Put b into a: the center goes to the mean of all rows, or halfway."""
    sizes = centers.sizes
    total = sizes[a] + sizes[b]
    share = 0.5 if halfway else sizes[b] / total
    into, other = centers.points[centers.names[a]], centers.points[centers.names[b]]
    tile, lane = centers.tiles[a // LANES], a % LANES
    for t in range(into.shape[0]):
        into[t] += share * (other[t] - into[t])  # leaves equal centers where they are
        tile[t, lane] = into[t]
    sizes[a] = total
    centers.alive[b] = False
    centers.penalty[b] = np.inf
