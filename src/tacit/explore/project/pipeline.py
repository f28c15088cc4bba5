"""Runs the stages that are missing or out of date, in order, and keeps what they find."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from tacit.core.engines import Engine, get_engine
from tacit.core.progress import Callback
from tacit.data.documents import Documents
from tacit.explore.project.folder import ProjectFolder, digest, key_of
from tacit.explore.project.group_edits import EDITED, replay_edits
from tacit.explore.project.settings import Choice, Settings
from tacit.explore.stages.counts import count_words
from tacit.explore.stages.fields import compare_fields
from tacit.explore.stages.groups import find_groups, group_otherwise
from tacit.explore.stages.ingest import Source, facts_of, read_through, write_documents
from tacit.explore.stages.languages import guess_languages
from tacit.explore.stages.live import index_texts, learn_language
from tacit.explore.stages.meaning import draw_map, find_meaning, find_word_neighbors
from tacit.explore.stages.oddities import find_duplicates, find_outliers
from tacit.explore.stages.reading import read_documents
from tacit.explore.stages.stage import Context, Output, Stage, write_output
from tacit.explore.stages.themes import find_themes
from tacit.explore.stages.time import follow_time

__all__ = [
    "LIVE_STAGES", "STAGES", "OnEvent", "StageEvent", "keys_after", "keys_of", "live_keys",
    "missing_live", "prepare_live", "result_hash", "run_stages", "stage_titles",
]  # fmt: skip

STAGES = (
    Stage("duplicates", 1, "Looking for repeats", ("ingest",), ("seed",), find_duplicates),
    Stage("counts", 2, "Counting words", ("ingest",), (), count_words),
    Stage("meaning", 7, "Finding directions of meaning", ("counts",), ("seed", "effort"),
          find_meaning),
    Stage("map", 2, "Drawing the map", ("meaning",), ("seed", "effort"), draw_map),
    Stage("groups", 24, "Finding groups", ("ingest", "counts", "meaning"),
          ("seed", "effort", "k"), find_groups),
    Stage("what_if", 5, "Trying other numbers of groups", ("counts", "meaning"),
          ("seed", "effort"), group_otherwise),
    Stage("words", 2, "Comparing words", ("counts", "meaning"), ("effort",),
          find_word_neighbors),
    Stage("language_guess", 6, "Guessing languages", ("counts",), (), guess_languages),
    Stage("outliers", 4, "Looking for oddities",
          ("ingest", "counts", "meaning", "map", "language_guess"), (), find_outliers),
    Stage("themes", 5, "Finding themes", ("ingest", "counts", "language_guess"),
          ("seed", "effort", "topics"), find_themes),
    Stage("reading", 3, "Measuring how documents read", ("ingest", "language_guess"), (),
          read_documents),
    Stage("fields", 4, "Comparing columns", ("ingest", "counts"), (), compare_fields),
    Stage("time", 3, "Following time", ("ingest", "counts"), (), follow_time),
)  # fmt: skip
LIVE_STAGES = (
    Stage("index", 1, "Indexing the texts", ("ingest", "counts"), (), index_texts, live=True),
    Stage("language", 1, "Learning the language", ("ingest", "counts"), (), learn_language,
          live=True),
)  # fmt: skip
INGEST = 5  # version
READING = "Reading documents"


class StageEvent(NamedTuple):
    """A stage begins or ends."""

    name: str
    title: str
    number: int  # from 1
    total: int
    seconds: float | None  # None when it begins
    reused: bool  # its output was up to date


OnEvent = Callable[[StageEvent], Any]


def run_stages(
    folder: ProjectFolder,
    documents: Documents | None,
    settings: Settings,
    *,
    engine: str | Engine = "threads",
    on_event: OnEvent | None = None,
    callbacks: Sequence[Callback] = (),
    choice: Choice | None = None,
) -> None:
    """Bring every stage up to date. The caller holds the folder (``folder.writing``).

    Without ``documents`` the project's own are used. Stages that ``choice`` leaves out stay if
    they are there and up to date.
    """
    choice, source = choice or Choice(), None
    if documents is None:
        folder.output("ingest")  # or an error: nobody could write it again
        folder.check(["ingest"])
        ingested = folder.record["stages"]["ingest"]["key"]
        keys = keys_after(ingested, settings, choice.efforts)
    else:
        known_source = Source(choice.source or "", choice.text_bytes)
        source = known_source if choice.source else read_through(documents)
        keys = keys_of(settings, source.digest, choice.efforts)
    gone = {name for name in choice.left_out if not folder.has(name, keys[name])}
    known = ({stage.name for stage in STAGES} | {"ingest"}) - gone
    known |= {n for n, key in live_keys(keys).items() if folder.holds(n, key)}
    known |= {EDITED} if folder.has("groups", keys["groups"]) else set()
    folder.drop(folder.record["stages"].keys() - known)
    folder.commit(
        settings=settings.to_dict(),
        left_out={name: choice.left_out[name] for name in sorted(gone)},
        efforts=dict(choice.efforts),
        asked=choice.asked(),
    )
    if source is not None:
        folder.set_text_bytes(source.bytes)  # with a record: a folder without one is nobody's
    context = Context(folder, settings, get_engine(engine), callbacks)

    def ingest(home: Path) -> None:
        assert documents is not None  # it was checked to be there
        cleaned = write_documents(documents, home, clean=settings.clean)
        write_output(home, Output(facts=facts_of(documents, cleaned)))

    writers: list[Writer] = [("ingest", READING, ingest)]
    for stage in STAGES:
        if stage.name not in gone:
            lowered = replace(settings, effort=choice.efforts.get(stage.name, settings.effort))
            writers.append(writer_of(stage, context._replace(settings=lowered)))
    write_stages(folder, keys, writers, on_event)
    replay_edits(folder, context)


Writer = tuple[str, str, Callable[[Path], None]]  # name and title of a stage, what writes it


def writer_of(stage: Stage, context: Context) -> Writer:
    return stage.name, stage.title, lambda home: write_output(home, stage.run(context))


def write_stages(
    folder: ProjectFolder, keys: Mapping[str, str], writers: list[Writer], on_event: Any
) -> None:
    """Write the outputs that are missing, damaged or out of date."""
    notify = on_event or (lambda event: None)
    for number, (name, title, write) in enumerate(writers, start=1):
        reused = folder.holds(name, keys[name])
        event = StageEvent(name, title, number, len(writers), None, reused)
        notify(event)
        start = time.perf_counter()
        if not reused:
            folder.keep(name, keys[name], write)
        notify(event._replace(seconds=time.perf_counter() - start))


def keys_of(
    settings: Settings, source: str, efforts: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The key of every stage for this input and these settings; ``efforts`` of stages that
    run with less effort than the settings."""
    chosen = {"clean": settings.clean}
    return keys_after(key_of("ingest", INGEST, chosen, {"source": source}), settings, efforts)


