"""Ctrl-C ends a command within half a second, whatever it is doing.

Python raises KeyboardInterrupt only between two of its instructions, not within a compilation
or a LAPACK routine, which may take seconds. So another thread receives the signal too: it gives
the command a moment to end by itself, removes temporary files, and ends the process. Where the
compiler calls Python, exceptions are dropped; a KeyboardInterrupt there ends the process at
once. Result files are always complete or untouched (``core.atomic``), and a project keeps its
finished stages.
"""

import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

__all__ = ["end", "patience", "prompt_interrupts"]

GRACE = 0.3  # seconds
SHOW_CURSOR = "\x1b[?25h"  # a progress bar may have hidden it
_allowed = 0  # how many Ctrl-C the command handles itself


@contextmanager
def prompt_interrupts() -> Iterator[None]:
    """End this process soon after Ctrl-C, if the block does not end by itself. After the block
    Ctrl-C is ignored: Python would crash on it while it shuts down."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    threading.Thread(target=watch, args=(reader,), daemon=True).start()
    before = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    drop = sys.unraisablehook

    def report(dropped: Any) -> None:
        if dropped.exc_type is KeyboardInterrupt and not _allowed:
            end_interrupted()
        drop(dropped)

    sys.unraisablehook = report
    try:
        yield
    finally:
        sys.unraisablehook = drop
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.set_wakeup_fd(before)
        writer.close()


@contextmanager
def patience(signals: int = 1) -> Iterator[None]:
    """Let the block handle this many Ctrl-C, to save something; one more ends the process."""
    global _allowed
    before, _allowed = _allowed, signals
    try:
        yield
    finally:
        _allowed = before


def watch(reader: socket.socket) -> None:
    """Wait for Ctrl-C; end the process if it does not end by itself."""
    signals = 0
    while received := reader.recv(1):
        signals += received[0] == signal.SIGINT
        if signals > _allowed:
            time.sleep(GRACE)
            end_interrupted()


def end_interrupted() -> NoReturn:
    """Print a message and end the process."""
    with suppress(Exception):
        cursor = SHOW_CURSOR if sys.stderr.isatty() else ""
        os.write(2, f"{cursor}Interrupted.\n".encode())
    end()


def end() -> NoReturn:
    """End the process with exit code 130, without waiting for threads."""
    from tacit.core.temporary import remove_temporaries

    with suppress(Exception):
        remove_temporaries()
    os._exit(130)
