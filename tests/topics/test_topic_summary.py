"""Summaries, merged topics, metadata, the choice of k, and topics of text."""

import numpy as np
import pytest

import tacit
from tacit.core import ModelFileError
from tacit.topics import (
    GibbsLDA,
    LatentDirichletAllocation,
    TextTopics,
    align_topics,
    choose_topics,
    relevance,
    topics_by,
)
from tests.topics.planted import planted

SEA, LAND = "ship sea sail wave captain", "bread flour oven rye baker"
TEXTS = [f"{SEA} {SEA.split()[i % 5]}" if i % 2 else f"{LAND} {LAND.split()[i % 5]}"
         for i in range(60)]  # fmt: skip


@pytest.fixture(scope="module")
def text_model():
    lda = GibbsLDA(max_iter=60, alpha=0.1)
    return TextTopics(2, model=lda, random_state=0).fit(TEXTS)


def test_the_summary_lists_topics_by_size_with_words_and_documents(text_model):
    summary = text_model.summary(TEXTS, ids=[f"d{i}" for i in range(60)], top=5)
    assert [{word for word, _ in topic.words} for topic in summary.topics] in (
        [set(SEA.split()), set(LAND.split())], [set(LAND.split()), set(SEA.split())],
    )  # fmt: skip
    sizes = [topic.size for topic in summary.topics]
    assert sizes == sorted(sizes, reverse=True)
    assert sum(sizes) == pytest.approx(1)
    assert summary.topics[0].documents[0][0].startswith("d")
    assert len(str(summary).splitlines()) == 2
    assert summary.to_dict()["topics"][0]["words"][0]["probability"] > 0.1
    assert list(summary.to_frame().columns) == ["topic", "size", "words"]


def test_a_summary_in_html_escapes_words():
    model = GibbsLDA(1, max_iter=2, random_state=0).fit([[1, 1]])
    assert "<b>" not in model.summary(["<b>", "x"])._repr_html_()


def test_relevance_prefers_specific_words_when_the_weight_falls():
    topics = np.array([[0.5, 0.3, 0.2, 0.0], [0.5, 0.0, 0.0, 0.5]])
    sizes = np.array([0.5, 0.5])
    assert relevance(topics, sizes, 1.0)[0].argmax() == 0
    assert relevance(topics, sizes, 0.0)[0].argmax() == 1
    with pytest.raises(ValueError, match="from 0 to 1"):
        relevance(topics, sizes, 2.0)


def test_topics_over_time_are_weighted_by_length():
    theta = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
    shares = topics_by(theta, [1990, 1990, None], tokens=[30, 10, 5])
    assert shares.groups == [1990]
    np.testing.assert_allclose(shares.proportions, [[0.75, 0.25]])
    assert shares.to_dict()["tokens"] == [40.0]
    with pytest.raises(ValueError, match="Give one for each"):
        topics_by(theta, [1990])


def test_documents_by_group(text_model):
    shares = text_model.topics_by(TEXTS, ["odd" if i % 2 else "even" for i in range(60)])
    assert shares.groups == ["even", "odd"]
    assert abs(shares.proportions[0, 0] - shares.proportions[1, 0]) > 0.8
    X = text_model.counts(TEXTS)
    listed = text_model.model_.topics_by(X.toarray().tolist(), list(range(60)))
    np.testing.assert_array_equal(listed.tokens, np.ravel(X.sum(axis=1)))


@pytest.mark.parametrize("kind", [GibbsLDA, LatentDirichletAllocation])
def test_merged_topics_have_the_proportions_of_both(kind):
    X = planted()[0][:100]
    model = kind(5, max_iter=20, random_state=0).fit(X)
    merged = model.merge_topics([[1, 3]])
    assert merged.components_.shape == (4, 200)
    np.testing.assert_allclose(merged.alpha_.sum(), model.alpha_.sum())
    np.testing.assert_allclose(
        merged.components_[1], model.components_[1] + model.components_[3]
    )
    before, after = model.transform(X), merged.transform(X)
    assert np.abs(before[:, 1] + before[:, 3] - after[:, 1]).mean() < 0.1
    assert len(model.alpha_) == 5
    with pytest.raises(ValueError, match="different topics from 0 to 4"):
        model.merge_topics([[1, 9]])


def test_a_merged_model_can_be_saved(tmp_path):
    merged = (
        GibbsLDA(3, max_iter=5, random_state=0).fit(planted()[0][:50]).merge_topics([[0, 2]])
    )
    merged.save(tmp_path / "m.safetensors")
    assert tacit.load(tmp_path / "m.safetensors").topics_.shape == (2, 200)


