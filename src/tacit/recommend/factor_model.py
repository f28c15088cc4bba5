"""Factor models: a prediction is the mean, two biases and the product of two vectors.

    r[u, i]  =  mean + b[u] + b[i] + x[u] . y[i]

With the factors of one side fixed, those of the other are the solutions of least squares
problems, one per row. So whatever the model was fitted with, new users and items are folded in
by one solve each, a few new ratings by solving the rows that they touch, and a prediction is
explained by the ratings of the user, in which the solution is linear.

Bell, Koren and Volinsky (2007), Modeling relationships at multiple scales. KDD.
Hu, Koren and Volinsky (2008), Collaborative filtering for implicit feedback datasets. ICDM.
"""

from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from tacit.core.engines import one_blas_thread
from tacit.data.ratings import Ratings, as_objects, to_csr
from tacit.recommend.recommender import (
    Explanation,
    Receipt,
    Recommender,
    Support,
    as_ratings,
    check_count,
    row_of,
)
from tacit.recommend.row_solves import solve_rows

__all__ = ["FactorModel", "System"]

PIECE = 1 << 16  # pairs scored at a time
SAMPLED = 1 << 20  # pairs of a receipt at most


class System(NamedTuple):
    """The least squares problem of a row: A x = rows' targets."""

    matrix: np.ndarray  # (k, k)
    rows: np.ndarray  # (m, k) factors of the rated ones
    targets: np.ndarray  # (m,)


