"""Nested k-means: divisions into 2, 3, ... groups, each inside the one before it.

Flat k-means gives another division for every k, and they do not nest. Joining the groups of a
fine one, or dividing those of a coarse one, nests, but every join and division is as good as
the ones before it allow. Here the whole sequence is one model. It maximizes

    sum over k of  weight[k] * sum over rows of  row . center of its group among k

for rows and centers of length one. A leaf, a group of the finest division, has a group around
it at every k. A pass assigns each row to the leaf whose groups are together nearest: that with
the largest product of the row and ``sum over k of weight[k] * center``. Then the centers move.
Neither step lowers the objective.

The tree is found from several starts: spherical k-means for a number of groups; above it the
two groups are joined that lose least, below it the group is divided in two that gains most.
After the passes the leaves are joined anew; if that raises the objective, it is kept. The best
of the starts is the result.

Of documents, rows along a few directions do not say all: at the end each may go to the leaf
whose words are most like its own (``label_by_words``).

Ward (1963), Hierarchical grouping to optimize an objective function. JASA 58. Dhillon and Modha
(2001), Concept decompositions for large sparse text data using clustering. Machine Learning 42.
Steinbach, Karypis and Kumar (2000), A comparison of document clustering techniques. KDD
workshop on text mining.
"""

from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from tacit.cluster.small_kmeans import small_kmeans
from tacit.core.engines import Engine, Serial, check_stop, one_blas_thread
from tacit.core.randoms import key
from tacit.kernels.nearest_centers import nearest_centers, sum_by_label
from tacit.kernels.sparse_rows import best_columns

__all__ = [
    "Nested", "join_leaves", "label_by_words", "level_weights", "nested_kmeans",
    "run_nested_passes",
]  # fmt: skip

STRONG = 8  # weight of the number of groups that matters most, over those of all numbers
PASSES = 30
JOINED = 3  # times that the leaves are joined anew, at most
SETTLED = 1000  # passes end when at most one row in this many changes its leaf
HALVING_STARTS = 5
SMALLEST = 6  # rows of a group that is divided
SPAN = 2048  # documents of a task


class Nested(NamedTuple):
    """Rows in leaves, and the groups of the leaves for every number of groups."""

    labels: np.ndarray  # (n,) int32: the leaf of every row
    cuts: np.ndarray  # (leaves - 1, leaves) int32: row k - 2 has the group of each among k
    centers: np.ndarray  # (leaves, d) float32: a new row belongs to that of the largest product
    objective: float

    def at(self, k: int) -> np.ndarray:
        """The label of every row among k groups, from 0."""
        return self.cuts[k - 2][self.labels]


def nested_kmeans(
    rows: np.ndarray,
    most: int,
    seed: np.uint64,
    *,
    emphasis: Iterable[int] = (),
    first: Iterable[int] | None = None,
    starts: int = 10,
    engine: Engine | None = None,
) -> Nested | None:
    """Divide rows of length one into 2 to ``most`` groups; None where all are equal.

    A division into k groups weighs 1 / k, a number in ``emphasis`` much more
    (``level_weights``). The trees start from the numbers in ``first``, by default 1, 12 and
    those in ``emphasis``, each by the best of several ``starts`` of k-means; and from two
    neighbors in ``emphasis`` together.

    >>> angles = np.array([0.0, 0.1, 0.5, 0.6, 3.0, 3.1])
    >>> rows = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype("f4")
    >>> nested = nested_kmeans(np.repeat(rows, 9, axis=0), 3, np.uint64(0))
    >>> np.bincount(nested.at(2)).tolist(), np.bincount(nested.at(3)).tolist()
    ([36, 18], [18, 18, 18])
    """
    emphasis = sorted({k for k in emphasis if 1 < k <= most})
    weights = level_weights(most, emphasis)
    alone = {1, 12, *emphasis} if first is None else set(first)
    alone = {k for k in alone if k <= most}
    numbers = sorted(alone.union(emphasis))
    each = (engine or Serial()).each

    def divide(k: int) -> Division:
        coarse = k not in alone and k == emphasis[0]  # no tree starts from its leaves
        return divide_and_halve(rows, k, k if coarse else most, key(seed, k), starts)

    def grow(pair: tuple[int, int]) -> Nested | None:
        coarse, fine = known.get(pair[0]), known[pair[1]]
        if len(fine.parents) < 2:
            return None
        cuts = start_tree(rows, fine, None if coarse is None else coarse.labels)
        found = run_nested_passes(rows, fine.leaves, cuts, weights)
        for _ in range(JOINED):
            joined = join_leaves(sum_by_label(rows, found.labels, len(found.centers)))
            again = run_nested_passes(rows, found.labels, joined, weights)
            if again.objective <= found.objective * (1 + 1e-6):
                break
            found = again
        return found

    with one_blas_thread():  # more may round differently
        known = dict(zip(numbers, each(divide, numbers), strict=True))
        grown = each(grow, [*((0, k) for k in sorted(alone)), *pairwise(emphasis)])
        trees = [tree for tree in grown if tree is not None]
    return max(trees, key=lambda tree: tree.objective, default=None)


