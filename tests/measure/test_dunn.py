"""The Dunn index: agreement with all pairs, exact where clusters touch."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.exceptions import UndefinedMetricWarning

from tacit.core import Serial, Threads
from tacit.measure import dunn_score
from tests.measure.test_silhouette import labeled


def by_pairs(X, labels, metric="euclidean"):
    distances, same = cdist(X, X, metric), labels[:, None] == labels
    return distances[~same].min() / distances[same].max()


@pytest.mark.parametrize("shape", [(600, 4, 5), (1500, 16, 2), (300, 1, 3), (700, 2, 300)])
def test_it_is_the_quotient_over_all_pairs(shape):
    X, labels = labeled(*shape)
    assert dunn_score(X, labels) == pytest.approx(by_pairs(X, labels), rel=1e-9)
    assert dunn_score(sp.csr_array(X), labels) == pytest.approx(by_pairs(X, labels), rel=1e-9)
    assert dunn_score(cdist(X, X), labels, metric="precomputed") == pytest.approx(
        by_pairs(X, labels), rel=1e-9
    )
    assert dunn_score(X, labels, metric="manhattan") == pytest.approx(
        by_pairs(X, labels, "cityblock"), rel=1e-9
    )


@settings(max_examples=50, deadline=None)
@given(st.integers(3, 40), st.integers(2, 6), st.integers(0, 10**6), st.booleans())
def test_whatever_the_rows(n, k, seed, far):
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, (n, 2)) + (1e7 if far else 0.0)
    labels = np.concatenate([[0, 1, 0], rng.integers(0, k, n - 3)])
    X[2] = X[0] + 1
    assert dunn_score(X, labels) == pytest.approx(by_pairs(X, labels), rel=1e-9, abs=1e-12)


def test_clusters_that_touch_far_from_zero_keep_their_digits():
    X = np.array([[1e8], [1e8 + 1], [1e8 + 1.25], [1e8 + 2.25]])
    assert dunn_score(X, [0, 0, 1, 1]) == 0.25


def test_threads_and_short_calls_change_nothing(monkeypatch):
    X, labels = labeled(3000, 5, 4)
    reference = dunn_score(X, labels, engine=Serial())
    assert dunn_score(X, labels, engine=Threads(2)) == reference
    monkeypatch.setattr("tacit.measure.pair_scores.CALL_WORK", 1)
    assert dunn_score(X, labels) == pytest.approx(reference, rel=1e-12)


def test_single_points_are_zero_and_a_warning():
    for X, labels in ((np.eye(3), [0, 1, 2]), (np.ones((4, 2)), [0, 0, 1, 1])):
        with pytest.warns(UndefinedMetricWarning, match="single point"):
            assert dunn_score(X, labels) == 0.0


def test_one_cluster_and_no_rows_are_refused():
    with pytest.raises(ValueError, match="at least 2 clusters"):
        dunn_score(np.eye(3), [0, 0, 0])
    with pytest.raises(ValueError, match="no rows"):
        dunn_score(np.empty((0, 2)), [])
