"""Perceptron and passive-aggressive: the notes' steps, and scikit-learn's where it has them."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from sklearn import linear_model as rival

import tacit
from tacit.classify import PassiveAggressiveClassifier, Perceptron
from tacit.data import Table
from tacit.linear.linear_classifier import csr_arrays
from tacit.linear.online_updates import PA, PA_I, PA_II, Rule, new_state, visit
from tacit.linear.perceptron import CALM
from tests.contract.cases import blobs, documents

X, y = documents(n=300, v=40, k=4)
MIXED = np.arange(300) % 2  # labels that say nothing
BOTH = [Perceptron, PassiveAggressiveClassifier]
each = pytest.mark.parametrize("cls", BOTH, ids=lambda c: c.__name__)


def f(x, label, k):
    """The notes' feature vector: x and an offset, in the place of the label."""
    out = np.zeros((k, len(x) + 1))
    out[label] = np.r_[x, 1.0]
    return out.ravel()


def by_the_notes(rows, labels, k, passes, step):
    """Every theta of every visit, as the notes write it."""
    theta, path = np.zeros(k * (rows.shape[1] + 1)), []
    for _ in range(passes):
        for x, label in zip(rows, labels, strict=True):
            scores = np.array([theta @ f(x, c, k) for c in range(k)])
            others = np.where(np.arange(k) == label, -np.inf, scores)
            rival_class = int(np.argmax(others))
            change = f(x, label, k) - f(x, rival_class, k)
            theta = theta + step(scores[label] - scores[rival_class], change) * change
            path.append(theta)
    return np.array(path)


def perceptron_step(margin, change):
    return float(margin <= 0)


def pa_step(C):
    return lambda margin, change: min(C, max(0.0, 1 - margin) / (change @ change))


def unfold(theta, k):
    theta = theta.reshape(k, -1)
    return theta[:, :-1].T, theta[:, -1]


@pytest.mark.parametrize("average", [True, False])
@pytest.mark.parametrize(
    ("cls", "step"),
    [(Perceptron, perceptron_step), (PassiveAggressiveClassifier, pa_step(0.01))],
)
def test_the_notes_algorithm_and_its_average_over_visits(cls, step, average):
    rows = X[:60].toarray()
    path = by_the_notes(rows, y[:60], 4, 3, step)
    aggressive = cls is PassiveAggressiveClassifier
    options = {"C": 0.01} if aggressive else {}
    model = cls(shuffle=False, max_iter=3, tol=None, average=average, **options)
    model.fit(rows, y[:60])
    past = path[60:] if aggressive else path  # learns first, averages then
    weights, intercept = unfold(past.mean(axis=0) if average else path[-1], 4)
    assert_allclose(model.weights_, weights, rtol=1e-9, atol=1e-12)
    assert_allclose(model.intercept_, intercept, rtol=1e-9, atol=1e-12)
    assert model.t_ == len(past)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("loss", ["hinge", "MIRA"])
def test_the_intercept_of_sparse_rows_is_a_feature_of_less_than_one(classes, loss):
    labels = y % classes
    value = np.sqrt(CALM)
    wider = sp.hstack([X, np.full((X.shape[0], 1), value)], format="csr")
    settings = {"C": 0.1, "loss": loss, "max_iter": 3, "tol": None, "random_state": 0}
    model = PassiveAggressiveClassifier(**settings).fit(X, labels)
    plain = PassiveAggressiveClassifier(**settings, fit_intercept=False).fit(wider, labels)
    assert_allclose(model.weights_, plain.weights_[:-1], rtol=1e-9, atol=1e-12)
    assert_allclose(model.intercept_, value * plain.weights_[-1], rtol=1e-9, atol=1e-12)


def test_an_average_over_one_pass_takes_that_pass():
    one = PassiveAggressiveClassifier(max_iter=1, tol=None, random_state=0).fit(X, y)
    assert one.t_ == X.shape[0]
    assert not np.array_equal(one.weights_, one._last_weights)


