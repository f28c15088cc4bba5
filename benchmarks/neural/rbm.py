"""Restricted Boltzmann machines on digits, against scikit-learn's BernoulliRBM.

Both make the same number of passes over the same binary digits in mini-batches of the same
size, each at its default learning rate, 0.05 and 0.1. The quality is the mean log
pseudo-likelihood of digits that neither has seen, exact over all pixels and computed here from
the weights. The target: at least as good, and faster. Tacit runs contrastive divergence and its
persistent form, which is also scikit-learn's.
"""

from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.data import digits
from benchmarks.harness import Answer, Case, Contender, Data

__all__ = ["cases"]

HIDDEN = 128
PASSES = 5


def cases(scale: float) -> list[Case]:
    n = max(1_000, int(6_000 * scale))
    return [
        Case(
            f"{n:,} digits, {HIDDEN} hidden units, mini-batches of {batch}",
            partial(rows, n, batch),
            (
                Contender("Tacit CD-1", partial(tacit_fit, persistent=False)),
                Contender("Tacit persistent CD", partial(tacit_fit, persistent=True)),
                Contender(
                    "BernoulliRBM", sklearn_fit, package="sklearn", install="scikit-learn",
                    rival="scikit-learn",
                ),
            ),
            pseudo_likelihood,
            measure="minus log pseudo-likelihood",
            targets={"scikit-learn": 1.0},
            warmup=fewer,
            repeats=2,
        )
        for batch in (32,)
    ]  # fmt: skip


def rows(n: int, batch: int, folder: Path) -> Data:
    X, origin = digits(n + 500)
    X = (np.median(X[X > 0]) / 2 < X).astype(np.float32)
    return {"X": X[:n], "new": X[n:], "batch": batch, "about": f"{origin}, binary"}


def fewer(data: Data) -> Data:
    return {**data, "X": data["X"][:300]}


def pseudo_likelihood(data: Data, answer: Answer) -> float:
    from tacit.neural.rbm import pseudo_likelihood

    params = {name: np.asarray(answer[name]) for name in ("weights", "visible", "hidden")}
    return -float(pseudo_likelihood(np, params, data["new"].astype(np.float64)).mean())


def tacit_fit(data: Data, threads: int, *, persistent: bool) -> Answer:
    from tacit.neural import RBM

    model = RBM(
        HIDDEN, persistent=persistent, batch_size=data["batch"], max_iter=PASSES, random_state=0
    ).fit(data["X"])
    return {
        "weights": model.components_.T, "visible": model.intercept_visible_,
        "hidden": model.intercept_hidden_,
    }  # fmt: skip


def sklearn_fit(data: Data, threads: int) -> Answer:
    from sklearn.neural_network import BernoulliRBM

    model = BernoulliRBM(
        HIDDEN, learning_rate=0.1, batch_size=data["batch"], n_iter=PASSES, random_state=0
    ).fit(data["X"])
    return {
        "weights": model.components_.T, "visible": model.intercept_visible_,
        "hidden": model.intercept_hidden_,
    }  # fmt: skip
