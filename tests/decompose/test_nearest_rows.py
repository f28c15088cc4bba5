"""Nearest rows within cells, where there are too many to look at all pairs."""

import numpy as np
import pytest

from tacit.core import Serial, Threads
from tacit.decompose import nearest_rows as module
from tacit.decompose.nearest_rows import nearest_rows


@pytest.fixture
def by_cells(monkeypatch):
    """Cells for a few thousand rows."""
    monkeypatch.setattr(module, "EXACT_ROWS", 100)
    monkeypatch.setattr(module, "CELL_ROWS", 50)


def blobs(n, d=8, k=20, seed=0):
    rng = np.random.default_rng(seed)
    rows = 4 * rng.normal(size=(k, d))[rng.integers(k, size=n)] + rng.normal(size=(n, d))
    return rows.astype(np.float32)


def test_cells_find_most_of_the_true_neighbours(by_cells):
    X = blobs(3000)
    result = nearest_rows(X, 10, Serial())
    true = module.exact(X, 10, Serial())
    pairs = zip(result.places, true.places, strict=True)
    fraction = np.mean([len(np.intersect1d(*pair)) / 10 for pair in pairs])
    assert fraction > 0.95
    assert result.recall == pytest.approx(fraction, abs=0.03)
    assert (np.diff(result.squares, axis=1) >= 0).all()
    assert not (result.places == np.arange(3000)[:, None]).any()  # nobody is its own


def test_cells_have_the_same_bits_on_any_number_of_threads(by_cells):
    X = blobs(2000, seed=1)
    one, three = nearest_rows(X, 5, Serial(), seed=2), nearest_rows(X, 5, Threads(3), seed=2)
    assert one.places.tobytes() == three.places.tobytes()
    assert one.squares.tobytes() == three.squares.tobytes()


def test_many_equal_rows_are_searched_in_pieces(by_cells, monkeypatch):
    monkeypatch.setattr(module, "LARGEST_CELL", 60)
    sizes = []
    search = module.search

    def watched(X, norms, rows, among, k):
        sizes.append(len(rows) * (len(X) if among is None else len(among)))
        return search(X, norms, rows, among, k)

    monkeypatch.setattr(module, "search", watched)
    X = np.concatenate([np.zeros((2500, 3), np.float32), blobs(500, 3, seed=3)])
    result = nearest_rows(X, 4, Serial())
    assert (result.places >= 0).all()
    assert (result.squares[:2500] == 0).all()
    checked = sizes.pop()  # the sample on which recall is measured looks at all rows
    assert checked == min(module.CHECKED, 3000) * 3000
    assert max(sizes) <= 60 * (60 + (module.AROUND + 1) * 30)


def test_hardly_any_cells_still_give_everybody_enough_neighbours(by_cells):
    X = np.concatenate([np.zeros((150, 2)), 100 + np.arange(6.0).reshape(3, 2)])
    result = nearest_rows(X.astype(np.float32), 5, Serial())
    assert result.places.shape == (153, 5)
    assert (result.places >= 0).all()
