"""Sets of documents, and AND, OR and NOT of them.

A set is a sorted array, and a flag for "all but these": so NOT costs nothing, and a query of
NOTs alone has an answer.
"""

from typing import NamedTuple

import numpy as np

from tacit.core.kernel import kernel

__all__ = ["DocumentSet", "both", "either"]

U = np.uint64
GALLOP = 16  # a list this much shorter is searched for in the longer one


class DocumentSet(NamedTuple):
    """A set of documents: these, or all but these."""

    rows: np.ndarray  # int32, sorted
    excluded: bool = False

    def inverted(self) -> "DocumentSet":
        return DocumentSet(self.rows, not self.excluded)

    def listed(self, n: int) -> np.ndarray:
        """The documents themselves, of n in all."""
        if not self.excluded:
            return self.rows
        inside = np.ones(n, np.bool_)
        inside[self.rows] = False
        return np.flatnonzero(inside).astype(np.int32)


def both(a: DocumentSet, b: DocumentSet) -> DocumentSet:
    """The documents in a and in b."""
    if a.excluded and b.excluded:
        return DocumentSet(unite(a.rows, b.rows), True)
    if a.excluded:
        a, b = b, a
    if b.excluded:
        return DocumentSet(subtract(a.rows, b.rows))
    few, many = sorted((a.rows, b.rows), key=len)
    return DocumentSet(intersect(few, many))


def either(a: DocumentSet, b: DocumentSet) -> DocumentSet:
    """The documents in a or in b."""
    return both(a.inverted(), b.inverted()).inverted()


@kernel
def intersect(few, many):
    """The intersection of two sorted arrays."""
    out = np.empty(len(few), np.int32)
    k = 0
    if len(few) * GALLOP < len(many):
        j = 0
        for i in range(len(few)):
            step, low, high = 1, j, j
            while high < len(many) and many[high] < few[i]:
                low = high + 1
                high += step
                step *= 2
            high = min(high, len(many))
            while low < high:
                middle = (low + high) // 2
                if many[middle] < few[i]:
                    low = middle + 1
                else:
                    high = middle
            j = low
            if j == len(many):
                break
            if many[j] == few[i]:
                out[k] = few[i]
                k += 1
        return out[:k]
    f, m, a, b = U(0), U(0), U(len(few)), U(len(many))
    while f < a and m < b:
        x, y = few[f], many[m]
        out[k] = x
        k += x == y
        f += U(x <= y)
        m += U(y <= x)
    return out[:k]


@kernel
def unite(a, b):
    """The union of two sorted arrays."""
    out = np.empty(len(a) + len(b), np.int32)
    i, j, k = U(0), U(0), U(0)
    n, m = U(len(a)), U(len(b))
    while i < n and j < m:
        x, y = a[i], b[j]
        out[k] = min(x, y)
        k += U(1)
        i += U(x <= y)
        j += U(y <= x)
    while i < n:
        out[k] = a[i]
        i += U(1)
        k += U(1)
    while j < m:
        out[k] = b[j]
        j += U(1)
        k += U(1)
    return out[: np.int64(k)]


@kernel
def subtract(a, b):
    """The members of a that are not in b."""
    out = np.empty(len(a), np.int32)
    j, k = 0, 0
    for i in range(len(a)):
        while j < len(b) and b[j] < a[i]:
            j += 1
        if j == len(b) or b[j] != a[i]:
            out[k] = a[i]
            k += 1
    return out[:k]
