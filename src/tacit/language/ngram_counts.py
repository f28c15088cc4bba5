"""How often every n-gram occurs, level by level.

An n-gram is the id of its history and its last word. The n-grams of one length are numbered in
the order of (history, word), so those that share a history lie together and the levels form a
trie:

    words        the last word of each
    histories    the place of the first n - 1 words among those of the level before
    lower        the place of the last n - 1 words there
    counts       how often it was seen

Positions of the text that are sorted by their (k-1)-gram have their successors grouped by
history already: the next level only sorts inside the groups (``successor_sort``).
``spilled_counts`` does the same for texts larger than memory.

Every sentence stands between one start and one stop token, and no n-gram reaches over either.
More start tokens would add nothing: they occur only before the first, with the same counts.

The notes' sections on n-gram models and on start and stop tokens.
Heafield, Pouzyrevsky, Clark and Koehn (2013), Scalable modified Kneser-Ney language model
estimation. ACL.
"""

from typing import NamedTuple

import numpy as np

from tacit.core.engines import Engine, check_stop
from tacit.core.kernel import kernel
from tacit.language.sentences import START, STOP, Corpus
from tacit.language.successor_sort import Task, sort_successors

__all__ = ["Level", "NGramCounts", "Positions", "count_ngrams", "positions"]

MOST = 2**31 - 1  # positions and n-grams of a level: ids are int32
LONGEST = 250  # words to an n-gram
SPAN = 1 << 21  # positions to a kernel call, about


class Level(NamedTuple):
    """The n-grams of one length, sorted by history and word. All int32."""

    words: np.ndarray
    histories: np.ndarray
    lower: np.ndarray
    counts: np.ndarray


class NGramCounts(NamedTuple):
    """All levels from single words up. The first has every word there is, seen or not."""

    levels: list[Level]
    markers: bool  # whether sentences had start and stop tokens

    @property
    def order(self) -> int:
        return len(self.levels)

    @property
    def vocabulary_size(self) -> int:
        """Words and special tokens."""
        return len(self.levels[0].counts)

    def from_start(self) -> list[np.ndarray]:
        """Of each level, which n-grams begin with the start token."""
        found = [np.arange(self.vocabulary_size) == START]
        for level in self.levels[1:]:
            found.append(found[-1][level.histories])
        return found


class Positions(NamedTuple):
    """A text as one sequence: its ids, and how many words of the sentence come before each."""

    ids: np.ndarray  # int32
    before: np.ndarray  # uint8, at most LONGEST


def positions(corpus: Corpus, markers: bool = True) -> Positions:
    """The sentences one after the other, between start and stop tokens."""
    n = len(corpus.edges) - 1
    size = len(corpus.ids) + 2 * n * markers
    if size > MOST:
        raise ValueError(
            f"The text has {size:,} words with start and stop tokens, more than the {MOST:,} "
            "that one model counts. Train on parts and mix the models."
        )
    ids, before = np.empty(size, np.int32), np.empty(size, np.uint8)
    at = first = 0
    while first < n:
        check_stop()
        far = corpus.edges[first] + SPAN
        last = min(n, max(first + 1, int(np.searchsorted(corpus.edges, far))), first + SPAN)
        at = lay_out(corpus.ids, corpus.edges, first, last, markers, ids, before, at)
        first = last
    return Positions(ids, before)


def count_ngrams(
    text: Positions,
    v: int,
    order: int,
    markers: bool = True,
    engine: str | Engine = "threads",
) -> NGramCounts:
    """The n-grams of up to ``order`` words over a vocabulary of ``v``."""
    ids = text.ids
    counts = np.bincount(ids, minlength=v).astype(np.int32)
    none = np.empty(0, np.int32)
    levels = [Level(np.arange(v, dtype=np.int32), none, none, counts)]
    if order == 1:
        return NGramCounts(levels, markers)
    sorted_positions = sort_positions(text, counts, markers)
    level, place = list_pairs(sorted_positions, ids)
    levels.append(level)
    for k in range(3, order + 1):
        task = Task(levels[-1].counts, sorted_positions, place, text, markers)
        found, sorted_positions, place = sort_successors(task, engine, last=k == order)
        levels.append(Level(*found))
    return NGramCounts(levels, markers)


def sort_positions(text: Positions, counts: np.ndarray, markers: bool) -> np.ndarray:
    """Positions sorted by the word before and the word there. First words drop out."""
    ids, before = text
    by_word = np.empty(len(ids), np.int32)
    ends, pair_ends = first_places(counts), np.zeros(len(counts) + 1, np.int64)
    for i in range(0, len(ids), SPAN):
        check_stop()
        sort_by_word(ids, before, i, min(len(ids), i + SPAN), ends, pair_ends, by_word)
    if markers:  # first words are start tokens, which lie together now
        starts = slice(*first_places(counts)[START : START + 2])
        by_word = np.delete(by_word, starts)
    pair_ends = np.cumsum(pair_ends)
    out = np.empty(pair_ends[-1], np.int32)
    for i in range(0, len(by_word), SPAN):
        check_stop()
        sort_by_word_before(by_word[i : i + SPAN], ids, before, markers, pair_ends, out)
    return out


def first_places(counts: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])


def list_pairs(sorted_positions: np.ndarray, ids: np.ndarray) -> tuple[Level, np.ndarray]:
    """The bigrams, and the number of the one that ends at each position, or -1."""
    place = np.full(len(ids), -1, np.int32)
    m = len(sorted_positions)
    words, histories = np.empty(m, np.int32), np.empty(m, np.int32)
    counts = np.zeros(m, np.int32)
    n = 0
    for i in range(0, m, SPAN):
        check_stop()
        part = sorted_positions[i : i + SPAN]
        n = number_pairs(part, ids, place, words, histories, counts, n)
    words = words[:n].copy()
    return Level(words, histories[:n].copy(), words, counts[:n].copy()), place


# --- Kernels ---


@kernel
def lay_out(ids, edges, first, last, markers, out, before, at):
    for d in range(first, last):
        r = 0
        if markers:
            out[at], before[at] = START, 0
            at, r = at + 1, 1
        for t in range(edges[d], edges[d + 1]):
            out[at], before[at] = ids[t], r
            at, r = at + 1, min(r + 1, LONGEST)
        if markers:
            out[at], before[at] = STOP, r
            at += 1
    return at


@kernel
def sort_by_word(ids, before, first, last, ends, pair_ends, out):
    """A stretch of a counting sort by word; counts the words before by the way."""
    for t in range(first, last):
        w = ids[t]
        out[ends[w]] = t
        ends[w] += 1
        if before[t] >= 1:
            pair_ends[ids[t - 1] + 1] += 1


@kernel
def sort_by_word_before(order, ids, before, markers, ends, out):
    """A stretch of a second one, stable, by the word before."""
    for i in range(len(order)):
        t = order[i]
        if markers or before[t] > 0:
            h = ids[t - 1]
            out[ends[h]] = t
            ends[h] += 1


@kernel
def number_pairs(order, ids, place, words, histories, counts, n):
    """Number the distinct pairs at sorted positions, from n on."""
    for i in range(len(order)):
        t = order[i]
        h, w = ids[t - 1], ids[t]
        if n == 0 or h != histories[n - 1] or w != words[n - 1]:
            words[n], histories[n] = w, h
            n += 1
        counts[n - 1] += 1
        place[t] = n - 1
    return n
