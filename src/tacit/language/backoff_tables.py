"""A back-off language model as a trie of n-grams, and how to score text with it.

    P(w | h) = prob(h w)                      if h w is in the tables
             = backoff(h) * P(w | h less its first word)     otherwise

where an h that is not in the tables has the weight 1. Every smoothing but add-k can be written
this way, and it is what ARPA files hold. For add-k (``absolute``) the weight of h is itself the
probability of every word unseen after it, and without h it is the uniform probability.

All n-grams are numbered consecutively, the shortest first, those of one length by history and
word:

    words       last word of each                           (n,) int32; words 0, 1, 2, ... first
    children    where the n-grams that continue each begin  (m + 1,) int32; m below the highest
    probs       log10, or codes (``quantize``)              (n,) float32 or uint8
    backoffs    log10, or codes                             (m,) float32 or uint8

``children`` of one length ends where that of the next begins, so four arrays are the model: a
file holds them as they are, and they can be memory-mapped.

A text is scored in batches, length by length: all histories of a batch are looked up, then all
binary searches advance together, then all values are fetched, so that a lookup that waits for
memory does not delay the next. A frequent word has tens of thousands of successors; a
``BigramIndex`` narrows them to a few.

Heafield (2011), KenLM: faster and smaller language model queries. WMT.
"""

from typing import NamedTuple

import numpy as np

from tacit.core.kernel import kernel
from tacit.language.ngram_counts import find_word

__all__ = [
    "BigramIndex", "Tables", "check_tables", "distribution", "index_bigrams", "next_state",
    "quantize", "score_positions", "score_sentence", "with_exact_unigrams",
]  # fmt: skip

U = np.uint64
CODES = 256  # values that a quantized number may have
BATCH = 256  # positions looked up together
FEW = 8  # successors per bucket of the bigram index, about


class Tables(NamedTuple):
    """The arrays of a model."""

    words: np.ndarray
    children: np.ndarray
    probs: np.ndarray
    backoffs: np.ndarray
    sizes: np.ndarray  # (order,) int64, how many n-grams of each length
    uniform: float  # log10 of the uniform probability
    absolute: bool = False
    prob_values: np.ndarray | None = None  # (order, 256) float32: what the codes stand for
    backoff_values: np.ndarray | None = None  # (order - 1, 256)
    unigram_probs: np.ndarray | None = None  # (v,) float32: exact, where all others are codes
    unigram_backoffs: np.ndarray | None = None

    @property
    def order(self) -> int:
        return len(self.sizes)

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self if isinstance(array, np.ndarray))

    def first(self, k: int) -> int:
        """The number of the first n-gram of k words."""
        return int(self.sizes[: k - 1].sum())

    def log10_probs(self, k: int) -> np.ndarray:
        """Of all n-grams of k words, in order."""
        part = self.probs[self.first(k) : self.first(k + 1)]
        if self.prob_values is None or self.unigram_probs is None:
            return part
        return self.unigram_probs if k == 1 else self.prob_values[k - 1][part]

    def log10_backoffs(self, k: int) -> np.ndarray:
        part = self.backoffs[self.first(k) : self.first(k + 1)]
        if self.backoff_values is None or self.unigram_backoffs is None:
            return part
        return self.unigram_backoffs if k == 1 else self.backoff_values[k - 1][part]


def distribution(tables: Tables, history: np.ndarray) -> np.ndarray:
    """The probabilities of all words after a history of ids, as float64."""
    history = np.asarray(history, np.int32)[max(0, len(history) - tables.order + 1) :]
    p = 10.0 ** tables.log10_probs(1).astype(np.float64)
    state, backoffs = look_up_history(tables, history)
    for k in range(1, len(history) + 1):
        at, factor = state[k - 1], 10.0 ** backoffs[k - 1]
        if tables.absolute:
            p[p > 0] = factor if at >= 0 else 10.0**tables.uniform
        if at < 0:
            continue
        if not tables.absolute:
            p *= factor
        low, high = int(tables.children[at]), int(tables.children[at + 1])
        known = tables.probs[low:high]
        if tables.prob_values is not None:
            known = tables.prob_values[k][known]
        p[tables.words[low:high]] = 10.0 ** known.astype(np.float64)
    return p