def keys_after(
    ingest: str, settings: Settings, efforts: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The key of every stage for these settings, from that of the documents."""
    keys = {"ingest": ingest}
    for stage in STAGES:
        chosen = settings.to_dict()
        chosen["effort"] = (efforts or {}).get(stage.name, settings.effort)
        values = {name: chosen[name] for name in stage.settings}
        needs = {name: keys[name] for name in stage.needs}
        keys[stage.name] = key_of(stage.name, stage.version, values, needs)
    return keys


def live_keys(keys: dict[str, str]) -> dict[str, str]:
    """The keys of the live stages, from those of the others."""
    keys_of_live = {}
    for stage in LIVE_STAGES:
        needs = {name: keys.get(name, "") for name in stage.needs}
        keys_of_live[stage.name] = key_of(stage.name, stage.version, {}, needs)
    return keys_of_live


def prepare_live(
    folder: ProjectFolder | str | os.PathLike,
    engine: str | Engine = "threads",
    on_event: OnEvent | None = None,
    callbacks: Sequence[Callback] = (),
) -> None:
    """Run the live stages that are missing, damaged or out of date. Locks the folder while it
    must."""
    folder = folder if isinstance(folder, ProjectFolder) else ProjectFolder(folder)
    if all(folder.holds(name, key) for name, key in wanted_live(folder).items()):
        return
    with folder.writing():
        settings = Settings.of(folder.record["settings"])
        context = Context(folder, settings, get_engine(engine), callbacks)
        writers = [writer_of(stage, context) for stage in LIVE_STAGES]
        write_stages(folder, wanted_live(folder), writers, on_event)


def wanted_live(folder: ProjectFolder) -> dict[str, str]:
    """The keys of the live stages for the project as it is."""
    return live_keys({n: e["key"] for n, e in folder.record["stages"].items()})


def missing_live(folder: ProjectFolder) -> list[str]:
    """The live stages that are not there for the project as it is."""
    return [name for name, key in wanted_live(folder).items() if not folder.has(name, key)]


def stage_titles() -> dict[str, str]:
    """What each stage is called, for people, in the order they run."""
    return {"ingest": READING, **{stage.name: stage.title for stage in STAGES}}


def result_hash(folder: ProjectFolder) -> str:
    """One digest of everything found: equal for any number of threads."""
    live = {stage.name for stage in LIVE_STAGES} | {EDITED}  # edits are not found
    facts = {
        f"{name}/{file}": fact["blake2b"]
        for name, entry in folder.record["stages"].items()
        if name not in live
        for file, fact in entry["files"].items()
    }
    return digest(repr(sorted(facts.items())).encode())
