"""What the columns that came along with the documents hold: kinds, dates, or neither."""

import json
from collections import Counter
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tacit.data.documents import Documents
from tacit.explore.stages.dates import Dates, read_dates
from tacit.explore.stages.ingest import RESERVED
from tacit.explore.stages.meaning import use_words
from tacit.explore.stages.stage import Context, Output
from tacit.explore.stages.unspaced import whole_words, with_whole_words
from tacit.explore.stages.wording import names_nothing, stand_in_addresses

__all__ = [
    "MOST_KINDS", "NONE", "Column", "columns_of", "compare_fields", "strata_of",
    "written",
]  # fmt: skip

MOST_KINDS = 50
SEVERAL, HALF = 0.05, 0.5  # of the documents with several values; of the values that recur
MOST_COLUMNS = 12  # that are compared
NONE = "(none)"
LONGEST = 60  # characters of a value


class Column(NamedTuple):
    """One column: which kind of thing it holds, or why it is not used."""

    name: str
    role: str  # "kinds", "dates" or "other"
    why: str  # for "other"
    kinds: tuple[str, ...] = ()
    codes: np.ndarray | None = None  # the kind of every document
    dates: Dates | None = None
    members: sp.csr_array | None = None  # (n, kinds), where a document has several values


def columns_of(documents: Documents) -> list[Column]:
    """Every column of a collection, in its order."""
    found, compared = [], 0
    for name in documents.columns:
        if name in RESERVED:
            continue
        column = inspect_column(str(name), documents.column(name))
        if column.role == "kinds":
            compared += 1
            if compared > MOST_COLUMNS:
                column = Column(column.name, "other", f"past the first {MOST_COLUMNS}")
        found.append(column)
    return found


