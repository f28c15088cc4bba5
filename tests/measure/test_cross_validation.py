"""Every row left out once, and naive Bayes' way of doing it at once."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from tacit.classify import BernoulliNB, ComplementNB, MultinomialNB, Perceptron
from tacit.classify.left_out import left_out_scores
from tacit.data import Table
from tacit.measure import cross_predict, leave_one_out
from tacit.measure.cross_validation import fold_numbers
from tests.contract.cases import documents

X, y = documents(n=80, v=25)
MODELS = [
    MultinomialNB(),
    MultinomialNB(alpha=0.1, fit_prior=False),
    BernoulliNB(),
    BernoulliNB(alpha=0.2, class_prior=[0.2, 0.3, 0.5]),
    ComplementNB(),
    ComplementNB(alpha=0.3),
]
each = pytest.mark.parametrize("model", MODELS, ids=str)


@each
def test_leaving_a_row_out_is_fitting_without_it(model):
    _, result = left_out_scores(clone(model), X, y)
    for i in range(0, 80, 3):
        rest = np.arange(80) != i
        fitted = clone(model).fit(X[rest], y[rest])
        assert_allclose(result[i], fitted.predict_joint_log_proba(X[[i]])[0], rtol=1e-9)


@each
def test_folds_from_counts_are_folds_from_fits(model):
    numbers = fold_numbers(y, 4)
    fast = cross_predict(model, X, y, folds=4)
    slow = np.empty_like(y)
    for number in range(4):
        out = numbers == number
        slow[out] = clone(model).fit(X[~out], y[~out]).predict(X[out])
    assert_array_equal(fast.predictions, slow)
    assert not hasattr(model, "classes_")


def test_normalized_complement_weights_are_fitted_for_every_row():
    result = leave_one_out(ComplementNB(norm=True), X[:20], y[:20])
    assert len(result.predictions) == 20


def test_a_class_is_not_predicted_for_its_only_row():
    rows = np.array([[5, 0], [4, 1], [0, 9]])
    assert_array_equal(
        leave_one_out(MultinomialNB(), rows, list("aab")).predictions, list("aaa")
    )
    folds = cross_predict(MultinomialNB(), rows, list("aab"), folds=[0, 1, 2])
    assert_array_equal(folds.predictions, list("aaa"))


def test_rows_without_words_have_the_prior_of_the_others():
    rows = sp.csr_array((4, 3))
    result = leave_one_out(MultinomialNB(), rows, [0, 0, 0, 1])
    assert_array_equal(result.predictions, [0, 0, 0, 0])


@pytest.mark.parametrize("cls", [MultinomialNB, ComplementNB])
def test_without_smoothing_a_class_without_rows_is_not_predicted(cls):
    rows = np.array([[5, 0], [4, 1], [0, 9]])
    assert_array_equal(leave_one_out(cls(alpha=0), rows, list("aab")).predictions[2], "a")


def test_folds_spread_every_class_evenly():
    labels = np.repeat([0, 1, 2], [10, 20, 33])
    numbers = fold_numbers(labels, 5)
    for k, n in enumerate([10, 20, 33]):
        counts = np.bincount(numbers[labels == k], minlength=5)
        assert counts.max() - counts.min() <= 1
        assert counts.sum() == n
    assert_array_equal(numbers, fold_numbers(labels, 5))
    assert (numbers != fold_numbers(labels, 5, random_state=1)).any()


def test_any_model_and_documents_in_a_list():
    class Echo(Perceptron):
        def fit(self, X, y):
            self.seen = dict(zip(X, y, strict=True))
            return self

        def predict(self, X):
            return np.array([self.seen[x] for x in X])

    texts, labels = [f"text {i % 4}" for i in range(12)], list("abcd") * 3
    result = cross_predict(Echo(), texts, labels, folds=np.arange(12) // 4)
    assert result.accuracy == 1.0  # every text comes again in another fold
    fitted = cross_predict(Perceptron(random_state=0), X.toarray(), y, folds=3)
    assert fitted.accuracy > 0.8
    assert fitted.interval[0] < fitted.accuracy <= fitted.interval[1]
    assert len(fitted.scores) == 3
    assert_allclose(fitted.confusion().accuracy, fitted.accuracy)


def test_nonsense_is_refused():
    with pytest.raises(ValueError, match="from 2 to as many folds"):
        cross_predict(MultinomialNB(), X, y, folds=1)
    with pytest.raises(ValueError, match="all rows are in one"):
        cross_predict(MultinomialNB(), X, y, folds=np.zeros(80, int))
    with pytest.raises(ValueError, match="80 rows and 79 labels"):
        leave_one_out(MultinomialNB(), X, y[1:])
    with pytest.raises(ValueError, match=r"fit Perceptron 30,000 times"):
        leave_one_out(Perceptron(), np.zeros((30_000, 1)), np.zeros(30_000))
    table = Table.from_array(X)
    file = Table(table.blocks, table.shape, table.dtype)
    with pytest.raises(ValueError, match="in memory"):
        MultinomialNB().predict_left_out(file, y)
