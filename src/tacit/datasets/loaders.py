"""Loaders of the data sets, each with the name of its set. A loader takes the folder of the set
and a part, and returns the fields of a ``Dataset``. Errors name the file and row."""

import csv
import gzip
import json
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from tacit.core.errors import DataError

__all__ = [
    "bodyfat", "brown_tagged", "enwiki_text8style", "federalist", "langid", "mnist",
    "movie_reviews", "movielens_100k", "names", "newsgroups", "olivetti", "oz", "ptb",
    "senseval", "shakespeare", "sms_spam", "spelling", "word_similarity",
]  # fmt: skip

Fields = dict[str, Any]


# --- Documents ---


def classes(labels: Sequence[str]) -> Fields:
    """Labels as indices of their sorted names."""
    names, target = np.unique(np.array(labels, str), return_inverse=True)
    return {"target": target.astype(np.int64), "target_names": names.tolist()}


def labeled(records: list[dict[str, Any]], label: str, *metadata: str) -> Fields:
    """Documents ("text" of every record), their labels, and columns of metadata."""
    return {
        "documents": [record["text"] for record in records],
        "metadata": {name: [record[name] for record in records] for name in metadata},
        **classes([record[label] for record in records]),
    }


def brown_tagged(folder: Path, part: str) -> Fields:
    """file, category, sents: lists of [word, tag]. The target is the category."""
    records = read_jsonl(folder / "brown.jsonl.gz", "file", "category", "sents")
    for each in records:
        lines = (" ".join(word for word, _ in sentence) for sentence in each["sents"])
        each.update(id=each["file"], text="\n".join(lines))
    return labeled(records, "category", "id", "sents")


def enwiki_text8style(folder: Path, part: str) -> Fields:
    """One article a line; the start of text8 is one document."""
    return {"documents": read_lines(folder / f"{part}.txt.gz")}


def federalist(folder: Path, part: str) -> Fields:
    """number, author, status, title, text. Leave status "disputed" out of training."""
    fields = ("number", "author", "status", "title", "text")
    records = read_csv(folder / "federalist.csv.gz", *fields)
    for each in records:
        each["id"] = each["number"]
    return labeled(records, "author", "id", "author", "status", "title")


def langid(folder: Path, part: str) -> Fields:
    """lang, split, text."""
    records = read_jsonl(folder / "sentences.jsonl.gz", "lang", "split", "text")
    return labeled([r for r in records if part in ("all", r["split"])], "lang", "split")


def movie_reviews(folder: Path, part: str) -> Fields:
    """id, label, text; reviews also fold, the customary tenth each belongs to."""
    file = {"reviews": "movie_reviews", "sentences": "rt_polarity"}.get(part, part)
    metadata = ("id", "fold") if part == "reviews" else ("id",)
    records = read_jsonl(folder / f"{file}.jsonl.gz", "label", "text", *metadata)
    lexicon = {
        f"{sign}_words": read_lines(folder / f"opinion_lexicon_{sign}.txt")
        for sign in ("positive", "negative")
    }
    return {**labeled(records, "label", *metadata), "extra": lexicon}


def names(folder: Path, part: str) -> Fields:
    """One name a line."""
    female, male = (read_lines(folder / f"{sex}.txt") for sex in ("female", "male"))
    labels = ["female"] * len(female) + ["male"] * len(male)
    return {"documents": female + male, **classes(labels)}


def newsgroups(folder: Path, part: str) -> Fields:
    """id, label, split, text: whole posts, with headers, quotes and signatures."""
    fields = ("id", "label", "split", "text")
    files = ("train", "test") if part == "all" else (part,)
    records = [r for f in files for r in read_jsonl(folder / f"{f}.jsonl.gz", *fields)]
    return labeled(records, "label", "id", "split")


def oz(folder: Path, part: str) -> Fields:
    """file, author, label, title, year, series. The target is the label: "contested" is The
    Royal Book of Oz, "baum_nonoz" and "thompson_nonoz" are not books of Oz."""
    fields = ("file", "author", "label", "title", "year", "series")
    records: list[dict[str, Any]] = read_csv(folder / "index.csv", *fields)  # type: ignore[assignment]
    for each in records:
        name = each["file"]
        each.update(id=name.partition(".")[0], year=int(each["year"]))
        each["text"] = read_text(folder / name)
    return labeled(records, "label", "id", "author", "title", "series", "year")


def ptb(folder: Path, part: str) -> Fields:
    """One sentence a line, tokens between spaces."""
    return {"documents": read_lines(folder / f"ptb.{part}.txt.gz")}


