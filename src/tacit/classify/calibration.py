"""Probabilities that mean what they say, from scores that do not.

A classifier's scores are turned into probabilities by one or two numbers, found on documents
that the classifier had not seen: the rows are cut into folds, each fold is scored by a model
that was fitted on the others, and the numbers are those that make the labels of all folds most
likely. The classifier that answers afterwards is fitted on all rows.

    temperature    softmax(scores / T)                  any number of classes; keeps predict
    platt          1 / (1 + exp(-(a s + b)))            two classes; may shift the border

Platt (1999), Probabilistic outputs for support vector machines. Guo, Pleiss, Sun and Weinberger
(2017), On calibration of modern neural networks. ICML.
"""

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.base import ClassifierMixin, clone
from sklearn.utils import _safe_indexing
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from tacit.core.estimator import Estimator, check_weights
from tacit.core.randoms import key, permutation, seed_from
from tacit.linear.labeled_rows import check_labels, encode
from tacit.linear.losses import log_probabilities, probabilities

__all__ = ["CalibratedClassifier", "calibrate"]


def calibrate(
    scores: np.ndarray,
    codes: np.ndarray,
    *,
    method: str = "temperature",
    weights: np.ndarray | None = None,
) -> tuple[float, float]:
    """The factor and the shift of scores that make the labels most likely.

    The scores must come from a model that was not fitted on these labels.

    ``scores`` is (n, k), or (n,) for two classes; ``codes`` says which column is right. The
    shift is 0 with "temperature". Platt's targets keep both finite where classes separate.

    Examples
    --------
    >>> scores = np.array([-4.0, -2.0, 2.0, 4.0, -3.0, 3.0])
    >>> factor, shift = calibrate(scores, np.array([0, 0, 1, 1, 1, 0]))
    >>> bool(factor < 1), shift  # two of six are wrong: less sure than the scores say
    (True, 0.0)
    """
    found = np.asarray(scores, np.float64)
    found = found[:, None] if found.ndim == 1 else found
    weights = np.ones(len(found)) if weights is None else weights
    k = max(2, found.shape[1])
    counts = np.bincount(codes, weights, minlength=k)
    # Targets between the labels and a flat guess, as Platt has them for two classes.
    soft = np.full((len(found), k), 0.0)
    soft += 1 / (counts.sum() + k)
    soft[np.arange(len(found)), codes] = 1 - (k - 1) / (counts.sum() + k)
    scale = float(np.abs(found).max(initial=0.0)) or 1.0

    def loss(x: np.ndarray) -> float:
        made = np.exp(x[0]) / scale * found
        if method == "platt":
            made = made + x[1]
        return -float(weights @ (soft * log_probabilities(made)).sum(axis=1)) / weights.sum()

    start = np.zeros(2 if method == "platt" else 1)
    best = minimize(loss, start, method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-12})
    x = best.x
    return float(np.exp(x[0]) / scale), float(x[1]) if method == "platt" else 0.0


class CalibratedClassifier(ClassifierMixin, Estimator):
    """Give a classifier with scores probabilities that can be believed.

    Parameters
    ----------
    estimator : classifier with ``decision_function``
    method : {"temperature", "platt"}
    cv : int
        Folds. Rows of a class are spread evenly over them.
    random_state : int, RandomState or None
        Which rows go into which fold.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    estimator_ : the classifier, fitted on all rows
    factor_, shift_ : floats; probabilities are those of factor_ * score + shift_

    Examples
    --------
    >>> from tacit.classify import LinearSVC
    >>> X = np.arange(40.0)[:, None]
    >>> y = np.where((X[:, 0] > 20) ^ (X[:, 0] % 7 == 0), "high", "low")
    >>> model = CalibratedClassifier(LinearSVC(), random_state=0).fit(X, y)
    >>> bool(model.predict_proba([[39.0]])[0].max() < 0.99)
    True
    """

    contract: ClassVar[str] = "whole"
    _parameter_constraints: ClassVar[dict] = {
        "estimator": "no_validation",
        "method": [StrOptions({"temperature", "platt"})],
        "cv": [Interval(Integral, 2, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(self, estimator, *, method="temperature", cv=5, random_state=None):
        self.estimator = estimator
        self.method = method
        self.cv = cv
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "CalibratedClassifier":
        """Fit on all rows; find factor and shift by cross-validation."""
        self._validate_params()
        y = check_labels(y)
        check_consistent_length(X, y)
        if not len(y):
            raise ValueError("CalibratedClassifier was given 0 rows. Give some of each class.")
        self.classes_, codes = encode(y, name="CalibratedClassifier")
        k = len(self.classes_)
        if self.method == "platt" and k > 2:
            raise ValueError(
                f"CalibratedClassifier(method='platt') is for two classes, but there are {k}. "
                "Use method='temperature'."
            )
        fewest = int(np.bincount(codes).min())
        if k < 2 or fewest < self.cv:
            raise ValueError(
                f"CalibratedClassifier(cv={self.cv}) needs two classes or more with at least "
                f"{self.cv} rows each, but there are {k}, the smallest with {fewest}. Lower cv."
            )
        # A frame stays one, so that its columns keep their names.
        X = X if sp.issparse(X) or isinstance(X, list) or hasattr(X, "iloc") else np.asarray(X)
        weights = check_weights(sample_weight, codes)
        folds = spread(codes, self.cv, seed_from(self.random_state))
        found = np.zeros((len(codes), 1 if k == 2 else k))
        for fold in range(self.cv):
            inside, outside = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
            model = self._fitted(X, y, weights, inside)
            made = model.decision_function(_safe_indexing(X, outside))
            found[outside] = made[:, None] if made.ndim == 1 else made
        self.factor_, self.shift_ = calibrate(
            found, codes, method=self.method, weights=weights
        )
        self.estimator_ = self._fitted(X, y, weights, np.arange(len(codes)))
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
            elif hasattr(self, name):  # of a fit before
                delattr(self, name)
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores whose softmax, or logistic function, are the probabilities."""
        check_is_fitted(self)
        return self.factor_ * self.estimator_.decision_function(X) + self.shift_

    def predict_proba(self, X: Any) -> np.ndarray:
        """(n, n_classes) probabilities, columns in the order of ``classes_``."""
        found = self.decision_function(X)
        return probabilities(found[:, None] if found.ndim == 1 else found)

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class; of equals the first."""
        found = self.predict_proba(X).argmax(axis=1)
        return self.classes_[found]

    def _fitted(self, X: Any, y: np.ndarray, weights: Any, which: np.ndarray) -> Any:
        extra = {} if weights is None else {"sample_weight": weights[which]}
        return clone(self.estimator).fit(_safe_indexing(X, which), y[which], **extra)


def spread(codes: np.ndarray, folds: int, seed: np.uint64) -> np.ndarray:
    """A fold for every row, the rows of each class dealt out evenly."""
    out = np.empty(len(codes), np.int64)
    for code in np.unique(codes):
        rows = np.flatnonzero(codes == code)
        out[rows[permutation(key(seed, int(code)), len(rows))]] = np.arange(len(rows)) % folds
    return out
