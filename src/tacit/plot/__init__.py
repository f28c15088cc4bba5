"""Pictures, one function each. matplotlib is imported when one is drawn: the extra ``plot``.

Every function takes ``ax=None``, draws into it or into a new figure, and returns the Axes.
A picture lives in a file of its own that does not have its name (``dendrogram`` in
``dendrogram_picture``): a module and a function of one name would hide each other.
"""

from tacit.core.lazy import attach

__all__ = ["author_map", "biplot", "cluster_map", "codes", "contact_sheet", "decision_regions",
           "dendrogram", "filters", "item_map", "kmeans_steps", "loss_curves", "losses",
           "rank_error", "reconstructions", "rmse_by_rank", "rolling_attribution", "samples",
           "scree", "silhouette"]  # fmt: skip

FILES = ("author_map", "biplot", "map", "training", "contact_sheet", "regions", "dendrogram",
         "image", "item_map", "kmeans_steps", "training", "loss", "rank_error", "image",
         "rmse_by_rank", "rolling", "image", "scree", "silhouette")  # fmt: skip
__getattr__, __dir__ = attach(
    __name__,
    names={
        name: f"tacit.plot.{file}_picture" for name, file in zip(__all__, FILES, strict=True)
    },
)
