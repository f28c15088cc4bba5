"""Small files under the names that the pages use in their commands: letters/, mail.csv, ..."""

import csv
import gzip
import json
import random
from pathlib import Path

import numpy as np

__all__ = ["write_sample_files"]

SEA = [
    "whale", "ship", "harbor", "sailor", "wave", "captain", "storm", "mast", "anchor", "bank",
]  # fmt: skip
BREAD = [
    "flour", "oven", "yeast", "dough", "crust", "baker", "salt", "butter", "money", "bank",
]  # fmt: skip
SPAM = ["win", "free", "money", "prize", "now", "claim", "cash", "offer"]
HAM = ["lunch", "noon", "meeting", "see", "you", "tomorrow", "office", "report"]
SMALL_WORDS = ("the of and a to in that it is was", "on or but as which upon by for with from")


def write_sample_files(folder: Path) -> None:
    """Write every input that a command of the documentation reads, in a few kilobytes each."""
    rng = random.Random(0)
    texts = [letter(rng, (SEA, BREAD)[i % 2]) for i in range(48)]
    write_texts(folder, rng, texts)
    write_tables(folder, rng, texts)
    write_numbers(folder)
    write_authors(folder, rng)
    write_ratings(folder, rng)


def letter(rng: random.Random, words: list[str]) -> str:
    start = f"The {rng.choice(words)} saw a {rng.choice(words)} at the {rng.choice(words)}."
    return f"{start} {' '.join(rng.choice(words) for _ in range(12))}."


def write_texts(folder: Path, rng: random.Random, texts: list[str]) -> None:
    for name in ("letters", "new_letters", "held_out", "books"):
        (folder / name).mkdir()
        for i, text in enumerate(texts):
            (folder / name / f"{i:02}.txt").write_text(text)
    for label, words in (("spam", SPAM), ("ham", HAM)):
        (folder / "mail" / label).mkdir(parents=True)
        for i in range(12):
            text = " ".join(rng.choice(words) for _ in range(8))
            (folder / "mail" / label / f"{i}.txt").write_text(text)
    lines = "\n".join(texts) + "\n"
    for name in ("letters", "corpus", "test", "sentences", "new"):
        (folder / f"{name}.txt").write_text(lines)
    (folder / "message.txt").write_text("claim your free prize money now\n")
    (folder / "letter.txt").write_text("The sialor saw the ship at the harbor.\n")
    questions = ": pairs\nwhale ship flour oven\nsailor wave baker salt\n"
    (folder / "questions-words.txt").write_text(questions)


def write_tables(folder: Path, rng: random.Random, texts: list[str]) -> None:
    def table(name: str, head: list[str], rows: list) -> None:
        with open(folder / name, "w", newline="", encoding="utf-8") as stream:
            csv.writer(stream).writerows([head, *rows])

    topics = ["sea", "bread"] * 24
    some = [topic if i < 16 else "" for i, topic in enumerate(topics)]
    labeled = list(zip(range(48), texts, some, strict=True))
    table("mail.csv", ["number", "body", "topic"], labeled)
    table("tickets.csv", ["number", "body", "team"], labeled)
    closed = list(zip(range(48), texts, topics, strict=True))
    table("closed.csv", ["number", "body", "team"], closed)
    table("letters.csv", ["body", "year"], [(t, 1900 + i % 4) for i, t in enumerate(texts)])
    table("reviews.csv", ["body", "stars"], list(zip(texts, topics, strict=True)))
    labels = ["spam", "ham"] * 8
    short = [" ".join(rng.choice((SPAM, HAM)[i % 2]) for _ in range(6)) for i in range(16)]
    table("test.csv", ["text", "label"], list(zip(short, labels, strict=True)))
    table("new.csv", ["number", "body"], list(zip(range(8), texts[:8], strict=True)))
    lines = [json.dumps({"id": i, "text": text}) for i, text in enumerate(texts)]
    for name in ("inbox.jsonl", "posts.jsonl"):
        (folder / name).write_text("\n".join(lines) + "\n")
    with gzip.open(folder / "posts.jsonl.gz", "wt", encoding="utf-8") as packed:
        packed.write("\n".join(lines) + "\n")
    cities = ["Ar", "Be", "Ce", "De", "Ed"]
    places = np.random.default_rng(0).random((5, 2)) * 100
    far = np.linalg.norm(places[:, None] - places, axis=2).round(3)
    distances = [[name, *row] for name, row in zip(cities, far, strict=True)]
    table("cities.csv", ["city", *cities], distances)


def write_numbers(folder: Path) -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 3)) + np.repeat([[0], [8], [16]], 20, axis=0)
    for name, head in (("flowers", "petal,sepal,stem"), ("body", "weight,height,chest")):
        lines = [head, *(",".join(f"{cell:.3f}" for cell in row) for row in rows)]
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
    digits = rng.random((64, 784)).astype(np.float32)
    np.save(folder / "digits.npy", digits)
    (folder / "faces" / "anna").mkdir(parents=True)
    (folder / "faces" / "bert").mkdir()
    from matplotlib.image import imsave

    for person in ("anna", "bert"):
        for i in range(5):
            imsave(folder / "faces" / person / f"{i}.png", rng.random((12, 10)), cmap="gray")


def write_authors(folder: Path, rng: random.Random) -> None:
    (folder / "novels").mkdir()
    for author, words in zip(("baum", "thompson"), SMALL_WORDS, strict=True):
        for title in ("one", "two", "three"):
            (folder / "novels" / f"{author}_{title}.txt").write_text(prose(rng, words.split()))
    (folder / "disputed.txt").write_text(prose(rng, SMALL_WORDS[1].split()))


def prose(rng: random.Random, small: list[str], n: int = 4000) -> str:
    return " ".join(rng.choice(small if rng.random() < 0.6 else SEA) for _ in range(n))


def write_ratings(folder: Path, rng: random.Random) -> None:
    lines = []
    for user in range(180, 200):
        for item in (50, 242, *rng.sample(range(300, 330), 12)):
            lines.append(f"{user}\t{item}\t{rng.randint(1, 5)}\t{880000000 + user}")
    (folder / "u.data").write_text("\n".join(lines) + "\n")
    items = [50, 242, *range(300, 330)]
    (folder / "u.item").write_text("\n".join(f"{i}|Film {i} (1995)|" for i in items) + "\n")
