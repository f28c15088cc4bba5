"""Edit distances with a cost for every edit, and the edits themselves.

``EditCosts`` is one number for all symbols, or tables for some of them. A symbol is a
character, or an item of the sequences that are compared. Tables hold the symbols that occur in
the data and that the costs name; all others have two rows together:

    0   before the first symbol, for an insertion or deletion that depends on the one before
    1   any symbol that the costs do not name

Distances come from the table of distances, row by row: rows are the source, columns the target,
and three rows are enough, as a transposition reaches two rows back. For the edits themselves,
one byte per cell says which edit leads there. Matrices fill the table for a group of patterns
at once, a pattern to a SIMD lane, with the same sums cell for cell.

Wagner and Fischer (1974), The string-to-string correction problem. J. ACM 21.
Lowrance and Wagner (1975), An extension of the string-to-string correction problem. J. ACM 22.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tacit.core.engines import check_stop
from tacit.core.kernel import kernel
from tacit.kernels.call_ranges import call_ranges
from tacit.text.edit_kernels import CALL_WORK, EncodedStrings

__all__ = [
    "ACTIONS", "DELETE", "INSERT", "OTHER", "START", "SUBSTITUTE", "TRANSPOSE",
    "CodedPair", "CostTables", "EditCosts", "find_edits", "uniform_tables",
    "weighted_distance", "weighted_rows",
]  # fmt: skip

MOST_NAMED = 2_000  # symbols with rows in the tables, four of 32 MB
START, OTHER = 0, 1
ACTIONS = ("delete", "insert", "substitute", "transpose", "keep")
DELETE, INSERT, SUBSTITUTE, TRANSPOSE, KEEP = range(5)  # the first four as in ``CostTables``
MOST_CELLS = 2**31  # bytes of edits
LANES = 32
GROUP_CALL = 2**21  # cells of a group in one call: about 100 ms
GROUP_MOST = 2**24  # cells of one text in a group; longer texts are compared pair by pair
MOST_COSTS = 2**23  # looked up beforehand
Table = float | Mapping[Any, float] | Any


class CostTables(NamedTuple):
    """Costs by row numbers of symbols, (k, k) float64 each."""

    delete: np.ndarray  # [symbol before it, symbol]
    insert: np.ndarray  # [symbol of the source before it, symbol]
    substitute: np.ndarray  # [old, new]; equal symbols cost nothing and are not looked up
    transpose: np.ndarray  # [first, second], which become second, first


@dataclass(frozen=True, eq=False)
class EditCosts:
    """Costs of substituting, inserting, deleting and transposing symbols.

    Each of the four is a number for all symbols, a mapping, or an array over ``alphabet``.

    Parameters
    ----------
    insert, delete : number, mapping or array
        Keys are symbols, ``{"e": 0.4}``, or pairs ``{("l", "l"): 0.2}`` for a symbol inserted
        or deleted after another one of the source; ``""`` as the first of a pair stands for
        the start. A pair takes precedence over a symbol. Arrays have shape (s,) or (s, s).
    substitute : number, mapping or array
        Keys are pairs ``{("a", "e"): 0.5}``, the old symbol first. Give both directions
        where costs are to be symmetric.
    transpose : number, mapping or array
        Keys are pairs of neighbors, in the order of the source.
    alphabet : str or sequence
        The symbols that arrays stand for, in order.
    other : number
        The cost of what a mapping or an array does not name.

    Examples
    --------
    >>> from tacit.text.edit_distance import levenshtein
    >>> vowels = EditCosts(substitute={("a", "e"): 0.25, ("e", "a"): 0.25})
    >>> levenshtein("gray", "grey", costs=vowels)
    0.25
    >>> levenshtein("gray", "gruy", costs=vowels)
    1.0
    """

    insert: Table = 1.0
    delete: Table = 1.0
    substitute: Table = 1.0
    transpose: Table = 1.0
    alphabet: Sequence[Hashable] = ""
    other: float = 1.0

    def __post_init__(self) -> None:
        if len(set(self.alphabet)) != len(self.alphabet):
            raise ValueError(f"EditCosts(alphabet={self.alphabet!r}) repeats a symbol.")
        self._check("other", self.other)
        for name in ("insert", "delete", "substitute", "transpose"):
            self._check_table(name, getattr(self, name))

    def _check_table(self, name: str, table: Any) -> None:
        single = name in ("insert", "delete")
        if isinstance(table, Mapping):
            for key, cost in table.items():
                self._check(f"{name}[{key!r}]", cost)
                pair = isinstance(key, tuple) and len(key) == 2
                if not pair and not single:
                    raise ValueError(
                        f"EditCosts({name}=...) has the key {key!r}, but keys must be pairs of "
                        "symbols such as ('a', 'e')."
                    )
                if name == "substitute" and key[0] == key[1] and cost != 0:
                    raise ValueError(
                        f"EditCosts(substitute=...) gives {key!r} a cost of {cost}, but equal "
                        "symbols cost nothing. Leave it out."
                    )
        elif np.ndim(table) == 0:
            self._check(name, table)
        else:
            self._check_array(name, np.asarray(table, np.float64), single)

    def _check_array(self, name: str, array: np.ndarray, single: bool) -> None:
        s = len(self.alphabet)
        if array.shape != (s, s) and not (single and array.shape == (s,)):
            wanted = f"({s}, {s})" + (f" or ({s},)" if single else "")
            raise ValueError(
                f"EditCosts({name}=...) has shape {array.shape}, but must have {wanted}: one "
                "row for each symbol of the alphabet."
            )
        if not (np.isfinite(array) & (array >= 0)).all():
            at = tuple(int(i) for i in np.argwhere(~(np.isfinite(array) & (array >= 0)))[0])
            self._check(f"{name}[{', '.join(map(str, at))}]", float(array[at]))
        if name == "substitute" and np.diag(array).any():
            i = int(np.flatnonzero(np.diag(array))[0])
            raise ValueError(
                f"EditCosts(substitute=...) gives {self.alphabet[i]!r} for itself a cost of "
                f"{array[i, i]}, but equal symbols cost nothing. Set the diagonal to 0."
            )

    @staticmethod
    def _check(name: str, cost: Any) -> None:
        number = isinstance(cost, int | float | np.number) and not isinstance(cost, bool)
        if not (number and np.isfinite(cost) and cost >= 0):
            raise ValueError(
                f"EditCosts({name}={cost!r}) must be a finite number of at least 0."
            )

    # --- Tables ---

    @property
    def named(self) -> set[Hashable]:
        """The symbols that a table names."""
        names: set[Hashable] = set(self.alphabet)
        for name in ("insert", "delete", "substitute", "transpose"):
            table = getattr(self, name)
            if isinstance(table, Mapping):
                for key in table:
                    names.update(key if isinstance(key, tuple) and len(key) == 2 else (key,))
        return names

    def has_pairs(self, name: str) -> bool:
        """Whether the cost to insert or delete depends on the symbol before."""
        table = getattr(self, name)
        if isinstance(table, Mapping):
            return any(isinstance(key, tuple) and len(key) == 2 for key in table)
        return np.ndim(table) == 2

    def tables(self, symbols: Iterable[Hashable]) -> tuple[CostTables, dict[Hashable, int]]:
        """Tables for these symbols, and the row of each symbol that has one."""
        named = self.named
        rows: dict[Hashable, int] = {}
        for symbol in symbols:
            if symbol in named:
                rows.setdefault(symbol, OTHER + 1 + len(rows))
        if len(rows) > MOST_NAMED:
            raise ValueError(
                f"EditCosts names {len(rows):,} of the symbols in the data, but at most "
                f"{MOST_NAMED:,} can have costs of their own. Leave out those that cost "
                f"the same as others (other={self.other})."
            )
        size = OTHER + 1 + len(rows)
        filled = (
            self._fill(getattr(self, name), size, rows, single=name in ("insert", "delete"))
            for name in CostTables._fields
        )
        return CostTables(*filled), rows

    def _fill(
        self, table: Any, size: int, rows: Mapping[Hashable, int], *, single: bool
    ) -> np.ndarray:
        if not isinstance(table, Mapping) and np.ndim(table) == 0:
            return np.full((size, size), float(table))
        out = np.full((size, size), float(self.other))
        if isinstance(table, Mapping):
            pairs = {k: v for k, v in table.items() if isinstance(k, tuple) and len(k) == 2}
            for key, cost in table.items():
                if key not in pairs and key in rows:
                    out[:, rows[key]] = cost
            for (a, b), cost in pairs.items():
                first = START if single and a == "" else rows.get(a)
                if first is not None and b in rows:
                    out[first, rows[b]] = cost
            return out
        array = np.asarray(table, np.float64)
        here = [(i, rows[symbol]) for i, symbol in enumerate(self.alphabet) if symbol in rows]
        if here:
            where, row = (np.array(part) for part in zip(*here, strict=True))
            if array.ndim == 1:
                out[:, row] = array[where]
            else:
                out[np.ix_(row, row)] = array[np.ix_(where, where)]
        return out


def uniform_tables() -> CostTables:
    """A cost of one for every edit."""
    ones = np.ones((2, 2))
    return CostTables(ones, ones, ones, ones)


# --- One pair ---


class CodedPair(NamedTuple):
    """Two sequences as symbol numbers, and the row of each symbol in the cost tables. int32."""

    source: np.ndarray
    source_rows: np.ndarray
    target: np.ndarray
    target_rows: np.ndarray


def weighted_distance(
    pair: CodedPair, tables: CostTables, *, transpose: bool = False, limit: float = np.inf
) -> float:
    """The cost of the cheapest edits; infinite where it is known to exceed ``limit``."""
    return fill_calls(pair, tables, transpose, limit, None)


def find_edits(
    pair: CodedPair, tables: CostTables, *, transpose: bool
) -> tuple[float, np.ndarray]:
    """The distance, and the cheapest edits as places in ``ACTIONS``.

    Of equally cheap ones, from the end: keep or substitute, transpose, delete, insert, in this
    order of preference.
    """
    n, m = len(pair.source), len(pair.target)
    if (n + 1) * (m + 1) > MOST_CELLS:
        raise ValueError(
            f"alignment of sequences of {n:,} and {m:,} symbols needs "
            f"{(n + 1) * (m + 1) / 2**30:,.1f} GiB for the edits, but {MOST_CELLS / 2**30:.0f} "
            "is the most. Cut them into parts; the distance alone needs no such table."
        )
    edits = np.empty((n + 1, m + 1), np.uint8)
    return fill_calls(pair, tables, transpose, np.inf, edits), trace_back(edits)


def fill_calls(
    pair: CodedPair, tables: CostTables, transpose: bool, limit: float, edits: np.ndarray | None
) -> float:
    """Fill the table by calls short enough to stop between."""
    n, m = len(pair.source), len(pair.target)
    rows = np.empty((3, m + 1))
    step = max(1, CALL_WORK // (m + 1))
    for first in range(0, n + 1, step):
        check_stop()
        if fill_table(pair, tables, transpose, limit, first, first + step, rows, edits):
            return float("inf")
    return float(rows[n % 3, m])


# --- Many patterns ---


def weighted_rows(
    texts: EncodedStrings,
    patterns: EncodedStrings,
    row_of: np.ndarray,
    tables: CostTables,
    out: np.ndarray,
    *,
    transpose: bool,
    limit: float,
    start: int = 0,
) -> None:
    """out[i, j - start]: the cost from text i to pattern j, for every j from ``start``.

    Patterns are sorted by length; ``row_of`` gives every symbol's row in the tables. Where a
    cost is more than ``limit``, ``limit`` + 1.
    """
    sizes, heights = patterns.sizes(), texts.sizes()
    used = np.unique(row_of[texts.codes])
    index_of = np.zeros(len(tables.delete), np.int64)
    index_of[used] = np.arange(len(used))
    symbols = SymbolRows(row_of, used, index_of)
    for first in range(start, len(sizes), LANES):
        last = min(first + LANES, len(sizes))
        width = int(sizes[last - 1])
        work = heights * (width + 1)
        slow = work > GROUP_MOST
        if len(used) * width * 2 * LANES > MOST_COSTS:
            slow[:] = True
        if not slow.all():
            group = WeightedGroup(
                sizes[first:last],
                np.zeros((width + 2, 3 * LANES)),
                np.empty((width, LANES)),
                np.zeros((len(used), width, 2 * LANES)),
                np.empty(2 * LANES),
            )
            place_group(patterns, first, last, symbols, tables, group)
            for top, bottom in call_ranges(np.where(slow, 1, work), GROUP_CALL, GROUP_MOST):
                check_stop()
                fill_group(
                    texts, top, bottom, slow, symbols, tables, transpose, limit, group,
                    out[:, first - start :],
                )  # fmt: skip
        for i in np.flatnonzero(slow).tolist():
            for j in range(first, last):
                source, target = texts.item(i), patterns.item(j)
                pair = CodedPair(source, row_of[source], target, row_of[target])
                cost = weighted_distance(pair, tables, transpose=transpose, limit=limit)
                out[i, j - start] = min(cost, limit + 1)


# --- Kernels: one pair ---


@kernel
def fill_table(pair, tables, transpose, limit, start, stop, rows, edits):
    """Rows ``start`` to ``stop``; True as soon as two rows in turn exceed the limit.

    ``edits`` takes the edit into every cell, or is None.
    """
    source, source_rows, target, target_rows = pair
    m, least = len(target), 0.0
    for i in range(start, min(stop, len(source) + 1)):
        row, above, higher = rows[i % 3], rows[(i + 2) % 3], rows[(i + 1) % 3]
        if i == 0:
            row[0] = 0.0
            for j in range(m):
                row[j + 1] = row[j] + tables.insert[START, target_rows[j]]
                if edits is not None:
                    edits[i, j + 1] = INSERT
            continue
        symbol, this = source[i - 1], source_rows[i - 1]
        before = source_rows[i - 2] if i > 1 else START
        delete = tables.delete[before, this]
        insert, substitute = tables.insert[this], tables.substitute[this]
        row[0] = above[0] + delete
        if edits is not None:
            edits[i, 0] = DELETE
        least_above, least = least, row[0]
        for j in range(m):
            other = target_rows[j]
            best, edit = above[j], KEEP
            if target[j] != symbol:
                best, edit = above[j] + substitute[other], SUBSTITUTE
            swapped = transpose and i > 1 and j > 0
            if swapped and target[j] == source[i - 2] and target[j - 1] == symbol:
                cost = higher[j - 1] + tables.transpose[before, this]
                if cost < best:
                    best, edit = cost, TRANSPOSE
            if above[j + 1] + delete < best:
                best, edit = above[j + 1] + delete, DELETE
            if row[j] + insert[other] < best:
                best, edit = row[j] + insert[other], INSERT
            row[j + 1] = best
            least = min(least, best)
            if edits is not None:
                edits[i, j + 1] = edit
        # A transposition skips one row, so one row above the limit is not enough.
        if least > limit and (least_above > limit or not transpose):
            return True
    return False


@kernel
def trace_back(edits):
    """The edits from the first cell to the last."""
    i, j = edits.shape[0] - 1, edits.shape[1] - 1
    out = np.empty(i + j, np.uint8)
    at = len(out)
    while i > 0 or j > 0:
        at -= 1
        edit = edits[i, j]
        out[at] = edit
        if edit == TRANSPOSE:
            i, j = i - 2, j - 2
        else:
            i -= edit != INSERT
            j -= edit != DELETE
    return out[at:].copy()


# --- Kernels: many patterns ---
#
# A row of the table is a text's symbol, a column the symbols that the patterns have at one
# place. A column holds three numbers to a lane, one after the other:
#
#     0   the distance in the row above, and once it is computed, in this row
#     1   the distance in the row before that
#     2   the pattern's symbol


class SymbolRows(NamedTuple):
    """Where symbols are in the cost tables."""

    row_of: np.ndarray  # the row of every symbol number
    used: np.ndarray  # the rows of the texts' symbols
    index_of: np.ndarray  # the index of every row among those used


class WeightedGroup(NamedTuple):
    """The patterns of a group, their costs and their table."""

    sizes: np.ndarray  # (lanes used,)
    columns: np.ndarray  # (width + 2, 3 * lanes)
    edge: np.ndarray  # (width, lanes) insertions before a text's first symbol
    costs: np.ndarray  # (used, width, 2 * lanes) substitutions, then insertions
    carry: np.ndarray  # (2 * lanes,)


@kernel
def place_group(patterns, first, last, symbols, tables, group):
    """Write the symbols of a group and what they cost."""
    row_of, used, _ = symbols
    group.columns[:, 2 * LANES :] = -1.0  # after a pattern's end: equals no symbol
    group.edge[:, :] = 0.0
    for lane in range(last - first):
        begin = patterns.offsets[first + lane]
        for j in range(patterns.offsets[first + lane + 1] - begin):
            symbol = patterns.codes[begin + j]
            group.columns[j + 2, 2 * LANES + lane] = symbol
            group.edge[j, lane] = tables.insert[0, row_of[symbol]]
            for u in range(len(used)):
                group.costs[u, j, lane] = tables.substitute[used[u], row_of[symbol]]
                group.costs[u, j, LANES + lane] = tables.insert[used[u], row_of[symbol]]


@kernel
def fill_group(texts, top, bottom, skip, symbols, tables, transpose, limit, group, out):
    """Texts ``top`` to ``bottom`` against all patterns of the group.

    Two columns stand before the first: one that is not used, and the table's edge.
    """
    sizes, columns, edge, costs, carry = group
    flat, width = columns.reshape(-1), len(columns) - 2
    for i in range(top, bottom):
        if skip[i]:
            continue
        columns[1, :LANES] = 0.0
        for j in range(width):
            before, column, cost = columns[j + 1], columns[j + 2], edge[j]
            for x in range(LANES):
                column[x] = before[x] + cost[x]
        earlier, row_before = -2.0, 0
        for t in range(texts.offsets[i], texts.offsets[i + 1]):
            code = texts.codes[t]
            symbol, row = np.float64(code), symbols.row_of[code]
            delete, swap = tables.delete[row_before, row], tables.transpose[row_before, row]
            border = columns[1]
            for x in range(LANES):
                carry[x] = border[LANES + x]
                border[LANES + x] = border[x]
                border[x] += delete
            line = costs[symbols.index_of[row]]
            for j in range(width):
                near = flat[j * 3 * LANES : (j + 3) * 3 * LANES]
                if transpose:
                    fill_cell(near, line[j], carry, symbol, earlier, delete, swap)
                else:
                    fill_cell(near, line[j], None, symbol, earlier, delete, swap)
            earlier, row_before = symbol, row
        target = out[i]
        for x in range(len(sizes)):
            cost = columns[sizes[x] + 1, x]
            target[x] = cost if cost <= limit else limit + 1


# The places of the lanes are known when compiling, so that LLVM need not check what overlaps.
@kernel
def fill_cell(near, costs, carry, symbol, earlier, delete, swap):
    """One cell in every lane. ``near`` is this column and the two before it.

    ``carry`` is the distance two rows up, one column to the left and, behind it, two columns;
    None without transpositions.
    """
    for x in range(LANES):
        up, left, corner = near[6 * LANES + x], near[3 * LANES + x], near[4 * LANES + x]
        # Loads first: LLVM moves none out of a branch.
        turn, add = costs[x], costs[LANES + x]
        change = corner + (0.0 if near[8 * LANES + x] == symbol else turn)
        best = min(up + delete, left + add)
        best = change if change < best else best
        if carry is not None:
            other, before = near[8 * LANES + x], near[5 * LANES + x]
            swapped = carry[LANES + x] + swap
            can = (other == earlier) & (before == symbol) & (swapped < best)
            best = swapped if can else best
            carry[LANES + x] = carry[x]
            carry[x] = near[7 * LANES + x]
        near[7 * LANES + x] = up
        near[6 * LANES + x] = best