def level_weights(most: int, emphasis: Iterable[int]) -> np.ndarray:
    """The weight of each number of groups, from 0 to ``most``: 1 / k, and much more in
    ``emphasis``.

    The largest of those weighs ``STRONG`` times as much as all of 1 / k together. A smaller one
    weighs less the nearer it is: the best divisions into 3 and into 6 do not nest in general,
    and between the two, the tree would have neither. The benchmark is ``groups``.

    >>> level_weights(6, (3, 6)).round(1).tolist()
    [0.0, 0.0, 0.5, 3.2, 0.2, 0.2, 11.8]
    """
    weights = 1 / np.maximum(np.arange(most + 1), 1.0)
    weights[:2] = 0
    strong = STRONG * weights.sum()
    *smaller, largest = sorted({1, *emphasis})
    for k in smaller[1:]:
        weights[k] += strong * (1 - k / largest) ** 2
    if largest > 1:
        weights[largest] += strong
    return weights


def run_nested_passes(
    rows: np.ndarray, labels: np.ndarray, cuts: np.ndarray, weights: np.ndarray,
    *, passes: int = PASSES, engine: Engine | None = None,
) -> Nested:  # fmt: skip
    """Assign rows to leaves and move the centers until they settle. ``weights`` by k."""
    leaves, groups = cuts.shape[1], level_groups(cuts, weights)
    for _ in range(passes):
        centers, _ = leaf_centers(sum_by_label(rows, labels, leaves), groups)
        before, labels = labels, nearest_centers(rows, centers, engine, unit=True)
        if np.count_nonzero(before != labels) * SETTLED <= len(rows):
            break
    used = np.flatnonzero(np.bincount(labels, minlength=leaves))
    if len(used) < leaves:  # a leaf lost its rows
        cuts = number_cuts(cuts[:, used])
        groups = level_groups(cuts, weights)
        labels = np.searchsorted(used, labels).astype(np.int32)
    sums = sum_by_label(rows, labels, len(used))
    return Nested(labels, cuts, *leaf_centers(sums, groups))


class LevelGroups(NamedTuple):
    """The groups of all numbers of groups, each once."""

    inside: np.ndarray  # (groups, leaves) 1 where the leaf is in the group
    weights: np.ndarray  # (groups,) of all numbers that have the group


def level_groups(cuts: np.ndarray, weights: np.ndarray) -> LevelGroups:
    """Groups nest, so the first leaf and the number of leaves tell them apart.

    >>> level_groups(np.array([[0, 1, 1], [0, 1, 2]]), np.array([0.0, 0, 3, 1])).weights
    array([4., 1., 3., 1.])
    """
    levels, leaves = cuts.shape
    sizes = np.arange(2, levels + 2)
    place = cuts + (np.cumsum(sizes) - sizes)[:, None]
    inside = np.zeros((sizes.sum(), leaves))
    inside[place, np.arange(leaves)] = 1
    names = inside.argmax(axis=1) * (leaves + 1) + inside.sum(axis=1)
    _, first, group = np.unique(names, return_index=True, return_inverse=True)
    summed = np.bincount(group, np.repeat(weights[sizes], sizes))
    return LevelGroups(inside[first], summed)


