"""Edit distance of unit costs between texts and many patterns, a pattern to a SIMD lane.

The bit vectors are those of ``edit_band``; but here every operation is done for a group of
patterns at once. The word is as wide as the patterns of the group need, 8 to 64 bits, or
several words of 64, so that one vector operation does 8 to 64 patterns. Patterns are sorted by
length, which puts those of a kind together.

Hyyrö (2003), A bit-vector algorithm for computing Levenshtein and Damerau edit distances.
Nordic J. Computing 10.
Hyyrö, Fredriksson and Navarro (2005), Increased bit-parallelism for approximate and multiple
string matching. ACM J. Experimental Algorithmics 10.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from tacit.core.engines import check_stop
from tacit.core.kernel import kernel
from tacit.text.edit_band import ONE, TOP, U, band_distance

__all__ = ["ANY", "Strings", "calls", "lane_rows"]

LANE_BYTES = 256  # of each bit vector of a group: four AVX-512 registers
WORD_LANES = LANE_BYTES // 8
MOST_WORDS = 32  # longer patterns go pair by pair, within a band
CALL_WORK = 2**22  # symbols times words of a group in one call: about 100 ms
MOST_WORK = 2**24  # of one text: longer ones go pair by pair too
FEW = 6  # long patterns that are quicker one by one
ANY = 2**62  # no limit


class Strings(NamedTuple):
    """Sequences of symbol numbers, one after the other. Number 0 equals nothing."""

    codes: np.ndarray  # int32
    offsets: np.ndarray  # int64, (n + 1,)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def sizes(self) -> np.ndarray:
        return np.diff(self.offsets)

    def item(self, i: int) -> np.ndarray:
        return self.codes[self.offsets[i] : self.offsets[i + 1]]

    def part(self, start: int, stop: int) -> "Strings":
        edges = self.offsets[start : stop + 1]
        return Strings(self.codes[edges[0] : edges[-1]], edges - edges[0])

    def take(self, order: np.ndarray) -> "Strings":
        offsets = np.zeros(len(order) + 1, np.int64)
        np.cumsum(self.sizes()[order], out=offsets[1:])
        shift = np.repeat(self.offsets[:-1][order] - offsets[:-1], np.diff(offsets))
        return Strings(self.codes[np.arange(offsets[-1]) + shift], offsets)


def lane_rows(
    texts: Strings,
    patterns: Strings,
    kinds: int,
    out: np.ndarray,
    *,
    swaps: bool = False,
    limit: int = ANY,
    since: int = 0,
) -> None:
    """out[i, j - since]: the edits between text i and pattern j, for every j from ``since``.

    Patterns are sorted by length; symbols are numbers below ``kinds``. Where there are more
    edits than ``limit``, ``limit`` + 1. ``out`` is of an integer type that holds the answers.
    """
    sizes, work = patterns.sizes(), texts.sizes()
    row_of = np.zeros(kinds, np.int32)
    for dtype, words, first, last in stretches(sizes, int(work.sum()), since):
        if words > 1 and last - first < FEW:
            words = 0
        slow = np.flatnonzero(work * words > MOST_WORK if words else work >= 0)
        if words:
            lanes = LANE_BYTES // np.dtype(dtype).itemsize
            most = int(sizes[first:last].max(initial=0)) * lanes
            masks: np.ndarray = np.zeros((1 + min(most, kinds), words, lanes), dtype)
            ends: np.ndarray = np.zeros((words, lanes), dtype)
            state: np.ndarray = np.empty((words, 3 * lanes), dtype)
            given = (*patterns, first, last, *texts)
            for top, bottom in calls(work * words, CALL_WORK, MOST_WORK):
                check_stop()
                if work[top] * words > MOST_WORK:
                    continue
                rows = (top, bottom, row_of, masks, ends, state, swaps, limit, since)
                if words > 1:
                    wide_groups(*given, *rows, np.empty(3 * lanes, np.uint64), out)
                else:
                    narrow_groups(*given, *rows, out)
        for i in slow.tolist():
            for j in range(first, last):
                pair = texts.item(i), patterns.item(j)
                out[i, j - since] = band_distance(*pair, limit, swaps=swaps)


def stretches(
    sizes: np.ndarray, symbols: int, since: int
) -> Iterator[tuple[type, int, int, int]]:
    """Patterns for one call: the type of a word, the most words, the first and the last.

    ``symbols`` is what every group must read. No words: too long for lanes.

    >>> list(stretches(np.array([2, 7, 9, 70, 5000]), 100, 1))
    [(<class 'numpy.uint8'>, 1, 1, 2), (<class 'numpy.uint16'>, 1, 2, 3),
     (<class 'numpy.uint64'>, 4, 3, 4), (<class 'numpy.uint64'>, 0, 4, 5)]
    """
    kinds: list[tuple[type, int, int]] = [(np.uint8, 1, 8), (np.uint16, 1, 16)]
    kinds += [(np.uint32, 1, 32), (np.uint64, 1, 64)]
    kinds += [(np.uint64, words, 64 * words) for words in (4, 8, 16, MOST_WORDS)]
    first = since
    for dtype, words, longest in kinds:
        end = max(first, int(np.searchsorted(sizes, longest, side="right")))
        groups = max(1, CALL_WORK // max(1, symbols * words))
        step = groups * (LANE_BYTES // np.dtype(dtype).itemsize)
        for start in range(first, end, step):
            yield dtype, words, start, min(start + step, end)
        first = end
    if first < len(sizes):
        yield np.uint64, 0, first, len(sizes)


def calls(work: np.ndarray, enough: int, most: int) -> Iterator[tuple[int, int]]:
    """Stretches of items for one call of a kernel; one with too much work is alone.

    >>> list(calls(np.array([5, 5, 5, 50, 1]), 10, 40))
    [(0, 1), (1, 3), (3, 4), (4, 5)]
    """
    total = np.cumsum(work)
    edges = {0, len(work), *(np.flatnonzero(np.diff(total // enough)) + 1).tolist()}
    alone = np.flatnonzero(work > most)
    edges.update(alone.tolist(), (alone + 1).tolist())
    return pairwise(sorted(edges))


# --- Kernels: groups of patterns, one after the other ---


@kernel
def narrow_groups(
    patterns, edges, first, last, texts, offsets, top, bottom,
    row_of, masks, ends, state, swaps, limit, since, out,
):  # fmt: skip
    """Texts ``top`` to ``bottom`` against patterns of one word, ``first`` to ``last``."""
    lanes = ends.shape[1]
    result = np.empty(lanes, np.int32)
    for start in range(first, last, lanes):
        stop = min(start + lanes, last)
        fill_lanes(patterns, edges, start, stop, row_of, masks, ends)
        for i in range(top, bottom):
            target = out[i, start - since : stop - since]
            size = offsets[i + 1] - offsets[i]
            if beyond(size, edges, start, stop, limit):
                target[:] = limit + 1
                continue
            if swaps:
                read_swapping(texts, offsets[i], offsets[i + 1], row_of, masks, state[0])
            else:
                read(texts, offsets[i], offsets[i + 1], row_of, masks, state[0])
            result[:] = size
            add_marks(state[0], ends[0], result)
            clip(result, limit, target)
        clear_lanes(patterns, edges, start, stop, row_of, masks, ends)


@kernel
def wide_groups(
    patterns, edges, first, last, texts, offsets, top, bottom,
    row_of, masks, ends, state, swaps, limit, since, hand, out,
):  # fmt: skip
    """The same for patterns of several words; ``hand`` is what a word hands to the next."""
    lanes = ends.shape[1]
    result = np.empty(lanes, np.int32)
    for start in range(first, last, lanes):
        stop = min(start + lanes, last)
        words = (edges[stop] - edges[stop - 1] + 63) >> 6  # of the longest
        fill_lanes(patterns, edges, start, stop, row_of, masks, ends)
        for i in range(top, bottom):
            target = out[i, start - since : stop - since]
            size = offsets[i + 1] - offsets[i]
            if beyond(size, edges, start, stop, limit):
                target[:] = limit + 1
                continue
            read_words(
                texts, offsets[i], offsets[i + 1], row_of, masks, words, state, hand, swaps
            )
            result[:] = size
            for w in range(words):
                add_marks(state[w], ends[w], result)
            clip(result, limit, target)
        clear_lanes(patterns, edges, start, stop, row_of, masks, ends)


@kernel
def fill_lanes(patterns, edges, start, stop, row_of, masks, ends):
    """Set up one pattern to a lane.

    row_of   (kinds,) zero on entry: which row of the masks is a symbol's
    masks    (rows, words, lanes) zero on entry: where each symbol stands; row 0 stays zero,
             for symbols of no pattern
    ends     (words, lanes) zero on entry: which bits hold the pattern
    """
    T = masks.dtype.type
    bits, count = np.int64(8 * masks.itemsize), 0
    for lane in range(stop - start):
        begin = edges[start + lane]
        for i in range(edges[start + lane + 1] - begin):
            symbol = patterns[begin + i]
            if not row_of[symbol]:
                count += 1
                row_of[symbol] = count
            word, bit = i // bits, T(T(1) << T(i % bits))
            masks[row_of[symbol], word, lane] |= bit
            ends[word, lane] |= bit


@kernel
def clear_lanes(patterns, edges, start, stop, row_of, masks, ends):
    """Undo ``fill_lanes``."""
    zero = masks.dtype.type(0)
    for t in range(edges[start], edges[stop]):
        if row_of[patterns[t]]:
            masks[row_of[patterns[t]], :, :] = zero
            row_of[patterns[t]] = 0
    ends[:, :] = zero


@kernel
def beyond(size, edges, start, stop, limit):
    """Whether no pattern of the group is near enough in size to be within the limit."""
    shortest, longest = edges[start + 1] - edges[start], edges[stop] - edges[stop - 1]
    return shortest - size > limit or size - longest > limit


# --- Kernels: one text, all lanes of a group ---
#
# A state holds plus, minus and the equal diagonals of the lanes, side by side. T(...) at every
# step: Numba widens narrow integers to 64 bits, and only a cast back tells LLVM that 8 are
# enough, which is eight times as many lanes to a register.


@kernel
def read(texts, begin, end, row_of, masks, state):
    """The last column of the table of distances of a text."""
    T = masks.dtype.type
    zero, one, lanes = T(0), T(1), masks.shape[2]
    plus, minus = state[:lanes], state[lanes : 2 * lanes]
    for x in range(lanes):
        plus[x], minus[x] = T(~zero), zero
    for t in range(begin, end):
        row = masks[row_of[texts[t]], 0]
        for x in range(lanes):
            here, p, n = row[x], plus[x], minus[x]
            d0 = T(T(T(T(here & p) + p) ^ p) | T(here | n))
            hp = T(n | T(~T(d0 | p)))
            hn = T(d0 & p)
            hp = T(T(hp << one) | one)
            plus[x] = T(T(hn << one) | T(~T(d0 | hp)))
            minus[x] = T(hp & d0)


@kernel
def read_swapping(texts, begin, end, row_of, masks, state):
    """The same, and neighbours may change places."""
    T = masks.dtype.type
    zero, one, lanes = T(0), T(1), masks.shape[2]
    plus, minus, same = state[:lanes], state[lanes : 2 * lanes], state[2 * lanes :]
    for x in range(lanes):
        plus[x], minus[x], same[x] = T(~zero), zero, zero
    before = masks[0, 0]
    for t in range(begin, end):
        row = masks[row_of[texts[t]], 0]
        for x in range(lanes):
            here, p, n = row[x], plus[x], minus[x]
            swap = T(T(T(T(~same[x]) & here) << one) & before[x])
            d0 = T(T(T(T(T(here & p) + p) ^ p) | T(here | n)) | swap)
            hp = T(n | T(~T(d0 | p)))
            hn = T(d0 & p)
            hp = T(T(hp << one) | one)
            plus[x] = T(T(hn << one) | T(~T(d0 | hp)))
            minus[x] = T(hp & d0)
            same[x] = d0
        before = row


@kernel
def read_words(texts, begin, end, row_of, masks, words, state, hand, swaps):
    """The same for several words of 64 bits."""
    for w in range(words):
        state[w, :WORD_LANES], state[w, WORD_LANES:] = ~U(0), U(0)
    before = masks[0]
    for t in range(begin, end):
        row = masks[row_of[texts[t]]]
        for x in range(WORD_LANES):
            hand[x] = ONE
            hand[x + WORD_LANES] = hand[x + 2 * WORD_LANES] = U(0)
        for w in range(words):
            if swaps:
                advance_swapping(row[w], before[w], state[w], hand)
            else:
                advance(row[w], state[w], hand)
        before = row


# The lanes' places are known when compiling: of arrays that might overlap LLVM would have to
# ask each time, and it gives up beyond eight such questions.


@kernel
def advance(row, state, hand):
    """One word of every lane, one column on. hand holds steps up, then steps down."""
    for x in range(WORD_LANES):
        up, down = hand[x], hand[x + WORD_LANES]
        here, p, n = row[x] | down, state[x], state[x + WORD_LANES]
        d0 = (((here & p) + p) ^ p) | here | n
        hp = n | ~(d0 | p)
        hn = d0 & p
        hand[x], hand[x + WORD_LANES] = hp >> TOP, hn >> TOP
        hp = hp << ONE | up
        state[x] = (hn << ONE | down) | ~(d0 | hp)
        state[x + WORD_LANES] = hp & d0


@kernel
def advance_swapping(row, before, state, hand):
    """The same with swaps of neighbours; hand also holds the first half of a swap."""
    for x in range(WORD_LANES):
        up, down, half = hand[x], hand[x + WORD_LANES], hand[x + 2 * WORD_LANES]
        here, p, n = row[x] | down, state[x], state[x + WORD_LANES]
        fresh = ~state[x + 2 * WORD_LANES] & row[x]
        swap = (fresh << ONE | half) & before[x]
        d0 = (((here & p) + p) ^ p) | here | n | swap
        hp = n | ~(d0 | p)
        hn = d0 & p
        hand[x], hand[x + WORD_LANES] = hp >> TOP, hn >> TOP
        hand[x + 2 * WORD_LANES] = fresh >> TOP
        hp = hp << ONE | up
        state[x] = (hn << ONE | down) | ~(d0 | hp)
        state[x + WORD_LANES] = hp & d0
        state[x + 2 * WORD_LANES] = d0


@kernel
def add_marks(state, ends, out):
    """Add the steps down a column: the bits set in plus, less those in minus."""
    T = state.dtype.type
    lanes = len(ends)
    plus, minus = state[:lanes], state[lanes : 2 * lanes]
    for x in range(lanes):
        up = bits_set(T(plus[x] & ends[x]), T)
        out[x] += np.int32(up) - np.int32(bits_set(T(minus[x] & ends[x]), T))


@kernel
def bits_set(x, T):
    """How many bits are set, by adding ever wider neighbours."""
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


@kernel
def clip(result, limit, out):
    if limit < 2**31:
        for x in range(len(out)):
            out[x] = min(np.int64(result[x]), limit + 1)
    else:
        for x in range(len(out)):
            out[x] = result[x]
