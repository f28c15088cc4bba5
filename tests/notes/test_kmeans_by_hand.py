"""k-means worked out by hand on twelve points, from two centers that are badly placed."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from tacit.cluster import KMeans
from tacit.datasets.worked_examples import TWELVE_CENTERS as FIRST
from tacit.datasets.worked_examples import TWELVE_POINTS as POINTS


def run(max_iter):
    return KMeans(2, init=FIRST, max_iter=max_iter, tol=0).fit(POINTS)


def test_the_first_assignment_leaves_two_points_on_the_left():
    labels = KMeans(2, init=FIRST, max_iter=1).fit(POINTS)
    nearest = np.array([np.argmin(((x - FIRST) ** 2).sum(axis=1)) for x in POINTS])
    assert list(np.flatnonzero(nearest == 0)) == [0, 2]
    np.testing.assert_allclose(
        labels.cluster_centers_, [POINTS[nearest == j].mean(axis=0) for j in (0, 1)]
    )


def test_the_first_update_gives_the_centers_of_the_notes():
    np.testing.assert_allclose(
        run(1).cluster_centers_, [(-2, 2.25), (0.15, -0.78)], rtol=0, atol=1e-15
    )


def test_it_is_done_in_three_iterations():
    end = run(100)
    assert end.converged_
    assert end.n_iter_ == 3  # the third changes nothing
    np.testing.assert_array_equal(run(2).cluster_centers_, end.cluster_centers_)
    assert list(end.labels_) == [0] * 5 + [1] * 7


def test_squares_about_the_mean_are_squares_between_pairs():
    """n sum |x - mean|^2 is the sum of |x - y|^2 over pairs."""
    end = run(100)
    total = 0.0
    for j in (0, 1):
        cluster = POINTS[end.labels_ == j]
        gaps = ((cluster[:, None] - cluster[None]) ** 2).sum(axis=2)
        total += gaps[np.triu_indices(len(cluster), 1)].sum() / len(cluster)
    assert end.inertia_ == pytest.approx(total, rel=1e-14)


@pytest.mark.parametrize("seed", range(4))
def test_zeros_and_ones_fall_apart_but_for_two(seed):
    images, digits = load_digits(n_class=2, return_X_y=True)
    assert len(images) == 360
    labels = KMeans(2, random_state=seed).fit_predict(images / 16)
    wrong = int((labels != digits).sum())
    assert min(wrong, 360 - wrong) == 2
