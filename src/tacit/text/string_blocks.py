"""What ``string_distances`` does with one block of rows.

Columns are sorted by length, so distances come out in that order and in the smallest type
that holds them; ``arrange`` puts them where they belong in the answer.
"""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from tacit.core.kernel import kernel
from tacit.text.damerau_lanes import damerau_rows
from tacit.text.edit_costs import OTHER, CostTables, EditCosts
from tacit.text.edit_distance import code_points
from tacit.text.edit_lanes import ANY, Strings, lane_rows
from tacit.text.weighted_lanes import weighted_rows

__all__ = [
    "Numbering",
    "Plan",
    "RowBlock",
    "Square",
    "Stretch",
    "arrange_square",
    "check_fits",
    "cut_rows",
    "distances",
    "make_plan",
    "raw_type",
    "rows_to_block",
    "square_part",
]

BLOCK_CELLS = 2**21  # a block and its copy stay in cache
UNICODE = 0x110000
SCALES = {None: 0, "length": 1, "metric": 2}


# --- Strings as numbers ---


class Numbering:
    """Numbers for the symbols of the columns; 0 for all others, which equal none of them."""

    def __init__(self, columns: Sequence[Any], costs: EditCosts | None) -> None:
        symbols: Iterable[Hashable]
        if set(map(type, columns)) <= {str}:
            seen = np.zeros(UNICODE, np.bool_)
            seen[code_points("".join(columns))] = True
            symbols = map(chr, np.flatnonzero(seen).tolist())
        else:
            symbols = dict.fromkeys(item for each in columns for item in each)
        self.places = {symbol: i for i, symbol in enumerate(symbols, 1)}
        # A symbol of a row may have costs of its own without being in any column.
        for symbol in sorted(costs.named, key=repr) if costs is not None else ():
            self.places.setdefault(symbol, len(self.places) + 1)
        self.kinds = len(self.places) + 1
        self.table = np.zeros(UNICODE, np.int32)
        for symbol, place in self.places.items():
            if isinstance(symbol, str) and len(symbol) == 1:
                self.table[ord(symbol)] = place

    def encode(self, sequences: Sequence[Any]) -> Strings:
        """Sequences as numbers."""
        offsets = np.zeros(len(sequences) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, sequences), np.int64, len(sequences)), out=offsets[1:])
        if set(map(type, sequences)) <= {str}:
            return Strings(self.table[code_points("".join(sequences))], offsets)
        find = self.places.get
        codes = np.fromiter((find(item, 0) for each in sequences for item in each), np.int32)
        return Strings(codes, offsets)

    def costs(self, costs: EditCosts) -> tuple[CostTables, np.ndarray]:
        """The costs of the symbols, and the row that each number has in them."""
        tables, rows = costs.tables(self.places)
        row_of = np.full(self.kinds, OTHER, np.int32)
        for symbol, row in rows.items():
            row_of[self.places[symbol]] = row
        return tables, row_of


# --- What a pass needs ---


class Plan(NamedTuple):
    """What every block of rows is compared with, and how."""

    metric: str
    columns: Strings  # sorted by length
    rank: np.ndarray  # int64, where each column is among them
    kinds: int
    limit: float
    scale: str | None
    tables: CostTables | None
    row_of: np.ndarray  # int32, the row in the tables of every symbol number
    dtype: np.dtype  # of the answer
    out: np.ndarray | None = None  # where blocks are written, if the workers can reach it


class RowBlock(NamedTuple):
    """A stretch of rows. Of a triangle, only the columns from ``start`` on are asked for."""

    start: int
    strings: Strings
    triangle: bool = False

    def load(self) -> "RowBlock":
        return self


def make_plan(
    metric: str,
    columns: Strings,
    numbering: Numbering,
    costs: EditCosts | None,
    limit: float | None,
    scale: str | None,
    dtype: np.dtype,
) -> Plan:
    """Sort the columns and look up the costs."""
    sizes = columns.sizes()
    order = np.argsort(sizes, kind="stable")
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    tables, row_of = (None, np.empty(0, np.int32))
    if costs is not None:
        tables, row_of = numbering.costs(costs)
    most: float = np.inf if costs is not None else ANY
    return Plan(
        metric,
        columns.take(order),
        rank,
        numbering.kinds,
        most if limit is None else limit,
        scale,
        tables,
        row_of,
        dtype,
    )


