"""How often every n-gram occurs, level by level.

An n-gram is the id of its history and its last word. The n-grams of one length are numbered in
the order of (history, word), so those that share a history are adjacent and the levels form a
trie:

    words        the last word of each
    histories    the index of the first n - 1 words in the level before
    lower        the index of the last n - 1 words in the level before
    counts       how often it occurs

Positions of the text sorted by the (k-1)-gram that ends there have their successors grouped by
history already: the next level only sorts within the groups. Chunks of groups are sorted and
counted in parallel; once all are done, the first n-gram number of each chunk is known and a
second pass writes the numbers. The result does not depend on the chunks or the engine.
``spilled_counts`` does the same for texts larger than memory.

Every sentence stands between one start and one stop token, and no n-gram crosses either.
More start tokens would add nothing: they occur only before the first, with the same counts.

The notes' sections on n-gram models and on start and stop tokens.
Heafield, Pouzyrevsky, Clark and Koehn (2013), Scalable modified Kneser-Ney language model
estimation. ACL.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from tacit.core.disk_array import disk_array, release
from tacit.core.engines import Engine, check_stop, get_engine
from tacit.core.kernel import kernel
from tacit.language.sentences import START, STOP, BlockWords, Corpus

__all__ = [
    "Level", "NGramCounts", "Positions", "count_ngrams", "find_ngrams", "find_word",
    "first_children", "join_positions", "positions",
]  # fmt: skip

U = np.uint64
MOST = 2**31 - 1  # positions and n-grams of a level: ids are int32
LONGEST = 250  # words in an n-gram
SPAN = 1 << 21  # positions per kernel call, about: some 50 ms, so that Ctrl-C works
CHUNK = 1 << 19  # positions per parallel chunk, about
BATCH = 1 << 12  # positions whose successors are fetched together, about


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
    memory: float = math.inf  # limited: the levels are disk arrays, and the model should be

    @property
    def order(self) -> int:
        return len(self.levels)

    @property
    def vocabulary_size(self) -> int:
        """Words and special tokens together."""
        return len(self.levels[0].counts)

    def from_start(self) -> Iterator[tuple[int, int]]:
        """Of each level in turn, the range of the n-grams that begin with the start token."""
        ends = START, START + 1
        yield ends
        for level in self.levels[1:]:
            low, high = np.searchsorted(level.histories, np.array(ends, np.int32))
            ends = int(low), int(high)
            yield ends

    def zeros(self, size: int, dtype: Any) -> np.ndarray:
        """A new array, on disk if the levels are."""
        return np.zeros(size, dtype) if self.memory == math.inf else disk_array(size, dtype)

    def spans(self, size: int) -> Iterator[slice]:
        """Parts of an array of 4-byte numbers that fit the memory, for access at random."""
        step = max(1, int(min(self.memory / 4, size)))
        return (slice(i, i + step) for i in range(0, size, step))


class Positions(NamedTuple):
    """A text as one sequence: its ids, and how many words of the sentence come before each."""

    ids: np.ndarray  # int32
    before: np.ndarray  # uint8, at most LONGEST


def positions(corpus: Corpus, markers: bool = True) -> Positions:
    """The sentences one after the other, between start and stop tokens."""
    n = len(corpus.edges) - 1
    out = empty_positions(len(corpus.ids) + 2 * n * markers)
    at = first = 0
    while first < n:
        check_stop()
        far = corpus.edges[first] + SPAN
        last = min(n, max(first + 1, int(np.searchsorted(corpus.edges, far))), first + SPAN)
        at = write_sentences(corpus.ids, None, corpus.edges, first, last, markers, out, at)
        first = last
    return out


def join_positions(
    blocks: Sequence[BlockWords], ids: Sequence[np.ndarray], markers: bool, engine: Engine
) -> Positions:
    """The same for the sentences with a word of many blocks. ``ids`` holds the id of each word
    of a block's vocabulary."""
    sizes = [
        len(block.ids) + 2 * markers * int(np.count_nonzero(np.diff(block.edges)))
        for block in blocks
    ]
    starts = np.cumsum([0, *sizes])
    out = empty_positions(int(starts[-1]))

    def write_block(i: int) -> None:
        edges = blocks[i].edges
        edges = edges[np.concatenate([[True], np.diff(edges) > 0])]
        n = len(edges) - 1
        write_sentences(blocks[i].ids, ids[i], edges, 0, n, markers, out, int(starts[i]))

    for _ in engine.each(write_block, range(len(blocks)), work=len(out.ids)):
        pass
    return out


