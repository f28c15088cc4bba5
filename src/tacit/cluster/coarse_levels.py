"""Fewer groups than the coarsest division that repeats: its groups are joined.

The objective of nested k-means hardly sees whether there is a gap between two groups. So groups
that overlap are joined before others: in a mixture of von Mises-Fisher distributions, both are
responsible for the same rows (``join_overlapping``).

k-means with few groups is the other way to divide rows coarsely. It finds a broad contrast that
runs through all groups, and joins do not; joins find a small group apart from all others, and
k-means does not. What is in the rows is what is found again: both ways are tried on halves of
the rows, and that whose two divisions agree better is taken (``joins_repeat``).

Banerjee, Dhillon, Ghosh and Sra (2005), Clustering on the unit hypersphere using von
Mises-Fisher distributions. JMLR 6. Hennig (2010), Methods for merging Gaussian mixture
components. Advances in Data Analysis and Classification 4. Lange, Roth, Braun and Buhmann
(2004), Stability-based validation of clustering solutions. Neural Computation 16.
"""

import numpy as np
from scipy.special import softmax

from tacit.cluster.nested_kmeans import Nested, join_leaves, run_nested_passes
from tacit.cluster.small_kmeans import small_kmeans
from tacit.core.engines import Engine, Serial, check_stop, one_blas_thread
from tacit.core.randoms import key, permutation
from tacit.kernels.nearest_centers import nearest_centers, sum_by_label
from tacit.measure import normalized_mutual_info_score

__all__ = ["join_overlapping", "joins_repeat"]

SOFT = 0.5  # of the estimated concentration: with all of it hardly any groups of texts overlap
HALF = 1000  # rows of a half, at most
PAIRS, STARTS = 12, 2  # of halves; of each k-means
CLEARLY = 0.05  # by how much k-means with few groups must be found again better


def join_overlapping(
    rows: np.ndarray, nested: Nested, k: int, weights: np.ndarray,
    around: np.ndarray | None = None,
) -> Nested:  # fmt: skip
    """Join the k groups of a tree anew into fewer, those first that overlap and lose little;
    before others those that most rows with the same label in ``around`` are in."""
    labels = nested.at(k)
    sums = sum_by_label(rows, labels, k)
    above = join_by_overlap(rows, labels, sums, around)
    cuts = [*(cut[nested.cuts[k - 2]] for cut in above), *nested.cuts[k - 1 :]]
    return run_nested_passes(rows, nested.labels, np.array(cuts), weights, passes=0)


def joins_repeat(
    rows: np.ndarray, few: int, many: int, seed: np.uint64, *, engine: Engine | None = None
) -> bool:
    """Whether halves of the rows agree better, or about as well, on joins of ``many`` groups
    into ``few`` as on k-means with ``few``.

    >>> rng = np.random.default_rng(0)
    >>> rows = rng.normal(size=(300, 3)) * 0.2 + np.repeat(np.eye(3), (140, 140, 20), axis=0)
    >>> rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype("f4")
    >>> joins_repeat(rows, 2, 3, np.uint64(0))
    True
    """

    def compare(pair: int) -> list[float]:
        check_stop()
        drawn = permutation(key(seed, pair), len(rows))[: 2 * HALF]
        some = np.ascontiguousarray(rows[drawn])
        flat, joined = [], []
        for part, half in enumerate(np.array_split(some, 2)):
            own = int(key(seed, pair, part)) % 2**31
            fit = small_kmeans(half, few, own, starts=STARTS, unit=True)
            flat.append(nearest_centers(some, fit.centers, unit=True))
            fit = small_kmeans(half, many, own, starts=STARTS, unit=True)
            sums = sum_by_label(half, fit.labels, many)
            cut = join_by_overlap(half, fit.labels, sums)[few - 2]
            joined.append(cut[nearest_centers(some, fit.centers, unit=True)])
        return [normalized_mutual_info_score(*both) for both in (flat, joined)]

    with one_blas_thread():  # more may round differently
        agreements = list((engine or Serial()).each(compare, range(PAIRS)))
    flat, joined = np.mean(agreements, axis=0)
    return bool(flat <= joined + CLEARLY)


def join_by_overlap(
    rows: np.ndarray, labels: np.ndarray, sums: np.ndarray, around: np.ndarray | None = None
) -> np.ndarray:
    """The cuts of a tree that joins groups, those first that overlap and lose little."""
    shared = responsibilities(rows, labels, sums)
    nearest = None
    if around is not None:
        groups = range(len(sums))
        nearest = np.array([np.bincount(around[labels == j]).argmax() for j in groups])
    return join_leaves(sums, nearest, overlaps=shared.T @ shared)


def responsibilities(rows: np.ndarray, labels: np.ndarray, sums: np.ndarray) -> np.ndarray:
    """Of every group for every row, in a mixture of von Mises-Fisher distributions of one
    concentration: (n, k).

    >>> rows, labels = np.eye(4, dtype=np.float32), np.array([0, 0, 1, 1])
    >>> responsibilities(rows, labels, sum_by_label(rows, labels, 2)).round(2).tolist()
    [[0.85, 0.15], [0.85, 0.15], [0.15, 0.85], [0.15, 0.85]]
    """
    (n, d), sizes = rows.shape, np.bincount(labels, minlength=len(sums))
    lengths = np.maximum(np.sqrt((sums**2).sum(axis=1)), 1e-300)
    length = min(lengths.sum() / n, 1 - 1e-6)  # of the mean of a group, on average
    concentration = SOFT * length * (d - length**2) / (1 - length**2)
    centers = (sums / lengths[:, None]).astype(rows.dtype)
    likely = np.log(np.maximum(sizes, 1e-300) / n)
    return softmax(concentration * (rows @ centers.T) + likely, axis=1)
