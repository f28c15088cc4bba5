"""Probabilistic PCA: EM comes to the principal components, and missing values are no matter."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.decomposition import PCA as RivalPCA
from sklearn.exceptions import ConvergenceWarning

import tacit
from tacit.core import ModelFileError, Serial, Threads
from tacit.data import Table
from tacit.decompose import ProbabilisticPCA


def rows(n=250, d=8, k=2, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, k)) @ rng.normal(size=(k, d)) * 2 + rng.normal(size=(n, d)) + 9


def holes(X, fraction=0.2, seed=1):
    Y = X.copy()
    Y[np.random.default_rng(seed).random(X.shape) < fraction] = np.nan
    return Y


def test_em_from_a_random_start_comes_to_the_principal_components():
    X = rows()
    rival = RivalPCA(2).fit(X)
    model = ProbabilisticPCA(2, init="random", random_state=0, tol=1e-12, max_iter=5000).fit(X)
    assert model.n_iter_ > 10
    overlap = np.abs(np.sum(model.components_ * rival.components_, axis=1))
    np.testing.assert_allclose(overlap, 1, atol=1e-6)
    ml = 249 / 250  # scikit-learn divides by n - 1, the most likely variances by n
    np.testing.assert_allclose(model.noise_variance_, rival.noise_variance_ * ml, rtol=1e-5)
    np.testing.assert_allclose(
        model.explained_variance_, rival.explained_variance_ * ml, rtol=1e-5
    )
    np.testing.assert_allclose(model.mean_, X.mean(axis=0), rtol=1e-6)


def test_without_missing_values_the_start_is_the_answer():
    X = rows()
    model = ProbabilisticPCA(2).fit(X)
    assert model.n_iter_ == 1
    assert model.converged_
    covariance = np.cov(X.T, ddof=0)
    values = np.linalg.eigvalsh(covariance)
    assert model.noise_variance_ == pytest.approx(values[:-2].mean(), rel=1e-9)


@pytest.mark.parametrize("fraction", [0.0, 0.3])
def test_the_log_likelihood_never_falls(fraction):
    model = ProbabilisticPCA(3, init="random", random_state=1, max_iter=60, tol=0)
    with pytest.warns(ConvergenceWarning, match=r"max_iter=60.*Raise"):
        model.fit(holes(rows(), fraction))
    assert (np.diff(model.lower_bounds_) >= -1e-10).all()


def test_the_log_likelihood_is_that_of_the_normal_of_the_observed_columns():
    X = holes(rows(60))
    model = ProbabilisticPCA(2).fit(X)
    covariance, scores = model.get_covariance(), model.score_samples(X)
    for row, score in zip(X, scores, strict=True):
        seen = ~np.isnan(row)
        wanted = 0.0
        if seen.any():
            wanted = multivariate_normal(
                model.mean_[seen], covariance[np.ix_(seen, seen)]
            ).logpdf(row[seen])
        assert score == pytest.approx(wanted, rel=1e-9)
    assert model.score(X) == pytest.approx(model.lower_bounds_[-1], rel=1e-9)


def test_missing_values_are_filled_in_with_their_conditional_expectation():
    X = rows()
    Y = holes(X)
    model = ProbabilisticPCA(2).fit(Y)
    assert model.n_missing_ == np.isnan(Y).sum()
    covariance, filled = model.get_covariance(), model.impute(Y)
    row, out = Y[np.isnan(Y).any(axis=1)][0], filled[np.isnan(Y).any(axis=1)][0]
    seen = ~np.isnan(row)
    gain = covariance[np.ix_(~seen, seen)] @ np.linalg.inv(covariance[np.ix_(seen, seen)])
    wanted = model.mean_[~seen] + gain @ (row - model.mean_)[seen]
    np.testing.assert_allclose(out[~seen], wanted, rtol=1e-9)
    np.testing.assert_array_equal(out[seen], row[seen])
    gone = np.isnan(Y)
    by_mean = np.where(gone, np.nanmean(Y, axis=0), Y)
    error = np.sqrt(((filled - X)[gone] ** 2).mean())
    assert error < 0.5 * np.sqrt(((by_mean - X)[gone] ** 2).mean())


def test_a_row_of_weight_two_is_two_rows():
    X, weights = holes(rows(60)), np.random.default_rng(0).integers(0, 3, 60)
    a = ProbabilisticPCA(2, tol=1e-9).fit(X, sample_weight=weights)
    b = ProbabilisticPCA(2, tol=1e-9).fit(np.repeat(X, weights, axis=0))
    np.testing.assert_allclose(a.noise_variance_, b.noise_variance_, rtol=1e-6)
    np.testing.assert_allclose(a.mean_, b.mean_, rtol=1e-6)


def test_draws_have_the_covariance_of_the_model():
    model = ProbabilisticPCA(2).fit(rows())
    draws = model.sample(20_000, random_state=0)
    np.testing.assert_allclose(np.cov(draws.T), model.get_covariance(), atol=0.5)
    np.testing.assert_array_equal(draws, model.sample(20_000, random_state=0))


def test_the_engine_cannot_change_a_bit():
    table = Table.from_array(holes(rows(600)), 64)
    fits = {
        ProbabilisticPCA(2, engine=engine).fit(table).components_.tobytes()
        for engine in (Serial(), Threads(1), Threads(3))
    }
    assert len(fits) == 1


def test_degenerate_rows_give_no_nan():
    rng = np.random.default_rng(0)
    empty_row = holes(rows(40))
    empty_row[7] = np.nan
    cases = [np.ones((5, 3)), np.ones((1, 3)), rng.normal(size=(3, 10)), empty_row]
    cases.append(np.column_stack([rng.normal(size=(20, 2)), np.full(20, 3.0)]))
    for X in cases:
        model = ProbabilisticPCA(1, tol=1e-3).fit(X)
        for name in ("components_", "explained_variance_", "mean_"):
            assert np.isfinite(getattr(model, name)).all()
        assert np.isfinite(model.transform(X)).all()
        assert np.isfinite(model.impute(X)).all()


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match=r"column 1 has no value at all"):
        ProbabilisticPCA(1).fit([[1.0, np.nan, 2.0], [2.0, np.nan, 1.0]])
    with pytest.raises(ValueError, match=r"n_components=3.*n_features=3. Lower"):
        ProbabilisticPCA(3).fit(np.ones((5, 3)))
    with pytest.raises(ValueError, match="this is inf"):
        ProbabilisticPCA(1).fit([[1.0, np.inf], [2.0, 1.0]])
    with pytest.raises(ValueError, match="rows of 1 components, but X has 2"):
        ProbabilisticPCA(1).fit(rows(20, 3)).inverse_transform([[1.0, 2.0]])


def test_a_saved_model_fills_in_the_same_and_a_forged_one_is_refused(tmp_path):
    X = holes(rows(50))
    model = ProbabilisticPCA(2).fit(X)
    model.save(tmp_path / "a.safetensors")
    np.testing.assert_array_equal(
        tacit.load(tmp_path / "a.safetensors").impute(X), model.impute(X)
    )
    model.noise_variance_ = -1.0
    model.save(tmp_path / "b.safetensors")
    with pytest.raises(ModelFileError, match="noise"):
        tacit.load(tmp_path / "b.safetensors")
