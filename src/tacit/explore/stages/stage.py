"""What a stage is: a function from the outputs of others to arrays, facts and models.

A stage reads nothing but its ``Context`` and writes nothing but its ``Output``; where outputs
live, whether they are there already and how they get to the disk is the pipeline's business.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tacit.core.engines import Engine
from tacit.core.progress import Callback
from tacit.core.tensorfile import open_tensors, write_tensors
from tacit.data.documents import Documents
from tacit.explore.project.folder import ProjectFolder
from tacit.explore.project.record import read_json
from tacit.explore.project.settings import Settings

__all__ = [
    "Context", "Output", "Stage", "read_arrays", "write_output",
]  # fmt: skip

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

    def arrays(self, stage: str) -> dict[str, np.ndarray]:
        """The arrays that another stage wrote, mapped from the disk."""
        return read_arrays(self.folder.output(stage) / ARRAYS)

    def facts(self, stage: str) -> dict[str, Any]:
        """The facts that another stage wrote; why there are none if it was left out."""
        if stage not in self.folder.record["stages"]:
            why = self.folder.record.get("left_out")
            why = why.get(stage) if isinstance(why, dict) else None
            said = why[:300] if isinstance(why, str) else "The project has it not yet."
            return {"skipped": said, "left_out": True}
        return read_json(self.folder.output(stage) / FACTS)

    def skipped(self, stage: str) -> str | None:
        """Why another stage had nothing to find, if so."""
        return self.facts(stage).get("skipped")

    def matrix(self, stage: str, name: str) -> sp.csr_array:
        """A CSR matrix that another stage wrote."""
        arrays, shape = self.arrays(stage), tuple(self.facts(stage)[f"{name}.shape"])
        parts = (arrays[f"{name}.data"], arrays[f"{name}.indices"], arrays[f"{name}.indptr"])
        return sp.csr_array(parts, shape=shape, copy=False)

    def words(self) -> np.ndarray:
        """The words that were counted, in the order of the columns."""
        from tacit.core.modelfile import load

        vectorizer = load(self.folder.output("counts") / "vectorizer.model")
        return np.asarray(vectorizer.get_feature_names_out(), object)

    def documents(self) -> Documents:
        """The documents as they were read, block by block."""
        path = self.folder.output("ingest") / DOCUMENTS
        return Documents.open(path, text="text", id="id")


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
    """Write everything a stage found into its folder."""
    facts = output.facts if output.skipped is None else {"skipped": output.skipped}
    text = json.dumps(facts, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False)
    (folder / FACTS).write_bytes(text.encode("utf-8", "replace") + b"\n")
    if output.arrays:
        write_tensors(folder / ARRAYS, {"format": 1, "kind": "stage"}, output.arrays)
    for name, model in output.models.items():
        model.set_params(engine="threads")  # where it ran is no part of what was found
        model.save(folder / f"{name}.model")


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """Arrays of a stage as read-only views of its file."""
    with open_tensors(path, kind="stage") as file:
        return file.map()
