"""Alternating least squares on explicit ratings, against cmfrec with the same model.

Both have 32 factors, biases, a penalty weighted by the numbers of ratings, ten passes and exact
solves in float32. A tenth of the ratings is held out; the quality is the root mean squared
error on it. The target is 2.5 times the speed of cmfrec.
"""

from functools import partial

import numpy as np

from benchmarks.harness import Answer, Case, Contender, Data
from benchmarks.recommend._ratings import movielens
from benchmarks.recommend.factorization_sgd import (
    fewer,
    held_out,
    made,
    predicted_error,
    ratings_of,
    split,
)

__all__ = ["cases"]

FACTORS, PASSES, REG = 32, 10, 0.08


def cases(scale: float) -> list[Case]:
    n = int(2_200_000 * scale)
    sources = {f"{n:,} generated ratings": partial(made, n)}
    if movielens() is not None:
        sources = {"MovieLens 100k": movielens, **sources}
    return [
        Case(
            name, partial(split, source), (Contender("Tacit", tacit_fit), CMFREC),
            predicted_error, measure="RMSE", tolerance=5e-3, targets={"cmfrec": 2.5},
            warmup=fewer,
        )
        for name, source in sources.items()
    ]  # fmt: skip


def tacit_fit(data: Data, threads: int) -> Answer:
    from tacit.core.engines import Threads
    from tacit.recommend import ALS

    model = ALS(
        FACTORS, reg=REG, max_iter=PASSES, tol=0, random_state=0, engine=Threads(threads)
    ).fit(ratings_of(data))
    return held_out(model, data)


def cmfrec_fit(data: Data, threads: int) -> Answer:
    import scipy.sparse as sp
    from cmfrec import CMF

    matrix = sp.coo_matrix((data["v"], (data["u"], data["i"])), shape=data["shape"])
    model = CMF(
        k=FACTORS, lambda_=REG, method="als", use_cg=False, niter=PASSES, user_bias=True,
        item_bias=True, scale_lam=True, finalize_chol=False, verbose=False, use_float=True,
        nthreads=threads, random_state=0, precompute_for_predictions=False,
    ).fit(matrix)  # fmt: skip
    u, i, _ = data["test"]
    predicted = model.glob_mean_ + model.user_bias_[u] + model.item_bias_[i]
    predicted = predicted + np.einsum("ij,ij->i", model.A_[u], model.B_[i])
    return {"predicted": np.where(np.isfinite(predicted), predicted, model.glob_mean_)}


CMFREC = Contender("cmfrec", cmfrec_fit, package="cmfrec", install="cmfrec", rival="cmfrec")
