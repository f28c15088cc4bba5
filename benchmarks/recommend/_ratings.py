"""Ratings for the benchmarks: MovieLens 100k where TACIT_DATA has it, and generated ones.

Generated ratings have low rank, biases and noise, in steps of a half from 0.5 to 5; how active
users are and how popular items are is log-normal, so that a few have most of the ratings.
"""

import numpy as np

from benchmarks.data import data_folder

__all__ = ["generated", "movielens"]

RANK = 10


def generated(users: int, items: int, n: int, *, seed: int = 0) -> tuple[np.ndarray, ...]:
    """About ``n`` ratings in random order: codes of users and items, values."""
    rng = np.random.default_rng(seed)
    active, popular = rng.lognormal(0, 1.0, users), rng.lognormal(0, 1.3, items)
    u = np.searchsorted(np.cumsum(active / active.sum())[:-1], rng.random(n))
    i = np.searchsorted(np.cumsum(popular / popular.sum())[:-1], rng.random(n))
    cell = np.sort(u * np.int64(items) + i)
    cell = cell[np.r_[True, cell[1:] != cell[:-1]]]
    rng.shuffle(cell)
    u, i = (cell // items).astype(np.int32), (cell % items).astype(np.int32)
    del cell
    tastes = 0.35 * rng.standard_normal((users, RANK), "f4")
    kinds = 0.35 * rng.standard_normal((items, RANK), "f4")
    values = 3.5 + 0.8 * rng.standard_normal(len(u), "f4")
    values += 0.4 * rng.standard_normal(users, "f4")[u]
    values += 0.4 * rng.standard_normal(items, "f4")[i]
    for start in range(0, len(u), 1 << 20):
        part = slice(start, start + (1 << 20))
        values[part] += np.einsum("ij,ij->i", tastes[u[part]], kinds[i[part]])
    return u, i, np.clip(np.rint(2 * values) / 2, 0.5, 5).astype(np.float32)


def movielens() -> tuple[np.ndarray, ...] | None:
    """The codes and values of MovieLens 100k, or None where it is absent."""
    folder = data_folder()
    path = None if folder is None else folder / "movielens_100k" / "u.data.gz"
    if path is None or not path.exists():
        return None
    from tacit.data.ratings import Ratings

    ratings = Ratings.open(path)
    return ratings.users, ratings.items, ratings.values
