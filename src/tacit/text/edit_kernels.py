"""Edit distances with unit costs: one pair of strings, or texts against many patterns.

*One pair* is compared by rapidfuzz, unless it is long.

*Bit vectors.* Neighbors in a column of the table of distances differ by -1, 0 or 1, so a column
is two bit vectors: ``vp`` marks the rows that are one above the row before them, ``vn`` those
one below. A symbol of the text turns a column into the next by a dozen operations on
words (Myers 1999; the form here, and the one with transpositions, is Hyyrö's). The distance is
the length of the text plus the marks in the last column.

*One long pair* by ``levenshtein`` or ``optimal_string_alignment``. Only the words near the
diagonal are computed that a path of at most ``limit`` edits can reach (Ukkonen 1985). The
result is never too small, and it is exact if it is within the limit.

*Many patterns.* Every operation is done for a group of patterns at once, a pattern to a SIMD
lane. The word is as wide as the patterns of the group need, 8 to 64 bits, or several words of
64, so that one vector operation serves 8 to 64 patterns. Patterns are sorted by length, which
puts those of a width together.

*Unrestricted transpositions* (Damerau) need the table itself. A transposition with both
insertions and deletions in between is never cheaper than substitutions, so either its columns
or its rows are neighbors, and two remembered values say where it starts (Zhao and Sahni 2019).
Groups of patterns use integers of 8 or 16 bits.

Myers (1999), A fast bit-vector algorithm for approximate string matching based on dynamic
programming. J. ACM 46.
Hyyrö (2003), A bit-vector algorithm for computing Levenshtein and Damerau edit distances.
Nordic J. Computing 10.
Hyyrö, Fredriksson and Navarro (2005), Increased bit-parallelism for approximate and multiple
string matching. ACM J. Experimental Algorithmics 10.
Ukkonen (1985), Algorithms for approximate string matching. Information and Control 64.
Zhao and Sahni (2019), String correction using the Damerau-Levenshtein distance. BMC
Bioinformatics 20.

One file: all of it computes the same three distances, and the paths must agree.
"""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from tacit.core.engines import check_stop
from tacit.core.kernel import kernel
from tacit.core.string_array import offsets_of
from tacit.kernels.call_ranges import call_ranges

__all__ = [
    "CALL_WORK", "NO_LIMIT", "EncodedStrings", "code_points", "damerau_rows", "pair_distance",
    "unit_rows",
]  # fmt: skip

# Work between two returns to Python, about 100 ms: for one pair, for a group of patterns.
CALL_WORK = 2**25
GROUP_CALL = 2**22
GROUP_MOST = 2**24  # work of one text in a group; longer texts are compared pair by pair
LANE_BYTES = 256  # of each bit vector of a group: four AVX-512 registers
WORD_LANES = LANE_BYTES // 8
MOST_WORDS = 32  # longer patterns are compared pair by pair, within a band
FEW = 6  # long patterns: a group would leave most of its lanes empty
FIRST_BAND = 64
LONG_PAIR = 2**30  # cells of the table; rapidfuzz takes 50 ms and cannot be interrupted
NO_LIMIT = 2**62
TABLE_LANES = 64
LONGEST: dict[Any, int] = {np.int8: 60, np.int16: 16_000}  # twice as much must still fit
U = np.uint64
ONE = np.uint64(1)
TOP = np.uint64(63)


class EncodedStrings(NamedTuple):
    """Sequences of symbol numbers, one after the other. Number 0 equals nothing."""

    codes: np.ndarray  # int32
    offsets: np.ndarray  # int64, (n + 1,)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def sizes(self) -> np.ndarray:
        return np.diff(self.offsets)

    def item(self, i: int) -> np.ndarray:
        return self.codes[self.offsets[i] : self.offsets[i + 1]]

    def part(self, start: int, stop: int) -> "EncodedStrings":
        edges = self.offsets[start : stop + 1]
        return EncodedStrings(self.codes[edges[0] : edges[-1]], edges - edges[0])

    def take(self, order: np.ndarray) -> "EncodedStrings":
        offsets = offsets_of(self.sizes()[order])
        shift = np.repeat(self.offsets[:-1][order] - offsets[:-1], np.diff(offsets))
        return EncodedStrings(self.codes[np.arange(offsets[-1]) + shift], offsets)


