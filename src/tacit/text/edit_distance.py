"""How many edits lead from one string to another.

    levenshtein                 insert, delete or substitute one symbol
    optimal_string_alignment    also swap two neighbours; nothing is edited twice, which
                                costs it the triangle inequality
    damerau                     also swap two neighbours, with other edits in between ("ca" to
                                "abc" is 2, where the one above says 3)
    alignment                   the edits themselves

Symbols are Unicode code points, so what looks like one character may be several: "e" with a
combining accent is two, a family emoji seven. ``normalize="NFC"`` composes what can be
composed first; other grapheme clusters are not merged. Sequences of anything hashable, such as
lists of words, are compared item by item.

Unit costs run as bit vectors (``edit_band``), costs from a confusion table and the edits
themselves by the table of distances (``edit_tables``). For many strings at once,
``pairwise_strings`` is hundreds of times faster than a loop over these functions.

Levenshtein (1966), Binary codes capable of correcting deletions, insertions, and reversals.
Soviet Physics Doklady 10.
Damerau (1964), A technique for computer detection and correction of spelling errors. CACM 7.
Yujian and Bo (2007), A normalized Levenshtein distance metric. IEEE PAMI 29.

The notes' section on distances between strings and trees.
"""

import unicodedata
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tacit.text.edit_band import band_distance, trim
from tacit.text.edit_costs import OTHER, CostTables, EditCosts, uniform_tables
from tacit.text.edit_tables import damerau_distance, find_moves, weighted_distance

__all__ = [
    "Alignment",
    "Edit",
    "EditCosts",
    "alignment",
    "damerau",
    "levenshtein",
    "optimal_string_alignment",
]

FORMS = (None, "NFC", "NFD", "NFKC", "NFKD")
SCALES = (None, "length", "metric")
ACTIONS = ("keep", "substitute", "transpose", "delete", "insert")
NO_LIMIT = 2**62
String = str | Sequence[Hashable]


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
        What edits cost; None for one each.
    limit : number or None
        Answer ``limit`` + 1 where the distance is more than this. Long strings that are
        nearly alike, or not at all, are then done sooner.
    scale : {"length", "metric"} or None
        "length" divides by the length of the longer string; "metric" is 2d / (|a| + |b| + d),
        also from 0 to 1, which obeys the triangle inequality (Yujian and Bo 2007). For unit
        costs.
    normalize : {"NFC", "NFD", "NFKC", "NFKD"} or None
        Bring strings to this normal form first, so that é is é however it is written.

    Returns
    -------
    int, or float where ``costs`` or ``scale`` is given

    Examples
    --------
    >>> levenshtein("kitten", "sitting")
    3
    >>> levenshtein("kitten", "sitting", scale="length")
    0.428571
    >>> levenshtein("kitten", "sitting", limit=1)
    2
    >>> levenshtein("to be or not".split(), "to be and not".split())
    1
    """
    return measure("levenshtein", a, b, costs, limit, scale, normalize)


def optimal_string_alignment(
    a: String,
    b: String,
    *,
    costs: EditCosts | None = None,
    limit: float | None = None,
    scale: str | None = None,
    normalize: str | None = None,
) -> float:
    """Count edits where two neighbours may also change places, and none is edited twice.

    Parameters are those of ``levenshtein``. Often called restricted Damerau-Levenshtein: it
    is what spelling correctors want, but not a metric. ``damerau`` is.

    Examples
    --------
    >>> optimal_string_alignment("teh", "the"), levenshtein("teh", "the")
    (1, 2)
    >>> optimal_string_alignment("ca", "abc"), damerau("ca", "abc")
    (3, 2)
    """
    return measure("optimal_string_alignment", a, b, costs, limit, scale, normalize)


def damerau(
    a: String,
    b: String,
    *,
    limit: float | None = None,
    scale: str | None = None,
    normalize: str | None = None,
) -> float:
    """Count edits where neighbours may change places, before or after other edits.

    Parameters are those of ``levenshtein``, but costs are all one: with costs of its own for
    every pair, the cheapest way is no longer found in time proportional to the table.

    Examples
    --------
    >>> damerau("a cat", "an act")
    2
    """
    return measure("damerau", a, b, None, limit, scale, normalize)


# --- The edits themselves ---


class Edit(NamedTuple):
    """One step from the source to the target."""

    action: str  # "keep", "substitute", "transpose", "delete" or "insert"
    old: Any  # what stood there: a string, or a tuple of items
    new: Any  # what stands there now
    at: int  # place in the source
    to: int  # place in the target
    cost: float


@dataclass(frozen=True)
class Alignment:
    """The cheapest way from one string to another. Prints as two lines with marks between."""

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
        Whether neighbours may change places, as in ``optimal_string_alignment``.

    Of equally cheap ways the one is given that, read from the end, keeps or substitutes
    rather than transposes, transposes rather than deletes, deletes rather than inserts.

    Examples
    --------
    >>> found = alignment("sitting", "kitten")
    >>> print(found)
    sitting
    *|||*|-
    kitten
    >>> found.script[0]
    Edit(action='substitute', old='s', new='k', at=0, to=0, cost=1.0)
    """
    a, b = as_sequence(a, normalize, "a"), as_sequence(b, normalize, "b")
    left, right, symbols = number_items(a, b)
    tables, row_of = tables_for(costs, symbols)
    distance, moves = find_moves(left, right, row_of, tables, swaps=transpose)
    rows = row_of[left], row_of[right]
    edits, i, j = [], 0, 0
    for move in moves.tolist():
        action = ACTIONS[move]
        down = {"insert": 0, "transpose": 2}.get(action, 1)
        across = {"delete": 0, "transpose": 2}.get(action, 1)
        cost = cost_of(action, i, j, *rows, tables)
        edits.append(Edit(action, a[i : i + down], b[j : j + across], i, j, cost))
        i, j = i + down, j + across
    return Alignment(distance if costs is not None else int(distance), edits)


