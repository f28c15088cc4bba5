"""Where linkage gets the distance between two rows from, one row's worth at a time.

    POINTS      computed from Euclidean points when asked for; nothing is kept
    SQUARE      read from a square matrix
    CONDENSED   read from a condensed one, SciPy's order

The algorithms keep clusters in columns, in the order of their names (lowest rows). Clusters
die and columns are packed, so a source is asked about columns: ``names`` tells which row each
stands for. What it says about columns that are no single row is overwritten by the caller.
"""

from typing import NamedTuple

import numpy as np

from tacit.cluster.linkages.lanes import roots, squares_to, tile_points
from tacit.core.kernel import kernel

__all__ = ["CONDENSED", "POINTS", "SQUARE", "Source", "fetch", "from_condensed",
           "from_points", "from_square"]  # fmt: skip

POINTS, SQUARE, CONDENSED = 0, 1, 2


class Source(NamedTuple):
    """One of three; the arrays of the other two are empty."""

    kind: int
    n: int
    tiles: np.ndarray  # (blocks, d, LANES), packed along with the columns
    points: np.ndarray  # (n, d), never packed
    square: np.ndarray  # (n, n)
    condensed: np.ndarray  # (n (n-1) / 2,)

    @property
    def width(self) -> int:
        """Work to get one distance, in multiplications."""
        return self.points.shape[1] if self.kind == POINTS else 1


def from_points(points: np.ndarray) -> Source:
    """Distances between the rows of (n, d) points, computed when asked for."""
    none = np.empty((0, 0))
    return Source(POINTS, len(points), tile_points(points), points, none, np.empty(0))


def from_square(matrix: np.ndarray) -> Source:
    """Distances read from a symmetric (n, n) matrix, which is not changed."""
    none = np.empty((0, 0))
    return Source(SQUARE, len(matrix), np.empty((0, 0, 0)), none, matrix, np.empty(0))


def from_condensed(condensed: np.ndarray, n: int) -> Source:
    """Distances of n rows read from SciPy's condensed form, which is not changed."""
    none = np.empty((0, 0))
    return Source(CONDENSED, n, np.empty((0, 0, 0)), none, none, condensed)


# --- Kernels ---


@kernel
def fetch(source, names, m, row, squared, out):
    """The distances, or their squares, from a row to the m columns. out is whole blocks."""
    if source.kind == POINTS:
        whole = out.shape[0] // out_lanes(source.tiles)
        squares_to(source.tiles, 0, whole, source.points[row], out)
        if not squared:
            roots(out)
    elif source.kind == SQUARE:
        line = source.square[row]
        for c in range(m):
            out[c] = line[names[c]]
    else:
        for c in range(m):
            out[c] = condensed_at(source.condensed, source.n, row, names[c])
    if squared and source.kind != POINTS:
        for c in range(m):
            out[c] *= out[c]


@kernel(inline="always")
def out_lanes(tiles):
    return tiles.shape[2]


@kernel(inline="always")
def condensed_at(condensed, n, i, j):
    if i == j:
        return 0.0
    a, b = min(i, j), max(i, j)
    return condensed[a * (2 * n - a - 1) // 2 + b - a - 1]
