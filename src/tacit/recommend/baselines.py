"""Baselines: the mean, the biases, what is popular, the nearest items.

    GlobalMean    the mean of all ratings
    Biases        mean + bias of the user + bias of the item, with shrinkage
    Popularity    how often an item was rated, for everyone the same
    ItemKNN       biases + the residuals of the user's ratings of the most similar items

``Biases`` is a loop over sums: ``collect`` solves the biases of the users in a block given
those of the items, b_u = sum of (r - mean - b_i) / (reg + n_u), and adds up the residuals of
every item; ``update`` divides. Each half minimizes the same penalized squares, so the loss
never rises.

Koren (2010), Factor in the neighbors: scalable and accurate collaborative filtering. TKDD 4.
Sarwar, Karypis, Konstan and Riedl (2001), Item-based collaborative filtering. WWW.
"""

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from tacit.core.estimator import engine_for
from tacit.core.kernel import kernel
from tacit.core.loop import iterate
from tacit.core.stats import Stats
from tacit.data.ratings import Ratings
from tacit.data.table import Table, parts
from tacit.recommend.factor_model import FactorModel
from tacit.recommend.recommender import (
    Explanation,
    Recommender,
    Support,
    check_count,
    check_csr,
    row_of,
)

__all__ = ["Biases", "GlobalMean", "ItemKNN", "Popularity"]

STRIPE = 512  # items compared with all others at a time


# --- Sums ---


@dataclass(frozen=True)
class Totals(Stats):
    """The sum of the ratings, and the number of ratings of every item."""

    total: float
    counts: np.ndarray  # (m,) int64


def collect_totals(params: None, block: sp.csr_array) -> Totals:
    """The totals of a block."""
    total = float(block.data.sum(dtype=np.float64))
    return Totals(total, np.bincount(block.indices, minlength=block.shape[1]))


class BiasParams(NamedTuple):
    """The params of ``Biases``."""

    item_bias: np.ndarray  # (m,) float64


@dataclass(frozen=True)
class BiasStats(Stats):
    """Sums over the users of a block."""

    rows: float
    loss: float
    residuals: np.ndarray  # (m,) of r - mean - b_u
    counts: np.ndarray  # (m,)


def collect(
    settings: tuple[float, float], params: BiasParams, block: sp.csr_array
) -> BiasStats:
    """Solve the biases of the users in a block; sum up the residuals of every item."""
    mean, reg = settings
    rows = parts(block).rows
    bias = user_biases(rows, mean, params.item_bias, reg)
    repeated = np.repeat(bias, np.diff(rows.indptr))
    residuals = rows.data.astype(np.float64) - mean - repeated
    error = residuals - params.item_bias[rows.indices]
    m = rows.shape[1]
    return BiasStats(
        float(rows.nnz), float(error @ error) + reg * float(bias @ bias),
        np.bincount(rows.indices, residuals, m), np.bincount(rows.indices, minlength=m),
    )  # fmt: skip


def update(reg: float, params: BiasParams, stats: BiasStats) -> BiasParams:
    """The best biases of the items."""
    return BiasParams(stats.residuals / np.maximum(stats.counts + reg, 1e-12))


def user_biases(
    rows: sp.csr_array, mean: float, item_bias: np.ndarray, reg: float
) -> np.ndarray:
    """The best biases of users, given those of the items."""
    residuals = rows.data.astype(np.float64) - mean - item_bias[rows.indices]
    counts = np.diff(rows.indptr)
    owner = np.repeat(np.arange(len(counts)), counts)
    return np.bincount(owner, residuals, len(counts)) / np.maximum(counts + reg, 1e-12)


# --- Estimators ---


class Plain(FactorModel):
    """Base class of the baselines without factors."""

    reg = 0.0

    def _set_biases(self, mean: float, user_bias: Any = 0.0, item_bias: Any = 0.0) -> None:
        n, m = self.ratings_.shape
        self.mean_ = float(mean)
        self.user_factors_ = np.zeros((n, 0), np.float32)
        self.item_factors_ = np.zeros((m, 0), np.float32)
        self.user_biases_ = np.full(n, user_bias, np.float32)
        self.item_biases_ = np.full(m, item_bias, np.float32)

    def _vectors(self, side: int) -> Any:
        return Recommender._vectors(self, side)


