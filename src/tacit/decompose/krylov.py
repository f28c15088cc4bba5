"""Block Lanczos: the leading singular values and vectors of rows, in a few passes.

    collect   X'X v for a block of vectors v: every row is read once and added in
    update    take the block into the basis; what X'X adds to the space is the next block

The basis spans what X'X makes of a random block in one, two, three, ... passes. The best
approximations within it are the eigenvectors of X'X seen from the basis (Rayleigh and Ritz),
and the residual of each says how exact it is: a singular value of X lies within r of the one
found. The loss, what the first k leave of |X|^2, never rises: a space that grows can only
hold more, and a restart keeps the best.

New blocks are made orthogonal to the whole basis. When it is full, it shrinks to its best
vectors and goes on (thick restart). A block without new directions, as for a matrix of low
rank, is filled up with random ones.

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
from tacit.decompose.gram_panels import PANEL, Memory, from_panels, gram, to_panels
from tacit.decompose.stripes import combine, inner

__all__ = [
    "KrylovParams",
    "KrylovStats",
    "collect",
    "leading",
    "light",
    "remainder",
    "room_for",
    "squared_length",
    "start",
    "update",
]

NOISE = {"float64": 1e-12, "float32": 1e-9}  # of the largest eigenvalue: what rounding leaves
# where nothing should be, by the dtype of the vectors
SOUND = 1e-8  # a squared length below this share of another is not known from their products
STRAY = 1e-11  # how far from orthogonal to the basis a block may be; it triples with every step


class KrylovParams(NamedTuple):
    """The directions that the next pass multiplies."""

    n_components: int
    limit: int  # vectors in the basis, at most
    seed: np.uint64
    step: int  # passes made
    scale: float  # of X'X: a power of two that brings its trace near 1
    basis: tuple  # of arrays (m_i, d), all rows orthonormal
    seen: np.ndarray  # (m, m) X'X, scaled, from the basis
    block: np.ndarray  # (p, d) what the next pass multiplies
    panels: np.ndarray  # the same for the kernels
    drawn: int  # how many of the block are random, for want of directions
    slack: float  # squared length of the directions dropped so far
    values: np.ndarray  # (k,) its largest eigenvalues found; fewer at first
    errors: np.ndarray  # (k,) |X'X v - value v|, scaled likewise
    surprise: float  # share of their sum that random vectors brought; infinite if untried


@dataclass(frozen=True)
class KrylovStats(Stats):
    """What a pass collects: the product with these directions."""

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
    engine: Engine | None = None,
) -> KrylovParams:
    """Params before the first pass: a random block of ``width`` vectors, a multiple of 16.

    The basis is in float64; ``dtype`` is that in which blocks are handed to the passes.
    """
    width = -(-width // PANEL) * PANEL
    block = normals(key(seed, 0), (width, columns))
    none = np.empty(0)
    limit = room_for(n_components, width) - width
    return KrylovParams(
        n_components, limit, np.uint64(seed), 0, 1.0, (), np.empty((0, 0)), block,
        to_panels(block, engine or Serial(), dtype), 0, 0.0, none, none, 0.0,
    )  # fmt: skip


def collect(params: KrylovParams, block: Any, cache: Memory | None = None) -> KrylovStats:
    """Multiply a block's rows with the directions, and back."""
    rows = parts(block).rows
    moments = Moments.empty(0, full=False)
    if params.step == 0:
        moments = Moments.collect(rows, full=False)
    return KrylovStats(rows.shape[0], gram(rows, params.panels, cache), moments)


