"""Linear support vector machines: the optimum, and the proof that it is one."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC as Theirs

from tacit.classify import LinearSVC
from tacit.core import Serial, Threads
from tacit.data import Table
from tacit.linear.losses import hinge_losses
from tests.linear.test_logistic import words

KINDS = [
    {"loss": "squared_hinge"},
    {"loss": "hinge"},
    {"loss": "hinge", "multi_class": "crammer_singer"},
]


def objective(model, X, y, C, *, loss, multi_class="ovr"):
    """|w|^2 / 2 + C times the losses, computed here from the public attributes."""
    weights, offset = model.coef_.T, model.intercept_
    codes = np.searchsorted(model.classes_, y)
    together = multi_class == "crammer_singer"
    if together and weights.shape[1] == 1:  # the two share the difference evenly
        weights, offset = np.hstack([-weights, weights]) / 2, np.array([-1, 1]) * offset / 2
    found = X @ weights + offset
    squared = loss == "squared_hinge"
    cost = hinge_losses(found, codes, squared=squared, crammer_singer=together).sum()
    return 0.5 * ((weights**2).sum() + (offset**2).sum()) + C * cost


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_the_objective_is_scikit_learns(kind, k):
    X, y = words(k=k)
    theirs = Theirs(C=2.0, tol=1e-6, max_iter=100_000, random_state=0, **kind).fit(X, y)
    ours = LinearSVC(
        C=2.0, tol=1e-6, max_iter=20_000, solver="dual", random_state=0, **kind
    ).fit(X, y)
    assert ours.converged_
    mine = objective(ours, X, y, 2.0, **kind)
    assert mine == pytest.approx(ours.objective_, rel=1e-9)
    assert mine <= objective(theirs, X, y, 2.0, **kind) * (1 + 1e-5)
    assert 0 <= ours.gap_ <= 1e-6 * ours.objective_
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=0.02)
    assert (ours.predict(X) == theirs.predict(X)).mean() > 0.99


@pytest.mark.parametrize("k", [2, 4])
def test_newton_and_coordinate_descent_meet(k):
    X, y = words(k=k)
    newton = LinearSVC(solver="newton").fit(X, y)
    dual = LinearSVC(solver="dual", tol=1e-12, max_iter=50_000, random_state=0).fit(X, y)
    np.testing.assert_allclose(newton.coef_, dual.coef_, atol=1e-5)
    np.testing.assert_allclose(newton.intercept_, dual.intercept_, atol=1e-5)
    assert newton.gap_ <= 1e-9 * newton.objective_


@pytest.mark.parametrize("kind", KINDS[1:], ids=str)
def test_pegasos_comes_near(kind):
    X, y = words(n=600)
    best = LinearSVC(C=0.5, solver="dual", tol=1e-5, max_iter=20_000, random_state=0, **kind)
    near = LinearSVC(C=0.5, solver="pegasos", random_state=0, **kind).fit(X, y)
    assert near.objective_ < 1.05 * best.fit(X, y).objective_
    assert near.score(X, y) > best.score(X, y) - 0.02


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_the_gap_bounds_the_distance_wherever_the_fit_stops(kind):
    X, y = words(k=3)
    best = LinearSVC(tol=1e-8, max_iter=50_000, solver="dual", random_state=0, **kind)
    best.fit(X, y)
    for passes in (1, 3, 10):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = LinearSVC(
                max_iter=passes, tol=0.0, solver="dual", random_state=0, **kind
            ).fit(X, y)
        assert model.objective_ - best.objective_ <= model.gap_ + 1e-9
        assert not model.converged_


def test_only_rows_near_the_border_matter():
    X = np.array([[0.0], [1.0], [3.0], [4.0]])
    y = np.array([0, 0, 1, 1])
    model = LinearSVC(C=10.0, loss="hinge", tol=1e-5, max_iter=100_000, intercept_scaling=30.0)
    model.set_params(random_state=0).fit(X, y)
    # The widest street lies between 1 and 3: w = 1, b = -2.
    np.testing.assert_allclose(model.coef_, [[1.0]], atol=0.01)
    np.testing.assert_allclose(model.intercept_, [-2.0], atol=0.02)
    far = np.vstack([X, [[-50.0]], [[90.0]]])
    again = model.fit(far, [*y, 0, 1])
    np.testing.assert_allclose(again.coef_, [[1.0]], atol=0.01)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_a_weight_is_that_many_rows(kind):
    X, y = words(n=120)
    weights = np.random.default_rng(1).integers(0, 3, size=len(y))
    repeated = np.repeat(np.arange(len(y)), weights)
    model = LinearSVC(solver="dual", tol=1e-9, max_iter=50_000, random_state=0, **kind)
    once = model.fit(X, y, sample_weight=weights).coef_.copy()
    twice = model.fit(X[repeated], y[repeated]).coef_
    np.testing.assert_allclose(once, twice, atol=2e-3)


def test_class_weights_are_scikit_learns():
    X, y = words(k=2)
    for weight in ("balanced", {0: 3.0}):
        theirs = Theirs(class_weight=weight, tol=1e-8, max_iter=100_000).fit(X, y)
        ours = LinearSVC(class_weight=weight).fit(X, y)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)


def test_newton_gives_the_same_bits_on_any_engine(tmp_path):
    X, y = words(n=6000, v=20)
    np.save(tmp_path / "rows.npy", X.toarray())
    models = [
        LinearSVC(engine=engine).fit(X.toarray(), y) for engine in (Serial(), Threads(3))
    ]
    models.append(LinearSVC(engine="serial").fit(Table.from_npy(tmp_path / "rows.npy"), y))
    for model in models[1:]:
        np.testing.assert_array_equal(model.weights_, models[0].weights_)


def test_what_cannot_be_is_refused_with_the_way_out(tmp_path):
    X, y = words(n=60)
    with pytest.raises(ValueError, match="loss='hinge'"):
        LinearSVC(solver="pegasos").fit(X, y)
    with pytest.raises(ValueError, match="solver='dual'"):
        LinearSVC(solver="newton", loss="hinge").fit(X, y)
    with pytest.raises(ValueError, match="only one class"):
        LinearSVC().fit(X, np.zeros(60))
    with pytest.raises(ValueError, match="too large to be squared"):
        LinearSVC(solver="dual").fit([[1e200], [-1e200]], [0, 1])
    with pytest.raises(ValueError, match=r"1e\+200, too large to be squared"):
        LinearSVC().fit([[1e200], [-1e200]], [0, 1])
    np.save(tmp_path / "rows.npy", X.toarray())
    with pytest.raises(ValueError, match="rows in memory"):
        LinearSVC(solver="dual").fit(Table.from_npy(tmp_path / "rows.npy"), y)
    with pytest.warns(ConvergenceWarning, match="of the objective from the optimum"):
        LinearSVC(solver="dual", max_iter=1, tol=1e-12, C=100.0).fit(X, y)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_degenerate_rows_give_finite_answers(kind):
    for X in (np.zeros((4, 2)), np.ones((4, 2)), sp.csr_array((4, 3))):
        for solver in ("auto", "dual"):
            model = LinearSVC(solver=solver, random_state=0, **kind).fit(X, list("abab"))
            assert np.isfinite(model.weights_).all()
            assert abs(model.decision_function(X)).max() < 0.02


@pytest.mark.parametrize("C", [0.02, 0.1])
@pytest.mark.parametrize("k", [2, 3])
def test_the_l1_penalty_selects_the_features_that_liblinear_selects(C, k):
    rng = np.random.default_rng(k)
    X = rng.normal(size=(150, 12))
    y = (X[:, :k] + 0.3 * rng.normal(size=(150, k))).argmax(axis=1)
    settings = {"penalty": "l1", "dual": False, "C": C, "tol": 1e-8}
    ours = LinearSVC(random_state=0, **settings).fit(X, y)
    theirs = Theirs(max_iter=100_000, **settings).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)
    assert (ours.coef_ == 0).sum() == (theirs.coef_ == 0).sum() > 0
    assert ours.gap_ <= 1e-4 * ours.objective_


def test_the_l1_penalty_refuses_what_it_cannot_do():
    X, y = np.eye(4), [0, 1, 0, 1]
    for wrong in ({"loss": "hinge"}, {"dual": True}, {"multi_class": "crammer_singer"}):
        with pytest.raises(ValueError, match="penalty='l1'"):
            LinearSVC(penalty="l1", **wrong).fit(X, y)


def test_dual_chooses_the_solver_as_in_scikit_learn():
    X, y = np.eye(4), [0, 1, 0, 1]
    assert LinearSVC(dual=True).fit(X, y).solver_ == "dual"
    assert LinearSVC(dual=False).fit(X, y).solver_ == "newton"
    with pytest.raises(ValueError, match="dual=False"):
        LinearSVC(loss="hinge", dual=False).fit(X, y)
