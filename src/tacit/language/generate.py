"""Drawing text from a model, and finding its likeliest continuations.

Random numbers depend only on the seed and the position in the text. The notes' section on text
production.
"""

from bisect import bisect_left
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.core.randoms import key, seed_from, uniform
from tacit.kernels.sorting import highest
from tacit.language.backoff_tables import Tables, distribution
from tacit.language.sentences import FIRST, STOP, UNKNOWN, spelled

__all__ = ["Completion", "complete_text", "generate_words"]


@dataclass(frozen=True)
class Completion:
    """A text, and the probability that its beginning is continued like this."""

    text: str
    probability: float

    def __str__(self) -> str:
        return f"{self.probability:.2g}  {self.text}"


def generate_words(
    tables: Tables,
    history: np.ndarray,
    seed: Any,
    temperature: float,
    max_words: int,
    markers: bool,
) -> list[int]:
    """The ids of words drawn after a history, until the stop token. <unk> is never drawn."""
    if not 0 < temperature < np.inf:
        raise ValueError(
            f"generate(temperature={temperature}) must be a number above 0. Towards 0 the "
            "likeliest word is taken ever more often."
        )
    if max_words < 0:
        raise ValueError(f"generate(max_words={max_words}) must be 0 or more.")
    purpose = key(seed_from(seed))
    ids, drawn = list(history), []
    for i in range(max_words):
        p = distribution(tables, np.array(ids, np.int32))
        p[UNKNOWN] = 0
        if temperature != 1:
            with np.errstate(divide="ignore"):
                logs = np.log(p) / temperature
            p = np.exp(logs - logs.max())
        upto = np.cumsum(p)
        if not upto[-1] > 0:
            break  # every word has probability zero here
        word = int(np.searchsorted(upto, uniform(purpose, i) * upto[-1], side="right"))
        word = min(word, int(np.flatnonzero(p)[-1]))
        if word == STOP and markers:
            break
        ids.append(word)
        drawn.append(word)
    return drawn


def complete_text(
    model: Any, prefix: str, top: int, max_words: int, beam: int
) -> list[Completion]:
    """The likeliest continuations by beam search; see ``NGramModel.complete``."""
    for name, value in {"top": top, "max_words": max_words, "beam": beam}.items():
        if value < 1:
            raise ValueError(f"complete({name}={value}) must be at least 1.")
    if not isinstance(prefix, str):
        raise TypeError(f"complete takes one str, but was given {type(prefix).__name__}.")
    history = model._split(prefix)
    part = ""
    if history and model.tokenizer != "char" and not prefix[-1:].isspace():
        part = history.pop()
    start = tuple(model._history(history).tolist())
    beam = max(beam, top)
    done: list[tuple[float, tuple[int, ...]]] = []
    open_ends: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
    for step in range(max_words):
        paths: list[tuple[float, tuple[int, ...]]] = []
        for score, words in open_ends:
            p = distribution(model._tables, np.array(start + words, np.int32))
            p[UNKNOWN] = 0
            if step == 0 and part:
                p = restrict_to_prefix(model, p, part)
            with np.errstate(divide="ignore"):
                logs = np.log(p)
            likeliest = [int(w) for w in highest(logs, beam) if np.isfinite(logs[w])]
            paths += [(score + float(logs[w]), (*words, w)) for w in likeliest]
        paths = sorted(paths, key=best_first)[:beam]
        done += [path for path in paths if path[1][-1] == STOP]
        open_ends = [path for path in paths if path[1][-1] != STOP]
        if not open_ends:
            break
    out = []
    for score, words in sorted([*done, *open_ends], key=best_first)[:top]:
        added = [spelled(model._vocabulary, w) for w in words if w != STOP]
        out.append(Completion(model._join([*history, *added]), float(np.exp(score))))
    return out


def best_first(path: tuple[float, tuple[int, ...]]) -> tuple[float, tuple[int, ...]]:
    """The key by which paths are sorted: the highest score, then the lowest ids."""
    return -path[0], path[1]


def restrict_to_prefix(model: Any, p: np.ndarray, part: str) -> np.ndarray:
    """The probabilities of the words that begin with these letters, scaled to add up to one;
    such words lie together in the vocabulary."""
    strings = model._vocabulary.strings
    low, high = bisect_left(strings, part), bisect_left(strings, part + "\U0010ffff")
    out, span = np.zeros(len(p)), slice(FIRST + low, FIRST + high)
    out[span] = p[span]
    total = out.sum()
    return out / total if total > 0 else out
