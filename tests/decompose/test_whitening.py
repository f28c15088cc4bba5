"""Affine maps and whitening: exact effects on mean and covariance."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.core import ModelFileError
from tacit.core.moments import Moments
from tacit.decompose import Affine, Whitener

METHODS = ("pca", "zca", "cholesky")


def rows(n=200, d=4, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 1e3


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 5), st.integers(1, 5), st.integers(0, 99))
def test_an_affine_map_does_to_the_moments_what_it_does_to_the_rows(m, d, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(20, d))
    affine = Affine(rng.normal(size=(m, d)), rng.normal(size=m))
    predicted = affine.moments(Moments.collect(X))
    actual = Moments.collect(affine(X))
    np.testing.assert_allclose(predicted.mean, actual.mean, atol=1e-12)
    np.testing.assert_allclose(predicted.scatter, actual.scatter, atol=1e-10)
    np.testing.assert_allclose(
        affine.covariance(np.cov(X.T)), np.atleast_2d(np.cov(affine(X).T)), atol=1e-10
    )


def test_maps_compose_and_invert():
    rng = np.random.default_rng(0)
    a, b = (Affine(rng.normal(size=(3, 3)), rng.normal(size=3)) for _ in range(2))
    X = rng.normal(size=(5, 3))
    np.testing.assert_allclose((a @ b)(X), a(b(X)))
    np.testing.assert_allclose(a.inverse()(a(X)), X, atol=1e-12)
    for flat in (Affine([[1.0, 0.0]]), Affine([[1.0, 1.0], [1.0, 1.0]])):
        with pytest.raises(ValueError, match="no inverse"):
            flat.inverse()


def test_what_is_no_affine_map_is_refused():
    with pytest.raises(ValueError, match=r"one offset for each of its rows.*\(2, 2\)"):
        Affine(np.eye(2), [1.0])
    with pytest.raises(ValueError, match="finite"):
        Affine([[np.nan]])


@pytest.mark.parametrize("method", METHODS)
def test_whitened_rows_have_mean_zero_and_covariance_one(method):
    X = rows()
    whitener = Whitener(method).fit(X)
    Z = whitener.transform(X)
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(np.cov(Z.T), np.eye(4), atol=1e-9)
    np.testing.assert_allclose(whitener.inverse_transform(Z), X, rtol=1e-9)
    np.testing.assert_allclose(whitener.affine(X), Z, atol=1e-8)
    sparse = whitener.transform(sp.csr_array(X))
    np.testing.assert_allclose(sparse, Z, atol=1e-8)


def test_each_method_has_its_own_shape():
    X = rows()
    zca = Whitener("zca").fit(X).whitening_
    np.testing.assert_allclose(zca, zca.T, atol=1e-12)
    lower = Whitener("cholesky").fit(X).whitening_
    np.testing.assert_array_equal(lower, np.tril(lower))
    np.testing.assert_allclose(
        np.linalg.inv(lower), np.linalg.cholesky(np.cov(X.T)), atol=1e-12
    )
    turned = Whitener("pca").fit(X)
    products = turned.whitening_ @ turned.whitening_.T
    np.testing.assert_allclose(products, np.diag(np.diag(products)), atol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_directions_without_variance_become_zero_and_nothing_is_nan(method):
    X = rows()
    X[:, 3] = X[:, 0] + X[:, 1]
    X = np.column_stack([X, np.full(len(X), 7.0)])
    whitener = Whitener(method).fit(X)
    assert whitener.rank_ == 3
    values = np.linalg.eigvalsh(np.cov(whitener.transform(X).T))
    np.testing.assert_allclose(values[-3:], 1, atol=1e-6)
    np.testing.assert_allclose(values[:-3], 0, atol=1e-6)
    back = whitener.inverse_transform(whitener.transform(X))
    np.testing.assert_allclose(back, X, rtol=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_one_row_and_equal_rows(method):
    for X in (np.ones((1, 3)), np.full((4, 3), 2.5)):
        whitener = Whitener(method).fit(X)
        assert whitener.rank_ == 0
        assert (whitener.transform(X) == 0).all()
        np.testing.assert_array_equal(whitener.inverse_transform(whitener.transform(X)), X)


def test_a_row_of_weight_two_is_two_rows():
    X, weights = rows(30), np.random.default_rng(0).integers(0, 3, 30)
    a = Whitener("zca").fit(X, sample_weight=weights)
    b = Whitener("zca").fit(np.repeat(X, weights, axis=0))
    np.testing.assert_allclose(a.whitening_, b.whitening_, rtol=1e-6)


def test_bad_input_and_forged_files(tmp_path):
    whitener = Whitener().fit(rows())
    with pytest.raises(ValueError, match="rows of 4 components, but X has 2"):
        whitener.inverse_transform(np.ones((1, 2)))
    whitener.rank_ = 9
    whitener.save(tmp_path / "w.safetensors")
    with pytest.raises(ModelFileError, match="rank_"):
        tacit.load(tmp_path / "w.safetensors")
