"""Temporary files and folders of this process, so that all of them can be removed at once.

Whoever creates one removes it. The list is for a process that has to end in the middle of its
work (``cli.interrupt``).
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["forget", "note", "remove_temporaries", "temporary"]

TRIES = 3  # another thread may be writing into a folder meanwhile
_paths: dict[Path, int] = {}  # and the process that created each


def note(path: str | os.PathLike) -> None:
    """Put a temporary file or folder on the list."""
    _paths[Path(path)] = os.getpid()


def forget(path: str | os.PathLike) -> None:
    """Take it off the list, once it has been removed or got its final name."""
    _paths.pop(Path(path), None)


@contextmanager
def temporary(path: str | os.PathLike) -> Iterator[None]:
    """Have a file or folder on the list while the block runs."""
    note(path)
    try:
        yield
    finally:
        forget(path)


def remove_temporaries() -> None:
    """Remove all that are on the list and were created by this process.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with temporary(folder):
    ...     remove_temporaries()
    >>> folder.exists()
    False
    """
    for path, process in list(_paths.items()):
        for _ in range(TRIES if process == os.getpid() else 0):
            with suppress(OSError):
                path.unlink() if path.is_file() else shutil.rmtree(path)
            if not path.exists():
                break
