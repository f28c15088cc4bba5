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
single words up, given the orders below: a mixture with one unknown for each bucket, the
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
from tacit.language.ngram_counts import NGramCounts, extend, first_children, positions
from tacit.language.sentences import START, STOP, UNKNOWN, Corpus

__all__ = ["SMOOTHINGS", "Smoothed", "check_prune", "fit_mixing", "smooth"]

SMOOTHINGS = (
    "mle",
    "add-k",
    "backoff",
    "jelinek-mercer",
    "katz",
    "witten-bell",
    "absolute",
    "kneser-ney",
    "modified-kneser-ney",
)
BACKING_OFF = ("backoff", "katz")
NOTHING = Discounts(np.zeros(1))
CHUNK = 1 << 17  # n-grams per parallel chunk, about
BUCKETS = 33  # lengths in bits of an int32
UNSEEN = 0.5  # weight of buckets that the held-out text does not have
LEAST = 1e-3  # weights lie between this and one less this


class Smoothed(NamedTuple):
    """The tables of a model, and the discounts of each order."""

    tables: Tables
    discounts: list[Discounts]


def predictable(counts: NGramCounts, *, open_vocabulary: bool) -> np.ndarray:
    """Which words may come next: not the start token, nor the unknown word of a closed one."""
    may = np.ones(counts.vocabulary_size, np.bool_)
    may[START] = False
    may[STOP] = counts.markers
    may[UNKNOWN] = open_vocabulary
    return may


def check_prune(prune: Sequence[int], smoothing: str) -> None:
    """ValueError unless n-grams can be pruned by these thresholds."""
    thresholds = list(prune)
    whole = all(isinstance(n, Integral) and n >= 0 for n in thresholds)
    if not whole or (thresholds and thresholds[0]):
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
    counts: NGramCounts,
    smoothing: str,
    *,
    k: float = 1.0,
    weight: float = 0.4,
    mixing: Sequence[np.ndarray] | None = None,
    prune: Sequence[int] = (),
    open_vocabulary: bool = True,
    engine: str | Engine = "threads",
) -> Smoothed:
    """Smooth counts into the tables of a model.

    ``mixing`` holds Jelinek-Mercer's weights, for each order by the length in bits of N.
    """
    chosen = get_engine(engine)
    may = predictable(counts, open_vocabulary=open_vocabulary)
    v = int(may.sum())
    kneser = smoothing.endswith("kneser-ney")
    used = continuation_counts(counts) if kneser else [lv.counts for lv in counts.levels]
    used[0] = np.where(may, used[0], 0).astype(np.int32)
    thresholds = [0, *prune[1:]] + [prune[-1] if prune else 0] * counts.order
    probs, backoffs, taken = [], [], []
    below = np.array([1.0 / v], np.float32)
    for order, (level, c) in enumerate(zip(counts.levels, used, strict=True), 1):
        histories = 1 if order == 1 else len(counts.levels[order - 2].counts)
        root = np.zeros(len(c) if order == 1 else 0, np.int32)  # one history, the empty one
        before, lower = (root, root) if order == 1 else (level.histories, level.lower)
        discounts = NOTHING if smoothing == "add-k" else discounts_for(smoothing, c)
        trust = weight if mixing is None else mixing[order - 1]
        level_counts = LevelCounts(
            smoothing, c, before, c if order == 1 else level.counts, thresholds[order - 1],
            discounts.values, below, lower, order == 1, v, k, trust,
        )  # fmt: skip
        if counts.memory < math.inf:
            level_counts = gather_below(counts, level_counts)
        p, gamma = counts.zeros(len(c), np.float32), counts.zeros(histories, np.float32)
        estimate(level_counts, p, gamma, chosen)
        if order == 1:
            missing = gamma[0] if smoothing == "add-k" else gamma[0] * below[0]
            p = np.where(may, np.where(c > 0, p, missing), 0).astype(np.float32)
        else:
            backoffs.append(gamma)
        probs.append(p)
        taken.append(discounts)
        below = p
    tables = build_tables(counts, thresholds, probs, backoffs, chosen)
    return Smoothed(
        tables._replace(uniform=float(np.log10(1.0 / v)), absolute=smoothing == "add-k"), taken
    )


