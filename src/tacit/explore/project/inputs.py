"""What is to be explored, and the folder of its project."""

import os
from pathlib import Path
from typing import Any

from tacit.core.errors import DataError
from tacit.data.documents import Documents
from tacit.explore.project.folder import RECORD
from tacit.explore.project.settings import EFFORTS

__all__ = ["SUFFIX", "folder_for", "open_documents"]

SUFFIX = ".tacit"


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


def folder_for(path: str | None, out: str | os.PathLike | None) -> Path:
    """The folder of a project: as asked, or named after the input in the current folder.

    >>> str(folder_for("data/letters.csv.gz", None))
    'letters.tacit'
    """
    if out is None:
        name = "documents" if path in (None, "-") else Path(str(path)).resolve().name
        for packed in (".gz", ".zst"):
            name = name.removesuffix(packed)
        stem = name.rsplit(".", 1)[0] if "." in name.strip(".") else name
        return Path((stem or "documents") + SUFFIX)
    target = Path(out)
    if target.is_dir() and any(target.iterdir()) and not (target / RECORD).exists():
        inside = {each.name for each in target.iterdir()}
        if inside - {"lock", "stages"}:
            raise DataError(
                "holds other files and is not a project. Name a new folder.", file=target
            )
    return target
