"""The gap statistic: it finds the clusters there are, and none where there are none."""

import numpy as np
import pytest
import scipy.sparse as sp

from tacit.cluster.null_reference import draw, fit_reference
from tacit.core import Serial, Threads
from tacit.measure import gap_statistic
from tests.contract.cases import blobs


def test_it_finds_the_clusters_there_are():
    X = blobs(300, d=2, k=3, seed=4)
    result = gap_statistic(X, range(1, 7), n_references=8, random_state=0)
    assert result.best == 3
    assert result.gap[2] == max(result.gap)


def test_it_finds_none_where_there_are_none():
    X = np.random.default_rng(0).random((200, 3))
    assert gap_statistic(X, range(1, 5), n_references=8, random_state=0).best == 1


def test_long_thin_clusters_need_the_aligned_box():
    """Two clusters along the diagonal: a box along the columns is mostly empty."""
    rng = np.random.default_rng(0)
    along = np.linspace(-10, 10, 100)
    X = np.concatenate([along, along])[:, None] * np.ones(2) + rng.normal(size=(200, 2)) * 0.1
    X[100:] += [3.0, -3.0]
    turned = draw(fit_reference(X), "box", np.uint64(1))
    straight = draw(fit_reference(X, aligned=False), "box", np.uint64(1))

    def across(rows):
        return np.ptp((rows - rows.mean(axis=0)) @ [1.0, -1.0])

    assert across(turned) < 1.2 * across(X)
    assert across(straight) > 2 * across(X)


def test_the_numbers_are_those_of_the_definition():
    X = blobs(60, d=2, k=2)
    result = gap_statistic(X, [1], n_references=6, random_state=3)
    box = fit_reference(X)
    from tacit.core.randoms import key

    logs = []
    for b in range(6):
        rows = draw(box, "box", key(3, 1, b))
        assert rows.shape == X.shape
        logs.append(np.log(((rows - rows.mean(axis=0)) ** 2).sum()))
    expected = np.log(((X - X.mean(axis=0)) ** 2).sum())
    assert result.log_inertia[0] == pytest.approx(expected, rel=1e-12)
    assert result.reference[0] == pytest.approx(np.mean(logs), rel=1e-12)
    assert result.gap[0] == pytest.approx(np.mean(logs) - expected, rel=1e-9)
    assert result.error[0] == pytest.approx(np.std(logs) * np.sqrt(1 + 1 / 6), rel=1e-9)


def test_more_columns_than_rows_are_no_trouble():
    X = np.random.default_rng(0).normal(size=(20, 50))
    result = gap_statistic(X, range(1, 4), n_references=3, random_state=0)
    assert np.isfinite(result.gap).all()


def test_the_same_seed_gives_the_same_numbers_on_any_engine():
    X = blobs(200, d=2, k=3)
    runs = [
        gap_statistic(X, range(1, 4), n_references=3, random_state=5, engine=engine)
        for engine in (Serial(), Threads(2))
    ]
    assert runs[0] == runs[1]
    assert runs[0] != gap_statistic(X, range(1, 4), n_references=3, random_state=6)


def test_another_clusterer_may_be_tried():
    calls = []

    def halves(rows, k, seed):
        calls.append((len(rows), k, seed))
        return (rows[:, 0] > np.median(rows[:, 0])).astype(int)

    gap_statistic(blobs(50), [2], n_references=2, clusterer=halves, random_state=0)
    assert [call[:2] for call in calls] == [(50, 2)] * 3
    assert len({call[2] for call in calls}) == 3


def test_it_prints_and_goes_to_json():
    result = gap_statistic(blobs(50, k=2), [1, 2, 3], n_references=2, random_state=0)
    lines = str(result).splitlines()
    assert len(lines) == 4
    assert [line.endswith("*") for line in lines[1:]].index(True) == result.best - 1
    assert result.to_dict()["ks"] == [1, 2, 3]


@pytest.mark.parametrize(
    ("X", "settings", "message"),
    [
        (np.ones((10, 2)), {"ks": [1, 2]}, "inertia, which is 0 for k=1"),
        (np.repeat(np.eye(2), 5, axis=0), {"ks": [1, 2]}, "0 for k=2"),
        (blobs(10), {"ks": [0, 1]}, "from 1"),
        (blobs(10), {"ks": [10]}, "less than"),
        (blobs(10), {"ks": []}, "Choose others"),
        (blobs(10), {"ks": [1], "n_references": 1}, "at least 2"),
        (blobs(10), {"ks": [1], "reference": "ball"}, "'ball' is unknown"),
        (np.full((5, 2), np.nan), {"ks": [1]}, "row 0, column 0"),
    ],
)
def test_bad_input_is_refused(X, settings, message):
    with pytest.raises(ValueError, match=message):
        gap_statistic(X, **settings)


def test_sparse_rows_are_sent_to_be_reduced():
    with pytest.raises(TypeError, match="Reduce it"):
        gap_statistic(sp.csr_array(np.eye(5)), [1])
