"""Stochastic gradient descent: schedules, early stopping, interruption, samplings."""

import numpy as np
import pytest

from tacit.core import Checkpoint
from tacit.measure import rmse
from tacit.recommend import BiasedSGD
from tacit.recommend.sgd import Blocks
from tests.recommend.planted import planted

RATINGS = planted()


def test_blocks_of_a_diagonal_share_neither_a_user_nor_an_item():
    blocks = Blocks(
        RATINGS.users, RATINGS.items, RATINGS.values, RATINGS.shape, mean=0.0, reg=0.1,
        rate=0.1, bias_rate=0.1, biased=True, adaptive=True, seed=np.uint64(0),
    )  # fmt: skip
    seen = 0
    for parts in blocks.rounds(0):
        users, items = [], []
        for p, q, _ in parts:
            first, last = blocks.bounds[p * blocks.parts + q : p * blocks.parts + q + 2]
            users.append({*blocks.runs.users[first:last].tolist()})
            span = slice(blocks.runs.edges[first], blocks.runs.edges[last])
            items.append({*blocks.runs.items[span].tolist()})
            seen += span.stop - span.start
        for groups in (users, items):
            assert sum(map(len, groups)) == len(set().union(*groups))
    assert seen == len(RATINGS)


@pytest.mark.parametrize("solver", ["adagrad", "sgd"])
def test_planted_structure_is_found(solver):
    train, test = RATINGS.split(0.2, random_state=0)
    model = BiasedSGD(3, reg=0.01, n_epochs=150, solver=solver, random_state=0).fit(train)
    assert rmse(test.values, model.predict(test)) < 0.5


@pytest.mark.parametrize("solver", ["gradient", "rows", "columns"])
def test_gradients_of_many_ratings_lower_the_loss(solver):
    model = BiasedSGD(3, reg=0.01, n_epochs=60, solver=solver, random_state=0).fit(RATINGS)
    assert model.losses_[-1] < 0.8 * model.losses_[0]
    assert -model.score(RATINGS) < 1


def test_early_stopping_returns_the_best_factors():
    model = BiasedSGD(
        20, reg=0.0, n_epochs=100, early_stopping=True, patience=3, random_state=0
    ).fit(RATINGS)
    assert model.converged_
    assert model.n_epochs_ < 100
    best = int(np.argmin(model.held_out_))
    assert model.n_epochs_ - 1 - best >= 3
    shorter = BiasedSGD(
        20, reg=0.0, n_epochs=best + 1, early_stopping=True, patience=50, random_state=0
    ).fit(RATINGS)
    np.testing.assert_array_equal(shorter.user_factors_, model.user_factors_)


def test_another_seed_gives_other_factors_and_the_same_seed_the_same():
    one, same, other = (
        BiasedSGD(3, n_epochs=2, random_state=seed).fit(RATINGS).user_factors_
        for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()


def test_ctrl_c_keeps_the_best_factors_so_far():
    def interrupt(step):
        if step.number == 5:
            raise KeyboardInterrupt

    model = BiasedSGD(3, early_stopping=True, random_state=0, callbacks=[interrupt])
    with pytest.raises(KeyboardInterrupt):
        model.fit(RATINGS)
    assert len(model.held_out_) == 5
    assert -model.score(RATINGS) < 1.1


def test_a_resumed_fit_has_the_same_bits(tmp_path):
    whole = BiasedSGD(3, n_epochs=6, random_state=0).fit(RATINGS)

    def interrupt(step):
        if step.number == 3:
            raise KeyboardInterrupt

    path = tmp_path / "fit.checkpoint"
    model = BiasedSGD(3, n_epochs=6, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.set_params(callbacks=[Checkpoint(path, every=0), interrupt]).fit(RATINGS)
    again = model.set_params(callbacks=[Checkpoint(path, every=0)]).fit(RATINGS)
    np.testing.assert_array_equal(again.user_factors_, whole.user_factors_)


def test_an_overflow_is_an_error_that_says_what_to_do():
    with pytest.raises(ValueError, match="lower learning_rate"):
        BiasedSGD(3, solver="sgd", learning_rate=100.0, random_state=0).fit(RATINGS)


def test_too_few_ratings_to_hold_some_out():
    with pytest.raises(ValueError, match="there are only 1"):
        BiasedSGD(3, early_stopping=True).fit([("a", "x", 1.0)])
