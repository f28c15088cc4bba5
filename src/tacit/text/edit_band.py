"""Edit distance of unit costs between two sequences, 64 rows of the table at a time.

Two neighbours in a column of the table of distances differ by -1, 0 or 1, so a column is two
bit vectors: ``plus`` marks the rows that are one above the row before them, ``minus`` those one
below. A symbol of the text turns a column into the next by a dozen operations on whole words
(Myers 1999; the form here, and the one with swaps of neighbours, is Hyyrö's). The distance at
the foot of the last column is its top plus the marks in between.

Of long sequences only the words near the diagonal are worked on that a path of at most
``limit`` edits can reach (Ukkonen 1985). What comes out is never too small, and it is right if
it is within the limit. ``edit_lanes`` does many pairs at once.

Myers (1999), A fast bit-vector algorithm for approximate string matching based on dynamic
programming. J. ACM 46.
Hyyrö (2003), A bit-vector algorithm for computing Levenshtein and Damerau edit distances.
Nordic J. Computing 10.
Ukkonen (1985), Algorithms for approximate string matching. Information and Control 64.
"""

import numpy as np

from tacit.core.engines import check_stop
from tacit.core.kernel import kernel

__all__ = ["band_distance", "number_symbols", "trim"]

CALL_WORDS = 2**25  # words advanced in one call of the band kernel: about 100 ms
FIRST_BAND = 64
SHORT = 2**20  # texts read in one call, against patterns of one word
U = np.uint64
ONE = np.uint64(1)
TOP = np.uint64(63)


def band_distance(a: np.ndarray, b: np.ndarray, limit: int, *, swaps: bool = False) -> int:
    """Edits between two arrays of symbols, or ``limit`` + 1 where they are more.

    Bands widen until the answer fits in one. A band that was too narrow still says how much
    is enough at most, so the next is never wider than it must be.
    """
    if len(a) > len(b):
        a, b = b, a
    if len(a) <= 64 and len(b) <= SHORT:
        return min(short_distance(a, b, swaps), limit + 1)
    start, end_a, end_b = trim(a, b)
    a, b = a[start:end_a], b[start:end_b]
    m, n = len(a), len(b)
    most = min(limit, n)
    if n - m > most:
        return limit + 1
    if m == 0:
        return n
    pattern, text, kinds = number_symbols(a, b)
    masks = word_masks(pattern, kinds)
    width = min(most, max(FIRST_BAND, 2 * (n - m)))
    while True:
        found = run_band(masks, text, m, width, swaps)
        if found <= width:
            return found
        if width == most:
            return limit + 1
        width = min(most, found, 4 * width)


