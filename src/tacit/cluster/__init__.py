"""Clusterings of rows, and how good they are."""

from tacit.core.lazy import attach

__all__ = [
    "AgglomerativeClustering", "ChosenK", "ClusterDescription", "DivisiveClustering",
    "FuzzyCMeans", "KMeans", "KMedoids", "MiniBatchKMeans", "SoftKMeans", "SphericalKMeans",
    "Stability", "by_size", "check_linkage", "choose_k", "cophenetic", "cophenetic_correlation",
    "cut", "describe", "from_newick", "leaves", "linkage", "optimal_order", "stability",
    "to_newick",
]  # fmt: skip

HOMES = {
    "tacit.cluster.choosing": "choose_k",
    "tacit.cluster.chosen_k": "ChosenK",
    "tacit.cluster.descriptions": "ClusterDescription describe",
    "tacit.cluster.fuzzy": "FuzzyCMeans",
    "tacit.cluster.hierarchy.agglomerative": "AgglomerativeClustering",
    "tacit.cluster.hierarchy.dendrogram": """
        check_linkage cophenetic cophenetic_correlation cut leaves optimal_order""",
    "tacit.cluster.hierarchy.divisive": "DivisiveClustering",
    "tacit.cluster.hierarchy.linkage": "linkage",
    "tacit.cluster.hierarchy.newick": "from_newick to_newick",
    "tacit.cluster.kmeans.kmeans": "KMeans",
    "tacit.cluster.kmeans.minibatch": "MiniBatchKMeans",
    "tacit.cluster.kmeans.spherical": "SphericalKMeans",
    "tacit.cluster.medoids.kmedoids": "KMedoids",
    "tacit.cluster.resampling": "Stability stability",
    "tacit.cluster.soft_kmeans": "SoftKMeans",
    "tacit.measure.labels": "by_size",
}
__getattr__, __dir__ = attach(
    __name__, names={name: home for home, names in HOMES.items() for name in names.split()}
)
