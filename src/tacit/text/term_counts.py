"""Term counts of blocks, their sum, the terms that become columns, and the matrix.

    collect   the terms of a block, sorted, with their counts and document frequencies
    +         merges two vocabularies and adds their numbers; exact in any order
    choose    prune by document frequency
    assemble  the rows of all blocks over the chosen columns

Statistics grow with the vocabulary, not with the number of documents.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn import get_config

from tacit.core.engines import Engine
from tacit.core.kernel import kernel
from tacit.core.stats import Stats
from tacit.data.text_block import Repairs
from tacit.text.terms import Terms
from tacit.text.vocabulary import Vocabulary, unite

__all__ = [
    "BlockCounts", "BlockTerms", "TermStats", "add_all", "assemble", "count_terms", "no_terms",
    "term_stats", "check_limits", "choose_terms", "explain_empty", "explain_pruned",
]  # fmt: skip

U = np.uint64


@dataclass(frozen=True)
class TermStats(Stats):
    """Counts and document frequencies of the terms of some documents."""

    documents: int
    wordless: int  # documents without a token, before stop words were removed
    tokens: int  # before stop words were removed
    stopped: int  # how many of them are stop words
    repairs: Repairs
    vocabulary: Vocabulary
    counts: np.ndarray  # (v,) int64, occurrences of each term
    document_counts: np.ndarray  # (v,) int64, documents with the term

    def __add__(self, other: "TermStats") -> "TermStats":
        return add_all([self, other])[0]

    def __rmul__(self, scale: float) -> "TermStats":
        scaled = {
            f.name: scale * getattr(self, f.name)
            for f in fields(self)
            if f.name != "vocabulary"
        }
        return replace(self, **scaled)


class BlockTerms(NamedTuple):
    """The terms of a block, and how many tokens were read and removed on the way."""

    terms: Terms
    wordless: int
    tokens: int
    stopped: int
    repairs: Repairs


class BlockCounts(NamedTuple):
    """The counts of a block, as rows over the vocabulary of the block. Columns are sorted."""

    stats: TermStats
    indptr: np.ndarray  # int64
    indices: np.ndarray  # int32
    counts: np.ndarray  # int32


def no_terms() -> TermStats:
    """The statistics of no documents."""
    none = np.zeros(0, np.int64)
    return TermStats(0, 0, 0, 0, Repairs(), Vocabulary.of([]), none, none)


def add_all(parts: Sequence[TermStats]) -> tuple[TermStats, list[np.ndarray]]:
    """The sum of many at once, and the places of each one's terms in it.

    Counts are integers and terms are sorted, so this equals adding two by two.
    """
    if not parts:
        return no_terms(), []
    vocabulary, places = unite([part.vocabulary for part in parts])
    counts = np.zeros((2, len(vocabulary)), np.int64)
    for part, place in zip(parts, places, strict=True):
        counts[0, place] += part.counts
        counts[1, place] += part.document_counts
    total = TermStats(
        sum(part.documents for part in parts), sum(part.wordless for part in parts),
        sum(part.tokens for part in parts), sum(part.stopped for part in parts),
        sum((part.repairs for part in parts), Repairs()), vocabulary, *counts,
    )  # fmt: skip
    return total, places


def count_terms(block: BlockTerms, binary: bool = False) -> BlockCounts:
    """Rows of counts for the documents of a block."""
    terms, v = block.terms, len(block.terms.vocabulary)
    size = terms.streams.size
    indices, counts = np.empty(size, np.int32), np.empty(size, np.int32)
    indptr = count_rows(terms.streams, terms.edges, v, indices, counts)
    filled = indptr[-1]
    totals = np.zeros((2, v), np.int64)
    indices, counts = sort_rows(indptr, indices[:filled], counts[:filled], v, totals)
    if binary:
        counts[:] = 1
        totals[0] = totals[1]
    return BlockCounts(stats_of(block, *totals), indptr, indices, counts)


def term_stats(block: BlockTerms, binary: bool = False) -> TermStats:
    """The same statistics without the rows."""
    terms = block.terms
    totals = np.zeros((2, len(terms.vocabulary)), np.int64)
    add_counts(terms.streams, terms.edges, totals)
    if binary:
        totals[0] = totals[1]
    return stats_of(block, *totals)


def stats_of(block: BlockTerms, counts: np.ndarray, document_counts: np.ndarray) -> TermStats:
    terms, wordless, tokens, stopped, repairs = block
    n, words = len(terms.edges) - 1, terms.vocabulary
    return TermStats(n, wordless, tokens, stopped, repairs, words, counts, document_counts)


def assemble(
    blocks: Sequence[BlockCounts],
    columns_of: Iterable[np.ndarray],
    width: int,
    dtype: Any,
    engine: Engine,
) -> Any:
    """One CSR matrix of the blocks, from the columns of each one's terms (-1 for none)."""
    parts, row, first = [], 0, 0
    for block, columns in zip(blocks, columns_of, strict=True):
        last = first + int(block.stats.document_counts[columns >= 0].sum())
        parts.append((block, columns, row, first, last))
        row, first = row + block.stats.documents, last
    index = np.int32 if max(first, width) <= np.iinfo(np.int32).max else np.int64
    indptr, indices = np.zeros(row + 1, index), np.empty(first, index)
    data = np.empty(first, dtype)

    def place(part: tuple[BlockCounts, np.ndarray, int, int, int]) -> None:
        block, columns, row, first, last = part
        edges = indptr[row + 1 : row + len(block.indptr)]
        entries = indices[first:last], data[first:last]
        place_rows(*block[1:], columns, edges, *entries, first)

    for _ in engine.each(place, parts, work=first):
        pass
    kind = sp.csr_array if get_config()["sparse_interface"] == "sparray" else sp.csr_matrix
    return kind((data, indices, indptr), shape=(row, width), copy=False)


