"""The Dunn index: how far apart the nearest clusters are beside the widest one.

    least distance between rows of two clusters / largest distance within a cluster

High is good. One outlying row is enough to spoil it, which is its use: it finds clusters that
touch, or that are not compact. All pairs are looked at once, a tile at a time.

Dunn (1974), Well-separated clusters and optimal fuzzy partitions. Journal of Cybernetics 4.
The notes' section on evaluating clusterings.
"""

import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import UndefinedMetricWarning

from tacit.core.engines import Engine, check_stop, get_engine
from tacit.core.kernel import kernel
from tacit.core.stats import Stats
from tacit.kernels.distances import squared_distance
from tacit.measure.by_centers import check_two
from tacit.measure.distance_sums import (
    COLUMNS,
    SMALL,
    Others,
    Piece,
    Sorted,
    load_rows,
    pieces,
    sorted_rows,
    stretches,
    tiles,
)
from tacit.measure.labels import codes_of

__all__ = ["dunn_score"]


@dataclass(frozen=True)
class Extremes(Stats):
    """The least distance between clusters, the largest within one."""

    least: float
    most: float

    def __add__(self, other):
        return Extremes(min(self.least, other.least), max(self.most, other.most))

    def __rmul__(self, scale):
        return self


def dunn_score(
    X: Any, labels: Any, *, metric: Any = "euclidean", engine: str | Engine = "threads"
) -> float:
    """Least distance between two clusters over the largest within one: high is good.

    Parameters
    ----------
    X : array, CSR matrix, Table, list of objects or square matrix of distances
        What was clustered.
    labels : array of n_rows labels of any kind
        The clusters.
    metric : {"euclidean", "sqeuclidean", "manhattan", "cosine", "precomputed"} or function
        How far two rows lie apart.
    engine : {"serial", "threads", "dask"} or Engine
        Where the distances are computed.

    Returns
    -------
    float; 0.0 with a warning where every cluster is a single point.

    Examples
    --------
    >>> dunn_score(np.array([[0.0], [1.0], [10.0], [12.0]]), [0, 0, 1, 1])
    4.5
    """
    name = "dunn_score"
    engine = get_engine(engine)
    rows = load_rows(X, metric, name=name)
    size = len(rows) if isinstance(rows, list) else rows.shape[0]
    codes = codes_of(labels, name=name, rows=size)
    check_two(len(codes.counts), name)
    if isinstance(metric, str) and metric == "euclidean" and not sp.issparse(rows):
        data = sorted_rows(rows, codes)
        found = engine.reduce(extremes_of, data, pieces(0, size))
    else:
        others = Others(rows, metric, codes.codes, len(codes.counts))
        found = engine.reduce(extremes_by_metric, others, pieces(0, size))
    if found.most == 0:
        warnings.warn(
            f"{name} is 0.0 where every cluster is a single point: there is no width to "
            "compare with.",
            UndefinedMetricWarning,
            stacklevel=2,
        )
        return 0.0
    return float(found.least / found.most)


def extremes_of(data: Sorted, piece: Piece) -> Extremes:
    """Of a stretch of rows and all from there on."""
    least, most = np.inf, 0.0
    for first, last in stretches(data, piece, piece.start):
        check_stop()
        low, high = extremes(data, piece.start, piece.stop, first, last)
        least, most = min(least, low), max(most, high)
    return Extremes(math.sqrt(least), math.sqrt(most))


def extremes_by_metric(others: Others, piece: Piece) -> Extremes:
    least, most = np.inf, 0.0
    mine = others.codes[piece.start : piece.stop, None]
    for first, found in tiles(others, piece):
        same = mine == others.codes[first : first + found.shape[1]]
        least = min(least, float(found.min(where=~same, initial=np.inf)))
        most = max(most, float(found.max(where=same, initial=0.0)))
    return Extremes(least, most)


# --- Kernels ---


@kernel
def extremes(data, start, stop, begin, end):
    """Least square between clusters and largest within, from start:stop to begin:end."""
    rows, squares, starts, codes = data.rows, data.squares, data.starts, data.codes
    k, size = starts.shape[0] - 1, stop - start
    mine = rows[start:stop] * -2.0
    room = np.empty(size * COLUMNS)
    # One for every column of a tile: a vector of them is compared at once.
    lows, highs = np.full(COLUMNS, np.inf), np.zeros(COLUMNS)
    least, most = np.inf, 0.0
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
                length, same = squares[start + b], codes[start + b] == c
                bar = SMALL * (length + longest)
                if same:
                    small = keep_high(tile, theirs, length, bar, highs)
                else:
                    small = keep_low(tile, theirs, length, bar, lows)
                if small > 0:
                    near, far = mend(tile, rows, start + b, low, theirs, length, bar)
                    least = least if same else min(least, near)
                    most = max(most, far) if same else most
            c += 1
    return min(least, lows.min()), max(most, highs.max())


@kernel
def keep_low(products, theirs, length, bar, lows):
    small = 0
    for j in range(products.shape[0]):
        square = products[j] + theirs[j] + length
        small += 1 if square < bar else 0
        square = square if square >= bar else np.inf  # left to mend
        lows[j] = square if square < lows[j] else lows[j]
    return small


@kernel
def keep_high(products, theirs, length, bar, highs):
    small = 0
    for j in range(products.shape[0]):
        square = products[j] + theirs[j] + length
        small += 1 if square < bar else 0
        square = square if square >= bar else 0.0
        highs[j] = square if square > highs[j] else highs[j]
    return small


@kernel
def mend(products, rows, i, low, theirs, length, bar):
    """Least and largest of the squares below the bar, computed one by one."""
    near, far = np.inf, 0.0
    for j in range(products.shape[0]):
        if products[j] + theirs[j] + length < bar:
            square = squared_distance(rows[i], rows[low + j])
            near, far = min(near, square), max(far, square)
    return near, far
