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
    "cut",
    "from_newick",
    "linkage",
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
        "cut": "tacit.cluster.dendrogram",
        "from_newick": "tacit.cluster.newick",
        "linkage": "tacit.cluster.linkages",
        "to_newick": "tacit.cluster.newick",
    },
)