def discounts_for(smoothing: str, counts: np.ndarray) -> Discounts:
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
    lower: np.ndarray | None  # which of them each n-gram has; None: its own, in its place
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
    values, places = level.below, level.lower
    if places is None:
        return level
    out = counts.zeros(len(places), values.dtype)
    for here in counts.spans(len(values)):
        for i in range(0, len(places), CHUNK):
            check_stop()
            part = slice(i, i + CHUNK)
            take_span(values[here], here.start, places[part], out[part])
            release(places[part], out[part])
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
    kept, single_words, v = level.seen > level.threshold, level.single_words, level.v
    total, left, types = np.zeros(n), np.zeros(n), np.zeros(n, np.int64)
    sum_by_history(c, histories, kept, discounts, total, left, types)
    if smoothing == "add-k":
        room = total + level.k * v
        return add_to_counts(c, histories, level.k, room), level.k / room
    extra = np.zeros(n)
    if smoothing == "witten-bell":
        extra = types.astype(np.float64)
    elif smoothing == "backoff":
        extra = total * (level.weight / (1 - level.weight))
        if single_words:
            extra = extra.clip(max=max(1, int(np.count_nonzero(c == 1))))
    elif smoothing == "jelinek-mercer":
        weights = np.asarray(level.weight)
        trust = weights[bits_of(total, len(weights))]
        extra = total * (1 - trust) / trust
    elif smoothing == "katz":
        extra[(left <= 0) & (total > 0)] = 1.0  # else nothing is left for unseen words
    room = total + extra
    gamma = np.where(room > 0, (left + extra) / np.where(room > 0, room, 1), 1.0)
    backing_off = smoothing in BACKING_OFF
    p, known = np.zeros(len(c), np.float32), np.zeros(n)
    divide_counts(
        c, (histories, kept, discounts, below), room, gamma, backing_off, p, known
    )
    if backing_off:
        distinct = np.bincount(histories[kept], minlength=n)
        if single_words:
            known = distinct / v  # exactly; a sum of float32 would be off where few are unseen
        full = (distinct >= v) & (room > 0)
        if full.any():  # every word was seen: no word is left to back off to
            p = np.where(full[histories], p / (1 - gamma)[histories], p).astype(np.float32)
        rest = np.where(full, 1.0, np.maximum(1 - known, 1e-12))
        gamma = np.where(full, 0.0, np.where(known > 0, gamma / rest, gamma))
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
    kept = [
        level.counts > least if least else None
        for level, least in zip(levels, thresholds, strict=False)
    ]
    sizes = np.array(
        [
            len(level.counts) if keep is None else int(np.count_nonzero(keep))
            for level, keep in zip(levels, kept, strict=True)
        ],
        np.int64,
    )
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
        above, keep = levels[i + 1].histories, kept[i + 1]
        above = above if keep is None else above[keep]
        starts = first_children(above, len(levels[i].counts), counts.zeros)
        copy_kept(starts[:-1], kept[i], out, shift)  # whoever is pruned has no children

    tasks, first = [], 0
    for i in range(order):
        stop = first + int(sizes[i])
        here = slice(first, stop)
        tasks.append(partial(copy_kept, levels[i].words, kept[i], words[here]))
        tasks.append(partial(copy_kept, probs[i], kept[i], prob[here], np.log10))
        if i + 1 < order:
            tasks.append(partial(copy_kept, backoffs[i], kept[i], backoff[here], np.log10))
            shift = partial(np.add, np.int32(stop))
            tasks.append(partial(copy_children, i, children[here], shift))
        first = stop
    for _ in engine.each(lambda task: task(), tasks, work=total):
        pass
    return Tables(words, children, prob, backoff, sizes, 0.0)


