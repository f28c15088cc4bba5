"""Edit distances between strings: pairs, matrices, and the edits themselves.

    levenshtein                 insert, delete or substitute one symbol
    optimal_string_alignment    also transpose two neighbors; no symbol is edited twice, so the
                                triangle inequality does not hold
    damerau                     also transpose two neighbors, with other edits in between ("ca"
                                to "abc" is 2; optimal_string_alignment gives 3)
    alignment                   the edits themselves
    pairwise_strings            the matrix of all distances
    string_distance_blocks      the same, a block of rows at a time

Symbols are Unicode code points, so that one visible character may be several symbols: "e" with
a combining accent is two, a family emoji seven. ``normalize="NFC"`` composes what can be
composed first; other grapheme clusters are not merged. Sequences of anything hashable, such as
lists of words, are compared item by item.

Unit costs run in ``edit_kernels``, other costs and alignments in ``edit_costs``. A matrix is
hundreds of times faster than a loop over pairs: blocks of rows meet all columns at once, sorted
by length, and the distances are then put in the order of the result. Every pair is computed
alone, so neither blocks nor engine can change a distance. Where strings are compared with
themselves and costs are symmetric, each pair is computed once.

Levenshtein (1966), Binary codes capable of correcting deletions, insertions, and reversals.
Soviet Physics Doklady 10.
Damerau (1964), A technique for computer detection and correction of spelling errors. CACM 7.
Yujian and Bo (2007), A normalized Levenshtein distance metric. IEEE PAMI 29.

The notes' section on distances between strings and trees.

One file: pairs and matrices are one interface with the same settings.
"""

import unicodedata
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np

from tacit.core.engines import Engine, get_engine
from tacit.core.kernel import kernel
from tacit.core.string_array import offsets_of
from tacit.text.edit_costs import (
    ACTIONS,
    DELETE,
    INSERT,
    OTHER,
    START,
    SUBSTITUTE,
    TRANSPOSE,
    CodedPair,
    CostTables,
    EditCosts,
    find_edits,
    uniform_tables,
    weighted_distance,
    weighted_rows,
)
from tacit.text.edit_kernels import (
    NO_LIMIT,
    EncodedStrings,
    code_points,
    damerau_rows,
    pair_distance,
    unit_rows,
)

__all__ = [
    "Alignment", "Edit", "EditCosts", "alignment", "damerau", "levenshtein",
    "optimal_string_alignment", "pairwise_strings", "string_distance_blocks",
]  # fmt: skip

METRICS = ("levenshtein", "optimal_string_alignment", "damerau")
FORMS = (None, "NFC", "NFD", "NFKC", "NFKD")
SCALES = {None: 0, "length": 1, "metric": 2}
BLOCK_CELLS = 2**21  # a block and its copy stay in cache
UNICODE = 0x110000
String = str | Sequence[Hashable]


# --- One pair ---


def levenshtein(
    a: String,
    b: String,
    *,
    costs: EditCosts | None = None,
    limit: float | None = None,
    scale: str | None = None,
    normalize: str | None = None,
) -> float:
    """Count the insertions, deletions and substitutions that turn ``a`` into ``b``.

    Parameters
    ----------
    a, b : str, or sequences of hashable items
    costs : EditCosts or None
        The costs of edits; None for one each.
    limit : number or None
        Return ``limit`` + 1 where the distance is larger than this. Long strings are then
        compared faster.
    scale : {"length", "metric"} or None
        "length" divides by the length of the longer string; "metric" is 2d / (|a| + |b| + d),
        also from 0 to 1, which obeys the triangle inequality (Yujian and Bo 2007). For unit
        costs.
    normalize : {"NFC", "NFD", "NFKC", "NFKD"} or None
        The Unicode normal form that strings are brought to first, so that é equals é
        however it is encoded.

    Returns
    -------
    int, or float where ``costs`` or ``scale`` is given

    Examples
    --------
    >>> levenshtein("kitten", "sitting")
    3
    >>> levenshtein("kitten", "sitting", scale="length")
    0.428571...
    >>> levenshtein("kitten", "sitting", limit=1)
    2
    >>> levenshtein("to be or not".split(), "to be and not".split())
    1
    """
    return distance("levenshtein", a, b, costs, limit, scale, normalize)


