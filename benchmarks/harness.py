"""How a case is declared and run.

A case is data, contenders that do the same job on it, and a quality that is computed here,
from each contender's answer and never from what it says of itself. Every contender lives in
its own child process (``worker.py``); the runs alternate, Tacit first, and only one works at
a time. Quality comes before speed: a ratio counts only where Tacit's answer is as good as
the rival's, within the tolerance of the case.

    time      the median of the repeats; the first call of each process is not among them,
              and a contender whose repeats have taken half a minute is not asked again. A run
              of less than a tenth of a second is made several times in its turn
    ratio     the rival's median over Tacit's: above 1, Tacit is faster; best is the same of
              the shortest times, which other programs disturb less
    cpu       processor seconds of all threads, idle spinning included
    memory    growth: the peak of the resident set during the repeats, over what the process
              held (imports, compiled kernels, the data) after its first call; process: the
              peak of the whole process, first call included
    first     for Tacit, the first call of a new process with an empty kernel cache and with
              a full one; what it takes above the median is loading and compiling
    others    cores that other programs kept busy meanwhile: near 0, or the figures are noisy,
              and more so for rivals whose idle threads spin
"""

import importlib.util
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import machine
from benchmarks.worker import ROOT, Child, Failed

__all__ = ["Case", "CaseResult", "Check", "Contender", "Row", "Unable", "run_case", "scratch"]

Data = Mapping[str, Any]
Answer = Mapping[str, Any]  # arrays for the quality; numbers and words for the notes column
ENOUGH = 30.0  # seconds of repeats
BUSY = 0.2  # cores of other programs, from where on figures are marked as disturbed


# --- What a benchmark declares ---


@dataclass(frozen=True)
class Contender:
    """One way to do the job: a function of the module's top level, ``run(data, threads)``."""

    name: str
    run: Callable[[Data, int], Answer]
    package: str = "tacit"  # what must be importable
    install: str = "tacit"  # what pip calls it
    rival: str | None = None  # contenders of one rival compete: the fastest stands for it
    memory: Callable[[Data], float] | None = None  # bytes it is known to need

    @property
    def ours(self) -> bool:
        return self.package == "tacit"


class Unable(Exception):
    """Raised by ``Case.make`` when this machine cannot hold the data."""


@dataclass(frozen=True)
class Check:
    """A sentence that must hold besides speed and quality."""

    text: str
    passed: bool


def same(data: Data) -> Data:
    return data


@dataclass(frozen=True)
class Case:
    """Contenders on the same data. The first contender is Tacit's, and the measure."""

    name: str
    make: Callable[[Path], Data]  # given a scratch folder for data too large to hand over
    contenders: Sequence[Contender]
    quality: Callable[[Data, Answer], float]
    measure: str = "inertia"  # what the quality is called
    lower_is_better: bool = True
    tolerance: float = 1e-4  # relative difference of quality that counts as equal
    targets: Mapping[str, float] = field(default_factory=dict)  # ratio wanted, per rival
    check: Callable[[Data, dict[str, "Row"]], list[Check]] | None = None
    warmup: Callable[[Data], Data] = same  # a cheaper job for the first calls
    repeats: int | None = None  # where a run is too long for the usual number


# --- What a run gives ---


@dataclass
class Row:
    """What one contender did."""

    name: str
    rival: str | None
    trouble: str | None = None  # why there are no figures
    first: float | None = None  # seconds of the first call, kernels cached
    seconds: list[float] = field(default_factory=list)
    cpus: list[float] = field(default_factory=list)  # processor seconds, all threads
    growth: int | None = None
    peak: int | None = None
    others: list[float] = field(default_factory=list)
    quality: float | None = None
    notes: dict[str, Any] = field(default_factory=dict)
    ratio: float | None = None  # of medians
    best: float | None = None  # of the shortest times
    difference: float | None = None  # of Tacit's quality to this one; positive is worse
    target: float | None = None
    verdict: str = ""
    answer: Answer | None = field(default=None, repr=False)

    @property
    def median(self) -> float:
        return median(self.seconds)

    @property
    def cpu(self) -> float:
        return median(self.cpus)


@dataclass
class CaseResult:
    name: str
    about: str
    measure: str
    rows: list[Row]
    checks: list[Check] = field(default_factory=list)
    cold: float | None = None  # first call of Tacit with an empty kernel cache
    others: float | None = None  # mean cores kept busy by other programs
    smaller_first: bool = False  # the first calls did less work than the repeats

    @property
    def passed(self) -> bool:
        bad = any(not row.verdict.startswith("met") for row in self.rows if row.target)
        lost = any(row.trouble for row in self.rows if row.rival is None)
        return not (bad or lost) and all(check.passed for check in self.checks)


# --- Running ---


