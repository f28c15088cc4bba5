"""k-means++ alone, and mini-batches, against scikit-learn at each library's defaults.

Chance has a say here: three seeds to a run, mean inertia, a tolerance of 1%. Tacit draws its
first centers from a sample of 20,000 rows; scikit-learn is shown with and without that. The
rows are those of ``kmeans``. There are no targets.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.cluster.kmeans import inertia, rows, sklearn
from benchmarks.harness import Answer, Case, Contender, Data

__all__ = ["cases"]

SEEDS = 3  # the quality is a mean


def cases(scale: float) -> list[Case]:
    long, wide = (1_000_000, 16, 64, 100, 8.0), (200_000, 128, 256, 400, 10.0)
    data = {
        name: partial(rows, int(shape[0] * scale), *shape[1:], "f4")
        for name, shape in (("1M x 16, k=64", long), ("200k x 128, k=256", wide))
    }
    seeding = [
        Case(f"k-means++ alone, {name}", make, SEEDING, inertia, tolerance=0.01)
        for name, make in data.items()
    ]
    long_rows = data["1M x 16, k=64"]
    batches = Case(
        "mini-batches, 1M x 16, k=64", long_rows, MINIBATCH, inertia, tolerance=0.01
    )
    return [*seeding, batches]


# --- Contenders ---


def tacit_seeding(data: Data, threads: int) -> Answer:
    from tacit.cluster.seeding import first_centers
    from tacit.data.table import Table

    table, k = Table.of(data["X"]), len(data["start"])
    return {
        "centers": [
            first_centers("k-means++", table, k, np.random.RandomState(seed), name="KMeans")
            for seed in range(SEEDS)
        ]
    }


def sklearn_seeding(data: Data, threads: int, *, sample: int | None) -> Answer:
    from sklearn.cluster import kmeans_plusplus

    X, k, centers = data["X"], len(data["start"]), []
    for seed in range(SEEDS):
        rng = np.random.RandomState(seed)
        chosen = X if sample is None else X[np.sort(rng.permutation(len(X))[:sample])]
        centers.append(kmeans_plusplus(chosen, k, random_state=rng)[0])
    return {"centers": centers}


def tacit_minibatch(data: Data, threads: int) -> Answer:
    from tacit.cluster import MiniBatchKMeans
    from tacit.core.engines import Threads

    k, engine = len(data["start"]), Threads(threads)
    return minibatches(data, lambda seed: MiniBatchKMeans(k, random_state=seed, engine=engine))


def sklearn_minibatch(data: Data, threads: int) -> Answer:
    from sklearn.cluster import MiniBatchKMeans

    k = len(data["start"])
    return minibatches(data, lambda seed: MiniBatchKMeans(k, random_state=seed))


def minibatches(data: Data, make: Callable[[int], Any]) -> Answer:
    models = [make(seed).fit(data["X"]) for seed in range(SEEDS)]
    return {"centers": [model.cluster_centers_ for model in models]}


SEEDING = (
    Contender("Tacit", tacit_seeding),
    sklearn("scikit-learn", partial(sklearn_seeding, sample=None)),
    sklearn("scikit-learn on 20,000 rows", partial(sklearn_seeding, sample=20_000)),
)
MINIBATCH = (
    Contender("Tacit", tacit_minibatch),
    sklearn("scikit-learn", sklearn_minibatch),
)
