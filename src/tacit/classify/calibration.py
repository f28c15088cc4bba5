"""Calibration: turn the scores of any classifier into probabilities that match frequencies.

The map from scores to probabilities is fitted on held-out rows: the rows are split into folds,
and each fold is scored by a model fitted on the others. The classifier that predicts afterwards
is fitted on all rows.

    temperature    softmax(factor * scores)                one number; predictions do not change
    platt          1 / (1 + exp(-(factor s + shift)))      a logistic function
    isotonic       a step function that never falls        for many rows; about 1,000 a class

With more than two classes, Platt and isotonic fit one function per class against the rest and
normalize. Temperature suits few rows, and many classes with few rows each.

The loss is the log loss. Each held-out label counts as right with probability 1 - 1 / (n + 2),
as Platt suggests for two classes; so the factor is finite where the classes are separated, and
the correction vanishes with the number n of rows, whatever that of the classes.

Platt (1999), Probabilistic outputs for support vector machines. Zadrozny and Elkan (2002),
Transforming classifier scores into accurate multiclass probability estimates. KDD. Guo, Pleiss,
Sun and Weinberger (2017), On calibration of modern neural networks. ICML.
"""

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit
from sklearn.base import ClassifierMixin, clone
from sklearn.isotonic import IsotonicRegression
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from tacit.core.estimator import Estimator, check_weights
from tacit.data.sparse_structure import check_structure
from tacit.linear.labeled_rows import check_labels
from tacit.linear.losses import log_probabilities, probabilities
from tacit.measure.cross_validation import fold_numbers
from tacit.measure.labels import codes_of

__all__ = ["CalibratedClassifier", "calibrate"]


def calibrate(
    scores: np.ndarray,
    codes: np.ndarray,
    *,
    method: str = "temperature",
    weights: np.ndarray | None = None,
) -> tuple[Any, Any]:
    """Fit the factor and the shift that minimize the log loss of held-out scores.

    ``scores`` is (n, k), or (n,) for two classes; ``codes`` is the column of the right class.
    They must come from a model that was not fitted on these rows. The shift is 0 with
    "temperature". With "platt" and more than two classes both are arrays, one value per class.

    >>> scores = np.array([-4.0, -2.0, 2.0, 4.0, -3.0, 3.0])
    >>> factor, shift = calibrate(scores, np.array([0, 0, 1, 1, 1, 0]))
    >>> bool(factor < 1), shift  # two of six are wrong: the scores are overconfident
    (True, 0.0)
    """
    scores = as_columns(np.asarray(scores, np.float64))
    weights = np.ones(len(scores)) if weights is None else np.asarray(weights, np.float64)
    if method == "temperature":
        return fit_temperature(scores, codes, weights), 0.0
    if scores.shape[1] == 1:
        return fit_logistic(scores[:, 0], codes == 1, weights)
    fits = [fit_logistic(s, codes == k, weights) for k, s in enumerate(scores.T)]
    factor, shift = np.array(fits).T
    return factor, shift


def fit_temperature(scores: np.ndarray, codes: np.ndarray, weights: np.ndarray) -> float:
    """The factor: the loss is convex in it, and searched on a logarithmic scale."""
    n, k = len(scores), max(2, scores.shape[1])
    wrong = 1 / (weights.sum() + 2)
    targets = np.full((n, k), wrong / (k - 1))
    targets[np.arange(n), codes] = 1 - wrong
    largest = float(np.abs(scores).max(initial=0.0)) or 1.0

    def loss(log_factor: float) -> float:
        logs = log_probabilities(np.exp(log_factor) / largest * scores)
        return -float(weights @ (targets * logs).sum(axis=1)) / weights.sum()

    best = minimize_scalar(loss, bounds=(-12, 12), method="bounded", options={"xatol": 1e-9})
    return float(np.exp(best.x) / largest)


def fit_logistic(
    scores: np.ndarray, positive: np.ndarray, weights: np.ndarray
) -> tuple[float, float]:
    """Factor and shift of the logistic function of one class against the rest."""
    n_positive = float(weights @ positive)
    n_negative = float(weights.sum()) - n_positive
    targets = np.where(positive, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))
    largest = float(np.abs(scores).max(initial=0.0)) or 1.0
    columns = np.column_stack([scores / largest, np.ones(len(scores))])

    def loss(x: np.ndarray) -> tuple[float, np.ndarray]:
        z = columns @ x
        residual = weights * (expit(z) - targets)
        value = weights @ (np.logaddexp(0, z) - targets * z)
        return float(value) / weights.sum(), columns.T @ residual / weights.sum()

    start = np.array([1.0, np.log((n_positive + 1) / (n_negative + 1))])
    best = minimize(loss, start, jac=True, method="BFGS", options={"gtol": 1e-9})
    return float(best.x[0] / largest), float(best.x[1])