def check_tables(
    tables: Tables, word_bytes: np.ndarray, word_offsets: np.ndarray, *, values: bool
) -> None:
    """ValueError if these arrays are not a model; ``values`` checks every number."""
    sizes, n, v = tables.sizes, len(tables.words), int(tables.sizes[0])
    quantized = tables.prob_values is not None
    expected = np.uint8 if quantized else np.float32
    if (
        (tables.probs.dtype, tables.backoffs.dtype) != (expected, expected)
        or (tables.words.dtype, tables.children.dtype) != (np.int32, np.int32)
        or quantized != (tables.backoff_values is not None)
    ):
        raise ValueError("its tables have other types than a model's")
    if (
        (sizes < 0).any()
        or int(sizes.sum()) != n
        or int(sizes[:-1].sum()) != len(tables.backoffs)
        or v != len(word_offsets) + 2
        or any(
            exact is not None and (exact.dtype, exact.shape) != (np.float32, (v,))
            for exact in (tables.unigram_probs, tables.unigram_backoffs)
        )
    ):
        raise ValueError("the sizes of its tables do not agree")
    if not values:
        return
    edges, children = word_offsets, tables.children
    if edges[0] != 0 or edges[-1] != len(word_bytes) or (np.diff(edges) < 0).any():
        raise ValueError("its vocabulary is damaged")
    inner = edges[edges < len(word_bytes)]
    word_bytes.tobytes().decode("utf-8")  # UnicodeDecodeError is a ValueError
    if (word_bytes[inner] & 0xC0 == 0x80).any():
        raise ValueError("its vocabulary is damaged")
    firsts = np.concatenate([[0], np.cumsum(sizes)])
    if (np.diff(children) < 0).any() or (children[firsts[:-1]] != firsts[1:]).any():
        raise ValueError("its n-grams do not form a trie")
    if tables.words.min() < 0 or tables.words.max() >= v:
        raise ValueError("its n-grams hold words that it does not have")
    if (tables.words[:v] != np.arange(v)).any():
        raise ValueError("its single words are not in order")


def quantize(tables: Tables) -> Tables:
    """The same with one byte for each probability and back-off weight of two words or more.

    The values of each length are divided into bins of equal size, and each becomes the mean
    of its bin. Single words stay exact, as in KenLM: the frequent ones, few as they are, are
    most of a text and would share a bin. Probabilities no longer add up to one exactly.
    """
    if tables.prob_values is not None:
        return tables
    probs, prob_values = zip(
        *(bin_values(tables.log10_probs(k)) for k in range(1, tables.order + 1)), strict=True
    )
    backs = [bin_values(tables.log10_backoffs(k)) for k in range(1, tables.order)]
    return tables._replace(
        probs=np.concatenate(probs),
        prob_values=np.stack(prob_values),
        backoffs=np.concatenate([codes for codes, _ in backs] or [np.empty(0, np.uint8)]),
        backoff_values=np.stack([v for _, v in backs] or [np.empty((0, CODES), np.float32)]),
        unigram_probs=tables.log10_probs(1).copy(),
        unigram_backoffs=tables.log10_backoffs(1).copy() if tables.order > 1 else None,
    )


def with_exact_unigrams(tables: Tables) -> Tables:
    """The tables of a quantized model of an earlier version, whose single words are codes."""
    if tables.prob_values is None or tables.unigram_probs is not None:
        return tables
    v = int(tables.sizes[0])
    probs = tables.prob_values[0][tables.probs[:v]]
    if tables.order == 1 or tables.backoff_values is None:
        return tables._replace(unigram_probs=probs)
    backoffs = tables.backoff_values[0][tables.backoffs[:v]]
    return tables._replace(unigram_probs=probs, unigram_backoffs=backoffs)