def senseval(folder: Path, part: str) -> Fields:
    """id, word, senses, position, tokens, tags. Documents are the tokens between spaces."""
    fields = ("id", "senses", "position", "tokens", "tags")
    records = read_jsonl(folder / f"{part}.jsonl.gz", *fields)
    for each in records:
        each.update(text=" ".join(each["tokens"]), sense=each["senses"][0])
    return labeled(records, "sense", "id", "position", "tokens", "tags")


def shakespeare(folder: Path, part: str) -> Fields:
    """One file a work, named after it; or one document of speeches."""
    if part == "tiny":
        return {"documents": [read_text(folder / "tinyshakespeare.txt.gz")]}
    paths = sorted((folder / "works").glob("*.txt.gz"))
    if not paths:
        raise DataError("holds no .txt.gz files. Copy them again.", file=folder / "works")
    return {
        "documents": [read_text(path) for path in paths],
        "metadata": {"id": [path.name.partition(".")[0] for path in paths]},
    }


def sms_spam(folder: Path, part: str) -> Fields:
    """A label, a tab and a message a line; quotes are part of the message."""
    path = folder / "SMSSpamCollection.tsv.gz"
    labels, messages = [], []
    for number, line in enumerate(read_text(path).split("\n"), 1):
        label, tab, message = line.rstrip("\r").partition("\t")
        if tab:
            labels.append(label)
            messages.append(message)
        elif line.strip():
            raise DataError("has no tab after its label.", file=path, row=number)
    return {"documents": messages, **classes(labels)}


# --- Rows: numbers, pictures, ratings, pairs of words ---

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


def movielens_100k(folder: Path, part: str) -> Fields:
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
                    "id": int(id), "title": title, "released": released,
                    "genres": [g for g, f in zip(genres, flags, strict=True) if f == "1"],
                }
                for id, title, released, _, _, *flags in films
            ],
            "users": [
                {"id": int(id), "age": int(age), "gender": gender, "occupation": occupation}
                for id, age, gender, occupation, _ in users
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


# --- Files ---


@contextmanager
def opened(path: Path) -> Iterator[TextIO]:
    """A text file in UTF-8, compressed if its name ends in .gz."""
    try:
        with (
            gzip.open(path, "rt", encoding="utf-8", newline="")
            if path.suffix == ".gz"
            else open(path, encoding="utf-8", newline="")
        ) as stream:
            yield stream
    except FileNotFoundError:
        raise DataError("is missing from the data set. Copy it there.", file=path) from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataError(f"is damaged: {error}. Copy it again.", file=path) from error
    except UnicodeDecodeError as error:
        raise DataError(f"is not UTF-8: {error.reason}. Copy it again.", file=path) from error


def read_text(path: Path) -> str:
    """The content of a file; line ends become newlines."""
    with opened(path) as stream:
        return stream.read().replace("\r\n", "\n")


def read_lines(path: Path) -> list[str]:
    """The lines that are not blank, without surrounding white space."""
    return [line.strip() for line in read_text(path).split("\n") if line.strip()]


def read_jsonl(path: Path, *fields: str) -> list[dict[str, Any]]:
    """One JSON object a line, each with these fields."""
    records = []
    with opened(path) as stream:
        for number, line in enumerate(stream, 1):
            try:
                record = json.loads(line)
            except json.JSONDecodeError as error:
                problem = f"is not JSON: {error.msg}. Copy the file again."
                raise DataError(problem, file=path, row=number) from None
            absent = [f for f in fields if not isinstance(record, dict) or f not in record]
            if absent:
                raise DataError(f"has no {absent[0]!r}.", file=path, row=number)
            records.append(record)
    return records


def read_csv(path: Path, *fields: str) -> list[dict[str, str]]:
    """Records of a .csv file with a header that has these fields."""
    with opened(path) as stream:
        reader = csv.DictReader(stream, strict=True)
        limit = csv.field_size_limit(2**31 - 1)  # a field may hold a book
        try:
            absent = [f for f in fields if f not in (reader.fieldnames or ())]
            if absent:
                raise DataError(f"has no column {absent[0]!r}.", file=path)
            return list(reader)
        except csv.Error as error:
            raise DataError(f"is not CSV: {error}.", file=path, row=reader.line_num) from None
        finally:
            csv.field_size_limit(limit)


def read_npz(path: Path, *names: str) -> list[Any]:
    """Arrays of an .npz file, by name; never a pickle."""
    try:
        with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as file:
            return [file[name] for name in names]
    except FileNotFoundError:
        raise DataError("is missing from the data set. Copy it there.", file=path) from None
    except (KeyError, ValueError, EOFError, OSError, zipfile.BadZipFile, zlib.error) as error:
        raise DataError(f"is damaged: {error}. Copy it again.", file=path) from error
