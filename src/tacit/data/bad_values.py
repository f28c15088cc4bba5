"""Values that no model can use, and where they are."""

import math
from typing import Any

import numpy as np
import scipy.sparse as sp

from tacit.core.errors import DataError

__all__ = ["check_values"]


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
