"""Coordinate descent with an L1 penalty: the optimum, and the proof that it is one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression as Theirs

from tacit.classify import LogisticRegression
from tests.linear.test_dual import texts
from tests.linear.test_logistic import objective, words


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("C", [1.0, 30.0])
def test_the_default_tolerance_ends_near_the_optimum(k, C):
    X, y = texts(800, 400, k)
    best = LogisticRegression(C=C, l1_ratio=1.0, tol=1e-9, random_state=0).fit(X, y)
    near = LogisticRegression(C=C, l1_ratio=1.0, random_state=0).fit(X, y)
    assert best.converged_
    assert near.converged_
    least = objective(best, X, y, C, 1.0)
    assert least <= objective(near, X, y, C, 1.0) <= (1 + 1e-4) * least
    theirs = Theirs(C=C, l1_ratio=1.0, solver="saga", tol=1e-4, max_iter=5000).fit(X, y)
    assert least <= objective(theirs, X, y, C, 1.0) * (1 + 1e-9)


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 2**31), st.integers(2, 4), st.floats(-1, 2), st.floats(0.05, 1))
def test_no_other_weights_are_better(seed, k, size, l1_ratio):
    rng = np.random.default_rng(seed)
    X, C = rng.normal(size=(40, 5)), 10.0**size
    y = np.r_[np.arange(k), rng.integers(k, size=40 - k)]
    model = LogisticRegression(
        C=C, l1_ratio=l1_ratio, solver="coordinate", tol=1e-8, random_state=0
    ).fit(X, y)
    assert model.converged_
    least = objective(model, X, y, C, l1_ratio)
    weights, intercept = model.weights_.copy(), model.intercept_.copy()
    for _ in range(20):
        model.weights_ = weights + 1e-3 * rng.normal(size=weights.shape)
        model.intercept_ = intercept + 1e-3 * rng.normal(size=intercept.shape)
        assert objective(model, X, y, C, l1_ratio) >= least - 1e-9 * abs(least)


def test_a_strong_penalty_leaves_only_the_intercept():
    X, y = words(k=3)
    model = LogisticRegression(C=1e-3, l1_ratio=1.0, random_state=0).fit(X, y)
    assert not model.weights_.any()
    frequencies = np.bincount(y) / len(y)
    np.testing.assert_allclose(model.predict_proba(X[:1])[0], frequencies, rtol=1e-3)


def test_saga_is_another_name_for_it():
    X, y = words(k=2)
    a, b = (
        LogisticRegression(solver=name, l1_ratio=0.5, random_state=0).fit(X, y)
        for name in ("saga", "coordinate")
    )
    assert a.solver_ == b.solver_ == "coordinate"
    np.testing.assert_array_equal(a.weights_, b.weights_)
