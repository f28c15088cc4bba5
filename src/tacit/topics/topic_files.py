"""Files of other topic tools: MALLET, LDA-C, the UCI bag of words; data for pyLDAvis.

    read_mallet_state, write_mallet_state     the topic of every token (--output-state)
    read_doc_topics, write_doc_topics         topic proportions of documents, both layouts
    read_topic_keys, write_topic_keys         alpha and the top words of every topic
    read_lda_c, read_uci                      counts of words
    pyldavis_data                             the arguments of pyLDAvis.prepare

Text is UTF-8; a name that ends in .gz is compressed. Whatever does not fit the format is a
DataError with the file and the line.
"""

import gzip
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import numpy as np
import scipy.sparse as sp

from tacit.core.atomic import atomic_write
from tacit.core.errors import DataError
from tacit.data.sparse_structure import check_structure
from tacit.topics.lda_gibbs import Assignments, GibbsLDA
from tacit.topics.topic_model import sizes_of
from tacit.topics.topic_quality import top_words

__all__ = [
    "MalletState", "pyldavis_data", "read_doc_topics", "read_lda_c", "read_mallet_state",
    "read_topic_keys", "read_uci", "write_doc_topics", "write_mallet_state",
    "write_topic_keys",
]  # fmt: skip

MOST = 2**31 - 1  # of any number in these files


class MalletState(NamedTuple):
    """What a state file holds."""

    assignments: Assignments
    words: list[str]
    names: list[str]  # of the documents
    alpha: np.ndarray  # (k,)
    eta: float

    def counts(self) -> sp.csr_array:
        """The documents as counts (documents, words)."""
        documents, words, _ = self.assignments
        shape = (len(self.names), len(self.words))
        return sp.csr_array(sp.coo_array((np.ones(len(words)), (documents, words)), shape))

    def model(self) -> GibbsLDA:
        """The topic model of this sample."""
        _, words, topics = self.assignments
        k, v = len(self.alpha), len(self.words)
        model = GibbsLDA(k, eta=self.eta)
        counts = np.bincount(topics.astype(np.int64) * v + words, minlength=k * v)
        model.components_ = counts.reshape(k, v) + self.eta
        model.topic_sizes_ = sizes_of(np.bincount(topics, minlength=k).astype(np.float64))
        model.alpha_, model.eta_, model.n_features_in_ = self.alpha, self.eta, v
        model.losses_, model.n_iter_, model.n_samples_ = [], 0, 1
        return model


# --- MALLET ---


def write_mallet_state(
    model: GibbsLDA, path: str | Path, words: Sequence[str],
    names: Sequence[str] | None = None,
) -> None:  # fmt: skip
    """Write the topic of every token in the last sample, as MALLET's --output-state does."""
    documents, columns, topics = model.assignments_
    with open_to_write(path) as out:
        out.write("#doc source pos typeindex type topic\n")
        out.write(f"#alpha : {' '.join(repr(float(a)) for a in model.alpha_)} \n")
        out.write(f"#beta : {model.eta_!r}\n")
        starts = np.searchsorted(documents, np.arange(documents.max(initial=-1) + 2))
        for d in range(len(starts) - 1):
            source = "NA" if names is None else one_word(names[d])
            for place, i in enumerate(range(starts[d], starts[d + 1])):
                word = columns[i]
                line = f"{d} {source} {place} {word} {one_word(words[word])} {topics[i]}\n"
                out.write(line)


def read_mallet_state(path: str | Path) -> MalletState:
    """Read what MALLET's --output-state wrote."""
    alpha, eta = np.zeros(0), 0.01
    rows: list[tuple[int, int, int]] = []
    words: dict[int, str] = {}
    names: dict[int, str] = {}
    for number, line in lines_of(path):
        if line.startswith("#"):
            title, _, values = line[1:].partition(":")
            if title.strip() == "alpha":
                alpha = np.array([to_float(path, number, a) for a in values.split()])
            elif title.strip() == "beta":
                eta = to_float(path, number, values.strip())
            continue
        fields = line.split(" ")
        if len(fields) != 6:
            refuse(
                path, number, f"has {len(fields)} fields, not doc source pos type word topic"
            )
        document, column, topic = (to_integer(path, number, fields[i]) for i in (0, 3, 5))
        rows.append((document, column, topic))
        words[column], names[document] = fields[4], fields[1]
    if not rows:
        raise DataError("holds no tokens. Write it with mallet --output-state.", file=str(path))
    table = np.array(rows)
    k = int(table[:, 2].max()) + 1
    if len(alpha) == 0:
        alpha = np.full(k, 0.1)
    if len(alpha) < k or not (alpha > 0).all() or not eta > 0:
        raise DataError(
            f"has topics up to {k - 1}, but {len(alpha)} alphas; all of them and beta must be "
            "above 0.", file=str(path),
        )  # fmt: skip
    size, docs = max(words) + 1, max(names) + 1
    if size > 10 * len(words) + 1000 or docs > 10 * len(names) + 1000:
        raise DataError(
            "numbers its words or documents far beyond their count.", file=str(path)
        )
    return MalletState(
        Assignments(table[:, 0], table[:, 1], table[:, 2]),
        [words.get(i, "") for i in range(size)],
        [names.get(i, "") for i in range(docs)], alpha, eta,
    )  # fmt: skip