class GlobalMean(Plain):
    """Predict the mean of all ratings, for every user and item.

    Examples
    --------
    >>> from tacit.recommend import GlobalMean
    >>> GlobalMean().fit([("ann", "Alien", 5), ("bob", "Alien", 2)]).predict("ann", "Alien")
    3.5
    """

    def __init__(self, *, engine: Any = "threads") -> None:
        self.engine = engine

    bias = False

    def _fit(self, ratings: Ratings) -> None:
        totals = engine_for(self).reduce(collect_totals, None, Table.from_array(self.ratings_))
        self._set_biases(totals.total / self.ratings_.nnz)


class Biases(Plain):
    """Predict the mean plus a bias of the user and one of the item.

    Parameters
    ----------
    reg_users, reg_items : float
        Pseudo-counts of ratings at the mean for every user or item: a bias of few ratings
        shrinks towards 0.
    max_iter, tol : int, float
        Most passes; stops when a pass brings less than ``tol`` of the improvement so far.

    Examples
    --------
    >>> from tacit.recommend import Biases
    >>> triples = [("ann", "Alien", 5), ("ann", "Heat", 4), ("bob", "Alien", 3)]
    >>> model = Biases(reg_users=0.1, reg_items=0.1).fit(triples)
    >>> model.predict("bob", "Heat") < 3
    True
    """

    _parameter_constraints: ClassVar[dict] = {
        "reg_users": [Interval(Real, 0, None, closed="left")],
        "reg_items": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        *,
        reg_users: float = 5.0,
        reg_items: float = 3.0,
        max_iter: int = 20,
        tol: float = 1e-5,
        engine: Any = "threads",
        callbacks: list | None = None,
    ) -> None:
        self.reg_users, self.reg_items = reg_users, reg_items
        self.max_iter, self.tol = max_iter, tol
        self.engine, self.callbacks = engine, callbacks

    def _fit(self, ratings: Ratings) -> None:
        table = Table.from_array(self.ratings_)
        mean = float(np.mean(ratings.values, dtype=np.float64))
        with self._fit_callbacks() as callbacks:
            fit = iterate(
                BiasParams(np.zeros(ratings.shape[1])),
                partial(collect, (mean, float(self.reg_users))),
                partial(update, float(self.reg_items)), table, engine_for(self),
                max_iter=self.max_iter, tol=self.tol,
                penalty=lambda p: self.reg_items * float(p.item_bias @ p.item_bias),
                callbacks=callbacks, name="Biases",
            )  # fmt: skip
        items = fit.params.item_bias
        users = user_biases(self.ratings_, mean, items, float(self.reg_users))
        self._set_biases(mean, users, items)
        self.losses_ = [float(loss) for loss in fit.losses]
        self.n_iter_, self.converged_ = len(fit.losses) - 1, fit.converged

    def _solve(
        self, matrix: sp.csr_array, others: np.ndarray, biases: np.ndarray, side: int
    ) -> tuple[np.ndarray, np.ndarray]:
        reg = self.reg_items if side else self.reg_users
        bias = user_biases(matrix, self.mean_, biases.astype(np.float64), float(reg))
        return np.zeros((matrix.shape[0], 0), np.float32), bias.astype(np.float32)


class Popularity(Plain):
    """Rank items by how many users rated them, for everyone the same.

    A prediction is that number; it is no rating.

    Examples
    --------
    >>> from tacit.recommend import Popularity
    >>> model = Popularity().fit([("ann", "Alien"), ("bob", "Alien"), ("bob", "Heat")])
    >>> model.recommend("cid").ids
    ['Alien', 'Heat']
    """

    def __init__(self, *, engine: Any = "threads") -> None:
        self.engine = engine

    def _unknown_user_note(self, user: Any) -> str:
        return f"User {user!r} is unknown: items are ranked by how many users rated them."

    def _fit(self, ratings: Ratings) -> None:
        totals = engine_for(self).reduce(collect_totals, None, Table.from_array(self.ratings_))
        self._set_biases(0.0, 0.0, totals.counts)

    def _solve(
        self, matrix: sp.csr_array, others: np.ndarray, biases: np.ndarray, side: int
    ) -> tuple[np.ndarray, np.ndarray]:
        n = matrix.shape[0]
        counts = np.diff(matrix.indptr) if side else np.zeros(n)
        return np.zeros((n, 0), np.float32), counts.astype(np.float32)


