"""The driver of smooth convex losses: L-BFGS or Newton's method over sums.

    objective(x)  =  scale * loss(x)  +  sum_j l2_j x_j^2 / 2

A model provides ``collect(params, block)``, which returns Stats with ``loss`` and ``gradient``,
and for Newton's method ``collect_hessian``, whose Stats have ``hessian`` too. The sums go
through ``engine.reduce``, so a fit runs on any engine with the same bits. ``to_params`` turns
the point, a vector, into what ``collect`` takes; gradients are flattened in the same order.

L-BFGS is SciPy's. Newton's method solves for the step with a dense Hessian, halves it until the
objective falls enough, and ends after the first step that can gain nothing more in float64;
near the optimum every step doubles the number of correct digits.

Nocedal and Wright (2006), Numerical optimization, chapters 3 and 7.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg

from tacit.core.engines import Engine, one_blas_thread, ready
from tacit.core.progress import Callback, Step, notify

__all__ = ["Minimum", "minimize"]


class Minimum(NamedTuple):
    """The end of a minimization; value, gradient and stats were measured at ``params``."""

    params: Any
    value: float  # of the objective
    gradient: float  # largest absolute partial derivative of the objective
    stats: Any  # sums over all rows
    iterations: int
    converged: bool  # whether ``gradient`` is at most ``tol``


def minimize(
    start: np.ndarray,
    to_params: Callable[[np.ndarray], Any],
    collect: Callable,
    data: Iterable,
    engine: Engine,
    *,
    collect_hessian: Callable | None = None,
    scale: float = 1.0,
    l2: float | np.ndarray = 0.0,
    free: np.ndarray | None = None,
    flat: np.ndarray | None = None,
    tol: float = 1e-4,
    max_iter: int = 1000,
    callbacks: Sequence[Callback] = (),
    name: str = "fit",
) -> Minimum:
    """Minimize from ``start`` until no partial derivative exceeds ``tol``.

    With ``collect_hessian`` by Newton's method, else by L-BFGS. Coordinates where ``free`` is
    False stay at their start. ``flat`` is a direction along which the objective is constant:
    Newton's method needs to know it to invert the Hessian. Callbacks receive every iteration.
    """
    losses: list[float] = []

    def iterated(value: float, point: np.ndarray) -> bool:
        """Notify the callbacks; whether one of them stops the fit."""
        losses.append(value)
        step = Step(name, len(losses), max_iter, losses, to_params(point))
        return notify(callbacks, step)

    def evaluate(collect: Callable, point: np.ndarray) -> Evaluated:
        stats = engine.reduce(collect, to_params(point), data)
        value = scale * stats.loss + 0.5 * float(np.sum(l2 * point * point))
        gradient = scale * np.ravel(stats.gradient) + l2 * point
        if free is not None:
            gradient[~free] = 0.0
        return Evaluated(value, gradient, stats)

    # One BLAS thread outside of passes too: more may round differently.
    with one_blas_thread(), ready(engine) as engine:
        value_of = partial(evaluate, collect)
        if collect_hessian is None:
            point = by_lbfgs(value_of, start, tol, max_iter, iterated)
        else:
            hessian_of = partial(evaluate, collect_hessian)
            step_of = partial(newton_step, scale=scale, l2=l2, free=free, flat=flat)
            point = by_newton(value_of, hessian_of, step_of, start, tol, max_iter, iterated)
        end = value_of(point)
    largest = float(np.abs(end.gradient).max(initial=0.0))
    return Minimum(
        to_params(point), end.value, largest, end.stats, max(1, len(losses)), largest <= tol
    )


class Evaluated(NamedTuple):
    """The objective at a point."""

    value: float
    gradient: np.ndarray
    stats: Any


def by_lbfgs(
    evaluate: Callable[[np.ndarray], Evaluated],
    start: np.ndarray,
    tol: float,
    max_iter: int,
    iterated: Callable[[float, np.ndarray], bool],
) -> np.ndarray:
    """SciPy's L-BFGS; the last point."""
    from scipy.optimize import minimize as scipy_minimize

    latest = [np.inf]

    def value_and_gradient(point: np.ndarray) -> tuple[float, np.ndarray]:
        latest[0], gradient, _ = evaluate(point)
        return latest[0], gradient

    def after(point: np.ndarray) -> None:
        if iterated(latest[0], point):
            raise StopIteration

    options = {"maxiter": max_iter, "gtol": tol, "ftol": 64 * np.finfo(float).eps, "maxls": 50}
    return scipy_minimize(
        value_and_gradient, start, jac=True, method="L-BFGS-B", options=options, callback=after
    ).x


def by_newton(
    evaluate: Callable[[np.ndarray], Evaluated],
    evaluate_hessian: Callable[[np.ndarray], Evaluated],
    step_of: Callable[[np.ndarray, np.ndarray], np.ndarray],
    start: np.ndarray,
    tol: float,
    max_iter: int,
    iterated: Callable[[float, np.ndarray], bool],
) -> np.ndarray:
    """Newton's method with line search; the last point."""
    point = start
    for _ in range(max_iter):
        value, gradient, stats = evaluate_hessian(point)
        step = step_of(stats.hessian, gradient)
        gain = float(gradient @ step)
        nothing_left = gain <= 1e-11 * max(1.0, abs(value))
        if nothing_left and np.abs(gradient).max(initial=0.0) <= tol:
            iterated(value, point - step)
            return point - step  # the last digits
        length = 1.0
        while not evaluate(point - length * step).value <= (
            value - 1e-4 * length * gain + 1e-15 * abs(value)
        ):
            length /= 2
            if length < 1e-10:
                iterated(value, point)
                return point  # nothing left to gain in float64
        point = point - length * step
        if iterated(value, point):
            break
    return point


def newton_step(
    hessian: np.ndarray,
    gradient: np.ndarray,
    *,
    scale: float,
    l2: float | np.ndarray,
    free: np.ndarray | None,
    flat: np.ndarray | None,
) -> np.ndarray:
    """The step of the free coordinates. ``hessian`` is one matrix, or a stack of the blocks on
    its diagonal, one for each column of the gradient."""
    hessian = scale * hessian
    if hessian.ndim == 3:
        columns = gradient.reshape(-1, len(hessian))
        ridge = np.broadcast_to(l2, gradient.shape).reshape(columns.shape)
        steps = [
            solve(block + np.diag(ridge[:, j]), columns[:, j])
            for j, block in enumerate(hessian)
        ]
        return np.stack(steps, axis=1).ravel()
    hessian = hessian + np.diag(np.broadcast_to(l2, gradient.shape))
    if flat is not None:
        hessian += np.outer(flat, flat) * (np.trace(hessian) / len(hessian) / flat.sum())
    if free is None:
        return solve(hessian, gradient)
    step = np.zeros_like(gradient)
    step[free] = solve(hessian[np.ix_(free, free)], gradient[free])
    return step


def solve(hessian: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """The Newton step; where the Hessian is singular, the shortest of all."""
    try:
        factor = scipy.linalg.cho_factor(hessian)
        diagonal = np.abs(np.diag(factor[0]))
        if diagonal.min() > 1e-7 * diagonal.max():
            return scipy.linalg.cho_solve(factor, gradient)
    except scipy.linalg.LinAlgError:
        pass
    return scipy.linalg.lstsq(hessian, gradient, cond=1e-12)[0]
