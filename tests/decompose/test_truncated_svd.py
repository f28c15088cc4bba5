"""Truncated SVD: agreement with LAPACK, ARPACK, scikit-learn; degenerate and hostile rows."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.linalg import svds
from sklearn.decomposition import TruncatedSVD as RivalSVD
from sklearn.exceptions import ConvergenceWarning

import tacit
from tacit.core import Dask, DataError, Serial, Threads
from tacit.data import Table
from tacit.decompose import TruncatedSVD


def zipf(n=3000, d=1200, per_row=20, seed=0, dtype=np.float64):
    """Sparse rows whose columns are as unequal as words are."""
    rng = np.random.default_rng(seed)
    law = 1 / np.arange(1, d + 1) ** 0.8
    columns = rng.permutation(d)[rng.choice(d, size=n * per_row, p=law / law.sum())]
    rows = np.repeat(np.arange(n), per_row)
    return sp.csr_array((rng.random(n * per_row).astype(dtype), (rows, columns)), shape=(n, d))


def falling(n, d, values, seed=0):
    """A matrix with these singular values."""
    rng = np.random.default_rng(seed)
    left = np.linalg.qr(rng.normal(size=(n, len(values))))[0]
    right = np.linalg.qr(rng.normal(size=(d, len(values))))[0]
    return (left * values) @ right.T


def assert_sound(model, k):
    """What every fit owes, whatever the rows."""
    for name in ("components_", "singular_values_", "explained_variance_", "residuals_"):
        assert np.isfinite(getattr(model, name)).all()
    assert np.isfinite(model.explained_variance_ratio_).all()
    assert (np.diff(model.singular_values_) <= 0).all()
    single = model.components_.dtype == np.float32
    overlap = model.components_ @ model.components_.T
    np.testing.assert_allclose(overlap, np.eye(k), atol=1e-6 if single else 1e-11)


# --- Agreement ---


@pytest.mark.parametrize("d", [40, 900], ids=["narrow", "wide"])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_to_the_last_digit_it_agrees_with_lapack(d, sparse):
    X = falling(300, d, 0.8 ** np.arange(30))
    left, values, right = np.linalg.svd(X, full_matrices=False)
    rows = sp.csr_array(X) if sparse else X
    model = TruncatedSVD(6, tol=0, random_state=0).fit(rows)
    np.testing.assert_allclose(model.singular_values_, values[:6], rtol=1e-12)
    same = np.sign(np.einsum("ij,ij->i", model.components_, right[:6]))
    np.testing.assert_allclose(model.components_, same[:, None] * right[:6], atol=1e-10)
    scores = model.transform(rows)
    np.testing.assert_allclose(scores, same * left[:, :6] * values[:6], atol=1e-10)
    np.testing.assert_allclose(model.inverse_transform(scores), X, atol=values[6] * 1.01)


def test_at_the_default_the_separated_values_agree_with_arpack():
    X = zipf()
    values = svds(X, k=12, random_state=0)[1][::-1]
    model = TruncatedSVD(12, random_state=0).fit(X)
    assert model.n_iter_ < 12
    np.testing.assert_allclose(model.singular_values_[:4], values[:4], rtol=1e-6)
    assert (model.singular_values_**2).sum() > 0.999 * (values**2).sum()
    exact = TruncatedSVD(12, tol=0, random_state=0).fit(X)
    np.testing.assert_allclose(exact.singular_values_, values, rtol=1e-9)


def test_sparse_rows_in_float32_give_what_float64_gives():
    X = zipf(dtype=np.float32)
    double = TruncatedSVD(12, tol=1e-9, random_state=0).fit(X.astype(np.float64))
    single = TruncatedSVD(12, tol=1e-6, random_state=0).fit(X)
    assert single.converged_
    np.testing.assert_allclose(single.singular_values_, double.singular_values_, rtol=3e-7)
    np.testing.assert_allclose(single.components_, double.components_, atol=1e-5)


@pytest.mark.parametrize("k", [2, 40])
def test_it_captures_at_least_what_scikit_learn_does(k):
    X = zipf(seed=1)
    rival = RivalSVD(k, random_state=0).fit(X)
    model = TruncatedSVD(k, random_state=0).fit(X)
    assert captured(X, model) >= captured(X, rival) * (1 - 1e-5)


def test_a_number_of_power_iterations_means_at_least_as_much_as_in_scikit_learn():
    X = zipf(seed=2)
    for n_iter in (0, 2, 5):
        rival = RivalSVD(15, n_iter=n_iter, n_oversamples=5, random_state=0).fit(X)
        model = TruncatedSVD(15, n_iter=n_iter, n_oversamples=5, random_state=0).fit(X)
        assert model.n_iter_ == n_iter + 2
        assert captured(X, model) > captured(X, rival)


def captured(X, model):
    """The energy that the components really hold, not what the model says."""
    return float(((X @ np.linalg.qr(model.components_.T)[0]) ** 2).sum())


def test_variances_are_those_of_scikit_learn():
    X = zipf(n=800) + 0.0
    rival = RivalSVD(5, algorithm="arpack").fit(X)
    model = TruncatedSVD(5, tol=0, random_state=0).fit(X)
    np.testing.assert_allclose(model.explained_variance_, rival.explained_variance_, rtol=1e-7)
    np.testing.assert_allclose(
        model.explained_variance_ratio_, rival.explained_variance_ratio_, rtol=1e-7
    )
    np.testing.assert_allclose(model.components_, rival.components_, atol=1e-6)  # signs too


def test_the_variance_survives_a_large_mean():
    rng = np.random.default_rng(0)
    X = 1e5 + rng.normal(size=(400, 3)) * [3.0, 2.0, 1.0]
    model = TruncatedSVD(3).fit(X)
    np.testing.assert_allclose(
        model.explained_variance_, model.transform(X).var(axis=0), rtol=1e-6
    )
    assert model.explained_variance_ratio_.sum() == pytest.approx(1.0, abs=1e-7)


def test_a_column_that_towers_above_the_others_does_not_hide_them():
    X = np.hstack([falling(300, 800, 2.0 ** -np.arange(12)), np.full((300, 1), 200.0)])
    values = np.linalg.svd(X, compute_uv=False)
    model = TruncatedSVD(5, random_state=0).fit(X)
    np.testing.assert_allclose(model.singular_values_, values[:5], rtol=1e-3)


def test_values_equal_more_often_than_a_block_is_wide_are_all_found():
    X = np.diag(np.repeat([10.0, 1.0], [200, 800]))
    model = TruncatedSVD(40, tol=1e-6, random_state=0).fit(X)
    np.testing.assert_allclose(model.singular_values_, 10.0, rtol=1e-9)


def test_restarts_lose_nothing():
    X = zipf(n=2000, d=1000, seed=3)
    values = np.linalg.svd(X.toarray(), compute_uv=False)[:5]
    model = TruncatedSVD(5, tol=1e-7, random_state=0).fit(X)  # a basis of 74 at most
    assert model.n_iter_ > 8
    np.testing.assert_allclose(model.singular_values_, values, rtol=1e-10)


# --- How sure it is ---


@pytest.mark.parametrize("tol", [0.5, 0.1, 0.01, 1e-6])
def test_a_singular_value_lies_within_each_residual(tol):
    X = zipf(n=600, d=700, seed=4)
    values = np.linalg.svd(X.toarray(), compute_uv=False)
    model = TruncatedSVD(8, tol=tol, random_state=0).fit(X)
    assert model.converged_
    nearest = np.abs(values[:, None] - model.singular_values_).min(axis=0)
    assert (nearest <= model.residuals_).all()
    fraction = np.sqrt(((model.residuals_ / model.singular_values_) ** 2).mean())
    assert fraction <= tol * 1.01


def test_residuals_are_what_they_say():
    X = zipf(n=600, d=700, seed=5)
    model = TruncatedSVD(4, tol=0.1, random_state=0).fit(X)
    V, s = model.components_, model.singular_values_
    actual = np.linalg.norm(X.T @ (X @ V.T) / s - V.T * s, axis=0)
    np.testing.assert_allclose(model.residuals_, actual, rtol=1e-3)


def test_too_few_passes_are_told():
    X = zipf(n=600, d=700)
    with pytest.warns(ConvergenceWarning, match=r"max_iter=3.*above tol=0.005. Raise"):
        model = TruncatedSVD(20, max_iter=3, random_state=0).fit(X)
    assert not model.converged_
    assert model.n_iter_ == 3
    assert_sound(model, 20)


def test_a_callback_may_stop_at_any_pass_and_sees_the_loss_fall():
    X, notified = zipf(n=600, d=700), []
    for last in (1, 2, 4):
        notified.clear()

        def stop(step, last=last):
            notified.append((step.number, step.losses[-1]))
            return step.number == last

        model = TruncatedSVD(30, random_state=0, callbacks=[stop]).fit(X)
        assert_sound(model, 30)
        assert [number for number, _ in notified] == list(range(1, last + 1))
    losses = [loss for _, loss in notified]
    assert losses == sorted(losses, reverse=True)


# --- The same bits ---


def digest(model):
    names = [name for name in sorted(vars(model)) if name.endswith("_")]
    return b"".join(np.asarray(getattr(model, name)).tobytes() for name in names)


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("d", [60, 700], ids=["narrow", "wide"])
def test_the_engine_cannot_change_a_bit(d, sparse):
    X = zipf(n=1500, d=d)
    table = Table.from_array(X if sparse else X.toarray(), block_rows=256)
    models = [
        TruncatedSVD(5, random_state=0, engine=engine).fit(table)
        for engine in (Serial(), Threads(1), Threads(2), Threads(5))
    ]
    assert len({digest(model) for model in models}) == 1
    scores = {model.transform(table).tobytes() for model in models}
    assert len(scores) == 1


def test_a_cluster_gives_the_same_bits():
    distributed = pytest.importorskip("distributed")
    X = zipf(n=1500, d=700)
    table = Table.from_array(X, block_rows=256)
    reference = TruncatedSVD(5, random_state=0, engine="serial").fit(table)
    with distributed.Client(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None
    ):
        model = TruncatedSVD(5, random_state=0, engine=Dask()).fit(table)
    assert digest(model) == digest(reference)


def test_a_file_gives_the_bits_of_the_array(tmp_path):
    X = np.random.default_rng(0).normal(size=(500, 600))
    np.save(tmp_path / "rows.npy", X)
    table = Table.open(tmp_path / "rows.npy")
    from_file = TruncatedSVD(3, random_state=0).fit(table)
    assert digest(from_file) == digest(TruncatedSVD(3, random_state=0).fit(X))
    assert from_file.transform(table).tobytes() == from_file.transform(X).tobytes()


def test_the_number_of_blas_threads_cannot_change_a_bit():
    from threadpoolctl import threadpool_limits

    X = zipf(n=1500, d=700)
    result = set()
    for threads in (1, 2):
        with threadpool_limits(threads):
            result.add(digest(TruncatedSVD(40, random_state=0).fit(X)))
    assert len(result) == 1


def test_another_seed_gives_nearly_the_same_and_signs_are_fixed():
    X = zipf(n=1500, d=700)
    a, b = (TruncatedSVD(4, tol=1e-8, random_state=seed).fit(X) for seed in (0, 1))
    np.testing.assert_allclose(a.components_, b.components_, atol=1e-6)
    places = np.abs(a.components_).argmax(axis=1)
    assert (a.components_[np.arange(4), places] > 0).all()


def test_equal_entries_do_not_make_the_sign_a_matter_of_rounding():
    X = np.array([[1.0, -1.0], [-2.0, 2.0], [3.0, -3.0]])
    for scale in (1.0, 0.1, 1 / 3):
        model = TruncatedSVD(1).fit(X * scale)
        assert model.components_[0, 0] > 0


# --- Degenerate rows ---


@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["double", "single"])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("d", [20, 800], ids=["narrow", "wide"])
def test_past_the_rank_values_are_zero_and_components_still_orthonormal(d, sparse, dtype):
    rng = np.random.default_rng(0)
    X = (rng.integers(-3, 4, size=(100, 4)) @ rng.integers(-3, 4, size=(4, d))).astype(dtype)
    model = TruncatedSVD(9, random_state=0).fit(sp.csr_array(X) if sparse else X)
    values = np.linalg.svd(X.astype(np.float64), compute_uv=False)[:4]
    rtol = 1e-12 if dtype == np.float64 else 1e-6
    np.testing.assert_allclose(model.singular_values_[:4], values, rtol=rtol)
    assert (model.singular_values_[4:] == 0).all()
    assert model.converged_
    assert_sound(model, 9)


@pytest.mark.parametrize("d", [20, 800], ids=["narrow", "wide"])
def test_no_variance_is_told_and_its_shares_are_zero(d):
    one_row = np.random.default_rng(0).normal(size=(1, d))
    for X in (np.zeros((7, d)), one_row, np.repeat(one_row, 5, axis=0), sp.csr_array((4, d))):
        with pytest.warns(UserWarning, match="all rows are equal"):
            model = TruncatedSVD(3, random_state=0).fit(X)
        assert_sound(model, 3)
        np.testing.assert_allclose(model.explained_variance_, 0.0, atol=1e-20)
        assert (model.explained_variance_ratio_ == 0).all()
        length = np.linalg.norm(X.toarray() if sp.issparse(X) else X)
        assert model.singular_values_[0] == pytest.approx(length, rel=1e-12)
        assert (model.singular_values_[1:] == 0).all()


@pytest.mark.parametrize(("n", "d"), [(12, 900), (12, 12), (40, 12), (1, 1), (3, 600)])
def test_as_many_components_as_there_are_dimensions(n, d):
    X = np.random.default_rng(0).normal(size=(n, d))
    k = min(n, d)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if n == 1 else "error")
        model = TruncatedSVD(k, random_state=0).fit(X)
    np.testing.assert_allclose(
        model.singular_values_, np.linalg.svd(X, compute_uv=False), rtol=1e-12
    )
    np.testing.assert_allclose(
        model.inverse_transform(model.transform(X)), X, atol=1e-12 * np.abs(X).max() * d
    )


def test_more_components_than_columns_are_refused():
    with pytest.raises(ValueError, match=r"n_components=4.*n_features=3. Lower n_components"):
        TruncatedSVD(4).fit(np.ones((5, 3)))


@pytest.mark.parametrize("scale", [1e-140, 1e-30, 1e30, 1e140])
def test_the_unit_of_the_data_does_not_matter(scale):
    X = zipf(n=400, d=700)
    model = TruncatedSVD(3, random_state=0).fit(X)
    other = TruncatedSVD(3, random_state=0).fit(X * scale)
    np.testing.assert_allclose(
        other.singular_values_ / scale, model.singular_values_, rtol=1e-9
    )
    np.testing.assert_allclose(other.components_, model.components_, atol=1e-7)


@pytest.mark.parametrize("scale", [1e-180, 1e200])
@pytest.mark.parametrize("d", [5, 700], ids=["narrow", "wide"])
def test_numbers_whose_squares_do_not_exist_are_refused(d, scale):
    X = np.random.default_rng(0).normal(size=(20, d)) * scale
    with pytest.raises(ValueError, match=r"TruncatedSVD: the largest value.*Rescale the data"):
        TruncatedSVD(2).fit(X)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("d", [20, 700], ids=["narrow", "wide"])
def test_what_is_no_number_is_found_and_told_with_its_place(d, sparse, bad):
    X = zipf(n=900, d=d).toarray()
    fitted = TruncatedSVD(2, random_state=0).fit(X)
    X[700, 11] = bad
    table = Table.from_array(sp.csr_array(X) if sparse else X, block_rows=256)
    for attempt in (TruncatedSVD(2).fit, fitted.transform):
        with pytest.raises(DataError, match=r"row 700, column 11.*(NaN|inf)"):
            attempt(table)


def test_a_table_without_rows_is_refused():
    with pytest.raises(ValueError, match="no rows"):
        TruncatedSVD(2).fit(Table.from_array(np.empty((0, 5))))


def test_other_columns_than_fitted_are_refused():
    model = TruncatedSVD(2, random_state=0).fit(np.random.default_rng(0).normal(size=(9, 4)))
    with pytest.raises(ValueError, match="fitted on 4 columns, but X has 5"):
        model.transform(Table.from_array(np.ones((2, 5))))
    with pytest.raises(ValueError, match=r"rows of 2 components, but X has 3"):
        model.inverse_transform(np.ones((1, 3)))


@pytest.mark.parametrize("d", [30, 700], ids=["narrow", "wide"])
def test_float32_int_fortran_and_read_only_rows(d):
    X = np.random.default_rng(0).integers(0, 9, size=(150, d))
    reference = TruncatedSVD(3, tol=1e-9, random_state=0).fit(X.astype(float))
    frozen = X.astype(float)
    frozen.setflags(write=False)
    for other in (X, np.asfortranarray(X.astype(float)), frozen, sp.csc_array(X)):
        model = TruncatedSVD(3, tol=1e-9, random_state=0).fit(other)
        assert model.components_.dtype == np.float64
        np.testing.assert_allclose(model.components_, reference.components_, atol=1e-9)
    single = TruncatedSVD(3, tol=1e-9, random_state=0).fit(X.astype(np.float32))
    assert (
        single.components_.dtype == single.transform(X.astype(np.float32)).dtype == np.float32
    )
    np.testing.assert_allclose(single.components_, reference.components_, atol=1e-6)
    np.testing.assert_allclose(single.singular_values_, reference.singular_values_, rtol=1e-6)


def test_duplicate_entries_of_a_sparse_matrix_add_up():
    doubled = sp.csr_array(
        (np.ones(4), np.array([0, 0, 1, 2]), np.array([0, 3, 4])), shape=(2, 3)
    )
    model = TruncatedSVD(2).fit(doubled)
    np.testing.assert_allclose(
        model.singular_values_, np.linalg.svd(doubled.toarray(), compute_uv=False)
    )


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_any_small_matrix_is_decomposed_soundly(data):
    n, d = data.draw(st.integers(1, 12)), data.draw(st.integers(1, 10))
    number = st.floats(-1e6, 1e6).map(lambda x: 0.0 if abs(x) < 1e-6 else x)
    cells = st.lists(number, min_size=n * d, max_size=n * d)
    X = np.array(data.draw(cells)).reshape(n, d)
    k = data.draw(st.integers(1, d))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = TruncatedSVD(k, random_state=0).fit(X)
    assert_sound(model, k)
    values = np.linalg.svd(X, compute_uv=False)
    wanted = np.zeros(k)
    wanted[: min(k, len(values))] = values[:k]
    np.testing.assert_allclose(model.singular_values_, wanted, atol=1e-7 * (1 + values[0]))


# --- Manners ---


def test_outputs_can_have_names():
    X = np.random.default_rng(0).normal(size=(9, 4))
    model = TruncatedSVD(2, random_state=0).set_output(transform="pandas")
    frame = model.fit_transform(X)
    assert list(frame.columns) == ["truncatedsvd0", "truncatedsvd1"]
    np.testing.assert_array_equal(frame.to_numpy(), model.transform(X).to_numpy())


def test_a_saved_model_transforms_the_same(tmp_path):
    X = zipf(n=300, d=600)
    model = TruncatedSVD(3, random_state=0).fit(X)
    model.save(tmp_path / "svd.safetensors")
    again = tacit.load(tmp_path / "svd.safetensors")
    assert digest(again) == digest(model)
    np.testing.assert_array_equal(again.transform(X), model.transform(X))


def test_nothing_passed_in_is_modified():
    X = zipf(n=300, d=600)
    before = X.copy()
    TruncatedSVD(3, random_state=0).fit_transform(X)
    np.testing.assert_array_equal(X.data, before.data)
    np.testing.assert_array_equal(X.indices, before.indices)
