"""Building an index of 20 Newsgroups and searching it, against bm25s, rank_bm25, scikit-learn.

The 18,846 posts (training and test set, headers and all, in ASCII) where TACIT_DATA has them;
else generated documents of Zipf words. A word is two or more letters, digits or underscores in
lower case, for everybody; no stop words, no stems.

building    from a list of str to something that can be searched. Tacit also stores where every
            word stands, for phrases, and the compressed posts, for snippets; the others do not.
            scikit-learn's is the tf-idf matrix. The quality is the number of posts.
ranking     300 queries of 1 to 4 words that occur together in some post, one call each, the ten
            best posts; nothing between words means OR. Tacit parses the query first. BM25 with
            k1=1.2, b=0.75; rank_bm25 answers a tenth of the queries, and its time is for ten
            times that. The quality is the score of the posts found over that of the best there
            are, by a direct computation in float64.
everything  words, phrases, wildcards, AND, OR, NOT, with snippets: what Tacit alone does. The
            quality is the number of matching posts, which a look at every post confirms.

Latency is of single calls in one thread, in milliseconds: the median, the 95th and the 99th of
a hundred.
"""

import re
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Answer, Case, Check, Contender, Data, Row
from benchmarks.text.counts import corpus

__all__ = ["cases"]

WORD = r"\b\w\w+\b"
K1, B, TOP, QUERIES = 1.2, 0.75, 10, 300
LIMIT = 5.0  # milliseconds
MIX = [
    "oil AND NOT gas",
    "windows file",
    "space shuttle launch nasa",
    "team season game -hockey",
    "graphics image format",
    "xyzzy OR plugh",
    "the of and to",
    "NOT the",
    "(god OR jesus) AND NOT atheis*",
    "encrypt* -clipper",
    "comp* AND sys*",
    "*ology",
    "inter*al",
    '"hard disk drive"',
    '"of the"',
    '"to be or not to be"',
    '"law enforcement" AND key',
    '"operating system" (dos OR windows)',
]
HELD: dict[str, Any] = {}  # what a contender built in its first call


def cases(scale: float) -> list[Case]:
    posts = partial(documents, scale)
    ranked: dict[str, Any] = {
        "measure": "share of the best score",
        "lower_is_better": False,
        "tolerance": 1e-5,  # the rivals' sums are in float32
    }
    return [
        Case(
            "building",
            posts,
            BUILDERS,
            lambda data, answer: answer["posts"],
            measure="posts",
            lower_is_better=False,
            targets={"bm25s": 1.0, "scikit-learn": 1.0},
        ),
        Case(
            "ranking by BM25",
            partial(with_reference, "bm25", scale),
            BM25,
            captured,
            targets={"bm25s": 0.9, "rank_bm25": 10.0},
            check=quick,
            **ranked,
        ),
        Case(
            "ranking by the tf-idf cosine",
            partial(with_reference, "tfidf", scale),
            COSINE,
            captured,
            targets={"scikit-learn": 2.0},
            check=quick,
            **ranked,
        ),
        Case(
            "everything, with snippets",
            partial(mixed, scale),
            (Contender("Tacit", tacit_mix),),
            wrong_totals,
            measure="wrong totals",
            check=quick,
        ),
    ]


# --- Data ---


def documents(scale: float, folder: Path) -> Data:
    texts, origin = corpus()
    texts = texts[: int(len(texts) * scale)]
    size = sum(map(len, texts)) / 1e6
    return {"texts": texts, "about": f"{origin}; {len(texts):,} documents, {size:.0f} MB"}


def with_reference(rank: str, scale: float, folder: Path) -> Data:
    """The posts, queries, and the true score of every post for every query."""
    from sklearn.feature_extraction.text import CountVectorizer

    data = documents(scale, folder)
    counter = CountVectorizer()
    counts = counter.fit_transform(data["texts"]).tocsc().astype(np.float64)
    names = counter.get_feature_names_out()
    rng = np.random.default_rng(0)
    rows, queries = counts.tocsr(), []
    while len(queries) < QUERIES:
        post = rows[rng.integers(rows.shape[0])].indices
        if len(post) >= 4:
            queries.append(" ".join(names[rng.choice(post, rng.integers(1, 5), replace=False)]))
    scores = np.zeros((QUERIES, rows.shape[0]))
    for q, query in enumerate(queries):
        scores[q] = REFERENCE[rank](counts, [counter.vocabulary_[w] for w in query.split()])
    about = f"{data['about']}, {QUERIES} queries"
    return {**data, "queries": queries, "scores": scores, "about": about}


