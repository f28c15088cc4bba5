"""Linkage along a graph: only clusters that touch may merge.

Two clusters touch if an edge joins a row of one to a row of the other. How far apart they are
is the distance of the linkage, over all their rows and not just along the edges (Guo 2008 calls
this full-order). Of the clusters that touch the two closest merge, so heights may fall: a
merge can bring clusters into touch that were close before.

A graph in several components ends in one cluster for each; those then merge as if all touched.

Points and Ward, centroid or median linkage need no distance matrix, only centers. Otherwise
distances are combined in a square matrix by the formula of Lance and Williams (1967). Nearest
neighbors are stored as in ``center_linkage``, among the neighbors in the graph. Ties: the
lowest names (lowest rows) first.

Guo (2008), Regionalization with dynamically constrained agglomerative clustering and
partitioning. Int. J. Geogr. Inf. Sci. 22.
Murtagh (1985), A survey of algorithms for contiguity-constrained clustering. Comput. J. 28.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tacit.cluster.hierarchy.dendrogram import Merges, label_merges, root_of
from tacit.cluster.hierarchy.distance_rows import LANES, argmin, padded
from tacit.cluster.hierarchy.inputs import (
    CENTERED,
    METHODS,
    SMALLER,
    LinkageInput,
    square_matrix,
)
from tacit.cluster.hierarchy.linkage import build_linkage
from tacit.core.engines import Engine
from tacit.core.kernel import kernel
from tacit.core.memory import check_memory
from tacit.data.sparse_structure import check_structure
from tacit.kernels.distances import squared_distance

__all__ = ["check_graph", "constrained_linkage"]

SINGLE, COMPLETE, AVERAGE, WEIGHTED, CENTROID, MEDIAN, WARD = range(len(METHODS))
CALL_WORK = 2**27  # multiplications in one kernel call: well under 200 ms


class Graph(NamedTuple):
    """Which clusters touch: for each a linked list of edges, so that two lists join at once."""

    target: np.ndarray  # (edges,) int64, a row in the other cluster
    after: np.ndarray  # (edges,) int64, next edge of the same cluster; -1 at the end
    first: np.ndarray  # (n,) int64, of every cluster, by name
    last: np.ndarray  # (n,) int64
    parents: np.ndarray  # (n,) int64, from a row towards the name of its cluster
    marks: np.ndarray  # (n,) int64, the last search that met each cluster


class Clusters(NamedTuple):
    """The clusters by centers, or by a matrix of distances; the other is empty."""

    centers: np.ndarray  # (n, d) by name
    matrix: np.ndarray  # (n, n) by name; squares for methods with centers
    sizes: np.ndarray  # (n,) float64
    alive: np.ndarray  # (n,) bool


def check_graph(connectivity: Any, X: Any, n: int, name: str) -> sp.csr_array:
    """The graph as a symmetric CSR matrix without loops; only where it is not zero counts."""
    if callable(connectivity):
        connectivity = connectivity(X)
    if sp.issparse(connectivity):
        check_structure(connectivity, name, "connectivity")
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
    data: LinkageInput,
    method: str,
    graph: sp.csr_array,
    engine: Engine,
    *,
    report: Callable[[int], None] = lambda done: None,
) -> np.ndarray:
    """The linkage matrix, in the order of the merges."""
    n, code = data.n, METHODS.index(method)
    merges, edges = Merges.empty(n), edge_lists(graph)
    clusters = single_rows(data, method, engine)
    distance, partner = np.full(padded(n), np.inf), np.full(padded(n), -1)
    lows = np.empty(LANES)
    count = np.zeros(3, np.int64)  # rows searched once, merges, searches
    while count[0] < n:
        search_all(edges, clusters, distance, partner, count, code)
    while count[1] < n - 1 and distance.min() < np.inf:
        run(edges, clusters, distance, partner, lows, count, merges, code)
        report(int(count[1]))
    heights = merges.heights
    done = int(count[1])
    if method in CENTERED:
        heights[:done] = np.sqrt(np.maximum(heights[:done], 0.0))
    if done < n - 1:
        join_components(clusters, method, merges, done)
        report(n - 1)
    Z = label_merges(*merges)
    Z[:, 2] /= data.scale
    return Z


def edge_lists(graph: sp.csr_array) -> Graph:
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


def single_rows(data: LinkageInput, method: str, engine: Engine) -> Clusters:
    """Every row as a cluster."""
    n = data.n
    sizes, alive = np.ones(n), np.ones(n, bool)
    if data.kind == "points" and method in CENTERED:
        return Clusters(data.values.copy(), np.empty((0, 0)), sizes, alive)
    check_memory(12 * n * n, f"{method} linkage of {n:,} rows along a graph", SMALLER)
    matrix = square_matrix(data, engine)
    if matrix is data.values:  # the caller's, and merges write into it
        matrix = matrix.copy()
    if method in CENTERED:
        matrix *= matrix
    return Clusters(np.empty((n, 0)), matrix, sizes, alive)


def join_components(clusters: Clusters, method: str, merges: Merges, done: int) -> None:
    """Merge the remaining clusters, whether they touch or not."""
    names = np.flatnonzero(clusters.alive)
    sizes = clusters.sizes[names]
    if len(clusters.matrix):
        matrix = clusters.matrix[np.ix_(names, names)]
        if method == "ward":  # from the cost of a merge back to the distance of centers
            matrix *= (sizes[:, None] + sizes) / (2 * sizes[:, None] * sizes)
        np.fill_diagonal(matrix, 0.0)
        matrix = np.sqrt(np.maximum(matrix, 0.0)) if method in CENTERED else matrix
        data = LinkageInput("square", matrix, len(names))
    else:
        data = LinkageInput("points", clusters.centers[names], len(names))
    Z = build_linkage(data, method, sizes=sizes)
    lowest = list(names)
    for s, (a, b, height, _) in enumerate(Z):
        low, high = sorted((lowest[int(a)], lowest[int(b)]))
        merges.low[done + s], merges.high[done + s] = low, high
        merges.heights[done + s] = height
        lowest.append(low)


# --- Kernels ---


@kernel
def search_all(graph, clusters, distance, partner, count, method):
    n = clusters.sizes.shape[0]
    budget = CALL_WORK
    while count[0] < n and budget > 0:
        budget -= search(graph, clusters, distance, partner, count[0], -1, count, method)
        count[0] += 1


@kernel
def run(graph, clusters, distance, partner, lows, count, merges, method):
    """Merge the closest clusters that touch, until none do or it is time to return."""
    n = clusters.sizes.shape[0]
    budget = CALL_WORK
    while count[1] < n - 1 and budget > 0:
        budget -= n
        value, a = argmin(distance, lows)
        if value == np.inf:
            return
        if partner[a] < 0:
            budget -= search(graph, clusters, distance, partner, a, -1, count, method)
            continue
        b = partner[a]
        s = count[1]
        merges.low[s], merges.high[s], merges.heights[s] = a, b, value
        merge_clusters(clusters, a, b, value, method)
        join_lists(graph, a, b)
        distance[b] = np.inf
        count[1] += 1
        budget -= search(graph, clusters, distance, partner, a, b, count, method) + n


@kernel
def search(graph, clusters, distance, partner, x, merged, count, method):
    """Find the nearest neighbor of higher name. If ``merged`` has just been merged into x, also
    compare x with the neighbors of lower name. Returns the work."""
    count[2] += 1
    best, at, work = np.inf, -1, 0
    edge, before = graph.first[x], -1
    while edge >= 0:
        c = root_of(graph.parents, graph.target[edge])
        if c == x or graph.marks[c] == count[2]:  # merged, or met already
            edge = remove_edge(graph, x, before, edge)
            continue
        graph.marks[c] = count[2]
        if c > x or merged >= 0:
            value = between(clusters, x, c, method)
            work += 8 + clusters.centers.shape[1]
            if merged >= 0 and (partner[c] == x or partner[c] == merged):
                partner[c] = -1  # the stored distance is now a lower bound
            if c > x:
                if value < best or (value == best and c < at):
                    best, at = value, c
            elif value < distance[c]:
                distance[c] = value
                partner[c] = x
            elif value == distance[c] and partner[c] > x:
                partner[c] = x
        before, edge = edge, graph.after[edge]
    distance[x] = best
    partner[x] = at
    return work + 8


@kernel
def remove_edge(graph, x, before, edge):
    """Remove an edge from the list of x. Returns the one after it."""
    after = graph.after[edge]
    if before < 0:
        graph.first[x] = after
    else:
        graph.after[before] = after
    if after < 0:
        graph.last[x] = before
    return after


@kernel
def join_lists(graph, a, b):
    graph.parents[b] = a
    if graph.first[b] >= 0:
        if graph.first[a] < 0:
            graph.first[a] = graph.first[b]
        else:
            graph.after[graph.last[a]] = graph.first[b]
        graph.last[a] = graph.last[b]


@kernel
def between(clusters, x, y, method):
    """How far apart two clusters are; squared, for methods with centers."""
    if clusters.matrix.shape[0]:
        return clusters.matrix[x, y]
    square = squared_distance(clusters.centers[x], clusters.centers[y])
    if method == WARD:
        nx, ny = clusters.sizes[x], clusters.sizes[y]
        square *= 2 * (nx * ny) / (nx + ny)
    return square


@kernel
def merge_clusters(clusters, a, b, value, method):
    sizes = clusters.sizes
    if clusters.matrix.shape[0]:
        lance_williams(clusters, a, b, value, method)
    else:
        weight = 0.5 if method == MEDIAN else sizes[b] / (sizes[a] + sizes[b])
        into, other = clusters.centers[a], clusters.centers[b]
        for t in range(into.shape[0]):
            into[t] += weight * (other[t] - into[t])
    sizes[a] += sizes[b]
    clusters.alive[b] = False


@kernel
def lance_williams(clusters, a, b, value, method):
    sizes, matrix = clusters.sizes, clusters.matrix
    na, nb = sizes[a], sizes[b]
    row, other = matrix[a], matrix[b]
    for c in range(row.shape[0]):
        if not clusters.alive[c] or c in (a, b):
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
