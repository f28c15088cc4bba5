"""Arrays in temporary files, for results larger than the memory that a fit may use.

A disk array is mapped: the operating system reads and writes its pages as they are used.
``release`` unmaps pages that are not needed for a while, so that a pass over an array takes no
more memory than the chunk it works on. It does nothing to arrays in memory, so that the same
code serves both. The files have no name and vanish with their arrays. Their blocks are
allocated before they are mapped: a full disk kills a process that writes to a memory map.
"""

import errno
import mmap
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np

__all__ = ["SpillFile", "collect_columns", "disk_array", "release"]


class DiskMap(mmap.mmap):
    """A shared mapping of one of our files: its pages may be unmapped without loss."""


def disk_array(size: int, dtype: Any = np.uint8) -> np.ndarray:
    """An array of zeros in a temporary file.

    >>> numbers = disk_array(3, np.int32)
    >>> numbers[1] = 7
    >>> release(numbers)
    >>> numbers
    array([0, 7, 0], dtype=int32)
    """
    if size == 0:
        return np.empty(0, dtype)
    with tempfile.TemporaryFile(prefix="tacit-") as file, name_full_disk():
        file.truncate(size * np.dtype(dtype).itemsize)
        reserve(file.fileno(), size * np.dtype(dtype).itemsize)
        return np.frombuffer(DiskMap(file.fileno(), 0), dtype)


class SpillFile:
    """Appends arrays to a temporary file, and returns them as one disk array."""

    def __init__(self) -> None:
        self.file = tempfile.TemporaryFile(prefix="tacit-")  # noqa: SIM115 (finish closes it)
        self.size = 0

    def write(self, array: np.ndarray) -> None:
        """Append the bytes of an array."""
        with name_full_disk():
            self.file.write(np.ascontiguousarray(array).data)
        self.size += array.nbytes

    def finish(self, dtype: Any = np.uint8) -> np.ndarray:
        """All bytes as one array. Nothing can be written afterwards."""
        with self.file, name_full_disk():
            self.file.flush()
            if not self.size:
                return np.zeros(0, dtype)
            return np.frombuffer(DiskMap(self.file.fileno(), 0), dtype)


def collect_columns(parts: Iterable[tuple[np.ndarray, ...]], n: int) -> list[np.ndarray]:
    """Columns of int32 that come in parts, each joined into one disk array."""
    with ExitStack() as stack:
        files = [SpillFile() for _ in range(n)]
        for file in files:
            stack.enter_context(file.file)
        for part in parts:
            for file, column in zip(files, part, strict=True):
                file.write(np.asarray(column, np.int32))
        return [file.finish(np.int32) for file in files]


def release(*arrays: np.ndarray) -> None:
    """Unmap the pages of disk arrays; they are read again when they are used."""
    for array in arrays:
        owner: Any = array
        while isinstance(owner, np.ndarray | memoryview):
            owner = owner.base if isinstance(owner, np.ndarray) else owner.obj
        if isinstance(owner, DiskMap) and hasattr(mmap, "MADV_DONTNEED") and array.size:
            start = address(array) - address(np.frombuffer(owner, np.uint8))
            first = start - start % mmap.PAGESIZE
            owner.madvise(mmap.MADV_DONTNEED, first, start + array.nbytes - first)


def address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def reserve(descriptor: int, size: int) -> None:
    """Allocate the blocks of a file now, where the file system can."""
    if not hasattr(os, "posix_fallocate"):
        return
    try:
        os.posix_fallocate(descriptor, 0, size)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP):
            raise


@contextmanager
def name_full_disk() -> Iterator[None]:
    """Add the folder to the error of a full disk."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)):
            raise
        raise OSError(
            error.errno,
            f"The disk is full: {tempfile.gettempdir()} has no room for the data beyond the "
            "memory limit. Free some space, set TMPDIR to a larger folder, or raise memory",
        ) from error
