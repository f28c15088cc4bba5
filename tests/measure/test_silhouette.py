"""Silhouettes: agreement with scikit-learn to the last digits, blocks, degenerate input."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics
from sklearn.exceptions import UndefinedMetricWarning

from tacit.core import Serial, Threads
from tacit.data import Table
from tacit.measure import silhouette_samples, silhouette_score
from tests.contract.cases import blobs, documents


def labeled(n=600, d=4, k=5, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(k, size=n)
    return rng.normal(size=(k, d))[labels] * 2 + rng.normal(size=(n, d)), labels


# The last has so many clusters that pairs are looked at from both sides.
SHAPES = [(600, 4, 5), (900, 16, 2), (300, 1, 3), (1500, 40, 11), (500, 2, 200)]


@pytest.mark.parametrize("shape", SHAPES)
def test_it_agrees_with_scikit_learn(shape):
    X, labels = labeled(*shape)
    expected = metrics.silhouette_samples(X, labels)
    np.testing.assert_allclose(silhouette_samples(X, labels), expected, rtol=1e-9, atol=1e-11)
    assert silhouette_score(X, labels) == pytest.approx(expected.mean(), rel=1e-9)


@pytest.mark.parametrize("metric", ["sqeuclidean", "manhattan", "cosine"])
def test_other_metrics_agree_too(metric):
    X, labels = labeled()
    np.testing.assert_allclose(
        silhouette_samples(X, labels, metric=metric),
        metrics.silhouette_samples(X, labels, metric=metric),
        rtol=1e-9,
        atol=1e-11,
    )


def test_sparse_rows_given_distances_and_functions_agree():
    X, _ = documents(300)
    dense = X.toarray()
    labels = np.arange(300) % 4
    expected = metrics.silhouette_samples(dense, labels)
    distances = metrics.pairwise_distances(dense)
    np.fill_diagonal(distances, 0)
    for data, metric in (
        (X, "euclidean"),
        (sp.csr_matrix(X), "euclidean"),
        (distances, "precomputed"),
        (dense[:, :3].tolist(), lambda a, b: float(np.linalg.norm(np.subtract(a, b)))),
    ):
        wanted = expected
        if isinstance(data, list):
            wanted = metrics.silhouette_samples(dense[:, :3], labels)
        np.testing.assert_allclose(
            silhouette_samples(data, labels, metric=metric), wanted, atol=1e-9
        )


def test_words_can_be_measured_by_a_function():
    words = ["a", "aa", "aaa", "bbbbbbbb", "bbbbbbbbb"]
    score = silhouette_score(words, list("xxxyy"), metric=lambda a, b: abs(len(a) - len(b)))
    lengths = np.array([[len(word)] for word in words])
    assert score == pytest.approx(metrics.silhouette_score(lengths, list("xxxyy")), rel=1e-12)


def test_threads_tables_and_dtypes_change_nothing(tmp_path):
    X, labels = labeled(3000, 8, 6)
    reference = silhouette_samples(X, labels, engine=Serial())
    np.save(tmp_path / "rows.npy", X)
    for other in (
        silhouette_samples(X, labels, engine=Threads(2)),
        silhouette_samples(Table.from_npy(tmp_path / "rows.npy"), labels),
        silhouette_samples(np.asfortranarray(X), [f"c{a}" for a in labels]),
        silhouette_samples(X, labels.astype(np.uint8) + 7),
    ):
        np.testing.assert_array_equal(other, reference)
    single = silhouette_samples(X.astype(np.float32), labels)
    np.testing.assert_allclose(single, reference, atol=1e-6)


def test_small_calls_to_the_kernel_change_nothing(monkeypatch):
    X, labels = labeled(2000, 4, 5)
    reference = silhouette_samples(X, labels)
    monkeypatch.setattr("tacit.measure.pair_scores.CALL_WORK", 1)
    np.testing.assert_allclose(silhouette_samples(X, labels), reference, atol=1e-14)


def test_computing_every_pair_once_or_twice_is_the_same(monkeypatch):
    X, labels = labeled(2000, 4, 5)
    once = silhouette_samples(X, labels)
    monkeypatch.setattr("tacit.measure.pair_scores.SYMMETRIC_BYTES", 0)
    np.testing.assert_allclose(silhouette_samples(X, labels), once, atol=1e-14)


def test_rows_far_from_zero_and_equal_rows_keep_their_digits():
    X, labels = labeled(400, 3, 4)
    X[10] = X[20]
    reference = silhouette_samples(X, labels)
    np.testing.assert_allclose(silhouette_samples(X + 1e6, labels), reference, atol=1e-8)
    tight = np.repeat(np.array([[1e8, 0.0], [1e8, 3.0]]), 3, axis=0)
    np.testing.assert_array_equal(silhouette_samples(tight, [0, 0, 0, 1, 1, 1]), 1.0)


@settings(max_examples=40, deadline=None)
@given(st.integers(4, 40), st.integers(2, 6), st.integers(0, 10**6))
def test_every_silhouette_is_between_minus_one_and_one(n, k, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, (n, 2)).astype(float)
    labels = np.concatenate([np.arange(2), rng.integers(0, k, n - 2)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        values = silhouette_samples(X, labels)
    assert np.isfinite(values).all()
    assert (np.abs(values) <= 1).all()
    if len(np.unique(labels)) < n:
        np.testing.assert_allclose(values, metrics.silhouette_samples(X, labels), atol=1e-7)


# --- By centers ---


def test_the_simplified_silhouette_compares_centers():
    X, labels = labeled(500, 3, 4)
    centers = np.array([X[labels == j].mean(axis=0) for j in range(4)])
    d = np.linalg.norm(X[:, None] - centers, axis=2)
    own = d[np.arange(500), labels]
    d[np.arange(500), labels] = np.inf
    expected = (d.min(axis=1) - own) / np.maximum(own, d.min(axis=1))
    np.testing.assert_allclose(
        silhouette_samples(X, labels, simplified=True), expected, rtol=1e-9, atol=1e-12
    )
    sparse = silhouette_samples(sp.csr_array(X), labels, simplified=True)
    np.testing.assert_allclose(sparse, expected, atol=1e-9)


def test_the_simplified_silhouette_reads_files_block_by_block(tmp_path):
    X, labels = labeled(40_000, 3, 4)
    np.save(tmp_path / "rows.npy", X)
    table = Table.from_npy(tmp_path / "rows.npy")
    assert silhouette_score(table, labels, simplified=True) == silhouette_score(
        X, labels, simplified=True, engine=Serial()
    )


def test_simplified_needs_centers():
    X, labels = labeled()
    with pytest.raises(ValueError, match="metric='euclidean'"):
        silhouette_score(X, labels, metric="cosine", simplified=True)


# --- Samples ---


def test_a_sample_is_that_of_scikit_learn():
    X, labels = labeled(500)
    ours = silhouette_score(X, labels, sample_size=100, random_state=3)
    theirs = metrics.silhouette_score(X, labels, sample_size=100, random_state=3)
    assert ours == pytest.approx(theirs, rel=1e-9)
    distances = metrics.pairwise_distances(X)
    np.fill_diagonal(distances, 0)
    given_distances = silhouette_score(
        distances, labels, metric="precomputed", sample_size=100, random_state=3
    )
    assert given_distances == pytest.approx(theirs, rel=1e-9)


# --- Degenerate input ---


def test_one_cluster_is_refused_with_the_way_out():
    for function in (silhouette_score, silhouette_samples):
        with pytest.raises(ValueError, match="at least 2 clusters"):
            function(blobs(10), np.zeros(10))


def test_as_many_clusters_as_rows_is_zero_and_a_warning():
    with pytest.warns(UndefinedMetricWarning, match="cluster of its own"):
        assert silhouette_score(blobs(10), np.arange(10)) == 0.0


@pytest.mark.parametrize("simplified", [False, True])
def test_all_rows_equal_is_zero_and_a_warning(simplified):
    with pytest.warns(UndefinedMetricWarning, match="all rows are equal"):
        assert (
            silhouette_score(np.full((6, 2), 3.0), [0, 0, 0, 1, 1, 1], simplified=simplified)
            == 0
        )


def test_a_row_alone_in_its_cluster_has_zero():
    X = np.array([[0.0], [1.0], [9.0]])
    for simplified in (False, True):
        assert silhouette_samples(X, [0, 0, 1], simplified=simplified)[2] == 0


@pytest.mark.parametrize(
    ("X", "labels", "settings", "message"),
    [
        (np.empty((0, 2)), [], {}, "no rows"),
        (np.ones((3, 2)), [0, 1], {}, "2 labels for 3 rows"),
        (np.ones((3, 2)), [[0, 1, 1]], {}, "one label per row"),
        (np.ones((2, 2)), [0.0, np.nan], {}, "label of row 1"),
        (np.ones(3), [0, 1, 1], {}, "dimension"),
        (np.array([[1.0], [np.nan]]), [0, 1], {}, "row 1, column 0"),
        (np.ones((3, 2)), [0, 1, 1], {"metric": "warp"}, "'warp' is unknown"),
        (np.ones((3, 2)), [0, 1, 1], {"metric": "precomputed"}, "square"),
        (np.ones((3, 3)), [0, 1, 1], {"metric": "precomputed"}, "fill_diagonal"),
        (np.array([[1e200], [2e200], [-1e200]]), [0, 1, 1], {}, "Rescale"),
    ],
)
def test_bad_input_is_refused(X, labels, settings, message):
    with pytest.raises(ValueError, match=message):
        silhouette_score(X, labels, **settings)
