"""Sorted keys with counts: equal to collections.Counter, whatever the order and the cut."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.core import Serial, Threads, tree_sum
from tacit.language import key_counts
from tacit.language.key_counts import KeyCounts

some = settings(deadline=None, max_examples=60)  # no deadline: the first call compiles
BIG = 2**64 - 1

single = st.one_of(
    st.integers(0, 12), st.integers(0, BIG), st.integers(0, 7).map(lambda b: 1 << 8 * b)
)
pair = st.tuples(single, single)
lists = st.one_of(st.lists(single, max_size=60), st.lists(pair, min_size=1, max_size=60))


def array_of(keys):
    return np.array(keys, np.uint64)


def as_dict(counts):
    keys = map(tuple, counts.keys.tolist()) if counts.keys.ndim == 2 else counts.keys.tolist()
    return dict(zip(keys, counts.counts.tolist(), strict=True))


def check(counts, expected):
    """Equal to a Counter, and in the form that every KeyCounts has."""
    assert as_dict(counts) == {k: n for k, n in expected.items() if n}
    assert list(as_dict(counts)) == sorted(as_dict(counts))
    assert counts.keys.dtype == np.uint64
    assert counts.counts.dtype == np.int64
    assert counts.keys.flags.c_contiguous


# --- Against collections.Counter ---


@given(lists)
@some
def test_keys_are_counted_as_counter_does(keys):
    counts = KeyCounts.of(array_of(keys))
    check(counts, Counter(keys))
    assert counts.total == len(keys)


@given(lists, st.data())
@some
def test_counts_that_come_with_the_keys_are_added_up(keys, data):
    given_counts = data.draw(
        st.lists(st.integers(0, 2**40), min_size=len(keys), max_size=len(keys))
    )
    expected = Counter()
    for key, n in zip(keys, given_counts, strict=True):
        expected[key] += n
    check(KeyCounts.of(array_of(keys), given_counts), expected)


@given(lists, st.data())
@some
def test_parts_add_up_to_the_whole(keys, data):
    cut = data.draw(st.integers(0, len(keys)))
    a, b = KeyCounts.of(array_of(keys[:cut])), KeyCounts.of(array_of(keys[cut:]))
    whole = KeyCounts.of(array_of(keys))
    check(a + b, Counter(keys))
    assert a + b == whole
    assert b + a == whole


@given(lists, st.data())
@some
def test_lookup_finds_what_is_there_and_nothing_else(keys, data):
    pairs = bool(keys) and isinstance(keys[0], tuple)
    wanted = data.draw(st.lists(pair if pairs else single, min_size=1, max_size=20)) + keys
    expected = Counter(keys)
    got = KeyCounts.of(array_of(keys)).get(array_of(wanted))
    assert got.dtype == np.int64
    assert got.tolist() == [expected[key] for key in wanted]


@given(lists, st.integers(0, 70))
@some
def test_top_is_by_count_and_then_by_key(keys, n):
    top_keys, top_counts = KeyCounts.of(array_of(keys)).top(n)
    expected = sorted(Counter(keys).items(), key=lambda item: (-item[1], item[0]))[:n]
    names = [tuple(key) if top_keys.ndim == 2 else key for key in top_keys.tolist()]
    assert list(zip(names, top_counts.tolist(), strict=True)) == expected


@given(lists, st.integers(0, 5))
@some
def test_pruning_drops_the_rare(keys, minimum):
    expected = {key: n for key, n in Counter(keys).items() if n >= minimum}
    check(KeyCounts.of(array_of(keys)).prune(minimum), expected)


def test_many_keys_agree_with_numpy(monkeypatch):
    rng = np.random.default_rng(0)
    keys = rng.zipf(1.3, 200_000).clip(0, 2**30).astype(np.uint64) << np.uint64(17)
    expected = np.unique(keys, return_counts=True)
    whole = KeyCounts.of(keys)
    assert (whole.keys == expected[0]).all()
    assert (whole.counts == expected[1]).all()
    monkeypatch.setattr(key_counts, "CHUNK", 1000)  # where the kernel calls are cut
    assert KeyCounts.of(keys) == whole
    assert (
        whole.get(keys[:3000]) == expected[1][np.searchsorted(expected[0], keys[:3000])]
    ).all()


def test_pairs_are_ordered_by_the_first_and_then_the_second():
    keys = np.random.default_rng(0).integers(0, 2**64, (5000, 2), dtype=np.uint64)
    keys[:, 0] >>= np.uint64(60)  # many alike
    counts = KeyCounts.of(np.vstack([keys, keys[::2]]))
    order = np.lexsort((keys[:, 1], keys[:, 0]))
    assert (counts.keys == keys[order]).all()
    assert counts.counts.tolist() == (1 + (order % 2 == 0)).tolist()


# --- The laws of Stats ---


def test_a_multiple_is_that_many_repetitions():
    counts = KeyCounts.of([4, 4, 9])
    assert 3 * counts == counts + counts + counts
    assert 0 * counts == KeyCounts.empty()
    assert np.float64(1) * counts == counts


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
    assert (counts + 2 * counts).get([5]).tolist() == [12]
    assert keys.tolist() == [5, 1, 5, 0]


def test_counts_past_32_bits_are_kept():
    huge = KeyCounts.of([1, 2, 1], [2**31, 2**40, 2**31 + 5])
    check(huge, {1: 2**32 + 5, 2: 2**40})
    check(huge + huge, {1: 2**33 + 10, 2: 2**41})
    assert KeyCounts.of([1, 2, 3], [2**63 - 1] * 3).total == 3 * (2**63 - 1)


# --- Little or odd data ---


@pytest.mark.parametrize("nothing", [[], np.empty(0), np.empty((0, 2), np.uint64)])
def test_no_keys_count_nothing(nothing):
    none = KeyCounts.of(nothing)
    assert len(none) == none.total == none.nbytes == 0
    assert none.get([1, 2]).tolist() == [0, 0]
    assert [part.tolist() for part in none.top(5)] == [[], []]
    assert len(none.prune(1)) == len(none + none) == len(2 * none) == 0
    counts = KeyCounts.of([3])
    assert none + counts == counts + none == counts
    pairs = KeyCounts.of([[3, 4]])
    assert none + pairs == pairs + none == pairs


def test_a_count_of_zero_is_a_key_never_seen():
    check(KeyCounts.of([1, 2, 2], [0, 0, 3]), {2: 3})
    assert KeyCounts.of([1], [0]) == KeyCounts.empty()


@pytest.mark.parametrize("kind", [np.uint8, np.int32, np.int64, np.uint64])
def test_any_whole_numbers_will_do(kind):
    keys = np.array([[3, 9], [100, 9], [3, 9]], kind)
    check(KeyCounts.of(keys), {(3, 9): 2, (100, 9): 1})
    check(KeyCounts.of(keys[:, 1]), {9: 3})  # a column, with a stride
    check(KeyCounts.of(np.asfortranarray(keys)), {(3, 9): 2, (100, 9): 1})
    assert KeyCounts.of(keys[:, 0]).get(np.array([100, 3, 4], kind)).tolist() == [1, 2, 0]


def test_all_keys_equal_and_the_ends_of_the_range():
    check(KeyCounts.of(np.full(1000, BIG, np.uint64)), {BIG: 1000})
    check(KeyCounts.of(array_of([BIG, 0, BIG, 1 << 63])), {0: 1, 1 << 63: 1, BIG: 2})
    check(KeyCounts.of(array_of([[BIG, 0], [0, BIG], [BIG, 0]])), {(0, BIG): 1, (BIG, 0): 2})


def test_equality_looks_at_the_contents():
    assert KeyCounts.of([1, 2]) == KeyCounts.of([2, 1])
    assert KeyCounts.of([1, 2]) != KeyCounts.of([1, 3])
    assert KeyCounts.of([1, 2]) != KeyCounts.of([1, 2, 2])
    assert KeyCounts.of([1]) != "counts"


def test_a_long_chain_of_additions_stays_exact():
    rng = np.random.default_rng(1)
    parts = [rng.integers(0, 50, rng.integers(0, 30)) for _ in range(200)]
    total = tree_sum(KeyCounts.of(part) for part in parts)
    check(total, Counter(np.concatenate(parts).tolist()))


# --- What is refused ---


def test_keys_and_counts_are_checked():
    with pytest.raises(TypeError, match="keys are float64"):
        KeyCounts.of([1.5])
    with pytest.raises(ValueError, match="the key -3"):
        KeyCounts.of([1, -3])
    with pytest.raises(ValueError, match=r"shape \(1, 3\)"):
        KeyCounts.of([[1, 2, 3]])
    with pytest.raises(ValueError, match=r"counts of shape \(1,\) for 2 keys"):
        KeyCounts.of([1, 2], [1])
    with pytest.raises(TypeError, match="counts are float64"):
        KeyCounts.of([1, 2], [1.0, 2.0])
    with pytest.raises(ValueError, match="from -1 to 2"):
        KeyCounts.of([1, 2], [-1, 2])
    with pytest.raises(ValueError, match=r"2\*\*63 - 1"):
        KeyCounts.of([1], np.array([2**63], np.uint64))
    with pytest.raises(ValueError, match="n=-1"):
        KeyCounts.of([1]).top(-1)


def test_keys_and_pairs_do_not_mix():
    with pytest.raises(ValueError, match="do not mix"):
        KeyCounts.of([1]) + KeyCounts.of([[1, 2]])
    with pytest.raises(ValueError, match="do not mix"):
        KeyCounts.of([1]).get([[1, 2]])


@pytest.mark.parametrize("scale", [-1, 0.5])
def test_a_part_of_a_count_is_refused(scale):
    with pytest.raises(ValueError, match=rf"{scale} \* KeyCounts needs a whole number"):
        scale * KeyCounts.of([1])


def test_a_count_that_would_wrap_is_an_error():
    most = KeyCounts.of([1, 5], [1, 2**63 - 1])
    with pytest.raises(OverflowError):
        most + KeyCounts.of([5])
    with pytest.raises(OverflowError):
        KeyCounts.of([5, 5], [2**63 - 1, 1])
    with pytest.raises(OverflowError):
        2 * most
