"""Numbers of clusters in an order that does not depend on how they were found."""

import numpy as np

__all__ = ["by_size"]


def by_size(labels: np.ndarray) -> np.ndarray:
    """The same groups, numbered by size, then by first member.

    >>> by_size(np.array([7, 3, 3, 5]))
    array([1, 0, 0, 2], dtype=int32)
    """
    _, first, groups, sizes = np.unique(
        labels, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.lexsort([first, -sizes])
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order))
    return rank[groups]
