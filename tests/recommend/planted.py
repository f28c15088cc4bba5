"""Ratings with a known structure."""

import numpy as np

from tacit.data import Ratings


def planted(n=300, m=80, rank=3, known=0.3, noise=0.2, seed=0):
    """Ratings of low rank with biases and noise; ids are u0, u1, ... and 0, 1, ..."""
    rng = np.random.default_rng(seed)
    users, items = rng.normal(size=(n, rank)), rng.normal(size=(m, rank))
    biases = 0.5 * rng.normal(size=n), 0.5 * rng.normal(size=m)
    u, i = np.nonzero(rng.random((n, m)) < known)
    values = 3 + biases[0][u] + biases[1][i] + 0.5 * (users[u] * items[i]).sum(axis=1)
    values += noise * rng.normal(size=len(u))
    return Ratings.of_columns([f"u{each}" for each in u], i, values)
