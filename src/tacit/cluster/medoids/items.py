"""What k-medoids must know of its items, whatever they are.

    Rows      numbers, compared by a named metric or a function; from memory or block by block
    Objects   anything, compared by a function
    Matrix    nothing but the distances

Each can say how far a sample of items lies apart (``among``) and which of some given items is
nearest to each (``nearest``). The distances between all items are a square matrix: where it
would not fit the machine, ``among`` says so before it is made.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tacit.core.engines import Engine, Serial
from tacit.core.memory import check_memory
from tacit.core.stats import tree_sum
from tacit.data.bad_values import check_values
from tacit.data.summary import summarize
from tacit.data.table import Table, parts
from tacit.kernels.distances import Metric, between_objects, between_rows

__all__ = ["Items", "Matrix", "Objects", "Rows"]

STRIPE = 256  # rows of the matrix made at once


class Ask(NamedTuple):
    """What a block of rows is asked."""

    others: Any  # rows
    metric: Metric
    dtype: np.dtype


class Items(ABC):
    """Things that lie some distance apart. Indices are sorted."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def take(self, indices: np.ndarray) -> Any:
        """The items themselves; None where there is nothing to show for them."""

    @abstractmethod
    def among(self, indices: np.ndarray | None = None) -> np.ndarray:
        """The square matrix of distances between these items, or between all."""

    @abstractmethod
    def nearest(self, centers: Any, indices: np.ndarray) -> tuple[np.ndarray, float]:
        """The nearest center of every item, the lowest where they tie, and the sum of the
        distances to them. ``indices`` are those of the centers among the items of the fit."""

    @abstractmethod
    def distances(self, centers: Any, indices: np.ndarray) -> np.ndarray:
        """(n, k) distances to the centers."""


class Rows(Items):
    """Rows of numbers: an array, a CSR matrix or a Table."""

    def __init__(self, table: Table, metric: Metric, engine: Engine, *, name: str) -> None:
        self.table, self.metric, self.name = table, metric, name
        # A Python function holds the GIL: threads would only get in each other's way.
        self.engine = Serial() if callable(metric) else engine
        self.dtype = np.dtype(np.float32 if table.dtype == np.float32 else np.float64)
        if metric in ("euclidean", "sqeuclidean"):
            summarize(table, engine, name=name)  # refuses what would overflow, too
            return
        for block in table:
            check_values(parts(block.load()).rows, name, block.start, table.source)

    def __len__(self) -> int:
        return len(self.table)

    def take(self, indices: np.ndarray) -> Any:
        return self.table.take(indices)

    def among(self, indices: np.ndarray | None = None) -> np.ndarray:
        size = len(self) if indices is None else len(indices)
        check_room(size, self.dtype, self.name)
        rows = self.take(np.arange(len(self)) if indices is None else indices)
        out = np.empty((size, size), self.dtype)
        stripes = Table.from_array(rows, block_rows=STRIPE)
        ask = Ask(rows, self.metric, self.dtype)
        for block, found in zip(
            stripes, self.engine.map(distances_of, ask, stripes), strict=True
        ):
            out[block.start : block.stop] = found
        np.fill_diagonal(out, 0.0)
        return out

    def nearest(self, centers: Any, indices: np.ndarray) -> tuple[np.ndarray, float]:
        ask = Ask(centers, self.metric, np.dtype(np.float64))
        found, losses = zip(*self.engine.map(nearest_of, ask, self.table), strict=True)
        return np.concatenate(found), float(tree_sum(losses))

    def distances(self, centers: Any, indices: np.ndarray) -> np.ndarray:
        ask = Ask(centers, self.metric, self.dtype)
        return np.concatenate(list(self.engine.map(distances_of, ask, self.table)))


class Objects(Items):
    """Anything that a function can compare."""

    def __init__(self, objects: Sequence[Any], metric: Callable, *, name: str) -> None:
        self.objects, self.metric, self.name = list(objects), metric, name

    def __len__(self) -> int:
        return len(self.objects)

    def take(self, indices: np.ndarray) -> Any:
        return [self.objects[i] for i in indices]

    def among(self, indices: np.ndarray | None = None) -> np.ndarray:
        check_room(len(self) if indices is None else len(indices), np.dtype("f8"), self.name)
        chosen = self.objects if indices is None else self.take(indices)
        return between_objects(chosen, chosen, self.metric)

    def nearest(self, centers: Any, indices: np.ndarray) -> tuple[np.ndarray, float]:
        return lowest(self.distances(centers, indices))

    def distances(self, centers: Any, indices: np.ndarray) -> np.ndarray:
        return between_objects(self.objects, centers, self.metric)


class Matrix(Items):
    """Distances and nothing else: one row per item, one column per item of the fit."""

    def __init__(self, distances: np.ndarray, *, square: bool, name: str) -> None:
        self.matrix, self.name = distances, name
        check_matrix(distances, square=square, name=name)

    def __len__(self) -> int:
        return len(self.matrix)

    def take(self, indices: np.ndarray) -> Any:
        return None

    def among(self, indices: np.ndarray | None = None) -> np.ndarray:
        return self.matrix if indices is None else self.matrix[np.ix_(indices, indices)]

    def nearest(self, centers: Any, indices: np.ndarray) -> tuple[np.ndarray, float]:
        return lowest(self.matrix[:, indices])

    def distances(self, centers: Any, indices: np.ndarray) -> np.ndarray:
        return self.matrix[:, indices]


# --- Their parts ---


def distances_of(ask: Ask, block: Any) -> np.ndarray:
    found = between_rows(parts(block).rows, ask.others, ask.metric)
    return found.astype(ask.dtype, copy=False)


def nearest_of(ask: Ask, block: Any) -> tuple[np.ndarray, float]:
    return lowest(distances_of(ask, block))


def lowest(distances: np.ndarray) -> tuple[np.ndarray, float]:
    labels = distances.argmin(axis=1)
    own = np.take_along_axis(distances, labels[:, None], axis=1)
    return labels.astype(np.int32), float(own.sum(dtype=np.float64))


def check_room(n: int, dtype: np.dtype, name: str) -> None:
    check_memory(
        n * n * dtype.itemsize,
        f"{name}(method='fasterpam') of {n:,} items looks at all distances between them, and",
        "Use method='clara', which works on samples, or compress the rows with KMeans first.",
    )


def check_matrix(distances: np.ndarray, *, square: bool, name: str) -> None:
    n, m = distances.shape
    if square and n != m:
        raise ValueError(
            f"{name}(metric='precomputed') needs a square matrix of distances, but X has shape "
            f"{(n, m)}. Give one row and one column per item."
        )
    largest = 0.0
    for first in range(0, n, STRIPE):
        stripe = distances[first : first + STRIPE]
        check_values(stripe, name, first)
        if stripe.min(initial=0.0) < 0:
            i, j = np.argwhere(stripe < 0)[0]
            raise ValueError(
                f"{name}: Negative values in data: the distance in row {first + i}, column {j} "
                f"is {stripe[i, j]}. Distances are zero or more."
            )
        largest = max(largest, float(stripe.max(initial=0.0)))
    for first in range(0, n if square else 0, STRIPE):
        gap = np.abs(distances[first : first + STRIPE] - distances[:, first : first + STRIPE].T)
        if gap.max(initial=0.0) > 1e-6 * largest:
            i, j = np.unravel_index(gap.argmax(), gap.shape)
            raise ValueError(
                f"{name}(metric='precomputed') needs a symmetric matrix, but the distances "
                f"from {first + i} to {j} and back differ by {gap[i, j]:.3g}. Give "
                "(X + X.T) / 2."
            )
