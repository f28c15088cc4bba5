"""The driver of sequential models: schedules, stopping, checkpoints, the same bits anywhere."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

from tacit.core import Checkpoint, Serial, Threads
from tacit.core.checkpoint import begin
from tacit.core.sweep import Sequential, Visited, deal, diagonals, no_gain_for, sweep


class Weights(NamedTuple):
    weights: np.ndarray


class LeastSquares(Sequential):
    """A gradient step for every row, in an order drawn from (seed, pass)."""

    def __init__(self, seed=1):
        rng = np.random.default_rng(0)
        self.rows = rng.normal(size=(300, 4))
        self.targets = self.rows @ [1.0, -2.0, 0.5, 3.0]
        self.seed = seed

    def start(self):
        return Weights(np.zeros(4))

    def rounds(self, number):
        yield [np.random.default_rng((self.seed, number)).permutation(len(self.rows))]

    def visit(self, state, part, number):
        loss = 0.0
        for i in part:
            error = self.targets[i] - self.rows[i] @ state.weights
            state.weights[:] += 0.02 * error * self.rows[i]
            loss += error**2
        return Visited(len(part), loss)


class Factors(NamedTuple):
    users: np.ndarray
    items: np.ndarray


class Factorization(Sequential):
    """Ratings in a grid of users x items: the cells of a diagonal run in parallel."""

    def __init__(self, parts=3):
        rng = np.random.default_rng(0)
        self.user, self.item = rng.integers(40, size=900), rng.integers(30, size=900)
        truth = rng.normal(size=(40, 2)), rng.normal(size=(30, 2))
        self.rating = (truth[0][self.user] * truth[1][self.item]).sum(axis=1)
        users = deal(np.bincount(self.user, minlength=40), parts)[self.user]
        items = deal(np.bincount(self.item, minlength=30), parts)[self.item]
        self.cells, self.parts = users * parts + items, parts

    def start(self):
        rng = np.random.default_rng(1)
        return Factors(rng.normal(size=(40, 2)), rng.normal(size=(30, 2)))

    def rounds(self, number):
        yield from diagonals(self.parts)

    def visit(self, state, part, number):
        chosen = np.flatnonzero(self.cells == part[0] * self.parts + part[1])
        loss = 0.0
        for t in chosen:
            p, q = state.users[self.user[t]], state.items[self.item[t]]
            error = self.rating[t] - p @ q
            p[:], q[:] = p + 0.05 * error * q, q + 0.05 * error * p
            loss += error**2
        return Visited(len(chosen), loss)


class Totals(NamedTuple):
    own: np.ndarray  # a slice for every part
    total: np.ndarray  # read by all, written by merge


@dataclass(frozen=True)
class Changed(Visited):
    total: np.ndarray


class Shared(Sequential):
    """Parts that read a total which only ``merge`` may write."""

    def start(self):
        return Totals(np.arange(8.0), np.array([28.0]))

    def rounds(self, number):
        yield [0, 1, 2, 3]
        yield [4, 5, 6, 7]

    def visit(self, state, part, number):
        before = state.own[part]
        state.own[part] = before / 2 + 0.01 * state.total[0]
        return Changed(1, state.own[part], np.array([state.own[part] - before]))

    def merge(self, state, stats):
        state.total[:] += stats.total


MODELS = [LeastSquares, Factorization, Shared]
every_model = pytest.mark.parametrize("model", MODELS, ids=lambda each: each.__name__)


@every_model
def test_any_number_of_threads_gives_the_same_bits(model):
    ends = []
    for engine in (Serial(), Threads(1), Threads(2), Threads(5)):
        created = model()
        ends.append(sweep(created, created.start(), engine, max_iter=4))
    for end in ends[1:]:
        assert end.losses == ends[0].losses
        for a, b in zip(end.state, ends[0].state, strict=True):
            np.testing.assert_array_equal(a, b)


@every_model
def test_passes_lower_the_loss(model):
    created = model()
    end = sweep(created, created.start(), Serial(), max_iter=20)
    assert end.losses[-1] < 0.5 * end.losses[0]


def test_merged_totals_are_those_of_the_parts():
    created = Shared()
    end = sweep(created, created.start(), Threads(2), max_iter=5)
    np.testing.assert_allclose(end.state.total[0], end.state.own.sum())


def test_stop_decides_when_to_end():
    created = LeastSquares()
    end = sweep(created, created.start(), Serial(), max_iter=50, stop=lambda s, x: len(x) == 3)
    assert end.converged
    assert len(end.losses) == 3


def test_a_held_out_loss_decides_where_there_is_one():
    created, seen = LeastSquares(), []

    def held_out(state):
        seen.append(state.weights.copy())
        return [3.0, 2.0, 2.5][len(seen) - 1]

    end = sweep(
        created, created.start(), Serial(), max_iter=9, held_out=held_out,
        stop=lambda state, losses: no_gain_for(losses, 1, 0.0),
    )  # fmt: skip
    assert end.converged
    assert end.held_out == [3.0, 2.0, 2.5]


def test_a_callback_stops_the_sweep():
    created, steps = LeastSquares(), []

    def callback(step):
        steps.append(step.number)
        return step.number == 2

    end = sweep(created, created.start(), Serial(), max_iter=9, callbacks=[callback])
    assert not end.converged
    assert steps == [1, 2]


@every_model
@pytest.mark.parametrize("passes", [1, 3])
def test_a_sweep_resumes_from_a_checkpoint_with_the_same_bits(model, passes, tmp_path):
    created = model()
    whole = sweep(created, created.start(), Serial(), max_iter=6)

    def interrupt(step):
        if step.number == passes:
            raise KeyboardInterrupt

    first = Checkpoint(tmp_path / "fit", every=0)
    begin([first], "key")
    with pytest.raises(KeyboardInterrupt):
        sweep(created, created.start(), Serial(), max_iter=6, callbacks=[first, interrupt])
    again = Checkpoint(tmp_path / "fit")
    begin([again], "key")
    rest = sweep(created, created.start(), Serial(), max_iter=6, callbacks=[again])
    assert rest.losses == whole.losses
    for a, b in zip(rest.state, whole.state, strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_checkpoint_written_late_holds_the_end_of_a_pass(tmp_path):
    created, states = LeastSquares(), []
    checkpoint = Checkpoint(tmp_path / "fit", every=1000)
    begin([checkpoint], "key")

    class Interrupted(LeastSquares):
        def visit(self, state, part, number):
            if number == 2:
                states.append(state.weights.copy())
                state.weights[:] = 99.0
                raise KeyboardInterrupt
            return super().visit(state, part, number)

    with pytest.raises(KeyboardInterrupt):
        sweep(Interrupted(), created.start(), Serial(), max_iter=6, callbacks=[checkpoint])
    checkpoint.close()
    again = Checkpoint(tmp_path / "fit")
    begin([again], "key")
    state, losses = again.resume(created.start())
    np.testing.assert_array_equal(state.weights, states[0])
    assert len(losses) == 2


def test_blocks_of_a_round_share_no_row_and_no_column():
    rounds = diagonals(5)
    for blocks in rounds:
        assert len({p for p, _ in blocks}) == len({q for _, q in blocks}) == 5
    assert len({block for blocks in rounds for block in blocks}) == 25


def test_groups_are_balanced_by_weight():
    weights = np.random.default_rng(0).zipf(1.5, size=1000).clip(max=500)
    group = deal(weights, 4)
    loads = np.bincount(group, weights)
    assert loads.max() < 1.02 * loads.min()


def test_a_pass_begins_and_ends_around_its_rounds():
    seen = []

    class Moved(Sequential):
        def begin_pass(self, state, number):
            seen.append(("begin", number))

        def rounds(self, number):
            return [["a"], ["b"]]

        def visit(self, state, part, number):
            seen.append(part)
            return Visited(1.0, 2.0)

        def end_pass(self, state, number):
            seen.append(("end", number))

    swept = sweep(Moved(), None, Serial(), max_iter=2)
    assert seen == [("begin", 0), "a", "b", ("end", 0), ("begin", 1), "a", "b", ("end", 1)]
    assert swept.losses == [2.0, 2.0]
