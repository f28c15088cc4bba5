"""LDA by Gibbs sampling: what it recovers, that its counts are exact, and what it refuses."""

from math import lgamma

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.core import Checkpoint, Serial, Threads
from tacit.core.sweep import run_pass, sweep
from tacit.topics import GibbsLDA, gibbs_sampler
from tacit.topics.gibbs_sampler import GibbsSampler, Priors, arrange
from tests.topics.planted import aligned_cosine, planted


@pytest.fixture(scope="module")
def model():
    return GibbsLDA(5, max_iter=150, random_state=0).fit(planted()[0])


def sampler_of(X, k, **changes):
    X = sp.csr_array(X)
    options = {
        "burn_in": 0, "sample_every": 1, "optimize_alpha": True, "optimize_eta": True,
        **changes,
    }  # fmt: skip
    padded = -(-k // 16) * 16
    rows = np.zeros((1, padded))
    rows[0, :k] = 0.1
    priors = Priors(np.zeros(X.shape[1], np.int32), rows)
    return GibbsSampler(arrange(X), k, priors, 0, **options)


def recount(sampler, state):
    """Counts of words and documents from the topics of the tokens alone."""
    tokens = sampler.tokens
    words = np.zeros_like(state.words)
    for word, first, last in tokens.cells:
        np.add.at(words[word], state.topics[first:last], 1)
    documents = np.zeros((len(tokens.lengths), state.words.shape[1]), np.int64)
    np.add.at(documents, (tokens.documents, state.topics), 1)
    return words, documents


def test_planted_topics_are_recovered(model):
    assert aligned_cosine(model.topics_, planted()[1]).min() > 0.95


def test_the_loss_falls_and_samples_are_averaged(model):
    assert model.losses_[-1] < model.losses_[0] - 0.3
    assert model.n_samples_ == 8  # passes 75, 85, ..., 145
    tokens = planted()[0].sum()
    assert model.components_.sum() == pytest.approx(tokens + 5 * 200 * model.eta_)


def test_asymmetric_alpha_finds_the_frequent_topics():
    rng = np.random.default_rng(1)
    topics = rng.dirichlet(np.full(100, 0.05), size=3)
    theta = rng.dirichlet([1.0, 0.2, 0.05], size=800)
    X = np.stack([rng.multinomial(50, each @ topics) for each in theta])
    found = GibbsLDA(3, max_iter=150, eta="auto", random_state=0).fit(X)
    assert np.sort(found.alpha_) == pytest.approx([0.05, 0.2, 1.0], rel=0.5)
    assert 0.01 < found.eta_ < 0.1  # drawn with 0.05


@pytest.mark.parametrize("k", [3, 20, 600])
def test_counts_stay_those_of_the_topics(k, monkeypatch):
    monkeypatch.setattr(gibbs_sampler, "FEWEST", 1000)  # several blocks
    sampler = sampler_of(planted()[0][:100], k)
    state = sampler.start(np.full(k, 0.1), 0.1)
    assert sampler.tokens.groups == 4
    assert bool(len(state.starts)) == (k > gibbs_sampler.DENSE)
    state = sweep(sampler, state, Serial(), max_iter=4).state
    words, documents = recount(sampler, state)
    np.testing.assert_array_equal(state.words, words)
    np.testing.assert_array_equal(state.totals, words.sum(axis=0)[:k])
    if not len(state.starts):
        np.testing.assert_array_equal(state.documents, documents)
        return
    for d, (start, size) in enumerate(zip(state.starts[:-1], state.sizes, strict=True)):
        entries = state.documents[start : start + size]
        row = np.zeros(documents.shape[1], np.int64)
        row[entries >> 16] = entries & 0xFFFF
        np.testing.assert_array_equal(row, documents[d])


@pytest.mark.parametrize("k", [4, 600])
def test_any_number_of_threads_gives_the_same_bits(k, monkeypatch):
    monkeypatch.setattr(gibbs_sampler, "FEWEST", 1000)
    X = planted()[0][:200]
    fits = [
        GibbsLDA(k, max_iter=6, random_state=3, engine=engine).fit(X)
        for engine in (Serial(), Threads(1), Threads(2), Threads(4))
    ]
    for each in fits[1:]:
        np.testing.assert_array_equal(each.components_, fits[0].components_)
        assert each.losses_ == fits[0].losses_


def test_lists_and_counts_draw_from_the_same_distribution(monkeypatch):
    X = planted()[0]
    dense = GibbsLDA(5, max_iter=120, alpha=0.2, random_state=0).fit(X)
    monkeypatch.setattr(gibbs_sampler, "DENSE", 1)
    lists = GibbsLDA(5, max_iter=120, alpha=0.2, random_state=0).fit(X)
    assert aligned_cosine(dense.topics_, lists.topics_).min() > 0.98
    assert lists.losses_[-1] == pytest.approx(dense.losses_[-1], abs=0.01)


def test_the_chain_visits_states_as_often_as_their_probability_says():
    # Two documents of one and two tokens, two topics: few enough states to sum over.
    X = np.array([[1, 0], [1, 1]])
    alpha, eta, k = np.array([0.5, 1.5]), 0.3, 2
    sampler = sampler_of(X, k, optimize_alpha=False, optimize_eta=False)
    state = sampler.start(alpha, eta)
    owner = sampler.tokens.order[sampler.tokens.documents]
    word = np.empty(3, int)
    for w, first, last in sampler.tokens.cells:
        word[first:last] = w

    def log_joint(z):
        total = 0.0
        for d in range(2):
            for j in range(k):
                total += lgamma(alpha[j] + ((owner == d) & (z == j)).sum())
        for j in range(k):
            for w in range(2):
                total += lgamma(eta + ((word == w) & (z == j)).sum())
            total -= lgamma(2 * eta + (z == j).sum())
        return total

    states = [np.array([a, b, c]) for a in (0, 1) for b in (0, 1) for c in (0, 1)]
    expected = np.exp([log_joint(z) for z in states])
    expected /= expected.sum()
    visits = np.zeros(8)
    passes = 6_000
    for number in range(passes):
        run_pass(sampler, state, Serial(), number)
        visits[state.topics @ [4, 2, 1]] += 1
    np.testing.assert_allclose(visits / passes, expected, atol=0.025)


def test_assignments_on_disk_give_the_same_bits(tmp_path):
    X = planted()[0][:100]
    memory, disk = (
        GibbsLDA(3, max_iter=10, random_state=0, assignments=folder).fit(X)
        for folder in (None, str(tmp_path))
    )
    np.testing.assert_array_equal(memory.components_, disk.components_)
    assert list(tmp_path.iterdir()) == []


def test_assignments_are_those_of_the_documents(model):
    X, _ = planted()
    found = model.assignments_
    counts = sp.coo_array((np.ones(len(found.words)), (found.documents, found.words)), X.shape)
    assert (counts.tocsr() != X).nnz == 0
    assert found.topics.max() < 5


def test_an_interrupted_fit_resumes_with_the_same_bits(tmp_path):
    class Stop:
        def on_step(self, step):
            return step.number == 6

    X = planted()[0][:100]
    path = tmp_path / "fit.checkpoint"
    whole = GibbsLDA(3, max_iter=20, random_state=0).fit(X)
    GibbsLDA(3, max_iter=20, random_state=0, callbacks=[Checkpoint(path, every=0), Stop()]).fit(
        X
    )
    again = GibbsLDA(3, max_iter=20, random_state=0, callbacks=[Checkpoint(path, every=0)])
    np.testing.assert_array_equal(again.fit(X).components_, whole.components_)


def test_seed_words_name_the_topic():
    X, topics = planted()
    seeds = {0: np.argsort(-topics[3])[:4].tolist()}
    found = GibbsLDA(5, max_iter=60, seed_words=seeds, seed_weight=50, random_state=1).fit(X)
    assert np.argmax(topics @ found.topics_[0]) == 3


def test_pinned_words_stay_in_their_topic():
    X, _ = planted()
    found = GibbsLDA(5, max_iter=20, pinned_words={2: [7, 8]}, random_state=1).fit(X)
    assert (found.topics_[[0, 1, 3, 4]][:, [7, 8]] == 0).all()
    assert (found.topics_[2, [7, 8]] > 0).all()


def test_a_model_file_keeps_the_topics(model, tmp_path):
    model.save(tmp_path / "m.safetensors")
    loaded = tacit.load(tmp_path / "m.safetensors")
    X = planted()[0][:20]
    np.testing.assert_array_equal(loaded.transform(X), model.transform(X))
    with pytest.raises(AttributeError, match="not saved"):
        _ = loaded.assignments_


@pytest.mark.parametrize(
    ("options", "X", "message"),
    [
        ({}, [[0.5, 1.0]], "whole counts, but row 0 has 0.5 in column 0"),
        ({}, [[0, 0]], "at least one token"),
        ({}, [[-1, 2]], "Negative values"),
        ({}, [[np.nan, 2]], "NaN"),
        ({"burn_in": 9, "max_iter": 9}, [[1, 2]], "Lower burn_in"),
        ({"alpha": [0.1, 0.2, 0.3]}, [[1, 2]], "needs one number above 0, or 2 of them"),
        ({"seed_words": {5: [0]}}, [[1, 2]], "names topic 5"),
        ({"pinned_words": {0: [9]}}, [[1, 2]], "columns from 0 to 1"),
        ({"assignments": "/no/such/folder"}, [[1, 2]], "needs a folder that exists"),
    ],
)
def test_bad_input_is_refused(options, X, message):
    with pytest.raises(ValueError, match=message):
        GibbsLDA(2, **options).fit(np.array(X))


@settings(max_examples=25, deadline=None)
@given(
    X=st.lists(
        st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=1, max_size=6
    ).filter(lambda rows: any(map(any, rows))),
    k=st.integers(1, 5),
)
def test_any_counts_give_probabilities(X, k):
    X = np.array(X)
    found = GibbsLDA(k, max_iter=3, random_state=0).fit(X)
    np.testing.assert_allclose(found.topics_.sum(axis=1), 1)
    theta = found.transform(X)
    np.testing.assert_allclose(theta.sum(axis=1), 1)
    assert (theta > 0).all()
    assert found.components_.sum() == pytest.approx(X.sum() + k * 4 * 0.01)
