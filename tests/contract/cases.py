"""The models that the contract tests walk. A new model registers here in one line.

SUMMABLE   (name, module with collect and update, rows, params to start from)
ESTIMATORS   every estimator that scikit-learn's checks should see
"""

import numpy as np
import scipy.sparse as sp

from tacit.cluster import KMeans, MiniBatchKMeans, lloyd
from tacit.cluster.lloyd_frame import frame_of


def blobs(n=3000, d=5, k=6, seed=0):
    """Points around k centers."""
    rng = np.random.default_rng(seed)
    centers = rng.normal(size=(k, d)) * 6
    return centers[rng.integers(k, size=n)] + rng.normal(size=(n, d))


def documents(n=800, v=50, k=3, seed=0):
    """Word counts of documents on k topics, and the topics."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(v, 0.1), size=k)
    labels = rng.integers(k, size=n)
    counts = np.stack([rng.multinomial(30, topics[z]) for z in labels])
    return sp.csr_array(counts.astype(np.float64)), labels


def lloyd_on(rows, k=6):
    sparse = sp.issparse(rows)
    centers = rows[:k].toarray() if sparse else rows[:k]
    return lloyd, rows, lloyd.start(centers, frame_of(rows), sparse=sparse)


SUMMABLE = {
    "k-means": lambda: lloyd_on(blobs()),
    "k-means, float32": lambda: lloyd_on(blobs(seed=1).astype(np.float32)),
    "k-means, plane, many centers": lambda: lloyd_on(blobs(d=2, k=70, seed=2), k=70),
    "k-means, sparse": lambda: lloyd_on(documents()[0]),
}

ESTIMATORS = [
    KMeans(n_clusters=3),
    MiniBatchKMeans(n_clusters=3),
]


def leaves(value):
    """The arrays and numbers in params or stats, in order."""
    if hasattr(value, "__dataclass_fields__"):
        value = tuple(vars(value).values())
    if isinstance(value, tuple):
        return [leaf for part in value for leaf in leaves(part)]
    return [np.asarray(value)]


def assert_same_bits(a, b):
    for x, y in zip(leaves(a), leaves(b), strict=True):
        np.testing.assert_array_equal(x, y)
