"""Alternating least squares: exact halves, descent, agreement with direct solutions."""

import numpy as np
import pytest
import scipy.sparse as sp

from tacit.core.progress import Progress
from tacit.measure import rmse
from tacit.recommend import ALS, GlobalMean, ImplicitALS
from tacit.recommend.row_solves import conjugate_rows
from tests.recommend.planted import planted

RATINGS = planted()


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("bias", [True, False])
def test_the_users_solve_their_least_squares_problems(weighted, bias):
    model = ALS(4, reg=0.2, weighted=weighted, bias=bias, random_state=0).fit(RATINGS)
    dense = model.ratings_.toarray()
    for u in range(0, 300, 37):
        rated = np.flatnonzero(dense[u])
        Y = model.item_factors_[rated].astype(float)
        target = dense[u, rated] - model.mean_ - model.item_biases_[rated]
        if bias:
            Y = np.column_stack([Y, np.ones(len(rated))])
        reg = 0.2 * (len(rated) if weighted else 1)
        x = np.linalg.solve(Y.T @ Y + reg * np.eye(Y.shape[1]), Y.T @ target)
        np.testing.assert_allclose(model.user_factors_[u], x[:4], rtol=2e-3, atol=2e-4)
        if bias:
            assert model.user_biases_[u] == pytest.approx(x[4], abs=1e-3)


def implicit_loss(model, matrix, alpha, reg):
    C = 1 + alpha * matrix
    P = (matrix > 0).astype(float)
    X, Y = model.user_factors_.astype(float), model.item_factors_.astype(float)
    return float((C * (P - X @ Y.T) ** 2).sum() + reg * ((X**2).sum() + (Y**2).sum()))


@pytest.mark.parametrize("solver", ["cg", "cholesky"])
def test_the_implicit_loss_is_that_of_all_pairs(solver):
    matrix = sp.random_array((60, 40), density=0.2, rng=np.random.default_rng(0), format="csr")
    model = ImplicitALS(5, alpha=3.0, reg=0.1, solver=solver, random_state=0).fit(matrix)
    expected = implicit_loss(model, matrix.toarray(), 3.0, 0.1) / matrix.nnz
    assert model.losses_[-1] == pytest.approx(expected, rel=1e-4)
    assert (np.diff(model.losses_) < 0).all()


def test_both_solvers_of_implicit_feedback_reach_the_same_loss():
    matrix = sp.random_array((80, 50), density=0.2, rng=np.random.default_rng(1), format="csr")
    losses = [
        ImplicitALS(4, solver=solver, max_iter=40, tol=0, random_state=0)
        .fit(matrix)
        .losses_[-1]
        for solver in ("cg", "cholesky")
    ]
    assert losses[0] == pytest.approx(losses[1], rel=0.01)


def test_conjugate_gradients_have_the_same_bits_wherever_memory_is_allocated():
    rng = np.random.default_rng(0)
    n, m, k, per_row = 20, 50, 16, 9
    indptr, indices = np.arange(n + 1) * per_row, rng.integers(m, size=n * per_row)
    confidences = (1 + rng.integers(1, 5, size=n * per_row)).astype(np.float32)
    Y = rng.normal(size=(m, k)).astype(np.float32)
    start = rng.normal(size=(n, k)).astype(np.float32)
    results, allocated = set(), []
    for _ in range(600):
        arrays = [np.empty(size, np.uint8) for size in rng.integers(1, 300, size=10).tolist()]
        allocated = [*allocated[-8:], arrays]
        X = start.copy()
        conjugate_rows(indptr, indices.astype(np.int32), confidences, Y, Y.T @ Y, X, 3)
        results.add(X.tobytes())
    assert len(results) == 1


def test_planted_structure_is_found():
    train, test = RATINGS.split(0.2, random_state=0)
    model = ALS(3, reg=0.02, random_state=0).fit(train)
    assert rmse(test.values, model.predict(test)) < 0.35  # the noise is 0.2
    mean = GlobalMean().fit(train)
    assert rmse(test.values, mean.predict(test)) > 1


def test_nonnegative_factors_are_nonnegative_and_the_loss_falls():
    model = ALS(4, nonnegative=True, random_state=0).fit(RATINGS)
    assert model.user_factors_.min() >= 0
    assert model.item_factors_.min() >= 0
    assert (np.diff(model.losses_) <= 1e-7 * model.losses_[0]).all()
    items = model.item_ids_[:12].tolist()
    model.add_users([("new", item, 1 + place % 5) for place, item in enumerate(items)])
    model.partial_fit([("newer", item, 5 - place % 5) for place, item in enumerate(items)])
    assert model.user_factors_.min() >= 0
    assert model.item_factors_.min() >= 0


def test_no_penalty_and_more_factors_than_ratings_stay_finite():
    model = ALS(8, reg=0.0, random_state=0).fit([("a", "x", 1.0), ("b", "x", 5.0)])
    assert np.isfinite(model.user_factors_).all()
    assert np.isfinite(model.predict("a", "x"))


def test_a_user_without_ratings_in_a_fold_has_the_bias_of_the_item():
    train = RATINGS.take(RATINGS.users != 0)  # the codes stay
    model = ALS(3, random_state=0).fit(train)
    item = RATINGS.item_ids[:1].tolist()[0]
    user = RATINGS.user_ids[0]
    assert model.predict(user, item) == pytest.approx(
        model.mean_ + model.item_biases_[0], abs=1e-5
    )


def test_progress_shows_the_root_mean_squared_error(capsys):
    import sys

    show = Progress(stream=sys.stdout, every=0, delay=0)
    model = ALS(3, max_iter=3, tol=0, random_state=0, callbacks=[show]).fit(RATINGS)
    last = capsys.readouterr().out.splitlines()[-1]
    error = float(last.rpartition("RMSE ")[2])
    assert error == pytest.approx(-model.score(RATINGS), rel=1e-4)


def test_ctrl_c_keeps_the_factors_so_far():
    def interrupt(step):
        if step.number == 2:
            raise KeyboardInterrupt

    model = ALS(3, max_iter=9, tol=0, random_state=0, callbacks=[interrupt])
    with pytest.raises(KeyboardInterrupt):
        model.fit(RATINGS)
    assert model.n_iter_ >= 1
    assert -model.score(RATINGS) < 1
