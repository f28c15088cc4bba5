"""Counting the n-grams of a text that is larger than memory.

The text and the levels are disk arrays. Every level is one pass over the text: the keys (id of
the history, word) are counted by an external merge sort, and are the level. Then every position
looks up the n-gram that ends there, which is the history in the next pass. Lookups are random,
so they are made range by range: in each pass over the text only the histories whose n-grams
fit the memory are looked up.

The counts equal those of ``ngram_counts``.

Knuth (1998), The Art of Computer Programming 3, section 5.4.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import partial

import numpy as np

from tacit.core.disk_array import SpillFile, collect_columns, disk_array, release
from tacit.core.engines import Engine, check_stop, get_engine
from tacit.core.kernel import kernel
from tacit.language.key_counts import KeyCounts
from tacit.language.ngram_counts import (
    MOST,
    Level,
    NGramCounts,
    Positions,
    find_children,
    first_children,
    positions,
)
from tacit.language.sentences import Corpus

__all__ = ["count_spilled"]

CHUNK = 1 << 18  # positions or n-grams at a time
KEY_BYTES = 64  # of memory for each key of a run, while it is sorted
LEAST_KEYS, MOST_KEYS = 64, 1 << 24  # of a run, however low or high the limit
U = np.uint64


def count_spilled(
    blocks: Iterable[Corpus],
    v: int,
    order: int,
    markers: bool,
    memory: float,
    engine: str | Engine = "threads",
) -> NGramCounts:
    """The n-grams of up to ``order`` words, in about ``memory`` bytes."""
    chosen = get_engine(engine)
    text, counts = write_text(blocks, markers, v)
    none = np.empty(0, np.int32)
    levels = [Level(np.arange(v, dtype=np.int32), none, none, counts)]
    ngrams, children = text.ids, none
    for k in range(2, order + 1):
        below = levels[-1]
        words, histories, counts = count_keys(text, ngrams, k, memory)
        lower = words
        if k > 2:
            # The last k - 1 words: the history without its first word, and the word.
            shorter = partial(lower_of, below.lower, histories)
            lower = look_up(shorter, words, children, below.words, memory, chosen)
        levels.append(Level(words, histories, lower, counts))
        if k < order:
            children = first_children(histories, len(below.counts), disk_array)
            before = partial(histories_before, text.before, ngrams, k)
            ngrams = look_up(before, text.ids, children, words, memory, chosen)
    return NGramCounts(levels, markers, memory)


def write_text(blocks: Iterable[Corpus], markers: bool, v: int) -> tuple[Positions, np.ndarray]:
    """The text as disk arrays, and how often each word occurs."""
    counts, ids, before = np.zeros(v, np.int64), SpillFile(), SpillFile()
    with ids.file, before.file:
        for block in blocks:
            check_stop()
            text = positions(block, markers)
            ids.write(text.ids)
            before.write(text.before)
            counts += np.bincount(text.ids, minlength=v)
        if before.size > MOST:
            raise ValueError(
                f"The text has {before.size:,} words with start and stop tokens, more than the "
                f"{MOST:,} that one model counts. Train on parts and mix the models."
            )
        return Positions(ids.finish(np.int32), before.finish()), counts.astype(np.int32)


def count_keys(text: Positions, ngrams: np.ndarray, k: int, memory: float) -> list[np.ndarray]:
    """Words, histories and counts of the k-grams; ``ngrams`` says which (k-1)-gram ends where.

    As many keys as fit the memory are sorted and counted at a time, and the runs on disk that
    this gives are merged.
    """
    room = int(min(max(memory / KEY_BYTES, LEAST_KEYS), MOST_KEYS))
    edges = [0]
    runs = collect_columns(map(split_keys, sorted_runs(text, ngrams, k, room, edges)), 3)
    if len(edges) <= 2:
        return runs
    return collect_columns(map(split_keys, merge_runs(runs, edges, room)), 3)


def sorted_runs(
    text: Positions, ngrams: np.ndarray, k: int, room: int, edges: list[int]
) -> Iterator[KeyCounts]:
    """The counted keys of ``room`` positions at a time; ``edges`` gets the end of each run."""
    step, filled, buffer = min(CHUNK, room), 0, np.empty(room, np.uint64)
    for at in range(0, len(text.ids), step):
        check_stop()
        end = at + step
        filled += pack_keys(text, ngrams, k, at, min(end, len(ngrams)), buffer[filled:])
        release(text.ids[at:end], text.before[at:end], ngrams[max(0, at - step) : end])
        if filled + step > room or end >= len(text.ids):
            run = KeyCounts.of(buffer[:filled])
            edges.append(edges[-1] + len(run))
            filled = 0
            yield run


def merge_runs(runs: list[np.ndarray], edges: list[int], room: int) -> Iterator[KeyCounts]:
    """Runs in one: from the next part of each, the keys up to the lowest last key, which no
    later part can hold."""
    starts, ends = edges[:-1], edges[1:]
    size = max(LEAST_KEYS, room // 2 // len(starts))  # a merge takes twice the memory of a sort
    while any(at < end for at, end in zip(starts, ends, strict=True)):
        check_stop()
        parts = [slice(at, min(at + size, end)) for at, end in zip(starts, ends, strict=True)]
        keys = [join_keys(runs[0][part], runs[1][part]) for part in parts]
        bound = min(part[-1] for part in keys if len(part))
        taken = [int(np.searchsorted(part, bound, side="right")) for part in keys]
        counts = [runs[2][at : at + n] for at, n in zip(starts, taken, strict=True)]
        yield KeyCounts.of(
            np.concatenate([part[:n] for part, n in zip(keys, taken, strict=True)]),
            np.concatenate(counts),
        )
        release(*(column[part] for column in runs for part in parts))
        starts = [at + n for at, n in zip(starts, taken, strict=True)]


def join_keys(words: np.ndarray, histories: np.ndarray) -> np.ndarray:
    return (histories.astype(U) << U(32)) | words.astype(U)


def split_keys(block: KeyCounts) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Words, histories and counts."""
    return block.keys & U(0xFFFFFFFF), block.keys >> U(32), block.counts


