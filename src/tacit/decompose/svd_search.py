"""The two stages of a truncated SVD: search for the directions, then measure along them.

    search    block Lanczos on X'X (``krylov``); a table of few columns needs one pass, which
              sums X'X itself
    measure   one more pass: how long the rows are along the directions found

The last pass turns the directions by the little they still lack. Singular values then come
from X itself and not from its squares, in which values below a millionth of the largest
cannot be told from rounding.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh, svd

from tacit.core import moments as column_moments
from tacit.core.engines import Engine, one_blas_thread
from tacit.core.moments import Moments, MomentsParams
from tacit.core.progress import Callback, Step, notify
from tacit.data.table import Table, parts
from tacit.decompose import krylov
from tacit.decompose.gram_panels import project, slots, to_panels
from tacit.decompose.stripes import combine, nearby

__all__ = [
    "Directions",
    "Found",
    "check_scale",
    "measure",
    "project_block",
    "search",
    "search_narrow",
]

LARGEST = 1e290  # squared lengths past this, or under its inverse, are not to be had


class Directions(NamedTuple):
    """Where rows are projected to."""

    panels: np.ndarray
    number: int


class Found(NamedTuple):
    """What a search ends with."""

    rows: np.ndarray  # (k, d) orthonormal
    errors: np.ndarray  # (k,) |X'X v - value v|
    moments: Moments  # of the columns of X
    passes: int
    remainder: float  # see krylov.remainder


class Measured(NamedTuple):
    """Singular values, falling; their right vectors; variance and residual along each."""

    values: np.ndarray  # (k,)
    rows: np.ndarray  # (k, d)
    variances: np.ndarray  # (k,)
    residuals: np.ndarray  # (k,)


# --- Search ---


def search(
    table: Table,
    engine: Engine,
    *,
    n_components: int,
    width: int,
    passes: int,
    tol: float,
    seed: Any,
    callbacks: list[Callback],
) -> Found:
    """Block Lanczos until the remainder is at most ``tol``, or for ``passes`` passes."""
    near, kind = nearby(engine), vector_dtype(table)
    params = krylov.start(
        n_components, table.shape[1], seed, width=width, dtype=kind, engine=near
    )
    losses: list[float] = []
    moments, total = Moments.empty(0, full=False), 0.0
    done = stop = False
    cache = slots(table)
    while params.step < passes and not (done or stop):
        stats = engine.reduce(krylov.collect, krylov.light(params), table, cache)
        if params.step == 0:
            moments = stats.moments
            total = check_scale(krylov.squared_length(moments), table)
        params = krylov.update(params, stats, near)
        left = total - params.values.sum() / params.scale
        losses.append(max(0.0, left) / moments.weight)
        done = krylov.remainder(params) <= tol
        last = done or params.step == passes
        step = Step("TruncatedSVD", params.step, passes, losses, params, last)
        stop = notify(callbacks, step)
    errors = np.full(n_components, total)  # of vectors that no pass has tried: anything
    errors[: len(params.errors)] = params.errors / params.scale
    rows = krylov.leading(params, near)
    return Found(rows, errors, moments, params.step, krylov.remainder(params))


def search_narrow(table: Table, engine: Engine, n_components: int) -> Found:
    """All of X'X in one pass."""
    moments = engine.reduce(column_moments.collect, MomentsParams(full=True), table)
    columns = Moments(moments.weight, moments.mean, moments.variance_sum)
    check_scale(krylov.squared_length(columns), table)
    with one_blas_thread():
        values, vectors = krylov.eigenpairs(gram_of(moments), n_components)
    return Found(
        np.ascontiguousarray(vectors.T), np.zeros(len(values)), columns, passes=1, remainder=0.0
    )


def vector_dtype(table: Table) -> Any:
    """float32 for sparse rows in float32: half the memory to walk through at random."""
    small = table.dtype == np.float32 and sp.issparse(parts(table.blocks[0].load()).rows)
    return np.float32 if small else np.float64


def check_scale(total: float, table: Table) -> float:
    """The sum of all squares, if float64 holds it; raises where it does not."""
    if 1 / LARGEST < total < LARGEST:
        return total
    largest = 0.0
    for block in table:
        rows = parts(block.load()).rows
        values = rows.data if sp.issparse(rows) else rows
        largest = max(largest, float(np.abs(values).max(initial=0)))
    if largest == 0:
        return 0.0
    raise ValueError(
        f"TruncatedSVD: the largest value in the data is {largest:.3g}, and float64 does not "
        "hold the squares. Rescale the data, for example divide by that number."
    )


# --- Measure ---


def collect_projected(params: Directions, block: Any) -> Moments:
    """The moments of a block's rows along the directions."""
    return Moments.collect(project_block(params, block))


def project_block(params: Directions, block: Any) -> np.ndarray:
    """The rows of a block along the directions: (n, k) float64."""
    return project(parts(block).rows, params.panels, params.number)


def measure(found: Found, table: Table, engine: Engine) -> Measured:
    """One pass along the directions, and the small SVD that turns them into place.

    With Y the rows along the directions and D the lengths of its columns, Y'Y is D E W E' D:
    the singular values of Y are those of sqrt(W) E' D, each to its own digits, because the
    columns are nearly orthogonal.
    """
    near, kind = nearby(engine), vector_dtype(table)
    k, n, d = len(found.rows), *table.shape
    params = Directions(to_panels(found.rows, near), k)
    moments = engine.reduce(collect_projected, params, table)
    with one_blas_thread():
        square = gram_of(moments)
        lengths = np.sqrt(square.diagonal())
        nothing = max(n, d) * np.finfo(float).eps if kind == np.float64 else 1e-8
        lengths[lengths <= lengths.max() * nothing] = 0.0
        scale = np.divide(1.0, lengths, out=np.zeros(k), where=lengths > 0)
        weights, turns = eigh(square * scale * scale[:, None])
        factor = np.sqrt(np.maximum(weights, 0.0))[:, None] * turns.T * lengths
        _, values, turned = svd(factor)
        values[np.count_nonzero(lengths) :] = 0.0
        variances = np.einsum("ij,jk,ik->i", turned, moments.covariance, turned)
        rows = with_signs(combine(turned, (found.rows,), near))
    return Measured(
        values,
        rows,
        np.maximum(variances, 0.0),
        residuals(found.errors, values, kind),
    )


def gram_of(moments: Moments) -> np.ndarray:
    """X'X from the scatter about the mean."""
    return moments.scatter + moments.weight * np.outer(moments.mean, moments.mean)


def with_signs(rows: np.ndarray) -> np.ndarray:
    """Rows whose largest entry is positive. Among equals, rounding aside, the first counts."""
    sizes = np.abs(rows)
    places = (sizes >= (1 - 1e-6) * sizes.max(axis=1, keepdims=True)).argmax(axis=1)
    signs = np.sign(rows[np.arange(len(rows)), places])
    return rows * np.where(signs == 0, 1.0, signs)[:, None]


def residuals(errors: np.ndarray, values: np.ndarray, dtype: Any) -> np.ndarray:
    """|X'u - value v| for u = X v / value; rounding in X'X sets a floor to what can be said."""
    floor = krylov.NOISE[np.dtype(dtype).name] * values.max(initial=0.0) ** 2
    safe = np.maximum(values, np.sqrt(floor))
    return np.divide(np.maximum(errors, floor), safe, out=np.zeros_like(values), where=safe > 0)
