"""Fixed data for the benchmarks: the same bytes for every contender and every run.

Real data comes from the folder that the environment variable TACIT_DATA names, as
``mnist/mnist.npz`` (x_train) and ``newsgroups/{train,test}.jsonl.gz`` (one object with a
"text" a line). Where it is absent, data of the same shape and character is generated, and
the result says which of the two it was.
"""

import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import scipy.sparse as sp

__all__ = ["digits", "mixture", "mixture_chunks", "newsgroups_tfidf"]

CHUNK = 65_536


def mixture(n: int, d: int, *, components: int, separation: float, seed: int, dtype="f4"):
    """Rows of a mixture of overlapping normals, in one array. See ``mixture_chunks``."""
    rows = np.empty((n, d), dtype)
    start = 0
    for chunk in mixture_chunks(n, d, components=components, separation=separation, seed=seed):
        rows[start : start + len(chunk)] = chunk
        start += len(chunk)
    return rows


def mixture_chunks(
    n: int, d: int, *, components: int, separation: float, seed: int
) -> Iterator[np.ndarray]:
    """Rows of a mixture of overlapping normals, float32, a chunk at a time.

    Made to resemble measurements rather than to please an algorithm: the sizes of the
    components are log-normal (the largest dozens of times the smallest), so are their
    widths; their variance falls off along the axes as principal components' do and is then
    rotated into all columns; two components lie ``separation`` of their widths apart on
    average, and nearer neighbors overlap; one row in twenty is background, drawn from a
    normal wider than the whole. ``components`` should differ from the k that is asked for.
    """
    rng = np.random.default_rng(seed)
    weights = rng.lognormal(sigma=1.0, size=components)
    widths = rng.lognormal(sigma=0.3, size=components).astype("f4")
    axes = (1 + np.arange(d, dtype="f4")) ** np.float32(-0.5)
    means = rng.standard_normal((components, d), "f4") * (separation / np.sqrt(2 * d)) * axes
    rotation = np.linalg.qr(rng.standard_normal((d, d)))[0].astype("f4")
    whole = np.float32(1.5 * np.sqrt(1 + separation**2 / (2 * d)))
    for start in range(0, n, CHUNK):
        size = min(CHUNK, n - start)
        label = rng.choice(components, size=size, p=weights / weights.sum())
        background = rng.random(size) < 0.05
        width = np.where(background, whole, widths[label])[:, None]
        center = np.where(background[:, None], 0, means[label])
        rows = center + width * axes * rng.standard_normal((size, d), "f4")
        yield (rows.astype("f4") @ rotation).astype("f4")


def digits(n: int) -> tuple[np.ndarray, str]:
    """Handwritten digits as rows of 784 gray values, float32, and where they come from."""
    folder = data_folder()
    if folder is not None and (path := folder / "mnist" / "mnist.npz").exists():
        with np.load(path) as file:
            return file["x_train"][:n].reshape(-1, 784).astype("f4"), "MNIST, training set"
    rows = mixture(n, 784, components=30, separation=8.0, seed=3)
    return rows, "generated: mixture of 30, TACIT_DATA has no mnist"


def newsgroups_tfidf(n: int, width: int) -> tuple[sp.csr_array, str]:
    """TF-IDF rows of 20 Newsgroups, float32, in shuffled order, and where they come from."""
    from sklearn.feature_extraction.text import TfidfTransformer, TfidfVectorizer

    folder = data_folder()
    if folder is not None and (folder / "newsgroups" / "train.jsonl.gz").exists():
        texts = []
        for part in ("train", "test"):
            path = folder / "newsgroups" / f"{part}.jsonl.gz"
            with gzip.open(path, "rt", encoding="utf8") as file:
                texts += [json.loads(line)["text"] for line in file]
        order = np.random.default_rng(0).permutation(len(texts))[:n]  # sorted by class on disk
        chosen = [texts[i] for i in order]
        rows = TfidfVectorizer(max_features=width, dtype=np.float32).fit_transform(chosen)
        origin = f"20 Newsgroups, training and test set: {len(chosen):,} posts"
    else:
        rows = TfidfTransformer().fit_transform(zipf_counts(n, width, topics=40, seed=4))
        origin = f"generated: {n:,} documents of Zipf words, TACIT_DATA has no newsgroups"
    return sp.csr_array(rows.astype("f4")), origin


def zipf_counts(n: int, width: int, *, topics: int, seed: int) -> sp.csr_matrix:
    """Word counts of documents that draw half their words from a Zipf law all share and
    half from one of ``topics`` reorderings of it; lengths are log-normal, about 150."""
    rng = np.random.default_rng(seed)
    law = 1 / np.arange(2, width + 2)
    reach = np.cumsum(law / law.sum())
    orders = [rng.permutation(width) for _ in range(topics)]
    topic = rng.choice(topics, size=n, p=rng.dirichlet(np.full(topics, 2.0)))
    lengths = np.maximum(5, rng.lognormal(np.log(150), 0.8, n)).astype(int)
    words = []
    for t, length in zip(topic, lengths, strict=True):
        drawn = np.minimum(np.searchsorted(reach, rng.random(length)), width - 1)
        own = rng.random(length) < 0.5
        drawn[own] = orders[t][drawn[own]]
        words.append(drawn)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    counts = sp.csr_matrix(
        (np.ones(indptr[-1], "f4"), np.concatenate(words), indptr), shape=(n, width)
    )
    counts.sum_duplicates()
    return counts


def data_folder() -> Path | None:
    given = os.environ.get("TACIT_DATA")
    return Path(given) if given else None
