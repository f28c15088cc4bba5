"""What an edit costs: one number for all symbols, or tables for some of them.

A symbol is a character, or whatever the sequences compared are made of. Tables hold the
symbols that occur in the data at hand and that the costs name; all others share two rows:

    0   before the first symbol, where an insertion or deletion asks what came before it
    1   any symbol that the costs do not name
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

__all__ = ["CostTables", "EditCosts", "uniform_tables"]

MOST_NAMED = 2_000  # symbols with a row of their own: four tables of 32 MB
START, OTHER = 0, 1
Table = float | Mapping[Any, float] | Any


class CostTables(NamedTuple):
    """Costs by row numbers of symbols, (k, k) float64 each."""

    delete: np.ndarray  # [symbol before it, symbol]
    insert: np.ndarray  # [symbol of the source before it, symbol]
    substitute: np.ndarray  # [old, new]; equal symbols cost nothing and are not looked up
    transpose: np.ndarray  # [first, second], which become second, first


@dataclass(frozen=True, eq=False)
class EditCosts:
    """What it costs to turn one symbol into another, to insert, delete or swap symbols.

    Each of the four is a number for all symbols, a mapping, or an array over ``alphabet``.

    Parameters
    ----------
    insert, delete : number, mapping or array
        Keys are symbols, ``{"e": 0.4}``, or pairs ``{("l", "l"): 0.2}`` for a symbol inserted
        or deleted after another one of the source; ``""`` as the first of a pair stands for
        the start. A pair goes before a symbol. Arrays are of shape (s,) or (s, s).
    substitute : number, mapping or array
        Keys are pairs ``{("a", "e"): 0.5}``, the old symbol first. Nothing is symmetric
        unless you say so.
    transpose : number, mapping or array
        Keys are pairs of neighbours, in the order of the source.
    alphabet : str or sequence
        The symbols that arrays stand for, in order.
    other : number
        The cost of what a mapping or an array does not name.

    Examples
    --------
    >>> from tacit.text.edit_distance import levenshtein
    >>> vowels = EditCosts(substitute={("a", "e"): 0.25, ("e", "a"): 0.25})
    >>> levenshtein("gray", "grey", costs=vowels)
    0.25
    >>> levenshtein("gray", "gruy", costs=vowels)
    1.0
    """

    insert: Table = 1.0
    delete: Table = 1.0
    substitute: Table = 1.0
    transpose: Table = 1.0
    alphabet: Sequence[Hashable] = ""
    other: float = 1.0

    def __post_init__(self) -> None:
        if len(set(self.alphabet)) != len(self.alphabet):
            raise ValueError(f"EditCosts(alphabet={self.alphabet!r}) repeats a symbol.")
        self._check("other", self.other)
        for name in ("insert", "delete", "substitute", "transpose"):
            self._check_table(name, getattr(self, name))

    # --- Checks ---

    def _check_table(self, name: str, table: Any) -> None:
        single = name in ("insert", "delete")
        if isinstance(table, Mapping):
            for key, cost in table.items():
                self._check(f"{name}[{key!r}]", cost)
                pair = isinstance(key, tuple) and len(key) == 2
                if not pair and not single:
                    raise ValueError(
                        f"EditCosts({name}=...) has the key {key!r}, but keys must be pairs of "
                        "symbols such as ('a', 'e')."
                    )
                if name == "substitute" and key[0] == key[1] and cost != 0:
                    raise ValueError(
                        f"EditCosts(substitute=...) gives {key!r} a cost of {cost}, but equal "
                        "symbols cost nothing. Leave it out."
                    )
        elif np.ndim(table) == 0:
            self._check(name, table)
        else:
            self._check_array(name, np.asarray(table, np.float64), single)

    def _check_array(self, name: str, array: np.ndarray, single: bool) -> None:
        s = len(self.alphabet)
        if array.shape != (s, s) and not (single and array.shape == (s,)):
            wanted = f"({s}, {s})" + (f" or ({s},)" if single else "")
            raise ValueError(
                f"EditCosts({name}=...) is an array of shape {array.shape}, but must be of "
                f"{wanted}, one row for each symbol of the alphabet."
            )
        if not (np.isfinite(array) & (array >= 0)).all():
            at = tuple(int(i) for i in np.argwhere(~(np.isfinite(array) & (array >= 0)))[0])
            self._check(f"{name}[{', '.join(map(str, at))}]", float(array[at]))
        if name == "substitute" and np.diag(array).any():
            i = int(np.flatnonzero(np.diag(array))[0])
            raise ValueError(
                f"EditCosts(substitute=...) gives {self.alphabet[i]!r} for itself a cost of "
                f"{array[i, i]}, but equal symbols cost nothing. Set the diagonal to 0."
            )

    @staticmethod
    def _check(name: str, cost: Any) -> None:
        number = isinstance(cost, int | float | np.number) and not isinstance(cost, bool)
        if not (number and np.isfinite(cost) and cost >= 0):
            raise ValueError(
                f"EditCosts({name}={cost!r}) must be a finite number of at least 0."
            )

    # --- Tables ---

    @property
    def named(self) -> set[Hashable]:
        """The symbols that have a cost of their own."""
        found: set[Hashable] = set(self.alphabet)
        for name in ("insert", "delete", "substitute", "transpose"):
            table = getattr(self, name)
            if isinstance(table, Mapping):
                for key in table:
                    found.update(key if isinstance(key, tuple) and len(key) == 2 else (key,))
        return found

    def has_pairs(self, name: str) -> bool:
        """Whether an insertion or deletion asks for the symbol before it."""
        table = getattr(self, name)
        if isinstance(table, Mapping):
            return any(isinstance(key, tuple) and len(key) == 2 for key in table)
        return np.ndim(table) == 2

    def tables(self, symbols: Iterable[Hashable]) -> tuple[CostTables, dict[Hashable, int]]:
        """Tables for the symbols at hand, and the row of each symbol that has one."""
        named = self.named
        rows: dict[Hashable, int] = {}
        for symbol in symbols:
            if symbol in named:
                rows.setdefault(symbol, OTHER + 1 + len(rows))
        if len(rows) > MOST_NAMED:
            raise ValueError(
                f"EditCosts names {len(rows):,} of the symbols at hand, but at most "
                f"{MOST_NAMED:,} can have costs of their own. Leave out those that cost "
                f"the same as others (other={self.other})."
            )
        size = OTHER + 1 + len(rows)
        made = (
            self._fill(getattr(self, name), size, rows, single=name in ("insert", "delete"))
            for name in CostTables._fields
        )
        return CostTables(*made), rows

    def _fill(
        self, table: Any, size: int, rows: Mapping[Hashable, int], *, single: bool
    ) -> np.ndarray:
        if not isinstance(table, Mapping) and np.ndim(table) == 0:
            return np.full((size, size), float(table))
        out = np.full((size, size), float(self.other))
        if isinstance(table, Mapping):
            pairs = {k: v for k, v in table.items() if isinstance(k, tuple) and len(k) == 2}
            for key, cost in table.items():
                if key not in pairs and key in rows:
                    out[:, rows[key]] = cost
            for (a, b), cost in pairs.items():
                first = START if single and a == "" else rows.get(a)
                if first is not None and b in rows:
                    out[first, rows[b]] = cost
            return out
        array = np.asarray(table, np.float64)
        here = [(i, rows[symbol]) for i, symbol in enumerate(self.alphabet) if symbol in rows]
        if here:
            where, row = (np.array(part) for part in zip(*here, strict=True))
            if array.ndim == 1:
                out[:, row] = array[where]
            else:
                out[np.ix_(row, row)] = array[np.ix_(where, where)]
        return out


def uniform_tables() -> CostTables:
    """Everything costs one."""
    ones = np.ones((2, 2))
    return CostTables(ones, ones, ones, ones)
