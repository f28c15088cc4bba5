"""Recommending from attributes: hand-made taste vectors, or tastes learned from ratings.

    affinity     sum of a_uk b_ki: how many of the user's boxes an item checks
    with a bias  affinity + a_u0, since some users like everything
    similarity   of two users sum of a_uk a_vk, of two items sum of b_ki b_kj

Attributes are known of an item that nobody has rated, so new items can be recommended at once.
Learned tastes are ridge regressions of a user's ratings on the attributes.

The notes' section 9.1 of 000.
"""

from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from tacit.data.ratings import Ratings, as_objects
from tacit.recommend.baselines import Biases
from tacit.recommend.factor_model import FactorModel, joined
from tacit.recommend.recommender import Receipt, Recommendations, as_ratings, check_count

__all__ = ["AttributeRecommender"]


class AttributeRecommender(FactorModel):
    """Recommend by attributes of items and tastes of users.

    Parameters
    ----------
    reg : float
        Penalty of learned tastes; hand-made ones do not need it.
    engine : "serial", "threads" or an engine

    Attributes
    ----------
    attributes_ : list of str
        Names of the attributes, the columns of both vectors.
    item_factors_, user_factors_ : attributes of items, tastes of users

    Examples
    --------
    >>> from tacit.recommend import AttributeRecommender
    >>> model = AttributeRecommender.from_vectors(
    ...     {"Alien": ["thriller", "space"], "Heat": ["thriller"], "Emma": ["romance"]},
    ...     {"ann": ["thriller", "space"], "bob": ["romance"]},
    ... )
    >>> model.affinity("ann", "Alien"), model.affinity("bob", "Alien")
    (2.0, 0.0)
    >>> model.recommend("ann").ids
    ['Alien', 'Heat', 'Emma']
    """

    contract: ClassVar[str] = "whole"
    _parameter_constraints: ClassVar[dict] = {
        "reg": [Interval(Real, 0, None, closed="left")],
    }
    _file_schema: ClassVar[dict] = {**FactorModel._file_schema, "attributes_": ("width",)}

    attributes_: list[str]
    weighted = False

    def __init__(self, *, reg: float = 5.0, engine: Any = "threads") -> None:
        self.reg, self.engine = reg, engine

    @classmethod
    def from_vectors(
        cls,
        attributes: Any,
        tastes: Any,
        biases: Mapping[Any, float] | None = None,
    ) -> "AttributeRecommender":
        """A model of hand-made vectors; nothing is learned.

        Parameters
        ----------
        attributes : mapping of items to names of attributes, or to {name: number}
        tastes : the same of users
        biases : mapping of users to numbers, optional
            The average level of a user, added to the affinity.
        """
        items, users = as_vectors(attributes, "item"), as_vectors(tastes, "user")
        model = cls()
        names = sorted({*(n for v in items.values() for n in v), *(
            n for v in users.values() for n in v
        )})  # fmt: skip
        model.attributes_ = names
        model.item_ids_, model.item_factors_ = matrix_of(items, names)
        model.user_ids_, model.user_factors_ = matrix_of(users, names)
        n, m = len(users), len(items)
        model.mean_ = 0.0
        model.user_biases_ = np.zeros(n, np.float32)
        model.item_biases_ = np.zeros(m, np.float32)
        model.ratings_ = sp.csr_array((n, m), dtype=np.float32)
        top = model.user_factors_ @ model.item_factors_.T if n and m else np.zeros((1, 1))
        for user, bias in (biases or {}).items():
            model.user_biases_[model._known_code(user, 0)] = bias
        model.scale_ = [float(top.min()), float(top.max())]
        return model

    def fit(self, pairs: Any, ratings: Any = None, *, attributes: Any = None) -> Self:
        """Learn the tastes of users from their ratings, given the attributes of items.

        Rated items without attributes are answered by their biases; items with attributes but
        without ratings can be recommended too.
        """
        self._validate_params()
        name = type(self).__name__
        given = as_ratings(pairs, ratings, name)
        if attributes is None:
            raise ValueError(
                f"{name}.fit needs the attributes of items: fit(ratings, attributes={{'Alien': "
                "['thriller']}). Without any use ALS or BiasedSGD."
            )
        vectors = as_vectors(attributes, "item")
        self.attributes_ = sorted({n for v in vectors.values() for n in v})
        self._remember(given)
        biases = Biases(engine=self.engine).fit(given)
        self.mean_, self.user_biases_ = biases.mean_, biases.user_biases_
        rated = {each: vectors.get(each, {}) for each in given.item_ids.tolist()}
        self.item_factors_ = matrix_of(rated, self.attributes_)[1]
        self.item_biases_ = biases.item_biases_
        solved = self._solve(self.ratings_, self.item_factors_, self.item_biases_, 0)
        self.user_factors_, self.user_biases_ = solved
        self._add_described({each: held for each, held in vectors.items() if each not in rated})
        return self

    def affinity(self, user: Any, item: Any) -> float:
        """The product of the taste and the attribute vector."""
        check_is_fitted(self)
        u, i = self._known_code(user, 0), self._known_code(item, 1)
        return float(self.user_factors_[u] @ self.item_factors_[i])

    def similarity(self, one: Any, other: Any, *, users: bool = False) -> float:
        """How many attributes two items have in common; with ``users``, two tastes."""
        check_is_fitted(self)
        side, held = (0, self.user_factors_) if users else (1, self.item_factors_)
        return float(held[self._known_code(one, side)] @ held[self._known_code(other, side)])

    def similar_items(self, item: Any, n: int = 10) -> Recommendations:
        """The items with the most attributes in common, by ``similarity``."""
        return self._by_product(item, n, 1)

    def similar_users(self, user: Any, n: int = 10) -> Recommendations:
        """The users with the most tastes in common."""
        return self._by_product(user, n, 0)

    def _by_product(self, wanted: Any, n: int, side: int) -> Recommendations:
        check_is_fitted(self)
        check_count(n, "similar_items" if side else "similar_users")
        code = self._known_code(wanted, side)
        held = (self.item_factors_ if side else self.user_factors_).astype(np.float64)
        scores = held @ held[code]
        scores[code] = -np.inf
        return self._ranked(wanted, scores, n, side)

    def add_items(self, pairs: Any, ratings: Any = None) -> Receipt:
        """Add items by their attributes; nobody has to have rated them.

        ``pairs`` is a mapping of items to attributes. Attributes that the model does not know
        are left out, and the receipt says so.
        """
        check_is_fitted(self)
        if ratings is not None or isinstance(pairs, Ratings):
            raise ValueError(
                "AttributeRecommender.add_items takes attributes, not ratings: "
                "add_items({'Alien': ['thriller']})."
            )
        vectors = as_vectors(pairs, "item")
        known = [each for each in vectors if self._index(1).code(each) >= 0]
        if known:
            raise ValueError(f"AttributeRecommender.add_items: {known[0]!r} is known already.")
        unknown = {n for v in vectors.values() for n in v} - {*self.attributes_}
        self._add_described(vectors)
        advice = "Tastes do not depend on items without ratings: a refit changes nothing."
        if unknown:
            advice += f" Unknown attributes left out: {', '.join(sorted(unknown))}."
        return Receipt(len(vectors), 0, 0.0, 0.0, advice)

    def _add_described(self, vectors: dict) -> None:
        if not vectors:
            return
        ids, matrix = matrix_of(vectors, self.attributes_)
        self.item_ids_ = joined(self.item_ids_, ids)
        self.item_factors_ = np.concatenate([self.item_factors_, matrix])
        zeros = np.zeros(len(ids), np.float32)
        self.item_biases_ = np.concatenate([self.item_biases_, zeros])
        wide = sp.csr_array((self.ratings_.shape[0], len(self.item_ids_)), dtype=np.float32)
        wide.data, wide.indices = self.ratings_.data, self.ratings_.indices
        wide.indptr = self.ratings_.indptr
        self.ratings_ = wide
        self._forget_ids()

    def _solve_touched(self, users: np.ndarray, items: np.ndarray) -> None:
        """Attributes are given: only tastes are solved again."""
        self._solve_users(users)


