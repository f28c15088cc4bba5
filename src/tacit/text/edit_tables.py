"""Edit distance by filling in the table of distances, row by row.

For what bit vectors cannot do: costs that are not all one, swaps with other edits in between,
and the edits themselves. Rows are the source, columns the target.

    weighted    three rows are kept: this one and the two before it, which a swap needs
    damerau     unrestricted swaps, also in three rows (Zhao and Sahni): a swap of two symbols
                with both deletions and insertions between them never beats substituting, so
                either its columns or its rows are neighbours, and two remembered values say
                what it would start from
    moves       the step into every cell, one byte each, to be walked back from the end

Wagner and Fischer (1974), The string-to-string correction problem. J. ACM 21.
Lowrance and Wagner (1975), An extension of the string-to-string correction problem. J. ACM 22.
Zhao and Sahni (2019), String correction using the Damerau-Levenshtein distance. BMC
Bioinformatics 20.
"""

import numpy as np

from tacit.core.engines import check_stop
from tacit.core.kernel import kernel
from tacit.text.edit_costs import CostTables

__all__ = ["damerau_distance", "find_moves", "weighted_distance"]

KEEP, SUBSTITUTE, TRANSPOSE, DELETE, INSERT = range(5)
CALL_CELLS = 2**25  # about 100 ms
MOST_CELLS = 2**31  # bytes of moves
NEVER = 2**30


