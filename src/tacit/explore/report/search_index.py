"""The search index of the page: every word of every document on it, compressed.

First the documents on the page, in its order; then those with words that neither the map nor a
list has, of which the page gives the number. Words are numbered by the documents that hold them, the most widespread first. A document is the sequence of its words, so that phrases can be
found (``"text"``), or where that is too much the set of its words as gaps (``"words"``);
numbers have 7 bits a byte, and the whole is packed with deflate. Where not even that fits
the page, there is no index, and the page says so before it counts.
"""

import base64
import zlib
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tacit.core.modelfile import load
from tacit.explore.report.report import Report

__all__ = ["NOTHING", "SearchIndex", "least_spread", "search_index", "varints"]

MOST_TOKENS = 4_000_000  # in sequence; more are a set for each document


class SearchIndex(NamedTuple):
    """What the page searches."""

    kind: str  # "text", "words" or "none"
    words: list[str]  # the most widespread first
    data: str  # base64
    spelled: int  # of the words, the first so many may be suggested for others


NOTHING = SearchIndex("none", [], "", 0)


def search_index(report: Report, room: int) -> SearchIndex:
    """The index of the documents, in ``room`` characters with its words."""
    if not report.ran("counts") or not report.shown.mapped:
        return NOTHING
    context, rows = report.context, searched(report)
    spread = context.arrays("counts")["document_counts"]
    order = np.lexsort([np.arange(len(spread)), -spread])
    spelled = int((spread >= least_spread(report.n_read)).sum())
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    words = [str(word) for word in context.words()[order]]
    left = room - packed_size(words)
    if left <= 0:
        return NOTHING
    counts = sp.csr_array(context.matrix("counts", "counts")[rows])
    if int(counts.sum()) <= MOST_TOKENS:
        data = packed(in_sequence(context, rows, rank))
        if len(data) <= left:
            return SearchIndex("text", words, data, spelled)
    data = packed(as_sets(counts, rank))
    return SearchIndex("words", words, data, spelled) if len(data) <= left else NOTHING


def least_spread(n: int) -> int:
    """How many of n documents hold a word that may be suggested for a misspelled one."""
    return 2 if n >= 100 else 1


def searched(report: Report) -> np.ndarray:
    """The documents on the page, then the others that the map cannot place but that have
    words."""
    context, shown = report.context, report.shown.documents
    worded = context.arrays("counts")["lengths"] > 0
    off = np.flatnonzero(worded & context.arrays("meaning")["blank"])
    return np.concatenate([shown, np.setdiff1d(off, shown)])


def in_sequence(context: Any, rows: np.ndarray, rank: np.ndarray) -> np.ndarray:
    """The number of words of each document, then the words."""
    vectorizer = load(context.folder.output("counts") / "vectorizer.model")
    vectorizer.set_params(engine="serial")
    analyze, places = vectorizer.build_analyzer(), vectorizer.vocabulary_
    order = {row: at for at, row in enumerate(rows.tolist())}
    parts = [np.zeros(0, np.int64)] * len(order)
    for i, text in enumerate(context.documents().texts()):
        if i in order:
            found = [places[word] for word in analyze(text) if word in places]
            parts[order[i]] = np.array([len(found), *rank[found]], np.int64)
    return np.concatenate(parts)


def as_sets(counts: sp.csr_array, rank: np.ndarray) -> np.ndarray:
    """The number of different words of each document, then the gaps between them, sorted."""
    parts = []
    for i in range(counts.shape[0]):
        own = np.sort(rank[counts.indices[counts.indptr[i] : counts.indptr[i + 1]]])
        parts.append(np.concatenate([[len(own)], np.diff(own, prepend=0)]))
    return np.concatenate(parts)


def varints(values: np.ndarray) -> bytes:
    """Numbers from 0 with 7 bits a byte, the lowest first.

    >>> varints(np.array([5, 300])).hex()
    '05ac02'
    """
    values = np.asarray(values, np.uint64)
    most = int(values.max(initial=0))
    width = max(1, -(-most.bit_length() // 7))
    table = np.zeros((len(values), width), np.uint8)
    used = np.zeros((len(values), width), bool)
    left = values.copy()
    for j in range(width):
        used[:, j] = (left > 0) | (j == 0)
        table[:, j] = (left & np.uint64(127)).astype(np.uint8)
        left >>= np.uint64(7)
        table[:, j] |= np.where(left > 0, 128, 0).astype(np.uint8)
    return table[used].tobytes()


def packed(values: np.ndarray) -> str:
    return base64.b64encode(zlib.compress(varints(values), 6)).decode()


def packed_size(words: list[str]) -> int:
    """About how many characters the words take on the page."""
    return 4 * len(zlib.compress("\n".join(words).encode("utf-8", "replace"), 6)) // 3