@pytest.mark.parametrize("average", [True, False])
def test_two_classes_in_one_column_are_the_two_of_the_notes(average):
    rows, labels = X[:80].toarray(), y[:80] % 2
    path = by_the_notes(rows, labels, 2, 2, perceptron_step)
    model = Perceptron(shuffle=False, max_iter=2, tol=None, average=average)
    model.fit(rows, labels)
    weights, intercept = unfold(path.mean(axis=0) if average else path[-1], 2)
    # A change of both vectors by x moves their difference by 2 x.
    assert_allclose(2 * model.weights_[:, 0], weights[:, 1] - weights[:, 0], atol=1e-9)
    assert_allclose(2 * model.intercept_[0], intercept[1] - intercept[0], atol=1e-9)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.filterwarnings("ignore")
def test_two_classes_are_scikit_learns_passive_aggressive(loss):
    rows, labels = blobs(200, d=6, k=2), np.arange(200) % 2
    theirs = rival.PassiveAggressiveClassifier(
        C=0.05, loss=loss, fit_intercept=False, shuffle=False, max_iter=4, tol=None
    ).fit(rows, labels)
    ours = PassiveAggressiveClassifier(
        C=0.05, loss=loss, fit_intercept=False, shuffle=False, max_iter=4, tol=None,
        average=False,
    ).fit(rows, labels)  # fmt: skip
    assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9)


def test_two_classes_are_scikit_learns_perceptron():
    rows, labels = blobs(200, d=6, k=2), np.arange(200) % 2
    theirs = rival.Perceptron(shuffle=False, max_iter=5, tol=None).fit(rows, labels)
    ours = Perceptron(shuffle=False, max_iter=5, tol=None, average=False).fit(rows, labels)
    assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9)
    assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-9)


def one_step(kind, x, weights, label, C=1.0):
    """The change of the weights by one visit, no intercept."""
    k = weights.shape[1]
    state = new_state(len(x), k, False)
    state.weights[:] = weights
    rows = csr_arrays(sp.csr_array(x[None, :]))
    rule = Rule(kind, C, intercept=False)
    visit(state, rule, rows, np.array([label], np.int32), np.ones(k), np.arange(1))
    return state.weights - weights


numbers = st.floats(-3, 3, allow_subnormal=False)


@given(st.lists(numbers, min_size=12, max_size=12), st.integers(0, 2), st.floats(0.01, 5))
def test_the_closed_form_solves_the_notes_problem(values, label, C):
    """min |theta - theta_t|^2 / 2 + C xi: no other change of weights does better."""
    x = np.array([1.0, *values[:2]])
    weights = np.array(values[3:]).reshape(3, 3)

    def loss(change):
        scores = x @ (weights + change)
        return max(0.0, 1 - scores[label] + np.delete(scores, label).max())

    scores = x @ weights
    before = loss(np.zeros((3, 3)))
    rival_class = int(np.argmax(np.where(np.arange(3) == label, -np.inf, scores)))
    direction = np.zeros((3, 3))
    direction[:, label], direction[:, rival_class] = x, -x
    change = one_step(PA_I, x, weights, label, C)
    tau = min(C, before / (2 * x @ x))
    assert_allclose(change, tau * direction, atol=1e-12)

    def margin_loss(step):  # against the rival, as in the notes' constraint
        return max(0.0, before - step * 2 * (x @ x)) if before else 0.0

    grid = np.linspace(0, 2 * C + before, 401)
    objective = [0.5 * t * t * 2 * (x @ x) + C * margin_loss(t) for t in grid]
    best = 0.5 * tau * tau * 2 * (x @ x) + C * margin_loss(tau)
    assert best <= min(objective) + 1e-9

    change = one_step(PA_II, x, weights, label, C)
    assert_allclose(change, before / (2 * x @ x + 0.5 / C) * direction, atol=1e-12)
    change = one_step(PA, x, weights, label)
    after = x @ (weights + change)
    if before:
        assert_allclose(after[label] - after[rival_class], 1.0)


