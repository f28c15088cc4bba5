"""Pictures, one function each. matplotlib is imported when one is drawn: the extra ``plot``.

Every function takes ``ax=None``, draws into it or into a new figure, and returns the Axes.
A file does not have the name of a function: a module and a function of one name would hide each
other.
"""

from typing import TYPE_CHECKING

from tacit.core.lazy import attach

__all__ = ["author_map", "biplot", "cluster_map", "codes", "contact_sheet", "decision_regions",
           "dendrogram", "filters", "item_map", "kmeans_steps", "loss_curves", "losses",
           "rank_error", "reconstructions", "rmse_by_rank", "rolling_attribution", "samples",
           "scree", "silhouette"]  # fmt: skip

if TYPE_CHECKING:
    from tacit.plot.author_picture import author_map, rolling_attribution
    from tacit.plot.cluster_picture import kmeans_steps, silhouette
    from tacit.plot.curve_picture import loss_curves, losses, rank_error, rmse_by_rank, scree
    from tacit.plot.dendrogram_picture import dendrogram
    from tacit.plot.image_picture import contact_sheet, filters, reconstructions, samples
    from tacit.plot.map_picture import biplot, cluster_map, codes, decision_regions, item_map
else:
    __getattr__, __dir__ = attach(__name__)
