"""A limit on the time of code in plain Python, such as a parser of strangers' files."""

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

__all__ = ["OutOfTime", "time_limit"]


AGAIN = 1.0  # seconds


class OutOfTime(BaseException):
    """Not an Exception, so that a parser that catches everything lets it through."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise OutOfTime in the block once it has run for so many seconds.

    Works in any thread. Python raises it between two of its own instructions, so one call of C
    code, such as a match of a regular expression, is not cut short. Python drops what is raised
    in a finalizer, so it is raised again every second until the block ends.
    """
    thread = ctypes.c_ulong(threading.get_ident())
    raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc
    changing, ended = threading.Lock(), threading.Event()

    def watch() -> None:
        wait = seconds
        while not ended.wait(wait):
            with changing:
                if not ended.is_set():
                    raise_in(thread, ctypes.py_object(OutOfTime))
            wait = AGAIN

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        while not ended.is_set():
            with suppress(OutOfTime), changing:
                ended.set()
                raise_in(thread, None)  # one that is still to be raised
