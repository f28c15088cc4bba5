"""Checks for values and distances that no model can use, reported with their place."""

import math
from typing import Any

import numpy as np
import scipy.sparse as sp

from tacit.core.errors import DataError

__all__ = ["check_distances", "check_scale", "check_values"]

LARGEST = 1e140  # a value whose squares can be added up
CHECK_ROWS = 256  # distances checked at once


def check_values(rows: Any, name: str, start: int = 0, source: str | None = None) -> None:
    """Raise for the first value that is not finite, with its row and column."""
    if sp.issparse(rows):
        bad = np.flatnonzero(~np.isfinite(rows.data))
        if not len(bad):
            return
        i = int(np.searchsorted(rows.indptr, bad[0], side="right")) - 1
        j, value = int(rows.indices[bad[0]]), rows.data[bad[0]]
    else:
        if np.isfinite(rows).all():
            return
        i, j = (int(at) for at in np.argwhere(~np.isfinite(rows))[0])
        value = rows[i, j]
    what = "NaN" if math.isnan(value) else "infinity (inf)"
    raise DataError(
        f"{name}: Input X contains {what}. Fill in or leave out such values first.",
        file=source,
        row=start + i,
        column=j,
    )


def check_scale(rows: Any, name: str) -> None:
    """Raise a ValueError where the squares would overflow or all underflow."""
    values = rows.data if sp.issparse(rows) else rows
    if not values.size:
        return
    largest = max(abs(float(values.max())), abs(float(values.min())))
    if largest > LARGEST or 0 < largest < 1 / LARGEST:
        raise ValueError(
            f"{name}: the largest value of X is {largest:.3g} in size; its square overflows or "
            "underflows. Rescale the columns first."
        )


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
