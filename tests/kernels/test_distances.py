"""Distances by name: agreement with SciPy, exact where small, rows of every kind."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from tacit.kernels.distances import between_objects, between_rows, distance_matrix

NAMES = {
    "euclidean": "euclidean",
    "sqeuclidean": "sqeuclidean",
    "manhattan": "cityblock",
    "cosine": "cosine",
}
RNG = np.random.default_rng(0)
ROWS, OTHERS = RNG.normal(size=(30, 7)), RNG.normal(size=(700, 7))
OTHERS[RNG.random(OTHERS.shape) < 0.4] = 0
OTHERS[5] = ROWS[3]


@pytest.mark.parametrize("metric", NAMES)
@pytest.mark.parametrize("rows", [ROWS, sp.csr_array(ROWS), ROWS.astype(np.float32)], ids=type)
@pytest.mark.parametrize("others", [OTHERS, sp.csr_array(OTHERS)], ids=type)
def test_it_agrees_with_scipy(metric, rows, others):
    result = between_rows(rows, others, metric)
    single = not sp.issparse(rows) and rows.dtype == np.float32
    np.testing.assert_allclose(
        result, cdist(ROWS, OTHERS, NAMES[metric]), rtol=1e-9, atol=1e-6 if single else 1e-12
    )
    assert result.dtype == np.float64
    if not single:
        assert result[3, 5] == 0


@pytest.mark.parametrize("metric", NAMES)
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_small_distances_between_large_values_keep_their_digits(metric, make):
    big = np.array([[1e8, 2e8, 3e8]])
    near = big + np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 2.0, 0.0]])
    result = between_rows(make(big), make(near), metric)
    assert result[0, 1] == 0
    if metric != "cosine":
        np.testing.assert_allclose(result, cdist(big, near, NAMES[metric]), rtol=1e-12)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_the_cosine_of_a_row_of_zeros_is_zero_but_with_itself(make):
    rows = make(np.array([[0.0, 0.0], [1.0, 1.0]]))
    np.testing.assert_allclose(
        between_rows(rows, rows, "cosine"), [[0, 1], [1, 0]], rtol=0, atol=0
    )


def test_the_cosine_does_not_overflow():
    rows = np.array([[1e200, 0.0], [0.0, 1e-200]])
    np.testing.assert_allclose(between_rows(rows, rows, "cosine"), [[0, 1], [1, 0]], atol=1e-15)


def test_a_function_sees_rows():
    result = between_rows(ROWS, OTHERS[:4], lambda a, b: np.abs(a - b).max())
    np.testing.assert_allclose(result, cdist(ROWS, OTHERS[:4], "chebyshev"))
    sparse = between_rows(
        sp.csr_array(ROWS), sp.csr_array(OTHERS[:4]), lambda a, b: a @ a + b @ b
    )
    assert sparse[1, 2] == pytest.approx(ROWS[1] @ ROWS[1] + OTHERS[2] @ OTHERS[2])


def test_a_list_with_itself_takes_half_the_calls():
    calls = []

    def metric(a, b):
        calls.append((a, b))
        return abs(a - b)

    items = [1.0, 4.0, 9.0]
    result = between_objects(items, items, metric)
    np.testing.assert_array_equal(result, np.abs(np.subtract.outer(items, items)))
    assert len(calls) == 6
    assert between_objects([], [], metric).shape == (0, 0)


def test_an_unknown_metric_is_refused():
    with pytest.raises(ValueError, match="'warp' is unknown"):
        between_rows(ROWS, OTHERS, "warp")


@pytest.mark.parametrize("metric", NAMES)
def test_sparse_rows_whose_indices_repeat_or_are_not_sorted_are_read_and_not_modified(metric):
    values, columns = np.array([2.0, 1.0, 4.0, 3.0, 5.0]), np.array([2, 0, 1, 0, 0], np.int32)
    rows = sp.csr_array((values, columns, np.array([0, 2, 5], np.int32)), shape=(2, 3))
    dense, before = rows.toarray(), [x.copy() for x in (rows.data, rows.indices, rows.indptr)]
    np.testing.assert_allclose(
        between_rows(rows, rows, metric), between_rows(dense, dense, metric), atol=1e-12
    )
    np.testing.assert_allclose(
        distance_matrix(rows, metric), distance_matrix(dense, metric), atol=1e-12
    )
    for now, then in zip((rows.data, rows.indices, rows.indptr), before, strict=True):
        np.testing.assert_array_equal(now, then)
