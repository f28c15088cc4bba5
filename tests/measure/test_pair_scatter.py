"""Scatter: what is within clusters and what is between them is all there is."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from tacit.core import Serial
from tacit.data import Table
from tacit.measure import inertia, scatter
from tests.measure.test_silhouette import labeled

NAMES = {"euclidean": "euclidean", "sqeuclidean": "sqeuclidean", "manhattan": "cityblock"}


@pytest.mark.parametrize("metric", NAMES)
@pytest.mark.parametrize("k", [1, 5, 40])
def test_it_is_the_sum_over_pairs(metric, k):
    X, labels = labeled(400, 3, k)
    distances = cdist(X, X, NAMES[metric])
    same = labels[:, None] == labels
    result = scatter(X, labels, metric=metric)
    assert result.within == pytest.approx(distances[same].sum(), rel=1e-9)
    assert result.between == pytest.approx(distances[~same].sum(), rel=1e-9, abs=1e-9)
    assert result.total == pytest.approx(distances.sum(), rel=1e-9)
    assert sum(result.clusters.values()) == pytest.approx(result.within, rel=1e-12)
    assert set(result.clusters) == set(labels.tolist())


@settings(max_examples=50, deadline=None)
@given(st.integers(2, 40), st.integers(1, 8), st.integers(0, 10**6))
def test_no_clustering_changes_the_total(n, k, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    one = scatter(X, np.zeros(n))
    many = scatter(X, rng.integers(0, k, n))
    assert one.between == 0
    assert one.within == pytest.approx(one.total)
    assert many.within + many.between == pytest.approx(one.total, rel=1e-9)
    assert scatter(X, np.arange(n)).within == 0


def test_squares_within_are_twice_n_times_the_inertia_of_each_cluster():
    X, labels = labeled(300, 4, 3)
    result = scatter(X, labels, metric="sqeuclidean")
    for name, within in result.clusters.items():
        rows = X[labels == name]
        assert within == pytest.approx(
            2 * len(rows) * inertia(rows, np.zeros(len(rows))), rel=1e-9
        )


def test_given_distances_functions_and_tables_agree(tmp_path):
    X, labels = labeled(300, 4, 3)
    reference = scatter(X, labels)
    np.save(tmp_path / "rows.npy", X)
    for other in (
        scatter(cdist(X, X), labels, metric="precomputed"),
        scatter(X, labels, metric=lambda a, b: float(np.linalg.norm(a - b))),
        scatter(Table.from_npy(tmp_path / "rows.npy"), labels, engine=Serial()),
    ):
        assert other.within == pytest.approx(reference.within, rel=1e-9)
        assert other.between == pytest.approx(reference.between, rel=1e-9)


def test_it_goes_to_json():
    assert scatter(np.array([[0.0], [2.0]]), ["a", "b"]).to_dict() == {
        "within": 0.0,
        "between": 4.0,
        "total": 4.0,
        "clusters": {"a": 0.0, "b": 0.0},
    }


def test_no_rows_are_refused():
    with pytest.raises(ValueError, match="no rows"):
        scatter(np.empty((0, 2)), [])
