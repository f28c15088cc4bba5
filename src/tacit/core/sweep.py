"""The driver of sequential models: passes of visits that change a state in place.

A pass is a list of rounds, a round is a list of parts. The parts of one round write to
disjoint slices of the state, so they may run in parallel; rounds follow one another. What a
part may not write (totals that all parts read) it returns as Stats, and ``merge`` applies
their sum when the round is over. The schedule depends on the data and the seed alone, and sums
are taken in the order of the parts: the result has the same bits on any number of threads.

    perceptron, SGD      one part to a round: the rows, shuffled by (seed, pass)
    dual ascent          the same; ``stop`` computes the duality gap
    factorization        P x P blocks of users x items; a round is a diagonal of blocks
    Gibbs sampling       documents x words likewise; topic totals are merged
    skip-gram            word groups likewise

Gemulla, Nijkamp, Haas and Sismanis (2011), Large-scale matrix factorization with distributed
stochastic gradient descent. KDD.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tacit.core.engines import Engine, check_stop, one_blas_thread, ready
from tacit.core.progress import Callback, Step, notify
from tacit.core.stats import Stats, tree_sum

__all__ = [
    "Sequential", "Swept", "Visited", "deal", "diagonals", "no_gain_for", "run_pass", "sweep",
]  # fmt: skip


@dataclass(frozen=True)
class Visited(Stats):
    """What a visit reports. Models with common totals add fields."""

    items: float  # visited, or their weight
    loss: float  # summed over them as they were met


class Sequential:
    """Base class of what ``sweep`` runs: the data, and the order in which it is visited.

    ``state`` is a NamedTuple of arrays that ``visit`` writes into. A part is whatever
    ``visit`` understands: an order of rows, a block of a table, a cell of a grid. ``work``
    estimates the values that a round reads, so that small rounds stay in the calling thread.
    """

    work: int | None = None

    def begin_pass(self, state: Any, number: int) -> None:
        """Called before the first round of a pass. Nothing by default; a model whose state
        lives elsewhere during a pass (on a GPU) moves it there."""

    def rounds(self, number: int) -> Iterable[Sequence[Any]]:
        """The rounds of pass ``number``, each a list of parts."""
        raise NotImplementedError

    def visit(self, state: Any, part: Any, number: int) -> Visited:
        """Visit the items of a part, changing its slice of the state."""
        raise NotImplementedError

    def merge(self, state: Any, stats: Any) -> None:
        """Apply what the parts of a round may not write themselves. Nothing by default."""

    def end_pass(self, state: Any, number: int) -> None:
        """Called after the last round of a pass, before anyone reads the state. Nothing by
        default; a model whose state lives elsewhere writes it back."""


class Swept(NamedTuple):
    """The end of a sweep. ``losses[i]`` is the mean loss met during pass i."""

    state: Any
    losses: list[float]
    held_out: list[float]  # the held-out loss after every pass, if there is one
    converged: bool


def sweep(
    model: Sequential,
    state: Any,
    engine: Engine,
    *,
    max_iter: int = 10,
    stop: Callable[[Any, list[float]], bool] | None = None,
    held_out: Callable[[Any], float] | None = None,
    callbacks: Sequence[Callback] = (),
    figure: Callable[[list[float], list[float]], tuple[str, float]] | None = None,
    name: str = "fit",
) -> Swept:
    """Make passes until ``stop`` returns True, a callback stops the fit, or ``max_iter``.

    ``stop(state, losses)`` is called after every pass and may be expensive (a duality gap).
    With ``held_out``, a loss on data that no visit sees, it gets those losses instead.
    Callbacks receive every pass; a checkpoint among them resumes after its last one.
    ``figure(losses, held_out)`` names what a progress bar shows in place of the loss.
    """
    losses: list[float] = []
    checks: list[float] = []
    saves = False
    for callback in callbacks:
        if hasattr(callback, "resume"):
            saves = True
            saved = callback.resume(state)
            if saved is not None:
                state, losses = saved
    with one_blas_thread(), ready(engine) as engine:
        for number in range(len(losses), max_iter):
            passed = run_pass(model, state, engine, number)
            losses.append(float(passed.loss / passed.items) if passed.items else 0.0)
            if held_out is not None:
                checks.append(held_out(state))
            converged = stop is not None and stop(state, checks if held_out else losses)
            done = converged or number + 1 == max_iter
            # A checkpoint may be written in the middle of the next pass.
            seen = copy_state(state) if saves else state
            shown = None if figure is None else figure(losses, checks)
            step = Step(name, number + 1, max_iter, losses, seen, done, True, shown)
            if notify(callbacks, step) or converged:
                return Swept(state, losses, checks, converged)
    return Swept(state, losses, checks, False)


def run_pass(model: Sequential, state: Any, engine: Engine, number: int) -> Any:
    """One pass: the summed Stats of all visits."""
    totals = []
    model.begin_pass(state, number)
    for parts in model.rounds(number):
        check_stop()
        visits = engine.each(
            lambda part: model.visit(state, part, number), parts, work=model.work
        )
        stats = tree_sum(visits)
        model.merge(state, stats)
        totals.append(stats)
    model.end_pass(state, number)
    return tree_sum(totals)


def copy_state(state: Any) -> Any:
    return type(state)(*(x.copy() if isinstance(x, np.ndarray) else x for x in state))


def no_gain_for(losses: Sequence[float], passes: int, tol: float) -> bool:
    """Whether none of the last ``passes`` losses was a new best by ``tol`` times the first.

    >>> no_gain_for([1.0, 0.5, 0.4999, 0.4998], passes=2, tol=1e-3)
    True
    """
    best, waited = np.inf, 0
    for loss in losses:
        waited = waited + 1 if loss > best - tol * losses[0] else 0
        best = min(best, loss)
    return waited >= passes


# --- Schedules ---


def diagonals(parts: int) -> list[list[tuple[int, int]]]:
    """The blocks of a square grid in rounds that share neither a row nor a column.

    >>> diagonals(2)
    [[(0, 0), (1, 1)], [(0, 1), (1, 0)]]
    """
    return [[(p, (p + r) % parts) for p in range(parts)] for r in range(parts)]


def deal(weights: np.ndarray, parts: int) -> np.ndarray:
    """A group for every item, balanced by weight: the heaviest go to the lightest groups.

    >>> deal(np.array([5, 1, 4, 2]), 2)
    array([0, 0, 1, 1], dtype=int32)
    """
    weights = np.asarray(weights, np.float64)
    group = np.empty(len(weights), np.int32)
    load = np.zeros(parts)
    order = np.argsort(-weights, kind="stable")
    for start in range(0, len(order), parts):
        few = order[start : start + parts]
        group[few] = np.argsort(load, kind="stable")[: len(few)]
        load[group[few]] += weights[few]
    return group
