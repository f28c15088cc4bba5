"""Jelinek and Mercer's weights: how far to trust each order, fitted on held-out text.

    P(w | h) = t c(h w) / c(h) + (1 - t) P(w | h less a word)

t depends on the order and on how often h was seen, by powers of two. Order by order, from
single words up, the weights of one order maximize the probability of the held-out words given
those below: a mixture with one unknown for each bucket, solved by expectation-maximization,
which never makes them less likely.

Jelinek and Mercer (1980), Interpolated estimation of Markov source parameters from sparse data.
"""

import numpy as np

from tacit.language.ngram_counts import NGramCounts, extend, first_children, positions
from tacit.language.sentences import START, Corpus
from tacit.language.smoothing import bits_of, predictable

__all__ = ["DEFAULT", "fit_mixing"]

BUCKETS = 33  # lengths in bits of an int32
DEFAULT = 0.5  # of buckets that the held-out text does not have
LEAST = 1e-3  # weights lie between this and one less this
STEPS = 100
TOLERANCE = 1e-6


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
    weight = np.full(BUCKETS, DEFAULT)
    size = np.bincount(bucket, minlength=BUCKETS)
    for _ in range(STEPS):
        t = weight[bucket]
        posterior = t * seen / np.maximum(t * seen + (1 - t) * below, 1e-300)
        mean = np.bincount(bucket, posterior, minlength=BUCKETS) / np.maximum(size, 1)
        new = np.where(size > 0, np.clip(mean, LEAST, 1 - LEAST), weight)
        moved = np.abs(new - weight).max()
        weight = new
        if moved < TOLERANCE:
            break
    return weight