def run_case(
    case: Case, *, repeats: int, threads: int, cache: Path | None, cold: bool = False,
    say: Callable[[str], None] = print,
) -> CaseResult:  # fmt: skip
    """Run every contender that is installed, in turns, and judge the answers.

    ``cache`` is the folder of compiled kernels, None for the usual one; ``cold`` asks for
    the time of a first call while it is empty.
    """
    repeats = case.repeats or repeats
    with scratch() as folder, ExitStack() as stack:
        try:
            data = case.make(folder)
        except Unable as error:
            lost = [Row(c.name, c.rival, str(error)) for c in case.contenders]
            return CaseResult(case.name, "", case.measure, lost)
        rows = {c.name: Row(c.name, c.rival, trouble_with(c, data)) for c in case.contenders}
        ready = [c for c in case.contenders if rows[c.name].trouble is None]
        first_call = None
        if cold and ready and ready[0].ours:
            first_call = cold_call(ready[0], case, data, threads, cache)
        children: dict[str, Child] = {}
        for contender in ready:
            row = rows[contender.name]
            with row_trouble(row):
                child = stack.enter_context(Child(contender.run, data, threads, cache))
                row.first = warm(child, case, data)
                child.ask("base")
                children[row.name] = child
                say(f"  first  {row.name}: {row.first:.3f} s")
        for repeat in range(repeats):
            for row, child in turns(rows, children):
                if sum(row.seconds) > ENOUGH:
                    continue
                with row_trouble(row):
                    take(row, child.ask("run"))
                    say(f"  {repeat + 1}/{repeats}  {row.name}: {row.seconds[-1]:.3f} s")
                time.sleep(0.05)  # idle thread pools spin for some milliseconds
        judge(case, data, rows)
        working = {name: row for name, row in rows.items() if row.trouble is None}
        checks = case.check(data, working) if case.check else []
    noise = [value for row in rows.values() for value in row.others]
    others = sum(noise) / len(noise) if noise else None
    for row in rows.values():
        if row.target and others is not None and others > BUSY:
            row.verdict += " (machine busy)"  # pools that spin suffer most from that
    return CaseResult(
        case.name, str(data.get("about", "")), case.measure, list(rows.values()), checks,
        first_call, others, case.warmup is not same,
    )  # fmt: skip


def turns(rows: dict[str, Row], children: dict[str, Child]):
    return [(rows[n], child) for n, child in children.items() if rows[n].trouble is None]


def take(row: Row, reply: dict[str, Any]) -> None:
    row.seconds.append(reply["seconds"])
    row.cpus.append(reply["cpu"])
    row.growth, row.peak, row.answer = reply["growth"], reply["peak"], reply["answer"]
    if reply["others"] is not None:
        row.others.append(reply["others"])


def trouble_with(contender: Contender, data: Data) -> str | None:
    if importlib.util.find_spec(contender.package) is None:
        return f"not installed: pip install {contender.install}"
    if contender.memory is not None:
        need, free = contender.memory(data), machine.available_memory()
        if need > 0.8 * free:
            return f"needs {need / 1e9:.1f} GB of memory, {free / 1e9:.1f} GB are free"
    return None


def cold_call(
    contender: Contender, case: Case, data: Data, threads: int, cache: Path | None
) -> float | None:
    """Seconds of the very first call: nothing compiled, nothing cached."""
    try:
        with Child(contender.run, data, threads, cache) as child:
            seconds = warm(child, case, data)
    except Failed:
        return None  # its row will say why
    # Kernels that are kept elsewhere may have been there before: no claim then.
    return seconds if cache is not None and any(cache.iterdir()) else None


def warm(child: Child, case: Case, data: Data) -> float:
    """Seconds of a process's first call: imports, kernels, thread pools."""
    return child.ask("warm", None if case.warmup is same else case.warmup(data))["seconds"]


def judge(case: Case, data: Data, rows: dict[str, Row]) -> None:
    """Quality first, then ratios, then the targets."""
    for row in rows.values():
        if row.answer is not None and row.trouble is None:
            row.quality = float(case.quality(data, row.answer))
            plain = (int, float, str)
            row.notes = {k: v for k, v in row.answer.items() if isinstance(v, plain)}
            row.notes["runs"] = len(row.seconds)
    ours = rows[case.contenders[0].name]
    if not ours.seconds:
        return
    done = [row for row in rows.values() if row is not ours and row.seconds]
    for row in done:
        row.ratio = row.median / ours.median
        row.best = min(row.seconds) / min(ours.seconds)
        if ours.quality is not None and row.quality is not None:
            row.difference = relative(ours.quality, row.quality, case.lower_is_better)
        row.verdict = verdict(row, case.tolerance)
    for rival, target in case.targets.items():
        group = [row for row in done if row.rival == rival]
        if group:
            fastest = min(group, key=lambda row: row.median)
            fastest.target = target
            fastest.verdict = verdict(fastest, case.tolerance)


def verdict(row: Row, tolerance: float) -> str:
    if row.difference is None or row.difference != row.difference:
        return "quality unknown: speed does not count"
    if row.difference > tolerance:
        return f"Tacit's answer is worse by {row.difference:.2g}: speed does not count"
    if row.target is None or row.ratio is None:
        return ""
    return "met" if row.ratio >= row.target else "missed"


def relative(ours: float, theirs: float, lower_is_better: bool) -> float:
    """How much worse ours is, as a share of theirs; negative when better."""
    if ours == theirs:
        return 0.0
    worse = (ours - theirs) if lower_is_better else (theirs - ours)
    if abs(theirs) == float("inf"):
        return 1.0 if worse > 0 else -1.0
    return worse / abs(theirs) if theirs else float("inf") * worse


# --- Around a run ---


@contextmanager
def row_trouble(row: Row):
    """A contender that fails loses its row, not the run."""
    try:
        yield
    except Failed as error:
        reason = str(error).replace(f"{ROOT}{os.sep}", "")
        row.trouble, row.seconds = f"failed: {reason}", []


@contextmanager
def scratch():
    """A folder for large files, inside the working tree and removed afterwards."""
    parent = ROOT / ".bench"
    parent.mkdir(exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if not any(parent.iterdir()):
            parent.rmdir()
