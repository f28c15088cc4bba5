"""Restricted Boltzmann machines: against enumeration, and on bars and stripes."""

import itertools

import numpy as np
import pytest

import tacit
from tacit.core import ModelFileError
from tacit.neural import RBM
from tacit.neural.layers import jax, jnp
from tacit.neural.rbm import RBMNetwork, exact_log_partition
from tests.neural.test_autoencoder import forge


def bars_and_stripes(side=3):
    """All images of full rows, and all of full columns."""
    rows = [np.tile(bits, (side, 1)) for bits in itertools.product([0.0, 1.0], repeat=side)]
    return np.unique([image.ravel() for each in rows for image in (each, each.T)], axis=0)


PATTERNS = bars_and_stripes()
ROWS = np.tile(PATTERNS, (16, 1))


def machine(**changes):
    settings = {
        "n_components": 8, "learning_rate": 0.1, "batch_size": 32, "max_iter": 5,
        "weight_decay": 0.0, "random_state": 0,
    }  # fmt: skip
    return RBM(**{**settings, **changes})


@pytest.fixture(scope="module")
def fitted():
    return machine(max_iter=200).fit(ROWS)


def all_states(n):
    return np.array(list(itertools.product([0.0, 1.0], repeat=n)))


@pytest.mark.parametrize("persistent", [False, True])
def test_contrastive_divergence_climbs_the_exact_likelihood_of_bars_and_stripes(persistent):
    likelihoods = [
        machine(persistent=persistent, max_iter=passes)
        .fit(ROWS)
        .log_likelihood(PATTERNS)
        .mean()
        for passes in (1, 120, 200, 400)
    ]
    assert (np.diff(likelihoods) > 0).all()
    assert likelihoods[-1] > likelihoods[0] + 1.5
    assert likelihoods[-1] < -np.log(len(PATTERNS)) + 1e-6  # no machine can do better


def test_the_exact_likelihood_is_a_probability(fitted):
    everything = fitted.log_likelihood(all_states(9))
    assert np.exp(everything).sum() == pytest.approx(1, abs=1e-5)


def test_the_partition_function_is_the_sum_over_both_layers():
    rng = np.random.default_rng(0)
    weights, b, c = rng.normal(size=(4, 3)), rng.normal(size=4), rng.normal(size=3)
    v, h = all_states(4), all_states(3)
    joint = v @ weights @ h.T + (v @ b)[:, None] + h @ c
    exact = np.log(np.exp(joint).sum())
    assert exact_log_partition(weights, b, c) == pytest.approx(exact)
    assert exact_log_partition(weights.T, c, b) == pytest.approx(exact)


def test_the_partition_function_of_gaussian_units_is_an_integral():
    weights, b, c = np.array([[0.7, -0.4]]), np.array([0.3]), np.array([0.1, -0.2])
    network = RBMNetwork("gaussian", False, 1, 0.1, 0.0, 0.0)
    at = np.linspace(-12, 12, 20_001)[:, None]
    params = {"weights": weights, "visible": b, "hidden": c}
    density = np.exp(-network.free_energy(np, params, at))
    integral = density.sum() * (at[1, 0] - at[0, 0])
    assert exact_log_partition(weights, b, c, gaussian=True) == pytest.approx(np.log(integral))


def test_the_pseudo_likelihood_is_that_of_the_conditionals(fitted):
    v = PATTERNS[:5]
    energy = fitted.free_energy(v)
    total = np.zeros(len(v))
    for j in range(v.shape[1]):
        turned = v.copy()
        turned[:, j] = 1 - turned[:, j]
        total -= np.log1p(np.exp(energy - fitted.free_energy(turned)))
    np.testing.assert_allclose(fitted.score_samples(v), total, rtol=1e-8)
    assert fitted.score(v) == pytest.approx(total.mean())


