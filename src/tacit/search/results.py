"""Results of searching an index and of adding to it."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import partial
from html import escape
from typing import Any

from tacit.core.notebook import Markup, html_notes, html_table
from tacit.core.wording import count

__all__ = ["Hit", "Hits", "Receipt"]

TITLES = ("Document", "Score", "Text")


@dataclass(frozen=True)
class Hit:
    """A document that matches: its id, score and snippet.

    ``marks`` are the matches in ``snippet``, as (start, stop).

    >>> hit = Hit("reut/17", 2.5, "… crude oil fell …", ((8, 11),))
    >>> print(hit)
    reut/17  2.500  … crude [oil] fell …
    """

    id: int | str
    score: float
    snippet: str = ""
    marks: tuple[tuple[int, int], ...] = ()

    def highlighted(self, before: str = "[", after: str = "]") -> str:
        """The snippet with every match between ``before`` and ``after``."""
        return "".join(
            f"{before}{text}{after}" if marked else text for text, marked in self.parts()
        )

    def parts(self) -> Iterable[tuple[str, bool]]:
        """The snippet in pieces, each with whether it is a match."""
        at = 0
        for start, stop in self.marks:
            if start > at:
                yield self.snippet[at:start], False
            yield self.snippet[start:stop], True
            at = stop
        if at < len(self.snippet):
            yield self.snippet[at:], False

    def to_dict(self) -> dict[str, Any]:
        """The hit as JSON values."""
        marks = [list(mark) for mark in self.marks]
        return {"id": self.id, "score": self.score, "snippet": self.snippet, "marks": marks}

    def __str__(self) -> str:
        return f"{self.id}  {self.score:.3f}  {self.highlighted()}".rstrip()

    def _repr_html_(self) -> str:
        return html_table(TITLES, [html_cells(self)], right=(1,))


class Hits(list[Hit]):
    """The best hits in order, the number of all matches (``total``), and ``notes``.

    >>> hits = Hits([Hit(3, 1.25, "two fish"), Hit(0, 1.0, "one fish")], total=7)
    >>> print(hits)
    3  1.250  two fish
    0  1.000  one fish
    2 of 7 documents
    """

    def __init__(
        self, hits: Iterable[Hit] = (), *, total: int | None = None, notes: Iterable[str] = ()
    ) -> None:
        super().__init__(hits)
        self.total = len(self) if total is None else total
        self.notes = list(notes)

    @property
    def ids(self) -> list[int | str]:
        """The ids of the documents."""
        return [hit.id for hit in self]

    def to_dict(self) -> dict[str, Any]:
        """The hits as JSON values."""
        return {
            "total": self.total,
            "hits": [hit.to_dict() for hit in self],
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        summary = f"{len(self):,} of {count(self.total, 'document')}"
        return "\n".join([*map(str, self), summary, *self.notes])

    def __reduce__(self):
        return partial(Hits, total=self.total, notes=self.notes), (list(self),)

    def _repr_html_(self) -> str:
        summary = f"{len(self):,} of {count(self.total, 'document')}."
        table = html_table(TITLES, map(html_cells, self), right=(1,)) if self else ""
        return table + html_notes([summary, *self.notes])


def html_cells(hit: Hit) -> list[object]:
    """The cells of a row; <bdi> keeps the writing direction of a text to itself."""
    pieces = [
        f"<mark>{escape(text)}</mark>" if marked else escape(text)
        for text, marked in hit.parts()
    ]
    snippet = Markup(f"<bdi>{''.join(pieces)}</bdi>")
    return [hit.id, f"{hit.score:.3f}", snippet]


@dataclass(frozen=True)
class Receipt:
    """How well added items fit the model.

    ``refit_distance`` is 0 if the new items fit as well as held-out items would, and 1 if the
    model knows nothing about them.

    >>> print(Receipt(added=3, refit_distance=0.02, advice="No need to refit."))
    3 added, refit distance 0.020. No need to refit.
    """

    added: int
    refit_distance: float
    advice: str
    inside: float = 1.0  # fraction of the new items' weight that the model explains
    expected: float = 1.0  # the same for held-out items
    unknown: float = 0.0  # fraction of the new items that the model does not know

    def to_dict(self) -> dict[str, Any]:
        """The receipt as JSON values."""
        return asdict(self)

    def __str__(self) -> str:
        return f"{self.added:,} added, refit distance {self.refit_distance:.3f}. {self.advice}"

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>"
