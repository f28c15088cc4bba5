"""Classifiers that learn from 5 GB of documents in bounded memory.

A Parquet file of generated documents and labels is walked once, two blocks at a time: words
are hashed to 2^18 columns and each model goes on from where it was with ``partial_fit``. The
quality is the accuracy on documents made the same way that were not in the file. The process
must stay under 1 GB, kernels and weights included; the text is five times that.

Each class draws a quarter of its words from an order of its own, the rest from a Zipf law that
all share: a few thousand documents are not enough to know the classes apart.
"""

import shutil
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.harness import Answer, Case, Check, Contender, Data, Row, Unable

__all__ = ["cases"]

SIZE = 5_000_000_000  # bytes
LIMIT = 1_000_000_000  # bytes the process may hold
CLASSES = 8
WORDS = 50_000  # different ones
LENGTH = 60  # of a document, on average
DRAWS = 2**20  # places of the table that words are drawn from
COLUMNS = 2**18
ROWS = 16_384  # documents to a group of the file
STRIDE = 2  # groups to a call of partial_fit
SCHEMA = pa.schema({"label": pa.string(), "text": pa.string()})
SETTINGS: dict[str, dict] = {
    "MultinomialNB": {},
    "Perceptron": {"random_state": 0},
    "LogisticRegression": {"solver": "sgd", "random_state": 0},
}


def cases(scale: float) -> list[Case]:
    return [
        Case(
            f"{SIZE * scale / 1e9:g} GB of documents",
            lambda folder: write(folder, int(SIZE * scale)),
            [Contender(f"Tacit {name}", RUNS[name]) for name in SETTINGS],
            accuracy,
            measure="accuracy",
            lower_is_better=False,
            tolerance=1.0,  # different models, beside each other
            check=check,
            warmup=lambda data: {**data, "path": data["small"]},
            repeats=1,
        )
    ]


def write(folder: Path, size: int) -> Data:
    need, free = size / 2, shutil.disk_usage(folder).free  # packed to about a third
    if need > 0.9 * free:
        raise Unable(f"needs {need / 1e9:.1f} GB of disk, {free / 1e9:.1f} GB are free")
    path, small = folder / "documents.parquet", folder / "small.parquet"
    done, number, rows = 0, 0, 0
    with pq.ParquetWriter(path, SCHEMA, compression="zstd") as file:
        while done < size:
            labels, texts = documents(ROWS, number)
            file.write_table(pa.table({"label": labels, "text": texts}, SCHEMA))
            done += texts.buffers()[2].size
            number, rows = number + 1, rows + len(texts)
    labels, texts = documents(2000, 0)
    pq.write_table(pa.table({"label": labels, "text": texts}, SCHEMA), small)
    labels, texts = documents(4000, -1)
    return {
        "path": str(path), "small": str(small), "labels": labels, "texts": texts.to_pylist(),
        "about": f"{rows:,} documents in {CLASSES} classes, {done / 1e9:.2f} GB of text",
    }  # fmt: skip


def documents(n: int, number: int) -> tuple[list[str], pa.StringArray]:
    """Labels and texts of one chunk, a function of its number."""
    rng = np.random.default_rng([7, number + 1])
    labels = rng.integers(CLASSES, size=n)
    lengths = rng.integers(LENGTH // 2, 3 * LENGTH // 2, size=n)
    total = int(lengths.sum())
    drawn = zipf()[rng.integers(DRAWS, size=total, dtype=np.int32)]
    owner = np.repeat(labels, lengths)
    own = rng.random(total) < 0.25
    drawn[own] = (drawn[own] * CLASSES + owner[own]) % WORDS
    return [f"c{y}" for y in labels], joined(drawn, lengths)


def joined(drawn: np.ndarray, lengths: np.ndarray) -> pa.StringArray:
    """Texts of so many of the words each, with spaces between, made without a string."""
    letters, sizes = alphabet()
    starts = (np.cumsum(sizes, dtype=np.int32) - sizes)[drawn]
    sizes = sizes[drawn]
    ends = np.cumsum(sizes, dtype=np.int32)
    places = np.arange(ends[-1], dtype=np.int32)
    places += np.repeat(starts - (ends - sizes), sizes)
    edges = ends[np.cumsum(lengths) - 1]
    kept = np.ones(len(places), np.bool_)
    kept[edges - 1] = False  # the space after a text
    edges = np.concatenate([[0], edges - np.arange(1, len(edges) + 1)]).astype(np.int32)
    buffers = [None, pa.py_buffer(edges), pa.py_buffer(letters[places][kept])]
    return pa.Array.from_buffers(pa.string(), len(lengths), buffers)


@cache
def zipf() -> np.ndarray:
    """Words as often as Zipf's law has them, to draw from."""
    law = 1 / np.arange(2, WORDS + 2)
    reach = np.cumsum(law / law.sum())
    every = (np.arange(DRAWS) + 0.5) / DRAWS
    return np.minimum(np.searchsorted(reach, every), WORDS - 1).astype(np.int32)


@cache
def alphabet() -> tuple[np.ndarray, np.ndarray]:
    """The bytes of all words, each with a space after it, and how many those are."""
    words = [f"w{i:x}q " for i in range(WORDS)]
    return np.frombuffer("".join(words).encode(), np.uint8), np.array(
        [*map(len, words)], np.int32
    )


def accuracy(data: Data, answer: Answer) -> float:
    return float(np.mean(np.asarray(answer["found"]) == np.asarray(data["labels"])))


def check(data: Data, rows: dict[str, Row]) -> list[Check]:
    out = []
    for name, row in rows.items():
        if row.peak is not None:
            text = (
                f"{name} stays under {LIMIT / 1e6:.0f} MB: {row.peak / 1e6:.0f} MB at its peak"
            )
            out.append(Check(text, row.peak < LIMIT))
        if row.quality is not None:
            out.append(Check(f"{name} has learned: {row.quality:.4f}", row.quality > 0.85))
    return out


# --- Contenders ---


def run_model(name: str, data: Data, threads: int) -> Answer:
    import tacit.classify
    from tacit.core.engines import Threads
    from tacit.data import Documents
    from tacit.text import HashingVectorizer

    hashed = HashingVectorizer(
        n_features=COLUMNS,
        alternate_sign=False,
        norm=None if name == "MultinomialNB" else "l2",
        engine=Threads(threads),
    )
    settings = SETTINGS[name]
    model = getattr(tacit.classify, name)(**settings)
    classes = [f"c{k}" for k in range(CLASSES)]
    seen = 0
    stream = Documents.open(data["path"], text="text")
    for i in range(0, len(stream.blocks), STRIDE):
        blocks = stream.blocks[i : i + STRIDE]
        rows = hashed.transform(Documents(blocks, sum(stream.counts[i : i + STRIDE])))
        labels = np.concatenate([np.array(list(block.column("label"))) for block in blocks])
        model.partial_fit(rows, labels, classes=classes)
        seen += len(labels)
    found = model.predict(hashed.transform(data["texts"]))
    return {"found": found.tolist(), "documents": seen}


def run_naive_bayes(data: Data, threads: int) -> Answer:
    return run_model("MultinomialNB", data, threads)


def run_perceptron(data: Data, threads: int) -> Answer:
    return run_model("Perceptron", data, threads)


def run_logistic(data: Data, threads: int) -> Answer:
    return run_model("LogisticRegression", data, threads)


RUNS = {
    "MultinomialNB": run_naive_bayes,
    "Perceptron": run_perceptron,
    "LogisticRegression": run_logistic,
}
