"""Sorted keys with counts: equal to collections.Counter, whatever the order and the cut."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.core import Serial, Threads, tree_sum
from tacit.language.key_counts import KeyCounts

some = settings(deadline=None, max_examples=60)  # no deadline: the first call compiles
BIG = 2**64 - 1

keys_of = st.one_of(
    st.integers(0, 12), st.integers(0, BIG), st.integers(0, 7).map(lambda b: 1 << 8 * b)
)
lists = st.lists(keys_of, max_size=60)


def array_of(keys):
    return np.array(keys, np.uint64)


def check(counts, expected):
    """Equal to a Counter, in ascending order."""
    found = dict(zip(counts.keys.tolist(), counts.counts.tolist(), strict=True))
    assert found == expected
    assert list(found) == sorted(found)
    assert counts.keys.dtype == np.uint64
    assert counts.counts.dtype == np.int64


@given(lists)
@some
def test_keys_are_counted_as_counter_does(keys):
    check(KeyCounts.of(array_of(keys)), Counter(keys))


@given(lists, st.data())
@some
def test_counts_that_come_with_the_keys_are_added_up(keys, data):
    sizes = {"min_size": len(keys), "max_size": len(keys)}
    weights = data.draw(st.lists(st.integers(1, 2**40), **sizes))
    expected = Counter()
    for key, n in zip(keys, weights, strict=True):
        expected[key] += n
    check(KeyCounts.of(array_of(keys), weights), expected)


@given(lists, st.data())
@some
def test_parts_add_up_to_the_whole(keys, data):
    cut = data.draw(st.integers(0, len(keys)))
    a, b = KeyCounts.of(array_of(keys[:cut])), KeyCounts.of(array_of(keys[cut:]))
    check(a + b, Counter(keys))
    check(b + a, Counter(keys))


def test_many_keys_agree_with_numpy():
    rng = np.random.default_rng(0)
    keys = rng.zipf(1.3, 200_000).clip(0, 2**30).astype(np.uint64) << np.uint64(17)
    expected = np.unique(keys, return_counts=True)
    for counts in (None, np.ones(len(keys), np.int64)):
        whole = KeyCounts.of(keys, counts)
        assert (whole.keys == expected[0]).all()
        assert (whole.counts == expected[1]).all()


def test_engines_give_the_same_counts():
    class Block:
        def __init__(self, keys):
            self.keys = keys

        def load(self):
            return self.keys

    keys = np.random.default_rng(0).integers(0, 500, 20_000)
    blocks = [Block(part) for part in np.array_split(keys, 37)]

    def collect(params, block):
        return KeyCounts.of(block)

    for engine in (Serial(), Threads(4)):
        check(engine.reduce(collect, None, blocks), Counter(keys.tolist()))


def test_nothing_passed_in_is_modified():
    keys, weights = array_of([5, 1, 5, 0]), np.array([1, 2, 3, 4])
    keys.flags.writeable = weights.flags.writeable = False
    counts = KeyCounts.of(keys, weights)
    for array in (counts.keys, counts.counts):
        array.flags.writeable = False
    check(counts + counts, {0: 8, 1: 4, 5: 8})
    assert keys.tolist() == [5, 1, 5, 0]


def test_counts_past_32_bits_are_kept():
    huge = KeyCounts.of([1, 2, 1], [2**31, 2**40, 2**31 + 5])
    check(huge, {1: 2**32 + 5, 2: 2**40})
    check(huge + huge, {1: 2**33 + 10, 2: 2**41})


@pytest.mark.parametrize("nothing", [KeyCounts.of([]), KeyCounts.of([], [])])
def test_no_keys_count_nothing(nothing):
    assert len(nothing) == len(nothing + nothing) == 0
    check(nothing + KeyCounts.of([3]), {3: 1})


def test_all_keys_equal_and_the_ends_of_the_range():
    check(KeyCounts.of(np.full(1000, BIG, np.uint64)), {BIG: 1000})
    check(KeyCounts.of(array_of([BIG, 0, BIG, 1 << 63])), {0: 1, 1 << 63: 1, BIG: 2})


def test_a_long_chain_of_additions_stays_exact():
    rng = np.random.default_rng(1)
    parts = [rng.integers(0, 50, rng.integers(0, 30)) for _ in range(200)]
    total = tree_sum(KeyCounts.of(part) for part in parts)
    check(total, Counter(np.concatenate(parts).tolist()))


def test_a_count_that_would_wrap_is_an_error():
    most = KeyCounts.of([1, 5], [1, 2**63 - 1])
    check(most, {1: 1, 5: 2**63 - 1})
    with pytest.raises(OverflowError):
        most + KeyCounts.of([5])
    with pytest.raises(OverflowError):
        KeyCounts.of([5, 5], [2**63 - 1, 1])
