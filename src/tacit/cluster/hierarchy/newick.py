"""Trees as Newick text, the format that tree viewers read, and back.

A leaf is its name, a cluster is its parts in parentheses, and each is followed by the length
of the branch above it: the height of the next merge less that of the cluster, so that all
leaves are equally far from the root. Names with special characters are put in single quotes,
and quotes inside are doubled. Comments in brackets are skipped when reading.

Olsen (1990), Gary Olsen's interpretation of the "Newick's 8:45" tree format standard.
"""

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from tacit.cluster.hierarchy.dendrogram import check_linkage, label_merges

__all__ = ["from_newick", "to_newick"]

PLAIN = re.compile(r"[^\s()\[\]'\":;,_\x00-\x20\x7f]+")
TOKEN = re.compile(r"\[[^\]]*\]|'(?:[^']|'')*'|[(),:;]|[^\s()\[\]':;,]+|(?P<stray>\S)")


def to_newick(Z: Any, names: Sequence[Any] | None = None) -> str:
    """Write a tree as Newick text.

    Parameters
    ----------
    Z : array of shape (n-1, 4)
        A linkage matrix.
    names : sequence of n, optional
        Names of the leaves; their numbers by default.

    Examples
    --------
    >>> to_newick([[0, 1, 1.0, 2], [2, 3, 4.0, 3]], ["gold", "cold", "it's"])
    "('it''s':4.0,(gold:1.0,cold:1.0):3.0);"
    """
    Z = check_linkage(Z)
    n = len(Z) + 1
    words = [quote(str(name)) for name in (range(n) if names is None else names)]
    if len(words) != n:
        raise ValueError(f"to_newick needs {n} names, one per leaf, but got {len(words)}.")
    heights = np.concatenate([np.zeros(n), Z[:, 2]])
    text: list[str] = []
    # Depth first without recursion: a tree may be a chain of 10,000 merges.
    waiting: list[str | tuple[int, str]] = [(2 * n - 2, "")]  # text, or a node and its length
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            text.append(item)
            continue
        node, length = item
        if node < n:
            text.append(words[node] + length)
            continue
        left, right = (
            (part, f":{float(heights[node] - heights[part])!r}")
            for part in Z[node - n, :2].astype(int).tolist()
        )
        waiting += [f"){length}", right, ",", left, "("]
    return "".join(text) + ";"


def quote(name: str) -> str:
    """A name in Newick's syntax.

    >>> quote("plain"), quote("two words"), quote("a_b"), quote("")
    ('plain', "'two words'", "'a_b'", "''")
    """
    if PLAIN.fullmatch(name):
        return name
    return "'" + name.replace("'", "''") + "'"


def from_newick(text: str) -> tuple[np.ndarray, list[str]]:
    """Read Newick text: the linkage matrix and the names of its leaves.

    Leaves are numbered in the order of the text. A cluster of three parts or more becomes
    merges at one height. Without branch lengths, heights count merges. A tree whose leaves are
    not equally far from the root has no linkage matrix, and is refused.

    >>> Z, names = from_newick("((gold:1,cold:1):3,'it''s':4);")
    >>> Z, names
    (array([[0., 1., 1., 2.],
           [2., 3., 4., 3.]]), ['gold', 'cold', "it's"])
    """
    if not isinstance(text, str):
        raise TypeError(f"from_newick reads text, not {type(text).__name__}.")
    names, parts, lengths = parse(text)
    n = len(names)
    if n == 1:
        return np.empty((0, 4)), names
    missing = lengths[:-1].count(None)
    if 0 < missing < len(lengths) - 1:
        raise ValueError(
            f"from_newick: {missing} of {len(lengths) - 1} branches have no length. Give all "
            "of them one, or none."
        )
    heights = levels(parts) if missing else add_lengths(parts, lengths)
    return as_linkage(parts, heights), names


# --- Reading ---

Node = tuple[int, ...]  # the parts of a cluster; none for a leaf


