"""Steps of every objective against finite differences of its loss, computed in float64."""

import numpy as np
import pytest

from tacit.core.randoms import bits, key
from tacit.words.skip_gram import (
    SET,
    Steps,
    Weights,
    draw_word,
    logistic,
    noise_tables,
    update_pairs,
)
from tacit.words.windows import (
    HIERARCHICAL,
    NEGATIVE,
    SOFTMAX,
    huffman_paths,
    update_windows,
)
from tacit.words.word2vec import NO_PATHS

V, D = 12, 16
LANES = (0,)
OWN = key(3, 1)
RATE = np.float32(1e-3)
ALL_WORDS = np.zeros(V, np.uint8)
NOISE = noise_tables(np.arange(1.0, V + 1), ALL_WORDS, 1)


def weights(rows=V, seed=0):
    rng = np.random.default_rng(seed)
    draw = [rng.normal(size=(n, D)).astype(np.float32) * 0.6 for n in (V, rows)]
    return Weights(*draw)


def log_s(x):
    return -np.logaddexp(0, -x)


def numeric_gradient(loss, *arrays, h=1e-5):
    gradients = []
    for array in arrays:
        gradient = np.zeros_like(array)
        for at in np.ndindex(array.shape):
            before = array[at]
            array[at] = before + h
            high = loss(*arrays)
            array[at] = before - h
            gradient[at] = (high - loss(*arrays)) / (2 * h)
            array[at] = before
        gradients.append(gradient)
    return gradients


def check_step(state, loss, step):
    """A step of the kernel is the negative gradient times the rate; its loss is the loss."""
    before = Weights(*(each.astype(np.float64) for each in state))
    gradients = numeric_gradient(loss, *before)
    measured = step()
    for new, old, gradient in zip(state, before, gradients, strict=True):
        np.testing.assert_allclose((new - old) / RATE, -gradient, atol=2e-3)
    assert measured[1] == pytest.approx(loss(*before), rel=1e-5)


def drawn(number, negative):
    return [draw_word(NOISE, 0, np.uint64(bits(OWN, number + q))) for q in range(negative)]


@pytest.mark.parametrize("negative", [1, 3, 5])
@pytest.mark.parametrize("n", [1, 3, 4])
def test_skip_gram_with_negative_sampling_steps_along_its_gradient(negative, n):
    state = weights()
    centers, contexts = np.arange(n, dtype=np.int32), np.arange(n, dtype=np.int32)[::-1] + 5
    contexts = np.ascontiguousarray(contexts)
    words = drawn(0, SET)[:negative]

    def loss(inputs, outputs):
        total = 0.0
        for o, x in zip(centers, contexts, strict=True):
            total -= log_s(outputs[o] @ inputs[x])
            total -= sum(log_s(-outputs[w] @ inputs[x]) for w in words if w != o)
        return total

    def step():
        measured = np.zeros(2)
        steps = Steps(NOISE, negative, RATE, OWN, 1)
        update_pairs(state, centers, contexts, 0, steps, measured, LANES)
        assert measured[0] == n
        return measured

    check_step(state, loss, step)


def test_many_negative_samples_are_taken_in_sets():
    state = weights(seed=1)
    center, context = np.array([2], np.int32), np.array([7], np.int32)
    words = [*drawn(0, SET), *drawn(SET, SET), *drawn(2 * SET, SET)][:12]
    expected = Weights(*(each.astype(np.float64) for each in state))
    measured = np.zeros(2)
    steps = Steps(NOISE, 12, np.float32(1e-6), OWN, 1)
    update_pairs(state, center, context, 0, steps, measured, LANES)
    total = -log_s(expected.outputs[2] @ expected.inputs[7])
    total -= sum(log_s(-expected.outputs[w] @ expected.inputs[7]) for w in words if w != 2)
    assert measured[1] == pytest.approx(total, rel=1e-4)


def negative_loss(inputs_of, words):
    def loss(inputs, outputs):
        h = inputs_of(inputs)
        center, *others = words
        rest = sum(log_s(-outputs[w] @ h) for w in others if w != center)
        return -log_s(outputs[center] @ h) - rest

    return loss


def path_loss(inputs_of, paths, center):
    first, last = paths.edges[center], paths.edges[center + 1]

    def loss(inputs, outputs):
        h = inputs_of(inputs)
        signs = 1.0 - 2.0 * paths.codes[first:last]
        return -log_s(signs * (outputs[paths.nodes[first:last]] @ h)).sum()

    return loss


def softmax_loss(inputs_of, center):
    def loss(inputs, outputs):
        scores = outputs @ inputs_of(inputs)
        return np.logaddexp.reduce(scores) - scores[center]

    return loss


@pytest.mark.parametrize("cbow", [False, True])
@pytest.mark.parametrize("objective", [NEGATIVE, HIERARCHICAL, SOFTMAX])
def test_a_window_steps_along_the_gradient_of_its_objective(cbow, objective):
    # The text "3 5 8" and the window of its first word only: skip-gram takes the neighbor 5,
    # CBOW the mean of 5 and 8.
    paths = huffman_paths(np.arange(V, 0, -1)) if objective == HIERARCHICAL else NO_PATHS
    state = weights(V - 1 if objective == HIERARCHICAL else V, seed=2)
    kept, reach = np.array([3, 5, 8], np.int32), np.array([2 if cbow else 1] * 3, np.int32)
    ends = np.full(3, 3, np.int32)

    def inputs_of(inputs):
        return (inputs[5] + inputs[8]) / 2 if cbow else inputs[5]

    if objective == NEGATIVE:
        loss = negative_loss(inputs_of, [3, *drawn(0, 4)])
    elif objective == HIERARCHICAL:
        loss = path_loss(inputs_of, paths, 3)
    else:
        loss = softmax_loss(inputs_of, 3)

    def step():
        measured = np.zeros(2)
        steps = Steps(NOISE, 4, RATE, OWN, 1)
        update_windows(
            state, (kept, reach, ends), (0, 1), cbow, objective, paths, steps, measured, LANES
        )
        return measured

    check_step(state, loss, step)


def test_the_logistic_function_is_within_its_bound():
    x = np.linspace(-11.9, 11.9, 2001).astype(np.float32)
    exact = 1 / (1 + np.exp(-x.astype(np.float64)))
    assert abs(np.array([logistic(each) for each in x]) - exact).max() < 3e-6


def test_the_probabilities_of_the_leaves_of_a_tree_sum_to_one():
    paths = huffman_paths(np.array([40, 9, 9, 5, 2, 1, 1]))
    scores = np.random.default_rng(0).normal(size=6)
    total = 0.0
    for word in range(7):
        part = slice(paths.edges[word], paths.edges[word + 1])
        signs = 1.0 - 2.0 * paths.codes[part]
        total += np.exp(log_s(signs * scores[paths.nodes[part]]).sum())
    assert total == pytest.approx(1.0)
