"""Documents with labels, for the commands that learn from them.

Labels come from a column, or in a folder from the folders: spam/17.txt is spam.
"""

from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from tacit.data.documents import Documents

__all__ = ["label_option", "labels_of"]

NAMES = ("label", "labels", "class", "category", "target", "y")  # taken where nobody says

label_option = click.option(
    "--label",
    "label_column",
    metavar="COLUMN",
    help="Column with the label; in a folder labels are the names of the folders inside.",
)


def labels_of(documents: "Documents", path: str, column: str | None) -> list[Any]:
    """The label of every document; an error where one is missing, with its place."""
    columns = list(documents.columns)
    if not columns and documents.names is not None:
        if column is not None:
            raise click.BadParameter(
                f"{column!r} is a column, but {path} is a folder: its labels are the names of "
                "the folders inside.",
                param_hint="--label",
            )
        return labels_of_folders(documents, path)
    if column is None:
        column = next((name for name in NAMES if name in columns), None)
    if column is None or column not in columns:
        raise click.BadParameter(
            (f"there is no column {column!r} in {path}." if column else "which column is it?")
            + f" The columns beside the text are {columns}.",
            param_hint="--label",
        )
    labels = documents.column(column)
    for row, label in enumerate(labels):
        if label is None or label == "" or label != label:
            from tacit.core.errors import DataError

            raise DataError(
                "the label is missing. Fill it in, or leave the document out.",
                file=path,
                row=row,
                column=column,
            )
    if not all(isinstance(label, int) for label in labels):
        labels = [str(label) for label in labels]
    return labels


def labels_of_folders(documents: "Documents", path: str) -> list[str]:
    from tacit.core.errors import DataError

    labels = []
    for name in documents.ids:
        parts = PurePath(str(name)).parts
        if len(parts) < 2:
            raise DataError(
                f"{name} lies in no folder that could be its label. Put documents in one "
                "folder for each label, as in spam/17.txt.",
                file=path,
            )
        labels.append(parts[0])
    return labels
