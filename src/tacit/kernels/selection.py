"""The places of the highest values, without sorting all of them."""

import numpy as np

__all__ = ["highest"]


def highest(values: np.ndarray, n: int) -> np.ndarray:
    """The places of the n highest values, the highest first; ties go to the lowest place.

    >>> highest(np.array([1.0, 3.0, 2.0, 3.0, 1.0]), 4)
    array([1, 3, 2, 0])
    """
    n = min(max(0, n), len(values))
    if n == 0:
        return np.empty(0, np.int64)
    least = np.partition(values, len(values) - n)[len(values) - n]
    found = np.flatnonzero(values >= least)
    return found[np.argsort(-values[found], kind="stable")][:n]