def as_vectors(given: Any, kind: str) -> dict[Any, dict[str, float]]:
    """{id: {attribute: value}} of a mapping, or of a data frame whose first column is ids."""
    if hasattr(given, "columns") and hasattr(given, "__getitem__"):
        names = [str(name) for name in given.columns]
        ids = given[names[0]].to_numpy().tolist()
        columns = {name: given[name].to_numpy().tolist() for name in names[1:]}
        rows = {
            each: {name: held[place] for name, held in columns.items() if held[place]}
            for place, each in enumerate(ids)
        }
        return as_vectors(rows, kind)
    if not isinstance(given, Mapping):
        raise TypeError(
            f"AttributeRecommender: {kind}s must be a mapping such as "
            f"{{'Alien': ['thriller']}} or a data frame, not a {type(given).__name__}."
        )
    out: dict[Any, dict[str, float]] = {}
    for each, held in given.items():
        if isinstance(held, str) or not isinstance(held, Iterable):
            raise TypeError(
                f"AttributeRecommender: the attributes of {each!r} are {held!r}. Give a list "
                "of names, or {name: number}."
            )
        values = held if isinstance(held, Mapping) else dict.fromkeys(held, 1.0)
        out[each] = {str(name): float(value) for name, value in values.items()}
        if not np.isfinite([*out[each].values()]).all():
            raise ValueError(f"AttributeRecommender: an attribute of {each!r} is not finite.")
    return out


def matrix_of(
    vectors: dict[Any, dict[str, float]], names: list[str]
) -> tuple[np.ndarray, np.ndarray]:
    """Ids, and their vectors over these attributes; others are left out."""
    place = {name: column for column, name in enumerate(names)}
    matrix = np.zeros((len(vectors), len(names)), np.float32)
    for row, held in enumerate(vectors.values()):
        for name, value in held.items():
            if name in place:
                matrix[row, place[name]] = value
    ids = list(vectors)
    plain = all(type(each) is int for each in ids) and ids
    return (np.array(ids, np.int64) if plain else as_objects(ids)), matrix
