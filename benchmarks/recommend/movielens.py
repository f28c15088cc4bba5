"""MovieLens 100k, 5 folds: every solver and baseline of Tacit, beside Surprise's SVD.

The quality is the root mean squared error on the test folds, mean of the five; ratings are not
clipped. Penalties, and passes of SGD, are chosen in every fold on a tenth of its training
ratings, from the grids below, and the model is fitted again on all of them; nothing is chosen
by the test folds. Ranks are fixed. The notes give the rank, the settings chosen most often and
the seconds of a fit. The checks: factorization without biases is better than biases alone; with
biases it is better than the figures that Surprise documents for SVD (0.934) and SVD++ (0.919),
and better than SVD on the same folds.
"""

import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Answer, Case, Check, Contender, Data, Row
from benchmarks.recommend._ratings import movielens

__all__ = ["cases"]

FOLDS = 5
SVD, SVDPP = 0.934, 0.919
Grid = dict[str, tuple]
STEPS: Grid = {"reg": (0.06, 0.08, 0.1), "n_epochs": (20, 30, 40)}
SOLVERS: dict[str, tuple[str, dict[str, Any], Grid]] = {
    "Tacit": ("BiasedSGD", {"n_factors": 64, "learning_rate": 0.02}, STEPS),
    "SGD": (
        "BiasedSGD",
        {"n_factors": 64, "learning_rate": 0.005, "solver": "sgd"},
        {"reg": (0.06, 0.08, 0.1), "n_epochs": (60, 90, 120)},
    ),
    "ALS": ("ALS", {"n_factors": 32}, {"reg": (0.1, 0.13, 0.16)}),
    "non-negative ALS": (
        "ALS", {"n_factors": 32, "nonnegative": True}, {"reg": (0.06, 0.08, 0.1)},
    ),
    "ALS without biases": ("ALS", {"n_factors": 16, "bias": False}, {"reg": (0.08, 0.1, 0.13)}),
    "full gradient": (
        "BiasedSGD", {"n_factors": 16, "solver": "gradient", "n_epochs": 150}, {"reg": (0.1,)},
    ),
    "row sampling": (
        "BiasedSGD", {"n_factors": 16, "solver": "rows", "n_epochs": 150}, {"reg": (0.1,)},
    ),
    "column sampling": (
        "BiasedSGD", {"n_factors": 16, "solver": "columns", "n_epochs": 150}, {"reg": (0.1,)},
    ),
    "item k-NN": ("ItemKNN", {}, {"n_neighbors": (20, 40, 80)}),
    "biases": ("Biases", {}, {"reg_users": (3.0, 5.0, 10.0), "reg_items": (2.0, 5.0)}),
    "mean": ("GlobalMean", {}, {}),
}  # fmt: skip


def cases(scale: float) -> list[Case]:
    if movielens() is None:
        return []
    ours = [
        Contender("Tacit" if name == "Tacit" else f"Tacit, {name}", partial(solve, name=name))
        for name in SOLVERS
    ]
    rival = Contender(
        "Surprise SVD", surprise, package="surprise", install="scikit-surprise",
        rival="Surprise SVD",
    )  # fmt: skip
    return [
        Case(
            f"{FOLDS} folds", partial(folds, max(1, round(FOLDS * scale))), (*ours, rival),
            mean_error, measure="RMSE", tolerance=1.0, check=order, repeats=1, warmup=fewer,
        )
    ]  # fmt: skip


def folds(n: int, folder: Path) -> Data:
    from tacit.data.ratings import Ratings

    loaded = movielens()
    assert loaded is not None
    u, i, v = loaded
    ratings = Ratings(u, i, v, np.arange(u.max() + 1), np.arange(i.max() + 1))
    parts = list(ratings.folds(FOLDS, random_state=0))[:n]
    return {"folds": parts, "about": f"{len(v):,} ratings, {n} folds"}


def fewer(data: Data) -> Data:
    train, test = data["folds"][0]
    return {**data, "folds": [(train.take(np.arange(len(train)) < 5_000), test)]}


def mean_error(data: Data, answer: Answer) -> float:
    return float(np.mean(answer["errors"]))


def order(data: Data, results: dict[str, Row]) -> list[Check]:
    def error(name: str) -> float:
        found = results[name].quality if name in results else None
        return float("nan") if found is None else found

    ours, plain = error("Tacit"), error("Tacit, ALS without biases")
    alone, svd = error("Tacit, biases"), error("Surprise SVD")
    return [
        Check(f"factorization without biases ({plain:.4f}) is better than biases alone "
              f"({alone:.4f})", plain < alone),
        Check(f"with biases ({ours:.4f}) it is better than without", ours < plain),
        Check(f"and below {SVD} and {SVDPP}, which Surprise documents", ours < min(SVD, SVDPP)),
        Check(f"and below Surprise's SVD on the same folds ({svd:.4f})",
              ours < svd or np.isnan(svd)),
    ]  # fmt: skip


def solve(data: Data, threads: int, *, name: str) -> Answer:
    import warnings

    from tacit import recommend
    from tacit.core.engines import Threads

    kind, fixed, grid = SOLVERS[name]
    make: Callable = getattr(recommend, kind)
    errors, seconds, chosen = [], [], Counter()
    warnings.simplefilter("ignore")  # items of a test fold may be unknown
    for number, (train, test) in enumerate(data["folds"]):
        common = {"engine": Threads(threads), **fixed}
        if "random_state" in make().get_params():
            common["random_state"] = number
        inner, validation = train.split(0.1, random_state=number)
        settings = [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
        if len(settings) > 1:
            tried = [make(**common, **each).fit(inner).score(validation) for each in settings]
            best = settings[int(np.argmax(tried))]
        else:
            best = settings[0]
        began = time.perf_counter()
        model = make(**common, **best).fit(train)
        seconds.append(time.perf_counter() - began)
        errors.append(-model.score(test))
        chosen[", ".join(f"{key} {value:g}" for key, value in best.items())] += 1
    return {
        "errors": errors, "rank": fixed.get("n_factors", 0),
        "chosen": chosen.most_common(1)[0][0] or "nothing",
        "seconds": f"{np.median(seconds):.2f}",
    }  # fmt: skip


def surprise(data: Data, threads: int) -> Answer:
    from benchmarks.recommend.factorization_sgd import surprise_predict

    errors, seconds = [], []
    for train, test in data["folds"]:
        part = {"u": train.users, "i": train.items, "v": train.values,
                "test": (test.users, test.items, test.values)}  # fmt: skip
        began = time.perf_counter()
        predicted = surprise_predict(part, 100)
        seconds.append(time.perf_counter() - began)
        errors.append(float(np.sqrt(np.mean((predicted - test.values) ** 2))))
    return {
        "errors": errors, "rank": 100, "chosen": "its defaults",
        "seconds": f"{np.median(seconds):.2f}",
    }  # fmt: skip
