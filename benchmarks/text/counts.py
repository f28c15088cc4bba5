"""Documents to a sparse matrix of counts, against scikit-learn and polars.

The documents are 20 Newsgroups, repeated to about 100 MB, with anything but ASCII replaced so
that all agree on what a word is: two or more letters, digits or underscores, in lower case.
Everybody starts from the same list of str, or the same file with a document per line, and ends
with a CSR matrix whose columns are the sorted vocabulary. scikit-learn has one thread to give.
polars does it with str.extract_all, a group_by over documents and words, and a join with the
sorted vocabulary.

The quality is the number of documents and words whose totals are not what Python's own ``re``
and ``Counter`` say: 0, or the answer is wrong.

Also, without targets: n-grams of words and characters, tf-idf and hashing on the corpus
itself; there the quality is a weighted sum over the matrix, which must agree.
"""

import gzip
import json
import re
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.data import data_folder
from benchmarks.harness import Answer, Case, Contender, Data

__all__ = ["cases"]

TIMES = 3
WORD = r"\b\w\w+\b"


def cases(scale: float) -> list[Case]:
    large, small = partial(documents, scale, TIMES), partial(documents, scale, 1)
    wanted = {"scikit-learn": 8.0, "polars": 1.0}
    exact: dict[str, Any] = {"measure": "wrong totals", "tolerance": 0.0}
    close: dict[str, Any] = {"measure": "weighted sum", "tolerance": 1e-12}
    others = {
        "bigrams": ("CountVectorizer", {"ngram_range": (1, 2)}),
        "3 characters": ("CountVectorizer", {"analyzer": "char", "ngram_range": (3, 3)}),
        "2 to 4 characters of words": (
            "CountVectorizer",
            {"analyzer": "char_wb", "ngram_range": (2, 4)},
        ),
        "tf-idf": ("TfidfVectorizer", {}),
        "hashing": ("HashingVectorizer", {}),
    }
    return [
        Case("list of str", large, (TACIT, SKLEARN, POLARS), errors, targets=wanted, **exact),
        Case(
            "file, a document per line",
            partial(lines, scale),
            (TACIT_FILE, SKLEARN_FILE, POLARS_FILE),
            errors,
            targets=wanted | {"scikit-learn": 12.0},
            **exact,
        ),
        *(
            Case(what, small, pair(name, settings), weighted_sum, **close)
            for what, (name, settings) in others.items()
        ),
    ]


# --- Data ---


def documents(scale: float, times: int, folder: Path) -> Data:
    texts, origin = corpus()
    texts = (texts * times)[: int(len(texts) * times * scale)]
    size = sum(map(len, texts)) / 1e6
    return {"texts": texts, "about": f"{origin}; {len(texts):,} documents, {size:.0f} MB"}


def lines(scale: float, folder: Path) -> Data:
    data = documents(scale, TIMES, folder)
    texts = [re.sub(r"\s", " ", text) for text in data["texts"]]
    path = folder / "documents.txt"
    path.write_text("".join(f"{text}\n" for text in texts), encoding="ascii")
    return {"path": str(path), "about": data["about"]}


def corpus() -> tuple[list[str], str]:
    """Posts in ASCII, and where they come from."""
    folder = data_folder()
    if folder is not None and (folder / "newsgroups" / "train.jsonl.gz").exists():
        texts = []
        for part in ("train", "test"):
            path = folder / "newsgroups" / f"{part}.jsonl.gz"
            with gzip.open(path, "rt", encoding="utf8") as file:
                texts += [json.loads(line)["text"] for line in file]
        return [t.encode("ascii", "replace").decode() for t in texts], "20 Newsgroups"
    rng = np.random.default_rng(5)
    words = np.array(["".join(map(chr, rng.integers(97, 123, rng.integers(2, 11))))
                      for _ in range(100_000)])  # fmt: skip
    reach = np.cumsum(1 / np.arange(2, len(words) + 2))
    texts = []
    for _ in range(18_000):
        drawn = np.searchsorted(reach, rng.random(300) * reach[-1])
        texts.append(" ".join(words[drawn]).capitalize() + ".")
    return texts, "generated: documents of Zipf words, TACIT_DATA has no newsgroups"


# --- Quality, from the matrix and the vocabulary alone ---


def errors(data: Data, answer: Answer) -> float:
    """Documents and words whose totals are wrong."""
    lengths, words = truth(data)
    matrix = as_matrix(answer)
    wrong = int(np.count_nonzero(np.asarray(matrix.sum(axis=1)).ravel() != lengths))
    found = dict(zip(terms_of(answer), matrix.sum(axis=0).ravel().tolist(), strict=True))
    return wrong + sum(words.get(w, 0) != found.get(w, 0) for w in words.keys() | found.keys())


