"""Runs the stages that are missing or out of date, in order, and keeps what they find."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tacit.core.engines import Engine, get_engine
from tacit.core.progress import Callback
from tacit.data.documents import Documents
from tacit.explore.project_folder import ProjectFolder, digest, key_of
from tacit.explore.stage import Context, Output, Settings, Stage, write_output
from tacit.explore.stages.cluster_stage import find_groups
from tacit.explore.stages.count_stage import count_words
from tacit.explore.stages.duplicate_stage import find_duplicates
from tacit.explore.stages.ingest import facts_of, fingerprint, write_documents
from tacit.explore.stages.map_stage import draw_map
from tacit.explore.stages.meaning_stage import find_meaning
from tacit.explore.stages.outlier_stage import find_outliers
from tacit.explore.stages.what_if_stage import divide_otherwise
from tacit.explore.stages.word_stage import find_word_neighbors

__all__ = ["STAGES", "Told", "keys_of", "result_hash", "run_stages", "stage_titles"]

STAGES = (
    Stage("duplicates", 1, "Looking for repeats", ("ingest",), ("seed",), find_duplicates),
    Stage("counts", 1, "Counting words", ("ingest",), (), count_words),
    Stage("meaning", 1, "Finding directions of meaning", ("counts",), ("seed", "effort"),
          find_meaning),
    Stage("map", 1, "Drawing the map", ("meaning",), ("seed", "effort"), draw_map),
    Stage("groups", 2, "Finding groups", ("counts", "meaning"), ("seed", "effort", "k"),
          find_groups),
    Stage("what_if", 1, "Trying other numbers of groups", ("meaning",), ("seed", "effort"),
          divide_otherwise),
    Stage("words", 1, "Comparing words", ("counts", "meaning"), ("effort",),
          find_word_neighbors),
    Stage("outliers", 1, "Looking for oddities", ("counts", "meaning", "map"), (),
          find_outliers),
)  # fmt: skip
INGEST = 1  # version
READING = "Reading documents"


class Told(NamedTuple):
    """What is said when a stage begins or ends."""

    name: str
    title: str
    number: int  # from 1
    most: int
    seconds: float | None  # None when it begins
    kept: bool  # it was there already


def run_stages(
    folder: ProjectFolder,
    documents: Documents,
    settings: Settings,
    *,
    engine: str | Engine = "threads",
    tell: Callable[[Told], Any] = lambda told: None,
    callbacks: Sequence[Callback] = (),
) -> None:
    """Bring every stage up to date. The caller holds the folder (``folder.writing``)."""
    keys = keys_of(settings, fingerprint(documents))
    known = {stage.name for stage in STAGES} | {"ingest"}
    folder.drop(folder.record["stages"].keys() - known)
    folder.commit(settings=settings.to_dict())
    context = Context(folder, settings, get_engine(engine), callbacks)
    most = len(STAGES) + 1

    def ingest(home: Path) -> None:
        write_documents(documents, home)
        write_output(home, Output(facts=facts_of(documents)))

    def runner(stage: Stage) -> Callable[[Path], None]:
        return lambda home: write_output(home, stage.run(context))

    plan: list[tuple[str, str, Callable[[Path], None]]] = [
        ("ingest", READING, ingest),
        *((stage.name, stage.title, runner(stage)) for stage in STAGES),
    ]
    for number, (name, title, write) in enumerate(plan, start=1):
        kept = folder.has(name, keys[name])
        told = Told(name, title, number, most, None, kept)
        tell(told)
        start = time.perf_counter()
        if not kept:
            folder.keep(name, keys[name], write)
            folder.time(name, time.perf_counter() - start)
        tell(told._replace(seconds=time.perf_counter() - start))


def keys_of(settings: Settings, source: str) -> dict[str, str]:
    """The key of every stage for this input and these settings."""
    keys = {"ingest": key_of("ingest", INGEST, {}, {"source": source})}
    chosen = settings.to_dict()
    for stage in STAGES:
        own = {name: chosen[name] for name in stage.settings}
        needs = {name: keys[name] for name in stage.needs}
        keys[stage.name] = key_of(stage.name, stage.version, own, needs)
    return keys


def stage_titles() -> dict[str, str]:
    """What each stage is called, for people, in the order they run."""
    return {"ingest": READING, **{stage.name: stage.title for stage in STAGES}}


def result_hash(folder: ProjectFolder) -> str:
    """One digest of everything found: equal for any number of threads."""
    facts = {
        f"{name}/{file}": fact["blake2b"]
        for name, entry in folder.record["stages"].items()
        for file, fact in entry["files"].items()
    }
    return digest(repr(sorted(facts.items())).encode())
