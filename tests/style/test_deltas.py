"""Burrows's Delta and its family, against their formulas."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tacit.style import delta

ROWS = np.random.default_rng(0).uniform(0.5, 4.0, (6, 5))


def scored(rows):
    return (rows - rows.mean(axis=0)) / rows.std(axis=0, ddof=1)


def test_burrows_is_the_mean_difference_of_z_scores():
    z = scored(ROWS)
    expected = np.abs(z[:, None] - z[None]).mean(axis=2)
    np.testing.assert_allclose(delta(ROWS), expected, rtol=1e-12)


def test_eder_weights_words_by_rank_as_stylo_does():
    z = scored(ROWS) * np.array([6, 5, 4, 3, 2]) / 5
    expected = np.abs(z[:, None] - z[None]).mean(axis=2)
    np.testing.assert_allclose(delta(ROWS, variant="eder"), expected, rtol=1e-12)


def test_quadratic_is_the_root_mean_square():
    z = scored(ROWS)
    expected = np.sqrt(((z[:, None] - z[None]) ** 2).mean(axis=2))
    np.testing.assert_allclose(delta(ROWS, variant="quadratic"), expected, atol=1e-12)


def test_cosine_is_one_minus_the_cosine_of_z_scores():
    z = scored(ROWS)
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    np.testing.assert_allclose(delta(ROWS, variant="cosine"), 1 - z @ z.T, atol=1e-12)


def test_other_texts_are_scaled_as_the_first():
    found = delta(ROWS, ROWS[:2])
    np.testing.assert_allclose(found, delta(ROWS)[:, :2], rtol=1e-12)
    z = scored(ROWS)
    np.testing.assert_allclose(delta(z, z[:2], scale=False), found, rtol=1e-12)


@pytest.mark.parametrize("variant", ["burrows", "eder", "cosine", "quadratic"])
def test_a_word_whose_frequency_never_varies_says_nothing(variant):
    wide = np.column_stack([ROWS, np.full(len(ROWS), 0.1)])
    found = delta(wide, variant=variant)
    assert np.isfinite(found).all()
    assert np.isfinite(delta(np.ones((3, 2)), variant=variant)).all()
    assert np.isfinite(delta(ROWS[:1], variant=variant)).all()


@given(arrays(float, (4, 3), elements=st.floats(0, 10)), st.sampled_from(["burrows", "cosine"]))
def test_delta_is_symmetric_and_finite(rows, variant):
    found = delta(rows, variant=variant)
    assert np.isfinite(found).all()
    assert (found >= 0).all()
    np.testing.assert_allclose(found, found.T, atol=1e-9)


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="choose from"):
        delta(ROWS, variant="manhattan")
    with pytest.raises(ValueError, match="same words"):
        delta(ROWS, ROWS[:, :2])
    with pytest.raises(ValueError, match="NaN"):
        delta([[1.0, np.nan], [1.0, 2.0]])