def optimal_string_alignment(
    a: String,
    b: String,
    *,
    costs: EditCosts | None = None,
    limit: float | None = None,
    scale: str | None = None,
    normalize: str | None = None,
) -> float:
    """Count edits with transpositions of neighbors, where no symbol is edited twice.

    Parameters are those of ``levenshtein``. Also called the restricted Damerau-Levenshtein
    distance. Spelling correctors use it, but it is not a metric; ``damerau`` is.

    Examples
    --------
    >>> optimal_string_alignment("teh", "the"), levenshtein("teh", "the")
    (1, 2)
    >>> optimal_string_alignment("ca", "abc"), damerau("ca", "abc")
    (3, 2)
    """
    return distance("optimal_string_alignment", a, b, costs, limit, scale, normalize)


def damerau(
    a: String,
    b: String,
    *,
    limit: float | None = None,
    scale: str | None = None,
    normalize: str | None = None,
) -> float:
    """Count edits with transpositions of neighbors, before or after other edits.

    Parameters are those of ``levenshtein``, without costs: the algorithm relies on unit costs.

    Examples
    --------
    >>> damerau("a cat", "an act")
    2
    """
    return distance("damerau", a, b, None, limit, scale, normalize)


def distance(
    metric: str,
    a: String,
    b: String,
    costs: EditCosts | None,
    limit: float | None,
    scale: str | None,
    normalize: str | None,
) -> float:
    if costs is None and limit is None and scale is None and normalize is None:
        if isinstance(a, str) and isinstance(b, str):  # most calls: nothing to check
            return pair_distance(a, b, metric)
    else:
        check_settings(metric, costs, limit, scale, normalize)
    a, b = as_sequence(a, normalize, "a"), as_sequence(b, normalize, "b")
    if costs is not None:
        pair, tables = encode_with_costs(a, b, costs)
        most = np.inf if limit is None else limit
        transpose = metric == "optimal_string_alignment"
        cost = weighted_distance(pair, tables, transpose=transpose, limit=most)
        return cost if cost <= most else most + 1
    if not (isinstance(a, str) and isinstance(b, str)):
        # rapidfuzz compares hashes; those of "a" and 97 are equal, and of 0 and 2**61 - 1.
        codes = number(a, b, {})
        a, b = codes[: len(a)], codes[len(a) :]
    count = pair_distance(a, b, metric, None if limit is None else min(int(limit), NO_LIMIT))
    return count if scale is None else scale_distance(count, len(a), len(b), SCALES[scale])


def check_settings(
    metric: str,
    costs: EditCosts | None,
    limit: float | None,
    scale: str | None,
    normalize: str | None,
) -> None:
    """Raise for settings that are unknown or exclude each other."""
    if metric not in METRICS:
        raise ValueError(f"metric={metric!r} is unknown; choose from {list(METRICS)}.")
    if costs is not None and not isinstance(costs, EditCosts):
        raise TypeError(
            f"{metric}(costs=...) must be EditCosts, not {type(costs).__name__}. "
            "Write EditCosts(substitute={('a', 'e'): 0.5})."
        )
    if costs is not None and metric == "damerau":
        raise ValueError(
            "damerau takes no costs: its algorithm relies on unit costs. Use "
            "optimal_string_alignment."
        )
    if scale not in SCALES:
        raise ValueError(f"{metric}(scale={scale!r}) is unknown; choose from {list(SCALES)}.")
    if scale is not None and costs is not None:
        raise ValueError(
            f"{metric}(scale={scale!r}) is for unit costs. Leave out costs, or scale the "
            "result yourself."
        )
    if limit is not None and not limit >= 0:
        raise ValueError(f"{metric}(limit={limit}) must be at least 0, or None.")
    if limit is not None and costs is None and limit != int(limit):
        raise ValueError(f"{metric}(limit={limit}) must be whole: edits of unit cost are.")
    if limit is not None and scale is not None:
        raise ValueError(
            f"{metric}(limit={limit}, scale={scale!r}): a limit counts edits. Give one of them."
        )
    if normalize not in FORMS:
        raise ValueError(
            f"{metric}(normalize={normalize!r}) is unknown; choose from {list(FORMS)}."
        )


