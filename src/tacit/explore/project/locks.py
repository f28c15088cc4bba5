"""Locks on a project: one process runs stages at a time, and one server changes labels."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tacit.core.errors import Locked

try:
    import fcntl
except ImportError:  # Windows: the second server is not noticed there
    fcntl = None  # type: ignore[assignment]

__all__ = ["LOCK", "SERVING", "Ownership", "holder_of", "locked"]

NO_LINK = getattr(os, "O_NOFOLLOW", 0)  # an untrusted folder may hold links
LOCK = "lock"  # held while stages are written
SERVING = "serving"  # locked by the server that keeps labels and starts jobs


class Ownership:
    """The right to change a project, held by one server at a time and lost with its process.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> first, second = Ownership(folder), Ownership(folder)
    >>> first.take(), second.take()
    (None, 'process ... on ... serves it already')
    >>> first.close(); second.take() is None
    True
    >>> second.close()
    """

    def __init__(self, project: Path) -> None:
        self.path = project / SERVING
        self._held: int | None = None

    def take(self) -> str | None:
        """Take it, or have it already: None. Otherwise why it cannot be had."""
        if self._held is not None:
            return None
        try:
            taken = acquire(self.path)
        except OSError as error:
            return f"its folder cannot be written ({error.strerror})"
        if isinstance(taken, str):
            return f"{taken} serves it already"
        self._held = taken
        return None

    def close(self) -> None:
        """Let go."""
        if self._held is not None:
            release(self._held)
            self._held = None


def acquire(path: Path) -> int | str:
    """Lock a file and write into it who holds it: its descriptor, or the holder if there is
    one."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | NO_LINK, 0o666)
    if fcntl is not None:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            with os.fdopen(descriptor, "rb") as file:
                return name_in(file.read(200))
    os.ftruncate(descriptor, 0)
    os.write(descriptor, f"process {os.getpid()} on {socket.gethostname()}\n".encode())
    return descriptor


def release(descriptor: int) -> None:
    os.ftruncate(descriptor, 0)
    os.close(descriptor)


def holder_of(path: Path) -> str | None:
    """Who holds a lock file; None if nobody does."""
    if fcntl is None:
        return None
    try:
        with open(path, "rb", opener=lambda at, flags: os.open(at, flags | NO_LINK)) as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except OSError:
                return name_in(file.read(200))
            fcntl.flock(file, fcntl.LOCK_UN)
    except OSError:
        pass  # there is none, or a folder is in its place
    return None


def name_in(data: bytes) -> str:
    """The holder that a lock file names."""
    text = data.decode("utf-8", "replace").strip()
    return "".join(c for c in text if c.isprintable()) or "another process"


@contextmanager
def locked(path: Path, project: Path) -> Iterator[None]:
    """Hold a lock that ends with the process; an error names its holder."""
    taken = acquire(path)
    if isinstance(taken, str):
        raise Locked(f"{project} is being written by {taken}. Wait for it, or stop it.")
    try:
        yield
    finally:
        release(taken)
