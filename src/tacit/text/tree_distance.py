"""How many nodes must be inserted, deleted or relabeled to turn one tree into another.

Deleting a node gives its children to its parent, in its place; inserting is the reverse. The
order of siblings counts. Zhang and Shasha number the nodes of both trees in post-order, so
that a forest is a range of nodes and the distance of two forests follows from shorter ones.
Subtrees that begin at the same leaf share a table of such distances: only the *key roots*, the
topmost node above each leaf, need one.

The work is the number of cells in these tables. Trees that branch to the right have few cells
when read from the right, trees that branch to the left when read from the left; both orders
give the same distance, and the cheaper one is used. Memory is two numbers per pair of nodes.

Zhang and Shasha (1989), Simple fast algorithms for the editing distance between trees and
related problems. SIAM J. Computing 18.

The notes' section on distances between strings and trees.
"""

import re
from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np

from tacit.core.engines import check_stop
from tacit.core.kernel import kernel
from tacit.text.edit_costs import START, EditCosts
from tacit.text.edit_distance import encode_with_costs
from tacit.text.edit_kernels import CALL_WORK

__all__ = ["tree_edit_distance"]

MOST_BYTES = 2**32
TOKENS = re.compile(r"[()]|[^\s()]+")


def tree_edit_distance(a: Any, b: Any, *, costs: EditCosts | None = None) -> float:
    """Count the nodes to insert, delete or relabel that turn tree ``a`` into tree ``b``.

    Parameters
    ----------
    a, b : nested tuples (label, [children]), or str
        A child without children may be its label alone. Strings are in brackets, as treebanks
        write them: in "(S (NP the dog) (VP barks))" the first word after a bracket is a
        node's label, and other words are leaves. None is the empty tree.
    costs : EditCosts or None
        The costs to insert, delete or substitute labels; None for one each.

    Returns
    -------
    int, or float where ``costs`` is given

    Examples
    --------
    >>> tree_edit_distance("(S (NP the dog) (VP barks))", "(S (NP a dog) (VP barks loudly))")
    2
    >>> tree_edit_distance(("f", [("d", ["a", ("c", ["b"])]), "e"]),
    ...                    ("f", [("c", [("d", ["a", "b"])]), "e"]))
    2
    >>> tree_edit_distance("(VP sleeps)", "(VP snores)", costs=EditCosts(substitute=0.5))
    0.5
    """
    check_costs(costs)
    left, right = flatten(a, "a"), flatten(b, "b")
    pair, tables = encode_with_costs(left.labels, right.labels, costs)
    delete = tables.delete[START, pair.source_rows]
    insert = tables.insert[START, pair.target_rows]
    if not (left.labels and right.labels):
        total = float(delete.sum() + insert.sum())
    else:
        backward = left.work(True) * right.work(True) < left.work(False) * right.work(False)
        order, other = left.order(backward), right.order(backward)
        dtype = np.int32 if costs is None else np.float64
        nodes = NodeCosts(
            pair.source[order], pair.source_rows[order], pair.target[other],
            pair.target_rows[other], delete[order].astype(dtype), insert[other].astype(dtype),
            tables.substitute.astype(dtype),
        )  # fmt: skip
        total = fill_tables(left.leaves(backward), right.leaves(backward), nodes)
    return total if costs is not None else int(total)


class Tree(NamedTuple):
    """Nodes in pre-order, children from left to right."""

    labels: list[Hashable]
    depths: np.ndarray  # int64
    sizes: np.ndarray  # int64, of the subtrees

    def order(self, backward: bool) -> np.ndarray:
        """The nodes in post-order, children from the left or, backward, from the right."""
        n = len(self.labels)
        if backward:  # pre-order in reverse
            return np.arange(n)[::-1]
        places = np.arange(n) - self.depths + self.sizes - 1
        order = np.empty(n, np.int64)
        order[places] = np.arange(n)
        return order

    def leaves(self, backward: bool) -> np.ndarray:
        """In post-order, the place of the first node of each node's subtree: a leaf."""
        return np.arange(len(self.labels)) - self.sizes[self.order(backward)] + 1

    def work(self, backward: bool) -> int:
        """How many rows or columns the tables of all key roots have."""
        leaves = self.leaves(backward)
        roots = key_roots(leaves)
        return int((roots - leaves[roots] + 1).sum())


class NodeCosts(NamedTuple):
    """Labels of the nodes as numbers, in post-order, and what it costs to edit them."""

    source: np.ndarray  # (n,)
    source_rows: np.ndarray  # (n,) in ``substitute``
    target: np.ndarray  # (m,)
    target_rows: np.ndarray
    delete: np.ndarray  # (n,)
    insert: np.ndarray  # (m,)
    substitute: np.ndarray


def fill_tables(a: np.ndarray, b: np.ndarray, nodes: NodeCosts) -> float:
    """The distance of two trees from the first leaves of their nodes, in post-order."""
    n, m = len(a), len(b)
    size = 2 * (n + 1) * (m + 1) * nodes.delete.itemsize
    if size > MOST_BYTES:
        raise ValueError(
            f"Trees of {n:,} and {m:,} nodes need {size / 2**30:,.1f} GiB of memory, but "
            f"{MOST_BYTES / 2**30:.0f} is the most. Compare subtrees instead."
        )
    trees = np.zeros((n, m), nodes.delete.dtype)
    forests = np.empty((n + 1, m + 1), nodes.delete.dtype)
    roots, others = key_roots(a), key_roots(b)
    state = np.zeros(2, np.int64)  # pair of key roots, rows of its table done
    while state[0] < len(roots) * len(others):
        check_stop()
        advance(a, b, roots, others, nodes, trees, forests, CALL_WORK, state)
    return float(trees[-1, -1])


