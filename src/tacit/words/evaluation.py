"""How good word vectors are: analogies, and agreement with human judgments of similarity.

    analogies    a : b = c : ?, answered by the word nearest to b - a + c, the three left out;
                 the fraction answered right, by section (3CosAdd)
    similarity   Spearman's rank correlation of cosines with the judgments

Questions with a word that has no vector are left out and counted. Case is ignored, as the usual
files name Athens and Greece.

Mikolov, Chen, Corrado and Dean (2013), Efficient estimation of word representations in vector
space. Levy and Goldberg (2014), Linguistic regularities in sparse and explicit word
representations. CoNLL. Finkelstein et al. (2002), Placing search in context. Hill, Reichart and
Korhonen (2015), SimLex-999.
"""

import os
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tacit.core.engines import check_stop, get_engine
from tacit.core.errors import DataError, reading
from tacit.data.streams import read_raw, to_utf8
from tacit.words.vectors import WordVectors

__all__ = [
    "Analogies", "Section", "Similarity", "evaluate_analogies", "evaluate_similarity",
]  # fmt: skip

BLOCK = 256  # questions that are answered at one time


@dataclass(frozen=True)
class Section:
    """The questions of one section."""

    name: str
    asked: int
    correct: int
    skipped: int  # for want of a vector

    @property
    def accuracy(self) -> float:
        """The fraction answered right; 0 where nothing was asked."""
        return self.correct / self.asked if self.asked else 0.0


@dataclass(frozen=True)
class Analogies:
    """The result of a file of analogies."""

    sections: tuple[Section, ...]
    among: int  # words that an answer could be

    @property
    def total(self) -> Section:
        """All sections together."""
        names = ("asked", "correct", "skipped")
        return Section("total", *(sum(getattr(s, n) for s in self.sections) for n in names))

    @property
    def accuracy(self) -> float:
        """The fraction of all questions answered right."""
        return self.total.accuracy

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        rows = [{**asdict(s), "accuracy": s.accuracy} for s in (*self.sections, self.total)]
        return {"among": self.among, "sections": rows[:-1], "total": rows[-1]}

    def __str__(self) -> str:
        lines = [
            f"{s.name}: {s.accuracy:.1%} of {s.asked:,} ({s.skipped:,} skipped)"
            for s in (*self.sections, self.total)
        ]
        return "\n".join(lines)


@dataclass(frozen=True)
class Similarity:
    """The result of a file of word pairs with judgments."""

    spearman: float
    pairs: int
    skipped: int  # for want of a vector

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)

    def __str__(self) -> str:
        used = f"{self.pairs:,} pairs ({self.skipped:,} skipped)"
        return f"Spearman {self.spearman:.3f} on {used}"


def evaluate_analogies(
    vectors: WordVectors, path: str | os.PathLike, *, among: int | None = 30_000
) -> Analogies:
    """Answer the questions of a file: sections begin with a colon, lines have four words.

    ``among`` limits the answers, and the words of questions, to the most frequent words.
    """
    limit = len(vectors) if among is None else min(among, len(vectors))
    places = lower_places(vectors, limit)
    questions: list[list[int]] = []
    section_of: list[int] = []
    names: list[str] = []
    skipped: list[int] = []
    for row, line in enumerate(read_lines(path), 1):
        if line.startswith(":") or not names:
            names.append(line[1:].strip() if line.startswith(":") else "questions")
            skipped.append(0)
            if line.startswith(":"):
                continue
        words = line.lower().split()
        if len(words) != 4:
            raise DataError(
                f"a question has four words, but this line has {len(words)}. Write: a b c d",
                file=os.fspath(path),
                row=row,
            )
        question = [places.get(word, -1) for word in words]
        if min(question) < 0:
            skipped[-1] += 1
        else:
            questions.append(question)
            section_of.append(len(names) - 1)
    if not names:
        raise DataError(
            "there are no questions. Write lines of four words.", file=os.fspath(path)
        )
    correct = answer(vectors, np.array(questions, np.int64).reshape(-1, 4), limit)
    of = np.array(section_of, np.int64)
    sections = tuple(
        Section(name, int((of == i).sum()), int(correct[of == i].sum()), skipped[i])
        for i, name in enumerate(names)
    )
    return Analogies(sections, limit)


def answer(vectors: WordVectors, questions: np.ndarray, limit: int) -> np.ndarray:
    """Whether each question is answered right."""
    scale = vectors._scale

    def units(rows: np.ndarray) -> np.ndarray:
        return vectors.vectors[rows] * scale[rows, None]

    def answer_block(first: int) -> np.ndarray:
        check_stop()
        asked = questions[first : first + BLOCK]
        wanted = units(asked[:, 1]) - units(asked[:, 0]) + units(asked[:, 2])
        scores = (wanted @ vectors.vectors[:limit].T) * scale[:limit]
        for column in range(3):
            scores[np.arange(len(asked)), asked[:, column]] = -np.inf
        return scores.argmax(axis=1) == asked[:, 3]

    engine = get_engine(vectors.engine)
    parts = engine.each(answer_block, range(0, len(questions), BLOCK))
    return np.concatenate([np.empty(0, bool), *parts])


def evaluate_similarity(vectors: WordVectors, path: str | os.PathLike) -> Similarity:
    """Compare cosines with the judgments of a file: two words and a number in each line.

    Lines that begin with # and a first line with column names are skipped. Fields are separated
    by tabs, commas, semicolons or spaces.
    """
    from scipy.stats import spearmanr

    places = lower_places(vectors, len(vectors))
    judged, cosines, skipped, first = [], [], 0, True
    for row, line in enumerate(read_lines(path), 1):
        if line.startswith("#"):
            continue
        separator = next((mark for mark in "\t,;" if mark in line), None)
        fields = [field.strip() for field in line.split(separator)]
        try:
            judgment = float(fields[2])
        except (IndexError, ValueError):
            if first:
                first = False
                continue
            raise DataError(
                f"two words and a number were expected, but the line is {line[:60]!r}.",
                file=os.fspath(path),
                row=row,
            ) from None
        first = False
        i, j = (places.get(word.lower(), -1) for word in fields[:2])
        if min(i, j) < 0 or not np.isfinite(judgment):
            skipped += 1
            continue
        judged.append(judgment)
        cosines.append(vectors.similarity(vectors.words[i], vectors.words[j]))
    constant = len(set(judged)) < 2 or len(set(cosines)) < 2
    correlation = 0.0 if constant else float(spearmanr(judged, cosines)[0])
    return Similarity(correlation, len(judged), skipped)


def lower_places(vectors: WordVectors, limit: int) -> dict[str, int]:
    """The rows of words in lower case; the first, where several differ only by case."""
    places: dict[str, int] = {}
    for i, word in enumerate(vectors.words[:limit]):
        places.setdefault(word.lower(), i)
    return places


def read_lines(path: str | os.PathLike) -> list[str]:
    with reading(path) as stream:
        raw = to_utf8(read_raw(stream, os.fspath(path)))
    lines = raw.data.decode("utf-8", "replace").splitlines()
    return [line.strip() for line in lines if line.strip()]
