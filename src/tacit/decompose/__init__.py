"""Fewer columns that say nearly the same: directions, and distances."""

from tacit.core.lazy import attach

__all__ = [
    "MDS", "PCA", "Affine", "ClassicalMDS", "NeighborMap", "ProbabilisticPCA", "TruncatedSVD",
    "Whitener", "dimension", "low_rank_error",
]  # fmt: skip

__getattr__, __dir__ = attach(
    __name__,
    submodules=["dimension"],
    names={
        "Affine": "tacit.decompose.whitening",
        "ClassicalMDS": "tacit.decompose.classical_mds",
        "MDS": "tacit.decompose.mds",
        "NeighborMap": "tacit.decompose.neighbor_map",
        "PCA": "tacit.decompose.pca",
        "ProbabilisticPCA": "tacit.decompose.probabilistic_pca",
        "TruncatedSVD": "tacit.decompose.truncated_svd",
        "Whitener": "tacit.decompose.whitening",
        "low_rank_error": "tacit.decompose.low_rank",
    },
)
