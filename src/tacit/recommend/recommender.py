"""The base class of recommenders: ids, predictions, rankings, and the results they return.

A model defines scores, of pairs (``_score_pairs``) and of all items for one user
(``_score_items``), and vectors whose cosine is the similarity (``_vectors``). Unknown ids have
the code -1: such pairs are answered without them, by the mean and the bias of the other, with
an ``UnknownIdWarning`` or a note.
"""

import warnings
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from tacit.core.estimator import Estimator
from tacit.data.ratings import IdIndex, Ratings
from tacit.kernels.sorting import highest

__all__ = [
    "Explanation", "Receipt", "Recommendations", "Recommender", "Scored", "Support",
    "UnknownIdWarning", "cosines",
]  # fmt: skip


# --- Results ---


class UnknownIdWarning(UserWarning):
    """Users or items that the model does not know were answered by the bias model."""


class Scored(NamedTuple):
    """An item or a user, and its score."""

    id: Any
    score: float


@dataclass(frozen=True)
class Recommendations:
    """Items or users, the best first.

    >>> print(Recommendations("ann", [Scored("Alien", 4.512)]))
    4.512  Alien
    """

    wanted: Any  # the user or item of the query
    scored: list[Scored]
    notes: list[str] = field(default_factory=list)

    def __iter__(self) -> Iterator[Scored]:
        return iter(self.scored)

    def __len__(self) -> int:
        return len(self.scored)

    def __getitem__(self, place: int) -> Scored:
        return self.scored[place]

    @property
    def ids(self) -> list:
        """The ids alone."""
        return [result.id for result in self.scored]

    def __str__(self) -> str:
        rows = [f"{score:.3f}  {id}" for id, score in self.scored]
        return "\n".join([*rows, *self.notes])

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        scored = [result._asdict() for result in self.scored]
        return {"for": self.wanted, "ranked": scored, "notes": self.notes}


class Support(NamedTuple):
    """A rating of the user, and how much it adds to a prediction."""

    item: Any
    rating: float
    contribution: float


@dataclass(frozen=True)
class Explanation:
    """A prediction as a sum: mean, biases, and a term for each rating of the user.

    ``others`` is the sum of the terms that are not listed, ``rest`` the residual of the
    explanation: 0 up to rounding for alternating least squares, whose user factors are linear
    in the ratings.
    """

    user: Any
    item: Any
    prediction: float
    mean: float
    user_bias: float
    item_bias: float
    support: list[Support]  # the largest contributions first
    others: float
    rest: float
    notes: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [
            f"{self.prediction:.3f} for user {self.user!r} and item {self.item!r}: mean "
            f"{self.mean:.3f}, user {self.user_bias:+.3f}, item {self.item_bias:+.3f}"
        ]
        lines += [
            f"{contribution:+.3f}  {item} (rated {rating:g})"
            for item, rating, contribution in self.support
        ]
        if abs(self.others) > 5e-4:
            lines.append(f"{self.others:+.3f}  all other ratings of the user")
        if abs(self.rest) > 5e-4:
            lines.append(f"{self.rest:+.3f}  not explained by single ratings")
        return "\n".join([*lines, *self.notes])

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {**vars(self), "support": [term._asdict() for term in self.support]}


