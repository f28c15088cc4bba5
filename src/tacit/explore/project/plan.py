"""The plan: which stages will run, at which effort, and about what that costs.

Before a first run, time and memory follow one formula each for the number of documents and the
amount of text (``benchmarks/explore/explore_stages.py`` and ``explore_million.py`` show how far
they hold). A project that was explored before has measured the rate of every stage, in seconds
per byte of text on this machine, and the plan uses those. A plan says "about", and means
between half and double.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tacit.core.engines import Engine, Serial, Threads, cores, get_engine
from tacit.core.memory import format_bytes, parse_memory
from tacit.core.wording import count, did_you_mean, listed
from tacit.data.documents import Documents
from tacit.explore.project.folder import ProjectFolder, folder_for
from tacit.explore.project.pipeline import READING, STAGES, keys_after, keys_of
from tacit.explore.project.settings import EFFORTS, Choice, Settings, as_topics
from tacit.explore.stages.ingest import read_through
from tacit.explore.stages.stage import Context, Stage

__all__ = [
    "Pace", "Plan", "PlannedStage", "about", "closure", "make_plan", "open_documents",
    "plan_again", "plan_documents", "recorded_choice", "stage_memory",
]  # fmt: skip

REPORT = "report"
NOT_ASKED = "not asked for by --stages"
DRAWN_WITH = {"groups": ("map",)}  # what the report shows a stage on
EVIDENCE = 0.1  # of the planned time: how much the plan counts against what was measured
COMPILING = 20  # seconds, where no machine code is cached yet (benchmarks.first_call)
EFFORT_TIME = {"quick": 0.4, "normal": 1.0, "thorough": 1.8}
EFFORT_MEMORY = {"quick": 0.9, "normal": 1.0, "thorough": 1.2}


class PlannedStage(NamedTuple):
    """What will happen to a stage."""

    name: str
    title: str
    does: str  # "run", "keep" or "leave out"
    seconds: float
    bytes: float
    effort: str  # lower than asked for where the memory would not suffice
    why: str = ""  # it is left out, or runs with less effort
    measured: bool = False  # its time is from the rate of the last run


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
        return Choice(
            self.source,
            {s.name: f"{s.title} was left out: {s.why}." for s in self.stages
             if s.does == "leave out"},
            {s.name: s.effort for s in self.stages
             if s.effort != self.settings.effort and s.does != "leave out"},
            self.asked,
            self.limit,
            self.bytes,
        )  # fmt: skip

    def planned(self) -> dict[str, float]:
        """Seconds by stage, of all that run; a guess where none was measured."""
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

    def short_lines(self) -> list[str]:
        """The plan in three lines at most: what it is, what it costs, what is different."""
        run = sum(s.does == "run" and s.name != REPORT for s in self.stages)
        kept = sum(stage.does == "keep" for stage in self.stages)
        tail = f", {kept} kept as they are." if kept else "."
        head = f"{count(self.documents, 'document')}, {format_bytes(self.bytes)} of text. "
        cost = f"Expected: {about(self.seconds)}, {format_bytes(self.memory)} of memory"
        cost += f"; compiling adds about {COMPILING} s once." if self.compiles else "."
        less = [stage.title for stage in self.stages if stage.does == "run" and stage.why]
        gone = [s.title for s in self.stages if s.does == "leave out" and s.why != NOT_ASKED]
        changed = [
            *([f"with less effort: {listed(less, 3)}"] if less else []),
            *([f"left out: {listed(gone, 3)}"] if gone else []),
        ]
        more = f"{'; '.join(changed)}. --plan has the details."
        return [
            f"{head}{count(run, 'stage')} to run{tail}",
            cost,
            *([more[:1].upper() + more[1:]] if changed else []),
        ]

    def lines(self) -> list[str]:
        """The plan for people, stage by stage."""
        head, cost, *_ = self.short_lines()
        out = [f"Plan: {head} {cost}"]
        for stage in self.stages:
            title = f"  {stage.title:<32}"
            if stage.does == "run":
                time = about(stage.seconds) if stage.measured else ""
                less = f"  as with --{stage.effort}: {stage.why}" if stage.why else ""
                out.append(f"{title}{time:>14}  {format_bytes(stage.bytes):>8}{less}")
            elif stage.does == "keep":
                out.append(f"{title}{'kept':>14}")
            else:
                out.append(f"{title}{'left out':>14}  {stage.why}")
        return out

    def __str__(self) -> str:
        return "\n".join(self.lines())


class Pace:
    """How long the rest of a run takes: as planned, corrected by how long the stages took that
    have ended.

    >>> pace = Pace({"ingest": 10.0, "counts": 30.0, "map": 60.0})
    >>> pace.left()
    100.0
    >>> pace.ended("ingest", 20.0)  # twice the time; one short stage is weak evidence
    >>> round(pace.left())
    135
    """

    def __init__(self, planned: dict[str, float]) -> None:
        self.planned = dict(planned)
        self.waiting = dict(planned)
        self.spent = 0.0  # on stages that were planned and have ended

    @property
    def factor(self) -> float:
        """How much slower the run is than the plan."""
        weight = EVIDENCE * sum(self.planned.values())
        ended = sum(self.planned.values()) - sum(self.waiting.values())
        return (self.spent + weight) / (ended + weight) if ended + weight > 0 else 1.0

    def ended(self, stage: str, seconds: float) -> None:
        """A stage took so long."""
        if self.waiting.pop(stage, None) is not None:
            self.spent += seconds

    def kept(self, stage: str) -> None:
        """A stage was up to date and takes no time."""
        self.waiting.pop(stage, None)
        self.planned.pop(stage, None)

    def left(self, *, without: str = "") -> float:
        """Seconds until the end, or of the stages other than one."""
        waiting = sum(s for name, s in self.waiting.items() if name != without)
        return self.factor * waiting

    def expected(self, stage: str) -> float | None:
        """Seconds that a stage takes; None if it was not planned."""
        seconds = self.waiting.get(stage)
        return None if seconds is None else self.factor * seconds


def about(seconds: float) -> str:
    """A time as precise as an estimate is.

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


