"""Arrays in temporary files, for results larger than the memory that a fit may use.

A disk array is mapped: the operating system reads and writes its pages as they are used.
``release`` unmaps pages that are not needed for a while, so that a pass over an array takes no
more memory than the chunk it works on. It does nothing to arrays in memory, so that the same
code serves both. The files have no name and vanish with their arrays.
"""

import mmap
import tempfile
from collections.abc import Iterable
from contextlib import ExitStack
from typing import Any

import numpy as np

__all__ = ["collect_columns", "disk_array", "release"]


class DiskMap(mmap.mmap):
    """A shared mapping of one of our files: its pages may be unmapped without loss."""


def disk_array(size: int, dtype: Any) -> np.ndarray:
    """An array of zeros in a temporary file.

    >>> numbers = disk_array(3, np.int32)
    >>> numbers[1] = 7
    >>> release(numbers)
    >>> numbers
    array([0, 7, 0], dtype=int32)
    """
    if size == 0:
        return np.empty(0, dtype)
    with tempfile.TemporaryFile() as file:
        file.truncate(size * np.dtype(dtype).itemsize)
        return np.frombuffer(DiskMap(file.fileno(), 0), dtype)


def collect_columns(parts: Iterable[tuple[np.ndarray, ...]], n: int) -> list[np.ndarray]:
    """Columns of int32 that come in parts, each joined into one disk array."""
    with ExitStack() as stack:
        files = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(n)]
        size = 0
        for part in parts:
            size += len(part[0])
            for file, column in zip(files, part, strict=True):
                file.write(np.ascontiguousarray(column, np.int32).data)
        for file in files:
            file.flush()
        if size == 0:
            return [np.empty(0, np.int32) for _ in files]
        return [np.frombuffer(DiskMap(file.fileno(), 0), np.int32) for file in files]


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
