"""Two classes in the dual: packed rows and long ones, pairs, losses, gaps."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, rel_entr

from tacit.linear import LogisticRegression, logistic_two
from tacit.linear.dual_two import line_up, pack_rows, visit_pairs, visit_two
from tacit.linear.logistic_two import see_two


def rows_and_labels(n, v, mean, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    columns = (v * rng.random((n, mean)) ** 2).astype(int)
    columns[:, 0] = y * rng.integers(2, size=n)
    X = sp.csr_array(
        (np.ones(n * mean), (np.repeat(np.arange(n), mean), columns.ravel())), shape=(n, v)
    )
    X.sum_duplicates()
    X.data /= np.repeat(np.sqrt(X.power(2).sum(axis=1)), np.diff(X.indptr))
    return X, y


def packed(X, dtype=np.float64):
    """All rows of X as the kernels take them."""
    n = X.shape[0]
    found = line_up(np.arange(n), X.indptr, np.zeros(n, np.int32), np.ones(n), np.ones(n))
    first, last, starts, ends = found[0]
    rows = starts, ends, np.empty(ends[-1], X.indices.dtype), np.empty(ends[-1], dtype)
    sums = np.zeros(X.shape[1], dtype)
    pack_rows(first, last, X.indices, X.data, 1.0, np.ones(n, dtype), *rows, sums, 0, n)
    return rows, sums


def visited(kernel, rows, codes, costs, *, reach, soft=0.0, ease=1.0, size=8):
    n, v = len(codes), int(rows[2].max()) + 1
    residuals, weights = np.where(codes == 1, -0.3, 0.3), np.zeros(v)
    groups = np.arange(-(-n // size))[::-1].copy()
    told = kernel(
        *rows, codes.astype(np.int32), costs, np.full(n, reach), residuals, groups, size,
        weights, 0.2, soft, reach, ease,
    )  # fmt: skip
    return told, residuals, weights


@pytest.mark.parametrize("mean", [3, 200])
@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 400])
def test_short_rows_and_long_ones_end_at_the_same_minimum(mean, n, monkeypatch):
    X, y = rows_and_labels(max(n, 2), 60, mean)
    y[:2] = [0, 1]
    weights = np.random.default_rng(1).integers(0, 3, size=len(y)).astype(float)
    weights[:2] = 1
    fit = LogisticRegression(solver="dual", tol=1e-9, random_state=0, max_iter=5000)
    wanted = LogisticRegression(solver="newton", tol=1e-11).fit(X, y, weights)
    for short in (0, 1 << 40):
        monkeypatch.setattr(logistic_two, "SHORT", short)
        model = fit.fit(X, y, weights)
        assert model.converged_
        np.testing.assert_allclose(model.coef_, wanted.coef_, atol=1e-5)


@pytest.mark.parametrize("C", [0.5, 1.0, 2.0])
def test_pairs_of_equal_rows_are_no_trap(C):
    X, y = rows_and_labels(40, 30, 5)
    X, y = sp.vstack([X] * 6, format="csr"), np.tile(y, 6)  # every pair may be the same twice
    model = LogisticRegression(C=C, solver="dual", tol=1e-7, random_state=0).fit(X, y)
    assert model.converged_
    assert model.n_iter_ < 100


@given(st.integers(1, 20), st.integers(0, 2**31))
@settings(deadline=None, max_examples=30)
def test_pairs_that_share_nothing_are_as_one_after_the_other(n, seed):
    rng = np.random.default_rng(seed)
    X = sp.block_diag([rng.random((1, rng.integers(1, 6))) for _ in range(n)], format="csr")
    codes, costs = rng.integers(2, size=n), rng.integers(1, 3, size=n).astype(float)
    rows, _ = packed(X)
    one = visited(visit_two, rows, codes, costs, reach=1.5)
    two = visited(visit_pairs, rows, codes, costs, reach=1.5)
    np.testing.assert_allclose(one[0], two[0], rtol=1e-12)
    np.testing.assert_allclose(one[1], two[1], rtol=1e-12)
    np.testing.assert_allclose(one[2], two[2], rtol=1e-12)


@pytest.mark.parametrize("kernel", [visit_two, visit_pairs])
@pytest.mark.parametrize("even", [True, False])
def test_the_loss_that_visits_tell_is_the_sum_of_the_rows(kernel, even):
    X, codes = rows_and_labels(3001, 40, 4)  # more than one product holds
    costs = np.ones(3001) if even else np.random.default_rng(0).uniform(0.5, 2, 3001)
    rows, _ = packed(X)
    (gap, loss, added, offset), _, weights = visited(kernel, rows, codes, costs, reach=0.0)
    assert not weights.any()
    assert offset == 0.2
    wanted = np.log1p(np.exp(np.where(codes == 1, -0.2, 0.2)))
    assert loss == pytest.approx(costs @ wanted, rel=1e-12)
    p, q = expit(0.2), np.where(codes == 1, 0.7, 0.3)
    assert added == pytest.approx(costs @ (p - q), rel=1e-9)
    near = rel_entr(q, p) + rel_entr(1 - q, 1 - p)
    assert gap == pytest.approx(costs @ near, rel=0.1)  # told by a formula without logarithms


def test_packed_rows_are_the_rows():
    X, _ = rows_and_labels(50, 30, 6)
    X = sp.vstack([X, sp.csr_array((1, 30))], format="csr")  # an empty one
    (starts, ends, indices, data), sums = packed(X)
    assert not (ends - starts).astype(int)[-1]
    for i in range(51):
        part = slice(starts[i], ends[i])
        assert (ends[i] - starts[i]) % 4 == 0
        row = np.bincount(indices[part], data[part], 30)
        np.testing.assert_array_equal(row, X[[i]].toarray()[0])
    np.testing.assert_allclose(sums, X.sum(axis=0))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gaps_are_divergences_of_the_two_shares(dtype):
    rng = np.random.default_rng(0)
    margins, held = rng.normal(0, 4, 300).astype(dtype), rng.random(300).astype(dtype)
    held[:3], margins[3:5] = [0, 1, 0.5], [90, -90]
    losses, gaps, wrong = see_two(margins, held)
    low, high = expit(-margins.astype(float)), expit(margins.astype(float))
    exact = 1e-5 if dtype == np.float32 else 1e-12
    np.testing.assert_allclose(losses, np.logaddexp(0, -margins.astype(float)), rtol=exact)
    np.testing.assert_allclose(wrong, low, rtol=30 * exact, atol=1e-37)
    wanted = rel_entr(held, low) + rel_entr(1 - held.astype(float), high)
    np.testing.assert_allclose(gaps, wanted, rtol=exact, atol=exact)
