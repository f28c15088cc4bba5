"""A project in Python: explore documents, read the results, ask questions, write the report."""

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.core.engines import Engine
from tacit.core.errors import DataError
from tacit.core.notebook import html_notes, html_table
from tacit.core.progress import Callback
from tacit.core.wording import count
from tacit.data.documents import Documents
from tacit.explore import ask
from tacit.explore.project.folder import RECORD, SUFFIX, ProjectFolder, folder_for, sensible
from tacit.explore.project.group_edits import add_edit, give_name, undo_edit
from tacit.explore.project.labels import change_labels, clean_name, keys_of_rows, label_rows
from tacit.explore.project.pipeline import OnEvent, keys_of, run_stages
from tacit.explore.project.plan import make_plan, open_documents
from tacit.explore.project.settings import EFFORTS, Choice, Settings, as_topics
from tacit.explore.project.summary import summary_lines, summary_of
from tacit.explore.report.map_view import MapView, make_map
from tacit.explore.report.page import REPORT, write_report
from tacit.explore.stages.ingest import read_through
from tacit.explore.stages.stage import Context
from tacit.explore.stages.themes import theme_words

if TYPE_CHECKING:
    import pandas as pd

    from tacit.search import Hits

__all__ = ["EFFORTS", "Project", "explore_documents", "explored", "folder_for"]