def run_band(masks: np.ndarray, text: np.ndarray, m: int, width: int, swaps: bool) -> int:
    """The distance within a band, by calls short enough to stop between."""
    words = masks.shape[1]
    plus, minus, same = np.full(words, ~U(0)), np.zeros(words, U), np.full(words, ~U(0))
    state = np.array([0, -1, 0], np.int64)  # first word, last word, the value at its foot
    step = max(1, CALL_WORDS // min(words, 2 * width // 64 + 2))
    for first in range(0, len(text), step):
        check_stop()
        advance_band(
            masks, text, first, first + step, m, width, plus, minus, same, swaps, state
        )
    return int(state[2] - marks_below(plus, minus, m))


# --- Kernels: one pair ---


@kernel
def trim(a, b):
    """Where the two begin to differ, and where each ends before the tail they share."""
    start, end_a, end_b = 0, len(a), len(b)
    while start < end_a and start < end_b and a[start] == b[start]:
        start += 1
    while end_a > start and end_b > start and a[end_a - 1] == b[end_b - 1]:
        end_a -= 1
        end_b -= 1
    return start, end_a, end_b


@kernel
def number_symbols(a, b):
    """The symbols of a numbered from 1, those of b likewise or 0, and how many numbers."""
    size = 16
    while size < 2 * len(a):
        size *= 2
    keys, numbers = np.zeros(size, a.dtype), np.zeros(size, np.int32)
    mask, used = U(size - 1), 1
    new_a, new_b = np.empty(len(a), np.int32), np.empty(len(b), np.int32)
    for i in range(len(a)):
        slot = (U(a[i]) * U(0x9E3779B97F4A7C15)) >> U(20) & mask
        while numbers[slot] and keys[slot] != a[i]:
            slot = (slot + ONE) & mask
        if not numbers[slot]:
            keys[slot], numbers[slot] = a[i], used
            used += 1
        new_a[i] = numbers[slot]
    for j in range(len(b)):
        slot = (U(b[j]) * U(0x9E3779B97F4A7C15)) >> U(20) & mask
        while numbers[slot] and keys[slot] != b[j]:
            slot = (slot + ONE) & mask
        new_b[j] = numbers[slot]
    return new_a, new_b, used


@kernel
def word_masks(pattern, kinds):
    """(kinds, words): in which rows of the pattern each symbol stands."""
    masks = np.zeros((kinds, (len(pattern) + 63) // 64), U)
    for i in range(len(pattern)):
        masks[pattern[i], i >> 6] |= ONE << U(i & 63)
    return masks


@kernel
def short_distance(a, b, swaps):
    """Edits between a pattern of up to 64 symbols and a text, in one call."""
    start, end_a, end_b = trim(a, b)
    a, b = a[start:end_a], b[start:end_b]
    if len(a) == 0:
        return len(b)
    pattern, text, kinds = number_symbols(a, b)
    masks = np.zeros(kinds, U)
    for i in range(len(pattern)):
        masks[pattern[i]] |= ONE << U(i)
    plus, minus, same, before = ~U(0), U(0), U(0), U(0)
    total = np.int64(len(b))
    for t in range(len(text)):
        here = masks[text[t]]
        d0 = (((here & plus) + plus) ^ plus) | here | minus
        if swaps:
            d0 |= (~same & here) << ONE & before
            same, before = d0, here
        hp = (minus | ~(d0 | plus)) << ONE | ONE
        plus = (d0 & plus) << ONE | ~(d0 | hp)
        minus = hp & d0
    for q in range(len(a)):
        total += np.int64(plus >> U(q) & ONE) - np.int64(minus >> U(q) & ONE)
    return total


@kernel
def advance_band(masks, text, start, stop, m, width, plus, minus, same, swaps, state):
    """Columns ``start`` to ``stop`` of the table, in the words that the band touches.

    What lies above the band is taken to grow by one with every column, and a word that the
    band reaches anew by one with every row: as much as it could.
    """
    n, words = len(text), masks.shape[1]
    spare = (width - (n - m)) // 2  # n >= m
    first, last, foot = state[0], state[1], state[2]
    for j in range(start, min(stop, n)):
        top = j + 1 - (n - m) - spare  # first and last row of the band, counted from 1
        bottom = min(m, j + 1 + spare)
        first = max(first, max(0, (top - 1) >> 6))
        while last < min(words - 1, (bottom - 1) >> 6):
            last += 1
            foot += 64
        row, before = masks[text[j]], masks[text[j - 1] if j else 0]
        up, down, half = ONE, U(0), U(0)  # what the word above hands down
        for w in range(first, last + 1):
            here, p, n_ = row[w] | down, plus[w], minus[w]
            if swaps:
                # Before the sum, like a match: in a word that the band has just reached, the
                # rows below a swap are guesses too high, and must come down with it.
                fresh = ~same[w] & row[w]
                here |= (fresh << ONE | half) & before[w]
                half = fresh >> TOP
            d0 = (((here & p) + p) ^ p) | here | n_
            if swaps:
                same[w] = d0
            hp = n_ | ~(d0 | p)
            hn = d0 & p
            next_up, next_down = hp >> TOP, hn >> TOP
            hp = hp << ONE | up
            hn = hn << ONE | down
            plus[w] = hn | ~(d0 | hp)
            minus[w] = hp & d0
            up, down = next_up, next_down
        foot += np.int64(up) - np.int64(down)
    state[0], state[1], state[2] = first, last, foot


@kernel
def marks_below(plus, minus, m):
    """What the rows after the m-th, which are padding, add to the foot of the last word."""
    total, w = np.int64(0), len(plus) - 1
    for q in range(((m - 1) & 63) + 1, 64):
        total += np.int64(plus[w] >> U(q) & ONE) - np.int64(minus[w] >> U(q) & ONE)
    return total
