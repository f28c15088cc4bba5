"""The tree of groups: every group is divided again as long as the division repeats.

Inside a group other words matter than in the whole collection, so a group is divided in a space
of its own: its documents by the words that vary within it, and their first directions. Two
kinds of data without groups say what chance would give there (``splits``): the documents with
their words dealt out again, which keeps the lengths of the documents and the frequencies of the
words, and clouds with the covariance of the rows, which keep their spectrum.

A division is decided on a sample and extended to all documents of the group. A group under
``FEWEST`` documents, or under one in ``SMALLEST`` of the collection, is not divided further.

The first division is one of all documents, into the number of groups that is best found again
in other samples (``choose_k``), if data without groups do not divide as well. It is the level
that is shown first, with those of its groups opened whose own division repeats well
(``choose_cut``). Where it has many groups, a level of broad groups lies above it, each a union
of them: that which agrees best with the coarsest division that repeats.

A *level* is a cut through the tree: at a depth, or the one that is shown first.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from tacit.cluster.null_reference import deal_words, draw, fit_reference
from tacit.cluster.splits import Split, split_rows
from tacit.core.engines import Engine, Serial, one_blas_thread
from tacit.core.randoms import key, permutation
from tacit.explore.stages.meaning import word_weights
from tacit.kernels.nearest_centers import nearest_centers, run_passes

__all__ = [
    "GroupNode", "centers_of", "choose_cut", "cut_at", "grow_tree", "labels_at", "own_rows",
]  # fmt: skip

KS = (2, 3, 4, 5, 6, 8, 10, 12)
SAMPLE = {"quick": 600, "normal": 1000, "thorough": 2000}  # documents; twice at the root
REFERENCES = {"quick": 2, "normal": 2, "thorough": 4}  # of each kind
REPEATS = {"quick": 4, "normal": 4, "thorough": 8}  # pairs of halves; twice at the root
MOST_SPLITS = {"quick": 24, "normal": 60, "thorough": 200}  # groups that are tried
DIRECTIONS = 30  # of a group's own space
FEWEST = 31  # documents of a group that may be divided
SMALLEST = 500
PER_GROUP = 10  # documents of a sample for each group it is divided into, at least
MOST_SHARE = 0.5  # of a group's documents that a word may be in
PASSES = 20
FINER = 2  # times the broad groups that there must be below them
OPEN = 0.4  # of the information of a division that repeats beyond chance, to be shown


@dataclass
class GroupNode:
    """A group, or the whole collection at the root; where it was found."""

    parent: int  # -1 for the root
    depth: int
    documents: np.ndarray
    split: Split | None = None  # how it was divided, if that was tried
    overlaps: np.ndarray | None = None  # with its like in every repeat of its parent's division
    children: list[int] = field(default_factory=list)
    shown: bool = False  # the groups inside repeat well enough to be shown first


def grow_tree(
    words: sp.csr_array, rows: np.ndarray, seed: np.uint64, effort: str, engine: Engine,
    *, power: int = 2, flat: np.ndarray | None = None, asked: bool = False,
) -> tuple[list[GroupNode], int]:  # fmt: skip
    """The nodes, the root first and parents before children; and how many large ones were not
    tried for want of time.

    ``words`` holds documents by words, weighted within a document; ``rows`` the documents in
    the space of the collection, of length one; ``power`` that of the inverse document
    frequency; ``flat`` the labels of a division of all documents, which is the first level
    whatever it is worth if it was ``asked`` for.
    """
    n = words.shape[0]
    nodes = [GroupNode(-1, 0, np.arange(n))]
    if asked and flat is not None:
        frontier = add_children(nodes, 0, flat)
    else:
        frontier = first_levels(nodes, words, rows, seed, effort, engine, power, flat)
    least, tried, left = max(FEWEST, n // SMALLEST), 0, 0
    while frontier:
        able = [i for i in frontier if len(nodes[i].documents) >= least]
        able.sort(key=lambda i: -len(nodes[i].documents))
        able, rest = able[: MOST_SPLITS[effort] - tried], able[MOST_SPLITS[effort] - tried :]
        tried, left = tried + len(able), left + len(rest)

        def divide(i: int) -> tuple[Split, np.ndarray] | None:
            own = key(seed, 20, i)
            return divide_group(words, nodes[i].documents, own, effort, power, root=False)

        frontier = []
        with one_blas_thread():  # more may round differently
            divided = list(zip(able, engine.each(divide, able), strict=True))
        for i, found in sorted(divided, key=lambda pair: pair[0]):
            if found is None:
                continue
            split, labels = found
            nodes[i].split = split
            if split.k > 1:
                frontier += add_children(nodes, i, labels)
                nodes[i].shown = split.score >= OPEN
    return nodes, left


def first_levels(
    nodes: list[GroupNode], words: sp.csr_array, rows: np.ndarray, seed: np.uint64,
    effort: str, engine: Engine, power: int, flat: np.ndarray | None,
) -> list[int]:  # fmt: skip
    """Add the groups of the flat division, if documents without groups do not divide as well,
    and the broad groups above them, if there are any; the places of those to divide further."""
    with one_blas_thread():
        own = key(seed, 20, 0)
        found = divide_group(words, nodes[0].documents, own, effort, power, root=True)
    if found is None or found[0].k == 1:
        nodes[0].split = found[0] if found else None
        return []
    split, labels = found
    nodes[0].split = split
    many = flat is not None and int(flat.max()) + 1 >= FINER * split.k
    if flat is not None and not many:
        return add_children(nodes, 0, flat)
    broad, _ = run_passes(
        rows, centers_of(rows, labels, split.k), engine, passes=PASSES, unit=True
    )
    if flat is None:
        return add_children(nodes, 0, broad)
    inside = np.zeros((int(flat.max()) + 1, split.k), np.int64)
    np.add.at(inside, (flat, broad), 1)
    above = inside.argmax(axis=1).astype(np.int32)  # the broad group of every one
    if len(np.unique(above)) == 1:
        return add_children(nodes, 0, flat)
    frontier = []
    for i in add_children(nodes, 0, above[flat]):
        _, labels = np.unique(flat[nodes[i].documents], return_inverse=True)
        below = add_children(nodes, i, labels.astype(np.int32))
        nodes[i].shown = bool(below)
        frontier += below or [i]
    return frontier


def add_children(nodes: list[GroupNode], i: int, labels: np.ndarray) -> list[int]:
    """Children of node i by the labels of its documents, the largest first; their places."""
    node, sizes = nodes[i], np.bincount(labels)
    if np.count_nonzero(sizes) < 2:
        return []
    for j in np.argsort(-sizes, kind="stable"):
        if sizes[j]:
            node.children.append(len(nodes))
            inside = node.documents[labels == j]
            nodes.append(GroupNode(i, node.depth + 1, inside))
    return list(node.children)


def divide_group(
    words: sp.csr_array,
    documents: np.ndarray,
    seed: np.uint64,
    effort: str,
    power: int,
    *,
    root: bool,
) -> tuple[Split, np.ndarray] | None:
    """How a group divides, and the label of each of its documents; None where they have too
    few words in common to compare them by."""
    most = SAMPLE[effort] * (2 if root else 1)
    sample = documents[np.sort(permutation(key(seed, 1), len(documents))[:most])]
    space = own_space(words[sample], power, seed=key(seed, 2))
    if space is None:
        return None
    rows = space.rows[space.placed]
    ks = [k for k in KS if k <= len(rows) // PER_GROUP]
    if not ks:
        return None
    cloud = fit_reference(rows.astype(np.float64), unit=True)
    references: dict[str, list[np.ndarray]] = {"dealt": [], "normal": [], "radial": []}
    for r in range(REFERENCES[effort]):
        dealt = own_space(words[sample], power, seed=key(seed, 2), deal=key(seed, 3, r))
        if dealt is not None:
            references["dealt"].append(dealt.rows[dealt.placed])
        for kind in ("normal", "radial"):
            drawn = draw(cloud, kind, key(seed, 4, r))
            references[kind].append(drawn.astype(np.float32))
    repeats = REPEATS[effort] * (2 if root else 1)
    split = split_rows(
        rows, {kind: sets for kind, sets in references.items() if sets}, ks, key(seed, 5),
        repeats=repeats, starts=2 if root else 1,
    )  # fmt: skip
    labels = np.zeros(len(documents), np.int32)
    if split.k > 1:
        labels = nearest_centers(unit(words[documents] @ space.turn), split.centers, unit=True)
    return split, labels


def own_rows(
    words: sp.csr_array, documents: np.ndarray, effort: str, power: int, seed: np.uint64
) -> np.ndarray | None:
    """The documents of a group in its own space, learned from a sample of them."""
    sample = documents[np.sort(permutation(key(seed, 1), len(documents))[: SAMPLE[effort]])]
    space = own_space(words[sample], power, seed=key(seed, 2))
    return None if space is None else unit(words[documents] @ space.turn)


class OwnSpace(NamedTuple):
    """Documents of a group along its own directions."""

    rows: np.ndarray  # (n, d) float32 of length one, or zero
    placed: np.ndarray  # (n,) bool: those that are not
    turn: np.ndarray  # (words, d) float32: from words to the directions


def own_space(
    words: sp.csr_array, power: int, *, seed: np.uint64, deal: np.uint64 | None = None
) -> OwnSpace | None:
    """The space of some documents; with ``deal`` of the same ones with their words dealt out
    again. None where there are not three words to compare by."""
    from tacit.decompose import TruncatedSVD

    n = words.shape[0]
    spread = np.bincount(words.indices, minlength=words.shape[1])
    used = np.flatnonzero((spread >= (3 if n >= 100 else 2)) & (spread <= MOST_SHARE * n))
    size = min(DIRECTIONS, n, len(used))
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
    svd = TruncatedSVD(size, random_state=int(seed) % 2**31, engine=Serial()).fit(some)
    turn = np.zeros((words.shape[1], size), np.float32)
    turn[used] = (svd.components_ * worth).T
    rows = unit(some @ svd.components_.T.astype(np.float32))
    return OwnSpace(rows, np.asarray(rows.any(axis=1)), turn)


def unit(rows: np.ndarray) -> np.ndarray:
    """Rows at length one, float32; those of zeros stay."""
    lengths = np.sqrt(np.einsum("nd,nd->n", rows, rows, dtype=np.float64))
    scale = np.where(lengths > 1e-9, 1 / np.maximum(lengths, 1e-9), 0.0)
    return np.ascontiguousarray(rows * scale[:, None], np.float32)


# --- Levels ---


def cut_at(nodes: list[GroupNode], depth: int) -> list[int]:
    """The groups at a depth, and those above it that are not divided."""
    return [
        i
        for i, node in enumerate(nodes)
        if node.depth == depth or (0 < node.depth < depth and not node.children)
    ]


def choose_cut(nodes: list[GroupNode]) -> list[int]:
    """The groups to show first: the broad ones, opened where the groups inside repeat well
    enough. Each group decides for itself."""
    cut, todo = [], list(nodes[0].children)
    while todo:
        i = todo.pop(0)
        if nodes[i].shown:
            todo += nodes[i].children
        else:
            cut.append(i)
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
