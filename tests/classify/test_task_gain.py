"""What clusters bring to a classifier: everything, nothing, or some."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.naive_bayes import GaussianNB

from tacit.measure import by_task


def test_clusters_that_are_the_classes_bring_everything():
    y = np.repeat(["a", "b", "c"], [50, 30, 20])
    found = by_task(y, y)
    assert found.accuracy == 1.0
    assert found.baseline == pytest.approx(0.5)
    assert found.gain == pytest.approx(0.5)
    assert found.features is None
    assert len(found.folds) == 5
    assert found.error == pytest.approx(0, abs=1e-12)


def test_clusters_that_know_nothing_bring_nothing():
    rng = np.random.default_rng(0)
    found = by_task(rng.integers(0, 3, 3000), np.repeat([0, 1], [2000, 1000]))
    assert abs(found.gain) < 0.01
    assert found.baseline == pytest.approx(2 / 3, abs=1e-3)


def test_clusters_of_one_row_do_not_pretend_to_know():
    y = np.arange(100) % 2
    assert by_task(np.arange(100), y).gain == pytest.approx(0)


def test_with_features_only_what_they_lack_is_gained():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    clusters = np.where(rng.random(400) < 0.1, 1 - y, y)
    nothing = rng.normal(size=(400, 2))
    everything = y[:, None] * 2.0 - 1
    some = by_task(clusters, y, X=nothing)
    assert some.gain > 0.3
    assert some.gain == pytest.approx(some.accuracy - some.features)
    assert by_task(clusters, y, X=everything).gain == 0
    sparse = by_task(clusters, y, X=sp.csr_array(nothing))
    assert sparse.accuracy == pytest.approx(some.accuracy, abs=0.02)
    other = by_task(clusters, y, X=nothing, classifier=GaussianNB())
    assert other.gain > 0.2


def test_the_seed_decides_the_folds():
    rng = np.random.default_rng(0)
    clusters, y = rng.integers(0, 3, 200), rng.integers(0, 3, 200)
    assert by_task(clusters, y, random_state=1) == by_task(clusters, y, random_state=1)
    assert by_task(clusters, y, random_state=1) != by_task(clusters, y, random_state=2)


def test_one_class_is_a_warning():
    with pytest.warns(UndefinedMetricWarning, match="only one class"):
        found = by_task([0, 1, 0, 1], ["a"] * 4, n_splits=2)
    assert found.gain == 0
    assert found.accuracy == 1


def test_it_goes_to_json():
    assert by_task([0, 0, 1, 1], [0, 0, 1, 1], n_splits=2).to_dict()["folds"] == [0.5, 0.5]


@pytest.mark.parametrize(
    ("labels", "y", "settings", "message"),
    [
        ([], [], {}, "no labels"),
        ([0, 1], [0, 1, 1], {}, "2 labels for 3 rows"),
        ([0, 1], [0, 1], {"n_splits": 3}, "from 2 to the number of rows, 2"),
        ([0, 1], [0, 1], {"n_splits": 2, "X": np.ones((3, 1))}, "one row per label"),
    ],
)
def test_bad_input_is_refused(labels, y, settings, message):
    with pytest.raises(ValueError, match=message):
        by_task(labels, y, **settings)