def update(
    params: KrylovParams, stats: KrylovStats, engine: Engine | None = None
) -> KrylovParams:
    """``engine`` is where the algebra runs: it changes the time, never a bit."""
    engine = engine or Serial()
    with one_blas_thread():
        if params.step == 0:
            params = params._replace(scale=scale_for(squared_length(stats.moments)))
        rest = from_panels(stats.product, len(params.block), engine, scale=params.scale)
        if params.step == 0:  # X'X has more to say than chance: the random block is not kept
            square = inner((rest,), rest, engine)
            return advance(params, rest, square, square.diagonal().max(), engine)
        basis = (*params.basis, params.block)
        across = inner(basis, rest, engine)  # (m, p)
        rest = combine(across.T, basis, engine, less_from=rest)
        square = inner((rest,), rest, engine)
        before = params.values.sum()
        params = params._replace(basis=basis, seen=bordered(params.seen, across))
        params, vectors = measured(params, square)
        total = params.values.sum()
        news = 0.0
        if params.drawn and total > 0:
            news = max(0.0, (total - before) / total - noise_of(params))
        params = restarted(params._replace(surprise=news), vectors, engine)
        length = (np.einsum("ij,ij->j", across, across) + square.diagonal()).max()
        return advance(params, rest, square, length, engine)


def remainder(params: KrylovParams) -> float:
    """How far the vectors found are from being exact; 0 when rounding hides the rest.

    The root mean square of the residuals over their singular values. Where X'X gave no new
    directions before: what random ones brought in the last pass, if that is more. Infinite
    while there are too few vectors.
    """
    if len(params.values) < params.n_components:
        return np.inf
    noise = noise_of(params) * params.values[0]
    if not noise > 0:
        return params.surprise
    shares = np.maximum(params.errors - noise, 0.0) / np.maximum(params.values, noise)
    return max(params.surprise, float(np.sqrt((shares**2).mean())))


def light(params: KrylovParams) -> KrylovParams:
    """The params without what ``collect`` does not read: a basis need not travel."""
    return params._replace(basis=(), seen=np.empty((0, 0)), block=np.empty((0, 0)))


def leading(params: KrylovParams, engine: Engine) -> np.ndarray:
    """The leading right singular vectors found, orthonormal rows (k, d).

    A search that was cut short fills them up: with its next block, then at random.
    """
    k, basis = params.n_components, params.basis
    with one_blas_thread():
        rows = params.block[:k]
        if basis:
            rows = combine(eigenpairs(params.seen, k)[1].T, basis, engine)
        if len(rows) < k:
            more = np.concatenate([params.block, draw(params.seed, -1, k, rows.shape[1])])
            known = (rows,) if basis else ()
            more = cleaned(known, more[: k - len(rows)] if basis else more[:k], engine)
            rows = np.concatenate([*known, more])
        overlap = inner((rows,), rows, engine)  # one step of Newton and Schulz: 1e-12 to 1e-24
        return combine(1.5 * np.eye(k) - 0.5 * overlap, (rows,), engine)


