"""Logistic regression: the optimum, whichever way one goes there."""

import gzip
import os
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression as Theirs

import tacit
from tacit.classify import LinearSVC, LogisticRegression
from tacit.core import Serial, Threads
from tacit.data import Table
from tacit.data.table import Batch
from tacit.linear.losses import LogisticParams, collect, log_probabilities
from tacit.measure.labels import codes_of
from tacit.text import TfidfVectorizer

EXACT = ("newton", "lbfgs", "dual", "coordinate")


def words(n=300, v=60, k=3, seed=0):
    """Rows of length one that hold some of the words, and classes that prefer some."""
    rng = np.random.default_rng(seed)
    liking = rng.gamma(0.3, size=(k, v))
    y = rng.integers(k, size=n)
    counts = rng.poisson(liking[y] + 0.05)
    rows = counts / np.maximum(np.linalg.norm(counts, axis=1, keepdims=True), 1e-9)
    return sp.csr_array(rows), y


def objective(model, X, y, C, r=0.0, weights=None):
    """C times the loss, plus the penalty, computed here."""
    found = X @ model.coef_.T + model.intercept_
    logs = log_probabilities(found)
    codes = np.searchsorted(model.classes_, y)
    weights = np.ones(len(codes)) if weights is None else weights
    loss = -weights @ logs[np.arange(len(codes)), codes]
    size = model.coef_
    return C * loss + (1 - r) / 2 * (size**2).sum() + r * np.abs(size).sum()


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("solver", EXACT)
def test_coefficients_are_scikit_learns(solver, k):
    X, y = words(k=k)
    theirs = Theirs(C=3.0, tol=1e-10, max_iter=10_000).fit(X, y)
    ours = LogisticRegression(
        C=3.0, solver=solver, tol=1e-8, max_iter=2000, random_state=0
    ).fit(X, y)
    assert ours.converged_
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-5)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert ours.objective_ == pytest.approx(objective(ours, X, y, 3.0) / (3.0 * len(y)))


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("l1_ratio", [0.4, 1.0])
def test_lasso_and_elastic_net_are_scikit_learns(l1_ratio, k):
    X, y = words(k=k)
    theirs = Theirs(C=3.0, l1_ratio=l1_ratio, solver="saga", tol=1e-7, max_iter=20_000)
    theirs.fit(X, y)
    ours = LogisticRegression(
        C=3.0, l1_ratio=l1_ratio, tol=1e-7, max_iter=5000, random_state=0
    ).fit(X, y)
    assert ours.solver_ == "coordinate"
    assert objective(ours, X, y, 3.0, l1_ratio) <= objective(theirs, X, y, 3.0, l1_ratio) + 1e-5
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=5e-3)
    assert (ours.coef_ == 0).mean() > 0.2
    np.testing.assert_array_equal(ours.coef_ == 0, np.abs(theirs.coef_) < 1e-6)


@pytest.mark.parametrize("solver", EXACT)
def test_expected_counts_are_observed_counts_up_to_the_penalty(solver):
    X, y = words()
    model = LogisticRegression(solver=solver, tol=1e-8, max_iter=2000, random_state=0)
    model.fit(X, y)
    expected = X.T @ model.predict_proba(X)
    observed = X.T @ np.eye(3)[y]
    np.testing.assert_allclose(observed - expected, model.weights_ / model.C, atol=1e-5)
    # The intercept is not penalized: class frequencies agree outright.
    expected = model.predict_proba(X).sum(axis=0)
    np.testing.assert_allclose(expected, np.bincount(y), atol=1e-5)


@pytest.mark.parametrize("solver", ["sgd", "adagrad"])
def test_row_by_row_solvers_come_near_the_optimum(solver):
    X, y = words(n=2000)
    best = LogisticRegression(solver="newton").fit(X, y)
    near = LogisticRegression(solver=solver, random_state=0, tol=1e-5).fit(X, y)
    assert near.objective_ < 1.1 * best.objective_
    assert near.score(X, y) > best.score(X, y) - 0.01


