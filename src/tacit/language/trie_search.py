"""Finding n-grams in a level of counts by their history and last word."""

import numpy as np

from tacit.core.engines import check_stop
from tacit.core.kernel import kernel

__all__ = ["extend", "find_word", "first_children"]

U = np.uint64
SPAN = 1 << 20


def first_children(histories: np.ndarray, n: int) -> np.ndarray:
    """Where the n-grams of each of ``n`` histories begin, and where the last ones end.

    >>> first_children(np.array([0, 0, 2], np.int32), 3)
    array([0, 2, 2, 3])
    """
    return np.concatenate([[0], np.cumsum(np.bincount(histories, minlength=n))])


def extend(
    places: np.ndarray, ids: np.ndarray, children: np.ndarray, words: np.ndarray
) -> np.ndarray:
    """The n-gram of each history (-1 for none) and word; -1 where it was never seen."""
    out = np.empty(len(ids), np.int32)
    for i in range(0, len(ids), SPAN):
        check_stop()
        part = slice(i, i + SPAN)
        find_children(places[part], ids[part], children, words, out[part])
    return out


@kernel
def find_word(words, low, high, w):
    """The place of a word in a sorted stretch of words, or -1.

    Halves without a branch on the outcome, which could not be guessed; so the searches of
    neighbouring positions overlap in the processor.
    """
    base, n = U(low), U(high - low)
    if n == U(0):
        return -1
    while n > U(1):
        half = n >> U(1)
        base += half * U(words[base + half] <= w)
        n -= half
    return np.int64(base) if words[base] == w else -1


@kernel
def find_children(places, ids, children, words, out):
    for t in range(len(ids)):
        h, w = places[t], ids[t]
        out[t] = -1
        if h < 0:
            continue
        out[t] = find_word(words, children[h], children[h + 1], w)
