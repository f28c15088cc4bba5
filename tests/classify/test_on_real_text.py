"""On real messages, sentences and languages: as good as scikit-learn, or better."""

import os
import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn import linear_model, naive_bayes

from tacit.classify import (
    BernoulliNB,
    ComplementNB,
    MultinomialNB,
    PassiveAggressiveClassifier,
    Perceptron,
)
from tacit.datasets import load
from tacit.measure import cross_predict
from tacit.text import CountVectorizer, TfidfTransformer

pytestmark = pytest.mark.skipif(
    not os.environ.get("TACIT_DATA"), reason="TACIT_DATA names no folder with data sets"
)


@pytest.fixture(scope="module")
def messages():
    data = load("sms_spam")
    names = np.asarray(data.target_names)[data.target]
    kept = dict(zip(data.documents, names, strict=True))  # without duplicates
    return CountVectorizer().fit_transform(list(kept)), np.array(list(kept.values()))


@pytest.mark.parametrize("cls", [MultinomialNB, BernoulliNB, ComplementNB])
def test_naive_bayes_predicts_what_scikit_learn_predicts(cls, messages):
    X, y = messages
    found = cross_predict(cls(alpha=0.1), X, y, folds=5)
    theirs = getattr(naive_bayes, cls.__name__)(alpha=0.1)
    assert_array_equal(found.predictions, cross_predict(theirs, X, y, folds=5).predictions)
    assert found.accuracy > 0.96


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (Perceptron(random_state=0, max_iter=5), linear_model.Perceptron(random_state=0)),
        (
            PassiveAggressiveClassifier(random_state=0, average=True, max_iter=8),
            "PassiveAggressiveClassifier",
        ),
    ],
    ids=["perceptron", "passive-aggressive"],
)
def test_averages_are_not_worse_than_scikit_learns_last_weights(ours, theirs, messages):
    X, y = messages
    X = TfidfTransformer(sublinear_tf=True).fit_transform(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says that it will leave
        if isinstance(theirs, str):
            theirs = getattr(linear_model, theirs)(random_state=0)
        rival = cross_predict(theirs, X, y, folds=5).accuracy
    assert cross_predict(ours, X, y, folds=5).accuracy >= rival - 0.003
