"""Directions in which rows lie close that fall into the same clusters again and again.

One k-means of a few hundred documents differs much from the next: it depends on the start and
on every single document. Many of them together depend on neither as much. Random samples of the
rows are clustered, and each clustering labels all rows; the share of the clusterings in which
two rows have the same label is the matrix of co-association. Its first eigenvectors are
directions in which k-means, or nested k-means, finds what most clusterings agree on.

The matrix has a number for every pair of rows, so this is for few of them.

Strehl and Ghosh (2002), Cluster ensembles: a knowledge reuse framework for combining multiple
partitions. JMLR 3. Fred and Jain (2005), Combining multiple clusterings using evidence
accumulation. PAMI 27.
"""

from collections.abc import Sequence

import numpy as np
from scipy.linalg import eigh

from tacit.cluster.small_kmeans import small_kmeans
from tacit.core.engines import Engine, Serial, check_stop, one_blas_thread
from tacit.core.randoms import key, permutation
from tacit.kernels.nearest_centers import nearest_centers

__all__ = ["ensemble_rows"]

SHARE = 0.7  # of the rows that are clustered each time
DIRECTIONS = 30  # at most


def ensemble_rows(
    rows: np.ndarray,
    ks: Sequence[int],
    seed: np.uint64,
    *,
    runs: int = 100,
    engine: Engine | None = None,
) -> np.ndarray:
    """Rows of length one along the directions of co-association, float32: (n, directions).

    Parameters
    ----------
    rows : (n, d) array
        Of length one.
    ks : integers
        Numbers of clusters, taken in turn.
    runs : int
        Clusterings.

    Examples
    --------
    >>> angles = np.r_[np.linspace(0, 0.3, 10), np.linspace(1, 1.3, 10)]
    >>> rows = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype("f4")
    >>> found = ensemble_rows(rows, [2], np.uint64(0), runs=9)
    >>> (found @ found.T).round(2)[0, [0, 9, 10, 19]].tolist()
    [1.0, 1.0, 0.0, 0.0]
    """
    n = len(rows)

    def cluster(run: int) -> np.ndarray:
        check_stop()
        k = ks[run % len(ks)]
        order = permutation(key(seed, run), n)[: max(k, int(SHARE * n))]
        sample, own = rows[np.sort(order)], int(key(seed, run, 1)) % 2**31
        fit = small_kmeans(sample, k, own, starts=1, unit=True)
        return nearest_centers(rows, fit.centers, unit=True)

    together = np.zeros((n, n))
    with one_blas_thread():  # more may round differently
        for labels in (engine or Serial()).each(cluster, range(runs)):
            together += labels[:, None] == labels
        first = max(0, n - DIRECTIONS)
        values, vectors = eigh(together / runs, subset_by_index=(first, n - 1))
    found = vectors * np.sqrt(np.maximum(values, 0))
    lengths = np.sqrt((found**2).sum(axis=1, keepdims=True))
    return np.ascontiguousarray(found / np.maximum(lengths, 1e-12), np.float32)
