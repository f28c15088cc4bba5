"""Attributes as tastes and for new items; completion of matrices."""

import numpy as np
import pytest

import tacit
from tacit.recommend import AttributeRecommender, complete

TAGS = {i: ["even" if i % 2 == 0 else "odd"] for i in range(10)}
TRIPLES = [(u, i, 5.0 if i % 2 == u % 2 else 1.0) for u in range(8) for i in range(8) if u != i]
GAP = np.nan


def test_tastes_are_learned_and_carry_over_to_items_nobody_rated():
    model = AttributeRecommender(reg=0.5).fit(TRIPLES, attributes=TAGS)
    assert model.predict(0, 8) > 4 > 2 > model.predict(0, 9)
    receipt = model.add_items({"new": ["odd"], "odd one": ["odd", "never seen"]})
    assert receipt.added == 2
    assert "never seen" in receipt.advice
    assert model.predict(1, "new") > 4
    assert model.recommend(1, 3).ids[0] in (1, 9, "new", "odd one")


def test_new_users_get_tastes_from_their_ratings():
    model = AttributeRecommender(reg=0.5).fit(TRIPLES, attributes=TAGS)
    model.add_users([("guest", 1, 5.0), ("guest", 3, 5.0), ("guest", 2, 1.0)])
    assert model.predict("guest", 9) > model.predict("guest", 8)
    model.partial_fit([("guest", 5, 5.0)])
    assert model.ratings_.shape[0] == 9


def test_a_hand_made_model_is_saved_and_loaded(tmp_path):
    model = AttributeRecommender.from_vectors({"a": {"x": 2.0}}, {"u": ["x"]}, {"u": 1.0})
    model.save(tmp_path / "m.safetensors")
    again = tacit.load(tmp_path / "m.safetensors")
    assert again.predict("u", "a") == 3.0
    assert again.attributes_ == ["x"]


def test_a_data_frame_of_flags_is_accepted():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"item": ["a", "b"], "x": [1, 0], "y": [1, 1]})
    model = AttributeRecommender.from_vectors(frame, {"u": ["x"]})
    assert model.recommend("u").ids == ["a", "b"]


@pytest.mark.parametrize(
    ("attributes", "error", "message"),
    [
        ({"a": "thriller"}, TypeError, "Give a list"),
        ([1, 2], TypeError, "must be a mapping"),
        ({"a": {"x": np.nan}}, ValueError, "not finite"),
    ],
)
def test_bad_attributes_are_refused(attributes, error, message):
    with pytest.raises(error, match=message):
        AttributeRecommender.from_vectors(attributes, {"u": ["x"]})


@pytest.mark.parametrize("rank", [1, 2])
def test_a_matrix_of_low_rank_is_recovered_from_most_of_its_entries(rank):
    rng = np.random.default_rng(rank)
    M = rng.normal(size=(9, rank)) @ rng.normal(size=(rank, 8))
    known = rng.random(M.shape) < 0.7
    result = complete(np.where(known, M, GAP), rank)
    assert result.possible
    np.testing.assert_allclose(
        result.matrix[result.determined], M[result.determined], atol=1e-6
    )


def test_gaps_that_the_known_entries_leave_open_are_said_to_be_open():
    result = complete([[1, GAP], [GAP, 1]])
    assert result.possible
    assert not result.determined[0, 1]
    assert "2 of 2 gaps are not determined" in str(result)


def test_what_was_not_checked_is_not_claimed():
    rng = np.random.default_rng(0)
    M = rng.normal(size=(60, 2)) @ rng.normal(size=(2, 40))
    gaps = np.where(rng.random(M.shape) < 0.4, GAP, M)
    small, large = complete(gaps, 2), complete(np.tile(gaps, (5, 20)), 2)
    assert small.determined.all()
    assert large.possible
    assert "not checked" in str(large)
    np.testing.assert_allclose(large.matrix[:60, :40], M, atol=1e-5)


def test_a_higher_rank_than_needed_is_fine_and_too_low_a_rank_is_reported():
    M = np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 1]])
    assert complete(M, 3).possible
    assert not complete(M, 2).possible


@pytest.mark.parametrize(
    ("matrix", "rank", "message"),
    [
        ([[GAP]], 1, "no entry is known"),
        ([1, 2], 1, "needs a matrix"),
        ([[1, np.inf]], 1, "infinite"),
        ([[1, 2]], 2, "between 1 and 1"),
    ],
)
def test_bad_matrices_are_refused(matrix, rank, message):
    with pytest.raises(ValueError, match=message):
        complete(matrix, rank)
