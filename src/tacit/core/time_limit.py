"""A limit on the time of code in plain Python, such as a parser of strangers' files."""

import ctypes
import threading
from collections.abc import Callable
from typing import TypeVar

__all__ = ["OutOfTime", "call_within"]

AGAIN = 1.0  # seconds
T = TypeVar("T")


class OutOfTime(BaseException):
    """Not an Exception, so that a parser that catches everything lets it through."""


def call_within(seconds: float, function: Callable[[], T]) -> T:
    """Call a function, and raise OutOfTime in it once it has run for so many seconds.

    Works in any thread. Python raises it between two of its own instructions, so one call of C
    code, such as a match of a regular expression, is not cut short. Python drops what is raised
    in a finalizer, so it is raised again every second until the function ends.

    >>> call_within(60, lambda: sum(range(10)))
    45
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
        return function()
    finally:
        stopped = False
        while not stopped:  # it may be raised in here too, once
            try:
                ended.set()
                with changing:
                    raise_in(thread, None)  # one that is still to be raised
                stopped = True
            except OutOfTime:
                pass