def truth(data: Data) -> tuple[np.ndarray, Counter]:
    """What Python's own regular expressions find."""
    if "texts" in data:
        texts = data["texts"]
    else:
        texts = Path(data["path"]).read_text(encoding="ascii").split("\n")[:-1]
    seen: dict[str, tuple[int, Counter]] = {}  # the corpus repeats itself
    lengths, words = np.empty(len(texts), np.int64), Counter[str]()
    for i, text in enumerate(texts):
        if text not in seen:
            found = Counter(re.findall(WORD, text.lower()))
            seen[text] = (found.total(), found)
        lengths[i] = seen[text][0]
        words.update(seen[text][1])
    return lengths, words


def weighted_sum(data: Data, answer: Answer) -> float:
    """A number that depends on every entry and its place."""
    matrix = as_matrix(answer)
    rows = np.sqrt(np.arange(1.0, matrix.shape[0] + 1))
    columns = np.sqrt(np.arange(1.0, matrix.shape[1] + 1))
    return float(rows @ (matrix @ columns))


def as_matrix(answer: Answer) -> sp.csr_array:
    shape = (len(answer["indptr"]) - 1, answer["columns"])
    return sp.csr_array((answer["data"], answer["indices"], answer["indptr"]), shape=shape)


def terms_of(answer: Answer) -> list[str]:
    terms = answer["terms"]
    if isinstance(terms, dict):
        return sorted(terms, key=terms.get)
    return terms.to_pylist()


# --- Contenders ---


def answer_of(vectorizer: Any, matrix: Any) -> Answer:
    return {
        "indptr": matrix.indptr,
        "indices": matrix.indices,
        "data": matrix.data,
        "columns": matrix.shape[1],
        "entries": matrix.nnz,
        "terms": getattr(vectorizer, "vocabulary_", {}),
    }


def tacit_texts(data: Data, threads: int, name: str, settings: dict) -> Answer:
    import tacit.text
    from tacit.core.engines import Threads

    vectorizer = getattr(tacit.text, name)(engine=Threads(threads), **settings)
    return answer_of(vectorizer, vectorizer.fit_transform(data["texts"]))


def sklearn_texts(data: Data, threads: int, name: str, settings: dict) -> Answer:
    import sklearn.feature_extraction.text

    vectorizer = getattr(sklearn.feature_extraction.text, name)(**settings)
    return answer_of(vectorizer, vectorizer.fit_transform(data["texts"]))


def tacit_file(data: Data, threads: int) -> Answer:
    from tacit.core.engines import Threads
    from tacit.data.documents import Documents
    from tacit.text import CountVectorizer

    vectorizer = CountVectorizer(engine=Threads(threads))
    return answer_of(vectorizer, vectorizer.fit_transform(Documents.open(data["path"])))


def sklearn_file(data: Data, threads: int) -> Answer:
    from sklearn.feature_extraction.text import CountVectorizer

    vectorizer = CountVectorizer()
    with open(data["path"], encoding="utf-8") as file:
        return answer_of(vectorizer, vectorizer.fit_transform(file))


def polars_texts(data: Data, threads: int) -> Answer:
    import polars as pl

    return polars_counts(pl.DataFrame({"text": data["texts"]}))


def polars_file(data: Data, threads: int) -> Answer:
    import polars as pl

    frame = pl.read_csv(
        data["path"], has_header=False, new_columns=["text"], separator="\x01", quote_char=None
    )
    return polars_counts(frame)


def polars_counts(frame: Any) -> Answer:
    import polars as pl

    words = pl.col("text").str.to_lowercase().str.extract_all(WORD)
    counts = (
        frame.lazy()
        .with_row_index("row")
        .select("row", words.alias("word"))
        .explode("word", empty_as_null=False)
        .group_by("row", "word")
        .len()
        .collect()
    )
    terms = counts.select(pl.col("word").unique().sort()).with_row_index("column")
    entries = counts.join(terms, on="word").sort("row", "column")
    rows = entries["row"].to_numpy()
    return {
        "indptr": np.searchsorted(rows, np.arange(frame.height + 1)),
        "indices": entries["column"].to_numpy().astype(np.int32),
        "data": entries["len"].to_numpy().astype(np.int64),
        "columns": terms.height,
        "entries": entries.height,
        "terms": terms["word"].to_arrow(),
    }


def pair(name: str, settings: dict) -> tuple[Contender, Contender]:
    """Tacit and scikit-learn on the same job."""
    ours: Callable = partial(tacit_texts, name=name, settings=settings)
    theirs: Callable = partial(sklearn_texts, name=name, settings=settings)
    rival = {"package": "sklearn", "install": "scikit-learn", "rival": "scikit-learn"}
    return Contender("Tacit", ours), Contender("scikit-learn", theirs, **rival)


TACIT, SKLEARN = pair("CountVectorizer", {})
LEARN = {"package": "sklearn", "install": "scikit-learn", "rival": "scikit-learn"}
BEARS = {"package": "polars", "install": "polars", "rival": "polars"}
POLARS = Contender("polars", polars_texts, **BEARS)
TACIT_FILE = Contender("Tacit", tacit_file)
SKLEARN_FILE = Contender("scikit-learn", sklearn_file, **LEARN)
POLARS_FILE = Contender("polars", polars_file, **BEARS)
