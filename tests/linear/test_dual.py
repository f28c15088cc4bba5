"""Dual coordinate ascent: what a visit solves, what the duality gap promises, which bits."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import log_softmax
from sklearn.exceptions import ConvergenceWarning

from tacit.classify import LinearSVC, LogisticRegression
from tacit.core import Serial, Threads
from tacit.core.sweep import run_pass
from tacit.linear import dual
from tacit.linear.dual import LOSSES, DualAscent, best_intercept

SEED = np.uint64(3)


def texts(n, v, k, seed=0, mean=20):
    """Rows of length one with Zipf's words, and classes that prefer some."""
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    columns = (v * rng.random((n, mean)) ** 3).astype(int)
    columns = np.where(rng.random((n, mean)) < 0.2, (7 * columns + y[:, None]) % v, columns)
    places = np.repeat(np.arange(n), mean).astype(np.int32), columns.ravel().astype(np.int32)
    rows = sp.csr_array((np.ones(n * mean), places), shape=(n, v))
    rows.data /= np.repeat(np.sqrt((rows.power(2)).sum(axis=1)), np.diff(rows.indptr))
    return rows, y


def ascent_of(X, y, k, *, loss="logistic", C=1.0, intercept=0.0, weights=None, tol=1e-9):
    weights = np.ones(len(y)) if weights is None else weights
    columns = k if k > 2 or loss == "crammer_singer" else 1
    model = DualAscent(
        X, y.astype(np.int32), C * weights, columns, LOSSES[loss], intercept, tol=tol, seed=SEED
    )
    return model, model.start()


@pytest.mark.parametrize("k", [2, 5])
def test_one_row_is_solved_by_few_visits(k):
    model, state = ascent_of(sp.csr_array([[0.6, 0.8]]), np.array([1]), k, C=3.0)
    for number in range(8):
        passed = run_pass(model, state, Serial(), number)
    assert passed.gap < 1e-16
    assert model.measure(state).gradient < 1e-9


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("C", [0.1, 1.0, 30.0])
def test_the_gap_bounds_the_distance_from_the_minimum(k, C):
    X, y = texts(200, 50, k)
    weights = np.random.default_rng(1).uniform(0.5, 2.0, 200)
    best = LogisticRegression(C=C, solver="newton", fit_intercept=False, tol=1e-10)
    least = best.fit(X, y, weights).objective_
    model, state = ascent_of(X, y, k, C=C, weights=weights)
    first = model.measure(state).gap
    for number in range(20):
        reached = model.measure(state)
        scores = X @ (state.weights[:, : model.columns] / model.unit)
        scores = np.hstack([np.zeros_like(scores), scores]) if k == 2 else scores
        loss = -weights @ log_softmax(scores, axis=1)[np.arange(200), y]
        penalty = 0.5 * np.square(state.weights).sum() / model.unit**2 / C
        assert reached.objective == pytest.approx((loss + penalty) / weights.sum(), rel=1e-12)
        assert -1e-12 <= reached.objective - least <= reached.gap + 1e-12
        run_pass(model, state, Serial(), number)
    assert reached.gap < first / 5


@pytest.mark.parametrize(("k", "loss"), [(2, "logistic"), (5, "logistic"), (5, "hinge")])
def test_weights_are_the_sum_of_rows_that_the_dual_variables_give(k, loss):
    X, y = texts(300, 80, k)
    model, state = ascent_of(X, y, k, loss=loss)
    for number in range(5):
        run_pass(model, state, Serial(), number)
    factors = state.duals * model.costs[:, None] * -1.0
    if loss == "hinge":
        factors = state.duals * np.where(y[:, None] == np.arange(k), 1.0, -1.0)
    wanted = X.T @ factors / model.unit
    np.testing.assert_allclose(state.weights[:, : model.columns], wanted, atol=1e-12)


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
    ("k", "v", "tol"), [(5, 40_000, 1e-3), (5, 40_000, 1e-7), (2, 300_000, 1e-3)]
)
def test_any_number_of_workers_gives_the_same_bits(k, v, tol):
    X, y = texts(8000, v, k, mean=40)  # so many weights that features are ordered
    models = [
        LogisticRegression(random_state=0, tol=tol, engine=engine).fit(X, y)
        for engine in (Serial(), Threads(3))
    ]
    assert models[0].solver_ == "dual"
    for model in models[1:]:
        np.testing.assert_array_equal(model.weights_, models[0].weights_)
        np.testing.assert_array_equal(model.intercept_, models[0].intercept_)
        assert model.objective_ == models[0].objective_


