"""A language model as a trie of n-grams with a probability and a back-off weight each.

    P(w | h) = prob(h w)                      if h w is in the tables
             = backoff(h) * P(w | h less its first word)     otherwise

where an h that is not in the tables has the weight 1. Every smoothing but add-k can be written
so, and it is what ARPA files hold. For add-k (``absolute``) the weight of h is itself the
probability of every word not seen after it, and without h it is that of the uniform
distribution.

All n-grams are numbered through, the shortest first, those of one length by history and word:

    words       last word of each                           (n,) int32; words 0, 1, 2, ... first
    children    where the n-grams that continue each begin  (m + 1,) int32; m below the highest
    probs       log10, or codes of them                     (n,) float32 or uint8
    backoffs    log10, or codes of them                     (m,) float32 or uint8

``children`` of one length ends where that of the next begins, so four arrays are the model:
they lie in a file as they are and are used where they lie.

Heafield (2011), KenLM: faster and smaller language model queries. WMT.
"""

from typing import NamedTuple

import numpy as np

from tacit.core.kernel import kernel
from tacit.language.trie_search import find_word

__all__ = [
    "Tables", "check_tables", "distribution", "find_history", "quantize",
    "score_sentence",
]  # fmt: skip

U = np.uint64
SPAN = 1 << 18  # positions to a kernel call
LEVELS = 256  # values that a quantized number may have


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
        return part if self.prob_values is None else self.prob_values[k - 1][part]

    def log10_backoffs(self, k: int) -> np.ndarray:
        part = self.backoffs[self.first(k) : self.first(k + 1)]
        return part if self.backoff_values is None else self.backoff_values[k - 1][part]


def score_sentence(tables: Tables, ids: np.ndarray, first: int) -> float:
    """log10 of the probability of one sentence from position ``first`` on."""
    return sum_sentence(
        ids, first, tables.order, tables.children, tables.words, tables.probs,
        tables.prob_values, tables.backoffs, tables.backoff_values, tables.absolute,
        tables.uniform,
    )  # fmt: skip


def find_history(tables: Tables, ids: np.ndarray) -> int:
    """The number of the n-gram with these words; -1 if there is none."""
    at = int(ids[0])
    for w in ids[1:]:
        if at >= len(tables.backoffs):
            return -1
        low, high = int(tables.children[at]), int(tables.children[at + 1])
        at = low + int(np.searchsorted(tables.words[low:high], w))
        if at == high or tables.words[at] != w:
            return -1
    return at


def distribution(tables: Tables, history: np.ndarray) -> np.ndarray:
    """The probabilities of all words after a history of ids, as float64."""
    history = np.asarray(history, np.int32)[max(0, len(history) - tables.order + 1) :]
    p = 10.0 ** tables.log10_probs(1).astype(np.float64)
    for k in range(1, len(history) + 1):
        at = find_history(tables, history[len(history) - k :])
        if tables.absolute:
            p[p > 0] = 10.0**tables.uniform
        if at < 0 or at >= len(tables.backoffs):
            continue
        backoff = tables.backoffs[at]
        if tables.backoff_values is not None:
            backoff = tables.backoff_values[k - 1][backoff]
        if tables.absolute:
            p[p > 0] = 10.0 ** np.float64(backoff)
        else:
            p *= 10.0 ** np.float64(backoff)
        low, high = int(tables.children[at]), int(tables.children[at + 1])
        known = tables.probs[low:high]
        if tables.prob_values is not None:
            known = tables.prob_values[k][known]
        p[tables.words[low:high]] = 10.0 ** known.astype(np.float64)
    return p


