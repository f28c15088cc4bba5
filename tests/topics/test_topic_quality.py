"""Coherence, diversity and exclusivity, by hand and against gensim."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.topics import coherence, diversity, exclusivity, top_words

TEXTS = [
    text.split()
    for text in (
        "sea ship sail wave sea", "ship sail wind", "bread oven flour", "flour bread rye oven",
        "sea wind sail bread", "rye flour oven", "ship sea wave wind sail",
    )
]  # fmt: skip
WORDS = sorted({word for text in TEXTS for word in text})
COUNTS = np.array([[text.count(word) for word in WORDS] for text in TEXTS])
TOPICS = [["sea", "ship", "sail"], ["bread", "flour", "oven"], ["sea", "flour", "wind"]]


def test_npmi_by_hand():
    # sea and ship occur in 3 of 7 documents each, together in 2.
    value = coherence([["sea", "ship"]], COUNTS, words=WORDS)[0]
    both, sea, ship = 2 / 7, 3 / 7, 3 / 7
    assert value == pytest.approx(np.log(both / (sea * ship)) / -np.log(both))


def test_u_mass_by_hand():
    value = coherence([["sea", "ship"]], COUNTS, measure="u_mass", words=WORDS)[0]
    assert value == pytest.approx(np.log((2 + 1) / 3))


@pytest.mark.parametrize(("ours", "theirs"), [("npmi", "c_npmi"), ("c_v", "c_v")])
@pytest.mark.parametrize("window", [2, 3, 50])
def test_windows_agree_with_gensim(ours, theirs, window):
    gensim = pytest.importorskip("gensim")
    from gensim.models import CoherenceModel

    model = CoherenceModel(
        topics=TOPICS, texts=TEXTS, dictionary=gensim.corpora.Dictionary(TEXTS),
        coherence=theirs, window_size=window, processes=1,
    )  # fmt: skip
    expected = model.get_coherence_per_topic()
    found = coherence(TOPICS, TEXTS, measure=ours, window=window)
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_a_matrix_and_whole_documents_agree():
    by_matrix = coherence(TOPICS, COUNTS, words=WORDS)
    np.testing.assert_allclose(by_matrix, coherence(TOPICS, TEXTS, window=99))


def test_coherent_topics_score_higher():
    for measure in ("npmi", "u_mass", "c_v"):
        sea, bread, mixed = coherence(TOPICS, COUNTS, measure=measure, words=WORDS)
        assert min(sea, bread) > mixed


def test_a_word_that_the_reference_does_not_have_says_nothing():
    whole, absent = coherence([["sea", "ship"], ["sea", "unseen"]], TEXTS, window=99)
    assert whole > 0.1
    assert absent == 0


def test_diversity_and_exclusivity():
    topics = np.array([[0.6, 0.4, 0.0], [0.0, 0.5, 0.5]])
    assert diversity(topics, top=2) == 0.75
    np.testing.assert_allclose(exclusivity(topics, top=1), [1.0, 0.5 / 0.9])
    np.testing.assert_array_equal(top_words(topics, 1)[:, 0], [0, 1])


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from("abcd"), max_size=12), min_size=1, max_size=6).filter(
        any
    ),
    st.integers(1, 8),
)
def test_window_counts_are_those_of_a_slow_loop(texts, size):
    from tacit.topics.topic_quality import by_window

    found, total = by_window(list("abcd"), texts, size)
    windows = [
        set(text[i : i + size]) for text in texts if text
        for i in range(max(1, len(text) - size + 1))
    ]  # fmt: skip
    assert total == len(windows)
    for i, a in enumerate("abcd"):
        for j, b in enumerate("abcd"):
            assert found[i, j] == sum(a in window and b in window for window in windows)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_npmi_and_cosines_stay_in_their_range(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (9, 6))
    lists = [rng.permutation(6)[:3].tolist() for _ in range(2)]
    for measure in ("npmi", "c_v"):
        values = coherence(lists, X, measure=measure)
        assert ((values >= -1) & (values <= 1 + 1e-9)).all()


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="unknown"):
        coherence(TOPICS, COUNTS, measure="c_p")
    with pytest.raises(ValueError, match="the reference has 3"):
        coherence([[0, 7]], np.ones((2, 3)))
    with pytest.raises(ValueError, match="top=2 or more"):
        coherence(TOPICS, COUNTS, top=1)
    with pytest.raises(ValueError, match="none"):
        coherence(TOPICS, [])
    with pytest.raises(TypeError, match="token lists"):
        coherence(TOPICS, ["sea ship"])
