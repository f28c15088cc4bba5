"""What documents are called: a column of titles, or their first line."""

from typing import Any

from tacit.explore.report.clean_text import title_and_opening
from tacit.explore.stages.cleaning import clean_markup
from tacit.explore.stages.stage import Context

__all__ = ["TITLES", "Titles", "title_column"]

TITLES = ("title", "subject", "headline", "name", "heading")


def title_column(documents: Any) -> list[str | None] | None:
    """The column that names documents for people, if there is one."""
    for name in documents.columns:
        if str(name).lower() in TITLES:
            values = documents.column(name)
            return [None if value is None else clean_markup(str(value)) for value in values]
    return None


class Titles:
    """Titles of the documents of a project, by row."""

    def __init__(self, context: Context) -> None:
        self.documents = context.documents()
        self.column = title_column(self.documents)

    def of(self, row: int) -> str:
        """The title of a document."""
        given = None if self.column is None else self.column[row]
        return title_and_opening(self.documents[row], given)[0]
