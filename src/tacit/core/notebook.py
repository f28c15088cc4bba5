"""HTML for notebooks: tables that look the same on a light and on a dark page.

Cells are text and are escaped, whoever wrote them; ``Markup`` marks HTML that is safe already.
"""

from collections.abc import Collection, Iterable, Sequence
from html import escape

__all__ = ["Markup", "html_notes", "html_table"]

TABLE = "border-collapse:collapse;margin:.4em 0 .6em;font-variant-numeric:tabular-nums"
CELL = "padding:.25em .9em .25em 0;border:0;vertical-align:top;background:transparent"
RULE = "border-bottom:1px solid rgba(128,128,128,.35)"
NUMBER = "text-align:right"
WORDS = "text-align:left"


class Markup(str):
    """HTML that is safe to show as it is."""


def html_table(
    titles: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    right: Collection[int] = (),
    bold: Collection[int] = (),
) -> str:
    """A table with column headings; columns in ``right`` hold numbers, rows in ``bold`` stand
    out.

    >>> html_table(["word"], [["<b>"]]).count("&lt;b&gt;")
    1
    """

    def cell(value: object, column: int, tag: str, more: str) -> str:
        shown = value if isinstance(value, Markup) else f"<bdi>{escape(str(value))}</bdi>"
        align = NUMBER if column in right else WORDS
        return f'<{tag} style="{CELL};{align};{more}">{shown}</{tag}>'

    head = "".join(cell(t, j, "th", f"{RULE};font-weight:600") for j, t in enumerate(titles))
    body = []
    for i, row in enumerate(rows):
        weight = "font-weight:600" if i in bold else ""
        body.append(f"<tr>{''.join(cell(v, j, 'td', weight) for j, v in enumerate(row))}</tr>")
    heading = f"<thead><tr>{head}</tr></thead>" if titles else ""
    return f'<table style="{TABLE}">{heading}<tbody>{"".join(body)}</tbody></table>'


def html_notes(notes: Iterable[str]) -> str:
    """Sentences below a table."""
    style = "margin:.2em 0;opacity:.75"
    return "".join(f'<p style="{style}"><bdi>{escape(note)}</bdi></p>' for note in notes)