def bin_values(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Codes and what they stand for. -inf and 0 are kept exactly: they have a meaning."""
    exact = np.array([-np.inf, 0.0], np.float32)
    inside = values[np.isfinite(values) & (values != 0)]
    centers, n_bins = np.unique(inside), CODES - len(exact)
    if len(centers) > n_bins:
        inside = np.sort(inside)
        edges = np.linspace(0, len(inside), n_bins + 1).astype(np.int64)
        sums = np.add.reduceat(inside.astype(np.float64), edges[:-1])
        centers = np.unique((sums / np.diff(edges)).astype(np.float32))
    book = np.unique(np.concatenate([exact, centers])).astype(np.float32)
    middle = (book[1:-1] + book[2:]) / 2  # book[0] is -inf
    codes = 1 + np.searchsorted(middle, values)
    codes[np.isneginf(values)] = 0
    zero = int(np.flatnonzero(book == 0)[0])
    codes[values == 0] = zero
    codes[(codes == zero) & (values != 0)] = max(1, zero - 1) if zero > 1 else zero
    full = np.zeros(CODES, np.float32)
    full[: len(book)] = book
    return codes.astype(np.uint8), full


class BigramIndex(NamedTuple):
    """Where to look among the bigrams of each word, by the first bits of the second word."""

    first: np.ndarray  # (v,) uint64: where the word's buckets begin in ``starts``, times
    #                    256, plus how many bits of the second word do not count
    starts: np.ndarray  # bigram at which each bucket begins, and where the last one ends


def index_bigrams(tables: Tables) -> BigramIndex | None:
    """The index, about a byte for two bigrams; None where there are no bigrams."""
    if tables.order == 1:
        return None
    v = int(tables.sizes[0])
    bits = max(1, (v - 1).bit_length())
    first, size = size_buckets(tables.children, v, bits)
    starts = np.empty(size, np.int32)
    fill_buckets(tables.children, tables.words, first, bits, starts)
    return BigramIndex(first, starts)


def score_positions(
    tables: Tables, ids: np.ndarray, before: np.ndarray, index: BigramIndex | None = None
) -> np.ndarray:
    """log10 of the probability of every position of a text; float64.

    ``before`` is how many words of the sentence come before each.
    """
    out = np.empty(len(ids))
    score_batches(tables, index, ids, before, out)
    return out


# --- Kernels ---


@kernel
def value_at(codes, values, exact, k, i):
    """The value of n-gram i, of k + 1 words."""
    if values is None:
        return codes[i]
    elif exact is None:
        return values[k, codes[i]]
    else:
        return exact[i] if k == 0 else values[k, codes[i]]


@kernel
def prob_at(tables, k, i):
    return value_at(tables.probs, tables.prob_values, tables.unigram_probs, k, i)


@kernel
def backoff_at(tables, k, i):
    return value_at(tables.backoffs, tables.backoff_values, tables.unigram_backoffs, k, i)


@kernel(inline="always")
def next_state(tables, state, w, new):
    """log10 P(w | state); ``new`` becomes the state after w. A state is the numbers of the
    n-grams of 1, 2, ... words that end here: -1 for one that is not in the tables, and -2 where
    the text has no such n-gram yet."""
    children = tables.children
    score = np.float64(prob_at(tables, 0, w))
    if len(new):
        new[0] = w
    for k in range(1, len(tables.sizes)):
        h = state[k - 1]
        at = min(h, np.int32(-1))
        if h >= 0:
            at = find_word(tables.words, children[h], children[h + 1], w)
            if at >= 0:
                score = np.float64(prob_at(tables, k, at))
            elif tables.absolute:
                score = np.float64(backoff_at(tables, k - 1, h))
            else:
                score += backoff_at(tables, k - 1, h)
        elif tables.absolute and h == -1:
            score = tables.uniform
        if k < len(new):
            new[k] = at
    return score


@kernel
def look_up_history(tables, history):
    """The state after a history, and log10 of the back-off weights of its n-grams."""
    state = np.full(len(tables.sizes) - 1, -2, np.int32)
    new = state.copy()
    for w in history:
        next_state(tables, state, w, new)
        state, new = new, state
    backoffs = np.zeros(len(state))
    for k in range(len(state)):
        if state[k] >= 0:
            backoffs[k] = backoff_at(tables, k, state[k])
    return state, backoffs


@kernel
def score_sentence(tables, ids, first):
    """log10 of the probability of one sentence from position ``first`` on."""
    state = np.full(len(tables.sizes) - 1, -2, np.int32)
    new = state.copy()
    total = 0.0
    for t in range(len(ids)):
        score = next_state(tables, state, ids[t], new)
        state, new = new, state
        if t >= first:
            total += score
    return total


@kernel
def size_buckets(children, v, bits):
    first, size = np.empty(v, np.uint64), 0
    for h in range(v):
        n, b = np.int64(children[h + 1] - children[h]), 0
        while (np.int64(FEW) << b) < n and b < bits:
            b += 1
        first[h] = (size << 8) | (bits - b)
        size += (1 << b) + 1
    return first, size


@kernel
def fill_buckets(children, words, first, bits, starts):
    for h in range(first.shape[0]):
        at, end, s = children[h], children[h + 1], np.int64(first[h] & U(255))
        buckets = 1 << (bits - s)
        target = starts[np.int64(first[h] >> U(8)) :]
        for j in range(buckets):
            while at < end and (words[at] >> s) < j:
                at += 1
            target[j] = at
        target[buckets] = end


@kernel
def score_batches(tables, index, ids, before, out):
    """Extend the n-grams that end before each position by its word, length by length."""
    words, order, absolute = tables.words, len(tables.sizes), tables.absolute
    at, history = np.empty(BATCH, np.uint32), np.empty(BATCH, np.uint32)
    want, base = np.empty(BATCH, np.int32), np.empty(BATCH, np.uint32)
    size, top = np.empty(BATCH, np.uint32), np.uint32(words.shape[0] - 1)
    seen, unseen = np.empty(BATCH + 1, np.uint32), np.empty(BATCH + 1, np.uint32)
    # Of each length, the n-gram that ends at each position; first the one before the batch.
    places = np.full((order, BATCH + 1), -1, np.int32)
    for first in range(0, ids.shape[0], BATCH):
        m = min(BATCH, ids.shape[0] - first)
        for i in range(m):
            out[first + i] = prob_at(tables, 0, ids[first + i])
            places[0, i + 1] = ids[first + i]
        for k in range(1, order):
            shorter, longer = places[k - 1], places[k]
            q = 0
            for i in range(m):
                h, long = shorter[i], before[first + i] >= k
                if absolute and long and h < 0:
                    out[first + i] = tables.uniform
                at[q], history[q], want[q] = i, h, ids[first + i]
                longer[i + 1] = -1
                q += long and h >= 0
            if k == 1 and index is not None:
                find_ranges(index, tables.children, history, want, q, base, size)
            else:
                find_ranges(None, tables.children, history, want, q, base, size)
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
                out[first + at[r]] = prob_at(tables, k, base[r])
            for j in range(misses):
                r = unseen[j]
                less = np.float64(backoff_at(tables, k - 1, history[r]))
                out[first + at[r]] = less if absolute else out[first + at[r]] + less
        for k in range(order):
            places[k, 0] = places[k, m]


@kernel
def find_ranges(index, children, history, want, q, base, size):
    if index is None:
        for i in range(q):
            h = U(history[i])
            base[i] = children[h]
            size[i] = children[h + U(1)] - children[h]
    else:
        for i in range(q):
            first = index.first[history[i]]
            j = (first >> U(8)) + (U(want[i]) >> (first & U(255)))
            base[i] = index.starts[j]
            size[i] = index.starts[j + U(1)] - index.starts[j]


@kernel
def halve(words, want, q, base, size):
    """Narrow every search to one word, the last that is not above the one wanted."""
    most = np.uint32(1)
    for i in range(q):
        most = max(most, size[i])
    while most > 1:
        for i in range(q):
            half = size[i] >> np.uint32(1)
            # A product, not a condition, which would become an unpredictable branch.
            base[i] += half * np.uint32(words[U(base[i] + half)] <= want[i])
            size[i] -= half
        most -= most >> np.uint32(1)
