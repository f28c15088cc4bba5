"""What a stage is: a function from the outputs of others to arrays, facts and models.

A stage reads nothing but its ``Context`` and writes nothing but its ``Output``; where outputs
live, whether they are there already and how they get to the disk is the pipeline's business.
A project is untrusted: what the arrays of each stage hold is declared here as in model files
(``core.modelfile``), and checked when they are read.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tacit.core.engines import Engine, Serial
from tacit.core.errors import DataError
from tacit.core.modelfile import Saved, check_schema, load
from tacit.core.pack import all_finite
from tacit.core.progress import Callback
from tacit.core.string_array import are_offsets
from tacit.core.tensorfile import open_tensors, write_tensors
from tacit.data.documents import Documents
from tacit.explore.project.folder import ProjectFolder, read_json
from tacit.explore.project.group_edits import EDITED, read_names, with_given_names
from tacit.explore.project.settings import Settings

__all__ = ["Context", "Output", "Stage", "read_arrays", "write_output"]

READ = 2**24  # bytes; larger arrays are mapped
ARRAYS, FACTS, DOCUMENTS = "arrays.safetensors", "facts.json", "documents.parquet"


@dataclass
class Output:
    """What a stage found."""

    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    models: dict[str, Any] = field(default_factory=dict)  # with ``save``
    skipped: str | None = None  # why there is nothing to find

    def add_matrix(self, name: str, matrix: sp.csr_array) -> None:
        """Keep a CSR matrix as its three arrays."""
        self.arrays[f"{name}.data"] = matrix.data
        self.arrays[f"{name}.indices"] = matrix.indices
        self.arrays[f"{name}.indptr"] = matrix.indptr
        self.facts[f"{name}.shape"] = list(matrix.shape)


class Context(NamedTuple):
    """What a stage may read."""

    folder: ProjectFolder
    settings: Settings
    engine: Engine
    callbacks: Sequence[Callback]

    @classmethod
    def of(cls, folder: ProjectFolder) -> "Context":
        """To read the outputs of a project, with the settings on record."""
        return cls(folder, Settings.of(folder.record["settings"]), Serial(), ())

    def arrays(self, stage: str) -> dict[str, np.ndarray]:
        """The arrays that another stage wrote: large ones mapped, all of them checked. Those of
        groups follow the edits of a user."""
        return self.found_arrays(stage, self._edited(stage))

    def found_arrays(self, stage: str, place: str | None = None) -> dict[str, np.ndarray]:
        """The arrays that a stage wrote, before any edit."""
        home = self.folder.output(place or stage)
        found = read_arrays(home / ARRAYS)
        check_arrays(stage, found, self.facts("ingest")["documents"], home)
        return found

    def facts(self, stage: str) -> dict[str, Any]:
        """The facts that another stage wrote; why there are none if it was left out. Those of
        groups follow the edits of a user."""
        found = self.found(stage, self._edited(stage))
        return self._renamed(found) if stage == "groups" and found.get("groups") else found

    def _edited(self, stage: str) -> str:
        return EDITED if stage == "groups" and EDITED in self.folder.record["stages"] else stage

    def found(self, stage: str, place: str | None = None) -> dict[str, Any]:
        """The facts that a stage wrote, before any edit."""
        if stage not in self.folder.record["stages"]:
            why = self.folder.record.get("left_out")
            why = why.get(stage) if isinstance(why, dict) else None
            said = why[:300] if isinstance(why, str) else "The project does not have it yet."
            return {"skipped": said, "left_out": True}
        return read_json(self.folder.output(place or stage) / FACTS)

    def _renamed(self, found: dict[str, Any]) -> dict[str, Any]:
        """The facts of groups with the names that a user gave to them."""
        given = read_names(self.folder.path)
        if not given:
            return found
        arrays = self.arrays("groups")
        ids = self.documents().ids
        return with_given_names(found, given, ids, arrays["labels"], arrays.get("leaf"))

    def skipped(self, stage: str) -> str | None:
        """Why another stage had nothing to find, if so."""
        return self.facts(stage).get("skipped")

    def matrix(self, stage: str, name: str) -> sp.csr_array:
        """A CSR matrix that another stage wrote, a row for every document."""
        arrays, shape = self.arrays(stage), tuple(self.facts(stage)[f"{name}.shape"])
        data, indices, indptr = (arrays[f"{name}.{x}"] for x in ("data", "indices", "indptr"))
        # SciPy checks none of this before its C++ code runs, and the file is untrusted.
        if not (
            len(shape) == 2 and shape[0] == len(indptr) - 1 and type(shape[1]) is int
            and are_offsets(indptr, len(indices))
            and (not len(indices) or 0 <= indices.min() <= indices.max() < shape[1])
        ):  # fmt: skip
            raise DataError(
                f"is damaged: it holds no table of {name}.", file=self.folder.output(stage)
            )
        found = sp.csr_array(shape, dtype=data.dtype)
        # Set one by one they stay mapped; the constructor copies what is read-only.
        found.data, found.indices, found.indptr = data, indices, indptr
        return found

    def words(self) -> np.ndarray:
        """The words that were counted, in the order of the columns."""
        path = self.folder.output("counts") / "vectorizer.model"
        state = path.stat()
        return counted_words(path, state.st_mtime_ns, state.st_size)

    def documents(self) -> Documents:
        """The documents as they were read, block by block."""
        path = self.folder.output("ingest") / DOCUMENTS
        state = path.stat()
        return kept_documents(path, state.st_mtime_ns, state.st_size)


class Stage(NamedTuple):
    """One step of the way."""

    name: str
    version: int  # raised when the same input gives another output
    title: str  # what is being done, for people
    needs: tuple[str, ...]
    settings: tuple[str, ...]  # those that change the output
    run: Callable[[Context], Output]
    live: bool = False  # only for questions asked of a project: no part of its result


def write_output(folder: Path, output: Output) -> None:
    """Write the output of a stage into its folder."""
    facts = output.facts if output.skipped is None else {"skipped": output.skipped}
    text = json.dumps(facts, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False)
    (folder / FACTS).write_bytes(text.encode("utf-8", "replace") + b"\n")
    if output.arrays:
        write_tensors(folder / ARRAYS, {"format": 1, "kind": "stage"}, output.arrays)
    for name, model in output.models.items():
        model.set_params(engine="threads")  # where it ran is not part of the result
        model.save(folder / f"{name}.model")


@lru_cache(maxsize=1)  # most stages and sections of the report ask for them
def counted_words(path: Path, changed: int, size: int) -> np.ndarray:
    words = np.asarray(load(path).get_feature_names_out(), object)
    words.setflags(write=False)
    return words


@lru_cache(maxsize=1)  # every opening reads all ids and columns
def kept_documents(path: Path, changed: int, size: int) -> Documents:
    return Documents.open(path, text="text", id="id")


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """Arrays of a stage, read-only; large ones as views of the file."""
    with open_tensors(path, kind="stage") as file:
        return file.map(small=READ)


# --- What the arrays of each stage hold ---

N = "n_documents"


class Array(NamedTuple):
    """An array that a stage writes, as ``core.modelfile`` declares those of models."""

    kinds: str  # NumPy kinds that are allowed
    shape: tuple[str | int | None, ...]
    below: str | int | None = None  # of indices
    missing: bool = False  # -1 is an index that is missing
    optional: bool = False
    nonfinite: bool = False  # nan and inf have a meaning


ROW = (N,)
STAGE_ARRAYS: dict[str, dict[str, Array]] = {
    "counts": {
        "document_counts": Array("i", ("n_words",)),
        "totals": Array("i", ("n_words",)),
        "lengths": Array("i", ROW),
        "counts.data": Array("iuf", ("n_counts",)),
        "counts.indices": Array("i", ("n_counts",), below="n_words"),
        "counts.indptr": Array("i", (f"{N}+1",)),
    },
    "duplicates": {
        "jaccard": Array("f", ("n_pairs",)),
        "labels": Array("i", ROW, below=N, missing=True),
        "pairs": Array("i", ("n_pairs", 2), below=N),
    },
    "groups": {  # one group has no centers
        "centers": Array("f", ("n_groups", None), optional=True),
        "jaccard": Array("f", ("n_groups", None), optional=True, nonfinite=True),
        "confidence": Array("f", ROW),
        "labels": Array("i", ROW, below=N, missing=True),
        "second": Array("i", ROW, below=N, missing=True, optional=True),
        "leaf": Array("i", ROW, below=2**31, missing=True, optional=True),
    },
    "index": {
        "tokens": Array("i", (None,), below=2**31, missing=True),
        "edges": Array("i", (f"{N}+1",)),
    },
    "language_guess": {"language": Array("u", ROW)},
    "map": {
        "neighbors": Array("i", (N, "n_neighbors"), below=N, missing=True),
        "squares": Array("f", (N, "n_neighbors")),
        "points": Array("f", (N, 2)),
    },
    "meaning": {
        "rows": Array("f", (N, "n_directions")),
        "lengths": Array("f", ROW, optional=True),
        "blank": Array("b", ROW),
        "singular_values": Array("f", ("n_directions",)),
        "used": Array("i", ("n_used",), below=2**31),
        "word_lengths": Array("f", ("n_used",)),
        "words": Array("f", ("n_used", "n_directions")),
        "idf_power": Array("i", (1,), below=100, optional=True),
    },
    "outliers": {
        "score": Array("f", ROW, nonfinite=True),
        "why": Array("u", ROW, optional=True),
    },
    "reading": {  # of documents that are too short, nan
        "sentences": Array("i", ROW, nonfinite=True),
        **dict.fromkeys(
            ("words", "sentence_words", "word_letters", "variety", "once", "ease"),
            Array("f", ROW, nonfinite=True),
        ),
    },
    "themes": {"theta": Array("f", (N, None), nonfinite=True)},
    "time": {
        "period": Array("i", ROW, below=2**15, missing=True),
        "day": Array("i", ROW),
    },
    "what_if": {"labels": Array("iu", (None, N), below=N, missing=True)},
    "words": {
        "words": Array("i", ("n_words",), below=2**31),
        "cosine": Array("f", ("n_words", "n_near")),
        "neighbors": Array("i", ("n_words", "n_near"), below=2**31, missing=True),
    },
}


def schema_of(stage: str) -> type[Saved]:
    """The arrays of a stage, declared as the attributes of a model."""
    arrays = STAGE_ARRAYS.get(stage, {})

    def named(flag: str) -> tuple[str, ...]:
        return tuple(name for name, array in arrays.items() if getattr(array, flag))

    return type(stage, (Saved,), {
        "_file_schema": {name: array.shape for name, array in arrays.items()},
        "_file_kinds": {name: array.kinds for name, array in arrays.items()},
        "_file_below": {name: arrays[name].below for name in named("below")},
        "_file_missing": named("missing"),
        "_file_optional": named("optional"),
        "_file_nonfinite": named("nonfinite"),
    })  # fmt: skip


def check_arrays(
    stage: str, arrays: Mapping[str, np.ndarray], documents: Any, where: Path
) -> None:
    """DataError where the arrays of a stage are not what the stage writes."""
    declared = schema_of(stage)
    try:
        if type(documents) is not int:
            raise TypeError("the number of documents is not a whole number.")
        check_schema(declared, {N: documents}, arrays)
        for name, array in arrays.items():
            several = name.startswith("members")  # of a matrix, which is checked when opened
            if stage == "fields" and not several and array.shape != (documents,):
                raise ValueError(f"{name} does not have one value for every document.")
            loose = stage not in STAGE_ARRAYS or name in declared._file_nonfinite
            if not loose and not all_finite(array):
                raise ValueError(f"{name} holds nan or inf.")
    except (TypeError, ValueError) as error:
        what = str(error).partition(". ")[0].rstrip(".")
        raise DataError(f"is damaged: {what}. Run tacit explore again.", file=where) from None
