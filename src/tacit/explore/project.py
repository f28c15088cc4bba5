"""A project in Python: explore documents, look at what was found, ask for the report."""

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Sequence
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

from tacit.core.engines import Engine, Serial
from tacit.core.errors import DataError
from tacit.core.progress import Callback
from tacit.data.documents import Documents
from tacit.explore.pipeline import Told, run_stages
from tacit.explore.project_folder import RECORD, ProjectFolder
from tacit.explore.report.report_page import REPORT, write_report
from tacit.explore.stage import Context, Settings
from tacit.explore.summary import summary_lines, summary_of

__all__ = ["EFFORTS", "Project", "explore_documents", "explored", "folder_for"]

EFFORTS = ("quick", "normal", "thorough")
SUFFIX = ".tacit"


class Project:
    """What was found in a collection of documents, in a folder on disk.

    ``tacit.explore`` makes one, ``Project.open`` opens one that is there.

    Attributes
    ----------
    path : Path
        The folder.
    summary : dict
        Groups with verdicts and words, oddities, and the hash of the result.

    Examples
    --------
    >>> import tacit
    >>> letters = ["the ship and the sea", "a loaf of rye bread", "bread and butter"]
    >>> project = tacit.explore(letters, effort="quick")
    >>> project
    Project of 3 documents
    >>> project.documents["words"].tolist()
    [5, 5, 3]
    >>> project.search("bread").ids
    ['2', '1']
    """

    def __init__(self, folder: ProjectFolder, *, temporary: bool = False) -> None:
        self.path = folder.path
        self._folder = folder
        if temporary:  # the folder lives as long as the project
            weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)

    @classmethod
    def open(cls, path: str | os.PathLike) -> "Project":
        """Open a project that ``tacit.explore`` or the command line made."""
        if not (Path(path) / RECORD).exists():
            raise DataError(
                "is no project: it has no project.json. Make one with tacit explore.",
                file=Path(path),
            )
        folder = ProjectFolder(path)
        folder.check()
        return cls(folder)

    # --- What was found ---

    @cached_property
    def summary(self) -> dict[str, Any]:
        """Groups with verdicts and words, oddities, and the hash of the result."""
        return summary_of(self._folder)

    @property
    def documents(self) -> Any:
        """A pandas DataFrame with a row for every document: its id, group (-1 for none), how
        sure that is, place on the map, number of words, whose copy it is, and the columns
        that came along."""
        return as_frame(self.document_columns(), "Project.documents")

    @property
    def clusters(self) -> Any:
        """A pandas DataFrame with a row for every group: size, verdict, overlap with its like
        in the repeats, and words."""
        rows = self.summary["groups"]
        names = ("group", "size", "share", "verdict", "overlap", "words")
        return as_frame({name: [row[name] for row in rows] for name in names},
                        "Project.clusters").set_index("group")  # fmt: skip

    def document_columns(self) -> dict[str, Any]:
        """The columns of ``documents``, for those who have no pandas."""
        context, documents = self._context, self.texts
        columns: dict[str, Any] = {"id": [str(each) for each in documents.ids]}
        if not context.skipped("groups"):
            found = context.arrays("groups")
            columns |= {"group": found["labels"], "sure": found["confidence"]}
        if not context.skipped("map"):
            points = context.arrays("map")["points"]
            columns |= {"x": points[:, 0], "y": points[:, 1]}
        if not context.skipped("counts"):
            columns["words"] = context.arrays("counts")["lengths"]
        columns["copies"] = context.arrays("duplicates")["labels"]
        for name in documents.columns:
            if name not in columns:
                columns[name] = documents.column(name)
        return columns

    @cached_property
    def texts(self) -> Documents:
        """The documents themselves, as they were read."""
        return self._context.documents()

    def search(self, text: str, *, top: int = 10) -> Any:
        """Find documents by their words: see ``tacit.search.InvertedIndex`` for the query."""
        return self._index.search(text, top=top)

    @cached_property
    def _index(self) -> Any:
        from tacit.search import InvertedIndex

        return InvertedIndex().fit(self.texts)

    @property
    def _context(self) -> Context:
        settings = Settings.of(self._folder.record["settings"])
        return Context(self._folder, settings, Serial(), ())

    # --- Showing it ---

    def report(self, path: str | os.PathLike | None = None) -> Path:
        """Write the report as one HTML file, into the project or to ``path``; where it is."""
        return write_report(self._folder, None if path is None else Path(path))

    def __repr__(self) -> str:
        groups = self.summary["groups"]
        inside = f" in {len(groups)} groups" if groups else ""
        return f"Project of {self.summary['documents']:,} documents{inside}"

    def __str__(self) -> str:
        return "\n".join(summary_lines(self.summary))

    def _repr_html_(self) -> str:
        """A document comes from a stranger: its words are text."""
        rows = "".join(
            f"<tr><td>{group['size']:,}</td><td>{group['verdict']}</td>"
            f"<td><bdi>{escape(' · '.join(group['words'][:6]))}</bdi></td></tr>"
            for group in self.summary["groups"]
        )
        table = f"<table><tr><th>documents</th><th></th><th>words</th></tr>{rows}</table>"
        where = escape(str(self.path / REPORT))
        return f"<p><b>{escape(repr(self))}</b></p>{table if rows else ''}<p>{where}</p>"


