"""New texts among the documents of a project: their nearest documents, the group these are in,
and how unfamiliar the text is."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tacit.explore.questions.meaning_space import best_first, cosines_of, fold_in, words_in
from tacit.explore.questions.reader import ProjectReader
from tacit.explore.stages.character_model import as_bytes, byte_limit
from tacit.explore.stages.languages import UNKNOWN, language_of_each
from tacit.explore.stages.unfamiliarity import (
    MEASURES,
    Evidence,
    Scale,
    familiar_languages,
    measure_words,
    score_evidence,
)

__all__ = ["place_texts"]

NEAREST = 10
MOST = 1000  # texts in one question


def place_texts(reader: ProjectReader, texts: Sequence[str]) -> list[dict[str, Any]]:
    """Where new texts belong. For each a dict: ``group``, that of most of its nearest
    documents, or -1 for none; ``unfamiliarity``, above 1 for a text unlike the collection,
    which has no group, and ``why``; ``nearest``, rows of documents with their similarity."""
    if isinstance(texts, str):
        raise TypeError("place takes a list of texts; put a single one into a list.")
    if len(texts) > MOST:
        raise ValueError(f"place takes at most {MOST:,} texts at once, not {len(texts):,}.")
    for text in texts:
        if not isinstance(text, str):
            raise TypeError(f"A text to place is a str, not {type(text).__name__}.")
    for stage in ("outliers", "map"):
        if why := reader.skipped(stage):
            raise ValueError(f"Texts cannot be placed: {why}")
    if not len(texts):
        return []
    arrays = reader.arrays("meaning")
    nearest: list[list[tuple[int, float]]] = []
    for text in texts:
        unit = fold_in(reader, text).direction
        if unit is None:
            nearest.append([])
            continue
        cosines = cosines_of(arrays["rows"], unit)
        cosines[arrays["blank"]] = -1
        width = reader.arrays("map")["squares"].shape[1]
        rows = best_first(cosines, width)
        nearest.append([(int(i), float(cosines[i])) for i in rows])
    score, why_of, _ = score_evidence(
        evidence_of(reader, texts, nearest), Scale.of(reader.context.facts("outliers"))
    )
    names = [*MEASURES, "language"]
    return [
        {
            "group": group_of(reader, near) if score[i] <= 1 else -1,
            "unfamiliarity": round(float(score[i]), 4),
            "why": names[why_of[i]] if score[i] > 1 else None,
            "nearest": [[row, round(alike, 4)] for row, alike in near[:NEAREST]],
        }
        for i, near in enumerate(nearest)
    ]


def evidence_of(
    reader: ProjectReader, texts: Sequence[str], nearest: list[list[tuple[int, float]]]
) -> Evidence:
    """The measures of new texts, as the stage takes them of documents."""
    tokens = [words_in(reader, text) for text in texts]
    unknown = [len({*words} - reader.place_of_word.keys()) for words in tokens]
    table = reader.vectorizer.transform(texts)
    spread = reader.arrays("counts")["document_counts"]
    rare, left, types = measure_words(
        table, spread, reader.arrays("meaning"), reader.n, counted=False,
        unknown=np.array(unknown, np.float64),
    )  # fmt: skip
    cut, model = byte_limit(reader.n), reader.character_model
    coded = [as_bytes(text, cut) for text in texts]
    bits = np.array([model.surprise(each) for each in coded])
    apart = [
        np.sqrt(np.mean([2 - 2 * alike for _, alike in near])) if near else 0.0
        for near in nearest
    ]
    lengths = np.array([len(words) for words in tokens])
    guess = language_of_each(table, reader.words, lengths)
    foreign = ~np.isin(guess, [*familiar_languages(reader.context), UNKNOWN])
    values = np.column_stack([bits, rare, left, apart])
    sizes = np.column_stack([[len(each) for each in coded], types])
    return Evidence(values, sizes, foreign)


def group_of(reader: ProjectReader, near: list[tuple[int, float]]) -> int:
    """The group with the most similarity among the nearest documents; -1 for none."""
    if reader.groups is None or not near:
        return -1
    weight: dict[int, float] = {}
    for row, alike in near:
        group = int(reader.groups[row])
        weight[group] = weight.get(group, 0.0) + alike
    return max(sorted(weight), key=lambda group: weight[group])
