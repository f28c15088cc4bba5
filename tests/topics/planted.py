"""Documents drawn from known topics."""

from functools import cache

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment


@cache
def planted(n=600, v=200, k=5, length=60, seed=0):
    """Counts (n, v) and the topics (k, v) that they come from."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(v, 0.05), size=k)
    theta = rng.dirichlet(np.full(k, 0.2), size=n)
    counts = np.stack([rng.multinomial(length, each @ topics) for each in theta])
    return sp.csr_array(counts), topics


def aligned_cosine(a, b):
    """The cosine of each topic with the one it is matched with."""
    a, b = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (a, b))
    similar = a @ b.T
    rows, columns = linear_sum_assignment(-similar)
    return similar[rows, columns]
