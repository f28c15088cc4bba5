"""Sorted counts in files, and the merge of many of them into one stream.

    write_run       counts in key order, part by part, into a .npy file
    Run.read        the same back
    merge_streams   many such streams as one, in key order, equal keys added up

A stream is a generator of KeyCounts, each part's keys above those of the part before. The
merge holds one part of every stream and a block of its own, whatever the streams' length.

Knuth (1998), The Art of Computer Programming 3, section 5.4.1.
"""

import errno
from collections.abc import Generator, Iterable
from io import FileIO
from itertools import islice
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np

from tacit.core.engines import check_stop
from tacit.core.kernel import kernel
from tacit.core.key_counts import KeyCounts, at_most, check_sums, put

__all__ = ["Run", "Stream", "in_parts", "merge_streams", "write_run"]

Stream: TypeAlias = Generator[KeyCounts, None, None]


class Run(NamedTuple):
    """Sorted counts in a .npy file: rows of a key, or a pair, and its count."""

    path: Path
    rows: int
    columns: int
    start: int  # where the rows begin, past the header
    level: int  # how many times its rows were merged from files

    @property
    def nbytes(self) -> int:
        return 8 * self.rows * (self.columns + 1)

    def read(self, rows: int) -> Stream:
        """The counts in order, some rows at a time."""
        with open(self.path, "rb", buffering=0) as file:
            file.seek(self.start)
            for done in range(0, self.rows, rows):
                check_stop()
                # Not by a name: a generator at rest would go on holding it.
                yield read_rows(file, min(rows, self.rows - done), self.columns)


def write_run(path: Path, parts: Iterable[KeyCounts], columns: int, level: int) -> Run:
    """Write a stream to a new file."""
    layout = {"descr": np.dtype(np.uint64).str, "fortran_order": False}
    rows = 0
    with open(path, "wb") as file:
        np.lib.format.write_array_header_1_0(file, {**layout, "shape": (0, columns + 1)})
        start = file.tell()
        for part in parts:
            check_stop()
            packed = np.empty((len(part), columns + 1), np.uint64)
            packed[:, :columns] = part.keys.reshape(-1, columns)
            packed[:, columns] = part.counts
            file.write(packed.data)
            rows += len(part)
        file.seek(0)  # the header leaves room for the number of rows, known only now
        np.lib.format.write_array_header_1_0(file, {**layout, "shape": (rows, columns + 1)})
    return Run(path, rows, columns, start, level)


def in_parts(counts: KeyCounts, rows: int) -> Stream:
    """Counts in memory as a stream, without a copy."""
    for start in range(0, len(counts), rows):
        yield counts.part(start, start + rows)


def merge_streams(streams: list[Stream], columns: int, rows: int, block: int) -> Stream:
    """Merge streams, with parts of ``rows`` at most, into one with parts of ``block``.

    Only the last part may be shorter, so what the streams were cut into does not show.
    """
    shape = (2,) if columns == 2 else ()
    size = len(streams) * rows
    keys, counts = np.empty((size, *shape), np.uint64), np.empty(size, np.int64)
    out_keys, out_counts = np.empty((block, *shape), np.uint64), np.empty(block, np.int64)
    place = np.arange(len(streams)) * rows  # each stream has a stretch of keys to itself
    end = place.copy()
    used_up = list(range(len(streams)))
    filled = 0
    try:
        while True:
            check_stop()
            for s in used_up:
                place[s] = end[s] = s * rows
                for part in islice(streams[s], 1):
                    end[s] += len(part)
                    keys[place[s] : end[s]], counts[place[s] : end[s]] = part.keys, part.counts
            filled, last, signs = merge_heads(
                keys, counts, place, end, out_keys, out_counts, filled
            )
            check_sums(filled, signs)
            used_up = [last] if last >= 0 else []
            if last < 0:  # the block is full and its last key complete, or all is done
                if filled:
                    yield KeyCounts(out_keys[:filled].copy(), out_counts[:filled].copy())
                if filled < block:
                    return
                filled = 0
    finally:
        for stream in streams:
            stream.close()


def read_rows(file: FileIO, rows: int, columns: int) -> KeyCounts:
    packed = np.empty((rows, columns + 1), np.uint64)
    view = packed.data.cast("B")
    while view:  # a file may hand out less than it is asked for
        size = file.readinto(view)
        if not size:
            raise OSError(errno.EIO, "A spilled file ends early", str(file.name))
        view = view[size:]
    return KeyCounts(
        packed[:, 0] if columns == 1 else packed[:, :2], packed[:, -1].view(np.int64)
    )


# --- Kernels ---


@kernel
def sift_down(heap, size, keys, place):
    """Put the top of a heap of streams, by their next key, where it belongs."""
    top = heap[0]
    here = 0
    while 2 * here + 1 < size:
        child = 2 * here + 1
        if child + 1 < size and at_most(keys, place[heap[child + 1]], keys, place[heap[child]]):
            child += 1
        if at_most(keys, place[top], keys, place[heap[child]]):
            break
        heap[here] = heap[child]
        here = child
    heap[here] = top


@kernel
def merge_heads(keys, counts, place, end, out_keys, out_counts, filled):
    """Merge stretches of sorted keys until the block is full or one of them is used up.

    Stretch s is place[s] to end[s], and place moves on. Returns how much of the block is
    filled, the stretch that is used up, or -1, and the signs of all sums.
    """
    heap = np.empty(len(place), np.int64)
    size = 0
    for s in range(len(place)):
        if place[s] < end[s]:  # put it in from below
            here = size
            size += 1
            while here > 0 and not at_most(keys, place[heap[(here - 1) >> 1]], keys, place[s]):
                heap[here] = heap[(here - 1) >> 1]
                here = (here - 1) >> 1
            heap[here] = s
    signs = 0
    while size > 0:
        s = heap[0]
        i = place[s]
        if filled > 0 and at_most(keys, i, out_keys, filled - 1):
            out_counts[filled - 1] += counts[i]
        elif filled < len(out_keys):
            put(out_keys, filled, keys, i)
            out_counts[filled] = counts[i]
            filled += 1
        else:
            return filled, -1, signs
        signs |= out_counts[filled - 1]
        place[s] = i + 1
        if i + 1 == end[s]:
            return filled, s, signs
        sift_down(heap, size, keys, place)
    return filled, -1, signs
