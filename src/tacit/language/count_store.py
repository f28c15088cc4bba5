"""Counting more keys than memory holds: sorted runs in files, merged as they are read.

    add        fill a buffer; sort it into a piece; merge pieces of similar size
    spill      past the limit, merge the pieces into a sorted run on disk
    blocks     merge the runs on disk and the pieces in memory, a block at a time

Counts grow with the data, the named exception to the law of size. This is an external merge
sort that adds up equal keys wherever two of them meet. All counts are integers, so the result
is the same for any limit.

A stream is a generator of KeyCounts, each part's keys above those of the part before. A merge
keeps one part of every stream and one output block in memory, however long the streams are.

Knuth (1998), The Art of Computer Programming 3, section 5.4.
Heafield, Pouzyrevsky, Clark and Koehn (2013), Scalable modified Kneser-Ney language model
estimation. ACL. The notes' section on counting n-grams.
"""

import errno
import os
import shutil
import tempfile
import weakref
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import FileIO
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from tacit.core.engines import check_stop
from tacit.core.kernel import kernel
from tacit.core.temporary import forget, note
from tacit.language.key_counts import (
    CHUNK,
    KeyCounts,
    at_most,
    check_alike,
    check_counts,
    check_keys,
    check_sums,
    put,
    sort_and_sum,
)

__all__ = ["CountStore", "KeyCounts"]


FAN_IN = 64  # files merged at once, at most
LEAST_ROWS = 64  # keys in memory at once, however low the limit
NO_SPACE = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))

Stream: TypeAlias = Generator[KeyCounts, None, None]