def leaf_centers(sums: np.ndarray, groups: LevelGroups) -> tuple[np.ndarray, float]:
    """For each leaf the weighted sum of the centers around it, float32; and the objective."""
    together = groups.inside @ sums
    lengths = np.sqrt((together**2).sum(axis=1))
    together *= (groups.weights / np.maximum(lengths, 1e-300))[:, None]
    centers = groups.inside.T @ together
    return centers.astype(np.float32), float(groups.weights @ lengths)


def label_by_words(
    words: sp.csr_array, nested: Nested, weights: np.ndarray, numbers: Iterable[int],
    engine: Engine | None = None,
) -> np.ndarray:  # fmt: skip
    """The leaf of every document by its words: that whose groups, at some ``numbers`` of
    groups, give them the largest likelihood together.

    The groups are those of ``nested``. The log likelihood at k weighs ``weights[k]``. A group
    is multinomial naive Bayes' class, and the frequencies in all documents are its prior, with
    the weight of one count for every word.

    >>> words = sp.csr_array(np.array([[2.0, 0], [2, 0], [2, 0], [0, 2], [0, 2], [2, 0]]))
    >>> labels = np.array([0, 0, 0, 1, 1, 1], np.int32)
    >>> nested = Nested(labels, np.array([[0, 1]], np.int32), np.eye(2, dtype="f4"), 0.0)
    >>> label_by_words(words, nested, level_weights(2, ()), [2]).tolist()
    [0, 0, 0, 1, 1, 0]
    """
    n, width = words.shape
    leaves = len(nested.centers)
    members = sp.csr_array((np.ones(n), nested.labels, np.arange(n + 1)), shape=(n, leaves))
    counts = (members.T @ words).toarray()
    total = counts.sum(axis=0)
    expected = np.maximum(total, 1e-300) / total.sum()
    scores = np.zeros((leaves, width))
    for k in numbers:
        check_stop()
        cut = nested.cuts[k - 2]
        inside = np.eye(k)[cut].T @ counts
        ratio = inside / expected + width
        ratio /= inside.sum(axis=1, keepdims=True) + width
        scores += weights[k] * np.log(ratio)[cut]
    turned = np.ascontiguousarray(scores.T)

    def label(first: int) -> np.ndarray:
        check_stop()
        last = min(first + SPAN, n)
        return best_columns(words.indptr, words.indices, words.data, turned, first, last)

    each = (engine or Serial()).each(label, range(0, n, SPAN), work=words.nnz * leaves)
    return np.concatenate(list(each))


# --- Trees to start from ---


class Division(NamedTuple):
    """The groups of k-means, and the leaves they were divided into."""

    labels: np.ndarray  # (n,) int32
    leaves: np.ndarray  # (n,) int32
    parents: list[int]  # from which each leaf was split off, itself for a first one


def divide_and_halve(
    rows: np.ndarray, k: int, most: int, seed: np.uint64, starts: int
) -> Division:
    labels = np.zeros(len(rows), np.int32)
    if k > 1:
        own = int(key(seed, 1)) % 2**31
        found = small_kmeans(rows, k, own, starts=starts, unit=True).labels
        labels = np.unique(found, return_inverse=True)[1].astype(np.int32)
    return Division(labels, *halve_groups(rows, labels, most, key(seed, 2), starts))


def start_tree(
    rows: np.ndarray, fine: Division, coarse: np.ndarray | None = None
) -> np.ndarray:
    """The cuts of a tree that has the groups and the leaves of a division. Groups most of whose
    rows have the same label in a ``coarse`` one are joined before others."""
    k, nearest = int(fine.labels.max()) + 1, None
    if coarse is not None:
        around = int(coarse.max()) + 1
        shared = np.bincount(fine.labels * around + coarse, minlength=k * around)
        nearest = shared.reshape(k, around).argmax(axis=1)
    above = join_leaves(sum_by_label(rows, fine.labels, k), nearest)
    leaves = len(fine.parents)
    merged = np.arange(leaves)
    below = []
    for last in range(leaves - 1, k - 1, -1):
        below.append(merged.copy())
        merged[merged == last] = fine.parents[last]
    cuts = [cut[merged] for cut in above] + below[::-1]
    return number_cuts(np.array(cuts, np.int32).reshape(-1, leaves))


