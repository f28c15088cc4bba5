"""``linkage``: the tree of clusters, from single rows up to all of them.

Every row starts as a cluster; the two closest clusters merge, again and again, until one is
left. The linkage defines how far apart two clusters are:

    single     the smallest distance between a row of one and a row of the other
    complete   the largest
    average    the mean
    weighted   the mean of the distances of the two clusters it was merged from
    centroid   between the means of their rows
    median     between centers, each halfway between the two it was merged from
    ward       by how much merging them raises the sum of squares within clusters

Each has its algorithm: a minimum spanning tree (single, here), nearest-neighbor chains
(``nn_chain``), or centers (``center_linkage``: centroid, median, and ward of points). All take
O(n^2) time.

Ties: clusters are named by their lowest row; of equally close pairs the one with the lowest
names merges first. For single linkage the pair is the two rows that link the clusters.

Heights never fall along the tree, except for centroid and median linkage, which can merge two
clusters into one that is closer to a third than they were to each other.

Prim (1957), Shortest connection networks and some generalizations. Bell Syst. Tech. J. 36.
Gower and Ross (1969), Minimum spanning trees and single linkage cluster analysis. Appl.
Stat. 18.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tacit.cluster.hierarchy.center_linkage import merge_closest_centers, ward_chain
from tacit.cluster.hierarchy.dendrogram import (
    Merges,
    label_merges,
    linkage_of_edges,
    sorted_linkage,
)
from tacit.cluster.hierarchy.distance_rows import (
    LANES,
    Source,
    compact,
    make_source,
    min_of_lanes,
    padded,
    read_row,
)
from tacit.cluster.hierarchy.inputs import (
    SMALLER,
    LinkageInput,
    check_input,
    distances_from,
    square_matrix,
)
from tacit.cluster.hierarchy.nn_chain import nn_chain, pool_size
from tacit.core.engines import Engine, get_engine
from tacit.core.kernel import kernel
from tacit.core.memory import check_memory
from tacit.core.progress import Callback, Step, notify

__all__ = ["build_linkage", "linkage", "notify_merges"]

CALL_WORK = 2**28  # multiplications in one kernel call: well under 200 ms
COMPACT_BELOW = 0.95  # of the columns outside; noticed by the benchmark of trees
COLUMNS, LEFT, NEWEST = range(3)  # positions of the counters

Report = Callable[[int], None]


def linkage(
    X: Any,
    method: str = "single",
    metric: str | Callable[[Any, Any], float] = "euclidean",
    optimal_ordering: bool = False,
    *,
    engine: str | Engine = "threads",
    callbacks: Sequence[Callback] = (),
) -> np.ndarray:
    """Build the tree of clusters of rows, or of anything that has distances.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, columns), distances, or a list of objects
        Rows; or, if 1-D, condensed distances in SciPy's order; or with ``metric="precomputed"``
        a square matrix of them; or with a function as metric any list, of strings for example.
    method : {"single", "complete", "average", "weighted", "centroid", "median", "ward"}
        How far apart two clusters are; see the module. The last three are meant for Euclidean
        distance.
    metric : str or function of two objects
        "euclidean", "sqeuclidean", "cosine", "cityblock" and others of SciPy's, "precomputed",
        or a function that returns the distance between two rows or objects.
    optimal_ordering : bool
        Whether to swap the sides of merges so that neighboring leaves are as close as possible,
        as ``optimal_order`` does.
    engine, callbacks : as for ``KMeans``

    Returns
    -------
    Z : array of shape (n-1, 4)
        SciPy's linkage matrix. Row i merges clusters Z[i, 0] < Z[i, 1] at height Z[i, 2] into
        cluster n + i, of Z[i, 3] rows; numbers below n are rows. For ``cut``, ``cophenetic``
        and ``tacit.plot.dendrogram``, and for everything in ``scipy.cluster.hierarchy``.

    Examples
    --------
    >>> linkage(np.array([[0.0], [1.0], [5.0], [7.0]]), "single")
    array([[0., 1., 1., 2.],
           [2., 3., 2., 2.],
           [4., 5., 4., 4.]])
    >>> differ = lambda a, b: sum(map(str.__ne__, a, b))
    >>> linkage(["gold", "good", "cold"], "average", metric=differ)
    array([[0. , 1. , 1. , 2. ],
           [2. , 3. , 1.5, 3. ]])
    """
    data = check_input(X, method, metric, get_engine(engine))
    Z = build_linkage(data, method, callbacks=callbacks)
    if optimal_ordering:
        from tacit.cluster.hierarchy.dendrogram import optimal_order

        Z = optimal_order(Z, X, metric)
    return Z


def build_linkage(
    data: LinkageInput,
    method: str,
    *,
    sizes: np.ndarray | None = None,
    callbacks: Sequence[Callback] = (),
    name: str = "linkage",
) -> np.ndarray:
    """The tree of checked input. ``sizes`` is how many rows each leaf stands for."""
    n = data.n
    if n == 1:
        return np.empty((0, 4))
    weights = np.ones(n) if sizes is None else np.asarray(sizes, np.float64)
    report = notify_merges(name, n, callbacks)
    squared, form = data.kind == "points", data.form
    if method == "single":
        source = make_source(data.kind, data.values, n)
        Z = linkage_of_edges(spanning_tree(source, squared=squared, report=report))
    elif method in ("centroid", "median"):
        squared, halfway = False, method == "median"
        source = source_of_centers(data, method)
        Z = label_merges(*merge_closest_centers(source, weights, report, halfway=halfway))
    elif method == "ward" and data.kind == "points":
        squared = False
        source = source_of_centers(data, method)
        Z = sorted_linkage(ward_chain(source, weights, report))
    else:
        check_memory(8 * pool_size(n), f"{method} linkage of {n:,} rows", SMALLER)
        # A mean needs the distances themselves; the largest distance has the largest square,
        # and squares cost no root.
        squared = method == "ward" or (squared and (method == "complete" or form != "root"))
        source = make_source(data.kind, data.values, n)
        Z = sorted_linkage(nn_chain(source, method, weights, squared=squared, report=report))
    if squared:
        distances_from(Z[:, 2], form)
    Z[:, 2] /= data.scale
    return Z


def source_of_centers(data: LinkageInput, method: str) -> Source:
    """Points, or a square matrix of squared distances; merges may write into either."""
    n = data.n
    if data.kind == "points":
        return make_source("points", data.values.copy(), n)
    memory = (8 if data.kind == "square" else 16) * n * n
    check_memory(memory, f"{method} linkage of {n:,} rows from distances", SMALLER)
    return make_source("square", np.square(square_matrix(data)), n)


def notify_merges(name: str, n: int, callbacks: Sequence[Callback]) -> Report:
    """The function that the algorithms call between two kernels, with the number of merges."""

    def report(done: int) -> None:
        if notify(callbacks, Step(name, done, n - 1, [], None, done=done == n - 1)):
            raise RuntimeError(
                f"{name} was stopped by a callback after {done:,} of {n - 1:,} merges. An "
                "incomplete tree is no result."
            )

    return report


# --- Single linkage by a minimum spanning tree (Prim) ---
#
# Grow a tree from row 0, always by the outside row nearest to it; the edges, sorted, are the
# merges. Every distance is read once and none is stored: O(n^2) time (times the columns, for
# points) and O(n) memory. Ties: edges are compared by length, then by their lower row, then by
# the other. In this order no two are equal, so there is one minimum spanning tree, whatever row
# it grows from.


class Outside(NamedTuple):
    """The rows not yet in the tree, in order."""

    names: np.ndarray  # int64, the row
    near: np.ndarray  # float64, length of the best edge to the tree; infinite once inside
    source: np.ndarray  # float64, the row in the tree at its other end: exact up to 2^53
    alive: np.ndarray  # bool


def spanning_tree(
    source: Source, *, squared: bool = False, report: Callable[[int], None] = lambda done: None
) -> Merges:
    """The edges of the minimum spanning tree, in the order they are added.

    ``squared`` asks the source for squares; the lengths then are squares too.
    """
    n = source.n
    width = padded(n)
    outside = Outside(
        np.arange(width), np.full(width, np.inf), np.zeros(width), np.arange(width) < n
    )
    outside.alive[0] = False
    edges = Merges.empty(n)
    values, lows = np.empty(width), np.empty(LANES)
    count = np.array([n, n - 1, 0])
    while count[LEFT] > 0:
        grow(source, outside, edges, values, lows, count, squared)
        keep = compact(source, outside.alive, outside[:3], count[COLUMNS])
        outside.near[len(keep) :] = np.inf
        count[COLUMNS] = len(keep)
        report(n - 1 - int(count[LEFT]))
    return edges


# --- Kernels ---


@kernel
def grow(source, outside, edges, values, lows, count, squared):
    """Add rows until it is time to compact, or to return to Python."""
    names, near, alive = outside.names, outside.near, outside.alive
    m, left, newest = count[COLUMNS], count[LEFT], count[NEWEST]
    width = (m + LANES - 1) // LANES * LANES
    enough = int(COMPACT_BELOW * m) if m > 2 * LANES else 0
    budget = CALL_WORK
    total = edges.heights.shape[0]
    while left > enough and budget > 0:
        read_row(source, names, m, newest, squared, 0, values[:width])
        budget -= m * (4 + source.points.shape[1])
        best = relax(values[:width], near[:width], outside.source, alive, newest, lows)
        a, b, at = total + 1, total + 1, 0
        for i in range(LANES):  # of the nearest rows the one with the lowest edge
            if lows[i] == best:
                for j in range(i, width, LANES):
                    if near[j] == best and alive[j]:
                        inner = int(outside.source[j])
                        low, high = min(inner, names[j]), max(inner, names[j])
                        if low < a or (low == a and high < b):
                            a, b, at = low, high, j
        s = total - left
        edges.low[s], edges.high[s], edges.heights[s] = a, b, best
        newest = names[at]
        near[at] = np.inf
        alive[at] = False
        left -= 1
    count[LEFT], count[NEWEST] = left, newest


@kernel
def relax(values, near, source, alive, newest, lows):
    """Compare the edges of the newest row with the best so far. The shortest edge of all."""
    row = float(newest)
    for i in range(LANES):
        lows[i] = np.inf
    for q in range(0, values.shape[0], LANES):
        candidate, best = values[q : q + LANES], near[q : q + LANES]
        other, out = source[q : q + LANES], alive[q : q + LANES]
        for i in range(LANES):
            v = candidate[i] if out[i] else np.inf
            old = best[i]
            # A tie goes to the lower row, which makes the lower edge.
            other[i] = row if v < old or (v == old and row < other[i]) else other[i]
            v = v if v < old else old
            best[i] = v
            low = lows[i]
            lows[i] = v if v < low else low
    return min_of_lanes(lows)
