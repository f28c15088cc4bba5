"""What the notes say of hand-set weights and of logistic regression."""

import numpy as np
import pytest

from tacit.classify import LexiconClassifier, LogisticRegression
from tacit.plot.curve_picture import hinge, logistic


def test_dictionaries_as_weights_tell_english_from_spanish():
    lists = {"english": ["bicycle", "con"], "spanish": ["bicicleta", "con"]}
    model = LexiconClassifier(lists, negators=None, intensifiers=None).fit()
    words = ["bicycle", "bicicleta", "con", "ordinateur"]
    scores = [[weights.get(word, 0.0) for weights in model.entries_] for word in words]
    assert scores == [[1, 0], [0, 1], [1, 1], [0, 0]]
    assert list(model.predict(["my bicycle", "mi bicicleta"])) == ["english", "spanish"]


def test_the_slope_is_expected_less_observed_counts():
    # At the optimum of the unpenalized model they are equal, feature by feature.
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, size=(200, 3)).astype(float)
    y = rng.integers(3, size=200)
    model = LogisticRegression(C=np.inf, tol=1e-10).fit(X, y)
    expected = X.T @ model.predict_proba(X)
    observed = X.T @ np.eye(3)[y]
    np.testing.assert_allclose(expected, observed, atol=1e-6)


def test_two_class_loss_in_the_notes_form():
    # -(y s - log(1 + exp s)) for y in {0, 1} is the loss of the margin.
    for s in (-2.0, 0.0, 0.7):
        for y in (0, 1):
            margin = s if y else -s
            notes = -(y * s - np.log(1 + np.exp(s)))
            assert logistic(margin, base=np.e) == pytest.approx(notes)
    assert hinge(1.0) == 0
    assert hinge(0.25) == 0.75
