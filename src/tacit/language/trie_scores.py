"""Scoring every position of a text with the tables of a model.

Length by length, and in lots: all histories of a lot are looked up, then all searches are
halved together, then all values are fetched. So a lookup that waits for memory does not hold
up the next. A frequent word has tens of thousands of successors; a ``Guide`` says where among
them those begin that a word can be, and leaves a few to search.
"""

from typing import NamedTuple

import numpy as np

from tacit.core.kernel import kernel
from tacit.language.backoff_tables import Tables

__all__ = ["Guide", "make_guide", "score_positions"]

LOT = 256  # positions looked up together
FEW = 8  # successors to a stretch of the guide, about


class Guide(NamedTuple):
    """Where to look among the bigrams of each word, by the first bits of the second word."""

    first: np.ndarray  # (v,) where the word's stretches begin in ``starts``
    shift: np.ndarray  # (v,) how many bits of the second word do not count
    starts: np.ndarray  # bigram at which each stretch begins, and where the last one ends


def make_guide(tables: Tables) -> Guide | None:
    """A byte for two bigrams, about; none where there are no bigrams."""
    if tables.order == 1:
        return None
    v = int(tables.sizes[0])
    bits = max(1, (v - 1).bit_length())
    first, shift, size = plan_guide(tables.children, v, bits)
    starts = np.empty(size, np.int32)
    fill_guide(tables.children, tables.words, first, shift, bits, starts)
    return Guide(first, shift, starts)


def score_positions(
    tables: Tables, ids: np.ndarray, before: np.ndarray, guide: Guide | None = None
) -> np.ndarray:
    """log10 of the probability of every position of a text; float64.

    ``before`` says how many words of its sentence come before each.
    """
    out = tables.log10_probs(1)[ids].astype(np.float64)
    place = ids
    for k in range(2, tables.order + 1):
        deeper = np.full(len(ids), -1, np.int32)
        score_level(
            ids, before, k, place, guide if k == 2 else None, tables.children, tables.words,
            tables.probs, row(tables.prob_values, k), tables.backoffs,
            row(tables.backoff_values, k - 1), tables.absolute, tables.uniform, out, deeper,
        )  # fmt: skip
        place = deeper
    return out


def row(values: np.ndarray | None, k: int) -> np.ndarray | None:
    return None if values is None else values[k - 1]


# --- Kernels ---


@kernel
def plan_guide(children, v, bits):
    first, shift, size = np.empty(v, np.int32), np.empty(v, np.uint8), 0
    for h in range(v):
        n, b = np.int64(children[h + 1] - children[h]), 0
        while (np.int64(FEW) << b) < n and b < bits:
            b += 1
        first[h], shift[h] = size, bits - b
        size += (1 << b) + 1
    return first, shift, size


@kernel
def fill_guide(children, words, first, shift, bits, starts):
    for h in range(first.shape[0]):
        at, end, s = children[h], children[h + 1], np.int32(shift[h])
        stretches = 1 << (bits - s)
        target = starts[first[h] :]
        for j in range(stretches):
            while at < end and (words[at] >> s) < j:
                at += 1
            target[j] = at
        target[stretches] = end


@kernel(inline="always")
def value(values, codes, i):
    if values is None:
        return codes[i]
    else:
        return values[codes[i]]


@kernel
def score_level(
    ids, before, k, place, guide, children, words, probs, prob_values, backoffs,
    backoff_values, absolute, uniform, out, deeper,
):  # fmt: skip
    """Extend the n-grams of k - 1 words that end before each position by its word."""
    at, history = np.empty(LOT, np.int64), np.empty(LOT, np.int64)
    want, base = np.empty(LOT, np.int32), np.empty(LOT, np.int64)
    size = np.empty(LOT, np.int64)
    for first in range(1, ids.shape[0], LOT):
        q = 0
        for t in range(first, min(first + LOT, ids.shape[0])):
            h, long = place[t - 1], before[t] >= k - 1
            if absolute and long and h < 0:
                out[t] = uniform
            at[q], history[q], want[q] = t, h, ids[t]
            q += long and h >= 0
        find_stretches(guide, children, history, want, q, base, size)
        halve(words, want, q, base, size)
        for i in range(q):
            t, b, h = at[i], base[i], history[i]
            b = min(b, np.int64(words.shape[0] - 1))
            known = size[i] > 0 and words[b] == want[i]
            # Both are fetched: waiting for memory costs less than guessing which it is.
            own = np.float64(value(prob_values, probs, b))
            less = np.float64(value(backoff_values, backoffs, h))
            less = less if absolute else out[t] + less
            out[t] = own if known else less
            deeper[t] = np.int32(b) if known else np.int32(-1)


@kernel
def find_stretches(guide, children, history, want, q, base, size):
    if guide is None:
        for i in range(q):
            h = history[i]
            base[i] = children[h]
            size[i] = children[h + 1] - children[h]
    else:
        for i in range(q):
            h = history[i]
            j = guide.first[h] + (want[i] >> np.int32(guide.shift[h]))
            base[i] = guide.starts[j]
            size[i] = guide.starts[j + 1] - guide.starts[j]


@kernel
def halve(words, want, q, base, size):
    """Bring every search down to one word, the last that is not above the one wanted."""
    most = 1
    for i in range(q):
        most = max(most, size[i])
    while most > 1:
        for i in range(q):
            half = size[i] >> 1
            base[i] += half * (words[base[i] + half] <= want[i])
            size[i] -= half
        most -= most >> 1
