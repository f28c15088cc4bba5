"""Inertia, Calinski-Harabasz and Davies-Bouldin: scikit-learn, tables, degenerate input."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import metrics
from sklearn.exceptions import UndefinedMetricWarning

from tacit.cluster import KMeans
from tacit.core import Serial, Threads
from tacit.data import Table
from tacit.measure import calinski_harabasz_score, davies_bouldin_score, inertia
from tests.contract.cases import blobs
from tests.measure.test_silhouette import labeled

SHAPES = [(600, 4, 5), (900, 16, 2), (300, 1, 3), (1500, 40, 11)]
scores = pytest.mark.parametrize(
    "score", [davies_bouldin_score, calinski_harabasz_score, inertia]
)


@pytest.mark.parametrize("shape", SHAPES)
def test_they_agree_with_scikit_learn(shape):
    X, labels = labeled(*shape)
    for ours, theirs in (
        (davies_bouldin_score, metrics.davies_bouldin_score),
        (calinski_harabasz_score, metrics.calinski_harabasz_score),
    ):
        assert ours(X, labels) == pytest.approx(theirs(X, labels), rel=1e-9)
        names = [f"cluster {label}" for label in labels]
        assert ours(X, names) == pytest.approx(theirs(X, labels), rel=1e-9)


def test_rows_alone_in_their_cluster_have_no_width():
    """scikit-learn gives them some 1e-8, the root of a rounding error."""
    X, labels = labeled(500, 20, 200)
    assert (np.bincount(labels) == 1).any()
    groups = [X[labels == label] for label in np.unique(labels)]
    centers = np.array([group.mean(axis=0) for group in groups])
    widths = np.array(
        [np.linalg.norm(g - c, axis=1).mean() for g, c in zip(groups, centers, strict=True)]
    )
    apart = np.linalg.norm(centers[:, None] - centers, axis=2)
    np.fill_diagonal(apart, np.inf)
    expected = ((widths[:, None] + widths) / apart).max(axis=1).mean()
    assert davies_bouldin_score(X, labels) == pytest.approx(expected, rel=1e-12)
    assert expected == pytest.approx(metrics.davies_bouldin_score(X, labels), rel=1e-7)


def test_the_inertia_is_that_of_k_means():
    model = KMeans(5, random_state=0, tol=0).fit(X := blobs())
    assert inertia(X, model.labels_) == pytest.approx(model.inertia_, rel=1e-12)


@scores
def test_sparse_rows_files_and_threads_change_nothing(score, tmp_path):
    X, labels = labeled(40_000, 6, 5)
    X[np.abs(X) < 0.5] = 0
    reference = score(X, labels, engine=Serial())
    np.save(tmp_path / "rows.npy", X)
    assert score(Table.from_npy(tmp_path / "rows.npy"), labels) == reference
    assert score(X, labels, engine=Threads(2)) == reference
    assert score(sp.csr_array(X), labels) == pytest.approx(reference, rel=1e-9)
    assert score(X.astype(np.float32), labels) == pytest.approx(reference, rel=1e-5)


@scores
def test_a_large_offset_costs_no_digits(score):
    X, labels = labeled(400, 3, 4)
    assert score(X + 1e8, labels) == pytest.approx(score(X, labels), rel=1e-6)


@pytest.mark.parametrize("score", [davies_bouldin_score, calinski_harabasz_score])
def test_one_cluster_is_refused_and_n_clusters_warn(score):
    X = blobs(10)
    with pytest.raises(ValueError, match="at least 2 clusters"):
        score(X, np.zeros(10))
    with pytest.warns(UndefinedMetricWarning, match="cluster of its own"):
        assert score(X, np.arange(10)) == 0.0


def test_clusters_without_width_are_a_warning_not_a_division():
    X = np.array([[0.0], [0.0], [5.0], [5.0]])
    with pytest.warns(UndefinedMetricWarning, match="every cluster are equal"):
        assert calinski_harabasz_score(X, [0, 0, 1, 1]) == 0.0
    assert davies_bouldin_score(X, [0, 0, 1, 1]) == 0.0
    with pytest.warns(UndefinedMetricWarning, match="all rows are equal"):
        assert calinski_harabasz_score(np.ones((4, 2)), [0, 0, 1, 1]) == 0.0


def test_clusters_with_the_same_center_are_named():
    X = np.array([[-1.0], [1.0], [-2.0], [2.0], [9.0], [10.0]])
    labels = list("aabbcc")
    with pytest.warns(UndefinedMetricWarning, match="clusters a and b have the same center"):
        assert davies_bouldin_score(X, labels) == pytest.approx(
            metrics.davies_bouldin_score(X, labels), rel=1e-12
        )
    with pytest.warns(UndefinedMetricWarning, match="same center"):
        assert davies_bouldin_score(np.ones((4, 2)), [0, 0, 1, 1]) == 0.0


@scores
def test_bad_input_is_refused(score):
    X, labels = labeled(50)
    for rows, names, message in (
        (np.empty((0, 2)), [], "no rows"),
        (X, labels[:-1], "49 labels for 50 rows"),
        (X[:, 0], labels, "dimension"),
        (np.where(np.arange(200).reshape(50, 4) == 17, np.inf, X), labels, "row 4, column 1"),
        (X * 1e200, labels, "Rescale"),
    ):
        with pytest.raises(ValueError, match=message):
            score(rows, names)
    with pytest.raises(TypeError, match="cannot be compared"):
        score(X, [None, "a"] * 25)
