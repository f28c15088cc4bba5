"""Products of a few long rows, cut into stripes of columns that depend on the length alone.

Models with a vector per column of the data do their own algebra here, between two passes.
BLAS keeps to one thread, because with several its sums depend on their number; the stripes
are the parallelism, and they add up in a fixed tree: the same bits on any machine of a kind.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from tacit.core.engines import Engine, RunningThreads, Serial, Threads
from tacit.core.stats import tree_sum

__all__ = ["combine", "fill", "inner", "nearby"]

STRIPE = 8192  # columns


class Stripe(NamedTuple):
    """Some columns; what a block is to a table."""

    start: int
    stop: int

    def load(self) -> slice:
        return slice(self.start, self.stop)


def cut(columns: int) -> list[Stripe]:
    return [Stripe(i, min(i + STRIPE, columns)) for i in range(0, columns, STRIPE)]


def nearby(engine: Engine) -> Engine:
    """The engine itself if it works in this process, else threads: long rows stay at home."""
    here = isinstance(engine, Serial | Threads | RunningThreads)
    return engine if here else Threads()


def inner(pieces: Sequence[np.ndarray], rows: np.ndarray, engine: Engine) -> np.ndarray:
    """Every row of the pieces times every one of ``rows``: (m, p).

    Examples
    --------
    >>> inner([np.eye(3)[:1], np.eye(3)[1:]], np.array([[1.0, 2.0, 3.0]]), Serial()).ravel()
    array([1., 2., 3.])
    """

    def product(_: Any, columns: slice) -> np.ndarray:
        part = rows[:, columns].T
        return np.concatenate([piece[:, columns] @ part for piece in pieces])

    return tree_sum(engine.map(product, None, cut(rows.shape[1])))


def combine(
    weights: np.ndarray,
    pieces: Sequence[np.ndarray],
    engine: Engine,
    *,
    less_from: np.ndarray | None = None,
) -> np.ndarray:
    """``weights`` (q, m) times the rows of the pieces; or what is left of ``less_from``.

    Examples
    --------
    >>> combine(np.array([[2.0, 3.0]]), [np.eye(2)], Serial())
    array([[2., 3.]])
    """
    edges = np.cumsum([0, *map(len, pieces)])
    shares = [weights[:, i:j] for i, j in pairwise(edges)]

    def put(out: np.ndarray, columns: slice) -> None:
        total = np.zeros((len(weights), columns.stop - columns.start))
        for share, piece in zip(shares, pieces, strict=True):
            total += share @ piece[:, columns]
        out[:, columns] = total if less_from is None else less_from[:, columns] - total

    return fill(put, (len(weights), pieces[0].shape[1]), engine)


def fill(put: Callable, shape: tuple[int, int], engine: Engine) -> np.ndarray:
    """An array of long rows, written by ``put(out, columns)`` a stripe at a time."""
    out = np.empty(shape)
    for _ in engine.map(put, out, cut(shape[1])):
        pass
    return out
