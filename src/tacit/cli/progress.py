"""Progress of a command: a bar on a terminal; elsewhere one line for each stage that lasts."""

import sys
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tacit.cli.output import console, is_quiet, say

if TYPE_CHECKING:
    from tacit.core.progress import Step
    from tacit.data.documents import Documents

__all__ = ["Running", "make_bar", "watch_blocks"]

DELAY = 1.0  # seconds after which a stage is worth a line


def make_bar() -> Any:
    """A progress bar on standard error that goes away at the end; tasks have a ``figure``."""
    from rich.progress import BarColumn, Progress, SpinnerColumn, TimeElapsedColumn

    return Progress(
        SpinnerColumn(), "{task.description}", BarColumn(bar_width=24), TimeElapsedColumn(),
        "{task.fields[figure]}", console=console(stderr=True), transient=True,
    )  # fmt: skip


class Running:
    """A stage of a command while it runs: ``with Running("Counting words") as stage``.

    On a terminal a spinner stands next to the title, or a bar once ``on_step`` or ``show`` say
    how far it is; it goes away at the end. Elsewhere one line is printed, for a stage that
    lasts more than a second. Nothing is shown with --quiet, or if ``quiet`` says so.
    """

    def __init__(self, title: str, *, quiet: bool | None = None) -> None:
        self.title = title
        self.quiet = is_quiet() if quiet is None else quiet
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
        """Show a step of a fit."""
        from tacit.core.progress import loss_of

        self.show(step.number, step.most, loss_of(step).removeprefix(", "))

    def show(self, done: int, total: int, figure: str = "") -> None:
        """Show how far the stage is."""
        if self._bar is not None:
            self._bar.update(self._task, completed=done, total=total, figure=figure)


class WatchedBlock:
    """A block of documents that reports when it is read."""

    def __init__(self, block: Any, on_load: Any) -> None:
        self.block, self.on_load = block, on_load

    def load(self) -> Any:
        self.on_load()
        return self.block.load()

    def __getattr__(self, name: str) -> Any:
        if name in ("block", "on_load"):  # while it is being copied
            raise AttributeError(name)
        return getattr(self.block, name)


def watch_blocks(documents: "Documents", stage: Running) -> "Documents":
    """The same documents, which move the bar of a stage as they are read."""
    if not stage.live:
        return documents
    count, lock, done = len(documents.blocks), threading.Lock(), 0

    def on_load() -> None:
        nonlocal done
        with lock:
            done = done % count + 1  # every pass begins anew
            stage.show(done, count)

    blocks = tuple(WatchedBlock(block, on_load) for block in documents.blocks)
    return replace(documents, blocks=blocks)
