"""Ratings: which user gave which value to which item, and when.

Ids of users and items may be anything hashable. They are replaced by codes at the door: a
rating is two int32 codes, a float32 value and possibly a time, 12 or 20 bytes. A pair that
occurs twice is settled and reported. Splits keep the codes, so train and test agree.

``data.rating_files`` reads files.
"""

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any

import numpy as np
import scipy.sparse as sp

from tacit.core.errors import DataError
from tacit.core.randoms import key, permutation, seed_from
from tacit.core.wording import count
from tacit.data.sparse_structure import check_structure
from tacit.kernels.sorting import pair_order

__all__ = ["IdIndex", "Ratings", "RatingsReport", "as_objects", "encode_ids", "to_csr"]

CHOICES = ("last", "first", "mean", "sum", "error")
LARGEST = float(np.finfo(np.float32).max) / 4


@dataclass
class RatingsReport:
    """What was read, and what was settled."""

    source: str = "ratings"
    rows: int = 0
    duplicates: int = 0  # rows that repeat a pair with the same value
    contradictions: int = 0  # rows that repeat a pair with another value
    settled: str = "last"  # how
    example: str = ""  # of a contradiction
    partial: str | None = None  # how the file broke off
    notes: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        """The report in sentences."""
        out = [f"{self.source}: {count(self.rows, 'rating')} read."]
        if self.duplicates:
            repeated = count(self.duplicates, "repeated rating")
            out.append(f"{repeated} with the same value dropped.")
        if self.contradictions:
            out.append(
                f"{self.contradictions:,} ratings contradict an earlier one of the same user "
                f"and item{self.example}; {SETTLED[self.settled]}."
            )
        if self.partial:
            out.append(f"Partial: {self.partial}.")
        return out + [f"{note[:1].upper()}{note[1:]}." for note in self.notes]

    def to_dict(self) -> dict[str, Any]:
        """The report as plain values."""
        return dict(vars(self))


SETTLED = {
    "last": "the last one counts",
    "first": "the first one counts",
    "mean": "their mean counts",
    "sum": "their sum counts",
}


