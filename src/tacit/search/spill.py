"""Bytes in temporary files without a name, which vanish when no array maps them."""

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

__all__ = ["SpillFile", "in_file"]


class SpillFile:
    """Appends arrays, and returns them as one mapped array."""

    def __init__(self) -> None:
        self.file = tempfile.TemporaryFile(prefix="tacit-")  # noqa: SIM115 (finish closes it)
        self.size = 0

    def write(self, array: np.ndarray) -> None:
        """Append the bytes of an array."""
        with name_full_disk():
            self.file.write(np.ascontiguousarray(array).data)
        self.size += array.nbytes

    def finish(self, dtype: type = np.uint8) -> np.ndarray:
        """All bytes as one array. Nothing can be written afterwards."""
        with self.file, name_full_disk():
            self.file.flush()
            if not self.size:
                return np.zeros(0, dtype)
            return np.asarray(np.memmap(self.file, dtype, "r+"))


def in_file(size: int) -> np.ndarray:
    """An array of bytes in a temporary file, to be written."""
    if not size:
        return np.zeros(0, np.uint8)
    with tempfile.TemporaryFile(prefix="tacit-") as file, name_full_disk():
        file.truncate(size)
        reserve(file.fileno(), size)
        return np.asarray(np.memmap(file, np.uint8, "r+", shape=(size,)))


def reserve(descriptor: int, size: int) -> None:
    """Allocate the blocks now: a full disk kills a process that writes to a memory map."""
    if not hasattr(os, "posix_fallocate"):
        return
    try:
        os.posix_fallocate(descriptor, 0, size)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP):  # file systems without it
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
