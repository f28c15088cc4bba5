"""Fewer columns that say nearly the same: directions, and distances."""

from tacit.core.lazy import attach

__all__ = ["MDS", "PCA", "ClassicalMDS", "NeighborMap", "TruncatedSVD", "low_rank_error"]

__getattr__, __dir__ = attach(
    __name__,
    names={
        "ClassicalMDS": "tacit.decompose.classical_mds",
        "MDS": "tacit.decompose.mds",
        "NeighborMap": "tacit.decompose.neighbor_map",
        "PCA": "tacit.decompose.pca",
        "TruncatedSVD": "tacit.decompose.truncated_svd",
        "low_rank_error": "tacit.decompose.low_rank",
    },
)
