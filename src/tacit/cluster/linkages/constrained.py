"""Linkage along a graph: only clusters that touch may merge.

Two clusters touch if an edge joins a row of one to a row of the other. How far apart they are
is the linkage's own distance, over all their rows and not just along the edges (Guo 2008 calls
this full-order). Of the clusters that touch the two closest merge, so heights may fall: a
merge can bring into touch what was close all along.

A graph in several pieces ends in one cluster for each; those then merge as if all touched.

Points and Ward, centroid or median linkage need no distance matrix, only centers. Otherwise
distances are combined in a square matrix by the formula of Lance and Williams (1967). Who is
nearest is remembered as in ``nearest_pairs``, among the neighbours in the graph. Ties: the
lowest names (lowest rows) first.

Guo (2008), Regionalization with dynamically constrained agglomerative clustering and
partitioning. Int. J. Geogr. Inf. Sci. 22.
Murtagh (1985), A survey of algorithms for contiguity-constrained clustering. Comput. J. 28.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tacit.cluster.linkages.inputs import CENTERED, METHODS, Given, square_of, way_out
from tacit.cluster.linkages.lanes import LANES, blocks_for, least
from tacit.cluster.linkages.merges import Merges, in_order, root_of
from tacit.core.engines import Engine
from tacit.core.kernel import kernel
from tacit.core.memory import check_memory
from tacit.kernels.distances import squared_distance

__all__ = ["check_graph", "constrained_linkage"]

SINGLE, COMPLETE, AVERAGE, WEIGHTED, CENTROID, MEDIAN, WARD = range(len(METHODS))
CALL_WORK = 2**27  # of multiplications in one kernel call: well under 200 ms


class Graph(NamedTuple):
    """Who touches whom: for every cluster a list of edges, linked so that two join at once."""

    target: np.ndarray  # (edges,) int64, a row in the other cluster
    after: np.ndarray  # (edges,) int64, next edge of the same cluster; -1 at the end
    first: np.ndarray  # (n,) int64, of every cluster, by name
    last: np.ndarray  # (n,) int64
    parents: np.ndarray  # (n,) int64, leads from a row to the name of its cluster
    marks: np.ndarray  # (n,) int64, which clusters a walk has seen


class Shape(NamedTuple):
    """How far apart clusters are: by centers, or by a matrix; the other is empty."""

    centers: np.ndarray  # (n, d) by name
    matrix: np.ndarray  # (n, n) by name; squares for methods with centers
    sizes: np.ndarray  # (n,) float64
    alive: np.ndarray  # (n,) bool


def check_graph(connectivity: Any, X: Any, n: int, name: str) -> sp.csr_array:
    """The graph as a symmetric CSR matrix without loops; only where it is not zero counts."""
    if callable(connectivity):
        connectivity = connectivity(X)
    try:
        graph = sp.csr_array(connectivity)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name}: connectivity must be a matrix: {error}.") from None
    if graph.shape != (n, n):
        raise ValueError(
            f"{name}: connectivity has shape {graph.shape}, but {n} rows need ({n}, {n})."
        )
    graph = sp.csr_array((graph != 0).astype(np.int8))
    graph = sp.csr_array((graph + graph.T) != 0)
    graph.setdiag(False)
    graph.eliminate_zeros()
    graph.sort_indices()
    return graph


def constrained_linkage(
    given: Given,
    method: str,
    graph: sp.csr_array,
    join: Callable[[Given, str, np.ndarray], np.ndarray],
    engine: Engine,
    *,
    pause: Callable[[int], None] = lambda done: None,
) -> np.ndarray:
    """The linkage matrix, in the order of the merges.

    ``join(given, method, sizes)`` merges what is left when nothing touches any more.
    """
    n, code = given.n, METHODS.index(method)
    merges, links, shape = Merges.empty(n), links_of(graph), shape_of(given, method, engine)
    width = blocks_for(n) * LANES
    distance, partner = np.full(width, np.inf), np.full(width, -1)
    zeros, lows = np.zeros(width), np.empty(LANES)
    now = np.zeros(3, np.int64)  # rows looked at, merges made, walks made
    while now[0] < n:
        first_looks(links, shape, distance, partner, now, code)
    while now[1] < n - 1 and distance.min() < np.inf:
        run(links, shape, distance, partner, zeros, lows, now, merges, code)
        pause(int(now[1]))
    heights = merges.heights
    done = int(now[1])
    if method in CENTERED:
        heights[:done] = np.sqrt(np.maximum(heights[:done], 0.0))
    if done < n - 1:
        join_pieces(shape, method, merges, done, join)
        pause(n - 1)
    Z = in_order(merges)
    Z[:, 2] /= given.scale
    return Z


def links_of(graph: sp.csr_array) -> Graph:
    n = graph.shape[0]
    starts, ends = graph.indptr[:-1].astype(np.int64), graph.indptr[1:].astype(np.int64)
    after = np.arange(1, graph.nnz + 1)
    after[ends[ends > starts] - 1] = -1
    empty = starts == ends
    return Graph(
        graph.indices.astype(np.int64),
        after,
        np.where(empty, -1, starts),
        np.where(empty, -1, ends - 1),
        np.arange(n),
        np.full(n, -1),
    )


def shape_of(given: Given, method: str, engine: Engine) -> Shape:
    n = given.n
    sizes, alive = np.ones(n), np.ones(n, bool)
    if given.kind == "points" and method in CENTERED:
        return Shape(given.values.copy(), np.empty((0, 0)), sizes, alive)
    check_memory(12 * n * n, f"{method} linkage of {n:,} rows along a graph", way_out(method))
    matrix = square_of(given, engine)
    if matrix is given.values:  # the caller's, and merges write into it
        matrix = matrix.copy()
    if method in CENTERED:
        matrix *= matrix
    return Shape(np.empty((n, 0)), matrix, sizes, alive)


def join_pieces(
    shape: Shape, method: str, merges: Merges, done: int, join: Callable[..., np.ndarray]
) -> None:
    """Merge the clusters that are left, whether they touch or not."""
    names = np.flatnonzero(shape.alive)
    sizes = shape.sizes[names]
    if len(shape.matrix):
        matrix = shape.matrix[np.ix_(names, names)]
        if method == "ward":  # from what a merge costs back to the distance of centers
            matrix *= (sizes[:, None] + sizes) / (2 * sizes[:, None] * sizes)
        np.fill_diagonal(matrix, 0.0)
        matrix = np.sqrt(np.maximum(matrix, 0.0)) if method in CENTERED else matrix
        left = Given("square", matrix, len(names))
    else:
        left = Given("points", shape.centers[names], len(names))
    Z = join(left, method, sizes)
    lowest = list(names)
    for s, (a, b, height, _) in enumerate(Z):
        low, high = sorted((lowest[int(a)], lowest[int(b)]))
        merges.low[done + s], merges.high[done + s] = low, high
        merges.heights[done + s] = height
        lowest.append(low)


# --- Kernels ---


@kernel
def first_looks(graph, shape, distance, partner, now, method):
    n = shape.sizes.shape[0]
    budget = CALL_WORK
    while now[0] < n and budget > 0:
        budget -= look(graph, shape, distance, partner, now[0], now, method)
        now[0] += 1


@kernel
def run(graph, shape, distance, partner, zeros, lows, now, merges, method):
    """Merge the closest that touch, until nothing does or it is time to come up for air."""
    n = shape.sizes.shape[0]
    budget = CALL_WORK
    while now[1] < n - 1 and budget > 0:
        budget -= n
        value, a = least(distance, zeros, lows)
        if value == np.inf:
            return
        if partner[a] < 0:
            budget -= look(graph, shape, distance, partner, a, now, method)
            continue
        b = partner[a]
        s = now[1]
        merges.low[s], merges.high[s], merges.heights[s] = a, b, value
        merge_shapes(shape, a, b, value, method)
        merge_lists(graph, a, b)
        distance[b] = np.inf
        now[1] += 1
        budget -= offer(graph, shape, distance, partner, a, b, now, method) + n


@kernel
def look(graph, shape, distance, partner, x, now, method):
    """Find the nearest neighbour of higher name. Returns the work."""
    now[2] += 1
    best, at, work = np.inf, -1, 0
    edge, before = graph.first[x], -1
    while edge >= 0:
        c = root_of(graph.parents, graph.target[edge])
        if c == x or graph.marks[c] == now[2]:  # inside by now, or seen: drop the edge
            edge = drop(graph, x, before, edge)
            continue
        graph.marks[c] = now[2]
        if c > x:
            value = between(shape, x, c, method)
            work += 8 + shape.centers.shape[1]
            if value < best or (value == best and c < at):
                best, at = value, c
        before, edge = edge, graph.after[edge]
    distance[x] = best
    partner[x] = at
    return work + 8


@kernel
def offer(graph, shape, distance, partner, a, b, now, method):
    """Tell the neighbours of a new cluster about it, and find its nearest. Returns the work."""
    now[2] += 1
    best, at, work = np.inf, -1, 0
    edge, before = graph.first[a], -1
    while edge >= 0:
        c = root_of(graph.parents, graph.target[edge])
        if c == a or graph.marks[c] == now[2]:
            edge = drop(graph, a, before, edge)
            continue
        graph.marks[c] = now[2]
        value = between(shape, a, c, method)
        work += 8 + shape.centers.shape[1]
        if partner[c] == a or partner[c] == b:
            partner[c] = -1  # what is remembered is now a bound from below
        if c > a:
            if value < best or (value == best and c < at):
                best, at = value, c
        elif value < distance[c]:
            distance[c] = value
            partner[c] = a
        elif value == distance[c] and partner[c] > a:
            partner[c] = a
        before, edge = edge, graph.after[edge]
    distance[a] = best
    partner[a] = at
    return work + 8


@kernel
def drop(graph, x, before, edge):
    """Take an edge off the list of x. The one after it."""
    after = graph.after[edge]
    if before < 0:
        graph.first[x] = after
    else:
        graph.after[before] = after
    if after < 0:
        graph.last[x] = before
    return after


@kernel
def merge_lists(graph, a, b):
    graph.parents[b] = a
    if graph.first[b] >= 0:
        if graph.first[a] < 0:
            graph.first[a] = graph.first[b]
        else:
            graph.after[graph.last[a]] = graph.first[b]
        graph.last[a] = graph.last[b]


@kernel
def between(shape, x, y, method):
    """How far apart two clusters are; squared, for methods with centers."""
    if shape.matrix.shape[0]:
        return shape.matrix[x, y]
    square = squared_distance(shape.centers[x], shape.centers[y])
    if method == WARD:
        square *= 2 * (shape.sizes[x] * shape.sizes[y]) / (shape.sizes[x] + shape.sizes[y])
    return square


@kernel
def merge_shapes(shape, a, b, value, method):
    sizes = shape.sizes
    if shape.matrix.shape[0]:
        lance_williams(shape, a, b, value, method)
    else:
        share = 0.5 if method == MEDIAN else sizes[b] / (sizes[a] + sizes[b])
        into, other = shape.centers[a], shape.centers[b]
        for t in range(into.shape[0]):
            into[t] += share * (other[t] - into[t])
    sizes[a] += sizes[b]
    shape.alive[b] = False


@kernel
def lance_williams(shape, a, b, value, method):
    sizes, matrix = shape.sizes, shape.matrix
    na, nb = sizes[a], sizes[b]
    row, other = matrix[a], matrix[b]
    for c in range(row.shape[0]):
        if not shape.alive[c] or c in (a, b):
            continue
        v, w, nc = row[c], other[c], sizes[c]
        if method == SINGLE:
            new = min(v, w)
        elif method == COMPLETE:
            new = max(v, w)
        elif method == AVERAGE:
            new = (na * v + nb * w) / (na + nb)
        elif method == WEIGHTED:
            new = 0.5 * (v + w)
        elif method == CENTROID:
            new = (na * v + nb * w) / (na + nb) - na * nb * value / ((na + nb) * (na + nb))
        elif method == MEDIAN:
            new = 0.5 * (v + w) - 0.25 * value
        else:
            new = ((na + nc) * v + (nb + nc) * w - nc * value) / (na + nb + nc)
        row[c] = new
        matrix[c, a] = new
