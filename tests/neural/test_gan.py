"""Generative adversarial networks: the game, its gradients, and the diagnosis of collapse."""

import numpy as np
import pytest
from sklearn.base import clone

import tacit
from tacit.core import DataError, ModelFileError
from tacit.neural import GAN, diagnose
from tacit.neural.diagnosis import frechet_distance, mode_coverage, two_sample_accuracy
from tacit.neural.gan import GANNetwork
from tacit.neural.layers import jax
from tests.neural.test_autoencoder import forge

ANGLES = 2 * np.pi * np.arange(8) / 8
CENTERS = 2 * np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=1)


def ring(n, seed=0):
    """Rows around eight centers on a circle, as they are usually drawn for this."""
    rng = np.random.default_rng(seed)
    return CENTERS[rng.integers(8, size=n)] + 0.1 * rng.normal(size=(n, 2))


@pytest.fixture(scope="module")
def fitted():
    return GAN(
        4, generator=(64, 64), discriminator=(64, 64), gradient_penalty=0.1,
        learning_rate=1e-3, batch_size=128, max_iter=150, random_state=0,
    ).fit(ring(4096))  # fmt: skip


def test_the_gan_covers_all_eight_modes_of_the_ring(fitted):
    found = mode_coverage(fitted.sample(2000, random_state=1), CENTERS, radius=0.5)
    assert found.covered == 8
    assert found.near > 0.4
    assert len(fitted.losses_) == len(fitted.generator_losses_) == 150


def test_samples_and_ways_between_them_repeat_with_the_seed(fitted):
    np.testing.assert_array_equal(
        fitted.sample(5, random_state=3), fitted.sample(5, random_state=3)
    )
    way = fitted.interpolate(7, random_state=0)
    assert way.shape == (7, 2)
    start, end = np.ones(4), np.array([1.0, -1.0, 1.0, -1.0])
    way = fitted.interpolate(3, start=start, end=end)
    np.testing.assert_allclose(way[[0, 2]], fitted.generate([start, end]))
    np.testing.assert_allclose(
        fitted.interpolate(2, start=start, end=start), fitted.generate([start, start])
    )
    with pytest.raises(ValueError, match="points of 4 columns"):
        fitted.generate(np.zeros((2, 3)))


def test_a_model_file_comes_back_and_a_forged_one_does_not(fitted, tmp_path):
    path = tmp_path / "model.safetensors"
    fitted.save(path)
    again = tacit.load(path)
    np.testing.assert_array_equal(
        again.sample(9, random_state=0), fitted.sample(9, random_state=0)
    )
    np.testing.assert_array_equal(
        again.decision_function(CENTERS), fitted.decision_function(CENTERS)
    )
    forge(path, lambda d, t: t.update({"generator_biases_.1": t["generator_biases_.1"][:3]}))
    with pytest.raises(ModelFileError, match="generator"):
        tacit.load(path)


def test_bad_rows_and_settings_are_refused(fitted):
    rows = ring(64)
    rows[3, 1] = np.inf
    with pytest.raises(DataError, match="row 3, column 1"):
        clone(fitted).fit(rows)
    with pytest.raises(ValueError, match="2 columns, but X has 3"):
        fitted.decision_function(tacit.data.Table.from_array(np.zeros((2, 3))))
    with pytest.raises(ValueError, match="'generator'"):
        GAN(generator="big").fit(ring(64))
    with pytest.raises(ValueError, match=r"generator=\(0,\)"):
        GAN(generator=(0,)).fit(ring(64))
    with pytest.raises(ValueError, match="takes values from 0 to 1"):
        GAN(output="sigmoid").fit(ring(64))


# --- Gradients ---


def network(loss):
    return GANNetwork(2, (3,), (3,), 2, "tanh", "identity", loss, 2, 10.0, 1e-3, 0.5, 0.9, 0.9)


