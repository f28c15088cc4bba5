"""Write a file so that the old content or the new is there, whatever happens.

    temporary file in the same folder - write - fsync - replace - fsync of the folder

A crash, a full disk or Ctrl-C before the replacement leaves the old file as it was and no
temporary file behind. After kill -9 the temporary file stays; it is locked while its writer
lives, so the next write to the same target detects an orphan and removes it. A writer whose
file is removed between opening and locking opens another.
"""

import contextlib
import errno
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from tacit.core.temporary import forget, note

try:
    import fcntl
except ImportError:  # Windows: orphans stay there
    fcntl = None  # type: ignore[assignment]

__all__ = ["atomic_write", "stem_for", "sweep", "sync_folder"]


@contextmanager
def atomic_write(path: str | os.PathLike) -> Iterator[BinaryIO]:
    """Open a file for writing that takes the place of ``path`` when the block ends well.

    An exception in the block, KeyboardInterrupt included, removes what was written and
    leaves ``path`` as it was. The new file keeps the permissions of the one it replaces; a
    first one gets what the umask gives. A symbolic link stays one: its target is replaced.

    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "notes.txt"
    >>> with atomic_write(target) as file:
    ...     _ = file.write(b"kept")
    >>> try:
    ...     with atomic_write(target) as file:
    ...         _ = file.write(b"half of someth")
    ...         raise KeyboardInterrupt
    ... except KeyboardInterrupt:
    ...     target.read_bytes()
    b'kept'
    """
    target = Path(os.path.realpath(path))
    mode = mode_of(target, path)
    sweep(target)
    try:
        descriptor, temporary = open_temporary(target)
        while not lock(descriptor):
            os.close(descriptor)
            descriptor, temporary = open_temporary(target)
    except OSError as error:
        # The caller knows the target, not the temporary name.
        raise type(error)(error.errno, error.strerror, os.fspath(path)) from None
    note(temporary)
    try:
        with os.fdopen(descriptor, "wb") as file:
            if mode is not None and hasattr(os, "fchmod"):
                os.fchmod(file.fileno(), mode)
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException as error:
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()
        if isinstance(error, OSError) and error.filename is None:
            error.filename = os.fspath(path)  # where the disk is full
        raise
    finally:
        forget(temporary)
    sync_folder(target.parent)


def open_temporary(target: Path) -> tuple[int, Path]:
    """A new temporary file in the folder of the target."""
    temporary = target.with_name(f"{stem_for(target)}{secrets.token_hex(8)}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    return os.open(temporary, flags, 0o666), temporary


def lock(descriptor: int) -> bool:
    """Lock a new temporary file; False if another writer removed it as an orphan before."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # some network folders have no locks: orphans stay there too
        return True
    return os.fstat(descriptor).st_nlink > 0


def mode_of(target: Path, path: str | os.PathLike) -> int | None:
    """Permissions of the file to be replaced; None when there is none yet."""
    try:
        status = target.stat()
    except FileNotFoundError:
        return None
    name = os.fspath(path)
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), name)
    if not stat.S_ISREG(status.st_mode):  # replacing /dev/null would be a bad surprise
        raise OSError(errno.EINVAL, "Not a regular file, so it cannot be replaced", name)
    if not os.access(target, os.W_OK):  # as open() would; a replacement would not ask
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), name)
    return stat.S_IMODE(status.st_mode)


def stem_for(target: Path) -> str:
    """How the names of the target's temporary files begin. Short: names have a limit."""
    return f".{target.name[:48]}.tacit-"


def sweep(target: Path) -> None:
    """Remove the temporary files of killed writers of the same target."""
    if fcntl is None:
        return
    pattern = re.compile(re.escape(stem_for(target)) + r"[0-9a-f]{16}\.tmp")
    with contextlib.suppress(OSError), os.scandir(target.parent) as entries:
        left = [entry for entry in entries if pattern.fullmatch(entry.name)]
        for entry in left:
            if not entry.is_file(follow_symlinks=False):
                continue
            with open(entry.path, "rb") as file, contextlib.suppress(BlockingIOError):
                fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.unlink(entry.path)


def sync_folder(folder: Path) -> None:
    """Make the replacement itself survive a power cut."""
    if os.name == "nt":  # folders cannot be opened there; NTFS journals names itself
        return
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except PermissionError:  # a folder one may write to but not list
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # file systems without it
            raise
    finally:
        os.close(descriptor)