def explore_documents(
    documents: Any,
    *,
    out: str | os.PathLike | None = None,
    k: int | None = None,
    effort: str = "normal",
    random_state: int = 0,
    text: str | None = None,
    id: str | None = None,
    engine: str | Engine = "threads",
    tell: Callable[[Told], Any] | None = None,
    callbacks: Sequence[Callback] = (),
) -> Project:
    """Find the structure of documents: groups and how sure they are, a map, copies, words.

    Parameters
    ----------
    documents : path, list of str, dataframe or Documents
    out : path or None
        The project's folder. None is NAME.tacit in the current folder for a path, and a
        temporary folder, which goes when the project goes, for anything else.
    k : int or None
        How many groups; None chooses.
    effort : {"quick", "normal", "thorough"}
    random_state : int
        Same seed, same result, on any number of threads.
    text, id : str or None
        The column with the text, and the one that names the documents.
    engine : {"serial", "threads", "dask"} or Engine
        Where the work runs.
    tell : callable or None
        Is told when a stage begins and ends.
    callbacks : sequence
        Are told of every step inside a stage.

    Returns
    -------
    Project
        Running again on the same folder does only what changed.

    Examples
    --------
    >>> project = explore_documents(["one fish", "two fish", "red bread"], effort="quick")
    >>> project.summary["documents"]
    3
    """
    if effort not in EFFORTS:
        raise ValueError(f"explore(effort={effort!r}) is unknown; choose from {list(EFFORTS)}.")
    if k is not None and k < 1:
        raise ValueError(f"explore(k={k}) must be at least 1, or None to choose.")
    path = os.fspath(documents) if isinstance(documents, str | os.PathLike) else None
    if path is not None:
        opened = Documents.open(path, text=text, id=id)
    else:
        opened = Documents.of(documents, text=text, id=id)
    settings = Settings(seed=random_state, k=k, effort=effort)
    if out is not None or path is not None:
        return explored(folder_for(path, out), opened, settings, engine, tell, callbacks)
    target = Path(tempfile.mkdtemp(prefix="documents-", suffix=SUFFIX))
    try:
        made = explored(target, opened, settings, engine, tell, callbacks)
    except BaseException:
        shutil.rmtree(target, ignore_errors=True)
        raise
    return Project(made._folder, temporary=True)


def explored(
    target: Path,
    documents: Documents,
    settings: Settings,
    engine: str | Engine,
    tell: Callable[[Told], Any] | None = None,
    callbacks: Sequence[Callback] = (),
) -> Project:
    """Bring a project up to date and write its report."""
    folder = ProjectFolder(target)
    with folder.writing():
        run_stages(
            folder,
            documents,
            settings,
            engine=engine,
            tell=tell or (lambda told: None),
            callbacks=callbacks,
        )
        write_report(folder)
    return Project(folder)


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
                "holds other things and is no project. Name a new folder.", file=target
            )
    return target


def as_frame(columns: dict[str, Any], who: str) -> Any:
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(
            f"{who} needs the package pandas. Install it, or use .document_columns() and "
            ".summary."
        ) from error
    return pd.DataFrame(columns)
