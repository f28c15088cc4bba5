"""Whether probabilities mean what they say.

Rows are put in bins by the probability of the class that was said; in a calibrated model the
share that is right in each bin is the mean probability there. The expected calibration error
is the mean difference between the two, weighted by the rows of the bins.

Naeini, Cooper and Hauskrecht (2015), Obtaining well calibrated probabilities using Bayesian
binning. AAAI. Brier (1950), Verification of forecasts expressed in terms of probability.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.measure.classification import as_columns, check_probabilities, places
from tacit.measure.labels import codes_of

__all__ = ["Calibration", "calibration"]


@dataclass(frozen=True)
class Calibration:
    """The calibration curve and what it comes to. Made by ``calibration``."""

    error: float  # expected calibration error: mean |share right - probability|
    worst: float  # the largest such difference of a bin
    brier: float  # mean squared difference of the probabilities to 0 and 1, over classes
    probability: np.ndarray  # mean of each bin that holds rows
    accuracy: np.ndarray  # share that is right in it
    rows: np.ndarray  # how many there are

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON values."""
        return {k: v.tolist() if hasattr(v, "tolist") else v for k, v in vars(self).items()}

    def __str__(self) -> str:
        lines = ["probability  right   rows"]
        triples = zip(self.probability, self.accuracy, self.rows, strict=True)
        lines += [f"{p:11.3f}  {a:5.3f}  {n:5d}" for p, a, n in triples]
        return "\n".join([*lines, f"expected calibration error {self.error:.4f}"])


def calibration(
    y_true: Any, probabilities: Any, *, labels: Any = None, n_bins: int = 10
) -> Calibration:
    """How far the probability of what was said is from the share that is right.

    Parameters
    ----------
    y_true : array of n_rows labels of any kind
    probabilities : (n_rows, n_classes), or (n_rows,) for the second of two classes
    labels : list or None
        The classes of the columns; None: those of y_true, sorted.
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
    p = as_columns(probabilities, "calibration")
    check_probabilities(p, "calibration")
    true = codes_of(y_true, name="calibration", rows=len(p))
    names = true.names if labels is None else np.asarray(labels)
    if p.shape[1] != len(names):
        raise ValueError(
            f"calibration got {p.shape[1]} columns of probabilities for {len(names)} classes. "
            "Give the classes of the columns as labels."
        )
    right = places(true.names, names, "calibration")[true.codes]
    said, sure = p.argmax(axis=1), p.max(axis=1)
    bins = np.minimum((sure * n_bins).astype(int), n_bins - 1)
    rows = np.bincount(bins, minlength=n_bins)
    held = rows > 0
    mean = np.bincount(bins, sure, n_bins)[held] / rows[held]
    hits = np.bincount(bins, said == right, n_bins)[held] / rows[held]
    gaps = np.abs(mean - hits)
    target = np.zeros_like(p)
    target[np.arange(len(p)), right] = 1
    return Calibration(
        error=float(np.average(gaps, weights=rows[held])),
        worst=float(gaps.max()),
        brier=float(((p - target) ** 2).sum(axis=1).mean()),
        probability=mean,
        accuracy=hits,
        rows=rows[held],
    )
