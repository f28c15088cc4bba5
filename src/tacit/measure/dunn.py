"""The Dunn index: the distance of the nearest clusters over the diameter of the widest one.

    least distance between rows of two clusters / largest distance within a cluster

High is good. A single outlier changes it, so it detects clusters that touch or are not compact.
All pairs are compared once, a tile at a time.

Dunn (1974), Well-separated clusters and optimal fuzzy partitions. Journal of Cybernetics 4.
The notes' section on evaluating clusterings.
"""

from functools import partial
from typing import Any

import numpy as np

from tacit.core.engines import Engine, get_engine
from tacit.core.kernel import kernel
from tacit.measure.distance_sums import distance_tiles, load_rows, row_ranges
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
    for first, tile in distance_tiles(items, metric, rows, begin=rows[0]):
        others = codes[first : first + tile.shape[1]]
        low, high = extremes_of(tile, codes[rows[0] : rows[1]], others)
        between, within = min(between, low), max(within, high)
    return between, within


@kernel
def extremes_of(distances, codes, others):
    between, within = np.inf, 0.0
    for i in range(distances.shape[0]):
        row, own = distances[i], codes[i]
        for j in range(row.shape[0]):
            same = others[j] == own
            between = min(between, np.inf if same else row[j])
            within = max(within, row[j] if same else 0.0)
    return between, within
