"""Latent semantic indexing against the cosine of tf-idf vectors, on 20 Newsgroups.

Neighbours of the same group: every contender builds its index of all 18,846 posts and gives
the ten documents nearest to each of 2,000 posts. The quality is the share of those that come
from the post's own newsgroup; headers, which name it, are cut off. Everybody counts the words
that two posts or more hold.

The rivals are scikit-learn's TfidfVectorizer, with and without its TruncatedSVD, and brute
force: the latter is what LSI is without Tacit, and the one to be faster than. Words by BM25
weights without the decomposition show what the weights alone do. A query is a text of a few
words; the time of one, snippets and all, is in the notes.

Without TACIT_DATA the documents are generated: 40 topics of Zipf words.
"""

import gzip
import json
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import data_folder
from benchmarks.harness import Answer, Case, Check, Contender, Data, Row

__all__ = ["cases"]

QUERIES = [
    "space shuttle launch", "encryption key escrow", "hockey playoffs goalie",
    "motorcycle helmet", "windows printer driver", "gun control law",
]  # fmt: skip
TOP = 10
LATENCY = 5.0  # milliseconds


def cases(scale: float) -> list[Case]:
    return [
        Case(
            "neighbours of the same newsgroup",
            partial(posts, int(20_000 * scale), int(2000 * scale)),
            (TACIT, LSI, TFIDF, BM25),
            precision,
            measure="precision at 10",
            lower_is_better=False,
            tolerance=0.0,
            targets={"scikit-learn LSI": 1.5},
            check=checks,
        )
    ]


def posts(n: int, queries: int, folder: Path) -> Data:
    texts, labels, origin = newsgroups(n)
    asked = np.sort(np.random.default_rng(1).permutation(len(texts))[:queries])
    about = f"{origin}, {queries:,} of them asked for their neighbours, 100 components"
    return {"texts": texts, "labels": labels, "asked": asked, "about": about}


def newsgroups(n: int) -> tuple[list[str], np.ndarray, str]:
    home = data_folder()
    if home is None or not (home / "newsgroups" / "train.jsonl.gz").exists():
        return generated(n)
    texts, groups = [], []
    for part in ("train", "test"):
        path = home / "newsgroups" / f"{part}.jsonl.gz"
        with gzip.open(path, "rt", encoding="utf8") as file:
            for line in file:
                post = json.loads(line)
                _, gap, body = post["text"].partition("\n\n")
                texts.append(body if gap else post["text"])
                groups.append(post["label"])
    order = np.random.default_rng(0).permutation(len(texts))[:n]  # sorted by group on disk
    labels = np.unique(groups, return_inverse=True)[1][order]
    return [texts[i] for i in order], labels, f"20 Newsgroups: {len(order):,} posts"


def generated(n: int) -> tuple[list[str], np.ndarray, str]:
    rng = np.random.default_rng(5)
    law = 1 / np.arange(2, 20_002)
    reach = np.cumsum(law / law.sum())
    orders = [rng.permutation(20_000) for _ in range(40)]
    labels = rng.integers(40, size=n)
    texts = []
    for label in labels:
        words = np.minimum(np.searchsorted(reach, rng.random(90)), 19_999)
        words[:25] = orders[label][words[:25]]
        texts.append(" ".join(f"word{w}" for w in words))
    return texts, labels, f"generated: {n:,} documents of Zipf words"


def precision(data: Data, answer: Answer) -> float:
    """The share of neighbours with the label of the document asked about."""
    near = np.asarray(answer["neighbours"])
    return float((data["labels"][near] == data["labels"][data["asked"]][:, None]).mean())


