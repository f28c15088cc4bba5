"""Logistic regression in the dual: what a visit solves, what the gap promises, which bits."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax
from sklearn.exceptions import ConvergenceWarning

from tacit.core.engines import Serial, Threads
from tacit.kernels.sparse_rows import row_squares
from tacit.linear import LogisticRegression, logistic_dual, logistic_two
from tacit.linear.dual_steps import by_column, by_row, divergence
from tacit.linear.linear_classifier import FEW, Csr
from tacit.linear.logistic_dual import Dual
from tacit.linear.logistic_saga import Problem, most_first
from tacit.linear.logistic_two import DualTwo, best_intercept

SEED = np.uint64(3)


def texts(n, v, k, seed=0, mean=20):
    """Rows of length one with Zipf's words, and classes that prefer some."""
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    columns = (v * rng.random((n, mean)) ** 3).astype(int)
    columns = np.where(rng.random((n, mean)) < 0.2, (7 * columns + y[:, None]) % v, columns)
    rows = sp.csr_array(
        (np.ones(n * mean), (np.repeat(np.arange(n), mean), columns.ravel())), shape=(n, v)
    )
    rows.data /= np.repeat(np.sqrt((rows.power(2)).sum(axis=1)), np.diff(rows.indptr))
    return rows, y


def problem_of(X, y, k, *, C=1.0, intercept=True, weights=None):
    n = X.shape[0]
    weights = np.ones(n) if weights is None else weights * (n / weights.sum())
    rows = Csr(X.indptr.astype(np.int64), X.indices.astype(np.int32), X.data)
    width = 1 if k == 2 else k
    return Problem(
        rows, y.astype(np.int32), weights, row_squares(rows.indptr, rows.data), X.shape[1],
        width, 1 / (C * n), 0.0, intercept,
    )


def state_of(problem, dtype=np.float32):
    return (DualTwo if problem.columns == 1 else Dual)(problem, SEED, Serial(), dtype)


def in_halves_from(products, monkeypatch):
    for module in (logistic_dual, logistic_two):
        monkeypatch.setattr(module, "LONG", products)


def objective_of(problem, state):
    X = sp.csr_array(tuple(problem.rows)[::-1], shape=(len(problem.codes), problem.features))
    found = X @ state.weights + state.offsets
    if found.shape[1] == 1:
        found = np.hstack([np.zeros_like(found), found])
    logs = np.log(softmax(found, axis=1))[np.arange(len(found)), problem.codes]
    return -(problem.weights @ logs) / len(found) + 0.5 * problem.l2 * (state.weights**2).sum()


@pytest.mark.parametrize("k", [2, 5])
def test_one_row_is_solved_by_few_whole_steps(k, monkeypatch):
    for module in (logistic_dual, logistic_two):
        monkeypatch.setattr(module, "EASE", (1.0, 1.0))
    X, y = sp.csr_array([[0.6, 0.8]]), np.array([1])
    problem = problem_of(X, y, k, C=3.0, intercept=False)
    state = state_of(problem, np.float64)
    for _ in range(8):
        gap, _ = state.run_pass()
    assert gap < 1e-20
    assert state.measure().slope < 1e-12


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("C", [0.1, 1.0, 30.0])
def test_the_gap_bounds_the_distance_from_the_minimum(k, C):
    X, y = texts(200, 50, k)
    weights = np.random.default_rng(1).uniform(0.5, 2.0, 200)
    problem = problem_of(X, y, k, C=C, intercept=False, weights=weights)
    best = LogisticRegression(C=C, solver="newton", fit_intercept=False, tol=1e-10)
    least = best.fit(X, y, problem.weights).objective_
    state = state_of(problem, np.float64)
    first = state.measure().gap
    for _ in range(20):
        reached = state.measure()
        height = objective_of(problem, state)
        assert reached.loss + reached.penalty == pytest.approx(height, rel=1e-12)
        assert -1e-12 <= height - least <= reached.gap + 1e-12
        state.run_pass()
    assert reached.gap < first / 5


@pytest.mark.parametrize("k", [2, 5])
def test_weights_in_float64_are_what_the_residuals_say(k):
    X, y = texts(300, 80, k)
    problem = problem_of(X, y, k)
    state = state_of(problem)
    for _ in range(5):
        state.run_pass()
    coarse = state.weights
    state.sharpen()
    np.testing.assert_allclose(state.weights, coarse, atol=1e-4)
    width = problem.columns
    residuals = state.residuals.reshape(300, -1)[:, :width]
    if width == 1:  # they come in the order of the fit
        residuals = residuals[np.argsort(state.order)]
    wanted = -(X.T @ (residuals * problem.weights[:, None]))
    np.testing.assert_allclose(state.weights, wanted, atol=1e-12)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**31), st.integers(2, 5), st.floats(-2, 2), st.booleans())
def test_any_rows_end_at_the_minimum_that_newton_finds(seed, k, size, intercept):
    rng = np.random.default_rng(seed)
    X = sp.random_array((30, 6), density=0.4, rng=rng, format="csr")
    y = np.r_[np.arange(k), rng.integers(k, size=30 - k)]
    weights = rng.integers(1, 4, size=30).astype(float)
    shared = {"C": 10.0**size, "fit_intercept": intercept, "random_state": 0, "tol": 1e-8}
    ours = LogisticRegression(solver="dual", max_iter=20_000, **shared).fit(X, y, weights)
    wanted = LogisticRegression(solver="newton", **shared).fit(X, y, weights)
    assert ours.converged_
    np.testing.assert_allclose(ours.predict_proba(X), wanted.predict_proba(X), atol=1e-5)


