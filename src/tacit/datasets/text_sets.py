"""Loaders of sets of documents. Each gives the fields of a ``Dataset``."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tacit.core.errors import DataError
from tacit.datasets.data_files import read_csv, read_jsonl, read_lines, read_text

__all__ = [
    "brown_tagged", "enwiki", "federalist", "langid", "movie_reviews", "names", "newsgroups",
    "oz", "ptb", "senseval", "shakespeare", "sms_spam",
]  # fmt: skip

Fields = dict[str, Any]


def classes(labels: Sequence[str]) -> Fields:
    """Labels as indices of their sorted names."""
    names, target = np.unique(np.array(labels, str), return_inverse=True)
    return {"target": target.astype(np.int64), "target_names": names.tolist()}


def columns(records: list[dict[str, Any]], *fields: str) -> dict[str, list]:
    return {field: [record[field] for record in records] for field in fields}


def brown_tagged(folder: Path, part: str) -> Fields:
    """file, category, sents: lists of [word, tag]. The target is the category."""
    records = read_jsonl(folder / "brown.jsonl.gz", "file", "category", "sents")
    texts = [
        "\n".join(" ".join(word for word, _ in sentence) for sentence in record["sents"])
        for record in records
    ]
    metadata = {"id": [r["file"] for r in records], "sents": [r["sents"] for r in records]}
    return {
        "documents": texts,
        "metadata": metadata,
        **classes([r["category"] for r in records]),
    }


def enwiki(folder: Path, part: str) -> Fields:
    """One article a line; the start of text8 is one document."""
    return {"documents": read_lines(folder / f"{part}.txt.gz")}


def federalist(folder: Path, part: str) -> Fields:
    """number, author, status, title, text. Leave status "disputed" out of training."""
    fields = ("number", "author", "status", "title", "text")
    records = read_csv(folder / "federalist.csv.gz", *fields)
    return {
        "documents": [record["text"] for record in records],
        "metadata": {"id": [r["number"] for r in records], **columns(records, *fields[1:4])},
        **classes([record["author"] for record in records]),
    }


def langid(folder: Path, part: str) -> Fields:
    """lang, split, text."""
    records = read_jsonl(folder / "sentences.jsonl.gz", "lang", "split", "text")
    records = [record for record in records if part in ("all", record["split"])]
    return {
        "documents": [record["text"] for record in records],
        "metadata": columns(records, "split"),
        **classes([record["lang"] for record in records]),
    }


def movie_reviews(folder: Path, part: str) -> Fields:
    """id, label, text; reviews also fold, the customary tenth each belongs to."""
    file = {"reviews": "movie_reviews", "sentences": "rt_polarity"}.get(part, part)
    extra = ("fold",) if part == "reviews" else ()
    records = read_jsonl(folder / f"{file}.jsonl.gz", "id", "label", "text", *extra)
    lexicon = {
        f"{sign}_words": read_lines(folder / f"opinion_lexicon_{sign}.txt")
        for sign in ("positive", "negative")
    }
    return {
        "documents": [record["text"] for record in records],
        "metadata": columns(records, "id", *extra),
        "extra": lexicon,
        **classes([record["label"] for record in records]),
    }


def names(folder: Path, part: str) -> Fields:
    """One name a line."""
    lists = {sex: read_lines(folder / f"{sex}.txt") for sex in ("female", "male")}
    labels = [sex for sex, found in lists.items() for _ in found]
    return {"documents": [n for found in lists.values() for n in found], **classes(labels)}


def newsgroups(folder: Path, part: str) -> Fields:
    """id, label, split, text: whole posts, with headers, quotes and signatures."""
    files = ("train", "test") if part == "all" else (part,)
    records = [
        record
        for file in files
        for record in read_jsonl(folder / f"{file}.jsonl.gz", "id", "label", "split", "text")
    ]
    return {
        "documents": [record["text"] for record in records],
        "metadata": columns(records, "id", "split"),
        **classes([record["label"] for record in records]),
    }


def oz(folder: Path, part: str) -> Fields:
    """file, author, label, title, year, series. The target is the label: "contested" is The
    Royal Book of Oz, "baum_nonoz" and "thompson_nonoz" are not books of Oz."""
    fields = ("file", "author", "label", "title", "year", "series")
    records = read_csv(folder / "index.csv", *fields)
    return {
        "documents": [read_text(folder / record["file"]) for record in records],
        "metadata": {
            "id": [record["file"].partition(".")[0] for record in records],
            **columns(records, "author", "title", "series"),
            "year": [int(record["year"]) for record in records],
        },
        **classes([record["label"] for record in records]),
    }


def ptb(folder: Path, part: str) -> Fields:
    """One sentence a line, tokens between spaces."""
    return {"documents": read_lines(folder / f"ptb.{part}.txt.gz")}


def senseval(folder: Path, part: str) -> Fields:
    """id, word, senses, position, tokens, tags. Documents are the tokens between spaces."""
    fields = ("id", "senses", "position", "tokens", "tags")
    records = read_jsonl(folder / f"{part}.jsonl.gz", *fields)
    return {
        "documents": [" ".join(record["tokens"]) for record in records],
        "metadata": columns(records, "id", "position", "tokens", "tags"),
        **classes([record["senses"][0] for record in records]),
    }


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