# --- One pair ---


@cache
def rapidfuzz_functions() -> dict[str, Callable]:
    """rapidfuzz's function for each metric; imported when first used."""
    from rapidfuzz import distance

    return {
        "levenshtein": distance.Levenshtein.distance,
        "optimal_string_alignment": distance.OSA.distance,
        "damerau": distance.DamerauLevenshtein.distance,
    }


def pair_distance(a: Any, b: Any, metric: str, limit: int | None = None) -> int:
    """Edits between two strings or lists of numbers, or ``limit`` + 1 if there are more."""
    if metric == "damerau" or len(a) * len(b) <= LONG_PAIR:
        return rapidfuzz_functions()[metric](a, b, score_cutoff=limit)
    if isinstance(a, str):
        a, b = code_points(a), code_points(b)
    transpose = metric == "optimal_string_alignment"
    most = NO_LIMIT if limit is None else limit
    return band_distance(np.asarray(a), np.asarray(b), most, transpose=transpose)


def code_points(text: str) -> np.ndarray:
    """The characters of a string as numbers; lone surrogates are characters too."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


def band_distance(a: np.ndarray, b: np.ndarray, limit: int, *, transpose: bool = False) -> int:
    """Edits between two arrays of symbols, or ``limit`` + 1 where they are more.

    The band widens until the distance fits in it. A band that is too narrow still gives an
    upper bound, so the next is never wider than it must be.
    """
    if len(a) > len(b):
        a, b = b, a
    m, n = len(a), len(b)
    most = min(limit, n)
    if n - m > most:
        return limit + 1
    if m == 0:
        return n
    present = np.zeros(int(max(a.max(), b.max())) + 1, np.bool_)
    present[a] = True
    number_of = np.where(present, np.cumsum(present), 0)  # 0: not in the pattern
    masks, text = word_masks(number_of[a], int(number_of.max()) + 1), number_of[b]
    width = min(most, max(FIRST_BAND, 2 * (n - m)))
    while True:
        distance = run_band(masks, text, m, width, transpose)
        if distance <= width:
            return distance
        if width == most:
            return limit + 1
        width = min(most, distance, 4 * width)


def run_band(masks: np.ndarray, text: np.ndarray, m: int, width: int, transpose: bool) -> int:
    """The distance within a band, by calls short enough to stop between."""
    words = masks.shape[1]
    column = np.full((3, words), ~U(0))  # vp, vn, and d0 of the column before
    column[1] = 0
    state = np.array([0, -1, 0], np.int64)  # first word, last word, the value below it
    step = max(1, CALL_WORK // min(words, 2 * width // 64 + 2))
    for first in range(0, len(text), step):
        check_stop()
        advance_band(masks, text, first, first + step, m, width, column, transpose, state)
    return int(state[2] - padding_marks(column, m))


# --- Many patterns ---


def unit_rows(
    texts: EncodedStrings,
    patterns: EncodedStrings,
    n_symbols: int,
    out: np.ndarray,
    *,
    transpose: bool = False,
    limit: int = NO_LIMIT,
    start: int = 0,
) -> None:
    """out[i, j - start]: the edits between text i and pattern j, for every j from ``start``.

    Patterns are sorted by length; symbols are numbers below ``n_symbols``. Where there are more
    edits than ``limit``, ``limit`` + 1. ``out`` has an integer type that holds the distances.
    """
    sizes, work = patterns.sizes(), texts.sizes()
    limit = min(limit, 2**31 - 2)  # as int32, one more included
    row_of = np.zeros(n_symbols, np.int32)
    for dtype, words, first, last in plan_groups(sizes, int(work.sum()), start):
        if words > 1 and last - first < FEW:
            words = 0
        slow = np.flatnonzero(work * words > GROUP_MOST if words else work >= 0)
        if words:
            lanes = LANE_BYTES // np.dtype(dtype).itemsize
            most = int(sizes[first:last].max(initial=0)) * lanes
            group = LaneGroup(
                row_of,
                np.zeros((1 + min(most, n_symbols), words, lanes), dtype),
                np.zeros((words, lanes), dtype),
                np.empty((words, 3 * lanes), dtype),
            )
            carry = np.empty(3 * lanes, np.uint64) if words > 1 else None
            for top, bottom in call_ranges(work * words, GROUP_CALL, GROUP_MOST):
                check_stop()
                if work[top] * words <= GROUP_MOST:
                    compare_groups(
                        patterns, first, last, texts, top, bottom, group, carry, transpose,
                        limit, out[:, first - start :],
                    )  # fmt: skip
        for i in slow.tolist():
            for j in range(first, last):
                pair = texts.item(i), patterns.item(j)
                out[i, j - start] = band_distance(*pair, limit, transpose=transpose)


def plan_groups(
    sizes: np.ndarray, symbols: int, start: int
) -> Iterator[tuple[type, int, int, int]]:
    """Patterns for one call: the type of a word, the most words, the first and the last.

    ``symbols`` is the length of all texts, which every group reads. No words: too long for
    lanes.

    >>> list(plan_groups(np.array([2, 7, 9, 70, 5000]), 100, 1))
    [(<class 'numpy.uint8'>, 1, 1, 2), (<class 'numpy.uint16'>, 1, 2, 3),
     (<class 'numpy.uint64'>, 4, 3, 4), (<class 'numpy.uint64'>, 0, 4, 5)]
    """
    widths: list[tuple[type, int, int]] = [(np.uint8, 1, 8), (np.uint16, 1, 16)]
    widths += [(np.uint32, 1, 32), (np.uint64, 1, 64)]
    widths += [(np.uint64, words, 64 * words) for words in (4, 8, 16, MOST_WORDS)]
    first = start
    for dtype, words, longest in widths:
        end = max(first, int(np.searchsorted(sizes, longest, side="right")))
        groups = max(1, GROUP_CALL // max(1, symbols * words))
        step = groups * (LANE_BYTES // np.dtype(dtype).itemsize)
        for group in range(first, end, step):
            yield dtype, words, group, min(group + step, end)
        first = end
    if first < len(sizes):
        yield np.uint64, 0, first, len(sizes)


def damerau_rows(
    texts: EncodedStrings,
    patterns: EncodedStrings,
    n_symbols: int,
    out: np.ndarray,
    *,
    start: int = 0,
) -> None:
    """As ``unit_rows``, with unrestricted transpositions and without a limit."""
    sizes, heights = patterns.sizes(), texts.sizes()
    numbers = np.zeros(n_symbols, np.int32)
    for first in range(start, len(sizes), TABLE_LANES):
        last = min(first + TABLE_LANES, len(sizes))
        width = int(sizes[last - 1])
        used = number_group(patterns, first, last, numbers)
        dtype, slow = choose_integers(width, heights, used)
        if last - first < FEW and width > LONGEST[np.int8]:
            dtype, slow = None, np.ones(len(heights), np.bool_)
        if dtype is not None:
            columns: np.ndarray = np.empty((width + 2, 4 * TABLE_LANES), dtype)
            group = DamerauGroup(
                sizes[first:last], numbers, columns, np.empty(3 * TABLE_LANES, dtype)
            )
            place_symbols(patterns, first, last, numbers, columns)
            work = np.where(slow, 1, heights * (width + 1))
            for top, bottom in call_ranges(work, GROUP_CALL, GROUP_CALL):
                check_stop()
                fill_damerau_group(
                    texts, top, bottom, slow, group, LONGEST[dtype] + 1, out[:, first - start :]
                )
        numbers[patterns.codes[patterns.offsets[first] : patterns.offsets[last]]] = 0
        for i in np.flatnonzero(slow).tolist():
            for j in range(first, last):
                a, b = texts.item(i).tolist(), patterns.item(j).tolist()
                out[i, j - start] = pair_distance(a, b, "damerau")


def choose_integers(width: int, heights: np.ndarray, used: int) -> tuple[Any, np.ndarray]:
    """The narrowest integers for a group, and which texts are too long for any."""
    slow = heights > LONGEST[np.int16]
    tallest = int(heights[~slow].max(initial=0))
    for dtype, longest in LONGEST.items():
        if max(width, tallest) <= longest and used <= np.iinfo(dtype).max:
            return dtype, slow
    return None, np.ones(len(heights), np.bool_)


# --- Kernels: one pair ---


@kernel
def word_masks(pattern, n_symbols):
    """(n_symbols, words): in which rows of the pattern each symbol stands."""
    masks = np.zeros((n_symbols, (len(pattern) + 63) // 64), U)
    for i in range(len(pattern)):
        masks[pattern[i], i >> 6] |= ONE << U(i & 63)
    return masks


@kernel
def advance_band(masks, text, start, stop, m, width, column, transpose, state):
    """Columns ``start`` to ``stop`` of the table, in the words that the band touches.

    Above the band, distances are taken to grow by one with every column; in a word that the
    band enters, by one with every row: as much as they could.
    """
    vp, vn, diagonal = column[0], column[1], column[2]
    n, words = len(text), masks.shape[1]
    spare = (width - (n - m)) // 2  # n >= m
    first, last, below = state[0], state[1], state[2]
    for j in range(start, min(stop, n)):
        top = j + 1 - (n - m) - spare  # first and last row of the band, counted from 1
        bottom = min(m, j + 1 + spare)
        first = max(first, max(0, (top - 1) >> 6))
        while last < min(words - 1, (bottom - 1) >> 6):
            last += 1
            below += 64
        row, before = masks[text[j]], masks[text[j - 1] if j else 0]
        up, down, started = ONE, U(0), U(0)  # carried over from the word above
        for w in range(first, last + 1):
            here, p, n_ = row[w] | down, vp[w], vn[w]
            if transpose:
                # Before the sum, like a match: in a word that the band has just entered, the
                # rows below a transposition are upper bounds, and must come down with it.
                fresh = ~diagonal[w] & row[w]
                here |= (fresh << ONE | started) & before[w]
                started = fresh >> TOP
            d0 = (((here & p) + p) ^ p) | here | n_
            if transpose:
                diagonal[w] = d0
            hp = n_ | ~(d0 | p)
            hn = d0 & p
            next_up, next_down = hp >> TOP, hn >> TOP
            hp = hp << ONE | up
            hn = hn << ONE | down
            vp[w] = hn | ~(d0 | hp)
            vn[w] = hp & d0
            up, down = next_up, next_down
        below += np.int64(up) - np.int64(down)
    state[0], state[1], state[2] = first, last, below


@kernel
def padding_marks(column, m):
    """What the rows after the m-th, which are padding, add below the last word."""
    total, (vp, vn) = np.int64(0), column[:2, -1]
    for q in range(((m - 1) & 63) + 1, 64):
        total += np.int64(vp >> U(q) & ONE) - np.int64(vn >> U(q) & ONE)
    return total


# --- Kernels: bit vectors of a group of patterns ---
#
# ``state`` holds vp, vn and d0 of the lanes, one after the other. T(...) at every step: Numba
# widens narrow integers to 64 bits, and only a cast back lets LLVM use 8, which is eight times
# as many lanes to a register.


class LaneGroup(NamedTuple):
    """One pattern to a lane. All but ``state`` are zero between two groups."""

    row_of: np.ndarray  # (n_symbols,) which row of the masks is a symbol's
    masks: np.ndarray  # (rows, words, lanes) where each symbol stands; row 0 for the others
    ends: np.ndarray  # (words, lanes) which bits hold the pattern
    state: np.ndarray  # (words, 3 * lanes)


@kernel
def compare_groups(
    patterns, first, last, texts, top, bottom, group, carry, transpose, limit, out
):  # fmt: skip
    """Texts ``top`` to ``bottom`` against patterns ``first`` to ``last``, group by group.

    ``carry`` is what a word hands to the next, and None where patterns have one word.
    """
    lanes = group.ends.shape[1]
    state, ends, edges = group.state, group.ends, patterns.offsets
    result = np.empty(lanes, np.int32)
    for start in range(first, last, lanes):
        stop = min(start + lanes, last)
        words = (edges[stop] - edges[stop - 1] + 63) >> 6 if carry is not None else 1
        fill_lanes(patterns, start, stop, group)
        for i in range(top, bottom):
            begin, end = texts.offsets[i], texts.offsets[i + 1]
            target = out[i, start - first : stop - first]
            shortest, longest = edges[start + 1] - edges[start], edges[stop] - edges[stop - 1]
            if shortest - (end - begin) > limit or end - begin - longest > limit:
                target[:] = limit + 1
                continue
            if carry is not None:
                read_words(texts.codes, begin, end, group, words, carry, transpose)
            elif transpose:
                diagonal = state[0, 2 * lanes :]
                read(texts.codes, begin, end, group.row_of, group.masks, state[0], diagonal)
            else:
                read(texts.codes, begin, end, group.row_of, group.masks, state[0], None)
            result[:] = end - begin
            for w in range(words):
                add_marks(state[w], ends[w], result)
            for x in range(stop - start):
                target[x] = min(result[x], np.int32(limit + 1))
        clear_lanes(patterns, start, stop, group)


@kernel
def fill_lanes(patterns, start, stop, group):
    """Set up one pattern to a lane."""
    row_of, masks, ends, _ = group
    T = masks.dtype.type
    bits, count = np.int64(8 * masks.itemsize), 0
    for lane in range(stop - start):
        begin = patterns.offsets[start + lane]
        for i in range(patterns.offsets[start + lane + 1] - begin):
            symbol = patterns.codes[begin + i]
            if not row_of[symbol]:
                count += 1
                row_of[symbol] = count
            word, bit = i // bits, T(T(1) << T(i % bits))
            masks[row_of[symbol], word, lane] |= bit
            ends[word, lane] |= bit


@kernel
def clear_lanes(patterns, start, stop, group):
    """Undo ``fill_lanes``."""
    row_of, masks, ends, _ = group
    zero = masks.dtype.type(0)
    for t in range(patterns.offsets[start], patterns.offsets[stop]):
        symbol = patterns.codes[t]
        if row_of[symbol]:
            masks[row_of[symbol], :, :] = zero
            row_of[symbol] = 0
    ends[:, :] = zero


@kernel
def read(texts, begin, end, row_of, masks, state, diagonal):
    """The last column of the table of a text, for patterns of one word.

    ``diagonal`` holds d0 of the column before, or is None without transpositions.
    """
    T = masks.dtype.type
    zero, one, lanes = T(0), T(1), masks.shape[2]
    vp, vn = state[:lanes], state[lanes : 2 * lanes]
    for x in range(lanes):
        vp[x], vn[x] = T(~zero), zero
        if diagonal is not None:
            diagonal[x] = zero
    before = masks[0, 0]
    for t in range(begin, end):
        row = masks[row_of[texts[t]], 0]
        for x in range(lanes):
            here, p, n = row[x], vp[x], vn[x]
            d0 = T(T(T(T(here & p) + p) ^ p) | T(here | n))
            if diagonal is not None:
                d0 = T(d0 | T(T(T(T(~diagonal[x]) & here) << one) & before[x]))
                diagonal[x] = d0
            hp = T(n | T(~T(d0 | p)))
            hn = T(d0 & p)
            hp = T(T(hp << one) | one)
            vp[x] = T(T(hn << one) | T(~T(d0 | hp)))
            vn[x] = T(hp & d0)
        before = row


@kernel
def read_words(texts, begin, end, group, words, carry, transpose):
    """The same for patterns of several words of 64 bits.

    A kernel apart from ``read``: one for both takes a third longer for patterns of one word.
    """
    row_of, masks, _, state = group
    for w in range(words):
        state[w, :WORD_LANES], state[w, WORD_LANES:] = ~U(0), U(0)
    before = masks[0]
    for t in range(begin, end):
        row = masks[row_of[texts[t]]]
        for x in range(WORD_LANES):
            carry[x] = ONE
            carry[x + WORD_LANES] = carry[x + 2 * WORD_LANES] = U(0)
        for w in range(words):
            if transpose:
                advance(row[w], before[w], state[w], carry)
            else:
                advance(row[w], None, state[w], carry)
        before = row


# The places of the lanes are known when compiling: LLVM would have to check arrays that might
# overlap each time, and it gives up beyond eight such checks.
@kernel
def advance(row, before, state, carry):
    """One word of every lane, one column on.

    ``before`` is the row of the symbol before, or None without transpositions. ``carry`` holds
    steps up, steps down, and transpositions that have begun.
    """
    for x in range(WORD_LANES):
        up, down = carry[x], carry[x + WORD_LANES]
        here, p, n = row[x] | down, state[x], state[x + WORD_LANES]
        d0 = (((here & p) + p) ^ p) | here | n
        if before is not None:
            fresh = ~state[x + 2 * WORD_LANES] & row[x]
            d0 |= (fresh << ONE | carry[x + 2 * WORD_LANES]) & before[x]
            carry[x + 2 * WORD_LANES] = fresh >> TOP
            state[x + 2 * WORD_LANES] = d0
        hp = n | ~(d0 | p)
        hn = d0 & p
        carry[x], carry[x + WORD_LANES] = hp >> TOP, hn >> TOP
        hp = hp << ONE | up
        state[x] = (hn << ONE | down) | ~(d0 | hp)
        state[x + WORD_LANES] = hp & d0


@kernel
def add_marks(state, ends, out):
    """Add the steps down a column: the bits set in vp, less those in vn."""
    T = state.dtype.type
    lanes = len(ends)
    vp, vn = state[:lanes], state[lanes : 2 * lanes]
    for x in range(lanes):
        up = count_bits(T(vp[x] & ends[x]), T)
        out[x] += np.int32(up) - np.int32(count_bits(T(vn[x] & ends[x]), T))


@kernel
def count_bits(x, T):
    """How many bits are set, by adding ever wider neighbors."""
    x = T(x - T(T(x >> T(1)) & T(U(0x5555555555555555))))
    x = T(T(x & T(U(0x3333333333333333))) + T(T(x >> T(2)) & T(U(0x3333333333333333))))
    x = T(T(x + T(x >> T(4))) & T(U(0x0F0F0F0F0F0F0F0F)))
    if T(~T(0)) > T(255):
        x = T(x + T(x >> T(8)))
    if T(~T(0)) > T(U(65535)):
        x = T(x + T(x >> T(16)))
    if T(~T(0)) > T(U(0xFFFFFFFF)):
        x = T(x + T(x >> T(32)))
    return T(x & T(127))


# --- Kernels: the table of a group of patterns, with unrestricted transpositions ---
#
# A row of the table is a text's symbol, a column the symbols that the patterns have at one
# place. A column holds four values to a lane, one after the other:
#
#     0   the distance in the row above, and once it is computed, in this row
#     1   the distance in the row before that
#     2   the value that a transposition which ends in this column starts from, less its row
#     3   the pattern's symbol


class DamerauGroup(NamedTuple):
    """The patterns of a group and their table."""

    sizes: np.ndarray  # (lanes used,)
    numbers: np.ndarray  # (n_symbols,) of the symbols, from 1; 0 for those of no pattern
    columns: np.ndarray  # (width + 2, 4 * lanes)
    carry: np.ndarray  # (3 * lanes,)


@kernel
def number_group(patterns, first, last, numbers):
    """Number the symbols of a group from 1; returns how many there are."""
    used = 0
    for t in range(patterns.offsets[first], patterns.offsets[last]):
        if not numbers[patterns.codes[t]]:
            used += 1
            numbers[patterns.codes[t]] = used
    return used


@kernel
def place_symbols(patterns, first, last, numbers, columns):
    # 0 equals no symbol of a text: those without a number are -1.
    columns[:, 3 * TABLE_LANES :] = 0
    for lane in range(last - first):
        begin = patterns.offsets[first + lane]
        for j in range(patterns.offsets[first + lane + 1] - begin):
            columns[j + 2, 3 * TABLE_LANES + lane] = numbers[patterns.codes[begin + j]]


@kernel
def fill_damerau_group(texts, top, bottom, skip, group, never, out):
    """Texts ``top`` to ``bottom`` against all patterns of the group.

    Two columns stand before the first: one that no path reaches, and the table's edge.
    """
    sizes, numbers, columns, carry = group
    T = columns.dtype.type
    flat, width, offsets = columns.reshape(-1), len(columns) - 2, texts.offsets
    for i in range(top, bottom):
        if skip[i]:
            continue
        for j in range(-1, width + 1):
            column = columns[j + 1]
            for x in range(TABLE_LANES):
                column[x] = T(j if j >= 0 else never)
                column[TABLE_LANES + x] = column[2 * TABLE_LANES + x] = T(never)
        earlier = T(-1)
        for row in range(1, offsets[i + 1] - offsets[i] + 1):
            number = numbers[texts.codes[offsets[i] + row - 1]]
            symbol = T(number) if number else T(-1)
            edge = columns[1]
            for x in range(TABLE_LANES):
                edge[x], edge[TABLE_LANES + x] = T(row), T(row - 1)
                carry[x] = T(row - 2) if row > 1 else T(never)
                carry[TABLE_LANES + x] = carry[2 * TABLE_LANES + x] = T(never)
            for j in range(1, width + 1):
                near = flat[(j - 1) * 4 * TABLE_LANES : (j + 2) * 4 * TABLE_LANES]
                fill_damerau_cell(near, carry, symbol, earlier, T(row), T(j))
            earlier = symbol
        target = out[i]
        for x in range(len(sizes)):
            target[x] = columns[sizes[x] + 1, x]


# The places of the lanes are known when compiling, so that LLVM need not check what overlaps;
# casts keep it from widening the numbers.
@kernel
def fill_damerau_cell(near, carry, symbol, earlier, row, j):
    """One cell in every lane. ``near`` is this column and the two before it.

    carry   of the column before: the distance two rows up; the last column that had this
            row's symbol; the value that a transposition from the row before starts from,
            less its column
    """
    T = near.dtype.type
    one = T(1)
    before = T(j - one)
    for x in range(TABLE_LANES):
        up, older = near[8 * TABLE_LANES + x], near[9 * TABLE_LANES + x]
        start, other = near[10 * TABLE_LANES + x], near[11 * TABLE_LANES + x]
        left, corner = near[4 * TABLE_LANES + x], near[5 * TABLE_LANES + x]
        last, origin = carry[TABLE_LANES + x], carry[2 * TABLE_LANES + x]
        equal = other == symbol
        best = T(min(T(min(up, left) + one), T(corner + (T(0) if equal else one))))
        tall = T(start + row)
        best = min(best, tall) if last == before else best
        wide = T(origin + j)
        best = min(best, wide) if other == earlier else best
        near[8 * TABLE_LANES + x], near[9 * TABLE_LANES + x] = best, up
        near[10 * TABLE_LANES + x] = T(near[TABLE_LANES + x] - row) if equal else start
        carry[2 * TABLE_LANES + x] = T(carry[x] - j) if equal else origin
        carry[TABLE_LANES + x] = j if equal else last
        carry[x] = older
