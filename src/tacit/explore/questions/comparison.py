"""Two selections of documents: the words that set them apart.

In how many documents of either side a word is, as log-odds with an informative prior over
their standard error (``tacit.cluster.descriptions``): the score that also finds the words of
groups.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tacit.core.wording import count
from tacit.explore.questions.reader import ProjectReader
from tacit.explore.questions.text_search import matching_rows

__all__ = ["FEWEST", "as_selection", "compare", "rows_of"]

FEWEST = 5  # documents on either side
SHOWN = 30  # words of either side
LEAST = 2.0  # standard errors


def compare(
    reader: ProjectReader, a: Mapping, b: Mapping, *, labels: Mapping[int, str] | None = None
) -> dict[str, Any]:
    """The words that set two selections of documents apart, the strongest first.

    A selection is {"rows": [...]}, {"group": number}, {"query": text}, {"label": name} or,
    on one side, {"rest": True}. ``labels`` gives the labels of documents by row.
    """
    if is_rest(a) and is_rest(b):
        raise ValueError("compare needs a selection on one side at least, not the rest twice.")
    every = np.arange(reader.n)
    if is_rest(a):
        second = rows_of(reader, b, labels)
        first = np.setdiff1d(every, second)
    else:
        first = rows_of(reader, a, labels)
        second = np.setdiff1d(every, first) if is_rest(b) else rows_of(reader, b, labels)
    both = np.intersect1d(first, second)
    notes = []
    if len(both):
        first, second = np.setdiff1d(first, both), np.setdiff1d(second, both)
        many = count(len(both), "document is", "documents are")
        notes.append(f"{many} on both sides and left out.")
    answer: dict[str, Any] = {"sizes": [len(first), len(second)], "words": []}
    if min(len(first), len(second)) < FEWEST:
        notes.append(
            f"A comparison needs {FEWEST} documents on either side; there are {len(first):,} "
            f"and {len(second):,}."
        )
        return answer | {"note": " ".join(notes)}
    if why := reader.skipped("counts"):
        return answer | {"note": why}
    answer["words"] = telling_words(reader, first, second)
    if not answer["words"]:
        notes.append("No word sets them clearly apart.")
    return answer | {"note": " ".join(notes) or None}


def telling_words(
    reader: ProjectReader, first: np.ndarray, second: np.ndarray
) -> list[dict[str, Any]]:
    from tacit.cluster.descriptions import log_odds

    inside, outside = documents_with(reader, first), documents_with(reader, second)
    every = inside + outside
    n = len(first) + len(second)
    candidates = np.flatnonzero((every >= (3 if n >= 100 else 2)) & (every <= 0.9 * n))
    score = log_odds(inside[candidates], outside[candidates])
    order = np.lexsort([candidates, -score])
    ahead = [i for i in order[:SHOWN] if score[i] >= LEAST]
    behind = [i for i in order[::-1][:SHOWN] if score[i] <= -LEAST]
    words = reader.words
    return [
        {
            "word": str(words[candidates[i]]),
            "a": float(inside[candidates[i]] / len(first)),
            "b": float(outside[candidates[i]] / len(second)),
            "score": float(score[i]),
        }
        for i in ahead + behind
    ]


def documents_with(reader: ProjectReader, rows: np.ndarray) -> np.ndarray:
    """In how many of these documents each word is."""
    counts = reader.counts
    if 2 * len(rows) > reader.n:  # the others are fewer
        others = np.setdiff1d(np.arange(reader.n), rows)
        return reader.arrays("counts")["document_counts"] - documents_with(reader, others)
    return np.bincount(counts[rows].indices, minlength=counts.shape[1]).astype(np.float64)


# --- Selections ---


def rows_of(
    reader: ProjectReader, side: Mapping, labels: Mapping[int, str] | None = None
) -> np.ndarray:
    """The documents of a selection, sorted, each once."""
    if not isinstance(side, Mapping) or len(side) != 1:
        raise ValueError(
            "A selection has one of the keys rows, group, query, label and rest; this one has "
            f"{list(side) if isinstance(side, Mapping) else side!r}."
        )
    ((kind, value),) = side.items()
    if kind == "rows":
        if not isinstance(value, Sequence | np.ndarray) or isinstance(value, str):
            raise TypeError(f"The rows of a selection are a list, not {value!r}.")
        return np.unique(np.array([reader.check_row(row) for row in value], np.int64))
    if kind == "group":
        return rows_of_group(reader, value)
    if kind == "query":
        return matching_rows(reader, value)
    if kind == "label":
        rows = [reader.check_row(row) for row, name in (labels or {}).items() if name == value]
        if not rows:
            raise ValueError(f"No document has the label {str(value)[:80]!r}.")
        return np.unique(np.array(rows, np.int64))
    raise ValueError(
        f"A selection cannot be made by {str(kind)[:40]!r}; choose from rows, group, query, "
        "label and rest."
    )


def rows_of_group(reader: ProjectReader, group: Any) -> np.ndarray:
    if reader.groups is None:
        raise ValueError(f"This project has no groups: {reader.skipped('groups')}")
    there = reader.n_groups
    if isinstance(group, bool) or not isinstance(group, int) or not 0 <= group < there:
        raise ValueError(f"There is no group {group!r}; there are {there}, counted from 0.")
    return np.flatnonzero(reader.groups == group)


def is_rest(side: Any) -> bool:
    return isinstance(side, Mapping) and list(side.items()) == [("rest", True)]


def as_selection(value: Any) -> Mapping[str, Any]:
    """A selection of documents from what one would write: see ``Project.compare``."""
    if value is None:
        return {"rest": True}
    if isinstance(value, Mapping):
        return value
    if isinstance(value, str):
        return {"query": value}
    if isinstance(value, int) and not isinstance(value, bool):
        return {"group": value}
    return {"rows": [int(row) for row in value]}
