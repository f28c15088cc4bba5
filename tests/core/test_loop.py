"""The loops, on a model small enough to check by hand."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

from tacit.core import Serial, Stats, iterate, iterate_online
from tacit.core.progress import Progress
from tacit.data import Table

ROWS = np.arange(10.0).reshape(-1, 1)  # mean 4.5


class Center(NamedTuple):
    value: float


@dataclass(frozen=True)
class CenterStats(Stats):
    rows: int
    loss: float
    sum: float


def collect(params, block):
    return CenterStats(
        len(block), float(((block - params.value) ** 2).sum()), float(block.sum())
    )


def halfway(params, stats):
    """Goes half the way to the mean, so that the loop has something to do."""
    return Center((params.value + stats.sum / stats.rows) / 2)


def run(**options):
    table = Table.from_array(ROWS, block_rows=3)
    return iterate(Center(100.0), collect, halfway, table, Serial(), **options)


def test_losses_belong_to_the_params_they_were_measured_at():
    fit = run(max_iter=3, tol=0)
    values = [100.0]
    for _ in range(3):
        values.append((values[-1] + 4.5) / 2)
    expected = [((ROWS - value) ** 2).mean() for value in values]
    np.testing.assert_allclose(fit.losses, expected)
    assert fit.params.value == values[-1]
    assert not fit.converged


def test_the_loop_stops_when_a_pass_brings_little():
    fit = run(max_iter=1000, tol=1e-3)
    gains = -np.diff(fit.losses)
    total = fit.losses[0] - fit.losses[-1]
    assert fit.converged
    assert gains[-1] <= 1e-3 * total
    assert (gains[:-1] > 1e-3 * total).all()


def test_a_rule_of_the_models_own_may_end_it():
    fit = run(max_iter=1000, settled=lambda old, new: abs(old.value - new.value) < 1)
    assert fit.converged
    assert abs(fit.params.value - 4.5) < 1


def test_every_step_is_told_and_the_last_one_says_so():
    steps = []
    fit = run(
        max_iter=5, tol=0, callbacks=[lambda step: steps.append((step.number, step.done))]
    )
    assert steps == [(0, False), (1, False), (2, False), (3, False), (4, False), (5, True)]
    assert len(fit.losses) == 6


def test_a_callback_may_stop_the_loop_and_all_hear_of_it():
    notified = []
    fit = run(
        max_iter=50, tol=0, callbacks=[lambda s: s.number == 2, lambda s: notified.append(1)]
    )
    assert len(fit.losses) == 3
    assert len(notified) == 3
    assert not fit.converged


def test_callbacks_are_closed_whatever_happens():
    class Door:
        closed = False

        def on_step(self, step):
            if step.number == 1:
                raise KeyboardInterrupt

        def close(self):
            self.closed = True

    door = Door()
    with pytest.raises(KeyboardInterrupt):
        run(max_iter=5, callbacks=[door])
    assert door.closed


def test_the_online_loop_nears_the_same_answer_and_can_go_on():
    def full(params, stats):
        return Center(stats.sum / stats.rows)

    table = Table.from_array(ROWS, block_rows=2)
    whole = iterate_online(Center(0.0), collect, full, table, passes=2)
    half = iterate_online(Center(0.0), collect, full, table)
    rest = iterate_online(
        half.params, collect, full, table, memory=half.memory, steps=half.steps
    )
    assert rest.params == whole.params
    assert rest.steps == whole.steps == 10
    assert half.losses + rest.losses == whole.losses
    assert abs(whole.params.value - 4.5) < 3


def test_progress_is_quiet_at_first_and_then_speaks_lines(capsys):
    run(max_iter=5, tol=0, callbacks=[Progress()])
    assert capsys.readouterr().err == ""
    run(max_iter=5, tol=0, callbacks=[Progress(delay=0, every=0)])
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "fit: 0 of at most 5 passes, loss 9128.5"
    assert len(lines) == 6


def test_progress_draws_a_bar_on_a_terminal():
    import io

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    screen = Terminal()
    with Progress(stream=screen, delay=0) as bar:
        run(max_iter=5, tol=0, callbacks=[bar])
    assert "passes" in screen.getvalue()
    assert "\x1b" in screen.getvalue()
