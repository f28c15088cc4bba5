"""Words into classes by exchange, and classes into a binary tree.

What the class of a word tells about the class of the next is their mutual information. With
N(g, h) the number of times a word of class h follows one of class g, and T words in all,

    mutual information = [ sum N(g, h) log N(g, h) - 2 sum N(g) log N(g) ] / T + log T

Exchange: a word is taken out of its class, the gain of putting it into each class is computed
from its neighbors alone, and it goes to the best, so the sum never falls. The edge of a
sentence is a word alone in its class, which no other word joins. Ties go to the class where
the word was, then to the lowest number. There is no randomness.

Tree: the two classes whose merger loses least information are merged, again and again. The
path from the root to a class, a string of zeros and ones, is a name whose prefixes are coarser
classes. The loss of every pair is stored; after a merger only the terms of the two classes
change, so a merger costs k^2 steps and the tree k^3.

Kneser and Ney (1993), Improved clustering techniques for class-based statistical language
modelling. Martin, Liermann and Ney (1998), Algorithms for bigram and trigram word clustering.
Speech Communication 24. Brown, Della Pietra, deSouza, Lai and Mercer (1992), Class-based
n-gram models of natural language. Computational Linguistics 18.
"""

import math
from typing import NamedTuple

import numpy as np

from tacit.core.engines import check_stop
from tacit.core.kernel import kernel

__all__ = [
    "Bigrams", "Classes", "count_bigrams", "exchange", "initial_classes", "merge_classes",
    "mutual_information", "paths_of",
]  # fmt: skip


TABLE = 1 << 16  # counts whose n log n is tabulated
WORK = 20_000_000  # steps of an inner loop per kernel call: some 100 ms
ROUNDING = 1e-6  # a gain below this is rounding


class Bigrams(NamedTuple):
    """How often each word follows each other; the last word is the edge of a sentence."""

    edges: np.ndarray  # (v + 2,) int64: of the followers of each word
    others: np.ndarray  # int32
    counts: np.ndarray  # int64
    back_edges: np.ndarray  # the same of those before
    back_others: np.ndarray
    back_counts: np.ndarray
    totals: np.ndarray  # (v + 1,) int64


class Classes(NamedTuple):
    """The class of every word, and the counts of k + 1 classes, the edge last."""

    label: np.ndarray  # (v + 1,) int32
    follow: np.ndarray  # (k + 1, k + 1) int64: [g, h], h after g
    back: np.ndarray  # its transpose
    size: np.ndarray  # (k + 1,) int64: words of the text
    members: np.ndarray  # (k + 1,) int64: words of the vocabulary


class Neighbors(NamedTuple):
    """Counts of a word's followers, or of the words before it, by class."""

    classes: np.ndarray  # those that occur, at the front
    counts: np.ndarray  # by class


