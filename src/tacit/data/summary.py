"""The one summary of checked rows: what a model needs to know of its data before a fit.

One pass validates every value and computes the number of rows, their weight, mean and variance,
the scale at which float32 is safe, and the grids that make sums exact. A value that is not
finite is reported with its row and column.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tacit.core.engines import Engine
from tacit.core.kernel import kernel
from tacit.core.stats import Stats, tree_sum
from tacit.data.bad_values import check_values
from tacit.data.table import Table, parts
from tacit.kernels.exact_sum import grids

__all__ = ["DataSummary", "summarize"]

SMALLEST = 1e-140  # value whose square is not 0
TINIEST = 2.0**-1000  # value whose inverse is finite


class DataSummary(NamedTuple):
    """Facts about the rows that do not change during a fit."""

    rows: int
    weight: float  # sum of the weights
    variance: float  # mean over the columns
    origin: np.ndarray  # (d,) the mean, in the dtype of the rows; zero for sparse rows
    scale: float  # a power of two that brings x - origin below one
    grid: np.ndarray  # (2,) rounding constants of sums of values, see ``kernels.exact_sum``
    weight_grid: np.ndarray  # (2,) and of sums of weights
    whole: bool  # all weights are integers
    dtype: np.dtype  # of the rows


@dataclass(frozen=True)
class Extent(Stats):
    """Sums of values less a pivot: a large offset does not cost the digits of the variance."""

    rows: int
    weight: float
    whole: bool
    largest: float  # max |x|
    sums: np.ndarray  # (d,) of w (x - pivot)
    squares: np.ndarray  # (d,) of w (x - pivot)^2

    def __add__(self, other: "Extent") -> "Extent":
        whole = self.whole and other.whole
        largest = max(self.largest, other.largest)
        return replace(super().__add__(other), whole=whole, largest=largest)


def summarize(
    table: Table, engine: Engine, *, name: str, allow_tiny: bool = False
) -> DataSummary:
    """Summarize a table in one pass.

    Raises an error in the name of the model where a value is not finite or too large to square;
    or where all are too small, unless ``allow_tiny``: the model rescales them.
    """
    blocks = list(table)
    if not blocks:
        raise ValueError(f"{name} needs at least one row, but {table!r} has none.")
    first = parts(blocks[0].load()).rows[:1]
    sparse = sp.issparse(first)
    pivot = np.zeros(table.shape[1]) if sparse else np.asarray(first[0], np.float64)
    pivot = np.where(np.isfinite(pivot), pivot, 0.0)
    extents = []
    for block, extent in zip(blocks, engine.map(collect_extent, pivot, table), strict=True):
        if not np.isfinite(extent.squares).all():
            check_values(parts(block.load()).rows, name, block.start, table.source)
        extents.append(extent)
    extent = tree_sum(extents)
    if 0 < extent.largest < (TINIEST if allow_tiny else SMALLEST):
        raise ValueError(
            f"{name}: the largest value of the data is {extent.largest:.3g}, so that squared "
            "distances are 0. Rescale it, for example divide by that number."
        )
    return summary_from(extent, pivot, sparse, first.dtype, name)


def collect_extent(pivot: np.ndarray, block: Any) -> Extent:
    rows, _, weights = parts(block)
    weights = np.empty(0) if weights is None else weights
    weight = float(weights.sum()) if len(weights) else float(rows.shape[0])
    whole = bool((weights == np.floor(weights)).all())
    if sp.issparse(rows):
        largest, sums, squares = sum_sparse(
            rows.data, rows.indices, rows.indptr, weights, rows.shape[1]
        )
    else:
        sizes, sums, squares = sum_dense(rows, pivot, weights)
        largest = float(sizes.max())
    return Extent(rows.shape[0], weight, whole, largest, sums, squares)


def summary_from(
    extent: Extent, pivot: np.ndarray, sparse: bool, dtype: np.dtype, name: str
) -> DataSummary:
    d = len(pivot)
    most = max(extent.rows, extent.weight)
    if extent.largest > 0 and 2 * math.log10(extent.largest) + math.log10(most * d) > 300:
        raise ValueError(
            f"{name}: the data holds values as large as {extent.largest:.3g}, whose squared "
            "distances overflow. Rescale it, for example divide by that number."
        )
    if not extent.weight > 0:
        raise ValueError(
            f"{name}: the sample weights add up to {extent.weight}. Give some above 0."
        )
    mean = extent.sums / extent.weight
    variance = float(np.maximum(extent.squares / extent.weight - mean**2, 0.0).mean())
    origin = np.zeros(d) if sparse else (pivot + mean).astype(dtype).astype(np.float64)
    size = extent.largest + float(np.abs(origin).max(initial=0.0))
    scale = 2.0 ** -math.frexp(size)[1] if size > 0 else 1.0
    total = most * extent.largest
    return DataSummary(
        extent.rows, extent.weight, variance, origin, scale, grids(total, most),
        grids(most, most), extent.whole, dtype,
    )  # fmt: skip


@kernel
def sum_dense(X: Any, pivot: Any, weights: Any) -> Any:
    n, d = X.shape
    largest, sums, squares = np.zeros(d), np.zeros(d), np.zeros(d)
    for i in range(n):
        row = X[i]
        w = weights[i] if weights.shape[0] else 1.0
        for j in range(d):
            x = np.float64(row[j])
            size = abs(x)
            largest[j] = size if size > largest[j] else largest[j]
            z = x - pivot[j]
            sums[j] += w * z
            squares[j] += w * z * z
    return largest, sums, squares


@kernel
def sum_sparse(data: Any, indices: Any, indptr: Any, weights: Any, d: int) -> Any:
    largest, sums, squares = 0.0, np.zeros(d), np.zeros(d)
    for i in range(indptr.shape[0] - 1):
        w = weights[i] if weights.shape[0] else 1.0
        for t in range(indptr[i], indptr[i + 1]):
            x = np.float64(data[t])
            largest = max(largest, abs(x))
            sums[indices[t]] += w * x
            squares[indices[t]] += w * x * x
    return largest, sums, squares
