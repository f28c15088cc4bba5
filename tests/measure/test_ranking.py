"""Measures of predictions and rankings, against their definitions and scikit-learn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, ndcg_score

from tacit.data import Ratings
from tacit.measure import (
    average_precision,
    mae,
    ndcg,
    precision_at,
    rank_items,
    recall_at,
    reciprocal_rank,
    rmse,
)
from tacit.recommend import Popularity


@given(st.permutations(range(8)), st.sets(st.integers(0, 7), min_size=1))
def test_full_rankings_agree_with_scikit_learn(ranked, relevant):
    truth = np.array([each in relevant for each in ranked], float)
    scores = -np.arange(8.0)
    assert ndcg(ranked, relevant, 8) == pytest.approx(ndcg_score([truth], [scores]))
    expected = average_precision_score(truth, scores)
    assert average_precision(ranked, relevant, 8) == pytest.approx(expected)


@given(st.permutations(range(8)), st.sets(st.integers(0, 7), min_size=1), st.integers(1, 10))
def test_measures_stay_between_0_and_1_and_the_best_order_has_1(ranked, relevant, k):
    best = sorted(ranked, key=lambda each: each not in relevant)
    for measure in (precision_at, recall_at, average_precision, ndcg, reciprocal_rank):
        assert 0 <= measure(ranked, relevant, k) <= 1
        assert measure(best, relevant, k) >= measure(ranked, relevant, k) - 1e-12
    for measure in (average_precision, ndcg, reciprocal_rank):
        assert measure(best, relevant, k) == pytest.approx(1)


def test_errors_of_predictions():
    assert rmse([1, 2, 3], [1, 2, 6]) == pytest.approx(np.sqrt(3))
    assert mae([1, 2, 3], [1, 2, 6]) == 1
    with pytest.raises(ValueError, match="one prediction for each"):
        rmse([1, 2], [1])
    with pytest.raises(ValueError, match="number 1 is nan"):
        mae([1, 2], [1, np.nan])
    with pytest.raises(ValueError, match="none"):
        rmse([], [])


def test_a_report_counts_by_hand_and_prints_its_protocol():
    train = Ratings.of([("a", 1), ("a", 2), ("b", 1), ("c", 1), ("c", 3)])
    test = Ratings.of([("a", 3, 5), ("b", 3, 5), ("b", 2, 1), ("z", 1, 5)])
    report = rank_items(Popularity().fit(train), test, k=1, threshold=4)
    # a is shown 3, relevant; b is shown 2 (a tie goes to the lowest), not relevant
    assert (report.precision, report.recall, report.users) == (0.5, 0.5, 2)
    assert report.coverage == pytest.approx(2 / 3)
    assert report.novelty == pytest.approx(np.log2(3))
    for words in ("Full rankings of all 3 items", "test ratings of 4 up", "1 unknown users"):
        assert words in str(report)
    assert report.to_dict()["k"] == 1


def test_nothing_to_measure_is_an_error():
    model = Popularity().fit([("a", 1)])
    with pytest.raises(ValueError, match="no user of the test"):
        rank_items(model, Ratings.of([("b", 1, 5)]))
    with pytest.raises(ValueError, match="nothing to find"):
        ndcg([1], set(), 1)
    with pytest.raises(ValueError, match="at least 1"):
        precision_at([1], {1}, 0)