def copy_kept(
    source: np.ndarray, kept: np.ndarray | None, out: np.ndarray, change: Any = None
) -> None:
    """Copy what is not pruned, changed by a function."""
    at = 0
    with np.errstate(divide="ignore"):
        for i in range(0, len(source), CHUNK):
            part = source[i : i + CHUNK]
            values = part if kept is None else part[kept[i : i + CHUNK]]
            here = out[at : at + len(values)]
            here[:] = values if change is None else change(values)
            at += len(values)
            release(part, here)


# --- The weights of jelinek-mercer ---


def fit_mixing(
    counts: NGramCounts, apart: Corpus, *, open_vocabulary: bool
) -> list[np.ndarray]:
    """The weight of each order, by the length of c(h) in bits."""
    may = predictable(counts, open_vocabulary=open_vocabulary)
    text = positions(apart, counts.markers)
    p = np.full(len(text.ids), 1.0 / may.sum())
    asked = text.ids != START
    place = np.zeros(len(text.ids), np.int32)
    weights = []
    for order, level in enumerate(counts.levels, 1):
        own = level.counts if len(level.counts) else np.zeros(1, np.int32)
        if order == 1:
            own = np.where(may, own, 0)
            total, ngram = np.full(1, float(own.sum())), text.ids
            history = np.where(asked, 0, -1)
        else:
            size = len(counts.levels[order - 2].counts)
            total = np.bincount(level.histories, level.counts, minlength=size + 1)
            history = np.concatenate([[-1], place[:-1]])
            history[text.before < order - 1] = -1
            children = first_children(level.histories, size)
            ngram = extend(history.astype(np.int32), text.ids, children, level.words)
        known = (history >= 0) & asked
        known[known] = total[history[known]] > 0
        n = np.where(known, total[np.maximum(history, 0)], 1)
        seen = np.where(known & (ngram >= 0), own[np.maximum(ngram, 0)], 0) / n
        bucket = bits_of(n, BUCKETS)
        weight = maximize(seen[known], p[known], bucket[known])
        p = np.where(known, weight[bucket] * seen + (1 - weight[bucket]) * p, p)
        weights.append(weight)
        place = ngram.astype(np.int32)
    return weights


def maximize(seen: np.ndarray, below: np.ndarray, bucket: np.ndarray) -> np.ndarray:
    """The weight of each bucket under which its words are likeliest.

    >>> w = maximize(np.array([0.5, 0.0, 0.5]), np.array([0.1, 0.1, 0.1]), np.array([2, 2, 2]))
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
def sum_by_history(counts, histories, kept, discounts, total, left, types):
    """The counts, what is taken from them, and how many n-grams there are, by history."""
    most = len(discounts) - 1
    for i in range(len(counts)):
        c, h = counts[i], histories[i]
        if c > 0:
            total[h] += c
            types[h] += 1
            left[h] += discounts[min(c, most)] if kept[i] else c


@kernel
def divide_counts(counts, level, room, gamma, backing_off, p, known):
    """Probabilities; and, of each history, what the lower order gives to the words seen."""
    histories, kept, discounts, below = level
    most = len(discounts) - 1
    for i in range(len(counts)):
        c, h = counts[i], histories[i]
        if c <= 0 or not kept[i]:
            continue
        own = (c - discounts[min(c, most)]) / room[h]
        if backing_off:
            p[i] = own
            known[h] += below[i]
        else:
            p[i] = own + gamma[h] * below[i]


@kernel
def take_span(values, first, places, out):
    """``values[places - first]``, where it exists."""
    for i in range(len(places)):
        at = places[i] - first
        if 0 <= at < len(values):
            out[i] = values[at]


@kernel
def add_to_counts(counts, histories, k, room):
    p = np.empty(len(counts), np.float32)
    for i in range(len(counts)):
        p[i] = (counts[i] + k) / room[histories[i]]
    return p
