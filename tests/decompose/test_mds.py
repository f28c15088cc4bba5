"""Multidimensional scaling: classical, metric, non-metric, landmarks, new items."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.exceptions import ConvergenceWarning
from sklearn.isotonic import isotonic_regression
from sklearn.manifold import ClassicalMDS as RivalClassical
from sklearn.manifold import smacof as rival_smacof

import tacit
from tacit.core import DataError, ModelFileError, Serial, Threads
from tacit.data import Table
from tacit.decompose import MDS, PCA, ClassicalMDS
from tacit.decompose.mds import Order, stress


def points(n=80, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d)) * np.arange(d, 0, -1)


def noisy(n=80, noise=0.3, seed=0):
    """Distances that no points have."""
    rng = np.random.default_rng(seed)
    D = cdist(points(n, seed=seed), points(n, seed=seed))
    D = np.abs(D + noise * rng.normal(size=D.shape))
    D = (D + D.T) / 2
    np.fill_diagonal(D, 0)
    return D


# --- Classical ---


@pytest.mark.parametrize("n", [80, 700], ids=["all eigenvalues", "by Lanczos"])
def test_classical_scaling_is_that_of_scikit_learn(n):
    D = noisy(n)
    rival = RivalClassical(2, metric="precomputed").fit(D)
    model = ClassicalMDS(2, metric="precomputed").fit(D)
    np.testing.assert_allclose(model.eigenvalues_, rival.eigenvalues_, rtol=1e-10)
    signs = np.sign((model.embedding_ * rival.embedding_).sum(axis=0))
    np.testing.assert_allclose(model.embedding_, rival.embedding_ * signs, atol=1e-6)


@pytest.mark.parametrize("n", [80, 700], ids=["all eigenvalues", "by Lanczos"])
def test_distances_of_points_give_the_points_back(n):
    X = points(n)
    model = ClassicalMDS(3, metric="precomputed").fit(cdist(X, X))
    np.testing.assert_allclose(cdist(*[model.embedding_] * 2), cdist(X, X), atol=1e-6)
    assert model.goodness_ == pytest.approx(1.0, abs=1e-9)
    assert len(model.negative_eigenvalues_) == 0
    assert ClassicalMDS(2, metric="precomputed").fit(cdist(X, X)).goodness_ < 0.99


def test_rows_and_their_distances_give_the_same_points():
    X = points()
    by_rows = ClassicalMDS(2).fit(X)
    by_distances = ClassicalMDS(2, metric="precomputed").fit(cdist(X, X))
    signs = np.sign((by_rows.embedding_ * by_distances.embedding_).sum(axis=0))
    np.testing.assert_allclose(by_rows.embedding_, by_distances.embedding_ * signs, atol=1e-9)
    np.testing.assert_allclose(by_rows.eigenvalues_, by_distances.eigenvalues_, rtol=1e-10)
    np.testing.assert_allclose(by_rows.embedding_, PCA(2).fit_transform(X), atol=1e-12)
    assert by_rows.goodness_ == pytest.approx(by_distances.goodness_)
    sparse = ClassicalMDS(2).fit(sp.csr_array(X))
    np.testing.assert_allclose(sparse.embedding_, by_rows.embedding_, atol=1e-9)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine", "precomputed"])
@pytest.mark.parametrize("n_landmarks", [None, 30])
def test_an_item_of_the_fit_comes_back_to_its_place(metric, n_landmarks):
    X = points()
    data = cdist(X, X) if metric == "precomputed" else X
    model = ClassicalMDS(2, metric=metric, n_landmarks=n_landmarks, random_state=0).fit(data)
    np.testing.assert_allclose(model.transform(data), model.embedding_, atol=1e-8)
    assert len(model.landmarks_) == (n_landmarks or 80)


def test_landmarks_place_points_where_all_distances_would():
    X = points(500)
    model = ClassicalMDS(3, metric="manhattan", n_landmarks=40, random_state=0).fit(X)
    assert model.embedding_.shape == (500, 3)
    exact = ClassicalMDS(3, n_landmarks=40, random_state=0).fit(X)
    np.testing.assert_allclose(cdist(*[exact.embedding_] * 2), cdist(X, X), atol=1e-7)
    assert len(np.unique(exact.landmarks_)) == 40


def test_negative_eigenvalues_are_reported_and_large_ones_cause_a_warning():
    D = noisy(60, noise=2.0)
    values = np.linalg.eigvalsh(-0.5 * (center := np.eye(60) - 1 / 60) @ D**2 @ center)
    with pytest.warns(UserWarning, match=r"far from those of points.*Lower n_components"):
        model = ClassicalMDS(30, metric="precomputed").fit(D)
    np.testing.assert_allclose(
        model.negative_eigenvalues_, values[values < -1e-6], rtol=1e-9, atol=1e-9
    )
    size = np.abs(values).sum()
    assert model.goodness_ == pytest.approx(np.sort(values)[::-1][:30].sum() / size)


def test_a_large_negative_eigenvalue_does_not_take_the_place_of_a_positive_one():
    n = 700
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(np.column_stack([np.ones(n), rng.normal(size=(n, 4))]))[0][:, 1:]
    B = (Q * [50.0, -200.0, 20.0, -90.0]) @ Q.T
    B = (B + B.T) / 2  # a product of matrices need not be symmetric to the last bit
    lengths = np.diag(B)
    squares = lengths[:, None] + lengths - 2 * B
    D = np.sqrt(np.maximum(squares - squares.min(), 0))
    np.fill_diagonal(D, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = ClassicalMDS(2, metric="precomputed").fit(D)
    rival = RivalClassical(2, metric="precomputed").fit(D)
    np.testing.assert_allclose(model.eigenvalues_, rival.eigenvalues_, rtol=1e-6)


# --- Metric ---


@pytest.mark.parametrize("k", [2, 3])
def test_iterations_are_those_of_scikit_learn(k):
    D, start = noisy(70), np.random.default_rng(1).normal(size=(70, k))
    theirs, their_stress, _ = rival_smacof(
        D, n_components=k, init=start - start.mean(0), n_init=1, max_iter=25, eps=0,
        return_n_iter=True, normalized_stress=False,
    )  # fmt: skip
    with pytest.warns(ConvergenceWarning, match=r"max_iter=25.*Raise"):
        model = MDS(k, metric="precomputed", init=start, max_iter=25, eps=0).fit(D)
    np.testing.assert_allclose(model.embedding_, theirs, atol=1e-9)
    assert model.stress_ == pytest.approx(their_stress, rel=1e-9)
    assert stress(D, theirs, normalized=False) == pytest.approx(their_stress, rel=1e-9)


def test_the_stress_never_rises_and_a_perfect_fit_has_none():
    model = MDS(2, metric="precomputed", init="random", random_state=0).fit(noisy())
    assert model.converged_
    assert (np.diff(model.stresses_) <= 1e-7 * model.stresses_[0]).all()
    X = points(50, 2)
    exact = MDS(2, normalized_stress=True).fit(X)
    assert exact.stress_ < 1e-6
    assert exact.n_iter_ <= 2


def test_more_runs_never_have_more_stress():
    D = noisy(40, noise=1.0)
    one, five = (
        MDS(2, metric="precomputed", init="random", n_init=k, random_state=0).fit(D).stress_
        for k in (1, 5)
    )
    assert five <= one


def test_metric_scaling_is_better_than_classical_by_its_own_measure():
    D = noisy(noise=1.0)
    classical = ClassicalMDS(2, metric="precomputed").fit(D).embedding_
    metric = MDS(2, metric="precomputed").fit(D).embedding_
    assert stress(D, metric) < stress(D, classical)


def test_a_callback_sees_the_stress_and_may_stop():
    seen = []

    def watch(step):
        seen.append(step.losses[-1])
        return step.number == 3

    model = MDS(2, metric="precomputed", init="random", random_state=0, callbacks=[watch])
    model.fit(noisy())
    assert model.n_iter_ == len(seen) == 3
    assert seen == sorted(seen, reverse=True)


# --- Non-metric ---


def test_only_the_order_of_the_dissimilarities_counts():
    D, across = noisy(50), np.ascontiguousarray(points(50, 2).T)
    fitted = [Order(values).disparities(across) for values in (D, D**3, np.log1p(D))]
    np.testing.assert_array_equal(fitted[0], fitted[1])
    np.testing.assert_array_equal(fitted[0], fitted[2])
    assert (np.diff(fitted[0]) >= 0).all()
    free = MDS(2, metric="precomputed", metric_mds=False).fit(D).stress_
    assert free < MDS(2, metric="precomputed", normalized_stress=True).fit(D).stress_


def test_non_metric_scaling_comes_to_the_stress_of_scikit_learn():
    D, start = noisy(50), np.random.default_rng(1).normal(size=(50, 2))
    rival = rival_smacof(
        D, metric=False, n_components=2, init=start, n_init=1, max_iter=1000, eps=1e-12,
        normalized_stress=True,
    )[1]  # fmt: skip
    model = MDS(
        2, metric_mds=False, metric="precomputed", init=start, max_iter=1000, eps=1e-12
    ).fit(D)
    assert model.stress_ == pytest.approx(rival, rel=1e-3)


@settings(max_examples=50, deadline=None)
@given(st.integers(2, 9), st.integers(0, 2**32 - 1))
def test_disparities_are_the_isotonic_regression_of_the_distances(n, seed):
    rng = np.random.default_rng(seed)
    pairs, across = rng.integers(1, 6, n * (n - 1) // 2), rng.normal(size=(2, n))
    sizes = np.unique(pairs, return_counts=True)[1]
    means = [pdist(across.T)[pairs == each].mean() for each in np.unique(pairs)]
    wanted = isotonic_regression(means, sample_weight=sizes)
    wanted *= np.sqrt(len(pairs) / (sizes * wanted**2).sum())
    order = Order(squareform(pairs.astype(np.float64)))
    fitted = order.disparities(across)
    np.testing.assert_allclose(fitted, wanted, rtol=1e-9)
    in_place = squareform(order.matrix(fitted), checks=False)
    np.testing.assert_array_equal(in_place, fitted[np.searchsorted(np.unique(pairs), pairs)])


# --- New items ---


@pytest.mark.parametrize("metric", ["precomputed", "euclidean"])
def test_a_new_item_finds_its_place_among_the_others(metric):
    X = points(60, 2)
    known, new = X[:50], X[50:]
    if metric == "precomputed":
        model = MDS(2, metric=metric, eps=1e-12).fit(cdist(known, known))
        placed = model.place(cdist(new, known))
    else:
        model = MDS(2, eps=1e-12).fit(known)
        placed = model.place(new)
    np.testing.assert_allclose(cdist(placed, model.embedding_), cdist(new, known), atol=1e-4)


def test_a_new_item_of_a_non_metric_scaling_is_placed_by_order():
    X = points(60, 2)
    model = MDS(2, metric_mds=False).fit(X[:50])
    order = np.argsort(cdist(X[50:], X[:50]), axis=1)
    placed = np.argsort(cdist(model.place(X[50:]), model.embedding_), axis=1)
    assert (placed[:, 0] == order[:, 0]).mean() >= 0.7
    assert (placed[:, -1] == order[:, -1]).mean() >= 0.7


# --- The same bits, degenerate and hostile input, files ---


@pytest.mark.parametrize("metric_mds", [True, False])
def test_the_engine_cannot_change_a_bit(metric_mds):
    D = noisy(600)
    fits = [
        MDS(2, metric="precomputed", metric_mds=metric_mds, eps=1e-3, engine=engine).fit(D)
        for engine in (Serial(), Threads(1), Threads(3))
    ]
    assert len({fit.embedding_.tobytes() for fit in fits}) == 1
    assert len({fit.place(D[:9]).tobytes() for fit in fits}) == 1
    marks = [
        ClassicalMDS(2, metric="precomputed", n_landmarks=30, random_state=0, engine=engine)
        for engine in (Serial(), Threads(3))
    ]
    assert len({mark.fit(D).embedding_.tobytes() for mark in marks}) == 1


@pytest.mark.parametrize("n", [2, 3, 12])
def test_items_that_are_all_in_one_place(n):
    D = np.zeros((n, n))
    for model in (
        ClassicalMDS(2, metric="precomputed"),
        MDS(2, metric="precomputed"),
        MDS(2, metric="precomputed", metric_mds=False),
        MDS(2, metric="precomputed", init="random", random_state=0),
    ):
        embedding = model.fit_transform(D)
        assert np.isfinite(embedding).all()
        np.testing.assert_allclose(embedding, 0, atol=1e-12)
    rows = np.ones((n, 3))
    np.testing.assert_array_equal(ClassicalMDS(2).fit_transform(rows), 0)
    np.testing.assert_array_equal(MDS(2).fit_transform(rows), 0)


def test_duplicates_stay_together():
    X = np.repeat(points(10), 3, axis=0)
    embedding = MDS(2).fit_transform(X)
    np.testing.assert_allclose(embedding[::3], embedding[1::3], atol=1e-9)


def test_more_dimensions_than_there_are():
    X = points(5, 2)
    for model in (ClassicalMDS(4), ClassicalMDS(4, metric="manhattan")):
        assert model.fit_transform(X).shape == (5, 4)
    np.testing.assert_array_equal(ClassicalMDS(4).fit_transform(X)[:, 2:], 0)


@pytest.mark.parametrize("kind", [ClassicalMDS, MDS])
def test_what_is_no_matrix_of_distances_is_refused(kind):
    D = noisy(5)
    wrong = {
        "square matrix": D[:4],
        "symmetric": D + np.triu(np.ones((5, 5)), 1),
        "Negative values": -D,
    }
    for message, bad in wrong.items():
        with pytest.raises(ValueError, match=message):
            kind(metric="precomputed").fit(bad)
    D[1, 3] = np.nan
    with pytest.raises((ValueError, DataError), match="NaN"):
        kind(metric="precomputed").fit(D)
    with pytest.raises(ValueError, match=r"n_samples=1"):
        kind().fit([[1.0, 2.0]])


def test_rows_on_disk_are_refused_with_the_way_out(tmp_path):
    np.save(tmp_path / "rows.npy", points())
    with pytest.raises(ValueError, match=r"all 80 rows in memory.*n_landmarks"):
        ClassicalMDS(metric="cosine").fit(Table.from_npy(tmp_path / "rows.npy"))


def test_a_start_of_another_shape_is_refused():
    with pytest.raises(ValueError, match=r"init.*\(80, 2\).*\(3, 2\)"):
        MDS(2, init=np.zeros((3, 2))).fit(points())
    with pytest.raises(ValueError, match="one row of points for each of the 5 items"):
        stress(noisy(5), np.zeros((4, 2)))


@pytest.mark.parametrize(
    "model",
    [
        ClassicalMDS(2),
        ClassicalMDS(2, metric="manhattan"),
        ClassicalMDS(2, n_landmarks=9, random_state=0),
        MDS(2),
        MDS(2, metric_mds=False),
    ],
    ids=str,
)
def test_a_saved_model_places_the_same(model, tmp_path):
    X = points(30)
    model.fit(X).save(tmp_path / "mds.safetensors")
    again = tacit.load(tmp_path / "mds.safetensors")
    place = "transform" if hasattr(model, "transform") else "place"
    np.testing.assert_array_equal(getattr(again, place)(X), getattr(model, place)(X))


@pytest.mark.parametrize(
    ("model", "name", "value"),
    [
        (ClassicalMDS(2, n_landmarks=5, random_state=0), "landmarks_", np.arange(5) + 99),
        (ClassicalMDS(2, n_landmarks=5, random_state=0), "_rows", np.zeros((4, 3))),
        (ClassicalMDS(2), "_map", np.zeros((2, 9))),
        (MDS(2), "_rows", np.zeros((2, 3))),
        (MDS(2, metric_mds=False), "_curve", np.array([[1.0, 0.0], [0.0, 1.0]])),
        (MDS(2, metric_mds=False), "_curve", None),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_forged_file_is_refused(model, name, value, tmp_path):
    model.fit(points(30))
    setattr(model, name, value)
    try:
        model.save(tmp_path / "mds.safetensors")
    except ValueError:
        return  # not even written
    with pytest.raises(ModelFileError):
        tacit.load(tmp_path / "mds.safetensors")