class ItemKNN(Recommender):
    """Predict from the user's ratings of the most similar items.

        r[u, i]  =  b[u, i] + sum of s[i, j] (r[u, j] - b[u, j]) / sum of s[i, j]

    over the ``n_neighbors`` items j most similar to i that the user rated; b are the biases, s
    the shrunk correlation of the residuals of two items, which ranks ``similar_items`` too.

    Parameters
    ----------
    n_neighbors : int
        Rated neighbors that a prediction uses at most.
    n_kept : int
        Most similar items to store for each item.
    shrinkage : float
        The correlation of two items that n users rated counts n / (n + shrinkage).
    reg_users, reg_items : float
        As for ``Biases``.

    Examples
    --------
    >>> from tacit.recommend import ItemKNN
    >>> triples = [(u, i, 3 + (u % 2 == i % 2)) for u in range(8) for i in range(8) if u != i]
    >>> model = ItemKNN(shrinkage=1).fit(triples)
    >>> model.predict(0, 0) > model.predict(0, 1)
    True
    """

    contract: ClassVar[str] = "whole"
    _parameter_constraints: ClassVar[dict] = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "n_kept": [Interval(Integral, 1, None, closed="left")],
        "shrinkage": [Interval(Real, 0, None, closed="left")],
        "reg_users": [Interval(Real, 0, None, closed="left")],
        "reg_items": [Interval(Real, 0, None, closed="left")],
    }
    _file_schema: ClassVar[dict] = {
        **Recommender._file_schema,
        "similarities_": ("n_items", "n_items"),
    }
    similarities_: sp.csr_array
    biases_: Biases

    def __init__(
        self,
        n_neighbors: int = 30,
        *,
        n_kept: int = 300,
        shrinkage: float = 100.0,
        reg_users: float = 5.0,
        reg_items: float = 3.0,
        engine: Any = "threads",
    ) -> None:
        self.n_neighbors, self.n_kept, self.shrinkage = n_neighbors, n_kept, shrinkage
        self.reg_users, self.reg_items, self.engine = reg_users, reg_items, engine

    def _fit(self, ratings: Ratings) -> None:
        self.biases_ = Biases(
            reg_users=self.reg_users, reg_items=self.reg_items, engine=self.engine
        ).fit(ratings)
        residuals = self._residuals().T.tocsr()  # items x users
        rated = residuals.copy()
        rated.data = np.ones_like(rated.data)
        squares = residuals.copy()
        squares.data = residuals.data**2
        stripes = range(0, residuals.shape[0], STRIPE)

        def compare(start: int) -> sp.csr_array:
            return self._stripe(residuals, squares, rated, start)

        pieces = list(engine_for(self).each(compare, stripes, work=residuals.nnz))
        self.similarities_ = sp.csr_array(sp.vstack(pieces, format="csr", dtype=np.float32))

    def _stripe(self, residuals: Any, squares: Any, rated: Any, start: int) -> sp.csr_array:
        """The most similar items of some items: correlations over the users of both."""
        stripe = slice(start, start + STRIPE)
        products = (residuals[stripe] @ residuals.T).toarray()
        norms = (squares[stripe] @ rated.T).toarray() * (rated[stripe] @ squares.T).toarray()
        both = (rated[stripe] @ rated.T).toarray()
        root = np.sqrt(np.maximum(norms, 0))
        s = np.divide(products, root, out=np.zeros_like(products), where=root > 0)
        s *= both / np.maximum(both + self.shrinkage, 1e-12)
        rows = np.arange(len(s))
        s[rows, start + rows] = 0
        best = np.sort(np.argsort(-s, axis=1, kind="stable")[:, : self.n_kept], axis=1)
        values = np.take_along_axis(s, best, axis=1)
        positive = values > 0
        indptr = np.concatenate([[0], np.cumsum(positive.sum(axis=1))])
        return sp.csr_array(
            (values[positive].astype(np.float32), best[positive].astype(np.int32), indptr),
            shape=s.shape,
        )

    def _residuals(self) -> sp.csr_array:
        matrix, biases = self.ratings_, self.biases_
        residuals = matrix.copy()
        owner = np.repeat(biases.user_biases_, np.diff(matrix.indptr))
        residuals.data = matrix.data - np.float32(biases.mean_) - owner
        residuals.data = residuals.data - biases.item_biases_[matrix.indices]
        return residuals

    def _after_load(self) -> None:
        super()._after_load()
        if not isinstance(self.biases_, Biases):
            raise ValueError("biases_ is not a model of biases")
        if self.biases_.ratings_.shape != self.ratings_.shape:
            raise ValueError("biases_ was fitted on other ratings")
        check_similarities(self.similarities_)

    def _score_pairs(self, users: np.ndarray, items: np.ndarray) -> np.ndarray:
        scores = self.biases_._score_pairs(users, items)
        order = np.argsort(users, kind="stable")
        edges = np.flatnonzero(np.r_[True, np.diff(users[order]) != 0, True])
        for first, last in pairwise(edges):
            which = order[first:last]
            user = int(users[which[0]]) if len(which) else -1
            if user >= 0:
                scores[which] += self._neighbor_terms(user, items[which])
        return scores

    def _neighbor_terms(self, user: int, items: np.ndarray) -> np.ndarray:
        """The terms that the neighbors add to the biases."""
        rated, residuals = self._row(user)
        dense = np.zeros(len(self.item_ids_), np.float32)
        seen = np.zeros(len(self.item_ids_), np.bool_)
        dense[rated], seen[rated] = residuals, True
        near = self.similarities_
        return neighbor_terms(
            near.indptr, near.indices, near.data, items.astype(np.int64), dense, seen,
            min(int(self.n_neighbors), len(dense)),
        )  # fmt: skip

    def _row(self, user: int) -> tuple[np.ndarray, np.ndarray]:
        rated, values = row_of(self.ratings_, user)
        biases = self.biases_
        base = biases.mean_ + float(biases.user_biases_[user]) + biases.item_biases_[rated]
        return rated, (values - base).astype(np.float32)

    def _similarities(self, code: int, side: int) -> np.ndarray:
        """Of items the shrunk correlations, as predictions use them."""
        if not side:
            return super()._similarities(code, side)
        dense = np.zeros(len(self.item_ids_))
        near, values = row_of(self.similarities_, code)
        dense[near] = values
        return dense

    def explain(self, user: Any, item: Any, n: int = 10) -> Explanation:
        """A prediction as biases and one term for each rated neighbor."""
        check_is_fitted(self)
        check_count(n, "explain")
        u, i = self._known_code(user, 0), self._known_code(item, 1)
        prediction = float(self._score_pairs(np.array([u]), np.array([i]))[0])
        near, weights = row_of(self.similarities_, i)
        rated, residuals = self._row(u)
        place = {int(j): t for t, j in enumerate(rated)}
        both = [
            (float(w), int(j)) for j, w in zip(near, weights, strict=True) if int(j) in place
        ]
        both = sorted(both, key=lambda pair: (-pair[0], pair[1]))[: self.n_neighbors]
        total = sum(w for w, _ in both) or 1.0
        values = row_of(self.ratings_, u)[1]
        terms = [
            Support(
                self.item_ids_[[j]].tolist()[0], float(values[place[j]]),
                w * float(residuals[place[j]]) / total,
            )
            for w, j in both
        ]  # fmt: skip
        terms.sort(key=lambda term: -abs(term.contribution))
        mean, user_bias = self.biases_.mean_, float(self.biases_.user_biases_[u])
        item_bias = float(self.biases_.item_biases_[i])
        others = sum(term.contribution for term in terms[n:])
        residual = prediction - mean - user_bias - item_bias
        residual -= sum(term.contribution for term in terms)
        return Explanation(
            user, item, prediction, mean, user_bias, item_bias, terms[:n], others, residual
        )


def check_similarities(matrix: Any) -> None:
    check_csr(matrix, "similarities_")
    if len(matrix.data) and not (np.isfinite(matrix.data).all() and matrix.data.min() >= 0):
        raise ValueError("similarities_ holds a value that is no similarity")


@kernel
def neighbor_terms(
    indptr: Any, indices: Any, data: Any, items: Any, residuals: Any, seen: Any, most: int
) -> Any:
    """For every item, the mean residual of the most similar rated items, weighted."""
    out = np.zeros(len(items))
    weights, values = np.empty(most), np.empty(most)
    for t in range(len(items)):
        i = items[t]
        if i < 0:
            continue
        n, least = 0, 0
        for q in range(indptr[i], indptr[i + 1]):
            j = indices[q]
            if not seen[j]:
                continue
            if n < most:
                weights[n], values[n] = data[q], residuals[j]
                n += 1
                if n == most:
                    least = int(np.argmin(weights))
            elif data[q] > weights[least]:
                weights[least], values[least] = data[q], residuals[j]
                least = int(np.argmin(weights))
        total, s = 0.0, 0.0
        for q in range(n):
            total += weights[q]
            s += weights[q] * values[q]
        if total > 0:
            out[t] = s / total
    return out
