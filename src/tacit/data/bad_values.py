"""Checks for values that no model can use, reported with their place."""

import math
from typing import Any

import numpy as np
import scipy.sparse as sp

from tacit.core.errors import DataError

__all__ = ["check_scale", "check_values"]

LARGEST = 1e140  # a value whose squares can be added up


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