def true_bm25(counts: Any, columns: list[int]) -> np.ndarray:
    n, lengths = counts.shape[0], np.asarray(counts.sum(axis=1)).ravel()
    out = np.zeros(n)
    for column in columns:
        entry = counts[:, [column]]
        f, rows = entry.data, entry.indices
        idf = np.log1p((n - len(f) + 0.5) / (len(f) + 0.5))
        out[rows] += (
            idf * f * (K1 + 1) / (f + K1 * (1 - B + B * lengths[rows] / lengths.mean()))
        )
    return out


def true_cosine(counts: Any, columns: list[int]) -> np.ndarray:
    n = counts.shape[0]
    idf = 1 + np.log((1 + n) / (1 + np.diff(counts.indptr)))
    if "norms" not in HELD:
        squares = counts.copy()
        squares.data = (squares.data * np.repeat(idf, np.diff(counts.indptr))) ** 2
        HELD["norms"] = np.sqrt(np.asarray(squares.sum(axis=1)).ravel())
    dots = np.asarray(counts[:, columns] @ idf[columns] ** 2).ravel()
    norms = np.where(HELD["norms"] > 0, HELD["norms"], 1)
    return dots / norms / np.linalg.norm(idf[columns])


REFERENCE = {"bm25": true_bm25, "tfidf": true_cosine}


def mixed(scale: float, folder: Path) -> Data:
    data = documents(scale, folder)
    return {
        **data,
        "queries": MIX * 10,
        "about": f"{data['about']}, {len(MIX)} queries, ten times",
    }


# --- Quality ---


def captured(data: Data, answer: Answer) -> float:
    """The true score of the posts found over that of the best, over the queries answered."""
    found = best = 0.0
    for q, rows in enumerate(answer["found"]):
        scores = data["scores"][q]
        found += scores[rows].sum()
        best += np.sort(scores)[-TOP:].sum()
    return found / best


def wrong_totals(data: Data, answer: Answer) -> float:
    """Queries whose number of matches is not that of Python's own look at every post."""
    tokens = [re.findall(WORD, text.lower()) for text in data["texts"]]
    wrong = 0
    for query, total in zip(MIX, answer["totals"], strict=False):
        test = TESTS.get(query)
        if test is not None:
            wrong += total != sum(map(test, tokens))
    return float(wrong)


def in_a_row(*run: str) -> Callable[[list[str]], bool]:
    text = f" {' '.join(run)} "
    return lambda tokens: text in f" {' '.join(tokens)} "


TESTS: dict[str, Callable[[list[str]], bool]] = {
    "oil AND NOT gas": lambda t: "oil" in t and "gas" not in t,
    "windows file": lambda t: "windows" in t and "file" in t,
    '"hard disk drive"': in_a_row("hard", "disk", "drive"),
    '"to be or not to be"': in_a_row("to", "be", "or", "not", "to", "be"),
    '"of the"': in_a_row("of", "the"),
    "NOT the": lambda t: "the" not in t,
    "*ology": lambda t: any(word.endswith("ology") for word in t),
    "inter*al": lambda t: any(w.startswith("inter") and w[5:].endswith("al") for w in t),
    "encrypt* -clipper": lambda t: (
        "clipper" not in t and any(w.startswith("encrypt") for w in t)
    ),
}


def quick(data: Data, rows: dict[str, Row]) -> list[Check]:
    """Whether our queries were answered in time; the last 5 of 100 are other programs'."""
    tail = rows["Tacit"].notes["p95"]
    return [Check(f"95 of 100 queries take {tail} ms or less, {LIMIT:g} wanted", tail <= LIMIT)]


# --- Contenders ---


def timed(ask: Callable[[str], Any], queries: list[str]) -> tuple[list[Any], dict[str, float]]:
    """What was answered, and the latencies in milliseconds."""
    found, seconds = [], []
    for query in queries:
        start = time.perf_counter()
        found.append(ask(query))
        seconds.append(time.perf_counter() - start)
    points = np.percentile(seconds, [50, 95, 99]) * 1e3
    return found, {
        f"p{p}": round(float(ms), 3) for p, ms in zip((50, 95, 99), points, strict=True)
    }


def tacit_build(data: Data, threads: int) -> Answer:
    from tacit.core.engines import Threads
    from tacit.search import InvertedIndex

    index = InvertedIndex(min_length=2, engine=Threads(threads)).fit(data["texts"])
    postings = int(index.document_counts_.sum())
    lists, places = index.lists_.nbytes, index.places_.nbytes
    return {
        "posts": index.n_documents_,
        "MB lists": round((lists + places) / 1e6, 1),
        "MB texts": round(index.pieces_.nbytes / 1e6, 1),
        "bytes per posting": round(lists / postings, 2),
        "and its places": round(places / postings, 2),
    }


def tacit_index(data: Data) -> Any:
    if "index" not in HELD:
        from tacit.search import InvertedIndex

        HELD["index"] = InvertedIndex(min_length=2).fit(data["texts"])
    return HELD["index"]


