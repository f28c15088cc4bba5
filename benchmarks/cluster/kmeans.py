"""k-means on dense rows, against scikit-learn and faiss, from the same first centers.

Every contender gets the same first centers (k-means++ by scikit-learn on 20,000 rows) and
runs to the end that both libraries use by default: the centers move, in squares, by less than
1e-4 of the variance, after 300 updates at most. scikit-learn runs as ``lloyd`` and as
``elkan``; the faster is the rival. faiss has no such rule and makes at most as many updates as
Tacit needed; it trains on all rows and is not asked for the labels that the others return.

Methods that keep bounds gain from running to the end. Over the first 25 updates alone Tacit is
1.5 to 1.9 times as fast as scikit-learn by processor time on the first three shapes, not 2.

The rows are ``data.mixture_chunks``: overlapping normals of unequal size and width, with
background; the digits are MNIST's where TACIT_DATA has them. The quality is the inertia,
summed here in float64 from each contender's centers.

Also, without a target: the digits in float64.
"""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import digits, mixture
from benchmarks.harness import Answer, Case, Contender, Data

__all__ = ["KMEANS", "cases", "inertia", "rows", "sklearn", "start_centers"]

UPDATES = 300  # at most
TOLERANCE = 1e-4


def cases(scale: float) -> list[Case]:
    shapes = {  # rows, columns, k, components, separation, ratio wanted against scikit-learn
        "1M x 16, k=64": (1_000_000, 16, 64, 100, 8.0, 2.0),
        "200k x 128, k=256": (200_000, 128, 256, 400, 10.0, 2.0),
        "60k x 784, k=10": (60_000, 784, 10, 0, 0.0, 2.0),
        "1M x 2, k=1000": (1_000_000, 2, 1000, 600, 20.0, 10.0),
    }
    single, double = [], []
    for name, (n, d, k, components, separation, target) in shapes.items():
        make = partial(rows, int(n * scale), d, k, components, separation)
        goals = {"scikit-learn": target, "faiss": 1.0}
        plan = {"quality": inertia, "warmup": two_updates}
        # On a thousand centers elkan keeps 4 GB of bounds and takes twice as long as lloyd.
        rivals = (*(KMEANS if k < 1000 else KMEANS[:2]), FAISS)
        single.append(Case(name, partial(make, "f4"), rivals, targets=goals, **plan))
        if d == 784:
            double.append(Case(f"{name}, float64", partial(make, "f8"), KMEANS, **plan))
    return [*single, *double]


def rows(
    n: int, d: int, k: int, components: int, separation: float, dtype: str, folder: Path
) -> Data:
    if d == 784:
        X, about = digits(n)
    else:
        X = mixture(n, d, components=components, separation=separation, seed=d)
        about = f"mixture of {components} at separation {separation:g}"
    X = X.astype(dtype, copy=False)
    data = {"X": X, "start": start_centers(X, k), "max_iter": UPDATES}
    needed = tacit_kmeans(data, 2)["updates"]
    about = f"{about}; {len(X):,} x {d}, {np.dtype(dtype)}, {needed} updates"
    return {**data, "needed": needed, "about": about}


def two_updates(data: Data) -> Data:
    """A first call that does all there is to compile, and little work."""
    return {**data, "max_iter": 2, "needed": 2}


def start_centers(X: Any, k: int) -> np.ndarray:
    """The first centers all contenders share: k-means++ on 20,000 rows, or on 5 k."""
    from sklearn.cluster import kmeans_plusplus

    pick = np.random.default_rng(0).permutation(X.shape[0])[: max(20_000, 5 * k)]
    return kmeans_plusplus(X[np.sort(pick)], k, random_state=0)[0]


def inertia(data: Data, answer: Answer) -> float:
    """The sum of squared distances to the nearest of the contender's centers, in float64.
    Where the contender gives several sets of centers, one per seed, the mean."""
    if isinstance(answer["centers"], list):
        return float(np.mean([inertia(data, {"centers": each}) for each in answer["centers"]]))
    X, centers = data["X"], np.asarray(answer["centers"], np.float64)
    squares, total = (centers**2).sum(axis=1), 0.0
    for start in range(0, X.shape[0], 8192):
        block = X[start : start + 8192].astype(np.float64)
        label = (squares - 2 * (block @ centers.T)).argmin(axis=1)
        if isinstance(block, np.ndarray):
            total += float(((block - centers[label]) ** 2).sum())
        else:  # sparse: unit rows and small centers, so little cancels
            cross = block.multiply(centers[label]).sum(axis=1)
            total += float((block.power(2).sum(axis=1) - 2 * cross + squares[label]).sum())
    return total


# --- Contenders ---


def tacit_kmeans(data: Data, threads: int) -> Answer:
    from tacit.cluster import KMeans
    from tacit.core.engines import Threads

    model = KMeans(
        len(data["start"]), init=data["start"], n_init=1, max_iter=data["max_iter"],
        tol=TOLERANCE, engine=Threads(threads),
    ).fit(data["X"])  # fmt: skip
    return {"centers": model.cluster_centers_, "updates": int(model.n_iter_)}


def sklearn_kmeans(data: Data, threads: int, *, algorithm: str) -> Answer:
    from sklearn.cluster import KMeans

    model = KMeans(
        len(data["start"]), init=data["start"], n_init=1, max_iter=data["max_iter"],
        tol=TOLERANCE, algorithm=algorithm,
    ).fit(data["X"])  # fmt: skip
    return {"centers": model.cluster_centers_, "updates": int(model.n_iter_)}


def faiss_kmeans(data: Data, threads: int) -> Answer:
    import faiss

    faiss.omp_set_num_threads(threads)
    X, start = data["X"], data["start"]
    model = faiss.Kmeans(
        X.shape[1], len(start), niter=data["needed"], nredo=1, spherical=False,
        min_points_per_centroid=1, max_points_per_centroid=len(X),
    )  # fmt: skip
    model.train(X, init_centroids=start)
    return {"centers": model.centroids, "updates": len(model.iteration_stats or ())}


def bounds_of_elkan(data: Data) -> float:
    """scikit-learn's elkan keeps a bound for every row and center."""
    X = data["X"]
    return X.shape[0] * (len(data["start"]) + X.shape[1]) * X.dtype.itemsize


sklearn = partial(Contender, package="sklearn", install="scikit-learn", rival="scikit-learn")
lloyd, elkan = (partial(sklearn_kmeans, algorithm=name) for name in ("lloyd", "elkan"))
KMEANS = (
    Contender("Tacit", tacit_kmeans),
    sklearn("scikit-learn lloyd", lloyd),
    sklearn("scikit-learn elkan", elkan, memory=bounds_of_elkan),
)
FAISS = Contender("faiss", faiss_kmeans, package="faiss", install="faiss-cpu", rival="faiss")
