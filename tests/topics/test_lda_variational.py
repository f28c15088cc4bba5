"""LDA by variational Bayes: agreement with scikit-learn, the bound, batch and online."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import decomposition

import tacit
from tacit.core import Serial, Threads
from tacit.data import Table
from tacit.topics import GibbsLDA, LatentDirichletAllocation
from tacit.topics.lda_variational import collect
from tests.topics.planted import aligned_cosine, planted


@pytest.fixture(scope="module")
def model():
    return LatentDirichletAllocation(5, max_iter=80, random_state=2).fit(planted()[0])


def test_planted_topics_are_recovered(model):
    assert aligned_cosine(model.topics_, planted()[1]).min() > 0.95


def test_proportions_that_are_not_normalized_add_up_to_the_tokens_and_the_prior(model):
    X = planted()[0][:20]
    plain = model.transform(X, normalize=False)
    tokens = np.asarray(X.sum(axis=1)).ravel()
    np.testing.assert_allclose(plain.sum(axis=1), tokens + model.alpha_.sum())
    np.testing.assert_allclose(
        plain / plain.sum(axis=1, keepdims=True), model.transform(X), rtol=1e-12
    )


def test_both_inferences_agree_on_held_out_documents(model):
    X, _ = planted()
    other = GibbsLDA(5, max_iter=120, random_state=0).fit(X[:500])
    new = X[500:]
    own = LatentDirichletAllocation(
        5, doc_topic_prior="auto", topic_word_prior=0.01, max_iter=80, random_state=2
    ).fit(X[:500])
    for method in ("completion", "left_to_right"):
        a, b = (
            each.held_out_likelihood(new, method=method, particles=5) for each in (own, other)
        )
        assert a == pytest.approx(b, rel=0.02)


def test_the_same_start_gives_the_topics_of_scikit_learn():
    # With alpha = 1 the posterior of a document has one optimum, whatever its start.
    X = planted()[0][:200].astype(float)
    settings = {
        "max_iter": 5, "random_state": 0, "mean_change_tol": 1e-6, "doc_topic_prior": 1.0,
        "max_doc_update_iter": 1000,
    }  # fmt: skip
    ours = LatentDirichletAllocation(5, tol=0, **settings).fit(X)
    theirs = decomposition.LatentDirichletAllocation(5, **settings).fit(X)
    np.testing.assert_allclose(ours.components_, theirs.components_, rtol=1e-2, atol=1e-2)
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), atol=1e-3)


def test_the_bound_is_that_of_the_paper():
    # scikit-learn's bound for the same topics and documents, from its own posterior.
    X = planted()[0][:50].astype(float)
    theirs = decomposition.LatentDirichletAllocation(
        3, max_iter=3, random_state=0, mean_change_tol=1e-9, max_doc_update_iter=2000
    ).fit(X)
    ours = LatentDirichletAllocation(
        3, max_iter=1, random_state=0, mean_change_tol=1e-9, max_doc_update_iter=2000
    ).fit(X)
    ours.components_ = theirs.components_
    gamma = theirs._unnormalized_transform(X)
    assert ours.bound(X) == pytest.approx(theirs._approx_bound(X, gamma, False), rel=1e-6)


def test_the_bound_never_falls_when_documents_are_inferred_to_the_end():
    model = LatentDirichletAllocation(
        3, max_iter=20, tol=0, mean_change_tol=1e-6, max_doc_update_iter=2000, random_state=0
    ).fit(planted()[0][:100])
    assert (np.diff(model.bounds_) > -1e-6 * abs(model.bounds_[0])).all()
    assert model.bound(planted()[0][:100]) == pytest.approx(100 * model.bounds_[-1], rel=1e-9)


def test_perplexity_of_new_documents_improves_with_the_true_number_of_topics():
    X = planted()[0]
    one, five = (
        LatentDirichletAllocation(k, max_iter=60, random_state=2)
        .fit(X[:500])
        .perplexity(X[500:])
        for k in (1, 5)
    )
    assert five < 0.8 * one


def test_optimized_alpha_raises_the_bound():
    X = planted()[0]
    fixed, free = (
        LatentDirichletAllocation(5, doc_topic_prior=prior, max_iter=40, tol=0, random_state=2)
        .fit(X)
        .bounds_[-1]
        for prior in (1.0, "auto")
    )
    assert free > fixed


def test_online_recovers_the_topics_too():
    X, topics = planted()
    model = LatentDirichletAllocation(
        5, learning_method="online", max_iter=20, batch_size=60, random_state=2
    ).fit(X)
    assert aligned_cosine(model.topics_, topics).min() > 0.9
    assert model.n_steps_ == 200


def test_partial_fit_goes_on_from_a_file(tmp_path):
    X = planted()[0]
    parts = [X[:200], X[200:400], X[400:]]
    straight = LatentDirichletAllocation(4, total_samples=600, random_state=0)
    for part in parts:
        straight.partial_fit(part)
    first = LatentDirichletAllocation(4, total_samples=600, random_state=0).partial_fit(
        parts[0]
    )
    first.save(tmp_path / "m.safetensors")
    second = tacit.load(tmp_path / "m.safetensors").partial_fit(parts[1]).partial_fit(parts[2])
    np.testing.assert_array_equal(second.components_, straight.components_)
    assert len(second.bounds_) == second.n_steps_ == 6


def test_weight_two_equals_twice():
    X = planted()[0][:60]
    weights = np.where(np.arange(60) < 20, 2.0, 1.0)
    weighted = LatentDirichletAllocation(3, max_iter=5, random_state=0).fit(
        X, sample_weight=weights
    )
    twice = LatentDirichletAllocation(3, max_iter=5, random_state=0).fit(
        sp.vstack([X[:20], X], format="csr")
    )
    np.testing.assert_allclose(weighted.components_, twice.components_, rtol=1e-9)


def test_engines_and_blocks_do_not_change_the_topics():
    X = planted()[0]
    table = Table.from_array(X, block_rows=100)
    fits = [
        LatentDirichletAllocation(4, max_iter=4, random_state=0, engine=engine).fit(table)
        for engine in (Serial(), Threads(2), Threads(4))
    ]
    for each in fits[1:]:
        np.testing.assert_array_equal(each.components_, fits[0].components_)


def test_expected_counts_add_up_to_the_tokens(model):
    X = planted()[0]
    stats = collect(model._params(), X)
    np.testing.assert_allclose(stats.words.sum(axis=1), X.sum(axis=0), rtol=1e-4)


def test_an_empty_document_has_the_prior():
    model = LatentDirichletAllocation(2, doc_topic_prior=[1.0, 3.0], random_state=0)
    model.fit([[1, 2], [3, 0]])
    np.testing.assert_allclose(model.transform([[0, 0]]), [[0.25, 0.75]])


@pytest.mark.parametrize("method", ["completion", "left_to_right"])
def test_tokens_that_are_scored_one_by_one_are_whole(method):
    model = LatentDirichletAllocation(2, max_iter=2, random_state=0).fit([[1.5, 2.0]])
    with pytest.raises(ValueError, match="whole counts, but row 1 has"):
        model.held_out_likelihood([[1, 2], [0.5, 1]], method=method)


def test_bad_priors_are_refused():
    with pytest.raises(ValueError, match="needs one number above 0, or 2 of them"):
        LatentDirichletAllocation(2, doc_topic_prior=[1.0, -1.0]).fit([[1, 2]])
    with pytest.raises(ValueError, match="needs documents with words"):
        LatentDirichletAllocation(2).fit([[1, 2]]).perplexity([[0, 0]])