def key_roots(leaves: np.ndarray) -> np.ndarray:
    """The topmost node above each leaf.

    >>> key_roots(np.array([0, 1, 1, 0, 4, 0]))
    array([2, 4, 5])
    """
    last = np.zeros(len(leaves), np.int64)
    last[leaves] = np.arange(len(leaves))  # the last write stays
    return np.unique(last[leaves])


# --- Reading trees, without recursion: they may be deeper than Python's stack ---


def flatten(tree: Any, name: str) -> Tree:
    """A tree as arrays."""
    if tree is None:
        return Tree([], np.empty(0, np.int64), np.empty(0, np.int64))
    labels, depths = read_brackets(tree) if isinstance(tree, str) else read_tuples(tree, name)
    sizes = [1] * len(labels)
    path: list[int] = []  # nodes above the present one
    for i, depth in enumerate(depths):
        while len(path) > depth:
            done = path.pop()
            sizes[done] = i - done
        path.append(i)
    for done in path:
        sizes[done] = len(labels) - done
    return Tree(labels, np.array(depths, np.int64), np.array(sizes, np.int64))


def read_tuples(tree: Any, name: str) -> tuple[list[Hashable], list[int]]:
    """Labels and depths of nested tuples."""
    labels: list[Hashable] = []
    depths: list[int] = []
    waiting = [(tree, 0)]
    while waiting:
        node, depth = waiting.pop()
        children: Any = ()
        label = node
        if isinstance(node, tuple | list):
            if len(node) != 2 or not isinstance(node[1], list | tuple):
                raise TypeError(
                    f"Node {len(labels)} of {name} is {str(node)[:60]}, but must be a pair "
                    "(label, [children]), or a label alone."
                )
            label, children = node
        try:
            hash(label)
        except TypeError:
            raise TypeError(
                f"Node {len(labels)} of {name} has the label {str(label)[:60]}, which is not "
                "hashable. Give for example a string."
            ) from None
        labels.append(label)
        depths.append(depth)
        waiting.extend((child, depth + 1) for child in reversed(children))
    return labels, depths


def read_brackets(text: str) -> tuple[list[Hashable], list[int]]:
    """Labels and depths of a tree in brackets. A bracket without a word has the label "".

    >>> read_brackets("(S (NP dogs) (VP bark))")
    (['S', 'NP', 'dogs', 'VP', 'bark'], [0, 1, 2, 1, 2])
    """
    labels: list[Hashable] = []
    depths: list[int] = []
    opened: list[int] = []  # where the open brackets are
    fresh = False  # the last token was an opening bracket: its label may follow
    for match in TOKENS.finditer(text):
        token, at = match.group(), match.start()
        if token == ")":
            if not opened:
                raise ValueError(
                    f"The bracket at character {at} closes nothing. Open it first."
                )
            opened.pop()
        elif token != "(" and fresh:
            labels[-1] = token
        else:
            if labels and not opened:
                raise ValueError(
                    f"A tree ends before character {at}, where {text[at : at + 20]!r} follows. "
                    "Give one tree at a time."
                )
            labels.append("" if token == "(" else token)
            depths.append(len(opened))
            if token == "(":
                opened.append(at)
        fresh = token == "("
    if opened:
        raise ValueError(f"The bracket at character {opened[-1]} is never closed. Close it.")
    if not labels:
        raise ValueError(f"There is no tree in {text[:60]!r}. Give None for the empty tree.")
    return labels, depths


def check_costs(costs: EditCosts | None) -> None:
    if costs is None:
        return
    if not isinstance(costs, EditCosts):
        raise TypeError(
            f"tree_edit_distance(costs=...) must be EditCosts, not {type(costs).__name__}. "
            "Write EditCosts(substitute={('NP', 'N'): 0.5})."
        )
    for name in ("insert", "delete"):
        if costs.has_pairs(name):
            raise ValueError(
                f"tree_edit_distance(costs=...) has costs to {name} a label after another one, "
                "but nodes do not follow each other. Give costs by label."
            )


@kernel
def advance(a, b, roots, others, nodes, trees, forests, budget, state):
    """Continue with the tables of all pairs of key roots, for about ``budget`` cells.

    forests[x, y]   distance of the first x nodes to the first y, counted from the key roots'
                    leaves
    trees[x, y]     distance of the subtrees of nodes x and y
    """
    source, source_rows, target, target_rows, delete, insert, substitute = nodes
    pair, row, cells = state[0], state[1], 0
    while pair < len(roots) * len(others) and cells < budget:
        i, j = roots[pair // len(others)], others[pair % len(others)]
        low, left = a[i], b[j]
        width = j - left + 1
        if row == 0:
            first = forests[0]
            first[0] = 0
            for y in range(width):
                first[y + 1] = first[y] + insert[left + y]
        height = min(i - low + 1, row + 1 + (budget - cells) // width)
        for x in range(row, height):
            node = low + x
            above, line, known = forests[x], forests[x + 1], trees[node]
            before = forests[a[node] - low]  # the forest before the node's subtree
            is_tree, drop, label = a[node] == low, delete[node], source[node]
            relabel = substitute[source_rows[node]]
            line[0] = above[0] + drop
            for y in range(width):
                other = left + y
                best = min(above[y + 1] + drop, line[y] + insert[other])
                if is_tree and b[other] == left:
                    change = above[y]
                    if target[other] != label:
                        change += relabel[target_rows[other]]
                    best = min(best, change)
                    known[other] = best
                else:
                    best = min(best, before[b[other] - left] + known[other])
                line[y + 1] = best
        cells += (height - row) * width
        row = height
        if row == i - low + 1:
            pair, row = pair + 1, 0
    state[0], state[1] = pair, row
