"""Mixtures of counts and categories."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.classify import MultinomialNB
from tacit.core import Serial, Threads
from tacit.data import Table
from tacit.measure import adjusted_rand_score
from tacit.mixture import BernoulliMixture, CategoricalMixture, MultinomialMixture

COUNTS = [MultinomialMixture, BernoulliMixture, CategoricalMixture]
every_mixture = pytest.mark.parametrize("model", COUNTS, ids=lambda each: each.__name__)


def topics(n=300, v=40, k=3, seed=0, length=30, spread=0.1):
    rng = np.random.default_rng(seed)
    words = rng.dirichlet(np.full(v, spread), size=k)
    labels = rng.integers(k, size=n)
    return np.stack([rng.multinomial(length, words[z]) for z in labels]), labels


@every_mixture
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), k=st.integers(1, 4), alpha=st.sampled_from([0.0, 0.1, 1]))
def test_the_log_posterior_never_falls(model, seed, k, alpha):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, size=(40, 6))
    weights = rng.integers(1, 4, size=40)
    for given_weights in (None, weights):
        fit = model(k, alpha=alpha, tol=0, max_iter=20, random_state=0)
        bounds = np.array(fit.fit(X, sample_weight=given_weights).lower_bounds_)
        assert (np.diff(bounds) >= -1e-9 * max(1.0, np.abs(bounds).max())).all()


def test_planted_topics_are_recovered():
    X, labels = topics()
    model = MultinomialMixture(3, random_state=0, n_init=3).fit(sp.csr_array(X))
    assert adjusted_rand_score(labels, model.predict(X)) > 0.95
    more, _ = topics(seed=0, n=400)
    assert model.perplexity(more[300:]) < 1.1 * model.perplexity(X)


def test_bernoulli_recovers_planted_rows():
    rng = np.random.default_rng(0)
    probs = np.where(rng.random((3, 30)) < 0.5, 0.9, 0.1)
    labels = rng.integers(3, size=300)
    X = (rng.random((300, 30)) < probs[labels]).astype(int)
    model = BernoulliMixture(3, random_state=0, n_init=3).fit(X)
    assert adjusted_rand_score(labels, model.predict(X)) > 0.95
    estimate = np.exp(model.log_probs_).T
    error = np.abs(estimate[:, None] - probs[None]).mean(axis=2).min(axis=1)
    assert error.max() < 0.1


def test_categories_are_recovered_with_missing_codes():
    rng = np.random.default_rng(0)
    probs = rng.dirichlet(np.full(4, 0.3), size=(3, 10))  # component, column, category
    labels = rng.integers(3, size=400)
    X = np.array([[rng.choice(4, p=probs[z, j]) for j in range(10)] for z in labels])
    X[rng.random(X.shape) < 0.1] = -1
    model = CategoricalMixture(3, random_state=0, n_init=5).fit(X)
    assert adjusted_rand_score(labels, model.predict(X)) > 0.8
    sums = np.add.reduceat(np.exp(model.log_probs_), np.arange(0, 40, 4), axis=0)
    np.testing.assert_allclose(sums, 1.0)


def test_one_component_is_the_smoothed_distribution_of_all_words():
    X, _ = topics()
    model = MultinomialMixture(1, alpha=1.0).fit(X)
    expected = (X.sum(axis=0) + 1) / (X.sum() + X.shape[1])
    np.testing.assert_allclose(np.exp(model.log_probs_[:, 0]), expected)
    nb = MultinomialNB(alpha=1.0).fit(X, np.zeros(len(X), int))
    np.testing.assert_allclose(model.log_probs_[:, 0], nb.feature_log_prob_[0])


def test_the_likelihood_of_a_document_is_that_of_its_words():
    X, _ = topics()
    model = MultinomialMixture(3, random_state=0).fit(X)
    row = X[5]
    by_hand = np.log(
        sum(
            w * np.prod(p.astype(np.longdouble) ** row)
            for w, p in zip(model.weights_, np.exp(model.log_probs_).T, strict=True)
        )
    )
    np.testing.assert_allclose(model.score_samples(X[5:6])[0], float(by_hand))


def test_keywords_are_those_of_the_component():
    X = np.array([[9, 1, 0, 5]] * 10 + [[0, 1, 9, 5]] * 10)
    model = MultinomialMixture(2, random_state=0).fit(X)
    names = ["sea", "the", "land", "of"]
    best = [words[0][0] for words in model.keywords(names, top=1)]
    assert sorted(best) == ["land", "sea"]


@pytest.mark.parametrize("model", [MultinomialMixture, BernoulliMixture])
def test_weight_two_equals_twice(model):
    X, _ = topics(120)
    twice = np.arange(len(X)) % 3 == 0
    common = {"alpha": 0.5, "random_state": 0, "tol": 1e-9, "max_iter": 200}
    heavy = model(2, **common).fit(X, sample_weight=1.0 + twice)
    long = model(2, **common).fit(np.vstack([X, X[twice]]))
    np.testing.assert_allclose(heavy.lower_bound_ * 160, long.lower_bound_ * 160, rtol=1e-6)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_any_engine_gives_the_same_bits(make):
    X, _ = topics(20_000, v=60)
    fits = [
        MultinomialMixture(3, random_state=0, max_iter=5, engine=engine).fit(make(X))
        for engine in (Serial(), Threads(1), Threads(2), Threads(4))
    ]
    for fit in fits[1:]:
        np.testing.assert_array_equal(fit.log_probs_, fits[0].log_probs_)


def test_rows_on_disk(tmp_path):
    X, labels = topics(2000)
    np.save(tmp_path / "x.npy", X)
    model = MultinomialMixture(3, n_init=8, random_state=0).fit(Table.open(tmp_path / "x.npy"))
    assert adjusted_rand_score(labels, model.predict(X)) > 0.9


@pytest.mark.parametrize("make", [np.zeros, np.ones, lambda shape: np.eye(*shape)])
def test_degenerate_rows_give_finite_answers(make):
    X = make((5, 3)).astype(int)
    for model in COUNTS:
        fit = model(2, random_state=0).fit(X)
        assert np.isfinite(fit.score_samples(X)).all()
        np.testing.assert_allclose(fit.predict_proba(X).sum(axis=1), 1.0)


def test_what_is_not_a_count_is_refused():
    with pytest.raises(ValueError, match="Negative"):
        MultinomialMixture(2).fit([[1, -1], [0, 1]])
    with pytest.raises(ValueError, match="row 1"):
        MultinomialMixture(2).fit([[1.0, 1.0], [0.0, np.nan]])
    with pytest.raises(ValueError, match="whole numbers"):
        CategoricalMixture(2).fit([[0.5, 1], [0, 1]])
    model = CategoricalMixture(2, random_state=0).fit([[0, 1], [1, 0]])
    with pytest.raises(ValueError, match="2 categories of column 0"):
        model.predict([[2, 0]])


def test_samples_come_from_the_components():
    X, _ = topics()
    model = MultinomialMixture(3, random_state=0).fit(X)
    rows, labels = model.sample(200, length=50, random_state=0)
    assert (rows.sum(axis=1) == 50).all()
    assert (model.predict(rows) == labels).mean() > 0.95
