"""Whether clusters have gaps between them, or are pieces of something continuous.

k-means cuts a curve, a band or a ring into pieces that are compact and repeat, as clusters are.
What they lack is a gap. So the rows of two clusters are projected onto the line between their
means, and those near its middle are counted against those near the median of either cluster.
Pieces of something continuous have as many there; two normal clouds three deviations apart have
two thirds, those four apart a quarter. A cluster *stands apart* if there is a gap toward every
other.

Chamalis and Likas (2018), The projected dip-means clustering algorithm. SETN.
"""

import numpy as np

__all__ = ["share_apart"]

WINDOW = 0.2  # of the distance between two means, to either side
FILLED = 2 / 3  # of the rows near a median: with as many in the middle there is no gap


def share_apart(rows: np.ndarray, labels: np.ndarray) -> float:
    """The fraction of rows that are in clusters which stand apart; labels count from 0.

    >>> rng = np.random.default_rng(0)
    >>> rows = rng.random((400, 2)) * [4, 1]
    >>> labels = rows[:, 0].astype(int)  # a band in four pieces
    >>> share_apart(rows, labels)
    0.0
    >>> share_apart(rows + 3 * labels[:, None], labels)
    1.0
    """
    sizes = np.bincount(labels)
    k, rows = len(sizes), rows - rows.mean(axis=0)  # a large offset would cost digits
    means = np.stack([rows[labels == i].mean(axis=0) for i in range(k)])
    squares = np.einsum("kd,kd->k", means, means)
    near = [rows[labels == i] @ means.T - squares / 2 for i in range(k)]
    apart = np.ones(k, bool)
    for i in range(k):
        for j in range(i):
            length = squares[i] + squares[j] - 2 * means[i] @ means[j]
            # The middle is at 0, and the means are at -length / 2 and length / 2.
            places = [near[side][:, j] - near[side][:, i] for side in (i, j)]
            width = WINDOW * length
            middle = sum(np.count_nonzero(np.abs(each) < width) for each in places)
            around = [np.abs(each - np.median(each)) < width for each in places]
            if middle >= FILLED * min(map(np.count_nonzero, around)):
                apart[i] = apart[j] = False
    return float(sizes[apart].sum() / len(rows))
