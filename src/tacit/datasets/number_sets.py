"""Loaders of sets of rows: numbers, pictures, ratings, pairs of words. Each gives the fields of
a ``Dataset``."""

from pathlib import Path
from typing import Any

import numpy as np

from tacit.core.errors import DataError
from tacit.datasets.data_files import read_csv, read_lines, read_npz, read_text

__all__ = ["bodyfat", "mnist", "movielens", "olivetti", "spelling", "word_similarity"]

Fields = dict[str, Any]
MEASURED = (
    "age", "weight", "height", "adiposity", "neck", "chest", "abdomen", "hip", "thigh", "knee",
    "ankle", "biceps", "forearm", "wrist",
)  # fmt: skip
DERIVED = ("density", "brozek", "fat_free_weight")  # they determine the target almost exactly


def bodyfat(folder: Path, part: str) -> Fields:
    """The target is Siri's percentage. Columns that follow from it are metadata."""
    path = folder / "bodyfat.csv"
    records = read_csv(path, "case", "bodyfat", *MEASURED, *DERIVED)
    rows = numbers(path, records, MEASURED)
    return {
        "data": rows,
        "target": numbers(path, records, ("bodyfat",))[:, 0],
        "metadata": {
            "id": [record["case"] for record in records],
            **{n: numbers(path, records, (n,))[:, 0].tolist() for n in DERIVED},
        },
        "extra": {"columns": list(MEASURED)},
    }


def mnist(folder: Path, part: str) -> Fields:
    """Rows of 784 gray values from 0 to 255; the first 60,000 are the training set."""
    parts = ("train", "test") if part == "all" else (part,)
    loaded = [read_npz(folder / "mnist.npz", f"x_{each}", f"y_{each}") for each in parts]
    target = np.concatenate([labels for _, labels in loaded]).astype(np.int64)
    return {
        "data": np.concatenate([images.reshape(len(images), -1) for images, _ in loaded]),
        "target": target,
        "target_names": [str(digit) for digit in range(10)],
        "metadata": {
            "split": [each for each, (x, _) in zip(parts, loaded, strict=True) for _ in x]
        },
        "extra": {"image_shape": (28, 28)},
    }


def movielens(folder: Path, part: str) -> Fields:
    """Rows of user and film, the target is the rating from 1 to 5; films and users, whose
    numbers begin at 1, are extra."""
    rows = table(folder / "u.data.gz", "\t", 4)
    ratings = np.array(rows, np.int64)
    films = table(folder / "u.item.gz", "|", 24)
    genres = [line.partition("|")[0] for line in read_lines(folder / "u.genre")]
    users = table(folder / "u.user", "|", 5)
    return {
        "data": ratings[:, :2],
        "target": ratings[:, 2].astype(np.float64),
        "metadata": {"time": ratings[:, 3].tolist()},
        "extra": {
            "films": [
                {
                    "id": int(film[0]),
                    "title": film[1],
                    "released": film[2],
                    "genres": [
                        g for g, flag in zip(genres, film[5:], strict=True) if flag == "1"
                    ],
                }
                for film in films
            ],
            "users": [
                {"id": int(u[0]), "age": int(u[1]), "gender": u[2], "occupation": u[3]}
                for u in users
            ],
        },
    }


def olivetti(folder: Path, part: str) -> Fields:
    """Rows of 4,096 gray values from 0 to 255; the target is the person."""
    images, target = read_npz(folder / "olivetti.npz", "images", "target")
    return {
        "data": images.reshape(len(images), -1),
        "target": target.astype(np.int64),
        "target_names": [f"person {i}" for i in range(int(target.max()) + 1)],
        "extra": {"image_shape": images.shape[1:]},
    }


def spelling(folder: Path, part: str) -> Fields:
    """misspelling, correct, count; an underscore stands for a space. "big" is one document."""
    if part == "big":
        return {"documents": [read_text(folder / "big.txt.gz")]}
    path = folder / (f"{part}.csv.gz" if part == "birkbeck" else f"{part}.csv")
    records = read_csv(path, "misspelling", "correct", "count")
    return {
        "data": np.array([[r["misspelling"], r["correct"]] for r in records], str),
        "metadata": {"count": [int(record["count"]) for record in records]},
    }


def word_similarity(folder: Path, part: str) -> Fields:
    """Two words and a score a line, or four words: a is to b as c is to d."""
    files = {"wordsim353": "wordsim353.tsv", "simlex999": "simlex999.txt",
             "rg65": "EN-RG-65.txt", "mc30": "EN-MC-30.txt"}  # fmt: skip
    if part != "analogies":
        path = folder / files[part]
        pairs = table(path, "\t", 3)
        return {
            "data": np.array([pair[:2] for pair in pairs], str),
            "target": np.array([float(pair[2]) for pair in pairs]),
        }
    path, section = folder / "questions-words.txt", ""
    questions, sections = [], []
    for number, line in enumerate(read_lines(path), 1):
        if line.startswith(":"):
            section = line[1:].strip()
            continue
        words = line.split()
        if len(words) != 4:
            raise DataError(f"has {len(words)} words instead of 4.", file=path, row=number)
        questions.append(words)
        sections.append(section)
    return {"data": np.array(questions, str), "metadata": {"section": sections}}


def table(path: Path, separator: str, width: int) -> list[list[str]]:
    """Lines of ``width`` fields; those that begin with # are comments."""
    rows = []
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if not line.strip() or line.startswith("#"):
            continue
        cells = line.rstrip("\r").split(separator)
        if len(cells) != width:
            problem = f"has {len(cells)} fields instead of {width}."
            raise DataError(problem, file=path, row=number)
        rows.append(cells)
    return rows


def numbers(path: Path, records: list[dict[str, str]], columns: tuple[str, ...]) -> np.ndarray:
    try:
        return np.array([[float(record[name]) for name in columns] for record in records])
    except ValueError as error:
        raise DataError(f"holds a value that is not a number: {error}.", file=path) from None
