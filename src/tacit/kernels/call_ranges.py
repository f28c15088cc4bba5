"""Ranges of items for one call of a kernel, which returns to Python before long."""

from itertools import pairwise

import numpy as np

__all__ = ["call_ranges"]


def call_ranges(work: np.ndarray, enough: float, most: float = np.inf) -> list[tuple[int, int]]:
    """Ranges with about ``enough`` work; an item with more than ``most`` is alone.

    >>> call_ranges(np.array([5, 5, 5, 50, 1]), 10, 40)
    [(0, 1), (1, 3), (3, 4), (4, 5)]
    """
    cuts = np.flatnonzero(np.diff(np.cumsum(work) // enough)) + 1
    alone = np.flatnonzero(work > most)
    edges = {0, len(work), *cuts.tolist(), *alone.tolist(), *(alone + 1).tolist()}
    return list(pairwise(sorted(edges)))
