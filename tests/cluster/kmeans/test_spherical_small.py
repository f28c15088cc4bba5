"""k-means by matrix products, and the figures of many clusterings at once."""

import numpy as np
import pytest
from sklearn.metrics import (
    calinski_harabasz_score,
    davies_bouldin_score,
    silhouette_score,
    v_measure_score,
)

from tacit.cluster import SphericalKMeans
from tacit.cluster.choosing.k_trials import calinski_harabasz
from tacit.cluster.choosing.unit_figures import unit_davies_bouldin, unit_figures
from tacit.cluster.kmeans.spherical_small import are_units, nearest_directions, small_spherical
from tacit.core.engines import one_blas_thread


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
    fit = small_spherical(rows, 6, seed=1)
    assert v_measure_score(truth, fit.labels) > 0.99
    assert np.allclose(np.linalg.norm(fit.centers, axis=1), 1, atol=1e-5)
    assert np.array_equal(nearest_directions(rows.astype("f4"), fit.centers), fit.labels)


def test_it_is_as_good_as_the_estimator():
    rows, _ = units(1500, 30, 12, seed=2, width=1.0)
    ours = small_spherical(rows, 12, seed=0, starts=5).inertia
    theirs = SphericalKMeans(12, n_init=5, random_state=0).fit(rows).inertia_
    assert ours / 2 == pytest.approx(theirs, rel=0.01)  # 1 - cos is half of a square


def test_the_same_seed_gives_the_same_bits_in_one_call_or_many(monkeypatch):
    rows, _ = units(400, 10, 5, seed=3, width=2.0)
    with one_blas_thread():
        whole = small_spherical(rows, 5, seed=4)
        monkeypatch.setattr("tacit.cluster.kmeans.spherical_small.CALL", 1)  # a pass to a call
        parts = small_spherical(rows, 5, seed=4)
    assert whole.labels.tobytes() == parts.labels.tobytes()
    assert whole.centers.tobytes() == parts.centers.tobytes()
    assert small_spherical(rows, 5, seed=5).labels.tobytes() != whole.labels.tobytes()


def test_fewer_different_rows_than_clusters_leave_clusters_empty():
    rows = np.repeat(np.eye(3), 10, axis=0)
    fit = small_spherical(rows, 5, seed=0)
    assert len(np.unique(fit.labels)) == 3
    assert fit.inertia == pytest.approx(0, abs=1e-4)
    assert np.isfinite(fit.centers).all()


@pytest.mark.parametrize("k", [1, 4])
def test_one_row_for_each_cluster_will_do(k):
    fit = small_spherical(np.eye(4)[:k], k, seed=0)
    assert sorted(fit.labels.tolist()) == list(range(k))


def test_an_empty_cluster_starts_again_at_the_farthest_row():
    rows = np.concatenate([np.repeat([[1.0, 0.0, 0.0]], 50, axis=0), np.eye(3)[1:]])
    assert np.bincount(small_spherical(rows, 3, seed=0).labels).tolist().count(1) == 2


def test_rows_of_other_lengths_are_told():
    assert are_units(np.eye(3))
    assert not are_units(np.zeros((2, 3)))
    assert not are_units(2 * np.eye(3))


@pytest.mark.parametrize("n", [700, 40])
def test_figures_agree_with_scikit_learn(n):
    rows, truth = units(n, 8, 3, seed=6, width=1.5)
    rng = np.random.default_rng(7)
    several = [truth, rng.integers(5, size=n), np.zeros(n, int)]
    inertia, silhouette = unit_figures(rows, several)
    assert np.isnan(silhouette[2])
    for labels, within, sharp in zip(several[:2], inertia, silhouette, strict=False):
        assert sharp == pytest.approx(silhouette_score(rows, labels), abs=1e-5)
        k = int(labels.max()) + 1
        assert unit_davies_bouldin(rows, labels) == pytest.approx(
            davies_bouldin_score(rows, labels)
        )
        assert calinski_harabasz(rows, k, within) == pytest.approx(
            calinski_harabasz_score(rows, labels)
        )


def test_a_row_alone_has_no_silhouette_and_equal_rows_have_none_to_speak_of():
    rows = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    assert unit_figures(rows, [np.array([0, 0, 1])]).silhouette[0] == pytest.approx(2 / 3)
    same = np.repeat([[0.6, 0.8]], 4, axis=0)
    assert abs(unit_figures(same, [np.array([0, 0, 1, 1])]).silhouette[0]) <= 1