def weighted_distance(
    a: np.ndarray,
    b: np.ndarray,
    row_of: np.ndarray,
    tables: CostTables,
    *,
    swaps: bool = False,
    limit: float = np.inf,
) -> float:
    """The cheapest way from a to b; more than ``limit`` where there is none within it.

    ``row_of`` gives the row in the tables of every symbol number.
    """
    rows = np.empty((3, len(b) + 1))
    step = max(1, CALL_CELLS // (len(b) + 1))
    for first in range(0, len(a) + 1, step):
        check_stop()
        over = fill_weighted(a, b, row_of, tables, swaps, limit, first, first + step, rows)
        if over:
            return float("inf")
    return float(rows[len(a) % 3, len(b)])


def damerau_distance(a: np.ndarray, b: np.ndarray) -> int:
    """Edits from a to b with unrestricted swaps."""
    n, m = len(a), len(b)
    if n == 0 or m == 0:
        return n + m
    rows, swapped = np.empty((3, m + 1), np.int32), np.empty(m + 1, np.int32)
    step = max(1, CALL_CELLS // (m + 1))
    for first in range(0, n + 1, step):
        check_stop()
        fill_damerau(a, b, first, first + step, rows, swapped)
    return int(rows[n % 3, m])


def find_moves(
    a: np.ndarray, b: np.ndarray, row_of: np.ndarray, tables: CostTables, *, swaps: bool
) -> tuple[float, np.ndarray]:
    """The distance, and the moves of a cheapest way from a to b.

    Of equally cheap ones, the moves are, from the end: keep or substitute rather than
    transpose, rather than delete, rather than insert.
    """
    n, m = len(a), len(b)
    if (n + 1) * (m + 1) > MOST_CELLS:
        raise ValueError(
            f"alignment of sequences of {n:,} and {m:,} symbols needs "
            f"{(n + 1) * (m + 1) / 2**30:,.1f} GiB of moves, but {MOST_CELLS / 2**30:.0f} is "
            "the most. Cut them into parts; the distance alone needs no such table."
        )
    rows, moves = np.empty((3, m + 1)), np.empty((n + 1, m + 1), np.uint8)
    step = max(1, CALL_CELLS // (m + 1))
    for first in range(0, n + 1, step):
        check_stop()
        fill_moves(a, b, row_of, tables, swaps, first, first + step, rows, moves)
    return float(rows[n % 3, m]), walk_back(moves)


# --- Kernels ---


@kernel
def fill_weighted(a, b, row_of, tables, swaps, limit, start, stop, rows):
    """Rows ``start`` to ``stop``; True as soon as two rows in turn lie above the limit."""
    delete, insert, substitute, transpose = tables
    m, low = len(b), 0.0
    for i in range(start, min(stop, len(a) + 1)):
        row, above, higher = rows[i % 3], rows[(i + 2) % 3], rows[(i + 1) % 3]
        if i == 0:
            row[0] = 0.0
            for j in range(m):
                row[j + 1] = row[j] + insert[0, row_of[b[j]]]
            continue
        symbol, mine = a[i - 1], row_of[a[i - 1]]
        drop = delete[row_of[a[i - 2]] if i > 1 else 0, mine]
        add, turn = insert[mine], substitute[mine]
        row[0] = above[0] + drop
        before, low = low, row[0]
        for j in range(m):
            other = row_of[b[j]]
            best = above[j] + (0.0 if b[j] == symbol else turn[other])
            if swaps and i > 1 and j > 0 and b[j] == a[i - 2] and b[j - 1] == symbol:
                best = min(best, higher[j - 1] + transpose[row_of[a[i - 2]], mine])
            best = min(best, above[j + 1] + drop, row[j] + add[other])
            row[j + 1] = best
            low = min(low, best)
        # A swap jumps over one row, so one row above the limit is not enough.
        if low > limit and (before > limit or not swaps):
            return True
    return False


@kernel
def fill_damerau(a, b, start, stop, rows, swapped):
    """Rows ``start`` to ``stop`` of the table with unrestricted swaps.

    A swap ends where the symbol of this row was last seen in column ``l`` < j, and that of
    this column in row ``k`` < i. It costs one, and one for every symbol in between.

    swapped   of each column j, what a swap from column j - 1 starts from, less k
    """
    m = len(b)
    for i in range(start, min(stop, len(a) + 1)):
        row, above, higher = rows[i % 3], rows[(i + 2) % 3], rows[(i + 1) % 3]
        if i == 0:
            for j in range(m + 1):
                row[j], swapped[j] = j, NEVER
            continue
        symbol = a[i - 1]
        earlier = a[i - 2] if i > 1 else symbol  # which is no swap
        row[0] = i
        last, origin = NEVER, NEVER  # column l; what a swap from row i - 1 starts from, less l
        left, corner = i, int(above[0])
        for j in range(1, m + 1):
            up, other = int(above[j]), b[j - 1]
            best = min(up, left) + 1
            if other == symbol:
                best = min(best, corner)
                if j > 1:
                    swapped[j] = int(above[j - 2]) - i
                if i > 1:
                    origin = int(higher[j - 1]) - j
                last = j
            else:
                best = min(best, corner + 1)
                if last == j - 1:
                    best = min(best, int(swapped[j]) + i)
                elif other == earlier:
                    best = min(best, origin + j)
            row[j] = best
            left, corner = best, up


@kernel
def fill_moves(a, b, row_of, tables, swaps, start, stop, rows, moves):
    """As ``fill_weighted``, noting the step into every cell."""
    delete, insert, substitute, transpose = tables
    m = len(b)
    for i in range(start, min(stop, len(a) + 1)):
        row, above, higher = rows[i % 3], rows[(i + 2) % 3], rows[(i + 1) % 3]
        steps = moves[i]
        if i == 0:
            row[0] = 0.0
            for j in range(m):
                row[j + 1] = row[j] + insert[0, row_of[b[j]]]
                steps[j + 1] = INSERT
            continue
        symbol, mine = a[i - 1], row_of[a[i - 1]]
        drop = delete[row_of[a[i - 2]] if i > 1 else 0, mine]
        row[0] = above[0] + drop
        steps[0] = DELETE
        for j in range(m):
            other = row_of[b[j]]
            equal = b[j] == symbol
            best, step = above[j], KEEP
            if not equal:
                best, step = above[j] + substitute[mine, other], SUBSTITUTE
            if swaps and i > 1 and j > 0 and b[j] == a[i - 2] and b[j - 1] == symbol:
                cost = higher[j - 1] + transpose[row_of[a[i - 2]], mine]
                if cost < best:
                    best, step = cost, TRANSPOSE
            if above[j + 1] + drop < best:
                best, step = above[j + 1] + drop, DELETE
            if row[j] + insert[mine, other] < best:
                best, step = row[j] + insert[mine, other], INSERT
            row[j + 1] = best
            steps[j + 1] = step


@kernel
def walk_back(moves):
    """The moves from the first cell to the last."""
    i, j = moves.shape[0] - 1, moves.shape[1] - 1
    out = np.empty(i + j, np.uint8)
    at = len(out)
    while i > 0 or j > 0:
        at -= 1
        move = moves[i, j]
        out[at] = move
        if move == TRANSPOSE:
            i, j = i - 2, j - 2
        else:
            i -= move != INSERT
            j -= move != DELETE
    return out[at:].copy()
