"""The driver of smooth convex losses, on a problem with known answers."""

from dataclasses import dataclass

import numpy as np
import pytest
import scipy.optimize

from tacit.core import Serial, Stats, Threads
from tacit.core.minimize import minimize
from tacit.data import Table


@dataclass(frozen=True)
class Sums(Stats):
    loss: float
    gradient: np.ndarray
    hessian: np.ndarray


def collect(point, rows):
    """sum_i log cosh(x_i . w - 1), convex and smooth."""
    away = rows @ point - 1
    slope = np.tanh(away)
    hessian = rows.T @ ((1 - slope**2)[:, None] * rows)
    return Sums(float(np.log(np.cosh(away)).sum()), rows.T @ slope, hessian)


ROWS = np.random.default_rng(0).normal(size=(500, 6))
TABLE = Table.from_array(ROWS, block_rows=64)
both = pytest.mark.parametrize("hessian", [None, collect], ids=["lbfgs", "newton"])


def run(hessian, **settings):
    settings = {"engine": Serial(), "scale": 1 / 500, "l2": 0.1, "tol": 1e-9, **settings}
    engine = settings.pop("engine")
    return minimize(
        np.zeros(6), lambda x: x, collect, TABLE, engine, collect_hessian=hessian, **settings
    )


@both
def test_the_minimum_is_scipys(hessian):
    def value(x):
        return np.log(np.cosh(ROWS @ x - 1)).sum() / 500 + 0.05 * x @ x

    wanted = scipy.optimize.minimize(value, np.zeros(6), method="BFGS", options={"gtol": 1e-8})
    result = run(hessian)
    assert result.converged
    assert result.gradient <= 1e-9
    np.testing.assert_allclose(result.params, wanted.x, atol=1e-5)
    assert result.value == pytest.approx(value(result.params), rel=1e-12)
    assert result.value <= wanted.fun + 1e-12


@both
def test_any_engine_gives_the_same_bits(hessian):
    first = run(hessian)
    for engine in (Threads(1), Threads(3)):
        other = run(hessian, engine=engine)
        np.testing.assert_array_equal(other.params, first.params)
        assert other.value == first.value


@both
def test_callbacks_receive_every_iteration_and_may_stop(hessian):
    steps = []

    def callback(step):
        steps.append(step)
        return step.number == 2

    result = run(hessian, callbacks=[callback], name="test")
    assert [(step.name, step.number) for step in steps] == [("test", 1), ("test", 2)]
    assert result.iterations == 2
    assert not result.converged
    assert steps[1].losses[1] < steps[1].losses[0]


@both
def test_an_interrupt_goes_through(hessian):
    def interrupt(step):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(hessian, callbacks=[interrupt], engine=Threads(2))


@both
def test_coordinates_that_are_not_free_stay(hessian):
    free = np.array([True] * 5 + [False])
    result = run(hessian, free=free, tol=1e-7)
    assert result.params[5] == 0
    assert result.converged
    assert np.abs(result.params[:5]).min() > 0


@both
def test_too_few_iterations_are_reported(hessian):
    result = run(hessian, max_iter=1)
    assert result.iterations == 1
    assert not result.converged


def test_a_singular_hessian_has_the_shortest_step():
    rows = np.hstack([ROWS, ROWS[:, :1]])  # two columns that are the same
    result = minimize(
        np.zeros(7), lambda x: x, collect, Table.from_array(rows), Serial(),
        collect_hessian=collect, scale=1 / 500, tol=1e-9,
    )
    assert result.converged
    assert result.params[0] == pytest.approx(result.params[6])


def test_blocks_on_the_diagonal_are_solved_one_by_one():
    def two(point, rows):
        parts = [collect(column, rows) for column in point.reshape(6, 2).T]
        gradient = np.stack([part.gradient for part in parts], axis=1)
        return Sums(sum(part.loss for part in parts), gradient,
                    np.stack([part.hessian for part in parts]))

    result = minimize(
        np.zeros(12), lambda x: x, two, TABLE, Serial(), collect_hessian=two, scale=1 / 500,
        l2=0.1, tol=1e-9,
    )
    for column in result.params.reshape(6, 2).T:
        np.testing.assert_allclose(column, run(collect).params, atol=1e-9)
