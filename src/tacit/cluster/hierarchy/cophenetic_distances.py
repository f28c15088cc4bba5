"""How well a tree keeps the distances it was made from.

The cophenetic distance of two leaves is the height at which they first share a cluster. Its
correlation with the distances themselves says how far the tree can be believed.

Sokal and Rohlf (1962), The comparison of dendrograms by objective methods. Taxon 11.
"""

import warnings
from typing import Any

import numpy as np

from tacit.cluster.hierarchy.dendrogram import check_linkage, leaf_positions
from tacit.cluster.linkages.inputs import give
from tacit.core.engines import get_engine
from tacit.core.kernel import kernel
from tacit.core.memory import check_memory

__all__ = ["cophenetic", "cophenetic_correlation", "pair_distances_of"]


def cophenetic(Z: Any) -> np.ndarray:
    """The height at which each two leaves first share a cluster, condensed as SciPy's pdist.

    >>> cophenetic([[0, 1, 1.0, 2], [2, 3, 4.0, 3]])
    array([1., 4., 4.])
    """
    Z = check_linkage(Z)
    n = len(Z) + 1
    check_memory(4 * n * n, f"cophenetic of {n:,} leaves", "Use a sample of the rows.")
    order, spans = leaf_positions(Z)
    out = np.empty(n * (n - 1) // 2)
    for s in range(n - 1):
        write_height(order, spans[s], Z[s, 2], n, out)
    return out


def cophenetic_correlation(Z: Any, X: Any, metric: Any = "euclidean") -> float:
    """The correlation of the tree's distances with the true ones, from -1 to 1.

    ``X`` is what the tree was made from: rows, or distances. Where either distances are all
    the same there is no correlation; the answer is 0 then, with a warning.

    Examples
    --------
    >>> from tacit.cluster.linkages.linking import linkage
    >>> X = np.array([[0.0], [1.0], [5.0], [7.0]])
    >>> round(cophenetic_correlation(linkage(X), X), 3)
    0.902
    """
    along = cophenetic(Z)
    true = pair_distances_of(X, metric, len(along), "cophenetic_correlation")
    along, true = along - along.mean(), true - true.mean()
    scale = float(np.sqrt((along**2).sum() * (true**2).sum()))
    if not scale > 0:
        warnings.warn(
            "cophenetic_correlation is 0 because the distances are all the same, in the tree "
            "or in the data.",
            stacklevel=2,
        )
        return 0.0
    return float((along * true).sum() / scale)


def pair_distances_of(X: Any, metric: Any, count: int, name: str) -> np.ndarray:
    """Condensed distances of rows, or of distances in any form; ``count`` of them."""
    from scipy.spatial.distance import pdist, squareform

    given = give(X, "complete", metric, get_engine("threads"), name=name)
    if given.kind == "points":
        values = pdist(given.values, "euclidean" if given.form == "root" else "sqeuclidean")
        values *= 0.5 if given.form == "half" else 1 / given.scale
    elif given.kind == "square":
        values = squareform(given.values, checks=False) / given.scale
    else:
        values = given.values
    if len(values) != count:
        n = (1 + int(np.sqrt(1 + 8 * count))) // 2
        raise ValueError(f"{name}: the tree has {n} leaves, but the data {given.n} rows.")
    return values


# --- Kernels ---


@kernel
def write_height(order, span, height, n, out):
    for p in range(span[0], span[1]):
        for q in range(span[1], span[2]):
            i, j = min(order[p], order[q]), max(order[p], order[q])
            out[i * (2 * n - i - 1) // 2 + j - i - 1] = height
