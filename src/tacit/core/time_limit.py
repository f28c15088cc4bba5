"""A limit on the time of code in plain Python, such as a parser of strangers' files."""

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["OutOfTime", "time_limit"]


class OutOfTime(BaseException):
    """Not an Exception, so that a parser that catches everything lets it through."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise OutOfTime in the block once it has run for so many seconds.

    Works in any thread. Python raises it between two of its own instructions, so one call of C
    code, such as a match of a regular expression, is not cut short.
    """
    thread = ctypes.c_ulong(threading.get_ident())
    raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc
    changing, ended = threading.Lock(), threading.Event()

    def watch() -> None:
        if not ended.wait(seconds):
            with changing:
                if not ended.is_set():
                    raise_in(thread, ctypes.py_object(OutOfTime))

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        with changing:
            ended.set()
            raise_in(thread, None)  # one that is still to be raised must not reach the caller
