"""Scores of a classifier: accuracy, precision and recall, log loss, calibration.

    accuracy     fraction of rows with the right class predicted; 1 less the mean 0/1 loss
    precision    of the rows predicted to be of a class, the fraction that are
    recall       of the rows of a class, the fraction predicted to be
    F            their harmonic mean; with beta, recall counts beta times as much
    macro        the mean over classes, each counting the same
    micro        over all rows together; with one class per row this is the accuracy
    log loss     mean of -log p(right class), in nats
    calibration  rows are binned by the probability of their predicted class; in a calibrated
                 model the accuracy in each bin is the mean probability there. The expected
                 calibration error is the mean difference of the two, weighted by rows.

The precision of a class that is never predicted is 0, with a warning.

Naeini, Cooper and Hauskrecht (2015), Obtaining well calibrated probabilities using Bayesian
binning. AAAI. Brier (1950), Verification of forecasts expressed in terms of probability.
The notes' section on training, testing and tuning sets.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from tacit.measure.labels import codes_of

__all__ = [
    "Calibration", "Confusion", "accuracy_score", "calibration", "confusion", "log_loss",
    "precision_recall_f", "wilson_interval",
]  # fmt: skip

SHOWN = 30  # classes of a printed table
SCORES = ("precision", "recall", "f")


@dataclass(frozen=True)
class Confusion:
    """How many rows of each class were predicted to be of each. Made by ``confusion``."""

    classes: list
    table: np.ndarray  # (k, k) rows are the right classes, columns the predicted ones

    @property
    def rows(self) -> float:
        """How many rows there were, or their weight."""
        return float(self.table.sum())

    @property
    def accuracy(self) -> float:
        """Fraction of rows on the diagonal."""
        return float(np.trace(self.table) / self.rows)

    def per_class(self, beta: float = 1.0) -> dict[str, np.ndarray]:
        """Arrays by class: precision, recall, f and support (its rows)."""
        if not beta >= 0:
            raise ValueError(f"beta={beta} must be a weight of at least 0 for recall.")
        right = np.diag(self.table).astype(float)
        precision = divide(right, self.table.sum(axis=0))
        recall = divide(right, self.table.sum(axis=1))
        f = divide((1 + beta**2) * precision * recall, beta**2 * precision + recall)
        support = self.table.sum(axis=1)
        return {"precision": precision, "recall": recall, "f": f, "support": support}

    def average(self, how: str = "macro", beta: float = 1.0) -> tuple[float, float, float]:
        """Precision, recall and F over all classes: "macro", "micro" or "weighted"."""
        if how == "micro":
            return (self.accuracy,) * 3
        if how not in ("macro", "weighted"):
            raise ValueError(f"average={how!r} is unknown; choose macro, micro or weighted.")
        scores = self.per_class(beta)
        weights = scores["support"] if how == "weighted" else None
        p, r, f = (float(np.average(scores[name], weights=weights)) for name in SCORES)
        return p, r, f

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON values."""
        scores = self.per_class()
        return {
            "classes": list(self.classes),
            "table": self.table.tolist(),
            "accuracy": self.accuracy,
            **{name: values.tolist() for name, values in scores.items()},
            **{how: list(self.average(how)) for how in ("macro", "micro", "weighted")},
        }

    def __str__(self) -> str:
        scores = self.per_class()
        names = [one_line(name) for name in self.classes[:SHOWN]]
        width = max([5, *map(len, names)])
        lines = [f"{'':{width}}  precision  recall      F    rows"]
        for name, p, r, f, n in zip(names, *scores.values(), strict=False):
            lines.append(f"{name:{width}}  {p:9.4f}  {r:6.4f} {f:6.4f} {n:7g}")
        if len(self.classes) > SHOWN:
            lines.append(f"... and {len(self.classes) - SHOWN} more classes")
        p, r, f = self.average("macro")
        lines.append(f"{'macro':{width}}  {p:9.4f}  {r:6.4f} {f:6.4f} {self.rows:7g}")
        lines.append(f"accuracy {self.accuracy:.4f}")
        return "\n".join(lines)