def tacit_rank(data: Data, threads: int, *, rank: str, snippet: int = 0) -> Answer:
    index = tacit_index(data)

    def ask(query: str) -> Any:
        return index.search(query, top=TOP, rank=rank, operator="or", snippet=snippet)

    found, latency = timed(ask, data["queries"])
    return {"found": [hits.ids for hits in found], **latency}


def tacit_mix(data: Data, threads: int) -> Answer:
    found, latency = timed(tacit_index(data).search, data["queries"])
    return {"totals": [hits.total for hits in found[: len(MIX)]], **latency}


def bm25s_make(data: Data) -> Any:
    import bm25s

    tokens = bm25s.tokenize(
        data["texts"], token_pattern=WORD, stopwords=None, show_progress=False
    )
    model = bm25s.BM25(k1=K1, b=B, method="lucene")
    model.index(tokens, show_progress=False)
    return model


def bm25s_build(data: Data, threads: int) -> Answer:
    scores = bm25s_make(data).scores
    size = sum(scores[name].nbytes for name in ("data", "indices", "indptr"))
    return {"posts": scores["num_docs"], "MB lists": round(size / 1e6, 1)}


def bm25s_rank(data: Data, threads: int, *, backend: str) -> Answer:
    import bm25s

    if "bm25s" not in HELD:
        HELD["bm25s"] = bm25s_make(data)
        HELD["bm25s"].backend = backend
        if backend == "numba":
            HELD["bm25s"].activate_numba_scorer()

    def ask(query: str) -> Any:
        tokens = bm25s.tokenize(
            query, token_pattern=WORD, stopwords=None, show_progress=False, return_ids=False
        )
        return HELD["bm25s"].retrieve(tokens, k=TOP, show_progress=False)[0][0]

    found, latency = timed(ask, data["queries"])
    return {"found": [rows.tolist() for rows in found], **latency}


def rank_bm25_rank(data: Data, threads: int) -> Answer:
    if "rank_bm25" not in HELD:
        from rank_bm25 import BM25Okapi

        tokens = [re.findall(WORD, text.lower()) for text in data["texts"]]
        HELD["rank_bm25"] = BM25Okapi(tokens, k1=K1, b=B)

    def ask(query: str) -> Any:
        scores = HELD["rank_bm25"].get_scores(re.findall(WORD, query.lower()))
        return np.argsort(-scores, kind="stable")[:TOP]

    found, latency = timed(ask, data["queries"][: QUERIES // 10])
    return {"found": [rows.tolist() for rows in found], **latency}


def sklearn_make(data: Data) -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer()
    return vectorizer, vectorizer.fit_transform(data["texts"])


def sklearn_build(data: Data, threads: int) -> Answer:
    _, matrix = sklearn_make(data)
    size = matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes
    return {"posts": matrix.shape[0], "MB lists": round(size / 1e6, 1)}


def sklearn_rank(data: Data, threads: int, *, by_column: bool) -> Answer:
    if "sklearn" not in HELD:
        vectorizer, matrix = sklearn_make(data)
        HELD["sklearn"] = vectorizer, matrix.tocsc() if by_column else matrix

    vectorizer, matrix = HELD["sklearn"]

    def ask(query: str) -> Any:
        asked = vectorizer.transform([query])
        if by_column:  # only the columns of the query's words
            scores = np.asarray(matrix[:, asked.indices] @ asked.data).ravel()
        else:
            scores = np.asarray((matrix @ asked.T).todense()).ravel()
        top = np.argpartition(-scores, TOP)[:TOP]
        return top[np.argsort(-scores[top], kind="stable")]

    found, latency = timed(ask, data["queries"])
    return {"found": [rows.tolist() for rows in found], **latency}


sklearn = partial(Contender, package="sklearn", install="scikit-learn", rival="scikit-learn")
bm25s = partial(Contender, package="bm25s", install="bm25s", rival="bm25s")
BUILDERS = (
    Contender("Tacit", tacit_build),
    bm25s("bm25s", bm25s_build),
    sklearn("scikit-learn", sklearn_build),
)
BM25 = (
    Contender("Tacit", partial(tacit_rank, rank="bm25")),
    Contender("Tacit, with snippets", partial(tacit_rank, rank="bm25", snippet=160)),
    bm25s("bm25s", partial(bm25s_rank, backend="numpy")),
    bm25s("bm25s, numba", partial(bm25s_rank, backend="numba")),
    Contender(
        "rank_bm25, a tenth",
        rank_bm25_rank,
        package="rank_bm25",
        install="rank_bm25",
        rival="rank_bm25",
    ),
)
COSINE = (
    Contender("Tacit", partial(tacit_rank, rank="tfidf")),
    sklearn("scikit-learn, matrix @ query", partial(sklearn_rank, by_column=False)),
    sklearn("scikit-learn, columns of the query", partial(sklearn_rank, by_column=True)),
)