def check_tables(
    tables: Tables, word_bytes: np.ndarray, word_offsets: np.ndarray, *, whole: bool
) -> None:
    """ValueError if these arrays are no model; ``whole`` looks at every number."""
    sizes, n, v = tables.sizes, len(tables.words), int(tables.sizes[0])
    if (
        (sizes < 0).any()
        or int(sizes.sum()) != n
        or int(sizes[:-1].sum()) != len(tables.backoffs)
        or v != len(word_offsets) + 2
    ):
        raise ValueError("the sizes of its tables do not agree")
    if not whole:
        return
    edges = word_offsets
    if edges[0] != 0 or edges[-1] != len(word_bytes) or (np.diff(edges) < 0).any():
        raise ValueError("its vocabulary is damaged")
    children = tables.children
    if (np.diff(children) < 0).any() or children[0] != v or children[-1] != n:
        raise ValueError("its n-grams do not form a trie")
    if tables.words.min() < 0 or tables.words.max() >= v:
        raise ValueError("its n-grams hold words that it does not have")


def quantize(tables: Tables) -> Tables:
    """The same with one byte for each probability and back-off weight.

    The values of each length are cut into 256 parts of equal size, each of which stands for
    its mean. Probabilities no longer add up to one exactly.
    """
    if tables.prob_values is not None:
        return tables
    probs, prob_values = zip(
        *(in_parts(tables.log10_probs(k)) for k in range(1, tables.order + 1)), strict=True
    )
    backs = [in_parts(tables.log10_backoffs(k)) for k in range(1, tables.order)]
    return tables._replace(
        probs=np.concatenate(probs),
        prob_values=np.stack(prob_values),
        backoffs=np.concatenate([codes for codes, _ in backs] or [np.empty(0, np.uint8)]),
        backoff_values=np.stack([v for _, v in backs] or [np.empty((0, LEVELS), np.float32)]),
    )


def in_parts(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Codes and what they stand for. -inf and 0 are kept exactly: they have a meaning."""
    exact = np.array([-np.inf, 0.0], np.float32)
    found = np.unique(values[np.isfinite(values) & (values != 0)])
    room = LEVELS - len(exact)
    if len(found) > room:
        inside = np.sort(values[np.isfinite(values) & (values != 0)])
        edges = np.linspace(0, len(inside), room + 1).astype(np.int64)
        sums = np.add.reduceat(inside.astype(np.float64), edges[:-1])
        found = np.unique((sums / np.diff(edges)).astype(np.float32))
    book = np.unique(np.concatenate([exact, found])).astype(np.float32)
    middle = (book[1:-1] + book[2:]) / 2  # book[0] is -inf
    codes = 1 + np.searchsorted(middle, values)
    codes[np.isneginf(values)] = 0
    zero = int(np.flatnonzero(book == 0)[0])
    codes[values == 0] = zero
    codes[(codes == zero) & (values != 0)] = max(1, zero - 1) if zero > 1 else zero
    full = np.zeros(LEVELS, np.float32)
    full[: len(book)] = book
    return codes.astype(np.uint8), full


# --- Kernels ---


@kernel(inline="always")
def value_at(values, codes, level, i):
    if values is None:
        return codes[i]
    else:
        return values[level, codes[i]]


@kernel
def sum_sentence(
    ids, first, order, children, words, probs, prob_values, backoffs, backoff_values,
    absolute, uniform,
):  # fmt: skip
    """Word by word, in a single call; ``trie_scores`` is for whole texts."""
    state = np.full(order, -1, np.int32)  # n-grams of 1, 2, ... words that end here
    total = 0.0
    for t in range(len(ids)):
        w = ids[t]
        score = np.float64(value_at(prob_values, probs, 0, w))
        for k in range(min(order - 1, t), 0, -1):
            state[k] = state[k - 1]
        state[0] = w
        for k in range(1, min(order, t + 1)):
            h = state[k]
            state[k] = -1
            if h < 0:
                if absolute:
                    score = uniform
                continue
            at = find_word(words, children[h], children[h + 1], w)
            if at >= 0:
                state[k] = at
                score = np.float64(value_at(prob_values, probs, k, at))
            elif absolute:
                score = np.float64(value_at(backoff_values, backoffs, k - 1, h))
            else:
                score += value_at(backoff_values, backoffs, k - 1, h)
        if t >= first:
            total += score
    return total
