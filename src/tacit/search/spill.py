"""Bytes in temporary files without a name: gone when nobody holds them any more."""

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

__all__ = ["SpillFile", "in_file"]


class SpillFile:
    """Takes bytes one after the other and gives them back as one mapped array."""

    def __init__(self) -> None:
        self.file = tempfile.TemporaryFile(prefix="tacit-")  # noqa: SIM115 (finish closes it)
        self.size = 0

    def write(self, array: np.ndarray) -> None:
        """Append the bytes of an array."""
        with told():
            self.file.write(np.ascontiguousarray(array).data)
        self.size += array.nbytes

    def finish(self, dtype: type = np.uint8) -> np.ndarray:
        """All of it. Nothing can be written any more."""
        with self.file, told():
            self.file.flush()
            if not self.size:
                return np.zeros(0, dtype)
            return np.asarray(np.memmap(self.file, dtype, "r+"))


def in_file(size: int) -> np.ndarray:
    """Bytes in a temporary file, to be filled in."""
    if not size:
        return np.zeros(0, np.uint8)
    with tempfile.TemporaryFile(prefix="tacit-") as file, told():
        file.truncate(size)
        reserve(file.fileno(), size)
        return np.asarray(np.memmap(file, np.uint8, "r+", shape=(size,)))


def reserve(descriptor: int, size: int) -> None:
    """Take the room now: writing to a map finds no way to say that the disk is full."""
    if not hasattr(os, "posix_fallocate"):
        return
    try:
        os.posix_fallocate(descriptor, 0, size)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP):  # file systems without it
            raise


@contextmanager
def told() -> Iterator[None]:
    """A full disk, with the folder that is full."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)):
            raise
        raise OSError(
            error.errno,
            f"The disk is full: {tempfile.gettempdir()} has no room for what memory_bytes "
            "keeps out of memory. Free some space, set TMPDIR to a larger folder, or raise "
            "memory_bytes",
        ) from error
