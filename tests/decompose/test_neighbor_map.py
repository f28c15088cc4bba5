"""Neighbours and the map drawn from them."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits, make_blobs

from tacit.core import Serial, Threads
from tacit.decompose import NeighborMap, nearest_rows
from tacit.decompose.nearest_rows import by_cells, exact


def rows_of(n, d=8, centers=20, seed=0):
    return make_blobs(n, d, centers=centers, random_state=seed)[0].astype(np.float32)


# --- Neighbours ---


def test_all_pairs_give_the_true_neighbours():
    X = rows_of(1300)
    distances = cdist(X, X)
    np.fill_diagonal(distances, np.inf)
    result = exact(X, 5, Serial())
    assert (result.places == np.argsort(distances, axis=1)[:, :5]).mean() > 0.999
    np.testing.assert_allclose(
        np.sqrt(result.squares), np.sort(distances, axis=1)[:, :5], atol=2e-2
    )
    assert result.recall == 1.0


def test_a_row_is_never_its_own_neighbour_and_ties_go_to_the_lowest_number():
    X = np.zeros((6, 3), np.float32)
    result = exact(X, 2, Serial())
    assert result.places.tolist() == [[1, 2], [0, 2], [0, 1], [0, 1], [0, 1], [0, 1]]


def test_cells_find_nearly_all_and_say_how_many(monkeypatch):
    X = rows_of(6000, centers=60)
    monkeypatch.setattr(nearest_rows, "CELL_ROWS", 100)
    monkeypatch.setattr(nearest_rows, "AROUND", 12)
    result = by_cells(X, 10, Serial(), seed=0)
    truth = exact(X, 10, Serial())
    pairs = zip(result.places, truth.places, strict=True)
    recall = np.mean([len(np.intersect1d(a, b)) / 10 for a, b in pairs])
    assert recall > 0.9
    assert result.recall == pytest.approx(recall, abs=0.03)
    assert (result.places >= 0).all()
    assert (result.places != np.arange(len(X))[:, None]).all()
    again = by_cells(X, 10, Threads(3), seed=0)
    np.testing.assert_array_equal(again.places, result.places)


# --- The map ---


def test_threads_do_not_change_a_bit():
    X = rows_of(9000, d=5)
    maps = [
        NeighborMap(n_steps=20, random_state=3, engine=engine).fit_transform(X)
        for engine in (Serial(), Threads(1), Threads(3))
    ]
    assert maps[0].tobytes() == maps[1].tobytes() == maps[2].tobytes()


def test_digits_keep_their_neighbours_and_their_kind():
    images, digits = load_digits(return_X_y=True)
    result = NeighborMap(random_state=0).fit(images)
    assert result.kept_ > 0.75
    distances = cdist(result.embedding_, result.embedding_)
    np.fill_diagonal(distances, np.inf)
    assert (digits[distances.argmin(axis=1)] == digits).mean() > 0.95


def test_kept_is_what_it_says():
    X = rows_of(400, d=4, centers=8)
    result = NeighborMap(metric="euclidean", random_state=0, n_steps=100).fit(X)
    near = np.argsort(cdist(X, X) + np.diag(np.full(400, np.inf)), axis=1)[:, :10]
    drawn = cdist(result.embedding_, result.embedding_) + np.diag(np.full(400, np.inf))
    thirty = np.argsort(drawn, axis=1)[:, :30]
    fraction = np.mean([np.isin(a, b).mean() for a, b in zip(near, thirty, strict=True)])
    assert result.kept_ == pytest.approx(fraction, abs=0.01)


@pytest.mark.parametrize("n", [1, 2, 3, 12])
def test_few_rows_are_drawn_too(n):
    result = NeighborMap(random_state=0, n_steps=30).fit(rows_of(n, centers=2))
    assert result.embedding_.shape == (n, 2)
    assert np.isfinite(result.embedding_).all()
    assert np.isfinite(result.kept_)


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
@pytest.mark.parametrize(
    "X",
    [np.zeros((50, 3)), np.ones((50, 3)), np.eye(50), np.full((20, 1), 1e200)],
    ids=["zeros", "equal", "all as far", "huge"],
)
def test_degenerate_rows_give_finite_points(X, metric):
    result = NeighborMap(metric=metric, random_state=0, n_steps=30).fit(X)
    assert np.isfinite(result.embedding_).all()
    assert 0 <= result.kept_ <= 1


def test_a_large_offset_does_not_drown_the_neighbours():
    X = rows_of(300, d=3, centers=5).astype(np.float64)
    plain = NeighborMap(metric="euclidean", random_state=0, n_steps=5).fit(X)
    moved = NeighborMap(metric="euclidean", random_state=0, n_steps=5).fit(X + 1e7)
    assert (plain.neighbors_ == moved.neighbors_).mean() > 0.99


def test_callbacks_are_notified_of_every_step_and_can_stop_the_fit():
    numbers = []

    def stop_at_thirty(step):
        numbers.append(step.number)
        return step.number >= 30

    NeighborMap(random_state=0, n_steps=200, callbacks=[stop_at_thirty]).fit(rows_of(100))
    assert numbers == list(range(1, 31))
