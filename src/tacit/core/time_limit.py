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

    Works in any thread. Python raises it between two of its instructions, so one call of C
    code, such as a match of a regular expression, is not cut short. Python drops what is raised
    in a finalizer, so it is raised again every second until the function ends.

    >>> call_within(60, lambda: sum(range(10)))
    45
    """
    thread = ctypes.c_ulong(threading.get_ident())
    raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc
    # Locks alone, which are C code: an exception inside an Event could leave it locked.
    running, changing = threading.Lock(), threading.Lock()
    ended = False
    running.acquire()

    def watch() -> None:
        wait = seconds
        while not running.acquire(timeout=wait):
            with changing:
                if not ended:
                    raise_in(thread, ctypes.py_object(OutOfTime))
            wait = AGAIN

    try:
        with changing:  # nothing is raised while the thread starts
            threading.Thread(target=watch, daemon=True).start()
        return function()
    finally:
        while not ended:  # it may be raised in here too, once; suppress() would let it pass
            try:
                with changing:
                    ended = True
                    raise_in(thread, None)  # one that is still to be raised
            except OutOfTime:
                pass
        running.release()