@dataclass(frozen=True)
class Receipt:
    """What adding users or items without a refit costs.

    ``refit_distance`` estimates how far predictions for the new ones lie from those of a
    refit, root mean square, in units of the ratings: how far apart they are when the other side
    is solved with and without the new ratings.
    """

    added: int
    ratings: int
    refit_distance: float
    rmse: float  # on the new ratings, which the fold-in has seen
    advice: str

    def __str__(self) -> str:
        return (
            f"{self.added:,} added with {self.ratings:,} ratings; about "
            f"{self.refit_distance:.3f} from a refit. {self.advice}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return dict(vars(self))


# --- The base class ---


class Recommender(Estimator):
    """Base class of the recommenders."""

    _parameter_constraints: ClassVar[dict] = {}
    _file_schema: ClassVar[dict] = {
        "user_ids_": ("n_users",),
        "item_ids_": ("n_items",),
        "ratings_": ("n_users", "n_items"),
        "scale_": (2,),
    }

    user_ids_: np.ndarray
    item_ids_: np.ndarray
    ratings_: sp.csr_array
    scale_: list[float]

    # --- What a model defines ---

    def _fit(self, ratings: Ratings) -> None:
        raise NotImplementedError

    def _score_pairs(self, users: np.ndarray, items: np.ndarray) -> np.ndarray:
        """Scores of pairs of codes; -1 is unknown."""
        raise NotImplementedError

    def _score_items(self, user: int) -> np.ndarray:
        """Scores of all items for a user by code; -1 is unknown."""
        n = len(self.item_ids_)
        return self._score_pairs(np.full(n, user), np.arange(n))

    def _vectors(self, side: int) -> Any:
        """Rows whose cosine is the similarity of users (0) or items (1): their ratings."""
        return self.ratings_.T.tocsr() if side else self.ratings_

    def _similarities(self, code: int, side: int) -> np.ndarray:
        """Similarities of all users (0) or items (1) to one."""
        return cosines(self._vectors(side), code)

    def _unknown_user_note(self, user: Any) -> str:
        return f"User {user!r} is unknown: these items have the best overall ratings."

    # --- Fitting ---

    def fit(self, pairs: Any, ratings: Any = None) -> Self:
        """Learn from ratings.

        Parameters
        ----------
        pairs : Ratings, (n, 2) ids of users and items, triples, sparse matrix or data frame
        ratings : sequence of n, optional
            The values that belong to the pairs.
        """
        self._validate_params()
        ratings = as_ratings(pairs, ratings, type(self).__name__)
        self._set_ratings(ratings)
        self._fit(ratings)
        return self

    def _fit_key(self, ratings: Ratings) -> str:
        """The key of a checkpoint: the settings and the ratings."""
        where = ("engine", "callbacks")
        params = {name: value for name, value in self.get_params().items() if name not in where}
        arrays = (ratings.users, ratings.items, ratings.values)
        sums = [zlib.crc32(array.tobytes()) for array in arrays]
        return f"{type(self).__name__} {params} {ratings} {sums}"

    def _set_ratings(self, ratings: Ratings) -> None:
        self.user_ids_, self.item_ids_ = ratings.user_ids, ratings.item_ids
        self.ratings_ = ratings.matrix()
        self.scale_ = [*ratings.scale]
        self._forget_ids()

    def _forget_ids(self) -> None:
        self.__dict__.pop("_indexes", None)

    def _index(self, side: int) -> IdIndex:
        """The codes of users (0) or items (1)."""
        indexes = self.__dict__.setdefault("_indexes", {})
        if side not in indexes:
            indexes[side] = IdIndex(self.item_ids_ if side else self.user_ids_)
        return indexes[side]

    def __getstate__(self) -> dict:
        state = dict(super().__getstate__())
        state.pop("_indexes", None)
        return state

    def _after_load(self) -> None:
        check_ids(self.user_ids_, "user_ids_")
        check_ids(self.item_ids_, "item_ids_")
        check_ratings(self.ratings_)
        low, high = self.scale_
        if not (np.isfinite([low, high]).all() and low <= high):
            raise ValueError(f"scale_ is {self.scale_}, not a range")

    # --- Predictions ---

    def predict(self, pairs: Any, items: Any = None, *, clip: bool = False) -> Any:
        """Predict ratings: of pairs, or of users and items.

        Parameters
        ----------
        pairs : (n, 2) ids, Ratings, or user id(s) if ``items`` is given
        items : id or sequence of ids, optional
        clip : bool
            Whether to clip predictions to the range of the training ratings.

        Returns
        -------
        (n,) predictions; a float for one user and one item. An id that is not known is
        answered by the biases, with an ``UnknownIdWarning``.
        """
        check_is_fitted(self)
        if items is not None:
            single = not is_sequence(pairs) and not is_sequence(items)
            users = list(pairs) if is_sequence(pairs) else [pairs]
            wanted = list(items) if is_sequence(items) else [items]
            n = max(len(users), len(wanted))
            users, wanted = (ids * n if len(ids) == 1 else ids for ids in (users, wanted))
            if len(users) != len(wanted):
                raise ValueError(
                    f"predict: there are {len(users)} users and {len(wanted)} items. Give as "
                    "many, or one of either."
                )
            u, i = self._index(0).find(users), self._index(1).find(wanted)
        else:
            single, (u, i) = False, self._codes(pairs)
        unknown = int(((u < 0) | (i < 0)).sum())
        if unknown:
            warnings.warn(
                f"{type(self).__name__}: {unknown:,} of {len(u):,} pairs have a user or an "
                "item that is not known; they are answered by the biases. known(pairs) tells "
                "which.",
                UnknownIdWarning,
                stacklevel=2,
            )
        scores = np.asarray(self._score_pairs(u, i), np.float64)
        if clip:
            scores = np.clip(scores, self.scale_[0], self.scale_[1])
        return float(scores[0]) if single else scores

    def known(self, pairs: Any) -> np.ndarray:
        """(n,) whether the model knows both the user and the item of each pair."""
        check_is_fitted(self)
        u, i = self._codes(pairs)
        return (u >= 0) & (i >= 0)

    def _codes(self, pairs: Any) -> tuple[np.ndarray, np.ndarray]:
        if isinstance(pairs, Ratings):
            users = self._index(0).find(pairs.user_ids)[pairs.users]
            return users, self._index(1).find(pairs.item_ids)[pairs.items]
        if isinstance(pairs, np.ndarray) and pairs.ndim == 2 and pairs.shape[1] == 2:
            return self._index(0).find(pairs[:, 0]), self._index(1).find(pairs[:, 1])
        if sp.issparse(pairs):
            raise TypeError(
                "predict takes pairs of user and item, not a sparse matrix. Give "
                "Ratings.of(matrix)."
            )
        listed = list(pairs)
        for place, pair in enumerate(listed):
            if isinstance(pair, str | bytes) or not hasattr(pair, "__len__") or len(pair) != 2:
                raise ValueError(
                    f"predict: row {place + 1} is {pair!r}, not a pair of user and item. For "
                    "one pair write predict(user, item)."
                )
        users, items = zip(*listed, strict=True) if listed else ((), ())
        return self._index(0).find([*users]), self._index(1).find([*items])

    def score(self, pairs: Any, ratings: Any = None) -> float:
        """Minus the root mean squared error on these ratings."""
        ratings = as_ratings(pairs, ratings, type(self).__name__)
        error = self.predict(ratings) - ratings.values
        return -float(np.sqrt(np.mean(error**2)))

    # --- Rankings ---

    def recommend(
        self, user: Any, n: int = 10, *, exclude_seen: bool = True
    ) -> Recommendations:
        """The ``n`` items with the highest predictions; a tie goes to the lowest code.

        An unknown user gets the items that are good for anyone, and a note.
        """
        check_is_fitted(self)
        check_count(n, "recommend")
        code = self._index(0).code(user)
        scores = np.array(self._score_items(code), np.float64)
        notes = [] if code >= 0 else [self._unknown_user_note(user)]
        if exclude_seen and code >= 0:
            seen = row_of(self.ratings_, code)[0]
            scores[seen] = -np.inf
        return self._ranked(user, scores, n, 1, notes)

    def similar_items(self, item: Any, n: int = 10) -> Recommendations:
        """The items most similar to this one: by default those whose vectors have the largest
        cosine with its own."""
        check_is_fitted(self)
        check_count(n, "similar_items")
        return self._similar(item, n, 1)

    def similar_users(self, user: Any, n: int = 10) -> Recommendations:
        """The users most similar to this one, likewise."""
        check_is_fitted(self)
        check_count(n, "similar_users")
        return self._similar(user, n, 0)

    def _similar(self, wanted: Any, n: int, side: int) -> Recommendations:
        code = self._known_code(wanted, side)
        similarities = self._similarities(code, side)
        similarities[code] = -np.inf
        return self._ranked(wanted, similarities, n, side)

    def _ranked(
        self, wanted: Any, scores: np.ndarray, n: int, side: int = 1, notes: Any = ()
    ) -> Recommendations:
        """The n highest scores with their ids; -inf is left out."""
        best = highest(scores, n)
        best = best[np.isfinite(scores[best])]
        ids = (self.item_ids_ if side else self.user_ids_)[best].tolist()
        ranked = [Scored(*pair) for pair in zip(ids, scores[best].tolist(), strict=True)]
        return Recommendations(wanted, ranked, [*notes])

    def _known_code(self, id: Any, side: int) -> int:
        code = self._index(side).code(id)
        if code < 0:
            kind, known = ("item", self.item_ids_) if side else ("user", self.user_ids_)
            raise KeyError(
                f"{type(self).__name__} does not know the {kind} {id!r}. It has "
                f"{len(known):,} {kind}s, for example {known[:1].tolist()[0]!r}."
            )
        return code


def check_finite(name: str, arrays: Iterable[np.ndarray]) -> None:
    """ValueError where factors have overflowed."""
    if not all(np.isfinite(array).all() for array in arrays):
        raise ValueError(
            f"{name}: the factors overflowed. Scale the ratings down, or lower learning_rate "
            "where there is one."
        )


def as_ratings(pairs: Any, ratings: Any, name: str) -> Ratings:
    """Ratings in any form; ValueError if there are none."""
    ratings = Ratings.of(pairs, ratings)
    if not len(ratings):
        raise ValueError(f"{name} needs at least one rating, but there are none.")
    return ratings


def is_sequence(value: Any) -> bool:
    """Whether a value is many ids. Strings and tuples are ids."""
    return hasattr(value, "__len__") and not isinstance(value, str | bytes | tuple)


def check_count(n: Any, name: str) -> None:
    if not isinstance(n, int | np.integer) or n < 1:
        raise ValueError(f"{name}(n={n!r}) must be a whole number of at least 1.")


def cosines(vectors: Any, row: int) -> np.ndarray:
    """The cosine of every row with one of them; 0 for rows of zeros."""
    if sp.issparse(vectors):
        one = vectors[[row]]
        products = np.asarray((vectors @ one.T).todense(), np.float64).ravel()
        squares = np.asarray(vectors.multiply(vectors).sum(axis=1), np.float64).ravel()
    else:
        vectors = np.asarray(vectors, np.float64)
        products = vectors @ vectors[row]
        squares = np.einsum("ij,ij->i", vectors, vectors)
    norms = np.sqrt(squares * squares[row])
    return np.divide(products, norms, out=np.zeros(len(products)), where=norms > 0)


def row_of(matrix: sp.csr_array, row: int) -> tuple[np.ndarray, np.ndarray]:
    """The columns and the values of a row."""
    span = slice(matrix.indptr[row], matrix.indptr[row + 1])
    return matrix.indices[span], matrix.data[span]


def check_ids(ids: Any, name: str) -> None:
    if not isinstance(ids, np.ndarray) or ids.ndim != 1 or ids.dtype.kind not in "iO":
        raise ValueError(f"{name} must be integers or strings")
    if len({*ids.tolist()}) != len(ids):
        raise ValueError(f"{name} holds an id twice")


def check_ratings(matrix: Any) -> None:
    check_csr(matrix, "ratings_")
    if not np.isfinite(matrix.data).all():
        raise ValueError("ratings_ holds nan or inf")


def check_csr(matrix: Any, name: str) -> None:
    if not sp.issparse(matrix) or matrix.format != "csr" or matrix.dtype != np.float32:
        raise ValueError(f"{name} must be a CSR matrix of float32")
