"""How much to subtract from counts, to leave probability for unseen n-grams.

A discount is a number per count: ``discounts[c]`` for n-grams seen c times, the last entry for
all larger counts. Each rule estimates them from how many n-grams were seen once, twice, ...
On small or odd texts these numbers may be zero or give discounts out of range; then the
``FALLBACK`` of the rule is used, and ``estimated`` is False.

Good (1953), The population frequencies of species. Biometrika 40.
Katz (1987), Estimation of probabilities from sparse data. IEEE ASSP 35.
Ney, Essen and Kneser (1994), On structuring probabilistic dependences in stochastic language
modelling. Computer Speech and Language 8.
Chen and Goodman (1998), An empirical study of smoothing techniques for language modeling.
"""

from typing import NamedTuple

import numpy as np

from tacit.core.disk_array import release

__all__ = ["FALLBACK", "Discounts", "absolute_discount", "good_turing", "modified_discounts"]

SPAN = 1 << 20  # counts at a time
KATZ_MOST = 5  # higher counts are not discounted
FALLBACK = {
    "absolute": (0.5,),
    "modified": (0.5, 1.0, 1.5),
    "katz": tuple(0.5 for _ in range(KATZ_MOST)),
}


class Discounts(NamedTuple):
    """What to subtract from counts of 0, 1, 2, ...; and whether it could be estimated."""

    values: np.ndarray  # float64
    estimated: bool = True


def counts_of_counts(counts: np.ndarray, most: int) -> np.ndarray:
    """How many n-grams were seen once, twice, ... ``most`` times; index 0 is unused."""
    n = np.zeros(most + 2)
    for i in range(0, len(counts), SPAN):
        part = counts[i : i + SPAN]
        n += np.bincount(np.minimum(part, most + 1), minlength=most + 2)
        release(part)
    return n[: most + 1]


def absolute_discount(counts: np.ndarray) -> Discounts:
    """One discount for all, n1 / (n1 + 2 n2).

    >>> absolute_discount(np.array([1, 1, 1, 2, 5])).values
    array([0. , 0.6])
    """
    n = counts_of_counts(counts, 2)
    if n[1] == 0 or n[2] == 0:
        return Discounts(np.array([0.0, *FALLBACK["absolute"]]), estimated=False)
    return Discounts(np.array([0.0, n[1] / (n[1] + 2 * n[2])]))


def modified_discounts(counts: np.ndarray) -> Discounts:
    """Three discounts, for counts of 1, 2, and 3 or more.

    >>> modified_discounts(np.repeat([1, 2, 3, 4], [40, 20, 10, 6])).values
    array([0.  , 0.5 , 1.25, 1.8 ])
    >>> modified_discounts(np.array([1, 1, 7]))
    Discounts(values=array([0. , 0.5, 1. , 1.5]), estimated=False)
    """
    n = counts_of_counts(counts, 4)
    if (n[1:] > 0).all():
        y = n[1] / (n[1] + 2 * n[2])
        values = np.array([k - (k + 1) * y * n[k + 1] / n[k] for k in (1, 2, 3)])
        if ((values >= 0) & (values <= (1, 2, 3))).all():
            return Discounts(np.array([0.0, *values]))
    return Discounts(np.array([0.0, *FALLBACK["modified"]]), estimated=False)


def good_turing(counts: np.ndarray) -> Discounts:
    """Good-Turing's for counts of up to five, scaled so that they add up to n1.

    >>> good_turing(np.repeat([1, 2, 3, 4, 5, 6], [120, 40, 20, 12, 8, 5])).values.round(3)
    array([0.   , 0.444, 0.667, 0.8  , 0.889, 1.667, 0.   ])
    """
    n = counts_of_counts(counts, KATZ_MOST + 1)
    r = np.arange(1, KATZ_MOST + 1)
    if (n[1:] > 0).all():
        tail = (KATZ_MOST + 1) * n[KATZ_MOST + 1] / n[1]
        ratio = ((r + 1) * n[2:] / (r * n[1:-1]) - tail) / (1 - tail) if tail != 1 else r * 0.0
        if ((ratio > 0) & (ratio <= 1)).all():
            return Discounts(np.array([0.0, *(r * (1 - ratio)), 0.0]))
    return Discounts(np.array([0.0, *FALLBACK["katz"], 0.0]), estimated=False)
