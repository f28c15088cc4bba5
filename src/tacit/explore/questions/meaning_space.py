"""The space of meaning of a project: words, documents, and texts folded in.

A document lies at x V, with x its weights and V the directions of the words. The stage
keeps words at V S, cut to length one, besides their lengths and S: so V is there again, and
the text of a document that is folded in lies where the document does.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tacit.core.errors import DataError
from tacit.explore.questions.reader import ProjectReader, check_count, check_text
from tacit.explore.stages.meaning import use_words, word_weights
from tacit.kernels.unit_rows import unit_rows

__all__ = [
    "cosines_of", "fold_in", "inverse_frequency", "neighbors", "weights_of", "words_in",
]  # fmt: skip

BLOCK = 65_536  # rows at a time
NOISE = 1e-3  # cosines up to this are rounding and chance


class Folded(NamedTuple):
    """A text in the space of meaning."""

    direction: np.ndarray | None  # (k,) float32 of length one; None without known words
    words: list[str]  # that placed it
    unknown: list[str]  # that the project does not compare by


def words_in(reader: ProjectReader, text: str) -> list[str]:
    """The words of a text as the project counts them."""
    return reader.vectorizer.build_analyzer()(text)


def fold_in(reader: ProjectReader, text: str) -> Folded:
    """Where a text lies among the documents."""
    used = compared_words(reader)
    row = reader.vectorizer.transform([text])
    compared = np.isin(row.indices, used)
    columns, counts = row.indices[compared], row.data[compared].astype(np.float64)
    names = {str(word) for word in reader.words[columns]}
    words = dict.fromkeys(words_in(reader, text))
    unknown = [word for word in words if word not in names]
    if not len(columns):
        return Folded(None, [], unknown)
    spread = reader.arrays("counts")["document_counts"][columns]
    weights = (1 + np.log(counts)) * word_weights(
        spread, reader.n, reader.facts("meaning").get("idf_power", 2)
    )
    placed = weights @ directions(reader, np.searchsorted(used, columns))
    length = float(np.sqrt(placed @ placed))
    unit = (placed / length).astype(np.float32) if length > 0 else None
    return Folded(unit, [word for word in words if word in names], unknown)


def compared_words(reader: ProjectReader) -> np.ndarray:
    """The columns of the words that the project compares by; the file is untrusted."""
    used = np.asarray(reader.arrays("meaning")["used"])
    if len(used) and not 0 <= used.min() <= used.max() < reader.counts.shape[1]:
        where = reader.folder.output("meaning")
        raise DataError("is damaged: it compares by words that are not there.", file=where)
    return used


def directions(reader: ProjectReader, words: np.ndarray) -> np.ndarray:
    """(words, k) rows of V."""
    arrays = reader.arrays("meaning")
    if "word_lengths" not in arrays:
        raise DataError(
            "was made by an older Tacit, without what a query needs. Run tacit explore again.",
            file=reader.folder.path,
        )
    values = arrays["singular_values"].astype(np.float64)
    scaled = arrays["words"][words] * arrays["word_lengths"][words].astype(np.float64)[:, None]
    return np.divide(scaled, values, out=np.zeros_like(scaled), where=values > 0)


def cosines_of(rows: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """The cosine of every row with one, a block at a time; the same bits on every machine
    with the same threads or not."""
    from tacit.search.semantic_space import cosines

    out = np.empty(len(rows), np.float32)
    for start in range(0, len(rows), BLOCK):
        out[start : start + BLOCK] = cosines(rows[start : start + BLOCK], unit)
    return out


def best_first(scores: np.ndarray, top: int) -> np.ndarray:
    """The rows with the highest scores, of equals the lowest row first; none that has next to
    nothing in common."""
    from tacit.kernels.sorting import highest

    rows = highest(scores, min(top, len(scores)))
    return rows[scores[rows] > NOISE]


def weights_of(
    reader: ProjectReader,
    rows: Any,
    worth: Callable[[np.ndarray, int], np.ndarray] | None = None,
) -> tuple[sp.csr_array, np.ndarray]:
    """Documents by the words that the project compares by, length one, and the columns of
    these words. ``worth`` gives the weight of words by the number of their documents, of n;
    None takes the weight that the directions of meaning were found with."""
    spread = reader.arrays("counts")["document_counts"]
    skipped = reader.skipped("meaning")
    used = use_words(spread, reader.n) if skipped else compared_words(reader)
    chosen = sp.csr_array(reader.counts[rows][:, used], dtype=np.float64)
    if worth is None:
        worth = partial(word_weights, power=reader.facts("meaning").get("idf_power", 2))
    weights = worth(np.asarray(spread[used]), reader.n)
    chosen.data = (1 + np.log(chosen.data)) * weights[chosen.indices]
    return unit_rows(chosen)[0], used


def inverse_frequency(document_counts: np.ndarray, n: int) -> np.ndarray:
    """The usual idf, which leaves frequent words some weight: which suits classifiers.

    >>> inverse_frequency(np.array([1, 4]), 9).round(3)
    array([2.609, 1.693])
    """
    return np.log((1 + n) / (1 + document_counts.astype(np.float64))) + 1


MOST = 200
RARE = 1000  # a word in fewer than one of 1000 documents is near others by chance


def neighbors(reader: ProjectReader, word: str, *, top: int = 20) -> dict[str, Any]:
    """The words nearest in meaning to one, the documents that hold it, by group; for a word
    that is not there, words that are spelled like it."""
    check_text(word)
    check_count("neighbors", "top", top, 0, MOST)
    answer: dict[str, Any] = {"word": word, "documents": 0, "near": [], "groups": []}
    if why := reader.skipped("counts"):
        return answer | {"note": why}
    tokens = words_in(reader, word)
    if len(tokens) != 1:
        raise ValueError(f"Give one word; {word[:80]!r} holds {len(tokens)}.")
    answer["word"] = word = tokens[0]
    column = reader.place_of_word.get(word)
    if column is None:
        return answer | {"suggest": close_spellings(reader, word)}
    rows = documents_with_word(reader, column)
    answer["documents"] = len(rows)
    answer["groups"] = by_group(reader, rows)
    if why := reader.skipped("meaning"):
        return answer | {"note": why}
    meaning = reader.arrays("meaning")
    used = compared_words(reader)
    at = int(np.searchsorted(used, column))
    if at == len(used) or used[at] != column:
        kind = "most" if len(rows) > reader.n / 2 else "too few"
        return answer | {"note": f"The word is in {kind} documents to compare it by."}
    cosines = cosines_of(meaning["words"], np.asarray(meaning["words"][at]))
    spread = reader.arrays("counts")["document_counts"][used]
    cosines[spread < min(reader.n // RARE, len(rows))] = -1
    cosines[at] = -1
    near = best_first(cosines, top)
    words = reader.words[used[near]]
    answer["near"] = [[str(w), float(cosines[i])] for w, i in zip(words, near, strict=True)]
    return answer


def documents_with_word(reader: ProjectReader, column: int) -> np.ndarray:
    counts = reader.counts
    entries = np.flatnonzero(counts.indices == column)
    return np.searchsorted(counts.indptr, entries, side="right") - 1


def by_group(reader: ProjectReader, rows: np.ndarray) -> list[list[int]]:
    """How many of these documents each group has, the most first."""
    if reader.groups is None or not len(rows):
        return []
    labels = reader.groups[rows]
    counts = np.bincount(labels[labels >= 0])
    order = np.argsort(-counts, kind="stable")
    return [[int(g), int(counts[g])] for g in order if counts[g]]


def close_spellings(reader: ProjectReader, word: str, *, least: int = 0) -> list[str]:
    """Words of ``least`` documents or more within an edit distance of one or two, frequent ones
    first."""
    from tacit.language.deletion_index import find_words, strings_of

    if not 2 <= len(word) <= 40:
        return []
    spelled, columns = reader.spellings
    matches = find_words(spelled, strings_of([word]))
    every = reader.arrays("counts")["document_counts"]
    near = matches.distances <= (1 if len(word) < 5 else 2)
    near &= every[columns[matches.words]] >= least
    places, distances = columns[matches.words[near]], matches.distances[near]
    spread = every[places]
    order = np.lexsort([places, -spread, distances])[:8]
    return [str(reader.words[places[i]]) for i in order]
