"""Unrestricted Damerau distance between texts and many patterns, a pattern to a SIMD lane.

The table of distances is filled in as in ``edit_tables``, but for a group of patterns at once,
in integers of 8 bits where strings are short, else of 16. A row of the table is a text's
symbol, a column the symbols that the patterns of the group have at one place. A column holds
four values to a lane, side by side:

    0   the distance in the row above, and once it is worked out, in this row
    1   the distance in the row before that
    2   what a swap that ends in this column starts from, less the row it starts in
    3   the pattern's symbol

Zhao and Sahni (2019), String correction using the Damerau-Levenshtein distance. BMC
Bioinformatics 20.
"""

from typing import Any

import numpy as np

from tacit.core.engines import check_stop
from tacit.core.kernel import kernel
from tacit.text.edit_lanes import Strings, calls
from tacit.text.edit_tables import damerau_distance

__all__ = ["damerau_rows"]

LANES = 64
CALL_CELLS = 2**22  # cells of a group in one call: about 100 ms
LONGEST: dict[Any, int] = {np.int8: 60, np.int16: 16_000}  # twice as much must still fit
FEW = 6  # long patterns that are quicker one by one


def damerau_rows(
    texts: Strings, patterns: Strings, kinds: int, out: np.ndarray, *, since: int = 0
) -> None:
    """out[i, j - since]: edits between text i and pattern j, for every j from ``since``.

    Patterns are sorted by length; symbols are numbers below ``kinds``.
    """
    sizes, heights = patterns.sizes(), texts.sizes()
    numbers = np.zeros(kinds, np.int32)
    for first in range(since, len(sizes), LANES):
        last = min(first + LANES, len(sizes))
        width = int(sizes[last - 1])
        used = number_group(*patterns, first, last, numbers)
        dtype, slow = choose_type(width, heights, used)
        if last - first < FEW and width > LONGEST[np.int8]:
            dtype, slow = None, np.ones(len(heights), np.bool_)
        if dtype is not None:
            columns: np.ndarray = np.empty((width + 2, 4 * LANES), dtype)
            carried: np.ndarray = np.empty(3 * LANES, dtype)
            place_symbols(*patterns, first, last, numbers, columns)
            work = np.where(slow, 1, heights * (width + 1))
            for top, bottom in calls(work, CALL_CELLS, CALL_CELLS):
                check_stop()
                fill_group(
                    *texts, top, bottom, slow, sizes[first:last], numbers, LONGEST[dtype] + 1,
                    columns, carried, out[:, first - since :],
                )  # fmt: skip
        numbers[patterns.codes[patterns.offsets[first] : patterns.offsets[last]]] = 0
        for i in np.flatnonzero(slow).tolist():
            for j in range(first, last):
                out[i, j - since] = damerau_distance(texts.item(i), patterns.item(j))


def choose_type(width: int, heights: np.ndarray, used: int) -> tuple[Any, np.ndarray]:
    """The narrowest integers for a group, and which texts are too long for any."""
    slow = heights > LONGEST[np.int16]
    tallest = int(heights[~slow].max(initial=0))
    for dtype, longest in LONGEST.items():
        if max(width, tallest) <= longest and used <= np.iinfo(dtype).max:
            return dtype, slow
    return None, np.ones(len(heights), np.bool_)


# --- Kernels ---


@kernel
def number_group(patterns, edges, first, last, numbers):
    """Number the symbols of a group from 1; returns how many there are."""
    used = 0
    for t in range(edges[first], edges[last]):
        if not numbers[patterns[t]]:
            used += 1
            numbers[patterns[t]] = used
    return used


@kernel
def place_symbols(patterns, edges, first, last, numbers, columns):
    columns[:, 3 * LANES :] = 0  # equals no symbol of a text, which are -1 if not numbered
    for lane in range(last - first):
        begin = edges[first + lane]
        for j in range(edges[first + lane + 1] - begin):
            columns[j + 2, 3 * LANES + lane] = numbers[patterns[begin + j]]


@kernel
def fill_group(texts, offsets, top, bottom, skip, sizes, numbers, never, columns, carried, out):
    """Texts ``top`` to ``bottom`` against all patterns of the group.

    Two columns stand before the first: one that is never reached, and the table's edge.
    """
    T = columns.dtype.type
    flat, width = columns.reshape(-1), len(columns) - 2
    for i in range(top, bottom):
        if skip[i]:
            continue
        for j in range(-1, width + 1):
            column = columns[j + 1]
            for x in range(LANES):
                column[x] = T(j if j >= 0 else never)
                column[LANES + x] = column[2 * LANES + x] = T(never)
        earlier = T(-1)
        for row in range(1, offsets[i + 1] - offsets[i] + 1):
            number = numbers[texts[offsets[i] + row - 1]]
            symbol = T(number) if number else T(-1)
            edge = columns[1]
            for x in range(LANES):
                edge[x], edge[LANES + x] = T(row), T(row - 1)
                carried[x] = T(row - 2) if row > 1 else T(never)
                carried[LANES + x] = carried[2 * LANES + x] = T(never)
            for j in range(1, width + 1):
                near = flat[(j - 1) * 4 * LANES : (j + 2) * 4 * LANES]
                fill_cell(near, carried, symbol, earlier, T(row), T(j))
            earlier = symbol
        target = out[i]
        for x in range(len(sizes)):
            target[x] = columns[sizes[x] + 1, x]


# The lanes' places are known when compiling, so that LLVM need not ask what overlaps; casts
# keep it from widening the numbers.
@kernel
def fill_cell(near, carried, symbol, earlier, row, j):
    """One cell in every lane. ``near`` is this column and the two before it.

    carried   of the column before: the distance two rows up; the last column that had this
              row's symbol; what a swap from the row before starts from, less its column
    """
    T = near.dtype.type
    one = T(1)
    before = T(j - one)
    for x in range(LANES):
        up, older = near[8 * LANES + x], near[9 * LANES + x]
        swap, other = near[10 * LANES + x], near[11 * LANES + x]
        left, corner = near[4 * LANES + x], near[5 * LANES + x]
        last, origin = carried[LANES + x], carried[2 * LANES + x]
        equal = other == symbol
        best = T(min(T(min(up, left) + one), T(corner + (T(0) if equal else one))))
        far = T(swap + row)
        best = min(best, far) if last == before else best
        wide = T(origin + j)
        best = min(best, wide) if other == earlier else best
        near[8 * LANES + x], near[9 * LANES + x] = best, up
        near[10 * LANES + x] = T(near[LANES + x] - row) if equal else swap
        carried[2 * LANES + x] = T(carried[x] - j) if equal else origin
        carried[LANES + x] = j if equal else last
        carried[x] = older
