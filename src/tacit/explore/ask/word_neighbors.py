"""A word: where it occurs, and which words are used as it is."""

from typing import Any

import numpy as np

from tacit.explore.ask.live import Live
from tacit.explore.ask.meaning_space import cosines_of, words_in
from tacit.explore.ask.searching import best_first, check_text
from tacit.explore.ask.showing import check_count

__all__ = ["neighbors"]

MOST = 200
SUGGESTED = 8
RARE = 1000  # of so many documents one must hold a word, or it is near others by chance


def neighbors(live: Live, word: str, *, top: int = 20) -> dict[str, Any]:
    """The words nearest in meaning to one, the documents that hold it, by group; for a word
    that is not there, words that are spelled like it."""
    check_text(word)
    check_count("neighbors", "top", top, 0, MOST)
    answer: dict[str, Any] = {"word": word, "documents": 0, "near": [], "groups": []}
    if why := live.skipped("counts"):
        return answer | {"note": why}
    found = words_in(live, word)
    if len(found) != 1:
        raise ValueError(f"Give one word; {word[:80]!r} holds {len(found)}.")
    answer["word"] = word = found[0]
    column = live.place_of_word.get(word)
    if column is None:
        return answer | {"suggest": close_spellings(live, word)}
    rows = documents_with_word(live, column)
    answer["documents"] = len(rows)
    answer["groups"] = by_group(live, rows)
    if why := live.skipped("meaning"):
        return answer | {"note": why}
    meaning = live.arrays("meaning")
    at = int(np.searchsorted(meaning["used"], column))
    if at == len(meaning["used"]) or meaning["used"][at] != column:
        kind = "most" if len(rows) > live.n / 2 else "too few"
        return answer | {"note": f"The word is in {kind} documents to compare it by."}
    cosines = cosines_of(meaning["words"], np.asarray(meaning["words"][at]))
    spread = live.arrays("counts")["document_counts"][meaning["used"]]
    cosines[spread < min(live.n // RARE, len(rows))] = -1
    cosines[at] = -1
    near = best_first(cosines, top)
    words = live.words[meaning["used"][near]]
    answer["near"] = [[str(w), float(cosines[i])] for w, i in zip(words, near, strict=True)]
    return answer


def documents_with_word(live: Live, column: int) -> np.ndarray:
    """The documents that hold a word, in order."""
    counts = live.counts
    entries = np.flatnonzero(counts.indices == column)
    return np.searchsorted(counts.indptr, entries, side="right") - 1


def by_group(live: Live, rows: np.ndarray) -> list[list[int]]:
    """How many of these documents each group has, the most first."""
    if live.groups is None or not len(rows):
        return []
    labels = live.groups[rows]
    counts = np.bincount(labels[labels >= 0])
    order = np.argsort(-counts, kind="stable")
    return [[int(g), int(counts[g])] for g in order if counts[g]]


def close_spellings(live: Live, word: str) -> list[str]:
    """Words of the documents that one or two slips away are this one, frequent ones first."""
    from tacit.language.deletion_index import find_words, strings_of

    if not 2 <= len(word) <= 40:
        return []
    spelled, columns = live.spellings
    found = find_words(spelled, strings_of([word]))
    near = found.distances <= (1 if len(word) < 5 else 2)
    places, distances = columns[found.words[near]], found.distances[near]
    spread = live.arrays("counts")["document_counts"][places]
    order = np.lexsort([places, -spread, distances])[:SUGGESTED]
    return [str(live.words[places[i]]) for i in order]
