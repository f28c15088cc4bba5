"""Rows at length one: any finite row, in any dtype, dense or sparse."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tacit.data import Table
from tacit.data.scaled_rows import unit_table
from tacit.data.table import parts
from tacit.kernels.unit_rows import unit_rows


@settings(max_examples=100, deadline=None)
@given(
    hnp.arrays(
        np.float64,
        st.tuples(st.integers(1, 6), st.integers(1, 5)),
        elements=st.floats(allow_nan=False, allow_infinity=False),
    )
)
def test_any_finite_row_gets_length_one_or_is_zero(X):
    before = X.copy()
    unit, zero = unit_rows(X)
    np.testing.assert_array_equal(X, before)
    np.testing.assert_array_equal(zero, ~X.any(axis=1))
    np.testing.assert_allclose(np.linalg.norm(unit[~zero], axis=1), 1, rtol=1e-14)
    assert not unit[zero].any()
    assert (np.sign(unit) * np.sign(X) >= 0).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_rows_are_dense_rows(dtype):
    X = np.random.default_rng(0).normal(size=(50, 9)).astype(dtype)
    X[np.abs(X) < 0.7] = 0
    X[7] = 0
    dense, zero = unit_rows(X)
    sparse, sparse_zero = unit_rows(sp.csr_array(X))
    assert dense.dtype == sparse.dtype == dtype
    np.testing.assert_array_equal(dense, sparse.toarray())
    np.testing.assert_array_equal(zero, sparse_zero)
    stored = sp.csr_array((np.zeros(1), [0], [0, 1]), shape=(1, 2))  # a zero that is stored
    assert unit_rows(stored)[1].all()


def test_rows_that_are_not_finite_stay_for_others_to_find():
    X = np.array([[np.inf, 1.0], [np.nan, 0.0]])
    unit, zero = unit_rows(X)
    np.testing.assert_array_equal(unit, X)
    assert not zero.any()


def test_read_only_and_fortran_rows_are_accepted():
    X = np.asfortranarray(np.arange(6.0).reshape(3, 2))
    X.flags.writeable = False
    np.testing.assert_allclose(unit_rows(X)[0][1], [2 / 13**0.5, 3 / 13**0.5])


@pytest.mark.parametrize("keep", [False, True])
def test_a_table_loads_its_rows_so(keep):
    X = np.array([[3.0, 4.0], [0.0, 0.0], [0.0, 2.0]])
    table = Table.from_array(X, block_rows=2).with_weights([2.0, 5.0, 1.0])
    unit = unit_table(table, keep_zero=keep)
    loaded = [parts(block.load()) for block in unit]
    np.testing.assert_allclose(
        np.vstack([block.rows for block in loaded]), [[0.6, 0.8], [0.0, 0.0], [0.0, 1.0]]
    )
    weights = np.concatenate([block.weights for block in loaded])
    np.testing.assert_array_equal(weights, [2.0, 5.0 if keep else 0.0, 1.0])
    assert [(block.start, block.stop) for block in unit] == [(0, 2), (2, 3)]
    assert unit.shape == table.shape
