"""Amounts of memory as people write them."""

import gc

import numpy as np
import pytest

from tacit.core.memory import (
    format_bytes,
    parse_memory,
    peak_memory,
    resident_memory,
    trim_memory,
)


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 bytes"), (999, "999 bytes"), (1000, "1.0 kB"), (123_456, "123 kB"),
     (9_999_999, "10.0 MB"), (5e9, "5.0 GB"), (5e15, "5000.0 TB")],
)  # fmt: skip
def test_sizes_are_printed_with_their_unit(size, text):
    assert format_bytes(size) == text


@pytest.mark.parametrize(
    ("given", "size"),
    [("2GB", 2 * 10**9), ("1.5 kb", 1500), ("64MiB", 64 * 2**20), ("10", 10), (7, 7)],
)
def test_limits_are_bytes_or_text(given, size):
    assert parse_memory(given) == size


@pytest.mark.parametrize("given", ["", "GB", "-1GB", "much", 0, -5, True, "1XB", "inf"])
def test_what_is_not_an_amount_is_refused(given):
    with pytest.raises(ValueError, match="memory="):
        parse_memory(given)


def test_the_memory_of_the_process_is_known():
    gc.collect()
    trim_memory()  # or the block takes what earlier tests have freed
    before = resident_memory()
    block = np.ones(2**28, np.uint8)
    assert resident_memory() - before > 2**27
    assert peak_memory() >= resident_memory()
    del block
    trim_memory()
    assert resident_memory() - before < 2**27