@dataclass(frozen=True)
class Calibration:
    """The calibration curve and its summaries. Made by ``calibration``."""

    error: float  # expected calibration error: mean |accuracy - probability|
    worst: float  # the largest difference of a bin
    brier: float  # mean squared difference of the probabilities to 0 and 1, over classes
    probability: np.ndarray  # mean of each bin that holds rows
    accuracy: np.ndarray  # of each
    rows: np.ndarray  # of each

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON values."""
        return {k: v.tolist() if hasattr(v, "tolist") else v for k, v in vars(self).items()}

    def __str__(self) -> str:
        lines = ["probability  right   rows"]
        triples = zip(self.probability, self.accuracy, self.rows, strict=True)
        lines += [f"{p:11.3f}  {a:5.3f}  {n:5d}" for p, a, n in triples]
        return "\n".join([*lines, f"expected calibration error {self.error:.4f}"])


def confusion(
    y_true: Any, y_pred: Any, *, labels: Any = None, sample_weight: Any = None
) -> Confusion:
    """Count how many rows of each class were predicted to be of each.

    Parameters
    ----------
    y_true, y_pred : arrays of n_rows labels of any kind
    labels : list or None; the classes and their order; None: all that occur, sorted
    sample_weight : array of n_rows or None
        How much each row counts.

    Examples
    --------
    >>> print(confusion(["ham", "ham", "spam", "spam"], ["ham", "spam", "spam", "spam"]))
           precision  recall      F    rows
    ham       1.0000  0.5000 0.6667       2
    spam      0.6667  1.0000 0.8000       2
    macro     0.8333  0.7500 0.7333       4
    accuracy 0.7500
    """
    true, pred, names = both_codes(y_true, y_pred, labels, "confusion")
    k = len(names)
    weights = check_row_weights(sample_weight, len(true), "confusion")
    table = np.bincount(true * k + pred, weights, k * k).reshape(k, k)
    return Confusion(names.tolist(), table)


def accuracy_score(
    y_true: Any, y_pred: Any, *, normalize: bool = True, sample_weight: Any = None
) -> float:
    """Fraction of rows with the right class predicted; with ``normalize=False`` their number,
    or their weight.

    >>> accuracy_score([0, 1, 1, 0], [0, 1, 0, 0])
    0.75
    """
    true, pred, _ = both_codes(y_true, y_pred, None, "accuracy_score")
    weights = check_row_weights(sample_weight, len(true), "accuracy_score")
    if not normalize:
        return float((true == pred).sum() if weights is None else weights @ (true == pred))
    return float(np.average(true == pred, weights=weights))


def precision_recall_f(
    y_true: Any,
    y_pred: Any,
    *,
    average: str | None = "macro",
    beta: float = 1.0,
    labels: Any = None,
) -> Any:
    """Precision, recall and F.

    ``average`` is "macro" (every class counts the same), "micro" (every row does), "weighted"
    (classes by their rows), or None for a dict of arrays, one value for each class.

    >>> precision_recall_f(["a", "a", "b"], ["a", "b", "b"])
    (0.75, 0.75, 0.666...)
    """
    table = confusion(y_true, y_pred, labels=labels)
    for axis, what in enumerate(("precision", "recall")):
        counts = table.table.sum(axis=axis)
        none = [name for name, n in zip(table.classes, counts, strict=True) if not n]
        if none:
            verb = "were never predicted" if what == "precision" else "do not occur"
            warnings.warn(
                f"{what} is ill-defined and counts as 0 for classes that {verb}: {none[:5]}.",
                UndefinedMetricWarning,
                stacklevel=2,
            )
    return table.per_class(beta) if average is None else table.average(average, beta)


def log_loss(
    y_true: Any, y_proba: Any, *, normalize: bool = True, sample_weight: Any = None,
    labels: Any = None,
) -> float:  # fmt: skip
    """Mean of -log p(right class), in nats; with ``normalize=False`` the sum.

    ``y_proba`` is (n_rows, n_classes) with columns in the order of ``labels`` (the
    sorted classes of y_true), or (n_rows,) for the second of two. A probability of 0 for the
    right class makes the loss infinite; nothing is clipped.

    >>> log_loss(["ham", "spam"], [[0.5, 0.5], [0.2, 0.8]])
    0.458...
    """
    p, right = check_predictions(y_true, y_proba, labels, "log_loss")
    with np.errstate(divide="ignore"):
        losses = -np.log(p[np.arange(len(p)), right])
    weights = check_row_weights(sample_weight, len(p), "log_loss")
    if weights is not None:  # a row of weight 0 may have an infinite loss
        losses, weights = losses[weights > 0], weights[weights > 0]
    if not normalize:
        return float(losses.sum() if weights is None else weights @ losses)
    return float(np.average(losses, weights=weights))


def calibration(
    y_true: Any, probabilities: Any, *, labels: Any = None, n_bins: int = 10
) -> Calibration:
    """How far the probability of the predicted class is from the accuracy.

    Parameters
    ----------
    y_true : array of n_rows labels of any kind
    probabilities : (n_rows, n_classes), or (n_rows,) for the second of two classes
    labels : list or None; the classes of the columns; None: those of y_true, sorted
    n_bins : int
        Bins of equal width between 0 and 1; those without rows are left out.

    Examples
    --------
    >>> print(calibration([1, 1, 1, 0], [0.9, 0.9, 0.7, 0.1], n_bins=5))
    probability  right   rows
          0.700  1.000      1
          0.900  1.000      3
    expected calibration error 0.1500
    """
    if n_bins < 1:
        raise ValueError(f"calibration(n_bins={n_bins}) needs at least one bin.")
    p, right = check_predictions(y_true, probabilities, labels, "calibration")
    predicted, top = p.argmax(axis=1), p.max(axis=1)
    bins = np.minimum((top * n_bins).astype(int), n_bins - 1)
    rows = np.bincount(bins, minlength=n_bins)
    filled = rows > 0
    mean = np.bincount(bins, top, n_bins)[filled] / rows[filled]
    accuracy = np.bincount(bins, predicted == right, n_bins)[filled] / rows[filled]
    errors = np.abs(mean - accuracy)
    target = np.zeros_like(p)
    target[np.arange(len(p)), right] = 1
    return Calibration(
        error=float(np.average(errors, weights=rows[filled])),
        worst=float(errors.max()),
        brier=float(((p - target) ** 2).sum(axis=1).mean()),
        probability=mean,
        accuracy=accuracy,
        rows=rows[filled],
    )


def wilson_interval(
    fraction: float, rows: float, z: float = 1.959963984540054
) -> tuple[float, float]:
    """The 95% confidence interval of a proportion, from the ``fraction`` seen in ``rows``.

    Wilson (1927), Probable inference, the law of succession, and statistical inference.

    >>> wilson_interval(0.9, 100)
    (0.8256..., 0.9447...)
    """
    if not (rows > 0 and 0 <= fraction <= 1):
        raise ValueError(
            f"wilson_interval(fraction={fraction}, rows={rows}) needs a fraction from 0 to 1 "
            "of at least one row."
        )
    middle = fraction + z * z / (2 * rows)
    half = z * np.sqrt(fraction * (1 - fraction) / rows + (z / (2 * rows)) ** 2)
    scale = 1 + z * z / rows
    low, high = float((middle - half) / scale), float((middle + half) / scale)
    return max(0.0, min(low, fraction)), min(1.0, max(high, fraction))  # rounding at 0 and 1


# --- Checks ---


def both_codes(
    y_true: Any, y_pred: Any, labels: Any, name: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Both labelings as positions in the same list of classes."""
    true = codes_of(y_true, name=name)
    pred = codes_of(y_pred, name=name, rows=len(true.codes))
    if (true.names.dtype.kind in "OUT") != (pred.names.dtype.kind in "OUT"):
        raise TypeError(
            f"{name}: one labeling has strings and the other numbers, so that no row can "
            "agree. Make them the same."
        )
    names = np.asarray(labels) if labels is not None else np.union1d(true.names, pred.names)
    y_true, y_pred = (positions(c.names, names, name)[c.codes] for c in (true, pred))
    return y_true, y_pred, names