def empty_positions(size: int) -> Positions:
    if size > MOST:
        raise ValueError(
            f"The text has {size:,} words with start and stop tokens, more than the {MOST:,} "
            "that one model counts. Train on parts and mix the models."
        )
    return Positions(np.empty(size, np.int32), np.empty(size, np.uint8))


def count_ngrams(
    text: Positions,
    v: int,
    order: int,
    markers: bool = True,
    engine: str | Engine = "threads",
) -> NGramCounts:
    """The n-grams of up to ``order`` words over a vocabulary of ``v``."""
    ids, chosen = text.ids, get_engine(engine)
    counts = np.bincount(ids, minlength=v).astype(np.int32)
    none = np.empty(0, np.int32)
    levels = [Level(np.arange(v, dtype=np.int32), none, none, counts)]
    if order == 1:
        return NGramCounts(levels, markers)
    sorted_positions, ngrams = sort_by_word(ids, counts), ids
    for k in range(2, order + 1):
        groups = Groups(levels[-1].counts, sorted_positions, ngrams, *text, markers)
        level, sorted_positions, ngrams = sort_successors(groups, chosen, last=k == order)
        levels.append(level)
    return NGramCounts(levels, markers)


def sort_by_word(ids: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Positions sorted by their word."""
    out = np.empty(len(ids), np.int32)
    ends = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    for i in range(0, len(ids), SPAN):
        check_stop()
        place_by_word(ids, i, min(len(ids), i + SPAN), ends, out)
    return out


# --- From the n-grams of one length to those one word longer ---


class Groups(NamedTuple):
    """Positions grouped by the n-gram that ends there; their successors are to be sorted."""

    sizes: np.ndarray  # of the groups
    order: np.ndarray  # positions sorted by n-gram
    ngrams: np.ndarray  # the number of the n-gram that ends at each position
    ids: np.ndarray
    before: np.ndarray
    markers: bool


class Following(NamedTuple):
    """What follows the positions of a batch of groups."""

    positions: np.ndarray
    ngrams: np.ndarray
    words: np.ndarray


class Successors(NamedTuple):
    """Output arrays; every chunk writes from the index of its first position on."""

    words: np.ndarray
    histories: np.ndarray
    lower: np.ndarray
    counts: np.ndarray
    following: np.ndarray  # positions sorted by the longer n-gram; empty at the last level


def sort_successors(
    groups: Groups, engine: Engine, *, last: bool
) -> tuple[Level, np.ndarray, np.ndarray]:
    """The level of the longer n-grams; and, unless it is the last, the positions sorted by
    them and the number of the one that ends at each position."""
    size = len(groups.order)
    out = Successors(*(np.empty(0 if last and i == 4 else size, np.int32) for i in range(5)))
    chunks = cut_groups(groups.sizes)

    def sort_chunk(chunk: tuple[int, int, int]) -> tuple[int, int]:
        first, stop, _ = chunk
        most = max(BATCH, int(groups.sizes[first:stop].max(initial=0)))
        buffers = np.empty(most, np.uint64), np.empty(most, np.uint64)
        near = Following(*(np.empty(most, np.int32) for _ in Following._fields))
        return sort_groups(groups, *chunk, *buffers, near, out)

    sizes = list(engine.each(sort_chunk, chunks, work=size))
    starts = [at for _, _, at in chunks]
    numbers = [n for n, _ in sizes]
    ngrams = np.empty(0, np.int32)
    if not last:
        ngrams = np.full(len(groups.ngrams), -1, np.int32)
        firsts = np.cumsum([0, *numbers])

        def number_chunk(i: int) -> None:
            number_ngrams(
                out.counts, out.following, starts[i], numbers[i], int(firsts[i]), ngrams
            )

        for _ in engine.each(number_chunk, range(len(chunks)), work=size):
            pass
    level = Level(*(close_gaps(column, starts, numbers) for column in out[:4]))
    if last:
        return level, ngrams, ngrams
    return level, close_gaps(out.following, starts, [n for _, n in sizes]), ngrams


def cut_groups(sizes: np.ndarray) -> list[tuple[int, int, int]]:
    """Chunks of groups with about as many positions each: the first group, the one after the
    last, and the index of the first position."""
    ends = np.cumsum(sizes, dtype=np.int64)
    first = at = 0
    chunks = []
    while first < len(ends):
        stop = max(first + 1, int(np.searchsorted(ends, at + CHUNK)))
        chunks.append((first, stop, at))
        at, first = int(ends[stop - 1]), stop
    return chunks


def close_gaps(array: np.ndarray, starts: list[int], sizes: list[int]) -> np.ndarray:
    """Chunks moved together, in place unless most of the array is unused."""
    total = sum(sizes)
    out = array if 2 * total >= len(array) else np.empty(total, array.dtype)
    at = 0
    for start, size in zip(starts, sizes, strict=True):
        out[at : at + size] = array[start : start + size]
        at += size
    return out[:total]


# --- Lookup ---


def first_children(
    histories: np.ndarray, n: int, zeros: Callable[[int, Any], np.ndarray] = np.zeros
) -> np.ndarray:
    """Where the n-grams of each of ``n`` sorted histories begin, and where the last ones end.

    ``zeros`` makes the array.

    >>> first_children(np.array([0, 0, 2], np.int32), 3)
    array([0, 2, 2, 3], dtype=int32)
    """
    out, filled = zeros(n + 1, np.int32), 0
    for i in range(0, len(histories), SPAN):
        check_stop()
        part, before = histories[i : i + SPAN], filled
        filled = mark_children(part, i, filled, out)
        release(part, out[before:filled])
    out[filled:] = len(histories)
    release(out)
    return out


def find_ngrams(
    histories: np.ndarray, ids: np.ndarray, children: np.ndarray, words: np.ndarray
) -> np.ndarray:
    """The number of the n-gram of each history (-1 for none) and word; -1 if unseen."""
    out = np.full(len(ids), -1, np.int32)
    for i in range(0, len(ids), SPAN):
        check_stop()
        part = slice(i, i + SPAN)
        find_children(histories[part], ids[part], children, words, 0, 0, out[part])
    return out


# --- Kernels ---


@kernel
def write_sentences(ids, global_ids, edges, first, last, markers, text, at):
    """Write sentences ``first`` to ``last`` from position ``at`` on."""
    out, before = text.ids, text.before
    for d in range(first, last):
        r = 0
        if markers:
            out[at], before[at] = START, 0
            at, r = at + 1, 1
        for t in range(edges[d], edges[d + 1]):
            out[at] = ids[t] if global_ids is None else global_ids[ids[t]]
            before[at] = r
            at, r = at + 1, min(r + 1, LONGEST)
        if markers:
            out[at], before[at] = STOP, r
            at += 1
    return at


@kernel
def place_by_word(ids, first, last, ends, out):
    """Part of a counting sort."""
    for t in range(first, last):
        w = ids[t]
        out[ends[w]] = t
        ends[w] += 1


@kernel
def sort_groups(groups, first, stop, at, room, spare, near, out):
    """Sort and count the successors of some groups, written from ``at`` on. Returns how many
    longer n-grams there are, and at how many positions."""
    words, histories, lower, counts = out.words, out.histories, out.lower, out.counts
    sizes, following = groups.sizes, out.following
    start, n, p, h = at, at, at, first
    ends = np.empty((1 << 11) + 1, np.int64)
    while h < stop:
        last, size = h + 1, np.int64(sizes[h])
        while last < stop and size + sizes[last] <= BATCH:
            size += sizes[last]
            last += 1
        fetch_successors(groups, at, size, near)
        end = 0
        for group in range(h, last):
            begin, end, q, source = end, end + sizes[group], 0, room
            for i in range(begin, end):
                room[q] = (U(near.words[i]) << U(32)) | U(i)
                q += near.words[i] != START
            if q <= 40:
                for j in range(1, q):
                    x, k = room[j], j - 1
                    while k >= 0 and room[k] > x:
                        room[k + 1] = room[k]
                        k -= 1
                    room[k + 1] = x
            elif radix_sort(room, spare, q, U(8 if q < 4000 else 11), ends):
                source = spare
            last_word = U(0xFFFFFFFF)
            for j in range(q):
                word, x = source[j] >> U(32), source[j] & U(0xFFFFFFFF)
                if word != last_word:
                    words[n], histories[n], counts[n] = word, group, 0
                    lower[n] = near.ngrams[x]
                    last_word = word
                    n += 1
                counts[n - 1] += 1
                if following.shape[0]:
                    following[p] = near.positions[x]
                    p += 1
        at, h = at + size, last
    return n - start, p - start


@kernel
def fetch_successors(groups, at, size, near):
    """What follows at some positions: its position, word and n-gram. The lookups miss the
    cache; with nothing between them, they overlap. START stands for the end of a sentence."""
    ids, before, ngrams = groups.ids, groups.before, groups.ngrams
    for i in range(size):
        t = groups.order[at + i] + 1
        t = t if t < len(ids) else 0  # where a sentence begins
        near.positions[i], near.ngrams[i], near.words[i] = t, ngrams[t], ids[t]
    if not groups.markers:  # else it is the start token itself
        for i in range(size):
            if before[near.positions[i]] == 0:
                near.words[i] = START


@kernel
def number_ngrams(counts, following, at, n, before, ngrams):
    """Write at every position the number of the n-gram that ends there."""
    p = at
    for i in range(n):
        for _ in range(counts[at + i]):
            ngrams[following[p]] = before + i
            p += 1


@kernel
def radix_sort(values, other, m, bits, ends):
    """Sort by the bits from 32 on, some at a time. Returns whether the result is in
    ``other``."""
    most = U(0)
    for i in range(m):
        most |= values[i]
    source, target, swapped = values, other, False
    shift, digits = U(32), (U(1) << bits) - U(1)
    while shift < U(64) and most >> shift:
        ends[: digits + U(2)] = 0
        for i in range(m):
            ends[((source[i] >> shift) & digits) + U(1)] += 1
        for b in range(digits):
            ends[b + 1] += ends[b]
        for i in range(m):
            digit = (source[i] >> shift) & digits
            target[ends[digit]] = source[i]
            ends[digit] += 1
        source, target = target, source
        swapped = not swapped
        shift += bits
    return swapped


@kernel
def find_word(words, low, high, w):
    """The index of a word in a sorted range of words, or -1.

    Halves without a branch on the outcome, which could not be predicted; so the searches of
    neighboring positions overlap in the processor.
    """
    base, n = U(low), U(high - low)
    if n == U(0):
        return -1
    while n > U(1):
        half = n >> U(1)
        base += half * U(words[base + half] <= w)
        n -= half
    return np.int64(base) if words[base] == w else -1


@kernel
def mark_children(histories, at, filled, out):
    """Write where the n-grams from number ``at`` on begin. Returns how much is filled in."""
    for i in range(len(histories)):
        while filled <= histories[i]:
            out[filled] = at + i
            filled += 1
    return filled


@kernel
def find_children(histories, ids, children, words, first, low, out):
    """Look up n-grams whose histories are in a range: history ``first`` is the first of
    ``children``, and ``low`` the number of the first of ``words``."""
    for t in range(len(ids)):
        h = histories[t] - first
        if 0 <= h < len(children) - 1:
            at = find_word(words, children[h] - low, children[h + 1] - low, ids[t])
            out[t] = at + low if at >= 0 else -1
