"""Sparse matrices whose indices lead outside of them.

SciPy builds such a matrix without a word and follows its indices blindly, as kernels do: one
wrong index ends the process. Every function that takes a sparse matrix checks it first.
"""

from typing import Any

import numpy as np

__all__ = ["check_structure"]


def check_structure(X: Any, name: str, argument: str = "X") -> None:
    """ValueError for a sparse matrix whose indices lead outside of it.

    >>> from scipy.sparse import csr_array
    >>> check_structure(csr_array(np.eye(3)), "KMeans")
    """
    check = CHECKS.get(X.format)  # SciPy checks DOK itself
    if check is not None and not check(X):
        raise ValueError(
            f"{name}: {argument} is an inconsistent sparse matrix: its indices lead outside "
            f"its shape {X.shape}. Build it again, or see check_format()."
        )


def compressed_is_sound(X: Any) -> bool:
    """CSR, CSC and BSR: the indices of row i are ``indices[indptr[i]:indptr[i + 1]]``."""
    sizes = X.shape
    if X.format == "bsr":
        if getattr(X.data, "ndim", 0) != 3:
            return False
        sizes = [n // max(1, of) for n, of in zip(X.shape, X.data.shape[1:], strict=True)]
    major, minor = sizes[::-1] if X.format == "csc" else sizes
    indices, indptr = X.indices, X.indptr
    if not (are_indices(indices) and are_indices(indptr) and isinstance(X.data, np.ndarray)):
        return False
    return (
        X.data.ndim == (3 if X.format == "bsr" else 1)
        and len(indptr) == major + 1
        and indptr[0] == 0
        and indptr[-1] <= min(len(indices), len(X.data))
        and bool((indptr[1:] >= indptr[:-1]).all())
        and lie_below(indices, minor)
    )


def coordinates_are_sound(X: Any) -> bool:
    """COO: one index for each axis and value."""
    pairs = list(zip(X.coords, X.shape, strict=True))
    return all(
        are_indices(indices) and len(indices) == len(X.data) and lie_below(indices, size)
        for indices, size in pairs
    )


def lists_are_sound(X: Any) -> bool:
    """LIL: for every row, a list of columns and one of values."""
    if not X.rows.shape == X.data.shape == X.shape[:1]:
        return False
    pairs = zip(X.rows, X.data, strict=True)
    return all(len(columns) == len(values) for columns, values in pairs) and all(
        min(columns) >= 0 and max(columns) < X.shape[1] for columns in X.rows if columns
    )


def diagonals_are_sound(X: Any) -> bool:
    """DIA: an offset for every diagonal."""
    return (
        are_indices(X.offsets)
        and getattr(X.data, "ndim", 0) == 2
        and len(X.offsets) == len(X.data)
    )


CHECKS = {
    **dict.fromkeys(("csr", "csc", "bsr"), compressed_is_sound),
    "coo": coordinates_are_sound,
    "lil": lists_are_sound,
    "dia": diagonals_are_sound,
}


def are_indices(values: Any) -> bool:
    return isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind in "iu"


def lie_below(indices: np.ndarray, size: int) -> bool:
    return not len(indices) or bool(indices.min() >= 0 and indices.max() < size)