def test_groups_that_cannot_be_merged_are_refused():
    model = GibbsLDA(3, max_iter=2, random_state=0).fit(planted()[0][:20])
    for groups in ([[]], ["ab"], [[0, 0]], [[0, 1.0]]):
        with pytest.raises(ValueError, match="different topics from 0 to 2"):
            model.merge_topics(groups)


@pytest.mark.parametrize("kind", [GibbsLDA, LatentDirichletAllocation])
def test_sizes_are_those_of_the_tokens_without_the_prior(kind):
    X = np.array([[9, 0], [0, 1]])
    model = kind(2, max_iter=30, random_state=0)
    prior = {"eta": 5.0} if kind is GibbsLDA else {"topic_word_prior": 5.0}
    model = model.set_params(**prior).fit(X)
    tokens = (model.components_ - 5.0).sum(axis=1)
    np.testing.assert_allclose(model.topic_sizes_, tokens / 10, atol=1e-9)
    merged = model.merge_topics([[0, 1]])
    np.testing.assert_allclose(merged.topic_sizes_, [1.0])


def test_words_seed_and_pin_topics_of_text_and_topics_merge(text_model):
    lda = GibbsLDA(
        max_iter=40, alpha=0.1, seed_words={1: ["bread"]}, pinned_words={0: ["sea"]}
    )
    model = TextTopics(2, model=lda, random_state=0).fit(TEXTS)
    words = model.words_.tolist()
    assert model.topics_[1, words.index("bread")] > model.topics_[0, words.index("bread")]
    assert model.topics_[1, words.index("sea")] == 0
    with pytest.raises(ValueError, match="'whale' of seed_words is not in the vocabulary"):
        TextTopics(2, model=GibbsLDA(seed_words={0: ["whale"]})).fit(TEXTS)
    merged = text_model.merge_topics([[0, 1]])
    assert merged.transform(TEXTS[:2]).shape == (2, 1)
    assert text_model.transform(TEXTS[:2]).shape == (2, 2)


def test_topics_are_aligned_one_to_one():
    topics = planted()[1]
    match, cosine = align_topics(topics, topics[[4, 2, 0, 1, 3]])
    np.testing.assert_array_equal(match, [2, 3, 1, 4, 0])
    np.testing.assert_allclose(cosine, 1)
    match, cosine = align_topics(topics, topics[:2])
    assert (match == -1).sum() == 3
    assert (cosine[match == -1] == 0).all()


def test_the_planted_number_of_topics_is_chosen():
    X, _ = planted()
    choice = choose_topics(X, [2, 5, 12], random_state=0)
    assert choice.best == 5
    assert [row["k"] for row in choice.table] == [2, 5, 12]
    assert choice.table[1]["stability"] > 0.95
    assert "held-out" in str(choice)
    assert choice.to_dict()["best"] == 5
    assert len(choice.to_frame()) == 3


def test_choices_that_cannot_be_made_are_refused():
    X = np.ones((20, 3), int)
    with pytest.raises(ValueError, match="from 1"):
        choose_topics(X, [0, 2])
    with pytest.raises(ValueError, match="at least 2"):
        choose_topics(X, [2], seeds=1)
    with pytest.raises(ValueError, match="at least 10"):
        choose_topics(X[:5], [2])


def test_text_topics_survive_a_file(text_model, tmp_path):
    path = tmp_path / "m.safetensors"
    text_model.save(path)
    loaded = tacit.load(path)
    new = ["the captain of a ship", "rye bread", ""]
    np.testing.assert_array_equal(loaded.transform(new), text_model.transform(new))
    assert loaded.held_out_likelihood(TEXTS) == text_model.held_out_likelihood(TEXTS)


@pytest.mark.parametrize(
    "change",
    [
        lambda m: setattr(m, "alpha_", m.alpha_[:1]),
        lambda m: setattr(m, "alpha_", -m.alpha_),
        lambda m: setattr(m, "components_", m.components_ * 0),
        lambda m: setattr(m, "components_", m.components_.astype(np.float32)),
    ],
)
@pytest.mark.parametrize("kind", [GibbsLDA, LatentDirichletAllocation])
def test_a_forged_file_is_refused(kind, change, tmp_path):
    model = kind(2, max_iter=2, random_state=0).fit([[1, 2, 0], [0, 1, 3]])
    change(model)
    model.save(tmp_path / "m.safetensors")
    with pytest.raises(ModelFileError):
        tacit.load(tmp_path / "m.safetensors")
