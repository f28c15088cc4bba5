"""The notes' section on word2vec: one-hot words, the eight pairs, the exact softmax."""

import numpy as np
import pytest

from tacit.datasets.worked_examples import SKIP_GRAM_SENTENCE as SENTENCE
from tacit.words import Word2Vec, WordVectors, pairs


def test_one_hot_words_are_the_square_root_of_two_apart():
    one_hot = WordVectors.one_hot(SENTENCE.split())
    distances = {one_hot.distance(a, b) for a in one_hot.words for b in one_hot.words if a != b}
    assert distances == {2**0.5}


def test_windows_of_three_words_give_eight_pairs():
    assert pairs(SENTENCE, window=3) == [
        ("cat", "the"), ("cat", "sit"), ("sit", "cat"), ("sit", "on"),
        ("on", "sit"), ("on", "the"), ("the", "on"), ("the", "mat"),
    ]  # fmt: skip


def test_the_exact_softmax_learns_the_conditional_frequencies():
    """With enough numbers per vector, Pr(word | neighbor) is what the text has."""
    sentences = [["a", "b"]] * 6 + [["a", "c"]] * 3 + [["b", "c"]]
    model = Word2Vec(
        16, window=1, min_count=1, sample=0, objective="softmax", epochs=400, alpha=0.2,
        min_alpha=0.01, random_state=0,
    ).fit(sentences)  # fmt: skip
    words = model.vectors_.words
    scores = model.vectors_.vectors @ model.output_vectors_.T
    given = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    counts = np.zeros((3, 3))
    for a, b in sentences:
        counts[words.index(a), words.index(b)] += 1
        counts[words.index(b), words.index(a)] += 1
    expected = counts / counts.sum(axis=1, keepdims=True)
    assert abs(given - expected).max() < 0.05
    assert model.losses_[-1] == pytest.approx(
        -(counts * np.log(np.maximum(expected, 1e-9))).sum() / counts.sum(), abs=0.02
    )
