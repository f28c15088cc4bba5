"""A project that is asked questions: what answers need, loaded once and shared by threads, and
documents as answers show them."""

import os
import threading
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp

from tacit.core.engines import get_engine
from tacit.core.errors import DataError, TacitError
from tacit.core.memory import available_memory
from tacit.core.modelfile import load
from tacit.core.string_array import are_offsets
from tacit.explore.project.folder import RECORD, ProjectFolder, read_record
from tacit.explore.project.pipeline import LIVE_STAGES, missing_live
from tacit.explore.report.clean_text import (
    clean_line,
    clean_text,
    cut,
    given_titles,
    title_and_opening,
)
from tacit.explore.report.search_index import least_spread
from tacit.explore.stages.live import TokenStream, stream_of
from tacit.explore.stages.stage import DOCUMENTS, Context, Output
from tacit.search import Hit, QueryError

__all__ = [
    "Live", "NotReady", "ProjectReader", "check_count", "check_text", "document", "pieces",
    "shown_hit", "shown_id",
]  # fmt: skip

Value = TypeVar("Value")
MAPPED = 2**30  # bytes; larger files of models are mapped
LONGEST = 10_000  # characters of a query
MOST_TEXT = 200_000  # characters of a document that are shown
ID, COLUMN = 120, 2000  # characters of an id, and of a value


class NotReady(TacitError):
    """What the question needs is still being made."""


def once(make: Callable[[Any], Value]) -> Any:
    """A property that is made once, by the first thread that asks."""

    @wraps(make)
    def get(self: Any) -> Value:
        return self._cached(make.__name__, lambda: make(self))

    return property(get)


