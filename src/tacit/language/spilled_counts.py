"""Counting the n-grams of a text that is larger than memory.

The text is in files of ids. Every level is one pass over it: the keys (id of the history,
word) go into a ``CountStore``, which sorts and merges them and spills what does not fit; the
sorted keys are the level, and a second pass writes, for every position, the n-gram that ends
there, which is the history in the next one. The levels are disk arrays. Lookups need the words
and children of one level at a time in memory, 8 bytes per n-gram.

The counts equal those of ``ngram_counts``.
"""

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tacit.core.disk_array import collect_columns, disk_array, release
from tacit.core.engines import check_stop
from tacit.core.temporary import temporary
from tacit.language.count_store import CountStore, KeyCounts
from tacit.language.ngram_counts import (
    MOST,
    Level,
    NGramCounts,
    extend,
    first_children,
    positions,
)
from tacit.language.sentences import Corpus

__all__ = ["count_spilled"]

CHUNK = 1 << 19  # positions read at a time
U = np.uint64


class TextFiles(NamedTuple):
    """A text as files of ids, of how many words come before each, and of n-gram numbers."""

    folder: Path

    def write(self, blocks: Iterable[Corpus], markers: bool, v: int) -> np.ndarray:
        """Write ids and places, and count the words."""
        counts, size = np.zeros(v, np.int64), 0
        with (
            open(self.folder / "ids", "wb") as ids,
            open(self.folder / "before", "wb") as befores,
        ):
            for block in blocks:
                check_stop()
                text = positions(block, markers)
                ids.write(text.ids.data)
                befores.write(text.before.data)
                counts += np.bincount(text.ids, minlength=v)
                size += len(text.ids)
        if size > MOST:
            raise ValueError(
                f"The text has {size:,} words with start and stop tokens, more than the "
                f"{MOST:,} that one model counts. Train on parts and mix the models."
            )
        return counts.astype(np.int32)

    def chunks(self, place: str) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """ids, words before, and the n-gram that ends before each position, in chunks."""
        last = np.full(1, -1, np.int32)
        with (
            open(self.folder / "ids", "rb") as ids,
            open(self.folder / "before", "rb") as befores,
            open(self.folder / place, "rb") as places,
        ):
            while True:
                check_stop()
                part = np.fromfile(ids, np.int32, CHUNK)
                if not len(part):
                    return
                before = np.fromfile(befores, np.uint8, CHUNK)
                ending = np.fromfile(places, np.int32, CHUNK)
                yield part, before, np.concatenate([last, ending[:-1]])
                last = ending[-1:]


def count_spilled(
    blocks: Iterable[Corpus], v: int, order: int, markers: bool, memory: float
) -> NGramCounts:
    """The n-grams of up to ``order`` words, in about ``memory`` bytes."""
    with tempfile.TemporaryDirectory(prefix="tacit-ngrams-") as folder, temporary(folder):
        files = TextFiles(Path(folder))
        none = np.empty(0, np.int32)
        counts = files.write(blocks, markers, v)
        levels = [Level(np.arange(v, dtype=np.int32), none, none, counts)]
        place, children = "ids", none
        for k in range(2, order + 1):
            level = count_level(files, place, k, levels[-1], children, memory, folder)
            levels.append(level)
            children = first_children(level.histories, len(levels[-2].counts))
            if k < order:
                write_places(files, place, f"place{k}", k, children, level.words)
                place = f"place{k}"
            release(level.words)
        return NGramCounts(levels, markers, on_disk=True)


def count_level(
    files: TextFiles, place: str, k: int, below: Level, children: np.ndarray, memory: float,
    folder: str,
) -> Level:  # fmt: skip
    """The k-grams, from the (k-1)-grams that end at every position."""
    with CountStore(memory / 3, folder=folder) as store:
        for ids, before, history in files.chunks(place):
            far = before >= k - 1
            store.add((history[far].astype(np.uint64) << U(32)) | ids[far].astype(np.uint64))
        words, histories, counts = collect_columns(map(split_keys, store.blocks()), 3)
    if k == 2:
        return Level(words, histories, words, counts)
    # The last k - 1 words of an n-gram: its history without the first word, and its word.
    lower = disk_array(len(words), np.int32)
    for i in range(0, len(words), CHUNK):
        part = slice(i, i + CHUNK)
        shorter = below.lower[histories[part]]
        lower[part] = extend(shorter, words[part], children, below.words)
        release(lower[part], histories[part], words[part], below.lower)
    release(below.words)
    return Level(words, histories, lower, counts)


def split_keys(block: KeyCounts) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Words, histories and counts."""
    return block.keys & U(0xFFFFFFFF), block.keys >> U(32), block.counts


def write_places(
    files: TextFiles, place: str, target: str, k: int, children: np.ndarray, words: np.ndarray
) -> None:
    """For every position, the number of the k-gram that ends there, or -1."""
    with open(files.folder / target, "wb") as out:
        for ids, before, history in files.chunks(place):
            history[before < k - 1] = -1
            out.write(extend(history, ids, children, words).data)