def room_for(n_components: int, width: int) -> int:
    """How many vectors a search holds at most: a basis and a block."""
    return 2 * n_components + 5 * -(-width // PANEL) * PANEL


def squared_length(moments: Moments) -> float:
    """The sum of all squares in X, from the moments of its columns."""
    return float((moments.variance_sum + moments.weight * moments.mean**2).sum())


# --- Their parts ---


def noise_of(params: KrylovParams) -> float:
    return NOISE[params.panels.dtype.name]


def scale_for(total: float) -> float:
    return 2.0 ** -math.frexp(total)[1] if total > 0 else 1.0


def measured(params: KrylovParams, square: np.ndarray) -> tuple[KrylovParams, np.ndarray]:
    """The params with the eigenvalues found and their errors; and the eigenvectors."""
    k, width = params.n_components, len(square)
    values, vectors = eigenpairs(params.seen, k + width)
    tail = vectors[-width:, :k]  # only the last block's images leave the space
    errors = np.einsum("ij,ij->j", tail, square @ tail)
    errors = np.sqrt(np.maximum(errors, 0.0) + params.slack)
    return params._replace(values=np.maximum(values[:k], 0.0), errors=errors), vectors


def eigenpairs(matrix: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The ``count`` largest eigenvalues, falling, and their vectors as columns."""
    m = len(matrix)
    values, vectors = eigh(matrix, subset_by_index=(max(0, m - count), m - 1))
    return values[::-1], vectors[:, ::-1]


def bordered(seen: np.ndarray, across: np.ndarray) -> np.ndarray:
    """X'X from the basis, with the last block's rows and columns added."""
    m, p = across.shape
    out = np.empty((m, m))
    out[: m - p, : m - p] = seen
    out[:, m - p :] = across
    out[m - p :, : m - p] = across[: m - p].T
    corner = across[m - p :]
    out[m - p :, m - p :] = (corner + corner.T) / 2
    return out


def restarted(params: KrylovParams, vectors: np.ndarray, engine: Engine) -> KrylovParams:
    """The params with the basis cut down to its best, if another block would not fit."""
    if len(params.seen) + len(params.block) <= params.limit:
        return params
    seen = np.diag(np.einsum("ij,ij->j", vectors, params.seen @ vectors))
    return params._replace(basis=(combine(vectors.T, params.basis, engine),), seen=seen)


def advance(
    params: KrylovParams, rest: np.ndarray, square: np.ndarray, length: float, engine: Engine
) -> KrylovParams:
    """The params with the directions of ``rest`` for the next block.

    ``square`` holds the products of its rows; ``length`` is the squared length that the
    longest had before the basis was taken off.
    """
    step, known = params.step + 1, len(params.values)
    noise = noise_of(params) * (params.values[0] if known else np.sqrt(length))
    block, slack = directions(rest, square, noise**2, engine)
    drawn = len(rest) - len(block)
    surprise = params.surprise
    if drawn and not params.drawn:
        surprise = np.inf  # are there directions that the first block did not touch?
    if drawn:
        block = np.concatenate([block, draw(params.seed, step, drawn, rest.shape[1])])
    if drawn or square.diagonal().min() < SOUND * length or strays(params.basis, block, engine):
        block = cleaned(params.basis, block, engine)
    return params._replace(
        step=step,
        block=block,
        panels=to_panels(block, engine, params.panels.dtype),
        drawn=drawn,
        surprise=surprise,
        slack=params.slack + slack if known else 0.0,
    )


def directions(
    rest: np.ndarray, square: np.ndarray, floor: float, engine: Engine
) -> tuple[np.ndarray, float]:
    """Orthonormal rows that span ``rest``, and the squared length of what was left out.

    The long directions first; products tell those of very different length apart badly, so
    what is much shorter is squared again on its own, down to ``floor``.
    """
    found = [rest[:0]]
    while True:
        weights, turns = eigh(square)
        keep = weights > max(floor, SOUND * weights[-1])
        if keep.any():
            found.append(combine((turns[:, keep] / np.sqrt(weights[keep])).T, (rest,), engine))
        if keep.all() or not keep.any():
            return np.concatenate(found), float(np.maximum(weights[~keep], 0.0).sum())
        rest = combine(turns[:, ~keep].T, (rest,), engine)
        square = inner((rest,), rest, engine)


def draw(seed: Any, step: int, count: int, columns: int) -> np.ndarray:
    """Random rows of about unit length."""
    return normals(key(seed, step), (count, columns)) / np.sqrt(columns)


def strays(basis: tuple, block: np.ndarray, engine: Engine) -> bool:
    """Whether the sum of the block, which stands for its rows, is not quite orthogonal."""
    if not basis:
        return False
    return bool(np.abs(inner(basis, block.sum(axis=0)[None], engine)).max() > STRAY)


def cleaned(basis: tuple, block: np.ndarray, engine: Engine) -> np.ndarray:
    """The block made orthonormal, and orthogonal to the basis: twice is enough."""
    for _ in range(2):
        if basis:
            block = combine(inner(basis, block, engine).T, basis, engine, less_from=block)
        weights, turns = eigh(inner((block,), block, engine))
        block = combine((turns / np.sqrt(weights)).T, (block,), engine)
    return block