def choose_terms(
    stats: TermStats, min_df: float = 1, max_df: float = 1.0, max_features: int | None = None
) -> np.ndarray:
    """A mask of the terms that become columns.

    Of equally frequent terms, ``max_features`` keeps those that sort first.
    """
    n, df = stats.documents, stats.document_counts
    low, high = (as_count(limit, n) for limit in (min_df, max_df))
    if high < low:
        raise ValueError(
            f"max_df corresponds to < documents than min_df: max_df={max_df} is {high:g} of "
            f"{n:,} documents, min_df={min_df} is {low:g}. Raise max_df or lower min_df."
        )
    keep = (df >= low) & (df <= high)
    if max_features is not None and np.count_nonzero(keep) > max_features:
        places = np.flatnonzero(keep)
        best = np.argsort(-stats.counts[places], kind="stable")[:max_features]
        keep = np.zeros(len(df), np.bool_)
        keep[places[best]] = True
    return keep


def as_count(limit: float, n: int) -> float:
    """A number of documents, or a proportion of ``n`` of them, as a number."""
    return limit if isinstance(limit, Integral) else limit * n  # type: ignore[return-value]


def check_limits(estimator: Any) -> None:
    """ValueError for bounds that are out of range."""
    name = type(estimator).__name__
    for setting in ("min_df", "max_df"):
        value = getattr(estimator, setting)
        is_count = isinstance(value, Integral) and not isinstance(value, bool)
        if not (value >= 1 if is_count else isinstance(value, float) and 0 <= value <= 1):
            raise ValueError(
                f"{name}({setting}={value!r}) must be a number of documents (an int of at "
                "least 1) or a proportion of them (a float from 0.0 to 1.0)."
            )
    most = estimator.max_features
    if most is not None and not (isinstance(most, int | np.integer) and most >= 1):
        raise ValueError(
            f"{name}(max_features={most!r}) must be an int of at least 1, or None."
        )


def explain_empty(stats: TermStats, estimator: Any) -> str:
    """The message for documents without a term, in numbers, and what to change."""
    n, repairs = stats.documents, stats.repairs
    if n == 0:
        return (
            "empty vocabulary: there are 0 documents. "
            "Check the source; a generator can be read only once."
        )
    if repairs.empty == n:
        return (
            f"empty vocabulary: all {n:,} documents are empty ({repairs.missing:,} of them "
            "None or NaN). Check that this is the column with the text."
        )
    if stats.tokens == 0:
        return (
            f"empty vocabulary: none of the {n:,} documents ({repairs.empty:,} of them empty) "
            f"has a token. Tokens depend on token_pattern={estimator.token_pattern!r}, "
            f"rule={estimator.rule!r}, min_length={estimator.min_length} and "
            f"analyzer={estimator.analyzer!r}; change one of them."
        )
    if stats.stopped < stats.tokens:
        return (
            f"empty vocabulary: none of the {n:,} documents has as many as "
            f"{estimator.ngram_range[0]} tokens in a row. Lower ngram_range="
            f"{tuple(estimator.ngram_range)}."
        )
    return (
        "empty vocabulary; perhaps the documents only contain stop words: all "
        f"{stats.tokens:,} tokens of {n:,} documents are stop words, or numbers that were "
        "removed. Set stop_words=None or numbers=True."
    )


def explain_pruned(stats: TermStats, estimator: Any) -> str:
    """The message for pruning that leaves no term, in numbers, and what to change."""
    n, df = stats.documents, stats.document_counts
    min_df, max_df = estimator.min_df, estimator.max_df
    low, high = (as_count(limit, n) for limit in (min_df, max_df))
    return (
        f"After pruning, no terms remain of {len(df):,} in {n:,} documents: "
        f"min_df={min_df} removes {np.count_nonzero(df < low):,} in fewer than {low:g} "
        f"documents, max_df={max_df} {np.count_nonzero(df > high):,} in more than {high:g}. "
        "Try a lower min_df or a higher max_df."
    )


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
