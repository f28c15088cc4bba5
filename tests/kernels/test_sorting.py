"""The places of the highest values."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tacit.kernels.sorting import highest


@given(st.lists(st.integers(0, 5)), st.integers(-1, 12))
def test_the_highest_come_first_and_ties_go_to_the_lowest_place(values, n):
    order = np.argsort(-np.array(values, float), kind="stable")[: max(0, n)]
    assert highest(np.array(values, float), n).tolist() == order.tolist()