@dataclass(frozen=True)
class Ratings:
    """Ratings in memory: codes of users and items, values, times where they are known.

    >>> ratings = Ratings.of([("ann", "Alien", 5), ("bob", "Alien", 3), ("ann", "Heat", 4)])
    >>> ratings
    Ratings(3 ratings of 2 users and 2 items, from 3 to 5)
    >>> ratings.matrix().toarray()
    array([[5., 4.],
           [3., 0.]], dtype=float32)
    """

    users: np.ndarray  # (n,) int32, codes of user_ids
    items: np.ndarray  # (n,) int32, codes of item_ids
    values: np.ndarray  # (n,) float32
    user_ids: np.ndarray  # int64, or objects
    item_ids: np.ndarray
    times: np.ndarray | None = None  # (n,) float64
    report: RatingsReport = field(default_factory=RatingsReport, compare=False)

    @classmethod
    def of(
        cls,
        pairs: Any,
        values: Any = None,
        *,
        times: Any = None,
        duplicates: str = "last",
    ) -> "Ratings":
        """Ratings of triples, of pairs and values, of a sparse matrix, or of a data frame.

        Parameters
        ----------
        pairs : Ratings, iterable of (user, item, value[, time]), (n, 2) array, or data frame
            A data frame has columns called user, item and rating, or names like them. The rows
            of a sparse matrix are users, its stored entries are the ratings.
        values : sequence of n, optional
            The values that belong to pairs without a third column.
        times : sequence of n, optional
            When each item was rated, as numbers.
        duplicates : "last", "first", "mean", "sum" or "error"
            What counts where a user rated an item twice. "last" and "first" go by the times
            where they are known.
        """
        if isinstance(pairs, Ratings):
            if values is not None:
                return cls.of_columns(
                    pairs.user_ids[pairs.users], pairs.item_ids[pairs.items], values
                )
            return pairs
        if sp.issparse(pairs):
            if values is not None:
                raise ValueError("Ratings.of: a matrix holds its values. Leave values out.")
            return cls.of_matrix(pairs)
        if hasattr(pairs, "columns") and hasattr(pairs, "__getitem__"):
            from tacit.data.rating_files import frame_columns

            columns = frame_columns(pairs)
            if values is not None:
                columns["values"] = values
            return cls.of_columns(**columns, duplicates=duplicates)
        return cls.of_columns(*columns_of(pairs, values, times), duplicates=duplicates)

    @classmethod
    def of_matrix(cls, matrix: Any) -> "Ratings":
        """The stored entries of a sparse matrix, or all but the NaN of an array. Ids are the
        numbers of rows and columns."""
        if sp.issparse(matrix):
            check_structure(matrix, "Ratings")
            stored = matrix.tocsr().tocoo()
            users, items = stored.coords
            values = stored.data
        else:
            matrix = np.asarray(matrix, np.float64)
            users, items = np.nonzero(~np.isnan(matrix))
            values = matrix[users, items]
        return cls(
            users.astype(np.int32), items.astype(np.int32), checked_values(values),
            np.arange(matrix.shape[0]), np.arange(matrix.shape[1]),
            report=RatingsReport("matrix", len(values)),
        ).settled("last")  # fmt: skip

    @classmethod
    def of_columns(
        cls,
        users: Any,
        items: Any,
        values: Any = None,
        times: Any = None,
        *,
        duplicates: str = "last",
        report: RatingsReport | None = None,
    ) -> "Ratings":
        """Ratings of columns of equal length. Without values, every row counts 1."""
        user_codes, user_ids = encode_ids(users, "user")
        item_codes, item_ids = encode_ids(items, "item")
        n = len(user_codes)
        values = np.ones(n) if values is None else values
        stamps = None if times is None else np.asarray(times, np.float64)
        for name, column in (("items", item_codes), ("values", values), ("times", stamps)):
            if column is not None and len(column) != n:
                raise ValueError(
                    f"Ratings: there are {n:,} users, but {len(column):,} {name}. Give one for "
                    "each rating."
                )
        if stamps is not None and not np.isfinite(stamps).all():
            raise DataError("the time is missing.", row=1 + int(np.argmin(np.isfinite(stamps))))
        report = report or RatingsReport()
        report.rows = n
        return cls(
            user_codes, item_codes, checked_values(values), user_ids, item_ids, stamps, report
        ).settled(duplicates)

    @classmethod
    def open(
        cls,
        source: str | Path | IO,
        *,
        user: str | None = None,
        item: str | None = None,
        rating: str | None = None,
        time: str | None = None,
        header: bool | None = None,
        duplicates: str = "last",
        allow_partial: bool = False,
    ) -> "Ratings":
        """Read ratings from a file: CSV in any dialect, MovieLens' ``u.data`` and ``::`` files,
        Parquet; plain or compressed.

        Columns are known by their names, or by their order (user, item, rating, time) in a file
        without a header; ``user``, ``item``, ``rating`` and ``time`` name them otherwise.
        """
        from tacit.data.rating_files import read_ratings

        named = {"user": user, "item": item, "rating": rating, "time": time}
        return read_ratings(
            source, named, header=header, duplicates=duplicates, allow_partial=allow_partial
        )

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        low, high = self.scale
        return (
            f"Ratings({len(self):,} ratings of {len(self.user_ids):,} users and "
            f"{len(self.item_ids):,} items, from {low:g} to {high:g})"
        )

    @property
    def scale(self) -> tuple[float, float]:
        """The lowest and the highest value."""
        if not len(self):
            return 0.0, 0.0
        return float(self.values.min()), float(self.values.max())

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of users and items."""
        return len(self.user_ids), len(self.item_ids)

    def pairs(self) -> list[tuple[Any, Any]]:
        """The ids of user and item of every rating."""
        users, items = self.user_ids[self.users], self.item_ids[self.items]
        return list(zip(users.tolist(), items.tolist(), strict=True))

    def matrix(self) -> sp.csr_array:
        """(users, items) the values as a CSR matrix. A value of 0 stays a stored entry."""
        return to_csr(self.users, self.items, self.values, self.shape)

    def take(self, which: np.ndarray) -> "Ratings":
        """Some of the ratings, by mask or by place, with the same codes."""
        times = None if self.times is None else self.times[which]
        return replace(
            self, users=self.users[which], items=self.items[which], values=self.values[which],
            times=times,
        )  # fmt: skip

    def settled(self, duplicates: str) -> "Ratings":
        """One rating to a pair; the report counts what went."""
        if duplicates not in CHOICES:
            raise ValueError(f"duplicates={duplicates!r} must be one of {', '.join(CHOICES)}.")
        order = pair_order(self.users, self.items, self.shape)
        users, items = self.users[order], self.items[order]
        again = np.flatnonzero((users[1:] == users[:-1]) & (items[1:] == items[:-1])) + 1
        if not len(again):
            return self
        values = self.values[order]
        other = values[again] != values[again - 1]
        report = self.report
        report.settled = duplicates
        report.contradictions = int(other.sum())
        report.duplicates = len(again) - report.contradictions
        place = again[np.argmax(other)] if other.any() else again[0]
        user = self.user_ids.take([self.users[order[place]]]).tolist()[0]
        item = self.item_ids.take([self.items[order[place]]]).tolist()[0]
        two = f"{values[place - 1]:g} and {values[place]:g}"
        if duplicates == "error":
            raise DataError(
                f"user {user!r} rated item {item!r} twice: {two}. Remove one, or say which "
                "counts with duplicates='last', 'first', 'mean' or 'sum'.",
                row=1 + int(order[place]),
            )
        if other.any():
            report.example = f", for example user {user!r} and item {item!r}: {two}"
        starts = np.setdiff1d(np.arange(len(self)), again, assume_unique=True)
        if duplicates in ("mean", "sum"):
            total = np.add.reduceat(values.astype(np.float64), starts)
            if duplicates == "mean":
                total /= np.diff(np.append(starts, len(self)))
            by_place = np.argsort(order[starts])
            first = self.take(order[starts][by_place])
            return replace(first, values=total[by_place].astype(np.float32))
        if self.times is not None:
            order = np.lexsort((np.arange(len(self)), self.times, self.items, self.users))
        ends = np.append(starts[1:], len(self)) - 1
        return self.take(np.sort(order[starts if duplicates == "first" else ends]))

    # --- Splits ---

    def split(
        self, test: float = 0.2, *, by: str = "random", random_state: Any = None
    ) -> tuple["Ratings", "Ratings"]:
        """Training and test ratings: a random part, or the latest (``by="time"``).

        >>> ratings = Ratings.of([(u, i, 1) for u in range(5) for i in range(4)])
        >>> train, test = ratings.split(0.25, random_state=0)
        >>> len(train), len(test)
        (15, 5)
        """
        if not 0 < test < 1:
            raise ValueError(f"split(test={test}) must lie between 0 and 1.")
        rank = self._rank("split", by, random_state)
        order = np.argsort(rank, kind="stable") if by == "time" else rank
        mask = np.zeros(len(self), bool)
        mask[order[len(self) - int(np.ceil(test * len(self))) :]] = True
        return self.take(~mask), self.take(mask)

    def leave_out(
        self, k: int = 1, *, by: str = "random", random_state: Any = None
    ) -> tuple["Ratings", "Ratings"]:
        """Training and test ratings: ``k`` of every user that has more, at random or the
        latest, are the test."""
        if k < 1:
            raise ValueError(f"leave_out(k={k}) must be at least 1.")
        order = np.lexsort((self._rank("leave_out", by, random_state), self.users))
        counts = np.bincount(self.users, minlength=len(self.user_ids))
        ends = np.cumsum(counts)
        from_end = ends[self.users[order]] - np.arange(len(self)) - 1
        mask = np.zeros(len(self), bool)
        mask[order] = (from_end < k) & (counts[self.users[order]] > k)
        return self.take(~mask), self.take(mask)

    def folds(
        self, k: int = 5, *, random_state: Any = None
    ) -> Iterator[tuple["Ratings", "Ratings"]]:
        """``k`` pairs of training and test ratings; every rating is tested once."""
        if not 2 <= k <= max(2, len(self)):
            raise ValueError(f"folds(k={k}) must lie between 2 and {len(self):,} ratings.")
        fold = permutation(key(seed_from(random_state), 1), len(self)) % k
        for i in range(k):
            yield self.take(fold != i), self.take(fold == i)

    def _rank(self, name: str, by: str, random_state: Any) -> np.ndarray:
        """A random permutation, or the times."""
        if by == "random":
            return permutation(key(seed_from(random_state), 0), len(self))
        if by != "time":
            raise ValueError(f"{name}(by={by!r}) must be 'random' or 'time'.")
        if self.times is None:
            raise ValueError(f"{name}(by='time') needs times, but these ratings have none.")
        return self.times


def checked_values(values: Any) -> np.ndarray:
    """Values as finite float32; DataError with the row otherwise."""
    try:
        numbers = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        for row, value in enumerate(values, 1):
            if isinstance(value, str | bytes) or not np.isscalar(value):
                raise DataError(f"the rating {value!r} is not a number.", row=row) from None
        raise
    except OverflowError:
        row = next(row for row, value in enumerate(values, 1) if abs(value) > 1e308)
        message = "the rating is a whole number too large for a float."
        raise DataError(message, row=row) from None
    if numbers.ndim != 1:
        raise ValueError(f"Ratings: values have shape {numbers.shape}, not one dimension.")
    wrong = ~(np.abs(numbers) <= LARGEST)
    if wrong.any():
        row = int(np.argmax(wrong))
        what = "missing" if np.isnan(numbers[row]) else f"{numbers[row]:g}, too large"
        raise DataError(f"the rating is {what}. Fill it in, or remove the row.", row=row + 1)
    return numbers.astype(np.float32)


def to_csr(
    users: np.ndarray, items: np.ndarray, values: np.ndarray, shape: tuple[int, int]
) -> sp.csr_array:
    """A CSR matrix with sorted indices, 32 bits wide where that is enough."""
    counts = np.bincount(users, minlength=shape[0])
    indptr = np.concatenate([[0], np.cumsum(counts)])
    order = pair_order(users, items, shape)
    matrix = sp.csr_array(shape, dtype=np.float32)
    matrix.data, matrix.indices = values[order], items[order].astype(np.int32, copy=False)
    matrix.indptr = indptr.astype(np.int32 if len(values) < 2**31 else np.int64)
    return matrix


# --- Ids ---


def columns_of(pairs: Any, values: Any, times: Any) -> tuple[Any, Any, Any, Any]:
    """Users, items, values and times of pairs or triples."""
    if isinstance(pairs, np.ndarray) and pairs.ndim == 2 and pairs.dtype != object:
        width, columns = pairs.shape[1], list(pairs.T)
    else:
        rows = list(pairs)
        width = len(rows[0]) if rows and isinstance(rows[0], list | tuple | np.ndarray) else 2
        for place, row in enumerate(rows, 1):
            if isinstance(row, str | bytes) or not hasattr(row, "__len__"):
                raise TypeError(
                    f"Ratings: row {place} is {row!r}, not a pair of user and item. Give rows "
                    "such as ('ann', 'Alien', 5)."
                )
            if len(row) != width:
                raise ValueError(
                    f"Ratings: row {place} has {len(row)} values where the first has {width}. "
                    "Give every row the same number."
                )
        columns = [list(column) for column in zip(*rows, strict=True)]
    columns = columns or [[], []]
    if not 2 <= width <= 4:
        raise ValueError(
            f"Ratings: rows have {width} values. Give (user, item), (user, item, rating) or "
            "(user, item, rating, time)."
        )
    if width > 2 and values is not None:
        raise ValueError("Ratings: rows have a rating, and there are values too. Drop one.")
    columns += [values, times][width - 2 :]
    return columns[0], columns[1], columns[2], columns[3]


def encode_ids(ids: Any, name: str = "id") -> tuple[np.ndarray, np.ndarray]:
    """Codes of ids, and the distinct ids: sorted if they are integers or strings, else in the
    order in which they appear.

    >>> codes, distinct = encode_ids(["b", "a", "b"])
    >>> codes.tolist(), distinct.tolist()
    ([1, 0, 1], ['a', 'b'])
    """
    array = ids if isinstance(ids, np.ndarray) else None
    if array is None and hasattr(ids, "to_numpy"):
        array = ids.to_numpy()
    if array is not None and array.dtype.kind == "f" and len(array):
        missing = ~np.isfinite(array)
        if missing.any():
            raise missing_id(name, int(np.argmax(missing)))
        if (array == np.rint(array)).all() and np.abs(array).max() < 2**53:
            array = array.astype(np.int64)
    if array is not None and array.dtype.kind in "iu":
        return encode_integers(array)
    index: dict[Any, int] = {}
    listed = list(ids if array is None else array.tolist())
    codes = np.empty(len(listed), np.int32)
    try:
        for place, id in enumerate(listed):
            if id is None or id != id:
                raise missing_id(name, place)
            codes[place] = index.setdefault(id, len(index))
    except TypeError:
        raise TypeError(
            f"Ratings: the {name} in row {place + 1} is a {type(id).__name__}, which cannot "
            "be hashed. Give numbers, strings or tuples."
        ) from None
    distinct = list(index)
    if distinct and all(type(id) is int and abs(id) < 2**63 for id in distinct):
        return encode_integers(np.array(listed, np.int64))
    if all(isinstance(id, str) for id in distinct):
        ranks = sorted(range(len(distinct)), key=distinct.__getitem__)
        rank = np.empty(len(distinct), np.int32)
        rank[ranks] = np.arange(len(distinct), dtype=np.int32)
        codes, distinct = rank[codes], [distinct[place] for place in ranks]
    return codes, as_objects(distinct)


def missing_id(name: str, place: int) -> DataError:
    return DataError(f"the {name} is missing. Fill it in, or remove the row.", row=place + 1)


def encode_integers(ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same for integers; by a table where they lie close together."""
    if not len(ids):
        return np.empty(0, np.int32), np.empty(0, np.int64)
    if ids.dtype.kind == "u" and ids.max() > np.iinfo(np.int64).max:
        return encode_ids(ids.tolist())
    ids = ids.astype(np.int64)
    low, high = int(ids.min()), int(ids.max())
    if high - low <= 8 * len(ids) + 1024:
        present = np.zeros(high - low + 1, bool)
        present[ids - low] = True
        rank = np.cumsum(present, dtype=np.int32) - 1
        return rank[ids - low].astype(np.int32), np.flatnonzero(present) + low
    distinct, codes = np.unique(ids, return_inverse=True)
    return codes.astype(np.int32), distinct


def as_objects(values: Iterable) -> np.ndarray:
    """A 1-d array of objects; tuples are objects too."""
    listed = list(values)
    array = np.empty(len(listed), object)
    for place, value in enumerate(listed):
        array[place] = value
    return array


class IdIndex:
    """Codes of known ids.

    >>> IdIndex(np.array([10, 20, 30])).find([30, 11]).tolist()
    [2, -1]
    """

    def __init__(self, ids: np.ndarray) -> None:
        self.ids = ids
        self._codes: dict[Hashable, int] = {id: i for i, id in enumerate(ids.tolist())}

    def find(self, ids: Any) -> np.ndarray:
        """(n,) the code of every id, -1 where it is unknown."""
        listed = ids.tolist() if isinstance(ids, np.ndarray) else ids
        get = self._codes.get
        return np.fromiter((get(id, -1) for id in listed), np.int64, len(listed))

    def code(self, id: Any) -> int:
        """The code of one id, -1 if it is unknown."""
        try:
            return self._codes.get(id, -1)
        except TypeError:
            return -1
