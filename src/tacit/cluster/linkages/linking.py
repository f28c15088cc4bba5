"""``linkage``: which rows belong together, from the closest pair up to all of them.

Every row begins as a cluster; the two closest clusters merge, again and again, until one is
left. How far apart two clusters are is the linkage:

    single     the smallest distance between a row of one and a row of the other
    complete   the largest
    average    the mean
    weighted   the mean of the distances of the two clusters it was merged from
    centroid   between the means of their rows
    median     between centers, each halfway between the two it was merged from
    ward       by how much merging them raises the sum of squares within clusters

One algorithm finds each: a minimum spanning tree (``spanning_tree``: single), chains of
nearest neighbours (``nn_chain``, and ``ward_chain`` for points), remembered nearest neighbours
(``nearest_pairs``: centroid, median). All take O(n^2) time.

Ties: clusters go by their lowest row; of equally close pairs the one with the lowest names
merges first. For single linkage the pair is the two rows that link the clusters.

Heights never fall along the tree, except for centroid and median linkage, which can merge two
clusters into one that is closer to a third than they were to each other.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tacit.cluster.linkages.distance_source import (
    Source,
    from_condensed,
    from_points,
    from_square,
)
from tacit.cluster.linkages.inputs import Given, give, way_out
from tacit.cluster.linkages.merges import in_order, sorted_by_height, spanning_edges
from tacit.cluster.linkages.nearest_pairs import closest_centers, closest_in_matrix
from tacit.cluster.linkages.nn_chain import nn_chain, pool_size
from tacit.cluster.linkages.spanning_tree import spanning_tree
from tacit.cluster.linkages.ward_chain import ward_chain
from tacit.core.engines import Engine, get_engine
from tacit.core.memory import check_memory
from tacit.core.progress import Callback, Step, notify

__all__ = ["linkage", "linkage_of"]


def linkage(
    X: Any,
    method: str = "average",
    metric: str | Callable[[Any, Any], float] = "euclidean",
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
        or a function that gives the distance between two rows or objects.
    engine : {"serial", "threads", "dask"} or Engine
        Where distances are computed that are computed beforehand. The tree does not depend
        on it.
    callbacks : sequence
        Told about every few merges; see ``tacit.core.progress``.

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
    >>> linkage(["gold", "good", "cold"], metric=lambda a, b: sum(map(str.__ne__, a, b)))
    array([[0. , 1. , 1. , 2. ],
           [2. , 3. , 1.5, 3. ]])
    """
    given = give(X, method, metric, get_engine(engine))
    return linkage_of(given, method, callbacks=callbacks)


def linkage_of(
    given: Given,
    method: str,
    *,
    sizes: np.ndarray | None = None,
    callbacks: Sequence[Callback] = (),
    name: str = "linkage",
) -> np.ndarray:
    """The tree of what was ``give``n. ``sizes`` says how many rows each of them stands for."""
    n = given.n
    if n == 1:
        return np.empty((0, 4))
    weights = np.ones(n) if sizes is None else np.asarray(sizes, np.float64)
    pause = reporter(name, n, callbacks)
    if method == "single":
        Z = by_spanning_tree(given, pause)
    elif method in ("centroid", "median"):
        Z = by_nearest_pairs(given, method, weights, pause)
    elif method == "ward" and given.kind == "points":
        Z = sorted_by_height(ward_chain(given.values, weights, pause=pause))
    else:
        Z = by_chain(given, method, weights, pause)
    Z[:, 2] /= given.scale
    return Z


# --- One function for every algorithm ---


def by_spanning_tree(given: Given, pause: Callable[[int], None]) -> np.ndarray:
    squared = given.kind == "points"
    Z = spanning_edges(*spanning_tree(source_of(given), squared=squared, pause=pause))
    return unsquared(Z, given.form) if squared else Z


def by_nearest_pairs(
    given: Given, method: str, weights: np.ndarray, pause: Callable[[int], None]
) -> np.ndarray:
    halfway = method == "median"
    if given.kind == "points":
        return in_order(closest_centers(given.values, weights, halfway=halfway, pause=pause))
    squares = squared_matrix(given, method)
    return in_order(closest_in_matrix(squares, weights, halfway=halfway, pause=pause))


def by_chain(
    given: Given, method: str, weights: np.ndarray, pause: Callable[[int], None]
) -> np.ndarray:
    n = given.n
    check_memory(8 * pool_size(n), f"{method} linkage of {n:,} rows", way_out(method))
    # A mean needs distances themselves; what is largest has the largest square, too, and
    # squares cost no root.
    squared = method == "ward"
    form = "root"
    if given.kind == "points" and (method == "complete" or given.form != "root"):
        squared, form = True, given.form
    found = nn_chain(source_of(given), method, weights, squared=squared, pause=pause)
    Z = sorted_by_height(found)
    return unsquared(Z, form) if squared else Z


def source_of(given: Given) -> Source:
    if given.kind == "points":
        return from_points(given.values)
    if given.kind == "square":
        return from_square(given.values)
    return from_condensed(given.values, given.n)


def squared_matrix(given: Given, method: str) -> np.ndarray:
    """A square matrix of squared distances that may be overwritten."""
    n = given.n
    check_memory(8 * n * n, f"{method} linkage of {n:,} rows from distances", way_out(method))
    if given.kind == "square":
        return given.values * given.values
    from scipy.spatial.distance import squareform

    matrix = squareform(given.values, checks=False)
    matrix *= matrix
    return matrix


def unsquared(Z: np.ndarray, form: str) -> np.ndarray:
    """The tree with distances for heights that are squares of them."""
    if form == "root":
        Z[:, 2] = np.sqrt(Z[:, 2])
    elif form == "half":
        Z[:, 2] *= 0.5
    return Z


def reporter(name: str, n: int, callbacks: Sequence[Callback]) -> Callable[[int], None]:
    """What the algorithms call between two kernels."""

    def pause(done: int) -> None:
        if notify(callbacks, Step(name, done, n - 1, [], None, done=done == n - 1)):
            raise RuntimeError(
                f"{name} was stopped by a callback after {done:,} of {n - 1:,} merges. Part of "
                "a tree is no tree, so there is no result."
            )

    return pause