@given(st.lists(numbers, min_size=14, max_size=14), st.integers(0, 3))
def test_mira_makes_the_least_change_that_gives_every_class_a_margin(values, label):
    x = np.array([1.0, *values[:2]])
    weights = np.array(values[2:]).reshape(3, 4)
    model = PassiveAggressiveClassifier(loss="MIRA", fit_intercept=False)
    rule = model._rule(sparse=False)
    change = one_step(rule.kind, x, weights, label)
    after = x @ (weights + change)
    margins = after[label] - np.delete(after, label)
    assert (margins >= 1 - 1e-9).all()
    # Changes along x are enough: minimize over one step per class.
    scores = x @ weights
    others = [c for c in range(4) if c != label]
    gaps = scores[label] - scores - 1
    limits = [
        {"type": "ineq", "fun": lambda s, c=c: gaps[c] + (s[label] - s[c]) * (x @ x)}
        for c in others
    ]
    found = minimize(
        lambda s: s @ s / 2, np.zeros(4), jac=lambda s: s, constraints=limits, method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 200},
    )  # fmt: skip
    ours = change.T @ x / (x @ x)
    assert ours @ ours / 2 <= found.fun + 1e-6


def test_mira_and_pa_are_one_with_two_classes():
    rows, labels = X[:50], y[:50] % 2
    a, b = (
        PassiveAggressiveClassifier(loss=loss, random_state=0, max_iter=2, tol=None)
        .fit(rows, labels).weights_ for loss in ("PA", "MIRA")
    )  # fmt: skip
    assert_array_equal(a, b)


@each
def test_separable_data_is_separated_and_says_so(cls):
    rows = np.array([[0.0, 1], [1, 0], [5, 5], [6, 5], [0, 9], [1, 9]])
    labels = np.array(["a", "a", "b", "b", "c", "c"])
    model = cls(random_state=0, average=False, tol=None).fit(rows, labels)
    assert model.separated_
    assert model.converged_
    assert model.losses_[-1] == 0
    assert_array_equal(model.predict(rows), labels)


@each
def test_inseparable_data_is_not(cls):
    rows, labels = np.array([[1.0], [1.0], [2.0]]), np.array([0, 1, 0])
    model = cls(random_state=0, max_iter=50).fit(rows, labels)
    assert not model.separated_
    assert np.isfinite(model.weights_).all()


@each
@pytest.mark.parametrize("average", [True, False])
def test_the_same_seed_gives_the_same_bits(cls, average):
    a, b, c = (
        cls(random_state=seed, max_iter=3, tol=None, average=average).fit(X, y)
        for seed in (5, 5, 6)
    )
    assert_array_equal(a.weights_, b.weights_)
    assert (a.weights_ != c.weights_).any()


@each
@pytest.mark.parametrize("average", [True, False])
def test_partial_fits_in_order_are_one_pass(cls, average):
    whole = cls(shuffle=False, max_iter=1, average=average).fit(X, y)
    parts = cls(shuffle=False, average=average)
    for start in range(0, 300, 77):
        rows, labels = X[start : start + 77], y[start : start + 77]
        parts.partial_fit(rows, labels, classes=[0, 1, 2, 3])
    assert_allclose(parts.weights_, whole.weights_, rtol=1e-12, atol=1e-14)
    assert parts.t_ == whole.t_ == 300


@each
def test_a_saved_model_goes_on_where_it_was(cls, tmp_path):
    model = cls(random_state=0, average=True).partial_fit(X, y, classes=range(4))
    model.save(tmp_path / "m")
    wanted = model.partial_fit(X, y).weights_
    for mmap in (False, True):
        loaded = tacit.load(tmp_path / "m", mmap=mmap)
        assert_array_equal(loaded.partial_fit(X, y).weights_, wanted)


