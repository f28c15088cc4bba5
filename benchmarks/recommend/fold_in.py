"""A hundred new users of MovieLens 100k, added without a refit, against a refit with them.

The model is fitted without the hundred users, who are then added by four fifths of their
ratings; the refit has these ratings from the start. The quality is the root mean squared error
on the other fifth. The check: it is within 1% of the refit's. The notes of Tacit give the
distance of the predictions from a refit that the receipt estimates, and the true one.
"""

from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.harness import Answer, Case, Check, Contender, Data, Row
from benchmarks.recommend._ratings import movielens

__all__ = ["cases"]

NEW = 100
MODELS = {
    "ALS": ("ALS", {"n_factors": 32, "reg": 0.13}),
    "SGD": ("BiasedSGD", {"n_factors": 32, "reg": 0.08, "learning_rate": 0.02, "n_epochs": 30}),
}


def cases(scale: float) -> list[Case]:
    if movielens() is None:
        return []
    return [
        Case(
            name, users, (
                Contender("Tacit", partial(fold_in, name=name)),
                Contender("refit", partial(refit, name=name)),
            ),
            error, measure="RMSE", tolerance=1.0, check=within, repeats=3,
        )
        for name in MODELS
    ]  # fmt: skip


def users(folder: Path) -> Data:
    loaded = movielens()
    assert loaded is not None
    u, i, v = loaded
    rng = np.random.default_rng(0)
    new = np.isin(u, rng.permutation(u.max() + 1)[:NEW])
    test = new & (rng.random(len(v)) < 0.2)
    return {"u": u, "i": i, "v": v, "new": new & ~test, "old": ~new, "test": test,
            "about": f"{NEW} users, {int((new & ~test).sum()):,} new ratings"}  # fmt: skip


def triples(data: Data, which: np.ndarray):
    from tacit.data.ratings import Ratings

    return Ratings.of_columns(data["u"][which], data["i"][which], data["v"][which])


def build(name: str, threads: int):
    from tacit import recommend
    from tacit.core.engines import Threads

    kind, settings = MODELS[name]
    return getattr(recommend, kind)(**settings, random_state=0, engine=Threads(threads))


_FITTED: dict = {}


def fold_in(data: Data, threads: int, *, name: str) -> Answer:
    import copy
    import warnings

    warnings.simplefilter("ignore")
    if name not in _FITTED:  # once: the time is that of adding users
        whole = build(name, threads).fit(triples(data, data["old"] | data["new"]))
        _FITTED[name] = build(name, threads).fit(triples(data, data["old"])), whole
    model, whole = copy.deepcopy(_FITTED[name][0]), _FITTED[name][1]
    receipt = model.add_users(triples(data, data["new"]))
    test = triples(data, data["test"])
    predicted = model.predict(test)
    truth = float(np.sqrt(np.mean((predicted - whole.predict(test)) ** 2)))
    return {
        "predicted": predicted, "estimated": f"{receipt.refit_distance:.3f}",
        "true": f"{truth:.3f}",
    }  # fmt: skip


def refit(data: Data, threads: int, *, name: str) -> Answer:
    import warnings

    warnings.simplefilter("ignore")
    model = build(name, threads).fit(triples(data, data["old"] | data["new"]))
    return {"predicted": model.predict(triples(data, data["test"]))}


def error(data: Data, answer: Answer) -> float:
    return float(np.sqrt(np.mean((answer["predicted"] - data["v"][data["test"]]) ** 2)))


def within(data: Data, results: dict[str, Row]) -> list[Check]:
    ours, best = results["Tacit"].quality, results["refit"].quality
    if ours is None or best is None:
        return [Check("both were measured", False)]
    return [Check(f"{ours:.4f} is within 1% of the refit's {best:.4f}", ours <= 1.01 * best)]
