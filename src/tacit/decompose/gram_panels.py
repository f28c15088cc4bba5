"""Products with a few long vectors: X v, X'X v in one pass over the rows, and between vectors.

Vectors are stored as panels, (panels, d, 16), so that the 16 numbers multiplied by one value
of a sparse row are contiguous. Sparse rows are processed in chunks of some thousands: T = X v,
then X'T column by column, so that the sums of a column are loaded once for all of its values
(row by row takes twice as long). The chunks by column may be cached for the next pass. Values
and vectors are float32 or float64, products and sums float64.

Products between vectors, the algebra of a model between two passes, are computed in stripes of
columns. BLAS uses one thread, because with several its sums depend on their number; the stripes
run in parallel. They depend on the length of the vectors alone and are summed in a fixed tree:
the same bits on any engine.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tacit.core.engines import Engine, check_stop
from tacit.core.kernel import kernel
from tacit.core.stats import tree_sum
from tacit.data.table import Table

__all__ = [
    "PANEL", "ChunkCache", "chunk_caches", "combine", "from_panels", "gram", "inner", "project",
    "to_panels",
]  # fmt: skip

PANEL = 16
CHUNK_VALUES = 2**20  # of a dense chunk: 8 MB once it is float64
CHUNK_ROWS = 2**14  # of a sparse chunk, whose products with a panel then take 2 MB
CHUNK_NONZEROS = 2**22  # of a sparse chunk, unless one row has more: under 100 ms a panel
CACHE_BYTES = 2**30  # for chunks by column; a quarter of it out of core
STRIPE = 8192  # columns


class Chunk(NamedTuple):
    """Some sparse rows by column."""

    first: int  # row
    last: int
    columns: np.ndarray  # those with nonzeros, ascending
    edges: np.ndarray  # boundaries of their values
    places: np.ndarray  # uint16, the rows of the values, counted from ``first``
    values: np.ndarray


@dataclass
class CacheSpace:
    """Bytes that the caches of all blocks may still use."""

    left: int


@dataclass
class ChunkCache:
    """The chunks of a block by column, cached for later passes. Results do not depend on it."""

    space: CacheSpace
    chunks: list[Chunk] | None = None


def chunk_caches(table: Table) -> list[ChunkCache]:
    """An empty cache for every block, for ``engine.reduce``."""
    space = CacheSpace(CACHE_BYTES if table.in_memory else CACHE_BYTES // 4)
    return [ChunkCache(space) for _ in table]


def to_panels(rows: np.ndarray, engine: Engine, dtype: Any = np.float64) -> np.ndarray:
    """(p, d) rows as panels; the last one is padded with zeros.

    >>> from tacit.core.engines import Serial
    >>> rows = np.arange(34.0).reshape(17, 2)
    >>> panels = to_panels(rows, Serial())
    >>> panels.shape, panels[0, 1, :3], from_panels(panels, 17, Serial())[16]
    ((2, 2, 16), array([1., 3., 5.]), array([32., 33.]))
    """
    p, d = rows.shape
    out = np.zeros((-(-p // PANEL), d, PANEL), dtype)

    def put(columns: slice) -> None:
        for panel, i in zip(out, range(0, p, PANEL), strict=True):
            part = rows[i : i + PANEL, columns].T
            panel[columns, : part.shape[1]] = part

    each_stripe(put, d, engine)
    return out


def from_panels(
    panels: np.ndarray, p: int, engine: Engine, *, scale: float = 1.0
) -> np.ndarray:
    """The first ``p`` vectors of panels, times ``scale``, as rows (p, d)."""

    out = np.empty((p, panels.shape[1]))

    def put(columns: slice) -> None:
        for panel, i in zip(panels, range(0, p, PANEL), strict=True):
            part = out[i : i + PANEL, columns]
            part[:] = panel[columns, : len(part)].T * scale

    each_stripe(put, panels.shape[1], engine)
    return out


def gram(
    rows: Any,
    panels: np.ndarray,
    cache: ChunkCache | None = None,
    *,
    center: np.ndarray | None = None,
    weights: np.ndarray | None = None,
) -> np.ndarray:
    """X'X v for every vector v, as panels.

    With a ``center`` (d,) X is ``rows`` less the center, which sparse rows
    never become: with T = Xv - (center . v), the product is X'T - center (sum of T). With
    ``weights`` every row counts as often as its weight says.
    """
    if not sp.issparse(rows):
        return gram_dense(rows, panels, center, weights)
    out = np.zeros(panels.shape)
    products = np.empty((min(CHUNK_ROWS, rows.shape[0]), PANEL))
    csr = (rows.data, rows.indices, rows.indptr)
    shifts = None if center is None else center @ panels  # (panels, 16)
    for first, last, *by_column in chunks_by_column(rows, cache):
        part = products[: last - first]
        for i, (panel, sums) in enumerate(zip(panels, out, strict=True)):
            check_stop()
            put_product(*csr, panel, products, first, last)
            if shifts is not None:
                part -= shifts[i]
            if weights is not None:
                part *= weights[first:last, None]
            add_product(*by_column, products, sums)
            if center is not None:
                sums -= np.outer(center, part.sum(axis=0))
    return out


def gram_dense(
    rows: np.ndarray,
    panels: np.ndarray,
    center: np.ndarray | None = None,
    weights: np.ndarray | None = None,
) -> np.ndarray:
    vectors = side_by_side(panels)
    total = np.zeros((panels.shape[0] * PANEL, panels.shape[1]))
    with np.errstate(all="ignore"):  # the caller checks for values that are not finite
        for chunk, part in chunks(rows, center):
            products = chunk @ vectors
            if weights is not None:
                products *= weights[part, None]
            total += products.T @ chunk
    parts = total.reshape(panels.shape[0], PANEL, panels.shape[1])
    return np.ascontiguousarray(parts.swapaxes(1, 2))


def chunks_by_column(rows: Any, cache: ChunkCache | None) -> Iterator[Chunk]:
    """The chunks of sparse rows: from the cache, or new ones that are cached if they fit."""
    if cache is not None and cache.chunks is not None:
        yield from cache.chunks
        return
    new = []
    scratch = np.zeros(rows.shape[1] + 1, np.int32)
    for first, last in spans(rows.indptr):
        check_stop()
        chunk = Chunk(
            first, last, *by_column(rows.data, rows.indices, rows.indptr, first, last, scratch)
        )
        new.append(chunk)
        yield chunk
        if cache is None:
            new.clear()
    size = sum(array.nbytes for chunk in new for array in chunk[2:])
    if cache is not None and size <= cache.space.left:
        cache.space.left -= size
        cache.chunks = new


def project(
    rows: Any, panels: np.ndarray, k: int, center: np.ndarray | None = None
) -> np.ndarray:
    """X v for the first ``k`` vectors v: (n, k) float64. X is rows less ``center``, if any."""
    if not sp.issparse(rows):
        vectors, out = side_by_side(panels)[:, :k], np.empty((rows.shape[0], k))
        with np.errstate(all="ignore"):
            for chunk, part in chunks(rows, center):
                np.matmul(chunk, vectors, out=out[part])
        return out
    out = np.empty((rows.shape[0], panels.shape[0] * PANEL))
    products = np.empty((min(CHUNK_ROWS, rows.shape[0]), PANEL))  # contiguous, as in ``gram``
    for i, panel in enumerate(panels):
        for first, last in spans(rows.indptr):
            check_stop()
            put_product(rows.data, rows.indices, rows.indptr, panel, products, first, last)
            out[first:last, i * PANEL : (i + 1) * PANEL] = products[: last - first]
    if center is not None:
        out -= center @ side_by_side(panels)
    return out[:, :k]


def side_by_side(panels: np.ndarray) -> np.ndarray:
    """(d, p) for BLAS."""
    return np.concatenate(panels, axis=1)


def chunks(
    rows: np.ndarray, center: np.ndarray | None = None
) -> Iterator[tuple[np.ndarray, slice]]:
    """Chunks of dense rows in float64, less the center if there is one, and their slices."""
    size = max(1, CHUNK_VALUES // max(1, rows.shape[1]))
    for i in range(0, rows.shape[0], size):
        check_stop()
        part = slice(i, min(i + size, rows.shape[0]))
        # Aligned, because NumPy multiplies other arrays without BLAS: other last bits.
        chunk = np.require(rows[part], np.float64, "A")
        yield chunk if center is None else chunk - center, part


def spans(indptr: np.ndarray) -> Iterator[tuple[int, int]]:
    """Ranges of sparse rows, bounded in rows and in values."""
    n = len(indptr) - 1
    first = 0
    while first < n:
        limit = int(indptr[first]) + CHUNK_NONZEROS
        last = max(first + 1, int(np.searchsorted(indptr, limit, side="right")) - 1)
        last = min(last, first + CHUNK_ROWS, n)
        yield first, last
        first = last


# --- Products between vectors ---


def each_stripe(function: Callable, columns: int, engine: Engine) -> list:
    """``function`` of every stripe, a slice of columns; the results in order."""
    stripes = [slice(i, min(i + STRIPE, columns)) for i in range(0, columns, STRIPE)]
    return list(engine.each(function, stripes))


def inner(pieces: Sequence[np.ndarray], rows: np.ndarray, engine: Engine) -> np.ndarray:
    """Inner products of all rows of the pieces with ``rows``: (m, p).

    >>> from tacit.core.engines import Serial
    >>> inner([np.eye(3)[:1], np.eye(3)[1:]], np.array([[1.0, 2.0, 3.0]]), Serial()).ravel()
    array([1., 2., 3.])
    """

    def product(columns: slice) -> np.ndarray:
        part = rows[:, columns].T
        return np.concatenate([piece[:, columns] @ part for piece in pieces])

    return tree_sum(each_stripe(product, rows.shape[1], engine))


def combine(
    weights: np.ndarray,
    pieces: Sequence[np.ndarray],
    engine: Engine,
    *,
    less_from: np.ndarray | None = None,
) -> np.ndarray:
    """``weights`` (q, m) times the rows of the pieces; or ``less_from`` minus that.

    >>> from tacit.core.engines import Serial
    >>> combine(np.array([[2.0, 3.0]]), [np.eye(2)], Serial())
    array([[2., 3.]])
    """
    edges = np.cumsum([0, *map(len, pieces)])
    parts = [weights[:, i:j] for i, j in pairwise(edges)]
    out = np.empty((len(weights), pieces[0].shape[1]))

    def put(columns: slice) -> None:
        total = np.zeros((len(weights), columns.stop - columns.start))
        for part, piece in zip(parts, pieces, strict=True):
            total += part @ piece[:, columns]
        out[:, columns] = total if less_from is None else less_from[:, columns] - total

    each_stripe(put, out.shape[1], engine)
    return out


# --- Kernels. A width that is a multiple of 16, but not known at compile time, gives loops
# --- over whole vector registers; a constant 16 would be unrolled into scalars.


@kernel
def put_product(data, indices, indptr, panel, out, first, last):
    """Set row . v for rows first to last and the vectors v of a panel."""
    width = panel.shape[1] // 16 * 16
    for i in range(first, last):
        to = out[i - first]
        for j in range(width):
            to[j] = 0.0
        add_rows(data, indices, indptr[i], indptr[i + 1], panel, to, width)


@kernel
def add_product(columns, edges, places, values, products, sums):
    """Add column . product, for the columns of a chunk and its products with a panel."""
    width = products.shape[1] // 16 * 16
    for c in range(len(columns)):
        add_rows(values, places, edges[c], edges[c + 1], products, sums[columns[c]], width)


@kernel
def add_rows(values, places, begin, end, rows, to, width):
    """Add value * the row at its place, four at a time."""
    q = begin
    while q + 4 <= end:
        x0, x1 = np.float64(values[q]), np.float64(values[q + 1])
        x2, x3 = np.float64(values[q + 2]), np.float64(values[q + 3])
        r0, r1 = rows[np.uint32(places[q])], rows[np.uint32(places[q + 1])]
        r2, r3 = rows[np.uint32(places[q + 2])], rows[np.uint32(places[q + 3])]
        for j in range(width):
            to[j] += (x0 * r0[j] + x1 * r1[j]) + (x2 * r2[j] + x3 * r3[j])
        q += 4
    while q < end:
        x, row = np.float64(values[q]), rows[np.uint32(places[q])]
        for j in range(width):
            to[j] += x * row[j]
        q += 1


@kernel
def by_column(data, indices, indptr, first, last, scratch):
    """Rows first to last by column: a counting sort. ``scratch`` is zero before and after."""
    begin, end = indptr[first], indptr[last]
    number = 0
    for q in range(begin, end):
        number += scratch[indices[q]] == 0
        scratch[indices[q]] += 1
    columns, edges = np.empty(number, np.int32), np.empty(number + 1, np.int32)
    places, values = np.empty(end - begin, np.uint16), np.empty(end - begin, data.dtype)
    at, c = 0, 0
    for j in range(len(scratch)):
        if scratch[j]:
            columns[c], edges[c] = j, at
            at += scratch[j]
            scratch[j] = edges[c]
            c += 1
    edges[number] = at
    for i in range(first, last):
        for q in range(indptr[i], indptr[i + 1]):
            to = scratch[indices[q]]
            places[to], values[to] = i - first, data[q]
            scratch[indices[q]] = to + 1
    for c in range(number):
        scratch[columns[c]] = 0
    return columns, edges, places, values
