"""Engines: order, errors, interrupts, and what they leave behind."""

import pickle
import threading
import time
from typing import NamedTuple

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from tacit.core import Dask, Serial, Threads, get_engine
from tacit.core.engines import Stopped, check_stop, one_blas_thread, ready
from tacit.data import Table

ENGINES = [Serial(), Threads(1), Threads(3)]
every_engine = pytest.mark.parametrize("engine", ENGINES, ids=str)


class Item(NamedTuple):
    value: int

    def load(self):
        return self.value


class Broken(NamedTuple):
    value: int

    def load(self):
        raise OSError(f"block {self.value} cannot be read")


def slow_square(params, x):
    time.sleep(0.002 * (x % 3))  # finish out of order
    return params * x * x


@every_engine
def test_results_come_in_the_order_of_the_blocks(engine):
    result = list(engine.map(slow_square, 2, map(Item, range(40))))
    assert result == [2 * x * x for x in range(40)]


@every_engine
def test_each_block_gets_its_own_slot(engine):
    beside = [[] for _ in range(20)]

    def note(params, x, slot):
        slot.append(x)
        return x

    for _ in range(3):
        list(engine.map(note, None, [Item(i) for i in range(20)], beside))
    assert beside == [[i] * 3 for i in range(20)]


@every_engine
def test_the_first_error_in_block_order_is_raised(engine):
    blocks = [Item(0), Broken(1), Broken(2), *map(Item, range(50))]
    with pytest.raises(OSError, match="block 1 cannot"):
        list(engine.map(slow_square, 1, blocks))


class Tree(NamedTuple):
    """A sum that shows the order of its additions."""

    text: str

    def __add__(self, other):
        return Tree(f"({self.text} {other.text})")


def leaf(params, x, *slot):
    for noted in slot:
        noted.append(x)
    return Tree(str(x))


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("count", [1, 7, 16, 31, 48, 100, 133])
def test_threads_add_up_in_the_order_of_serial_and_keep_the_slots(count, workers):
    blocks, beside = [Item(i) for i in range(count)], [[] for _ in range(count)]
    expected = Serial().reduce(leaf, None, blocks)
    assert Threads(workers).reduce(leaf, None, blocks, beside) == expected
    assert beside == [[i] for i in range(count)]


@every_engine
def test_no_blocks_is_an_error_that_says_so(engine):
    with pytest.raises(ValueError, match="no blocks"):
        engine.reduce(slow_square, 1, [])


def test_a_pass_that_is_given_up_stops_its_blocks():
    before = threading.active_count()
    stopped = threading.Event()

    def long(params, x):
        if x == 0:
            return 0
        try:
            for _ in range(10_000):  # ten seconds, if nobody stops it
                check_stop()
                time.sleep(0.001)
        except Stopped:
            stopped.set()
            raise
        return x

    results = Threads(2).map(long, None, map(Item, range(100)))
    assert next(results) == 0
    results.close()  # as an exception in the caller would
    assert stopped.is_set()
    assert threading.active_count() == before


def test_a_piece_that_fails_stops_the_running_ones():
    started, stopped = threading.Event(), threading.Event()

    def run(long):
        if not long:
            started.wait()
            raise OSError("the first cannot be read")
        started.set()
        try:
            for _ in range(10_000):
                check_stop()
                time.sleep(0.001)
        except Stopped:
            stopped.set()
            raise

    with ready(Threads(2)) as running, pytest.raises(OSError, match="the first"):
        list(running.each(run, [False, True]))
    assert stopped.is_set()


def test_only_a_bounded_number_of_blocks_is_loaded_ahead():
    loaded = []

    class Counted(NamedTuple):
        value: int

        def load(self):
            loaded.append(self.value)
            return self.value

    results = Threads(2).map(lambda params, x: x, None, map(Counted, range(1000)))
    next(results)
    time.sleep(0.05)
    assert len(loaded) <= 8
    results.close()


def test_blas_keeps_to_one_thread_inside_and_gets_its_threads_back():
    def pools():
        return [p["num_threads"] for p in threadpool_info() if p["user_api"] == "blas"]

    before = pools()
    with one_blas_thread():
        with one_blas_thread():
            assert set(pools()) == {1}
        assert set(pools()) == {1}
    assert pools() == before


def test_engines_survive_pickling_and_compare_by_value():
    for engine in (*ENGINES, Dask("tcp://somewhere:1")):
        assert pickle.loads(pickle.dumps(engine)) == engine
    assert get_engine("threads") == Threads()


def test_an_unknown_engine_is_refused_with_the_choices():
    with pytest.raises(ValueError, match=r"'thread' is unknown.*serial"):
        get_engine("thread")
    with pytest.raises(TypeError, match="not an engine"):
        get_engine(7)


def test_dask_without_a_client_says_how_to_get_one():
    pytest.importorskip("distributed")
    table = Table.from_array(np.ones((4, 2)))
    with pytest.raises(ValueError, match=r"no Dask client.*Client"):
        Dask().reduce(lambda params, x: x.sum(), None, table)


@pytest.mark.parametrize("engine", [Serial(), Threads(1), Threads(3)], ids=str)
def test_each_gives_results_in_order_and_shares_memory(engine):
    out = np.zeros(20)

    def write(i):
        out[i] = i
        return 10 * i

    assert list(engine.each(write, range(20))) == [10 * i for i in range(20)]
    np.testing.assert_array_equal(out, np.arange(20))


def test_small_work_stays_in_the_calling_thread():
    def here(_):
        return threading.get_ident()

    mine = threading.get_ident()
    assert set(Threads(2).each(here, range(8), work=1000)) == {mine}
    assert set(Threads(2).each(here, [1])) == {mine}
    assert mine not in set(Threads(2).each(here, range(8), work=1 << 30))
    small = Table.from_array(np.zeros((100, 3)), block_rows=10)
    assert set(Threads(2).map(lambda params, block: here(block), None, small)) == {mine}


def test_a_failing_piece_ends_the_others():
    def run(i):
        if i == 3:
            raise ZeroDivisionError
        return i

    with pytest.raises(ZeroDivisionError):
        list(Threads(2).each(run, range(100)))
