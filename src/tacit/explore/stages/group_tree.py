"""The tree of groups: levels of more and more groups, each inside those of the level before.

All levels up to ``MOST`` groups are cuts of one nested k-means of the documents (``cluster.
nested_kmeans``), after which each document goes to the leaf whose words are most like its own.
It gives most weight to the numbers of groups that repeat: the coarsest division whose halves
agree beyond chance (``cluster.splits``), and that which is best found again in other samples
(``choose_k``), if it is found again well and is not nearly the first. The larger of the two is
the level that is shown first; where the smaller is at most half of it, its groups are called
broad. Fewer groups than these are joins of groups that overlap; where k-means with two groups
is found again better, the joins stay inside its two (``cluster.coarse_levels``). If no division
repeats beyond chance, there are no groups. Few documents in few groups are compared by which of
them many clusterings put together (``cluster.ensemble``), so that no single one decides.

Below the level that is shown first, a group is divided only into as many groups as a division
of its documents, or of those of a group around it, repeats with about as well as with any.
Inside a group other words matter than in the whole collection, so that is decided in a space of
its own: its documents by the words that vary within it, and their first directions. Two kinds
of data without groups say what chance would give there: the documents with their words dealt
out again, which keeps the lengths of the documents and the frequencies of the words, and clouds
with the covariance of the rows, which keep their spectrum. A group whose division repeats well
is opened in the level that is shown first (``choose_cut``).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from tacit.cluster.coarse_levels import join_overlapping, joins_repeat
from tacit.cluster.ensemble import ensemble_rows
from tacit.cluster.nested_kmeans import (
    Nested,
    label_by_words,
    level_weights,
    nested_kmeans,
    run_nested_passes,
)
from tacit.cluster.null_reference import deal_words, draw, fit_reference
from tacit.cluster.splits import Split, split_rows
from tacit.core.engines import Engine, Serial, one_blas_thread
from tacit.core.randoms import key, permutation
from tacit.explore.stages.meaning import few_components, word_weights
from tacit.kernels.nearest_centers import nearest_centers

__all__ = [
    "FEW", "FINER", "MOST_NESTED", "GroupNode", "GroupTree", "are_near", "centers_of",
    "choose_cut", "flat_tree", "grow_tree", "labels_at", "leaves_of",
    "more_trials", "nest_rows",
]  # fmt: skip

KS = (2, 3, 4, 5, 6, 8, 10, 12)
FURTHER = (15, 18, 22, 27, 33, 40)  # tried while the score rises
SAMPLE = {"quick": 600, "normal": 1000, "thorough": 2000}  # documents; twice at the root
REFERENCES = {"quick": 2, "normal": 2, "thorough": 4}  # of each kind
REPEATS = {"quick": 4, "normal": 4, "thorough": 8}  # pairs of halves; twice at the root
MORE, ENOUGH = 4, 2000  # times more trials of a small collection, until they have as many rows
MOST_SPLITS = {"quick": 24, "normal": 60, "thorough": 200}  # groups that are tried
MOST = {"quick": 40, "normal": 60, "thorough": 120}  # groups of the finest level
MOST_NESTED = 200  # groups asked for, past which there is no other level: time grows cubically
PER_LEAF = 6  # documents for each of them, at least
NEAR = 1.4  # times another number of groups: less, hardly more than a step of KS, says the same
STEP = 1.15  # from the number of groups of one level to that of the next, about
FEW, ENSEMBLE = 500, 100  # documents up to which trees are of an ensemble, and its k-means
FEW_GROUPS = 12  # likewise; k-means alone tells many small groups apart better
NESTED_ROWS = 20_000  # past this, the levels are found on a sample and extended
DIRECTIONS, FEWEST_DIRECTIONS = 30, 8  # of a group's own space, at most and at least
PER_DIRECTION = 20  # documents; more directions would be of words that met by chance
FEWEST = 12  # documents of a group that may be divided
PER_GROUP = 6  # documents of a sample for each group it is divided into, at least
MOST_SHARE = 0.5  # of a group's documents that a word may be in
PASSES = 5  # over all documents, after those over the sample
FINER = 2  # times the broad groups that there must be below them
OPEN = 0.4  # of the information of a division that repeats beyond chance, to be shown


@dataclass
class GroupNode:
    """A group, or the whole collection at the root; where it was found."""

    parent: int  # -1 for the root
    depth: int
    documents: np.ndarray
    split: Split | None = None  # how it divides, if that was tried
    overlaps: np.ndarray | None = None  # with its like in every repeat
    children: list[int] = field(default_factory=list)


@dataclass
class GroupTree:
    """The groups, the root first and parents before children, and the levels they form."""

    nodes: list[GroupNode]
    numbers: tuple[int, ...] = ()  # of groups that repeat, ascending; or that was asked for
    emphasis: tuple[int, ...] = ()  # that weigh most in the nested k-means, ascending
    levels: list[list[int]] = field(default_factory=list)  # the groups of each, coarse to fine
    first: int = 0  # the level of the largest of the numbers
    loose: list[int] = field(default_factory=list)  # numbers whose groups fall apart
    untried: int = 0  # groups that were not divided for want of time


def grow_tree(
    words: sp.csr_array, rows: np.ndarray, seed: np.uint64, effort: str, engine: Engine,
    *, power: int = 2, flat: int = 1, asked: int | None = None, repeats: int = 1,
) -> GroupTree:  # fmt: skip
    """Find the levels.

    ``words`` holds documents by words, weighted within a document; ``rows`` the documents in
    the space of the collection, of length one; ``power`` that of the inverse document
    frequency; ``flat`` the number of groups that is best found again, 1 for none. If a number
    was ``asked`` for, there is such a level whatever it is worth; ``repeats`` is then the
    coarsest number that repeats, 1 for none.
    """
    n = len(rows)
    tree = GroupTree([GroupNode(-1, 0, np.arange(n))])
    nodes, few = tree.nodes, asked or 2
    if asked is None:
        with one_blas_thread():  # more may round differently
            own = key(seed, 20, 0)
            split = divide_group(words, nodes[0].documents, own, effort, power, engine)
        nodes[0].split = split
        if split is None or split.k == 1:
            return tree
        both = {split.k} if are_near(flat, split.k) else {flat, split.k} - {1}
        tree.numbers = tuple(sorted(both))
        repeats = tree.numbers[0]
    else:
        tree.numbers = (asked,)
    tree.emphasis = tree.numbers
    if few < repeats:
        if not joins_repeat(rows, few, repeats, key(seed, 25), engine=engine):
            tree.emphasis = tuple(sorted({few, *tree.numbers}))
        elif asked:
            tree.emphasis = (repeats,)
    most = max(*tree.emphasis, min(MOST[effort], n // PER_LEAF))
    nested = nest_documents(words, rows, most, tree, seed, engine)
    if nested is None:
        return tree
    finest = len(nested.cuts) + 1
    tree.numbers = tuple(sorted({min(k, finest) for k in tree.numbers}))
    cut, tested = [0], set[int]()

    def divide(i: int) -> Split | None:
        own = key(seed, 20, i)
        return divide_group(words, nodes[i].documents, own, effort, power)

    def test(some: list[int]) -> None:
        able = [i for i in some if i not in tested and len(nodes[i].documents) >= FEWEST]
        able.sort(key=lambda i: -len(nodes[i].documents))
        able = able[: MOST_SPLITS[effort] - len(tested)]
        tested.update(able)
        with one_blas_thread():
            for i, split in zip(able, engine.each(divide, able), strict=True):
                nodes[i].split = split

    for k in level_numbers(finest, tree.numbers):
        labels = nested.at(k)
        opened = [i for i in cut if np.ptp(labels[nodes[i].documents])]
        if k > tree.numbers[-1]:
            test([i for i in opened if not has_room(nodes, i)])
            opened = [i for i in opened if has_room(nodes, i)]
        if not opened:
            continue
        for i in opened:
            add_children(nodes, i, labels)
        cut = sorted(j for i in cut for j in (nodes[i].children or [i]))
        tree.levels.append(cut)
        if k in tree.numbers:
            test(cut)
        if k == tree.numbers[-1]:
            tree.first = len(tree.levels) - 1
    left = [i for i in cut if i not in tested and len(nodes[i].documents) >= FEWEST]
    tree.untried = len(left) if len(tested) == MOST_SPLITS[effort] else 0
    return tree


def flat_tree(labels: np.ndarray) -> GroupTree:
    """A tree of one level."""
    tree = GroupTree([GroupNode(-1, 0, np.arange(len(labels)))])
    add_children(tree.nodes, 0, labels)
    tree.levels, tree.numbers = [tree.nodes[0].children], (len(tree.nodes[0].children),)
    return tree


def are_near(k: int, other: int) -> bool:
    """Whether two numbers of groups say the same.

    >>> are_near(4, 5), are_near(8, 19)
    (True, False)
    """
    return max(k, other) < NEAR * min(k, other)


def has_room(nodes: list[GroupNode], i: int) -> bool:
    """Whether this group, or one around it, divides into more groups than it has so far."""
    while i >= 0:
        split = nodes[i].split
        if split is not None and split.most > len(leaves_of(nodes, i)):
            return True
        i = nodes[i].parent
    return False


def leaves_of(nodes: list[GroupNode], i: int, among: set[int] | None = None) -> list[int]:
    """The smallest groups so far inside a group, or those ``among`` some; itself if there are
    none."""
    if among is not None and i in among:
        return [i]
    inside = [j for child in nodes[i].children for j in leaves_of(nodes, child, among)]
    return sorted(inside) or [i]


def nest_documents(
    words: sp.csr_array, rows: np.ndarray, most: int, tree: GroupTree, seed: np.uint64,
    engine: Engine,
) -> Nested | None:  # fmt: skip
    """Nested k-means of a sample, extended to all rows; then one pass by the words."""
    sample = rows
    if len(rows) > NESTED_ROWS:
        sample = rows[np.sort(permutation(key(seed, 24), len(rows))[:NESTED_ROWS])]
    runs = ENSEMBLE if len(rows) <= FEW else 0
    drawn = key(seed, 23)
    nested = nest_rows(sample, most, drawn, tree.emphasis, runs=runs, engine=engine)
    if nested is None:
        return None
    weights = level_weights(most, tree.emphasis)
    with one_blas_thread():
        if len(sample) < len(rows):
            labels = nearest_centers(rows, nested.centers, engine, unit=True)
            nested = run_nested_passes(
                rows, labels, nested.cuts, weights, passes=PASSES, engine=engine
            )
        finest = len(nested.cuts) + 1
        levels = level_numbers(finest, sorted({min(k, finest) for k in tree.numbers}))
        labels = label_by_words(words, nested, weights, levels, engine)
        while len(empty := np.setdiff1d(nested.labels, labels)):  # their documents stay
            stay = np.isin(nested.labels, empty)
            labels[stay] = nested.labels[stay]
        return run_nested_passes(rows, labels, nested.cuts, weights, passes=0)


def nest_rows(
    rows: np.ndarray, most: int, seed: np.uint64, emphasis: Sequence[int], *, runs: int = 0,
    first: Iterable[int] | None = None, starts: int = 10, engine: Engine | None = None,
) -> Nested | None:  # fmt: skip
    """Nested k-means that gives most weight to the numbers in ``emphasis``, and above the first
    of them that is not two, joins of groups that overlap. If there are few groups, in the space
    of an ensemble of as many ``runs``, if any."""
    space = rows
    # What repeats counts twice as much as the finest level.
    some = [k for k in [*emphasis, *emphasis, most] if k * PER_GROUP <= len(rows)]
    if runs and some and emphasis[-1] <= FEW_GROUPS:
        space = ensemble_rows(rows, some, key(seed, 1), runs=runs, engine=engine)
    nested = nested_kmeans(
        space, most, seed, emphasis=emphasis, first=first, starts=starts, engine=engine
    )
    if nested is None:
        return None
    weights = level_weights(most, emphasis)
    with one_blas_thread():
        coarsest = next((k for k in emphasis if k > 2), 2)
        if 2 < coarsest <= len(nested.cuts) + 1:
            around = nested.at(2) if emphasis[0] == 2 else None
            nested = join_overlapping(space, nested, coarsest, weights, around)
        if space is not rows:
            nested = run_nested_passes(rows, nested.labels, nested.cuts, weights, passes=0)
    return nested


def level_numbers(finest: int, numbers: Sequence[int]) -> list[int]:
    """The numbers of groups of the levels: those given, and about equal steps between them.

    >>> level_numbers(30, (7,))
    [2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 21, 24, 30]
    """
    out = {*numbers, finest}
    for low, high in pairwise([1, *numbers, finest]):
        k = max(low + 1, round(low * STEP))
        while k * STEP**0.5 < high:
            out.add(k)
            k = max(k + 1, round(k * STEP))
    return sorted(out)


def add_children(nodes: list[GroupNode], i: int, labels: np.ndarray) -> None:
    """Children of node i by the labels of all documents, the largest first."""
    node = nodes[i]
    sizes = np.bincount(labels[node.documents])
    for j in np.argsort(-sizes, kind="stable"):
        if sizes[j]:
            node.children.append(len(nodes))
            inside = node.documents[labels[node.documents] == j]
            nodes.append(GroupNode(i, node.depth + 1, inside))


def divide_group(
    words: sp.csr_array,
    documents: np.ndarray,
    seed: np.uint64,
    effort: str,
    power: int,
    engine: Engine | None = None,
) -> Split | None:
    """How a group divides, decided on a sample; None where its documents have too few words in
    common to compare them by. The whole collection, the one that has an ``engine`` to itself,
    gets a larger sample and more repeats."""
    root, run = engine is not None, (engine or Serial()).each
    more = more_trials(len(documents)) if root else 1
    drawn = REFERENCES[effort] * min(2, more)
    most = SAMPLE[effort] * (2 if root else 1)
    sample = documents[np.sort(permutation(key(seed, 1), len(documents))[:most])]
    some = words[sample]
    deals = [None, *(key(seed, 3, r) for r in range(drawn))]
    rows, *dealt = run(lambda deal: own_space(some, power, key(seed, 2), deal), deals)
    if rows is None:
        return None
    ks, further = ([k for k in each if k <= len(rows) // PER_GROUP] for each in (KS, FURTHER))
    if not ks:
        return None
    cloud = fit_reference(rows.astype(np.float64), unit=True)
    references = {"dealt": [each for each in dealt if each is not None]}
    for kind in ("normal", "radial"):
        clouds = (draw(cloud, kind, key(seed, 4, r)) for r in range(drawn))
        references[kind] = [each.astype(np.float32) for each in clouds]
    repeats = REPEATS[effort] * more * (2 if root else 1)
    return split_rows(
        rows, {kind: sets for kind, sets in references.items() if sets}, ks, key(seed, 5),
        further=further, repeats=repeats, starts=2 if root else 1, engine=engine,
    )  # fmt: skip


def more_trials(n: int) -> int:
    """How many times as often a collection of n documents is tried as a large one. With few
    documents one trial differs much from the next, and takes little time.

    >>> [more_trials(n) for n in (85, 500, 1000, 1415, 10_000)]
    [4, 4, 2, 1, 1]
    """
    return min(MORE, max(1, ENOUGH // n))


def own_space(
    words: sp.csr_array, power: int, seed: np.uint64, deal: np.uint64 | None = None
) -> np.ndarray | None:
    """Some documents along their own directions, at length one; those without any are left
    out. With ``deal`` their words are dealt out again. None where there are not three words to
    compare by."""
    n = words.shape[0]
    spread = np.bincount(words.indices, minlength=words.shape[1])
    used = np.flatnonzero((spread >= (3 if n >= 100 else 2)) & (spread <= MOST_SHARE * n))
    few = max(FEWEST_DIRECTIONS, n // PER_DIRECTION)
    size = min(few, DIRECTIONS, len(used), n)
    if size < 3:
        return None
    some = sp.csr_array(words[:, used])
    if deal is not None:
        deal_words(some.indices, some.indptr, len(used), deal)
    worth = word_weights(spread[used], n, power)
    data = some.data * worth[some.indices]
    lengths = np.sqrt(np.bincount(np.repeat(np.arange(n), np.diff(some.indptr)), data**2, n))
    data = data / np.repeat(np.maximum(lengths, 1e-12), np.diff(some.indptr))
    some = sp.csr_array((data.astype(np.float32), some.indices, some.indptr), shape=some.shape)
    rows = unit(some @ few_components(some, size, seed))
    return rows[rows.any(axis=1)]


def unit(rows: np.ndarray) -> np.ndarray:
    """Rows at length one, float32; those of zeros stay."""
    lengths = np.sqrt(np.einsum("nd,nd->n", rows, rows, dtype=np.float64))
    scale = np.where(lengths > 1e-9, 1 / np.maximum(lengths, 1e-9), 0.0)
    return np.ascontiguousarray(rows * scale[:, None], np.float32)


# --- Levels ---


def choose_cut(tree: GroupTree) -> list[int]:
    """The groups to show first: those of the first level, and where a division of one repeats
    well enough, the groups it has at the level that has as many inside it. Each group decides
    for itself."""
    cut, todo = [], list(tree.levels[tree.first])
    while todo:
        node, inside = tree.nodes[i := todo.pop(0)], [i]
        if node.children and node.split is not None and node.split.score >= OPEN:
            for level in tree.levels[tree.first + 1 :]:
                inside = leaves_of(tree.nodes, i, among=set(level))
                if len(inside) >= node.split.k:
                    break
        if inside == [i]:  # no level divides it
            cut.append(i)
        else:
            todo += inside
    return sorted(cut)


def labels_at(nodes: list[GroupNode], cut: list[int], n: int) -> np.ndarray:
    """The place in ``cut`` of the group of every document, -1 for none."""
    labels = np.full(n, -1, np.int32)
    for place, i in enumerate(cut):
        labels[nodes[i].documents] = place
    return labels


def centers_of(rows: np.ndarray, labels: np.ndarray, k: int) -> np.ndarray:
    """The mean direction of every label."""
    n = len(rows)
    members = sp.csr_array((np.ones(n, np.float32), labels, np.arange(n + 1)), shape=(n, k))
    return unit(members.T @ rows)
