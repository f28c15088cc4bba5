"""The curse of dimension: facts about the cube, and the diagnosis of data sets."""

import json

import numpy as np
import pytest
import scipy.sparse as sp

from tacit.data import Table
from tacit.decompose import dimension


def test_the_facts_of_the_notes_hold_for_rows_drawn_from_the_cube():
    rng = np.random.default_rng(0)
    for d in (1, 3, 50):
        X = rng.uniform(-1, 1, size=(20_000, d))
        rind = (np.abs(X) > 0.9).any(axis=1).mean()
        assert dimension.rind_share(d, 0.1) == pytest.approx(rind, abs=0.01)
        squared = (X**2).sum(axis=1).mean()
        assert dimension.expected_squared_norm(d) == pytest.approx(squared, rel=0.02)
        apart = ((X[::2] - X[1::2]) ** 2).sum(axis=1).mean()
        assert dimension.expected_squared_distance(d) == pytest.approx(apart, rel=0.02)
        assert dimension.expected_squared_norm(d) == pytest.approx(d / 3, rel=1e-12)
        assert dimension.expected_squared_distance(d) == pytest.approx(2 * d / 3, rel=1e-12)
        assert dimension.rind_share(d, 0.1) == pytest.approx(1 - 0.9**d, rel=1e-12)
    assert round(dimension.rind_share(100, 0.05), 3) == 0.994
    assert dimension.boxes_needed(100) == 2**100


def test_the_fruit_vanishes():
    fractions = [dimension.rind_share(d, 0.01) for d in (1, 10, 100, 1000, 100_000)]
    assert fractions == sorted(fractions)
    assert fractions[0] == pytest.approx(0.01)
    assert fractions[-1] == pytest.approx(1.0)
    assert dimension.rind_share(5, 0.0) == 0.0
    assert dimension.rind_share(5, 1.0) == 1.0


@pytest.mark.parametrize(
    "call",
    [
        lambda: dimension.rind_share(0, 0.1),
        lambda: dimension.rind_share(2, 1.5),
        lambda: dimension.expected_squared_norm(2.5),
        lambda: dimension.boxes_needed(2, per_axis=0),
        lambda: dimension.diagnose(np.ones((1, 3))),
    ],
)
def test_nonsense_is_refused(call):
    with pytest.raises(ValueError, match=r"whole number|thickness|per_axis|two rows"):
        call()


@pytest.mark.parametrize("inner", [1, 2, 5])
def test_the_intrinsic_dimension_is_that_of_the_space_the_rows_were_drawn_in(inner):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(1500, inner)) @ rng.normal(size=(inner, 30))
    result = dimension.diagnose(X)
    assert result.two_nn == pytest.approx(inner, rel=0.15)
    assert result.levina_bickel == pytest.approx(inner, rel=0.2)
    assert result.ranks[0.01] == inner
    assert result.participation <= inner + 0.1


def test_a_curved_surface_has_fewer_dimensions_than_components():
    rng = np.random.default_rng(0)
    angle, height = rng.uniform(1, 9, 1500), rng.uniform(0, 4, 1500)
    roll = np.column_stack([angle * np.cos(angle), angle * np.sin(angle), height])
    result = dimension.diagnose(roll)
    assert round(result.two_nn) == 2
    assert result.ranks[0.01] == 3


def test_distances_concentrate_in_many_dimensions():
    rng = np.random.default_rng(0)
    few, many = (dimension.diagnose(rng.uniform(size=(400, d))) for d in (2, 500))
    assert many.distance_spread < 0.05 < few.distance_spread
    assert many.nearest_over_mean > 0.8 > few.nearest_over_mean
    assert "Distances are concentrated" in str(many)
    assert json.dumps(many.to_dict())


def test_sparse_rows_tables_and_samples():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3)) @ rng.normal(size=(3, 40))
    dense, sparse, table = (
        dimension.diagnose(rows) for rows in (X, sp.csr_array(X), Table.from_array(X))
    )
    assert sparse.two_nn == pytest.approx(dense.two_nn, rel=1e-6)
    assert sparse.ranks == dense.ranks == table.ranks
    assert dimension.diagnose(X, sample=100).sampled == 100


def test_constant_and_repeated_rows():
    result = dimension.diagnose(np.ones((50, 4)))
    assert result.distinct == 1
    assert result.two_nn is None
    assert result.constant_columns == 4
    assert set(result.ranks.values()) == {0}
    assert "too few distinct rows" in str(result)
    twice = dimension.diagnose(np.repeat(np.random.default_rng(0).normal(size=(200, 2)), 2, 0))
    assert twice.distinct == 200
    assert twice.two_nn == pytest.approx(2, rel=0.2)
