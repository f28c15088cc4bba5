"""From counts to probabilities: the smoothings, each a proper distribution.

With c = c(h w) after discounting by D, N = the sum of c(h .) and p' = P(w | h less a word):

    interpolated   P(w | h) = (c - D) / (N + E) + gamma(h) p'
    backing off    P(w | h) = (c - D) / (N + E)  if seen,  else  gamma(h) p'

gamma(h) is what the discounts, the extra E and pruned n-grams leave; backing off divides it by
what p' gives to the words not seen. Below single words lies the uniform distribution.

    mle                   no discount: what was not seen after a known h has probability 0
    add-k                 (c + k) / (N + k V), whatever the lower orders say
    backoff               E reserves a fixed probability, the weight; backs off. Single words
                          unseen get Good-Turing's n1 / N, at most the weight
    jelinek-mercer        E such that N / (N + E) is a weight fitted on held-out text
    katz                  Good-Turing's discounts; backs off
    witten-bell           E = how many different words follow h
    absolute              one discount for each order
    kneser-ney            the same over continuation counts (``adjust_counts``)
    modified-kneser-ney   three discounts for each order

Jelinek and Mercer's weights maximize the probability of the held-out words, order by order from
single words up, with the orders below fixed: a mixture with one unknown for each bucket, the
length of N in bits, solved by expectation-maximization.

N-grams seen no more often than the order's pruning threshold are left out afterwards: discounts
and denominators still count them, and their probability goes to gamma.

Chen and Goodman (1998), An empirical study of smoothing techniques for language modeling.
Jelinek and Mercer (1980), Interpolated estimation of Markov source parameters from sparse data.
The notes' section on smoothing.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from tacit.core.disk_array import release
from tacit.core.engines import Engine, check_stop, get_engine
from tacit.core.kernel import kernel
from tacit.language.adjust_counts import continuation_counts
from tacit.language.backoff_tables import Tables
from tacit.language.discounts import (
    Discounts,
    absolute_discount,
    good_turing,
    modified_discounts,
)
from tacit.language.ngram_counts import NGramCounts, find_ngrams, first_children, positions
from tacit.language.sentences import START, STOP, UNKNOWN, Corpus

__all__ = ["SMOOTHINGS", "check_prune", "fit_mixing", "smooth"]

SMOOTHINGS = (
    "mle", "add-k", "backoff", "jelinek-mercer", "katz", "witten-bell", "absolute",
    "kneser-ney", "modified-kneser-ney",
)  # fmt: skip
BACKING_OFF = ("backoff", "katz")
NOTHING = Discounts(np.zeros(1))
CHUNK = 1 << 17  # n-grams per parallel chunk, about
BUCKETS = 33  # lengths in bits of an int32
UNSEEN = 0.5  # weight of buckets that the held-out text does not have
LEAST = 1e-3  # weights lie between this and one less this


def predictable_words(counts: NGramCounts, *, open_vocabulary: bool) -> np.ndarray:
    """Which words may come next: not the start token, nor the unknown word of a closed one."""
    mask = np.ones(counts.vocabulary_size, np.bool_)
    mask[START] = False
    mask[STOP] = counts.markers
    mask[UNKNOWN] = open_vocabulary
    return mask


def check_prune(prune: Sequence[int], smoothing: str) -> None:
    """ValueError unless n-grams can be pruned by these thresholds."""
    thresholds = list(prune)
    counts = all(isinstance(n, Integral) and n >= 0 for n in thresholds)
    if not counts or (thresholds and thresholds[0]):
        raise ValueError(
            f"NGramModel(prune={prune!r}) needs whole numbers of 0 or more, the first of them "
            "0: single words are not pruned. unk_cutoff drops rare words."
        )
    if thresholds != sorted(thresholds):
        raise ValueError(
            f"NGramModel(prune={prune!r}) must not fall: an n-gram cannot stay when a shorter "
            "one inside it goes."
        )
    if any(thresholds) and smoothing == "add-k":
        raise ValueError("NGramModel(smoothing='add-k') cannot be pruned. Leave prune=().")


def smooth(
    counts: NGramCounts, model: Any, mixing: Sequence[np.ndarray] | None
) -> tuple[Tables, list[Discounts]]:
    """The tables of an ``NGramModel`` by its settings, and the discounts of each order.

    ``mixing`` holds Jelinek-Mercer's weights, for each order by the length in bits of N.
    """
    smoothing, prune, engine = model.smoothing, model.prune, get_engine(model.engine)
    may_follow = predictable_words(counts, open_vocabulary=model.open_vocabulary)
    v = int(may_follow.sum())
    kneser = smoothing.endswith("kneser-ney")
    used = continuation_counts(counts) if kneser else [lv.counts for lv in counts.levels]
    used[0] = np.where(may_follow, used[0], 0).astype(np.int32)
    thresholds = [0, *prune[1:]] + [prune[-1] if prune else 0] * counts.order
    probs, backoffs, all_discounts = [], [], []
    below = np.array([1.0 / v], np.float32)
    for order, (level, c) in enumerate(zip(counts.levels, used, strict=True), 1):
        histories = 1 if order == 1 else len(counts.levels[order - 2].counts)
        root = np.zeros(len(c) if order == 1 else 0, np.int32)  # one history, the empty one
        before, lower = (root, root) if order == 1 else (level.histories, level.lower)
        discounts = estimate_discounts(smoothing, c)
        weight = model.backoff_weight if mixing is None else mixing[order - 1]
        level_counts = LevelCounts(
            smoothing, c, before, c if order == 1 else level.counts, thresholds[order - 1],
            discounts.values, below, lower, order == 1, v, model.k, weight,
        )  # fmt: skip
        if counts.memory < math.inf:
            level_counts = gather_below(counts, level_counts)
        p, gamma = counts.zeros(len(c), np.float32), counts.zeros(histories, np.float32)
        estimate(level_counts, p, gamma, engine)
        if order == 1:
            missing = gamma[0] if smoothing == "add-k" else gamma[0] * below[0]
            p = np.where(may_follow, np.where(c > 0, p, missing), 0).astype(np.float32)
        else:
            backoffs.append(gamma)
        probs.append(p)
        all_discounts.append(discounts)
        below = p
    tables = build_tables(counts, thresholds, probs, backoffs, engine)
    uniform, absolute = float(np.log10(1.0 / v)), smoothing == "add-k"
    return tables._replace(uniform=uniform, absolute=absolute), all_discounts


def estimate_discounts(smoothing: str, counts: np.ndarray) -> Discounts:
    rules = {
        "katz": good_turing,
        "absolute": absolute_discount,
        "kneser-ney": absolute_discount,
        "modified-kneser-ney": modified_discounts,
    }
    return rules[smoothing](counts) if smoothing in rules else NOTHING


class LevelCounts(NamedTuple):
    """What the n-grams of one order are estimated from."""

    smoothing: str
    counts: np.ndarray
    histories: np.ndarray  # sorted
    seen: np.ndarray  # how often each occurs
    threshold: int  # those that occur no more often are pruned
    discounts: np.ndarray
    below: np.ndarray  # probabilities of the order before
    lower: np.ndarray | None  # which of them each n-gram has; None: that at its index
    single_words: bool
    v: int
    k: float
    weight: float | np.ndarray  # of "backoff", or of "jelinek-mercer" by bits of N


def estimate(level: LevelCounts, p: np.ndarray, gamma: np.ndarray, engine: Engine) -> None:
    """Fill in the probabilities of the n-grams of one order, and what their histories leave."""

    def estimate_chunk(chunk: tuple[int, int, int, int]) -> None:
        first, stop, at, end = chunk
        here = slice(at, end)
        part = level._replace(
            counts=level.counts[here],
            histories=level.histories[here] - np.int32(first),
            seen=level.seen[here],
            below=level.below[here if level.lower is None else level.lower[here]],
        )
        p[here], gamma[first:stop] = estimate_histories(part, stop - first)
        release(p[here], gamma[first:stop], level.counts[here], level.histories[here])
        release(level.seen[here], level.below[here])

    chunks = cut_histories(level.histories, len(gamma))
    for _ in engine.each(estimate_chunk, chunks, work=len(level.counts)):
        pass
    release(p, gamma, level.counts, level.histories, level.seen, level.below)  # pages at edges


def gather_below(counts: NGramCounts, level: LevelCounts) -> LevelCounts:
    """The probabilities of the order before in the order of the n-grams, gathered from spans
    that fit the memory."""
    values, indices = level.below, level.lower
    if indices is None:
        return level
    out = counts.zeros(len(indices), values.dtype)
    for here in counts.spans(len(values)):
        for i in range(0, len(indices), CHUNK):
            check_stop()
            part = slice(i, i + CHUNK)
            take_span(values[here], here.start, indices[part], out[part])
            release(indices[part], out[part])
        release(values[here])
    return level._replace(below=out, lower=None)


def cut_histories(histories: np.ndarray, n: int) -> Iterator[tuple[int, int, int, int]]:
    """All histories in chunks of about ``CHUNK`` n-grams: the first history, the one after
    the last, and the same of their n-grams."""
    first = at = 0
    while first < n:
        end = at + CHUNK
        if end < len(histories):
            stop = int(histories[end]) + 1
            end = int(np.searchsorted(histories, histories.dtype.type(stop)))  # no copy
        else:
            stop, end = n, len(histories)
        yield first, stop, at, end
        first, at = stop, end


def estimate_histories(level: LevelCounts, n: int) -> tuple[np.ndarray, np.ndarray]:
    smoothing, c, histories, below, discounts = (
        level.smoothing, level.counts, level.histories, level.below, level.discounts
    )  # fmt: skip
    keep, single_words, v = level.seen > level.threshold, level.single_words, level.v
    total, left, types = np.zeros(n), np.zeros(n), np.zeros(n, np.int64)
    sum_by_history(c, histories, keep, discounts, total, left, types)
    if smoothing == "add-k":
        total += level.k * v
        return ((c + level.k) / total[histories]).astype(np.float32), level.k / total
    extra = np.zeros(n)
    if smoothing == "witten-bell":
        extra = types.astype(np.float64)
    elif smoothing == "backoff":
        extra = total * (level.weight / (1 - level.weight))
        if single_words:
            extra = extra.clip(max=max(1, int(np.count_nonzero(c == 1))))
    elif smoothing == "jelinek-mercer":
        weights = np.asarray(level.weight)
        weight = weights[bits_of(total, len(weights))]
        extra = total * (1 - weight) / weight
    elif smoothing == "katz":
        extra[(left <= 0) & (total > 0)] = 1.0  # else nothing is left for unseen words
    total += extra
    gamma = np.where(total > 0, (left + extra) / np.where(total > 0, total, 1), 1.0)
    backing_off = smoothing in BACKING_OFF
    p, seen = np.zeros(len(c), np.float32), np.zeros(n)
    divide_counts(c, histories, keep, discounts, below, total, gamma, backing_off, p, seen)
    if backing_off:
        distinct = np.bincount(histories[keep], minlength=n)
        if single_words:
            seen = distinct / v  # exactly; a sum of float32 would be off where few are unseen
        full = (distinct >= v) & (total > 0)
        if full.any():  # every word was seen: no word is left to back off to
            p = np.where(full[histories], p / (1 - gamma)[histories], p).astype(np.float32)
        unseen = np.where(full, 1.0, np.maximum(1 - seen, 1e-12))
        gamma = np.where(full, 0.0, np.where(seen > 0, gamma / unseen, gamma))
    return p, gamma


def bits_of(total: np.ndarray, most: int) -> np.ndarray:
    """The length of each number in bits: the bucket of its weight."""
    return np.minimum(np.frexp(total)[1], most - 1)


def build_tables(
    counts: NGramCounts,
    thresholds: Sequence[int],
    probs: Sequence[np.ndarray],
    backoffs: Sequence[np.ndarray],
    engine: Engine,
) -> Tables:
    """All levels in one trie, without the pruned n-grams."""
    levels, order = counts.levels, counts.order
    keep = [
        level.counts > least if least else None
        for level, least in zip(levels, thresholds, strict=False)
    ]
    sizes = np.array([
        len(level.counts) if mask is None else int(np.count_nonzero(mask))
        for level, mask in zip(levels, keep, strict=True)
    ], np.int64)  # fmt: skip
    total, inner = int(sizes.sum()), int(sizes[:-1].sum())
    if total > 2**31 - 2:
        raise ValueError(
            f"The model has {total:,} n-grams, more than the 2**31 - 2 that its tables number. "
            "Prune, or lower the order."
        )
    words, prob = counts.zeros(total, np.int32), counts.zeros(total, np.float32)
    backoff, children = counts.zeros(inner, np.float32), counts.zeros(inner + 1, np.int32)
    children[-1] = total

    def copy_children(i: int, out: np.ndarray, shift: Callable) -> None:
        above, mask = levels[i + 1].histories, keep[i + 1]
        above = above if mask is None else above[mask]
        starts = first_children(above, len(levels[i].counts), counts.zeros)
        copy_masked(starts[:-1], keep[i], out, shift)  # a pruned n-gram has no children

    tasks, first = [], 0
    for i in range(order):
        stop = first + int(sizes[i])
        here = slice(first, stop)
        tasks.append(partial(copy_masked, levels[i].words, keep[i], words[here]))
        tasks.append(partial(copy_masked, probs[i], keep[i], prob[here], np.log10))
        if i + 1 < order:
            tasks.append(partial(copy_masked, backoffs[i], keep[i], backoff[here], np.log10))
            shift = partial(np.add, np.int32(stop))
            tasks.append(partial(copy_children, i, children[here], shift))
        first = stop
    for _ in engine.each(lambda task: task(), tasks, work=total):
        pass
    return Tables(words, children, prob, backoff, sizes, 0.0)


def copy_masked(
    source: np.ndarray, mask: np.ndarray | None, out: np.ndarray, change: Any = None
) -> None:
    """Copy the values where a mask is True, changed by a function; None for all."""
    at = 0
    with np.errstate(divide="ignore"):
        for i in range(0, len(source), CHUNK):
            part = source[i : i + CHUNK]
            values = part if mask is None else part[mask[i : i + CHUNK]]
            here = out[at : at + len(values)]
            here[:] = values if change is None else change(values)
            at += len(values)
            release(part, here)


# --- The weights of jelinek-mercer ---


def fit_mixing(
    counts: NGramCounts, held_out: Corpus, *, open_vocabulary: bool
) -> list[np.ndarray]:
    """The weight of each order, by the length of c(h) in bits."""
    may_follow = predictable_words(counts, open_vocabulary=open_vocabulary)
    text = positions(held_out, counts.markers)
    p = np.full(len(text.ids), 1.0 / may_follow.sum())
    predicted = text.ids != START
    previous = np.zeros(len(text.ids), np.int32)
    weights = []
    for order, level in enumerate(counts.levels, 1):
        occurrences = level.counts if len(level.counts) else np.zeros(1, np.int32)
        if order == 1:
            occurrences = np.where(may_follow, occurrences, 0)
            total, ngram = np.full(1, float(occurrences.sum())), text.ids
            history = np.where(predicted, 0, -1)
        else:
            size = len(counts.levels[order - 2].counts)
            total = np.bincount(level.histories, level.counts, minlength=size + 1)
            history = np.concatenate([[-1], previous[:-1]])
            history[text.before < order - 1] = -1
            children = first_children(level.histories, size)
            ngram = find_ngrams(history.astype(np.int32), text.ids, children, level.words)
        known = (history >= 0) & predicted
        known[known] = total[history[known]] > 0
        n = np.where(known, total[np.maximum(history, 0)], 1)
        seen = np.where(known & (ngram >= 0), occurrences[np.maximum(ngram, 0)], 0) / n
        bucket = bits_of(n, BUCKETS)
        weight = fit_bucket_weights(seen[known], p[known], bucket[known])
        p = np.where(known, weight[bucket] * seen + (1 - weight[bucket]) * p, p)
        weights.append(weight)
        previous = ngram.astype(np.int32)
    return weights


def fit_bucket_weights(seen: np.ndarray, below: np.ndarray, bucket: np.ndarray) -> np.ndarray:
    """The weight of each bucket under which its words are likeliest.

    >>> w = fit_bucket_weights(np.array([0.5, 0.0, 0.5]), np.full(3, 0.1), np.full(3, 2))
    >>> w[2], w[3]
    (np.float64(0.583...), np.float64(0.5))
    """
    weight = np.full(BUCKETS, UNSEEN)
    size = np.bincount(bucket, minlength=BUCKETS)
    for _ in range(100):
        t = weight[bucket]
        posterior = t * seen / np.maximum(t * seen + (1 - t) * below, 1e-300)
        mean = np.bincount(bucket, posterior, minlength=BUCKETS) / np.maximum(size, 1)
        new = np.where(size > 0, np.clip(mean, LEAST, 1 - LEAST), weight)
        moved = np.abs(new - weight).max()
        weight = new
        if moved < 1e-6:
            break
    return weight


# --- Kernels ---


@kernel
def sum_by_history(counts, histories, keep, discounts, total, left, types):
    """The counts, what is taken from them, and how many n-grams there are, by history."""
    most = len(discounts) - 1
    for i in range(len(counts)):
        c, h = counts[i], histories[i]
        if c > 0:
            total[h] += c
            types[h] += 1
            left[h] += discounts[min(c, most)] if keep[i] else c


@kernel
def divide_counts(
    counts, histories, keep, discounts, below, total, gamma, backing_off, p, seen
):  # fmt: skip
    """Probabilities; and, of each history, what the lower order gives to the words seen."""
    most = len(discounts) - 1
    for i in range(len(counts)):
        c, h = counts[i], histories[i]
        if c <= 0 or not keep[i]:
            continue
        discounted = (c - discounts[min(c, most)]) / total[h]
        if backing_off:
            p[i] = discounted
            seen[h] += below[i]
        else:
            p[i] = discounted + gamma[h] * below[i]


@kernel
def take_span(values, first, indices, out):
    """``values[indices - first]``, where it exists."""
    for i in range(len(indices)):
        at = indices[i] - first
        if 0 <= at < len(values):
            out[i] = values[at]
