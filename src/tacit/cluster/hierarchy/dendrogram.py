"""Trees of clusters as SciPy's linkage matrix: checking one, cutting it, reading its leaves.

Row i of Z merges clusters Z[i, 0] and Z[i, 1] at height Z[i, 2] into cluster n + i, which has
Z[i, 3] leaves; clusters below n are the leaves. Any Z will do, from ``linkage``, from SciPy,
fastcluster or a file: it is checked first.
"""

from typing import Any

import numpy as np

from tacit.core.kernel import kernel
from tacit.measure.labels import by_size

__all__ = ["check_linkage", "cut", "is_monotone", "leaves"]


def check_linkage(Z: Any, *, monotone: bool = False, name: str = "Z") -> np.ndarray:
    """Z as a float64 array, or a ValueError that says which row is wrong and why.

    Z may also be a fitted model with a tree. ``monotone`` also asks that no merge is lower than
    one inside it.

    Examples
    --------
    >>> check_linkage([[0, 1, 1.0, 2], [1, 3, 2.0, 3]])
    Traceback (most recent call last):
        ...
    ValueError: Z: row 1 merges cluster 1, which row 0 has merged already. ...
    """
    try:
        Z = np.array(getattr(Z, "linkage_matrix_", Z), np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be an array of numbers: {error}.") from None
    if Z.ndim != 2 or Z.shape[1] != 4:
        raise ValueError(
            f"{name} has shape {Z.shape}, but a linkage matrix has four columns: two clusters, "
            "a height, a size. Make one with tacit.cluster.linkage."
        )
    fault, row = first_fault(Z)
    if fault:
        raise ValueError(f"{name}: row {row} {explain(Z, fault, row)}")
    if monotone and not is_monotone(Z):
        row = int(np.argmax(subtree_heights(Z) > Z[:, 2]))
        raise ValueError(
            f"{name}: row {row} merges at height {Z[row, 2]:.6g}, below a merge inside it. "
            "Centroid and median linkage do that; use another for a tree that only rises."
        )
    return Z


def is_monotone(Z: np.ndarray) -> bool:
    """Whether no merge is lower than one inside it.

    >>> is_monotone(np.array([[0, 1, 2.0, 2], [2, 3, 1.9, 3]]))
    False
    """
    return bool((subtree_heights(Z) <= Z[:, 2]).all())


def cut(Z: Any, *, k: int | None = None, height: float | None = None) -> np.ndarray:
    """Cut a tree into clusters: the label of every leaf.

    Labels go by size, 0 for the largest; of equals, the one with the first leaf comes first.

    Parameters
    ----------
    Z : array of shape (n-1, 4), or a fitted model
        A linkage matrix, or what has one: AgglomerativeClustering, DivisiveClustering.
    k : int
        How many clusters: the last k - 1 merges are undone.
    height : float
        Or how high clusters may reach: every merge at most this high is made, unless one
        inside it is higher.

    Examples
    --------
    >>> Z = np.array([[0, 1, 1.0, 2], [2, 3, 2.0, 2], [4, 5, 4.0, 4], [6, 7, 9.0, 5.0]])
    >>> Z[2:, :2] = [[5, 6], [4, 7]]
    >>> cut(Z, k=2), cut(Z, height=1.5)
    (array([0, 0, 0, 0, 1], dtype=int32), array([0, 0, 1, 2, 3], dtype=int32))
    """
    Z = check_linkage(Z)
    n = len(Z) + 1
    if (k is None) == (height is None):
        raise TypeError(
            "cut needs either k, a number of clusters, or height; give one of them."
        )
    if k is not None:
        if not isinstance(k, int | np.integer) or isinstance(k, bool):
            raise TypeError(f"cut(k={k!r}) must be a whole number.")
        if not 1 <= k <= n:
            raise ValueError(f"cut(k={k}) must be between 1 and the number of leaves, {n}.")
        made = np.arange(n - 1) < n - k
    else:
        if not isinstance(height, int | float | np.number) or np.isnan(height):
            raise TypeError(f"cut(height={height!r}) must be a number.")
        made = subtree_heights(Z) <= float(height)
    return by_size(label_leaves(Z, made))


def leaves(Z: Any) -> np.ndarray:
    """The leaves from left to right, as a picture of the tree shows them.

    >>> leaves([[1, 2, 1.0, 2], [0, 3, 2.0, 3]])
    array([0, 1, 2])
    """
    Z = check_linkage(Z)
    return leaf_positions(Z)[0]


def explain(Z: np.ndarray, fault: int, row: int) -> str:
    """What ``first_fault`` found."""
    n = len(Z) + 1
    a, b, high, size = Z[row]
    if fault == NOT_FINITE:
        return f"holds {a:g}, {b:g}, {high:g}, {size:g}; every number must be finite."
    if fault == NOT_WHOLE:
        return f"names the clusters {a:g} and {b:g}; names must be whole numbers."
    if fault == NOT_YET:
        wrong = next(int(c) for c in (a, b) if not 0 <= c < n + row)
        return f"merges cluster {wrong}, but only 0 to {n + row - 1} exist by then."
    if fault == USED:
        wrong, earlier = used_twice(Z, row)
        if earlier == row:
            return f"merges cluster {wrong} with itself."
        return (
            f"merges cluster {wrong}, which row {earlier} has merged already. Every cluster is "
            "merged once."
        )
    if fault == NEGATIVE:
        return f"merges at height {high:g}; heights must not be negative."
    count = sum(1 if c < n else int(Z[int(c) - n, 3]) for c in (a, b))
    return f"says that its cluster has {size:g} leaves, but it has {count}."


def used_twice(Z: np.ndarray, row: int) -> tuple[int, int]:
    """The cluster in this row that was merged before, and where."""
    a, b = Z[row, :2]
    for earlier in range(row):
        for c in (a, b):
            if c in Z[earlier, :2]:
                return int(c), earlier
    return int(a), row


# --- Kernels ---

NOT_FINITE, NOT_WHOLE, NOT_YET, USED, NEGATIVE, MISCOUNTED = range(1, 7)


@kernel
def first_fault(Z):
    """What is wrong with the first row that is wrong, and which row; 0 if none is."""
    n = Z.shape[0] + 1
    used = np.zeros(2 * n - 1, np.bool_)
    for s in range(n - 1):
        for c in range(4):
            if not np.isfinite(Z[s, c]):
                return NOT_FINITE, s
        count = 0.0
        for side in range(2):
            if Z[s, side] != np.floor(Z[s, side]):
                return NOT_WHOLE, s
            if Z[s, side] < 0 or Z[s, side] >= n + s:
                return NOT_YET, s
            c = int(Z[s, side])
            if used[c]:
                return USED, s
            used[c] = True
            count += 1.0 if c < n else Z[c - n, 3]
        if Z[s, 2] < 0:
            return NEGATIVE, s
        if Z[s, 3] != count:
            return MISCOUNTED, s
    return 0, 0


@kernel
def subtree_heights(Z):
    """The highest merge in every cluster."""
    n = Z.shape[0] + 1
    out = np.empty(n - 1)
    for s in range(n - 1):
        high = Z[s, 2]
        for side in range(2):
            c = int(Z[s, side])
            if c >= n:
                high = max(high, out[c - n])
        out[s] = high
    return out


@kernel
def label_leaves(Z, made):
    """For every leaf the largest cluster that it is in, of those whose merge is made."""
    n = Z.shape[0] + 1
    tops = np.arange(2 * n - 1)
    for s in range(n - 2, -1, -1):
        if made[s]:
            for side in range(2):
                tops[int(Z[s, side])] = tops[n + s]
    return tops[:n]


@kernel
def leaf_positions(Z):
    """Leaves from left to right, and for every merge the stretch of them it covers: first,
    the first of its right part, end."""
    n = Z.shape[0] + 1
    order = np.empty(n, np.int64)
    spans = np.empty((n - 1, 3), np.int64)
    starts = np.empty(2 * n - 1, np.int64)
    starts[2 * n - 2] = 0
    for s in range(n - 2, -1, -1):
        left, right = int(Z[s, 0]), int(Z[s, 1])
        first = starts[n + s]
        middle = first + (1 if left < n else int(Z[left - n, 3]))
        starts[left] = first
        starts[right] = middle
        spans[s, 0], spans[s, 1], spans[s, 2] = first, middle, first + int(Z[s, 3])
    for leaf in range(n):
        order[starts[leaf]] = leaf
    return order, spans
