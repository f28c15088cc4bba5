"""Block Lanczos: the leading singular values and vectors of rows, in a few passes.

    collect   X'X v for a block of vectors v, summed over the rows
    update    add the block to the basis; the part of X'X v outside the basis is the next block

The basis spans the Krylov space of a random block: X'X applied once, twice, three times, ...
The best approximations within it are the Ritz vectors, eigenvectors of X'X restricted to the
basis, and the residual r of each bounds its error: a singular value of X lies within r of it.
The loss, the part of |X|^2 that the first k components do not explain, never rises: the space
only grows, and a restart keeps its best vectors.

New blocks are orthogonalized against all of the basis. When the basis is full, it is reduced to
its best Ritz vectors (thick restart). A block without new directions, as for a matrix of low
rank, is completed with random vectors.

Golub and Underwood (1977), The block Lanczos method for computing eigenvalues.
Wu and Simon (2000), Thick-restart Lanczos method for large symmetric eigenvalue problems.
SIAM J. Matrix Anal. 22. Musco and Musco (2015), Randomized block Krylov methods for stronger
and faster approximate singular value decomposition. NeurIPS.
The notes' sections on smoothing word counts and on principal components.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import eigh

from tacit.core.engines import Engine, Serial, one_blas_thread
from tacit.core.moments import Moments
from tacit.core.randoms import key, normals
from tacit.core.stats import Stats
from tacit.data.table import parts
from tacit.decompose.gram_panels import (
    PANEL,
    ChunkCache,
    combine,
    from_panels,
    gram,
    inner,
    to_panels,
)

__all__ = [
    "KrylovParams", "KrylovStats", "block_width", "collect", "leading", "loss", "most_vectors",
    "relative_residual", "squared_length", "start", "update", "visible",
]  # fmt: skip

# Rounding errors relative to the largest eigenvalue, by the dtype of the vectors.
NOISE = {"float64": 1e-12, "float32": 1e-9}
RELIABLE = 1e-8  # squared lengths smaller than this times another are lost in their products
STRAY = 1e-11  # allowed loss of orthogonality to the basis; it triples with every step


class KrylovParams(NamedTuple):
    """The basis so far, and the block of vectors that the next pass multiplies."""

    n_components: int
    limit: int  # most vectors in the basis
    seed: np.uint64
    step: int  # passes made
    scale: float  # of X'X: a power of two that brings its trace near 1
    basis: tuple  # of arrays (m_i, d), all rows orthonormal
    restricted: np.ndarray  # (m, m) X'X restricted to the basis, scaled
    block: np.ndarray  # (p, d) the vectors of the next pass
    panels: np.ndarray  # the same as panels, for the kernels
    random: int  # vectors of the block that are random, for lack of new directions
    dropped: float  # squared length of the directions dropped so far
    values: np.ndarray  # (k,) the largest Ritz values; fewer at first
    errors: np.ndarray  # (k,) |X'X v - value v|, scaled likewise
    random_gain: float  # relative gain of the values by random vectors; infinite if untried
    moments: Moments  # of the columns of X, after the first pass
    center: np.ndarray | None = None  # (d,) subtracted from every row; X is what is left


@dataclass(frozen=True)
class KrylovStats(Stats):
    """The sums of a pass: the product with the block."""

    rows: int
    product: np.ndarray  # panels: X'X times the block
    moments: Moments  # of the columns in the first pass, else of no columns


# --- The algorithm: three pure functions ---


def start(
    n_components: int,
    columns: int,
    seed: Any,
    *,
    width: int,
    dtype: Any = np.float64,
    center: np.ndarray | None = None,
    engine: Engine | None = None,
) -> KrylovParams:
    """Params before the first pass: a random block of ``width`` vectors, a multiple of 16.

    The basis is in float64; ``dtype`` is that of the panels. With a ``center``, such as the
    mean, X is the rows less the center.
    """
    width = -(-width // PANEL) * PANEL
    block = normals(key(seed, 0), (width, columns))
    none = np.empty(0)
    limit = most_vectors(n_components, width) - width
    return KrylovParams(
        n_components, limit, np.uint64(seed), 0, 1.0, (), np.empty((0, 0)), block,
        to_panels(block, engine or Serial(), dtype), 0, 0.0, none, none, 0.0,
        Moments.empty(0, full=False), center,
    )  # fmt: skip


def collect(params: KrylovParams, block: Any, cache: ChunkCache | None = None) -> KrylovStats:
    """X'X v of a block of rows, for all vectors v."""
    rows, _, weights = parts(block)
    center = params.center
    moments = Moments.empty(0, full=False)
    if params.step == 0:
        moments = Moments.collect(rows, weights=weights, full=False)
        if center is not None:
            moments = Moments(moments.weight, moments.mean - center, moments.variance_sum)
    product = gram(rows, params.panels, cache, center=center, weights=weights)
    return KrylovStats(rows.shape[0], product, moments)


