"""Multidimensional scaling from a table of distances, against scikit-learn.

Distances between random points of ten dimensions, with noise, so that no points have them. The
quality is the stress of the points, lower is better. Classical scaling has no settings. SMACOF
runs at the defaults of both libraries from the same start; non-metric scaling likewise, each
measuring its own disparities.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.harness import Answer, Case, Contender, Data

__all__ = ["cases"]

ITERATIONS = 300  # at most, the default of both
EPS = 1e-6  # the default of both


def cases(scale: float) -> list[Case]:
    n, small = int(2000 * scale), int(600 * scale)
    return [
        Case(
            f"classical, {n:,} items",
            partial(distances, n),
            (Contender("Tacit", tacit_classical), sklearn("scikit-learn", sklearn_classical)),
            stress_of,
            measure="stress",
            tolerance=1e-6,
            targets={"scikit-learn": 10.0},
            warmup=fewer,
        ),
        Case(
            f"SMACOF, {n:,} items",
            partial(distances, n),
            (
                Contender("Tacit", partial(tacit_smacof, metric=True)),
                sklearn("scikit-learn", partial(sklearn_smacof, metric=True)),
            ),
            stress_of,
            measure="stress",
            tolerance=1e-6,
            targets={"scikit-learn": 20.0},
            warmup=fewer,
        ),
        Case(
            f"non-metric, {small:,} items",
            partial(distances, small),
            (
                Contender("Tacit", partial(tacit_smacof, metric=False)),
                sklearn("scikit-learn", partial(sklearn_smacof, metric=False)),
            ),
            own_stress,
            measure="stress-1",
            tolerance=0.01,
            targets={"scikit-learn": 1.0},
            warmup=fewer,
        ),
    ]


def distances(n: int, folder: Path) -> Data:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 10)) * np.arange(10, 0, -1)
    squares = (X**2).sum(axis=1)
    D = np.sqrt(np.maximum(squares[:, None] + squares - 2 * X @ X.T, 0))
    D = np.abs(D + 0.5 * rng.normal(size=D.shape))
    D = (D + D.T) / 2
    np.fill_diagonal(D, 0)
    return {"D": D, "start": rng.normal(size=(n, 2)), "about": f"{n:,} x {n:,} distances"}


def fewer(data: Data) -> Data:
    """Half of the items: a short job, but too many for the solver of small matrices."""
    n = len(data["D"]) // 2
    return {**data, "D": data["D"][:n, :n].copy(), "start": data["start"][:n]}


def stress_of(data: Data, answer: Answer) -> float:
    from tacit.decompose.mds import stress

    return stress(data["D"], answer["points"])


def own_stress(data: Data, answer: Answer) -> float:
    return float(answer["stress"])


def tacit_classical(data: Data, threads: int) -> Answer:
    from tacit.core.engines import Threads
    from tacit.decompose import ClassicalMDS

    model = ClassicalMDS(2, metric="precomputed", engine=Threads(threads))
    return {"points": model.fit_transform(data["D"])}


def sklearn_classical(data: Data, threads: int) -> Answer:
    from sklearn.manifold import ClassicalMDS

    return {"points": ClassicalMDS(2, metric="precomputed").fit_transform(data["D"])}


def tacit_smacof(data: Data, threads: int, *, metric: bool) -> Answer:
    import warnings

    from tacit.core.engines import Threads
    from tacit.decompose import MDS

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the iterations are few
        model = MDS(
            2, metric="precomputed", metric_mds=metric, init=data["start"], eps=EPS,
            max_iter=ITERATIONS, normalized_stress=True, engine=Threads(threads),
        ).fit(data["D"])  # fmt: skip
    return {"points": model.embedding_, "stress": model.stress_}


def sklearn_smacof(data: Data, threads: int, *, metric: bool) -> Answer:
    from sklearn.manifold import smacof

    start = data["start"] - data["start"].mean(axis=0)
    points, stress = smacof(
        data["D"], metric=metric, n_components=2, init=start, n_init=1, eps=EPS,
        max_iter=ITERATIONS, normalized_stress=True,
    )  # fmt: skip
    return {"points": points, "stress": stress}


def sklearn(name: str, run: Callable) -> Contender:
    return Contender(name, run, package="sklearn", install="scikit-learn", rival="scikit-learn")
