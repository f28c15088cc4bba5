"""Labels as the measures want them: whole numbers from 0, with the names they stand for."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

__all__ = ["Codes", "codes_of", "contingency", "two_labelings"]


class Codes(NamedTuple):
    """Labels numbered in the order of their sorted names."""

    codes: np.ndarray  # (n,) int32
    names: np.ndarray  # (k,)
    counts: np.ndarray  # (k,) int64, none of them zero


def codes_of(labels: Any, *, name: str, rows: int | None = None) -> Codes:
    """Number the labels from 0. ``rows`` is how many there must be.

    Examples
    --------
    >>> codes_of(["b", "a", "b"], name="example").codes
    array([1, 0, 1], dtype=int32)
    """
    array = np.asarray(labels)
    if array.ndim != 1:
        raise ValueError(
            f"{name} needs one label per row, but the labels have shape {array.shape}. "
            "Give a list or a one-dimensional array."
        )
    if rows is not None and len(array) != rows:
        raise ValueError(
            f"{name} got inconsistent numbers: {len(array)} labels for {rows} rows. Give one "
            "label per row."
        )
    if not len(array):
        raise ValueError(f"{name} got no labels: there is nothing to measure. Give some rows.")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        place = int(np.argmin(np.isfinite(array)))
        raise ValueError(
            f"{name}: the label of row {place} is {array[place]}. Leave such rows out."
        )
    if array.dtype.kind in "iu":
        low, high = int(array.min()), int(array.max())
        if high - low <= 4 * len(array) + 1000:  # counting beats sorting
            return counted(array, low, high)
    try:
        names, codes, counts = np.unique(array, return_inverse=True, return_counts=True)
    except TypeError:
        raise TypeError(
            f"{name}: the labels are of types that cannot be compared with each other. Make "
            "all of them strings or all of them integers."
        ) from None
    return Codes(codes.astype(np.int32), names, counts.astype(np.int64))


def counted(array: np.ndarray, low: int, high: int) -> Codes:
    if array.dtype.kind == "i":  # of int8, the distances from the lowest may not fit
        array = array.astype(np.int64, copy=False)
    offsets = (array - array.dtype.type(low)).astype(np.int64, copy=False)
    counts = np.bincount(offsets, minlength=high - low + 1)
    used = np.flatnonzero(counts)
    if len(used) == len(counts):
        codes = offsets.astype(np.int32)
    else:
        place = np.zeros(len(counts), np.int32)
        place[used] = np.arange(len(used), dtype=np.int32)
        codes = place[offsets]
    return Codes(codes, (used + low).astype(array.dtype), counts[used].astype(np.int64))


def two_labelings(labels_true: Any, labels_pred: Any, *, name: str) -> tuple[Codes, Codes]:
    """Both labelings numbered; ValueError unless they are of the same rows."""
    true = codes_of(labels_true, name=name)
    return true, codes_of(labels_pred, name=name, rows=len(true.codes))


def contingency(true: Codes, pred: Codes) -> sp.csr_array:
    """How many rows have each pair of labels: (classes, clusters), nonzeros only.

    Examples
    --------
    >>> a, b = two_labelings(["x", "x", "y"], [0, 1, 1], name="example")
    >>> contingency(a, b).toarray()
    array([[1, 1],
           [0, 1]])
    """
    width = len(pred.names)
    if len(true.names) * width <= 4 * len(true.codes) + 1000:
        cells = true.codes.astype(np.int64) * width + pred.codes
        table = np.bincount(cells, minlength=len(true.names) * width)
        return sp.csr_array(table.reshape(-1, width))
    ones = np.ones(len(true.codes), np.int64)
    shape = (len(true.names), width)
    return sp.csr_array(sp.coo_array((ones, (true.codes, pred.codes)), shape=shape))