class Run(NamedTuple):
    """Sorted counts in a .npy file: rows of a key, or a pair, and its count."""

    path: Path
    rows: int
    columns: int
    start: int  # where the rows begin, past the header
    level: int  # how many merges of files its rows went through

    @property
    def nbytes(self) -> int:
        return 8 * self.rows * (self.columns + 1)

    def read(self, rows: int) -> Stream:
        """The counts in order, some rows at a time."""
        with open(self.path, "rb", buffering=0) as file:
            file.seek(self.start)
            for done in range(0, self.rows, rows):
                check_stop()
                # Not assigned to a name: a suspended generator would keep it in memory.
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

    Only the last part may be shorter, so the result does not depend on the parts.
    """
    shape = (2,) if columns == 2 else ()
    size = len(streams) * rows
    keys, counts = np.empty((size, *shape), np.uint64), np.empty(size, np.int64)
    out_keys, out_counts = np.empty((block, *shape), np.uint64), np.empty(block, np.int64)
    place = np.arange(len(streams)) * rows  # each stream has a range of its own
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
    while view:  # a read may return less than requested
        size = file.readinto(view)
        if not size:
            raise OSError(errno.EIO, "A spilled file ends early", str(file.name))
        view = view[size:]
    return KeyCounts(
        packed[:, 0] if columns == 1 else packed[:, :2], packed[:, -1].view(np.int64)
    )


class CountStore:
    """Counts keys that may not fit memory, in ``memory_bytes`` of it and files for the rest.

    Add keys any number of times, then iterate over ``blocks``: distinct keys in ascending
    order, the same for any limit. The files are in a private folder inside ``folder`` (by
    default the system's temporary one, which on some systems is memory too) and are removed by
    ``close``, the end of a ``with``, any error, or the end of the store. A store that has
    failed is closed. One thread at a time.

    Parameters
    ----------
    memory_bytes : float
        The most to keep in memory; ``math.inf`` never spills. A few thousand bytes are always
        used, and the blocks that it yields come on top.
    folder : path, optional
        Where to spill to. It must exist.

    Examples
    --------
    >>> with CountStore(100_000_000) as store:
    ...     store.add([3, 1, 3])
    ...     store.add([1, 9], counts=[10, 5])
    ...     for block in store.blocks():
    ...         print(block.keys, block.counts)
    [1 3 9] [11  2  5]
    """

    def __init__(self, memory_bytes: float, *, folder: str | Path | None = None) -> None:
        if not memory_bytes > 0:
            raise ValueError(
                f"CountStore(memory_bytes={memory_bytes}) needs some memory. Give the bytes "
                "it may use, or math.inf."
            )
        if folder is not None and not os.path.isdir(folder):
            raise NotADirectoryError(
                f"CountStore(folder={str(folder)!r}) needs an existing folder. Create it."
            )
        self.memory_bytes = memory_bytes
        self.folder = Path(tempfile.gettempdir() if folder is None else folder)
        self._closed = self._finished = False
        self._like = KeyCounts.empty()  # of one column or two, as the first keys have
        self._keys: np.ndarray | None = None  # a buffer of keys as they came
        self._counts: np.ndarray | None = None  # theirs, once any were given
        self._filled = 0
        self._pieces: list[KeyCounts] = []  # sorted, in memory; each over twice the next
        self._runs: list[Run] = []  # sorted, in files; levels never rise from left to right
        self._private: Path | None = None
        self._remove: Any = None
        self._written = 0  # numbers the files

    # --- Filling ---

    def add(self, keys: Any, counts: Any = None) -> None:
        """Count some keys: each once, or as often as ``counts`` says."""
        keys = check_keys(keys, "CountStore.add")
        counts = check_counts(counts, len(keys), "CountStore.add")
        self._check_filling(keys)
        with self._closed_on_error():
            done = 0
            while done < len(keys):
                done += self._fill(keys[done:], None if counts is None else counts[done:])

    def merge(self, counts: KeyCounts) -> None:
        """Add keys that are sorted and counted already, without a copy."""
        self._check_filling(counts.keys)
        with self._closed_on_error():
            for piece in in_parts(counts, self._rows(1 / 8)):
                self._push(piece)

    def finish(self) -> "CountStore":
        """Accept no more keys; ``blocks`` may be read from now on."""
        self._check_open()
        with self._closed_on_error():
            if not self._finished:
                self._sort_buffer()
                self._keys = self._counts = None
                while len(self._runs) > FAN_IN:
                    self._merge_runs(min(FAN_IN, len(self._runs) - FAN_IN + 1))
                self._finished = True
        return self

    def close(self) -> None:
        """Remove the files and release the memory. Closing again does nothing."""
        self._closed = True
        self._keys = self._counts = None
        self._filled, self._pieces, self._runs = 0, [], []
        if self._remove is not None:
            self._remove()

    def __enter__(self) -> "CountStore":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # --- Reading ---

    def blocks(self, rows: int = 65_536) -> Iterator[KeyCounts]:
        """All keys in ascending order, ``rows`` per block, the last perhaps fewer.

        Finishes the store first. May be called more than once, until the store is closed.
        """
        if rows < 1:
            raise ValueError(f"CountStore.blocks(rows={rows}) needs at least 1 row.")
        self.finish()
        return self._iterate(rows)

    def _iterate(self, rows: int) -> Iterator[KeyCounts]:
        for block in self._merged([*self._runs, *self._pieces], rows):
            self._check_open()
            yield block

    def __iter__(self) -> Iterator[KeyCounts]:
        return self.blocks()

    def to_counts(self) -> KeyCounts:
        """All of it at once, which must fit memory."""
        parts = [self._like, *self.blocks()]
        keys, counts = [part.keys for part in parts], [part.counts for part in parts]
        return KeyCounts(np.concatenate(keys), np.concatenate(counts))

    @property
    def held_bytes(self) -> int:
        """Memory that the store uses between two calls."""
        buffers = (array.nbytes for array in (self._keys, self._counts) if array is not None)
        return sum(buffers) + sum(piece.nbytes for piece in self._pieces)

    @property
    def spilled_bytes(self) -> int:
        """How much of it is in files."""
        return sum(run.nbytes for run in self._runs)

    # --- Inside ---

    def _check_open(self) -> None:
        if self._closed:
            raise ValueError("This CountStore is closed. Make another one.")

    def _check_filling(self, keys: np.ndarray) -> None:
        self._check_open()
        if self._finished:
            raise ValueError("This CountStore is finished. Add all keys before blocks().")
        if not len(keys):
            return
        if self._keys is None and not self._pieces and not self._runs:
            self._like = KeyCounts.empty(keys.ndim)
        check_alike(self._like.keys, keys)

    @contextmanager
    def _closed_on_error(self) -> Iterator[None]:
        """A merge that failed must not be taken for a whole one, nor leave files behind."""
        try:
            yield
        except BaseException:
            self.close()
            raise

    # Fractions of the limit: the buffer has 1/8, and sorting it takes 2/8 more; the pieces
    # have 3/8, and as much again while two of them are merged; a merge of runs has 1/8 for
    # its input and 1/16 for its output, twice over. Never all of them at one moment.

    def _rows(self, fraction: float, streams: int = 1) -> int:
        """How many keys with counts fill a fraction of the limit; per stream, if several."""
        width = 8 * (self._like.keys.ndim + 1)
        rows = min(CHUNK // 4, fraction * self.memory_bytes / width) / streams
        return max(LEAST_ROWS, int(rows))

    def _fill(self, keys: np.ndarray, counts: np.ndarray | None) -> int:
        """Copy as many keys as the buffer has room for; returns how many."""
        if self._keys is None:
            self._keys = np.empty((self._rows(1 / 8), *keys.shape[1:]), np.uint64)
        if counts is not None and self._counts is None:
            self._counts = np.empty(len(self._keys), np.int64)
            self._counts[: self._filled] = 1
        size = min(len(keys), len(self._keys) - self._filled)
        room = slice(self._filled, self._filled + size)
        self._keys[room] = keys[:size]
        if self._counts is not None:
            self._counts[room] = 1 if counts is None else counts[:size]
        self._filled += size
        if self._filled == len(self._keys):
            self._sort_buffer()
        return size

    def _sort_buffer(self) -> None:
        if self._keys is None or not self._filled:
            return
        counts = None if self._counts is None else self._counts[: self._filled]
        piece = KeyCounts(*sort_and_sum(self._keys[: self._filled], counts))
        self._filled = 0
        self._push(piece)

    def _push(self, piece: KeyCounts) -> None:
        """Add a sorted piece; spill all of them when they exceed their part of the limit."""
        if not len(piece):
            return
        pieces = self._pieces
        pieces.append(piece)
        if sum(held.nbytes for held in pieces) > 3 / 8 * self.memory_bytes:
            return self._spill()
        while len(pieces) > 1 and len(pieces[-2]) <= 2 * len(pieces[-1]):
            last = pieces.pop()
            pieces[-1] = pieces[-1] + last

    def _spill(self) -> None:
        size = sum(piece.nbytes for piece in self._pieces)
        run = self._write(self._merged(self._pieces), level=0, size=size)
        self._pieces = []
        self._runs.append(run)
        # As many of one level as are merged at once become one of the next: a key is
        # rewritten as often as there are levels, not as there are runs.
        while len(self._runs) >= FAN_IN and self._runs[-FAN_IN].level == self._runs[-1].level:
            self._merge_runs(FAN_IN)

    def _merge_runs(self, k: int) -> None:
        """Replace the last k runs by one."""
        old = self._runs[-k:]
        size = sum(run.nbytes for run in old)
        run = self._write(self._merged(old), level=old[0].level + 1, size=size)
        self._runs[-k:] = [run]
        for run in old:
            run.path.unlink()

    def _write(self, parts: Iterable[KeyCounts], *, level: int, size: int) -> Run:
        """A sorted run in a new .npy file, of ``size`` bytes at most."""
        try:
            if self._private is None:
                self._private = Path(tempfile.mkdtemp(prefix="tacit-counts-", dir=self.folder))
                note(self._private)
                self._remove = weakref.finalize(self, remove_folder, self._private, os.getpid())
            self._written += 1
            path = self._private / f"run-{self._written:06d}.npy"
            return write_run(path, parts, self._like.keys.ndim, level)
        except OSError as error:
            if error.errno not in NO_SPACE:
                raise
            spilled = self.spilled_bytes
            self.close()
            free = shutil.disk_usage(self.folder).free
            raise OSError(
                error.errno,
                f"CountStore found the disk full: it needed {size:,} more bytes in "
                f"{self.folder}, besides {spilled:,} already there. Now that its files are "
                f"removed {free:,} bytes are free. Give a folder with more space, or more "
                f"than memory_bytes={self.memory_bytes:,}.",
            ) from error

    def _merged(self, sources: Sequence[KeyCounts | Run], block: int | None = None) -> Stream:
        """Pieces and runs as one stream, an eighth of the limit for all their parts."""
        rows = self._rows(1 / 8, max(1, len(sources)))
        streams = [s.read(rows) if isinstance(s, Run) else in_parts(s, rows) for s in sources]
        columns = self._like.keys.ndim
        return merge_streams(streams, columns, rows, block or self._rows(1 / 16))


def remove_folder(path: Path, owner: int) -> None:
    if os.getpid() == owner:  # a forked child must not remove its parent's files
        shutil.rmtree(path, ignore_errors=True)
        forget(path)


# --- Kernels ---


@kernel
def sift_down(heap, size, keys, place):
    """Restore the order of a heap of streams, by their next key, from the top."""
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
    """Merge ranges of sorted keys until the block is full or one of them is used up.

    Range s is place[s] to end[s], and place advances. Returns how much of the block is
    filled, the range that is used up, or -1, and the signs of all sums.
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