class FactorModel(Recommender):
    """Base class of the models with factors."""

    _file_schema: ClassVar[dict] = {
        **Recommender._file_schema,
        "user_factors_": ("n_users", "width"),
        "item_factors_": ("n_items", "width"),
        "user_biases_": ("n_users",),
        "item_biases_": ("n_items",),
    }
    _file_kinds: ClassVar[dict] = dict.fromkeys(
        ("user_factors_", "item_factors_", "user_biases_", "item_biases_"), "f"
    )

    mean_: float
    user_factors_: np.ndarray
    item_factors_: np.ndarray
    user_biases_: np.ndarray
    item_biases_: np.ndarray
    reg: float
    # What a model without these parameters does.
    bias: bool = True
    weighted: bool = True
    nonnegative: bool = False

    def _after_load(self) -> None:
        super()._after_load()
        for name in self._file_kinds:
            if getattr(self, name).dtype != np.float32:
                raise ValueError(f"{name} must be float32")
        if not isinstance(self.mean_, float) or not np.isfinite(self.mean_):
            raise ValueError(f"mean_ is {self.mean_!r}, not a number")

    def _score_pairs(self, users: np.ndarray, items: np.ndarray) -> np.ndarray:
        scores = np.full(len(users), self.mean_)
        for start in range(0, len(users), PIECE):
            span = slice(start, start + PIECE)
            u, i = users[span], items[span]
            known = (u >= 0) & (i >= 0)
            products = np.einsum(
                "ij,ij->i", self.user_factors_[u], self.item_factors_[i], dtype=np.float64
            )
            scores[span] += np.where(u >= 0, self.user_biases_[u], 0.0)
            scores[span] += np.where(i >= 0, self.item_biases_[i], 0.0)
            scores[span] += np.where(known, products, 0.0)
        return scores

    def _score_items(self, user: int) -> np.ndarray:
        scores = self.mean_ + self.item_biases_.astype(np.float64)
        if user < 0:
            return scores
        factors = self.user_factors_[user].astype(np.float64)
        return scores + float(self.user_biases_[user]) + self.item_factors_ @ factors

    def _factors(self, side: int) -> tuple[np.ndarray, np.ndarray]:
        """Factors and biases of users (0) or items (1)."""
        if side:
            return self.item_factors_, self.item_biases_
        return self.user_factors_, self.user_biases_

    def _vectors(self, side: int) -> Any:
        return self._factors(side)[0]

    # --- The rows of one side, given the other ---

    def _solve(
        self, matrix: sp.csr_array, others: np.ndarray, biases: np.ndarray, side: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Factors and biases of rows, users (side 0) or items (1), given the others."""
        n, k = matrix.shape[0], others.shape[1]
        X, bias = np.zeros((n, k), np.float32), np.zeros(n, np.float32)
        with one_blas_thread():
            solve_rows(
                (matrix.indptr, matrix.indices, matrix.data), np.ascontiguousarray(others),
                np.float32(self.mean_) + biases, np.float32(self.reg), bool(self.weighted),
                bool(self.bias), bool(self.nonnegative), X, bias,
            )  # fmt: skip
        return X, bias

    def _solve_users(self, users: np.ndarray) -> None:
        """Solve the rows of these users again."""
        solved = self._solve(self.ratings_[users], *self._factors(1), 0)
        self.user_factors_[users], self.user_biases_[users] = solved

    def _columns(self, items: np.ndarray) -> sp.csr_array:
        """The ratings of items, a row for each."""
        return self.ratings_.tocsc()[:, items].T.tocsr()

    def _system(self, items: np.ndarray, values: np.ndarray) -> System:
        """The problem whose solution is the factors of a user with these ratings."""
        rows = self.item_factors_[items].astype(np.float64)
        targets = values - self.mean_ - self.item_biases_[items].astype(np.float64)
        if self.bias:
            rows = np.column_stack([rows, np.ones(len(rows))])
        penalty = self.reg * (len(items) if self.weighted else 1)
        return System(rows.T @ rows + penalty * np.eye(rows.shape[1]), rows, targets)

    def explain(self, user: Any, item: Any, n: int = 10) -> Explanation:
        """A prediction as a sum over the ratings of the user: the ``n`` largest terms, and the
        sum of all others."""
        check_is_fitted(self)
        check_count(n, "explain")
        u, i = self._known_code(user, 0), self._known_code(item, 1)
        prediction = float(self._score_pairs(np.array([u]), np.array([i]))[0])
        biases = float(self.user_biases_[u]), float(self.item_biases_[i])
        items, values = row_of(self.ratings_, u)
        support: list[Support] = []
        others = 0.0
        if len(items):
            system = self._system(items, values.astype(np.float64))
            if not np.isfinite(system.matrix).all():  # LAPACK would print to standard output
                raise ValueError(
                    f"{type(self).__name__}: the factors are too large for an explanation. Fit "
                    "again on ratings of a smaller scale."
                )
            target = np.zeros(system.rows.shape[1])
            target[: self.item_factors_.shape[1]] = self.item_factors_[i]
            weights = np.linalg.lstsq(system.matrix, target, rcond=None)[0]
            terms = (system.rows @ weights) * system.targets
            order = np.argsort(-np.abs(terms), kind="stable")[:n]
            support = [
                Support(id, float(values[t]), float(terms[t]))
                for id, t in zip(self.item_ids_[items[order]].tolist(), order, strict=True)
            ]
            others = float(terms.sum() - terms[order].sum())
        explained = self.mean_ + sum(biases) + others
        explained += sum(term.contribution for term in support)
        return Explanation(
            user, item, prediction, self.mean_, *biases, support, others, prediction - explained
        )

    # --- New users, items and ratings ---

    def add_users(self, pairs: Any, ratings: Any = None) -> Receipt:
        """Add users by their ratings of known items, without a refit.

        The new users are solved given the factors of the items; nothing else changes. Ratings
        of unknown items are left out, and the receipt says so. Known users get new ratings by
        ``partial_fit``.
        """
        return self._add(as_ratings(pairs, ratings, type(self).__name__), 0)

    def add_items(self, pairs: Any, ratings: Any = None) -> Receipt:
        """Add items by the ratings that known users gave them, without a refit."""
        return self._add(as_ratings(pairs, ratings, type(self).__name__), 1)

    def _add(self, ratings: Ratings, side: int) -> Receipt:
        check_is_fitted(self)
        kind, other = ("item", "user") if side else ("user", "item")
        sides = (ratings.user_ids, ratings.item_ids)
        present = self._index(side).find(sides[side])
        if (present >= 0).any():
            known = sides[side][np.argmax(present >= 0)]
            raise ValueError(
                f"{type(self).__name__}.add_{kind}s: the {kind} {known!r} is known already. "
                "Give new ratings of it to partial_fit."
            )
        others = self._index(1 - side).find(sides[1 - side])
        codes = (ratings.users, ratings.items)
        usable = others[codes[1 - side]] >= 0
        dropped = int((~usable).sum())
        if not usable.any():
            raise ValueError(
                f"{type(self).__name__}.add_{kind}s: no {other} of these ratings is known. "
                f"Refit, or use partial_fit, which adds {other}s too."
            )
        shape = (len(sides[side]), len(self.user_ids_ if side else self.item_ids_))
        rows = to_csr(
            codes[side][usable], others[codes[1 - side]][usable].astype(np.int32),
            ratings.values[usable], shape,
        )  # fmt: skip
        X, bias = self._solve(rows, *self._factors(1 - side), side)
        first = self._append(sides[side], X, bias, side)
        if side:
            self.ratings_ = stacked([self.ratings_, rows.T], sp.hstack)
        else:
            self.ratings_ = stacked([self.ratings_, rows], sp.vstack)
        return self._receipt(rows, first, side, dropped)

    def _receipt(self, rows: sp.csr_array, first: int, side: int, dropped: int) -> Receipt:
        """Solve the other side with and without the new ratings, then the new ones from either:
        how far predictions lie apart is what a refit would begin with."""
        touched = np.unique(rows.indices)
        new = rows[:, touched]
        other = self.ratings_[touched] if side else self._columns(touched)
        factors, bias = self._factors(side)
        old, old_bias = (array[touched] for array in self._factors(1 - side))
        X, x = factors[first:], bias[first:]
        sample = slice(0, max(1, SAMPLED // max(1, len(touched))))
        predictions = []
        for end in (first, None):
            seen = sp.csr_array(other[:, :end])
            F, f = self._solve(seen, factors[:end], bias[:end], 1 - side)
            Z, z = self._solve(new, F, f, side)
            predictions.append(Z[sample] @ F.T + z[sample, None] + f)
        change = predictions[1].astype(np.float64) - predictions[0]
        distance = float(np.sqrt(np.mean(change**2)))
        fitted = new.tocoo()
        predicted = self.mean_ + x[fitted.coords[0]] + old_bias[fitted.coords[1]]
        predicted = predicted + np.einsum(
            "ij,ij->i", X[fitted.coords[0]], old[fitted.coords[1]]
        )
        rmse = float(np.sqrt(np.mean((self._targets(fitted.data) - predicted) ** 2)))
        fraction = rows.nnz / max(1, self.ratings_.nnz)
        advice = (
            f"A refit is due: {fraction:.0%} of all ratings are new."
            if fraction > 0.1
            else f"No refit is needed yet: {fraction:.1%} of all ratings are new."
        )
        if dropped:
            kind = "users" if side else "items"
            advice += f" {dropped:,} ratings of unknown {kind} were left out."
        return Receipt(rows.shape[0], rows.nnz, distance, rmse, advice)

    def _targets(self, values: np.ndarray) -> np.ndarray:
        """The targets of predictions."""
        return values

    def partial_fit(self, pairs: Any, ratings: Any = None) -> Self:
        """Take in new ratings without a refit; fits a model that was not fitted yet.

        Ids that are new are added, a rating of a known pair replaces the old one. The items
        with new ratings are solved given the users, then the users given the items; all
        others stay as they are.
        """
        if not hasattr(self, "ratings_"):
            return self.fit(pairs, ratings)
        new = as_ratings(pairs, ratings, type(self).__name__)
        users = self._grow(new.user_ids, 0)[new.users].astype(np.int32)
        items = self._grow(new.item_ids, 1)[new.items].astype(np.int32)
        old = self.ratings_.tocoo()
        merged = replace(
            new,
            users=np.concatenate([old.coords[0].astype(np.int32), users]),
            items=np.concatenate([old.coords[1].astype(np.int32), items]),
            values=np.concatenate([old.data, new.values]),
            user_ids=self.user_ids_, item_ids=self.item_ids_, times=None,
        ).settled("last")  # fmt: skip
        self.ratings_ = merged.matrix()
        self.scale_ = [*merged.scale]
        self._solve_touched(np.unique(users), np.unique(items))
        return self

    def _solve_touched(self, users: np.ndarray, items: np.ndarray) -> None:
        """Solve the rows and columns that have new ratings."""
        self._solve_users(users)
        solved = self._solve(self._columns(items), *self._factors(0), 1)
        self.item_factors_[items], self.item_biases_[items] = solved
        self._solve_users(users)

    def _grow(self, ids: np.ndarray, side: int) -> np.ndarray:
        """Codes of ids, the new ones added with factors of 0."""
        codes = self._index(side).find(ids)
        new = np.flatnonzero(codes < 0)
        if len(new):
            n, k = len(new), self.item_factors_.shape[1]
            zeros = np.zeros((n, k), np.float32), np.zeros(n, np.float32)
            codes[new] = self._append(ids[new], *zeros, side) + np.arange(n)
        return codes

    def _append(self, ids: np.ndarray, X: np.ndarray, bias: np.ndarray, side: int) -> int:
        """Add users (side 0) or items (1) with their factors and biases; the first code."""
        kind = "item" if side else "user"
        known = getattr(self, f"{kind}_ids_")
        setattr(self, f"{kind}_ids_", joined(known, ids))
        for name, new in ((f"{kind}_factors_", X), (f"{kind}_biases_", bias)):
            setattr(self, name, np.concatenate([getattr(self, name), new]))
        self._forget_ids()
        return len(known)


def joined(known: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Ids one after the other, as integers or as objects."""
    if known.dtype != object and new.dtype != object:
        return np.concatenate([known, new])
    return as_objects([*known.tolist(), *new.tolist()])


def stacked(parts: list, stack: Any) -> sp.csr_array:
    """Matrices put together, with sorted 32-bit indices."""
    matrix = sp.csr_array(stack(parts, format="csr", dtype=np.float32))
    matrix.sort_indices()
    return matrix
