"""Clusterings of rows, and how good they are."""

from tacit.core.lazy import attach

__all__ = ["KMeans", "MiniBatchKMeans"]

__getattr__, __dir__ = attach(
    __name__,
    names={
        "KMeans": "tacit.cluster.kmeans",
        "MiniBatchKMeans": "tacit.cluster.minibatch_kmeans",
    },
)