def halve_groups(
    rows: np.ndarray, labels: np.ndarray, most: int, seed: np.uint64, starts: int
) -> tuple[np.ndarray, list[int]]:
    """Divide groups in two, the one first that gains most, until there are ``most``: the
    labels, and for every group that from which it was split off (itself for a first one)."""
    labels = labels.copy()
    parents = list(range(int(labels.max()) + 1))
    halves: dict[int, tuple[float, np.ndarray]] = {}  # gain, and the rows to split off
    todo, starts = list(parents), min(starts, HALVING_STARTS)
    while len(parents) < most:
        for g in todo:
            check_stop()
            inside = np.flatnonzero(labels == g)
            if len(inside) < SMALLEST:
                continue
            own = np.ascontiguousarray(rows[inside])
            drawn = int(key(seed, g, len(inside))) % 2**31
            half = small_kmeans(own, 2, drawn, starts=starts, unit=True).labels
            if half.any() and not half.all():
                sums = sum_by_label(own, half, 2)
                gain = np.linalg.norm(sums, axis=1).sum() - np.linalg.norm(sums.sum(axis=0))
                halves[g] = float(gain), inside[half == 1]
        if not halves:
            break
        g = max(halves, key=lambda g: (halves[g][0], -g))
        labels[halves.pop(g)[1]] = len(parents)
        todo = [g, len(parents)]
        parents.append(g)
    return labels, parents


def join_leaves(
    sums: np.ndarray, around: np.ndarray | None = None, overlaps: np.ndarray | None = None
) -> np.ndarray:
    """Join the two groups that lose least, again and again: the cuts. Those with the same
    number in ``around`` are joined before others. ``overlaps`` are sums of products of
    responsibilities: the larger the cosine of two groups, the less their loss counts."""
    leaves = len(sums)
    around = np.zeros(leaves, int) if around is None else around
    apart = 1 + np.abs(sums).sum()  # more than any join loses
    products = sums @ sums.T
    overlaps = np.eye(leaves) if overlaps is None else overlaps.copy()
    labels, cuts = np.arange(leaves, dtype=np.int32), []
    alive = np.ones(leaves, bool)
    for _ in range(leaves - 1):
        cuts.append(labels.copy())
        squares = np.diag(products)
        lengths = np.sqrt(np.maximum(squares, 0))
        joined = np.sqrt(np.maximum(squares[:, None] + squares + 2 * products, 0))
        shared = np.sqrt(np.diag(overlaps))
        alike = overlaps / np.maximum(np.outer(shared, shared), 1e-300)
        loss = (lengths[:, None] + lengths - joined) * (1 - alike)
        loss += apart * (around[:, None] != around)
        loss[~alive] = loss[:, ~alive] = np.inf
        np.fill_diagonal(loss, np.inf)
        i, j = sorted(np.unravel_index(loss.argmin(), loss.shape))
        for each in (products, overlaps):
            each[i] += each[j]
            each[:, i] += each[:, j]
        alive[j] = False
        labels[labels == j] = i
    return number_cuts(np.array(cuts[::-1], np.int32).reshape(-1, leaves))


def number_cuts(cuts: np.ndarray) -> np.ndarray:
    """The cuts that differ, with groups numbered from 0."""
    numbered = [np.unique(cut, return_inverse=True)[1] for cut in cuts]
    by_size = {int(cut.max()) + 1: cut for cut in numbered}
    by_size.pop(1, None)
    made = np.array([by_size[k] for k in sorted(by_size)], np.int32)
    return made.reshape(-1, cuts.shape[1])
