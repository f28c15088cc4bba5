"""The notes' worked examples on linear classification, by our models."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tacit.classify import BernoulliNB, MultinomialNB
from tacit.mixture import MultivariateNormal


def test_a_parasitic_gap_that_is_reported_is_one_in_500():
    """Once in 100,000 sentences, found 95 times of 100, reported wrongly 5 times of 1000."""
    rows, labels = [[1], [0], [1], [0]], ["gap", "gap", "none", "none"]
    weights = [0.95, 0.05, 0.005, 0.995]
    model = BernoulliNB(alpha=0, class_prior=[1e-5, 1 - 1e-5])
    found = model.fit(rows, labels, sample_weight=weights).predict_proba([[1]])[0, 0]
    assert_allclose(found, 0.95 * 1e-5 / (0.95 * 1e-5 + 0.005 * (1 - 1e-5)), rtol=1e-9)
    assert found == pytest.approx(0.002, abs=2e-4)


def test_marcia_expects_to_eat_2_6_ice_creams():
    """Three if it is sunny, which has a probability of 0.8; one if it rains."""
    eaten = MultivariateNormal().fit([[3.0], [1.0]], sample_weight=[0.8, 0.2])
    assert_allclose(eaten.mean_, [2.6], rtol=1e-12)


def test_naive_bayes_believes_that_broken_lights_work():
    """Both red means broken; but each light by itself is red half of the time."""
    red = [[1, 1], [1, 0], [0, 1]]
    model = BernoulliNB(alpha=0).fit(red, ["broken", "works", "works"], sample_weight=[1, 3, 3])
    assert_allclose(np.exp(model.class_log_prior_), [1 / 7, 6 / 7])
    assert_allclose(model.predict_proba([[1, 1]]), [[0.4, 0.6]], rtol=1e-9)


def test_relative_frequencies_and_pseudo_counts():
    """phi without smoothing and with alpha added to every count."""
    counts, labels = np.array([[2, 1, 0], [1, 0, 0], [0, 3, 1]]), [0, 0, 1]
    plain = MultinomialNB(alpha=0).fit(counts, labels)
    assert_allclose(np.exp(plain.feature_log_prob_), [[3 / 4, 1 / 4, 0], [0, 3 / 4, 1 / 4]])
    smooth = MultinomialNB(alpha=0.5).fit(counts, labels)
    assert_allclose(
        np.exp(smooth.feature_log_prob_), np.array([[3.5, 1.5, 0.5], [0.5, 3.5, 1.5]]) / 5.5
    )
    flat = MultinomialNB(alpha=1e9).fit(counts, labels)
    assert_allclose(np.exp(flat.feature_log_prob_), 1 / 3, rtol=1e-6)


def test_naive_bayes_is_a_linear_classifier():
    """The weights are log phi, and log mu for the offset."""
    counts, labels = np.array([[2, 1, 0], [1, 0, 0], [0, 3, 1]]), ["a", "a", "b"]
    model = MultinomialNB().fit(counts, labels)
    theta = np.vstack([model.weights_, model.intercept_])
    scores = np.hstack([counts, np.ones((3, 1))]) @ theta
    assert_allclose(model.predict_joint_log_proba(counts), scores)
