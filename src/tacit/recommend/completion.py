"""Completion: fill the gaps of a matrix so that its rank is low, or say that this cannot be.

The known entries are fitted by a product A B of rank r: alternating least squares from several
starts, then Gauss-Newton steps, in float64. If the fit is exact, the gaps are filled by A B. A
gap is *determined* if no small change of A and B keeps the known entries and changes it: its
derivative lies in the span of theirs. If there is no exact fit of rank 1, the smallest
contradiction is named: four known entries whose determinant is not 0.

The notes' examples 9.2.5 and 9.2.6 of 000. Candès and Recht (2009), Exact matrix completion via
convex optimization. Foundations of Computational Mathematics 9.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from tacit.core.randoms import key, normals, seed_from

__all__ = ["Completion", "complete"]

STARTS = 12
ROUNDS = 60  # of alternating least squares, before Gauss-Newton
LARGEST = 250_000  # cells
CHECKED = 2000  # largest size of A and B for the test of determined entries
POLISHED = 20_000_000  # most derivatives for Gauss-Newton steps
EXACT = 1e-8  # relative error of known entries that counts as none


@dataclass(frozen=True)
class Completion:
    """A matrix without gaps, and how far it can be trusted."""

    matrix: np.ndarray  # known entries as they are if ``possible``, else the best fit
    rank: int
    possible: bool  # whether the known entries have an exact fit of this rank
    rmse: float  # on the known entries
    determined: np.ndarray  # whether an entry is known to have one value only
    reason: str

    def __str__(self) -> str:
        return self.reason

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            **vars(self),
            "matrix": self.matrix.tolist(),
            "determined": self.determined.tolist(),
        }


def complete(matrix: Any, rank: int = 1, *, random_state: Any = 0) -> Completion:
    """Fill the gaps (NaN) of a matrix so that it has the given rank.

    Parameters
    ----------
    matrix : (m, n) array with NaN where an entry is unknown
        Up to 250,000 cells; for ratings of many users use ``ALS``.
    rank : int
    random_state : int
        Seed of the starts.

    Examples
    --------
    >>> from tacit.recommend import complete
    >>> gap = np.nan
    >>> result = complete([[1, 2], [3, gap]])
    >>> result.matrix.tolist(), result.possible
    ([[1.0, 2.0], [3.0, 6.0]], True)
    >>> print(complete([[1, 1, gap], [1, 7, gap]]))
    Rank 1 is impossible: the known entries of rows 0, 1 and columns 0, 1 have determinant 6.
    """
    M = np.array(matrix, np.float64)
    if M.ndim != 2 or not M.size:
        raise ValueError(f"complete needs a matrix, but got shape {M.shape}.")
    if M.size > LARGEST:
        raise ValueError(
            f"complete takes up to {LARGEST:,} cells, but the matrix has {M.size:,}. Use ALS."
        )
    if not isinstance(rank, int | np.integer) or not 1 <= rank <= min(M.shape):
        raise ValueError(
            f"complete(rank={rank!r}) must lie between 1 and {min(M.shape)}, the smaller side."
        )
    if np.isinf(M).any():
        raise ValueError("complete: an entry is infinite. Mark unknown entries by NaN.")
    known = ~np.isnan(M)
    if not known.any():
        raise ValueError("complete: no entry is known.")
    scale = float(np.abs(M[known]).max()) or 1.0
    A, B = best_start(M / scale, known, rank, seed_from(random_state))
    filled = scale * (A @ B)
    rmse = float(np.sqrt(np.mean((filled - M)[known] ** 2)))
    possible = rmse <= EXACT * scale
    checked = A.size + B.size <= CHECKED
    determined = known
    if possible:
        filled = np.where(known, M, tidy(filled, scale))
        determined = known | entries_determined(A, B, known) if checked else known
    why = reason(M, known, determined, rank, possible, rmse, checked)
    return Completion(filled, int(rank), possible, rmse, determined, why)


def best_start(
    M: np.ndarray, known: np.ndarray, rank: int, seed: np.uint64
) -> tuple[np.ndarray, np.ndarray]:
    """The best of several runs; the first exact fit ends the search."""
    best, least = None, np.inf
    for number in range(STARTS):
        B = normals(key(seed, number), (rank, M.shape[1])) + (number == 0)
        A, B = alternate(M, known, B)
        A, B = gauss_newton(M, known, A, B)
        error = float(np.sqrt(np.mean((A @ B - M)[known] ** 2)))
        if error < least:
            best, least = (A, B), error
        if least <= 0.1 * EXACT:
            break
    assert best is not None
    return best


def alternate(M: np.ndarray, known: np.ndarray, B: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Alternating least squares with a penalty that vanishes."""
    rank = len(B)
    A = np.zeros((len(M), rank))
    for number in range(ROUNDS):
        penalty = 0.1 * 0.7**number * np.eye(rank)
        for i, row in enumerate(known):
            C = B[:, row]
            A[i] = np.linalg.lstsq(C @ C.T + penalty, C @ M[i, row], rcond=None)[0]
        for j, column in enumerate(known.T):
            C = A[column]
            B[:, j] = np.linalg.lstsq(C.T @ C + penalty, C.T @ M[column, j], rcond=None)[0]
    return A, B


