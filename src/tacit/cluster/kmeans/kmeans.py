"""k-means: rows around centers.

The algorithm is ``lloyd``, the first centers come from ``seeding``; ``center_estimators`` has
what KMeans shares with its variants.

Lloyd (1982), Least squares quantization in PCM. IEEE Trans. Inf. Theory 28.
Arthur and Vassilvitskii (2007), k-means++: the advantages of careful seeding. SODA.
"""

from typing import Any, ClassVar

from sklearn.utils._param_validation import StrOptions

from tacit.cluster.kmeans import lloyd
from tacit.cluster.kmeans.center_estimators import RestartedEstimator
from tacit.core.engines import Engine
from tacit.core.progress import Callback

__all__ = ["KMeans"]


class KMeans(RestartedEstimator):
    """Cluster rows around ``n_clusters`` centers.

    The result does not depend on the engine, the number of workers, the size of the blocks or
    whether the rows come from memory or from a file: the same seed gives the same bits.

    Parameters
    ----------
    n_clusters : int
        Number of centers.
    init : {"k-means++", "random"}, array of shape (n_clusters, n_features) or function
        The first centers. The two rules draw from a sample of a long table: 20,000 rows, or 20
        for every center. A function is called as ``init(X, n_clusters,
        random_state=...)``.
    n_init : "auto" or int
        Number of starts; the one with the lowest inertia is kept. "auto" is 1 for
        k-means++ and given centers, 10 for random ones.
    max_iter : int
        Most updates in one run.
    tol : float
        Stop when the centers move, in squares, by less than this fraction of the data's
        variance. Zero runs until no center moves.
    verbose : int
        Above 0, shows progress on standard error.
    random_state : int, RandomState or None
        Seed of the first centers, the only random step.
    copy_x, algorithm : bool and {"lloyd", "elkan"}
        No effect: rows are never changed, and both algorithms give the same centers.
    engine : {"serial", "threads", "dask"} or Engine
        Where the passes run.
    callbacks : list or None
        Notified of every pass; see ``tacit.core.progress``. scikit-learn's callbacks work too.
        A ``tacit.core.checkpoint.Checkpoint`` lets an interrupted fit resume.

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

    _parameter_constraints: ClassVar[dict] = {
        **RestartedEstimator._parameter_constraints,
        "verbose": ["verbose"],
        "copy_x": ["boolean"],
        "algorithm": [StrOptions({"lloyd", "elkan"})],
    }
    _no_effect: ClassVar[dict] = {
        "copy_x": "rows are never changed",
        "algorithm": "both give the same centers, and the bounds that save distances are "
        "chosen by the data",
    }
    _start = staticmethod(lloyd.start)
    _collect = staticmethod(lloyd.collect)
    _update = staticmethod(lloyd.update)
    _settled = staticmethod(lloyd.settled)

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "k-means++",
        n_init: int | str = "auto",
        max_iter: int = 300,
        tol: float = 1e-4,
        verbose: int = 0,
        random_state: Any = None,
        copy_x: bool = True,
        algorithm: str = "lloyd",
        engine: str | Engine = "threads",
        callbacks: list[Callback] | None = None,
    ) -> None:
        super().__init__(
            n_clusters, init=init, n_init=n_init, max_iter=max_iter, tol=tol,
            random_state=random_state, engine=engine, callbacks=callbacks,
        )  # fmt: skip
        self.verbose, self.copy_x, self.algorithm = verbose, copy_x, algorithm
