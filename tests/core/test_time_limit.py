"""A limit on the time of code in plain Python."""

import threading
import time
from contextlib import suppress

import pytest

from tacit.core.time_limit import OutOfTime, call_within

# Raised in a finalizer it is dropped, and raised again.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


def spin(seconds=60.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            sum(range(100))
        except Exception:  # what a parser does
            continue


def test_a_call_that_takes_too_long_is_given_up_in_any_thread():
    given_up = []

    def run():
        with pytest.raises(OutOfTime):
            call_within(0.05, spin)
        given_up.append(threading.get_ident())

    other = threading.Thread(target=run)
    other.start()
    other.join()
    run()
    assert len(set(given_up)) == 2


def test_a_call_that_ends_in_time_is_left_alone_and_so_is_what_follows(monkeypatch):
    monkeypatch.setattr("tacit.core.time_limit.AGAIN", 0.01)  # what is left over would show
    before = threading.active_count()
    for _ in range(200):  # some end just when the time is over
        with suppress(OutOfTime):
            call_within(0.001, lambda: spin(0.001))
        spin(0.0005)
    spin(0.05)
    assert threading.active_count() <= before


def test_a_limit_that_is_over_while_its_thread_starts_leaves_nothing_behind(monkeypatch):
    monkeypatch.setattr("tacit.core.time_limit.AGAIN", 0.01)
    before, start = threading.active_count(), threading.Thread.start

    def slow(thread):
        start(thread)
        spin(0.05)

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", slow)
        with pytest.raises(OutOfTime):
            call_within(0.001, spin)
    spin(0.05)
    assert threading.active_count() <= before


def test_an_exception_that_is_dropped_is_raised_again(monkeypatch):
    monkeypatch.setattr("tacit.core.time_limit.AGAIN", 0.05)
    dropped = []

    def stubborn():
        while len(dropped) < 3:
            try:
                spin()
            except OutOfTime as error:
                dropped.append(error)
        spin()

    with pytest.raises(OutOfTime):
        call_within(0.05, stubborn)
    assert len(dropped) == 3


def test_the_functions_own_exceptions_pass_through():
    with pytest.raises(KeyError):
        call_within(60, lambda: {}["a"])