def update(
    params: KrylovParams, stats: KrylovStats, engine: Engine | None = None
) -> KrylovParams:
    """The next params. The algebra runs on ``engine``, with the same bits on any."""
    engine = engine or Serial()
    with one_blas_thread():
        if params.step == 0:
            total = squared_length(stats.moments)
            scale = 2.0 ** -math.frexp(total)[1] if total > 0 else 1.0
            params = params._replace(scale=scale, moments=stats.moments)
        residual = from_panels(stats.product, len(params.block), engine, scale=params.scale)
        if params.step == 0:  # the random block itself is no use in the basis
            square = inner((residual,), residual, engine)
            return advance(params, residual, square, square.diagonal().max(), engine)
        basis = (*params.basis, params.block)
        across = inner(basis, residual, engine)  # (m, p)
        residual = combine(across.T, basis, engine, less_from=residual)
        square = inner((residual,), residual, engine)
        before = params.values.sum()
        params = params._replace(basis=basis, restricted=bordered(params.restricted, across))
        params, vectors = with_errors(params, square)
        total = params.values.sum()
        gain = 0.0
        if params.random and total > 0:
            gain = max(0.0, (total - before) / total - noise_of(params))
        params = restarted(params._replace(random_gain=gain), vectors, engine)
        length = (np.einsum("ij,ij->j", across, across) + square.diagonal()).max()
        return advance(params, residual, square, length, engine)


def relative_residual(params: KrylovParams) -> float:
    """The relative residual of the Ritz vectors; 0 when it is below rounding errors.

    The root mean square of the residuals over their singular values. Where X'X gave no new
    directions: the gain by random vectors in the last pass, if that is larger. Infinite while
    there are too few vectors.
    """
    if len(params.values) < params.n_components:
        return np.inf
    noise = noise_of(params) * params.values[0]
    if not noise > 0:
        return params.random_gain
    ratios = np.maximum(params.errors - noise, 0.0) / np.maximum(params.values, noise)
    return max(params.random_gain, float(np.sqrt((ratios**2).mean())))


def loss(params: KrylovParams) -> float:
    """The part of |X|^2 that the components do not explain, per row."""
    left = squared_length(params.moments) - params.values.sum() / params.scale
    return float(max(0.0, left) / params.moments.weight)


def visible(params: KrylovParams) -> KrylovParams:
    """The params that ``collect`` reads: the basis need not travel."""
    return params._replace(basis=(), restricted=np.empty((0, 0)), block=np.empty((0, 0)))


def leading(params: KrylovParams, engine: Engine) -> np.ndarray:
    """The leading Ritz vectors, orthonormal rows (k, d).

    If there are too few, the next block and random vectors complete them.
    """
    k, basis = params.n_components, params.basis
    with one_blas_thread():
        rows = params.block[:k]
        if basis:
            rows = combine(eigenpairs(params.restricted, k)[1].T, basis, engine)
        if len(rows) < k:
            more = np.concatenate([params.block, draw(params.seed, -1, k, rows.shape[1])])
            known = (rows,) if basis else ()
            more = orthonormalized(known, more[: k - len(rows)] if basis else more[:k], engine)
            rows = np.concatenate([*known, more])
        overlap = inner((rows,), rows, engine)  # one step of Newton and Schulz: 1e-12 to 1e-24
        return combine(1.5 * np.eye(k) - 0.5 * overlap, (rows,), engine)


