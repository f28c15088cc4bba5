"""k-means of few rows by matrix products: planted clusters, empty clusters, same bits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans as TheirKMeans
from sklearn.datasets import load_iris
from sklearn.metrics import v_measure_score

from tacit.cluster import SphericalKMeans
from tacit.cluster.small_kmeans import are_units, small_kmeans
from tacit.core import Serial, Threads
from tacit.core.engines import one_blas_thread
from tacit.kernels.nearest_centers import nearest_centers, run_passes


def units(n, d, k, seed, width=0.3):
    """Rows of length one around k directions, and which."""
    rng = np.random.default_rng(seed)
    centers = rng.normal(size=(k, d))
    centers /= np.linalg.norm(centers, axis=1, keepdims=True)
    truth = rng.integers(k, size=n)
    rows = centers[truth] + width * rng.normal(size=(n, d)) / np.sqrt(d)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True), truth


def test_planted_directions_are_found():
    rows, truth = units(900, 20, 6, seed=0)
    fit = small_kmeans(rows, 6, seed=1, unit=True)
    assert v_measure_score(truth, fit.labels) > 0.99
    assert np.allclose(np.linalg.norm(fit.centers, axis=1), 1, atol=1e-5)
    assert np.array_equal(
        nearest_centers(rows.astype("f4"), fit.centers.astype("f4"), unit=True), fit.labels
    )


def test_it_is_as_good_as_the_estimator():
    rows, _ = units(1500, 30, 12, seed=2, width=1.0)
    ours = small_kmeans(rows, 12, seed=0, starts=5, unit=True).inertia
    theirs = SphericalKMeans(12, n_init=5, random_state=0).fit(rows).inertia_
    assert ours / 2 == pytest.approx(theirs, rel=0.01)  # 1 - cos is half of a square


def test_the_same_seed_gives_the_same_bits_in_one_call_or_many(monkeypatch):
    rows, _ = units(400, 10, 5, seed=3, width=2.0)
    with one_blas_thread():
        whole = small_kmeans(rows, 5, seed=4, unit=True)
        monkeypatch.setattr("tacit.cluster.small_kmeans.CALL", 1)  # a pass to a call
        parts = small_kmeans(rows, 5, seed=4, unit=True)
    assert whole.labels.tobytes() == parts.labels.tobytes()
    assert whole.centers.tobytes() == parts.centers.tobytes()
    assert small_kmeans(rows, 5, seed=5, unit=True).labels.tobytes() != whole.labels.tobytes()


def test_fewer_different_rows_than_clusters_leave_clusters_empty():
    rows = np.repeat(np.eye(3), 10, axis=0)
    fit = small_kmeans(rows, 5, seed=0, unit=True)
    assert len(np.unique(fit.labels)) == 3
    assert fit.inertia == pytest.approx(0, abs=1e-4)
    assert np.isfinite(fit.centers).all()


@pytest.mark.parametrize("k", [1, 4])
def test_one_row_for_each_cluster_will_do(k):
    fit = small_kmeans(np.eye(4)[:k], k, seed=0, unit=True)
    assert sorted(fit.labels.tolist()) == list(range(k))


def test_an_empty_cluster_starts_again_at_the_farthest_row():
    rows = np.concatenate([np.repeat([[1.0, 0.0, 0.0]], 50, axis=0), np.eye(3)[1:]])
    assert np.bincount(small_kmeans(rows, 3, seed=0, unit=True).labels).tolist().count(1) == 2


def test_rows_of_other_lengths_are_recognized():
    assert are_units(np.eye(3))
    assert not are_units(np.zeros((2, 3)))
    assert not are_units(2 * np.eye(3))


def test_small_kmeans_is_as_good_as_kmeans():
    X = load_iris().data
    for k in (2, 3, 5):
        ours = small_kmeans(X, k, seed=1, starts=10)
        theirs = TheirKMeans(k, n_init=10, random_state=0).fit(X)
        assert ours.inertia == pytest.approx(theirs.inertia_, rel=0.01)
        means = np.array([X[ours.labels == j].mean(axis=0) for j in range(k)])
        assert np.allclose(means, ours.centers)


@settings(max_examples=30)
@given(
    n=st.integers(1, 30), d=st.integers(1, 4), k=st.integers(1, 6), kinds=st.integers(1, 8),
    seed=st.integers(0, 9),
)  # fmt: skip
def test_small_kmeans_fills_every_cluster_that_can_be(n, d, k, kinds, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(kinds, d))[rng.integers(kinds, size=n)]
    fit = small_kmeans(X, k, seed=seed)
    distinct = len(np.unique(X, axis=0))
    assert len(np.unique(fit.labels)) == min(k, distinct)
    assert fit.labels.max() < k
    own = ((X - fit.centers[fit.labels]) ** 2).sum()
    assert fit.inertia == pytest.approx(own, abs=1e-9)


@pytest.mark.parametrize("unit", [True, False])
def test_passes_over_all_rows_are_plain_lloyd_on_any_engine(unit):
    rows, _ = units(9000, 6, 4, seed=8, width=0.8)
    rows = rows.astype(np.float32)
    first = rows[:4]
    labels, centers = run_passes(rows, first, Serial(), passes=3, unit=unit)
    again = run_passes(rows, first, Threads(3), passes=3, unit=unit)
    assert labels.tobytes() == again[0].tobytes()
    assert centers.tobytes() == again[1].tobytes()
    plain = first.astype(np.float64)
    for _ in range(3):
        nearest = ((rows[:, None] - plain) ** 2).sum(axis=2).argmin(axis=1)
        plain = np.array([rows[nearest == j].mean(axis=0, dtype=np.float64) for j in range(4)])
        if unit:
            plain /= np.linalg.norm(plain, axis=1, keepdims=True)
    assert np.allclose(centers, plain, atol=1e-5)
