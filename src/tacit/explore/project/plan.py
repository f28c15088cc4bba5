"""What exploring will cost: time and memory of every stage, told before the work starts.

    cost of a stage = a + b * thousands of documents + c * megabytes of text
                      + d * thousands of documents, up to 4 (what is done on a sample)

The constants are from measured runs on an AMD EPYC server, for time each stage in a process of
its own on one thread, for memory all in one: 500 to 10,000 posts of 2 kB, 5,000 messages of 80
bytes and 25,000 sentences, fitted with no part below zero by relative error.
``benchmarks/explore/_plan_costs.py`` makes them anew. Factors for ``quick`` and ``thorough``
are from 2,000 posts. Other texts and other machines are slower or faster: a plan says "about",
and means between half and double.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tacit.core.engines import Engine, Serial, Threads, cores, get_engine
from tacit.core.memory import format_bytes
from tacit.data.documents import Documents
from tacit.explore.project.folder import ProjectFolder
from tacit.explore.project.inputs import folder_for, open_documents
from tacit.explore.project.pipeline import READING, STAGES, keys_after, keys_of
from tacit.explore.project.settings import EFFORTS, Choice, Settings
from tacit.explore.stages.ingest import look_over
from tacit.explore.stages.stage import Context, Stage

__all__ = [
    "BASE",
    "COSTS",
    "Cost",
    "Plan",
    "PlannedStage",
    "about",
    "closure",
    "cost_of",
    "make_plan",
    "plan_again",
    "plan_documents",
    "recorded",
]

BASE = 140  # megabytes of a process in which everything is imported
SAMPLED = 4  # thousands of documents
FITTED = 25  # thousands of documents, the most that the fit of memory has seen
FAR = 1.0  # megabytes for a thousand more: 100,000 posts took 1.8 GB, 1,000,000 short ones 3.5
COMPILING = 40  # seconds, where no machine code is kept yet


class Cost(NamedTuple):
    """What a stage costs."""

    seconds: tuple[float, float, float, float]  # a, b, c, d: on one thread
    megabytes: tuple[float, float, float, float]  # a, b, c, d: the most held, past BASE
    factors: tuple[float, float, float, float]  # time quick, thorough; memory quick, thorough

    def time(self, thousands: float, megabytes: float, effort: str) -> float:
        """Seconds on one thread."""
        factor = {"quick": self.factors[0], "thorough": self.factors[1]}.get(effort, 1.0)
        return weighed(self.seconds, thousands, megabytes) * factor

    def memory(self, thousands: float, megabytes: float, effort: str) -> float:
        """Bytes."""
        factor = {"quick": self.factors[2], "thorough": self.factors[3]}.get(effort, 1.0)
        far = max(0.0, thousands - FITTED)
        needed = weighed(self.megabytes, thousands - far, megabytes) + FAR * far
        return 1e6 * (BASE + needed * factor)


def weighed(by: tuple[float, float, float, float], thousands: float, megabytes: float) -> float:
    a, b, c, d = by
    return a + b * thousands + c * megabytes + d * min(thousands, SAMPLED)


COSTS = {
    "ingest": Cost(
        (0.0057, 0.0032, 0.0132, 0.0),
        (97.9, 0.0, 3.9, 0.0),
        (1.0, 1.0, 1.0, 1.0),
    ),
    "duplicates": Cost(
        (0.0625, 0.0025, 0.0512, 0.0),
        (226.5, 1.0, 10.7, 0.0),
        (1.0, 1.0, 1.0, 1.0),
    ),
    "counts": Cost(
        (0.0, 0.0059, 0.0434, 0.0),
        (233.8, 4.0, 10.9, 0.0),
        (1.0, 1.0, 1.0, 1.0),
    ),
    "meaning": Cost(
        (0.2609, 0.0038, 0.1459, 0.014),
        (257.9, 2.3, 20.1, 0.0),
        (0.47, 2.86, 0.85, 1.22),
    ),
    "map": Cost(
        (0.1626, 0.2047, 0.0, 0.0),
        (262.9, 8.2, 8.7, 7.6),
        (0.47, 1.57, 0.91, 1.11),
    ),
    "groups": Cost(
        (0.0, 0.163, 0.0, 2.894),
        (277.3, 2.6, 11.3, 16.5),
        (0.32, 1.45, 0.97, 1.04),
    ),
    "what_if": Cost(
        (0.0, 0.0, 0.0, 0.2157),
        (279.9, 2.9, 14.3, 0.0),
        (0.33, 2.85, 0.97, 1.04),
    ),
    "words": Cost(
        (0.0668, 0.0017, 0.0044, 0.0),
        (290.9, 2.1, 14.9, 0.0),
        (0.28, 4.82, 0.97, 1.1),
    ),
    "outliers": Cost(
        (0.0026, 0.0001, 0.0001, 0.0001),
        (286.8, 2.3, 14.2, 0.0),
        (1.0, 1.0, 1.0, 1.0),
    ),
    "language_guess": Cost(
        (0.0399, 0.0064, 0.0153, 0.0),
        (285.3, 3.1, 14.6, 0.0),
        (1.0, 1.0, 1.0, 1.0),
    ),
    "reading": Cost(
        (0.0313, 0.0025, 0.0414, 0.0),
        (284.3, 2.6, 17.3, 0.0),
        (1.0, 1.0, 1.0, 1.0),
    ),
    "fields": Cost(
        (0.0104, 0.0, 0.0151, 0.0),
        (286.9, 2.8, 15.3, 0.0),
        (1.0, 1.0, 1.0, 1.0),
    ),
    "time": Cost(
        (0.0119, 0.0, 0.0263, 0.0),
        (288.0, 2.8, 14.5, 0.0),
        (1.0, 1.0, 1.0, 1.0),
    ),
    "report": Cost(
        (0.6674, 0.0168, 0.0745, 0.0),
        (287.1, 3.4, 16.1, 0.0),
        (1.0, 1.0, 1.0, 1.0),
    ),
}


class PlannedStage(NamedTuple):
    """What is to become of a stage."""

    name: str
    title: str
    does: str  # "run", "keep" or "leave out"
    seconds: float
    bytes: float
    effort: str  # lower than asked for where the memory would not do
    why: str = ""  # it is left out, or makes less of an effort


@dataclass(frozen=True)
class Plan:
    """What exploring these documents will do and cost.

    Attributes
    ----------
    documents, bytes : int
        How many documents there are, and how much text.
    stages : tuple of PlannedStage, in the order they run; the report is the last
    seconds, memory : float
        About how long it takes, and the most memory that any stage needs, in bytes.
    """

    documents: int
    bytes: int
    stages: tuple[PlannedStage, ...]
    settings: Settings
    limit: int | None = None  # bytes
    compiles: bool = False
    source: str = field(default="", repr=False)
    asked: tuple[str, ...] | None = None  # the stages asked for; None is all

    @property
    def seconds(self) -> float:
        """About how long it takes."""
        return sum(stage.seconds for stage in self.stages if stage.does == "run")

    @property
    def memory(self) -> float:
        """The most bytes that any stage needs, about."""
        return max((s.bytes for s in self.stages if s.does == "run"), default=0.0)

    @property
    def choice(self) -> Choice:
        """The plan as the pipeline takes it."""
        asked = self.settings.effort
        return Choice(
            self.source,
            {
                s.name: f"{s.title} was left out: {s.why}."
                for s in self.stages
                if s.does == "leave out"
            },
            {
                s.name: s.effort
                for s in self.stages
                if s.effort != asked and s.does != "leave out"
            },
            self.asked,
            self.limit,
        )

    def expected(self) -> dict[str, float]:
        """Seconds by stage, of those that run."""
        return {s.name: s.seconds for s in self.stages if s.does == "run"}

    def to_dict(self) -> dict[str, Any]:
        """The plan as JSON values."""
        return {
            "documents": self.documents,
            "bytes": self.bytes,
            "settings": self.settings.to_dict(),
            "seconds": round(self.seconds, 1),
            "memory": round(self.memory),
            "limit": self.limit,
            "stages": [stage._asdict() for stage in self.stages],
        }

    def lines(self) -> list[str]:
        """The plan for people."""
        run = [stage for stage in self.stages if stage.does == "run"]
        kept = sum(stage.does == "keep" for stage in self.stages)
        what = f"{self.documents:,} document{'' if self.documents == 1 else 's'}"
        head = f"Plan: {what}, {format_bytes(self.bytes)} of text. "
        head += f"{len(run)} stage{'' if len(run) == 1 else 's'} to run, "
        head += f"{about(self.seconds)}, {format_bytes(self.memory)} of memory"
        head += f"; {kept} kept as they are." if kept else "."
        out = [head]
        for stage in self.stages:
            title = f"  {stage.title:<32}"
            if stage.does == "run":
                less = f"  as with --{stage.effort}: {stage.why}" if stage.why else ""
                out.append(
                    f"{title}{about(stage.seconds):>14}  {format_bytes(stage.bytes):>8}{less}"
                )
            elif stage.does == "keep":
                out.append(f"{title}{'kept':>14}")
            else:
                out.append(f"{title}{'left out':>14}  {stage.why}")
        if self.compiles:
            out.append(f"  The first run on a machine also compiles: about {COMPILING} s more.")
        return out

    def __str__(self) -> str:
        return "\n".join(self.lines())


def cost_of(name: str, size: tuple[float, float], effort: str) -> tuple[float, float]:
    """Seconds on one thread, and bytes."""
    cost = COSTS.get(name)
    if cost is None:
        return 0.0, 0.0
    return cost.time(*size, effort), cost.memory(*size, effort)


def about(seconds: float) -> str:
    """A time as sure as an estimate is.

    >>> about(0.2), about(7.4), about(43), about(400), about(9000)
    ('under 1 s', 'about 7 s', 'about 45 s', 'about 7 min', 'about 2.5 h')
    """
    if seconds < 1:
        return "under 1 s"
    if seconds < 10:
        return f"about {seconds:.0f} s"
    if seconds < 100:
        return f"about {5 * round(seconds / 5)} s"
    if seconds < 5400:
        return f"about {seconds / 60:.0f} min"
    return f"about {seconds / 3600:.1f} h"


REPORT = "report"
DRAWN_WITH = {"groups": ("map",)}  # what the report shows a stage on
PARALLEL = {"duplicates", "counts", "meaning", "map", "groups", "what_if", "words", "reading"}
GAIN = 0.7  # of a core, for each past the first


def plan_documents(
    documents: Any,
    *,
    out: str | os.PathLike | None = None,
    k: int | None = None,
    effort: str = "normal",
    random_state: int = 0,
    text: str | None = None,
    id: str | None = None,
    stages: Iterable[str] | None = None,
    memory: int | None = None,
    engine: str | Engine = "threads",
) -> Plan:
    """Tell what ``tacit.explore`` would do with documents, and about what that costs.

    Takes the same settings. Reads the documents once and writes nothing.

    Examples
    --------
    >>> plan = plan_documents(["one fish", "two fish", "red bread"], stages=["map"])
    >>> [stage.name for stage in plan.stages if stage.does == "run"]
    ['ingest', 'counts', 'meaning', 'map', 'report']
    >>> plan.documents, plan.bytes
    (3, 25)
    """
    opened, path = open_documents(documents, k, effort, text, id)
    kept = out is not None or path is not None
    folder = ProjectFolder(folder_for(path, out)) if kept else None
    settings = Settings(seed=random_state, k=k, effort=effort)
    return make_plan(
        folder, opened, settings, engine=get_engine(engine), stages=stages, memory=memory
    )


def make_plan(
    folder: ProjectFolder | None,
    documents: Documents,
    settings: Settings,
    *,
    engine: Engine | None = None,
    stages: Iterable[str] | None = None,
    memory: int | None = None,
    ingested: str | None = None,
) -> Plan:
    """Decide which stages run, at which effort, and what that costs. ``ingested`` is the key
    of the documents where they are the project's own.

    Examples
    --------
    >>> documents = Documents.of(["a ship", "the sea"])
    >>> plan = make_plan(None, documents, Settings(), stages=["counts"])
    >>> [stage.name for stage in plan.stages if stage.does == "run"]
    ['ingest', 'counts', 'report']
    """
    stages = None if stages is None else tuple(stages)
    found = look_over(documents)
    size = len(documents) / 1000, found.bytes / 1e6
    wanted = closure(stages)
    gain = speed(engine)
    gone: dict[str, str] = {}
    efforts: dict[str, str] = {}

    def kept(name: str) -> bool:
        if ingested is None:
            keys = keys_of(settings, found.digest, efforts)
        else:
            keys = keys_after(ingested, settings, efforts)
        return folder is not None and folder.has(name, keys[name])

    planned = [planned_stage("ingest", READING, size, settings.effort, gain, kept("ingest"))]
    if memory is not None and planned[0].bytes > memory and planned[0].does == "run":
        raise too_small(planned[0], memory)
    for stage in STAGES:
        made = planned_stage(
            stage.name, stage.title, size, settings.effort, gain, kept(stage.name)
        )
        if stage.name not in wanted:
            made = made._replace(
                does=made.does if made.does == "keep" else "leave out",
                why="not asked for by --stages",
            )
        elif lost := next((need for need in stage.needs if need in gone), None):
            made = made._replace(does="leave out", why=f"it needs {lost!r}, which is left out")
        elif memory is not None and made.does == "run" and made.bytes > memory:
            made = within(stage, made, memory, size, gain, asked=stages is not None)
            if made.does == "run":
                efforts[stage.name] = made.effort
                made = made._replace(does="keep" if kept(stage.name) else "run")
        if made.does == "leave out":
            gone[stage.name] = made.why
        elif made.does == "keep":
            made = made._replace(why="")
        planned.append(made)
    if "counts" in wanted and "counts" in gone:
        raise too_small(next(s for s in planned if s.name == "counts"), memory or 0)
    seconds, held = cost_of(REPORT, size, settings.effort)
    planned.append(
        PlannedStage(REPORT, "Writing the report", "run", seconds, held, settings.effort)
    )
    return Plan(len(documents), found.bytes, tuple(planned), settings, memory, is_cold(),
                found.digest, stages)  # fmt: skip


def plan_again(
    folder: ProjectFolder,
    settings: Settings,
    *,
    stages: Iterable[str] | None = None,
    memory: int | None = None,
) -> Plan:
    """Decide how to explore the documents that a project holds once more."""
    documents = Context(folder, settings, Serial(), ()).documents()
    key = folder.record["stages"]["ingest"]["key"]
    return make_plan(
        folder, documents, settings,
        engine=get_engine("threads"), stages=stages, memory=memory, ingested=key,
    )  # fmt: skip


def recorded(record: dict[str, Any]) -> Choice | None:
    """The stages and the memory that a project was last explored with; None where its record,
    which a stranger or an older Tacit may have written, does not tell.

    >>> recorded({"asked": {"stages": ["map"], "memory": 4_000_000_000}}).asked()
    {'stages': ['map'], 'memory': 4000000000}
    """
    asked = record.get("asked")
    if not isinstance(asked, dict):
        return None
    stages, memory = asked.get("stages"), asked.get("memory")
    if stages is not None:
        known = {stage.name for stage in STAGES} | {"ingest"}
        if not isinstance(stages, list) or not all(
            isinstance(each, str) and each in known for each in stages
        ):
            return None
    if memory is not None and (type(memory) is not int or memory < 1):
        return None
    return Choice(stages=None if stages is None else tuple(stages), memory=memory)


def planned_stage(
    name: str, title: str, size: tuple[float, float], effort: str, gain: float, kept: bool
) -> PlannedStage:
    seconds, held = cost_of(name, size, effort)
    seconds /= gain if name in PARALLEL else 1.0
    return PlannedStage(name, title, "keep" if kept else "run", seconds, held, effort)


def within(
    stage: Stage, made: PlannedStage, memory: int, size: tuple[float, float], gain: float,
    *, asked: bool,
) -> PlannedStage:  # fmt: skip
    """The stage at the highest effort that fits the memory; left out if none does."""
    lower = EFFORTS[: EFFORTS.index(made.effort)] if "effort" in stage.settings else ()
    limit = format_bytes(memory)
    why = f"it needs about {format_bytes(made.bytes)}, and --memory allows {limit}"
    for effort in reversed(lower):
        seconds, held = cost_of(stage.name, size, effort)
        if held <= memory:
            seconds /= gain if stage.name in PARALLEL else 1.0
            return made._replace(effort=effort, seconds=seconds, bytes=held, why=why)
    if asked or stage.name == "counts":
        raise too_small(made, memory)
    return made._replace(does="leave out", why=why)


def too_small(stage: PlannedStage, memory: int) -> ValueError:
    return ValueError(
        f"{stage.title} needs about {format_bytes(stage.bytes)} of memory, and "
        f"{format_bytes(memory)} is allowed. Allow {format_bytes(1.2 * stage.bytes)}, or "
        "explore fewer documents."
    )


def closure(stages: Iterable[str] | None) -> set[str]:
    """The stages asked for and all that they need."""
    known = {stage.name: stage for stage in STAGES}
    if stages is None:
        return set(known)
    waiting = [name for name in stages if name != "ingest"]
    wrong = [name for name in waiting if name not in known]
    if wrong:
        raise ValueError(f"There is no stage {wrong[0]!r}; choose from {', '.join(known)}.")
    found: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in known and name not in found:
            found.add(name)
            waiting += [*known[name].needs, *DRAWN_WITH.get(name, ())]
    return found


def speed(engine: Engine | None) -> float:
    """How many times faster than one thread."""
    if isinstance(engine, Serial):
        return 1.0
    workers = engine.workers if isinstance(engine, Threads) and engine.workers else cores()
    return 1 + GAIN * (workers - 1)


def is_cold() -> bool:
    """Whether there is no machine code from an earlier run."""
    from tacit.core.kernel import cache_folder

    folder = cache_folder()
    return folder is None or next(folder.rglob("*.nbc"), None) is None