def lower_of(lower: np.ndarray, histories: np.ndarray, at: int, end: int) -> np.ndarray:
    """The histories of some n-grams without their first words."""
    part = histories[at:end]
    out = lower[part]
    release(part, lower[int(part[0]) : int(part[-1]) + 1])
    return out


def histories_before(
    before: np.ndarray, ngrams: np.ndarray, k: int, at: int, end: int
) -> np.ndarray:
    """The (k-1)-gram that ends before each position; -1 if its sentence is shorter."""
    out = np.empty(end - at, np.int32)
    shift_ngrams(before, ngrams, k, at, out)
    # The one before the first lies in the chunk before.
    release(before[at:end], ngrams[max(0, at - CHUNK) : end])
    return out


def look_up(
    histories: Callable[[int, int], np.ndarray],
    last: np.ndarray,
    children: np.ndarray,
    words: np.ndarray,
    memory: float,
    engine: Engine,
) -> np.ndarray:
    """The numbers of n-grams, or -1, as a disk array. ``histories`` gives those of a range of
    them, and ``last`` are their last words."""
    out = disk_array(len(last), np.int32)
    for first, stop in cut_ranges(children, memory):
        low, high = int(children[first]), int(children[stop])
        part = children[first : stop + 1], words[low:high]

        def find(at: int) -> None:
            here = out[at : at + CHUNK]
            if first == 0:  # noqa: B023
                here[:] = -1
            asked = histories(at, at + len(here))
            find_children(asked, last[at : at + CHUNK], *part, first, low, here)  # noqa: B023
            release(here, last[at : at + CHUNK])

        for _ in engine.each(find, range(0, len(last), CHUNK), work=len(last)):
            pass
        release(*part)
    return out


def cut_ranges(children: np.ndarray, memory: float) -> Iterator[tuple[int, int]]:
    """Ranges of histories that fit the memory, with their n-grams: 4 bytes for each of both."""
    first, n = 0, len(children) - 1
    while first < n:
        check_stop()
        base = first + int(children[first])
        most = base + max(1, int(memory / 4))
        ends = range(first + 1, n + 1)
        stop = first + max(1, bisect_right(ends, most, key=lambda i: i + int(children[i])))
        yield first, stop
        first = stop


# --- Kernels ---


@kernel
def pack_keys(text, ngrams, k, at, end, keys):
    """The keys of the k-grams that end at some positions. Returns how many there are."""
    n = 0
    for t in range(at, end):
        if text.before[t] >= k - 1:
            keys[n] = (U(ngrams[t - 1]) << U(32)) | U(text.ids[t])
            n += 1
    return n


@kernel
def shift_ngrams(before, ngrams, k, at, out):
    for i in range(len(out)):
        out[i] = ngrams[at + i - 1] if before[at + i] >= k - 1 else np.int32(-1)