def cost_of(
    action: str, i: int, j: int, source: np.ndarray, target: np.ndarray, tables: CostTables
) -> float:
    """What one edit at these places costs; rows of the tables are given for symbols."""
    before = source[i - 1] if i else 0
    if action == "insert":
        return float(tables.insert[before, target[j]])
    if action == "delete":
        return float(tables.delete[before, source[i]])
    if action == "substitute":
        return float(tables.substitute[source[i], target[j]])
    if action == "transpose":
        return float(tables.transpose[source[i], source[i + 1]])
    return 0.0


# --- Parts ---


def measure(
    metric: str,
    a: String,
    b: String,
    costs: EditCosts | None,
    limit: float | None,
    scale: str | None,
    normalize: str | None,
) -> float:
    check_settings(metric, costs, limit, scale, normalize)
    a, b = as_sequence(a, normalize, "a"), as_sequence(b, normalize, "b")
    swaps = metric == "optimal_string_alignment"
    if costs is not None:
        left, right, symbols = number_items(a, b)
        tables, row_of = tables_for(costs, symbols)
        most = np.inf if limit is None else limit
        found = weighted_distance(left, right, row_of, tables, swaps=swaps, limit=most)
        return found if found <= most else limit + 1  # type: ignore[operator]
    left, right = as_numbers(a, b)
    if metric == "damerau":
        start, end_a, end_b = trim(left, right)
        count = damerau_distance(left[start:end_a], right[start:end_b])
    else:
        most = NO_LIMIT if limit is None else int(limit)
        count = band_distance(left, right, most, swaps=swaps)
    if limit is not None and count > limit:
        count = int(limit) + 1
    return count if scale is None else scaled(count, len(a), len(b), scale)


def scaled(count: float, m: int, n: int, scale: str) -> float:
    """A number from 0 to 1; 0 for two empty strings."""
    bottom = max(m, n) if scale == "length" else m + n + count
    top = count if scale == "length" else 2 * count
    return top / bottom if bottom else 0.0


def check_settings(
    metric: str,
    costs: EditCosts | None,
    limit: float | None,
    scale: str | None,
    normalize: str | None,
) -> None:
    """Refuse settings that mean nothing, or nothing together."""
    if costs is not None and not isinstance(costs, EditCosts):
        raise TypeError(
            f"{metric}(costs=...) must be EditCosts, not {type(costs).__name__}. "
            "Write EditCosts(substitute={('a', 'e'): 0.5})."
        )
    if costs is not None and metric == "damerau":
        raise ValueError(
            "damerau takes no costs: unrestricted swaps with costs of their own are not found "
            "by its algorithm. Use metric optimal_string_alignment."
        )
    if scale not in SCALES:
        raise ValueError(f"{metric}(scale={scale!r}) is unknown; choose from {list(SCALES)}.")
    if scale is not None and costs is not None:
        raise ValueError(
            f"{metric}(scale={scale!r}) is for unit costs. Leave out costs, or divide by what "
            "suits yours."
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


def code_points(text: str) -> np.ndarray:
    """The characters of a string as numbers; lone surrogates are characters too."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


def as_numbers(a: Any, b: Any) -> tuple[np.ndarray, np.ndarray]:
    """Two sequences as numbers, equal where their items are."""
    if isinstance(a, str) and isinstance(b, str):
        return code_points(a), code_points(b)
    places: dict[Hashable, int] = {}
    return tuple(  # type: ignore[return-value]
        np.array([places.setdefault(item, len(places)) for item in part], np.uint32)
        for part in (a, b)
    )


def number_items(a: Any, b: Any) -> tuple[np.ndarray, np.ndarray, list[Hashable]]:
    """Two sequences as numbers from 0 without gaps, and the items that they stand for."""
    places: dict[Hashable, int] = {}
    left, right = (
        np.array([places.setdefault(item, len(places)) for item in part], np.int32)
        for part in (a, b)
    )
    return left, right, list(places)


def tables_for(
    costs: EditCosts | None, symbols: Sequence[Hashable]
) -> tuple[CostTables, np.ndarray]:
    """The costs of these symbols, and the row of each."""
    if costs is None:
        return uniform_tables(), np.full(len(symbols), OTHER, np.int32)
    tables, rows = costs.tables(symbols)
    return tables, np.array([rows.get(symbol, OTHER) for symbol in symbols], np.int32)
