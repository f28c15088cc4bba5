"""How well a classifier does on rows it has not seen: every row is left out once.

k-fold cross-validation leaves out a k-th of the rows at a time, leave-one-out a single row.
Models that learn by counting need no second pass for that: naive Bayes takes the counts of
the fold, or of the row, out of those of all rows. Any other model is fitted once for every
fold.

The notes' section on training, testing and tuning sets.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from tacit.core.randoms import key, permutation, seed_from
from tacit.measure.classification import Confusion, confusion, wilson_interval
from tacit.measure.labels import codes_of

__all__ = ["CrossValidation", "cross_validate", "fold_numbers", "leave_one_out", "take_rows"]

MOST_FITS = 20_000  # of leave_one_out with a model that is fitted for every row


@dataclass(frozen=True)
class CrossValidation:
    """What a model said about rows it had not seen. Made by ``cross_validate``."""

    accuracy: float  # of all rows, each left out once
    interval: tuple[float, float]  # 95%, of the accuracy
    scores: tuple  # the accuracy in every fold
    predictions: np.ndarray = field(repr=False)
    y_true: np.ndarray = field(repr=False)

    def confusion(self) -> Confusion:
        """The table of classes against predictions."""
        return confusion(self.y_true, self.predictions)

    def to_dict(self) -> dict[str, Any]:
        """The figures as JSON values."""
        return {
            "accuracy": self.accuracy,
            "interval": list(self.interval),
            "scores": list(self.scores),
            "confusion": self.confusion().to_dict(),
        }

    def __str__(self) -> str:
        low, high = self.interval
        return f"accuracy {self.accuracy:.4f} [{low:.4f}, {high:.4f}], {len(self.scores)} folds"


def cross_validate(
    model: Any, X: Any, y: Any, *, folds: Any = 10, random_state: Any = 0
) -> CrossValidation:
    """Leave out every fold once, and ask a model that was fitted on the others.

    Parameters
    ----------
    model : classifier
        It is cloned; the one given stays as it is.
    X : array, sparse matrix or list of documents
    y : array of n_rows labels of any kind
    folds : int or array of n_rows integers
        How many, every class spread evenly over them in an order drawn from the seed; or the
        fold of every row.
    random_state : int, RandomState, Generator or None
        Seed of the folds.

    Examples
    --------
    >>> from tacit.classify import MultinomialNB
    >>> X = np.array([[3, 0], [2, 1], [4, 0], [0, 2], [1, 3], [0, 5]])
    >>> print(cross_validate(MultinomialNB(), X, list("aaabbb"), folds=3))
    accuracy 1.0000 [0.6097, 1.0000], 3 folds
    """
    y = np.asarray(y)
    numbers = fold_numbers(y, folds, random_state=random_state)
    check_rows_of(X, len(y), "cross_validate")
    predictions = np.empty(len(y), y.dtype)
    for number, fitted in each_fold(model, X, y, numbers):
        out = numbers == number
        predictions[out] = fitted.predict(take_rows(X, out))
    return summary(y, predictions, numbers)


def leave_one_out(model: Any, X: Any, y: Any) -> CrossValidation:
    """Leave out every row once, and ask a model that was fitted on all others.

    Naive Bayes does this in the time of one pass. Other models are fitted as often as there
    are rows.

    Examples
    --------
    >>> from tacit.classify import MultinomialNB
    >>> X = np.array([[3, 0], [2, 1], [4, 0], [0, 2], [1, 3], [0, 5]])
    >>> leave_one_out(MultinomialNB(), X, list("aaabbb")).accuracy
    1.0
    """
    y = np.asarray(y)
    check_rows_of(X, len(y), "leave_one_out")
    numbers = np.arange(len(y))
    if hasattr(model, "predict_left_out"):
        return summary(y, clone(model).predict_left_out(X, y), numbers)
    if len(y) > MOST_FITS:
        raise ValueError(
            f"leave_one_out would fit {type(model).__name__} {len(y):,} times. Use "
            "cross_validate(folds=10), or a naive Bayes model, which needs one pass."
        )
    return cross_validate(model, X, y, folds=numbers)


def fold_numbers(y: Any, folds: Any = 10, *, random_state: Any = 0) -> np.ndarray:
    """The fold of every row; classes are spread evenly over the folds.

    >>> fold_numbers(list("aabbbb"), 2)
    array([1, 0, 0, 1, 1, 0])
    """
    codes = codes_of(y, name="cross_validate").codes
    n = len(codes)
    if not np.isscalar(folds) and np.ndim(folds) == 1:
        numbers = codes_of(folds, name="cross_validate(folds=...)", rows=n).codes
        if numbers.max() == 0:
            raise ValueError(
                "cross_validate needs at least two folds, but all rows are in one."
            )
        return numbers.astype(np.int64)
    if not 2 <= folds <= n:
        raise ValueError(
            f"cross_validate(folds={folds}) needs from 2 to as many folds as there are rows, "
            f"here {n}."
        )
    order = permutation(key(seed_from(random_state)), n)
    order = order[np.argsort(codes[order], kind="stable")]  # class by class, shuffled inside
    numbers = np.empty(n, np.int64)
    numbers[order] = np.arange(n) % folds
    return numbers


# --- Small pieces ---


def each_fold(model: Any, X: Any, y: np.ndarray, numbers: np.ndarray) -> Iterator[tuple]:
    """Every fold's number, and a model fitted without it."""
    if hasattr(model, "fit_without_folds") and is_matrix(X):
        yield from clone(model).fit_without_folds(X, y, numbers)
        return
    for number in np.unique(numbers):
        kept = numbers != number
        yield number, clone(model).fit(take_rows(X, kept), y[kept])


def take_rows(X: Any, chosen: np.ndarray) -> Any:
    """Some rows of whatever holds rows; of a list, a list."""
    rows = np.flatnonzero(chosen)
    if sp.issparse(X):
        return X.tocsr()[rows]
    if isinstance(X, np.ndarray):
        return X[rows]
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    return [X[i] for i in rows.tolist()]


def is_matrix(X: Any) -> bool:
    return sp.issparse(X) or (isinstance(X, np.ndarray) and X.ndim == 2)


def check_rows_of(X: Any, n: int, name: str) -> None:
    rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if rows != n:
        raise ValueError(f"{name} got {rows} rows and {n} labels. Give one label per row.")


def summary(y: np.ndarray, predictions: np.ndarray, numbers: np.ndarray) -> CrossValidation:
    right = predictions == y
    accuracy = float(right.mean())
    rows = np.bincount(numbers)
    scores = np.bincount(numbers, right)[rows > 0] / rows[rows > 0]
    interval = wilson_interval(accuracy, len(y))
    return CrossValidation(accuracy, interval, tuple(scores.tolist()), predictions, y)