def cut_rows(strings: Strings, width: int, *, triangle: bool = False) -> Iterator[RowBlock]:
    """Blocks of rows: about two million distances each, and eight blocks or more where that
    is worth calling workers for."""
    short = len(strings.codes) <= 64 * len(strings)
    step = min(rows_to_block(width), max(64 if short else 8, len(strings) // 8))
    for start in range(0, len(strings), step):
        part = strings.part(start, min(start + step, len(strings)))
        yield RowBlock(start, part, triangle)


def rows_to_block(width: int) -> int:
    """From 16 rows to 1,024: about two million distances.

    >>> rows_to_block(100), rows_to_block(10_000), rows_to_block(10**6)
    (1024, 209, 16)
    """
    return max(16, min(1024, BLOCK_CELLS // max(1, width)))


def raw_type(plan: Plan, longest: int) -> np.dtype:
    """The smallest type for distances between strings of up to this size."""
    if plan.tables is not None:
        return np.dtype(np.float64)
    return np.min_scalar_type(int(max(longest, plan.columns.sizes().max(initial=0))))


# --- The work ---


def distances(plan: Plan, block: RowBlock) -> tuple[int, np.ndarray | None]:
    """The number of the first row, and the rows; None where they were written in place."""
    strings, start = block.strings, block.start
    sizes = strings.sizes()
    longest = int(sizes.max(initial=0))
    check_fits(plan, longest)
    raw = raw_distances(plan, block, raw_type(plan, longest))
    if plan.out is None:
        rows = np.empty((len(strings), len(plan.rank)), plan.dtype)
    else:
        rows = plan.out[start : start + len(strings)]
    own = np.arange(len(rows))
    arrange(raw, own, plan.rank, sizes, plan.columns.sizes(), SCALES[plan.scale], rows)
    return start, rows if plan.out is None else None


def check_fits(plan: Plan, longest: int) -> None:
    """Refuse a type that cannot hold the distances of strings of up to this size."""
    most = int(max(longest, plan.columns.sizes().max(initial=0)))
    if plan.dtype.kind in "iu" and most > np.iinfo(plan.dtype).max:
        raise ValueError(
            f"dtype={plan.dtype} holds distances up to {np.iinfo(plan.dtype).max}, but strings "
            f"of {most:,} symbols may be further apart. Give a wider one."
        )


def raw_distances(plan: Plan, block: RowBlock, dtype: np.dtype) -> np.ndarray:
    """(rows, columns), columns sorted by length."""
    strings, columns = block.strings, plan.columns
    since = block.start if block.triangle else 0
    swaps = plan.metric == "optimal_string_alignment"
    out = np.empty((len(strings), len(columns) - since), dtype)
    if plan.tables is not None:
        weighted_rows(
            strings, columns, plan.row_of, plan.tables, out,
            swaps=swaps, limit=float(plan.limit), since=since,
        )  # fmt: skip
    elif plan.metric == "damerau":
        damerau_rows(strings, columns, plan.kinds, out, since=since)
        np.minimum(out, min(int(plan.limit) + 1, np.iinfo(dtype).max), out=out)
    else:
        limit = int(plan.limit)
        lane_rows(strings, columns, plan.kinds, out, swaps=swaps, limit=limit, since=since)
    return out


# --- Strings among themselves: every pair once ---


class Square(NamedTuple):
    """All distances, rows and columns sorted by length, and what is to become of them."""

    raw: np.ndarray  # (n, n)
    sizes: np.ndarray  # of the strings as they were given
    rank: np.ndarray
    scale: str | None
    out: np.ndarray  # (n, n), or condensed


class Stretch(NamedTuple):
    """Rows ``start`` to ``stop`` of the answer."""

    start: int
    stop: int

    def load(self) -> "Stretch":
        return self


def square_part(plan: Plan, block: RowBlock) -> tuple[int, np.ndarray | None]:
    """The rows of a block against themselves and all that are longer; None if in place."""
    part = raw_distances(plan, block, raw_type(plan, 0))
    if plan.out is None:
        return block.start, part
    mirror(part, block.start, plan.out)
    return block.start, None


def arrange_square(square: Square, stretch: Stretch) -> None:
    """Write a stretch of rows of the answer."""
    start, stop = stretch
    sizes, rank, scale = square.sizes, square.rank, SCALES[square.scale]
    if square.out.ndim == 1:
        arrange_pairs(square.raw, rank, sizes, scale, start, stop, square.out)
        return
    sorted_sizes = np.empty_like(sizes)
    sorted_sizes[rank] = sizes
    arrange(
        square.raw, rank[start:stop], rank, sizes[start:stop], sorted_sizes, scale,
        square.out[start:stop],
    )  # fmt: skip


# --- Kernels ---


@kernel
def arrange(raw, own, rank, sizes, column_sizes, scale, out):
    """Distances in the order of the answer, scaled if asked for.

    own            which row of ``raw`` each row of the answer is
    column_sizes   those of the sorted columns
    """
    for i in range(len(out)):
        row, target = raw[own[i]], out[i]
        if scale == 0:
            for j in range(len(rank)):
                target[j] = row[rank[j]]
        else:
            for j in range(len(rank)):
                place = rank[j]
                target[j] = scaled(row[place], sizes[i], column_sizes[place], scale)


@kernel
def arrange_pairs(raw, rank, sizes, scale, start, stop, out):
    """The same for the pairs i < j, one after the other."""
    n = len(rank)
    for i in range(start, stop):
        row, first = raw[rank[i]], i * (2 * n - i - 1) // 2
        target = out[first : first + n - i - 1]
        for j in range(i + 1, n):
            d = row[rank[j]]
            target[j - i - 1] = scaled(d, sizes[i], sizes[j], scale) if scale else d


@kernel
def scaled(d, m, n, scale):
    """As ``edit_distance.scaled``."""
    bottom = np.float64(max(m, n) if scale == 1 else m + n + d)
    top = np.float64(d) if scale == 1 else 2.0 * d
    return top / bottom if bottom > 0 else 0.0


@kernel
def mirror(part, start, square):
    """Write a part (rows from ``start``, columns from ``start``) on both sides of the
    diagonal, in tiles that stay in cache. What is below the diagonal is not looked at."""
    n, m = part.shape
    for i in range(n):
        square[start + i, start + i :] = part[i, i:]
        part[i:n, i] = part[i, i:n]
    for top in range(0, n, 64):
        for left in range(0, m, 64):
            bottom = min(top + 64, n)
            for j in range(left, min(left + 64, m)):
                target = square[start + j, start + top : start + bottom]
                for i in range(bottom - top):
                    target[i] = part[top + i, j]
