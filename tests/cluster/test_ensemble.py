"""Ensembles of k-means: rows that most clusterings put together lie close."""

import numpy as np
from sklearn.metrics import adjusted_rand_score

from tacit.cluster.ensemble import ensemble_rows
from tacit.cluster.small_kmeans import small_kmeans
from tacit.core import Threads

SEED = np.uint64(4)


def noisy(n=150, groups=4, d=20, noise=0.22, seed=0):
    """Rows of length one around random directions, with much noise; their groups."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(groups, size=n)
    rows = np.linalg.qr(rng.normal(size=(d, groups)))[0].T[labels]
    rows = rows + noise * rng.normal(size=(n, d))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32), labels


def test_rows_have_length_one_along_a_few_directions():
    rows, _ = noisy()
    found = ensemble_rows(rows, [3, 6], SEED)
    assert found.shape == (150, 30)
    assert found.dtype == np.float32
    assert np.allclose((found**2).sum(axis=1), 1, atol=1e-5)
    assert ensemble_rows(rows[:9], [2], SEED, runs=5).shape == (9, 9)


def test_with_much_noise_kmeans_of_an_ensemble_finds_more_than_kmeans_alone():
    alone, together = [], []
    for seed in range(6):
        rows, truth = noisy(240, 8, 25, noise=0.37, seed=seed)
        space = ensemble_rows(rows, [8], SEED)
        for found, data in ((alone, rows), (together, space)):
            labels = small_kmeans(data, 8, seed, starts=10, unit=True).labels
            found.append(adjusted_rand_score(truth, labels))
    assert np.mean(together) > np.mean(alone) + 0.01


def test_equal_rows_and_more_clusters_than_rows_are_no_problem():
    rows = np.tile(np.array([[1.0, 0.0]], np.float32), (8, 1))
    found = ensemble_rows(rows, [2], SEED, runs=4)
    assert np.allclose(found @ found.T, 1, atol=1e-5)
    assert np.isfinite(ensemble_rows(noisy(6)[0], [5], SEED, runs=4)).all()


def test_the_result_is_the_same_on_any_number_of_threads():
    rows, _ = noisy()
    again = ensemble_rows(rows, [3, 6], SEED, engine=Threads(2))
    assert np.array_equal(ensemble_rows(rows, [3, 6], SEED), again)