def gauss_newton(
    M: np.ndarray, known: np.ndarray, A: np.ndarray, B: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Polish a fit by Levenberg-Marquardt."""
    from scipy.optimize import least_squares

    rank, (i, j) = A.shape[1], np.nonzero(known)
    if len(i) * (A.size + B.size) > POLISHED:
        return A, B

    def split(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return x[: A.size].reshape(A.shape), x[A.size :].reshape(B.shape)

    def residuals(x: np.ndarray) -> np.ndarray:
        a, b = split(x)
        return np.einsum("ti,it->t", a[i], b[:, j]) - M[i, j]

    result = least_squares(
        residuals, np.concatenate([A.ravel(), B.ravel()]),
        jac=lambda x: jacobian(*split(x), i, j).toarray(), xtol=1e-15, ftol=1e-15, gtol=1e-15,
        max_nfev=50 * rank,
    )  # fmt: skip
    return split(result.x)


def jacobian(A: np.ndarray, B: np.ndarray, i: np.ndarray, j: np.ndarray) -> sp.csr_array:
    """Derivatives of the entries (i, j) of A B by the entries of A and B: 2 rank to a row."""
    factors = np.arange(A.shape[1])
    by_a = i[:, None] * A.shape[1] + factors
    by_b = A.size + factors * B.shape[1] + j[:, None]
    columns = np.concatenate([by_a, by_b], axis=1)
    values = np.concatenate([B[:, j].T, A[i]], axis=1)
    ends = np.arange(0, columns.size + 1, columns.shape[1])
    return sp.csr_array(
        (values.ravel(), columns.ravel(), ends), shape=(len(i), A.size + B.size)
    )


def entries_determined(A: np.ndarray, B: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Which entries cannot change while the known ones stay."""
    J = jacobian(A, B, *np.nonzero(known))
    values, vectors = np.linalg.eigh((J.T @ J).toarray())
    free = vectors[:, values <= 1e-13 * max(values[-1], 1e-300)]  # changes without effect
    columns = np.arange(known.shape[1])
    moves = np.zeros(known.shape)
    for row in range(len(known)):
        derivatives = jacobian(A, B, np.full_like(columns, row), columns)
        moves[row] = np.abs(derivatives @ free).max(axis=1, initial=0.0)
    largest = np.sqrt((A**2).sum(axis=1).max() + (B**2).sum(axis=0).max())
    return moves <= 1e-5 * max(1.0, largest)


def tidy(values: np.ndarray, scale: float) -> np.ndarray:
    """Integers where the values are integers up to rounding."""
    integers = np.rint(values)
    return np.where(np.abs(values - integers) <= 1e-9 * scale, integers, values) + 0.0


def reason(
    M: np.ndarray, known: np.ndarray, determined: np.ndarray, rank: int, possible: bool,
    rmse: float, checked: bool,
) -> str:  # fmt: skip
    if not possible:
        witness = contradiction(M, known) if rank == 1 else None
        if witness is not None:
            (i, k), (j, h), value = witness
            return (
                f"Rank {rank} is impossible: the known entries of rows {i}, {k} and columns "
                f"{j}, {h} have determinant {value:g}."
            )
        return (
            f"No matrix of rank {rank} was found: the best of {STARTS} starts misses the known "
            f"entries by {rmse:.3g}, root mean square. Raise the rank."
        )
    if not checked:
        return (
            f"Filled at rank {rank}. Whether other values have this rank too was not checked, "
            f"since the factors have more than {CHECKED:,} numbers."
        )
    open_entries = int((~determined).sum())
    if open_entries:
        return (
            f"Filled at rank {rank}, but {open_entries:,} of {int((~known).sum()):,} gaps are "
            "not determined by the known entries: other values have this rank too."
        )
    return f"Filled at rank {rank}; the known entries determine every gap."


def contradiction(
    M: np.ndarray, known: np.ndarray
) -> tuple[tuple[int, int], tuple[int, int], float] | None:
    """Two rows and two columns, all four entries known, whose determinant is not 0."""
    scale = float(np.abs(M[known]).max()) or 1.0
    for i in range(len(M)):
        for k in range(i + 1, len(M)):
            both = np.flatnonzero(known[i] & known[k])
            if len(both) < 2:
                continue
            minors = np.outer(M[i, both], M[k, both])
            minors = minors - minors.T
            place = np.unravel_index(np.argmax(np.abs(minors)), minors.shape)
            if abs(minors[place]) > EXACT * scale**2:
                j, h = sorted(both[list(place)].tolist())
                return (i, k), (j, h), float(M[i, j] * M[k, h] - M[i, h] * M[k, j])
    return None
