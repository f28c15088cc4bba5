"""Hash tables of strings and pairs, and MurmurHash3."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils import murmurhash3_32

from tacit.kernels import hashing
from tacit.kernels.hashing import Interner, PairInterner, hash_strings, padded

some = settings(deadline=None, max_examples=60)  # no deadline: the first call compiles


def laid_out(words: list[bytes]):
    ends = np.cumsum([len(word) for word in words], dtype=np.int32)
    begins = np.concatenate([[0], ends[:-1]]).astype(np.int32)[: len(words)]
    buffer = padded(int(ends[-1]) if words else 0)
    raw = b"".join(words)
    buffer[: len(raw)] = np.frombuffer(raw, np.uint8)
    return buffer, begins, ends


def in_order(items: list) -> list[int]:
    seen: dict = {}
    return [seen.setdefault(item, len(seen)) for item in items]


@some
@given(st.lists(st.binary(max_size=40)))
def test_equal_strings_get_equal_ids_in_order_of_appearance(words):
    buffer, begin, end = laid_out(words)
    table = Interner(buffer)
    assert table.ids(begin, end).tolist() == in_order(words)
    slices = table.slices()
    distinct = [
        buffer[b : b + n].tobytes() for b, n in zip(slices.begin, slices.length, strict=True)
    ]
    assert distinct == list(dict.fromkeys(words))


def test_tables_grow_and_ids_stay():
    words = [b"%d" % (i * 7919 % 50_000) + b"x" * (i % 30) for i in range(60_000)]
    buffer, begin, end = laid_out(words)
    table = Interner(buffer)
    half = len(words) // 2
    ids = np.concatenate(
        [table.ids(begin[:half], end[:half]), table.ids(begin[half:], end[half:])]
    )
    assert ids.tolist() == in_order(words)


def test_strings_that_differ_only_after_sixteen_bytes_are_told_apart():
    words = [b"a" * 16 + tail for tail in (b"", b"b", b"c", b"bc", b"b")]
    buffer, begin, end = laid_out(words)
    assert Interner(buffer).ids(begin, end).tolist() == [0, 1, 2, 3, 1]


def test_nothing_that_leaves_depends_on_the_key(monkeypatch):
    words = [b"%d" % (i % 3000) for i in range(9000)]
    buffer, begin, end = laid_out(words)
    answers = []
    for key in (0, 1, 2**63 + 12345):
        monkeypatch.setattr(hashing, "KEY", np.uint64(key))
        table = Interner(buffer)
        answers.append((table.ids(begin, end).tolist(), table.slices().begin.tolist()))
    assert answers[0] == answers[1] == answers[2]


@some
@given(st.lists(st.tuples(st.integers(0, 2**31 - 1), st.integers(0, 50))))
def test_equal_pairs_get_equal_ids(pairs):
    left = np.array([a for a, _ in pairs], np.int32)
    right = np.array([b for _, b in pairs], np.int32)
    table = PairInterner()
    assert table.ids(left, right).tolist() == in_order(pairs)
    result = table.pairs()
    assert list(zip(result.left.tolist(), result.right.tolist(), strict=True)) == list(
        dict.fromkeys(pairs)
    )


@some
@given(st.lists(st.binary(max_size=20)), st.sampled_from([0, 1, 42]))
def test_murmur3_is_scikit_learns(words, seed):
    raw = np.frombuffer(b"".join(words), np.uint8)
    offsets = np.cumsum([0, *map(len, words)])
    expected = [murmurhash3_32(word, seed) for word in words]
    assert hash_strings(raw, offsets, seed).tolist() == expected


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 1000])
def test_padded_buffers_can_be_read_eight_bytes_at_a_time_beyond_their_end(size):
    buffer = padded(size)
    assert len(buffer) % 8 == 0
    assert len(buffer) >= size + 16
    assert not buffer[size:].any()