SHOWN = 20  # groups in the view of a notebook


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

    def __init__(self, folder: ProjectFolder, *, temporary: Path | None = None) -> None:
        self.path = folder.path
        self._folder = folder
        self._sense: Callable[[], Any] = nullcontext
        if temporary is not None:  # this folder lives as long as the project
            weakref.finalize(self, shutil.rmtree, temporary, ignore_errors=True)

    @classmethod
    def open(cls, path: str | os.PathLike) -> "Project":
        """Open a project that ``tacit.explore`` or the command line made."""
        if not (Path(path) / RECORD).exists():
            raise DataError(
                "is not a project: it has no project.json. Make one with tacit explore.",
                file=Path(path),
            )
        folder = ProjectFolder(path)
        folder.check()
        project = cls(folder)
        project._sense = lambda: sensible(folder.path)  # it is untrusted
        with project._sense():
            _ = str(project), repr(project), project._repr_html_()
        return project

    # --- What was found ---

    @cached_property
    def summary(self) -> dict[str, Any]:
        """Groups with verdicts and words, oddities, and the hash of the result."""
        return summary_of(self._folder)

    @property
    def documents(self) -> "pd.DataFrame":
        """A pandas DataFrame with a row for every document: its id, group (-1 for none), how
        sure that is, place on the map, number of words, unfamiliarity (above 1: unlike all
        others), whose copy it is, its guessed language,
        and the columns that came along."""
        import pandas as pd

        return pd.DataFrame(self.document_columns())

    @property
    def clusters(self) -> "pd.DataFrame":
        """A pandas DataFrame with a row for every group: its name, size, verdict, overlap with
        the most similar group of the repeats, the title of its most typical document, words,
        and its node and its parent in ``group_tree`` (-1 for the whole collection)."""
        import pandas as pd

        summary = self.summary
        rows = summary["groups"]
        names = ("group", "name", "size", "share", "verdict", "overlap", "title", "words")
        columns = {name: [row[name] for row in rows] for name in names}
        at = {node["group"]: node for node in summary["nodes"] if node["group"] is not None}
        for name in ("node", "parent"):
            columns[name] = [at[row["group"]][name] for row in rows]
        return pd.DataFrame(columns).set_index("group")

    @property
    def group_tree(self) -> "pd.DataFrame":
        """A pandas DataFrame with a row for every group of every level: its parent (-1 for the
        whole collection), depth, name, size, verdict, overlap, words, and its number among
        ``clusters`` if it is of the level shown there. The column ``leaf`` of ``documents``
        holds the smallest of these groups that each document is in."""
        import pandas as pd

        rows = self.summary["nodes"]
        names = ("node", "parent", "depth", "name", "size", "verdict", "overlap", "words")
        columns = {name: [row[name] for row in rows] for name in names}
        columns["name"] = [" · ".join(name) for name in columns["name"]]
        columns["group"] = pd.array([row["group"] for row in rows], "Int64")
        return pd.DataFrame(columns).set_index("node")

    @property
    def topics(self) -> "pd.DataFrame":
        """A pandas DataFrame with a row for every theme, the largest first: its fraction of the
        text, how far another run finds it again, and its words. ``mixtures`` says how much of
        each theme every document has."""
        import pandas as pd

        themes = self._context.facts("themes").get("themes", [])
        rows = {
            "theme": list(range(len(themes))),
            "size": [theme["size"] for theme in themes],
            "verdict": [theme["verdict"] for theme in themes],
            "overlap": [theme["stability"] for theme in themes],
            "coherence": [theme["coherence"] for theme in themes],
            "words": [theme_words(theme) for theme in themes],
        }
        return pd.DataFrame(rows).set_index("theme")

    @property
    def mixtures(self) -> np.ndarray:
        """(documents, themes) How much of each theme every document has; rows add up to 1, or
        to 0 for documents without a word of any theme."""
        if self._context.skipped("themes"):
            return np.zeros((len(self.texts), 0), np.float32)
        return np.array(self._context.arrays("themes")["theta"])

    def document_columns(self) -> dict[str, Any]:
        """The columns of ``documents`` as a dict of arrays and lists."""
        with self._sense():
            context, documents = self._context, self.texts
            columns: dict[str, Any] = {"id": [str(each) for each in documents.ids]}
            if not context.skipped("groups"):
                arrays = context.arrays("groups")
                columns |= {"group": arrays["labels"], "sure": arrays["confidence"]}
                columns["leaf"] = arrays["leaf"]
            if not context.skipped("map"):
                points = context.arrays("map")["points"]
                columns |= {"x": points[:, 0], "y": points[:, 1]}
            if not context.skipped("counts"):
                columns["words"] = context.arrays("counts")["lengths"]
            if not context.skipped("outliers"):
                columns["unfamiliarity"] = context.arrays("outliers")["score"]
            if not context.skipped("themes"):
                theta = context.arrays("themes")["theta"]
                columns["theme"] = np.where(theta.any(axis=1), theta.argmax(axis=1), -1)
            if not context.skipped("duplicates"):
                columns["copies"] = context.arrays("duplicates")["labels"]
            if not context.skipped("language_guess"):
                codes = np.array([*context.facts("language_guess")["codes"], "unknown"], object)
                guess = context.arrays("language_guess")["language"].astype(np.int64)
                columns["language_guess"] = codes[np.minimum(guess, len(codes) - 1)]
            for name in documents.columns:
                if name not in columns:
                    columns[name] = documents.column(name)
            return columns

    @cached_property
    def texts(self) -> Documents:
        """The documents themselves, as they were read."""
        return self._context.documents()

    # --- Questions ---

    def search(self, text: str, *, top: int | None = 10, way: str = "boolean") -> "Hits":
        """Find documents: all that match a query ("boolean", see
        ``tacit.search.InvertedIndex``), the best by words ("ranked"), or the nearest in
        meaning ("meaning")."""
        from tacit.explore.questions.text_search import search_hits

        return search_hits(self.live, text, top, way)

    def similar(self, document: int | str, *, top: int = 10) -> "Hits":
        """The documents most like one, given by its row or its id."""
        from tacit.explore.questions.text_search import similar_hits

        return similar_hits(self.live, document, top)

    def concordance(
        self, text: str, *, sort: str = "document", width: int = 40, top: int = 100
    ) -> Any:
        """Every place of a word, a phrase or a wild* card, in context, sorted by document or
        by what stands "left" or "right" of it."""
        from tacit.explore.questions.contexts import context_lines

        return context_lines(self.live, text, sort, width, top)

    def compare(self, a: Any, b: Any = None, *, labels: Any = None) -> dict[str, Any]:
        """The words that set two selections of documents apart.

        A selection is a query, the number of a group, a list of rows, or {"label": name} of
        ``labels`` by row; without the second, all other documents.
        """
        from tacit.explore.questions.comparison import as_selection, compare

        return compare(self.live, as_selection(a), as_selection(b), labels=labels)

    def neighbors(self, word: str, *, top: int = 20) -> dict[str, Any]:
        """The words used like one, and the documents that hold it, by group."""
        return ask.neighbors(self.live, word, top=top)

    def generate(
        self, prefix: str = "", *, words: int = 60, temperature: float = 1.0, seed: int = 0
    ) -> str:
        """Text drawn from the language of the documents; same seed, same text."""
        drawn = ask.generate(self.live, prefix, words=words, temperature=temperature, seed=seed)
        return drawn["text"]

    def place(self, texts: Sequence[str]) -> list[dict[str, Any]]:
        """Where new texts belong among the documents: their group (-1 for none), how unfamiliar
        each is (above 1: unlike all documents, and why), and its nearest documents."""
        return ask.place_texts(self.live, texts)

    def spread(self, labels: Any, *, random_state: int = 0) -> dict[str, Any]:
        """Labels of some documents, by row or id, spread to the others by a classifier, with
        how sure it is, how often it is right, which have none of these labels, and what to
        label next."""
        by_row = {self.live.row_of(document): name for document, name in labels.items()}
        return ask.spread(self.live, by_row, seed=random_state)

    def export(
        self, name: str, path: str | os.PathLike, *, labels: Any = None, spread: Any = None
    ) -> Path:
        """Write one of ``tacit.explore.ask.EXPORTS``: documents.csv, atlas.parquet, tree.nwk
        and others; where it is."""
        by_row = {self.live.row_of(document): name for document, name in (labels or {}).items()}
        ask.export(self.live, name, path, by_row, spread=spread)
        return Path(path)

    def merge_groups(self, groups: Sequence[int]) -> int:
        """Make one group of two or more; its number. Like a split and a pin, a merge is kept,
        and applied again to the groups that later runs find.

        >>> import tacit
        >>> from itertools import combinations
        >>> subjects = ["ship sea sail gull crew", "rye bread oven flour salt",
        ...             "star sky night moon comet"]
        >>> texts = [" ".join(some) for words in subjects for size in (2, 3)
        ...          for some in combinations(words.split(), size)]
        >>> project = tacit.explore(texts, k=3, effort="quick")
        >>> project.merge_groups([0, 2])
        0
        >>> project.clusters["size"].tolist()
        [40, 20]
        >>> project.undo_group_edit()
        True
        """
        if len(set(groups)) < 2:
            raise ValueError(f"merge_groups({list(groups)}) needs two groups or more.")
        return self._edit_groups("merge", groups)[0]

    def split_group(self, group: int) -> list[int]:
        """Divide a group into the groups inside it, or in two where the tree of groups has
        none inside it; their numbers."""
        return self._edit_groups("split", [group])

    def pin_group(self, group: int) -> int:
        """Keep the documents of a group together in all later runs, under its name; its
        number."""
        return self._edit_groups("pin", [group])[0]

    def undo_group_edit(self) -> bool:
        """Take the last merge, split or pin back; False if there is none."""
        with self._folder.writing():
            undone = undo_edit(self._folder, self._context)
            self._groups_changed()
        return undone

    @property
    def group_edits(self) -> list[dict[str, Any]]:
        """The merges, splits and pins in their order, with the names of their groups, and
        whether each applies to the groups of the last run (if not, why)."""
        return list(self._context.facts("groups").get("edits", []))

    def _edit_groups(self, kind: str, groups: Sequence[int]) -> list[int]:
        """Edit groups, given by number; the numbers of what they became."""
        numbers = [self._check_group(group) for group in groups]
        before = np.isin(self.live.groups, numbers)
        with self._folder.writing():
            add_edit(self._folder, self._context, kind, numbers)
            self._groups_changed()
        now = np.asarray(self._context.arrays("groups")["labels"])
        return [int(each) for each in np.unique(now[before])]

    def _check_group(self, group: Any) -> int:
        there = self.live.n_groups
        if isinstance(group, bool) or not isinstance(group, int | np.integer):
            raise TypeError(f"A group is given by its number, not by {group!r}.")
        if not 0 <= group < there:
            raise IndexError(f"There is no group {group}; there are {there}, counted from 0.")
        return int(group)

    def _groups_changed(self) -> None:
        """Forget what was read of the groups, and write the report again."""
        for cached in ("summary", "live"):
            vars(self).pop(cached, None)
        if (self.path / REPORT).exists():
            write_report(self._folder)

    def rename_group(self, group: int, name: str | None) -> None:
        """Give a group a name of your own, which it keeps in later runs; None takes it back.

        >>> import tacit
        >>> from itertools import combinations
        >>> subjects = ["ship sea sail gull crew", "rye bread oven flour salt"]
        >>> texts = [" ".join(some) for words in subjects for size in (2, 3)
        ...          for some in combinations(words.split(), size)]
        >>> project = tacit.explore(texts, k=2, effort="quick")
        >>> project.rename_group(0, "Seafaring")
        >>> project.clusters["name"][0]
        'Seafaring'
        """
        name = None if name is None else clean_name(name)
        rows = np.flatnonzero(self.live.groups == self._check_group(group))
        give_name(self.path, name, [self.live.id_of(int(row)) for row in rows])
        self._groups_changed()

    # --- Labels ---

    @property
    def labels(self) -> dict[int, str]:
        """The labels that are kept in the project, by row, as ``spread``, ``compare`` and
        ``export`` take them: given here or in the page of ``tacit serve``."""
        return label_rows(self.path, self.live)

    def give_label(self, documents: Iterable[int | str], name: str | None) -> None:
        """Label documents, by row or id; None takes their labels away."""
        name = None if name is None else clean_name(name)
        rows = sorted({self.live.row_of(document) for document in documents})
        with change_labels(self.path) as labels:
            labels.put(keys_of_rows(self.live, rows), name)

    def rename_label(self, name: str, to: str, *, merge: bool = False) -> int:
        """Give all documents of a label another one; how many changed. If there is a label of
        that name, ``merge=True`` makes the two one."""
        to = clean_name(to, "to")
        with change_labels(self.path) as labels:
            return labels.rename(name, to, merge=merge)

    def delete_label(self, name: str) -> int:
        """Take a label from all documents; how many changed."""
        with change_labels(self.path) as labels:
            return labels.remove(name)

    def undo_labels(self) -> bool:
        """Take the last change of labels back; False if there is none."""
        with change_labels(self.path) as labels:
            return labels.undo()

    @cached_property
    def live(self) -> Any:
        """The project as ``tacit.explore.questions`` wants it."""
        return ask.ProjectReader(self._folder, build=True)

    @property
    def _context(self) -> Context:
        return Context.of(self._folder)

    # --- Showing it ---

    def report(
        self, path: str | os.PathLike | None = None, *, redact: bool = False
    ) -> Path:
        """Write the report as one HTML file, into the project or to ``path``; where it is.

        ``redact`` leaves out the texts: titles, openings and ids of documents, the search
        index, and words that fewer than five documents share. In the project that report is
        ``report_redacted.html``.
        """
        with self._sense():
            where = None if path is None else Path(path)
            return write_report(self._folder, where, redact=redact)

    def __repr__(self) -> str:
        groups = self.summary["groups"]
        inside = f" in {len(groups)} groups" if groups else ""
        return f"Project of {count(self.summary['documents'], 'document')}{inside}"

    def __str__(self) -> str:
        return "\n".join(summary_lines(self.summary))

    def map(self, *, width: int = 900, height: int = 520) -> MapView:
        """The map of the documents as a picture, which a notebook shows inline: dots in the
        color of their group, ids under the pointer, names of the largest groups.

        >>> import tacit
        >>> texts = ["the ship and the sea", "a loaf of rye bread", "bread and butter"] * 4
        >>> tacit.explore(texts, effort="quick").map()
        Map of 12 documents
        """
        with self._sense():
            context = self._context
            if why := context.skipped("map"):
                raise ValueError(f"There is no map. {why}")
            points = np.asarray(context.arrays("map")["points"], np.float64)
            labels = None
            if not context.skipped("groups"):
                labels = np.asarray(context.arrays("groups")["labels"])
            names = {int(g["group"]): str(g["name"]) for g in self.summary["groups"]}
            ids = [str(each) for each in self.texts.ids]
            return make_map(points, labels, names, ids, width=width, height=height)

    def _repr_html_(self) -> str:
        """The groups as a table, with a link to the report. Documents are
        untrusted: their words are text."""
        groups = self.summary["groups"]
        table = html_table(
            ["Documents", "Share", "Verdict", "Group"],
            [
                [f"{g['size']:,}", f"{g['share']:.0%}", g["verdict"], g["name"]]
                for g in groups[:SHOWN]
            ],
            right=(0, 1),
        )
        if len(groups) > SHOWN:
            more = count(len(groups) - SHOWN, "smaller group")
            table += html_notes([f"And {more}; project.clusters has all."])
        report = (self.path / REPORT).absolute()
        link = f'<a href="{escape(report.as_uri())}" target="_blank">Open the report</a>'
        where = f"<p>{link} <small>{escape(str(report))}</small></p>"
        return f"<p><b>{escape(repr(self))}</b></p>{table if groups else ''}{where}"


