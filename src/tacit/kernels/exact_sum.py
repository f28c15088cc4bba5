"""Sums of floats that do not depend on the order of the additions.

A number is cut at two grids, fixed beforehand from the size of the sum: v = hi + lo,
each an integer multiple of its grid, and what lies below the second grid is dropped. Sums of
such multiples are exact in float64, so they may be taken in any order, split over any
blocks, and rows may be taken out again: the bits are the same. Two cuts keep about as much
as one correctly rounded float64 sum.

Demmel and Nguyen (2013), Fast reproducible floating-point summation. ARITH 21.
"""

import math

import numpy as np

from tacit.core.kernel import kernel

__all__ = ["cut", "grids"]


def grids(total: float, terms: float) -> np.ndarray:
    """The two rounding constants for ``terms`` terms whose sizes add up to ``total``.

    Adding and subtracting 1.5 * 2^p rounds a float64 to a multiple of 2^(p - 52).

    >>> first, second = grids(total=1000.0, terms=100)
    >>> hi, lo = cut(0.1, first, second)
    >>> hi + lo == 0.1, hi == 0.1
    (True, False)
    """
    power = math.frexp(total if total > 0 else 1.0)[1] + 1
    remainder = max(terms, 1.0) * 2.0 ** (power - 53)  # at most half a step for each term
    second = math.frexp(remainder)[1] + 1
    return np.array([1.5 * 2.0**power, 1.5 * 2.0 ** max(second, -1000)])


# inline: LLVM must see it inside the caller's loop to vectorize. No fastmath, which would
# cancel (v + c) - c.
@kernel(inline="always")
def cut(v, first, second):
    """v as two parts, each a multiple of its grid."""
    hi = (v + first) - first
    lo = ((v - hi) + second) - second
    return hi, lo