def fit_isotonic(scores: np.ndarray, positive: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """(m, 2) scores and probabilities between which to interpolate, never exactly 0 or 1."""
    least = 1 / (weights.sum() + 2)
    model = IsotonicRegression(y_min=least, y_max=1 - least, out_of_bounds="clip")
    model.fit(scores, positive.astype(np.float64), weights)
    return np.column_stack([model.X_thresholds_, model.y_thresholds_])


class CalibratedClassifier(ClassifierMixin, Estimator):
    """Add calibrated probabilities to a classifier.

    Parameters
    ----------
    estimator : classifier
        With ``decision_function``, or with probabilities that are to be calibrated, such as
        naive Bayes.
    method : {"temperature", "platt", "isotonic"}
    cv : int
        Stratified folds. A class may have fewer rows; one with a single row is calibrated as
        the others.
    random_state : int, RandomState or None
        Which rows go into which fold.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    estimator_ : the classifier, fitted on all rows
    factor_, shift_ : floats, or with "platt" and many classes arrays of shape (n_classes,);
        None with "isotonic"
    steps_ : array of shape (m, 3) or None
        With "isotonic": class, score and probability, to be interpolated.

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
    steps_: np.ndarray | None = None  # of files from before there was "isotonic"
    _parameter_constraints: ClassVar[dict] = {
        "method": [StrOptions({"temperature", "platt", "isotonic"})],
        "cv": [Interval(Integral, 2, None, closed="left")],
        "random_state": ["random_state"],
    }
    _file_schema: ClassVar[dict] = {"classes_": ("n_classes",), "steps_": (None, 3)}
    _file_optional = ("steps_", "factor_", "shift_")
    _file_kinds: ClassVar[dict] = {"steps_": "f"}
    _file_types: ClassVar[dict] = {
        "factor_": (float, np.ndarray),
        "shift_": (float, np.ndarray),
    }

    def __init__(
        self,
        estimator: Any,
        *,
        method: str = "temperature",
        cv: int = 5,
        random_state: Any = None,
    ) -> None:
        self.estimator, self.method, self.cv = estimator, method, cv
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "CalibratedClassifier":
        """Fit the classifier on all rows, and the calibration by cross-validation."""
        self._validate_params()
        if y is None:
            raise ValueError(
                "CalibratedClassifier requires y to be passed, but the target y is None."
            )
        y = check_labels(y)
        if sp.issparse(X):
            check_structure(X, "CalibratedClassifier")
            X = X.tocsr()
        elif not (isinstance(X, list) or hasattr(X, "iloc")):  # a frame keeps its names
            X = np.asarray(X)
        check_consistent_length(X, y)
        if not len(y):
            raise ValueError("CalibratedClassifier was given 0 rows. Give some of each class.")
        codes, self.classes_, _ = codes_of(y, name="CalibratedClassifier")
        weights = check_weights(sample_weight, codes)
        if len(self.classes_) < 2:
            raise ValueError(
                f"CalibratedClassifier needs two classes or more, but y has one class, "
                f"{self.classes_.tolist()[0]!r}."
            )
        self.estimator_ = self._fit_rows(X, y, weights, np.arange(len(y)))
        scores, known = self._held_out_scores(X, y, codes, weights)
        rows = np.ones(len(y)) if weights is None else weights
        self._fit_map(scores[known], codes[known], rows[known])
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
            elif hasattr(self, name):  # of an earlier fit
                delattr(self, name)
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores whose softmax (with two classes, logistic function) are the probabilities."""
        check_is_fitted(self)
        scores = scores_of(self.estimator_, X)
        if self.steps_ is None and (self.method == "temperature" or scores.shape[1] == 1):
            scores = self.factor_ * scores + self.shift_
            return scores[:, 0] if scores.shape[1] == 1 else scores
        logs = np.log(self._one_against_rest(scores))
        return logs[:, 1] - logs[:, 0] if logs.shape[1] == 2 else logs

    def predict_proba(self, X: Any) -> np.ndarray:
        """(n, n_classes) probabilities, columns in the order of ``classes_``."""
        return probabilities(as_columns(self.decision_function(X)))

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class; of equals the first."""
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]

    def _after_load(self) -> None:
        k = len(self.classes_)
        scales: tuple[Any, ...] = (self.factor_, self.shift_)
        stepped = self.steps_ is not None
        shapes = {np.shape(scale) for scale in scales}
        if any((scale is None) != stepped for scale in scales) or not shapes <= {(), (k,)}:
            raise ValueError("its calibration does not fit its classes.")
        if self.steps_ is not None and set(self.steps_[:, 0].tolist()) != set(range(k)):
            raise ValueError("steps_ does not have every class.")
        if not np.array_equal(self.classes_, getattr(self.estimator_, "classes_", [])):
            raise ValueError("estimator_ has other classes.")

    def _fit_rows(self, X: Any, y: np.ndarray, weights: Any, rows: np.ndarray) -> Any:
        extra = {} if weights is None else {"sample_weight": weights[rows]}
        return clone(self.estimator).fit(_safe_indexing(X, rows), y[rows], **extra)

    def _held_out_scores(
        self, X: Any, y: np.ndarray, codes: np.ndarray, weights: Any
    ) -> tuple[np.ndarray, np.ndarray]:
        """Scores of all rows by models fitted without them, and which rows can be used: those
        whose class occurs in the other folds. A class that does not gets the least score."""
        k = len(self.classes_)
        scores = np.zeros((len(y), 1 if k == 2 else k))
        known = np.zeros(len(y), bool)
        folds = fold_numbers(codes, min(self.cv, len(y)), random_state=self.random_state)
        for fold in np.unique(folds):
            train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
            seen = np.unique(codes[train])
            if len(seen) < 2:
                continue
            model = self._fit_rows(X, y, weights, train)
            held_out = scores_of(model, _safe_indexing(X, test))
            if len(seen) == k:
                scores[test] = held_out
            else:
                if held_out.shape[1] == 1:
                    held_out = np.hstack([np.zeros_like(held_out), held_out])
                scores[test] = held_out.min(axis=1, keepdims=True)
                scores[np.ix_(test, seen)] = held_out
            known[test] = np.isin(codes[test], seen)
        if not known.any() or (weights is not None and not weights[known].any()):
            raise ValueError(
                "CalibratedClassifier needs a class with at least 2 rows, besides another one, "
                f"but the {k} classes have at most {np.bincount(codes).max()} rows each. Give "
                "more rows."
            )
        return scores, known

    def _fit_map(self, scores: np.ndarray, codes: np.ndarray, weights: np.ndarray) -> None:
        self.factor_, self.shift_, self.steps_ = None, None, None
        if self.method != "isotonic":
            self.factor_, self.shift_ = calibrate(
                scores, codes, method=self.method, weights=weights
            )
            return
        steps = []
        for k, column in enumerate(one_per_class(scores).T):
            steps.append(np.insert(fit_isotonic(column, codes == k, weights), 0, k, axis=1))
        self.steps_ = np.vstack(steps)

    def _one_against_rest(self, scores: np.ndarray) -> np.ndarray:
        """(n, k) probabilities of each class against the rest, normalized."""
        if self.steps_ is None:
            p = expit(self.factor_ * scores + self.shift_)
        else:
            columns = one_per_class(scores)
            p = np.empty(columns.shape)
            for k, column in enumerate(columns.T):
                _, x, probability = self.steps_[self.steps_[:, 0] == k].T
                p[:, k] = np.interp(column, x, probability)
        p = np.maximum(p, np.finfo(float).tiny)
        return p / p.sum(axis=1, keepdims=True)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags = inner.input_tags
        tags.classifier_tags.poor_score = inner.classifier_tags.poor_score
        return tags


def scores_of(model: Any, X: Any) -> np.ndarray:
    """(n, k) scores, or (n, 1) with two classes: decision values, or log probabilities."""
    if hasattr(model, "decision_function"):
        return as_columns(np.asarray(model.decision_function(X), np.float64))
    if not hasattr(model, "predict_proba"):
        raise TypeError(
            f"CalibratedClassifier needs a classifier with decision_function or predict_proba, "
            f"but {type(model).__name__} has neither."
        )
    if hasattr(model, "predict_log_proba"):
        logs = np.asarray(model.predict_log_proba(X), np.float64)
    else:
        with np.errstate(divide="ignore"):
            logs = np.log(np.asarray(model.predict_proba(X), np.float64))
    logs = np.maximum(logs, -1e5)  # a class that is ruled out
    return logs[:, 1:] - logs[:, :1] if logs.shape[1] == 2 else logs


def one_per_class(scores: np.ndarray) -> np.ndarray:
    """(n, k) scores of each class against the others."""
    return np.hstack([-scores, scores]) if scores.shape[1] == 1 else scores


def as_columns(scores: np.ndarray) -> np.ndarray:
    return scores[:, None] if scores.ndim == 1 else scores
