"""Clusterings of rows, and how good they are."""

from tacit.core.lazy import attach

__all__ = [
    "AgglomerativeClustering",
    "DivisiveClustering",
    "FuzzyCMeans",
    "KMeans",
    "KMedoids",
    "MiniBatchKMeans",
    "SoftKMeans",
    "SphericalKMeans",
    "check_linkage",
    "cophenetic",
    "cophenetic_correlation",
    "cut",
    "from_newick",
    "leaves",
    "linkage",
    "optimal_order",
    "to_newick",
]

__getattr__, __dir__ = attach(
    __name__,
    names={
        "AgglomerativeClustering": "tacit.cluster.agglomerative",
        "DivisiveClustering": "tacit.cluster.divisive",
        "FuzzyCMeans": "tacit.cluster.fuzzy",
        "KMeans": "tacit.cluster.kmeans",
        "KMedoids": "tacit.cluster.kmedoids",
        "MiniBatchKMeans": "tacit.cluster.minibatch_kmeans",
        "SoftKMeans": "tacit.cluster.soft_kmeans",
        "SphericalKMeans": "tacit.cluster.spherical_kmeans",
        "check_linkage": "tacit.cluster.dendrogram",
        "cophenetic": "tacit.cluster.cophenetic_distances",
        "cophenetic_correlation": "tacit.cluster.cophenetic_distances",
        "cut": "tacit.cluster.dendrogram",
        "from_newick": "tacit.cluster.newick",
        "leaves": "tacit.cluster.dendrogram",
        "linkage": "tacit.cluster.linkages",
        "optimal_order": "tacit.cluster.leaf_order",
        "to_newick": "tacit.cluster.newick",
    },
)
