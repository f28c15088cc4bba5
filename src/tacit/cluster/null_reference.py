"""Data like the rows, but without clusters: the null model of ``choose_k`` and of the gap.

    box      uniform in the box along the principal axes that holds the rows
    normal   one normal cloud with the mean and the covariance of the rows
    radial   the same, but at the distances from the mean that the rows have: in heavy tails, on
             a ring, on a sphere

Rows without clusters may have sharp edges, as a box has, or fade out, as a normal cloud does,
or leave their middle empty. Real clusters must exceed all three. Rows of length one have length
one in the reference too.

Text has another test. Short documents look clustered even if their words are dealt out to
them at random: those that hold the same rare word point in one direction. The reference deals
the words out again, with the number of different words of every document and the number of
documents of every word as they are, by random trades between pairs of documents. If topics
exist, words that belong together lie in common directions, and the singular values after the
first, which is the mean document, exceed those of the reference. Only presence counts, weighted
by the inverse document frequency, so any weighting of the input gives the same result.

Tibshirani, Walther and Hastie (2001), Estimating the number of clusters in a data set via the
gap statistic. JRSS B 63. Liu, Hayes, Nobel and Marron (2008), Statistical significance of
clustering for high-dimension, low-sample size data. JASA 103. Strona, Nappo, Boccacci,
Fattorini and San-Miguel-Ayanz (2014), A fast and unbiased procedure to randomize ecological
binary matrices with fixed row and column totals. Nature Communications 5. Horn (1965), A
rationale and test for the number of factors in factor analysis. Psychometrika.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import svds

from tacit.core.engines import Engine, check_stop
from tacit.core.kernel import kernel
from tacit.core.randoms import below, key, normals, permutation, uniforms
from tacit.kernels.unit_rows import unit_rows

__all__ = [
    "KINDS", "Association", "Reference", "deal_words", "draw", "fit_reference",
    "word_association",
]  # fmt: skip

KINDS = ("box", "normal", "radial")
DIRECTIONS = 10  # compared, after the first
REFERENCES = 5
DENSE_SPECTRUM, PRECISION = 50, 1e-4
DENSE = 0.5  # of all cells: above this, presence is not informative
# The limits separate real texts from dealt ones in the benchmark ``choose_k``.
LARGE = 1.3  # ratio of one singular value that is enough
RATIO, EXCESS = 1.06, 2.0  # of one, and in standard deviations of half of them, that are enough


class Reference(NamedTuple):
    """The rows as one cloud along its principal axes."""

    rows: int
    mean: np.ndarray  # (d,)
    axes: np.ndarray  # (d, m)
    low: np.ndarray  # (m,) the box
    high: np.ndarray  # (m,)
    deviation: np.ndarray  # (m,) the cloud
    radii: np.ndarray  # (n,) distances from the mean, in deviations
    unit: bool  # rows have length one


def fit_reference(rows: np.ndarray, *, unit: bool = False, aligned: bool = True) -> Reference:
    """The parameters of the null model of these rows; if not ``aligned``, along the columns.

    >>> reference = fit_reference(np.array([[0.0, 1.0], [4.0, 1.0]]), unit=False)
    >>> reference.deviation.round(3)
    array([0., 2.])
    """
    mean = rows.mean(axis=0)
    centered = rows - mean
    if not aligned:
        axes = np.eye(rows.shape[1])
    elif rows.shape[1] <= len(rows):  # the smaller of the two Gram matrices
        axes = np.linalg.eigh(centered.T @ centered)[1]
    else:
        axes = np.linalg.svd(centered, full_matrices=False)[2].T
    scores = centered @ axes
    deviation = np.sqrt((scores**2).mean(axis=0))
    varies = deviation > 1e-9 * deviation.max(initial=0.0)
    radii = np.sqrt(((scores[:, varies] / deviation[varies]) ** 2).sum(axis=1))
    low, high = scores.min(axis=0), scores.max(axis=0)
    return Reference(len(rows), mean, axes, low, high, deviation, radii, unit)


def draw(reference: Reference, kind: str, drawn: np.uint64) -> np.ndarray:
    """As many rows without clusters, from a key."""
    shape = (reference.rows, len(reference.low))
    if kind == "box":
        scores = reference.low + (reference.high - reference.low) * uniforms(drawn, shape)
    else:
        scores = normals(drawn, shape)
        varies = reference.deviation > 1e-9 * reference.deviation.max(initial=0.0)
        if kind == "radial" and varies.sum() > 1:  # on a line it would repeat the rows
            lengths = np.sqrt((scores[:, varies] ** 2).sum(axis=1))
            radii = reference.radii[permutation(key(drawn, 1), len(scores))]
            scores *= (radii / lengths)[:, None]
        scores *= reference.deviation
    rows = scores @ reference.axes.T + reference.mean
    return unit_rows(rows)[0] if reference.unit else rows


# --- Words ---


class Association(NamedTuple):
    """The singular values of the documents over those of dealt words, but for the first."""

    ratio: float  # the largest
    excess: float  # the median, in standard deviations of the reference

    @property
    def significant(self) -> bool:
        return self.ratio >= LARGE or (self.ratio >= RATIO and self.excess >= EXCESS)


def word_association(words: Any, seed: np.uint64, engine: Engine) -> Association | None:
    """Compare documents, a CSR matrix, with documents of dealt words; None where presence
    says nothing: most cells are filled, or there are too few documents or words."""
    pattern = sp.csr_array(words)[np.diff(words.indptr) > 0]
    pattern.eliminate_zeros()
    counts = np.bincount(pattern.indices, minlength=pattern.shape[1])
    pattern = sp.csr_array(pattern[:, (counts > 1) & (counts < pattern.shape[0])])
    n, d = pattern.shape
    if min(n, d) < 3 or pattern.nnz == 0 or pattern.nnz > DENSE * n * d:
        return None
    counts = np.bincount(pattern.indices, minlength=d)
    weights = np.log((1 + n) / (1 + counts))
    size = min(DIRECTIONS + 1, n, d)

    def spectrum(number: int) -> np.ndarray:
        indices = pattern.indices.copy()
        if number:
            deal_words(indices, pattern.indptr, d, key(seed, 12, number))
        values = weights[indices], indices, pattern.indptr
        return largest_singular_values(unit_rows(sp.csr_array(values, shape=(n, d)))[0], size)

    observed, *others = engine.each(spectrum, range(REFERENCES + 1))
    null = np.array(others)
    mean, deviation = null.mean(axis=0), np.sqrt(null.var(axis=0, ddof=1).mean())
    ratio = observed / np.maximum(mean, 1e-12)
    excess = (observed - mean) / max(float(deviation), 1e-12)
    return Association(float(ratio[1:].max()), float(np.median(excess[1:])))


def largest_singular_values(rows: sp.csr_array, k: int) -> np.ndarray:
    """The k largest, descending: by Lanczos (ARPACK) unless there are few rows or columns."""
    if min(rows.shape) <= DENSE_SPECTRUM:
        return np.linalg.svd(rows.toarray(), compute_uv=False)[:k]
    start = np.ones(min(rows.shape))
    return np.sort(svds(rows, k, v0=start, tol=PRECISION, return_singular_vectors=False))[::-1]


def deal_words(indices: np.ndarray, indptr: np.ndarray, d: int, drawn: np.uint64) -> None:
    """Deal words out again in place; rows of ``indices`` without repetition stay so."""
    n = len(indptr) - 1
    mark, pool = np.zeros(d, np.int8), np.empty(d, indices.dtype)
    turn = np.uint64(0)
    for _ in range(5):  # trades for every document
        check_stop()
        turn = np.uint64(trade(indices, indptr, mark, pool, drawn, turn, n))


# --- Kernel ---


@kernel
def trade(indices, indptr, mark, pool, drawn, turn, trades):
    """Pairs of documents shuffle the words that only one of them has."""
    n = indptr.shape[0] - 1
    one = np.uint64(1)
    for _ in range(trades):
        i, j = below(drawn, turn, n), below(drawn, turn + one, n)
        turn += np.uint64(2)
        if i == j:
            continue
        a, b = indices[indptr[i] : indptr[i + 1]], indices[indptr[j] : indptr[j + 1]]
        for t in range(a.shape[0]):
            mark[a[t]] = 1
        m = 0
        for t in range(b.shape[0]):
            if mark[b[t]] == 1:
                mark[b[t]] = 2  # both have it
            else:
                pool[m] = b[t]
                m += 1
        for t in range(a.shape[0]):
            if mark[a[t]] == 1:
                pool[m] = a[t]
                m += 1
        for t in range(m - 1, 0, -1):
            q = below(drawn, turn, t + 1)
            turn += one
            pool[t], pool[q] = pool[q], pool[t]
        p = 0
        for t in range(b.shape[0]):
            if mark[b[t]] != 2:
                b[t] = pool[p]
                p += 1
        for t in range(a.shape[0]):
            both = mark[a[t]] == 2
            mark[a[t]] = 0
            if not both:
                a[t] = pool[p]
                p += 1
    return turn
