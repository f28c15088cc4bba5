"""Small integers sorted in linear time, and the highest values without sorting all.

NumPy sorts integers of 32 bits and more by comparison. Codes of users or items are small: count
them, then put each in its place. Two stable sorts, by the second column and then by the first,
sort pairs of them.
"""

from typing import Any

import numpy as np

from tacit.core.kernel import kernel

__all__ = ["highest", "pair_order", "stable_order"]


def stable_order(codes: Any, size: int, order: Any = None) -> np.ndarray:
    """The places of codes from 0 to ``size`` - 1 in ascending order; equal ones keep theirs.

    With ``order`` the codes are taken in that order first.

    >>> stable_order(np.array([2, 0, 2, 1]), 3).tolist()
    [1, 3, 0, 2]
    """
    codes = np.asarray(codes, np.int32)
    if order is None:
        order = np.arange(len(codes), dtype=np.int64)
    ends = np.cumsum(np.bincount(codes, minlength=size))
    if len(ends) > size:
        raise ValueError(f"stable_order(size={size}) got the code {len(ends) - 1}.")
    starts = np.concatenate([[0], ends[:-1]]).astype(np.int64)
    return place_stable(codes, starts, order)


def pair_order(first: Any, second: Any, shape: tuple[int, int]) -> np.ndarray:
    """The places of pairs of codes, by the first and then by the second.

    >>> pair_order(np.array([1, 0, 1]), np.array([2, 5, 0]), (2, 6)).tolist()
    [1, 2, 0]
    """
    return stable_order(first, shape[0], stable_order(second, shape[1]))


def highest(values: np.ndarray, n: int) -> np.ndarray:
    """The places of the n highest values, the highest first; ties go to the lowest place.

    >>> highest(np.array([1.0, 3.0, 2.0, 3.0, 1.0]), 4)
    array([1, 3, 2, 0])
    """
    n = min(max(0, n), len(values))
    if n == 0:
        return np.empty(0, np.int64)
    least = np.partition(values, len(values) - n)[len(values) - n]
    candidates = np.flatnonzero(values >= least)
    return candidates[np.argsort(-values[candidates], kind="stable")][:n]


@kernel
def place_stable(codes: Any, starts: Any, order: Any) -> Any:
    out = np.empty(len(order), np.int64)
    for t in order:
        code = codes[t]
        out[starts[code]] = t
        starts[code] += 1
    return out
