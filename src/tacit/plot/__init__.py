"""Pictures, one function each. matplotlib is imported when one is drawn: the extra ``plot``.

Every function takes ``ax=None``, draws into it or into a new figure, and returns the Axes.
A picture lives in a file of its own that does not have its name (``dendrogram`` in
``dendrogram_picture``): a module and a function of one name would hide each other.
"""

from tacit.core.lazy import attach

__all__ = [
    "cluster_map",
    "decision_regions",
    "dendrogram",
    "kmeans_steps",
    "losses",
    "scree",
    "silhouette",
]

__getattr__, __dir__ = attach(
    __name__,
    names={  # one line for every picture
        "cluster_map": "tacit.plot.map_picture",
        "decision_regions": "tacit.plot.regions_picture",
        "dendrogram": "tacit.plot.dendrogram_picture",
        "kmeans_steps": "tacit.plot.kmeans_steps_picture",
        "losses": "tacit.plot.loss_picture",
        "scree": "tacit.plot.scree_picture",
        "silhouette": "tacit.plot.silhouette_picture",
    },
)
