"""Scoring every position of a text with the tables of a model.

In lots, and length by length: all histories of a lot are looked up, then all searches are
halved together, then all values are fetched. So a lookup that waits for memory does not hold
up the next. A frequent word has tens of thousands of successors; a ``Guide`` says where among
them those begin that a word can be, and leaves a few to search.
"""

from typing import NamedTuple

import numpy as np

from tacit.core.kernel import kernel
from tacit.language.backoff_tables import Tables, value_at

__all__ = ["Guide", "make_guide", "score_positions"]

U = np.uint64
LOT = 256  # positions looked up together
FEW = 8  # successors to a stretch of the guide, about


class Guide(NamedTuple):
    """Where to look among the bigrams of each word, by the first bits of the second word."""

    first: np.ndarray  # (v,) uint64: where the word's stretches begin in ``starts``, times
    #                    256, plus how many bits of the second word do not count
    starts: np.ndarray  # bigram at which each stretch begins, and where the last one ends


def make_guide(tables: Tables) -> Guide | None:
    """A byte for two bigrams, about; none where there are no bigrams."""
    if tables.order == 1:
        return None
    v = int(tables.sizes[0])
    bits = max(1, (v - 1).bit_length())
    first, size = plan_guide(tables.children, v, bits)
    starts = np.empty(size, np.int32)
    fill_guide(tables.children, tables.words, first, bits, starts)
    return Guide(first, starts)


def score_positions(
    tables: Tables, ids: np.ndarray, before: np.ndarray, guide: Guide | None = None
) -> np.ndarray:
    """log10 of the probability of every position of a text; float64.

    ``before`` says how many words of its sentence come before each.
    """
    out = np.empty(len(ids))
    score_lots(
        ids, before, tables.order, guide, tables.children, tables.words, tables.probs,
        tables.prob_values, tables.backoffs, tables.backoff_values, tables.absolute,
        tables.uniform, out,
    )  # fmt: skip
    return out


# --- Kernels ---


@kernel
def plan_guide(children, v, bits):
    first, size = np.empty(v, np.uint64), 0
    for h in range(v):
        n, b = np.int64(children[h + 1] - children[h]), 0
        while (np.int64(FEW) << b) < n and b < bits:
            b += 1
        first[h] = (size << 8) | (bits - b)
        size += (1 << b) + 1
    return first, size


@kernel
def fill_guide(children, words, first, bits, starts):
    for h in range(first.shape[0]):
        at, end, s = children[h], children[h + 1], np.int64(first[h] & U(255))
        stretches = 1 << (bits - s)
        target = starts[np.int64(first[h] >> U(8)) :]
        for j in range(stretches):
            while at < end and (words[at] >> s) < j:
                at += 1
            target[j] = at
        target[stretches] = end


@kernel
def score_lots(
    ids, before, order, guide, children, words, probs, prob_values, backoffs, backoff_values,
    absolute, uniform, out,
):  # fmt: skip
    """Extend the n-grams that end before each position by its word, length by length."""
    at, history = np.empty(LOT, np.uint32), np.empty(LOT, np.uint32)
    want, base = np.empty(LOT, np.int32), np.empty(LOT, np.uint32)
    size, top = np.empty(LOT, np.uint32), np.uint32(words.shape[0] - 1)
    seen, unseen = np.empty(LOT + 1, np.uint32), np.empty(LOT + 1, np.uint32)
    # Of each length, the n-gram that ends at each position; first the one before the lot.
    places = np.full((order, LOT + 1), -1, np.int32)
    for first in range(0, ids.shape[0], LOT):
        m = min(LOT, ids.shape[0] - first)
        for i in range(m):
            out[first + i] = value_at(prob_values, probs, 0, ids[first + i])
            places[0, i + 1] = ids[first + i]
        for k in range(1, order):
            shorter, longer = places[k - 1], places[k]
            q = 0
            for i in range(m):
                h, long = shorter[i], before[first + i] >= k
                if absolute and long and h < 0:
                    out[first + i] = uniform
                at[q], history[q], want[q] = i, h, ids[first + i]
                longer[i + 1] = -1
                q += long and h >= 0
            if k == 1 and guide is not None:
                find_stretches(guide, children, history, want, q, base, size)
            else:
                find_stretches(None, children, history, want, q, base, size)
            halve(words, want, q, base, size)
            hits = misses = 0
            for r in range(q):
                b = min(base[r], top)
                known = size[r] > 0 and words[b] == want[r]
                longer[at[r] + 1] = np.int32(b) if known else np.int32(-1)
                seen[hits], unseen[misses] = r, r
                hits += known
                misses += not known
            for j in range(hits):
                r = seen[j]
                out[first + at[r]] = value_at(prob_values, probs, k, base[r])
            for j in range(misses):
                r = unseen[j]
                less = np.float64(value_at(backoff_values, backoffs, k - 1, history[r]))
                out[first + at[r]] = less if absolute else out[first + at[r]] + less
        for k in range(order):
            places[k, 0] = places[k, m]


@kernel
def find_stretches(guide, children, history, want, q, base, size):
    if guide is None:
        for i in range(q):
            h = U(history[i])
            base[i] = children[h]
            size[i] = children[h + U(1)] - children[h]
    else:
        for i in range(q):
            first = guide.first[history[i]]
            j = (first >> U(8)) + (U(want[i]) >> (first & U(255)))
            base[i] = guide.starts[j]
            size[i] = guide.starts[j + U(1)] - guide.starts[j]


@kernel
def halve(words, want, q, base, size):
    """Bring every search down to one word, the last that is not above the one wanted."""
    most = np.uint32(1)
    for i in range(q):
        most = max(most, size[i])
    while most > 1:
        for i in range(q):
            half = size[i] >> np.uint32(1)
            # A product, not a choice, which would become a branch that cannot be guessed.
            base[i] += half * np.uint32(words[U(base[i] + half)] <= want[i])
            size[i] -= half
        most -= most >> np.uint32(1)
