"""Documents as an answer shows them: named, cut, and without what reorders or hides text."""

from collections.abc import Sequence
from typing import Any

from tacit.explore.questions.reader import ProjectReader
from tacit.explore.report.clean_text import clean_line, clean_text, cut, title_and_opening
from tacit.search import QueryError

__all__ = ["check_count", "check_text", "document", "pieces", "shown_hit"]

LONGEST = 10_000  # characters of a query
MOST_TEXT = 200_000  # characters of a document that are shown
ID = 120
COLUMN = 2000


def document(reader: ProjectReader, row: int) -> dict[str, Any]:
    """One document: its text, what came along, and where it was placed."""
    row = reader.check_row(row)
    (text,) = reader.texts([row])
    whole = clean_text(text[: 2 * MOST_TEXT])
    answer: dict[str, Any] = {
        "row": row,
        "id": shown_id(reader, row),
        "title": title_and_opening(text, reader.title_of(row))[0],
        "text": whole[:MOST_TEXT],
        "cut": len(whole) > MOST_TEXT or len(text) > 2 * MOST_TEXT,
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
    return cut(clean_line(reader.id_of(row)), ID)


def column_value(reader: ProjectReader, name: str, row: int) -> Any:
    value = reader.value(name, row)
    return cut(clean_text(value), COLUMN) if isinstance(value, str) else value


def pieces(text: str, marks: Sequence[tuple[int, int]]) -> list[list[Any]]:
    """A text in pieces, each with whether it matches the query.

    >>> pieces("crude oil fell", [(6, 9)])
    [['crude ', False], ['oil', True], [' fell', False]]
    """
    from tacit.search import Hit

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
