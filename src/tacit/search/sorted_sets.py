"""And, or and not of sorted arrays without repetitions."""

import numpy as np

from tacit.core.kernel import kernel

__all__ = ["intersect", "subtract", "unite"]

U = np.uint64
GALLOP = 16  # lists this much shorter than the other are looked up in it


@kernel
def intersect(few, many):
    """What two sorted arrays share."""
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
    """What either of two sorted arrays holds."""
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
    """What is in a and not in b."""
    out = np.empty(len(a), np.int32)
    j, k = 0, 0
    for i in range(len(a)):
        while j < len(b) and b[j] < a[i]:
            j += 1
        if j == len(b) or b[j] != a[i]:
            out[k] = a[i]
            k += 1
    return out[:k]
