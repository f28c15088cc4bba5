"""Evaluating a clustering, worked out by hand: scatter, silhouette, V-measure."""

from math import log, sqrt

import numpy as np
import pytest

from tacit.datasets.worked_examples import SHAPE_CLUSTERS as LABELS
from tacit.datasets.worked_examples import SHAPES
from tacit.measure import (
    homogeneity_completeness_v_measure,
    inertia,
    scatter,
    silhouette_samples,
)


def entropy(*counts):
    n = sum(counts)
    return -sum(c / n * log(c / n) for c in counts)


def test_homogeneity_completeness_and_v_measure_by_the_formulas():
    h_class = entropy(4, 6, 4)  # triangles, circles, squares
    h_cluster = entropy(6, 4, 4)
    class_given_cluster = 6 / 14 * entropy(4, 1, 1) + 4 / 14 * 0 + 4 / 14 * entropy(3, 1)
    cluster_given_class = 4 / 14 * 0 + 6 / 14 * entropy(1, 4, 1) + 4 / 14 * entropy(1, 3)
    h, c = 1 - class_given_cluster / h_class, 1 - cluster_given_class / h_cluster
    v = 2 * h * c / (h + c)
    found = homogeneity_completeness_v_measure(SHAPES, LABELS)
    assert found == pytest.approx((h, c, v), rel=1e-12)
    assert found == pytest.approx((0.5065, 0.5065, 0.5065), abs=1e-4)


def test_a_pure_cluster_adds_nothing_to_what_is_unknown():
    """Merging the pure cluster with another can only lose homogeneity, splitting it only
    completeness."""
    h, c, _ = homogeneity_completeness_v_measure(SHAPES, LABELS)
    merged = [3 if label == 2 else label for label in LABELS]
    split = [4 if label == 2 and i % 2 else label for i, label in enumerate(LABELS)]
    assert homogeneity_completeness_v_measure(SHAPES, merged)[0] < h
    assert homogeneity_completeness_v_measure(SHAPES, split)[0] == pytest.approx(h, rel=1e-12)
    assert homogeneity_completeness_v_measure(SHAPES, split)[1] < c


def test_the_trivial_solutions_have_one_of_the_two():
    assert homogeneity_completeness_v_measure(SHAPES, range(14))[0] == 1
    one = homogeneity_completeness_v_measure(SHAPES, [0] * 14)
    assert one == (0, 1, 0)
    assert homogeneity_completeness_v_measure(SHAPES, SHAPES) == pytest.approx((1, 1, 1))


POINTS = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [4.0, 4.0], [4.0, 5.0]])
GROUPS = [0, 0, 0, 1, 1]


def test_scatter_within_and_between_make_up_the_total():
    found = scatter(POINTS, GROUPS)
    within = 2 * (1 + 1 + sqrt(2)) + 2 * 1  # every pair from both ends
    between = 2 * (sqrt(32) + sqrt(41) + 5 + sqrt(32) + 5 + sqrt(34))
    assert found.within == pytest.approx(within, rel=1e-12)
    assert found.between == pytest.approx(between, rel=1e-12)
    assert scatter(POINTS, [0, 1, 0, 1, 0]).total == pytest.approx(within + between, rel=1e-12)


def test_every_point_a_cluster_has_the_least_scatter_and_is_no_use():
    assert scatter(POINTS, range(5)).within == 0


def test_squares_about_the_mean_are_squares_over_pairs_by_n():
    """Of one cluster: sum |x - mean|^2 = 1/n sum over i < j of |x_i - x_j|^2."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    pairs = sum(((X[i] - X[j]) ** 2).sum() for i in range(40) for j in range(i + 1, 40))
    assert inertia(X, np.zeros(40)) == pytest.approx(pairs / 40, rel=1e-12)
    both_ends = scatter(X, np.zeros(40), metric="sqeuclidean").within
    assert inertia(X, np.zeros(40)) == pytest.approx(both_ends / (2 * 40), rel=1e-12)


def test_the_silhouette_of_a_point_by_its_two_means():
    a = (1 + 1) / 2  # of the first point to the others of its cluster
    b = (sqrt(32) + sqrt(41)) / 2
    assert silhouette_samples(POINTS, GROUPS)[0] == pytest.approx((b - a) / b, rel=1e-12)
    wrong = silhouette_samples(POINTS, [0, 0, 1, 1, 1])
    assert wrong[2] < 0  # nearer to the cluster next door
    assert (silhouette_samples(POINTS, GROUPS) > 0).all()
