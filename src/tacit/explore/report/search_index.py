"""The search index of the page: every word of every document on the map, compressed.

Words are numbered by frequency. A document is the sequence of its words, so that phrases can be
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

__all__ = ["NOTHING", "SearchIndex", "search_index", "varints"]

MOST_TOKENS = 4_000_000  # in sequence; more are a set for each document


class SearchIndex(NamedTuple):
    """What the page searches."""

    kind: str  # "text", "words" or "none"
    words: list[str]  # by frequency
    data: str  # base64


NOTHING = SearchIndex("none", [], "")


def search_index(report: Report, room: int) -> SearchIndex:
    """The index of the documents on the map, in ``room`` characters with its words."""
    if not report.ran("counts") or not report.shown.mapped:
        return NOTHING
    context, on_map = report.context, report.shown.on_map
    totals = context.arrays("counts")["totals"]
    order = np.lexsort([np.arange(len(totals)), -totals])
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    words = [str(word) for word in context.words()[order]]
    left = room - packed_size(words)
    if left <= 0:
        return NOTHING
    counts = sp.csr_array(context.matrix("counts", "counts")[on_map])
    if int(counts.sum()) <= MOST_TOKENS:
        data = packed(in_sequence(context, on_map, rank))
        if len(data) <= left:
            return SearchIndex("text", words, data)
    data = packed(as_sets(counts, rank))
    return SearchIndex("words", words, data) if len(data) <= left else NOTHING


def in_sequence(context: Any, rows: np.ndarray, rank: np.ndarray) -> np.ndarray:
    """The number of words of each document, then the words."""
    vectorizer = load(context.folder.output("counts") / "vectorizer.model")
    vectorizer.set_params(engine="serial")
    analyze, places = vectorizer.build_analyzer(), vectorizer.vocabulary_
    wanted, parts = set(rows.tolist()), []
    for i, text in enumerate(context.documents().texts()):
        if i in wanted:
            found = [places[word] for word in analyze(text) if word in places]
            parts.append(np.array([len(found), *rank[found]], np.int64))
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
