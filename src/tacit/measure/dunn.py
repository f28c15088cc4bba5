"""The Dunn index: the distance of the nearest clusters over the diameter of the widest one.

    least distance between rows of two clusters / largest distance within a cluster

High is good. A single outlier changes it, so it detects clusters that touch or are not compact.
All pairs are compared once, a tile at a time.

Dunn (1974), Well-separated clusters and optimal fuzzy partitions. Journal of Cybernetics 4.
The notes' section on evaluating clusterings.
"""

import math
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from tacit.core.engines import Engine, get_engine
from tacit.core.kernel import kernel
from tacit.kernels.distances import squared_distance
from tacit.measure.distance_sums import (
    COLUMNS,
    SMALL,
    SortedRows,
    column_spans,
    distance_tiles,
    load_rows,
    row_ranges,
    sort_rows,
)
from tacit.measure.labels import check_two_clusters, codes_of, warn_undefined

__all__ = ["dunn_score"]


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
        The distance of two rows.
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
    rows = load_rows(X, metric, name=name)
    n = len(rows) if isinstance(rows, list) else rows.shape[0]
    codes = codes_of(labels, name=name, rows=n)
    check_two_clusters(codes, name)
    if isinstance(metric, str) and metric == "euclidean" and not sp.issparse(rows):
        task = partial(find_euclidean, sort_rows(rows, codes))
    else:
        task = partial(find_extremes, rows, metric, codes.codes)
    extremes = list(get_engine(engine).each(task, row_ranges(0, n), work=n * n))
    between, within = min(each[0] for each in extremes), max(each[1] for each in extremes)
    if not np.isfinite([between, within]).all():
        raise ValueError(f"{name}: the data holds values whose distances overflow. Rescale it.")
    if within == 0:
        return warn_undefined(name, "every cluster is a single point")
    return float(between / within)


def find_extremes(
    items: Any, metric: Any, codes: np.ndarray, rows: tuple[int, int]
) -> tuple[float, float]:
    """Least distance between clusters and largest within one, of a range of items and all from
    there on."""
    between, within = np.inf, 0.0
    mine = codes[rows[0] : rows[1], None]
    for first, tile in distance_tiles(items, metric, rows, begin=rows[0]):
        same = mine == codes[first : first + tile.shape[1]]
        between = min(between, float(tile.min(where=~same, initial=np.inf)))
        within = max(within, float(tile.max(where=same, initial=0.0)))
    return between, within


def find_euclidean(data: SortedRows, rows: tuple[int, int]) -> tuple[float, float]:
    """The same for Euclidean distances of dense rows."""
    between, within = np.inf, 0.0
    for first, last in column_spans(data, rows, rows[0]):
        low, high = extreme_squares(data, *rows, first, last)
        between, within = min(between, low), max(within, high)
    return math.sqrt(between), math.sqrt(within)


# --- Kernels ---


@kernel
def extreme_squares(data, start, stop, begin, end):
    """Least square between clusters and largest within, from start:stop to begin:end."""
    rows, squares, codes = data.rows, data.squares, data.codes
    size = stop - start
    mine = rows[start:stop] * -2.0
    buffer = np.empty(size * COLUMNS)
    # One for every column of a tile, so that a vector of them is compared at once.
    lows, highs = np.full(COLUMNS, np.inf), np.zeros(COLUMNS)
    least, most = np.inf, 0.0
    for first in range(begin, end, COLUMNS):
        last = min(first + COLUMNS, end)
        products = buffer[: size * (last - first)].reshape(size, last - first)
        np.dot(mine, rows[first:last].T, products)
        others, theirs = squares[first:last], codes[first:last]
        longest = others.max()
        for b in range(size):
            i = start + b
            length = squares[i]
            bound = SMALL * (length + longest)
            small = 0
            for j in range(last - first):
                square = products[b, j] + others[j] + length
                is_small, same = square < bound, theirs[j] == codes[i]
                small += is_small
                low = np.inf if is_small or same else square
                high = square if same and not is_small else 0.0
                lows[j] = low if low < lows[j] else lows[j]
                highs[j] = high if high > highs[j] else highs[j]
            if small > 0:  # where the product loses digits, one by one
                for j in range(last - first):
                    if products[b, j] + others[j] + length < bound:
                        square = squared_distance(rows[i], rows[first + j])
                        if theirs[j] == codes[i]:
                            most = max(most, square)
                        else:
                            least = min(least, square)
    return min(least, lows.min()), max(most, highs.max())
