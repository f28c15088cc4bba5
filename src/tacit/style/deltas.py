"""Burrows's Delta and its family: how far apart two texts are in style.

Frequencies become z-scores: each word's mean is subtracted, and its standard deviation is
divided out, so that rare words count as much as frequent ones. With z and z' the scores of two
texts over n words, the variants are

    burrows     mean of |z - z'|                      Burrows (2002)
    eder        the same, weighted by rank: (n - r + 2) / n for the r-th word; the most
                frequent words count most               Eder (2015)
    quadratic   root mean square of z - z'             Argamon (2008)
    cosine      1 - cos(z, z')                         Smith and Aldridge (2011)

Burrows (2002), Delta: a measure of stylistic difference and a guide to likely authorship.
Literary and Linguistic Computing 17. Argamon (2008), Interpreting Burrows's Delta. Ibid. 23.
Evert, Proisl, Jannidis et al. (2017), Understanding and explaining Delta measures for
authorship attribution. Digital Scholarship in the Humanities 32.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.utils import check_array

__all__ = ["VARIANTS", "Scale", "check_variant", "delta", "score_distances"]

VARIANTS = ("burrows", "eder", "cosine", "quadratic")


class Scale(NamedTuple):
    """The mean and the standard deviation of every word's frequency."""

    mean: np.ndarray  # (words,)
    spread: np.ndarray  # (words,) 0 where a frequency never varies

    @classmethod
    def of(cls, rows: np.ndarray) -> "Scale":
        """The scale of rows of frequencies; deviations are those of a sample (n - 1)."""
        mean = rows.mean(axis=0)
        return cls.of_sums(mean, ((rows - mean) ** 2).sum(axis=0), len(rows))

    @classmethod
    def of_sums(cls, mean: np.ndarray, squares: np.ndarray, n: int) -> "Scale":
        """The scale from the mean and the sum of squared deviations of n rows."""
        spread = np.sqrt(np.maximum(squares, 0.0) / max(1, n - 1))
        # Equal frequencies differ by rounding; that is not a deviation.
        return cls(mean, np.where(spread > 1e-12 * np.abs(mean), spread, 0.0))

    def scores(self, rows: np.ndarray) -> np.ndarray:
        """z-scores of rows; 0 for words whose frequency never varies."""
        gaps = rows - self.mean
        return np.divide(gaps, self.spread, out=np.zeros_like(gaps), where=self.spread > 0)


def delta(X: Any, Y: Any = None, *, variant: str = "burrows", scale: bool = True) -> np.ndarray:
    """Compute the Delta between texts, from the frequencies of their words.

    Parameters
    ----------
    X : array of shape (n, words)
        Frequencies, the most frequent word first (which matters to "eder").
    Y : array of shape (m, words), optional
        Other texts to compare with; X itself by default. They are scaled as X is.
    variant : {"burrows", "eder", "cosine", "quadratic"}
        Which Delta; see the module.
    scale : bool
        Whether X holds frequencies, which become z-scores; False if it holds z-scores.

    Returns
    -------
    distances : array of shape (n, m)

    Examples
    --------
    >>> X = [[6.0, 1.0], [6.0, 3.0], [3.0, 2.0]]
    >>> delta(X).round(3)
    array([[0.   , 1.   , 1.366],
           [1.   , 0.   , 1.366],
           [1.366, 1.366, 0.   ]])
    """
    check_variant(variant, "delta")
    rows = check_array(X, dtype=np.float64, input_name="X")
    others = rows if Y is None else check_array(Y, dtype=np.float64, input_name="Y")
    if others.shape[1] != rows.shape[1]:
        raise ValueError(
            f"delta needs the same words in both, but X has {rows.shape[1]} columns and Y "
            f"{others.shape[1]}."
        )
    if scale:
        fitted = Scale.of(rows)
        rows, others = fitted.scores(rows), fitted.scores(others)
    return score_distances(rows, others, variant)


def check_variant(variant: Any, name: str) -> None:
    """ValueError for an unknown variant."""
    if variant not in VARIANTS:
        raise ValueError(
            f"{name}(variant={variant!r}) is unknown; choose from {list(VARIANTS)}."
        )


def score_distances(rows: np.ndarray, others: np.ndarray, variant: str) -> np.ndarray:
    """(n, m) distances between rows of z-scores."""
    n = rows.shape[1]
    if variant == "cosine":
        products = unit(rows) @ unit(others).T
        return np.clip(1.0 - products, 0.0, 2.0)
    if variant == "quadratic":
        return cdist(rows, others) / np.sqrt(n)
    if variant == "eder":
        weights = (n + 1 - np.arange(n)) / n
        rows, others = rows * weights, others * weights
    return cdist(rows, others, "cityblock") / n


def unit(rows: np.ndarray) -> np.ndarray:
    """Rows of length one; a row of zeros stays."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
