"""Documents with labels, for the commands that learn from them.

Labels come from a column, or in a folder from the folders: spam/17.txt is spam.
"""

from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import click

from tacit.cli.terminal import say

if TYPE_CHECKING:
    from tacit.classify.text_classifier import TextClassifier
    from tacit.data.documents import Documents

__all__ = ["known_class", "label_option", "labels_of", "same_kind"]

NAMES = ("label", "labels", "class", "category", "target", "y")  # taken where nobody says

label_option = click.option(
    "--label",
    "label_column",
    metavar="COLUMN",
    help="Column with the label; in a folder labels are the names of the folders inside.",
)


def labels_of(
    documents: "Documents", path: str, column: str | None, *, quiet: bool = False
) -> list[Any]:
    """The label of every document; an error where one is missing, with its place. Which column
    they come from is said where nobody else did."""
    if not len(documents):
        from tacit.core.errors import DataError

        raise DataError(f"{path} holds no documents. Give some, with their labels.")
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
        if column is not None:
            say(f"Guessed: labels are in column {column!r}.", quiet=quiet)
    if not columns:
        raise click.BadParameter(
            f"{path} has no column beside the text that could hold labels. Give a .csv, .tsv, "
            ".jsonl or .parquet file, or say with --format which of them it is.",
            param_hint="--label",
        )
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
    if not all(type(label) is int and abs(label) < 2**63 for label in labels):
        labels = [as_text(label) for label in labels]
    return labels


def as_text(label: Any) -> str:
    """A label that is no number; truth values as JSON writes them, whatever held them."""
    return str(label).lower() if isinstance(label, bool) else str(label)


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


# --- Labels as a model has them ---


def same_kind(labels: list, model: "TextClassifier", option: str = "--label") -> Any:
    """Labels as the model has them: 1 in a file may be "1" in another."""
    import numpy as np

    kind = model.classes_.dtype.kind
    if kind in "OUT":
        return np.asarray([as_text(label) for label in labels])
    read: Any = {"b": truth, "f": float}.get(kind, whole)
    for label in labels:
        try:
            read(label)
        except (KeyError, ValueError):
            raise click.BadParameter(
                f"the model's labels are {model.classes_.tolist()[:2]} and the like, but one "
                f"given is {label!r}. Give labels of the same kind.",
                param_hint=option,
            ) from None
    return np.asarray([read(label) for label in labels])


def whole(label: Any) -> int:
    return int(str(label))  # not a part of 1.5


def truth(label: Any) -> bool:
    return {"true": True, "false": False, "1": True, "0": False}[str(label).lower()]


def known_class(name: str, model: "TextClassifier") -> Any:
    """The class of the model that is called so."""
    found = same_kind([name], model, "--class").tolist()[0]
    if found not in model.classes_.tolist():
        raise click.BadParameter(
            f"the model knows no class {name!r}; it knows {model.classes_.tolist()[:20]}.",
            param_hint="--class",
        )
    return found