class ProjectReader:
    """A project as it was when this was made, ready for questions of any number of threads.

    Arrays are mapped from the disk. The index and the language model come from the live
    stages (``tacit.explore.project.pipeline.prepare_live``); where these are missing a question
    raises NotReady, or, with ``build``, they are made in memory.

    Examples
    --------
    >>> import tacit
    >>> from tacit.explore.ask import ProjectReader, search
    >>> project = tacit.explore(["a ship at sea", "rye bread", "bread"], effort="quick")
    >>> reader = ProjectReader(project.path, build=True)
    >>> [hit["id"] for hit in search(reader, "bread")["hits"]]
    ['2', '1']
    """

    def __init__(
        self, folder: ProjectFolder | str | os.PathLike, *, build: bool = False
    ) -> None:
        self.folder = folder if isinstance(folder, ProjectFolder) else ProjectFolder(folder)
        if "ingest" not in self.folder.record["stages"]:
            raise DataError(
                "is not a complete project. Run tacit explore.",
                file=self.folder.path / RECORD,
            )
        self.build = build
        self.context = Context.of(self.folder)
        self.settings = self.context.settings
        self._values: dict[str, Any] = {}
        self._locks: dict[str, threading.RLock] = {}
        self._master = threading.Lock()

    def _cached(self, name: str, make: Callable[[], Any]) -> Any:
        """A value that the first thread that asks makes; the others wait for it."""
        if name in self._values:
            return self._values[name]
        with self._master:
            lock = self._locks.setdefault(name, threading.RLock())
        with lock:
            if name not in self._values:
                self._values[name] = make()
            return self._values[name]

    # --- Whether it is up to date ---

    @property
    def missing(self) -> list[str]:
        """The live stages that are still to be made."""
        return missing_live(self.folder)

    @property
    def outdated(self) -> bool:
        """Whether the project on disk has changed since."""
        now = read_record(self.folder.path)["stages"]
        return {n: e["key"] for n, e in now.items()} != {
            n: e["key"] for n, e in self.folder.record["stages"].items()
        }

    # --- Documents ---

    @once
    def table(self) -> Any:
        """Ids and the columns that came along, as an Arrow table."""
        import pyarrow.parquet as pq

        file = pq.ParquetFile(self.folder.output("ingest") / DOCUMENTS)
        names = [name for name in file.schema_arrow.names if name != "text"]
        table = file.read(columns=names).combine_chunks()
        for i, name in enumerate(names):
            table = table.set_column(i, name, whole_numbers(table[name]))
        return table

    @property
    def n(self) -> int:
        """How many documents there are."""
        return self.table.num_rows

    @property
    def columns(self) -> list[str]:
        """The names of the columns that came along."""
        return [name for name in self.table.column_names if name != "id"]

    def id_of(self, row: int) -> str:
        """The name of a document."""
        return str(self.table["id"][row].as_py())

    def row_of(self, id: int | str) -> int:
        """The place of a document, which is a place already or its name."""
        if isinstance(id, bool) or not isinstance(id, int | np.integer | str):
            raise TypeError(f"A document is given by its place or its id, not by {id!r}.")
        if not isinstance(id, str):
            return self.check_row(id)
        import pyarrow.compute as pc

        row = pc.index(self.table["id"], id).as_py()
        if row < 0:
            raise KeyError(f"There is no document {id[:80]!r} in the project.")
        return row

    def check_row(self, row: Any) -> int:
        """A row of a document, or an error that gives the range."""
        if isinstance(row, bool) or not isinstance(row, int | np.integer):
            raise TypeError(f"The place of a document is a whole number, not {row!r}.")
        if not 0 <= row < self.n:
            raise IndexError(
                f"There is no document in row {row}; there are {self.n:,}, counted from 0."
            )
        return int(row)

    def value(self, name: str, row: int) -> Any:
        """The value of a document in a column that came along."""
        value = self.table[name][row].as_py()
        return None if isinstance(value, float) and not np.isfinite(value) else value

    @once
    def titles(self) -> list[str | None] | None:
        """The titles that came with the documents, if any did."""
        return given_titles(self.documents)

    def title_of(self, row: int) -> str | None:
        """The title that came with a document."""
        return None if self.titles is None else self.titles[row]

    def texts(self, rows: Sequence[int]) -> list[str]:
        """Some documents, as they were read."""
        if "index_or_none" in self._values or "index" not in self.missing:
            index = self.index_or_none
            if index is not None:
                return index._fitted().stored.texts.read(rows)
        documents = self.documents
        return [documents[row] for row in rows]

    @once
    def documents(self) -> Any:
        """All documents, block by block."""
        return self.context.documents()

    # --- What the stages found ---

    def arrays(self, stage: str) -> dict[str, np.ndarray]:
        """The arrays of a stage, mapped once."""
        return self._cached(f"arrays of {stage}", lambda: self.context.arrays(stage))

    def facts(self, stage: str) -> dict[str, Any]:
        """The facts of a stage."""
        return self._cached(f"facts of {stage}", lambda: self.context.facts(stage))

    def skipped(self, stage: str) -> str | None:
        """Why a stage found nothing, if so."""
        return self.facts(stage).get("skipped")

    @once
    def counts(self) -> sp.csr_array:
        """The table of counts, documents x words."""
        return self.context.matrix("counts", "counts")

    @once
    def vectorizer(self) -> Any:
        """What counted the words."""
        model = load(self.folder.output("counts") / "vectorizer.model")
        return model.set_params(engine="serial")  # a query is one block

    @once
    def words(self) -> np.ndarray:
        """The words that were counted, in the order of the columns, which is theirs."""
        return np.asarray(self.vectorizer.get_feature_names_out(), object)

    @property
    def place_of_word(self) -> dict[str, int]:
        """The column of every word."""
        return self.vectorizer.vocabulary_

    @once
    def spellings(self) -> tuple[Any, np.ndarray]:
        """Words by spelling, and their columns; of large collections those of two documents."""
        from tacit.language.deletion_index import build_index, strings_of

        spread = self.arrays("counts")["document_counts"]
        columns = np.flatnonzero(spread >= least_spread(self.n))
        return build_index(strings_of(list(self.words[columns]))), columns

    @once
    def character_model(self) -> Any:
        """How the documents are spelled."""
        from tacit.explore.stages.character_model import learn_characters

        return learn_characters(self.documents.texts(), self.n)[0]

    @property
    def n_groups(self) -> int:
        """How many groups there are; 0 where the documents are not divided."""
        return 0 if self.groups is None else int(self.groups.max(initial=-1)) + 1

    @once
    def groups(self) -> np.ndarray | None:
        """The group of every document, -1 for none."""
        return None if self.skipped("groups") else np.asarray(self.arrays("groups")["labels"])

    # --- What is made for questions alone ---

    @once
    def index_or_none(self) -> Any:
        """The index of the texts; None where no document holds a word."""
        return self._model("index", "index")

    @once
    def stream(self) -> TokenStream:
        """The words of all documents, one after the other."""
        if "index" in self.missing:
            return stream_of(self.index_or_none)
        tokens, edges = (self.arrays("index")[name] for name in ("tokens", "edges"))
        if not are_offsets(edges, len(tokens)):
            where = self.folder.output("index")
            raise DataError("is damaged: it holds no words of documents.", file=where)
        return TokenStream(tokens, edges)

    @once
    def language_or_none(self) -> Any:
        """The language model; None where there are no words."""
        return self._model("language", "model")

    def _model(self, stage: str, name: str) -> Any:
        if stage in self.missing:
            return self._build(stage).models.get(name)
        if self.skipped(stage):
            return None
        return load_checked(self.folder.output(stage) / f"{name}.model")

    def _build(self, name: str) -> Output:
        stage = next(each for each in LIVE_STAGES if each.name == name)
        if not self.build:
            raise NotReady(f"{stage.title} is not done yet. Ask again in a moment.")
        return stage.run(self.context._replace(engine=get_engine("threads")))


