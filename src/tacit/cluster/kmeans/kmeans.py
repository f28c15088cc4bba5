"""k-means: rows around centers.

The algorithm is ``lloyd``, its first centers come from ``seeding``; ``many_starts`` gives them
scikit-learn's manners.

Lloyd (1982), Least squares quantization in PCM. IEEE Trans. Inf. Theory 28.
Arthur and Vassilvitskii (2007), k-means++: the advantages of careful seeding. SODA.
"""

from tacit.cluster.kmeans import lloyd
from tacit.cluster.kmeans.many_starts import ManyStarts

__all__ = ["KMeans"]


class KMeans(ManyStarts):
    """Cluster rows around ``n_clusters`` centers.

    The answer does not depend on the engine, the number of workers, the size of the blocks or
    whether the rows come from memory or from a file: the same seed gives the same bits.

    Parameters
    ----------
    n_clusters : int
        How many centers.
    init : {"k-means++", "random"}, array of shape (n_clusters, n_features) or function
        Where the first centers come from. The rules draw from a sample of a long table: 20,000
        rows, or 20 for every center. A function is called as ``init(X, n_clusters,
        random_state=...)``.
    n_init : "auto" or int
        How many starts to try; the one with the lowest inertia is kept. "auto" is 1 for
        k-means++ and given centers, 10 for random ones.
    max_iter : int
        Most updates to make in one run.
    tol : float
        Stop when the centers move, in squares, by less than this share of the data's variance.
        Zero runs until nothing moves.
    random_state : int, RandomState or None
        Seed of the first centers, the only random step.
    engine : {"serial", "threads", "dask"} or Engine
        Where the passes run.
    callbacks : list or None
        Told about every pass; see ``tacit.core.progress``. scikit-learn's are welcome too. A
        ``tacit.core.checkpoint.Checkpoint`` lets a fit that was cut short go on.

    Attributes
    ----------
    cluster_centers_ : array of shape (n_clusters, n_features)
    labels_ : int32 array of shape (n_rows,), absent when fitted on a Table or a Dask array
    inertia_ : float, the weighted sum of squared distances at ``cluster_centers_``
    losses_ : list of float, the mean loss after 0, 1, 2, ... updates
    n_iter_ : int, updates made
    converged_ : bool, False where ``max_iter`` or a callback ended the fit

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [10.0], [11.0]])
    >>> np.sort(KMeans(n_clusters=2, random_state=0).fit(X).cluster_centers_, axis=0)
    array([[ 0.5],
           [10.5]])
    """

    _start = staticmethod(lloyd.start)
    _collect = staticmethod(lloyd.collect)
    _update = staticmethod(lloyd.update)
    _settled = staticmethod(lloyd.settled)
