"""The multivariate normal: densities, maps, conditionals, flat directions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from tacit.data import Table
from tacit.mixture import MultivariateNormal


def draw(seed=0, d=3):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(d, d))
    return rng.normal(size=d), A @ A.T + 0.1 * np.eye(d), rng


def test_the_density_agrees_with_scipy():
    mean, cov, rng = draw()
    normal = MultivariateNormal.from_parameters(mean, cov)
    X = rng.normal(size=(50, 3)) * 3
    np.testing.assert_allclose(
        normal.score_samples(X), multivariate_normal(mean, cov).logpdf(X), rtol=1e-10
    )


def test_maximum_likelihood_is_the_mean_and_the_covariance_of_the_rows(tmp_path):
    X = np.random.default_rng(0).normal(size=(500, 4)) + 1e6
    normal = MultivariateNormal().fit(X)
    np.testing.assert_allclose(normal.mean_, X.mean(axis=0))
    biased = np.cov(X.T, bias=True)
    np.testing.assert_allclose(normal.covariance_, biased, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(
        MultivariateNormal(ddof=1).fit(X).covariance_, np.cov(X.T), rtol=1e-9, atol=1e-12
    )
    np.save(tmp_path / "x.npy", X)
    again = MultivariateNormal().fit(Table.open(tmp_path / "x.npy"))
    np.testing.assert_array_equal(again.covariance_, normal.covariance_)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_an_affine_map_of_the_rows_maps_mean_and_covariance(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 3)) @ rng.normal(size=(3, 3)) + rng.normal(size=3)
    A, b = rng.normal(size=(2, 3)), rng.normal(size=2)
    direct = MultivariateNormal().fit(X @ A.T + b)
    mapped = MultivariateNormal().fit(X).affine(A, b)
    np.testing.assert_allclose(mapped.mean_, direct.mean_, atol=1e-10)
    np.testing.assert_allclose(mapped.covariance_, direct.covariance_, atol=1e-9)


def test_conditional_times_marginal_is_the_joint():
    mean, cov, rng = draw(1)
    normal = MultivariateNormal.from_parameters(mean, cov)
    x = rng.normal(size=3)
    joint = normal.score_samples([x])[0]
    part = normal.marginal([0, 2]).score_samples([x[[0, 2]]])[0]
    conditional = normal.conditional([0, 2], x[[0, 2]]).score_samples([x[[1]]])[0]
    np.testing.assert_allclose(part + conditional, joint)


def test_samples_have_the_mean_and_covariance():
    mean, cov, _ = draw(2)
    rows = MultivariateNormal.from_parameters(mean, cov).sample(50_000, random_state=0)
    np.testing.assert_allclose(rows.mean(axis=0), mean, atol=0.1)
    np.testing.assert_allclose(np.cov(rows.T), cov, atol=0.3)


def test_flat_directions_are_projected_off_and_reported():
    rng = np.random.default_rng(0)
    plane = rng.normal(size=(200, 2)) @ rng.normal(size=(2, 4)) + 5
    with pytest.warns(UserWarning, match="2 of 4 directions"):
        normal = MultivariateNormal().fit(plane)
    assert normal.rank_ == 2
    centered = plane - plane.mean(axis=0)
    np.testing.assert_allclose(normal.flat_directions_ @ centered.T, 0, atol=1e-9)
    assert np.isfinite(normal.score_samples(plane)).all()
    off = plane[:1] + normal.flat_directions_[0]
    assert normal.score_samples(off)[0] == -np.inf
    basis = np.linalg.svd(plane - plane.mean(axis=0), full_matrices=False)[2][:2]
    inside = MultivariateNormal().fit(plane @ basis.T)
    np.testing.assert_allclose(
        normal.score_samples(plane), inside.score_samples(plane @ basis.T), rtol=1e-8
    )


def test_constant_rows_have_rank_zero():
    with pytest.warns(UserWarning, match="0 of 2 directions"):
        normal = MultivariateNormal().fit(np.ones((3, 2)))
    scores = normal.score_samples([[1.0, 1.0], [1.0, 2.0]])
    np.testing.assert_array_equal(scores, [0.0, -np.inf])


@pytest.mark.parametrize(
    ("mean", "covariance", "match"),
    [
        ([0.0, 0.0], [[1.0]], "shape"),
        ([0.0, 0.0], [[1.0, 2.0], [0.0, 1.0]], "symmetric"),
        ([0.0, 0.0], [[1.0, 2.0], [2.0, 1.0]], "negative"),
    ],
)
def test_what_is_not_a_covariance_is_refused(mean, covariance, match):
    with pytest.raises(ValueError, match=match):
        MultivariateNormal.from_parameters(mean, covariance)


def test_wrong_columns_are_refused():
    normal = MultivariateNormal.from_parameters([0.0, 0.0], np.eye(2))
    for columns in ([2], [-1], [], [0, 0]):
        with pytest.raises(ValueError, match="Columns must be"):
            normal.marginal(columns)
    with pytest.raises(ValueError, match="a value for each"):
        normal.conditional([0], [1.0, 2.0])
    with pytest.raises(ValueError, match="so none is left"):
        normal.conditional([0, 1], [1.0, 2.0])
    with pytest.raises(ValueError, match="2 columns"):
        normal.affine([[1.0]])
