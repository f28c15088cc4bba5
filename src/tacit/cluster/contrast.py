"""Which features set a cluster apart: by contrast with the other rows, not by size alone.

    counts    the log-odds ratio of a word in the cluster against the rest over its standard
              error; pseudo-counts proportional to all counts shrink those of rare words
    numbers   the difference of the means over the standard deviation

Monroe, Colaresi and Quinn (2008), Fightin' words: lexical feature selection and evaluation for
identifying the content of political conflict. Political Analysis 16.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

__all__ = ["Contrast", "contrasts", "log_odds"]


class Contrast(NamedTuple):
    """A cluster against the rest, for every feature."""

    score: np.ndarray  # (d,) standard deviations; above 0 for more in the cluster
    inside: np.ndarray  # (d,) mean in the cluster
    outside: np.ndarray  # (d,) mean of the other rows


def contrasts(X: Any, codes: np.ndarray, k: int, kind: str) -> Iterator[Contrast]:
    """One for each cluster from 0 to k - 1. Rows with a negative code are left out."""
    X, codes = (X, codes) if (codes >= 0).all() else (X[codes >= 0], codes[codes >= 0])
    counts = np.bincount(codes, minlength=k)
    members = sp.csr_array(
        (np.ones(len(codes)), (codes, np.arange(len(codes)))), shape=(k, len(codes))
    )
    if kind == "counts":
        sums = members @ X
        total = np.asarray(sums.sum(axis=0), np.float64).ravel()
        for j in range(k):
            inside = dense_row(sums, j)
            outside = np.maximum(total - inside, 0.0)
            rest = max(1, len(codes) - counts[j])
            yield Contrast(
                log_odds(inside, outside), inside / max(1, counts[j]), outside / rest
            )
        return
    mean = np.zeros(X.shape[1]) if sp.issparse(X) else np.asarray(X, np.float64).mean(axis=0)
    centered: Any = X if sp.issparse(X) else np.asarray(X, np.float64) - mean
    sums = members @ centered
    squares = members @ (centered.multiply(centered) if sp.issparse(X) else centered**2)
    totals = [np.asarray(each.sum(axis=0)).ravel() for each in (sums, squares)]
    for j in range(k):
        first, second = dense_row(sums, j), dense_row(squares, j)
        rest = len(codes) - counts[j]
        score, a, b = standardized_difference(
            (counts[j], first, second), (rest, totals[0] - first, totals[1] - second)
        )
        yield Contrast(score, a + mean, b + mean)


def log_odds(inside: np.ndarray, outside: np.ndarray) -> np.ndarray:
    """The log-odds ratio of every word with an informative prior, over its standard error.

    >>> log_odds(np.array([20.0, 5.0, 5.0]), np.array([5.0, 5.0, 20.0])).round(2)
    array([ 4.38,  0.  , -4.38])
    """
    total = inside + outside
    prior = 0.1 * total
    n, m = inside.sum() + prior.sum(), outside.sum() + prior.sum()
    a, b = inside + prior, outside + prior
    used = total > 0
    score = np.zeros(len(inside))
    # The odds of the only word of a side would be infinite: leave the others one part in 10^9.
    rest_a = np.maximum(n - a[used], 1e-9 * max(n, 1e-300))
    rest_b = np.maximum(m - b[used], 1e-9 * max(m, 1e-300))
    ratio = np.log(a[used] / rest_a) - np.log(b[used] / rest_b)
    score[used] = ratio / np.sqrt(1 / a[used] + 1 / b[used])
    return score


def standardized_difference(
    inside: tuple, outside: tuple
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The difference of two means over the root of the mean variance; and the means.

    A side is (count, sums, sums of squares). Where neither side varies, the variance of all
    rows takes the place of the mean variance; where that is 0 too, the result is 0.
    """
    (n, s, q), (m, t, r) = inside, outside
    a, b = s / max(n, 1), t / max(m, 1)
    if n == 0 or m == 0:
        return np.zeros(len(a)), a, b
    within = (np.maximum(q / n - a * a, 0.0) + np.maximum(r / m - b * b, 0.0)) / 2
    mean = (s + t) / (n + m)
    total = np.maximum((q + r) / (n + m) - mean * mean, 0.0)
    # Rounding may leave a small variance where there is none.
    within = np.where(within > 1e-12 * np.maximum(total, 1e-300), within, total)
    score = np.divide(a - b, np.sqrt(within), out=np.zeros(len(a)), where=within > 0)
    return score, a, b


def dense_row(sums: Any, j: int) -> np.ndarray:
    if not sp.issparse(sums):
        return np.asarray(sums[j], np.float64)
    row = np.zeros(sums.shape[1])
    first, last = sums.indptr[j], sums.indptr[j + 1]
    row[sums.indices[first:last]] = sums.data[first:last]
    return row