def as_sequence(value: Any, normalize: str | None, name: str) -> Any:
    """A string in its normal form, or a tuple of items."""
    if isinstance(value, str):
        return unicodedata.normalize(normalize, value) if normalize else value  # type: ignore
    if isinstance(value, bytes | set | dict) or not isinstance(value, Iterable):
        raise TypeError(
            f"{name} is of type {type(value).__name__}, but must be a str or a sequence of "
            "hashable items. Decode bytes first; a missing string has no distance to others."
        )
    return tuple(value)


def number(a: Any, b: Any, numbers: dict[Hashable, int]) -> list[int]:
    """The items of two sequences as numbers from 0, equal where items are."""
    return [numbers.setdefault(item, len(numbers)) for item in chain(a, b)]


def encode_with_costs(a: Any, b: Any, costs: EditCosts | None) -> tuple[CodedPair, CostTables]:
    """Two sequences as numbers, and the costs of their symbols."""
    numbers: dict[Hashable, int] = {}
    codes = np.array(number(a, b, numbers), np.int32)
    if costs is None:
        tables, rows = uniform_tables(), np.full(len(codes), OTHER, np.int32)
    else:
        tables, row_of = costs.tables(numbers)
        rows = np.array([row_of.get(item, OTHER) for item in chain(a, b)], np.int32)
    n = len(a)
    return CodedPair(codes[:n], rows[:n], codes[n:], rows[n:]), tables


# --- The edits themselves ---


class Edit(NamedTuple):
    """One step from the source to the target."""

    action: str  # "keep", "substitute", "transpose", "delete" or "insert"
    old: Any  # the symbols of the source: a string, or a tuple of items
    new: Any  # the symbols of the target
    at: int  # place in the source
    to: int  # place in the target
    cost: float


@dataclass(frozen=True)
class Alignment:
    """The cheapest edits from one string to another. Prints as two lines with marks between."""

    distance: float
    edits: list[Edit]

    @property
    def script(self) -> list[Edit]:
        """The edits that change something."""
        return [edit for edit in self.edits if edit.action != "keep"]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {"distance": self.distance, "edits": [edit._asdict() for edit in self.script]}

    def __str__(self) -> str:
        cells = []
        for edit in self.edits:
            old, new = ("".join(map(str, part)) for part in (edit.old, edit.new))
            width = max(len(old), len(new))
            cells.append((old.ljust(width), MARKS[edit.action] * width, new.ljust(width)))
        lines = ("".join(part).rstrip() for part in zip(*cells, strict=True))
        return "\n".join(lines)


MARKS = {"keep": "|", "substitute": "*", "transpose": "x", "delete": "-", "insert": "+"}


def alignment(
    a: String,
    b: String,
    *,
    costs: EditCosts | None = None,
    transpose: bool = False,
    normalize: str | None = None,
) -> Alignment:
    """Find the cheapest edits that turn ``a`` into ``b``.

    Parameters
    ----------
    a, b, costs, normalize
        As in ``levenshtein``.
    transpose : bool
        Whether neighbors may be transposed, as in ``optimal_string_alignment``.

    Among equally cheap alignments, the result prefers, from the end: keep or substitute,
    transpose, delete, insert.

    Examples
    --------
    >>> result = alignment("sitting", "kitten")
    >>> print(result)
    sitting
    *|||*|-
    kitten
    >>> result.script[0]
    Edit(action='substitute', old='s', new='k', at=0, to=0, cost=1.0)
    """
    a, b = as_sequence(a, normalize, "a"), as_sequence(b, normalize, "b")
    pair, tables = encode_with_costs(a, b, costs)
    distance, actions = find_edits(pair, tables, transpose=transpose)
    edits, i, j = [], 0, 0
    source, target = pair.source_rows, pair.target_rows
    for action in actions.tolist():
        before = source[i - 1] if i else START
        cost, down, across = 0.0, 1, 1
        if action == DELETE:
            cost, across = tables.delete[before, source[i]], 0
        elif action == INSERT:
            cost, down = tables.insert[before, target[j]], 0
        elif action == SUBSTITUTE:
            cost = tables.substitute[source[i], target[j]]
        elif action == TRANSPOSE:
            cost, down, across = tables.transpose[source[i], source[i + 1]], 2, 2
        old, new = a[i : i + down], b[j : j + across]
        edits.append(Edit(ACTIONS[action], old, new, i, j, float(cost)))
        i, j = i + down, j + across
    return Alignment(distance if costs is not None else int(distance), edits)