def write_doc_topics(
    theta: np.ndarray, path: str | Path, names: Sequence[Any] | None = None
) -> None:
    """Write topic proportions, a line for every document: number, name, proportions."""
    with open_to_write(path) as out:
        for d, row in enumerate(theta):
            name = d if names is None else one_word(names[d])
            out.write("\t".join([str(d), str(name), *(repr(float(p)) for p in row)]) + "\n")


def read_doc_topics(path: str | Path) -> tuple[np.ndarray, list[str]]:
    """Topic proportions (n, k) and names, from either of MALLET's layouts.

    Old files list pairs of topic and proportion; topics that they leave out have 0.
    """
    rows: list[list[float]] = []
    names: list[str] = []
    pairs = False
    for number, line in lines_of(path):
        if line.startswith("#"):
            pairs = "topic proportion" in line
            continue
        fields = line.split("\t") if "\t" in line else line.split()
        fields = [field for field in fields if field]
        if len(fields) < 3:
            refuse(
                path, number, f"has {len(fields)} fields, not a number, a name and proportions"
            )
        values = fields[2:]
        row: list[float] = []
        if pairs:
            for topic, p in zip(values[::2], values[1::2], strict=False):
                at = to_integer(path, number, topic)
                if at > len(values) + 100_000:
                    refuse(path, number, f"names topic {at}")
                row += [0.0] * (at + 1 - len(row))
                row[at] = to_float(path, number, p)
        else:
            row = [to_float(path, number, p) for p in values]
        rows.append(row)
        names.append(fields[1])
    width = max(map(len, rows), default=0)
    if not pairs and any(len(row) != width for row in rows):
        raise DataError("has lines of different numbers of topics.", file=str(path))
    theta = np.array([row + [0.0] * (width - len(row)) for row in rows]).reshape(-1, width)
    return theta, names


def write_topic_keys(
    model: Any, path: str | Path, words: Sequence[str], *, top: int = 20
) -> None:
    """Write a line for every topic: number, alpha, its most probable words."""
    with open_to_write(path) as out:
        for k, best in enumerate(top_words(model, top)):
            listed = " ".join(one_word(words[w]) for w in best)
            out.write(f"{k}\t{model.alpha_[k]:.5f}\t{listed}\n")


def read_topic_keys(path: str | Path) -> tuple[np.ndarray, list[list[str]]]:
    """Alphas and top words of topics."""
    alphas, words = [], []
    for number, line in lines_of(path):
        fields = line.split("\t")
        if len(fields) != 3:
            refuse(path, number, f"has {len(fields)} fields, not topic, alpha and words")
        alphas.append(to_float(path, number, fields[1].replace(",", ".")))
        words.append(fields[2].split())
    return np.array(alphas), words


# --- Counts ---


def read_lda_c(path: str | Path, words: int | None = None) -> sp.csr_array:
    """Counts from LDA-C: a line for every document, "distinct word:count word:count ..."."""
    indices: list[int] = []
    data: list[int] = []
    indptr = [0]
    for number, line in lines_of(path, empty=True):
        fields = line.split()
        if not fields:
            continue
        for field in fields[1:]:
            word, colon, count = field.partition(":")
            if not colon:
                refuse(path, number, f"has {field[:40]!r}, not word:count")
            indices.append(to_integer(path, number, word))
            data.append(to_integer(path, number, count))
        if to_integer(path, number, fields[0]) != len(fields) - 1:
            refuse(path, number, f"announces {fields[0]} words, but has {len(fields) - 1}")
        indptr.append(len(indices))
    width = max(indices, default=-1) + 1
    if words is not None and words < width:
        raise DataError(
            f"has word {width - 1}, but the vocabulary has {words}.", file=str(path)
        )
    return sp.csr_array(
        (np.array(data, np.int64), np.array(indices, np.int64), np.array(indptr)),
        shape=(len(indptr) - 1, words or width),
    )


