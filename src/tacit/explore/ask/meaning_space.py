"""The space of meaning of a project: words, documents, and texts folded in.

A document lies at x V, with x its weights and V the directions of the words. The stage
keeps words at V S, cut to length one, besides their lengths and S: so V is there again, and
the text of a document that is folded in lies where the document does.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tacit.core.errors import DataError
from tacit.explore.ask.live import Live
from tacit.explore.stages.meaning_stage import use_words, word_weights
from tacit.kernels.unit_rows import unit_rows

__all__ = [
    "Folded", "cosines_of", "fold_in", "inverse_frequency", "weights_of", "words_in",
]  # fmt: skip

BLOCK = 65_536  # rows at a time


class Folded(NamedTuple):
    """A text in the space of meaning."""

    direction: np.ndarray | None  # (k,) float32 of length one; None without known words
    words: list[str]  # that placed it
    unknown: list[str]  # that the project does not compare by


def words_in(live: Live, text: str) -> list[str]:
    """The words of a text as the project counts them."""
    return live.vectorizer.build_analyzer()(text)


def fold_in(live: Live, text: str) -> Folded:
    """Where a text lies among the documents."""
    found = words_in(live, text)
    places = live.place_of_word
    used = live.arrays("meaning")["used"]
    counted: dict[int, int] = {}
    known: dict[str, None] = {}
    unknown: dict[str, None] = {}
    for word in found:
        column = places.get(word, -1)
        at = int(np.searchsorted(used, column))
        if column < 0 or at == len(used) or used[at] != column:
            unknown[word] = None
            continue
        known[word] = None
        counted[at] = counted.get(at, 0) + 1
    if not counted:
        return Folded(None, [], list(unknown))
    order = sorted(counted)
    counts = np.array([counted[at] for at in order], np.float64)
    spread = live.arrays("counts")["document_counts"][used[order]]
    weights = (1 + np.log(counts)) * word_weights(spread, live.n)
    placed = weights @ directions(live, np.array(order))
    length = float(np.sqrt(placed @ placed))
    unit = (placed / length).astype(np.float32) if length > 0 else None
    return Folded(unit, list(known), list(unknown))


def directions(live: Live, words: np.ndarray) -> np.ndarray:
    """(words, k) rows of V."""
    found = live.arrays("meaning")
    if "word_lengths" not in found:
        raise DataError(
            "was made by an older Tacit, without what a query needs. Run tacit explore again.",
            file=live.folder.path,
        )
    values = found["singular_values"].astype(np.float64)
    scaled = found["words"][words] * found["word_lengths"][words].astype(np.float64)[:, None]
    return np.divide(scaled, values, out=np.zeros_like(scaled), where=values > 0)


def cosines_of(rows: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """The cosine of every row with one, a block at a time; the same bits on every machine
    with the same threads or not."""
    from tacit.search.semantic_space import cosines

    out = np.empty(len(rows), np.float32)
    for start in range(0, len(rows), BLOCK):
        out[start : start + BLOCK] = cosines(rows[start : start + BLOCK], unit)
    return out


def weights_of(
    live: Live, rows: Any, worth: Callable[[np.ndarray, int], np.ndarray] = word_weights
) -> tuple[sp.csr_array, np.ndarray]:
    """Documents by the words that the project compares by, length one, and the columns of
    these words. ``worth`` is what a word weighs that is in so many of n documents."""
    spread = live.arrays("counts")["document_counts"]
    if live.skipped("meaning"):
        used = use_words(spread, live.n)
    else:
        used = np.asarray(live.arrays("meaning")["used"])
    chosen = sp.csr_array(live.counts[rows][:, used], dtype=np.float64)
    weights = worth(np.asarray(spread[used]), live.n)
    chosen.data = (1 + np.log(chosen.data)) * weights[chosen.indices]
    return unit_rows(chosen)[0], used


def inverse_frequency(document_counts: np.ndarray, n: int) -> np.ndarray:
    """The usual idf, which leaves frequent words some weight: what classifiers like.

    >>> inverse_frequency(np.array([1, 4]), 9)
    array([2.609, 1.693])
    """
    return np.log((1 + n) / (1 + document_counts.astype(np.float64))) + 1