# --- Making a plan ---


def open_documents(
    documents: Any, k: int | None, effort: str, text: str | None, id: str | None
) -> tuple[Documents, str | None]:
    """Validate the settings and open documents of any origin; also their path, if any."""
    if effort not in EFFORTS:
        raise ValueError(f"explore(effort={effort!r}) is unknown; choose from {list(EFFORTS)}.")
    if k is not None and k < 1:
        raise ValueError(f"explore(k={k}) must be at least 1, or None to choose.")
    path = os.fspath(documents) if isinstance(documents, str | os.PathLike) else None
    if path is not None:
        return Documents.open(path, text=text, id=id), path
    return Documents.of(documents, text=text, id=id), None


def plan_documents(
    documents: Any,
    *,
    out: str | os.PathLike | None = None,
    k: int | None = None,
    effort: str = "normal",
    random_state: int = 0,
    text: str | None = None,
    id: str | None = None,
    clean: bool = True,
    topics: int | str | None = None,
    stages: Iterable[str] | None = None,
    memory: int | str | None = None,
    engine: str | Engine = "threads",
) -> Plan:
    """Estimate what ``tacit.explore`` would do with documents, and about what that costs.

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
    stored = out is not None or path is not None
    folder = ProjectFolder(folder_for(path, out)) if stored else None
    settings = Settings(random_state, k, effort, clean, as_topics(topics))
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
    memory: int | str | None = None,
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
    limit = None if memory is None else parse_memory(memory)
    source, wanted = read_through(documents), closure(stages)
    costs = Costs(len(documents), source.bytes, engine, folder)
    gone: set[str] = set()
    efforts: dict[str, str] = {}

    def is_kept(name: str) -> bool:
        if ingested is None:
            keys = keys_of(settings, source.digest, efforts)
        else:
            keys = keys_after(ingested, settings, efforts)
        return folder is not None and folder.has(name, keys[name])

    def plan_stage(name: str, title: str) -> PlannedStage:
        seconds, measured = costs.seconds(name, settings.effort)
        size = stage_memory(name, costs.documents, costs.text_bytes, settings.effort)
        does = "keep" if name != REPORT and is_kept(name) else "run"
        return PlannedStage(name, title, does, seconds, size, settings.effort, "", measured)

    planned = [plan_stage("ingest", READING)]
    if limit is not None and planned[0].bytes > limit and planned[0].does == "run":
        raise too_small(planned[0], limit)
    for stage in STAGES:
        entry = plan_stage(stage.name, stage.title)
        if stage.name not in wanted:
            does = entry.does if entry.does == "keep" else "leave out"
            entry = entry._replace(does=does, why=NOT_ASKED)
        elif lost := next((need for need in stage.needs if need in gone), None):
            why = f"it needs {lost!r}, which is left out"
            entry = entry._replace(does="leave out", why=why)
        elif limit is not None and entry.does == "run" and entry.bytes > limit:
            entry = fit_memory(stage, entry, limit, costs, required=stages is not None)
            if entry.does == "run":
                efforts[stage.name] = entry.effort
                entry = entry._replace(does="keep" if is_kept(stage.name) else "run")
        if entry.does == "leave out":
            gone.add(stage.name)
        elif entry.does == "keep":
            entry = entry._replace(why="")
        planned.append(entry)
    planned.append(plan_stage(REPORT, "Writing the report"))
    return Plan(len(documents), source.bytes, tuple(planned), settings, limit, is_cold(),
                source.digest, stages)  # fmt: skip


def plan_again(
    folder: ProjectFolder,
    settings: Settings,
    *,
    stages: Iterable[str] | None = None,
    memory: int | None = None,
) -> Plan:
    """Plan another run over the documents of a project."""
    documents = Context(folder, settings, Serial(), ()).documents()
    key = folder.record["stages"]["ingest"]["key"]
    return make_plan(
        folder, documents, settings,
        engine=get_engine("threads"), stages=stages, memory=memory, ingested=key,
    )  # fmt: skip


def recorded_choice(record: dict[str, Any]) -> Choice | None:
    """The stages and the memory that a project was last explored with; None where its record,
    which is untrusted or of an older Tacit, does not have them.

    >>> recorded_choice({"asked": {"stages": ["map"], "memory": 4_000_000_000}}).asked()
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