def block_width(k: int) -> int:
    """Vectors of a block: a panel for every 64 components."""
    return PANEL * -(-k // 64)


def most_vectors(n_components: int, width: int | None = None) -> int:
    """The most vectors of a basis and a block."""
    width = block_width(n_components) if width is None else width
    return 2 * n_components + 5 * -(-width // PANEL) * PANEL


def squared_length(moments: Moments) -> float:
    """The sum of all squares in X, from the moments of its columns."""
    return float((moments.variance_sum + moments.weight * moments.mean**2).sum())


# --- Parts of update ---


def noise_of(params: KrylovParams) -> float:
    return NOISE[params.panels.dtype.name]


def with_errors(params: KrylovParams, square: np.ndarray) -> tuple[KrylovParams, np.ndarray]:
    """The params with the Ritz values and their errors, and the Ritz vectors."""
    k, width = params.n_components, len(square)
    values, vectors = eigenpairs(params.restricted, k + width)
    tail = vectors[-width:, :k]  # only the last block's images leave the space
    errors = np.einsum("ij,ij->j", tail, square @ tail)
    errors = np.sqrt(np.maximum(errors, 0.0) + params.dropped)
    return params._replace(values=np.maximum(values[:k], 0.0), errors=errors), vectors


def eigenpairs(matrix: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The ``count`` largest eigenvalues, descending, and their vectors as columns."""
    m = len(matrix)
    values, vectors = eigh(matrix, subset_by_index=(max(0, m - count), m - 1))
    return values[::-1], vectors[:, ::-1]


def bordered(restricted: np.ndarray, across: np.ndarray) -> np.ndarray:
    """X'X restricted to the basis, with the rows and columns of the last block."""
    m, p = across.shape
    out = np.empty((m, m))
    out[: m - p, : m - p] = restricted
    out[:, m - p :] = across
    out[m - p :, : m - p] = across[: m - p].T
    corner = across[m - p :]
    out[m - p :, m - p :] = (corner + corner.T) / 2
    return out


def restarted(params: KrylovParams, vectors: np.ndarray, engine: Engine) -> KrylovParams:
    """The params with the basis reduced to its best vectors, if another block would not fit."""
    if len(params.restricted) + len(params.block) <= params.limit:
        return params
    restricted = np.diag(np.einsum("ij,ij->j", vectors, params.restricted @ vectors))
    basis = (combine(vectors.T, params.basis, engine),)
    return params._replace(basis=basis, restricted=restricted)


def advance(
    params: KrylovParams, residual: np.ndarray, square: np.ndarray, length: float,
    engine: Engine,
) -> KrylovParams:  # fmt: skip
    """The params with the directions of ``residual`` as the next block.

    ``square`` holds the products of its rows; ``length`` is the largest squared length of a
    row before the projection onto the basis was subtracted.
    """
    step, known = params.step + 1, len(params.values)
    noise = noise_of(params) * (params.values[0] if known else np.sqrt(length))
    block, dropped = directions(residual, square, noise**2, engine)
    random = len(residual) - len(block)
    gain = params.random_gain
    if random and not params.random:
        gain = np.inf  # there may be directions that the first block did not reach
    if random:
        block = np.concatenate([block, draw(params.seed, step, random, residual.shape[1])])
    inexact = square.diagonal().min() < RELIABLE * length
    if params.basis and not (random or inexact):
        # The sum of its rows shows whether the block is still orthogonal to the basis.
        products = inner(params.basis, block.sum(axis=0)[None], engine)
        inexact = np.abs(products).max() > STRAY
    if random or inexact:
        block = orthonormalized(params.basis, block, engine)
    return params._replace(
        step=step,
        block=block,
        panels=to_panels(block, engine, params.panels.dtype),
        random=random,
        random_gain=gain,
        dropped=params.dropped + dropped if known else 0.0,
    )


def directions(
    residual: np.ndarray, square: np.ndarray, floor: float, engine: Engine
) -> tuple[np.ndarray, float]:
    """Orthonormal rows that span the residual, and the squared length of what is dropped.

    The long directions come first. Inner products are inaccurate for directions of very
    different length, so the much shorter ones are treated again without those, down to
    ``floor``.
    """
    rows = [residual[:0]]
    while True:
        values, vectors = eigh(square)
        keep = values > max(floor, RELIABLE * values[-1])
        if keep.any():
            scaled = vectors[:, keep] / np.sqrt(values[keep])
            rows.append(combine(scaled.T, (residual,), engine))
        if keep.all() or not keep.any():
            return np.concatenate(rows), float(np.maximum(values[~keep], 0.0).sum())
        residual = combine(vectors[:, ~keep].T, (residual,), engine)
        square = inner((residual,), residual, engine)


def draw(seed: Any, step: int, count: int, columns: int) -> np.ndarray:
    """Random rows of about unit length."""
    return normals(key(seed, step), (count, columns)) / np.sqrt(columns)


def orthonormalized(basis: tuple, block: np.ndarray, engine: Engine) -> np.ndarray:
    """The block orthonormalized, also against the basis; twice is enough."""
    for _ in range(2):
        if basis:
            block = combine(inner(basis, block, engine).T, basis, engine, less_from=block)
        values, vectors = eigh(inner((block,), block, engine))
        block = combine((vectors / np.sqrt(values)).T, (block,), engine)
    return block
