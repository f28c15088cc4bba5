"""Naive Bayes: the same numbers as scikit-learn's, whatever the blocks and engines."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import naive_bayes as rival

import tacit
from tacit import classify
from tacit.classify import BernoulliNB, ComplementNB, MultinomialNB
from tacit.classify.naive_bayes import Counting, collect
from tacit.core import DataError, Serial, Threads
from tacit.data import Table
from tests.contract.cases import documents

SETTINGS = [
    ("MultinomialNB", {}),
    ("MultinomialNB", {"alpha": 0.01, "fit_prior": False}),
    ("MultinomialNB", {"class_prior": [0.5, 0.2, 0.3]}),
    ("BernoulliNB", {}),
    ("BernoulliNB", {"alpha": 0.3, "binarize": 1.0}),
    ("ComplementNB", {}),
    ("ComplementNB", {"alpha": 0.2, "norm": True}),
]
X, y = documents(n=300, v=40)
NEW = documents(n=50, v=40, seed=9)[0]


@pytest.fixture(params=[MultinomialNB, BernoulliNB, ComplementNB], ids=lambda c: c.__name__)
def cls(request):
    return request.param


@pytest.mark.parametrize(("name", "settings"), SETTINGS, ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_agrees_with_scikit_learn(name, settings, weighted):
    weights = np.linspace(0, 2, len(y)) if weighted else None
    ours = getattr(classify, name)(**settings).fit(X, y, sample_weight=weights)
    theirs = getattr(rival, name)(**settings).fit(sp.csr_matrix(X), y, sample_weight=weights)
    assert_allclose(ours.feature_log_prob_, theirs.feature_log_prob_, rtol=1e-10)
    assert_allclose(ours.class_log_prior_, theirs.class_log_prior_, rtol=1e-10)
    assert_allclose(ours.feature_count_, theirs.feature_count_, rtol=1e-12)
    assert_allclose(
        ours.predict_joint_log_proba(NEW), theirs.predict_joint_log_proba(sp.csr_matrix(NEW)),
        rtol=1e-10,
    )  # fmt: skip
    assert_allclose(
        ours.predict_proba(NEW), theirs.predict_proba(sp.csr_matrix(NEW)), rtol=1e-9, atol=1e-12
    )
    assert_array_equal(ours.predict(NEW), theirs.predict(sp.csr_matrix(NEW)))


def test_an_alpha_for_each_feature_agrees_with_scikit_learn(cls):
    alpha = np.linspace(0.1, 2, X.shape[1])
    ours = cls(alpha=alpha).fit(X, y)
    if cls is not BernoulliNB:  # where scikit-learn's fails
        theirs = getattr(rival, cls.__name__)(alpha=alpha).fit(sp.csr_matrix(X), y)
        assert_allclose(ours.feature_log_prob_, theirs.feature_log_prob_, rtol=1e-10)
    else:
        p = (ours.feature_count_ + alpha) / (ours.class_count_[:, None] + 2 * alpha)
        assert_allclose(np.exp(ours.feature_log_prob_), p)
    with pytest.raises(ValueError, match="alpha has 39 values for 40 features"):
        cls(alpha=alpha[1:]).fit(X, y)
    with pytest.raises(ValueError, match="at least 0"):
        cls(alpha=-alpha).fit(X, y)


def test_large_and_broken_counts_agree_with_scikit_learn():
    rows = np.abs(np.random.default_rng(0).normal(size=(60, 7))) * [1, 5e3, 1e-3, 1, 1, 1e9, 0]
    labels = np.arange(60) % 2
    ours, theirs = MultinomialNB().fit(rows, labels), rival.MultinomialNB().fit(rows, labels)
    assert_allclose(ours.feature_log_prob_, theirs.feature_log_prob_, rtol=1e-10)


def test_dense_sparse_and_table_are_the_same(cls):
    wanted = cls().fit(X, y)
    for data in (X.toarray(), sp.csc_array(X), Table.from_array(X, 37)):
        found = cls().fit(data, y)
        assert_array_equal(found.weights_, wanted.weights_)
        assert_array_equal(found.predict(Table.from_array(NEW, 7)), wanted.predict(NEW))
    table = Table.from_array(X, 100).with_labels(y)
    assert_array_equal(cls().fit(table).weights_, wanted.weights_)


def test_partial_fits_add_up_to_one_fit(cls):
    whole = cls().fit(X, y)
    parts = cls().partial_fit(X[:100], y[:100], classes=[0, 1, 2])
    parts.partial_fit(X[100:], y[100:])
    assert_array_equal(parts.weights_, whole.weights_)
    assert_array_equal(parts.intercept_, whole.intercept_)


def test_partial_fit_wants_its_classes_first(cls):
    with pytest.raises(ValueError, match="first call to partial_fit"):
        cls().partial_fit(X, y)
    model = cls().partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match=r"label 5, which is not .* \[0, 1, 2\]"):
        model.partial_fit(X[:1], [5])
    with pytest.raises(ValueError, match="began with"):
        model.partial_fit(X, y, classes=[0, 1])


def test_a_saved_model_goes_on_counting(cls, tmp_path):
    model = cls().fit(X[:200], y[:200])
    model.save(tmp_path / "m")
    loaded = tacit.load(tmp_path / "m").partial_fit(X[200:], y[200:])
    assert_array_equal(loaded.weights_, cls().fit(X, y).weights_)


def test_weight_two_is_twice(cls):
    twice = cls().fit(sp.vstack([X, X[:50]], format="csr"), np.r_[y, y[:50]])
    weighted = cls().fit(X, y, sample_weight=np.r_[np.full(50, 2.0), np.ones(250)])
    assert_allclose(weighted.weights_, twice.weights_, rtol=1e-12)


@given(st.integers(1, 60), st.integers(0, 2**31))
def test_counts_of_parts_are_counts_of_the_whole(size, seed):
    rng = np.random.default_rng(seed)
    rows = sp.csr_array(rng.poisson(0.5, (60, 9)).astype(float))
    table = Table.from_array(rows, size).with_labels(rng.integers(3, size=60).astype(np.int32))
    params = Counting("test", 3)
    results = [
        engine.reduce(collect, params, table) for engine in (Serial(), Threads(3))
    ]
    codes = np.concatenate([block.labels.load() for block in table])
    for stats in results:
        assert stats.rows == 60
        assert_array_equal(stats.class_count, np.bincount(codes, minlength=3))
        for k in range(3):
            assert_array_equal(stats.feature_count[k], rows.toarray()[codes == k].sum(axis=0))


def test_nothing_passed_in_is_modified(cls):
    rows, labels, weights = X.copy(), y.copy(), np.ones(len(y))
    cls().fit(rows, labels, sample_weight=weights).predict(rows)
    assert_array_equal(rows.toarray(), X.toarray())
    assert_array_equal(labels, y)


def test_read_only_and_integer_input_is_fine(cls):
    rows = X.toarray().astype(np.int32)
    rows.setflags(write=False)
    assert_array_equal(cls().fit(rows, y).weights_, cls().fit(X, y).weights_)


def test_alpha_zero_lets_a_word_rule_out_a_class():
    model = MultinomialNB(alpha=0).fit([[3, 0, 1], [0, 2, 1]], ["a", "b"])
    assert_allclose(model.predict_proba([[1, 0, 0], [0, 1, 5]]), [[1, 0], [0, 1]])
    assert model.predict([[0, 0, 0]]) == ["a"]
    with pytest.warns(UserWarning, match="1 of 2 rows hold features that rule out every class"):
        found = model.predict_proba([[1, 1, 0], [0, 0, 1]])
    assert_allclose(found, [[0.5, 0.5], [3 / 7, 4 / 7]])


def test_an_explicit_zero_is_not_multiplied_by_an_infinite_weight():
    model = MultinomialNB(alpha=0).fit([[3, 0], [0, 2]], ["a", "b"])
    row = sp.csr_array((np.array([0.0, 1.0]), np.array([0, 1]), np.array([0, 2])), shape=(1, 2))
    assert_array_equal(model.predict_proba(row), [[0.0, 1.0]])


def test_a_class_without_words_has_no_favourites():
    model = MultinomialNB(alpha=0).fit([[0, 0], [1, 3]], [0, 1])
    assert_allclose(np.exp(model.feature_log_prob_), [[0.5, 0.5], [0.25, 0.75]])
    assert np.isfinite(BernoulliNB(alpha=0).fit([[0, 0], [1, 1]], [0, 1]).weights_).all()


def test_one_class_is_always_right(cls):
    model = cls().fit(X, np.full(len(y), 7))
    assert_array_equal(model.predict(NEW), np.full(NEW.shape[0], 7))
    assert_allclose(model.predict_proba(NEW), 1)
    with pytest.raises(ValueError, match="only the class"):
        model.top_features(7)


def test_an_empty_document_gets_the_prior():
    model = MultinomialNB().fit(X, y)
    assert_allclose(model.predict_proba(sp.csr_array((1, 40)))[0], np.bincount(y) / len(y))


def test_bad_input_is_refused_with_its_place():
    with pytest.raises(DataError, match=r"row 1, column 2: Negative values .*: -4"):
        MultinomialNB().fit([[1.0, 0, 0], [0, 0, -4.0]], [0, 1])
    with pytest.raises(ValueError, match="class_prior has 2 values for 3 classes"):
        MultinomialNB(class_prior=[0.5, 0.5]).fit(X, y)
    with pytest.raises(ValueError, match="y is None"):
        MultinomialNB().fit(X)
    with pytest.raises(ValueError, match=r"table.with_labels\(y\)"):
        MultinomialNB().fit(Table.from_array(X))
    with pytest.raises(ValueError, match="inconsistent numbers"):
        MultinomialNB().fit(Table.from_array(X), y[:-1])
    with pytest.raises(ValueError, match="NaN"):
        MultinomialNB().fit(Table.from_array(np.array([[1.0, np.nan]])), [0])
    with pytest.raises(ValueError, match="fitted on 40 columns, but X has 2"):
        MultinomialNB().fit(X, y).predict(Table.from_array(np.ones((1, 2))))


def test_categorical_and_multinomial_models_give_the_same_classifier():
    """Words one by one, each from phi: the same differences between classes as with counts."""
    model = MultinomialNB().fit(X, y)
    phi, mu = np.exp(model.feature_log_prob_), np.exp(model.class_log_prior_)
    counts = NEW.toarray()[0].astype(int)
    words = np.repeat(np.arange(40), counts)
    in_order = [np.log(mu[k]) + sum(np.log(phi[k, w]) for w in words) for k in range(3)]
    from scipy.stats import multinomial

    of_counts = [
        np.log(mu[k]) + multinomial.logpmf(counts, counts.sum(), phi[k]) for k in range(3)
    ]
    factor = np.subtract(of_counts, in_order)
    assert_allclose(factor, factor[0], rtol=1e-9)
    shares = np.exp(in_order - np.logaddexp.reduce(in_order))
    assert_allclose(model.predict_proba(NEW[[0]])[0], shares, rtol=1e-9)


def test_top_features_and_explain_add_up():
    model = MultinomialNB().fit(X, y)
    weights = model.weights_
    wanted = weights[:, 1] - (weights[:, 0] + weights[:, 2]) / 2
    found = model.top_features(1, n=5)
    assert [j for j, _ in found] == np.argsort(-wanted)[:5].tolist()
    assert_allclose([w for _, w in found], np.sort(wanted)[::-1][:5])
    joint = model.predict_joint_log_proba(NEW[[3]])[0]
    best, second = np.argsort(-joint)[:2]
    pushes = model.explain(NEW[[3]], n=None)
    total = sum(push for _, push in pushes) + model.intercept_[best] - model.intercept_[second]
    assert_allclose(total, joint[best] - joint[second])
    assert (np.diff([-abs(push) for _, push in pushes]) >= 0).all()
    with pytest.raises(ValueError, match="one row, but X has 50"):
        model.explain(NEW)
    with pytest.raises(ValueError, match="knows no class 'x'"):
        model.explain(NEW[[0]], class_="x")


def test_an_alpha_that_is_too_small_is_raised_unless_forced():
    small = MultinomialNB(alpha=1e-20, force_alpha=False).fit(X, y)
    assert_array_equal(small.weights_, MultinomialNB(alpha=1e-10).fit(X, y).weights_)


def test_bernoulli_without_a_threshold_takes_zeros_and_ones():
    ones = (X > 0).astype(float)
    assert_array_equal(
        BernoulliNB(binarize=None).fit(ones, y).weights_, BernoulliNB().fit(X, y).weights_
    )
    with pytest.raises(ValueError, match="takes X as zeros and ones"):
        BernoulliNB(binarize=None).fit(5 * X, y)


@pytest.mark.parametrize("kind", [np.float64, np.int64])
def test_threads_give_the_same_bits(kind):
    rng = np.random.default_rng(0)
    rows = sp.csr_array(rng.poisson(0.8, size=(9000, 600)).astype(kind))
    labels = rng.integers(5, size=9000)
    weights = rng.random(9000)
    assert rows.nnz > 2**21  # more than one block
    models = [
        MultinomialNB(engine=engine).fit(rows, labels, sample_weight=weights)
        for engine in (Serial(), Threads(1), Threads(3))
    ]
    for model in models[1:]:
        assert_array_equal(model.feature_count_, models[0].feature_count_)
        assert_array_equal(model.weights_, models[0].weights_)
    theirs = rival.MultinomialNB().fit(rows, labels, sample_weight=weights)
    assert_allclose(models[0].feature_log_prob_, theirs.feature_log_prob_, rtol=1e-10)
    rows.data[1234] = -1
    for engine in (Serial(), Threads(3)):
        with pytest.raises(DataError, match="Negative values"):
            MultinomialNB(engine=engine).fit(rows, labels)
