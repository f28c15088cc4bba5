"""Strings looked up among known ones: every length, every neighbour, nothing invented."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tacit.kernels.hashing import padded
from tacit.kernels.string_finder import find_strings, make_finder

STRINGS = st.lists(st.binary(min_size=0, max_size=40), max_size=60)


def finder_of(strings):
    offsets = np.concatenate([[0], np.cumsum([len(s) for s in strings], dtype=np.int64)])
    return make_finder(np.frombuffer(b"".join(strings), np.uint8), offsets.astype(np.int64))


def find(finder, strings):
    raw = b" ".join(strings)
    buffer = padded(len(raw))
    buffer[: len(raw)] = np.frombuffer(raw, np.uint8)
    sizes = np.array([len(s) for s in strings], np.int32)
    begin = (np.cumsum(sizes + 1) - sizes - 1).astype(np.int32)
    return find_strings(finder, buffer, begin, begin + sizes).tolist()


@given(STRINGS, STRINGS)
def test_it_finds_what_a_dictionary_finds(known, asked):
    known = sorted(set(known))
    numbers = {string: i for i, string in enumerate(known)}
    everything = [*asked, *known]
    expected = [numbers.get(string, -1) for string in everything]
    assert find(finder_of(known), everything) == expected


def test_strings_that_differ_in_one_byte_or_in_length_are_told_apart():
    known = [b"a" * n for n in range(1, 40)]
    finder = finder_of(known)
    for n in range(1, 40):
        assert find(finder, [b"a" * n]) == [n - 1]
        for place in range(n):
            other = bytearray(b"a" * n)
            other[place] = 0
            assert find(finder, [bytes(other)]) == [-1]


def test_an_empty_finder_finds_nothing():
    assert find(finder_of([]), [b"", b"word"]) == [-1, -1]
