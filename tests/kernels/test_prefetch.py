"""Asking for rows ahead changes nothing, whatever their width and wherever they lie."""

import numpy as np
import pytest

from tacit.kernels.prefetch import fetch_entries, fetch_rows


@pytest.mark.parametrize("width", [1, 3, 8, 20])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_table_is_left_as_it_is(width, dtype):
    table = np.random.default_rng(0).normal(size=(500, width)).astype(dtype)
    before = table.copy()
    indices = np.array([0, 499, 3, 3], np.int32)
    fetch_rows(indices, 0, 4, table)
    fetch_rows(indices, 2, 2, table)  # an empty row
    fetch_rows(np.empty(0, np.int32), 0, 0, table[:0])
    np.testing.assert_array_equal(table, before)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_entries_past_the_end_may_be_asked_for(dtype):
    indices, data = np.arange(7, dtype=np.int32), np.ones(7, dtype)
    for first in (0, 6, 7):
        fetch_entries(indices, data, first)
    fetch_entries(indices[:0], data[:0], 0)
    np.testing.assert_array_equal(data, 1)