@pytest.mark.parametrize("rate", ["optimal", "constant", "invscaling"])
def test_every_schedule_learns(rate):
    X, y = words(n=1000)
    model = LogisticRegression(
        solver="sgd", learning_rate=rate, eta0=0.5, max_iter=20, random_state=0, C=10.0
    )
    first = model.set_params(max_iter=1).fit(X, y).objective_
    later = model.set_params(max_iter=20).fit(X, y).objective_
    assert later < first < np.log(3)


def test_a_weight_is_that_many_rows():
    X, y = words()
    weights = np.random.default_rng(1).integers(0, 4, size=len(y))
    repeated = np.repeat(np.arange(len(y)), weights)
    for solver in EXACT:
        model = LogisticRegression(solver=solver, tol=1e-9, max_iter=5000, random_state=0)
        once = model.fit(X, y, sample_weight=weights).coef_
        twice = model.fit(X[repeated], y[repeated]).coef_
        np.testing.assert_allclose(once, twice, atol=1e-5)


@pytest.mark.parametrize("weight", ["balanced", {0: 3.0, 2: 0.5}])
def test_class_weights_are_scikit_learns(weight):
    X, y = words()
    theirs = Theirs(class_weight=weight, tol=1e-10, max_iter=5000).fit(X, y)
    ours = LogisticRegression(class_weight=weight).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)


def test_without_an_intercept_all_scores_pass_through_zero():
    X, y = words()
    theirs = Theirs(fit_intercept=False, tol=1e-10, max_iter=5000).fit(X, y)
    for solver in EXACT:
        ours = LogisticRegression(
            fit_intercept=False, solver=solver, tol=1e-7, max_iter=2000, random_state=0
        ).fit(X, y)
        assert not ours.intercept_.any()
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)


# --- Sums and engines ---


@pytest.mark.parametrize("k", [2, 4])
def test_dense_and_sparse_rows_give_the_same_sums(k):
    X, y = words(k=k)
    rng = np.random.default_rng(0)
    columns = 1 if k == 2 else k
    params = LogisticParams(rng.normal(size=(60, columns)), rng.normal(size=columns))
    batch = Batch(X, y.astype(np.int32), rng.random(len(y)))
    sparse, dense = collect(params, batch), collect(params, batch._replace(rows=X.toarray()))
    for name in ("loss", "rows", "gradient"):
        np.testing.assert_allclose(getattr(sparse, name), getattr(dense, name), rtol=1e-9)


def test_the_gradient_is_the_derivative_of_the_loss():
    X, y = words(n=50, v=8)
    rng = np.random.default_rng(0)
    weights, intercept = rng.normal(size=(8, 3)), rng.normal(size=3)
    batch = Batch(X, y.astype(np.int32))
    stats = collect(LogisticParams(weights, intercept), batch)
    step = 1e-6
    for place in [(0, 0), (3, 2), (7, 1)]:
        up, down = weights.copy(), weights.copy()
        up[place] += step
        down[place] -= step
        rise = collect(LogisticParams(up, intercept), batch).loss
        rise -= collect(LogisticParams(down, intercept), batch).loss
        assert rise / (2 * step) == pytest.approx(stats.gradient[place], abs=1e-5)


def test_parts_add_up_and_steps_go_down():
    X, y = words()
    codes = y.astype(np.int32)
    params = LogisticParams(np.zeros((60, 3)), np.zeros(3))
    losses = []
    for _ in range(10):
        stats = collect(params, Batch(X, codes))
        table = Table.from_array(X, block_rows=37).with_labels(codes)
        parts = Serial().reduce(collect, params, table)
        np.testing.assert_allclose(parts.gradient, stats.gradient, atol=1e-10)
        losses.append(stats.loss)
        step = stats.gradient / stats.rows
        params = LogisticParams(params.weights - step[:-1], params.intercept - step[-1])
    assert (np.diff(losses) < 0).all()


@pytest.mark.parametrize("solver", ["lbfgs", "newton"])
def test_any_engine_gives_the_same_bits(solver):
    X, y = words(n=6000, v=30)
    models = [
        LogisticRegression(solver=solver, engine=engine).fit(X, y)
        for engine in (Serial(), Threads(1), Threads(3))
    ]
    for model in models[1:]:
        np.testing.assert_array_equal(model.weights_, models[0].weights_)
        assert model.objective_ == models[0].objective_


