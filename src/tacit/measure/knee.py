"""The knee of a falling curve: where one more cluster or component stops paying."""

import numpy as np

__all__ = ["knee_of"]

FLAT = 0.05  # how far below the straight line a knee must be, of the whole fall


def knee_of(values: np.ndarray, ks: np.ndarray) -> int | None:
    """Where the curve is farthest below the line between its ends; None where it is not.

    >>> knee_of(np.array([10.0, 4.0, 1.0, 0.8, 0.6]), np.arange(1, 6))
    3
    >>> knee_of(np.array([4.0, 3.0, 2.0, 1.0]), np.arange(1, 5)) is None
    True
    """
    fall = values[0] - values[-1]
    if len(values) < 3 or not fall > 0:
        return None
    line = values[0] - fall * (ks - ks[0]) / (ks[-1] - ks[0])
    below = (line - values) / fall
    place = int(np.argmax(below))
    return int(ks[place]) if below[place] > FLAT else None