def fit_memory(
    stage: Stage, entry: PlannedStage, limit: int, costs: "Costs", *, required: bool
) -> PlannedStage:
    """The stage at the highest effort that fits the memory; left out if none does."""
    lower = EFFORTS[: EFFORTS.index(entry.effort)] if "effort" in stage.settings else ()
    allowed = format_bytes(limit)
    why = f"it needs about {format_bytes(entry.bytes)}, and --memory allows {allowed}"
    for effort in reversed(lower):
        size = stage_memory(stage.name, costs.documents, costs.text_bytes, effort)
        if size <= limit:
            seconds, measured = costs.seconds(stage.name, effort)
            return entry._replace(effort=effort, seconds=seconds, bytes=size, why=why,
                                 measured=measured)  # fmt: skip
    if required or stage.name == "counts":
        raise too_small(entry, limit)
    return entry._replace(does="leave out", why=why)


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
        meant = did_you_mean(wrong[0], known)
        raise ValueError(
            f"There is no stage {wrong[0]!r}.{meant} Choose from {', '.join(known)}."
        )
    wanted: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in wanted:
            wanted.add(name)
            waiting += [need for need in known[name].needs if need in known]
            waiting += DRAWN_WITH.get(name, ())
    return wanted


# --- Costs ---


class Costs:
    """About what stages cost for this much text, here."""

    def __init__(
        self, documents: int, text_bytes: int, engine: Engine | None, folder: Any
    ) -> None:
        self.documents, self.text_bytes = documents, text_bytes
        thousands = documents / 1000
        # On one thread, all stages with normal effort; some of them work on a sample.
        total = 2 + 3 * min(thousands, 4) + 0.3 * thousands + 0.2 * text_bytes / 1e6
        self.default = total / speedup(engine) / (len(STAGES) + 2)
        self.rates: dict[str, float] = {} if folder is None else folder.rates
        last = Settings.of({} if folder is None else folder.record["settings"]).effort
        self.rate_effort = EFFORT_TIME[last]

    def seconds(self, name: str, effort: str) -> tuple[float, bool]:
        """How long a stage takes, and whether that is from the rate of the last run."""
        if name in self.rates:
            factor = EFFORT_TIME[effort] / self.rate_effort
            return self.rates[name] * self.text_bytes * factor, True
        return self.default * EFFORT_TIME[effort], False


def stage_memory(name: str, documents: int, text_bytes: int, effort: str) -> float:
    """The most bytes that a process needs while a stage runs, about."""
    if name == "ingest":
        return 240e6 + 5.0 * text_bytes
    size = 35e3 * min(documents, 10_000) + 2500.0 * documents + 5.0 * text_bytes
    scales = any(stage.name == name and "effort" in stage.settings for stage in STAGES)
    return 420e6 + size * (EFFORT_MEMORY[effort] if scales else 1.0)


def speedup(engine: Engine | None) -> float:
    if isinstance(engine, Serial):
        return 1.0
    workers = engine.workers if isinstance(engine, Threads) and engine.workers else cores()
    return 1 + 0.7 * (workers - 1)  # of a core, for each past the first


def is_cold() -> bool:
    """Whether there is no machine code from an earlier run."""
    from tacit.core.kernel import cache_folder

    folder = cache_folder()
    return folder is None or next(folder.rglob("*.nbc"), None) is None
