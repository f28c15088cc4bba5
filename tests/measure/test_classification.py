"""Measures of classifiers agree with scikit-learn's, SciPy's and with sums by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import binomtest
from sklearn import metrics
from sklearn.exceptions import UndefinedMetricWarning

from tacit.measure import (
    accuracy_score,
    calibration,
    confusion,
    log_loss,
    mcnemar,
    paired_bootstrap,
    precision_recall_f,
    wilson_interval,
)

labelings = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=40)


@given(labelings, st.floats(0.2, 3))
@pytest.mark.filterwarnings("ignore")
def test_all_measures_agree_with_scikit_learn(pairs, beta):
    true, pred = np.array(pairs).T
    assert_allclose(accuracy_score(true, pred), metrics.accuracy_score(true, pred))
    table = confusion(true, pred)
    assert_array_equal(table.table, metrics.confusion_matrix(true, pred))
    for average in ("macro", "micro", "weighted"):
        wanted = metrics.precision_recall_fscore_support(
            true, pred, average=average, beta=beta, zero_division=0
        )[:3]
        result = precision_recall_f(true, pred, average=average, beta=beta)
        assert_allclose(result, wanted, atol=1e-12)
    wanted = metrics.precision_recall_fscore_support(true, pred, beta=beta, zero_division=0)
    result = precision_recall_f(true, pred, average=None, beta=beta)
    assert_allclose([result[key] for key in ("precision", "recall", "f", "support")], wanted)


def test_a_class_that_was_never_predicted_is_warned_of():
    with pytest.warns(UndefinedMetricWarning, match=r"never predicted: \['b'\]"):
        precision_recall_f(["a", "b"], ["a", "a"])
    with pytest.warns(UndefinedMetricWarning, match=r"do not occur: \['b'\]"):
        precision_recall_f(["a", "a"], ["a", "b"])


def test_labels_choose_the_classes_and_their_order():
    table = confusion([2, 0], [0, 0], labels=[2, 1, 0])
    assert_array_equal(table.table, [[0, 0, 1], [0, 0, 0], [0, 0, 1]])
    with pytest.raises(ValueError, match="label 7 is not among"):
        confusion([7], [0], labels=[0, 1])


def test_weights_count():
    table = confusion([0, 1], [0, 0], sample_weight=[3.0, 0.5])
    assert_array_equal(table.table, [[3, 0], [0.5, 0]])
    assert_allclose(accuracy_score([0, 1], [0, 0], sample_weight=[3, 1]), 0.75)


def test_strings_and_numbers_do_not_mix():
    with pytest.raises(TypeError, match="strings and the other numbers"):
        accuracy_score(["0", "1"], [0, 1])
    with pytest.raises(ValueError, match="3 labels for 2 rows"):
        accuracy_score([0, 1], [0, 1, 1])
    with pytest.raises(ValueError, match="no labels"):
        accuracy_score([], [])


def test_a_confusion_prints_and_becomes_json():
    import json

    table = confusion(list("aabbc" * 9), list("ababc" * 9))
    assert "accuracy 0.6000" in str(table)
    assert json.loads(json.dumps(table.to_dict()))["micro"] == [0.6] * 3
    many = confusion(np.arange(50), np.arange(50))
    assert "and 20 more classes" in str(many)


def test_log_loss_agrees_with_scikit_learn():
    p = np.random.default_rng(0).dirichlet(np.ones(3), 40)
    true = np.arange(40) % 3
    assert_allclose(log_loss(true, p), metrics.log_loss(true, p))
    weights = np.linspace(0, 1, 40)
    assert_allclose(
        log_loss(true, p, sample_weight=weights),
        metrics.log_loss(true, p, sample_weight=weights),
    )
    assert_allclose(
        log_loss([0, 1, 1], [0.3, 0.6, 0.9]), metrics.log_loss([0, 1, 1], [0.3, 0.6, 0.9])
    )
    assert_allclose(log_loss(["b"], [[0.25, 0.75]], labels=["a", "b"]), -np.log(0.75))


def test_probability_zero_of_the_right_class_is_an_infinite_loss():
    assert log_loss([0, 1], [[0.0, 1.0], [0.0, 1.0]]) == np.inf


def test_invalid_probabilities_are_refused():
    with pytest.raises(ValueError, match="row 1 has"):
        log_loss([0, 1], [[0.5, 0.5], [0.9, 0.9]])
    with pytest.raises(ValueError, match="add up to 1"):
        calibration([0, 1], [[np.nan, 0.5], [0.1, 0.9]])
    with pytest.raises(ValueError, match="2 columns of probabilities for 3 classes"):
        log_loss([0, 1, 2], np.full((3, 2), 0.5))


def test_calibration_by_hand():
    p = np.array([0.95, 0.85, 0.55, 0.65])
    result = calibration([1, 0, 1, 1], p, n_bins=2)  # all in the upper bin
    assert_allclose(result.error, abs(p.mean() - 0.75))
    assert_array_equal(result.rows, [4])
    assert_allclose(result.brier, 2 * np.mean((p - [1, 0, 1, 1]) ** 2))


def test_a_calibrated_model_has_little_error():
    rng = np.random.default_rng(1)
    p = rng.uniform(size=40_000)
    assert calibration(rng.uniform(size=40_000) < p, p).error < 0.01
    assert calibration(rng.uniform(size=40_000) < p, p**3 / (p**3 + (1 - p) ** 3)).error > 0.1


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_is_a_sign_test(one, two):
    true = np.ones(one + two + 1, int)
    first = np.r_[np.ones(one, int), np.zeros(two, int), 1]
    second = np.r_[np.zeros(one, int), np.ones(two, int), 1]
    result = mcnemar(true, first, second)
    assert (result.only_first, result.only_second) == (one, two)
    if one + two:
        assert_allclose(result.p_value, binomtest(one, one + two).pvalue)
    else:
        assert result.p_value == 1


def test_mcnemar_of_many_rows_is_close_to_the_exact_test():
    true = np.ones(3000, int)
    first = np.r_[np.ones(1580, int), np.zeros(1420, int)]
    result = mcnemar(true, first, 1 - first)
    assert not result.exact
    assert_allclose(result.p_value, binomtest(1580, 3000).pvalue, rtol=0.03)


def test_the_bootstrap_knows_a_difference_from_luck():
    rng = np.random.default_rng(0)
    true = rng.integers(2, size=400)
    good, poor = (
        np.where(rng.uniform(size=400) < share, true, 1 - true) for share in (0.9, 0.7)
    )
    result = paired_bootstrap(true, good, poor, draws=2000)
    assert result.p_value < 0.01
    assert result.interval[0] < result.difference < result.interval[1]
    assert_allclose(result.difference, np.mean(good == true) - np.mean(poor == true))
    assert paired_bootstrap(true, good, good, draws=200).p_value == 1.0
    assert paired_bootstrap(true, good, poor, draws=99) == paired_bootstrap(
        true, good, poor, draws=99
    )


def test_the_bootstrap_takes_any_measure():
    rng = np.random.default_rng(0)
    true = np.array(list("ab"))[rng.integers(2, size=100)]
    a, b = true.copy(), np.full(100, "a")
    result = paired_bootstrap(
        true, a, b, metric=lambda y, p: np.mean(y == p), draws=300, random_state=1
    )
    assert_allclose(result.difference, np.mean(true != "a"))
    assert result.p_value < 0.01


def test_wilson_interval_by_the_textbook():
    assert_allclose(wilson_interval(0.0, 10), (0.0, 0.2775), atol=1e-3)
    low, high = wilson_interval(1.0, 5)
    assert 0.5 < low < 1
    assert high == 1


@pytest.mark.parametrize("dtype", [np.int8, np.int16])
def test_labels_of_few_bits_may_lie_far_apart(dtype):
    y = np.tile(np.arange(-100, 101), 3).astype(dtype)
    assert accuracy_score(y, y) == 1.0
    assert accuracy_score(y, np.roll(y, 1)) == 0.0
    assert confusion(y, y).classes == list(range(-100, 101))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0], "1 weights for 2 rows"),
        ([1.0, -1.0], "weight of row 1 is -1"),
        ([np.nan, 1.0], "weight of row 0 is nan"),
        ([0.0, 0.0], "all zero"),
        ([[1.0], [1.0]], "shape"),
    ],
)
def test_invalid_weights_are_refused(weights, message):
    for measure in (accuracy_score, confusion):
        with pytest.raises(ValueError, match=message):
            measure([1, 2], [1, 2], sample_weight=weights)
    with pytest.raises(ValueError, match=message):
        log_loss([0, 1], [[0.5, 0.5], [0.5, 0.5]], sample_weight=weights)


def test_a_row_without_weight_adds_nothing_to_the_log_loss():
    result = log_loss([1, 1], [[1, 0], [0.5, 0.5]], labels=[0, 1], sample_weight=[0, 1])
    assert result == pytest.approx(np.log(2))


def test_an_interval_needs_rows_and_a_fraction():
    with pytest.raises(ValueError, match="rows=0"):
        wilson_interval(0.5, 0)
    for share in (1.5, -0.1, np.nan):
        with pytest.raises(ValueError, match="from 0 to 1"):
            wilson_interval(share, 10)


def test_classes_are_named_once_and_beta_is_not_negative():
    with pytest.raises(ValueError, match="names 1 twice"):
        confusion([1, 2], [1, 2], labels=[1, 1, 2])
    with pytest.raises(ValueError, match="not among"):
        confusion([1, 2], [1, 2], labels=[])
    with pytest.raises(ValueError, match="beta=-1"):
        precision_recall_f([1, 2], [1, 2], beta=-1)


def test_probabilities_are_a_table_or_a_column():
    with pytest.raises(ValueError, match="shape"):
        log_loss([0, 1], 0.5)
    with pytest.raises(ValueError, match="shape"):
        calibration([0, 1], 0.5)


def test_a_bootstrap_of_a_metric_that_is_not_finite_is_refused():
    with pytest.raises(ValueError, match="nan"):
        paired_bootstrap([0, 1], [0, 1], [1, 1], metric=lambda *_: np.nan, draws=10)
