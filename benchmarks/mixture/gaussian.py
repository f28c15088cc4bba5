"""Gaussian mixtures by EM, against scikit-learn from the same start.

Both make twelve iterations from the same means, weights and covariances; the quality is the
mean log-likelihood that they reach. The target is three times scikit-learn's speed.
"""

from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.data import mixture
from benchmarks.harness import Answer, Case, Contender, Data

__all__ = ["cases"]

ITERATIONS = 12


def cases(scale: float) -> list[Case]:
    n = int(200_000 * scale)
    return [
        Case(
            f"{n:,} x 20, 16 components, {kind}",
            partial(rows, n),
            contenders(kind),
            mean_log_likelihood,
            measure="minus log-likelihood",
            tolerance=1e-5,
            targets={"scikit-learn": 3.0},
            warmup=fewer,
        )
        for kind in ("full", "diag")
    ]


def rows(n: int, folder: Path) -> Data:
    X = mixture(n, 20, components=24, separation=4.0, seed=0, dtype="f8")
    start = X[np.random.default_rng(1).permutation(n)[:16]]
    return {"X": X, "start": start, "about": f"{n:,} rows"}


def fewer(data: Data) -> Data:
    return {**data, "X": data["X"][:20_000]}


def mean_log_likelihood(data: Data, answer: Answer) -> float:
    return -float(answer["bound"])


def contenders(kind: str) -> tuple[Contender, ...]:
    return (
        Contender("Tacit", partial(tacit_fit, kind=kind)),
        Contender(
            "scikit-learn", partial(sklearn_fit, kind=kind),
            package="sklearn", install="scikit-learn", rival="scikit-learn",
        ),
    )  # fmt: skip


def settings(data: Data, kind: str) -> tuple[dict, np.ndarray]:
    k, d = data["start"].shape
    spread = float(data["X"].var(axis=0).mean())
    ones = np.ones((k, d)) if kind == "diag" else np.tile(np.eye(d), (k, 1, 1))
    common = {
        "covariance_type": kind, "means_init": data["start"], "tol": 0.0,
        "weights_init": np.full(k, 1 / k), "max_iter": ITERATIONS, "reg_covar": 1e-6,
    }  # fmt: skip
    return common, spread * ones


def tacit_fit(data: Data, threads: int, *, kind: str) -> Answer:
    from tacit.core.engines import Threads
    from tacit.mixture import GaussianMixture

    common, covariances = settings(data, kind)
    model = GaussianMixture(
        len(data["start"]), covariances_init=covariances, engine=Threads(threads), **common
    ).fit(data["X"])
    return {"bound": model.score(data["X"][:20_000]), "iterations": model.n_iter_}


def sklearn_fit(data: Data, threads: int, *, kind: str) -> Answer:
    import warnings

    from sklearn.mixture import GaussianMixture

    common, covariances = settings(data, kind)
    precisions = 1 / covariances if kind == "diag" else np.linalg.inv(covariances)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = GaussianMixture(len(data["start"]), precisions_init=precisions, **common)
        model.fit(data["X"])
    return {"bound": model.score(data["X"][:20_000]), "iterations": model.n_iter_}