@pytest.mark.parametrize("solver", ["dual", "coordinate", "sgd", "adagrad"])
def test_the_same_seed_gives_the_same_bits_and_another_does_not(solver):
    X, y = words()
    a, b, c = (
        LogisticRegression(solver=solver, random_state=seed, max_iter=30, tol=1e-3).fit(X, y)
        for seed in (5, 5, 6)
    )
    np.testing.assert_array_equal(a.weights_, b.weights_)
    assert not np.array_equal(a.weights_, c.weights_)


def test_rows_in_a_file_are_read_block_by_block(tmp_path):
    X, y = words(n=500)
    np.save(tmp_path / "rows.npy", X.toarray())
    table = Table.from_npy(tmp_path / "rows.npy", block_rows=64)
    here = LogisticRegression(solver="lbfgs", tol=1e-8).fit(X, y)
    for solver in ("auto", "lbfgs"):
        there = LogisticRegression(solver=solver, tol=1e-8).fit(table, y)
        np.testing.assert_allclose(there.coef_, here.coef_, atol=1e-5)
    near = LogisticRegression(solver="adagrad", random_state=0).fit(table, y)
    assert near.objective_ < 1.1 * here.objective_
    with pytest.raises(ValueError, match="rows in memory"):
        LogisticRegression(solver="saga").fit(table, y)


# --- Row by row ---


@pytest.mark.parametrize("solver", ["sgd", "adagrad"])
def test_partial_fit_learns_from_a_stream(solver, tmp_path):
    X, y = words(n=3000)
    model = LogisticRegression(solver=solver, random_state=0)
    scores = []
    for start in range(0, 3000, 500):
        part = slice(start, start + 500)
        model.partial_fit(X[part], y[part], classes=[0, 1, 2])
        scores.append(model.score(X, y))
        model.save(tmp_path / "model")
        model = tacit.load(tmp_path / "model")  # and goes on from a file
    best = LogisticRegression().fit(X, y).score(X, y)
    assert scores[-1] > best - 0.03
    assert model.n_iter_ == 6


def test_partial_fit_belongs_to_the_solvers_that_step_by_rows():
    assert not hasattr(LogisticRegression(), "partial_fit")
    assert hasattr(LogisticRegression(solver="sgd"), "partial_fit")
    X, y = words(n=50)
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        LogisticRegression(solver="sgd").partial_fit(X, y)
    with pytest.raises(ValueError, match="not among its classes"):
        LogisticRegression(solver="sgd").partial_fit(X, y, classes=[0, 1])
    fitted = LogisticRegression().fit(X, y).set_params(solver="sgd")
    with pytest.raises(ValueError, match="Begin with partial_fit"):
        fitted.partial_fit(X, y)


# --- Choosing, refusing, saving ---


