"""Events of a running fit, and the callbacks that receive them.

A callback is a function of a ``Step``, or an object with ``on_step``; returning True from
either stops the fit. scikit-learn's callback objects (1.9 and later) are accepted too, see
``core.estimator``. An object that also has ``resume(params)`` may return the state that an
earlier run reached (``core.checkpoint``).
"""

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol, TextIO

__all__ = ["Callback", "Progress", "Step", "closing", "notify"]


class Step(NamedTuple):
    """One step of a fit, just finished."""

    name: str  # of what is being fitted
    number: int  # updates so far
    most: int  # updates at most
    losses: list  # the loss after 0, 1, 2, ... updates, if it is known; it grows
    params: Any  # what has been learned so far
    done: bool = False  # this was the last one
    resumes_after: bool = False  # a resumed fit does not measure losses[-1] again
    figure: tuple[str, float] | None = None  # what to show in place of the loss


class StepCallback(Protocol):
    def on_step(self, step: Step) -> bool | None: ...


Callback = Callable[[Step], bool | None] | StepCallback


def notify(callbacks: Iterable[Callback], step: Step) -> bool:
    """Call every callback; True if any of them asks to stop."""
    answers = [getattr(call, "on_step", call)(step) for call in callbacks]  # type: ignore[operator]
    return any(answers)


@contextmanager
def closing(callbacks: Iterable[Callback]) -> Iterator[None]:
    """Close callbacks however the block ends: bars are removed, checkpoints written."""
    try:
        yield
    finally:
        for callback in callbacks:
            getattr(callback, "close", lambda: None)()


class Progress:
    """Show a fit as it runs: a bar on a terminal, a line every few seconds elsewhere.

    Nothing appears in the first second, so quick work stays quiet.

    >>> from tacit.core.progress import Progress
    >>> show = Progress(stream=sys.stdout, every=0, delay=0)
    >>> show.on_step(Step("KMeans", 3, 10, [2.5], None))
    KMeans: 3 of at most 10 passes, loss 2.5
    """

    def __init__(
        self, *, stream: TextIO | None = None, every: float = 5.0, delay: float = 1.0
    ) -> None:
        self.stream = stream if stream is not None else sys.stderr
        self.every, self.delay = every, delay
        self._started = time.monotonic()
        self._spoke = 0.0
        self._bar: Any = None
        self._task: Any = None

    def on_step(self, step: Step) -> None:
        now = time.monotonic()
        if now - self._started < self.delay:
            return
        if self._on_terminal():
            self._draw(step)
        elif now - self._spoke >= self.every or step.done:
            self._spoke = now
            print(
                f"{step.name}: {step.number} of at most {step.most} passes{loss_of(step)}",
                file=self.stream,
                flush=True,
            )
        if step.done:
            self.close()

    def close(self) -> None:
        """Remove the bar from the screen."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _on_terminal(self) -> bool:
        return hasattr(self.stream, "isatty") and self.stream.isatty()

    def _draw(self, step: Step) -> None:
        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
            from rich.progress import Progress as Bar

            self._bar = Bar(
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.completed:.0f}/{task.total:.0f} passes{task.fields[loss]}"),
                TimeElapsedColumn(),
                console=Console(file=self.stream),
                transient=True,
            )
            self._bar.start()
            self._task = self._bar.add_task(step.name, total=step.most, loss="")
        figures = {"completed": step.number, "total": step.most, "loss": loss_of(step)}
        self._bar.update(self._task, **figures)


def loss_of(step: Step) -> str:
    """The latest loss as text, where there is one; or the figure that stands for it."""
    if step.figure is not None:
        return f", {step.figure[0]} {step.figure[1]:.6g}"
    return f", loss {step.losses[-1]:.6g}" if step.losses else ""
