"""The stages of an exploration as they run: a line each, and a bar on a terminal."""

import sys
from typing import TYPE_CHECKING, Any

from tacit.cli.terminal import console, say

if TYPE_CHECKING:
    from tacit.core.progress import Step
    from tacit.explore.project.pipeline import Told

__all__ = ["StageDisplay"]


class StageDisplay:
    """Say which stage runs and how long each took, on standard error."""

    def __init__(
        self, *, quiet: bool = False, expected: "dict[str, float] | None" = None
    ) -> None:
        self.quiet = quiet
        self.expected = expected or {}  # seconds, by stage
        self.live = not quiet and sys.stderr.isatty()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> "StageDisplay":
        if self.live:
            from rich.progress import BarColumn, Progress, SpinnerColumn, TimeElapsedColumn

            self._bar = Progress(
                SpinnerColumn(),
                "{task.description}",
                BarColumn(bar_width=24),
                TimeElapsedColumn(),
                "{task.fields[hope]}",
                console=console(stderr=True),
                transient=True,
            )
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def tell(self, told: "Told") -> None:
        """A stage begins, or has ended."""
        if told.seconds is None:
            if self._bar is not None and not told.kept:
                self._task = self._bar.add_task(told.title, total=None, hope=self.hope(told))
            return
        if self._task is not None:
            self._bar.remove_task(self._task)
            self._task = None
        time = "as before" if told.kept else f"{told.seconds:.1f} s"
        place = f"{told.number:>{len(str(told.most))}}/{told.most}"
        line = f"{place}  {told.title:<32} {time:>9}"
        if self._bar is not None:
            self._bar.console.print(line)
        else:
            say(line, quiet=self.quiet)

    def hope(self, told: "Told") -> str:
        """How long the plan says, and how long the rest takes after this."""
        if told.name not in self.expected:
            return ""
        from tacit.explore.project.plan import about

        names = list(self.expected)
        rest = sum(self.expected[name] for name in names[names.index(told.name) + 1 :])
        later = f", then {about(rest)} more" if rest >= 1 else ""
        return f"of {about(self.expected[told.name])}{later}"

    def on_step(self, step: "Step") -> None:
        """A step inside a stage."""
        if self._task is not None and step.most:
            self._bar.update(self._task, total=step.most, completed=step.number)
