"""The notes' numeric example of LDA: the probabilities 0.08 and 0.048 of two words."""

import numpy as np

from tacit.datasets.worked_examples import STORY_PROPORTIONS as THETA
from tacit.datasets.worked_examples import STORY_TOPICS as BETA
from tacit.topics import GibbsLDA


def story_model():
    model = GibbsLDA(4)
    model.components_, model.alpha_ = BETA, np.full(4, 2.0)
    model.n_features_in_, model.eta_ = 10, 1.0
    return model


def test_the_notes_words_have_the_notes_probabilities():
    topics = story_model().topics_
    assert round(topics[1, 4], 3) == 0.08  # token 5 of topic 2
    assert round(topics[0, 8], 3) == 0.048  # token 9 of topic 1


def test_documents_drawn_from_the_story_have_its_frequencies():
    words, topics, theta = story_model().sample(3, 20_000, theta=THETA, random_state=0)
    assert words.shape == topics.shape == (3, 20_000)
    for d in range(3):
        share = np.bincount(topics[d], minlength=4) / 20_000
        np.testing.assert_allclose(share, THETA[d] / THETA[d].sum(), atol=0.015)
    second = words[topics == 1]
    assert abs((second == 4).mean() - 0.08) < 0.01
    first = words[topics == 0]
    assert abs((first == 8).mean() - 0.048) < 0.01
    np.testing.assert_array_equal(theta, THETA)


def test_without_proportions_they_are_drawn_from_alpha():
    _, _, theta = story_model().sample(4000, 2, random_state=1)
    np.testing.assert_allclose(theta.mean(axis=0), 0.25, atol=0.02)
