"""Products of a few long vectors, computed in stripes of columns.

Models with a vector per column of the data do their own algebra here, between two passes. BLAS
uses one thread, because with several its sums depend on their number; the stripes run in
parallel. They depend on the length of the vectors alone and are summed in a fixed tree: the
same bits on any engine.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from tacit.core.engines import Engine
from tacit.core.stats import tree_sum

__all__ = ["combine", "each_stripe", "inner"]

STRIPE = 8192  # columns


def each_stripe(function: Callable, columns: int, engine: Engine) -> list:
    """``function`` of every stripe, a slice of columns; the results in order."""
    stripes = [slice(i, min(i + STRIPE, columns)) for i in range(0, columns, STRIPE)]
    return list(engine.each(function, stripes))


def inner(pieces: Sequence[np.ndarray], rows: np.ndarray, engine: Engine) -> np.ndarray:
    """Inner products of all rows of the pieces with ``rows``: (m, p).

    Examples
    --------
    >>> from tacit.core.engines import Serial
    >>> inner([np.eye(3)[:1], np.eye(3)[1:]], np.array([[1.0, 2.0, 3.0]]), Serial()).ravel()
    array([1., 2., 3.])
    """

    def product(columns: slice) -> np.ndarray:
        part = rows[:, columns].T
        return np.concatenate([piece[:, columns] @ part for piece in pieces])

    return tree_sum(each_stripe(product, rows.shape[1], engine))


def combine(
    weights: np.ndarray,
    pieces: Sequence[np.ndarray],
    engine: Engine,
    *,
    less_from: np.ndarray | None = None,
) -> np.ndarray:
    """``weights`` (q, m) times the rows of the pieces; or ``less_from`` minus that.

    Examples
    --------
    >>> from tacit.core.engines import Serial
    >>> combine(np.array([[2.0, 3.0]]), [np.eye(2)], Serial())
    array([[2., 3.]])
    """
    edges = np.cumsum([0, *map(len, pieces)])
    parts = [weights[:, i:j] for i, j in pairwise(edges)]
    out = np.empty((len(weights), pieces[0].shape[1]))

    def put(columns: slice) -> None:
        total = np.zeros((len(weights), columns.stop - columns.start))
        for part, piece in zip(parts, pieces, strict=True):
            total += part @ piece[:, columns]
        out[:, columns] = total if less_from is None else less_from[:, columns] - total

    each_stripe(put, out.shape[1], engine)
    return out
