"""Nested k-means: levels nest, and emphasized ones are about as tight as flat k-means."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score

from tacit.cluster.nested_kmeans import (
    Division,
    Nested,
    join_leaves,
    label_by_words,
    level_weights,
    nested_kmeans,
    run_nested_passes,
    start_tree,
)
from tacit.cluster.small_kmeans import small_kmeans
from tacit.core import Threads

SEED = np.uint64(5)


def directions(n, groups, d=12, noise=0.25, seed=0):
    """Rows of length one around random directions, and the number of each one's direction."""
    rng = np.random.default_rng(seed)
    centers, labels = rng.normal(size=(groups, d)), rng.integers(groups, size=n)
    centers /= np.linalg.norm(centers, axis=1, keepdims=True)
    rows = centers[labels] + noise * rng.normal(size=(n, d))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows.astype(np.float32), labels


def tightness(rows, labels):
    return sum(np.linalg.norm(rows[labels == g].sum(axis=0)) for g in np.unique(labels))


def test_every_number_of_groups_is_there_and_lies_inside_the_one_before():
    rows, _ = directions(300, 6)
    nested = nested_kmeans(rows, 20, SEED)
    assert len(nested.cuts) == 19
    before = nested.at(2)
    for k in range(2, 21):
        now = nested.at(k)
        assert np.array_equal(np.unique(now), np.arange(k))
        around = [np.unique(before[now == g]) for g in range(k)]
        assert all(len(each) == 1 for each in around)
        before = now


def test_planted_groups_are_found_whatever_the_finest_level():
    rows, truth = directions(400, 5, noise=0.12)
    for most in (5, 12, 40):
        nested = nested_kmeans(rows, most, SEED)
        assert adjusted_rand_score(truth, nested.at(5)) > 0.98


@pytest.mark.parametrize("k", [3, 7])
def test_an_emphasized_number_is_nearly_as_tight_as_flat_kmeans(k):
    rows, _ = directions(500, 11, noise=0.4)
    flat = tightness(rows, small_kmeans(rows, k, 0, starts=20, unit=True).labels)
    alone = tightness(rows, np.zeros(len(rows), int))
    found = tightness(rows, nested_kmeans(rows, 30, SEED, emphasis=[k]).at(k))
    assert found - alone > 0.97 * (flat - alone)


def test_a_coarse_division_decides_what_is_joined_first():
    rows = np.repeat(np.eye(4, dtype=np.float32), 10, axis=0)
    rows[10:20, 2] = 0.9  # the second group is most like the third
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    labels = np.repeat(np.arange(4, dtype=np.int32), 10)
    fine = Division(labels, labels, [0, 1, 2, 3])
    coarse = np.repeat([0, 1], 20)
    coarse[[0, 25]] = [1, 0]  # not all rows agree
    free, led = start_tree(rows, fine), start_tree(rows, fine, coarse)
    assert free[1][1] == free[1][2]
    assert led[0].tolist() == [0, 0, 1, 1]


def test_two_emphasized_numbers_are_both_nearly_as_tight_as_flat_kmeans():
    rows, _ = directions(900, 24, d=16, noise=0.3)
    alone = tightness(rows, np.zeros(len(rows), int))
    nested = nested_kmeans(rows, 40, SEED, emphasis=[3, 24])
    for k, enough in ((3, 0.9), (24, 0.97)):
        flat = tightness(rows, small_kmeans(rows, k, 0, starts=20, unit=True).labels)
        assert tightness(rows, nested.at(k)) - alone > enough * (flat - alone)


def test_of_two_numbers_that_are_near_the_smaller_weighs_little():
    near, far = level_weights(12, (9, 10)), level_weights(12, (2, 10))
    assert near[10] == far[10] > 5 * near[9]
    assert far[2] > 0.5 * far[10]


def test_a_group_that_is_responsible_for_nothing_can_be_joined():
    overlaps = np.diag([1.0, 1.0, 0.0])
    cuts = join_leaves(np.eye(3), overlaps=overlaps)
    assert [int(cut.max()) + 1 for cut in cuts] == [2, 3]


