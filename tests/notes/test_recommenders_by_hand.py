"""The examples of 000 ch. 9: affinity, completion at rank 1, gradients of the loss."""

import numpy as np
import pytest

from tacit.datasets.worked_examples import IMPOSSIBLE_RATINGS, POSSIBLE_RATINGS
from tacit.recommend import ALS, AttributeRecommender, complete
from tacit.recommend.sgd import loss_and_gradient


def test_affinity_counts_the_attributes_that_both_vectors_have():
    model = AttributeRecommender.from_vectors(
        {"one": ["thriller", "romance"], "two": ["thriller", "space", "romance"]},
        {"ann": ["thriller", "space"], "bob": ["romance"]},
    )
    assert model.affinity("ann", "one") == 1
    assert model.affinity("ann", "two") == 2
    assert model.affinity("bob", "two") == 1


def test_affinity_is_an_entry_of_the_product_of_tastes_and_attributes():
    model = AttributeRecommender.from_vectors(
        {"a": ["x"], "b": ["x", "y"], "c": ["y", "z"]}, {"u": ["x", "z"], "v": ["y"]}
    )
    product = model.user_factors_ @ model.item_factors_.T
    for u, user in enumerate(model.user_ids_):
        for i, item in enumerate(model.item_ids_):
            assert model.affinity(user, item) == product[u, i]


def test_similarity_of_users_and_of_items_is_a_product_too():
    model = AttributeRecommender.from_vectors(
        {"a": ["x", "y"], "b": ["x", "y", "z"]}, {"u": ["x", "z"], "v": ["z"]}
    )
    assert model.similarity("a", "b") == 2
    assert model.similarity("u", "v", users=True) == 1


def test_the_bias_of_a_user_is_added_to_the_affinity():
    model = AttributeRecommender.from_vectors(
        {"a": ["x"]}, {"u": ["x"], "v": ["x"]}, {"u": 0.5}
    )
    assert model.predict("u", "a") == 1.5
    assert model.predict("v", "a") == 1.0


def test_example_9_2_5_is_filled_exactly_with_rank_1():
    result = complete(POSSIBLE_RATINGS, rank=1)
    assert result.possible
    assert result.determined.all()
    np.testing.assert_array_equal(result.matrix, np.outer([1, 1, 4, 4], [1, 1, 2, 2]))


def test_example_9_2_6_is_reported_as_impossible_at_rank_1():
    result = complete(IMPOSSIBLE_RATINGS, rank=1)
    assert not result.possible
    assert result.rmse > 0.1
    assert "rows 0, 1 and columns 0, 1" in str(result)


def test_example_9_2_4_equal_unit_vectors_appeal_to_all_users_alike():
    rng = np.random.default_rng(0)
    column = rng.normal(size=3)
    column /= np.linalg.norm(column)
    users = rng.normal(size=(5, 3))
    assert column @ column == pytest.approx(1)
    np.testing.assert_allclose(users @ column, users @ column.copy())


def test_theorem_9_2_3_a_matrix_of_rank_r_is_factorized_exactly():
    rng = np.random.default_rng(1)
    M = rng.normal(size=(30, 2)) @ rng.normal(size=(2, 20))
    triples = [(i, j, M[i, j]) for i in range(30) for j in range(20)]
    model = ALS(2, reg=1e-6, bias=False, max_iter=60, tol=0, random_state=0).fit(triples)
    predicted = model.predict([(i, j) for i in range(30) for j in range(20)])
    np.testing.assert_allclose(predicted.reshape(30, 20), M, atol=1e-3)


@pytest.mark.parametrize("reg", [0.0, 0.3])
def test_gradients_9_6_and_9_7_agree_with_finite_differences(reg):
    rng = np.random.default_rng(2)
    n, m, k = 5, 4, 3
    arrays = [rng.normal(size=shape) for shape in ((n, k), (m, k), (n,), (m,))]
    u, i = np.nonzero(rng.random((n, m)) < 0.6)
    values = rng.normal(size=len(u))

    def loss(*arrays):
        return loss_and_gradient(*arrays, (u, i), values, mean=0.5, reg=reg).loss

    gradient = loss_and_gradient(*arrays, (u, i), values, mean=0.5, reg=reg)
    for which in range(4):
        for place in np.ndindex(arrays[which].shape):
            moved = [each.copy() for each in arrays]
            moved[which][place] += 1e-6
            up = loss(*moved)
            moved[which][place] -= 2e-6
            numeric = (up - loss(*moved)) / 2e-6
            assert gradient[which][place] == pytest.approx(numeric, abs=1e-6)


def test_without_biases_the_loss_is_the_mean_squared_error_9_5():
    A, B = np.array([[1.0], [2.0]]), np.array([[1.0], [3.0]])
    pairs = np.array([0, 1]), np.array([1, 0])
    none = np.zeros(2)
    found = loss_and_gradient(A, B, none, none, pairs, np.array([4.0, 0.0]), biased=False)
    assert found.loss == ((4 - 3) ** 2 + (0 - 2) ** 2) / 2
    # (9.6): the mean of -2 B (M - AB) over the known entries of the row
    np.testing.assert_allclose(found.users, [[-2 * 3 * 1 / 2], [-2 * 1 * -2 / 2]])
    np.testing.assert_allclose(found.items, [[-2 * 2 * -2 / 2], [-2 * 1 * 1 / 2]])
    assert not found.user_bias.any()
