"""PCA: three solvers, one answer; every number of components; degenerate and hostile rows."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.decomposition import PCA as RivalPCA
from sklearn.exceptions import ConvergenceWarning

import tacit
from tacit.core import Dask, DataError, ModelFileError, Serial, Threads
from tacit.data import Table
from tacit.decompose import PCA, TruncatedSVD, low_rank_error

SOLVERS = ("covariance_eigh", "full", "krylov")


def falling(n=400, d=120, seed=0, base=0.7, mean=3.0):
    """Rows whose variances fall by a factor from one direction to the next."""
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.normal(size=(d, d)))[0]
    return (rng.normal(size=(n, d)) * base ** np.arange(d)) @ turn + mean


def sparse_rows(n=900, d=300, seed=0):
    rng = np.random.default_rng(seed)
    X = sp.random_array((n, d), density=0.03, rng=rng, format="csr")
    return sp.csr_array(X + sp.csr_array(rng.random((n, 3)) @ sparse_directions(d, rng)))


def sparse_directions(d, rng):
    out = np.zeros((3, d))
    for row in out:
        row[rng.integers(0, d, 6)] = 1.0
    return out


def assert_sound(model, k, d):
    assert model.components_.shape == (k, d)
    assert np.isfinite(model.components_).all()
    gram = model.components_ @ model.components_.T
    np.testing.assert_allclose(gram, np.eye(k), atol=1e-9)
    for name in ("explained_variance_", "explained_variance_ratio_", "singular_values_"):
        values = getattr(model, name)
        assert np.isfinite(values).all()
        assert (values >= 0).all()
        assert (np.diff(values) <= 1e-12 * values[:1]).all()
    assert np.isfinite([model.noise_variance_, model.total_variance_]).all()


# --- The answer ---


@pytest.mark.parametrize("solver", SOLVERS)
def test_components_and_variances_are_those_of_scikit_learn(solver):
    X = falling()
    rival = RivalPCA(5, svd_solver="full").fit(X)
    model = PCA(5, svd_solver=solver, tol=1e-9, random_state=0).fit(X)
    for name in ("explained_variance_", "explained_variance_ratio_", "singular_values_"):
        np.testing.assert_allclose(getattr(model, name), getattr(rival, name), rtol=1e-9)
    np.testing.assert_allclose(model.noise_variance_, rival.noise_variance_, rtol=1e-9)
    signs = np.sign((model.components_ * rival.components_).sum(axis=1))
    np.testing.assert_allclose(model.components_, rival.components_ * signs[:, None], atol=1e-8)
    np.testing.assert_allclose(model.transform(X), rival.transform(X) * signs, atol=1e-7)
    back = model.inverse_transform(model.transform(X))
    np.testing.assert_allclose(back, rival.inverse_transform(rival.transform(X)), atol=1e-7)
    assert model.solver_ == solver


@pytest.mark.parametrize("solver", ["covariance_eigh", "krylov"])
def test_sparse_rows_give_the_answer_of_dense_ones(solver):
    X = sparse_rows()
    dense = PCA(4, svd_solver="full").fit(X.toarray())
    model = PCA(4, svd_solver=solver, tol=1e-9, random_state=0).fit(X)
    np.testing.assert_allclose(model.explained_variance_, dense.explained_variance_, rtol=1e-9)
    np.testing.assert_allclose(model.components_, dense.components_, atol=1e-6)
    np.testing.assert_allclose(model.transform(X), dense.transform(X.toarray()), atol=1e-6)
    np.testing.assert_allclose(
        model.reconstruction_errors(X), dense.reconstruction_errors(X.toarray()), rtol=1e-6
    )


def test_the_largest_entry_of_a_component_is_positive():
    for solver in SOLVERS:
        rows = PCA(6, svd_solver=solver, random_state=0).fit(falling()).components_
        assert (rows[np.arange(6), np.abs(rows).argmax(axis=1)] > 0).all()


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_mean_far_from_zero_costs_no_digits(solver):
    X = falling(mean=0.0)
    model = PCA(3, svd_solver=solver, tol=1e-9, random_state=0).fit(X + 1e6)
    exact = PCA(3, svd_solver="full").fit(X)
    np.testing.assert_allclose(model.explained_variance_, exact.explained_variance_, rtol=1e-8)


def test_float32_rows_are_summed_in_float64():
    X = falling(n=3000, d=30, mean=50.0).astype(np.float32)
    exact = np.linalg.svd(X.astype(np.float64) - X.mean(0, dtype=np.float64))[1] ** 2 / 2999
    model = PCA(10).fit(X)
    rival = RivalPCA(10, svd_solver="covariance_eigh").fit(X)
    ours = np.abs(model.explained_variance_ / exact[:10] - 1).max()
    theirs = np.abs(rival.explained_variance_ / exact[:10] - 1).max()
    assert ours < 1e-6
    assert theirs > 100 * ours
    assert model.components_.dtype == model.transform(X).dtype == np.float32


def test_the_full_solver_keeps_variances_that_a_covariance_rounds_away():
    X = falling(n=300, d=40, base=10.0 ** (-10 / 39), mean=0.0)  # deviations from 1 to 1e-10
    exact = np.linalg.svd(X - X.mean(0), compute_uv=False)
    model = PCA(svd_solver="full").fit(X)
    np.testing.assert_allclose(model.singular_values_, exact, rtol=1e-4)


def test_few_rows_of_many_columns_are_decomposed_at_once():
    X = falling(n=40, d=1500, base=0.99)
    model = PCA().fit(X)
    assert model.solver_ == "full"
    assert model.n_components_ == 40
    np.testing.assert_allclose(
        model.singular_values_[:39], np.linalg.svd(X - X.mean(0), compute_uv=False)[:39]
    )
    assert model.singular_values_[39] == 0
    assert_sound(model, 40, 1500)


def test_the_solver_is_chosen_by_the_shape():
    choose = tacit.decompose.pca.choose_solver
    assert choose((200_000, 500), 10, False) == "covariance_eigh"
    assert choose((400, 4096), None, False) == "full"
    assert choose((100_000, 5000), 20, False) == "krylov"
    assert choose((400, 50_000), 10, True) == "krylov"
    assert choose((100_000, 2000), None, False) == "covariance_eigh"
    narrow = PCA(2, svd_solver="randomized").fit(falling(d=20))
    assert narrow.solver_ == "covariance_eigh"  # no space to search


# --- How many components ---


def test_a_fraction_takes_as_few_components_as_explain_it():
    X = falling()
    fractions = PCA().fit(X).explained_variance_ratio_
    for fraction in (0.1, 0.5, 0.9, 0.999):
        model = PCA(fraction).fit(X)
        k = model.n_components_
        assert fractions[:k].sum() >= fraction - 1e-12
        assert fractions[: k - 1].sum() < fraction
        assert len(model.eigenvalues_) == 120


def test_the_knee_separates_directions_from_noise():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3)) @ rng.normal(size=(3, 30)) * 5 + rng.normal(size=(500, 30))
    assert PCA("knee").fit(X).n_components_ == 3
    assert PCA("knee").fit(np.eye(4)).n_components_ >= 1


def test_all_components_give_the_rows_back():
    X = falling(n=100, d=12)
    model = PCA().fit(X)
    assert model.n_components_ == 12
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-10)
    assert model.noise_variance_ == 0


@pytest.mark.parametrize(
    "bad", [0, -1, 1.5, 0.0, "elbow", True + 6, [2]], ids=lambda bad: repr(bad)
)
def test_a_number_of_components_that_cannot_be_is_refused(bad):
    with pytest.raises(ValueError, match="n_components"):
        PCA(bad).fit(np.ones((9, 5)))


def test_a_fraction_of_very_many_columns_asks_for_a_number():
    X = sp.csr_array((20, 9000))
    with pytest.raises(ValueError, match=r"9,000 columns.*GB.*Give n_components as a number"):
        PCA(0.5).fit(X)
    with pytest.raises(ValueError, match="krylov needs a number"):
        PCA(0.5, svd_solver="krylov").fit(np.eye(5))


# --- Error against rank, whitening ---


def test_the_error_at_every_rank_is_that_of_the_reconstruction():
    X, other = falling(), falling(seed=1)
    model = PCA(8).fit(X)
    for rows in (X, other):
        errors = model.reconstruction_errors(rows)
        fractions = model.reconstruction_errors(rows, relative=True)
        assert len(errors) == 9
        lengths = ((rows - model.mean_) ** 2).sum(axis=1)
        for k in (0, 3, 8):
            short = model.transform(rows)
            short[:, k:] = 0
            away = ((rows - model.inverse_transform(short)) ** 2).sum(axis=1)
            assert errors[k] == pytest.approx(away.mean(), rel=1e-9)
            assert fractions[k] == pytest.approx((away / lengths).mean(), rel=1e-9)
        assert (np.diff(errors) <= 0).all()
    np.testing.assert_allclose(
        model.reconstruction_errors(), model.reconstruction_errors(X), rtol=1e-9
    )


def test_truncated_svd_reports_its_error_against_rank_too():
    X = sparse_rows(n=200, d=80)
    model = TruncatedSVD(5, tol=0, random_state=0).fit(X)
    errors = model.reconstruction_errors(X)
    back = model.inverse_transform(model.transform(X))
    assert errors[-1] == pytest.approx(((X.toarray() - back) ** 2).sum(axis=1).mean())
    assert errors[0] == pytest.approx((X**2).sum() / 200)
    assert model.reconstruction_errors(X, relative=True)[0] == pytest.approx(1.0)


def test_no_basis_of_that_size_has_a_lower_error_than_the_svd():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 6)) * [5, 4, 3, 2, 1, 1]
    best = TruncatedSVD(2, tol=0, random_state=0).fit(X)
    least = low_rank_error(X, best.components_)
    assert least == pytest.approx((np.linalg.svd(X)[1][2:] ** 2).sum() / 30)
    assert all(low_rank_error(X, rng.normal(size=(2, 6))) >= least for _ in range(20))
    assert low_rank_error(X, np.zeros((1, 6))) == pytest.approx((X**2).sum() / 30)
    with pytest.raises(ValueError, match="6 columns, but the vectors of the basis have 2"):
        low_rank_error(X, np.eye(2))


def test_whitened_coordinates_have_variance_one():
    X = falling()
    model = PCA(5, whiten=True).fit(X)
    np.testing.assert_allclose(np.cov(model.transform(X).T), np.eye(5), atol=1e-9)
    plain = PCA(5).fit(X)
    np.testing.assert_allclose(
        model.inverse_transform(model.transform(X)),
        plain.inverse_transform(plain.transform(X)),
        atol=1e-9,
    )


def test_whitening_a_direction_without_variance_gives_zero():
    X = np.column_stack([falling(50, 3), np.full(50, 7.0)])
    Z = PCA(whiten=True).fit_transform(X)
    np.testing.assert_allclose(Z.var(axis=0, ddof=1), [1, 1, 1, 0], atol=1e-9)


# --- Weights ---


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_row_of_weight_two_is_two_rows(solver):
    X = falling(n=150)
    weights = np.random.default_rng(0).integers(0, 4, 150)
    settings_ = {"svd_solver": solver, "tol": 1e-10, "random_state": 0}
    a = PCA(3, **settings_).fit(X, sample_weight=weights)
    b = PCA(3, **settings_).fit(np.repeat(X, weights, axis=0))
    np.testing.assert_allclose(a.explained_variance_, b.explained_variance_, rtol=1e-9)
    np.testing.assert_allclose(a.components_, b.components_, atol=1e-8)
    np.testing.assert_allclose(
        a.reconstruction_errors(X, sample_weight=weights), b.reconstruction_errors(), rtol=1e-9
    )


def test_weights_of_sparse_rows_count_too():
    X = sparse_rows(n=200, d=150)
    weights = np.random.default_rng(0).integers(0, 4, 200)
    a = PCA(2, svd_solver="krylov", tol=1e-10, random_state=0).fit(X, sample_weight=weights)
    b = PCA(2).fit(np.repeat(X.toarray(), weights, axis=0))
    np.testing.assert_allclose(a.explained_variance_, b.explained_variance_, rtol=1e-9)


# --- The same bits ---


def digest(model):
    names = sorted(name for name in vars(model) if name.endswith("_") and name != "solver_")
    return b"".join(np.asarray(getattr(model, name)).tobytes() for name in names)


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_engine_cannot_change_a_bit(solver, tmp_path):
    X = falling(n=1500)
    np.save(tmp_path / "rows.npy", X)
    tables = [Table.from_array(X, 256), Table.from_npy(tmp_path / "rows.npy", 256)]
    runs = set()
    for table in tables:
        for engine in (Serial(), Threads(1), Threads(3)):
            model = PCA(4, svd_solver=solver, random_state=0, engine=engine).fit(table)
            runs.add((digest(model), model.transform(table).tobytes()))
    assert len(runs) == 1


def test_a_cluster_gives_the_same_bits():
    distributed = pytest.importorskip("distributed")
    table = Table.from_array(falling(n=1500), 256)
    with distributed.Client(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None
    ):
        for solver in SOLVERS:
            here, there = (
                PCA(4, svd_solver=solver, random_state=0, engine=engine).fit(table)
                for engine in (Serial(), Dask())
            )
            assert digest(here) == digest(there)


# --- Degenerate and hostile rows ---


@pytest.mark.parametrize("solver", SOLVERS)
def test_constant_rows_one_row_and_zeros_give_no_nan(solver):
    d = 100
    one = np.random.default_rng(0).normal(size=(1, d))
    for X in (np.zeros((5, d)), one, np.repeat(one, 4, axis=0), np.full((7, d), 1e10 / 3)):
        with pytest.warns(UserWarning, match="all rows are equal"):
            model = PCA(1, svd_solver=solver, whiten=True, random_state=0).fit(X)
        assert_sound(model, 1, d)
        assert (model.explained_variance_ratio_ == 0).all()
        assert (model.transform(X) == 0).all()
        assert np.isfinite(model.reconstruction_errors(relative=True)).all()
        np.testing.assert_allclose(model.inverse_transform([[0.0]]), X[:1])


@pytest.mark.parametrize("solver", SOLVERS)
def test_columns_without_variance_and_fewer_rows_than_columns(solver):
    X = np.random.default_rng(0).normal(size=(4, 100))
    X[:, [2, 5]] = 3.0
    model = PCA(4, svd_solver=solver, random_state=0).fit(X)
    assert_sound(model, 4, 100)
    assert model.explained_variance_[3] == 0
    np.testing.assert_allclose(model.components_[:3, [2, 5]], 0, atol=1e-12)
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-12)


def test_more_components_than_rows_are_refused():
    with pytest.raises(ValueError, match=r"n_components=5.*n_samples=4.*Lower n_components"):
        PCA(5).fit(np.random.default_rng(0).normal(size=(4, 9)))
    with pytest.raises(ValueError, match="no rows"):
        PCA().fit(Table.from_array(np.empty((0, 5))))


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("scale", [1e-180, 1e200])
def test_numbers_whose_squares_do_not_exist_are_refused(solver, scale):
    X = np.random.default_rng(0).normal(size=(20, 100)) * scale
    with pytest.raises(ValueError, match=r"PCA: the largest value.*Rescale the data"):
        PCA(2, svd_solver=solver).fit(X)


@pytest.mark.parametrize("solver", SOLVERS)
def test_what_is_no_number_is_reported_with_its_place(solver):
    X = falling(n=600)
    model = PCA(2, svd_solver=solver, random_state=0).fit(X)
    X[500, 7] = np.nan
    for attempt in (PCA(2, svd_solver=solver).fit, model.transform):
        with pytest.raises(DataError, match=r"PCA.*NaN.*row 500, column 7|row 500.*column 7"):
            attempt(Table.from_array(X, 256))


def test_other_columns_than_fitted_are_refused():
    model = PCA(2).fit(falling(n=30, d=5))
    with pytest.raises(ValueError, match="fitted on 5 columns, but X has 4"):
        model.transform(Table.from_array(np.ones((2, 4))))
    with pytest.raises(ValueError, match="rows of 2 components, but X has 3"):
        model.inverse_transform(np.ones((1, 3)))


def test_too_few_passes_are_reported():
    with pytest.warns(ConvergenceWarning, match=r"max_iter=2.*Raise max_iter"):
        model = PCA(8, svd_solver="krylov", max_iter=2, random_state=0).fit(
            np.random.default_rng(0).normal(size=(300, 700))
        )
    assert not model.converged_
    assert_sound(model, 8, 700)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_any_small_matrix_is_decomposed_soundly(data):
    n, d = data.draw(st.integers(1, 12)), data.draw(st.integers(1, 8))
    number = st.floats(-1e6, 1e6).map(lambda x: 0.0 if abs(x) < 1e-6 else x)
    cells = data.draw(st.lists(number, min_size=n * d, max_size=n * d))
    X = np.array(cells).reshape(n, d)
    solver = data.draw(st.sampled_from(["covariance_eigh", "full"]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = PCA(svd_solver=solver).fit(X)
    assert_sound(model, min(n, d), d)
    back = model.inverse_transform(model.transform(X))
    np.testing.assert_allclose(back, X, atol=1e-7 * (1 + np.abs(X).max()))


# --- Files ---


def test_a_saved_model_transforms_the_same(tmp_path):
    X = falling()
    model = PCA(0.9, whiten=True).fit(X)
    model.save(tmp_path / "pca.safetensors")
    again = tacit.load(tmp_path / "pca.safetensors")
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    np.testing.assert_array_equal(again.reconstruction_errors(), model.reconstruction_errors())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("explained_variance_", [-1.0, -2.0]),
        ("eigenvalues_", [1.0]),
        ("eigenvalues_", [1.0, 2.0, 3.0]),
        ("mean_", [0.0]),
        ("total_variance_", -3.0),
        ("_weight", 0.0),
    ],
)
def test_a_forged_file_is_refused(tmp_path, name, value):
    model = PCA(2).fit(falling(n=30, d=3))
    setattr(model, name, np.array(value) if isinstance(value, list) else value)
    path = tmp_path / "pca.safetensors"
    try:
        model.save(path)
    except ValueError:
        return  # not even written
    with pytest.raises(ModelFileError):
        tacit.load(path)


def test_products_of_very_many_float32_rows_are_exact_enough():
    from tacit.core import moments

    X = falling(n=5000, d=30, mean=50.0).astype(np.float32)
    exact = moments.collect(moments.MomentsParams(), X)
    single = moments.collect(moments.MomentsParams(single=True), X)
    scale = exact.scatter.diagonal().max()
    np.testing.assert_allclose(single.scatter, exact.scatter, atol=1e-6 * scale)
    np.testing.assert_allclose(single.mean, exact.mean, rtol=1e-9)
    large = X * np.float32(1e25)  # squares that float32 does not hold
    again = moments.collect(moments.MomentsParams(single=True), large)
    assert np.isfinite(again.scatter).all()
