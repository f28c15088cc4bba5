"""Recommending from attributes: hand-made taste vectors, or tastes learned from ratings.

    affinity     sum of a_uk b_ki: how many of the user's attributes an item has
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
from tacit.recommend.factor_model import FactorModel, stacked
from tacit.recommend.recommender import Receipt, as_ratings

__all__ = ["AttributeRecommender"]


class AttributeRecommender(FactorModel):
    """Recommend by attributes of items and tastes of users.

    ``similar_items`` are those with the most attributes in common, ``similar_users`` those with
    the most tastes.

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
        names = sorted({n for v in (*items.values(), *users.values()) for n in v})
        model.attributes_, model.mean_ = names, 0.0
        model.item_ids_, model.item_factors_ = matrix_of(items, names)
        model.user_ids_, model.user_factors_ = matrix_of(users, names)
        n, m = len(users), len(items)
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
        ratings = as_ratings(pairs, ratings, name)
        if attributes is None:
            raise ValueError(
                f"{name}.fit needs the attributes of items: fit(ratings, attributes={{'Alien': "
                "['thriller']}). Without any use ALS or BiasedSGD."
            )
        vectors = as_vectors(attributes, "item")
        self.attributes_ = sorted({n for v in vectors.values() for n in v})
        self._set_ratings(ratings)
        biases = Biases(engine=self.engine).fit(ratings)
        self.mean_, self.user_biases_ = biases.mean_, biases.user_biases_
        rated = {id: vectors.get(id, {}) for id in ratings.item_ids.tolist()}
        self.item_factors_ = matrix_of(rated, self.attributes_)[1]
        self.item_biases_ = biases.item_biases_
        solved = self._solve(self.ratings_, self.item_factors_, self.item_biases_, 0)
        self.user_factors_, self.user_biases_ = solved
        self._add_vectors({id: vector for id, vector in vectors.items() if id not in rated})
        return self

    def affinity(self, user: Any, item: Any) -> float:
        """The product of the taste and the attribute vector."""
        check_is_fitted(self)
        u, i = self._known_code(user, 0), self._known_code(item, 1)
        return float(self.user_factors_[u] @ self.item_factors_[i])

    def similarity(self, one: Any, other: Any, *, users: bool = False) -> float:
        """How many attributes two items have in common; with ``users``, two tastes."""
        check_is_fitted(self)
        side = 0 if users else 1
        vectors = self._vectors(side)
        first, second = self._known_code(one, side), self._known_code(other, side)
        return float(vectors[first] @ vectors[second])

    def _similarities(self, code: int, side: int) -> np.ndarray:
        """The attributes, or tastes, in common: see ``similarity``."""
        vectors = self._vectors(side).astype(np.float64)
        return vectors @ vectors[code]

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
        known = [id for id in vectors if self._index(1).code(id) >= 0]
        if known:
            raise ValueError(f"AttributeRecommender.add_items: {known[0]!r} is known already.")
        unknown = {n for v in vectors.values() for n in v} - {*self.attributes_}
        self._add_vectors(vectors)
        advice = "Tastes do not depend on items without ratings: a refit changes nothing."
        if unknown:
            advice += f" Unknown attributes left out: {', '.join(sorted(unknown))}."
        return Receipt(len(vectors), 0, 0.0, 0.0, advice)

    def _add_vectors(self, vectors: dict) -> None:
        """Add items without ratings."""
        if not vectors:
            return
        ids, matrix = matrix_of(vectors, self.attributes_)
        self._append(ids, matrix, np.zeros(len(ids), np.float32), 1)
        empty = sp.csr_array((len(self.user_ids_), len(ids)), dtype=np.float32)
        self.ratings_ = stacked([self.ratings_, empty], sp.hstack)

    def _solve_touched(self, users: np.ndarray, items: np.ndarray) -> None:
        """Attributes are fixed: only tastes are solved again."""
        self._solve_users(users)


def as_vectors(source: Any, kind: str) -> dict[Any, dict[str, float]]:
    """{id: {attribute: value}} of a mapping, or of a data frame whose first column is ids."""
    if hasattr(source, "columns") and hasattr(source, "__getitem__"):
        names = [str(name) for name in source.columns]
        ids = source[names[0]].to_numpy().tolist()
        columns = {name: source[name].to_numpy().tolist() for name in names[1:]}
        source = {
            id: {name: values[row] for name, values in columns.items() if values[row]}
            for row, id in enumerate(ids)
        }
    if not isinstance(source, Mapping):
        raise TypeError(
            f"AttributeRecommender: {kind}s must be a mapping such as "
            f"{{'Alien': ['thriller']}} or a data frame, not a {type(source).__name__}."
        )
    vectors: dict[Any, dict[str, float]] = {}
    for id, values in source.items():
        if isinstance(values, str) or not isinstance(values, Iterable):
            raise TypeError(
                f"AttributeRecommender: the attributes of {id!r} are {values!r}. Give a list "
                "of names, or {name: number}."
            )
        pairs = values if isinstance(values, Mapping) else dict.fromkeys(values, 1.0)
        vectors[id] = {str(name): float(value) for name, value in pairs.items()}
        if not np.isfinite([*vectors[id].values()]).all():
            raise ValueError(f"AttributeRecommender: an attribute of {id!r} is not finite.")
    return vectors


def matrix_of(
    vectors: dict[Any, dict[str, float]], names: list[str]
) -> tuple[np.ndarray, np.ndarray]:
    """Ids, and their vectors over these attributes; others are left out."""
    columns = {name: column for column, name in enumerate(names)}
    matrix = np.zeros((len(vectors), len(names)), np.float32)
    for row, vector in enumerate(vectors.values()):
        for name, value in vector.items():
            if name in columns:
                matrix[row, columns[name]] = value
    ids = list(vectors)
    integers = ids and all(type(id) is int for id in ids)
    return (np.array(ids, np.int64) if integers else as_objects(ids)), matrix
