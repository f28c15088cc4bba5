"""Deciding what will run: stages asked for, stages kept, and what fits into the memory."""

import os
from collections.abc import Iterable
from typing import Any

from tacit.core.engines import Engine, Serial, Threads, cores, get_engine
from tacit.core.memory import format_bytes
from tacit.data.documents import Documents
from tacit.explore.inputs import EFFORTS, folder_for, open_documents
from tacit.explore.pipeline import READING, STAGES, keys_after, keys_of
from tacit.explore.plan import Plan, PlannedStage, cost_of
from tacit.explore.project_folder import ProjectFolder
from tacit.explore.stage import Choice, Context, Settings, Stage
from tacit.explore.stages.ingest import look_over

__all__ = ["closure", "make_plan", "plan_again", "plan_documents", "recorded"]

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
