"""Fewer columns that say nearly the same: directions, and distances."""

from typing import TYPE_CHECKING

from tacit.core.lazy import attach

__all__ = [
    "MDS", "PCA", "Affine", "ClassicalMDS", "NeighborMap", "ProbabilisticPCA", "TruncatedSVD",
    "Whitener", "dimension", "low_rank_error",
]  # fmt: skip

if TYPE_CHECKING:
    from tacit.decompose import dimension
    from tacit.decompose.classical_mds import ClassicalMDS
    from tacit.decompose.low_rank import low_rank_error
    from tacit.decompose.mds import MDS
    from tacit.decompose.neighbor_map import NeighborMap
    from tacit.decompose.pca import PCA
    from tacit.decompose.probabilistic_pca import ProbabilisticPCA
    from tacit.decompose.truncated_svd import TruncatedSVD
    from tacit.decompose.whitening import Affine, Whitener
else:
    __getattr__, __dir__ = attach(__name__)
