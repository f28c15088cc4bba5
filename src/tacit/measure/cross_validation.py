"""Cross-validation: every row is predicted by a model that was fitted without it.

k-fold cross-validation holds out a k-th of the rows at a time, leave-one-out a single row.
Naive Bayes needs one pass for either: it subtracts the counts of the fold, or of the row, from
those of all rows. Any other model is fitted once for every fold.

The notes' section on training, testing and tuning sets.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from tacit.core.randoms import key, permutation, seed_from
from tacit.data.sparse_structure import check_structure
from tacit.measure.classification import Confusion, confusion, wilson_interval
from tacit.measure.labels import codes_of

__all__ = ["CrossValidation", "cross_predict", "fold_numbers", "leave_one_out", "take_rows"]


@dataclass(frozen=True)
class CrossValidation:
    """Predictions of held-out rows. Made by ``cross_predict``."""

    accuracy: float  # of all rows, each held out once
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


def cross_predict(
    model: Any, X: Any, y: Any, *, folds: Any = 10, random_state: Any = 0
) -> CrossValidation:
    """Predict every fold by a model fitted on the others.

    Parameters
    ----------
    model : classifier; it is cloned, not changed
    X : array, sparse matrix or list of documents
    y : array of n_rows labels of any kind
    folds : int or array of n_rows integers
        Number of stratified folds, or the fold of every row.
    random_state : int, RandomState, Generator or None
        Seed of the folds.

    Examples
    --------
    >>> from tacit.classify import MultinomialNB
    >>> X = np.array([[3, 0], [2, 1], [4, 0], [0, 2], [1, 3], [0, 5]])
    >>> print(cross_predict(MultinomialNB(), X, list("aaabbb"), folds=3))
    accuracy 1.0000 [0.6097, 1.0000], 3 folds
    """
    y = np.asarray(y)
    numbers = fold_numbers(y, folds, random_state=random_state)
    check_length(X, len(y), "cross_predict")
    predictions = np.empty(len(y), y.dtype)
    for number, fitted in each_fold(model, X, y, numbers):
        test = numbers == number
        predictions[test] = fitted.predict(take_rows(X, test))
    return summarize(y, predictions, numbers)


def leave_one_out(model: Any, X: Any, y: Any) -> CrossValidation:
    """Predict every row by a model fitted on all others.

    Naive Bayes does this in the time of one pass. Other models are fitted once for every row.

    >>> from tacit.classify import MultinomialNB
    >>> X = np.array([[3, 0], [2, 1], [4, 0], [0, 2], [1, 3], [0, 5]])
    >>> leave_one_out(MultinomialNB(), X, list("aaabbb")).accuracy
    1.0
    """
    y = np.asarray(y)
    check_length(X, len(y), "leave_one_out")
    numbers = np.arange(len(y))
    if hasattr(model, "predict_left_out"):
        return summarize(y, clone(model).predict_left_out(X, y), numbers)
    if len(y) > 20_000:
        raise ValueError(
            f"leave_one_out would fit {type(model).__name__} {len(y):,} times. Use "
            "cross_predict(folds=10), or a naive Bayes model, which needs one pass."
        )
    return cross_predict(model, X, y, folds=numbers)


def fold_numbers(y: Any, folds: Any = 10, *, random_state: Any = 0) -> np.ndarray:
    """The fold of every row; stratified: the rows of each class are spread evenly.

    >>> fold_numbers(list("aabbbb"), 2)
    array([1, 0, 0, 1, 1, 0])
    """
    codes = codes_of(y, name="cross_predict").codes
    n = len(codes)
    if not np.isscalar(folds) and np.ndim(folds) == 1:
        numbers = codes_of(folds, name="cross_predict(folds=...)", rows=n).codes
        if numbers.max() == 0:
            raise ValueError("cross_predict needs at least two folds, but all rows are in one.")
        return numbers.astype(np.int64)
    if not 2 <= folds <= n:
        raise ValueError(
            f"cross_predict(folds={folds}) needs from 2 to as many folds as there are rows, "
            f"here {n}."
        )
    order = permutation(key(seed_from(random_state)), n)
    order = order[np.argsort(codes[order], kind="stable")]  # class by class, shuffled inside
    numbers = np.empty(n, np.int64)
    numbers[order] = np.arange(n) % folds
    return numbers


# --- Parts ---


def each_fold(model: Any, X: Any, y: np.ndarray, numbers: np.ndarray) -> Iterator[tuple]:
    """The number of every fold, and a model fitted without it."""
    if hasattr(model, "fit_without_folds") and (sp.issparse(X) or isinstance(X, np.ndarray)):
        yield from clone(model).fit_without_folds(X, y, numbers)
        return
    for number in np.unique(numbers):
        train = numbers != number
        yield number, clone(model).fit(take_rows(X, train), y[train])


def take_rows(X: Any, chosen: np.ndarray) -> Any:
    """The chosen rows of an array, a sparse matrix, a data frame or a list."""
    rows = np.flatnonzero(chosen)
    if sp.issparse(X):
        check_structure(X, "cross_predict")
        return X.tocsr()[rows]
    if isinstance(X, np.ndarray):
        return X[rows]
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    return [X[i] for i in rows.tolist()]


def check_length(X: Any, n: int, name: str) -> None:
    rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if rows != n:
        raise ValueError(f"{name} got {rows} rows and {n} labels. Give one label per row.")


def summarize(y: np.ndarray, predictions: np.ndarray, numbers: np.ndarray) -> CrossValidation:
    right = predictions == y
    accuracy = float(right.mean())
    rows = np.bincount(numbers)
    scores = np.bincount(numbers, right)[rows > 0] / rows[rows > 0]
    interval = wilson_interval(accuracy, len(y))
    return CrossValidation(accuracy, interval, tuple(scores.tolist()), predictions, y)
