"""Labels as integers: encoded, counted, compared, numbered by cluster size."""

import warnings
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import UndefinedMetricWarning

__all__ = [
    "Codes", "by_size", "check_two_clusters", "codes_of", "contingency", "two_labelings",
    "warn_undefined",
]  # fmt: skip


class Codes(NamedTuple):
    """Labels as integers from 0, in the order of their sorted names."""

    codes: np.ndarray  # (n,) int32
    names: np.ndarray  # (k,)
    counts: np.ndarray  # (k,) int64, none of them zero


def codes_of(labels: Any, *, name: str, rows: int | None = None) -> Codes:
    """Encode the labels as integers from 0. ``rows`` is the required number of labels.

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
        row = int(np.argmin(np.isfinite(array)))
        raise ValueError(
            f"{name}: the label of row {row} is {array[row]}. Leave such rows out."
        )
    if array.dtype.kind in "iu":
        low, high = int(array.min()), int(array.max())
        if high - low <= 4 * len(array) + 1000:  # counting is faster than sorting
            return count_codes(array, low, high)
    try:
        names, codes, counts = np.unique(array, return_inverse=True, return_counts=True)
    except TypeError:
        raise TypeError(
            f"{name}: the labels are of types that cannot be compared with each other. Make "
            "all of them strings or all of them integers."
        ) from None
    return Codes(codes.astype(np.int32), names, counts.astype(np.int64))


def count_codes(array: np.ndarray, low: int, high: int) -> Codes:
    dtype = array.dtype
    if dtype.kind == "i":  # differences of int8 may not fit int8
        array = array.astype(np.int64, copy=False)
    offsets = (array - array.dtype.type(low)).astype(np.int64, copy=False)
    counts = np.bincount(offsets, minlength=high - low + 1)
    used = np.flatnonzero(counts)
    code = np.cumsum(counts > 0, dtype=np.int32) - np.int32(1)
    return Codes(code[offsets], used.astype(dtype) + dtype.type(low), counts[used])


def check_two_clusters(codes: Codes, name: str) -> None:
    """ValueError unless there are two clusters to compare."""
    if len(codes.counts) < 2:
        raise ValueError(
            f"{name} compares clusters, but the Number of labels is 1. Give labels with at "
            "least 2 clusters."
        )


def warn_undefined(name: str, why: str, stacklevel: int = 3) -> float:
    """0.0, with a warning that the score is not defined."""
    warnings.warn(
        f"{name} is 0.0 where {why}: there is nothing to compare.",
        UndefinedMetricWarning,
        stacklevel=stacklevel,
    )
    return 0.0


def two_labelings(labels_true: Any, labels_pred: Any, *, name: str) -> tuple[Codes, Codes]:
    """Both labelings encoded; ValueError unless they have as many rows."""
    true = codes_of(labels_true, name=name)
    return true, codes_of(labels_pred, name=name, rows=len(true.codes))


def contingency(true: Codes, pred: Codes) -> sp.csr_array:
    """How many rows have each pair of labels: (classes, clusters), nonzeros only.

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


def by_size(labels: np.ndarray) -> np.ndarray:
    """The same clusters, numbered by size, then by first member: equal clusterings get
    equal numbers, whichever method they come from.

    >>> by_size(np.array([7, 3, 3, 5]))
    array([1, 0, 0, 2], dtype=int32)
    """
    _, first, clusters, sizes = np.unique(
        labels, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.lexsort([first, -sizes])
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order))
    return rank[clusters]
