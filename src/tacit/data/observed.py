"""Means and variances of columns with missing values (NaN): one pass over the observed ones."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tacit.core.engines import Engine
from tacit.core.errors import DataError
from tacit.core.stats import Stats
from tacit.data.table import Table, parts

__all__ = ["ColumnSums", "Observed", "check_observed", "collect_columns", "observed_columns"]


class Observed(NamedTuple):
    """The observed values of every column."""

    weight: float  # of the rows
    mean: np.ndarray  # (d,)
    variance: np.ndarray  # (d,)
    missing: int  # values


@dataclass(frozen=True)
class ColumnSums(Stats):
    """Sums of the observed values of every column, less a pivot."""

    rows: float
    counts: np.ndarray  # (d,)
    sums: np.ndarray
    squares: np.ndarray
    missing: int


def observed_columns(table: Table, engine: Engine, name: str) -> Observed:
    """Mean and variance of every column; ``name`` is that of the model, for messages.

    Infinite values, and columns without any value, are refused.
    """
    first = np.asarray(parts(table.blocks[0].load()).rows[:1], np.float64)[0]
    pivot = np.where(np.isfinite(first), first, 0.0)
    with np.errstate(over="ignore", invalid="ignore"):
        stats: ColumnSums = engine.reduce(collect_columns, pivot, table)
    check_columns(stats, table, name)
    mean = stats.sums / stats.counts
    variance = np.maximum(stats.squares / stats.counts - mean**2, 0.0)
    return Observed(stats.rows, pivot + mean, variance, stats.missing)


def collect_columns(pivot: np.ndarray, block: Any) -> ColumnSums:
    """Sums of the observed values of every column."""
    rows, _, weights = parts(block)
    rows = np.asarray(rows, np.float64)
    weights = np.ones(len(rows)) if weights is None else weights
    observed = ~np.isnan(rows)
    centered = np.where(observed, rows - pivot, 0.0)
    return ColumnSums(
        float(weights.sum()), weights @ observed, weights @ centered, weights @ centered**2,
        int((~observed).sum()),
    )  # fmt: skip


def check_observed(block: Any, table: Table, name: str) -> None:
    """DataError for the first value of a block that is infinite."""
    rows = parts(block.load()).rows
    if sp.issparse(rows):
        return  # those were checked, because none may be missing
    bad = np.argwhere(np.isinf(rows))
    if len(bad):
        raise DataError(
            f"{name} takes NaN for a missing value, but this is inf. Mark it as NaN, or remove "
            "the row.",
            file=table.source, row=block.start + int(bad[0, 0]), column=int(bad[0, 1]),
        )  # fmt: skip


def check_columns(stats: ColumnSums, table: Table, name: str) -> None:
    """Refuse infinite values and columns without any value."""
    if not np.isfinite(stats.squares).all():
        for block in table:
            check_observed(block, table, name)
        raise ValueError(f"{name}: the squares of the data overflow. Rescale the columns.")
    empty = np.flatnonzero(~(stats.counts > 0))
    if len(empty):
        raise ValueError(f"{name}: column {empty[0]} has no value at all. Remove the column.")
