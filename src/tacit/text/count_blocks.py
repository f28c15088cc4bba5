"""Counting terms block by block, and putting the blocks together.

    collect   the terms of a block, sorted, with how often and in how many documents they occur
    +         merges two vocabularies and adds their numbers; exact in any order
    place     a block's counts as rows over the columns that were chosen in the end

Statistics grow with the vocabulary, not with the number of documents.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn import get_config

from tacit.core.engines import Engine, Serial, Threads
from tacit.core.kernel import kernel
from tacit.core.stats import Stats
from tacit.data.text_block import Repairs
from tacit.text.terms import Terms
from tacit.text.vocabulary import Vocabulary, unite

__all__ = [
    "BlockCounts", "Found", "TermStats", "add_all", "assemble", "count_terms", "nothing",
    "term_stats",
]  # fmt: skip

U = np.uint64


@dataclass(frozen=True)
class TermStats(Stats):
    """What is known of the terms of some documents."""

    documents: int
    wordless: int  # documents without a token, before stop words were taken out
    tokens: int  # before stop words were taken out
    stopped: int  # how many of them were
    repairs: Repairs
    vocabulary: Vocabulary
    counts: np.ndarray  # (v,) int64, how often each term occurs
    document_counts: np.ndarray  # (v,) int64, in how many documents

    def __add__(self, other: "TermStats") -> "TermStats":
        return add_all([self, other])[0]

    def __rmul__(self, scale: float) -> "TermStats":
        scaled = {
            f.name: scale * getattr(self, f.name)
            for f in fields(self)
            if f.name != "vocabulary"
        }
        return replace(self, **scaled)


class Found(NamedTuple):
    """The terms of a block, with what happened on the way to them."""

    terms: Terms
    wordless: int
    tokens: int
    stopped: int
    repairs: Repairs


class BlockCounts(NamedTuple):
    """The counts of a block, as rows over its own vocabulary. Columns are sorted."""

    stats: TermStats
    indptr: np.ndarray  # int64
    indices: np.ndarray  # int32
    counts: np.ndarray  # int32

    def load(self) -> "BlockCounts":
        return self


def nothing() -> TermStats:
    """What is known of no documents at all."""
    none = np.zeros(0, np.int64)
    return TermStats(0, 0, 0, 0, Repairs(), Vocabulary.of([]), none, none)


def add_all(parts: Sequence[TermStats]) -> tuple[TermStats, list[np.ndarray]]:
    """The sum of many at once, and the place that each one's terms have in it.

    All is counted in whole numbers and sorted, so it is the same as adding two by two.
    """
    if not parts:
        return nothing(), []
    union = unite([part.vocabulary for part in parts])
    counts = np.zeros((2, len(union.vocabulary)), np.int64)
    for part, places in zip(parts, union.places, strict=True):
        counts[0, places] += part.counts
        counts[1, places] += part.document_counts
    total = TermStats(
        sum(part.documents for part in parts),
        sum(part.wordless for part in parts),
        sum(part.tokens for part in parts),
        sum(part.stopped for part in parts),
        sum((part.repairs for part in parts), Repairs()),
        union.vocabulary,
        counts[0],
        counts[1],
    )
    return total, union.places


def count_terms(found: Found, binary: bool = False) -> BlockCounts:
    """Rows of counts for the documents of a block."""
    terms, v = found.terms, len(found.terms.vocabulary)
    size = terms.streams.size
    indices, counts = np.empty(size, np.int32), np.empty(size, np.int32)
    indptr = count_rows(terms.streams, terms.edges, v, indices, counts)
    filled = indptr[-1]
    totals = np.zeros((2, v), np.int64)
    indices, counts = sort_rows(indptr, indices[:filled], counts[:filled], v, totals)
    if binary:
        counts[:] = 1
        totals[0] = totals[1]
    return BlockCounts(stats_of(found, *totals), indptr, indices, counts)


def term_stats(found: Found, binary: bool = False) -> TermStats:
    """The same statistics without the rows."""
    terms = found.terms
    totals = np.zeros((2, len(terms.vocabulary)), np.int64)
    add_counts(terms.streams, terms.edges, totals)
    if binary:
        totals[0] = totals[1]
    return stats_of(found, *totals)


def stats_of(found: Found, counts: np.ndarray, document_counts: np.ndarray) -> TermStats:
    return TermStats(
        len(found.terms.edges) - 1,
        found.wordless,
        found.tokens,
        found.stopped,
        found.repairs,
        found.terms.vocabulary,
        counts,
        document_counts,
    )


class Placing(NamedTuple):
    """Where the counts of a block go in the matrix."""

    block: BlockCounts
    row: int
    columns: np.ndarray  # int32, of the block's terms; -1 where they have none
    first: int  # of the entries
    last: int

    def load(self) -> "Placing":
        return self


class Matrix(NamedTuple):
    """The arrays of a CSR matrix, to be filled in."""

    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray


def assemble(
    blocks: Sequence[BlockCounts],
    columns_of: Iterable[np.ndarray],
    width: int,
    dtype: Any,
    engine: Engine,
) -> Any:
    """One CSR matrix of the blocks, given the columns of each one's terms (-1 for none)."""
    work, row, first = [], 0, 0
    for block, columns in zip(blocks, columns_of, strict=True):
        last = first + int(block.stats.document_counts[columns >= 0].sum())
        work.append(Placing(block, row, columns, first, last))
        row, first = row + block.stats.documents, last
    index = np.int32 if max(first, width) <= np.iinfo(np.int32).max else np.int64
    matrix = Matrix(np.zeros(row + 1, index), np.empty(first, index), np.empty(first, dtype))
    if len(work) == 1:
        place(matrix, work[0])
    else:
        # The counts are here already: another machine could only send them back.
        nearby = engine if isinstance(engine, Serial | Threads) else Threads()
        for _ in nearby.map(place, matrix, work):
            pass
    kind = sp.csr_array if get_config()["sparse_interface"] == "sparray" else sp.csr_matrix
    return kind((matrix.data, matrix.indices, matrix.indptr), shape=(row, width), copy=False)


