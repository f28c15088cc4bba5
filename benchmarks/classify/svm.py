"""Linear support vector machines to the same objective, against scikit-learn's LIBLINEAR.

Rows are TF-IDF of 20 Newsgroups (training set by date), float64, 20 classes, at C=1: squared
hinge loss and hinge loss, each class against the rest, and Crammer and Singer. The quality is
the objective, |w|^2 / 2 + C times the losses, computed here from the weights; it counts as
equal within one part in 10,000, Tacit's tolerance. scikit-learn runs at its default tolerance
and at a looser one; the faster is the rival.
"""

from functools import partial
from typing import Any

import numpy as np

from benchmarks.classify.logistic import fewer_rows, newsgroups
from benchmarks.harness import Answer, Case, Contender, Data

__all__ = ["cases"]

KINDS = {
    "squared hinge": {"loss": "squared_hinge"},
    "hinge": {"loss": "hinge"},
    "Crammer and Singer": {"multi_class": "crammer_singer"},
}


def cases(scale: float) -> list[Case]:
    return [
        Case(
            f"20 Newsgroups TF-IDF, {name}",
            partial(newsgroups, scale, 1.0, 20),
            contenders(kind),
            partial(objective, **kind),
            measure="objective",
            tolerance=1e-4,
            targets={"scikit-learn": 1.0},
            warmup=fewer_rows,
        )
        for name, kind in KINDS.items()
    ]


def objective(
    data: Data, answer: Answer, *, loss: str = "hinge", multi_class: str = "ovr"
) -> float:
    X, y = data["X"], np.unique(data["y"], return_inverse=True)[1]
    found = X @ answer["coef"].T + answer["intercept"]
    every = np.arange(len(y))
    if multi_class == "crammer_singer":
        right = found[every, y].copy()
        found[every, y] = -np.inf
        short = np.maximum(0, 1 - right + found.max(axis=1))
    else:
        signs = np.where(y[:, None] == np.arange(found.shape[1]), 1.0, -1.0)
        short = np.maximum(0, 1 - signs * found)
    cost = short**2 if loss == "squared_hinge" else short
    size = (answer["coef"] ** 2).sum() + (answer["intercept"] ** 2).sum()
    return float(0.5 * size + data["C"] * cost.sum())


# --- Contenders ---


def tacit_fit(data: Data, threads: int, **settings: Any) -> Answer:
    from tacit.classify import LinearSVC
    from tacit.core.engines import Threads

    model = LinearSVC(data["C"], random_state=0, engine=Threads(threads), **settings)
    model.fit(data["X"], data["y"])
    return {
        "coef": model.coef_, "intercept": model.intercept_, "passes": int(model.n_iter_),
        "gap": f"{model.gap_ / model.objective_:.1g}",
    }  # fmt: skip


def sklearn_fit(data: Data, threads: int, **settings: Any) -> Answer:
    import warnings

    from sklearn.svm import LinearSVC

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LinearSVC(C=data["C"], random_state=0, **settings).fit(data["X"], data["y"])
    return {
        "coef": model.coef_, "intercept": model.intercept_,
        "passes": int(np.max(model.n_iter_)),
    }  # fmt: skip


sklearn = partial(Contender, package="sklearn", install="scikit-learn", rival="scikit-learn")


def contenders(kind: dict[str, str]) -> tuple[Contender, ...]:
    return (
        Contender("Tacit", partial(tacit_fit, **kind)),
        sklearn("scikit-learn", partial(sklearn_fit, **kind)),
        sklearn("scikit-learn, tol=0.01", partial(sklearn_fit, tol=1e-2, **kind)),
    )
