"""Is the difference between two classifiers on the same rows significant?

McNemar's test uses the rows where exactly one of the two is right: under the null hypothesis
either is equally likely. The paired bootstrap resamples the rows with replacement and counts
how often the difference changes sign; it takes any score.

McNemar (1947), Note on the sampling error of the difference between correlated proportions.
Psychometrika 12. Efron and Tibshirani (1993), An Introduction to the Bootstrap.
Berg-Kirkpatrick, Burkett and Klein (2012), An empirical investigation of statistical
significance in NLP. EMNLP.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.core.randoms import integers, key, seed_from
from tacit.measure.classification import both_codes

__all__ = ["BootstrapDifference", "McNemar", "mcnemar", "paired_bootstrap"]

EXACT = 1000  # differing rows up to which the binomial test is used
CHUNK = 1 << 20  # resampled rows in memory at once


@dataclass(frozen=True)
class McNemar:
    """The result of ``mcnemar``."""

    only_first: int  # rows that the first got right and the second wrong
    only_second: int
    p_value: float  # of the two-sided test
    exact: bool  # by the binomial distribution; otherwise by chi-squared with continuity

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON values."""
        return dict(vars(self))

    def __str__(self) -> str:
        return (
            f"{self.only_first} rows only the first got right, {self.only_second} only the "
            f"second; p = {self.p_value:.4g}"
        )


@dataclass(frozen=True)
class BootstrapDifference:
    """The result of ``paired_bootstrap``: the first score less the second."""

    difference: float
    interval: tuple[float, float]  # 95%, by percentiles
    p_value: float  # two-sided: how often the sign changes
    draws: int

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON values."""
        return {**vars(self), "interval": list(self.interval)}

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.difference:+.4f} [{low:+.4f}, {high:+.4f}], p = {self.p_value:.4g}"


def mcnemar(y_true: Any, first: Any, second: Any) -> McNemar:
    """Test whether two classifiers err equally often on the same rows.

    Parameters
    ----------
    y_true, first, second : arrays of n_rows labels of any kind
        The classes, and the predictions of the two classifiers.

    Examples
    --------
    >>> right = [1] * 20
    >>> test = mcnemar(right, [1] * 18 + [0] * 2, [1] * 8 + [0] * 10 + [0, 1])
    >>> test.only_first, test.only_second, round(test.p_value, 4)
    (10, 1, 0.0117)
    """
    from scipy.stats import binom, chi2

    a, b = hits(y_true, first, second, "mcnemar")
    one, two = int((a & ~b).sum()), int((b & ~a).sum())
    n, low = one + two, min(one, two)
    if n <= EXACT:
        p = 1.0 if one == two else min(1.0, 2 * float(binom.cdf(low, n, 0.5)))
    else:
        p = float(chi2.sf(max(0, abs(one - two) - 1) ** 2 / n, 1))
    return McNemar(one, two, p, n <= EXACT)


def paired_bootstrap(
    y_true: Any,
    first: Any,
    second: Any,
    *,
    metric: str | Callable[[np.ndarray, np.ndarray], float] = "accuracy",
    draws: int = 10_000,
    random_state: Any = 0,
) -> BootstrapDifference:
    """The confidence interval of the difference of two classifiers, by resampling the rows.

    Parameters
    ----------
    y_true, first, second : arrays of n_rows labels of any kind
        The classes, and the predictions of the two classifiers.
    metric : "accuracy" or function of (y_true, y_pred)
        The score. A function is called twice for every sample.
    draws : int, number of bootstrap samples
    random_state : int, RandomState, Generator or None
        Seed of the samples.

    Examples
    --------
    >>> right = [1] * 20
    >>> test = paired_bootstrap(right, [1] * 18 + [0] * 2, [1] * 8 + [0] * 10 + [0, 1])
    >>> test.difference, test.p_value < 0.05
    (0.45, True)
    """
    if draws < 1:
        raise ValueError(f"paired_bootstrap(draws={draws}) needs at least one draw.")
    seed = seed_from(random_state)
    if callable(metric):
        hits(y_true, first, second, "paired_bootstrap")  # checks
        true, one, two = (np.asarray(labels) for labels in (y_true, first, second))
        observed = float(metric(true, one) - metric(true, two))
        samples = np.empty(draws)
        for i in range(draws):
            rows = integers(key(seed, i), len(true), len(true))
            samples[i] = metric(true[rows], one[rows]) - metric(true[rows], two[rows])
    elif metric == "accuracy":
        a, b = hits(y_true, first, second, "paired_bootstrap")
        gains = a.astype(np.float64) - b
        observed, samples = float(gains.mean()), resample_means(gains, draws, seed)
    else:
        raise ValueError(f"metric={metric!r} is unknown; give 'accuracy' or a function.")
    if not (np.isfinite(observed) and np.isfinite(samples).all()):
        worst = observed if not np.isfinite(observed) else samples[~np.isfinite(samples)][0]
        raise ValueError(
            f"paired_bootstrap: the metric gave a difference of {worst}. Give one that is a "
            "number for every sample of rows."
        )
    low, high = np.percentile(samples, [2.5, 97.5])
    # The data itself counts as one more sample.
    changed = min((samples <= 0).sum(), (samples >= 0).sum())
    p = min(1.0, 2 * (float(changed) + 1) / (draws + 1))
    return BootstrapDifference(observed, (float(low), float(high)), p, draws)


# --- Parts ---


def hits(y_true: Any, first: Any, second: Any, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Which rows each of the two predicts right."""
    a = both_codes(y_true, first, None, name)
    b = both_codes(y_true, second, None, name)
    return a[0] == a[1], b[0] == b[1]


def resample_means(gains: np.ndarray, draws: int, seed: Any) -> np.ndarray:
    n = len(gains)
    step = max(1, CHUNK // n)
    out = np.empty(draws)
    for start in range(0, draws, step):
        count = min(step, draws - start)
        rows = integers(key(seed, start), count * n, n)
        out[start : start + count] = gains[rows].reshape(count, n).mean(axis=1)
    return out