@each
def test_a_file_of_rows_is_shuffled_in_blocks(cls, tmp_path):
    rows = X.toarray()
    np.save(tmp_path / "rows.npy", rows)
    table = Table.from_npy(tmp_path / "rows.npy", block_rows=50)
    a = cls(random_state=0, max_iter=5, tol=None).fit(table, y)
    b = cls(random_state=0, max_iter=5, tol=None).fit(table.with_labels(y))
    assert_array_equal(a.weights_, b.weights_)
    assert a.score(rows, y) > 0.9
    plain = cls(shuffle=False, max_iter=2, tol=None).fit(table, y)
    inside = cls(shuffle=False, max_iter=2, tol=None).fit(rows, y)
    assert_array_equal(plain.weights_, inside.weights_)


@each
def test_warm_start_goes_on_and_refuses_other_data(cls):
    model = cls(warm_start=True, shuffle=False, max_iter=1, tol=None, average=True)
    model.fit(X, y).fit(X, y)
    twice = cls(shuffle=False, max_iter=2, tol=None, average=True).fit(X, y)
    assert_allclose(model.weights_, twice.weights_, rtol=1e-12, atol=1e-14)
    with pytest.raises(ValueError, match="goes on with 40 features"):
        model.fit(X[:, :30], y)


@each
def test_class_weights_count(cls):
    weights = {0: 1.0, 1: 1.0, 2: 1.0, 3: 50.0}
    rows, labels = blobs(300, d=3, k=4, seed=4) / 6, np.arange(300) % 4
    plain = cls(random_state=0, max_iter=20).fit(rows, labels)
    heavy = cls(random_state=0, max_iter=20, class_weight=weights).fit(rows, labels)
    assert (heavy.predict(rows) == 3).sum() > (plain.predict(rows) == 3).sum()
    cls(class_weight="balanced", random_state=0, max_iter=5).fit(rows, labels)
    with pytest.raises(ValueError, match="not supported for partial_fit"):
        cls(class_weight="balanced").partial_fit(rows, labels, classes=range(4))


@each
def test_degenerate_rows(cls):
    model = cls(random_state=0).fit(np.zeros((3, 2)), [0, 1, 2])
    assert np.isfinite(model.weights_).all()
    model = cls(random_state=0, fit_intercept=False).fit(np.zeros((3, 2)), [0, 1, 2])
    assert_array_equal(model.weights_, 0)
    with pytest.raises(ValueError, match="have only one class"):
        cls().fit(X, np.zeros(300))
    with pytest.raises(ValueError, match="overflowed"):
        cls(max_iter=5, tol=None).fit([[1e200, 1e200], [1e200, -1e200]], [0, 1])


def test_callbacks_receive_every_pass_and_may_stop():
    steps = []

    def callback(step):
        steps.append((step.number, step.losses[-1]))
        return step.number == 3

    model = Perceptron(callbacks=[callback], random_state=0, tol=None, max_iter=9).fit(X, MIXED)
    assert [number for number, _ in steps] == [1, 2, 3]
    assert model.n_iter_ == 3
    assert not model.converged_


def test_averages_are_not_worse_on_new_rows():
    rows, labels = documents(n=1500, v=60, k=5, seed=3)
    train, test = rows[:400], rows[400:]
    scores = [
        np.mean([
            Perceptron(average=average, random_state=seed, max_iter=10).fit(train, labels[:400])
            .score(test, labels[400:]) for seed in range(3)
        ]) for average in (True, False)
    ]  # fmt: skip
    assert scores[0] >= scores[1]


