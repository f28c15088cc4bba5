"""Data like the rows, but without clusters: the null model of ``choose_k`` and of the gap.

    box      uniform in the box along the principal axes that holds the rows
    normal   one normal cloud with the mean and the covariance of the rows
    radial   the same, but at the distances from the mean that the rows have: in heavy tails, on
             a ring, on a sphere

Rows without clusters may have sharp edges, as a box has, or fade out, as a normal cloud does,
or leave their middle empty. Real clusters must exceed all three. Rows of length one have length
one in the reference too. Text has another test, ``word_association``.

Tibshirani, Walther and Hastie (2001), Estimating the number of clusters in a data set via the
gap statistic. JRSS B 63. Liu, Hayes, Nobel and Marron (2008), Statistical significance of
clustering for high-dimension, low-sample size data. JASA 103.
"""

from typing import NamedTuple

import numpy as np

from tacit.core.randoms import key, normals, permutation, uniforms
from tacit.kernels.unit_rows import unit_rows

__all__ = ["KINDS", "Reference", "draw", "fit_reference"]

KINDS = ("box", "normal", "radial")


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
    axes = principal_axes(centered) if aligned else np.eye(rows.shape[1])
    turned = centered @ axes
    deviation = np.sqrt((turned**2).mean(axis=0))
    some = deviation > 1e-9 * deviation.max(initial=0.0)
    radii = np.sqrt(((turned[:, some] / deviation[some]) ** 2).sum(axis=1))
    low, high = turned.min(axis=0), turned.max(axis=0)
    return Reference(len(rows), mean, axes, low, high, deviation, radii, unit)


def principal_axes(centered: np.ndarray) -> np.ndarray:
    """(d, m) directions, by the smaller of the two Gram matrices."""
    n, d = centered.shape
    if d <= n:
        return np.linalg.eigh(centered.T @ centered)[1]
    return np.linalg.svd(centered, full_matrices=False)[2].T


def draw(reference: Reference, kind: str, drawn: np.uint64) -> np.ndarray:
    """As many rows without clusters, from a key."""
    shape = (reference.rows, len(reference.low))
    if kind == "box":
        turned = reference.low + (reference.high - reference.low) * uniforms(drawn, shape)
    else:
        turned = normals(drawn, shape)
        some = reference.deviation > 1e-9 * reference.deviation.max(initial=0.0)
        if kind == "radial" and some.sum() > 1:  # on a line it would repeat the rows
            lengths = np.sqrt((turned[:, some] ** 2).sum(axis=1))
            radii = reference.radii[permutation(key(drawn, 1), len(turned))]
            turned *= (radii / lengths)[:, None]
        turned *= reference.deviation
    rows = turned @ reference.axes.T + reference.mean
    return unit_rows(rows)[0] if reference.unit else rows
