"""The store that counts past memory: one answer for every budget, no files left behind."""

import errno
import gc
import math
import os
import signal
import subprocess
import sys
import tracemalloc
from collections import Counter
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.language import count_store
from tacit.language.count_store import CountStore, KeyCounts

some = settings(deadline=None, max_examples=40)  # no deadline: the first call compiles
BUDGETS = [1, 20_000, 400_000, math.inf]


def keys_of(n=30_000, seed=0):
    """Some keys over and over, many hardly ever."""
    rng = np.random.default_rng(seed)
    rare = rng.integers(0, 2**64, n // 2, dtype=np.uint64)
    return rng.permutation(np.concatenate([rare, rng.zipf(1.5, n - n // 2).astype(np.uint64)]))


def filled(budget, keys, folder, pieces=7, **options):
    store = CountStore(budget, folder=folder, **options)
    for part in np.array_split(keys, pieces):
        store.add(part)
    return store


def files_in(folder):
    return [path for path in Path(folder).rglob("*") if path.is_file()]


# --- One answer ---

single = st.integers(0, 2**64 - 1) | st.integers(0, 20)
batch = st.lists(st.tuples(single, single, st.integers(0, 2**35)), max_size=150)


@given(st.lists(batch, max_size=8), st.booleans(), st.booleans(), st.sampled_from([1, 9000]))
@some
def test_a_store_counts_as_counter_does(batches, pairs, weighted, budget):
    expected = Counter()
    with CountStore(budget) as store:
        for rows in batches:
            keys = [(a, b) if pairs else a for a, b, _ in rows]
            times = [n if weighted else 1 for _, _, n in rows]
            for key, n in zip(keys, times, strict=True):
                expected[key] += n
            shape = (len(keys), 2) if pairs else len(keys)
            array = np.array(keys, np.uint64).reshape(shape)
            store.add(array, np.array(times, np.int64) if weighted else None)
        total = store.to_counts()
    names = total.keys.tolist()
    found = dict(zip(map(tuple, names) if pairs else names, total.counts.tolist(), strict=True))
    assert found == {key: n for key, n in expected.items() if n}
    assert names == sorted(names)


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("pairs", [False, True])
def test_the_budget_does_not_show_in_the_blocks(budget, pairs, tmp_path):
    keys = keys_of()
    if pairs:
        keys = np.stack([keys >> np.uint64(50), keys], axis=1)
    expected = KeyCounts.of(keys)
    with filled(budget, keys, tmp_path) as store:
        blocks = list(store.blocks(rows=1000))
        assert (store.spilled_bytes > 0) == (budget < math.inf)  # the test is no sham
        assert [len(block) for block in blocks[:-1]] == [1000] * (len(blocks) - 1)
        for i, block in enumerate(blocks):
            assert block == expected.part(1000 * i, 1000 * (i + 1))
        assert store.to_counts() == expected  # a second walk


def test_many_small_files_are_merged_by_levels(monkeypatch, tmp_path):
    monkeypatch.setattr(count_store, "FAN_IN", 3)
    keys = keys_of(6000)
    store = CountStore(1, folder=tmp_path)
    for key in np.array_split(keys, 40):
        store.add(key)
        assert len(files_in(tmp_path)) == len(store._runs) <= 2 * 6
        assert store.spilled_bytes <= sum(path.stat().st_size for path in files_in(tmp_path))
    assert max(run.level for run in store._runs) >= 3
    store.finish()
    assert len(store._runs) <= 3
    assert store.to_counts() == KeyCounts.of(keys)
    store.close()


@pytest.mark.parametrize("budget", BUDGETS)
def test_counted_blocks_can_be_merged_in(budget, tmp_path):
    keys = keys_of()
    with CountStore(budget, folder=tmp_path) as store:
        for part in np.array_split(keys, 9):
            store.merge(KeyCounts.of(part))
            store.add(part[:100])
        store.merge(KeyCounts.empty(2))  # nothing, of whatever kind
        store.add([])
        firsts = [part[:100] for part in np.array_split(keys, 9)]
        assert store.to_counts() == KeyCounts.of(np.concatenate([keys, *firsts]))


@pytest.mark.parametrize("budget", BUDGETS)
def test_given_counts_mix_with_ones_past_32_bits_and_through_the_disk(budget, tmp_path):
    with CountStore(budget, folder=tmp_path) as store:
        store.add(np.arange(40))
        for _ in range(3):
            store.add(np.arange(500), np.full(500, 2**31 + 1))
        store.add(np.arange(500))
        total = store.to_counts()
    assert (total.counts == 3 * (2**31 + 1) + 1 + (np.arange(500) < 40)).all()


def test_files_are_plain_npy(tmp_path):
    with filled(20_000, keys_of(), tmp_path) as store:
        for path, run in zip(sorted(files_in(tmp_path)), store._runs, strict=True):
            rows = np.load(path)
            assert rows.shape == (run.rows, 2)
            assert (np.diff(rows[:, 0].astype(object)) > 0).all()
        assert sum(run.nbytes for run in store._runs) == store.spilled_bytes > 0


@pytest.mark.parametrize("budget", BUDGETS)
def test_a_store_of_nothing_has_no_blocks(budget, tmp_path):
    with CountStore(budget, folder=tmp_path) as store:
        assert list(store.blocks()) == []
    with CountStore(budget, folder=tmp_path) as store:
        store.add([])
        store.add(np.arange(200), np.zeros(200, np.int64))
        assert list(store) == []
        assert len(store.to_counts()) == 0
    assert os.listdir(tmp_path) == []


# --- Memory ---


def test_the_bytes_held_stay_within_the_budget(tmp_path):
    budget = 300_000
    keys = keys_of(100_000)
    with CountStore(budget, folder=tmp_path) as store:
        for i in range(0, 100_000, 1234):
            store.add(keys[i : i + 1234], np.ones(len(keys[i : i + 1234]), np.int64))
            assert store.held_bytes <= budget
        for _ in store.blocks(rows=100):
            assert store.held_bytes <= budget


@pytest.mark.parametrize("pairs", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_memory_in_use_stays_near_the_budget_at_every_moment(pairs, weighted, tmp_path):
    budget = 1_000_000
    keys = keys_of(400_000)
    if pairs:
        keys = np.stack([keys >> np.uint64(40), keys], axis=1)
    counts = np.ones(len(keys), np.int64) if weighted else None

    def count_all(n):
        with CountStore(budget, folder=tmp_path) as store:
            store.add(keys[:n], counts if counts is None else counts[:n])
            return sum(block.total for block in store.blocks(rows=500))

    count_all(200_000)  # compile before measuring
    tracemalloc.start()
    try:
        assert count_all(400_000) == 400_000
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1.1 * budget + 100_000
    assert peak > 0.3 * budget  # and the budget is made use of


# --- No files left behind ---


def test_files_go_when_the_store_is_closed(tmp_path):
    store = filled(20_000, keys_of(), tmp_path)
    assert files_in(tmp_path)
    if os.name == "posix":
        assert [path.stat().st_mode & 0o777 for path in tmp_path.iterdir()] == [0o700]
    store.close()
    assert os.listdir(tmp_path) == []
    assert store.held_bytes == store.spilled_bytes == 0
    store.close()


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit, MemoryError])
def test_files_go_when_the_with_is_left_by_an_error(error, tmp_path):
    def fail():
        with CountStore(20_000, folder=tmp_path) as store:
            store.add(keys_of())
            assert files_in(tmp_path)
            raise error

    with pytest.raises(error):
        fail()
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("where", ["sort_and_sum", "write_run"])
def test_a_store_interrupted_at_work_is_closed(where, monkeypatch, tmp_path):
    store = filled(20_000, keys_of(), tmp_path)
    assert files_in(tmp_path)

    def interrupt(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(count_store, where, interrupt)
    with pytest.raises(KeyboardInterrupt):
        store.add(keys_of())
    assert os.listdir(tmp_path) == []
    with pytest.raises(ValueError, match="closed"):
        store.add([1])


def test_files_go_with_the_store_itself(tmp_path):
    store = filled(20_000, keys_of(), tmp_path)
    assert files_in(tmp_path)
    del store
    gc.collect()
    assert os.listdir(tmp_path) == []


def test_a_walk_given_up_leaves_the_store_whole(tmp_path):
    keys = keys_of()
    with filled(20_000, keys, tmp_path) as store:
        next(store.blocks(rows=10))
        assert store.to_counts() == KeyCounts.of(keys)
        walk = store.blocks(rows=10)
        next(walk)
    with pytest.raises(ValueError, match="closed"):
        list(walk)
    assert os.listdir(tmp_path) == []


PROGRAM = """
import sys
import numpy as np
from tacit.language.count_store import CountStore
store = CountStore(50_000, folder=sys.argv[1])
n = 0
while True:
    store.add(np.arange(n, n + 5000))
    n += 5000
    if store.spilled_bytes > 200_000:
        print("spilled", flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="signals are sent to a child process")
def test_ctrl_c_in_a_real_process_leaves_no_files(tmp_path):
    child = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert child.stdout.readline() == b"spilled\n"
        assert files_in(tmp_path)
        for _ in range(6):  # Python loses an interrupt that meets a finalizer, as in LLVM's
            child.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                child.communicate(timeout=10)
                break
        assert child.returncode is not None
    finally:
        child.kill()
        child.wait()
        child.stdout.close()
    assert os.listdir(tmp_path) == []


def test_a_forked_child_leaves_its_parents_files(tmp_path):
    store = filled(20_000, keys_of(), tmp_path)
    count_store.remove_folder(store._private, os.getpid() + 1)
    assert files_in(tmp_path)
    store.close()


# --- Disk full ---


class FullDisk:
    """A file on a disk with room for some bytes more."""

    def __init__(self, file, room, code):
        self.file, self.room, self.code = file, room, code

    def write(self, data):
        self.room[0] -= memoryview(data).nbytes
        if self.room[0] < 0:
            raise OSError(self.code, os.strerror(self.code))
        return self.file.write(data)

    def __getattr__(self, name):
        return getattr(self.file, name)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.file.close()


@pytest.fixture
def disk(monkeypatch):
    """Makes every file of the store share a disk with that much room."""

    def limit(room, code):
        left = [room]

        def open_on_it(path, mode, **options):
            return FullDisk(Path(path).open(mode, **options), left, code)

        monkeypatch.setattr(count_store, "open", open_on_it, raising=False)

    return limit


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
@pytest.mark.parametrize("room", [0, 100_000])
def test_a_full_disk_is_told_with_the_bytes_and_the_place(code, room, disk, tmp_path):
    disk(room, code)
    store = CountStore(20_000, folder=tmp_path)
    message = rf"needed [\d,]+ more bytes in {tmp_path}, .*memory_bytes=20,000"
    with pytest.raises(OSError, match=message) as e:
        store.add(keys_of(200_000))
    assert e.value.errno == code
    assert os.listdir(tmp_path) == []
    with pytest.raises(ValueError, match="closed"):
        store.add([1])


def test_another_disk_error_passes_through_and_cleans_up(disk, tmp_path):
    disk(100_000, errno.EIO)
    with pytest.raises(OSError, match=os.strerror(errno.EIO)) as e:
        filled(20_000, keys_of(100_000), tmp_path)
    assert e.value.errno == errno.EIO
    assert os.listdir(tmp_path) == []


def test_a_file_cut_short_is_noticed(tmp_path):
    with filled(20_000, keys_of(), tmp_path) as store:
        store.finish()
        victim = store._runs[0].path
        with open(victim, "r+b") as file:
            file.truncate(victim.stat().st_size - 100)
        with pytest.raises(OSError, match="ends early") as e:
            list(store.blocks())
        assert e.value.filename == str(victim)


# --- What is refused ---


@pytest.mark.parametrize("budget", [0, -5, math.nan])
def test_a_budget_of_nothing_is_refused(budget):
    with pytest.raises(ValueError, match=rf"memory_bytes={budget}\)"):
        CountStore(budget)


def test_a_folder_that_is_not_there_is_refused_at_once(tmp_path):
    with pytest.raises(NotADirectoryError, match="nowhere"):
        CountStore(1000, folder=tmp_path / "nowhere")


def test_wrong_keys_are_refused_and_change_nothing(tmp_path):
    with CountStore(1, folder=tmp_path) as store:
        store.add([1, 2])
        for wrong in ([[1, 2]], [1.5], [-1], [[1, 2, 3]]):
            with pytest.raises((ValueError, TypeError)):
                store.add(wrong)
        with pytest.raises(ValueError, match="do not mix"):
            store.merge(KeyCounts.of([[1, 2]]))
        with pytest.raises(ValueError, match="for 1 keys"):
            store.add([1], [1, 2])
        with pytest.raises(ValueError, match="rows=0"):
            store.blocks(rows=0)
        store.add([2])
        assert store.to_counts() == KeyCounts.of([1, 2, 2])


def test_a_finished_or_closed_store_takes_no_more(tmp_path):
    store = CountStore(1000, folder=tmp_path)
    store.add([1])
    assert store.finish() is store
    with pytest.raises(ValueError, match="finished"):
        store.add([2])
    store.close()
    for act in (store.finish, store.blocks, lambda: store.add([1])):
        with pytest.raises(ValueError, match="closed"):
            act()
