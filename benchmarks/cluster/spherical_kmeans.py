"""Spherical k-means on TF-IDF rows of texts, against plain SciPy products.

The rival is the textbook in twenty lines: normalize once, cosines of all rows with all centers
by one sparse product, sums per center by another, from the same first centers and with the same
rule to stop. It runs in float32, the dtype of the rows, on one thread: SciPy's products have no
more. So does Tacit. The quality is the sum of 1 - cos in float64 from each contender's centers.

The texts are 20 Newsgroups, AG News and the SMS collection where TACIT_DATA has them, through
scikit-learn's TfidfVectorizer; else generated documents of Zipf words.
"""

import gzip
import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.data import data_folder, newsgroups_tfidf, zipf_counts
from benchmarks.harness import Answer, Case, Contender, Data

__all__ = ["cases"]

UPDATES, TOLERANCE = 100, 1e-4


def cases(scale: float) -> list[Case]:
    sets = {  # name, number of clusters
        "newsgroups": 20,
        "ag_news": 8,
        "sms_spam": 6,
    }
    return [
        Case(
            f"{name}, k={k}", partial(rows, name, k, scale), CONTENDERS, loss,
            targets={"SciPy": 1.0}, tolerance=0.001, warmup=two_updates,
        )
        for name, k in sets.items()
    ]  # fmt: skip


def rows(name: str, k: int, scale: float, folder: Path) -> Data:
    if name == "newsgroups":
        X, origin = newsgroups_tfidf(int(20_000 * scale), 30_000)
    else:
        X, origin = short_texts(name, int(8000 * scale))
    pick = np.random.default_rng(0).permutation(X.shape[0])[:k]
    start = X[np.sort(pick)].toarray().astype(np.float64) + 1e-9
    about = f"{origin}; {X.shape[0]:,} x {X.shape[1]:,}, {X.nnz:,} values"
    return {"X": X, "start": start, "max_iter": UPDATES, "about": about}


def short_texts(name: str, n: int) -> tuple[sp.csr_array, str]:
    from sklearn.feature_extraction.text import TfidfTransformer, TfidfVectorizer

    folder = data_folder()
    if folder is None or not (folder / name).exists():
        counts = zipf_counts(n, 10_000, topics=8, seed=5)
        return sp.csr_array(TfidfTransformer().fit_transform(counts).astype("f4")), "generated"
    if name == "ag_news":
        with gzip.open(folder / name / "ag_news.jsonl.gz", "rt", encoding="utf8") as file:
            texts = [json.loads(line)["text"] for line in file]
    else:
        path = folder / name / "SMSSpamCollection.tsv.gz"
        with gzip.open(path, "rt", encoding="utf8") as file:
            texts = [line.partition("\t")[2] for line in file]
    X = TfidfVectorizer(dtype=np.float32).fit_transform(texts[:n])
    return sp.csr_array(X[X.getnnz(axis=1) > 0]), name


def two_updates(data: Data) -> Data:
    return {**data, "max_iter": 2}


def loss(data: Data, answer: Answer) -> float:
    """The sum of 1 - cos to the nearest center, in float64."""
    X = unit(data["X"].astype(np.float64))
    centers = np.asarray(answer["centers"], np.float64)
    centers = centers / np.linalg.norm(centers, axis=1, keepdims=True)
    return float((1 - (X @ centers.T).max(axis=1)).sum())


def unit(X: Any) -> sp.csr_array:
    lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1))).ravel()
    return sp.csr_array(sp.diags_array(1 / lengths).astype(X.dtype) @ X)


# --- Contenders ---


def tacit_spherical(data: Data, threads: int) -> Answer:
    from tacit.cluster import SphericalKMeans

    model = SphericalKMeans(
        len(data["start"]), init=data["start"], max_iter=data["max_iter"], tol=TOLERANCE,
        engine="serial",
    ).fit(data["X"])  # fmt: skip
    return {"centers": model.cluster_centers_, "updates": int(model.n_iter_)}


def scipy_spherical(data: Data, threads: int) -> Answer:
    X = unit(data["X"])
    n, d = X.shape
    centers = data["start"] / np.linalg.norm(data["start"], axis=1, keepdims=True)
    centers = centers.astype(X.dtype)
    mean = np.asarray(X.mean(axis=0)).ravel()
    variance = float(X.multiply(X).sum() / n - (mean**2).sum()) / d
    updates = 0
    for _ in range(data["max_iter"]):
        updates += 1
        labels = (X @ centers.T).argmax(axis=1)
        each = (np.ones(n, X.dtype), labels, np.arange(n + 1))
        sums = (sp.csr_array(each, shape=(n, len(centers))).T @ X).toarray()
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        moved = np.where(lengths > 0, sums / np.maximum(lengths, 1e-30), centers)
        step = float(((moved - centers) ** 2).sum())
        centers = moved
        if step <= TOLERANCE * variance:
            break
    return {"centers": centers, "updates": updates}


CONTENDERS = (
    Contender("Tacit", tacit_spherical),
    Contender("SciPy", scipy_spherical, package="scipy", install="scipy", rival="SciPy"),
)