@pytest.mark.parametrize("visible", ["bernoulli", "gaussian"])
def test_the_gradient_is_that_of_the_free_energies(visible):
    rng = np.random.default_rng(0)
    network = RBMNetwork(visible, False, 1, 0.1, 0.0, 0.0)
    data, model = (rng.random((6, 4)).astype(np.float32) for _ in range(2))
    mask = np.array([1, 1, 1, 1, 1, 0], np.float32)
    params = {
        "weights": rng.normal(size=(4, 3)).astype(np.float32),
        "visible": rng.normal(size=4).astype(np.float32),
        "hidden": rng.normal(size=3).astype(np.float32),
    }

    @jax.jit
    def both(params):
        def gap(params):
            real, drawn = (network.free_energy(jnp, params, each) for each in (data, model))
            return (real @ mask - drawn @ mask) / mask.sum()

        means = [network.hidden_means(jnp, params, each) for each in (data, model)]
        return jax.grad(gap)(params), network.gradient(
            data, means[0], mask, model, means[1], mask
        )

    expected, found = both(params)
    for name in expected:
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-4, atol=1e-6)


def test_samples_of_the_chain_are_bars_and_stripes(fitted):
    drawn = fitted.sample(400, n_steps=200, random_state=0)
    known = {tuple(row) for row in PATTERNS}
    hits = np.mean([tuple(row) in known for row in drawn])
    assert hits > 0.4  # of 512 images 14 are patterns
    np.testing.assert_array_equal(drawn, fitted.sample(400, n_steps=200, random_state=0))
    assert set(np.unique(fitted.gibbs(PATTERNS, random_state=0))) <= {0.0, 1.0}


def test_reconstructions_are_close_to_the_patterns(fitted):
    assert np.abs(fitted.reconstruct(PATTERNS) - PATTERNS).mean() < 0.15
    assert fitted.losses_[-1] < fitted.losses_[0]


def test_gaussian_units_learn_clusters():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(m, 0.5, (200, 3)) for m in (-20, 40)])
    model = RBM(
        4, visible="gaussian", learning_rate=0.05, max_iter=60, batch_size=32, random_state=0
    ).fit(X)
    codes = model.transform(X)
    assert np.abs(codes[:200].mean(axis=0) - codes[200:].mean(axis=0)).max() > 0.8
    assert -model.score(X) < 0.5 * X.var(axis=0).sum()
    assert np.isfinite(model.log_likelihood(X)).all()
    drawn = model.sample(50, n_steps=50, start=X[::8], random_state=0)
    assert np.isfinite(drawn).all()
    assert not hasattr(model, "score_samples")


def test_the_same_seed_gives_the_same_bits():
    first, again = machine().fit(ROWS), machine().fit(ROWS)
    np.testing.assert_array_equal(first.components_, again.components_)
    assert first.losses_ == again.losses_


def test_values_outside_zero_and_one_are_refused_with_the_way_out():
    with pytest.raises(ValueError, match=r"column 0 has values from 0 to 2.*gaussian"):
        machine().fit(2 * ROWS)


def test_a_large_machine_has_no_exact_likelihood():
    with pytest.raises(ValueError, match=r"2\^30 states.*score_samples"):
        exact_log_partition(np.zeros((30, 40)), np.zeros(30), np.zeros(40))


def test_a_model_file_comes_back_and_a_forged_one_does_not(fitted, tmp_path):
    path = tmp_path / "model.safetensors"
    fitted.save(path)
    np.testing.assert_array_equal(tacit.load(path).transform(ROWS), fitted.transform(ROWS))
    forge(path, lambda d, t: t.update({"scale_": 0 * t["scale_"]}))
    with pytest.raises(ModelFileError, match="scale_"):
        tacit.load(path)
    fitted.save(path)
    forge(path, lambda d, t: t.update({"components_": t["components_"][:, :4]}))
    with pytest.raises(ModelFileError):
        tacit.load(path)


def test_more_rows_than_memory_holds_are_refused():
    model = RBM(2, max_iter=1).fit(np.eye(4))
    for n, what in ((10**18, "needs .* of memory"), (0, "at least 1")):
        with pytest.raises(ValueError, match=rf"RBM.sample\(n_samples={n}\).*{what}"):
            model.sample(n)
