"""Clusterings of rows, and how good they are."""

from typing import TYPE_CHECKING

from tacit.core.lazy import attach

__all__ = [
    "AgglomerativeClustering", "ChosenK", "ClusterDescription", "DivisiveClustering",
    "FuzzyCMeans", "KMeans", "KMedoids", "MiniBatchKMeans", "SoftKMeans", "SphericalKMeans",
    "Stability", "by_size", "check_linkage", "choose_k", "cophenetic", "cophenetic_correlation",
    "cut", "describe", "from_newick", "leaves", "linkage", "optimal_order", "stability",
    "to_newick",
]  # fmt: skip

if TYPE_CHECKING:
    from tacit.cluster.choosing import choose_k
    from tacit.cluster.chosen_k import ChosenK
    from tacit.cluster.descriptions import ClusterDescription, describe
    from tacit.cluster.hierarchy.agglomerative import AgglomerativeClustering
    from tacit.cluster.hierarchy.dendrogram import (
        check_linkage,
        cophenetic,
        cophenetic_correlation,
        cut,
        leaves,
        optimal_order,
    )
    from tacit.cluster.hierarchy.divisive import DivisiveClustering
    from tacit.cluster.hierarchy.linkage import linkage
    from tacit.cluster.hierarchy.newick import from_newick, to_newick
    from tacit.cluster.kmeans import KMeans
    from tacit.cluster.kmedoids import KMedoids
    from tacit.cluster.minibatch import MiniBatchKMeans
    from tacit.cluster.resampling import Stability, stability
    from tacit.cluster.soft import FuzzyCMeans, SoftKMeans
    from tacit.cluster.spherical import SphericalKMeans
    from tacit.measure.labels import by_size
else:
    __getattr__, __dir__ = attach(__name__)
