"""Semi-supervised and multi-component naive Bayes."""

import os
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from tacit.classify import MultinomialNB
from tacit.core import Serial, Threads
from tacit.datasets import load
from tacit.mixture import MultiComponentNB, SemiSupervisedNB
from tacit.text import CountVectorizer
from tests.mixture.test_counts import topics


def few_labels(y, per_class, seed=0):
    rng = np.random.default_rng(seed)
    out = np.full(len(y), -1)
    for c in np.unique(y):
        chosen = rng.permutation(np.flatnonzero(y == c))[:per_class]
        out[chosen] = c
    return out


def test_with_every_label_it_is_naive_bayes():
    X, y = topics()
    model = SemiSupervisedNB(alpha=0.5).fit(X, y)
    nb = MultinomialNB(alpha=0.5).fit(X, y)
    np.testing.assert_allclose(model.log_probs_.T, nb.feature_log_prob_)
    np.testing.assert_array_equal(model.predict(X), nb.predict(X))


def test_unlabeled_documents_help():
    X, y = topics(n=1000, v=200, k=4, length=15, spread=1.0)
    labels = few_labels(y, 2)
    known = labels >= 0
    plain = MultinomialNB().fit(X[known], labels[known])
    model = SemiSupervisedNB(unlabeled_weight=1.0).fit(X, labels)
    assert model.score(X, y) > plain.score(X, y) + 0.05


def test_unlabeled_documents_of_no_weight_change_nothing():
    X, y = topics()
    labels = few_labels(y, 3)
    known = labels >= 0
    model = SemiSupervisedNB(unlabeled_weight=0.0).fit(X, labels)
    nb = MultinomialNB(alpha=1.0).fit(X[known], labels[known])
    np.testing.assert_allclose(model.log_probs_.T, nb.feature_log_prob_)


@pytest.mark.parametrize("weight", [0.1, 0.5, 1.0])
def test_the_log_posterior_never_falls(weight):
    for seed in range(5):
        X, y = topics(seed=seed)
        model = SemiSupervisedNB(unlabeled_weight=weight, tol=0, max_iter=15)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X, few_labels(y, 2, seed))
        assert (np.diff(model.lower_bounds_) >= -1e-9).all()


def test_the_weight_is_chosen_on_held_out_labels():
    X, y = topics(n=600, v=100, k=3, length=10)
    model = SemiSupervisedNB(random_state=0).fit(X, few_labels(y, 4))
    assert model.unlabeled_weight_ in (0.0, 0.1, 0.3, 1.0)
    assert model.unlabeled_weights_[str(model.unlabeled_weight_)] == max(
        model.unlabeled_weights_.values()
    )
    single = SemiSupervisedNB(random_state=0).fit(X, few_labels(y, 1))
    assert single.unlabeled_weight_ == 1.0
    assert not hasattr(single, "unlabeled_weights_")


def test_partial_labels_restrict_the_classes():
    X, y = topics(n=400, v=100, k=4, length=8, spread=1.0)
    labels = few_labels(y, 2)
    options = [{int(c), (int(c) + 1) % 4} for c in y]
    free = SemiSupervisedNB(unlabeled_weight=1.0).fit(X, labels)
    hinted = SemiSupervisedNB(unlabeled_weight=1.0).fit(X, labels, partial_labels=options)
    assert hinted.score(X, y) > free.score(X, y)
    first_unknown = np.where(np.arange(400) == 0, -1, y)
    with pytest.raises(ValueError, match="row 0"):
        SemiSupervisedNB().fit(X, first_unknown, partial_labels=[{9}] * 400)


@pytest.mark.parametrize("unknown", [None, float("nan")])
def test_unknown_labels_of_strings(unknown):
    X = sp.csr_array([[3, 0, 0], [2, 1, 0], [0, 0, 4], [0, 1, 3]])
    model = SemiSupervisedNB(unlabeled_weight=1.0).fit(X, ["a", unknown, "b", unknown])
    assert model.predict(X).tolist() == ["a", "a", "b", "b"]


def test_labels_that_cannot_be_used_are_refused():
    X = np.ones((3, 2))
    with pytest.raises(ValueError, match="all are unknown"):
        SemiSupervisedNB().fit(X, [-1, -1, -1])
    with pytest.raises(TypeError, match="some labels are strings"):
        SemiSupervisedNB().fit(X, ["a", 1, None])
    with pytest.raises(ValueError, match="2 labels for 3 rows"):
        SemiSupervisedNB().fit(X, [0, 1])


def test_any_engine_gives_the_same_bits():
    X, y = topics(20_000, v=60)
    labels = few_labels(y, 20)
    fits = [
        SemiSupervisedNB(unlabeled_weight=0.5, engine=engine).fit(sp.csr_array(X), labels)
        for engine in (Serial(), Threads(1), Threads(2), Threads(4))
    ]
    for fit in fits[1:]:
        np.testing.assert_array_equal(fit.log_probs_, fits[0].log_probs_)


# --- Several components per class ---


def exclusive_or(n=400, seed=0):
    """Two classes that no single word tells apart: words co-occur differently."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    side = rng.integers(2, size=n)
    words = np.array([[[0, 2], [1, 3]], [[0, 3], [1, 2]]])  # class, side, words
    X = np.zeros((n, 4), int)
    for i in range(n):
        for word in words[y[i], side[i]]:
            X[i, word] += 5
    return X, y


def test_components_find_what_naive_bayes_cannot():
    X, y = exclusive_or()
    assert MultinomialNB().fit(X, y).score(X, y) < 0.65
    model = MultiComponentNB(2, alpha=0.1, n_init=3, random_state=0).fit(X, y)
    assert model.score(X, y) == 1.0
    assert (np.diff(model.lower_bounds_) >= -1e-9).all()


def test_the_number_of_components_is_chosen_by_class():
    X, y = exclusive_or()
    X[y == 0] = [5, 0, 5, 0]  # one way to be class 0, two ways to be class 1
    model = MultiComponentNB("auto", alpha=0.1, random_state=0).fit(X, y)
    sizes = np.bincount(model.component_classes_)
    assert sizes[0] == 1
    assert sizes[1] == 2


def test_the_number_of_components_may_be_given_by_class():
    X, y = exclusive_or()
    model = MultiComponentNB({0: 1, 1: 3}, random_state=0).fit(X, y)
    assert np.bincount(model.component_classes_).tolist() == [1, 3]
    for wrong in ({7: 2}, {0: 1.5}, {0: 0}):
        with pytest.raises(ValueError, match="classes that occur"):
            MultiComponentNB(wrong).fit(X, y)


def test_one_component_per_class_is_naive_bayes():
    X, y = topics()
    model = MultiComponentNB(1, alpha=1.0).fit(X, y)
    np.testing.assert_allclose(model.log_probs_.T, MultinomialNB().fit(X, y).feature_log_prob_)


# --- Real text ---


@pytest.mark.slow
def test_newsgroups_with_few_labels():
    if "TACIT_DATA" not in os.environ:
        pytest.skip("TACIT_DATA does not name the folder of the data sets")
    posts = load("newsgroups", part="train")
    X = CountVectorizer(min_df=5, stop_words="english").fit_transform(posts.documents[:4000])
    y = np.asarray(posts.target)[:4000]
    labels = few_labels(y, 5)
    known = labels >= 0
    plain = MultinomialNB(alpha=0.1).fit(X[known], labels[known]).score(X[~known], y[~known])
    model = SemiSupervisedNB(alpha=0.1, unlabeled_weight=0.3).fit(X, labels)
    assert model.score(X[~known], y[~known]) > plain + 0.05
