"""Moments: the same as the textbook's, with all digits kept, however the rows are cut."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.core import DataError, Serial, Threads, moments, tree_sum
from tacit.core.moments import Moments, MomentsParams, collect
from tacit.data import Table
from tacit.data.table import Batch

some = settings(deadline=None, max_examples=60)  # no deadline: the first call compiles


def rows_of(n=500, d=6, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + rng.normal(size=d) * 10


def sparse_rows(n=400, d=30, seed=0):
    """Thin columns, thick ones, a full one, a constant one and an empty one."""
    rng = np.random.default_rng(seed)
    share = np.linspace(0.01, 0.6, d)
    dense = rng.poisson(3, size=(n, d)) * (rng.random((n, d)) < share)
    dense[:, -1] = rng.normal(size=n) + 50
    dense[:, 3] = 7
    dense[:, 5] = 0
    return sp.csr_array(dense.astype(float)), dense.astype(float)


def exact(rows, weights=None):
    """Mean and scatter in fractions: no rounding at all."""
    table = [[Fraction(float(x)) for x in row] for row in rows]
    w = [Fraction(1)] * len(table) if weights is None else [Fraction(float(x)) for x in weights]
    total, d = sum(w), len(table[0])
    mean = [sum(a * row[j] for a, row in zip(w, table, strict=True)) / total for j in range(d)]
    away = [[x - m for x, m in zip(row, mean, strict=True)] for row in table]
    scatter = [
        [float(sum(a * r[i] * r[j] for a, r in zip(w, away, strict=True))) for j in range(d)]
        for i in range(d)
    ]
    return np.array([float(m) for m in mean]), np.array(scatter)


def close(a, b, rtol=1e-10):
    """Entries against the size of their own columns: a covariance may be near zero."""
    spread = np.sqrt(np.abs(b.variance_sum))
    scale = np.outer(spread, spread) if b.scatter.ndim == 2 else spread**2
    assert a.weight == pytest.approx(b.weight, rel=1e-12)
    np.testing.assert_allclose(a.mean, b.mean, rtol=rtol, atol=rtol * (1 + spread.max()))
    assert (np.abs(a.scatter - b.scatter) <= rtol * scale + 1e-300).all()


# --- Agreement with an outside authority ---


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.uint8, bool])
@pytest.mark.parametrize("order", ["C", "F"])
def test_dense_rows_agree_with_numpy(dtype, order):
    rows = np.asarray(np.abs(rows_of()) % 200, dtype=dtype, order=order)
    rows.flags.writeable = False
    m = Moments.collect(rows)
    wide = rows.astype(np.float64)
    assert m.weight == len(rows)
    np.testing.assert_allclose(m.mean, wide.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(m.sample_covariance, np.cov(wide.T), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(m.covariance, np.cov(wide.T, ddof=0), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(m.variance, wide.var(axis=0), rtol=1e-10)
    np.testing.assert_allclose(m.sample_variance, wide.var(axis=0, ddof=1), rtol=1e-10)
    assert m.scatter.dtype == m.mean.dtype == np.float64


def test_weights_agree_with_numpy():
    rows = rows_of(300, 4)
    counts = np.random.default_rng(1).integers(0, 5, 300)
    m = Moments.collect(rows, weights=counts)
    np.testing.assert_allclose(m.sample_covariance, np.cov(rows.T, fweights=counts), rtol=1e-10)
    np.testing.assert_allclose(m.mean, np.average(rows, axis=0, weights=counts), rtol=1e-12)
    shares = np.random.default_rng(2).random(300)
    m = Moments.collect(rows, weights=shares)
    theirs = np.cov(rows.T, aweights=shares, ddof=0)
    np.testing.assert_allclose(m.covariance, theirs, rtol=1e-10)


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_sparse_rows_agree_with_dense_ones(form, full, weighted):
    matrix, dense = sparse_rows()
    weights = np.random.default_rng(3).integers(0, 4, len(dense)) / 2 if weighted else None
    ours = Moments.collect(matrix.asformat(form), weights=weights, full=full)
    close(ours, Moments.collect(dense, weights=weights, full=full), rtol=1e-12)
    assert ours.variance_sum[3] == ours.variance_sum[5] == 0


def test_sparse_matrices_may_repeat_an_entry_or_hold_zeros():
    data, columns, starts = [1.0, 2.0, 0.0, 5.0], [1, 1, 0, 0], [0, 2, 3, 4]
    matrix = sp.csr_array((np.array(data), np.array(columns), np.array(starts)), shape=(3, 2))
    for full in (True, False):
        close(Moments.collect(matrix, full=full), Moments.collect(matrix.toarray(), full=full))
    assert matrix.data.tolist() == data  # untouched


def test_the_scatter_is_symmetric_to_the_last_bit():
    matrix, dense = sparse_rows()
    weights = np.random.default_rng(0).random(len(dense))
    for rows in (matrix, dense, dense.astype(np.float32)):
        m = Moments.collect(rows, weights=weights) + 0.3 * Moments.collect(rows)
        assert (m.scatter == m.scatter.T).all()


# --- Digits ---


@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_rows_far_from_zero_keep_their_digits(make, full):
    """1e8 away with unit variance: raw sums of squares would keep none of the digits."""
    rows = np.random.default_rng(0).normal(size=(600, 2)) + 1e8
    mean, scatter = exact(rows)
    whole = Moments.collect(make(rows), full=full)
    parts = tree_sum(
        Moments.collect(make(rows[i : i + 37]), full=full) for i in range(0, 600, 37)
    )
    for m in (whole, parts):
        np.testing.assert_allclose(m.variance_sum, np.diag(scatter), rtol=1e-9)
        np.testing.assert_allclose(m.mean, mean, rtol=1e-15)
        if full:
            spread = np.sqrt(np.diag(scatter))
            assert np.abs(m.scatter - scatter).max() < 1e-9 * spread.max() ** 2


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_weighted_rows_far_from_zero_keep_their_digits(make):
    rng = np.random.default_rng(5)
    rows, weights = rng.normal(size=(300, 2)) + 1e8, rng.random(300)
    weights[::7] = 0
    rows[::7] = 0  # in a sparse matrix nothing is stored there, and nothing weighs
    _, scatter = exact(rows, weights)
    for full in (True, False):
        m = Moments.collect(make(rows), weights=weights, full=full)
        np.testing.assert_allclose(m.variance_sum, np.diag(scatter), rtol=1e-9)


def test_float32_is_summed_in_float64():
    rows = (np.random.default_rng(0).normal(size=(20_000, 2)) + 1000).astype(np.float32)
    m = Moments.collect(rows)
    np.testing.assert_allclose(m.covariance, np.cov(rows.astype(float).T, ddof=0), rtol=1e-12)


def test_an_outlier_in_front_does_not_spoil_the_others():
    rows = np.random.default_rng(0).normal(size=(200, 2))
    rows[0] = 1e9
    weights = np.ones(200)
    weights[0] = 0  # it has no say, and must not be what the rest is centered at
    close(Moments.collect(rows, weights=weights), Moments.collect(rows[1:]), rtol=1e-12)
    np.testing.assert_allclose(Moments.collect(rows).scatter, exact(rows)[1], rtol=1e-12)


def test_a_constant_column_has_no_scatter_at_all():
    rows = rows_of(3000, 3)
    rows[:, 1] = 0.1
    for make in (np.asarray, sp.csr_array):
        for full in (True, False):
            m = tree_sum(Moments.collect(make(part), full=full) for part in np.split(rows, 30))
            assert m.mean[1] == 0.1
            assert (m.scatter[1] == 0).all()


# --- The laws of Stats ---

cells = st.floats(-1e6, 1e6, width=32)
tables = st.integers(1, 4).flatmap(
    lambda d: st.lists(st.lists(cells, min_size=d, max_size=d), min_size=1, max_size=12)
)


@given(tables, st.data())
@some
def test_parts_add_up_to_the_whole(table, data):
    rows = np.array(table)
    cut = data.draw(st.integers(0, len(rows)))
    full = data.draw(st.booleans())
    make = data.draw(st.sampled_from([np.asarray, sp.csr_array]))
    whole = Moments.collect(rows, full=full)
    a, b = (
        Moments.collect(make(rows[:cut]), full=full),
        Moments.collect(make(rows[cut:]), full=full),
    )
    close(a + b, whole, rtol=1e-9)
    close(b + a, whole, rtol=1e-9)


@given(tables, st.data())
@some
def test_weights_are_repetitions(table, data):
    rows = np.array(table)
    counts = np.array(
        data.draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows)))
    )
    make = data.draw(st.sampled_from([np.asarray, sp.csr_array]))
    ours = Moments.collect(make(rows), weights=counts)
    repeated = Moments.collect(np.repeat(rows, counts, axis=0))
    assert ours.weight == repeated.weight
    close(ours, repeated, rtol=1e-9)


@given(tables)
@some
def test_the_scatter_is_the_exact_one(table):
    rows = np.array(table)
    mean, scatter = exact(rows)
    for make in (np.asarray, sp.csr_array):
        m = Moments.collect(make(rows))
        close(m, Moments(len(rows), mean, scatter), rtol=1e-9)
        assert (m.variance_sum >= 0).all()


def test_a_multiple_is_that_many_repetitions():
    rows = rows_of(50, 3)
    m = Moments.collect(rows)
    close(3 * m, m + m + m, rtol=1e-12)
    close(3 * m, Moments.collect(np.tile(rows, (3, 1))), rtol=1e-12)
    close(2 * m, Moments.collect(rows, weights=np.full(50, 2.0)), rtol=1e-12)
    close(m + np.float64(0) * m, m)


def test_engines_give_the_same_bits():
    matrix, dense = sparse_rows(2000)
    weights = np.random.default_rng(0).random(2000)
    for rows in (dense, matrix):
        for table in (Table.of(rows, 97), Table.of(rows, 97).with_weights(weights)):
            for params in (None, MomentsParams(full=False)):
                runs = [
                    e.reduce(collect, params, table) for e in (Serial(), Threads(1), Threads(4))
                ]
                for run in runs[1:]:
                    assert run.weight == runs[0].weight
                    assert (run.mean == runs[0].mean).all()
                    assert (run.scatter == runs[0].scatter).all()


def test_chunks_and_spans_do_not_show(monkeypatch):
    matrix, dense = sparse_rows()
    whole = Moments.collect(dense), Moments.collect(matrix)
    monkeypatch.setattr(moments, "CHUNK_ROWS", 16)
    monkeypatch.setattr(moments, "CHUNK_VALUES", 16)
    monkeypatch.setattr(moments, "SPAN", 11)
    close(Moments.collect(dense), whole[0], rtol=1e-12)
    assert (Moments.collect(matrix).scatter == whole[1].scatter).all()
    monkeypatch.setattr(moments, "SPAN", 3)  # 1 + 2 + ... divides evenly: the last one counts
    close(Moments.collect(sp.csr_array(np.eye(9))), Moments.collect(np.eye(9)), rtol=1e-12)


def test_nothing_passed_in_is_modified():
    dense = rows_of(40, 3)
    weights = np.arange(40.0)
    matrix = sp.csr_array(dense * (dense > 0))
    for array in (dense, weights, matrix.data, matrix.indices, matrix.indptr):
        array.flags.writeable = False
    for rows in (dense, matrix):
        for full in (True, False):
            m = Moments.collect(rows, weights=weights, full=full)
            for array in (m.mean, m.scatter):
                array.flags.writeable = False
            assert (m + 2 * m).weight == 3 * m.weight


# --- Little or no data ---


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("full", [True, False])
def test_a_single_row_is_its_own_mean(make, full):
    m = Moments.collect(make(np.array([[0.1, -2.0, 0.0]])), full=full)
    assert m.weight == 1
    assert m.mean.tolist() == [0.1, -2.0, 0.0]
    assert not m.scatter.any()
    assert not m.variance.any()
    with pytest.raises(
        ValueError, match=r"weight above 1, but the rows seen weigh 1\. .* variance"
    ):
        _ = m.sample_variance


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("full", [True, False])
def test_no_rows_or_no_weight_add_nothing(make, full):
    some_rows = Moments.collect(make(rows_of(9, 3)), full=full)
    none = Moments.collect(make(np.empty((0, 3))), full=full)
    weightless = Moments.collect(make(rows_of(5, 3)), weights=np.zeros(5), full=full)
    for m in (none, weightless, none + weightless, Moments.empty(3, full=full)):
        assert m.weight == 0
        assert m.mean.tolist() == [0, 0, 0]
        assert m.scatter.shape == ((3, 3) if full else (3,))
        assert not m.scatter.any()
        for total in (m + some_rows, some_rows + m):
            assert (total.mean == some_rows.mean).all()
            assert (total.scatter == some_rows.scatter).all()
        with pytest.raises(ValueError, match=r"rows seen weigh 0\. Collect more rows"):
            _ = m.variance


def test_no_columns_are_no_trouble():
    m = Moments.collect(np.empty((5, 0))) + Moments.collect(sp.csr_array((3, 0)))
    assert m.weight == 8
    assert m.scatter.shape == (0, 0)


# --- What is refused ---


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, sp.csc_array])
def test_a_value_that_is_no_number_is_named_with_its_place(make, bad, full):
    rows = rows_of(20, 4)
    rows[7, 2] = bad
    with pytest.raises(DataError, match=rf"met {bad} in row 7, column 2 of the block\. Fill"):
        Moments.collect(make(rows), full=full)


@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_values_too_large_to_square_are_refused(make, full):
    rows = rows_of(20, 4)
    rows[3, 1] = 1e200
    with pytest.raises(DataError, match=r"column 1 .* reach 1e\+200, .* Rescale"):
        Moments.collect(make(rows), full=full)


def test_weights_are_checked():
    rows = rows_of(4, 2)
    for bad in (-1.0, np.nan, np.inf):
        with pytest.raises(DataError, match=rf"weight of {bad} for row 2"):
            Moments.collect(rows, weights=[1, 1, bad, -5])
    with pytest.raises(ValueError, match=r"shape \(3,\) for 4 rows"):
        Moments.collect(rows, weights=[1, 1, 1])


def test_shapes_and_types_are_checked():
    with pytest.raises(ValueError, match="ndim=1"):
        Moments.collect(np.arange(3.0))
    with pytest.raises(TypeError, match="complex128"):
        Moments.collect(np.ones((2, 2), complex))
    with pytest.raises(TypeError, match="real numbers"):
        Moments.collect(np.array([["a", "b"]]))
    with pytest.raises(ValueError, match=r"\(2, 2\) and \(3, 3\)"):
        Moments.empty(2) + Moments.empty(3)
    with pytest.raises(ValueError, match="full"):
        Moments.empty(2) + Moments.empty(2, full=False)
    with pytest.raises(ValueError, match="full=True"):
        _ = Moments.collect(rows_of(), full=False).covariance
    with pytest.raises(ValueError, match="zero or more"):
        -1 * Moments.empty(2)


def test_a_batch_brings_its_weights():
    rows = rows_of(10, 2)
    batch = Batch(rows, labels=np.zeros(10), weights=np.arange(10.0))
    close(collect(None, batch), Moments.collect(rows, weights=np.arange(10.0)))
    close(collect(None, Batch(rows)), Moments.collect(rows))