def read_uci(path: str | Path) -> sp.csr_array:
    """Counts from the UCI bag of words: documents, words and entries, then one entry a line:
    document, word (both from 1) and count."""
    head: list[int] = []
    rows: list[tuple[int, int, int]] = []
    for number, line in lines_of(path):
        fields = line.split()
        if len(head) < 3:
            head.append(to_integer(path, number, fields[0] if len(fields) == 1 else line))
            continue
        if len(fields) != 3:
            refuse(path, number, f"has {len(fields)} fields, not document, word and count")
        entry = tuple(to_integer(path, number, field) for field in fields)
        if not (1 <= entry[0] <= head[0] and 1 <= entry[1] <= head[1]):
            refuse(path, number, f"names document {entry[0]} and word {entry[1]} of {head[:2]}")
        rows.append((entry[0] - 1, entry[1] - 1, entry[2]))
    if len(head) < 3 or len(rows) != head[2]:
        announced = head[2] if len(head) == 3 else "no"
        raise DataError(
            f"holds {len(rows)} entries, but announces {announced}.", file=str(path)
        )
    table = np.array(rows, np.int64).reshape(-1, 3)
    entries = sp.coo_array((table[:, 2], (table[:, 0], table[:, 1])), shape=(head[0], head[1]))
    return sp.csr_array(entries)


def pyldavis_data(model: Any, X: Any, words: Sequence[str]) -> dict[str, Any]:
    """The arguments of ``pyLDAvis.prepare``, for documents X.

    >>> X = np.array([[2, 1, 0], [0, 1, 3]])
    >>> data = pyldavis_data(GibbsLDA(2, max_iter=5, random_state=0).fit(X), X, ["a", "b", "c"])
    >>> sorted(data), data["doc_lengths"].tolist()
    (['doc_lengths', 'doc_topic_dists', 'term_frequency', 'topic_term_dists', 'vocab'], [3, 4])
    """
    if sp.issparse(X):
        check_structure(X, "pyldavis_data")
    rows = sp.csr_array(X)
    return {
        "topic_term_dists": model.topics_,
        "doc_topic_dists": model.transform(rows),
        "doc_lengths": np.asarray(rows.sum(axis=1)).ravel(),
        "vocab": [str(word) for word in words],
        "term_frequency": np.asarray(rows.sum(axis=0)).ravel(),
    }


# --- Text ---


def one_word(text: Any) -> str:
    """Text without white space, which separates fields."""
    return "_".join(str(text).split()) or "NA"


@contextmanager
def open_to_write(path: str | Path) -> Iterator[TextIO]:
    with atomic_write(Path(path)) as file:
        raw: Any = gzip.GzipFile(fileobj=file, mode="wb", mtime=0) if is_gz(path) else file
        stream = io.TextIOWrapper(raw, encoding="utf-8", newline="")
        yield stream
        stream.flush()
        stream.detach()
        if raw is not file:
            raw.close()


def lines_of(path: str | Path, *, empty: bool = False) -> Iterator[tuple[int, str]]:
    """The lines of a file with their numbers, from 1; without empty ones unless ``empty``."""
    opener: Any = gzip.open if is_gz(path) else open
    try:
        with opener(path, "rt", encoding="utf-8", errors="replace") as stream:
            for number, line in enumerate(stream, 1):
                if line.strip() or empty:
                    yield number, line.rstrip("\r\n")
    except (EOFError, gzip.BadGzipFile) as error:
        raise DataError(f"is damaged: {error}.", file=str(path)) from None


def is_gz(path: str | Path) -> bool:
    return str(path).endswith(".gz")


def to_integer(path: str | Path, number: int, text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 10 or int(text) > MOST:
        refuse(path, number, f"has {text[:40]!r}, not a whole number")
    return int(text)


def to_float(path: str | Path, number: int, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    if not np.isfinite(value):
        refuse(path, number, f"has {text[:40]!r}, not a number")
    return value


def refuse(path: str | Path, number: int, what: str) -> Any:
    raise DataError(f"{what}.", file=str(path), row=number)
