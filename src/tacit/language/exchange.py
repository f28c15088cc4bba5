"""Words into classes by exchange: each word in turn goes where the classes tell most.

What the class of a word tells about the class of the next is their mutual information. With
N(g, h) the number of times a word of class h follows one of class g, and T words in all,

    mutual information = [ sum N(g, h) log N(g, h) - 2 sum N(g) log N(g) ] / T + log T

A word is taken out of its class, the gain of putting it into each class is computed from its
neighbours alone, and it goes to the best: the sum never falls. The edge of a sentence is a word
in a class of its own that nobody joins. Ties go to the class where the word was, then to the
lowest number. There is no randomness.

Kneser and Ney (1993), Improved clustering techniques for class-based statistical language
modelling. Martin, Liermann and Ney (1998), Algorithms for bigram and trigram word clustering.
Speech Communication 24.
"""

import math
from typing import NamedTuple

import numpy as np

from tacit.core.engines import check_stop
from tacit.core.kernel import kernel

__all__ = ["Bigrams", "Classes", "count_bigrams", "exchange", "mutual_information", "start"]

TABLE = 1 << 16  # counts whose n log n is looked up
WORK = 20_000_000  # steps of an inner loop to a kernel call: some 100 ms
SURELY = 1e-6  # a gain below this is rounding


class Bigrams(NamedTuple):
    """How often each word follows each other one; the last word is the edge of a sentence."""

    edges: np.ndarray  # (v + 2,) int64: of the followers of each word
    others: np.ndarray  # int32
    counts: np.ndarray  # int64
    back_edges: np.ndarray  # the same of those before
    back_others: np.ndarray
    back_counts: np.ndarray
    totals: np.ndarray  # (v + 1,) int64


class Classes(NamedTuple):
    """Where every word is, and the counts that follow from it. Classes k + 1, the edge last."""

    label: np.ndarray  # (v + 1,) int32
    follow: np.ndarray  # (k + 1, k + 1) int64: [g, h], h after g
    back: np.ndarray  # its transpose
    size: np.ndarray  # (k + 1,) int64: words of the text
    members: np.ndarray  # (k + 1,) int64: words of the vocabulary


def count_bigrams(ids: np.ndarray, lengths: np.ndarray, v: int) -> Bigrams:
    """Count neighbours in sentences of word numbers below v, one after the other.

    >>> pairs = count_bigrams(np.array([0, 1, 0]), np.array([2, 1]), 2)
    >>> pairs.edges, pairs.others, pairs.counts
    (array([0, 2, 3, 4]), array([1, 2, 2, 0], dtype=int32), array([1, 1, 1, 2]))
    """
    framed = np.insert(ids.astype(np.int64), np.cumsum(lengths), v)  # an edge after each
    framed = np.concatenate([[v], framed])
    width = v + 1
    pairs, counts = np.unique(framed[:-1] * width + framed[1:], return_counts=True)
    totals = np.bincount(framed[1:], minlength=width).astype(np.int64)
    back = np.argsort(pairs % width, kind="stable")
    rows, columns = pairs // width, pairs % width
    return Bigrams(
        ladder(rows, width), columns.astype(np.int32), counts.astype(np.int64),
        ladder(columns, width), rows[back].astype(np.int32), counts[back].astype(np.int64),
        totals,
    )  # fmt: skip


def ladder(rows: np.ndarray, n: int) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))]).astype(np.int64)


def start(bigrams: Bigrams, k: int) -> Classes:
    """The words dealt out to the classes in turn, the most frequent first."""
    v = len(bigrams.totals) - 1
    label = np.full(v + 1, k, np.int32)
    label[by_frequency(bigrams)] = np.arange(v) % k
    return tally(bigrams, label, k)


def by_frequency(bigrams: Bigrams) -> np.ndarray:
    return np.argsort(-bigrams.totals[:-1], kind="stable")


def tally(bigrams: Bigrams, label: np.ndarray, k: int) -> Classes:
    """The counts of the classes."""
    rows = np.repeat(label.astype(np.int64), np.diff(bigrams.edges))
    flat = np.zeros((k + 1) * (k + 1), np.int64)
    np.add.at(flat, rows * (k + 1) + label[bigrams.others], bigrams.counts)
    follow = flat.reshape(k + 1, k + 1)
    size, members = np.zeros(k + 1, np.int64), np.zeros(k + 1, np.int64)
    np.add.at(size, label, bigrams.totals)
    np.add.at(members, label, 1)
    return Classes(label, follow, np.ascontiguousarray(follow.T), size, members)


