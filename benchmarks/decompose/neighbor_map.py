"""A map of 20 Newsgroups after LSA, against umap-learn and scikit-learn's t-SNE.

The rows are 11,314 posts as tf-idf, reduced to 100 directions by scikit-learn and
brought to length one. Everybody uses cosine distance, a seed, and otherwise the defaults; t-SNE
starts from the principal directions. umap-learn runs on one thread when it has a seed.

The quality is the share of each post's ten nearest posts that are among its thirty nearest on
the map, over all posts: the more the better. t-SNE keeps more than the other two and takes much
longer, so its ratio does not count.
"""

from pathlib import Path

import numpy as np

from benchmarks.data import newsgroups_tfidf
from benchmarks.harness import Answer, Case, Contender, Data

__all__ = ["cases"]


def cases(scale: float) -> list[Case]:
    def make(folder: Path) -> Data:
        return rows(scale)

    return [
        Case(
            "20 Newsgroups after LSA",
            make,
            (TACIT, UMAP, TSNE),
            kept,
            targets={"umap-learn": 1.0},
            measure="share of neighbours kept",
            lower_is_better=False,
            tolerance=0.01,
        )
    ]


def rows(scale: float) -> Data:
    from sklearn.decomposition import TruncatedSVD

    tfidf, origin = newsgroups_tfidf(int(11_314 * scale), 30_000)
    Z = TruncatedSVD(100, random_state=0).fit_transform(tfidf)
    Z /= np.maximum(np.linalg.norm(Z, axis=1, keepdims=True), 1e-12)
    return {"Z": Z.astype(np.float32), "about": f"{origin}; {Z.shape[0]:,} x 100"}


def kept(data: Data, answer: Answer) -> float:
    from scipy.spatial import cKDTree

    Z, points = data["Z"], np.asarray(answer["points"], np.float64)
    drawn = cKDTree(points).query(points, 31)[1][:, 1:]
    share = 0.0
    for start in range(0, len(Z), 1024):
        near = Z[start : start + 1024] @ Z.T
        near[np.arange(len(near)), np.arange(start, start + len(near))] = -2
        ten = np.argpartition(-near, 10, axis=1)[:, :10]
        inside = ten[:, :, None] == drawn[start : start + 1024, None, :]
        share += float(inside.any(axis=2).mean(axis=1).sum())
    return share / len(Z)


def tacit_map(data: Data, threads: int) -> Answer:
    from tacit.core.engines import Threads
    from tacit.decompose import NeighborMap

    model = NeighborMap(random_state=0, engine=Threads(threads))
    return {"points": model.fit_transform(data["Z"])}


def umap_map(data: Data, threads: int) -> Answer:
    import warnings

    import umap

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a seed keeps it to one thread
        model = umap.UMAP(metric="cosine", random_state=0)
        return {"points": model.fit_transform(data["Z"])}


def tsne_map(data: Data, threads: int) -> Answer:
    from sklearn.manifold import TSNE

    model = TSNE(metric="cosine", init="pca", random_state=0, n_jobs=threads)
    return {"points": model.fit_transform(data["Z"])}


TACIT = Contender("Tacit", tacit_map)
UMAP = Contender(
    "umap-learn", umap_map, package="umap", install="umap-learn", rival="umap-learn"
)
TSNE = Contender(
    "scikit-learn t-SNE", tsne_map, package="sklearn", install="scikit-learn",
    rival="scikit-learn",
)  # fmt: skip