@pytest.mark.parametrize("k", [2, 5])
@pytest.mark.parametrize("estimator", [LogisticRegression, LinearSVC])
def test_float32_and_float64_end_at_the_same_minimum(estimator, k, monkeypatch):
    X, y = texts(2000, 500, k)
    coarse = estimator(random_state=0, solver="dual").fit(X, y)
    monkeypatch.setattr(dual, "COARSE", 1.0)  # no tolerance is coarse enough for float32
    fine = estimator(random_state=0, solver="dual").fit(X, y)
    assert not np.array_equal(coarse.weights_, fine.weights_)
    assert coarse.converged_
    assert coarse.objective_ == pytest.approx(fine.objective_, rel=1e-4)


def test_the_dual_needs_a_penalty_and_no_l1():
    X, y = texts(50, 20, 3)
    with pytest.raises(ValueError, match="has no penalty"):
        LogisticRegression(solver="dual", C=np.inf).fit(X, y)
    with pytest.raises(ValueError, match="has no L1 penalty"):
        LogisticRegression(solver="dual", l1_ratio=0.5).fit(X, y)


@given(st.integers(0, 2**31), st.floats(-8, 8))
def test_the_best_intercept_has_no_gradient(seed, start):
    rng = np.random.default_rng(seed)
    scores, codes = rng.normal(0, 3, 50), np.r_[0, 1, rng.integers(2, size=48)]
    costs = rng.integers(0, 3, 50).astype(float)
    costs[:2] = 1
    b = best_intercept(scores, codes, costs, start)
    assert abs(costs @ (1 / (1 + np.exp(-scores - b)) - codes)) < 1e-4 * costs.sum()


@pytest.mark.parametrize("k", [2, 3])
def test_a_fit_that_ends_before_its_gap_closes_has_not_converged(k):
    # Separable rows and hardly a penalty: the gradient is small long before the end.
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


@pytest.mark.parametrize("C", [0.5, 1.0, 2.0])
def test_equal_rows_are_no_trap(C):
    X, y = texts(40, 30, 2, mean=5)
    X, y = sp.vstack([X] * 6, format="csr"), np.tile(y, 6)
    model = LogisticRegression(C=C, solver="dual", tol=1e-7, random_state=0).fit(X, y)
    assert model.converged_
    assert model.n_iter_ < 100


@pytest.mark.parametrize("mean", [3, 200])
@pytest.mark.parametrize("n", [2, 9, 400])
def test_weighted_rows_of_any_length_end_at_the_minimum(mean, n):
    X, y = texts(n, 60, 2, mean=mean)
    y[:2] = [0, 1]
    weights = np.random.default_rng(1).integers(0, 3, size=n).astype(float)
    weights[:2] = 1
    wanted = LogisticRegression(solver="newton", tol=1e-11).fit(X, y, weights)
    model = LogisticRegression(solver="dual", tol=1e-9, random_state=0, max_iter=5000)
    assert model.fit(X, y, weights).converged_
    np.testing.assert_allclose(model.coef_, wanted.coef_, atol=1e-5)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("multi_class", ["ovr", "crammer_singer"])
def test_rows_without_entries_do_not_keep_a_fit_from_converging(loss, multi_class):
    X, y = texts(60, 30, 3)
    X = sp.vstack([X, sp.csr_array((4, 30))], format="csr")
    model = LinearSVC(
        loss=loss, multi_class=multi_class, solver="dual", fit_intercept=False, random_state=0
    )
    assert model.fit(X, np.r_[y, 0, 1, 2, 2]).converged_