def parse(text: str) -> tuple[list[str], list[Node], list[float | None]]:
    """Names of leaves; nodes, parts before wholes; the length of the branch above each."""
    names: list[str] = []
    nodes: list[Node] = []
    lengths: list[float | None] = []
    open_parts: list[list[int]] = []
    ready = False  # a node is complete, and may get a length
    for token, at in tokens(text):
        if ready and token not in (",", ")", ";") and token[0] != ":":
            if nodes[-1] and token != "(":
                continue  # the name of a cluster, which a linkage matrix does not have
            raise fault(text, at, f"{token!r} where a comma or a parenthesis should be")
        if token == "(":
            open_parts.append([])
        elif token[0] == ":":
            if not ready or lengths[-1] is not None:
                raise fault(text, at, "a length without a node")
            lengths[-1] = number(text, token[1:], at)
        elif token in (",", ")", ";"):
            if not ready:
                raise fault(text, at, f"{token!r} where a leaf should be")
            if token == ";":
                if open_parts:
                    raise fault(text, at, f"{len(open_parts)} parentheses still open")
                return names, nodes, lengths
            if not open_parts:
                raise fault(text, at, f"{token!r} outside of all parentheses")
            open_parts[-1].append(len(nodes) - 1)
            ready = token == ")"
            if ready:
                nodes.append(tuple(open_parts.pop()))
                lengths.append(None)
        else:
            nodes.append(())
            lengths.append(None)
            quoted = token[0] == "'"
            name = token[1:-1].replace("''", "'") if quoted else token.replace("_", " ")
            names.append(name)
            ready = True
    raise fault(text, len(text), "the end of the text before a semicolon")


def tokens(text: str):
    """Marks, names, and lengths with their colon; and the position of each."""
    colon = -1
    for match in TOKEN.finditer(text):
        token, at = match.group(), match.start()
        if match["stray"] == "[":
            raise fault(text, at, "a comment that is never closed")
        if match["stray"]:
            raise fault(text, at, "a quote that is never closed or a stray bracket")
        if token[0] == "[":
            continue
        if colon >= 0:
            yield ":" + token, colon
            colon = -1
        elif token == ":":
            colon = at
        else:
            yield token, at
    if colon >= 0:
        raise fault(text, colon, "a colon without a length")


def number(text: str, word: str, at: int) -> float:
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise fault(text, at, f"{word[:20]!r} where the length of a branch should be")
    return value


def fault(text: str, at: int, what: str) -> ValueError:
    line = text.count("\n", 0, at) + 1
    column = at - (text.rfind("\n", 0, at) + 1) + 1
    return ValueError(f"from_newick: line {line}, column {column} has {what}.")


# --- Heights ---


def levels(nodes: list[Node]) -> list[float]:
    """Heights that count merges."""
    out: list[float] = []
    for node in nodes:
        out.append(1.0 + max(out[part] for part in node) if node else 0.0)
    return out


def add_lengths(nodes: list[Node], lengths: list[float | None]) -> list[float]:
    """Heights from the lengths of branches, which must agree."""
    out: list[float] = []
    for node in nodes:
        above = [out[part] + (lengths[part] or 0.0) for part in node]
        if above and max(above) - min(above) > 1e-6 * max(abs(height) for height in above):
            raise ValueError(
                f"from_newick: the leaves of a cluster are {min(above):.6g} and "
                f"{max(above):.6g} below it. A linkage matrix needs a tree whose leaves are "
                "equally far from the root."
            )
        out.append(above[0] if above else 0.0)
    return out


def as_linkage(nodes: list[Node], heights: list[float]) -> np.ndarray:
    lowest: list[int] = []  # the lowest leaf of every node, which is its name
    merges: list[tuple[float, int, int]] = []
    rising, leaf = True, 0
    for node, height in zip(nodes, heights, strict=True):
        if not node:
            lowest.append(leaf)
            leaf += 1
            continue
        name, *others = (lowest[part] for part in node)
        for other in others:
            merges.append((height, min(name, other), max(name, other)))
            name = min(name, other)
        lowest.append(name)
        rising &= all(heights[part] <= height for part in node)
    if rising:
        merges.sort(key=lambda merge: merge[0])
    tops, low, high = (np.array(column) for column in zip(*merges, strict=True))
    return check_linkage(label_merges(low, high, tops), name="from_newick")