def place(matrix: Matrix, work: Placing) -> None:
    """Write a block's rows where they belong in the matrix. Blocks do not overlap."""
    block = work.block
    place_rows(
        block.indptr,
        block.indices,
        block.counts,
        work.columns,
        matrix.indptr[work.row + 1 : work.row + len(block.indptr)],
        matrix.indices[work.first : work.last],
        matrix.data[work.first : work.last],
        work.first,
    )


# --- Kernels ---


@kernel
def count_rows(streams, edges, v, indices, counts):
    """Entries of each row, in order of first appearance.

    Unsigned indices: signed ones would be checked for counting from the end.
    """
    indptr = np.zeros(len(edges), np.int64)
    slot = np.zeros(v, np.uint32)  # one past the latest entry of each term
    k = U(0)
    for d in range(len(edges) - 1):
        row = k
        for level in range(len(streams)):
            stream = streams[level]
            for t in range(edges[d], edges[d + 1]):
                term = stream[U(t)]
                if term < 0:
                    continue
                s = U(slot[U(term)])
                if s > row:
                    counts[s - U(1)] += 1
                else:
                    indices[k], counts[k] = term, 1
                    k += U(1)
                    slot[U(term)] = k
        indptr[d + 1] = k
    return indptr


@kernel
def add_counts(streams, edges, totals):
    """How often and in how many documents each term occurs."""
    latest = np.full(totals.shape[1], -1, np.int64)
    counts, documents = totals[0], totals[1]
    for d in range(len(edges) - 1):
        for level in range(len(streams)):
            stream = streams[level]
            for t in range(edges[d], edges[d + 1]):
                term = stream[t]
                if term >= 0:
                    counts[term] += 1
                    documents[term] += latest[term] != d
                    latest[term] = d


@kernel
def sort_rows(indptr, indices, counts, v, totals):
    """Sort each row by column: to columns and back, by counting. Fills in the totals."""
    size, edges = len(indices), np.zeros(v + 1, np.uint32)
    for k in range(size):
        edges[U(indices[U(k)]) + U(1)] += 1
    for j in range(v):
        totals[1, j] = edges[j + 1]
        edges[j + 1] += edges[j]
    entries, at = np.empty(size, np.uint64), edges[:-1].copy()
    for d in range(len(indptr) - 1):
        row = U(d) << U(32)
        for k in range(indptr[d], indptr[d + 1]):
            column = U(indices[U(k)])
            entries[U(at[column])] = row | U(np.uint32(counts[U(k)]))
            at[column] += np.uint32(1)
    out, out_counts = np.empty(size, np.int32), np.empty(size, np.int32)
    at = indptr[:-1].astype(np.uint32)
    for j in range(v):
        total = np.int64(0)
        for k in range(edges[j], edges[j + 1]):
            entry = entries[U(k)]
            d, count = entry >> U(32), np.int32(entry & U(0xFFFFFFFF))
            q = U(at[d])
            out[q], out_counts[q] = j, count
            at[d] += np.uint32(1)
            total += count
        totals[0, j] = total
    return out, out_counts


@kernel
def place_rows(indptr, indices, counts, columns, out_indptr, out_indices, out_counts, first):
    k = U(0)
    for d in range(len(indptr) - 1):
        for i in range(indptr[d], indptr[d + 1]):
            column = columns[U(indices[U(i)])]
            if column >= 0:
                out_indices[k], out_counts[k] = column, counts[U(i)]
                k += U(1)
        out_indptr[d] = first + k
