"""Counting more keys than memory holds: sorted runs in files, merged as they are read.

    add        fill a buffer; sort it into a piece; merge pieces of like size
    spill      past the budget, merge the pieces into a sorted run on disk
    blocks     merge what is on disk and in memory, a block at a time

Counts grow with the data, the named exception to the law of size. This is an external merge
sort that adds up equal keys wherever two of them meet. Everything is whole numbers, so the
result is the same whatever the budget was.

Knuth (1998), The Art of Computer Programming 3, section 5.4.
Heafield, Pouzyrevsky, Clark and Koehn (2013), Scalable modified Kneser-Ney language model
estimation. ACL. The notes' section on counting n-grams.
"""

import errno
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from tacit.core.key_counts import (
    CHUNK,
    KeyCounts,
    check_alike,
    check_counts,
    check_keys,
    sort_and_sum,
)
from tacit.core.sorted_runs import Run, Stream, in_parts, merge_streams, write_run

__all__ = ["CountStore", "KeyCounts"]

FAN_IN = 64  # files merged at once, at most
LEAST_ROWS = 64  # keys held at once, however small the budget
NO_SPACE = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))


class CountStore:
    """Counts keys that may not fit memory, in ``memory_bytes`` of it and files for the rest.

    Add keys any number of times, then walk ``blocks``: distinct keys in ascending order, the
    same whatever the budget. The files are in a private folder inside ``folder`` (by default
    the system's temporary one, which on some systems is memory too) and vanish with
    ``close``, the end of a ``with``, any error, or the store itself. A store that has failed
    is closed. One thread at a time.

    Parameters
    ----------
    memory_bytes : float
        How much to hold at once; ``math.inf`` never spills. A few thousand bytes are needed
        for the store to move at all, and the blocks it hands out come on top.
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
                "it may hold, or math.inf."
            )
        if folder is not None and not os.path.isdir(folder):
            raise NotADirectoryError(
                f"CountStore(folder={str(folder)!r}) needs a folder that is there. Make it."
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
        """Add keys that are sorted and counted already. Holds on to them, without a copy."""
        self._check_filling(counts.keys)
        with self._closed_on_error():
            for piece in in_parts(counts, self._rows(1 / 8)):
                self._push(piece)

    def finish(self) -> "CountStore":
        """End the filling: nothing can be added any more, and ``blocks`` may be walked."""
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
        """Remove the files and let go of the memory. Closing again does nothing."""
        self._closed = True
        self._keys = self._counts = None
        self._filled, self._pieces, self._runs = 0, [], []
        if self._remove is not None:
            self._remove()

    def __enter__(self) -> "CountStore":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # --- What came out ---

    def blocks(self, rows: int = 65_536) -> Iterator[KeyCounts]:
        """Walk all keys in ascending order, ``rows`` to a block, the last perhaps fewer.

        Finishes the store first. May be walked more than once, until it is closed.
        """
        if rows < 1:
            raise ValueError(f"CountStore.blocks(rows={rows}) needs at least 1 row.")
        self.finish()
        return self._walk(rows)

    def _walk(self, rows: int) -> Iterator[KeyCounts]:
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
        """Memory that the store holds between two calls."""
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
        """Half a merge must not be taken for a whole one, nor its files stay behind."""
        try:
            yield
        except BaseException:
            self.close()
            raise

    # Shares of the budget: the buffer has 1/8, and sorting it takes 2/8 more; the pieces have
    # 3/8, and as much again while two of them are merged; a merge of runs has 1/8 for what it
    # reads and 1/16 for what it writes, twice over. Never all of them at one moment.

    def _rows(self, share: float, streams: int = 1) -> int:
        """How many keys with counts take a share of the budget; of each stream, if several."""
        width = 8 * (self._like.keys.ndim + 1)
        rows = min(CHUNK // 4, share * self.memory_bytes / width) / streams
        return max(LEAST_ROWS, int(rows))

    def _fill(self, keys: np.ndarray, counts: np.ndarray | None) -> int:
        """Take as many keys as the buffer has room for, and say how many."""
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
        """Keep a sorted piece; spill all of them when they are too many bytes."""
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
        """Pieces and runs as one stream, an eighth of the budget for all their parts."""
        rows = self._rows(1 / 8, max(1, len(sources)))
        streams = [s.read(rows) if isinstance(s, Run) else in_parts(s, rows) for s in sources]
        columns = self._like.keys.ndim
        return merge_streams(streams, columns, rows, block or self._rows(1 / 16))


def remove_folder(path: Path, owner: int) -> None:
    if os.getpid() == owner:  # a forked child must not take its parent's files along
        shutil.rmtree(path, ignore_errors=True)