@pytest.mark.parametrize("loss", ["non-saturating", "wasserstein"])
def test_the_gradients_of_both_losses_are_those_of_finite_differences(loss):
    game = network(loss)
    tree = game.start(np.uint64(7))
    rng = np.random.default_rng(0)
    with jax.enable_x64(True):
        generator, judge = (
            jax.tree_util.tree_map(lambda leaf: leaf.astype(np.float64), tree[name])
            for name in ("generator", "discriminator")
        )
        rows, fakes, latent = (rng.normal(size=(4, 2)) for _ in range(3))
        mask, between = np.array([1.0, 1, 1, 0]), rng.random(4)

        @jax.jit
        def judge_loss(params):
            return game.discriminator_loss(params, rows, fakes, mask, between)

        @jax.jit
        def own_loss(params):
            return game.generator_loss(params, judge, latent)

        for function, params in ((judge_loss, judge), (own_loss, generator)):
            check_gradient(function, params, rng)


def check_gradient(function, params, rng, step=1e-5):
    """The derivative along a random direction, by differences."""
    direction = jax.tree_util.tree_map(lambda leaf: rng.normal(size=leaf.shape), params)

    def moved(by):
        return jax.tree_util.tree_map(lambda x, d: np.asarray(x) + by * d, params, direction)

    slope = (float(function(moved(step))) - float(function(moved(-step)))) / (2 * step)
    gradient = jax.jit(jax.grad(function))(params)
    products = jax.tree_util.tree_map(
        lambda g, d: float((np.asarray(g) * d).sum()), gradient, direction
    )
    assert sum(jax.tree_util.tree_leaves(products)) == pytest.approx(slope, rel=1e-5)


# --- Diagnosis ---


def test_the_diagnosis_of_rows_of_the_same_distribution_finds_nothing():
    found = diagnose(ring(1000), ring(1000, seed=1), n_modes=8, random_state=0)
    assert not found.collapsed
    assert found.covered == found.modes == 8
    assert abs(found.accuracy - 0.5) < 0.06
    assert found.p_value > 0.001
    assert found.frechet < 5 * found.frechet_real + 0.01
    assert "no collapse: 8 of 8 modes covered" in str(found)
    assert found.to_dict()["collapsed"] is False


def test_the_diagnosis_of_three_modes_of_eight_is_a_collapse():
    rows = ring(1000, seed=1)
    near = np.linalg.norm(rows[:, None] - CENTERS, axis=2).argmin(axis=1)
    found = diagnose(ring(1000), rows[near < 3], n_modes=8, random_state=0)
    assert found.collapsed
    assert found.covered == 3
    assert found.accuracy > 0.6
    assert found.frechet > 10 * found.frechet_real


def test_frechet_distance_of_known_normals():
    rng = np.random.default_rng(0)
    a = rng.normal(size=(200_000, 2))
    b = rng.normal(size=(200_000, 2)) * [2.0, 1.0] + [3.0, 0.0]
    assert frechet_distance(a, b) == pytest.approx(9 + 1, rel=0.02)
    assert frechet_distance(a, a) == pytest.approx(0, abs=1e-9)


def test_the_two_sample_accuracy_tells_apart_what_differs():
    rng = np.random.default_rng(0)
    accuracy, p = two_sample_accuracy(
        rng.normal(size=(500, 2)), rng.normal(size=(500, 2)) + 4, random_state=0
    )
    assert accuracy > 0.95
    assert p < 1e-6


@pytest.mark.parametrize(
    ("samples", "message"),
    [
        (np.zeros((3, 2)), "at least 4 rows"),
        (np.zeros((9, 3)), "as many columns"),
        (np.full((9, 2), np.nan), "must be finite"),
        (np.zeros(9), "rows and columns"),
    ],
)
def test_the_diagnosis_refuses_what_it_cannot_compare(samples, message):
    with pytest.raises(ValueError, match=message):
        diagnose(ring(50), samples)


def test_points_that_are_not_finite_and_rows_beyond_memory_are_refused(fitted):
    with pytest.raises(ValueError, match=r"GAN.generate: Input X contains NaN"):
        fitted.generate(np.full((2, fitted.n_latent), np.nan))
    for n, what in ((10**18, "needs .* of memory"), (0, "at least 1"), (-3, "at least 1")):
        with pytest.raises(ValueError, match=rf"GAN.sample\(n_samples={n}\).*{what}"):
            fitted.sample(n)
