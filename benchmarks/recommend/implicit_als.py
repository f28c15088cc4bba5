"""Alternating least squares on implicit feedback, against implicit with the same model.

Both have 64 factors and the same confidences and penalty; the quality is the loss over all
pairs, computed here from the factors. implicit makes its default of 15 passes; Tacit 6, after
which its loss is lower already, because it starts from larger factors and ends with the users.
The notes give the passes. Targets: 2 times implicit by conjugate gradients (three
steps, as there), 4 times by Cholesky.
"""

from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.harness import Answer, Case, Contender, Data
from benchmarks.recommend._ratings import movielens
from benchmarks.recommend.factorization_sgd import made

__all__ = ["cases"]

FACTORS, REG = 64, 0.1
PASSES, THEIR_PASSES = 6, 15


def cases(scale: float) -> list[Case]:
    n = int(1_100_000 * scale)
    sources = {f"{n:,} generated counts": partial(made, n)}
    if movielens() is not None:
        sources = {"MovieLens 100k": movielens, **sources}
    return [
        Case(
            f"{name}, {solver}", partial(counts, source),
            (
                Contender("Tacit", partial(tacit_fit, solver=solver)),
                Contender(
                    "implicit", partial(implicit_fit, solver=solver), package="implicit",
                    install="implicit", rival="implicit",
                ),
            ),
            loss_of_all_pairs, measure="loss per count", tolerance=1e-2,
            targets={"implicit": 2.0 if solver == "cg" else 4.0}, warmup=fewer,
        )
        for name, source in sources.items()
        for solver in ("cg", "cholesky")
    ]  # fmt: skip


def counts(source, folder: Path) -> Data:
    u, i, v = source()
    shape = (int(u.max()) + 1, int(i.max()) + 1)
    return {"u": u, "i": i, "v": v, "shape": shape, "about": f"{len(v):,} counts"}


def fewer(data: Data) -> Data:
    few = slice(0, 20_000)
    return {**data, "u": data["u"][few], "i": data["i"][few], "v": data["v"][few]}


def loss_of_all_pairs(data: Data, answer: Answer) -> float:
    X, Y = (np.asarray(answer[name], np.float64) for name in ("users", "items"))
    d = np.einsum("ij,ij->i", X[data["u"]], Y[data["i"]])
    c = 1.0 + data["v"]
    loss = float(np.sum((X.T @ X) * (Y.T @ Y)) + np.sum(c * (1 - d) ** 2 - d**2))
    return (loss + REG * float((X**2).sum() + (Y**2).sum())) / len(d)


def tacit_fit(data: Data, threads: int, *, solver: str) -> Answer:
    from benchmarks.recommend.factorization_sgd import ratings_of
    from tacit.core.engines import Threads
    from tacit.recommend import ImplicitALS

    model = ImplicitALS(
        FACTORS, reg=REG, solver=solver, max_iter=PASSES, tol=0, random_state=0,
        engine=Threads(threads),
    ).fit(ratings_of(data))  # fmt: skip
    return {"users": model.user_factors_, "items": model.item_factors_, "passes": PASSES}


def implicit_fit(data: Data, threads: int, *, solver: str) -> Answer:
    import scipy.sparse as sp
    from implicit.als import AlternatingLeastSquares

    # Its confidence is the value itself: one is added here.
    values = np.float32(1) + data["v"]
    matrix = sp.csr_matrix((values, (data["u"], data["i"])), shape=data["shape"])
    model = AlternatingLeastSquares(
        factors=FACTORS, regularization=REG, alpha=1.0, iterations=THEIR_PASSES, use_gpu=False,
        use_cg=solver == "cg", num_threads=threads, random_state=0,
    )  # fmt: skip
    model.fit(matrix, show_progress=False)
    return {
        "users": model.user_factors, "items": model.item_factors, "passes": THEIR_PASSES,
    }  # fmt: skip