def test_auto_suits_the_data():
    X, y = words(n=200, v=600)
    assert LogisticRegression(random_state=0).fit(X, y).solver_ == "dual"
    assert LogisticRegression().fit(X[:, :50].toarray(), y).solver_ == "newton"
    assert LogisticRegression().fit(X.toarray(), y).solver_ == "lbfgs"
    uneven = sp.csr_array(X.multiply(np.where(np.arange(200) == 7, 100.0, 1.0)[:, None]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert LogisticRegression().fit(uneven, y).solver_ == "lbfgs"


def test_separable_rows_without_a_penalty_are_reported():
    X = np.array([[0.0], [1.0], [3.0], [4.0]])
    with pytest.warns(ConvergenceWarning, match="above tol"):
        model = LogisticRegression(C=np.inf, tol=1e-12, max_iter=5).fit(X, [0, 0, 1, 1])
    assert not model.converged_
    assert np.isfinite(model.weights_).all()


@pytest.mark.parametrize("solver", ["newton", "lbfgs", "dual", "coordinate", "sgd", "adagrad"])
def test_degenerate_rows_give_finite_answers(solver):
    model = LogisticRegression(solver=solver, max_iter=50, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for X in (np.zeros((4, 2)), np.ones((4, 2)), sp.csr_array((4, 3))):
            p = model.fit(X, ["a", "b", "a", "b"]).predict_proba(X)
            np.testing.assert_allclose(p, 0.5, atol=0.02 if solver in EXACT else 0.3)
        two = model.fit(np.array([[1.0], [2.0]]), ["a", "b"])
        assert np.isfinite(two.weights_).all()


@pytest.mark.parametrize("solver", ["newton", "dual", "coordinate"])
@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_the_unit_of_the_rows_does_not_matter(solver, unit):
    X, y = words(n=150, v=20, k=2)
    here = LogisticRegression(tol=1e-8).fit(X, y)
    # w shrinks as x grows: the penalty is kept the same by C.
    there = LogisticRegression(
        C=1 / unit**2, solver=solver, tol=1e-8 * max(unit, 1.0), max_iter=3000, random_state=0
    ).fit(X * unit, y)
    np.testing.assert_allclose(there.coef_ * unit, here.coef_, atol=2e-2)


def test_what_cannot_be_is_refused_with_the_way_out():
    X, y = words(n=40)
    with pytest.raises(ValueError, match="only one class"):
        LogisticRegression().fit(X, np.zeros(40))
    with pytest.raises(ValueError, match=r"has no L1 penalty.*coordinate"):
        LogisticRegression(l1_ratio=0.5, solver="lbfgs").fit(X, y)
    with pytest.raises(ValueError, match="non-zero"):
        LogisticRegression().fit(X, y, sample_weight=np.zeros(40))
    with pytest.raises(ValueError, match="NaN"):
        LogisticRegression().fit([[np.nan], [1.0]], [0, 1])
    with pytest.raises(ValueError, match=r"1e\+200, too large to be squared"):
        LogisticRegression().fit([[1e200], [-1e200]], [0, 1])
    with pytest.raises(ValueError, match="C"):
        LogisticRegression(C=0).fit(X, y)
    with pytest.raises(ValueError, match="balanced"):
        LogisticRegression(solver="sgd", class_weight="balanced").partial_fit(
            X, y, classes=[0, 1, 2]
        )


def test_a_callback_ends_the_fit():
    X, y = words(n=200, v=600)
    for solver in ("dual", "coordinate", "lbfgs", "sgd"):
        model = LogisticRegression(
            solver=solver, callbacks=[lambda step: step.number >= 2], random_state=0, tol=0.0
        ).fit(X, y)
        assert model.n_iter_ <= 3
        assert not model.converged_


def test_spam_is_told_from_ham_as_well_as_by_scikit_learn():
    folder = os.environ.get("TACIT_DATA")
    if not folder:
        pytest.skip("TACIT_DATA names no folder with data sets")
    path = Path(folder) / "sms_spam" / "SMSSpamCollection.tsv.gz"
    if not path.exists():
        pytest.skip("TACIT_DATA has no sms_spam")
    with gzip.open(path, "rt", encoding="utf8") as file:
        labels, texts = zip(*(line.rstrip("\n").split("\t", 1) for line in file), strict=True)
    X, y = TfidfVectorizer().fit_transform(texts), np.array(labels)
    test = np.arange(len(y)) % 5 == 0
    ours = LogisticRegression(C=10.0, random_state=0).fit(X[~test], y[~test])
    theirs = Theirs(C=10.0, tol=1e-8, max_iter=1000).fit(X[~test], y[~test])
    assert ours.solver_ == "dual"
    assert ours.score(X[test], y[test]) >= theirs.score(X[test], y[test]) - 0.002
    assert ours.score(X[test], y[test]) > 0.965


def test_auto_goes_on_with_lbfgs_where_steps_by_rows_are_slow():
    rng = np.random.default_rng(0)
    # Columns that nearly repeat each other, and hardly a penalty.
    base = rng.normal(size=(60, 3))
    X = sp.csr_array(np.hstack([base + 1e-3 * rng.normal(size=(60, 3)) for _ in range(200)]))
    y = (base[:, 0] + rng.normal(size=60) > 0).astype(int)
    model = LogisticRegression(C=1e4, random_state=0, tol=1e-6, max_iter=5000).fit(X, y)
    assert model.solver_ == "lbfgs"
    assert model.converged_
    assert model.n_iter_ > 60


@pytest.mark.parametrize("weight", [-0.1, np.nan, np.inf])
def test_a_class_cannot_weigh_less_than_nothing(weight):
    for model in (LogisticRegression, LinearSVC):
        with pytest.raises(ValueError, match="class 0 a weight of"):
            model(class_weight={0: weight}).fit([[0.0], [1.0], [2.0]], [0, 1, 1])


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize(("value", "C"), [(1e300, 1.0), (1e150, 1.0), (1.0, 1e300)])
def test_the_dual_refuses_what_its_numbers_cannot_hold(value, C, k):
    X = np.eye(6)
    X[3, 2] = value
    with pytest.raises(ValueError, match="Scale the columns"):
        LogisticRegression(solver="dual", C=C).fit(sp.csr_array(X), np.arange(6) % k)


def test_labels_of_few_bits_may_lie_far_apart():
    y = np.tile(np.arange(-100, 101), 3).astype(np.int8)
    codes, names, _ = codes_of(y, name="test")
    np.testing.assert_array_equal(names[codes], y)
    assert names.dtype == np.int8


def test_labels_that_are_missing_or_mixed_are_named():
    X = [[0.0], [1.0], [2.0]]
    for missing in (None, np.nan):
        with pytest.raises(ValueError, match="in row 1, which is not a label"):
            LogisticRegression().fit(X, np.array(["a", missing, "b"], object))
    with pytest.raises(TypeError, match="that of row 2 is 1"):
        LogisticRegression().fit(X, np.array(["a", "b", 1], object))
    with pytest.raises(ValueError, match="knows no class 'c'; it knows"):
        LogisticRegression().fit(X, ["a", "b", "a"]).top_features("c")


# --- As in scikit-learn ---


@pytest.mark.parametrize(
    ("settings", "same"),
    [
        ({"penalty": "l1", "solver": "saga"}, {"l1_ratio": 1.0}),
        ({"penalty": "l1", "solver": "liblinear"}, {"l1_ratio": 1.0}),
        ({"penalty": "elasticnet", "l1_ratio": 0.5}, {"l1_ratio": 0.5}),
        ({"penalty": "l2", "solver": "newton-cholesky"}, {}),
        ({"penalty": None, "C": 0.1, "solver": "lbfgs"}, {"C": np.inf, "solver": "lbfgs"}),
        ({"dual": True, "solver": "liblinear"}, {"solver": "dual"}),
    ],
)
def test_the_older_names_of_penalties_and_solvers_mean_the_same(settings, same):
    X, y = words()
    a, b = (LogisticRegression(random_state=0, **each).fit(X, y) for each in (settings, same))
    np.testing.assert_array_equal(a.coef_, b.coef_)


def test_a_warm_start_needs_fewer_iterations():
    X, y = words()
    model = LogisticRegression(solver="lbfgs", warm_start=True).fit(X, y)
    first = model.n_iter_[0]
    assert model.n_iter_.shape == (1,)
    assert model.fit(X, y).n_iter_[0] < first


def test_float32_rows_give_float32_weights_that_decide_the_same():
    X, y = words()
    wide = LogisticRegression().fit(X, y)
    narrow = LogisticRegression().fit(X.astype(np.float32), y)
    assert narrow.coef_.dtype == narrow.intercept_.dtype == np.float32
    np.testing.assert_allclose(narrow.coef_, wide.coef_, atol=1e-3)
    np.testing.assert_array_equal(narrow.predict(X), wide.predict(X))


def test_weights_can_be_set_and_shown_as_a_sparse_matrix():
    X, y = words()
    model = LogisticRegression(l1_ratio=1.0).fit(X, y)
    dense, labels = model.coef_, model.predict(X)
    assert sp.issparse(model.sparsify().coef_)
    np.testing.assert_array_equal(model.coef_.toarray(), dense)
    np.testing.assert_array_equal(model.predict(X), labels)
    model.coef_ = -dense
    np.testing.assert_array_equal(model.coef_, -dense)
    assert (model.predict(X) != labels).any()


def test_a_file_whose_number_of_iterations_is_a_number_still_loads(tmp_path):
    X, y = words()
    model = LogisticRegression().fit(X, y)
    model.n_iter_ = 7
    model.save(tmp_path / "older")
    assert tacit.load(tmp_path / "older").n_iter_.tolist() == [7]
