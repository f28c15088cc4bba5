"""Weighted edit distance between texts and many patterns, a pattern to a SIMD lane.

The table of distances is filled in as by ``edit_tables``, cell for cell with the same sums, but
for a group of patterns at once. A row of the table is a text's symbol, a column the symbols
that the patterns have at one place. A column holds three numbers to a lane, side by side:

    0   the distance in the row above, and once it is worked out, in this row
    1   the distance in the row before that
    2   the pattern's symbol

Costs are looked up beforehand, for each row of the cost tables that a text needs: what it costs
to substitute, and to insert, the symbols of a column.
"""

import numpy as np

from tacit.core.engines import check_stop
from tacit.core.kernel import kernel
from tacit.text.edit_costs import CostTables
from tacit.text.edit_lanes import Strings, calls
from tacit.text.edit_tables import weighted_distance

__all__ = ["weighted_rows"]

LANES = 32
CALL_CELLS = 2**21  # cells of a group in one call: about 100 ms
MOST_CELLS = 2**24  # of one text: longer ones go pair by pair
MOST_PRICES = 2**23  # numbers looked up beforehand


def weighted_rows(
    texts: Strings,
    patterns: Strings,
    row_of: np.ndarray,
    tables: CostTables,
    out: np.ndarray,
    *,
    swaps: bool,
    limit: float,
    since: int = 0,
) -> None:
    """out[i, j - since]: the cost from text i to pattern j, for every j from ``since``.

    Patterns are sorted by length; ``row_of`` gives every symbol's row in the tables. Where a
    cost is more than ``limit``, ``limit`` + 1.
    """
    sizes, heights = patterns.sizes(), texts.sizes()
    used = np.unique(row_of[texts.codes])
    place_of = np.zeros(len(tables.delete), np.int64)
    place_of[used] = np.arange(len(used))
    for first in range(since, len(sizes), LANES):
        last = min(first + LANES, len(sizes))
        width = int(sizes[last - 1])
        work = heights * (width + 1)
        slow = work > MOST_CELLS
        if len(used) * width * 2 * LANES > MOST_PRICES:
            slow[:] = True
        if not slow.all():
            columns, edge = np.zeros((width + 2, 3 * LANES)), np.empty((width, LANES))
            prices = np.zeros((len(used), width, 2 * LANES))
            place_group(*patterns, first, last, row_of, tables, used, columns, edge, prices)
            carried = np.empty(2 * LANES)
            for top, bottom in calls(np.where(slow, 1, work), CALL_CELLS, MOST_CELLS):
                check_stop()
                fill_group(
                    *texts, top, bottom, slow, sizes[first:last], row_of, place_of, tables,
                    swaps, limit, columns, edge, prices, carried, out[:, first - since :],
                )  # fmt: skip
        for i in np.flatnonzero(slow).tolist():
            for j in range(first, last):
                pair = texts.item(i), patterns.item(j)
                found = weighted_distance(*pair, row_of, tables, swaps=swaps, limit=limit)
                out[i, j - since] = min(found, limit + 1)


# --- Kernels ---


@kernel
def place_group(patterns, offsets, first, last, row_of, tables, used, columns, edge, prices):
    """Write down the symbols of a group and what they cost."""
    columns[:, 2 * LANES :] = -1.0  # after a pattern's end: equals no symbol
    edge[:, :] = 0.0
    for lane in range(last - first):
        begin = offsets[first + lane]
        for j in range(offsets[first + lane + 1] - begin):
            symbol = patterns[begin + j]
            columns[j + 2, 2 * LANES + lane] = symbol
            edge[j, lane] = tables.insert[0, row_of[symbol]]
            for u in range(len(used)):
                prices[u, j, lane] = tables.substitute[used[u], row_of[symbol]]
                prices[u, j, LANES + lane] = tables.insert[used[u], row_of[symbol]]


@kernel
def fill_group(
    texts, offsets, top, bottom, skip, sizes, row_of, place_of, tables, swaps, limit,
    columns, edge, prices, carried, out,
):  # fmt: skip
    """Texts ``top`` to ``bottom`` against all patterns of the group.

    Two columns stand before the first: one that is not used, and the table's edge.
    """
    flat, width = columns.reshape(-1), len(columns) - 2
    for i in range(top, bottom):
        if skip[i]:
            continue
        columns[1, :LANES] = 0.0
        for j in range(width):
            before, column, price = columns[j + 1], columns[j + 2], edge[j]
            for x in range(LANES):
                column[x] = before[x] + price[x]
        earlier, row_before = -2.0, 0
        for t in range(offsets[i], offsets[i + 1]):
            symbol, row = np.float64(texts[t]), row_of[texts[t]]
            drop, swap = tables.delete[row_before, row], tables.transpose[row_before, row]
            border = columns[1]
            for x in range(LANES):
                carried[x] = border[LANES + x]
                border[LANES + x] = border[x]
                border[x] += drop
            line = prices[place_of[row]]
            for j in range(width):
                near = flat[j * 3 * LANES : (j + 3) * 3 * LANES]
                if swaps:
                    fill_cell_swapping(near, line[j], carried, symbol, earlier, drop, swap)
                else:
                    fill_cell(near, line[j], symbol, drop)
            earlier, row_before = symbol, row
        target = out[i]
        for x in range(len(sizes)):
            found = columns[sizes[x] + 1, x]
            target[x] = found if found <= limit else limit + 1


# The lanes' places are known when compiling, so that LLVM need not ask what overlaps.


@kernel
def fill_cell(near, price, symbol, drop):
    """One cell in every lane. ``near`` is this column and the two before it."""
    for x in range(LANES):
        up, left, corner = near[6 * LANES + x], near[3 * LANES + x], near[4 * LANES + x]
        turn, add = price[x], price[LANES + x]  # loads first: LLVM moves none out of a branch
        change = corner + (0.0 if near[8 * LANES + x] == symbol else turn)
        best = min(up + drop, left + add)
        near[7 * LANES + x] = up
        near[6 * LANES + x] = change if change < best else best


@kernel
def fill_cell_swapping(near, price, carried, symbol, earlier, drop, swap):
    """The same with swaps. ``carried`` is the distance two rows up, one column to the left
    and, behind it, two columns."""
    for x in range(LANES):
        up, left, corner = near[6 * LANES + x], near[3 * LANES + x], near[4 * LANES + x]
        other, before = near[8 * LANES + x], near[5 * LANES + x]
        turn, add, turned = price[x], price[LANES + x], carried[LANES + x] + swap
        change = corner + (0.0 if other == symbol else turn)
        best = min(up + drop, left + add)
        best = change if change < best else best
        can = (other == earlier) & (before == symbol) & (turned < best)
        best = turned if can else best
        carried[LANES + x] = carried[x]
        carried[x] = near[7 * LANES + x]
        near[7 * LANES + x] = up
        near[6 * LANES + x] = best
