"""Calibration: probabilities that come true as often as they say."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import NotFittedError

import tacit
from tacit.classify import (
    CalibratedClassifier,
    LinearSVC,
    LogisticRegression,
    MultinomialNB,
    calibrate,
)
from tacit.linear.losses import log_probabilities
from tacit.measure import log_loss
from tests.linear.test_logistic import words


def noisy(n, k, factor, seed):
    """Scores, and labels drawn with the probabilities of scores / factor."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, k)) * 3 * factor
    proportions = np.exp(log_probabilities(scores / factor))
    return scores, (rng.random(n)[:, None] > proportions.cumsum(axis=1)).sum(axis=1)


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("factor", [0.3, 1.0, 5.0])
def test_the_temperature_that_made_the_labels_is_found(factor, k):
    scores, codes = noisy(6_000, k, factor, seed=0)
    found, shift = calibrate(scores, codes)
    assert found == pytest.approx(1 / factor, rel=0.12)
    assert shift == 0


def test_platt_finds_a_shift():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=6_000) * 2
    codes = (rng.random(6_000) < 1 / (1 + np.exp(-(0.7 * scores - 1.2)))).astype(int)
    factor, shift = calibrate(scores, codes, method="platt")
    assert factor == pytest.approx(0.7, rel=0.12)
    assert shift == pytest.approx(-1.2, rel=0.12)


def test_a_weight_is_that_many_rows():
    scores, codes = noisy(400, 3, 2.0, seed=1)
    weights = np.random.default_rng(0).integers(0, 4, size=400)
    repeated = np.repeat(np.arange(400), weights)
    once = calibrate(scores, codes, weights=weights.astype(float))
    assert once == pytest.approx(calibrate(scores[repeated], codes[repeated]), rel=1e-4)


def test_separated_classes_keep_probabilities_below_one():
    scores = np.array([-3.0, -2.0, 2.0, 3.0])
    factor, _ = calibrate(scores, np.array([0, 0, 1, 1]))
    assert np.isfinite(factor)
    assert 1 / (1 + np.exp(-factor * 3)) < 1


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("method", ["temperature", "platt", "isotonic"])
def test_unseen_labels_are_likelier_than_with_raw_scores(method, k):
    X, y = words(n=1200, k=k)
    y = np.where(np.random.default_rng(0).random(1200) < 0.25, (y + 1) % k, y)
    model = CalibratedClassifier(LinearSVC(C=30.0), method=method, random_state=0)
    model.fit(X[:600], y[:600])
    p = model.predict_proba(X[600:])
    np.testing.assert_allclose(p.sum(axis=1), 1)
    raw = model.estimator_.decision_function(X[600:])
    raw = log_probabilities(raw[:, None] if raw.ndim == 1 else raw)
    unseen = np.arange(600)
    assert -np.log(p[unseen, y[600:]]).mean() <= -raw[unseen, y[600:]].mean() + 1e-3
    sure = p.max(axis=1)
    right = model.predict(X[600:]) == y[600:]
    assert abs(sure.mean() - right.mean()) < 0.06


def test_temperature_keeps_the_decisions():
    X, y = words(n=300)
    model = CalibratedClassifier(LogisticRegression(C=100.0), random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), model.estimator_.predict(X))


@pytest.mark.parametrize("method", ["temperature", "platt", "isotonic"])
def test_it_can_be_saved_and_cloned(tmp_path, method):
    X, y = words(n=200)
    model = CalibratedClassifier(LinearSVC(), method=method, random_state=0).fit(X, y)
    model.save(tmp_path / "model")
    again = tacit.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    again = clone(model).fit(X, y)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("method", ["temperature", "platt", "isotonic"])
@pytest.mark.parametrize("labels", [[0, 0, 0, 0, 0, 1], [0, 0, 0, 1, 1, 2], [0, 0, 0, 1, 2, 3]])
def test_classes_with_fewer_rows_than_folds_are_accepted(labels, method):
    model = CalibratedClassifier(LinearSVC(), method=method, random_state=0)
    p = model.fit(np.eye(6), labels).predict_proba(np.eye(6))
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert (p > 0).all()


def test_one_row_for_each_class_is_refused():
    with pytest.raises(ValueError, match="class with at least 2 rows"):
        CalibratedClassifier(LinearSVC()).fit(np.eye(3), [0, 1, 2])
    with pytest.raises(ValueError, match="needs two classes"):
        CalibratedClassifier(LinearSVC()).fit(np.eye(3), [1, 1, 1])


@pytest.mark.parametrize("method", ["temperature", "platt", "isotonic"])
@pytest.mark.parametrize("k", [2, 4])
def test_naive_bayes_is_calibrated_by_its_log_probabilities(method, k):
    X, y = words(n=1200, k=k)
    X = sp.hstack([X] * 4, format="csr")  # evidence that counts four times
    y = np.where(np.random.default_rng(0).random(1200) < 0.2, (y + 1) % k, y)
    model = CalibratedClassifier(MultinomialNB(), method=method, random_state=0)
    model.fit(X[:600], y[:600])
    raw = log_loss(y[600:], model.estimator_.predict_proba(X[600:]))
    assert log_loss(y[600:], model.predict_proba(X[600:])) < raw


def test_many_classes_with_few_rows_are_not_underconfident():
    """28 classes: targets softened by the number of classes cost a quarter of the log loss."""
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(28, 40))
    y = np.arange(3000) % 28
    X = centers[y] + rng.normal(size=(3000, 40)) * 1.2
    train, test = slice(0, 840), slice(840, None)
    model = CalibratedClassifier(LinearSVC(), random_state=0).fit(X[train], y[train])
    rival = CalibratedClassifierCV(LinearSVC(), method="temperature", cv=5, ensemble=False)
    theirs = log_loss(y[test], rival.fit(X[train], y[train]).predict_proba(X[test]))
    assert log_loss(y[test], model.predict_proba(X[test])) < 1.03 * theirs


def test_a_classifier_without_scores_is_named():
    with pytest.raises(TypeError, match="but Labels has neither"):
        CalibratedClassifier(Labels()).fit(np.eye(6), [0, 0, 0, 1, 1, 1])


class Labels(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self


def test_predict_before_fit_says_so():
    with pytest.raises(NotFittedError):
        CalibratedClassifier(LinearSVC()).predict([[1.0]])


def test_rows_and_labels_are_as_many():
    X = np.arange(40.0)[:, None]
    with pytest.raises(ValueError, match="inconsistent"):
        CalibratedClassifier(LinearSVC(), cv=2).fit(X, [0, 1] * 10)
    with pytest.raises(ValueError, match="0 rows"):
        CalibratedClassifier(LinearSVC(), cv=2).fit(X[:0], [])


def test_the_columns_of_a_frame_keep_their_names():
    pandas = pytest.importorskip("pandas")
    X = np.arange(40.0)
    frame = pandas.DataFrame({"a": X, "b": -X})
    y = np.where((X > 20) ^ (X % 7 == 0), "high", "low")
    model = CalibratedClassifier(LinearSVC(), random_state=0).fit(frame, y)
    assert list(model.feature_names_in_) == ["a", "b"]
    model.predict(frame)  # without a warning that names are missing
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["b", "a"]])