@each
@pytest.mark.parametrize("average", [True, False])
def test_early_stopping_asks_rows_that_were_held_out(cls, average):
    rows, labels = documents(n=400, v=60, k=3, seed=3)
    model = cls(early_stopping=True, validation_fraction=0.25, random_state=0, average=average)
    model.fit(rows, labels)
    assert len(model.validation_scores_) == model.n_iter_
    assert model.validation_scores_[-1] > 0.8
    assert model.t_ % 300 == 0  # rows that were learned from, a whole number of times
    with pytest.raises(ValueError, match="leaves no rows of some class"):
        cls(early_stopping=True, validation_fraction=0.9).fit(np.eye(4), [0, 0, 1, 1])
    with pytest.raises(ValueError, match="should be False with partial_fit"):
        cls(early_stopping=True).partial_fit(rows, labels, classes=[0, 1, 2])
    table = Table.from_array(rows)
    file = Table(table.blocks, table.shape, table.dtype)
    with pytest.raises(ValueError, match="needs all rows in memory"):
        cls(early_stopping=True).fit(file, labels)


@pytest.mark.filterwarnings("ignore")  # it says that it will leave
def test_scikit_learns_parameters_are_all_taken():
    known = PassiveAggressiveClassifier().get_params()
    assert {*rival.PassiveAggressiveClassifier().get_params()} <= {*known}
    quiet = PassiveAggressiveClassifier(random_state=0, max_iter=2, n_jobs=2).fit(X, y)
    loud = PassiveAggressiveClassifier(random_state=0, max_iter=2, verbose=1).fit(X, y)
    assert_array_equal(quiet.weights_, loud.weights_)


def test_few_rows_get_a_thousand_visits_before_a_fit_stops():
    rows = np.random.default_rng(0).normal(size=(50, 3))
    labels = np.random.default_rng(1).integers(2, size=50)  # nothing to learn
    for cls in (Perceptron, PassiveAggressiveClassifier):
        model = cls(random_state=0, tol=1.0).fit(rows, labels)
        assert model.n_iter_ == 21
        assert model.converged_


@pytest.mark.parametrize("model", [Perceptron, PassiveAggressiveClassifier])
@pytest.mark.parametrize("weight", [-2.0, np.nan, np.inf])
def test_a_class_cannot_weigh_less_than_nothing(model, weight):
    with pytest.raises(ValueError, match="class 0 a weight of"):
        model(class_weight={0: weight}).fit([[0.0], [1.0]], [0, 1])


# --- As in scikit-learn ---


@each
@pytest.mark.parametrize("k", [2, 4])
def test_a_fit_can_start_from_given_weights(cls, k):
    labels = y % k
    model = cls(random_state=0, average=False).fit(X, labels)
    coef, intercept = model.coef_.copy(), model.intercept_.copy()
    again = cls(random_state=0, average=False, max_iter=1)
    resumed = again.fit(X, labels, coef_init=coef, intercept_init=intercept)
    warm = model.set_params(warm_start=True, max_iter=1).fit(X, labels)
    assert_array_equal(resumed.coef_, warm.coef_)
    with pytest.raises(ValueError, match="coef_init has shape"):
        again.fit(X, labels, coef_init=coef[:, 1:])


@each
def test_a_row_of_weight_zero_is_as_good_as_absent(cls):
    settings = {"shuffle": False, "average": False, "random_state": 0, "tol": None}
    keep = np.arange(300) % 3 > 0
    weighted = cls(max_iter=5, **settings).fit(X, y, sample_weight=keep.astype(float))
    fewer = cls(max_iter=5, **settings).fit(X[keep], y[keep])
    assert_allclose(weighted.coef_, fewer.coef_)


def test_the_learning_rate_of_the_perceptron_scales_its_weights():
    plain, scaled = (Perceptron(random_state=0, eta0=rate).fit(X, y) for rate in (1.0, 0.25))
    assert_allclose(scaled.coef_, 0.25 * plain.coef_)


@each
def test_weights_can_be_set(cls):
    model = cls(random_state=0).fit(X, y)
    model.coef_, model.intercept_ = -model.coef_, -model.intercept_
    assert_allclose(model.coef_, -cls(random_state=0).fit(X, y).coef_)