def positions(labels: np.ndarray, names: np.ndarray, name: str) -> np.ndarray:
    """The position of each label in ``names``."""
    place: dict = {}
    for i, label in enumerate(names.tolist()):
        if place.setdefault(label, i) != i:
            raise ValueError(f"{name}: labels names {label!r} twice. Leave one out.")
    for label in labels.tolist():
        if label not in place:
            what = f"the label {label!r} is not among labels={names.tolist()[:10]}"
            raise ValueError(f"{name}: {what}. Add it.")
    return np.array([place[label] for label in labels.tolist()], np.int64)


def one_line(name: Any) -> str:
    """The name of a class, shortened to fit the table."""
    text = " ".join(str(name).split()) or repr(name)
    return text if len(text) <= 50 else text[:47] + "..."


def divide(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a / b, and 0 where b is 0."""
    return np.divide(a, b, out=np.zeros(len(a)), where=b > 0)


def check_row_weights(sample_weight: Any, rows: int, name: str) -> np.ndarray | None:
    """Row weights: finite, at least 0, not all 0."""
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, np.float64)
    if weights.ndim != 1:
        raise ValueError(
            f"{name}: sample_weight has the shape {weights.shape}. Give a number for each row."
        )
    if len(weights) != rows:
        raise ValueError(
            f"{name} got {len(weights)} weights for {rows} rows. Give one for each row."
        )
    good = (weights >= 0) & np.isfinite(weights)
    if not good.all():
        row = int(np.argmin(good))
        raise ValueError(
            f"{name}: the weight of row {row} is {weights[row]:g}. Give finite weights of at "
            "least 0."
        )
    if not weights.any():
        raise ValueError(f"{name}: the weights are all zero. Give some row a positive one.")
    return weights


def check_predictions(
    y_true: Any, probabilities: Any, labels: Any, name: str
) -> tuple[np.ndarray, np.ndarray]:
    """(rows, classes) probabilities, and the column of the right class of every row."""
    p = np.asarray(probabilities, np.float64)
    if p.ndim not in (1, 2):
        raise ValueError(
            f"{name}: probabilities have the shape {p.shape}. Give (rows, classes), or (rows,) "
            "for the second of two."
        )
    p = np.column_stack([1 - p, p]) if p.ndim == 1 else p
    true = codes_of(y_true, name=name, rows=len(p))
    names = true.names if labels is None else np.asarray(labels)
    if p.shape[1] != len(names):
        raise ValueError(
            f"{name} got {p.shape[1]} columns of probabilities for {len(names)} classes. Give "
            "the classes of the columns as labels."
        )
    good = (p >= 0).all(axis=1) & (np.abs(p.sum(axis=1) - 1) < 1e-6)  # False for NaN
    if not good.all():
        row = int(np.argmin(good))
        raise ValueError(
            f"{name} needs probabilities that add up to 1, but row {row} has "
            f"{np.round(p[row], 6).tolist()[:10]}. Use predict_proba."
        )
    return p, positions(true.names, names, name)[true.codes]
