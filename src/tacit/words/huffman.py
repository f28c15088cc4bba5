"""Huffman trees of words: the paths that hierarchical softmax walks.

A frequent word has a short path. With probabilities s(c . x) and 1 - s(c . x) at the two
branches of an inner node, the probabilities of all leaves sum to one, at the cost of one path
instead of the whole vocabulary.

Huffman (1952), A method for the construction of minimum-redundancy codes. Proc. IRE 40.
Morin and Bengio (2005), Hierarchical probabilistic neural network language model. AISTATS.
"""

from typing import NamedTuple

import numpy as np

from tacit.core.kernel import kernel

__all__ = ["Paths", "graft", "huffman_paths", "number_of_nodes"]


class Paths(NamedTuple):
    """The inner nodes from the root to each word, and the branches taken there."""

    edges: np.ndarray  # int64, (v + 1,)
    nodes: np.ndarray  # int32
    codes: np.ndarray  # uint8, 0 or 1


def huffman_paths(counts: np.ndarray) -> Paths:
    """The tree of words whose counts descend; counts of zero count as one.

    Examples
    --------
    >>> paths = huffman_paths(np.array([5, 2, 1, 1]))
    >>> np.diff(paths.edges)
    array([1, 2, 3, 3])
    """
    counts = np.maximum(np.asarray(counts, np.int64), 1)
    if (np.diff(counts) > 0).any():
        raise ValueError("huffman_paths needs counts in descending order. Sort them first.")
    parent, branch = merge_rarest(counts)
    return Paths(*walk_up(parent, branch, len(counts)))


def graft(old: Paths, new: Paths) -> Paths:
    """One tree of two: a new root, the old words to its left, the new ones to its right.

    Nodes of the old tree keep their numbers, those of the new tree follow, the root is last.
    """
    first = number_of_nodes(old)
    root = first + number_of_nodes(new)
    paths = [lengthen(old, root, 0, 0), lengthen(new, root, 1, first)]
    edges = np.concatenate([paths[0].edges, paths[0].edges[-1] + paths[1].edges[1:]])
    nodes = np.concatenate([path.nodes for path in paths])
    return Paths(edges, nodes, np.concatenate([path.codes for path in paths]))


def lengthen(paths: Paths, root: int, code: int, shift: int) -> Paths:
    """Paths that pass the root first."""
    starts = paths.edges[:-1]
    nodes = np.insert(paths.nodes + np.int32(shift), starts, np.int32(root))
    codes = np.insert(paths.codes, starts, np.uint8(code))
    return Paths(paths.edges + np.arange(len(paths.edges)), nodes, codes)


def number_of_nodes(paths: Paths) -> int:
    """Inner nodes of the tree: one less than words."""
    return len(paths.edges) - 2


@kernel
def merge_rarest(counts):
    """Merge the two rarest trees again and again: the words from the end, and the merged trees
    in order of their making, are two sorted queues."""
    v = counts.size
    total = np.zeros(2 * v - 1, np.int64)
    parent, branch = np.zeros(2 * v - 1, np.int64), np.zeros(2 * v - 1, np.uint8)
    total[:v] = counts
    word, made = v - 1, v
    for node in range(v, 2 * v - 1):
        for code in range(2):
            if word >= 0 and (made >= node or total[word] <= total[made]):
                child = word
                word -= 1
            else:
                child = made
                made += 1
            total[node] += total[child]
            parent[child], branch[child] = node, code
    return parent, branch


@kernel
def walk_up(parent, branch, v):
    edges = np.zeros(v + 1, np.int64)
    root = 2 * v - 2
    for w in range(v):
        at, length = w, 0
        while at != root:
            at = parent[at]
            length += 1
        edges[w + 1] = edges[w] + length
    nodes, codes = np.empty(edges[v], np.int32), np.empty(edges[v], np.uint8)
    for w in range(v):
        at, place = w, edges[w + 1]
        while at != root:
            place -= 1
            codes[place] = branch[at]
            at = parent[at]
            nodes[place] = at - v
    return edges, nodes, codes
