"""Gaussian mixtures: the notes' examples, scikit-learn, missing values, the k-means limit."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture as SklearnMixture

from tacit.cluster import KMeans
from tacit.core import DataError, Serial, Threads
from tacit.data import Table
from tacit.mixture import GaussianMixture

TYPES = ["full", "tied", "diag", "spherical", "fixed"]
every_type = pytest.mark.parametrize("kind", TYPES)


def three_blobs(n=300, seed=0):
    rng = np.random.default_rng(seed)
    shapes = [
        ([0, 0, 0], np.diag([1.0, 2.0, 3.0])),
        ([6, 1, 2], np.eye(3)),
        ([0, 8, 1], [[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 1.0]]),
    ]
    return np.concatenate([rng.multivariate_normal(m, c, n) for m, c in shapes])


def never_falls(model):
    bounds = np.array(model.lower_bounds_)
    return (np.diff(bounds) >= -1e-9 * max(1.0, np.abs(bounds).max())).all()


def test_the_bimodal_example_is_recovered():
    """Means 0 and 3, standard deviations 2 and 1, weights 0.4 and 0.6."""
    rng = np.random.default_rng(1)
    second = rng.random(20_000) < 0.6
    X = np.where(second, rng.normal(3, 1, 20_000), rng.normal(0, 2, 20_000))[:, None]
    model = GaussianMixture(2, tol=1e-7, max_iter=2000, random_state=0).fit(X)
    wide, narrow = np.argsort(-model.covariances_[:, 0, 0])
    np.testing.assert_allclose(model.means_[[wide, narrow], 0], [0, 3], atol=0.25)
    deviations = np.sqrt(model.covariances_[[wide, narrow], 0, 0])
    np.testing.assert_allclose(deviations, [2, 1], atol=0.1)
    np.testing.assert_allclose(model.weights_[[wide, narrow]], [0.4, 0.6], atol=0.06)


def test_known_variance_follows_the_equations_step_by_step():
    """E-step: h from the two densities. M-step: weighted means and the mean of h."""
    X = np.array([-1.0, 0.0, 0.5, 2.0, 3.0, 3.5])
    means, alpha, variance = np.array([0.0, 2.0]), 0.5, 1.0
    for steps in range(1, 4):
        density = np.exp(-((X[:, None] - means) ** 2) / (2 * variance)) * [alpha, 1 - alpha]
        h = density / density.sum(axis=1, keepdims=True)
        means, alpha = (h * X[:, None]).sum(axis=0) / h.sum(axis=0), h[:, 0].mean()
        model = GaussianMixture(
            2, covariance_type="fixed", variance=variance, means_init=[[0.0], [2.0]],
            weights_init=[0.5, 0.5], max_iter=steps, tol=0,
        ).fit(X[:, None])  # fmt: skip
        np.testing.assert_allclose(model.means_[:, 0], means)
        np.testing.assert_allclose(model.weights_, [alpha, 1 - alpha])


@every_type
@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 10_000), k=st.integers(1, 4), d=st.integers(1, 4),
    weighted=st.booleans(),
)  # fmt: skip
def test_the_log_likelihood_never_falls(kind, seed, k, d, weighted):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, d)) * rng.lognormal(size=d) + rng.integers(0, 3, size=(60, 1)) * 4
    weights = rng.integers(0, 4, size=60) + (np.arange(60) < 5) if weighted else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = GaussianMixture(k, covariance_type=kind, tol=0, max_iter=30, random_state=0)
        assert never_falls(model.fit(X, sample_weight=weights))


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_the_log_likelihood_never_falls_with_missing_values(seed):
    rng = np.random.default_rng(seed)
    X = three_blobs(40, seed)
    X[rng.random(X.shape) < 0.3] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for kind in TYPES:
            model = GaussianMixture(3, covariance_type=kind, tol=0, max_iter=15, random_state=0)
            assert never_falls(model.fit(X))


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_from_the_same_start_it_agrees_with_scikit_learn(kind):
    X = three_blobs()
    k, d = 3, 3
    means, weights = X[[0, 400, 800]], np.full(3, 1 / 3)
    precisions = {"full": np.tile(np.eye(d), (k, 1, 1)), "tied": np.eye(d),
                  "diag": np.ones((k, d)), "spherical": np.ones(k)}[kind]  # fmt: skip
    common = {"covariance_type": kind, "means_init": means, "weights_init": weights,
              "reg_covar": 0, "tol": 0, "max_iter": 25}  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        theirs = SklearnMixture(k, precisions_init=precisions, **common).fit(X)
        ours = GaussianMixture(k, covariances_init=precisions, **common).fit(X)
    np.testing.assert_allclose(ours.means_, theirs.means_, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(ours.covariances_, theirs.covariances_, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(ours.score_samples(X), theirs.score_samples(X), rtol=1e-6)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6)
    np.testing.assert_allclose(ours.bic(X), theirs.bic(X), rtol=1e-8)
    np.testing.assert_allclose(ours.aic(X), theirs.aic(X), rtol=1e-8)


def test_as_the_variance_goes_to_zero_em_becomes_k_means():
    X = three_blobs(100)
    start = X[[0, 150, 280]]
    kmeans = KMeans(3, init=start, tol=0).fit(X)
    model = GaussianMixture(
        3, covariance_type="fixed", variance=1e-4, means_init=start,
        weights_init=np.full(3, 1 / 3), tol=0, max_iter=50,
    ).fit(X)  # fmt: skip
    np.testing.assert_allclose(model.means_, kmeans.cluster_centers_, rtol=1e-6)
    np.testing.assert_array_equal(model.predict(X), kmeans.labels_)


def test_missing_values_cost_little_accuracy():
    X = three_blobs()
    truth = GaussianMixture(3, random_state=0).fit(X)
    holes = X.copy()
    holes[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    model = GaussianMixture(3, random_state=0).fit(holes)
    assert model.n_missing_ == np.isnan(holes).sum()
    order, other = np.argsort(model.means_[:, 1]), np.argsort(truth.means_[:, 1])
    np.testing.assert_allclose(model.means_[order], truth.means_[other], atol=0.35)
    full = model.predict(holes)
    assert (full[:300] == np.bincount(full[:300]).argmax()).mean() > 0.85


def test_one_missing_value_is_integrated_out():
    X = three_blobs()
    model = GaussianMixture(2, random_state=0).fit(X)
    row = np.array([[1.0, np.nan, 2.0]])
    grid = np.linspace(-40, 50, 20_001)
    filled = np.column_stack([np.full_like(grid, 1.0), grid, np.full_like(grid, 2.0)])
    density = np.trapezoid(np.exp(model.score_samples(filled)), grid)
    np.testing.assert_allclose(np.exp(model.score_samples(row)[0]), density, rtol=1e-6)


def test_a_row_without_any_value_has_the_prior():
    model = GaussianMixture(2, random_state=0).fit(three_blobs())
    empty = np.full((1, 3), np.nan)
    np.testing.assert_allclose(model.predict_proba(empty)[0], model.weights_)
    np.testing.assert_allclose(model.score_samples(empty), 0.0, atol=1e-12)
    X = np.vstack([three_blobs(), empty])
    assert never_falls(GaussianMixture(2, random_state=0).fit(X))


@every_type
def test_weight_two_equals_twice(kind):
    X = three_blobs(60)
    twice = np.arange(len(X)) % 3 == 0
    common = {"covariance_type": kind, "means_init": X[[0, 80, 150]], "max_iter": 20, "tol": 0}
    heavy = GaussianMixture(3, **common).fit(X, sample_weight=1 + twice)
    long = GaussianMixture(3, **common).fit(np.vstack([X, X[twice]]))
    np.testing.assert_allclose(heavy.means_, long.means_, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(heavy.covariances_, long.covariances_, rtol=1e-6, atol=1e-9)


@every_type
def test_any_engine_and_any_source_gives_the_same_bits(kind, tmp_path):
    X = three_blobs(3000)
    X[::97, 1] = np.nan
    np.save(tmp_path / "rows.npy", X)
    models = [
        GaussianMixture(3, covariance_type=kind, max_iter=5, random_state=0, engine=engine)
        for engine in (Serial(), Threads(1), Threads(2), Threads(4))
    ]
    fits = [model.fit(X) for model in models]
    fits.append(GaussianMixture(3, covariance_type=kind, max_iter=5, random_state=0).fit(
        Table.open(tmp_path / "rows.npy")))  # fmt: skip
    for fit in fits[1:]:
        np.testing.assert_array_equal(fit.means_, fits[0].means_)
        np.testing.assert_array_equal(fit.covariances_, fits[0].covariances_)


def test_narrow_components_far_away_keep_their_digits():
    rng = np.random.default_rng(0)
    X = np.concatenate([1e6 + rng.normal(0, 0.01, 500), rng.normal(0, 0.01, 500)])[:, None]
    model = GaussianMixture(2, random_state=0, reg_covar=0, tol=1e-9).fit(X)
    np.testing.assert_allclose(np.sqrt(model.covariances_.ravel()), 0.01, rtol=0.1)
    assert never_falls(model)


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_equal_rows_hit_the_floor_and_say_so(kind):
    X = np.ones((20, 3))
    with pytest.warns(ConvergenceWarning, match="at the floor"):
        model = GaussianMixture(2, covariance_type=kind, random_state=0).fit(X)
    assert np.isfinite(model.means_).all()
    assert np.isfinite(model.score_samples(X)).all()


@pytest.mark.parametrize("kind", ["full", "tied"])
def test_components_of_fewer_rows_than_columns_have_a_density(kind):
    X = np.random.default_rng(0).normal(size=(30, 12))
    model = GaussianMixture(6, covariance_type=kind, reg_covar=0, tol=0, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert np.isfinite(model.fit(X).score_samples(X)).all()


def test_one_row():
    with pytest.warns(ConvergenceWarning, match="at the floor"):
        model = GaussianMixture(1).fit([[3.0, 4.0]])
    np.testing.assert_array_equal(model.means_, [[3.0, 4.0]])


def test_more_components_than_rows_are_refused():
    with pytest.raises(ValueError, match="n_samples=2"):
        GaussianMixture(3).fit([[0.0], [1.0]])


def test_infinite_values_are_reported_with_their_place():
    X = three_blobs(10)
    X[7, 2] = np.inf
    with pytest.raises(DataError, match="row 7, column 2"):
        GaussianMixture(2).fit(X)


def test_a_column_without_values_is_refused():
    X = three_blobs(10)
    X[:, 1] = np.nan
    with pytest.raises(ValueError, match="column 1 has no value"):
        GaussianMixture(2).fit(X)


def test_values_whose_squares_overflow_are_refused():
    with pytest.raises(ValueError, match="Rescale"):
        GaussianMixture(1).fit([[1e200], [-1e200]])


@pytest.mark.parametrize(
    ("name", "value"),
    [("means_init", [[0.0]]), ("weights_init", [0.5, 0.6]), ("covariances_init", np.ones(3))],
)
def test_a_start_of_the_wrong_shape_is_refused(name, value):
    with pytest.raises(ValueError, match=name):
        GaussianMixture(2, **{name: value}).fit(three_blobs(10))


def test_samples_come_from_the_mixture():
    model = GaussianMixture(3, random_state=0).fit(three_blobs())
    rows, labels = model.sample(5000, random_state=1)
    assert rows.shape == (5000, 3)
    for j in range(3):
        np.testing.assert_allclose(rows[labels == j].mean(axis=0), model.means_[j], atol=0.2)
    again, _ = model.sample(5000, random_state=1)
    np.testing.assert_array_equal(rows, again)


def test_more_starts_are_at_least_as_likely():
    X = three_blobs(80)
    common = {"init_params": "random_from_data", "random_state": 3, "tol": 1e-6}
    one = GaussianMixture(4, **common).fit(X)
    many = GaussianMixture(4, n_init=5, **common).fit(X)
    assert many.lower_bound_ >= one.lower_bound_
