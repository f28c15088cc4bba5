"""Fuzzy c-means and soft k-means: the textbook, the limits, memberships, bad input."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from tacit.cluster import FuzzyCMeans, KMeans, SoftKMeans, soft
from tacit.core import Checkpoint, Serial, Threads
from tacit.data import Table
from tests.contract.cases import blobs, documents, summary_of

both = pytest.mark.parametrize("make", [FuzzyCMeans, SoftKMeans], ids=["fuzzy", "soft"])


def squares(X, centers):
    return ((X[:, None] - centers) ** 2).sum(axis=2)


def plain_fuzzy(X, centers, m, passes):
    """The textbook, one formula at a time."""
    for _ in range(passes):
        d = np.sqrt(squares(X, centers))
        u = np.array(
            [
                [1 / ((row[j] / row) ** (2 / (m - 1))).sum() for j in range(len(row))]
                for row in d
            ]
        )
        centers = (u**m).T @ X / (u**m).sum(axis=0)[:, None]
    return centers


def plain_soft(X, centers, stiffness, passes):
    for _ in range(passes):
        r = np.exp(-stiffness * squares(X, centers) / 2)
        r /= r.sum(axis=1, keepdims=True)
        centers = r.T @ X / r.sum(axis=0)[:, None]
    return centers


# --- Agreement ---


@pytest.mark.parametrize("m", [1.3, 2.0, 3.5])
def test_fuzzy_is_the_textbook(m):
    X = blobs(300)
    first = X[:4] + 0.01  # off the rows, where the textbook divides by zero
    for passes in (1, 4):
        model = FuzzyCMeans(4, m=m, init=first, max_iter=passes, tol=0).fit(X)
        np.testing.assert_allclose(
            model.cluster_centers_, plain_fuzzy(X, first, m, passes), rtol=1e-9, atol=1e-9
        )


@pytest.mark.parametrize("stiffness", [0.3, 1.0, 4.0])
def test_soft_is_the_textbook(stiffness):
    X = blobs(300)
    for passes in (1, 4):
        model = SoftKMeans(4, stiffness=stiffness, init=X[:4], max_iter=passes, tol=0).fit(X)
        expected = plain_soft(X, X[:4], stiffness, passes)
        np.testing.assert_allclose(model.cluster_centers_, expected, rtol=1e-9, atol=1e-9)


def test_fuzzy_on_the_irises_is_what_others_find():
    """Objective and centers as printed by other implementations, m = 2."""
    model = FuzzyCMeans(3, random_state=0, tol=1e-12).fit(load_iris().data)
    assert model.objective_ == pytest.approx(60.5057, abs=1e-4)
    centers = model.cluster_centers_[np.argsort(model.cluster_centers_[:, 0])]
    np.testing.assert_allclose(
        centers,
        [
            [5.004, 3.414, 1.483, 0.254],
            [5.889, 2.761, 4.364, 1.397],
            [6.775, 3.052, 5.647, 2.054],
        ],
        atol=6e-4,
    )


# --- The limits ---


@pytest.mark.parametrize(
    "model",
    [FuzzyCMeans(5, m=1.001), SoftKMeans(5, stiffness=1e5)],
    ids=["m near 1", "very stiff"],
)
def test_in_the_limit_both_are_k_means(model):
    X = blobs(500, k=5)
    hard = KMeans(5, init=X[:5], tol=0).fit(X)
    model = model.set_params(init=X[:5], tol=0).fit(X)
    np.testing.assert_allclose(model.cluster_centers_, hard.cluster_centers_, atol=1e-4)
    np.testing.assert_array_equal(model.labels_, hard.labels_)
    assert model.objective_ == pytest.approx(hard.inertia_, rel=1e-4)
    member = model.membership(X)
    np.testing.assert_array_equal(member.argmax(axis=1), hard.labels_)
    assert (member.max(axis=1) > 0.99).mean() > 0.99


def test_very_fuzzy_memberships_even_out():
    X = blobs(200)
    member = FuzzyCMeans(3, m=50.0, random_state=0).fit(X).membership(X)
    assert np.abs(member - 1 / 3).mean() < 0.05
    assert np.abs(member - 1 / 3).mean() > 1e-4


def test_in_many_columns_two_is_too_fuzzy_and_the_warning_says_so():
    X = np.random.default_rng(0).normal(size=(200, 30))
    with pytest.warns(ConvergenceWarning, match=r"all centers in one place.*Lower .* or m"):
        FuzzyCMeans(3, random_state=0).fit(X)
    FuzzyCMeans(3, m=1.05, random_state=0).fit(X)  # no warning


def test_below_the_critical_stiffness_all_centers_fall_into_the_mean():
    """It is one over the variance along the first principal axis."""
    X = blobs(400, d=2, k=3)
    critical = 1 / np.linalg.eigvalsh(np.cov(X.T, bias=True))[-1]
    with pytest.warns(ConvergenceWarning, match="all centers in one place.*raise stiffness"):
        loose = SoftKMeans(3, stiffness=0.8 * critical, init=X[:3], max_iter=1000, tol=0).fit(X)
    np.testing.assert_allclose(loose.cluster_centers_ - X.mean(axis=0), 0, atol=1e-3)
    stiff = SoftKMeans(2, stiffness=1.2 * critical, init=X[:2], max_iter=1000).fit(X)
    assert np.ptp(stiff.cluster_centers_, axis=0).max() > 0.5


def test_the_stiffness_has_units_and_auto_knows_them():
    X = blobs(300)
    a = SoftKMeans(4, init=X[:4]).fit(X)
    b = SoftKMeans(4, init=1024 * X[:4]).fit(1024 * X)
    assert a.stiffness_ == pytest.approx(b.stiffness_ * 1024**2, rel=1e-12)
    np.testing.assert_allclose(a.membership(X), b.membership(1024 * X), atol=1e-9)
    c = SoftKMeans(4, stiffness=a.stiffness_, init=X[:4]).fit(X)
    np.testing.assert_array_equal(a.cluster_centers_, c.cluster_centers_)


# --- Memberships ---


@both
def test_memberships_are_shares_and_labels_the_largest(make):
    X = blobs(500)
    model = make(4, random_state=0).fit(X)
    member = model.membership(X)
    assert member.shape == (500, 4)
    assert (member >= 0).all()
    np.testing.assert_allclose(member.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_array_equal(member.argmax(axis=1), model.labels_)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert model.membership(X.astype(np.float32)).dtype == np.float32


def test_a_row_on_a_center_belongs_to_it_alone_on_several_equally():
    params = soft.start(np.array([[0.0], [4.0], [4.0]]), summary_of(np.array([[0.0], [4.0]])))
    member = soft.memberships(params, np.array([[0.0], [4.0], [2.0]]))
    np.testing.assert_allclose(member, [[1, 0, 0], [0, 0.5, 0.5], [1 / 3, 1 / 3, 1 / 3]])


def test_responsibilities_far_from_all_centers_do_not_vanish():
    params = soft.start(np.array([[0.0], [1.0]]), summary_of(np.eye(1)), stiffness=1e6)
    member = soft.memberships(params, np.array([[1e6], [-1e6]]))
    np.testing.assert_array_equal(member, [[0, 1], [1, 0]])


def test_a_center_without_any_weight_stays():
    X = np.array([[0.0], [1.0]])
    params = soft.start(np.array([[0.5], [1e9]]), summary_of(X), stiffness=1.0)
    moved = soft.update(params, soft.collect(params, X))
    np.testing.assert_array_equal(moved.centers, [[0.5], [1e9]])


# --- The objective ---


@settings(max_examples=40, deadline=None)
@given(
    hnp.arrays(np.float64, st.tuples(st.integers(6, 30), st.integers(1, 3)),
               elements=st.integers(-3, 3).map(float)),
    st.integers(1, 5),
    st.floats(1.05, 6),
)  # fmt: skip
def test_whatever_the_rows_the_objective_never_rises(X, k, sharpness):
    summary = summary_of(X)
    for model, params in (
        (soft, soft.start(X[:k], summary, m=sharpness)),
        (soft, soft.start(X[:k], summary, stiffness=sharpness)),
    ):
        losses = []
        for _ in range(10):
            stats = model.collect(params, X)
            losses.append(stats.loss)
            params = model.update(params, stats)
            assert np.isfinite(params.centers).all()
        assert (np.diff(losses) <= 1e-9 * max(losses[0], 1e-9)).all()


@both
def test_the_objective_is_what_the_formula_says(make):
    X = blobs(300)
    model = make(4, random_state=0).fit(X)
    d = squares(X, model.cluster_centers_)
    if isinstance(model, FuzzyCMeans):
        expected = (model.membership(X) ** model.m * d).sum()
    else:
        beta = model.stiffness_
        expected = (-2 / beta * np.log(np.exp(-beta * d / 2).mean(axis=1))).sum()
    assert model.objective_ == pytest.approx(expected, rel=1e-9)
    assert model.losses_[-1] * 300 == pytest.approx(expected, rel=1e-9)
    assert model.score(X) == pytest.approx(-expected, rel=1e-9)


# --- Rows of every kind ---


@both
def test_weight_two_is_the_row_twice(make):
    X = blobs(300)
    weights = np.random.default_rng(0).integers(0, 4, 300)
    a = make(4, random_state=0).fit(X, sample_weight=weights)
    b = make(4, random_state=0).fit(np.repeat(X, weights, axis=0))
    np.testing.assert_allclose(a.cluster_centers_, b.cluster_centers_, rtol=1e-9, atol=1e-9)
    assert a.objective_ == pytest.approx(b.objective_, rel=1e-9)


@both
def test_sparse_rows_are_dense_rows(make):
    X, _ = documents()
    more = {"m": 1.2} if make is FuzzyCMeans else {}
    dense, sparse = (make(3, random_state=0, **more).fit(rows) for rows in (X.toarray(), X))
    np.testing.assert_allclose(dense.cluster_centers_, sparse.cluster_centers_, atol=1e-8)
    np.testing.assert_allclose(dense.membership(X.toarray()), sparse.membership(X), atol=1e-6)


@both
def test_a_large_offset_costs_no_digits(make):
    X = blobs(300)
    near = make(4, init=X[:4]).fit(X).membership(X)
    far = make(4, init=X[:4] + 1e7).fit(X + 1e7).membership(X + 1e7)
    np.testing.assert_allclose(near, far, atol=1e-6)


@both
def test_files_and_threads_change_nothing(make, tmp_path):
    X = blobs(20_000)
    np.save(tmp_path / "rows.npy", X)
    table = Table.from_npy(tmp_path / "rows.npy")
    a = make(4, random_state=0, max_iter=5, engine=Serial()).fit(X)
    b = make(4, random_state=0, max_iter=5, engine=Threads(2)).fit(table)
    np.testing.assert_array_equal(a.cluster_centers_, b.cluster_centers_)
    assert a.objective_ == b.objective_
    np.testing.assert_array_equal(a.membership(X), b.membership(table))
    np.testing.assert_array_equal(b.predict(table), a.labels_)


@both
def test_all_rows_equal_gives_no_nan_and_says_so(make):
    X = np.full((10, 3), 7.0)
    with pytest.warns(ConvergenceWarning, match="all centers in one place"):
        model = make(4, random_state=0).fit(X)
    np.testing.assert_allclose(model.cluster_centers_, 7.0)
    np.testing.assert_allclose(model.membership(X), 0.25)
    assert model.objective_ == 0
    assert (model.labels_ == 0).all()


@both
def test_one_cluster_is_the_mean(make):
    X = blobs(100)
    model = make(1, random_state=0).fit(X)
    np.testing.assert_allclose(model.cluster_centers_[0], X.mean(axis=0), atol=1e-12)
    assert model.objective_ == pytest.approx(((X - X.mean(axis=0)) ** 2).sum(), rel=1e-12)


@both
def test_too_few_rows_and_bad_values_are_refused(make):
    with pytest.raises(ValueError, match=r"n_clusters=4.*n_samples=3"):
        make(4).fit(blobs(3))
    X = blobs(50)
    X[31, 2] = np.nan
    with pytest.raises(ValueError, match="row 31, column 2"):
        make(4).fit(X)


@pytest.mark.parametrize(
    "model",
    [FuzzyCMeans(2, m=1.0), FuzzyCMeans(2, m=0.5), SoftKMeans(2, stiffness=0.0),
     SoftKMeans(2, stiffness="hard"), FuzzyCMeans(2, n_init=0)],
)  # fmt: skip
def test_parameters_out_of_range_are_refused(model):
    with pytest.raises(ValueError, match="must be"):
        model.fit(blobs(20))


def test_restarts_keep_the_best():
    X = blobs(400, k=12)
    one = [
        FuzzyCMeans(8, m=1.2, init="random", random_state=s).fit(X).objective_ for s in range(4)
    ]
    many = FuzzyCMeans(8, m=1.2, init="random", n_init=5, random_state=0).fit(X)
    assert many.objective_ <= one[0]
    assert many.objective_ < max(one)


@both
def test_a_fit_cut_short_goes_on_where_it_was(make, tmp_path):
    X = blobs(500, k=4)
    settings = {"random_state": 0, "tol": 0, "max_iter": 12}
    complete = make(4, **settings).fit(X).cluster_centers_
    path = tmp_path / "fit.checkpoint"

    def interrupt(step):
        if step.number == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make(4, **settings, callbacks=[Checkpoint(path, every=0), interrupt]).fit(X)
    assert path.exists()
    model = make(4, **settings, callbacks=[Checkpoint(path, every=0)]).fit(X)
    np.testing.assert_array_equal(model.cluster_centers_, complete)
    assert not path.exists()
