"""Rows times a few long vectors, and back: X v, and X'X v in one walk over the rows.

The vectors travel as panels: (panels, d, 16), so that the 16 numbers which one value of a
sparse row meets lie side by side. A panel and its sums stay in the cache where a matrix of
all vectors would not: 32 vectors as two panels take half the time of 32 at once. Values are
float32 or float64, sums float64.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from tacit.core.engines import Engine, check_stop
from tacit.core.kernel import kernel
from tacit.decompose.stripes import fill

__all__ = ["PANEL", "from_panels", "gram", "project", "to_panels"]

PANEL = 16
CHUNK_VALUES = 2**20  # of a dense chunk: 8 MB once it is float64
SPAN = 4_000_000  # sparse values to a kernel call: under 100 ms


def to_panels(rows: np.ndarray, engine: Engine) -> np.ndarray:
    """(p, d) rows as panels; vectors of zeros fill up the last one.

    Examples
    --------
    >>> from tacit.core.engines import Serial
    >>> rows = np.arange(34.0).reshape(17, 2)
    >>> panels = to_panels(rows, Serial())
    >>> panels.shape, panels[0, 1, :3], from_panels(panels, 17, Serial())[16]
    ((2, 2, 16), array([1., 3., 5.]), array([32., 33.]))
    """
    p, d = rows.shape
    out = np.zeros((-(-p // PANEL), d, PANEL))

    def put(_: Any, columns: slice) -> None:
        for panel, i in zip(out, range(0, p, PANEL), strict=True):
            part = rows[i : i + PANEL, columns].T
            panel[columns, : part.shape[1]] = part

    fill(put, (0, d), engine)
    return out


def from_panels(
    panels: np.ndarray, p: int, engine: Engine, *, scale: float = 1.0
) -> np.ndarray:
    """The first ``p`` vectors of panels, times ``scale``, as rows (p, d)."""

    def put(out: np.ndarray, columns: slice) -> None:
        for panel, i in zip(panels, range(0, p, PANEL), strict=True):
            part = out[i : i + PANEL, columns]
            part[:] = panel[columns, : len(part)].T * scale

    return fill(put, (p, panels.shape[1]), engine)


def gram(rows: Any, panels: np.ndarray) -> np.ndarray:
    """X'X v for every vector v, as panels."""
    if not sp.issparse(rows):
        vectors = side_by_side(panels)
        total = np.zeros((panels.shape[0] * PANEL, panels.shape[1]))
        with np.errstate(all="ignore"):  # whoever asks looks for what is not finite
            for chunk, _ in chunks(rows):
                total += (chunk @ vectors).T @ chunk
        parts = total.reshape(panels.shape[0], PANEL, panels.shape[1])
        return np.ascontiguousarray(parts.swapaxes(1, 2))
    out = np.zeros(panels.shape)
    for panel, sums in zip(panels, out, strict=True):
        for first, last in spans(rows.indptr):
            check_stop()
            add_gram(rows.data, rows.indices, rows.indptr, panel, sums, first, last)
    return out


def project(rows: Any, panels: np.ndarray, k: int) -> np.ndarray:
    """X v for the first ``k`` vectors v: (n, k) float64."""
    if not sp.issparse(rows):
        vectors, out = side_by_side(panels)[:, :k], np.empty((rows.shape[0], k))
        with np.errstate(all="ignore"):
            for chunk, part in chunks(rows):
                np.matmul(chunk, vectors, out=out[part])
        return out
    out = np.empty((rows.shape[0], panels.shape[0] * PANEL))
    for i, panel in enumerate(panels):
        place = out[:, i * PANEL : (i + 1) * PANEL]
        for first, last in spans(rows.indptr):
            check_stop()
            put_product(rows.data, rows.indices, rows.indptr, panel, place, first, last)
    return out[:, :k]


def side_by_side(panels: np.ndarray) -> np.ndarray:
    """(d, p) for BLAS."""
    return np.concatenate(panels, axis=1)


def chunks(rows: np.ndarray):
    """Stretches of dense rows in float64, and which rows they are."""
    size = max(1, CHUNK_VALUES // max(1, rows.shape[1]))
    for i in range(0, rows.shape[0], size):
        check_stop()
        part = slice(i, min(i + size, rows.shape[0]))
        yield np.asarray(rows[part], np.float64), part


def spans(indptr: np.ndarray):
    """Stretches of sparse rows with few values enough for one call."""
    n = len(indptr) - 1
    first = 0
    while first < n:
        limit = int(indptr[first]) + SPAN
        last = max(first + 1, int(np.searchsorted(indptr, limit, side="right")) - 1)
        yield first, min(last, n)
        first = last


# --- Kernels. A width that is a multiple of 16, but not known when compiling, makes loops
# --- over whole vector registers; a constant 16 would be unrolled into single numbers.


@kernel
def add_gram(data, indices, indptr, panel, sums, first, last):
    """Add row * (row . v) for rows first to last and the vectors v of a panel."""
    width = panel.shape[1] // 16 * 16
    t = np.empty(width, np.float64)
    for i in range(first, last):
        row_product(data, indices, indptr[i], indptr[i + 1], panel, t, width)
        for q in range(indptr[i], indptr[i + 1]):
            x = np.float64(data[q])
            out = sums[np.uint32(indices[q])]
            for c in range(width):
                out[c] += x * t[c]


@kernel
def put_product(data, indices, indptr, panel, out, first, last):
    """Set row . v for rows first to last and the vectors v of a panel."""
    width = panel.shape[1] // 16 * 16
    for i in range(first, last):
        row_product(data, indices, indptr[i], indptr[i + 1], panel, out[i], width)


@kernel
def row_product(data, indices, begin, end, panel, t, width):
    """t = row . v, four values of the row at a time."""
    for c in range(width):
        t[c] = 0.0
    q = begin
    while q + 4 <= end:
        x0, x1 = np.float64(data[q]), np.float64(data[q + 1])
        x2, x3 = np.float64(data[q + 2]), np.float64(data[q + 3])
        v0, v1 = panel[np.uint32(indices[q])], panel[np.uint32(indices[q + 1])]
        v2, v3 = panel[np.uint32(indices[q + 2])], panel[np.uint32(indices[q + 3])]
        for c in range(width):
            t[c] += (x0 * v0[c] + x1 * v1[c]) + (x2 * v2[c] + x3 * v3[c])
        q += 4
    while q < end:
        x, v = np.float64(data[q]), panel[np.uint32(indices[q])]
        for c in range(width):
            t[c] += x * v[c]
        q += 1