def checks(data: Data, rows: dict[str, Row]) -> list[Check]:
    out = []
    ours = rows.get(TACIT.name)
    if ours is None or ours.quality is None or ours.answer is None:
        return out
    took = ours.answer["query ms"]
    out.append(Check(f"a query takes {took:.1f} ms, below {LATENCY:g}", took < LATENCY))
    for rival in (TFIDF, BM25):
        row = rows.get(rival.name)
        if row is not None and row.quality is not None:
            better = ours.quality > row.quality
            text = f"precision {ours.quality:.4f} beats {rival.name}, {row.quality:.4f}"
            out.append(Check(text, better))
    return out


def latency(ask: Any) -> float:
    """Milliseconds of a query: the median over the queries of the best of five."""
    times = []
    for query in QUERIES:
        ask(query)
        runs = []
        for _ in range(5):
            start = time.perf_counter()
            ask(query)
            runs.append(time.perf_counter() - start)
        times.append(min(runs))
    return 1e3 * float(np.median(times))


# --- Contenders ---


def tacit_lsi(data: Data, threads: int) -> Answer:
    from tacit.core.engines import Threads
    from tacit.search import SemanticIndex
    from tacit.text import CountVectorizer

    engine = Threads(threads)
    counter = CountVectorizer(min_df=2, engine=engine)
    index = SemanticIndex(100, vectorizer=counter, random_state=0, engine=engine)
    index.fit(data["texts"])
    near = [index.similar_documents(int(row), top=TOP, snippet=0).ids for row in data["asked"]]
    near = [ids + [ids[0] if ids else 0] * (TOP - len(ids)) for ids in near]  # empty posts
    took = latency(lambda query: index.search(query, top=TOP))
    return {"neighbours": np.array(near), "query ms": round(took, 2)}


def sklearn_lsi(data: Data, threads: int) -> Answer:
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.preprocessing import normalize

    vectorizer = TfidfVectorizer(min_df=2, sublinear_tf=True, dtype=np.float32)
    svd = TruncatedSVD(100, random_state=0)
    vectors = normalize(svd.fit_transform(vectorizer.fit_transform(data["texts"])))
    near = nearest(vectors @ vectors[data["asked"]].T, data["asked"])

    def ask(query: str) -> np.ndarray:
        place = normalize(svd.transform(vectorizer.transform([query])))
        return nearest(vectors @ place.T, np.array([-1]))

    return {"neighbours": near, "query ms": round(latency(ask), 2)}


def sklearn_tfidf(data: Data, threads: int) -> Answer:
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(min_df=2, sublinear_tf=True, dtype=np.float32)
    rows = vectorizer.fit_transform(data["texts"]).tocsr()
    return {"neighbours": nearest_sparse(rows, data["asked"])}


def tacit_bm25(data: Data, threads: int) -> Answer:
    from tacit.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(min_df=2, weighting="bm25", dtype=np.float32)
    rows = vectorizer.fit_transform(data["texts"]).tocsr()
    return {"neighbours": nearest_sparse(rows, data["asked"])}


def nearest_sparse(rows: Any, asked: np.ndarray) -> np.ndarray:
    parts = [
        nearest((rows @ rows[part].T).toarray(), part)
        for part in np.array_split(asked, max(1, len(asked) // 200))
    ]
    return np.concatenate(parts)


def nearest(scores: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """(q, 10) rows with the highest of (n, q) scores, without the one asked about."""
    scores = scores.copy()
    there = asked >= 0
    scores[asked[there], np.flatnonzero(there)] = -np.inf
    near = np.argpartition(-scores, TOP, axis=0)[:TOP]
    order = np.argsort(-np.take_along_axis(scores, near, axis=0), axis=0)
    return np.take_along_axis(near, order, axis=0).T


TACIT = Contender("Tacit SemanticIndex", tacit_lsi)
rival = partial(Contender, package="sklearn", install="scikit-learn")
LSI = rival("scikit-learn tf-idf + TruncatedSVD", sklearn_lsi, rival="scikit-learn LSI")
TFIDF = rival("scikit-learn tf-idf cosine", sklearn_tfidf, rival="tf-idf")
BM25 = Contender("Tacit BM25 weights, no LSI", tacit_bm25, rival="weights")