def count_bigrams(ids: np.ndarray, lengths: np.ndarray, v: int) -> Bigrams:
    """Count neighbors in sentences of word numbers below v, one after the other.

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
        offsets_of(rows, width), columns.astype(np.int32), counts.astype(np.int64),
        offsets_of(columns, width), rows[back].astype(np.int32), counts[back].astype(np.int64),
        totals,
    )  # fmt: skip


def offsets_of(rows: np.ndarray, n: int) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))]).astype(np.int64)


def initial_classes(bigrams: Bigrams, k: int) -> Classes:
    """Initial classes: the words in turn, the most frequent first."""
    v = len(bigrams.totals) - 1
    label = np.full(v + 1, k, np.int32)
    label[by_frequency(bigrams)] = np.arange(v) % k
    return count_classes(bigrams, label, k)


def by_frequency(bigrams: Bigrams) -> np.ndarray:
    return np.argsort(-bigrams.totals[:-1], kind="stable")


def count_classes(bigrams: Bigrams, label: np.ndarray, k: int) -> Classes:
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
    after, before = (
        Neighbors(np.empty(k + 1, np.int64), np.zeros(k + 1, np.int64)) for _ in range(2)
    )
    logs, moved, at = count_logs(), 0, 0
    while at < len(order):
        check_stop()
        done = effort[at - 1] if at else 0
        stop = max(at + 1, int(np.searchsorted(effort, done + WORK)))
        moved += move_words(order[at:stop], bigrams, classes, after, before, logs)
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


def merge_classes(follow: np.ndarray, size: np.ndarray) -> np.ndarray:
    """(k - 1, 2) int32: what merges with what; the i-th merger makes class k + i.

    ``follow`` and ``size`` are counts of k classes and, last, the edge, which never merges.
    """
    k, logs = len(size) - 1, count_logs()
    follow, size = follow.copy(), size.copy()
    live = np.ones(k, bool)
    loss = np.full((k, k), np.inf)
    for a in range(k):
        check_stop()
        fill_losses(follow, size, live, loss, logs, a, a)
    names = np.arange(k, dtype=np.int32)
    merges = np.empty((max(k - 1, 0), 2), np.int32)
    for step in range(k - 1):
        check_stop()
        a, b = divmod(int(np.argmin(loss)), k)  # a < b; the lowest pair of equals
        merges[step] = names[a], names[b]
        names[a] = k + step
        change_losses(follow, live, loss, logs, a, b, 1.0)  # without the two classes
        for table in (follow, follow.T):
            table[a] += table[b]
            table[b] = 0
        size[a] += size[b]
        size[b] = 0
        live[b] = False
        loss[b, :], loss[:, b] = np.inf, np.inf
        change_losses(follow, live, loss, logs, a, a, -1.0)  # with the merged class
        fill_losses(follow, size, live, loss, logs, a, k)
    return merges


def paths_of(merges: np.ndarray, k: int) -> list[str]:
    """The path of each class, from the root.

    >>> paths_of(np.array([[0, 2], [1, 3]]), 3)
    ['10', '0', '11']
    """
    path = {2 * k - 2: ""} if k > 1 else {0: ""}
    for step in range(len(merges) - 1, -1, -1):
        here = path.pop(k + step)
        left, right = merges[step].tolist()
        path[left], path[right] = here + "0", here + "1"
    return [path[c] for c in range(k)]


# --- Kernels ---


@kernel
def nlogn(n, logs):
    if n < len(logs):
        return logs[n]
    x = np.float64(n)
    return x * math.log(x)


@kernel
def count_neighbors(w, edges, others, counts, label, out):
    """Count a word's neighbors by class. Returns how many classes there are, and how often the
    word is its own neighbor."""
    n, self_count = 0, 0
    for t in range(edges[w], edges[w + 1]):
        if others[t] == w:
            self_count = counts[t]
            continue
        g = label[others[t]]
        if out.counts[g] == 0:
            out.classes[n] = g
            n += 1
        out.counts[g] += counts[t]
    return n, self_count


@kernel
def shift(classes, sign, a, self_count, total, after, n_after, before, n_before):
    """Put a word into class a (sign 1) or take it out (-1)."""
    follow, back = classes.follow, classes.back
    for t in range(n_after):
        g = after.classes[t]
        follow[a, g] += sign * after.counts[g]
        back[g, a] += sign * after.counts[g]
    for t in range(n_before):
        g = before.classes[t]
        follow[g, a] += sign * before.counts[g]
        back[a, g] += sign * before.counts[g]
    follow[a, a] += sign * self_count
    back[a, a] += sign * self_count
    classes.size[a] += sign * total


@kernel
def add_gains(row, n, gains, logs):
    for b in range(len(gains)):
        gains[b] += nlogn(row[b] + n, logs) - nlogn(row[b], logs)


@kernel
def move_words(words, bigrams, classes, after, before, logs):
    """Move each word to its best class; returns how many moved."""
    label, size, members = classes.label, classes.size, classes.members
    follow, back = classes.follow, classes.back
    k = len(size) - 1
    gains = np.empty(k)
    moved = 0
    for w in words:
        a = label[w]
        if members[a] == 1:
            continue  # no class becomes empty
        n_after, self_count = count_neighbors(
            w, bigrams.edges, bigrams.others, bigrams.counts, label, after
        )
        n_before, _ = count_neighbors(
            w, bigrams.back_edges, bigrams.back_others, bigrams.back_counts, label, before
        )
        total = bigrams.totals[w]
        shift(classes, -1, a, self_count, total, after, n_after, before, n_before)
        for b in range(k):
            gains[b] = -2.0 * (nlogn(size[b] + total, logs) - nlogn(size[b], logs))
        for t in range(n_after):
            g = after.classes[t]
            add_gains(back[g], after.counts[g], gains, logs)
        for t in range(n_before):
            g = before.classes[t]
            add_gains(follow[g], before.counts[g], gains, logs)
        for b in range(k):  # the class's own cell gets all three at once
            x, y = after.counts[b], before.counts[b]
            if x == 0 and y == 0 and self_count == 0:
                continue
            here = follow[b, b]
            none = nlogn(here, logs)
            gains[b] += nlogn(here + x + y + self_count, logs) + none
            gains[b] -= nlogn(here + x, logs) + nlogn(here + y, logs)
        best = a
        for b in range(k):
            if gains[b] > gains[best] + ROUNDING:
                best = b
        shift(classes, 1, best, self_count, total, after, n_after, before, n_before)
        if best != a:
            label[w] = best
            members[a] -= 1
            members[best] += 1
            moved += 1
        for t in range(n_after):
            after.counts[after.classes[t]] = 0
        for t in range(n_before):
            before.counts[before.classes[t]] = 0
    return moved


@kernel
def term(follow, i, j, x, logs):
    """What merging i and j changes in their counts with x."""
    ix, jx, xi, xj = follow[i, x], follow[j, x], follow[x, i], follow[x, j]
    change = 0.0
    if ix and jx:
        change += nlogn(ix + jx, logs) - nlogn(ix, logs) - nlogn(jx, logs)
    if xi and xj:
        change += nlogn(xi + xj, logs) - nlogn(xi, logs) - nlogn(xj, logs)
    return change


@kernel
def merge_loss(follow, size, live, i, j, logs):
    change = term(follow, i, j, len(size) - 1, logs)
    for x in range(len(live)):
        if live[x] and x != i and x != j:
            change += term(follow, i, j, x, logs)
    ii, ij, ji, jj = follow[i, i], follow[i, j], follow[j, i], follow[j, j]
    change += nlogn(ii + ij + ji + jj, logs)
    change -= nlogn(ii, logs) + nlogn(ij, logs) + nlogn(ji, logs) + nlogn(jj, logs)
    change -= 2.0 * (
        nlogn(size[i] + size[j], logs) - nlogn(size[i], logs) - nlogn(size[j], logs)
    )
    return -change


@kernel
def fill_losses(follow, size, live, loss, logs, a, stop):
    """The losses of class a with the classes below ``stop``."""
    for i in range(stop):
        if live[i] and i != a:
            low, high = min(i, a), max(i, a)
            loss[low, high] = merge_loss(follow, size, live, low, high, logs)


@kernel
def change_losses(follow, live, loss, logs, a, b, sign):
    """Add the terms with a, and with b if it is not a, to the losses of all pairs without
    them."""
    for i in range(len(live)):
        if live[i] and i != a and i != b:
            for j in range(i + 1, len(live)):
                if live[j] and j != a and j != b:
                    change = term(follow, i, j, a, logs)
                    if b != a:
                        change += term(follow, i, j, b, logs)
                    loss[i, j] += sign * change