def inspect_column(name: str, values: list[Any]) -> Column:
    """What one column holds.

    >>> inspect_column("topic", ["sea", "bread", None, "sea"] * 3).kinds
    ('bread', 'sea', '(none)')
    >>> inspect_column("sender", [f"person {i}" for i in range(80)]).why
    'has 80 different values for 80 documents'
    """
    dates = read_dates(name, values)
    if dates is not None:
        return Column(name, "dates", "", dates=dates)
    if (listed := lists_of(values)) is not None:
        return list_column(name, listed)
    raw = set(values)
    n = len(values)
    if len(raw) <= 2 * MOST_KINDS:
        shown_as = {value: written(value) for value in raw}
        kinds = sorted(set(shown_as.values()), key=lambda kind: (kind == NONE, kind))
        real = len(kinds) - (NONE in kinds)
        if real <= 1:
            return Column(name, "other", "has one value only" if real else "is empty")
        there = n - sum(shown_as[value] == NONE for value in values)
        if len(kinds) <= min(MOST_KINDS, n // 2) and (real <= there // 2 or there == n):
            at = {kind: i for i, kind in enumerate(kinds)}
            codes = np.array([at[shown_as[value]] for value in values], np.int64)
            return Column(name, "kinds", "", tuple(kinds), codes)
    return Column(name, "other", f"has {len(raw):,} different values for {n:,} documents")


def lists_of(values: list[Any]) -> list[list[str]] | None:
    """A column whose values are lists: JSON, or parts between semicolons or bars that are
    values of other documents too; None for any other column.

    >>> lists_of(['["oil", "gas"]', '["oil"]', None])
    [['oil', 'gas'], ['oil'], []]
    >>> lists_of(["oil; gas", "gas", "oil; gold", "oil"])
    [['oil', 'gas'], ['gas'], ['oil', 'gold'], ['oil']]
    >>> lists_of(["one; of a kind", "two", "three"]) is None
    True
    """
    texts = [value for value in values if isinstance(value, str) and value.strip()]
    if not texts or len(texts) < sum(value is not None for value in values):
        return None
    if all(text.lstrip().startswith("[") for text in texts):
        try:
            found = {text: json.loads(text) for text in set(texts)}
        except (ValueError, RecursionError):
            return None
        if not all(isinstance(each, list) for each in found.values()):
            return None
        cells = {t: [written(v) for v in each if v is not None] for t, each in found.items()}
        return [cells.get(value, []) if isinstance(value, str) else [] for value in values]
    for mark in ";|":
        if sum(mark in text for text in texts) < SEVERAL * len(texts):
            continue
        parts = {t: [written(p) for p in t.split(mark) if p.strip()] for t in set(texts)}
        several = sum(len(parts[text]) > 1 for text in texts)
        pieces = Counter(piece for text in texts for piece in set(parts[text]))
        again = sum(size > 1 for size in pieces.values())
        if several >= SEVERAL * len(texts) and again >= HALF * len(pieces):
            return [parts.get(value, []) if isinstance(value, str) else [] for value in values]
    return None


def list_column(name: str, listed: list[list[str]]) -> Column:
    """A column of lists: each value by itself, and the first of each document."""
    n = len(listed)
    sizes = Counter(value for values in listed for value in set(values) if value != NONE)
    common = [v for v, size in sizes.most_common() if size > 1][: MOST_KINDS - 1]
    if len(common) < 2:
        return Column(name, "other", f"has {len(sizes):,} different values in its lists")
    kinds = [*sorted(common), NONE]
    at = {kind: i for i, kind in enumerate(kinds)}
    kept = [list(dict.fromkeys(at[v] for v in values if v in at)) for values in listed]
    codes = np.array([each[0] if each else at[NONE] for each in kept], np.int64)
    rows = np.repeat(np.arange(n), [max(len(each), 1) for each in kept])
    columns = np.array([i for each in kept for i in each or [at[NONE]]], np.int64)
    cells = (np.ones(len(rows), np.int8), (rows, columns))
    members = sp.csr_array(cells, shape=(n, len(kinds)))
    return Column(name, "kinds", "", tuple(kinds), codes, members=members)


def written(value: Any) -> str:
    """A value as the page shows it.

    >>> written(3.0), written(" a\\nb "), written(None)
    ('3', 'a b', '(none)')
    """
    from tacit.explore.report.clean_text import clean_line, cut

    if value is None or value == "" or value != value:
        return NONE
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return cut(clean_line(str(value)), LONGEST) or NONE


WORDS = 8  # of each value
STRATA = 5  # of documents of similar length
FEWEST = 5  # documents with a value for which words are listed, and of those with the word
ERRORS = 0.05  # words by chance that a column may be expected to show
LEAST_FREQUENCY = 0.02  # of the documents with the value that must hold a word


def compare_fields(context: Context) -> Output:
    """For every column with few values: how many documents have each, and its words."""
    columns = columns_of(context.documents())
    used = [column for column in columns if column.role == "kinds"]
    output = Output(facts={
        "columns": [[column.name, column.role, column.why] for column in columns],
        "fields": [],
    })  # fmt: skip
    if not used:
        return output
    words = None
    if not context.skipped("counts"):
        strata = strata_of(context.arrays("counts")["lengths"])
        words = (*compared_words(context), strata)
    for i, column in enumerate(used):
        codes: Any = column.codes
        output.arrays[f"field{i}"] = codes.astype(np.uint8)
        sizes = np.bincount(codes, minlength=len(column.kinds))
        if column.members is not None:
            output.add_matrix(f"members{i}", column.members)
            sizes = np.asarray(column.members.sum(axis=0, dtype=np.int64)).ravel()
        listed = words_of(column, codes, sizes, *words) if words else [[] for _ in sizes]
        output.facts["fields"].append({
            "name": column.name,
            "several": column.members is not None,
            "values": list(column.kinds),
            "sizes": sizes.tolist(),
            "words": listed,
        })  # fmt: skip
    fields = output.facts["fields"]
    every = {word for field in fields for words in field["words"] for word, *_ in words}
    whole = whole_words(context.documents(), every)
    for field in fields:
        field["words"] = [with_whole_words(rows[:WORDS], whole) for rows in field["words"]]
    return output


def compared_words(context: Context) -> tuple[sp.csr_array, np.ndarray]:
    """Which documents hold which of the words that are in some documents and not in most, and
    in text rather than in addresses."""
    counts, words = context.matrix("counts", "counts"), context.words()
    used = use_words(context.arrays("counts")["document_counts"], counts.shape[0])
    used = used[~stand_in_addresses(context.documents(), counts, words)[used]]
    present = sp.csr_array(counts[:, used])
    present.data = np.ones(len(present.data), np.float32)  # sums are taken in double
    return present, words[used]


def strata_of(lengths: np.ndarray) -> np.ndarray:
    """Which fifth of the documents each is in by its length."""
    edges = np.quantile(lengths, np.arange(1, STRATA) / STRATA)
    return np.searchsorted(edges, lengths, side="right")


def words_of(
    column: Column,
    codes: np.ndarray,
    sizes: np.ndarray,
    present: sp.csr_array,
    names: Any,
    strata: np.ndarray,
) -> list[list[list[Any]]]:
    """For each value [word, frequency in its documents, in the others], the strongest first:
    those beyond what the largest of all comparisons reaches by chance."""
    from scipy.stats import norm

    known = np.array([kind != NONE for kind in column.kinds])
    if not len(names) or known.sum() < 2:
        return [[] for _ in sizes]
    level = float(norm.isf(ERRORS / (len(names) * int(known.sum()))))
    named = np.array([not names_nothing(str(name)) for name in names], np.bool_)
    members, n = column.members, len(codes)
    if members is None:
        members = sp.csr_array((np.ones(n), codes, np.arange(n + 1)), shape=(n, len(sizes)))
    there = np.flatnonzero(known[codes])  # missing values are not compared
    members, present = sp.csr_array(members[there]), sp.csr_array(present[there])
    strata = strata[there]
    sums = sp.csr_array(members.T.astype(np.float64) @ present)  # for each of its values
    total = np.asarray(present.sum(axis=0), np.float64).ravel()
    held, of = by_stratum(present, strata), by_stratum(members, strata)
    found: list[list[list[Any]]] = []
    for j, size in enumerate(sizes.tolist()):
        if size < FEWEST or not known[j]:
            found.append([])
            continue
        own = sums[[j]].toarray().ravel()
        rest = np.maximum(total - own, 0.0)
        inside, outside = own / size, rest / max(len(there) - size, 1)
        score = excess(own, held, of[:, j], np.bincount(strata))
        more = own * rest.sum() > rest * own.sum()  # not only because there are more words
        common = (own >= FEWEST) & (inside >= LEAST_FREQUENCY)
        telling = np.flatnonzero(named & common & more & (score > level))
        best = telling[np.lexsort([telling, -score[telling]])][: 2 * WORDS].tolist()
        found.append([
            [str(names[i]), round(float(inside[i]), 4), round(float(outside[i]), 4)]
            for i in best
        ])  # fmt: skip
    return found


def by_stratum(rows: sp.csr_array, strata: np.ndarray) -> np.ndarray:
    """(strata, columns) In how many rows of every stratum each column is."""
    cells = (np.ones(len(strata)), strata, np.arange(len(strata) + 1))
    one = sp.csr_array(cells, shape=(len(strata), int(strata.max(initial=0)) + 1))
    return np.asarray((one.T @ rows.astype(np.float64)).todense())


def excess(own: np.ndarray, held: np.ndarray, of: np.ndarray, n: np.ndarray) -> np.ndarray:
    """How many more documents with a value hold each word than by chance, in standard
    deviations, given how many of every stratum hold the word and have the value.

    The expectation and the variance are those of Mantel and Haenszel (1959). Few documents are
    not normally distributed, so the deviance of a binomial takes the place of the square.

    >>> strata = np.array([[40.0, 10, 5]]), np.array([10.0]), np.array([100])
    >>> excess(np.array([10.0, 6, 5]), *strata).round(1)
    array([3.5, 4.1, 4.9])
    """
    from scipy.special import rel_entr

    n = np.maximum(n, 1).astype(np.float64)[:, None]
    part = of[:, None] / n
    expected = (held * part).sum(axis=0)
    variance = (held * (n - held) / np.maximum(n - 1, 1) * part * (1 - part)).sum(axis=0)
    total = held.sum(axis=0)
    deviance = 2 * (rel_entr(own, expected) + rel_entr(total - own, total - expected))
    binomial = expected * (1 - expected / np.maximum(total, 1))
    ratio = np.divide(binomial, variance, out=np.zeros(len(own)), where=variance > 0)
    return np.sign(own - expected) * np.sqrt(np.maximum(deviance * ratio, 0.0))
