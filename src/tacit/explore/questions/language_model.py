"""The language of the documents: which word comes next, text drawn from it, and how usual a
text is in it."""

from typing import Any

import numpy as np

from tacit.core.randoms import key, seed_from
from tacit.core.wording import listed
from tacit.explore.questions.reader import ProjectReader, check_count
from tacit.explore.report.clean_text import clean_line
from tacit.explore.stages.live import running_text, spaced_sentences
from tacit.kernels.sorting import highest
from tacit.language.generate import generate_words
from tacit.language.sentences import SPECIAL, STOP, spelled

__all__ = ["generate", "next_words", "surprise"]

MOST_NEXT, MOST_WORDS = 100, 1000
LONGEST = 10_000  # characters
HOTTEST = 100.0
ENDS = (".", "!", "?", "…")


def next_words(reader: ProjectReader, text: str, *, top: int = 10) -> dict[str, Any]:
    """The likeliest words after a text, and the probability that a sentence ends there."""
    check_count("next_words", "top", top, 1, MOST_NEXT)
    check_length(text)
    model = reader.language_or_none
    if model is None:
        return {"words": [], "end": 0.0, "note": why_not(reader)}
    history, unknown = history_of(model, text)
    p = model.distribution(history)
    end = float(p[STOP])
    p[: len(SPECIAL)] = 0
    best = [int(i) for i in highest(p, top) if p[i] > 0]
    words = [[spelled(model._vocabulary, i), float(p[i])] for i in best]
    return {"words": words, "end": end, "note": said_unknown(unknown)}


def generate(
    reader: ProjectReader,
    prefix: str = "",
    *,
    words: int = 60,
    temperature: float = 1.0,
    seed: int = 0,
) -> dict[str, Any]:
    """Text drawn from the language of the documents, sentence after sentence.

    The same seed gives the same text. A ``temperature`` below 1 prefers likely words.
    """
    check_count("generate", "words", words, 0, MOST_WORDS)
    check_count("generate", "seed", seed, 0, 2**63 - 1)
    check_length(prefix)
    if isinstance(temperature, bool) or not isinstance(temperature, int | float):
        raise TypeError(f"generate(temperature={temperature!r}) must be a number.")
    if not 0 < temperature <= HOTTEST:
        raise ValueError(
            f"generate(temperature={temperature}) must be above 0 and at most {HOTTEST:g}."
        )
    model = reader.language_or_none
    if model is None:
        return {"text": clean_line(prefix), "note": why_not(reader)}
    history, unknown = history_of(model, prefix)
    drawn: list[str] = []
    for sentence in range(words):  # as many at most: some are empty
        left = words - len(drawn)
        draw_seed = int(key(seed_from(seed), sentence) >> np.uint64(1))
        before = model._history(history)
        ids = generate_words(model._tables, before, draw_seed, temperature, left, True)
        drawn += [spelled(model._vocabulary, i) for i in ids]
        history = []
        if len(drawn) == words:
            break
    text = running_text(drawn)
    start = clean_line(prefix)
    glue = "" if not start or not drawn or drawn[0][0] in ",.;:!?)" else " "
    return {"text": start + glue + text, "note": said_unknown(unknown)}


def surprise(reader: ProjectReader, text: str) -> dict[str, Any]:
    """How surprising every word of a text is after those before it, in bits."""
    check_length(text)
    model = reader.language_or_none
    if model is None:
        return {"words": [], "bits": None, "note": why_not(reader)}
    sentences = spaced_sentences(text)
    if not sentences:
        return {"words": [], "bits": None, "note": "The text holds no word."}
    tokens = [each for each in model.surprisal(sentences) if each.word != SPECIAL[STOP]]
    known = [each.bits for each in tokens if np.isfinite(each.bits)]
    words = [
        [each.word, float(each.bits) if np.isfinite(each.bits) else None, not each.oov]
        for each in tokens
    ]
    return {"words": words, "bits": float(np.mean(known)) if known else None, "note": None}


# --- Parts ---


def history_of(model: Any, text: str) -> tuple[list[str], list[str]]:
    """The words of the last sentence, if it has not ended; and those that are unknown."""
    sentences = spaced_sentences(text)
    words = sentences[-1].split(" ") if sentences else []
    unknown = [w for w in dict.fromkeys(words) if w not in model._index]
    return ([] if words and words[-1] in ENDS else words), unknown


def said_unknown(unknown: list[str]) -> str | None:
    if not unknown:
        return None
    return f"The documents do not hold {listed(unknown, 5)}."


def why_not(reader: ProjectReader) -> str:
    return reader.skipped("counts") or "The documents hold no sentences to learn from."


def check_length(text: Any) -> None:
    if not isinstance(text, str):
        raise TypeError(f"A text is needed, not {type(text).__name__}.")
    if len(text) > LONGEST:
        raise ValueError(f"The text has {len(text):,} characters, and {LONGEST:,} is the most.")