def exchange(bigrams: Bigrams, classes: Classes) -> int:
    """One pass over the words, the most frequent first. Classes change in place; returns how
    many words moved."""
    order, k = by_frequency(bigrams), len(classes.size) - 1
    effort = (np.diff(bigrams.edges) + np.diff(bigrams.back_edges))[order]
    effort = np.cumsum(np.minimum(effort, 2 * k + 2) * k)
    logs, moved, at = count_logs(), 0, 0
    while at < len(order):
        check_stop()
        done = effort[at - 1] if at else 0
        stop = max(at + 1, int(np.searchsorted(effort, done + WORK)))
        moved += move_words(order[at:stop], *bigrams, *classes, logs)
        at = stop
    return moved


def mutual_information(classes: Classes) -> float:
    """What a class tells about the next, in nats."""
    total = classes.size.sum()
    joint = classes.follow[classes.follow > 0].astype(np.float64)
    alone = classes.size[classes.size > 0].astype(np.float64)
    inside = (joint * np.log(joint)).sum() - 2 * (alone * np.log(alone)).sum()
    return max(0.0, float(inside / total + math.log(total)))


def count_logs() -> np.ndarray:
    """n log n for small n."""
    n = np.arange(TABLE, dtype=np.float64)
    return n * np.log(np.maximum(n, 1))


# --- Kernels ---


@kernel
def nlogn(n, logs):
    if n < len(logs):
        return logs[n]
    x = np.float64(n)
    return x * math.log(x)


@kernel
def gather(w, edges, others, counts, label, found, dense):
    """Counts of a word's neighbours by class: in ``dense``, with the classes met in ``found``.
    Returns how many there are, and how often the word is its own neighbour."""
    n, own = 0, 0
    for t in range(edges[w], edges[w + 1]):
        if others[t] == w:
            own = counts[t]
            continue
        g = label[others[t]]
        if dense[g] == 0:
            found[n] = g
            n += 1
        dense[g] += counts[t]
    return n, own


@kernel
def shift(
    sign, a, own, total, ahead, n_ahead, after, behind, n_behind, before, follow, back, size
):
    """Put a word into class a (sign 1) or take it out (-1)."""
    for t in range(n_ahead):
        g = ahead[t]
        follow[a, g] += sign * after[g]
        back[g, a] += sign * after[g]
    for t in range(n_behind):
        g = behind[t]
        follow[g, a] += sign * before[g]
        back[a, g] += sign * before[g]
    follow[a, a] += sign * own
    back[a, a] += sign * own
    size[a] += sign * total


@kernel
def add_gains(row, n, gains, logs):
    for b in range(len(gains)):
        gains[b] += nlogn(row[b] + n, logs) - nlogn(row[b], logs)


@kernel
def move_words(
    words, edges, others, counts, back_edges, back_others, back_counts, totals,
    label, follow, back, size, members, logs,
):  # fmt: skip
    k = len(size) - 1
    ahead, behind = np.empty(k + 1, np.int64), np.empty(k + 1, np.int64)
    after, before = np.zeros(k + 1, np.int64), np.zeros(k + 1, np.int64)
    gains = np.empty(k)
    moved = 0
    for w in words:
        a = label[w]
        if members[a] == 1:
            continue  # no class is left empty
        n_ahead, own = gather(w, edges, others, counts, label, ahead, after)
        n_behind, _ = gather(w, back_edges, back_others, back_counts, label, behind, before)
        total = totals[w]
        shift(
            -1, a, own, total, ahead, n_ahead, after, behind, n_behind, before,
            follow, back, size,
        )  # fmt: skip
        for b in range(k):
            gains[b] = -2.0 * (nlogn(size[b] + total, logs) - nlogn(size[b], logs))
        for t in range(n_ahead):
            g = ahead[t]
            add_gains(back[g], after[g], gains, logs)
        for t in range(n_behind):
            g = behind[t]
            add_gains(follow[g], before[g], gains, logs)
        for b in range(k):  # the class's own cell gets all three at once
            x, y = after[b], before[b]
            if x == 0 and y == 0 and own == 0:
                continue
            here = follow[b, b]
            none = nlogn(here, logs)
            gains[b] += nlogn(here + x + y + own, logs) + none
            gains[b] -= nlogn(here + x, logs) + nlogn(here + y, logs)
        best = a
        for b in range(k):
            if gains[b] > gains[best] + SURELY:
                best = b
        shift(
            1, best, own, total, ahead, n_ahead, after, behind, n_behind, before,
            follow, back, size,
        )  # fmt: skip
        if best != a:
            label[w] = best
            members[a] -= 1
            members[best] += 1
            moved += 1
        for t in range(n_ahead):
            after[ahead[t]] = 0
        for t in range(n_behind):
            before[behind[t]] = 0
    return moved