def test_passes_never_lower_the_objective():
    rows, _ = directions(300, 8, noise=0.5)
    labels = np.random.default_rng(1).integers(12, size=300).astype(np.int32)
    sums = np.stack([rows[labels == g].sum(axis=0) for g in range(12)]).astype(float)
    cuts, weights = join_leaves(sums), level_weights(12, [4])
    found = [
        run_nested_passes(rows, labels, cuts, weights, passes=passes).objective
        for passes in range(8)
    ]
    assert (np.diff(found) >= -1e-4).all()
    assert found[-1] > found[0]


def test_a_leaf_without_rows_is_dropped_and_the_numbers_have_no_gaps():
    rows, _ = directions(60, 3, noise=0.1)
    labels = (np.arange(60) % 5).astype(np.int32)
    cuts = join_leaves(np.eye(12)[:6] + 0.1)  # the sixth leaf has none
    nested = run_nested_passes(rows, labels, cuts, level_weights(6, []), passes=0)
    assert len(nested.centers) == 5
    for k in range(2, 6):
        assert np.array_equal(np.unique(nested.at(k)), np.arange(k))


def test_fewer_distinct_rows_than_groups_give_fewer_levels():
    rows = np.repeat(np.eye(3, dtype=np.float32), 10, axis=0)
    nested = nested_kmeans(rows, 8, SEED)
    assert len(nested.cuts) == 2
    assert nested_kmeans(rows[:10], 8, SEED) is None


def test_the_result_is_the_same_on_any_number_of_threads():
    rows, _ = directions(300, 6, noise=0.5)
    one = nested_kmeans(rows, 15, SEED, emphasis=[4])
    two = nested_kmeans(rows, 15, SEED, emphasis=[4], engine=Threads(3))
    assert np.array_equal(one.labels, two.labels)
    assert np.array_equal(one.cuts, two.cuts)
    assert np.array_equal(one.centers, two.centers)


def documents_of_words(n=20_000, groups=4, wrong=0.2):
    """Documents of words of their own group and of all, and labels some of which are wrong."""
    rng = np.random.default_rng(0)
    truth = rng.integers(groups, size=n)
    own = truth[:, None] * 20 + rng.integers(20, size=(n, 6))
    common = 20 * groups + rng.integers(20, size=(n, 6))
    columns = np.hstack([own, common]).ravel()
    ones, each = np.ones(columns.size, np.float32), np.arange(n).repeat(12)
    words = sp.csr_array((ones, (each, columns)))
    labels = np.where(rng.random(n) < wrong, rng.integers(groups, size=n), truth)
    cuts = np.array([[0, 0, 1, 1], [0, 0, 1, 2], [0, 1, 2, 3]], np.int32)
    nested = Nested(labels.astype(np.int32), cuts, np.eye(4, dtype=np.float32), 0.0)
    return words, nested, truth


def test_documents_go_to_the_leaf_with_their_words():
    words, nested, truth = documents_of_words()
    assert np.mean(nested.labels == truth) < 0.9
    labels = label_by_words(words, nested, level_weights(4, ()), [2, 4])
    assert np.mean(labels == truth) > 0.999


def test_a_level_that_is_not_given_does_not_say_which_leaf():
    words, nested, truth = documents_of_words()
    labels = label_by_words(words, nested, level_weights(4, ()), [2])
    assert set(labels) == {0, 2}  # of leaves that are together at 2, the first
    assert np.array_equal(labels // 2, truth // 2)


def test_labels_by_words_are_the_same_on_any_number_of_threads():
    words, nested, _ = documents_of_words(wrong=0.9)
    weights = level_weights(4, ())
    one = label_by_words(words, nested, weights, [2, 3, 4])
    assert np.array_equal(one, label_by_words(words, nested, weights, [2, 3, 4], Threads(3)))