def load_checked(path: Path) -> Any:
    """A model of a project, which is untrusted, checked before it is used.

    A file past ``MAPPED`` is read and checked, then mapped. One that does not fit into memory
    is mapped as it is, and its numbers are trusted.
    """
    size = path.stat().st_size
    if size > available_memory() / 2:
        return load(path, mmap=True)
    model = load(path)
    return load(path, mmap=True) if size > MAPPED else model


Live = ProjectReader  # its first public name


def whole_numbers(column: Any) -> Any:
    """Numbers that are all whole as such; anything else as it is."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_floating(column.type) or column.null_count == len(column):
        return column
    integral = pc.and_(pc.equal(column, pc.floor(column)), pc.less(pc.abs(column), 2.0**53))
    return column.cast(pa.int64()) if pc.all(integral).as_py() else column


# --- Documents in an answer ---


def document(reader: ProjectReader, row: int) -> dict[str, Any]:
    """One document: its text, what came along, and where it was placed."""
    row = reader.check_row(row)
    (text,) = reader.texts([row])
    shown = clean_text(text[: 2 * MOST_TEXT])
    answer: dict[str, Any] = {
        "row": row,
        "id": shown_id(reader, row),
        "title": title_and_opening(text, reader.title_of(row))[0],
        "text": shown[:MOST_TEXT],
        "cut": len(shown) > MOST_TEXT or len(text) > 2 * MOST_TEXT,
        "columns": {
            clean_line(name): column_value(reader, name, row) for name in reader.columns
        },
        "group": group_of(reader, row),
        "sure": None,
        "words": 0,
    }
    if answer["group"] is not None:
        answer["sure"] = float(reader.arrays("groups")["confidence"][row])
    if not reader.skipped("counts"):
        answer["words"] = int(reader.arrays("counts")["lengths"][row])
    return answer


def shown_hit(
    reader: ProjectReader, row: int, score: float, text: str, snippet: list[list[Any]]
) -> dict[str, Any]:
    """A document in a list of answers."""
    return {
        "row": int(row),
        "id": shown_id(reader, row),
        "title": title_and_opening(text, reader.title_of(row))[0],
        "score": float(score),
        "group": group_of(reader, row),
        "snippet": snippet,
    }


def group_of(reader: ProjectReader, row: int) -> int | None:
    if reader.groups is None or reader.groups[row] < 0:
        return None
    return int(reader.groups[row])


def shown_id(reader: ProjectReader, row: int) -> str:
    """The id of a document in one line of a readable length."""
    return cut(clean_line(reader.id_of(row)), ID)


def column_value(reader: ProjectReader, name: str, row: int) -> Any:
    value = reader.value(name, row)
    return cut(clean_text(value), COLUMN) if isinstance(value, str) else value


def pieces(text: str, marks: Sequence[tuple[int, int]]) -> list[list[Any]]:
    """A text in pieces, each with whether it matches the query.

    >>> pieces("crude oil fell", [(6, 9)])
    [['crude ', False], ['oil', True], [' fell', False]]
    """
    return [[part, marked] for part, marked in Hit(0, 0.0, text, tuple(marks)).parts()]


def check_count(who: str, name: str, value: Any, least: int, most: int) -> int:
    """A whole number within bounds, or an error that names them."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{who}({name}={value!r}) must be a whole number.")
    if not least <= value <= most:
        raise ValueError(f"{who}({name}={value:,}) must be from {least:,} to {most:,}.")
    return value


def check_text(text: Any) -> None:
    """Refuse a query that is not text, too long or empty."""
    if not isinstance(text, str):
        raise TypeError(f"A query is text, but this one is of type {type(text).__name__}.")
    if len(text) > LONGEST:
        raise QueryError(
            f"The query has {len(text):,} characters, and {LONGEST:,} is the most. Shorten it."
        )
    if not text.strip():
        raise QueryError("The query is empty. Give at least one word.")