# --- Matrices ---


def pairwise_strings(
    strings: Iterable[Any],
    others: Iterable[Any] | None = None,
    *,
    metric: str = "levenshtein",
    costs: EditCosts | None = None,
    limit: float | None = None,
    scale: str | None = None,
    normalize: str | None = None,
    condensed: bool = False,
    dtype: Any = None,
    out: np.ndarray | None = None,
    engine: str | Engine = "threads",
) -> np.ndarray:
    """Compute the distance of every string to every other.

    Parameters
    ----------
    strings, others : iterables of str, or of sequences of hashable items
        ``others`` gives the columns; None compares ``strings`` with themselves.
    metric : {"levenshtein", "optimal_string_alignment", "damerau"}
    costs, limit, scale, normalize
        As in ``levenshtein``; ``damerau`` takes no costs.
    condensed : bool
        Return only the pairs i < j, row by row, as SciPy's ``linkage`` and the clusterings
        take them. For ``strings`` alone, and for symmetric costs.
    dtype : NumPy dtype or None
        The type of the result; None for int32 for counts and float64 otherwise.
    out : array or None
        Where to write the result, for example a ``numpy.memmap`` larger than memory.
    engine : {"serial", "threads", "dask"} or Engine
        Where blocks of rows are compared; the distances do not depend on it. The matrix is
        filled in place, so "dask" uses threads here. ``string_distance_blocks`` sends blocks
        to the cluster.

    Returns
    -------
    array of shape (strings, others), or (n (n - 1) / 2,) if condensed

    Examples
    --------
    >>> pairwise_strings(["kitten", "sitting", "mitten"])
    array([[0, 3, 1],
           [3, 0, 3],
           [1, 3, 0]], dtype=int32)
    >>> pairwise_strings(["kitten", "sitting", "mitten"], condensed=True)
    array([3, 1, 3], dtype=int32)
    >>> pairwise_strings(["teh"], ["the", "ten"], metric="optimal_string_alignment")
    array([[1, 1]], dtype=int32)
    """
    check_settings(metric, costs, limit, scale, normalize)
    kind = choose_dtype(dtype if out is None else out.dtype, costs, scale)
    rows = read_strings(strings, normalize, "strings")
    columns = rows if others is None else read_strings(others, normalize, "others")
    plan, numbers = make_plan(metric, columns, costs, limit, scale, kind)
    encoded = numbers.encode(rows)
    symmetric = others is None and is_symmetric(costs, plan.tables)
    if condensed and not symmetric:
        why = "the costs differ by direction" if others is None else "others= was given"
        raise ValueError(
            "pairwise_strings(condensed=True) is for distances that are the same both ways, "
            f"but {why}. Leave out condensed."
        )
    n, m = len(rows), len(columns)
    out = make_out(out, (n * (n - 1) // 2,) if condensed else (n, m), kind)
    if n and m:
        (fill_square if symmetric else fill_rectangle)(plan, encoded, out, get_engine(engine))
    return out


def string_distance_blocks(
    strings: Iterable[Any],
    others: Iterable[Any],
    *,
    metric: str = "levenshtein",
    costs: EditCosts | None = None,
    limit: float | None = None,
    scale: str | None = None,
    normalize: str | None = None,
    dtype: Any = None,
    engine: str | Engine = "threads",
) -> Iterator[tuple[int, np.ndarray]]:
    """Compute distances a block of rows at a time: the first row's number, and the rows.

    ``strings`` is read block by block and may be a stream longer than memory; ``others`` is
    read at once. Parameters are those of ``pairwise_strings``.

    Examples
    --------
    >>> stream = iter(["colour", "color", "collar"])
    >>> for start, rows in string_distance_blocks(stream, ["color"]):
    ...     print(start, rows.ravel())
    0 [1 0 2]
    """
    check_settings(metric, costs, limit, scale, normalize)
    columns = read_strings(others, normalize, "others")
    kind = choose_dtype(dtype, costs, scale)
    plan, numbers = make_plan(metric, columns, costs, limit, scale, kind)
    check_iterable(strings, "strings")
    source = (as_sequence(row, normalize, f"strings[{i}]") for i, row in enumerate(strings))

    def blocks() -> Iterator[RowBlock]:
        start, step = 0, rows_to_block(len(columns))
        while part := list(islice(source, step)):
            yield RowBlock(start, numbers.encode(part))
            start += len(part)

    return get_engine(engine).map(block_distances, plan, blocks())


# --- Strings as numbers ---


class SymbolNumbers:
    """Numbers for the symbols of the columns; 0 for all others, which equal none of them."""

    def __init__(self, columns: Sequence[Any], costs: EditCosts | None) -> None:
        symbols: Iterable[Hashable]
        if set(map(type, columns)) <= {str}:
            seen = np.zeros(UNICODE, np.bool_)
            seen[code_points("".join(columns))] = True
            symbols = map(chr, np.flatnonzero(seen).tolist())
        else:
            symbols = dict.fromkeys(item for column in columns for item in column)
        self.numbers = {symbol: i for i, symbol in enumerate(symbols, 1)}
        # A symbol of a row may have costs without being in any column.
        for symbol in sorted(costs.named, key=repr) if costs is not None else ():
            self.numbers.setdefault(symbol, len(self.numbers) + 1)
        self.n_symbols = len(self.numbers) + 1
        self.table = np.zeros(UNICODE, np.int32)
        for symbol, number in self.numbers.items():
            if isinstance(symbol, str) and len(symbol) == 1:
                self.table[ord(symbol)] = number

    def encode(self, sequences: Sequence[Any]) -> EncodedStrings:
        """Sequences as numbers."""
        offsets = offsets_of(map(len, sequences))
        if set(map(type, sequences)) <= {str}:
            return EncodedStrings(self.table[code_points("".join(sequences))], offsets)
        find = self.numbers.get
        codes = np.fromiter((find(item, 0) for row in sequences for item in row), np.int32)
        return EncodedStrings(codes, offsets)

    def costs(self, costs: EditCosts) -> tuple[CostTables, np.ndarray]:
        """The costs of the symbols, and the row that each number has in them."""
        tables, rows = costs.tables(self.numbers)
        row_of = np.full(self.n_symbols, OTHER, np.int32)
        for symbol, row in rows.items():
            row_of[self.numbers[symbol]] = row
        return tables, row_of


# --- Blocks of rows ---


class Plan(NamedTuple):
    """What every block of rows is compared with, and how."""

    metric: str
    columns: EncodedStrings  # sorted by length
    rank: np.ndarray  # int64, where each column is among them
    n_symbols: int
    limit: float
    scale: str | None
    tables: CostTables | None
    row_of: np.ndarray  # int32, the row in the tables of every symbol number
    dtype: np.dtype  # of the result


class RowBlock(NamedTuple):
    """Some rows, as a block for an engine."""

    start: int
    strings: EncodedStrings

    def load(self) -> "RowBlock":
        return self


def make_plan(
    metric: str,
    strings: Sequence[Any],
    costs: EditCosts | None,
    limit: float | None,
    scale: str | None,
    dtype: np.dtype,
) -> tuple[Plan, SymbolNumbers]:
    """Number the symbols of the columns, sort the columns, look up the costs."""
    numbers = SymbolNumbers(strings, costs)
    columns = numbers.encode(strings)
    order = np.argsort(columns.sizes(), kind="stable")
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    tables, row_of = (None, np.empty(0, np.int32))
    if costs is not None:
        tables, row_of = numbers.costs(costs)
    if limit is None:
        limit = np.inf if costs is not None else NO_LIMIT
    columns, n_symbols = columns.take(order), numbers.n_symbols
    plan = Plan(metric, columns, rank, n_symbols, limit, scale, tables, row_of, dtype)
    return plan, numbers


def cut_rows(strings: EncodedStrings, width: int) -> Iterator[tuple[int, int]]:
    """Ranges of rows: about two million distances each, and eight ranges or more."""
    short = len(strings.codes) <= 64 * len(strings)
    step = min(rows_to_block(width), max(64 if short else 8, len(strings) // 8))
    for start in range(0, len(strings), step):
        yield start, min(start + step, len(strings))


def rows_to_block(width: int) -> int:
    """From 16 rows to 1,024: about two million distances.

    >>> rows_to_block(100), rows_to_block(10_000), rows_to_block(10**6)
    (1024, 209, 16)
    """
    return max(16, min(1024, BLOCK_CELLS // max(1, width)))


def raw_type(plan: Plan, rows: EncodedStrings) -> np.dtype:
    """The smallest type for distances; an error if the type of the result is smaller."""
    longest = int(max(rows.sizes().max(initial=0), plan.columns.sizes().max(initial=0)))
    if plan.dtype.kind in "iu" and longest > np.iinfo(plan.dtype).max:
        raise ValueError(
            f"dtype={plan.dtype} holds distances up to {np.iinfo(plan.dtype).max}, but strings "
            f"of {longest:,} symbols may be further apart. Give a wider one."
        )
    return np.dtype(np.float64) if plan.tables is not None else np.min_scalar_type(longest)


def raw_distances(plan: Plan, rows: EncodedStrings, start: int = 0) -> np.ndarray:
    """(rows, columns from ``start``), columns sorted by length."""
    columns, dtype = plan.columns, raw_type(plan, rows)
    out = np.empty((len(rows), len(columns) - start), dtype)
    transpose = plan.metric == "optimal_string_alignment"
    if plan.tables is not None:
        weighted_rows(
            rows, columns, plan.row_of, plan.tables, out,
            transpose=transpose, limit=float(plan.limit), start=start,
        )  # fmt: skip
    elif plan.metric == "damerau":
        damerau_rows(rows, columns, plan.n_symbols, out, start=start)
        np.minimum(out, min(int(plan.limit) + 1, np.iinfo(dtype).max), out=out)
    else:
        limit = int(plan.limit)
        unit_rows(
            rows, columns, plan.n_symbols, out, transpose=transpose, limit=limit, start=start
        )
    return out


def block_distances(plan: Plan, block: RowBlock) -> tuple[int, np.ndarray]:
    """The number of the first row, and the rows."""
    out = np.empty((len(block.strings), len(plan.rank)), plan.dtype)
    write_rows(plan, block.strings, out)
    return block.start, out


def write_rows(plan: Plan, rows: EncodedStrings, out: np.ndarray) -> None:
    """The distances of some rows, in the order of the result."""
    raw, order = raw_distances(plan, rows), np.arange(len(rows))
    sizes = rows.sizes(), plan.columns.sizes()
    arrange(raw, order, plan.rank, *sizes, SCALES[plan.scale], out)


def fill_rectangle(plan: Plan, rows: EncodedStrings, out: np.ndarray, engine: Engine) -> None:
    def fill(part: tuple[int, int]) -> None:
        write_rows(plan, rows.part(*part), out[part[0] : part[1]])

    work = len(rows.codes) * out.shape[1]
    for _ in engine.each(fill, cut_rows(rows, out.shape[1]), work=work):
        pass


def fill_square(plan: Plan, rows: EncodedStrings, out: np.ndarray, engine: Engine) -> None:
    """One side of the diagonal, sorted by length; then both, in the order of the result."""
    n, work = len(rows), len(rows.codes) * len(rows)
    raw = np.empty((n, n), raw_type(plan, rows))
    scale, sizes, rank = SCALES[plan.scale], rows.sizes(), plan.rank

    def compare(part: tuple[int, int]) -> None:
        mirror(raw_distances(plan, plan.columns.part(*part), part[0]), part[0], raw)

    def write(start: int) -> None:
        order, condensed = rank[start : start + step], out.ndim == 1
        rows = np.empty((len(order), n), out.dtype) if condensed else out[start : start + step]
        arrange(raw, order, rank, sizes[start:], plan.columns.sizes(), scale, rows)
        if condensed:  # the pairs i < j, one after the other
            for i, row in enumerate(rows, start):
                first = i * (2 * n - i - 1) // 2
                out[first : first + n - i - 1] = row[i + 1 :]

    for _ in engine.each(compare, cut_rows(plan.columns, n), work=work):
        pass
    step = rows_to_block(n)
    for _ in engine.each(write, range(0, n, step), work=raw.size):
        pass


def choose_dtype(dtype: Any, costs: EditCosts | None, scale: str | None) -> np.dtype:
    fractions = costs is not None or scale is not None
    if dtype is None:
        return np.dtype(np.float64 if fractions else np.int32)
    kind = np.dtype(dtype)
    if kind.kind not in ("f" if fractions else "iuf"):
        what = "fractions" if fractions else "counts"
        raise ValueError(f"dtype={kind} cannot hold {what}. Give for example float64.")
    return kind


def read_strings(strings: Iterable[Any], normalize: str | None, name: str) -> list[Any]:
    """Strings in memory, checked one by one."""
    check_iterable(strings, name)
    strings = list(strings)
    if normalize is None and set(map(type, strings)) <= {str}:
        return strings
    return [as_sequence(row, normalize, f"{name}[{i}]") for i, row in enumerate(strings)]


def check_iterable(strings: Any, name: str) -> None:
    if isinstance(strings, str | bytes):
        raise ValueError(f"{name} is one string. Wrap it in a list: [text].")
    if not isinstance(strings, Iterable):
        raise TypeError(
            f"{name} is of type {type(strings).__name__}, but must be an iterable of strings."
        )


def make_out(out: np.ndarray | None, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    if out is None:
        return np.empty(shape, dtype)
    if out.shape != shape or not out.flags.c_contiguous or not out.flags.writeable:
        raise ValueError(
            f"out= has shape {out.shape}, but the result has {shape}, in C order and writeable."
        )
    return out


def is_symmetric(costs: EditCosts | None, tables: CostTables | None) -> bool:
    """Whether distances are the same both ways."""
    if costs is None or tables is None:
        return True
    if costs.has_pairs("insert") or costs.has_pairs("delete"):
        return False
    return (
        np.array_equal(tables.insert, tables.delete)
        and np.array_equal(tables.substitute, tables.substitute.T)
        and np.array_equal(tables.transpose, tables.transpose.T)
    )


@kernel
def arrange(raw, order, rank, sizes, column_sizes, scale, out):
    """Distances in the order of the result, scaled if asked for.

    order          the row of ``raw`` for each row of the result
    column_sizes   those of the sorted columns
    """
    for i in range(len(out)):
        row, target = raw[order[i]], out[i]
        if scale == 0:
            for j in range(len(rank)):
                target[j] = row[rank[j]]
        else:
            for j in range(len(rank)):
                place = rank[j]
                target[j] = scale_distance(row[place], sizes[i], column_sizes[place], scale)


@kernel
def scale_distance(d, m, n, scale):
    """A number from 0 to 1; 0 for two empty strings."""
    bottom = np.float64(max(m, n) if scale == 1 else m + n + d)
    top = np.float64(d) if scale == 1 else 2.0 * d
    return top / bottom if bottom > 0 else 0.0


@kernel
def mirror(part, start, square):
    """Write a part (rows from ``start``, columns from ``start``) on both sides of the
    diagonal, in tiles that stay in cache. Entries below the diagonal are not read."""
    n, m = part.shape
    for i in range(n):
        square[start + i, start + i :] = part[i, i:]
        part[i:n, i] = part[i, i:n]
    for top in range(0, n, 64):
        for left in range(0, m, 64):
            bottom = min(top + 64, n)
            for j in range(left, min(left + 64, m)):
                target = square[start + j, start + top : start + bottom]
                for i in range(bottom - top):
                    target[i] = part[top + i, j]
