"""LDA by variational Bayes on 20 Newsgroups, against scikit-learn from the same start.

Both make ten batch passes over 6,000 posts from the same random topics, scikit-learn's; online,
both make two passes in mini-batches of 256. The quality is minus the evidence lower bound of a
post, computed here from the topics of each. The target is five times scikit-learn's speed at an
equal bound.
"""

import warnings
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.data import data_folder
from benchmarks.harness import Answer, Case, Contender, Data

__all__ = ["cases"]

PASSES = {"batch": 10, "online": 2}
TARGETS = {"batch": 5.0, "online": 1.0}


def cases(scale: float) -> list[Case]:
    if data_folder() is None:
        return []
    return [
        Case(
            f"{k} topics, {method}",
            partial(posts, int(6_000 * scale)),
            contenders(k, method),
            bound,
            measure="minus bound",
            tolerance=0.002 if method == "batch" else 0.02,
            targets={"scikit-learn": TARGETS[method]},
            repeats=1,
            warmup=fewer,
        )
        for k, method in ((20, "batch"), (100, "batch"), (20, "online"))
    ]


def posts(n: int, folder: Path) -> Data:
    from tacit.datasets import load
    from tacit.text import CountVectorizer

    counter = CountVectorizer(min_df=5, max_df=0.5, stop_words="english")
    X = counter.fit_transform(load("newsgroups", part="train").documents)
    X = X[np.random.default_rng(0).permutation(X.shape[0])[: max(200, n)]].astype(np.float64)
    return {"X": X, "about": f"{X.shape[0]:,} posts, {X.shape[1]:,} words"}


def fewer(data: Data) -> Data:
    return {**data, "X": data["X"][:200]}


def bound(data: Data, answer: Answer) -> float:
    from tacit.topics import LatentDirichletAllocation

    k, v = answer["components"].shape
    model = LatentDirichletAllocation(k)
    model.components_, model.alpha_ = answer["components"], np.full(k, 1 / k)
    model.eta_, model.n_features_in_ = 1 / k, v
    return -model.bound(data["X"]) / data["X"].shape[0]


def contenders(k: int, method: str) -> tuple[Contender, ...]:
    return (
        Contender("Tacit", partial(tacit_fit, k=k, method=method)),
        Contender(
            "scikit-learn", partial(sklearn_fit, k=k, method=method),
            package="sklearn", install="scikit-learn", rival="scikit-learn",
        ),
    )  # fmt: skip


def settings(method: str) -> dict:
    return {
        "learning_method": method, "max_iter": PASSES[method], "random_state": 0,
        "batch_size": 256, "total_samples": 6_000,
    }  # fmt: skip


def tacit_fit(data: Data, threads: int, *, k: int, method: str) -> Answer:
    from tacit.core.engines import Threads
    from tacit.topics import LatentDirichletAllocation

    model = LatentDirichletAllocation(k, tol=0, engine=Threads(threads), **settings(method))
    return {"components": model.fit(data["X"]).components_}


def sklearn_fit(data: Data, threads: int, *, k: int, method: str) -> Answer:
    from sklearn.decomposition import LatentDirichletAllocation

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LatentDirichletAllocation(k, n_jobs=threads, **settings(method))
        return {"components": model.fit(data["X"]).components_}
