"""Answers as Python objects that print themselves, for ``Project``."""

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from tacit.explore.questions.contexts import concordance
from tacit.explore.questions.documents import check_text
from tacit.explore.questions.reader import ProjectReader
from tacit.explore.questions.text_search import MOST, WAYS, search, similar
from tacit.search import Hit, Hits

__all__ = ["ContextLines", "as_selection", "context_lines", "search_hits", "similar_hits"]


class ContextLines(list[dict[str, Any]]):
    """Lines of a concordance: dicts with row, id, left, key and right.

    >>> print(ContextLines([{"id": "7", "left": "a ", "key": "ship", "right": " at sea"}]))
    a [ship] at sea    7
    1 of 1 places in 1 document
    """

    def __init__(
        self, lines: Iterable[dict] = (), *, total: int | None = None, documents: int = 1
    ) -> None:
        super().__init__(lines)
        self.total = len(self) if total is None else total
        self.documents = documents

    def __str__(self) -> str:
        before = max((len(line["left"]) for line in self), default=0)
        after = max((len(line["right"]) + len(line["key"]) for line in self), default=0)
        rows = []
        for line in self:
            middle = f"[{line['key']}]{line['right']}"
            rows.append(f"{line['left']:>{before}}{middle:<{after + 2}}    {line['id']}")
        s = "" if self.documents == 1 else "s"
        return "\n".join(
            [*rows, f"{len(self):,} of {self.total:,} places in {self.documents:,} document{s}"]
        )

    def _repr_html_(self) -> str:
        """A document comes from a stranger: its words are text."""
        rows = "".join(
            f"<tr><td style='text-align:right'><bdi>{escape(line['left'])}</bdi></td>"
            f"<td><b><bdi>{escape(line['key'])}</bdi></b></td>"
            f"<td style='text-align:left'><bdi>{escape(line['right'])}</bdi></td>"
            f"<td>{escape(str(line['id']))}</td></tr>"
            for line in self
        )
        return f"<table>{rows}</table>"

    def __reduce__(self):
        return rebuild, (list(self), self.total, self.documents)


def rebuild(lines: list[dict], total: int, documents: int) -> ContextLines:
    return ContextLines(lines, total=total, documents=documents)


def context_lines(
    reader: ProjectReader, text: str, sort: str, width: int, top: int
) -> ContextLines:
    """A concordance that prints itself."""
    found = concordance(reader, text, sort=sort, width=width, top=top)
    return ContextLines(found["lines"], total=found["total"], documents=found["documents"])


def search_hits(reader: ProjectReader, text: str, top: int | None, way: str) -> Hits:
    """What a search finds, as ``InvertedIndex.search`` gives it."""
    if way not in WAYS:
        raise ValueError(f"search(way={way!r}) is unknown; choose from {list(WAYS)}.")
    if way == "meaning":
        return as_hits(reader, search(reader, text, way=way, top=MOST if top is None else top))
    index = reader.index_or_none
    if index is None:
        check_text(text)
        return Hits([], notes=[reader.skipped("counts") or "There are no words to search."])
    return index.search(text, top=top, operator="and" if way == "boolean" else "or")


def similar_hits(reader: ProjectReader, document: int | str, top: int) -> Hits:
    """The documents most like one."""
    return as_hits(reader, similar(reader, reader.row_of(document), top=top))


def as_hits(reader: ProjectReader, answer: Mapping[str, Any]) -> Hits:
    hits = []
    for found in answer["hits"]:
        text, marks = "", []
        for piece, marked in found["snippet"]:
            if marked:
                marks.append((len(text), len(text) + len(piece)))
            text += piece
        hits.append(Hit(reader.id_of(found["row"]), found["score"], text, tuple(marks)))
    notes = [answer["note"]] if answer.get("note") else []
    return Hits(hits, total=answer.get("total"), notes=notes)


def as_selection(given: Any) -> Mapping[str, Any]:
    """A selection of documents from what one would write: see ``Project.compare``."""
    if given is None:
        return {"rest": True}
    if isinstance(given, Mapping):
        return given
    if isinstance(given, str):
        return {"query": given}
    if isinstance(given, int) and not isinstance(given, bool):
        return {"group": given}
    return {"rows": [int(row) for row in given]}
