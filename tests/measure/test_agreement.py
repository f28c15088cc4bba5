"""Measures of two labelings: agreement with scikit-learn, symmetry, degenerate input."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics

from tacit import measure

PAIRED = [
    "adjusted_rand_score",
    "rand_score",
    "homogeneity_score",
    "completeness_score",
    "v_measure_score",
    "mutual_info_score",
    "normalized_mutual_info_score",
    "adjusted_mutual_info_score",
]


def labelings(n, k, seed, noise=0.4):
    rng = np.random.default_rng(seed)
    true = rng.integers(0, k, n)
    pred = np.where(rng.random(n) < noise, rng.integers(0, k + 1, n), (true * 7 + 1) % k)
    return true, pred


@pytest.mark.parametrize("name", PAIRED)
@pytest.mark.parametrize("shape", [(10, 2), (300, 5), (2000, 40), (500, 400), (30_000, 3)])
def test_they_agree_with_scikit_learn(name, shape):
    for seed in range(3):
        true, pred = labelings(*shape, seed)
        ours = getattr(measure, name)(true, pred)
        assert ours == pytest.approx(getattr(metrics, name)(true, pred), rel=1e-9, abs=1e-10)


@pytest.mark.parametrize("method", ["arithmetic", "geometric", "min", "max"])
@pytest.mark.parametrize("name", ["normalized_mutual_info_score", "adjusted_mutual_info_score"])
def test_every_mean_of_the_entropies_agrees(name, method):
    true, pred = labelings(200, 4, 0)
    ours = getattr(measure, name)(true, pred, average_method=method)
    theirs = getattr(metrics, name)(true, pred, average_method=method)
    assert ours == pytest.approx(theirs, rel=1e-9)


@pytest.mark.parametrize("beta", [0.0, 0.5, 1.0, 3.0])
def test_homogeneity_and_completeness_are_weighed_as_in_scikit_learn(beta):
    true, pred = labelings(200, 4, 0)
    np.testing.assert_allclose(
        measure.homogeneity_completeness_v_measure(true, pred, beta=beta),
        metrics.homogeneity_completeness_v_measure(true, pred, beta=beta),
        rtol=1e-9,
    )


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=12))
def test_small_tables_with_all_their_corners_agree(rows):
    true, pred = (list(each) for each in zip(*rows, strict=True))
    for name in PAIRED:
        ours = getattr(measure, name)(true, pred)
        assert ours == pytest.approx(getattr(metrics, name)(true, pred), abs=1e-9), name


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 60), st.integers(1, 6), st.integers(0, 10**6))
def test_names_do_not_matter_and_the_same_clusters_score_one(n, k, seed):
    true, pred = labelings(n, k, seed)
    renamed = [f"group {(7 * label) % 11}" for label in pred]
    for name in [*PAIRED, "purity", "best_matching_accuracy"]:
        function = getattr(measure, name)
        assert function(true, renamed) == pytest.approx(function(true, pred), abs=1e-12)
        if name != "mutual_info_score":
            assert function(true, [f"x{label}" for label in true]) == pytest.approx(1.0)


def test_chance_is_adjusted_away():
    rng = np.random.default_rng(0)
    for name in ("adjusted_rand_score", "adjusted_mutual_info_score"):
        result = [
            getattr(measure, name)(rng.integers(0, 10, 300), rng.integers(0, 10, 300))
            for _ in range(40)
        ]
        assert abs(np.mean(result)) < 0.01


def test_the_expected_information_is_the_mean_over_all_shuffles():
    from tacit.measure.agreement import expected_information

    true, pred = [0, 0, 1, 1, 1, 2], [0, 0, 0, 1, 1, 1]
    shuffled = [measure.mutual_info_score(true, list(p)) for p in permutations(pred)]
    assert expected_information(np.array([2, 3, 1]), np.array([3, 3]), 6) == pytest.approx(
        np.mean(shuffled), rel=1e-12
    )


def test_counts_whose_squares_pass_64_bits_are_counted_right():
    n = 200_000
    true, pred = np.arange(n) % 2, np.arange(n) // 2 % 2
    assert measure.adjusted_rand_score(true, pred) == pytest.approx(
        metrics.adjusted_rand_score(true, pred), rel=1e-9
    )


def test_purity_counts_the_most_frequent_class_of_every_cluster():
    true, pred = list("aaabbbbcc"), [0, 0, 1, 1, 1, 1, 0, 2, 2]
    assert measure.purity(true, pred) == pytest.approx((2 + 3 + 2) / 9)
    assert measure.purity(true, np.arange(9)) == 1.0


@settings(max_examples=30, deadline=None)
@given(st.integers(3, 40), st.integers(2, 4), st.integers(0, 10**6))
def test_the_best_matching_is_the_best_of_all(n, k, seed):
    true, pred = labelings(n, k, seed)
    size = max(true.max(), pred.max()) + 1
    best = max((np.array(order)[pred] == true).mean() for order in permutations(range(size)))
    assert measure.best_matching_accuracy(true, pred) == pytest.approx(best, abs=1e-12)


def test_matching_needs_a_cluster_of_its_own_for_every_class():
    assert measure.best_matching_accuracy(["a", "a", "b", "b"], [0, 0, 0, 0]) == 0.5
    assert measure.purity(["a", "a", "b", "b"], [0, 1, 2, 3]) == 1.0
    assert measure.best_matching_accuracy(["a", "a", "b", "b"], [0, 1, 2, 3]) == 0.5


def test_too_large_a_table_is_refused(monkeypatch):
    monkeypatch.setattr("tacit.measure.agreement.MOST_CELLS", 5)
    with pytest.raises(ValueError, match=r"3 classes with 2 clusters.*purity"):
        measure.best_matching_accuracy([0, 1, 2], [0, 1, 1])


@pytest.mark.parametrize("name", [*PAIRED, "purity", "best_matching_accuracy"])
def test_bad_input_is_refused(name):
    function = getattr(measure, name)
    with pytest.raises(ValueError, match="no labels"):
        function([], [])
    with pytest.raises(ValueError, match="2 labels for 3 rows"):
        function([0, 1, 1], [0, 1])
    with pytest.raises(ValueError, match="label of row 0"):
        function([np.nan, 1.0], [0, 1])


def test_parameters_out_of_range_are_refused():
    with pytest.raises(ValueError, match="beta=-1"):
        measure.homogeneity_completeness_v_measure([0, 1], [0, 1], beta=-1)
    with pytest.raises(ValueError, match="'mode' is unknown"):
        measure.normalized_mutual_info_score([0, 1], [0, 1], average_method="mode")


def test_one_row_and_one_class_give_numbers():
    for name in PAIRED:
        value = getattr(measure, name)([0], [5])
        assert value == getattr(metrics, name)([0], [5])
