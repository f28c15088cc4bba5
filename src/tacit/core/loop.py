"""The two loops that turn collect and update into a fit.

iterate          update after a pass over all the data; exact in every engine
iterate_online   update after every block; one thread, in order, and approximate

Both notify their ``callbacks`` of every step (see ``core.progress``); a callback that returns
True stops the loop, which then returns the params so far.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from tacit.core.engines import Engine, one_blas_thread, ready
from tacit.core.progress import Callback, Step, closing, notify

__all__ = ["Fit", "OnlineFit", "iterate", "iterate_online"]


class Fit(NamedTuple):
    """The end of a loop. ``losses[i]`` is the mean loss after i updates."""

    params: Any
    losses: list
    converged: bool


class OnlineFit(NamedTuple):
    """The end of an online loop, and what it needs to continue."""

    params: Any
    losses: list  # of every block, before the update it caused
    memory: Any  # the faded statistics
    steps: int  # blocks seen


def iterate(
    params: Any,
    collect: Callable,
    update: Callable,
    data: Iterable,
    engine: Engine,
    *,
    max_iter: int = 100,
    tol: float = 1e-4,
    settled: Callable[[Any, Any], bool] | None = None,
    stop: Callable[[list[float]], bool] | None = None,
    penalty: Callable[[Any], float] | None = None,
    callbacks: Sequence[Callback] = (),
    cache: list | None = None,
    loss_of: Callable[[Any], float] | None = None,
    visible: Callable[[Any], Any] | None = None,
    figure: Callable[[Any, list], tuple[str, float]] | None = None,
    name: str = "fit",
) -> Fit:
    """Alternate ``collect`` over all the data with ``update``.

    Stops when a pass brings less than ``tol`` of the improvement so far, a rule that
    depends neither on the units nor on the zero of the loss; or, where the model has its own
    rule, when ``settled(old, new)`` is True for the params before and after an update, or
    ``stop(losses)`` for the losses so far. ``penalty(params)``, minus the log of a prior, is
    added to the loss of all rows. The params returned are the ones that ``losses[-1]`` was
    measured at.

    A model that knows its loss after ``update`` gives it as ``loss_of(params)``: no pass is
    spent on measuring it, and ``losses[i]`` is the loss after i + 1 updates. ``visible``
    returns the params that ``collect`` reads, if the others are large and need not travel.
    ``figure(params, losses)`` names what a progress bar shows in place of the loss.
    """
    losses: list[float] = []

    def measure() -> Any:
        """The statistics of a pass; their loss is appended to ``losses``."""
        stats = engine.reduce(collect, params, data, cache)
        prior = penalty(params) if penalty else 0.0
        losses.append((stats.loss + prior) / stats.rows)
        return stats

    def report(done: bool = False) -> bool:
        shown = figure(params, losses) if figure is not None and callbacks else None
        number = len(losses) - 1
        step = Step(name, number, max_iter, losses, params, done, figure=shown)
        return notify(callbacks, step)

    for callback in callbacks:
        saved = getattr(callback, "resume", lambda params: None)(params)
        if saved is not None:
            params, losses = saved
    # One BLAS thread in update too: more may round differently.
    with closing(callbacks), one_blas_thread(), ready(engine) as engine:
        while loss_of is not None:
            seen = params if visible is None else visible(params)
            old, params = params, update(params, engine.reduce(collect, seen, data, cache))
            losses.append(loss_of(params))
            converged = settled is not None and settled(old, params)
            done = converged or len(losses) >= max_iter
            step = Step(name, len(losses), max_iter, losses, params, done, True)
            if notify(callbacks, step) or done:
                return Fit(params, losses, converged)
        stats, converged = measure(), False
        while len(losses) <= max_iter and not converged:
            if report():
                return Fit(params, losses, converged=False)
            old, params = params, update(params, stats)
            stats = measure()
            if settled is not None:
                converged = settled(old, params)
            elif stop is not None:
                converged = stop(losses)
            else:
                converged = losses[-2] - losses[-1] <= tol * (losses[0] - losses[-1])
        report(done=True)
        return Fit(params, losses, converged)


def iterate_online(
    params: Any,
    collect: Callable,
    update: Callable,
    data: Any,
    *,
    passes: int = 1,
    decay: float = 0.7,
    memory: Any = None,
    steps: int = 0,
    callbacks: Sequence[Callback] = (),
    name: str = "fit",
) -> OnlineFit:
    """Update after every block, from a fading memory of the statistics.

    The same two functions give mini-batch k-means, stepwise EM and online LDA
    (Cappé and Moulines 2009; Hoffman et al. 2010). Block t weighs (t + 2)^-decay in the memory,
    which holds statistics per row. ``data`` is a table, or a function from the number of the
    pass to its blocks, so that every pass may see the rows in another order. ``memory`` and
    ``steps`` of an earlier run continue it. Callbacks receive every block.
    """
    losses: list[float] = []
    blocks_of = data if callable(data) else lambda _: data
    for number in range(passes):
        for block in blocks_of(number):
            stats = collect(params, block.load())
            losses.append(stats.loss / stats.rows)
            mean = (1 / stats.rows) * stats
            rate = (steps + 2) ** -decay
            memory = mean if memory is None else (1 - rate) * memory + rate * mean
            params = update(params, memory)
            steps += 1
            if notify(callbacks, Step(name, number, passes, losses, params)):
                return OnlineFit(params, losses, memory, steps)
    return OnlineFit(params, losses, memory, steps)
