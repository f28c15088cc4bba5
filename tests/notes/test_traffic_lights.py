"""Two lights that depend on each other: what naive Bayes gets wrong, and a mixture does not."""

import numpy as np

from tacit.classify import MultinomialNB
from tacit.datasets.worked_examples import BIASED_LIGHTS as DAYS
from tacit.mixture import MultiComponentNB

STATES = ["broken"] + ["works"] * 6
BOTH_RED = [[1, 0, 1, 0]]


def test_naive_bayes_gives_four_against_six():
    """1/7 x 1 x 1 = 4/28 for broken against 6/7 x 1/2 x 1/2 = 6/28: 60% for working."""
    model = MultinomialNB(alpha=1e-9).fit(DAYS, STATES)
    # A row has two words, one for each light: a light's probability is twice its word's.
    joint = np.exp(model.class_log_prior_) * np.prod(
        2 * np.exp(model.feature_log_prob_[:, [0, 2]]), axis=1
    )
    np.testing.assert_allclose(joint * 28, [4, 6], rtol=1e-6)
    np.testing.assert_allclose(model.predict_proba(BOTH_RED), [[0.4, 0.6]], rtol=1e-6)


def test_two_components_for_working_lights_see_that_they_are_broken():
    model = MultiComponentNB({"works": 2}, alpha=1e-3, n_init=5, random_state=0)
    model.fit(DAYS, STATES)
    assert model.predict(BOTH_RED)[0] == "broken"
    assert model.predict_proba(BOTH_RED)[0, 0] > 0.99
