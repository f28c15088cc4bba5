"""Twenty million generated ratings: time, memory and error of a fit, within a stated bound.

A tenth is held out. The bound is what the documentation states, growth of the process over the
ratings it was given: 64 bytes a rating and 12 bytes a factor. LIBMF runs on the same ratings.
"""

from functools import partial

from benchmarks.harness import Answer, Case, Check, Contender, Data, Row
from benchmarks.recommend._ratings import generated
from benchmarks.recommend.factorization_sgd import (
    FACTORS,
    LIBMF,
    fewer,
    held_out,
    predicted_error,
    ratings_of,
    split,
    tacit_fit,
)

__all__ = ["cases"]


def cases(scale: float) -> list[Case]:
    n = int(20_000_000 * scale)
    return [
        Case(
            f"{n:,} ratings", partial(split, partial(made, n)),
            (Contender("Tacit", tacit_fit), Contender("Tacit, ALS", als_fit), LIBMF),
            predicted_error, measure="RMSE", tolerance=0.05, check=bounded, repeats=1,
            warmup=fewer,
        )
    ]  # fmt: skip


def made(n: int):
    return generated(max(100, n // 140), max(50, n // 750), n)


def als_fit(data: Data, threads: int) -> Answer:
    from tacit.core.engines import Threads
    from tacit.recommend import ALS

    model = ALS(FACTORS, max_iter=5, random_state=0, engine=Threads(threads))
    return held_out(model.fit(ratings_of(data)), data)


def bounded(data: Data, results: dict[str, Row]) -> list[Check]:
    bound = 64 * len(data["v"]) + 12 * sum(data["shape"]) * FACTORS
    out = []
    for name in ("Tacit", "Tacit, ALS"):
        growth = results[name].growth
        held = growth is not None and growth <= bound
        shown = "unknown" if growth is None else f"{growth / 1e6:,.0f} MB"
        out.append(Check(f"{name} grows by {shown}, at most {bound / 1e6:,.0f} MB", held))
    return out