@pytest.mark.parametrize(
    ("k", "v", "tol", "long"),
    [
        (5, 40_000, 1e-3, 0),
        (5, 40_000, 1e-7, 0),
        (5, 40_000, 1e-3, 1 << 40),
        (2, 300_000, 1e-3, 0),
        (2, 300_000, 1e-7, 0),
    ],
)
def test_any_number_of_workers_gives_the_same_bits(k, v, tol, long, monkeypatch):
    in_halves_from(long, monkeypatch)
    X, y = texts(8000, v, k, mean=40)  # sorted by frequency, and shared out
    assert X.nnz > FEW
    models = [
        LogisticRegression(random_state=0, tol=tol, engine=engine).fit(X, y)
        for engine in (Serial(), Threads(1), Threads(3))
    ]
    assert models[0].solver_ == "dual"
    for model in models[1:]:
        np.testing.assert_array_equal(model.weights_, models[0].weights_)
        np.testing.assert_array_equal(model.intercept_, models[0].intercept_)
        assert model.objective_ == models[0].objective_
        assert model.slope_ == models[0].slope_


def test_reordered_rows_are_the_same_rows():
    X, _ = texts(100, 30, 3)
    counts = np.bincount(X.indices, minlength=30)
    order = most_first(counts)
    assert (np.diff(counts[order]) <= 0).all()
    starts = np.concatenate([[0], np.cumsum(counts[order])])
    indptr, indices = X.indptr.astype(np.int64), X.indices.astype(np.int32)
    across = by_column(indptr, indices, X.data, order, starts)
    moved = by_row(indptr, *across, starts)
    again = sp.csr_array((moved[1], moved[0], indptr), shape=X.shape)
    assert again.has_sorted_indices
    np.testing.assert_array_equal(again.toarray(), X.toarray()[:, order])
    down = sp.csc_array((across[1], across[0], starts), shape=X.shape)
    np.testing.assert_array_equal(down.toarray(), X.toarray()[:, order])


def test_divergence_is_zero_only_where_both_agree():
    assert divergence(0.3, 0.3) == pytest.approx(0.0, abs=1e-16)
    assert divergence(0.0, 0.2) == pytest.approx(0.2)
    assert divergence(0.3, 0.2) > 0


def test_the_dual_needs_a_penalty_and_rows_in_memory():
    X, y = texts(50, 20, 3)
    with pytest.raises(ValueError, match="has no penalty"):
        LogisticRegression(solver="dual", C=np.inf).fit(X, y)
    with pytest.raises(ValueError, match="has no L1 penalty"):
        LogisticRegression(solver="dual", l1_ratio=0.5).fit(X, y)


@pytest.mark.parametrize("k", [2, 5])
@pytest.mark.parametrize("C", [0.1, 1.0])
def test_two_halves_at_once_end_where_one_row_after_another_does(k, C, monkeypatch):
    X, y = texts(600, 2000, k, mean=20)
    shared = {"C": C, "random_state": 0, "tol": 1e-9, "solver": "dual"}
    one = LogisticRegression(**shared).fit(X, y)
    in_halves_from(0, monkeypatch)
    two = LogisticRegression(**shared).fit(X, y)
    assert not np.array_equal(one.weights_, two.weights_)  # it went another way
    np.testing.assert_allclose(two.weights_, one.weights_, atol=1e-6)
    np.testing.assert_allclose(two.objective_, one.objective_, rtol=1e-10)
    assert two.n_iter_ <= 2 * one.n_iter_


@given(st.integers(0, 2**31), st.floats(-8, 8))
def test_the_best_intercept_leaves_no_slope(seed, start):
    rng = np.random.default_rng(seed)
    scores, codes = rng.normal(0, 3, 50), np.r_[0, 1, rng.integers(2, size=48)]
    costs = rng.integers(0, 3, 50).astype(float)
    costs[:2] = 1
    b = best_intercept(scores, 2.0 * codes - 1, costs, start)
    assert abs(costs @ (1 / (1 + np.exp(-scores - b)) - codes)) < 1e-4 * costs.sum()


@pytest.mark.parametrize("k", [2, 3])
def test_a_fit_that_ends_before_its_gap_closes_has_not_converged(k):
    # Rows that can be told apart and hardly a penalty: slopes are small long before the end.
    rng = np.random.default_rng(0)
    X = sp.csr_array(rng.normal(size=(90, 36)))
    y = np.digitize(X.sum(axis=1), [0.0] if k == 2 else [-2.0, 2.0])
    shared = {"C": 1e6, "tol": 1e-4, "random_state": 0}
    with pytest.warns(ConvergenceWarning, match="not within tol=0.0001 of its minimum"):
        model = LogisticRegression(solver="dual", max_iter=300, **shared).fit(X, y)
    best = LogisticRegression(solver="newton", C=1e6, tol=1e-12).fit(X, y)
    assert model.slope_ <= model.tol
    assert model.objective_ > (1 + 1e-4) * best.objective_
    assert not model.converged_
