"""Coarse levels: groups that overlap are joined, or k-means with few groups is found again."""

import numpy as np
from sklearn.metrics import adjusted_rand_score

from tacit.cluster.coarse_levels import join_overlapping, joins_repeat
from tacit.cluster.nested_kmeans import level_weights, nested_kmeans
from tacit.core import Threads

SEED = np.uint64(5)


def unit(rows):
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def one_apart(n=300, d=30):
    """Two groups without a gap between them and a small one far off; True in the small one."""
    rng = np.random.default_rng(0)
    near = [np.r_[1.0, 0.4, np.zeros(d - 2)], np.r_[1.0, -0.4, np.zeros(d - 2)]]
    apart = np.r_[0.4, 0.0, 0.9, np.zeros(d - 3)]
    sizes, noise = (n, n, n // 5), (0.2, 0.2, 0.05)
    rows = [
        center + spread * rng.normal(size=(size, d))
        for center, size, spread in zip([*near, apart], sizes, noise, strict=True)
    ]
    return unit(np.concatenate(rows)), np.arange(sum(sizes)) >= 2 * n


def contrast(n=1200, d=30, knots=6):
    """A contrast that runs through all rows, and groups that have rows of both sides;
    True on one side."""
    rng = np.random.default_rng(0)
    side, knot = rng.integers(2, size=n), rng.integers(knots, size=n)
    rows = 0.12 * rng.normal(size=(n, d))
    rows[:, 0] += np.where(side, 0.4, -0.4)
    rows[np.arange(n), 1 + knot] += 0.7
    return unit(rows), side == 1


def coarse(rows, k, around=None):
    weights = level_weights(6, [k])
    nested = nested_kmeans(rows, 6, SEED, emphasis=[k])
    return nested, join_overlapping(rows, nested, k, weights, around)


def test_coarse_levels_keep_apart_what_has_a_gap():
    rows, truth = one_apart()
    plain, joined = coarse(rows, 3)
    assert np.array_equal(plain.at(3), joined.at(3))
    assert adjusted_rand_score(truth, plain.at(2)) < 0.5
    assert adjusted_rand_score(truth, joined.at(2)) > 0.95


def test_joins_stay_inside_a_division_that_is_given():
    rows, truth = one_apart()
    around = np.arange(len(rows)) >= 300  # the first group against the others
    _, joined = coarse(rows, 3, around)
    assert adjusted_rand_score(truth, joined.at(2)) < 0.5
    assert adjusted_rand_score(around, joined.at(2)) > 0.9


def test_joins_are_found_again_where_a_small_group_is_apart():
    rows, _ = one_apart()
    assert joins_repeat(rows, 2, 3, SEED)


def test_kmeans_is_found_again_where_a_contrast_runs_through_all_groups():
    rows, _ = contrast()
    assert not joins_repeat(rows, 2, 6, SEED)


def test_joins_are_taken_where_neither_is_found_again():
    rows = unit(np.random.default_rng(0).normal(size=(300, 20)))
    assert joins_repeat(rows, 2, 8, SEED)


def test_the_answer_is_the_same_on_any_number_of_threads(monkeypatch):
    rows, _ = contrast(400)
    seen = []
    monkeypatch.setattr(np, "mean", lambda a, axis: seen.append(list(a)) or np.array([0.0, 1]))
    joins_repeat(rows, 2, 8, SEED)
    joins_repeat(rows, 2, 8, SEED, engine=Threads(2))
    assert seen[0] == seen[1]


def test_rows_that_are_all_equal_are_no_error():
    rows = np.tile(unit(np.ones((1, 4))), (40, 1))
    assert joins_repeat(rows, 2, 3, SEED) in (True, False)
