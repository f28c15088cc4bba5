"""Classifiers that learn from 5 GB of documents in bounded memory.

A Parquet file of generated documents and labels is walked once, block by block: words are
hashed to 2^18 columns and each model goes on from where it was with ``partial_fit``. The
quality is the accuracy on documents made the same way that were not in the file. The process
must stay under 1 GB, kernels and weights included; the text is five times that.

Each class draws a quarter of its words from an order of its own, the rest from a Zipf law that
all share: a few thousand documents are not enough to know the classes apart.
"""

import shutil
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
COLUMNS = 2**18
ROWS = 16_384  # documents to a group of the file
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
            done += sum(map(len, texts))
            number, rows = number + 1, rows + len(texts)
    labels, texts = documents(2000, 0)
    pq.write_table(pa.table({"label": labels, "text": texts}, SCHEMA), small)
    labels, texts = documents(4000, -1)
    return {
        "path": str(path), "small": str(small), "labels": labels, "texts": texts,
        "about": f"{rows:,} documents in {CLASSES} classes, {done / 1e9:.2f} GB of text",
    }  # fmt: skip


def documents(n: int, number: int) -> tuple[list[str], list[str]]:
    """Labels and texts of one chunk, a function of its number."""
    rng = np.random.default_rng([7, number + 1])
    law = 1 / np.arange(2, WORDS + 2)
    reach = np.cumsum(law / law.sum())
    words = np.array([f"w{i:x}q" for i in range(WORDS)])
    labels = rng.integers(CLASSES, size=n)
    lengths = rng.integers(LENGTH // 2, 3 * LENGTH // 2, size=n)
    total = int(lengths.sum())
    drawn = np.minimum(np.searchsorted(reach, rng.random(total)), WORDS - 1)
    owner = np.repeat(labels, lengths)
    own = rng.random(total) < 0.25
    drawn[own] = (drawn[own] * CLASSES + owner[own]) % WORDS
    pieces = np.split(words[drawn], np.cumsum(lengths)[:-1])
    return [f"c{y}" for y in labels], [" ".join(piece) for piece in pieces]


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
    for block, count in zip(stream.blocks, stream.counts, strict=True):
        rows = hashed.transform(Documents((block,), count))
        model.partial_fit(rows, np.array(list(block.column("label"))), classes=classes)
        seen += count
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
