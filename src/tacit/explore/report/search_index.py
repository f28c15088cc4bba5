"""The search index of the page: every word of every document on it, compressed.

First the documents on the page, in its order; then those with words that neither the map nor a
list has, of which the page gives the number. Words are split as in the index of the live page
and numbered by the documents that hold them, the most widespread first. A document is the
sequence of its words, so that phrases can be found (``"text"``), or where that is too much the
set of its words as gaps (``"words"``); numbers have 7 bits a byte, and the whole is packed with
deflate. Where not even that fits the page, there is no index, and the page says so before it
counts.
"""

import base64
import zlib
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tacit.explore.report.report import Report
from tacit.search.word_rule import word_rule
from tacit.text.terms import intern
from tacit.text.tokens import split, token_rule
from tacit.text.vocabulary import Vocabulary

__all__ = ["NOTHING", "SearchIndex", "as_sets", "least_spread", "search_index", "varints"]

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
    parts = parts_of_words(context)
    words, left = parts.words, room - packed_size(parts.words)
    if left <= 0:
        return NOTHING
    spelled = int((parts.spread >= least_spread(report.n_read)).sum())
    counts = sp.csr_array(context.matrix("counts", "counts")[rows])
    if int(counts.sum()) <= MOST_TOKENS:
        data = packed(in_sequence(context, rows, parts.table))
        if len(data) <= left:
            return SearchIndex("text", words, data, spelled)
    data = packed(as_sets(counts @ parts.table))
    return SearchIndex("words", words, data, spelled) if len(data) <= left else NOTHING


class Parts(NamedTuple):
    """What the words that were counted are to a search: one word or, at apostrophes and
    hyphens, several."""

    words: list[str]  # the most widespread first
    spread: np.ndarray  # about how many documents hold each
    table: sp.csr_array  # (words that were counted, words to search) in order


def parts_of_words(context: Any) -> Parts:
    """The words that were counted, as the index of the live page splits texts."""
    spread = context.arrays("counts")["document_counts"]
    split = word_rule(token_rule("plain", True, 1)).words(list(context.words()))
    places: dict[str, int] = {}
    ids = np.array([places.setdefault(w, len(places)) for ws in split for w in ws], np.int64)
    sizes = np.array([len(ws) for ws in split])
    holders = np.zeros(len(places), np.int64)
    np.maximum.at(holders, ids, np.repeat(spread, sizes))
    alone = np.repeat(sizes == 1, sizes)
    holders[ids[alone]] = np.repeat(spread, sizes)[alone]
    names = np.array(list(places), object)
    order = np.lexsort([np.argsort(np.argsort(names, kind="stable")), -holders])
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    edges = np.concatenate([[0], np.cumsum(sizes)])
    table = sp.csr_array((np.ones(len(ids)), rank[ids], edges), (len(split), len(places)))
    return Parts([str(word) for word in names[order]], holders[order], table)


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


def in_sequence(context: Any, rows: np.ndarray, table: sp.csr_array) -> np.ndarray:
    """The number of words of each document, then the words."""
    vocabulary, rule = Vocabulary.of_sorted(list(context.words())), token_rule("words", True, 1)
    blocks, sizes = [], np.diff(table.indptr)
    for block in context.documents().blocks:
        terms = intern(split(block.load(), rule))
        ids = vocabulary.find(terms.vocabulary)[terms.streams[0]]
        counted = np.where(ids < 0, 0, sizes[ids])  # a counted word is one to search or several
        ends = np.cumsum(counted)
        places = np.arange(ends[-1] if len(ends) else 0)
        places += np.repeat(table.indptr[ids] - (ends - counted), counted)
        parts = table.indices[places]
        edges = np.append(0, ends)[terms.edges]
        blocks.append(sp.csr_array((parts, parts, edges), (len(edges) - 1, table.shape[1])))
    chosen = sp.vstack(blocks, format="csr")[rows]  # words in order, as indices need not be
    return np.insert(chosen.data, chosen.indptr[:-1], np.diff(chosen.indptr))


def as_sets(table: sp.csr_array) -> np.ndarray:
    """The number of different words of each document, then the gaps between them, sorted.

    >>> as_sets(sp.csr_array([[1, 0, 2, 1], [0, 0, 0, 0], [0, 5, 0, 0]])).tolist()
    [3, 0, 2, 1, 0, 1, 1]
    """
    table.sort_indices()
    starts, sizes = table.indptr[:-1], np.diff(table.indptr)
    gaps = np.diff(table.indices.astype(np.int64), prepend=0)
    first = starts[sizes > 0]
    gaps[first] = table.indices[first]
    return np.insert(gaps, starts, sizes)


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
