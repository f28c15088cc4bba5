"""Progress of a command: a bar on a terminal; elsewhere a line for each longer stage."""

import sys
import threading
from typing import TYPE_CHECKING, Any

from tacit.cli.output import console, is_quiet, say

if TYPE_CHECKING:
    from tacit.core.progress import Step

__all__ = ["Running", "make_bar"]

DELAY = 1.0  # seconds after which a stage is worth a line


def make_bar() -> Any:
    """A progress bar on standard error that disappears at the end; tasks have a ``figure``."""
    from rich.progress import BarColumn, Progress, SpinnerColumn, TimeElapsedColumn

    return Progress(
        SpinnerColumn(), "{task.description}", BarColumn(bar_width=24), TimeElapsedColumn(),
        "{task.fields[figure]}", console=console(stderr=True), transient=True,
    )  # fmt: skip


class Running:
    """Shows that a stage runs: ``with Running("Counting words") as stage``.

    On a terminal, a spinner and the title, or a bar once ``on_step`` is called; they disappear
    at the end. Elsewhere, a line if the stage takes more than a second. --quiet hides all.
    """

    def __init__(self, title: str) -> None:
        self.title, self.quiet = title, is_quiet()
        self.live = not self.quiet and sys.stderr.isatty()
        self._bar: Any = None
        self._task: Any = None
        self._timer: threading.Timer | None = None

    def __enter__(self) -> "Running":
        if self.live:
            self._bar = make_bar()
            self._task = self._bar.add_task(self.title, total=None, figure="")
            self._bar.start()
        elif not self.quiet:
            self._timer = threading.Timer(DELAY, say, [f"{self.title} ..."])
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    @property
    def callbacks(self) -> "list[Running] | None":
        """This stage as the callbacks of a fit."""
        return [self] if self.live else None

    def on_step(self, step: "Step") -> None:
        """Show how far a fit is."""
        from tacit.core.progress import loss_of

        if self._bar is not None:
            loss = loss_of(step).removeprefix(", ")
            self._bar.update(self._task, completed=step.number, total=step.most, figure=loss)