def explore_documents(
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
    on_event: OnEvent | None = None,
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
    topics : int, "auto", "none" or None
        How many themes; None or "auto" chooses, "none" leaves them out.
    text, id : str or None
        The column with the text, and the one that names the documents.
    clean : bool
        Whether to decode HTML entities and quoted-printable text, to set aside tags, e-mail
        headers, signatures and passages that many documents repeat, and to read a column of
        titles as text. What was done is in the report.
    stages : iterable of str or None
        Only these and what they need, of "duplicates", "counts", "meaning", "map", "groups",
        "what_if", "words", "language_guess", "outliers", "themes", "reading", "fields" and
        "time".
    memory : int, str or None
        A limit in bytes, or as "4GB": stages run with less effort, or are left out.
        ``tacit.explore.plan_documents`` estimates the cost.
    engine : {"serial", "threads", "dask"} or Engine
        Where the work runs.
    on_event : callable or None
        Called with a ``StageEvent`` when a stage begins and ends.
    callbacks : sequence
        Called at every step inside a stage.

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
    opened, path = open_documents(documents, k, effort, text, id)
    settings = Settings(random_state, k, effort, clean, as_topics(topics))

    def at(target: Path) -> Project:
        choice = None
        if stages is not None or memory is not None:
            folder = ProjectFolder(target)
            choice = make_plan(folder, opened, settings, stages=stages, memory=memory).choice
        return explored(
            target, opened, settings, engine, on_event, callbacks, choice=choice, source=path
        )

    if out is not None or path is not None:
        return at(folder_for(path, out))
    home = Path(tempfile.mkdtemp(prefix="tacit-"))
    try:
        project = at(home / f"Documents{SUFFIX}")  # the title of the report
    except BaseException:
        shutil.rmtree(home, ignore_errors=True)
        raise
    return Project(project._folder, temporary=home)


def explored(
    target: Path,
    documents: Documents,
    settings: Settings,
    engine: str | Engine,
    on_event: OnEvent | None = None,
    callbacks: Sequence[Callback] = (),
    *,
    choice: Choice | None = None,
    source: str | None = None,
) -> Project:
    """Bring a project up to date and write its report. ``source`` is the path of the documents,
    which the project remembers: another one is refused."""
    folder = ProjectFolder(target)
    reused = bool(folder.record["stages"])
    with folder.writing():
        if source is not None:
            choice = choice or Choice()
            if choice.source is None:
                read = read_through(documents)
                choice = replace(choice, source=read.digest, text_bytes=read.bytes)
            folder.check_origin(source, keys_of(settings, str(choice.source))["ingest"])
            folder.record["origin"] = folder.origin_of(source)  # the next commit writes it
        run_stages(folder, documents, settings, engine=engine, on_event=on_event,
                   callbacks=callbacks, choice=choice)  # fmt: skip
        # What is reused is untrusted.
        with sensible(folder.path) if reused else nullcontext():
            write_report(folder)
    return Project(folder)
