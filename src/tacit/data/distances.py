"""Matrices of distances that a caller gives: checked before anything computes with them."""

import numpy as np

from tacit.data.bad_values import check_values

__all__ = ["check_distances"]

CHECK_ROWS = 256  # checked at once


def check_distances(distances: np.ndarray, name: str, *, square: bool) -> None:
    """Raise for a value that is no distance; if ``square``, for a matrix without symmetry.

    ``name`` is that of the model, for the message.
    """
    n, m = distances.shape
    if square and n != m:
        raise ValueError(
            f"{name}(metric='precomputed') needs a square matrix of distances, but X has "
            f"shape {(n, m)}. Give one row and one column per item."
        )
    largest = 0.0
    for first in range(0, n, CHECK_ROWS):
        stripe = distances[first : first + CHECK_ROWS]
        check_values(stripe, name, first)
        if stripe.min(initial=0.0) < 0:
            i, j = np.argwhere(stripe < 0)[0]
            raise ValueError(
                f"{name}: Negative values in data: the distance in row {first + i}, column "
                f"{j} is {stripe[i, j]}. Distances are zero or more."
            )
        largest = max(largest, float(stripe.max(initial=0.0)))
    for first in range(0, n if square else 0, CHECK_ROWS):
        gap = np.abs(
            distances[first : first + CHECK_ROWS] - distances[:, first : first + CHECK_ROWS].T
        )
        if gap.max(initial=0.0) > 1e-6 * largest:
            i, j = np.unravel_index(gap.argmax(), gap.shape)
            raise ValueError(
                f"{name}(metric='precomputed') needs a symmetric matrix, but the distances "
                f"from {first + i} to {j} and back differ by {gap[i, j]:.3g}. Give "
                "(X + X.T) / 2."
            )
